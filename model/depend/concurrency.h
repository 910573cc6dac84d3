/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/depend/concurrency.h
 *
 * Estimates how much concurrency a replay of a trace can reach (FEUT, figure 4).  Many replays are
 * simulated at the same time, in one pass over the operations.
 *
 * A replayer has a window of W operations, which begins at the first unfinished one.  An operation
 * begins as soon as it is in the window and the operations that it depends on are finished.  Then
 * it takes its time: the server serves all requests at once.  With a limit of outstanding requests,
 * the operations with the lowest numbers begin first.  Operations that take no time do not count
 * for the limit.
 *
 * Each simulation has one window, one granularity of dependencies and one model of latencies.
 * Memory: 8 bytes for each operation of each window; with a limit 24 bytes, and 8 bytes for each
 * dependency within the window.
 */
#ifndef NFSDIGEST_DEPEND_CONCURRENCY_H
#define NFSDIGEST_DEPEND_CONCURRENCY_H

#include "base/err.h"

#include <stdint.h>

enum {
    CONCURRENCY_GRANULARITIES = 2,
    CONCURRENCY_MODELS_MAX = 4,
    CONCURRENCY_WINDOW_MAX = 1 << 16, /* longer dependencies are not known */
};

struct concurrency_options {
    const uint32_t *windows; /* 1 to CONCURRENCY_WINDOW_MAX each */
    uint32_t window_count;
    uint32_t model_count;
    uint32_t outstanding; /* 0: no limit */
};

/* Dependencies of an operation: the distances back to the earlier operations, growing, from 1. */
struct concurrency_edges {
    const uint32_t *distances;
    uint32_t count;
};

struct concurrency;

/* NULL: no memory, or options out of bounds. */
struct concurrency *concurrency_new(const struct concurrency_options *options, struct err *err);
void concurrency_free(struct concurrency *c);

/* Adds the next operation.  |latencies|: its latency in each model, ns, not negative.  |edges|: its
 * dependencies in each granularity. */
int concurrency_next(struct concurrency *c, const int64_t *latencies,
                     const struct concurrency_edges edges[CONCURRENCY_GRANULARITIES],
                     struct err *err);

/* Returns the time when everything is finished, in ns.  Call it after the last operation. */
int64_t concurrency_makespan(struct concurrency *c, uint32_t granularity, uint32_t model,
                             uint32_t window);

#endif
