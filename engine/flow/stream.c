/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/stream.h"
#include "base/pack.h"
#include "record/record.h"

#include <stdlib.h>

enum { SEGMENT_LEAST = 512 };

void stream_init(struct stream *s, const struct message_host *host, struct flow *flow, uint8_t side)
{
    memset(s, 0, sizeof(*s));
    framer_init(&s->framer, host, flow, side, true);
    s->alone = true;
}

static uint32_t segment_memory(const struct segment *g)
{
    uint32_t len = (uint32_t)sizeof(*g) + g->cap_len;

    /* small ones count for more than they are: so few fit that walking along them takes no time */
    return len > SEGMENT_LEAST ? len : SEGMENT_LEAST;
}

static void dequeue(struct stream *s, struct stream_pool *pool)
{
    struct segment *g = s->queue;

    s->queue = g->next;
    if (!g->next)
        s->last = NULL;
    s->queued -= segment_memory(g);
    pool->queued -= segment_memory(g);
    free(g);
    s->hole_since = pool->clock;
}

void stream_free(struct stream *s, struct stream_pool *pool)
{
    while (s->queue)
        dequeue(s, pool);
    framer_free(&s->framer);
}

/* Delivers what of a segment lies at or behind s->next, which it must reach. */
static int deliver(struct stream *s, uint32_t seq, const uint8_t *data, uint32_t cap_len,
                   uint32_t wire_len, uint64_t frame, int64_t time, struct err *err)
{
    uint32_t old = s->next - seq;
    int rc = 0;

    if (old < cap_len)
        rc = framer_data(&s->framer, data + old, cap_len - old, frame, time, err);
    if (rc == 0 && wire_len > cap_len)
        rc = framer_gap(&s->framer, wire_len - (old > cap_len ? old : cap_len), SIGHTING_CUT, frame,
                        time, err);
    s->next = seq + wire_len;
    return rc;
}

/* Delivers queued segments that have come into reach. */
static int drain(struct stream *s, struct stream_pool *pool, struct err *err)
{
    int rc = 0;

    while (rc == 0 && s->queue && (int32_t)(s->queue->seq - s->next) <= 0) {
        const struct segment *g = s->queue;
        uint32_t wire_len = g->wire_len;
        if (g->next && g->next->seq - g->seq < wire_len) /* another copy was cut later */
            wire_len = g->next->seq - g->seq;
        if ((int32_t)(g->seq + wire_len - s->next) > 0)
            rc = deliver(s, g->seq, g->data, g->cap_len, wire_len, g->frame, g->time, err);
        dequeue(s, pool);
    }
    return rc;
}

static void remember_late(struct stream *s, uint32_t from, uint32_t to)
{
    unsigned i = s->late_count < STREAM_LATE_HOLES ? s->late_count++ : STREAM_LATE_HOLES - 1;

    memmove(s->late + 1, s->late, i * sizeof(s->late[0]));
    s->late[0].from = from;
    s->late[0].to = to;
}

/* Gives up the hole before the queue's first segment. */
static int give_up(struct stream *s, struct stream_pool *pool, uint64_t frame, int64_t time,
                   struct err *err)
{
    uint32_t len = s->queue->seq - s->next;
    int rc;

    pool->holes++;
    pool->hole_bytes += len;
    remember_late(s, s->next, s->queue->seq);
    rc = s->framer.host->problem(s->framer.host->ctx, PROBLEM_HOLE, s->framer.flow, s->framer.side,
                                 frame, time, len, err);
    if (rc == 0)
        rc = framer_gap(&s->framer, len, SIGHTING_HOLE, s->queue->frame, s->queue->time, err);
    s->next = s->queue->seq;
    return rc < 0 ? rc : drain(s, pool, err);
}

int stream_flush(struct stream *s, struct stream_pool *pool, bool end, uint64_t frame, int64_t time,
                 struct err *err)
{
    int rc = 0;

    while (rc == 0 && s->queue)
        rc = give_up(s, pool, frame, time, err);
    if (rc == 0 && end && s->started) {
        rc = framer_end(&s->framer, frame, time, err);
        s->started = false;
    }
    return rc;
}

