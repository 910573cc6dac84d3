/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
/* The objects that waited longest, against all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "player/stalls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 4000, DUMPS = 2, WAITS = 200000, PLAYERS = 4, ROWS = 20 };

static uint64_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

static struct stalls players[PLAYERS];
static struct truth {
    int64_t waited, longest;
    uint64_t operations, number;
} truth[DUMPS][OBJECTS];
static int64_t all;

/* Small numbers wait often.  |objects|: from 1. */
static void add_some(uint32_t count, uint32_t objects, uint32_t player_count)
{
    memset(players, 0, sizeof(players));
    memset(truth, 0, sizeof(truth));
    all = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t object = 1 + any(1 + any(1 + any(objects - 1))), dump = any(DUMPS);
        int64_t ns = 1 + any(1000000);
        struct truth *t = &truth[dump][object];
        struct stall *x = stalls_add(&players[any(player_count)], dump, object, ns);

        all += ns;
        t->waited += ns;
        t->operations++;
        if (x) {
            x->number = i;
            x->arguments[0] = (uint8_t)object;
        }
        if (ns > t->longest) {
            assert_true(x || player_count > 1);
            t->longest = ns;
            t->number = i;
        }
    }
}

static void check_bounds(const struct stalls *s)
{
    uint32_t there = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        const struct stall *x = &s->of[i];
        const struct truth *t = &truth[x->dump][x->object];

        for (uint32_t k = 0; k < i; k++)
            assert_false(s->of[k].object == x->object && s->of[k].dump == x->dump);
        assert_true(x->waited <= t->waited && t->waited <= x->waited + x->missed);
        assert_true(x->operations <= t->operations && x->longest <= t->longest);
        assert_int_equal(s->most[i], x->waited + x->missed);
        assert_int_equal(x->arguments[0], (uint8_t)x->object);
        there += t->waited > all / STALLS_OBJECTS;
    }
    for (uint32_t d = 0; d < DUMPS; d++)
        for (uint32_t i = 0; i < OBJECTS; i++)
            there -= truth[d][i].waited > all / STALLS_OBJECTS;
    assert_int_equal(there, 0);
}

static void check_order(const struct stalls *s)
{
    const struct stall *rows[ROWS];
    uint32_t count = stalls_longest(s, rows, ROWS), longer = 0;

    assert_int_equal(count, s->count < ROWS ? s->count : ROWS);
    for (uint32_t i = 1; i < count; i++)
        assert_true(rows[i - 1]->waited >= rows[i]->waited && rows[i - 1] != rows[i]);
    for (uint32_t i = 0; count && i < s->count; i++)
        longer += s->of[i].waited > rows[count - 1]->waited;
    assert_true(longer < ROWS);
    assert_int_equal(stalls_longest(s, rows, 0), 0);
}

/* All rows are in the heap, and each is found by its object. */
static void check_order_within(const struct stalls *s)
{
    uint32_t linked = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        assert_int_equal(s->place[s->heap[i]], i);
        assert_true(!i || s->most[s->heap[(i - 1) / 2]] <= s->most[s->heap[i]]);
    }
    for (uint32_t i = 0; i < STALLS_OBJECTS; i++)
        for (uint32_t number = s->first[i]; number; number = s->next[number - 1])
            linked++;
    assert_int_equal(linked, s->count);
}

/* As many as there is room for: all is exact. */
static void test_few(void **state)
{
    (void)state;
    add_some(WAITS / 10, STALLS_OBJECTS / DUMPS, PLAYERS);
    for (uint32_t i = 1; i < PLAYERS; i++)
        stalls_merge(&players[0], &players[i]);
    check_bounds(&players[0]);
    check_order(&players[0]);
    check_order_within(&players[0]);
    for (uint32_t i = 0; i < players[0].count; i++) {
        const struct stall *x = &players[0].of[i];
        const struct truth *t = &truth[x->dump][x->object];

        assert_int_equal(x->missed, 0);
        assert_int_equal(x->waited, t->waited);
        assert_int_equal(x->operations, t->operations);
        assert_int_equal(x->longest, t->longest);
        assert_int_equal(x->number, t->number);
    }
}

static void test_many(void **state)
{
    (void)state;
    add_some(WAITS, OBJECTS, 1);
    assert_int_equal(players[0].count, STALLS_OBJECTS);
    check_bounds(&players[0]);
    check_order(&players[0]);
    check_order_within(&players[0]);
}

static void test_many_of_several(void **state)
{
    (void)state;
    add_some(WAITS, OBJECTS, PLAYERS);
    for (uint32_t i = 1; i < PLAYERS; i++)
        stalls_merge(&players[0], &players[i]);
    check_bounds(&players[0]);
    check_order(&players[0]);
    check_order_within(&players[0]);
}

static void test_times_do_not_wrap(void **state)
{
    struct stalls *s = &players[0];

    (void)state;
    memset(players, 0, sizeof(players));
    for (int i = 0; i < 3; i++)
        stalls_add(s, 0, 7, INT64_MAX / 2);
    assert_int_equal(s->of[0].waited, INT64_MAX);
    players[1] = *s;
    stalls_merge(s, &players[1]);
    assert_int_equal(s->of[0].waited, INT64_MAX);
    assert_int_equal(s->most[0], INT64_MAX);
    assert_int_equal(s->of[0].operations, 6);
}

static void test_nothing(void **state)
{
    const struct stall *rows[ROWS];

    (void)state;
    memset(players, 0, sizeof(players));
    assert_int_equal(stalls_longest(&players[0], rows, ROWS), 0);
    stalls_merge(&players[0], &players[1]);
    assert_int_equal(players[0].count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_many_of_several),
        cmocka_unit_test(test_times_do_not_wrap),
        cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
