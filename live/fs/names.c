/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/names.c
 *
 * Names: found, taken away, moved and added (LOOKUP, REMOVE, RMDIR, RENAME, LINK).  What makes new
 * objects is in make.c.
 */
#include "fs/fs_parts.h"

#include <string.h>

bool name_is(struct bytes name, const char *text)
{
    return name.len == strlen(text) && !memcmp(name.data, text, name.len);
}

bool name_is_good(struct bytes name)
{
    return name.len <= FS_NAME_MAX && bytes_are_name(name) && !bytes_are_dots(name);
}

/* RFC 1813 s3.2: a name that the server cannot handle is NFS3ERR_ACCES. */
enum nfsstat3 name_may_seek(const struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                            struct bytes name)
{
    const struct inode *d = inode_of(fs, dir);

    if (d->type != NF3DIR)
        return NFS3ERR_NOTDIR;
    if (!permit(d, caller, PERMIT_EXECUTE))
        return NFS3ERR_ACCES;
    if (name.len > FS_NAME_MAX)
        return NFS3ERR_NAMETOOLONG;
    if (!bytes_are_name(name))
        return NFS3ERR_ACCES;
    return NFS3_OK;
}

enum nfsstat3 name_room(struct fs *fs, uint32_t dir, struct bytes name)
{
    struct directory *d = inode_of(fs, dir)->directory;

    if (fs->names >= fs->config.objects || d->last_cookie >= DIRECTORY_COOKIE_MAX ||
        directory_reserve(&fs->memory, d, d->last_cookie + 1, name.len) < 0)
        return NFS3ERR_NOSPC;
    return NFS3_OK;
}

void name_add(struct fs *fs, uint32_t dir, struct bytes name, uint32_t object)
{
    struct directory *d = inode_of(fs, dir)->directory;
    struct directory_entry entry = { d->last_cookie + 1, object, name };

    directory_add(d, &entry);
    fs_object_named(fs, dir, &entry);
    changed_name(fs, dir, entry.cookie);
}

/* It lost a name: it changed, or is gone. */
static void lost_name(struct fs *fs, uint32_t object, struct nfstime3 now)
{
    struct inode *i = inode_of(fs, object);

    if (i->type == NF3DIR || !i->nlink)
        object_give(fs, object);
    else
        i->ctime = now;
    changed_object(fs, object);
}

void name_take(struct fs *fs, uint32_t dir, const struct directory_entry *entry,
               struct nfstime3 now)
{
    directory_remove(&fs->memory, inode_of(fs, dir)->directory, entry->cookie);
    object_unnamed(fs, dir, entry);
    changed_name(fs, dir, entry->cookie);
    lost_name(fs, entry->object, now);
}

void dir_changed(struct fs *fs, uint32_t dir, struct nfstime3 now)
{
    struct inode *d = inode_of(fs, dir);

    d->mtime = d->ctime = now;
    changed_object(fs, dir);
}

enum nfsstat3 fs_lookup(struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                        struct bytes name, uint32_t *object)
{
    const struct inode *d = inode_of(fs, dir);
    enum nfsstat3 status = name_may_seek(fs, caller, dir, name);
    struct directory_entry entry;
    const struct inode *i;

    if (status != NFS3_OK)
        return status;
    if (name.data[0] == '.' && bytes_are_dots(name)) {
        *object = name.len == 1 ? dir : d->parent;
        return NFS3_OK;
    }
    if (!directory_find(d->directory, name, &entry))
        return NFS3ERR_NOENT;
    i = inode_of(fs, entry.object);
    if (i->parent != dir || i->cookie != entry.cookie)
        object_known(fs, dir, &entry);
    *object = entry.object;
    return NFS3_OK;
}

enum nfsstat3 fs_remove(struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                        struct bytes name, bool directory)
{
    const struct inode *d = inode_of(fs, dir), *victim;
    enum nfsstat3 status = name_may_seek(fs, caller, dir, name);
    struct directory_entry entry;
    struct nfstime3 now;

    if (status != NFS3_OK)
        return status;
    if (bytes_are_dots(name)) /* RFC 1813 s3.3.13; of REMOVE as Linux */
        return !directory ? NFS3ERR_ACCES : name.len == 1 ? NFS3ERR_INVAL : NFS3ERR_EXIST;
    if (!directory_find(d->directory, name, &entry))
        return NFS3ERR_NOENT;
    victim = inode_of(fs, entry.object);
    if (!permit_take(d, victim, caller))
        return NFS3ERR_ACCES;
    if (directory != (victim->type == NF3DIR)) /* for REMOVE the RFC lists nothing that fits */
        return directory ? NFS3ERR_NOTDIR : NFS3ERR_ISDIR;
    if (directory && victim->directory->count)
        return NFS3ERR_NOTEMPTY;
    if (changes_room(fs, 3) < 0)
        return NFS3ERR_NOSPC;
    now = fs_now(fs);
    name_take(fs, dir, &entry, now);
    dir_changed(fs, dir, now);
    return NFS3_OK;
}

enum nfsstat3 fs_link(struct fs *fs, const struct fs_caller *caller, uint32_t object, uint32_t dir,
                      struct bytes name)
{
    const struct inode *d = inode_of(fs, dir);
    struct inode *i = inode_of(fs, object);
    enum nfsstat3 status = name_may_seek(fs, caller, dir, name);
    struct directory_entry entry;
    struct nfstime3 now;

