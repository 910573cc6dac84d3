/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/changes.c
 *
 * The set of what changed (changes.h), and its bytes.  A thing is in it once; what it is now stands
 * in the file system.
 */
#include "fs/changes_parts.h"
#include "wire/xdr_put.h"

#include <string.h>

enum { CAP_MOST = 1 << 30, CAP_SHRINKS = 1024 };

static uint32_t place_of(const struct fs *fs, const struct change *change)
{
    const struct changes *c = &fs->changes;
    uint64_t key = change->kind == CHANGED_SIZE ? 0 : change->key;
    uint64_t hash = key ^ fs->seed;
    uint32_t mask = c->cap * 2 - 1, at;

    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    hash += (uint64_t)change->object << 8 | change->kind;
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    for (at = (uint32_t)(hash >> 32) & mask; c->places[at]; at = (at + 1) & mask) {
        const struct change *other = &c->list[c->places[at] - 1];

        if (other->object == change->object && other->kind == change->kind &&
            (other->kind == CHANGED_SIZE || other->key == key))
            break;
    }
    return at;
}

int changes_room(struct fs *fs, uint32_t count)
{
    struct changes *c = &fs->changes;
    uint64_t need = (uint64_t)c->count + count, cap = c->cap ? c->cap : CHANGES_KEPT;
    uint32_t *places;
    struct change *list;

    if (!fs->config.changes || need <= c->cap)
        return 0;
    while (cap < need)
        cap *= 2;
    if (cap > CAP_MOST)
        return -ERR_SYSTEM;
    places = memory_take(&fs->memory, cap * 2 * sizeof(*places));
    list = places ? memory_resize(&fs->memory, c->list, c->cap * sizeof(*list), cap * sizeof(*list))
                  : NULL;
    if (!list) {
        memory_give(&fs->memory, places, cap * 2 * sizeof(*places));
        return -ERR_SYSTEM;
    }
    memory_give(&fs->memory, c->places, c->cap * 2 * sizeof(*places));
    *c = (struct changes){ list, places, c->count, (uint32_t)cap };
    for (uint32_t i = 0; i < c->count; i++)
        places[place_of(fs, &list[i])] = i + 1;
    return 0;
}

void changes_free(struct fs *fs)
{
    struct changes *c = &fs->changes;

    memory_give(&fs->memory, c->places, c->cap * 2 * sizeof(*c->places));
    memory_give(&fs->memory, c->list, c->cap * sizeof(*c->list));
    *c = (struct changes){ 0 };
}

void fs_changes_clear(struct fs *fs)
{
    struct changes *c = &fs->changes;

    if (c->cap > CAP_SHRINKS) {
        c->list = memory_resize(&fs->memory, c->list, c->cap * sizeof(*c->list),
                                CHANGES_KEPT * sizeof(*c->list));
        c->places = memory_resize(&fs->memory, c->places, c->cap * 2 * sizeof(*c->places),
                                  CHANGES_KEPT * 2 * sizeof(*c->places));
        c->cap = CHANGES_KEPT;
    }
    if (c->count)
        memset(c->places, 0, c->cap * 2 * sizeof(*c->places));
    c->count = 0;
}

uint32_t fs_changes_count(const struct fs *fs)
{
    return fs->changes.count;
}

/* --- what operations say */

static void changed(struct fs *fs, enum change_kind kind, uint32_t object, uint64_t key)
{
    struct changes *c = &fs->changes;
    struct change change = { key, object, (uint8_t)kind };
    uint32_t at;

    if (!fs->config.changes)
        return;
    at = place_of(fs, &change);
    if (!c->places[at]) {
        c->list[c->count++] = change;
        c->places[at] = c->count;
    } else if (kind == CHANGED_SIZE && c->list[c->places[at] - 1].key > key) {
        c->list[c->places[at] - 1].key = key;
    }
}

void changed_object(struct fs *fs, uint32_t object)
{
    changed(fs, CHANGED_OBJECT, object, 0);
}

void changed_name(struct fs *fs, uint32_t dir, uint64_t cookie)
{
    changed(fs, CHANGED_NAME, dir, cookie);
}

void changed_pages(struct fs *fs, uint32_t object, uint64_t offset, uint32_t len)
{
    for (uint64_t index = offset / FS_PAGE; index * FS_PAGE < offset + len; index++)
        changed(fs, CHANGED_PAGE, object, index);
}

void changed_size(struct fs *fs, uint32_t object, uint64_t size)
{
    changed(fs, CHANGED_SIZE, object, size);
}

void changed_acl(struct fs *fs, uint32_t object)
{
    changed(fs, CHANGED_ACL, object, 0);
}

void changed_text(struct fs *fs, uint32_t object)
{
    changed(fs, CHANGED_TEXT, object, 0);
}

void changed_fill(struct fs *fs, uint32_t object)
{
    changed(fs, CHANGED_FILL, object, 0);
}

