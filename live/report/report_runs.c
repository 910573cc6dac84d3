/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/report/report_runs.c
 *
 * Several runs side by side: the median of each figure, its spread (the most minus the least), and
 * which differences between groups of runs are larger than that.
 */
#include "base/values.h"
#include "report/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { SPREAD_WIDTH = 9, DIFFERENCE_WIDTH = 8 };

static const struct report_procedure *find(const struct report *r, const char *name)
{
    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++)
        if (!strcmp(r->procedures[i].name, name))
            return &r->procedures[i];
    return NULL;
}

static double median_latency(const struct report *r, const char *name)
{
    const struct report_procedure *p = find(r, name);

    return p && p->sent.count ? (double)p->sent.p50 : NAN;
}

static double high_latency(const struct report *r, const char *name)
{
    const struct report_procedure *p = find(r, name);

    return p && p->sent.count ? (double)p->sent.p99 : NAN;
}

static double duration(const struct report *r, const char *name)
{
    (void)name;
    return (double)r->run.duration;
}

static double throughput(const struct report *r, const char *name)
{
    (void)name;
    return report_rate((double)report_timed(r), r->run.duration);
}

static double concurrency(const struct report *r, const char *name)
{
    (void)name;
    return report_concurrency(r);
}

static double as_recorded(const struct report *r, const char *name)
{
    (void)name;
    return r->run.operations
               ? 100.0 * (double)report_in_class(r, VERDICT_AS_RECORDED) / (double)r->run.operations
               : NAN;
}

static double lateness(const struct report *r, const char *name)
{
    (void)name;
    return (double)r->late[LATE_CAUSES].times.p99;
}

static double own_lateness(const struct report *r, const char *name)
{
    (void)name;
    return (double)r->late[LATE_OWN].times.p99;
}

static double cpu(const struct report *r, const char *name)
{
    (void)name;
    return (double)r->run.cpu_user + (double)r->run.cpu_system;
}

/* --- figures of all runs */

uint32_t report_figures(const struct report *const *reports, uint32_t count,
                        struct report_figure figures[REPORT_FIGURES])
{
    static const struct report_figure common[] = {
        { "as recorded, %", NULL, as_recorded, false, true },
        { "time of the run", NULL, duration, true, false },
        { "operations a second", NULL, throughput, false, false },
        { "at the same time", NULL, concurrency, false, false },
        { "lateness, 99 %", NULL, lateness, true, false },
        { "own lateness, 99 %", NULL, own_lateness, true, false },
        { "CPU of the player", NULL, cpu, true, false },
    };
    uint32_t lines = sizeof(common) / sizeof(*common);

    memcpy(figures, common, sizeof(common));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < reports[i]->counts[REPORT_PROCEDURES]; k++) {
            const char *name = reports[i]->procedures[k].name;
            uint32_t seen = 0;

            while (seen < lines &&
                   (!figures[seen].procedure || strcmp(figures[seen].procedure, name)))
                seen++;
            if (seen < lines || lines + 2 > REPORT_FIGURES)
                continue;
            figures[lines++] =
                (struct report_figure){ "median", name, median_latency, true, false };
            figures[lines++] = (struct report_figure){ "99 %", name, high_latency, true, false };
        }
    }
    return lines;
}

