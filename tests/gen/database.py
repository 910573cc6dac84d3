# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs nfsdigest ingest and reads what it made of captures, through sqlite3 alone."""
import collections
import os
import sqlite3
import subprocess

PAIRED, REPLY_LOST, CALL_LOST, OUT_OF_WINDOW, CAPTURE_ENDED = range(5)
PARTIAL, OTHER_ADDRESS = 1, 1024
REPEATS = {1: "call", 2: "reply", 3: "copy of call", 4: "copy of reply"}  # code 'repeat'

# A message as the database shows it. |source| and |destination| are (address, port); |frame| is
# counted over all sources; |operation| tells which messages belong together.
Sighting = collections.namedtuple(
    "Sighting", "direction xid transport source destination first_frame frame flags operation")


def program():
    return os.environ.get("NFSDIGEST", "build/bin/nfsdigest")


def ingest(database, *captures):
    """Raises when the program does not end well."""
    done = subprocess.run([program(), "ingest", "-o", str(database)] + [str(c) for c in captures],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("nfsdigest ingest ended with %d: %s" % (done.returncode,
                                                                   done.stderr.strip()))


def rows(path, sql):
    """What a query finds."""
    connection = sqlite3.connect(path)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


class Database:
    """|lengths|: frames of each source, in the order in which they were ingested."""

    def __init__(self, path, lengths=None):
        self.connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.connection.row_factory = sqlite3.Row
        self.base, before = {}, 0
        sources = self.rows("SELECT id, frames FROM source ORDER BY id")
        for i, row in enumerate(sources):
            self.base[row["id"]] = before
            before += row["frames"]
            if lengths is not None and lengths[i] != row["frames"]:
                raise RuntimeError("source %d: %d frames, not %d" % (i + 1, row["frames"],
                                                                     lengths[i]))

    def close(self):
        self.connection.close()

    def rows(self, query):
        return self.connection.execute(query).fetchall()

    def frame(self, source, frame):
        return None if frame is None else self.base[source] + frame

    def operations(self):
        """Rows as in the truth file of traffic.py."""
        repeats = {}
        for row in self.rows("SELECT operation, kind, source, frame FROM retransmission"
                             " UNION ALL SELECT operation, kind, source, frame FROM copy"):
            kind = REPEATS[row["kind"]]
            repeats.setdefault(row["operation"], []).append(
                [kind, self.frame(row["source"], row["frame"])])
        out = []
        for row in self.rows("SELECT * FROM operation"):
            out.append({
                "client": row["client"], "server": row["server"], "xid": row["xid"],
                "program": row["program"], "version": row["version"],
                "procedure": row["procedure"], "status": row["status"],
                "call_frame": self.frame(row["call_source"], row["call_frame"]),
                "reply_frame": self.frame(row["reply_source"], row["reply_frame"]),
                "repeats": sorted(repeats.pop(row["id"], [])), "pairing": row["pairing"],
                "flags": (row["call_flags"] or 0) | (row["reply_flags"] or 0),
                "call_time": row["call_time"], "reply_time": row["reply_time"],
            })
        if repeats:
            raise RuntimeError("retransmissions of operations that are not there: %s" % repeats)
        return out

    def sightings(self):
        flows = {row["id"]: row for row in self.rows("SELECT * FROM flow")}
        out = []

        def add(direction, xid, flow, source, first_frame, frame, flags, operation):
            flow = flows[flow]
            client = (flow["client"], flow["client_port"])
            server = (flow["server"], flow["server_port"])
            ends = (server, client) if direction else (client, server)
            out.append(Sighting(direction, xid, flow["transport"], ends[0], ends[1],
                                self.frame(source, first_frame), self.frame(source, frame),
                                flags or 0, operation))

        xids = {}
        for row in self.rows("SELECT * FROM operation"):
            xids[row["id"]] = row["xid"]
            for direction, name in enumerate(("call", "reply")):
                if row[name + "_frame"] is not None:
                    add(direction, row["xid"], row["flow"], row[name + "_source"],
                        row[name + "_first_frame"], row[name + "_frame"], row[name + "_flags"],
                        row["id"])
        for row in self.rows("SELECT operation, kind, flow, source, first_frame, frame, flags"
                             " FROM retransmission UNION ALL SELECT operation, kind, flow, source,"
                             " first_frame, frame, flags FROM copy"):
            add((row["kind"] - 1) % 2, xids[row["operation"]], row["flow"], row["source"],
                row["first_frame"], row["frame"], row["flags"], row["operation"])
        return out
