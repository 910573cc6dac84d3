/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapping: numbers, times, addresses, handles and other bytes. */
#include "base/bytes.h"
#include "mapping_case.h"

static uint64_t number(enum field_class cls, unsigned bits, uint64_t value)
{
    return mapping_number(mapping, cls, RULE_KEYED, bits, value);
}

static uint64_t number_back(enum field_class cls, unsigned bits, uint64_t value)
{
    return mapping_number_back(mapping, cls, RULE_KEYED, bits, value);
}

static struct bytes bytes_of(enum field_class cls, enum rule rule, bool text, const void *data,
                             uint32_t len)
{
    struct bytes out;
    struct err err = { 0 };

    assert_int_equal(mapping_bytes(mapping, cls, rule, text, 0, data, len, &out, &err), 0);
    return out;
}

static struct bytes back_of(enum field_class cls, enum rule rule, const void *data, uint32_t len)
{
    struct bytes out;
    struct err err = { 0 };

    assert_int_equal(mapping_bytes_back(mapping, cls, rule, data, len, &out, &err), 0);
    return out;
}

static enum field_class class_of(const char *name)
{
    int cls = 0;

    while (strcmp(class_name((enum field_class)cls), name) != 0)
        cls++;
    return (enum field_class)cls;
}

/* --- the same pseudonyms as an independent program's: so they are for good --- */

static void check_number(char **words)
{
    enum field_class cls = class_of(words[1]);
    unsigned bits = (unsigned)atoi(words[2]);
    uint64_t in = strtoull(words[3], NULL, 10), out = strtoull(words[4], NULL, 10);

    assert_int_equal(number(cls, bits, in), out);
    assert_int_equal(number(cls, bits, in), out); /* from the cache */
    assert_int_equal(number_back(cls, bits, out), in);
}

static void check_bytes(char **words)
{
    uint8_t in[256], out[256];
    uint32_t len = (uint32_t)hex_bytes(words[2], in);
    struct bytes found;

    hex_bytes(words[3], out);
    for (int i = 0; i < 2; i++) {
        found = bytes_of(class_of(words[1]), RULE_KEYED, false, in, len);
        assert_int_equal(found.len, len);
        assert_memory_equal(found.data, out, len);
    }
}

static void independent_samples(void **state)
{
    (void)state;
    each_vector("number", 5, 20, check_number);
    each_vector("bytes", 4, 5, check_bytes);
}

/* --- numbers --- */

static void some_numbers_stay(void **state)
{
    uint64_t uids[] = { 0, 1, 65534, UINT32_MAX }, cookies[] = { 1, 2, INT64_MAX };
    uint64_t random = 1;

    (void)state;
    policy.kept[CLASS_UID] = (struct policy_kept){ uids, 4 };
    policy.kept[CLASS_COOKIE] = (struct policy_kept){ cookies, 3 };
    for (int i = 0; i < 4; i++)
        assert_int_equal(number(CLASS_UID, 32, uids[i]), uids[i]);
    for (int i = 0; i < 3; i++)
        assert_int_equal(number(CLASS_COOKIE, 64, cookies[i]), cookies[i]);
    assert_int_equal(number(CLASS_FILEID, 64, 0), 0);
    assert_int_not_equal(number(CLASS_GID, 32, 65534), 65534);
    /* where the permutation leads to a kept one, it goes on: nothing else becomes one of them */
    for (int i = 0; i < 20000; i++) {
        uint64_t value = (uint32_t)random64(&random), x;

        if (i < 3) /* those that would hit one: found by going back without kept ones */
            value = (policy.kept[CLASS_UID].count = 0, number_back(CLASS_UID, 32, uids[i + 1]));
        policy.kept[CLASS_UID].count = 4;
        if (value < 2 || value == 65534 || value == UINT32_MAX)
            continue;
        x = number(CLASS_UID, 32, value);
        assert_true(x > 1 && x != 65534 && x != UINT32_MAX);
        assert_int_equal(number_back(CLASS_UID, 32, x), value);
    }
}

static int compare64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* More numbers than caches hold, through the table and before it, forward and backward: the same.
 */
