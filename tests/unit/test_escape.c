/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/escape.h"

/* In any room stands as much as fits, and no part of a character or an escape. */
static void cuts(const char *name, const char *entry)
{
    struct bytes bytes = { (const uint8_t *)name, (uint32_t)strlen(name) };
    size_t whole = strlen(entry), before = 0;
    struct buf back = { 0 };
    char text[64];

    for (size_t size = 1; size <= whole + 2; size++) {
        memset(text, '?', sizeof(text));
        assert_ptr_equal(escape_to(text, size, bytes, false), text);
        assert_true(strlen(text) < size && strlen(text) >= before);
        before = strlen(text);
        assert_memory_equal(text, entry, before);
        assert_int_equal(text[size], '?');
        back.len = 0;
        assert_int_equal(unescape_name(text, before, &back), 0);
        assert_true(back.len <= bytes.len);
        assert_memory_equal(back.len ? back.data : (void *)"", name, back.len);
    }
    assert_int_equal(before, whole);
    buf_free(&back);
}

/* Escaping: printable, invertible, and no two names the same. */
static void escapes(void **state)
{
    static const struct {
        const char *name, *entry;
    } cases[] = {
        { "plain", "plain" },
        { "", "" },
        { "a b", "a b" },
        { "\\", "\\\\" },
        { "\\x41", "\\\\x41" },
        { "a/b", "a\\x2fb" },
        { "\x7f\x1f\n", "\\x7f\\x1f\\x0a" },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\xc2\x85", "\\xc2\\x85" },                   /* a C1 control */
        { "\xc0\xaf", "\\xc0\\xaf" },                   /* overlong */
        { "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },          /* overlong */
        { "\xed\xa0\x80", "\\xed\\xa0\\x80" },          /* a surrogate */
        { "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond Unicode */
        { "\xe2\x82", "\\xe2\\x82" },                   /* cut */
        { "\xff", "\\xff" },
    };
    struct buf out = { 0 }, back = { 0 };
    uint32_t random = 3;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        out.len = back.len = 0;
        assert_int_equal(escape_name((struct bytes){ (const uint8_t *)cases[i].name,
                                                     (uint32_t)strlen(cases[i].name) },
                                     false, &out),
                         0);
        assert_int_equal(out.len, strlen(cases[i].entry));
        assert_memory_equal(out.len ? out.data : (void *)"", cases[i].entry, out.len);
        cuts(cases[i].name, cases[i].entry);
    }
    for (int round = 0; round < 200000; round++) {
        uint8_t name[8];
        struct bytes bytes = { name, (uint32_t)(round % 9) };

        for (uint32_t i = 0; i < bytes.len; i++) {
            static const uint8_t likely[] = "\\x/2f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0";

            random = random * 1103515245 + 12345;
            name[i] = random & 0x40000000 ? (uint8_t)(random >> 16)
                                          : likely[(random >> 16) % (sizeof(likely) - 1)];
        }
        for (int is_path = 0; is_path < 2; is_path++) {
            out.len = back.len = 0;
            assert_int_equal(escape_name(bytes, is_path, &out), 0);
            assert_int_equal(unescape_name((const char *)out.data, out.len, &back), 0);
            assert_int_equal(back.len, bytes.len);
            assert_memory_equal(back.len ? back.data : name, name, back.len);
            for (size_t i = 0; i < out.len; i++) {
                assert_true(out.data[i] >= 0x20 && out.data[i] != 0x7f);
                assert_true(is_path || out.data[i] != '/');
            }
        }
    }
    buf_free(&out);
    buf_free(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(escapes) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
