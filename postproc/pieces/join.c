/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/join.c
 *
 * Goes from border to border with what is true there: the end of the piece before, and what still
 * older pieces left.  The contract is in join.h.
 */
#include "pieces/join.h"
#include "base/grow.h"
#include "base/pack.h"
#include "pieces/state.h"

#include <stdio.h>
#include <stdlib.h>

struct join {
    struct join_result *pieces;
    uint32_t count, cap;
    uint64_t frames;           /* of all of them */
    char name[STATE_PATH_MAX]; /* of the piece before */
    struct border before;
    struct outline rest; /* what pieces before that one know and it does not */
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
    border_free(&j->before);
    outline_free(&j->rest);
    for (uint32_t i = 0; i < j->count; i++)
        free(j->pieces[i].unfinished);
    free(j->pieces);
    free(j);
}

/* Each piece must begin where the one before it ends. */
static int follows(const struct join *j, const char *name, const struct border *b, struct err *err)
{
    const struct border *a = &j->before;
    bool same_file = !strcmp(a->capture, b->capture) && !b->starts;

    if (!j->count)
        return b->first ? 0
                        : err_set(err, ERR_INPUT,
                                  "%s: is not the beginning of a capture: the pieces before it are "
                                  "missing",
                                  name);
    if (a->last)
        return err_set(err, ERR_INPUT, "%s: stands behind %s, which was made with --last", name,
                       j->name);
    if (a->options != b->options)
        return err_set(err, ERR_INPUT, "%s: was made with other options than %s", name, j->name);
    if (b->first)
        return err_set(err, ERR_INPUT, "%s: begins a capture, but stands behind %s", name, j->name);
    /* where neighbours do not meet, one of them guessed wrong, unless the file is damaged there */
    if (same_file &&
        (a->to == b->from || (a->till == b->asked && !(a->ends && (a->first || a->whole)))))
        return 0;
    if (!same_file && b->before[0] && strcmp(a->capture, b->before) != 0)
        return err_set(err, ERR_INPUT, "%s: has the file before it as %s, and %s is of %s", name,
                       b->before, j->name, a->capture);
    if (!same_file && a->ends && b->starts)
        return 0;
    if (!strcmp(a->capture, b->capture) && b->from < a->to && b->to > a->from)
        return err_set(err, ERR_INPUT,
                       "%s: has bytes %llu to %llu, of which %s has some too: a piece twice, or in "
                       "another order",
                       name, (unsigned long long)b->from, (unsigned long long)b->to, j->name);
    return err_set(err, ERR_INPUT,
                   "%s: does not follow %s, which ends at byte %llu of %s: a piece "
                   "is missing, or in another order",
                   name, j->name, (unsigned long long)a->to, a->capture);
}

/* A piece with a lead-in. */
static int compare_lead(struct join *j, const struct border *b, struct outline_fit *fit,
                        struct outline *rest, struct err *err)
{
    struct outline known = { 0 };
    int rc = outline_copy(&known, &j->before.end, err);

    if (rc == 0)
        rc = outline_add(&known, &j->rest, err);
    if (rc == 0)
        rc = outline_follows(&(struct outline_border){ &known, j->before.depth, &b->after, &b->end,
                                                       &b->past, b->limits },
                             fit, rest, err);
    outline_free(&known);
    return rc;
}

/* A piece that continues the one before: only what older ones know can be missing. */
static int compare_continued(struct join *j, const struct border *b, struct outline_fit *fit,
                             struct outline *rest, struct err *err)
{
    struct outline nothing = { 0 };

    return outline_follows(
        &(struct outline_border){ &j->rest, UINT64_MAX, &nothing, &b->end, &b->past, b->limits },
        fit, rest, err);
}

/* Neighbours that do not meet: one of them took something else for a packet. */
static bool is_guessed_wrong(const struct border *a, const struct border *b)
{
    return !strcmp(a->capture, b->capture) && !b->starts && a->to != b->from;
}

static int compare(struct join *j, const struct border *b, struct join_result *result,
                   struct outline *rest, struct err *err)
{
    struct outline_fit fit = { .same = true };
    bool continues = b->previous[0] && b->origin == j->before.identity && j->count;
    int rc = 0;

