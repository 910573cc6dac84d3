/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_groups.c
 *
 * The table of causes, the table of groups, and each group with its explanation.
 */
#include "report/html_parts.h"
#include "store/sql.h"

#include <stdlib.h>

static const char select_groups[] =
    "SELECT c.id, c.count, c.compared, c.operation, c.field, c.class, k.name, c.difference,"
    " c.reason, c.is_noise, c.noise_count, c.noise_compared, k.text, c.cause,"
    " (SELECT l.text || ', ' || f.name || ' line ' || l.line FROM rule l"
    "  JOIN rule_file f ON f.id = l.file WHERE l.id = c.rule), c.cause_id"
    " FROM discrepancy_group c LEFT JOIN code k ON k.domain = 'kind' AND k.value = c.kind"
    " ORDER BY c.id LIMIT ?1";

enum group_column {
    G_ID,
    G_COUNT,
    G_COMPARED,
    G_OPERATION,
    G_FIELD,
    G_CLASS,
    G_KIND,
    G_DIFFERENCE,
    G_REASON,
    G_NOISE,
    G_NOISE_COUNT,
    G_NOISE_COMPARED,
    G_KIND_TEXT,
    G_CAUSE,
    G_RULE,
    G_CAUSE_ID,
};

static void put_attribute(struct html *h, const char *name, const char *value)
{
    page_put(&h->page, " data-%s=\"", name);
    page_text(&h->page, value);
    page_put(&h->page, "\"");
}

static void put_text_cell(struct html *h, sqlite3_stmt *row, int at)
{
    page_put(&h->page, "<td class=\"t\">");
    html_put_column(h, row, at, "<span class=\"none\">none</span>");
    page_put(&h->page, "</td>");
}

static void put_number_cell(struct html *h, sqlite3_stmt *row, int at)
{
    page_put(&h->page, "<td data-v=\"%lld\">", (long long)sqlite3_column_int64(row, at));
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, at));
    page_put(&h->page, "</td>");
}

/* Lines may break behind its dots. */
static void put_field(struct html *h, const char *field)
{
    page_put(&h->page, "<td class=\"t\"><code>");
    for (int i = 0; i < 16; i++) {
        const char *dot = strchr(field, '.');
        char *part = dot ? strndup(field, (size_t)(dot + 1 - field)) : NULL;

        if (!part)
            break;
        page_text_cut(&h->page, part, HTML_TEXT_MAX);
        page_put(&h->page, "<wbr>");
        free(part);
        field = dot + 1;
    }
    page_text_cut(&h->page, field, HTML_TEXT_MAX);
    page_put(&h->page, "</code></td>");
}

/* --- causes */

static const char select_causes[] =
    "SELECT c.id, c.count, c.groups, c.severity, c.name, c.title, c.procedures, c.first_group,"
    " c.noise, g.reason, g.field FROM causes c JOIN discrepancy_group g ON g.id = c.first_group"
    " ORDER BY c.id LIMIT ?1";

enum cause_column {
    C_ID,
    C_COUNT,
    C_GROUPS,
    C_SEVERITY,
    C_NAME,
    C_TITLE,
    C_PROCEDURES,
    C_FIRST,
    C_NOISE,
    C_REASON,
    C_FIELD,
};

static const char cause_table[] =
    "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Causes\">"
    "<table id=\"causes\"><caption>Causes of discrepancies, over all procedures and fields; a "
    "group without a known cause stands alone</caption><thead><tr>"
    "<th scope=\"col\">cause</th><th scope=\"col\">count</th>"
    "<th scope=\"col\" class=\"t\">what, and the explanation of its first group</th>"
    "<th scope=\"col\" class=\"t\">procedures</th>"
    "<th scope=\"col\" class=\"t\">severity</th>"
    "<th scope=\"col\" class=\"t\">groups</th></tr></thead><tbody>\n";

/* The page does not have all groups of a huge result. */
static void put_link(struct html *h, long long group)
{
    if (group > HTML_GROUPS_MAX)
        page_put(&h->page, "%lld", group);
    else
        page_put(&h->page, "<a href=\"#g%lld\">%lld</a>", group, group);
}

static void put_span(struct html *h, long long first, long long groups)
{
    page_put(&h->page, "<td class=\"t\">");
    put_link(h, first);
    if (groups > 1) {
        page_put(&h->page, " to ");
        put_link(h, first + groups - 1);
    }
    page_put(&h->page, "</td>");
}

