/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/pair_reply.c
 *
 * Takes replies: finds the call that each one answers, and reads its result.  The contract is in
 * pair_parts.h.
 */
#include "flow/pair_parts.h"
#include "base/digest.h"
#include "flow/tag.h"

#include <netinet/in.h>

struct listing { /* context of the entries of a result */
    struct pair *p;
    struct waiting *waiting;
    uint32_t server;
};

static int listing_entry(void *ctx, const struct scan_entry *entry, struct err *err)
{
    struct listing *l = ctx;

    if (l->p->messages_only)
        return 0;
    return tag_entry(l->p->objects, &l->waiting->operation, l->server, entry, err);
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

static uint32_t frames_after(const struct call *call, const struct message *m)
{
    uint64_t frames = m->frame < call->frame ? 0 : m->frame - call->frame;

    return frames < UINT32_MAX ? (uint32_t)frames : UINT32_MAX;
}

int pair_answer(struct pair *p, uint32_t id, const struct message *m, struct err *err)
{
    struct call *call = &p->calls.pool[id];
    struct waiting *w = call->waiting;
    struct record_operation *op = &w->operation;
    struct listing listing = { p, w, call->server };
    const struct scan_host host = { listing_entry, listing_port, &listing };
    struct scan scan = { .port_program = w->port_program, .host = &host };
    struct rpc_header h;
    bool cut = rpc_parse(m->data, m->cap_len, m->wire_len, &h) == RPC_TRUNCATED;
    uint64_t digest;
    int rc = 0;

    const struct engine_tapped tapped = { TAP_MESSAGE,  p->ticket,      m,
                                          w->procedure, &w->credential, NULL };
    const struct engine_message message = { op, &op->reply, true, 0 };

    if ((rc = pair_tap(p, &tapped, err)) < 0)
        return rc;
    op->reply = pair_sighting(m);
    op->pairing = PAIRED;
    if (m->flow->host[m->side] != call->server) {
        op->reply.flags |= SIGHTING_ADDRESS;
        p->other_address++;
    }
    if (!cut) {
        rpc_reply_in_clear(m->data, m->cap_len, &w->credential, &h);
        op->rpc_status = (int32_t)h.status;
        op->result_wire = h.body_len;
        if (!w->procedure || h.body_protected) {
            op->reply.flags |= SIGHTING_OPAQUE;
        } else if (h.status == RPC_SUCCESS) {
            const struct pair_body scanned = { w->procedure->result, m, &h, &op->reply };
            struct captured body = rpc_body(m->data, m->cap_len, &h);
            rc = pair_scan(p, &scanned, &scan, op, err);
            op->status = scan.status;
            op->result = (struct bytes){ body.data, scan_kept(&scan, body.cap_len) };
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
        rc = pair_observe(p, &message, err);
    call->last_flow = m->flow->id;
    call->answered = pair_sending(m);
    call->reply_after = frames_after(call, m);
    call->owed--;
    call->refused = !cut && h.status != RPC_SUCCESS;
    calls_answered(&p->calls, id, digest);
    return rc;
}

/* |surplus|: though more follows. */
static bool reads(const struct call *call, const struct message *m, bool surplus)
{
    static const struct rpc_auth none;
    const struct procedure *procedure =
        call->waiting    ? call->waiting->procedure
        : call->in_clear ? procedure_find(call->program, call->version, call->procedure)
                         : NULL;
    enum fit fit =
        fits_result(procedure, call->waiting ? &call->waiting->credential : &none, message_text(m));

    return fit == FIT_WELL || (surplus && fit == FIT_SURPLUS);
}

bool pair_reads_well(const struct call *call, const struct message *m)
{
    return reads(call, m, true); /* servers that send too much are known */
}

/* The call that this reply answers: on its own flow rather than on an older one, one for which it
 * reads well rather than another, the latest of those. */
static uint32_t find_call(const struct pair *p, const struct message *m, const struct call_key *key)
{
    uint32_t at, id, found = CALL_NONE, found_rank = 0;

    for (id = calls_first(&p->calls, key, &at); id != CALL_NONE;
         id = calls_next(&p->calls, key, &at)) {
        const struct call *x = &p->calls.pool[id];
        uint32_t rank;
        if (!x->waiting || !flow_fits(p, x, m->flow))
            continue;
        rank = flow_same(x, m->flow) ? 2 : 0;
        if (found != CALL_NONE) { /* rare: only then the bodies are looked at */
            const struct call *y = &p->calls.pool[found];
            rank += pair_reads_well(x, m);
            if (!(found_rank & 1))
                found_rank += pair_reads_well(y, m);
            if (rank < found_rank || (rank == found_rank && call_after(y, x)))
                continue;
        }
        found = id;
        found_rank = rank;
    }
    return found;
}

bool pair_same_reply(const struct call *call, const struct message *m, uint32_t *flags)
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
        const struct pair_body body = { procedure->result, m, &h, &sighting };
        if (pair_scan(NULL, &body, &scan, &op, NULL) < 0)
            return false;
        *flags |= sighting.flags;
    }
    return reply_digest(m, &h, &scan, &op) == call->reply_digest;
}

/* Takes call |id| for |found| if a further reply that came behind it fits it better than that. */
static void prefer(const struct pair *p, uint32_t id, const struct message *m,
                   struct answered *found)
{
    const struct call *x = &p->calls.pool[id];
    struct answered this = { .call = id };

    if (x->waiting || x->frame > m->frame)
        return;
    this.same = pair_same_reply(x, m, &this.flags);
    this.rank = 1 + flow_same(x, m->flow) + 2 * this.same;
    if (this.rank > found->rank ||
        (this.rank == found->rank && call_after(x, &p->calls.pool[found->call])))
        *found = this;
}

/* Over UDP: the port that the reply goes to and the one that it comes from, with its client. */
static struct call_key client_key(const struct message *m)
{
    uint32_t ports = (uint32_t)m->flow->port[!m->side] << 16 | m->flow->port[m->side];

    return call_key(ports, m->flow->host[!m->side], load_be32(m->data));
}

struct answered pair_answered(const struct pair *p, const struct message *m)
{
    const struct calls *c = &p->calls;
    uint32_t at, id;
    struct call_key key = message_key(m->flow, m->side, load_be32(m->data));
    struct answered found = { .call = CALL_NONE };

    for (id = calls_first(c, &key, &at); id != CALL_NONE; id = calls_next(c, &key, &at))
        if (flow_fits(p, &c->pool[id], m->flow))
            prefer(p, id, m, &found);
    if (found.call != CALL_NONE || m->flow->transport != IPPROTO_UDP)
        return found;
    key = client_key(m);
    for (id = calls_of_client(c, &key, &at); id != CALL_NONE;
         id = calls_of_client_next(c, &key, &at))
        if (reads(&c->pool[id], m, false))
            prefer(p, id, m, &found);
    return found;
}

uint32_t pair_stray(const struct pair *p, const struct message *m)
{
    const struct calls *c = &p->calls;
    struct call_key key = client_key(m);
    uint32_t at, id, found = CALL_NONE;

    if (m->flow->transport != IPPROTO_UDP)
        return CALL_NONE;
    for (id = calls_of_client(c, &key, &at); id != CALL_NONE;
         id = calls_of_client_next(c, &key, &at)) {
        if (!c->pool[id].waiting)
            continue;
        if (found != CALL_NONE)
            return CALL_NONE;
        found = id;
    }
    return found != CALL_NONE && reads(&c->pool[found], m, false) &&
                   pair_fits_before(p, m, c->pool[found].frame,
                                    c->pool[found].waiting->operation.call.time)
               ? found
               : CALL_NONE;
}

int pair_further(struct pair *p, const struct answered *as, uint64_t ticket,
                 const struct message *m, struct err *err)
{
    static const struct rpc_auth none;
    struct call *call = &p->calls.pool[as->call];
    const struct procedure *procedure =
        call->in_clear ? procedure_find(call->program, call->version, call->procedure) : NULL;
    struct message further = *m;
    enum repeat_kind kind = as->same ? pair_reply_again(&call->answered, m) : REPEAT_REPLY;
    const struct engine_tapped tapped = { TAP_MESSAGE, ticket, m, procedure, &none, NULL };
    const struct record_repeat what = { .operation = call->operation,
                                        .repeat = (uint8_t)kind,
                                        .differs = !as->same,
                                        .sighting = { .flags = as->flags } };
    int rc = pair_tap(p, &tapped, err);

    if (m->flow->host[m->side] != call->server)
        further.flags |= SIGHTING_ADDRESS;
    if (kind == REPEAT_REPLY) {
        call->owed -= call->owed > INT8_MIN;
        call->again_after = frames_after(call, m);
    }
    if (!ticket)
        calls_seen(&p->calls, as->call, *p->clock);
    return rc < 0 ? rc : pair_repeat(p, &further, &what, err);
}

int pair_reply(struct pair *p, const struct message *m, struct err *err)
{
    struct call_key key = message_key(m->flow, m->side, load_be32(m->data));
    uint32_t id = find_call(p, m, &key);
    struct answered as;

    if (id != CALL_NONE)
        return pair_answer(p, id, m, err);
    if (m->flow->transport == IPPROTO_UDP && /* other servers' calls are looked at */
        pair_ask(p, m->flow, m->side, load_be32(m->data), err) < 0)
        return -ERR_SYSTEM;
    as = pair_answered(p, m);
    if (as.same)
        return pair_further(p, &as, 0, m, err);
    id = pair_stray(p, m);
    return id != CALL_NONE ? pair_answer(p, id, m, err) : pair_hold(p, m, &key, err);
}
