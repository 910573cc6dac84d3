/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An index that maps numbers has what a plain array says, as entries come, change and go. */
/* links: room_engine_base */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "base/index.h"

enum { NUMBERS = 3000, STEPS = 200000 };

static uint64_t seed = 1;
static uint32_t oracle[NUMBERS]; /* what each is mapped to */

static uint32_t below(uint32_t most)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % most;
}

/* |crowded|: look-ups begin at 64 places only. */
static uint32_t number(uint32_t i, bool crowded)
{
    return crowded ? i << 16 | (i ^ i % 64 << 6) : i;
}

static void check(const struct index *index, bool crowded)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < NUMBERS; i++) {
        assert_int_equal(index_number(index, number(i, crowded)), oracle[i]);
        assert_int_equal(index_slot(index, number(i, crowded)), oracle[i] ? oracle[i] : INDEX_NONE);
        used += oracle[i] != 0;
    }
    assert_int_equal(index->used, used);
}

/* Many are mapped to the same number. */
static void map(bool crowded)
{
    struct index index = { 0 };

    for (uint32_t i = 0; i < NUMBERS; i++)
        oracle[i] = 0;
    assert_int_equal(index_number(&index, 7), 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t of = below(NUMBERS), to = below(4);

        assert_int_equal(index_reserve(&index, 1), 0);
        index_set_number(&index, number(of, crowded), to);
        oracle[of] = to;
        if (i % 20000 == 0)
            check(&index, crowded);
    }
    check(&index, crowded);
    for (uint32_t i = 0; i < NUMBERS; i++)
        index_set_number(&index, number(i, crowded), oracle[i] = 0);
    check(&index, crowded);
    index_free(&index);
}

static void in_a_row(void **state)
{
    (void)state;
    map(false);
}

static void crowded_places(void **state)
{
    (void)state;
    map(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_row),
        cmocka_unit_test(crowded_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
