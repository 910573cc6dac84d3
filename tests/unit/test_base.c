/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_base.c
 *
 * engine/base: the hash table against a plain list, buffers, arenas, packing, errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/pack.h"
#include "base/table.h"
#include "base/wide.h"

#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES_MAX = 400 };

struct model { /* what the table must hold, in no order */
    struct {
        uint64_t hash;
        uint32_t slot;
    } entries[ENTRIES_MAX];
    uint32_t count;
};

static uint32_t below(uint64_t *random, uint32_t limit)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*random >> 33) % limit;
}

/* Hashes that meet: few places, at the table's end too, and the same ones for several slots. */
static uint64_t meeting_hash(uint64_t *random)
{
    switch (below(random, 4)) {
    case 0:
        return (uint64_t)below(random, 4) << 32 | below(random, 3);
    case 1:
        return (UINT64_C(0xfffffff0) + below(random, 16)) << 32 | 7;
    case 2:
        return (uint64_t)below(random, 64) << 32;
    default:
        return (uint64_t)below(random, 1 << 30) << 32 | below(random, 1 << 30);
    }
}

/* All slots under |hash|, each once, and no others. */
static void same_under(const struct table *t, const struct model *m, uint64_t hash)
{
    uint32_t at, slot, expected = 0, found = 0;

    for (uint32_t i = 0; i < m->count; i++)
        expected += m->entries[i].hash == hash;
    for (slot = table_first(t, hash, &at); slot != TABLE_NONE; slot = table_next(t, hash, &at)) {
        uint32_t here = 0;
        for (uint32_t i = 0; i < m->count; i++)
            here += m->entries[i].hash == hash && m->entries[i].slot == slot;
        assert_int_equal(here, 1);
        found++;
    }
    assert_int_equal(found, expected);
}

static void a_table_is_a_list_of_pairs(void **state)
{
    uint64_t random = 1;

    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        struct table t = { 0 };
        struct model m = { .count = 0 };
        uint32_t fresh = 0, size = 10 + round * 10 % ENTRIES_MAX;

        for (uint32_t step = 0; step < 4000; step++) {
            uint32_t what = below(&random, 10), i;
            uint64_t hash = meeting_hash(&random);
            if (what < 5 && m.count < size) {
                assert_int_equal(table_add(&t, hash, fresh), 0);
                m.entries[m.count].hash = hash;
                m.entries[m.count++].slot = fresh++;
            } else if (what < 9 && m.count) {
                i = below(&random, m.count);
                hash = m.entries[i].hash;
                table_remove(&t, hash, m.entries[i].slot);
                m.entries[i] = m.entries[--m.count];
            } else if (m.count) {
                i = below(&random, m.count);
                hash = m.entries[i].hash;
                table_move(&t, hash, m.entries[i].slot, fresh);
                m.entries[i].slot = fresh++;
            }
            assert_int_equal(t.used, m.count);
            same_under(&t, &m, hash);
            same_under(&t, &m, meeting_hash(&random));
        }
        for (uint32_t i = 0; i < m.count; i++)
            same_under(&t, &m, m.entries[i].hash);
        table_clear(&t);
        m.count = 0;
        same_under(&t, &m, meeting_hash(&random));
        assert_int_equal(table_add(&t, 5, 6), 0);
        assert_int_equal(t.used, 1);
        table_free(&t);
        assert_null(t.places);
        same_under(&t, &m, 5);
    }
}

static void buffers_grow(void **state)
{
    struct buf b = { 0 };
    uint8_t piece[1000];
    size_t len = 0;

    (void)state;
    assert_int_equal(buf_append(&b, NULL, 0), 0);
    assert_int_equal(b.len, 0);
    for (unsigned i = 0; i < 300; i++) {
        memset(piece, (int)i, sizeof(piece));
        assert_int_equal(buf_append(&b, piece, i * 3), 0);
        len += (size_t)i * 3;
        assert_int_equal(b.len, len);
        assert_true(b.cap >= b.len);
    }
    for (unsigned i = 0, at = 0; i < 300; at += i * 3, i++)
        for (unsigned j = 0; j < i * 3; j++)
            assert_int_equal(b.data[at + j], (uint8_t)i);
    assert_int_equal(buf_reserve(&b, SIZE_MAX - 10), -ERR_SYSTEM);
    assert_int_equal(buf_reserve(&b, SIZE_MAX / 2), -ERR_SYSTEM);
    assert_int_equal(b.len, len); /* as it was */
    assert_int_equal(b.data[b.len - 1], (uint8_t)299);
    buf_free(&b);
    assert_null(b.data);
    assert_int_equal(b.len + b.cap, 0);
}

