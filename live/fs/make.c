/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/make.c
 *
 * New objects: CREATE, MKDIR, SYMLINK, MKNOD.  Everything that an object needs is got first, in an
 * inode of the stack.
 */
#include "fs/fs_parts.h"
#include "fs/file.h"

#include <string.h>

/* CREATE of a name that is there.  |*object| is what it stands for. */
static enum nfsstat3 create_again(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                                  const struct fs_new *new_object)
{
    const struct inode *i = inode_of(fs, object);
    const struct sattr3 *asked = &new_object->attributes;
    struct sattr3 size_only = { .set_size = asked->set_size, .size = asked->size };

    if (new_object->type != NF3REG || i->type != NF3REG)
        return NFS3ERR_EXIST;
    if (new_object->how == EXCLUSIVE) /* a retransmission, when the verifier is the same */
        return i->flags & INODE_HAS_VERIFIER &&
                       !memcmp(i->verifier, new_object->verifier, sizeof(i->verifier))
                   ? NFS3_OK
                   : NFS3ERR_EXIST;
    /* as Linux: of what is there only the size is set */
    return new_object->how == UNCHECKED ? fs_setattr(fs, caller, object, &size_only, NULL)
                                        : NFS3ERR_EXIST;
}

static enum nfsstat3 may_make(const struct fs_caller *caller, const struct fs_new *new_object)
{
    switch (new_object->type) {
    case NF3REG:
        if (new_object->how > EXCLUSIVE)
            return NFS3ERR_INVAL;
        if (new_object->how != EXCLUSIVE && new_object->attributes.set_size &&
            new_object->attributes.size > FS_SIZE_MAX)
            return NFS3ERR_FBIG;
        break;
    case NF3LNK:
        if (!new_object->link_text.len ||
            memchr(new_object->link_text.data, 0, new_object->link_text.len))
            return NFS3ERR_INVAL;
        if (new_object->link_text.len > FS_LINK_TEXT_MAX)
            return NFS3ERR_NAMETOOLONG;
        break;
    case NF3BLK:
    case NF3CHR:
        if (caller->uid) /* POSIX mknod: EPERM; so says Linux, though the RFC does not list it */
            return NFS3ERR_PERM;
        break;
    case NF3DIR:
    case NF3SOCK:
    case NF3FIFO:
        break;
    default:
        return NFS3ERR_BADTYPE;
    }
    return new_object->type == NF3REG && new_object->how == EXCLUSIVE
               ? NFS3_OK
               : file_check_times(&new_object->attributes);
}

/* Owner, group and mode.  Only root gives objects away; for others that is ignored, as Linux does,
 * because clients send it. */
static void begin(const struct inode *dir, const struct fs_caller *caller,
                  const struct fs_new *new_object, struct inode *i)
{
    const struct sattr3 none = { 0 }, *asked = &new_object->attributes;

    if (new_object->type == NF3REG && new_object->how == EXCLUSIVE) {
        asked = &none; /* mode 0 until the client sets it, as Linux */
        i->flags = INODE_HAS_VERIFIER;
        memcpy(i->verifier, new_object->verifier, sizeof(i->verifier));
    }
    i->type = (uint8_t)new_object->type;
    i->mode = asked->set_mode ? asked->mode & MODE_ALL : 0;
    i->uid = !caller->uid && asked->set_uid ? asked->uid : caller->uid;
    i->gid = caller->gid;
    if (dir->mode & MODE_SETGID) {
        i->gid = dir->gid;
        if (i->type == NF3DIR)
            i->mode |= MODE_SETGID;
    }
    if (!caller->uid && asked->set_gid)
        i->gid = asked->gid;
    if (i->type == NF3REG && caller->uid && i->mode & 010 && !permit_is_in(caller, i->gid))
        i->mode &= (uint16_t)~MODE_SETGID;
    if (i->type == NF3LNK)
        i->mode = 0777;
    if (i->type == NF3BLK || i->type == NF3CHR)
        i->rdev = new_object->rdev;
    i->nlink = i->type == NF3DIR ? 2 : 0;
    i->size = i->type == NF3REG && asked->set_size ? asked->size : 0;
}

