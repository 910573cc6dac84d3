/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mirror/change_set.c
 *
 * A file's size: |cut| is the lowest size that was set.  Whatever the copy has from there on is not
 * the file's any more, unless it was written since: then it is in an extent.  So the copy is cut
 * there first, and at last gets |size|.
 */
#include "mirror/change_set.h"
#include "base/digest.h"
#include "mirror/change_set_parts.h"

#include <stdlib.h>

struct change_set {
    struct change_pool *pool;
    bool is_directory, has_cut;
    uint8_t state; /* enum changes */
    uint64_t cut, size;
    struct sattr3 attributes;
    struct extents extents;
    struct entries entries;
    struct rivals rivals;
};

_Static_assert(sizeof(struct change_set) <= 256, "as the header says");
_Static_assert(sizeof(struct rival) <= 56, "as the header says");

struct change_pool *change_pool_open(uint64_t contents_max, uint64_t notes_max, struct err *err)
{
    struct change_pool *pool = calloc(1, sizeof(*pool));

    if (!pool) {
        err_memory(err, "change sets");
        return NULL;
    }
    pool->contents_max = contents_max;
    pool->notes_max = notes_max;
    return pool;
}

void change_pool_close(struct change_pool *pool)
{
    free(pool);
}

uint64_t change_pool_contents(const struct change_pool *pool)
{
    return pool->contents;
}

uint64_t change_pool_notes(const struct change_pool *pool)
{
    return pool->notes;
}

struct change_set *change_set_open(struct change_pool *pool, bool is_directory, uint64_t since,
                                   struct err *err)
{
    struct change_set *set = calloc(1, sizeof(*set));

    if (!set) {
        err_memory(err, "a change set");
        return NULL;
    }
    set->pool = pool;
    set->is_directory = is_directory;
    set->rivals.known_since = since;
    return set;
}

static void drop_changes(struct change_set *set)
{
    extents_free(&set->extents, set->pool);
    entries_free(&set->entries, set->pool);
    set->has_cut = false;
    set->attributes = (struct sattr3){ 0 };
}

void change_set_close(struct change_set *set)
{
    if (!set)
        return;
    drop_changes(set);
    rivals_free(&set->rivals);
    free(set);
}

void change_set_restart(struct change_set *set)
{
    drop_changes(set);
    set->state = CHANGES_NOTED;
}

enum changes change_set_state(const struct change_set *set)
{
    return set->state;
}

bool change_set_is_empty(const struct change_set *set)
{
    struct change_cursor cursor = { 0 };
    struct change change;

    return !change_set_next(set, &cursor, &change);
}

static enum changes give_up(struct change_set *set, enum changes state)
{
    if (set->state == CHANGES_NOTED)
        set->state = (uint8_t)state;
    drop_changes(set);
    return set->state;
}

/* Notes when something changes.  False: there is nothing more to note of it. */
static bool begin_note(struct change_set *set, const struct rival *rival, bool is_possible)
{
    bool no_memory = false;

    if (!rivals_add(&set->rivals, rival, &no_memory))
        give_up(set, CHANGES_AMBIGUOUS);
    if (no_memory || !is_possible)
        give_up(set, CHANGES_FULL);
    if (no_memory && rival->time.end > set->rivals.known_since)
        set->rivals.known_since = rival->time.end;
    return set->state == CHANGES_NOTED;
}

static enum changes end_note(struct change_set *set, bool is_noted)
{
    return is_noted ? CHANGES_NOTED : give_up(set, CHANGES_FULL);
}

/* A server sets mtime when contents change. */
static void forget_mtime(struct change_set *set)
{
    set->attributes.set_mtime = DONT_CHANGE;
}

static uint32_t attributes_set(const struct sattr3 *a)
{
    return (a->set_mode ? CHANGES_MODE : 0) | (a->set_uid ? CHANGES_UID : 0) |
           (a->set_gid ? CHANGES_GID : 0) | (a->set_atime != DONT_CHANGE ? CHANGES_ATIME : 0) |
           (a->set_mtime != DONT_CHANGE ? CHANGES_MTIME : 0);
}

static void merge_attributes(struct sattr3 *to, const struct sattr3 *from)
{
    if (from->set_mode) {
        to->set_mode = true;
        to->mode = from->mode;
    }
    if (from->set_uid) {
        to->set_uid = true;
        to->uid = from->uid;
    }
    if (from->set_gid) {
        to->set_gid = true;
        to->gid = from->gid;
    }
    if (from->set_atime != DONT_CHANGE) {
        to->set_atime = from->set_atime;
        to->atime = from->atime;
    }
    if (from->set_mtime != DONT_CHANGE) {
        to->set_mtime = from->set_mtime;
        to->mtime = from->mtime;
    }
}

