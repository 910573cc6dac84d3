#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""The model's truth against itself, by other means: the tree before, as the truth has it, lets
every operation be played in any order that respects the conflicts, with the recorded results; an
index finds the conflicts that comparing all pairs finds; direct dependencies imply all others, and
none of them is implied; lifetimes lead from the tree before to the tree after.  And what must not
hold doesn't: without one kind of conflict, results differ.
"""
import collections
import os
import pathlib
import random
import sys

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))

import model_access  # noqa: E402
import model_truth  # noqa: E402
import model_world  # noqa: E402
import model_xdr as x  # noqa: E402
from model_access import FINE, OBJECT  # noqa: E402
from model_play import Player, with_ids  # noqa: E402

RESTLESS = dict(move=40, make_directories=25, recreate=15, links=15, errors=10, tidy=10,
                listing=12, change_attributes=10)
WORLDS = [
    dict(seed=1, operations=1200, hosts=4, processes=3, share=0.5),
    dict(seed=2, operations=700, hosts=4, processes=3, share=0.15, depth=3, weights=RESTLESS),
    dict(seed=3, operations=700, hosts=2, share=0.15, weights=RESTLESS, order=model_world.BY_CALL),
    dict(seed=4, operations=700, hosts=4, share=0.3, weights=RESTLESS, permissions=False),
    dict(seed=5, operations=700, hosts=4, share=0.5, weights=RESTLESS, cached=15),
    dict(seed=117, operations=700, hosts=4, processes=3, share=0.15, depth=3, weights=RESTLESS),
]
ORDERS = 4
# Kinds of things without which some result must change, in one of the worlds. Not "data": contents
# are not compared; not "place": conflicts of link counts nearly always imply it.
NEEDED = {FINE: ("life", "mode", "nlink", "size", "name", "names"), OBJECT: ("object",)}


def random_order(truth, direct, rng):
    """Numbers of all operations, each behind those it depends on."""
    after, waits = collections.defaultdict(list), collections.Counter()
    for a, b in direct:
        after[a].append(b)
        waits[b] += 1
    ready = [op.number for op in truth.operations if not waits[op.number]]
    while ready:
        at = rng.randrange(len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        number = ready.pop()
        yield number
        for b in after[number]:
            waits[b] -= 1
            if not waits[b]:
                ready.append(b)


def play(truth, numbers, permissions=True):
    """[(operation, differences)]"""
    player, wrong = Player(truth.initial_by_number(), permissions=permissions), []
    count = 0
    for number in numbers:
        op, count = truth.operations[number], count + 1
        made = op.result.roles.get("made")
        found = player.play(op.procedure, with_ids(op.arguments, truth.id_of), op.who,
                            op.result.status, with_ids(op.result.fields, truth.id_of),
                            made.number if made else None)
        if found:
            wrong.append((op, found))
    if count != len(truth.operations):
        raise ValueError("%d operations played of %d" % (count, len(truth.operations)))
    return wrong


def brute_force(truth, granularity):
    """Conflicts by comparing each pair."""
    found = set()
    accesses = [(op.number, truth.accesses[granularity][op.number]) for op in truth.executed]
    for j, (b, two) in enumerate(accesses):
        for a, one in accesses[:j]:
            if shares(one.changes, two.changes | two.reads) or shares(one.reads, two.changes):
                found.add((a, b))
    return found


def shares(some, others):
    """Whether a thing of |some| is, or lies in, one of |others|."""
    if some & others:
        return True
    for kind, *where in some:
        for other, *there in others:
            if kind == "data" == other and where[0] == there[0]:
                ends = [e if e is not None else 2**70 for e in (where[2], there[2])]
                if max(where[1], there[1]) < min(ends):
                    return True
            elif {kind, other} == {"name", "names"} and where[0] == there[0]:
                return True
    return False


def closure(numbers, edges):
    """{number: bits of all that lead to it}; |numbers| in an order that the edges follow."""
    before, reach = collections.defaultdict(list), {}
    for a, b in edges:
        before[b].append(a)
    for b in numbers:
        reach[b] = 0
        for a in before[b]:
            reach[b] |= reach[a] | 1 << a
    return reach


def check_direct(truth, conflicts, direct):
    numbers = [op.number for op in truth.executed]
    if closure(numbers, conflicts) != closure(numbers, direct):
        yield "direct dependencies do not imply the others"
    reach = closure(numbers, direct)
    before = collections.defaultdict(list)
    for a, b in direct:
        before[b].append(a)
    for b, earlier in before.items():
        for a in earlier:
            if any(reach[c] >> a & 1 for c in earlier):
                yield "%d -> %d is implied by others" % (a, b)


def check_lifetimes(truth):
    """All names that are there at the end, and no other, have no stop; those that were there before
    have no start; one name is one object's at a time."""
    before = {(truth.handles[n[0]], n[1], node.number)
              for node in truth.world.initial for n in node.names}
    after = {(directory.number, name, inode.number)
             for inode in truth.world.server.by_handle.values() for directory, name in inode.names}
    entries = truth.lifetimes(touched=False)
    if {(e.parent, e.name, e.object) for e in entries if e.start is None} != before:
        yield "lifetimes do not begin with the tree before"
    if {(e.parent, e.name, e.object) for e in entries if e.stop is None} != after:
        yield "lifetimes do not end with the tree after"
    spans = collections.defaultdict(list)
    for e in entries:
        spans[e.parent, e.name].append((e.start.order if e.start else -1,
                                        e.stop.order if e.stop else len(truth.operations)))
    for key, found in spans.items():
        found.sort()
        if any(one[1] > two[0] for one, two in zip(found, found[1:])):
            yield "the name %r has two objects at a time" % (key,)


