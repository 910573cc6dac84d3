/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/svg_plot.h
 *
 * Plots as SVG: one or more panels above one x axis, each with its own y axis and series.
 *
 * The text is one <svg> element that needs nothing else: a file of its own, or a part of an HTML
 * page (its classes begin with "np-"; it has no ids and no scripts).  It follows the reader's
 * choice of light or dark.  Series are told apart by colour (safe for the colour-blind), dash and
 * marker.
 *
 * Everything that is passed stays the caller's and is not kept.  Titles and labels may hold any
 * bytes (markup.h).  Memory: the text, at most 200 bytes a point.
 */
#ifndef NFSDIGEST_SHOW_SVG_PLOT_H
#define NFSDIGEST_SHOW_SVG_PLOT_H

#include "base/bytes.h"
#include "base/output.h"

#include <stdbool.h>

enum {
    PLOT_STYLES = 6,
    PLOT_SERIES_MAX = 16, /* of a panel */
    PLOT_PANELS_MAX = 4,
};

enum plot_scale {
    PLOT_LINEAR,
    PLOT_LOG2,  /* values above 0 */
    PLOT_LOG10, /* values above 0 */
};

/* The unit of values, and how ticks show it. */
enum plot_unit {
    PLOT_NUMBER,  /* 12,000 */
    PLOT_SECONDS, /* 250 µs, 3 h */
    PLOT_BYTES,   /* 64 MiB */
};

enum plot_kind {
    PLOT_LINE,
    PLOT_STEP, /* a value holds until the next point */
    PLOT_SCATTER,
};

struct plot_axis {
    const char *title; /* with the unit of a PLOT_NUMBER: "Throughput (operations/s)" */
    uint8_t scale;     /* enum plot_scale */
    uint8_t unit;      /* enum plot_unit */
    bool zero;         /* linear: 0 is on the axis */
};

struct plot_series {
    const char *label; /* short */
    uint8_t kind;      /* enum plot_kind */
    uint8_t style;     /* 0 to PLOT_STYLES - 1; give the same thing the same style in each panel */
    bool markers;      /* each point has a marker, with its values as tooltip */
    const double *x, *y;
    size_t count; /* 0: the legend says "no data" */
};

struct plot_mark { /* a line across the panel, on either axis */
    double at;
    bool vertical; /* at x = |at|, else at y */
    const char *label;
};

struct plot_panel {
    struct plot_axis y;
    const struct plot_series *series;
    uint32_t series_count;
    const struct plot_mark *marks;
    uint32_t mark_count;
};

struct plot {
    const char *title, *subtitle; /* |subtitle|: wrapped; or NULL */
    struct plot_axis x;
    const struct plot_panel *panels; /* from the top */
    uint32_t panel_count;
    uint32_t width, panel_height; /* in CSS pixels; 0: 760 and 230 */
    bool direct;                  /* labels also beside the last points of the series */
};

/* Appends the <svg> element to |to|.  -ERR_USAGE: values that are not finite or have no place on a
 * logarithmic axis, or too many series or panels; -ERR_SYSTEM: no memory. */
int svg_plot(const struct plot *plot, struct buf *to, struct err *err);

/* Writes a plot as a file of its own. */
int svg_plot_write(const struct plot *plot, output_writer *write, void *ctx, struct err *err);

#endif
