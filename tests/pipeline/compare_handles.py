#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare, of a server that gives files other handles than before, as after a restart: that is
told once for each, as no grave matter, and what is asked with them is compared as before. Another file
with the name and the number of a removed one is another file."""

import os
import pathlib
import sqlite3
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
from comparing import check, compare, failures, run  # noqa: E402
from made_side import ROOT, Side, attributes  # noqa: E402
from messages import *  # noqa: E402,F403

FOLDER, FILE = 20, 30


class Server(Side):
    """|renews|: it has restarted after the first half, and numbers its handles anew; |wrong|: its replies
    of the second half differ."""

    def __init__(self, renews, wrong):
        super().__init__()
        self.renews, self.wrong, self.late = renews, wrong, False

    def handle(self, number):
        return handle(number + (1000 if self.late and self.renews else 0))

    def look(self, directory, name, number, kind=REG):
        self.ask(LOOKUP, lookup_args(directory, name),
                 u32(OK) + opaque(self.handle(number)) + some(attributes(number, kind)) + u32(0))

    def get(self, number, **how):
        self.ask(GETATTR, opaque(self.handle(number)), u32(OK) + attributes(number, **how))

    def write(self, number, data):
        self.ask(WRITE, write_args(self.handle(number), 0, data),
                 u32(OK) + u32(0, 0) + u32(len(data), 2) + u64(7))

    def read(self, number, data):
        self.ask(READ, read_args(self.handle(number), 0, 4),
                 u32(OK) + some(attributes(number)) + u32(len(data), 0) + opaque(data))

    def restart(self):
        self.late = True

    def off(self, right, wrong):
        return wrong if self.wrong else right


def file(s):
    s.look(ROOT, "f", FILE)
    s.get(FILE)
    s.write(FILE, b"abcd")
    s.get(FILE)
    s.restart()
    s.look(ROOT, "f", FILE)
    for _ in range(2):
        s.get(FILE, mode=s.off(0o644, 0o600))
    s.read(FILE, s.off(b"abcd", b"wxyz"))


def folder_and_files(s):
    s.look(ROOT, "d", FOLDER, DIR)
    for i in range(3):
        s.look(s.handle(FOLDER), f"f{i}", FILE + i)
    s.restart()
    s.look(ROOT, "d", FOLDER, DIR)
    for i in range(3):
        s.look(s.handle(FOLDER), f"f{i}", FILE + i)
        s.get(FILE + i, nlink=s.off(1, 2))
    out = u32(OK, 0) + bytes(8)
    for i in range(s.off(3, 2)):
        out += u32(1) + u64(FILE + i) + opaque(f"f{i}") + u64(i + 1)
    s.ask(READDIR, opaque(s.handle(FOLDER)) + u64(0, 0) + u32(4096), out + u32(0, 1))


def to_and_fro(s):
    s.look(ROOT, "f", FILE)
    s.get(FILE)
    for i in range(6):
        s.late = not s.late
        s.look(ROOT, "f", FILE)
    s.late = True
    s.get(FILE, mode=s.off(0o644, 0o600))


def renamed(s):
    s.look(ROOT, "f", FILE)
    s.get(FILE)
    s.ask(RENAME, opaque(ROOT) + opaque("f") + opaque(ROOT) + opaque("g"), u32(OK) + u32(0, 0) * 2)
    s.restart()
    s.look(ROOT, "g", FILE)
    s.get(FILE, mode=s.off(0o644, 0o600))


def made_and_renamed(s):
    s.ask(CREATE, create_args(ROOT, "f"), u32(OK) + some(opaque(s.handle(FILE)))
          + some(attributes(FILE)) + u32(0, 0))
    renamed(s)


def removed(s):
    """On the one that renews, something else was made in between."""
    s.look(ROOT, "f", FILE)
    s.get(FILE)
    if s.renews:
        s.ask(REMOVE, remove_args(ROOT, "f"), u32(OK) + u32(0, 0))
    s.restart()
    s.look(ROOT, "f", FILE)


# the fields that differ in the second half, and how many handles were renewed
CASES = {
    file: ({"GETATTR3res.resok.obj_attributes.mode": 2, "READ3res.resok.data": 1}, 1),
    folder_and_files: ({"GETATTR3res.resok.obj_attributes.nlink": 3,
                        "READDIR3res.resok.reply.entries": 1}, 4),
    to_and_fro: ({"GETATTR3res.resok.obj_attributes.mode": 1}, 1),
    made_and_renamed: ({"GETATTR3res.resok.obj_attributes.mode": 1}, 1),
    renamed: ({"GETATTR3res.resok.obj_attributes.mode": 1}, 1),
}


def told(name, report, wanted, renewed, side):
    found = {g["field"]: g["count"] for g in report["groups"] if g["cause"] != "handle-renewed"}
    check(found == wanted, f"{name}: {found}")
    groups = [g for g in report["groups"] if g["cause"] == "handle-renewed"]
    check(sum(g["count"] for g in groups) == renewed, f"{name}: renewed {groups}")
    other = "ref" if side == "sut" else "sut"
    for g in groups:
        check(g["severity"] == "limits" and g["difference"] == f"{side} changed, {other} not: the same file"
              and g["reason"].startswith(f"{side} ("), f"{name}: {g}")
    totals = report["totals"][0]
    check(totals["ref_alone"] == totals["sut_alone"] == 0, f"{name}: alone {totals}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        out, again = folder / "out.db", folder / "again.db"

        def side(name, case, **how):
            server = Server(**how)
            case(server)
            return server.ingest(folder / f"{name}.db", run)

        for case, (fields, renewed) in CASES.items():
            one = side("one", case, renews=False, wrong=False)
            for renews, wrong in (True, False), (True, True), (False, True):
                other = side("other", case, renews=renews, wrong=wrong)
                for pair, which in ((one, other), "sut"), ((other, one), "ref"):
                    name = f"{case.__name__}, {renews}, {wrong}, {which}"
                    wanted = (fields if wrong else {}, renewed if renews else 0, which)
                    told(name, compare("-o", out, *pair, code=None), *wanted)
                    told(f"{name}, again", compare("-o", again, out, code=None), *wanted)
            # both
            two = side("two", case, renews=True, wrong=False)
            other = side("other", case, renews=True, wrong=True)
            told(f"{case.__name__}, both", compare(two, other, code=1), fields, 0, "")
        one, other = (side(name, removed, renews=renews, wrong=False)
                      for name, renews in (("one", False), ("other", True)))
        for pair in (one, other), (other, one):
            groups = compare("-o", out, *pair, code=None)["groups"]
            check(not any(g["cause"] == "handle-renewed" for g in groups), f"removed: {groups}")
        with sqlite3.connect(out) as db:
            check(db.execute("SELECT count(*) FROM other_handle").fetchone() == (0,), "removed: matched")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
