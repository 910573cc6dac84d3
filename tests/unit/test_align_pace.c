/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Alignment of requests that are repeated at another pace.  The generator knows which requests
 * belong together.
 *
 * Processes of a client go round few objects, and ask for the same again and again.  The second
 * side gets their requests in the same order, but for those that were under way together; faster or
 * slower, with pauses, and without those that are not captured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "align/align.h"
#include "align/time_offsets.h"

#include <stdlib.h>

enum {
    SEEDS = 3,
    REQUESTS = 2400,
    CLIENTS = 2,
    OBJECTS = 6,
    PROCESSES = 4,
    US = 1000,
    MS = 1000000
};

enum pace {
    SAME,   /* as the first side, later by an offset */
    PAUSED, /* likewise, but the server stands still at times */
    SCALED, /* faster or slower, with pauses */
    SERIAL, /* one after the other, without the times between, with pauses */
    PACES
};

struct plan {
    enum pace pace;
    uint32_t processes; /* of a client */
    uint32_t lost;      /* in 10,000, of each side */
    uint32_t unique;    /* in 100: requests that occur once */
    uint32_t seed;
};

struct request {
    uint64_t key;
    uint32_t client, process, object;
    int64_t call[2], reply[2];
    bool lost[2];
};

static struct request requests[REQUESTS];
static uint32_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* Mostly about |usual|, seldom up to 50 times as long. */
static int64_t some_time(uint32_t usual)
{
    return usual / 2 + any(usual) + (any(12) ? 0 : any(50) * (int64_t)usual);
}

static int by_call(const void *a, const void *b)
{
    const struct request *x = a, *y = b;

    return (x->call[0] > y->call[0]) - (x->call[0] < y->call[0]);
}

/* What the processes ask: rounds of like requests on an object, and others that occur once. */
static void make_first(const struct plan *p)
{
    int64_t now[CLIENTS][PROCESSES] = { { 0 } };
    uint32_t object[CLIENTS][PROCESSES] = { { 0 } }, step[CLIENTS][PROCESSES] = { { 0 } };

    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct request *r = &requests[i];
        uint32_t c = any(CLIENTS), k = any(p->processes);

        for (uint32_t other = 0; other < p->processes; other++) /* none gets far ahead */
            k = now[c][other] + 20 * MS < now[c][k] ? other : k;
        if (step[c][k]++ % 3 == 0)
            object[c][k] = any(OBJECTS);
        *r = (struct request){ .key = any(100) < p->unique ? 1000 + i : step[c][k] % 3,
                               .client = c,
                               .process = k,
                               .object = object[c][k] };
        r->call[0] = now[c][k] += some_time(any(8) ? 600 * US : 20 * MS);
        r->reply[0] = now[c][k] += some_time(300 * US);
        for (int side = 0; side < 2; side++)
            r->lost[side] = any(10000) < p->lost;
    }
    qsort(requests, REQUESTS, sizeof(requests[0]), by_call);
}

/* When the second side gets request |i|, if nothing holds it up. */
static int64_t wanted(const struct plan *p, uint32_t i, int64_t late, uint32_t percent)
{
    const int64_t call = requests[i].call[0];

    switch (p->pace) {
    case SAME:
    case PAUSED:
        return call + late + any(50 * US);
    case SCALED:
        return call / 100 * percent + late + any(50 * US);
    default:
        return INT64_MIN;
    }
}

/* A request waits for those that were answered before it was sent, and for its own process; and
 * with SERIAL for all. */
static void make_second(const struct plan *p)
{
    const uint32_t percent = (const uint32_t[]){ 20, 60, 150, 400 }[any(4)];
    int64_t late = (int64_t)any(1000) * MS, stands = INT64_MIN;

    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct request *r = &requests[i];
        int64_t call = wanted(p, i, late, percent);

        for (uint32_t k = i, seen = 0; k-- > 0 && seen < 200;) {
            const struct request *before = &requests[k];

            if (before->client != r->client)
                continue;
            seen++;
            if ((p->pace == SERIAL || before->process == r->process ||
                 before->reply[0] < r->call[0]) &&
                call < before->reply[1])
                call = before->reply[1];
        }
        if (p->pace == SERIAL && call == INT64_MIN)
            call = late;
        if (p->pace != SAME && any(150) == 0)
            stands = call + (int64_t)any(200) * MS / 2;
        if (call < stands)
            call = stands + any(20 * US);
        if (p->pace == SERIAL)
            call += 20 * US + any(20 * US);
        r->call[1] = call;
        r->reply[1] = call + (p->pace == SERIAL ? 5 * US + any(10 * US) : some_time(200 * US));
    }
}

/* --- as compare aligns them */

struct figures {
    uint32_t pairs, wrong, crossed; /* crossed: not even together with the right one */
    uint32_t lonely, doubtful;      /* although there is a counterpart */
    uint32_t both;                  /* requests that both sides have */
};

struct feed {
    uint32_t order[2][REQUESTS], count[2], at[2];
    uint32_t client;
    struct figures *figures;
};

static struct time_offsets *learned;
static struct feed feed;

static int next(void *ctx, int side, struct align_element *element, struct err *err)
{
    struct feed *f = ctx;
    const struct request *r;

    (void)err;
    if (f->at[side] == f->count[side])
        return 0;
    r = &requests[f->order[side][f->at[side]]];
    *element = (struct align_element){ .key = r->key,
                                       .id = f->order[side][f->at[side]],
                                       .time = r->call[side],
                                       .done = r->reply[side] };
    f->at[side]++;
    return 1;
}

