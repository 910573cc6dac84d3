/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/database.h
 *
 * The database of a package.  It is made from the anonymized capture alone, and nothing in it
 * depends on where it was made.  It can be compared with one that is made again from the same
 * capture.
 */
#ifndef NFSDIGEST_PACKAGE_DATABASE_H
#define NFSDIGEST_PACKAGE_DATABASE_H

#include "capture/progress.h"
#include "plan/plan.h"
#include "store/store.h"

/* The capture at |path| into |store|, which is new, with its tree and the tables of that.  The
 * database calls the capture MEMBER_CAPTURE.  1: the capture was cut, |err| says where, and the
 * database is whole.  |host|: as tree_store has it.  |progress| may be NULL. */
int database_fill(struct store *store, const char *path, const struct plan_host *host,
                  const struct progress *progress, struct err *err);

/* Writes it as a file whose bytes only its contents decide. */
int database_write(struct store *store, const char *path, struct err *err);

/* What differs between a database and one made of the same capture by this program.  Calls |show|
 * for each.  Rows are compared one by one when the same version made
 * both, else only counted.  -ERR_INPUT: it cannot be read. */
int database_compare(sqlite3 *db, sqlite3 *again, void (*show)(void *ctx, const char *text),
                     void *ctx, struct err *err);

/* Whether tables, views and indexes are defined as in |again|: no others are safe to ask. */
int database_same_schema(sqlite3 *db, sqlite3 *again, bool *same, struct err *err);

#endif
