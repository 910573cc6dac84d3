/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_player_pace.c
 *
 * When the player lets answers come together (pace_gather).  What a loop does then is in
 * test_net_loop.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/loop.h"

static int64_t gathered; /* ns */

static void seen_gather(struct loop *loop, int64_t ns)
{
    (void)loop;
    gathered = ns;
}

#define loop_gather seen_gather
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
