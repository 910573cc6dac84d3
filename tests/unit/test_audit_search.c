/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Secrets, their sampling, the search for all at once against one for each, and chance. */
#include "audit/chance.h"
#include "audit/search.h"
#include "base/bytes.h"
#include "link/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

static uint64_t state = 88172645463325252u;

static uint32_t random_number(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

static void add(struct secrets *s, enum secret_class cls, const void *data, size_t len)
{
    struct secret secret = { .cls = (uint8_t)cls, .len = (uint8_t)len, .frame = 1 };
    struct err err = { 0 };

    memcpy(secret.data, data, len);
    assert_int_equal(secrets_add(s, &secret, &err), 0);
}

static void test_text_windows(void **ctx)
{
    static const char text[] = "a-name-of-thirty-characters-ok";
    struct secrets s;
    struct err err = { 0 };

    (void)ctx;
    secrets_init(&s, 0);
    assert_int_equal(secrets_text(&s, SECRET_NAME, (const uint8_t *)text, 30, 7, &err), 0);
    /* at 0, 4, 8, 12, 16 and at the end, which is 18 */
    assert_int_equal(s.count, 6);
    for (unsigned i = 0; i < s.count; i++)
        assert_int_equal(s.all[i].len, SECRET_WINDOW);
    assert_true(secrets_have(&s, SECRET_NAME, (const uint8_t *)text + 18, 12));
    assert_false(secrets_have(&s, SECRET_NAME, (const uint8_t *)text + 17, 12));
    assert_int_equal(secrets_text(&s, SECRET_NAME, (const uint8_t *)"xy", 2, 7, &err), 0);
    assert_int_equal(s.count, 6);
    assert_int_equal(secrets_text(&s, SECRET_NAME, (const uint8_t *)"xyz", 3, 7, &err), 0);
    assert_int_equal(s.count, 7);
    secrets_free(&s);
}

/* Every piece of 15 bytes of a text holds one of its windows. */
static void test_every_piece(void **ctx)
{
    uint8_t text[100];
    struct secrets s;
    struct err err = { 0 };

    (void)ctx;
    for (unsigned i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 37);
    for (size_t len = 15; len <= sizeof(text); len++) {
        secrets_init(&s, 0);
        assert_int_equal(secrets_text(&s, SECRET_NAME, text, len, 1, &err), 0);
        for (size_t at = 0; at + 15 <= len; at++) {
            bool found = false;

            for (size_t i = at; i + SECRET_WINDOW <= at + 15; i++)
                found |= secrets_have(&s, SECRET_NAME, text + i, SECRET_WINDOW);
            assert_true(found);
        }
        secrets_free(&s);
    }
}

static void test_better_class_wins(void **ctx)
{
    struct secrets s;

    (void)ctx;
    secrets_init(&s, 0);
    add(&s, SECRET_STRING, "archive", 7);
    add(&s, SECRET_NAME, "archive", 7);
    add(&s, SECRET_STRING, "archive", 7);
    assert_int_equal(s.count, 1);
    assert_true(secrets_have(&s, SECRET_NAME, (const uint8_t *)"archive", 7));
    assert_int_equal(s.classes[SECRET_STRING].count, 0);
    assert_int_equal(s.classes[SECRET_STRING].seen, 2);
    assert_int_equal(s.classes[SECRET_NAME].count, 1);
    secrets_free(&s);
}

/* What is kept of too many does not depend on their order. */
static void test_sampling(void **ctx)
{
    enum { ALL = 5000, KEPT = 300 };
    struct secrets a, b;

    (void)ctx;
    secrets_init(&a, KEPT);
    secrets_init(&b, KEPT);
    for (uint32_t i = 0; i < ALL; i++) {
        uint64_t forth = i * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t back = (ALL - 1 - i) * UINT64_C(0x9e3779b97f4a7c15);

        add(&a, SECRET_HANDLE, &forth, 8);
        add(&b, SECRET_HANDLE, &back, 8);
        add(&b, SECRET_HANDLE, &back, 8);
    }
    add(&a, SECRET_NAME, "alone", 5); /* other classes are not concerned */
    assert_true(secrets_have(&a, SECRET_NAME, (const uint8_t *)"alone", 5));
    assert_true(a.classes[SECRET_HANDLE].count <= KEPT);
    assert_true(a.classes[SECRET_HANDLE].count > KEPT / 4);
    assert_int_equal(a.classes[SECRET_HANDLE].count, b.classes[SECRET_HANDLE].count);
    assert_int_equal(a.classes[SECRET_HANDLE].halvings, b.classes[SECRET_HANDLE].halvings);
    for (uint32_t i = 0; i < a.count; i++)
        if (a.all[i].cls == SECRET_HANDLE)
            assert_true(secrets_have(&b, SECRET_HANDLE, a.all[i].data, 8));
    /* their number is told within a third */
    assert_true((a.classes[SECRET_HANDLE].count << a.classes[SECRET_HANDLE].halvings) >
                ALL * 2 / 3);
    assert_true((a.classes[SECRET_HANDLE].count << a.classes[SECRET_HANDLE].halvings) <
                ALL * 4 / 3);
    secrets_free(&a);
    secrets_free(&b);
}

static void test_addresses(void **ctx)
{
    const struct address four = { 4, { 10, 20, 30, 41 } }, loopback = { 4, { 127, 0, 0, 1 } };
    const struct address six = { 6, { 0x20, 1, 0xd, 0xb8, [12] = 0xa, 0xb, 0xc, 0xd } };
    const struct address unset = { 6, { 0 } }, group = { 6, { 0xff, 2 } };
    struct secrets s;
    struct err err = { 0 };

    (void)ctx;
    secrets_init(&s, 0);
    assert_int_equal(secrets_address(&s, &loopback, 1, &err), 0);
    assert_int_equal(secrets_address(&s, &unset, 1, &err), 0);
    assert_int_equal(secrets_address(&s, &group, 1, &err), 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(secrets_address(&s, &four, 1, &err), 0);
    assert_int_equal(s.count, 4);
    assert_true(secrets_have(&s, SECRET_ADDRESS, four.bytes, 4));
    assert_true(secrets_have(&s, SECRET_ADDRESS, (const uint8_t *)"\x29\x1e\x14\x0a", 4));
    assert_true(secrets_have(&s, SECRET_ADDRESS_TEXT, (const uint8_t *)"10.20.30.41", 11));
    assert_true(secrets_have(&s, SECRET_ADDRESS_TEXT, (const uint8_t *)"41.30.20.10", 11));
    assert_int_equal(secrets_address(&s, &six, 1, &err), 0);
    assert_true(secrets_have(&s, SECRET_ADDRESS, six.bytes, 16));
    assert_true(secrets_have(&s, SECRET_ADDRESS, six.bytes + 8, 8));
    /* 17 characters: windows */
    assert_true(secrets_have(&s, SECRET_ADDRESS_TEXT, (const uint8_t *)"2001:db8::a0b", 12));
    assert_true(secrets_have(&s, SECRET_ADDRESS_TEXT, (const uint8_t *)"d.0.c.0.b.0.", 12));
    secrets_free(&s);
}

struct found {
    uint32_t count;
    uint8_t *marks; /* secret * length + at */
    size_t len;
};

static int mark(void *ctx, uint32_t secret, size_t at, struct err *err)
{
    struct found *f = ctx;

    (void)err;
    assert_int_equal(f->marks[secret * f->len + at], 0);
    f->marks[secret * f->len + at] = 1;
    f->count++;
    return 0;
}

/* Against looking for each secret at each place. */
static void test_search_is_complete(void **ctx)
{
    enum { LEN = 400, ROUNDS = 60 };
    struct err err = { 0 };

    (void)ctx;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t text[LEN];
        struct secrets s;
        struct search *search;
        struct found found = { .len = LEN };
        uint32_t want = 0, symbols = 2 + round % 5;

        secrets_init(&s, 0);
        for (unsigned i = 0; i < LEN; i++)
            text[i] = (uint8_t)random_number(symbols);
        for (unsigned i = 0; i < 80; i++) {
            uint8_t secret[SECRET_LEN_MAX];
            unsigned len = SECRET_SHORTEST + random_number(SECRET_LEN_MAX - SECRET_SHORTEST + 1);

            for (unsigned k = 0; k < len; k++)
                secret[k] = (uint8_t)random_number(symbols);
            if (i % 2) /* that is there */
                memcpy(secret, text + random_number(LEN - len + 1), len);
            add(&s, (enum secret_class)(i % SECRET_MAX), secret, len);
        }
        search = search_new(&s, &err);
        assert_non_null(search);
        found.marks = calloc(s.count, LEN);
        assert_non_null(found.marks);
        /* in two pieces, which must be the same as in one */
        assert_int_equal(search_bytes(search, text, LEN, 0, 123, mark, &found, &err), 0);
        assert_int_equal(search_bytes(search, text, LEN, 123, LEN, mark, &found, &err), 0);
        for (uint32_t i = 0; i < s.count; i++)
            for (unsigned at = 0; at < LEN; at++) {
                bool there =
                    at + s.all[i].len <= LEN && memcmp(text + at, s.all[i].data, s.all[i].len) == 0;

                want += there;
                assert_int_equal(found.marks[i * LEN + at], there);
            }
        assert_int_equal(found.count, want);
        assert_true(want >= 30);
        free(found.marks);
        search_free(search);
        secrets_free(&s);
    }
}

/* Zeros are passed over: what stands between, before and behind them is found, whatever its place
 * and the piece's ends. */
static void test_search_between_zeros(void **ctx)
{
    enum { LEN = 200, ROUNDS = 400 };
    struct err err = { 0 };

    (void)ctx;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t text[LEN] = { 0 }, marks[2 * LEN] = { 0 };
        uint8_t secret[2][SECRET_LEN_MAX] = { { 1, 0, 0, 0, 0, 0, 0, 0, 2 }, { 0, 0, 3 } };
        unsigned lens[2] = { 3 + random_number(14), 3 + random_number(14) };
        unsigned at = random_number(LEN - lens[0] + 1), cut = random_number(LEN + 1);
        struct secrets s;
        struct search *search;
        struct found found = { 0, marks, LEN };

        secrets_init(&s, 0);
        add(&s, SECRET_OPAQUE, secret[0], lens[0]);
        if (round % 2)
            add(&s, SECRET_OPAQUE, secret[1], lens[1]);
        memcpy(text + at, secret[0], lens[0]);
        search = search_new(&s, &err);
        assert_non_null(search);
        assert_int_equal(search_bytes(search, text, LEN, 0, cut, mark, &found, &err), 0);
        assert_int_equal(search_bytes(search, text, LEN, cut, LEN, mark, &found, &err), 0);
        assert_int_equal(found.count, 1);
        assert_int_equal(marks[at], 1);
        search_free(search);
        secrets_free(&s);
    }
}