def check_world(options, missed):
    world = model_world.World(**options)
    truth = model_truth.Truth(world)
    for event, op in world.run():
        truth.take(event, op)
    truth.finish()
    rng, permissions = random.Random(options["seed"]), options.get("permissions", True)
    yield from check_lifetimes(truth)
    conflicts = {g: truth.conflicts(g) for g in (FINE, OBJECT)}
    if conflicts[FINE] - conflicts[OBJECT]:
        yield "a conflict is fine, but not one of objects"
    for granularity, pairs in conflicts.items():
        if granularity == FINE and pairs != brute_force(truth, granularity):
            yield "other conflicts than by comparing all pairs"
        direct = truth.direct(pairs)
        yield from check_direct(truth, pairs, direct)
        for _ in range(ORDERS):
            for op, found in play(truth, random_order(truth, direct, rng), permissions)[:3]:
                yield "%s: operation %d (%s %s): %s" % (granularity, op.number, x.NAMES[
                    op.procedure], op.arguments, found)
        for kind in NEEDED[granularity]:
            less = truth.direct(truth.conflicts(granularity, without=(kind,)))
            if (granularity, kind) in missed and any(
                    play(truth, random_order(truth, less, rng), permissions) for _ in range(2)):
                missed.remove((granularity, kind))
    print("seed %3d: %4d operations, %3d objects of %3d before; conflicts (direct): fine %d (%d), "
          "object %d (%d); racing %d" % (
              options["seed"], len(truth.operations), len(truth.initial()), len(world.initial),
              len(conflicts[FINE]), len(truth.direct(conflicts[FINE])), len(conflicts[OBJECT]),
              len(truth.direct(conflicts[OBJECT])), len(truth.racing(conflicts[FINE]))))


def main():
    wrong, missed = 0, {(g, kind) for g, kinds in NEEDED.items() for kind in kinds}
    for options in WORLDS:
        for line in list(check_world(options, missed))[:10]:
            wrong += 1
            print("seed %d: %s" % (options["seed"], line))
    for granularity, kind in sorted(missed):
        wrong += 1
        print("%s: without %r, all orders still give the same results" % (granularity, kind))
    if set(model_access.RULES) != set(NEEDED):
        wrong += 1
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
