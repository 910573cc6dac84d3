/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/find_server.h"
#include "net/portmap_client.h"
#include "wire/nfs3_numbers.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE INT64_C(10000000000) /* ns */

/* One question to PORTMAP. */
struct question {
    struct loop *loop;
    uint16_t port;              /* 0: no answer, or not registered */
    struct server_place *locks; /* of DUMP: what is to be found; its |nfs| has the family */
    char problem[200];
};

bool server_is_nfs_address(const char *text)
{
    return strncmp(text, "nfs://", 6) == 0;
}

static int on_port(void *ctx, const struct portmap_reply *answer, struct err *err)
{
    struct question *q = ctx;

    (void)err;
    if (!answer->problem)
        q->port = net_address_port(&answer->address);
    else if (!*q->problem)
        snprintf(q->problem, sizeof(q->problem), "%s", answer->problem);
    loop_stop(q->loop);
    return 0;
}

/* Versions 3 and 4 list both families: "tcp" and "tcp6". */
static void take_entry(struct server_place *place, const struct portmap_entry *e)
{
    bool six = e->netid.len == 4 && e->netid.data[3] == '6';
    struct lock_ports *ports = e->program == NLM_PROGRAM && e->version == NLM4_VERSION ? &place->nlm
                               : e->program == NSM_PROGRAM                             ? &place->nsm
                                                                                       : NULL;

    if (!ports || e->netid.len < 3 || six != (place->nfs.family == AF_INET6))
        return;
    if (memcmp(e->netid.data, "tcp", 3) == 0)
        ports->tcp = net_address_port(&e->address);
    else if (memcmp(e->netid.data, "udp", 3) == 0)
        ports->udp = net_address_port(&e->address);
}

static int on_list(void *ctx, const struct portmap_reply *answer, struct err *err)
{
    struct question *q = ctx;

    (void)err;
    for (uint32_t i = 0; i < answer->entry_count; i++)
        take_entry(q->locks, &answer->entries[i]);
    if (answer->problem && !*q->problem)
        snprintf(q->problem, sizeof(q->problem), "%s", answer->problem);
    loop_stop(q->loop);
    return 0;
}

/* What is wrong with the connection says more than that there was no answer. */
static int on_event(void *ctx, enum rpc_client_event event, const char *text, struct err *err)
{
    struct question *q = ctx;

    (void)err;
    if (event == RPC_CLIENT_FAILED || event == RPC_CLIENT_NONSENSE)
        snprintf(q->problem, sizeof(q->problem), "%s", text);
    return 0;
}

/* The answer is in |q|, or its problem.  |program| 0: all. */
static int ask(struct question *q, const struct net_address *server, uint32_t program,
               struct err *err)
{
    const struct portmap_question question = { .version = server->family == AF_INET6 ? 4 : 2,
                                               .what = program ? PORTMAP_GET : PORTMAP_DUMP,
                                               .program = program,
                                               .program_version = 3,
                                               .address = *server };
    struct rpc_client_setup setup = { .server = *server, .limits = rpc_client_defaults };
    struct rpc_client_host host = { .event = on_event, .ctx = q };
    struct rpc_client *client;
    int result;

    net_address_set_port(&setup.server, PORTMAP_PORT);
    setup.limits.attempts = 1;
    setup.limits.timeout = PATIENCE;
    client = rpc_client_new(q->loop, &setup, &host, err);
    if (!client)
        return -err->code;
    result = portmap_call(client, &question, program ? on_port : on_list, q, err);
    if (result == 0)
        result = loop_run(q->loop, err);
    rpc_client_free(client);
    return result;
}

static int ask_alone(struct question *q, const struct net_address *server, uint32_t program,
                     struct err *err)
{
    int result;

    q->loop = loop_new(err);
    result = q->loop ? loop_take_signals(q->loop, err) : -err->code;
    if (result == 0)
        result = ask(q, server, program, err);
    if (result == 0 && loop_signal(q->loop))
        result = err_set(err, ERR_SYSTEM, "ended by a signal while PORTMAP was asked");
    loop_free(q->loop);
    return result;
}

/* Sets the port of |program| in |at|.  A server need not have NFSACL: its port is 0 then. */
static int find_port(uint32_t program, const char *name, struct net_address *at, struct err *err)
{
    struct question q = { .port = 0 };

    if (ask_alone(&q, at, program, err) < 0)
        return -err->code;
    net_address_set_port(at, q.port);
    if (q.port || program == NFSACL_PROGRAM)
        return 0;
    return err_set(err, ERR_SYSTEM, "the port of %s: %s", name,
                   *q.problem ? q.problem : "PORTMAP answers with port 0");
}

static int find_ports(const struct nfs_address *address, struct server_place *place,
                      struct err *err)
{
    struct net_address acl = place->nfs;

    place->mount = place->nfs;
    net_address_set_port(&place->nfs, address->nfs_port);
    net_address_set_port(&place->mount, address->mount_port);
    if (!address->mount_port && find_port(MOUNT_PROGRAM, "MOUNT", &place->mount, err) < 0)
        return -err->code;
    if (address->nfs_port)
        return 0;
    if (find_port(NFS3_PROGRAM, "NFS", &place->nfs, err) < 0 ||
        find_port(NFSACL_PROGRAM, "NFSACL", &acl, err) < 0)
        return -err->code;
    place->no_acl = net_address_port(&acl) != net_address_port(&place->nfs);
    return 0;
}

static int find_locks(struct server_place *place, struct err *err)
{
    struct question q = { .locks = place };

    if (ask_alone(&q, &place->nfs, 0, err) < 0)
        return -err->code;
    snprintf(place->no_locks, sizeof(place->no_locks), "%s", q.problem);
    return 0;
}

int server_find(const char *text, bool with_locks, struct server_place *place, struct err *err)
{
    struct nfs_address address;
    struct net_address_name name = { .port = 0 };
    int result;

    *place = (struct server_place){ .mount = { .family = AF_UNSPEC } };
    if (!server_is_nfs_address(text)) {
        result = net_address_parse(text, false, &place->nfs, err);
    } else {
        if (nfs_address_parse(text, &address, err) < 0)
            return -err->code; /* it names the text */
        snprintf(name.host, sizeof(name.host), "%s", address.host);
        result = net_address_resolve(&name, false, &place->nfs, 1, err);
        if (result >= 0)
            result = find_ports(&address, place, err);
        if (result >= 0 && with_locks)
            result = find_locks(place, err);
    }
    return result < 0 ? err_prefix(err, "%s", text) : 0;
}
