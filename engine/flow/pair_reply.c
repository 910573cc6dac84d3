/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/pair_parts.h"
#include "base/digest.h"
#include "flow/tag.h"

#include <stdlib.h>

struct listing { /* context of the entries of a result */
    struct pair *p;
    struct waiting *waiting;
    uint32_t server;
};

static int listing_entry(void *ctx, struct bytes name, struct bytes handle,
                         struct scan_attributes about, struct err *err)
{
    struct listing *l = ctx;
    uint32_t parent = (uint32_t)l->waiting->operation.object;

    if (l->p->messages_only)
        return 0;
    return tag_entry(l->p->objects, parent, l->server, &l->waiting->operation, name, handle, about,
                     err);
}

static void listing_port(void *ctx, uint32_t program, uint16_t port)
{
    struct listing *l = ctx;

    if (program_name(program))
        l->p->learn_port(l->p->learn_port_ctx, port);
}

/* What makes a reply the same as another: its bytes up to file contents, and those by their digest,
 * which is made in any case. */
static uint64_t reply_digest(const struct message *m, const struct rpc_header *h,
                             const struct scan *scan, const struct record_operation *op)
{
    if (!scan->has_data)
        return XXH3_64bits(m->data, m->cap_len);
    return XXH3_64bits_withSeed(m->data, h->body + scan->data_at, load_be64(op->data_digest));
}

int pair_answer(struct pair *p, uint32_t id, const struct message *m, struct err *err)
{
    struct call *call = &p->calls.pool[id];
    struct waiting *w = call->waiting;
    struct record_operation *op = &w->operation;
    struct listing listing = { p, w, call->server };
    const struct scan_host host = { listing_entry, listing_port, &listing };
    struct scan scan = { .port_program = w->port_program };
    struct rpc_header h;
    bool cut = rpc_parse(m->data, m->cap_len, m->wire_len, &h) == RPC_TRUNCATED;
    uint64_t digest;
    int rc = 0;

    if (p->tap &&
        (rc = pair_tap(p, TAP_MESSAGE, p->ticket, m, w->procedure, &w->credential, err)) < 0)
        return rc;
    op->reply = pair_sighting(m);
    op->pairing = PAIRED;
    if (!cut) {
        rpc_reply_in_clear(m->data, m->cap_len, &w->credential, &h);
        op->rpc_status = (int32_t)h.status;
        op->result_wire = h.body_len;
        if (!w->procedure || h.body_protected) {
            op->reply.flags |= SIGHTING_OPAQUE;
        } else if (h.status == RPC_SUCCESS) {
            uint32_t kept = m->cap_len > h.body ? m->cap_len - h.body : 0;
            rc = pair_scan(p, &scan, w->procedure->result, m, h.body, h.body_len, &host, op,
                           &op->reply, err);
            op->status = scan.status;
            kept = scan_kept(&scan, kept < h.body_len ? kept : h.body_len);
            op->result = (struct bytes){ m->data + (kept ? h.body : 0), kept };
            if (rc == 0 && !p->messages_only)
                rc = tag_reply(p->objects, w, &scan, call->server, err);
        }
    }
    if (cut)
        op->reply.flags |= SIGHTING_HEADER;
    digest = reply_digest(m, &h, &scan, op);
    if (rc == 0)
        rc = pair_put(p, op, err);
    if (rc == 0)
        rc = pair_observe(p, op, &op->reply, true, 0, err);
    calls_answered(&p->calls, id, digest);
    return rc;
}

/* Whether the reply reads as a result of this call. */
static bool reads_well(const struct call *call, const struct message *m)
{
    const struct procedure *procedure = call->waiting->procedure;
    struct rpc_header h;
    struct walk w;

    if (!procedure || rpc_parse(m->data, m->cap_len, m->wire_len, &h) != RPC_OK)
        return true;
    rpc_reply_in_clear(m->data, m->cap_len, &call->waiting->credential, &h);
    if (h.body_protected || h.status != RPC_SUCCESS || h.body > m->cap_len)
        return true;
    /* servers that send too much are known; that is no other call's reply */
    return walk(&w, procedure->result, m->data + h.body,
                m->cap_len - h.body < h.body_len ? m->cap_len - h.body : h.body_len, h.body_len,
                false, NULL) != WALK_MALFORMED ||
           w.surplus;
}

