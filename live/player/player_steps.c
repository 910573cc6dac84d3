/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_steps.c
 *
 * What an operation waits for, its turn and its end, for the player.
 *
 * Dependencies are not turned round into edges.  An operation waits for one of those it depends on
 * at a time, the oldest first; when that one ends, it looks at the next.  So an operation is in at
 * most one list, and memory does not grow with the number of dependencies.  The oldest first: what
 * an operation still has to look at is newer than what it waits for, so it is not released, and the
 * ring need not be longer than the horizon.
 *
 * Operations that waited are looked at when the round's answers are all dealt with (steps_settle),
 * by when what they need has come from the memory.
 *
 * Containment: looking at a dependency also takes over its taint, the operation that failed first.
 */
#include "player/player_parts.h"
#include "base/grow.h"
#include "tree/repair.h"

static int look_on(struct playing *d, struct play *play, uint64_t number, struct err *err);
static int is_ready(struct player *p, struct play *play, int64_t at, struct err *err);

/* --- taint */

static bool taints(const struct play *play, const struct verdict *verdict)
{
    enum verdict_class class = verdict->class;

    /* a rule that allows another outcome does not make what was not made; two errors make nothing
     */
    if (class == VERDICT_AS_RECORDED && verdict->without_rules != VERDICT_DIFFERENT_ERROR)
        class = verdict->without_rules;
    switch (class) {
    case VERDICT_NEW_ERROR:
    case VERDICT_VANISHED_ERROR:
    case VERDICT_DIFFERENT_ERROR:
    case VERDICT_UNANSWERED:
        return play->step->has & STEP_CHANGES;
    default:
        return false; /* SKIPPED is tainted already */
    }
}

static void taint(struct play *play, uint64_t because)
{
    if (!(play->flags & PLAY_TAINTED) || because < play->because)
        play->because = because;
    play->flags |= PLAY_TAINTED;
}

/* |play| depends on |done|. */
static inline void take_over(struct play *play, const struct play *done)
{
    if (done->flags & PLAY_TAINTED)
        taint(play, done->because);
    if (done->chain > play->chain)
        play->chain = done->chain;
    play->left--;
}

/* --- those that waited */

static __attribute__((noinline)) int make_room(struct playing *d, struct err *err)
{
    if (d->wake_at && d->wake_at >= d->wake_cap / 2) {
        memmove(d->wakes, d->wakes + d->wake_at, (d->wake_end - d->wake_at) * sizeof(*d->wakes));
        d->wake_end -= d->wake_at;
        d->wake_at = 0;
    }
    if (GROW(d->wakes, d->wake_end, d->wake_cap) < 0)
        return err_memory(err, "waiting operations");
    return 0;
}

static inline int add_wake(struct playing *d, struct wake wake, struct err *err)
{
    if (d->wake_end == d->wake_cap && make_room(d, err) < 0)
        return -ERR_SYSTEM;
    d->wakes[d->wake_end++] = wake;
    steps_expect_wakes(d, wake.slot);
    return 0;
}

int steps_wake_waiters(struct player *p, struct playing *d, struct play *play, struct err *err)
{
    const uint32_t first = play->waiters;

    if (first == PLAY_NONE)
        return 0;
    play->waiters = PLAY_NONE;
    if (p->phase >= PHASE_STOPPING)
        return 0;
    return add_wake(d, (struct wake){ first, (uint32_t)(play - d->ring), p->now }, err);
}

/* Fetches, step by step, what the next ones need that have further dependencies. */
static void expect_wakes(const struct playing *d)
{
    const struct wake *next = &d->wakes[d->wake_at];
    uint32_t left = d->wake_end - d->wake_at;

    if (left > 4 && next[4].done == PLAY_NONE) {
        const uint8_t *more = (const uint8_t *)d->ring[next[4].slot].step->more;

        __builtin_prefetch(more);
        __builtin_prefetch(more + 64);
    }
    if (left > 2 && next[2].done == PLAY_NONE) {
        const struct step_more *more = d->ring[next[2].slot].step->more;
        uint32_t back = more->dependencies[d->ring[next[2].slot].left - 1];

        __builtin_prefetch(&d->ring[(next[2].slot - back) & d->mask]);
    }
}

/* One of them.  All that wait for the same operation are in a list; the next of it comes last, so
 * that there is time to fetch it. */
