/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/conn_parts.h"
#include "flow/plausible.h"

enum {
    TCP_HEADER = 20,
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_ACK = 16,
    LATE_SYN_BYTES = 64 << 10, /* a new connection's numbers lie above, RFC 6528 s3 */
    RECORD_MARK = 4,
};

struct tcp_segment {
    uint16_t port[2];
    uint32_t seq, ack, wire_len, cap_len, ip_id;
    uint8_t flags, side;
    const uint8_t *data;
};

/* Says what the end of a connection leaves behind. */
static int over(struct conns *c, const struct conn *x, enum flow_end_kind kind, uint8_t side,
                const struct frame *frame, struct err *err)
{
    struct flow_over o = { &x->flow,      x->acked[x->flow.server],
                           frame->number, frame->time,
                           (uint8_t)kind, side };

    return x->flow.id ? c->host.over(c->host.ctx, &o, err) : 0;
}

/* Another connection between the same ports: everything begins again, with what is kept aside. */
static int renew(struct conns *c, struct conn *x, const uint32_t *isn[2], uint64_t birth,
                 int64_t birth_time, const struct frame *frame, struct err *err)
{
    int rc = conn_read_out(c, x, frame->number, frame->time, err);

    for (int side = 0; rc == 0 && side < 2; side++) {
        rc = stream_flush(&x->stream[side], &c->pool, true, frame->number, frame->time, err);
        x->stream[side].alone = true;
        x->stream[side].moved = x->stream[side].ended = false;
        x->syn[side] = isn[side];
        if (isn[side])
            x->isn[side] = *isn[side];
    }
    x->begin.side[0] = x->begin.side[1] = false;
    if (rc == 0)
        rc = over(c, x, FLOW_END_REPLACED, 0, frame, err);
    x->over = false;
    x->acked[0] = x->acked[1] = 0;
    x->flow.id = 0;
    x->flow.birth = birth;
    x->flow.birth_time = birth_time;
    for (int side = 0; rc == 0 && side < 2; side++) {
        uint32_t first = x->isn[side] + 1;
        framer_forget_xids(&x->stream[side].framer);
        rc = stream_move(&x->stream[side], &c->pool, isn[side] ? &first : NULL, frame->number,
                         frame->time, err);
    }
    return rc;
}

/* A stream goes on elsewhere: after a long hole in the capture, or as another connection. */
static int move(struct conns *c, struct conn *x, int side, const struct frame *frame,
                struct err *err)
{
    static const uint32_t *const unknown[2];
    struct stream *s = &x->stream[side], *peer = &x->stream[!side];
    const struct segment *g = s->elsewhere.first;

    s->moved = false;
    if (!g)
        return 0;
    c->pool.restarts++;
    if (s->ended || s->elsewhere.sure || (int32_t)(s->elsewhere.from - s->next) < 0 ||
        peer->ack_far || peer->elsewhere.count)
        return renew(c, x, (const uint32_t **)unknown, g->frame, g->time, frame, err);
    return stream_move(s, &c->pool, NULL, frame->number, frame->time, err);
}

/* The other connection has begun that a SYN told of. */
static int begin(struct conns *c, struct conn *x, const struct frame *frame, struct err *err)
{
    uint32_t isn[2] = { x->begin.isn[0], x->begin.isn[1] };
    const uint32_t *known[2] = { x->begin.side[0] ? &isn[0] : NULL,
                                 x->begin.side[1] ? &isn[1] : NULL };

    return renew(c, x, known, x->begin.frame, x->begin.time, frame, err);
}

static int syn(struct conns *c, struct conn *x, const struct tcp_segment *t,
               const struct frame *frame, struct err *err)
{
    struct stream *s = &x->stream[t->side], *peer = &x->stream[!t->side];
    bool answer = t->flags & TCP_ACK, known;
    int rc;

    if (x->syn[t->side] && x->isn[t->side] == t->seq)
        return 0; /* sent again, or late */
    if (!x->syn[t->side] && s->started && s->next - (t->seq + 1) <= LATE_SYN_BYTES) {
        x->syn[t->side] = true; /* captured behind what it began */
        x->isn[t->side] = t->seq;
        return 0;
    }
    /* an answer belongs to the SYN seen just before, unless this side has sent already */
    if (!s->started && !x->syn[t->side] && (answer || !peer->started)) {
        x->syn[t->side] = true;
        x->isn[t->side] = t->seq;
        rc = stream_start(s, &c->pool, t->seq + 1, false, frame->number, frame->time, err);
        if (rc == 0 && answer && !peer->started) /* the SYN itself was not captured */
            rc = stream_start(peer, &c->pool, t->ack, false, frame->number, frame->time, err);
        return rc;
    }
    known = answer && x->begin.side[!t->side] && x->begin.isn[!t->side] + 1 == t->ack;
    if (!known) {
        if (x->begin.side[t->side] && x->begin.isn[t->side] == t->seq)
            return 0;
        x->begin.frame = frame->number;
        x->begin.time = frame->time;
        x->begin.side[!t->side] = answer;
        x->begin.isn[!t->side] = t->ack - 1;
    }
    x->begin.side[t->side] = true;
    x->begin.isn[t->side] = t->seq;
    return known || (s->elsewhere.count && s->elsewhere.from == t->seq + 1)
               ? begin(c, x, frame, err)
               : 0;
}