static uint32_t hits_in(const char *text)
{
    const struct address address = { 4, { 10, 0, 0, 1 } };
    uint8_t marks[4 * 64] = { 0 };
    struct found found = { 0, marks, 64 };
    struct secrets s;
    struct err err = { 0 };
    struct search *search;

    secrets_init(&s, 0);
    assert_int_equal(secrets_address(&s, &address, 1, &err), 0);
    search = search_new(&s, &err);
    assert_non_null(search);
    assert_int_equal(search_bytes(search, (const uint8_t *)text, strlen(text), 0, strlen(text),
                                  mark, &found, &err),
                     0);
    search_free(search);
    secrets_free(&s);
    return found.count;
}

/* 10.0.0.1 is no part of 10.0.0.12. */
static void test_address_borders(void **ctx)
{
    (void)ctx;
    assert_int_equal(hits_in("10.0.0.1"), 1);
    assert_int_equal(hits_in("at 10.0.0.1, say"), 1);
    assert_int_equal(hits_in("10.0.0.1.8.1"), 1);
    assert_int_equal(hits_in("10.0.0.12"), 0);
    assert_int_equal(hits_in("210.0.0.1"), 0);
    assert_int_equal(hits_in("7.10.0.0.1"), 0);
    assert_int_equal(hits_in("1.0.0.10.in-addr.arpa"), 1);
}

