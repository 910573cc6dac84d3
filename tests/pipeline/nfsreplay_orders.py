#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 long=long
"""nfsreplay shows the same in every order that the dependencies of a dump allow: as recorded, at random,
newest first, one at a time, 512 at a time.  Played without dependencies, it does not.

Reference is the recorded order, one operation at a time; what that may show is in nfsreplay_play.py.

    nfsreplay_orders.py [long]     environment: BUILD, CAPTURES

long: all captures and more seeds, on ftnfsd, and on NFS-Ganesha (back end VFS) beside that.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import ganesha  # noqa: E402
import replay_run  # noqa: E402
from live_client import Ftnfsd  # noqa: E402
from replay_oracle import AS_RECORDED, SKIPPED, UNPLAYABLE, VANISHED  # noqa: E402

CAPTURES = pathlib.Path(os.environ.get("CAPTURES", HERE.parent.parent / "captures"))
GANESHA = HERE.parent / "lab/ganesha.sh"
QUICK = ("load-ganesha-vfs", "mem-libnfs-all22", "knfsd-snap256")
# Together the first 100 of these are listed, in the order of playing; all are counted.
LEFT_OUT = SKIPPED, UNPLAYABLE
WORLDS = 5, 9, 10, 16  # seeds of traces that ftnfsd plays without vanished errors
REFERENCE = ("--order", "trace", "--outstanding", "1")
ORDERS = (("--order", "trace"), ("--pick", "random", "--seed", "1"), ("--pick", "newest"),
          ("--outstanding", "1"), ("-c", "8", "--outstanding", "512"))
MORE = (("--pick", "random", "--seed", "2"), ("--pick", "random", "--seed", "3", "-c", "3"),
        ("--pick", "random", "--seed", "4", "--outstanding", "7"),
        ("--pick", "newest", "--outstanding", "1"),
        ("--pick", "newest", "-c", "8", "--outstanding", "512"))
ANY_ORDER = "--order", "none", "--pick", "random"
failures = []


def on_ftnfsd(dump, kept, options):
    with Ftnfsd("--export", "/a") as server:
        return replay_run.run("run", "-q", "--pace", "asap", *options, "-o", kept, dump,
                              server.urls[0])


def on_ganesha(dump, kept, options):
    url = "nfs://127.0.0.1%s" % os.environ["EXPORT"]
    done = replay_run.run("run", "-q", "--pace", "asap", *options, "-o", kept, dump, url)
    cleaned = replay_run.run("clean", "-q", dump, url)
    if cleaned.returncode:
        failures.append("clean: %s" % (cleaned.stdout + cleaned.stderr))
    return done


def play(how, dump, kept, options):
    """({(operation, class, status)}, classes)"""
    done = how(dump, kept, options)
    if done.returncode not in (0, 1):
        failures.append("%s: exit %d: %s" % (kept, done.returncode, done.stdout + done.stderr))
        return None
    result = replay_run.Kept(kept)
    shutil.rmtree(kept)
    return {(m["number"], m["class"], m["got"]) for m in result.mismatches
            if m["class"] not in LEFT_OUT}, result.classes


def same(scratch, how, name, dump, orders):
    """The reference; None: its orders were not compared."""
    kept = os.path.join(scratch, "kept")
    usual = play(how, dump, kept, REFERENCE)
    if usual and VANISHED in usual[1]:
        return None  # it changed something that no dependency knows
    for options in orders:
        found = play(how, dump, kept, options)
        if usual is None or found == usual or found is None:
            continue  # or it has failed already
        failures.append("%s, %s: %s, not %s; %s more, %s less" % (
            name, " ".join(options), found[1], usual[1], sorted(found[0] - usual[0])[:3],
            sorted(usual[0] - found[0])[:3]))
    return usual


def without_dependencies(scratch, name, dump):
    """Any order at all shows differences."""
    kept = os.path.join(scratch, "kept")
    usual = play(on_ftnfsd, dump, kept, REFERENCE)
    found = play(on_ftnfsd, dump, kept, ANY_ORDER)
    if not usual or not found or found[1][AS_RECORDED] > usual[1][AS_RECORDED] - 20:
        failures.append("%s: nothing differs without dependencies: %s" % (name, found))


def make_dumps(scratch, more):
    dumps = {}
    for capture in sorted(CAPTURES.glob("*.zst")):
        name = capture.name.split(".")[0]
        if more or name in QUICK:
            dumps[name] = replay_run.make_dump(capture, os.path.join(scratch, name + ".rdump"))
    for seed in WORLDS if more else WORLDS[:1]:
        name = "world %d" % seed
        dumps[name] = replay_run.make_world(os.path.join(scratch, name + ".rdump"), seed=seed,
                                            operations=300 if more else 1000)
    return dumps


def beside_ganesha():
    why = ganesha.obstacle()
    if why:
        print("NOT RUN: on Ganesha: %s" % why)
        return 0
    environment = {**os.environ, "LIMIT": "3600", "ON_TMPFS": "1"}
    return subprocess.run([GANESHA, "vfs", sys.executable, __file__, "inside"], env=environment,
                          check=False).returncode


def inside(scratch):
    for name, dump in make_dumps(scratch, True).items():
        usual = same(scratch, on_ganesha, name + " on Ganesha", dump, ORDERS + MORE[:1])
        if usual:
            print("%s on Ganesha: %s" % (name, usual[1]))


def main(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        if arguments == ["inside"]:
            inside(scratch)
        else:
            more = arguments == ["long"]
            dumps, used = make_dumps(scratch, more), 0
            for name, dump in dumps.items():
                used += same(scratch, on_ftnfsd, name, dump,
                             ORDERS + (MORE if more else ())) is not None
            if used < len(dumps):
                failures.append("%d of %d traces were compared" % (used, len(dumps)))
            for name in "load-ganesha-vfs", "world 5":
                without_dependencies(scratch, name, dumps[name])
            if more and beside_ganesha():
                failures.append("Ganesha: see above")
    for failure in failures[:30]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
