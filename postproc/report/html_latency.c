/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/html_latency.c
 *
 * Latencies of both sides: percentiles of each procedure as a drawing and as a table, their
 * distribution for the busiest ones, and the pairs with the largest differences.
 */
#include "base/values.h"
#include "report/html_parts.h"
#include "show/svg_plot_axis.h"
#include "store/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PROCEDURES_MAX = 60,
    CURVES = 4, /* procedures whose distribution is drawn */
    BUCKETS_MAX = 256,
    /* of the drawing, CSS pixels */
    WIDTH = 900,
    NAMES = 210,
    RIGHT = 24,
    TOP = 58,
    ROW = 34,
};

static const char select_performance[] =
    "SELECT operation, pairs, ref_p50, ref_p90, ref_p99, ref_max, ref_mean, sut_p50, sut_p90,"
    " sut_p99, sut_max, sut_mean, ratio, program, version, procedure FROM performance"
    " ORDER BY pairs DESC, program, version, procedure LIMIT ?1";

enum { P_OPERATION, P_PAIRS, P_REF, P_SUT = P_REF + 5, P_RATIO = P_SUT + 5, P_PROGRAM };

static void put_time(struct html *h, int64_t ns)
{
    char text[VALUE_TEXT_MAX];

    page_put(&h->page, "<td>%s</td>", duration_text(ns, text));
}

static void show_performance(struct html *h, sqlite3_stmt *row)
{
    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, P_OPERATION, "");
    page_put(&h->page, "</th><td>");
    html_put_count(h, (uint64_t)sqlite3_column_int64(row, P_PAIRS));
    page_put(&h->page, "</td>");
    for (int i = P_REF; i < P_RATIO; i++)
        put_time(h, sqlite3_column_int64(row, i));
    page_put(&h->page, "<td>%.2f</td></tr>\n", sqlite3_column_double(row, P_RATIO));
}

static void show_slow(struct html *h, sqlite3_stmt *row)
{
    char text[VALUE_TEXT_MAX];
    int64_t ref = sqlite3_column_int64(row, 2), sut = sqlite3_column_int64(row, 4);

    page_put(&h->page, "<tr><th scope=\"row\">");
    html_put_column(h, row, 0, "?");
    page_put(&h->page, "</th><td class=\"t\"><code>");
    html_put_column(h, row, 1, "");
    page_put(&h->page, "</code></td>");
    put_time(h, ref);
    page_put(&h->page, "<td>");
    html_put_column(h, row, 3, "");
    page_put(&h->page, "</td>");
    put_time(h, sut);
    page_put(&h->page, "<td>");
    html_put_column(h, row, 5, "");
    page_put(&h->page, "</td><td>%s%s</td></tr>\n", sut > ref ? "+" : "",
             duration_text(sut - ref, text));
}

/* --- the drawing */

struct chart {
    struct html *h;
    const struct plot_axis *axis;
    struct plot_ticks ticks;
};

/* A row of table performance on the time axis; what took no time stands at 0.1 us. */
static double seconds(int64_t ns)
{
    return fmax((double)ns, 100) / 1e9;
}

static double x_of(const struct chart *c, int64_t ns)
{
    double at = plot_place(c->axis, &c->ticks, seconds(ns));

    return NAMES + fmin(fmax(at, 0), 1) * (WIDTH - NAMES - RIGHT);
}

