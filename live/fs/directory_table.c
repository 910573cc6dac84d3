/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/directory_table.c
 *
 * The table of a directory: from names to entries, 16 bytes a place.  Open addressing with linear
 * probing, at most 3/4 full.  It keeps 32 bits of a hash; the name itself decides.  The seed is
 * nobody's to know, so nobody can choose names that fall on one place.
 *
 * In a large directory, what counts is how often memory is waited for: mostly once for the place,
 * and once for the object, which knows its name and is needed anyhow.
 */
#include "base/digest.h"
#include "base/err.h"
#include "fs/directory_parts.h"
#include "fs/fs_parts.h"

#include <string.h>

enum { PLACES_FIRST = 32 };
#define PLACE_FREE 0
#define PLACE_GONE UINT32_MAX /* objects are below 2^31 */
#define PLACE_SIZE (sizeof(struct place) + sizeof(uint64_t))

static uint32_t hash_of(const struct directory *d, struct bytes name)
{
    return (uint32_t)XXH3_64bits_withSeed(name.data, name.len, d->seed);
}

static bool is_same(struct bytes a, struct bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* Whether this object knows of an entry here with this name; then |entry| is that. */
static bool object_knows(const struct directory *d, uint32_t object, struct directory_entry *entry)
{
    const struct inode *i = pool_at(d->objects, object), *parent;

    if (!i->parent || !is_same((struct bytes){ i->name, i->name_len }, entry->name))
        return false;
    parent = pool_at(d->objects, i->parent);
    if (parent->directory != d)
        return false;
    entry->object = object;
    entry->cookie = i->cookie;
    return true;
}

bool table_seek(const struct directory *d, struct bytes name, struct directory_entry *entry)
{
    uint32_t hash = hash_of(d, name), mask = d->place_count - 1;

    for (uint32_t at = hash & mask; d->places[at].object != PLACE_FREE; at = (at + 1) & mask) {
        if (d->places[at].hash != hash || d->places[at].object == PLACE_GONE)
            continue;
        entry->name = name;
        if (object_knows(d, d->places[at].object, entry))
            return true;
        if (directory_at(d, d->cookies[at], entry) && is_same(entry->name, name))
            return true;
    }
    return false;
}

static void put(struct directory *d, struct place place, uint64_t cookie)
{
    uint32_t mask = d->place_count - 1, at = place.hash & mask;

    while (d->places[at].object != PLACE_FREE && d->places[at].object != PLACE_GONE)
        at = (at + 1) & mask;
    d->filled += d->places[at].object == PLACE_FREE;
    d->places[at] = place;
    d->cookies[at] = cookie;
}

static void put_entry(struct directory *d, const struct directory_entry *entry)
{
    put(d, (struct place){ entry->object, hash_of(d, entry->name) }, entry->cookie);
}

/* A new table for |count| entries, of which there are those that the directory has now. */
static int rebuild(struct memory *m, struct directory *d, uint32_t count)
{
    const struct directory old = *d;
    struct directory_entry entry = { 0 };
    struct place *places;
    uint32_t size = PLACES_FIRST;

    while (size && size / 2 < count)
        size *= 2;
    places = size ? memory_take(m, size * PLACE_SIZE) : NULL;
    if (!places)
        return -ERR_SYSTEM;
    d->places = places;
    d->cookies = (uint64_t *)(void *)(places + size);
    d->place_count = size;
    d->filled = 0;
    for (uint32_t i = 0; i < old.place_count; i++)
        if (old.places[i].object != PLACE_FREE && old.places[i].object != PLACE_GONE)
            put(d, old.places[i], old.cookies[i]);
    while (!old.place_count && directory_after(d, entry.cookie, &entry))
        put_entry(d, &entry);
    memory_give(m, old.places, old.place_count * PLACE_SIZE);
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
        put_entry(d, entry);
}

/* The place of an entry that is there. */
static struct place *place_of(const struct directory *d, const struct directory_entry *entry)
{
    uint32_t mask = d->place_count - 1, at = hash_of(d, entry->name) & mask;

    while (d->places[at].object == PLACE_GONE || d->cookies[at] != entry->cookie)
        at = (at + 1) & mask;
    return &d->places[at];
}

void table_set(struct directory *d, const struct directory_entry *entry)
{
    if (d->place_count)
        place_of(d, entry)->object = entry->object;
}

bool table_leads(const struct directory *d, const struct directory_entry *entry)
{
    return !d->place_count || place_of(d, entry)->object == entry->object;
}

void table_take(struct directory *d, const struct directory_entry *entry)
{
    if (d->place_count)
        place_of(d, entry)->object = PLACE_GONE;
}

void table_give(struct memory *m, struct directory *d)
{
    memory_give(m, d->places, d->place_count * PLACE_SIZE);
    d->places = NULL;
    d->cookies = NULL;
    d->place_count = d->filled = 0;
}

void table_shrink(struct memory *m, struct directory *d)
{
    if (d->place_count && !d->count) {
        table_give(m, d);
    } else if (d->place_count > PLACES_FIRST && d->count < d->place_count / 16) {
        rebuild(m, d, d->count * 2); /* without memory it stays */
    }
}
