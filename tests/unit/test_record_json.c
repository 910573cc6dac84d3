/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_json: every type of field, and text that is hard to show. */
#include "record/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <stdio.h>

static void assert_json(const struct record *record, const char *expected)
{
    struct buf out = { 0 };

    assert_int_equal(record_json(record, &out), 0);
    assert_int_equal(buf_append(&out, "", 1), 0);
    assert_string_equal((char *)out.data, expected);
    buf_free(&out);
}

static void texts(void **state)
{
    /* names as base/escape.h has them, in JSON: RFC 8259 s7 for what must be escaped, RFC 3629 s3
     * and s4 for what is UTF-8 */
    static const struct {
        const char *text;
        size_t len;
        const char *expected;
    } rows[] = {
#define ROW(text, expected) { text, sizeof(text) - 1, expected }
        ROW("", ""),
        ROW("plain", "plain"),
        ROW("a\"b\\c/d", "a\\\"b\\\\\\\\c/d"),
        ROW("\0\x01\n\x1f\x7f", "\\\\x00\\\\x01\\\\x0a\\\\x1f\\\\x7f"),
        ROW("\xc3\xa9", "\xc3\xa9"),
        ROW("\xe2\x82\xac", "\xe2\x82\xac"),
        ROW("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"),
        ROW("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"),
        ROW("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"),
        ROW("\xe2\x80\xae", "\\\\xe2\\\\x80\\\\xae"), /* U+202E */
        ROW("\xd8\x9c", "\\\\xd8\\\\x9c"),            /* U+061C */
        ROW("a\xff", "a\\\\xff"),                     /* never in UTF-8 */
        ROW("\x80x", "\\\\x80x"),                     /* no beginning */
        ROW("\xc3", "\\\\xc3"),                       /* no end */
        ROW("\xe2\x82", "\\\\xe2\\\\x82"),
        ROW("\xe2\x82x", "\\\\xe2\\\\x82x"),
        ROW("\xc0\xaf", "\\\\xc0\\\\xaf"), /* longer than needed */
        ROW("\xc1\xbf", "\\\\xc1\\\\xbf"),
        ROW("\xe0\x9f\xbf", "\\\\xe0\\\\x9f\\\\xbf"),
        ROW("\xf0\x8f\xbf\xbf", "\\\\xf0\\\\x8f\\\\xbf\\\\xbf"),
        ROW("\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80"),            /* a surrogate */
        ROW("\xf4\x90\x80\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80"), /* above U+10FFFF */
        ROW("\xf5\x80\x80\x80", "\\\\xf5\\\\x80\\\\x80\\\\x80"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        /* a copy of exactly this size, so that a sanitizer sees reading beyond */
        uint8_t *copy = test_malloc(rows[i].len ? rows[i].len : 1);
        struct record r = { .kind = RECORD_COUNTER,
                            .counter = { { copy, (uint32_t)rows[i].len }, i } };
        char expected[128];

        memcpy(copy, rows[i].text, rows[i].len);
        snprintf(expected, sizeof(expected), "{\"kind\":\"counter\",\"name\":\"%s\",\"value\":%zu}",
                 rows[i].expected, i);
        assert_json(&r, expected);
        test_free(copy);
    }
}

static void types(void **state)
{
    static const uint8_t body[] = { 0, 0x9a, 0xff };
    struct record flow = { .kind = RECORD_FLOW,
                           .flow = { .id = UINT32_MAX,
                                     .transport = 255,
                                     .client = { 4, { 10, 0, 0, 1 } },
                                     .client_port = UINT16_MAX,
                                     .frame = UINT64_MAX,
                                     .time = INT64_MIN + 1 } };
    struct record untimed = { .kind = RECORD_NAME, .name = { .time = TIME_NONE } };
    struct record credential = { .kind = RECORD_CREDENTIAL,
                                 .credential = { .valid = true, .body = { body, 3 } } };
    struct record none = { .kind = 77 };

    (void)state;
    assert_json(&flow, "{\"kind\":\"flow\",\"id\":4294967295,\"transport\":255,\"client\":"
                       "\"10.0.0.1\",\"server\":null,\"client_port\":65535,\"server_port\":0,"
                       "\"frame\":18446744073709551615,\"time\":-9223372036854775807}");
    assert_json(&untimed, "{\"kind\":\"name\",\"event\":0,\"parent\":0,\"name\":\"\",\"object\":0,"
                          "\"operation\":0,\"time\":null}");
    assert_json(
        &credential,
        "{\"kind\":\"credential\",\"id\":0,\"flavor\":0,\"valid\":true,\"uid\":0,\"gid\":0,"
        "\"stamp\":0,\"gids\":\"\",\"machine\":\"\",\"gss_service\":0,\"body\":\"009aff\"}");
    assert_json(&none, "{\"kind\":\"unknown\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
