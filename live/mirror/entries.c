/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/entries.c
 *
 * Names of a directory for its change set.  A name that was noted stays noted, also if it was made
 * and removed again: the listing from which the directory is copied may have seen it in between.
 */
#include "base/digest.h"
#include "base/grow.h"
#include "mirror/change_set_parts.h"

#include <stdlib.h>

/* The list and the index have room for up to twice of what they hold. */
enum { ENTRY_COST = 2 * sizeof(struct entry) + 2 * 16, TEXT_MAX = 65536 };

static uint64_t length_of(const struct entry *entry)
{
    return (uint64_t)entry->name_len + entry->handle_len + entry->text_len;
}

static struct entry *find(const struct entries *e, uint32_t hash, struct bytes name)
{
    uint32_t at;
    const struct index_place *place = index_first(&e->by_name, hash, &at);

    for (; place; place = index_next(&e->by_name, hash, &at)) {
        struct entry *entry = &e->list[place->slot];

        if (entry->name_len == name.len && !memcmp(entry->bytes, name.data, name.len))
            return entry;
    }
    return NULL;
}

/* Sets the bytes behind the name. */
static bool set_child(struct entry *entry, struct change_pool *pool, struct bytes name,
                      const struct change_child *child)
{
    uint64_t length = (uint64_t)name.len + child->handle.len + child->link_text.len;
    uint8_t *bytes;

    if (child->handle.len > 64 || child->link_text.len > TEXT_MAX || !pool_charge(pool, length))
        return false;
    bytes = malloc(length);
    if (!bytes) {
        pool->notes -= length;
        return false;
    }
    memcpy(bytes, name.data, name.len);
    if (child->handle.len)
        memcpy(bytes + name.len, child->handle.data, child->handle.len);
    if (child->link_text.len)
        memcpy(bytes + name.len + child->handle.len, child->link_text.data, child->link_text.len);
    pool->notes -= length_of(entry);
    free(entry->bytes);
    entry->bytes = bytes;
    entry->name_len = (uint8_t)name.len;
    entry->handle_len = (uint8_t)child->handle.len;
    entry->text_len = child->link_text.len;
    entry->type = child->type;
    entry->device = child->device;
    return true;
}

/* Finds the name, or adds it, and sets the child. */
static struct entry *note(struct entries *e, struct change_pool *pool, struct bytes name,
                          const struct change_child *child)
{
    uint32_t hash = (uint32_t)XXH3_64bits(name.data, name.len);
    struct entry *entry = find(e, hash, name);

    if (entry)
        return set_child(entry, pool, name, child) ? entry : NULL;
    if (e->count >= CHANGES_NAMES_MAX || GROW(e->list, e->count, e->cap) < 0 ||
        index_reserve(&e->by_name, 1) < 0 || !pool_charge(pool, ENTRY_COST))
        return NULL;
    entry = &e->list[e->count];
    *entry = (struct entry){ .hash = hash };
    if (!set_child(entry, pool, name, child)) {
        pool->notes -= ENTRY_COST;
        return NULL;
    }
    index_put(&e->by_name, hash, e->count++);
    return entry;
}

bool entries_remove(struct entries *e, struct change_pool *pool, struct bytes name, bool is_moved)
{
    const struct change_child nobody = { 0 };
    struct entry *entry = note(e, pool, name, &nobody);

    if (!entry)
        return false;
    if (!entry->is_removed)
        entry->is_moved = is_moved;
    entry->is_removed = true;
    entry->is_made = false;
    return true;
}

bool entries_make(struct entries *e, struct change_pool *pool, struct bytes name,
                  const struct change_child *child)
{
    struct entry *entry = note(e, pool, name, child);

    if (entry)
        entry->is_made = true;
    return entry;
}

void entries_free(struct entries *e, struct change_pool *pool)
{
    for (uint32_t i = 0; i < e->count; i++) {
        pool->notes -= length_of(&e->list[i]) + ENTRY_COST;
        free(e->list[i].bytes);
    }
    free(e->list);
    index_free(&e->by_name);
    *e = (struct entries){ 0 };
}
