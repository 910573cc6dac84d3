/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/values.h"
#include "cli/outage.h"
#include "store/sql.h"

#include <inttypes.h>
#include <stdio.h>

enum { COL_TIME, COL_CALL, COL_REPLY, COL_CLIENT, COL_PROCEDURE, COL_PATH, COL_OFFSET, COL_COUNT };
static const char select_operation[] =
    "SELECT o.call_time, o.call_frame, o.reply_frame, o.client,"
    " ifnull((SELECT p.name FROM procedure p WHERE p.program = o.program"
    "  AND p.version = o.version AND p.number = o.procedure), o.procedure),"
    " (SELECT p.text FROM path p WHERE p.id = o.path), o.offset, o.count"
    " FROM operation o WHERE o.id = ?1";

/* An operation that is listed; |write|: the piece of it that was lost, or NULL. */
typedef void (*print_call)(void *ctx, sqlite3_stmt *stmt, int64_t id,
                           const struct outage_write *write);

static int each(sqlite3 *db, const struct outage *o, bool lost, print_call print, void *ctx,
                struct err *err)
{
    uint32_t count = lost ? o->lost_count : o->unanswered_count;
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, select_operation, &stmt, err);

    for (uint32_t i = 0; result == 0 && i < count; i++) {
        int64_t id = lost ? o->lost_writes[i].operation : o->unanswered[i];

        sqlite3_bind_int64(stmt, 1, id);
        result = sql_row(stmt, err);
        if (result > 0)
            print(ctx, stmt, id, lost ? &o->lost_writes[i] : NULL);
        result = result < 0 ? result : 0;
        sqlite3_reset(stmt);
    }
    return sql_end(stmt, result, err);
}

static void text_call(void *ctx, sqlite3_stmt *stmt, int64_t id, const struct outage_write *write)
{
    const char *path = sql_column_text(stmt, COL_PATH);
    char text[VALUE_TEXT_MAX];

    (void)ctx;
    (void)id;
    printf("    %s [%lld", time_text(sql_column(stmt, COL_TIME, TIME_NONE), text),
           (long long)sqlite3_column_int64(stmt, COL_CALL));
    if (sqlite3_column_type(stmt, COL_REPLY) != SQLITE_NULL)
        printf("-%lld", (long long)sqlite3_column_int64(stmt, COL_REPLY));
    printf("] %s: %s ", sql_column_text(stmt, COL_CLIENT), sql_column_text(stmt, COL_PROCEDURE));
    escape_print(stdout, path ? path : "-");
    if (write)
        printf(", %" PRIu64 " byte%s at %" PRIu64, write->count, write->count == 1 ? "" : "s",
               write->offset);
    else if (sqlite3_column_int64(stmt, COL_COUNT))
        printf(", %" PRIu64 " bytes at %" PRIu64, (uint64_t)sqlite3_column_int64(stmt, COL_COUNT),
               (uint64_t)sqlite3_column_int64(stmt, COL_OFFSET));
    putchar('\n');
}

static void text_more(uint64_t all, uint64_t listed)
{
    if (all > listed)
        printf("    and %" PRIu64 " more\n", all - listed);
}

/* |listed|: pieces; one WRITE can have several. */
static uint64_t writes_listed(const struct outage *o)
{
    uint64_t listed = 0;

    for (uint32_t i = 0; i < o->lost_count; i++)
        listed += !i || o->lost_writes[i].operation != o->lost_writes[i - 1].operation;
    return listed;
}

int outage_lost_text(sqlite3 *db, const struct outage *o, struct err *err)
{
    uint64_t unanswered = outage_unanswered(o);
    char text[VALUE_TEXT_MAX];

    if (unanswered)
        printf("  no answer seen to %" PRIu64 " call%s:\n", unanswered, unanswered == 1 ? "" : "s");
    if (each(db, o, false, text_call, NULL, err) < 0)
        return -err->code;
    text_more(unanswered, o->unanswered_count);
    if (o->lost)
        printf("  may be lost: %" PRIu64 " WRITE%s, %s, acknowledged as UNSTABLE, then neither"
               " committed nor sent again; %s:\n",
               o->lost, o->lost == 1 ? "" : "s", size_text(o->lost_bytes, text),
               o->has_verifier ? "the write verifier is a new one"
                               : "no write verifier was seen afterwards");
    else if (o->new_verifier)
        puts("  may be lost: nothing; the write verifier is a new one, and all that was"
             " acknowledged as UNSTABLE was committed before or sent again");
    if (each(db, o, true, text_call, NULL, err) < 0)
        return -err->code;
    text_more(o->lost, writes_listed(o));
    return 0;
}

static void json_call(void *ctx, sqlite3_stmt *stmt, int64_t id, const struct outage_write *write)
{
    struct json *j = ctx;

    json_object(j, NULL);
    json_i64(j, "operation", id);
    json_i64(j, "time", sqlite3_column_int64(stmt, COL_TIME));
    json_i64(j, "call_frame", sqlite3_column_int64(stmt, COL_CALL));
    if (write)
        json_i64(j, "reply_frame", sqlite3_column_int64(stmt, COL_REPLY));
    json_text(j, "client", sql_column_text(stmt, COL_CLIENT));
    json_text(j, "procedure_name", sql_column_text(stmt, COL_PROCEDURE));
    json_text(j, "path", sql_column_text(stmt, COL_PATH));
    if (write) {
        json_u64(j, "offset", write->offset);
        json_u64(j, "count", write->count);
    } else if (sqlite3_column_type(stmt, COL_OFFSET) != SQLITE_NULL) {
        json_u64(j, "offset", (uint64_t)sqlite3_column_int64(stmt, COL_OFFSET));
        json_u64(j, "count", (uint64_t)sqlite3_column_int64(stmt, COL_COUNT));
    }
    json_object_end(j);
}

int outage_lost_json(sqlite3 *db, struct json *j, const struct outage *o, struct err *err)
{
    json_array(j, "unanswered");
    if (each(db, o, false, json_call, j, err) < 0)
        return -err->code;
    json_array_end(j);
    json_text(j, "write_verifier", !o->has_verifier ? NULL : o->new_verifier ? "new" : "same");
    json_u64(j, "lost", o->lost);
    json_u64(j, "lost_bytes", o->lost_bytes);
    json_array(j, "lost_writes");
    if (each(db, o, true, json_call, j, err) < 0)
        return -err->code;
    json_array_end(j);
    return 0;
}
