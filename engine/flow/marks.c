/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/marks.c
 *
 * The bytes and record marks of a stream whose framing is lost.  For resync.c, which decides about
 * the marks.  The contract is in marks.h; marks_state.c saves and restores.
 */
#include "flow/marks.h"
#include "base/grow.h"
#include "flow/framer.h"
#include "flow/plausible.h"
#include "record/record.h"
#include "wire/rpc.h"

#include <stdlib.h>

enum {
    MARK_LEN = 4,
    RECORD_LEAST = 20, /* a denied call's reply, RFC 5531 s9 */
    HEADER_LEAST = 24, /* what tells a call or reply from other bytes */
    SCAN_LEAST = MARK_LEN + HEADER_LEAST,
};

void marks_free(struct marks *s)
{
    buf_free(&s->bytes);
    free(s->pieces);
    free(s->marks);
    memset(s, 0, sizeof(*s));
}

static uint32_t piece_len(const struct marks *s, uint32_t i)
{
    uint32_t end = i + 1 < s->piece_count ? s->pieces[i + 1].start : (uint32_t)s->bytes.len;

    return end - s->pieces[i].start;
}

/* The last piece that begins at or before |at|; piece_count: none. */
static uint32_t piece_at(const struct marks *s, uint64_t at)
{
    uint32_t low = 0, high = s->piece_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->pieces[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : s->piece_count;
}

static int add_piece(struct marks *s, const struct marks_piece *piece, struct err *err)
{
    if (GROW(s->pieces, s->piece_count, s->piece_cap) < 0)
        return err_memory(err, "segments");
    if (!s->piece_count)
        s->scanned = piece->at;
    s->pieces[s->piece_count++] = *piece;
    return 0;
}

int marks_missing(struct marks *s, const struct marks_piece *piece, struct err *err)
{
    struct marks_piece new = *piece;

    new.start = (uint32_t)s->bytes.len;
    s->end = new.at + new.missing;
    return add_piece(s, &new, err);
}

int marks_append(struct marks *s, struct bytes bytes, const struct marks_piece *piece,
                 struct err *err)
{
    struct marks_piece new = { .at = piece->at, .seen = piece->seen, .border = piece->border };
    uint64_t gap = s->piece_count ? new.at - s->end : 0;
    int rc = 0;

    if (!bytes.len)
        return 0;
    if (gap) /* what stood there was read */
        rc = marks_missing(
            s,
            &(struct marks_piece){ .at = s->end,
                                   .seen = new.seen,
                                   .missing = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX,
                                   .flag = SIGHTING_HOLE },
            err);
    new.start = (uint32_t)s->bytes.len;
    if (rc == 0 && buf_append(&s->bytes, bytes.data, bytes.len) < 0)
        rc = err_memory(err, "segments");
    if (rc == 0)
        rc = add_piece(s, &new, err);
    s->end = new.at + bytes.len;
    return rc;
}

/* How many of the |most| bytes at |at| are there without a gap; |data| leads to them. */
static uint32_t there(const struct marks *s, uint64_t at, uint32_t most, const uint8_t **data)
{
    uint32_t i = piece_at(s, at), have;
    uint64_t offset;

    if (i == s->piece_count)
        return 0;
    offset = at - s->pieces[i].at;
    if (offset >= piece_len(s, i))
        return 0;
    *data = s->bytes.data + s->pieces[i].start + offset;
    have = piece_len(s, i) - (uint32_t)offset;
    while (have < most && ++i < s->piece_count && s->pieces[i].at == at + have)
        if (!piece_len(s, i))
            break;
        else
            have += piece_len(s, i);
    return have < most ? have : most;
}

/* The begin of a record, as far as it is there. */
struct head {
    uint8_t data[PLAUSIBLE_LOOK];
    uint32_t have, length; /* bytes of the message in |data|; in the fragments that were read */
    bool whole;            /* |length| is the record's */
    bool later;            /* more of |data| may come */
    bool bad;              /* the mark cannot be one */
    bool empty;            /* the first fragment has no bytes */
};

static void read_head(const struct marks *s, uint64_t at, uint32_t most, struct head *head)
{
    uint32_t mark, len, take, n, empty = 0;
    const uint8_t *data;

    head->have = head->length = 0;
    head->whole = head->later = head->bad = head->empty = false;
    while (head->have < most && !head->whole) {
        n = there(s, at, MARK_LEN, &data);
        if (n < MARK_LEN) {
            head->later = at + n >= s->end;
            return;
        }
        mark = load_be32(data);
        len = mark & ~RPC_LAST_FRAGMENT;
        head->whole = mark & RPC_LAST_FRAGMENT;
        if (len > MARKS_RECORD_MAX - head->length || (!len && ++empty > FRAMER_EMPTY_MAX)) {
            head->bad = true;
            return;
        }
        head->empty |= !len && !head->length;
        head->length += len;
        take = len < most - head->have ? len : most - head->have;
        n = there(s, at + MARK_LEN, take, &data);
        if (n)
            memcpy(head->data + head->have, data, n);
        head->have += n;
        if (n < take) {
            head->later = at + MARK_LEN + n >= s->end;
            return;
        }
        at += MARK_LEN + len;
    }
    head->bad = head->whole && head->length < RECORD_LEAST;
}

/* Whether a longer look at what is no message by its first bytes may find it one. */
static bool too_short(const struct head *h)
{
    if (h->have < HEADER_LEAST)
        return !plausible_not(h->data, h->have);
    return load_be32(h->data + 4) == RPC_REPLY && load_be32(h->data + 8) == 0 &&
           load_be32(h->data + 16) <= RPC_AUTH_BODY_MAX &&
           h->have < HEADER_LEAST + ((load_be32(h->data + 16) + 3) & ~3u);
}

static int add_mark(struct marks *s, const struct mark *mark, struct err *err)
{
    if (GROW(s->marks, s->mark_count, s->mark_cap) < 0)
        return err_memory(err, "record marks");
    s->marks[s->mark_count++] = *mark;
    s->changed = true;
    return 0;
}

enum place { NO_MARK, NEW_MARK, TOO_SHORT };

/* Whether a record begins at |at|. */
static enum place look(const struct marks *s, uint64_t at, bool over, struct mark *mark)
{
    struct head head;
    int kind;

    read_head(s, at, PLAUSIBLE_LOOK, &head);
    if (head.bad || head.empty) /* the record is found behind its empty fragments */
        return NO_MARK;
    kind = plausible_rpc(head.data, head.have, head.whole ? head.length : MARKS_RECORD_MAX);
    if (!kind)
        return head.later && !over && too_short(&head) ? TOO_SHORT : NO_MARK;
    *mark = (struct mark){ .at = at,
                           .next = at,
                           .frame = s->pieces[piece_at(s, at)].seen.frame,
                           .xid = load_be32(head.data),
                           .kind = (uint8_t)kind };
    return NEW_MARK;
}

/* A mark's length, the XID, and then what calls and replies have (RFC 5531 s9). */
static bool may_be_header(const uint8_t *p)
{
    return !(p[8] | p[9] | p[10] | p[12] | p[13] | p[14]) &&
           (p[11] == RPC_CALL ? p[15] == 2 : p[11] == RPC_REPLY && p[15] <= 1);
}

/* For whom marks are looked for. */
struct search {
    bool over;
    marks_found *found;
    void *ctx;
};

/* Looks through bytes without a gap that begin at s->scanned. */
static int scan_run(struct marks *s, struct bytes bytes, const struct search *search,
                    struct err *err)
{
    const uint8_t *data = bytes.data;
    uint32_t piece = piece_at(s, s->scanned), len = bytes.len;
    bool closed = search->over || s->scanned + len < s->end;
    struct mark mark;
    enum place place;

    for (uint32_t i = 0; i < len; i++, s->scanned++) {
        bool border;
        if (len - i < SCAN_LEAST && !closed)
            return 0;
        if (piece + 1 < s->piece_count && s->pieces[piece + 1].at == s->scanned)
            piece++;
        border = s->pieces[piece].border && s->pieces[piece].at == s->scanned;
        if (!border && (len - i < SCAN_LEAST || !may_be_header(data + i)))
            continue;
        place = look(s, s->scanned, closed, &mark);
        if (place == TOO_SHORT)
            return 0;
        if (place == NEW_MARK && search->found(search->ctx, &mark) && add_mark(s, &mark, err) < 0)
            return -ERR_SYSTEM;
    }
    return 0;
}

struct mark *marks_mark(const struct marks *s, uint64_t at)
{
    uint32_t low = 0, high = s->mark_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->marks[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->mark_count && s->marks[low].at == at ? &s->marks[low] : NULL;
}

/* Follows an open mark as far as it can be. */
static void follow(const struct marks *s, struct mark *m)
{
    const uint8_t *data;
    struct head head;

    while (!m->whole) {
        uint32_t n = there(s, m->next, MARK_LEN, &data), len;
        if (n < MARK_LEN) {
            m->state = m->next + n >= s->end ? MARK_OPEN : MARK_ENDLESS;
            return;
        }
        len = load_be32(data) & ~RPC_LAST_FRAGMENT;
        if (len > MARKS_RECORD_MAX - m->length) {
            m->state = MARK_BROKEN;
            return;
        }
        m->whole = load_be32(data) >> 31;
        m->length += len;
        m->next += MARK_LEN + len;
    }
    for (int empty = 0; empty < FRAMER_EMPTY_MAX; empty++, m->next += MARK_LEN)
        if (there(s, m->next, MARK_LEN, &data) < MARK_LEN || load_be32(data))
            break;
    if (m->next >= s->end)
        return;
    read_head(s, m->next, IMPOSSIBLE_LOOK, &head);
    if (head.bad || plausible_not(head.data, head.have) ||
        (head.have >= 8 && load_be32(head.data + 4) != (m->kind == 1 ? RPC_CALL : RPC_REPLY)))
        m->state = MARK_BROKEN;
    else if (head.have < IMPOSSIBLE_LOOK)
        m->state = head.later ? MARK_OPEN : MARK_ENDLESS;
    else if (s->scanned > m->next)
        m->state = marks_mark(s, m->next) ? MARK_CHAINED : MARK_LOOSE;
}

/* Takes out what is broken, and what leads there. */
static void remove_broken(struct marks *s)
{
    uint32_t n = 0, broken = 0;

    for (uint32_t i = s->mark_count; i-- > 0;) { /* they lead to later ones */
        struct mark *m = &s->marks[i], *next;
        if (m->state == MARK_CHAINED) {
            next = marks_mark(s, m->next);
            if (!next || next->state == MARK_BROKEN)
                m->state = MARK_BROKEN;
        }
        broken += m->state == MARK_BROKEN;
    }
    if (!broken)
        return;
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].state != MARK_BROKEN)
            s->marks[n++] = s->marks[i];
    s->mark_count = n;
    s->changed = true;
}

