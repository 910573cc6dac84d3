/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/info_print_parts.h"
#include "store/sql.h"

const char info_sources[] =
    "SELECT id, name, kind, state, note, size, digest, frames, operations, calls, replies,"
    " retransmissions, copies, problems, first_time, last_time FROM source ORDER BY id";
const char info_totals[] =
    "SELECT (SELECT count(*) FROM source) AS sources, (SELECT sum(frames) FROM source) AS frames,"
    " (SELECT min(first_time) FROM source) AS first_time,"
    " (SELECT max(last_time) FROM source) AS last_time,"
    " ?1 AS operations, ?2 AS calls, ?3 AS replies,"
    " (SELECT count(*) FROM retransmission WHERE kind = 1) AS retransmitted_calls,"
    " (SELECT count(*) FROM retransmission WHERE kind = 2) AS further_replies,"
    " (SELECT count(*) FROM copy WHERE kind = 3) AS copies_of_calls,"
    " (SELECT count(*) FROM copy WHERE kind = 4) AS copies_of_replies,"
    " ?4 AS partial_calls, ?5 AS partial_replies,"
    " (SELECT count(*) FROM object) AS objects, (SELECT count(*) FROM path) AS paths,"
    " (SELECT count(DISTINCT client) FROM flow) AS clients,"
    " (SELECT count(DISTINCT server) FROM flow) AS servers";
/* Up to ten, with their ports; --by server has them all. */
const char info_servers[] =
    "SELECT row_number() OVER (ORDER BY server), server, group_concat(server_port, ', ') FROM"
    " (SELECT DISTINCT server, server_port FROM flow ORDER BY server, server_port)"
    " GROUP BY server ORDER BY server LIMIT 10";
const char info_pairing[] =
    "SELECT name AS pairing, CASE value WHEN 0 THEN ?1 WHEN 1 THEN ?2 WHEN 2 THEN ?3 WHEN 3 THEN ?4"
    " WHEN 4 THEN ?5 END AS operations FROM code WHERE domain = 'pairing' ORDER BY value";
const char info_phases[] =
    "SELECT name AS phase, client, start, stop, start_operation, stop_operation FROM phase"
    " ORDER BY start, start_operation";
const char info_problems[] =
    "SELECT c.name AS problem, count(*) AS count, sum(p.length) AS bytes FROM problem p"
    " JOIN code c ON c.domain = 'problem' AND c.value = p.kind GROUP BY p.kind ORDER BY p.kind";
const char info_counters[] =
    "SELECT name, sum(value) AS value FROM counter GROUP BY name ORDER BY name";

int info_prepare(const struct info_view *view, const char *sql, sqlite3_stmt **stmt,
                 struct err *err)
{
    const struct groups_totals *t = &view->groups.totals;
    const uint64_t totals[] = { t->operations, t->calls, t->replies, t->partial_calls,
                                t->partial_replies };
    const uint64_t *numbers = sql == info_totals ? totals : t->pairing;

    _Static_assert(sizeof(totals) == sizeof(t->pairing), "each query with numbers takes five");
    if (sql_prepare(view->db, sql, stmt, err) < 0)
        return -err->code;
    for (int i = 0; i < sqlite3_bind_parameter_count(*stmt); i++)
        sqlite3_bind_int64(*stmt, i + 1, (int64_t)numbers[i]);
    return 0;
}

int info_matching(const struct info_view *view, struct info_matching *m, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_number(view->db, "SELECT sum(operations) FROM source", 0, &m->of, err) < 0 ||
        filter_prepare(view->db, view->filter,
                       "SELECT sum(r.kind = 1), sum(r.kind = 2) FROM retransmission r"
                       " CROSS JOIN operation o ON o.id = r.operation",
                       &stmt, err) < 0)
        return -err->code;
    result = sql_row(stmt, err);
    m->retransmitted_calls = result > 0 ? sqlite3_column_int64(stmt, 0) : 0;
    m->further_replies = result > 0 ? sqlite3_column_int64(stmt, 1) : 0;
    return sql_end(stmt, result < 0 ? result : 0, err);
}

static int add_unopened(void *ctx, sqlite3_stmt *stmt, struct err *err)
{
    (void)err;
    unopened_add(ctx, sql_column_text(stmt, 0), (uint64_t)sqlite3_column_int64(stmt, 1), NULL);
    return 0;
}

int info_unopened(sqlite3 *db, struct unopened *unopened, struct err *err)
{
    *unopened = (struct unopened){ 0 };
    return sql_each(db, info_counters, add_unopened, unopened, err);
}
