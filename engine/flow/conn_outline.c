/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_outline.c
 *
 * The part of an outline (outline.h) that tells of connections.  For engine.c.  The contract is in
 * conn.h.
 */
#include "base/grow.h"
#include "flow/canon.h"
#include "flow/conn_parts.h"
#include "flow/outline.h"

#include <netinet/in.h>
#include <stdlib.h>

_Static_assert(sizeof(struct key) == sizeof(struct outline_key), "one is copied to the other");

static void add_segments(struct canon *c, const struct segment *g)
{
    for (; g; g = g->next) {
        canon_value(c, g->seq);
        canon_value(c, g->wire_len);
        canon_bytes(c, g->data, g->cap_len);
        canon_seen(c, g->seen);
    }
    canon_number(c, 0);
}

/* Offsets in the stream are counted from its present end. */
static void add_marks(struct canon *c, const struct marks *m, uint64_t at)
{
    canon_bytes(c, m->bytes.data, m->bytes.len);
    for (uint32_t i = 0; i < m->piece_count; i++) {
        const struct marks_piece *p = &m->pieces[i];

        canon_number(c, p->at - at);
        canon_seen(c, p->seen);
        canon_value(c, p->start);
        canon_value(c, p->missing);
        canon_value(c, p->flag);
        canon_value(c, p->border);
    }
    for (uint32_t i = 0; i < m->mark_count; i++) {
        struct mark mark = m->marks[i];

        mark.at -= at;
        mark.next -= at;
        mark.frame -= c->frame;
        canon_value(c, mark);
    }
    canon_number(c, m->end - at);
    canon_number(c, m->scanned - at);
    canon_number(c, m->behind - at);
    canon_number(c, m->due - at);
    canon_value(c, m->changed);
}

static void add_framer(struct canon *c, const struct framer *f)
{
    canon_value(c, f->lost);
    canon_value(c, f->resynced);
    canon_value(c, f->in_record);
    canon_value(c, f->last);
    canon_raw(c, f->mark, f->mark_have);
    canon_value(c, f->empty);
    canon_value(c, f->left);
    canon_value(c, f->wire_len);
    canon_value(c, f->flags);
    canon_frame(c, f->frame);
    canon_frame(c, f->first_frame);
    if (f->in_record || f->mark_have) {
        canon_value(c, f->time);
        canon_bytes(c, f->message.data, f->message.len);
    }
    if (f->in_record)
        canon_number(c, f->begin - f->at);
    canon_number(c, f->has_xid ? f->xid : UINT64_MAX);
    if (f->lost)
        canon_number(c, f->has_lost_xid ? f->lost_xid : UINT64_MAX);
    canon_value(c, f->skipped);
    canon_value(c, f->undecided);
    if (f->lost || f->marks.piece_count) {
        canon_value(c, f->due);
        add_marks(c, &f->marks, f->at);
    }
}

static bool is_quiet(const struct stream *s)
{
    const struct framer *f = &s->framer;

    return s->started && !s->queue && !s->elsewhere.count && !s->ended && !s->moved && !s->alone &&
           s->acked && !s->ack_far && s->ack == s->next && !f->lost && !f->in_record &&
           !f->mark_have && !f->marks.piece_count && !f->skipped && !f->undecided && !f->resynced;
}

/* What is here is reported when more comes, or at the end. */
static bool is_stopped(const struct stream *s)
{
    const struct framer *f = &s->framer;

    return s->started && (s->queue || s->elsewhere.count || f->lost || f->in_record ||
                          f->mark_have || f->marks.piece_count || f->skipped || f->undecided);
}

static void outline_stream(struct canon *c, const struct stream *s, struct outline_stream *out)
{
    canon_value(c, s->started);
    canon_value(c, s->alone);
    canon_value(c, s->ended);
    canon_value(c, s->ack_far);
    canon_number(c, s->started ? s->next : 0);
    canon_number(c, s->acked ? s->ack : UINT64_MAX);
    if (s->started)
        canon_clock(c, s->advanced);
    if (s->queue) {
        canon_value(c, s->ack_before);
        canon_value(c, s->ack_aged);
        canon_clock(c, s->turned);
        canon_number(c, (uint32_t)(s->arrivals - s->turned_at));
    }
    if (s->fin_waits)
        canon_value(c, s->fin);
    add_segments(c, s->queue);
    add_segments(c, s->elsewhere.first);
    canon_value(c, s->elsewhere.sure);
    add_framer(c, &s->framer);
    *out = (struct outline_stream){ .digest = canon_digest(c),
                                    .next = s->next,
                                    .origin = s->origin,
                                    .started = s->started,
                                    .quiet = is_quiet(s),
                                    .stopped = is_stopped(s),
                                    .begun = s->begun,
                                    .assumed = s->assumed,
                                    .asked = s->asked };
}

static void outline_conn(struct canon *c, const struct conn *x, struct outline_flow *out)
{
    memset(out, 0, sizeof(*out));
    memcpy(&out->key, &x->key, sizeof(out->key));
    out->server = x->flow.id ? x->flow.server : 2;
    out->birth = x->flow.birth ? canon_from(c, x->flow.birth) : OUTLINE_UNKNOWN;
    out->sure = !x->flow.unsure;
    if (x->flow.transport != IPPROTO_TCP)
        return;
    for (int side = 0; side < 2; side++) {
        canon_value(c, x->begin.side[side]);
        canon_number(c, x->begin.side[side] ? x->begin.isn[side] : 0);
    }
    if (x->begin.side[0] || x->begin.side[1])
        canon_seen(c, x->begin.seen);
    canon_value(c, x->over);
    out->digest = canon_digest(c);
    out->memory = x->stream[0].framer.memory + x->stream[1].framer.memory;
    out->asked = x->asked;
    out->over = x->over;
    out->plain = !x->over && !x->begin.side[0] && !x->begin.side[1];
    for (int side = 0; side < 2; side++)
        outline_stream(c, &x->stream[side], &out->stream[side]);
}

int conns_outline(const struct conns *c, struct canon *canon, struct outline *out)
{
    canon->clock = c->pool.clock;
    for (uint32_t slot = c->oldest; slot != TABLE_NONE; slot = c->conns[slot]->newer) {
        const struct conn *x = c->conns[slot];

        out->connections++;
        if (x->flow.transport == IPPROTO_TCP ? !x->rpc : !x->flow.id)
            continue;
        if (GROW(out->flows, out->flow_count, out->flow_cap) < 0)
            return -ERR_SYSTEM;
        outline_conn(canon, x, &out->flows[out->flow_count++]);
    }
    if (out->flow_count)
        qsort(out->flows, out->flow_count, sizeof(*out->flows), outline_flow_order);
    canon_value(canon, c->pool.latest);
    canon_value(canon, c->swept);
    canon_value(canon, c->unswept);
    out->moment = canon_digest(canon);
    memcpy(out->ports, c->ports, sizeof(out->ports));
    return canon->failed ? -ERR_SYSTEM : 0;
}

void conns_border(struct conns *c)
{
    for (uint32_t slot = c->oldest; slot != TABLE_NONE; slot = c->conns[slot]->newer) {
        struct conn *x = c->conns[slot];

        x->asked = false;
        free(x->events);
        x->events = NULL;
        for (int side = 0; side < 2 && x->flow.transport == IPPROTO_TCP; side++) {
            x->stream[side].asked = false;
            stream_border(&x->stream[side]);
            framer_forget_doubts(&x->stream[side].framer);
        }
    }
}
