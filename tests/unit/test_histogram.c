/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 5000 };

static struct histogram h, other;
static int64_t values[MANY];
static uint64_t seed;

static uint64_t next_random(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 33;
}

/* Of all powers of two, up to 2^41. */
static int64_t any_value(void)
{
    return (int64_t)((next_random() << 12 | next_random() % 4096) >> next_random() % 44) %
           ((int64_t)1 << 42);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The oracle: all values, sorted.  The histogram's answer is not below, and above by 1.6 % at most.
 */
static void check_at(uint32_t count, double part)
{
    uint64_t rank = (uint64_t)ceill((long double)part * count - 1e-9L);
    int64_t true_value = values[rank ? rank - 1 : 0], got = histogram_at(&h, part);

    assert_true(got >= true_value);
    assert_true(got - true_value <= true_value / 64);
}

static void fill_both(uint32_t count)
{
    memset(&h, 0, sizeof(h));
    memset(&other, 0, sizeof(other));
    for (uint32_t i = 0; i < count; i++) {
        values[i] = any_value();
        histogram_add(i % 3 ? &h : &other, values[i]);
    }
    histogram_merge(&h, &other);
    qsort(values, count, sizeof(*values), by_value);
}

static void against_all_values(void **state)
{
    (void)state;
    for (int round = 0; round < 40; round++) {
        uint32_t count = round ? 1 + (uint32_t)next_random() % MANY : MANY;
        uint64_t sum = 0;

        fill_both(count);
        for (uint32_t i = 0; i < count; i++)
            sum += (uint64_t)values[i];
        assert_int_equal(h.count, count);
        assert_int_equal(h.sum, sum);
        assert_int_equal(h.least, values[0]);
        assert_int_equal(h.most, values[count - 1]);
        for (int i = 0; i <= 1000; i++)
            check_at(count, i / 1000.0);
    }
}

static void small_and_strange(void **state)
{
    (void)state;
    memset(&h, 0, sizeof(h));
    assert_int_equal(histogram_at(&h, 0.5), 0);
    for (int64_t i = 0; i < 128; i++) /* these are kept exactly */
        histogram_add(&h, i);
    for (int i = 1; i <= 128; i++)
        assert_int_equal(histogram_at(&h, i / 128.0), i - 1);

    memset(&h, 0, sizeof(h));
    histogram_add(&h, -5);
    histogram_add(&h, INT64_MAX);
    histogram_add(&h, (int64_t)1 << 42);
    assert_int_equal(histogram_at(&h, 0), -5);
    assert_int_equal(histogram_at(&h, 1), INT64_MAX);
    assert_int_equal(h.count, 3);
}

/* What came since a copy was made has the percentiles of what was added since. */
static void since(void **state)
{
    static struct histogram before, later;

    (void)state;
    fill_both(1000);
    before = h;
    histogram_since(&later, &h, &before);
    assert_int_equal(later.count, 0);
    assert_int_equal(histogram_at(&later, 0.5), 0);
    memset(&other, 0, sizeof(other));
    for (int i = 0; i < 500; i++) {
        int64_t value = any_value() / 3;

        histogram_add(&h, value);
        histogram_add(&other, value);
    }
    histogram_since(&later, &h, &before);
    assert_int_equal(later.count, other.count);
    assert_int_equal(later.sum, other.sum);
    assert_true(later.least <= other.least && later.most >= other.most);
    assert_true(later.most - other.most <= other.most / 64);
    for (int i = 1; i < 100; i++)
        assert_int_equal(histogram_at(&later, i / 100.0), histogram_at(&other, i / 100.0));
}

/* Bounds that are limits of slots: exact. */
static void buckets(void **state)
{
    const int64_t bounds[] = { 9, 1023, ((int64_t)1 << 20) - 1, ((int64_t)1 << 30) - 1 };
    uint64_t counts[5], wanted[5] = { 0 };

    (void)state;
    fill_both(MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        unsigned b = 0;

        while (b < 4 && values[i] > bounds[b])
            b++;
        wanted[b]++;
    }
    histogram_buckets(&h, bounds, 4, counts);
    assert_memory_equal(counts, wanted, sizeof(wanted));
}

/* 0.07 * 100 is 7.000000000000001. */
static void exact_ranks(void **state)
{
    (void)state;
    memset(&h, 0, sizeof(h));
    for (int i = 1; i <= 100; i++)
        histogram_add(&h, i);
    for (int i = 1; i <= 100; i++)
        assert_int_equal(histogram_at(&h, i / 100.0), i);
}

struct line {
    double value, percentile, inverse;
    uint64_t count;
    int fields;
};

/* A line with the name of two values in brackets. */
static void footer(const char *line, const char *format, double a, double b)
{
    double got[2];

    assert_int_equal(sscanf(line, format, &got[0], &got[1]), 2);
    assert_true(fabs(got[0] - a) <= 0.001 + a * 1e-9);
    assert_true(b < 0 || fabs(got[1] - b) <= 0.001 + b * 0.02);
}

/* A line of the table: its values fit each other, the line before, and the values added. */
static void check_line(const struct line *line, const struct line *before, uint32_t count)
{
    uint64_t within = 0;

    assert_true(line->value >= before->value);
    assert_true(line->percentile >= before->percentile);
    assert_true(line->count >= before->count);
    for (uint32_t i = 0; i < count; i++)
        within += (double)values[i] / 1000 <= line->value + 0.0005;
    assert_true(within >= line->count); /* three digits may hide a few of the next slot */
    assert_true((double)line->count >= line->percentile * count - 1e-6);
    if (line->fields == 4)
        assert_true(fabs(line->inverse - 1 / (1 - line->percentile)) < 0.01);
    else
        assert_true(line->percentile == 1 && line->count == count);
}

/* The text by the rules of HdrHistogram's percentile output. */
static void as_text(void **state)
{
    double mean = 0, square = 0;
    struct line line = { 0 }, before = { 0 };
    uint32_t lines = 0;
    char text[256];
    FILE *file = tmpfile();

    (void)state;
    fill_both(MANY);
    for (int i = 0; i < MANY; i++)
        mean += (double)values[i] / MANY;
    for (int i = 0; i < MANY; i++)
        square += ((double)values[i] - mean) * ((double)values[i] - mean) / MANY;
    histogram_write(&h, 1000, file);
    rewind(file);
    assert_non_null(fgets(text, sizeof(text), file));
    assert_string_equal(text, "       Value     Percentile TotalCount 1/(1-Percentile)\n");
    assert_non_null(fgets(text, sizeof(text), file));
    assert_string_equal(text, "\n");
    while (fgets(text, sizeof(text), file) && text[0] != '#') {
        line.fields = sscanf(text, "%lf %lf %" SCNu64 " %lf", &line.value, &line.percentile,
                             &line.count, &line.inverse);
        assert_true(line.fields >= 3);
        check_line(&line, &before, MANY);
        before = line;
        lines++;
    }
    assert_int_equal(line.fields, 3);
    assert_true(lines > 40);
    footer(text, "#[Mean = %lf, StdDeviation = %lf]", mean / 1000, sqrt(square) / 1000);
    assert_non_null(fgets(text, sizeof(text), file));
    footer(text, "#[Max = %lf, Total count = %lf]", (double)values[MANY - 1] / 1000, MANY);
    assert_non_null(fgets(text, sizeof(text), file));
    footer(text, "#[Buckets = %lf, SubBuckets = %lf]", HISTOGRAM_POWERS, HISTOGRAM_PARTS);
    assert_null(fgets(text, sizeof(text), file));
    fclose(file);
}

static void empty_text(void **state)
{
    char *text = NULL;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    (void)state;
    memset(&h, 0, sizeof(h));
    histogram_write(&h, 1, file);
    fclose(file);
    assert_non_null(strstr(text, "Total count    =            0]"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_all_values),
        cmocka_unit_test(small_and_strange),
        cmocka_unit_test(exact_ranks),
        cmocka_unit_test(since),
        cmocka_unit_test(buckets),
        cmocka_unit_test(as_text),
        cmocka_unit_test(empty_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
