/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/concurrency_print.h
 *
 * What simulated replays have shown, for people, for programs, and as a plot.
 */
#ifndef NFSDIGEST_CLI_CONCURRENCY_PRINT_H
#define NFSDIGEST_CLI_CONCURRENCY_PRINT_H

#include "depend/concurrency.h"
#include "plan/concurrency_latency.h"

struct concurrency_report {
    uint64_t operations, inferred, unplayable;
    uint64_t guessed;                                 /* take a median: no reply, or inferred */
    uint64_t dependencies[CONCURRENCY_GRANULARITIES]; /* by enum granularity, as all of these */
    /* the trace itself: from the first call to the last reply; operations that have one */
    int64_t begin, end; /* ns */
    uint64_t answered;
    double answered_time; /* sum of their latencies, ns */

    const struct latency_model *models;
    uint32_t model_count;
    double busy[CONCURRENCY_MODELS_MAX]; /* sum of latencies, ns */
    const uint32_t *windows;             /* growing */
    uint32_t window_count;
    uint32_t outstanding; /* 0: no limit */
    /* ns: with each window, and with the largest one that there can be; then without a limit, too
     */
    const int64_t *makespans; /* [granularity][model][window] */
    int64_t largest[CONCURRENCY_GRANULARITIES][CONCURRENCY_MODELS_MAX];
    int64_t critical[CONCURRENCY_GRANULARITIES][CONCURRENCY_MODELS_MAX];
};

/* To standard output. */
void concurrency_text(const struct concurrency_report *report);
void concurrency_json(const struct concurrency_report *report);

/* |path|: as output_open has it.  |trace|: its name, for the title. */
int concurrency_svg(const struct concurrency_report *report, const char *path, const char *trace,
                    struct err *err);

#endif
