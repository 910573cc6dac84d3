/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/matched_table.c
 *
 * Matched objects (align/matched.h) of two databases, from the tables of a result.
 */
#include "compare/compare_parts.h"

int matched_open(struct objects *o, sqlite3 *db, struct err *err)
{
    static const char *const count[SIDES] = { "SELECT max(id) FROM ref.object",
                                              "SELECT max(id) FROM sut.object" };
    uint32_t limit[SIDES];

    *o = (struct objects){ 0 };
    for (int side = 0; side < SIDES; side++) {
        int64_t max;

        if (sql_number(db, count[side], 0, &max, err) < 0)
            return -err->code;
        if (max < 0 || max >= UINT32_MAX - 1)
            return err_set(err, ERR_INPUT, "a database of too many objects");
        limit[side] = (uint32_t)max + 1;
    }
    return matched_init(o, limit, err);
}

static int load_others(struct objects *o, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, "SELECT side, object, same_as FROM main.other_handle", &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0) {
        int64_t side = db_side_of(sqlite3_column_int64(stmt, 0)),
                object = sqlite3_column_int64(stmt, 1);
        int64_t row = sqlite3_column_int64(stmt, 2);

        if (side < 0 || side >= SIDES || object <= 0 || object >= o->limit[side] || row <= 0 ||
            row > o->count || o->row[side][object]) {
            result = err_set(err, ERR_INPUT, "table other_handle does not fit the databases");
            break;
        }
        matched_add(o, (int)side, (uint32_t)object, (uint32_t)row);
    }
    sqlite3_finalize(stmt);
    return result;
}

int matched_load(struct objects *o, sqlite3 *db, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (sql_prepare(db, "SELECT ref, sut, how FROM main.object ORDER BY id", &stmt, err) < 0)
        return -err->code;
    while ((result = sql_row(stmt, err)) > 0) {
        int64_t ref = sqlite3_column_int64(stmt, 0), sut = sqlite3_column_int64(stmt, 1);

        if (ref <= 0 || ref >= o->limit[REF] || sut <= 0 || sut >= o->limit[SUT] ||
            matched_match(o, (uint32_t)ref, (uint32_t)sut,
                          (enum match_how)sqlite3_column_int(stmt, 2), err) != 1) {
            result = err_set(err, ERR_INPUT, "table object does not fit the databases");
            break;
        }
    }
    sqlite3_finalize(stmt);
    return result < 0 ? result : load_others(o, db, err);
}