int marks_scan(struct marks *s, bool over, marks_found *found, void *ctx, struct err *err)
{
    const struct search search = { over, found, ctx };
    uint32_t count = s->mark_count;
    const uint8_t *data = NULL;
    bool broken = false;
    int rc = 0;

    while (rc == 0 && s->scanned < s->end) {
        uint32_t len = there(s, s->scanned, UINT32_MAX, &data), i;
        uint64_t from = s->scanned;
        if (len) {
            rc = scan_run(s, (struct bytes){ data, len }, &search, err);
            if (s->scanned < from + len)
                break;
            continue;
        }
        i = piece_at(s, s->scanned);
        s->scanned = i + 1 < s->piece_count ? s->pieces[i + 1].at : s->end;
    }
    if (rc < 0 || !s->mark_count || (s->mark_count == count && s->end <= s->due && !over))
        return rc;
    s->due = UINT64_MAX;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        struct mark *m = &s->marks[i];
        if (m->state != MARK_OPEN)
            continue;
        follow(s, m);
        broken |= m->state == MARK_BROKEN;
        if (m->state != MARK_OPEN)
            s->changed = true;
        else if (m->next < s->due)
            s->due = m->next;
    }
    if (broken)
        remove_broken(s);
    return 0;
}

bool marks_border(const struct marks *s, uint64_t at)
{
    uint32_t i = piece_at(s, at);

    if (at >= s->end)
        return at == s->end;
    if (i == s->piece_count || s->pieces[i].at != at)
        return false;
    return s->pieces[i].missing ? s->pieces[i].flag == SIGHTING_HOLE : s->pieces[i].border;
}

