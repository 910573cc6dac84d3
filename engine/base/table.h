/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/table.h
 *
 * A hash table from 64-bit hashes to 32-bit slots of a pool that the caller owns.
 * The caller compares keys: table_find walks all slots stored under one hash.
 * Open addressing, linear probing, deletion by shifting back; at most 3/4 full.
 * Memory: 16 bytes for each place, so 21 to 43 bytes for each entry.
 */
#ifndef NFSDIGEST_BASE_TABLE_H
#define NFSDIGEST_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#define TABLE_NONE UINT32_MAX

struct table_place { /* side by side: a look-up is one cache miss */
    uint64_t hash;
    uint32_t slot; /* TABLE_NONE where the place is free */
};

struct table {
    struct table_place *places;
    uint32_t mask, used;
};

/* Adds an entry.  A table of zeros is empty and valid.  Returns 0 or -ERR_SYSTEM. */
int table_add(struct table *t, uint64_t hash, uint32_t slot);

/* Takes out the entry (|hash|, |slot|); it must be there. */
void table_remove(struct table *t, uint64_t hash, uint32_t slot);

/* Replaces the slot of the entry (|hash|, |from|) by |to|. */
void table_move(struct table *t, uint64_t hash, uint32_t from, uint32_t to);

void table_clear(struct table *t);
void table_free(struct table *t);

/* Iterates over the slots stored under |hash|:
 *     for (slot = table_first(t, hash, &at); slot != TABLE_NONE; slot = table_next(t, hash, &at))
 * The table must not change in between. */
static inline uint32_t table_next(const struct table *t, uint64_t hash, uint32_t *at)
{
    for (;;) {
        *at = (*at + 1) & t->mask;
        if (t->places[*at].slot == TABLE_NONE)
            return TABLE_NONE;
        if (t->places[*at].hash == hash)
            return t->places[*at].slot;
    }
}

/* Prefetches the memory for a look-up of |hash|. */
static inline void table_prefetch(const struct table *t, uint64_t hash)
{
    if (t->places)
        __builtin_prefetch(&t->places[(uint32_t)(hash >> 32) & t->mask]);
}

static inline uint32_t table_first(const struct table *t, uint64_t hash, uint32_t *at)
{
    if (!t->used)
        return TABLE_NONE;
    *at = ((uint32_t)(hash >> 32) - 1) & t->mask;
    return table_next(t, hash, at);
}

#endif
