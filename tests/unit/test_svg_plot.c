/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ticks of axes, and plots of good, odd and hostile series.
 *
 *     test_svg_plot            the tests
 *     test_svg_plot --print N  plot N of |samples|, for those who have an XML parser or eyes
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "show/markup.h"
#include "show/svg_plot.h"
#include "show/svg_plot_axis.h"

static const char hostile[] =
    "</text><script>alert(1)</script>&amp;\"'\x01\x7f\xff\xc0\xaf\xef\xbf\xbf\n\\ é";

static const double few_x[] = { 1, 2, 4, 8, 16 }, few_y[] = { 10, 19, 33, 40, 41 },
                    few_z[] = { 8, 9, 10, 11, 12 };

static const struct plot_series good_series[] = {
    { "object", PLOT_LINE, 0, true, few_x, few_y, 5 },
    { "fine", PLOT_STEP, 1, true, few_x, few_z, 5 },
};
static const struct plot_series odd_series[] = {
    { hostile, PLOT_LINE, 2, true, few_x, few_y, 5 },
    { "nothing", PLOT_LINE, 3, true, NULL, NULL, 0 },
    { "one", PLOT_STEP, 4, false, few_x, few_y, 1 },
    { hostile, PLOT_SCATTER, 5, false, few_x, few_z, 5 },
    { NULL, PLOT_LINE, 0, true, few_x, few_z, 5 },
    { "", PLOT_LINE, 1, true, few_x, few_z, 5 },
};
static const struct plot_mark good_marks[] = { { 30, false, "the trace's" }, { 6, true, "six" } };
static const struct plot_mark odd_marks[] = { { 3, false, hostile }, { 16, true, hostile } };

static const struct plot_panel good_panels[] = {
    { { "Throughput (operations/s)", PLOT_LINEAR, PLOT_NUMBER, true },
      good_series,
      2,
      good_marks,
      2 },
    { { "Latency", PLOT_LOG10, PLOT_SECONDS, false }, good_series, 2, NULL, 0 },
};
static const struct plot_panel odd_panels[] = {
    { { hostile, PLOT_LINEAR, PLOT_BYTES, false }, odd_series, 6, odd_marks, 2 },
    { { "nothing at all", PLOT_LOG2, PLOT_NUMBER, false }, odd_series + 1, 1, NULL, 0 },
    { { "no series", PLOT_LINEAR, PLOT_NUMBER, false }, NULL, 0, NULL, 0 },
};

static const struct plot samples[] = {
    { "A good plot",
      "measured latencies",
      { "Window", PLOT_LOG2, PLOT_NUMBER, false },
      good_panels,
      2,
      0,
      0,
      true },
    { hostile,
      "a subtitle that is too long for one line, with words and more words and more words and "
      "more words, and ends in "
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaa",
      { hostile, PLOT_LOG10, PLOT_SECONDS, false },
      odd_panels,
      3,
      400,
      80,
      true },
};

