# SPDX-License-Identifier: GPL-2.0-or-later
"""As much of JSON Schema as schemas/audit.schema.json uses; other words are errors."""

KNOWN = {"$schema", "title", "description", "type", "properties", "required",
         "additionalProperties", "items", "enum", "const", "minimum"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) \
            and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def errors(schema, value, path="$"):
    """Yields what is wrong with |value|."""
    for word in schema.keys() - KNOWN:
        yield "%s: the schema says %r, which is not known here" % (path, word)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_type(value, n) for n in names):
        yield "%s: %r is no %s" % (path, value, names)
        return
    if "enum" in schema and value not in schema["enum"]:
        yield "%s: %r is not one of %s" % (path, value, schema["enum"])
    if "const" in schema and value != schema["const"]:
        yield "%s: %r is not %r" % (path, value, schema["const"])
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        yield "%s: %r is below %r" % (path, value, schema["minimum"])
    if isinstance(value, dict):
        for name in set(schema.get("required", ())) - value.keys():
            yield "%s: %s is not there" % (path, name)
        for name, inner in value.items():
            if name in schema.get("properties", {}):
                yield from errors(schema["properties"][name], inner, path + "." + name)
            elif schema.get("additionalProperties", True) is False:
                yield "%s: %s is not in the schema" % (path, name)
    if isinstance(value, list) and "items" in schema:
        for i, inner in enumerate(value):
            yield from errors(schema["items"], inner, "%s[%d]" % (path, i))
