/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_clients.c
 *
 * What became of the clients of an outage, and how often each status came before and after it.  For
 * outage_find.c.  The contract is in outage.h.
 */
#include "base/grow.h"
#include "cli/outage.h"
#include "record/record.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ?5 and ?6: the service.  ?7 to ?9: begin, end, begin of the next one.  ?10: end of the one
 * before. */
#define SERVICE_OF_FLOW " AND f.server = ?5 AND f.server_port = ?6"

static int prepare(sqlite3 *db, const struct outage_request *request, const struct outage *o,
                   const char *sql, sqlite3_stmt **stmt, struct err *err)
{
    if (traffic_prepare(&request->traffic, db, sql, stmt, err) < 0)
        return -err->code;
    sql_bind_text(*stmt, 5, o->server);
    sqlite3_bind_int(*stmt, 6, o->port);
    sqlite3_bind_int64(*stmt, 7, o->begin);
    sqlite3_bind_int64(*stmt, 8, o->first_reply.time == TIME_NONE ? INT64_MAX : o->end);
    sqlite3_bind_int64(*stmt, 9, o->next);
    sqlite3_bind_int64(*stmt, 10, o->before);
    return 0;
}

static struct outage_client *find(struct outage *o, const char *address)
{
    uint32_t low = 0, high = o->client_count;

    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        int order = strcmp(o->clients[at].address, address);

        if (!order)
            return &o->clients[at];
        if (order < 0)
            low = at + 1;
        else
            high = at;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct outage_client *)a)->address,
                  ((const struct outage_client *)b)->address);
}

static int add_client(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    static const struct outage_packet none = { TIME_NONE, 0, 0 };
    struct outage *o = ctx;

    if (GROW(o->clients, o->client_count, o->client_cap) < 0)
        return err_memory(err, "clients");
    o->clients[o->client_count] = (struct outage_client){
        .last_reply = none, .trouble = none, .first_reply = none, .last_try = none
    };
    snprintf(o->clients[o->client_count++].address, ADDRESS_TEXT_MAX, "%s",
             sql_column_text(stmt, 0));
    return 0;
}

static struct outage_packet packet(sqlite3_stmt *stmt, int at)
{
    return (struct outage_packet){ sqlite3_column_int64(stmt, at),
                                   sqlite3_column_int64(stmt, at + 1),
                                   sqlite3_column_int64(stmt, at + 2) };
}

static int last_reply(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    struct outage_client *c = find(ctx, sql_column_text(stmt, 0));

    (void)err;
    if (c)
        c->last_reply = packet(stmt, 1);
    return 0;
}

static int first_reply(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    struct outage_client *c = find(ctx, sql_column_text(stmt, 0));

    (void)err;
    if (c) {
        c->first_reply = packet(stmt, 1);
        c->answered = (uint64_t)sqlite3_column_int64(stmt, 4);
        c->errors = (uint64_t)sqlite3_column_int64(stmt, 5);
    }
    return 0;
}

/* True before the client's first reply, or if it got none. */
static bool waits(const struct outage_client *c, int64_t time)
{
    return c->first_reply.time == TIME_NONE || time < c->first_reply.time;
}

static void tries(struct outage_client *c, const struct outage_packet *p)
{
    if (c->last_try.time == TIME_NONE || p->time > c->last_try.time)
        c->last_try = *p;
}

static int resent_call(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    struct outage_client *c = find(ctx, sql_column_text(stmt, 0));
    struct outage_packet p = packet(stmt, 1);

    (void)err;
    if (c && waits(c, p.time)) {
        c->resent_calls++;
        tries(c, &p);
    }
    return 0;
}

static int unanswered_call(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    struct outage_client *c = find(ctx, sql_column_text(stmt, 0));
    const struct outage *o = ctx;
    struct outage_packet p = packet(stmt, 1);

    (void)err;
    if (c && waits(c, p.time)) {
        c->unanswered++;
        if (p.time >= o->begin)
            tries(c, &p);
    }
    return 0;
}

/* Columns: client, time, source, frame, event, direction, count, value, last time, last frame. */
static int event(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    static const char *const words[] = {
        [EVENT_SYN] = "SYN", [EVENT_REFUSED] = "refused", [EVENT_FIN] = "FIN", [EVENT_RST] = "RST"
    };
    struct outage_client *c = find(ctx, sql_column_text(stmt, 0));
    struct outage_packet p = packet(stmt, 1), last = p;
    int kind = sqlite3_column_int(stmt, 4), direction = sqlite3_column_int(stmt, 5);
    uint64_t count = (uint64_t)sqlite3_column_int64(stmt, 6);
    uint64_t value = (uint64_t)sqlite3_column_int64(stmt, 7);

    (void)err;
    if (!c || !waits(c, p.time))
        return 0;
    last.time = sql_column(stmt, 8, p.time);
    last.frame = sqlite3_column_int64(stmt, 9);
    if (direction == 0) {
        c->syns += kind == EVENT_SYN ? count : 0;
        c->attempts += kind == EVENT_SYN ? value : 0;
        c->resent_segments += kind == EVENT_RESENT ? count : 0;
        if (kind == EVENT_SYN)
            tries(c, &last);
    } else {
        c->refused += kind == EVENT_REFUSED ? count : 0;
        c->resets += kind == EVENT_RST;
        c->closed += kind == EVENT_FIN;
    }
    if ((kind == EVENT_SYN && direction == 0) || kind == EVENT_RST ||
        (direction == 1 && (kind == EVENT_FIN || kind == EVENT_REFUSED))) {
        if (c->trouble.time == TIME_NONE) { /* rows come in the order of time */
            c->trouble = p;
            c->what = words[kind];
        }
    }
    return 0;
}

