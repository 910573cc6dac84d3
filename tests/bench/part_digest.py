# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "digest" of run.py: from a database to the tree, the dependencies and the replay dump, all
made by nfsdigest rdump; tree and concurrency by themselves for comparison. The peer is the sqlite3
library, reading the columns of all operations once in Python."""
import json
import sqlite3
import statistics
import time

PACKETS = 6_800_000  # two million operations, blocks small so that the capture is
OBJECTS = 500_000    # for memory: files
BOUND_FIXED, BOUND_OBJECT = 256 * 10**6, 300  # bytes; for each object that lives


def database(bench, name, packets, *options):
    """Made once, from a capture that goes again; what gen_bench said of it is in a file .made."""
    path = bench.build / "bench" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        capture, part = path.with_suffix(".pcap"), path.with_suffix(".part")
        part.unlink(missing_ok=True)
        words = bench.run([str(bench.tools / "gen_bench"), "--packets", str(packets), "--block",
                           "256", *options, str(capture)], keep=True)[2]
        path.with_suffix(".made").write_text(words)
        bench.run([bench.nfsdigest, "ingest", "-q", "-o", str(part), str(capture)])
        capture.unlink()
        part.rename(path)
    return str(path)


def warm(path):
    """Into the page cache, from which some machines drop it between two runs."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass
    return path


def rdump(bench, path, *options):
    """(seconds, peak bytes, what it says)"""
    seconds, peaks, output = bench.run([bench.nfsdigest, "rdump", "--json", *options, "-o",
                                        bench.file("trace.rdump"), warm(path)], keep=True)
    return seconds, peaks[0], json.loads(output)


def read_once(path):
    start = time.monotonic()
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    rows = sum(1 for _ in db.execute("SELECT * FROM operation ORDER BY id"))
    db.close()
    return time.monotonic() - start, rows


def speed(bench, packets, capture, rounds, report):
    path = database(bench, "digest.db", PACKETS)
    times = {"rdump fine": [], "rdump object": [], "tree": [], "concurrency": [], "sqlite3": []}
    cpu, made = [], {}
    for _ in range(rounds):
        bench.cpu = 0
        seconds, _, made["fine"] = rdump(bench, path)
        cpu.append(bench.cpu)
        times["rdump fine"].append(seconds)
        seconds, _, made["object"] = rdump(bench, path, "--granularity", "object")
        times["rdump object"].append(seconds)
        times["tree"].append(bench.run([bench.nfsdigest, "tree", "--summary", warm(path)])[0])
        times["concurrency"].append(bench.run([bench.nfsdigest, "concurrency", warm(path)])[0])
        times["sqlite3"].append(read_once(warm(path))[0])
    t = {name: statistics.median(values) for name, values in times.items()}
    operations = made["fine"]["operations"]
    print("%d operations, medians of %d rounds; CPU of rdump fine %.2f s" % (
        operations, rounds, statistics.median(cpu)))
    for name, seconds in t.items():
        print("  %-14s %8.2f s  %8.0f k operations/s  (%s)" % (
            name, seconds, operations / seconds / 1000, " ".join("%.2f" % v for v in times[name])))
    for name, said in made.items():
        print("  %-8s %5.2f dependencies an operation, %5.1f bytes an operation" % (
            name, said["mean_dependencies"], said["bytes_per_operation"]))
        report.add("rdump %s: bytes an operation" % name, said["bytes_per_operation"], "B", 100,
                   False)
    report.add("tree + deps + rdump, operations a second", operations / t["rdump fine"] / 1000, "k",
               200, True)
    return t


def memory(bench, sizes, report):
    path = database(bench, "objects.db", 3_000_000, "--files", str(OBJECTS))
    _, peak, said = rdump(bench, path)
    bound = BOUND_FIXED + BOUND_OBJECT * said["objects"]
    report.add("rdump, peak with %d objects" % said["objects"], peak / 10**6, "MB", bound / 10**6,
               False)