/* Everything of one object.  Pages are noted one by one: there may be many. */
static int all_of(struct fs *fs, uint32_t object)
{
    const struct inode *i = inode_of(fs, object);
    struct directory_entry entry = { 0 };
    uint64_t index = 0, key;

    if (changes_room(fs, 4) < 0)
        return -ERR_SYSTEM;
    changed_object(fs, object);
    if (i->type == NF3REG && contents_filled(&i->contents, &key))
        changed_fill(fs, object);
    if (i->type == NF3LNK)
        changed_text(fs, object);
    if (i->acl)
        changed_acl(fs, object);
    while (i->type == NF3DIR && directory_after(i->directory, entry.cookie, &entry)) {
        if (changes_room(fs, 1) < 0)
            return -ERR_SYSTEM;
        changed_name(fs, object, entry.cookie);
    }
    while (i->type == NF3REG && (index = contents_next(&i->contents, index)) != CONTENTS_NONE) {
        if (changes_room(fs, 1) < 0)
            return -ERR_SYSTEM;
        changed(fs, CHANGED_PAGE, object, index++);
    }
    return 0;
}

int fs_changes_all(struct fs *fs, struct err *err)
{
    for (uint32_t object = 1; object < fs->inodes.count; object++)
        if (all_of(fs, object) < 0)
            return err_memory(err, "the list of all that there is");
    return 0;
}

/* --- bytes */

static void put_time(struct xdr_put *p, struct nfstime3 time)
{
    xdr_put_u32(p, time.seconds);
    xdr_put_u32(p, time.nseconds);
}

static void put_object(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    (void)change;
    xdr_put_u32(p, i->generation);
    xdr_put_u32(p, i->type);
    xdr_put_u32(p, i->flags);
    xdr_put_u32(p, i->mode);
    xdr_put_u32(p, i->nlink);
    xdr_put_u32(p, i->uid);
    xdr_put_u32(p, i->gid);
    xdr_put_u64(p, i->size);
    xdr_put_u32(p, i->rdev.specdata1);
    xdr_put_u32(p, i->rdev.specdata2);
    put_time(p, i->atime);
    put_time(p, i->mtime);
    put_time(p, i->ctime);
    xdr_put_u64(p, i->type == NF3DIR ? i->directory->last_cookie : 0);
}

static void put_name(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    struct directory_entry entry = { 0 };

    if (i->type != NF3DIR || !directory_at(i->directory, change->key, &entry))
        entry = (struct directory_entry){ 0 };
    xdr_put_u64(p, change->key);
    xdr_put_u32(p, entry.object);
    xdr_put_opaque(p, entry.name);
}

static void put_size(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    (void)i;
    xdr_put_u64(p, change->key);
}

static void put_text(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    (void)change;
    xdr_put_opaque(p, i->type == NF3LNK ? (struct bytes){ i->text, (uint32_t)i->size }
                                        : (struct bytes){ 0 });
}

static void put_acl(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    uint32_t count = i->acl ? i->acl->count : 0, defaults = i->acl ? i->acl->default_count : 0;

    (void)change;
    xdr_put_u32(p, count);
    xdr_put_u32(p, defaults);
    for (uint32_t e = 0; e < count + defaults; e++) {
        xdr_put_u32(p, i->acl->entries[e].tag);
        xdr_put_u32(p, i->acl->entries[e].permissions);
        xdr_put_u32(p, i->acl->entries[e].id);
    }
}

static void put_fill(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    uint64_t key = 0, end = i->type == NF3REG ? contents_filled(&i->contents, &key) : 0;

    (void)change;
    xdr_put_u64(p, key);
    xdr_put_u64(p, end);
}

static void put_page(const struct inode *i, const struct change *change, struct xdr_put *p)
{
    uint32_t len = 0;
    const uint8_t *page = i->type == NF3REG ? contents_page(&i->contents, change->key, &len) : NULL;

    while (page && len && !page[len - 1])
        len--;
    xdr_put_u64(p, change->key);
    xdr_put_u32(p, page != NULL);
    xdr_put_opaque(p, (struct bytes){ page, page ? len : 0 });
}

static void (*const put[CHANGED_END])(const struct inode *, const struct change *,
                                      struct xdr_put *) = {
    [CHANGED_OBJECT] = put_object, [CHANGED_NAME] = put_name, [CHANGED_SIZE] = put_size,
    [CHANGED_TEXT] = put_text,     [CHANGED_ACL] = put_acl,   [CHANGED_FILL] = put_fill,
    [CHANGED_PAGE] = put_page,
};

int fs_changes_encode(const struct fs *fs, struct buf *to, struct err *err)
{
    struct xdr_put p = xdr_put_to(to, UINT32_MAX);

    xdr_put_u32(&p, CHANGES_MAGIC);
    put_time(&p, fs->last);
    xdr_put_u32(&p, fs->changes.count);
    for (uint32_t i = 0; i < fs->changes.count; i++) {
        const struct change *change = &fs->changes.list[i];
        size_t begun;

        xdr_put_u32(&p, change->kind);
        xdr_put_u32(&p, change->object);
        begun = xdr_put_opaque_begin(&p);
        put[change->kind](inode_of(fs, change->object), change, &p);
        xdr_put_opaque_end(&p, begun);
    }
    return xdr_put_end(&p, "changes of a file system", err);
}
