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

/* Reads the capture at |path| into the new |store|, and adds the tree and its tables.  The database
 * calls the capture MEMBER_CAPTURE.  Returns 1 if the capture was cut; |err| says where, and the
 * database is complete.  |host| is as for tree_store.  |progress| may be NULL. */
int database_fill(struct store *store, const char *path, const struct plan_host *host,
                  const struct progress *progress, struct err *err);

/* Writes the database as a file.  Only its contents decide the file's bytes. */
int database_write(struct store *store, const char *path, struct err *err);

/* Calls |show| for each difference between a database and one that this program made from the same
 * capture.  If the same version made both, rows are compared one by one; if not, they are only
 * counted.  Returns -ERR_INPUT if the database cannot be read. */
int database_compare(sqlite3 *db, sqlite3 *again, void (*show)(void *ctx, const char *text),
                     void *ctx, struct err *err);

/* Sets |*same| to true if tables, views and indexes are defined as in |again|.  Only then is it
 * safe to query them. */
int database_same_schema(sqlite3 *db, sqlite3 *again, bool *same, struct err *err);

#endif
