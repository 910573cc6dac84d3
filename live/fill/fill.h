/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fill/fill.h
 *
 * Contents that the live programs make up: one function of an object's number and an offset.  So a
 * client can check each READ byte by byte, and send each WRITE without generating its data.
 * docs/contents.md defines the function.
 *
 * Offsets are of 64 bits.  Nothing fails.
 *
 * Memory: 2 MiB for the whole program.  The first call fills them (about 2 ms) without a lock:
 * programs with threads must make it before they start one.
 */
#ifndef NFSDIGEST_FILL_H
#define NFSDIGEST_FILL_H

#include "base/bytes.h"

enum {
    FILL_PERIOD = 1048573, /* the largest prime below 2^20; contents repeat after so many bytes */
    FILL_RUN = 1 << 20,
};

/* The contents from |offset| on: at least FILL_RUN bytes in one piece, valid until the end. */
const uint8_t *fill_at(uint64_t object, uint64_t offset);
void fill_copy(uint64_t object, uint64_t offset, uint8_t *to, size_t length);
/* How many bytes at the beginning of |bytes| are those of |object| at |offset|; bytes.len: all. */
size_t fill_same(uint64_t object, uint64_t offset, struct bytes bytes);

#endif
