/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit_align.c
 *
 * Finds the original of each anonymized message, and gives both to audit_compare.c or
 * survive_pair.c.  It first finds out by how much times were moved.  In an audit the original's
 * messages and frames go on to gather.c, in a thread of its own.  align_captures is for audit.c and
 * survive.c; the contract is in audit_parts.h.
 */
#include "audit/slab.h"
#include "audit/survive_parts.h"
#include "base/queue.h"

#include <stdlib.h>

enum { VOTERS = 64, FIRST_VOTERS = 4, PASSED_MAX = 512 };

/* The messages of one capture that were read ahead. */
struct row {
    struct source *source;
    struct audit_message *all[ALIGN_MESSAGES];
    uint32_t count;
    uint64_t bytes;
    bool ended;
};

struct aligner {
    struct audit *audit;
    struct row original, anonymized;
    struct comparer comparer;
    /* Secrets are gathered in a thread of its own, from frames and messages in the order in which
     * they are met here. */
    struct queue *gatherer;
    struct items gathered; /* that thread's */
    struct err failed;     /* what it could not do */
};

/* Sent to the gatherer: the note on a frame, or a message, which is then the gatherer's. */
struct to_gather {
    struct audit_message *message;
    uint64_t frame;
};

static int gather_one(struct aligner *al, struct to_gather *to, const void *note, size_t len,
                      struct err *err)
{
    if (!to->message)
        return gather_frame(al->audit, to->frame, note, len, err);
    if (items_read(&al->gathered, to->message, err) < 0)
        return -err->code;
    return gather_message(al->audit, to->message, &al->gathered, err);
}

/* After a failure messages are freed, and no more. */
static int gather(void *ctx, void *data, size_t len, struct err *err)
{
    struct aligner *al = ctx;
    struct to_gather to;

    (void)err;
    memcpy(&to, data, sizeof(to));
    if (!al->failed.code)
        gather_one(al, &to, (uint8_t *)data + sizeof(to), len - sizeof(to), &al->failed);
    slab_put(to.message);
    return 0;
}

static int on_frame(void *ctx, uint64_t number, void *note, size_t len, struct err *err)
{
    struct aligner *al = ctx;
    struct to_gather to = { NULL, number };
    const struct iovec pieces[] = { { &to, sizeof(to) }, { note, len } };

    return queue_put(al->gatherer, pieces, 2, err);
}

/* A message of the original that nobody here needs any more. */
static int give_away(struct aligner *al, struct audit_message *m, struct err *err)
{
    const struct to_gather to = { .message = m };
    const struct iovec piece = { (void *)&to, sizeof(to) };
    int rc = al->audit->survive ? 0 : queue_put(al->gatherer, &piece, 1, err);

    if (rc < 0 || al->audit->survive)
        slab_put(m);
    return rc;
}

static int fill(struct row *q, uint32_t count, struct err *err)
{
    while (!q->ended && q->count < count && q->bytes < ALIGN_BYTES) {
        int rc = source_next(q->source, &q->all[q->count], err);

        if (rc < 0)
            return rc;
        q->ended = rc == 0;
        if (rc == 1)
            q->bytes += q->all[q->count++]->cap_len;
    }
    return 0;
}

static struct audit_message *take(struct row *q, uint32_t i)
{
    struct audit_message *m = q->all[i];

    q->count--;
    q->bytes -= m->cap_len;
    memmove(q->all + i, q->all + i + 1, (q->count - i) * sizeof(*q->all));
    return m;
}

static void row_free(struct row *q)
{
    while (q->count)
        slab_put(take(q, 0));
    source_close(q->source);
}

/* Everything but time and XID. */
static bool is_alike(const struct audit_message *o, const struct audit_message *n)
{
    const struct rpc_header *x = &o->header, *y = &n->header;

    return o->is_call == n->is_call && o->transport == n->transport &&
           (!o->is_call ||
            (x->program == y->program && x->version == y->version && x->procedure == y->procedure));
}

/* What has no time is written as it came, or, if it is cut, with the time before it. */
static bool is_then(const struct audit_message *o, const struct audit_message *n, int64_t shift)
{
    return o->time == TIME_NONE || (n->time != TIME_NONE && o->time + shift == n->time);
}

