/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tree/pool.h"

#include <stdlib.h>

enum { CHUNK = 4096 };

static bool pool_grow(struct pool *pool)
{
    void **grown = pool->count < UINT32_MAX - CHUNK
                       ? realloc(pool->chunks, (pool->chunk_count + 1) * sizeof(*grown))
                       : NULL;

    if (!grown)
        return false;
    pool->chunks = grown;
    grown[pool->chunk_count] = calloc(CHUNK, pool->size);
    return grown[pool->chunk_count] && ++pool->chunk_count;
}

bool pool_init(struct pool *pool, size_t size)
{
    pool->size = size;
    pool->count = 1; /* 0 is none */
    return pool_grow(pool);
}

/* The first word of a free one leads to the next. */
uint32_t pool_new(struct pool *pool)
{
    uint32_t id = pool->spare;

    if (id) {
        memcpy(&pool->spare, pool_at(pool, id), 4);
        memset(pool_at(pool, id), 0, pool->size);
        return id;
    }
    if (pool->count == pool->chunk_count * (uint32_t)CHUNK && !pool_grow(pool))
        return 0;
    return pool->count++;
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
}

char *pool_text_new(struct bytes text)
{
    char *copy = malloc((size_t)text.len + 4);

    if (!copy)
        return NULL;
    memcpy(copy, &text.len, 4);
    if (text.len)
        memcpy(copy + 4, text.data, text.len);
    return copy;
}