static bool together(const struct request *x, const struct request *y, int side)
{
    return x->call[side] < y->reply[side] && y->call[side] < x->reply[side];
}

static int put(void *ctx, const struct align_element *ref, const struct align_element *sut,
               struct err *err)
{
    struct feed *f = ctx;
    struct figures *g = f->figures;

    (void)err;
    if (!ref || !sut) {
        const struct align_element *one = ref ? ref : sut;
        const struct request *r = &requests[one->id];

        if (!r->lost[0] && !r->lost[1]) {
            g->doubtful += one->doubtful;
            g->lonely += !one->doubtful;
        }
        return 0;
    }
    assert_int_equal(ref->key, sut->key);
    g->pairs++;
    time_offsets_note(learned, f->client, ref->time, sut->time);
    if (ref->id != sut->id) {
        const struct request *x = &requests[ref->id], *y = &requests[sut->id];

        g->wrong++;
        g->crossed += !together(x, y, 0) && !together(x, y, 1);
    }
    return 0;
}

static bool expect(void *ctx, const struct align_element *ref, struct align_expected *e)
{
    return time_offsets_expect(learned, ((struct feed *)ctx)->client, ref->time, e);
}

static int side_sorted;

static int by_side(const void *a, const void *b)
{
    const struct request *x = &requests[*(const uint32_t *)a], *y = &requests[*(const uint32_t *)b];

    return (x->call[side_sorted] > y->call[side_sorted]) -
           (x->call[side_sorted] < y->call[side_sorted]);
}

static void align_object(struct align_windows *windows, uint32_t client, uint32_t object,
                         struct figures *g)
{
    const struct align align = { next, put, expect, &feed };
    struct err err;

    feed = (struct feed){ .client = client, .figures = g };
    for (side_sorted = 0; side_sorted < 2; side_sorted++) {
        for (uint32_t i = 0; i < REQUESTS; i++)
            if (requests[i].client == client && requests[i].object == object &&
                !requests[i].lost[side_sorted])
                feed.order[side_sorted][feed.count[side_sorted]++] = i;
        qsort(feed.order[side_sorted], feed.count[side_sorted], sizeof(uint32_t), by_side);
    }
    assert_int_equal(align_run(windows, &align, &err), 0);
}

static struct figures run(const struct plan *p)
{
    struct figures g = { 0 };
    struct err err;
    struct align_windows *windows = align_open(&err);

    assert_non_null(windows);
    seed = p->seed;
    make_first(p);
    make_second(p);
    learned = time_offsets_new(0, requests[REQUESTS - 1].call[0], &err);
    assert_non_null(learned);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        const struct request *r = &requests[i];

        g.both += !r->lost[0] && !r->lost[1];
        if (r->key >= 1000 && !r->lost[0] && !r->lost[1])
            time_offsets_note_sure(learned, r->client, r->call[0], r->call[1]);
    }
    for (uint32_t client = 0; client < CLIENTS; client++)
        for (uint32_t object = 0; object < OBJECTS; object++)
            align_object(windows, client, object, &g);
    time_offsets_free(learned);
    align_close(windows);
    return g;
}

static void add(struct figures *sum, const struct figures *g)
{
    sum->pairs += g->pairs;
    sum->wrong += g->wrong;
    sum->crossed += g->crossed;
    sum->lonely += g->lonely;
    sum->doubtful += g->doubtful;
    sum->both += g->both;
}

static struct figures run_all(enum pace pace, uint32_t lost)
{
    static const uint32_t unique[] = { 0, 5, 20 };
    struct figures sum = { 0 };

    for (uint32_t processes = 1; processes <= PROCESSES; processes *= PROCESSES)
        for (uint32_t u = 0; u < 3; u++)
            for (uint32_t s = 1; s <= SEEDS; s++) {
                const struct plan p = { pace, processes, lost, unique[u], s };
                const struct figures g = run(&p);

                add(&sum, &g);
            }
    return sum;
}

/* Both sides have all requests: all are paired, and in order. */
static void test_nothing_lost(void **state)
{
    (void)state;
    for (enum pace pace = 0; pace < PACES; pace++) {
        const struct figures g = run_all(pace, 0);

        assert_int_equal(g.both, 2 * 3 * SEEDS * REQUESTS);
        assert_in_range(g.lonely + g.doubtful, 0, g.both / 2000);
        assert_in_range(g.crossed, 0, g.both / 5000);
        if (pace == SERIAL)
            assert_int_equal(g.pairs - g.wrong, g.both);
    }
}

/* One in 100 of each side is not captured.  Then times must tell which ones, and can do so less
 * well the less they have to do with those of the other side. */
static void test_some_lost(void **state)
{
    static const uint32_t most_crossed[PACES] = { 2000, 2000, 200, 100 };

    (void)state;
    for (enum pace pace = 0; pace < PACES; pace++) {
        const struct figures g = run_all(pace, 100);

        assert_in_range(g.both, 2 * 3 * SEEDS * REQUESTS * 97 / 100, 2 * 3 * SEEDS * REQUESTS);
        assert_in_range(g.lonely + g.doubtful, 0, g.both / 500);
        assert_in_range(g.crossed, 0, g.both / most_crossed[pace]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_lost),
        cmocka_unit_test(test_some_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
