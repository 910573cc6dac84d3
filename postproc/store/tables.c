/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/tables.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(sqlite3 *db, struct err *err)
{
    const char *path = sqlite3_db_filename(db, "main");

    return store_fail(db, path && *path ? path : "tables", err);
}

int tables_run(sqlite3 *db, const char *sql, struct err *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(db, err);
}

int tables_section(sqlite3 *db, const char *schema, const char *name, const char *section,
                   struct err *err)
{
    char mark[32];
    const char *start, *end;
    char *sql;
    int result;

    snprintf(mark, sizeof(mark), "\n--- %s\n", section);
    start = strstr(schema, mark);
    if (!start)
        return err_set(err, ERR_SYSTEM, "schemas/%s has no section %s", name, section);
    start += strlen(mark);
    end = strstr(start, "\n--- ");
    sql = end ? strndup(start, (size_t)(end - start)) : strdup(start);
    if (!sql)
        return err_set(err, ERR_SYSTEM, "out of memory");
    result = tables_run(db, sql, err);
    free(sql);
    return result;
}

int tables_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) == SQLITE_OK
               ? 0
               : fail(db, err);
}

int tables_step(sqlite3 *db, sqlite3_stmt *stmt, struct err *err)
{
    int result = sqlite3_step(stmt) == SQLITE_DONE ? 0 : fail(db, err);

    sqlite3_reset(stmt);
    return result;
}

void tables_bind_unless(sqlite3_stmt *stmt, int at, int64_t value, int64_t none)
{
    if (value == none)
        sqlite3_bind_null(stmt, at);
    else
        sqlite3_bind_int64(stmt, at, value);
}

int tables_codes(sqlite3 *db, const char *domain, int max, const char *(*name)(int),
                 struct err *err)
{
    sqlite3_stmt *stmt;
    int result = tables_prepare(db, "INSERT OR REPLACE INTO code VALUES (?,?,?)", &stmt, err);

    for (int i = 1; result == 0 && i < max; i++) {
        sqlite3_bind_text(stmt, 1, domain, -1, SQLITE_STATIC);
        sqlite3_bind_int(stmt, 2, i);
        sqlite3_bind_text(stmt, 3, name(i), -1, SQLITE_STATIC);
        result = tables_step(db, stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}

int tables_transaction(sqlite3 *db, int (*fill)(void *ctx, struct err *err), void *ctx,
                       struct err *err)
{
    struct err unseen;
    int result = tables_run(db, "BEGIN IMMEDIATE", err);

    if (result < 0)
        return result;
    result = fill(ctx, err);
    if (result == 0)
        result = tables_run(db, "COMMIT", err);
    if (result < 0)
        tables_run(db, "ROLLBACK", &unseen);
    return result;
}
