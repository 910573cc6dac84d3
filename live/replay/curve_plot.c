/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/curve_plot.c
 *
 * The plots of a curve: the rate that was reached on x, and latencies on y.  See curve.h.
 */
#include "replay/curve.h"
#include "show/svg_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { PANELS = 4, LINES_MAX = PLOT_SERIES_MAX };

_Static_assert((int)REPLAY_TARGETS_MAX <= (int)LINES_MAX, "each target has a line");

/* A line of a plot. */
struct line {
    uint32_t target;
    const char *procedure; /* NULL: all of them */
    char label[48];
    double x[REPLAY_POINTS_MAX + 1], y[PANELS][REPLAY_POINTS_MAX + 1];
    size_t count, planned; /* |planned|: without the run as fast as possible, which has no plan */
};

static double seconds(int64_t ns)
{
    return (double)(ns < 1 ? 1 : ns) / 1e9; /* a logarithmic axis has no 0 */
}

static void take_point(struct line *line, const struct curve_point *p)
{
    const struct report_times *sent = &p->sent, *planned = &p->planned;
    size_t at = line->count;

    for (uint32_t i = 0; line->procedure && i < p->procedure_count; i++)
        if (strcmp(p->procedures[i].name, line->procedure) == 0) {
            sent = &p->procedures[i].sent;
            planned = &p->procedures[i].planned;
        }
    if ((line->procedure && sent == &p->sent) || !sent->count || !planned->count)
        return;
    line->x[at] = p->reached;
    line->y[0][at] = seconds(sent->p50);
    line->y[1][at] = seconds(sent->p99);
    line->y[2][at] = seconds(planned->p50);
    line->y[3][at] = seconds(planned->p99);
    line->count++;
    line->planned += p->wanted > 0;
}

/* By the planned rate; the run without one, which was the first, is the last point. */
static void take_points(struct line *line, const struct curve *c)
{
    for (int asap = 0; asap < 2; asap++)
        for (uint32_t i = 0; i < c->count; i++)
            if (c->points[i].target == line->target && (c->points[i].wanted > 0) != asap)
                take_point(line, &c->points[i]);
}

static int write_plot(const struct plot *plot, const char *path, struct err *err)
{
    struct output *out = output_open(path, err);
    int result = out ? svg_plot_write(plot, output_write, out, err) : -err->code;

    if (result == 0)
        result = output_commit(out, err);
    output_close(out);
    return result;
}

static int draw(const struct curve *c, const struct line *lines, uint32_t count, const char *title,
                const char *path, struct err *err)
{
    static const char *const titles[PANELS] = { "Median from sending", "99 % from sending",
                                                "Median from the plan", "99 % from the plan" };
    struct plot_series series[PANELS][LINES_MAX];
    struct plot_panel panels[PANELS];
    char subtitle[512];

    snprintf(
        subtitle, sizeof(subtitle),
        "%.300s. Each point is a run. The last one from sending was as fast as possible; it has "
        "no plan.",
        c->options->dumps[0].path);
    for (uint32_t i = 0; i < PANELS; i++) {
        for (uint32_t k = 0; k < count; k++)
            series[i][k] =
                (struct plot_series){ .label = lines[k].label,
                                      .kind = PLOT_LINE,
                                      .style = (uint8_t)(k % PLOT_STYLES),
                                      .markers = true,
                                      .x = lines[k].x,
                                      .y = lines[k].y[i],
                                      .count = i < 2 ? lines[k].count : lines[k].planned };
        panels[i] = (struct plot_panel){ .y = { titles[i], PLOT_LOG10, PLOT_SECONDS, false },
                                         .series = series[i],
                                         .series_count = count };
    }
    return write_plot(
        &(struct plot){ .title = title,
                        .subtitle = subtitle,
                        .x = { "Throughput (operations/s)", PLOT_LINEAR, PLOT_NUMBER, true },
                        .panels = panels,
                        .panel_count = PANELS },
        path, err);
}

static int path_of(const struct curve *c, const char *name, char path[4096], struct err *err)
{
    if (snprintf(path, 4096, "%s/%s", c->options->output, name) >= 4096)
        return err_set(err, ERR_SYSTEM, "%s: the path is too long", c->options->output);
    return 0;
}

static void name_target(const struct curve *c, uint32_t target, char *to, size_t size)
{
    const char *address = c->options->targets[target].address + strlen("nfs://");

    snprintf(to, size, "%" PRIu32 ": %.*s", target + 1,
             (int)fmin(32, (double)strcspn(address, "?")), address);
}

static int plot_targets(const struct curve *c, struct line *lines, struct err *err)
{
    char path[4096];

    for (uint32_t i = 0; i < c->options->target_count; i++) {
        lines[i] = (struct line){ .target = i };
        name_target(c, i, lines[i].label, sizeof(lines[i].label));
        take_points(&lines[i], c);
    }
    if (path_of(c, "curve.svg", path, err) < 0)
        return -err->code;
    return draw(c, lines, c->options->target_count, "Latency against throughput", path, err);
}

/* Procedures by the number of answers, from the most: the one that follows |after|; NULL: the
 * first, or no further one. */
static const struct report_procedure *next_procedure(const struct curve_point *p,
                                                     const struct report_procedure *after)
{
    const struct report_procedure *best = NULL;

    for (uint32_t i = 0; i < p->procedure_count; i++) {
        const struct report_procedure *x = &p->procedures[i];
        bool follows = !after || x->sent.count < after->sent.count ||
                       (x->sent.count == after->sent.count && x > after);

        if (x->sent.count && follows && (!best || x->sent.count > best->sent.count))
            best = x;
    }
    return best;
}

/* |p|: a run on the target. */
static int plot_procedures(const struct curve *c, const struct curve_point *p, struct line *lines,
                           struct err *err)
{
    const struct report_procedure *procedure = NULL;
    char path[4096], name[48], target[64], title[160];
    uint32_t count = 0;

    while (count < PLOT_STYLES && (procedure = next_procedure(p, procedure))) {
        struct line *line = &lines[count++];

        *line = (struct line){ .target = p->target, .procedure = procedure->name };
        snprintf(line->label, sizeof(line->label), "%s", procedure->name);
        take_points(line, c);
    }
    snprintf(name, sizeof(name), "procedures-%" PRIu32 ".svg", p->target + 1);
    name_target(c, p->target, target, sizeof(target)); /* the whole address may be too wide */
    snprintf(title, sizeof(title), "The most frequent procedures on %s", target);
    if (path_of(c, name, path, err) < 0)
        return -err->code;
    return draw(c, lines, count, title, path, err);
}

int curve_plots(const struct curve *c, struct err *err)
{
    struct line *lines = calloc(LINES_MAX, sizeof(*lines));
    int result = lines ? plot_targets(c, lines, err) : err_memory(err, "plots");

    for (uint32_t i = 0; i < c->count && result == 0; i++)
        if (!(c->points[i].wanted > 0)) /* one for each target */
            result = plot_procedures(c, &c->points[i], lines, err);
    free(lines);
    return result;
}
