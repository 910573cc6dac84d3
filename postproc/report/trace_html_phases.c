/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_phases.c
 *
 * Phases that clients marked: what happened in each, for the page of a trace and as JSON.  For
 * trace_report.c.
 */
#include "report/trace_report_parts.h"
#include "store/operation_groups.h"
#include "store/sql.h"

int trace_phases(struct trace_view *v, struct err *err)
{
    const struct groups_request request = { .tables = 1u << BY_PHASE, .top = TRACE_PHASES_MAX };
    int64_t any;

    if (sql_number(v->h.db, "SELECT EXISTS (SELECT 1 FROM phase)", 0, &any, err) < 0)
        return -err->code;
    return any ? groups_read(v->h.db, &request, &v->phases, err) : 0;
}

void trace_html_phases(struct trace_view *v)
{
    static const char *const heads[] = { "phase",  "marked", "lasted",  "operations",
                                         "errors", "read",   "written", "50 %",
                                         "90 %",   "99 %",   "max",     NULL };
    const struct groups *phases = &v->phases.by[BY_PHASE];
    struct page *page = &v->h.page;

    if (!phases->count)
        return;
    page_put(page, "<h2 id=\"phases\">Phases</h2>\n<p class=\"note\">Clients marked them with "
                   "<code>nfsdigest phase</code>.</p>\n");
    cells_begin(page, "What happened in each phase", heads);
    for (int i = 0; i < phases->count; i++) {
        const struct group *g = &phases->groups[i];

        cells_row(page, g->label);
        cells_count(page, g->times);
        cells_time(page, g->times, g->lasted);
        cells_count(page, g->operations);
        cells_count(page, g->errors);
        cells_size(page, g->read);
        cells_size(page, g->written);
        cells_time(page, g->answered, g->p50);
        cells_time(page, g->answered, g->p90);
        cells_time(page, g->answered, g->p99);
        cells_time(page, g->answered, g->max);
        cells_row_end(page);
    }
    cells_end(page);
    if (phases->left_out)
        page_put(page, "<p class=\"note\">%llu further ones are not shown.</p>\n",
                 (unsigned long long)phases->left_out);
}

static void put_latency(struct json *j, const char *key, const struct group *g, int64_t ns)
{
    if (g->answered)
        json_i64(j, key, ns);
    else
        json_null(j, key);
}

void trace_json_phases(const struct trace_view *v, struct json *j)
{
    const struct groups *phases = &v->phases.by[BY_PHASE];

    json_break(j);
    json_array(j, "phases");
    for (int i = 0; i < phases->count; i++) {
        const struct group *g = &phases->groups[i];

        json_break(j);
        json_object(j, NULL);
        if (g->key[0] < 0)
            json_null(j, "phase");
        else
            trace_json_text(v, j, "phase", g->label);
        json_u64(j, "times", g->times);
        json_i64(j, "lasted", g->lasted);
        json_u64(j, "operations", g->operations);
        json_u64(j, "errors", g->errors);
        json_u64(j, "answered", g->answered);
        json_u64(j, "read", g->read);
        json_u64(j, "written", g->written);
        put_latency(j, "p50", g, g->p50);
        put_latency(j, "p90", g, g->p90);
        put_latency(j, "p99", g, g->p99);
        put_latency(j, "max", g, g->max);
        json_object_end(j);
    }
    json_array_end(j);
}
