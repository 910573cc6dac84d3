/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_stream_random.c
 *
 * The property that tests/fuzz/fuzz_stream.c looks for holes in, over seeds: however a known stream
 * is cut, ordered, repeated and lost, its messages are found.
 *
 *     test_stream_random [FIRST_SEED COUNT]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stream_plan.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t first_seed = 1, seed_count = 1500;

static void run_seeds(bool may_lose)
{
    uint64_t failed = 0;
    char why[256];

    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        struct chooser c = { NULL, 0, seed * UINT64_C(0x9e3779b97f4a7c15) };
        if (stream_plan_run(&c, may_lose, why, sizeof(why)) < 0 && ++failed <= 10)
            print_error("seed %llu: %s\n", (unsigned long long)seed, why);
    }
    assert_int_equal(failed, 0);
}

static void finds_all_messages(void **state)
{
    (void)state;
    run_seeds(false);
}

static void finds_what_is_left_after_loss(void **state)
{
    (void)state;
    run_seeds(true);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_all_messages),
        cmocka_unit_test(finds_what_is_left_after_loss),
    };

    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        seed_count = strtoull(argv[2], NULL, 10);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
