/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/tables.h
 *
 * Tables made by a schema that is in the program as text, section by section (schemas/NAME.sql),
 * and filled.  Every function returns 0 or a negative code with |err| filled.
 */
#ifndef NFSDIGEST_STORE_TABLES_H
#define NFSDIGEST_STORE_TABLES_H

#include "store/sql.h"

/* Runs what stands in |schema| between the line "--- |section|" and the next such line; |name| is
 * the schema's, for messages. */
int tables_section(sqlite3 *db, const char *schema, const char *name, const char *section,
                   struct err *err);

/* Values from 1 below |max| with their names into table code. */
int tables_codes(sqlite3 *db, const char *domain, int max, const char *(*name)(int),
                 struct err *err);

/* What |fill| does is there as a whole or not at all. */
int tables_transaction(sqlite3 *db, int (*fill)(void *ctx, struct err *err), void *ctx,
                       struct err *err);

#endif
