/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/steps_table.c
 *
 * How fine the times of a server's files are, to and from table granularity of a result.
 */
#include "compare/compare_parts.h"

#include <string.h>

enum { SECOND = 1000000000 };

static const char *const time_names[STEP_TIMES] = { NULL, "atime", "mtime", "ctime" };

int steps_write(const struct steps *s, sqlite3 *db, int side, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(db, "INSERT INTO main.granularity VALUES (?,?,?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < s->count; i++)
        for (int k = 0; result == 0 && k < 2 * STEP_TIMES; k++) {
            int64_t ns = s->steps[i].ns[k / STEP_TIMES][k % STEP_TIMES];

            if (!ns)
                continue;
            sqlite3_bind_int(stmt, 1, db_side(side));
            sqlite3_bind_int64(stmt, 2, (int64_t)s->steps[i].fsid);
            sqlite3_bind_int(stmt, 3, k / STEP_TIMES);
            sql_bind_text(stmt, 4, time_names[k % STEP_TIMES]);
            sqlite3_bind_int64(stmt, 5, ns);
            result = sql_step(stmt, err);
        }
    sqlite3_finalize(stmt);
    return result;
}

int steps_read(struct steps *s, sqlite3 *db, int side, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, "SELECT fsid, is_before, time, step FROM main.granularity WHERE side = ?",
                    &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int(stmt, 1, db_side(side));
    while ((result = sql_row(stmt, err)) > 0) {
        int64_t before = sqlite3_column_int64(stmt, 1), ns = sqlite3_column_int64(stmt, 3);
        const char *name = (const char *)sqlite3_column_text(stmt, 2);
        int stamp = STEP_TIMES - 1;

        while (stamp && !(name && strcmp(name, time_names[stamp]) == 0))
            stamp--;
        if (!stamp || (before & ~INT64_C(1)) || ns < 1 || ns > SECOND) {
            result = err_set(err, ERR_INPUT, "damaged: table granularity: out of range");
            break;
        }
        result = steps_set(s, (uint64_t)sqlite3_column_int64(stmt, 0), before, (enum stamp)stamp,
                           ns, err);
        if (result < 0)
            break;
    }
    sqlite3_finalize(stmt);
    return result;
}
