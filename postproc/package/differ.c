/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/differ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 };

static int compare(FILE *const files[2], const char *const paths[2], char *piece, uint64_t max,
                   int64_t *at, struct err *err)
{
    size_t len[2], least;

    for (uint64_t done = 0; done < max; done += len[0]) {
        size_t most = max - done < PIECE ? (size_t)(max - done) : PIECE;

        for (int i = 0; i < 2; i++) {
            len[i] = fread(piece + i * PIECE, 1, most, files[i]);
            if (len[i] < most && ferror(files[i]))
                return err_set(err, ERR_SYSTEM, "%s: cannot be read", paths[i]);
        }
        least = len[0] < len[1] ? len[0] : len[1];
        if (memcmp(piece, piece + PIECE, least) != 0) {
            *at = (int64_t)done;
            for (size_t i = 0; piece[i] == piece[PIECE + i]; i++)
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
    const char *const paths[2] = { a, b };
    FILE *const files[2] = { fopen(a, "re"), fopen(b, "re") };
    char *piece = malloc(2 * PIECE);
    int result = 0;

    *at = -1;
    for (int i = 0; i < 2; i++)
        if (!files[i])
            result = err_set(err, ERR_SYSTEM, "%s: %s", paths[i], strerror(errno));
    if (!piece)
        result = err_set(err, ERR_SYSTEM, "out of memory");
    if (result == 0)
        result = compare(files, paths, piece, max, at, err);
    for (int i = 0; i < 2; i++)
        if (files[i])
            fclose(files[i]);
    free(piece);
    return result;
}
