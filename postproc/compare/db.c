/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/db.h"

#include "store/store.h"

static int fail(sqlite3 *db, struct err *err)
{
    return store_fail(db, "comparing", err);
}

int db_row(sqlite3 *db, sqlite3_stmt *stmt, struct err *err)
{
    int step = sqlite3_step(stmt), result;

    if (step == SQLITE_ROW)
        return 1;
    result = step == SQLITE_DONE ? 0 : fail(db, err);
    sqlite3_reset(stmt);
    return result;
}

int db_number(sqlite3 *db, const char *sql, int64_t none, int64_t *value, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    *value = none;
    if (tables_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    result = db_row(db, stmt, err);
    if (result > 0)
        *value = db_column(stmt, 0, none);
    sqlite3_finalize(stmt);
    return result < 0 ? result : 0;
}

void db_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
    if (text)
        sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at);
}
