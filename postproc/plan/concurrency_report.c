/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/concurrency_report.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)CONCURRENCY_WINDOW_MAX == (int)DEPEND_HORIZON,
               "dependencies reach as far as windows");

struct simulating {
    struct concurrency_report *report;
    struct latency_medians medians;
    struct concurrency *limited;  /* all windows, of which |last| is the largest there can be */
    struct concurrency *critical; /* the largest one without a limit, when there is a limit */
    uint32_t last;
};

/* Of the trace itself. */
static void note(struct concurrency_report *r, const struct rdump_operation *operation)
{
    /* sums of larger ones, which no capture can have, would not fit */
    const int64_t most = INT64_MAX / 4;

    r->inferred += operation->inferred != 0;
    r->unplayable += operation->unplayable != 0;
    r->guessed += !operation->unplayable && (operation->inferred || operation->latency < 0);
    if (!operation->inferred && operation->latency >= 0 && operation->latency < most &&
        operation->time > -most && operation->time < most) {
        if (!r->answered || operation->time < r->begin)
            r->begin = operation->time;
        if (!r->answered || operation->time + operation->latency > r->end)
            r->end = operation->time + operation->latency;
        r->answered++;
        r->answered_time += (double)operation->latency;
    }
}

static int take(void *ctx, const struct rdump_operation *operation, const struct plan_edges *edges,
                struct err *err)
{
    struct simulating *s = ctx;
    struct concurrency_report *r = s->report;
    struct concurrency_edges each[CONCURRENCY_GRANULARITIES];
    int64_t latencies[CONCURRENCY_MODELS_MAX];

    r->operations++;
    note(r, operation);
    for (uint32_t g = 0; g < CONCURRENCY_GRANULARITIES; g++) {
        each[g] = (struct concurrency_edges){ edges[g].distances, edges[g].count };
        r->dependencies[g] += edges[g].count;
    }
    for (uint32_t m = 0; m < r->model_count; m++) {
        latencies[m] = latency_of(&r->models[m], &s->medians, operation);
        r->busy[m] += (double)latencies[m];
    }
    if (concurrency_next(s->limited, latencies, each, err) < 0 ||
        (s->critical && concurrency_next(s->critical, latencies, each, err) < 0))
        return -err->code;
    return 0;
}

static int begin(struct simulating *s, const struct concurrency_request *request, struct err *err)
{
    static const uint32_t largest = CONCURRENCY_WINDOW_MAX;
    uint32_t count = request->window_count;
    uint32_t *windows = calloc((size_t)count + 1, sizeof(*windows));
    struct concurrency_options options = { windows, count + 1, request->model_count,
                                           request->outstanding };

    if (!windows)
        return err_memory(err, "simulations");
    memcpy(windows, request->windows, count * sizeof(*windows));
    windows[count] = largest;
    s->last = count;
    if (count && windows[count - 1] == largest)
        s->last = --options.window_count - 1;
    s->limited = concurrency_new(&options, err);
    free(windows);
    if (!s->limited)
        return -err->code;
    if (!request->outstanding)
        return 0;
    options = (struct concurrency_options){ &largest, 1, request->model_count, 0 };
    s->critical = concurrency_new(&options, err);
    return s->critical ? 0 : -err->code;
}

static int gather(struct simulating *s, bool all_windows, struct err *err)
{
    struct concurrency_report *r = s->report;
    int64_t *to;

    for (uint32_t w = 0; w < r->window_count && !all_windows; w++)
        if (r->windows[w] >= r->operations)
            r->window_count = w + 1;
    to = calloc((size_t)CONCURRENCY_GRANULARITIES * r->model_count * r->window_count, sizeof(*to));
    if (!to)
        return err_memory(err, "simulations");
    r->makespans = to;
    for (uint32_t g = 0; g < CONCURRENCY_GRANULARITIES; g++)
        for (uint32_t m = 0; m < r->model_count; m++) {
            for (uint32_t w = 0; w < r->window_count; w++) {
                *to = concurrency_makespan(s->limited, g, m, w);
                r->too_long = r->too_long || *to == INT64_MAX;
                to++;
            }
            r->largest[g][m] = concurrency_makespan(s->limited, g, m, s->last);
            r->critical[g][m] =
                s->critical ? concurrency_makespan(s->critical, g, m, 0) : r->largest[g][m];
        }
    return 0;
}

int concurrency_report(sqlite3 *db, const struct concurrency_request *request,
                       struct concurrency_report *report, struct plan_counts *counts,
                       struct err *err)
{
    static const struct plan_options options = { .from = BEGINNING, .granularity = { true, true } };
    struct simulating s = { .report = report };
    const struct plan_host host = { .operation = take, .ctx = &s };
    int result;

    *report = (struct concurrency_report){ .model_count = request->model_count,
                                           .windows = request->windows,
                                           .window_count = request->window_count,
                                           .outstanding = request->outstanding };
    memcpy(report->models, request->models, sizeof(report->models));
    result = latency_medians(db, &s.medians, err);
    report->measured = s.medians.known;
    if (result == 0)
        result = begin(&s, request, err);
    if (result == 0)
        result = plan_read(db, &options, &host, counts, err);
    if (result == 0)
        result = gather(&s, request->all_windows, err);
    concurrency_free(s.limited);
    concurrency_free(s.critical);
    return result;
}

void concurrency_report_free(struct concurrency_report *report)
{
    free(report->makespans);
    report->makespans = NULL;
}