/* The call that this reply answers: on its own flow rather than on an older one, one for which it
 * reads well rather than another, the latest of those. */
static uint32_t find_call(const struct pair *p, const struct message *m, const struct ends *ends,
                          uint32_t xid)
{
    uint32_t at, id, found = CALL_NONE, found_rank = 0;

    for (id = calls_first(&p->calls, ends->hash, ends->server, ends->client, xid, &at);
         id != CALL_NONE;
         id = calls_next(&p->calls, ends->hash, ends->server, ends->client, xid, &at)) {
        const struct call *x = &p->calls.pool[id];
        uint32_t rank;
        if (!x->waiting || !flow_fits(x, m->flow))
            continue;
        rank = flow_same(x, m->flow) ? 2 : 0;
        if (found != CALL_NONE) { /* rare: only then the bodies are looked at */
            const struct call *y = &p->calls.pool[found];
            rank += reads_well(x, m);
            if (!(found_rank & 1))
                found_rank += reads_well(y, m);
            if (rank < found_rank || (rank == found_rank && x->frame < y->frame))
                continue;
        }
        found = id;
        found_rank = rank;
    }
    return found;
}

/* Whether an answered call's reply was these bytes. |flags|: SIGHTING_ bits of what they are. */
static bool same_reply(const struct call *call, const struct message *m, uint32_t *flags)
{
    const struct procedure *procedure =
        procedure_find(call->program, call->version, call->procedure);
    struct record_operation op = { 0 };
    struct scan scan = { 0 };
    struct sighting sighting = { 0 };
    struct rpc_header h;
    bool whole = rpc_parse(m->data, m->cap_len, m->wire_len, &h) == RPC_OK;

    *flags = whole ? 0 : SIGHTING_HEADER;
    if (whole && procedure && call->in_clear && h.status == RPC_SUCCESS) {
        rpc_reply_in_clear(m->data, m->cap_len, &(struct rpc_auth){ 0 }, &h);
        if (pair_scan(NULL, &scan, procedure->result, m, h.body, h.body_len, NULL, &op, &sighting,
                      NULL) < 0)
            return false;
        *flags |= sighting.flags;
    }
    return reply_digest(m, &h, &scan, &op) == call->reply_digest;
}

/* The answered call of which this may be a further reply, rather one whose reply was |same|;
 * |flags|: what it is then. */
static uint32_t find_answered(const struct pair *p, const struct message *m, uint32_t xid,
                              bool *same, uint32_t *flags)
{
    struct ends ends = message_ends(m->flow, m->side, xid);
    uint32_t at, id, found = CALL_NONE;

    *same = false;
    *flags = 0;
    for (id = calls_first(&p->calls, ends.hash, ends.server, ends.client, xid, &at);
         id != CALL_NONE && !*same;
         id = calls_next(&p->calls, ends.hash, ends.server, ends.client, xid, &at)) {
        const struct call *x = &p->calls.pool[id];
        uint32_t as_its;
        if (x->waiting || !flow_fits(x, m->flow))
            continue;
        *same = same_reply(x, m, &as_its);
        if (*same || found == CALL_NONE) {
            found = id;
            *flags = as_its;
        }
    }
    return found;
}

/* A further reply of an answered call. */
static int tap_repeat(struct pair *p, const struct call *call, uint64_t ticket,
                      const struct message *m, struct err *err)
{
    static const struct rpc_auth none;
    const struct procedure *procedure =
        call->in_clear ? procedure_find(call->program, call->version, call->procedure) : NULL;

    return pair_tap(p, TAP_MESSAGE, ticket, m, procedure, &none, err);
}

