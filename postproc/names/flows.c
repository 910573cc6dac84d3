/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "names/flows.h"
#include "base/digest.h"
#include "base/grow.h"

#include <netinet/in.h>
#include <stdlib.h>

int flows_init(struct flows *f, struct err *err)
{
    if (GROW(f->all, 0, f->cap) < 0)
        return err_memory(err, "connections");
    memset(&f->all[0], 0, sizeof(f->all[0]));
    return 0;
}

void flows_free(struct flows *f)
{
    free(f->all);
    table_free(&f->by_ends);
    *f = (struct flows){ 0 };
}

static uint64_t hash_ends(const struct record_flow *r)
{
    uint64_t hash = XXH3_64bits_withSeed(r->client.bytes, address_len(&r->client), r->client_port);

    hash = XXH3_64bits_withSeed(r->server.bytes, address_len(&r->server), hash ^ r->server_port);
    return hash ^ r->transport;
}

static bool same_ends(const struct record_flow *a, const struct record_flow *b)
{
    return a->transport == b->transport && a->client_port == b->client_port &&
           a->server_port == b->server_port && address_equal(&a->client, &b->client) &&
           address_equal(&a->server, &b->server);
}

uint32_t flows_add(struct flows *f, const struct record_flow *like, struct err *err)
{
    uint32_t id = f->count + 1;

    if (GROW(f->all, id, f->cap) < 0 || table_add(&f->by_ends, hash_ends(like), id) < 0) {
        err_memory(err, "connections");
        return 0;
    }
    f->all[id] = *like;
    f->all[id].id = id;
    f->count = id;
    return id;
}

void flows_key(const struct record_flow *r, struct outline_key *key)
{
    int order = memcmp(r->client.bytes, r->server.bytes, address_len(&r->client));
    int client = order < 0 || (order == 0 && r->client_port < r->server_port) ? 0 : 1;

    *key = (struct outline_key){ .transport = r->transport, .version = r->client.version };
    memcpy(key->address[client], r->client.bytes, address_len(&r->client));
    memcpy(key->address[!client], r->server.bytes, address_len(&r->server));
    key->port[client] = r->client_port;
    key->port[!client] = r->server_port;
}

/* The connection that |r| is, or 0. */
static uint32_t find(const struct flows *f, const struct record_flow *r)
{
    bool began = r->transport == IPPROTO_TCP && r->frame;
    uint64_t hash = hash_ends(r);
    bool was_there = false; /* |found| was there before |r| was seen */
    uint32_t at, id, found = 0;

    for (id = table_first(&f->by_ends, hash, &at); id != TABLE_NONE;
         id = table_next(&f->by_ends, hash, &at)) {
        const struct record_flow *x = &f->all[id];
        bool is_there = r->time == TIME_NONE || x->time <= r->time;

        if (!same_ends(x, r) || (began && x->frame != r->frame))
            continue;
        /* of several, the latest that was there already, else the first; they come in any order */
        if (!found || is_there > was_there || (is_there == was_there && (id > found) == is_there)) {
            found = id;
            was_there = is_there;
        }
    }
    return found;
}

void piece_flows_free(struct piece_flows *p)
{
    free(p->all);
    *p = (struct piece_flows){ 0 };
}

static int decide(struct piece_flows *p, struct piece_flow *x, bool add, struct err *err)
{
    if (!x->id)
        x->id = find(p->flows, &x->record);
    if (!x->id && add && !(x->id = flows_add(p->flows, &x->record, err)))
        return -ERR_SYSTEM;
    return 0;
}

int piece_flows_take(struct piece_flows *p, const struct record_flow *flow, bool at_once,
                     struct err *err)
{
    uint32_t id = p->count + 1;

    if (flow->id != id)
        return err_set(err, ERR_INPUT, "connections are not numbered in a row");
    if (GROW(p->all, id, p->cap) < 0)
        return err_memory(err, "connections");
    p->all[id] = (struct piece_flow){ .record = *flow };
    p->count = id;
    return decide(p, &p->all[id], at_once, err);
}

int piece_flows_id(struct piece_flows *p, uint32_t of_piece, uint32_t *id, struct err *err)
{
    *id = 0;
    if (!of_piece)
        return 0;
    if (of_piece > p->count)
        return err_set(err, ERR_INPUT, "a record refers to a connection that is not there");
    if (decide(p, &p->all[of_piece], true, err) < 0)
        return -ERR_SYSTEM;
    *id = p->all[of_piece].id;
    return 0;
}
