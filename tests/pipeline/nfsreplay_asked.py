#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What nfsreplay is asked, and what it says at the end.  Options of which one would be ignored are refused.
A folder for the report that cannot be used is refused before the server is changed, and a full disk leaves no
half of a file.  The dump may be standard input.  The line at the end
counts the operations of which the report has times, and gives their rate: no skipped ones, and none of the
warm-up.

    nfsreplay_asked.py     environment: BUILD, CAPTURES
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Ftnfsd  # noqa: E402
from replay_run import BIN, check, ctl, failures, is_empty, make_dump, refused, run  # noqa: E402

CAPTURE = pathlib.Path(os.environ["CAPTURES"]) / "load-ganesha-vfs.pcap.zst"


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
        for words in (["--stop-after", 0], ["--duration", "0s"]):
            refused(2, words[0] + ": \"%s\" is not " % words[1], "run", *words, dump, url)
        refused(2, "--contents needs --check", "populate", "--contents", dump, url)
        refused(2, "--force cannot be used with --check", "populate", "--check", "--force", dump, url)
        refused(2, "--fill with --check needs --contents", "populate", "--check", "--fill", "zero", dump, url)
        for command in "populate", "run", "curve":
            check("played on" not in run(command, "--help").stdout, "--force of", command)
        refused(2, "needs a new folder", "run", "-o", there, dump, url)
        refused(4, "No such file", "run", "-o", scratch / "no" / "run", dump, url)
        check(is_empty(server), "a tree was made for a run that was refused")
        refused(3, "cannot be read", "run", "-o", new, scratch / "no.rdump", url)
        check(not new.exists(), "a folder of a run that did not begin")
    refused(3, "no run was kept there", "report", there)
    (there / "curve.json").write_text("{}")
    refused(2, "1-asap, is a run", "report", there)


def from_standard_input(dump):
    with Ftnfsd("--export", "/a") as server, subprocess.Popen(["cat", dump], stdout=subprocess.PIPE) as cat:
        done = run("run", "--pace", "asap", "-", server.urls[0], stdin=cat.stdout)
        check(done.returncode in (0, 1) and "911 operations answered" in done.stdout, "-", done.stdout, done.stderr)
        done = run("clean", "-", server.urls[0], stdin=open(dump, encoding="latin-1"))
        check(done.returncode == 0 and is_empty(server), "clean -", done.stderr)
        done = run("play", "--loop", 2, "-", server.urls[0], stdin=subprocess.Popen(
            ["cat", dump], stdout=subprocess.PIPE).stdout)
        check(done.returncode == 2 and "is a pipe" in done.stderr, "rounds of -", done.stderr)