static int settle(struct playing *d, const struct wake *wake, struct err *err)
{
    struct play *play = &d->ring[wake->slot];
    struct wake next = { play->next, wake->done, wake->at };

    if (wake->done == PLAY_NONE)
        return look_on(d, play, play_number(play), err);
    take_over(play, &d->ring[wake->done]);
    if (next.slot != PLAY_NONE && add_wake(d, next, err) < 0)
        return -ERR_SYSTEM;
    if (!play->left)
        return is_ready(d->player, play, wake->at, err);
    steps_expect(play->step);
    return add_wake(d, (struct wake){ wake->slot, PLAY_NONE, 0 }, err);
}

int steps_settle(struct playing *d, struct err *err)
{
    int result = 0;

    while (d->wake_at < d->wake_end && result == 0 && d->player->phase < PHASE_STOPPING) {
        struct wake wake;

        expect_wakes(d);
        wake = d->wakes[d->wake_at++];
        result = settle(d, &wake, err);
    }
    if (d->wake_at == d->wake_end)
        d->wake_at = d->wake_end = 0;
    return result;
}

/* --- the end */

static int tell(struct player *p, struct play *play, const struct play_end *end, struct err *err)
{
    const int64_t begin = p->begin;
    /* all members: gcc would clear all of it first */
    struct done done = {
        .number = play_number(play),
        .dump = play->in->index,
        .step = play->step,
        .verdict = end->verdict,
        .because = end->verdict->class == VERDICT_SKIPPED ? play->because : 0,
        .planned = pace_plan(p, play) - begin,
        .entered = play->entered - begin,
        .ready = play->ready == NO_TIME ? -1 : play->ready - begin,
        .allowed = -1,
        .sent = -1,
        .answered = end->answered == NO_TIME ? -1 : end->answered - begin,
        .chain = play->chain,
        .measured = p->measured - begin,
        .resent = end->resent,
        .warm_up = play->flags & PLAY_WARM_UP,
    };
    int result;

    if (play->state == PLAY_SENT && play->sent != NO_TIME) {
        done.allowed = play->allowed - begin;
        done.sent = play->sent - begin;
        if (end->answered != NO_TIME && !(play->flags & PLAY_WARM_UP))
            play->chain = done.chain += end->answered - play->sent;
    }
    result = tally_add(p->setup.tally, &done, err);
    if (result == 0 && p->setup.done)
        result = p->setup.done(p->setup.ctx, &done, err);
    return result;
}

/* What comes of another outcome than the recorded one. */
static __attribute__((noinline)) void note_difference(struct player *p, struct play *play,
                                                      const struct verdict *verdict)
{
    p->differ += verdict_differs(verdict->class);
    if (taints(play, verdict))
        taint(play, play_number(play));
}

/* To those that wait for it beside its dependents. */
static __attribute__((noinline)) int pass_on(struct player *p, struct play *play, bool was_sent,
                                             const struct verdict *verdict, struct err *err)
{
    int result = was_sent ? 0 : steps_turn(p, play, err);

    if (result == 0 && p->setup.others)
        result = other_tell(p, play, verdict, err);
    return result;
}

int steps_end(struct player *p, struct play *play, const struct play_end *end, struct err *err)
{
    const struct verdict *verdict = end->verdict;
    bool was_sent = play->state == PLAY_SENT;
    int result = tell(p, play, end, err);

    p->done++;
    if (verdict->class != VERDICT_AS_RECORDED || verdict->without_rules != VERDICT_AS_RECORDED)
        note_difference(p, play, verdict);
    play->in->open--;
    play->state = PLAY_DONE;
    player_wake(p);
    if (result == 0 && (!was_sent || p->setup.others))
        result = pass_on(p, play, was_sent, verdict, err);
    return result < 0 ? result : steps_wake_waiters(p, play->in, play, err);
}

static int end_in_words(struct player *p, struct play *play, enum verdict_class class,
                        const char *text, uint32_t resent, struct err *err)
{
    static const struct verdict nothing;
    struct verdict verdict = nothing;
    struct play_end end = { .verdict = &verdict, .answered = NO_TIME, .resent = resent };

    verdict.class = class;
    for (uint32_t i = 0; text[i] && i + 1 < VERDICT_TEXT; i++)
        verdict.text[i] = text[i];
    return steps_end(p, play, &end, err);
}

int steps_end_as(struct player *p, struct play *play, enum verdict_class class, const char *text,
                 struct err *err)
{
    return end_in_words(p, play, class, text, 0, err);
}

