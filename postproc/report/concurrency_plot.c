/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/concurrency_plot.h"
#include "base/values.h"
#include "depend/access.h"
#include "show/svg_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES = CONCURRENCY_GRANULARITIES * CONCURRENCY_MODELS_MAX,
    LABEL_MAX = 64,
};
_Static_assert((int)LINES <= (int)PLOT_SERIES_MAX, "a line is a series");

static void make_label(const struct concurrency_report *r, enum granularity g, uint32_t model,
                       char label[LABEL_MAX])
{
    if (r->models[model].directory_factor == 1)
        snprintf(label, LABEL_MAX, "%s", granularity_name(g));
    else
        snprintf(label, LABEL_MAX, "%s, directories × %g", granularity_name(g),
                 r->models[model].directory_factor);
}

static void make_subtitle(const struct concurrency_report *r, const char *trace, char *text,
                          size_t len)
{
    char count[VALUE_TEXT_MAX], time[VALUE_TEXT_MAX], limit[64] = "";

    if (r->outstanding)
        snprintf(limit, sizeof(limit), ", at most %u outstanding requests", r->outstanding);
    snprintf(text, len,
             "%s operations of %s, each sent as soon as its dependencies are done; %s%s%s",
             count_text(r->operations, count), trace,
             r->models[0].constant ? "latencies of " : "measured latencies",
             r->models[0].constant ? duration_text(r->models[0].constant, time) : "", limit);
}

/* Windows in which nothing takes time have no point. */
static void make_series(const struct concurrency_report *r, double *points,
                        struct plot_series rates[LINES], struct plot_series levels[LINES],
                        char labels[LINES][LABEL_MAX])
{
    static const enum granularity order[] = { ACCESS_OBJECT, ACCESS_FINE };

    for (uint32_t line = 0; line < 2 * r->model_count; line++) {
        enum granularity g = order[line % 2];
        uint32_t m = line / 2, count = 0;
        double *x = points, *rate = x + r->window_count, *level = rate + r->window_count;
        const int64_t *spans = r->makespans + ((uint32_t)g * r->model_count + m) * r->window_count;

        points = level + r->window_count;
        for (uint32_t w = 0; w < r->window_count; w++) {
            if (spans[w] <= 0)
                continue;
            x[count] = r->windows[w];
            rate[count] = (double)(r->operations - r->unplayable) / (double)spans[w] * 1e9;
            level[count++] = r->busy[m] / (double)spans[w];
        }
        make_label(r, g, m, labels[line]);
        rates[line] =
            (struct plot_series){ labels[line], PLOT_LINE, (uint8_t)line % PLOT_STYLES, true, x,
                                  rate,         count };
        levels[line] = rates[line];
        levels[line].y = level;
    }
}

static int write_plot(const struct plot *plot, const char *path, struct err *err)
{
    struct output *output = output_open(path, err);
    int result;

    if (!output)
        return -err->code;
    result = svg_plot_write(plot, output_write, output, err);
    if (result == 0)
        result = output_commit(output, err);
    output_close(output);
    return result;
}

int concurrency_svg(const struct concurrency_report *r, const char *path, const char *trace,
                    struct err *err)
{
    double *points = calloc((size_t)6 * r->model_count * r->window_count, sizeof(*points));
    struct plot_series rates[LINES], levels[LINES];
    char labels[LINES][LABEL_MAX], subtitle[512];
    const struct plot_mark own = { r->end > r->begin
                                       ? r->answered_time / (double)(r->end - r->begin)
                                       : 0,
                                   false, "the trace itself" };
    const struct plot_panel panels[] = {
        { { "Throughput (operations/s)", PLOT_LINEAR, PLOT_NUMBER, true },
          rates,
          2 * r->model_count,
          NULL,
          0 },
        { { "Concurrency (operations under way)", PLOT_LINEAR, PLOT_NUMBER, true },
          levels,
          2 * r->model_count,
          &own,
          own.at > 0 },
    };
    const struct plot plot = {
        "Reachable throughput and concurrency",
        subtitle,
        { "Look-ahead window (operations)", PLOT_LOG2, PLOT_NUMBER, false },
        panels,
        2,
        0,
        0,
        true,
    };
    const char *slash = strrchr(trace, '/');
    int result;

    if (!points)
        return err_memory(err, "a plot");
    make_subtitle(r, slash ? slash + 1 : trace, subtitle, sizeof(subtitle));
    make_series(r, points, rates, levels, labels);
    result = write_plot(&plot, path, err);
    free(points);
    return result;
}
