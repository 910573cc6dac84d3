/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Alignment of sequences of requests: against the table of longest common subsequences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "align/align.h"
#include "align/align_again.h"
#include "align/time_offsets.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 48, LONG = 20000 };

static uint32_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static uint32_t longest(const uint64_t *a, uint32_t n, const uint64_t *b, uint32_t m)
{
    static uint32_t t[SMALL + 1][SMALL + 1];

    memset(t, 0, sizeof(t));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++)
            t[i + 1][j + 1] = a[i] == b[j]                ? t[i][j] + 1
                              : t[i][j + 1] > t[i + 1][j] ? t[i][j + 1]
                                                          : t[i + 1][j];
    return t[n][m];
}

/* Matches are equal, rise on both sides, and are as many as there can be. */
static void test_random(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        uint64_t a[SMALL], b[SMALL];
        uint32_t n = any(SMALL + 1), m = any(SMALL + 1), values = 1 + any(12), count = 0;
        int32_t match[SMALL], last = -1;
        struct err err;

        for (uint32_t i = 0; i < n; i++)
            a[i] = any(values);
        for (uint32_t i = 0; i < m; i++)
            b[i] = any(values);
        assert_int_equal(align_sequences(a, n, b, m, match, &err), longest(a, n, b, m));
        for (uint32_t i = 0; i < n; i++)
            if (match[i] >= 0) {
                assert_true(match[i] > last && match[i] < (int32_t)m);
                assert_true(a[i] == b[match[i]]);
                last = match[i];
                count++;
            }
        assert_int_equal(count, longest(a, n, b, m));
    }
}

/* Unlike throughout: more edits than are looked for at once. */
static void test_many_edits(void **state)
{
    static uint64_t a[ALIGN_WINDOW], b[ALIGN_WINDOW];
    static int32_t match[ALIGN_WINDOW];
    struct err err;

    (void)state;
    for (uint32_t i = 0; i < ALIGN_WINDOW; i++) {
        a[i] = i;
        b[i] = 100000 + i;
    }
    assert_int_equal(align_sequences(a, ALIGN_WINDOW, b, ALIGN_WINDOW, match, &err), 0);
    a[ALIGN_WINDOW - 1] = b[ALIGN_WINDOW - 1] = 7777777;
    assert_true(align_sequences(a, ALIGN_WINDOW, b, ALIGN_WINDOW, match, &err) <= 1);
}

struct feed {
    const struct align_element *elements[2];
    uint32_t count[2], at[2];
    uint32_t pairs, right, alone[2], doubtful[2], next_id[2];
    uint8_t (*seen)[LONG + 1]; /* by side and id */
    bool wrong;
};

static bool times_pass;              /* some are under way together */
static struct time_offsets *learned; /* what compare does with pairs; or NULL */

static int next(void *ctx, int side, struct align_element *element, struct err *err)
{
    struct feed *f = ctx;

    (void)err;
    if (f->at[side] == f->count[side])
        return 0;
    *element = f->elements[side][f->at[side]++];
    return 1;
}

static int put(void *ctx, const struct align_element *ref, const struct align_element *sut,
               struct err *err)
{
    struct feed *f = ctx;
    const int64_t ids[2] = { ref ? ref->id : 0, sut ? sut->id : 0 };

    (void)err;
    for (int side = 0; side < 2; side++)
        if (ids[side])
            f->wrong |= times_pass ? f->seen[side][ids[side]]++ > 0   /* each once */
                                   : ids[side] != ++f->next_id[side]; /* and in order */
    if (ref && sut) {
        f->pairs++;
        f->right += ref->made == sut->made;
        f->wrong |= ref->key != sut->key;
        if (learned)
            time_offsets_note(learned, 1, ref->time, sut->time);
    } else {
        f->alone[ref ? 0 : 1]++;
        f->doubtful[ref ? 0 : 1] += (ref ? ref : sut)->doubtful;
    }
    return 0;
}

enum { LAG = 777777, STEP = 1000, JITTER = 150 };
static bool times_count;

static bool expect(void *ctx, const struct align_element *ref, struct align_expected *e)
{
    (void)ctx;
    e->error = 10;
    e->time = e->low = e->high = ref->time + LAG;
    if (!learned)
        return times_count;
    return time_offsets_expect(learned, 1, ref->time, e);
}

static struct align_element stream[2][LONG];

