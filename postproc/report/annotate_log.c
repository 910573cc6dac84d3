/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate_log.c
 *
 * Finds the discrepancies of a shadow's log in captures of the relay's clients.  The log has the
 * client's address, port and XID as they are there, but its frames are entries of the relay's ring,
 * and its server is the reference, whereas the clients ask the relay.
 */
#include "report/annotate_parts.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

/* The relay's clock and the capture's may be those of different machines.  XIDs come again: when a
 * client that was restarted has the same port, too. */
#define APART "10000000000" /* ns */

/* As compare names a log's two streams. */
static const char select_is_log[] =
    "SELECT (SELECT count(*) FROM main.source WHERE side IN (1, 2)) = 2 AND"
    " EXISTS (SELECT 1 FROM main.source WHERE side = 1 AND"
    "  (name = 'reference.nfsr' OR name LIKE '%/reference.nfsr')) AND"
    " EXISTS (SELECT 1 FROM main.source WHERE side = 2 AND"
    "  (name = 'sut.nfsr' OR name LIKE '%/sut.nfsr'))";

static const char make_tables[] =
    "CREATE TEMP TABLE frame (side INTEGER, source INTEGER, frame INTEGER, discrepancy INTEGER,"
    " other_source INTEGER, other_frame INTEGER, is_reference INTEGER, outside INTEGER,"
    " apart INTEGER);"
    "CREATE TEMP TABLE wanted AS SELECT f.discrepancy, o.client, o.client_port, o.server,"
    " o.server_port, o.xid, o.program, o.version, o.procedure, o.call_time,"
    " ifnull(o.reply_time, o.call_time) AS reply_time"
    " FROM main.frame f JOIN main.discrepancy d ON d.id = f.discrepancy"
    " JOIN main.operation o ON o.side = 1 AND o.id = d.ref WHERE f.side = 1;"
    "CREATE INDEX temp.wanted_xid ON wanted (xid, client, client_port);";

/* Of all captures the nearest call, and rather one that went to another server than the reference:
 * a relay beside its client asks the reference from the same address and port.  The relay gets a
 * call after the client sent it, sometimes much later, and its reply before the client does: so
 * the one that encloses the log's times comes before one that begins nearer to them.  The capture
 * may have begun behind a call.  ?1: the target */
static const char find_frames[] =
    "INSERT INTO temp.frame SELECT 1, ?1, ifnull(c.reply_frame, c.call_frame), w.discrepancy,"
    " NULL, NULL, l.server = w.server AND l.server_port = w.server_port,"
    " max(0, ifnull(c.call_time, w.call_time) - w.call_time)"
    "  + max(0, w.reply_time - ifnull(c.reply_time, w.reply_time)),"
    " abs(ifnull(c.call_time, c.reply_time) - w.call_time)"
    "  FROM clients.operation c CROSS JOIN clients.flow l ON l.id = c.flow"
    "  CROSS JOIN temp.wanted w ON w.xid = c.xid AND w.client = c.client AND"
    "   w.client_port = l.client_port AND (c.program IS NULL OR (w.program = c.program AND"
    "   w.version = c.version AND w.procedure = c.procedure))"
    "  WHERE ifnull(c.call_time, c.reply_time) BETWEEN w.call_time - " APART
    " AND w.call_time + " APART;
static const char keep_nearest[] =
    "DELETE FROM temp.frame WHERE rowid NOT IN (SELECT first_value(rowid) OVER"
    " (PARTITION BY discrepancy ORDER BY is_reference, outside, apart, source, frame)"
    " FROM temp.frame)";

int annotate_is_log(struct annotate *a)
{
    int64_t is;

    if (sql_number(a->db, select_is_log, 0, &is, a->err) < 0)
        return -a->err->code;
    return is != 0;
}

static int need_captures(struct annotate *a, uint32_t captures)
{
    if (!captures)
        return err_set(a->err, ERR_USAGE,
                       "--annotate: the log of a shadow has no packets: give captures of the "
                       "relay's clients to \"nfsdigest report --annotate\", behind the result");
    if (captures > ANNOTATE_CAPTURES_MAX)
        return err_set(a->err, ERR_USAGE, "more than %d captures cannot be annotated at once",
                       ANNOTATE_CAPTURES_MAX);
    return 0;
}

