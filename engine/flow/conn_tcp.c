/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_tcp.c
 *
 * TCP segments: decides whether a segment begins, continues, ends or replaces a connection, and
 * where its bytes go.  For conn.c.  The contract is in conn_parts.h (conn_tcp).
 */
#include "flow/conn_parts.h"
#include "flow/plausible.h"

enum {
    TCP_HEADER = 20,
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_ACK = 16,
    TCP_WINDOW_AT = 14,
    LATE_SYN_BYTES = 64 << 10, /* a new connection's numbers lie above, RFC 6528 s3 */
    RECORD_MARK = 4,
};

struct tcp_segment {
    struct conn_ports ports;
    struct arrival arrival;
    uint32_t ack, ip_id;
    uint16_t window;
    uint8_t flags;
};

/* Notes what the segment does to its connection. */
static int note(struct conns *c, struct conn *x, enum connection_event kind,
                const struct tcp_segment *t, uint32_t value, struct err *err)
{
    const struct conn_event_note n = { (uint8_t)kind, t->ports.side, t->arrival.seq,
                                       t->arrival.seen, value };

    return conn_event_note(c, x, &n, err);
}

/* Says what the end of a connection leaves behind. */
static int over(struct conns *c, const struct conn *x, enum flow_end_kind kind,
                const struct tcp_segment *t, struct err *err)
{
    struct seen seen = t->arrival.seen;
    uint8_t side = kind == FLOW_END_REPLACED ? 0 : t->ports.side;
    struct flow_over o = { &x->flow, x->acked[x->flow.server], seen.frame, seen.time, (uint8_t)kind,
                           side };

    return x->flow.id ? c->host.over(c->host.ctx, &o, err) : 0;
}

/* How another connection begins between the same ports. */
struct renewal {
    const uint32_t *isn[2]; /* NULL: not known */
    struct seen birth;
};

/* Another connection between the same ports: everything begins again, with what is kept aside. */
static int renew(struct conns *c, struct conn *x, const struct renewal *r,
                 const struct tcp_segment *t, struct err *err)
{
    const uint32_t *const *isn = r->isn;
    struct seen seen = t->arrival.seen;
    int rc = conn_read_out(x, seen, err);

    if (rc == 0)
        rc = conn_event_renew(x, r->birth.frame, err);
    for (int side = 0; rc == 0 && side < 2; side++) {
        rc = stream_flush(&x->stream[side], true, seen, err);
        x->stream[side].alone = true;
        x->stream[side].moved = x->stream[side].ended = false;
        x->syn[side] = isn[side];
        if (isn[side])
            x->isn[side] = *isn[side];
    }
    x->begin.side[0] = x->begin.side[1] = false;
    if (rc == 0)
        rc = conn_put_fins(x, seen, err);
    for (int side = 0; side < 2; side++)
        x->stream[side].ended = false;
    if (rc == 0)
        rc = over(c, x, FLOW_END_REPLACED, t, err);
    x->over = false;
    x->acked[0] = x->acked[1] = 0;
    x->flow.id = 0;
    x->flow.birth = r->birth.frame;
    x->flow.birth_time = r->birth.time;
    x->flow.unsure = false;
    for (int side = 0; rc == 0 && side < 2; side++) {
        uint32_t first = x->isn[side] + 1;
        framer_forget_xids(&x->stream[side].framer);
        rc = stream_move(&x->stream[side], isn[side] ? &first : NULL, seen, err);
    }
    return rc;
}

/* A stream goes on elsewhere: after a long hole in the capture, or as another connection. */
static int move(struct conns *c, struct conn *x, int side, const struct tcp_segment *t,
                struct err *err)
{
    struct renewal unknown = { 0 };
    struct stream *s = &x->stream[side], *peer = &x->stream[!side];
    const struct segment *g = s->elsewhere.first;

    s->moved = false;
    if (!g)
        return 0;
    c->pool.restarts++;
    unknown.birth = g->seen;
    if (s->ended || s->elsewhere.sure || (int32_t)(s->elsewhere.from - s->next) < 0 ||
        peer->ack_far || peer->elsewhere.count)
        return renew(c, x, &unknown, t, err);
    return stream_move(s, NULL, t->arrival.seen, err);
}

