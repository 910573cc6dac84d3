/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/hang_events.c
 *
 * What happened to a connection since its oldest call that waits, and who that speaks against.  For
 * hang_find.c.  The contract is in hang.h.
 */
#include "cli/hang.h"
#include "store/sql.h"

#include <netinet/in.h>
#include <string.h>

#define PORTS_SPAN INT64_C(60000000000) /* ns: TIME_WAIT of Linux */

/* Events of the client with the service. */
static const char events[] =
    "SELECT e.event, e.direction, e.client_port = ?4, e.time, e.last_time, e.count, e.value,"
    " e.client_port FROM connection_event e WHERE e.client = ?1 AND e.server = ?2"
    " AND e.server_port = ?3 AND e.time <= ?6 AND e.last_time >= ?5 ORDER BY e.time";

/* The window was closed at the point in time: it opened later, or not at all. */
static bool is_shut(int64_t time, int64_t last, int64_t value, int64_t at)
{
    bool opened = value > last - time || (value && value == last - time);

    return opened ? time + value > at : true;
}

static void add_event(struct hang_connection *c, sqlite3_stmt *stmt, int64_t at)
{
    int event = sqlite3_column_int(stmt, 0), direction = sqlite3_column_int(stmt, 1);
    bool own = sqlite3_column_int(stmt, 2);
    int64_t time = sqlite3_column_int64(stmt, 3), last = sqlite3_column_int64(stmt, 4);
    uint64_t count = (uint64_t)sqlite3_column_int64(stmt, 5);
    int64_t value = sqlite3_column_int64(stmt, 6);

    switch (event) {
    case EVENT_SYN:
        c->syns += count;
        c->attempts += (uint64_t)value;
        if (own && c->called < time)
            c->reused += (uint64_t)value;
        break;
    case EVENT_SYN_ACK:
        c->accepted++;
        break;
    case EVENT_REFUSED:
        c->refused += count;
        break;
    case EVENT_FIN:
        c->closed += own;
        break;
    case EVENT_RST:
        c->resets += own;
        break;
    case EVENT_RESENT:
        c->resent += own && !direction ? count : 0;
        c->resent_back += own && direction ? count : 0;
        break;
    case EVENT_ZERO_WINDOW:
        if (own && is_shut(time, last, value, at))
            c->shut[direction] = true;
        break;
    case EVENT_KEEP_ALIVE:
        c->keep_alives += own ? count : 0;
        break;
    }
}

static int read_events(sqlite3 *db, const struct hang_request *request, struct hang_connection *c,
                       struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, events, &stmt, err);

    if (result < 0)
        return result;
    sql_bind_text(stmt, 1, c->client);
    sql_bind_text(stmt, 2, c->server);
    sqlite3_bind_int(stmt, 3, c->server_port);
    sqlite3_bind_int(stmt, 4, c->client_port);
    sqlite3_bind_int64(stmt, 5, c->called);
    sqlite3_bind_int64(stmt, 6, request->at);
    while ((result = sql_row(stmt, err)) > 0)
        add_event(c, stmt, request->at);
    return sql_end(stmt, result, err);
}

/* Runs |sql| with the connection's flow, its client, the span, and gives the one number. */
static int number(sqlite3 *db, const char *sql, const struct hang_connection *c, int64_t from,
                  int64_t to, int64_t *value, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db, sql, &stmt, err);

    if (result < 0)
        return result;
    sqlite3_bind_int64(stmt, 1, c->flow);
    sql_bind_text(stmt, 2, c->client);
    sqlite3_bind_int64(stmt, 3, from);
    sqlite3_bind_int64(stmt, 4, to);
    result = sql_row(stmt, err);
    if (result > 0)
        *value = sql_column(stmt, 0, INT64_MIN);
    return sql_end(stmt, result < 0 ? result : 0, err);
}