    if (is_guessed_wrong(&j->before, b) && j->count) {
        fit.same = false;
        snprintf(fit.why, sizeof(fit.why),
                 "its first packet was guessed at byte %llu, and is at byte %llu",
                 (unsigned long long)b->from, (unsigned long long)j->before.to);
    } else if (b->previous[0] && !continues) {
        fit.same = false;
        snprintf(fit.why, sizeof(fit.why),
                 "it continues %.60s, which is another one or was made again", b->previous);
    } else if (!j->count || (continues && b->whole)) {
        result->verdict = JOIN_EXACT; /* one run from the beginning on */
    } else {
        rc = continues ? compare_continued(j, b, &fit, rest, err)
                       : compare_lead(j, b, &fit, rest, err);
    }
    result->verdict = fit.same ? JOIN_EXACT : JOIN_AGAIN;
    result->carried = fit.carried;
    result->adopted = fit.adopted;
    snprintf(result->why, sizeof(result->why), "%s", fit.why);
    return rc;
}

static int add_unfinished(struct join_result *r, uint64_t id)
{
    if (GROW(r->unfinished, r->unfinished_count, r->unfinished_cap) < 0)
        return -ERR_SYSTEM;
    r->unfinished[r->unfinished_count++] = id;
    return 0;
}

/* What the piece before it has left, now that the next one is known. */
static int settle(struct join *j, const struct border *next, const struct outline *rest,
                  struct err *err)
{
    struct join_result *r = &j->pieces[j->count - 1];
    const struct border *b = &j->before;
    const bool continues = next->previous[0] != '\0'; /* it has them all */
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < rest->call_count && !continues; i++)
        if (rest->calls[i].borders == 1)
            rc = add_unfinished(r, rest->calls[i].operation);
    for (uint64_t i = 0; rc == 0 && i < b->held && !continues; i++)
        rc = add_unfinished(r, b->held_id + i);
    return rc < 0 ? err_memory(err, "pieces") : 0;
}

int join_add(struct join *j, const char *name, struct err *err)
{
    struct join_result result = { 0 };
    struct outline rest = { 0 };
    struct border b;
    char path[STATE_PATH_MAX];
    int rc = border_read(state_path(path, name, ".border"), &b, err);

    if (rc < 0)
        return rc;
    rc = follows(j, name, &b, err);
    if (rc == 0)
        rc = compare(j, &b, &result, &rest, err);
    if (rc == 0 && GROW(j->pieces, j->count, j->cap) < 0)
        rc = err_memory(err, "pieces");
    if (rc == 0 && j->count)
        rc = settle(j, &b, &rest, err);
    if (rc < 0) {
        border_free(&b);
        outline_free(&rest);
        return rc;
    }
    result.last = b.last;
    result.frames = b.frames;
    result.operations = b.operations;
    result.lead = b.lead;
    result.before = j->frames;
    j->pieces[j->count++] = result;
    j->frames += b.frames;
    border_free(&j->before);
    outline_free(&j->rest);
    j->before = b;
    j->rest = rest;
    snprintf(j->name, sizeof(j->name), "%s", name);
    return 0;
}

const struct join_result *join_piece(const struct join *j, uint32_t number)
{
    return &j->pieces[number];
}

uint32_t join_count(const struct join *j)
{
    return j->count;
}

int join_save(const struct join *j, struct buf *out)
{
    const struct border rest = { .end = j->rest };

    return pack_value(out, j->name) | border_pack(&j->before, out) | border_pack(&rest, out);
}

int join_restore(struct join *j, struct unpack *in, struct err *err)
{
    struct border rest = { .first = false };

    unpack_value(in, j->name);
    j->name[sizeof(j->name) - 1] = '\0';
    in->failed |= !border_unpack(in, &j->before) || !border_unpack(in, &rest);
    j->rest = rest.end;
    rest.end = (struct outline){ 0 };
    border_free(&rest);
    if (GROW(j->pieces, j->count, j->cap) < 0)
        return err_memory(err, "pieces");
    j->pieces[j->count++] = (struct join_result){ .last = j->before.last };
    return 0;
}
