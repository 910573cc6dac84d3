/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings of JSON (base/json.h), and what goes to a terminal (base/escape.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/utf8.h"

static void texts(void **state)
{
    static const struct {
        const char *text, *json, *name, *line;
    } rows[] = {
        { "", "", "", "" },
        { "plain", "plain", "plain", "plain" },
        { "a\"b\\c/d", "a\\\"b\\\\c/d", "a\\\"b\\\\\\\\c/d", "a\"b\\c/d" },
        { "\x01\n\x7f", "\\u0001\\u000a\\u007f", "\\\\x01\\\\x0a\\\\x7f", "\\x01\n\\x7f" },
        { "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac",
          "\xc3\xa9\xe2\x82\xac" },
        { "\xc2\x9b", "\\u009b", "\\\\xc2\\\\x9b", "\\xc2\\x9b" },
        { "\xe2\x80\xae", "\\u202e", "\\\\xe2\\\\x80\\\\xae", "\\xe2\\x80\\xae" },
        { "\xe2\x80\xa8", "\\u2028", "\\\\xe2\\\\x80\\\\xa8", "\\xe2\\x80\\xa8" },
        { "\xd8\x9c", "\\u061c", "\\\\xd8\\\\x9c", "\\xd8\\x9c" },
        { "a\xff", "a\\\\xff", "a\\\\xff", "a\\xff" },
        { "\xed\xb2\x80", "\\\\xed\\\\xb2\\\\x80", "\\\\xed\\\\xb2\\\\x80",
          "\\xed\\xb2\\x80" }, /* a surrogate */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct bytes text = { (const uint8_t *)rows[i].text, (uint32_t)strlen(rows[i].text) };
        char *room = NULL, expected[512];
        struct buf out = { 0 };
        size_t size;
        FILE *file = open_memstream(&room, &size);

        assert_int_equal(json_put_text(&out, text), 0);
        assert_int_equal(json_put(&out, " "), 0);
        assert_int_equal(json_put_name(&out, text), 0);
        assert_int_equal(buf_append(&out, "", 1), 0);
        json_text(file, rows[i].text);
        putc(' ', file);
        json_name(file, rows[i].text);
        putc('|', file);
        escape_print(file, rows[i].text);
        fclose(file);
        snprintf(expected, sizeof(expected), "\"%s\" \"%s\"|%s", rows[i].json, rows[i].name,
                 rows[i].line);
        assert_string_equal(room, expected);
        *strrchr(expected, '|') = '\0';
        assert_string_equal((char *)out.data, expected);
        buf_free(&out);
        free(room);
    }
}

static void others(void **state)
{
    static const uint8_t bytes[] = { 0x00, 0xff, 0x1a };
    struct buf out = { 0 };
    char room[128] = "";
    FILE *file = fmemopen(room, sizeof(room), "w");

    (void)state;
    json_text(file, NULL);
    json_name(file, NULL);
    json_hex(file, bytes, sizeof(bytes));
    fclose(file);
    assert_string_equal(room, "nullnull\"00ff1a\"");
    assert_int_equal(json_put_hex(&out, (struct bytes){ bytes, sizeof(bytes) }), 0);
    assert_int_equal(json_put_text(&out, (struct bytes){ bytes, 1 }), 0);
    assert_int_equal(json_put_text(&out, (struct bytes){ NULL, 0 }), 0);
    assert_int_equal(buf_append(&out, "", 1), 0);
    assert_string_equal((char *)out.data, "\"00ff1a\"\"\\u0000\"\"\"");
    buf_free(&out);
}

/* Unicode's bidirectional controls (UAX #9), and what is a line's end for some. */
static void characters(void **state)
{
    static const uint32_t hidden[] = { 0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b,
                                       0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069 };
    size_t next = 0;

    (void)state;
    for (uint32_t code = 0; code < 0x3000; code++) {
        bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);

        if (next < sizeof(hidden) / sizeof(*hidden) && code == hidden[next]) {
            control = true;
            next++;
        }
        assert_int_equal(utf8_is_shown(code), !control);
    }
    assert_int_equal(next, sizeof(hidden) / sizeof(*hidden));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(others),
        cmocka_unit_test(characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
