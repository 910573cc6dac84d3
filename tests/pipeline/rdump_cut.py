#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""Replay dumps of traces whose RENAMEs were cut behind their first name, or within their second one:
what had the name is somewhere else from then on, whether a later operation finds it or not.  Such a
trace plays on the model server, with nothing out of order, and the part of it that is not playable is
what was cut.  And a capture whose frames were cut has partial operations, no malformed ones.

    rdump_cut.py [SEED...]
"""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import rdump_play as play  # noqa: E402
from model_xdr import RENAME  # noqa: E402

WEIGHTS = dict(move=40, make_directories=25, recreate=10, links=5)
PARTIAL, CUT = 4, 10  # enum unplayable, enum repair_reason


def cut(path, inside):
    """Takes the second names of all successful RENAMEs away, with their directories unless
    |inside|. Returns how many they are."""
    db, count = sqlite3.connect(path), 0
    for number, data in db.execute("SELECT id, arguments FROM operation WHERE program = 100003 AND"
                                   " procedure = ? AND status = 0", (RENAME,)).fetchall():
        end = 0
        for _ in range(3 if inside else 2):  # handle, name, handle
            length = int.from_bytes(data[end:end + 4], "big")
            end += 4 + length + -length % 4
        end += 5 if inside else 0
        db.execute("UPDATE operation SET arguments = substr(arguments, 1, ?), object2 = iif(?, object2,"
                   " NULL) WHERE id = ?", (end, inside, number))
        count += 1
    db.commit()
    db.close()
    return count


def check(seed, inside, scratch):
    world = model_world.World(seed=seed, operations=900, hosts=3, share=0.3, weights=WEIGHTS,
                              permissions=False, order=model_world.SERIAL)
    capture, db, path = scratch / "trace.pcap", scratch / "trace.db", scratch / "trace.rdump"
    model_capture.record(world, capture)
    database.ingest(db, capture)
    count = cut(db, inside)
    subprocess.run([database.program(), "rdump", str(db), "-o", str(path)], check=True,
                   stdout=subprocess.DEVNULL)
    done = subprocess.run([database.program(), "rdump", "--check", str(path)], check=False,
                          capture_output=True, text=True)
    if done.returncode:
        yield "--check: " + done.stdout[:300]
    dump = play.Dump(path)
    replay, recorded = play.Replay(dump, permissions=False), play.Recorded(db, dump)
    inferred = collections.Counter(op.inferred for op in dump.operations if op.inferred)
    print("seed %d, %s: %d operations, %d RENAMEs cut, inferred %s, not playable %s" % (
        seed, "inside" if inside else "behind the first name", len(dump.operations), count,
        dict(inferred), dict(replay.skipped)))
    for difference in replay.differences[:3]:
        yield recorded.explain(difference)
    if replay.skipped[PARTIAL] != count or count < 20:
        yield "%d operations are partial, %d were cut" % (replay.skipped[PARTIAL], count)
    others = sum(replay.skipped.values()) - count
    if others > len(dump.operations) / 200:
        yield "%d others are not playable" % others
    if inferred[CUT] < count * 0.9:
        yield "%d names went away, of %d" % (inferred[CUT], count)


def cut_frames(scratch):
    whole, short, db = scratch / "whole.pcap", scratch / "short.pcap", scratch / "short.db"
    model_capture.record(model_world.World(seed=3, operations=200, share=0.2), whole)
    for snaplen in 96, 110, 130, 160, 200:
        capfile.write_pcap(short, capfile.read(whole), snaplen=snaplen)
        db.unlink(missing_ok=True)
        database.ingest(db, short)
        done = subprocess.run([database.program(), "rdump", "--json", str(db), "-o",
                               str(scratch / "x.rdump")], check=True, capture_output=True)
        why = json.loads(done.stdout)["not_replayable"]
        if "malformed" in why or not why.get("partial"):
            yield "frames of %d bytes: %s" % (snaplen, why)


def main():
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="cut.") as scratch:
        for line in cut_frames(pathlib.Path(scratch)):
            wrong += 1
            print("WRONG: " + line)
    for seed in [int(s) for s in sys.argv[1:]] or (5, 6):
        for inside in False, True:
            with tempfile.TemporaryDirectory(prefix="cut.") as scratch:
                for line in check(seed, inside, pathlib.Path(scratch)):
                    wrong += 1
                    print("WRONG: " + line)
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
