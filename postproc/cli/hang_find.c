/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/hang_find.c
 *
 * Finds the calls that wait at a point in time, and groups them by connection.  The contract is in
 * hang.h.
 */
#include "base/grow.h"
#include "base/values.h"
#include "cli/hang.h"
#include "store/moment.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ?5: the point in time.  ?6: calls later than this are too young. */
static const char waiting[] =
    "SELECT f.id, f.transport, f.client, f.client_port, f.server, f.server_port, count(*), o.id,"
    " min(o.call_time), o.call_source, o.call_frame FROM operation o JOIN flow f ON f.id = o.flow"
    " WHERE o.call_time <= ?6 AND (o.reply_time > ?5 OR (o.reply_frame IS NULL AND o.pairing <> 0))"
    " AND" TRAFFIC_OPERATION " GROUP BY f.id ORDER BY min(o.call_time)";

static int add(struct hang *h, sqlite3_stmt *stmt, struct err *err)
{
    struct hang_connection *c;

    if (GROW(h->list, h->count, h->cap) < 0)
        return err_memory(err, "connections");
    c = &h->list[h->count++];
    *c = (struct hang_connection){ .flow = sqlite3_column_int64(stmt, 0),
                                   .transport = sqlite3_column_int(stmt, 1),
                                   .client_port = sqlite3_column_int(stmt, 3),
                                   .server_port = sqlite3_column_int(stmt, 5),
                                   .calls = (uint64_t)sqlite3_column_int64(stmt, 6),
                                   .oldest = sqlite3_column_int64(stmt, 7),
                                   .called = sqlite3_column_int64(stmt, 8),
                                   .source = sqlite3_column_int64(stmt, 9),
                                   .frame = sqlite3_column_int64(stmt, 10),
                                   .last_reply = INT64_MIN };
    snprintf(c->client, sizeof(c->client), "%s", sql_column_text(stmt, 2));
    snprintf(c->server, sizeof(c->server), "%s", sql_column_text(stmt, 4));
    h->calls += c->calls;
    return 0;
}

static int read_waiting(sqlite3 *db, const struct hang_request *request, struct hang *h,
                        struct err *err)
{
    sqlite3_stmt *stmt;
    int result = traffic_prepare(&request->traffic, db, waiting, &stmt, err);

    if (result < 0)
        return result;
    sqlite3_bind_int64(stmt, 5, request->at);
    sqlite3_bind_int64(stmt, 6, request->at - request->age);
    while ((result = sql_row(stmt, err)) > 0)
        if ((result = add(h, stmt, err)) < 0)
            break;
    return sql_end(stmt, result, err);
}

static int read_at(sqlite3 *db, struct hang_request *request, struct err *err)
{
    struct moment_span span;

    request->at = request->traffic.last;
    if (!request->at_text)
        return 0;
    if (moment_span_read(db, &span, err) < 0)
        return -err->code;
    if (moment_parse(request->at_text, &span, &request->at, err) < 0)
        return err_prefix(err, "--at");
    if (request->at < span.first || request->at > span.last) {
        char first[VALUE_TEXT_MAX], last[VALUE_TEXT_MAX], at[VALUE_TEXT_MAX];

        return err_set(err, ERR_USAGE, "--at: %s is not in the trace, which is from %s to %s",
                       time_text(request->at, at), time_text(span.first, first),
                       time_text(span.last, last));
    }
    return 0;
}

/* The call that waited longest for its reply. */
static const char longest[] =
    "SELECT o.call_time, o.reply_time, o.client, f.server, f.server_port"
    " FROM operation o JOIN flow f ON f.id = o.flow WHERE o.reply_time >= o.call_time"
    " AND" TRAFFIC_OPERATION " ORDER BY o.reply_time - o.call_time DESC, o.call_time LIMIT 1";

/* What ends a hang shortly before the reply comes: a new connection is accepted, a window opens.
 * Before that, the trace still shows why the call waited. */
