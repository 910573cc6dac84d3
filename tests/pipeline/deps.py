#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The dependencies of replay dumps against those that comparing all pairs of operations of a model
world finds, for both granularities: on worlds without losses, where one call was made at a time,
they are the same, operation by operation; none is implied by others; none is longer than the
horizon. With replies lost, operations between two that conflict are unplayable: no dependency leads to
or from these, and those of their neighbours reach across, so that no conflict of operations that are played
is lost.

    deps.py [SEED...]     these alone, with all differences
"""
import collections
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import model_xdr as x  # noqa: E402
import rdump_file  # noqa: E402
from messages import OK  # noqa: E402
from model_access import FINE, OBJECT, Access  # noqa: E402
from model_truth import Truth  # noqa: E402

RESTLESS = dict(move=40, make_directories=25, recreate=15, links=15, errors=10, tidy=10, listing=12,
                change_attributes=10)
WORLDS = [
    dict(seed=2, operations=1500, hosts=4),
    dict(seed=11, operations=1200, hosts=4, processes=3, share=0.15, depth=3, weights=RESTLESS),
    dict(seed=12, operations=1200, hosts=2, share=0.3, weights=RESTLESS, permissions=False),
    dict(seed=13, operations=1200, hosts=4, share=0.5, weights=RESTLESS, cached=15),
    dict(seed=3000, operations=1000, hosts=2, processes=3, share=0.15, depth=3, weights=RESTLESS),
    dict(seed=3003, operations=1000, hosts=4, share=0.3, permissions=False),
    dict(seed=3010, operations=1500, hosts=4, processes=3, share=0.15, weights=RESTLESS),
    dict(seed=3018, operations=1500, hosts=4, share=0.3),
]
# Of the others a trace cannot show all: an object has several names of which no reply says that
# they are one object's (so that a RENAME from one to the other does nothing), or is used by a
# handle and by a name of which none says that they go together. Conflicts must then be implied but
# for those about such objects.
EXACT = {11, 3000, 3003, 3010, 3018}
READERS = dict.fromkeys((x.GETATTR, x.ACCESS, x.READLINK, x.READ, x.COMMIT), (0, 0.7))
CHANGERS = {**READERS, x.WRITE: (0, 0.4), x.SETATTR: (0, 0.4)}
# |procedures|: of which replies are lost. Where these are changes, what proves them is inferred.
# |through|: how many direct dependencies, at least, pass over an operation that is unplayable.
Lossy = collections.namedtuple("Lossy", "world procedures through exact")
LOSSY = [
    Lossy(dict(seed=3003, operations=2500, hosts=4, share=0.9, permissions=False), READERS, 10, False),
    Lossy(dict(seed=3018, operations=2500, hosts=4, share=0.3), READERS, 10, True),
    Lossy(dict(seed=2, operations=1500, hosts=4, share=0.5), CHANGERS, 50, False),
]


class Dump:
    """|edges|: {(earlier, later)}, |order|: Operation.numbers; those that were inferred count from
    -1 down. |objects|: {Inode.number: how many objects it is in the dump}; |nameless|: of these,
    what only names were seen of."""

    def __init__(self, path, numbers, truth, handles):
        self.edges, self.order, self.unplayable, self.inferred = set(), [], {}, 0
        self.objects, self.horizon = collections.Counter(), None
        objects, entries = {}, {}
        for kind, record in rdump_file.read(path):
            if kind == "trace":
                self.horizon = record.horizon
            elif kind == "object":
                objects[record.number] = handles.get(record.source)
            elif kind == "entry":
                entries[record.object] = record
            elif kind == "operation":
                self.operation(record, numbers)
        before = {(truth.handles[n[0]], n[1]): node.number
                  for node in truth.world.initial for n in node.names}
        for number, inode in objects.items():
            if inode is None and number in entries:
                entry = entries[number]
                inode = before.get((objects[entry.parent], entry.name))
            self.objects[inode] += 1

    def operation(self, record, numbers):
        if record.inferred:
            self.inferred += 1
        number = -self.inferred if record.inferred else numbers[record.source]
        self.order.append(number)
        if record.unplayable:
            self.unplayable[number] = record.unplayable
        for distance in record.dependencies:
            if not 0 < distance < self.horizon or distance > record.index:
                raise ValueError("operation %d depends on one %d before it" % (record.index,
                                                                               distance))
            self.edges.add((self.order[record.index - distance], number))


def numbers_of(path, truth):
    """{operation of the database: Operation.number}"""
    by_xid = {(op.host.address, op.xid): op.number for op in truth.operations}
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    return {i: by_xid[client, xid] for i, client, xid in db.execute(
        "SELECT id, client, xid FROM operation WHERE program = 100003 AND version = 3")}


def closure(order, edges):
    """{number: bits, by their place in |order|, of all that lead to it}"""
    place = {number: i for i, number in enumerate(order)}
    before, reach = collections.defaultdict(list), {}
    for a, b in edges:
        before[b].append(a)
    for b in order:
        reach[b] = 0
        for a in before[b]:
            reach[b] |= reach[a] | 1 << place[a]
    return reach, place


def implied(order, edges):
    (reach, place), before = closure(order, edges), collections.defaultdict(list)
    for a, b in edges:
        before[b].append(a)
    for b, earlier in before.items():
        for a in earlier:
            if any(reach[c] >> place[a] & 1 for c in earlier):
                yield a, b


def show(truth, number, granularity):
    op, access = truth.operations[number], truth.accesses[granularity][number]
    return "%d %s %s status %d reads %s changes %s" % (
        number, x.NAMES[op.procedure], {k: v for k, v in op.arguments.items() if k != "data"},
        op.result.status, sorted(access.reads, key=repr), sorted(access.changes, key=repr))


class Taker:
    """Gives operations to the truth, with what their names stood for in their roles. Whoever
    refuses a call (for permissions, or two file systems) may not have looked at it, but no trace
    tells. |named|: objects of which a reply shows with which handle a name goes; |idle|: RENAMEs of
    an object to itself; |went_on|: {(listing that gave a cookie, the one that has it)}."""

    def __init__(self, truth):
        self.truth, self.idle, self.went_on, self.gave = truth, set(), set(), {}
        self.named = {node.number for node in truth.world.initial if not node.names}

    def take(self, event, op):
        if event == model_world.EXECUTE:
            self.note(op, op.result.roles)
            self.note_listing(op)
        if event == model_world.EXECUTE and op.result.status != OK:
            roles = op.result.roles
            for name, directory, role in (("name", "object", "found"),
                                          ("name2", "object2", "target")):
                inode = roles.get(directory)
                if name in op.arguments and inode is not None and role not in roles:
                    found = behind(inode, op.arguments[name], op.procedure == x.LOOKUP)
                    if found is not None:
                        roles[role] = found
        self.truth.take(event, op)

    def note(self, op, roles):
        shown = list(roles.get("entries", ()))
        if op.result.fields.get("handle") is not None:
            shown += [roles[key] for key in ("found", "made") if key in roles]
        self.named.update(inode.number for inode in shown)
        if op.procedure == x.RENAME and op.result.status == OK and \
                roles["found"] is roles.get("target"):
            self.idle.add(op.number)


    def note_listing(self, op):
        """A client goes on where its own listing stood, or else another one's."""
        if op.procedure not in (x.READDIR, x.READDIRPLUS) or op.result.status != OK:
            return
        directory, cookie = op.arguments["object"], op.arguments["cookie"]
        if cookie:
            own = self.gave.get((directory, cookie, op.host))
            self.went_on.add((own or self.gave[directory, cookie, None], op.number))
        for entry in op.result.fields["entries"]:
            for host in op.host, None:
                self.gave[directory, entry[2], host] = op.number


