/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/grow.h"
#include "compare/renewals.h"

#include <stdio.h>
#include <stdlib.h>

/* ?1 the earlier handle's object, ?2 the later one's.  What was made, or showed behind a removal,
 * is another file with a number that is given again. */
static const char is_same[] =
    "SELECT 1 FROM %s.object a JOIN %s.object b ON b.id = ?2 WHERE a.id = ?1 AND a.server = "
    "b.server"
    " AND a.fsid = b.fsid AND a.fileid = b.fileid AND a.type IS b.type"
    " AND NOT EXISTS (SELECT 1 FROM %s.name_event e WHERE e.object = ?2 AND e.event = 2)"
    " AND NOT EXISTS (SELECT 1 FROM %s.name_event e WHERE e.object = ?1 AND e.event = 3"
    "  AND e.operation < (SELECT min(n.operation) FROM %s.name_event n WHERE n.object = ?2)"
    "  AND NOT EXISTS (SELECT 1 FROM %s.name_event m WHERE m.object = ?1 AND m.event = 4"
    "   AND m.operation = e.operation))";

static int prepare(struct renewals *r, struct err *err)
{
    sqlite3 *db = r->c->db;

    for (int side = 0; side < SIDES; side++) {
        const char *s = r->c->side[side].schema;
        char sql[1024];

        snprintf(sql, sizeof(sql), is_same, s, s, s, s, s, s);
        if (sql_prepare(db, sql, &r->same[side], err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), "UPDATE temp.sequence%d SET object = ?1 WHERE object = ?2",
                 db_side(side));
        if (sql_prepare(db, sql, &r->sequence[side], err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), "UPDATE temp.name%d SET parent = ?1 WHERE parent = ?2",
                 db_side(side));
        if (sql_prepare(db, sql, &r->name[side], err) < 0)
            return -err->code;
    }
    return sql_prepare(db, "INSERT INTO main.other_handle VALUES (?,?,?,?)", &r->put, err);
}

int renewals_note(struct renewals *r, int side, const struct align_element *e, uint32_t other,
                  struct err *err)
{
    struct objects *o = r->objects;
    uint32_t row = matched_row(o, !side, other), old;
    sqlite3_stmt *stmt;
    int result;

    if (!row || !e->made || e->made >= o->limit[side] || o->row[side][e->made])
        return 0;
    if (!r->put && prepare(r, err) < 0)
        return -err->code;
    old = o->pairs[row - 1].object[side];
    stmt = r->same[side];
    sqlite3_bind_int64(stmt, 1, old < e->made ? old : e->made); /* ids are in their order */
    sqlite3_bind_int64(stmt, 2, old < e->made ? e->made : old);
    result = sql_row(stmt, err);
    sqlite3_reset(stmt);
    if (result <= 0)
        return result;
    if (GROW(r->waiting, r->count, r->cap) < 0)
        return err_memory(err, "objects");
    r->waiting[r->count++] = (struct renewal){ side, e->made, row, old };
    matched_add(o, side, e->made, row);
    sqlite3_bind_int(r->put, 1, db_side(side));
    sqlite3_bind_int64(r->put, 2, e->made);
    sqlite3_bind_int64(r->put, 3, row);
    sqlite3_bind_int64(r->put, 4, e->id);
    return sql_step(r->put, err);
}

static int move(sqlite3_stmt *stmt, const struct renewal *w, struct err *err)
{
    sqlite3_bind_int64(stmt, 1, w->old);
    sqlite3_bind_int64(stmt, 2, w->object);
    return sql_step(stmt, err);
}

int renewals_apply(struct renewals *r, uint32_t aligned, struct err *err)
{
    for (uint32_t i = 0; i < r->count; i++) {
        const struct renewal *w = &r->waiting[i];

        if ((w->row > aligned && move(r->sequence[w->side], w, err) < 0) ||
            move(r->name[w->side], w, err) < 0)
            return -err->code;
    }
    r->count = 0;
    return 0;
}

void renewals_close(struct renewals *r)
{
    for (int side = 0; side < SIDES; side++) {
        sqlite3_finalize(r->same[side]);
        sqlite3_finalize(r->sequence[side]);
        sqlite3_finalize(r->name[side]);
    }
    sqlite3_finalize(r->put);
    free(r->waiting);
}
