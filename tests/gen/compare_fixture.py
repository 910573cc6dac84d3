# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of comparisons with chosen discrepancies, as nfsdigest compare writes them
(schemas/compare.sql), for captures whose messages stock tshark knows.

    messages = compare_fixture.messages(tshark, "a.pcap")
    compare_fixture.write("out.db", schema, [Capture(REF, "a.pcap"), Capture(SUT, "b.pcap")],
                          [Finding("value", field="READ3res.resok.eof", at=messages[3])])
"""
import collections
import dataclasses
import hashlib
import os
import sqlite3
import subprocess

APPLICATION_ID, VERSION = 0x4e465343, 7
REF, SUT = 1, 2
KINDS = ("rpc", "missing reply", "status", "value", "presence", "time", "order", "entry",
         "pattern", "count", "retransmissions", "disconnects", "malformed",
         "other replies")

# Where a message ends; |time| is in nanoseconds.
Message = collections.namedtuple("Message", "frame xid time is_reply")


@dataclasses.dataclass
class Capture:
    side: int
    path: str
    source: int = 1
    name: str = None
    frames: int = 0
    digest: bytes = None

    def row(self):
        with open(self.path, "rb") as file:
            digest = hashlib.blake2b(file.read(), digest_size=16).digest()
        return (self.side, self.source, self.name or os.path.basename(self.path),
                self.digest or digest, self.frames)


@dataclasses.dataclass
class Finding:
    """Rows of discrepancy_group, discrepancy, and frame for each of |at|: (side, message, other's frame)."""
    kind: str
    at: list
    field: str = "READ3res.resok.eof"
    klass: str = "boolean"
    difference: str = "ref 1, sut 0"
    element: str = None
    ref: str = "yes"
    sut: str = "no"
    reason: str = "one server says that the file ends here"
    cause: str = None
    rule: str = None
    is_noise: int = 0
    group: int = None  # of an earlier one
    other_source: int = 1
    source: int = 1


def messages(tshark, capture):
    """Of a capture without retransmissions and gaps, in its order."""
    done = subprocess.run(
        [tshark, "-n", "-r", str(capture), "-d", "tcp.port==2049,rpc", "-Y", "rpc.msgtyp", "-T",
         "fields", "-E", "occurrence=a", "-E", "aggregator=,", "-e", "frame.number", "-e",
         "frame.time_epoch", "-e", "rpc.xid", "-e", "rpc.msgtyp"],
        capture_output=True, text=True, check=True)
    out = []
    for line in done.stdout.splitlines():
        frame, time, xids, types = line.split("\t")
        seconds, fraction = time.split(".")
        nanoseconds = int(seconds) * 10**9 + int((fraction + "0" * 9)[:9])
        for xid, kind in zip(xids.split(","), types.split(",")):
            out.append(Message(int(frame), int(xid, 0), nanoseconds, kind == "1"))
    return out


def write(path, schema, captures, findings, version=VERSION, application_id=APPLICATION_ID):
    """|schema|: the path of compare.sql.  An existing file is replaced."""
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    with open(schema, encoding="utf-8") as file:
        db.executescript(file.read())
    db.execute("PRAGMA application_id = %d" % application_id)
    db.execute("PRAGMA user_version = %d" % version)
    db.executemany("INSERT INTO code VALUES ('kind', ?, ?, '')", enumerate(KINDS, 1))
    for side, name in (REF, "ref"), (SUT, "sut"):
        db.execute("INSERT INTO side (id, name, database, path, digest, operations)"
                   " VALUES (?, ?, ?, ?, '', 0)", (side, name, name + ".db", "/" + name + ".db"))
    db.executemany("INSERT INTO source (side, id, name, digest, frames) VALUES (?,?,?,?,?)",
                   [c.row() for c in captures])
    for number, finding in enumerate(findings, 1):
        put(db, number, finding)
    db.execute("UPDATE discrepancy_group SET count = (SELECT count(*) FROM discrepancy d"
               " WHERE d.discrepancy_group = discrepancy_group.id)")
    db.commit()
    db.close()
    os.chmod(path, 0o644)


def put(db, number, f):
    group = f.group or number
    if f.rule:
        db.execute("INSERT INTO rule (id, file, line, text) VALUES (?, 1, 1, ?)", (number, f.rule))
    db.execute("INSERT OR IGNORE INTO discrepancy_group (id, kind, class, operation, field, difference, rule,"
               " cause, reason, count, compared, is_noise) VALUES (?,?,?,'NFS READ',?,?,?,?,?,0,1,?)",
               (group, KINDS.index(f.kind) + 1 if f.kind in KINDS else 99, f.klass, f.field,
                f.difference, number if f.rule else None, f.cause, f.reason, f.is_noise))
    db.execute("INSERT INTO discrepancy (id, discrepancy_group, element, ref_text, sut_text)"
               " VALUES (?,?,?,?,?)", (number, group, f.element, f.ref, f.sut))
    for side, message, other in f.at:
        db.execute("INSERT INTO frame (side, source, frame, xid, discrepancy, other_source,"
                   " other_frame, time) VALUES (?,?,?,?,?,?,?,?)",
                   (side, f.source, message.frame, message.xid, number,
                    f.other_source if other else None, other, message.time))
