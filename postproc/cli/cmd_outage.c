/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/outage.h"
#include "cli/trace.h"

static const char about[] =
    "Shows when a server did not answer though somebody waited, and what became of its\n"
    "clients: the last reply before, the first reset or new connection, the first reply\n"
    "after, what was sent again, and who did not come back.  It also shows statuses\n"
    "before and after, answers that contradict earlier ones, and the WRITEs that may be\n"
    "lost: acknowledged as UNSTABLE, then neither committed nor sent again.\n"
    "\n"
    "A service is one port of a server.  A restart, a takeover by another machine and a\n"
    "network that is cut look alike, except for who closes, resets and refuses\n"
    "connections.\n"
    "\n"
    "Columns of clients: \"last reply\", \"cut\" and \"first reply\" are times, counted\n"
    "from the last reply to anybody; \"cut\" is the first SYN, FIN, RST or refusal after\n"
    "the client's last reply.  Then come calls and TCP segments that were sent again,\n"
    "attempts to connect and those that were refused, calls that got no reply, and\n"
    "replies and errors after the outage.\n"
    "\n"
    "The exit code is 1 if there are outages.\n";

int cmd_outage(int argc, char **argv, struct err *err)
{
    struct outage_request request = { .silence = INT64_C(2000000000), .top = 10 };
    struct lint_rules rules;
    bool json = false;
    const struct arg own[] = {
        { 0, "silence", "TIME",
          "call it an outage if somebody waits this long\n"
          "without a reply to anybody (2s)",
          set_duration, &request.silence },
        { 'n', "top", "N",
          "list N contradictions, calls and lost WRITEs of each\n"
          "outage (10)",
          set_count, &request.top },
        { 'j', "json", NULL, "print JSON; times in ns", set_flag, &json },
        { 0 },
    };
    struct arg filters[TRAFFIC_ARG_COUNT];
    const struct args args = {
        "nfsdigest outage [OPTION...] DATABASE|FILE", about, own, filters, "Filters", 1, "one file"
    };
    struct outages outages = { 0 };
    struct trace trace;
    int first, result;

    traffic_arg_table(&request.traffic, filters);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (request.silence < 1)
        return err_set(err, ERR_USAGE, "--silence takes a time of at least 1ns");
    request.rules = &rules;
    if (lint_rules_load(&rules, err) < 0 || trace_open(&trace, argv[first], false, err) < 0) {
        lint_rules_free(&rules);
        return -err->code;
    }
    result = traffic_read(&request.traffic, store_db(trace.store), err);
    if (result == 0)
        result = outages_find(store_db(trace.store), &request, &outages, err);
    if (result == 0)
        result = json ? outages_json(store_db(trace.store), argv[first], &request, &outages, err)
                      : outages_text(store_db(trace.store), &request, &outages, err);
    if (result == 0)
        result = finish_output(err);
    result = trace_close(&trace, result, err);
    if (result == 0 && outages.count)
        result = EXIT_FINDINGS;
    outages_free(&outages);
    lint_rules_free(&rules);
    return result;
}
