/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_paths.c
 *
 * The busiest paths, each with its procedures, clients and times, and the tree of directories with
 * what is below them.  For trace_report.c.
 */
#include "base/values.h"
#include "report/trace_report_parts.h"

#include <stdio.h>

/* Operations in each span, as a line of bars. */
static void put_times(struct page *page, const struct activity *a, const uint64_t *times)
{
    uint64_t most = 1;

    if (!a->span_count)
        return;
    for (uint32_t i = 0; i < a->span_count; i++)
        most = times[i] > most ? times[i] : most;
    page_put(page,
             "<svg class=\"times\" viewBox=\"0 0 %u 30\" preserveAspectRatio=\"none\" role=\"img\" "
             "aria-label=\"Operations over time\"><path d=\"M0 30",
             a->span_count);
    for (uint32_t i = 0; i < a->span_count; i++)
        if (!i || times[i] != times[i - 1])
            page_put(page, "H%uV%.4g", i, 30 - 29.0 * (double)times[i] / (double)most);
    page_put(page, "H%uV30z\"/></svg>\n", a->span_count);
}

static void put_busiest(struct trace_view *v)
{
    static const char *const heads[] = { "path", "operations", "errors", "no reply",
                                         "read", "written",    "50 %",   "90 %",
                                         "99 %", "max",        NULL };
    const struct activity_list *list = &v->a.by[ACTIVITY_PATH];
    struct page *page = &v->h.page;

    cells_begin(page, "Busiest paths", heads);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct activity_group *g = &list->groups[i];

        page_put(page, "<tr><th scope=\"row\" class=\"path\"><details><summary><code>");
        page_text_cut(page, g->label ? g->label : "?", TRACE_TEXT_MAX);
        page_put(page, "</code></summary>");
        put_times(page, &v->a, g->over_time);
        trace_put_parts(page, "Operations", &g->procedures, g->n.operations);
        trace_put_parts(page, "Clients", &g->clients, g->n.operations);
        page_put(page, "</details></th>");
        cells_count(page, g->n.operations);
        cells_count(page, g->n.errors);
        cells_count(page, g->n.unanswered);
        cells_size(page, g->n.read);
        cells_size(page, g->n.written);
        cells_time(page, g->n.latency.answered, g->n.latency.p50);
        cells_time(page, g->n.latency.answered, g->n.latency.p90);
        cells_time(page, g->n.latency.answered, g->n.latency.p99);
        cells_time(page, g->n.latency.answered, g->n.latency.max);
        cells_row_end(page);
    }
    cells_end(page);
}

static void put_node(struct page *page, const struct activity_node *n, uint64_t all)
{
    char text[VALUE_TEXT_MAX], own[VALUE_TEXT_MAX];

    page_put(page, "<code>");
    page_text_cut(page, n->label[0] ? n->label : "/", TRACE_TEXT_MAX);
    page_put(page, "</code> %s, %.2f %%", count_text(n->operations, text),
             all ? 100.0 * (double)n->operations / (double)all : 0.0);
    if (n->own && n->own != n->operations)
        page_put(page, " <span class=\"note\">%s on itself</span>", count_text(n->own, own));
}

static void put_unshown(struct page *page, const struct activity_node *n)
{
    char text[VALUE_TEXT_MAX];

    if (n->unshown)
        page_put(page, "<li class=\"note\">%s on further paths below</li>\n",
                 count_text(n->unshown, text));
}

/* Ends the directories that |depth| is not in; |open| has those that are open. */
static void close_to(struct page *page, const struct activity_node *const *open, uint32_t *count,
                     uint32_t depth)
{
    for (; *count > depth; --*count) {
        put_unshown(page, open[*count - 1]);
        page_put(page, "</ul></details></li>\n");
    }
}

static void put_tree(struct trace_view *v)
{
    const struct activity_node *open[ACTIVITY_NODES];
    struct page *page = &v->h.page;
    uint32_t count = 0;

    page_put(page, "<h3>Directories</h3>\n<p>Operations on each directory and on everything below "
                   "it. A directory opens to its busiest parts.</p>\n<ul class=\"tree\">\n");
    for (uint32_t i = 0; i < v->a.node_count; i++) {
        const struct activity_node *n = &v->a.nodes[i];

        close_to(page, open, &count, n->depth);
        if (!n->children && !n->unshown) {
            page_put(page, "<li>");
            put_node(page, n, v->a.n.operations);
            page_put(page, "</li>\n");
            continue;
        }
        page_put(page, "<li><details%s><summary>", n->depth < 2 ? " open" : "");
        put_node(page, n, v->a.n.operations);
        page_put(page, "</summary><ul>\n");
        open[count++] = n;
    }
    close_to(page, open, &count, 0);
    page_put(page, "</ul>\n");
}

void trace_html_paths(struct trace_view *v)
{
    const struct activity_list *list = &v->a.by[ACTIVITY_PATH];
    struct page *page = &v->h.page;
    char text[VALUE_TEXT_MAX], without[VALUE_TEXT_MAX];

    page_put(page, "<h2 id=\"paths\">Paths</h2>\n");
    if (!list->count) {
        page_put(page, "<p class=\"note\">No operation has a path.</p>\n");
        return;
    }
    page_put(page, "<p>Operations on %s paths", count_text(v->a.paths, text));
    if (v->a.pathless)
        page_put(page, "; %s operations have no path", count_text(v->a.pathless, without));
    page_put(page, ".</p>\n");
    put_busiest(v);
    if (list->left_out)
        page_put(page,
                 "<p class=\"note\">%s further paths with %s operations are not listed."
                 "</p>\n",
                 count_text(list->left_out, text), count_text(list->unshown, without));
    if (list->beyond)
        page_put(page,
                 "<p class=\"warning\">The trace has more than %s paths. %s operations on later "
                 "ones count in their directories only.</p>\n",
                 count_text(ACTIVITY_PATHS, text), count_text(list->beyond, without));
    put_tree(v);
}