static void order_is_nothing(void **state)
{
    enum { N = 200000 };
    static const struct {
        enum field_class cls;
        unsigned bits;
    } kinds[] = { { CLASS_UID, 32 }, { CLASS_FILEID, 64 } };
    uint64_t *out = malloc(N * sizeof(*out));
    struct mapping *other = build_mapping(&policy, 0);

    (void)state;
    assert_non_null(out);
    for (int k = 0; k < 2; k++) {
        enum field_class cls = kinds[k].cls;
        unsigned bits = kinds[k].bits;

        for (uint64_t i = 0; i < N; i++)
            out[i] = mapping_number(mapping, cls, RULE_KEYED, bits, i * 7919);
        for (uint64_t i = N; i-- > 0;) {
            assert_int_equal(mapping_number(other, cls, RULE_KEYED, bits, i * 7919), out[i]);
            if (i % 16 == 0)
                assert_int_equal(mapping_number_back(other, cls, RULE_KEYED, bits, out[i]),
                                 i * 7919);
        }
        qsort(out, N, sizeof(*out), compare64);
        for (int i = 1; i < N; i++)
            assert_true(out[i - 1] < out[i]);
    }
    mapping_free(other);
    free(out);
}

static void other_keys_and_classes_differ(void **state)
{
    static const enum field_class classes[] = { CLASS_UID,    CLASS_GID,     CLASS_FILEID,
                                                CLASS_FSID,   CLASS_DEVICE,  CLASS_COOKIE,
                                                CLASS_HANDLE, CLASS_VERIFIER };
    struct mapping *other = build_mapping(&policy, 1);

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        for (uint64_t value = 1000; value < 1010; value++) {
            uint64_t x = number(classes[i], 64, value);

            assert_true(x != mapping_number(other, classes[i], RULE_KEYED, 64, value));
            for (unsigned j = 0; j < i; j++)
                assert_true(x != number(classes[j], 64, value));
        }
    for (int i = 0; i < EXTRA_MAX; i++)
        assert_true(mapping_extra(mapping, (enum policy_extra)i, 1000) !=
                    mapping_extra(other, (enum policy_extra)i, 1000));
    mapping_free(other);
}