static void loads_and_stores_are_big_endian(void **state)
{
    uint8_t bytes[9] = { 0xff, 1, 2, 3, 4, 5, 6, 7, 8 }, out[8];

    (void)state;
    assert_int_equal(load_be16(bytes + 1), 0x0102);
    assert_int_equal(load_be32(bytes + 1), 0x01020304);
    assert_true(load_be64(bytes + 1) == UINT64_C(0x0102030405060708));
    assert_int_equal(load_le32(bytes + 1), 0x04030201);
    store_be64(out, UINT64_C(0x0102030405060708));
    assert_memory_equal(out, bytes + 1, 8);
    store_be16(out, 0x0102);
    store_be32(out + 2, 0x03040506);
    assert_memory_equal(out, bytes + 1, 6);
    store_le64(out, UINT64_C(0x0807060504030201));
    assert_memory_equal(out, bytes + 1, 8);
    assert_true(load_le64(out) == UINT64_C(0x0807060504030201));
}

#ifdef __SIZEOF_INT128__ /* the oracle */
static void products_are_wide(void **state)
{
    uint64_t random = 7;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        uint64_t v[3];

        for (int k = 0; k < 3; k++) { /* of all lengths, some with many ones */
            v[k] = (uint64_t)below(&random, UINT32_MAX) << 32 | below(&random, UINT32_MAX);
            v[k] = (below(&random, 4) ? v[k] : UINT64_MAX) >> below(&random, 64);
        }
        unsigned __int128 product = (unsigned __int128)v[0] * v[1];
        struct product got = wide_product(v[0], v[1]);

        assert_true(got.high == (uint64_t)(product >> 64) && got.low == (uint64_t)product);
        if (v[0] < v[2])
            assert_true(wide_scale(v[0], v[1], v[2]) == (uint64_t)(product / v[2]));
    }
}
#endif

static void arenas_keep_their_copies(void **state)
{
    enum { COPIES = 3000 };
    static const uint8_t *copies[COPIES];
    static size_t lens[COPIES];
    static uint8_t large[200000];
    struct arena a = { 0 };
    uint64_t random = 3;

    (void)state;
    for (uint32_t i = 0; i < COPIES; i++) {
        lens[i] = i % 100 == 99 ? 60000 + below(&random, 100000) : below(&random, 300);
        memset(large, (int)i, lens[i]);
        copies[i] = arena_copy(&a, large, lens[i]);
        assert_non_null(copies[i]);
    }
    for (uint32_t i = 0; i < COPIES; i++)
        for (size_t j = 0; j < lens[i]; j++)
            if (copies[i][j] != (uint8_t)i)
                fail_msg("copy %u, byte %zu", i, j);
    assert_non_null(arena_copy(&a, NULL, 0));
    arena_free(&a);
    assert_null(a.chunks);
    assert_non_null(arena_copy(&a, "again", 5));
    arena_free(&a);
}

static void what_is_packed_can_be_cut(void **state)
{
    struct buf b = { 0 };
    uint64_t number = 77, read;
    struct bytes text;

    (void)state;
    assert_int_equal(pack_value(&b, number) | pack_bytes(&b, "text", 4), 0);
    for (size_t len = 0; len <= b.len; len++) {
        struct unpack in = { b.data, len, false };
        unpack_value(&in, read);
        text = unpack_bytes(&in);
        assert_int_equal(in.failed, len < b.len);
        assert_true(read == (len < 8 ? 0 : 77));
        assert_int_equal(text.len, len < b.len ? 0 : 4);
        unpack_value(&in, read);
        assert_true(in.failed); /* and stays so */
        assert_true(read == 0);
    }
    buf_free(&b);
}

/* Fields that change places, names or sizes are another layout. */
static void layouts_differ(void **state)
{
    uint64_t ab = pack_layout(pack_layout(1, "a", 4), "b", 4);

    (void)state;
    assert_int_equal(ab, pack_layout(pack_layout(1, "a", 4), "b", 4));
    assert_int_not_equal(ab, pack_layout(pack_layout(1, "b", 4), "a", 4));
    assert_int_not_equal(ab, pack_layout(pack_layout(1, "a", 4), "b", 8));
    assert_int_not_equal(ab, pack_layout(pack_layout(1, "a", 8), "b", 4));
    assert_int_not_equal(ab, pack_layout(1, "ab", 4));
    assert_int_not_equal(ab, pack_layout(pack_layout(2, "a", 4), "b", 4));
}

static void errors_have_texts(void **state)
{
    struct err err = { 0 };
    char large[1000];

    (void)state;
    assert_int_equal(err_set(NULL, ERR_INPUT, "nobody reads this"), -ERR_INPUT);
    assert_int_equal(err_set(&err, ERR_SYSTEM, "number %d", 7), -ERR_SYSTEM);
    assert_int_equal(err_prefix(&err, "file %s", "a"), -ERR_SYSTEM);
    assert_string_equal(err.text, "file a: number 7");
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    err_prefix(&err, "%s", large); /* too long: the prefix's begin is what is left */
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    err_set(&err, ERR_USAGE, "short");
    large[500] = '\0';
    err_prefix(&err, "%s", large);
    assert_memory_equal(err.text + 500, ": short", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_is_a_list_of_pairs),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(loads_and_stores_are_big_endian),
#ifdef __SIZEOF_INT128__
        cmocka_unit_test(products_are_wide),
#endif
        cmocka_unit_test(arenas_keep_their_copies),
        cmocka_unit_test(what_is_packed_can_be_cut),
        cmocka_unit_test(layouts_differ),
        cmocka_unit_test(errors_have_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
