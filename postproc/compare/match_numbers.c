/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/match_numbers.c
 *
 * Pairs operations that name their counterparts (counterparts.c), in the order of the first side's
 * calls, without a search.  What the operations of a pair are about is the same object on both
 * sides.  Names in matched directories then lead to objects that only listings show.
 */
#include "compare/match_parts.h"
#include "compare/state_columns.h"
#include "wire/programs.h"

#include <stdio.h>

/* |%1$d|: the first side, |%2$d|: the other, |%3$s| and |%4$s|: their names.  The columns of
 * sequences have no type, and SQLite uses their indexes only for values without one: hence "+". */
static const char select_pairs[] =
    "SELECT x.id, y.id, x.object, y.object, x.object2, y.object2, x.program, x.version,"
    " x.procedure FROM temp.number%1$d m CROSS JOIN temp.number%2$d n ON n.number = m.number"
    " CROSS JOIN temp.sequence%1$d a ON a.id = +m.id CROSS JOIN temp.sequence%2$d b ON b.id = +n.id"
    " JOIN %3$s.operation x ON x.id = m.id JOIN %4$s.operation y ON y.id = n.id"
    " WHERE x.program = y.program AND x.version = y.version AND x.procedure = y.procedure"
    " ORDER BY a.time, a.id";
enum { PAIR_ID, PAIR_OBJECT = 2, PAIR_OBJECT2 = 4, PAIR_PROGRAM = 6, PAIR_VERSION, PAIR_PROCEDURE };

static const char select_request[] =
    "SELECT " SEQUENCE_COLUMNS " FROM temp.sequence%d WHERE id = ?";

/* The directory of the name that an operation is about. */
static const char path_of_directory[] =
    "SELECT d.text FROM ref.operation o JOIN ref.path p ON p.id = o.path"
    " JOIN ref.path d ON d.id = p.parent WHERE o.id = ?1";
static const char path_of_directory2[] =
    "SELECT d.text FROM ref.operation o JOIN ref.path p ON p.id = o.path2"
    " JOIN ref.path d ON d.id = p.parent WHERE o.id = ?1";

static bool has_name(sqlite3_stmt *pair)
{
    const struct procedure *procedure =
        procedure_find((uint32_t)sqlite3_column_int64(pair, PAIR_PROGRAM),
                       (uint32_t)sqlite3_column_int64(pair, PAIR_VERSION),
                       (uint32_t)sqlite3_column_int64(pair, PAIR_PROCEDURE));

    return procedure && procedure->arguments->roles & ROLE_PARENT;
}

static int match_column(struct match *m, sqlite3_stmt *pair, int column, const char *path_sql,
                        struct err *err)
{
    const struct alike alike = { { (uint32_t)sqlite3_column_int64(pair, column),
                                   (uint32_t)sqlite3_column_int64(pair, column + 1) },
                                 MATCH_PAIR,
                                 path_sql,
                                 { sqlite3_column_int64(pair, PAIR_ID),
                                   sqlite3_column_int64(pair, PAIR_ID + 1) } };

    return alike.object[ONE] && alike.object[OTHER] ? match_objects(m, &alike, err) : 0;
}

static int read_request(struct sequence *sequence, int64_t id, struct err *err)
{
    int result;

    sqlite3_bind_int64(sequence->stmt, 1, id);
    result = match_advance(sequence, err);
    sqlite3_reset(sequence->stmt);
    return result;
}

static int put_pair(struct match *m, sqlite3_stmt *pair, struct sequence requests[2],
                    struct err *err)
{
    bool name = has_name(pair);

    for (int i = 0; i < 2; i++)
        if (read_request(&requests[i], sqlite3_column_int64(pair, PAIR_ID + i), err) < 0)
            return -err->code;
    if (match_column(m, pair, PAIR_OBJECT, name ? path_of_directory : match_path_of_operation,
                     err) < 0 ||
        match_column(m, pair, PAIR_OBJECT2, path_of_directory2, err) < 0)
        return -err->code;
    m->client = requests[match_side(m, ONE) == REF ? ONE : OTHER].client;
    m->row = matched_row(&m->objects, match_side(m, ONE), sqlite3_column_int64(pair, PAIR_OBJECT));
    if (match_put_requests(m, &requests[ONE].element, &requests[OTHER].element, err) < 0)
        return -err->code;
    return renewals_apply(&m->renewals, UINT32_MAX, err);
}

