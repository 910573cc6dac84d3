/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON (base/json.h), and what goes to a terminal (base/escape.h). */
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
        struct json to_file = { .out = file }, to_buf = { .to = &out };

        for (int k = 0; k < 2; k++) {
            struct json *j = k ? &to_buf : &to_file;

            json_array(j, NULL);
            json_text(j, NULL, rows[i].text);
            json_name(j, NULL, text);
            json_array_end(j);
            assert_false(j->failed);
        }
        putc('|', file);
        escape_print(file, rows[i].text);
        fclose(file);
        snprintf(expected, sizeof(expected), "[\"%s\",\"%s\"]|%s", rows[i].json, rows[i].name,
                 rows[i].line);
        assert_string_equal(room, expected);
        *strrchr(expected, '|') = '\0';
        assert_int_equal(buf_append(&out, "", 1), 0);
        assert_string_equal((char *)out.data, expected);
        buf_free(&out);
        free(room);
    }
}

/* What |write| writes. */
static void check(void (*write)(struct json *j), bool indented, const char *expected)
{
    struct buf out = { 0 };
    struct json j = { .to = &out, .indented = indented };

    write(&j);
    assert_false(j.failed);
    assert_int_equal(j.depth, 0);
    assert_int_equal(buf_append(&out, "", 1), 0);
    assert_string_equal((char *)out.data, expected);
    buf_free(&out);
}

static void write_scalars(struct json *j)
{
    static const uint8_t bytes[] = { 0x00, 0xff, 0x1a };
    uint8_t many[100];

    memset(many, 0xab, sizeof(many));
    json_array(j, NULL);
    json_text(j, NULL, NULL);
    json_text(j, NULL, "");
    json_name(j, NULL, (struct bytes){ NULL, 0 });
    json_name(j, NULL, (struct bytes){ bytes, 1 });
    json_hex(j, NULL, (struct bytes){ bytes, sizeof(bytes) });
    json_hex(j, NULL, (struct bytes){ NULL, 0 });
    json_hex(j, NULL, (struct bytes){ many, 63 });
    json_u64(j, NULL, 0);
    json_u64(j, NULL, UINT64_MAX);
    json_i64(j, NULL, INT64_MIN);
    json_i64(j, NULL, INT64_MAX);
    json_i64(j, NULL, -1);
    json_bool(j, NULL, true);
    json_bool(j, NULL, false);
    json_null(j, NULL);
    json_number(j, NULL, "%.6g", 1.5);
    json_array_end(j);
    json_end(j);
}

static void scalars(void **state)
{
    char expected[512];
    int len =
        snprintf(expected, sizeof(expected), "[null,\"\",\"\",\"\\\\x00\",\"00ff1a\",\"\",\"");

    (void)state;
    for (int i = 0; i < 63; i++)
        len += snprintf(expected + len, sizeof(expected) - (size_t)len, "ab");
    snprintf(expected + len, sizeof(expected) - (size_t)len,
             "\",0,18446744073709551615,-9223372036854775808,9223372036854775807,-1,true,false,"
             "null,1.5]\n");
    check(write_scalars, false, expected);
}

static void write_nested(struct json *j)
{
    json_object(j, NULL);
    json_object(j, "empty");
    json_object_end(j);
    json_array(j, "none");
    json_array_end(j);
    json_array(j, "rows");
    for (int i = 0; i < 2; i++) {
        json_one_line(j);
        json_object(j, NULL);
        json_u64(j, "a", (uint64_t)i);
        json_array(j, "b");
        json_u64(j, NULL, 1);
        json_u64(j, NULL, 2);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
    json_text(
        j, "a key \" of more than eighty characters, which does not fit where short keys are put",
        "x");
    json_object(j, "last");
    json_bool(j, "ends", true);
    json_object_end(j);
    json_object_end(j);
    json_end(j);
    json_u64(j, NULL, 7); /* another text */
    json_end(j);
}

static void nested(void **state)
{
    (void)state;
    check(write_nested, false,
          "{\"empty\":{},\"none\":[],\"rows\":[{\"a\":0,\"b\":[1,2]},{\"a\":1,\"b\":[1,2]}],"
          "\"a key \\\" of more than eighty characters, which does not fit where short keys are"
          " put\":\"x\",\"last\":{\"ends\":true}}\n7\n");
    check(write_nested, true,
          "{\n  \"empty\": {},\n  \"none\": [],\n  \"rows\": [\n"
          "    { \"a\": 0, \"b\": [ 1, 2 ] },\n    { \"a\": 1, \"b\": [ 1, 2 ] }\n  ],\n"
          "  \"a key \\\" of more than eighty characters, which does not fit where short keys are"
          " put\": \"x\",\n  \"last\": {\n    \"ends\": true\n  }\n}\n7\n");
}

static void write_broken(struct json *j)
{
    json_object(j, NULL);
    json_u64(j, "a", 1);
    json_break(j);
    json_array(j, "rows");
    for (uint64_t i = 0; i < 2; i++) {
        json_break(j);
        json_u64(j, NULL, i);
    }
    json_array_end(j);
    json_object_end(j);
}

static void broken(void **state)
{
    (void)state;
    check(write_broken, false, "{\"a\":1,\n\"rows\":[\n0,\n1]}");
}

static void too_long(void **state)
{
    struct buf out = { 0 };
    struct json j = { .to = &out };

    (void)state;
    json_number(&j, NULL, "%070d", 1);
    json_u64(&j, NULL, 1);
    assert_true(j.failed);
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
        cmocka_unit_test(texts),  cmocka_unit_test(scalars),  cmocka_unit_test(nested),
        cmocka_unit_test(broken), cmocka_unit_test(too_long), cmocka_unit_test(characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
