/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeated messages: retransmissions, and copies that the capture or the network made.
 *
 * A copy has the IP identification of its original, and follows it by at most one second, because
 * captures at two places differ by the travel time between them and by their clocks.  Without
 * identifications the limit is 10 ms, because no known client sends again before 100 ms.  Without
 * times, the identifications alone decide; without both, nothing is a copy.  Over TCP there are no
 * copies here: repeated segments were dropped (stream.h), and a message that is in a stream twice
 * was sent twice. */
#include "base/digest.h"
#include "flow/pair_parts.h"

#include <netinet/in.h>

#define COPY_SPAN INT64_C(1000000000) /* ns */
#define COPY_SPAN_BLIND INT64_C(10000000)

/* A call is the same as an earlier one if everything after the XID is equal, except for what
 * RPCSEC_GSS changes each time (RFC 2203 s5.3.1: sequence number and checksums). */
uint64_t pair_call_digest(const struct message *m, const struct rpc_header *h,
                          const struct scan *scan, const struct record_operation *op)
{
    uint32_t from = 4, to = m->cap_len;
    uint64_t seed = 0;

    if (h->credential.flavor == RPC_GSS) {
        seed =
            XXH3_64bits(h->credential.gss_context.data ? h->credential.gss_context.data : m->data,
                        h->credential.gss_context.len) +
            h->procedure;
        from = h->body_protected ? to : h->body < to ? h->body : to;
        if (h->body_len < to - from) /* behind it is the checksum */
            to = from + h->body_len;
    }
    if (scan->has_data) {
        to = h->body + scan->data_at < to ? h->body + scan->data_at : to;
        seed ^= load_be64(op->data_digest);
    }
    return XXH3_64bits_withSeed(m->data + from, to > from ? to - from : 0, seed);
}

/* Whether two calls with the same XID are one, as far as their captured bytes tell. */
static bool same_call(const struct call *a, const struct call *b)
{
    if (a->wire_len != b->wire_len || a->program != b->program || a->version != b->version ||
        a->procedure != b->procedure)
        return false;
    return a->cap_len == b->cap_len ? a->digest == b->digest : a->partial || b->partial;
}

/* Whether a call was answered on a connection that has ended, and the client received the answer.
 * Such a call is not sent again on another connection. */
static bool is_over(const struct pair *p, const struct call *x, const struct flow *flow)
{
    const struct flow_end *end = &p->ends[x->last_flow % PAIR_ENDS];

    return !x->waiting && flow->transport == IPPROTO_TCP && !flow_same(x, flow) &&
           end->flow == x->last_flow && x->frame + x->reply_after < end->acked;
}

uint32_t pair_original(const struct pair *p, const struct call *new, const struct flow *flow,
                       uint32_t *crowded)
{
    const struct call_key key = { new->hash, new->server, new->client, new->xid };
    uint32_t at, id, found = CALL_NONE, count = 0, oldest = CALL_NONE;

    for (id = calls_first(&p->calls, &key, &at); id != CALL_NONE;
         id = calls_next(&p->calls, &key, &at)) {
        const struct call *x = &p->calls.pool[id];
        if (same_call(x, new) && flow_fits(p, x, flow) && !is_over(p, x, flow) &&
            *p->clock - x->seen <= p->retransmit_span &&
            (found == CALL_NONE || call_after(x, &p->calls.pool[found])))
            found = id;
        if (oldest == CALL_NONE || x->operation < p->calls.pool[oldest].operation)
            oldest = id;
        count++;
    }
    *crowded = count >= SAME_XID_MAX ? oldest : CALL_NONE;
    return found;
}

bool pair_is_over(const struct pair *p, uint32_t flow)
{
    return flow && p->ends[flow % PAIR_ENDS].flow == flow;
}

int pair_over(struct pair *p, const struct flow_over *over, struct err *err)
{
    struct engine_tapped tapped = { .event = TAP_OVER, .over = over };

    if (over->kind != FLOW_END_EVICTED || !pair_is_over(p, over->flow->id))
        p->ends[over->flow->id % PAIR_ENDS] = (struct flow_end){ over->acked, over->flow->id };
    if (over->kind == FLOW_END_EVICTED) /* only this engine's own end of it */
        return 0;
    return p->tap ? p->tap(p->tap_ctx, &tapped, err) : 0;
}

struct sending pair_sending(const struct message *m)
{
    uint32_t at = (uint32_t)((uint64_t)m->time >> 16);

    return (struct sending){ m->time == TIME_NONE ? 0 : at ? at : 1, m->ip_id };
}

/* Whether a datagram that says the same as |before| is the same datagram: a sender gives another
 * identification to each; where it gives none, time must tell. */
static bool is_copy(const struct sending *before, const struct message *m)
{
    struct sending now = pair_sending(m);
    uint32_t apart = now.at - before->at;

    if (m->flow->transport != IPPROTO_UDP || now.ip_id != before->ip_id)
        return false;
    if (!now.at || !before->at) /* the identification must do alone */
        return now.ip_id;
    if (apart > UINT32_MAX / 2) /* times can go backwards */
        apart = -apart;
    return apart <= (now.ip_id ? COPY_SPAN : COPY_SPAN_BLIND) >> 16;
}

enum repeat_kind pair_call_again(struct call *call, const struct message *m)
{
    /* a client that was refused may ask again at once */
    if ((m->ip_id || !call->refused) && is_copy(&call->sent, m))
        return COPY_CALL;
    call->sent = pair_sending(m);
    call->owed += call->owed < INT8_MAX;
    return REPEAT_CALL;
}

enum repeat_kind pair_reply_again(struct sending *before, const struct message *m)
{
    if (is_copy(before, m))
        return COPY_REPLY;
    *before = pair_sending(m);
    return REPEAT_REPLY;
}