/* The other connection has begun that a SYN told of. */
static int begin(struct conns *c, struct conn *x, const struct tcp_segment *t, struct err *err)
{
    uint32_t isn[2] = { x->begin.isn[0], x->begin.isn[1] };
    const struct renewal known = {
        { x->begin.side[0] ? &isn[0] : NULL, x->begin.side[1] ? &isn[1] : NULL }, x->begin.seen
    };

    return renew(c, x, &known, t, err);
}

/* Of a connection that was first seen in the middle of a capture (past.h), a SYN says that it is
 * new, if it comes before everything else. */
static void note_birth(struct conn *x, const struct tcp_segment *t)
{
    if (!x->flow.unsure)
        return;
    if (x->stream[0].started || x->stream[1].started || x->spoke) {
        x->asked = true;
        return;
    }
    x->flow.unsure = x->stream[0].unsure = x->stream[1].unsure = false;
    x->flow.birth = t->arrival.seen.frame;
    x->flow.birth_time = t->arrival.seen.time;
}

static int syn(struct conns *c, struct conn *x, const struct tcp_segment *t, struct err *err)
{
    uint8_t side = t->ports.side;
    uint32_t seq = t->arrival.seq;
    struct stream *s = &x->stream[side], *peer = &x->stream[!side];
    bool answer = t->flags & TCP_ACK, known;
    int rc;

    if (x->syn[side] && x->isn[side] == seq)
        return 0; /* sent again, or late */
    note_birth(x, t);
    if (!x->syn[side] && s->started && s->next - (seq + 1) <= LATE_SYN_BYTES) {
        x->syn[side] = true; /* captured behind what it began */
        x->isn[side] = seq;
        return 0;
    }
    /* an answer belongs to the SYN seen just before, unless this side has sent already */
    if (!s->started && !x->syn[side] && (answer || !peer->started)) {
        x->syn[side] = true;
        x->isn[side] = seq;
        rc = stream_start(s, seq + 1, false, t->arrival.seen, err);
        if (rc == 0 && answer && !peer->started) /* the SYN itself was not captured */
            rc = stream_start(peer, t->ack, false, t->arrival.seen, err);
        return rc;
    }
    known = answer && x->begin.side[!side] && x->begin.isn[!side] + 1 == t->ack;
    if (!known) {
        if (x->begin.side[side] && x->begin.isn[side] == seq)
            return 0;
        x->begin.seen = t->arrival.seen;
        x->begin.side[!side] = answer;
        x->begin.isn[!side] = t->ack - 1;
    }
    x->begin.side[side] = true;
    x->begin.isn[side] = seq;
    return known || (s->elsewhere.count && s->elsewhere.from == seq + 1) ? begin(c, x, t, err) : 0;
}

/* A segment after a SYN that may begin another connection: whether it says that it does. */
static bool begun(struct conns *c, struct conn *x, const struct tcp_segment *t)
{
    const struct arrival *a = &t->arrival;
    uint8_t side = t->ports.side;
    const struct stream *s = &x->stream[side];
    uint32_t first = x->begin.isn[side] + 1;

    if (x->begin.side[side]) {
        if (s->started && a->seq == s->next) {
            if (a->piece.wire_len) { /* the old one goes on */
                x->begin.side[0] = x->begin.side[1] = false;
                c->pool.strays++;
            }
            return false;
        }
        if (a->seq == first && (stream_far(s, a->seq) || (int32_t)(a->seq - s->next) > 0 ||
                                elsewhere_judge(&s->elsewhere, a, true) == ELSEWHERE_OTHER))
            return true;
        if (a->piece.wire_len && a->seq - first < ELSEWHERE_NEAR && stream_far(s, a->seq))
            return true; /* the first segment was not captured */
    }
    return x->begin.side[!side] && t->flags & TCP_ACK &&
           t->ack - x->begin.isn[!side] - 1 < ELSEWHERE_NEAR &&
           stream_far(&x->stream[!side], t->ack);
}

