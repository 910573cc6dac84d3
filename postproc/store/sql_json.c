/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sql_json.h"
#include "base/json.h"

#include <stdbool.h>
#include <string.h>

void sql_json_value(FILE *out, sqlite3_stmt *stmt, int at)
{
    switch (sqlite3_column_type(stmt, at)) {
    case SQLITE_NULL:
        fputs("null", out);
        break;
    case SQLITE_INTEGER:
        fprintf(out, "%lld", (long long)sqlite3_column_int64(stmt, at));
        break;
    case SQLITE_FLOAT:
        fprintf(out, "%.6g", sqlite3_column_double(stmt, at));
        break;
    case SQLITE_BLOB:
        json_hex(out, sqlite3_column_blob(stmt, at), (size_t)sqlite3_column_bytes(stmt, at));
        break;
    default:
        json_text(out, (const char *)sqlite3_column_text(stmt, at));
    }
}

void sql_json_members(FILE *out, sqlite3_stmt *stmt)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++) {
        const char *name = sqlite3_column_name(stmt, i);
        size_t len = strlen(name);
        bool is_boolean = len && name[len - 1] == '!';

        fprintf(out, "%s\"%.*s\":", i ? "," : "", (int)(len - is_boolean), name);
        if (is_boolean)
            fputs(sqlite3_column_int(stmt, i) ? "true" : "false", out);
        else
            sql_json_value(out, stmt, i);
    }
}
