/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/cmd_report.c
 *
 * nfsreplay report: what was kept of runs.
 */
#include "replay/commands.h"
#include "report/report.h"
#include "show/args.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, RUNS_MAX = 256 };

/* |run|: a folder, or the report itself. */
static int load(struct report *report, const char *run, struct err *err)
{
    char path[PATH_ROOM];
    struct stat about;

    if (stat(run, &about) < 0 || !S_ISDIR(about.st_mode))
        return report_load(report, run, err);
    if (snprintf(path, sizeof(path), "%s/curve.json", run) >= (int)sizeof(path))
        return err_set(err, ERR_SYSTEM, "%s: the path is too long", run);
    if (access(path, F_OK) == 0)
        return err_set(err, ERR_USAGE,
                       "%s is of nfsreplay curve: each folder in it, such as %s/1-asap, is a run",
                       run, run);
    snprintf(path, sizeof(path), "%.4000s/report.json", run);
    if (access(path, F_OK) < 0)
        return err_set(err, ERR_INPUT, "%s: no run was kept there: it has no report.json", run);
    return report_load(report, path, err);
}

/* How the report is shown: as text if nothing is set. */
struct how {
    bool json;
    const char *html; /* the page */
};

static int show(char **runs, int count, const struct how *how, struct err *err)
{
    struct report **reports = calloc((size_t)count, sizeof(struct report *));
    int result = reports ? 0 : err_memory(err, "reports");

    for (int i = 0; i < count && result == 0; i++) {
        reports[i] = report_new(err);
        result = reports[i] ? load(reports[i], runs[i], err) : -ERR_SYSTEM;
    }
    if (result == 0 && how->html)
        result =
            report_html((const struct report *const *)reports, (uint32_t)count, how->html, err);
    else if (result == 0 && how->json)
        result = report_json(reports[0], stdout, err);
    else if (result == 0 && count == 1)
        report_text(reports[0], stdout);
    else if (result == 0)
        report_runs((const struct report *const *)reports, (uint32_t)count, stdout);
    for (int i = 0; reports && i < count; i++)
        report_free(reports[i]);
    free(reports);
    return result;
}

int cmd_report(int argc, char **argv, struct err *err)
{
    struct how how = { 0 };
    const struct arg own[] = {
        { 'j', "json", NULL, "JSON instead of text; of one run", set_flag, &how.json },
        { 0, "html", "FILE", "write an HTML page instead, which works offline", set_text,
          &how.html },
        { 0 },
    };
    const struct args args = {
        .usage = "nfsreplay report [OPTION...] RUN...",
        .about = "Shows the report of a run.  RUN is the folder in which it was kept.  Of two or\n"
                 "more runs it shows the median and the spread of each figure, and which\n"
                 "differences between two targets are larger than the spread.\n",
        .own = own,
        .takes = "at least one run",
        .program = "nfsreplay ",
    };
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (argc == first)
        return err_set(err, ERR_USAGE, "nfsreplay report takes at least one run");
    if (argc - first > RUNS_MAX)
        return err_set(err, ERR_USAGE, "nfsreplay report: more than %d runs", RUNS_MAX);
    if (how.json && how.html)
        return err_set(err, ERR_USAGE, "nfsreplay report takes --json or --html, not both");
    if (how.json && argc - first > 1)
        return err_set(err, ERR_USAGE, "nfsreplay report --json takes one run");
    return show(argv + first, argc - first, &how, err);
}
