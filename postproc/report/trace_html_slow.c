/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_slow.c
 *
 * The slowest operations, with their frames and a display filter; what the trace lacks.  For
 * trace_report.c.
 */
#include "base/values.h"
#include "report/trace_report_parts.h"

#include <stdio.h>

static void put_frame(struct page *page, sqlite3_stmt *row, int frame, int source, bool many)
{
    if (html_is_null(row, frame)) {
        page_put(page, "<td>-</td>");
        return;
    }
    page_put(page, "<td>%lld", (long long)sqlite3_column_int64(row, frame));
    if (many && !html_is_null(row, source)) {
        const char *name = html_column(row, source), *slash = strrchr(name, '/');

        page_put(page, "<br><small>");
        page_text_cut(page, slash ? slash + 1 : name, 80);
        page_put(page, "</small>");
    }
    page_put(page, "</td>");
}

static void show_slow(void *ctx, sqlite3_stmt *row)
{
    struct trace_view *v = ctx;
    struct page *page = &v->h.page;
    char text[VALUE_TEXT_MAX];

    page_put(page, "<tr><th scope=\"row\">%s</th><td class=\"t\">",
             duration_text(sqlite3_column_int64(row, SLOW_LATENCY), text));
    html_put_column(&v->h, row, SLOW_PROCEDURE, "?");
    page_put(page, "</td><td class=\"t path\"><code>");
    html_put_column(&v->h, row, SLOW_PATH, "");
    page_put(page, "</code>");
    if (!html_is_null(row, SLOW_PATH2)) {
        page_put(page, "<br>and <code>");
        html_put_column(&v->h, row, SLOW_PATH2, "");
        page_put(page, "</code>");
    }
    page_put(page, "</td><td class=\"t\">");
    html_put_column(&v->h, row, SLOW_STATUS, "-");
    page_put(page, "</td><td class=\"t\">");
    html_put_column(&v->h, row, SLOW_CLIENT, "?");
    page_put(page, "</td><td>");
    html_put_column(&v->h, row, SLOW_UID, "-");
    page_put(page, "</td><td class=\"t time\">%s</td>",
             time_text(sqlite3_column_int64(row, SLOW_TIME), text));
    put_frame(page, row, SLOW_CALL_FRAME, SLOW_CALL_SOURCE, v->h.many_captures);
    put_frame(page, row, SLOW_REPLY_FRAME, SLOW_REPLY_SOURCE, v->h.many_captures);
    page_put(page, "<td class=\"t\"><code class=\"filter\">");
    html_put_column(&v->h, row, SLOW_FILTER, "");
    page_put(page, "</code></td></tr>\n");
}

int trace_html_slow(struct trace_view *v)
{
    static const char *const heads[] = {
        "latency", "<procedure",  "<path", "<status", "<client",
        "uid",     "<time (UTC)", "call",  "reply",   "<Wireshark display filter",
        NULL
    };
    struct page *page = &v->h.page;
    int64_t sources;

    if (sql_number(v->h.db, "SELECT count(*) FROM source", 0, &sources, v->h.err) < 0)
        return -v->h.err->code;
    v->h.many_captures = sources > 1;
    page_put(page, "<h2 id=\"slow\">Slowest operations</h2>\n");
    if (!v->a.slowest_count) {
        page_put(page, "<p class=\"note\">No operation has a latency.</p>\n");
        return 0;
    }
    page_put(page, "<div id=\"slow-table\">");
    cells_begin(page, "The operations with the longest latencies", heads);
    if (trace_each_slow(v, show_slow, v) < 0)
        return -v->h.err->code;
    cells_end(page);
    page_put(page,
             "</div><p class=\"note\">Call and reply are the frames that complete them. The filter "
             "shows both in their capture. All "
             "operations in this order: <code>nfsdigest ops --sort latency</code></p>\n");
    return 0;
}

/* --- what is missing */

static void show_problem(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, PROBLEM_NAME, "?");
    page_put(&h->page, "</th>");
    cells_count(&h->page, (uint64_t)sqlite3_column_int64(row, PROBLEM_COUNT));
    cells_size(&h->page, (uint64_t)sqlite3_column_int64(row, PROBLEM_BYTES));
    cells_row_end(&h->page);
}

