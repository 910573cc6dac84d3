#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest concurrency on real captures: sums and counts are those that SQL finds in the database;
makespans are those of a simulator of its own over a replay dump's dependencies; larger windows are never
slower; a window of 1 has concurrency 1; text, JSON and the plot's points say the same; limits hold;
what makes no sense is refused.  Plots are XML, also with hostile labels."""
import heapq
import json
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
BUILD = pathlib.Path(os.environ.get("BUILD") or SRC / "build")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import rdump_file  # noqa: E402

NAMES = ["vfs-libnfs-all22", "knfsd-netem-tcp", "pair-ganesha-vfs", "pair-knfsd"]
DIRECTORY = (3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)  # RFC 1813: those with names or entries
LARGEST = 65536
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def near(a, b, share=1e-6):
    return abs(a - b) <= share * max(abs(a), abs(b))


def run(*arguments):
    return subprocess.run([database.program(), "concurrency"] + [str(a) for a in arguments],
                          capture_output=True, text=True, check=False)


def good(*arguments):
    done = run(*arguments)
    if done.returncode:
        raise RuntimeError("concurrency %s: %s" % (" ".join(map(str, arguments)), done.stderr))
    return done.stdout


def read_json(*arguments):
    """The trace, models and windows by (granularity, factor)."""
    lines = [json.loads(line) for line in good("--json", *arguments).splitlines()]
    models, windows = {}, {}
    for line in lines[1:]:
        key = (line["granularity"], line["directory_factor"])
        if line["kind"] == "model":
            models[key] = line
        else:
            windows.setdefault(key, []).append(line)
    check(lines[0]["kind"] == "trace" and set(models) == set(windows), "kinds of lines")
    return lines[0], models, windows


def row(path, query):
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return connection.execute(query).fetchone()
    finally:
        connection.close()


def against_sql(path, name, trace, models, windows):
    """True when all operations took what the trace shows, so that their sum could be checked."""
    count, busy, longer, first, last = row(path, """
        SELECT count(*), sum(latency), sum(latency * (procedure IN (%s))), min(call_time),
               max(reply_time)
        FROM operation WHERE program IN (100003, 100227) AND version = 3 AND latency >= 0"""
                                           % ",".join(map(str, DIRECTORY)))
    total = row(path, "SELECT count(*) FROM operation WHERE program IN (100003, 100227) AND version = 3")[0]
    check(trace["operations"] == total + trace["inferred"], name + ": operations")
    check(trace["duration"] == last - first, name + ": duration")
    check(near(trace["concurrency"], busy / (last - first)), name + ": concurrency of the trace")
    check(near(trace["throughput"], count / (last - first) * 1e9), name + ": throughput of the trace")
    if trace["inferred"] or trace["unplayable"] or trace["guessed"]:
        return False
    for (granularity, factor), model in models.items():
        want = busy + (factor - 1) * longer
        check(near(model["mean_latency"] * total, want), "%s: latencies x %g" % (name, factor))
        for window in windows[granularity, factor]:
            what = "%s: %s, x %g, window %d" % (name, granularity, factor, window["window"])
            check(near(window["concurrency"] * window["makespan"], want), what + ": concurrency")
            check(near(window["throughput"] * window["makespan"], total * 1e9), what)
    return True


def shapes(name, models, windows):
    for key, each in windows.items():
        spans = [w["makespan"] for w in each]
        check(all(a >= b for a, b in zip(spans, spans[1:])), "%s: %s: larger is slower" % (name, key))
        check(near(each[0]["concurrency"], 1) and each[0]["window"] == 1, name + ": window 1")
        check([w["window"] for w in each] == [2**i for i in range(len(each))], name + ": windows")
        check(spans[-1] == models[key]["critical_path"], "%s: %s: critical path" % (name, key))
        check(max(spans) > min(spans), "%s: %s: windows make no difference" % (name, key))
        first = next(w["window"] for w in each if w["makespan"] * 0.9 <= spans[-1])
        check(models[key]["enough"] == first, "%s: %s: enough" % (name, key))
    for factor in {key[1] for key in models}:
        check(models["fine", factor]["dependencies"] > 0, name + ": no dependencies")
        check(models["fine", factor]["critical_path"] <= models["object", factor]["critical_path"],
              name + ": fine is slower than object")


def plan(scratch, path):
    """(latency, or None where it has to be guessed, whether it works on a directory, whether it is
    played) of each operation, and what it depends on by granularity, as replay dumps have it."""
    before = {}
    for granularity in ("object", "fine"):
        dump = scratch / "plan.rdump"
        subprocess.run([database.program(), "rdump", "--granularity", granularity, "-o", dump, path],
                       capture_output=True, check=True)
        records = [record for kind, record in rdump_file.read(dump) if kind == "operation"]
        before[granularity] = [[number - distance for distance in record.dependencies]
                               for number, record in enumerate(records)]
    return [(None if r.inferred or r.latency < 0 else r.latency, r.procedure in DIRECTORY,
             not r.unplayable) for r in records], before


def longest_path(latencies, before):
    ends = []
    for number, latency in enumerate(latencies):
        ends.append(max((ends[b] for b in before[number]), default=0) + latency)
    return max(ends)


def replay(latencies, before, window, limit):
    """Event by event: what is done makes others ready or moves the window."""
    count, done, first, seen, now = len(latencies), set(), 0, 0, 0
    missing = [len(b) for b in before]
    after = [[] for _ in latencies]
    for number, each in enumerate(before):
        for b in each:
            after[b].append(number)
    ready, running = [], []
    while len(done) < count:
        while seen < min(count, first + window):
            if not missing[seen]:
                heapq.heappush(ready, (latencies[seen] > 0, seen))  # instant ones come first
            seen += 1
        if ready and (not ready[0][0] or len(running) < limit):
            number = heapq.heappop(ready)[1]
            if latencies[number]:
                heapq.heappush(running, (now + latencies[number], number))
                continue
            finished = [number]
        else:
            now, number = heapq.heappop(running)
            finished = [number]
            while running and running[0][0] == now:
                finished.append(heapq.heappop(running)[1])
        done.update(finished)
        for number in finished:
            for other in after[number]:
                missing[other] -= 1
                if not missing[other] and other < seen:
                    heapq.heappush(ready, (latencies[other] > 0, other))
        while first in done:
            first += 1
    return now


def against_replays(scratch, path, name):
    operations, before = plan(scratch, path)
    slow = ("--latency", "1ms", "--directory-factor", "3")
    models = [(slow, 10**6, 1), (slow, 10**6, 3)]
    if all(latency is not None or not played for latency, _, played in operations):
        models += [(("--directory-factor", "2"), None, 1), (("--directory-factor", "2"), None, 2)]
    for options, constant, factor in models:
        latencies = [(constant or latency) * (factor if directory else 1) if played else 0
                     for latency, directory, played in operations]
        for limit in (None, 5):
            limited = ("--outstanding", limit) if limit else ()
            _, models, windows = read_json(*options, *limited, "-w", "2,16,100,1000,8192", path)
            for granularity, each in before.items():
                what = "%s: %s: %s x %d, limit %s" % (name, granularity, constant, factor, limit)
                check(models[granularity, factor]["critical_path"] ==
                      longest_path(latencies, each), what + ": longest path")
                check(models[granularity, factor]["dependencies"] == sum(map(len, each)),
                      what + ": dependencies")
                for w in windows[granularity, factor]:
                    want = replay(latencies, each, w["window"], limit or len(each))
                    check(w["makespan"] == want, "%s: window %d: %d, not %d" % (
                        what, w["window"], w["makespan"], want))


def digits(text):
    return float(text.replace(",", ""))


def seconds(text):
    value, unit = re.fullmatch(r"([\d.,]+)(ns|us|ms|s|m|h)", text).groups()
    return digits(value) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}[unit]


def as_text(path, name, models, windows):
    """Tables come for one factor after the other, with object on the left."""
    tables = re.split(r"\nlatencies ", good("--directory-factor", 2, path))[1:]
    check(len(tables) == 2, name + ": tables")
    for table, factor in zip(tables, (1, 2)):
        rows = [line.split() for line in table.split("makespan\n")[-1].splitlines()]
        for side, granularity in ((1, "object"), (4, "fine")):
            each = windows[granularity, factor]
            check(len(rows) == len(each), name + ": rows")
            for cells, window in zip(rows, each):
                same = (digits(cells[0]) == window["window"] and
                        near(digits(cells[side]), window["throughput"], 1e-3) and
                        near(digits(cells[side + 1]), window["concurrency"], 1e-3) and
                        near(seconds(cells[side + 2]), window["makespan"], 1e-3))
                check(same, "%s: text: %s" % (name, cells))
            path_text = re.search(r"critical path +%s +(\S+?);" % granularity, table)
            check(path_text and near(seconds(path_text[1]),
                                     models[granularity, factor]["critical_path"], 1e-3),
                  name + ": text: critical path")


def titles(svg):
    """Tooltips of points, (label, y, x), in their order."""
    root = xml.etree.ElementTree.fromstring(svg)
    check(root.tag == "{http://www.w3.org/2000/svg}svg", "no SVG")
    check("http" not in svg.replace("http://www.w3.org/2000/svg", ""), "plot: refers to something")
    check("url(" not in svg and "@import" not in svg and "<script" not in svg, "plot: not alone")
    found = [re.fullmatch(r"(.*): (\S+) at (\S+)", e.text)
             for e in root.iter("{http://www.w3.org/2000/svg}title")]
    return [(m[1], digits(m[2]), digits(m[3])) for m in found]


def plot(scratch, path, name, windows):
    """Upper panel: throughput; lower one: concurrency."""
    target = scratch / "plot.svg"
    text = good("--directory-factor", 2, "--svg", target, path)
    check(text == good("--directory-factor", 2, path), "--svg changes the text")
    svg = target.read_text()
    check(svg == good("--directory-factor", 2, "--svg", "-", path), "--svg - is another plot, or not alone")
    points = titles(svg)
    want = []
    for what in ("throughput", "concurrency"):
        for factor, more in ((1, ""), (2, ", directories \u00d7 2")):
            for granularity in ("object", "fine"):
                want += [(granularity + more, w[what], w["window"])
                         for w in windows[granularity, factor]]
    check(len(points) == len(want), "%s: %d points, not %d" % (name, len(points), len(want)))
    for got, wanted in zip(points, want):
        check(got[0] == wanted[0] and got[2] == wanted[2] and near(got[1], wanted[1], 0.006),
              "%s: point %s, not %s" % (name, got, wanted))
    check("prefers-color-scheme:dark" in svg, "plot: light only")


def constant(path, name):
    """One latency: one by one takes the sum, and the longest chain is a number of them."""
    trace, models, windows = read_json("--latency", "1ms", "--windows", "64,1,8,64,1", path)
    played = trace["operations"] - trace["unplayable"]
    for key, each in windows.items():
        check([w["window"] for w in each] == [1, 8, 64], name + ": --windows")
        check(each[0]["makespan"] == played * 10**6, name + ": --latency, window 1")
        check(near(each[0]["throughput"], 1000), name + ": --latency, throughput")
        check(models[key]["critical_path"] % 10**6 == 0, name + ": --latency, critical path")
        check(all(w["concurrency"] <= w["window"] for w in each), name + ": more than the window")


def limits(path, name, models, windows):
    for limit in (1, 4, LARGEST):
        trace, limited, each = read_json("--outstanding", limit, path)
        check(trace["outstanding"] == limit, name + ": outstanding")
        for key in limited:
            what = "%s: %s: limit %d" % (name, key, limit)
            check(limited[key]["critical_path"] == models[key]["critical_path"], what + ": path")
            for w, free in zip(each[key], windows[key]):
                check(w["makespan"] >= free["makespan"], what + ": faster than without")
                check(w["concurrency"] <= limit * (1 + 1e-9), what + ": exceeded")
                if limit >= w["window"]:
                    check(w["makespan"] == free["makespan"], what + ": counts where it is large")


def nothing(scratch):
    """A trace without NFS."""
    capture = scratch / "empty.pcap"
    capture.write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) +
                        struct.pack("<IIII", 1, 0, 60, 60) + bytes(60))
    path = scratch / "empty.db"
    database.ingest(path, capture)
    trace, _, windows = read_json(path)
    check(trace["operations"] == 0 and trace["concurrency"] is None, "empty: trace")
    check(all(w["throughput"] is None and w["makespan"] == 0 for each in windows.values()
              for w in each), "empty: windows")
    check(" 0; 0 of them inferred, 0 cannot be replayed" in good(path), "empty: text")
    check(titles(good("--svg", "-", path)) == [], "empty: points")


def refused(scratch, path):
    for arguments, code, words in (
            ((path, path), 2, "one file"), ((), 2, "one file"),
            (("-w", "0", path), 2, "not a window"), (("-w", "65537", path), 2, "not a window"),
            (("-w", "", path), 2, "not a window"), (("-w", "1,,2", path), 2, "not a window"),
            (("-w", "1,", path), 2, "not a window"), (("-w", "x", path), 2, "not a window"),
            (("-w", "-1", path), 2, "not a window"),
            (("-w", "99999999999999999999", path), 2, "not a window"),
            (("-w", ",".join(map(str, range(1, 66))), path), 2, "more than 64 windows"),
            (("--latency", "fast", path), 2, "not a duration"), (("--latency", "-1ms", path), 2, "not a duration"),
            (("--latency", "0", path), 2, "above 0"), (("--latency", "2000000h", path), 2, "292 years"),
            (("--latency", "2000000h", "--outstanding", "3", path), 2, "292 years"),
            *((("--directory-factor", factor, path), 2, "0.001 to 1000") for factor in ("0", "nan", "2x", "")),
            (("--outstanding", "0", path), 2, "1 to 65536"), (("--outstanding", "65537", path), 2, "1 to 65536"),
            (("--svg", "-", "--json", path), 2, "--svg -"),
            ((scratch / "none.db",), 3, "none.db"), ((SRC / "CHANGELOG.md",), 3, "CHANGELOG"),
            (("--svg", scratch / "no/plot.svg", path), 4, "plot.svg")):
        done = run(*arguments)
        said = re.search(words, done.stderr)
        check(done.returncode == code and said and not done.stdout,
              "refused %s: %d, %s" % (arguments[:-1], done.returncode, done.stderr.strip()))
    check(not (scratch / "no").exists(), "a folder was made")


def options():
    page = (SRC / "man/nfsdigest-concurrency.1").read_text().replace("\\-", "-")
    found = [set(re.findall(r"--[a-z][a-z-]+", text)) for text in (good("--help"), page)]
    check(found[0] == found[1] and len(found[0]) > 5, "options of help and man page: %s" % found)


def samples():
    """What the plot writer makes of good and of hostile texts."""
    for number in range(2):
        done = subprocess.run([BUILD / "bin/tests/test_svg_plot", "--print", str(number)],
                              capture_output=True, text=True, check=True)
        root = xml.etree.ElementTree.fromstring(done.stdout)
        tags = {e.tag.split("}")[1] for e in root.iter()}
        check(tags <= {"svg", "style", "rect", "text", "path", "circle", "title"},
              "sample %d: %s" % (number, tags))
        texts = [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text")]
        check(len(texts) > 10, "sample %d: texts" % number)
        if number == 1:
            hostile = ("</text><script>alert(1)</script>&amp;\"'\\x01\\x7f\\xff\\xc0\\xaf?\\x0a\\ "
                       "\u00e9")
            check(texts.count(hostile) >= 5, "hostile texts: %s" % texts)


def main():
    scratch = pathlib.Path(tempfile.mkdtemp())
    summed = 0
    try:
        for name in NAMES:
            path = scratch / (name + ".db")
            database.ingest(path, next(CAPTURES.glob(name + ".pcap*")))
            trace, models, windows = read_json("--directory-factor", 2, path)
            check(set(models) == {(g, f) for g in ("object", "fine") for f in (1, 2)}, "models")
            summed += against_sql(path, name, trace, models, windows)
            shapes(name, models, windows)
            as_text(path, name, models, windows)
            plot(scratch, path, name, windows)
            constant(path, name)
            limits(path, name, models, windows)
            against_replays(scratch, path, name)
            print("%s: %d operations; critical path %s" % (name, trace["operations"], {
                key: "%.3f s" % (model["critical_path"] / 1e9) for key, model in models.items()}))
        check(summed >= 1, "sums of latencies: %d checked" % summed)
        refused(scratch, path)
        nothing(scratch)
        options()
        samples()
    finally:
        shutil.rmtree(scratch)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
