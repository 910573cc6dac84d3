/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sql.h"
#include "store/store.h"

int sql_fail(sqlite3 *db, struct err *err)
{
    const char *path = sqlite3_db_filename(db, "main");

    return store_fail(db, path && *path ? path : "a private database", err);
}

int sql_run(sqlite3 *db, const char *sql, struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sql_fail(db, err);
}

int sql_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) == SQLITE_OK
               ? 0
               : sql_fail(db, err);
}

int sql_row(sqlite3_stmt *stmt, struct err *err)
{
    int step = sqlite3_step(stmt), result;

    if (step == SQLITE_ROW)
        return 1;
    result = step == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(stmt), err);
    sqlite3_reset(stmt);
    return result;
}

int sql_step(sqlite3_stmt *stmt, struct err *err)
{
    int result = sqlite3_step(stmt) == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(stmt), err);

    sqlite3_reset(stmt);
    return result;
}

int sql_end(sqlite3_stmt *stmt, int result, struct err *err)
{
    sqlite3 *db = stmt ? sqlite3_db_handle(stmt) : NULL;

    return sqlite3_finalize(stmt) == SQLITE_OK || result ? result : sql_fail(db, err);
}

int sql_each(sqlite3 *db, const char *sql,
             int (*row)(void *ctx, sqlite3_stmt *stmt, struct err *err), void *ctx, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0 && (result = row(ctx, stmt, err)) == 0)
        continue;
    return sql_end(stmt, result, err);
}

int sql_number(sqlite3 *db, const char *sql, int64_t none, int64_t *value, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    *value = none;
    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    result = sql_row(stmt, err);
    if (result > 0)
        *value = sql_column(stmt, 0, none);
    return sql_end(stmt, result < 0 ? result : 0, err);
}

void sql_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at);
}

void sql_bind_unless(sqlite3_stmt *stmt, int at, int64_t value, int64_t none)
{
    if (value == none)
        sqlite3_bind_null(stmt, at);
    else
        sqlite3_bind_int64(stmt, at, value);
}