static void show_hole(struct html *h, sqlite3_stmt *row)
{
    bool to_server = strcmp(html_column(row, HOLE_DIRECTION), "to server") == 0;
    char text[VALUE_TEXT_MAX];

    page_put(&h->page, "<tr><th scope=\"row\">%s</th>",
             size_text((uint64_t)sqlite3_column_int64(row, HOLE_BYTES), text));
    page_put(&h->page, "<td class=\"t\">%s</td><td class=\"t\"><code>",
             html_is_null(row, HOLE_TIME) ? "-"
                                          : time_text(sqlite3_column_int64(row, HOLE_TIME), text));
    html_put_column(h, row, HOLE_SOURCE, "?");
    page_put(&h->page, "</code></td><td>");
    html_put_column(h, row, HOLE_FRAME, "-");
    page_put(&h->page, "</td><td class=\"t\">");
    html_put_column(h, row, to_server ? HOLE_CLIENT : HOLE_SERVER, "?");
    page_put(&h->page, " to ");
    html_put_column(h, row, to_server ? HOLE_SERVER : HOLE_CLIENT, "?");
    page_put(&h->page, "</td></tr>\n");
}

static void put_pairing(struct trace_view *v)
{
    static const char *const heads[] = { "of all", "number", "share", NULL };
    static const char *const names[ACTIVITY_PAIRINGS] = {
        "calls with their reply",
        "calls without a reply, though the capture went on",
        "replies without their call",
        "messages given up because too many were waiting",
        "calls without a reply when the capture ended",
    };
    const struct activity *a = &v->a;
    struct page *page = &v->h.page;

    cells_begin(page, "Calls and replies", heads);
    for (int i = 0; i < ACTIVITY_PAIRINGS; i++) {
        cells_row(page, names[i]);
        cells_count(page, a->pairing[i]);
        cells_share(page, a->pairing[i], a->n.operations);
        cells_row_end(page);
    }
    {
        const struct {
            const char *name;
            uint64_t count;
        } more[] = {
            { "calls sent again", a->n.resent },
            { "replies sent again", a->n.replied_again },
            { "calls captured in part", a->partial_calls },
            { "replies captured in part", a->partial_replies },
            { "operations without a time", a->untimed },
        };

        for (unsigned i = 0; i < sizeof(more) / sizeof(*more); i++) {
            cells_row(page, more[i].name);
            cells_count(page, more[i].count);
            cells_share(page, more[i].count, a->n.operations);
            cells_row_end(page);
        }
    }
    cells_end(page);
}

static void show_counter(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</th>");
    cells_count(&h->page, (uint64_t)sqlite3_column_int64(row, 1));
    cells_row_end(&h->page);
}

static int put_problems(struct trace_view *v)
{
    static const char *const heads[] = { "problem", "number", "bytes", NULL };
    static const char *const hole_heads[] = { "bytes", "<noticed (UTC)", "<capture",
                                              "frame", "<between",       NULL };
    struct page *page = &v->h.page;
    int64_t problems, holes;

    if (sql_number(v->h.db, "SELECT count(*) FROM problem", 0, &problems, v->h.err) < 0 ||
        sql_number(v->h.db, "SELECT count(*) FROM problem WHERE kind = 1", 0, &holes, v->h.err) < 0)
        return -v->h.err->code;
    if (!problems) {
        page_put(page, "<p>The capture has no holes and no other problems.</p>\n");
        return 0;
    }
    cells_begin(page, "Parts of the captures that could not be used", heads);
    if (html_rows(&v->h, trace_problems, 0, 0, show_problem) < 0)
        return -v->h.err->code;
    cells_end(page);
    if (!holes)
        return 0;
    cells_begin(page, "The largest holes", hole_heads);
    if (html_rows(&v->h, trace_holes, TRACE_HOLES_MAX, 0, show_hole) < 0)
        return -v->h.err->code;
    cells_end(page);
    return 0;
}

int trace_html_missing(struct trace_view *v)
{
    static const char *const heads[] = { "counter", "value", NULL };
    struct page *page = &v->h.page;

    page_put(page, "<h2 id=\"missing\">What is missing</h2>\n");
    put_pairing(v);
    if (put_problems(v) < 0)
        return -v->h.err->code;
    page_put(page, "<details><summary>What was counted while reading</summary>\n");
    cells_begin(page, "Counters: frames, segments, messages, and what was not opened", heads);
    if (html_rows(&v->h, trace_counters, TRACE_COUNTERS_MAX, 0, show_counter) < 0)
        return -v->h.err->code;
    cells_end(page);
    page_put(page, "</details>\n");
    return 0;
}
