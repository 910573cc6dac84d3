/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/trace_report_parts.h"
#include "store/sql.h"

const char trace_sources[] = "SELECT id, name, kind, state, note, frames, operations, first_time,"
                             " last_time FROM source ORDER BY id LIMIT ?1";

const char trace_problems[] =
    "SELECT ifnull(c.name, p.kind) AS problem, count(*) AS count, sum(p.length) AS bytes"
    " FROM problem p LEFT JOIN code c ON c.domain = 'problem' AND c.value = p.kind"
    " GROUP BY p.kind ORDER BY p.kind";

const char trace_holes[] =
    "SELECT p.time, p.length AS bytes, s.name AS source, p.frame, f.client, f.server,"
    " CASE p.direction WHEN 0 THEN 'to server' ELSE 'to client' END AS direction FROM problem p "
    "JOIN source s ON s.id = p.source"
    " LEFT JOIN flow f ON f.id = p.flow WHERE p.kind = 1 ORDER BY p.length DESC, p.id LIMIT ?1";

const char trace_counters[] =
    "SELECT name AS counter, sum(value) AS value FROM counter GROUP BY name ORDER BY name"
    " LIMIT ?1";

/* The filter finds both messages in their capture; if they are in different ones, it finds them by
 * what they say. */
const char trace_slow[] =
    "SELECT o.id AS operation, o.latency, ifnull(o.call_time, o.reply_time) AS time,"
    " op.program || ' ' || op.procedure AS procedure, op.path, op.path2, op.status, o.client, "
    "f.client_port AS port,"
    " o.server, op.uid, o.xid, c.name AS call_source, o.call_frame, r.name AS reply_source,"
    " o.reply_frame,"
    " CASE WHEN o.call_source = o.reply_source"
    "  THEN printf('frame.number in {%d, %d}', o.call_frame, o.reply_frame)"
    "  ELSE printf('rpc.xid == 0x%08x && %s == %s', o.xid,"
    "   CASE WHEN instr(o.client, ':') THEN 'ipv6.addr' ELSE 'ip.addr' END, o.client)"
    " END AS filter"
    " FROM operation o JOIN op ON op.id = o.id LEFT JOIN flow f ON f.id = o.flow"
    " LEFT JOIN source c ON c.id = o.call_source LEFT JOIN source r ON r.id = o.reply_source"
    " WHERE o.id = ?1";

int trace_each_slow(struct trace_view *v, void (*show)(void *ctx, sqlite3_stmt *row), void *ctx)
{
    sqlite3_stmt *row;
    int result = 0;

    if (sql_prepare(v->h.db, trace_slow, &row, v->h.err) < 0)
        return -v->h.err->code;
    for (uint32_t i = 0; result == 0 && i < v->a.slowest_count; i++) {
        sqlite3_bind_int64(row, 1, v->a.slowest[i].operation);
        result = sql_row(row, v->h.err);
        if (result > 0)
            show(ctx, row);
        result = result < 0 ? result : 0;
        sqlite3_reset(row);
    }
    return sql_end(row, result, v->h.err);
}
