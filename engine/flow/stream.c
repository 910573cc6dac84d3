/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/stream.h"
#include "base/pack.h"
#include "record/record.h"

#include <stdlib.h>

enum {
    LATE_AT_JOIN = 256 << 10, /* bytes: the first segments seen need not be in order */
    LONE = 256 << 10,         /* bytes: one segment this far behind a hole may be a stray */
    FAR_BELOW = 1 << 20,      /* bytes: hardly sent again */
};

void stream_init(struct stream *s, const struct message_host *host, struct flow *flow, uint8_t side)
{
    memset(s, 0, sizeof(*s));
    framer_init(&s->framer, host, flow, side, true);
    s->alone = true;
}

static void dequeue(struct stream *s, struct stream_pool *pool)
{
    struct segment *g = s->queue;

    s->queue = g->next;
    if (!g->next)
        s->last = NULL;
    if (s->hint == g)
        s->hint = NULL;
    s->queued -= segment_memory(g);
    pool->queued -= segment_memory(g);
    free(g);
    s->advanced = pool->clock;
}

void stream_free(struct stream *s, struct stream_pool *pool)
{
    while (s->queue)
        dequeue(s, pool);
    elsewhere_free(&s->elsewhere, pool);
    framer_free(&s->framer);
}

/* Delivers what of a segment lies at or behind s->next, which it must reach. */
static int deliver(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                   uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time,
                   struct err *err)
{
    uint32_t old = s->next - seq;
    int rc = 0;

    s->advanced = pool->clock;
    s->ended = false;
    elsewhere_see(&s->elsewhere, seq, data, cap_len);
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
            rc = deliver(s, pool, g->seq, g->data, g->cap_len, wire_len, g->frame, g->time, err);
        dequeue(s, pool);
    }
    return rc;
}

static void remember_late(struct stream *s, uint32_t from, uint32_t to, bool joined)
{
    unsigned i = s->late_count < STREAM_LATE_HOLES ? s->late_count++ : STREAM_LATE_HOLES - 1;

    memmove(s->late + 1, s->late, i * sizeof(s->late[0]));
    s->late[0].from = from;
    s->late[0].to = to;
    s->late[0].joined = joined;
}

/* Gives up the hole before the queue's first segment. */
static int give_up(struct stream *s, struct stream_pool *pool, uint64_t frame, int64_t time,
                   struct err *err)
{
    uint32_t len = s->queue->seq - s->next;
    int rc;

    pool->holes++;
    pool->hole_bytes += len;
    remember_late(s, s->next, s->queue->seq, false);
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
    s->acked = s->ack_far = s->ended = s->moved = false;
    s->elsewhere.seen_count = 0;
    s->advanced = pool->clock;
    s->next = seq;
    s->framer.lost = lost;
    s->late_count = 0;
    if (lost)
        remember_late(s, seq - LATE_AT_JOIN, seq, true);
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
        s->ack_before = s->acked ? s->ack : s->next;
        s->turned = pool->clock;
        s->turned_at = s->arrivals;
    }
    if (pool->clock - s->advanced > (s->alone ? STREAM_ALONE_AGE : STREAM_HOLE_AGE) &&
        !(s->queue == s->last && s->queue->seq - s->next > LONE))
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
    struct segment *g = segment_new(seq, data, cap_len, wire_len, frame, time);

    if (!g)
        return err_memory(err, "segments");
    g->next = *at;
    if (!s->queue) {
        s->advanced = s->turned = pool->clock;
        s->turned_at = s->arrivals;
        s->ack_before = s->ack_aged = s->next;
    }
    if (!*at)
        s->last = g;
    *at = s->hint = g;
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
    else if (s->hint && (int32_t)(seq - s->hint->seq) > 0 &&
             (int32_t)(seq - (s->hint->seq + s->hint->cap_len)) >= 0)
        at = &s->hint->next;
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

