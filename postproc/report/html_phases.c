/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_phases.c
 *
 * Phases that clients marked: how long both sides took, as bars and as numbers.  For html.c.
 */
#include "base/values.h"
#include "report/html_parts.h"
#include "store/sql.h"

#include <math.h>

enum {
    PHASES_MAX_SHOWN = 100,
    /* of the drawing, CSS pixels */
    WIDTH = 900,
    NAMES = 210,
    RIGHT = 90,
    TOP = 34,
    ROW = 34,
    BAR = 11,
};

static const char select_phases[] =
    "SELECT name, ref_times, ref_lasted, ref_operations, ref_latency, sut_times, sut_lasted,"
    " sut_operations, sut_latency, discrepancies FROM phase ORDER BY id LIMIT ?1";

enum { P_NAME, P_REF, P_SUT = P_REF + 4, P_DISCREPANCIES = P_SUT + 4 };
enum { TIMES, LASTED, OPERATIONS, LATENCY };

static void draw_bar(struct html *h, sqlite3_stmt *row, int side, double y, double most)
{
    static const char *const names[SIDES] = { "reference", "system under test" };
    int at = side == REF ? P_REF : P_SUT;
    int64_t lasted = sqlite3_column_int64(row, at + LASTED);
    double length = fmax((double)lasted / most, 0) * (WIDTH - NAMES - RIGHT);
    char text[VALUE_TEXT_MAX];

    if (!sqlite3_column_int64(row, at + TIMES))
        return;
    page_put(&h->page,
             "<g class=\"lat%d\"><title>%s: %s</title>"
             "<path class=\"bar\" d=\"M%d %.1fh%.1fv%dh-%.1fz\"/></g>"
             "<text class=\"small\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
             side, names[side], duration_text(lasted, text), NAMES, y, length, BAR, length,
             NAMES + length + 6, y + BAR - 1, duration_text(lasted, text));
}

static int draw(struct html *h)
{
    sqlite3_stmt *row;
    double most = 1, y = TOP;
    int rows = 0, result = sql_prepare(h->db, select_phases, &row, h->err);

    if (result < 0)
        return result;
    sqlite3_bind_int(row, 1, PHASES_MAX_SHOWN);
    for (; (result = sql_row(row, h->err)) > 0; rows++)
        most = fmax(most, fmax(sqlite3_column_double(row, P_REF + LASTED),
                               sqlite3_column_double(row, P_SUT + LASTED)));
    page_put(&h->page,
             "<svg class=\"latency\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"How long each "
             "phase lasted on both sides; the table below has the numbers\">\n"
             "<g class=\"lat0\"><path class=\"bar\" d=\"M%d 9h26v11h-26z\"/></g>"
             "<text x=\"%d\" y=\"18\">reference</text>\n"
             "<g class=\"lat1\"><path class=\"bar\" d=\"M%d 9h26v11h-26z\"/></g>"
             "<text x=\"%d\" y=\"18\">system under test</text>\n",
             WIDTH, TOP + rows * ROW + 4, NAMES, NAMES + 34, NAMES + 130, NAMES + 164);
    for (; result == 0 && (result = sql_row(row, h->err)) > 0; result = 0, y += ROW) {
        page_put(&h->page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", NAMES - 14,
                 y + 0.5 * ROW);
        page_text_cut(&h->page, html_column(row, P_NAME), 24);
        page_put(&h->page, "</text>\n");
        draw_bar(h, row, REF, y + 2, most);
        draw_bar(h, row, SUT, y + 4 + BAR, most);
    }
    page_put(&h->page, "</svg>\n");
    sqlite3_finalize(row);
    return result;
}

static void put_side(struct html *h, sqlite3_stmt *row, int at)
{
    char text[VALUE_TEXT_MAX];

    if (!sqlite3_column_int64(row, at + TIMES)) {
        page_put(&h->page, "<td>-</td><td>-</td><td>-</td>");
        return;
    }
    page_put(&h->page, "<td>%s</td><td>",
             duration_text(sqlite3_column_int64(row, at + LASTED), text));
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, at + OPERATIONS));
    page_put(&h->page, "</td><td>%s</td>",
             duration_text(sqlite3_column_int64(row, at + LATENCY), text));
}

static void show(struct html *h, sqlite3_stmt *row)
{
    double ref = sqlite3_column_double(row, P_REF + LASTED);
    double sut = sqlite3_column_double(row, P_SUT + LASTED);

    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, P_NAME, "");
    page_put(&h->page, "</th>");
    put_side(h, row, P_REF);
    put_side(h, row, P_SUT);
    if (ref > 0 && sut > 0)
        page_put(&h->page, "<td>%.2f</td><td>", sut / ref);
    else
        page_put(&h->page, "<td>-</td><td>");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, P_DISCREPANCIES));
    page_put(&h->page, "</td></tr>\n");
}

int html_phases(struct html *h)
{
    struct page *page = &h->page;
    int64_t count;

    if (sql_number(h->db, "SELECT count(*) FROM phase", 0, &count, h->err) < 0)
        return -h->err->code;
    if (!count)
        return 0;
    page_put(page, "<h2 id=\"phases\">Phases</h2>\n<p class=\"note\">Clients marked them with "
                   "<code>nfsdigest phase</code>. All operations in them count, those without a "
                   "counterpart, too.</p>\n");
    if (draw(h) < 0)
        return -h->err->code;
    page_put(page,
             "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Phases\"><table>"
             "<caption>What happened in each phase</caption><thead><tr><th scope=\"col\" "
             "rowspan=\"2\">phase</th><th scope=\"colgroup\" colspan=\"3\">reference</th>"
             "<th scope=\"colgroup\" colspan=\"3\">system under test</th><th scope=\"col\" "
             "rowspan=\"2\">lasted, sut / ref</th><th scope=\"col\" rowspan=\"2\">discrepancies"
             "</th></tr>\n<tr><th scope=\"col\">lasted</th><th scope=\"col\">operations</th>"
             "<th scope=\"col\">sum of latencies</th><th scope=\"col\">lasted</th>"
             "<th scope=\"col\">operations</th><th scope=\"col\">sum of latencies</th></tr>"
             "</thead><tbody>\n");
    if (html_rows(h, select_phases, PHASES_MAX_SHOWN, 0, show) < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n");
    if (count > PHASES_MAX_SHOWN)
        page_put(page,
                 "<p class=\"note\">%lld more are in table <code>phase</code> of the result."
                 "</p>\n",
                 (long long)(count - PHASES_MAX_SHOWN));
    return 0;
}
