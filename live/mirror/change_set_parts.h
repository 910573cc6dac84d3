/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/change_set_parts.h
 *
 * For the files of change sets alone: extents.c, entries.c, rivals.c.
 */
#ifndef NFSDIGEST_MIRROR_CHANGE_SET_PARTS_H
#define NFSDIGEST_MIRROR_CHANGE_SET_PARTS_H

#include "base/index.h"
#include "mirror/change_set.h"

struct change_pool {
    uint64_t contents_max, contents; /* bytes */
    uint64_t notes_max, notes;
};

/* Charges the pool for notes; false: they are too many. */
static inline bool pool_charge(struct change_pool *pool, uint64_t bytes)
{
    if (bytes > pool->notes_max - pool->notes)
        return false;
    pool->notes += bytes;
    return true;
}

/* --- extents.c: sorted, without overlaps */

struct extent {
    uint64_t from, length;
    uint8_t *data; /* |length| bytes; NULL: to be read again */
};

struct extents {
    struct extent *list;
    uint32_t count, cap;
};

/* Writes [from, from + length); from + length does not overflow.  False: too many, no memory; then
 * the list is valid, but not complete. */
bool extents_write(struct extents *extents, struct change_pool *pool, uint64_t from,
                   uint64_t length, const uint8_t *data);
/* Takes [from, to) away. */
bool extents_cut(struct extents *extents, struct change_pool *pool, uint64_t from, uint64_t to);
void extents_free(struct extents *extents, struct change_pool *pool);

static inline uint64_t extent_end(const struct extent *extent)
{
    return extent->from + extent->length;
}

/* --- entries.c: in the order in which names were first noted */

struct entry {
    uint8_t *bytes; /* the name, the child's handle, the link's text */
    uint32_t text_len, hash;
    uint8_t name_len, handle_len, type;
    bool is_removed, is_moved; /* what had the name at first */
    bool is_made;
    struct specdata3 device;
};

struct entries {
    struct entry *list;
    uint32_t count, cap;
    struct index by_name;
};

/* False: too many, no memory. */
bool entries_remove(struct entries *entries, struct change_pool *pool, struct bytes name,
                    bool is_moved);
bool entries_make(struct entries *entries, struct change_pool *pool, struct bytes name,
                  const struct change_child *child);
void entries_free(struct entries *entries, struct change_pool *pool);

/* --- rivals.c: recent changes */

enum {
    CHANGES_MODE = 1 << 0,
    CHANGES_UID = 1 << 1,
    CHANGES_GID = 1 << 2,
    CHANGES_ATIME = 1 << 3,
    CHANGES_MTIME = 1 << 4,
};

struct rival {
    struct change_time time;
    uint64_t from, to;      /* bytes of the file, or the hash of a name; equal: none */
    uint32_t sets, touches; /* attributes that it sets, or changes as a server does */
};

struct rivals {
    struct rival *ring;
    uint32_t count, cap, next; /* |next|: the oldest one, once the ring is full */
    uint64_t known_since;
};

/* Adds a change.  False: it is ambiguous.  |no_memory| is set if it is not known later. */
bool rivals_add(struct rivals *rivals, const struct rival *rival, bool *no_memory);
void rivals_free(struct rivals *rivals);

#endif
