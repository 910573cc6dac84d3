/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/phase_table.c
 *
 * Phases that clients marked (store/phases.h) on either side, by name: how long they lasted and
 * what was done in them.  All operations of a side are counted, with a counterpart or not.  If no
 * side has marks, this reads nothing else.  For found.c.
 */
#include "compare/found.h"
#include "store/phases.h"

#include <stdio.h>
#include <stdlib.h>

/* %1$s: the side's schema; %2$s: a condition on operation o, or nothing */
static const char read_side[] =
    "CREATE TEMP TABLE phase_%1$s AS SELECT p.name, count(*) AS times, min(p.start) AS first,"
    " CAST(total(ifnull(p.stop, (SELECT max(last_time) FROM %1$s.source)) - p.start) AS INTEGER)"
    " AS lasted"
    " FROM %1$s.phase p GROUP BY p.name;"
    "CREATE TEMP TABLE phase_of_%1$s AS SELECT name, count(*) AS operations,"
    " CAST(total(latency) AS INTEGER) AS latency FROM (SELECT phase_of_%1$s(o.id, o.client,"
    " ifnull(o.call_time, o.reply_time)) AS name, o.latency FROM %1$s.operation o %2$s)"
    " WHERE name IS NOT NULL GROUP BY name;";

static const char write_table[] =
    "INSERT INTO main.phase SELECT NULL, n.name, ifnull(r.times, 0), ifnull(r.lasted, 0),"
    " ifnull(x.operations, 0), ifnull(x.latency, 0), ifnull(s.times, 0), ifnull(s.lasted, 0),"
    " ifnull(y.operations, 0), ifnull(y.latency, 0), 0"
    " FROM (SELECT name FROM temp.phase_ref UNION SELECT name FROM temp.phase_sut) n"
    " LEFT JOIN temp.phase_ref r ON r.name = n.name LEFT JOIN temp.phase_sut s ON s.name = n.name"
    " LEFT JOIN temp.phase_of_ref x ON x.name = n.name"
    " LEFT JOIN temp.phase_of_sut y ON y.name = n.name"
    " ORDER BY r.first IS NULL, r.first, s.first, n.name;"
    "UPDATE main.discrepancy SET phase = (SELECT id FROM main.phase WHERE name = CASE"
    " WHEN ref IS NOT NULL THEN (SELECT phase_of_ref(o.id, o.client, ifnull(o.call_time,"
    " o.reply_time)) FROM ref.operation o WHERE o.id = ref)"
    " ELSE (SELECT phase_of_sut(o.id, o.client, ifnull(o.call_time,"
    " o.reply_time)) FROM sut.operation o WHERE o.id = sut) END);"
    "UPDATE main.phase SET discrepancies ="
    " (SELECT count(*) FROM main.discrepancy d WHERE d.phase = phase.id);"
    "DROP TABLE temp.phase_ref; DROP TABLE temp.phase_sut;"
    "DROP TABLE temp.phase_of_ref; DROP TABLE temp.phase_of_sut;";

static int read_phases(struct pairs *p, int side, struct err *err)
{
    const struct compare_side *s = &p->c->side[side];
    char *where = s->server ? sqlite3_mprintf("WHERE o.server = %Q", s->server) : NULL;
    char *sql = NULL;
    int result = err_memory(err, "phases");

    if ((where || !s->server) &&
        phases_define(p->c->db, side == REF ? "phase_of_ref" : "phase_of_sut", s->schema) ==
            SQLITE_OK &&
        asprintf(&sql, read_side, s->schema, where ? where : "") >= 0)
        result = sql_run(p->c->db, sql, err);
    else
        sql = NULL; /* asprintf leaves it undefined */
    free(sql);
    sqlite3_free(where);
    return result;
}

int phases_write(struct pairs *p, struct err *err)
{
    int64_t any;

    if (sql_number(p->c->db,
                   "SELECT EXISTS (SELECT 1 FROM ref.phase) OR EXISTS (SELECT 1 FROM sut.phase)", 0,
                   &any, err) < 0)
        return -err->code;
    if (!any)
        return 0;
    for (int side = 0; side < SIDES; side++)
        if (read_phases(p, side, err) < 0)
            return -err->code;
    return sql_run(p->c->db, write_table, err);
}
