/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/hang_far.c
 *
 * Matches the calls of two traces, one from the client's side and one from the server's: by XID,
 * procedure and arguments, because addresses and ports may be translated between them.  The
 * difference of the clocks follows from the fastest ways there and back.  For hang_find.c.  The
 * contract is in hang.h.
 */
#include "cli/hang.h"
#include "store/sql.h"

static int attach(sqlite3 *db, const char *far, struct err *err)
{
    sqlite3_stmt *stmt;

    if (sql_prepare(db, "ATTACH ?1 AS far", &stmt, err) < 0)
        return -err->code;
    sql_bind_text(stmt, 1, far);
    return sql_end(stmt, sql_step(stmt, err), err);
}

/* Of several calls with the same content, the pair that is nearest in time. */
static const char match_all[] =
    "CREATE TEMP TABLE hang_pair AS SELECT a.id AS near, b.id AS far, a.call_time AS near_call,"
    " b.call_time AS far_call, a.reply_time AS near_reply, b.reply_time AS far_reply,"
    " min(abs(b.call_time - a.call_time)) AS apart FROM main.operation a"
    " CROSS JOIN far.operation b ON b.xid = a.xid AND b.program = a.program"
    " AND b.version = a.version AND b.procedure = a.procedure AND b.arguments IS a.arguments"
    " WHERE a.call_time IS NOT NULL AND b.call_time IS NOT NULL GROUP BY a.id;"
    "CREATE INDEX temp.hang_pair_by_near ON hang_pair (near);";

static int measure(sqlite3 *db, struct hang_match *match, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(db,
                             "SELECT count(*), min(far_call - near_call),"
                             " (SELECT min(near_reply - far_reply) FROM temp.hang_pair),"
                             " sum(near_reply - near_call < far_reply - far_call),"
                             " sum(near_reply - near_call > far_reply - far_call)"
                             " FROM temp.hang_pair",
                             &stmt, err);

    if (result < 0)
        return result;
    result = sql_row(stmt, err);
    if (result > 0) {
        int64_t there = sql_column(stmt, 1, INT64_MIN), back = sql_column(stmt, 2, INT64_MIN);

        match->calls = (uint64_t)sqlite3_column_int64(stmt, 0);
        match->known = there != INT64_MIN && back != INT64_MIN;
        if (match->known) {
            match->offset = (there - back) / 2;
            match->path = (there + back) / 2;
        }
        match->shorter = (uint64_t)sqlite3_column_int64(stmt, 3);
        match->longer = (uint64_t)sqlite3_column_int64(stmt, 4);
    }
    return sql_end(stmt, result < 0 ? result : 0, err);
}

/* Where the calls of a connection are that wait at ?2 (?3 by the server's clock). */
static int locate(sqlite3 *db, const struct hang_request *request, const struct hang *h,
                  struct hang_connection *c, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(
        db,
        "SELECT sum(p.far IS NULL OR p.far_call > ?3),"
        " sum(p.far_call <= ?3 AND (p.far_reply IS NULL OR p.far_reply > ?3)),"
        " sum(p.far_call <= ?3 AND p.far_reply <= ?3) FROM main.operation o"
        " LEFT JOIN temp.hang_pair p ON p.near = o.id WHERE o.flow = ?1 AND o.call_time <= ?4"
        " AND (o.reply_time > ?2 OR (o.reply_frame IS NULL AND o.pairing <> 0))",
        &stmt, err);

    if (result < 0)
        return result;
    sqlite3_bind_int64(stmt, 1, c->flow);
    sqlite3_bind_int64(stmt, 2, request->at);
    sqlite3_bind_int64(stmt, 3, request->at + h->match.offset);
    sqlite3_bind_int64(stmt, 4, request->at - request->age);
    result = sql_row(stmt, err);
    if (result > 0)
        c->far = (struct hang_far){ (uint64_t)sqlite3_column_int64(stmt, 0),
                                    (uint64_t)sqlite3_column_int64(stmt, 1),
                                    (uint64_t)sqlite3_column_int64(stmt, 2) };
    return sql_end(stmt, result < 0 ? result : 0, err);
}

int hang_match(sqlite3 *db, const char *far, const struct hang_request *request, struct hang *h,
               struct err *err)
{
    if (attach(db, far, err) < 0 || sql_run(db, match_all, err) < 0 ||
        measure(db, &h->match, err) < 0)
        return -err->code;
    if (!h->match.known)
        return err_set(err, ERR_INPUT,
                       "%.200s: has no call with its reply that the other trace has, too", far);
    if (h->match.path < 0 && h->match.shorter > h->match.longer)
        return err_set(err, ERR_INPUT,
                       "the two traces are swapped: replies come later in the second one; give the"
                       " one from the client's side first");
    for (uint32_t i = 0; i < h->count && i < request->top; i++)
        if (locate(db, request, h, &h->list[i], err) < 0)
            return -err->code;
    return 0;
}
