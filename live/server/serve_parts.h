/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/serve_parts.h
 *
 * What serve.c and the programs (nfs3.c, mount.c, nfsacl.c) know of each other.
 */
#ifndef NFSDIGEST_SERVER_SERVE_PARTS_H
#define NFSDIGEST_SERVER_SERVE_PARTS_H

#include "server/serve.h"

struct request {
    struct server *server;
    const struct serve_row *row;
    struct rpc_call *call;
    uint32_t slot; /* of the cache of replies; 0: it is not in it */
    struct fault_effects effects;
};

/* A program in one range of versions. */
struct serve_row {
    uint32_t program, low, high, procedures;
    enum stats_program stats;
    /* Writes results.  RPC_SUCCESS, or how the call is refused: what was written is thrown away. */
    enum rpc_status (*answer)(struct request *request, struct xdr_put *to, struct outcome *outcome);
};

enum rpc_status serve_nfs3(struct request *request, struct xdr_put *to, struct outcome *outcome);
enum rpc_status serve_mount1(struct request *request, struct xdr_put *to, struct outcome *outcome);
enum rpc_status serve_mount3(struct request *request, struct xdr_put *to, struct outcome *outcome);
enum rpc_status serve_nfsacl(struct request *request, struct xdr_put *to, struct outcome *outcome);

enum rpc_status serve_portmap(struct request *request, struct xdr_put *to, struct outcome *outcome);

/* Appends the path that a request is about, "/export/dir/name", and gives the handle that it begins
 * with.  Non-zero: it is about none. */
int serve_path(const struct request *request, struct buf *path, struct bytes *handle);

#endif
