/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/svg_plot.c
 *
 * Checks a plot, lays it out, and draws its panels: grid, series, marks, and labels beside the ends
 * of lines.  What is above the panels is in svg_plot_head.c, ticks are in svg_plot_axis.c.  For the
 * plots of reports and packages.  The contract is in svg_plot.h, what the parts share in
 * svg_plot_parts.h.
 */
#include "show/svg_plot.h"
#include "show/svg_plot_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_points(const struct plot_panel *panel)
{
    for (uint32_t s = 0; s < panel->series_count; s++)
        if (panel->series[s].count)
            return true;
    return false;
}

static int check_series(const struct plot *plot, const struct plot_panel *panel,
                        const struct plot_series *s, struct err *err)
{
    const char *label = s->label ? s->label : "";

    if (s->style >= PLOT_STYLES || s->kind > PLOT_SCATTER)
        return err_set(err, ERR_USAGE, "plot: series \"%.60s\": no such style or kind", label);
    for (size_t i = 0; i < s->count; i++)
        if (!plot_drawable(&plot->x, s->x[i]) || !plot_drawable(&panel->y, s->y[i]))
            return err_set(err, ERR_USAGE,
                           "plot: series \"%.60s\": point %zu (%g, %g) has no place on the axes",
                           label, i, s->x[i], s->y[i]);
    return 0;
}

static int check(const struct plot *plot, struct err *err)
{
    if (!plot->panel_count || plot->panel_count > PLOT_PANELS_MAX)
        return err_set(err, ERR_USAGE, "plot: 1 to %d panels, not %u", PLOT_PANELS_MAX,
                       plot->panel_count);
    for (uint32_t p = 0; p < plot->panel_count; p++) {
        const struct plot_panel *panel = &plot->panels[p];

        if (panel->series_count > PLOT_SERIES_MAX)
            return err_set(err, ERR_USAGE, "plot: %d series in a panel at most, not %u",
                           PLOT_SERIES_MAX, panel->series_count);
        for (uint32_t s = 0; s < panel->series_count; s++)
            if (check_series(plot, panel, &panel->series[s], err) < 0)
                return -err->code;
        for (uint32_t m = 0; m < panel->mark_count; m++)
            if (!plot_drawable(panel->marks[m].vertical ? &plot->x : &panel->y, panel->marks[m].at))
                return err_set(err, ERR_USAGE, "plot: mark %g has no place on its axis",
                               panel->marks[m].at);
    }
    return 0;
}

struct range {
    double low, high;
    bool any;
};

static void widen(struct range *range, double value)
{
    range->low = range->any ? fmin(range->low, value) : value;
    range->high = range->any ? fmax(range->high, value) : value;
    range->any = true;
}

static void add_range(struct range *range, const struct plot_panel *panel, bool vertical)
{
    for (uint32_t s = 0; s < panel->series_count; s++)
        for (size_t i = 0; i < panel->series[s].count; i++)
            widen(range, vertical ? panel->series[s].x[i] : panel->series[s].y[i]);
    for (uint32_t m = 0; m < panel->mark_count; m++)
        if (panel->marks[m].vertical == vertical)
            widen(range, panel->marks[m].at);
}

static void make_ticks(struct plot_ticks *ticks, const struct plot_axis *axis,
                       const struct range *range, uint32_t wanted)
{
    if (range->any)
        plot_ticks(ticks, axis, range->low, range->high, wanted);
    else
        plot_ticks(ticks, axis, axis->scale == PLOT_LINEAR ? 0 : 1, 1, wanted);
}

static double x_of(const struct drawing *d, double value)
{
    return d->left + plot_place(&d->plot->x, &d->x, value) * (d->right - d->left);
}

static double y_of(const struct drawing *d, const struct plot_panel *panel, double top,
                   double value)
{
    return top + (1 - plot_place(&panel->y, &d->y, value)) * d->panel_height;
}

