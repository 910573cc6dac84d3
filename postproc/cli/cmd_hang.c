/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"
#include "cli/hang.h"
#include "cli/trace.h"

static const char about[] =
    "Shows which calls wait at a point in time, connection by connection, those with the\n"
    "oldest calls first, and what happened to each connection since: segments and calls\n"
    "sent again, attempts to connect, resets, closed windows.  The last line of each says\n"
    "whose fault it seems to be:\n"
    "  server          the server has the call, and does not answer\n"
    "  server-window   the server does not read its calls\n"
    "  refused         nothing listens on the server's port\n"
    "  network         what the client sends does not arrive\n"
    "  network-back    what the server sends does not arrive\n"
    "  connect, reuse  attempts to connect are not answered: from new ports, from the same\n"
    "  client          the client does not read its replies\n"
    "  ended           the connection ended, and the client began no other one\n"
    "  unknown         the trace does not tell, as over UDP\n"
    "\n"
    "Without --at, this is the end of the trace; if nothing waits there, it is shortly\n"
    "before the reply that was waited for longest.\n"
    "\n"
    "TRACE was captured near the client.  With a second one from the server's side, the\n"
    "calls of both are matched by their contents, whatever the clocks say: calls that did\n"
    "not arrive are the network's, those that arrived and were not answered the server's.\n"
    "\n"
    "The exit code is 1 if calls wait then.\n";

static int run(sqlite3 *db, const char *name, const char *far, struct hang_request *request,
               bool json, struct err *err)
{
    struct hang hang = { 0 };
    int result = hang_find(db, far, request, &hang, err);

    if (result == 0)
        result =
            json ? hang_json(db, name, request, &hang, err) : hang_text(db, request, &hang, err);
    if (result == 0)
        result = finish_output(err);
    if (result == 0 && hang.calls)
        result = EXIT_FINDINGS;
    hang_free(&hang);
    return result;
}

int cmd_hang(int argc, char **argv, struct err *err)
{
    struct hang_request request = { .age = INT64_C(1000000000), .top = 10 };
    bool json = false;
    const struct arg own[] = {
        { 0, "at", "TIME",
          "look at this point in time (the end of the trace, or\n"
          "before the reply that was waited for longest)",
          set_text, &request.at_text },
        { 0, "age", "TIME", "only calls that have waited for this long (1s)", set_duration,
          &request.age },
        { 'n', "top", "N", "show N connections (10)", set_count, &request.top },
        { 'j', "json", NULL, "print JSON; times in ns", set_flag, &json },
        { 0 },
    };
    struct arg filters[TRAFFIC_ARG_COUNT];
    const struct args args = { "nfsdigest hang [OPTION...] TRACE [TRACE-OF-THE-SERVER'S-SIDE]",
                               about,
                               own,
                               filters,
                               "Filters",
                               0,
                               "one or two files" };
    struct trace_files files = { .count = 0 };
    const char *near, *far = NULL;
    struct store *store;
    int first, result;

    traffic_arg_table(&request.traffic, filters);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (argc - first < 1 || argc - first > 2)
        return err_set(err, ERR_USAGE, "hang takes one or two files");
    if (request.age < 0)
        return err_set(err, ERR_USAGE, "--age takes a time of 0 or more");
    result = trace_files_find(&files, argv[first], &near, err);
    if (result == 0 && argc - first == 2 &&
        (result = trace_files_find(&files, argv[first + 1], &far, err)) == 0) {
        store = store_open(far, STORE_READ, err); /* it may be of another version */
        result = store ? 0 : -err->code;
        store_close(store);
    }
    if (result == 0) {
        store = store_open(near, STORE_READ, err);
        result = store ? run(store_db(store), argv[first], far, &request, json, err) : -err->code;
        store_close(store);
    }
    return trace_files_remove(&files, result, err);
}
