/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/stream.c
 *
 * Puts segments of one direction in order: keeps those behind a hole, gives holes up, and judges
 * late ones.  For conn_tcp.c; the bytes go to framer.c.  The contract is in stream.h.
 */
#include "flow/stream.h"
#include "base/pack.h"
#include "record/record.h"

#include <stdlib.h>

enum {
    LATE_AT_JOIN = 256 << 10, /* bytes: the first segments seen need not be in order */
    LONE = 256 << 10,         /* bytes: one segment this far behind a hole may be a stray */
    FAR_BELOW = 1 << 20,      /* bytes: hardly sent again */
};

void stream_init(struct stream *s, const struct message_host *host, struct stream_pool *pool,
                 struct flow *flow, uint8_t side)
{
    memset(s, 0, sizeof(*s));
    s->pool = pool;
    framer_init(&s->framer, host, flow, side, true);
    s->alone = true;
    s->unsure = pool->past;
}

static void dequeue(struct stream *s)
{
    struct segment *g = s->queue;

    s->queue = g->next;
    if (!g->next)
        s->last = NULL;
    if (s->hint == g)
        s->hint = NULL;
    s->queued -= segment_memory(g);
    s->pool->queued -= segment_memory(g);
    free(g);
    s->advanced = s->pool->clock;
}

void stream_free(struct stream *s)
{
    while (s->queue)
        dequeue(s);
    elsewhere_free(&s->elsewhere, s->pool);
    framer_free(&s->framer);
}

/* Of a stream whose beginning was not seen (past.h). */
static void note_begun(struct stream *s)
{
    const struct framer *f = &s->framer;

    /* the search for marks asks for XIDs from before the border */
    if (s->assumed && f->lost && !(f->has_lost_xid && f->peer->has_xid))
        s->asked = true;
    if (s->next - s->origin > STREAM_FAR) /* what is older is far from the stream */
        s->begun = false;
}

/* Delivers what lies at or behind s->next, which it must reach. */
static int deliver(struct stream *s, const struct arrival *a, struct err *err)
{
    const struct captured *p = &a->piece;
    uint32_t old = s->next - a->seq;
    int rc = 0;

    s->advanced = s->pool->clock;
    s->ended = false;
    elsewhere_see(&s->elsewhere, a);
    if (old < p->cap_len)
        rc = framer_data(&s->framer, (struct bytes){ p->data + old, p->cap_len - old }, a->seen,
                         err);
    if (rc == 0 && p->wire_len > p->cap_len)
        rc = framer_gap(&s->framer, p->wire_len - (old > p->cap_len ? old : p->cap_len),
                        SIGHTING_CUT, a->seen, err);
    s->next = a->seq + p->wire_len;
    if (s->begun)
        note_begun(s);
    return rc;
}