bool marks_cut(const struct marks *s, const struct mark *mark)
{
    uint32_t i = mark->state == MARK_ENDLESS ? piece_at(s, mark->next) : s->piece_count;

    return i < s->piece_count && s->pieces[i].missing && s->pieces[i].flag == SIGHTING_CUT;
}

struct captured marks_text(const struct marks *s, const struct mark *mark)
{
    struct captured text = { 0 };
    const uint8_t *data;
    uint32_t n = there(s, mark->at, UINT32_MAX, &data);

    if (n <= MARK_LEN || !(load_be32(data) & RPC_LAST_FRAGMENT))
        return text;
    text.data = data + MARK_LEN;
    text.wire_len = load_be32(data) & ~RPC_LAST_FRAGMENT;
    text.cap_len = n - MARK_LEN < text.wire_len ? n - MARK_LEN : text.wire_len;
    return text;
}

uint32_t marks_length(const struct marks *s, uint32_t piece)
{
    return s->pieces[piece].missing ? s->pieces[piece].missing : piece_len(s, piece);
}

int64_t marks_time(const struct marks *s, struct mark *mark)
{
    uint64_t end = mark->next < s->end ? mark->next : s->end;
    uint32_t i;

    if (!mark->timed) {
        i = piece_at(s, end - 1);
        mark->time = i < s->piece_count ? s->pieces[i].seen.time : 0;
        mark->timed = true;
    }
    return mark->time;
}

