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
    struct net_address nfs, nfsacl; /* where it answers */
    uint8_t root[64];
    uint32_t root_len;
    uint32_t rtmax, wtmax, dtpref; /* FSINFO */
    uint64_t maxfilesize;
    struct source_port from;
    struct rpc_auth credential; /* uid 0, for what is not an operation of the trace */
};

struct target_setup {
    const char *text; /* nfs://... */
    bool udp;
    enum source_port_kind ports;
    int64_t timeout; /* ns for each question */
};

/* Asks portmap if it must, mounts, asks FSINFO: with the loop, until all is answered.  Errors are
 * in words: not exported, refused (unprivileged port), no answer within SECONDS, not NFSv3. */
int target_open(struct loop *loop, const struct target_setup *setup, struct target *to,
                struct err *err);

#endif
