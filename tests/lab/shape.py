#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows how large the functions and files of a tree are, and which exceed the limits of CONTRIBUTING.md.

    shape.py [FOLDER...]

For each folder (engine, model, show, live, plugins, postproc): functions, their median length in lines with
the signature, those above 60 lines, and those with more than five parameters; then each of these
by name, and files above 500 lines.
"""
import pathlib
import re
import statistics
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("engine", "model", "show", "live", "plugins", "postproc")
START = re.compile(r"^(?!(?:typedef|struct|enum|union|extern)\b[^()]*[{;=]$)[a-z_][\w \t*]*?\b(\w+)\(", re.M)


def parameters(text):
    """How many there are between the parentheses."""
    depth, count = 0, 1
    for c in text:
        depth += c in "([{"
        depth -= c in ")]}"
        count += c == "," and depth == 0
    return 0 if text.strip() in ("", "void") else count


def functions(path):
    """(name, parameters, lines) of each function that a file defines, in clang-format's form."""
    text = path.read_text()
    for start in START.finditer(text):
        end, depth = start.end(), 1
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if not text.startswith("\n{\n", end):
            continue
        stop = text.find("\n}\n", end)
        yield (start[1], parameters(text[start.end():end - 1]),
               text.count("\n", start.start(), stop) + 2)


def main():
    for folder in sys.argv[1:] or FOLDERS:
        found, files = [], []
        for path in sorted((TREE / folder).rglob("*.[ch]")):
            name = path.relative_to(TREE)
            lines = path.read_text().count("\n")
            if lines > 500:
                files.append("  %4d lines  %s" % (lines, name))
            found += [(name, *f) for f in functions(path)]
        if not found:
            continue
        many = [f for f in found if f[2] > 5]
        tall = [f for f in found if f[3] > 60]
        print("%s: %d functions, median %d lines, %d above 60, %d (%.1f %%) with more than 5 parameters"
              % (folder, len(found), statistics.median(f[3] for f in found), len(tall), len(many),
                 100 * len(many) / len(found)))
        for name, function, count, lines in sorted(tall, key=lambda f: -f[3]):
            print("  %4d lines  %s: %s" % (lines, name, function))
        for name, function, count, lines in sorted(many, key=lambda f: -f[2]):
            print("  %4d parameters  %s: %s" % (count, name, function))
        print("\n".join(files))


if __name__ == "__main__":
    main()
