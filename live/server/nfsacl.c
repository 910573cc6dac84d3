/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfsacl.c
 *
 * NFSACL version 3: GETACL and SETACL.  Sun's nfs_acl.x; what Linux clients and servers make of it
 * is in linux/fs/nfs_common/nfsacl.c: the mask says which of the lists are meant, and entries of
 * default lists have NA_ACL_DEFAULT set.
 */
#include "server/nfs3_parts.h"
#include "server/serve_parts.h"
#include "wire/nfsacl_structs.h"

#include <string.h>

enum { NA_ALL = NA_ACL | NA_ACLCNT | NA_DFACL | NA_DFACLCNT };

static enum nfsstat3 find(struct request *q, struct bytes handle, struct outcome *outcome,
                          struct caller *caller)
{
    enum nfsstat3 status =
        service_find(&q->server->service, handle, &outcome->export, &outcome->object);

    if (status != NFS3_OK)
        return status;
    export_caller(outcome->export, &q->call->header.credential, caller);
    return fault_has(&q->effects, FAULT_STATUS) ? (enum nfsstat3)q->effects.value[FAULT_STATUS]
                                                : NFS3_OK;
}

static void attributes(const struct request *q, const struct outcome *outcome,
                       struct post_op_attr *to)
{
    const struct nfs3_call call = { .effects = q->effects.set ? &q->effects : NULL };
    const struct nfs3_op op = { .call = &call,
                                .fs = outcome->object ? outcome->export->fs : NULL,
                                .object = outcome->object };

    nfs3_give_attributes(&op, outcome->object, to);
}

/* --- GETACL */

enum { MINIMAL = 3 };

/* As Solaris and Linux's server tell a list: there is always a mask, and the owner and the owning
 * group have their ids. */
static void as_told(const struct outcome *outcome, struct fs_acl_entry *list, uint32_t *count)
{
    struct fattr3 attributes;

    if (*count == MINIMAL) {
        list[3] = list[2];
        list[2] = list[1];
        list[2].tag = FS_ACL_MASK;
        *count = MINIMAL + 1;
    }
    fs_attributes(outcome->export->fs, outcome->object, &attributes);
    for (uint32_t i = 0; i < *count; i++) {
        if (list[i].tag == FS_ACL_USER_OBJ)
            list[i].id = attributes.uid;
        if (list[i].tag == FS_ACL_GROUP_OBJ)
            list[i].id = attributes.gid;
    }
}

static enum nfsstat3 get_list(const struct outcome *outcome, const struct caller *caller,
                              bool defaults, struct bind_list *to, uint32_t *count)
{
    struct fs_acl_entry list[FS_ACL_MAX];
    struct aclent *entries = to->elements;
    enum nfsstat3 status =
        fs_acl(outcome->export->fs, &caller->as, outcome->object, defaults, list, count);

    if (status == NFS3_OK)
        as_told(outcome, list, count);
    for (uint32_t i = 0; status == NFS3_OK && i < *count; i++)
        entries[i] = (struct aclent){ .type = list[i].tag | (defaults ? NA_ACL_DEFAULT : 0),
                                      .id = list[i].id,
                                      .perm = list[i].permissions };
    to->count = status == NFS3_OK ? *count : 0;
    return status;
}

static enum rpc_status get(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    struct aclent entries[2][FS_ACL_MAX];
    struct GETACL3res result = { .acl = { .aclent = { entries[0], 0, 0 },
                                          .dfaclent = { entries[1], 0, 0 } } };
    struct GETACL3args args;
    struct caller caller;

    if (bind_read(nfsacl3_binding(1)->arguments, q->call->body, &args) != WALK_OK)
        return RPC_GARBAGE_ARGS;
    outcome->status = find(q, args.fh, outcome, &caller);
    if (outcome->status == NFS3_OK && args.mask & ~(uint32_t)NA_ALL)
        outcome->status = NFS3ERR_INVAL;
    result.acl.mask = args.mask;
    if (outcome->status == NFS3_OK && args.mask & (NA_ACL | NA_ACLCNT))
        outcome->status = get_list(outcome, &caller, false, &result.acl.aclent, &result.acl.aclcnt);
    if (outcome->status == NFS3_OK && args.mask & (NA_DFACL | NA_DFACLCNT))
        outcome->status =
            get_list(outcome, &caller, true, &result.acl.dfaclent, &result.acl.dfaclcnt);
    if (!(args.mask & NA_ACL))
        result.acl.aclent.count = 0;
    if (!(args.mask & NA_DFACL))
        result.acl.dfaclent.count = 0;
    result.status = outcome->status;
    attributes(q, outcome, &result.attr);
    return bind_write(nfsacl3_binding(1)->result, to, &result) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}

/* --- SETACL */

/* As the file system takes it: |list| leads to |entries| then. */
static void as_kept(const struct bind_list *from, struct fs_acl_entry entries[FS_ACL_MAX],
                    struct fs_acl_list *list)
{
    const struct aclent *told = from->elements;

    for (uint32_t i = 0; i < from->count; i++)
        entries[i] =
            (struct fs_acl_entry){ .tag = (uint16_t)(told[i].type & ~(uint32_t)NA_ACL_DEFAULT),
                                   .permissions = (uint16_t)told[i].perm,
                                   .id = told[i].id };
    *list = (struct fs_acl_list){ entries, from->count };
}

static enum nfsstat3 set_lists(const struct outcome *outcome, const struct caller *caller,
                               const struct SETACL3args *args)
{
    struct fs_acl_entry entries[2][FS_ACL_MAX];
    struct fs_acl_list access, defaults;

    as_kept(&args->acl.aclent, entries[0], &access);
    as_kept(&args->acl.dfaclent, entries[1], &defaults);
    return fs_set_acl(outcome->export->fs, &caller->as, outcome->object,
                      args->acl.mask & NA_ACL ? &access : NULL,
                      args->acl.mask & NA_DFACL ? &defaults : NULL);
}

static enum rpc_status set(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    struct aclent entries[2][FS_ACL_MAX];
    struct SETACL3args args = { .acl = { .aclent = { entries[0], 0, FS_ACL_MAX },
                                         .dfaclent = { entries[1], 0, FS_ACL_MAX } } };
    struct SETACL3res result = { 0 };
    struct caller caller;

    if (bind_read(nfsacl3_binding(2)->arguments, q->call->body, &args) != WALK_OK)
        return RPC_GARBAGE_ARGS;
    outcome->status = find(q, args.fh, outcome, &caller);
    if (outcome->status == NFS3_OK && args.acl.mask & ~(uint32_t)NA_ALL)
        outcome->status = NFS3ERR_INVAL;
    if (outcome->status == NFS3_OK && outcome->export->read_only)
        outcome->status = NFS3ERR_ROFS;
    if (outcome->status == NFS3_OK && args.acl.mask & (NA_ACL | NA_DFACL))
        outcome->status = set_lists(outcome, &caller, &args);
    result.status = outcome->status;
    attributes(q, outcome, &result.attr);
    return bind_write(nfsacl3_binding(2)->result, to, &result) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}

enum rpc_status serve_nfsacl(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    switch (q->call->header.procedure) {
    case 1:
        return get(q, to, outcome);
    case 2:
        return set(q, to, outcome);
    default: /* GETXATTRDIR: Solaris's named attributes, which no POSIX file system has */
        return RPC_PROC_UNAVAIL;
    }
}
