/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/portmap_client.h
 *
 * Calls of PORTMAP version 2 and RPCBIND versions 3 and 4 (RFC 1833), to find the port of a
 * service, and to register and unregister services.  They go over an RPC client that is connected
 * to port 111.  Servers take registrations only from their own machine, some only from privileged
 * ports.
 *
 * Memory: about 100 bytes for each outstanding call; while the answer of DUMP is passed on, less
 * than 8 times its length.
 */
#ifndef NFSDIGEST_NET_PORTMAP_CLIENT_H
#define NFSDIGEST_NET_PORTMAP_CLIENT_H

#include "net/address.h"
#include "net/rpc_client.h"

enum portmap_what {
    PORTMAP_SET = 1,
    PORTMAP_UNSET = 2,
    PORTMAP_GET = 3, /* GETPORT, GETADDR */
    PORTMAP_DUMP = 4,
};

struct portmap_question {
    uint32_t version; /* 2, 3 or 4 */
    enum portmap_what what;
    uint32_t program, program_version; /* all but DUMP */
    /* The service's transport.  For GET of versions 3 and 4 it must be the client's own: servers
     * always answer for the transport of the question (RFC 1833 s2.2.1). */
    bool udp;
    /* SET: the address of the service; version 2 uses only its port.  In other calls its family
     * selects the transport, and versions 3 and 4 use it as a hint about the caller's place. */
    struct net_address address;
    const char *owner; /* SET and UNSET, versions 3 and 4; NULL: "" */
    const struct rpc_auth *credential;
};

struct portmap_entry {
    uint32_t program, version;
    struct bytes netid;         /* version 2: "tcp", "udp", or empty for another protocol */
    struct net_address address; /* version 2: AF_INET, only the port; AF_UNSPEC: not of IP */
    struct bytes owner;         /* versions 3 and 4 */
};

struct portmap_reply {
    const char *problem;        /* NULL: success; "not registered" is a problem */
    struct net_address address; /* GET; version 2: AF_INET with only the port */
    const struct portmap_entry *entries;
    uint32_t entry_count;
};

/* Takes the answer.  Its pointers are valid until the function returns. */
typedef int portmap_done(void *ctx, const struct portmap_reply *answer, struct err *err);

/* Starts a call.  Returns 0, and later calls |done| once; RPC_CLIENT_FULL; or a negative code:
 * -ERR_USAGE for an unknown version, or a transport that this version cannot ask for. */
int portmap_call(struct rpc_client *client, const struct portmap_question *question,
                 portmap_done *done, void *ctx, struct err *err);

#endif
