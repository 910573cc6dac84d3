/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_history.c
 *
 * Keeps a shadow's counts over time, and draws them.  For shadow_page.c; the contract is in
 * shadow_history.h.
 */
#include "tee/shadow_history.h"
#include "show/svg_plot.h"

#include <stdlib.h>
#include <string.h>

uint64_t shadow_history_objects(const struct shadow *shadow)
{
    uint64_t all = 0;

    for (int i = 0; i < MIRROR_STATES; i++)
        if (i != MIRROR_GONE && i != MIRROR_EXCLUDED)
            all += shadow_objects(shadow, (enum mirror_state)i);
    return all;
}

static void halve(struct shadow_history *h)
{
    for (uint32_t i = 0; i < HISTORY_POINTS / 2; i++)
        h->points[i] = h->points[2 * (size_t)i];
    h->fixed = HISTORY_POINTS / 2;
    h->every *= 2;
}

void shadow_history_take(struct shadow_history *h, struct shadow *shadow, int64_t at)
{
    const struct shadow_latency *all = shadow_latencies(shadow);
    const struct shadow_counts *c = shadow_counts(shadow);
    struct history_point *p;

    if (!h->every)
        h->every = 1;
    if (h->fixed == HISTORY_POINTS)
        halve(h);
    p = &h->points[h->fixed];
    *p = (struct history_point){ .at = at,
                                 .requests = c->requests,
                                 .compared = c->fates[FATE_COMPARED],
                                 .differ = shadow_verdicts(shadow)->differ,
                                 .objects = shadow_history_objects(shadow),
                                 .synchronized = shadow_objects(shadow, MIRROR_SYNCHRONIZED) };
    for (int side = 0; side < SIDES; side++) {
        p->time[side] = all->side[side].sum;
        p->answers[side] = all->side[side].count;
    }
    h->count = h->fixed + 1;
    if (h->ticks++ % h->every == 0)
        h->fixed++;
}

void shadow_history_json(const struct shadow_history *h, struct json *j)
{
    static const char *const columns[] = { "time",
                                           "requests",
                                           "compared",
                                           "differ",
                                           "objects",
                                           "synchronized",
                                           "reference_answers",
                                           "reference_seconds",
                                           "sut_answers",
                                           "sut_seconds",
                                           NULL };

    json_array(j, "history_columns");
    for (const char *const *name = columns; *name; name++)
        json_text(j, NULL, *name);
    json_array_end(j);
    json_array(j, "history");
    for (uint32_t i = 0; i < h->count; i++) {
        const struct history_point *p = &h->points[i];

        json_break(j);
        json_one_line(j);
        json_array(j, NULL);
        json_number(j, NULL, "%.3f", (double)p->at / 1e9);
        json_u64(j, NULL, p->requests);
        json_u64(j, NULL, p->compared);
        json_u64(j, NULL, p->differ);
        json_u64(j, NULL, p->objects);
        json_u64(j, NULL, p->synchronized);
        for (int side = 0; side < SIDES; side++) {
            json_u64(j, NULL, p->answers[side]);
            json_number(j, NULL, "%.9f", (double)p->time[side] / 1e9);
        }
        json_array_end(j);
    }
    json_array_end(j);
}

/* --- the plot */

enum { SYNCHRONIZED, COMPARED, REQUESTS, DIFFER, LATENCY, LINES = LATENCY + SIDES };

struct lines {
    double x[HISTORY_POINTS], y[LINES][HISTORY_POINTS];
    bool has_differences;
};

static double rate(uint64_t from, uint64_t to, double seconds)
{
    return seconds > 0 && to > from ? (double)(to - from) / seconds : 0;
}

/* What happened from point |i| to the next one stands at |i|, as steps have it; where nothing was
 * to be measured, the value before stays. */
static void take_step(struct lines *l, const struct shadow_history *h, uint32_t i)
{
    const struct history_point *a = &h->points[i], *b = i + 1 < h->count ? a + 1 : a;
    double seconds = (double)(b->at - a->at) / 1e9;

    l->x[i] = (double)a->at / 1e9;
    l->y[SYNCHRONIZED][i] = a->objects ? 100.0 * (double)a->synchronized / (double)a->objects : 0;
    l->y[COMPARED][i] = b->requests > a->requests ? 100.0 * (double)(b->compared - a->compared) /
                                                        (double)(b->requests - a->requests)
                        : i ? l->y[COMPARED][i - 1]
                            : 0;
    l->y[REQUESTS][i] =
        b == a && i ? l->y[REQUESTS][i - 1] : rate(a->requests, b->requests, seconds);
    l->y[DIFFER][i] = b == a && i ? l->y[DIFFER][i - 1] : rate(a->differ, b->differ, seconds);
    l->has_differences |= l->y[DIFFER][i] > 0;
    for (int side = 0; side < SIDES; side++) {
        double *y = l->y[LATENCY + side];
        uint64_t answers = b->answers[side] - a->answers[side];

        y[i] = answers ? (double)(b->time[side] - a->time[side]) / (double)answers / 1e9
               : i     ? y[i - 1]
                       : 0;
    }
}

int shadow_history_plot(const struct shadow_history *h, struct buf *svg, struct err *err)
{
    struct lines *l = calloc(1, sizeof(*l));
    struct plot_series s[LINES];
    struct plot_panel panels[PLOT_PANELS_MAX] = {
        { { "Share (%)", PLOT_LINEAR, PLOT_NUMBER, true }, s, 2, NULL, 0 },
        { { "Requests a second", PLOT_LINEAR, PLOT_NUMBER, true }, s + REQUESTS, 1, NULL, 0 },
        { { "Mean latency", PLOT_LINEAR, PLOT_SECONDS, true }, s + LATENCY, 2, NULL, 0 },
        { { "Differing pairs a second", PLOT_LINEAR, PLOT_NUMBER, true }, s + DIFFER, 1, NULL, 0 },
    };
    static const struct {
        const char *label;
        uint8_t kind, style;
    } looks[LINES] = {
        [SYNCHRONIZED] = { "objects that are synchronized", PLOT_LINE, 0 },
        [COMPARED] = { "requests that were compared", PLOT_STEP, 1 },
        [REQUESTS] = { "requests", PLOT_STEP, 2 },
        [DIFFER] = { "pairs that differ", PLOT_STEP, 5 },
        [LATENCY + REF] = { "reference", PLOT_STEP, 3 },
        [LATENCY + SUT] = { "SUT", PLOT_STEP, 4 },
    };
    const struct plot plot = { .title = "The shadow over time",
                               .x = { "Time since it began", PLOT_LINEAR, PLOT_SECONDS, true },
                               .panels = panels,
                               .panel_count = PLOT_PANELS_MAX,
                               .width = 1040,
                               .panel_height = 150 };
    struct plot drawn = plot;
    int result;

    if (!l)
        return err_memory(err, "a plot");
    for (uint32_t i = 0; i < h->count; i++)
        take_step(l, h, i);
    for (int i = 0; i < LINES; i++)
        s[i] = (struct plot_series){ looks[i].label, looks[i].kind, looks[i].style, false,
                                     l->x,           l->y[i],       h->count };
    drawn.panel_count -= !l->has_differences;
    result = svg_plot(&drawn, svg, err);
    free(l);
    return result;
}
