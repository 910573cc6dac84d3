/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/join.c
 *
 * Takes pieces and ranges of pieces, in their order, into one range.  The contract is in join.h.
 *
 * To append to a range costs as much as all that is known there, which can be more than what most
 * pieces know.  So ranges that know little are joined with their neighbours first.
 */
#include "pieces/join.h"
#include "base/grow.h"
#include "base/pack.h"
#include "pieces/state.h"

#include <stdlib.h>

struct join {
    struct range *ranges; /* behind each other: of all pieces that were taken */
    uint32_t count, cap;
};

/* The last range, or NULL. */
static struct range *latest(const struct join *j)
{
    return j->count ? &j->ranges[j->count - 1] : NULL;
}

struct join *join_new(struct err *err)
{
    struct join *j = calloc(1, sizeof(*j));

    if (!j)
        err_memory(err, "pieces");
    return j;
}

void join_free(struct join *j)
{
    if (!j)
        return;
    for (uint32_t i = 0; i < j->count; i++)
        range_free(&j->ranges[i]);
    free(j->ranges);
    free(j);
}

/* Its range ends before the first packet of its file. */
static bool is_empty_start(const struct border *b)
{
    return b->starts && !b->ends && b->from == b->to;
}

/* Each piece must begin where the one before it ends. */
static int follows(const struct range *range, const struct range *next, const char *name,
                   struct err *err)
{
    const struct border *a = &range->last, *b = &next->first;
    const char *before = range->pieces[range->count - 1].name;
    const bool nothing = is_empty_start(a) && !strcmp(a->capture, b->capture);
    const bool same_file = !strcmp(a->capture, b->capture) && (!b->starts || nothing);

    if (a->last)
        return err_set(err, ERR_INPUT, "%s: stands behind %s, which was made with --last", name,
                       before);
    if (a->options != b->options)
        return err_set(err, ERR_INPUT, "%s: was made with other options than %s", name, before);
    if (b->first && !(nothing && a->first && a->till <= b->asked))
        return err_set(err, ERR_INPUT, "%s: begins a capture, but stands behind %s", name, before);
    /* where neighbours do not meet, one of them guessed wrong, unless the file is damaged there */
    if (same_file &&
        (a->to == b->from || (a->till == b->asked && !(a->ends && (a->first || a->whole)))))
        return 0;
    if (!same_file && b->before[0] && strcmp(a->capture, b->before) != 0)
        return err_set(err, ERR_INPUT, "%s: has the file before it as %s, and %s is of %s", name,
                       b->before, before, a->capture);
    if (!same_file && a->ends && b->starts)
        return 0;
    if (!strcmp(a->capture, b->capture) && b->from < a->to && b->to > a->from)
        return err_set(err, ERR_INPUT,
                       "%s: has bytes %llu to %llu, of which %s has some too: a piece twice, or in "
                       "another order",
                       name, (unsigned long long)b->from, (unsigned long long)b->to, before);
    return err_set(err, ERR_INPUT,
                   "%s: does not follow %s, which ends at byte %llu of %s: a piece "
                   "is missing, or in another order",
                   name, before, (unsigned long long)a->to, a->capture);
}

/* Appends the pieces of |next| one by one, as their borders say. */
static int append_pieces(struct range *range, const struct range *next, struct err *err)
{
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < next->count; i++) {
        const char *name = next->pieces[i].name;
        struct range piece;

        rc = range_read(name, &piece, err);
        if (rc == 0 && piece.count > 1)
            rc = err_set(err, ERR_INPUT, "%s: was a piece when its range was made", name);
        if (rc == 0)
            rc = follows(range, &piece, name, err);
        if (rc == 0)
            rc = range_append(range, &piece, err);
        range_free(&piece);
    }
    return rc;
}

/* Makes one of the last two ranges. */
static int merge_last(struct join *j, struct err *err)
{
    struct range *last = latest(j);
    int rc = range_append(last - 1, last, err);

    if (rc == 1)
        rc = append_pieces(last - 1, last, err);
    range_free(last);
    j->count--;
    return rc;
}

/* What it costs to append to it. */
static uint64_t knowledge(const struct range *r)
{
    const struct outline *end = &r->last.end, *rest = &r->rest;

    return (uint64_t)end->flow_count + end->call_count + end->used.count + rest->flow_count +
           rest->call_count + rest->used.count;
}

