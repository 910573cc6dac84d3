/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/baseline.h"

#include "compare/compare.h"
#include "compare/verdict.h"
#include "store/sql.h"

#define SAME                                                                                       \
    "a.kind = b.kind AND a.operation = b.operation AND a.field = b.field"                          \
    " AND a.difference = b.difference AND a.circumstance IS b.circumstance"

/* ?1: the name of the baseline, %d: whether calls were not answered in it */
static const char make_tables[] =
    "CREATE TEMP TABLE baseline_new AS SELECT a.id, a.is_noise FROM main.discrepancy_group a"
    " WHERE NOT EXISTS (SELECT 1 FROM baseline.discrepancy_group b WHERE " SAME ");"
    "CREATE TEMP TABLE baseline_gone AS SELECT a.* FROM baseline.discrepancy_group a"
    " WHERE NOT EXISTS (SELECT 1 FROM main.discrepancy_group b WHERE " SAME ");"
    "CREATE TEMP TABLE baseline_unchanged AS SELECT a.id, a.count,"
    " (SELECT sum(b.count) FROM baseline.discrepancy_group b WHERE " SAME ") AS was"
    " FROM main.discrepancy_group a WHERE was IS NOT NULL;"
    "CREATE TEMP TABLE baseline_totals AS SELECT %Q AS database,"
    " (SELECT value FROM main.meta WHERE key = 'rules_digest') ="
    " (SELECT value FROM baseline.meta WHERE key = 'rules_digest') AS same_rules,"
    " (SELECT count(*) FROM temp.baseline_new) AS new,"
    " (SELECT count(*) FROM temp.baseline_gone) AS gone,"
    " (SELECT count(*) FROM temp.baseline_unchanged) AS unchanged, %d AS was_silent;"
    "DETACH baseline;";

static int attach(sqlite3 *result, const char *path, struct err *err)
{
    sqlite3_stmt *stmt;
    int code;

    if (sql_prepare(result, "ATTACH ?1 AS baseline", &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, path);
    code = sql_step(stmt, err);
    sqlite3_finalize(stmt);
    return code;
}

int baseline_attach(sqlite3 *result, const char *path, struct err *err)
{
    sqlite3 *baseline = NULL;
    int code = compare_open(path, &baseline, err), silent = 0;
    char *sql = NULL;

    if (code == 0)
        code = silent = verdict_is_silent(baseline, err);
    sqlite3_close(baseline);
    if (code >= 0)
        code = attach(result, path, err);
    if (code == 0) {
        sql = sqlite3_mprintf(make_tables, path, silent);
        code = sql ? sql_run(result, sql, err) : err_memory(err, "a statement");
        sqlite3_free(sql);
    }
    return code < 0 ? err_prefix(err, "--baseline") : 0;
}

int baseline_has_new(sqlite3 *result, struct err *err)
{
    int64_t groups, was_silent;
    int silent = verdict_is_silent(result, err);

    if (silent < 0 ||
        sql_number(result, "SELECT count(*) FROM temp.baseline_new WHERE NOT is_noise", 0, &groups,
                   err) < 0 ||
        sql_number(result, "SELECT was_silent FROM temp.baseline_totals", 0, &was_silent, err) < 0)
        return -err->code;
    return groups > 0 || (silent && !was_silent);
}
