/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Simulated replays: against a simulator that looks at everything at each moment, and against what
 * can be said beforehand.  Latencies: which operations take how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "depend/concurrency.h"
#include "plan/concurrency_latency.h"
#include "wire/field.h"

enum { OPERATIONS_MAX = 200, EDGES_MAX = 6 };

struct graph {
    uint32_t count;
    struct {
        int64_t latency;
        uint32_t distances[2][EDGES_MAX], edges[2];
    } operations[OPERATIONS_MAX];
};

/* --- the oracle: time goes from event to event, at each of which every operation is looked at ---
 */

struct oracle {
    const struct graph *graph;
    uint32_t granularity, window, outstanding, running;
    int64_t now;
    enum { OPEN, RUNNING, DONE } state[OPERATIONS_MAX];
    int64_t finish[OPERATIONS_MAX];
};

static bool may_begin(const struct oracle *o, uint32_t n)
{
    uint32_t first = 0;

    if (o->state[n] != OPEN)
        return false;
    while (o->state[first] == DONE)
        first++;
    if (n >= first + o->window)
        return false;
    for (uint32_t i = 0; i < o->graph->operations[n].edges[o->granularity]; i++)
        if (o->state[n - o->graph->operations[n].distances[o->granularity][i]] != DONE)
            return false;
    return true;
}

/* What takes no time first, then the lowest number that has a place. */
static bool begin_one(struct oracle *o)
{
    for (uint32_t instant = 2; instant-- > 0;)
        for (uint32_t n = 0; n < o->graph->count; n++) {
            int64_t latency = o->graph->operations[n].latency;

            if ((latency == 0) != instant || !may_begin(o, n))
                continue;
            if (!instant && o->outstanding && o->running == o->outstanding)
                return false;
            o->state[n] = instant ? DONE : RUNNING;
            o->finish[n] = o->now + latency;
            o->running += !instant;
            return true;
        }
    return false;
}

static int64_t oracle_makespan(const struct graph *graph, uint32_t granularity, uint32_t window,
                               uint32_t outstanding)
{
    static struct oracle o;

    o = (struct oracle){ graph, granularity, window, outstanding, 0, 0, { OPEN }, { 0 } };
    for (;;) {
        int64_t next = INT64_MAX;

        while (begin_one(&o))
            ;
        for (uint32_t n = 0; n < graph->count; n++)
            if (o.state[n] == RUNNING && o.finish[n] < next)
                next = o.finish[n];
        if (next == INT64_MAX)
            break;
        o.now = next;
        for (uint32_t n = 0; n < graph->count; n++)
            if (o.state[n] == RUNNING && o.finish[n] == next) {
                o.state[n] = DONE;
                o.running--;
            }
    }
    for (uint32_t n = 0; n < graph->count; n++)
        assert_int_equal(o.state[n], DONE);
    return o.now;
}

/* --- graphs --- */

static int ascending(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static void random_graph(struct graph *graph, uint32_t count, uint32_t reach, uint32_t edges_max,
                         int64_t latency_max)
{
    memset(graph, 0, sizeof(*graph));
    graph->count = count;
    for (uint32_t n = 0; n < count; n++) {
        graph->operations[n].latency =
            rand() % 5 ? rand() % (latency_max + 1) : 0; /* many take no time */
        for (uint32_t g = 0; g < 2; g++) {
            uint32_t *to = graph->operations[n].distances[g], kept = 0;
            uint32_t want = (uint32_t)rand() % (edges_max + 1);

            for (uint32_t i = 0; n && i < want; i++)
                to[i] = 1 + (uint32_t)rand() % (n < reach ? n : reach);
            if (!n)
                want = 0;
            qsort(to, want, sizeof(*to), ascending);
            for (uint32_t i = 0; i < want; i++)
                if (!kept || to[kept - 1] != to[i])
                    to[kept++] = to[i];
            graph->operations[n].edges[g] = kept;
        }
    }
}

static struct concurrency *play(const struct graph *graph, const uint32_t *windows,
                                uint32_t window_count, uint32_t outstanding)
{
    const struct concurrency_options options = { windows, window_count, 2, outstanding };
    struct err err = { 0 };
    struct concurrency *c = concurrency_new(&options, &err);

    assert_non_null(c);
    for (uint32_t n = 0; n < graph->count; n++) {
        const int64_t latency = graph->operations[n].latency,
                      latencies[2] = { latency, 3 * latency };
        const struct concurrency_edges edges[2] = {
            { graph->operations[n].distances[0], graph->operations[n].edges[0] },
            { graph->operations[n].distances[1], graph->operations[n].edges[1] },
        };

        assert_int_equal(concurrency_next(c, latencies, edges, &err), 0);
    }
    return c;
}

static const uint32_t windows[] = { 1, 2, 3, 4, 7, 8, 16, 33, 64, 100, 199, 200, 256, 1 << 16 };
enum { WINDOWS = sizeof(windows) / sizeof(*windows) };

static void compare(const struct graph *graph, uint32_t outstanding)
{
    struct concurrency *c = play(graph, windows, WINDOWS, outstanding);

    for (uint32_t g = 0; g < 2; g++)
        for (uint32_t w = 0; w < WINDOWS; w++) {
            int64_t want = oracle_makespan(graph, g, windows[w], outstanding);

            assert_int_equal(concurrency_makespan(c, g, 0, w), want);
            assert_int_equal(concurrency_makespan(c, g, 1, w), 3 * want);
        }
    concurrency_free(c);
}

static void as_the_oracle(void **state)
{
    static struct graph graph;
    static const uint32_t limits[] = { 0, 1, 2, 5, 17, 1000 };

    (void)state;
    srand(4);
    for (unsigned round = 0; round < 12; round++)
        for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
            random_graph(&graph, round < 3 ? round : 10 + (uint32_t)rand() % 50,
                         1 + (uint32_t)rand() % 60, (uint32_t)rand() % (EDGES_MAX + 1),
                         rand() % 2 ? 3 : 1000);
            compare(&graph, limits[i]);
        }
    random_graph(&graph, OPERATIONS_MAX, OPERATIONS_MAX, 2, 20);
    compare(&graph, 0);
    compare(&graph, 9);
}

