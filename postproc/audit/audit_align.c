/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit_align.c
 *
 * Finds the original of each anonymized message, and gives both to audit_compare.c or
 * survive_pair.c.  By how much times were moved, align_shift.c finds out first.  In an audit the
 * original's messages and frames go on to gather.c, in a thread of its own.  align_captures is for
 * audit.c and survive.c; the contract is in audit_parts.h.
 */
#include "audit/align_rows.h"
#include "audit/slab.h"
#include "audit/survive_parts.h"
#include "base/queue.h"

#include <stdlib.h>

enum { PASSED_MAX = 512 };

struct aligner {
    struct audit *audit;
    struct align_row original, anonymized;
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

static bool is_match(const struct audit *a, const struct audit_message *o,
                     const struct audit_message *n)
{
    return align_is_then(o, n, a->shift) && (!a->xids_kept || o->header.xid == n->header.xid) &&
           align_is_alike(o, n);
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
        residual_message(a, o, &c->original);
    return rc;
}

static int match(struct aligner *al, uint32_t i, struct audit_message *n, struct err *err)
{
    struct audit_message *o = align_take(&al->original, i);
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
        rc = lose(al, align_take(&al->original, 0), err);
    return rc;
}

/* The place of |n|'s original among those read ahead. */
static uint32_t find_match(const struct aligner *al, const struct audit_message *n)
{
    const struct align_row *q = &al->original;
    uint32_t i = 0;

    while (i < q->count && !is_match(al->audit, q->all[i], n))
        i++;
    return i;
}

/* Goes on to the time of |n| when all that was read ahead is from long before. */
static int catch_up(struct aligner *al, const struct audit_message *n, struct err *err)
{
    struct align_row *q = &al->original;
    int rc = 0;

    while (rc == 0 && al->audit->has_shift && !q->ended && q->count &&
           q->all[q->count - 1]->time != TIME_NONE &&
           q->all[q->count - 1]->time + al->audit->shift < n->time) {
        for (uint32_t keep = q->count / 2; rc == 0 && q->count > keep;)
            rc = lose(al, align_take(q, 0), err);
        if (rc == 0)
            rc = align_fill(q, ALIGN_MESSAGES, err);
    }
    return rc;
}

/* Finds the original of |n| among those read ahead. */
static int find_original(struct aligner *al, struct audit_message *n, struct err *err)
{
    struct audit *a = al->audit;
    struct align_row *q = &al->original;
    uint32_t i = find_match(al, n);

    if (i == q->count) {
        if (catch_up(al, n, err) < 0)
            return -err->code;
        i = find_match(al, n);
    }
    if (i < q->count)
        return match(al, i, n, err);
    for (i = 0; a->xids_kept && i < q->count; i++) {
        if (!align_is_alike(q->all[i], n) || q->all[i]->header.xid != n->header.xid)
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
    int rc = align_find_shift(al->audit, &al->original, &al->anonymized, err);

    while (rc == 0) {
        struct audit_message *n;

        rc = align_fill(&al->original, ALIGN_MESSAGES, err);
        if (rc == 0)
            rc = align_fill(&al->anonymized, 1, err);
        if (rc < 0 || !al->anonymized.count)
            break;
        n = align_take(&al->anonymized, 0);
        rc = find_original(al, n, err);
        slab_put(n);
    }
    while (rc == 0) {
        rc = align_fill(&al->original, ALIGN_MESSAGES, err);
        if (rc < 0 || !al->original.count)
            break;
        rc = lose(al, align_take(&al->original, 0), err);
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
    align_row_free(&al->original);
    align_row_free(&al->anonymized);
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
