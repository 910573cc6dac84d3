/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names/flows: which of several connections with the same ends one is, against a plain search. */
#include "names/flows.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { FLOWS = 120, ENDS = 30, TIMES = 40, ROUNDS = 300 }; /* the table grows twice */

static uint32_t seed = 1;

static uint32_t below(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % most;
}

static struct record_flow make(int64_t time)
{
    return (struct record_flow){ .transport = IPPROTO_TCP,
                                 .client = { .version = 4, .bytes = { 10, 0, 0, 1 } },
                                 .server = { .version = 4, .bytes = { 10, 0, 0, 2 } },
                                 .client_port = (uint16_t)(1000 + below(ENDS)),
                                 .server_port = 2049,
                                 .time = time };
}

/* The latest that was there already; else the first that there is. */
static uint32_t expected(const struct flows *f, const struct record_flow *r)
{
    uint32_t first = 0, latest = 0;

    for (uint32_t id = 1; id <= f->count; id++) {
        const struct record_flow *x = &f->all[id];

        if (!same_ends(x, r))
            continue;
        first = first ? first : id;
        latest = r->time == TIME_NONE || x->time <= r->time ? id : latest;
    }
    return latest ? latest : first;
}

static void latest_that_was_there(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct flows f = { 0 };
        struct err err = { 0 };
        uint16_t salt = (uint16_t)(round * 100);

        assert_int_equal(flows_init(&f, &err), 0);
        for (uint32_t i = 0; i < FLOWS; i++) {
            struct record_flow x = make((int64_t)(i * TIMES / FLOWS)), r;

            x.client_port = (uint16_t)(x.client_port + salt);
            assert_int_equal(flows_add(&f, &x, &err), i + 1);
            r = make(below(8) ? (int64_t)below(TIMES) : TIME_NONE);
            r.client_port = (uint16_t)(r.client_port + salt);
            assert_int_equal(find(&f, &r), expected(&f, &r));
        }
        flows_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latest_that_was_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