static const char *draw(const struct plot *plot, struct buf *to)
{
    struct err err = { 0 };

    to->len = 0;
    if (svg_plot(plot, to, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(buf_append(to, "", 1), 0);
    return (const char *)to->data;
}

static unsigned count(const char *text, const char *piece)
{
    unsigned n = 0;

    for (; (text = strstr(text, piece)); text++)
        n++;
    return n;
}

static void draws(void **state)
{
    struct buf buf = { 0 };
    const char *text = draw(&samples[0], &buf);

    (void)state;
    assert_int_equal(strncmp(text, "<svg xmlns=", 11), 0);
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    assert_int_equal(count(text, "<title>object: "), 10);
    assert_int_equal(count(text, "<title>fine: "), 10);
    assert_non_null(strstr(text, "<title>object: 19 at 2</title>"));
    assert_non_null(strstr(text, "<title>object: 33 s at 4</title>"));
    assert_int_equal(count(text, ">object</text>"), 3); /* legend and one in each panel */
    assert_non_null(strstr(text, ">Throughput (operations/s)</text>"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    buf_free(&buf);
}

static void hostile_texts_stay_texts(void **state)
{
    struct buf buf = { 0 };
    const char *text = draw(&samples[1], &buf);

    (void)state;
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "nan"));
    assert_non_null(strstr(text, "&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;"
                                 "&#39;\\x01\\x7f\\xff\\xc0\\xaf?\\x0a\\ \xc3\xa9"));
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p >= 0x20 || *p == '\n');
    assert_non_null(strstr(text, "nothing (no data)"));
    assert_int_equal(count(text, ">no data</text>"), 2);
    assert_int_equal(count(text, "<title>one: "), 1);
    buf_free(&buf);
}

/* A series with one bad value on an axis of that scale is refused; the same with a good one not. */
static void refuses(void **state)
{
    static const struct {
        double value;
        uint8_t scale;
        bool good;
    } cases[] = {
        { NAN, PLOT_LINEAR, false },     { INFINITY, PLOT_LINEAR, false },
        { -INFINITY, PLOT_LOG2, false }, { 1e101, PLOT_LINEAR, false },
        { -5, PLOT_LINEAR, true },       { 0, PLOT_LINEAR, true },
        { 0, PLOT_LOG10, false },        { -1, PLOT_LOG2, false },
        { 1e-9, PLOT_LOG10, true },      { 1e99, PLOT_LINEAR, true },
    };
    struct buf buf = { 0 };
    struct err err;

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (unsigned on_x = 0; on_x < 3; on_x++) {
            const double values[] = { 1, cases[i].value, 2 }, fine[] = { 1, 2, 3 };
            const struct plot_series series = {
                "s", PLOT_LINE, 0, true, on_x == 1 ? values : fine, on_x ? fine : values, 3
            };
            const struct plot_mark mark = { cases[i].value, on_x == 1, "m" };
            const struct plot_axis axis = { "a", cases[i].scale, PLOT_NUMBER, false };
            const struct plot_panel panel = { axis, &series, on_x < 2, &mark, on_x == 2 };
            const struct plot plot = { "t", NULL, axis, &panel, 1, 0, 0, true };

            assert_int_equal(svg_plot(&plot, &buf, &err), cases[i].good ? 0 : -ERR_USAGE);
        }
    buf_free(&buf);
}

static void refuses_too_many(void **state)
{
    struct plot plot = samples[0];
    struct plot_panel panel = good_panels[0];
    struct plot_series series = good_series[0];
    struct buf buf = { 0 };
    struct err err;

    (void)state;
    plot.panel_count = 0;
    assert_int_equal(svg_plot(&plot, &buf, &err), -ERR_USAGE);
    plot.panel_count = PLOT_PANELS_MAX + 1;
    assert_int_equal(svg_plot(&plot, &buf, &err), -ERR_USAGE);
    plot.panel_count = 1;
    plot.panels = &panel;
    panel.series_count = PLOT_SERIES_MAX + 1;
    assert_int_equal(svg_plot(&plot, &buf, &err), -ERR_USAGE);
    panel.series_count = 1;
    panel.series = &series;
    series.style = PLOT_STYLES;
    assert_int_equal(svg_plot(&plot, &buf, &err), -ERR_USAGE);
    assert_int_equal(buf.len, 0);
    buf_free(&buf);
}

static void check_ticks(const struct plot_axis *axis, double low, double high, uint32_t wanted)
{
    struct plot_ticks t;

    plot_ticks(&t, axis, low, high, wanted);
    if (t.count < 2 || t.count > 3 * wanted + 3 || t.low > low || t.high < high || t.low >= t.high)
        fail_msg("scale %u unit %u: %g to %g, %u wanted: %u ticks, %g to %g", axis->scale,
                 axis->unit, low, high, wanted, t.count, t.low, t.high);
    for (uint32_t i = 1; i < t.count; i++)
        if (t.at[i] <= t.at[i - 1] || strcmp(t.text[i], t.text[i - 1]) == 0)
            fail_msg("scale %u unit %u: %g to %g: %s is followed by %s", axis->scale, axis->unit,
                     low, high, t.text[i - 1], t.text[i]);
    assert_true(fabs(plot_place(axis, &t, t.low)) < 1e-9);
    assert_true(fabs(plot_place(axis, &t, t.high) - 1) < 1e-9);
    assert_true(plot_place(axis, &t, low) >= 0 && plot_place(axis, &t, high) <= 1);
    if (axis->zero)
        assert_true(t.low <= 0 && t.high >= 0);
}

static double random_value(void)
{
    return ((double)rand() / RAND_MAX + 0.1) * pow(10, rand() % 24 - 9);
}

static void ticks_cover(void **state)
{
    (void)state;
    srand(1);
    for (unsigned i = 0; i < 30000; i++) {
        const struct plot_axis axis = { "a", (uint8_t)(i % 3), (uint8_t)(rand() % 3),
                                        i % 3 == PLOT_LINEAR && rand() % 2 };
        double a = random_value(), b = rand() % 9 ? random_value() : a;

        if (axis.scale == PLOT_LINEAR && rand() % 3 == 0)
            a = -a;
        check_ticks(&axis, fmin(a, b), fmax(a, b), 2 + (uint32_t)rand() % 11);
    }
    check_ticks(&(struct plot_axis){ "a", PLOT_LINEAR, PLOT_NUMBER, false }, 0, 0, 5);
    check_ticks(&(struct plot_axis){ "a", PLOT_LINEAR, PLOT_NUMBER, true }, 0, 0, 5);
}

static void ticks_are_nice(void **state)
{
    static const struct {
        uint8_t scale, unit;
        double low, high;
        uint32_t wanted;
        const char *texts;
    } cases[] = {
        { PLOT_LINEAR, PLOT_NUMBER, 0, 9300, 5, "0|2,000|4,000|6,000|8,000|10,000|" },
        { PLOT_LINEAR, PLOT_NUMBER, 0, 0.3, 5, "0|0.1|0.2|0.3|" },
        { PLOT_LINEAR, PLOT_NUMBER, -1.2e6, 1.1e6, 5,
          "-1,500,000|-1,000,000|-500,000|0|500,000|1,000,000|1,500,000|" },
        { PLOT_LINEAR, PLOT_NUMBER, 0, 3e7, 3, "0 M|10 M|20 M|30 M|" },
        { PLOT_LINEAR, PLOT_SECONDS, 0, 5 * 3600.0, 5, "0 h|1 h|2 h|3 h|4 h|5 h|" },
        { PLOT_LINEAR, PLOT_SECONDS, 0, 0.00025, 5, "0 µs|50 µs|100 µs|150 µs|200 µs|250 µs|" },
        { PLOT_LINEAR, PLOT_BYTES, 0, 3 * 0x1p20, 6,
          "0 MiB|0.5 MiB|1 MiB|1.5 MiB|2 MiB|2.5 MiB|3 MiB|" },
        { PLOT_LOG2, PLOT_NUMBER, 1, 262144, 9,
          "1|4|16|64|256|1,024|4,096|16,384|65,536|262,144|" },
        { PLOT_LOG2, PLOT_NUMBER, 1, 1, 9, "1|2|" },
        { PLOT_LOG10, PLOT_SECONDS, 0.0002, 0.003, 9, "200 µs|500 µs|1 ms|2 ms|5 ms|" },
        { PLOT_LOG10, PLOT_SECONDS, 0.00002, 300, 9,
          "10 µs|100 µs|1 ms|10 ms|100 ms|1 s|10 s|100 s|1,000 s|" },
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct plot_axis axis = { "a", cases[i].scale, cases[i].unit, false };
        struct plot_ticks t;
        char texts[512] = "";

        plot_ticks(&t, &axis, cases[i].low, cases[i].high, cases[i].wanted);
        for (uint32_t k = 0; k < t.count; k++)
            snprintf(texts + strlen(texts), sizeof(texts) - strlen(texts), "%s|", t.text[k]);
        assert_string_equal(texts, cases[i].texts);
    }
}

static int print(const char *which)
{
    unsigned long n = strtoul(which, NULL, 10);
    struct buf buf = { 0 };
    struct err err;

    if (n >= sizeof(samples) / sizeof(*samples) || svg_plot(&samples[n], &buf, &err) < 0)
        return 1;
    fwrite(buf.data, 1, buf.len, stdout);
    buf_free(&buf);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws),       cmocka_unit_test(hostile_texts_stay_texts),
        cmocka_unit_test(refuses),     cmocka_unit_test(refuses_too_many),
        cmocka_unit_test(ticks_cover), cmocka_unit_test(ticks_are_nice),
    };

    if (argc == 3 && strcmp(argv[1], "--print") == 0)
        return print(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
