/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/svg_plot_axis.c
 *
 * Chooses ticks on linear and logarithmic axes and the unit that is written with them, writes
 * values as text, and tells where on its axis a value is.  For svg_plot.c and html_latency.c.  The
 * contract is in svg_plot_axis.h.
 */
#include "show/svg_plot_axis.h"

#include <math.h>
#include <stdio.h>

/* Larger ones are no measurements, and sums of them might not be finite. */
#define VALUE_MAX 1e100
/* Below this share of the largest value steps are lost in rounding. */
#define STEP_LEAST 1e-12

struct scale_unit {
    double factor;
    const char *suffix;
    double from; /* smallest value for which it is taken */
};

static const struct scale_unit numbers[] = {
    { 1e12, " T", 1e13 }, { 1e9, " G", 1e10 }, { 1e6, " M", 1e7 }, { 1, "", 0 }
};
static const struct scale_unit seconds[] = {
    { 86400, " d", 2 * 86400.0 }, { 3600, " h", 2 * 3600.0 }, { 60, " min", 120 }, { 1, " s", 1 },
    { 1e-3, " ms", 1e-3 },        { 1e-6, " µs", 1e-6 },      { 1e-9, " ns", 0 },
};
static const struct scale_unit bytes[] = {
    { 0x1p40, " TiB", 0x1p40 },
    { 0x1p30, " GiB", 0x1p30 },
    { 0x1p20, " MiB", 0x1p20 },
    { 0x1p10, " KiB", 0x1p10 },
    { 1, " B", 0 },
};

static const struct scale_unit *unit_for(const struct plot_axis *axis, double most)
{
    const struct scale_unit *unit = axis->unit == PLOT_SECONDS ? seconds
                                    : axis->unit == PLOT_BYTES ? bytes
                                                               : numbers;

    if (axis->unit == PLOT_SECONDS && axis->scale != PLOT_LINEAR)
        unit += 3; /* powers of ten are no round numbers of minutes */
    while (unit->from > 0 && fabs(most) < unit->from)
        unit++;
    return unit;
}

/* "1234567.50" becomes "1,234,567.5"; a fraction loses the zeros at its end. */
static void group(const char *digits, const char *suffix, char text[PLOT_TEXT_MAX])
{
    size_t whole = strspn(digits, "-0123456789"), len = strlen(digits), at = 0;

    if (digits[whole] == '.') {
        while (len > whole + 1 && digits[len - 1] == '0')
            len--;
        if (len == whole + 1)
            len--;
    }
    for (size_t i = 0; i < len && at < PLOT_TEXT_MAX - 2; i++) {
        if (i && i < whole && (whole - i) % 3 == 0 && digits[i - 1] != '-')
            text[at++] = ',';
        text[at++] = digits[i];
    }
    snprintf(text + at, PLOT_TEXT_MAX - at, "%s", suffix);
}

/* |step|: how exactly. */
static void value_text(const struct scale_unit *unit, double value, double step,
                       char text[PLOT_TEXT_MAX])
{
    double shown = value / unit->factor, exact = step / unit->factor;
    char digits[PLOT_TEXT_MAX];
    int decimals = 0;

    if (fabs(shown) >= 1e12 || (exact < 1e-6 && shown != 0)) {
        snprintf(text, PLOT_TEXT_MAX, "%.4g%s", shown, unit->suffix);
        return;
    }
    for (; decimals < 6 && exact < 0.999; decimals++)
        exact *= 10;
    snprintf(digits, sizeof(digits), "%.*f", decimals, shown == 0 ? 0.0 : shown); /* no -0 */
    group(digits, unit->suffix, text);
}

const char *plot_value_text(const struct plot_axis *axis, double value, char text[PLOT_TEXT_MAX])
{
    const struct scale_unit *unit = unit_for(axis, value);

    value_text(unit, value,
               value == 0 ? 1
                          : pow(10, floor(log10(fabs(value / unit->factor))) - 2) * unit->factor,
               text);
    return text;
}

