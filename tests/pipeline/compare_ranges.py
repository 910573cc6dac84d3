#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120 asan
"""nfsdigest compare of a large file after pairs of WRITEs of the same bytes at once: what nobody can
know is each of these ranges, not all between them."""

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

ROOT, FILE = m.handle(1), m.handle(10)
STEP, SIZE, GIB = 10**7, 4096, 1 << 30


class Side:
    """|wrong|: offsets at which READs of this side have other bytes."""

    def __init__(self, transport, wrong=()):
        self.trace, self.xid, self.wrong, self.flows = traffic.Trace(), 10, wrong, []
        mount = traffic.UdpFlow(self.trace, "10.0.0.1", 800, server_port=20048)
        mount.pair(1, 1, m.opaque(b"/x"), m.u32(0) + m.opaque(ROOT) + m.u32(1, 1), program=m.MOUNT)
        for host in "10.0.0.1", "10.0.0.2":
            flow = (traffic.TcpFlow if transport == "tcp" else traffic.UdpFlow)(
                self.trace, host, 700)
            if transport == "tcp":
                flow.open()
            flow.pair(2, m.LOOKUP, m.lookup_args(ROOT, b"f"), m.u32(0) + m.opaque(FILE) + m.u32(0, 0))
            self.flows.append(flow)

    def next(self):
        self.xid += 1
        self.trace.wait(STEP)
        return self.xid

    def conflict(self, offset):
        """Both clients write the same bytes at once."""
        calls = [flow.call(self.next(), m.WRITE, m.write_args(FILE, offset, bytes([i + 1]) * SIZE))
                 for i, flow in enumerate(self.flows)]
        for flow, op in zip(self.flows, calls):
            flow.reply(op, m.u32(0) + m.wcc() + m.u32(SIZE, 2) + m.u64(7))

    def write(self, offset, size=SIZE):
        self.flows[0].pair(self.next(), m.WRITE, m.write_args(FILE, offset, b"w" * size),
                           m.u32(0) + m.wcc() + m.u32(size, 2) + m.u64(7))

    def read(self, offset, size=SIZE):
        data = (b"x" if offset in self.wrong else b"r") * size
        self.flows[0].pair(self.next(), m.READ, m.read_args(FILE, offset, size),
                           m.u32(0, 0, size, 0) + m.opaque(data))

    def ingest(self, path):
        return ingest(self.trace, path)


def compared(folder, transport, wrong, play):
    """(READs whose contents are reported, uncertain), one way; and the other way the same."""
    sides = []
    for name, these in ("ref", ()), ("sut", wrong):
        side = Side(transport, these)
        play(side)
        sides.append(side.ingest(folder / f"{name}.db"))
    told = []
    for pair in sides, sides[::-1]:
        out = folder / "out.db"
        report = compare("-o", out, *pair, code=None)
        groups = {g["field"]: g["count"] for g in report["groups"]}
        with sqlite3.connect(out) as db:
            withheld, = db.execute("SELECT ifnull(sum(count), 0) FROM withheld WHERE field ="
                                   " 'READ3res.resok.data'").fetchone()
        told.append((groups.pop("READ3res.resok.data", 0), withheld))
        check(not groups, f"other groups: {groups}")
    check(told[0] == told[1], f"turned: {told}")
    return told[0]


def between(folder, transport):
    """Wrong READs between conflicts at both ends are reported, those of the conflicts are not."""
    reads = [0, SIZE, 512 << 20, GIB - SIZE, GIB, GIB + SIZE]

    def play(side):
        side.conflict(0)
        side.conflict(GIB)
        for at in reads:
            side.read(at)

    for wrong, wanted in ((), (0, 0)), (reads, (4, 2)), ([512 << 20], (1, 0)), ([0, GIB], (0, 2)):
        have = compared(folder, transport, wrong, play)
        check(have == wanted, f"{transport}, wrong at {wrong}: {have}, not {wanted}")


def known_again(folder, transport):
    """In the order of the file, backwards, and in pieces."""
    places = [i * GIB for i in range(4)]

    def play(side):
        for at in places:
            side.conflict(at)
        side.write(GIB)                            # all of one
        side.write(2 * GIB + SIZE // 4, SIZE // 2)  # the middle of another
        for at in places:
            for part in range(4):
                side.read(at + part * SIZE // 4, SIZE // 4)

    wrong = [at + part * SIZE // 4 for at in places for part in range(4)]
    have = compared(folder, transport, wrong, play)
    check(have == (6, 10), f"{transport}, known again: {have}")


def many(folder, transport):
    """More conflicts than are kept apart: nothing is reported that nobody can know, and what is far
    from all of them is."""
    def play(side):
        for i in range(400):
            side.conflict(i * 10 * SIZE)
        for i in range(400):
            side.read(i * 10 * SIZE)
        side.read(GIB)
        for i in range(399, -1, -1):
            side.write(i * 10 * SIZE, 10 * SIZE)
        for i in range(400):
            side.read(i * 10 * SIZE)

    have = compared(folder, transport, [GIB], play)
    check(have == (1, 0), f"{transport}, many: {have}")
    have = compared(folder, transport, [GIB, 10 * SIZE * 399], play)
    check(have == (2, 1), f"{transport}, many, and one: {have}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for transport in "tcp", "udp":
            between(folder, transport)
            known_again(folder, transport)
        many(folder, "tcp")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