/* A segment after a SYN that may begin another connection: whether it says that it does. */
static bool begun(struct conns *c, struct conn *x, const struct tcp_segment *t)
{
    const struct stream *s = &x->stream[t->side];
    uint32_t first = x->begin.isn[t->side] + 1;

    if (x->begin.side[t->side]) {
        if (s->started && t->seq == s->next) {
            if (t->wire_len) { /* the old one goes on */
                x->begin.side[0] = x->begin.side[1] = false;
                c->pool.strays++;
            }
            return false;
        }
        if (t->seq == first &&
            (stream_far(s, t->seq) || (int32_t)(t->seq - s->next) > 0 ||
             elsewhere_judge(&s->elsewhere, t->seq, t->data, t->cap_len, true) == ELSEWHERE_OTHER))
            return true;
        if (t->wire_len && t->seq - first < ELSEWHERE_NEAR && stream_far(s, t->seq))
            return true; /* the first segment was not captured */
    }
    return x->begin.side[!t->side] && t->flags & TCP_ACK &&
           t->ack - x->begin.isn[!t->side] - 1 < ELSEWHERE_NEAR &&
           stream_far(&x->stream[!t->side], t->ack);
}

static bool is_rpc(struct conns *c, struct conn *x, const struct tcp_segment *t)
{
    if (t->cap_len > RECORD_MARK && (t->data[0] & 0x80) &&
        rpc_looks_like(t->data + RECORD_MARK, t->cap_len - RECORD_MARK,
                       load_be32(t->data) & 0x7fffffff) == 1) {
        x->rpc = true;
        conns_learn_port(c, t->port[1]);
    } else {
        x->rpc = conns_port_known(c, t->port[0]) || conns_port_known(c, t->port[1]);
    }
    return x->rpc;
}

static int data(struct conns *c, struct conn *x, const struct tcp_segment *t, uint32_t slot,
                const struct frame *frame, struct err *err)
{
    struct stream *s = &x->stream[t->side];
    uint64_t duplicates = c->pool.duplicates;
    int rc = stream_segment(s, &c->pool, t->seq, t->data, t->cap_len, t->wire_len, frame->number,
                            frame->time, err);

    if (duplicates != c->pool.duplicates && recent_has(&x->recent[t->side], t->seq, t->ip_id))
        c->copies++;
    else
        recent_note(&x->recent[t->side], t->seq, t->ip_id);
    if (rc == 0 && s->moved)
        rc = move(c, x, t->side, frame, err);
    if (rc == 0 && s->queue && !x->holed)
        rc = conn_note_holed(c, x, slot, err);
    return rc < 0 ? rc : conn_settle(x, frame->number, frame->time, err);
}

int conn_tcp(struct conns *c, const struct frame *frame, const struct ip_payload *p,
             struct err *err)
{
    const uint8_t *h = p->data;
    uint32_t header, slot;
    struct tcp_segment t;
    struct stream *s, *peer;
    struct conn *x;
    bool fin = false;
    int rc;

    if (p->cap_len < TCP_HEADER || (header = (uint32_t)(h[12] >> 4) * 4) < TCP_HEADER ||
        header > p->wire_len) {
        c->headers_cut++;
        return 0;
    }
    t.port[0] = load_be16(h);
    t.port[1] = load_be16(h + 2);
    t.seq = load_be32(h + 4);
    t.ack = load_be32(h + 8);
    t.flags = h[13];
    t.ip_id = p->id;
    t.wire_len = p->wire_len - header;
    t.cap_len = p->cap_len > header ? p->cap_len - header : 0;
    t.data = t.cap_len ? h + header : h;
    x = conn_get(c, frame, p, t.port, &t.side, &slot, err);
    if (!x)
        return -err->code;
    if (!x->rpc && !is_rpc(c, x, &t)) {
        c->foreign_segments++;
        return 0;
    }
    s = &x->stream[t.side];
    peer = &x->stream[!t.side];
    if (t.flags & TCP_RST) { /* some put a text into it: not part of the stream */
        if (stream_far(s, t.seq)) {
            c->pool.strays++;
            return x->over ? over(c, x, FLOW_END_KNOWN, t.side, frame, err) : 0;
        }
        s->ended = peer->ended = x->over = true;
        return over(c, x, FLOW_END_RST, t.side, frame, err);
    }
    if (t.flags & TCP_SYN) {
        if ((rc = syn(c, x, &t, frame, err)) < 0)
            return rc;
        t.seq++;
        if (x->begin.side[t.side] && !t.wire_len)
            return 0;
    } else if ((x->begin.side[0] || x->begin.side[1]) && begun(c, x, &t) &&
               (rc = begin(c, x, frame, err)) < 0) {
        return rc;
    }
    peer->alone = false;
    s->arrivals++;
    peer->arrivals++;
    if (t.flags & TCP_ACK) {
        stream_ack(peer, t.ack);
        if (peer->moved && (rc = move(c, x, !t.side, frame, err)) < 0)
            return rc;
        if (stream_all_acked(peer))
            x->acked[!t.side] = frame->number;
    }
    if (t.wire_len && (rc = data(c, x, &t, slot, frame, err)) < 0)
        return rc;
    if (t.flags & TCP_FIN && s->started && t.seq + t.wire_len == s->next)
        s->ended = fin = true;
    x->over |= t.flags & TCP_FIN && !stream_far(s, t.seq);
    return x->over ? over(c, x, fin ? FLOW_END_FIN : FLOW_END_KNOWN, t.side, frame, err) : 0;
}
