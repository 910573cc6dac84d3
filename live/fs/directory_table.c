/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/directory_table.c
 *
 * The table of a directory: from names to cookies, 8 bytes a place.  Open addressing with linear
 * probing, at most 3/4 full.  It keeps 16 bits of a hash; the name itself decides.  The seed is
 * nobody's to know, so nobody can choose names that fall on one place.
 */
#include "fs/directory_parts.h"
#include "base/digest.h"
#include "base/err.h"

#include <string.h>

enum { PLACES_FIRST = 32, PLACE_FREE = 0, PLACE_GONE = 1 };

static uint64_t hash_of(const struct directory *d, struct bytes name)
{
    return XXH3_64bits_withSeed(name.data, name.len, d->seed);
}

static uint64_t cookie_of(uint64_t place)
{
    return place & DIRECTORY_COOKIE_MAX;
}

/* In a large directory neither the name nor its object is in a cache; both are fetched at once. */
static void fetch(const struct directory *d, uint32_t object)
{
    const char *at = pool_at(d->objects, object);

    __builtin_prefetch(at);
    __builtin_prefetch(at + d->objects->size - 1);
}

bool table_seek(const struct directory *d, struct bytes name, struct directory_entry *entry)
{
    uint64_t hash = hash_of(d, name);
    uint32_t mask = d->place_count - 1;

    for (uint32_t at = (uint32_t)hash & mask; d->places[at] != PLACE_FREE; at = (at + 1) & mask) {
        if (d->places[at] >> 48 != hash >> 48 || d->places[at] == PLACE_GONE ||
            !directory_at(d, cookie_of(d->places[at]), entry))
            continue;
        fetch(d, entry->object);
        if (entry->name.len == name.len && !memcmp(entry->name.data, name.data, name.len))
            return true;
    }
    return false;
}

static void place(struct directory *d, const struct directory_entry *entry)
{
    uint64_t hash = hash_of(d, entry->name);
    uint32_t mask = d->place_count - 1, at = (uint32_t)hash & mask;

    while (d->places[at] > PLACE_GONE)
        at = (at + 1) & mask;
    d->filled += d->places[at] == PLACE_FREE;
    d->places[at] = (hash >> 48) << 48 | entry->cookie;
}

/* A new table for |count| entries, of which there are those that the directory has now. */
static int rebuild(struct memory *m, struct directory *d, uint32_t count)
{
    struct directory_entry entry = { 0 };
    uint64_t *places;
    uint32_t size = PLACES_FIRST;

    while (size && size / 2 < count)
        size *= 2;
    places = size ? memory_take(m, size * sizeof(*places)) : NULL;
    if (!places)
        return -ERR_SYSTEM;
    memory_give(m, d->places, d->place_count * sizeof(*places));
    d->places = places;
    d->place_count = size;
    d->filled = 0;
    while (directory_after(d, entry.cookie, &entry))
        place(d, &entry);
    return 0;
}

int table_room(struct memory *m, struct directory *d)
{
    if (!d->place_count && d->count < DIRECTORY_SMALL)
        return 0;
    if (d->place_count && d->filled < d->place_count / 4 * 3)
        return 0;
    return rebuild(m, d, d->count + 1);
}

void table_put(struct directory *d, const struct directory_entry *entry)
{
    if (d->place_count)
        place(d, entry);
}

void table_take(struct directory *d, const struct directory_entry *entry)
{
    uint64_t hash = hash_of(d, entry->name);
    uint32_t mask = d->place_count - 1, at = (uint32_t)hash & mask;

    if (!d->place_count)
        return;
    while (d->places[at] == PLACE_GONE || cookie_of(d->places[at]) != entry->cookie)
        at = (at + 1) & mask;
    d->places[at] = PLACE_GONE;
}

void table_shrink(struct memory *m, struct directory *d)
{
    if (d->place_count && !d->count) {
        memory_give(m, d->places, d->place_count * sizeof(*d->places));
        d->places = NULL;
        d->place_count = d->filled = 0;
    } else if (d->place_count > PLACES_FIRST && d->count < d->place_count / 16) {
        rebuild(m, d, d->count * 2); /* without memory it stays */
    }
}
