/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/tables.h
 *
 * Tables made by a schema that is in the program as text, section by section (schemas/NAME.sql),
 * and filled.  Every function returns 0 or a negative code with |err| filled.
 */
#ifndef NFSDIGEST_STORE_TABLES_H
#define NFSDIGEST_STORE_TABLES_H

#include "store/sql.h"

/* Runs the part of |schema| between the line "--- |section|" and the next such line.  |name| is the
 * name of the schema, for messages. */
int tables_section(sqlite3 *db, const char *schema, const char *name, const char *section,
                   struct err *err);

/* Writes the values from 1 to |max| - 1 and their names into table code. */
int tables_codes(sqlite3 *db, const char *domain, int max, const char *(*name)(int),
                 struct err *err);

/* Runs |fill| in a transaction: all of its changes are kept, or none. */
int tables_transaction(sqlite3 *db, int (*fill)(void *ctx, struct err *err), void *ctx,
                       struct err *err);

#endif
