/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/portmap_answers.h"
#include "wire/field.h"
#include "wire/nfs3_numbers.h"
#include "wire/portmap_structs.h"

#include <netinet/in.h>
#include <stdlib.h>

enum {
    GETPORT = 3,
    DUMP = 4,
    MESSAGE_MAX = 4096, /* bytes; calls have some 60 */
    MAPPINGS_MAX = 16,
};

static const struct {
    uint32_t program, version;
    enum portmap_service service;
} relayed[] = {
    { NFS3_PROGRAM, 3, PORTMAP_NFS },    { NFSACL_PROGRAM, 3, PORTMAP_NFS },
    { MOUNT_PROGRAM, 1, PORTMAP_MOUNT }, { MOUNT_PROGRAM, 2, PORTMAP_MOUNT },
    { MOUNT_PROGRAM, 3, PORTMAP_MOUNT }, { NLM_PROGRAM, NLM4_VERSION, PORTMAP_NLM },
    { NSM_PROGRAM, 1, PORTMAP_NSM },
};
enum { RELAYED = sizeof(relayed) / sizeof(relayed[0]) };
_Static_assert(2 * RELAYED <= MAPPINGS_MAX, "all of them can be listed");

struct portmap_answers {
    struct rpc_server *rpc;
    struct portmap_mapping mappings[MAPPINGS_MAX];
    uint32_t count;
};

static void add(struct portmap_answers *a, unsigned which, uint32_t protocol, uint16_t port)
{
    if (port)
        a->mappings[a->count++] =
            (struct portmap_mapping){ relayed[which].program, relayed[which].version, protocol,
                                      port };
}

/* The newest version of the program if it does not have that one: RFC 1833 s3.2. */
static uint32_t find(const struct portmap_answers *a, const struct portmap_mapping *asked)
{
    uint32_t port = 0;

    for (uint32_t i = 0; i < a->count; i++) {
        const struct portmap_mapping *m = &a->mappings[i];

        if (m->prog != asked->prog || m->prot != asked->prot)
            continue;
        port = m->port;
        if (m->vers == asked->vers)
            break;
    }
    return port;
}

static int answer(struct rpc_call *call, uint32_t procedure, const void *from, struct err *err)
{
    struct xdr_put *to = rpc_reply_begin(call);

    if (bind_write(portmap2_binding(procedure)->result, to, from) < 0)
        return rpc_reply_status(call, RPC_SYSTEM_ERR, NULL, err);
    return rpc_reply_end(call, NULL, err);
}

static int on_call(void *ctx, struct rpc_call *call, struct err *err)
{
    struct portmap_answers *a = ctx;
    struct portmap_mapping asked;
    struct portmap_port port;
    struct pmaplist list = { .list = { a->mappings, a->count, 0 } };

    if (call->header.procedure == DUMP)
        return answer(call, DUMP, &list, err);
    if (call->header.procedure != GETPORT)
        return rpc_reply_status(call, RPC_PROC_UNAVAIL, NULL, err);
    if (bind_read(portmap2_binding(GETPORT)->arguments, call->body, &asked) != WALK_OK)
        return rpc_reply_status(call, RPC_GARBAGE_ARGS, NULL, err);
    port.port = find(a, &asked);
    return answer(call, GETPORT, &port, err);
}

struct portmap_answers *portmap_answers_new(struct loop *loop, const struct net_address *address,
                                            const struct portmap_told *told, struct err *err)
{
    struct rpc_server_limits limits = RPC_SERVER_LIMITS;
    struct portmap_answers *a = calloc(1, sizeof(*a));
    const struct rpc_program program = { PORTMAP_PROGRAM, 2, 2, DUMP + 1, on_call, a };

    if (!a) {
        err_memory(err, "PORTMAP");
        return NULL;
    }
    wire_init();
    for (unsigned i = 0; i < RELAYED; i++) {
        if (told->no_acl && relayed[i].program == NFSACL_PROGRAM)
            continue;
        add(a, i, IPPROTO_TCP, told->tcp[relayed[i].service]);
        add(a, i, IPPROTO_UDP, told->udp[relayed[i].service]);
    }
    limits.record_max = limits.reply_max = limits.datagram.size_max = MESSAGE_MAX;
    limits.listen.connections = limits.listen.of_address = 64;
    if (portmap_structs_init(err) == 0)
        a->rpc = rpc_server_new(loop, &limits, NULL, err);
    if (a->rpc && rpc_server_add(a->rpc, &program, err) == 0 &&
        rpc_server_listen_both(a->rpc, address, NULL, err) == 0)
        return a;
    portmap_answers_free(a);
    return NULL;
}

void portmap_answers_free(struct portmap_answers *a)
{
    if (!a)
        return;
    rpc_server_free(a->rpc);
    free(a);
}
