/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_sent.c
 *
 * Takes bytes from a program that sits between the ends.  They come in order, so there is nothing
 * to sort, and what is missing is known at once: they go straight to the framers.  The contract is
 * that of engine_sent.
 */
#include "flow/conn_parts.h"
#include "flow/plausible.h"

#include <netinet/in.h>

/* Whatever began before ends here, with the messages that it began. */
static int over(struct conns *c, struct conn *x, uint8_t side, enum flow_end_kind kind,
                const struct sent *sent, struct err *err)
{
    struct seen seen = { sent->number, sent->time };
    struct flow_over o = { .flow = &x->flow,
                           .acked = sent->event == SENT_CLOSED ? sent->number : 0,
                           .frame = seen.frame,
                           .time = seen.time,
                           .kind = (uint8_t)kind,
                           .side = side };
    int rc = conn_end(x, seen, err);

    return rc == 0 && x->flow.id ? c->host.over(c->host.ctx, &o, err) : rc;
}

/* Another connection, perhaps between the ports of an earlier one. */
static int begin(struct conns *c, struct conn *x, const struct sent *sent, struct err *err)
{
    struct seen seen = { sent->number, sent->time };
    int rc = over(c, x, 0, FLOW_END_REPLACED, sent, err);

    x->flow.id = 0;
    x->flow.birth = seen.frame;
    x->flow.birth_time = seen.time;
    for (int side = 0; rc == 0 && side < 2; side++) {
        rc = stream_start(&x->stream[side], 0, sent->event == SENT_JOIN, seen, err);
        x->stream[side].framer.joined = sent->event == SENT_JOIN;
    }
    return rc;
}

/* Bytes of a direction were lost.  No message reaches across more than the longest one has. */
static int pass_over(struct conns *c, struct stream *s, const struct sent *sent, struct err *err)
{
    struct seen seen = { sent->number, sent->time };
    int rc = framer_problem(&s->framer, PROBLEM_HOLE, seen, sent->missing, err);

    c->pool.holes++;
    c->pool.hole_bytes += sent->missing;
    if (rc < 0)
        return rc;
    if (sent->missing <= MESSAGE_WIRE_MAX)
        return framer_gap(&s->framer, sent->missing, SIGHTING_HOLE, seen, err);
    return stream_start(s, 0, true, seen, err);
}

static int take_bytes(struct conns *c, struct conn *x, uint8_t side, const struct sent *sent,
                      struct err *err)
{
    struct seen seen = { sent->number, sent->time };
    struct stream *s = &x->stream[side];
    int rc = s->started ? 0 : stream_start(s, 0, true, seen, err);

    if (rc == 0 && sent->missing)
        rc = pass_over(c, s, sent, err);
    if (rc == 0 && sent->len)
        rc = framer_data(&s->framer, (struct bytes){ sent->data, sent->len }, seen, err);
    return rc < 0 ? rc : conn_settle(x, seen, err);
}

static int take_datagram(struct conns *c, struct conn *x, uint8_t side, const struct sent *sent,
                         struct err *err)
{
    struct message m = { .flow = &x->flow,
                         .side = side,
                         .data = sent->data,
                         .cap_len = sent->len,
                         .wire_len = sent->len,
                         .frame = sent->number,
                         .first_frame = sent->number,
                         .time = sent->time };
    struct problem problem = {
        &x->flow, PROBLEM_NOT_RPC, side, { sent->number, sent->time }, sent->len
    };

    c->datagrams++;
    if (plausible_rpc(sent->data, sent->len, sent->len))
        return c->host.message(c->host.ctx, &m, err);
    return c->host.problem(c->host.ctx, &problem, err);
}

static int take(struct conns *c, struct conn *x, uint8_t side, const struct sent *sent,
                struct err *err)
{
    if (sent->transport != IPPROTO_TCP)
        return sent->event == SENT_BYTES ? take_datagram(c, x, side, sent, err) : 0;
    switch (sent->event) {
    case SENT_BEGIN:
    case SENT_JOIN:
        return begin(c, x, sent, err);
    case SENT_BYTES:
        return take_bytes(c, x, side, sent, err);
    case SENT_CLOSED:
        return over(c, x, side, FLOW_END_FIN, sent, err);
    case SENT_RESET:
        return over(c, x, side, FLOW_END_RST, sent, err);
    }
    return 0;
}

int conns_sent(struct conns *c, const struct sent *sent, struct err *err)
{
    const struct frame frame = { .number = sent->number, .time = sent->time };
    const struct ip_payload ends = { .source = sent->source,
                                     .destination = sent->destination,
                                     .protocol = sent->transport };
    struct conn_ports ports = { .port = { sent->source_port, sent->destination_port } };
    struct conn *x;
    int rc;

    if (frame.time > c->pool.latest)
        conns_advance(c, frame.time);
    x = conn_get(c, &frame, &ends, &ports, err);
    if (!x)
        return -err->code;
    x->rpc = true;
    rc = take(c, x, ports.side, sent, err);
    return rc == 0 && c->pool.framing > c->pool.total ? conns_relieve(c, &frame, err) : rc;
}
