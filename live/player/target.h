/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/target.h
 *
 * A server to play against: its address, its root handle, and what it said about itself.
 */
#ifndef NFSDIGEST_PLAYER_TARGET_H
#define NFSDIGEST_PLAYER_TARGET_H

#include "net/address.h"
#include "net/loop.h"
#include "net/rpc_client.h"

struct target {
    uint32_t server; /* the dump's host that it stands for */
    struct nfs_address address;
    struct net_address nfs, nfsacl, mount; /* where it answers */
    bool udp;
    uint8_t root[64];
    uint32_t root_len;
    uint32_t rtmax, wtmax, dtpref; /* FSINFO */
    uint64_t maxfilesize;
    int64_t time_delta;         /* FSINFO: the granularity of its times, ns */
    struct source_port from;    /* for every further connection */
    struct rpc_auth credential; /* uid 0, for what is not an operation of the trace */
};

struct target_setup {
    const char *text; /* nfs://... */
    bool udp;
    enum source_port_kind ports;
    int64_t timeout; /* ns for each question */
    /* Sees all messages, as in struct rpc_client_host.  NULL: nobody looks. */
    void (*message)(void *ctx, const struct rpc_client_message *message);
    void *message_ctx;
    const char *machine; /* of the credential; lives as long as |to|.  NULL: "nfsreplay" */
};

/* Asks portmap if it must, mounts, asks FSINFO: runs the loop until all is answered.  -ERR_USAGE:
 * the address.  -ERR_INPUT: the server does not do what is needed, in words: not exported, refused
 * (unprivileged port), not NFSv3.  -ERR_SYSTEM: no connection, no answer within the timeout, or a
 * signal stopped the loop.  |to|->server is not touched. */
int target_open(struct loop *loop, const struct target_setup *setup, struct target *to,
                struct err *err);

#endif
