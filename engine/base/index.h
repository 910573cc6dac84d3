/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/base/index.h
 *
 * A hash table from 32-bit hashes to 32-bit slots, for tables of a million and more things: half of
 * the memory of base/table.h, and more entries under one hash.  The caller compares keys.
 * Open addressing, linear probing, deletion by shifting back; at most 3/4 full.  All zeros is
 * empty.
 *
 *     uint32_t at;
 *     for (place = index_first(i, hash, &at); place; place = index_next(i, hash, &at))
 *         if (is_it(place->slot)) ...
 *
 * It can also map numbers to other ones, for what few of many things have: index_number.
 *
 * Memory: 8 bytes for each place, so 11 to 21 bytes for each entry.
 */
#ifndef NFSDIGEST_BASE_INDEX_H
#define NFSDIGEST_BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_place {
    uint32_t hash, slot; /* |slot| INDEX_NONE: free */
};

struct index {
    struct index_place *places;
    uint32_t mask, used;
};

/* Makes room for |more| entries.  Returns 0, or -ERR_SYSTEM. */
int index_reserve(struct index *index, uint32_t more);
/* Adds an entry, for which there is room. */
void index_put(struct index *index, uint32_t hash, uint32_t slot);
/* Takes an entry out, if it is there.  Others move. */
void index_take_out(struct index *index, uint32_t hash, uint32_t slot);
void index_free(struct index *index);
uint64_t index_memory(const struct index *index); /* bytes */

/* Where a look-up begins.  Hashes that differ in their upper bits alone do not crowd. */
static inline uint32_t index_home(const struct index *index, uint32_t hash)
{
    return (hash ^ hash >> 16) & index->mask;
}

/* Prefetches the memory for a look-up of |hash|. */
static inline void index_prefetch(const struct index *index, uint32_t hash)
{
    if (index->places)
        __builtin_prefetch(&index->places[index_home(index, hash)]);
}

/* The next entry under |hash|; its slot may be replaced.  NULL: no further one. */
static inline struct index_place *index_next(const struct index *index, uint32_t hash, uint32_t *at)
{
    for (;;) {
        struct index_place *place = &index->places[*at];

        *at = (*at + 1) & index->mask;
        if (place->slot == INDEX_NONE)
            return NULL;
        if (place->hash == hash)
            return place;
    }
}

static inline struct index_place *index_first(const struct index *index, uint32_t hash,
                                              uint32_t *at)
{
    if (!index->places)
        return NULL;
    *at = index_home(index, hash);
    return index_next(index, hash, at);
}

/* The slot of the first entry under |hash|; INDEX_NONE: there is none. */
static inline uint32_t index_slot(const struct index *index, uint32_t hash)
{
    if (!index->places)
        return INDEX_NONE;
    for (uint32_t at = index_home(index, hash);; at = (at + 1) & index->mask) {
        const struct index_place *place = &index->places[at];

        if (place->hash == hash || place->slot == INDEX_NONE)
            return place->slot;
    }
}

/* The number that |of| is mapped to; 0: none.  Such an index has one entry under each hash. */
static inline uint32_t index_number(const struct index *index, uint32_t of)
{
    uint32_t slot = index_slot(index, of);

    return slot == INDEX_NONE ? 0 : slot;
}

/* Maps |of| to |to|; 0: to nothing.  An entry that is new needs room. */
void index_set_number(struct index *index, uint32_t of, uint32_t to);

#endif
