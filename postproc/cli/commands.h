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
    const char *name; /* below another command with its name in front: "key new" */
    int (*run)(int argc, char **argv, struct err *err);
    const char *help; /* one line */
};

/* "  name  help" for each row; a table ends with a row without a name. */
void commands_print(const struct command *table, FILE *out);

/* For a command that has its own: argv[0] is its name, argv[1] that of one below it, which then
 * gets "key new" as argv[0].  --help prints |about| and the table. */
int commands_run(const struct command *table, const char *about, int argc, char **argv,
                 struct err *err);

#endif
