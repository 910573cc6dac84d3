/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_grow.c
 *
 * engine/base/grow.h: room, how much of it, and numbers that do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

static void one_by_one(void **state)
{
    uint64_t *array = NULL;
    uint32_t count = 0, cap = 0, moves = 0;

    (void)state;
    while (count < 1000000) {
        uint32_t before = cap;

        assert_int_equal(GROW(array, count, cap), 0);
        assert_true(cap > count);
        moves += cap != before;
        /* half of it is used at least, above GROW_DOUBLES bytes two thirds */
        if (cap != before && before > 8)
            assert_true((uint64_t)cap * 2 <=
                        (uint64_t)before * (before <= GROW_DOUBLES / 8 ? 4 : 3));
        array[count] = count;
        count++;
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(array[i], i);
    assert_true(moves < 30);
    free(array);
}

static void at_once(void **state)
{
    char *array = NULL;
    size_t cap = 0, before;

    (void)state;
    assert_int_equal(GROW_TO(array, 0, cap), 0);
    assert_null(array);
    assert_int_equal(GROW_TO(array, 5, cap), 0);
    assert_true(cap >= 5);
    memset(array, 'x', cap);
    before = cap;
    assert_int_equal(GROW_TO(array, before, cap), 0);
    assert_int_equal(cap, before);
    assert_int_equal(GROW_TO(array, 123456, cap), 0);
    assert_true(cap >= 123456);
    for (size_t i = 0; i < before; i++)
        assert_int_equal(array[i], 'x');
    free(array);
}

/* What does not fit leaves the array as it was. */
static void too_much(void **state)
{
    uint8_t some[16], *bytes = some;
    struct {
        char large[1 << 20];
    } *large = NULL;
    uint8_t narrow = 250;
    uint32_t most = UINT32_MAX;
    size_t cap = 0;

    (void)state;
    assert_int_equal(GROW(bytes, most, most), -ERR_SYSTEM); /* not to 0 */
    assert_ptr_equal(bytes, some);
    assert_int_equal(most, UINT32_MAX);
    assert_int_equal(GROW_TO(large, SIZE_MAX / 4, cap), -ERR_SYSTEM);
    assert_int_equal(GROW_TO(large, (UINT64_C(1) << 44) + 1, cap), -ERR_SYSTEM); /* 2^64 bytes */
    assert_null(large);
    assert_int_equal(cap, 0);

    bytes = malloc(narrow);
    assert_non_null(bytes);
    assert_int_equal(GROW(bytes, 250, narrow), 0);
    assert_int_equal(narrow, 255);
    assert_int_equal(GROW(bytes, 255, narrow), -ERR_SYSTEM);
    assert_int_equal(narrow, 255);
    free(bytes);
}

static void what_there_was_none_for(void **state)
{
    struct err err = { 0 };

    (void)state;
    assert_int_equal(err_memory(&err, "marks"), -ERR_SYSTEM);
    assert_string_equal(err.text, "out of memory for marks");
    assert_int_equal(err.code, ERR_SYSTEM);
    assert_int_equal(err_memory(NULL, "marks"), -ERR_SYSTEM);
}

static void the_new_ones_zero(void **state)
{
    uint32_t *array = NULL, cap = 0, used = 0;

    (void)state;
    for (uint32_t need = 1; need < 100000; need = need * 3 + 1) {
        assert_int_equal(GROW_ZERO(array, need, cap), 0);
        assert_true(cap >= need);
        for (uint32_t i = 0; i < cap; i++)
            assert_int_equal(array[i], i < used ? UINT32_MAX : 0);
        memset(array, 0xff, cap * sizeof(*array));
        used = cap;
        /* what malloc may give next is not zero */
        void *dirt = malloc(cap * 8 * sizeof(*array));
        assert_non_null(dirt);
        memset(dirt, 0xa5, cap * 8 * sizeof(*array));
        free(dirt);
    }
    assert_int_equal(GROW_ZERO(array, UINT64_C(1) << 32, cap), -ERR_SYSTEM);
    assert_int_equal(cap, used);
    free(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(at_once),
        cmocka_unit_test(the_new_ones_zero),
        cmocka_unit_test(too_much),
        cmocka_unit_test(what_there_was_none_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