/* Among the first messages, of which the |x|th and the |y|th are looked at. */
static bool votes_for(const struct row *o, uint32_t x, const struct row *n, uint32_t y,
                      int64_t shift)
{
    if (o->all[x]->time == TIME_NONE && x != y)
        return false;
    return is_then(o->all[x], n->all[y], shift) && is_alike(o->all[x], n->all[y]);
}

static bool is_match(const struct audit *a, const struct audit_message *o,
                     const struct audit_message *n)
{
    return is_then(o, n, a->shift) && (!a->xids_kept || o->header.xid == n->header.xid) &&
           is_alike(o, n);
}

/* How many of the first |count| messages of |n| are in |o| with this shift; in |same_xids|, with
 * their XIDs.  Each counts once: of messages sent together each is like each. */
static uint32_t count_votes(const struct row *o, const struct row *n, uint32_t count, int64_t shift,
                            uint32_t *same_xids)
{
    uint32_t votes = 0;

    *same_xids = 0;
    for (uint32_t y = 0; y < count && y < n->count; y++) {
        bool there = false, same = false;

        for (uint32_t x = 0; x < o->count && !same; x++) {
            if (!votes_for(o, x, n, y, shift))
                continue;
            there = true;
            same = o->all[x]->header.xid == n->all[y]->header.xid;
        }
        votes += there;
        *same_xids += same;
    }
    return votes;
}

struct vote {
    int64_t shift;
    uint32_t votes, same_xids;
};

static void vote(const struct row *o, const struct row *n, struct vote *best)
{
    for (int32_t i = -1; n->count && i < (int32_t)o->count; i++) {
        bool timed = i >= 0 && n->all[0]->time != TIME_NONE && o->all[i]->time != TIME_NONE;
        struct vote v = { .shift = timed ? n->all[0]->time - o->all[i]->time : 0 };

        if (i >= 0 && !is_alike(o->all[i], n->all[0]))
            continue;
        if (n->count > 1 && count_votes(o, n, FIRST_VOTERS, v.shift, &v.same_xids) < 2)
            continue;
        v.votes = count_votes(o, n, VOTERS, v.shift, &v.same_xids);
        if (v.votes > best->votes || (v.votes == best->votes && v.same_xids > best->same_xids))
            *best = v;
    }
}

/* By how much times were moved, and whether XIDs stayed: what most of the first messages say.  As
 * many as a policy drops may stand before these in the original: it is read until they are there,
 * at the worst once more to its end. */
static int find_shift(struct aligner *al, struct err *err)
{
    struct audit *a = al->audit;
    struct row ahead = { 0 };
    const struct row *n = &al->anonymized;
    struct vote best = { 0 };
    int rc = fill(&al->original, VOTERS, err);

    if (rc < 0 || fill(&al->anonymized, VOTERS, err) < 0)
        return -err->code;
    vote(&al->original, n, &best);
    if (best.votes < n->count / 2) {
        ahead.source = source_open(a->options->original, a->options->engine, NULL, err);
        rc = ahead.source ? 0 : -err->code;
    }
    while (rc == 0 && ahead.source && best.votes < n->count / 2) {
        rc = fill(&ahead, 4 * VOTERS, err);
        if (rc < 0 || ahead.count <= VOTERS)
            break;
        vote(&ahead, n, &best);
        while (ahead.count > VOTERS)
            slab_put(take(&ahead, 0));
    }
    row_free(&ahead);
    a->has_shift = best.votes > 0;
    a->shift = best.shift;
    a->xids_kept = best.same_xids > 0 && best.same_xids >= best.votes / 4;
    return rc;
}

static void find_message(struct audit *a, unsigned kind, const struct audit_message *o,
                         const struct audit_message *n, const char *text)
{
    struct place p = { NULL, o, n, 0 };
    struct finding f;

    place_finding(&p, kind, "message", &f);
    snprintf(f.place, sizeof(f.place), "XID 0x%08x",
             o ? (unsigned)o->header.xid : (unsigned)n->header.xid);
    snprintf(f.text, sizeof(f.text), "%s", text);
    audit_find(a, &f);
}

/* A message of the original that has no counterpart. */
static int lose(struct aligner *al, struct audit_message *m, struct err *err)
{
    al->audit->missing++;
    if (!al->audit->has_dropped || al->audit->missing > al->audit->dropped)
        find_message(al->audit, FOUND_MISSING, m, NULL,
                     al->audit->has_dropped ? "more are missing than the file says were dropped"
                                            : "the file does not say that messages were dropped");
    return give_away(al, m, err);
}