static void draw_side(struct chart *c, sqlite3_stmt *row, int side, double y)
{
    static const char *const names[SIDES] = { "reference", "system under test" };
    int at = side == REF ? P_REF : P_SUT;
    double x[3];
    char text[3][VALUE_TEXT_MAX];

    for (int i = 0; i < 3; i++) {
        x[i] = x_of(c, sqlite3_column_int64(row, at + i));
        duration_text(sqlite3_column_int64(row, at + i), text[i]);
    }
    page_put(&c->h->page,
             "<g class=\"lat%d\"><title>%s: median %s, 90 %% %s, 99 %% %s</title>"
             "<path class=\"far\" d=\"M%.1f %.1fH%.1f\"/>"
             "<path class=\"near\" d=\"M%.1f %.1fH%.1f\"/>",
             side, names[side], text[0], text[1], text[2], x[0], y, fmax(x[2], x[0]), x[0], y,
             fmax(x[1], x[0]));
    if (side == REF)
        page_put(&c->h->page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/></g>\n", x[0], y);
    else
        page_put(&c->h->page, "<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/></g>\n",
                 x[0] - 4, y - 4);
}

static void draw_frame(struct chart *c, uint32_t rows)
{
    struct page *page = &c->h->page;
    int bottom = TOP + (int)rows * ROW;

    page_put(page,
             "<svg class=\"latency\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Latency of "
             "each procedure on both sides; the table below has the numbers\">\n"
             "<g class=\"lat0\"><path class=\"near\" d=\"M%d 14h26\"/><circle cx=\"%d\" cy=\"14\" "
             "r=\"4.5\"/></g><text x=\"%d\" y=\"18\">reference</text>\n"
             "<g class=\"lat1\"><path class=\"near\" d=\"M%d 14h26\"/><rect x=\"%d\" y=\"10\" "
             "width=\"8\" height=\"8\"/></g><text x=\"%d\" y=\"18\">system under test</text>\n"
             "<text class=\"small\" x=\"%d\" y=\"18\">mark: median; bar to 90 %%; line to 99 %%"
             "</text>\n",
             WIDTH, bottom + 8, NAMES, NAMES, NAMES + 34, NAMES + 130, NAMES + 130, NAMES + 164,
             NAMES + 320);
    for (uint32_t i = 0; i < c->ticks.count; i++) {
        double x = NAMES + plot_place(c->axis, &c->ticks, c->ticks.at[i]) * (WIDTH - NAMES - RIGHT);

        page_put(
            page,
            "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"small\" x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">%s</text>\n",
            x, TOP - 6, bottom, x, TOP - 12, c->ticks.text[i]);
    }
}

static int draw_chart(struct html *h)
{
    static const struct plot_axis axis = { "Latency", PLOT_LOG10, PLOT_SECONDS, false };
    struct chart c = { .h = h, .axis = &axis };
    sqlite3_stmt *row;
    uint32_t rows = 0;
    double low = 1e9, high = 1e-9;
    int result = sql_prepare(h->db, select_performance, &row, h->err);

    if (result < 0)
        return result;
    sqlite3_bind_int(row, 1, PROCEDURES_MAX);
    while ((result = sql_row(row, h->err)) > 0) {
        rows++;
        low = fmin(low, fmin(seconds(sqlite3_column_int64(row, P_REF)),
                             seconds(sqlite3_column_int64(row, P_SUT))));
        high = fmax(high, fmax(seconds(sqlite3_column_int64(row, P_REF + 2)),
                               seconds(sqlite3_column_int64(row, P_SUT + 2))));
    }
    if (result == 0 && rows) {
        plot_ticks(&c.ticks, &axis, low, fmax(high, low), 8);
        draw_frame(&c, rows);
        for (double y = TOP; (result = sql_row(row, h->err)) > 0; y += ROW) {
            page_put(&h->page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", NAMES - 14,
                     y + 0.5 * ROW + 4);
            page_text_cut(&h->page, html_column(row, P_OPERATION), 24);
            page_put(&h->page, "</text>\n");
            draw_side(&c, row, REF, y + 0.3 * ROW);
            draw_side(&c, row, SUT, y + 0.7 * ROW);
        }
        page_put(&h->page, "</svg>\n");
    }
    sqlite3_finalize(row);
    return result;
}

/* --- distributions */

struct curve {
    double x[BUCKETS_MAX + 1], y[BUCKETS_MAX + 1];
    size_t count;
};

/* Of |side| and the procedure in |row|: which share was not slower. */
static int read_curve(struct html *h, sqlite3_stmt *row, int side, struct curve *curve)
{
    double total = 0, sum = 0;
    sqlite3_stmt *stmt;
    int result = sql_prepare(h->db,
                             "SELECT bucket, count FROM latency WHERE side = ?1 AND program = ?2"
                             " AND version = ?3 AND procedure = ?4 AND bucket BETWEEN 0 AND 255"
                             " AND count > 0 ORDER BY bucket",
                             &stmt, h->err);

    if (result < 0)
        return result;
    curve->count = 0;
    sqlite3_bind_int(stmt, 1, side + 1);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(stmt, 2 + i, sqlite3_column_int64(row, P_PROGRAM + i));
    while ((result = sql_row(stmt, h->err)) > 0) {
        double bucket = sqlite3_column_double(stmt, 0);

        if (!curve->count) {
            curve->x[0] = 1e-6 * exp2(bucket / 4);
            curve->y[curve->count++] = 0;
        }
        total += sqlite3_column_double(stmt, 1);
        curve->x[curve->count] = 1e-6 * exp2((bucket + 1) / 4);
        curve->y[curve->count++] = total;
    }
    for (size_t i = 0; i < curve->count; i++) {
        sum = curve->y[i];
        curve->y[i] = 100 * sum / total;
    }
    sqlite3_finalize(stmt);
    return result;
}

static int draw_curves(struct html *h, sqlite3_stmt *row)
{
    struct curve *curves = calloc(SIDES, sizeof(*curves));
    struct buf svg = { 0 };
    int result = curves ? 0 : err_memory(h->err, "a plot");

    for (int side = 0; result == 0 && side < SIDES; side++)
        result = read_curve(h, row, side, &curves[side]);
    if (result == 0) {
        const struct plot_series series[SIDES] = {
            { "reference", PLOT_LINE, 0, false, curves[REF].x, curves[REF].y, curves[REF].count },
            { "system under test", PLOT_LINE, 1, false, curves[SUT].x, curves[SUT].y,
              curves[SUT].count },
        };
        const struct plot_panel panel = { { "Operations with at most this latency (%)", PLOT_LINEAR,
                                            PLOT_NUMBER, true },
                                          series,
                                          SIDES,
                                          NULL,
                                          0 };
        const struct plot plot = { html_column(row, P_OPERATION),
                                   NULL,
                                   { "Latency", PLOT_LOG10, PLOT_SECONDS, false },
                                   &panel,
                                   1,
                                   0,
                                   0,
                                   false };

        result = svg_plot(&plot, &svg, h->err);
    }
    if (result == 0)
        page_raw(&h->page, svg.data, svg.len);
    buf_free(&svg);
    free(curves);
    return result;
}

static int put_curves(struct html *h)
{
    sqlite3_stmt *row;
    int result = sql_prepare(h->db, select_performance, &row, h->err);

    if (result < 0)
        return result;
    page_put(&h->page, "<details><summary>Distributions of the procedures with the most pairs"
                       "</summary>\n");
    sqlite3_bind_int(row, 1, CURVES);
    while ((result = sql_row(row, h->err)) > 0 && (result = draw_curves(h, row)) == 0)
        ;
    page_put(&h->page, "</details>\n");
    sqlite3_finalize(row);
    return result;
}

int html_latency(struct html *h)
{
    static const char head[] =
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Latencies\"><table>"
        "<caption>Latencies of pairs that both sides answered</caption><thead>"
        "<tr><th scope=\"col\" rowspan=\"2\">procedure</th><th scope=\"col\" rowspan=\"2\">pairs"
        "</th><th scope=\"colgroup\" colspan=\"5\">reference</th><th scope=\"colgroup\" "
        "colspan=\"5\">system under test</th><th scope=\"col\" rowspan=\"2\">medians, sut / ref"
        "</th></tr>\n<tr><th scope=\"col\">50 %</th><th scope=\"col\">90 %</th>"
        "<th scope=\"col\">99 %</th><th scope=\"col\">max</th><th scope=\"col\">mean</th>"
        "<th scope=\"col\">50 %</th><th scope=\"col\">90 %</th><th scope=\"col\">99 %</th>"
        "<th scope=\"col\">max</th><th scope=\"col\">mean</th></tr></thead><tbody>\n";
    static const char slow_head[] =
        "<h3>Largest differences</h3>\n<div class=\"wide\"><table id=\"slowest\"><caption>Pairs "
        "whose latencies are furthest apart</caption><thead><tr><th scope=\"col\">procedure</th>"
        "<th scope=\"col\" class=\"t\">object</th><th scope=\"col\">reference</th>"
        "<th scope=\"col\">call in frame</th><th scope=\"col\">system under test</th>"
        "<th scope=\"col\">call in frame</th><th "
        "scope=\"col\">difference</th></tr></thead><tbody>\n";
    struct page *page = &h->page;
    int64_t any;

    page_put(page, "<h2 id=\"latency\">Latency</h2>\n");
    if (sql_number(h->db, "SELECT count(*) FROM performance", 0, &any, h->err) < 0)
        return -h->err->code;
    if (!any) {
        page_put(page, "<p>No pair was answered on both sides.</p>\n");
        return 0;
    }
    if (draw_chart(h) < 0 || put_curves(h) < 0)
        return -h->err->code;
    page_raw(page, head, sizeof(head) - 1);
    if (html_rows(h, select_performance, PROCEDURES_MAX, 0, show_performance) < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n");
    page_raw(page, slow_head, sizeof(slow_head) - 1);
    if (html_rows(h,
                  "SELECT r.name, ifnull(r.path, s.path), w.ref_latency, r.call_frame,"
                  " w.sut_latency, s.call_frame FROM slowest w"
                  " LEFT JOIN operation r ON r.side = 1 AND r.id = w.ref"
                  " LEFT JOIN operation s ON s.side = 2 AND s.id = w.sut ORDER BY w.rank LIMIT 50",
                  0, 0, show_slow) < 0)
        return -h->err->code;
    page_put(page, "</tbody></table></div>\n");
    return 0;
}
