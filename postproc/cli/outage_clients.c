/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_clients.c
 *
 * What became of the clients of each outage, and how often each status came before and after it.
 * All replies are read once, whatever the number of outages; what is rarer is read for each.  For
 * outage_find.c.  The contract is in outage.h.
 */
#include "base/grow.h"
#include "cli/outage.h"
#include "record/record.h"
#include "store/failure.h"
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
    struct outage *o = ctx;
    struct outage_packet p = packet(stmt, 1);

    if (!c || !waits(c, p.time))
        return 0;
    c->unanswered++;
    if (p.time >= o->begin)
        tries(c, &p);
    if (o->unanswered_count >= o->top)
        return 0;
    if (GROW(o->unanswered, o->unanswered_count, o->unanswered_cap) < 0)
        return err_memory(err, "calls");
    o->unanswered[o->unanswered_count++] = sqlite3_column_int64(stmt, 4);
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

/* A reply to |c| that came at |p|: |error| is its status, or NULL. */
static void answers(struct outage_client *c, const struct outage_packet *p, const char *error)
{
    if (c->first_reply.time == TIME_NONE || p->time < c->first_reply.time)
        c->first_reply = *p;
    c->answered++;
    c->errors += error != NULL;
}

static int count_status(struct outage *o, const char *name, bool before, struct err *err)
{
    struct outage_status *s = NULL;

    for (uint32_t i = 0; i < o->status_count && !s; i++)
        if (strcmp(o->statuses[i].name, name) == 0)
            s = &o->statuses[i];
    if (!s) {
        if (GROW(o->statuses, o->status_count, o->status_cap) < 0)
            return err_memory(err, "statuses");
        s = &o->statuses[o->status_count];
        *s = (struct outage_status){ .name = strdup(name) };
        if (!s->name)
            return err_memory(err, "statuses");
        o->status_count++;
    }
    (*(before ? &s->before : &s->after))++;
    return 0;
}

/* A reply of the service of |o|, which does not end before it. */
static int before(struct outage *o, const char *client, const struct outage_packet *p,
                  const char *error, struct err *err)
{
    struct outage_client *c = find(o, client);

    if (c && (c->last_reply.time == TIME_NONE || p->time > c->last_reply.time))
        c->last_reply = *p;
    return error && p->time >= o->before ? count_status(o, error, true, err) : 0;
}

/* The same for the outage that ended last before it. */
static int behind(struct outage *o, const char *client, const struct outage_packet *p,
                  const char *error, struct err *err)
{
    struct outage_client *c = find(o, client);

    if (o->first_reply.time == TIME_NONE || p->time < o->end ||
        (o->next != INT64_MAX && p->time >= o->next))
        return 0;
    if (c)
        answers(c, p, error);
    return error ? count_status(o, error, false, err) : 0;
}

/* Where the outages of each service begin, and an end; there are few services. */
struct services {
    struct outages *all;
    uint32_t *starts, count, cap;
};

static int list_services(struct services *s, struct err *err)
{
    for (uint32_t i = 0; i <= s->all->count; i++) {
        const struct outage *o = &s->all->list[i];

        if (i && i < s->all->count && o->port == o[-1].port && strcmp(o->server, o[-1].server) == 0)
            continue;
        if (GROW(s->starts, s->count, s->cap) < 0)
            return err_memory(err, "services");
        s->starts[s->count++] = i;
    }
    return 0;
}

