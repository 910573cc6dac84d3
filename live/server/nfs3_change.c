/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3_change.c
 *
 * The procedures that change something: RFC 1813 s3.3.2, .7 to .15, .21.
 */
#include "server/nfs3_parts.h"

#include <string.h>

enum nfsstat3 nfs3_setattr(struct nfs3_op *op, const void *args, void *res)
{
    const struct SETATTR3args *a = args;

    (void)res;
    return fs_setattr(op->fs, &op->caller.as, op->object, &a->new_attributes,
                      a->guard.check ? &a->guard.obj_ctime : NULL);
}

/* A server may write less than was asked for (s3.3.7); a count that is not the data's length is no
 * request. */
enum nfsstat3 nfs3_write(struct nfs3_op *op, const void *args, void *res)
{
    const struct WRITE3args *a = args;
    struct WRITE3res *to = res;
    struct bytes data = a->data;
    enum nfsstat3 status;

    if (a->count != data.len || a->stable > FILE_SYNC)
        return NFS3_GARBAGE;
    if (data.len > op->transfer_max)
        data.len = op->transfer_max;
    if (nfs3_faulty(op, FAULT_SHORT))
        data.len /= 2;
    status =
        fs_write(op->fs, &op->caller.as, op->object, a->offset, data, (enum stable_how)a->stable);
    to->count = data.len;
    to->committed = nfs3_faulty(op, FAULT_COMMITTED)
                        ? (uint32_t)op->call->effects->value[FAULT_COMMITTED]
                        : a->stable;
    memcpy(to->verf, op->service->write_verifier, sizeof(to->verf));
    op->data = status == NFS3_OK ? data.len : 0;
    return status;
}

enum nfsstat3 nfs3_commit(struct nfs3_op *op, const void *args, void *res)
{
    const struct COMMIT3args *a = args;
    struct COMMIT3res *to = res;

    memcpy(to->verf, op->service->write_verifier, sizeof(to->verf));
    return fs_commit(op->fs, &op->caller.as, op->object, a->offset, a->count);
}

/* --- new objects: the results of all four procedures have one form */

static enum nfsstat3 make(struct nfs3_op *op, struct bytes name, const struct fs_new *new_object,
                          struct CREATE3res *to)
{
    uint32_t made;
    enum nfsstat3 status = fs_make(op->fs, &op->caller.as, op->object, name, new_object, &made);

    if (status != NFS3_OK)
        return status;
    to->obj_follows = !nfs3_faulty(op, FAULT_NO_HANDLE);
    to->obj = nfs3_give_handle(op, made);
    nfs3_give_attributes(op, made, &to->obj_attributes);
    return NFS3_OK;
}

enum nfsstat3 nfs3_create(struct nfs3_op *op, const void *args, void *res)
{
    const struct CREATE3args *a = args;
    struct fs_new file = { .type = NF3REG,
                           .how = (enum createmode3)a->how.mode,
                           .attributes = a->how.obj_attributes };

    memcpy(file.verifier, a->how.verf, sizeof(file.verifier));
    return make(op, a->where.name, &file, res);
}

enum nfsstat3 nfs3_mkdir(struct nfs3_op *op, const void *args, void *res)
{
    const struct MKDIR3args *a = args;
    struct fs_new directory = { .type = NF3DIR, .attributes = a->attributes };

    return make(op, a->where.name, &directory, res);
}

enum nfsstat3 nfs3_symlink(struct nfs3_op *op, const void *args, void *res)
{
    const struct SYMLINK3args *a = args;
    struct fs_new link = { .type = NF3LNK,
                           .attributes = a->symlink.symlink_attributes,
                           .link_text = a->symlink.symlink_data };

    return make(op, a->where.name, &link, res);
}

enum nfsstat3 nfs3_mknod(struct nfs3_op *op, const void *args, void *res)
{
    const struct MKNOD3args *a = args;
    struct fs_new node = { .type = (enum ftype3)a->what.type,
                           .attributes = a->what.attributes,
                           .rdev = a->what.spec };

    if (node.type != NF3CHR && node.type != NF3BLK && node.type != NF3SOCK && node.type != NF3FIFO)
        return NFS3ERR_BADTYPE;
    return make(op, a->where.name, &node, res);
}

/* --- names */

enum nfsstat3 nfs3_remove(struct nfs3_op *op, const void *args, void *res)
{
    const struct REMOVE3args *a = args;

    (void)res;
    return fs_remove(op->fs, &op->caller.as, op->object, a->object.name, false);
}

enum nfsstat3 nfs3_rmdir(struct nfs3_op *op, const void *args, void *res)
{
    const struct REMOVE3args *a = args;

    (void)res;
    return fs_remove(op->fs, &op->caller.as, op->object, a->object.name, true);
}

enum nfsstat3 nfs3_rename(struct nfs3_op *op, const void *args, void *res)
{
    const struct RENAME3args *a = args;

    (void)res;
    return fs_rename(op->fs, &op->caller.as, op->object, a->from.name, op->object2, a->to.name);
}

enum nfsstat3 nfs3_link(struct nfs3_op *op, const void *args, void *res)
{
    const struct LINK3args *a = args;

    (void)res;
    return fs_link(op->fs, &op->caller.as, op->object, op->object2, a->link.name);
}
