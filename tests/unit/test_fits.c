/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which replies may be those of which calls, by what they say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/fits.h"

enum { GETATTR = 1, LOOKUP = 3, WORDS = 64 };

static uint8_t bytes[2][WORDS * 4];

static struct captured words(int which, uint32_t count, const uint32_t *word)
{
    for (uint32_t i = 0; i < count; i++)
        store_be32(bytes[which] + i * 4, word[i]);
    return (struct captured){ bytes[which], count * 4, count * 4 };
}

/* A call without credential, with a handle of 4 bytes and |more| words behind it. */
static struct captured call(uint32_t procedure, uint32_t more)
{
    uint32_t w[WORDS] = { 7, RPC_CALL, 2, 100003, 3, procedure, 0, 0, 0, 0, 4, 1 };

    return words(0, 12 + more, w);
}

/* A reply whose result begins with |status| and has |more| words of zeros. */
static struct captured reply(uint32_t status, uint32_t more)
{
    uint32_t w[WORDS] = { 7, RPC_REPLY, 0, 0, 0, RPC_SUCCESS, status };

    return words(1, 7 + more, w);
}

static void arguments_fill_the_record(void **state)
{
    struct captured cut = call(GETATTR, 1);

    (void)state;
    assert_int_equal(fits_call(call(GETATTR, 0)), FIT_WELL);
    assert_int_equal(fits_call(call(GETATTR, 1)), FIT_SURPLUS);
    assert_int_equal(fits_call(call(LOOKUP, 0)), FIT_NOT); /* without a name */
    cut.cap_len = 44; /* the record mark says that there is more than a handle */
    assert_int_equal(fits_call(cut), FIT_WELL); /* but not what is in it */
    assert_int_equal(fits_call((struct captured){ 0 }), FIT_WELL);
}

static void results_are_of_their_procedure(void **state)
{
    (void)state;
    /* attributes: 21 words; of a failed LOOKUP: whether there are any */
    assert_int_equal(fits_reply(call(GETATTR, 0), reply(0, 21)), FIT_WELL);
    assert_int_equal(fits_reply(call(GETATTR, 0), reply(70, 0)), FIT_WELL);
    assert_int_equal(fits_reply(call(GETATTR, 0), reply(70, 1)), FIT_SURPLUS);
    assert_int_equal(fits_reply(call(LOOKUP, 0), reply(70, 0)), FIT_NOT);
    assert_int_equal(fits_reply(call(LOOKUP, 0), reply(70, 1)), FIT_WELL);
    assert_int_equal(fits_reply((struct captured){ 0 }, reply(70, 0)), FIT_WELL);
    assert_int_equal(fits_reply(call(99, 0), reply(70, 3)), FIT_WELL);
}

static int setup(void **state)
{
    (void)state;
    wire_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_fill_the_record),
        cmocka_unit_test(results_are_of_their_procedure),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
