/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64, MOST = 1u << 31 };

static bool pool_grow(struct pool *pool)
{
    size_t lines = (POOL_CHUNK * pool->size + CACHE_LINE - 1) / CACHE_LINE;
    void *chunk, **grown;

    if (pool->count >= MOST)
        return false;
    grown = realloc(pool->chunks, (pool->chunk_count + 1) * sizeof(*grown));
    if (!grown)
        return false;
    pool->chunks = grown;
    chunk = aligned_alloc(CACHE_LINE, lines * CACHE_LINE);
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
        free(pool->chunks[i]);
    free(pool->chunks);
    *pool = (struct pool){ 0 };
}