static struct feed run(uint32_t n, uint32_t m)
{
    static uint8_t seen[2][LONG + 1];
    struct feed f = { .elements = { stream[0], stream[1] }, .count = { n, m }, .seen = seen };
    const struct align align = { next, put, expect, &f };
    struct err err;
    struct align_windows *windows = align_open(&err);

    memset(seen, 0, sizeof(seen));
    assert_non_null(windows);
    assert_int_equal(align_run(windows, &align, &err), 0);
    align_close(windows);
    assert_false(f.wrong);
    assert_int_equal(f.pairs + f.alone[0], n);
    assert_int_equal(f.pairs + f.alone[1], m);
    return f;
}

/* Each element of a long sequence is its own: exactly what was left out is found left out. */
static void test_stream(void **state)
{
    uint32_t n[2] = { 0, 0 }, both = 0;
    struct feed f;

    (void)state;
    for (uint32_t i = 0; i < LONG; i++) {
        uint32_t lacks = any(50); /* 0, 1: a side; else none */

        for (uint32_t side = 0; side < 2; side++)
            if (lacks != side) {
                stream[side][n[side]] = (struct align_element){ i, n[side] + 1, 0, 0, { 0 } };
                n[side]++;
            }
        both += lacks > 1;
    }
    f = run(n[0], n[1]);
    assert_int_equal(f.pairs, both);
}

/* A block that only one side has. */
static void test_block(void **state)
{
    struct feed f;
    uint32_t m = 0;

    (void)state;
    for (uint32_t i = 0; i < 8000; i++)
        stream[0][i] = (struct align_element){ i % 7 ? i : 3, i + 1, 0, 0, { 0 } };
    for (uint32_t i = 0; i < 8000; i++) {
        if (i == 4000)
            for (uint32_t k = 0; k < 900; k++, m++)
                stream[1][m] = (struct align_element){ 900000 + k, m + 1, 0, 0, { 0 } };
        stream[1][m] = (struct align_element){ i % 7 ? i : 3, m + 1, 0, 0, { 0 } };
        m++;
    }
    f = run(8000, m);
    assert_int_equal(f.pairs, 8000);
    assert_int_equal(f.alone[1], 900);
}

/* Requests repeat, some of each side are missing: times tell which. */
static void test_repeats(void **state)
{
    (void)state;
    for (uint32_t period = 1; period <= 5; period++) {
        uint32_t n[2] = { 0, 0 }, both = 0;
        struct feed f;

        for (uint32_t i = 1; i <= LONG; i++) {
            uint32_t lacks = any(100); /* 0, 1: a side; else none */

            for (uint32_t side = 0; side < 2; side++)
                if (lacks != side) {
                    n[side]++;
                    stream[side][n[side] - 1] =
                        (struct align_element){ .key = i % period,
                                                .id = n[side],
                                                .time = (int64_t)i * STEP +
                                                        (side ? LAG + (int64_t)any(JITTER) : 0),
                                                .made = i };
                }
            both += lacks > 1;
        }
        times_count = true;
        f = run(n[0], n[1]);
        assert_int_equal(f.right, both);
        times_count = false;
        f = run(n[0], n[1]);
        assert_true(f.right < both / 2); /* they are needed */
    }
}

static int by_time(const void *a, const void *b)
{
    const struct align_element *x = a, *y = b;

    return x->time != y->time ? (x->time < y->time ? -1 : 1)
                              : (x->made > y->made) - (x->made < y->made);
}

/* |depth| requests are under way at a time, in another order on the other side: all are paired, and
 * fewer where each was answered before the next. */
static void test_out_of_order(void **state)
{
    (void)state;
    times_pass = times_count = true;
    for (uint32_t depth = 4; depth <= 64; depth *= 2)
        for (int unique = 0; unique < 2; unique++) {
            struct feed f;

            for (uint32_t side = 0; side < 2; side++) {
                for (uint32_t i = 0; i < LONG; i++)
                    stream[side][i] =
                        (struct align_element){ .key = unique ? i : i % (8 * depth),
                                                .time = ((int64_t)i + any(depth)) * STEP +
                                                        (side ? LAG : 0),
                                                .made = i + 1 };
                qsort(stream[side], LONG, sizeof(stream[side][0]), by_time);
                for (uint32_t i = 0; i < LONG; i++) {
                    stream[side][i].id = i + 1;
                    stream[side][i].done = stream[side][i].time + depth * STEP;
                }
            }
            f = run(LONG, LONG);
            assert_true(f.pairs >= LONG - LONG / 1000 && f.right >= f.pairs - LONG / 1000);
            for (uint32_t side = 0; side < 2; side++)
                for (uint32_t i = 0; i < LONG; i++)
                    stream[side][i].done = stream[side][i].time;
            f = run(LONG, LONG);
            assert_true(f.pairs < LONG - LONG / 20);
        }
    times_pass = times_count = false;
}

