/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/conn_event.h
 *
 * What happens to TCP connections, apart from the messages on them: how they begin and end, closed
 * windows, segments that were sent again (enum connection_event).
 *
 * An event that comes again is merged into the one before, which counts it.  So each connection has
 * some open events.  Those of a turn (see conn_event_note) are put when the next turn begins, if
 * the id of the connection is known by then; all of them, when the connection ends or the file
 * does.
 *
 * Memory: CONN_EVENTS_OPEN events (about 520 bytes) for each connection that has open ones.
 */
#ifndef NFSDIGEST_FLOW_CONN_EVENT_H
#define NFSDIGEST_FLOW_CONN_EVENT_H

#include "base/err.h"
#include "flow/seen.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONN_EVENTS_OPEN = 8 };
/* Of events of one kind that are further apart, the second one is another event: ns.  This does not
 * apply to those that say when they end. */
#define CONN_EVENT_GAP INT64_C(1000000000)

struct conn;
struct conns;

struct conn_event {
    uint8_t kind, side; /* enum connection_event; the side of the connection that sent it */
    bool closed;        /* nothing more is merged into it */
    uint32_t seq;       /* of its last segment */
    struct seen first, last;
    int64_t shut; /* closed windows: since when the window is closed, or TIME_NONE */
    uint64_t count, value;
};

struct conn_events {
    struct conn_event open[CONN_EVENTS_OPEN];
    uint8_t count;
    uint8_t client;  /* side */
    uint8_t turn[2]; /* kind and side of the event that began the turn */
    bool shut[2];    /* the window that this side offers is closed */
};

/* A segment that makes an event. */
struct conn_event_note {
    uint8_t kind, side;
    uint32_t seq;
    struct seen seen;
    uint64_t value;
};

/* Notes an event.  A SYN+ACK, FIN or RST that differs from the last one begins another turn. */
int conn_event_note(struct conns *c, struct conn *x, const struct conn_event_note *note,
                    struct err *err);

/* The window that |side| offers is open again. */
void conn_event_opened(struct conn *x, uint8_t side, struct seen seen);

/* Returns true if |side| has sent a SYN with this number that nobody has answered. */
bool conn_event_asked(const struct conn *x, uint8_t side, uint32_t seq);

/* Puts the open events from before |frame|, and forgets them: another connection begins there. */
int conn_event_renew(struct conn *x, uint64_t frame, struct err *err);

/* Puts all open events, and forgets them. */
int conn_event_end(struct conn *x, struct err *err);

/* The same for all connections: a file ends here. */
int conns_event_pause(struct conns *c, struct err *err);

#endif
