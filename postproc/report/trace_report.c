/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_report.c
 *
 * Reads a trace and frames its page: title, figures, sources, the parts of trace_html_*.c, the
 * numbers as JSON, the script.  For cmd_report.c.  The contract is in trace_report.h.
 */
#include "base/values.h"
#include "report/trace_report_parts.h"
#include "store/filter_narrow.h"
#include "store/sql.h"

#include <stdio.h>
#include <string.h>

/* --- figures */

static void tile(struct page *page, const char *name, const char *value)
{
    page_put(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, value);
}

static void tile_count(struct page *page, const char *name, uint64_t n)
{
    char text[VALUE_TEXT_MAX];

    tile(page, name, count_text(n, text));
}

static void put_tiles(struct trace_view *v)
{
    const struct activity *a = &v->a;
    struct page *page = &v->h.page;
    char text[VALUE_TEXT_MAX];
    int64_t span;
    double rate;

    page_put(page, "<dl class=\"tiles\">\n");
    tile_count(page, "operations", a->n.operations);
    if (a->timed && !__builtin_sub_overflow(a->last_time, a->first_time, &span) && span > 0) {
        tile(page, "time", duration_text(span, text));
        rate = (double)a->n.operations * 1e9 / (double)span;
        snprintf(text, sizeof(text), "%.4g", rate);
        tile(page, "operations a second", rate < 1000 ? text : count_text((uint64_t)rate, text));
    }
    snprintf(text, sizeof(text), "%.2f %%",
             a->n.operations ? 100.0 * (double)a->n.errors / (double)a->n.operations : 0.0);
    tile(page, "with an error status", text);
    if (a->n.latency.answered) {
        tile(page, "median latency", duration_text(a->n.latency.p50, text));
        tile(page, "99 % within", duration_text(a->n.latency.p99, text));
        tile_count(page, "most under way", a->peak);
    }
    tile(page, "read", size_text(a->n.read, text));
    tile(page, "written", size_text(a->n.written, text));
    tile_count(page, "calls sent again", a->n.resent);
    tile_count(page, "without a reply", a->n.unanswered);
    page_put(page, "</dl>\n");
}

/* --- where it comes from */

static void show_source(struct html *h, sqlite3_stmt *row)
{
    char text[VALUE_TEXT_MAX];
    const char *state = html_column(row, SOURCE_STATE);

    page_put(&h->page, "<tr><th scope=\"row\" class=\"path\"><code>");
    page_text_cut(&h->page, html_column(row, SOURCE_NAME), TRACE_TEXT_MAX);
    page_put(&h->page, "</code></th><td class=\"t\">");
    html_put_column(h, row, SOURCE_KIND, "?");
    page_put(&h->page, "</td>");
    cells_count(&h->page, (uint64_t)sqlite3_column_int64(row, SOURCE_FRAMES));
    cells_count(&h->page, (uint64_t)sqlite3_column_int64(row, SOURCE_OPERATIONS));
    for (int i = SOURCE_FIRST; i <= SOURCE_LAST; i++)
        page_put(&h->page, "<td class=\"t\">%s</td>",
                 html_is_null(row, i) ? "-" : time_text(sqlite3_column_int64(row, i), text));
    page_put(&h->page, "<td class=\"t\"><span%s>",
             strcmp(state, "complete") == 0 ? "" : " class=\"bad\"");
    html_put_column(h, row, SOURCE_STATE, "?");
    page_put(&h->page, "</span> ");
    html_put_column(h, row, SOURCE_NOTE, "");
    page_put(&h->page, "</td></tr>\n");
}

static int put_sources(struct trace_view *v)
{
    static const char *const heads[] = { "name",         "<kind",       "frames", "operations",
                                         "<first (UTC)", "<last (UTC)", "<state", NULL };
    struct page *page = &v->h.page;
    int64_t count;

    if (sql_number(v->h.db, "SELECT count(*) FROM source", 0, &count, v->h.err) < 0)
        return -v->h.err->code;
    cells_begin(page, "Captures and record streams", heads);
    if (html_rows(&v->h, trace_sources, TRACE_SOURCES_MAX, 0, show_source) < 0)
        return -v->h.err->code;
    cells_end(page);
    if (count > TRACE_SOURCES_MAX)
        page_put(page, "<p class=\"note\">%lld further ones are not shown.</p>\n",
                 (long long)(count - TRACE_SOURCES_MAX));
    return 0;
}