bool plot_drawable(const struct plot_axis *axis, double value)
{
    if (!isfinite(value) || fabs(value) > VALUE_MAX)
        return false;
    return axis->scale == PLOT_LINEAR || value > 1 / VALUE_MAX;
}

static void add_tick(struct plot_ticks *ticks, double at)
{
    if (ticks->count < PLOT_TICKS_MAX)
        ticks->at[ticks->count++] = at;
}

/* 1, 2 or 5 times a power of ten, not below |step|. */
static double nice_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double first = step / power * (1 - 1e-9);

    return power * (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10);
}

static void linear_ticks(struct plot_ticks *ticks, const struct plot_axis *axis, double low,
                         double high, uint32_t wanted)
{
    const struct scale_unit *unit;
    double most, step, first, last;

    if (axis->zero) {
        low = fmin(low, 0);
        high = fmax(high, 0);
    }
    most = fmax(fabs(low), fabs(high));
    if (high - low <= most * STEP_LEAST || high - low < 1 / VALUE_MAX) { /* one value */
        high += most > 0 ? most / 10 : 1;
        low -= axis->zero || low == 0 ? 0 : most / 10;
    }
    unit = unit_for(axis, fmax(fabs(low), fabs(high)));
    step = nice_step((high - low) / unit->factor / wanted) * unit->factor;
    first = floor(low / step + 1e-9);
    last = ceil(high / step - 1e-9);
    for (double i = first; i <= last && ticks->count < PLOT_TICKS_MAX; i++) {
        value_text(unit, i * step, step, ticks->text[ticks->count]);
        add_tick(ticks, i * step);
    }
}

static void power_ticks(struct plot_ticks *ticks, double base, double low, double high,
                        uint32_t wanted)
{
    int first = (int)floor(log(low) / log(base) + 1e-9);
    int last = (int)ceil(log(high) / log(base) - 1e-9);
    int stride;

    if (last <= first)
        last = first + 1;
    stride = (last - first + (int)wanted - 1) / (int)wanted;
    for (int e = first; e < last + stride; e += stride)
        add_tick(ticks, pow(base, e));
}

/* Few decades: 1, 2, 5, 10, 20, ... from the last one below to the first one above. */
static void decade_ticks(struct plot_ticks *ticks, double low, double high)
{
    static const double parts[] = { 1, 2, 5 };
    int e = (int)floor(log10(low) + 1e-9);
    bool done = false;

    for (; !done; e++)
        for (unsigned i = 0; i < 3 && !done; i++) {
            double at = parts[i] * pow(10, e);

            if (at <= low * (1 + 1e-9))
                ticks->count = 0;
            add_tick(ticks, at);
            done = ticks->count > 1 && at >= high * (1 - 1e-9);
        }
}

void plot_ticks(struct plot_ticks *ticks, const struct plot_axis *axis, double low, double high,
                uint32_t wanted)
{
    ticks->count = 0;
    if (axis->scale == PLOT_LINEAR)
        linear_ticks(ticks, axis, low, high, wanted);
    else if (axis->scale == PLOT_LOG2)
        power_ticks(ticks, 2, low, high, wanted);
    else if (3 * log10(high / low) <= wanted)
        decade_ticks(ticks, low, high);
    else
        power_ticks(ticks, 10, low, high, wanted);
    if (axis->scale != PLOT_LINEAR)
        for (uint32_t i = 0; i < ticks->count; i++)
            plot_value_text(axis, ticks->at[i], ticks->text[i]);
    /* a tick's rounding must not push a value out */
    ticks->low = fmin(ticks->at[0], low);
    ticks->high = fmax(ticks->at[ticks->count - 1], high);
}

double plot_place(const struct plot_axis *axis, const struct plot_ticks *ticks, double value)
{
    if (axis->scale == PLOT_LINEAR)
        return (value - ticks->low) / (ticks->high - ticks->low);
    return (log(value) - log(ticks->low)) / (log(ticks->high) - log(ticks->low));
}
