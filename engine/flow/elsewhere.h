/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/elsewhere.h
 *
 * Segments that do not continue their stream.  Either the receiver ignored them (RFC 9293 s3.4: it
 * takes only what lies in its window), or they begin another connection between the same ports
 * whose SYN was not captured.  They are kept aside until later segments decide it:
 *
 *  - The stream goes on where it was: they were strays.
 *  - The peer acknowledges them, or ELSEWHERE_MANY come in a row, or the stream ended before them
 *    (RST or FIN): the stream has moved there.
 *
 * A segment whose number is far from the stream (STREAM_FAR) does not continue it.  A segment below
 * the stream is a copy or a retransmission, unless its bytes show something else: they differ from
 * the bytes of the earlier segment with this number; or they begin a message where none began, and
 * the stream was silent for longer than copies take.  Two such segments say that the stream has
 * moved.
 *
 * Memory: ELSEWHERE_MANY segments, counted with those of the stream's pool.  They are dropped when
 * the pool is full.
 */
#ifndef NFSDIGEST_FLOW_ELSEWHERE_H
#define NFSDIGEST_FLOW_ELSEWHERE_H

#include "flow/segment.h"

#include <stdbool.h>

enum {
    ELSEWHERE_MANY = 8,
    ELSEWHERE_SURE = 2,       /* segments whose bytes show something else, to say it has moved */
    ELSEWHERE_NEAR = 1 << 20, /* bytes; segments kept aside are at most this far from each other */
    ELSEWHERE_SEEN = 32,      /* segments of the stream whose first bytes are remembered */
    ELSEWHERE_HEAD = 8,       /* the number of these bytes */
};
#define ELSEWHERE_SILENCE INT64_C(10000000) /* ns; copies of a frame come sooner */

struct elsewhere {
    struct segment *first, *last; /* kept aside, in the order in which they came */
    uint32_t count;
    uint32_t from, to; /* their lowest sequence number, and the one behind the highest */
    uint32_t sure;     /* how many of them have bytes that show something else */
    uint32_t seen_count, seen_at;
    uint32_t seen_seq[ELSEWHERE_SEEN];
    uint8_t seen_head[ELSEWHERE_SEEN][ELSEWHERE_HEAD];
};

struct stream_pool;

/* Remembers the first bytes of a segment of the stream itself. */
static inline void elsewhere_see(struct elsewhere *e, const struct arrival *a)
{
    if (a->piece.cap_len < ELSEWHERE_HEAD)
        return;
    e->seen_at = (e->seen_at + 1) % ELSEWHERE_SEEN;
    e->seen_seq[e->seen_at] = a->seq;
    memcpy(e->seen_head[e->seen_at], a->piece.data, ELSEWHERE_HEAD);
    if (e->seen_count < ELSEWHERE_SEEN)
        e->seen_count++;
}

enum elsewhere_verdict { ELSEWHERE_COPY, ELSEWHERE_UNKNOWN, ELSEWHERE_OTHER };

/* Judges a segment below the stream's end by its bytes: a copy, something else, or unknown.
 * |silent|: the stream was silent for ELSEWHERE_SILENCE. */
enum elsewhere_verdict elsewhere_judge(const struct elsewhere *e, const struct arrival *a,
                                       bool silent);

/* Returns true if |seq| continues the segments kept aside. */
static inline bool elsewhere_continues(const struct elsewhere *e, uint32_t seq)
{
    return e->count && seq == e->to;
}

/* Returns true if |ack|, from the peer, acknowledges bytes that are kept aside. */
static inline bool elsewhere_acked(const struct elsewhere *e, uint32_t ack)
{
    return e->count && (int32_t)(ack - e->from) > 0 && (int32_t)(ack - e->to) <= 0;
}

/* Keeps a segment aside.  First drops the earlier ones, as strays, if it is far from them or if
 * there are ELSEWHERE_MANY.  Returns 0 or -ERR_SYSTEM. */
int elsewhere_keep(struct elsewhere *e, struct stream_pool *pool, const struct arrival *a,
                   bool sure);

/* Drops the segments kept aside, as strays. */
void elsewhere_forget(struct elsewhere *e, struct stream_pool *pool);

/* Returns the list of the segments kept aside, which the caller puts into place and frees.  Forgets
 * the remembered bytes of the stream. */
struct segment *elsewhere_take(struct elsewhere *e, struct stream_pool *pool, uint32_t *from);

void elsewhere_free(struct elsewhere *e, struct stream_pool *pool);

/* See pack_layout. */
uint64_t elsewhere_layout(uint64_t hash);
int elsewhere_save(const struct elsewhere *e, struct buf *out);
int elsewhere_restore(struct elsewhere *e, struct stream_pool *pool, struct unpack *in);

#endif
