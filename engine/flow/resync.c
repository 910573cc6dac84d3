/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/resync.c
 *
 * Finds true record marks, and makes the messages behind them, for framer.c (see resync.h).
 */
#include "flow/resync.h"
#include "record/record.h"

enum {
    MARK_LEN = 4,
    ROW = 4,            /* messages in a row that are looked at together, */
    ROW_LONG = 32,      /* and for what speaks against them */
    XIDS_AHEAD = 1024,  /* an XID fits in with another if it is so far from it at most: ahead, */
    XIDS_BEHIND = 64,   /* or behind it, since calls wait side by side */
    XIDS_UNORDERED = 8, /* calls themselves are sent in order, nearly */
};

static bool wrong_side(const struct framer *f, const struct mark *m)
{
    return f->flow->id && (m->kind == 2) != (f->side == f->flow->server);
}

/* Whether a message reads well enough.  Some send bytes behind its end: if both ends are those of
 * segments, that is no accident. */
static bool is_readable(const struct marks *s, const struct mark *m, enum fit fit)
{
    struct captured text = marks_text(s, m);

    return fit == FIT_WELL ||
           (fit == FIT_SURPLUS && text.data && text.cap_len == text.wire_len &&
            marks_border(s, m->at) && marks_border(s, m->at + MARK_LEN + text.wire_len));
}

/* Looks for the other half of a new mark in the other direction, where it is as doubtful.  One file
 * may go both ways: such halves count only if one of them begins with a segment. */
static void match_halves(struct framer *f, struct mark *m)
{
    struct marks *s = f->peer ? &f->peer->marks : NULL;

    for (uint32_t i = 0; s && i < s->mark_count; i++) {
        struct mark *o = &s->marks[i];
        uint8_t match;
        if (o->xid != m->xid || o->kind == m->kind || o->fate != MARK_DOUBTFUL ||
            (m->kind == 1 ? m->known || o->frame < m->frame : o->known || o->frame > m->frame))
            continue;
        if (m->kind == 1
                ? !is_readable(s, o, fits_reply(marks_text(&f->marks, m), marks_text(s, o)))
                : !is_readable(&f->marks, m,
                               fits_reply(marks_text(s, o), marks_text(&f->marks, m))))
            continue;
        match = marks_border(s, o->at) || marks_border(&f->marks, m->at) ? MATCH_CERTAIN
                                                                         : MATCH_DOUBTFUL;
        o->matched = o->matched > match ? o->matched : match;
        m->matched = m->matched > match ? m->matched : match;
        s->changed = true;
    }
}

static bool is_within(uint32_t xid, uint32_t other, int32_t behind, int32_t ahead)
{
    int32_t one = (int32_t)(xid - other);
    int32_t two = (int32_t)(__builtin_bswap32(xid) - __builtin_bswap32(other));

    return (one >= -behind && one <= ahead) || (two >= -behind && two <= ahead);
}

static bool is_near(uint32_t xid, uint32_t other, int32_t behind)
{
    return is_within(xid, other, behind, XIDS_AHEAD);
}

/* Whether the XID may be one of the next when the mark is found; later the others have gone on. */
static enum mark_sequence sequence(const struct framer *f, const struct mark *m)
{
    const struct framer *peer = f->peer;
    bool fits;

    if (!f->has_xid && !f->has_lost_xid && !(peer && peer->has_xid))
        return SEQUENCE_NONE;
    if (m->kind == 1 && f->has_lost_xid)
        fits = is_near(m->xid, f->lost_xid, XIDS_UNORDERED);
    else
        fits = (f->has_xid && is_near(m->xid, f->xid, XIDS_BEHIND)) ||
               (peer && peer->has_xid && is_near(m->xid, peer->xid, XIDS_BEHIND));
    return fits && !m->known ? SEQUENCE_FITS : SEQUENCE_BROKEN;
}

