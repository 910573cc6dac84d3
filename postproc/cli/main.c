/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nfsdigest: the post-processor's program.  Each subcommand stands in its own cmd_NAME.c. */
#include "cli/command.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
    { "ingest", cmd_ingest, "read captures or records into a trace database" },
    { "record", cmd_record, "turn captures into a stream of records (.nfsr)" },
    { "info", cmd_info, "summarize a database or a record stream" },
    { "ops", cmd_ops, "list operations" },
    { "check", cmd_check, "verify a record stream or a database" },
};

static void help(FILE *to)
{
    fputs("usage: nfsdigest COMMAND [OPTIONS] ...\n\n"
          "Turns captures of NFSv3 traffic into queryable traces.\n\ncommands:\n",
          to);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  --help, -h     this text; \"nfsdigest COMMAND --help\" says more\n"
          "  --version, -V  the version\n\n"
          "exit codes: 0 done, 1 differences or findings, 2 wrong usage, 3 bad input, 4 system "
          "error\n",
          to);
}

int command_fail(const struct err *err)
{
    fflush(stdout);
    fprintf(stderr, "nfsdigest: %s\n", err->text);
    return err->code ? err->code : EXIT_SYSTEM;
}

int command_usage(const char *command, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "nfsdigest %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry \"nfsdigest %s --help\".\n", command);
    return EXIT_USAGE;
}

/* Output that could not be written must not look like success. */
static int finish(int code)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && code <= EXIT_FINDINGS) {
        fprintf(stderr, "nfsdigest: standard output: %m\n");
        return EXIT_SYSTEM;
    }
    return code;
}

static int run(const char *name, int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(name, commands[i].name))
            return commands[i].run(argc, argv);
    fprintf(stderr, "nfsdigest: there is no command \"%s\"; \"nfsdigest --help\" lists them\n",
            name);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static char help_option[] = "--help";
    char *help_argv[] = { NULL, help_option, NULL };

    signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error like others */
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts("nfsdigest " NFSDIGEST_VERSION);
        return finish(EXIT_DONE);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
        (!strcmp(argv[1], "help") && argc == 2)) {
        help(stdout);
        return finish(EXIT_DONE);
    }
    if (!strcmp(argv[1], "help")) {
        help_argv[0] = argv[2];
        return finish(run(argv[2], 2, help_argv));
    }
    return finish(run(argv[1], argc - 1, argv + 1));
}