static void other_rules(void **state)
{
    static const struct {
        enum rule rule;
        uint64_t in, out;
    } cases[] = {
        { RULE_KEEP, 77, 77 },
        { RULE_ZERO, 77, 0 },
        { RULE_UNSET, 77, 0 },
        { RULE_OWNER, 0100644, 0100600 },
        { RULE_OWNER, 07777, 0700 },
        { RULE_OWNER, 0040755, 0040700 },
        { RULE_OWNER, UINT32_MAX, 0170700 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(mapping_number(mapping, CLASS_MODE, cases[i].rule, 32, cases[i].in),
                         cases[i].out);
}

static void extras(void **state)
{
    uint8_t *seen = calloc(1 << 16, 1);

    (void)state;
    assert_non_null(seen);
    for (uint32_t port = 0; port < 1 << 16; port++) {
        uint32_t x = mapping_extra(mapping, EXTRA_PORT, port);

        assert_true(x < 1 << 16);
        assert_int_equal(seen[x]++, 0);
    }
    assert_int_equal(mapping_extra(mapping, EXTRA_PORT, 0), 0);
    free(seen);
    assert_int_not_equal(mapping_extra(mapping, EXTRA_XID, 5), 5);
    policy.extras[EXTRA_XID] = RULE_KEEP;
    assert_int_equal(mapping_extra(mapping, EXTRA_XID, 5), 5);
    policy.extras[EXTRA_STAMP] = RULE_ZERO;
    assert_int_equal(mapping_extra(mapping, EXTRA_STAMP, 5), 0);
}

/* --- handles and other bytes --- */

static void bytes_are_a_permutation(void **state)
{
    static uint8_t seen[1 << 16];

    (void)state;
    for (uint32_t len = 1; len <= 2; len++) {
        memset(seen, 0, sizeof(seen));
        for (uint32_t value = 0; value < 1u << 8 * len; value++) {
            uint8_t in[2] = { (uint8_t)value, (uint8_t)(value >> 8) }, image[2] = { 0 };
            struct bytes x = bytes_of(CLASS_HANDLE, RULE_KEYED, false, in, len);

            assert_int_equal(x.len, len);
            memcpy(image, x.data, len);
            assert_int_equal(seen[load_be16(image)]++, 0);
            x = back_of(CLASS_HANDLE, RULE_KEYED, image, len);
            assert_int_equal(x.len, len);
            assert_memory_equal(x.data, in, len);
        }
    }
}

static void every_length_leads_back(void **state)
{
    uint64_t random = 5;

    (void)state;
    for (uint32_t len = 0; len < 1000; len += 1 + len / 100) {
        uint8_t in[1000] = { 0 }, image[1000];
        struct bytes x;

        random_bytes(&random, in, len);
        x = bytes_of(CLASS_HANDLE, RULE_KEYED, false, in, len);
        assert_int_equal(x.len, len);
        memcpy(image, x.data, len);
        if (len > 3)
            assert_memory_not_equal(image, in, len);
        x = back_of(CLASS_HANDLE, RULE_KEYED, image, len);
        assert_int_equal(x.len, len);
        assert_memory_equal(x.data, in, len);
        if (len < 130)
            continue;
        in[random64(&random) % len] ^= 1; /* one bit changes about half of all, at both ends */
        x = bytes_of(CLASS_HANDLE, RULE_KEYED, false, in, len);
        assert_memory_not_equal(x.data, image, 16);
        assert_memory_not_equal(x.data + len - 16, image + len - 16, 16);
    }
}

static void zeros_of_a_handle_are_no_zeros(void **state)
{
    static const uint8_t zeros[64];

    (void)state;
    for (uint32_t len = 8; len <= 64; len += 4)
        assert_memory_not_equal(bytes_of(CLASS_HANDLE, RULE_KEYED, false, zeros, len).data, zeros,
                                len);
}

static void bytes_are_numbers(void **state)
{
    static const uint8_t eight[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    uint8_t expected[8];

    (void)state;
    store_be64(expected, number(CLASS_VERIFIER, 64, load_be64(eight)));
    assert_memory_equal(bytes_of(CLASS_VERIFIER, RULE_KEYED, false, eight, 8).data, expected, 8);
    store_be64(expected, number(CLASS_COOKIE, 64, load_be64(eight)));
    assert_memory_equal(bytes_of(CLASS_COOKIE, RULE_KEYED, false, eight, 8).data, expected, 8);
    store_be32(expected, (uint32_t)number(CLASS_COOKIE, 32, load_be32(eight)));
    assert_memory_equal(bytes_of(CLASS_COOKIE, RULE_KEYED, false, eight, 4).data, expected, 4);
    assert_memory_equal(back_of(CLASS_COOKIE, RULE_KEYED, expected, 4).data, eight, 4);
}

/* More handles than the cache holds: none is given for another. */
static void caches_tell_apart(void **state)
{
    enum { N = 100000 };
    struct mapping *fresh = build_mapping(&policy, 0);

    (void)state;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < N; i++) {
            uint8_t handle[32] = { 1, 0, 6 };

            store_be32(handle + 12, i * 2654435761u);
            bytes_of(CLASS_HANDLE, RULE_KEYED, false, handle, 32 - i % 3);
            if (i % 50 == 0) {
                struct bytes x = bytes_of(CLASS_HANDLE, RULE_KEYED, false, handle, 32 - i % 3), y;
                struct err err = { 0 };

                assert_int_equal(mapping_bytes(fresh, CLASS_HANDLE, RULE_KEYED, false, 64, handle,
                                               32 - i % 3, &y, &err),
                                 0);
                assert_int_equal(x.len, y.len);
                assert_memory_equal(x.data, y.data, x.len);
            }
        }
    mapping_free(fresh);
}

static void lock_owners(void **state)
{
    uint8_t token[16];
    struct bytes x = bytes_of(CLASS_LOCK_OWNER, RULE_TOKEN, false, "1234@client1", 12);

    (void)state;
    assert_int_equal(x.len, 16);
    memcpy(token, x.data, 16);
    assert_memory_not_equal(bytes_of(CLASS_LOCK_OWNER, RULE_TOKEN, false, "1235@client1", 12).data,
                            token, 16);
    assert_memory_equal(bytes_of(CLASS_LOCK_OWNER, RULE_TOKEN, false, "1234@client1", 12).data,
                        token, 16);
    x = bytes_of(CLASS_LOCK_OWNER, RULE_SAME, false, "1234@client1", 12);
    assert_int_equal(x.len, 12);
    assert_memory_not_equal(x.data, token, 12);
    assert_memory_not_equal(x.data, "1234@client1", 12);
    assert_int_not_equal(number(CLASS_LOCK_OWNER, 32, 1234), 1234);
}

static void file_contents(void **state)
{
    static uint8_t zeros[100000], data[100000];
    uint8_t noise[64];
    struct bytes x;

    (void)state;
    memset(data, 'x', sizeof(data));
    for (uint32_t len = 1; len <= sizeof(data); len *= 10) {
        x = bytes_of(CLASS_DATA, RULE_ZERO, false, data, len);
        assert_int_equal(x.len, len);
        assert_memory_equal(x.data, zeros, len);
    }
    x = bytes_of(CLASS_DATA, RULE_NOISE, false, data, 64);
    assert_int_equal(x.len, 64);
    memcpy(noise, x.data, 64);
    assert_memory_not_equal(noise, data, 64);
    data[63]++;
    assert_memory_not_equal(bytes_of(CLASS_DATA, RULE_NOISE, false, data, 64).data, noise, 16);
    data[63]--;
    assert_memory_equal(bytes_of(CLASS_DATA, RULE_NOISE, false, data, 64).data, noise, 64);
    assert_int_equal(bytes_of(CLASS_DATA, RULE_NOISE, false, data, sizeof(data)).len, sizeof(data));
}

static void kept_and_empty(void **state)
{
    struct bytes x = bytes_of(CLASS_HANDLE, RULE_KEEP, false, "handle", 6);

    (void)state;
    assert_int_equal(x.len, 6);
    assert_memory_equal(x.data, "handle", 6);
    for (int cls = 0; cls < CLASS_MAX; cls++)
        for (int rule = RULE_UNSET; rule < RULE_MAX; rule++)
            for (int text = 0; text < 2; text++)
                assert_int_equal(bytes_of((enum field_class)cls, (enum rule)rule, text, "", 0).len,
                                 0);
}

/* Nothing of any class gets through as it was, whatever the rule, except where that is asked for.
 */
static void nothing_stays_by_mistake(void **state)
{
    static const char secret[] = "jane's tax return 2019 (final)";

    (void)state;
    for (int cls = 0; cls < CLASS_MAX; cls++)
        for (int rule = RULE_UNSET; rule < RULE_MAX; rule++)
            for (int text = 0; text < 2; text++) {
                struct bytes x;

                if (rule == RULE_KEEP && !(cls == CLASS_NONE && text))
                    continue;
                x = bytes_of((enum field_class)cls, (enum rule)rule, text, secret, 30);
                for (uint32_t at = 0; at + 6 <= 30; at++)
                    assert_null(memmem(x.data, x.len, secret + at, 6));
            }
}

static void no_way_back(void **state)
{
    static const struct {
        enum field_class cls;
        enum rule rule;
    } cases[] = { { CLASS_NAME, RULE_TOKEN },       { CLASS_PATH, RULE_TOKEN },
                  { CLASS_HOST, RULE_TOKEN },       { CLASS_DATA, RULE_NOISE },
                  { CLASS_LOCK_OWNER, RULE_TOKEN }, { CLASS_HANDLE, RULE_ZERO },
                  { CLASS_ADDRESS, RULE_KEYED } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bytes out;
        struct err err = { 0 };

        assert_int_equal(mapping_bytes_back(mapping, cases[i].cls, cases[i].rule,
                                            (const uint8_t *)"0123456789abcdef", 16, &out, &err),
                         -ERR_INPUT);
    }
}

static void addresses(void **state)
{
    uint64_t random = 6;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct address a = { .version = i % 2 ? 4 : 6 }, x, y, back;

        random_bytes(&random, a.bytes, i % 3 ? 2 : address_len(&a));
        mapping_address(mapping, &a, &x);
        mapping_address(mapping, &a, &y); /* from the cache */
        assert_true(address_equal(&x, &y));
        y = a;
        mapping_address(mapping, &y, &y); /* in place */
        assert_true(address_equal(&x, &y));
        mapping_address_back(mapping, &x, &back);
        assert_true(address_equal(&a, &back));
    }
    policy.rules[CLASS_ADDRESS] = RULE_KEEP;
    {
        struct address a = { 4, { 10, 1, 2, 3 } }, x;

        mapping_address(mapping, &a, &x);
        assert_true(address_equal(&a, &x));
        mapping_address_back(mapping, &a, &x);
        assert_true(address_equal(&a, &x));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(independent_samples),
        TEST(some_numbers_stay),
        TEST(order_is_nothing),
        TEST(other_keys_and_classes_differ),
        TEST(other_rules),
        TEST(extras),
        TEST(bytes_are_a_permutation),
        TEST(every_length_leads_back),
        TEST(zeros_of_a_handle_are_no_zeros),
        TEST(bytes_are_numbers),
        TEST(caches_tell_apart),
        TEST(lock_owners),
        TEST(file_contents),
        TEST(kept_and_empty),
        TEST(nothing_stays_by_mistake),
        TEST(no_way_back),
        TEST(addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
