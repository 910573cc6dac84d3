#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""nfsdigest compare A B and compare B A find the same: the same operations belong together, each
discrepancy and each withheld comparison of one is one of the other, with the words that change
places when the sides do (turned())."""

import collections
import dataclasses
import os
import pathlib
import random
import re
import sqlite3
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import model_capture  # noqa: E402
import model_world  # noqa: E402
import mutate  # noqa: E402
from comparing import check, failures, run  # noqa: E402
from injection import batches  # noqa: E402
from made_side import ROOT, Side, attributes  # noqa: E402
from messages import *  # noqa: E402,F403

CAPTURES = pathlib.Path(os.environ["CAPTURES"])
# servers of two kinds; one server twice; runs with loss, and over another transport
PAIRS = [("vfs-libnfs-all22", "mem-libnfs-all22"), ("pair-knfsd", "pair-ganesha-vfs"),
         ("load-ganesha-vfs", "load-ganesha-mem"), ("load-ganesha-vfs", "load-ganesha-vfs-again"),
         ("load-ganesha-mem", "load-ganesha-vfs-again"), ("knfsd-tcp-mtu1500", "knfsd-vlan"),
         ("knfsd-tcp-mtu1500", "knfsd-udp-frag"), ("knfsd-netem-tcp", "knfsd-netem-udp"),
         ("vfs-libnfs-all22", "pair-knfsd"), ("knfsd-vlan", "knfsd-snap256"),
         ("merged-tcp-udp-2if", "knfsd-udp-frag"), ("knfsd-nlm-locks", "knfsd-netem-udp")]
MOVED = {"ref": "sut", "sut": "ref", "ref's": "sut's", "sut's": "ref's"}
TURNED = {"larger": "smaller", "later": "earlier", "more": "fewer"}
TURNED |= {b: a for a, b in TURNED.items()}


def turned(difference):
    """The words for the same when the sides have changed places. Of two values the other comes
    first, as words that are sorted do not tell."""
    alone = re.fullmatch(r"(.*)\bsut (\w+)", difference)
    if alone and alone[2] in TURNED and "ref" not in difference:
        words = f"{alone[1]}sut {TURNED[alone[2]]}"
    else:
        words = "".join(MOVED.get(w, w) for w in re.split(r"([ ,]+)", difference))
    return plain(words)


def plain(difference):
    return " ".join(sorted(re.split(r"[ ,]+", difference)))


def found(folder, ref, sut, swapped, *options):
    """What is found, with the operations of the one called ref before those of the other one, unless
    |swapped|."""
    out = folder / "out.db"
    done = run("compare", "-s", "-o", out, *options, ref, sut, code=None)
    check(done.returncode in (0, 1), f"{ref} {sut}: {done.stderr}")
    x, y = ("sut", "ref") if swapped else ("ref", "sut")
    words = turned if swapped else plain
    with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as db:
        def rows(sql):
            return collections.Counter(db.execute(sql))
        told = {
            "pairs": rows(f"SELECT kind, {x}, {y} FROM alignment"),
            "objects": rows(f"SELECT {x}, {y}, type FROM object"),
            # of connections, the client is the reference's
            "discrepancies": collections.Counter(
                (*row[:3], words(row[3]), *row[4:]) for row in db.execute(
                    f"SELECT k.name, c.operation, c.field, c.difference, iif(k.name = 'disconnects',"
                    f" (SELECT {x} FROM client WHERE ref = d.element), d.element),"
                    f" d.{x}, d.{y}, d.{x}_text, d.{y}_text FROM discrepancy d"
                    " JOIN discrepancy_group c ON c.id = d.discrepancy_group"
                    " JOIN code k ON k.domain = 'kind' AND k.value = c.kind")),
            "causes": collections.Counter(
                (*row[:3], words(row[3]), *row[4:]) for row in db.execute(
                    "SELECT kind, operation, field, difference, cause, count, compared"
                    " FROM discrepancy_group")),
            "withheld": rows("SELECT reason, program, version, procedure, field, count"
                             " FROM withheld"),
            "compared": rows("SELECT * FROM compared"),
            "unsynchronized": rows("SELECT what, reason, name, offset, length, withheld, until_ref"
                                   " IS NULL FROM unsynchronized"),
        }
    out.unlink()
    return told


def both_ways(folder, name, ref, sut, *options):
    """Returns how many discrepancies there are."""
    one = found(folder, ref, sut, False, *options)
    other = found(folder, sut, ref, True, *options)
    for what, rows in one.items():
        for label, more in (("only one way", rows - other[what]), ("only turned", other[what] - rows)):
            check(not more, f"{name}: {what}, {label}: {list(more.items())[:3]}")
    return one["discrepancies"].total()


def real(folder):
    names = sorted({name for pair in PAIRS for name in pair})
    for name in names:
        capture, = CAPTURES.glob(name + ".pcap*.zst")
        run("ingest", "-q", "-o", folder / f"{name}.db", capture)
    total = sum(both_ways(folder, f"{a}, {b}", folder / f"{a}.db", folder / f"{b}.db")
                for a, b in PAIRS)
    check(total > 7000, f"real pairs: {total} discrepancies")
    print(f"{len(PAIRS)} real pairs, {total} discrepancies both ways")


def stretched(messages, factor):
    first = messages[0].time
    return [dataclasses.replace(m, time=first + (m.time - first) * factor) for m in messages]


def shuffled(messages, seed):
    """Clients earlier or later than they were, some messages lost."""
    rng = random.Random(seed)
    late = {c: rng.randrange(3_000_000) for c in sorted({m.client[0] for m in messages})}
    moved = [dataclasses.replace(m, time=m.time + late[m.client[0]],
                                 lost=m.server[1] == 2049 and rng.random() < 0.01)
             for m in messages]
    return sorted(moved, key=lambda m: m.time)


def ingested(folder, name, messages):
    capture, database = folder / f"{name}.pcap", folder / f"{name}.db"
    mutate.write(capture, messages)
    database.unlink(missing_ok=True)
    run("ingest", "-q", "-o", database, capture)
    return database


def made(folder):
    """Several clients at once, in another order on each side, at another speed, with loss, and with
    results that were altered on one side or both."""
    total = 0
    for seed in 8, 21, 34:
        path = folder / "world.pcap"
        model_capture.record(model_world.World(seed=seed, operations=1200, hosts=4, share=0.5,
                                               order=model_world.FREE), path, connections=1)
        messages = mutate.read(path)
        lists, _ = batches(mutate.exchanges(messages))
        altered = [mutate.with_results(messages, {i.exchange: i.result for i in some})
                   for some in lists[:2]]
        original = ingested(folder, "original", messages)
        for name, other in (("altered", altered[0]), ("shuffled", shuffled(altered[0], seed)),
                            ("slower", stretched(shuffled(altered[0], seed), 3))):
            total += both_ways(folder, f"world {seed}, {name}", original,
                               ingested(folder, "other", other))
        total += both_ways(folder, f"world {seed}, both",
                           ingested(folder, "original", shuffled(altered[1], seed + 1)),
                           ingested(folder, "other", altered[0]))
    check(total > 500, f"worlds: {total} discrepancies")
    print(f"worlds: {total} discrepancies both ways")


def slow_side(folder):
    """One side takes ten times as long: the same distance of two times passes the tolerance on one
    clock and not on the other. Which side is which makes no difference."""
    apart = []
    for gap in 50_000_000, 500_000_000:
        sides = []
        for speed in 1, 10:
            side, wrote = Side(step=gap * speed), None
            side.ask(LOOKUP, lookup_args(ROOT, "f"),
                     u32(0) + opaque(handle(2)) + some(attributes(2)) + u32(0))
            for i in range(12):
                wrote = side.now if speed == 1 or not wrote or i % 4 else wrote
                side.ask(READ, read_args(handle(2), 0, 4),
                         u32(0) + some(attributes(2, atime=wrote)) + u32(4, 0) + opaque(b"abcd"))
            sides.append(side.ingest(folder / f"speed{speed}.db", run))
        apart.append(both_ways(folder, f"every {gap} ns", *sides))
    check(apart == [0, 2], f"slow side: {apart}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        slow_side(folder)
        made(folder)
        real(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