static unsigned known_of(const struct framer *f, const struct mark *m)
{
    const struct question q = { f->flow, f->side, m->xid, m->frame, marks_text(&f->marks, m) };

    return f->host->knows(f->host->ctx, &q);
}

/* What the other half of a mark says, as far as it was delivered. */
static void match(const struct framer *f, struct mark *m)
{
    struct captured text = marks_text(&f->marks, m);
    unsigned knows = known_of(f, m);
    bool known = m->kind == 1 ? knows & (XID_WAITS | XID_ANSWERED)
                              : (knows & (XID_WAITS | XID_ANSWERED)) == XID_ANSWERED;
    unsigned other = known ? XID_AGAIN : m->kind == 1 ? XID_HELD : XID_WAITS;

    m->known |= known;
    if (knows & XID_SURPLUS && !known && is_readable(&f->marks, m, FIT_SURPLUS))
        knows |= other;
    if (knows & other && (m->kind == 2 || is_readable(&f->marks, m, fits_call(text))))
        m->matched = MATCH_CERTAIN;
}

static bool on_found(void *ctx, struct mark *m)
{
    struct framer *f = ctx;

    if (wrong_side(f, m))
        return false;
    match(f, m);
    match_halves(f, m);
    m->sequence = (uint8_t)sequence(f, m);
    return true;
}

void resync_seen(struct framer *f, uint32_t xid, bool call, uint64_t frame)
{
    for (uint32_t i = 0; i < f->marks.mark_count; i++) {
        struct mark *m = &f->marks.marks[i];
        if (m->xid != xid || (m->kind == 1) == call || m->matched == MATCH_CERTAIN)
            continue;
        if (call ? frame > m->frame : m->frame > frame)
            continue;
        match(f, m);
        f->marks.changed |= m->matched == MATCH_CERTAIN;
    }
}

/* Whether the XID of what was left behind is ahead of those of all calls that came since. */
static bool is_ahead(const struct framer *f, const struct mark *m)
{
    const struct framer *calls = m->kind == 1 ? f : f->peer; /* no reply is ahead of all calls */

    return calls && calls->has_xid && (m->at < f->marks.behind || !f->lost) &&
           is_near(m->xid, calls->xid, 0) &&
           !is_within(m->xid, calls->xid, XIDS_AHEAD, XIDS_UNORDERED);
}

/* Whether what was delivered says that a mark is false: its XID has its message, or the other half
 * is of something else. */
static bool is_refuted(const struct framer *f, const struct mark *m)
{
    unsigned knows = known_of(f, m);

    if (!f->flow->id) /* what is known is of an earlier connection */
        return false;
    if (!m->matched && is_ahead(f, m))
        return true;
    if (m->kind == 1)
        return ((knows & (XID_WAITS | XID_ANSWERED)) && !(knows & XID_AGAIN)) ||
               (knows & (XID_MISFIT | XID_HELD)) == XID_MISFIT;
    return (knows & (XID_MISFIT | XID_ANSWERED)) && !(knows & (XID_WAITS | XID_AGAIN));
}

/* The messages in a row that |m| begins, up to ROW. */
struct row {
    uint32_t count, matched;
    bool certain; /* one of the matches is */
    bool joined;  /* a mark that is believed follows */
    bool border;  /* one of the messages begins or ends with a segment */
};

static bool ends_at_border(const struct framer *f, const struct mark *m)
{
    return m->whole && marks_border(&f->marks, m->next);
}

static const struct mark *next_of(const struct framer *f, const struct mark *m)
{
    return m->state == MARK_CHAINED && m->fate != MARK_DELIVERED ? marks_mark(&f->marks, m->next)
                                                                 : NULL;
}

static struct row row_of(const struct framer *f, const struct mark *m)
{
    struct row row = { 0 };

