/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/portmap_answers.h
 *
 * PORTMAP version 2 (RFC 1833 s3) for the programs that the relay relays: GETPORT and DUMP. Nothing
 * can be registered.  Other versions are answered with a mismatch, after which clients ask for
 * version 2.
 *
 * Memory: that of net/rpc_server.h with small messages.
 */
#ifndef NFSDIGEST_TEE_PORTMAP_ANSWERS_H
#define NFSDIGEST_TEE_PORTMAP_ANSWERS_H

#include "net/rpc_server.h"

enum portmap_service { PORTMAP_NFS, PORTMAP_MOUNT, PORTMAP_NLM, PORTMAP_NSM, PORTMAP_SERVICES };

struct portmap_told {
    uint16_t tcp[PORTMAP_SERVICES], udp[PORTMAP_SERVICES]; /* ports; 0: not relayed */
    bool no_acl; /* the server has no NFSACL at that port of NFS */
};

struct portmap_answers;

/* Answers at |address| over TCP and UDP. */
struct portmap_answers *portmap_answers_new(struct loop *loop, const struct net_address *address,
                                            const struct portmap_told *told, struct err *err);
void portmap_answers_free(struct portmap_answers *answers); /* NULL is allowed */

#endif