/* What is left apart knows half as much as the range before it, and has half as many pieces, so
 * there are few.  A range with a piece that must be made again would be read again each time. */
static int merge_like(struct join *j, struct err *err)
{
    int rc = 0;

    while (rc == 0 && j->count > 1) {
        const struct range *last = latest(j);

        if (!last->again && last->count <= last[-1].count / 2 &&
            knowledge(last) < knowledge(last - 1) / 2)
            break;
        rc = merge_last(j, err);
    }
    return rc;
}

/* |next| becomes the join's, also after a failure. */
static int take(struct join *j, struct range *next, const char *name, bool anywhere,
                struct err *err)
{
    int rc = 0;

    if (j->count)
        rc = follows(latest(j), next, name, err);
    else if (!next->first.first && !anywhere)
        rc = err_set(err, ERR_INPUT,
                     "%s: is not the beginning of a capture: the pieces before it are missing",
                     name);
    if (rc == 0 && GROW(j->ranges, j->count, j->cap) < 0)
        rc = err_memory(err, "pieces");
    if (rc == 0) {
        j->ranges[j->count++] = *next;
        *next = (struct range){ 0 };
        rc = merge_like(j, err);
    }
    range_free(next);
    return rc;
}

int join_end(struct join *j, struct err *err)
{
    int rc = 0;

    while (rc == 0 && j->count > 1)
        rc = merge_last(j, err);
    return rc;
}

int join_add(struct join *j, const char *name, struct err *err)
{
    struct range next = { 0 };
    struct border border;
    char path[STATE_PATH_MAX];
    int rc = border_read(state_path(path, name, ".border"), &border, err);

    if (rc == 0)
        rc = range_piece(&next, name, &border, err);
    if (rc == 0)
        return take(j, &next, name, false, err);
    range_free(&next);
    return rc;
}

int join_add_range(struct join *j, const char *name, bool anywhere, struct err *err)
{
    struct range next;
    int rc = range_read(name, &next, err);

    return rc < 0 ? rc : take(j, &next, name, anywhere, err);
}

int join_write(const struct join *j, const char *name, struct err *err)
{
    return range_write(name, &j->ranges[0], err);
}

const struct join_result *join_piece(const struct join *j, uint32_t number)
{
    return &j->ranges[0].pieces[number];
}

uint32_t join_count(const struct join *j)
{
    return j->count ? j->ranges[0].count : 0;
}

const struct outline_key *join_stopped(const struct join *j, uint32_t *at)
{
    const struct range *r = latest(j);

    while (r && r->last.last && *at < r->rest.flow_count) {
        const struct outline_flow *flow = &r->rest.flows[(*at)++];
        const struct outline_flow *known = outline_find(&r->last.end, &flow->key);

        for (int side = 0; side < 2; side++)
            if (flow->stream[side].stopped && !(known && known->stream[side].started))
                return &flow->key;
    }
    return NULL;
}

int join_save(const struct join *j, struct buf *out)
{
    static const struct range nothing;
    const struct range *r = j->count ? latest(j) : &nothing;
    const char *name = r->count ? r->pieces[r->count - 1].name : "";
    const struct border rest = { .end = r->rest };

    return pack_bytes(out, name, (uint32_t)strlen(name)) | border_pack(&r->last, out) |
           border_pack(&rest, out);
}

int join_restore(struct join *j, struct unpack *in, struct err *err)
{
    struct bytes name = unpack_bytes(in);
    struct border rest = { .first = false };
    struct range *r;

    if (GROW(j->ranges, j->count, j->cap) < 0)
        return err_memory(err, "pieces");
    r = &j->ranges[j->count++];
    *r = (struct range){ 0 };
    in->failed |= !border_unpack(in, &r->last) || !border_unpack(in, &rest);
    r->rest = rest.end;
    rest.end = (struct outline){ 0 };
    border_free(&rest);
    r->first.first = true; /* it was proved from the beginning on */
    r->pieces = calloc(1, sizeof(*r->pieces));
    if (!r->pieces)
        return err_memory(err, "pieces");
    r->count = r->cap = 1;
    r->pieces->last = r->last.last;
    r->pieces->name = strndup(name.len ? (const char *)name.data : "", name.len);
    return r->pieces->name ? 0 : err_memory(err, "pieces");
}
