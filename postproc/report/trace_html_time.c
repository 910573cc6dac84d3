/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/trace_html_time.c
 *
 * What happened over time: rates, errors, contents, operations under way, and what the capture
 * lacks; and latency against the number of operations under way.  For trace_report.c.
 */
#include "base/values.h"
#include "report/trace_report_parts.h"
#include "show/svg_plot.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1040, HEIGHT = 150, POINTS = ACTIVITY_SPANS + 1 };

enum line {
    OPERATIONS, /* a second */
    ERRORS,
    UNANSWERED,
    RESENT,
    READ_BYTES,
    WRITTEN_BYTES,
    UNDER_WAY,
    PEAK,
    HOLES, /* in each span */
    OTHER_PROBLEMS,
    LINES,
};

/* Points of lines as steps: a value holds until the next point. */
struct lines {
    double x[POINTS], y[LINES][POINTS], total[LINES];
    size_t count;
};

static void add_span(struct lines *l, const struct activity *a, uint32_t i)
{
    const struct activity_span *s = &a->spans[i];
    double seconds = (double)a->every / 1e9;
    double others = 0;

    for (int k = PROBLEM_SKIPPED; k < ACTIVITY_PROBLEMS; k++)
        others += (double)s->problems[k];
    {
        const double values[LINES] = {
            [OPERATIONS] = (double)s->n.operations / seconds,
            [ERRORS] = (double)s->n.errors / seconds,
            [UNANSWERED] = (double)s->n.unanswered / seconds,
            [RESENT] = (double)(s->n.resent + s->n.replied_again) / seconds,
            [READ_BYTES] = (double)s->n.read / seconds,
            [WRITTEN_BYTES] = (double)s->n.written / seconds,
            [UNDER_WAY] = (double)s->busy / (double)a->every,
            [PEAK] = (double)s->peak,
            [HOLES] = (double)s->problems[PROBLEM_HOLE],
            [OTHER_PROBLEMS] = others,
        };

        for (int line = 0; line < LINES; line++) {
            l->y[line][i] = values[line];
            l->total[line] += values[line];
        }
    }
    l->x[i] = (double)i * seconds;
}

static void make_lines(struct lines *l, const struct activity *a)
{
    for (uint32_t i = 0; i < a->span_count; i++)
        add_span(l, a, i);
    l->count = a->span_count; /* the last step gets an end */
    l->x[l->count] = (double)l->count * (double)a->every / 1e9;
    for (int line = 0; line < LINES; line++)
        l->y[line][l->count] = l->y[line][l->count - 1];
    l->count++;
}

static struct plot_series series(const struct lines *l, enum line line, const char *label,
                                 uint8_t style)
{
    return (struct plot_series){ label, PLOT_STEP, style, false, l->x, l->y[line], l->count };
}

static const char *spans_text(const struct activity *a, char text[200])
{
    char every[VALUE_TEXT_MAX], start[VALUE_TEXT_MAX];

    snprintf(text, 200, "Each step is %s. 0 is %s UTC.", duration_text(a->every, every),
             time_text(a->start, start));
    return text;
}

static void draw(struct page *page, const struct plot *plot, const char *label)
{
    struct buf svg = { 0 };

    if (page->failed)
        return;
    if (svg_plot(plot, &svg, page->err) < 0)
        page->failed = true;
    else
        trace_put_plot(page, &svg, label);
    buf_free(&svg);
}

/* Each plot has one legend, so what has a line of the same style is in another plot. */
static void draw_load(struct page *page, const struct lines *l, const struct activity *a)
{
    const struct plot_series rates[] = { series(l, OPERATIONS, "operations", 0) };
    const struct plot_series wrong[] = { series(l, ERRORS, "error status", 1),
                                         series(l, UNANSWERED, "without a reply", 3),
                                         series(l, RESENT, "sent again", 2) };
    const struct plot_panel panels[] = {
        { { "Operations a second", PLOT_LINEAR, PLOT_NUMBER, true }, rates, 1, NULL, 0 },
        { { "Errors, losses and retransmissions a second", PLOT_LINEAR, PLOT_NUMBER, true },
          wrong,
          3,
          NULL,
          0 },
    };
    char text[200];
    const struct plot plot = { "Load",
                               spans_text(a, text),
                               { "Time of the trace", PLOT_LINEAR, PLOT_SECONDS, true },
                               panels,
                               2,
                               WIDTH,
                               HEIGHT,
                               false };

    draw(page, &plot, "Load over time");
}

static void draw_work(struct page *page, const struct lines *l, const struct activity *a)
{
    const struct plot_series busy[] = { series(l, PEAK, "most under way at a call", 5),
                                        series(l, UNDER_WAY, "mean under way", 0) };
    const struct plot_series bytes[] = { series(l, READ_BYTES, "read", 2),
                                         series(l, WRITTEN_BYTES, "written", 1) };
    const struct plot_panel panels[] = {
        { { "Operations under way", PLOT_LINEAR, PLOT_NUMBER, true }, busy, 2, NULL, 0 },
        { { "File contents a second", PLOT_LINEAR, PLOT_BYTES, true }, bytes, 2, NULL, 0 },
    };
    bool contents = l->total[READ_BYTES] + l->total[WRITTEN_BYTES] > 0;
    char text[200];
    const struct plot plot = { "Concurrency and contents",
                               spans_text(a, text),
                               { "Time of the trace", PLOT_LINEAR, PLOT_SECONDS, true },
                               panels,
                               contents ? 2 : 1,
                               WIDTH,
                               HEIGHT,
                               false };

    draw(page, &plot, "Operations under way and file contents over time");
}