static enum hang_verdict judge(const struct hang_connection *c)
{
    if (c->transport != IPPROTO_TCP)
        return HANG_UNKNOWN;
    if (c->refused && !c->accepted)
        return HANG_REFUSED;
    if (c->attempts && !c->accepted)
        return c->reused ? HANG_REUSE : HANG_CONNECT;
    if (c->shut[0])
        return HANG_CLIENT;
    if (c->shut[1])
        return HANG_WINDOW;
    if (c->resent_back)
        return HANG_REPLY_LOST;
    if (c->resent)
        return HANG_LOST;
    return (c->resets || c->closed) && !c->accepted ? HANG_ENDED : HANG_SERVER;
}

/* Where the calls are tells more than what is sent again. */
static enum hang_verdict judge_far(const struct hang_connection *c, enum hang_verdict near)
{
    const struct hang_far *f = &c->far;

    if ((near != HANG_SERVER && near != HANG_LOST && near != HANG_REPLY_LOST &&
         near != HANG_UNKNOWN) ||
        (!f->lost && !f->held && !f->answered))
        return near;
    if (f->lost > f->held && f->lost > f->answered)
        return HANG_LOST;
    return f->answered > f->held ? HANG_REPLY_LOST : HANG_SERVER;
}

int hang_events(sqlite3 *db, const struct hang_request *request, struct hang_connection *c,
                struct err *err)
{
    int64_t resent = 0, ports = 0;

    if (read_events(db, request, c, err) < 0 ||
        number(db,
               "SELECT max(reply_time) FROM (SELECT o.reply_time FROM operation o"
               " WHERE o.flow = ?1 AND o.client = ?2 AND o.reply_time BETWEEN ?3 AND ?4"
               " AND ifnull(o.call_time, o.reply_time) <= ?4"
               " ORDER BY ifnull(o.call_time, o.reply_time) DESC LIMIT 256)", /* by the index */
               c, request->traffic.first, request->at, &c->last_reply, err) < 0 ||
        number(db,
               "SELECT count(*) FROM retransmission r JOIN operation o ON o.id = r.operation"
               " WHERE r.kind = 1 AND o.flow = ?1 AND o.client = ?2 AND r.time BETWEEN ?3 AND ?4",
               c, c->called, request->at, &resent, err) < 0 ||
        number(db,
               "SELECT count(DISTINCT e.client_port) FROM connection_event e WHERE e.event = 1"
               " AND ?1 = ?1 AND e.client = ?2 AND e.client_port < 1024"
               " AND e.time BETWEEN ?3 AND ?4",
               c, request->at - PORTS_SPAN, request->at, &ports, err) < 0)
        return -err->code;
    c->resent_calls = (uint64_t)resent;
    c->ports = (uint64_t)ports;
    c->verdict = judge_far(c, judge(c));
    return 0;
}

static const struct {
    const char *name, *text;
} verdicts[HANG_VERDICTS] = {
    [HANG_UNKNOWN] = { "unknown", "the trace does not tell why" },
    [HANG_REFUSED] = { "refused", "the server refuses connections: nothing listens on this port" },
    [HANG_REUSE] = { "reuse", "an attempt to connect from the ports of the old connection is not"
                              " answered: the server, or something between, still has that one" },
    [HANG_CONNECT] = { "connect", "attempts to connect are not answered: the network, or a server"
                                  " that is gone or accepts no more" },
    [HANG_CLIENT] = { "client", "the client's window is closed: it does not read its replies" },
    [HANG_WINDOW] = { "server-window",
                      "the server's window is closed: it does not read its calls" },
    [HANG_LOST] = { "network", "what the client sends is not acknowledged: the network, or the"
                               " server's machine is gone" },
    [HANG_REPLY_LOST] = { "network-back", "what the server sends does not reach the client: the"
                                          " network, or the client's machine is gone" },
    [HANG_ENDED] = { "ended", "the connection ended, and the client has not begun another one" },
    [HANG_SERVER] = { "server", "the server has the call, and does not answer" },
};

const char *hang_verdict_name(enum hang_verdict verdict)
{
    return verdicts[verdict].name;
}

const char *hang_verdict_text(enum hang_verdict verdict)
{
    return verdicts[verdict].text;
}
