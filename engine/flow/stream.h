/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/stream.h
 *
 * One direction of one TCP connection, turned from segments into bytes for its framer.
 * Bytes come out once, in order; a byte that arrives twice keeps its first value.
 *
 * A hole (bytes that a later segment lies behind) is given up when the peer has acknowledged
 * past it and a little grace is over (captures are out of order too), when the window is
 * full, when it is STREAM_HOLE_AGE old, and at the stream's end.
 *
 * Memory: at most the window's bytes of segments that wait behind a hole, each counted as 512 at
 * least.
 */
#ifndef NFSDIGEST_FLOW_STREAM_H
#define NFSDIGEST_FLOW_STREAM_H

#include "flow/framer.h"

enum {
    STREAM_GRACE_SEGMENTS = 64, /* of the connection, once or twice after the acknowledgement */
    STREAM_STALE_SEGMENTS = 8,  /* so many in a row from elsewhere are another connection */
    STREAM_FAR = 16 << 20,      /* bytes: no sender is this far from what was seen */
    STREAM_LATE_HOLES = 4,      /* given up, remembered for segments that come after all */
};
#define STREAM_GRACE INT64_C(50000000)       /* ns, once or twice after it */
#define STREAM_HOLE_AGE INT64_C(30000000000) /* ns without any */

struct segment {
    struct segment *next;
    uint32_t seq, cap_len, wire_len;
    uint64_t frame;
    int64_t time;
    uint8_t data[];
};

struct stream {
    struct framer framer;
    bool started; /* |next| is valid */
    bool acked;   /* |ack| is valid */
    bool alone;   /* nothing of the other direction was captured so far */
    uint8_t stale;
    uint32_t next;         /* sequence number of the first byte not yet delivered */
    uint32_t ack;          /* highest one that the peer has sent */
    struct segment *queue; /* by sequence number, behind a hole; captured bytes don't overlap */
    struct segment *last;  /* of the queue */
    uint32_t queued;       /* bytes of memory in |queue| */
    int64_t hole_since;    /* clock when the queue was last empty */
    uint32_t ack_before;   /* |ack| at the last turn of the grace period, */
    uint32_t ack_aged;     /* and at the one before: what lies behind this is given up */
    int64_t turned;        /* clock of that turn */
    uint32_t arrivals, turned_at; /* segments of the connection, in all and at that turn */
    struct {
        uint32_t from, to;
    } late[STREAM_LATE_HOLES];
    uint8_t late_count;
};

/* What the streams of one engine share. */
struct stream_pool {
    uint32_t window, total; /* limits in bytes */
    uint64_t queued;        /* in all streams */
    uint64_t framing;       /* bytes that their framers have allocated */
    int64_t clock;          /* latest frame time seen */
    /* counters: */
    uint64_t segments, duplicates, reordered, holes, hole_bytes, late, restarts;
};

void stream_init(struct stream *s, const struct message_host *host, struct flow *flow,
                 uint8_t side);
void stream_free(struct stream *s, struct stream_pool *pool);

/* The next byte is |seq|; what was before is ended first. |lost|: it is not the connection's first.
 */
int stream_start(struct stream *s, struct stream_pool *pool, uint32_t seq, bool lost,
                 uint64_t frame, int64_t time, struct err *err);

/* A segment with data. */
int stream_segment(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                   uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time,
                   struct err *err);

/* The peer's acknowledgement. */
static inline void stream_ack(struct stream *s, uint32_t ack)
{
    if (!s->acked || (int32_t)(ack - s->ack) > 0) {
        s->ack = ack;
        s->acked = true;
    }
}

/* Gives up the hole if it is time to; |frame|, |time|: where that is noticed. */
int stream_sweep(struct stream *s, struct stream_pool *pool, uint64_t frame, int64_t time,
                 struct err *err);

/* Gives up all holes and delivers what is queued; |end|: the message being read, too. */
int stream_flush(struct stream *s, struct stream_pool *pool, bool end, uint64_t frame, int64_t time,
                 struct err *err);

int stream_save(const struct stream *s, struct buf *out);
int stream_restore(struct stream *s, struct stream_pool *pool, struct unpack *in);

#endif
