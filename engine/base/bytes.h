/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/bytes.h
 *
 * Big-endian loads (network order) and a growable buffer.  A struct buf that is
 * all zeros is empty and valid; buf_free makes it so again.  Growing functions
 * return 0 or -ERR_SYSTEM when memory ran out, and then leave the buffer as it was.
 */
#ifndef NFSDIGEST_BASE_BYTES_H
#define NFSDIGEST_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes in memory that belongs to something else. */
struct bytes {
    const uint8_t *data;
    uint32_t len;
};

/* Bytes of a message or stream as they were captured: the last ones may be missing. */
struct captured {
    const uint8_t *data; /* NULL: not known */
    uint32_t cap_len;    /* number of captured bytes */
    uint32_t wire_len;   /* number of all bytes; >= cap_len */
};

static inline uint16_t load_be16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, 2);
    return __builtin_bswap16(v);
}

static inline uint32_t load_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return __builtin_bswap32(v);
}

static inline uint64_t load_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return __builtin_bswap64(v);
}

static inline void store_be16(uint8_t *p, uint16_t v)
{
    v = __builtin_bswap16(v);
    memcpy(p, &v, 2);
}

static inline void store_be32(uint8_t *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    memcpy(p, &v, 4);
}

static inline void store_be64(uint8_t *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, 8);
}

static inline bool bytes_are_zeros(const uint8_t *p, size_t len)
{
    return !len || (!*p && memcmp(p, p + 1, len - 1) == 0);
}

static inline uint32_t load_le32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, 4);
}

static inline void store_le64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, 8);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian machines only");

struct buf {
    uint8_t *data;
    size_t len, cap;
};

int buf_reserve(struct buf *buf, size_t more); /* room for |more| bytes after len */
int buf_append(struct buf *buf, const void *data, size_t len);
void buf_free(struct buf *buf);

#endif