/* With the script, the number of a cause shows only its groups. */
static void show_cause(struct html *h, sqlite3_stmt *row)
{
    long long id = sqlite3_column_int64(row, C_ID), groups = sqlite3_column_int64(row, C_GROUPS);
    long long first = sqlite3_column_int64(row, C_FIRST);

    page_put(&h->page, "<tr id=\"c%lld\"><td>", id);
    if (first > HTML_GROUPS_MAX)
        page_put(&h->page, "%lld</td>", id);
    else
        page_put(&h->page, "<a href=\"#g%lld\">%lld</a></td>", first, id);
    put_number_cell(h, row, C_COUNT);
    page_put(&h->page, "<td class=\"t\"><b>");
    html_put_column(h, row, C_TITLE, "");
    page_put(&h->page, "</b> <code>");
    html_put_column(h, row, html_is_null(row, C_NAME) ? C_FIELD : C_NAME, "");
    page_put(&h->page, "</code>");
    if (sqlite3_column_int64(row, C_NOISE))
        page_put(&h->page, " %s",
                 sqlite3_column_int64(row, C_NOISE) == groups ? "(noise)" : "(partly noise)");
    page_put(&h->page, "<br><small>");
    page_text_cut(&h->page, html_column(row, C_REASON), 4 * HTML_TEXT_MAX);
    page_put(&h->page, "</small></td>");
    put_text_cell(h, row, C_PROCEDURES);
    put_text_cell(h, row, C_SEVERITY);
    put_span(h, first, groups);
    page_put(&h->page, "</tr>\n");
}

static int put_causes(struct html *h)
{
    page_raw(&h->page, cause_table, sizeof(cause_table) - 1);
    if (html_rows(h, select_causes, HTML_GROUPS_MAX, 0, show_cause) < 0)
        return -h->err->code;
    page_put(&h->page, "</tbody></table></div>\n<h2 id=\"by-group\">Groups</h2>\n");
    return 0;
}

/* --- the table of groups */

static void show_line(struct html *h, sqlite3_stmt *row)
{
    long long id = sqlite3_column_int64(row, G_ID);
    bool noise = sqlite3_column_int(row, G_NOISE);

    page_put(&h->page, "<tr data-id=\"%lld\" data-count=\"%lld\" data-noise=\"%d\"", id,
             (long long)sqlite3_column_int64(row, G_COUNT), noise);
    put_attribute(h, "cause", html_column(row, G_CAUSE_ID));
    put_attribute(h, "class", html_column(row, G_CLASS));
    put_attribute(h, "procedure", html_column(row, G_OPERATION));
    put_attribute(h, "kind", html_column(row, G_KIND));
    page_put(&h->page, "><td data-v=\"%lld\"><a href=\"#g%lld\">%lld</a></td>", id, id, id);
    put_number_cell(h, row, G_COUNT);
    put_number_cell(h, row, G_COMPARED);
    put_text_cell(h, row, G_OPERATION);
    put_field(h, html_column(row, G_FIELD));
    put_text_cell(h, row, G_CLASS);
    put_text_cell(h, row, G_KIND);
    page_put(&h->page, "<td class=\"t\">");
    html_put_column(h, row, G_DIFFERENCE, "");
    page_put(&h->page, "<br><small>");
    page_text_cut(&h->page, html_column(row, G_REASON), 4 * HTML_TEXT_MAX);
    page_put(&h->page, "</small></td>");
    page_put(&h->page, "<td class=\"t\">%s</td></tr>\n", noise ? "noise" : "");
}

static const char group_table[] =
    "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Groups of discrepancies\">"
    "<table id=\"groups\"><caption>Discrepancies of the same kind, procedure and field are one "
    "group; click its number for examples</caption><thead><tr>"
    "<th scope=\"col\" data-sort=\"number\">group</th>"
    "<th scope=\"col\" data-sort=\"number\">count</th>"
    "<th scope=\"col\" data-sort=\"number\">compared</th>"
    "<th scope=\"col\" data-sort=\"text\" class=\"t\">procedure</th>"
    "<th scope=\"col\" data-sort=\"text\" class=\"t\">field</th>"
    "<th scope=\"col\" data-sort=\"text\" class=\"t\">class</th>"
    "<th scope=\"col\" data-sort=\"text\" class=\"t\">kind</th>"
    "<th scope=\"col\" data-sort=\"text\" class=\"t\">difference and explanation</th>"
    "<th scope=\"col\" data-sort=\"text\" class=\"t\">noise</th></tr></thead><tbody>\n";

/* Shown by the script, which also fills the lists. */
static const char filters[] =
    "<form id=\"filters\" hidden aria-label=\"Filters\">\n"
    "<label for=\"f-cause\">cause</label> <select id=\"f-cause\"></select>\n"
    "<label for=\"f-class\">class</label> <select id=\"f-class\"></select>\n"
    "<label for=\"f-procedure\">procedure</label> <select id=\"f-procedure\"></select>\n"
    "<label for=\"f-kind\">kind</label> <select id=\"f-kind\"></select>\n"
    "<label for=\"f-noise\">noise</label> <select id=\"f-noise\"><option value=\"\">shown</option>"
    "<option value=\"hide\">hidden</option><option value=\"only\">only</option></select>\n"
    "<label for=\"f-q\">text</label> <input id=\"f-q\" type=\"search\" size=\"18\">\n"
    "<button type=\"reset\">show all</button> <output id=\"shown\"></output>\n</form>\n";

