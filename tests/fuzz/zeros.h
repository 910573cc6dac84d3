/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/zeros.h
 *
 * For fuzz targets of files that have many zeros: in the input, a zero byte is followed by the
 * number of ZEROS further ones.
 */
#ifndef NFSDIGEST_TESTS_ZEROS_H
#define NFSDIGEST_TESTS_ZEROS_H

#include "base/bytes.h"

#include <stdlib.h>

enum { ZEROS_MOST = 1 << 20, ZEROS = 64 };

/* Appends the file that the input stands for to |file|, up to about ZEROS_MOST bytes. */
static inline void zeros_expand(const uint8_t *data, size_t len, struct buf *file)
{
    static const uint8_t zeros[ZEROS];
    int bad = 0;

    for (size_t at = 0; !bad && at < len && file->len < ZEROS_MOST; at++) {
        bad = buf_append(file, data + at, 1);
        if (!data[at] && at + 1 < len)
            for (unsigned i = data[++at]; i; i--)
                bad |= buf_append(file, zeros, ZEROS);
    }
    if (bad)
        abort();
}

#endif
