/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs_objects.c
 *
 * Answers questions about objects from the databases: the object of a handle, whether a name of it
 * was removed, and its path.
 */
#include "compare/compare_pairs.h"
#include "compare/row.h"

#include <stdio.h>

int pairs_objects_open(struct pairs *p, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        const char *schema = p->c->side[side].schema;
        char sql[192];

        snprintf(sql, sizeof(sql),
                 "SELECT id FROM %s.object WHERE handle = ?1 AND server ="
                 " (SELECT server FROM %s.object WHERE id = ?2)",
                 schema, schema);
        if (sql_prepare(p->c->db, sql, &p->of_objects.handle[side], err) < 0)
            return -err->code;
    }
    return 0;
}

void pairs_objects_close(struct pairs *p)
{
    for (int side = 0; side < SIDES; side++) {
        sqlite3_finalize(p->of_objects.handle[side]);
        sqlite3_finalize(p->of_objects.removal[side]);
    }
    sqlite3_finalize(p->of_objects.path);
}

/* Several servers may have equal handles: that of the reply's object counts. */
int pairs_object_of(void *ctx, int side, const struct judge_half *half, struct bytes handle,
                    struct bytes entry, uint32_t *row, struct err *err)
{
    struct pairs *p = ctx;
    sqlite3_stmt *stmt = p->of_objects.handle[side];
    const struct effect *e = &half->effect;
    int result;

    sqlite3_bind_blob(stmt, 1, handle.data, (int)handle.len, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, e->object ? e->object : e->new_object);
    result = sql_row(stmt, err);
    *row = result > 0 ? matched_row(&p->objects, side, row_id(stmt, 0)) : 0;
    sqlite3_reset(stmt);
    return result < 0 ? result : pairs_live_entry(p, entry, row, err);
}

/* --- removals */

static const char make_removals[] =
    "CREATE TEMP TABLE removal%d AS SELECT e.object AS object,"
    " ifnull(o.call_time, o.reply_time) AS call, ifnull(o.reply_time, %lld) AS reply"
    " FROM %s.name_event e JOIN %s.operation o ON o.id = e.operation WHERE e.event = 3"
    /* not by a RENAME of it */
    " AND NOT EXISTS (SELECT 1 FROM %s.name_event m WHERE m.object = e.object AND m.event = 4"
    "  AND m.operation = e.operation);"
    "CREATE INDEX temp.removal%d_by_object ON removal%d (object, reply, call);";

/* Of a name of |object| since it was seen last; what has no object may be any. */
static const char find_removal[] = "SELECT EXISTS (SELECT 1 FROM temp.removal%d WHERE object IS ?1 "
                                   "AND reply >= ?2 AND call <= ?3)";

static int prepare_removals(struct pairs *p, struct err *err)
{
    for (int side = 0; side < SIDES; side++) {
        const char *schema = p->c->side[side].schema;
        char sql[1024];

        snprintf(sql, sizeof(sql), make_removals, db_side(side), (long long)INT64_MAX, schema,
                 schema, schema, db_side(side), db_side(side));
        if (sql_run(p->c->db, sql, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), find_removal, db_side(side));
        if (sql_prepare(p->c->db, sql, &p->of_objects.removal[side], err) < 0)
            return -err->code;
    }
    return 0;
}

int pairs_removed(void *ctx, int side, uint32_t row, const int64_t times[2], struct err *err)
{
    struct pairs *p = ctx;
    sqlite3_stmt *stmt;
    int result;

    if (p->live.is) /* a log does not tell which requests removed names */
        return 1;
    if (!p->of_objects.removal[REF] && prepare_removals(p, err) < 0)
        return -err->code;
    stmt = p->of_objects.removal[side];
    sql_bind_unless(stmt, 1, row ? p->objects.pairs[row - 1].object[side] : 0, 0);
    sqlite3_bind_int64(stmt, 2, times[0]);
    sqlite3_bind_int64(stmt, 3, times[1]);
    result = sql_row(stmt, err);
    if (result > 0)
        result = sqlite3_column_int(stmt, 0);
    sqlite3_reset(stmt);
    return result;
}

/* --- */

int pairs_path_of(void *ctx, uint32_t row, char text[COMPARE_TEXT_MAX], struct err *err)
{
    struct pairs *p = ctx;
    const char *path;
    int result;

    if (!p->of_objects.path && sql_prepare(p->c->db, "SELECT path FROM main.object WHERE id = ?1",
                                           &p->of_objects.path, err) < 0)
        return -err->code;
    sqlite3_bind_int64(p->of_objects.path, 1, row);
    result = sql_row(p->of_objects.path, err);
    path = result > 0 ? (const char *)sqlite3_column_text(p->of_objects.path, 0) : NULL;
    snprintf(text, COMPARE_TEXT_MAX, "%s", path ? path : "");
    sqlite3_reset(p->of_objects.path);
    return result < 0 ? result : 0;
}
