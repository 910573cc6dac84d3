/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/plan_store.c
 *
 * schemas/plan.sql and what goes into its tables.
 */
#include "base/embed.h"
#include "plan/plan_parts.h"
#include "plan/plan_store.h"
#include "plan/repair_store.h"
#include "store/sql.h"
#include "store/tables.h"

#include <stdio.h>

enum { PLAN_VERSION = 1 };

EMBED(plan_sql, EMBED_ROOT "/schemas/plan.sql");

static const char drop[] =
    "DROP VIEW IF EXISTS dependency; DROP VIEW IF EXISTS plan;"
    "DROP TABLE IF EXISTS plan_dependency; DROP TABLE IF EXISTS plan_operation;"
    "DELETE FROM meta WHERE key IN ('plan_version', 'plan_operations');";

static int run_section(struct plan_store *s, const char *section, struct err *err)
{
    return tables_section(s->db, plan_sql, "plan.sql", section, err);
}

static int put_granularities(sqlite3 *db, struct err *err)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "INSERT OR REPLACE INTO code VALUES ('granularity', %d, '%s'), ('granularity', %d,"
             " '%s')",
             ACCESS_FINE, granularity_name(ACCESS_FINE), ACCESS_OBJECT,
             granularity_name(ACCESS_OBJECT));
    return sql_run(db, sql, err);
}

int plan_store_begin(struct plan_store *s, sqlite3 *db, struct err *err)
{
    *s = (struct plan_store){ .db = db };
    if (sql_run(db, drop, err) < 0 || run_section(s, "tables", err) < 0 ||
        run_section(s, "views", err) < 0 || repair_store_codes(db, err) < 0 ||
        put_granularities(db, err) < 0 ||
        sql_prepare(db, "INSERT INTO plan_operation VALUES (?,?,?,?,?,?,?,?,?)", &s->operation,
                    err) < 0)
        return -err->code;
    return sql_prepare(db, "INSERT INTO plan_dependency VALUES (?,?,?)", &s->dependency, err);
}

static void bind_path(sqlite3_stmt *stmt, int at, const struct buf *path)
{
    if (path && path->len > 1)
        sqlite3_bind_text(stmt, at, (const char *)path->data, -1, SQLITE_STATIC);
    else
        sqlite3_bind_null(stmt, at);
}

int plan_store_put(struct plan_store *s, const struct plan_step *step, struct err *err)
{
    const struct rdump_operation *o = step->operation;
    const struct plan_about *about = step->about;
    const struct plan_edges *edges = step->edges;

    sqlite3_bind_int64(s->operation, 1, (int64_t)step->place);
    sql_bind_unless(s->operation, 2, o->source, 0);
    sql_bind_unless(s->operation, 3, o->inferred, 0);
    sql_bind_unless(s->operation, 4, o->unplayable, 0);
    sql_bind_unless(s->operation, 5, o->procedure, RDUMP_NO_PROCEDURE);
    sqlite3_bind_int64(s->operation, 6, step->time);
    sql_bind_unless(s->operation, 7, o->latency, -1);
    bind_path(s->operation, 8, about ? &about->path : NULL);
    bind_path(s->operation, 9, about ? &about->path2 : NULL);
    if (sql_step(s->operation, err) < 0)
        return -err->code;
    for (int g = 0; g < 2; g++)
        for (uint32_t i = edges[g].count; i-- > 0;) { /* in the order of the primary key */
            sqlite3_bind_int64(s->dependency, 1, (int64_t)step->place);
            sqlite3_bind_int64(s->dependency, 2, g);
            sqlite3_bind_int64(s->dependency, 3, (int64_t)(step->place - edges[g].distances[i]));
            if (sql_step(s->dependency, err) < 0)
                return -err->code;
        }
    return 0;
}

int plan_store_end(struct plan_store *s, const struct plan_counts *counts, struct err *err)
{
    char sql[256];

    sqlite3_finalize(s->operation);
    sqlite3_finalize(s->dependency);
    s->operation = s->dependency = NULL;
    if (!counts)
        return 0;
    snprintf(sql, sizeof(sql),
             "INSERT INTO meta VALUES ('plan_version', '%d'), ('plan_operations', '%llu')",
             PLAN_VERSION, (unsigned long long)(counts->operations + counts->others));
    return run_section(s, "indexes", err) < 0 ? -err->code : sql_run(s->db, sql, err);
}
