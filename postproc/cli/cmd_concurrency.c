/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_concurrency.c
 *
 * "nfsdigest concurrency": its options, windows and latency models, and where the outcome goes:
 * text, JSON or a plot.  The simulation is concurrency_report.c's of postproc/plan, the printing
 * concurrency_print.h's.  The contract of subcommands is in cli.h.
 */
#include "base/values.h"
#include "cli/cli.h"
#include "cli/concurrency_print.h"
#include "cli/outputs.h"
#include "cli/trace.h"
#include "report/concurrency_plot.h"
#include "show/args.h"

#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Estimates how many operations per second a replay of a trace can reach, and\n"
    "how many are under way at the same time.  The replayer looks ahead over a\n"
    "window of operations.  It sends each operation as soon as those that it\n"
    "depends on are finished.  The server needs the same time for an operation,\n"
    "however many are under way.  Dependencies have two granularities: whole\n"
    "objects, or (fine) attributes, byte ranges and names separately.  Concurrency\n"
    "is throughput times latency.\n"
    "\n"
    "FILE is a record stream or a capture, or - for standard input.\n";

enum { WINDOWS_MAX = 64 };

struct windows {
    uint32_t sizes[WINDOWS_MAX]; /* growing */
    uint32_t count;
    bool given;
};

struct concurrency_args {
    struct windows windows;
    const char *svg, *factor;
    int64_t latency;
    uint64_t outstanding;
    bool json;
};

static int by_size(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static int set_windows(void *to, const char *value, struct err *err)
{
    struct windows *windows = to;
    uint32_t kept = 0;

    windows->count = 0;
    windows->given = true;
    for (const char *rest = value; rest; rest = strchr(rest, ',')) {
        char text[16] = "";
        uint64_t size;
        size_t len;

        rest += *rest == ',';
        len = strcspn(rest, ",");
        if (len < sizeof(text))
            memcpy(text, rest, len);
        if (!parse_number(text, &size) || !size || size > CONCURRENCY_WINDOW_MAX)
            return err_set(err, ERR_USAGE, "\"%.*s\" is not a window of 1 to %d operations",
                           (int)len, rest, CONCURRENCY_WINDOW_MAX);
        if (windows->count == WINDOWS_MAX)
            return err_set(err, ERR_USAGE, "more than %d windows", WINDOWS_MAX);
        windows->sizes[windows->count++] = (uint32_t)size;
    }
    qsort(windows->sizes, windows->count, sizeof(*windows->sizes), by_size);
    for (uint32_t i = 0; i < windows->count; i++)
        if (!kept || windows->sizes[i] != windows->sizes[kept - 1])
            windows->sizes[kept++] = windows->sizes[i];
    windows->count = kept;
    return 0;
}

/* Without any latency each figure would be 0 or without bounds. */
static int check(const struct concurrency_report *r, const char *name, struct err *err)
{
    if (r->operations && !r->measured && !r->models[0].constant)
        return err_set(err, ERR_INPUT,
                       "%s: no operation has a latency, as no packet has a time or no call has its"
                       " reply: use --latency TIME",
                       name);
    if (r->too_long)
        return err_set(err, ERR_USAGE, "a replay with such latencies takes longer than 292 years");
    return 0;
}

static int show(const struct concurrency_args *a, const struct concurrency_report *report,
                const char *name, struct err *err)
{
    if (a->svg && concurrency_svg(report, a->svg, name, err) < 0)
        return -err->code;
    if (a->svg && strcmp(a->svg, "-") == 0)
        return 0;
    if (a->json)
        concurrency_json(report);
    else
        concurrency_text(report);
    return 0;
}

static int run_on(const char *name, const struct concurrency_args *a, double factor,
                  struct err *err)
{
    const struct concurrency_request request = {
        .models = { { a->latency, 1 }, { a->latency, factor } },
        .model_count = factor != 1 ? 2 : 1,
        .windows = a->windows.sizes,
        .window_count = a->windows.count,
        .all_windows = a->windows.given,
        .outstanding = (uint32_t)a->outstanding,
    };
    struct concurrency_report report;
    struct plan_counts counts;
    struct trace trace;
    int result;

    if (outputs_spare(name, "--svg", a->svg, err) < 0 || trace_open(&trace, name, false, err) < 0)
        return -err->code;
    result = concurrency_report(store_db(trace.store), &request, &report, &counts, err);
    if (result == 0)
        result = check(&report, name, err);
    if (result == 0)
        result = show(a, &report, name, err);
    concurrency_report_free(&report);
    return trace_close(&trace, result, err);
}

static int set_latency(void *to, const char *value, struct err *err)
{
    if (set_duration(to, value, err) < 0)
        return -ERR_USAGE;
    return *(int64_t *)to > 0 ? 0 : err_set(err, ERR_USAGE, "a time above 0, not \"%s\"", value);
}

static int set_outstanding(void *to, const char *value, struct err *err)
{
    if (set_count(to, value, err) < 0)
        return -ERR_USAGE;
    return *(uint64_t *)to && *(uint64_t *)to <= CONCURRENCY_WINDOW_MAX
               ? 0
               : err_set(err, ERR_USAGE, "1 to %d, not \"%s\"", CONCURRENCY_WINDOW_MAX, value);
}

/* 1 when there is none. */
static int parse_factor(const char *text, double *factor, struct err *err)
{
    char *end = NULL;

    *factor = text ? strtod(text, &end) : 1;
    if (text && (*end || end == text || !(*factor >= 0.001 && *factor <= 1000)))
        return err_set(err, ERR_USAGE, "--directory-factor takes 0.001 to 1000, not \"%s\"", text);
    return 0;
}

int cmd_concurrency(int argc, char **argv, struct err *err)
{
    struct concurrency_args a = { .latency = 0 };
    const struct arg own[] = {
        { 'w', "windows", "N[,...]",
          "window sizes in operations, at most 65536 each\n"
          "(1,2,4,... up to one that holds the whole trace)",
          set_windows, &a.windows },
        { 0, "latency", "TIME",
          "every operation takes this time, not the time in\n"
          "the trace",
          set_latency, &a.latency },
        { 0, "directory-factor", "F",
          "also simulate that operations on names in\n"
          "directories take F times as long",
          set_text, &a.factor },
        { 0, "outstanding", "N", "allow at most N requests under way (no limit)", set_outstanding,
          &a.outstanding },
        { 'j', "json", NULL, "print a JSON object on each line; times in ns", set_flag, &a.json },
        { 0, "svg", "FILE",
          "also draw a plot; \"-\" is standard output, then\n"
          "nothing else is printed",
          set_text, &a.svg },
        { 0 },
    };
    const struct args args = {
        "nfsdigest concurrency [OPTION...] DATABASE|FILE", about, own, NULL, NULL, 1, "one file"
    };
    double factor;
    int first, result;

    for (uint32_t w = 1; w <= CONCURRENCY_WINDOW_MAX; w *= 2)
        a.windows.sizes[a.windows.count++] = w;
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (parse_factor(a.factor, &factor, err) < 0)
        return -err->code;
    if (a.svg && strcmp(a.svg, "-") == 0 && a.json)
        return err_set(err, ERR_USAGE, "--svg - and --json both go to standard output");
    return run_on(argv[first], &a, factor, err);
}
