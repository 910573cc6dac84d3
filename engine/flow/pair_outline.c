/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_outline.c
 *
 * The part of an outline (outline.h) that tells of calls and replies.  For engine.c.  The contract
 * is in pair.h.
 */
#include "base/grow.h"
#include "flow/canon.h"
#include "flow/conn_parts.h"
#include "flow/outline.h"
#include "flow/pair_parts.h"

#include <netinet/in.h>

struct outlining {
    const struct pair *p;
    const struct conns *conns;
    struct table by_id; /* slots of TCP connections, by the ids of their records */
    struct canon *canon;
    struct outline *out;
};

static uint64_t id_hash(uint32_t id)
{
    return id * UINT64_C(0x9e3779b97f4a7c15);
}

static int index_flows(struct outlining *o)
{
    const struct conns *c = o->conns;

    for (uint32_t slot = c->oldest; slot != TABLE_NONE; slot = c->conns[slot]->newer) {
        const struct flow *f = &c->conns[slot]->flow;

        if (f->id && f->transport == IPPROTO_TCP && table_add(&o->by_id, id_hash(f->id), slot) < 0)
            return -ERR_SYSTEM;
    }
    return 0;
}

/* The ends of the connection that has this record id now.  Zeros: it has none any more, or is over
 * UDP. */
static struct outline_key flow_key(const struct outlining *o, uint32_t id)
{
    struct outline_key key = { 0 };
    uint32_t at, slot;

    for (slot = table_first(&o->by_id, id_hash(id), &at); slot != TABLE_NONE;
         slot = table_next(&o->by_id, id_hash(id), &at))
        if (o->conns->conns[slot]->flow.id == id)
            memcpy(&key, &o->conns->conns[slot]->key, sizeof(key));
    return key;
}

/* How many known calls have the same XID: a further one would be compared with all of them. */
static uint32_t namesakes(const struct pair *p, const struct call *x)
{
    const struct call_key key = { x->hash, x->server, x->client, x->xid };
    const struct call_key client = call_key(x->ports, x->client, x->xid);
    uint32_t at, count = 0;

    for (uint32_t id = calls_first(&p->calls, &key, &at); id != CALL_NONE;
         id = calls_next(&p->calls, &key, &at))
        count++;
    if (!x->ports)
        return count;
    for (uint32_t id = calls_of_client(&p->calls, &client, &at); id != CALL_NONE;
         id = calls_of_client_next(&p->calls, &client, &at))
        count += 1000;
    return count;
}

static void add_call(struct outlining *o, const struct call *x)
{
    struct canon *c = o->canon;
    const struct flow_end *end = &o->p->ends[x->last_flow % PAIR_ENDS];
    bool over = end->flow == x->last_flow && x->last_flow;
    const struct outline_key first = flow_key(o, x->flow), last = flow_key(o, x->last_flow);

    canon_raw(c, &o->p->objects->hosts[x->server], sizeof(struct address));
    canon_raw(c, &o->p->objects->hosts[x->client], sizeof(struct address));
    canon_value(c, first);
    canon_value(c, last);
    canon_value(c, over);
    canon_number(c, over && x->frame + x->reply_after < end->acked);
    canon_value(c, x->digest);
    canon_value(c, x->reply_digest);
    canon_frame(c, x->frame);
    canon_clock(c, x->seen);
    canon_value(c, x->xid);
    canon_value(c, x->program);
    canon_value(c, x->version);
    canon_value(c, x->procedure);
    canon_value(c, x->cap_len);
    canon_value(c, x->wire_len);
    canon_value(c, x->sent);
    canon_value(c, x->answered);
    canon_value(c, x->ports);
    canon_value(c, x->reply_after);
    canon_value(c, x->again_after);
    canon_value(c, x->partial);
    canon_value(c, x->in_clear);
    canon_value(c, x->refused);
    canon_value(c, x->owed);
    canon_number(c, namesakes(o->p, x));
}