static const char relief[] =
    "SELECT min(time) FROM (SELECT CASE e.event WHEN ?6 THEN e.time ELSE e.time + e.value END AS "
    "time"
    " FROM connection_event e WHERE e.client = ?1 AND e.server = ?2 AND e.server_port = ?3"
    " AND (e.event = ?6 OR (e.event = ?7 AND e.value > 0))) WHERE time > ?4 AND time < ?5";

/* Nothing waits at the end: finds a moment when the call that waited longest still waited. */
static int choose(sqlite3 *db, struct hang_request *request, struct hang *h, struct err *err)
{
    sqlite3_stmt *stmt, *events = NULL;
    int result = traffic_prepare(&request->traffic, db, longest, &stmt, err);

    if (result < 0)
        return result;
    result = sql_row(stmt, err);
    if (result > 0) {
        int64_t called = sqlite3_column_int64(stmt, 0), end = sqlite3_column_int64(stmt, 1);

        h->longest = end - called;
        h->longest_called = called;
        h->chosen = end - 1 - called >= request->age && end > called;
        if (h->chosen && (result = sql_prepare(db, relief, &events, err)) == 0) {
            sql_bind_text(events, 1, sql_column_text(stmt, 2));
            sql_bind_text(events, 2, sql_column_text(stmt, 3));
            sqlite3_bind_int(events, 3, sqlite3_column_int(stmt, 4));
            sqlite3_bind_int64(events, 4, end - h->longest / 4);
            sqlite3_bind_int64(events, 5, end);
            sqlite3_bind_int(events, 6, EVENT_SYN_ACK);
            sqlite3_bind_int(events, 7, EVENT_ZERO_WINDOW);
            result = sql_row(events, err);
            if (result > 0)
                end = sql_column(events, 0, end);
            end -= h->longest / 20; /* the reply was under way by then, and sent by the server */
            if (end - 1 - called < request->age)
                end = called + h->longest;
            request->at = end - 1;
            result = sql_end(events, result < 0 ? result : 0, err);
        }
    }
    return sql_end(stmt, result < 0 ? result : 0, err);
}

/* Calls that waited as long, but not at this point in time. */
static int count_others(sqlite3 *db, const struct hang_request *request, struct hang *h,
                        struct err *err)
{
    static const char sql[] =
        "SELECT count(*), max(o.reply_time - o.call_time), o.reply_time FROM operation o"
        " WHERE o.reply_time - o.call_time >= ?5 AND (o.reply_time <= ?6 OR o.call_time > ?6)"
        " AND" TRAFFIC_OPERATION;
    sqlite3_stmt *stmt;
    int result = traffic_prepare(&request->traffic, db, sql, &stmt, err);

    if (result < 0)
        return result;
    sqlite3_bind_int64(stmt, 5, request->age);
    sqlite3_bind_int64(stmt, 6, request->at);
    if ((result = sql_row(stmt, err)) > 0) {
        h->others = (uint64_t)sqlite3_column_int64(stmt, 0);
        h->others_at = sqlite3_column_int64(stmt, 2) - 1 - sqlite3_column_int64(stmt, 1) / 20;
    }
    return sql_end(stmt, result < 0 ? result : 0, err);
}

int hang_find(sqlite3 *db, const char *far, struct hang_request *request, struct hang *h,
              struct err *err)
{
    int64_t holes;
    int result;

    *h = (struct hang){ .far = far != NULL, .longest = -1 };
    if (traffic_read(&request->traffic, db, err) < 0 || read_at(db, request, err) < 0 ||
        read_waiting(db, request, h, err) < 0 ||
        (!h->count && !request->at_text && choose(db, request, h, err) < 0) ||
        (h->chosen && read_waiting(db, request, h, err) < 0) ||
        (h->count && !request->at_text && count_others(db, request, h, err) < 0) ||
        sql_number(db, "SELECT count(*) FROM problem WHERE kind IN (1, 2)", 0, &holes, err) < 0)
        return -err->code;
    h->holes = (uint64_t)holes;
    result = far ? hang_match(db, far, request, h, err) : 0;
    for (uint32_t i = 0; result == 0 && i < h->count && i < request->top; i++)
        result = hang_events(db, request, &h->list[i], err);
    return result;
}

void hang_free(struct hang *h)
{
    free(h->list);
}
