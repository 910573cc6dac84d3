/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/server/portmap.c
 *
 * PORTMAP version 2 and RPCBIND versions 3 and 4 (RFC 1833), for clients that ask where the other
 * programs are.  It tells of this server's own programs, and takes no registrations: SET and UNSET
 * are answered with false, calls on behalf of clients are not done.
 */
#include "server/serve_parts.h"
#include "wire/portmap_structs.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { UNIVERSAL_MAX = INET6_ADDRSTRLEN + 8, V2 = 2 };

static const struct registered {
    uint32_t program, version;
    enum { AT_NFS, AT_MOUNT, AT_PORTMAP } at;
} registered[] = {
    { NFS3_PROGRAM, 3, AT_NFS },        { NFSACL_PROGRAM, 3, AT_NFS },
    { MOUNT_PROGRAM, 1, AT_MOUNT },     { MOUNT_PROGRAM, 2, AT_MOUNT },
    { MOUNT_PROGRAM, 3, AT_MOUNT },     { PORTMAP_PROGRAM, 2, AT_PORTMAP },
    { PORTMAP_PROGRAM, 3, AT_PORTMAP }, { PORTMAP_PROGRAM, 4, AT_PORTMAP },
};
enum { REGISTERED = sizeof(registered) / sizeof(registered[0]) };

static const struct {
    const char *name;
    sa_family_t family;
    uint8_t protocol;
} netids[] = {
    { "tcp", AF_INET, IPPROTO_TCP },
    { "udp", AF_INET, IPPROTO_UDP },
    { "tcp6", AF_INET6, IPPROTO_TCP },
    { "udp6", AF_INET6, IPPROTO_UDP },
};
enum { NETIDS = sizeof(netids) / sizeof(netids[0]) };

static uint16_t port_of(const struct server *server, const struct registered *r)
{
    return r->at == AT_NFS     ? server->nfs_port
           : r->at == AT_MOUNT ? server->mount_port
                               : server->portmap_port;
}

/* The newest version of a program when the one that is asked for is not there: RFC 1833 s2.2.1
 * leaves it to the call to tell of the mismatch. */
static const struct registered *find(uint32_t program, uint32_t version)
{
    const struct registered *found = NULL;

    for (unsigned i = 0; i < REGISTERED; i++) {
        if (registered[i].program != program)
            continue;
        found = &registered[i];
        if (found->version == version)
            break;
    }
    return found;
}

static enum rpc_status put(const struct bound *bound, struct xdr_put *to, const void *from)
{
    return bind_write(bound, to, from) < 0 ? RPC_SYSTEM_ERR : RPC_SUCCESS;
}

/* --- version 2 */

static enum rpc_status get_port(struct request *q, struct xdr_put *to)
{
    struct portmap_mapping asked;
    struct portmap_port answer = { 0 };
    const struct registered *found;

    if (bind_read(portmap2_binding(3)->arguments, q->call->body, &asked) != WALK_OK)
        return RPC_GARBAGE_ARGS;
    found = find(asked.prog, asked.vers);
    if (found && (asked.prot == IPPROTO_TCP || asked.prot == IPPROTO_UDP))
        answer.port = port_of(q->server, found);
    return put(portmap2_binding(3)->result, to, &answer);
}

static enum rpc_status dump_ports(struct request *q, struct xdr_put *to)
{
    struct portmap_mapping mappings[2 * REGISTERED];
    struct pmaplist list = { .list = { mappings, 2 * REGISTERED, 0 } };

    for (unsigned i = 0; i < 2 * REGISTERED; i++) {
        const struct registered *r = &registered[i / 2];

        mappings[i] =
            (struct portmap_mapping){ r->program, r->version, i % 2 ? IPPROTO_UDP : IPPROTO_TCP,
                                      port_of(q->server, r) };
    }
    return put(portmap2_binding(4)->result, to, &list);
}

/* --- versions 3 and 4 */

