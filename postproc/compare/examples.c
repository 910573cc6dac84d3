/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/examples.c
 *
 * Examples of each group with the operations that lead to them: the one that made or found the
 * object, the last ones that set out to change it, and the one that differs.
 */
#include "compare/found.h"

#include <stdio.h>

enum {
    STEPS = 6,
    LOOK_BACK = 1000
}; /* changes before the discrepancy, and where they are sought */

/* ?1 row of the object, ?2 the discrepancy's row of alignment */
static const char select_steps[] =
    "SELECT ref, sut FROM (SELECT a.id AS id, a.ref AS ref, a.sut AS sut FROM"
    " (SELECT id, ref, sut FROM main.alignment WHERE object = ?1 AND id < ?2 AND kind = 1"
    "  ORDER BY id DESC LIMIT ?3) a JOIN ref.operation r ON r.id = a.ref"
    " JOIN temp.changing g ON g.program = r.program AND g.version = r.version"
    " AND g.procedure = r.procedure ORDER BY a.id DESC LIMIT ?4) ORDER BY id";

/* what showed the object first */
static const char select_maker[] =
    "SELECT a.ref, a.sut FROM main.object o JOIN main.alignment a ON a.ref ="
    " (SELECT e.operation FROM ref.name_event e WHERE e.object = o.ref ORDER BY e.id LIMIT 1)"
    " WHERE o.id = ?1 AND a.id < ?2";

struct writer {
    struct pairs *p;
    sqlite3_stmt *maker, *steps, *put, *last;
    int step; /* of the example at hand, from 1 */
};

/* The operations of both sides that |pair| is at. */
static int put_step(struct writer *w, sqlite3_stmt *pair, struct err *err)
{
    sqlite3_bind_int(w->put, 3, ++w->step);
    sql_bind_unless(w->put, 5, sqlite3_column_int64(pair, 0), 0);
    sql_bind_unless(w->put, 6, sqlite3_column_int64(pair, 1), 0);
    return sql_step(w->put, err);
}

static int write_example(struct writer *w, const struct group *c, uint32_t i, struct err *err)
{
    const struct example *x = &c->examples[i];
    int result = 0;

    w->step = 0;
    sqlite3_bind_int64(w->put, 1, c->number);
    sqlite3_bind_int64(w->put, 2, i + 1);
    sqlite3_bind_int64(w->put, 4, x->discrepancy);
    for (int from = 0; result == 0 && x->object && from < 2; from++) {
        sqlite3_stmt *stmt = from ? w->steps : w->maker;

        sqlite3_bind_int64(stmt, 1, x->object);
        sqlite3_bind_int64(stmt, 2, x->alignment);
        while ((result = sql_row(stmt, err)) > 0)
            if (put_step(w, stmt, err) < 0) {
                sqlite3_reset(stmt);
                return -err->code;
            }
    }
    if (result < 0)
        return result;
    sqlite3_bind_int64(w->last, 1, x->discrepancy);
    result = sql_row(w->last, err);
    if (result > 0 && (sqlite3_column_int64(w->last, 0) || sqlite3_column_int64(w->last, 1)))
        result = put_step(w, w->last, err);
    sqlite3_reset(w->last);
    return result < 0 ? result : 0;
}

