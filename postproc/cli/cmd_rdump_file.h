/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_rdump_file.h
 *
 * "nfsdigest rdump" for an existing dump: to text, from text, check.
 */
#ifndef NFSDIGEST_CLI_CMD_RDUMP_FILE_H
#define NFSDIGEST_CLI_CMD_RDUMP_FILE_H

#include "base/err.h"

#include <stdbool.h>

struct rdump_file_args {
    const char *dump, *check, *undump; /* the file, "-": standard input; at most one of them */
    const char *output;                /* NULL: standard output */
    bool json;
};

/* Returns 1 if one of them was given, 0 if none was, and -ERR_USAGE if the options do not go
 * together. */
int rdump_file_wanted(const struct rdump_file_args *args, struct err *err);

/* Runs the command.  Returns the exit code or a negative code. */
int rdump_file_run(const struct rdump_file_args *args, struct err *err);

#endif