/* A row of |replies|: client, time, source, frame, error, server, port. */
static int reply(const struct services *s, sqlite3_stmt *stmt, struct err *err)
{
    const char *server = sql_column_text(stmt, 5), *client = sql_column_text(stmt, 0);
    const char *error = sql_column_text(stmt, 4);
    struct outage_packet p = packet(stmt, 1);
    struct outage *list = s->all->list;
    int port = sqlite3_column_int(stmt, 6);
    uint32_t low, high, at = 0;

    while (at + 1 < s->count &&
           (list[s->starts[at]].port != port || strcmp(list[s->starts[at]].server, server) != 0))
        at++;
    if (at + 1 == s->count)
        return 0; /* a service without outages */
    low = s->starts[at];
    high = s->starts[at + 1];
    while (low < high) { /* the first one that begins with this reply, or later */
        uint32_t middle = low + (high - low) / 2;

        if (list[middle].begin < p.time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < s->starts[at + 1] && before(&list[low], client, &p, error, err) < 0)
        return -err->code;
    return low > s->starts[at] ? behind(&list[low - 1], client, &p, error, err) : 0;
}

static int compare_statuses(const void *left, const void *right)
{
    const struct outage_status *a = left, *b = right;

    if (a->after != b->after)
        return a->after > b->after ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* A client's last reply before an outage may have come before the outage before. */
static void inherit(struct outages *all)
{
    for (uint32_t i = 1; i < all->count; i++) {
        struct outage *o = &all->list[i];

        for (uint32_t k = 0; o->before != INT64_MIN && k < o->client_count; k++) {
            struct outage_client *c = &o->clients[k], *was = find(o - 1, c->address);

            if (c->last_reply.time == TIME_NONE && was)
                c->last_reply = was->last_reply;
        }
    }
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
    { "SELECT f.client, r.time, r.source, r.frame FROM retransmission r"
      " JOIN flow f ON f.id = r.flow WHERE r.kind = 1 AND r.time BETWEEN ?7 AND ?9"
      " AND" TRAFFIC_OF("f.client", "f.server", "r.time") SERVICE_OF_FLOW,
      resent_call },
    { "SELECT o.client, o.call_time, o.call_source, o.call_frame, o.id FROM operation o"
      " JOIN flow f ON f.id = o.flow WHERE o.pairing <> 0 AND o.reply_frame IS NULL"
      " AND o.call_time BETWEEN ?7 - 60000000000 AND ?9 AND" TRAFFIC_OPERATION SERVICE_OF_FLOW,
      unanswered_call },
    { "SELECT e.client, e.time, e.source, e.frame, e.event, e.direction, e.count, e.value,"
      " e.last_time, e.last_frame FROM connection_event e WHERE e.time BETWEEN ?7 AND ?9"
      " AND" TRAFFIC_EVENT " AND e.server = ?5 AND e.server_port = ?6 ORDER BY e.time, e.frame",
      event },
};

static const char replies[] =
    "SELECT o.client, o.reply_time, o.reply_source, o.reply_frame,"
    " CASE WHEN o.rpc_status <> 0 THEN ifnull((SELECT c.name FROM code c"
    "   WHERE c.domain = 'rpc_status' AND c.value = o.rpc_status), o.rpc_status)"
    "  WHEN " FAILURE_SQL " THEN ifnull((SELECT s.name FROM status_name s"
    "   WHERE s.program = o.program AND s.version = o.version AND s.procedure = o.procedure"
    "   AND s.status = o.status), o.status) END,"
    " f.server, f.server_port FROM operation o JOIN flow f ON f.id = o.flow"
    " WHERE o.reply_time IS NOT NULL AND" TRAFFIC_OPERATION;

static int read_replies(sqlite3 *db, const struct outage_request *request, struct outages *all,
                        struct err *err)
{
    struct services services = { .all = all };
    sqlite3_stmt *stmt = NULL;
    int result = list_services(&services, err);

    if (result == 0)
        result = traffic_prepare(&request->traffic, db, replies, &stmt, err);
    while (result >= 0 && (result = sql_row(stmt, err)) > 0)
        result = reply(&services, stmt, err);
    inherit(all);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].status_count)
            qsort(all->list[i].statuses, all->list[i].status_count, sizeof(*all->list[i].statuses),
                  compare_statuses);
    free(services.starts);
    return stmt ? sql_end(stmt, result, err) : result;
}

/* One of |queries|, for one outage. */
static int ask(sqlite3 *db, const struct outage_request *request, struct outage *o, size_t query,
               struct err *err)
{
    sqlite3_stmt *stmt;
    int result = prepare(db, request, o, queries[query].sql, &stmt, err);

    if (result < 0)
        return result;
    while ((result = sql_row(stmt, err)) > 0)
        if ((result = queries[query].row(o, stmt, err)) < 0)
            break;
    return sql_end(stmt, result, err);
}

int outage_clients(sqlite3 *db, const struct outage_request *request, struct outages *all,
                   struct err *err)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct outage *o = &all->list[i];

        o->top = request->top;
        if (ask(db, request, o, 0, err) < 0)
            return -err->code;
        if (o->client_count)
            qsort(o->clients, o->client_count, sizeof(*o->clients), compare);
    }
    if (all->count && read_replies(db, request, all, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < all->count; i++)
        for (size_t query = 1; query < sizeof(queries) / sizeof(*queries); query++)
            if (ask(db, request, &all->list[i], query, err) < 0)
                return -err->code;
    return 0;
}