/* Operations of a side that the result names; bodies of those in steps. */
static const char copy_operations[] =
    "INSERT OR IGNORE INTO main.operation SELECT %d, o.id, o.program, o.version, o.procedure,"
    " ifnull((SELECT g.name FROM %s.program g WHERE g.number = o.program AND"
    "  g.version = o.version) || ' ', '') || ifnull((SELECT r.name FROM %s.procedure r"
    "  WHERE r.program = o.program AND r.version = o.version AND r.number = o.procedure),"
    "  ifnull(o.procedure, '')),"
    " o.client, l.client_port, o.server, l.server_port, o.xid, (SELECT text FROM %s.path WHERE id "
    "= o.path),"
    " (SELECT text FROM %s.path WHERE id = o.path2), o.offset, o.count,"
    " CASE WHEN o.rpc_status <> 0 THEN (SELECT k.name FROM %s.code k WHERE k.domain ="
    "  'rpc_status' AND k.value = o.rpc_status) ELSE ifnull((SELECT n.name FROM %s.status_name n"
    "  WHERE n.program = o.program AND n.version = o.version AND n.procedure = o.procedure AND"
    "  n.status = o.status), o.status) END,"
    " o.call_source, o.call_frame, o.call_time, o.reply_source, o.reply_frame, o.reply_time,"
    " o.arguments_length, o.result_length, CASE WHEN w.body THEN o.arguments END,"
    " CASE WHEN w.body THEN o.result END, o.data_length, o.data_digest, o.call_flags,"
    " o.reply_flags"
    " FROM (SELECT id, max(body) AS body FROM (SELECT %s AS id, 1 AS body FROM main.step"
    "  UNION ALL SELECT %s, 0 FROM main.discrepancy UNION ALL SELECT %s, 0 FROM main.slowest"
    "  UNION ALL SELECT %s, 0 FROM main.uncertain"
    "  UNION ALL SELECT %s, 0 FROM main.alignment WHERE kind = 2)"
    "  WHERE id IS NOT NULL GROUP BY id) w JOIN %s.operation o ON o.id = w.id JOIN %s.flow l ON "
    "l.id = o.flow";

static int write_operations(struct pairs *p, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        const char *s = p->c->side[side].schema;
        char *sql =
            sqlite3_mprintf(copy_operations, db_side(side), s, s, s, s, s, s, s, s, s, s, s, s, s);
        int result = sql ? sql_run(p->c->db, sql, err) : err_memory(err, "a statement");

        sqlite3_free(sql);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Procedures that set out to change something. */
static int list_changing(sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_run(db,
                "CREATE TEMP TABLE changing (program INTEGER, version INTEGER,"
                " procedure INTEGER, PRIMARY KEY (program, version, procedure))",
                err) < 0 ||
        sql_prepare(db, "INSERT INTO temp.changing VALUES (?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (const struct program *const *g = wire_programs; result == 0 && *g; g++)
        for (uint32_t i = 0; result == 0 && i < (*g)->procedure_count; i++) {
            const struct procedure *procedure = &(*g)->procedures[i];

            if (!procedure->name || !(procedure->arguments->roles & ROLE_MODIFIES))
                continue;
            sqlite3_bind_int64(stmt, 1, (*g)->number);
            sqlite3_bind_int64(stmt, 2, (*g)->version);
            sqlite3_bind_int64(stmt, 3, procedure->number);
            result = sql_step(stmt, err);
        }
    sqlite3_finalize(stmt);
    return result;
}

int examples_write(struct pairs *p, struct err *err)
{
    const struct found *f = p->found;
    struct writer w = { .p = p };
    sqlite3 *db = p->c->db;
    int result = 0;

    if (list_changing(db, err) < 0 || sql_prepare(db, select_maker, &w.maker, err) < 0 ||
        sql_prepare(db, select_steps, &w.steps, err) < 0 ||
        sql_prepare(db, "INSERT INTO main.step VALUES (?,?,?,?,?,?)", &w.put, err) < 0 ||
        sql_prepare(db, "SELECT ref, sut FROM main.discrepancy WHERE id = ?", &w.last, err) < 0)
        result = -err->code;
    if (result == 0) {
        sqlite3_bind_int(w.steps, 3, LOOK_BACK);
        sqlite3_bind_int(w.steps, 4, STEPS);
    }
    for (uint32_t i = 0; result == 0 && i < f->group_count; i++)
        for (uint32_t k = 0; result == 0 && k < f->groups[i].example_count; k++)
            result = write_example(&w, &f->groups[i], k, err);
    sqlite3_finalize(w.maker);
    sqlite3_finalize(w.steps);
    sqlite3_finalize(w.put);
    sqlite3_finalize(w.last);
    return result < 0 ? result : write_operations(p, err);
}