/* The given-up hole that a segment lies in, or -1. */
static int late_hole(const struct stream *s, uint32_t seq, uint32_t wire_len)
{
    for (int i = 0; i < s->late_count; i++)
        if ((int32_t)(seq - s->late[i].from) >= 0 && (int32_t)(seq + wire_len - s->late[i].to) <= 0)
            return i;
    return -1;
}

/* A segment whose bytes lie before s->next: those of a hole that was given up may hold whole
 * messages all the same. */
static int late(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time, struct err *err)
{
    struct framer alone;
    int rc, i = late_hole(s, seq, wire_len);
    uint32_t from;

    if (i < 0) {
        pool->duplicates++;
        return 0;
    }
    /* what is left of the hole before and behind; the part behind first */
    from = s->late[i].from;
    s->late[i].from = seq + wire_len;
    if (seq != from)
        remember_late(s, from, seq, s->late[i].joined);
    pool->late++;
    framer_init(&alone, s->framer.host, s->framer.flow, s->framer.side, true);
    alone.peer = s->framer.peer;
    alone.has_xid = s->framer.has_xid;
    alone.xid = s->framer.xid;
    rc = framer_data(&alone, data, cap_len, frame, time, err);
    if (rc == 0 && wire_len > cap_len)
        rc = framer_gap(&alone, wire_len - cap_len, SIGHTING_CUT, frame, time, err);
    if (rc == 0)
        rc = framer_end(&alone, frame, time, err);
    framer_free(&alone);
    return rc;
}

/* Keeps a segment aside that does not continue the stream: 1; 0: it is not such a segment. */
static int aside(struct stream *s, struct stream_pool *pool, const struct segment *plain,
                 const uint8_t *data, struct err *err)
{
    struct elsewhere *e = &s->elsewhere;
    int32_t ahead = (int32_t)(plain->seq - s->next);
    bool keep = stream_far(s, plain->seq), sure = false;
    int hole;

    if (!keep && ahead < 0) {
        hole = late_hole(s, plain->seq, plain->wire_len);
        if (hole >= 0 && !s->late[hole].joined)
            return 0;
        switch (elsewhere_judge(e, plain->seq, data, plain->cap_len,
                                pool->clock - s->advanced > ELSEWHERE_SILENCE)) {
        case ELSEWHERE_COPY:
            break;
        case ELSEWHERE_OTHER:
            keep = sure = true;
            break;
        case ELSEWHERE_UNKNOWN:
            keep = elsewhere_continues(e, plain->seq) || (hole < 0 && ahead < -FAR_BELOW);
            break;
        }
    } else if (!keep) { /* one that has begun below the stream's end grows past it */
        keep = elsewhere_continues(e, plain->seq) && (ahead > 0 || e->sure);
    }
    if (!keep)
        return 0;
    if (elsewhere_keep(e, pool, plain, data, sure) < 0)
        return err_memory(err, "segments");
    if (e->count && (s->ended || e->sure >= ELSEWHERE_SURE || e->count >= ELSEWHERE_MANY))
        s->moved = true;
    return 1;
}

/* Drops what is kept behind the hole where bytes that are in place say otherwise: it never reached
 * the receiver. */
static void drop_contradicted(struct stream *s, struct stream_pool *pool, uint32_t seq,
                              const uint8_t *data, uint32_t cap_len)
{
    struct segment **at = &s->queue, *g, *before = NULL;

    while ((g = *at) && (int32_t)(seq + cap_len - g->seq) > 0) {
        uint32_t skip = g->seq - seq, n = cap_len - skip;
        if (!memcmp(data + skip, g->data, n < g->cap_len ? n : g->cap_len)) {
            before = g;
            at = &g->next;
            continue;
        }
        *at = g->next;
        if (!g->next)
            s->last = before;
        if (s->hint == g)
            s->hint = NULL;
        s->queued -= segment_memory(g);
        pool->queued -= segment_memory(g);
        pool->strays++;
        free(g);
    }
}

