/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/join.c
 *
 * Takes pieces and ranges of pieces, in their order, into one range.  The contract is in join.h.
 */
#include "pieces/join.h"
#include "base/pack.h"
#include "pieces/state.h"

#include <stdlib.h>

struct join {
    struct range range; /* all of them */
};

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
    range_free(&j->range);
    free(j);
}

/* Its range ends before the first packet of its file. */
static bool is_empty_start(const struct border *b)
{
    return b->starts && !b->ends && b->from == b->to;
}

/* Each piece must begin where the one before it ends. */
static int follows(const struct join *j, const struct range *next, const char *name, bool anywhere,
                   struct err *err)
{
    const struct border *a = &j->range.last, *b = &next->first;
    const char *before = j->range.count ? j->range.pieces[j->range.count - 1].name : "";
    const bool nothing = is_empty_start(a) && !strcmp(a->capture, b->capture);
    const bool same_file = !strcmp(a->capture, b->capture) && (!b->starts || nothing);

    if (!j->range.count)
        return b->first || anywhere
                   ? 0
                   : err_set(err, ERR_INPUT,
                             "%s: is not the beginning of a capture: the pieces before it are "
                             "missing",
                             name);
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

/* |next| becomes the join's, also after a failure. */
static int take(struct join *j, struct range *next, const char *name, bool anywhere,
                struct err *err)
{
    int rc = follows(j, next, name, anywhere, err);

    if (rc == 0 && !j->range.count) {
        j->range = *next;
        *next = (struct range){ 0 };
    } else if (rc == 0) {
        rc = range_append(&j->range, next, err);
    }
    /* its own pieces, one by one */
    for (uint32_t i = 0; rc == 1 && i < next->count; i++) {
        struct range piece;

        rc = range_read(next->pieces[i].name, &piece, err);
        if (rc == 0 && piece.count > 1)
            rc = err_set(err, ERR_INPUT, "%s: was a piece when %s was made", next->pieces[i].name,
                         name);
        if (rc == 0)
            rc = follows(j, &piece, next->pieces[i].name, anywhere, err);
        if (rc == 0)
            rc = range_append(&j->range, &piece, err);
        if (rc == 0)
            rc = 1;
        range_free(&piece);
    }
    range_free(next);
    return rc < 0 ? rc : 0;
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
    return range_write(name, &j->range, err);
}

const struct join_result *join_piece(const struct join *j, uint32_t number)
{
    return &j->range.pieces[number];
}

uint32_t join_count(const struct join *j)
{
    return j->range.count;
}

const struct outline_key *join_stopped(const struct join *j, uint32_t *at)
{
    const struct range *r = &j->range;

    while (r->last.last && *at < r->rest.flow_count) {
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
    const char *name = j->range.count ? j->range.pieces[j->range.count - 1].name : "";
    const struct border rest = { .end = j->range.rest };

    return pack_bytes(out, name, (uint32_t)strlen(name)) | border_pack(&j->range.last, out) |
           border_pack(&rest, out);
}

int join_restore(struct join *j, struct unpack *in, struct err *err)
{
    struct range *r = &j->range;
    struct bytes name = unpack_bytes(in);
    struct border rest = { .first = false };

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