/* Delivers queued segments that have come into reach. */
static int drain(struct stream *s, struct err *err)
{
    int rc = 0;

    while (rc == 0 && s->queue && (int32_t)(s->queue->seq - s->next) <= 0) {
        const struct segment *g = s->queue;
        struct arrival a = segment_arrival(g);
        if (g->next && g->next->seq - g->seq < a.piece.wire_len) /* another copy was cut later */
            a.piece.wire_len = g->next->seq - g->seq;
        if ((int32_t)(g->seq + a.piece.wire_len - s->next) > 0)
            rc = deliver(s, &a, err);
        dequeue(s);
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
    s->late[0].old = false;
}

/* Gives up the hole before the queue's first segment. */
static int give_up(struct stream *s, struct seen seen, struct err *err)
{
    uint32_t len = s->queue->seq - s->next;
    int rc;

    s->pool->holes++;
    s->pool->hole_bytes += len;
    remember_late(s, s->next, s->queue->seq, false);
    rc = framer_problem(&s->framer, PROBLEM_HOLE, seen, len, err);
    if (rc == 0)
        rc = framer_gap(&s->framer, len, SIGHTING_HOLE, s->queue->seen, err);
    s->next = s->queue->seq;
    return rc < 0 ? rc : drain(s, err);
}

int stream_flush(struct stream *s, bool end, struct seen seen, struct err *err)
{
    int rc = 0;

    while (rc == 0 && s->queue)
        rc = give_up(s, seen, err);
    if (rc == 0 && end && s->started) {
        s->asked |= s->assumed;
        rc = framer_end(&s->framer, seen, err);
        s->started = false;
    }
    return rc;
}

int stream_start(struct stream *s, uint32_t seq, bool lost, struct seen seen, struct err *err)
{
    int rc = stream_flush(s, true, seen, err);

    s->started = true;
    s->unsure = s->begun = s->assumed = false;
    s->acked = s->ack_far = s->ended = s->moved = s->fin_waits = false;
    s->elsewhere.seen_count = 0;
    s->advanced = s->pool->clock;
    s->next = seq;
    s->framer.lost = lost;
    s->late_count = 0;
    if (lost)
        remember_late(s, seq - LATE_AT_JOIN, seq, true);
    return rc;
}

int stream_sweep(struct stream *s, struct seen seen, struct err *err)
{
    struct stream_pool *pool = s->pool;
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
        rc = give_up(s, seen, err);
    while (rc == 0 && s->queue && (int32_t)(s->ack_aged - s->queue->seq) >= 0)
        rc = give_up(s, seen, err);
    return rc;
}

/* Puts a part of a segment into the queue, before *|at|. */
static int queue_part(struct stream *s, struct segment **at, const struct arrival *part,
                      struct err *err)
{
    struct segment *g = segment_new(part);

    if (!g)
        return err_memory(err, "segments");
    g->next = *at;
    if (!s->queue) {
        s->advanced = s->turned = s->pool->clock;
        s->turned_at = s->arrivals;
        s->ack_before = s->ack_aged = s->next;
    }
    if (!*at)
        s->last = g;
    *at = s->hint = g;
    s->queued += segment_memory(g);
    s->pool->queued += segment_memory(g);
    return 0;
}

/* Where in the queue to begin to look for the place of |seq|: near the last one that was put. */
static struct segment **queue_begin(struct stream *s, uint32_t seq)
{
    if (s->queue && (int32_t)(seq - (s->last->seq + s->last->cap_len)) >= 0)
        return &s->last->next;
    if (s->hint && (int32_t)(seq - s->hint->seq) > 0 &&
        (int32_t)(seq - (s->hint->seq + s->hint->cap_len)) >= 0)
        return &s->hint->next;
    return &s->queue;
}

/* Keeps a segment that lies behind a hole: those of its bytes that no queued one has brought. */
static int enqueue(struct stream *s, const struct arrival *a, struct err *err)
{
    const struct captured *p = &a->piece;
    struct segment **at = queue_begin(s, a->seq);
    uint32_t from = a->seq, end = a->seq + p->cap_len, limit;
    bool new = false;
    int rc = 0;

    while (rc == 0) {
        while (*at && (int32_t)((*at)->seq + (*at)->cap_len - from) <= 0 &&
               (int32_t)((*at)->seq - from) < 0)
            at = &(*at)->next;
        limit = *at && (int32_t)((*at)->seq - end) < 0 ? (*at)->seq : end;
        if ((int32_t)(limit - from) > 0 || (!p->cap_len && (!*at || (*at)->seq != a->seq))) {
            uint32_t skip = from - a->seq;
            struct arrival part = { from,
                                    { p->data + skip, limit - from,
                                      limit == end ? p->wire_len - skip : limit - from },
                                    a->seen };
            rc = queue_part(s, at, &part, err);
            if (rc < 0)
                return rc;
            new = true;
            at = &(*at)->next;
        }
        if (limit == end)
            break;
        from = (*at)->seq + (*at)->cap_len;
        if ((int32_t)(from - end) >= 0) { /* what is cut off behind it is known by its length */
            if ((*at)->wire_len < p->wire_len - ((*at)->seq - a->seq))
                (*at)->wire_len = p->wire_len - ((*at)->seq - a->seq);
            break;
        }
    }
    if (new)
        s->pool->reordered++;
    else
        s->pool->duplicates++;
    while (rc == 0 && s->queue && (s->queued > s->pool->window || s->pool->queued > s->pool->total))
        rc = give_up(s, a->seen, err);
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
static int late(struct stream *s, const struct arrival *a, struct err *err)
{
    const struct captured *p = &a->piece;
    struct framer alone;
    int rc, i = late_hole(s, a->seq, p->wire_len);
    uint32_t from;

    if (i < 0) {
        s->pool->duplicates++;
        return 0;
    }
    s->asked |= s->late[i].old && s->begun;
    /* what is left of the hole before and behind; the part behind first */
    from = s->late[i].from;
    s->late[i].from = a->seq + p->wire_len;
    if (a->seq != from)
        remember_late(s, from, a->seq, s->late[i].joined);
    s->pool->late++;
    framer_init(&alone, s->framer.host, s->framer.flow, s->framer.side, true);
    alone.peer = s->framer.peer;
    alone.has_xid = s->framer.has_xid;
    alone.xid = s->framer.xid;
    rc = framer_data(&alone, (struct bytes){ p->data, p->cap_len }, a->seen, err);
    if (rc == 0 && p->wire_len > p->cap_len)
        rc = framer_gap(&alone, p->wire_len - p->cap_len, SIGHTING_CUT, a->seen, err);
    if (rc == 0)
        rc = framer_end(&alone, a->seen, err);
    framer_free(&alone);
    return rc;
}

/* Keeps a segment aside that does not continue the stream: 1; 0: it is not such a segment. */
static int aside(struct stream *s, const struct arrival *a, struct err *err)
{
    struct elsewhere *e = &s->elsewhere;
    int32_t ahead = (int32_t)(a->seq - s->next);
    bool keep = stream_far(s, a->seq), sure = false;
    int hole;

    if (!keep && ahead < 0) {
        hole = late_hole(s, a->seq, a->piece.wire_len);
        if (hole >= 0 && !s->late[hole].joined)
            return 0;
        switch (elsewhere_judge(e, a, s->pool->clock - s->advanced > ELSEWHERE_SILENCE)) {
        case ELSEWHERE_COPY:
            break;
        case ELSEWHERE_OTHER:
            keep = sure = true;
            break;
        case ELSEWHERE_UNKNOWN:
            keep = elsewhere_continues(e, a->seq) || (hole < 0 && ahead < -FAR_BELOW);
            break;
        }
    } else if (!keep) { /* one that has begun below the stream's end grows past it */
        keep = elsewhere_continues(e, a->seq) && (ahead > 0 || e->sure);
    }
    if (!keep)
        return 0;
    if (elsewhere_keep(e, s->pool, a, sure) < 0)
        return err_memory(err, "segments");
    if (e->count && (s->ended || e->sure >= ELSEWHERE_SURE || e->count >= ELSEWHERE_MANY))
        s->moved = true;
    return 1;
}

/* Drops bytes behind the hole that contradict bytes in place: they never reached the receiver. */
static void drop_contradicted(struct stream *s, const struct arrival *a)
{
    struct segment **at = &s->queue, *g, *before = NULL;
    const struct captured *p = &a->piece;

    while ((g = *at) && (int32_t)(a->seq + p->cap_len - g->seq) > 0) {
        uint32_t skip = g->seq - a->seq, n = p->cap_len - skip;
        if (!memcmp(p->data + skip, g->data, n < g->cap_len ? n : g->cap_len)) {
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
        s->pool->queued -= segment_memory(g);
        s->pool->strays++;
        free(g);
    }
}

/* A segment of a stream that was started. */
static int place(struct stream *s, const struct arrival *a, struct err *err)
{
    int32_t ahead = (int32_t)(a->seq - s->next);
    struct arrival new;
    int rc;

    if (ahead < 0 && s->begun && (int32_t)(a->seq - s->origin) < 0)
        s->asked = true;
    if ((ahead || s->elsewhere.count) && (rc = aside(s, a, err)))
        return rc < 0 ? rc : 0;
    if (ahead < 0 && (int32_t)(a->seq + a->piece.wire_len - s->next) <= 0)
        return late(s, a, err);
    if (ahead <= 0) { /* it goes on here */
        elsewhere_forget(&s->elsewhere, s->pool);
        drop_contradicted(s, a);
        if (!s->queue)
            return deliver(s, a, err);
    }
    new = *a;
    if (ahead < 0) { /* these were delivered */
        uint32_t old = (uint32_t)-ahead;
        uint32_t skip = old < new.piece.cap_len ? old : new.piece.cap_len;
        new.seq += old;
        new.piece.data += skip;
        new.piece.cap_len -= skip;
        new.piece.wire_len -= old;
    }
    rc = enqueue(s, &new, err);
    return rc < 0 ? rc : drain(s, err);
}

/* Starts the stream at its first segment.  Behind the border of a piece, a record mark is assumed
 * to be there (past.h). */
static int join(struct stream *s, const struct arrival *a, struct err *err)
{
    bool begun = s->unsure, assumed = begun && s->pool->past->assumed;
    int rc = stream_start(s, a->seq, !assumed, a->seen, err);

    s->begun = begun;
    s->assumed = assumed;
    s->origin = a->seq;
    if (assumed)
        s->alone = false;
    return rc;
}

int stream_segment(struct stream *s, const struct arrival *arrival, struct err *err)
{
    int rc;

    s->pool->segments++;
    if (!s->started && (rc = join(s, arrival, err)) < 0)
        return rc;
    return place(s, arrival, err);
}

int stream_move(struct stream *s, const uint32_t *seq, struct seen seen, struct err *err)
{
    uint32_t from;
    struct segment *g = elsewhere_take(&s->elsewhere, s->pool, &from), *next;
    int rc = 0;

    if (g || seq)
        rc = stream_start(s, seq ? *seq : from, !seq, seen, err);
    for (; g; g = next) {
        struct arrival a = segment_arrival(g);
        next = g->next;
        if (rc == 0)
            rc = place(s, &a, err);
        free(g);
    }
    return rc;
}

int stream_finish(struct stream *s, struct seen seen, struct err *err)
{
    int rc = stream_flush(s, true, seen, err);

    if (rc == 0 &&
        s->elsewhere.count > (s->ended ? 0 : 1)) { /* nothing says that they are strays */
        rc = stream_move(s, NULL, seen, err);
        if (rc == 0)
            rc = stream_flush(s, true, seen, err);
    }
    elsewhere_forget(&s->elsewhere, s->pool);
    return rc;
}

void stream_border(struct stream *s)
{
    for (int i = 0; i < s->late_count; i++)
        s->late[i].old = true;
}

#define STREAM_PLAIN(step)                                                                         \
    step(started) step(acked) step(alone) step(ended) step(ack_far) step(next) step(ack)           \
        step(advanced) step(ack_before) step(ack_aged) step(turned) step(arrivals) step(turned_at) \
            step(late) step(late_count) step(unsure) step(begun) step(assumed) step(asked)         \
                step(origin) step(fin_waits) step(fin)

uint64_t stream_layout(uint64_t hash)
{
#define STREAM_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct stream *)0)->field));
    STREAM_PLAIN(STREAM_FIELD)
    return framer_layout(elsewhere_layout(hash));
}

int stream_save(const struct stream *s, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, s->field);
    STREAM_PLAIN(SAVE)
    bad |= segments_save(s->queue, out) | elsewhere_save(&s->elsewhere, out);
    return bad ? -ERR_SYSTEM : framer_save(&s->framer, out);
}

int stream_restore(struct stream *s, struct unpack *in)
{
    uint64_t memory = 0;
    uint32_t count;
    int rc;

#define RESTORE(field) unpack_value(in, s->field);
    STREAM_PLAIN(RESTORE)
    if (s->late_count > STREAM_LATE_HOLES || s->advanced < 0 || s->advanced > s->pool->clock ||
        s->turned < 0 || s->turned > s->pool->clock)
        in->failed = true;
    if (!s->pool->past) /* whatever was saved: here everything is known */
        s->unsure = s->begun = s->assumed = false;
    rc = segments_restore(&s->queue, &s->last, &count, &memory, in);
    s->queued = (uint32_t)memory;
    s->pool->queued += memory;
    if (rc == 0)
        rc = elsewhere_restore(&s->elsewhere, s->pool, in);
    return rc < 0 ? rc : framer_restore(&s->framer, in);
}
