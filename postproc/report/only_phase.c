/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/only_phase.h"

#include "store/sql.h"

/* %lld: the phase's id */
static const char make_views[] =
    "CREATE TEMP VIEW discrepancy AS SELECT * FROM main.discrepancy WHERE phase = %lld;"
    "CREATE TEMP TABLE in_phase AS SELECT discrepancy_group AS id, count(*) AS count"
    " FROM main.discrepancy WHERE phase = %lld GROUP BY discrepancy_group;"
    "CREATE TEMP VIEW discrepancy_group AS SELECT g.id, g.kind, g.class, g.program, g.version,"
    " g.procedure, g.operation, g.field, g.difference, g.rule, g.cause, g.reason, p.count,"
    " g.compared, g.noise_count, g.noise_compared, g.is_noise, g.severity, g.cause_id,"
    " g.circumstance FROM main.discrepancy_group g JOIN temp.in_phase p ON p.id = g.id;";

/* The same view again, over what is in the temporary schema. */
static const char causes_again[] =
    "SELECT 'CREATE TEMP VIEW' || substr(sql, length('CREATE VIEW') + 1) FROM main.sqlite_schema"
    " WHERE type = 'view' AND name = 'causes'";

static int run_row(void *ctx, sqlite3_stmt *row, struct err *err)
{
    return sql_run(ctx, sql_column_text(row, 0), err);
}

int only_phase(sqlite3 *result, const char *name, struct err *err)
{
    char *sql = sqlite3_mprintf("SELECT id FROM main.phase WHERE name = %Q", name);
    int64_t id = 0;
    int code = sql ? sql_number(result, sql, 0, &id, err) : err_memory(err, "a statement");

    sqlite3_free(sql);
    if (code == 0 && !id)
        return err_set(err, ERR_USAGE, "no phase of the traces is called \"%s\"", name);
    sql = sqlite3_mprintf(make_views, (long long)id, (long long)id);
    if (code == 0)
        code = sql ? sql_run(result, sql, err) : err_memory(err, "a statement");
    sqlite3_free(sql);
    return code < 0 ? code : sql_each(result, causes_again, run_row, result, err);
}
