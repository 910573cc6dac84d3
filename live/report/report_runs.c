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

enum { LINES_MAX = 8 + 2 * TALLY_PROCEDURES, RUNS_MAX = 256 };

/* A figure; of a procedure if |procedure| is not NULL. */
struct figure {
    const char *name, *procedure;
    double (*of)(const struct report *report, const char *procedure);
    bool is_time;
};

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
    uint64_t count = 0;

    (void)name;
    for (uint32_t i = 0; i < r->counts[REPORT_PROCEDURES]; i++)
        count += r->procedures[i].sent.count;
    return report_rate((double)count, r->run.duration);
}

static double concurrency(const struct report *r, const char *name)
{
    (void)name;
    return report_concurrency(r);
}

static double as_recorded(const struct report *r, const char *name)
{
    (void)name;
    return r->run.operations ? 100.0 * (double)r->classes[VERDICT_AS_RECORDED].operations /
                                   (double)r->run.operations
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

static uint32_t list_figures(const struct report *const *reports, uint32_t count,
                             struct figure figures[LINES_MAX])
{
    static const struct figure common[] = {
        { "as recorded, %", NULL, as_recorded, false },
        { "time of the run", NULL, duration, true },
        { "operations a second", NULL, throughput, false },
        { "at the same time", NULL, concurrency, false },
        { "lateness, 99 %", NULL, lateness, true },
        { "own lateness, 99 %", NULL, own_lateness, true },
        { "CPU of the player", NULL, cpu, true },
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
            if (seen < lines || lines + 2 > LINES_MAX)
                continue;
            figures[lines++] = (struct figure){ "median", name, median_latency, true };
            figures[lines++] = (struct figure){ "99 %", name, high_latency, true };
        }
    }
    return lines;
}

static bool is_same_group(const struct report *a, const struct report *b)
{
    return !strcmp(a->run.dump, b->run.dump) && !strcmp(a->run.target, b->run.target) &&
           !strcmp(a->run.pace, b->run.pace);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

struct middle {
    double median, spread; /* NAN: there is none */
};

/* Of the runs in the group of reports[first]. */
static struct middle middle_of(const struct report *const *reports, uint32_t count, uint32_t first,
                               const struct figure *figure)
{
    double values[RUNS_MAX];
    uint32_t n = 0;

    for (uint32_t i = first; i < count; i++) {
        double value = figure->of(reports[i], figure->procedure);

        if (is_same_group(reports[first], reports[i]) && !isnan(value))
            values[n++] = value;
    }
    if (!n)
        return (struct middle){ NAN, NAN };
    qsort(values, n, sizeof(*values), by_value);
    return (struct middle){ (values[(n - 1) / 2] + values[n / 2]) / 2,
                            n > 1 ? values[n - 1] - values[0] : NAN };
}

static const char *amount(double value, bool is_time, char room[VALUE_TEXT_MAX])
{
    if (isnan(value))
        return "-";
    if (is_time)
        return report_time(value, room);
    snprintf(room, VALUE_TEXT_MAX, "%.2f", value);
    return room;
}

/* A line: each group's median and spread, and the difference of the first two. */
static void line(const struct report *const *reports, uint32_t count, const uint32_t *groups,
                 uint32_t group_count, const struct figure *figure, FILE *to)
{
    struct middle first = { NAN, NAN };
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX];

    fprintf(to, "  %-12.12s %-20s", figure->procedure ? figure->procedure : "", figure->name);
    for (uint32_t i = 0; i < group_count; i++) {
        struct middle m = middle_of(reports, count, groups[i], figure);
        double difference = m.median - first.median;

        fprintf(to, " %10s +-%-9s", amount(m.median, figure->is_time, a),
                amount(m.spread / 2, figure->is_time, b));
        if (i && fabs(difference) > first.spread && fabs(difference) > m.spread)
            fprintf(to, " %+.1f %%", first.median != 0 ? 100 * difference / first.median : 0);
        else if (i)
            fprintf(to, "       ");
        if (!i)
            first = m;
    }
    fprintf(to, "\n");
}

void report_runs(const struct report *const *reports, uint32_t count, FILE *to)
{
    static struct figure figures[LINES_MAX];
    uint32_t groups[RUNS_MAX], group_count = 0, lines;

    count = count < RUNS_MAX ? count : RUNS_MAX;
    lines = list_figures(reports, count, figures);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t members = 0, k = 0;

        while (k < group_count && !is_same_group(reports[groups[k]], reports[i]))
            k++;
        if (k < group_count)
            continue;
        groups[group_count++] = i;
        for (k = i; k < count; k++)
            members += is_same_group(reports[i], reports[k]);
        fprintf(to, "group %" PRIu32 ": %" PRIu32 " %s, ", group_count, members,
                members == 1 ? "run" : "runs");
        report_title(reports[i], to);
    }
    fprintf(to, "\nMedian and half of the spread (the most minus the least) of each group");
    fprintf(to, group_count > 1 ? ".\nA difference to group 1 is shown if it is larger than the "
                                  "spread of both groups.\n\n"
                                : "\n\n");
    for (uint32_t i = 0; i < lines; i++)
        line(reports, count, groups, group_count, &figures[i], to);
}
