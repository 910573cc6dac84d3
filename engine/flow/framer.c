/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/framer.c
 *
 * Cuts the bytes of a stream into messages, as long as the place of the next record mark is known.
 * When it is not, resync.c searches.  For stream.c.  The contract is in framer.h.
 */
#include "flow/framer.h"
#include "base/pack.h"
#include "flow/plausible.h"
#include "flow/resync.h"
#include "record/record.h"
#include "wire/rpc.h"

enum {
    MARK_LEN = 4,
};

void framer_init(struct framer *f, const struct message_host *host, struct flow *flow, uint8_t side,
                 bool lost)
{
    memset(f, 0, sizeof(*f));
    f->host = host;
    f->flow = flow;
    f->side = side;
    f->lost = lost;
}

static void account(struct framer *f)
{
    uint64_t now = f->message.cap + marks_memory(&f->marks);

    *f->host->memory += now - f->memory;
    f->memory = now;
}

void framer_free(struct framer *f)
{
    buf_free(&f->message);
    marks_free(&f->marks);
    account(f);
}

void framer_forget_doubts(struct framer *f)
{
    if (f->lost)
        return;
    marks_free(&f->marks);
    f->skipped = f->undecided = 0;
    account(f);
}

size_t framer_trim(struct framer *f)
{
    if (!f->message.len)
        buf_free(&f->message);
    if (!f->marks.bytes.len)
        marks_free(&f->marks);
    account(f);
    return f->message.len + f->marks.bytes.len;
}

int framer_problem(const struct framer *f, enum problem_kind kind, struct seen seen,
                   uint64_t length, struct err *err)
{
    const struct problem problem = { f->flow, (uint8_t)kind, f->side, seen, length };

    return f->host->problem(f->host->ctx, &problem, err);
}

static void record_reset(struct framer *f)
{
    f->in_record = false;
    f->mark_have = f->empty = 0;
    f->left = f->wire_len = 0;
    f->flags = 0;
    f->frame = f->first_frame = 0;
    f->message.len = 0;
}

static int deliver(struct framer *f, const uint8_t *data, uint32_t len, struct err *err)
{
    struct message m = {
        .flow = f->flow,
        .side = f->side,
        .data = data,
        .cap_len = len,
        .wire_len = f->wire_len,
        .frame = f->frame,
        .first_frame = f->first_frame,
        .time = f->time,
        .flags = f->flags,
    };
    int rc;

    if (f->resynced)
        m.flags |= SIGHTING_RESYNC;
    f->resynced = false;
    if (len < MESSAGE_MIN) {
        f->skipped += len;
        rc = resync_count(f, (struct seen){ m.frame, m.time }, err);
    } else {
        f->xid = load_be32(data);
        f->has_xid = true;
        rc = f->host->message(f->host->ctx, &m, err);
        if (f->peer && f->peer->marks.mark_count)
            resync_seen(f->peer, f->xid, load_be32(data + 4) == RPC_CALL, m.frame);
    }
    record_reset(f);
    return rc;
}

static void touch(struct framer *f, struct seen seen)
{
    if (!f->first_frame || seen.frame < f->first_frame)
        f->first_frame = seen.frame;
    if (seen.frame >= f->frame) {
        f->frame = seen.frame;
        f->time = seen.time;
    }
}

/* Reads the complete mark in f->mark, which begins at |at|: false if it can't be one. */
static bool mark_read(struct framer *f, uint64_t at)
{
    uint32_t mark = load_be32(f->mark), len = mark & ~RPC_LAST_FRAGMENT;

    f->last = mark & RPC_LAST_FRAGMENT;
    if (len > MESSAGE_WIRE_MAX - f->wire_len)
        return false;
    if (!f->in_record)
        f->begin = at;
    f->empty = len ? 0 : f->empty + 1;
    if (f->last ? !f->in_record && len < MESSAGE_MIN : f->empty > FRAMER_EMPTY_MAX)
        return false;
    f->in_record = true;
    f->left = len;
    f->wire_len += len;
    f->mark_have = 0;
    return true;
}

/* Gives bytes that were read as a record to the search, as |frame| brought them. */
static int refound(struct framer *f, uint64_t at, struct bytes bytes, uint64_t frame,
                   struct err *err)
{
    const struct marks_piece piece = { .at = at, .seen = { frame, f->time } };

