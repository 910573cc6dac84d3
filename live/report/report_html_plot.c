/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_html_plot.c
 *
 * The load of a run over time, as steps of equal length over those of the trace: operations a
 * second, operations at the same time, and, if there are any, differences and file contents.
 */
#include "report/report_html_parts.h"
#include "show/svg_plot.h"

#include <stdlib.h>

enum {
    STEPS = 128, /* of the plot at most; each is the sum of some intervals */
    WIDTH = 1040,
};

enum line { RUN_RATE, TRACE_RATE, RUN_BUSY, TRACE_BUSY, DIFFER, CONTENTS, LINES };

struct steps {
    double x[STEPS + 1], y[LINES][STEPS + 1], total[LINES];
    size_t count;
};

/* |from| to |end|: intervals of the step. */
static void add_step(struct steps *s, const struct report *r, uint32_t from, uint32_t end)
{
    double ns = (double)r->run.interval_length * (end - from), sum[LINES] = { 0 };

    for (uint32_t i = from; i < end; i++) {
        const struct report_interval *v = &r->intervals[i];

        sum[RUN_RATE] += (double)v->done * 1e9;
        sum[TRACE_RATE] += (double)v->trace_done * 1e9;
        sum[RUN_BUSY] += (double)v->busy;
        sum[TRACE_BUSY] += (double)v->trace_busy;
        sum[DIFFER] += (double)v->errors * 1e9;
        sum[CONTENTS] += (double)v->bytes * 1e9;
    }
    s->x[s->count] = (double)r->run.interval_length * from / 1e9;
    for (unsigned line = 0; line < LINES; line++) {
        s->y[line][s->count] = sum[line] / ns;
        s->total[line] += sum[line];
    }
    s->count++;
}

/* The last step gets an end. */
static void make_steps(struct steps *s, const struct report *r)
{
    uint32_t count = r->counts[REPORT_INTERVALS], each = (count + STEPS - 1) / STEPS;

    for (uint32_t i = 0; i < count; i += each)
        add_step(s, r, i, i + each < count ? i + each : count);
    s->x[s->count] = (double)r->run.interval_length * count / 1e9;
    for (unsigned line = 0; line < LINES; line++)
        s->y[line][s->count] = s->y[line][s->count - 1];
    s->count++;
}

static struct plot_series series_of(const struct steps *s, enum line line)
{
    bool is_trace = line == TRACE_RATE || line == TRACE_BUSY;

    return (struct plot_series){
        is_trace ? "trace" : "run", PLOT_STEP, is_trace, false, s->x, s->y[line], s->count
    };
}

static int draw(const struct steps *s, struct buf *svg, struct err *err)
{
    struct plot_series series[LINES];
    struct plot_panel panels[PLOT_PANELS_MAX] = {
        { { "Operations a second", PLOT_LINEAR, PLOT_NUMBER, true }, series, 2, NULL, 0 },
        { { "At the same time", PLOT_LINEAR, PLOT_NUMBER, true }, series + RUN_BUSY, 2, NULL, 0 },
    };
    struct plot plot = { .title = "The run and its trace",
                         .x = { "Time of the run", PLOT_LINEAR, PLOT_SECONDS, true },
                         .panels = panels,
                         .panel_count = 2,
                         .width = WIDTH,
                         .panel_height = 170 };

    for (unsigned line = 0; line < LINES; line++)
        series[line] = series_of(s, (enum line)line);
    if (s->total[DIFFER] > 0)
        panels[plot.panel_count++] = (struct plot_panel){
            { "Differences a second", PLOT_LINEAR, PLOT_NUMBER, true }, series + DIFFER, 1, NULL, 0
        };
    if (s->total[CONTENTS] > 0)
        panels[plot.panel_count++] =
            (struct plot_panel){ { "File contents a second", PLOT_LINEAR, PLOT_BYTES, true },
                                 series + CONTENTS,
                                 1,
                                 NULL,
                                 0 };
    return svg_plot(&plot, svg, err);
}

void html_plot(struct page *page, const struct report *r)
{
    struct buf svg = { 0 };
    struct steps *steps;

    if (r->run.interval_length <= 0 || r->counts[REPORT_INTERVALS] < 2 || page->failed) {
        page_put(page, "<p class=\"note\">The run was too short for a plot.</p>\n");
        return;
    }
    steps = calloc(1, sizeof(*steps));
    if (!steps) {
        err_memory(page->err, "a plot");
        page->failed = true;
        return;
    }
    make_steps(steps, r);
    if (draw(steps, &svg, page->err) < 0) {
        page->failed = true;
    } else {
        page_put(page, "<div class=\"wide plot\" tabindex=\"0\" role=\"region\" "
                       "aria-label=\"Load over time\">");
        page_raw(page, svg.data, svg.len);
        page_put(page, "</div>\n");
    }
    buf_free(&svg);
    free(steps);
}
