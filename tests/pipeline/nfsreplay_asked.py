#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What nfsreplay is asked, and what it says at the end.  Options of which one would be ignored are refused.
A folder for the report that cannot be used is refused before the server is changed.  The line at the end
counts the operations of which the report has times, and gives their rate: no skipped ones, and none of the
warm-up.

    nfsreplay_asked.py     environment: BUILD, CAPTURES, NFSDIGEST
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import READDIR  # noqa: E402

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "bin", "nfsreplay")
CAPTURE = pathlib.Path(os.environ["CAPTURES"]) / "load-ganesha-vfs.pcap.zst"
failures = []


def check(truth, *text):
    if not truth:
        failures.append(text)
        print("FAILED:", *text)


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=60)


def refused(code, said, *words):
    done = run(*words)
    check(done.returncode == code and said in done.stderr, words, done.returncode, done.stderr)


def is_empty(server):
    client = Client(server)
    _, r = client.nfs(READDIR, {"object": client.mount(b"/a"), "cookie": 0, "verifier": bytes(8),
                                "count": 8192})
    client.close()
    return len(r["entries"]) == 2


def asked(scratch, dump):
    there, new = scratch / "there", scratch / "new"
    there.mkdir()
    with Ftnfsd("--export", "/a") as server:
        url = server.urls[0]
        for words in (["--rate", 5, "--pace", "asap"], ["--pace", "trace", "--rate", 5], ["--rate", 5, "--tscale", 2],
                      ["--tscale", 2, "--pace", "asap"]):
            refused(2, "cannot be used with", "run", *words, dump, url)
        for words in (["--rate", "1e20"], ["--tscale", "1e300"], ["--rate", 0]):
            refused(2, "above 0 and below 1,000,000,000", "run", *words, dump, url)
        refused(2, "needs a new folder", "run", "-o", there, dump, url)
        refused(4, "No such file", "run", "-o", scratch / "no" / "run", dump, url)
        check(is_empty(server), "a tree was made for a run that was refused")
        refused(3, "cannot be read", "run", "-o", new, scratch / "no.rdump", url)
        check(not new.exists(), "a folder of a run that did not begin")
    refused(3, "no run was kept there", "report", there)
    (there / "curve.json").write_text("{}")
    refused(2, "1-asap, is a run", "report", there)


def told(scratch, dump, name, faults, answered, *options):
    """|answered|: how many, from the classes of the report and those of the warm-up."""
    folder = scratch / name
    with Ftnfsd("--export", "/a", *faults) as server:
        done = run("run", *options, "-o", folder, dump, server.urls[0])
    check(done.returncode in (0, 1), name, done.stderr)
    report = json.loads((folder / "report.json").read_text())
    classes = {c["name"]: c["operations"] for c in report["classes"]}
    found = re.search(r"^([\d,]+) operations answered in \S+ \((\d+) a second\)(?: behind the (\d+) of)?",
                      done.stdout, re.M)
    check(found, name, done.stdout)
    if not found:
        return
    wanted = answered(classes)
    check(int(found[1].replace(",", "")) == wanted, name, found[0], wanted, classes)
    rate = wanted * 1e9 / report["run"]["duration"]
    check(abs(int(found[2]) - rate) <= 1, name, found[0], rate)
    check(int(found[3] or 0) == (300 if "--warm-up" in options else 0), name, found[0])
    check(classes["skipped"] > 100 or not faults, name, classes)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        database, dump = scratch / "one.db", scratch / "one.rdump"
        for words in (["ingest", "-q", "-o", database, CAPTURE], ["rdump", "-o", dump, database]):
            subprocess.run([os.environ["NFSDIGEST"], *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        asked(scratch, dump)
        told(scratch, dump, "all", (), lambda classes: 911)
        told(scratch, dump, "warm", (), lambda classes: 300, "--warm-up", 300, "--stop-after", 600)
        told(scratch, dump, "skipped", ("--fault", "CREATE:after=5:every=3:status=NFS3ERR_NOSPC"),
             lambda classes: 911 - classes["skipped"])
    sys.exit(1 if failures else 0)


main()
