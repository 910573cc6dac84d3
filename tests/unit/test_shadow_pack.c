/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_pack.c
 *
 * live/shadow: operations that are kept as what is different from what one could expect.
 */
#include "shadow/operation_pack.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct err err;
static const uint8_t text[] = "0123456789abcdef", other[] = "0123456789ABCDEF";

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 20;
}

/* Any value, but small and extreme ones more often. */
static uint64_t value(uint64_t *seed)
{
    uint64_t v = next(seed) << 32 ^ next(seed);

    switch (next(seed) % 5) {
    case 0:
        return 0;
    case 1:
        return v % 256;
    case 2:
        return UINT64_MAX - v % 256;
    case 3:
        return UINT64_C(1) << 63;
    default:
        return v;
    }
}

static struct record_operation any(uint64_t *seed, const uint8_t *bodies)
{
    struct record_operation op;

    memset(&op, 0, sizeof(op));
    for (int i = 0; i < MEMBERS; i++)
        if (next(seed) % 2)
            store(&op, &members[i], value(seed));
    op.arguments = (struct bytes){ bodies, (uint32_t)(next(seed) % sizeof(text)) };
    op.result = (struct bytes){ bodies, (uint32_t)(next(seed) % sizeof(text)) };
    return op;
}

static void are_equal(const struct record_operation *a, const struct record_operation *b)
{
    struct record_operation x = *a, y = *b;

    assert_int_equal(a->arguments.len, b->arguments.len);
    assert_int_equal(a->result.len, b->result.len);
    if (a->arguments.len)
        assert_memory_equal(a->arguments.data, b->arguments.data, a->arguments.len);
    if (a->result.len)
        assert_memory_equal(a->result.data, b->result.data, a->result.len);
    x.arguments.data = y.arguments.data = x.result.data = y.result.data = NULL;
    assert_memory_equal(&x, &y, sizeof(x));
}

static void test_any(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct record_operation expect = any(&seed, text), got;
        struct record_operation op = any(&seed, next(&seed) % 2 ? text : other);
        struct buf packed = { 0 };

        assert_int_equal(operation_pack(&op, &expect, &packed, &err), 0);
        assert_true(packed.len <= PACKED_MAX + op.arguments.len + op.result.len);
        got = operation_unpack((struct bytes){ packed.data, (uint32_t)packed.len }, &expect);
        are_equal(&op, &got);
        buf_free(&packed);
    }
}

/* Every member is kept: none was forgotten when the struct got a further one. */
static void test_all_members(void **state)
{
    const size_t not_kept = sizeof(struct bytes); /* block_digests, which the tap has none of */
    bool known[sizeof(struct record_operation)] = { false };
    size_t count = 0, padding;

    (void)state;
    for (int i = 0; i < MEMBERS; i++)
        for (uint8_t k = 0; k < members[i].size; k++)
            known[members[i].offset + k] = true;
    for (size_t i = 0; i < sizeof(known); i++)
        count += known[i];
    /* after pairing; after arguments' and result's lengths, whose pointers are not members; after
     * rpc_status and credential */
    padding = sizeof(known) - count - not_kept - 2 * sizeof(uint8_t *);
    assert_int_equal(padding, 3 + 2 * 4 + 4 + 4);
}

/* What the messages show costs nothing. */
static void test_expected(void **state)
{
    struct record_operation op = { .xid = 77, .arguments = { text, 16 } };
    struct buf packed = { 0 };

    (void)state;
    assert_int_equal(operation_pack(&op, &op, &packed, &err), 0);
    assert_int_equal(packed.len, 1);
    buf_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any),
        cmocka_unit_test(test_all_members),
        cmocka_unit_test(test_expected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