int steps_unanswered(struct player *p, struct play *play, const char *text, uint32_t resent,
                     struct err *err)
{
    return end_in_words(p, play, VERDICT_UNANSWERED, text, resent, err);
}

int steps_skip(struct player *p, struct play *play, uint64_t because, const char *text,
               struct err *err)
{
    taint(play, because);
    if (play->step->made) {
        /* whoever needs its object lacks it for the same reason */
        struct object *made = objects_find(play->in->setup.objects, play->step->made);

        if (made && !made->handle_len)
            made->maker = play->because > INT64_MAX ? OBJECTS_NOBODY : (int64_t)play->because;
    }
    return steps_end_as(p, play, VERDICT_SKIPPED, text, err);
}

/* --- its turn */

int steps_due(struct player *p, struct play *play, struct err *err)
{
    if (p->setup.order == ORDER_TRACE && play_number(play) != play->in->turn) {
        play->state = PLAY_TURN;
        return 0;
    }
    return send_queue(p, play, err);
}

int steps_turn(struct player *p, struct play *play, struct err *err)
{
    struct playing *d = play->in;

    if (p->setup.order != ORDER_TRACE || play_number(play) != d->turn || p->phase >= PHASE_STOPPING)
        return 0;
    while (d->turn < d->given && d->ring[d->turn & d->mask].state >= PLAY_SENT)
        d->turn++;
    if (d->turn == d->given)
        return 0;
    play = &d->ring[d->turn & d->mask];
    if (play->state != PLAY_TURN)
        return 0;
    play->ready = p->now; /* the operations before it are what it depended on */
    return send_queue(p, play, err);
}

/* --- dependencies */

static const char *why_unplayable(const struct step *step)
{
    if (!step->unplayable)
        return "its server is not played";
    return step->unplayable < UNPLAYABLE_MAX ? unplayable_name(step->unplayable) : "";
}

/* What keeps an operation from being played. */
static __attribute__((noinline)) int is_kept(struct player *p, struct play *play, struct err *err)
{
    if (play->flags & PLAY_OTHER)
        return other_ready(p, play, err);
    if (play->flags & PLAY_CANNOT)
        return steps_end_as(p, play, VERDICT_UNPLAYABLE, why_unplayable(play->step), err);
    return steps_skip(p, play, play->because, "", err);
}

/* It has a plan that may be later. */
static __attribute__((noinline)) int is_planned(struct player *p, struct play *play,
                                                struct err *err)
{
    int64_t plan = pace_plan(p, play);

    if (plan <= p->now)
        return steps_due(p, play, err);
    play->state = PLAY_TIMED;
    return play_queue_add(&p->timed, plan, play, err);
}

/* All that it depends on is done, since |at|. */
static int is_ready(struct player *p, struct play *play, int64_t at, struct err *err)
{
    play->ready = at;
    play->sent = NO_TIME;
    if (play->flags & (PLAY_OTHER | PLAY_CANNOT | PLAY_TAINTED))
        return is_kept(p, play, err);
    if (p->setup.pace != PACE_ASAP || play->in->begin > p->now)
        return is_planned(p, play, err);
    return steps_due(p, play, err);
}

static __attribute__((cold)) int outside(const struct playing *d, uint64_t number, uint32_t back,
                                         struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: operation %llu depends on the one %u before it, which is outside of the "
                   "horizon",
                   d->setup.script->path, (unsigned long long)number, back);
}

/* Looks at the dependencies that are left, of which there is one, until one is not done. */
static int look_on(struct playing *d, struct play *play, uint64_t number, struct err *err)
{
    const uint64_t most = number < d->horizon ? number : d->horizon - 1;
    const uint32_t *dependencies = play->step->more->dependencies;

    while (play->left) {
        uint32_t back = dependencies[play->left - 1];
        struct play *other = &d->ring[(number - back) & d->mask];

        if (back - UINT64_C(1) >= most) /* 0, too */
            return outside(d, number, back, err);
        if (other->state != PLAY_DONE) {
            play->next = other->waiters;
            other->waiters = (uint32_t)number & d->mask;
            return 0;
        }
        take_over(play, other);
    }
    return is_ready(d->player, play, d->player->now, err);
}

int steps_go_on(struct playing *d, struct play *play, uint64_t number, struct err *err)
{
    return play->left ? look_on(d, play, number, err)
                      : is_ready(d->player, play, d->player->now, err);
}