/* Tables of the Poisson distribution: P(X >= k) = 1 - sum of e^-m m^i / i! below k. */
static void test_poisson(void **ctx)
{
    double sum = 0, term;

    (void)ctx;
    assert_true(chance_of(0, 3) == 1);
    assert_true(chance_of(1, 0) == 0);
    /* P(X >= 1) = 1 - e^-0.01 = 0.00995017 */
    assert_true(chance_of(1, 0.01) > 0.009950 && chance_of(1, 0.01) < 0.009951);
    /* P(X >= 10 | 3) = 0.00110249 */
    assert_true(chance_of(10, 3) > 0.0011024 && chance_of(10, 3) < 0.0011026);
    term = 0.0497870683678639; /* e^-3 */
    for (unsigned i = 0; i < 10; term *= 3.0 / ++i)
        sum += term;
    assert_true(chance_of(10, 3) - (1 - sum) < 1e-12 && (1 - sum) - chance_of(10, 3) < 1e-12);
    assert_true(chance_of(2000, 1000) < 1e-100);
    assert_true(chance_of(1010, 1000) > 0.01);
}

/* Of random letters the chain expects what was counted, within a tenth. */
static void test_chain(void **ctx)
{
    enum { VALUES = 20000, LEN = 16 };
    struct chains *chains = calloc(1, sizeof(*chains));
    uint64_t counted = 0;
    double expected = 0;
    uint8_t binary[LEN];

    (void)ctx;
    assert_non_null(chains);
    for (unsigned i = 0; i < VALUES; i++) {
        uint8_t value[LEN];

        for (unsigned k = 0; k < LEN; k++) {
            value[k] = (uint8_t)('a' + random_number(16));
            binary[k] = (uint8_t)random_number(256);
        }
        chains_bytes(chains, value, LEN);
        binary[0] = 0xff;
        chains_bytes(chains, binary, LEN);
        for (unsigned k = 0; k + 3 <= LEN; k++)
            counted += memcmp(value + k, "abc", 3) == 0;
    }
    expected = chains_expected(chains, (const uint8_t *)"abc", 3, 0);
    assert_true(expected > (double)counted * 0.85 && expected < (double)counted * 1.25);
    /* no letters: three bytes in VALUES * LEN random ones */
    expected = chains_expected(chains, (const uint8_t *)"\x80\x90\xa0", 3, 0);
    assert_true(expected < 0.2);
    free(chains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_windows),
        cmocka_unit_test(test_every_piece),
        cmocka_unit_test(test_better_class_wins),
        cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_search_is_complete),
        cmocka_unit_test(test_search_between_zeros),
        cmocka_unit_test(test_address_borders),
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
