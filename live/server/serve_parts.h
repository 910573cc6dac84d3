/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/serve_parts.h
 *
 * Shared by serve.c and the programs (nfs3.c, mount.c, nfsacl.c).
 */
#ifndef NFSDIGEST_SERVER_SERVE_PARTS_H
#define NFSDIGEST_SERVER_SERVE_PARTS_H

#include "server/serve.h"

struct request {
    struct server *server;
    const struct serve_row *row;
    struct rpc_call *call;
    uint32_t slot; /* slot in the cache of replies; 0: not in the cache */
    struct fault_effects effects;
    size_t header; /* bytes of the reply before its results */
};

/* A program in one range of versions. */
struct serve_row {
    uint32_t program, low, high, procedures;
    enum stats_program stats;
    /* Writes the results.  Returns RPC_SUCCESS, or the status of a refusal; then the written bytes
     * are dropped. */
    enum rpc_status (*answer)(struct request *request, struct xdr_put *to, struct outcome *outcome);
};

enum rpc_status serve_nfs3(struct request *request, struct xdr_put *to, struct outcome *outcome);
enum rpc_status serve_mount1(struct request *request, struct xdr_put *to, struct outcome *outcome);
enum rpc_status serve_mount3(struct request *request, struct xdr_put *to, struct outcome *outcome);
enum rpc_status serve_nfsacl(struct request *request, struct xdr_put *to, struct outcome *outcome);

enum rpc_status serve_portmap(struct request *request, struct xdr_put *to, struct outcome *outcome);

/* Appends the path of a request, "/export/dir/name", and gives the handle that it begins with.
 * Returns non-zero if the request has no path. */
int serve_path(const struct request *request, struct buf *path, struct bytes *handle);

#endif
