#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600 long=long
"""The operations of captures, played through nfstee relay between two equal servers, one after the other, and as
fast as they can be: nothing differs, nearly all is compared, both trees are equal at the end, and nfsdigest finds
the same in the log.

    nfstee_dumps.py [long | CAPTURE...]     environment: BUILD, NFSDIGEST, CAPTURES

long: all captures.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from nfsreplay_play import CAPTURES, make_dump  # noqa: E402
from nfstee_shadow import expect, failures, fates, logged_as_said, no_trees_differ, settle  # noqa: E402
from tee_traffic import Shadow, attached, servers  # noqa: E402

FEW = "vfs-libnfs-all22", "load-ganesha-vfs", "knfsd-netem-udp"
FAST = "knfsd-udp-frag",  # 8,700 requests in 0.1 s, some of which set the times of a directory beside CREATEs in it
STALE = 8  # requests, at most, with handles of what was removed
# The share that is compared.  At once, two requests can change the same, which is copied then: that others come too
# early for it is seldom, but up to the machine
LEAST = {"one after the other": 1, "at once": 0.5}
NOT_COMPARED = {"without_object", "not_nfs"}  # what no other server could answer alike; NULL and the like


def nfsreplay(command, dump, relay, *options):
    target = "nfs://127.0.0.1/a?nfsport=%d&mountport=%d" % (relay.port, relay.port)
    done = subprocess.run([os.path.join(os.environ["BUILD"], "bin", "nfsreplay"), command, "-q", *options, dump,
                           target], capture_output=True, text=True, check=False, timeout=300)
    # 1: the trace's server answered otherwise, which nfsreplay_play.py looks at
    expect("nfsreplay %s: %s" % (command, done.stderr[-300:]), done.returncode in (0, 1), True)


def play(name, dump, how="one after the other"):
    what = "%s, %s" % (name, how)
    reference, sut = servers()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, reference, sut, \
            attached(folder, reference, "--ring", "256M") as relay:
        nfsreplay("populate", dump, relay)
        with Shadow(folder, relay, sut, "--record", "all") as shadow:
            before = settle(shadow)
            nfsreplay("play", dump, relay, "--pace", "asap",
                      *(() if how == "at once" else ("--outstanding", "1")))
            after = settle(shadow)
            found = fates(before, after)
            left = {k: v for k, v in found.items() if k not in NOT_COMPARED | {"all", "compared"}}
            least = int((found["all"] - sum(found.get(k, 0) for k in NOT_COMPARED)) * LEAST[how]) - STALE
            expect("%s: requests compared, of %r: at least %d" % (what, found, least),
                   found["compared"] >= least, True)
            expect(what + ": gaps of the ring", after["ring"]["gaps"], 0)
            files = no_trees_differ(what, reference, sut)
            code, totals, said = shadow.stop()
            expect(what + ": exit code and differences: " + said, (code, totals["verdicts"]["differ"]), (0, 0))
            logged_as_said(what, shadow)
            if failures:
                print((shadow.log / "summary.json").read_text())
    print("%s: %d objects, %d of %d requests compared, not: %s; %.1f s" % (
        what, files, found["compared"], found["all"], left, time.monotonic() - began), flush=True)


def main():
    every = {p.name.split(".")[0]: p for p in CAPTURES.glob("*.zst")}
    expect("captures, of 15", len(every) >= 15, True)
    names = sorted(every) if sys.argv[1:] == ["long"] else sys.argv[1:] or FEW
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            play(*make_dump(scratch, every[name]))
    for name in names if sys.argv[1:] else FAST:
        with tempfile.TemporaryDirectory() as scratch:
            play(*make_dump(scratch, every[name]), "at once")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