def behind(inode, name, looked_up):
    if inode.type != x.DIR:
        return None
    if name in (b".", b".."):
        return None if not looked_up else inode if name == b"." else inode.parent
    return inode.entries[name][0] if name in inode.entries else None


def check(options, scratch, most, lossy=None):
    world = model_world.World(order=model_world.SERIAL, **options)
    truth = Truth(world)
    capture, db = scratch / "trace.pcap", scratch / "trace.db"
    taker = Taker(truth)
    model_capture.record(world, capture, sinks=[taker.take], loss=lossy and model_capture.Loss(
        procedures=lossy.procedures, seed=options["seed"]))
    truth.finish()
    database.ingest(db, capture)
    numbers = numbers_of(db, truth)
    connection = sqlite3.connect("file:%s?mode=ro" % db, uri=True)
    handles = {i: truth.number_of(h)
               for i, h in connection.execute("SELECT id, handle FROM object")}
    for granularity in FINE, OBJECT:
        path = scratch / "x.rdump"
        subprocess.run([database.program(), "rdump", str(db), "-o", str(path), "--granularity",
                        granularity], check=True, stdout=subprocess.DEVNULL)
        dump = Dump(path, numbers, truth, handles)
        for a, b in list(implied(dump.order, dump.edges))[:most]:
            yield "%s: %d -> %d is implied by others" % (granularity, a, b)
        for line in compare(options, taker, granularity, dump, most, lossy):
            yield "%s: %s" % (granularity, line)


