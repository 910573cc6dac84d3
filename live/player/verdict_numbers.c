/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/verdict_numbers.c
 *
 * What verdicts keep of a few steps, by their numbers: a hash table that leads into a pool.  The
 * contract is in verdict_parts.h.
 */
#include "player/verdict_parts.h"

static uint64_t hash_of(uint64_t number)
{
    return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t slot_of(const struct by_number *all, uint64_t number)
{
    uint64_t hash = hash_of(number);
    uint32_t at, slot;

    for (slot = table_first(&all->table, hash, &at); slot != TABLE_NONE;
         slot = table_next(&all->table, hash, &at))
        if (*(const uint64_t *)pool_at(&all->pool, slot) == number)
            return slot;
    return TABLE_NONE;
}

void *by_number_find(const struct by_number *all, uint64_t number)
{
    uint32_t slot = all->table.used ? slot_of(all, number) : TABLE_NONE;

    return slot == TABLE_NONE ? NULL : pool_at(&all->pool, slot);
}

void *by_number_add(struct by_number *all, uint64_t number)
{
    uint32_t slot = pool_new(&all->pool);

    if (!slot)
        return NULL;
    if (table_add(&all->table, hash_of(number), slot) < 0) {
        pool_give(&all->pool, slot);
        return NULL;
    }
    *(uint64_t *)pool_at(&all->pool, slot) = number;
    return pool_at(&all->pool, slot);
}

void by_number_remove(struct by_number *all, uint64_t number, void (*end)(void *element))
{
    uint32_t slot = all->table.used ? slot_of(all, number) : TABLE_NONE;

    if (slot == TABLE_NONE)
        return;
    end(pool_at(&all->pool, slot));
    table_remove(&all->table, hash_of(number), slot);
    pool_give(&all->pool, slot);
}

void by_number_free(struct by_number *all, void (*end)(void *element))
{
    for (uint32_t i = 0; all->table.places && i <= all->table.mask; i++)
        if (all->table.places[i].slot != TABLE_NONE)
            end(pool_at(&all->pool, all->table.places[i].slot));
    table_free(&all->table);
    pool_free(&all->pool);
}
