/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/packed.h
 *
 * Files of packed values (base/pack.h): a number that distinguishes versions, the values, and a
 * digest (XXH3-64) of all that.  What is damaged is refused before anybody reads the values.
 *
 * Memory: the file.
 */
#ifndef NFSDIGEST_PIECES_PACKED_H
#define NFSDIGEST_PIECES_PACKED_H

#include "base/bytes.h"
#include "base/err.h"

struct unpack;

struct packed_kind {
    uint64_t version;
    uint64_t most;      /* bytes */
    const char *what;   /* for messages: "a border" */
    const char *advice; /* "make the piece again" */
};

/* The file appears when it is complete. */
int packed_write(const char *path, uint64_t version, const struct buf *values, struct err *err);

/* Reads the file into |file|, which the caller frees, also after an error.  |values| points into
 * it.  Returns -ERR_INPUT if it cannot be used. */
int packed_read(const char *path, const struct packed_kind *kind, struct buf *file,
                struct unpack *values, struct err *err);

#endif
