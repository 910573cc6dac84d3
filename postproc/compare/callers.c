/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/callers.c
 *
 * Matches the callers of the two sides.
 */
#include "compare/compare_parts.h"

#include <stdio.h>

static const char make_tables[] =
    "CREATE TEMP TABLE caller1 (credential INTEGER PRIMARY KEY, number INTEGER NOT NULL);"
    "CREATE TEMP TABLE caller2 (credential INTEGER PRIMARY KEY, number INTEGER NOT NULL);";

/* By flavor, uid and gid; others in the order in which they appear. */
static const char find_unlike[] =
    "CREATE TEMP VIEW identity1 AS SELECT id, printf('%d %d %d', flavor, ifnull(uid, -1),"
    " ifnull(gid, -1)) AS text FROM ref.credential;"
    "CREATE TEMP VIEW identity2 AS SELECT id, printf('%d %d %d', flavor, ifnull(uid, -1),"
    " ifnull(gid, -1)) AS text FROM sut.credential;"
    "CREATE TEMP TABLE unlike1 AS SELECT row_number() OVER (ORDER BY min(id)) AS n, text FROM"
    " temp.identity1 WHERE text NOT IN (SELECT text FROM temp.identity2) GROUP BY text;"
    "CREATE TEMP TABLE unlike2 AS SELECT row_number() OVER (ORDER BY min(id)) AS n, text FROM"
    " temp.identity2 WHERE text NOT IN (SELECT text FROM temp.identity1) GROUP BY text;";

/* The numbers of the first side (%1$d), and of the other one (%2$d) by them. */
static const char number_callers[] =
    "CREATE TEMP TABLE number AS SELECT text, row_number() OVER (ORDER BY min(id)) AS number FROM"
    " temp.identity%1$d GROUP BY text;"
    "INSERT INTO temp.caller%1$d SELECT i.id, n.number FROM temp.identity%1$d i"
    " JOIN temp.number n ON n.text = i.text;"
    "INSERT INTO temp.caller%2$d SELECT i.id, ifnull(ifnull((SELECT number FROM temp.number"
    " WHERE text = i.text), (SELECT number FROM temp.unlike%2$d u JOIN temp.unlike%1$d r"
    " ON r.n = u.n JOIN temp.number x ON x.text = r.text WHERE u.text = i.text)), -i.id)"
    " FROM temp.identity%2$d i;"
    "DROP VIEW temp.identity1; DROP VIEW temp.identity2; DROP TABLE temp.unlike1;"
    "DROP TABLE temp.unlike2; DROP TABLE temp.number;";

int callers_match(struct compare *c, struct err *err)
{
    const struct compare_rule *rule = rules_at(c->rules, c->rules->credential);
    char sql[sizeof(number_callers) + 80];

    if (sql_run(c->db, make_tables, err) < 0)
        return -err->code;
    if (rule->kind == COMPARE_IGNORED)
        return 0;
    snprintf(sql, sizeof(sql), number_callers, db_side(c->first), db_side(!c->first));
    return sql_run(c->db, find_unlike, err) < 0 ? -err->code : sql_run(c->db, sql, err);
}
