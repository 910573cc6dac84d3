/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, times and texts as people write and read them (engine/base/values.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/values.h"

#include <string.h>

#define BAD INT64_MIN

static void durations(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        { "0", 0 },
        { "1", 1000000000 },
        { "900s", INT64_C(900000000000) },
        { "1.5ms", 1500000 },
        { "0.000000001", 1 },
        { "0.1us", 100 },
        { "250us", 250000 },
        { "7ns", 7 },
        { "2m", INT64_C(120000000000) },
        { "1.5h", INT64_C(5400000000000) },
        { "3.", INT64_C(3000000000) },
        { "", BAD },
        { "s", BAD },
        { ".5", BAD },
        { "-1", BAD },
        { "1 s", BAD },
        { "1x", BAD },
        { "1.2.3", BAD },
        { "99999999999999999999", BAD },
        { "9999999999h", BAD },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t ns = 77;
        bool good = parse_duration(cases[i].text, &ns);

        assert_int_equal(good, cases[i].ns != BAD);
        if (good)
            assert_int_equal(ns, cases[i].ns);
    }
}

static void times(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        { "1700000000", INT64_C(1700000000000000000) },
        { "1700000000.000000001", INT64_C(1700000000000000001) },
        { "2023-11-14T22:13:20", INT64_C(1700000000000000000) },
        { "2023-11-14 22:13:20.5", INT64_C(1700000000500000000) },
        { "2023-11-14T22:13:20.123456789Z", INT64_C(1700000000123456789) },
        { "2023-11-14 22:13", INT64_C(1699999980000000000) },
        { "2023-11-14", INT64_C(1699920000000000000) },
        { "2023-11-14Z", INT64_C(1699920000000000000) },
        { "2023-11-14 22:13:99", BAD },
        { "2023-11-14 22:13:20x", BAD },
        { "2023-13-14", BAD },
        { "2024-02-29", INT64_C(1709164800000000000) },
        { "2023-02-29", BAD },
        { "2023-04-31 10:00", BAD },
        { "1969-12-31 23:59:59.25", INT64_C(-750000000) },
        { "2262-04-11 23:47:16", INT64_C(9223372036000000000) },
        { "2262-04-11 23:47:16.9", BAD }, /* beyond 64 bits of ns */
        { "9999-01-01", BAD },
        { "1600-01-01", BAD },
        { "yesterday", BAD },
        { "", BAD },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int64_t ns = 77;
        bool good = parse_time(cases[i].text, &ns);

        assert_int_equal(good, cases[i].ns != BAD);
        if (good)
            assert_int_equal(ns, cases[i].ns);
    }
}

static void sizes_and_numbers(void **state)
{
    uint64_t value;

    (void)state;
    assert_true(parse_size("4096", &value) && value == 4096);
    assert_true(parse_size("64k", &value) && value == 65536);
    assert_true(parse_size("64K", &value) && value == 65536);
    assert_true(parse_size("4M", &value) && value == 4u << 20);
    assert_true(parse_size("2G", &value) && value == UINT64_C(2) << 30);
    assert_false(parse_size("4X", &value) || parse_size("", &value) || parse_size("-1", &value) ||
                 parse_size("4kk", &value) || parse_size("99999999999G", &value));
    assert_true(parse_number("0x1f", &value) && value == 31);
    assert_true(parse_number("18446744073709551615", &value) && value == UINT64_MAX);
    assert_false(parse_number("18446744073709551616", &value) || parse_number("-1", &value) ||
                 parse_number("1x", &value) || parse_number("", &value) ||
                 parse_number(" 1", &value));
}

static void texts(void **state)
{
    char text[VALUE_TEXT_MAX];

    (void)state;
    assert_string_equal(time_text(INT64_C(1700000000123456789), text),
                        "2023-11-14 22:13:20.123456789");
    assert_string_equal(time_text(0, text), "1970-01-01 00:00:00.000000000");
    assert_string_equal(time_text(-1, text), "1969-12-31 23:59:59.999999999");
    assert_string_equal(time_text(INT64_MIN, text), "1677-09-21 00:12:43.145224192");
    assert_string_equal(time_text(INT64_MAX, text), "2262-04-11 23:47:16.854775807");
    static const struct {
        int64_t ns;
        const char *text;
    } rough[] = { { 0, "0ns" },
                  { 12, "12ns" },
                  { 994, "990ns" },
                  { 996, "1.0us" },
                  { 1234, "1.2us" },
                  { 12567, "13us" },
                  { 99600, "100us" },
                  { 123456, "120us" },
                  { 1234567, "1.2ms" },
                  { 9960000, "10ms" },
                  { -1234567, "-1.2ms" },
                  { INT64_C(61400000000), "61s" },
                  { INT64_C(3700000000000), "3700s" } };

    for (size_t i = 0; i < sizeof(rough) / sizeof(*rough); i++)
        assert_string_equal(duration_rough_text(rough[i].ns, text), rough[i].text);
    duration_rough_text(INT64_MIN, text);
    assert_string_equal(duration_text(0, text), "0ns");
    assert_string_equal(duration_text(999, text), "999ns");
    assert_string_equal(duration_text(1000, text), "1.000us");
    assert_string_equal(duration_text(9999, text), "9.999us");
    assert_string_equal(duration_text(99996, text), "100.0us");
    assert_string_equal(duration_text(123456, text), "123.5us");
    assert_string_equal(duration_text(1234567, text), "1.235ms");
    assert_string_equal(duration_text(INT64_C(61000000000), text), "61.00s");
    assert_string_equal(duration_text(-1500, text), "-1.500us");
    assert_string_equal(size_text(0, text), "0 B");
    assert_string_equal(size_text(1023, text), "1023 B");
    assert_string_equal(size_text(1536, text), "1.5 KiB");
    assert_string_equal(size_text(UINT64_MAX, text), "16.0 EiB");
    assert_string_equal(count_text(0, text), "0");
    assert_string_equal(count_text(999, text), "999");
    assert_string_equal(count_text(1000, text), "1,000");
    assert_string_equal(count_text(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations),
        cmocka_unit_test(times),
        cmocka_unit_test(sizes_and_numbers),
        cmocka_unit_test(texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