static int status(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    struct outage *o = ctx;
    struct outage_status *s;

    if (GROW(o->statuses, o->status_count, o->status_cap) < 0)
        return err_memory(err, "statuses");
    s = &o->statuses[o->status_count];
    s->name = strdup(sql_column_text(stmt, 0));
    if (!s->name)
        return err_memory(err, "statuses");
    s->before = (uint64_t)sqlite3_column_int64(stmt, 1);
    s->after = (uint64_t)sqlite3_column_int64(stmt, 2);
    o->status_count++;
    return 0;
}

static const struct {
    const char *sql;
    int (*row)(void *ctx, sqlite3_stmt *stmt, struct err *err);
} queries[] = {
    { "SELECT DISTINCT f.client FROM flow f WHERE ifnull(f.time, ?7) < ?9" SERVICE_OF_FLOW
      " AND (?1 IS NULL OR f.client = ?1)"
      " UNION SELECT DISTINCT e.client FROM connection_event e WHERE e.time < ?9"
      " AND e.server = ?5 AND e.server_port = ?6 AND (?1 IS NULL OR e.client = ?1)",
      add_client },
    { "SELECT o.client, max(o.reply_time), o.reply_source, o.reply_frame FROM operation o"
      " JOIN flow f ON f.id = o.flow WHERE o.reply_time <= ?7 AND" TRAFFIC_OPERATION SERVICE_OF_FLOW
      " GROUP BY o.client",
      last_reply },
    { "SELECT o.client, min(o.reply_time), o.reply_source, o.reply_frame, count(*),"
      " sum(o.rpc_status <> 0 OR ifnull(o.status, 0) <> 0) FROM operation o"
      " JOIN flow f ON f.id = o.flow WHERE o.reply_time >= ?8 AND (o.reply_time < ?9 OR"
      " ?9 = 9223372036854775807) AND" TRAFFIC_OPERATION SERVICE_OF_FLOW " GROUP BY o.client",
      first_reply },
    { "SELECT f.client, r.time, r.source, r.frame FROM retransmission r"
      " JOIN flow f ON f.id = r.flow WHERE r.kind = 1 AND r.time BETWEEN ?7 AND ?9"
      " AND" TRAFFIC_OF("f.client", "f.server", "r.time") SERVICE_OF_FLOW,
      resent_call },
    { "SELECT o.client, o.call_time, o.call_source, o.call_frame FROM operation o"
      " JOIN flow f ON f.id = o.flow WHERE o.pairing <> 0 AND o.reply_frame IS NULL"
      " AND o.call_time BETWEEN ?7 - 60000000000 AND ?9 AND" TRAFFIC_OPERATION SERVICE_OF_FLOW,
      unanswered_call },
    { "SELECT e.client, e.time, e.source, e.frame, e.event, e.direction, e.count, e.value,"
      " e.last_time, e.last_frame FROM connection_event e WHERE e.time BETWEEN ?7 AND ?9"
      " AND" TRAFFIC_EVENT " AND e.server = ?5 AND e.server_port = ?6 ORDER BY e.time, e.frame",
      event },
    { "SELECT CASE WHEN o.rpc_status <> 0 THEN ifnull((SELECT c.name FROM code c"
      "   WHERE c.domain = 'rpc_status' AND c.value = o.rpc_status), o.rpc_status)"
      "  ELSE ifnull((SELECT s.name FROM status_name s WHERE s.program = o.program"
      "   AND s.version = o.version AND s.procedure = o.procedure AND s.status = o.status),"
      "   ifnull(o.status, 'OK')) END AS name,"
      " sum(o.reply_time <= ?7), sum(o.reply_time >= ?8) FROM operation o"
      " JOIN flow f ON f.id = o.flow WHERE (o.reply_time <= ?7 OR o.reply_time >= ?8)"
      " AND (o.reply_time < ?9 OR ?9 = 9223372036854775807) AND o.reply_time >= ?10"
      " AND" TRAFFIC_OPERATION SERVICE_OF_FLOW
      " AND (o.rpc_status <> 0 OR o.status <> 0) GROUP BY name"
      " ORDER BY sum(o.reply_time >= ?8) DESC, name",
      status },
};

int outage_clients(sqlite3 *db, const struct outage_request *request, struct outage *o,
                   struct err *err)
{
    int result = 0;

    for (size_t i = 0; result == 0 && i < sizeof(queries) / sizeof(*queries); i++) {
        sqlite3_stmt *stmt;

        if ((result = prepare(db, request, o, queries[i].sql, &stmt, err)) < 0)
            break;
        while ((result = sql_row(stmt, err)) > 0)
            if ((result = queries[i].row(o, stmt, err)) < 0)
                break;
        result = sql_end(stmt, result, err);
        if (i == 0 && o->client_count)
            qsort(o->clients, o->client_count, sizeof(*o->clients), compare);
    }
    return result;
}
