/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/mpi/end.c
 *
 * The end of a run: every rank sends its tally to the first one that is left, which adds them up,
 * tells, and lets the others go with the exit code of all.
 *
 * This goes over the links, not MPI, so that the same way works when a rank has died: the others
 * know at once, and nobody waits for it.
 */
#include "base/escape.h"
#include "mpi/run.h"
#include "replay/cmd_play_tell.h"

#include <stdio.h>

static const int64_t PATIENCE = 700000000; /* ns after a loss, for the tallies of those left */
static const int64_t FLUSH = 1000000000;

/* The rank that tells. */
static uint32_t teller(const struct run *r)
{
    uint32_t rank = 0;

    while (rank < r->world->rank && links_is_lost(r->links, rank))
        rank++;
    return rank;
}

static bool has_all(const struct run *r)
{
    for (uint32_t i = 0; i < r->world->count; i++)
        if (i != r->world->rank && !links_is_lost(r->links, i) && !links_tally(r->links, i).len)
            return false;
    return true;
}

static bool is_over(const struct run *r)
{
    return r->lost_at && loop_clock() > r->lost_at + PATIENCE;
}

/* --- the rank that tells */

static int add_up(struct run *r, uint32_t *missing, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < r->world->count && result == 0; i++) {
        struct bytes bytes = i == r->world->rank ? (struct bytes){ 0 } : links_tally(r->links, i);
        struct tally *tally;

        if (i == r->world->rank)
            continue;
        *missing += !bytes.len;
        if (!bytes.len)
            continue;
        tally = tally_new(err);
        result = tally ? tally_rules(tally, r->tally->rule_count, err) : -err->code;
        if (result == 0)
            result = tally_read(tally, bytes, err);
        if (result == 0)
            result = tally_merge(r->tally, tally, err);
        tally_free(tally);
        if (result < 0)
            err_prefix(err, "the tally of rank %u", i);
    }
    r->tally->unread |= *missing > 0;
    return result;
}

static int tell(struct run *r, uint32_t missing, struct err *err)
{
    char note[320], lost[64] = "";
    int told;

    if (missing)
        snprintf(lost, sizeof(lost), "; what %u of %u ranks did is not counted", missing,
                 r->world->count);
    snprintf(note, sizeof(note), "%s%s", r->why, lost);
    told = play_tell(r->options, r->report, r->tally, note, err);

    if (fflush(stdout) != 0 && told == 0)
        told = err_set(err, ERR_SYSTEM, "standard output: cannot be written");
    return told;
}

static int code_of(const struct run *r)
{
    if (r->code)
        return r->code;
    return play_is_as_recorded(r->tally) && !r->play.interrupted ? 0 : 1;
}

static int on_flush(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* Sends all that waits; at most a second. */
static void flush(struct run *r)
{
    struct timer soon = { .due = on_flush, .ctx = r->session.loop };
    int64_t until = loop_clock() + FLUSH;
    struct err err; /* whoever does not hear that the run is over loses this rank soon */
    int result = 0;

    while (links_sending(r->links) && result == 0 && loop_clock() < until) {
        result = loop_set(r->session.loop, &soon, loop_clock() + 1000000, &err);
        if (result == 0)
            result = loop_run(r->session.loop, &err);
        loop_unset(r->session.loop, &soon);
    }
}

static int tell_all(struct run *r, struct err *err)
{
    struct err late = { 0 };
    uint32_t missing = 0;
    int result = 0, code;

    while (r->links && !has_all(r) && !is_over(r) && result == 0)
        result = loop_run(r->session.loop, &late);
    if (r->links && result == 0)
        result = add_up(r, &missing, &late);
    /* at once, because mpirun ends this process soon */
    if (r->code >= ERR_USAGE) {
        fputs("nfsreplay-mpi: ", stderr);
        escape_print(stderr, r->failure.text);
        putc('\n', stderr);
    }
    code = tell(r, missing, &late) < 0 || result < 0 ? late.code : 0;
    if (!r->code && code)
        *err = late;
    code = r->code ? r->code : code ? code : code_of(r);
    if (r->links && links_end(r->links, code, &late) == 0)
        flush(r);
    return code;
}

/* --- the others */

/* Sends the tally to whoever tells.  Returns 1 if that is this rank. */
static int send_tally(struct run *r, uint32_t to, struct err *err)
{
    struct buf bytes = { 0 };
    int result = tally_write(r->tally, &bytes, err);

    if (result == 0)
        result = links_send_tally(r->links, to, &bytes, err);
    buf_free(&bytes);
    return result;
}

/* Waits until the rank that tells has done so. */
static int follow(struct run *r, struct err *err)
{
    uint32_t to = UINT32_MAX;
    int result = 0;

    while (r->ended_code < 0 && result == 0 && teller(r) != r->world->rank) {
        if (to != teller(r)) {
            to = teller(r);
            result = send_tally(r, to, err);
        }
        if (result == 0)
            result = loop_run(r->session.loop, err);
    }
    if (result < 0)
        return -result;
    /* the others must hear it before this rank's links end */
    if (r->ended_code >= 0 && links_end(r->links, r->ended_code, err) == 0)
        flush(r);
    if (r->ended_code >= 0)
        return r->ended_code;
    return -1; /* all before it are gone */
}

int run_end(struct run *r, struct err *err)
{
    int code = -1;

    *err = (struct err){ 0 }; /* what was said on the way is over */
    player_free(r->play.player);
    r->play.player = NULL;
    if (r->links && teller(r) != r->world->rank)
        code = follow(r, err);
    if (code >= 0)
        return code;
    return tell_all(r, err);
}
