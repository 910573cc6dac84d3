/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/object_print.h
 *
 * One object of a trace database with all the names that it had, for "nfsdigest ops --object".
 */
#ifndef NFSDIGEST_CLI_OBJECT_PRINT_H
#define NFSDIGEST_CLI_OBJECT_PRINT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Prints to standard output: lines of text, or one line of JSON.  Returns -ERR_USAGE if the object
 * does not exist. */
int object_print(sqlite3 *db, int64_t object, bool json, struct err *err);

#endif
