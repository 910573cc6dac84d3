#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare, of captures of which one has only the beginning of each frame: what it has of handles
decides nothing. A handle that the server does not know is short, and so is there as a whole when those of
its files are not; it is not taken for one of them on the other side."""

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

BADHANDLE = 10001
GARBAGE = b"garbage!"
HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP
ROOM = HEADERS + len(call(1, 1)) + 4 + len(GARBAGE)  # GARBAGE in a call, and nothing longer


def traffic(garbage_first, known):
    """|known|: the server takes the garbage for a handle, which is wrong."""
    side = Side(path="/a/path/that/is/too/long")

    def root():
        side.ask(GETATTR, opaque(ROOT), u32(OK) + attributes(1, DIR))

    def garbage():
        side.ask(GETATTR, opaque(GARBAGE), u32(OK) + attributes(2) if known else u32(BADHANDLE))
    for ask in (garbage, root, garbage) if garbage_first else (root, garbage, garbage):
        ask()
    return side


def matched(result, databases):
    """The handles of the objects that are the same."""
    with sqlite3.connect(result) as db:
        for name, path in zip(("ref", "sut"), databases):
            db.execute(f"ATTACH ? AS {name}", (str(path),))
        return {row[:2] for row in db.execute(
            "SELECT r.handle, s.handle FROM main.object o JOIN ref.object r ON r.id = o.ref JOIN sut.object s"
            " ON s.id = o.sut")}


def check_case(folder, garbage_first, cut, known):
    """|cut|: which sides are. |known|: the SUT knows the garbage."""
    name = f"garbage first {garbage_first}, cut {cut}, known {known}"
    databases = [traffic(garbage_first, wrong).ingest(folder / (side + ".db"), run, ROOM if side in cut else 1 << 16)
                 for side, wrong in (("ref", False), ("sut", known))]
    for order in databases, databases[::-1]:
        result = folder / "result.db"
        report = compare("-o", result, *order, code=1 if known else 0)
        objects = matched(result, order)
        check((GARBAGE, GARBAGE) in objects, f"{name}: {objects}")
        check(objects <= {(GARBAGE, GARBAGE), (ROOT, ROOT)}, f"{name}: {objects}")
        found = {g["field"]: g["count"] for g in report["groups"]}
        check(found == ({"GETATTR3res.status": 2} if known else {}), f"{name}: {found}")
        result.unlink()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        for garbage_first in False, True:
            for cut in (), ("ref",), ("sut",), ("ref", "sut"):
                for known in False, True:
                    check_case(pathlib.Path(scratch), garbage_first, cut, known)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
