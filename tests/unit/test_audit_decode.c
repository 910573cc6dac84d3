/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A text in any encoding, at any place of any bytes, is found with the bytes that it is made of. */
#include "audit/decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { ROOM = 3 * DECODE_PIECE, TEXT = 12 };

static uint64_t state = 88172645463325252u;

static uint32_t random_number(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

struct wanted {
    uint8_t text[TEXT];
    enum decode_code code;
    uint32_t from, to;
    bool found;
};

static int on_decoded(void *ctx, const struct decoded *d, struct err *err)
{
    struct wanted *w = ctx;

    (void)err;
    for (uint32_t at = 0; d->code == w->code && at + TEXT <= d->len; at++) {
        uint32_t last = at + TEXT - 1, from = d->from[at], to = d->to[last];

        if (memcmp(d->text + at, w->text, TEXT) != 0)
            continue;
        if (d->code == DECODE_REVERSED) {
            from = d->from[last];
            to = d->to[at];
        }
        w->found |= from >= w->from && from <= w->from + 1 && to <= w->to && to + 1 >= w->to;
    }
    return 0;
}

/* Writes the text in its encoding; returns the length. */
static uint32_t encode(const struct wanted *w, uint8_t *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *const letters = random_number(2) ? digits : urls;
    const char *const formats[] = { "%02x", "%02X" }, *signs[] = { "%%%02x", "=%02X", "\\x%02x" };
    const char *const hex = formats[random_number(2)], *const sign = signs[random_number(3)];
    uint32_t n = 0, skip = random_number(3), high = random_number(2);
    uint8_t padded[TEXT + 4] = "xyz";
    char pair[8];

    for (unsigned i = 0; i < TEXT; i++) {
        uint8_t c = w->text[i];

        switch (w->code) {
        case DECODE_CASE:
            out[n++] = c >= 'a' && c <= 'z' ? c & 0xdf : c;
            break;
        case DECODE_REVERSED:
            out[n++] = w->text[TEXT - 1 - i];
            break;
        case DECODE_HEX:
            snprintf(pair, sizeof(pair), hex, c);
            memcpy(out + n, pair, 2);
            n += 2;
            break;
        case DECODE_UTF16:
            out[n + high] = 0;
            out[n + !high] = c;
            n += 2;
            break;
        case DECODE_PERCENT:
            snprintf(pair, sizeof(pair), sign, c);
            memcpy(out + n, pair, strlen(pair));
            n += (uint32_t)strlen(pair);
            break;
        default:
            break;
        }
    }
    if (w->code != DECODE_BASE64)
        return n;
    memcpy(padded + skip, w->text, TEXT);
    for (uint32_t bit = 0; bit < (skip + TEXT) * 8; bit += 6) {
        uint32_t at = bit / 8, two = (uint32_t)padded[at] << 8 | padded[at + 1];

        out[n++] = (uint8_t)letters[two >> (10 - bit % 8) & 63];
    }
    memmove(out, out + skip * 8 / 6, n - skip * 8 / 6);
    return n - skip * 8 / 6;
}

static void test_places(void **ctx)
{
    static uint8_t data[ROOM];
    static struct decoded room;
    struct err err = { 0 };

    (void)ctx;
    for (unsigned turn = 0; turn < 20000; turn++) {
        struct wanted w = { .code = turn % DECODE_CODES };
        uint32_t len = turn % 7 ? 100 + random_number(100) : ROOM, n;
        uint8_t word[8 * TEXT];

        for (uint32_t i = 0; i < len; i++)
            data[i] = turn & 8 ? (uint8_t)random_number(256) : (uint8_t)('a' + random_number(26));
        for (unsigned i = 0; i < TEXT; i++)
            w.text[i] = (uint8_t)('a' + random_number(26));
        n = encode(&w, word);
        w.from = random_number(len - n + 1);
        w.to = w.from + n;
        memcpy(data + w.from, word, n);
        assert_int_equal(decode_each(data, len, &room, on_decoded, &w, &err), 0);
        if (!w.found)
            print_message("%s, turn %u, at %u of %u\n", decode_name(w.code), turn, w.from, len);
        assert_true(w.found);
    }
}

static int on_any(void *ctx, const struct decoded *d, struct err *err)
{
    (void)d;
    (void)err;
    return ++*(int *)ctx;
}

/* What is too short for a text, or is zeros, costs nothing; and what a visitor returns ends it. */
static void test_ends(void **ctx)
{
    static uint8_t data[ROOM];
    static struct decoded room;
    struct err err = { 0 };
    int calls = 0;

    (void)ctx;
    for (uint32_t len = 0; len < ROOM; len = len * 2 + 1)
        assert_int_equal(decode_each(data, len, &room, on_any, &calls, &err), 0);
    memset(data, 'a', DECODE_LEAST);
    assert_int_equal(decode_each(data, DECODE_LEAST - 1, &room, on_any, &calls, &err), 0);
    assert_int_equal(calls, 0);
    assert_int_equal(decode_each(data, DECODE_LEAST, &room, on_any, &calls, &err), 1);
    assert_int_equal(calls, 1);
}

/* Characters that are no ASCII, in either byte order, become UTF-8. */
static int on_wide(void *ctx, const struct decoded *d, struct err *err)
{
    static const char text[] = "\xd0\xb4\xd0\xbe\xd0\xba\xd1\x83\xd0\xbc\xd0\xb5\xd0\xbd\xd1\x82";

    (void)err;
    *(int *)ctx +=
        d->code == DECODE_UTF16 && d->len == sizeof(text) - 1 && memcmp(d->text, text, d->len) == 0;
    return 0;
}

static void test_wide(void **ctx)
{
    static const uint8_t big[] = { 0x04, 0x34, 0x04, 0x3e, 0x04, 0x3a, 0x04, 0x43,
                                   0x04, 0x3c, 0x04, 0x35, 0x04, 0x3d, 0x04, 0x42 };
    uint8_t little[sizeof(big)];
    static struct decoded room;
    struct err err = { 0 };
    int found = 0;

    (void)ctx;
    for (unsigned i = 0; i < sizeof(big); i++)
        little[i] = big[i ^ 1];
    assert_int_equal(decode_each(big, sizeof(big), &room, on_wide, &found, &err), 0);
    assert_int_equal(found, 1);
    assert_int_equal(decode_each(little, sizeof(little), &room, on_wide, &found, &err), 0);
    assert_int_equal(found, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_wide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