    for (; m && row.count < ROW; m = next_of(f, m)) {
        row.count++;
        row.matched += m->matched != MATCH_NONE;
        row.certain |= m->matched == MATCH_CERTAIN;
        row.joined |= m->state == MARK_JOINED || m->fate == MARK_DELIVERED;
        row.border |= marks_border(&f->marks, m->at) || ends_at_border(f, m);
    }
    return row;
}

/* Whether a message is false, or one that follows it. */
static bool row_refuted(const struct framer *f, const struct mark *m)
{
    for (uint32_t n = 0; m && n < ROW_LONG; n++, m = next_of(f, m))
        if (m->fate == MARK_DOUBTFUL && is_refuted(f, m))
            return true;
    return false;
}

/* Whether the next message's XID has nothing to do with this one's: then XIDs do not count up here,
 * and a file's traffic has no other message with this one.  A match is enough where a segment
 * begins. */
static bool is_like_no_other(const struct framer *f, const struct mark *m)
{
    const struct mark *next = next_of(f, m);

    return m->matched == MATCH_CERTAIN && !m->known && marks_border(&f->marks, m->at) && next &&
           !is_near(next->xid, m->xid, XIDS_BEHIND);
}

/* Whether a matched mark is true: its match is no accident. */
static bool is_answered(const struct framer *f, const struct mark *m)
{
    struct row row;

    if (!m->matched || m->fate != MARK_DOUBTFUL || wrong_side(f, m))
        return false;
    row = row_of(f, m);
    if (row.count == 1 && m->state == MARK_OPEN && !marks_border(&f->marks, m->at) &&
        !ends_at_border(f, m))
        return false;
    return row.certain && (2 * row.matched >= row.count || is_like_no_other(f, m)) &&
           !row_refuted(f, m);
}

/* Whether a mark is true as far as it can be told without its other half. */
static bool fits_in(const struct framer *f, struct mark *m)
{
    struct row row = row_of(f, m);
    uint32_t left = row.count, count = left;
    bool begins = marks_border(&f->marks, m->at), ends = ends_at_border(f, m);
    bool cut = marks_cut(&f->marks, m);

    if (wrong_side(f, m) || row_refuted(f, m))
        return false;
    if (m->at == 0 && ends && !m->known) /* a whole segment is the first that was captured */
        return true;
    count += m->state == MARK_JOINED || m->state == MARK_LOOSE;
    for (struct mark *x = m; left--; x = left ? marks_mark(&f->marks, x->next) : x) {
        if (x->sequence == SEQUENCE_NONE)
            x->sequence = (uint8_t)sequence(f, x);
        if (x->sequence == SEQUENCE_NONE)
            return (begins && (ends || count > 1 || cut)) || count > 2;
        if (x->sequence == SEQUENCE_BROKEN)
            return false;
    }
    return begins || ends || count > 1 || cut;
}

/* Everything before |to| is used up. */
static void forget(struct framer *f, uint64_t to)
{
    struct marks *s = &f->marks;
    uint64_t at;

    if (!s->piece_count)
        return;
    at = s->pieces[0].at;
    for (uint32_t i = 0; i < s->mark_count && s->marks[i].at < to; i++) {
        const struct mark *m = &s->marks[i];
        uint64_t end = m->next < to ? m->next : to, begin = m->at > at ? m->at : at;
        if (m->fate == MARK_FALSE || end <= begin)
            continue;
        f->skipped += marks_captured(s, at, begin);
        if (m->fate != MARK_DELIVERED)
            f->undecided += marks_captured(s, begin, end);
        at = end;
    }
    if (to > at)
        f->skipped += marks_captured(s, at, to);
    marks_drop(s, to);
}

int resync_count(struct framer *f, struct seen seen, struct err *err)
{
    uint64_t skipped = f->skipped, undecided = f->undecided;
    int rc = 0;

    f->skipped = f->undecided = 0;
    if (skipped)
        rc = framer_problem(f, PROBLEM_SKIPPED, seen, skipped, err);
    if (rc == 0 && undecided)
        rc = framer_problem(f, PROBLEM_UNDECIDED, seen, undecided, err);
    return rc;
}

