/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles of many groups against sorted values: few and many of them, all the same, as far
 * apart as numbers can be, and more of them than stay in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/quantiles.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS = 40, SMALL = 60000, LARGE = 2500000 };

static uint64_t state;

static uint64_t number(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

struct known {
    uint32_t group;
    int64_t value;
};

static int by_group(const void *a, const void *b)
{
    const struct known *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Values of all magnitudes; group 1 has one value only, group 2 always the same. */
static int64_t value_of(uint32_t group, size_t i)
{
    if (group == 2)
        return -7;
    if (group == 3)
        return i % 2 ? INT64_MAX : INT64_MIN;
    return (int64_t)number() >> (group + i % 20);
}

static void compare(size_t count, const struct known *known, struct quantiles_wanted *wanted,
                    size_t groups)
{
    size_t at = 0;

    for (size_t g = 0; g < groups; g++) {
        uint64_t n = wanted[g].count;

        while (at < count && known[at].group != wanted[g].group)
            at++;
        for (int p = 0; p < QUANTILES; p++) {
            uint64_t rank = (n * quantiles_percent[p] + 99) / 100;

            assert_true(wanted[g].value[p] == known[at + rank - 1].value);
        }
    }
}

static void check(size_t count, unsigned dimension)
{
    struct known *known = malloc(count * sizeof(*known));
    struct quantiles_wanted wanted[GROUPS];
    struct err err = { 0 };
    struct quantiles *q = quantiles_new(&err);
    size_t groups = 0;

    assert_true(known && q);
    for (size_t i = 0; i < count; i++) {
        uint32_t group = i == 5 ? 1 : (uint32_t)(number() % GROUPS);
        uint32_t put[QUANTILES_DIMENSIONS];

        if (i != 5 && group == 1)
            group = 0;
        for (int d = 0; d < QUANTILES_DIMENSIONS; d++)
            put[d] = QUANTILES_NO_GROUP;
        put[dimension] = group;
        if (dimension != 1)
            put[1] = group / 2; /* in the way */
        known[i] = (struct known){ group, value_of(group, i) };
        assert_int_equal(quantiles_put(q, known[i].value, put, &err), 0);
    }
    qsort(known, count, sizeof(*known), by_group);
    for (size_t i = 0, to; i < count; i = to) {
        for (to = i; to < count && known[to].group == known[i].group;)
            to++;
        wanted[groups++] = (struct quantiles_wanted){ .dimension = dimension,
                                                      .group = known[i].group,
                                                      .count = to - i,
                                                      .least = known[i].value,
                                                      .most = known[to - 1].value };
    }
    assert_int_equal(quantiles_find(q, wanted, groups, &err), 0);
    compare(count, known, wanted, groups);
    quantiles_free(q);
    free(known);
}

static void sorted_values_say_the_same(void **unused)
{
    (void)unused;
    for (int i = 0; i < 8; i++) {
        state = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1);
        check(SMALL >> i, (unsigned)i % QUANTILES_DIMENSIONS);
    }
}

static void values_in_a_file(void **unused)
{
    (void)unused;
    state = 77;
    check(LARGE, 2);
}

/* More groups than are searched at a time. */
static void many_groups(void **unused)
{
    enum { MANY = 150000 };
    struct quantiles_wanted *wanted = calloc(MANY, sizeof(*wanted));
    struct err err = { 0 };
    struct quantiles *q = quantiles_new(&err);

    (void)unused;
    assert_true(wanted && q);
    for (uint32_t i = 0; i < 3 * MANY; i++) {
        const uint32_t groups[QUANTILES_DIMENSIONS] = { QUANTILES_NO_GROUP, i % MANY,
                                                        QUANTILES_NO_GROUP, QUANTILES_NO_GROUP };

        assert_int_equal(quantiles_put(q, i, groups, &err), 0);
    }
    for (uint32_t i = 0; i < MANY; i++)
        wanted[i] = (struct quantiles_wanted){
            .dimension = 1, .group = i, .count = 3, .least = i, .most = i + 2 * MANY
        };
    assert_int_equal(quantiles_find(q, wanted, MANY, &err), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(wanted[i].value[0], i + MANY);
        assert_int_equal(wanted[i].value[1], i + 2 * MANY);
        assert_int_equal(wanted[i].value[2], i + 2 * MANY);
    }
    quantiles_free(q);
    free(wanted);
}

static void nothing(void **unused)
{
    struct err err = { 0 };
    struct quantiles *q = quantiles_new(&err);

    (void)unused;
    assert_non_null(q);
    assert_int_equal(quantiles_find(q, NULL, 0, &err), 0);
    quantiles_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorted_values_say_the_same),
        cmocka_unit_test(values_in_a_file),
        cmocka_unit_test(many_groups),
        cmocka_unit_test(nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