static void draw_line(struct drawing *d, const struct plot_panel *panel,
                      const struct plot_series *s, double top)
{
    double last_x = -1, last_y = -1;

    PUT(d, "<path class=\"np-line np-s%u\" d=\"", s->style);
    for (size_t i = 0; i < s->count; i++) {
        double x = x_of(d, s->x[i]), y = y_of(d, panel, top, s->y[i]);

        if (i && fabs(x - last_x) < 0.05 && fabs(y - last_y) < 0.05)
            continue; /* nobody could see it */
        if (i && s->kind == PLOT_STEP)
            PUT(d, "H%.1f", x);
        PUT(d, "%c%.1f %.1f", i ? 'L' : 'M', x, y);
        last_x = x;
        last_y = y;
    }
    PUT(d, "\"/>\n");
}

static void draw_series(struct drawing *d, const struct plot_panel *panel,
                        const struct plot_series *s, double top)
{
    char x[PLOT_TEXT_MAX], y[PLOT_TEXT_MAX], tip[256];

    if (s->count > 1 && s->kind != PLOT_SCATTER)
        draw_line(d, panel, s, top);
    if (!s->markers && s->kind != PLOT_SCATTER && s->count != 1)
        return;
    for (size_t i = 0; i < s->count; i++) {
        snprintf(tip, sizeof(tip), "%.150s: %s at %s", s->label ? s->label : "",
                 plot_value_text(&panel->y, s->y[i], y), plot_value_text(&d->plot->x, s->x[i], x));
        plot_marker(d, s->style, x_of(d, s->x[i]), y_of(d, panel, top, s->y[i]), tip);
    }
}

struct end_label {
    double y;
    const struct plot_series *series;
};

static int by_height(const void *a, const void *b)
{
    double left = ((const struct end_label *)a)->y, right = ((const struct end_label *)b)->y;

    return (left > right) - (left < right);
}

/* Labels beside the lines' ends, pushed apart where they would meet. */
static void draw_labels(struct drawing *d, const struct plot_panel *panel, double top)
{
    struct end_label labels[PLOT_SERIES_MAX];
    uint32_t count = 0;
    double floor_y = top + d->panel_height + 4, least = top - 4;

    for (uint32_t i = 0; i < panel->series_count; i++) {
        const struct plot_series *s = &panel->series[i];

        if (s->count)
            labels[count++] = (struct end_label){ y_of(d, panel, top, s->y[s->count - 1]), s };
    }
    qsort(labels, count, sizeof(*labels), by_height);
    for (uint32_t i = 0; i < count; i++) {
        labels[i].y = fmax(labels[i].y, least);
        least = labels[i].y + LABEL_LINE;
    }
    for (uint32_t i = count; i-- > 0; floor_y = labels[i].y - LABEL_LINE)
        labels[i].y = fmin(labels[i].y, floor_y);
    for (uint32_t i = 0; i < count; i++) {
        PUT(d, "<text class=\"np-f%u\" x=\"%.1f\" y=\"%.1f\">", labels[i].series->style,
            d->right + LABEL_GAP, labels[i].y + 4);
        plot_put_text(d, labels[i].series->label);
        PUT(d, "</text>\n");
    }
}

static void draw_marks(struct drawing *d, const struct plot_panel *panel, double top)
{
    for (uint32_t i = 0; i < panel->mark_count; i++) {
        const struct plot_mark *m = &panel->marks[i];
        double x = m->vertical ? x_of(d, m->at) : d->left;
        double y = m->vertical ? top : y_of(d, panel, top, m->at);
        bool left = m->vertical && x + 6 + plot_text_width(m->label, 12) > d->right;

        PUT(d, "<path class=\"np-mark\" d=\"M%.1f %.1f%c%.1f\"/>\n", x, y, m->vertical ? 'V' : 'H',
            m->vertical ? top + d->panel_height : d->right);
        PUT(d, "<text class=\"np-halo\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
            x + (left ? -6 : 6), m->vertical || y < top + LINE ? y + 13 : y - 5,
            left ? "end" : "start");
        plot_put_text(d, m->label);
        PUT(d, "</text>\n");
    }
}

