/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/bytes.h
 *
 * Loads and stores in network order and in that of files (little-endian), and a growable buffer.  A
 * struct buf that is all zeros is empty and valid; buf_free makes it so again.  Growing functions
 * return 0 or -ERR_SYSTEM when memory ran out, and then leave the buffer as it was.
 */
#ifndef NFSDIGEST_BASE_BYTES_H
#define NFSDIGEST_BASE_BYTES_H

#include <endian.h>
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

/* The compiler makes one instruction of each. */
#define BYTES_LOAD(NAME, TYPE, TO_HOST)                                                            \
    static inline TYPE NAME(const uint8_t *p)                                                      \
    {                                                                                              \
        TYPE v;                                                                                    \
        memcpy(&v, p, sizeof(v));                                                                  \
        return TO_HOST(v);                                                                         \
    }
#define BYTES_STORE(NAME, TYPE, FROM_HOST)                                                         \
    static inline void NAME(uint8_t *p, TYPE v)                                                    \
    {                                                                                              \
        v = FROM_HOST(v);                                                                          \
        memcpy(p, &v, sizeof(v));                                                                  \
    }
BYTES_LOAD(load_be16, uint16_t, be16toh)
BYTES_LOAD(load_be32, uint32_t, be32toh)
BYTES_LOAD(load_be64, uint64_t, be64toh)
BYTES_LOAD(load_le16, uint16_t, le16toh)
BYTES_LOAD(load_le32, uint32_t, le32toh)
BYTES_LOAD(load_le64, uint64_t, le64toh)
BYTES_STORE(store_be16, uint16_t, htobe16)
BYTES_STORE(store_be32, uint32_t, htobe32)
BYTES_STORE(store_be64, uint64_t, htobe64)
BYTES_STORE(store_le16, uint16_t, htole16)
BYTES_STORE(store_le32, uint32_t, htole32)
BYTES_STORE(store_le64, uint64_t, htole64)
#undef BYTES_LOAD
#undef BYTES_STORE

/* The names "." and "..". */
static inline bool bytes_are_dots(struct bytes name)
{
    return (name.len == 1 || name.len == 2) && name.data[0] == '.' &&
           name.data[name.len - 1] == '.';
}

/* Whether a directory can have an entry of this name: "." and ".." are such, too. */
static inline bool bytes_are_name(struct bytes name)
{
    return name.len && !memchr(name.data, '/', name.len) && !memchr(name.data, 0, name.len);
}

static inline bool bytes_are_zeros(const uint8_t *p, size_t len)
{
    return !len || (!*p && memcmp(p, p + 1, len - 1) == 0);
}

struct buf {
    uint8_t *data;
    size_t len, cap;
};

int buf_reserve(struct buf *buf, size_t more); /* room for |more| bytes after len */
int buf_append(struct buf *buf, const void *data, size_t len);
void buf_free(struct buf *buf);

#endif