static bool is_rpc(struct conns *c, struct conn *x, const struct tcp_segment *t)
{
    const struct captured *p = &t->arrival.piece;

    if (p->cap_len > RECORD_MARK && (p->data[0] & 0x80) &&
        plausible_rpc(p->data + RECORD_MARK, p->cap_len - RECORD_MARK,
                      load_be32(p->data) & 0x7fffffff) == 1) {
        x->rpc = true;
        conns_learn_port(c, t->ports.port[1]);
    } else {
        x->rpc = conns_port_known(c, t->ports.port[0]) || conns_port_known(c, t->ports.port[1]);
    }
    return x->rpc;
}

/* True for what keep-alives and window probes send: at most the last byte before the next one. */
static bool is_probe(const struct stream *s, const struct tcp_segment *t)
{
    return t->arrival.piece.wire_len <= 1 && t->arrival.seq + 1 == s->next && s->started &&
           !(t->flags & (TCP_SYN | TCP_FIN));
}

static int data(struct conns *c, struct conn *x, const struct tcp_segment *t, struct err *err)
{
    struct stream *s = &x->stream[t->ports.side];
    struct recent *recent = &x->recent[t->ports.side];
    uint64_t duplicates = c->pool.duplicates;
    uint32_t len = t->arrival.piece.wire_len;
    uint32_t known = s->started ? s->next - t->arrival.seq : 0; /* if it is below |len| */
    bool late = s->queue && (int32_t)(s->last->seq - t->arrival.seq) > 0;
    bool probe = len == 1 && is_probe(s, t), again;
    int rc = stream_segment(s, &t->arrival, err);

    again = duplicates != c->pool.duplicates;
    if (again && recent_has(recent, t->arrival.seq, t->ip_id)) {
        c->copies++;
    } else {
        recent_note(recent, t->arrival.seq, t->ip_id);
        if (rc == 0 && !probe && !s->moved && (again || (known && known < len)))
            rc = note(c, x, EVENT_RESENT, t, again ? len : known, err);
        else if (rc == 0 && late && !s->moved)
            rc = note(c, x, EVENT_LATE, t, len, err);
    }
    if (rc == 0 && s->moved)
        rc = move(c, x, t->ports.side, t, err);
    if (rc == 0 && s->queue && !x->holed)
        rc = conn_note_holed(c, x, t->ports.slot, err);
    return rc < 0 ? rc : conn_settle(x, t->arrival.seen, err);
}

/* What the header says; false: it says nothing that can be. */
static bool read_tcp(const struct frame *frame, const struct ip_payload *p, struct tcp_segment *t)
{
    const uint8_t *h = p->data;
    uint32_t header;

    if (p->cap_len < TCP_HEADER || (header = (uint32_t)(h[12] >> 4) * 4) < TCP_HEADER ||
        header > p->wire_len)
        return false;
    t->ports.port[0] = load_be16(h);
    t->ports.port[1] = load_be16(h + 2);
    t->arrival.seq = load_be32(h + 4);
    t->arrival.piece.wire_len = p->wire_len - header;
    t->arrival.piece.cap_len = p->cap_len > header ? p->cap_len - header : 0;
    t->arrival.piece.data = t->arrival.piece.cap_len ? h + header : h;
    t->arrival.seen = seen_in(frame);
    t->ack = load_be32(h + 8);
    t->flags = h[13];
    t->window = load_be16(h + TCP_WINDOW_AT);
    t->ip_id = p->id;
    return true;
}

/* Some put a text into a RST: it is not part of the stream. */
static int rst(struct conns *c, struct conn *x, const struct tcp_segment *t, struct err *err)
{
    uint8_t side = t->ports.side;
    bool refuses = t->flags & TCP_ACK && conn_event_asked(x, !side, t->ack - 1);

    if (note(c, x, refuses ? EVENT_REFUSED : EVENT_RST, t, 0, err) < 0)
        return -err->code;
    if (stream_far(&x->stream[side], t->arrival.seq)) {
        c->pool.strays++;
        return x->over ? over(c, x, FLOW_END_KNOWN, t, err) : 0;
    }
    x->stream[0].ended = x->stream[1].ended = x->over = true;
    x->stream[0].fin_waits = x->stream[1].fin_waits = false;
    return over(c, x, FLOW_END_RST, t, err);
}