int stream_start(struct stream *s, struct stream_pool *pool, uint32_t seq, bool lost,
                 uint64_t frame, int64_t time, struct err *err)
{
    int rc = stream_flush(s, pool, true, frame, time, err);

    s->started = true;
    s->acked = false;
    s->stale = 0;
    s->next = seq;
    s->framer.lost = lost;
    s->late_count = 0;
    if (lost) /* the first segments seen need not be in order */
        remember_late(s, seq - (256 << 10), seq);
    return rc;
}

int stream_sweep(struct stream *s, struct stream_pool *pool, uint64_t frame, int64_t time,
                 struct err *err)
{
    int rc = 0;

    if (!s->queue)
        return 0;
    if (s->arrivals - s->turned_at >= STREAM_GRACE_SEGMENTS ||
        pool->clock - s->turned >= STREAM_GRACE) {
        s->ack_aged = s->ack_before;
        s->ack_before = s->alone ? s->last->seq : s->acked ? s->ack : s->next;
        s->turned = pool->clock;
        s->turned_at = s->arrivals;
    }
    if (pool->clock - s->hole_since > STREAM_HOLE_AGE)
        rc = give_up(s, pool, frame, time, err);
    while (rc == 0 && s->queue && (int32_t)(s->ack_aged - s->queue->seq) >= 0)
        rc = give_up(s, pool, frame, time, err);
    return rc;
}

/* Puts a piece of a segment into the queue, before *|at|. */
static int queue_piece(struct stream *s, struct stream_pool *pool, struct segment **at,
                       uint32_t seq, const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
                       uint64_t frame, int64_t time, struct err *err)
{
    struct segment *g = malloc(sizeof(*g) + cap_len);

    if (!g)
        return err_set(err, ERR_SYSTEM, "out of memory");
    *g = (struct segment){ *at, seq, cap_len, wire_len, frame, time };
    if (cap_len)
        memcpy(g->data, data, cap_len);
    if (!s->queue) {
        s->hole_since = s->turned = pool->clock;
        s->turned_at = s->arrivals;
        s->ack_before = s->ack_aged = s->next;
    }
    if (!*at)
        s->last = g;
    *at = g;
    s->queued += segment_memory(g);
    pool->queued += segment_memory(g);
    return 0;
}

/* Keeps a segment that lies behind a hole: those of its bytes that no queued one has brought. */
static int enqueue(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                   uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time,
                   struct err *err)
{
    struct segment **at = &s->queue;
    uint32_t from = seq, end = seq + cap_len, limit;
    bool new = false;
    int rc = 0;

    if (s->queue && (int32_t)(seq - (s->last->seq + s->last->cap_len)) >= 0)
        at = &s->last->next;
    while (rc == 0) {
        while (*at && (int32_t)((*at)->seq + (*at)->cap_len - from) <= 0 &&
               (int32_t)((*at)->seq - from) < 0)
            at = &(*at)->next;
        limit = *at && (int32_t)((*at)->seq - end) < 0 ? (*at)->seq : end;
        if ((int32_t)(limit - from) > 0 || (!cap_len && (!*at || (*at)->seq != seq))) {
            rc = queue_piece(s, pool, at, from, data + (from - seq), limit - from,
                             limit == end ? wire_len - (from - seq) : limit - from, frame, time,
                             err);
            if (rc < 0)
                return rc;
            new = true;
            at = &(*at)->next;
        }
        if (limit == end)
            break;
        from = (*at)->seq + (*at)->cap_len;
        if ((int32_t)(from - end) >= 0) { /* what is cut off behind it is known by its length */
            if ((*at)->wire_len < wire_len - ((*at)->seq - seq))
                (*at)->wire_len = wire_len - ((*at)->seq - seq);
            break;
        }
    }
    if (new)
        pool->reordered++;
    else
        pool->duplicates++;
    while (rc == 0 && s->queue && (s->queued > pool->window || pool->queued > pool->total))
        rc = give_up(s, pool, frame, time, err);
    return rc;
}

/* A segment whose bytes lie before s->next: those of a hole that was given up may hold whole
 * messages all the same. */
