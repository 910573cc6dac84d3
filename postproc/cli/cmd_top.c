/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_top.c
 *
 * "nfsdigest top": the options.  top_run.c reads and shows; the contract of subcommands is in
 * cli.h.
 */
#include "cli/cli.h"
#include "base/values.h"
#include "cli/top_run.h"
#include "wire/field.h"

#include <strings.h>
#include <string.h>

static const char about[] =
    "Shows what clients do now: operations, bytes, latencies, failures and calls sent\n"
    "again, by client, path, procedure, user or export.\n"
    "\n"
    "It reads packets from a network interface (-i), or a capture, a record stream\n"
    "(.nfsr), or \"-\" for standard input.  On a terminal, keys choose the table and the\n"
    "order.  Elsewhere, and with --batch, it prints a table for each interval.  A file\n"
    "is read to its end and shown as a whole; with --follow, more is waited for.\n"
    "\n"
    "With --slower, it prints operations instead of tables, as they are answered:\n"
    "those that took as long as TIME or longer, those that failed, and those without\n"
    "a reply.\n"
    "\n"
    "Who is not allowed to capture can read what another program captures:\n"
    "  sudo tcpdump -i eth0 -U -w - port 2049 | nfsdigest top -\n";

static int find(const char *text, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcasecmp(text, names[i]) == 0)
            return i;
    return -1;
}

static int read_host(const char *option, const char *text, struct address *to, struct err *err)
{
    return !text || address_read(text, strlen(text), to)
               ? 0
               : err_set(err, ERR_USAGE, "%s: \"%.64s\" is not an IPv4 or IPv6 address", option,
                         text);
}

static int check_procedure(const char *name, struct err *err)
{
    uint64_t number;

    if (!name || parse_number(name, &number))
        return 0;
    for (const struct program *const *p = wire_programs; *p; p++)
        for (uint32_t i = 0; i < (*p)->procedure_count; i++)
            if ((*p)->procedures[i].name && strcasecmp((*p)->procedures[i].name, name) == 0)
                return 0;
    return err_set(err, ERR_USAGE, "no procedure is called \"%.64s\"", name);
}

struct words {
    const char *by, *sort, *client, *server;
};

static int read_words(const struct words *w, struct top_options *o, struct err *err)
{
    int by = !w->by ? TOP_CLIENT : find(w->by, top_by_names, TOP_TABLES);
    int sort = !w->sort ? TOP_OPERATIONS : find(w->sort, top_column_names, TOP_COLUMNS);

    if (by < 0)
        return err_set(err, ERR_USAGE,
                       "--by takes client, path, procedure, user or export, not \"%.64s\"", w->by);
    if (sort < 0)
        return err_set(
            err, ERR_USAGE,
            "--sort takes operations, read, written, p50, p99, errors, resent or waiting, "
            "not \"%.64s\"",
            w->sort);
    o->by = (enum top_by)by;
    o->sort = (enum top_column)sort;
    if (read_host("--client", w->client, &o->filter.client, err) < 0 ||
        read_host("--server", w->server, &o->filter.server, err) < 0)
        return -err->code;
    return 0;
}

static int check(const struct top_options *o, int operands, struct err *err)
{
    if (check_procedure(o->filter.procedure, err) < 0)
        return -err->code;
    if (o->interface ? operands != 0 : operands != 1)
        return err_set(err, ERR_USAGE, "top takes one capture or record stream, or -i INTERFACE");
    if (o->packet_filter && !o->interface)
        return err_set(err, ERR_USAGE, "--packets is for -i");
    if (o->follow && o->interface)
        return err_set(err, ERR_USAGE, "--follow is for files");
    if (o->every <= 0 || o->slower < -1)
        return err_set(err, ERR_USAGE, "intervals and latencies are above 0");
    return 0;
}

/* Long: it is the table of options. */
int cmd_top(int argc, char **argv, struct err *err)
{
    struct top_options o = {
        .every = INT64_C(2000000000), .slower = -1, .limit = UINT64_MAX, .filter.uid = UINT64_MAX
    };
    struct words words = { .by = NULL };
    struct arg more[ENGINE_ARG_COUNT];
    const struct arg own[] = {
        { 'i', "interface", "NAME", "read packets from this network interface (any: from all)",
          set_text, &o.interface },
        { 0, "packets", "FILTER",
          "with -i: only packets that match, as in tcpdump:\n"
          "\"port 2049\"; others cost less then",
          set_text, &o.packet_filter },
        { 0, "follow", NULL, "the file is still being written: wait for more", set_flag,
          &o.follow },
        { 'b', "by", "WHAT", "table by client (the default), path, procedure, user or\nexport",
          set_text, &words.by },
        { 0, "sort", "COLUMN",
          "operations (the default), read, written, p50, p99,\n"
          "errors, resent or waiting",
          set_text, &words.sort },
        { 'n', "limit", "N", "show at most N rows", set_count, &o.limit },
        { 0, "every", "TIME", "length of an interval (2s)", set_duration, &o.every },
        { 0, "intervals", "N", "end after N intervals", set_count, &o.intervals },
        { 0, "batch", NULL, "print tables, also to a terminal", set_flag, &o.batch },
        { 0, "slower", "TIME",
          "print operations that took TIME or longer, or failed,\n"
          "instead of tables; 0: all",
          set_duration, &o.slower },
        { 0, "client", "ADDRESS", "only operations of this client", set_text, &words.client },
        { 0, "server", "ADDRESS", "only operations of this server", set_text, &words.server },
        { 0, "path", "PREFIX", "only operations whose path begins with PREFIX", set_text,
          &o.filter.path },
        { 0, "uid", "N", "only operations of callers with this uid", set_count, &o.filter.uid },
        { 'P', "procedure", "NAME|N", "only operations of this procedure: READ, 6, ...", set_text,
          &o.filter.procedure },
        { 0, "metrics", "[ADDRESS:]PORT", "metrics for Prometheus, over HTTP", set_text,
          &o.metrics },
        { 'j', "json", NULL, "print a JSON object for each interval, or operation", set_flag,
          &o.json },
        { 0 },
    };
    const struct args args = { "nfsdigest top [OPTION...] -i INTERFACE | FILE | -", about, own,
                               more, "How packets are read" };
    int first, result;

    engine_arg_table(&o.engine, true, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (read_words(&words, &o, err) < 0 || check(&o, argc - first, err) < 0)
        return -err->code;
    o.file = o.interface ? NULL : argv[first];
    return top_run(&o, err);
}
