/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/check.c
 *
 * Whether a file system is whole (fs_check): for tests, and for whoever took changes from
 * elsewhere. It counts everything again and compares; nothing here is used by operations.
 */
#include "fs/directory_parts.h"
#include "fs/fs_parts.h"

#include <stdlib.h>

struct counted {
    const struct fs *fs;
    uint32_t *names;    /* of each object: how many entries lead to it */
    uint32_t *subdirs;  /* of each directory */
    uint32_t *queue;    /* directories to be visited */
    struct user *users; /* what is left of theirs when all objects are taken off */
    uint32_t queued, live, free;
    uint64_t all_names, pages;
    struct err *err;
};

static int wrong(const struct counted *c, uint32_t object, const char *what)
{
    return err_set(c->err, ERR_INPUT, "object %u: %s", object, what);
}

static int check_entry(struct counted *c, uint32_t dir, const struct directory_entry *entry)
{
    const struct fs *fs = c->fs;
    const struct inode *d = inode_of(fs, dir), *i;
    struct directory_entry found;

    if (!name_is_good(entry->name))
        return wrong(c, dir, "it has a name that cannot be");
    if (entry->cookie > d->directory->last_cookie || entry->cookie < DIRECTORY_FIRST_COOKIE)
        return wrong(c, dir, "a cookie is above the last one");
    if (!directory_find(d->directory, entry->name, &found) || found.cookie != entry->cookie ||
        found.object != entry->object || !table_leads(d->directory, entry))
        return wrong(c, dir, "a name is not found, or there twice");
    if (!entry->object || entry->object >= fs->inodes.count || !inode_of(fs, entry->object)->type)
        return wrong(c, dir, "a name leads to nothing");
    i = inode_of(fs, entry->object);
    if (i->parent == dir && i->cookie == entry->cookie && i->name_len &&
        (i->name_len != entry->name.len || memcmp(i->name, entry->name.data, i->name_len) != 0))
        return wrong(c, entry->object, "the name that it is known by");
    c->all_names++;
    if (i->type == NF3DIR) {
        c->subdirs[dir]++;
        if (c->names[entry->object] || i->parent != dir || i->cookie != entry->cookie ||
            entry->object == FS_ROOT)
            return wrong(c, entry->object, "a directory has two names, or another parent");
        c->queue[c->queued++] = entry->object;
    }
    c->names[entry->object]++;
    return 0;
}

static int check_directory(struct counted *c, uint32_t dir)
{
    const struct directory *d = inode_of(c->fs, dir)->directory;
    struct directory_entry entry = { 0 };
    uint32_t count = 0;
    uint64_t before = 0;

    while (directory_after(d, entry.cookie, &entry)) {
        if (entry.cookie <= before || check_entry(c, dir, &entry) < 0)
            return entry.cookie <= before ? wrong(c, dir, "cookies do not grow") : -ERR_INPUT;
        before = entry.cookie;
        count++;
    }
    if (count != d->count)
        return wrong(c, dir, "it has another number of entries");
    if (inode_of(c->fs, dir)->nlink != c->subdirs[dir] + 2)
        return wrong(c, dir, "links of a directory");
    return 0;
}

static int check_contents(struct counted *c, uint32_t object, const struct inode *i)
{
    uint64_t index = 0, key;
    uint32_t pages = 0, kept;

    if (i->size > FS_SIZE_MAX || contents_filled(&i->contents, &key) > i->size)
        return wrong(c, object, "its size");
    for (; (index = contents_next(&i->contents, index)) != CONTENTS_NONE; index++) {
        const uint8_t *page = contents_page(&i->contents, index, &kept);
        uint64_t start = index * FS_PAGE, used;

        pages++;
        if (start >= i->size)
            return wrong(c, object, "a page behind its end");
        used = i->size - start;
        if (used < kept && !bytes_are_zeros(page + used, kept - (size_t)used))
            return wrong(c, object, "bytes behind its end");
    }
    return pages == i->contents.pages ? 0 : wrong(c, object, "its number of pages");
}