static void count_message(struct audit *a, const struct audit_message *m, const struct items *items)
{
    struct residual *r = &a->residual;
    uint64_t entries = 0, sized[2] = { 0 }, key[2];
    bool lists = false;

    a->matched++;
    if (m->time != TIME_NONE && (!r->timed++ || m->time < r->first_time))
        r->first_time = m->time;
    if (m->time > r->last_time && m->time != TIME_NONE)
        r->last_time = m->time;
    if (m->is_call && m->header.program == 100003 && m->header.procedure < 32)
        r->calls_by_procedure[m->header.procedure]++;
    for (uint32_t i = 0; i < items->count; i++) {
        const struct item *item = &items->all[i];

        if (!item->field)
            continue;
        lists |= item->field->role & ROLE_ENTRY;
        entries += (item->field->role & ROLE_ENTRY) && item->value;
        if (item->cls == CLASS_SIZE && strcmp(item->field->name, "size") == 0)
            sized[0] = item->value;
        if (item->cls != CLASS_FILEID || strcmp(item->field->name, "fileid") != 0 || !sized[0])
            continue;
        key[0] = sized[0] * UINT64_C(0x9e3779b97f4a7c15);
        key[1] = sized[0];
        struct pair_entry *known = pair_side_find(&a->sizes, key);
        if (known && known->other[0] != item->value) {
            known->zero = true; /* of several files */
        } else if (!known && a->sizes.count < PAIRS_MAX / 4) {
            struct pair_entry entry = { .key = { key[0], key[1] }, .other = { item->value } };
            struct err ignored;

            pair_side_add(&a->sizes, &entry, &ignored);
        }
        sized[0] = 0;
    }
    if (!lists)
        return;
    r->listings++;
    r->entries += entries;
    if (entries > r->entries_max)
        r->entries_max = entries;
}

static int compare(struct aligner *al, const struct audit_message *o, const struct audit_message *n,
                   struct err *err)
{
    struct audit *a = al->audit;
    struct comparer *c = &al->comparer;
    int rc;

    if (a->survive) {
        a->matched++;
        return survive_messages(a->survive, c, o, n, err);
    }
    rc = compare_messages(c, o, n, err);
    if (rc == 0)
        count_message(a, o, &c->original);
    return rc;
}

static int match(struct aligner *al, uint32_t i, struct audit_message *n, struct err *err)
{
    struct audit_message *o = take(&al->original, i);
    struct comparer *c = &al->comparer;
    int rc = items_read(&c->original, o, err);

    if (rc == 0)
        rc = items_read(&c->anonymized, n, err);
    if (rc == 0)
        rc = compare(al, o, n, err);
    if (rc == 0)
        rc = give_away(al, o, err);
    else
        slab_put(o);
    while (rc == 0 && i && al->original.count && al->original.all[0]->passed++ > PASSED_MAX)
        rc = lose(al, take(&al->original, 0), err);
    return rc;
}

/* The place of |n|'s original among those read ahead. */
static uint32_t find_match(const struct aligner *al, const struct audit_message *n)
{
    const struct row *q = &al->original;
    uint32_t i = 0;

    while (i < q->count && !is_match(al->audit, q->all[i], n))
        i++;
    return i;
}

/* Goes on to the time of |n| when all that was read ahead is from long before. */
static int catch_up(struct aligner *al, const struct audit_message *n, struct err *err)
{
    struct row *q = &al->original;
    int rc = 0;

    while (rc == 0 && al->audit->has_shift && !q->ended && q->count &&
           q->all[q->count - 1]->time != TIME_NONE &&
           q->all[q->count - 1]->time + al->audit->shift < n->time) {
        for (uint32_t keep = q->count / 2; rc == 0 && q->count > keep;)
            rc = lose(al, take(q, 0), err);
        if (rc == 0)
            rc = fill(q, ALIGN_MESSAGES, err);
    }
    return rc;
}

