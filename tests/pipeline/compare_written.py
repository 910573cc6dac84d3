#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""nfsdigest compare, of WRITEs that came in another order: those that were under way together are
pairs, and READs behind them are compared wherever equal WRITEs wrote their bytes last; where others
did, or two at once, what differs is uncertain."""

import os
import pathlib
import random
import sqlite3
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import messages as m  # noqa: E402
import traffic  # noqa: E402
from comparing import check, compare, failures, ingest  # noqa: E402

ROOT, FILE = m.handle(1), m.handle(10)
BLOCK, BLOCKS = 512, 64
STEP = 10**6


def block(number, version=0):
    return bytes([number, version]) * (BLOCK // 2)


class Side:
    """Jobs: lists of (offset, data) that are written at once, |depth| at a time, by |clients| in turn;
    bytes: what reading the whole file gives then, in pieces of |piece|."""

    def __init__(self, transport, depth, clients=1, piece=BLOCK):
        self.trace, self.depth, self.piece, self.xid = traffic.Trace(), depth, piece, 10
        mount = traffic.UdpFlow(self.trace, "10.0.0.1", 800, server_port=20048)
        mount.pair(1, 1, m.opaque(b"/x"), m.u32(0) + m.opaque(ROOT) + m.u32(1, 1), program=m.MOUNT)
        self.flows = []
        for i in range(clients):
            flow = (traffic.TcpFlow if transport == "tcp" else traffic.UdpFlow)(
                self.trace, f"10.0.0.{1 + i}", 700)
            if transport == "tcp":
                flow.open()
            flow.pair(2, m.LOOKUP, m.lookup_args(ROOT, b"f"), m.u32(0) + m.opaque(FILE) + m.u32(0, 0))
            self.flows.append(flow)

    def next(self):
        self.xid += 1
        return self.xid

    def write(self, some):
        waiting = []

        def answer():
            flow, op, size = waiting.pop(0)
            flow.reply(op, m.u32(0) + m.wcc() + m.u32(size, 2) + m.u64(7))

        for offset, data in some:
            flow = self.flows[(offset // BLOCK) % len(self.flows)]
            waiting.append((flow, flow.call(self.next(), m.WRITE, m.write_args(FILE, offset, data)),
                            len(data)))
            if len(waiting) >= self.depth:
                answer()
        while waiting:
            answer()

    def read(self, data):
        for at in range(0, len(data), self.piece):
            part = data[at:at + self.piece]
            self.trace.wait(STEP)
            self.flows[0].pair(self.next(), m.READ, m.read_args(FILE, at, self.piece),
                               m.u32(0, 0, len(part), 0) + m.opaque(part))

    def ingest(self, path):
        return ingest(self.trace, path)


def told(folder, sides):
    """How many operations are alone, differences of contents, and uncertain ones; both ways."""
    out = folder / "out.db"
    paths = [side.ingest(folder / f"{i}.db") for i, side in enumerate(sides)]
    both = []
    for way in 1, -1:
        compare("-o", out, *paths[::way], code=None)
        with sqlite3.connect(out) as db:
            both.append(tuple(db.execute(sql).fetchone()[0] for sql in (
                "SELECT count(*) FROM alignment WHERE kind = 2",
                "SELECT count(*) FROM discrepancies WHERE field = 'READ3res.resok.data'",
                "SELECT count(*) FROM discrepancies WHERE field <> 'READ3res.resok.data'",
                "SELECT count(*) FROM doubt WHERE field = 'READ3res.resok.data'")))
    check(both[0] == both[1], f"swapped: {both}")
    return both[0]


def whole(writes):
    data = bytearray(BLOCK * BLOCKS)
    for some in writes:
        for offset, new in some:
            data[offset:offset + len(new)] = new
    return bytes(data)


def spoiled(data, blocks):
    data = bytearray(data)
    for b in blocks:
        data[b * BLOCK + 7] ^= 1
    return bytes(data)


def orders(folder):
    """Each block once, in any order that |depth| allows."""
    for transport in "tcp", "udp":
        for depth, clients, piece in ((2, 1, BLOCK), (16, 1, BLOCK), (16, 1, 4 * BLOCK),
                                      (16, 3, 4 * BLOCK), (1, 1, 4 * BLOCK)):
            rng = random.Random(depth * 10 + clients)
            writes = [(i * BLOCK, block(i)) for i in range(BLOCKS)]
            shuffled = sorted(writes, key=lambda w, r=rng, d=max(depth, 16) // 2:
                              w[0] // BLOCK + r.uniform(0, d - 1))
            good, wrong = whole([writes]), (3, 17, 60)
            label = f"{transport}, {depth} at once, {clients} clients, pieces of {piece}"
            for spoil in (), wrong:
                sides = [Side(transport, depth, clients, piece) for _ in range(2)]
                for side, some in zip(sides, (writes, shuffled)):
                    side.write(some)
                sides[0].read(good)
                sides[1].read(spoiled(good, spoil))
                alone, data, others, doubts = told(folder, sides)
                check((data, others, doubts) == (len(spoil), 0, 0),
                      f"{label}, {spoil}: {data} {others} {doubts}")
                check(alone == 0 or depth < 16, f"{label}: {alone} alone")


def repeated(folder):
    """Blocks are written again: what came last counts, on either side."""
    first = [(i * BLOCK, block(i)) for i in range(BLOCKS)]
    again = [(i * BLOCK, block(i, 1)) for i in range(0, BLOCKS, 2)]
    for transport in "tcp", "udp":
        for depth in 1, 16:
            # the second time in another order
            jobs = [first, again], [first[::-1], again[::-1]]
            good = whole(jobs[0])
            for spoil in (), (4, 5):
                sides = [Side(transport, depth) for _ in range(2)]
                for side, some in zip(sides, jobs):
                    for one in some:
                        side.write(one)
                        side.trace.wait(STEP)
                    side.read(spoiled(good, spoil if side is sides[1] else ()))
                found = told(folder, sides)[1:]
                check(found == (len(spoil), 0, 0), f"{transport}, {depth}, again, {spoil}: {found}")
            # and one after the other on one side, the other way round on the other: not alike
            sides = [Side(transport, depth) for _ in range(2)]
            for side, some in zip(sides, (jobs[0], jobs[0][::-1])):
                for one in some:
                    side.write(one)
                    side.trace.wait(STEP)
                side.read(whole(some))
            found = told(folder, sides)[1:]
            check(found == (0, 0, BLOCKS // 2), f"{transport}, {depth}, turned: {found}")


def conflicts(folder):
    """Two that write the same bytes at once: nobody knows, until both are written over."""
    one, two = [(0, block(1))], [(0, block(2))]
    for transport in "tcp", "udp":
        for orders_of in (one + two, one + two), (one + two, two + one):
            for over in False, True:
                sides = [Side(transport, 2) for _ in range(2)]
                for side, some, last in zip(sides, orders_of, (1, 2)):
                    side.write([(BLOCK, block(9))])
                    side.trace.wait(STEP)
                    side.write(some)
                    side.trace.wait(STEP)
                    if over:
                        side.write([(0, block(3))])
                    side.read(block(last) + block(9))
                found = told(folder, sides)
                check(found == (0, int(over), 0, int(not over)),
                      f"{transport}, at once, {orders_of[0] == orders_of[1]}, {over}: {found}")


def one_sided(folder):
    """A WRITE of one side only, or that one side refused, is told of where it wrote alone."""
    writes = [(i * BLOCK, block(i)) for i in range(BLOCKS)]
    for transport in "tcp", "udp":
        sides = [Side(transport, 1) for _ in range(2)]
        for side in sides:
            side.write(writes)
            side.trace.wait(STEP)
            if side is sides[1]:
                side.write([(8 * BLOCK, block(8, 1))])
            side.read(spoiled(whole([writes]), (3, 8) if side is sides[1] else ()))
        found = told(folder, sides)
        check(found == (1, 1, 0, 1), f"{transport}, one side: {found}")


def cut(folder):
    """UNCHECKED CREATE cuts the file that is there."""
    writes = [(i * BLOCK, block(i)) for i in range(BLOCKS)]
    good, left = whole([writes]), whole([writes[-1:]])
    for transport in "tcp", "udp":
        for both in False, True:
            sides = [Side(transport, 1) for _ in range(2)]
            for side in sides:
                side.write(writes)
                side.trace.wait(STEP)
                if both or side is sides[1]:
                    side.flows[0].pair(
                        side.next(), m.CREATE, m.opaque(ROOT) + m.opaque(b"f")
                        + m.u32(0, 0, 0, 0, 1) + m.u64(0) + m.u32(0, 0),
                        m.u32(0) + m.some(m.opaque(FILE)) + m.u32(0) + m.wcc())
                side.trace.wait(STEP)
                side.write(writes[-1:])
                if both:
                    side.read(spoiled(left, (3,) if side is sides[1] else ()))
                else:
                    side.read(left if side is sides[1] else good)
            found = told(folder, sides)
            check(found == ((0, 1, 0, 0) if both else (1, 0, 0, BLOCKS - 2)),  # the first block is zeros
                  f"{transport}, cut, {both}: {found}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        orders(folder)
        repeated(folder)
        conflicts(folder)
        one_sided(folder)
        cut(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
