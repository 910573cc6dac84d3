/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_find.c
 *
 * Finds outages: reads what happened to each service in the order of time, and so knows of each gap
 * between two replies since when somebody waited in it.  The contract is in outage.h.
 */
#include "base/grow.h"
#include "cli/outage.h"
#include "record/record.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct service {
    char server[ADDRESS_TEXT_MAX];
    int port;
};

/* A connection that a server ended, or refused. */
struct mark {
    uint32_t service;
    uint8_t event;
    int64_t time, born; /* |born|: of the connection, INT64_MAX: it has none */
};

/* The time between two replies of a service. */
struct gap {
    uint32_t service;
    struct outage_packet from, to; /* the replies, or no packet at the ends of the trace */
    int64_t begin, end, waits;     /* |waits|: since when somebody does, INT64_MAX: nobody */
    uint32_t first_mark, marks;    /* in the list of marks */
};

struct finder {
    sqlite3 *db;
    const struct outage_request *request;
    struct service *services;
    uint32_t service_count, service_cap;
    struct mark *marks;
    uint32_t mark_count, mark_cap;
    struct gap gap;         /* that the reading is in */
    uint64_t outstanding;   /* calls of its service that are answered later */
    int64_t longest, since; /* as in struct outages */
};

/* Columns 0 and 1 are those of a service: its number, in the order in which they come first. */
static int service_of(struct finder *f, sqlite3_stmt *stmt, uint32_t *number, struct err *err)
{
    const char *server = sql_column_text(stmt, 0);
    int port = sqlite3_column_int(stmt, 1);
    uint32_t i = f->service_count;

    while (i-- > 0) /* the latest first: rows come in their order */
        if (f->services[i].port == port && strcmp(f->services[i].server, server) == 0) {
            *number = i;
            return 0;
        }
    if (GROW(f->services, f->service_count, f->service_cap) < 0)
        return err_memory(err, "services");
    *number = f->service_count++;
    snprintf(f->services[*number].server, ADDRESS_TEXT_MAX, "%s", server);
    f->services[*number].port = port;
    return 0;
}

/* What a server ended though the client had not. */
static int read_marks(struct finder *f, struct err *err)
{
    static const char sql[] =
        "SELECT e.server, e.server_port, e.time, e.event, (SELECT f.time FROM flow f"
        " WHERE f.id = e.flow) FROM connection_event e WHERE e.direction = 1"
        " AND e.event IN (3, 4, 5) AND e.time IS NOT NULL AND (e.event = 3 OR e.flow IS NOT NULL)"
        " AND NOT EXISTS (SELECT 1 FROM connection_event c WHERE c.flow = e.flow"
        "  AND c.direction = 0 AND c.event IN (4, 5) AND c.time <= e.time) AND" TRAFFIC_EVENT
        " ORDER BY e.server, e.server_port, e.time";
    sqlite3_stmt *stmt;
    int result = traffic_prepare(&f->request->traffic, f->db, sql, &stmt, err);

    if (result < 0)
        return result;
    while ((result = sql_row(stmt, err)) > 0) {
        uint32_t service;

        if ((result = service_of(f, stmt, &service, err)) < 0)
            break;
        if (GROW(f->marks, f->mark_count, f->mark_cap) < 0) {
            result = err_memory(err, "connections");
            break;
        }
        f->marks[f->mark_count++] = (struct mark){ .service = service,
                                                   .event = (uint8_t)sqlite3_column_int(stmt, 3),
                                                   .time = sqlite3_column_int64(stmt, 2),
                                                   .born = sql_column(stmt, 4, INT64_MAX) };
    }
    return sql_end(stmt, result, err);
}

/* The first mark of |service| behind |time|. */
static uint32_t mark_after(const struct finder *f, uint32_t service, int64_t time)
{
    uint32_t low = 0, high = f->mark_count;

    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        const struct mark *m = &f->marks[at];

        if (m->service < service || (m->service == service && m->time <= time))
            low = at + 1;
        else
            high = at;
    }
    return low;
}

/* Of a gap in which somebody waited. */
static bool is_outage(const struct finder *f, const struct gap *g, const struct outage *before)
{
    int64_t waited = g->end - g->waits;

    if (waited >= f->request->silence)
        return true;
    for (uint32_t i = g->first_mark; i < g->first_mark + g->marks; i++) {
        const struct mark *m = &f->marks[i];

        if (before && m->born < before->end)
            continue;
        if (m->event != EVENT_FIN || waited >= OUTAGE_CLOSED)
            return true;
    }
    return false;
}

