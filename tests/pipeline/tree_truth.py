#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest tree --store on traffic of model worlds, whose truth is known: the tree before is the
true one restricted to what was touched, with the attributes that it had; every name's lifetime begins
and ends with the true operations; nothing is inferred when nothing was lost.  With losses the names
of objects are compared, whatever operations began and ended them: which are not true, which are
missing, which were not there before.  What is left of these differences may not grow."""
import collections
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import packets  # noqa: E402
from messages import STALE  # noqa: E402
from model_status import ACCES, PERM, XDEV  # noqa: E402
from model_truth import Truth  # noqa: E402
from model_xdr import RENAME  # noqa: E402

RESTLESS = dict(move=40, make_directories=25, recreate=15, links=15, errors=10, tidy=10, listing=12,
                change_attributes=10)
# |left|: names that are not true, that are missing, that were not there before.
Case = collections.namedtuple("Case", "name world capture left", defaults=({}, None))
CASES = [
    Case("serial", dict(seed=1, operations=1500, order=model_world.SERIAL)),
    Case("by call", dict(seed=2, operations=1500, hosts=4, order=model_world.BY_CALL)),
    Case("free", dict(seed=3, operations=1500, hosts=4, processes=3, share=0.5)),
    Case("restless", dict(seed=4, operations=2000, hosts=4, processes=3, share=0.15, depth=3,
                          weights=RESTLESS), dict(transport=packets.UDP)),
    Case("no mounts", dict(seed=5, operations=1200, hosts=2), dict(mounts=False)),
    Case("loss 1 %", dict(seed=6, operations=3000, hosts=4, share=0.5),
         dict(loss=model_capture.Loss(0.01, 0.01, seed=6)), (0, 19, 0)),
    Case("loss 5 %", dict(seed=7, operations=3000, hosts=4, share=0.5, weights=RESTLESS),
         dict(loss=model_capture.Loss(0.05, 0.05, seed=7)), (1, 43, 6)),
]


def unescape(text):
    data = text.encode("utf-8")
    return re.sub(rb"\\(\\|x[0-9a-f]{2})",
                  lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1][1:], 16)]), data)


class Made:
    """What the program made, with handles in the place of objects."""

    def __init__(self, path, truth):
        self.db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.truth = truth
        self.number = {i: truth.number_of(h) for i, h in self.db.execute(
            "SELECT id, handle FROM object")}
        by_xid = {(op.host.address, op.xid): op.number for op in truth.operations}
        self.operation = {i: by_xid.get((c, x)) for i, c, x in self.db.execute(
            "SELECT id, client, xid FROM operation")}

    def lifetimes(self):
        """{(parent, name, start, stop): object or None}"""
        return {(self.number[parent], unescape(name), start is not None and self.operation[by],
                 stop is not None and self.operation[end]): self.number.get(o)
                for o, parent, name, start, stop, by, end in self.db.execute(
                    "SELECT object, parent, name, start, stop, start_operation, stop_operation"
                    " FROM tree_entry WHERE name NOT LIKE '.nfsdigest-unseen-%'")}

    def proven_full(self):
        """Directories that a refused RMDIR or RENAME proves not to be empty: they have a name in the
        tree that nobody saw."""
        return {self.number[parent] for parent, in self.db.execute(
            "SELECT parent FROM tree_entry WHERE name LIKE '.nfsdigest-unseen-%' AND parent > 0")}

    def initial(self):
        self.db.row_factory = sqlite3.Row
        return {self.number[row["object"]]: row for row in self.db.execute(
            "SELECT * FROM tree_initial WHERE object > 0")}


def is_hidden(truth, parent, name):
    """Whether nothing shows that a name was there before: RENAME, which replaces what it finds without
    a word, was the first to touch it, or it was refused in each case."""
    for op in truth.executed:
        a = op.arguments
        first = (truth.number_of(a.get("object")), a.get("name")) == (parent, name)
        second = (truth.number_of(a.get("object2")), a.get("name2")) == (parent, name)
        if (first or second) and op.result.status not in (PERM, ACCES, XDEV, STALE):
            return second and not first and op.procedure == RENAME and op.result.status == 0
        entries = op.result.fields.get("entries", ())
        if entries and truth.number_of(a["object"]) == parent and any(e[1] == name
                                                                      for e in entries):
            return False
    return True


def true_lifetimes(truth):
    return {(e.parent, e.name, e.start is not None and e.start.number,
             e.stop is not None and e.stop.number): e.object for e in truth.lifetimes()
            if e.start is not None or not is_hidden(truth, e.parent, e.name)}


def differences(found, true):
    """A nameless object may be any."""
    wrong = [("not true", key, value) for key, value in found.items()
             if key not in true or value not in (None, true[key])]
    return wrong + [("missing", key, value) for key, value in true.items() if key not in found]


def linked(node):
    """Such an object changes when one of its names goes, of which nothing may say whose it was."""
    return len(node.names) > 1


def attributes(made, truth):
    """Differences of what is said to be known exactly."""
    wrong, checked = [], collections.Counter()
    nodes = {truth.handles[node.key]: node for node in truth.world.initial}
    for number, row in made.initial().items():
        node = nodes.get(number)
        if node is None:
            wrong.append(("object was not there", number, row["object"]))
            continue
        for name in "type", "mode", "uid", "gid", "nlink", "size":
            true = getattr(node, name, None)
            if name == "size" and row["type"] != 1 or true is None or row[name] is None:
                continue
            if row["at_least"] and name == "size":
                good = row[name] <= true
            else:
                good = row[name] == true or row["guessed"] or (name == "nlink" and linked(node))
            checked[name] += row[name] == true
            if not good:
                wrong.append((name, number, row[name], true))
        for name in "atime", "mtime", "ctime":
            true = getattr(node, name, None)
            if true is None or row[name] is None or row["guessed"]:
                continue
            checked[name] += row[name] == true
            if row[name] != true and name != "atime" and not (name == "ctime" and linked(node)):
                wrong.append((name, number, row[name], true))
        if row["link"] is not None and unescape(row["link"]) != node.text:
            wrong.append(("link", number, row["link"], node.text))
    return wrong, checked


def check(case, scratch):
    world = model_world.World(**case.world)
    truth = Truth(world, granularities=())
    capture, path = scratch / (case.name + ".pcap"), scratch / (case.name + ".db")
    model_capture.record(world, capture, sinks=[truth.take], **case.capture)
    truth.finish()
    database.ingest(path, capture)
    done = subprocess.run([database.program(), "tree", "--summary", "--inferred", "--store",
                           str(path)], capture_output=True, text=True, check=True)
    made = Made(path, truth)
    found, true = made.lifetimes(), true_lifetimes(truth)
    inferred, changed = made.db.execute(
        "SELECT count(*), ifnull(sum(reason = 'attributes changed'), 0) FROM inferred").fetchone()
    inferred -= changed  # of an object that is seen as several
    full = {truth.handles[name[0]] for node in world.initial for name in node.names}
    values, checked = attributes(made, truth)
    wrong, left = differences(found, true), names_left(found, true)
    if case.left is None:
        wrong += [("was empty", number) for number in made.proven_full() - full]
        bad = wrong or values or inferred
        print("%s: %d lifetimes, %d wrong; %d names and %d attributes inferred; %d attributes as they"
              " were, %d not; %d directories full of what nobody saw" % (
                  case.name, len(true), len(wrong), inferred, changed, sum(checked.values()),
                  len(values), len(made.proven_full())))
    else:
        wrong = [(a, b) for a, b in zip(left, case.left) if a > b]
        values, bad = [], wrong or inferred < 10
        print("%s: %d lifetimes; %d names not true, %d missing, %d not there before; %d inferred"
              % ((case.name, len(true)) + left + (inferred,)))
    if bad:
        for line in (wrong + values)[:20]:
            print("   ", line)
        print(done.stdout)
    return bad


def names_left(found, true):
    """How many names of objects are not true, are missing, and were not there before."""
    there = {(parent, name, value) for (parent, name, _, _), value in true.items()}
    here = {(parent, name, value) for (parent, name, _, _), value in found.items()}
    places = {t[:2] for t in there}
    false = {h for h in here if h not in there and (h[2] is not None or h[:2] not in places)}
    before = {(k[0], k[1], v) for k, v in found.items() if k[2] is False and v is not None}
    true_before = {(k[0], k[1], v) for k, v in true.items() if k[2] is False}
    return len(false), len(there - here), len(before - true_before)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        failed = [case.name for case in CASES if check(case, pathlib.Path(scratch))]
    print("FAILED: %s" % ", ".join(failed) if failed else "all as they were")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
