/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/pack.h
 *
 * Packs state into bytes, and unpacks it.  Structs of plain values are copied whole; byte strings
 * have a length before them.  Only for the same build on the same machine (the carry between two
 * captures in a database); pack_layout makes the state of another build recognizable.  Packing
 * fails only if there is no memory.  A failed unpack stays failed, so it is enough to check the
 * result once, at the end.
 */
#ifndef NFSDIGEST_BASE_PACK_H
#define NFSDIGEST_BASE_PACK_H

#include "base/bytes.h"

#include <stdbool.h>

struct unpack {
    const uint8_t *data;
    size_t left;
    bool failed;
};

static inline int pack_bytes(struct buf *out, const void *data, uint32_t len)
{
    return buf_append(out, &len, sizeof(len)) < 0 ? -1 : buf_append(out, data, len);
}

#define pack_value(out, value) buf_append((out), &(value), sizeof(value))

static inline void unpack_raw(struct unpack *in, void *to, size_t len)
{
    if (in->failed || in->left < len) {
        in->failed = true;
        memset(to, 0, len);
        return;
    }
    memcpy(to, in->data, len);
    in->data += len;
    in->left -= len;
}

/* Adds a field to a hash of all fields and their sizes, which distinguishes the states of different
 * builds.  |hash| is that of the fields before it. */
static inline uint64_t pack_layout(uint64_t hash, const char *field, size_t size)
{
    hash = (hash ^ size) * UINT64_C(0x100000001b3);
    while (*field)
        hash = (hash ^ (uint8_t)*field++) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* Another byte than 0 and 1 is no bool, and to read one that has it is undefined. */
static inline void unpack_bool(struct unpack *in, void *to, size_t len)
{
    uint8_t byte;

    (void)len;
    unpack_raw(in, &byte, sizeof(byte));
    in->failed |= byte > 1;
    *(bool *)to = byte == 1;
}

#define unpack_value(in, value)                                                                    \
    _Generic((value), bool: unpack_bool, default: unpack_raw)((in), &(value), sizeof(value))

/* Returns a byte string, which points into the unpacked data. */
static inline struct bytes unpack_bytes(struct unpack *in)
{
    struct bytes b = { 0 };

    unpack_value(in, b.len);
    if (in->failed || in->left < b.len) {
        in->failed = true;
        return (struct bytes){ 0 };
    }
    b.data = in->data;
    in->data += b.len;
    in->left -= b.len;
    return b;
}

#endif