/* RFC 5665 s5.2.3.3, s5.2.3.4: the address that was asked, and the port's two bytes. */
static struct bytes universal(const struct net_address *local, unsigned port,
                              char text[UNIVERSAL_MAX])
{
    char host[INET6_ADDRSTRLEN] = "";
    int len;

    if (local->family == AF_INET6)
        inet_ntop(AF_INET6, &local->v6.sin6_addr, host, sizeof(host));
    else
        inet_ntop(AF_INET, &local->v4.sin_addr, host, sizeof(host));
    len = snprintf(text, UNIVERSAL_MAX, "%s.%u.%u", host, port >> 8, port & 255);
    return (struct bytes){ (const uint8_t *)text, (uint32_t)len };
}

static struct bytes text_of(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

/* An empty netid is the transport that the question came over. */
static bool is_served(const struct request *q, struct bytes netid)
{
    if (!netid.len)
        return true;
    for (unsigned i = 0; i < NETIDS; i++)
        if (netids[i].family == q->call->ends.local.family && netid.len == strlen(netids[i].name) &&
            memcmp(netid.data, netids[i].name, netid.len) == 0)
            return true;
    return false;
}

/* GETADDR, and version 4's GETVERSADDR, which wants the version and no other. */
static enum rpc_status get_address(struct request *q, struct xdr_put *to, bool exactly)
{
    char text[UNIVERSAL_MAX];
    struct rpcb asked;
    struct rpcb_address answer = { { NULL, 0 } };
    const struct registered *found;

    if (bind_read(rpcbind3_binding(3)->arguments, q->call->body, &asked) != WALK_OK)
        return RPC_GARBAGE_ARGS;
    found = find(asked.r_prog, asked.r_vers);
    if (found && exactly && found->version != asked.r_vers)
        found = NULL;
    if (found && is_served(q, asked.r_netid))
        answer.uaddr = universal(&q->call->ends.local, port_of(q->server, found), text);
    return put(rpcbind3_binding(3)->result, to, &answer);
}

static enum rpc_status dump_addresses(struct request *q, struct xdr_put *to)
{
    struct rpcb entries[REGISTERED * NETIDS];
    char texts[REGISTERED * NETIDS][UNIVERSAL_MAX];
    struct rpcblist list = { .list = { entries, 0, 0 } };

    for (unsigned i = 0; i < REGISTERED * NETIDS; i++) {
        const struct registered *r = &registered[i / NETIDS];
        uint32_t at = list.list.count;

        if (netids[i % NETIDS].family != q->call->ends.local.family)
            continue;
        entries[at] =
            (struct rpcb){ r->program, r->version, text_of(netids[i % NETIDS].name),
                           universal(&q->call->ends.local, port_of(q->server, r), texts[at]),
                           text_of("ftnfsd") };
        list.list.count++;
    }
    return put(rpcbind3_binding(4)->result, to, &list);
}

/* --- */

static enum rpc_status refuse(struct request *q, struct xdr_put *to, const struct bound *arguments)
{
    struct portmap_answer no = { false };
    union {
        struct portmap_mapping mapping;
        struct rpcb rpcb;
    } asked;

    if (bind_read(arguments, q->call->body, &asked) != WALK_OK)
        return RPC_GARBAGE_ARGS;
    return put(portmap2_binding(1)->result, to, &no);
}

enum rpc_status serve_portmap(struct request *q, struct xdr_put *to, struct outcome *outcome)
{
    const struct rpc_header *h = &q->call->header;
    bool old = h->version == V2;

    (void)outcome;
    switch (h->procedure) {
    case 1: /* SET */
    case 2: /* UNSET */
        return refuse(q, to,
                      old ? portmap2_binding(h->procedure)->arguments
                          : rpcbind3_binding(h->procedure)->arguments);
    case 3: /* GETPORT, GETADDR */
        return old ? get_port(q, to) : get_address(q, to, false);
    case 4: /* DUMP */
        return old ? dump_ports(q, to) : dump_addresses(q, to);
    case 9: /* GETVERSADDR */
        return h->version == 4 ? get_address(q, to, true) : RPC_PROC_UNAVAIL;
    default:
        return RPC_PROC_UNAVAIL;
    }
}
