/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_uncertain.c
 *
 * Statuses, contents and missing replies that differ, which something else may explain.
 */
#include "report/html_parts.h"
#include "store/sql.h"

static void put_frame(struct html *h, sqlite3_stmt *row, int at)
{
    if (!html_is_null(row, at)) {
        page_put(&h->page, " <small>frame ");
        html_put_column(h, row, at, "");
        page_put(&h->page, "</small>");
    }
    page_put(&h->page, "</td>");
}

static void show_doubt(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</th><td class=\"t\"><code>");
    html_put_column(h, row, 1, "?");
    page_put(&h->page, "</code> (");
    html_put_column(h, row, 2, "?");
    page_put(&h->page, ")</td><td class=\"t\">");
    html_put_column(h, row, 3, "<span class=\"none\">not known</span>");
    page_put(&h->page, "</td>");
    for (int at = 4; at < 8; at += 2) {
        page_put(&h->page, "<td class=\"t\">");
        html_put_column(h, row, at, "<span class=\"none\">none</span>");
        put_frame(h, row, at + 1);
    }
    page_put(&h->page, "<td class=\"t\">");
    html_put_column(h, row, 8, "?");
    page_put(&h->page, "</td></tr>\n");
}

int html_uncertain(struct html *h)
{
    struct page *page = &h->page;
    int64_t all, shown;

    if (sql_number(h->db, "SELECT value + 0 FROM meta WHERE key = 'uncertain'", 0, &all, h->err) <
        0)
        return -h->err->code;
    if (!all)
        return 0;
    page_put(page, "<h2 id=\"uncertain\">Uncertain differences</h2>\n<p>These values differ, but "
                   "the servers may not be the cause, so they are not discrepancies.</p>\n<div "
                   "class=\"wide\"><table>"
                   "<caption>Statuses, contents and missing replies</caption><thead><tr>"
                   "<th scope=\"col\">procedure</th><th scope=\"col\" class=\"t\">field</th>"
                   "<th scope=\"col\" class=\"t\">path</th><th scope=\"col\" class=\"t\">reference"
                   "</th><th scope=\"col\" class=\"t\">system under test</th>"
                   "<th scope=\"col\" class=\"t\">reason</th></tr></thead><tbody>\n");
    shown = html_rows(h,
                      "SELECT operation, field, kind, path, ref_text, ref_frame, sut_text,"
                      " sut_frame, reason || ': ' || text FROM doubt"
                      " ORDER BY kind = 'status' DESC, kind = 'missing reply', id LIMIT ?1",
                      HTML_UNCERTAIN_MAX, 0, show_doubt);
    if (shown < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n");
    if (all > shown) {
        page_put(page, "<p class=\"warning\">There are ");
        html_put_count(h, (uint64_t)(all - shown));
        page_put(page, " more; the first 1,000 of each kind are in the database: <code>SELECT * "
                       "FROM doubt</code></p>\n");
    }
    return 0;
}