static int add_outage(struct finder *f, const struct gap *g, struct outages *all, struct err *err)
{
    const struct service *s = &f->services[g->service];
    struct outage *last = all->count ? &all->list[all->count - 1] : NULL;

    if (last && (last->port != s->port || strcmp(last->server, s->server) != 0))
        last = NULL;
    if (!is_outage(f, g, last))
        return 0;
    if (last && g->begin - last->end < f->request->silence) {
        last->first_reply = g->to;
        last->end = g->end;
        if (g->end - g->waits > last->waited)
            last->waited = g->end - g->waits;
        return 0;
    }
    if (GROW(all->list, all->count, all->cap) < 0)
        return err_memory(err, "outages");
    if (last)
        all->list[all->count - 1].next = g->begin;
    all->list[all->count] = (struct outage){
        .port = s->port,
        .last_reply = g->from,
        .first_reply = g->to,
        .begin = g->begin,
        .end = g->end,
        .waited = g->end - g->waits,
        .before = last ? all->list[all->count - 1].end : INT64_MIN,
        .next = INT64_MAX,
    };
    memcpy(all->list[all->count++].server, s->server, sizeof(s->server));
    return 0;
}

/* Somebody asks the service for something at |time|. */
static void asks(struct gap *gap, int64_t time)
{
    if (time < gap->begin)
        time = gap->begin;
    if (time < gap->waits)
        gap->waits = time;
}

/* The gap ends at |end|: with the reply |to|, or with the trace. */
static int end_gap(struct finder *f, const struct outage_packet *to, int64_t end,
                   struct outages *all, struct err *err)
{
    struct gap *g = &f->gap;

    g->to = *to;
    g->end = end;
    if (g->waits >= end)
        return 0;
    if (end - g->waits > f->longest) {
        f->longest = end - g->waits;
        f->since = g->waits;
    }
    g->first_mark = mark_after(f, g->service, g->begin);
    g->marks = mark_after(f, g->service, end) - g->first_mark;
    return add_outage(f, g, all, err);
}

/* The last gap of a service ends with the trace.  A service without a reply has none. */
static int end_service(struct finder *f, struct outages *all, struct err *err)
{
    static const struct outage_packet nothing = { TIME_NONE, 0, 0 };
    const struct traffic *t = &f->request->traffic;

    return f->gap.from.time == TIME_NONE
               ? 0
               : end_gap(f, &nothing, t->to != INT64_MIN && t->to < t->last ? t->to : t->last, all,
                         err);
}

static void begin_gap(struct finder *f, const struct outage_packet *from, int64_t begin)
{
    f->gap = (struct gap){ .service = f->gap.service,
                           .from = *from,
                           .begin = begin,
                           .waits = f->outstanding ? begin : INT64_MAX };
}

/* What happens to a service, in the order of |time|; replies come first, for a gap begins with
 * one. */
enum { REPLY, CALL, ASKED };

/* clang-format off */
static const char happenings[] =
    "SELECT f.server, f.server_port, o.reply_time AS time, 0, o.reply_source, o.reply_frame,"
    " o.call_time < o.reply_time FROM operation o JOIN flow f ON f.id = o.flow"
    " WHERE o.reply_time IS NOT NULL AND" TRAFFIC_OPERATION
    /* 1: a call until its reply */
    " UNION ALL SELECT f.server, f.server_port, o.call_time, 1, NULL, NULL, NULL"
    " FROM operation o JOIN flow f ON f.id = o.flow"
    " WHERE o.call_time < o.reply_time AND" TRAFFIC_OPERATION
    /* 2: calls that nobody answered, calls and segments that were sent again, and SYNs.  A SYN that
     * was answered at once waits for nothing. */
    " UNION ALL SELECT f.server, f.server_port, o.call_time, 2, NULL, NULL, NULL"
    " FROM operation o JOIN flow f ON f.id = o.flow WHERE o.pairing <> 0"
    " AND o.reply_frame IS NULL AND o.call_time IS NOT NULL AND" TRAFFIC_OPERATION
    " UNION ALL SELECT f.server, f.server_port, r.time, 2, NULL, NULL, NULL"
    " FROM retransmission r JOIN flow f ON f.id = r.flow WHERE r.kind = 1"
    " AND r.time IS NOT NULL AND" TRAFFIC_OF("f.client", "f.server", "r.time")
    " UNION ALL SELECT e.server, e.server_port, w.time, 2, NULL, NULL, NULL"
    " FROM connection_event e JOIN (SELECT id, time FROM connection_event"
    "  UNION ALL SELECT id, last_time FROM connection_event) w ON w.id = e.id"
    " WHERE w.time IS NOT NULL AND e.direction = 0 AND (e.event = 6 OR (e.event = 1"
    " AND (e.count > 1 OR NOT EXISTS (SELECT 1 FROM connection_event a WHERE a.flow = e.flow"
    " AND a.event = 2)))) AND" TRAFFIC_EVENT
    " ORDER BY 1, 2, 3, 4";