    if (status != NFS3_OK)
        return status;
    if (i->type == NF3DIR) /* Linux: ISDIR, which the RFC does not list */
        return NFS3ERR_INVAL;
    if (bytes_are_dots(name) || directory_find(d->directory, name, &entry))
        return NFS3ERR_EXIST;
    if (!permit(d, caller, PERMIT_WRITE | PERMIT_EXECUTE))
        return NFS3ERR_ACCES;
    if (i->nlink >= FS_LINK_MAX)
        return NFS3ERR_MLINK;
    status = name_room(fs, dir, name);
    if (status != NFS3_OK)
        return status;
    if (changes_room(fs, 3) < 0)
        return NFS3ERR_NOSPC;
    now = fs_now(fs);
    name_add(fs, dir, name, object);
    i->ctime = now;
    changed_object(fs, object);
    dir_changed(fs, dir, now);
    return NFS3_OK;
}

/* --- RENAME */

struct rename {
    uint32_t from_dir, to_dir;
    struct directory_entry source, target; /* |target|: cookie 0: there is none */
};

static bool is_below(const struct fs *fs, uint32_t dir, uint32_t top)
{
    while (dir != top && dir != FS_ROOT)
        dir = inode_of(fs, dir)->parent;
    return dir == top;
}

/* RFC 1813 s3.3.14 wants EXIST for what cannot be replaced; Linux tells these apart, and the RFC
 * lists all of them. */
static enum nfsstat3 may_replace(const struct inode *source, const struct inode *target)
{
    if (source->type == NF3DIR && target->type != NF3DIR)
        return NFS3ERR_NOTDIR;
    if (source->type != NF3DIR && target->type == NF3DIR)
        return NFS3ERR_ISDIR;
    return target->type == NF3DIR && target->directory->count ? NFS3ERR_NOTEMPTY : NFS3_OK;
}

static enum nfsstat3 may_rename(const struct fs *fs, const struct fs_caller *caller,
                                const struct rename *r)
{
    const struct inode *from = inode_of(fs, r->from_dir), *to = inode_of(fs, r->to_dir);
    const struct inode *source = inode_of(fs, r->source.object);

    if (!permit_take(from, source, caller))
        return NFS3ERR_ACCES;
    if (source->type == NF3DIR && is_below(fs, r->to_dir, r->source.object))
        return NFS3ERR_INVAL;
    if (r->target.cookie && !permit_take(to, inode_of(fs, r->target.object), caller))
        return NFS3ERR_ACCES;
    if (!permit(to, caller, PERMIT_WRITE | PERMIT_EXECUTE))
        return NFS3ERR_ACCES;
    /* its ".." changes */
    if (source->type == NF3DIR && from != to && !permit(source, caller, PERMIT_WRITE))
        return NFS3ERR_ACCES;
    return r->target.cookie ? may_replace(source, inode_of(fs, r->target.object)) : NFS3_OK;
}

/* The new name is the target's entry, so that a listing shows the name once, whenever it comes. */
static void rename_now(struct fs *fs, const struct rename *r, struct bytes name,
                       struct nfstime3 now)
{
    struct directory *to = inode_of(fs, r->to_dir)->directory;
    struct directory_entry entry = { r->target.cookie, r->source.object, name };

    if (entry.cookie) {
        directory_set(to, entry.cookie, entry.object);
        object_unnamed(fs, r->to_dir, &r->target);
        lost_name(fs, r->target.object, now);
    } else {
        entry.cookie = to->last_cookie + 1;
        directory_add(to, &entry);
    }
    directory_remove(&fs->memory, inode_of(fs, r->from_dir)->directory, r->source.cookie);
    object_unnamed(fs, r->from_dir, &r->source);
    fs_object_named(fs, r->to_dir, &entry);
    changed_name(fs, r->from_dir, r->source.cookie);
    changed_name(fs, r->to_dir, entry.cookie);
    inode_of(fs, entry.object)->ctime = now;
    changed_object(fs, entry.object);
    dir_changed(fs, r->from_dir, now);
    dir_changed(fs, r->to_dir, now);
}

enum nfsstat3 fs_rename(struct fs *fs, const struct fs_caller *caller, uint32_t from_dir,
                        struct bytes from, uint32_t to_dir, struct bytes to)
{
    struct rename r = { .from_dir = from_dir, .to_dir = to_dir };
    enum nfsstat3 status = name_may_seek(fs, caller, from_dir, from);

    if (status == NFS3_OK)
        status = name_may_seek(fs, caller, to_dir, to);
    if (status != NFS3_OK)
        return status;
    if (bytes_are_dots(from) || bytes_are_dots(to))
        return NFS3ERR_INVAL;
    if (!directory_find(inode_of(fs, from_dir)->directory, from, &r.source))
        return NFS3ERR_NOENT;
    if (!directory_find(inode_of(fs, to_dir)->directory, to, &r.target))
        r.target = (struct directory_entry){ 0 };
    if (r.target.object == r.source.object)
        return NFS3_OK; /* RFC 1813 s3.3.14: nothing is done */
    status = may_rename(fs, caller, &r);
    if (status == NFS3_OK && !r.target.cookie)
        status = name_room(fs, to_dir, to);
    if (status != NFS3_OK)
        return status;
    if (changes_room(fs, 6) < 0)
        return NFS3ERR_NOSPC;
    rename_now(fs, &r, to, fs_now(fs));
    return NFS3_OK;
}
