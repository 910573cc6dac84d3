/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/main.c
 *
 * nfstee: the table of its commands.
 */
#include "base/escape.h"
#include "net/control.h"
#include "tee/commands.h"

#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv, struct err *err);
    const char *what;
};

static int cmd_ctl(int argc, char **argv, struct err *err)
{
    return control_ctl(argc - 1, argv + 1, stdout, err);
}

static const struct command commands[] = {
    { "relay", cmd_relay, "relay connections of NFS clients to a server" },
    { "tap", cmd_tap, "record what passes a relay that runs with --attach" },
    { "ctl", cmd_ctl, "send a command to a relay that runs with --control" },
    { 0 },
};

static void print_help(FILE *out)
{
    fputs("usage: nfstee COMMAND [OPTION...]\n\n"
          "Stands between NFSv3 clients and their server, and lets other processes see\n"
          "what passes.\n\n"
          "Commands:\n",
          out);
    for (const struct command *row = commands; row->name; row++)
        fprintf(out, "  %-12s%s\n", row->name, row->what);
    fputs("\n\"nfstee COMMAND --help\" lists the options of a command, and \"nfstee --version\"\n"
          "prints the version.  Exit codes: 0 success; 2 wrong usage; 3 no ring of a relay;\n"
          "4 a system error: memory, an address that cannot be used.\n",
          out);
}

static int run(int argc, char **argv, struct err *err)
{
    if (argc < 2) {
        print_help(stderr);
        return ERR_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("nfstee " NFSDIGEST_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    for (const struct command *row = commands; row->name; row++)
        if (strcmp(argv[1], row->name) == 0)
            return row->run(argc - 1, argv + 1, err);
    return err_set(err, ERR_USAGE, "no such command: \"%s\": see \"nfstee --help\"", argv[1]);
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result = run(argc, argv, &err);

    if (fflush(stdout) != 0 && result >= 0)
        result = err_set(&err, ERR_SYSTEM, "standard output: cannot be written");
    if (result < 0) {
        fputs("nfstee: ", stderr);
        escape_print(stderr, err.text);
        putc('\n', stderr);
    }
    return result < 0 ? -result : result;
}
