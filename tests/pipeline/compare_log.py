#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=6
"""`nfsdigest compare LOG`: the log of a shadow has exactly the differences that the shadow found, while it
grows, after its shadow was killed, and wherever it is cut, also in listings of directories whose names
change; and rules can be refined on it."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

NFSDIGEST = os.environ["NFSDIGEST"]
TOOLS = os.path.join(os.environ["BUILD"], "bin", "tests")
MAKE = os.path.join(TOOLS, "teelog_make")
MAKE_NAMES = os.path.join(TOOLS, "teelog_names")
STREAMS = ("reference.nfsr", "sut.nfsr")
DIFFERS = 1
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append(what)
        print("%s: %r, wanted %r" % (what, found, wanted))


def run(*arguments):
    return subprocess.run([NFSDIGEST, *arguments], capture_output=True, text=True)


class Shadow:
    """The program that writes a log, then waits."""

    def __init__(self, log, *options):
        self.process = subprocess.Popen([MAKE, log, *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.verdicts = []
        while not self.verdicts or self.verdicts[-1]["name"] != "entry":
            self.verdicts.append(json.loads(self.process.stdout.readline()))

    def end(self):
        self.process.stdin.close()
        check("shadow ends", self.process.wait(), 0)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def flushed(log):
    """Waits until the log has its first summary: then the streams were written, too."""
    for _ in range(200):
        if os.path.exists(os.path.join(log, "summary.json")):
            return
        time.sleep(0.05)
    sys.exit("no summary")


def differences(log, *options):
    """The exit code, and the fields that differ."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.db")
        done = run("compare", log, "--summary", "-o", out, *options)
        if not os.path.exists(out):
            return done.returncode, done.stderr
        db = sqlite3.connect(out)
        found = db.execute("SELECT g.field FROM discrepancy d JOIN discrepancy_group g"
                           " ON g.id = d.discrepancy_group").fetchall()
        db.close()
        return done.returncode, sorted(field.split(".")[-1] for field, in found)


def wanted_of(verdicts):
    names = {"mode": "mode", "contents": "data", "size": "size", "status": "status", "time": "mtime",
             "entry": "entries"}
    return sorted(names[v["name"]] for v in verdicts if v["what"] == DIFFERS)


def finished(folder):
    """A whole log, of what differs, and of everything."""
    for options in (), ("all",):
        log = os.path.join(folder, "log" + "".join(options))
        shadow = Shadow(log, *options)
        shadow.end()
        wanted = wanted_of(shadow.verdicts)
        check("verdicts", len(wanted), 6)
        for name in STREAMS:
            done = run("check", os.path.join(log, name))
            check("check " + name, (done.returncode, done.stderr), (0, ""))
        check("whole log %s" % (options,), differences(log), (1, wanted))
    return log[: -len("all")], wanted


def rules(folder, log, wanted):
    mine = os.path.join(folder, "mine.conf")
    with open(mine, "w", encoding="utf-8") as file:
        file.write("[rules]\nname = mine\n[fields]\n*.mode = ignored\n*.mtime = ignored\n")
    check("refined rules", differences(log, "--rules", mine),
          (1, [w for w in wanted if w not in ("mode", "mtime")]))
    done = run("compare", log, "--json")
    check("JSON", (done.returncode, json.loads(done.stdout)["totals"][0]["discrepancies"]), (1, len(wanted)))
    page = os.path.join(folder, "page.html")
    done = run("compare", log, "--html", page)
    check("page", (done.returncode, os.path.getsize(page) > 10000), (1, True))
    for text in "ref from byte 16: 73", "sut from byte 16: 7a":
        check("contents are shown: " + text, text in done.stdout, True)


def growing(folder):
    log = os.path.join(folder, "growing")
    shadow = Shadow(log)
    wanted = wanted_of(shadow.verdicts)
    flushed(log)
    check("while it runs", differences(log), (1, wanted))
    done = run("compare", log)
    check("while it runs: says so", "the shadow runs, or was killed" in done.stderr, True)
    shadow.kill()
    check("after kill -9", differences(log), (1, wanted))
    with open(os.path.join(log, "summary.json"), encoding="utf-8") as file:
        check("summary", json.load(file)["differ"], len(wanted))


def cut(folder, log, wanted):
    """Each stream cut anywhere: nothing is found that was not there, and nothing crashes."""
    streams = {}
    for name in STREAMS:
        with open(os.path.join(log, name), "rb") as file:
            streams[name] = file.read()
    short = os.path.join(folder, "cut")
    os.mkdir(short)
    for name in STREAMS:
        size = len(streams[name])
        for at in (size - 1, size - 40, size // 2, size // 4, 1600, 20, 0):
            for other in STREAMS:
                with open(os.path.join(short, other), "wb") as file:
                    file.write(streams[other][:at] if other == name else streams[other])
            code, found = differences(short)
            check("%s cut at %d: code" % (name, at), code in (0, 1, 3), True)
            if code == 1:
                check("%s cut at %d" % (name, at), [w for w in found if w not in wanted], [])
    # damage is no cut
    bad = bytearray(streams["sut.nfsr"])
    bad[len(bad) - 100] ^= 1
    for other in STREAMS:
        with open(os.path.join(short, other), "wb") as file:
            file.write(bad if other == "sut.nfsr" else streams[other])
    done = run("compare", short)
    check("damaged", (done.returncode, "checksum" in done.stderr), (3, True))


def names(folder):
    """Entries of a listing whose objects have other names before, or later."""
    for case, wanted in (("moved", ["mode"]), ("seen-elsewhere", ["mode"]),
                         ("moves-later", ["handle", "mode"]), ("loses-a-link", ["handle", "mode"]),
                         ("in-a-later-part", ["handle", "mode"]), ("strange-is-swapped", ["mode"]),
                         ("two-walkers", ["mode"])):
        log = os.path.join(folder, case)
        subprocess.run([MAKE_NAMES, log, case], check=True)
        with open(os.path.join(log, "summary.json"), encoding="utf-8") as file:
            groups = json.load(file)["groups"]
        check(case + ": the shadow", sorted(g["field"].split(".")[-1] for g in groups), wanted)
        check(case, differences(log), (1, wanted))


def refused(folder, log):
    empty = os.path.join(folder, "empty")
    os.mkdir(empty)
    for name in STREAMS:
        with open(os.path.join(log, name), "rb") as file, open(os.path.join(empty, name), "wb") as to:
            head = file.read()
            to.write(head[: head.index(b"NFRB")])
    done = run("compare", empty)
    check("nothing logged", (done.returncode, "no pair is in this log" in done.stderr), (3, True))
    done = run("compare", folder)
    check("another directory", (done.returncode, "not the log of a shadow" in done.stderr), (3, True))


with tempfile.TemporaryDirectory() as folder:
    log, wanted = finished(folder)
    rules(folder, log, wanted)
    growing(folder)
    cut(folder, log, wanted)
    names(folder)
    refused(folder, log)
sys.exit(1 if failures else 0)
