/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store_verify_damage.c
 *
 * SQLite's integrity_check searches each index for each row, which takes more time than all other
 * checks together.  Its quick_check looks at everything but indexes.  So indexes of operations,
 * which are in order and have known texts, are compared in passes (store_verify_pass.c), and only
 * the other tables have an integrity_check.  The contract is in store_verify_parts.h.
 */
#include "store/store_parts.h"
#include "store/store_verify_parts.h"

static int each_row(sqlite3 *db, const char *path, const char *sql, struct verify_findings *found,
                    struct err *err)
{
    sqlite3_stmt *stmt;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, path, err);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *text = sql_column_text(stmt, 0);

        verify_finding(found, text ? text : "?");
    }
    return sqlite3_finalize(stmt) == SQLITE_OK ? 0 : store_fail(db, path, err);
}

/* Returns 1 if verify_pass compares all indexes of operations, 0 if not. */
static int are_known(sqlite3 *db, const char *path, struct err *err)
{
    sqlite3_stmt *stmt;
    int known = 1;

    if (sqlite3_prepare_v2(db,
                           "SELECT name, ifnull(sql, '') FROM sqlite_schema"
                           " WHERE type = 'index' AND tbl_name = 'operation'",
                           -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, path, err);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        known &= verify_pass_compares(sql_column_text(stmt, 0), sql_column_text(stmt, 1));
    return sqlite3_finalize(stmt) == SQLITE_OK ? known : store_fail(db, path, err);
}

int verify_damage(sqlite3 *db, const char *path, struct verify_findings *found, struct err *err)
{
    static const char quick[] = "SELECT 'the database is damaged: ' || quick_check"
                                " FROM pragma_quick_check WHERE quick_check <> 'ok'";
    static const char others[] =
        "SELECT 'the database is damaged: ' || i.integrity_check FROM sqlite_schema s"
        " JOIN pragma_integrity_check(s.name) i WHERE s.type = 'table' AND s.name <> 'operation'"
        " AND i.integrity_check <> 'ok'";
    static const char whole[] = "SELECT 'the database is damaged: ' || integrity_check"
                                " FROM pragma_integrity_check WHERE integrity_check <> 'ok'";
    int known = are_known(db, path, err), result;

    if (known < 0)
        return known;
    result = each_row(db, path, known ? quick : whole, found, err);
    return result < 0 || !known || found->count ? result : each_row(db, path, others, found, err);
}
