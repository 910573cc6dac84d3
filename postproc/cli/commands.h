/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/commands.h
 *
 * Tables of commands: those of the program, and those of commands with subcommands ("nfsdigest key
 * new").
 */
#ifndef NFSDIGEST_CLI_COMMANDS_H
#define NFSDIGEST_CLI_COMMANDS_H

#include "base/err.h"

#include <stdio.h>

struct command {
    const char *name; /* of a subcommand, with the command: "key new" */
    int (*run)(int argc, char **argv, struct err *err);
    const char *help; /* one line */
};

/* Prints "  name  help" for each row.  A table ends with a row without a name. */
void commands_print(const struct command *table, FILE *out);

/* Runs a command that has subcommands.  argv[0] is its name and argv[1] the name of the subcommand,
 * which then gets "key new" as argv[0].  --help prints |about| and the table. */
int commands_run(const struct command *table, const char *about, int argc, char **argv,
                 struct err *err);

#endif
