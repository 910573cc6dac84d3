/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_follow.c
 *
 * Further calls for an operation, for the player: the same call again (the server is busy, or a
 * removed file still answers), a LOOKUP for a handle that the reply lacks, the rest of a listing, a
 * GETATTR for the ctime of a guard.
 *
 * The operation stays PLAY_SENT until the last of them is answered.  Their number is bounded, so
 * that a server cannot keep an operation for ever.
 */
#include "player/player_parts.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>

enum {
    GETATTR = 1,       /* RFC 1813 s3.3.1 */
    LOOKUP = 3,        /* s3.3.3 */
    HANDLE_LENGTH = 8, /* in arguments: a length, and a number */
    LIST_ON_MOST = 100000,
};
static const int64_t AGAIN_MOST = 60000000000;
static const char ended[] = "the run ended before its answer";

/* It keeps its place among all that may be outstanding while it waits for its time: else others
 * would pass it, and a busy server would get all the more. */
static void hold(struct follow *f, bool held)
{
    struct player *p = f->player;

    if (f->held == held)
        return;
    f->held = held;
    if (held)
        p->held++;
    else
        p->held--;
    if (!held && p->full) {
        p->full = false;
        p->room_at = p->now;
    }
}

void follow_free(struct follow *f)
{
    hold(f, false);
    *(f->prev ? &f->prev->next : &f->player->follows) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    loop_unset(f->player->setup.loop, &f->timer);
    free(f);
}

static struct follow *follow_new(struct player *p, struct play *play)
{
    struct follow *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->player = p;
    f->play = play;
    f->answered = NO_TIME;
    f->next = p->follows;
    if (f->next)
        f->next->prev = f;
    p->follows = f;
    return f;
}

static int queue_follow(struct follow *f, struct err *err)
{
    struct connection *c = connect_find(f->player, f->play, err);

    if (!c)
        return -ERR_SYSTEM;
    f->waiting = NULL;
    *c->follows_end = f;
    c->follows_end = &f->waiting;
    connect_list(c);
    player_wake(f->player);
    return 0;
}

static int on_time(void *ctx, struct err *err)
{
    hold(ctx, false);
    return queue_follow(ctx, err);
}

int follow_begin(struct play *play, struct follow *f, enum follow_kind kind,
                 const struct verdict *verdict, struct err *err)
{
    struct player *p = play->in->player;

    if (!f)
        f = follow_new(p, play);
    if (!f)
        return err_memory(err, "further calls");
    f->kind = kind;
    f->timer = (struct timer){ .due = on_time, .ctx = f };
    if (verdict)
        f->verdict = *verdict;
    if (kind == FOLLOW_LIST_ON) {
        f->lists_on = true;
        f->with = verdict->with;
        f->with.stale = play_with(play->in, play->step)->stale;
        f->with.bad = play_with(play->in, play->step)->bad;
    }
    if (!verdict || !verdict->wait)
        return queue_follow(f, err);
    hold(f, true);
    player_wake(p); /* its connection may have room for others */
    return loop_set(p->setup.loop, &f->timer, p->now + verdict->wait, err);
}

int follow_next(struct play *play, struct follow **follow, const struct rpc_answer *answer,
                const struct verdict *verdict, struct err *err)
{
    struct player *p = play->in->player;
    struct follow *f = *follow;
    enum follow_kind kind = verdict->next == NEXT_AGAIN    ? FOLLOW_AGAIN
                            : verdict->next == NEXT_LOOKUP ? FOLLOW_LOOKUP
                                                           : FOLLOW_LIST_ON;

    if (verdict->next == NEXT_NOTHING || p->phase >= PHASE_STOPPING ||
        answer->outcome != RPC_ANSWERED)
        return 1;
    if (f && ((kind == FOLLOW_AGAIN && f->answered != NO_TIME &&
               answer->arrived - f->answered > AGAIN_MOST) ||
              (kind == FOLLOW_LOOKUP && f->kind == FOLLOW_LOOKUP) || f->again >= LIST_ON_MOST))
        return 1;
    if (!f)
        f = follow_new(p, play);
    if (!f)
        return err_memory(err, "further calls");
    if (f->answered == NO_TIME)
        f->answered = answer->arrived;
    f->resent += answer->resent;
    f->again++;
    f->uncertain = f->uncertain || verdict->class == VERDICT_UNCERTAIN;
    return follow_begin(play, f, kind, verdict, err);
}

/* --- answers */

static int on_follow(void *ctx, const struct rpc_answer *answer, struct err *err);

static int ends_here(struct follow *f, const char *why, struct err *err)
{
    struct play_end end = { .verdict = &f->verdict, .answered = f->answered, .resent = f->resent };
    struct player *p = f->player;
    struct play *play = f->play;
    int result = f->answered != NO_TIME ? steps_end(p, play, &end, err)
                                        : steps_unanswered(p, play, why, f->resent, err);

    follow_free(f);
    return result;
}

