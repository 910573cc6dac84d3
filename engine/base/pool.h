/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/pool.h
 *
 * Elements of one size that never move, by numbers from 1 on; 0 is none.  Whoever owns the pool
 * knows which are in use.  Memory: 1024 elements at a time, which are only returned with the pool;
 * elements of 64 or 128 bytes begin at a cache line.
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
void pool_give(struct pool *pool, uint32_t id); /* back; all but its first 4 bytes are zeros then */
void pool_free(struct pool *pool);

static inline void *pool_at(const struct pool *pool, uint32_t id)
{
    return (char *)pool->chunks[id / POOL_CHUNK] + id % POOL_CHUNK * pool->size;
}

#endif