static int hold(struct pair *p, const struct message *m, const struct ends *ends, struct err *err)
{
    struct held *held = malloc(sizeof(*held) + m->cap_len);

    if (!held)
        return err_set(err, ERR_SYSTEM, "out of memory for replies");
    held->next = NULL;
    held->flow = *m->flow;
    held->message = *m;
    held->message.flow = &held->flow;
    held->message.data = held->data;
    held->since = *p->clock;
    held->ticket = ++p->last_ticket;
    memcpy(held->data, m->data, m->cap_len);
    *p->held_tail = held;
    p->held_tail = &held->next;
    p->held_count++;
    p->held_bytes += m->cap_len;
    p->held_keys[ends->hash % HELD_KEYS]++;
    return pair_tap(p, TAP_HELD, held->ticket, m, NULL, NULL, err);
}

static struct held *held_unlink(struct pair *p, struct held **at)
{
    struct held *held = *at;
    struct ends ends = message_ends(&held->flow, held->message.side, load_be32(held->data));

    *at = held->next;
    if (p->held_tail == &held->next)
        p->held_tail = at;
    p->held_count--;
    p->held_bytes -= held->message.cap_len;
    p->held_keys[ends.hash % HELD_KEYS]--;
    return held;
}

struct held *pair_held_take(struct pair *p, const struct call *call)
{
    if (!p->held_keys[call->hash % HELD_KEYS])
        return NULL;
    for (struct held **at = &p->held; *at; at = &(*at)->next) {
        const struct held *x = *at;
        if (load_be32(x->data) == call->xid && x->flow.id == call->flow &&
            x->flow.host[x->message.side] == call->server && reads_well(call, &x->message))
            return held_unlink(p, at);
    }
    return NULL;
}

struct record_operation pair_orphan(const struct message *m, uint64_t id, enum pairing label)
{
    struct record_operation op = { .id = id,
                                   .flow = m->flow->id,
                                   .xid = load_be32(m->data),
                                   .program = PROGRAM_UNKNOWN,
                                   .pairing = (uint8_t)label,
                                   .reply = pair_sighting(m),
                                   .rpc_status = STATUS_NONE,
                                   .status = STATUS_NONE };
    struct rpc_header h;

    op.reply.flags |= SIGHTING_OPAQUE;
    if (rpc_parse(m->data, m->cap_len, m->wire_len, &h) == RPC_OK) {
        op.rpc_status = (int32_t)h.status;
        op.result_wire = h.body_len;
    } else {
        op.reply.flags |= SIGHTING_HEADER;
    }
    return op;
}

int pair_held_give_up(struct pair *p, struct err *err)
{
    struct held *held = held_unlink(p, &p->held);
    const struct message *m = &held->message;
    bool same;
    uint32_t flags, id = find_answered(p, m, load_be32(m->data), &same, &flags);
    struct record_operation op;
    int rc;

    rc = id != CALL_NONE ? tap_repeat(p, &p->calls.pool[id], held->ticket, m, err)
                         : pair_tap(p, TAP_MESSAGE, held->ticket, m, NULL, NULL, err);
    if (rc < 0) {
        free(held);
        return rc;
    }
    if (id != CALL_NONE) {
        rc = pair_repeat(p, p->calls.pool[id].operation, m, flags, REPEAT_REPLY, true, err);
    } else {
        op = pair_orphan(m, ++p->last_operation, CALL_LOST);
        rc = pair_put(p, &op, err);
        if (rc == 0)
            rc = pair_observe(p, &op, &op.reply, true, 0, err);
    }
    free(held);
    return rc;
}

int pair_reply(struct pair *p, const struct message *m, struct err *err)
{
    uint32_t xid = load_be32(m->data);
    struct ends ends = message_ends(m->flow, m->side, xid);
    uint32_t id = find_call(p, m, &ends, xid);
    uint32_t flags;
    bool same;
    int rc;

    if (id != CALL_NONE)
        return pair_answer(p, id, m, err);
    id = find_answered(p, m, xid, &same, &flags);
    if (!same)
        return hold(p, m, &ends, err);
    if ((rc = tap_repeat(p, &p->calls.pool[id], 0, m, err)) < 0)
        return rc;
    calls_seen(&p->calls, id, *p->clock);
    return pair_repeat(p, p->calls.pool[id].operation, m, flags, REPEAT_REPLY, false, err);
}