static int on_follow(void *ctx, const struct rpc_answer *answer, struct err *err)
{
    struct follow *f = ctx;
    struct player *p = f->player;
    struct play *play = f->play;
    struct connection *c = connect_find(p, play, err);
    struct verdicts *verdicts = play->in->setup.verdicts;
    const struct step *step = play->step;
    uint64_t number = play_number(play);
    struct verdict verdict = f->verdict;
    int result;

    f->out = false;
    send_ended(c, answer);
    if (answer->outcome == RPC_CANCELLED) {
        f->resent += answer->resent;
        return ends_here(f, send_cancelled(c), err);
    }
    if (f->kind == FOLLOW_GETATTR) {
        result = verdict_learn(verdicts, step, step_object(step), answer, err);
        if (result < 0 || p->phase >= PHASE_STOPPING)
            return result < 0 ? result : ends_here(f, ended, err);
        f->resent += answer->resent;
        return follow_begin(play, f, FOLLOW_FIRST, NULL, err);
    }
    if (f->kind == FOLLOW_FIRST)
        play->sent = answer->called;
    if (f->kind == FOLLOW_LOOKUP)
        result = verdict_looked_up(verdicts, number, step, answer, &verdict, err);
    else
        result = verdict_reply(verdicts, number, step, answer, f->again, &verdict, err);
    return result < 0 ? result : send_judged(play, f, answer, &verdict, err);
}

const struct play *follow_repeats(const struct rpc_client_message *call)
{
    const struct follow *f = call->ctx;

    if (call->done != on_follow)
        return call->ctx;
    return (f->kind == FOLLOW_FIRST || f->kind == FOLLOW_AGAIN) && !f->lists_on ? f->play : NULL;
}

/* --- calls */

/* A call of |procedure| with the beginning of the step's arguments. */
static bool cut_step(struct step *step, uint32_t procedure)
{
    uint32_t len = HANDLE_LENGTH;

    if (procedure == LOOKUP && step->arguments.len >= HANDLE_LENGTH + 4) {
        uint32_t name = load_be32(step->arguments.data + HANDLE_LENGTH);

        if (name > step->arguments.len)
            return false;
        len += 4 + xdr_padded(name);
    }
    if (len > step->arguments.len)
        return false;
    step->program = NFS3_PROGRAM;
    step->procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, procedure);
    step->arguments.len = len;
    step->has = 0;
    step->data_len = step->made = 0;
    step->more = NULL;
    return true;
}

/* What to send.  False: nothing can be. */
static bool call_of(const struct follow *f, struct step *step, struct fill_in *with)
{
    const struct playing *d = f->play->in;

    *step = *f->play->step;
    *with = *play_with(d, step);
    switch (f->kind) {
    case FOLLOW_GETATTR:
        return cut_step(step, GETATTR);
    case FOLLOW_LOOKUP:
        return cut_step(step, LOOKUP);
    default:
        break;
    }
    if (f->lists_on) {
        step->has |= STEP_CONTINUES;
        *with = f->with;
        return true;
    }
    return !(step->has & STEP_CONTINUES) ||
           verdict_cookie(d->setup.verdicts, play_number(f->play), step, with);
}

static int send_follow(struct connection *c, struct follow *f, uint64_t *because, struct err *err)
{
    struct fill_in with;
    struct step step;
    struct send_call call = { &step, &with, on_follow, f, UINT64_MAX };
    int result;

    if (!call_of(f, &step, &with)) {
        *because = UINT64_MAX;
        return SEND_NO_HANDLE;
    }
    result = send_call(c, f->play->in, &call, err);
    if (result == SEND_NO_CTIME) {
        with.has_ctime = true; /* the server does not tell: let it compare with nothing */
        result = send_call(c, f->play->in, &call, err);
    }
    *because = call.because;
    return result;
}

int follow_send(struct connection *c, struct err *err)
{
    struct follow *f = c->follows;
    struct player *p = c->player;
    struct play *play = f->play;
    uint64_t because;
    int result = c->to->gone ? SEND_NO_HANDLE : send_follow(c, f, &because, err);

    if (result < 0 || result == SEND_FULL)
        return result;
    c->follows = f->waiting;
    if (!c->follows)
        c->follows_end = &c->follows;
    if (result == SEND_DONE) {
        f->out = true;
        if (f->kind == FOLLOW_FIRST)
            play->sent = p->now;
        return 0;
    }
    if (f->answered != NO_TIME || c->to->gone)
        return ends_here(f, send_cancelled(c), err); /* with what is known */
    follow_free(f);
    return result == SEND_BAD ? steps_end_as(p, play, VERDICT_UNPLAYABLE, err->text, err)
                              : steps_skip(p, play, because, "", err);
}

int follow_end_all(struct player *p, struct err *err)
{
    int result = 0;

    while (p->follows && result == 0)
        result = ends_here(p->follows, ended, err);
    return result;
}
