/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_pace.c
 *
 * When operations are planned, and what is due, for the player.
 *
 * Plans are absolute: an operation that is late changes no other plan.  The warm-up has no plan: it
 * goes as fast as it can from the beginning of the run on, and the plan begins when all of it is
 * done.
 */
#include "player/player_parts.h"

#include <time.h>

enum {
    SPIN_BEFORE = 70000, /* ns before a plan that the loop no longer sleeps, if it may spin */
    AHEAD = 2048,        /* steps that are ready are enough, if nothing can be sent anyway */
    GATHER_PART = 16,
    GATHER_LEAST = 64,    /* calls outstanding */
    GATHER_MOST = 500000, /* ns */
    WINDOW_LEAST = 1024,  /* operations */
    WINDOW_MOST = 1 << 24,
    WEIGH = 5000000, /* ns */
    BUSY_LEAST = 8,
    BUSY_ENOUGH = 9, /* tenths of the time */
};

#define FAR 4e18 /* ns: 127 years */

int64_t pace_plan_of(const struct player *p, const struct play *play)
{
    const struct playing *d = play->in;
    int64_t from = d->begin;
    int64_t ready = play->ready == NO_TIME ? p->now : play->ready;
    uint64_t place;

    if (play->flags & PLAY_WARM_UP)
        return ready > p->begin ? ready : p->begin;
    switch (p->setup.pace) {
    case PACE_TRACE: {
        int64_t passed;
        double since;

        if (__builtin_sub_overflow(play->step->time, d->origin, &passed))
            return play->step->time < 0 ? from : from + (int64_t)FAR;
        since = (double)passed / p->setup.scale;
        return from + (since <= 0 ? 0 : since >= FAR ? (int64_t)FAR : (int64_t)since);
    }
    case PACE_RATE: /* the dumps take turns */
        place = (play_number(play) - d->first) * p->setup.dump_count + d->index;
        return from + (int64_t)((double)place * 1e9 / p->setup.rate);
    default:
        return ready > from ? ready : from;
    }
}

void pace_begin(struct player *p, int64_t at)
{
    for (uint32_t i = 0; i < p->setup.dump_count; i++)
        p->dumps[i].begin = at + p->dumps[i].setup.delay;
}

bool pace_is_warm_up(const struct playing *d, const struct step *step, uint64_t number)
{
    const struct player *p = d->player;

    if (p->phase != PHASE_WARM_UP)
        return false;
    return p->setup.warm_up >= 0 ? step->time < p->setup.warm_up
                                 : number < p->setup.warm_up_operations;
}

static bool is_warm(const struct player *p)
{
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        const struct playing *d = &p->dumps[i];

        if (d->given - d->base != (d->parked ? 1 : 0) || !(d->parked || d->over))
            return false;
    }
    return true;
}

static int end_warm_up(struct player *p, struct err *err)
{
    int result = 0;

    p->phase = PHASE_MEASURED;
    /* without any, the run may not have begun */
    p->measured = p->now > p->begin ? p->now : p->begin;
    pace_begin(p, p->measured);
    watch_cpu(&p->cpu_user, &p->cpu_system);
    if (p->setup.duration)
        result = loop_set(p->setup.loop, &p->limit, p->measured + p->setup.duration, err);
    for (uint32_t i = 0; i < p->setup.dump_count && result == 0; i++)
        if (p->dumps[i].parked)
            result = steps_unpark(&p->dumps[i], err);
    player_wake(p);
    return result;
}

int pace_round(struct player *p, struct err *err)
{
    const struct queued *first;
    int result = 0;

    if (p->phase == PHASE_WARM_UP && is_warm(p))
        result = end_warm_up(p, err);
    while (result == 0 && (first = play_queue_first(&p->timed)) != NULL && first->key <= p->now)
        result = steps_due(p, play_queue_take(&p->timed), err);
    return result;
}

int pace_sleep(struct player *p, struct err *err)
{
    const struct queued *first = play_queue_first(&p->timed);
    int64_t at;

    if (!first) {
        loop_unset(p->setup.loop, &p->due);
        return 0;
    }
    at = first->key - (p->setup.spin ? SPIN_BEFORE : 0);
    if (p->setup.spin && at <= p->now) {
        loop_unset(p->setup.loop, &p->due);
        player_wake(p); /* work at the end of each round keeps the loop from sleeping */
        return 0;
    }
    return p->due.place && p->due.at == at ? 0 : loop_set(p->setup.loop, &p->due, at, err);
}

/* A server that is slower than the player would wake it for each answer, at several times the cost
 * of the answer itself.  At full speed, with many calls outstanding, the player sleeps for a 16th
 * of their latency: so it gets about a 16th of the answers at once, and the server, which has all
 * others to do, does not notice.  Latencies become longer by a 32nd at a mean. */
void pace_gather(struct player *p)
{
    int64_t span = p->latency / GATHER_PART;

    if (p->answers) /* else the round went on with what earlier answers have made ready */
        p->batch = p->answers;
    p->answers = 0;
    if (p->setup.pace != PACE_ASAP || p->outstanding < GATHER_LEAST ||
        p->batch > p->outstanding / GATHER_PART)
        return;
    loop_gather(p->setup.loop, span < GATHER_MOST ? span : GATHER_MOST);
}

/* What may be held at full speed.  The oldest operations go first, so many are read and wait for
 * long, if what they depend on is not done: when their turn comes, they have left the cache.  A
 * player that is busy anyway needs no more of them to choose from; one that waits for answers,
 * instead of working, gets twice as many each time, up to the horizon. */
void pace_weigh(struct player *p)
{
    struct timespec worked;
    int64_t now, busy;

    if (p->window.most && p->now - p->window.at < WEIGH)
        return;
    now = loop_clock();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &worked);
    busy = (int64_t)worked.tv_sec * 1000000000 + worked.tv_nsec - loop_spun(p->setup.loop);
    if (!p->window.most) {
        p->window.most = WINDOW_LEAST;
    } else if ((busy - p->window.busy) * 10 < (now - p->window.at) * BUSY_LEAST) {
        if (p->window.most < WINDOW_MOST)
            p->window.most *= 2;
    } else if ((busy - p->window.busy) * 10 > (now - p->window.at) * BUSY_ENOUGH &&
               p->window.most > WINDOW_LEAST) {
        p->window.most /= 2;
    }
    p->window.at = now;
    p->window.busy = busy;
}

/* At full speed, when no connection has room, operations further ahead can only wait. */
bool pace_wants_more(const struct player *p, const struct playing *d)
{
    bool full = p->full || (p->count && p->full_count == p->count);
    const struct player_others *others = p->setup.others;

    if (others && others->full(others->ctx))
        return false;
    if (p->setup.pick != PICK_OLDEST || (p->setup.pace != PACE_ASAP && p->phase != PHASE_WARM_UP))
        return true;
    if (full && p->queued >= AHEAD)
        return false;
    return others || d->open < p->window.most; /* other players may wait for any of them */
}
