/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/object_print.h"
#include "store/sql.h"
#include "store/sql_json.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static const char select_object[] =
    "SELECT o.server, o.handle, (SELECT c.name FROM code c WHERE c.domain = 'object_type'"
    " AND c.value = o.type), o.fsid, o.fileid FROM object o WHERE o.id = ?";

/* Columns of it: */
enum { SERVER, HANDLE, TYPE, FSID, FILEID };

static const char select_names[] =
    "SELECT n.path, n.parent, n.name, n.how, n.start, n.start_operation, n.stop_how, n.stop,"
    " n.stop_operation, ifnull(a.call_time, n.start), a.call_frame, a.reply_frame,"
    " ifnull(b.call_time, n.stop), b.call_frame, b.reply_frame FROM object_name n"
    " LEFT JOIN operation a ON a.id = n.start_operation"
    " LEFT JOIN operation b ON b.id = n.stop_operation"
    " WHERE n.object = ? ORDER BY n.start, n.start_operation";

enum {
    PATH,
    PARENT,
    NAME,
    HOW,
    START,
    START_OPERATION,
    STOP_HOW,
    STOP,
    STOP_OPERATION,
    START_CALL, /* time and frame of the call, frame of the reply */
    STOP_CALL = START_CALL + 3
};

/* What the database calls it, and people do. */
static const char *const words[][2] = { { "seen", "existed, first seen" },
                                        { "bound", "made" },
                                        { "moved", "got this name" },
                                        { "removed", "ended" },
                                        { "gone", "was found to have ended" } };

static const char *text_of(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

static bool is_null(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL;
}

/* |call|: START_CALL or STOP_CALL. */
static void print_side(sqlite3_stmt *s, int how, int call)
{
    const char *word = text_of(s, how);
    char text[VALUE_TEXT_MAX];

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(word, words[i][0]) == 0)
            word = words[i][1];
    printf("%s %s", word, time_text(sqlite3_column_int64(s, call), text));
    if (!is_null(s, call + 1) || !is_null(s, call + 2))
        printf(" [%s-%s]", is_null(s, call + 1) ? "" : text_of(s, call + 1),
               is_null(s, call + 2) ? "" : text_of(s, call + 2));
}

static void print_lifetime(sqlite3_stmt *s)
{
    fputs("  ", stdout);
    escape_print(stdout, is_null(s, PATH) ? text_of(s, NAME) : text_of(s, PATH));
    fputs(": ", stdout);
    print_side(s, HOW, START_CALL);
    if (!is_null(s, STOP_HOW)) {
        fputs("; ", stdout);
        print_side(s, STOP_HOW, STOP_CALL);
    }
    putchar('\n');
}

static void json_unsigned(struct json *j, const char *key, sqlite3_stmt *s, int column)
{
    if (is_null(s, column))
        json_null(j, key);
    else
        json_u64(j, key, (uint64_t)sqlite3_column_int64(s, column));
}

static void json_lifetime(struct json *j, sqlite3_stmt *s)
{
    json_object(j, NULL);
    sql_json_value(j, "path", s, PATH);
    sql_json_value(j, "parent", s, PARENT);
    sql_json_value(j, "name", s, NAME);
    sql_json_value(j, "how", s, HOW);
    sql_json_value(j, "start", s, START);
    sql_json_value(j, "start_operation", s, START_OPERATION);
    sql_json_value(j, "stop_how", s, STOP_HOW);
    sql_json_value(j, "stop", s, STOP);
    sql_json_value(j, "stop_operation", s, STOP_OPERATION);
    json_object_end(j);
}

/* As far as its names. */
static void json_begin(struct json *j, sqlite3_stmt *s, int64_t object)
{
    json_object(j, NULL);
    json_i64(j, "object", object);
    json_text(j, "server", text_of(s, SERVER));
    sql_json_value(j, "handle", s, HANDLE);
    sql_json_value(j, "type", s, TYPE);
    json_unsigned(j, "fsid", s, FSID);
    json_unsigned(j, "fileid", s, FILEID);
    json_array(j, "names");
}

static void print_object(sqlite3_stmt *s, int64_t object)
{
    printf("object %lld of %s", (long long)object, text_of(s, SERVER));
    if (!is_null(s, TYPE))
        printf(", %s", text_of(s, TYPE));
    if (!is_null(s, FILEID))
        printf(", fileid %llu", (unsigned long long)sqlite3_column_int64(s, FILEID));
    puts(" (times are those of calls, in UTC)");
}

/* |j| NULL: as text. */
static int print_names(sqlite3 *db, int64_t object, struct json *j, struct err *err)
{
    sqlite3_stmt *stmt;

    if (sql_prepare(db, select_names, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, object);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        if (j)
            json_lifetime(j, stmt);
        else
            print_lifetime(stmt);
    }
    if (j) {
        json_array_end(j);
        json_object_end(j);
        json_end(j);
    }
    return sql_end(stmt, 0, err);
}

int object_print(sqlite3 *db, int64_t object, bool json, struct err *err)
{
    struct json j = { .out = stdout };
    sqlite3_stmt *stmt;
    bool found;

    if (sql_prepare(db, select_object, &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int64(stmt, 1, object);
    found = sqlite3_step(stmt) == SQLITE_ROW;
    if (found && json)
        json_begin(&j, stmt, object);
    else if (found)
        print_object(stmt, object);
    if (sql_end(stmt, 0, err) < 0)
        return -err->code;
    if (!found)
        return err_set(err, ERR_USAGE, "no such object: %lld", (long long)object);
    return print_names(db, object, json ? &j : NULL, err);
}
