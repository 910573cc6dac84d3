/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/starve.h"
#include "cli/trace.h"

#include <string.h>

static const char about[] =
    "Shows how clients share a server: whose calls are outstanding, how latencies grow with\n"
    "the calls of others, which part of the server's time each client has, how much of the\n"
    "latency is time in a queue, and behind whose calls.\n"
    "\n"
    "All of it follows from the times of calls and replies.  The service time of a call is\n"
    "taken to be the latency of such calls when they are alone at the server; what is above\n"
    "it is called time in the queue, whatever the call waits for.\n"
    "\n"
    "Columns: share of the server's time; outstanding calls on average while there are any\n"
    "(mean) and at most; bytes of READs and WRITEs under way at most.\n"
    "\n"
    "The last lines say which clients wait mainly for another one, and whether the server\n"
    "answered nobody for 2 seconds or longer, as in an outage.\n"
    "\n"
    "The exit code is 1 if a client mostly queues behind one other client that has more\n"
    "than twice its part of the time.\n";

static int parse_by(const char *by, enum starve_by *to, struct err *err)
{
    static const char *const names[] = { "client", "connection", "export" };

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(by, names[i]) == 0) {
            *to = (enum starve_by)i;
            return 0;
        }
    return err_set(err, ERR_USAGE, "--by takes client, connection or export");
}

static int run(sqlite3 *db, const char *name, struct starve_request *request, bool json,
               struct err *err)
{
    struct starve starve = { .begin = 0 };
    int result = traffic_read(&request->traffic, db, err);

    if (result == 0)
        result = starve_read(db, request, &starve, err);
    if (result == 0)
        result =
            json ? starve_json(name, request, &starve, err) : starve_text(request, &starve, err);
    if (result == 0)
        result = finish_output(err);
    if (result == 0 && starve.finding_count)
        result = EXIT_FINDINGS;
    starve_free(&starve);
    return result;
}

int cmd_starve(int argc, char **argv, struct err *err)
{
    struct starve_request request = { .every = INT64_MIN, .top = 20 };
    const char *by = "client";
    bool json = false;
    const struct arg own[] = {
        { 'b', "by", "WHAT", "tell apart by client, connection or export (client)", set_text, &by },
        { 0, "every", "TIME", "also show each interval of this length", set_duration,
          &request.every },
        { 'n', "top", "N", "show N lines of each service (20)", set_count, &request.top },
        { 'j', "json", NULL, "print JSON; times in ns", set_flag, &json },
        { 0 },
    };
    struct arg filters[TRAFFIC_ARG_COUNT];
    const struct args args = {
        "nfsdigest starve [OPTION...] DATABASE|FILE", about, own, filters, "Filters", 1, "one file"
    };
    struct trace trace;
    int first, result;

    traffic_arg_table(&request.traffic, filters);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (request.every != INT64_MIN && request.every < 1)
        return err_set(err, ERR_USAGE, "--every takes a time of at least 1ns");
    if (parse_by(by, &request.by, err) < 0 || trace_open(&trace, argv[first], false, err) < 0)
        return -err->code;
    result = run(store_db(trace.store), argv[first], &request, json, err);
    return trace_close(&trace, result, err);
}
