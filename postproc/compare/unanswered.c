/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/unanswered.c
 *
 * Finds out why a call has no reply: the server gave none, the capture lost it, or the capture
 * ended before it.
 *
 * The server gave none if the client sent the call again; or if later calls of the connection were
 * answered and this one had waited longer than any answered call of its procedure; or if the
 * capture went on for long.
 *
 * The capture may have lost the reply if bytes from the server are missing on a TCP connection
 * after the call.  If they are too few for all the missing replies, it is unknown which ones they
 * were.
 *
 * Over UDP, lost datagrams leave no hole.  A client that had the time to send the call again, or
 * that sent other calls again but not this one, seems to have received the reply.  If there are
 * replies without calls, the capture loses datagrams.  Then the reason is unknown, except if many
 * calls have no reply and hardly any reply has no call, because a capture loses both alike.
 */
#include "compare/compare_pairs.h"

enum {
    SILENT_CALLS = 8, /* UDP: so many calls without a reply for one reply without a call */
};
/* ns: Linux repeats a call over TCP after 60 s (nfs(5), timeo). */
#define PATIENCE INT64_C(60000000000)
/* ns: clients over UDP that ask again do so within this time: Linux after 1.1 s (nfs(5), timeo),
 * libtirpc's after 15 s. */
#define ASK_AGAIN INT64_C(15000000000)
/* Bytes of a reply that is one datagram without fragments, lost as easily as a call. */
#define SHORT_REPLY "1400"
/* Bytes of the shortest reply over TCP, with its record mark (RFC 5531 s9, s11). */
#define LEAST_REPLY "28"
/* ns: captures with less time between them are one: rotated files. */
#define GAP "1000000000"

#define MAKE_TABLES(S, N)                                                                          \
    "CREATE TEMP TABLE asked" N " AS SELECT flow, program, version, procedure,"                    \
    "  max(call_time) FILTER (WHERE reply_frame IS NOT NULL) AS last_call,"                        \
    "  max(reply_time) FILTER (WHERE call_time IS NOT NULL) AS last_reply,"                        \
    "  max(reply_time - call_time) AS latency, max(reply_length) AS longest,"                      \
    "  count(*) FILTER (WHERE reply_frame IS NULL) AS silent,"                                     \
    "  count(*) FILTER (WHERE call_frame IS NULL) AS orphans"                                      \
    "  FROM " S ".operation GROUP BY flow, program, version, procedure;"                           \
    "CREATE TEMP TABLE slowest" N " (program INTEGER, version INTEGER, procedure INTEGER,"         \
    "  latency INTEGER, longest INTEGER, PRIMARY KEY (program, version, procedure));"              \
    "INSERT INTO temp.slowest" N " SELECT program, version, procedure, max(latency),"              \
    "  max(longest) FROM temp.asked" N " WHERE program IS NOT NULL"                                \
    "  GROUP BY program, version, procedure;"                                                      \
    "CREATE TEMP TABLE connection" N " (flow INTEGER PRIMARY KEY, last_call INTEGER,"              \
    "  last_reply INTEGER, silent INTEGER, orphans INTEGER);"                                      \
    "INSERT INTO temp.connection" N " SELECT a.flow, max(a.last_call), max(a.last_reply),"         \
    "  sum(a.silent) FILTER (WHERE s.longest <= " SHORT_REPLY "), sum(a.orphans)"                  \
    "  FROM temp.asked" N " a LEFT JOIN temp.slowest" N " s ON s.program = a.program AND"          \
    "  s.version = a.version AND s.procedure = a.procedure GROUP BY a.flow;"                       \
    "CREATE TEMP TABLE repeating" N " (flow INTEGER PRIMARY KEY);"                                 \
    "INSERT OR IGNORE INTO temp.repeating" N " SELECT flow FROM " S ".retransmission"              \
    "  WHERE kind = 1;"                                                                            \
    "CREATE TEMP TABLE hole" N " AS SELECT flow, time FROM " S ".problem"                          \
    "  WHERE kind IN (1, 2, 5) AND flow IS NOT NULL AND ifnull(direction, 1) = 1;"                 \
    "CREATE INDEX temp.hole" N "_by_flow ON hole" N " (flow, time);"                               \
    "CREATE TEMP TABLE lost" N " (flow INTEGER PRIMARY KEY, bytes INTEGER, silent INTEGER);"       \
    "INSERT INTO temp.lost" N " SELECT h.flow, h.bytes, count(*) FROM (SELECT flow,"               \
    "   max(time) AS last, CASE WHEN count(*) FILTER (WHERE kind = 5 OR time IS NULL) = 0"         \
    "   THEN sum(length) END AS bytes FROM " S ".problem WHERE kind IN (1, 2, 5)"                  \
    "   AND flow IS NOT NULL AND ifnull(direction, 1) = 1 GROUP BY flow) h"                        \
    "  JOIN " S ".operation o ON o.flow = h.flow"                                                  \
    "  WHERE o.reply_frame IS NULL AND o.call_time <= h.last GROUP BY h.flow;"                     \
    "CREATE TEMP TABLE run" N " (source INTEGER PRIMARY KEY, last INTEGER);"                       \
    "INSERT INTO temp.run" N " SELECT id, max(last_time) OVER (PARTITION BY run) FROM"             \
    "  (SELECT id, last_time, sum(gap) OVER (ORDER BY id) AS run FROM"                             \
    "   (SELECT id, last_time,"                                                                    \
    "   ifnull(abs(first_time - lag(last_time) OVER (ORDER BY id)) > " GAP ", 1) AS gap"           \
    "   FROM " S ".source));"

