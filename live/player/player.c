/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/player/player.c
 *
 * The run of a player as a whole: it is made, goes round, stops and ends.  The contract is in
 * player.h; player_parts.h says what the other files do.
 */
#include "player/player_parts.h"
#include "fill/fill.h"
#include "player/ring_memory.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/epoll.h>

enum {
    STEPS_AT_ONCE = 256, /* are taken before what may go is sent */
    STEPS_OF_ROUND = 4096,
    HORIZON_MOST = 1 << 24,
    SPIN = 70000, /* ns */
};
static const int64_t TICK = 250000000, STOP_PATIENCE = 1000000000;

/* --- rounds */

static bool all_is_done(const struct player *p)
{
    for (uint32_t i = 0; i < p->setup.dump_count; i++)
        if (!p->dumps[i].over || p->dumps[i].base != p->dumps[i].given)
            return false;
    return true;
}

static int take_steps(struct player *p, uint32_t *taken, struct err *err)
{
    int got;

    *taken = 0;
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        if (!pace_wants_more(p, &p->dumps[i]))
            continue;
        got = steps_take(&p->dumps[i], STEPS_AT_ONCE, err);
        if (got < 0)
            return got;
        *taken += (uint32_t)got;
    }
    return 0;
}

static int settle_all(struct player *p, struct err *err)
{
    int result = 0;

    for (uint32_t i = 0; i < p->setup.dump_count && result == 0; i++)
        result = steps_settle(&p->dumps[i], err);
    return result;
}

/* Takes steps and sends what may go, until nothing more may, or until answers should be read. */
static int go_on(struct player *p, struct err *err)
{
    uint32_t all = 0, taken = 0;
    int result = settle_all(p, err);

    if (result < 0)
        return result;
    pace_weigh(p);
    do {
        result = take_steps(p, &taken, err);
        all += taken;
        if (result == 0)
            result = pace_round(p, err);
        if (result == 0)
            result = send_round(p, err);
        if (result == 0)
            result = settle_all(p, err);
        for (uint32_t i = 0; i < p->setup.dump_count; i++)
            steps_release(&p->dumps[i]);
    } while (result == 0 && taken && all < STEPS_OF_ROUND);
    if (taken)
        player_wake(p);
    if (result == 0 && p->setup.others)
        result = p->setup.others->round(p->setup.others->ctx, err);
    pace_gather(p);
    return result < 0 ? result : pace_sleep(p, err);
}

static int player_round(void *ctx, struct err *err)
{
    struct player *p = ctx;
    int result = 0;

    p->now = loop_clock();
    if (p->phase == PHASE_COUNTING)
        return rest_round(p, err);
    for (uint32_t i = 0; i < p->setup.dump_count; i++)
        steps_release(&p->dumps[i]);
    if (p->phase < PHASE_STOPPING)
        result = go_on(p, err);
    if (result < 0)
        return result;
    if (p->phase == PHASE_STOPPING ? !p->outstanding : all_is_done(p)) {
        p->phase = PHASE_ENDED;
        loop_stop(p->setup.loop);
    }
    return 0;
}

/* --- ends */

void player_stop(struct player *p)
{
    if (p->phase >= PHASE_STOPPING)
        return;
    p->phase = PHASE_STOPPING;
    if (p->setup.others)
        p->setup.others->stopping(p->setup.others->ctx);
    player_wake(p);
    if (loop_set(p->setup.loop, &p->limit, loop_clock() + STOP_PATIENCE, NULL) < 0)
        loop_stop(p->setup.loop);
}

static int on_limit(void *ctx, struct err *err)
{
    struct player *p = ctx;

    (void)err;
    if (p->phase < PHASE_STOPPING) {
        p->setup.tally->ended_early = "its duration was over";
        player_stop(p);
        return 0;
    }
    if (p->phase == PHASE_STOPPING)
        p->phase = PHASE_ENDED;
    loop_stop(p->setup.loop);
    return 0;
}