def compare(options, taker, granularity, dump, most, lossy):
    truth = taker.truth
    several = {inode for inode, count in dump.objects.items() if count > 1}
    unseen = {t[1] for access in truth.accesses[granularity].values()
              for t in access.reads | access.changes} - taker.named
    every = truth.conflicts(granularity) | taker.went_on
    pairs = {(a, b) for a, b in every if not {a, b} & dump.unplayable.keys()}
    true, exact = truth.direct(pairs), not several and not dump.inferred
    through = true - truth.direct(every)
    print("seed %d, %s: %d operations, %d conflicts, %d dependencies, %d of them among %d of the "
          "dump; %d unplayable, %d objects seen as several, %d inferred" % (
              options["seed"], granularity, len(truth.operations), len(pairs), len(true),
              len(true & dump.edges), len(dump.edges), len(dump.unplayable), len(several),
              dump.inferred))
    for a, b in [e for e in dump.edges if set(e) & dump.unplayable.keys()][:most]:
        yield "%d -> %d: one is unplayable" % (a, b)
    if lossy:
        print("    %d of the dependencies pass over unplayable operations" % len(through))
        if len(through) < lossy.through:
            yield "%d dependencies over unplayable operations" % len(through)
    if exact != (lossy.exact if lossy else options_exact(options)):
        yield "exact: %s" % exact
    extra = {e for e in dump.edges - (true if exact else pairs)
             if min(e) >= 0 and (exact or not taker.idle & set(e))}
    missing = true - dump.edges
    if not exact:  # by those that are nobody's mistake
        reach, place = closure(dump.order, dump.edges)
        missing = {(a, b) for a, b in without(truth, granularity, several | unseen) & pairs
                   if not reach[b] >> place[a] & 1}
    for word, found in (("missing", missing), ("too many", extra)):
        if found:
            yield "%d %s" % (len(found), word)
        for a, b in sorted(found)[:most]:
            yield "%s:\n      %s\n      %s" % (word, show(truth, a, granularity),
                                              show(truth, b, granularity))


def options_exact(options):
    return options["seed"] in EXACT


def without(truth, granularity, inodes):
    """Conflicts that are not about these."""
    kept, accesses = {}, truth.accesses[granularity]
    for number, access in accesses.items():
        kept[number] = Access()
        kept[number].reads = {t for t in access.reads if t[1] not in inodes}
        kept[number].changes = {t for t in access.changes if t[1] not in inodes}
    truth.accesses[granularity] = kept
    found = truth.conflicts(granularity)
    truth.accesses[granularity] = accesses
    return found


def main():
    wrong, seeds = 0, [int(s) for s in sys.argv[1:]]
    cases = [(world, None) for world in WORLDS] + [(lossy.world, lossy) for lossy in LOSSY]
    for options, lossy in [c for c in cases if not seeds or c[0]["seed"] in seeds]:
        with tempfile.TemporaryDirectory(prefix="deps.") as scratch:
            for line in check(options, pathlib.Path(scratch), 20 if seeds else 3, lossy):
                wrong += 1
                print("WRONG: seed %d, %s" % (options["seed"], line))
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