static void draw_holes(struct page *page, const struct lines *l, const struct activity *a)
{
    const struct plot_series holes[] = { series(l, HOLES, "holes", 1),
                                         series(l, OTHER_PROBLEMS, "other problems", 5) };
    const struct plot_panel panel = {
        { "Holes and other problems in a step", PLOT_LINEAR, PLOT_NUMBER, true }, holes, 2, NULL, 0
    };
    char text[200];
    const struct plot plot = { "What the capture lacks",
                               spans_text(a, text),
                               { "Time of the trace", PLOT_LINEAR, PLOT_SECONDS, true },
                               &panel,
                               1,
                               WIDTH,
                               HEIGHT,
                               false };

    if (l->total[HOLES] + l->total[OTHER_PROBLEMS] > 0)
        draw(page, &plot, "Holes in the capture over time");
    else
        page_put(page, "<p>The capture has no holes and no other problems.</p>\n");
}

void trace_html_time(struct trace_view *v)
{
    struct lines *lines = calloc(1, sizeof(*lines));
    struct page *page = &v->h.page;

    page_put(page, "<h2 id=\"time\">Over time</h2>\n");
    if (!lines) {
        err_memory(page->err, "a plot");
        page->failed = true;
    } else if (!v->a.span_count) {
        page_put(page, "<p class=\"note\">Nothing in this trace has a time.</p>\n");
    } else {
        make_lines(lines, &v->a);
        draw_load(page, lines, &v->a);
        draw_work(page, lines, &v->a);
        draw_holes(page, lines, &v->a);
    }
    free(lines);
}

/* --- latency against operations under way */

static void level_rows(struct page *page, const struct activity *a)
{
    static const char *const heads[] = { "under way", "operations", "50 %", "90 %",
                                         "99 %",      "max",        NULL };
    char from[VALUE_TEXT_MAX], to[VALUE_TEXT_MAX], name[2 * VALUE_TEXT_MAX + 8];

    page_put(page, "<details><summary>As a table</summary>\n");
    cells_begin(page, "Latency by operations under way", heads);
    for (unsigned i = 0; i < ACTIVITY_LEVELS; i++) {
        const struct activity_latency *l = &a->levels[i];
        uint64_t first = activity_level_from(i), last = activity_level_from(i + 1) - 1;

        if (!l->answered)
            continue;
        snprintf(name, sizeof(name), first == last ? "%s" : "%s to %s", count_text(first, from),
                 count_text(last, to));
        cells_row(page, name);
        cells_count(page, l->answered);
        cells_time(page, true, l->p50);
        cells_time(page, true, l->p90);
        cells_time(page, true, l->p99);
        cells_time(page, true, l->max);
        cells_row_end(page);
    }
    cells_end(page);
    page_put(page, "</details>\n");
}

static double seconds(int64_t ns)
{
    return ns < 100 ? 1e-7 : (double)ns / 1e9;
}

static void draw_levels(struct page *page, const struct activity *a)
{
    double x[ACTIVITY_LEVELS], p50[ACTIVITY_LEVELS], p90[ACTIVITY_LEVELS], p99[ACTIVITY_LEVELS];
    double operations[ACTIVITY_LEVELS];
    size_t n = 0;

    for (unsigned i = 0; i < ACTIVITY_LEVELS; i++) {
        const struct activity_latency *l = &a->levels[i];

        if (!l->answered)
            continue;
        x[n] = (double)activity_level_from(i);
        p50[n] = seconds(l->p50);
        p90[n] = seconds(l->p90);
        p99[n] = seconds(l->p99);
        operations[n++] = (double)l->answered;
    }
    {
        const struct plot_series latency[] = { { "99 %", PLOT_LINE, 2, true, x, p99, n },
                                               { "90 %", PLOT_LINE, 1, true, x, p90, n },
                                               { "median", PLOT_LINE, 0, true, x, p50, n } };
        const struct plot_series counts[] = { { "operations", PLOT_LINE, 5, true, x, operations,
                                                n } };
        const struct plot_panel panels[] = {
            { { "Latency", PLOT_LOG10, PLOT_SECONDS, false }, latency, 3, NULL, 0 },
            { { "Operations", PLOT_LOG10, PLOT_NUMBER, false }, counts, 1, NULL, 0 },
        };
        const struct plot plot = { "Concurrency and latency",
                                   "How many operations were under way when one was called, with "
                                   "that one, and how long it took.",
                                   { "Operations under way", PLOT_LOG2, PLOT_NUMBER, false },
                                   panels,
                                   2,
                                   WIDTH,
                                   HEIGHT + 40,
                                   false };

        draw(page, &plot, "Latency by operations under way");
    }
}

void trace_html_under_way(struct trace_view *v)
{
    struct page *page = &v->h.page;
    char text[VALUE_TEXT_MAX];

    page_put(page, "<h2 id=\"under-way\">Concurrency</h2>\n");
    if (!v->a.n.latency.answered) {
        page_put(page, "<p class=\"note\">No operation has a latency.</p>\n");
        return;
    }
    draw_levels(page, &v->a);
    if (v->a.peak_is_least)
        page_put(page,
                 "<p class=\"warning\">More than %s operations were under way at a time. "
                 "Numbers from there on are too small.</p>\n",
                 count_text(ACTIVITY_UNDER_WAY_MAX, text));
    level_rows(page, &v->a);
}
