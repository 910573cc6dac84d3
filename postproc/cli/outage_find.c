/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_find.c
 *
 * Finds outages: reads all replies in the order of services and times, keeps the spans between them
 * that are long or in which a server ended a connection, and finds out since when somebody waited
 * in each.  The contract is in outage.h.
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

struct gap {
    uint32_t service;
    struct outage_packet from, to; /* the replies, or no packet at the ends of the trace */
    int64_t begin, end, waits;     /* |waits|: since when, INT64_MAX: nobody does */
    uint32_t first_mark, marks;    /* in the list of marks */
};

struct finder {
    sqlite3 *db;
    const struct outage_request *request;
    struct service *services;
    uint32_t service_count, service_cap;
    struct mark *marks;
    uint32_t mark_count, mark_cap;
    struct gap *gaps;
    uint32_t gap_count, gap_cap;
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

/* Keeps the span if it may be an outage. */
static int add_gap(struct finder *f, const struct gap *gap, bool always, struct err *err)
{
    uint32_t first = mark_after(f, gap->service, gap->begin);
    uint32_t behind = mark_after(f, gap->service, gap->end);
    struct gap *to;

    if (!always && first == behind && gap->end - gap->begin < f->request->silence)
        return 0;
    if (GROW(f->gaps, f->gap_count, f->gap_cap) < 0)
        return err_memory(err, "spans without replies");
    to = &f->gaps[f->gap_count++];
    *to = *gap;
    to->first_mark = first;
    to->marks = behind - first;
    to->waits = INT64_MAX;
    return 0;
}

static void waits(struct gap *gap, int64_t since)
{
    if (since < gap->begin)
        since = gap->begin;
    if (since < gap->waits && since < gap->end)
        gap->waits = since;
}

/* Somebody waited in a span that may be too short to be kept. */
static void note_longest(struct finder *f, int64_t since, int64_t end)
{
    if (since < end && end - since > f->longest) {
        f->longest = end - since;
        f->since = since;
    }
}

/* The last span of a service ends with the trace. */
static int end_service(struct finder *f, uint32_t service, const struct outage_packet *last,
                       struct err *err)
{
    const struct traffic *t = &f->request->traffic;
    const struct gap gap = { .service = service,
                             .from = *last,
                             .to = { TIME_NONE, 0, 0 },
                             .begin = last->time,
                             .end = t->to != INT64_MIN && t->to < t->last ? t->to : t->last };

