/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_phases.c
 *
 * Exports, and phases that clients marked: what happened in each, for the page of a trace and as
 * JSON.  For trace_report.c.
 */
#include "report/trace_report_parts.h"
#include "store/operation_groups.h"
#include "store/sql.h"

int trace_phases(struct trace_view *v, struct err *err)
{
    struct groups_request request = { .tables = 1u << BY_EXPORT, .top = TRACE_PHASES_MAX };
    int64_t any;

    if (sql_number(v->h.db, "SELECT EXISTS (SELECT 1 FROM phase)", 0, &any, err) < 0)
        return -err->code;
    if (any)
        request.tables |= 1u << BY_PHASE;
    return groups_read(v->h.db, &request, &v->groups, err);
}

static void put_table(struct page *page, const struct groups *groups, enum group_by by,
                      const char *caption)
{
    static const char *const heads[] = { "phase",  "marked", "lasted",  "operations",
                                         "errors", "read",   "written", "50 %",
                                         "90 %",   "99 %",   "max",     NULL };
    static const char *const without_marks[] = { "export",  "operations", "errors", "read",
                                                 "written", "50 %",       "90 %",   "99 %",
                                                 "max",     NULL };

    cells_begin(page, caption, by == BY_PHASE ? heads : without_marks);
    for (int i = 0; i < groups->count; i++) {
        const struct group *g = &groups->groups[i];

        cells_row(page, g->label);
        if (by == BY_PHASE) {
            cells_count(page, g->times);
            cells_time(page, g->times, g->lasted);
        }
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
    if (groups->left_out)
        page_put(page, "<p class=\"note\">%llu further ones are not shown.</p>\n",
                 (unsigned long long)groups->left_out);
}

void trace_html_phases(struct trace_view *v)
{
    const struct groups *phases = &v->groups.by[BY_PHASE];
    struct page *page = &v->h.page;

    if (!phases->count)
        return;
    page_put(page, "<h2 id=\"phases\">Phases</h2>\n<p class=\"note\">Clients marked them with "
                   "<code>nfsdigest phase</code>.</p>\n");
    put_table(page, phases, BY_PHASE, "What happened in each phase");
}

void trace_html_exports(struct trace_view *v)
{
    const struct groups *exports = &v->groups.by[BY_EXPORT];
    struct page *page = &v->h.page;

    page_put(page, "<h2 id=\"exports\">Exports</h2>\n<p class=\"note\">MOUNT paths, as far as the "
                   "trace shows them, else file systems.</p>\n");
    if (exports->count)
        put_table(page, exports, BY_EXPORT, "What happened in each export");
}

static void put_latency(struct json *j, const char *key, const struct group *g, int64_t ns)
{
    if (g->answered)
        json_i64(j, key, ns);
    else
        json_null(j, key);
}

static void put_groups(const struct trace_view *v, struct json *j, enum group_by by)
{
    const struct groups *groups = &v->groups.by[by];

    for (int i = 0; i < groups->count; i++) {
        const struct group *g = &groups->groups[i];

        json_break(j);
        json_object(j, NULL);
        trace_json_text(v, j, group_names[by], g->key[0] < 0 ? NULL : g->label);
        if (by == BY_PHASE) {
            json_u64(j, "times", g->times);
            json_i64(j, "lasted", g->lasted);
        }
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
}

void trace_json_phases(const struct trace_view *v, struct json *j)
{
    json_break(j);
    json_array(j, "phases");
    put_groups(v, j, BY_PHASE);
    json_array_end(j);
    json_break(j);
    json_object(j, "exports");
    json_u64(j, "left_out", v->groups.by[BY_EXPORT].left_out);
    json_array(j, "groups");
    put_groups(v, j, BY_EXPORT);
    json_array_end(j);
    json_object_end(j);
}
