/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_player_pace.c
 *
 * When the player lets answers come together (pace_gather; what a loop does then is in
 * test_net_loop.c), and how many operations it holds (pace_weigh).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/loop.h"

#include <time.h>

static int64_t gathered; /* ns */

static void seen_gather(struct loop *loop, int64_t ns)
{
    (void)loop;
    gathered = ns;
}

static int64_t time_now, worked, spun;

static int64_t seen_clock(void)
{
    return time_now;
}

static int64_t seen_spun(const struct loop *loop)
{
    (void)loop;
    return spun;
}

static int seen_worked(int clock, struct timespec *time)
{
    assert_int_equal(clock, CLOCK_PROCESS_CPUTIME_ID);
    time->tv_sec = worked / 1000000000;
    time->tv_nsec = worked % 1000000000;
    return 0;
}

#define loop_gather seen_gather
#define loop_clock seen_clock
#define loop_spun seen_spun
#define clock_gettime seen_worked
#include "player/player_pace.c"

static int64_t gather(enum player_pace pace, uint64_t outstanding, uint64_t answers,
                      int64_t latency)
{
    struct player p = { .setup = { .pace = pace },
                        .outstanding = outstanding,
                        .answers = answers,
                        .latency = latency };

    gathered = 0;
    pace_gather(&p);
    assert_int_equal(p.answers, 0); /* of each round anew */
    return gathered;
}

static void when(void **state)
{
    (void)state;
    /* a 16th of the latency, of half a millisecond at most */
    assert_int_equal(gather(PACE_ASAP, 512, 1, 160000), 10000);
    assert_int_equal(gather(PACE_ASAP, 512, 32, 160000), 10000);
    assert_int_equal(gather(PACE_ASAP, 64, 4, 3200000), 200000);
    assert_int_equal(gather(PACE_ASAP, 1024, 1, INT64_C(60000000000)), 500000);
    /* answers come fast enough, or few calls are outstanding */
    assert_int_equal(gather(PACE_ASAP, 512, 33, 160000), 0);
    assert_int_equal(gather(PACE_ASAP, 63, 1, 160000), 0);
    assert_int_equal(gather(PACE_ASAP, 0, 0, 160000), 0);
    /* a plan is not to be missed */
    assert_int_equal(gather(PACE_TRACE, 512, 1, 160000), 0);
    assert_int_equal(gather(PACE_RATE, 512, 1, 160000), 0);
}

/* The window after |percent| of a time span was worked; |in_vain|: and so much spent on looking for
 * events. */
static uint32_t weigh(struct player *p, int64_t span, int percent, int in_vain)
{
    p->now = time_now += span;
    worked += span / 100 * (percent + in_vain);
    spun += span / 100 * in_vain;
    pace_weigh(p);
    return p->window.most;
}

static void window(void **state)
{
    const int64_t span = 5000000, soon = span - 100;
    struct player p = { 0 };

    (void)state;
    worked = 123456789012;
    assert_int_equal(weigh(&p, 7777777777, 0, 0), 1024); /* nothing is known yet */
    assert_int_equal(weigh(&p, span, 98, 0), 1024);
    assert_int_equal(weigh(&p, span, 85, 0), 1024);
    assert_int_equal(weigh(&p, soon, 0, 0), 1024); /* too soon to tell */
    assert_int_equal(weigh(&p, 100, 0, 0), 2048);
    assert_int_equal(weigh(&p, span, 79, 0), 4096);
    assert_int_equal(weigh(&p, span, 50, 49), 8192);
    assert_int_equal(weigh(&p, span, 85, 0), 8192);
    assert_int_equal(weigh(&p, span, 95, 0), 4096);
    for (int i = 0; i < 40; i++)
        weigh(&p, span, 0, 100);
    assert_int_equal(p.window.most, 1 << 24); /* the longest horizon */
    for (int i = 0; i < 40; i++)
        weigh(&p, span, 180, 0); /* the feed's thread works, too */
    assert_int_equal(p.window.most, 1024);
}

static bool is_full(void *ctx)
{
    return *(bool *)ctx;
}

static void more(void **state)
{
    bool others_full = false;
    const struct player_others others = { .full = is_full, .ctx = &others_full };
    struct player p = { .setup = { .pace = PACE_ASAP },
                        .phase = PHASE_MEASURED,
                        .window.most = 10 };
    struct playing d = { .player = &p, .open = 9 };

    (void)state;
    assert_true(pace_wants_more(&p, &d));
    p.full = true; /* but there may be little to send when it is no longer */
    assert_true(pace_wants_more(&p, &d));
    p.queued = 2048;
    assert_false(pace_wants_more(&p, &d));
    p.full = false;
    d.open = 10;
    assert_false(pace_wants_more(&p, &d));
    p.setup.others = &others; /* they may wait for what this one has not read */
    assert_true(pace_wants_more(&p, &d));
    others_full = true;
    assert_false(pace_wants_more(&p, &d));
    p.setup.others = NULL;
    p.setup.pick = PICK_NEWEST; /* among all of the horizon */
    assert_true(pace_wants_more(&p, &d));
    p.setup.pick = PICK_OLDEST;
    p.setup.pace = PACE_TRACE;
    assert_true(pace_wants_more(&p, &d));
    p.phase = PHASE_WARM_UP; /* which has no times */
    assert_false(pace_wants_more(&p, &d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when),
        cmocka_unit_test(window),
        cmocka_unit_test(more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
