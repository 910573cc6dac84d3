/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/main.c
 *
 * nfsreplay: the table of its commands.
 */
#include "base/escape.h"
#include "replay/commands.h"

#include <stdio.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv, struct err *err);
    const char *what;
};

static const struct command commands[] = {
    { "populate", cmd_populate, "make the tree of a dump on a server" },
    { "play", cmd_play, "play its operations on that tree" },
    { "run", cmd_run, "populate, then play" },
    { "curve", cmd_curve, "measure latency against throughput" },
    { "report", cmd_report, "show what runs have shown" },
    { "clean", cmd_clean, "remove the tree" },
    { 0 },
};

static void print_help(FILE *out)
{
    fputs("usage: nfsreplay COMMAND [OPTION...] DUMP [SERVER=]TARGET...\n\n"
          "Plays traces of NFSv3 traffic on a server.  DUMP is made by \"nfsdigest rdump\";\n"
          "TARGET is an export, nfs://HOST[:PORT]/EXPORT.\n\n"
          "Commands:\n",
          out);
    for (const struct command *row = commands; row->name; row++)
        fprintf(out, "  %-12s%s\n", row->name, row->what);
    fputs("\n\"nfsreplay COMMAND --help\" lists the options of a command, and \"nfsreplay\n"
          "--version\" prints the version.  Exit codes: 0 success; 1 something differs, or\n"
          "was interrupted; 2 wrong usage; 3 a dump or server that cannot be used; 4 a\n"
          "system error: memory, no connection.\n",
          out);
}

static int run(int argc, char **argv, struct err *err)
{
    if (argc < 2) {
        print_help(stderr);
        return ERR_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("nfsreplay " NFSDIGEST_VERSION);
        return 0;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    for (const struct command *row = commands; row->name; row++)
        if (strcmp(argv[1], row->name) == 0) {
            wire_init();
            return row->run(argc - 1, argv + 1, err);
        }
    return err_set(err, ERR_USAGE, "no such command: \"%s\": see \"nfsreplay --help\"", argv[1]);
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    int result = run(argc, argv, &err);

    if (fflush(stdout) != 0 && result >= 0)
        result = err_set(&err, ERR_SYSTEM, "standard output: cannot be written");
    if (result < 0) {
        fputs("nfsreplay: ", stderr);
        escape_print(stderr, err.text);
        putc('\n', stderr);
    }
    return result < 0 ? -result : result;
}
