/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/run.c
 *
 * One rank while it plays.  The other ranks' operations come over the links (live/ranks/links.h).
 *
 * When a rank is lost, what it would have told never comes.  So all that are left end: they send
 * nothing more, wait for what is outstanding for a moment, and add up what they saw.  That has to
 * be quick, because mpirun ends them 2 s after it has noticed the same.
 */
#include "mpi/run.h"

#include <stdio.h>

static const int64_t HURRY = 300000000; /* ns */

/* --- what this rank tells */

static bool owns(void *ctx, uint32_t dump, uint32_t client)
{
    const struct run *r = ctx;

    return owners_of(&r->owners, dump, client) == r->world->rank;
}

static int on_ended(void *ctx, const struct player_outcome *outcome, struct err *err)
{
    return links_outcome(((struct run *)ctx)->links, outcome, err);
}

static int on_round(void *ctx, struct err *err)
{
    struct run *r = ctx;
    bool was_full = links_full(r->links);
    int result = links_round(r->links, err);

    if (was_full && !links_full(r->links))
        player_go_on(r->play.player);
    return result;
}

static void note_failure(struct run *r, int result, const struct err *err)
{
    if (result >= 0 || -result <= r->code)
        return;
    r->code = -result;
    r->failure = *err;
    if (r->world->rank)
        err_prefix(&r->failure, "rank %u", r->world->rank);
}

/* The other ranks must not wait for what this one leaves. */
static void tell_stop(struct run *r)
{
    bool interrupted = session_interrupted(&r->session);
    const char *why = "a rank ended early";
    struct err err;

    if (r->told_stop)
        return;
    r->told_stop = true;
    if (r->code)
        why = r->failure.text;
    else if (r->tally->ended_early)
        why = r->tally->ended_early;
    else if (interrupted)
        why = "interrupted by a signal";
    note_failure(r, links_stop(r->links, r->code ? r->code : interrupted, why, &err), &err);
}

static void on_stopping(void *ctx)
{
    struct run *r = ctx;

    links_deaf(r->links);
    tell_stop(r);
}

static bool is_full(void *ctx)
{
    return links_full(((struct run *)ctx)->links);
}

/* --- what others say */

static int on_outcome(void *ctx, const struct player_outcome *outcome, struct err *err)
{
    struct run *r = ctx;

    /* another rank may begin a little earlier */
    return r->play.player ? player_outcome(r->play.player, outcome, err) : 1;
}

static void stop(struct run *r, const char *why)
{
    if (!r->why[0])
        snprintf(r->why, sizeof(r->why), "%s", why);
    r->play.stop = true;
    if (r->tally && !r->tally->ended_early)
        r->tally->ended_early = r->why;
    if (r->play.player)
        player_stop(r->play.player);
    else
        loop_stop(r->session.loop);
}

static int on_stop(void *ctx, uint32_t rank, int code, const char *text, struct err *err)
{
    struct run *r = ctx;

    (void)rank;
    (void)err;
    r->told_stop = true;
    if (code > r->code) {
        r->code = code;
        err_set(&r->failure, code, "%s", text);
    }
    stop(r, text);
    return 0;
}

static int on_hurry(void *ctx, struct err *err)
{
    struct run *r = ctx;

    loop_stop(r->session.loop);
    return loop_set(r->session.loop, &r->hurry, loop_clock() + HURRY, err);
}

static int on_lost(void *ctx, uint32_t rank, const char *text, struct err *err)
{
    struct run *r = ctx;
    char why[200];

    snprintf(why, sizeof(why), "rank %u was lost: %.150s", rank, text);
    if (r->code != ERR_SYSTEM) {
        r->code = ERR_SYSTEM;
        err_set(&r->failure, ERR_SYSTEM, "%s", why);
    }
    stop(r, why);
    if (r->lost_at)
        return 0;
    r->lost_at = loop_clock();
    r->hurry = (struct timer){ .due = on_hurry, .ctx = r };
    return loop_set(r->session.loop, &r->hurry, r->lost_at + HURRY, err);
}

static int on_end(void *ctx, uint32_t rank, int code, struct err *err)
{
    struct run *r = ctx;

    (void)rank;
    (void)err;
    if (code >= 0)
        r->ended_code = code;
    if (!r->play.player)
        loop_stop(r->session.loop);
    return 0;
}

const struct links_host run_host = { on_outcome, on_stop, on_lost, on_end, NULL };

/* --- playing */

void run_play(struct run *r)
{
    struct err err = { 0 };
    char note[192];
    int result;

    if (r->links) {
        r->others = (struct player_others){ owns, on_ended, on_round, on_stopping, is_full, r };
        r->play.others = &r->others;
    }
    result = play_run(&r->play, &err);
    note_failure(r, result, &err);
    play_note(&r->play, note, sizeof(note));
    if (!r->why[0])
        snprintf(r->why, sizeof(r->why), "%s", note);
    if (!r->links)
        return;
    links_deaf(r->links);
    note_failure(r, links_round(r->links, &err), &err); /* what the last round left */
    if (r->code || r->play.interrupted || r->tally->ended_early)
        tell_stop(r);
}