static int check_acl(struct counted *c, uint32_t object, struct inode *i)
{
    struct acl *acl = i->acl;
    uint16_t mode = i->mode;

    if (!acl)
        return 0;
    if (!acl_is_good(acl->entries, acl->count) ||
        !acl_is_good(acl->entries + acl->count, acl->default_count) ||
        !(acl->count + acl->default_count) || (acl->count && acl->count < 4) ||
        (acl->default_count && i->type != NF3DIR) || i->type == NF3LNK)
        return wrong(c, object, "its access list");
    if (acl->count && acl_mode(acl->entries, acl->count) != (mode & 0777))
        return wrong(c, object, "its access list and its mode differ");
    return 0;
}

static int check_object(struct counted *c, uint32_t object)
{
    struct inode *i = inode_of(c->fs, object);
    const struct user *user;
    struct directory_entry entry;

    if (!i->type) {
        c->free += i->generation != 0;
        return 0;
    }
    c->live++;
    c->pages += object_pages(i);
    user = space_user(c->fs, i->uid);
    if (user) {
        c->users[user - c->fs->users].objects--;
        c->users[user - c->fs->users].pages -= object_pages(i);
    }
    if (i->type == NF3DIR) {
        if (object != FS_ROOT && c->names[object] != 1)
            return wrong(c, object, "a directory that the root does not lead to");
    } else if (!i->nlink || i->nlink != c->names[object]) {
        return wrong(c, object, "its number of links");
    } else if (i->parent &&
               (!directory_at(inode_of(c->fs, i->parent)->directory, i->cookie, &entry) ||
                entry.object != object)) {
        return wrong(c, object, "the name that it was found by");
    }
    if (i->type == NF3LNK && (!i->text || !i->size || i->size > FS_LINK_TEXT_MAX))
        return wrong(c, object, "its text");
    if (i->type == NF3REG && check_contents(c, object, i) < 0)
        return -ERR_INPUT;
    return check_acl(c, object, i);
}

static int check_free(struct counted *c)
{
    const struct fs *fs = c->fs;
    uint32_t count = 0, before = 0;

    for (uint32_t at = fs->free_first; at; before = at, at = inode_of(fs, at)->free.next) {
        const struct inode *i = inode_of(fs, at);

        if (i->type || i->free.previous != before || ++count > c->free)
            return wrong(c, at, "the queue of free numbers");
    }
    return count == c->free && before == fs->free_last
               ? 0
               : err_set(c->err, ERR_INPUT, "the queue of free numbers has another length");
}

static int check_counters(struct counted *c)
{
    const struct fs *fs = c->fs;

    if (fs->live != c->live || fs->names != c->all_names || fs->pages != c->pages || fs->nameless)
        return err_set(c->err, ERR_INPUT, "counters of objects, names or pages");
    for (uint32_t u = 0; u < fs->user_count; u++)
        if (c->users[u].objects || c->users[u].pages)
            return err_set(c->err, ERR_INPUT, "what belongs to uid %u", c->users[u].uid);
    return check_free(c);
}

static int check_all(struct counted *c)
{
    c->queue[c->queued++] = FS_ROOT;
    for (uint32_t at = 0; at < c->queued; at++)
        if (check_directory(c, c->queue[at]) < 0)
            return -ERR_INPUT;
    for (uint32_t object = 1; object < c->fs->inodes.count; object++)
        if (check_object(c, object) < 0)
            return -ERR_INPUT;
    return check_counters(c);
}

int fs_check(const struct fs *fs, struct err *err)
{
    struct counted c = { .fs = fs, .err = err };
    int status;

    c.names = calloc(fs->inodes.count, sizeof(*c.names));
    c.subdirs = calloc(fs->inodes.count, sizeof(*c.subdirs));
    c.queue = calloc(fs->inodes.count, sizeof(*c.queue));
    c.users = calloc(fs->user_count + 1, sizeof(*c.users));
    if (c.names && c.subdirs && c.queue && c.users) {
        if (fs->user_count)
            memcpy(c.users, fs->users, fs->user_count * sizeof(*c.users));
        status = check_all(&c);
    } else {
        status = err_memory(err, "checking a file system");
    }
    free(c.names);
    free(c.subdirs);
    free(c.queue);
    free(c.users);
    return status;
}
