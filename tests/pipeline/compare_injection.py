#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow cost=50
"""nfsdigest compare must report what was injected, and nothing else.

A capture is written twice, once as it is and once with replies altered by tests/gen/mutate.py; both
are read by the program, compared both ways, and each discrepancy must be one that was injected:
kind, field, operation and value. Every field of every NFSv3 result is altered; what rules let pass
must not be reported."""

import collections
import concurrent.futures
import dataclasses
import fnmatch
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import injection_cases as cases_of  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import mutate  # noqa: E402
from injection import STRUCTURAL, Found, batches, beginnings, check, failures  # noqa: E402
from messages import (ACCESS, COMMIT, FSINFO, FSSTAT, PATHCONF, READDIR,  # noqa: E402
                      READDIRPLUS)
from model_xdr import decode_arguments  # noqa: E402

PROGRAM = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
JUKEBOX = 10008


def run(*arguments, codes=(0,)):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    if done.returncode not in codes:
        raise SystemExit("%s: exit %d: %s" % (arguments, done.returncode, done.stderr))
    return done


def ingest(folder, name, messages, **options):
    capture, database = folder / (name + ".pcap"), folder / (name + ".db")
    mutate.write(capture, messages, **options)
    run("ingest", "-q", "-o", database, capture)
    capture.unlink()
    return database


class Result:
    """What compare found."""

    def __init__(self, folder, ref, sut, *options, by=1):
        """|by|: the side whose operation is named, unless it has none."""
        out = folder / ("%s-%s.out.db" % (ref.stem, sut.stem))
        self.code = run("compare", "--summary", "-o", out, *options, ref, sut,
                        codes=(0, 1)).returncode
        db = sqlite3.connect("file:%s?mode=ro" % out, uri=True)
        self.rows = db.execute(
            "SELECT k.name, c.field, o.client, o.xid, d.ref_number, d.sut_number, c.difference,"
            " d.element FROM discrepancy d JOIN discrepancy_group c ON c.id = d.discrepancy_group JOIN code k ON"
            " k.domain = 'kind' AND k.value = c.kind LEFT JOIN operation o ON o.side ="
            " CASE WHEN d.%s IS NULL THEN %d ELSE %d END AND o.id = ifnull(d.%s, d.%s)"
            % (("ref", 2, 1, "ref", "sut") if by == 1 else ("sut", 1, 2, "sut", "ref"))).fetchall()
        self.found = collections.Counter(Found(*row[:4]) for row in self.rows)
        self.withheld = dict(db.execute(
            "SELECT field, sum(withheld) FROM compared GROUP BY field").fetchall())
        self.alone = db.execute("SELECT ref IS NOT NULL, reason, count(*) FROM alignment"
                                " WHERE kind = 2 GROUP BY 1, 2").fetchall()
        self.one_sided = set(db.execute(
            "SELECT o.client, o.xid FROM alignment a JOIN operation o ON o.side = 1 + (a.ref IS"
            " NULL) AND o.id = ifnull(a.ref, a.sut) WHERE a.kind = 2").fetchall())
        self.pairs = db.execute("SELECT count(*) FROM alignment WHERE kind = 1").fetchone()[0]
        self.sides = {row[0]: row[1:] for row in db.execute(
            "SELECT id, clock_offset, clock_error, granularity FROM side")}
        self.performance = {row[0]: row[1:] for row in db.execute(
            "SELECT operation, ref_p50, sut_p50, ratio FROM performance")}
        db.close()
        out.unlink()
        check(self.code == (1 if self.rows else 0), "%s: exit %d with %d discrepancies" % (
            out.name, self.code, len(self.rows)))


def exactly(name, result, wanted):
    """|wanted|: Counter of Found."""
    for found, count in (result.found - wanted).items():
        check(False, "%s: false report: %s (%d)" % (name, found, count))
    for found, count in (wanted - result.found).items():
        check(False, "%s: not reported: %s (%d)" % (name, found, count))


def is_withheld(name, base, result, fields):
    """Whether so many of |fields| (Counter) were not compared, which was counted."""
    for field, count in fields.items():
        check(result.withheld.get(field, 0) - base.withheld.get(field, 0) >= count,
              "%s: %s is neither reported nor withheld" % (name, field))


def values_are_told(name, result, injections, swapped):
    told = {Found(*row[:4]): row[4:6] for row in result.rows}
    for i in injections:
        if isinstance(i.new, int) and i.expected == "value" and i.found() in told:
            signed = tuple(v - 2**64 if v >= 2**63 else v for v in (i.old, i.new))
            have = told[i.found()]
            check(have == (signed[::-1] if swapped else signed), "%s: %s: %s" % (name, i, have))


