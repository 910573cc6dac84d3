/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapping: times, and verifiers in them. */
#include "base/bytes.h"
#include "mapping_case.h"

/* --- times --- */

static void times_are_shifted(void **state)
{
    int64_t least = 0, most = 0;
    unsigned before = 0;

    (void)state;
    for (unsigned n = 0; n < 200; n++) {
        struct mapping *m = build_mapping(&policy, (uint8_t)n);
        int64_t by = mapping_shift(m);
        uint32_t off = (uint32_t)by;
        const uint32_t values[] = { 2, 3, 1700000000, -off, off, off + 1, -off - 2 };

        assert_true(by != 0 && by >= -30 * 86400 && by <= 30 * 86400);
        least = by < least ? by : least;
        most = by > most ? by : most;
        before += by < 0;
        for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
            uint64_t x = mapping_number(m, CLASS_TIME, RULE_SHIFT, 32, values[i]);

            assert_true(x != 0 && x <= UINT32_MAX);
            if (values[i] != -off)
                assert_int_equal(x, values[i] + off);
            else
                assert_int_equal(x, off);
            assert_int_equal(mapping_number_back(m, CLASS_TIME, RULE_SHIFT, 32, x), values[i]);
        }
        assert_int_equal(mapping_number(m, CLASS_TIME, RULE_SHIFT, 32, 0), 0);
        assert_int_equal(mapping_number_back(m, CLASS_TIME, RULE_SHIFT, 32, 0), 0);
        mapping_free(m);
        n += 6; /* 29 keys */
    }
    assert_true(before > 3 && before < 26 && least < -15 * 86400 && most > 15 * 86400);
    policy.rules[CLASS_TIME] = RULE_KEEP;
    mapping_free(mapping);
    mapping = build_mapping(&policy, 0);
    assert_int_equal(mapping_shift(mapping), 0);
}

/* What everybody knows tells nothing of the offset; it stays one-to-one around these. */
static void constants_stay(void **state)
{
    static const uint32_t constants[] = { 0,         1,          315532800, 315619200, 499162500,
                                          946684800, 1073741823, INT32_MAX, UINT32_MAX };
    struct key old = build_key(0);
    struct err err = { 0 };

    (void)state;
    for (unsigned n = 0; n < 8; n++) {
        struct mapping *m = build_mapping(&policy, (uint8_t)n);
        uint32_t by = (uint32_t)mapping_shift(m);

        for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++) {
            uint64_t x = mapping_number(m, CLASS_TIME, RULE_SHIFT, 32, constants[i] - by);

            assert_int_equal(mapping_number(m, CLASS_TIME, RULE_SHIFT, 32, constants[i]),
                             constants[i]);
            assert_int_equal(mapping_number_back(m, CLASS_TIME, RULE_SHIFT, 32, constants[i]),
                             constants[i]);
            assert_int_equal(x, constants[i] + by);
            assert_int_equal(mapping_number_back(m, CLASS_TIME, RULE_SHIFT, 32, x),
                             constants[i] - by);
        }
        mapping_free(m);
    }
    old.version = KEY_VERSION_1; /* and go on moving */
    mapping_free(mapping);
    mapping = mapping_new(&old, &policy, &err);
    assert_non_null(mapping);
    assert_int_equal(mapping_number(mapping, CLASS_TIME, RULE_SHIFT, 32, 315532800),
                     315532800 + mapping_shift(mapping));
    assert_false(mapping_hides_verifier_times(mapping));
}

/* --- verifiers in times --- */

static uint32_t time_of(struct verifier_times *t, uint32_t seconds, uint32_t nsec)
{
    enum verifier_order nsec_order, order = verifier_times_judge(t, seconds, nsec, &nsec_order);

    return order ? mapping_verifier_time(mapping, order, seconds) : 0;
}

/* What a server makes of a verifier becomes what it would make of the pseudonym. */
static void verifiers_in_times(void **state)
{
    struct verifier_times t = { 0 };
    uint64_t random = 11;

    (void)state;
    assert_true(mapping_hides_verifier_times(mapping));
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t verifier = random64(&random),
                 x = mapping_number(mapping, CLASS_VERIFIER, RULE_KEYED, 64, verifier);
        uint8_t bytes[8];

        store_be64(bytes, verifier);
        assert_int_equal(mapping_number_back(mapping, CLASS_VERIFIER, RULE_KEYED, 64, x), verifier);
        assert_int_equal(verifier_times_add(&t, bytes), 0);
        for (unsigned shift = 0; shift < 64; shift += 32) {
            uint32_t big = (uint32_t)(verifier >> shift), little = __builtin_bswap32(big);
            uint32_t big_x = (uint32_t)(x >> shift), little_x = __builtin_bswap32(big_x);

            assert_true(big_x != big && ((big ^ big_x) & ~VERIFIER_SIGNS) != 0);
            assert_int_equal(time_of(&t, little, 0), little_x);
            assert_int_equal(time_of(&t, big, 0), big_x);
            assert_int_equal(time_of(&t, little & INT32_MAX, 0),
                             little >> 31 ? little_x & INT32_MAX : little_x);
            assert_int_equal(time_of(&t, big & INT32_MAX, 0),
                             big >> 31 ? big_x & INT32_MAX : big_x);
            assert_int_equal(time_of(&t, little, 123456789), 0); /* a time, by chance the same */
        }
    }
    assert_int_equal(time_of(&t, 1700000000, 0), 0);
    assert_int_equal(time_of(&t, 1700000000, 999999999), 0);
    assert_int_equal(time_of(&t, 1700000000, 1073741823), 0); /* UTIME_NOW */
    assert_true(time_of(&t, 1700000000, 1000000000) != 0);
    assert_true(time_of(&t, 2279800575, 0) != 0); /* 2042, as Ganesha writes them */
    verifier_times_free(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(times_are_shifted),
        TEST(constants_stay),
        TEST(verifiers_in_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
