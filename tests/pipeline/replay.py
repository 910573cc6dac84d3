#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""nfsdigest rdump against a strict server: what it makes of real captures and of model worlds, with
and without losses, is played on the model server on top of its own tree, in many orders that
respect its dependencies: random ones, always the newest operation or the oldest, object by object.
Each operation must have its status and show again what the dump says that it must, with both
granularities.  How much of the results the dump leaves out, how many operations it cannot replay
and how long it is are bounded.  And what must not hold doesn't: without the dependencies of some
operations, results differ.

    replay.py [CASE...]     these alone, with all differences
"""
import collections
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import packets  # noqa: E402
import rdump_play as play  # noqa: E402

TRIES = 4
GRANULARITIES = ("fine", "object")
RESTLESS = dict(move=40, make_directories=25, recreate=15, links=15, errors=10, tidy=10, listing=12,
                change_attributes=10)
GANESHA = dict(default_mode=0o600)
ORDERS = 2  # random ones, beside the others
# |like|: options of rdump_play.Replay. |unplayable|, |left_out|: at most so many operations, and
# groups of results, per thousand.
Case = collections.namedtuple("Case", "name make like unplayable left_out")
UNPLAYABLE = 5  # without losses


def captured(name, like=None, left_out=0.1):
    """Left out are sizes that parallel WRITEs show, where no order explains all of them."""
    path = CAPTURES / (name + ".pcap.zst")
    return Case(name, lambda scratch: path, like or {}, UNPLAYABLE, left_out)


def world(name, unplayable=UNPLAYABLE, left_out=0.5, capture=None, **options):
    """Not playable without losses are bad cookies and listings that are too small: what cookies and
    how many bytes are right, only the recorded server knew."""
    def make(path):
        model_capture.record(model_world.World(**options), path, **(capture or {}))
        return path
    return Case(name, make, {"permissions": options.get("permissions", True)}, unplayable, left_out)


def loss(share, seed):
    return dict(loss=model_capture.Loss(share, share, seed=seed))


CASES = [
    captured("vfs-libnfs-all22", GANESHA),
    # its directories' link counts have nothing to do with what is in them
    captured("mem-libnfs-all22", dict(longest_name=1 << 16, **GANESHA), left_out=131),
    captured("knfsd-tcp-mtu1500"),
    captured("knfsd-udp-frag"),
    captured("knfsd-vlan"),
    captured("knfsd-netem-tcp"),
    captured("knfsd-netem-udp"),
    captured("knfsd-nlm-locks"),
    captured("pair-knfsd"),
    captured("pair-ganesha-vfs", GANESHA),
    world("by call", seed=2, operations=1500, hosts=4, order=model_world.BY_CALL),
    world("free", seed=1, operations=1200, hosts=4, processes=3, share=0.5),
    world("restless", seed=2, operations=1500, hosts=4, processes=3, share=0.15, depth=3,
          weights=RESTLESS, capture=dict(transport=packets.UDP)),
    world("restless 2", seed=117, operations=1500, hosts=4, processes=3, share=0.15, depth=3,
          weights=RESTLESS),
    world("everybody may", seed=4, operations=1000, hosts=4, share=0.3, weights=RESTLESS,
          permissions=False),
    # files whose further names are removed, of which nobody knows that they are theirs
    world("cached", left_out=2.2, seed=5, operations=1000, hosts=4, share=0.5, weights=RESTLESS,
          cached=15),
    world("no mounts", left_out=1.5, seed=6, operations=1000, hosts=2, capture=dict(mounts=False)),
    # of which 20 and 100 in a thousand are not playable since they were lost, in part or as a whole
    world("loss 1 %", 25, 1, seed=7, operations=3000, hosts=4, share=0.5, capture=loss(0.01, 7)),
    world("loss 5 %", 103, 15, seed=8, operations=2000, hosts=4, share=0.5, weights=RESTLESS,
          capture=loss(0.05, 8)),
    world("loss 5 % no mounts", 112, 26, seed=9, operations=2000, hosts=4, share=0.5,
          weights=RESTLESS, capture=dict(mounts=False, **loss(0.05, 9))),
]


def orders(dump, rng, count, free=()):
    yield "newest first", play.extreme_order(dump, True, free)
    yield "oldest first", play.extreme_order(dump, False, free)
    yield "by object", play.object_order(dump, rng, free)
    for i in range(count):
        yield "random %d" % i, play.random_order(dump, rng, free)


def left_out(dump, recorded):
    """(groups that results show, Counter of those that no replay need show again)"""
    shown, out = 0, collections.Counter()
    for op in dump.operations:
        if op.source and op.arg is not None:
            missing, all_of_them = recorded.left_out(op)
            shown += len(all_of_them)
            out.update(play.bit_name(bit) for bit in missing)
    return shown, out


def too_free(dump, replay, rng):
    """Whether results differ, without the dependencies of one operation in 20 (of several
    tries)."""
    bound = [op.index for op in dump.operations if op.dependencies]
    for _ in range(TRIES):
        free = set(rng.sample(bound, len(bound) // 20))
        if replay.play(play.random_order(dump, rng, free), most=1):
            return True
    return False


def check(case, granularity, db, path, most):
    done = subprocess.run([database.program(), "rdump", str(db), "-o", str(path), "--granularity",
                           granularity], capture_output=True, text=True, check=False)
    if done.returncode:
        yield "rdump ended with %d: %s" % (done.returncode, done.stderr)
        return
    dump = play.Dump(path)
    replay, recorded = play.Replay(dump, **case.like), play.Recorded(db, dump)
    rng, count = random.Random(case.name), len(dump.operations)
    for difference in replay.differences[:most]:
        yield "as recorded: " + recorded.explain(difference)
    for name, order in orders(dump, rng, ORDERS) if not replay.differences else ():
        for difference in replay.play(order)[:most]:
            yield "%s: %s" % (name, recorded.explain(difference))
    if count > 500 and not replay.differences and not too_free(dump, replay, rng):
        yield "without the dependencies of a part, all orders still give the same results"
    shown, missing = left_out(dump, recorded)
    skipped, missed = sum(replay.skipped.values()), sum(missing.values())
    inferred = sum(op.inferred != 0 for op in dump.operations)
    edges = sum(len(op.dependencies) for op in dump.operations)
    size = path.stat().st_size / max(1, count)
    print("%s, %s: %d operations, %d objects, %d subtrees, %d inferred, %.2f %% unplayable %s, "
          "%.2f dependencies and %.1f bytes an operation, %d of %d groups left out %s" % (
              case.name, granularity, count, len(dump.objects),
              len(dump.objects) - len({e.object for e in dump.entries}), inferred,
              100 * skipped / count, dict(replay.skipped), edges / count, size, missed, shown,
              dict(missing)))
    if skipped > case.unplayable * count / 1000:
        yield "%d operations cannot be replayed" % skipped
    if missed > case.left_out * shown / 1000:
        yield "%d groups of %d are left out" % (missed, shown)
    if size > 100:
        yield "%.1f bytes an operation" % size


def main():
    wrong, wanted = 0, sys.argv[1:]
    for case in [c for c in CASES if not wanted or c.name in wanted]:
        with tempfile.TemporaryDirectory(prefix="replay.") as scratch:
            scratch = pathlib.Path(scratch)
            db = scratch / "trace.db"
            database.ingest(db, case.make(scratch / "trace.pcap"))
            for granularity in GRANULARITIES:
                for line in check(case, granularity, db, scratch / (granularity + ".rdump"),
                                  20 if wanted else 3):
                    wrong += 1
                    print("WRONG: %s, %s: %s" % (case.name, granularity, line))
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
