/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3.c
 *
 * The way of a request: arguments by the tables, objects by their handles, attributes before, the
 * procedure itself, attributes after, the result by the tables.  A row says where in the structs
 * handles and attributes stand.
 */
#include "server/nfs3_parts.h"

#include <stddef.h>
#include <string.h>

struct nfs3_row {
    nfs3_run *run; /* NULL: there is no such procedure */
    /* offsets in the result, 0 for none; the status is at 0 */
    uint16_t attributes; /* struct post_op_attr of the first object */
    uint16_t wcc, wcc2;  /* struct wcc_data of the first and of the second object */
    uint16_t handle2;    /* offset in the arguments: of the second handle; the first is at 0 */
};

/* clang-format off */
#define AT(TYPE_, MEMBER) offsetof(struct TYPE_, MEMBER)
static const struct nfs3_row rows[] = {
    [1] = { nfs3_getattr },
    [2] = { nfs3_setattr, .wcc = AT(SETATTR3res, obj_wcc) },
    [3] = { nfs3_lookup, AT(LOOKUP3res, dir_attributes) },
    [4] = { nfs3_access, AT(ACCESS3res, obj_attributes) },
    [5] = { nfs3_readlink, AT(READLINK3res, symlink_attributes) },
    [6] = { nfs3_read, AT(READ3res, file_attributes) },
    [7] = { nfs3_write, .wcc = AT(WRITE3res, file_wcc) },
    [8] = { nfs3_create, .wcc = AT(CREATE3res, dir_wcc) },
    [9] = { nfs3_mkdir, .wcc = AT(CREATE3res, dir_wcc) },
    [10] = { nfs3_symlink, .wcc = AT(CREATE3res, dir_wcc) },
    [11] = { nfs3_mknod, .wcc = AT(CREATE3res, dir_wcc) },
    [12] = { nfs3_remove, .wcc = AT(REMOVE3res, dir_wcc) },
    [13] = { nfs3_rmdir, .wcc = AT(REMOVE3res, dir_wcc) },
    [14] = { nfs3_rename, .wcc = AT(RENAME3res, fromdir_wcc), .wcc2 = AT(RENAME3res, todir_wcc),
             .handle2 = AT(RENAME3args, to) },
    [15] = { nfs3_link, AT(LINK3res, file_attributes), .wcc2 = AT(LINK3res, linkdir_wcc),
             .handle2 = AT(LINK3args, link) },
    [16] = { nfs3_readdir, AT(READDIR3res, dir_attributes) },
    [17] = { nfs3_readdirplus, AT(READDIRPLUS3res, dir_attributes) },
    [18] = { nfs3_fsstat, AT(FSSTAT3res, obj_attributes) },
    [19] = { nfs3_fsinfo, AT(FSINFO3res, obj_attributes) },
    [20] = { nfs3_pathconf, AT(PATHCONF3res, obj_attributes) },
    [21] = { nfs3_commit, .wcc = AT(COMMIT3res, file_wcc) },
};
/* clang-format on */
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- objects */

static bool changes(uint32_t procedure)
{
    const struct procedure *p = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure);

    return p->action >= ACTION_WRITE;
}

static enum nfsstat3 find_objects(struct nfs3_op *op, const struct nfs3_row *row, const char *args)
{
    const struct bytes *handle = (const void *)args;
    const struct export *export2;
    enum nfsstat3 status = service_find(op->service, *handle, &op->export, &op->object);

    if (status != NFS3_OK)
        return status;
    op->fs = op->export->fs;
    export_caller(op->export, op->call->credential, &op->caller);
    if (!row->handle2)
        return NFS3_OK;
    handle = (const void *)(args + row->handle2);
    status = service_find(op->service, *handle, &export2, &op->object2);
    if (status == NFS3_OK && export2 != op->export) {
        op->object2 = 0;
        return NFS3ERR_XDEV;
    }
    return status;
}

/* --- attributes: no request takes an object away that it has a handle of */

static void all_before(struct nfs3_op *op, const struct nfs3_row *row, char *result)
{
    if (row->wcc)
        nfs3_give_before(op, op->object, (void *)(result + row->wcc));
    if (row->wcc2)
        nfs3_give_before(op, op->object2, (void *)(result + row->wcc2));
}

static void all_after(struct nfs3_op *op, const struct nfs3_row *row, char *result)
{
    if (row->attributes)
        nfs3_give_attributes(op, op->object, (void *)(result + row->attributes));
    if (row->wcc)
        nfs3_give_after(op, op->object, (void *)(result + row->wcc));
    if (row->wcc2)
        nfs3_give_after(op, op->object2, (void *)(result + row->wcc2));
}

/* --- */

static enum nfsstat3 run(struct nfs3_op *op, const struct nfs3_row *row, const void *args,
                         void *result)
{
    enum nfsstat3 status = find_objects(op, row, args);

    all_before(op, row, result);
    if (nfs3_faulty(op, FAULT_LOSE_UNSTABLE) && op->fs)
        fs_lose_unstable(op->fs);
    if (nfs3_faulty(op, FAULT_VERIFIER))
        op->service->write_verifier[0]++;
    if (status == NFS3_OK && nfs3_faulty(op, FAULT_STATUS))
        status = (enum nfsstat3)op->call->effects->value[FAULT_STATUS];
    if (status == NFS3_OK && op->export->read_only && changes(op->call->procedure))
        status = NFS3ERR_ROFS;
    if (status == NFS3_OK)
        status = row->run(op, args, result);
    all_after(op, row, result);
    return status;
}

enum rpc_status nfs3_answer(struct service *service, const struct nfs3_call *call,
                            struct xdr_put *to, struct outcome *outcome)
{
    const struct nfs3_row *row = &rows[call->procedure < ROWS ? call->procedure : 0];
    const struct nfs3_binding *binding;
    struct nfs3_op op = { .service = service, .call = call };
    void *args = service->arguments, *result = service->results;
    uint32_t *status = result; /* which every result begins with */

    *outcome = (struct outcome){ 0 };
    if (!row->run)
        return RPC_PROC_UNAVAIL;
    binding = nfs3_binding(call->procedure);
    if (bind_read(binding->arguments, call->arguments, args) != WALK_OK)
        return RPC_GARBAGE_ARGS;
    memset(result, 0, binding->result_size);
    op.transfer_max =
        service->transfer_max < call->transfer_max ? service->transfer_max : call->transfer_max;
    *status = outcome->status = run(&op, row, args, result);
    outcome->export = op.export;
    outcome->object = op.object;
    outcome->data = op.data;
    if (*status == NFS3_GARBAGE)
        return RPC_GARBAGE_ARGS;
    return bind_write(binding->result, to, result) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}