    return gap.end > gap.begin ? add_gap(f, &gap, true, err) : 0;
}

/* Reads all replies. */
static int read_gaps(struct finder *f, struct err *err)
{
    static const char sql[] =
        "SELECT f.server, f.server_port, o.reply_time, o.reply_source, o.reply_frame, o.call_time"
        " FROM operation o JOIN flow f ON f.id = o.flow WHERE o.reply_time IS NOT NULL"
        " AND" TRAFFIC_OPERATION " ORDER BY 1, 2, 3";
    const struct traffic *t = &f->request->traffic;
    int64_t start = t->from != INT64_MIN && t->from > t->first ? t->from : t->first;
    struct outage_packet last = { TIME_NONE, 0, 0 };
    uint32_t service = UINT32_MAX, of = 0;
    sqlite3_stmt *stmt;
    int result = traffic_prepare(t, f->db, sql, &stmt, err);

    if (result < 0)
        return result;
    while ((result = sql_row(stmt, err)) > 0) {
        struct outage_packet reply = { sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
                                       sqlite3_column_int64(stmt, 4) };
        int64_t called = sql_column(stmt, 5, INT64_MAX);
        struct gap gap = { .to = reply, .end = reply.time };

        if ((result = service_of(f, stmt, &of, err)) < 0)
            break;
        if (of != service) {
            if (service != UINT32_MAX && (result = end_service(f, service, &last, err)) < 0)
                break;
            last = (struct outage_packet){ TIME_NONE, 0, 0 };
            service = of;
        }
        gap.service = service;
        gap.from = last;
        gap.begin = last.time == TIME_NONE ? start : last.time;
        note_longest(f, called > gap.begin ? called : gap.begin, gap.end);
        if ((result = add_gap(f, &gap, false, err)) < 0)
            break;
        if (f->gap_count && f->gaps[f->gap_count - 1].service == service &&
            called < f->gaps[f->gap_count - 1].end)
            waits(&f->gaps[f->gap_count - 1], called);
        last = reply;
    }
    if (result == 0 && service != UINT32_MAX)
        result = end_service(f, service, &last, err);
    return sql_end(stmt, result, err);
}

static int compare_gaps(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;

    if (x->service != y->service)
        return x->service < y->service ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Somebody asks this service for something at |time|: the span that this falls into knows. */
static void asks(struct finder *f, uint32_t service, int64_t time)
{
    uint32_t low = 0, high = f->gap_count;

    while (low < high) { /* the last one that begins at |time| or before */
        uint32_t at = low + (high - low) / 2;
        const struct gap *g = &f->gaps[at];

        if (g->service < service || (g->service == service && g->begin <= time))
            low = at + 1;
        else
            high = at;
    }
    if (low && f->gaps[low - 1].service == service && time < f->gaps[low - 1].end)
        waits(&f->gaps[low - 1], time);
}

/* Calls that nobody answered, calls that were sent again, SYNs, segments that were sent again. */
static int read_waiting(struct finder *f, const char *sql, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = traffic_prepare(&f->request->traffic, f->db, sql, &stmt, err);

    if (result < 0)
        return result;
    while ((result = sql_row(stmt, err)) > 0) {
        uint32_t service;

        if ((result = service_of(f, stmt, &service, err)) < 0)
            break;
        for (int i = 2; i < sqlite3_column_count(stmt); i++)
            if (sqlite3_column_type(stmt, i) != SQLITE_NULL)
                asks(f, service, sqlite3_column_int64(stmt, i));
    }
    return sql_end(stmt, result, err);
}

static const char unanswered[] =
    "SELECT f.server, f.server_port, o.call_time FROM operation o JOIN flow f ON f.id = o.flow"
    " WHERE o.pairing <> 0 AND o.reply_frame IS NULL AND" TRAFFIC_OPERATION;
static const char sent_again[] =
    "SELECT f.server, f.server_port, r.time FROM retransmission r JOIN flow f ON f.id = r.flow"
    " WHERE r.kind = 1 AND" TRAFFIC_OF("f.client", "f.server", "r.time");
/* A SYN that was answered at once waits for nothing. */
static const char knocks[] =
    "SELECT e.server, e.server_port, e.time, e.last_time FROM connection_event e"
    " WHERE e.direction = 0 AND (e.event = 6 OR (e.event = 1 AND (e.count > 1 OR NOT EXISTS"
    " (SELECT 1 FROM connection_event a WHERE a.flow = e.flow AND a.event = 2)))) "
    "AND" TRAFFIC_EVENT;

static bool is_outage(const struct finder *f, const struct gap *g, const struct outage *before)
{
    int64_t waited = g->waits == INT64_MAX ? -1 : g->end - g->waits;

    if (waited >= f->request->silence)
        return true;
    for (uint32_t i = g->first_mark; waited >= 0 && i < g->first_mark + g->marks; i++) {
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
        .waited = g->waits == INT64_MAX ? 0 : g->end - g->waits,
        .before = last ? all->list[all->count - 1].end : INT64_MIN,
        .next = INT64_MAX,
    };
    memcpy(all->list[all->count++].server, s->server, sizeof(s->server));
    return 0;
}

static int find(struct finder *f, struct outages *all, struct err *err)
{
    if (read_marks(f, err) < 0 || read_gaps(f, err) < 0)
        return -err->code;
    if (f->gap_count)
        qsort(f->gaps, f->gap_count, sizeof(*f->gaps), compare_gaps);
    if (read_waiting(f, unanswered, err) < 0 || read_waiting(f, sent_again, err) < 0 ||
        read_waiting(f, knocks, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < f->gap_count; i++) {
        note_longest(f, f->gaps[i].waits, f->gaps[i].end);
        if (add_outage(f, &f->gaps[i], all, err) < 0)
            return -err->code;
    }
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
    free(f.gaps);
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
