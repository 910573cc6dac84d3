/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_parts.h
 *
 * Shared by the files of the HTML report: html.c has the page, its summary and its lists,
 * html_groups.c the groups, html_examples.c their examples, html_uncertain.c the uncertain
 * differences, html_replies.c two replies side by side, html_latency.c latencies, html_phases.c
 * phases.
 */
#ifndef NFSDIGEST_REPORT_HTML_PARTS_H
#define NFSDIGEST_REPORT_HTML_PARTS_H

#include "compare/compare_parts.h"
#include "judge/judge_values.h"
#include "report/html.h"
#include "show/page.h"

/* Each query has pairs of like columns: the left one is ref, the right one sut. */
struct html {
    sqlite3 *db;
    struct page page;
    struct err *err;
    struct rules *rules;      /* those of the result */
    struct places_set places; /* fields, by procedure */
    bool many_captures;       /* a side has several */
};

/* Calls |show| for each row of |sql|, with |a| and |b| as ?1 and ?2.  Returns the number of rows,
 * or a negative code. */
int64_t html_rows(struct html *h, const char *sql, int64_t a, int64_t b,
                  void (*show)(struct html *h, sqlite3_stmt *row));

static inline bool html_is_null(sqlite3_stmt *row, int at)
{
    return sqlite3_column_type(row, at) == SQLITE_NULL;
}

/* Returns the text of a column, or "" for NULL.  It lives as long as the row. */
const char *html_column(sqlite3_stmt *row, int at);
/* Writes a column as text, cut at HTML_TEXT_MAX.  For NULL it writes |none|, which is markup. */
void html_put_column(struct html *h, sqlite3_stmt *row, int at, const char *none);
void html_put_count(struct html *h, uint64_t n);

/* html_groups.c */
int html_groups(struct html *h);

/* html_uncertain.c */
int html_uncertain(struct html *h);

/* html_examples.c */
int html_examples(struct html *h, int64_t group);

/* html_replies.c: shows two bodies side by side. */
struct html_message {
    const struct procedure *procedure;
    int64_t program, version;
    bool answered;
    const char *status;    /* or NULL */
    struct kept_body body; /* long but without bytes: the body is not in the result */
    struct bytes data_digest;
};
struct html_found {
    const char *field, *element; /* as in table discrepancy; |element| may be NULL */
    int64_t ref, sut;            /* operations; 0: none */
    int64_t group;
};
int html_replies(struct html *h, const struct html_message message[SIDES],
                 const struct html_found *found);

/* html_latency.c */
int html_latency(struct html *h);

/* html_phases.c: nothing, if the result has no phases. */
int html_phases(struct html *h);

/* html_assets.c: html.css, html.js, trace.css and trace.js as they are. */
extern const char *const html_style, *const html_script;
extern const char *const html_trace_style, *const html_trace_script;
enum { HTML_POLICY_MAX = 64 };
/* The Content-Security-Policy that lets |script| run and no other one.  Returns |text|. */
const char *html_policy(const char *script, char text[HTML_POLICY_MAX]);

#endif
