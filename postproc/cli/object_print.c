/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/object_print.h"
#include "store/sql.h"
#include "store/sql_json.h"
#include "store/store.h"

#include <stdio.h>

static const char select_object[] =
    "SELECT o.server, o.handle, (SELECT c.name FROM code c WHERE c.domain = 'object_type'"
    " AND c.value = o.type), o.fsid, o.fileid FROM object o WHERE o.id = ?";

/* Columns of it: */
enum { SERVER, HANDLE, TYPE, FSID, FILEID };

static const char select_names[] =
    "SELECT path, parent, name, how, start, start_operation, stop_how, stop, stop_operation"
    " FROM object_name WHERE object = ? ORDER BY start, start_operation";

enum { PATH, PARENT, NAME, HOW, START, START_OPERATION, STOP_HOW, STOP, STOP_OPERATION };

static const char *text_of(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

static bool is_null(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL;
}

static void print_side(sqlite3_stmt *s, int how, int time, int operation)
{
    char text[VALUE_TEXT_MAX];

    printf("%s %s", text_of(s, how), time_text(sqlite3_column_int64(s, time), text));
    if (!is_null(s, operation))
        printf(" by operation %s", text_of(s, operation));
}

static void print_lifetime(sqlite3_stmt *s)
{
    fputs("  ", stdout);
    escape_print(stdout, is_null(s, PATH) ? text_of(s, NAME) : text_of(s, PATH));
    fputs(": ", stdout);
    print_side(s, HOW, START, START_OPERATION);
    if (!is_null(s, STOP_HOW)) {
        fputs(", ", stdout);
        print_side(s, STOP_HOW, STOP, STOP_OPERATION);
    }
    putchar('\n');
}

static void json_value(const char *key, sqlite3_stmt *s, int column)
{
    printf(",\"%s\":", key);
    sql_json_value(stdout, s, column);
}

static void json_unsigned(const char *key, sqlite3_stmt *s, int column)
{
    if (is_null(s, column))
        json_value(key, s, column);
    else
        printf(",\"%s\":%llu", key, (unsigned long long)sqlite3_column_int64(s, column));
}

static void json_lifetime(sqlite3_stmt *s, bool first)
{
    fputs(first ? "{\"path\":" : ",{\"path\":", stdout);
    sql_json_value(stdout, s, PATH);
    json_value("parent", s, PARENT);
    json_value("name", s, NAME);
    json_value("how", s, HOW);
    json_value("start", s, START);
    json_value("start_operation", s, START_OPERATION);
    json_value("stop_how", s, STOP_HOW);
    json_value("stop", s, STOP);
    json_value("stop_operation", s, STOP_OPERATION);
    putchar('}');
}

static void print_object(sqlite3_stmt *s, int64_t object, bool json)
{
    if (json) {
        printf("{\"object\":%lld,\"server\":", (long long)object);
        json_text(stdout, text_of(s, SERVER));
        json_value("handle", s, HANDLE);
        json_value("type", s, TYPE);
        json_unsigned("fsid", s, FSID);
        json_unsigned("fileid", s, FILEID);
        fputs(",\"names\":[", stdout);
        return;
    }
    printf("object %lld of %s", (long long)object, text_of(s, SERVER));
    if (!is_null(s, TYPE))
        printf(", %s", text_of(s, TYPE));
    if (!is_null(s, FILEID))
        printf(", fileid %llu", (unsigned long long)sqlite3_column_int64(s, FILEID));
    putchar('\n');
}

static int print_names(sqlite3 *db, int64_t object, bool json, struct err *err)
{
    sqlite3_stmt *stmt;
    bool first = true;

    if (sql_prepare(db, select_names, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, object);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        if (json)
            json_lifetime(stmt, first);
        else
            print_lifetime(stmt);
        first = false;
    }
    if (json)
        fputs("]}\n", stdout);
    return sql_end(stmt, 0, err);
}

int object_print(sqlite3 *db, int64_t object, bool json, struct err *err)
{
    sqlite3_stmt *stmt;
    bool found;

    if (sql_prepare(db, select_object, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, object);
    found = sqlite3_step(stmt) == SQLITE_ROW;
    if (found)
        print_object(stmt, object, json);
    if (sql_end(stmt, 0, err) < 0)
        return -err->code;
    if (!found)
        return err_set(err, ERR_USAGE, "no such object: %lld", (long long)object);
    return print_names(db, object, json, err);
}
