/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/find_server.h
 *
 * Where a server's programs are: HOST:PORT is the port of NFS, and for
 * nfs://HOST[:PORT]/EXPORT[?nfsport=N&mountport=N] the server's PORTMAP (RFC 1833) is asked for
 * what is not given.
 */
#ifndef NFSDIGEST_TEE_FIND_SERVER_H
#define NFSDIGEST_TEE_FIND_SERVER_H

#include "net/address.h"

struct server_place {
    struct net_address nfs, mount; /* |mount|: AF_UNSPEC if HOST:PORT was given */
    bool no_acl; /* PORTMAP says that NFSACL is not registered, or at another port than NFS */
};

bool server_is_nfs_address(const char *text);

/* Finds the place, with a loop of its own: waits at most 10 s for each of three questions, and for
 * DNS.  -ERR_USAGE: the text; -ERR_SYSTEM: no answer, or NFS or MOUNT is not registered. */
int server_find(const char *text, struct server_place *place, struct err *err);

#endif
