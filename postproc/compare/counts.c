/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/counts.c
 *
 * How often requests were sent again, or answered again, and clients connected.
 */
#include "compare/compare_pairs.h"
#include "compare/row.h"

#include <stdio.h>

static bool is_more(const struct compare_rule *rule, const int64_t n[SIDES])
{
    uint64_t apart = (uint64_t)(n[REF] > n[SUT] ? n[REF] - n[SUT] : n[SUT] - n[REF]);

    return rule->kind != COMPARE_IGNORED &&
           apart > (rule->kind == COMPARE_TOLERANCE ? rule->amount : 0);
}

/* What comes more than once: calls; and replies, where further ones have other bytes than the
 * first. One that is the same may come from the network. */
struct repeated {
    enum difference_kind kind;
    enum rule_event event;
    const char *table, *where; /* what of table retransmission; NULL: of another one */
};
static const struct repeated calls = { KIND_RETRANSMISSION, EVENT_RETRANSMISSION, "again",
                                       "kind = 1" };
static const struct repeated replies = { KIND_OTHER_REPLIES, EVENT_OTHER_REPLIES, "other",
                                         "kind = 2 AND differs" };
static const struct repeated connections = { KIND_DISCONNECT, EVENT_DISCONNECT, NULL, NULL };

/* |n|: how many either side had. */
static int differ(struct pairs *p, const struct repeated *what, const int64_t n[SIDES],
                  const char *element, struct err *err)
{
    char texts[SIDES][24];
    struct difference d = { .kind = what->kind,
                            .field = rule_event_name(what->event),
                            .rule = rules_at(p->c->rules, p->c->rules->events[what->event]),
                            .object = p->pair.object,
                            .element = element,
                            .what = n[SUT] > n[REF] ? "sut more" : "sut fewer",
                            .text = { texts[REF], texts[SUT] },
                            .has_number = true,
                            .number = { (uint64_t)n[REF], (uint64_t)n[SUT] },
                            .half = { &p->pair.half[REF], &p->pair.half[SUT] } };

    for (int side = 0; side < SIDES; side++)
        snprintf(texts[side], sizeof(texts[side]), "%lld", (long long)n[side]);
    return found_put(p, &d, err);
}

/* %1$s: the table, %2$s: what */
static const char make_tables[] =
    "CREATE TEMP TABLE %1$s1 AS SELECT operation, count(*) AS n FROM ref.retransmission"
    " WHERE %2$s GROUP BY operation;"
    "CREATE TEMP TABLE %1$s2 AS SELECT operation, count(*) AS n FROM sut.retransmission"
    " WHERE %2$s GROUP BY operation;"
    "CREATE INDEX temp.%1$s1_by_operation ON %1$s1 (operation, n);"
    "CREATE INDEX temp.%1$s2_by_operation ON %1$s2 (operation, n);";

static const char count_rows[] =
    "SELECT count(*) + (SELECT count(*) FROM temp.%1$s2) FROM temp.%1$s1";

static const char select_again[] =
    "SELECT a.id, ifnull(a.object, 0), a.ref, a.sut, ifnull(r.n, 0) AS x, ifnull(s.n, 0) AS y"
    " FROM main.alignment a LEFT JOIN temp.%1$s1 r ON r.operation = a.ref"
    " LEFT JOIN temp.%1$s2 s ON s.operation = a.sut WHERE a.kind = 1 AND x <> y ORDER BY a.id";

static int compare_repeated(struct pairs *p, const struct repeated *what, struct err *err)
{
    const struct compare_rule *rule = rules_at(p->c->rules, p->c->rules->events[what->event]);
    sqlite3 *db = p->c->db;
    sqlite3_stmt *stmt;
    char sql[sizeof(make_tables) + 128];
    int64_t any;
    int result;

    if (rule->kind == COMPARE_IGNORED)
        return 0;
    snprintf(sql, sizeof(sql), make_tables, what->table, what->where);
    if (sql_run(db, sql, err) < 0)
        return -err->code;
    snprintf(sql, sizeof(sql), count_rows, what->table);
    if (sql_number(db, sql, 0, &any, err) < 0)
        return -err->code;
    if (!any)
        return 0;
    snprintf(sql, sizeof(sql), select_again, what->table);
    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0) {
        const int64_t n[SIDES] = { sqlite3_column_int64(stmt, 4), sqlite3_column_int64(stmt, 5) };

        if (!is_more(rule, n))
            continue;
        p->pair.id = sqlite3_column_int64(stmt, 0);
        p->pair.object = row_id(stmt, 1);
        if (pairs_load(p, REF, sqlite3_column_int64(stmt, 2), &p->pair.half[REF], err) < 0 ||
            pairs_load(p, SUT, sqlite3_column_int64(stmt, 3), &p->pair.half[SUT], err) < 0 ||
            differ(p, what, n, NULL, err) < 0) {
            result = -err->code;
            break;
        }
    }
    sqlite3_finalize(stmt);
    return result;
}

/* TCP connections of each client to the port of NFS. */
static const char select_connections[] =
    "WITH r AS (SELECT client, count(*) AS n FROM ref.flow WHERE transport = 6 AND"
    "  server = ifnull(?1, server) AND server_port = (SELECT f.server_port FROM ref.operation o"
    "  JOIN ref.flow f ON f.id = o.flow WHERE o.program = 100003 AND o.server ="
    "  ifnull(?1, o.server) LIMIT 1) GROUP BY client),"
    " s AS (SELECT client, count(*) AS n FROM sut.flow WHERE transport = 6 AND"
    "  server = ifnull(?2, server) AND server_port = (SELECT f.server_port FROM sut.operation o"
    "  JOIN sut.flow f ON f.id = o.flow WHERE o.program = 100003 AND o.server ="
    "  ifnull(?2, o.server) LIMIT 1) GROUP BY client)"
    " SELECT c.ref, r.n, s.n FROM main.client c JOIN r ON r.client = c.ref"
    " JOIN s ON s.client = c.sut WHERE r.n <> s.n ORDER BY c.id";

static int compare_connections(struct pairs *p, struct err *err)
{
    const struct compare_rule *rule = rules_at(p->c->rules, p->c->rules->events[EVENT_DISCONNECT]);
    sqlite3_stmt *stmt;
    int result;

    if (rule->kind == COMPARE_IGNORED)
        return 0;
    if (sql_prepare(p->c->db, select_connections, &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, p->c->side[REF].server);
    sql_bind_text(stmt, 2, p->c->side[SUT].server);
    p->pair.id = 0;
    p->pair.object = 0;
    for (int side = 0; side < SIDES; side++)
        if (pairs_load(p, side, 0, &p->pair.half[side], err) < 0) { /* none */
            sqlite3_finalize(stmt);
            return -err->code;
        }
    while ((result = sql_row(stmt, err)) > 0) {
        const int64_t n[SIDES] = { sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2) };

        if (is_more(rule, n) &&
            differ(p, &connections, n, (const char *)sqlite3_column_text(stmt, 0), err) < 0) {
            result = -err->code;
            break;
        }
    }
    sqlite3_finalize(stmt);
    return result;
}

int counts_compare(struct pairs *p, struct err *err)
{
    if (p->c->by_number) /* the player sends calls again and connects as it likes */
        return 0;
    if (compare_repeated(p, &calls, err) < 0 || compare_repeated(p, &replies, err) < 0)
        return -err->code;
    return compare_connections(p, err);
}