/* One by one a chain takes the sum; without dependencies min(W, limit, n) run at a time. */
static void what_can_be_said(void **state)
{
    static struct graph chain, free_ones;
    static const uint32_t limits[] = { 0, 1, 4, 10 };

    (void)state;
    chain.count = free_ones.count = OPERATIONS_MAX;
    for (uint32_t n = 0; n < OPERATIONS_MAX; n++) {
        chain.operations[n].latency = free_ones.operations[n].latency = 50;
        for (uint32_t g = 0; n && g < 2; g++) {
            chain.operations[n].distances[g][0] = 1;
            chain.operations[n].edges[g] = 1;
        }
    }
    for (unsigned l = 0; l < sizeof(limits) / sizeof(*limits); l++) {
        struct concurrency *c = play(&chain, windows, WINDOWS, limits[l]);
        struct concurrency *f = play(&free_ones, windows, WINDOWS, limits[l]);

        for (uint32_t w = 0; w < WINDOWS; w++) {
            uint32_t at_once = windows[w] < OPERATIONS_MAX ? windows[w] : OPERATIONS_MAX;

            if (limits[l] && limits[l] < at_once)
                at_once = limits[l];
            assert_int_equal(concurrency_makespan(c, 0, 0, w), OPERATIONS_MAX * 50);
            assert_int_equal(concurrency_makespan(f, 1, 0, w),
                             (OPERATIONS_MAX + at_once - 1) / at_once * 50);
        }
        concurrency_free(c);
        concurrency_free(f);
    }
}

/* More operations than the largest window: places are used again. */
static void long_traces(void **state)
{
    static const uint32_t sizes[] = { 1, 100, CONCURRENCY_WINDOW_MAX };
    static const uint32_t near = 50, far = CONCURRENCY_WINDOW_MAX - 1;
    const uint32_t count = 3 * CONCURRENCY_WINDOW_MAX;
    struct err err;

    (void)state;
    for (uint32_t limit = 0; limit < 2; limit++) {
        const struct concurrency_options options = { sizes, 3, 1, limit * 1000000 };
        struct concurrency *c = concurrency_new(&options, &err);

        assert_non_null(c);
        for (uint32_t n = 0; n < count; n++) {
            const int64_t latency = 7;
            const struct concurrency_edges edges[2] = { { &near, n >= near }, { &far, n >= far } };

            assert_int_equal(concurrency_next(c, &latency, edges, &err), 0);
        }
        for (uint32_t g = 0; g < 2; g++)
            assert_int_equal(concurrency_makespan(c, g, 0, 0), (int64_t)count * 7);
        for (uint32_t w = 1; w < 3; w++) /* 50 chains */
            assert_int_equal(concurrency_makespan(c, 0, 0, w), (int64_t)(count + 49) / 50 * 7);
        assert_int_equal(concurrency_makespan(c, 1, 0, 2), 4 * 7);
        concurrency_free(c);
    }
}

