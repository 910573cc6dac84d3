/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks of a file that nobody vouches for, as recompute.h reads and pairs them. */
#include "audit/recompute.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEAD = 28, FRAME = 14 + 20 + 20 + 8, LEN = HEAD + 64 + 4 };

/* Ethernet, IPv4, TCP, a record mark and an XID, in an enhanced packet block. */
static void make(uint8_t *p)
{
    memset(p, 0, LEN);
    store_le32(p, 6);
    store_le32(p + 4, LEN);
    store_le32(p + 16, 1000);
    store_le32(p + 20, FRAME);
    store_le32(p + 24, FRAME);
    store_be16(p + HEAD + 12, 0x0800);
    p[HEAD + 14] = 0x45;
    p[HEAD + 23] = 6;
    store_be16(p + HEAD + 34, 700);
    store_be16(p + HEAD + 36, 2049);
    p[HEAD + 46] = 5 << 4;
    store_be32(p + HEAD + 58, 77);
    store_le32(p + LEN - 4, LEN);
}

/* In memory of its own, so that a read behind it is seen. */
static struct recompute_block read_copy(const uint8_t *data, uint32_t len, uint8_t **copy)
{
    struct recompute_block b;

    *copy = malloc(len);
    assert_non_null(*copy);
    memcpy(*copy, data, len);
    recompute_read(&b, *copy, len);
    return b;
}

static void frame_is_read(void **state)
{
    uint8_t block[LEN], *copy;
    struct recompute_block b;

    (void)state;
    make(block);
    b = read_copy(block, LEN, &copy);
    assert_true(b.is_packet && b.is_frame && !b.v6);
    assert_int_equal(b.time, 1000);
    assert_int_equal(b.protocol, 6);
    assert_int_equal(b.next, 34);
    assert_int_equal(b.payload, 54);
    free(copy);
}

static void expect_no_frame(const uint8_t *block, uint32_t len)
{
    uint8_t *copy;
    struct recompute_block b = read_copy(block, len, &copy);

    assert_false(b.is_frame);
    free(copy);
}

/* A number in it says what cannot be. */
static void expect_no_frame_with(uint32_t at, uint32_t value)
{
    uint8_t block[LEN];

    make(block);
    store_le32(block + at, value);
    expect_no_frame(block, LEN);
}

static void lengths_are_checked(void **state)
{
    static const uint32_t types[] = { 0, 1, 2, 3, 5, 6, 0x0a0d0d0a, UINT32_MAX };
    uint8_t block[LEN];

    (void)state;
    make(block);
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        for (uint32_t len = 12; len < LEN; len += 4) {
            store_le32(block, types[i]);
            expect_no_frame(block, len);
        }
    expect_no_frame_with(20, UINT32_MAX);
    expect_no_frame_with(20, 65);
    expect_no_frame_with(20, 34);
    expect_no_frame_with(20, 0);
    expect_no_frame_with(24, FRAME - 1); /* longer than on the wire */
    make(block);
    block[HEAD + 46] = 15 << 4; /* a TCP header behind the frame's end */
    expect_no_frame(block, LEN);
    make(block);
    block[HEAD + 14] = 0x4f;
    expect_no_frame(block, LEN);
}

/* One thing that differs leaves them a pair; two do not. */
static void pairs_are_alike(void **state)
{
    static const uint32_t changes[] = { 16, HEAD + 35, HEAD + 61, 24 };
    uint8_t one[LEN], two[LEN], *a, *b;

    (void)state;
    for (unsigned set = 0; set < 16; set++) {
        struct recompute_block e, n;
        unsigned expected = RECOMPUTE_ALIKE;

        make(one);
        make(two);
        for (unsigned i = 0; i < 4; i++) {
            two[changes[i]] += set >> i & 1;
            expected -= set >> i & 1;
        }
        e = read_copy(one, LEN, &a);
        n = read_copy(two, LEN, &b);
        assert_int_equal(recompute_alike(&e, &n), expected);
        assert_int_equal(recompute_alike(&n, &e), expected);
        free(a);
        free(b);
    }
}

static void other_blocks_are_alike_by_type(void **state)
{
    uint8_t one[LEN], two[LEN], *a, *b;
    struct recompute_block e, n;

    (void)state;
    make(one);
    make(two);
    store_le32(two, 5);
    e = read_copy(one, LEN, &a);
    n = read_copy(two, LEN, &b);
    assert_false(n.is_packet);
    assert_int_equal(recompute_alike(&e, &n), 0);
    assert_int_equal(recompute_alike(&n, &n), RECOMPUTE_ALIKE);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frame_is_read),
        cmocka_unit_test(lengths_are_checked),
        cmocka_unit_test(pairs_are_alike),
        cmocka_unit_test(other_blocks_are_alike_by_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
