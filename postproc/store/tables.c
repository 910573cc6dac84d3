/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        return err_memory(err, "a schema");
    result = sql_run(db, sql, err);
    free(sql);
    return result;
}

int tables_codes(sqlite3 *db, const char *domain, int max, const char *(*name)(int),
                 struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, "INSERT OR REPLACE INTO code VALUES (?,?,?)", &stmt, err);

    for (int i = 1; result == 0 && i < max; i++) {
        sqlite3_bind_text(stmt, 1, domain, -1, SQLITE_STATIC);
        sqlite3_bind_int(stmt, 2, i);
        sqlite3_bind_text(stmt, 3, name(i), -1, SQLITE_STATIC);
        result = sql_step(stmt, err);
    }
    sqlite3_finalize(stmt);
    return result;
}

int tables_transaction(sqlite3 *db, int (*fill)(void *ctx, struct err *err), void *ctx,
                       struct err *err)
{
    struct err unseen;
    int result = sql_run(db, "BEGIN IMMEDIATE", err);

    if (result < 0)
        return result;
    result = fill(ctx, err);
    if (result == 0)
        result = sql_run(db, "COMMIT", err);
    if (result < 0)
        sql_run(db, "ROLLBACK", &unseen);
    return result;
}
