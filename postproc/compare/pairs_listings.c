/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/pairs_listings.c
 *
 * Further replies of listings, as the first phase put them together (table alignment, kind part),
 * and names that were made or removed while a directory was listed.
 */
#include "compare/compare_pairs.h"

#include <stdio.h>

static const char make_changed[] =
    "CREATE TEMP TABLE changed%d AS SELECT e.parent AS parent, e.name AS name,"
    " ifnull(o.call_time, o.reply_time) AS call, o.reply_time AS reply"
    " FROM %s.name_event e JOIN %s.operation o ON o.id = e.operation"
    " WHERE e.event NOT IN (1, 5) AND e.parent IS NOT NULL;"
    "CREATE INDEX temp.changed%d_by_parent ON changed%d (parent, reply, call);";

/* A log has the names of all objects, but only a few of the operations that changed them. */
static const char make_changed_live[] =
    "CREATE TEMP TABLE changed%d AS SELECT parent, name, time AS call, time AS reply"
    " FROM %s.name_event WHERE event NOT IN (1, 5) AND parent IS NOT NULL AND time IS NOT NULL;"
    "CREATE INDEX temp.changed%d_by_parent ON changed%d (parent, reply, call);";

/* What has no answer may have been carried out for a minute. */
static const char find_changes[] =
    "SELECT name FROM temp.changed%d WHERE parent = ?1 AND reply BETWEEN ?2 AND ?3 + ?4"
    " AND call <= ?3 UNION ALL SELECT name FROM temp.changed%d WHERE parent = ?1 AND reply IS NULL"
    " AND call BETWEEN ?2 - 60000000000 AND ?3";

/* Rows are in the order of calls. */
static const char make_parts[] =
    "CREATE TEMP TABLE listing_part (listing INTEGER, side INTEGER, id INTEGER);"
    "INSERT INTO temp.listing_part SELECT a.listing, a.ref IS NULL, ifnull(a.ref, a.sut)"
    " FROM main.alignment a LEFT JOIN ref.operation r ON r.id = a.ref"
    " LEFT JOIN sut.operation s ON s.id = a.sut WHERE a.kind = 3 AND a.listing IS NOT NULL"
    " ORDER BY ifnull(r.call_time, s.call_time), 3;"
    "CREATE INDEX temp.listing_part_in_order ON listing_part (listing, side);";

int pairs_listings_open(struct pairs *p, struct err *err)
{
    sqlite3 *db = p->c->db;

    for (int side = 0; side < SIDES; side++) {
        const char *schema = p->c->side[side].schema;
        char sql[512];

        if (p->live.is)
            snprintf(sql, sizeof(sql), make_changed_live, db_side(side), schema, db_side(side),
                     db_side(side));
        else
            snprintf(sql, sizeof(sql), make_changed, db_side(side), schema, schema, db_side(side),
                     db_side(side));
        if (sql_run(db, sql, err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), "SELECT ifnull(max(reply - call), 0) FROM temp.changed%d",
                 db_side(side));
        if (sql_number(db, sql, 0, &p->listings.longest[side], err) < 0)
            return -err->code;
        snprintf(sql, sizeof(sql), find_changes, db_side(side), db_side(side));
        if (sql_prepare(db, sql, &p->listings.changed[side], err) < 0)
            return -err->code;
    }
    if (sql_run(db, make_parts, err) < 0)
        return -err->code;
    return sql_prepare(db,
                       "SELECT rowid, id FROM temp.listing_part WHERE listing = ?1 AND side = ?2"
                       " AND rowid > ?3 ORDER BY rowid LIMIT ?4",
                       &p->listings.parts, err);
}

void pairs_listings_close(struct pairs *p)
{
    sqlite3_finalize(p->listings.parts);
    sqlite3_finalize(p->listings.changed[REF]);
    sqlite3_finalize(p->listings.changed[SUT]);
}

/* The next ones, in pieces, since rows of other statements are read in between. */
static int find_parts(struct pairs *p, int64_t listing, int side, struct err *err)
{
    sqlite3_stmt *stmt = p->listings.parts;
    int result;

    p->listings.first += p->listings.count;
    p->listings.count = 0;
    sqlite3_bind_int64(stmt, 1, listing);
    sqlite3_bind_int(stmt, 2, side);
    sqlite3_bind_int64(stmt, 3, p->listings.after);
    sqlite3_bind_int(stmt, 4, PARTS_AT_ONCE);
    while ((result = sql_row(stmt, err)) > 0) {
        p->listings.after = sqlite3_column_int64(stmt, 0);
        p->listings.ids[p->listings.count++] = sqlite3_column_int64(stmt, 1);
    }
    sqlite3_reset(stmt);
    return result;
}

int pairs_part(void *ctx, const struct judge_pair *pair, int side, uint32_t number,
               struct judge_half *half, struct err *err)
{
    struct pairs *p = ctx;

    if (!number) {
        p->listings.first = p->listings.count = 0;
        p->listings.after = 0;
    }
    if (number == p->listings.first + p->listings.count &&
        number % PARTS_AT_ONCE == 0 && /* else there were no more */
        find_parts(p, pair->half[side].effect.id, side, err) < 0)
        return -err->code;
    if (number >= p->listings.first + p->listings.count) {
        sqlite3_reset(p->row[side]);
        return 0;
    }
    return pairs_load(p, side, p->listings.ids[number - p->listings.first], half, err) < 0
               ? -err->code
               : 1;
}

int pairs_changed_names(void *ctx, const struct judge_pair *pair, int side, const int64_t times[2],
                        const struct judge_names *to, struct err *err)
{
    struct pairs *p = ctx;
    sqlite3_stmt *stmt = p->listings.changed[side];
    int result;

    sqlite3_bind_int64(stmt, 1, pair->object ? pair->half[side].effect.object : 0);
    sqlite3_bind_int64(stmt, 2, times[0]);
    sqlite3_bind_int64(stmt, 3, times[1]);
    sqlite3_bind_int64(stmt, 4, p->listings.longest[side]);
    while ((result = sql_row(stmt, err)) > 0) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);

        if (name && to->add(to->ctx, name, err) < 0) {
            sqlite3_reset(stmt);
            return -err->code;
        }
    }
    return result;
}
