/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Requests that were under way at the same time, against every pair looked at by itself; clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/clock.h"
#include "align/overlap.h"
#include "wire/rpc.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 200 };

static uint32_t bits[MANY + 1];
static struct err err;

static int put(void *ctx, int64_t id, uint32_t b, struct err *unused)
{
    (void)ctx, (void)unused;
    assert_true(id > 0 && id <= MANY && b);
    assert_int_equal(bits[id], 0);
    bits[id] = b;
    return 0;
}

struct op {
    char kind; /* w WRITE, r READ, s SETATTR, g GETATTR, c CREATE, l LOOKUP */
    uint32_t object;
    int64_t call, reply;
    uint64_t offset, count;
    const char *name;
    bool failed;
};

static struct effect effect_of(const struct op *op, int64_t id)
{
    static const char kinds[] = "wrsgcl";
    static const uint32_t procedures[] = { 7, 6, 2, 1, 8, 3 };
    struct effect e = { .id = id,
                        .procedure =
                            procedure_find(100003, 3, procedures[strchr(kinds, op->kind) - kinds]),
                        .call_time = op->call,
                        .done_time = op->reply,
                        .object = op->object,
                        .rpc_status = RPC_SUCCESS,
                        .status = op->failed ? 5 : 0,
                        .succeeded = !op->failed };

    e.object_role = ROLE_OBJECT | (strchr("wsc", op->kind) ? ROLE_MODIFIES : 0);
    e.roles = e.object_role;
    if (strchr("wr", op->kind)) {
        e.roles |= ROLE_RANGE_START;
        e.offset = op->offset;
        e.count = op->count;
    }
    if (strchr("cl", op->kind)) {
        e.roles |= ROLE_PARENT | ROLE_NAME;
        e.name_role = ROLE_NAME | (op->kind == 'c' ? ROLE_MODIFIES : 0);
        e.name = (struct bytes){ (const uint8_t *)op->name, (uint32_t)strlen(op->name) };
    }
    return e;
}

static void run(const struct op *ops, int count)
{
    struct overlap o;

    memset(bits, 0, sizeof(bits));
    assert_int_equal(overlap_init(&o, put, NULL, &err), 0);
    for (int i = 0; i < count; i++) {
        struct effect e = effect_of(&ops[i], i + 1);

        assert_int_equal(overlap_called(&o, &e, 0, &err), 0);
    }
    assert_int_equal(overlap_end(&o, &err), 0);
    overlap_free(&o);
}

