/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_heat.c
 *
 * Latencies over time as a map: one column for each span of time, one row for each range of
 * latencies, darker where more operations are.  Cells of one colour are one path.  The script finds
 * the cell under the mouse, or the one that the arrow keys chose, by the figures in the element's
 * data- attributes.  For trace_report.c.
 */
#include "base/values.h"
#include "report/trace_report_parts.h"
#include "show/svg_plot_axis.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

enum {
    WIDTH = 1040,
    LEFT = 82,
    RIGHT = 20,
    TOP = 12,
    HEIGHT = 300,
    BOTTOM = 44,
    SHADES = 8,
    TICKS = 12
};
/* width, margins and ticks are those of the plots in trace_html_time.c, so times are in line */

struct heat {
    const struct activity *a;
    struct page *page;
    unsigned first, end; /* rows with operations */
    uint64_t most;       /* in a cell */
    double low, high;    /* s: the edges of the rows */
    struct plot_ticks y, x;
};

static const struct plot_axis latency_axis = { "Latency", PLOT_LOG10, PLOT_SECONDS, false };
static const struct plot_axis time_axis = { "Time of the trace", PLOT_LINEAR, PLOT_SECONDS, true };

/* Row 0 also has what took no time. */
static double edge(unsigned row)
{
    return fmax((double)activity_heat_from(row), 1) / 1e9;
}

static double y_of(const struct heat *h, double latency)
{
    return TOP + HEIGHT * (1 - (log(latency) - log(h->low)) / (log(h->high) - log(h->low)));
}

static double x_of(const struct heat *h, double at)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * plot_place(&time_axis, &h->x, at);
}

static double seconds_of(const struct heat *h, double spans)
{
    return spans * (double)h->a->every / 1e9;
}

static bool measure(struct heat *h)
{
    h->first = ACTIVITY_HEAT_ROWS;
    for (uint32_t i = 0; i < h->a->span_count; i++)
        for (unsigned row = 0; row < ACTIVITY_HEAT_ROWS; row++) {
            uint64_t n = h->a->heat[i][row];

            if (!n)
                continue;
            h->most = n > h->most ? n : h->most;
            h->first = row < h->first ? row : h->first;
            h->end = row + 1 > h->end ? row + 1 : h->end;
        }
    if (!h->most)
        return false;
    h->low = edge(h->first);
    h->high = edge(h->end);
    if (h->high <= h->low)
        h->high = 2 * h->low;
    plot_ticks(&h->y, &latency_axis, h->low, h->high, 7);
    plot_ticks(&h->x, &time_axis, 0, seconds_of(h, h->a->span_count), TICKS);
    return true;
}

/* 1 to SHADES, by the logarithm of the number; 0 for none. */
static int shade(const struct heat *h, uint64_t n)
{
    if (!n)
        return 0;
    if (h->most == 1)
        return SHADES;
    return 1 + (int)((SHADES - 1) * log((double)n) / log((double)h->most) + 1e-9);
}

static void draw_shade(const struct heat *h, int wanted)
{
    page_put(h->page, "<path class=\"s%d\" d=\"", wanted);
    for (unsigned row = h->first; row < h->end; row++) {
        double top = y_of(h, edge(row + 1)), tall = y_of(h, edge(row)) - top;

        for (uint32_t i = 0, run; i < h->a->span_count; i += run + 1) {
            for (run = 0; i + run < h->a->span_count; run++)
                if (shade(h, h->a->heat[i + run][row]) != wanted)
                    break;
            if (run)
                page_put(h->page, "M%u %.1fh%uv%.1fh-%uz", i, top, run, tall, run);
        }
    }
    page_put(h->page, "\"/>\n");
}

static void draw_axes(struct heat *h)
{
    for (uint32_t i = 0; i < h->y.count; i++) {
        double y = y_of(h, h->y.at[i]);

        if (y < TOP - 1 || y > TOP + HEIGHT + 1)
            continue;
        page_put(h->page,
                 "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
                 "text-anchor=\"end\">%s</text>\n",
                 LEFT, y, WIDTH - RIGHT, LEFT - 8, y + 4, h->y.text[i]);
    }
    for (uint32_t i = 0; i < h->x.count; i++)
        page_put(h->page, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                 x_of(h, h->x.at[i]), TOP + HEIGHT + 18, h->x.text[i]);
    page_put(h->page, "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
             (LEFT + WIDTH - RIGHT) / 2, TOP + HEIGHT + 38, time_axis.title);
}

