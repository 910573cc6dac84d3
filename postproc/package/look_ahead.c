/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/look_ahead.h"
#include "cli/concurrency_print.h"

enum { WINDOWS = 17, MODELS = 2 }; /* 1, 2, 4, ...; FEUT doubles the latency of directories */
_Static_assert(1 << (WINDOWS - 1) == CONCURRENCY_WINDOW_MAX, "the largest one is the last");

struct looking {
    struct concurrency_report report;
    struct latency_medians medians;
    struct concurrency *simulations;
    uint32_t windows[WINDOWS];
    int64_t makespans[CONCURRENCY_GRANULARITIES * MODELS * WINDOWS];
};

static const struct latency_model models[MODELS] = { { 0, 1 }, { 0, 2 } };

/* The trace itself, for comparison. */
static void note(struct concurrency_report *r, const struct rdump_operation *o)
{
    const int64_t most = INT64_MAX / 4; /* no capture has larger ones; sums must fit */

    r->operations++;
    r->unplayable += o->unplayable != 0;
    if (o->inferred || o->latency < 0 || o->latency > most || o->time < -most || o->time > most)
        return;
    if (!r->answered || o->time < r->begin)
        r->begin = o->time;
    if (!r->answered || o->time + o->latency > r->end)
        r->end = o->time + o->latency;
    r->answered++;
    r->answered_time += (double)o->latency;
}

static int take(void *ctx, const struct rdump_operation *operation, const struct plan_edges *edges,
                struct err *err)
{
    struct looking *l = ctx;
    struct concurrency_edges each[CONCURRENCY_GRANULARITIES];
    int64_t latencies[MODELS];

    note(&l->report, operation);
    for (uint32_t g = 0; g < CONCURRENCY_GRANULARITIES; g++)
        each[g] = (struct concurrency_edges){ edges[g].distances, edges[g].count };
    for (uint32_t m = 0; m < MODELS; m++) {
        latencies[m] = latency_of(&models[m], &l->medians, operation);
        l->report.busy[m] += (double)latencies[m];
    }
    return concurrency_next(l->simulations, latencies, each, err);
}

/* Of windows that hold all of the trace one says enough. */
static void gather(struct looking *l)
{
    struct concurrency_report *r = &l->report;
    uint32_t count = 1, at = 0;

    while (count < WINDOWS && l->windows[count - 1] < r->operations)
        count++;
    r->models = models;
    r->model_count = MODELS;
    r->windows = l->windows;
    r->window_count = count;
    r->makespans = l->makespans;
    for (uint32_t g = 0; g < CONCURRENCY_GRANULARITIES; g++)
        for (uint32_t m = 0; m < MODELS; m++)
            for (uint32_t w = 0; w < count; w++)
                l->makespans[at++] = concurrency_makespan(l->simulations, g, m, w);
}

int look_ahead_plot(sqlite3 *db, const char *path, const char *name, struct plan_counts *counts,
                    struct err *err)
{
    static const struct plan_options options = { .from = BEGINNING, .granularity = { true, true } };
    struct looking l = { .report = { .operations = 0 } };
    const struct concurrency_options windows = { l.windows, WINDOWS, MODELS, 0 };
    const struct plan_host host = { .operation = take, .ctx = &l };
    int result;

    for (uint32_t w = 0; w < WINDOWS; w++)
        l.windows[w] = 1u << w;
    l.simulations = concurrency_new(&windows, err);
    if (!l.simulations)
        return -err->code;
    result = latency_medians(db, &l.medians, err);
    if (result == 0)
        result = plan_read(db, &options, &host, counts, err);
    if (result == 0 && (l.medians.known || !l.report.operations)) {
        gather(&l);
        result = concurrency_svg(&l.report, path, name, err) < 0 ? -err->code : 1;
    }
    concurrency_free(l.simulations);
    return result;
}
