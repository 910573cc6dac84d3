/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/stream.h
 *
 * Turns the segments of one direction of a TCP connection into bytes for its framer.  Bytes come
 * out once, in order.  If a byte arrives twice, its first value stays, unless a segment that
 * continues the stream contradicts what was kept behind a hole.
 *
 * A hole is bytes that are missing before a later segment.  It is given up in these cases:
 * - The peer has acknowledged more, and a short grace time is over, because captures can be out of
 *   order.
 * - The window is full.
 * - The stream ends.
 * - The stream has stood still for so long that no sender would try again: STREAM_HOLE_AGE, or
 *   STREAM_ALONE_AGE if nothing of the peer is captured.  Until then the missing bytes may be sent
 *   again, as the peer has not acknowledged them.
 *
 * A segment that does not continue the stream is kept aside (elsewhere.h).  |moved| is set when it
 * turns out that the stream goes on there; then the connection starts it again (stream_move).
 *
 * Memory: at most the window's bytes of segments that wait behind a hole, each counted as at least
 * 512 bytes, and those kept aside.
 */
#ifndef NFSDIGEST_FLOW_STREAM_H
#define NFSDIGEST_FLOW_STREAM_H

#include "flow/elsewhere.h"
#include "flow/framer.h"
#include "flow/past.h"

enum {
    STREAM_GRACE_SEGMENTS = 64, /* of the connection, once or twice after the acknowledgement */
    STREAM_FAR = 16 << 20,      /* bytes: no sender is this far from what was seen */
    STREAM_LATE_HOLES = 4,      /* given up, remembered for segments that come after all */
};
#define STREAM_GRACE INT64_C(50000000)         /* ns, once or twice after it */
#define STREAM_HOLE_AGE INT64_C(1000000000000) /* ns; Linux gives a connection up after 924 s */
#define STREAM_ALONE_AGE                                                                           \
    INT64_C(120000000000) /* ns between two tries, at most: RFC 6298 s2.5 asks                     \
                             for 60 s or more, Linux has 120 s */

struct stream_pool;

struct stream {
    struct framer framer;
    struct stream_pool *pool; /* of the engine */
    bool started;             /* |next| is valid */
    bool acked;               /* |ack| is valid */
    bool alone;               /* nothing of the other direction was captured so far */
    bool ended;               /* a RST or FIN came, and nothing continued the stream since */
    bool fin_waits;           /* a FIN came whose number is |fin|, behind a hole */
    bool moved;               /* it goes on elsewhere */
    bool ack_far;             /* the peer acknowledges what is far from the stream */
    bool unsure;              /* it may have begun before the first frame (past.h), */
    bool begun;               /* it has, or this is assumed, and |origin| is valid; */
    bool assumed;             /* it was assumed that a record mark is there; */
    bool asked;               /* a segment before it came */
    uint32_t origin;          /* where in the stream the first segment was */
    uint32_t fin;
    uint32_t next;         /* sequence number of the first byte not yet delivered */
    uint32_t ack;          /* highest one that the peer has sent */
    struct segment *queue; /* by sequence number, behind a hole; captured bytes don't overlap */
    struct segment *last;  /* of the queue */
    struct segment *hint;  /* of the queue, where a segment was put last; NULL: nowhere */
    uint32_t queued;       /* bytes of memory in |queue| */
    int64_t advanced;      /* clock when bytes came out last, or the queue was last empty */
    uint32_t ack_before;   /* |ack| at the last turn of the grace period, */
    uint32_t ack_aged;     /* and at the one before: what lies behind this is given up */
    int64_t turned;        /* clock of that turn */
    uint32_t arrivals, turned_at; /* segments of the connection, in all and at that turn */
    struct {
        uint32_t from, to;
        uint32_t old;    /* a boolean: from before the border of a piece */
        uint32_t joined; /* a boolean: not a hole, but the bytes before the first segment seen */
    } late[STREAM_LATE_HOLES];
    uint8_t late_count;
    struct elsewhere elsewhere;
};

/* The state that the streams of one engine share. */
struct stream_pool {
    struct past *past;      /* NULL: everything is known */
    uint32_t window, total; /* limits in bytes */
    uint64_t queued;        /* in all streams */
    uint64_t framing;       /* bytes that their framers have allocated */
    int64_t latest;         /* the latest frame time seen, or TIME_NONE */
    int64_t clock;          /* ns from the first frame time to the latest */
    /* counters: */
    uint64_t segments, duplicates, reordered, holes, hole_bytes, late, restarts, strays;
};

/* All pointers must outlive the stream. */
void stream_init(struct stream *s, const struct message_host *host, struct stream_pool *pool,
                 struct flow *flow, uint8_t side);
void stream_free(struct stream *s);

/* Starts the stream at |seq|.  Ends the earlier stream first, if there was one.  |lost|: the byte
 * at |seq| is not the connection's first. */
int stream_start(struct stream *s, uint32_t seq, bool lost, struct seen seen, struct err *err);

/* Takes a segment with data. */
int stream_segment(struct stream *s, const struct arrival *arrival, struct err *err);

/* Returns true if |seq| is too far from the stream to belong to it. */
static inline bool stream_far(const struct stream *s, uint32_t seq)
{
    return s->started && seq - s->next + STREAM_FAR > 2 * STREAM_FAR;
}

/* Takes an acknowledgement of the peer. */
static inline void stream_ack(struct stream *s, uint32_t ack)
{
    s->ack_far = stream_far(s, ack);
    if (elsewhere_acked(&s->elsewhere, ack) && (s->ack_far || s->elsewhere.sure))
        s->moved = true;
    if (!s->ack_far && (!s->acked || (int32_t)(ack - s->ack) > 0)) {
        s->ack = ack;
        s->acked = true;
    }
}

/* Ends the stream where it was, and starts it where it has moved to: at |seq|, the first byte of
 * the new connection.  If |seq| is NULL, starts at the segments kept aside, if there are any.  Then
 * takes the segments kept aside. */
int stream_move(struct stream *s, const uint32_t *seq, struct seen seen, struct err *err);

/* Returns true if the peer has acknowledged everything that was captured. */
static inline bool stream_all_acked(const struct stream *s)
{
    return s->started && s->acked &&
           (int32_t)(s->ack - (s->queue ? s->last->seq + s->last->wire_len : s->next)) >= 0;
}

/* Gives up the first hole if its time is over.  |seen| is where this is noticed. */
int stream_sweep(struct stream *s, struct seen seen, struct err *err);

/* Gives up all holes and delivers the queued segments.  |end|: also ends the message being read. */
int stream_flush(struct stream *s, bool end, struct seen seen, struct err *err);

/* Ends the stream.  Also delivers the segments kept aside, if there is more than one, or if a RST
 * or FIN came before. */
int stream_finish(struct stream *s, struct seen seen, struct err *err);

/* The border of a piece (past.h) is here. */
void stream_border(struct stream *s);

uint64_t stream_layout(uint64_t hash); /* see pack_layout */
int stream_save(const struct stream *s, struct buf *out);
int stream_restore(struct stream *s, struct unpack *in);

#endif