static void test_cases(void **state)
{
    static const struct {
        struct op ops[2];
        uint32_t bits[2];
    } cases[] = {
        /* one after the other, even if at the same instant */
        { { { 'w', 1, 0, 10, 0, 10 }, { 'w', 1, 10, 20, 0, 10 } }, { 0, 0 } },
        /* other objects */
        { { { 'w', 1, 0, 10, 0, 10 }, { 'w', 2, 5, 20, 0, 10 } }, { 0, 0 } },
        /* two that only look */
        { { { 'g', 1, 0, 10 }, { 'r', 1, 5, 20, 0, 10 } }, { 0, 0 } },
        /* apart: attributes are unknown while they last */
        { { { 'w', 1, 0, 10, 0, 10 }, { 'w', 1, 5, 20, 10, 10 } },
          { OVERLAP_OBJECT, OVERLAP_OBJECT } },
        /* the same bytes */
        { { { 'w', 1, 0, 10, 0, 11 }, { 'w', 1, 5, 20, 10, 10 } },
          { OVERLAP_OBJECT | OVERLAP_DATA | CONFLICT_DATA,
            OVERLAP_OBJECT | OVERLAP_DATA | CONFLICT_DATA } },
        { { { 'w', 1, 0, 10, 0, 11 }, { 'r', 1, 5, 20, 10, 10 } },
          { 0, OVERLAP_OBJECT | OVERLAP_DATA } },
        { { { 'g', 1, 0, 10 }, { 'w', 1, 5, 20, 10, 10 } }, { OVERLAP_OBJECT, 0 } },
        { { { 's', 1, 0, 10 }, { 's', 1, 5, 20 } },
          { OVERLAP_OBJECT | OVERLAP_RIGHTS | CONFLICT_ATTRIBUTES,
            OVERLAP_OBJECT | OVERLAP_RIGHTS | CONFLICT_ATTRIBUTES } },
        { { { 's', 1, 0, 10 }, { 'g', 1, 5, 20 } }, { 0, OVERLAP_OBJECT | OVERLAP_RIGHTS } },
        { { { 'l', 1, 0, 10, .name = "a" }, { 's', 1, 5, 20 } },
          { OVERLAP_OBJECT | OVERLAP_RIGHTS, 0 } },
        /* one that failed changes nothing */
        { { { 's', 1, 0, 10, .failed = true }, { 's', 1, 5, 20 } },
          { OVERLAP_OBJECT | OVERLAP_RIGHTS, 0 } },
        { { { 'c', 1, 0, 10, .name = "a" }, { 'c', 1, 5, 20, .name = "b" } },
          { OVERLAP_OBJECT, OVERLAP_OBJECT } },
        { { { 'c', 1, 0, 10, .name = "a" }, { 'c', 1, 5, 20, .name = "a" } },
          { OVERLAP_OBJECT | OVERLAP_NAME | CONFLICT_NAME,
            OVERLAP_OBJECT | OVERLAP_NAME | CONFLICT_NAME } },
        { { { 'c', 1, 0, 10, .name = "a" }, { 'l', 1, 5, 20, .name = "a" } },
          { 0, OVERLAP_OBJECT | OVERLAP_NAME } },
        { { { 'c', 1, 0, 10, .name = "a" }, { 'l', 1, 5, 20, .name = "b" } },
          { 0, OVERLAP_OBJECT } },
        { { { 'c', 1, 0, 10, .name = "a" }, { 'g', 1, 5, 20 } }, { 0, OVERLAP_OBJECT } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        run(cases[i].ops, 2);
        if (bits[1] != cases[i].bits[0] || bits[2] != cases[i].bits[1])
            fail_msg("case %zu: %x %x, not %x %x", i, bits[1], bits[2], cases[i].bits[0],
                     cases[i].bits[1]);
    }
}

/* What a name stands for, and the second directory. */
static void test_meet(void **state)
{
    const struct overlap_touch removed = { .object = 1,
                                           .flags = TOUCH_NAMED | TOUCH_GOES | TOUCH_CHANGES |
                                                    TOUCH_RIGHTS | TOUCH_ATTRIBUTES_ONLY };
    const struct overlap_touch named = { .object = 1, .flags = TOUCH_NAMED | TOUCH_GOES };
    const struct overlap_touch moved = { .object = 1, .flags = TOUCH_NAMED };
    const struct overlap_touch to = {
        .object = 1, .bit = OVERLAP_PARENT2, .flags = TOUCH_CHANGES | TOUCH_HAS_NAME, .name = 1
    };
    const struct overlap_touch in = {
        .object = 1, .bit = OVERLAP_OBJECT, .flags = TOUCH_CHANGES | TOUCH_HAS_NAME, .name = 2
    };
    const struct overlap_touch set = { .object = 1,
                                       .bit = OVERLAP_OBJECT,
                                       .flags = TOUCH_CHANGES | TOUCH_RIGHTS };
    const struct overlap_touch write = {
        .object = 1, .bit = OVERLAP_OBJECT, .flags = TOUCH_CHANGES | TOUCH_HAS_RANGE, .end = 5
    };
    const struct overlap_touch get = { .object = 1, .bit = OVERLAP_OBJECT };

    (void)state;
    /* a name in a directory, beside the RMDIR of it, which succeeds or fails */
    assert_int_equal(overlap_meet(&removed, &in), OVERLAP_NAME);
    assert_int_equal(overlap_meet(&named, &in), OVERLAP_NAME);
    assert_int_equal(overlap_meet(&in, &removed), OVERLAP_OBJECT | OVERLAP_RIGHTS);
    assert_int_equal(overlap_meet(&in, &named), 0);
    assert_int_equal(overlap_meet(&moved, &in), 0); /* it may have names */
    /* its owner */
    assert_int_equal(overlap_meet(&named, &set), OVERLAP_NAME);
    assert_int_equal(overlap_meet(&moved, &set), OVERLAP_NAME);
    assert_int_equal(overlap_meet(&named, &write), 0);
    assert_int_equal(overlap_meet(&named, &get), 0);
    assert_int_equal(overlap_meet(&named, &removed), 0); /* another name of it */
    /* the directory that something is moved to */
    assert_int_equal(overlap_meet(&to, &set), OVERLAP_PARENT2 | OVERLAP_RIGHTS);
    assert_int_equal(overlap_meet(&to, &removed), OVERLAP_PARENT2 | OVERLAP_RIGHTS);
    assert_int_equal(overlap_meet(&to, &in), OVERLAP_PARENT2);
}

static uint32_t seed = 7;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Many at once are all their pairs. */
static void test_random(void **state)
{
    static const char *const names[] = { "a", "b", "c" };
    static struct op ops[MANY];

    (void)state;
    for (int round = 0; round < 30; round++) {
        static uint32_t want[MANY + 1], have[MANY + 1];
        int64_t now = 0;

        for (int i = 0; i < MANY; i++) {
            now += any(4);
            ops[i] = (struct op){ .kind = "wrsgcl"[any(6)],
                                  .object = 1 + any(3),
                                  .call = now,
                                  .reply = now + 1 + any(12),
                                  .offset = any(8),
                                  .count = 1 + any(4),
                                  .name = names[any(3)],
                                  .failed = any(5) == 0 };
        }
        run(ops, MANY);
        memcpy(have, bits, sizeof(have));
        memset(want, 0, sizeof(want));
        for (int i = 0; i < MANY; i++)
            for (int k = i + 1; k < MANY; k++)
                if (ops[k].call < ops[i].reply) {
                    const struct op two[2] = { ops[i], ops[k] };

                    run(two, 2);
                    want[i + 1] |= bits[1];
                    want[k + 1] |= bits[2];
                }
        assert_memory_equal(have, want, sizeof(have));
    }
}

static void test_clock(void **state)
{
    static struct clock_side side;
    int64_t offset, error, step;

    (void)state;
    assert_false(clock_estimate(&side, &offset, &error, &step));
    for (int64_t i = 0; i < 10000; i++) {
        int64_t call = 1000000000 * i, reply = call + 2000000;

        clock_sample(&side, call + 1000000 + 5000000000 + (any(101) - 50) * 10000, call, reply);
    }
    assert_true(clock_estimate(&side, &offset, &error, &step));
    assert_true(offset > 4990000000 && offset < 5010000000);
    assert_int_equal(error, 1000000);
    assert_true(step <= 10000000);
}

/* The sut ran a day later, twice as slowly, and its clock is 5 s ahead. */
static void test_map(void **state)
{
    const int64_t day = 86400000000000, s = 1000000000;
    struct clock_map m = { .offset = { 0, 5 * s } };

    (void)state;
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(clock_anchor(&m, i * s, day + 2 * i * s, &err), 0);
    /* pairs out of order do no harm */
    assert_int_equal(clock_anchor(&m, 50 * s + 1, day + 3, &err), 0);
    assert_int_equal(clock_anchor(&m, 3, day + 190 * s + 1, &err), 0);
    assert_int_equal(clock_settle(&m, &err), 0);
    assert_int_equal(m.count, 100);
    assert_int_equal(clock_carry(&m, 1, day + 5 * s), 0);
    assert_int_equal(clock_carry(&m, 1, day + 5 * s + 21 * s), 10 * s + s / 2);
    /* before and behind, as the nearest one */
    assert_int_equal(clock_carry(&m, 1, day + 5 * s - 7), -7);
    assert_int_equal(clock_carry(&m, 1, day + 5 * s + 198 * s + 9), 99 * s + 9);
    /* and back */
    assert_int_equal(clock_carry(&m, 0, 10 * s + s / 2), day + 5 * s + 21 * s);
    assert_int_equal(clock_carry(&m, 0, -7), day + 5 * s - 7);
    clock_map_free(&m);
}

/* Pairs that come in another order on each side, as of several clients: what is made of them rises,
 * and is the same whichever side is which. */
static void test_map_turned(void **state)
{
    enum { N = 500 };
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct clock_map m = { .offset = { 7, -9 } }, turned = { .offset = { -9, 7 } };

        for (int64_t i = 0; i < N; i++) {
            int64_t far = round < 10 ? 40 : 4000, times[2];

            for (int side = 0; side < 2; side++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                times[side] = 10 * i * (side + 1) + (int64_t)(random % (uint64_t)far);
            }
            assert_int_equal(clock_anchor(&m, times[0], times[1], &err), 0);
            assert_int_equal(clock_anchor(&turned, times[1], times[0], &err), 0);
        }
        assert_int_equal(clock_settle(&m, &err), 0);
        assert_int_equal(clock_settle(&turned, &err), 0);
        assert_int_equal(m.count, turned.count);
        assert_true(m.count > (round < 10 ? N / 5 : N / 50));
        for (uint32_t i = 0; i < m.count; i++)
            for (int side = 0; side < 2; side++) {
                assert_int_equal(m.anchors[i].time[side], turned.anchors[i].time[!side]);
                assert_true(!i || m.anchors[i].time[side] > m.anchors[i - 1].time[side]);
            }
        for (int64_t t = -5000; t < 20000; t += 37)
            assert_int_equal(clock_carry(&m, 0, t), clock_carry(&turned, 1, t));
        clock_map_free(&m);
        clock_map_free(&turned);
    }
}

/* Times of altered files: whatever comes out, nothing overflows. */
static void test_extremes(void **state)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
    static struct clock_side side;
    int64_t offset, error, step;

    (void)state;
    for (int i = 0; i < 125; i++)
        clock_sample(&side, times[i % 5], times[i / 5 % 5], times[i / 25]);
    assert_true(clock_estimate(&side, &offset, &error, &step));
    for (int i = 0; i < 25; i++) {
        struct clock_map m = { .offset = { times[i % 5], times[i / 5] } };

        for (int k = 0; k < 5; k++) {
            for (int n = 0; n < 5; n++) {
                for (int from = 0; from < 2; from++) {
                    int64_t to = clock_carry(&m, from, times[n]);

                    assert_true(to >= -(INT64_C(1) << 62) && to <= INT64_C(1) << 62);
                }
            }
            assert_int_equal(clock_anchor(&m, times[k], times[k], &err), 0);
            assert_int_equal(clock_settle(&m, &err), 0);
        }
        clock_map_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),      cmocka_unit_test(test_random),
        cmocka_unit_test(test_meet),       cmocka_unit_test(test_clock),
        cmocka_unit_test(test_map),        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_map_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