bool marks_worth_dropping(const struct marks *s, uint64_t at)
{
    uint32_t i = piece_at(s, at);

    return i == s->piece_count || marks_full(s) || s->pieces[i].start >= s->bytes.len / 2;
}

uint64_t marks_captured(const struct marks *s, uint64_t from, uint64_t to)
{
    uint32_t i = piece_at(s, from);
    uint64_t sum = 0;

    for (i = i < s->piece_count ? i : 0; i < s->piece_count && s->pieces[i].at < to; i++) {
        uint64_t low = s->pieces[i].at, high = low + piece_len(s, i);
        low = low > from ? low : from;
        high = high < to ? high : to;
        sum += high > low ? high - low : 0;
    }
    return sum;
}

int marks_split(struct marks *s, uint64_t at, struct marks *tail, struct err *err)
{
    uint32_t i = piece_at(s, at), kept = i, marks = 0, start;

    memset(tail, 0, sizeof(*tail));
    if (i == s->piece_count || s->pieces[i].missing)
        return 0;
    start = s->pieces[i].start + (uint32_t)(at - s->pieces[i].at);
    kept += s->pieces[i].at < at;
    if (buf_append(&tail->bytes, s->bytes.data + start, s->bytes.len - start) < 0)
        return err_memory(err, "segments");
    for (; i < s->piece_count; i++) {
        struct marks_piece p = s->pieces[i];
        p.border = p.border && p.at >= at;
        p.start = p.start > start ? p.start - start : 0;
        p.at = p.at > at ? p.at : at;
        if (add_piece(tail, &p, err) < 0) {
            marks_free(tail);
            return -ERR_SYSTEM;
        }
    }
    tail->end = s->end;
    s->bytes.len = start;
    s->piece_count = kept;
    s->end = at;
    s->scanned = s->due = s->behind = at;
    for (uint32_t m = 0; m < s->mark_count && s->marks[m].at < at; m++) {
        struct mark *mark = &s->marks[m];
        if (mark->next > at || (mark->next == at && !mark->whole))
            continue; /* what is believed stands in its midst */
        if (mark->next == at)
            mark->state = MARK_JOINED;
        s->marks[marks++] = *mark;
    }
    s->mark_count = marks;
    return 0;
}

void marks_drop(struct marks *s, uint64_t at)
{
    uint32_t n = 0, marks = 0, start = (uint32_t)s->bytes.len;

    for (uint32_t i = 0; i < s->piece_count; i++) {
        struct marks_piece p = s->pieces[i];
        uint32_t len = piece_len(s, i), old;
        if (p.at + (p.missing ? p.missing : len) <= at)
            continue;
        old = p.at < at ? (uint32_t)(at - p.at) : 0;
        if (old) {
            p.at = at;
            p.border = false;
            p.missing -= p.missing ? old : 0;
            p.start += p.missing ? 0 : old;
        }
        if (!n)
            start = p.start;
        p.start -= start;
        s->pieces[n++] = p; /* piece_len looks at this one and the next only */
    }
    memmove(s->bytes.data, s->bytes.data + start, s->bytes.len - start);
    s->bytes.len -= start;
    s->piece_count = n;
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].at >= at)
            s->marks[marks++] = s->marks[i];
    s->mark_count = marks;
    if (s->scanned < at)
        s->scanned = at;
}
