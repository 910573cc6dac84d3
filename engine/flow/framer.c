/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/framer.h"
#include "base/pack.h"
#include "flow/plausible.h"
#include "record/record.h"

#include <stdlib.h>

enum {
    MARK_LEN = 4,
    WAIT_MAX = 256 << 10, /* bytes a doubtful mark may ask for until its message's end is seen */
};

static const uint32_t LAST_FRAGMENT = UINT32_C(1) << 31;

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
    uint64_t now =
        f->message.cap + f->input.cap + (uint64_t)f->piece_cap * sizeof(struct framer_piece);

    *f->host->memory += now - f->memory;
    f->memory = now;
}

static void input_free(struct framer *f)
{
    buf_free(&f->input);
    free(f->pieces);
    f->pieces = NULL;
    f->piece_count = f->piece_cap = 0;
}

void framer_free(struct framer *f)
{
    buf_free(&f->message);
    input_free(f);
    account(f);
}

size_t framer_trim(struct framer *f)
{
    if (!f->message.len)
        buf_free(&f->message);
    if (!f->input.len)
        input_free(f);
    account(f);
    return f->message.len + f->input.len;
}

static int note_skipped(struct framer *f, uint64_t frame, int64_t time, struct err *err)
{
    uint64_t skipped = f->skipped;

    f->skipped = 0;
    if (!skipped)
        return 0;
    return f->host->problem(f->host->ctx, PROBLEM_SKIPPED, f->flow, f->side, frame, time, skipped,
                            err);
}

static void record_reset(struct framer *f)
{
    f->in_record = false;
    f->mark_have = 0;
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
    f->found = true;
    if (len < MESSAGE_MIN) {
        f->skipped += len;
        rc = note_skipped(f, m.frame, m.time, err);
    } else {
        rc = f->host->message(f->host->ctx, &m, err);
    }
    record_reset(f);
    return rc;
}

static void touch(struct framer *f, uint64_t frame, int64_t time)
{
    if (!f->first_frame || frame < f->first_frame)
        f->first_frame = frame;
    if (frame >= f->frame) {
        f->frame = frame;
        f->time = time;
    }
}

/* Reads the complete mark in f->mark: false if it can't be one. */
static bool mark_read(struct framer *f)
{
    uint32_t mark = load_be32(f->mark), len = mark & ~LAST_FRAGMENT;

    f->last = mark & LAST_FRAGMENT;
    if (len > MESSAGE_MAX || len > MESSAGE_MAX - f->wire_len)
        return false;
    if (!f->in_record && len < (f->last ? MESSAGE_MIN : 1u))
        return false;
    f->in_record = true;
    f->left = len;
    f->wire_len += len;
    f->mark_have = 0;
    return true;
}

