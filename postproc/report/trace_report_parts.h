/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_report_parts.h
 *
 * Shared by the files of the report of a trace: trace_report.c reads the trace and frames the page,
 * trace_json.c writes the numbers, trace_sql.c has queries for both; trace_html_time.c shows what
 * happened over time, trace_html_heat.c latencies over time, trace_html_groups.c procedures,
 * statuses, clients and users, trace_html_paths.c paths, trace_html_phases.c phases and exports,
 * trace_html_slow.c concurrency, the slowest operations and what is missing.
 */
#ifndef NFSDIGEST_REPORT_TRACE_REPORT_PARTS_H
#define NFSDIGEST_REPORT_TRACE_REPORT_PARTS_H

#include "activity/activity.h"
#include "base/json.h"
#include "report/html_parts.h"
#include "report/trace_report.h"
#include "show/page_cells.h"
#include "store/operation_groups.h"

struct trace_view {
    struct html h;             /* its database and page */
    const char *name, *filter; /* |filter|: in words; NULL: the whole trace */
    bool cuts;                 /* JSON: texts are cut as those of the page are */
    struct activity a;
    struct operation_groups groups; /* by[BY_PHASE] and by[BY_EXPORT] */
};

/* --- trace_sql.c: rows as members of JSON; the page takes columns by enum */

extern const char trace_sources[], trace_problems[], trace_holes[], trace_counters[], trace_slow[];

enum {
    SOURCE_ID,
    SOURCE_NAME,
    SOURCE_KIND,
    SOURCE_STATE,
    SOURCE_NOTE,
    SOURCE_FRAMES,
    SOURCE_OPERATIONS,
    SOURCE_FIRST,
    SOURCE_LAST
};
enum { PROBLEM_NAME, PROBLEM_COUNT, PROBLEM_BYTES };
enum { HOLE_TIME, HOLE_BYTES, HOLE_SOURCE, HOLE_FRAME, HOLE_CLIENT, HOLE_SERVER, HOLE_DIRECTION };
enum {
    SLOW_ID,
    SLOW_LATENCY,
    SLOW_TIME,
    SLOW_PROCEDURE,
    SLOW_PATH,
    SLOW_PATH2,
    SLOW_STATUS,
    SLOW_CLIENT,
    SLOW_PORT,
    SLOW_SERVER,
    SLOW_UID,
    SLOW_XID,
    SLOW_CALL_SOURCE,
    SLOW_CALL_FRAME,
    SLOW_REPLY_SOURCE,
    SLOW_REPLY_FRAME,
    SLOW_FILTER
};

/* Calls |show| for each of the slowest operations, with a row of trace_slow. */
int trace_each_slow(struct trace_view *v, void (*show)(void *ctx, sqlite3_stmt *row), void *ctx);

/* --- trace_json.c */

int trace_json(struct trace_view *v, struct json *j);
/* Writes a text, which the page cuts as it cuts all its texts. */
void trace_json_text(const struct trace_view *v, struct json *j, const char *key, const char *text);

/* --- trace_html_phases.c: reads phases and exports, and shows them if there are any */

int trace_phases(struct trace_view *v, struct err *err);
void trace_html_phases(struct trace_view *v);
void trace_html_exports(struct trace_view *v);
void trace_json_phases(const struct trace_view *v, struct json *j);

/* --- the parts of the page, in this order */

void trace_html_time(struct trace_view *v);
void trace_html_heat(struct trace_view *v);
void trace_html_under_way(struct trace_view *v);
void trace_html_groups(struct trace_view *v);
void trace_html_paths(struct trace_view *v);
int trace_html_slow(struct trace_view *v);
int trace_html_missing(struct trace_view *v);

/* --- trace_html_groups.c: the procedures or clients of a group with |all| operations; what a list
 * leaves out, in the plural */
void trace_put_parts(struct page *page, const char *title, const struct activity_parts *parts,
                     uint64_t all);
void trace_put_left_out(struct page *page, const struct activity_list *list, const char *what);

/* Draws |svg| into the page in a frame of its own, which a keyboard can scroll; |label| tells what
 * it shows. */
void trace_put_plot(struct page *page, const struct buf *svg, const char *label);

#endif