/* ?1: the operation; ?2: PATIENCE; ?3: SILENT_CALLS.  Columns are those of enum column.  Of a call
 * that was sent again, its last copy counts. */
#define SELECT_CALL(S, N)                                                                          \
    "SELECT f.transport = 6, o.call_time, c.last_call, c.last_reply, s.latency,"                   \
    " (SELECT max(latency) FROM temp.slowest" N "), u.last,"                                       \
    " (SELECT count(DISTINCT last) = 1 FROM temp.run" N "), x.id IS NOT NULL,"                     \
    " EXISTS (SELECT 1 FROM temp.hole" N " h WHERE h.flow = ifnull(x.flow, o.flow) AND"            \
    "  (h.time IS NULL OR h.time BETWEEN ifnull(x.time, o.call_time) AND"                          \
    "  ifnull(x.time, o.call_time) + ?2 + 2 *"                                                     \
    "  (SELECT ifnull(max(latency), 0) FROM temp.slowest" N "))),"                                 \
    " s.longest <= " SHORT_REPLY " AND c.silent >= ?3 * (c.orphans + 1) AND"                       \
    "  o.flow NOT IN (SELECT flow FROM temp.repeating" N "),"                                      \
    " c.orphans > 0 OR o.flow IN (SELECT flow FROM temp.repeating" N "),"                          \
    " EXISTS (SELECT 1 FROM temp.lost" N " l WHERE l.flow = ifnull(x.flow, o.flow)"                \
    "  AND l.bytes < l.silent * " LEAST_REPLY ")"                                                  \
    " FROM " S ".operation o JOIN " S ".flow f ON f.id = o.flow"                                   \
    " LEFT JOIN temp.connection" N " c ON c.flow = o.flow"                                         \
    " LEFT JOIN temp.slowest" N " s ON s.program = o.program AND s.version = o.version AND"        \
    "  s.procedure = o.procedure"                                                                  \
    " LEFT JOIN temp.run" N " u ON u.source = o.call_source"                                       \
    " LEFT JOIN " S ".retransmission x ON x.id = (SELECT max(r.id) FROM " S ".retransmission r"    \
    "  WHERE r.operation = o.id AND r.kind = 1) WHERE o.id = ?1"

enum column {
    IS_TCP,
    CALL_TIME,
    LAST_CALL,  /* of those of the connection that were answered */
    LAST_REPLY, /* of the connection */
    SLOWEST,    /* answer of this procedure, ns; NULL: none was answered */
    SLOWEST_OF_ALL,
    LAST_FRAME, /* time, of the capture */
    IS_ONE_RUN, /* there is no gap between captures */
    IS_REPEATED,
    HAS_HOLE,    /* behind the call */
    ARE_SILENT,  /* UDP: calls without a reply are no loss */
    MAY_BE_LOST, /* UDP: the capture lost calls, or the client repeats others */
    IS_SMALL,    /* the holes are too small for all replies that are not there */
};