/* Finds the original of |n| among those read ahead. */
static int find_original(struct aligner *al, struct audit_message *n, struct err *err)
{
    struct audit *a = al->audit;
    struct row *q = &al->original;
    uint32_t i = find_match(al, n);

    if (i == q->count) {
        if (catch_up(al, n, err) < 0)
            return -err->code;
        i = find_match(al, n);
    }
    if (i < q->count)
        return match(al, i, n, err);
    for (i = 0; a->xids_kept && i < q->count; i++) {
        if (!is_alike(q->all[i], n) || q->all[i]->header.xid != n->header.xid)
            continue;
        find_message(a, FOUND_TIME, q->all[i], n, "at another time than its original");
        return match(al, i, n, err);
    }
    a->surplus++;
    find_message(a, FOUND_SURPLUS, NULL, n, "no message of the original is like it");
    return 0;
}

static int align(struct aligner *al, struct err *err)
{
    int rc = find_shift(al, err);

    while (rc == 0) {
        struct audit_message *n;

        rc = fill(&al->original, ALIGN_MESSAGES, err);
        if (rc == 0)
            rc = fill(&al->anonymized, 1, err);
        if (rc < 0 || !al->anonymized.count)
            break;
        n = take(&al->anonymized, 0);
        rc = find_original(al, n, err);
        slab_put(n);
    }
    while (rc == 0) {
        rc = fill(&al->original, ALIGN_MESSAGES, err);
        if (rc < 0 || !al->original.count)
            break;
        rc = lose(al, take(&al->original, 0), err);
    }
    return rc;
}

/* What the engine could not use of the anonymized file: it should be all messages. */
static int on_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    /* what headers and their contents are counted as when all is well */
    static const char *const fine[] = {
        "link.frames",
        "link.ipv4_packets",
        "link.ipv6_packets",
        "link.ip_protocol.6",
        "link.ip_protocol.17",
        "link.tcp_payloads",
        "link.udp_payloads",
        "link.ip_fragments",
        "link.ip_datagrams_reassembled",
        "link.ip_payloads_empty",
        "tcp.segments",
        "udp.datagrams",
        "rpc.calls",
        "rpc.replies",
        "rpc.partial",
        "rpc.opaque_calls",
        "rpc.malformed",
        "rpc.copies",
        "rpc.other_address",
        "flow.headers_cut",
        "flow.evicted",
        "tcp.restarts",
    };
    struct finding f = { .kind = FOUND_SURPLUS, .what = "frames", .offset = -1 };

    (void)err;
    for (unsigned i = 0; i < sizeof(fine) / sizeof(*fine); i++)
        if (strcmp(name, fine[i]) == 0)
            return 0;
    snprintf(f.place, sizeof(f.place), "%s", name);
    snprintf(f.text, sizeof(f.text), "%llu that are not messages", (unsigned long long)value);
    audit_find(ctx, &f);
    return 0;
}

static void aligner_free(struct aligner *al)
{
    items_free(&al->comparer.original);
    items_free(&al->comparer.anonymized);
    items_free(&al->gathered);
    row_free(&al->original);
    row_free(&al->anonymized);
    queue_free(al->gatherer);
    free(al);
}

int align_captures(struct audit *a, struct err *err)
{
    struct aligner *al = calloc(1, sizeof(*al));
    const struct source_hooks audits[] = { { .frame = on_frame,
                                             .ctx = al,
                                             .look_at_frame = gather_look,
                                             .progress = a->options->progress,
                                             .step = "comparing" },
                                           { .counter = on_counter, .ctx = a } };
    const struct source_hooks survives[] = { { .over = survive_original_over, .ctx = a->survive },
                                             { .over = survive_over, .ctx = a->survive } };
    const struct source_hooks *hooks = a->survive ? survives : audits;
    struct err late;
    int rc = -ERR_SYSTEM;

    if (!al)
        return err_memory(err, "messages");
    al->audit = al->comparer.audit = a;
    al->gatherer = queue_new(gather, al, err);
    if (al->gatherer)
        al->original.source = source_open(a->options->original, a->options->engine, &hooks[0], err);
    if (al->original.source)
        al->anonymized.source =
            source_open(a->options->anonymized, a->options->engine, &hooks[1], err);
    rc = al->anonymized.source ? align(al, err) : -err->code;
    if (al->gatherer)
        queue_drain(al->gatherer, rc < 0 ? &late : err);
    if (rc == 0 && al->failed.code) {
        *err = al->failed;
        rc = -err->code;
    }
    if (rc == 0) {
        a->original = *source_counts(al->original.source);
        a->anonymized = *source_counts(al->anonymized.source);
        pairs_settle(&a->pairs);
    }
    aligner_free(al);
    return rc;
}
