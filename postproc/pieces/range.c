/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/range.c
 *
 * Goes over the border between two ranges of pieces with what is true there, and makes one of them.
 * For join.c.  The contract is in range.h.
 */
#include "pieces/range.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

static int out_of_memory(struct err *err)
{
    return err_memory(err, "pieces");
}

/* Nothing before it is needed. */
static bool is_closed(const struct range *r)
{
    return r->first.first || r->first.whole;
}

int range_piece(struct range *r, const char *name, struct border *border, struct err *err)
{
    struct join_result *piece;
    struct outline need = { .surprises = border->end.surprises };

    *r = (struct range){ .first = *border, .last = *border, .frames = border->frames };
    *border = (struct border){ { 0 } };
    r->last.after = (struct outline){ 0 };
    r->last.past.asked = (struct xids){ 0 };
    r->last.faces.before = r->first.faces.end = (struct faces){ 0 };
    r->first.end = need;
    r->pieces = calloc(1, sizeof(*r->pieces));
    if (!r->pieces)
        return out_of_memory(err);
    r->count = r->cap = 1;
    piece = r->pieces;
    need.flows = r->last.end.flows;
    need.flow_count = r->last.end.flow_count;
    if (!(piece->name = strdup(name)) || outline_copy(&r->first.end, &need, err) < 0)
        return out_of_memory(err);
    piece->verdict = is_closed(r) ? JOIN_EXACT : JOIN_OPEN;
    piece->frames = r->last.frames;
    piece->operations = r->last.operations;
    piece->lead = r->last.lead;
    piece->last = r->last.last;
    return 0;
}

void range_free(struct range *r)
{
    border_free(&r->first);
    border_free(&r->last);
    outline_free(&r->rest);
    for (uint32_t i = 0; i < r->count; i++) {
        free(r->pieces[i].name);
        free(r->pieces[i].unfinished);
    }
    free(r->pieces);
    *r = (struct range){ 0 };
}

static struct outline_flow *find(const struct outline *o, const struct outline_flow *flow)
{
    return o->flow_count ? bsearch(flow, o->flows, o->flow_count, sizeof(*flow), outline_flow_order)
                         : NULL;
}

/* Of a border: what is known there, and what is found out. */
struct meeting {
    const struct range *a;
    const struct range *b;
    struct outline known; /* by the pieces of |a| */
    struct outline rest;  /* by these and not by the first one of |b| */
    struct outline_fit fit;
};

/* A piece with a lead-in. */
static int compare_lead(struct meeting *m, struct err *err)
{
    const struct border *b = &m->b->first;

    return outline_follows(&(struct outline_border){ &m->known, m->a->last.depth, &b->after,
                                                     &b->end, &b->past, b->limits,
                                                     !is_closed(m->a) },
                           &m->fit, &m->rest, err);
}

/* A piece that continues the one before: only what older ones know can be missing.  What was taken
 * to be so in the earlier one was looked at there. */
static int compare_continued(struct meeting *m, struct err *err)
{
    const struct border *b = &m->b->first;
    const struct outline nothing = { .surprises = m->a->last.end.surprises };
    struct outline end = { 0 };
    int rc = outline_copy(&end, &b->end, err);

    end.surprises = b->end.surprises;
    for (uint32_t i = 0; i < end.flow_count; i++) {
        const struct outline_flow *was = find(&m->a->last.end, &end.flows[i]);

        for (int side = 0; was && side < 2; side++)
            end.flows[i].stream[side].assumed &= !was->stream[side].started;
    }
    if (rc == 0)
        rc = outline_follows(&(struct outline_border){ &m->a->rest, UINT64_MAX, &nothing, &end,
                                                       &b->past, b->limits, !is_closed(m->a) },
                             &m->fit, &m->rest, err);
    outline_free(&end);
    return rc;
}

/* Neighbours that do not meet: one of them took something else for a packet. */
static bool is_guessed_wrong(const struct border *a, const struct border *b)
{
    return !strcmp(a->capture, b->capture) && !b->starts && a->to != b->from;
}

