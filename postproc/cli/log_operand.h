/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/log_operand.h
 *
 * The log directory of a shadow (schemas/teelog.md) as the two traces that are in it.
 */
#ifndef NFSDIGEST_CLI_LOG_OPERAND_H
#define NFSDIGEST_CLI_LOG_OPERAND_H

#include "align/codes.h"
#include "base/err.h"

#include <stdbool.h>

struct log_operand {
    char path[SIDES][4096];
    char *operands[SIDES]; /* the same */
};

/* Returns 1 and fills |log| if |path| is a directory with a log, 0 if it is not a directory, or
 * -ERR_INPUT for another directory. */
int log_operand_find(struct log_operand *log, const char *path, struct err *err);

#endif