def every_field(folder, name, messages, exchanges, overlaps=False):
    """All fields that occur. Returns their paths. |overlaps|: clients get in each other's way, so
    that a comparison may be withheld; and who tells a file's number first is not clear."""
    lists, seen = batches(exchanges)
    if overlaps:
        lists = [[i for i in some if i.expected != "pattern"] for some in lists]
    original = ingest(folder, name, messages)
    same = ingest(folder, name + "-same", messages)
    base = Result(folder, original, same)
    missed = []
    exactly(name + " against itself", base, collections.Counter())

    def one(job):
        number, injections = job
        altered = ingest(folder, "%s-%d" % (name, number), mutate.with_results(
            messages, {i.exchange: i.result for i in injections}))
        wanted = collections.Counter(i.found() for i in injections if i.is_reported)
        for swapped in False, True:
            label = "%s, list %d%s" % (name, number, ", swapped" if swapped else "")
            result = Result(folder, *((altered, original) if swapped else (original, altered)))
            if overlaps:
                missing = wanted - result.found
                missed.append(missing.total())
                is_withheld(label, base, result, collections.Counter(
                    f.field for f in missing.elements()))
            exactly(label, result, wanted & result.found if overlaps else wanted)
            check(not result.alone, "%s: one-sided: %s" % (label, result.alone))
            values_are_told(label, result, injections, swapped)
        altered.unlink()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, enumerate(lists)))
    print("%s: %d operations, %d fields altered in %d captures, %d of them to be reported" % (
        name, len(exchanges), sum(map(len, lists)), len(lists),
        sum(i.is_reported for some in lists for i in some)))
    reported = sum(i.is_reported for some in lists for i in some)
    check(sum(missed) <= 0.1 * reported, "%s: %d were withheld" % (name, sum(missed) // 2))
    return seen


def generated(folder, name, **options):
    """(messages, exchanges) of a world."""
    path = folder / (name + ".pcap")
    model_capture.record(model_world.World(**options), path, connections=1)
    messages = mutate.read(path)
    path.unlink()
    return messages, mutate.exchanges(messages)


RARELY = ACCESS, FSSTAT, FSINFO, PATHCONF, COMMIT


def with_failures(messages, exchanges):
    """Some operations that hardly ever fail do so, with attributes."""
    results, seen = {}, collections.Counter()
    for e in exchanges:
        items = e.items()
        listing = e.procedure in (READDIR, READDIRPLUS) and items[-1].value and \
            not decode_arguments(e.procedure, e.arguments)["cookie"]
        if (listing or e.procedure in RARELY) and not items[0].value:
            seen[e.procedure] += 1
            if seen[e.procedure] % 2 == 0:
                results[e] = mutate.encode(mutate.failed(e.procedure, items, JUKEBOX))
    messages = mutate.with_results(messages, results)
    return messages, mutate.exchanges(messages)


def fields_of_generated(folder):
    messages, exchanges = generated(folder, "world", seed=5, operations=2600, hosts=2, share=0.5,
                                    order=model_world.SERIAL)
    messages, exchanges = with_failures(messages, exchanges)
    seen = every_field(folder, "world", messages, exchanges)
    for procedure in mutate.RESULTS:
        for path in mutate.paths(procedure):
            check(path in seen or any(fnmatch.fnmatchcase(path, s) for s in STRUCTURAL),
                  "%s was altered nowhere" % path)


def kinds(folder, *makers, **options):
    messages, exchanges = generated(folder, "small", **options)
    same = ingest(folder, "small", messages)
    cases = [case for maker in makers for case in maker(messages, exchanges)]

    def one(job):
        number, case = job
        name = "case-%d" % number
        original = same if case.original is None else ingest(folder, name + "-0", case.original)
        altered = ingest(folder, name, case.altered, reconnect=case.reconnect)
        for swapped in range(case.ways):
            label = case.name + (", swapped" if swapped else "")
            result = Result(folder, *((altered, original) if swapped else (original, altered)))
            exactly(label, result, case.wanted)
            alone = [0, 0]
            for in_ref, _, count in result.alone:
                alone[0 if in_ref else 1] += count
            check(tuple(alone[::-1] if swapped else alone) == case.alone,
                  "%s: one-sided: %s" % (label, result.alone))
            if case.also:
                case.also(result)
        altered.unlink()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, enumerate(cases)))
    print("%d cases" % len(cases))


def kinds_of_generated(folder):
    kinds(folder, cases_of.statuses, cases_of.messages_of_rpc, cases_of.listings,
          cases_of.handles, cases_of.values, cases_of.whole_servers,
          seed=3, operations=700, hosts=2, share=0.5, order=model_world.SERIAL,
          weights={"listing": 12})


