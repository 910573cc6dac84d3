/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/filter_narrow.h"
#include "store/sql.h"

static const char make_views[] =
    "CREATE TEMP TABLE chosen_span AS SELECT min(ifnull(call_time, reply_time)) AS first,"
    " max(ifnull(reply_time, call_time)) AS last FROM main.operation"
    " WHERE id IN (SELECT id FROM temp.chosen);"
    "CREATE TEMP VIEW operation AS SELECT * FROM main.operation"
    " WHERE id IN (SELECT id FROM temp.chosen);"
    "CREATE TEMP VIEW retransmission AS SELECT * FROM main.retransmission"
    " WHERE operation IN (SELECT id FROM temp.chosen);"
    "CREATE TEMP VIEW problem AS SELECT * FROM main.problem WHERE time BETWEEN"
    " (SELECT first FROM temp.chosen_span) AND (SELECT last FROM temp.chosen_span);";

int filter_narrow(sqlite3 *db, const struct filter *filter, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_run(db, "BEGIN; CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY);", err) < 0 ||
        filter_prepare(db, filter, "INSERT INTO temp.chosen SELECT o.id FROM main.operation o",
                       &stmt, err) < 0)
        return -err->code;
    result = sql_end(stmt, sql_step(stmt, err), err);
    return result < 0 ? result : sql_run(db, make_views, err);
}
