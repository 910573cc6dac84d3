/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/metrics/metrics_page.h
 *
 * Metrics in the text exposition format of Prometheus, version 0.0.4.  A program has a table of its
 * metrics; a page is written from it sample by sample, in the table's order:
 *
 *     metrics_page_u64(page, &table[CALLS], (const char *[]){ "READ" }, stats.reads);
 *
 * Memory: the page.
 */
#ifndef NFSDIGEST_METRICS_METRICS_PAGE_H
#define NFSDIGEST_METRICS_METRICS_PAGE_H

#include "base/bytes.h"
#include "base/err.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric {
    const char *name; /* counters end in "_total" */
    enum metric_kind kind;
    const char *help;
    const char *labels; /* their names, separated by blanks; NULL: none */
};

enum { METRIC_LABELS_MAX = 8, METRIC_NAME_MAX = 100 };

/* Checks a table.  -ERR_USAGE: a name that Prometheus does not accept, a counter without "_total",
 * or the same name twice. */
int metrics_check(const struct metric *table, uint32_t count, struct err *err);

struct metrics_page {
    const struct metric *table; /* checked */
    uint32_t count;
    struct buf text; /* the caller frees it */
    /* only the page uses these: */
    uint32_t next;     /* the metrics before this one are done */
    bool failed;       /* no memory */
    bool out_of_order; /* a metric is not in the table, or was already done */
};

/* Write a sample.  |labels|: a value for each of the metric's labels, or NULL if it has none. */
void metrics_page_u64(struct metrics_page *page, const struct metric *metric,
                      const char *const *labels, uint64_t value);
void metrics_page_double(struct metrics_page *page, const struct metric *metric,
                         const char *const *labels, double value);

struct metric_histogram {
    uint32_t count;
    const double *bounds;   /* |count| rising numbers: the highest values of the buckets */
    const uint64_t *counts; /* |count| + 1: of each bucket alone, and of values above all */
    double sum;             /* of all values */
};
void metrics_page_histogram(struct metrics_page *page, const struct metric *metric,
                            const char *const *labels, const struct metric_histogram *histogram);

/* Ends the page.  Returns 0, -ERR_SYSTEM, or -ERR_USAGE for metrics out of order. */
int metrics_page_end(const struct metrics_page *page, struct err *err);

#endif
