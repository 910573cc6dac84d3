/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_names_state.c
 *
 * The values in states of names, whose version and digest are right (zeros.h).  What can be read is
 * put to its end, packed and read again.
 */
#include "names/names_state.c"

#include "zeros.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Everything that a record refers to was put before it. */
static int check(void *ctx, const struct record *r, struct err *err)
{
    const struct pass *p = ctx;
    const struct record_operation *op = &r->operation;

    (void)err;
    if (r->kind == RECORD_OPERATION &&
        (!op->flow || op->flow > p->told.flow.count || op->path > p->told.path.count ||
         op->path2 > p->told.path.count || op->object > p->told.object.count ||
         op->credential > p->told.credential.count))
        abort();
    return 0;
}

static void begin(struct pass *p, const struct names_options *options)
{
    const struct sink sink = { check, p };
    struct err err = { 0 };

    if (pass_begin(p, options, &sink, &err) < 0)
        abort();
}

static bool read_state(struct pass *p, const struct buf *values, struct join *join)
{
    struct unpack in = { values->data, values->len, false };
    struct err err = { 0 };

    if (restore(p, &in, join, &err) < 0)
        return false;
    return !in.failed && !in.left;
}

/* What was read can be packed and read again. */
static void again(const struct pass *p, const struct names_options *options, const struct join *j)
{
    struct pass *other = calloc(1, sizeof(*other));
    struct join *join = join_new(NULL);
    struct buf values = { 0 };

    if (!other || !join || pack_state(p, j, &values) != 0)
        abort();
    begin(other, options);
    if (!read_state(other, &values, join))
        abort();
    pass_free(other);
    free(other);
    join_free(join);
    buf_free(&values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct names_options options;
    struct pass *p = calloc(1, sizeof(*p));
    struct join *join = join_new(NULL);
    struct buf values = { 0 };
    struct err err = { 0 };

    if (!p || !join)
        abort();
    zeros_expand(data, len, &values);
    begin(p, &options);
    if (read_state(p, &values, join)) {
        again(p, &options, join);
        if (pass_end(p, &err) < 0 || pass_waiting(p))
            abort();
    }
    pass_free(p);
    free(p);
    join_free(join);
    buf_free(&values);
    return 0;
}
