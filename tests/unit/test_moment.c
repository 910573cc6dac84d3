/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times as people type them, against a trace of one day, of two days and of many, and without
 * times; and texts that are not times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/values.h"
#include "store/moment.h"

#include <stdio.h>
#include <string.h>

/* first packet | last packet | what is typed | the time, or a part of the message */
static const struct {
    const char *first, *last, *typed, *expected;
} cases[] = {
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "10:03", "2026-11-21 10:03:00.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "10:03:20.5", "2026-11-21 10:03:20.500000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "9:59", "2026-11-21 09:59:00.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "23:59:59.123456789",
      "2026-11-21 23:59:59.123456789" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "10:03:20.1234567899",
      "2026-11-21 10:03:20.123456789" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "+5m", "2026-11-21 10:05:05.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "+1.5", "2026-11-21 10:00:06.500000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "+0", "2026-11-21 10:00:05.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "-30s", "2026-11-21 10:59:30.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "-2h", "2026-11-21 09:00:00.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "2026-11-22", "2026-11-22 00:00:00.000000000" },
    { "2026-11-21 10:00:05", "2026-11-21 11:00", "1700000000.25", "2023-11-14 22:13:20.250000000" },
    { "2026-11-21 23:50", "2026-11-22 00:10", "23:55", "2026-11-21 23:55:00.000000000" },
    { "2026-11-21 23:50", "2026-11-22 00:10", "00:05", "2026-11-22 00:05:00.000000000" },
    { "2026-11-21 23:50", "2026-11-22 00:10", "12:00", "on none of its days" },
    { "2026-11-21 10:00", "2026-11-22 10:00", "10:00", "on several of its days" },
    { "2026-11-21 10:00", "2026-11-22 10:00", "09:59", "2026-11-22 09:59:00.000000000" },
    { "2026-11-21 10:00", "2026-12-22 10:00", "09:59", "on several of its days" },
    { "1969-12-31 23:00", "1969-12-31 23:30", "23:15", "1969-12-31 23:15:00.000000000" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "24:00", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "10:60", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "10:03:60", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "10:3", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "10:03:", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "10:03x", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "10:", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", ":", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "2324", "+2324s for seconds after" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "20.5", "seconds since 1970" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "1970-01-02", "1970-01-02 00:00:00.000000000" },
    { "1970-01-01 00:00", "1970-01-01 11:00", "2324", "1970-01-01 00:38:44.000000000" },
    { NULL, NULL, "2324", "1970-01-01 00:38:44.000000000" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "moon", "not a time" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "+", "not a duration" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "-", "not a duration" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "+-5m", "not a duration" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "+5x", "not a duration" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "+99999999999999999999h", "not a duration" },
    { "2026-11-21 10:00", "2026-11-21 11:00", "+9223372036", "too far" },
    { NULL, NULL, "+5m", "packets have times" },
    { NULL, NULL, "10:03", "packets have times" },
    { NULL, NULL, "2026-11-21 10:03", "2026-11-21 10:03:00.000000000" },
};

static void as_typed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct moment_span span = { .known = cases[i].first != NULL };
        char text[VALUE_TEXT_MAX];
        struct err err = { 0 };
        int64_t ns = 0;
        int result;

        if (span.known) {
            assert_true(parse_time(cases[i].first, &span.first));
            assert_true(parse_time(cases[i].last, &span.last));
        }
        result = moment_parse(cases[i].typed, &span, &ns, &err);
        if (result == 0 && strcmp(time_text(ns, text), cases[i].expected) == 0)
            continue;
        if (result == -ERR_USAGE && strstr(err.text, cases[i].expected))
            continue;
        fail_msg("\"%s\": %s, not %s", cases[i].typed, result ? err.text : time_text(ns, text),
                 cases[i].expected);
    }
}

/* A hostile trace: its times are as far apart as they can be. */
static void any_span(void **state)
{
    const struct moment_span span = { true, INT64_MIN + 1, INT64_MAX };
    const struct moment_span last = { true, INT64_MAX, INT64_MAX };
    const struct moment_span first = { true, INT64_MIN + 1, INT64_MIN + 1 };
    struct err err;
    int64_t ns;

    (void)state;
    assert_int_equal(moment_parse("10:03", &span, &ns, &err), -ERR_USAGE);
    assert_int_equal(moment_parse("23:59:59", &last, &ns, &err), -ERR_USAGE);
    assert_int_equal(moment_parse("00:00", &first, &ns, &err), -ERR_USAGE);
    assert_int_equal(moment_parse("+5m", &last, &ns, &err), -ERR_USAGE);
    assert_int_equal(moment_parse("-5m", &first, &ns, &err), -ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_typed),
        cmocka_unit_test(any_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
