/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/svg_plot_parts.h
 *
 * Shared by the files of a plot: svg_plot.c draws the panels, svg_plot_head.c the part above them.
 */
#ifndef NFSDIGEST_SHOW_SVG_PLOT_PARTS_H
#define NFSDIGEST_SHOW_SVG_PLOT_PARTS_H

#include "show/markup.h"
#include "show/svg_plot_axis.h"

/* Distances in CSS pixels. */
enum {
    MARGIN = 20,
    TICK_TEXT = 62, /* left of a panel */
    LINE = 17,      /* of text */
    PANEL_TITLE = 30,
    PANEL_GAP = 22,
    MARKER = 4, /* half its size */
    LABEL_GAP = 10,
    LABEL_LINE = 15, /* between direct labels */
    LABEL_MOST = 200,
    LEGEND_SAMPLE = 34,
    LEGEND_GAP = 22,
};

struct drawing {
    const struct plot *plot;
    struct buf *to;
    bool failed; /* no memory */
    double width, height, left, right, panel_height;
    struct plot_ticks x, y; /* |y|: of the panel that is drawn */
};

#define PUT(D, ...) ((D)->failed |= markup_format((D)->to, __VA_ARGS__) < 0)

/* Appends text of the caller, escaped. */
void plot_put_text(struct drawing *d, const char *text);

/* Estimates the width of a text, because the reader's font is unknown. */
double plot_text_width(const char *text, double size);

/* Draws a marker.  |tip|: tooltip, or NULL. */
void plot_marker(struct drawing *d, unsigned style, double x, double y, const char *tip);

/* svg_plot_head.c: draws the element's start, its style sheet and the title. */
void plot_head(struct drawing *d);

/* Draw the subtitle and the legend if |draw|.  Both return the height that they take. */
double plot_subtitle(struct drawing *d, double top, bool draw);
double plot_legend(struct drawing *d, double top, bool draw);

#endif
