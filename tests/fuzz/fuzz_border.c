/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_border.c
 *
 * The values in border files of pieces, whose version and digest are right.  They have many zeros:
 * a zero byte is followed by the number of 64 further ones.  What can be read is compared with
 * itself, as the border before and behind.
 */
#include "pieces/border.c"

#include <stdlib.h>

enum { BORDER_MOST = 1 << 20, ZEROS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void expand(const uint8_t *data, size_t len, struct buf *file)
{
    static const uint8_t zeros[ZEROS];
    int bad = 0;

    for (size_t at = 0; !bad && at < len && file->len < BORDER_MOST; at++) {
        bad = buf_append(file, data + at, 1);
        if (!data[at] && at + 1 < len)
            for (unsigned i = data[++at]; i; i--)
                bad |= buf_append(file, zeros, ZEROS);
    }
    if (bad)
        abort();
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct buf file = { 0 };
    struct border border = { { 0 } };
    struct err err = { 0 };
    struct unpack in;

    expand(data, len, &file);
    in = (struct unpack){ file.data, file.len, false };
    if (parse("border", &in, &border, &err) == 0)
        compare(&border);
    else if (!err.text[0])
        abort();
    border_free(&border);
    buf_free(&file);
    return 0;
}