/* What the record of the operation will say of its call. */
static void add_waiting(struct outlining *o, const struct waiting *w)
{
    struct canon *c = o->canon;
    const struct record_operation *op = &w->operation;

    canon_frame(c, op->call.frame);
    canon_frame(c, op->call.first_frame);
    canon_value(c, op->call.time);
    canon_value(c, op->call.wire_len);
    canon_value(c, op->call.flags);
    canon_bytes(c, w->body, op->arguments.len);
    canon_bytes(c, op->block_digests.data, op->block_digests.len);
    canon_value(c, op->arguments_wire);
    canon_value(c, op->data_digest);
    canon_value(c, w->credential.flavor);
    canon_value(c, w->credential.gss_procedure);
    canon_value(c, w->credential.gss_service);
    canon_value(c, w->port_program);
}

static int use_xid(struct outlining *o, const struct call *x)
{
    const struct address *hosts = o->p->objects->hosts;

    return xids_add(&o->out->used, &hosts[x->client], x->ports ? NULL : &hosts[x->server], x->xid);
}

static int outline_done(struct outlining *o)
{
    const struct calls *calls = &o->p->calls;
    int rc = 0;

    for (uint32_t id = calls->done.oldest; rc == 0 && id != CALL_NONE; id = calls->pool[id].newer) {
        const struct call *x = &calls->pool[id];
        uint64_t back = o->canon->frame - x->frame;

        rc = use_xid(o, x);
        if (back >= OUTLINE_CHUNKS * OUTLINE_CHUNK ||
            canon_from(o->canon, x->frame) <= o->out->from)
            continue;
        add_call(o, x);
        o->out->done[back / OUTLINE_CHUNK] += canon_digest(o->canon);
    }
    return rc;
}

static int outline_waiting(struct outlining *o)
{
    const struct calls *calls = &o->p->calls;
    struct outline *out = o->out;

    for (uint32_t id = calls->waiting.oldest; id != CALL_NONE; id = calls->pool[id].newer) {
        const struct call *x = &calls->pool[id];
        struct outline_call *call;

        if (use_xid(o, x) < 0 || GROW(out->calls, out->call_count, out->call_cap) < 0)
            return -ERR_SYSTEM;
        call = &out->calls[out->call_count++];
        memset(call, 0, sizeof(*call));
        call->client = o->p->objects->hosts[x->client];
        call->server = o->p->objects->hosts[x->server];
        call->udp = x->ports != 0;
        call->over = pair_is_over(o->p, x->last_flow);
        call->xid = x->xid;
        call->bytes = x->waiting->size;
        call->flow = flow_key(o, x->last_flow);
        call->frame = canon_from(o->canon, x->frame);
        call->seen = x->seen - o->canon->clock;
        call->operation = x->operation;
        add_call(o, x);
        add_waiting(o, x->waiting);
        call->digest = canon_digest(o->canon);
        out->call_bytes += call->bytes;
    }
    return 0;
}

int pair_outline(const struct pair *p, const struct conns *conns, struct canon *canon,
                 struct outline *out)
{
    struct outlining o = { .p = p, .conns = conns, .canon = canon, .out = out };
    int bad = index_flows(&o);

    if (!bad)
        bad = outline_done(&o);
    if (!bad)
        bad = outline_waiting(&o);
    table_free(&o.by_id);
    if (bad)
        return bad;
    for (const struct held *h = p->held; h; h = h->next) {
        const struct address *hosts = p->objects->hosts;
        bool udp = h->flow.transport == IPPROTO_UDP;
        uint8_t server = h->message.side;
        const struct call_key key = message_key(&h->flow, server, load_be32(h->data));
        uint32_t at;

        /* what becomes of it, only this engine knows */
        out->held |= udp || calls_first(&p->calls, &key, &at) != CALL_NONE ||
                     p->held_keys[key.hash % HELD_KEYS] > 1;

        if (xids_add(&out->used, &hosts[h->flow.host[!server]],
                     udp ? NULL : &hosts[h->flow.host[server]], load_be32(h->data)) < 0)
            return -ERR_SYSTEM;
    }
    return canon->failed ? -ERR_SYSTEM : 0;
}

void pair_forget(struct pair *p, uint64_t frame)
{
    uint32_t id = p->calls.done.oldest;

    while (id != CALL_NONE) {
        uint32_t next = p->calls.pool[id].newer;

        if (p->calls.pool[id].frame <= frame)
            calls_remove(&p->calls, id);
        id = next;
    }
    while (p->held)
        pair_held_drop(p);
}
