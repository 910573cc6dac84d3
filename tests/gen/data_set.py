# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests: the rows of a Parquet data set that was made in pieces, against those of "nfsdigest ingest" of the whole,
by natural keys instead of ids: endpoints, handles, frames."""
import pathlib
import sqlite3
import subprocess

import database
import duckdb
import python_package

FLOW = "f.transport, f.client, f.client_port, f.server, f.server_port"
# {part}: nothing in SQLite, whose ids are those of the whole
QUERIES = {
    "operation": "SELECT {pairing}, o.call_source, o.call_frame, o.call_first_frame, o.call_time, o.call_length, "
                 "o.call_flags, o.reply_source, o.reply_frame, o.reply_first_frame, o.reply_time, o.reply_length, "
                 f"o.reply_flags, o.client, o.server, {FLOW}, o.xid, o.program, o.version, o.procedure, o.rpc_status, "
                 'o.status, o."offset", o."count", o.data_length, o.arguments_length, o.result_length, o.latency, '
                 "a.handle, b.handle, n.handle, c.flavor, c.uid, c.gid, c.machine, c.body FROM operation o "
                 "LEFT JOIN flow f ON f.id = o.flow {f} LEFT JOIN object a ON a.id = o.object {a} "
                 "LEFT JOIN object b ON b.id = o.object2 {b} LEFT JOIN object n ON n.id = o.new_object {n} "
                 "LEFT JOIN credential c ON c.id = o.credential {c}",
    "retransmission": f"SELECT o.kind, o.differs, o.source, o.frame, o.first_frame, o.time, o.length, o.flags, {FLOW} "
                      "FROM retransmission o JOIN flow f ON f.id = o.flow {f}",
    "copy": f"SELECT o.kind, o.source, o.frame, o.first_frame, o.time, o.length, o.flags, {FLOW} "
            "FROM copy o JOIN flow f ON f.id = o.flow {f}",
    "problem": f"SELECT o.source, o.kind, o.frame, o.time, o.direction, o.xid, o.length, o.text, {FLOW} "
               "FROM problem o LEFT JOIN flow f ON f.id = o.flow {f}",
    "object": "SELECT server, handle, max(type), max(fsid), max(fileid), min(time) FROM object GROUP BY 1, 2",
    "flow": "SELECT transport, client, client_port, server, server_port, min(time) FROM flow GROUP BY 1, 2, 3, 4, 5",
    "credential": "SELECT DISTINCT flavor, valid, uid, gid, gids, machine, stamp, gss_service, body FROM credential",
    "source": "SELECT id, kind, state, size, frame_base, frames, operations, calls, replies, retransmissions, copies, "
              "problems, first_time, last_time FROM source",
    "counter": "SELECT source, name, value FROM counter",
    **{table: f"SELECT * FROM {table}" for table in ("program", "procedure", "status_name", "field", "code")},
}
# of a data set that has what the whole past of servers says
NAMES = {
    "operation": QUERIES["operation"].replace("c.body FROM", "c.body, p.text, q.text, d.call_frame FROM").replace(
        "{pairing}", "o.pairing") + " LEFT JOIN path p ON p.id = o.path {p} LEFT JOIN path q ON q.id = o.path2 {q} "
    "LEFT JOIN operation d ON d.id = o.depends_on {d}",
    "name_event": "SELECT o.event, a.handle, o.name, b.handle, o.time FROM name_event o LEFT JOIN object a "
                  "ON a.id = o.parent {a} LEFT JOIN object b ON b.id = o.object {b}",
    "path": "SELECT text FROM path",
    "object": "SELECT server, handle, type, fsid, fileid, source, frame, time FROM object",
    "retransmission": QUERIES["retransmission"].replace("o.kind,", "o.kind, d.call_frame, d.reply_frame,") +
    " LEFT JOIN operation d ON d.id = o.operation {d}",
}
WAITED = "CASE WHEN o.pairing IN (1, 4) THEN 1 ELSE o.pairing END"  # no reply: for whatever reason


def _rows(connection, sql):
    found = [tuple(int(v) if isinstance(v, bool) else v for v in row) for row in connection.execute(sql).fetchall()]
    return sorted(found, key=repr)


def ingest(captures, file):
    subprocess.run([database.program(), "ingest", file, *map(str, captures)], check=False, capture_output=True)
    return sqlite3.connect(file)


def opened(folder):
    connection = duckdb.connect()
    connection.execute(f"SET VARIABLE trace = '{folder}'")
    connection.execute((pathlib.Path(python_package.SRC) / "schemas/trace_duckdb.sql").read_text())
    return connection


def differences(stored, folder, names=True):
    """{table: text} of tables that are not equal."""
    data, found = opened(folder), {}
    for table, sql in (QUERIES | NAMES if names else QUERIES).items():
        parts = {name: f"AND {name}.part = o.part" for name in "fabncpqd"}
        want = _rows(stored, sql.format(**dict.fromkeys(parts, ""), pairing=WAITED))
        got = _rows(data, sql.format(**parts, pairing=WAITED))
        if got != want:
            missing, more = set(want) - set(got), set(got) - set(want)
            found[table] = (f"{len(got)} rows of {len(want)}; {len(missing)} missing: {list(missing)[:1]}; "
                            f"{len(more)} more: {list(more)[:1]}")
    return found