/* |border|: |data| begins a segment. */
static int input_append(struct framer *f, const uint8_t *data, uint32_t len, bool border,
                        uint64_t frame, int64_t time, struct err *err)
{
    if (!len)
        return 0;
    if (f->piece_count == f->piece_cap) {
        uint32_t cap = f->piece_cap ? f->piece_cap * 2 : 16;
        void *grown = realloc(f->pieces, cap * sizeof(*f->pieces));
        if (!grown)
            return err_set(err, ERR_SYSTEM, "out of memory");
        f->pieces = grown;
        f->piece_cap = cap;
    }
    if (buf_append(&f->input, data, len) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory");
    f->pieces[f->piece_count++] =
        (struct framer_piece){ (uint32_t)(f->input.len - len), border, frame, time };
    return 0;
}

/* Takes the first |len| bytes off the input. */
static void input_drop(struct framer *f, uint32_t len)
{
    uint32_t n = 0;

    if (!len)
        return;
    memmove(f->input.data, f->input.data + len, f->input.len - len);
    f->input.len -= len;
    for (uint32_t i = 0; i < f->piece_count; i++) {
        struct framer_piece p = f->pieces[i];
        uint32_t end =
            i + 1 < f->piece_count ? f->pieces[i + 1].start : (uint32_t)f->input.len + len;
        if (end <= len)
            continue;
        p.border = p.border && p.start >= len;
        p.start = p.start > len ? p.start - len : 0;
        f->pieces[n++] = p;
    }
    f->piece_count = n;
    f->searched = f->searched > len ? f->searched - len : 0;
}

/* Loses the framing in the record being read; its mark and bytes are searched again behind its
 * first byte. Whatever of |data| follows is the caller's to append. */
static int lose(struct framer *f, struct err *err)
{
    bool later = f->in_record && f->mark_have; /* a mark behind the first one is the bad one */
    uint8_t mark[MARK_LEN];
    int rc = 0;

    store_be32(mark, f->wire_len | (f->last && !later ? LAST_FRAGMENT : 0));
    f->lost = true;
    f->searched = 1;
    if (f->in_record && !(f->flags & SIGHTING_PARTIAL)) {
        rc = input_append(f, mark, MARK_LEN, false, f->first_frame, f->time, err);
        if (rc == 0)
            rc = input_append(f, f->message.data, (uint32_t)f->message.len, false, f->frame,
                              f->time, err);
    }
    if (rc == 0)
        rc = input_append(f, f->mark, f->mark_have, false, f->frame, f->time, err);
    record_reset(f);
    return rc;
}

/* Reads on in synchronized state; |used| says how many bytes were taken, all of them unless the
 * framing was lost, and then what was taken is in |input|. */
static int consume(struct framer *f, const uint8_t *data, uint32_t len, uint64_t frame,
                   int64_t time, uint32_t *used, struct err *err)
{
    uint32_t at = 0, n;
    int rc;

    while (at < len && !f->lost) {
        if (!f->left && !(f->in_record && f->last)) { /* a mark is due */
            n = MARK_LEN - (uint32_t)f->mark_have;
            n = n < len - at ? n : len - at;
            memcpy(f->mark + f->mark_have, data + at, n);
            touch(f, frame, time);
            f->mark_have += (uint8_t)n;
            at += n;
            if (f->mark_have < MARK_LEN)
                break;
            if (!mark_read(f)) {
                *used = at;
                return lose(f, err);
            }
            if (!f->left && !f->last)
                continue;
        }
        n = f->left < len - at ? f->left : len - at;
        touch(f, frame, time);
        if (n == f->left && f->last && !f->message.len && !(f->flags & SIGHTING_PARTIAL)) {
            if (rpc_impossible(data + at, n)) { /* whole and in place: nothing is copied */
                *used = at;
                return lose(f, err);
            }
            f->left = 0;
            if ((rc = deliver(f, data + at, n, err)) < 0)
                return rc;
            at += n;
            continue;
        }
        if (!(f->flags & SIGHTING_PARTIAL)) {
            bool check = f->message.len < IMPOSSIBLE_LOOK;
            if (buf_append(&f->message, data + at, n) < 0)
                return err_set(err, ERR_SYSTEM, "out of memory");
            if (check && rpc_impossible(f->message.data, (uint32_t)f->message.len)) {
                *used = at + n;
                return lose(f, err);
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

enum verdict { NO, YES, WAIT };

static bool border(const struct framer *f, uint64_t at)
{
    uint32_t low = 0, high = f->piece_count;

    while (low < high) { /* the last piece that begins at or before |at| is low - 1 */
        uint32_t middle = low + (high - low) / 2;
        if (f->pieces[middle].start <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return at == f->input.len ||
           (low && f->pieces[low - 1].start == at && f->pieces[low - 1].border);
}

/* What comes after the input. */
enum rest {
    REST_COMES = 0,
    REST_LOST, /* nothing, or a hole */
    REST_CUT,  /* the snap length took it */
};

/* Whether a mark begins at |at|.  |rest|: whether more bytes will come.  After WAIT, |need| says
 * how long the input must be for another verdict. */
static enum verdict judge(const struct framer *f, uint32_t at, enum rest rest, uint64_t *need)
{
    const uint8_t *p = f->input.data + at;
    uint32_t have = (uint32_t)f->input.len - at, len;
    uint64_t end;
    int kind;

    *need = f->input.len + 1;
    if (have < MARK_LEN)
        return rest ? NO : WAIT;
    len = load_be32(p) & ~LAST_FRAGMENT;
    if (!(load_be32(p) & LAST_FRAGMENT) || len < 20 || len > MESSAGE_MAX)
        return NO;
    have -= MARK_LEN;
    if (rpc_impossible(p + MARK_LEN, have < len ? have : len))
        return NO;
    kind = rpc_looks_like(p + MARK_LEN, have < len ? have : len, len);
    if (!kind) /* a longer look may still find it plausible */
        return !rest && have < len && have < PLAUSIBLE_LOOK ? WAIT : NO;
    if (f->flow->id && (kind == 2) != (f->side == f->flow->server))
        return NO;
    if (kind == 1 || f->host->expects(f->host->ctx, f->flow, f->side, load_be32(p + MARK_LEN)))
        return YES;
    if (border(f, at))
        return YES;
    end = (uint64_t)at + MARK_LEN + len;
    *need = end;
    if (end > f->input.len && rest == REST_CUT)
        return f->flow->id ? YES : NO; /* the snap length left no more than a header to look at */
    if (end > f->input.len)
        return rest || end - at > WAIT_MAX ? NO : WAIT;
    if (end == f->input.len || border(f, end))
        return YES;
    *need = end + MARK_LEN + IMPOSSIBLE_LOOK;
    have = (uint32_t)(f->input.len - end);
    if (have < MARK_LEN + IMPOSSIBLE_LOOK)
        return rest ? NO : WAIT;
    p = f->input.data + end;
    len = load_be32(p) & ~LAST_FRAGMENT;
    return (load_be32(p) & LAST_FRAGMENT) && len >= 20 && len <= MESSAGE_MAX &&
                   !rpc_impossible(p + MARK_LEN, have - MARK_LEN)
               ? YES
               : NO;
}

/* Looks for a mark in the input; what lies before it is dropped.  A doubtful one is kept at the
 * input's begin and looked at again when there is enough; meanwhile only new bytes are searched. */
static int search(struct framer *f, enum rest rest, uint64_t frame, int64_t time, struct err *err)
{
    uint64_t need = 0;
    uint32_t at = f->searched, looked = at, keep = f->wait_until ? 0 : UINT32_MAX;
    enum verdict v = NO;

    if (f->wait_until && (rest || f->input.len >= f->wait_until)) {
        f->wait_until = 0;
        keep = UINT32_MAX;
        at = 0;
    }
    for (; at < f->input.len; at++) {
        const uint8_t *next = memchr(f->input.data + at, 0x80, f->input.len - at);
        if (!next) {
            v = NO;
            break;
        }
        at = (uint32_t)(next - f->input.data);
        v = judge(f, at, rest, &need);
        if (v == YES)
            break;
        if (v == WAIT && need == f->input.len + 1)
            break; /* a header that is not all there: nothing behind it can be more */
        if (v == WAIT && keep == UINT32_MAX) { /* look whether a later one is certain */
            keep = at;
            f->wait_until = need;
            if (at < looked) /* the others before it are judged when it is their turn */
                at = looked - 1;
        }
    }
    if (v == YES && at < f->input.len) {
        f->lost = false;
        f->resynced = true;
        f->wait_until = 0;
        keep = at;
        at = 0;
    } else {
        if (v != WAIT || at >= f->input.len)
            at = (uint32_t)f->input.len;
        keep = keep < at ? keep : at;
        at -= keep;
        if (f->wait_until)
            f->wait_until -= keep;
    }
    f->skipped += keep;
    input_drop(f, keep);
    f->searched = at;
    return f->lost ? 0 : note_skipped(f, frame, time, err);
}

/* Works on the input until it is used up or waits for more. */
static int work(struct framer *f, enum rest rest, uint64_t frame, int64_t time, struct err *err)
{
    int rc = 0;

    while (rc == 0 && f->input.len) {
        if (f->lost) {
            rc = search(f, rest, frame, time, err);
            if (f->lost)
                break;
            continue;
        }
        /* one piece at a time; taken out first, since losing the framing puts bytes back */
        struct framer_piece p = f->pieces[0];
        uint32_t n = f->piece_count > 1 ? f->pieces[1].start : (uint32_t)f->input.len, used = 0;
        struct framer rest = { .input = f->input,
                               .pieces = f->pieces,
                               .piece_count = f->piece_count,
                               .piece_cap = f->piece_cap };
        f->input = (struct buf){ 0 };
        f->pieces = NULL;
        f->piece_count = f->piece_cap = 0;
        rc = consume(f, rest.input.data, n, p.frame, p.time, &used, err);
        input_drop(&rest, used);
        if (!f->input.len) {
            input_free(f);
            f->input = rest.input;
            f->pieces = rest.pieces;
            f->piece_count = rest.piece_count;
            f->piece_cap = rest.piece_cap;
            continue;
        }
        for (uint32_t i = 0; rc == 0 && i < rest.piece_count; i++) {
            uint32_t start = rest.pieces[i].start;
            uint32_t end =
                i + 1 < rest.piece_count ? rest.pieces[i + 1].start : (uint32_t)rest.input.len;
            rc = input_append(f, rest.input.data + start, end - start, rest.pieces[i].border,
                              rest.pieces[i].frame, rest.pieces[i].time, err);
        }
        input_free(&rest);
    }
    return rc;
}

int framer_data(struct framer *f, const uint8_t *data, uint32_t len, uint64_t frame, int64_t time,
                struct err *err)
{
    uint32_t used = 0;
    int rc;

    if (!f->lost && !f->input.len) {
        if ((rc = consume(f, data, len, frame, time, &used, err)) < 0 || !f->lost) {
            account(f);
            return rc;
        }
    }
    rc = input_append(f, data + used, len - used, !used, frame, time, err);
    if (rc == 0)
        rc = work(f, REST_COMES, frame, time, err);
    account(f);
    return rc;
}

static void input_forget(struct framer *f)
{
    f->skipped += f->input.len;
    input_drop(f, (uint32_t)f->input.len);
    f->searched = 0;
    f->wait_until = 0;
}

int framer_gap(struct framer *f, uint64_t len, uint32_t flag, uint64_t frame, int64_t time,
               struct err *err)
{
    int rc;

    if (!len)
        return 0;
    if (f->lost) {
        if ((rc = work(f, flag == SIGHTING_CUT ? REST_CUT : REST_LOST, frame, time, err)) < 0)
            return rc;
        if (f->lost) {
            input_forget(f);
            return 0;
        }
    }
    if (f->in_record && len <= f->left) {
        f->flags |= SIGHTING_PARTIAL | flag;
        f->left -= (uint32_t)len;
        return f->left || !f->last ? 0 : deliver(f, f->message.data, (uint32_t)f->message.len, err);
    }
    if (f->in_record && f->last) {
        f->flags |= SIGHTING_PARTIAL | flag;
        if ((rc = deliver(f, f->message.data, (uint32_t)f->message.len, err)) < 0)
            return rc;
    } else if (f->in_record || f->mark_have) {
        /* the hole has the mark of the record's next fragment, or a part of this one's */
        f->skipped += f->message.len + f->mark_have;
        if ((rc = note_skipped(f, frame, time, err)) < 0)
            return rc;
        record_reset(f);
    }
    f->lost = true;
    return 0;
}

int framer_end(struct framer *f, uint64_t frame, int64_t time, struct err *err)
{
    int rc = 0;

    if (f->lost)
        rc = work(f, REST_LOST, frame, time, err);
    if (rc == 0 && f->in_record) {
        f->flags |= SIGHTING_PARTIAL | SIGHTING_HOLE;
        rc = deliver(f, f->message.data, (uint32_t)f->message.len, err);
    }
    f->skipped += f->mark_have;
    record_reset(f);
    input_forget(f);
    f->lost = true;
    return rc < 0 ? rc : note_skipped(f, frame, time, err);
}

/* The plain values of a framer, for the carry. */
#define FRAMER_PLAIN(step)                                                                         \
    step(lost) step(resynced) step(found) step(in_record) step(last) step(mark) step(mark_have)    \
        step(left) step(wire_len) step(flags) step(frame) step(first_frame) step(time)             \
            step(searched) step(wait_until) step(piece_count) step(skipped)

int framer_save(const struct framer *f, struct buf *out)
{
    int bad = 0;

#define SAVE(field) bad |= pack_value(out, f->field);
    FRAMER_PLAIN(SAVE)
    bad |= pack_bytes(out, f->message.data, (uint32_t)f->message.len);
    bad |= pack_bytes(out, f->input.data, (uint32_t)f->input.len);
    bad |= buf_append(out, f->pieces, f->piece_count * sizeof(*f->pieces));
    return bad ? -ERR_SYSTEM : 0;
}

int framer_restore(struct framer *f, struct unpack *in)
{
    struct bytes message, input;

#define RESTORE(field) unpack_value(in, f->field);
    FRAMER_PLAIN(RESTORE)
    message = unpack_bytes(in);
    input = unpack_bytes(in);
    if (in->failed || in->left / sizeof(*f->pieces) < f->piece_count) {
        f->piece_count = 0;
        in->failed = true;
        return -ERR_INPUT;
    }
    f->pieces = malloc((f->piece_count + 1) * sizeof(*f->pieces));
    if (!f->pieces || buf_append(&f->message, message.data, message.len) < 0 ||
        buf_append(&f->input, input.data, input.len) < 0)
        return -ERR_SYSTEM;
    f->piece_cap = f->piece_count + 1;
    account(f);
    unpack_raw(in, f->pieces, f->piece_count * sizeof(*f->pieces));
    return 0;
}
