/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/space.c
 *
 * Capacity and quotas (fs.h), in pages and objects.  Of users only those are kept that have
 * something, and nobody is when there are no quotas.
 */
#include "base/grow.h"
#include "fs/fs_parts.h"

#define TOLD (UINT64_C(1) << 40) /* bytes, when there is no capacity */

static bool has_quota(const struct fs *fs)
{
    return fs->config.user_capacity || fs->config.user_objects;
}

static uint64_t hash_of(const struct fs *fs, uint32_t uid)
{
    return (uid ^ fs->seed) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint32_t user_index(const struct fs *fs, uint32_t uid)
{
    uint64_t hash = hash_of(fs, uid);
    uint32_t at, slot;

    for (slot = table_first(&fs->user_table, hash, &at); slot != TABLE_NONE;
         slot = table_next(&fs->user_table, hash, &at))
        if (fs->users[slot].uid == uid)
            break;
    return slot;
}

struct user *space_user(const struct fs *fs, uint32_t uid)
{
    uint32_t index = user_index(fs, uid);

    return index == TABLE_NONE ? NULL : &fs->users[index];
}

/* The user's, made where there is none; NULL: no memory. */
static struct user *user_make(struct fs *fs, uint32_t uid)
{
    struct user *user = space_user(fs, uid);

    if (user)
        return user;
    if (GROW(fs->users, fs->user_count, fs->user_cap) < 0 ||
        table_add(&fs->user_table, hash_of(fs, uid), fs->user_count) < 0)
        return NULL;
    user = &fs->users[fs->user_count++];
    *user = (struct user){ .uid = uid };
    return user;
}

static void user_drop(struct fs *fs, uint32_t index)
{
    const struct user *last = &fs->users[--fs->user_count];

    table_remove(&fs->user_table, hash_of(fs, fs->users[index].uid), index);
    if (index == fs->user_count)
        return;
    table_move(&fs->user_table, hash_of(fs, last->uid), fs->user_count, index);
    fs->users[index] = *last;
}

enum nfsstat3 space_room_user(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects)
{
    const struct user *user;

    if (!has_quota(fs))
        return NFS3_OK;
    user = user_make(fs, uid);
    if (!user)
        return NFS3ERR_NOSPC;
    if (uid &&
        ((pages && fs->config.user_capacity &&
          user->pages + pages > fs->config.user_capacity / FS_PAGE) ||
         (objects && fs->config.user_objects && user->objects + objects > fs->config.user_objects)))
        return NFS3ERR_DQUOT;
    return NFS3_OK;
}

enum nfsstat3 space_room(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects)
{
    if (pages && fs->config.capacity && fs->pages + pages > fs->config.capacity / FS_PAGE)
        return NFS3ERR_NOSPC;
    if (objects && fs->live + (uint64_t)objects > fs->config.objects)
        return NFS3ERR_NOSPC;
    return space_room_user(fs, uid, pages, objects);
}

void space_take(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects)
{
    struct user *user = has_quota(fs) ? space_user(fs, uid) : NULL;

    fs->pages += pages;
    if (user) {
        user->pages += pages;
        user->objects += objects;
    }
}

void space_give(struct fs *fs, uint32_t uid, uint64_t pages, uint32_t objects)
{
    uint32_t index = has_quota(fs) ? user_index(fs, uid) : TABLE_NONE;

    fs->pages -= pages;
    if (index == TABLE_NONE)
        return;
    fs->users[index].pages -= pages;
    fs->users[index].objects -= objects;
    if (!fs->users[index].pages && !fs->users[index].objects)
        user_drop(fs, index);
}

void space_move(struct fs *fs, uint32_t from, uint32_t to, uint64_t pages, uint32_t objects)
{
    space_take(fs, to, pages, objects);
    space_give(fs, from, pages, objects);
}

static uint64_t left(uint64_t total, uint64_t used)
{
    return total > used ? total - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void fs_space(const struct fs *fs, const struct fs_caller *caller, struct fs_space *to)
{
    const struct fs_config *c = &fs->config;
    const struct user *user = has_quota(fs) ? space_user(fs, caller->uid) : NULL;

    to->total_bytes = c->capacity ? c->capacity : TOLD;
    to->free_bytes = left(to->total_bytes, fs->pages * FS_PAGE);
    to->total_objects = c->objects;
    to->free_objects = left(to->total_objects, fs->live);
    to->available_bytes = to->free_bytes;
    to->available_objects = to->free_objects;
    if (!caller->uid)
        return;
    if (c->user_capacity)
        to->available_bytes =
            least(to->available_bytes, left(c->user_capacity, user ? user->pages * FS_PAGE : 0));
    if (c->user_objects)
        to->available_objects =
            least(to->available_objects, left(c->user_objects, user ? user->objects : 0));
}