enum changes change_note_attributes(struct change_set *set, struct change_time time,
                                    const struct sattr3 *a)
{
    struct rival rival = { .time = time, .sets = attributes_set(a) };

    if (a->set_size) {
        rival.from = a->size < UINT64_MAX ? a->size : UINT64_MAX - 1;
        rival.to = UINT64_MAX;
        rival.touches = CHANGES_MTIME;
    }
    if (!begin_note(set, &rival, !(a->set_size && set->is_directory)))
        return set->state;
    if (a->set_size) {
        if (!extents_cut(&set->extents, set->pool, a->size, UINT64_MAX))
            return give_up(set, CHANGES_FULL);
        if (!set->has_cut || a->size < set->cut)
            set->cut = a->size;
        set->has_cut = true;
        set->size = a->size;
        forget_mtime(set);
    }
    merge_attributes(&set->attributes, a);
    return CHANGES_NOTED;
}

enum changes change_note_write(struct change_set *set, struct change_time time, uint64_t offset,
                               uint32_t count, const uint8_t *data)
{
    bool is_possible = !set->is_directory && count <= UINT64_MAX - offset;
    struct rival rival = { time, offset, is_possible ? offset + count : UINT64_MAX, 0,
                           CHANGES_MTIME };

    if (!count)
        return set->state;
    if (!begin_note(set, &rival, is_possible))
        return set->state;
    if (set->has_cut && offset + count > set->size)
        set->size = offset + count;
    forget_mtime(set);
    return end_note(set, extents_write(&set->extents, set->pool, offset, count, data));
}

/* Two names with the same hash look like one: at worst, a directory is copied once more. */
static bool begin_name(struct change_set *set, struct change_time time, struct bytes name)
{
    uint64_t hash = name.len ? XXH3_64bits(name.data, name.len) >> 1 : 0;
    struct rival rival = { time, hash, hash + 1, 0, CHANGES_MTIME };

    return begin_note(set, &rival,
                      set->is_directory && name.len > 0 && name.len <= CHANGES_NAME_MAX);
}

enum changes change_note_made(struct change_set *set, struct change_time time, struct bytes name,
                              const struct change_child *child)
{
    if (!begin_name(set, time, name))
        return set->state;
    forget_mtime(set);
    return end_note(set, entries_make(&set->entries, set->pool, name, child));
}

enum changes change_note_removed(struct change_set *set, struct change_time time, struct bytes name,
                                 bool is_moved)
{
    if (!begin_name(set, time, name))
        return set->state;
    forget_mtime(set);
    return end_note(set, entries_remove(&set->entries, set->pool, name, is_moved));
}

/* --- what is to be played */

enum {
    STAGE_CUT,
    STAGE_EXTENTS,
    STAGE_SIZE,
    STAGE_REMOVE,
    STAGE_MAKE,
    STAGE_ATTRIBUTES,
    STAGE_END
};

static struct change change_of_extent(const struct extent *extent)
{
    if (!extent->data)
        return (struct change){ .kind = CHANGE_READ_AGAIN,
                                .offset = extent->from,
                                .length = extent->length };
    return (struct change){ .kind = CHANGE_WRITE,
                            .offset = extent->from,
                            .length = extent->length,
                            .data = { extent->data, (uint32_t)extent->length } };
}

static struct change change_of_entry(const struct entry *entry, bool makes)
{
    const uint8_t *handle = entry->bytes + entry->name_len;
    struct change change = { .kind = makes ? CHANGE_MAKE : CHANGE_REMOVE,
                             .name = { entry->bytes, entry->name_len } };

    if (makes)
        change.child = (struct change_child){ { handle, entry->handle_len },
                                              entry->type,
                                              { handle + entry->handle_len, entry->text_len },
                                              entry->device };
    else
        change.is_moved = entry->is_moved;
    return change;
}

/* The size that the file has after the cut and all writes. */
static uint64_t written_size(const struct change_set *set)
{
    const struct extents *e = &set->extents;
    uint64_t end = e->count ? extent_end(&e->list[e->count - 1]) : 0;

    return end > set->cut ? end : set->cut;
}

/* One that is not of a list. */
static bool next_single(const struct change_set *set, uint32_t stage, struct change *change)
{
    switch (stage) {
    case STAGE_CUT:
        *change = (struct change){ .kind = CHANGE_SIZE, .size = set->cut };
        return set->has_cut;
    case STAGE_SIZE:
        *change = (struct change){ .kind = CHANGE_SIZE, .size = set->size };
        return set->has_cut && set->size != written_size(set);
    default:
        *change = (struct change){ .kind = CHANGE_ATTRIBUTES, .attributes = set->attributes };
        return attributes_set(&set->attributes) != 0;
    }
}

bool change_set_next(const struct change_set *set, struct change_cursor *cursor,
                     struct change *change)
{
    for (; cursor->stage < STAGE_END; cursor->stage++, cursor->at = 0) {
        uint32_t stage = cursor->stage;

        if (stage == STAGE_EXTENTS) {
            if (cursor->at < set->extents.count) {
                *change = change_of_extent(&set->extents.list[cursor->at++]);
                return true;
            }
        } else if (stage == STAGE_REMOVE || stage == STAGE_MAKE) {
            while (cursor->at < set->entries.count) {
                const struct entry *entry = &set->entries.list[cursor->at++];

                if (stage == STAGE_MAKE ? entry->is_made : entry->is_removed) {
                    *change = change_of_entry(entry, stage == STAGE_MAKE);
                    return true;
                }
            }
        } else if (cursor->at++ == 0 && next_single(set, stage, change)) {
            return true;
        }
    }
    return false;
}
