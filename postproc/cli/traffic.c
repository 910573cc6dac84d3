/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/traffic.h"
#include "base/values.h"
#include "cli/filter_args.h"
#include "record/record.h"
#include "store/moment.h"
#include "store/sql.h"

#include <string.h>

void traffic_arg_table(struct traffic *t, struct arg table[TRAFFIC_ARG_COUNT])
{
    const struct arg rows[] = {
        { 0, "client", "ADDRESS", "only traffic of this client", set_text, &t->client_text },
        { 0, "server", "ADDRESS", "only traffic of this server", set_text, &t->server_text },
        { 'f', "from", "TIME",
          "only what was called at this time or later: 10:03,\n"
          "10:03:20.5 in UTC, +5m (after the first packet), -30s\n"
          "(before the last one), 2026-11-21 05:48:01.5 or\n"
          "seconds since 1970",
          set_text, &t->from_text },
        { 't', "to", "TIME", "only what was called before this time", set_text, &t->to_text },
        { 0 },
    };

    _Static_assert(sizeof(rows) / sizeof(*rows) == TRAFFIC_ARG_COUNT, "the table has all rows");
    memcpy(table, rows, sizeof(rows));
}

static int read_host(const char *text, char to[48], struct err *err)
{
    struct address address;

    to[0] = '\0';
    if (!text)
        return 0;
    if (!address_read(text, strlen(text), &address))
        return err_set(err, ERR_USAGE, "\"%.64s\" is not an IPv4 or IPv6 address", text);
    address_text(&address, to);
    return 0;
}

static int read_time(const char *option, const char *text, const struct moment_span *span,
                     int64_t *ns, struct err *err)
{
    *ns = INT64_MIN;
    if (text && moment_parse(text, span, ns, err) < 0)
        return err_prefix(err, "%s", option);
    return 0;
}

/* Says so if the trace has nothing that matches: no outage is no news then. */
static int say_none(const struct traffic *t, sqlite3 *db, struct err *err)
{
    static const char sql[] =
        "SELECT EXISTS (SELECT 1 FROM operation o WHERE" TRAFFIC_OPERATION ")"
        " OR EXISTS (SELECT 1 FROM connection_event e WHERE" TRAFFIC_EVENT ")";
    const struct filter filter = { .client = t->client[0] ? t->client : NULL,
                                   .from = t->from_text,
                                   .to = t->to_text };
    sqlite3_stmt *stmt;
    int result, found;

    if (!t->client[0] && !t->server[0] && !t->from_text && !t->to_text)
        return 0;
    result = traffic_prepare(t, db, sql, &stmt, err);
    if (result == 0)
        result = sql_row(stmt, err);
    found = result > 0 && sqlite3_column_int(stmt, 0);
    result = sql_end(stmt, result < 0 ? result : 0, err);
    return result < 0 || found ? result : filter_say_none(db, &filter, err);
}

int traffic_read(struct traffic *t, sqlite3 *db, struct err *err)
{
    char from[VALUE_TEXT_MAX], to[VALUE_TEXT_MAX];
    struct moment_span span;

    if (read_host(t->client_text, t->client, err) < 0 ||
        read_host(t->server_text, t->server, err) < 0 || moment_span_read(db, &span, err) < 0)
        return -err->code;
    if (!span.known)
        return err_set(err, ERR_INPUT, "no packet of the trace has a time");
    t->first = span.first;
    t->last = span.last;
    if (read_time("--from", t->from_text, &span, &t->from, err) < 0 ||
        read_time("--to", t->to_text, &span, &t->to, err) < 0)
        return -err->code;
    if (t->to_text && t->to < t->from)
        return err_set(err, ERR_USAGE, "--to (%s) is before --from (%s)", time_text(t->to, to),
                       time_text(t->from, from));
    return say_none(t, db, err);
}

int traffic_prepare(const struct traffic *t, sqlite3 *db, const char *sql, sqlite3_stmt **stmt,
                    struct err *err)
{
    if (sql_prepare(db, sql, stmt, err) < 0)
        return -err->code;
    sql_bind_text(*stmt, 1, t->client[0] ? t->client : NULL);
    sql_bind_text(*stmt, 2, t->server[0] ? t->server : NULL);
    sql_bind_unless(*stmt, 3, t->from, INT64_MIN);
    sql_bind_unless(*stmt, 4, t->to, INT64_MIN);
    return 0;
}
