/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_groups.c
 *
 * Procedures, statuses, clients and users, each with what belongs to it.  For trace_report.c.
 */
#include "base/values.h"
#include "report/trace_report_parts.h"

#include <stdio.h>

static void put_bar(struct page *page, uint64_t part, uint64_t all)
{
    double share = all ? 100.0 * (double)part / (double)all : 0;

    page_put(page,
             "<td class=\"share\"><svg class=\"bar\" viewBox=\"0 0 100 10\" width=\"100\" "
             "height=\"10\" role=\"img\" aria-label=\"share\" preserveAspectRatio=\"none\">"
             "<rect width=\"%.1f\" height=\"10\"/></svg> %.2f %%</td>",
             share, share);
}

static void put_latencies(struct page *page, const struct activity_latency *l)
{
    cells_time(page, l->answered, l->p50);
    cells_time(page, l->answered, l->p90);
    cells_time(page, l->answered, l->p99);
    cells_time(page, l->answered, l->max);
}

void trace_put_parts(struct page *page, const char *title, const struct activity_parts *parts,
                     uint64_t all)
{
    uint64_t rest = all;
    char text[VALUE_TEXT_MAX];

    if (!parts->count)
        return;
    page_put(page, "<p class=\"parts\">%s: ", title);
    for (uint32_t i = 0; i < parts->count; i++) {
        page_put(page, "%s", i ? ", " : "");
        page_text_cut(page, parts->parts[i].label, TRACE_TEXT_MAX);
        page_put(page, "&nbsp;%s", count_text(parts->parts[i].operations, text));
        rest -= parts->parts[i].operations;
    }
    if (rest)
        page_put(page, ", others&nbsp;%s", count_text(rest, text));
    page_put(page, "</p>\n");
}

void trace_put_left_out(struct page *page, const struct activity_list *list, const char *what)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    if (list->left_out)
        page_put(page, "<p class=\"note\">%s further %s with %s operations are not shown.</p>\n",
                 count_text(list->left_out, a), what, count_text(list->unshown, b));
    if (list->beyond)
        page_put(page,
                 "<p class=\"warning\">There are more %s than are told apart. %s operations of "
                 "others are in no row, so a row can be missing.</p>\n",
                 what, count_text(list->beyond, b));
}

static void put_procedures(struct trace_view *v)
{
    static const char *const heads[] = { "procedure",  "operations", "share", "errors",
                                         "sent again", "no reply",   "read",  "written",
                                         "50 %",       "90 %",       "99 %",  "max",
                                         NULL };
    const struct activity_list *list = &v->a.by[ACTIVITY_PROCEDURE];
    struct page *page = &v->h.page;

    cells_begin(page, "Procedures", heads);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct activity_group *g = &list->groups[i];

        cells_row(page, g->label);
        cells_count(page, g->n.operations);
        put_bar(page, g->n.operations, v->a.n.operations);
        cells_count(page, g->n.errors);
        cells_count(page, g->n.resent);
        cells_count(page, g->n.unanswered);
        cells_size(page, g->n.read);
        cells_size(page, g->n.written);
        put_latencies(page, &g->n.latency);
        cells_row_end(page);
    }
    cells_end(page);
    trace_put_left_out(page, list, "procedures");
}

static const char *procedure_label(const struct activity *a, const int64_t *key)
{
    const struct activity_list *list = &a->by[ACTIVITY_PROCEDURE];

    for (uint32_t i = 0; i < list->count; i++)
        if (memcmp(list->groups[i].key, key, 3 * sizeof(*key)) == 0)
            return list->groups[i].label;
    return key[0] < 0 ? "call not captured" : "another procedure";
}

static void put_statuses(struct trace_view *v)
{
    static const char *const heads[] = { "status", "<procedure", "operations",
                                         "share of the procedure", NULL };
    const struct activity_list *list = &v->a.by[ACTIVITY_STATUS];
    const struct activity_list *procedures = &v->a.by[ACTIVITY_PROCEDURE];
    struct page *page = &v->h.page;

    if (!list->count) {
        page_put(page, "<p>No operation has an error status.</p>\n");
        return;
    }
    cells_begin(page, "Error statuses", heads);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct activity_group *g = &list->groups[i];
        uint64_t all = 0;

        for (uint32_t k = 0; k < procedures->count; k++)
            if (memcmp(procedures->groups[k].key, g->key, 3 * sizeof(*g->key)) == 0)
                all = procedures->groups[k].n.operations;
        cells_row(page, g->label);
        cells_text(page, procedure_label(&v->a, g->key));
        cells_count(page, g->n.operations);
        if (all)
            put_bar(page, g->n.operations, all);
        else
            page_put(page, "<td>-</td>");
        cells_row_end(page);
    }
    cells_end(page);
    trace_put_left_out(page, list, "statuses");
}

/* Clients or users; their procedures are in a part that opens. */
static void put_callers(struct trace_view *v, enum activity_by by, const char *title,
                        const char *what)
{
    const char *const heads[] = { what,       "operations", "share",   "errors", "sent again",
                                  "no reply", "read",       "written", "50 %",   "90 %",
                                  "99 %",     "max",        NULL };
    const char *const user_heads[] = { what,       "operations", "share",   "errors",
                                       "no reply", "read",       "written", "50 %",
                                       "90 %",     "99 %",       "max",     NULL };
    const struct activity_list *list = &v->a.by[by];
    struct page *page = &v->h.page;

    cells_begin(page, title, by == ACTIVITY_USER ? user_heads : heads);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct activity_group *g = &list->groups[i];

        page_put(page, "<tr><th scope=\"row\"><details><summary>");
        page_text_cut(page, g->label, TRACE_TEXT_MAX);
        page_put(page, "</summary>");
        trace_put_parts(page, "Operations", &g->procedures, g->n.operations);
        page_put(page, "</details></th>");
        cells_count(page, g->n.operations);
        put_bar(page, g->n.operations, v->a.n.operations);
        cells_count(page, g->n.errors);
        if (by != ACTIVITY_USER)
            cells_count(page, g->n.resent);
        cells_count(page, g->n.unanswered);
        cells_size(page, g->n.read);
        cells_size(page, g->n.written);
        put_latencies(page, &g->n.latency);
        cells_row_end(page);
    }
    cells_end(page);
}

void trace_html_groups(struct trace_view *v)
{
    struct page *page = &v->h.page;

    page_put(page, "<h2 id=\"operations\">Operations</h2>\n");
    put_procedures(v);
    put_statuses(v);
    page_put(page, "<h2 id=\"clients\">Clients and users</h2>\n");
    put_callers(v, ACTIVITY_CLIENT, "Clients", "client");
    trace_put_left_out(page, &v->a.by[ACTIVITY_CLIENT], "clients");
    put_callers(v, ACTIVITY_USER, "Users", "user");
    trace_put_left_out(page, &v->a.by[ACTIVITY_USER], "users");
}
