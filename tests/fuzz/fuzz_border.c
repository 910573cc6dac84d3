/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_border.c
 *
 * The values in border files of pieces, whose version and digest are right (zeros.h).  What can
 * be read is compared with itself, as the border before and behind.  Ranges of pieces, too: these
 * are joined with others.
 */
#include "pieces/border.c"
#include "pieces/range_file.c"

#include "zeros.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void compare(const struct border *b)
{
    struct outline rest = { 0 }, known = { 0 };
    struct outline_fit fit;
    struct err err = { 0 };

    if (outline_follows(
            &(struct outline_border){ &b->end, b->depth, &b->after, &b->end, &b->past, b->limits },
            &fit, &rest, &err) < 0 ||
        outline_copy(&known, &b->end, &err) < 0 || outline_add(&known, &rest, &err) < 0)
        abort();
    if (!fit.same && !fit.why[0])
        abort();
    outline_free(&rest);
    outline_free(&known);
}

/* A range of one piece, which can be read. */
static struct range piece_of(struct buf *file)
{
    struct unpack in = { file->data, file->len, false };
    struct border border = { { 0 } };
    struct range range;
    struct err err = { 0 };

    if (parse("border", &in, &border, &err) < 0 || range_piece(&range, "a", &border, &err) < 0)
        abort();
    return range;
}

static void append(struct range *to, struct range *next)
{
    struct err err = { 0 };
    uint32_t count = to->count + next->count;
    int rc = range_append(to, next, &err);

    if (rc < 0 || (rc == 0 && to->count != count))
        abort();
    range_free(next);
}

static void join_pieces(struct buf *file)
{
    struct range all = piece_of(file);

    for (int i = 0; i < 2; i++) {
        struct range next = piece_of(file), two = piece_of(file);

        append(&two, &next);
        append(&all, &two);
    }
    range_free(&all);
}

static void join_ranges(struct buf *file)
{
    struct range range[2] = { 0 };
    bool good = true;

    for (int i = 0; i < 2; i++) {
        struct unpack in = { file->data, file->len, false };

        good &= restore(&in, &range[i]);
    }
    if (good)
        append(&range[0], &range[1]);
    range_free(&range[0]);
    range_free(&range[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct buf file = { 0 };
    struct border border = { { 0 } };
    struct err err = { 0 };
    struct unpack in;

    zeros_expand(data, len, &file);
    in = (struct unpack){ file.data, file.len, false };
    if (parse("border", &in, &border, &err) == 0) {
        compare(&border);
        join_pieces(&file);
    } else if (!err.text[0]) {
        abort();
    }
    border_free(&border);
    join_ranges(&file);
    buf_free(&file);
    return 0;
}