/* Whatever is left ends: every operation that the feed gave is counted once. */
static int wind_up(struct player *p, struct err *err)
{
    int result;

    p->phase = PHASE_ENDED;
    p->now = loop_clock();
    connect_close(p);
    result = follow_end_all(p, err);
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        struct playing *d = &p->dumps[i];

        for (uint64_t n = d->base; n < d->given && result == 0; n++) {
            struct play *play = &d->ring[n & d->mask];

            const uint8_t state = play->state;

            if (play->flags & PLAY_OTHER)
                play->state = PLAY_DONE;
            else if (state != PLAY_DONE)
                result = steps_end_as(
                    p, play, state == PLAY_SENT ? VERDICT_UNANSWERED : VERDICT_NOT_PLAYED, "", err);
        }
        steps_release(d);
    }
    return result;
}

/* Only feed_next empties the eventfd, and it may be called later: nothing wants steps now. */
static int on_feed(void *ctx, uint32_t events, struct err *err)
{
    struct playing *d = ctx;

    (void)events;
    player_wake(d->player);
    return loop_change(d->player->setup.loop, &d->feed, 0, err);
}

static int on_due(void *ctx, struct err *err)
{
    (void)err;
    player_wake(ctx);
    return 0;
}

static int begin(struct player *p, struct err *err)
{
    struct loop *loop = p->setup.loop;
    int result = 0;

    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    if (p->setup.spin)
        loop_spin(loop, SPIN);
    p->now = p->room_at = loop_clock();
    p->begin = p->measured = p->setup.begin ? p->setup.begin : p->now;
    pace_begin(p, p->begin);
    watch_cpu(&p->cpu_user, &p->cpu_system);
    for (uint32_t i = 0; i < p->setup.dump_count && result == 0; i++) {
        struct playing *d = &p->dumps[i];

        d->feed = (struct watch){ .fd = feed_fd(d->setup.feed), .ready = on_feed, .ctx = d };
        if (d->feed.fd >= 0)
            result = loop_watch(loop, &d->feed, EPOLLIN, err);
    }
    if (result == 0 && p->setup.duration && p->phase == PHASE_MEASURED)
        result = loop_set(loop, &p->limit, p->begin + p->setup.duration, err);
    if (result == 0)
        result = loop_set(loop, &p->tick, p->begin + TICK, err);
    player_wake(p);
    return result;
}

static void leave(struct player *p)
{
    struct loop *loop = p->setup.loop;

    for (uint32_t i = 0; i < p->setup.dump_count; i++)
        if (p->dumps[i].feed.ready)
            loop_unwatch(loop, &p->dumps[i].feed);
    loop_unset(loop, &p->due);
    loop_unset(loop, &p->tick);
    loop_unset(loop, &p->limit);
    loop_unidle(loop, &p->round);
    if (p->setup.spin)
        loop_spin(loop, 0);
}

int player_run(struct player *p, struct err *err)
{
    struct err late = { 0 };
    int64_t user, system;
    int result = begin(p, err), ended;
    bool twice = false;

    while (result == 0 && p->phase != PHASE_ENDED) {
        result = loop_run(p->setup.loop, err);
        twice = result == 0 && p->phase == PHASE_STOPPING;
        if (twice)
            p->phase = PHASE_ENDED;
        else if (result == 0 && p->phase < PHASE_STOPPING)
            player_stop(p); /* a signal, or somebody else ended the loop */
    }
    watch_cpu(&user, &system);
    p->setup.tally->cpu_user += user - p->cpu_user;
    p->setup.tally->cpu_system += system - p->cpu_system;
    ended = wind_up(p, &late);
    if (ended == 0)
        ended = rest_count(p, result == 0 && !twice, &late);
    leave(p);
    if (result == 0 && ended < 0) {
        result = ended;
        *err = late;
    }
    if (result == 0 && p->damage.code) {
        result = -p->damage.code;
        *err = p->damage;
    }
    return result;
}

/* --- the player */