static int late(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time, struct err *err)
{
    struct framer alone;
    int rc;

    for (unsigned i = 0; i < s->late_count; i++) {
        uint32_t from = s->late[i].from, to = s->late[i].to;
        if ((int32_t)(seq - from) < 0 || (int32_t)(seq + wire_len - to) > 0)
            continue;
        /* what is left of the hole before and behind; the part behind first */
        s->late[i].from = seq + wire_len;
        if (seq != from)
            remember_late(s, from, seq);
        pool->late++;
        framer_init(&alone, s->framer.host, s->framer.flow, s->framer.side, true);
        rc = framer_data(&alone, data, cap_len, frame, time, err);
        if (rc == 0 && wire_len > cap_len)
            rc = framer_gap(&alone, wire_len - cap_len, SIGHTING_CUT, frame, time, err);
        if (rc == 0)
            rc = framer_end(&alone, frame, time, err);
        framer_free(&alone);
        return rc;
    }
    pool->duplicates++;
    return 0;
}

int stream_segment(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                   uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time,
                   struct err *err)
{
    int32_t ahead;
    int rc;

    pool->segments++;
    if (!s->started && (rc = stream_start(s, pool, seq, true, frame, time, err)) < 0)
        return rc;
    ahead = (int32_t)(seq - s->next);
    if (ahead < -STREAM_FAR || ahead > STREAM_FAR || s->stale >= STREAM_STALE_SEGMENTS) {
        pool->restarts++;
        if ((rc = stream_start(s, pool, seq, true, frame, time, err)) < 0)
            return rc;
        ahead = 0;
    }
    if (ahead < 0 && (int32_t)(seq + wire_len - s->next) <= 0) {
        /* a keep-alive repeats one byte; a run of old data far back is a connection whose
         * beginning was not captured */
        s->stale = ahead < -(1 << 20) ? s->stale + 1 : 0;
        return late(s, pool, seq, data, cap_len, wire_len, frame, time, err);
    }
    s->stale = 0;
    if (ahead <= 0 && !s->queue)
        return deliver(s, seq, data, cap_len, wire_len, frame, time, err);
    if (ahead < 0) { /* these were delivered */
        uint32_t old = (uint32_t)-ahead;
        seq += old;
        data += old < cap_len ? old : cap_len;
        cap_len -= old < cap_len ? old : cap_len;
        wire_len -= old;
    }
    rc = enqueue(s, pool, seq, data, cap_len, wire_len, frame, time, err);
    return rc < 0 ? rc : drain(s, pool, err);
}

#define STREAM_PLAIN(step)                                                                         \
    step(started) step(acked) step(alone) step(stale) step(next) step(ack) step(hole_since)        \
        step(ack_before) step(ack_aged) step(turned) step(arrivals) step(turned_at) step(late)     \
            step(late_count)

int stream_save(const struct stream *s, struct buf *out)
{
    uint32_t count = 0;
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, s->field);
    STREAM_PLAIN(SAVE)
    for (const struct segment *g = s->queue; g; g = g->next)
        count++;
    bad |= pack_value(out, count);
    for (const struct segment *g = s->queue; g; g = g->next) {
        bad |= pack_value(out, g->seq) | pack_value(out, g->wire_len);
        bad |= pack_value(out, g->frame) | pack_value(out, g->time);
        bad |= pack_bytes(out, g->data, g->cap_len);
    }
    return bad ? -ERR_SYSTEM : framer_save(&s->framer, out);
}

int stream_restore(struct stream *s, struct stream_pool *pool, struct unpack *in)
{
    struct segment **at = &s->queue, g;
    struct bytes data;
    uint32_t count;

#define RESTORE(field) unpack_value(in, s->field);
    STREAM_PLAIN(RESTORE)
    unpack_value(in, count);
    if (s->late_count > STREAM_LATE_HOLES)
        in->failed = true;
    while (!in->failed && count--) {
        unpack_value(in, g.seq);
        unpack_value(in, g.wire_len);
        unpack_value(in, g.frame);
        unpack_value(in, g.time);
        data = unpack_bytes(in);
        if (in->failed || data.len > g.wire_len)
            break;
        if (!(*at = malloc(sizeof(g) + data.len)))
            return -ERR_SYSTEM;
        g.next = NULL;
        g.cap_len = data.len;
        **at = g;
        memcpy((*at)->data, data.data, data.len);
        s->queued += segment_memory(*at);
        pool->queued += segment_memory(*at);
        s->last = *at;
        at = &(*at)->next;
    }
    return in->failed ? -ERR_INPUT : framer_restore(&s->framer, in);
}
