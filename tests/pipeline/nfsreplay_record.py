#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""What nfsreplay --record writes: each operation of the dump once more, with its number in the original
trace, and nothing else but the calls that the player adds.

    nfsreplay_record.py     environment: BUILD, NFSDIGEST, CAPTURES
"""
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Ftnfsd  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
NFSREPLAY = str(BUILD / "bin" / "nfsreplay")
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.600r, not %.600r" % (what, found, wanted))


def nfsdigest(*words, codes=(0,)):
    done = subprocess.run([NFSDIGEST, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError("%s: %s" % (words, done.stderr))
    return done.stdout


def rows(database, query):
    with sqlite3.connect(database) as db:
        return db.execute(query).fetchall()


class Replay:
    """A dump of a capture, and replays of it."""

    count = 0

    def __init__(self, scratch, capture, *options):
        self.scratch = pathlib.Path(scratch)
        self.name = capture.split(".")[0]
        self.trace, self.dump = self.scratch / (self.name + ".db"), self.scratch / "replayed.rdump"
        if not self.trace.exists():
            nfsdigest("ingest", "-o", self.trace, CAPTURES / capture)
        nfsdigest("rdump", "--with-results", *options, "-o", self.dump, self.trace)
        text = nfsdigest("rdump", "--dump", self.dump)
        self.wanted = []  # (number in the trace, copy) of each operation that can be played
        for line in re.findall(r"^operation .*", text, re.M):
            words = dict(word.split("=", 1) for word in line.split() if "=" in word)
            if "unplayable" not in words and int(words.get("source", 0)) > 0:
                self.wanted.append((int(words["source"]), int(words.get("copy", 0))))

    def play(self, *options, faults=()):
        """The database of the recording."""
        Replay.count += 1
        stream, database = (self.scratch / ("%d.%s" % (Replay.count, kind)) for kind in ("nfsr", "db"))
        with Ftnfsd("--export", "/a", *(w for f in faults for w in ("--fault", f))) as server:
            done = subprocess.run([NFSREPLAY, "run", "--pace", "asap", "--record", stream, *options,
                                   self.dump, server.urls[0]],
                                  capture_output=True, text=True, check=False, timeout=120)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr)
        nfsdigest("check", stream)
        nfsdigest("ingest", "-o", database, stream)
        return database


def numbers(replay):
    """Every operation, by transport and with several copies; the player's own calls have no number."""
    for options in ([], ["--udp", "--force"], ["-c", "2"]):
        database = replay.play(*options)
        what = "%s %s" % (replay.name, options)
        found = rows(database, "SELECT counterpart, counterpart_copy FROM operation"
                               " WHERE counterpart IS NOT NULL ORDER BY 1, 2")
        long = rows(replay.trace, "SELECT id FROM operation WHERE data_length >= 65536"
                                   " AND procedure = 7")
        left_out = {i for i, in long} if "--udp" in options else set()
        check(what + ": counterparts", found, sorted(w for w in replay.wanted if w[0] not in left_out))
        check(what + ": unpaired", rows(database, "SELECT count(*) FROM operation WHERE pairing"), [(0,)])
        check(what + ": copies without a number", rows(
            database, "SELECT count(*) FROM operation WHERE counterpart IS NULL"
                      " AND counterpart_copy IS NOT NULL"), [(0,)])
        with sqlite3.connect(database) as db:
            db.execute("ATTACH ? AS trace", (str(replay.trace),))
            check(what + ": procedures", db.execute(
                "SELECT o.id FROM operation o JOIN trace.operation t ON t.id = o.counterpart"
                " WHERE t.program <> o.program OR t.procedure <> o.procedure").fetchall(), [])
            check(what + ": further calls", {p for p, in db.execute(
                "SELECT DISTINCT procedure FROM op WHERE id IN"
                " (SELECT id FROM operation WHERE counterpart IS NULL)")} -
                {"MNT", "FSINFO", "GETATTR", "LOOKUP", "READDIR", "READDIRPLUS"}, set())
    lines = nfsdigest("ops", "--json", database).splitlines()
    shown = [(o["counterpart"], o["counterpart_copy"]) for o in map(json.loads, lines) if o["counterpart"]]
    check("ops --json", sorted(shown), sorted(replay.wanted))


def again(replay):
    """A call that is made again, because the server was busy, has the same number."""
    database = replay.play(faults=["ACCESS:status=NFS3ERR_JUKEBOX:count=2"])
    found = rows(database, "SELECT counterpart, count(*), min(status), max(status) FROM operation"
                           " WHERE counterpart IS NOT NULL GROUP BY 1 HAVING count(*) > 1")
    check("made again", sum(row[1] - 1 for row in found) in (1, 2), True)  # populate may have had one
    check("made again: statuses", {row[2:] for row in found}, {(0, 10008)})
    check("made again: all", rows(database, "SELECT count(DISTINCT counterpart) FROM operation"),
          [(len(replay.wanted),)])


def several(replay):
    """Copies that the player makes are numbered like those of a dump."""
    database = replay.play("--copies", "2")
    check("player's copies", rows(database, "SELECT counterpart, counterpart_copy FROM operation"
                                            " WHERE counterpart IS NOT NULL ORDER BY 1, 2"),
          sorted((number, copy) for number, _ in replay.wanted for copy in (0, 1)))


def main():
    with tempfile.TemporaryDirectory() as scratch:
        replay = Replay(scratch, "vfs-libnfs-all22.pcap.zst")
        numbers(replay)
        again(replay)
        numbers(Replay(scratch, "vfs-libnfs-all22.pcap.zst", "--copies", "3"))
        several(Replay(scratch, "vfs-libnfs-all22.pcap.zst"))
        # nothing may stand where the recording should go
        done = subprocess.run([NFSREPLAY, "run", "--record", "/nowhere/x.nfsr", replay.dump,
                               "nfs://127.0.0.1/a"], capture_output=True, text=True, check=False)
        check("a folder that does not exist", (done.returncode, "/nowhere/x.nfsr" in done.stderr), (4, True))
    for failure in failures:
        print(failure)
    sys.exit(bool(failures))


main()
