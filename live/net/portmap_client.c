/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/net/portmap_client.c
 *
 * PORTMAP and RPCBIND as one question and one answer.  The versions say the same in two ways, as
 * port numbers and as universal addresses; the structs are those of wire/portmap_structs.h.
 */
#include "net/portmap_client.h"
#include "net/bound_call.h"
#include "net/rpc_client_parts.h"
#include "net/universal_address.h"
#include "wire/nfs3_numbers.h"
#include "wire/portmap_structs.h"

#include <stdio.h>
#include <stdlib.h>

/* Of an element of DUMP's lists, with the boolean before it: the least that it can have. */
enum { MAPPING_BYTES = 20, RPCB_BYTES = 24 };

struct portmap {
    struct bound_call call;
    portmap_done *done;
    void *ctx;
};

static const struct wire_binding *binding(uint32_t version, uint32_t procedure)
{
    return version == 2   ? portmap2_binding(procedure)
           : version == 3 ? rpcbind3_binding(procedure)
                          : rpcbind4_binding(procedure);
}

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, s ? (uint32_t)strlen(s) : 0 };
}

static struct net_address port_alone(uint32_t port)
{
    struct net_address address = { .v4 = { .sin_family = AF_INET } };

    if (port > UINT16_MAX)
        return (struct net_address){ .family = AF_UNSPEC };
    net_address_set_port(&address, (uint16_t)port);
    return address;
}

/* --- answers */

static void read_get(const struct portmap *m, const struct wire_binding *b, struct bytes body,
                     struct portmap_reply *answer)
{
    struct portmap_port port = { 0 };
    struct rpcb_address address = { 0 };

    if (m->call.version == 2) {
        bind_read(b->result, body, &port);
        answer->address = port_alone(port.port);
        if (!port.port)
            answer->problem = "PORTMAP: the program is not registered";
        else if (answer->address.family == AF_UNSPEC)
            answer->problem = "PORTMAP: a port above 65535";
        return;
    }
    bind_read(b->result, body, &address);
    if (!address.uaddr.len)
        answer->problem = "RPCBIND: the program is not registered";
    else if (!universal_address_read(address.uaddr, &answer->address))
        answer->problem = "RPCBIND: the answer is not an address of IPv4 or IPv6";
}

static struct portmap_entry entry2(const struct portmap_mapping *from)
{
    return (struct portmap_entry){
        .program = from->prog,
        .version = from->vers,
        .netid = from->prot == IPPROTO_TCP   ? text("tcp")
                 : from->prot == IPPROTO_UDP ? text("udp")
                                             : (struct bytes){ 0 },
        .address = port_alone(from->port),
    };
}

static struct portmap_entry entry4(const struct rpcb *from)
{
    struct portmap_entry entry = { .program = from->r_prog,
                                   .version = from->r_vers,
                                   .netid = from->r_netid,
                                   .owner = from->r_owner };

    if (!universal_address_read(from->r_addr, &entry.address))
        entry.address = (struct net_address){ .family = AF_UNSPEC };
    return entry;
}

static int tell_list(const struct portmap *m, const struct wire_binding *b, struct bytes body,
                     struct portmap_reply *answer, struct err *err)
{
    bool v2 = m->call.version == 2;
    uint32_t most = body.len / (v2 ? MAPPING_BYTES : RPCB_BYTES) + 1;
    void *elements = calloc(most, v2 ? sizeof(struct portmap_mapping) : sizeof(struct rpcb));
    struct portmap_entry *entries = calloc(most, sizeof(*entries));
    struct pmaplist list2 = { { elements, 0, most } };
    struct rpcblist list4 = { { elements, 0, most } };
    int result = -ERR_SYSTEM;

