/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_html.c
 *
 * The reports of one or more runs as one HTML page, for cmd_report.c: a run whole, or the figures
 * of several beside each other, then each run.
 */
#include "report/report_html_parts.h"

#include <math.h>
#include <stdlib.h>

static const char style[] =
    "td.t{overflow-wrap:anywhere;min-width:6em}td.t:last-child{min-width:14em}\n";

static void groups_list(struct page *page, const struct report *const *reports,
                        const struct report_group *groups, uint32_t group_count)
{
    page_put(page, "<ul>\n");
    for (uint32_t i = 0; i < group_count; i++) {
        page_put(page, "<li>group %u: %u %s, ", i + 1, groups[i].members,
                 groups[i].members == 1 ? "run" : "runs");
        html_title(page, reports[groups[i].first]);
        if (reports[groups[i].first]->run.rules[0]) {
            page_put(page, ", rules: ");
            page_text(page, reports[groups[i].first]->run.rules);
        }
        if (reports[groups[i].first]->run.options[0]) {
            page_put(page, ", options: ");
            page_text(page, reports[groups[i].first]->run.options);
        }
        page_put(page, "</li>\n");
    }
    page_put(page,
             "</ul>\n<p>Median and half of the spread (the most minus the least) of each "
             "group. %s</p>\n",
             report_groups_words(groups, group_count));
}

static void table_head(struct page *page, uint32_t group_count)
{
    page_put(page, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Figures\">"
                   "<table><caption>Figures of all runs</caption><thead><tr>"
                   "<th scope=\"col\">figure</th><th scope=\"col\" class=\"t\">procedure</th>");
    for (uint32_t i = 0; i < group_count; i++)
        page_put(page, "<th scope=\"col\">group %u</th>%s", i + 1,
                 i ? "<th scope=\"col\">difference</th>" : "");
    page_put(page, "</tr></thead><tbody>\n");
}

static void figures_table(struct page *page, const struct report *const *reports, uint32_t count)
{
    struct report_group *groups = calloc(REPORT_RUNS, sizeof(*groups));
    struct report_figure *figures = calloc(REPORT_FIGURES, sizeof(*figures));
    uint32_t lines = 0, group_count = 0;
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    if (!groups || !figures) {
        err_memory(page->err, "a page");
        page->failed = true;
    } else {
        group_count = report_groups(reports, count, groups);
        lines = report_figures(reports, count, figures);
        groups_list(page, reports, groups, group_count);
        table_head(page, group_count);
    }
    for (uint32_t i = 0; i < lines; i++) {
        struct report_middle first = { NAN, NAN };

        cells_row(page, figures[i].name);
        cells_text(page, figures[i].procedure ? figures[i].procedure : "");
        for (uint32_t k = 0; k < group_count; k++) {
            struct report_middle m = report_middle(reports, count, groups[k].first, &figures[i]);

            if (!k)
                first = m;
            page_put(page, "<td>%s", report_amount(m.median, figures[i].is_time, a));
            if (!isnan(m.spread))
                page_put(page, " ± %s", report_amount(m.spread / 2, figures[i].is_time, b));
            page_put(page, "</td>");
            if (k)
                page_put(page, "<td>%s</td>", report_difference(&figures[i], first, m, a));
        }
        cells_row_end(page);
    }
    cells_end(page);
    free(figures);
    free(groups);
}

static void several(struct page *page, const struct report *const *reports, uint32_t count)
{
    char text[128];

    page_put(page, "<h1>%u runs side by side</h1>\n", count);
    figures_table(page, reports, count);
    page_put(page, "<h2>Each run</h2>\n");
    for (uint32_t i = 0; i < count && i < REPORT_HTML_RUNS; i++) {
        html_verdict(reports[i], text);
        page_put(page, "<details><summary>Run %u: ", i + 1);
        html_title(page, reports[i]);
        page_put(page, ". %s.</summary>\n", text);
        html_run(page, reports[i], 3);
        page_put(page, "</details>\n");
    }
    if (count > REPORT_HTML_RUNS)
        page_put(page,
                 "<p class=\"note\">Of %u further runs the page has only the figures above.</p>\n",
                 count - REPORT_HTML_RUNS);
}

static int write_page(const struct report *const *reports, uint32_t count, struct output *output,
                      struct err *err)
{
    char title[VERDICT_TEXT];
    const struct page_head head = { title, style, NULL };
    struct page page = { 0 };

    if (count == 1)
        snprintf(title, sizeof(title), "Replay of %.200s", reports[0]->run.dump);
    else
        snprintf(title, sizeof(title), "%u replays", count);
    page_begin(&page, &head, output_write, output, err);
    if (count == 1) {
        page_put(&page, "<h1>");
        html_title(&page, reports[0]);
        page_put(&page, "</h1>\n");
        html_run(&page, reports[0], 2);
    } else {
        several(&page, reports, count);
    }
    return page_end(&page);
}

int report_html(const struct report *const *reports, uint32_t count, const char *path,
                struct err *err)
{
    struct output *output = output_open(path, err);
    int result;

    if (!output)
        return -err->code;
    result = write_page(reports, count, output, err);
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}