static int put_head(struct trace_view *v)
{
    struct page *page = &v->h.page;
    const char *slash = strrchr(v->name, '/');

    page_put(page, "<a class=\"skip\" href=\"#time\">To the first drawing</a>\n<h1>Trace ");
    page_text(page, slash ? slash + 1 : v->name);
    page_put(page, "</h1>\n");
    if (v->filter) {
        page_put(page, "<p class=\"warning\">Only some of its operations: <code>");
        page_text_cut(page, v->filter, TRACE_TEXT_MAX);
        page_put(page, "</code>. Figures of captures, and counters, are those of the whole trace; "
                       "problems are those of the time of these operations.</p>\n");
    }
    put_tiles(v);
    if (put_sources(v) < 0)
        return -v->h.err->code;
    page_put(page, "<nav aria-label=\"Parts\"><p><a href=\"#time\">Over time</a> · "
                   "<a href=\"#latency\">Latency</a> · <a href=\"#under-way\">Concurrency</a> · "
                   "<a href=\"#operations\">Operations</a> · <a href=\"#clients\">Clients and "
                   "users</a> · <a href=\"#exports\">Exports</a> · <a href=\"#paths\">Paths</a> · "
                   "<a href=\"#slow\">Slowest</a> · "
                   "<a href=\"#missing\">What is missing</a></p></nav>\n");
    return 0;
}

/* --- and ends with */

/* In a script element, "<" may begin a tag; in JSON strings an escape says the same. */
static void put_data(struct page *page, const struct buf *json)
{
    const char *at = (const char *)json->data, *end = at + json->len, *next;

    page_put(page, "<script type=\"application/json\" id=\"data\">");
    for (; (next = memchr(at, '<', (size_t)(end - at))) != NULL; at = next + 1) {
        page_raw(page, at, (size_t)(next - at));
        page_raw(page, "\\u003c", 6);
    }
    page_raw(page, at, (size_t)(end - at));
    page_put(page, "</script>\n<script>");
    page_raw(page, html_trace_script, strlen(html_trace_script));
    page_put(page, "</script>\n");
}

static int put_page(struct trace_view *v)
{
    struct buf data = { 0 };
    struct json j = { .to = &data };
    int result = put_head(v);

    if (result == 0) {
        trace_html_time(v);
        trace_html_heat(v);
        trace_html_under_way(v);
        trace_html_phases(v);
        trace_html_groups(v);
        trace_html_exports(v);
        trace_html_paths(v);
        result = trace_html_slow(v);
    }
    if (result == 0)
        result = trace_html_missing(v);
    v->cuts = true;
    if (result == 0)
        result = trace_json(v, &j);
    v->cuts = false;
    if (result == 0)
        put_data(&v->h.page, &data);
    buf_free(&data);
    return result;
}

void trace_put_plot(struct page *page, const struct buf *svg, const char *label)
{
    page_put(page, "<div class=\"wide plot\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">",
             label);
    page_raw(page, svg->data, svg->len);
    page_put(page, "</div>\n");
}

static int write_html(struct trace_view *v, const char *path, struct err *err)
{
    struct output *output = output_open(path, err);
    char policy[HTML_POLICY_MAX], title[TRACE_TEXT_MAX];
    const char *slash = strrchr(v->name, '/');
    const struct page_head head = { title, html_trace_style,
                                    html_policy(html_trace_script, policy) };
    int result;

    if (!output)
        return -err->code;
    snprintf(title, sizeof(title), "Trace %s", slash ? slash + 1 : v->name);
    page_begin(&v->h.page, &head, output_write, output, err);
    result = put_page(v);
    v->h.page.failed |= result < 0;
    result = page_end(&v->h.page);
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}

int trace_report(sqlite3 *db, const struct trace_report_request *request, struct err *err)
{
    struct trace_view v = { .h = { .db = db, .err = err }, .name = request->name };
    struct json j = { .out = request->json };
    int result = 0;

    if (request->filter)
        v.filter = request->filter_words;
    if (request->filter && filter_narrow(db, request->filter, err) < 0)
        return -err->code;
    if (activity_read(db, &v.a, err) < 0)
        return -err->code;
    result = trace_phases(&v, err);
    if (result == 0 && request->html)
        result = write_html(&v, request->html, err);
    if (result == 0 && request->json)
        result = trace_json(&v, &j);
    groups_free(&v.groups);
    activity_free(&v.a);
    return result;
}
