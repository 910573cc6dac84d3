/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs_writes.c
 *
 * Earlier operations on an object, the latest first: the judge looks for those that wrote bytes.
 */
#include "compare/compare_pairs.h"
#include "compare/row.h"

#include <stdio.h>

/* Of a side's object, and of the pair of objects ?1 where several handles stand for it. */
static const char of_object[] =
    "SELECT " ROW_COLUMNS("o") " FROM %1$s.operation o"
                               " WHERE o.object = ?1 AND o.id < ?2 ORDER BY o.id DESC";
static const char of_handles[] = "SELECT " ROW_COLUMNS(
    "o") " FROM %1$s.operation o WHERE o.object IN"
         " (SELECT %1$s FROM main.object WHERE id = ?1 UNION ALL SELECT object FROM "
         "main.other_handle"
         "  WHERE side = %2$d AND same_as = ?1) AND o.id < ?2 ORDER BY o.id DESC";

static int prepare(struct pairs *p, int side, bool others, struct err *err)
{
    char sql[1024];

    if (p->earlier[side][others])
        return 0;
    snprintf(sql, sizeof(sql), others ? of_handles : of_object, p->c->side[side].schema,
             db_side(side));
    return sql_prepare(p->c->db, sql, &p->earlier[side][others], err);
}

int pairs_earlier(void *ctx, const struct judge_pair *pair, int side,
                  const struct judge_earlier *to, struct err *err)
{
    struct pairs *p = ctx;
    bool others = p->objects.pairs[pair->object - 1].has_others;
    const struct effect *e = &pair->half[side].effect;
    sqlite3_stmt *stmt;
    int result;

    if (prepare(p, side, others, err) < 0)
        return -err->code;
    stmt = p->earlier[side][others];
    sqlite3_bind_int64(stmt, 1, others ? pair->object : e->object);
    sqlite3_bind_int64(stmt, 2, e->id);
    while ((result = sql_row(stmt, err)) > 0) {
        struct effect earlier;

        row_effect(stmt, 0, &earlier);
        if (to->take(to->ctx, &earlier, sql_column_bytes(stmt, ROW_DATA_DIGEST)))
            break;
    }
    sqlite3_reset(stmt);
    return result < 0 ? result : 0;
}

void pairs_writes_close(struct pairs *p)
{
    for (int i = 0; i < 2 * SIDES; i++)
        sqlite3_finalize(p->earlier[i / 2][i % 2]);
}
