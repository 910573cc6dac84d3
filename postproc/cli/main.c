/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cleanup.h"
#include "base/escape.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>

static const struct command commands[] = {
    { "ingest", cmd_ingest, "read captures or record streams into a trace database" },
    { "record", cmd_record, "make a record stream (.nfsr) of captures" },
    { "anonymize", cmd_anonymize, "make a capture that may leave the site" },
    { "info", cmd_info, "sum up a database, record stream or capture" },
    { "ops", cmd_ops, "list operations" },
    { "tree", cmd_tree, "show the tree that was there before the trace" },
    { "deps", cmd_deps, "show which operations depend on which" },
    { "concurrency", cmd_concurrency, "say how much a replay of the trace can do at a time" },
    { "rdump", cmd_rdump, "make replay dumps, look at them and check them" },
    { "compare", cmd_compare, "say where two servers answered the same requests otherwise" },
    { "report", cmd_report, "make reports of what compare found" },
    { "check", cmd_check, "verify a database or record stream" },
    { "key", cmd_key, "make and check the keys of pseudonyms" },
    { "policy", cmd_policy, "list, show and check what anonymizing can do" },
    { "unmask", cmd_unmask, "find originals of pseudonyms, with the key" },
    { "audit", cmd_audit, "say whether an anonymized capture tells what it must not" },
    { "package", cmd_package, "make a release of a trace for the public, or look at one" },
    { "help", NULL, "explain a command: nfsdigest help COMMAND" },
    { 0 },
};

void say(const char *text)
{
    cleanup_hold(); /* what fails because a signal ends all is no news */
    progress_clear();
    fputs("nfsdigest: ", stderr);
    escape_print(stderr, text);
    putc('\n', stderr);
    cleanup_release();
}

int finish_output(struct err *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return err_set(err, ERR_SYSTEM, "standard output: %s", strerror(errno));
    return 0;
}

static void print_help(FILE *out)
{
    fputs("usage: nfsdigest COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "Traces of NFSv3 traffic: from captures to a database of operations.\n\n"
          "Commands:\n",
          out);
    commands_print(commands, out);
    fputs("\n\"nfsdigest COMMAND --help\" lists a command's options, nfsdigest --version says the\n"
          "version.  Exit codes: 0 done, 1 check or audit found something, 2 wrong usage, 3 input\n"
          "that cannot be used or not all of it, 4 the system: memory, disk, a closed pipe.\n",
          out);
}

static int run(int argc, char **argv, struct err *err)
{
    char *help[] = { argv[0], argc > 2 ? argv[2] : NULL, (char *)"--help", NULL };

    if (argc < 2) {
        print_help(stderr);
        return ERR_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("nfsdigest " NFSDIGEST_VERSION "\n");
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        print_help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0) {
        argv = help;
        argc = 3;
    }
    for (const struct command *row = commands; row->name; row++)
        if (row->run && strcmp(argv[1], row->name) == 0)
            return row->run(argc - 1, argv + 1, err);
    return err_set(err, ERR_USAGE, "there is no command \"%s\": see \"nfsdigest --help\"", argv[1]);
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of write, like a full disk */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    result = signals_begin(&err);
    if (result == 0)
        result = run(argc, argv, &err);
    progress_clear();
    if (result >= 0 && finish_output(&err) < 0)
        result = -ERR_SYSTEM;
    if (result < 0)
        say(err.text);
    signals_end();
    return result < 0 ? -result : result;
}
