/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ff1: NIST's samples, an independent implementation's, and that it is a permutation. */
#include "anon/ff1.h"
#include "anon_build.h"

static uint16_t letter_digit(char c)
{
    return (uint16_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* "FF1samples.pdf", examples with intermediate values for SP 800-38G: all nine. */
static void nist_samples(void **state)
{
    static const char key[] = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";
    static const struct {
        unsigned key_len, radix;
        const char *tweak, *in, *out;
    } samples[] = {
        { 16, 10, "-", "0123456789", "2433477484" },
        { 16, 10, "39383736353433323130", "0123456789", "6124200773" },
        { 16, 36, "3737373770717273373737", "0123456789abcdefghi", "a9tv40mll9kdu509eum" },
        { 24, 10, "-", "0123456789", "2830668132" },
        { 24, 10, "39383736353433323130", "0123456789", "2496655549" },
        { 24, 36, "3737373770717273373737", "0123456789abcdefghi", "xbj3kv35jrawxv32ysr" },
        { 32, 10, "-", "0123456789", "6657667009" },
        { 32, 10, "39383736353433323130", "0123456789", "1001623463" },
        { 32, 36, "3737373770717273373737", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        unsigned n = (unsigned)strlen(samples[i].in);
        uint8_t key_bytes[32], tweak[32];
        uint16_t digits[32], in[32], out[32];
        size_t tweak_len = hex_bytes(samples[i].tweak, tweak);
        struct err err = { 0 };
        struct ff1 *f;

        hex_bytes(key, key_bytes);
        for (unsigned k = 0; k < n; k++) {
            in[k] = digits[k] = letter_digit(samples[i].in[k]);
            out[k] = letter_digit(samples[i].out[k]);
        }
        f = ff1_new(key_bytes, samples[i].key_len, samples[i].radix, tweak, tweak_len, &err);
        assert_non_null(f);
        ff1_encrypt(f, digits, n);
        assert_memory_equal(digits, out, n * sizeof(*digits));
        ff1_decrypt(f, digits, n);
        assert_memory_equal(digits, in, n * sizeof(*digits));
        ff1_free(f);
    }
}

static unsigned parse_digits(char *text, uint16_t *digits)
{
    unsigned n = 0;

    for (char *end = text; *end; text = end + 1)
        digits[n++] = (uint16_t)strtoul(text, &end, 16);
    return n;
}

static void check_line(char **words)
{
    uint16_t in[FF1_DIGITS_MAX], out[FF1_DIGITS_MAX], digits[FF1_DIGITS_MAX];
    unsigned n = parse_digits(words[4], in);
    uint8_t key[32], tweak[64];
    size_t key_len = hex_bytes(words[1], key), tweak_len = hex_bytes(words[3], tweak);
    struct err err = { 0 };
    struct ff1 *f =
        ff1_new(key, key_len, (unsigned)strtoul(words[2], NULL, 10), tweak, tweak_len, &err);

    assert_non_null(f);
    assert_int_equal(parse_digits(words[5], out), n);
    memcpy(digits, in, sizeof(in));
    ff1_encrypt(f, digits, n);
    assert_memory_equal(digits, out, n * sizeof(*digits));
    ff1_decrypt(f, digits, n);
    assert_memory_equal(digits, in, n * sizeof(*digits));
    ff1_free(f);
}

static void independent_samples(void **state)
{
    (void)state;
    each_vector("ff1", 6, 138, check_line);
}

static void to_digits(unsigned value, unsigned radix, uint16_t *digits, unsigned n)
{
    for (unsigned i = n; i-- > 0; value /= radix)
        digits[i] = (uint16_t)(value % radix);
}

static unsigned from_digits(unsigned radix, const uint16_t *digits, unsigned n)
{
    unsigned value = 0;

    for (unsigned i = 0; i < n; i++) {
        assert_true(digits[i] < radix);
        value = value * radix + digits[i];
    }
    return value;
}

/* Every string of small domains: each is met once, and leads back. */
static void is_a_permutation(void **state)
{
    static const struct {
        unsigned radix, n;
    } domains[] = { { 2, 7 },  { 2, 8 },  { 2, 16 }, { 3, 5 },   { 10, 2 },  { 10, 3 }, { 10, 5 },
                    { 36, 3 }, { 70, 2 }, { 94, 2 }, { 254, 2 }, { 255, 2 }, { 256, 2 } };

    (void)state;
    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++) {
        unsigned radix = domains[i].radix, n = domains[i].n, size = 1, same = 0;
        struct err err = { 0 };
        struct ff1 *f = ff1_new("0123456789abcdef", 16, radix, "t", 1, &err);
        uint8_t *seen;

        for (unsigned k = 0; k < n; k++)
            size *= radix;
        seen = calloc(size, 1);
        assert_non_null(f);
        assert_non_null(seen);
        for (unsigned value = 0; value < size; value++) {
            uint16_t digits[16];
            unsigned image;

            to_digits(value, radix, digits, n);
            ff1_encrypt(f, digits, n);
            image = from_digits(radix, digits, n);
            assert_int_equal(seen[image]++, 0);
            same += image == value;
            ff1_decrypt(f, digits, n);
            assert_int_equal(from_digits(radix, digits, n), value);
        }
        assert_true(same < 12); /* fixed points: 1 is expected */
        free(seen);
        ff1_free(f);
    }
}

static void every_length_leads_back(void **state)
{
    static const unsigned radixes[] = { 2, 70, 255, 256, 65535, 65536 };
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(radixes) / sizeof(*radixes); i++) {
        struct err err = { 0 };
        struct ff1 *f = ff1_new("0123456789abcdef0123456789abcdef", 32, radixes[i], NULL, 0, &err);

        assert_non_null(f);
        for (unsigned n = FF1_DIGITS_MIN; n <= FF1_DIGITS_MAX; n++) {
            uint16_t in[FF1_DIGITS_MAX], digits[FF1_DIGITS_MAX];

            for (unsigned k = 0; k < n; k++)
                in[k] = digits[k] = (uint16_t)(random64(&random) % radixes[i]);
            ff1_encrypt(f, digits, n);
            for (unsigned k = 0; k < n; k++)
                assert_true(digits[k] < radixes[i]);
            if (n > 60)
                assert_memory_not_equal(digits, in, n * sizeof(*digits));
            ff1_decrypt(f, digits, n);
            assert_memory_equal(digits, in, n * sizeof(*digits));
        }
        ff1_free(f);
    }
}

static void table_says_the_same(void **state)
{
    uint16_t *table = malloc(FF1_TABLE_LEN * sizeof(*table));
    uint64_t random = 2;

    (void)state;
    assert_non_null(table);
    for (unsigned tweak_len = 0; tweak_len <= 9; tweak_len += 9) {
        struct err err = { 0 };
        struct ff1 *f = ff1_new("0123456789abcdef", 16, 256, "123456789", tweak_len, &err);

        assert_non_null(f);
        ff1_fill_table(f, table);
        for (unsigned i = 0; i < 20000; i++) {
            uint32_t value = i < 4 ? i - 2 : (uint32_t)random64(&random);
            uint16_t digits[4];

            to_digits(value, 256, digits, 4);
            ff1_encrypt(f, digits, 4);
            assert_int_equal(ff1_table_encrypt(table, value), from_digits(256, digits, 4));
        }
        ff1_free(f);
    }
    free(table);
}

static void refuses_nonsense(void **state)
{
    static const char tweak[FF1_TWEAK_MAX + 1];
    struct err err = { 0 };

    (void)state;
    assert_null(ff1_new("0123456789abcdef", 16, 1, NULL, 0, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_null(ff1_new("0123456789abcdef", 16, 65537, NULL, 0, &err));
    assert_null(ff1_new("0123456789abcdef", 16, 10, tweak, sizeof(tweak), &err));
    assert_null(ff1_new("0123456789abcdef", 15, 10, NULL, 0, &err));
    assert_int_equal(err.code, ERR_SYSTEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_samples),        cmocka_unit_test(independent_samples),
        cmocka_unit_test(is_a_permutation),    cmocka_unit_test(every_length_leads_back),
        cmocka_unit_test(table_says_the_same), cmocka_unit_test(refuses_nonsense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