static int check(const struct player_setup *s, struct err *err)
{
    if (s->pace == PACE_TRACE && !(s->scale > 0 && s->scale < 1e9))
        return err_set(err, ERR_USAGE, "the scale of time must be above 0 and below 1000000000");
    if (s->pace == PACE_RATE && !(s->rate > 0 && s->rate <= 1e9))
        return err_set(err, ERR_USAGE, "the rate must be above 0 and at most 1000000000 a second");
    if (!s->dump_count || s->dump_count > UINT16_MAX)
        return err_set(err, ERR_USAGE, "1 to %u dumps can be played at once", UINT16_MAX);
    for (uint32_t i = 0; i < s->dump_count; i++)
        if (s->dumps[i].script->trace.horizon > HORIZON_MOST)
            return err_set(err, ERR_INPUT, "%s: a horizon of %u operations is above %u",
                           s->dumps[i].script->path, s->dumps[i].script->trace.horizon,
                           HORIZON_MOST);
    return 0;
}

static int open_dump(struct player *p, uint32_t i, struct err *err)
{
    static const uint8_t bad[32] = { 0xba, 0xd0, 0xba, 0xd0 };
    struct playing *d = &p->dumps[i];
    uint32_t size = 64;

    d->setup = p->setup.dumps[i];
    d->player = p;
    d->index = i;
    d->feed.fd = -1;
    d->host_count = d->setup.script->host_count;
    d->with = calloc((size_t)d->host_count + 1, sizeof(*d->with));
    if (!d->with)
        return err_memory(err, "the hosts");
    for (uint32_t n = 0; n <= d->host_count; n++) {
        d->with[n].bad = (struct bytes){ bad, sizeof(bad) };
        if (d->setup.stale)
            d->with[n].stale = d->setup.stale[n];
    }
    d->horizon = d->setup.script->trace.horizon ? d->setup.script->trace.horizon : 1;
    while (size < d->horizon)
        size *= 2;
    d->mask = size - 1;
    d->ring = ring_memory(size * sizeof(*d->ring));
    if (!d->ring)
        return err_memory(err, "the horizon");
    for (uint32_t n = 0; n < size; n++)
        d->ring[n].state = PLAY_FREE;
    if (p->setup.others && other_open(d, err) < 0)
        return -ERR_SYSTEM;
    return connect_open(d, err);
}

struct player *player_new(const struct player_setup *setup, struct err *err)
{
    struct player *p;
    bool warm = setup->warm_up > 0 || (setup->warm_up < 0 && setup->warm_up_operations);
    int result = 0;

    if (check(setup, err) < 0)
        return NULL;
    p = calloc(1, sizeof(*p));
    if (p)
        p->dumps = calloc(setup->dump_count, sizeof(*p->dumps));
    if (!p || !p->dumps) {
        free(p);
        err_memory(err, "the player");
        return NULL;
    }
    p->setup = *setup;
    p->setup.outstanding_each = setup->outstanding_each ? setup->outstanding_each : 128;
    p->phase = warm ? PHASE_WARM_UP : PHASE_MEASURED;
    p->random = setup->seed;
    p->round = (struct idle){ .run = player_round, .ctx = p };
    p->due = (struct timer){ .due = on_due, .ctx = p };
    p->tick = (struct timer){ .due = watch_tick, .ctx = p };
    p->limit = (struct timer){ .due = on_limit, .ctx = p };
    fill_at(0, 0);
    for (uint32_t i = 0; i < setup->dump_count && result == 0; i++)
        result = open_dump(p, i, err);
    if (result < 0) {
        player_free(p);
        return NULL;
    }
    return p;
}

void player_free(struct player *p)
{
    if (!p)
        return;
    connect_close(p);
    while (p->follows)
        follow_free(p->follows);
    for (uint32_t i = 0; i < p->setup.dump_count; i++) {
        free(p->dumps[i].ring);
        free(p->dumps[i].wakes);
        other_close(&p->dumps[i]);
        free(p->dumps[i].with);
        free(p->dumps[i].destinations);
    }
    play_queue_free(&p->timed);
    free(p->all);
    free(p->sending);
    free(p->dumps);
    free(p);
}
