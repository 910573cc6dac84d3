# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "replay" of run.py: nfsreplay makes the tree of one dump, and plays its operations as fast
as it can, on ftnfsd and on NFS-Ganesha's MEM and VFS back ends.  The CPU of server and player for an
operation, objects made in a second, and what differs."""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import part_live

PACKETS, CONNECTIONS = 1_000_000, 4
FILES, BLOCK = 2000, 4096            # of the dump that is played
SMALL_FILES, SMALL_BLOCK = 50000, 512  # of the one whose tree is made
CPU_PART, CPU_MOST = 0.2, 5.0  # of Ganesha's; us
PLAYER_PART = 15               # %, of the server's CPU
OBJECTS_LEAST = 30_000         # made in a second
NAMES = "operations", "server", "player", "rate", "differ"


def dump_of(bench, files, block, packets=PACKETS):
    path = bench.build / "bench" / ("replay-%d-%d-%d.rdump" % (packets, files, block))
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        capture, database = bench.file("replay.pcap"), bench.file("replay.db")
        print("making %s" % path, file=sys.stderr)
        bench.run([str(bench.tools / "gen_bench"), "--packets", str(packets), "--files", str(files),
                   "--block", str(block), capture])
        bench.run([bench.nfsdigest, "ingest", "-q", "-o", database, capture])
        bench.run([bench.nfsdigest, "rdump", "--with-results", "-o", str(path), database])
        os.unlink(capture)
        os.unlink(database)
    return str(path)


def nfsreplay(build, *arguments):
    """Returns the seconds that it took."""
    begun = time.monotonic()
    done = subprocess.run([str(build / "bin" / "nfsreplay"), *arguments],
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):  # 1: something differs
        raise SystemExit("nfsreplay %s: exit %d" % (arguments[0], done.returncode))
    return time.monotonic() - begun


def play(build, pid, dump, target):
    """One populate and one play: values for NAMES."""
    nfsreplay(build, "populate", "--quiet", "--force", dump, target)
    with tempfile.TemporaryDirectory() as folder:
        run = folder + "/run"
        before = part_live.cpu_of(pid)
        nfsreplay(build, "play", "--quiet", "--force", "--pace", "asap", "-c", str(CONNECTIONS),
                  "-o", run, dump, target)
        server = part_live.cpu_of(pid) - before
        report = json.loads(pathlib.Path(run, "report.json").read_text())
    nfsreplay(build, "clean", "--quiet", dump, target)
    ran = report["run"]
    operations = ran["operations"]
    same = sum(c["operations"] for c in report["classes"]
               if c["name"] in ("as recorded", "unplayable"))
    return (operations, server / operations * 1e6,
            (ran["cpu_user"] + ran["cpu_system"]) / operations / 1e3,
            operations / ran["duration"] * 1e9, operations - same)


def measure(build, pid, dump, target, rounds):
    found = [play(build, pid, dump, target) for _ in range(rounds)]
    return dict(zip(NAMES, (statistics.median(v) for v in zip(*found))))


def ganesha(bench, kind, dump, rounds):
    """The same in Ganesha's namespaces, where this program calls itself."""
    lab = pathlib.Path(__file__).resolve().parent.parent / "lab" / "ganesha.sh"
    if os.geteuid() or not shutil.which("ganesha.nfsd", path=os.environ["PATH"] + ":/usr/sbin"):
        print("NOT RUN: Ganesha %s: it is not installed, or this is not root" % kind)
        return None
    done = subprocess.run([str(lab), kind, sys.executable, __file__, str(bench.build), dump,
                           str(rounds)], env={**os.environ, "LIMIT": "900"},
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if done.returncode:
        print("NOT RUN: Ganesha %s ended under the load" % kind)
        return None
    return json.loads(done.stdout)


def show(name, found):
    print("  %-14s %8.0f operations/s  CPU of the server %6.2f us, of the player %5.2f us; "
          "%d differ" % (name, found["rate"], found["server"], found["player"], found["differ"]))


def objects_a_second(bench, target, rounds):
    """The tree of many small files, made by one populate."""
    dump = dump_of(bench, SMALL_FILES, SMALL_BLOCK)
    out = subprocess.run([bench.nfsdigest, "rdump", "--check", dump], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    objects = int(re.search(r"([\d,]+) objects", out).group(1).replace(",", ""))
    seconds = []
    for _ in range(rounds):
        seconds.append(nfsreplay(bench.build, "populate", "--quiet", dump, target))
        nfsreplay(bench.build, "clean", "--quiet", dump, target)
    return objects / statistics.median(seconds)


def speed(bench, packets, capture, rounds, report):
    dump = dump_of(bench, FILES, BLOCK)
    process, where = part_live.ftnfsd(bench)
    target = "nfs://127.0.0.1/a?nfsport=%s&mountport=%s" % (where[1], where[1])
    ours = measure(bench.build, process.pid, dump, target, rounds)
    made = objects_a_second(bench, target, rounds)
    process.terminate()
    process.wait()
    print("%d operations, medians of %d rounds" % (ours["operations"], rounds))
    show("ftnfsd", ours)
    report.add("replay on ftnfsd, operations that differ", ours["differ"], "", 0, False)
    report.add("replay on ftnfsd, CPU of the server", ours["server"], "us", CPU_MOST, False)
    report.add("populate on ftnfsd, objects a second", made, "", OBJECTS_LEAST, True)
    for kind in "mem", "vfs":
        theirs = ganesha(bench, kind, dump, rounds)
        if not theirs:
            continue
        show("Ganesha " + kind, theirs)
        report.add("replay, CPU of ftnfsd to Ganesha %s" % kind, ours["server"] / theirs["server"],
                   "x", CPU_PART, False)
        report.add("replay, CPU of the player to Ganesha %s" % kind,
                   100 * theirs["player"] / theirs["server"], "%", PLAYER_PART, False)
    return {"ftnfsd": ours}


def memory(bench, sizes, report):
    """The player's memory has tests of its own."""


def inside(build, dump, rounds):
    pid = int(pathlib.Path("/run/ganesha.pid").read_text())
    target = "nfs://127.0.0.1%s?nfsport=2049&mountport=20048" % os.environ["EXPORT"]
    print(json.dumps(measure(pathlib.Path(build), pid, dump, target, rounds)))


if __name__ == "__main__":
    inside(sys.argv[1], sys.argv[2], int(sys.argv[3]))
