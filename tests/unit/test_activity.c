/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What postproc/activity counts by: spans of time, ranges of latencies, levels of operations under
 * way, and the few largest numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "activity/spans.c"

/* Each latency is in the row that begins at or below it, and so are both ends of each row. */
static void heat_rows(void **state)
{
    (void)state;
    assert_int_equal(activity_heat_row(INT64_MIN), 0);
    assert_int_equal(activity_heat_row(0), 0);
    assert_int_equal(activity_heat_row(1), 0);
    assert_int_equal(activity_heat_row(INT64_MAX), 125);
    assert_int_equal(activity_heat_from(0), 0);
    assert_int_equal(activity_heat_from(126), INT64_MAX);
    assert_int_equal(activity_heat_from(127), INT64_MAX);
    /* 2^20 * sqrt(2) is 1482910.4 */
    assert_int_equal(activity_heat_from(40), 1 << 20);
    assert_int_equal(activity_heat_from(41), 1482911);
    for (unsigned row = 4; row < 126; row++) {
        assert_int_equal(activity_heat_row(activity_heat_from(row)), row);
        assert_int_equal(activity_heat_row(activity_heat_from(row) - 1), row - 1);
    }
}

static void levels(void **state)
{
    static const uint64_t from[] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33 };

    (void)state;
    for (unsigned i = 0; i < sizeof(from) / sizeof(*from); i++)
        assert_int_equal(activity_level_from(i), from[i]);
    for (uint64_t n = 1; n < 5000; n++) {
        unsigned level = activity_level(n);

        assert_true(activity_level_from(level) <= n && n < activity_level_from(level + 1));
    }
    assert_true(activity_level(ACTIVITY_UNDER_WAY_MAX + 1) < ACTIVITY_LEVELS);
}

/* A reply at the time of a call comes before it. */
static void under_way(void **state)
{
    static const struct {
        int64_t call, reply, number;
    } ops[] = {
        { 10, 20, 1 }, { 11, 15, 2 }, { 12, 40, 3 }, { 15, 30, 3 }, { 16, 16, 4 },
        { 17, 18, 4 }, { 20, 21, 3 }, { 30, 10, 2 }, { 31, 50, 2 }, { 60, 70, 1 },
    };
    struct under_way u = { 0 };
    struct err err;

    (void)state;
    for (unsigned i = 0; i < sizeof(ops) / sizeof(*ops); i++)
        assert_int_equal(under_way_add(&u, ops[i].call, ops[i].reply, &err), ops[i].number);
    free(u.replies);
}

/* Against a plain count, in an order that makes the heap work. */
static void many_under_way(void **state)
{
    enum { MANY = 3000 };
    static int64_t replies[MANY];
    struct under_way u = { 0 };
    struct err err;
    uint32_t seed = 7;

    (void)state;
    for (int64_t i = 0; i < MANY; i++) {
        int64_t wanted = 1;

        seed = seed * 1664525 + 1013904223;
        replies[i] = 10 * i + seed % 2000 / 10 * 10;
        for (int64_t k = 0; k < i; k++)
            wanted += replies[k] > 10 * i;
        assert_int_equal(under_way_add(&u, 10 * i, replies[i], &err), wanted);
    }
    free(u.replies);
}

static void lengths(void **state)
{
    static const int64_t wanted[] = { 2000, 5000, 10000, 20000, 50000 };
    int64_t every = 1000, before;

    (void)state;
    for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        assert_int_equal(every = longer(every), wanted[i]);
    assert_int_equal(longer(2 * SECOND), 5 * SECOND);
    assert_int_equal(longer(5 * SECOND), 10 * SECOND);
    assert_int_equal(longer(30 * SECOND), 60 * SECOND);
    assert_int_equal(longer(43200 * SECOND), 86400 * SECOND);
    assert_int_equal(longer(86400 * SECOND), 172800 * SECOND);
    /* all of time has few enough spans */
    do {
        before = every;
        every = longer(every);
        assert_true(every > before);
    } while (number_of(INT64_MAX, every) - number_of(INT64_MIN, every) >= ACTIVITY_SPANS);
    assert_int_equal(number_of(-1, 10), -1);
    assert_int_equal(number_of(-10, 10), -1);
    assert_int_equal(number_of(9, 10), 0);
}

static void busy(void **state)
{
    struct activity_span spans[4] = { { .busy = 0 } };
    struct activity a = { .spans = spans, .span_count = 4, .start = -200, .every = 100 };
    int64_t whole[5] = { 0 };

    (void)state;
    spans_busy(&a, whole, -190, -180); /* within one */
    spans_busy(&a, whole, -150, 130);  /* over all */
    spans_busy(&a, whole, -50, 50);
    spans_busy(&a, whole, 90, 5000); /* the end is not shown */
    spans_busy(&a, whole, 100, 100);
    spans_busy(&a, whole, 50, 40); /* clocks differ */
    spans_end(&a, whole);
    assert_int_equal(spans[0].busy, 10 + 50);
    assert_int_equal(spans[1].busy, 100 + 50);
    assert_int_equal(spans[2].busy, 100 + 50 + 10);
    assert_int_equal(spans[3].busy, 30 + 100);
}

static void largest(void **state)
{
    struct top *top = calloc(1, sizeof(*top));

    (void)state;
    assert_non_null(top);
    top->most = 5;
    for (int64_t i = 0; i < 1000; i++)
        top_offer(top, i * 7919 % 100, i); /* each value ten times */
    top_sort(top);
    assert_int_equal(top->count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(top->entries[i].value, 99);
        assert_int_equal(top->entries[i].id * 7919 % 100, 99);
        assert_int_equal(top->entries[i].id / 100, i); /* the smallest ids of ten */
    }
    free(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_rows),      cmocka_unit_test(levels),  cmocka_unit_test(under_way),
        cmocka_unit_test(many_under_way), cmocka_unit_test(lengths), cmocka_unit_test(busy),
        cmocka_unit_test(largest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
