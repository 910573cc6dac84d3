/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/portmap_client.h
 *
 * Calls of PORTMAP version 2 and RPCBIND versions 3 and 4 (RFC 1833): which port a service has, and
 * to register and unregister one's own.  Over an RPC client that is connected to port 111.  Servers
 * take registrations only from their own machine, some only from privileged ports.
 *
 * Memory: about 100 bytes for each outstanding call; while the answer of DUMP is told, less than 8
 * times its length.
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
     * answer for the transport of the question, whatever it says (RFC 1833 s2.2.1). */
    bool udp;
    /* SET: where the service is; version 2 knows its port alone.  Else its family says which
     * transport is meant, and versions 3 and 4 take it as a hint where the caller is. */
    struct net_address address;
    const char *owner; /* SET and UNSET, versions 3 and 4; NULL: "" */
    const struct rpc_auth *credential;
};

struct portmap_entry {
    uint32_t program, version;
    struct bytes netid;         /* version 2: "tcp", "udp", or empty for another protocol */
    struct net_address address; /* version 2: of AF_INET, with the port alone.  AF_UNSPEC: not an
                                 * address of IP */
    struct bytes owner;         /* versions 3 and 4 */
};

struct portmap_reply {
    const char *problem;        /* NULL: all is well; "not registered" is a problem */
    struct net_address address; /* GET; version 2: of AF_INET, with the port alone */
    const struct portmap_entry *entries;
    uint32_t entry_count;
};

/* What pointers lead to lives until it returns. */
typedef int portmap_done(void *ctx, const struct portmap_reply *answer, struct err *err);

/* 0, and then |done| is called once; RPC_CLIENT_FULL; or a negative code: -ERR_USAGE for a version
 * that there is not, and for a transport that cannot be asked for. */
int portmap_call(struct rpc_client *client, const struct portmap_question *question,
                 portmap_done *done, void *ctx, struct err *err);

#endif
