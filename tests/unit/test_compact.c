/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compact table has what a plain array says, whatever the hashes are, as slots come and go. */
/* links: room_engine_base */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <cmocka.h>

#include "base/compact.h"

enum { SLOTS = 70000, STEPS = 400000 };

static uint64_t seed = 1;
static uint32_t hashes[SLOTS]; /* the oracle: of each slot that is in */
static bool is_in[SLOTS];
static uint32_t asked;

static uint32_t random_bits(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 32);
}

static uint32_t hash_of(const void *ctx, uint32_t slot)
{
    assert_ptr_equal(ctx, hashes);
    assert_true(slot && slot < SLOTS && is_in[slot]);
    asked++;
    return hashes[slot];
}

static const struct compact_keys keys = { hash_of, hashes };

/* Times that it is found; |others|: what is found beside it. */
static uint32_t times(const struct compact *c, uint32_t slot, uint32_t hash, uint32_t *others)
{
    uint32_t at, found = 0;

    for (uint32_t got = compact_first(c, hash, &at); got; got = compact_next(c, hash, &at)) {
        assert_true(got < SLOTS && is_in[got]);
        if (got == slot)
            found++;
        else
            ++*others;
    }
    return found;
}

static void check(const struct compact *c)
{
    uint32_t others = 0, in = 0;

    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        assert_int_equal(times(c, slot, hashes[slot], &others), is_in[slot]);
        in += is_in[slot];
    }
    assert_int_equal(c->used, in);
    assert_true((uint64_t)c->used * 4 <= ((uint64_t)c->mask + 1) * 3);
}

/* |bits|: those in which hashes differ.  |apart|: slots, of which only some are ever in. */
static void come_and_go(uint32_t bits, uint32_t slots, uint32_t apart, uint32_t steps)
{
    struct compact c = { 0 };

    for (uint32_t slot = 0; slot < SLOTS; slot++)
        is_in[slot] = false;
    for (uint32_t i = 0; i < steps; i++) {
        uint32_t most = 1 + (uint32_t)((uint64_t)slots * i / steps); /* larger ones come later */
        uint32_t slot =
            apart * (1 + random_bits() % (most < slots / apart - 1 ? most : slots / apart - 1));

        if (!is_in[slot]) {
            assert_int_equal(compact_reserve(&c, 1, &keys), 0);
            hashes[slot] = random_bits() & bits;
            compact_put(&c, hashes[slot], slot);
            is_in[slot] = true;
        } else if (i % 3 == 0) {
            compact_take_out(&c, hashes[slot], slot, &keys);
            is_in[slot] = false;
            compact_take_out(&c, hashes[slot], slot, &keys); /* is not there */
        }
        if (i % (steps / 4) == 0)
            check(&c);
    }
    check(&c);
    compact_free(&c);
    assert_null(c.places);
}

static void all_are_found(void **state)
{
    (void)state;
    come_and_go(UINT32_MAX, SLOTS, 1, STEPS);
    come_and_go(UINT32_MAX, SLOTS, 97, 20000);         /* slots need more bits than places */
    come_and_go(UINT32_C(0xfffc0000), 2000, 1, 20000); /* they crowd at the first place */
    come_and_go(0x3f, 2000, 1, 20000);
    come_and_go(UINT32_C(0x80000001), 2000, 1, 20000);
}

/* 15 bits of a hash are left for 70,000 slots. */
static void few_others_are_found(void **state)
{
    struct compact c = { 0 };
    uint32_t others = 0;

    (void)state;
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        hashes[slot] = random_bits();
        is_in[slot] = true;
        assert_int_equal(compact_reserve(&c, 1, &keys), 0);
        compact_put(&c, hashes[slot], slot);
    }
    check(&c);
    for (uint32_t slot = 1; slot < SLOTS; slot++)
        times(&c, slot, hashes[slot], &others);
    assert_true(others < SLOTS / 100);
    assert_int_equal(compact_memory(&c), 131072 * 4);
    /* grown by doubling, each hash is asked for less than twice */
    asked = 0;
    assert_int_equal(compact_reserve(&c, 131072, &keys), 0);
    assert_int_equal(asked, SLOTS - 1);
    check(&c);
    assert_int_equal(compact_reserve(&c, UINT32_MAX, &keys), -4);
    compact_free(&c);
}

static void empty(void **state)
{
    struct compact c = { 0 };
    uint32_t at;

    (void)state;
    assert_int_equal(compact_first(&c, 1, &at), 0);
    compact_take_out(&c, 1, 1, &keys);
    assert_int_equal(compact_memory(&c), 0);
    compact_prefetch(&c, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_are_found),
                                        cmocka_unit_test(few_others_are_found),
                                        cmocka_unit_test(empty) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
