/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/recompute.c
 *
 * Anonymizes the original again and compares each message with the file as soon as it is written.
 * Equal bytes are decoded only until they have shown that the key is right.  Where bytes differ,
 * this finds the block of the file that belongs to the expected one; then recompute_frame.c
 * compares heads, and recompute_message.c what they carry.  recompute_run is for audit.c.  The
 * contract is in recompute.h.
 */
#include "audit/recompute.h"
#include "capture/feed.h"

#include <stdlib.h>

enum { PIECE = 256 << 10, TAKEN_MAX = 1 << 20, BLOCK_LEAST = 12 };

/* --- the file --- */

/* Reads until |len| bytes are there, if there are so many. */
static bool have(struct recompute_file *f, size_t len, struct err *err)
{
    if (f->at > TAKEN_MAX) {
        memmove(f->data.data, f->data.data + f->at, f->data.len - f->at);
        f->data.len -= f->at;
        f->at = 0;
    }
    while (!f->ended && f->data.len - f->at < len) {
        ssize_t n;

        if (buf_reserve(&f->data, PIECE) < 0) {
            err_memory(err, "the anonymized capture");
            return false;
        }
        n = input_read(f->input, f->data.data + f->data.len, PIECE, err);
        if (n < 0 && err->code == ERR_SYSTEM)
            return false;
        f->ended = n <= 0; /* that it is cut was said */
        f->data.len += n > 0 ? (size_t)n : 0;
    }
    return true;
}

enum { NEXT_END, NEXT_BLOCK, NEXT_BROKEN };

/* The block |ahead| bytes behind what was compared. */
static int look(struct recompute *r, size_t ahead, struct recompute_block *b, struct err *err)
{
    struct recompute_file *f = &r->file;
    const uint8_t *p;
    uint32_t len;

    if (!have(f, ahead + BLOCK_LEAST, err))
        return -err->code;
    if (f->data.len - f->at <= ahead)
        return NEXT_END;
    if (f->data.len - f->at < ahead + BLOCK_LEAST)
        return NEXT_BROKEN;
    len = load_le32(f->data.data + f->at + ahead + 4);
    if (len < BLOCK_LEAST || len > RECOMPUTE_BLOCK_MAX || len % 4)
        return NEXT_BROKEN;
    if (!have(f, ahead + len, err))
        return -err->code;
    p = f->data.data + f->at + ahead;
    if (f->data.len - f->at < ahead + len || load_le32(p + len - 4) != len)
        return NEXT_BROKEN;
    recompute_read(b, p, len);
    return NEXT_BLOCK;
}

static void take(struct recompute *r, const struct recompute_block *b)
{
    r->file.at += b->len;
    r->file.offset += b->len;
    r->file.frames += b->is_packet;
}

static void find_broken(struct recompute *r)
{
    struct finding f = { .kind = FOUND_RECOMPUTED,
                         .what = "block",
                         .offset = (int64_t)r->file.offset,
                         .text = "no block here: the rest was not compared" };

    audit_find(r->audit, &f);
    r->stopped = true;
}

/* --- block by block, where bytes differ --- */

static bool is_same_block(const struct recompute_block *e, const struct recompute_block *n)
{
    return e->len == n->len && memcmp(e->data, n->data, e->len) == 0;
}

/* 1: the file's next block is what has become of |e|, after blocks that are nothing; 0: none is. */
static int find_counterpart(struct recompute *r, const struct recompute_block *e,
                            struct recompute_block *n, struct err *err)
{
    unsigned i, alike = 0, first = 0;
    size_t ahead = 0;
    int rc = NEXT_BLOCK;

    for (i = 0; i < RECOMPUTE_AHEAD && alike < RECOMPUTE_ALIKE; i++) {
        rc = look(r, ahead, n, err);
        if (rc != NEXT_BLOCK)
            break;
        alike = recompute_alike(e, n);
        first = i ? first : alike;
        ahead += n->len;
    }
    if (rc < 0)
        return rc;
    if (rc == NEXT_BROKEN && !i)
        find_broken(r);
    if (alike < RECOMPUTE_ALIKE && first + 1 < RECOMPUTE_ALIKE)
        return 0;
    for (i = alike < RECOMPUTE_ALIKE ? 1 : i; i > 1; i--) {
        if (look(r, 0, n, err) != NEXT_BLOCK)
            return -err->code;
        take(r, n);
        recompute_find(r, "surplus", "a block", NULL, NULL, "nothing should be here");
        r->lengths_differ = true;
    }
    return look(r, 0, n, err) == NEXT_BLOCK ? 1 : -err->code;
}

