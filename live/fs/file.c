/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/file.c
 *
 * Contents of files: READ, WRITE, COMMIT.  Bytes behind a file's size are always zeros.
 */
#include "fs/file.h"

/* Reading marks the access time (POSIX read, readdir, readlink); without memory to note that, it
 * does not. */
static void accessed(struct fs *fs, uint32_t object)
{
    if (fs->config.no_atime || changes_room(fs, 1) < 0)
        return;
    inode_of(fs, object)->atime = fs_now(fs);
    changed_object(fs, object);
}

enum nfsstat3 fs_read(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                      uint64_t offset, uint8_t *to, uint32_t *count, bool *eof)
{
    const struct inode *i = inode_of(fs, object);
    uint32_t asked = *count;

    if (i->type != NF3REG) /* of a directory Linux says ISDIR, which the RFC does not list */
        return NFS3ERR_INVAL;
    if (!permit_data(i, caller, PERMIT_READ))
        return NFS3ERR_ACCES;
    if (offset >= i->size)
        *count = 0;
    else if (i->size - offset < asked)
        *count = (uint32_t)(i->size - offset);
    contents_read(&i->contents, offset, to, *count);
    *eof = offset >= i->size || i->size - offset == *count;
    if (asked)
        accessed(fs, object);
    return NFS3_OK;
}

static enum nfsstat3 may_write(const struct inode *i, const struct fs_caller *caller,
                               uint64_t offset, uint32_t len)
{
    if (i->type != NF3REG)
        return NFS3ERR_INVAL;
    if (!permit_data(i, caller, PERMIT_WRITE))
        return NFS3ERR_ACCES;
    if (offset > FS_SIZE_MAX || len > FS_SIZE_MAX - offset)
        return NFS3ERR_FBIG;
    return NFS3_OK;
}

/* Everything that may fail. */
static enum nfsstat3 write_room(struct fs *fs, uint32_t object, uint64_t offset, struct bytes data,
                                struct contents_spare *spare)
{
    struct inode *i = inode_of(fs, object);
    uint32_t missing = contents_missing(&i->contents, offset, data, false);
    enum nfsstat3 status = missing ? space_room(fs, i->uid, missing, 0) : NFS3_OK;

    if (status != NFS3_OK)
        return status;
    if (changes_room(fs, data.len / FS_PAGE + 4) < 0 ||
        contents_prepare(&fs->memory, &i->contents, offset, data, false, spare) < 0)
        return NFS3ERR_NOSPC;
    return NFS3_OK;
}

enum nfsstat3 fs_write(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                       uint64_t offset, struct bytes data, enum stable_how stable)
{
    struct inode *i = inode_of(fs, object);
    enum nfsstat3 status = may_write(i, caller, offset, data.len);
    struct contents_spare spare;
    bool unstable = fs->config.keep_unstable && stable == UNSTABLE;

    if (status != NFS3_OK || !data.len)
        return status;
    if (unstable && unstable_keep(fs, object, offset, data.len) < 0)
        return NFS3ERR_NOSPC;
    status = write_room(fs, object, offset, data, &spare);
    if (status != NFS3_OK)
        return status;
    space_take(fs, i->uid, spare.count, 0);
    contents_put(&i->contents, offset, data, &spare);
    if (i->size < offset + data.len)
        i->size = offset + data.len;
    if (!unstable)
        unstable_settle(fs, object, offset, data.len);
    if (caller->uid)
        i->mode = permit_without_set_id(i->mode);
    i->mtime = i->ctime = fs_now(fs);
    changed_pages(fs, object, offset, data.len);
    changed_object(fs, object);
    return NFS3_OK;
}

/* Linux wants no permission, as the RFC says nothing of any: what was written may be kept. */
enum nfsstat3 fs_commit(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                        uint64_t offset, uint32_t count)
{
    (void)caller;
    if (inode_of(fs, object)->type != NF3REG)
        return NFS3ERR_INVAL;
    unstable_settle(fs, object, offset, count);
    return NFS3_OK;
}

enum nfsstat3 fs_readlink(struct fs *fs, const struct fs_caller *caller, uint32_t object,
                          struct bytes *text)
{
    const struct inode *i = inode_of(fs, object);

    (void)caller; /* modes of links mean nothing */
    if (i->type != NF3LNK)
        return NFS3ERR_INVAL;
    *text = (struct bytes){ i->text, (uint32_t)i->size };
    accessed(fs, object);
    return NFS3_OK;
}

static int list_dots(struct fs *fs, uint32_t dir, uint64_t *cookie,
                     int (*each)(void *ctx, const struct fs_entry *entry), void *ctx)
{
    while (*cookie < DIRECTORY_FIRST_COOKIE - 1) {
        uint32_t object = *cookie ? inode_of(fs, dir)->parent : dir;
        struct fs_entry entry = { object,
                                  fileid_of(fs, object),
                                  *cookie + 1,
                                  { (const uint8_t *)"..", (uint32_t)*cookie + 1 } };

        if (each(ctx, &entry))
            return 1;
        ++*cookie;
    }
    return 0;
}

enum nfsstat3 fs_list(struct fs *fs, const struct fs_caller *caller, uint32_t dir, uint64_t cookie,
                      int (*each)(void *ctx, const struct fs_entry *entry), void *ctx, bool *eof)
{
    const struct inode *i = inode_of(fs, dir);
    const uint64_t first = cookie;
    struct directory_entry at;

    if (i->type != NF3DIR)
        return NFS3ERR_NOTDIR;
    if (!permit(i, caller, PERMIT_READ))
        return NFS3ERR_ACCES;
    if (cookie > i->directory->last_cookie)
        return NFS3ERR_BAD_COOKIE;
    *eof = false;
    if (!list_dots(fs, dir, &cookie, each, ctx)) {
        while (directory_after(i->directory, cookie, &at)) {
            struct fs_entry entry = { at.object, fileid_of(fs, at.object), at.cookie, at.name };

            if (each(ctx, &entry))
                break;
            cookie = at.cookie;
        }
        *eof = !directory_after(i->directory, cookie, &at);
    }
    if (cookie != first || *eof)
        accessed(fs, dir);
    return NFS3_OK;
}