static void test_time_offsets(void **state)
{
    struct err err;
    struct time_offsets *l = time_offsets_new(0, 1000 * STEP, &err);
    struct align_expected e;

    (void)state;
    assert_non_null(l);
    assert_false(time_offsets_expect(l, 1, 0, &e));
    for (int64_t i = 0; i < 100; i++)
        time_offsets_note(l, 1, i * STEP, i * STEP + LAG);
    assert_true(time_offsets_expect(l, 1, 70 * STEP, &e));
    assert_int_equal(e.time, 70 * STEP + LAG);
    assert_true(e.error <= 1000);
    /* one odd pair hardly moves it, many do */
    time_offsets_note(l, 1, 50 * STEP, 50 * STEP + 100 * LAG);
    assert_true(time_offsets_expect(l, 1, 70 * STEP, &e));
    assert_int_equal(e.time, 70 * STEP + LAG);
    for (int i = 0; i < 100; i++)
        time_offsets_note(l, 1, 70 * STEP, 70 * STEP + 2 * LAG);
    assert_true(time_offsets_expect(l, 1, 70 * STEP, &e));
    assert_in_range(e.time, 69 * STEP + 2 * LAG + 1, 71 * STEP + 2 * LAG - 1);
    /* of another client nothing is known */
    assert_false(time_offsets_expect(l, 2, 0, &e));
    time_offsets_free(l);

    /* whatever times a file has */
    l = time_offsets_new(INT64_MIN, INT64_MAX, &err);
    assert_non_null(l);
    for (int i = 0; i < 64; i++) {
        time_offsets_note(l, i, i & 1 ? INT64_MIN : INT64_MAX, i & 2 ? INT64_MIN : INT64_MAX);
        time_offsets_note(l, i, i & 4 ? INT64_MIN : INT64_MAX, i & 8 ? INT64_MIN : INT64_MAX);
        time_offsets_expect(l, i, i & 16 ? INT64_MIN : INT64_MAX, &e);
    }
    time_offsets_free(l);
}

enum { PAUSED = 3000, MS = 1000000, FIRST_OF_TWO = 2004, OTHER_OF_TWO = 2016 };

/* A request every 0.25 ms.  The second side stands still for a while, so that some come |late|;
 * those among them that occur once are of other sequences, unless |between|.  Two equal ones come
 * meanwhile, 3 ms apart; the side |lacks| has not the first of them, -1: both have.  |trace|: its
 * length, times that of the requests. */
static struct feed run_paused(int64_t late, int lacks, bool between, int64_t trace)
{
    uint32_t n[2] = { 0, 0 };
    struct err err;
    struct feed f;

    learned = time_offsets_new(0, (int64_t)PAUSED * MS / 4 * trace, &err);
    assert_non_null(learned);
    for (uint32_t i = 0; i < PAUSED; i++) {
        bool meanwhile = i >= 2000 && i < 2020, twice = i == FIRST_OF_TWO || i == OTHER_OF_TWO;
        int64_t time = (int64_t)i * MS / 4;
        const int64_t times[2] = { time, time + LAG + (meanwhile ? late : 0) };

        if (!twice)
            time_offsets_note_sure(learned, 1, times[0], times[1]);
        if (meanwhile && !twice && !between)
            continue;
        for (int side = 0; side < 2; side++)
            if (lacks != side || i != FIRST_OF_TWO) {
                stream[side][n[side]] = (struct align_element){
                    .key = twice ? PAUSED : i, .id = n[side] + 1, .time = times[side], .made = i + 1
                };
                n[side]++;
            }
    }
    f = run(n[0], n[1]);
    assert_int_equal(f.right, f.pairs);
    time_offsets_free(learned);
    learned = NULL;
    return f;
}

