/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sql_json.h"
#include "store/sql.h"

#include <string.h>

void sql_json_value(struct json *j, const char *key, sqlite3_stmt *stmt, int at)
{
    switch (sqlite3_column_type(stmt, at)) {
    case SQLITE_NULL:
        json_null(j, key);
        break;
    case SQLITE_INTEGER:
        json_i64(j, key, sqlite3_column_int64(stmt, at));
        break;
    case SQLITE_FLOAT:
        json_number(j, key, "%.6g", sqlite3_column_double(stmt, at));
        break;
    case SQLITE_BLOB:
        json_hex(j, key, sql_column_bytes(stmt, at));
        break;
    default:
        json_text(j, key, (const char *)sqlite3_column_text(stmt, at));
    }
}

void sql_json_members(struct json *j, sqlite3_stmt *stmt)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        const char *name = sqlite3_column_name(stmt, i);
        size_t len = strlen(name);
        char boolean[64];

        if (len && name[len - 1] == '!') {
            snprintf(boolean, sizeof(boolean), "%.*s", (int)(len - 1), name);
            json_bool(j, boolean, sqlite3_column_int(stmt, i) != 0);
        } else {
            sql_json_value(j, name, stmt, i);
        }
    }
}
