/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/sql.h
 *
 * Calls SQLite.  Every function returns 0 (or what its comment says), or a negative code with a
 * text in |err| that names the database.
 *
 *     sql_prepare, then sql_bind_... and sql_row for each row, sql_end
 */
#ifndef NFSDIGEST_STORE_SQL_H
#define NFSDIGEST_STORE_SQL_H

#include "base/bytes.h"
#include "base/err.h"

#include <sqlite3.h>
#include <stdint.h>

/* Fills |err| with SQLite's text about its last failure. */
int sql_fail(sqlite3 *db, struct err *err);

/* Runs statements that give no rows. */
int sql_run(sqlite3 *db, const char *sql, struct err *err);

/* Prepares a statement, which may be run several times. */
int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt, struct err *err);
/* Returns 1 if there is a row.  Returns 0 if there are no more, or a negative code; in both cases
 * the statement is reset. */
int sql_row(sqlite3_stmt *stmt, struct err *err);
/* Runs a statement that gives no row, and resets it. */
int sql_step(sqlite3_stmt *stmt, struct err *err);
/* Frees the statement (or NULL).  Returns |result| or, if that is 0, the result of the last
 * step. */
int sql_end(sqlite3_stmt *stmt, int result, struct err *err);

/* Calls |row| for each row of |sql| until it returns something other than 0.  Returns that. */
int sql_each(sqlite3 *db, const char *sql,
             int (*row)(void *ctx, sqlite3_stmt *stmt, struct err *err), void *ctx,
             struct err *err);

/* Reads the first column of the first row.  It is |none| if that column is NULL or there is no
 * row. */
int sql_number(sqlite3 *db, const char *sql, int64_t none, int64_t *value, struct err *err);

/* Binds a text, which must live until the statement has run.  If |text| is NULL, it binds NULL. */
void sql_bind_text(sqlite3_stmt *stmt, int at, const char *text);
/* Binds |value|, or NULL if it is |none|. */
void sql_bind_unless(sqlite3_stmt *stmt, int at, int64_t value, int64_t none);

/* Returns the value of a column, or |none| for NULL. */
static inline int64_t sql_column(sqlite3_stmt *stmt, int at, int64_t none)
{
    return sqlite3_column_type(stmt, at) == SQLITE_NULL ? none : sqlite3_column_int64(stmt, at);
}

/* The results live until the next row.  For NULL they are NULL, or no bytes. */
static inline const char *sql_column_text(sqlite3_stmt *stmt, int at)
{
    return (const char *)sqlite3_column_text(stmt, at);
}

static inline struct bytes sql_column_bytes(sqlite3_stmt *stmt, int at)
{
    const void *data = sqlite3_column_blob(stmt, at);

    return (struct bytes){ data ? data : (const void *)"",
                           (uint32_t)sqlite3_column_bytes(stmt, at) };
}

#endif
