/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_open_listings.c
 *
 * postproc/compare/open_listings.h: to which listing a READDIR belongs that goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare/open_listings.h"

static struct open_listings l;

static struct open_listing *find(uint32_t flow, uint64_t cookie)
{
    const struct open_listing part = { .cookie = cookie, .object = 7, .client = 1, .flow = flow };

    return open_listings_find(&l, &part);
}

static void begin(int64_t first, uint32_t flow, uint64_t cookie)
{
    const struct open_listing now = { first, cookie, 7, 1, flow, NULL };

    open_listings_go_on(&l, NULL, &now);
}

/* Two processes of one client list one directory, and come to the same cookies. */
static void test_two(void **state)
{
    struct open_listing now = { 0, 20, 7, 1, 3, NULL };

    (void)state;
    l.count = 0;
    begin(100, 3, 10);
    begin(101, 4, 10);
    assert_int_equal(find(3, 10)->first, 100);
    assert_int_equal(find(4, 10)->first, 101);
    assert_int_equal(find(5, 10)->first, 101); /* after a new connection: the latest */
    now.cookie = 10;                           /* it is known to which it belongs */
    now.flow = 4;
    now.first = 100;
    assert_int_equal(open_listings_find(&l, &now)->first, 100);
    now.cookie = 20;
    now.flow = 3;
    open_listings_go_on(&l, find(3, 10), &now);
    assert_int_equal(find(3, 20)->first, 100);
    assert_int_equal(find(3, 10)->first, 101);
    open_listings_end(&l, find(3, 20));
    assert_null(find(3, 20));
    assert_int_equal(l.count, 1);
}

static void test_others(void **state)
{
    const struct procedure *const procedure = (const void *)&l;
    const struct open_listing others[] = { { 0, 10, 8, 1, 3, NULL },
                                           { 0, 10, 7, 2, 3, NULL },
                                           { 0, 11, 7, 1, 3, NULL },
                                           { 0, 10, 7, 1, 3, procedure } };

    (void)state;
    l.count = 0;
    begin(100, 3, 10);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_null(open_listings_find(&l, &others[i]));
}

/* The oldest one makes room. */
static void test_many(void **state)
{
    (void)state;
    l.count = 0;
    for (uint32_t i = 0; i <= LISTINGS_OPEN; i++)
        begin(i, 3, 1000 + i);
    assert_int_equal(l.count, LISTINGS_OPEN);
    assert_null(find(3, 1000));
    for (uint32_t i = 1; i <= LISTINGS_OPEN; i++)
        assert_int_equal(find(3, 1000 + i)->first, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
