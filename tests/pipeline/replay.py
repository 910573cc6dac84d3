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

Dumps are also played on servers that are not as the recorded one: that end listings elsewhere, that
leave attributes out, whose directories have link counts of their own.  And the player needs all
that it is given: dumps with a credential, a cookie's origin, a last use or a value taken away or
altered do not play.

    replay.py [CASE...]     these alone, with all differences
"""
import collections
import copy
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
import rdump_values as values  # noqa: E402
from model_xdr import GETACL, READDIRPLUS, SETACL  # noqa: E402

TRIES = 4
GRANULARITIES = ("fine", "object")
RESTLESS = dict(move=40, make_directories=25, recreate=15, links=15, errors=10, tidy=10, listing=12,
                change_attributes=10)
PAGES = dict(listing=200, move=10, tidy=5, recreate=10)
GANESHA = dict(default_mode=0o600, always_one=True)
MORE = ("vfs-libnfs-all22", "knfsd-nlm-locks", "restless", "loss 5 %", "pages")
LISTS = "knfsd-tcp-mtu1500"
ORDERS = 2  # random ones, beside the others
# |like|: options of rdump_play.Replay. |unplayable|, |left_out|: at most so many operations, and
# groups of results, per thousand.
Case = collections.namedtuple("Case", "name make like unplayable left_out")
UNPLAYABLE = 5  # without losses


KNFSD = dict(always_one=True)


def captured(name, like=None, left_out=0.1):
    """Left out are sizes that parallel WRITEs show, where no order explains all of them."""
    path = CAPTURES / (name + ".pcap.zst")
    return Case(name, lambda scratch: path, like or KNFSD, UNPLAYABLE, left_out)


def world(name, unplayable=UNPLAYABLE, left_out=0.5, capture=None, play=None, **options):
    """Not playable without losses are bad cookies and listings that are too small: what cookies and
    how many bytes are right, only the recorded server knew."""
    def make(path):
        model_capture.record(model_world.World(**options), path, **(capture or {}))
        return path
    like = dict(play or {}, permissions=options.get("permissions", True))
    return Case(name, make, like, unplayable, left_out)


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
    world("pages", seed=12, operations=800, hosts=3, processes=2, share=0.4, weights=PAGES,
          middle=0.2, like=dict(most_entries=5), left_out=4),
    world("link counts", seed=13, operations=500, hosts=3, share=0.4, like=dict(directory_links=1),
          play=dict(directory_links=1), left_out=140),
    world("everybody may", seed=4, operations=1000, hosts=4, share=0.3, weights=RESTLESS,
          permissions=False),
    # files whose further names are removed, of which nobody knows that they are theirs
    world("cached", left_out=2.2, seed=5, operations=1000, hosts=4, share=0.5, weights=RESTLESS,
          cached=15),
    world("no mounts", left_out=1.5, seed=6, operations=1000, hosts=2, capture=dict(mounts=False)),
    # of which 20 and 100 in a thousand are not playable since they were lost, in part or as a whole
    world("loss 1 %", 25, 1.2, seed=7, operations=3000, hosts=4, share=0.5, capture=loss(0.01, 7)),
    world("loss 5 %", 103, 15, seed=8, operations=2000, hosts=4, share=0.5, weights=RESTLESS,
          capture=loss(0.05, 8)),
    world("loss 5 % no mounts", 112, 32, seed=9, operations=2000, hosts=4, share=0.5,
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
            out.update(values.bit_name(bit) for bit in missing)
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


def make_dump(db, path, *options):
    """What went wrong, or None."""
    done = subprocess.run([database.program(), "rdump", str(db), "-o", str(path), *options],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return "rdump ended with %d: %s" % (done.returncode, done.stderr)
    done = subprocess.run([database.program(), "rdump", "--check", str(path)],
                          capture_output=True, text=True, check=False)
    return "--check: " + done.stdout[:300] if done.returncode else None


def on_others(case, dump, recorded):
    """Servers that are not as the recorded one was."""
    links = sum(1 << values.GROUPS * w + values.LINKS for w in range(4))
    counted = any(op.mask & links for op in dump.operations)
    for like in (dict(most_entries=3), dict(most_entries=1), dict(attributes=False),
                 dict(directory_links=1), dict(directory_links=2), dict(directory_links=77),
                 dict(directory_links=2, attributes=False, most_entries=2)):
        ignore = links if "directory_links" in like else 0
        found = play.Replay(dump, ignore=ignore, **dict(case.like, **like)).differences
        if found:
            yield "on a server with %s: %s" % (like, recorded.explain(found[0]))
        if like == dict(directory_links=77) and counted and not play.Replay(
                dump, **dict(case.like, **like)).differences:
            yield "link counts of directories are not compared"


def spoiled(dump, rng):
    """(what, a dump in which it is wrong, whether only some orders show it)"""
    def change(what, wanted, how, needs_order=False):
        them = [op for op in dump.operations if op.arg is not None and wanted(op)]
        if them:
            bad = copy.copy(dump)
            bad.operations, chosen = list(dump.operations), them if needs_order else \
                [rng.choice(them)]
            for op in chosen:
                bad.operations[op.index] = copy.copy(op)
                how(bad.operations[op.index])
            yield what, bad, needs_order

    def put(**values_):
        return lambda op: op.__dict__.update(values_)

    def flip(field):
        def how(op):
            data = bytearray(getattr(op, field))
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            setattr(op, field, bytes(data))
        return how

    def forget_early(op):
        op.forget = sorted(set(op.forget) | {op.arg["object"]})

    def free(op):
        op.dependencies = [d for d in op.dependencies if d != op.cookie_from]

    yield from change("no credential", lambda op: op.inferred,
                      lambda op: op.__dict__.update(credential=0, who=play.NOBODY))
    yield from change("no origin of a cookie", lambda op: op.cookie_from, put(cookie_from=0))
    yield from change("another access list", lambda op: op.procedure == SETACL and op.arg["acl"],
                      lambda op: put(arg=dict(op.arg, acl=[(kind, who, 7 ^ perm) for kind, who, perm
                                                           in op.arg["acl"]]))(op))
    yield from change("another origin", lambda op: op.cookie_from,
                      lambda op: put(cookie_from=op.cookie_from + 1)(op))
    yield from change("another place", lambda op: op.cookie_from,
                      lambda op: put(cookie_entries=op.cookie_entries + 1000)(op))
    yield from change("no places", lambda op: op.cookies, put(cookies=[]), True)
    yield from change("no dependency on a cookie's origin",
                      lambda op: op.cookie_from in op.dependencies and op.cookie_from, free, True)
    yield from change("no last use", lambda op: op.forget, put(forget=[]))
    yield from change("an early last use", lambda op: op.arg.get("object") and
                      op.arg["object"] not in op.forget, forget_early)
    yield from change("another digest", lambda op: op.digest,
                      lambda op: put(digest=op.digest ^ 1 << rng.randrange(64))(op))
    yield from change("other link counts", lambda op: op.links, flip("links"))
    yield from change("no link counts", lambda op: op.links, put(links=b""))
    yield from change("other values", lambda op: op.results, flip("results"))
    yield from change("other names", lambda op: op.names and op.mask >> values.SOME & 1,
                      lambda op: put(names=b"\0\0\0\4nope" + (
                          bytes(4) if op.procedure == READDIRPLUS else b""))(op))
    for what, used in ("unused", 0),:
        bad = copy.copy(dump)
        bad.objects = [copy.copy(o) for o in dump.objects]
        bad.objects[0].used = used
        yield what, bad, False


def must_fail(case, dump, rng):
    count = 0
    for what, bad, needs_order in spoiled(dump, rng):
        count += 1
        replay = play.Replay(bad, **case.like)
        found = replay.differences
        for _ in range(TRIES if needs_order else 0):
            found = found or replay.play(play.random_order(bad, rng), most=1)
        found = found or needs_order and replay.play(play.extreme_order(bad, True), most=1)
        if not found:
            yield "with %s the dump still plays" % what
    print("%s: %d spoiled dumps" % (case.name, count))


def lists_are_played(case, dump, rng):
    """Access lists are set and read again, and the modes that they make are compared."""
    by_procedure = collections.Counter(op.procedure for op in dump.operations if op.arg is not None)
    if not by_procedure[SETACL] or not by_procedure[GETACL]:
        yield "no access lists are played"
    for what, bad, _ in spoiled(dump, rng):
        if what == "another access list" and not play.Replay(bad, **case.like).differences:
            yield "with another access list the dump still plays"


def check_more(case, db, path):
    """With values, and on other servers."""
    wrong = make_dump(db, path, "--with-results")
    if wrong:
        yield wrong
        return
    dump, rng = play.Dump(path), random.Random(case.name)
    recorded = play.Recorded(db, dump)
    replay = play.Replay(dump, **case.like)
    for difference in replay.differences[:3]:
        yield "with results: " + recorded.explain(difference)
    if case.name == "pages" and not replay.in_parts:
        yield "no listing with handles has several replies"
    yield from on_others(case, dump, recorded)
    yield from must_fail(case, dump, rng)


def check(case, granularity, db, path, most):
    wrong = make_dump(db, path, "--granularity", granularity)
    if wrong:
        yield wrong
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
    if case.name == LISTS and not replay.differences:
        yield from lists_are_played(case, dump, rng)
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
            for line in check_more(case, db, scratch / "more.rdump") if case.name in MORE else ():
                wrong += 1
                print("WRONG: %s: %s" % (case.name, line))
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