static int furnish(struct fs *fs, const struct inode *dir, const struct fs_new *new_object,
                   struct inode *i)
{
    if (acl_inherit(&fs->memory, dir, i->type, &i->mode, &i->acl) < 0)
        return -ERR_SYSTEM;
    if (i->type == NF3DIR) {
        i->directory = directory_new(&fs->memory, &fs->inodes, fs->seed);
        return i->directory ? 0 : -ERR_SYSTEM;
    }
    if (i->type == NF3LNK) {
        i->text = memory_take(&fs->memory, new_object->link_text.len);
        if (!i->text)
            return -ERR_SYSTEM;
        i->size = new_object->link_text.len;
        memcpy(i->text, new_object->link_text.data, i->size);
    }
    return 0;
}

/* Into a number; the name has room. */
static void place(struct fs *fs, struct inode *made, uint32_t object, struct nfstime3 now)
{
    struct inode *i = inode_of(fs, object);

    made->generation = i->generation;
    *i = *made;
    i->ctime = now;
    space_take(fs, i->uid, object_pages(i), 1);
    changed_object(fs, object);
    if (i->type == NF3LNK)
        changed_text(fs, object);
    if (i->acl)
        changed_acl(fs, object);
}

static void begin_times(const struct fs_new *new_object, struct inode *i, struct nfstime3 now)
{
    const struct sattr3 *asked = &new_object->attributes;

    i->atime = i->mtime = now;
    if (i->flags & INODE_HAS_VERIFIER)
        return;
    if (asked->set_atime == SET_TO_CLIENT_TIME)
        i->atime = asked->atime;
    if (asked->set_mtime == SET_TO_CLIENT_TIME)
        i->mtime = asked->mtime;
}

static enum nfsstat3 get_room(struct fs *fs, uint32_t dir, struct bytes name,
                              const struct inode *made)
{
    enum nfsstat3 status = name_room(fs, dir, name);

    if (status == NFS3_OK && changes_room(fs, 5) < 0)
        status = NFS3ERR_NOSPC;
    return status == NFS3_OK ? space_room(fs, made->uid, object_pages(made), 1) : status;
}

enum nfsstat3 fs_make(struct fs *fs, const struct fs_caller *caller, uint32_t dir,
                      struct bytes name, const struct fs_new *new_object, uint32_t *object)
{
    const struct inode *d = inode_of(fs, dir);
    enum nfsstat3 status = name_may_seek(fs, caller, dir, name);
    struct inode made = { 0 };
    struct directory_entry entry;
    struct nfstime3 now;

    if (status == NFS3_OK)
        status = may_make(caller, new_object);
    if (status != NFS3_OK)
        return status;
    if (name_is(name, ".") || name_is(name, ".."))
        return NFS3ERR_EXIST;
    if (directory_find(d->directory, name, &entry)) {
        status = create_again(fs, caller, entry.object, new_object);
        if (status == NFS3_OK)
            *object = entry.object;
        return status;
    }
    if (!permit(d, caller, PERMIT_WRITE | PERMIT_EXECUTE))
        return NFS3ERR_ACCES;
    begin(d, caller, new_object, &made);
    status = furnish(fs, d, new_object, &made) < 0 ? NFS3ERR_NOSPC : get_room(fs, dir, name, &made);
    if (status == NFS3_OK && !(*object = object_take(fs, 0)))
        status = NFS3ERR_NOSPC;
    if (status != NFS3_OK) {
        inode_clear(fs, &made);
        return status;
    }
    now = fs_now(fs);
    begin_times(new_object, &made, now);
    place(fs, &made, *object, now);
    name_add(fs, dir, name, *object);
    dir_changed(fs, dir, now);
    return NFS3_OK;
}
