/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_ops.c
 *
 * "nfsdigest ops": its options, and one query, to which filter.h adds its conditions.  ops_row.h
 * prints the rows, object_print.h what is said of an object.  The contract of subcommands is in
 * cli.h.
 */
#include "cli/cli.h"
#include "cli/filter_args.h"
#include "cli/object_print.h"
#include "cli/ops_row.h"
#include "cli/trace.h"
#include "record/shift.h"
#include "store/sql.h"

#include <string.h>

static const char about[] =
    "Lists operations, one on each line, in the order of calls in each source:\n"
    "\n"
    "  time client > server program procedure path [second path] [@offset+count]\n"
    "  status latency [uid] [bytes of contents] [call frame-reply frame]\n"
    "\n"
    "and what was unusual: no reply, partial messages, how often the call and\n"
    "the reply were resent, copies (the same packet was captured twice), and how\n"
    "long the client waited, if it sent the call again after the first reply.\n"
    "\n"
    "If several filters are given, an operation must match all of them.  Names may\n"
    "be written in lower case.  --object also shows the object and all its names,\n"
    "before the operations.  Times are UTC.  In names, bytes that are not UTF-8\n"
    "or not printable are shown as \\xNN, and a backslash as \\\\.  A path that\n"
    "begins with \"[#N]\" is known only below object N.\n"
    "\n"
    "FILE is a record stream or a capture, or - for standard input.\n";

enum ops_form { AS_TEXT, AS_JSON, AS_COLUMNS };

struct ops_request {
    struct filter filter;
    enum ops_form to;
    bool fields;
    const char *columns, *sort;
    struct ops_chosen chosen;
};

/* Checks which options go together. */
static int complete(struct ops_request *r, bool json, bool csv, struct err *err)
{
    if (json && (csv || r->columns))
        return err_set(err, ERR_USAGE, "--json does not go with --csv and --columns");
    if ((csv || r->columns) && r->fields)
        return err_set(err, ERR_USAGE, "--fields does not go with --csv and --columns");
    if (json)
        r->to = AS_JSON;
    if (csv || r->columns) {
        r->to = AS_COLUMNS;
        r->chosen.csv = csv;
        if (ops_choose(&r->chosen, r->columns, err) < 0)
            return -err->code;
    }
    return filter_sort(&r->filter, r->sort, err);
}

static int set_shift(void *to, const char *value, struct err *err)
{
    return record_shift_parse(value, to, err);
}

static void print_row(const struct ops_request *r, sqlite3_stmt *row)
{
    if (r->to == AS_JSON)
        ops_json(row, r->fields);
    else if (r->to == AS_TEXT)
        ops_text(row, r->fields);
    else
        ops_values(&r->chosen, row);
}

static int list(struct store *store, const struct ops_request *r, struct err *err)
{
    sqlite3 *reader = store_reader(store_db(store));
    sqlite3 *db = reader ? reader : store_db(store);
    sqlite3_stmt *stmt = NULL;
    int result = filter_prepare(db, &r->filter, ops_select, &stmt, err);
    bool any = false;

    if (result == 0 && r->chosen.csv)
        ops_heading(&r->chosen);
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        print_row(r, stmt);
        any = true;
        if (ferror(stdout))
            result = finish_output(err);
    }
    result = stmt ? sql_end(stmt, result, err) : result;
    if (result == 0 && !any && r->to == AS_TEXT && r->filter.limit && !filter_is_empty(&r->filter))
        result = filter_say_none(db, &r->filter, err);
    sqlite3_close(reader);
    return result;
}

/* Long: it is the table of options, which point into what is local. */
int cmd_ops(int argc, char **argv, struct err *err)
{
    struct ops_request r = { .to = AS_TEXT };
    bool json = false, csv = false;
    int64_t shift = 0;
    const struct arg own[] = {
        { 'n', "limit", "N", "show at most N operations", set_count, &r.filter.limit },
        { 'j', "json", NULL,
          "print a JSON object on each line; times and\n"
          "latencies in ns",
          set_flag, &json },
        { 0, "csv", NULL, "print CSV; times in columns but \"time\" in ns", set_flag, &csv },
        { 0, "columns", "NAMES",
          "print these columns, between tabs or as CSV:\n"
          "time,path,latency; they have their names in JSON",
          set_text, &r.columns },
        { 0, "sort", "BY",
          "time: the earliest first; latency: the longest;\n"
          "waited: the longest, with calls whose first reply\n"
          "did not reach the client; bytes: the most data",
          set_text, &r.sort },
        { 0, "frame-shift", "N",
          "add N to the frame numbers of a record stream\nthat is a piece (nfsdigest join --json)",
          set_shift, &shift },
        { 0, "fields", NULL, "also show the decoded arguments and results", set_flag, &r.fields },
        { 0 },
    };
    struct arg filters[FILTER_ARG_COUNT];
    const struct args args = {
        "nfsdigest ops [OPTION...] DATABASE|FILE", about, own, filters, "Filters", 1, "one file"
    };
    struct trace trace;
    int first, result;

    filter_init(&r.filter);
    filter_arg_table(&r.filter, filters);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (complete(&r, json, csv, err) < 0)
        return -err->code;
    if (trace_open_shifted(&trace, argv[first], shift, err) < 0)
        return -err->code;
    if (r.filter.object != UINT64_MAX && r.to != AS_COLUMNS)
        result = object_print(store_db(trace.store), (int64_t)r.filter.object, json, err);
    if (result >= 0)
        result = list(trace.store, &r, err);
    return trace_close(&trace, result, err);
}
