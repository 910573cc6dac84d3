#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""nfsreplay curve on two servers whose latency is known, because a fault delays each answer: the rates
grow in equal steps up to the one that was reached without a plan, the points are those of the runs'
own reports, and latencies are not below the delay.  The tree is removed.  What cannot be measured is
refused before anything is made.

    nfsreplay_curve.py     environment: BUILD, NFSDIGEST, CAPTURES
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "gen")]

import audit_schema  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import MKDIR  # noqa: E402
from replay_run import BIN, check, failures, is_empty, refused, run  # noqa: E402

CAPTURE, OTHER = (pathlib.Path(os.environ["CAPTURES"]) / (name + ".pcap.zst")
                  for name in ("load-ganesha-mem", "knfsd-nlm-locks"))
SCHEMA = json.loads((HERE.parent.parent / "schemas" / "curve.schema.json").read_text())
POINTS = 3
DELAYS = (1, 2)  # ms, of the two servers
RUNS = ["asap"] + ["rate-%02d" % i for i in range(1, POINTS + 1)]


def make_dump(scratch, *captures):
    database, dump = (scratch / ("%d.%s" % (len(captures), end)) for end in ("db", "rdump"))
    for words in (["ingest", "-o", database, *captures], ["rdump", "--with-results", "-o", dump, database]):
        subprocess.run([os.environ["NFSDIGEST"], *map(str, words)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return dump


def read_points(folder):
    curve = json.loads((folder / "curve.json").read_text())
    for problem in audit_schema.errors(SCHEMA, curve):
        check(False, problem)
    return curve["points"]


def check_point(folder, point, delay):
    """A point beside the report of its run."""
    report = json.loads((folder / point["run"] / "report.json").read_text())
    procedures, name = report["procedures"], point["run"]
    answered = sum(p["sent_count"] for p in procedures)
    check(answered == point["answered"] == point["operations"] > 900, name, "answered")
    check(report["run"]["duration"] == point["duration"], name, "duration")
    check(abs(point["reached_rate"] - answered * 1e9 / point["duration"]) < 1, name, "reached")
    check([p["name"] for p in procedures] == [p["name"] for p in point["procedures"]], name)
    for kind in ("sent", "planned"):
        times = point[kind]
        check(times["count"] == answered, name, kind, "count")
        check(times["most"] == max(p[kind + "_most"] for p in procedures), name, kind, "most")
        mean = sum(p[kind + "_sum"] for p in procedures) / answered
        check(abs(times["mean"] - mean) <= 1, name, kind, "mean")
        check(delay * 990000 < times["p50"] <= times["p90"] <= times["p99"] <= times["most"], name,
              kind, times)
    check(point["sent"]["p50"] <= point["planned"]["p50"], name, "sent before it was planned")
    check(point["differ"] == 0, name, "differ")


def check_target(folder, points, number, delay):
    check([p["run"] for p in points] == ["%d-%s" % (number, r) for r in RUNS], "runs", number)
    check(points[0]["planned_rate"] is None, "the rate of asap")
    for i, p in enumerate(points):
        check_point(folder, p, delay)
        wanted = points[0]["reached_rate"] * i / POINTS
        check(i == 0 or abs(p["planned_rate"] - wanted) < 0.01, p["run"], "planned rate")
        check(i == 0 or p["reached_rate"] < 1.1 * wanted, p["run"], "faster than planned")
    rates = [p["reached_rate"] for p in points]
    check(rates[1] < rates[2] and rates[1] < rates[3], "rates do not grow", rates)


def check_plot(path, lines):
    """Each line has all runs in two panels, and those with a plan in two more."""
    titles = [t.text for t in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}title")]
    tips = [t for t in titles if t and " at " in t]
    check(len(tips) == lines * (4 * POINTS + 2), path, len(tips))
    return {t.rsplit(": ", 1)[0] for t in tips}


def curves(scratch, dump):
    folder = scratch / "curves"
    faults = [("--export", "/a", "--fault", "*:delay=%dms" % delay) for delay in DELAYS]
    with Ftnfsd(*faults[0]) as one, Ftnfsd(*faults[1]) as two:
        done = run("curve", "--points", POINTS, "--outstanding", 8, "-o", folder, dump, one.urls[0],
                   two.urls[0])
        check(done.returncode == 0, done.returncode, done.stderr)
        check(is_empty(one) and is_empty(two), "a tree was left")
        told = run("curve", "--points", 1, "--json", "-o", scratch / "told", dump, one.urls[0])
        check(json.loads(told.stdout) == json.loads((scratch / "told/curve.json").read_text()), "--json")
    rows = re.findall(r"^ +(asap|[\d.]+) +([\d.]+) .* 0$", done.stdout, re.M)
    points = read_points(folder)
    check(all(abs(float(r[1]) - p["reached_rate"]) < 0.06 for r, p in zip(rows, points)), rows)
    check(len(rows) == len(points) == 2 * (POINTS + 1), len(points), rows)
    for i, delay in enumerate(DELAYS):
        check_target(folder, points[i * (POINTS + 1):(i + 1) * (POINTS + 1)], i + 1, delay)
        most = sorted((p["sent"]["count"] for p in points[i * (POINTS + 1)]["procedures"]),
                      reverse=True)[:6]
        picture = folder / ("procedures-%d.svg" % (i + 1))
        names = check_plot(picture, 6)
        check("on %d: 127.0.0.1/a<" % (i + 1) in picture.read_text(), "the title, which must not be too wide")
        counts = [p["sent"]["count"] for p in points[0]["procedures"] if p["name"] in names]
        check(sorted(counts, reverse=True) == most, names)
    check_plot(folder / "curve.svg", 2)
    return folder


def interrupted(scratch, dump):
    """What stood before is kept."""
    folder = scratch / "interrupted"
    with Ftnfsd("--export", "/a", "--fault", "*:delay=1ms") as server:
        process = subprocess.Popen([BIN / "nfsreplay", "curve", "-o", folder, dump, server.urls[0]],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not process.stdout.readline().lstrip().startswith("asap"):
            pass
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
    check(process.returncode == 1 and "interrupted" in errors, process.returncode, errors)
    points = read_points(folder)
    check(1 <= len(points) < 11 and points[0]["run"] == "1-asap", "interrupted", len(points))
    check((folder / "curve.svg").exists(), "interrupted: no plot")


def refusals(scratch, dump, folder):
    new = scratch / "new"
    with Ftnfsd("--export", "/a", "--export", "/b") as server:
        url = server.urls[0]
        refused(2, "-o DIR", "curve", dump, url)
        refused(2, "new folder", "curve", "-o", folder, dump, url)
        refused(2, "without SERVER=", "curve", "-o", new, dump, "10.0.0.1=" + url)
        refused(2, "1 to 100", "curve", "--points", 0, "-o", new, dump, url)
        refused(2, "2 servers", "curve", "-o", new, make_dump(scratch, CAPTURE, OTHER), url)
        refused(3, "answered nothing behind the warm-up", "curve", "-q", "--warm-up", "9h", "-o", scratch / "warm", dump, url)
        run("clean", dump, url)
        refused(2, "rate", "curve", "--rate", 5, "-o", new, dump, url)
        client = Client(server)
        client.nfs(MKDIR, {"object": client.mount(b"/a"), "name": b"theirs", "settings": {}})
        client.close()
        refused(3, "did not make", "curve", "-o", new, dump, url)
        refused(3, "did not make", "curve", "-o", new, dump, server.urls[1], url)  # before the first is played on
        check(not is_empty(server), "what stood there is gone")
    check(not new.exists(), "a folder without a run")


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        dump = make_dump(scratch, CAPTURE)
        refusals(scratch, dump, curves(scratch, dump))
        interrupted(scratch, dump)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
