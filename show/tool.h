/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show/tool.h
 *
 * Programs that are tables of commands ("nfsreplay play"), and commands that are tables of
 * subcommands ("nfsdigest key new").
 */
#ifndef NFSDIGEST_SHOW_TOOL_H
#define NFSDIGEST_SHOW_TOOL_H

#include "base/err.h"

#include <stdio.h>

struct command {
    const char *name; /* of a subcommand, with the command: "key new" */
    int (*run)(int argc, char **argv, struct err *err); /* NULL: only in the help */
    const char *help;                                   /* one line */
};

struct tool {
    const char *name, *version;
    const char *about;              /* the help before the commands, from "usage:" on */
    const char *codes;              /* the help's end: what exit codes mean */
    const struct command *commands; /* ends with a row without a name */
    void (*prepare)(void);          /* called before a command runs; NULL: nothing to prepare */
};

/* Prints "  name  help" for each row. */
void commands_print(const struct command *table, FILE *out);

/* Prints the commands and their options as the table of args.h.  Returns 0 or a negative code. */
int commands_table(const struct command *table, struct err *err);

/* Runs the command of argv[1], which gets its name as argv[0], or prints the version or the help:
 * --version, --help, help, "help COMMAND", the table of all options (args.h).  Returns an exit
 * code, or a negative code. */
int tool_run(const struct tool *tool, int argc, char **argv, struct err *err);

#endif
