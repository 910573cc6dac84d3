/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/svg_plot_axis.h
 *
 * An axis of a plot: its range, its ticks, and the texts of values.
 */
#ifndef NFSDIGEST_SHOW_SVG_PLOT_AXIS_H
#define NFSDIGEST_SHOW_SVG_PLOT_AXIS_H

#include "show/svg_plot.h"

enum { PLOT_TICKS_MAX = 40, PLOT_TEXT_MAX = 40 };

struct plot_ticks {
    double low, high; /* the axis' ends: low < high */
    double at[PLOT_TICKS_MAX];
    char text[PLOT_TICKS_MAX][PLOT_TEXT_MAX];
    uint32_t count; /* at least 2, because the ends are ticks */
};

/* Returns true if a value can be drawn. */
bool plot_drawable(const struct plot_axis *axis, double value);

/* Makes about |wanted| (2 to 12) ticks for drawable values from |low| to |high|. */
void plot_ticks(struct plot_ticks *ticks, const struct plot_axis *axis, double low, double high,
                uint32_t wanted);

/* Returns the place of a value on the axis: 0 to 1. */
double plot_place(const struct plot_axis *axis, const struct plot_ticks *ticks, double value);

/* Writes a single value with three or four digits and its unit.  Returns |text|. */
const char *plot_value_text(const struct plot_axis *axis, double value, char text[PLOT_TEXT_MAX]);

#endif