static bool is_same_group(const struct report *a, const struct report *b)
{
    return !strcmp(a->run.dump, b->run.dump) && !strcmp(a->run.target, b->run.target) &&
           !strcmp(a->run.pace, b->run.pace) && !strcmp(a->run.rules, b->run.rules) &&
           !strcmp(a->run.options, b->run.options);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

uint32_t report_groups(const struct report *const *reports, uint32_t count,
                       struct report_group groups[REPORT_RUNS])
{
    uint32_t group_count = 0;

    for (uint32_t i = 0; i < count && i < REPORT_RUNS; i++) {
        uint32_t k = 0;

        while (k < group_count && !is_same_group(reports[groups[k].first], reports[i]))
            k++;
        if (k == group_count)
            groups[group_count++] = (struct report_group){ i, 0 };
        groups[k].members++;
    }
    return group_count;
}

const char *report_groups_words(const struct report_group *groups, uint32_t group_count)
{
    bool alone = false;

    for (uint32_t i = 0; i < group_count; i++)
        alone |= groups[i].members == 1;
    if (group_count < 2)
        return "";
    return alone
               ? "A difference to group 1 is shown if it is larger than the spread of both "
                 "groups.\n"
                 "A group of one run has no spread, so no difference is shown for it."
               : "A difference to group 1 is shown if it is larger than the spread of both groups.";
}

struct report_middle report_middle(const struct report *const *reports, uint32_t count,
                                   uint32_t first, const struct report_figure *figure)
{
    double values[REPORT_RUNS];
    uint32_t n = 0;

    for (uint32_t i = first; i < count && i < REPORT_RUNS; i++) {
        double value = figure->of(reports[i], figure->procedure);

        if (is_same_group(reports[first], reports[i]) && !isnan(value))
            values[n++] = value;
    }
    if (!n)
        return (struct report_middle){ NAN, NAN };
    qsort(values, n, sizeof(*values), by_value);
    return (struct report_middle){ (values[(n - 1) / 2] + values[n / 2]) / 2,
                                   n > 1 ? values[n - 1] - values[0] : NAN };
}

const char *report_amount(double value, bool is_time, char room[VALUE_TEXT_MAX])
{
    if (isnan(value))
        return "-";
    if (is_time)
        return report_time(value, room);
    snprintf(room, VALUE_TEXT_MAX, "%.2f", value);
    return room;
}

const char *report_difference(const struct report_figure *figure, struct report_middle first,
                              struct report_middle other, char room[VALUE_TEXT_MAX])
{
    double difference = other.median - first.median;
    char text[VALUE_TEXT_MAX];

    if (!(fabs(difference) > first.spread && fabs(difference) > other.spread))
        return "";
    if (!figure->is_share && first.median != 0)
        snprintf(room, VALUE_TEXT_MAX, "%+.1f %%", 100 * difference / first.median);
    else if (figure->is_time) /* there is no percentage of nothing */
        snprintf(room, VALUE_TEXT_MAX, "%s%.20s", difference > 0 ? "+" : "",
                 report_time(difference, text));
    else /* a percentage of a percentage says nothing */
        snprintf(room, VALUE_TEXT_MAX, "%+.2f", difference);
    return room;
}

/* A line: each group's median and spread, and the difference of the first two. */
static void line(const struct report *const *reports, uint32_t count,
                 const struct report_group *groups, uint32_t group_count,
                 const struct report_figure *figure, FILE *to)
{
    struct report_middle first = { NAN, NAN };
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];
    int gap = 0; /* blanks that the next column still needs, so that no line ends in them */

    fprintf(to, "  %-12.12s %-20s", figure->procedure ? figure->procedure : "", figure->name);
    for (uint32_t i = 0; i < group_count; i++) {
        struct report_middle m = report_middle(reports, count, groups[i].first, figure);
        const char *spread = isnan(m.spread) ? "" : report_amount(m.spread / 2, figure->is_time, b);

        if (!i)
            first = m;
        fprintf(to, "%*s %10s%s%s", gap, "", report_amount(m.median, figure->is_time, a),
                spread[0] ? " +-" : "", spread);
        gap = SPREAD_WIDTH - (int)strlen(spread) + (spread[0] ? 0 : 3);
        if (i) {
            const char *difference = report_difference(figure, first, m, a);

            if (difference[0])
                fprintf(to, "%*s %s", gap > 0 ? gap : 0, "", difference);
            gap = (difference[0] ? 0 : gap + 1) + DIFFERENCE_WIDTH - (int)strlen(difference);
        }
        gap = gap > 0 ? gap : 0;
    }
    fprintf(to, "\n");
}

void report_runs(const struct report *const *reports, uint32_t count, FILE *to)
{
    static struct report_figure figures[REPORT_FIGURES];
    struct report_group groups[REPORT_RUNS];
    uint32_t group_count = report_groups(reports, count, groups);
    uint32_t lines = report_figures(reports, count, figures);

    for (uint32_t i = 0; i < group_count; i++) {
        fprintf(to, "group %" PRIu32 ": %" PRIu32 " %s, ", i + 1, groups[i].members,
                groups[i].members == 1 ? "run" : "runs");
        report_title(reports[groups[i].first], to);
        report_conditions(reports[groups[i].first], "    ", to);
    }
    fprintf(to, "\nMedian and half of the spread (the most minus the least) of each group%s%s\n\n",
            group_count > 1 ? ".\n" : "", report_groups_words(groups, group_count));
    for (uint32_t i = 0; i < lines; i++)
        line(reports, count, groups, group_count, &figures[i], to);
}
