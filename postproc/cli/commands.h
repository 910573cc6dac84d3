/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/commands.h
 *
 * Commands with subcommands ("nfsdigest key new").
 */
#ifndef NFSDIGEST_CLI_COMMANDS_H
#define NFSDIGEST_CLI_COMMANDS_H

#include "show/tool.h"

/* Runs a command that has subcommands.  argv[0] is its name and argv[1] the name of the subcommand,
 * which then gets "key new" as argv[0].  --help prints |about| and the table. */
int commands_run(const struct command *table, const char *about, int argc, char **argv,
                 struct err *err);

#endif
