/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_info.c
 *
 * "nfsdigest info": its options.  operation_groups.h counts, info_print.h prints.  The contract of
 * subcommands is in cli.h.
 */
#include "cli/cli.h"
#include "cli/filter_args.h"
#include "cli/info_print.h"
#include "cli/trace.h"
#include "show/args.h"
#include "store/operation_groups.h"

#include <string.h>

static const char about[] =
    "Summarizes a trace database, a record stream or a capture.  Latencies are\n"
    "those of answered operations, from the frame that completed the call to the\n"
    "frame that completed the reply.  Percentiles are exact, by nearest rank.\n"
    "\"resent\" counts the calls that were sent again, each time.\n"
    "--by phase shows what happened in phases that clients marked with \"nfsdigest\n"
    "phase\": \"lasted\" is their time, over all marks.  Marks are in no phase.\n"
    "--by status shows the statuses other than OK, by procedure.  A lock that is BLOCKED\n"
    "is not an error: the server grants it later.\n"
    "--by export shows MOUNT paths, as far as the trace has them, else the file\n"
    "systems (fsid) of servers.\n"
    "\n"
    "With filters, only operations that match all of them are counted.  --every shows\n"
    "them by the time of their calls: \"outstanding\" are calls at the end of the interval that "
    "are answered later.\n";

/* A second table would replace the first one without a word. */
static int set_table(void *to, const char *value, struct err *err)
{
    if (*(const char **)to)
        return err_set(err, ERR_USAGE,
                       "one table at a time: for another kind, filter by one, as --status and"
                       " --client do");
    return set_text(to, value, err);
}

struct info_request {
    struct filter filter;
    struct groups_request groups;
    const char *by, *sort;
    int64_t every; /* ns; INT64_MIN: no intervals */
    bool json, csv;
};

/* Sets which tables are read. */
static int parse_by(const char *by, unsigned *tables, struct err *err)
{
    *tables = GROUPS_USUAL;
    for (int i = 0; by && i < BY_MAX; i++)
        if (strcmp(by, group_names[i]) == 0) {
            *tables = 1u << i;
            return 0;
        }
    return by ? err_set(err, ERR_USAGE,
                        "--by takes procedure, client, server, user, path, phase, export or status")
              : 0;
}

static int parse_sort(const char *sort, enum group_sort *to, struct err *err)
{
    *to = SORT_OPERATIONS;
    for (int i = 0; sort && i < SORT_MAX; i++)
        if (strcmp(sort, group_sort_names[i]) == 0) {
            *to = (enum group_sort)i;
            return 0;
        }
    return sort ? err_set(err, ERR_USAGE,
                          "--sort takes operations, errors, resent, read, written,"
                          " p50, p90, p99 or max")
                : 0;
}

/* Counts and prints. */
static int tell(struct store *store, const char *name, const struct info_request *request,
                struct err *err)
{
    struct info_view view = { .db = store_db(store),
                              .name = name,
                              .filter = request->groups.filter,
                              .only_tables = request->by != NULL,
                              .tables = request->groups.tables };
    int result = groups_read(view.db, &request->groups, &view.groups, err);

    if (result == 0 && request->csv)
        info_csv(&view);
    else if (result == 0)
        result = request->json ? info_json(&view, err) : info_text(&view, err);
    groups_free(&view.groups);
    return result;
}

static int tell_intervals(struct store *store, const char *name, const struct info_request *request,
                          struct err *err)
{
    struct intervals intervals;
    int result = intervals_read(store_db(store), &request->filter, request->every, &intervals, err);

    if (result < 0)
        return result;
    if (request->json)
        result = info_intervals_json(name, &intervals, err);
    else if (request->csv)
        info_intervals_csv(&intervals);
    else
        info_intervals_text(&intervals);
    if (!intervals.count && request->groups.filter && !request->json && !request->csv)
        result = filter_say_none(store_db(store), request->groups.filter, err);
    intervals_free(&intervals);
    return result;
}

static int complete(struct info_request *request, struct err *err)
{
    if (parse_by(request->by, &request->groups.tables, err) < 0 ||
        parse_sort(request->sort, &request->groups.sort, err) < 0)
        return -err->code;
    if (request->every != INT64_MIN && request->every < 1)
        return err_set(err, ERR_USAGE, "--every takes a time of at least 1ns");
    if (request->every != INT64_MIN && request->by)
        return err_set(err, ERR_USAGE, "--every and --by do not go together");
    if (request->every != INT64_MIN && request->sort)
        return err_set(err, ERR_USAGE, "--every and --sort do not go together");
    if (request->csv && request->json)
        return err_set(err, ERR_USAGE, "--csv and --json do not go together");
    if (request->csv && request->every == INT64_MIN && !request->by)
        return err_set(err, ERR_USAGE, "--csv prints one table: choose it with --by or --every");
    if (request->groups.top > INT32_MAX)
        request->groups.top = INT32_MAX;
    request->groups.filter = filter_is_empty(&request->filter) ? NULL : &request->filter;
    return 0;
}

int cmd_info(int argc, char **argv, struct err *err)
{
    struct info_request request = { .groups.top = 20, .every = INT64_MIN };
    const struct arg own[] = {
        { 'b', "by", "WHAT",
          "show only the table by procedure, client, server,\n"
          "user, path, phase, export or status",
          set_table, &request.by },
        { 0, "sort", "COLUMN",
          "sort tables by operations (the default), errors,\n"
          "resent, read, written, p50, p90, p99 or max",
          set_text, &request.sort },
        { 'n', "top", "N", "show N lines in each table (20)", set_count, &request.groups.top },
        { 0, "every", "TIME", "show a line for each interval of this length (1s)", set_duration,
          &request.every },
        { 'j', "json", NULL, "print JSON; times and latencies in ns", set_flag, &request.json },
        { 0, "csv", NULL, "print the table of --by or --every as CSV; latencies in ns", set_flag,
          &request.csv },
        { 0 },
    };
    struct arg filters[FILTER_ARG_COUNT];
    const struct args args = {
        "nfsdigest info [OPTION...] DATABASE|FILE", about, own, filters, "Filters", 1, "one file"
    };
    struct trace trace;
    int first, result;

    filter_init(&request.filter);
    filter_arg_table(&request.filter, filters);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (complete(&request, err) < 0)
        return -err->code;
    if (trace_open(&trace, argv[first], false, err) < 0)
        return -err->code;
    result = request.every != INT64_MIN ? tell_intervals(trace.store, argv[first], &request, err)
                                        : tell(trace.store, argv[first], &request, err);
    return trace_close(&trace, result, err);
}