/* What the pieces of |r| relied on and what holds behind them.  It stays the range's. */
static struct faces_span faces_of(const struct range *r)
{
    const struct faces_span *first = &r->first.faces;

    return (struct faces_span){ first->before, r->last.faces.end, first->renewed, first->strange };
}

/* Packets of other interfaces than those that were assumed: all else may be wrong, too. */
static void compare_faces(struct meeting *m)
{
    const struct faces_span next = faces_of(m->b);
    const char *why = faces_differ(&m->a->last.faces.end, &next);

    if (!why)
        return;
    m->fit.same = false;
    snprintf(m->fit.why, sizeof(m->fit.why), "interfaces of pcapng: %s", why);
}

static int compare(struct meeting *m, struct err *err)
{
    const struct border *a = &m->a->last, *b = &m->b->first;
    const bool continues = b->previous[0] && b->origin == a->identity;

    m->fit = (struct outline_fit){ .same = true };
    if (is_guessed_wrong(a, b)) {
        m->fit.same = false;
        snprintf(m->fit.why, sizeof(m->fit.why),
                 "its first packet was guessed at byte %llu, and is at byte %llu",
                 (unsigned long long)b->from, (unsigned long long)a->to);
    } else if (b->previous[0] && !continues) {
        m->fit.same = false;
        snprintf(m->fit.why, sizeof(m->fit.why),
                 "it continues %.60s, which is another one or was made again", b->previous);
    } else if (!b->first && !(continues && b->whole)) { /* else it is one run from the start on */
        int rc = continues ? compare_continued(m, err) : compare_lead(m, err);

        compare_faces(m);
        return rc;
    }
    return 0;
}

static int add_unfinished(struct join_result *r, uint64_t id)
{
    if (GROW(r->unfinished, r->unfinished_count, r->unfinished_cap) < 0)
        return -ERR_SYSTEM;
    r->unfinished[r->unfinished_count++] = id;
    return 0;
}

/* What the last piece has left, now that the next one is known. */
static int settle(struct range *a, const struct meeting *m, struct err *err)
{
    struct join_result *r = &a->pieces[a->count - 1];
    const struct border *b = &a->last;
    const bool continues = m->b->first.previous[0] != '\0'; /* it has them all */
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < m->rest.call_count && !continues; i++)
        if (m->rest.calls[i].borders == 1)
            rc = add_unfinished(r, m->rest.calls[i].operation);
    for (uint64_t i = 0; rc == 0 && i < b->held && !continues; i++)
        rc = add_unfinished(r, b->held_id + i);
    return rc < 0 ? out_of_memory(err) : 0;
}

#define MOST(a, b) ((a) > (b) ? (a) : (b))

/* What |a| asks of the time before, as far as it does not know it, with what |b| asks.  The most
 * that there was is counted with what only |a| has. */
static int merge_past(struct past *a, const struct past *b, const struct meeting *m)
{
    uint64_t memory = 0;

    for (uint32_t i = 0; i < m->known.flow_count; i++)
        memory += m->known.flows[i].memory;
    a->order_asked |= b->order_asked;
    a->flow_asked |= b->flow_asked;
    for (size_t i = 0; i < sizeof(a->ports_asked); i++)
        a->ports_asked[i] |= b->ports_asked[i];
    a->connections = MOST(a->connections, b->connections + m->rest.connections);
    a->waiting = MOST(a->waiting, b->waiting + m->rest.call_count);
    a->waiting_bytes = MOST(a->waiting_bytes, b->waiting_bytes + m->rest.call_bytes);
    a->framing = MOST(a->framing, b->framing + memory);
    a->queued = MOST(a->queued, b->queued);
    a->held = MOST(a->held, b->held);
    for (uint32_t i = 0; i < b->asked.count; i++)
        if (xids_merge(&a->asked, &b->asked.pairs[i]) < 0)
            return -ERR_SYSTEM;
    return 0;
}