/* Notes keep-alives, and windows that close and open. */
static int note_state(struct conns *c, struct conn *x, const struct tcp_segment *t, struct err *err)
{
    uint8_t side = t->ports.side;
    int rc = is_probe(&x->stream[side], t) ? note(c, x, EVENT_KEEP_ALIVE, t, 0, err) : 0;

    if (rc == 0 && !t->window && !(t->flags & (TCP_SYN | TCP_FIN)))
        return note(c, x, EVENT_ZERO_WINDOW, t, 0, err);
    if (t->window && x->events && x->events->shut[side])
        conn_event_opened(x, side, t->arrival.seen);
    return rc;
}

/* What acknowledgement and data of a segment do. */
static int take_segment(struct conns *c, struct conn *x, const struct tcp_segment *t,
                        struct err *err)
{
    uint8_t side = t->ports.side;
    struct stream *s = &x->stream[side], *peer = &x->stream[!side];
    int rc;

    peer->alone = false;
    s->arrivals++;
    peer->arrivals++;
    if ((!t->window || (x->events && x->events->shut[side]) || is_probe(s, t)) &&
        (rc = note_state(c, x, t, err)) < 0)
        return rc;
    if (t->flags & TCP_ACK) {
        stream_ack(peer, t->ack);
        if (peer->moved && (rc = move(c, x, !side, t, err)) < 0)
            return rc;
        if (stream_all_acked(peer))
            x->acked[!side] = t->arrival.seen.frame;
    }
    return t->arrival.piece.wire_len ? data(c, x, t, err) : 0;
}

/* A FIN with the number |seq|.  Returns true if everything before it was read.  If it is far from
 * the stream, it is not of it. */
static bool take_fin(struct stream *s, uint32_t seq)
{
    if (!s->started || (int32_t)(seq - s->next) < 0 || stream_far(s, seq))
        return false;
    s->fin_waits = seq != s->next;
    s->fin = seq;
    s->ended |= !s->fin_waits;
    return !s->fin_waits;
}

int conn_tcp(struct conns *c, const struct frame *frame, const struct ip_payload *p,
             struct err *err)
{
    struct tcp_segment t;
    struct stream *s;
    struct conn *x;
    bool fin = false;
    int rc;

    if (!read_tcp(frame, p, &t)) {
        c->headers_cut++;
        return 0;
    }
    x = conn_get(c, frame, p, &t.ports, err);
    if (!x)
        return -err->code;
    if (!x->rpc && !is_rpc(c, x, &t)) {
        c->foreign_segments++;
        return 0;
    }
    x->asked |= t.flags & (TCP_RST | TCP_FIN) && x->stream[t.ports.side].unsure;
    x->spoke |= !(t.flags & TCP_SYN);
    if (t.flags & TCP_RST)
        return rst(c, x, &t, err);
    if (t.flags & TCP_SYN) {
        if ((rc = syn(c, x, &t, err)) < 0 ||
            (rc = note(c, x, t.flags & TCP_ACK ? EVENT_SYN_ACK : EVENT_SYN, &t, 0, err)) < 0)
            return rc;
        t.arrival.seq++;
        if (x->begin.side[t.ports.side] && !t.arrival.piece.wire_len)
            return 0;
    } else if ((x->begin.side[0] || x->begin.side[1]) && begun(c, x, &t) &&
               (rc = begin(c, x, &t, err)) < 0) {
        return rc;
    }
    if ((rc = take_segment(c, x, &t, err)) < 0)
        return rc;
    s = &x->stream[t.ports.side];
    if (t.flags & TCP_FIN)
        fin = take_fin(s, t.arrival.seq + t.arrival.piece.wire_len);
    if ((x->stream[0].fin_waits || x->stream[1].fin_waits) &&
        (rc = conn_put_fins(x, t.arrival.seen, err)) < 0)
        return rc;
    x->over |= t.flags & TCP_FIN && !stream_far(s, t.arrival.seq);
    if (t.flags & TCP_FIN && (rc = note(c, x, EVENT_FIN, &t, 0, err)) < 0)
        return rc;
    return x->over ? over(c, x, fin ? FLOW_END_FIN : FLOW_END_KNOWN, &t, err) : 0;
}
