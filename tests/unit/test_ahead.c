/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/ahead.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 20000, FAILS_AT = 15000 };

struct maker {
    struct ahead *ahead;
    uint32_t made, end;
    bool fails;
};

/* Items of 0 to 999 bytes, each of which tells its number. */
static int step(void *ctx, struct err *err)
{
    struct maker *m = ctx;
    uint8_t bytes[1000];
    const struct iovec pieces[] = { { &m->made, sizeof(m->made) }, { bytes, m->made % 1000 } };

    if (m->made == m->end)
        return m->fails ? err_set(err, ERR_INPUT, "at %u", m->made) : 0;
    memset(bytes, (int)(m->made & 0xff), sizeof(bytes));
    if (ahead_put(m->ahead, m->made % 7, pieces, 2, m->made % 3 ? 0 : 5000, err) < 0)
        return -err->code;
    m->made++;
    return 1;
}

static uint32_t take_all(struct ahead *ahead, uint32_t from, uint32_t most, int *rc,
                         struct err *err)
{
    unsigned kind;
    void *data;
    size_t len;
    uint32_t number, count = 0;

    *rc = 1;
    while (count < most && (*rc = ahead_next(ahead, &kind, &data, &len, err)) == 1) {
        assert_int_equal((uintptr_t)data % 8, 0);
        memcpy(&number, data, sizeof(number));
        assert_int_equal(number, from + count);
        assert_int_equal(kind, number % 7);
        assert_int_equal(len, sizeof(number) + number % 1000);
        if (number % 1000)
            assert_int_equal(((uint8_t *)data)[len - 1], number & 0xff);
        count++;
    }
    return count;
}

static void test_order(void **ctx)
{
    struct maker m = { .end = ITEMS };
    struct err err = { 0 };
    int rc;

    (void)ctx;
    m.ahead = ahead_new(step, &m, &err);
    assert_non_null(m.ahead);
    assert_int_equal(take_all(m.ahead, 0, UINT32_MAX, &rc, &err), ITEMS);
    assert_int_equal(rc, 0);
    ahead_free(m.ahead);
}

/* All items come before the error. */
static void test_error(void **ctx)
{
    struct maker m = { .end = FAILS_AT, .fails = true };
    struct err err = { 0 };
    int rc;

    (void)ctx;
    m.ahead = ahead_new(step, &m, &err);
    assert_non_null(m.ahead);
    assert_int_equal(take_all(m.ahead, 0, UINT32_MAX, &rc, &err), FAILS_AT);
    assert_int_equal(rc, -ERR_INPUT);
    assert_string_equal(err.text, "at 15000");
    ahead_free(m.ahead);
}

/* Who stops gets what was made, and nothing is made any more; the ring bounds it. */
static void test_stop(void **ctx)
{
    struct maker m = { .end = UINT32_MAX };
    struct err err = { 0 };
    uint32_t taken;
    int rc;

    (void)ctx;
    m.ahead = ahead_new(step, &m, &err);
    assert_non_null(m.ahead);
    taken = take_all(m.ahead, 0, 1000, &rc, &err);
    assert_int_equal(taken, 1000);
    ahead_stop(m.ahead);
    taken += take_all(m.ahead, taken, UINT32_MAX, &rc, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(taken, m.made);
    /* an item stands for 2,180 bytes on average */
    assert_true(taken < 1000 + (AHEAD_BATCHES + 2) * (AHEAD_BYTES / 1500));
    ahead_free(m.ahead);
}

static void test_never_begun(void **ctx)
{
    struct maker m = { .end = ITEMS };
    struct err err = { 0 };

    (void)ctx;
    m.ahead = ahead_new(step, &m, &err);
    assert_non_null(m.ahead);
    ahead_free(m.ahead);
    assert_int_equal(m.made, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_error),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_never_begun),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
