/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/callers_read.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdlib.h>

/* Numbers of a JSON array. */
static void take_gids(struct caller *c, const char *json)
{
    while (json && *json && c->gid_count < sizeof(c->gids) / sizeof(c->gids[0])) {
        char *end = (char *)json + 1;

        if (*json >= '0' && *json <= '9')
            c->gids[c->gid_count++] = (uint32_t)strtoul(json, &end, 10);
        json = end;
    }
}

int callers_read(struct callers *callers, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(db,
                    "SELECT id, uid, gid, gids FROM credential WHERE flavor = 1 AND valid"
                    " AND uid IS NOT NULL AND gid IS NOT NULL",
                    &stmt, err) < 0)
        return -err->code;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(stmt, 0);
        struct caller *c;

        if (id <= 0 || id >= UINT32_MAX / 2)
            continue;
        c = callers_place(callers, (uint32_t)id);
        if (!c) {
            result = err_memory(err, "credentials");
            break;
        }
        c->known = true;
        c->uid = (uint32_t)sqlite3_column_int64(stmt, 1);
        c->gid = (uint32_t)sqlite3_column_int64(stmt, 2);
        take_gids(c, (const char *)sqlite3_column_text(stmt, 3));
    }
    return sql_end(stmt, result, err);
}