/* Forgets what stands before the first mark that is still doubtful. */
static void forget_decided(struct framer *f)
{
    const struct marks *s = &f->marks;
    uint32_t i = 0;

    while (i < s->mark_count && s->marks[i].fate != MARK_DOUBTFUL)
        i++;
    if (i == s->mark_count)
        forget(f, f->lost ? s->scanned : s->end);
    else if (marks_worth_dropping(s, s->marks[i].at))
        forget(f, s->marks[i].at);
}

/* Reads the pieces of |s| in [from, to) as known places, until the framing is lost; |from| is where
 * that was. */
static int read_on(struct framer *f, const struct marks *s, uint64_t *from, uint64_t to,
                   struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < s->piece_count && !f->lost; i++) {
        const struct marks_piece *p = &s->pieces[i];
        uint64_t end = p->at + marks_length(s, i);
        uint32_t used = 0;
        end = end < to ? end : to;
        if (end <= *from)
            continue;
        f->at = *from;
        if (p->missing) {
            rc = framer_hole(f, end - *from, p->flag, p->seen, err);
            *from = end;
        } else {
            rc = framer_consume(f,
                                (struct bytes){ s->bytes.data + p->start + (*from - p->at),
                                                (uint32_t)(end - *from) },
                                p->seen, &used, err);
            *from += used;
        }
    }
    return rc;
}

/* All from |m| on is in its known place. */
static int believe(struct framer *f, const struct mark *m, struct seen seen, struct err *err)
{
    uint64_t at = m->at, end = f->at;
    struct marks tail;
    int rc = marks_split(&f->marks, at, &tail, err);

    if (rc < 0)
        return rc;
    f->lost = false;
    f->resynced = true;
    forget_decided(f);
    rc = resync_count(f, seen, err);
    if (rc == 0)
        rc = read_on(f, &tail, &at, tail.end, err);
    for (uint32_t i = 0; rc == 0 && f->lost && i < tail.piece_count; i++) { /* what is left */
        const struct marks_piece *p = &tail.pieces[i];
        uint64_t from = p->at > at ? p->at : at, to = p->at + marks_length(&tail, i);
        struct marks_piece rest;
        if (to <= from)
            continue;
        rest = *p;
        rest.at = from;
        rest.border = p->border && from == p->at;
        if (!p->missing) {
            rc = marks_append(&f->marks,
                              (struct bytes){ tail.bytes.data + p->start + (from - p->at),
                                              (uint32_t)(to - from) },
                              &rest, err);
        } else if (f->marks.piece_count) {
            rest.missing = (uint32_t)(to - from);
            rc = marks_missing(&f->marks, &rest, err);
        }
    }
    f->at = end;
    marks_free(&tail);
    return rc;
}

/* Delivers the message of one mark. */
static int deliver_one(struct framer *f, struct mark *m, struct err *err)
{
    uint64_t at = m->at;
    struct framer one;
    int rc;

    for (uint32_t i = 0; i < f->marks.mark_count; i++) { /* those in its midst */
        struct mark *o = &f->marks.marks[i];
        if (o->fate == MARK_DOUBTFUL && o->at < m->next && m->at < o->next)
            o->fate = MARK_FALSE;
    }
    m->fate = MARK_DELIVERED;
    framer_init(&one, f->host, f->flow, f->side, false);
    one.peer = f->peer;
    one.resynced = true;
    rc = read_on(&one, &f->marks, &at, m->next, err);
    if (rc == 0 && one.in_record)
        rc = framer_end(&one, (struct seen){ one.frame, one.time }, err);
    framer_free(&one);
    return rc;
}

/* Delivers the message of a mark that was left behind, and those that follow it in their known
 * places. */
