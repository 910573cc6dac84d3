/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/svg_plot_head.c
 *
 * What is above the panels of a plot: style sheet, title, subtitle, legend; also markers and the
 * estimated width of a text.  Subtitle and legend are gone through twice, the first time only to
 * learn their height.  For svg_plot.c.  The contract is in svg_plot_parts.h.
 */
#include "show/svg_plot_parts.h"

#include <math.h>
#include <stdio.h>

/* Colours of Okabe and Ito, darkened or lightened until text in them is readable. */
static const struct {
    const char *light, *dark, *dash;
} styles[PLOT_STYLES] = {
    { "#0067a5", "#5db7f0", "none" }, { "#c44e00", "#ff9248", "7 4" },
    { "#007a5a", "#3fcf9f", "2 4" },  { "#a0417f", "#e792c3", "10 4 2 4" },
    { "#7a5c00", "#e0c040", "14 5" }, { "#555b61", "#b4bac0", "4 3" },
};

static const char style_head[] =
    "<style>.np{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;"
    "font-size:12px;max-width:100%;height:auto}"
    ".np text{fill:#424a53}.np .np-paper{fill:#fff}"
    ".np .np-title{font-size:16px;font-weight:600;fill:#1b1f24}"
    ".np .np-name{font-weight:600;fill:#1b1f24}"
    ".np .np-halo{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}"
    ".np .np-num{font-variant-numeric:tabular-nums}"
    ".np .np-grid{stroke:#e1e5e9}.np .np-axis{stroke:#6e7781}"
    ".np .np-mark{stroke:#424a53;stroke-dasharray:1 3;stroke-width:1.5}"
    ".np .np-line{fill:none;stroke-width:2;stroke-linejoin:round}";
static const char style_dark[] =
    "@media(prefers-color-scheme:dark){.np text{fill:#b4bac0}.np .np-paper{fill:#14171a}"
    ".np .np-title,.np .np-name{fill:#e6e9ec}.np .np-halo{stroke:#14171a}"
    ".np .np-grid{stroke:#2b3138}.np .np-axis{stroke:#868e96}.np .np-mark{stroke:#b4bac0}";

void plot_put_text(struct drawing *d, const char *text)
{
    d->failed |= markup_text(d->to, text ? text : "") < 0;
}

double plot_text_width(const char *text, double size)
{
    size_t letters = 0;

    for (; text && *text; text++)
        letters += ((unsigned char)*text & 0xc0) != 0x80;
    return (double)letters * size * 0.56;
}

void plot_marker(struct drawing *d, unsigned style, double x, double y, const char *tip)
{
    double r = MARKER;

    switch (style) {
    case 0:
        PUT(d, "<circle class=\"np-f0\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", x, y, r - 0.3);
        break;
    case 1:
        PUT(d, "<rect class=\"np-f1\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
            x - r + 0.5, y - r + 0.5, 2 * r - 1, 2 * r - 1);
        break;
    case 2:
    case 5:
        r = style == 2 ? r : -r; /* up, down */
        PUT(d, "<path class=\"np-f%u\" d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"", style, x, y - r, r,
            1.8 * r, -2 * r);
        break;
    default: /* diamond, flat diamond */
        PUT(d, "<path class=\"np-f%u\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\"", style, x,
            y - r, r, r, -r, r, -r, -r);
    }
    if (tip) {
        PUT(d, "><title>");
        plot_put_text(d, tip);
        PUT(d, "</title></%s>\n", style == 0 ? "circle" : style == 1 ? "rect" : "path");
    } else {
        PUT(d, "/>\n");
    }
}

/* One sample of each style. */
double plot_legend(struct drawing *d, double top, bool draw)
{
    bool shown[PLOT_STYLES] = { false };
    double x = MARGIN, y = top;

    for (uint32_t i = 0; i < d->plot->panel_count * PLOT_SERIES_MAX; i++) {
        const struct plot_panel *panel = &d->plot->panels[i / PLOT_SERIES_MAX];
        const struct plot_series *s = &panel->series[i % PLOT_SERIES_MAX];
        double width;

        if (i % PLOT_SERIES_MAX >= panel->series_count || shown[s->style])
            continue;
        shown[s->style] = true;
        width = LEGEND_SAMPLE + plot_text_width(s->label, 12) + (s->count ? 0 : 60);
        if (x > MARGIN && x + width > d->width - MARGIN) {
            x = MARGIN;
            y += LINE + 2;
        }
        if (draw) {
            if (s->kind != PLOT_SCATTER)
                PUT(d, "<path class=\"np-line np-s%u\" d=\"M%.1f %.1fh28\"/>", s->style, x, y - 4);
            if (s->markers || s->kind == PLOT_SCATTER)
                plot_marker(d, s->style, x + 14, y - 4, NULL);
            PUT(d, "<text x=\"%.1f\" y=\"%.1f\">", x + LEGEND_SAMPLE, y);
            plot_put_text(d, s->label);
            PUT(d, "%s</text>\n", s->count ? "" : " (no data)");
        }
        x += width + LEGEND_GAP;
    }
    return x > MARGIN ? y - top + LINE : 0;
}

double plot_subtitle(struct drawing *d, double top, bool draw)
{
    const char *rest = d->plot->subtitle ? d->plot->subtitle : "";
    double y = top;

    while (*rest) {
        char line[256];
        size_t len = 0, most = (size_t)fmin((d->width - 2 * MARGIN) / (12 * 0.5), 250);

        len = strlen(rest);
        if (len > most) {
            for (len = most; len && rest[len] != ' '; len--)
                ;
            for (len = len ? len : most; len > 1 && ((unsigned char)rest[len] & 0xc0) == 0x80;)
                len--;
        }
        snprintf(line, sizeof(line), "%.*s", (int)len, rest);
        if (draw) {
            PUT(d, "<text x=\"%d\" y=\"%.1f\">", MARGIN, y);
            plot_put_text(d, line);
            PUT(d, "</text>\n");
        }
        y += LINE;
        rest += len;
        rest += strspn(rest, " ");
    }
    return y - top;
}

void plot_head(struct drawing *d)
{
    PUT(d,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"np\" viewBox=\"0 0 %.0f %.0f\" "
        "width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-label=\"",
        d->width, d->height, d->width, d->height);
    plot_put_text(d, d->plot->title);
    PUT(d, "\">\n%s", style_head);
    for (unsigned i = 0; i < PLOT_STYLES; i++)
        PUT(d, ".np .np-s%u{stroke:%s;stroke-dasharray:%s}.np .np-f%u{fill:%s}", i, styles[i].light,
            styles[i].dash, i, styles[i].light);
    PUT(d, "%s", style_dark);
    for (unsigned i = 0; i < PLOT_STYLES; i++)
        PUT(d, ".np .np-s%u{stroke:%s}.np .np-f%u{fill:%s}", i, styles[i].dark, i, styles[i].dark);
    PUT(d, "}</style>\n<rect class=\"np-paper\" width=\"100%%\" height=\"100%%\"/>\n");
    PUT(d, "<text class=\"np-title\" x=\"%d\" y=\"%d\">", MARGIN, MARGIN + 14);
    plot_put_text(d, d->plot->title);
    PUT(d, "</text>\n");
}
