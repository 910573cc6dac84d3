/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wire/write.h"

#include <stdio.h>

struct named {
    const struct named_value *values;
    size_t count;
    uint64_t asked_for; /* bits, by index */
    struct err *err;
};

_Static_assert(NAMED_VALUES_MAX <= 64, "one bit for each");

/* Returns the new length; a path that does not fit is cut, and matches nothing. */
static size_t append(char *text, size_t len, const char *name)
{
    if (name && len < WALK_PATH_MAX)
        len += (size_t)snprintf(text + len, WALK_PATH_MAX - len, "%s%s", len ? "." : "", name);
    return len;
}

static size_t append_index(char *text, size_t len, uint32_t index)
{
    if (len < WALK_PATH_MAX)
        len += (size_t)snprintf(text + len, WALK_PATH_MAX - len, "[%u]", index);
    return len;
}

static void path_of(const struct fill *fill, char text[WALK_PATH_MAX])
{
    const struct walk_step *step = fill->walk->steps, *end = step + fill->walk->depth;
    size_t len = 0;

    text[0] = '\0';
    for (; step < end; step++) {
        len = append(text, len, step->field->kind == XDR_UNION ? step[1].arm : step->field->name);
        if (step[1].list)
            len = append_index(text, len, step[1].index);
    }
    len = append(text, len, fill->field->name);
    if (fill->field->kind == XDR_LIST)
        append_index(text, len, fill->index);
}

static bool may_be_absent(const struct field *field)
{
    return field->kind == XDR_BOOL || field->kind == XDR_OPTIONAL || field->kind == XDR_LIST ||
           field->kind == XDR_ARRAY || field->kind == XDR_UNION;
}

static int give(void *ctx, struct fill *fill)
{
    struct named *n = ctx;
    char path[WALK_PATH_MAX];

    path_of(fill, path);
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->values[i].name, path) == 0) {
            n->asked_for |= UINT64_C(1) << i;
            fill->value = n->values[i].value;
            fill->bytes = n->values[i].bytes;
            return 0;
        }
    if (may_be_absent(fill->field))
        return 0;
    return err_set(n->err, ERR_USAGE, "%s.%s: no value was given", fill->walk->root->name, path);
}

int write_named(struct xdr_put *to, const struct type *type, const struct named_value *values,
                size_t count, struct err *err)
{
    struct named n = { .values = values, .count = count, .err = err };
    const struct filler filler = { give, &n };
    int result;

    if (count > NAMED_VALUES_MAX)
        return err_set(err, ERR_USAGE, "%s: more than %d values", type->name, NAMED_VALUES_MAX);
    result = write_body(to, type, false, &filler, err);
    for (size_t i = 0; result == 0 && i < count; i++)
        if (!(n.asked_for >> i & 1))
            result = err_set(err, ERR_USAGE, "%s.%s: no such field", type->name, values[i].name);
    return result;
}
