#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""nfsdigest compare, of statuses that differ after changes that only one side made: each status
that these cannot bring about is reported, and each that they can is listed as uncertain, with the
reason; and so are the consequences of a change that succeeded on one side only."""

import itertools
import os
import pathlib
import sqlite3
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import messages as m  # noqa: E402
import traffic  # noqa: E402
from comparing import check, compare, failures, ingest  # noqa: E402

ROOT = m.handle(1)
# RFC 1813 s2.6
STATUSES = {"PERM": 1, "NOENT": 2, "IO": 5, "NXIO": 6, "ACCES": 13, "EXIST": 17, "XDEV": 18,
            "NODEV": 19, "NOTDIR": 20, "ISDIR": 21, "INVAL": 22, "FBIG": 27, "NOSPC": 28,
            "ROFS": 30, "MLINK": 31, "NAMETOOLONG": 63, "NOTEMPTY": 66, "DQUOT": 69, "STALE": 70,
            "REMOTE": 71, "BADHANDLE": 10001, "NOT_SYNC": 10002, "BAD_COOKIE": 10003,
            "NOTSUPP": 10004, "TOOSMALL": 10005, "SERVERFAULT": 10006, "BADTYPE": 10007,
            "JUKEBOX": 10008}
IO = STATUSES["IO"]
ATTRIBUTES = {"MLINK", "NOT_SYNC", "BAD_COOKIE"}
# what only one side made before, and what that may bring about
CAUSES = {
    "none": set(),
    "rights": {"PERM", "ACCES", "NOENT", "STALE"} | ATTRIBUTES,
    "name": {"PERM", "ACCES", "NOENT", "EXIST", "NOTDIR", "ISDIR", "NOTEMPTY", "STALE"} | ATTRIBUTES,
    "attributes": ATTRIBUTES,
}
WCC = m.wcc()


def setattr_(handle):
    return m.SETATTR, m.opaque(handle) + m.u32(1, 0o600, 0, 0, 0, 0, 0) + m.u32(0), WCC, WCC


# procedure: of a directory and a file in it: arguments, the body of success and of failure
OPERATIONS = {
    "LOOKUP": lambda d, f: (m.LOOKUP, m.lookup_args(d, b"f"), m.opaque(f) + m.u32(0, 0), m.u32(0)),
    "ACCESS": lambda d, f: (m.ACCESS, m.access_args(d), m.u32(0, 1), m.u32(0)),
    "REMOVE": lambda d, f: (m.REMOVE, m.remove_args(d, b"f"), WCC, WCC),
    "RENAME": lambda d, f: (m.RENAME, m.opaque(d) + m.opaque(b"f") + m.opaque(d) + m.opaque(b"g"),
                            WCC + WCC, WCC + WCC),
    "SETATTR": lambda d, f: setattr_(f),
    "READ": lambda d, f: (m.READ, m.read_args(f, 0, 4), m.u32(0, 4, 0) + m.opaque(b"data"),
                          m.u32(0)),
    "READDIR": lambda d, f: (m.READDIR, m.opaque(d) + m.u64(0, 0) + m.u32(4096),
                             m.u32(0) + bytes(8) + m.u32(0, 1), m.u32(0)),
}
# which of them each change concerns
CONCERNS = {"none": OPERATIONS, "rights": ("LOOKUP", "ACCESS", "RENAME"),
            "name": ("LOOKUP", "REMOVE", "RENAME"), "attributes": ("SETATTR", "READ")}


class Side:
    """|number|: 0 or 1."""

    def __init__(self, flow_class, number):
        self.trace, self.number, self.xid = traffic.Trace(), number, 1
        mount = traffic.UdpFlow(self.trace, "10.0.0.1", 800, server_port=20048)
        mount.pair(1, 1, m.opaque(b"/x"), m.u32(0) + m.opaque(ROOT) + m.u32(1, 1), program=m.MOUNT)
        self.flow = flow_class(self.trace, "10.0.0.1", 700)
        if flow_class is traffic.TcpFlow:
            self.flow.open()

    def ask(self, operation, status=0, only=None):
        """|only|: the side that is asked."""
        procedure, arguments, success, failure = operation
        self.xid += 1
        self.trace.wait(10**6)
        if only is None or only == self.number:
            self.flow.pair(self.xid, procedure, arguments,
                           m.u32(status) + (failure if status else success))

    def find(self, parent, name, handle):
        self.ask((m.LOOKUP, m.lookup_args(parent, name), m.opaque(handle) + m.u32(0, 0), b""))

    def ingest(self, path):
        return ingest(self.trace, path)


def rows(folder, sides, way):
    out = folder / "out.db"
    paths = [side.ingest(folder / f"{side.number}.db") for side in sides]
    compare("-o", out, *paths[::way], code=1)
    with sqlite3.connect(out) as db:
        reported = {(path.split("/")[2], ref, sut) for path, ref, sut in db.execute(
            "SELECT r.path, ref_text, sut_text FROM discrepancies f JOIN operation r ON r.side = 1 AND"
            " r.id = f.ref WHERE f.kind = 'status'")}
        doubts = {(path.split("/")[2], ref, sut): reason for path, ref, sut, reason in db.execute(
            "SELECT path, ref_text, sut_text, reason FROM doubt WHERE kind = 'status'")}
        total, = db.execute("SELECT value + 0 FROM meta WHERE key = 'uncertain'").fetchone()
        check(total >= len(doubts), f"{total} uncertain")
    return reported, doubts


def each_status(folder, flow_class, way):
    jobs = [(cause, name, status) for cause in CAUSES for name in CONCERNS[cause]
            for status in STATUSES]
    sides = [Side(flow_class, number) for number in (0, 1)]
    for side, (k, (cause, name, status)) in itertools.product(sides, enumerate(jobs)):
        d, f = m.handle(1000 + 2 * k), m.handle(1001 + 2 * k)
        side.find(ROOT, f"d{k}", d)
        side.find(d, b"f", f)
        if cause == "rights":  # refused by one server, for its own reason
            side.ask(setattr_(d), side.number * IO)
        elif cause == "name":
            side.ask((m.RENAME, m.opaque(d) + m.opaque(b"e") + m.opaque(d) + m.opaque(b"f"),
                      WCC + WCC, WCC), only=1)
        elif cause == "attributes":
            side.ask((m.WRITE, m.write_args(f, 0, b"more"), WCC + m.u32(4, 2) + m.u64(7), WCC),
                     only=0)
        side.ask(OPERATIONS[name](d, f), STATUSES[status] * (side.number ^ k & 1))
    reported, doubts = rows(folder, sides, way)
    for k, (cause, name, status) in enumerate(jobs):
        values = ["NFS3_OK", f"NFS3ERR_{status}"][::-1 if k & 1 else 1][::way]
        found = (f"d{k}", *values)
        label = f"{flow_class.__name__}, {way}: {cause}, {name}, {status}"
        if status in CAUSES[cause]:
            reason = "different outcome" if cause == "rights" else "one-sided change"
            check(found not in reported and doubts.get(found) == reason,
                  f"{label}: {found in reported}, {doubts.get(found)}")
        else:
            check(found in reported and found not in doubts, f"{label}: {doubts.get(found)}")
    print(f"{len(jobs)} statuses, {len(doubts)} uncertain")


def consequences(folder, flow_class, way):
    """RENAME fails on one side: it is reported, and what follows is uncertain because of it."""
    sides = [Side(flow_class, number) for number in (0, 1)]
    for side in sides:
        d, f = m.handle(1000), m.handle(1001)
        side.find(ROOT, b"d", d)
        side.find(d, b"f", f)
        # SETACL of NFSACL, which one refuses
        side.xid += 1
        side.flow.pair(side.xid, 2, m.opaque(d) + m.u32(1, 0, 0, 0, 0),
                       m.u32(STATUSES["NOTSUPP"] * side.number, 0), program=100227)
        side.ask(OPERATIONS["RENAME"](d, f), IO * side.number)
        for name in b"f", b"g":
            missing = side.number ^ (name == b"f")
            side.ask((m.LOOKUP, m.lookup_args(d, name), m.opaque(f) + m.u32(0, 0), m.u32(0)),
                     STATUSES["NOENT"] * missing)
    reported, doubts = rows(folder, sides, way)
    values = ["NFS3_OK", "NFS3ERR_IO"][::way]
    check(("d", *values) in reported, f"RENAME: {reported}")
    check(set(doubts.values()) == {"different outcome"} and len(doubts) == 2, f"after: {doubts}")
    check({pair[1:] for pair in doubts} == {("NFS3_OK", "NFS3ERR_NOENT"),
                                            ("NFS3ERR_NOENT", "NFS3_OK")}, f"after: {doubts}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for flow_class in traffic.TcpFlow, traffic.UdpFlow:
            for way in 1, -1:
                each_status(folder, flow_class, way)
                consequences(folder, flow_class, way)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
