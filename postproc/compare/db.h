/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/db.h
 *
 * Rows of the result and of the databases beside it; beside store/tables.h.
 */
#ifndef NFSDIGEST_COMPARE_DB_H
#define NFSDIGEST_COMPARE_DB_H

#include "base/bytes.h"
#include "store/tables.h"

#include <stdbool.h>

/* 1: a row; 0: there are no more, and the statement is reset; or negative. */
int db_row(sqlite3 *db, sqlite3_stmt *stmt, struct err *err);
/* The first column of the first row; |none| when that is NULL or there is none. */
int db_number(sqlite3 *db, const char *sql, int64_t none, int64_t *value, struct err *err);

/* The number that a side has in databases and in names of temporary tables, and back. */
static inline int db_side(int side)
{
    return side + 1;
}

static inline int64_t db_side_of(int64_t number)
{
    return number - 1;
}

/* |text| must live until the statement is run; NULL: NULL. */
void db_bind_text(sqlite3_stmt *stmt, int at, const char *text);

static inline int64_t db_column(sqlite3_stmt *stmt, int column, int64_t none)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL ? none
                                                            : sqlite3_column_int64(stmt, column);
}

static inline struct bytes db_column_bytes(sqlite3_stmt *stmt, int column)
{
    const void *data = sqlite3_column_blob(stmt, column);
    struct bytes b = { data ? data : (const void *)"",
                       (uint32_t)sqlite3_column_bytes(stmt, column) };

    return b;
}

#endif