/* --- one group */

static void show_group(struct html *h, sqlite3_stmt *row)
{
    struct page *page = &h->page;
    long long id = sqlite3_column_int64(row, G_ID);

    page_put(page,
             "<section class=\"group\" id=\"g%lld\" data-id=\"%lld\" aria-labelledby=\"h%lld\">"
             "<h3 id=\"h%lld\">%lld. ",
             id, id, id, id, id);
    html_put_column(h, row, G_OPERATION, "");
    page_put(page, " <code>");
    html_put_column(h, row, G_FIELD, "");
    page_put(page, "</code>: ");
    html_put_column(h, row, G_DIFFERENCE, "");
    page_put(page, "</h3>\n<p class=\"reason\">");
    page_text_cut(page, html_column(row, G_REASON), 4 * HTML_TEXT_MAX);
    page_put(page, ".</p>\n<p>");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, G_COUNT));
    page_put(page, " of ");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, G_COMPARED));
    page_put(page, " comparisons; kind: ");
    html_put_column(h, row, G_KIND, "?");
    page_put(page, " (");
    html_put_column(h, row, G_KIND_TEXT, "");
    page_put(page, ")");
    if (!html_is_null(row, G_CLASS)) {
        page_put(page, "; class: ");
        html_put_column(h, row, G_CLASS, "");
    }
    page_put(page, "; rule: <code>");
    html_put_column(h, row, G_RULE, "none");
    page_put(page, "</code>");
    if (!html_is_null(row, G_CAUSE)) {
        page_put(page, "; cause: <a href=\"#c%lld\"><code>",
                 (long long)sqlite3_column_int64(row, G_CAUSE_ID));
        html_put_column(h, row, G_CAUSE, "");
        page_put(page, "</code></a>");
    }
    if (!html_is_null(row, G_NOISE_COUNT)) {
        page_put(page, "; between two runs of the reference: ");
        html_put_count(h, (uint64_t)sqlite3_column_int64(row, G_NOISE_COUNT));
        page_put(page, " of ");
        html_put_count(h, (uint64_t)sqlite3_column_int64(row, G_NOISE_COMPARED));
        page_put(page, sqlite3_column_int(row, G_NOISE) ? ": noise" : "");
    }
    page_put(page, "</p>\n");
    if (!page->failed && html_examples(h, id) < 0)
        page->failed = true;
    page_put(page, "<p><a href=\"#groups\">all groups</a></p>\n</section>\n");
}

int html_groups(struct html *h)
{
    struct page *page = &h->page;
    int64_t all;

    if (sql_number(h->db, "SELECT count(*) FROM discrepancy_group", 0, &all, h->err) < 0)
        return -h->err->code;
    page_put(page, "<section aria-labelledby=\"discrepancies\">\n"
                   "<h2 id=\"discrepancies\">Discrepancies</h2>\n");
    if (!all) {
        page_put(page, "<p>There are none.</p>\n</section>\n");
        return 0;
    }
    if (put_causes(h) < 0)
        return -h->err->code;
    page_raw(page, filters, sizeof(filters) - 1);
    page_raw(page, group_table, sizeof(group_table) - 1);
    if (html_rows(h, select_groups, HTML_GROUPS_MAX, 0, show_line) < 0)
        return -h->err->code;
    page_put(page,
             "</tbody></table></div>\n<p class=\"note\">This page shows examples of each group. "
             "All discrepancies are in the database: <code>SELECT * FROM discrepancies WHERE "
             "discrepancy_group = 1</code></p>\n");
    if (all > HTML_GROUPS_MAX) {
        page_put(page, "<p class=\"warning\">There are ");
        html_put_count(h, (uint64_t)all);
        page_put(page, " groups; this page shows the first %d.</p>\n", HTML_GROUPS_MAX);
    }
    page_put(page, "<h2>Groups one by one</h2>\n<p class=\"note\">Where both replies are shown, "
                   "values that differ are marked. \"differs (tolerance)\" is not a discrepancy: "
                   "the rule, here a tolerance, allows it, or the comparison was withheld. Frame "
                   "numbers are those of the captures named above.</p>\n");
    if (html_rows(h, select_groups, HTML_GROUPS_MAX, 0, show_group) < 0)
        return -h->err->code;
    page_put(page, "</section>\n");
    return 0;
}