/* A capture has requests of all sides, so its copy is named after none. */
static void add_target(struct annotate *a)
{
    struct target *t = &a->targets[a->count++];

    t->source[SIDE_REF] = t->source[SIDE_SUT] = a->count;
}

int annotate_log_names(struct annotate *a, uint32_t captures)
{
    if (need_captures(a, captures) < 0)
        return -a->err->code;
    while (a->count < captures)
        add_target(a);
    return 0;
}

/* Digest and frames of the capture, to see that its copy is made of the same one. */
static int describe(struct annotate *a, struct target *t)
{
    sqlite3_stmt *row;
    int result = sql_prepare(
        a->db, "SELECT digest, frames, (SELECT count(*) FROM clients.source) FROM clients.source",
        &row, a->err);

    if (result < 0)
        return result;
    result = sql_row(row, a->err);
    if (result > 0) {
        struct bytes digest = sql_column_bytes(row, 0);

        t->frames = (uint64_t)sqlite3_column_int64(row, 1);
        result = 0;
        if (digest.len != INPUT_DIGEST_LEN || sqlite3_column_int64(row, 2) != 1)
            result = err_set(a->err, ERR_INPUT, "%s: not a capture", t->found);
        else
            memcpy(t->digest, digest.data, INPUT_DIGEST_LEN);
    } else if (result == 0) {
        result = err_set(a->err, ERR_INPUT, "%s: not a capture", t->found);
    }
    return sql_end(row, result, a->err);
}

static int look_up(struct annotate *a, struct target *t)
{
    sqlite3_stmt *stmt;
    int result = describe(a, t);

    if (result == 0 && (result = sql_prepare(a->db, find_frames, &stmt, a->err)) == 0) {
        sqlite3_bind_int64(stmt, 1, t->source[SIDE_REF]);
        result = sql_step(stmt, a->err);
        sqlite3_finalize(stmt);
    }
    return result;
}

static int attach(struct annotate *a, const char *database)
{
    sqlite3_stmt *stmt;
    int result = sql_prepare(a->db, "ATTACH ?1 AS clients", &stmt, a->err);

    if (result < 0)
        return result;
    sql_bind_text(stmt, 1, database);
    result = sql_step(stmt, a->err);
    sqlite3_finalize(stmt);
    return result;
}

static int find_target(struct annotate *a, const struct annotate_request *r, uint32_t i)
{
    struct target *t = &a->targets[i];
    const char *database;
    struct err unseen;
    int result;

    t->found = strdup(r->captures[i]);
    if (!t->found)
        return annotate_no_memory(a);
    if ((result = r->find(r->ctx, t->found, &database, a->err)) < 0 ||
        (result = attach(a, database)) < 0)
        return result;
    result = look_up(a, t);
    sql_run(a->db, "DETACH clients", &unseen);
    return result;
}

int annotate_log_targets(struct annotate *a, const struct annotate_request *r)
{
    int result = r->find ? annotate_log_names(a, r->count) : need_captures(a, 0);

    if (result == 0)
        result = sql_run(a->db, make_tables, a->err);
    for (uint32_t i = 0; result == 0 && i < a->count; i++)
        result = find_target(a, r, i);
    return result < 0 ? result : sql_run(a->db, keep_nearest, a->err);
}

int annotate_log_lost(struct annotate *a, uint64_t *lost, uint64_t *all)
{
    int64_t found = 0, wanted = 0;
    int result = annotate_is_log(a);

    if (result <= 0)
        return result;
    if (sql_number(a->db, "SELECT count(*) FROM temp.wanted", 0, &wanted, a->err) < 0 ||
        sql_number(a->db, "SELECT count(DISTINCT discrepancy) FROM temp.frame", 0, &found, a->err) <
            0)
        return -a->err->code;
    *all = (uint64_t)wanted;
    *lost = (uint64_t)(wanted - found);
    return 0;
}
