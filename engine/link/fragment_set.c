/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment_set.c
 *
 * The table of the sets of fragments, and room for their bytes.  For fragment.c, fragment_lost.c
 * and fragment_save.c.  The contract is in fragment_set.h.
 */
#include "link/fragment_set.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { DATA_MIN = 2048 };

_Static_assert(sizeof(struct fragment_key) == 44, "a key has no padding");

void fragments_init(struct fragments *f, struct counters *counters)
{
    memset(f, 0, sizeof(*f));
    f->counters = counters;
    f->free = f->oldest = f->newest = f->lost = f->last_lost = TABLE_NONE;
    f->due = INT64_MAX;
}

void fragments_free(struct fragments *f)
{
    for (uint32_t slot = f->oldest; slot != TABLE_NONE; slot = f->sets[slot].newer)
        free(f->sets[slot].data);
    for (uint32_t slot = f->lost; slot != TABLE_NONE; slot = f->sets[slot].newer)
        free(f->sets[slot].data);
    free(f->sets);
    free(f->assembled);
    free(f->remains);
    table_free(&f->table);
    table_free(&f->answers);
    fragments_init(f, f->counters);
}

static uint64_t hash_key(const struct fragment_key *key)
{
    uint64_t hash = 0x9e3779b97f4a7c15u, word;
    const uint8_t *p = (const uint8_t *)key;

    for (unsigned i = 0; i + 8 <= sizeof(*key); i += 8) {
        memcpy(&word, p + i, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    hash = (hash ^ key->scope) * 0xc4ceb9fe1a85ec53u;
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

void fragment_set_remove(struct fragments *f, uint32_t slot)
{
    struct fragment_set *set = &f->sets[slot];

    fragment_set_unlink(f, slot);
    free(set->data);
    set->data = NULL;
    set->newer = f->free;
    f->free = slot;
}

void fragment_set_unlink(struct fragments *f, uint32_t slot)
{
    struct fragment_set *set = &f->sets[slot];

    table_remove(&f->table, set->hash, slot);
    if (set->answer)
        table_remove(&f->answers, set->answer, slot);
    *(set->older == TABLE_NONE ? &f->oldest : &f->sets[set->older].newer) = set->newer;
    *(set->newer == TABLE_NONE ? &f->newest : &f->sets[set->newer].older) = set->older;
    f->bytes -= set->cap;
    set->serial = set->answer = 0;
    f->used--;
}

static void evict_oldest(struct fragments *f)
{
    if (!f->sets[f->oldest].copy)
        count(f->counters, COUNT_EVICTED);
    fragment_give_up(f, f->oldest, NULL);
}

/* A slot without a set, or TABLE_NONE when there is no memory. */
static uint32_t take_slot(struct fragments *f)
{
    uint32_t slot;

    if (f->used == LINK_FRAGMENT_SETS)
        evict_oldest(f);
    if (f->free == TABLE_NONE) {
        uint32_t slots = f->slots;

        if (GROW(f->sets, slots, f->slots) < 0)
            return TABLE_NONE;
        for (uint32_t i = f->slots; i-- > slots;) {
            f->sets[i].newer = f->free;
            f->free = i;
        }
    }
    slot = f->free;
    f->free = f->sets[slot].newer;
    return slot;
}

uint32_t fragment_set_new(struct fragments *f, const struct fragment_key *key, int64_t time)
{
    uint64_t hash = hash_key(key);
    uint32_t slot = take_slot(f);
    struct fragment_set *set;

    if (slot == TABLE_NONE)
        return TABLE_NONE;
    set = &f->sets[slot];
    if (table_add(&f->table, hash, slot) < 0) {
        set->newer = f->free;
        f->free = slot;
        return TABLE_NONE;
    }
    *set = (struct fragment_set){ .key = *key,
                                  .hash = hash,
                                  .serial = ++f->serial,
                                  .time = time,
                                  .last_time = TIME_NONE,
                                  .due = INT64_MAX,
                                  .older = f->newest,
                                  .newer = TABLE_NONE };
    *(f->newest == TABLE_NONE ? &f->oldest : &f->sets[f->newest].newer) = slot;
    f->newest = slot;
    f->used++;
    return slot;
}

uint32_t fragment_sets_of(const struct fragments *f, const struct fragment_key *key,
                          uint32_t slots[])
{
    uint64_t hash = hash_key(key);
    uint32_t at, slot, n = 0;

    for (slot = table_first(&f->table, hash, &at); slot != TABLE_NONE && n < FRAGMENT_RIVALS + 2;
         slot = table_next(&f->table, hash, &at)) {
        uint32_t i = n;
        if (memcmp(&f->sets[slot].key, key, sizeof(*key)) != 0)
            continue;
        for (; i && f->sets[slots[i - 1]].serial > f->sets[slot].serial; i--)
            slots[i] = slots[i - 1];
        slots[i] = slot;
        n++;
    }
    return n;
}

int fragment_set_reserve(struct fragments *f, uint32_t slot, uint32_t end)
{
    struct fragment_set *set = &f->sets[slot];
    uint32_t cap = set->cap ? set->cap : DATA_MIN;
    uint8_t *data;

    if (end <= set->cap)
        return 0;
    while (cap < end)
        cap *= 2;
    while (f->bytes - set->cap + cap > LINK_FRAGMENT_BYTES && f->used > 1) {
        uint32_t oldest = f->oldest;

        if (oldest == slot) { /* the one that grows comes last */
            oldest = set->newer;
            if (!f->sets[oldest].copy)
                count(f->counters, COUNT_EVICTED);
            fragment_give_up(f, oldest, NULL);
        } else {
            evict_oldest(f);
        }
    }
    data = realloc(set->data, cap);
    if (!data)
        return -ERR_SYSTEM;
    f->bytes += cap - set->cap;
    set->data = data;
    set->cap = cap;
    return 0;
}