static void refuses(void **state)
{
    static const uint32_t none = 0, many = CONCURRENCY_WINDOW_MAX + 1, good = 4, two = 2;
    const struct concurrency_edges before[2] = { { &two, 1 }, { NULL, 0 } };
    const struct concurrency_edges itself[2] = { { NULL, 0 }, { &none, 1 } };
    const int64_t latency = 1;
    struct err err;
    struct concurrency *c;

    (void)state;
    assert_null(concurrency_new(&(struct concurrency_options){ &none, 1, 1, 0 }, &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_null(concurrency_new(&(struct concurrency_options){ &many, 1, 1, 0 }, &err));
    assert_null(concurrency_new(&(struct concurrency_options){ &good, 0, 1, 0 }, &err));
    assert_null(concurrency_new(&(struct concurrency_options){ &good, 1, 0, 0 }, &err));
    assert_null(concurrency_new(&(struct concurrency_options){ &good, 1, 5, 0 }, &err));
    for (uint32_t limit = 0; limit < 2; limit++) {
        c = concurrency_new(&(struct concurrency_options){ &good, 1, 1, limit }, &err);
        assert_non_null(c);
        assert_int_equal(concurrency_next(c, &latency, before, &err), -ERR_INPUT);
        assert_int_equal(concurrency_next(c, &latency, itself, &err), -ERR_INPUT);
        assert_int_equal(concurrency_makespan(c, 0, 0, 0), 0);
        concurrency_free(c);
    }
}

/* Names, so that a table that changes is noticed; the command itself reads roles. */
static void directory_operations(void **state)
{
    static const char want[] = "LOOKUP CREATE MKDIR SYMLINK MKNOD REMOVE RMDIR RENAME LINK READDIR "
                               "READDIRPLUS ";
    char found[256] = "";

    (void)state;
    wire_init();
    for (uint32_t i = 0; i < LATENCY_PROCEDURES + 3; i++)
        if (latency_of_directory(i)) {
            strncat(found, procedure_find(100003, 3, i)->name, 100);
            strncat(found, " ", 2);
        }
    assert_string_equal(found, want);
}

static void latencies(void **state)
{
    const struct latency_medians medians = { .all = 70, .procedure = { [3] = 30, [6] = 60 } };
    const struct {
        struct latency_model model;
        struct rdump_operation operation;
        int64_t want;
    } cases[] = {
        { { 0, 1 }, { .procedure = 6, .latency = 11 }, 11 },
        { { 0, 1 }, { .procedure = 6, .latency = -1 }, 60 },
        { { 0, 1 }, { .procedure = 6, .latency = 11, .inferred = 1 }, 60 },
        { { 0, 1 }, { .procedure = 6, .latency = 11, .unplayable = 1 }, 0 },
        { { 0, 1 }, { .procedure = 200, .latency = -1 }, 70 },
        { { 0, 2 }, { .procedure = 6, .latency = 11 }, 11 },
        { { 0, 2 }, { .procedure = 3, .latency = 11 }, 22 },
        { { 0, 1.5 }, { .procedure = 3, .latency = -1 }, 45 },
        { { 5, 1 }, { .procedure = 6, .latency = 11 }, 5 },
        { { 5, 1 }, { .procedure = 6, .latency = -1, .inferred = 1 }, 5 },
        { { 5, 1 }, { .procedure = 6, .latency = 11, .unplayable = 2 }, 0 },
        { { 5, 3 }, { .procedure = 3, .latency = 11 }, 15 },
    };

    (void)state;
    wire_init();
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(latency_of(&cases[i].model, &medians, &cases[i].operation), cases[i].want);
}

/* Odd and even numbers of values, small ones exact and large ones within 0.4 %. */
static void medians(void **state)
{
    struct latency_medians found;
    struct err err = { 0 };
    sqlite3 *db;

    (void)state;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(latency_medians(db, &found, &err), -ERR_SYSTEM);
    assert_int_equal(
        sqlite3_exec(db,
                     "CREATE TABLE operation (program, version, procedure, latency);"
                     "INSERT INTO operation VALUES (100003, 3, 1, 5), (100003, 3, 1, 300),"
                     " (100003, 3, 1, 7), (100003, 3, 1, NULL), (100003, 3, 1, -4),"
                     " (100003, 3, 6, 1000000), (100003, 3, 6, 2000000),"
                     " (100003, 3, 7, 1000000000000000), (100003, 2, 1, 0), (100005, 3, 1, 0)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(latency_medians(db, &found, &err), 0);
    assert_int_equal(found.procedure[1], 7);
    assert_in_range(found.procedure[6], 1000000 * 0.996, 1000000 * 1.004);
    assert_in_range(found.procedure[7], 1020ull << 30, 1ull << 40); /* the longest */
    assert_int_equal(found.procedure[2], found.all);
    assert_in_range(found.all, 299, 301);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_oracle), cmocka_unit_test(what_can_be_said),
        cmocka_unit_test(long_traces),   cmocka_unit_test(refuses),
        cmocka_unit_test(latencies),     cmocka_unit_test(directory_operations),
        cmocka_unit_test(medians),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