static int prepare(struct pairs *p, int side, struct err *err)
{
    static const char *const tables[SIDES] = { MAKE_TABLES("ref", "1"), MAKE_TABLES("sut", "2") };
    static const char *const select[SIDES] = { SELECT_CALL("ref", "1"), SELECT_CALL("sut", "2") };

    if (p->unanswered[side])
        return 0;
    if (sql_run(p->c->db, tables[side], err) < 0)
        return -err->code;
    if (sql_prepare(p->c->db, select[side], &p->unanswered[side], err) < 0)
        return -err->code;
    sqlite3_bind_int64(p->unanswered[side], 2, PATIENCE);
    sqlite3_bind_int(p->unanswered[side], 3, SILENT_CALLS);
    return 0;
}

/* Later calls were answered, and this one waited longer than any answered one. */
static bool was_passed_over(sqlite3_stmt *row)
{
    int64_t call = sqlite3_column_int64(row, CALL_TIME);
    int64_t slowest =
        sql_column(row, SLOWEST, sqlite3_column_int64(row, SLOWEST_OF_ALL)); /* NULL: of others */

    return sqlite3_column_type(row, LAST_CALL) != SQLITE_NULL &&
           sqlite3_column_int64(row, LAST_CALL) > call &&
           sqlite3_column_int64(row, LAST_REPLY) - call > slowest;
}

/* The capture went on for |wait|, and for longer than any answer took. */
static bool was_long_ago(sqlite3_stmt *row, int64_t wait)
{
    int64_t slowest = sqlite3_column_int64(row, SLOWEST_OF_ALL);

    wait = wait > slowest ? wait : slowest;
    return sqlite3_column_type(row, LAST_FRAME) != SQLITE_NULL &&
           sqlite3_column_int64(row, LAST_FRAME) - sqlite3_column_int64(row, CALL_TIME) > wait;
}

/* Over UDP, of a call that was not sent again though others were answered or time went by. */
static int decide_datagram(sqlite3_stmt *row)
{
    if (sqlite3_column_int(row, ARE_SILENT))
        return 0;
    return sqlite3_column_int(row, MAY_BE_LOST) || was_long_ago(row, ASK_AGAIN)
               ? WITHHELD_NOT_REPEATED
               : 0;
}

static int decide(const struct effect *e, sqlite3_stmt *row)
{
    /* the engine gave up because the connection ended, or after a long time */
    bool is_over = e->pairing == REPLY_LOST && sqlite3_column_int(row, IS_ONE_RUN);
    bool repeated = sqlite3_column_int(row, IS_REPEATED), tcp = sqlite3_column_int(row, IS_TCP);

    if (sqlite3_column_type(row, CALL_TIME) == SQLITE_NULL)
        return WITHHELD_LOST;
    if (tcp && sqlite3_column_int(row, HAS_HOLE))
        return sqlite3_column_int(row, IS_SMALL) ? WITHHELD_SMALL_HOLE : WITHHELD_LOST;
    if (repeated)
        return 0;
    is_over = is_over && tcp;
    if (!is_over && !was_passed_over(row) && !was_long_ago(row, PATIENCE))
        return WITHHELD_CAPTURE_END;
    if (sqlite3_column_type(row, LAST_CALL) == SQLITE_NULL)
        return WITHHELD_UNHEARD; /* perhaps nothing that the server sent was captured */
    return tcp ? 0 : decide_datagram(row);
}

/* A shadow waited for the SUT as long as its user said. */
static bool is_known_silent(const struct pairs *p, int side)
{
    return p->live.is && side == SUT;
}

int unanswered_reason(void *ctx, const struct judge_pair *pair, int side, struct err *err)
{
    struct pairs *p = ctx;
    const struct effect *e = &pair->half[side].effect;
    int result;

    if (e->pairing != REPLY_LOST && e->pairing != CAPTURE_ENDED)
        return WITHHELD_LOST;
    if (is_known_silent(p, side))
        return 0;
    if (prepare(p, side, err) < 0)
        return -err->code;
    sqlite3_bind_int64(p->unanswered[side], 1, e->id);
    result = sql_row(p->unanswered[side], err);
    if (result >= 0)
        result = result ? decide(e, p->unanswered[side]) : WITHHELD_LOST;
    sqlite3_reset(p->unanswered[side]);
    return result;
}

void unanswered_close(struct pairs *p)
{
    sqlite3_finalize(p->unanswered[REF]);
    sqlite3_finalize(p->unanswered[SUT]);
}
