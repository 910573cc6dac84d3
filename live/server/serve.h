/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/serve.h
 *
 * The programs of ftnfsd on an RPC server: NFS 3, MOUNT 1 to 3, NFSACL 3, and PORTMAP where asked.
 * Each call goes the same way: credentials, cache of replies, faults, the program's own work,
 * statistics.
 */
#ifndef NFSDIGEST_SERVER_SERVE_H
#define NFSDIGEST_SERVER_SERVE_H

#include "net/fault.h"
#include "net/rpc_server.h"
#include "server/mounts.h"
#include "server/replies.h"
#include "server/service.h"
#include "server/stats.h"

enum { SERVE_PROGRAMS = 5 };

struct server;
struct serve_late;

struct serve_program {
    struct server *server;
    const struct serve_row *row;
};

struct server {
    struct service service;
    struct loop *loop;
    struct rpc_server *rpc;
    struct replies *replies;
    struct faults *faults;
    struct mounts mounts;
    struct stats stats;
    struct serve_program programs[SERVE_PROGRAMS];
    uint16_t nfs_port, mount_port, portmap_port; /* for PORTMAP; |portmap_port| 0: not served */
    struct serve_late *late;                     /* calls with delayed answers */
};

/* Registers the programs on |rpc|, which must live longer.  |server| must be all zeros except for
 * the loop and the service, which already has its exports. */
int serve_begin(struct server *server, struct rpc_server *rpc, uint64_t fault_seed,
                struct err *err);
/* Frees what serve_begin made, and the service.  Call it before the RPC server is freed. */
void serve_end(struct server *server);

#endif
