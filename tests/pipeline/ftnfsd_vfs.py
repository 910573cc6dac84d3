#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 long=long
"""ftnfsd against a real file system: random sequences of operations of several users, each sent to
ftnfsd and to NFS-Ganesha, which serves a tmpfs with the back end VFS.  Statuses and all fields must be
the same, up to handles, file ids, cookies and times: those must be of the same moment.  The
differences that there may be are in tests/gen/ganesha_differences.py, with what RFC 1813 says.

    ftnfsd_vfs.py [long | SEED...]     environment: BUILD

long: more seeds, and some of them on the file system of the temporary folder.
"""
import collections
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import ganesha  # noqa: E402
import ganesha_differences as table  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import NAMES  # noqa: E402
from same_replies import Differs  # noqa: E402
from side_by_side import World  # noqa: E402

GANESHA = HERE.parent / "lab/ganesha.sh"
OPERATIONS, OPERATIONS_LONG = 1000, 6000


class At:
    """Where Ganesha answers."""

    def __init__(self, port):
        self.port = port


def beside_ganesha(tmpfs, *arguments):
    """Runs this script there; its exit status."""
    environment = {**os.environ, "LIMIT": "3600"}
    if tmpfs:
        environment["ON_TMPFS"] = "1"
    return subprocess.run([GANESHA, "vfs", sys.executable, __file__, "inside",
                           "tmpfs" if tmpfs else "folder", *map(str, arguments)],
                          env=environment, check=False).returncode


def report(seed, world):
    groups = collections.defaultdict(list)
    for d in world.unexplained:
        groups[(NAMES[d.procedure], d.what)].append(d)
    for (name, what), found in sorted(groups.items()):
        d = found[0]
        print("seed %d: %s %s: ftnfsd %r, Ganesha %r (%d times), first: %r by %r" % (
            seed, name, what, d.ours, d.theirs, len(found), d.arguments, tuple(d.who)))


def run(seed, operations, relatime, explained):
    theirs, root = Client(At(2049), whole=False), Client(At(20048)).mount(
        os.environ["EXPORT"].encode())
    with Ftnfsd("--export", "/w(no_root_squash)") as server:
        ours = Client(server)
        world = World(random.Random(seed), (ours, theirs), (ours.mount(b"/w"), root), table, relatime,
                      "seed%d-" % seed)
        try:
            for n in range(operations):
                world.step()
        except (Differs, ConnectionError, TimeoutError) as why:
            print("seed %d, operation %d: %s" % (seed, n, why))
            return 1, world
        code, _, err = server.stop()
        if code or err:
            print("seed %d: ftnfsd ended with %d: %s" % (seed, code, err))
            return 1, world
    report(seed, world)
    explained.update(world.explained)
    return bool(world.unexplained), world


def inside(kind, operations, seeds):
    failed, done, explained, outcomes = 0, 0, collections.Counter(), set()
    for seed in seeds:
        bad, world = run(seed, operations, kind == "folder", explained)
        failed += bad
        done += world.number
        outcomes |= set(world.outcomes)
    unlisted = {(p, s) for p, s in outcomes if not table.is_expected(p, s)}
    if unlisted:
        print("ftnfsd has errors that RFC 1813 does not list: %s" % ", ".join(
            "%s %d" % (NAMES[p], s) for p, s in sorted(unlisted)))
        failed += 1
    for row in table.ROWS:
        if explained[row.name]:
            print("%6d  %-46s right: %s" % (explained[row.name], row.name, row.right))
    print("%s: %d operations, %d kinds of outcomes (procedure and status)" % (
        kind, done, len(outcomes)))
    if done < operations * len(seeds) * 0.8 or len(outcomes) < 50:
        print("too few: the test does not try what it should")
        failed += 1
    return 1 if failed else 0


def main(arguments):
    if arguments[:1] == ["inside"]:
        return inside(arguments[1], int(arguments[2]), [int(s) for s in arguments[3:]])
    why = ganesha.obstacle()
    if why:
        print("NOT RUN: %s" % why)
        return 77
    if arguments != ["long"]:
        return beside_ganesha(True, OPERATIONS, *(arguments or [1]))
    return beside_ganesha(True, OPERATIONS_LONG, *range(2, 12)) | \
        beside_ganesha(False, OPERATIONS_LONG, *range(12, 16))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