/* A segment of a stream that was started. */
static int place(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                 uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time, struct err *err)
{
    int32_t ahead = (int32_t)(seq - s->next);
    int rc;

    if (ahead || s->elsewhere.count) {
        struct segment plain = { NULL, seq, cap_len, wire_len, frame, time };
        if ((rc = aside(s, pool, &plain, data, err)))
            return rc < 0 ? rc : 0;
    }
    if (ahead < 0 && (int32_t)(seq + wire_len - s->next) <= 0)
        return late(s, pool, seq, data, cap_len, wire_len, frame, time, err);
    if (ahead <= 0) { /* it goes on here */
        elsewhere_forget(&s->elsewhere, pool);
        drop_contradicted(s, pool, seq, data, cap_len);
        if (!s->queue)
            return deliver(s, pool, seq, data, cap_len, wire_len, frame, time, err);
    }
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

int stream_segment(struct stream *s, struct stream_pool *pool, uint32_t seq, const uint8_t *data,
                   uint32_t cap_len, uint32_t wire_len, uint64_t frame, int64_t time,
                   struct err *err)
{
    int rc;

    pool->segments++;
    if (!s->started && (rc = stream_start(s, pool, seq, true, frame, time, err)) < 0)
        return rc;
    return place(s, pool, seq, data, cap_len, wire_len, frame, time, err);
}

int stream_move(struct stream *s, struct stream_pool *pool, const uint32_t *seq, uint64_t frame,
                int64_t time, struct err *err)
{
    uint32_t from;
    struct segment *g = elsewhere_take(&s->elsewhere, pool, &from), *next;
    int rc = 0;

    if (g || seq)
        rc = stream_start(s, pool, seq ? *seq : from, !seq, frame, time, err);
    for (; g; g = next) {
        next = g->next;
        if (rc == 0)
            rc = place(s, pool, g->seq, g->data, g->cap_len, g->wire_len, g->frame, g->time, err);
        free(g);
    }
    return rc;
}

int stream_finish(struct stream *s, struct stream_pool *pool, uint64_t frame, int64_t time,
                  struct err *err)
{
    int rc = stream_flush(s, pool, true, frame, time, err);

    if (rc == 0 &&
        s->elsewhere.count > (s->ended ? 0 : 1)) { /* nothing says that they are strays */
        rc = stream_move(s, pool, NULL, frame, time, err);
        if (rc == 0)
            rc = stream_flush(s, pool, true, frame, time, err);
    }
    elsewhere_forget(&s->elsewhere, pool);
    return rc;
}

#define STREAM_PLAIN(step)                                                                         \
    step(started) step(acked) step(alone) step(ended) step(ack_far) step(next) step(ack)           \
        step(advanced) step(ack_before) step(ack_aged) step(turned) step(arrivals) step(turned_at) \
            step(late) step(late_count)

int stream_save(const struct stream *s, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, s->field);
    STREAM_PLAIN(SAVE)
    bad |= segments_save(s->queue, out) | elsewhere_save(&s->elsewhere, out);
    return bad ? -ERR_SYSTEM : framer_save(&s->framer, out);
}

int stream_restore(struct stream *s, struct stream_pool *pool, struct unpack *in)
{
    uint64_t memory = 0;
    uint32_t count;
    int rc;

#define RESTORE(field) unpack_value(in, s->field);
    STREAM_PLAIN(RESTORE)
    if (s->late_count > STREAM_LATE_HOLES)
        in->failed = true;
    rc = segments_restore(&s->queue, &s->last, &count, &memory, in);
    s->queued = (uint32_t)memory;
    pool->queued += memory;
    if (rc == 0)
        rc = elsewhere_restore(&s->elsewhere, pool, in);
    return rc < 0 ? rc : framer_restore(&s->framer, in);
}
