/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, SLAB = 16, HUGE_PAGE = 2 << 20, MOST = 1u << 31 };

static size_t chunk_bytes(const struct pool *pool)
{
    return (POOL_CHUNK * pool->size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* From the 16th on, chunks come in slabs of 16 if these fill huge pages.  The kernel then needs not
 * look where elements are that are asked for in random order.  If it has no huge pages, nothing is
 * lost. */
static bool is_of_slab(const struct pool *pool, uint32_t chunk)
{
    return chunk >= SLAB && chunk_bytes(pool) * SLAB % HUGE_PAGE == 0;
}

static void *chunk_new(const struct pool *pool)
{
    size_t bytes = chunk_bytes(pool);
    void *slab;

    if (!is_of_slab(pool, pool->chunk_count))
        return aligned_alloc(CACHE_LINE, bytes);
    if (pool->chunk_count % SLAB)
        return (char *)pool->chunks[pool->chunk_count - 1] + bytes;
    slab = aligned_alloc(HUGE_PAGE, bytes * SLAB);
    if (slab)
        madvise(slab, bytes * SLAB, MADV_HUGEPAGE);
    return slab;
}

static bool pool_grow(struct pool *pool)
{
    void *chunk, **grown;

    if (pool->count >= MOST)
        return false;
    grown = realloc(pool->chunks, (pool->chunk_count + 1) * sizeof(*grown));
    if (!grown)
        return false;
    pool->chunks = grown;
    chunk = chunk_new(pool);
    if (!chunk)
        return false;
    grown[pool->chunk_count++] = chunk;
    return true;
}

bool pool_init(struct pool *pool, size_t size)
{
    *pool = (struct pool){ .size = size, .count = 1 }; /* 0 is none */
    if (!pool_grow(pool))
        return false;
    memset(pool_at(pool, 0), 0, size);
    return true;
}

/* The first word of a free one leads to the next. */
uint32_t pool_new(struct pool *pool)
{
    uint32_t id = pool->spare;

    if (id) {
        memcpy(&pool->spare, pool_at(pool, id), 4);
        memset(pool_at(pool, id), 0, 4);
        return id;
    }
    if (pool->count == pool->chunk_count * (uint32_t)POOL_CHUNK && !pool_grow(pool))
        return 0;
    id = pool->count++;
    memset(pool_at(pool, id), 0, pool->size);
    return id;
}

void pool_give(struct pool *pool, uint32_t id)
{
    memset(pool_at(pool, id), 0, pool->size);
    memcpy(pool_at(pool, id), &pool->spare, 4);
    pool->spare = id;
}

void pool_free(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->chunk_count; i++)
        if (i % SLAB == 0 || !is_of_slab(pool, i))
            free(pool->chunks[i]);
    free(pool->chunks);
    *pool = (struct pool){ 0 };
}