static int add_payload(struct buf *to, uint32_t *wire_len, const struct recompute_block *b,
                       struct err *err)
{
    if (!b->is_frame)
        return 0;
    *wire_len += b->wire_len - b->payload;
    return buf_append(to, b->frame + b->payload, b->cap_len - b->payload) < 0
               ? err_memory(err, "a message")
               : 0;
}

static int compare_block(struct recompute *r, const struct recompute_block *e, struct err *err)
{
    struct recompute_block n;
    int rc = find_counterpart(r, e, &n, err);

    if (rc < 0 || r->stopped)
        return rc < 0 ? rc : 0;
    if (rc == 0) {
        r->missing++;
        r->lengths_differ = true;
        recompute_find(r, "missing", "a block", NULL, NULL, "one that should be behind this frame");
        return 0;
    }
    take(r, &n);
    if (!is_same_block(e, &n))
        recompute_blocks(r, e, &n);
    /* a message that is not there was found: then both are as they should be */
    return add_payload(&r->theirs, &r->their_len, n.is_frame ? &n : e, err);
}

static int compare_blocks(struct recompute *r, const struct anon_written *written, struct err *err)
{
    uint64_t missing = r->missing;
    size_t at = 0;
    int rc = 0;

    while (rc == 0 && !r->stopped && at < r->expected.len) {
        struct recompute_block e;

        recompute_read(&e, r->expected.data + at, load_le32(r->expected.data + at + 4));
        at += e.len;
        rc = compare_block(r, &e, err);
    }
    if (rc < 0 || r->stopped || !written || r->missing != missing)
        return rc;
    if (r->our_len == r->their_len && r->ours.len == r->theirs.len &&
        (!r->ours.len || memcmp(r->ours.data, r->theirs.data, r->ours.len) == 0))
        return 0;
    return recompute_message(r, written, err);
}

/* --- message by message --- */

/* What is expected: how many frames there are in it, and what they carry. */
static int read_expected(struct recompute *r, uint64_t *frames, struct err *err)
{
    int rc = 0;

    r->ours.len = r->theirs.len = 0;
    r->our_len = r->their_len = 0;
    *frames = 0;
    for (size_t at = 0; rc == 0 && at < r->expected.len;) {
        struct recompute_block e;

        recompute_read(&e, r->expected.data + at, load_le32(r->expected.data + at + 4));
        at += e.len;
        *frames += e.is_packet;
        rc = add_payload(&r->ours, &r->our_len, &e, err);
    }
    return rc;
}

/* Everything that was written since the last message. */
static int compare(struct recompute *r, const struct anon_written *written, struct err *err)
{
    struct recompute_file *f = &r->file;
    size_t len = r->expected.len;
    uint64_t frames;
    int rc = read_expected(r, &frames, err);

    if (rc == 0 && !have(f, len, err))
        rc = -err->code;
    if (rc == 0 && f->data.len - f->at >= len &&
        (!len || memcmp(f->data.data + f->at, r->expected.data, len) == 0)) {
        f->at += len;
        f->offset += len;
        f->frames += frames;
        if (written && r->right < RECOMPUTE_SURE)
            rc = recompute_count(r, written, err);
    } else if (rc == 0) {
        rc = compare_blocks(r, written, err);
    }
    r->expected.len = 0;
    if (r->wrong + r->missing > RECOMPUTE_WRONG && !r->right)
        r->stopped = true;
    return rc < 0 || !r->stopped ? rc : err_set(err, ERR_INPUT, "the rest is not compared");
}

static int on_bytes(void *ctx, const void *data, size_t len, struct err *err)
{
    struct recompute *r = ctx;

    return buf_append(&r->expected, data, len) < 0 ? err_memory(err, "a message") : 0;
}

static int on_written(void *ctx, const struct anon_written *written, struct err *err)
{
    struct recompute *r = ctx;
    int rc = anon_flush(r->anon, err);

    r->original_frame = written->frame;
    r->audit->recomputed.messages++;
    return rc < 0 ? rc : compare(r, written, err);
}