static int deliver_row(struct framer *f, struct mark *m, struct err *err)
{
    int rc = 0;

    for (; rc == 0 && m && m->fate == MARK_DOUBTFUL;
         m = m->whole ? marks_mark(&f->marks, m->next) : NULL)
        rc = deliver_one(f, m, err);
    return rc;
}

/* The offset before which marks must be decided, since there is no more room. */
static uint64_t no_room_before(const struct marks *s)
{
    uint64_t half, middle;

    if (!marks_full(s) || !s->mark_count)
        return 0;
    half = s->pieces[0].at + (s->end - s->pieces[0].at) / 2;
    middle = s->marks[s->mark_count / 2].at;
    half = half > middle ? half : middle;
    return half > s->marks[0].at ? half : s->marks[0].at + 1;
}

/* The time from which on a mark is no longer doubtful. */
static int64_t due_at(const struct marks *s, struct mark *m, bool over, uint64_t force)
{
    if (over || m->at < force)
        return INT64_MIN;
    if (m->state == MARK_OPEN || marks_time(s, m) == TIME_NONE)
        return INT64_MAX;
    return marks_time(s, m) + RESYNC_SPAN;
}

/* All that came so far on a connection that was joined is this call, or more of them. */
static bool is_first_call(const struct framer *f, const struct mark *m)
{
    return f->joined && f->lost && m->kind == 1 && m->at == 0 && m->whole &&
           (m->next == f->marks.end || m->state == MARK_CHAINED) &&
           fits_call(marks_text(&f->marks, m)) == FIT_WELL;
}

/* Decides about all marks for which it is time.  |again|: one was believed that others follow. */
static int decide(struct framer *f, bool over, struct seen seen, bool *again, struct err *err)
{
    struct marks *s = &f->marks;
    uint64_t force = no_room_before(s);
    int rc = 0;

    *again = false;
    s->changed = false;
    for (uint32_t i = 0; f->lost && i < s->mark_count; i++)
        if (s->marks[i].at >= s->behind && is_answered(f, &s->marks[i])) {
            *again = true;
            return believe(f, &s->marks[i], seen, err);
        }
    for (uint32_t i = 0; rc == 0 && i < s->mark_count; i++) {
        struct mark *m = &s->marks[i];
        bool open = f->lost && m->at >= s->behind; /* what follows it is still to be read */
        if (m->fate != MARK_DOUBTFUL)
            continue;
        if (wrong_side(f, m)) {
            m->fate = MARK_FALSE;
        } else if (!open && is_answered(f, m)) {
            rc = deliver_row(f, m, err);
        } else if ((seen.time >= due_at(s, m, over, force) || is_first_call(f, m)) &&
                   fits_in(f, m)) {
            *again = true; /* others may fit in with it */
            return open ? believe(f, m, seen, err) : deliver_row(f, m, err);
        }
    }
    f->due = INT64_MAX;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        struct mark *m = &s->marks[i];
        int64_t due = m->fate == MARK_DOUBTFUL ? due_at(s, m, over, force) : INT64_MAX;
        if (due <= seen.time)
            m->fate = MARK_UNDECIDED;
        else if (due < f->due)
            f->due = due;
    }
    forget_decided(f);
    return rc;
}

int resync_work(struct framer *f, bool over, struct seen seen, struct err *err)
{
    struct marks *s = &f->marks;
    bool again = true;
    int rc = 0;

    while (rc == 0 && again && s->piece_count) {
        again = false;
        if (f->lost && (rc = marks_scan(s, over, on_found, f, err)) < 0)
            break;
        if (!s->mark_count)
            forget(f, over || !f->lost ? s->end : s->scanned);
        else if (s->changed || over || seen.time >= f->due || marks_full(s) ||
                 is_first_call(f, s->marks))
            rc = decide(f, over, seen, &again, err);
    }
    if (rc == 0 && over)
        forget(f, s->end);
    return rc == 0 && !f->lost && !s->mark_count ? resync_count(f, seen, err) : rc;
}
