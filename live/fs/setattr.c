/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/setattr.c
 *
 * SETATTR: attributes of one object, all or none of those that are asked for.
 */
#include "fs/file.h"

enum { NSEC = 1000000000 };

static bool is_time(uint32_t how, struct nfstime3 time)
{
    return how < SET_TO_CLIENT_TIME || (how == SET_TO_CLIENT_TIME && time.nseconds < NSEC);
}

enum nfsstat3 file_check_times(const struct sattr3 *asked)
{
    return is_time(asked->set_atime, asked->atime) && is_time(asked->set_mtime, asked->mtime)
               ? NFS3_OK
               : NFS3ERR_INVAL;
}

void file_resize(struct fs *fs, uint32_t object, uint64_t size)
{
    struct inode *i = inode_of(fs, object);
    uint32_t pages = i->contents.pages;

    if (size < i->size) {
        contents_cut(&fs->memory, &i->contents, size);
        space_give(fs, i->uid, pages - i->contents.pages, 0);
        changed_size(fs, object, size);
    }
    i->size = size;
    unstable_resize(fs, object, size);
    changed_object(fs, object);
}

static enum nfsstat3 may_set_size(const struct inode *i, const struct fs_caller *caller,
                                  uint64_t size)
{
    if (i->type != NF3REG) /* of a directory Linux says ISDIR, which the RFC does not list */
        return NFS3ERR_INVAL;
    if (!permit_data(i, caller, PERMIT_WRITE))
        return NFS3ERR_ACCES;
    return size > FS_SIZE_MAX ? NFS3ERR_FBIG : NFS3_OK;
}

/* POSIX utimensat: times of one's own are the owner's, now is also everybody's who may write. */
static enum nfsstat3 may_set_times(const struct inode *i, const struct fs_caller *caller,
                                   const struct sattr3 *to)
{
    if (permit_is_owner(i, caller) || (!to->set_atime && !to->set_mtime))
        return NFS3_OK;
    if (to->set_atime == SET_TO_CLIENT_TIME || to->set_mtime == SET_TO_CLIENT_TIME)
        return NFS3ERR_PERM;
    return permit(i, caller, PERMIT_WRITE) ? NFS3_OK : NFS3ERR_ACCES;
}

/* POSIX chmod, chown with _POSIX_CHOWN_RESTRICTED. */
static enum nfsstat3 may_set_owner(const struct inode *i, const struct fs_caller *caller,
                                   const struct sattr3 *to)
{
    if ((to->set_uid && to->uid == UINT32_MAX) || (to->set_gid && to->gid == UINT32_MAX))
        return NFS3ERR_INVAL;
    if (!caller->uid)
        return NFS3_OK;
    if ((to->set_mode || to->set_uid || to->set_gid) && caller->uid != i->uid)
        return NFS3ERR_PERM;
    if (to->set_uid && to->uid != i->uid)
        return NFS3ERR_PERM;
    if (to->set_gid && to->gid != i->gid && !permit_is_in(caller, to->gid))
        return NFS3ERR_PERM;
    return NFS3_OK;
}

static enum nfsstat3 may_set(const struct inode *i, const struct fs_caller *caller,
                             const struct sattr3 *to)
{
    enum nfsstat3 status = file_check_times(to);

    if (status == NFS3_OK)
        status = may_set_owner(i, caller, to);
    if (status == NFS3_OK)
        status = may_set_times(i, caller, to);
    if (status == NFS3_OK && to->set_size)
        status = may_set_size(i, caller, to->size);
    return status;
}

/* Linux's server: chown of a file takes set-id away, whoever does it. */
static void set_mode(struct fs *fs, uint32_t object, const struct fs_caller *caller,
                     const struct sattr3 *to)
{
    struct inode *i = inode_of(fs, object);
    uint16_t mode = to->set_mode && i->type != NF3LNK ? to->mode & MODE_ALL : i->mode;

    if (i->type != NF3DIR && i->type != NF3LNK && (to->set_uid || to->set_gid))
        mode = permit_without_set_id(mode);
    if (to->set_mode && caller->uid && !permit_is_in(caller, i->gid) && i->type != NF3LNK)
        mode &= (uint16_t)~MODE_SETGID;
    if (to->set_size && caller->uid && i->type == NF3REG)
        mode = to->set_mode ? mode : permit_without_set_id(mode);
    if (mode == i->mode)
        return;
    i->mode = mode;
    if (i->acl && i->acl->count) {
        acl_follow_mode(i);
        changed_acl(fs, object);
    }
}