/* --- all of it --- */

/* Built-in ones only are known by what the file says: no path comes from there. */
static int find_policy(struct recompute *r, struct policy **loaded, struct err *err)
{
    const struct audit *a = r->audit;

    r->policy = a->options->key_policy;
    for (const struct policy_builtin *b = policy_builtins; !r->policy && b->name; b++) {
        if (strcmp(b->name, a->policy) != 0)
            continue;
        if (policy_load(b->name, loaded, err) < 0)
            return -err->code;
        r->policy = *loaded;
    }
    if (r->policy)
        return 0;
    return a->policy[0] ? err_set(err, ERR_USAGE,
                                  "the policy \"%s\" is not built in: for --key, give "
                                  "its file with -p",
                                  a->policy)
                        : err_set(err, ERR_USAGE,
                                  "the capture does not say by which policy it was made: for "
                                  "--key, give it with -p");
}

static int read_original(struct recompute *r, struct err *err)
{
    struct input *input = input_open(r->audit->options->original, false, err);
    struct feed feed = { 0 };
    int rc = input ? feed_capture(input, anon_engine(r->anon), 0, NULL, &feed, err) : -err->code;

    input_close(input);
    if (rc == 0)
        rc = anon_end(r->anon, feed.cut, err);
    r->original_frame = 0;
    return rc < 0 ? rc : compare(r, NULL, err);
}

/* What stands behind all that is expected. */
static int find_rest(struct recompute *r, struct err *err)
{
    struct recompute_block n;
    int rc;

    while ((rc = look(r, 0, &n, err)) == NEXT_BLOCK) {
        take(r, &n);
        recompute_find(r, "surplus", "a block", NULL, NULL, "nothing should be here");
    }
    if (rc == NEXT_BROKEN)
        find_broken(r);
    return rc < 0 ? rc : 0;
}

struct before { /* the findings of others */
    uint32_t findings, rows;
    uint64_t total;
    struct finding_count counts[sizeof(((struct audit *)0)->counts) / sizeof(struct finding_count)];
};

static void keep_findings(struct before *b, const struct audit *a)
{
    b->findings = a->finding_count;
    b->rows = a->count_rows;
    b->total = a->finding_total;
    memcpy(b->counts, a->counts, sizeof(b->counts));
}

/* One finding in the place of as many as there are values. */
static void find_wrong_key(const struct before *b, struct audit *a)
{
    struct finding f = { .kind = FOUND_RECOMPUTED,
                         .what = "key",
                         .offset = -1,
                         .text = "no value is what this key makes of the original's: another key, "
                                 "policy or original" };

    a->finding_count = b->findings;
    a->count_rows = b->rows;
    a->finding_total = b->total;
    memcpy(a->counts, b->counts, sizeof(a->counts));
    audit_find(a, &f);
}

static int run(struct recompute *r, struct err *err)
{
    struct audit *a = r->audit;
    struct policy *policy = NULL;
    struct before before;
    int rc = find_policy(r, &policy, err);

    keep_findings(&before, a);
    if (rc == 0 && !(r->file.input = input_open(a->options->anonymized, false, err)))
        rc = -err->code;
    if (rc == 0 &&
        !(r->anon = anon_new(a->options->engine, r->policy, a->options->key, on_bytes, r, err)))
        rc = -err->code;
    if (rc == 0) {
        anon_set_watch(r->anon, on_written, r);
        rc = read_original(r, err);
    }
    if (rc < 0 && r->stopped)
        rc = 0;
    else if (rc == 0)
        rc = find_rest(r, err);
    a->recomputed.bytes = r->file.offset;
    if (rc == 0 && !r->right && (r->wrong || r->missing > a->recomputed.messages / 2))
        find_wrong_key(&before, a);
    anon_free(r->anon);
    policy_free(policy);
    return rc;
}

int recompute_run(struct audit *a, struct err *err)
{
    struct recompute r = { .audit = a };
    int rc = run(&r, err);

    a->recomputed.done = rc == 0;
    input_close(r.file.input);
    buf_free(&r.file.data);
    buf_free(&r.expected);
    buf_free(&r.ours);
    buf_free(&r.theirs);
    items_free(&r.our_items);
    items_free(&r.their_items);
    return rc;
}
