/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/pool.h
 *
 * Elements of one size that never move, numbered from 1; 0 is no element.  The owner of the pool
 * knows which ones are in use.  Elements of 64 or 128 bytes begin at a cache line.
 *
 * Memory: 1024 elements at a time, which are freed together with the pool; 16,384 at a time in a
 * pool with as many already, if these fill huge pages.
 */
#ifndef NFSDIGEST_BASE_POOL_H
#define NFSDIGEST_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POOL_CHUNK = 1024 };

struct pool {
    void **chunks;
    uint32_t chunk_count, count, spare; /* |spare|: first of the free ones */
    size_t size;
};

bool pool_init(struct pool *pool, size_t size); /* false: no memory; |size| is at least 4 */
uint32_t pool_new(struct pool *pool);           /* a zeroed element, below 2^31; 0: no memory */
void pool_give(struct pool *pool, uint32_t id); /* takes it back; zeroes it from byte 4 on */
void pool_free(struct pool *pool);

static inline void *pool_at(const struct pool *pool, uint32_t id)
{
    return (char *)pool->chunks[id / POOL_CHUNK] + id % POOL_CHUNK * pool->size;
}

#endif
