/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/compact.h
 *
 * A hash table from 32-bit hashes to slots from 1 on, in half the memory of base/index.h.  A place
 * has 32 bits: as many as the largest slot needs, and above them the upper bits of the hash.  What
 * is found is likely, but not certain to have the hash: the caller compares keys.  Who has the keys
 * tells hashes again when the table grows, and when others move to where something was taken out.
 * Open addressing, linear probing, deletion by shifting back; at most 3/4 full.  All zeros is
 * empty.
 *
 *     uint32_t at, slot;
 *     for (slot = compact_first(c, hash, &at); slot; slot = compact_next(c, hash, &at))
 *         if (is_it(slot)) ...
 *
 * Memory: 4 bytes for each place; at least 16 KiB; from 50,000 entries on, 5 to 11 bytes for each;
 * while it grows, half as much again.
 */
#ifndef NFSDIGEST_BASE_COMPACT_H
#define NFSDIGEST_BASE_COMPACT_H

#include <stddef.h>
#include <stdint.h>

struct compact {
    uint32_t *places; /* 0: free */
    uint32_t mask, used;
    uint32_t slots; /* the bits of a place that are the slot */
};

struct compact_keys {
    uint32_t (*hash)(const void *ctx, uint32_t slot); /* of a slot that is in the table */
    const void *ctx;
};

/* Makes room for |more| entries.  Returns 0, or -ERR_SYSTEM. */
int compact_reserve(struct compact *compact, uint32_t more, const struct compact_keys *keys);
/* Adds an entry, for which there is room. */
void compact_put(struct compact *compact, uint32_t hash, uint32_t slot);
/* Takes an entry out, if it is there.  Others move. */
void compact_take_out(struct compact *compact, uint32_t hash, uint32_t slot,
                      const struct compact_keys *keys);
void compact_free(struct compact *compact);
uint64_t compact_memory(const struct compact *compact); /* bytes */

/* Prefetches the memory for a look-up of |hash|. */
static inline void compact_prefetch(const struct compact *compact, uint32_t hash)
{
    if (compact->places)
        __builtin_prefetch(&compact->places[hash & compact->mask]);
}

/* The next slot that may have |hash|; 0: no further one. */
static inline uint32_t compact_next(const struct compact *compact, uint32_t hash, uint32_t *at)
{
    for (;;) {
        uint32_t place = compact->places[*at];

        *at = (*at + 1) & compact->mask;
        if (!place)
            return 0;
        if (!((place ^ hash) & ~compact->slots))
            return place & compact->slots;
    }
}

static inline uint32_t compact_first(const struct compact *compact, uint32_t hash, uint32_t *at)
{
    if (!compact->places)
        return 0;
    *at = hash & compact->mask;
    return compact_next(compact, hash, at);
}

#endif