/* The two are later than expected, by about as much as lies between them. */
static void test_pause(void **state)
{
    struct feed f;

    (void)state;
    for (int64_t late = 26; late <= 40; late++) /* tenths of ms */
        for (int64_t trace = 1; trace <= 100; trace *= 100) {
            f = run_paused(late * MS / 10, -1, false, trace);
            assert_int_equal(f.alone[0] + f.alone[1], 0);
        }
    /* one was not captured: times tell which one */
    for (int side = 0; side < 2; side++) {
        f = run_paused(0, side, false, 100);
        assert_int_equal(f.alone[side], 0);
        assert_int_equal(f.alone[!side], 1);
        assert_int_equal(f.doubtful[!side], 0);
    }
    /* unless it may be late, for all that is known */
    f = run_paused(4 * MS, 0, false, 100);
    assert_int_equal(f.pairs, PAUSED - 20);
    assert_int_equal(f.alone[0], 1);
    assert_int_equal(f.doubtful[0], 1);
    assert_int_equal(f.alone[1], 2);
    assert_int_equal(f.doubtful[1], 2);
    /* requests between the two, which were answered before the next, tell it, too */
    f = run_paused(4 * MS, 0, true, 100);
    assert_int_equal(f.pairs, PAUSED - 1);
    assert_int_equal(f.alone[1], 1);
    assert_int_equal(f.doubtful[1], 0);
}

/* |side| has a request that failed and |again| repetitions, which |gap| ns lie between; the other
 * one has it once, when the last repetition came. */
static struct feed run_failed(int side, uint32_t again, int64_t gap, int64_t late)
{
    uint32_t n[2] = { 0, 0 };
    struct err err;
    struct feed f;

    learned = time_offsets_new(0, (int64_t)PAUSED * MS, &err);
    assert_non_null(learned);
    for (uint32_t i = 0; i < PAUSED; i++) {
        bool fails = i % 100 == 50;

        for (int s = 0; s < 2; s++)
            for (uint32_t k = 0; k <= (fails && s == side ? again : 0); k++) {
                const int64_t time = (int64_t)i * MS + (s ? LAG + (i % 2 ? late : 0) : 0) -
                                     (fails && s == side ? (again - k) * gap : 0);

                stream[s][n[s]] =
                    (struct align_element){ .key = fails ? PAUSED : i,
                                            .id = n[s] + 1,
                                            .time = time,
                                            .done = time + 1000,
                                            .made = fails ? i + k * PAUSED + 1 : i + 1,
                                            .failed = fails && s == side && k < again,
                                            .again = k };
                n[s]++;
            }
        if (!fails)
            time_offsets_note_sure(learned, 1, stream[0][n[0] - 1].time, stream[1][n[1] - 1].time);
    }
    f = run(n[0], n[1]);
    time_offsets_free(learned);
    learned = NULL;
    return f;
}

/* What failed has the counterpart, and nothing is doubtful. */
static void test_failed(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++)
        for (uint32_t again = 1; again <= 3; again++)
            for (int64_t gap = 2000; gap < MS / 4; gap *= 3)
                for (int64_t late = 0; late <= MS / 2; late += MS / 4) {
                    struct feed f = run_failed(side, again, gap, late);

                    assert_int_equal(f.pairs, PAUSED);
                    assert_int_equal(f.right, PAUSED);
                    assert_int_equal(f.alone[side], again * PAUSED / 100);
                    assert_int_equal(f.doubtful[side], 0);
                }
}

/* What was under way beside the failed request, and was answered, is not repeated. */
static void test_failed_beside(void **state)
{
    struct align_element ref[] = { { .key = 5 } };
    struct align_element sut[] = {
        { .key = 5, .failed = true }, { .key = 5 }, { .key = 6 }, { .key = 5, .again = 1 }
    };
    int32_t match[] = { 3 }, passed[] = { -1 }, back[] = { -1, -1, -1, -1 };
    const struct align_pairs pairs = {
        .elements = { ref, sut }, .count = { 1, 4 }, .match = match, .passed = passed
    };

    (void)state;
    align_again_pair_first(&pairs, back);
    assert_int_equal(match[0], 0);
    match[0] = 3;
    sut[0].failed = false;
    align_again_pair_first(&pairs, back);
    assert_int_equal(match[0], 3);
}

static void test_empty(void **state)
{
    struct feed f = run(0, 0);

    (void)state;
    assert_int_equal(f.pairs, 0);
    stream[0][0] = (struct align_element){ 5, 1, 0, 0, { 0 } };
    f = run(1, 0);
    assert_int_equal(f.alone[0], 1);
    f = run(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),        cmocka_unit_test(test_many_edits),
        cmocka_unit_test(test_stream),        cmocka_unit_test(test_block),
        cmocka_unit_test(test_repeats),       cmocka_unit_test(test_time_offsets),
        cmocka_unit_test(test_empty),         cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_pause),         cmocka_unit_test(test_failed),
        cmocka_unit_test(test_failed_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