# --- other clients at the same time, other orders, loss


def lossy(messages, share, seed):
    """Calls and replies of NFS that are not in the capture."""
    rng = random.Random(seed)
    return [dataclasses.replace(m, lost=m.server[1] == 2049 and rng.random() < share)
            for m in messages]


def shifted(messages):
    """Each client's messages in their order, other clients earlier or later by up to 2 ms."""
    clients = sorted({m.client[0] for m in messages})
    moved = [dataclasses.replace(m, time=m.time + 700_000 * clients.index(m.client[0]))
             for m in messages]
    return sorted(moved, key=lambda m: m.time)


def unclear(folder, name, ref, sut, world, injections, most):
    """Nothing is reported that was not injected; what was injected is reported, or withheld and
    counted as such, or its operation is one-sided, or not in both captures. |most|: so many are
    not reported.
    |ref|, |sut|: functions that make a side's messages of the original's."""
    messages, pairs = world
    original = ingest(folder, name + "-0", ref(messages))
    plain = ingest(folder, name + "-1", sut(messages))
    results = {i.exchange: i.result for i in injections}
    there = ref(messages), sut(messages)
    there = {m.key + (m.is_reply,) for m in there[0] if not m.lost} & {
        m.key + (m.is_reply,) for m in there[1] if not m.lost}
    altered = ingest(folder, name + "-2", sut(mutate.with_results(messages, results)))
    wanted = collections.Counter(i.found() for i in injections if i.is_reported)
    began = {}  # of a reply that goes on with a listing: what it goes on with
    for later, e in beginnings(pairs)[1].items():
        began[later.key] = e.key
    missed = 0
    for swapped in False, True:
        def sides(other):
            return (other, original) if swapped else (original, other)  # noqa: B023
        label = name + (", swapped" if swapped else "")
        by = 1 if swapped else 2
        base = Result(folder, *sides(plain), by=by)
        result = Result(folder, *sides(altered), by=by)
        exactly(label + ", nothing altered", base, collections.Counter())
        exactly(label, result, wanted & result.found)
        fields = collections.Counter()
        for found, count in (wanted - result.found).items():
            missed += count
            keys = {found[2:]}
            while not began.keys().isdisjoint(keys) and not {
                    began[key] for key in keys if key in began} <= keys:
                keys |= {began[key] for key in keys if key in began}
            # told as one-sided: what its object is called was not captured
            if {(*key, r) for key in keys for r in (False, True)} <= there and \
                    not keys & result.one_sided:
                fields[found.field] += count
        is_withheld(label, base, result, fields)
    print("%s: %d pairs of %d operations, %d alterations to be reported, %.1f %% withheld" % (
        name, result.pairs, len(pairs), wanted.total(), 50 * missed / wanted.total()))
    check(missed <= 2 * most * wanted.total(), "%s: %d were not reported" % (name, missed))


def interleaved(job):
    folder, seed = job
    world = generated(folder, f"free{seed}", seed=seed, operations=2500, hosts=4, share=0.5,
                      order=model_world.FREE)
    first = batches(world[1])[0][0]
    # which of two values is a server's first one depends on what was lost
    clear = [i for i in first if i.expected != "pattern"]
    own = [i for i in first if i.expected != "pattern" or i.shown[0] is i.exchange]
    same = list
    name = f"world {seed}, "
    unclear(folder, name + "interleaved", same, same, world, own, 0.12)
    unclear(folder, name + "interleaved in another way", same, shifted, world, clear, 0.2)
    unclear(folder, name + "interleaved, loss", same, lambda m: lossy(m, 0.02, seed), world,
            clear, 0.2)
    unclear(folder, name + "loss on both sides", lambda m: lossy(m, 0.01, seed + 50),
            lambda m: lossy(shifted(m), 0.01, seed + 99), world, clear, 0.25)


def real(folder):
    for name in "vfs-libnfs-all22", "knfsd-netem-udp":
        path = folder / (name + ".pcap")
        with open(path, "wb") as out:
            subprocess.run(["zstd", "-dcq", CAPTURES / (name + ".pcap.zst")], stdout=out,
                           check=True)
        messages = mutate.read(path)
        # in the second NFSACL, which is not altered, tells numbers, too, and two clients overlap
        every_field(folder, name, messages, mutate.exchanges(messages), name == "knfsd-netem-udp")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fields_of_generated(folder)
        kinds_of_generated(folder)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(interleaved, [(folder, seed) for seed in (8, 21, 23, 32)]))
        real(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