def without_room(scratch, dump):
    """What does not fit is not there at all, and the report comes first."""
    faults = [word for p in ("GETATTR", "LOOKUP", "CREATE", "MKDIR") for word in ("--fault", p + ":mode-bits=1")]
    with Ftnfsd("--export", "/a", *faults) as server:
        def play(name, room):
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            done = run("run", "--pace", "asap", "--json", "-o", scratch / name, dump, server.urls[0],
                       preexec_fn=limit, restore_signals=False)  # SIGXFSZ stays ignored
            run("clean", dump, server.urls[0])
            check(done.stdout and json.loads(done.stdout)["classes"], name, "the JSON that is printed")
            return done, scratch / name

        done, folder = play("room", 1 << 30)
        size = (folder / "report.json").stat().st_size
        check(done.returncode == 1 and (folder / "mismatches.jsonl").stat().st_size > 2 * size, "all", done.stderr)
        done, folder = play("little-room", size + size // 2)
        check(done.returncode == 4 and "report.json was kept, but" in done.stderr, "mismatches", done.stderr)
        check([p.name for p in folder.iterdir()] == ["report.json"], "what is kept", list(folder.iterdir()))
        check(run("report", folder).returncode == 0, "the report that was kept")
        done, folder = play("no-room", size // 2)
        check(done.returncode == 4 and "report.json: cannot write: " in done.stderr, "the report", done.stderr)
        check(not folder.exists(), "the folder of nothing")


def full_later(scratch, dump):
    """The marker of the play has no room: the message says on which server."""
    control = str(scratch / "control")
    with Ftnfsd("--export", "/a", "--control", control) as server:
        url = server.urls[0]
        check(run("populate", dump, url).returncode == 0, "before it is full")
        ctl(control, "fault-add", "WRITE:status=NFS3ERR_NOSPC")
        refused(3, "nfsreplay: %s: writing the marker: NFS3ERR_NOSPC" % url, "play", dump, url)


def interrupted(dump):
    """A signal ends the questions before the first operation, too."""
    with Ftnfsd("--export", "/a", "--fault", "*:ignore") as server:
        for command in "populate", "run", "play", "clean":
            process = subprocess.Popen([BIN / "nfsreplay", command, dump, server.urls[0]], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(1)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=9)
            check(process.returncode == 1 and said == ("", "nfsreplay: interrupted\n"), command,
                  process.returncode, said)


def told(scratch, dump, name, faults, answered, *options, refused=lambda classes: 0):
    """|answered|: how many, from the classes of the report and those of the warm-up; |refused|: of these, how many
    are RPC errors."""
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
    found = re.search(r"; ([\d,]+) of the answers are RPC errors or cannot be read$", done.stdout, re.M)
    check((int(found[1].replace(",", "")) if found else 0) == refused(classes), name, done.stdout[-200:], classes)
    check(report["run"]["refused"] == refused(classes), name, report["run"])
    table = run("report", folder).stdout
    check(("no answer, or an RPC error\n" in table) == (classes["unanswered"] > 0), name, table)
    page = run("report", "--html", "-", folder).stdout
    check(("unanswered (no answer, or an RPC error)" in page) == (classes["unanswered"] > 0), name, "the page")
    check(sum(p["operations"] for p in report["procedures"]) == sum(classes.values()), name, report["procedures"])
    words = "  300 operations of the warm-up are only in the verdict and in the counts of operations\n"
    check((words in run("report", folder).stdout) == ("--warm-up" in options), name, words)


def conditions(scratch, dump):
    """The report says with which options a run was made, but not those that say nothing of it."""
    folder = scratch / "conditions"
    with Ftnfsd("--export", "/a") as server:
        for words, wanted in (
                ((), ""), (("--seed", 5, "-q", "--partial"), ""),
                (("--order", "trace", "--pick", "random", "-c", 2, "--outstanding", 9, "--start-delay", "1ms", "--warm-up", 7,
                  "--stop-after", 50, "--duration", "9s", "--ignore", "mode,some-names"),
                 "--order trace --pick random --connections 2 --outstanding 9 --start-delay 1.000ms --warm-up 7 "
                 "--stop-after 50 --duration 9.000s --ignore mode,some-names"),
                (("--warm-up", "2ms", "--udp", "--force", "--order", "none", "--stop-after", 20),
                 "--order none --udp --warm-up 2.000ms --stop-after 20")):
            run("run", "--pace", "asap", "-o", folder, *words, dump, server.urls[0])
            run("clean", dump, server.urls[0])
            check(json.loads((folder / "report.json").read_text())["run"]["options"] == wanted, words, wanted)
            shutil.rmtree(folder)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        dump = make_dump(CAPTURE, scratch / "one.rdump")
        asked(scratch, dump)
        from_standard_input(dump)
        without_room(scratch, dump)
        full_later(scratch, dump)
        interrupted(dump)
        conditions(scratch, dump)
        told(scratch, dump, "all", (), lambda classes: 911)
        told(scratch, dump, "warm", (), lambda classes: 300, "--warm-up", 300, "--stop-after", 600)
        told(scratch, dump, "skipped", ("--fault", "CREATE:after=5:every=3:status=NFS3ERR_NOSPC"),
             lambda classes: 911 - classes["skipped"])
        told(scratch, dump, "refused", ("--fault", "CREATE:after=5:every=3:rpc-status=AUTH_ERROR",
                                        "--fault", "GETATTR:every=4:rpc-status=GARBAGE_ARGS"),
             lambda classes: 911 - classes["skipped"], refused=lambda classes: classes["unanswered"])
    sys.exit(1 if failures else 0)


main()
