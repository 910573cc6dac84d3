/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mirror/strings.h"

uint32_t strings_add(struct strings *strings, struct bytes bytes)
{
    struct pool *pool = &strings->classes[(bytes.len - 1) / 4];
    uint32_t number;

    if (!pool->count && !pool_init(pool, ((bytes.len - 1) / 4 + 1) * 4)) {
        pool_free(pool);
        return 0;
    }
    number = pool_new(pool);
    if (number)
        memcpy(pool_at(pool, number), bytes.data, bytes.len);
    return number;
}

void strings_remove(struct strings *strings, uint32_t number, uint32_t len)
{
    pool_give(&strings->classes[(len - 1) / 4], number);
}

void strings_free(struct strings *strings)
{
    for (int i = 0; i < STRINGS_CLASSES; i++)
        pool_free(&strings->classes[i]);
}

uint64_t strings_memory(const struct strings *strings)
{
    uint64_t bytes = 0;

    for (int i = 0; i < STRINGS_CLASSES; i++) {
        const struct pool *pool = &strings->classes[i];

        bytes += pool->chunk_count * (POOL_CHUNK * pool->size + sizeof(*pool->chunks));
    }
    return bytes;
}