static void draw_grid(struct drawing *d, const struct plot_panel *panel, double top, bool lowest)
{
    double bottom = top + d->panel_height;

    for (uint32_t i = 0; i < d->y.count; i++) {
        double y = y_of(d, panel, top, d->y.at[i]);

        PUT(d, "<path class=\"np-grid\" d=\"M%.1f %.1fH%.1f\"/>", d->left, y, d->right);
        PUT(d, "<text class=\"np-num\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
            d->left - 8, y + 4, d->y.text[i]);
    }
    for (uint32_t i = 0; i < d->x.count; i++) {
        double x = x_of(d, d->x.at[i]), half = plot_text_width(d->x.text[i], 12) / 2;

        PUT(d, "<path class=\"np-axis\" d=\"M%.1f %.1fv5\"/>", x, bottom);
        if (lowest) /* the last one must not pass the edge of the picture */
            PUT(d,
                "<text class=\"np-num\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                fmin(x, d->width - half), bottom + 19, d->x.text[i]);
    }
    PUT(d, "<path class=\"np-axis\" d=\"M%.1f %.1fH%.1f\"/>\n", d->left, bottom, d->right);
}

static void draw_panel(struct drawing *d, const struct plot_panel *panel, double top, bool lowest)
{
    struct range range = { 0 };

    add_range(&range, panel, false);
    make_ticks(&d->y, &panel->y, &range, (uint32_t)fmin(fmax(d->panel_height / 45, 2), 8));
    PUT(d, "<text class=\"np-name\" x=\"%d\" y=\"%.1f\">", MARGIN, top - 15);
    plot_put_text(d, panel->y.title);
    PUT(d, "</text>\n");
    draw_grid(d, panel, top, lowest);
    if (!has_points(panel))
        PUT(d, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">no data</text>\n",
            (d->left + d->right) / 2, top + d->panel_height / 2);
    for (uint32_t s = 0; s < panel->series_count; s++)
        draw_series(d, panel, &panel->series[s], top);
    draw_marks(d, panel, top);
    if (d->plot->direct)
        draw_labels(d, panel, top);
}

/* The widths of what stands beside the panels. */
static void lay_out(struct drawing *d)
{
    double label = MARGIN;
    struct range range = { 0 };

    for (uint32_t p = 0; p < d->plot->panel_count; p++) {
        const struct plot_panel *panel = &d->plot->panels[p];

        add_range(&range, panel, true);
        for (uint32_t s = 0; d->plot->direct && s < panel->series_count; s++)
            label = fmax(label, LABEL_GAP + MARGIN + plot_text_width(panel->series[s].label, 12));
    }
    d->left = MARGIN + TICK_TEXT;
    d->right = d->width - fmin(label, LABEL_MOST);
    make_ticks(&d->x, &d->plot->x, &range, (uint32_t)fmin(fmax((d->right - d->left) / 60, 2), 12));
}

int svg_plot(const struct plot *plot, struct buf *to, struct err *err)
{
    struct drawing d = { .plot = plot, .to = to };
    double panels, y = MARGIN + 14 + 22;

    if (check(plot, err) < 0)
        return -err->code;
    d.width = plot->width ? fmax(plot->width, 320) : 760;
    d.panel_height = plot->panel_height ? fmax(plot->panel_height, 60) : 230;
    lay_out(&d);
    panels = y + plot_subtitle(&d, y, false);
    panels += plot_legend(&d, panels + 4, false) + 8 + PANEL_TITLE;
    d.height = panels + plot->panel_count * (d.panel_height + PANEL_TITLE + PANEL_GAP) -
               PANEL_TITLE - PANEL_GAP + 19 + 2 * LINE + MARGIN / 2.0;
    plot_head(&d);
    y += plot_subtitle(&d, y, true);
    plot_legend(&d, y + 4, true);
    for (uint32_t p = 0; p < plot->panel_count; p++) {
        draw_panel(&d, &plot->panels[p], panels, p + 1 == plot->panel_count);
        panels += d.panel_height + PANEL_TITLE + PANEL_GAP;
    }
    PUT(&d, "<text class=\"np-name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
        (d.left + d.right) / 2, d.height - MARGIN / 2.0 - 6);
    plot_put_text(&d, plot->x.title);
    PUT(&d, "</text>\n</svg>\n");
    return d.failed ? err_memory(err, "a plot") : 0;
}

int svg_plot_write(const struct plot *plot, output_writer *write, void *ctx, struct err *err)
{
    struct buf text = { 0 };
    int result = svg_plot(plot, &text, err);

    if (result == 0)
        result = write(ctx, text.data, text.len, err);
    buf_free(&text);
    return result;
}
