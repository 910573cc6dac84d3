/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/compare_parts.h"

#include <stdio.h>

int counterparts_find(struct compare *c, struct err *err)
{
    c->by_number = false;
    for (int side = 0; side < SIDES; side++) {
        int64_t has;
        char sql[128];

        snprintf(sql, sizeof(sql),
                 "SELECT EXISTS (SELECT 1 FROM %s.operation WHERE counterpart IS NOT NULL)",
                 c->side[side].schema);
        if (sql_number(c->db, sql, 0, &has, err) < 0)
            return -err->code;
        c->numbered[side] = has;
        c->by_number |= has;
    }
    return 0;
}

/* |%1$d|: the side, |%2$s|: its name, |%3$s|: a condition for its server. */
static const char make_table[] =
    "CREATE TEMP TABLE number%1$d (id INTEGER PRIMARY KEY, number INTEGER);";

/* Of several with one number, the last answered one counts: the others were sent before it. */
static const char put_numbered[] =
    "INSERT INTO temp.number%1$d SELECT id, counterpart FROM (SELECT id, counterpart,"
    " row_number() OVER (PARTITION BY counterpart ORDER BY reply_frame IS NOT NULL DESC, id DESC)"
    " AS n FROM %2$s.operation WHERE counterpart IS NOT NULL AND counterpart_copy = %4$u AND %3$s)"
    " WHERE n = 1;";
static const char put_plain[] =
    "INSERT INTO temp.number%1$d SELECT id, id FROM %2$s.operation WHERE %3$s;";
static const char make_index[] = "CREATE INDEX temp.number%1$d_by_number ON number%1$d (number);";

static int number_side(struct compare *c, int side, struct err *err)
{
    const struct compare_side *s = &c->side[side];
    const char *put = c->numbered[side] ? put_numbered : put_plain;
    char *format = sqlite3_mprintf("%s%s%s", make_table, put, make_index);
    char *where = s->server ? sqlite3_mprintf("server = %Q", s->server) : sqlite3_mprintf("1");
    char sql[2048];
    int result;

    if (!format || !where)
        result = err_memory(err, "a statement");
    else {
        snprintf(sql, sizeof(sql), format, db_side(side), s->schema, where, c->copy);
        result = sql_run(c->db, sql, err);
    }
    sqlite3_free(format);
    sqlite3_free(where);
    return result;
}

int counterparts_number(struct compare *c, struct err *err)
{
    for (int side = 0; side < SIDES && c->by_number; side++)
        if (number_side(c, side, err) < 0)
            return -err->code;
    return 0;
}
