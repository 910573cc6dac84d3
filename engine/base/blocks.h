/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/blocks.h
 *
 * Digests of contents by blocks, so that a read can be compared with several writes.  A range of a
 * file is split where its offset in the file is a multiple of BLOCK_SIZE; the first and the last
 * piece can be shorter.  The digest of a piece is its XXH3-64, stored as 8 bytes, little-endian.
 */
#ifndef NFSDIGEST_BASE_BLOCKS_H
#define NFSDIGEST_BASE_BLOCKS_H

#include "base/bytes.h"

enum { BLOCK_SIZE = 4096, BLOCK_DIGEST_LEN = 8 };

/* Returns the length of the piece at |offset| of a range with |left| bytes from there on. */
static inline uint32_t block_piece(uint64_t offset, uint64_t left)
{
    uint32_t room = BLOCK_SIZE - (uint32_t)(offset % BLOCK_SIZE);

    return left < room ? (uint32_t)left : room;
}

/* Returns how many pieces a range has. */
static inline uint64_t block_count(uint64_t offset, uint32_t len)
{
    return (offset % BLOCK_SIZE + len + BLOCK_SIZE - 1) / BLOCK_SIZE * (len != 0);
}

/* Appends the digests of the pieces of |contents|, which are at |offset|.  Returns 0 or
 * -ERR_SYSTEM. */
int blocks_digest(uint64_t offset, struct bytes contents, struct buf *out);

#endif