/* A percentile of each span, as a line across its column. */
static void draw_percentile(const struct heat *h, const char *class, size_t at)
{
    bool drawn = false;

    page_put(h->page, "<path class=\"%s\" d=\"", class);
    for (uint32_t i = 0; i < h->a->span_count; i++) {
        const struct activity_latency *l = &h->a->spans[i].n.latency;
        int64_t latency = *(const int64_t *)((const char *)l + at);
        double y = y_of(h, fmin(fmax((double)latency / 1e9, h->low), h->high));

        if (l->answered)
            page_put(h->page, "%s%.1f %.1fH%.1f", drawn ? "L" : "M", x_of(h, seconds_of(h, i)), y,
                     x_of(h, seconds_of(h, i + 1)));
        drawn = l->answered > 0;
    }
    page_put(h->page, "\"/>\n");
}

static void draw_map(struct heat *h)
{
    double width = x_of(h, seconds_of(h, h->a->span_count)) - LEFT;

    page_put(h->page,
             "<div class=\"wide plot\"><svg class=\"heat\" id=\"heat\" viewBox=\"0 0 %d %d\" "
             "width=\"%d\" height=\"%d\" role=\"img\" tabindex=\"0\" "
             "aria-label=\"Latencies over time. Arrow keys choose a cell.\" data-left=\"%d\" "
             "data-width=\"%.3f\" data-top=\"%d\" data-height=\"%d\">\n",
             WIDTH, TOP + HEIGHT + BOTTOM, WIDTH, TOP + HEIGHT + BOTTOM, LEFT, width, TOP, HEIGHT);
    page_put(h->page, "<rect class=\"ground\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
             LEFT, TOP, width, HEIGHT);
    page_put(h->page, "<g transform=\"translate(%d 0) scale(%.6f 1)\">\n", LEFT,
             width / h->a->span_count);
    for (int i = 1; i <= SHADES; i++)
        draw_shade(h, i);
    page_put(h->page, "</g>\n");
    draw_axes(h);
    draw_percentile(h, "line far", offsetof(struct activity_latency, p99));
    draw_percentile(h, "line", offsetof(struct activity_latency, p50));
    page_put(h->page, "<rect class=\"chosen\" width=\"0\" height=\"0\"/></svg></div>\n");
}

static void draw_key(const struct heat *h)
{
    char text[VALUE_TEXT_MAX];

    page_put(h->page,
             "<p class=\"key\">1 operation <svg class=\"heat\" viewBox=\"0 0 %d 10\" "
             "width=\"%d\" height=\"10\" role=\"img\" aria-label=\"from few to many\">",
             SHADES * 18, SHADES * 18);
    for (int i = 1; i <= SHADES; i++)
        page_put(h->page, "<rect class=\"s%d\" x=\"%d\" width=\"18\" height=\"10\"/>", i,
                 (i - 1) * 18);
    page_put(h->page,
             "</svg> %s operations in a cell; lines: median and, dashed, 99&nbsp;%% <output "
             "id=\"cell\" aria-live=\"polite\"></output>"
             "</p>\n",
             count_text(h->most, text));
}

void trace_html_heat(struct trace_view *v)
{
    struct heat heat = { .a = &v->a, .page = &v->h.page };
    char text[VALUE_TEXT_MAX];

    page_put(heat.page, "<h2 id=\"latency\">Latency</h2>\n");
    if (!measure(&heat)) {
        page_put(heat.page, "<p class=\"note\">No operation has a latency.</p>\n");
        return;
    }
    page_put(heat.page,
             "<p>From the frame that completed the call to the frame that completed the reply, at "
             "the time of the call; each column is %s.</p>\n",
             duration_text(v->a.every, text));
    draw_map(&heat);
    draw_key(&heat);
}
