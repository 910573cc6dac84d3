/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/tools/draw_plot.c
 *
 *     draw_plot >PLOT.svg
 *
 * Draws what measuring programs have found, as all plots here are drawn (show/svg_plot.h).  Reads
 * lines:
 *
 *     title TEXT
 *     subtitle TEXT
 *     x UNIT SCALE TITLE         UNIT: number, seconds or bytes; SCALE: linear, log2 or log10
 *     panel UNIT SCALE TITLE     then its series
 *     line STYLE LABEL           or step, points: a series; then its points
 *     X Y
 */
#include "show/page.h"
#include "show/svg_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 4096, LINE_MAX_BYTES = 400 };

static char texts[64][LINE_MAX_BYTES];
static unsigned text_count;
static struct plot_series series[PLOT_PANELS_MAX][PLOT_SERIES_MAX];
static struct plot_panel panels[PLOT_PANELS_MAX];
static double values[PLOT_PANELS_MAX][PLOT_SERIES_MAX][2][POINTS];
static struct plot plot = { .panels = panels, .direct = true };

static void die(const char *what, const char *line)
{
    fprintf(stderr, "draw_plot: %s: %s\n", what, line);
    exit(2);
}

static const char *keep(const char *text)
{
    if (text_count == sizeof(texts) / sizeof(texts[0]))
        die("too many texts", text);
    snprintf(texts[text_count], LINE_MAX_BYTES, "%s", text);
    return texts[text_count++];
}

static uint8_t index_of(const char *word, const char *const names[3], const char *line)
{
    for (uint8_t i = 0; i < 3; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    die("not known", line);
    return 0;
}

/* "UNIT SCALE TITLE" */
static struct plot_axis axis_of(const char *rest, const char *line)
{
    static const char *const units[] = { "number", "seconds", "bytes" };
    static const char *const scales[] = { "linear", "log2", "log10" };
    char unit[16], scale[16];
    int title = 0;

    if (sscanf(rest, "%15s %15s %n", unit, scale, &title) != 2 || !title)
        die("not an axis", line);
    return (struct plot_axis){ .title = keep(rest + title),
                               .unit = index_of(unit, units, line),
                               .scale = index_of(scale, scales, line),
                               .zero = true };
}

static void take_series(const char *rest, uint8_t kind, const char *line)
{
    uint32_t p = plot.panel_count - 1, s;
    unsigned style = 0;
    int label = 0;

    if (!plot.panel_count || sscanf(rest, "%u %n", &style, &label) != 1 || !label ||
        style >= PLOT_STYLES)
        die("not a series", line);
    s = panels[p].series_count++;
    if (s == PLOT_SERIES_MAX)
        die("too many series", line);
    series[p][s] = (struct plot_series){ .label = keep(rest + label),
                                         .kind = kind,
                                         .style = (uint8_t)style,
                                         .markers = kind == PLOT_SCATTER,
                                         .x = values[p][s][0],
                                         .y = values[p][s][1] };
}

static void take_point(const char *line)
{
    uint32_t p = plot.panel_count - 1;
    uint32_t s = plot.panel_count ? panels[p].series_count - 1 : 0;
    double x = 0, y = 0;

    if (!plot.panel_count || !panels[p].series_count || sscanf(line, "%lf %lf", &x, &y) != 2 ||
        series[p][s].count == POINTS)
        die("not a point", line);
    values[p][s][0][series[p][s].count] = x;
    values[p][s][1][series[p][s].count++] = y;
}

static void take(const char *line)
{
    const char *blank = strchr(line, ' ');
    size_t len = blank ? (size_t)(blank - line) : strlen(line);
    const char *rest = blank ? blank + 1 : "";

    if (strncmp(line, "title", len) == 0) {
        plot.title = keep(rest);
    } else if (strncmp(line, "subtitle", len) == 0) {
        plot.subtitle = keep(rest);
    } else if (strncmp(line, "x", len) == 0) {
        plot.x = axis_of(rest, line);
    } else if (strncmp(line, "panel", len) == 0) {
        if (plot.panel_count == PLOT_PANELS_MAX)
            die("too many panels", line);
        panels[plot.panel_count].series = series[plot.panel_count];
        panels[plot.panel_count++].y = axis_of(rest, line);
    } else if (strncmp(line, "line", len) == 0) {
        take_series(rest, PLOT_LINE, line);
    } else if (strncmp(line, "step", len) == 0) {
        take_series(rest, PLOT_STEP, line);
    } else if (strncmp(line, "points", len) == 0) {
        take_series(rest, PLOT_SCATTER, line);
    } else {
        take_point(line);
    }
}

int main(void)
{
    char line[LINE_MAX_BYTES];
    struct err err = { 0 };

    while (fgets(line, sizeof(line), stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0])
            take(line);
    }
    if (svg_plot_write(&plot, page_to_file, stdout, &err) < 0 || fflush(stdout) != 0) {
        fprintf(stderr, "draw_plot: %s\n", err.text);
        return 3;
    }
    return 0;
}
