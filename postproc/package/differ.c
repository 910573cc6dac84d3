/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/differ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 };

struct two {
    const char *paths[2];
    FILE *files[2];
    char *piece; /* of one, then of the other */
};

static int compare(const struct two *t, uint64_t max, int64_t *at, struct err *err)
{
    const char *piece = t->piece, *other = t->piece + PIECE;
    size_t len[2], least;

    for (uint64_t done = 0; done < max; done += len[0]) {
        size_t most = max - done < PIECE ? (size_t)(max - done) : PIECE;

        for (int i = 0; i < 2; i++) {
            len[i] = fread(t->piece + i * PIECE, 1, most, t->files[i]);
            if (len[i] < most && ferror(t->files[i]))
                return err_set(err, ERR_SYSTEM, "%s: cannot be read", t->paths[i]);
        }
        least = len[0] < len[1] ? len[0] : len[1];
        if (memcmp(piece, other, least) != 0) {
            *at = (int64_t)done;
            for (size_t i = 0; piece[i] == other[i]; i++)
                *at += 1;
            return 0;
        }
        if (len[0] != len[1])
            *at = (int64_t)(done + least);
        if (least < most)
            return 0;
    }
    return 0;
}

int differ_at(const char *a, const char *b, uint64_t max, int64_t *at, struct err *err)
{
    const struct two t = { { a, b }, { fopen(a, "re"), fopen(b, "re") }, malloc(2 * PIECE) };
    int result = 0;

    *at = -1;
    for (int i = 0; i < 2; i++)
        if (!t.files[i])
            result = err_set(err, ERR_SYSTEM, "%s: %s", t.paths[i], strerror(errno));
    if (!t.piece)
        result = err_memory(err, "a comparison");
    if (result == 0)
        result = compare(&t, max, at, err);
    for (int i = 0; i < 2; i++)
        if (t.files[i])
            fclose(t.files[i]);
    free(t.piece);
    return result;
}
