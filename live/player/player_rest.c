/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player_rest.c
 *
 * The operations that a run which ended early has not taken from its feeds.  Reading them costs
 * what the feed costs, and tells by procedure what was not played; a total would not.
 */
#include "player/player_parts.h"

enum { AT_ONCE = 4096 };
static const int64_t PATIENCE = 2000000000;

static int count_step(struct playing *d, const struct step *step, struct err *err)
{
    static const struct verdict not_played = { .class = VERDICT_NOT_PLAYED };
    struct player *p = d->player;
    const struct done done = { .number = d->given,
                               .dump = d->index,
                               .step = step,
                               .verdict = &not_played,
                               .planned = -1,
                               .entered = -1,
                               .ready = -1,
                               .allowed = -1,
                               .sent = -1,
                               .answered = -1 };
    bool ours = !other_has(d, step->client);
    int result = ours ? tally_add(p->setup.tally, &done, err) : 0;

    if (result == 0 && ours && p->setup.done)
        result = p->setup.done(p->setup.ctx, &done, err);
    d->base = ++d->given; /* it never comes into the ring */
    p->done += ours;
    feed_release(d->setup.feed);
    return result;
}

/* Returns how many, or a negative code. */
static int count_some(struct playing *d, struct err *err)
{
    int result = 0, count = 0;

    while (count < AT_ONCE && !d->over && result == 0) {
        const struct step *step;
        struct err why = { 0 };
        int got = feed_next(d->setup.feed, &step, &why);

        if (got != FEED_STEP) {
            result = steps_none(d, got, &why, err);
            break;
        }
        result = count_step(d, step, err);
        count++;
    }
    return result < 0 ? result : count;
}

static bool all_over(const struct player *p)
{
    for (uint32_t i = 0; i < p->setup.dump_count; i++)
        if (!p->dumps[i].over)
            return false;
    return true;
}

int rest_round(struct player *p, struct err *err)
{
    int count = 0;

    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        int some = count_some(&p->dumps[i], err);

        if (some < 0)
            return some;
        count += some;
    }
    if (all_over(p)) {
        p->phase = PHASE_ENDED;
        loop_stop(p->setup.loop);
        return 0;
    }
    if (!count)
        return 0; /* a feed wakes the player, or |limit| does */
    player_wake(p);
    return loop_set(p->setup.loop, &p->limit, p->now + PATIENCE, err);
}

int rest_count(struct player *p, bool read, struct err *err)
{
    int result;

    if (all_over(p))
        return 0;
    if (!read) {
        p->setup.tally->unread = true;
        return 0;
    }
    p->phase = PHASE_COUNTING;
    loop_unset(p->setup.loop, &p->due);
    player_wake(p);
    result = loop_set(p->setup.loop, &p->limit, loop_clock() + PATIENCE, err);
    if (result == 0)
        result = loop_run(p->setup.loop, err);
    if (p->phase == PHASE_COUNTING)
        p->setup.tally->unread = true;
    p->phase = PHASE_ENDED;
    return result;
}
