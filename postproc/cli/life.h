/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/life.h
 *
 * The life of an object: the operations that made it, wrote to it, set its attributes, gave it
 * names and took them, each with its caller; and how it became stale.  For "nfsdigest who".
 *
 * WRITEs of one caller that follow each other are one event.
 *
 * Memory: 16 bytes for each change of the object's names.
 */
#ifndef NFSDIGEST_CLI_LIFE_H
#define NFSDIGEST_CLI_LIFE_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Prints to standard output: lines of text, with |file| in the command that shows more, or, if
 * |file| is NULL, JSON objects. */
int life_print(sqlite3 *db, int64_t object, const char *file, struct err *err);

#endif
