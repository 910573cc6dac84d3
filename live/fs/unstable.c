/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/unstable.c
 *
 * What a crash brings back: pages as they were before they were written UNSTABLE, and the size that
 * is stable.  A page is stable or not as a whole.
 */
#include "fs/file.h"

struct unstable {
    struct unstable *next, *previous;
    uint32_t object;
    uint64_t size; /* that is stable; never above the file's */
    struct contents before;
};

static struct unstable *begin(struct fs *fs, uint32_t object)
{
    struct inode *i = inode_of(fs, object);
    struct unstable *u = i->unstable;

    if (u)
        return u;
    u = memory_take(&fs->memory, sizeof(*u));
    if (!u)
        return NULL;
    u->object = object;
    u->size = i->size;
    u->next = fs->unstable;
    if (u->next)
        u->next->previous = u;
    fs->unstable = i->unstable = u;
    return u;
}

void unstable_forget(struct fs *fs, uint32_t object)
{
    struct inode *i = inode_of(fs, object);
    struct unstable *u = i->unstable;

    if (!u)
        return;
    if (u->previous)
        u->previous->next = u->next;
    else
        fs->unstable = u->next;
    if (u->next)
        u->next->previous = u->previous;
    contents_cut(&fs->memory, &u->before, 0);
    memory_give(&fs->memory, u, sizeof(*u));
    i->unstable = NULL;
}

int unstable_keep(struct fs *fs, uint32_t object, uint64_t offset, uint32_t len)
{
    struct unstable *u = begin(fs, object);
    uint64_t last = (offset + len - 1) / FS_PAGE;
    uint8_t copy[FS_PAGE];
    uint32_t kept;

    if (!u)
        return -ERR_SYSTEM;
    for (uint64_t index = offset / FS_PAGE; index <= last; index++) {
        struct contents_spare spare;
        struct bytes page = { copy, FS_PAGE };

        if (contents_page(&u->before, index, &kept))
            continue;
        contents_read(&inode_of(fs, object)->contents, index * FS_PAGE, copy, FS_PAGE);
        if (contents_prepare(&fs->memory, &u->before, index * FS_PAGE, page, true, &spare) < 0)
            return -ERR_SYSTEM; /* what was kept is the same as what is there */
        contents_put(&u->before, index * FS_PAGE, page, &spare);
    }
    return 0;
}

void unstable_settle(struct fs *fs, uint32_t object, uint64_t offset, uint64_t len)
{
    struct inode *i = inode_of(fs, object);
    struct unstable *u = i->unstable;
    uint64_t end = !len || len > i->size || offset > i->size - len ? i->size : offset + len;
    uint64_t index = offset / FS_PAGE;

    if (!u || offset >= end)
        return;
    while ((index = contents_next(&u->before, index)) <= (end - 1) / FS_PAGE)
        contents_drop(&fs->memory, &u->before, index);
    if (u->size < end)
        u->size = end;
    if (!u->before.pages && u->size >= i->size)
        unstable_forget(fs, object);
}

void unstable_resize(struct fs *fs, uint32_t object, uint64_t size)
{
    struct unstable *u = inode_of(fs, object)->unstable;

    if (!u)
        return;
    contents_cut(&fs->memory, &u->before, size);
    u->size = size;
    if (!u->before.pages)
        unstable_forget(fs, object);
}

/* There is a page wherever one was kept that is other than no page: only cutting takes pages away,
 * and then what was kept goes, too. */
static void bring_back(struct fs *fs, struct unstable *u)
{
    struct inode *i = inode_of(fs, u->object);
    uint32_t pages = i->contents.pages;

    for (uint64_t index = 0; (index = contents_next(&u->before, index)) != CONTENTS_NONE; index++) {
        uint8_t page[FS_PAGE], absent[FS_PAGE];
        uint32_t kept;
        uint8_t *at = (uint8_t *)(uintptr_t)contents_page(&i->contents, index, &kept);

        contents_read(&u->before, index * FS_PAGE, page, FS_PAGE);
        contents_absent(&i->contents, index, absent);
        if (memcmp(page, absent, FS_PAGE) == 0)
            contents_drop(&fs->memory, &i->contents, index);
        else if (at)
            memcpy(at, page, kept);
        changed_pages(fs, u->object, index * FS_PAGE, FS_PAGE);
    }
    space_give(fs, i->uid, pages - i->contents.pages, 0);
    i->mtime = i->ctime = fs_now(fs);
    file_resize(fs, u->object, u->size);
}

enum nfsstat3 fs_lose_unstable(struct fs *fs)
{
    uint32_t count = 0;

    for (const struct unstable *u = fs->unstable; u; u = u->next)
        count += u->before.pages + 2;
    if (changes_room(fs, count) < 0)
        return NFS3ERR_NOSPC;
    while (fs->unstable) {
        struct unstable *u = fs->unstable;

        bring_back(fs, u);
        if (fs->unstable == u)
            unstable_forget(fs, u->object);
    }
    return NFS3_OK;
}