    return marks_append(&f->marks, bytes, &piece, err);
}

/* Gives up the framing in the current record, which ends before f->at + |used|.  Its mark and bytes
 * are searched again from its second byte on.  The caller appends the bytes that follow. */
static int lose(struct framer *f, uint32_t used, struct err *err)
{
    bool later = f->in_record && f->mark_have; /* a mark behind the first one is the bad one */
    bool record = f->in_record && !(f->flags & SIGHTING_PARTIAL);
    uint32_t len = (record ? MARK_LEN + (uint32_t)f->message.len : 0) + f->mark_have;
    uint64_t at = f->at + used - len;
    uint8_t mark[MARK_LEN];
    int rc = 0;

    store_be32(mark, f->wire_len | (f->last && !later ? RPC_LAST_FRAGMENT : 0));
    f->lost = true;
    f->lost_xid = f->xid;
    f->has_lost_xid = f->has_xid;
    if (f->in_record) /* marks within it, or what stands before a hole */
        f->skipped += record ? at - f->begin : f->message.len;
    if (record) {
        rc = refound(f, at, (struct bytes){ mark, MARK_LEN }, f->first_frame, err);
        if (rc == 0)
            rc =
                refound(f, at + MARK_LEN,
                        (struct bytes){ f->message.data, (uint32_t)f->message.len }, f->frame, err);
    }
    if (rc == 0)
        rc = refound(f, f->at + used - f->mark_have, (struct bytes){ f->mark, f->mark_have },
                     f->frame, err);
    if (f->marks.scanned <= at)
        f->marks.scanned = at + 1;
    record_reset(f);
    return rc;
}

/* Adds to the message being read what there is room for. */
static int keep(struct framer *f, const uint8_t *data, uint32_t len, struct err *err)
{
    uint32_t room = MESSAGE_MAX - (uint32_t)f->message.len;

    if (len > room) {
        f->flags |= SIGHTING_PARTIAL;
        len = room;
    }
    return buf_append(&f->message, data, len) < 0 ? err_memory(err, "a message") : 0;
}

int framer_consume(struct framer *f, struct bytes bytes, struct seen seen, uint32_t *used,
                   struct err *err)
{
    const uint8_t *data = bytes.data;
    uint32_t at = 0, n, len = bytes.len;
    int rc;

    while (at < len && !f->lost) {
        if (!f->left && !(f->in_record && f->last)) { /* a mark is due */
            n = MARK_LEN - (uint32_t)f->mark_have;
            n = n < len - at ? n : len - at;
            memcpy(f->mark + f->mark_have, data + at, n);
            touch(f, seen);
            f->mark_have += (uint8_t)n;
            at += n;
            if (f->mark_have < MARK_LEN)
                break;
            if (!mark_read(f, f->at + at - MARK_LEN)) {
                *used = at;
                return lose(f, at, err);
            }
            if (!f->left && !f->last)
                continue;
        }
        n = f->left < len - at ? f->left : len - at;
        touch(f, seen);
        if (n == f->left && f->last && !f->message.len && !(f->flags & SIGHTING_PARTIAL)) {
            if (plausible_not(data + at, n)) { /* whole and in place: nothing is copied */
                *used = at;
                return lose(f, at, err);
            }
            f->left = 0;
            if ((rc = deliver(f, data + at, n, err)) < 0)
                return rc;
            at += n;
            continue;
        }
        if (!(f->flags & SIGHTING_PARTIAL)) {
            bool check = f->message.len < IMPOSSIBLE_LOOK;
            if ((rc = keep(f, data + at, n, err)) < 0)
                return rc;
            if (check && plausible_not(f->message.data, (uint32_t)f->message.len)) {
                *used = at + n;
                return lose(f, at + n, err);
            }
        }
        f->left -= n;
        at += n;
        if (!f->left && f->last &&
            (rc = deliver(f, f->message.data, (uint32_t)f->message.len, err)) < 0)
            return rc;
    }
    *used = at;
    return 0;
}