/* clang-format on */

static int take_happening(struct finder *f, sqlite3_stmt *stmt, struct outages *all,
                          struct err *err)
{
    int64_t time = sqlite3_column_int64(stmt, 2);
    struct outage_packet reply;
    int result;

    switch (sqlite3_column_int(stmt, 3)) {
    case CALL:
        f->outstanding++;
        asks(&f->gap, time);
        return 0;
    case ASKED:
        asks(&f->gap, time);
        return 0;
    default: /* REPLY */
        reply = (struct outage_packet){ time, sqlite3_column_int64(stmt, 4),
                                        sqlite3_column_int64(stmt, 5) };
        result = end_gap(f, &reply, time, all, err);
        f->outstanding -= sqlite3_column_int(stmt, 6) != 0 && f->outstanding;
        begin_gap(f, &reply, time);
        return result;
    }
}

static int read_gaps(struct finder *f, struct outages *all, struct err *err)
{
    static const struct outage_packet nothing = { TIME_NONE, 0, 0 };
    const struct traffic *t = &f->request->traffic;
    int64_t start = t->from != INT64_MIN && t->from > t->first ? t->from : t->first;
    uint32_t service = UINT32_MAX;
    sqlite3_stmt *stmt;
    int result = traffic_prepare(t, f->db, happenings, &stmt, err);

    if (result < 0)
        return result;
    f->gap.from = nothing;
    while ((result = sql_row(stmt, err)) > 0) {
        uint32_t of = 0;

        if ((result = service_of(f, stmt, &of, err)) < 0)
            break;
        if (of != service) {
            if ((result = end_service(f, all, err)) < 0)
                break;
            f->gap.service = service = of;
            f->outstanding = 0;
            begin_gap(f, &nothing, start);
        }
        if ((result = take_happening(f, stmt, all, err)) < 0)
            break;
    }
    if (result == 0)
        result = end_service(f, all, err);
    return sql_end(stmt, result, err);
}

static int find(struct finder *f, struct outages *all, struct err *err)
{
    if (read_marks(f, err) < 0 || read_gaps(f, all, err) < 0)
        return -err->code;
    all->services = f->service_count;
    if (!all->count) {
        all->longest = f->longest;
        all->since = f->since;
    }
    return 0;
}

int outages_find(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                 struct err *err)
{
    struct finder f = { .db = db, .request = request };
    int64_t events, tcp = 0;
    int result = sql_number(db, "SELECT EXISTS (SELECT 1 FROM connection_event)", 0, &events, err);

    if (result == 0)
        result =
            sql_number(db, "SELECT EXISTS (SELECT 1 FROM flow WHERE transport = 6)", 0, &tcp, err);
    *outages = (struct outages){ .events = result == 0 && events, .tcp = tcp };
    if (result == 0)
        result = find(&f, outages, err);
    free(f.services);
    free(f.marks);
    if (result == 0)
        result = outage_clients(db, request, outages, err);
    if (result == 0 && outages->count)
        result = outage_differences(db, request, outages, err);
    return result;
}

void outages_free(struct outages *outages)
{
    for (uint32_t i = 0; i < outages->count; i++) {
        struct outage *o = &outages->list[i];

        for (uint32_t k = 0; k < o->status_count; k++)
            free(o->statuses[k].name);
        for (uint32_t k = 0; k < o->difference_count; k++)
            free(o->differences[k].text);
        free(o->clients);
        free(o->lost_writes);
        free(o->unanswered);
        free(o->statuses);
        free(o->differences);
    }
    free(outages->list);
}
