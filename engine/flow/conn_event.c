/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_event.c
 *
 * Merges what happens to TCP connections into events, and puts them.  For conn_tcp.c, which finds
 * out what a segment is, and for conn.c.  The contract is in conn_event.h.
 */
#include "flow/conn_event.h"
#include "flow/conn_parts.h"
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

/* The client is the one that asks for the connection.  If that was not captured, the server is the
 * one whose port is known; of two such ports, it is the smaller one. */
static uint8_t guess_client(const struct conns *c, const struct conn *x,
                            const struct conn_event_note *note)
{
    bool known[2] = { conns_port_known(c, x->flow.port[0]), conns_port_known(c, x->flow.port[1]) };

    if (x->flow.id)
        return !x->flow.server;
    if (note->kind == EVENT_SYN)
        return note->side;
    if (note->kind == EVENT_SYN_ACK || note->kind == EVENT_REFUSED)
        return !note->side;
    if (known[0] != known[1])
        return known[0];
    return x->flow.port[0] < x->flow.port[1];
}

/* True if the event belongs to a connection that may replace this one. */
static bool of_next(const struct conn *x, const struct conn_event *e)
{
    return (x->begin.side[0] || x->begin.side[1]) && e->first.frame >= x->begin.seen.frame;
}

static int put(struct conn *x, const struct conn_event *e, struct err *err)
{
    const struct message_host *host = x->stream[0].framer.host;
    const struct flow *f = &x->flow;
    uint8_t client = f->id ? !f->server : x->events->client;
    const struct record_connection_event r = { .flow = of_next(x, e) ? 0 : f->id,
                                               .client = f->address[client],
                                               .server = f->address[!client],
                                               .client_port = f->port[client],
                                               .server_port = f->port[!client],
                                               .direction = e->side != client,
                                               .event = e->kind,
                                               .frame = e->first.frame,
                                               .time = e->first.time,
                                               .last_frame = e->last.frame,
                                               .last_time = e->last.time,
                                               .count = e->count,
                                               .value = e->value };

    return host->event ? host->event(host->ctx, &r, err) : 0;
}

/* Puts the events that |closed| or |before| name: those of earlier turns, and those that began in
 * an earlier frame. */
static int put_some(struct conn *x, bool closed, uint64_t before, struct err *err)
{
    struct conn_events *events = x->events;
    uint8_t left = 0;
    int rc = 0;

    for (uint8_t i = 0; i < events->count; i++) {
        struct conn_event *e = &events->open[i];

        if (rc == 0 && ((closed && e->closed) || e->first.frame < before))
            rc = put(x, e, err);
        else
            events->open[left++] = *e;
    }
    events->count = left;
    return rc;
}

static bool near(const struct conn_event *e, struct seen seen)
{
    return e->last.time == TIME_NONE || seen.time == TIME_NONE ||
           (uint64_t)seen.time - (uint64_t)e->last.time <= (uint64_t)CONN_EVENT_GAP ||
           seen.time < e->last.time;
}

/* Returns true if the segment, of the same kind and side, is one more of this event. */
static bool continues(const struct conn_events *events, const struct conn_event *e,
                      const struct conn_event_note *note)
{
    switch (note->kind) {
    case EVENT_RESENT:
        return e->seq == note->seq || near(e, note->seen);
    case EVENT_ZERO_WINDOW:
        return events->shut[note->side] || near(e, note->seen);
    case EVENT_LATE:
        return near(e, note->seen);
    default: /* they end with the turn */
        return true;
    }
}

static void merge(struct conn_event *e, const struct conn_event_note *note)
{
    if (note->kind != EVENT_SYN)
        e->value += note->value;
    else if (e->seq != note->seq) /* another attempt */
        e->value++;
    e->seq = note->seq;
    e->count++;
    e->last = note->seen;
}

/* Begins another turn if the event says so. */
static int turn(struct conn *x, const struct conn_event_note *note, struct err *err)
{
    struct conn_events *events = x->events;

    if ((note->kind != EVENT_SYN_ACK && note->kind != EVENT_FIN && note->kind != EVENT_RST) ||
        (events->turn[0] == note->kind && events->turn[1] == note->side))
        return 0;
    events->turn[0] = note->kind;
    events->turn[1] = note->side;
    for (uint8_t i = 0; i < events->count; i++)
        events->open[i].closed = true;
    return x->flow.id ? put_some(x, true, 0, err) : 0;
}

int conn_event_note(struct conns *c, struct conn *x, const struct conn_event_note *note,
                    struct err *err)
{
    struct conn_events *events = x->events;
    struct conn_event *e;
    bool shuts = note->kind == EVENT_ZERO_WINDOW;
    int rc;

    if (!events && !(events = x->events = calloc(1, sizeof(*events))))
        return err_memory(err, "connections");
    events->client = guess_client(c, x, note);
    if ((rc = turn(x, note, err)) < 0)
        return rc;
    for (e = events->open; e < events->open + events->count; e++) {
        if (e->closed || e->kind != note->kind || e->side != note->side)
            continue;
        if (continues(events, e, note)) {
            merge(e, note);
            if (shuts && !events->shut[note->side])
                e->shut = note->seen.time;
            events->shut[note->side] |= shuts;
            return 0;
        }
        e->closed = true;
    }
    if (events->count == CONN_EVENTS_OPEN) {
        if ((rc = put(x, events->open, err)) < 0)
            return rc;
        memmove(events->open, events->open + 1, sizeof(*e) * --events->count);
    }
    events->shut[note->side] |= shuts;
    events->open[events->count++] = (struct conn_event){
        .kind = note->kind,
        .side = note->side,
        .seq = note->seq,
        .first = note->seen,
        .last = note->seen,
        .shut = shuts ? note->seen.time : TIME_NONE,
        .count = 1,
        .value = note->kind == EVENT_SYN ? 1 : note->value,
    };
    return 0;
}

void conn_event_opened(struct conn *x, uint8_t side, struct seen seen)
{
    struct conn_events *events = x->events;

    events->shut[side] = false;
    for (uint8_t i = 0; i < events->count; i++) {
        struct conn_event *e = &events->open[i];

        if (e->kind != EVENT_ZERO_WINDOW || e->side != side || e->shut == TIME_NONE)
            continue;
        if (seen.time > e->shut)
            e->value += (uint64_t)seen.time - (uint64_t)e->shut;
        e->shut = TIME_NONE;
    }
}

bool conn_event_asked(const struct conn *x, uint8_t side, uint32_t seq)
{
    for (uint8_t i = 0; x->events && i < x->events->count; i++) {
        const struct conn_event *e = &x->events->open[i];

        if (e->kind == EVENT_SYN && e->side == side && !e->closed && e->seq == seq)
            return true;
    }
    return false;
}

int conn_event_renew(struct conn *x, uint64_t frame, struct err *err)
{
    int rc = x->events ? put_some(x, false, frame, err) : 0;

    if (x->events)
        x->events->shut[0] = x->events->shut[1] = false;
    return rc;
}

int conn_event_end(struct conn *x, struct err *err)
{
    int rc = x->events ? put_some(x, false, UINT64_MAX, err) : 0;

    free(x->events);
    x->events = NULL;
    return rc;
}

int conns_event_pause(struct conns *c, struct err *err)
{
    int rc = 0;

    /* oldest first, as in conns_end */
    for (uint32_t slot = c->oldest; rc == 0 && slot != TABLE_NONE; slot = c->conns[slot]->newer)
        rc = conn_event_end(c->conns[slot], err);
    return rc;
}
