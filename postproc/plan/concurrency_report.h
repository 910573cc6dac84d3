/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/concurrency_report.h
 *
 * Estimates how much concurrency a replay of a trace can reach.  Its plan goes through simulations
 * of all windows and models of latencies at once (depend/concurrency.h).
 *
 * Memory: that of plan.h and of the simulations, and 8 bytes for each figure.
 */
#ifndef NFSDIGEST_PLAN_CONCURRENCY_REPORT_H
#define NFSDIGEST_PLAN_CONCURRENCY_REPORT_H

#include "depend/concurrency.h"
#include "plan/concurrency_latency.h"
#include "plan/plan.h"

struct concurrency_request {
    struct latency_model models[CONCURRENCY_MODELS_MAX];
    uint32_t model_count;
    const uint32_t *windows; /* growing */
    uint32_t window_count;
    bool all_windows; /* false: of the windows that hold the whole trace, use only the smallest */
    uint32_t outstanding; /* 0: no limit */
};

struct concurrency_report {
    uint64_t operations, inferred, unplayable;
    uint64_t guessed;  /* operations that take a median: no reply, or inferred */
    uint64_t measured; /* operations that have a latency */
    uint64_t dependencies[CONCURRENCY_GRANULARITIES]; /* by enum granularity */
    /* figures of the trace: from its first call to its last reply; operations with a reply */
    int64_t begin, end; /* ns */
    uint64_t answered;
    double answered_time; /* sum of their latencies, ns */

    struct latency_model models[CONCURRENCY_MODELS_MAX];
    uint32_t model_count;
    double busy[CONCURRENCY_MODELS_MAX]; /* sum of latencies, ns */
    const uint32_t *windows;             /* the request's */
    uint32_t window_count;
    uint32_t outstanding; /* 0: no limit */
    /* ns: with each window; with the largest possible window; and with that and no limit */
    int64_t *makespans; /* [granularity][model][window]; the report's own */
    int64_t largest[CONCURRENCY_GRANULARITIES][CONCURRENCY_MODELS_MAX];
    int64_t critical[CONCURRENCY_GRANULARITIES][CONCURRENCY_MODELS_MAX];
    bool too_long; /* some makespan is more than 292 years */
};

/* |counts| is as for plan_read.  Call this after wire_init. */
int concurrency_report(sqlite3 *db, const struct concurrency_request *request,
                       struct concurrency_report *report, struct plan_counts *counts,
                       struct err *err);
void concurrency_report_free(struct concurrency_report *report);

#endif
