/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_take.c
 *
 * Takes steps from the feed into the ring, and gives back those that are done, for the player.
 */
#include "player/player_parts.h"

#include <sys/epoll.h>

enum { BATCH = 16, EXPECT = 4 /* dependencies */ };

static int note_made(struct playing *d, uint32_t made, uint64_t number, struct err *err)
{
    struct object *object = objects_add(d->setup.objects, made, err);

    if (!object)
        return -ERR_SYSTEM;
    if (!object->handle_len)
        object->maker = (int64_t)number;
    return 0;
}

/* Makes the place of a step that the feed gave. */
static struct play *enter(struct playing *d, const struct step *step)
{
    struct player *p = d->player;
    uint64_t number = d->given++;
    struct play *play = &d->ring[number & d->mask];
    const struct step_more *more = step->more;
    uint16_t connection = 0;
    uint8_t flags = pace_is_warm_up(d, step, number) ? PLAY_WARM_UP : 0;
    uint32_t left = 0;

    if (step->unplayable || !connect_can(d, step, number, &connection))
        flags |= PLAY_CANNOT;
    if (other_has(d, step->client))
        flags |= PLAY_OTHER;
    if (more) {
        flags |= more->forget_count ? PLAY_FORGETS : 0;
        left = p->setup.order == ORDER_NONE ? 0 : more->dependency_count;
    }
    *play = (struct play){
        .step = step,
        .in = d,
        .connection = connection,
        .entered = p->now,
        .ready = NO_TIME,
        .waiters = PLAY_NONE,
        .next = PLAY_NONE,
        .left = left,
        .state = PLAY_WAITS,
        .flags = flags,
    };
    d->open++;
    return play;
}

static int begin(struct playing *d, struct play *play, uint64_t number, struct err *err)
{
    uint32_t made = play->step->made;

    if (made && note_made(d, made, number, err) < 0)
        return -ERR_SYSTEM;
    if (d->player->phase == PHASE_WARM_UP && !(play->flags & PLAY_WARM_UP)) {
        d->parked = play;
        return 0;
    }
    return steps_go_on(d, play, number, err);
}

/* What steps depend on, and their places, are all over the memory: fetching those of a batch at
 * once takes the time of one. */
static void expect(const struct playing *d, const struct step *const *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct step_more *more = batch[i]->more;
        const uint64_t number = d->given + i;
        uint32_t n = more ? more->dependency_count : 0, end = n < EXPECT ? 0 : n - EXPECT;

        __builtin_prefetch(&d->ring[number & d->mask], 1);
        while (n > end)
            __builtin_prefetch(&d->ring[(number - more->dependencies[--n]) & d->mask], 1);
    }
}

int steps_unpark(struct playing *d, struct err *err)
{
    struct play *play = d->parked;

    d->parked = NULL;
    d->first = play_number(play);
    d->origin = d->player->setup.warm_up > 0 ? d->player->setup.warm_up : play->step->time;
    play->entered = d->player->now;
    return steps_go_on(d, play, d->first, err);
}

int steps_none(struct playing *d, int got, const struct err *why, struct err *err)
{
    if (got == FEED_WAIT)
        return loop_change(d->player->setup.loop, &d->feed, EPOLLIN, err);
    d->over = true;
    player_wake(d->player);
    if (got == -ERR_INPUT)
        d->player->damage = *why;
    else if (got < 0)
        *err = *why;
    return got < 0 && got != -ERR_INPUT ? got : 0;
}

/* Takes a batch from the feed.  It ends with the first step behind the warm-up. */
static int take_batch(struct playing *d, const struct step **batch, struct err *err)
{
    const uint64_t room = d->horizon - (d->given - d->base);
    const uint32_t most = d->over || d->parked ? 0 : room < BATCH ? (uint32_t)room : BATCH;
    const bool warm = d->player->phase == PHASE_WARM_UP;
    uint32_t taken = 0;
    struct err why; /* only set with a negative code */

    while (taken < most) {
        const struct step *step;
        int got = feed_next(d->setup.feed, &step, &why);

        if (got != FEED_STEP) {
            got = steps_none(d, got, &why, err);
            return got < 0 ? got : (int)taken;
        }
        if (step->more)
            __builtin_prefetch(step->more->dependencies);
        batch[taken++] = step;
        if (warm && !pace_is_warm_up(d, step, d->given + taken - 1))
            break;
    }
    return (int)taken;
}

int steps_take(struct playing *d, uint32_t most, struct err *err)
{
    const struct step *batch[BATCH];
    uint32_t taken = 0;

    while (taken < most) {
        int got = take_batch(d, batch, err), result = 0;

        if (got <= 0)
            return got < 0 ? got : (int)taken;
        expect(d, batch, (uint32_t)got);
        for (int i = 0; i < got; i++) { /* all: what was taken is counted when the run ends */
            uint64_t number = d->given;
            struct play *play = enter(d, batch[i]);

            if (result >= 0)
                result = begin(d, play, number, err);
        }
        if (result < 0)
            return result;
        taken += (uint32_t)got;
    }
    return (int)taken;
}

void steps_release(struct playing *d)
{
    const uint64_t given = d->given;
    uint64_t number = d->base;

    for (; number < given; number++) {
        const struct play *play = &d->ring[number & d->mask];

        if (play->state != PLAY_DONE)
            break;
        verdict_release(d->setup.verdicts, number, play->flags & PLAY_FORGETS ? play->step : NULL);
        feed_release(d->setup.feed);
    }
    d->base = number;
}
