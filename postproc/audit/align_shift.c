/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/align_shift.c
 *
 * Reads messages ahead, and finds by how much times were moved: each of the first messages that is
 * like one of the original votes for a shift.  For audit_align.c.  The contract is in align_rows.h.
 */
#include "audit/align_rows.h"
#include "audit/slab.h"

enum { VOTERS = 64, FIRST_VOTERS = 4 };

int align_fill(struct align_row *q, uint32_t count, struct err *err)
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

struct audit_message *align_take(struct align_row *q, uint32_t i)
{
    struct audit_message *m = q->all[i];

    q->count--;
    q->bytes -= m->cap_len;
    memmove(q->all + i, q->all + i + 1, (q->count - i) * sizeof(*q->all));
    return m;
}

void align_row_free(struct align_row *q)
{
    while (q->count)
        slab_put(align_take(q, 0));
    source_close(q->source);
}

bool align_is_alike(const struct audit_message *o, const struct audit_message *n)
{
    const struct rpc_header *x = &o->header, *y = &n->header;

    return o->is_call == n->is_call && o->transport == n->transport &&
           (!o->is_call ||
            (x->program == y->program && x->version == y->version && x->procedure == y->procedure));
}

bool align_is_then(const struct audit_message *o, const struct audit_message *n, int64_t shift)
{
    return o->time == TIME_NONE || (n->time != TIME_NONE && o->time + shift == n->time);
}

/* Among the first messages, of which the |x|th and the |y|th are looked at. */
static bool votes_for(const struct align_row *o, uint32_t x, const struct align_row *n, uint32_t y,
                      int64_t shift)
{
    if (o->all[x]->time == TIME_NONE && x != y)
        return false;
    return align_is_then(o->all[x], n->all[y], shift) && align_is_alike(o->all[x], n->all[y]);
}

/* How many of the first |count| messages of |n| are in |o| with this shift; in |same_xids|, with
 * their XIDs.  Each counts once: of messages sent together each is like each. */
static uint32_t count_votes(const struct align_row *o, const struct align_row *n, uint32_t count,
                            int64_t shift, uint32_t *same_xids)
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

static void vote(const struct align_row *o, const struct align_row *n, struct vote *best)
{
    for (int32_t i = -1; n->count && i < (int32_t)o->count; i++) {
        bool timed = i >= 0 && n->all[0]->time != TIME_NONE && o->all[i]->time != TIME_NONE;
        struct vote v = { .shift = timed ? n->all[0]->time - o->all[i]->time : 0 };

        if (i >= 0 && !align_is_alike(o->all[i], n->all[0]))
            continue;
        if (n->count > 1 && count_votes(o, n, FIRST_VOTERS, v.shift, &v.same_xids) < 2)
            continue;
        v.votes = count_votes(o, n, VOTERS, v.shift, &v.same_xids);
        if (v.votes > best->votes || (v.votes == best->votes && v.same_xids > best->same_xids))
            *best = v;
    }
}

int align_find_shift(struct audit *a, struct align_row *original, struct align_row *anonymized,
                     struct err *err)
{
    struct align_row ahead = { 0 };
    const struct align_row *n = anonymized;
    struct vote best = { 0 };
    int rc = align_fill(original, VOTERS, err);

    if (rc < 0 || align_fill(anonymized, VOTERS, err) < 0)
        return -err->code;
    vote(original, n, &best);
    if (best.votes < n->count / 2) {
        ahead.source = source_open(a->options->original, a->options->engine, NULL, err);
        rc = ahead.source ? 0 : -err->code;
    }
    while (rc == 0 && ahead.source && best.votes < n->count / 2) {
        rc = align_fill(&ahead, 4 * VOTERS, err);
        if (rc < 0 || ahead.count <= VOTERS)
            break;
        vote(&ahead, n, &best);
        while (ahead.count > VOTERS)
            slab_put(align_take(&ahead, 0));
    }
    align_row_free(&ahead);
    a->has_shift = best.votes > 0;
    a->shift = best.shift;
    a->xids_kept = best.same_xids > 0 && best.same_xids >= best.votes / 4;
    return rc;
}