int framer_data(struct framer *f, struct bytes data, struct seen seen, struct err *err)
{
    uint32_t used = 0;
    int rc = 0;

    if (!f->lost) {
        rc = framer_consume(f, data, seen, &used, err);
        f->at += used;
        if (rc == 0 && !f->lost && !f->marks.mark_count) {
            account(f);
            return 0;
        }
    }
    if (rc == 0 && used < data.len)
        rc = marks_append(&f->marks, (struct bytes){ data.data + used, data.len - used },
                          &(struct marks_piece){ .at = f->at, .seen = seen, .border = !used }, err);
    f->at += data.len - used;
    if (rc == 0)
        rc = resync_work(f, false, seen, err);
    account(f);
    return rc;
}

int framer_hole(struct framer *f, uint64_t len, uint32_t flag, struct seen seen, struct err *err)
{
    int rc = 0;

    if (f->in_record && len <= f->left) {
        f->flags |= SIGHTING_PARTIAL | flag;
        f->left -= (uint32_t)len;
        return f->left || !f->last ? 0 : deliver(f, f->message.data, (uint32_t)f->message.len, err);
    }
    if (f->in_record && f->last) {
        f->flags |= SIGHTING_PARTIAL | flag;
        rc = deliver(f, f->message.data, (uint32_t)f->message.len, err);
    } else if (f->in_record || f->mark_have) {
        /* the hole has the mark of the record's next fragment, or a part of this one's */
        f->skipped += f->message.len + f->mark_have;
        rc = resync_count(f, seen, err);
        record_reset(f);
    }
    f->lost = true;
    f->lost_xid = f->xid;
    f->has_lost_xid = f->has_xid;
    return rc;
}

int framer_gap(struct framer *f, uint64_t len, uint32_t flag, struct seen seen, struct err *err)
{
    int rc = 0;

    if (!len)
        return 0;
    if (!f->lost) {
        rc = framer_hole(f, len, flag, seen, err);
    } else if (f->marks.piece_count) {
        rc = marks_missing(&f->marks,
                           &(struct marks_piece){
                               .at = f->at, .seen = seen, .missing = (uint32_t)len, .flag = flag },
                           err);
        if (rc == 0)
            rc = resync_work(f, false, seen, err);
    }
    f->at += len;
    account(f);
    return rc;
}

int framer_settle(struct framer *f, struct seen seen, struct err *err)
{
    int rc = resync_work(f, false, seen, err);

    account(f);
    return rc;
}

int framer_end(struct framer *f, struct seen seen, struct err *err)
{
    int rc = f->marks.piece_count ? resync_work(f, true, seen, err) : 0;

    if (rc == 0 && f->in_record) {
        f->flags |= SIGHTING_PARTIAL | SIGHTING_HOLE;
        rc = deliver(f, f->message.data, (uint32_t)f->message.len, err);
    }
    f->skipped += f->mark_have;
    record_reset(f);
    f->lost = true;
    f->joined = false;
    f->at = f->marks.behind = f->marks.due = 0;
    return rc < 0 ? rc : resync_count(f, seen, err);
}

/* The plain values of a framer, for the carry. */
#define FRAMER_PLAIN(step)                                                                         \
    step(lost) step(resynced) step(in_record) step(last) step(mark) step(mark_have) step(empty)    \
        step(left) step(wire_len) step(flags) step(frame) step(first_frame) step(time) step(at)    \
            step(begin) step(has_xid) step(has_lost_xid) step(xid) step(lost_xid) step(due)        \
                step(skipped) step(undecided)

uint64_t framer_layout(uint64_t hash)
{
#define FRAMER_FIELD(field) hash = pack_layout(hash, #field, sizeof(((struct framer *)0)->field));
    FRAMER_PLAIN(FRAMER_FIELD)
    return marks_layout(hash);
}

int framer_save(const struct framer *f, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, f->field);
    FRAMER_PLAIN(SAVE)
    bad |= pack_bytes(out, f->message.data, (uint32_t)f->message.len);
    return bad ? -ERR_SYSTEM : marks_save(&f->marks, out);
}

int framer_restore(struct framer *f, struct unpack *in)
{
    struct bytes message;
    int rc;

#define RESTORE(field) unpack_value(in, f->field);
    FRAMER_PLAIN(RESTORE)
    message = unpack_bytes(in);
    if (in->failed)
        return -ERR_INPUT;
    if (buf_append(&f->message, message.data, message.len) < 0)
        return -ERR_SYSTEM;
    rc = marks_restore(&f->marks, in);
    account(f);
    return rc;
}
