#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120 asan
"""nfsdigest compare of times from before an operation: a server that tells the operation's own is
found however fast requests follow each other, with no clock to go by; one that tells what it told
last is never accused, however coarse its clock is and whatever the other one tells."""

import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
from comparing import check, compare, failures, run  # noqa: E402
from made_side import ROOT, START, Side, attributes, before, wcc_data  # noqa: E402
from messages import *  # noqa: E402,F403

FILE, FILE_ID, ROOT_ID = handle(2), 2, 1
MS = 1_000_000


class Server:
    """The times of two objects. |tick|: ns, of its clock; |late|: it looks for the times from before
    when the operation is done; |silent|: every so many replies lack attributes from afterwards;
    |deaf|: every so many changes do not set the times; |first|: so old the objects are."""

    def __init__(self, step, tick=1, late=False, silent=0, deaf=0, old=3600 * 10**9, ahead=0):
        self.side = Side(step=step, ahead=ahead)
        self.tick, self.late, self.silent, self.deaf, self.count = tick, late, silent, deaf, 0
        self.mtime = {id: START - old for id in (FILE_ID, ROOT_ID)}
        self.ctime = dict(self.mtime)

    def change(self, id, mtime=True, to=None):
        """wcc_data of a change of this object. |to|: the client sets its mtime."""
        self.count += 1
        now = self.side.now // self.tick * self.tick
        kind = DIR if id == ROOT_ID else REG
        old = before(4096, self.mtime[id], self.ctime[id])
        if not self.deaf or self.count % self.deaf:
            self.ctime[id] = now
            self.mtime[id] = to or (now if mtime else self.mtime[id])
        if self.late:
            old = before(4096, self.mtime[id], self.ctime[id])
        silent = self.silent and self.count % self.silent == 0
        return wcc_data(old, None if silent else attributes(id, kind, mtime=self.mtime[id],
                                                       ctime=self.ctime[id]))

    def play(self, changes):
        ask = self.side.ask
        ask(LOOKUP, lookup_args(ROOT, "f"), u32(OK) + opaque(FILE) + u32(0, 0))
        for i in range(changes):
            ask(WRITE, write_args(FILE, 4 * i, b"abcd"),
                u32(OK) + self.change(FILE_ID) + u32(4, 2) + u64(7))
            ask(SETATTR, opaque(FILE) + u32(1, 0o600 + i, 0, 0, 0, 0, 0) + u32(0),
                u32(OK) + self.change(FILE_ID, mtime=False))
            ask(SETATTR, opaque(FILE) + u32(0, 0, 0, 0, 0, 2) + u32(START // 10**9, 5) + u32(0),
                u32(OK) + self.change(FILE_ID, to=START + 5))
            ask(CREATE, create_args(ROOT, f"n{i}"), u32(OK) + u32(0, 0) + self.change(ROOT_ID))
            ask(REMOVE, remove_args(ROOT, f"n{i}"), u32(OK) + self.change(ROOT_ID))
        return self.side


def compared(folder, one, other, changes=6):
    """[((operation, time), difference, cause, count)], one way and the other."""
    sides = [server.play(changes).ingest(folder / f"{name}.db", run)
             for name, server in (("one", one), ("other", other))]
    told = []
    for pair in (sides, sides[::-1]):
        groups = compare(*pair, code=None)["groups"]
        told.append(sorted((g["operation"][4:], g["field"].rsplit(".", 2)[1],
                            g["field"].rsplit(".", 1)[1], g["difference"], g["cause"], g["count"])
                           for g in groups))
    return told


def looks_too_late(folder):
    """Found for each change, whatever the distance: but for the first one of each object when the
    other side's moves less than two changes within a tick may be apart."""
    for step in MS // 2, 3 * MS, 20 * MS, 150 * MS, 3000 * MS:
        for ahead in 0, 3600 * 10**9:
            ways = compared(folder, Server(step), Server(step, late=True, ahead=ahead))
            for groups, side in zip(ways, ("sut", "ref")):
                other = "ref" if side == "sut" else "sut"
                found = {(g[0], g[2]): g[5] for g in groups}
                check(all(g[1] == "before" and g[4] == "before-is-now" and
                          g[3] == f"{side} of this request, {other} earlier" for g in groups),
                      f"late, {step} ns, {ahead}: {groups}")
                # the second SETATTR sets mtime, the first leaves it alone
                check(found == {("WRITE", "ctime"): 6, ("WRITE", "mtime"): 6,
                                ("SETATTR", "ctime"): 12, ("SETATTR", "mtime"): 6, ("CREATE", "ctime"): 6,
                                ("CREATE", "mtime"): 6, ("REMOVE", "ctime"): 6,
                                ("REMOVE", "mtime"): 6}, f"late, {step} ns, {ahead}: {found}")


def both_too_late(folder):
    for step in 3 * MS, 3000 * MS:
        ways = compared(folder, Server(step, late=True), Server(step, late=True))
        check(ways == [[], []], f"both late, {step} ns: {ways}")


def coarse_clocks(folder):
    """Several changes at one tick are alike before and after on the side whose clock is coarse."""
    for step in MS // 2, 3 * MS, 40 * MS:
        for tick in 4 * MS, 10 * MS:
            for silent in 0, 1, 2, 3:
                ways = compared(folder, Server(step), Server(step, tick=tick, silent=silent))
                before_only = [[g for g in way if g[1] == "before"] for way in ways]
                check(before_only == [[], []], f"tick {tick}, {step} ns, {silent}: {before_only}")


def not_accused(folder):
    """One server does not set times as it should, so that they differ; what both tell from before is
    what they told last."""
    for step in MS // 2, 2 * MS, 300 * MS:
        for old in 3600 * 10**9, MS:
            for servers in ([Server(step, old=old), Server(step, deaf=3, old=10**9)],
                            [Server(step, old=old), Server(step, deaf=2, old=10**9)]):
                for way in compared(folder, *servers):
                    check(not any(g[1] == "before" and g[4] == "before-is-now" for g in way),
                          f"accused, {step} ns, {old}: {[g for g in way if g[1] == 'before']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        looks_too_late(folder)
        both_too_late(folder)
        coarse_clocks(folder)
        not_accused(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
