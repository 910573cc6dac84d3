#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300
"""nfsdigest compare of a trace with a recorded replay of it: every operation that was played is paired with
its original, and nothing else.  A clean replay shows nothing.  Wrong answers that the player does not see
are found on exactly the operations that have them; the recording itself says which these are.

    compare_replay.py     environment: BUILD, NFSDIGEST, CAPTURES
"""
import collections
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Ftnfsd  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
NFSREPLAY = str(pathlib.Path(os.environ.get("BUILD", "build")) / "bin" / "nfsreplay")
CAPTURE = pathlib.Path(os.environ["CAPTURES"]) / "knfsd-tcp-mtu1500.pcap.zst"
RULES = [w for rules in ("linux-knfsd", "ftnfsd", "replay") for w in ("--rules", rules)]
ALONE = ("--outstanding", "1")  # so that nothing overlaps
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.500r, not %.500r" % (what, found, wanted))


def nfsdigest(*words, codes=(0,)):
    done = subprocess.run([NFSDIGEST, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError("%s: %d: %s" % (words, done.returncode, done.stderr))
    return done


def rows(database, query):
    with sqlite3.connect(database) as db:
        return db.execute(query).fetchall()


class Replays:
    def __init__(self, scratch):
        self.scratch, self.count = pathlib.Path(scratch), 0
        self.trace, self.dump = self.scratch / "trace.db", self.scratch / "trace.rdump"
        nfsdigest("ingest", "-o", self.trace, CAPTURE)
        nfsdigest("rdump", "--with-results", "-o", self.dump, self.trace)

    def play(self, *faults, dump=None, options=(), code=0):
        """The database of a recorded replay."""
        self.count += 1
        stream, database = (self.scratch / ("%d.%s" % (self.count, kind)) for kind in ("nfsr", "db"))
        with Ftnfsd("--export", "/a", *(w for f in faults for w in ("--fault", f))) as server:
            done = subprocess.run([NFSREPLAY, "run", "--pace", "asap", "--order", "trace", "--record", stream,
                                   *options,
                                   dump or self.dump, server.urls[0]],
                                  capture_output=True, text=True, check=False, timeout=120)
        check("%s: the player's verdict" % (faults,), done.returncode, code)
        nfsdigest("ingest", "-o", database, stream)
        return database

    def compare(self, ref, sut, *words, rules=RULES, code=0):
        """(what it says, the result)"""
        out = self.scratch / "out.db"
        done = nfsdigest("compare", *rules, *words, "-o", out, ref, sut, codes=(0, 1))
        check("%s: exit of compare" % sut.name, done.returncode, code)
        return done.stdout, out


def reasons(out, side):
    return dict(rows(out, "SELECT c.name, count(*) FROM alignment a JOIN code c ON c.domain = 'reason' AND"
                          " c.value = a.reason WHERE kind = 2 AND %s IS NOT NULL GROUP BY 1" % side))


def clean(replays):
    sut = replays.play(options=ALONE)
    text, out = replays.compare(replays.trace, sut)
    check("clean: verdict", "The two servers answer alike." in text, True)
    wanted = dict(rows(sut, "SELECT id, counterpart FROM operation WHERE counterpart IS NOT NULL"))
    pairs = rows(out, "SELECT ref, sut FROM alignment WHERE kind = 1")
    check("clean: wrong pairs", [p for p in pairs if wanted.get(p[1]) != p[0]], [])
    # parts of listings belong to their beginnings
    parts = rows(out, "SELECT count(*) FROM alignment WHERE kind = 3 AND sut IS NOT NULL")[0][0]
    check("clean: pairs", 0 <= len(wanted) - len(pairs) <= 1, True)
    check("clean: added calls", reasons(out, "sut").get("no counterpart"),
          rows(sut, "SELECT count(*) FROM operation WHERE counterpart IS NULL")[0][0] - parts)
    # the stream itself, and a result of it compared again
    text, out = replays.compare(replays.trace, sut.with_suffix(".nfsr"))
    check("stream: verdict", "The two servers answer alike." in text, True)
    check("stream: pairs", rows(out, "SELECT ref, sut FROM alignment WHERE kind = 1"), pairs)
    again = nfsdigest("compare", *RULES, out)
    check("stream: again", "The two servers answer alike." in again.stdout, True)
    # the other way round, and compared again under other rules
    check("turned", rows(replays.compare(sut, replays.trace)[1], "SELECT count(*) FROM alignment"
                         " WHERE kind = 1"), [(len(pairs),)])
    again = nfsdigest("compare", *RULES, out)
    check("again", "The two servers answer alike." in again.stdout, True)
    return sut


def decoded(database, procedure):
    for line in nfsdigest("ops", "--json", "--fields", "-P", procedure, database).stdout.splitlines():
        op = json.loads(line)
        if op["counterpart"] and op["status"] == 0:
            yield op, {name.split(".", 2)[-1]: value for name, value in op["result"].items()}


def odd_ones(database, procedure, field):
    """Operations with another value than most for their object."""
    values = collections.defaultdict(collections.Counter)
    for op, result in decoded(database, procedure):
        values[op["object"]][result[field]] += 1
    return {op["id"] for op, result in decoded(database, procedure)
            if result[field] != values[op["object"]].most_common(1)[0][0]}


def changes(database, procedure, field):
    """Operations with another value than the one before them."""
    found, last = set(), None
    for op, result in decoded(database, procedure):
        if last is not None and result[field] != last:
            found.add(op["id"])
        last = result[field]
    return found


def is_current(result):
    """The times from before the operation are those from after it."""
    return all(result["obj_wcc.before.%s" % t] == result["obj_wcc.after.%s" % t] for t in
               ("mtime.seconds", "mtime.nseconds", "ctime.seconds", "ctime.nseconds"))


def wrong(replays, alone):
    """In the recording: which operations have the fault.  Knfsd's access times and times from before an
    operation are coarse or not compared; so these are compared with the clean replay."""
    cases = [
        ("GETATTR:fileid:every=50", replays.trace, RULES,
         lambda db: odd_ones(db, "getattr", "obj_attributes.fileid")),
        ("WRITE:verifier:count=1:after=500", replays.trace, RULES,
         lambda db: changes(db, "write", "verf")),
        ("SETATTR:before-current:every=400", alone, [],
         lambda db: {op["id"] for op, result in decoded(db, "setattr") if is_current(result)}),
        ("GETATTR:no-atime:every=30", alone, [],
         lambda db: {op["id"] for op, result in decoded(db, "getattr")
                     if result["obj_attributes.atime.seconds"] == 0}),
    ]
    for fault, ref, rules, oracle in cases:
        sut = replays.play(fault, options=ALONE if ref == alone else ())
        _, out = replays.compare(ref, sut, rules=rules, code=1)
        wanted = oracle(sut)
        found = {op for op, in rows(out, "SELECT DISTINCT sut FROM discrepancy")}
        check("%s: some" % fault, bool(wanted), True)
        check(fault, sorted(found), sorted(wanted))


def several(replays, alone):
    """Copies, calls that were sent again, and unknown numbers."""
    dump = replays.scratch / "copies.rdump"
    nfsdigest("rdump", "--with-results", "--copies", "2", "-o", dump, replays.trace)
    sut = replays.play("ACCESS:status=NFS3ERR_JUKEBOX:count=3:after=10", dump=dump)
    pairs = rows(replays.compare(replays.trace, alone)[1], "SELECT count(*) FROM alignment WHERE kind = 1")
    often = {copy: n for copy, n in rows(sut, "SELECT counterpart_copy, count(*) FROM operation WHERE"
                                              " counterpart IS NOT NULL GROUP BY 1")}
    again = 0
    for copy in (0, 1):
        text, out = replays.compare(replays.trace, sut, "--copy", copy)
        check("copy %d: verdict" % copy, "The two servers answer alike" in text, True)
        check("copy %d: pairs" % copy, rows(out, "SELECT count(*) FROM alignment WHERE kind = 1"), pairs)
        found = reasons(out, "sut")
        again += found.get("repeated", 0)
        other = found.get("other copy", 0)
        check("copy %d: the other copy" % copy, 0 <= often[1 - copy] - other < 10, True)
    check("sent again", again, 3)
    with sqlite3.connect(alone) as db:  # as of another trace
        changed = db.execute("UPDATE operation SET counterpart = counterpart + 100000"
                             " WHERE counterpart BETWEEN 1000 AND 1009 AND procedure <> 17").rowcount
    _, out = replays.compare(replays.trace, alone)
    check("unknown numbers", reasons(out, "sut").get("unknown counterpart"), changed)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        replays = Replays(scratch)
        alone = clean(replays)
        wrong(replays, alone)
        several(replays, alone)
    for failure in failures:
        print(failure)
    sys.exit(bool(failures))


main()
