/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which requests are retries of one that the server failed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare/retries.h"
#include "wire/nfs3_numbers.h"

#include <stdlib.h>

enum { LOOKUP = 1, OTHER = LOOKUP + RETRIES_FAILED /* the same place */ };

static struct retries *retries;

static uint32_t take(uint64_t key, int64_t time, int64_t status)
{
    const struct effect e = { .call_time = time, .done_time = time + 10, .status = status };

    return retries_take(retries, key, &e);
}

static int begin(void **state)
{
    (void)state;
    retries = calloc(1, sizeof(*retries));
    return retries ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    free(retries);
    return 0;
}

static void test_retries_are_counted(void **state)
{
    (void)state;
    assert_int_equal(take(LOOKUP, 0, NFS3ERR_IO), 0);
    assert_int_equal(take(LOOKUP, 20, NFS3ERR_SERVERFAULT), 1);
    assert_int_equal(take(LOOKUP, 40, NFS3_OK), 2);
    assert_int_equal(take(LOOKUP, 60, NFS3_OK), 0);
}

static void test_only_what_failed_is_retried(void **state)
{
    (void)state;
    assert_int_equal(take(LOOKUP, 0, NFS3ERR_NOENT), 0);
    assert_int_equal(take(LOOKUP, 20, NFS3ERR_JUKEBOX), 0);
    assert_int_equal(take(LOOKUP, 40, NFS3_OK), 0);
}

/* A request that was under way beside the failed one did not know of it. */
static void test_earlier_calls_are_none(void **state)
{
    (void)state;
    assert_int_equal(take(LOOKUP, 0, NFS3ERR_IO), 0);
    assert_int_equal(take(LOOKUP, 5, NFS3_OK), 0);
    assert_int_equal(take(LOOKUP, 20, NFS3_OK), 1);
}

/* NLM's statuses have other meanings. */
static void test_locks_do_not_fail(void **state)
{
    const struct effect e = { .program = NLM_PROGRAM, .status = 5 /* DEADLCK */, .done_time = 10 };

    (void)state;
    assert_int_equal(retries_take(retries, LOOKUP, &e), 0);
    assert_int_equal(take(LOOKUP, 20, NFS3_OK), 0);
}

static void test_rpc_errors_fail(void **state)
{
    const struct effect e = { .rpc_status = 5, .status = STATUS_NONE, .done_time = 10 };

    (void)state;
    assert_int_equal(retries_take(retries, LOOKUP, &e), 0);
    assert_int_equal(take(LOOKUP, 20, NFS3_OK), 1);
}

static void test_a_full_place_forgets(void **state)
{
    (void)state;
    assert_int_equal(take(LOOKUP, 0, NFS3ERR_IO), 0);
    assert_int_equal(take(OTHER, 20, NFS3_OK), 0);
    assert_int_equal(take(LOOKUP, 40, NFS3ERR_IO), 1);
    assert_int_equal(take(OTHER, 60, NFS3ERR_IO), 0);
    assert_int_equal(take(LOOKUP, 80, NFS3_OK), 0);
    assert_int_equal(take(OTHER, 100, NFS3_OK), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_retries_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(test_only_what_failed_is_retried, begin, end),
        cmocka_unit_test_setup_teardown(test_earlier_calls_are_none, begin, end),
        cmocka_unit_test_setup_teardown(test_rpc_errors_fail, begin, end),
        cmocka_unit_test_setup_teardown(test_locks_do_not_fail, begin, end),
        cmocka_unit_test_setup_teardown(test_a_full_place_forgets, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
