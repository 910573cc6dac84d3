# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "compare" of run.py: two servers' answers to the same calls of several clients, of which a
few differ; from two databases to a third.  The peer is the sqlite3 shell, which reads all columns of
both tables of operations once, in turns with it."""
import os
import pathlib
import re
import sqlite3
import statistics

from part_digest import database, warm

LONG = 3_700_000, 120_000  # packets, files: more than a million pairs
SHORT = 925_000, 195_000  # a quarter of them, on as many objects and values of theirs: at certain
# numbers hash tables double
DIFFER = 1000  # of so many replies that can differ one does
PAIRS, BOUND, GROWTH = 10**6, 10, 10  # at least; times; percent
BOUND_FIXED, BOUND_OBJECT = 200 * 10**6, 700  # bytes; for each pair of objects: compare.h


def pair(bench, name, packets, files):
    """Databases of ref and sut, and how many replies of the sut differ."""
    paths = [database(bench, "compare-%s-%s.db" % (name, side), packets, "--files", str(files),
                      *options) for side, options in (("ref", ()), (
                          "sut", ("--server", "1", "--differ", str(DIFFER))))]
    said = pathlib.Path(paths[1]).with_suffix(".made").read_text()
    return paths, int(re.search(r"(\d+) replies altered", said).group(1))


def compare(bench, paths):
    """(seconds, peak bytes, what the result says)"""
    out = bench.file("compare.db")
    for path in paths:
        warm(path)
    # 1: there are discrepancies
    seconds, peaks, _ = bench.run([bench.nfsdigest, "compare", "--summary", "-o", out, *paths],
                                  accept=(0, 1))
    db = sqlite3.connect(out)
    said = {key: int(value) for key, value in db.execute(
        "SELECT key, value FROM meta WHERE key IN ('pairs', 'discrepancies', 'groups', 'withheld')")}
    said["objects"] = db.execute("SELECT count(*) FROM object").fetchone()[0]
    db.close()
    os.unlink(out)
    return seconds, peaks[0], said


def check(said, altered):
    """What differs was found, and nothing else; a few replies have no counterpart at the end."""
    if said["groups"] > 4 or not 0.98 * altered <= said["discrepancies"] + said["withheld"] or \
            said["discrepancies"] > altered:
        raise SystemExit("%d replies differ, but compare says %s" % (altered, said))


def read_once(bench, paths):
    return sum(bench.run(["sqlite3", "-readonly", warm(path), "SELECT * FROM operation"])[0]
               for path in paths)


def speed(bench, packets, capture, rounds, report):
    paths, altered = pair(bench, "long", *LONG)
    times, cpu = {"sqlite3": [], "compare": []}, {"sqlite3": [], "compare": []}
    for _ in range(rounds):
        bench.cpu = 0
        times["sqlite3"].append(read_once(bench, paths))
        cpu["sqlite3"].append(bench.cpu)
        bench.cpu = 0
        seconds, _, said = compare(bench, paths)
        times["compare"].append(seconds)
        cpu["compare"].append(bench.cpu)
        check(said, altered)
    t = {name: statistics.median(values) for name, values in times.items()}
    c = {name: statistics.median(values) for name, values in cpu.items()}
    print("%d pairs of operations on %d of objects, %d discrepancies, medians of %d rounds" % (
        said["pairs"], said["objects"], said["discrepancies"], rounds))
    for name, seconds in t.items():
        print("  %-14s %8.2f s  %8.0f k pairs/s  CPU %6.2f s  (%s)" % (
            name, seconds, said["pairs"] / seconds / 1000, c[name],
            " ".join("%.2f" % v for v in times[name])))
    report.add("compare, pairs of operations", said["pairs"] / 1000, "k", PAIRS / 1000, True)
    report.add("compare, times sqlite3's time", t["compare"] / t["sqlite3"], "x", BOUND, False)
    report.add("compare, times sqlite3's CPU", c["compare"] / c["sqlite3"], "x", BOUND, False)
    return t


def memory(bench, sizes, report):
    peaks = []
    for name, size in ("short", SHORT), ("long", LONG):
        paths, altered = pair(bench, name, *size)
        _, peak, said = compare(bench, paths)
        check(said, altered)
        peaks.append(peak)
        report.add("compare, peak with %d pairs on %d objects" % (said["pairs"], said["objects"]),
                   peak / 10**6, "MB", (BOUND_FIXED + BOUND_OBJECT * said["objects"]) / 10**6,
                   False)
    report.add("compare, peak's growth", 100 * (peaks[1] / peaks[0] - 1), "%", GROWTH, False)