static void set(struct fs *fs, uint32_t object, const struct fs_caller *caller,
                const struct sattr3 *to)
{
    struct inode *i = inode_of(fs, object);
    struct nfstime3 now = fs_now(fs);

    if (to->set_uid && to->uid != i->uid) {
        space_move(fs, i->uid, to->uid, object_pages(i), 1);
        i->uid = to->uid;
    }
    if (to->set_gid)
        i->gid = to->gid;
    set_mode(fs, object, caller, to);
    if (to->set_size) {
        file_resize(fs, object, to->size);
        i->mtime = now;
    }
    if (to->set_atime)
        i->atime = to->set_atime == SET_TO_CLIENT_TIME ? to->atime : now;
    if (to->set_mtime)
        i->mtime = to->set_mtime == SET_TO_CLIENT_TIME ? to->mtime : now;
    i->ctime = now;
    changed_object(fs, object);
}

enum nfsstat3 fs_setattr(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                         const struct sattr3 *to, const struct nfstime3 *guard)
{
    const struct inode *i = inode_of(fs, object);
    enum nfsstat3 status;

    if (guard && (guard->seconds != i->ctime.seconds || guard->nseconds != i->ctime.nseconds))
        return NFS3ERR_NOT_SYNC;
    if (!to->set_mode && !to->set_uid && !to->set_gid && !to->set_size && !to->set_atime &&
        !to->set_mtime)
        return NFS3_OK;
    status = may_set(i, caller, to);
    if (status == NFS3_OK && to->set_uid && to->uid != i->uid)
        status = space_room_user(fs, to->uid, object_pages(i), 1);
    if (status != NFS3_OK)
        return status;
    if (changes_room(fs, 3) < 0)
        return NFS3ERR_NOSPC;
    set(fs, object, caller, to);
    return NFS3_OK;
}

enum nfsstat3 fs_set_all(struct fs *fs, uint32_t object, const struct fattr3 *to)
{
    struct inode *i = inode_of(fs, object);

    if (to->atime.nseconds >= NSEC || to->mtime.nseconds >= NSEC || to->ctime.nseconds >= NSEC)
        return NFS3ERR_INVAL;
    if (i->type == NF3REG && to->size > FS_SIZE_MAX)
        return NFS3ERR_FBIG;
    if (changes_room(fs, 3) < 0 || space_room_user(fs, to->uid, 0, 0) != NFS3_OK)
        return NFS3ERR_NOSPC;
    if (i->type == NF3REG)
        file_resize(fs, object, to->size);
    if (i->uid != to->uid)
        space_move(fs, i->uid, to->uid, object_pages(i), 1);
    i->uid = to->uid;
    i->gid = to->gid;
    i->mode = to->mode & MODE_ALL;
    i->atime = to->atime;
    i->mtime = to->mtime;
    i->ctime = to->ctime;
    acl_follow_mode(i);
    if (i->acl)
        changed_acl(fs, object);
    changed_object(fs, object);
    return NFS3_OK;
}

enum nfsstat3 fs_set_fill(struct fs *fs, uint32_t object, uint64_t key, uint64_t size)
{
    struct inode *i = inode_of(fs, object);
    struct contents contents = { 0 };

    if (i->type != NF3REG)
        return NFS3ERR_INVAL;
    if (size > FS_SIZE_MAX)
        return NFS3ERR_FBIG;
    if (changes_room(fs, 3) < 0 || contents_fill(&fs->memory, &contents, key, size) < 0)
        return NFS3ERR_NOSPC;
    file_resize(fs, object, 0);
    i->contents = contents;
    i->size = size;
    changed_fill(fs, object);
    return NFS3_OK;
}
