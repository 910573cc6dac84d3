/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_report.h
 *
 * Shows one trace: as an HTML page, and as JSON with the same numbers (schemas/trace.schema.json),
 * which the page also holds.  Only operations that are named one by one are rows: the slowest ones.
 *
 * Memory: that of activity.h, and the page's text.
 */
#ifndef NFSDIGEST_REPORT_TRACE_REPORT_H
#define NFSDIGEST_REPORT_TRACE_REPORT_H

#include "store/filter.h"

#include <sqlite3.h>
#include <stdio.h>

enum {
    TRACE_HOLES_MAX = 20,
    TRACE_SOURCES_MAX = 100,
    TRACE_COUNTERS_MAX = 200,
    TRACE_PHASES_MAX = 100,
    TRACE_TEXT_MAX = 300
};

struct trace_report_request {
    const char *name;            /* of the trace, as the user gave it */
    const char *html;            /* path of the page, "-": standard output; or NULL */
    FILE *json;                  /* for the JSON; or NULL */
    const struct filter *filter; /* only these operations; NULL: all */
    const char *filter_words;    /* the same for people */
};

/* Reads the trace once, then writes.  The page appears when it is complete.  Its text does not
 * depend on when or where it is made. */
int trace_report(sqlite3 *db, const struct trace_report_request *request, struct err *err);

#endif