static int prepare(struct match *m, struct sequence requests[2], sqlite3_stmt **pairs,
                   struct err *err)
{
    const char *schema[2];
    char sql[1024];
    int side[2];

    for (int i = 0; i < 2; i++) {
        side[i] = db_side(match_side(m, i));
        schema[i] = m->c->side[match_side(m, i)].schema;
        snprintf(sql, sizeof(sql), select_request, side[i]);
        if (sql_prepare(m->c->db, sql, &requests[i].stmt, err) < 0)
            return -err->code;
    }
    snprintf(sql, sizeof(sql), select_pairs, side[ONE], side[OTHER], schema[ONE], schema[OTHER]);
    return sql_prepare(m->c->db, sql, pairs, err);
}

/* --- what only one side has */

/* |%1$d|: the side, |%2$s|: its name, |%3$s|: the reason. */
static const char select_rest[] =
    "SELECT l.id, l.object, %3$s FROM temp.sequence%1$d l JOIN %2$s.operation o ON o.id = l.id"
    " WHERE l.id NOT IN (SELECT %2$s FROM temp.pair WHERE %2$s IS NOT NULL) ORDER BY l.time, l.id";
enum { REST_ID, REST_OBJECT, REST_REASON };

/* |%1$d|: the side, |%2$d|: the other, |%3$u|: the copy, then reasons. */
static const char reason_of[] =
    "CASE WHEN o.counterpart IS NULL THEN %4$d WHEN o.counterpart_copy <> %3$u THEN %5$d"
    " WHEN l.id NOT IN (SELECT id FROM temp.number%1$d) THEN %6$d"
    " WHEN o.counterpart NOT IN (SELECT number FROM temp.number%2$d) THEN %7$d ELSE %8$d END";

static int put_rest_of(struct match *m, int which, struct sequence *request, struct err *err)
{
    int side = match_side(m, which), result;
    char reason[512] = "1", sql[1024];
    sqlite3_stmt *rest;

    if (m->c->numbered[side])
        snprintf(reason, sizeof(reason), reason_of, db_side(side), db_side(!side), m->c->copy,
                 REASON_NO_NUMBER, REASON_OTHER_COPY, REASON_REPEATED, REASON_UNKNOWN_NUMBER,
                 REASON_NOT_ASKED);
    snprintf(sql, sizeof(sql), select_rest, db_side(side), m->c->side[side].schema, reason);
    if (sql_prepare(m->c->db, sql, &rest, err) < 0)
        return -err->code;
    while ((result = sql_row(rest, err)) > 0) {
        m->reason = (enum align_reason)sqlite3_column_int(rest, REST_REASON);
        m->row = matched_row(&m->objects, side, sqlite3_column_int64(rest, REST_OBJECT));
        result = read_request(request, sqlite3_column_int64(rest, REST_ID), err);
        m->client = request->client;
        if (result == 0)
            result = match_put_requests(m, which == ONE ? &request->element : NULL,
                                        which == ONE ? NULL : &request->element, err);
        if (result < 0)
            break;
    }
    sqlite3_finalize(rest);
    return result;
}

int match_numbers(struct match *m, struct err *err)
{
    struct sequence requests[2] = { { .stmt = NULL } };
    sqlite3_stmt *pairs = NULL;
    int result = prepare(m, requests, &pairs, err);

    while (result == 0 && (result = sql_row(pairs, err)) > 0)
        result = put_pair(m, pairs, requests, err);
    if (result == 0)
        result = match_all_names(m, err);
    for (int i = 0; result == 0 && i < 2; i++)
        result = put_rest_of(m, i, &requests[i], err);
    sqlite3_finalize(pairs);
    for (int i = 0; i < 2; i++)
        sqlite3_finalize(requests[i].stmt);
    return result;
}