/* The connections of |b| that |a| does not know, or not in both directions, are asked of the time
 * before it. */
static int merge_need(struct outline *a, const struct outline *b)
{
    const uint32_t count = a->flow_count;

    for (uint32_t i = 0; i < b->flow_count; i++) {
        const struct outline_flow *from = &b->flows[i];
        const struct outline sorted = { .flows = a->flows, .flow_count = count };
        struct outline_flow *to = find(&sorted, from);

        if (!to) {
            if (GROW(a->flows, a->flow_count, a->flow_cap) < 0)
                return -ERR_SYSTEM;
            a->flows[a->flow_count++] = *from;
            continue;
        }
        to->asked |= from->asked;
        to->over |= from->over;
        if (to->server == 2)
            to->server = from->server;
        for (int side = 0; side < 2; side++) {
            bool asked = to->stream[side].asked || from->stream[side].asked;

            if (!to->stream[side].started)
                to->stream[side] = from->stream[side];
            to->stream[side].asked = asked;
        }
    }
    if (a->flow_count)
        qsort(a->flows, a->flow_count, sizeof(*a->flows), outline_flow_order);
    return 0;
}

/* |a| then knows what holds behind |b|. */
static int merge_faces(struct range *a, struct range *b, struct err *err)
{
    const struct faces_span next = faces_of(b);
    struct faces end = a->last.faces.end;
    int rc = faces_pass(
        &end, &next, is_closed(a) || a->first.faces.renewed ? NULL : &a->first.faces.before, err);

    a->last.faces.end = (struct faces){ 0 };
    faces_free(&b->last.faces.end);
    b->last.faces.end = end;
    a->first.faces.renewed |= b->first.faces.renewed;
    return rc;
}

static int take_pieces(struct range *a, struct range *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        if (GROW(a->pieces, a->count, a->cap) < 0)
            return -ERR_SYSTEM;
        a->pieces[a->count] = b->pieces[i];
        a->pieces[a->count++].before += a->frames;
        b->pieces[i] = (struct join_result){ 0 };
    }
    a->frames += b->frames;
    a->again |= b->again;
    return 0;
}

static int merge(struct range *a, struct range *b, struct meeting *m, struct err *err)
{
    if (settle(a, m, err) < 0)
        return -err->code;
    if (!is_closed(a) && (merge_past(&a->first.past, &b->first.past, m) < 0 ||
                          merge_need(&a->first.end, &b->first.end) < 0))
        return out_of_memory(err);
    if (outline_add(&b->rest, &m->rest, err) < 0)
        return -err->code;
    if (take_pieces(a, b) < 0)
        return out_of_memory(err);
    if (merge_faces(a, b, err) < 0)
        return -err->code;
    border_free(&a->last);
    outline_free(&a->rest);
    a->last = b->last;
    a->rest = b->rest;
    b->last = (struct border){ { 0 } };
    b->rest = (struct outline){ 0 };
    range_free(b);
    return 0;
}

int range_append(struct range *a, struct range *b, struct err *err)
{
    struct meeting m = { .a = a, .b = b };
    int rc;

    if (b->again)
        return 1;
    rc = outline_copy(&m.known, &a->last.end, err);
    if (rc == 0)
        rc = outline_add(&m.known, &a->rest, err);
    if (rc == 0)
        rc = compare(&m, err);
    if (rc == 0 && !m.fit.same && b->count > 1) {
        rc = 1;
    } else if (rc == 0) {
        struct join_result *first = b->pieces;

        first->verdict = m.fit.same ? JOIN_EXACT : JOIN_AGAIN;
        first->carried = m.fit.carried;
        first->adopted = m.fit.adopted;
        snprintf(first->why, sizeof(first->why), "%s", m.fit.why);
        b->again = !m.fit.same;
        rc = merge(a, b, &m, err);
    }
    outline_free(&m.known);
    outline_free(&m.rest);
    return rc;
}
