/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/tree/pool.h
 *
 * Elements of one size that never move, by numbers from 1 on; 0 is none.  And texts.
 */
#ifndef NFSDIGEST_TREE_POOL_H
#define NFSDIGEST_TREE_POOL_H

#include "base/bytes.h"

#include <stdbool.h>

struct pool {
    void **chunks;
    uint32_t chunk_count, count, spare; /* |spare|: first of the free ones */
    size_t size;
};

bool pool_init(struct pool *pool, size_t size); /* false: no memory */
uint32_t pool_new(struct pool *pool);           /* a zeroed element; 0: no memory */
void pool_give(struct pool *pool, uint32_t id); /* back */
void pool_free(struct pool *pool);

static inline void *pool_at(const struct pool *pool, uint32_t id)
{
    return (char *)pool->chunks[id >> 12] + (id & 4095) * pool->size;
}

/* Texts of names and links: their bytes, with their length before them. */
static inline struct bytes pool_text(const char *text)
{
    struct bytes b = { (const uint8_t *)text + 4, 0 };

    memcpy(&b.len, text, 4);
    return b;
}
char *pool_text_new(struct bytes text); /* NULL: no memory */

#endif
