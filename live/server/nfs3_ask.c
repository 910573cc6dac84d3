/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3_ask.c
 *
 * The procedures that change nothing but access times: RFC 1813 s3.3.1, .3 to .6, .18 to .20.
 */
#include "server/nfs3_parts.h"

enum { BLOCK = FS_PAGE, LISTING_PREFERRED = 64 << 10 };

enum nfsstat3 nfs3_getattr(struct nfs3_op *op, const void *args, void *res)
{
    struct GETATTR3res *to = res;

    (void)args;
    nfs3_give_fattr3(op, op->object, &to->obj_attributes);
    return NFS3_OK;
}

enum nfsstat3 nfs3_access(struct nfs3_op *op, const void *args, void *res)
{
    const struct ACCESS3args *a = args;
    struct ACCESS3res *to = res;

    to->access = fs_access(op->fs, &op->caller.as, op->object, a->access);
    if (op->export->read_only)
        to->access &= ~(uint32_t)(ACCESS3_MODIFY | ACCESS3_EXTEND | ACCESS3_DELETE);
    return NFS3_OK;
}

enum nfsstat3 nfs3_lookup(struct nfs3_op *op, const void *args, void *res)
{
    const struct LOOKUP3args *a = args;
    struct LOOKUP3res *to = res;
    uint32_t found;
    enum nfsstat3 status = fs_lookup(op->fs, &op->caller.as, op->object, a->what.name, &found);

    if (status != NFS3_OK)
        return status;
    to->object = nfs3_give_handle(op, found);
    nfs3_give_attributes(op, found, &to->obj_attributes);
    return NFS3_OK;
}

enum nfsstat3 nfs3_readlink(struct nfs3_op *op, const void *args, void *res)
{
    struct READLINK3res *to = res;

    (void)args;
    return fs_readlink(op->fs, &op->caller.as, op->object, &to->data);
}

enum nfsstat3 nfs3_read(struct nfs3_op *op, const void *args, void *res)
{
    const struct READ3args *a = args;
    struct READ3res *to = res;
    uint8_t *data = op->service->scratch;
    enum nfsstat3 status;

    to->count = a->count < op->transfer_max ? a->count : op->transfer_max;
    if (nfs3_faulty(op, FAULT_SHORT))
        to->count /= 2;
    status = fs_read(op->fs, &op->caller.as, op->object, a->offset, data, &to->count, &to->eof);
    if (status != NFS3_OK)
        return status;
    to->eof ^= nfs3_faulty(op, FAULT_EOF);
    if (to->count && nfs3_faulty(op, FAULT_WRONG_BYTES))
        data[to->count / 2] ^= 1;
    to->data = (struct bytes){ data, to->count };
    op->data = to->count;
    return NFS3_OK;
}

enum nfsstat3 nfs3_fsstat(struct nfs3_op *op, const void *args, void *res)
{
    struct FSSTAT3res *to = res;
    struct fs_space space;

    (void)args;
    fs_space(op->fs, &op->caller.as, &space);
    to->tbytes = space.total_bytes;
    to->fbytes = space.free_bytes;
    to->abytes = space.available_bytes;
    to->tfiles = space.total_objects;
    to->ffiles = space.free_objects;
    to->afiles = space.available_objects;
    return NFS3_OK;
}

enum nfsstat3 nfs3_fsinfo(struct nfs3_op *op, const void *args, void *res)
{
    struct FSINFO3res *to = res;

    (void)args;
    to->rtmax = to->rtpref = to->wtmax = to->wtpref = op->transfer_max;
    to->rtmult = to->wtmult = BLOCK;
    to->dtpref = op->transfer_max < LISTING_PREFERRED ? op->transfer_max : LISTING_PREFERRED;
    to->maxfilesize = FS_SIZE_MAX;
    to->time_delta = (struct nfstime3){ 0, 1 };
    to->properties = FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME;
    return NFS3_OK;
}

enum nfsstat3 nfs3_pathconf(struct nfs3_op *op, const void *args, void *res)
{
    struct PATHCONF3res *to = res;

    (void)op, (void)args;
    to->linkmax = FS_LINK_MAX;
    to->name_max = FS_NAME_MAX;
    to->no_trunc = to->chown_restricted = to->case_preserving = true;
    return NFS3_OK;
}
