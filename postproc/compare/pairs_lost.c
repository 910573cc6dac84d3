/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs_lost.c
 *
 * Table unsynchronized: what may differ between the sides, from which operations to which.
 */
#include "compare/compare_pairs.h"

int pairs_lost_open(struct pairs *p, struct err *err)
{
    sqlite3 *db = p->c->db;

    if (sql_prepare(db, "INSERT INTO main.unsynchronized VALUES (NULL,?,?,?,?,?,?,?,?,NULL,NULL,0)",
                    &p->lost.put, err) < 0 ||
        sql_prepare(db,
                    "UPDATE main.unsynchronized SET until_ref = ?2, until_sut = ?3 WHERE id = ?1",
                    &p->lost.end, err) < 0)
        return -err->code;
    return sql_prepare(db, "UPDATE main.unsynchronized SET withheld = withheld + ?2 WHERE id = ?1",
                       &p->lost.count, err);
}

void pairs_lost_close(struct pairs *p)
{
    sqlite3_finalize(p->lost.put);
    sqlite3_finalize(p->lost.end);
    sqlite3_finalize(p->lost.count);
}

int pairs_lost(void *ctx, const struct judge_pair *pair, const struct judge_loss *loss, int64_t *id,
               struct err *err)
{
    struct pairs *p = ctx;
    sqlite3_stmt *stmt = p->lost.put;
    const struct bytes *name = &loss->name;

    sqlite3_bind_int64(stmt, 1, loss->object);
    sqlite3_bind_int(stmt, 2, (int)loss->what);
    sqlite3_bind_int(stmt, 3, (int)loss->reason);
    sqlite3_bind_null(stmt, 4);
    sqlite3_bind_null(stmt, 5);
    sqlite3_bind_null(stmt, 6);
    if (name->data)
        sqlite3_bind_text(stmt, 4, (const char *)name->data, (int)name->len, SQLITE_STATIC);
    if (loss->what == UNSYNC_DATA) {
        sql_bind_unless(stmt, 5, (int64_t)loss->start, INT64_MIN);
        sql_bind_unless(stmt, 6, (int64_t)(loss->end - loss->start), INT64_MIN);
    }
    sql_bind_unless(stmt, 7, pair->half[REF].effect.id, 0);
    sql_bind_unless(stmt, 8, pair->half[SUT].effect.id, 0);
    if (sql_step(stmt, err) < 0)
        return -err->code;
    *id = sqlite3_last_insert_rowid(p->c->db);
    return 0;
}

int pairs_known(void *ctx, const struct judge_pair *pair, int64_t id, struct err *err)
{
    struct pairs *p = ctx;

    sqlite3_bind_int64(p->lost.end, 1, id);
    sql_bind_unless(p->lost.end, 2, pair->half[REF].effect.id, 0);
    sql_bind_unless(p->lost.end, 3, pair->half[SUT].effect.id, 0);
    return sql_step(p->lost.end, err);
}

int pairs_count(void *ctx, int64_t id, uint64_t withheld, struct err *err)
{
    struct pairs *p = ctx;

    sqlite3_bind_int64(p->lost.count, 1, id);
    sqlite3_bind_int64(p->lost.count, 2, (int64_t)withheld);
    return sql_step(p->lost.count, err);
}
