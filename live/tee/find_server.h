/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/find_server.h
 *
 * Where a server's programs are: HOST:PORT is the port of NFS, and for
 * nfs://HOST[:PORT]/EXPORT[?nfsport=N&mountport=N] the server's PORTMAP (RFC 1833) is asked for
 * what is not given, and where NLM and NSM are, which lock files and tell of restarts.
 */
#ifndef NFSDIGEST_TEE_FIND_SERVER_H
#define NFSDIGEST_TEE_FIND_SERVER_H

#include "net/address.h"

/* Where a program of locks is; a port of 0: not over this transport. */
struct lock_ports {
    uint16_t tcp, udp;
};

struct server_place {
    struct net_address nfs, mount; /* |mount|: AF_UNSPEC if HOST:PORT was given */
    struct lock_ports nlm, nsm;
    char no_locks[200]; /* why they are not known; empty: PORTMAP has answered */
    bool no_acl; /* PORTMAP says that NFSACL is not registered, or at another port than NFS */
};

bool server_is_nfs_address(const char *text);

/* Finds the place, with a loop of its own: waits at most 10 s for each of four questions, and for
 * DNS.  NLM (version 4, which belongs to NFSv3) and NSM are asked for if |with_locks|; a server
 * need not have them, nor tell.  -ERR_USAGE: the text; -ERR_SYSTEM: no answer, or NFS or MOUNT is
 * not registered. */
int server_find(const char *text, bool with_locks, struct server_place *place, struct err *err);

#endif
