/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/nfs3_parts.h
 *
 * Shared by the files nfs3*.c.  Each procedure is a function and a row.  nfs3.c finds the objects,
 * takes attributes before and after, and writes the result.  The function does only the procedure's
 * own work.
 */
#ifndef NFSDIGEST_SERVER_NFS3_PARTS_H
#define NFSDIGEST_SERVER_NFS3_PARTS_H

#include "server/nfs3.h"
#include "wire/nfs3_structs.h"

struct nfs3_op {
    struct service *service;
    const struct nfs3_call *call;
    const struct export *export;
    struct fs *fs;
    struct caller caller;
    uint32_t object, object2; /* objects of the first and second handle in the arguments */
    uint32_t data;            /* bytes read or written */
    struct wcc_attr before;   /* of |object|, if |before_known| */
    bool before_known;
    uint32_t transfer_max;
    uint8_t made[HANDLE_LENGTH]; /* a handle of the result */
};

/* A procedure returns this if its arguments are not a valid message. */
#define NFS3_GARBAGE ((enum nfsstat3)UINT32_MAX)

/* |args| and |res| are the structs of wire/nfs3_structs.h; |res| is all zeros, with what nfs3.c
 * filled in. */
typedef enum nfsstat3 nfs3_run(struct nfs3_op *op, const void *args, void *res);

nfs3_run nfs3_getattr, nfs3_access, nfs3_lookup, nfs3_readlink, nfs3_read; /* nfs3_ask.c */
nfs3_run nfs3_fsstat, nfs3_fsinfo, nfs3_pathconf;                          /* nfs3_ask.c */
nfs3_run nfs3_setattr, nfs3_write, nfs3_commit, nfs3_create, nfs3_mkdir;   /* nfs3_change.c */
nfs3_run nfs3_symlink, nfs3_mknod, nfs3_remove, nfs3_rmdir, nfs3_rename;   /* nfs3_change.c */
nfs3_run nfs3_link;                                                        /* nfs3_change.c */
nfs3_run nfs3_readdir, nfs3_readdirplus;                                   /* nfs3_list.c */

/* --- nfs3_give.c */

bool nfs3_faulty(const struct nfs3_op *op, enum fault_effect effect);
/* These give attributes of an object, or none for object 0. */
void nfs3_give_fattr3(const struct nfs3_op *op, uint32_t object, struct fattr3 *to);
void nfs3_give_attributes(const struct nfs3_op *op, uint32_t object, struct post_op_attr *to);
void nfs3_give_before(struct nfs3_op *op, uint32_t object, struct wcc_data *to);
void nfs3_give_after(const struct nfs3_op *op, uint32_t object, struct wcc_data *to);
/* Makes the handle of an object of |op|'s export, in |op|->made. */
struct bytes nfs3_give_handle(struct nfs3_op *op, uint32_t object);

#endif