    if (!elements || !entries) {
        err_memory(err, "a server's registrations");
    } else {
        bind_read(b->result, body, v2 ? (void *)&list2 : (void *)&list4);
        answer->entry_count = v2 ? list2.list.count : list4.list.count;
        for (uint32_t i = 0; i < answer->entry_count; i++)
            entries[i] = v2 ? entry2((struct portmap_mapping *)elements + i)
                            : entry4((struct rpcb *)elements + i);
        answer->entries = entries;
        result = m->done(m->ctx, answer, err);
    }
    free(elements);
    free(entries);
    return result;
}

static int on_answer(struct bound_call *call, const struct bound_answer *bound, struct err *err)
{
    struct portmap *m = (struct portmap *)(void *)call; /* its first member */
    const struct wire_binding *b = binding(call->version, call->procedure);
    struct portmap_reply answer = { .problem = bound->problem };
    struct portmap_answer done = { 0 };
    int result;

    if (!bound->problem && call->procedure == PORTMAP_DUMP) {
        result = tell_list(m, b, bound->body, &answer, err);
        free(m);
        return result;
    }
    if (!bound->problem && call->procedure == PORTMAP_GET) {
        read_get(m, b, bound->body, &answer);
    } else if (!bound->problem) {
        bind_read(b->result, bound->body, &done);
        if (!done.answer)
            answer.problem = call->procedure == PORTMAP_SET
                                 ? "PORTMAP SET: refused: the program is registered already, or "
                                   "we may not register it"
                                 : "PORTMAP UNSET: refused: the program is not registered, or we "
                                   "may not change that";
    }
    result = m->done(m->ctx, &answer, err);
    free(m);
    return result;
}

/* --- questions */

static int ask2(struct rpc_client *client, struct portmap *m, const struct portmap_question *q,
                struct err *err)
{
    struct portmap_mapping mapping = { q->program, q->program_version,
                                       q->udp ? IPPROTO_UDP : IPPROTO_TCP,
                                       q->what == PORTMAP_SET ? net_address_port(&q->address) : 0 };

    return bound_call(client, &m->call, binding(2, q->what),
                      q->what == PORTMAP_DUMP ? NULL : &mapping, err);
}

static int ask4(struct rpc_client *client, struct portmap *m, const struct portmap_question *q,
                struct err *err)
{
    char address[UNIVERSAL_ADDRESS_MAX];
    struct rpcb rpcb = { .r_prog = q->program,
                         .r_vers = q->program_version,
                         .r_netid = text(universal_address_netid(q->address.family, q->udp)),
                         .r_addr = text(universal_address_text(&q->address, address)),
                         .r_owner = text(q->owner) };

    return bound_call(client, &m->call, binding(q->version, q->what),
                      q->what == PORTMAP_DUMP ? NULL : &rpcb, err);
}

int portmap_call(struct rpc_client *client, const struct portmap_question *question,
                 portmap_done *done, void *ctx, struct err *err)
{
    struct portmap *m;
    int result;

    wire_init();
    if (portmap_structs_init(err) < 0)
        return -ERR_SYSTEM;
    if (question->version < 2 || question->version > 4 || question->what < PORTMAP_SET ||
        question->what > PORTMAP_DUMP)
        return err_set(err, ERR_USAGE, "PORTMAP and RPCBIND have no procedure %d in version %u",
                       (int)question->what, question->version);
    if (question->version > 2 && question->what == PORTMAP_GET &&
        question->udp != client->setup.udp)
        return err_set(err, ERR_USAGE, "RPCBIND says over %s only what there is over %s",
                       client->setup.udp ? "UDP" : "TCP", client->setup.udp ? "UDP" : "TCP");
    m = calloc(1, sizeof(*m));
    if (!m)
        return err_memory(err, "a call");
    *m = (struct portmap){ .call = { .done = on_answer,
                                     .program = PORTMAP_PROGRAM,
                                     .version = question->version,
                                     .procedure = question->what,
                                     .credential = question->credential },
                           .done = done,
                           .ctx = ctx };
    result =
        question->version == 2 ? ask2(client, m, question, err) : ask4(client, m, question, err);
    if (result)
        free(m);
    return result;
}
