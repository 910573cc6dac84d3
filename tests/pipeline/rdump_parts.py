#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Options of nfsdigest rdump, on real captures and on model worlds with several clients, users and subtrees,
with and without losses.  A part of a trace has exactly the operations that SQL over the database says,
passes --check, and can be replayed alone on the model server, in several orders.  Parts of --split-by are
disjoint, and what belongs to none is said.  Copies are, one by one, the one dump again: numbers, times and
places apart; and stand in the order of time.  --time-scale, --granularity, --output -; what makes no sense.

    rdump_parts.py [CASE...]    these alone
"""
import collections
import json
import os
import pathlib
import random
import re
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import rdump_file  # noqa: E402
import rdump_play as play  # noqa: E402
from model_xdr import DIR, LINK, REG, RENAME  # noqa: E402

# as the program counts operations of NFSv3: those without a call may be some
NFS = "(o.program IN (100003, 100227) AND o.version = 3 OR o.program IS NULL AND o.pairing = 2)"
TIME = "ifnull(o.call_time, o.reply_time)"
BELOW = "o.path IN (SELECT id FROM path WHERE text = '{0}' OR text GLOB '{0}/*')"
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)
    return good


def rdump(*arguments, **options):
    return subprocess.run([database.program(), "rdump"] + [str(a) for a in arguments], check=False,
                          capture_output=True, **options)


def made(*arguments):
    """The JSON that a dump, or each part, is described with."""
    done = rdump("--json", *arguments)
    if done.returncode:
        raise RuntimeError("rdump %s: %s" % (" ".join(map(str, arguments)), done.stderr.decode()))
    return [json.loads(line) for line in done.stdout.splitlines()]


def rows(path, query):
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def ids(path, condition="1"):
    return {i for i, in rows(path, "SELECT o.id FROM operation o WHERE %s AND (%s)" % (NFS, condition))}


class Case:
    def __init__(self, name, scratch, captures, **options):
        self.name, self.options, self.rng = name, options, random.Random(name)
        self.scratch, self.path = scratch, scratch / (name + ".db")
        database.ingest(self.path, *captures)

    def dump(self, *arguments):
        """(what was said, the file)"""
        path = self.scratch / "part.rdump"
        said, = made(self.path, "-o", path, *arguments)
        check(said["bytes"] == path.stat().st_size, "%s: %s: bytes" % (self.name, arguments))
        return said, path

    def verify(self, path, what, said, wanted):
        """A dump has these operations and can be replayed alone."""
        what = "%s: %s" % (self.name, what)
        done = rdump("--check", path)
        check(done.returncode == 0, "%s: --check: %s" % (what, done.stdout[:300]))
        dump = play.Dump(path)
        sources = [op.source for op in dump.operations if op.source]
        check(len(set(sources)) == len(sources), what + ": an operation twice")
        check(set(sources) == wanted, "%s: %d operations, not %d" % (what, len(sources), len(wanted)))
        check(said["operations"] == len(wanted), what + ": says %d operations" % said["operations"])
        check(sum(said["inferred"].values()) == len(dump.operations) - len(sources), what + ": inferred")
        check(abs(said["bytes_per_operation"] - path.stat().st_size / len(dump.operations)) < 0.01,
              what + ": bytes an operation")
        replay = play.Replay(dump, **self.options)
        orders = [("recorded", None), ("newest first", play.extreme_order(dump, True)),
                  ("random", play.random_order(dump, self.rng))]
        for name, order in orders:
            found = replay.differences if order is None else replay.play(order)
            check(not found, "%s: %s: %d differ, %s" % (
                what, name, len(found), found and (found[0].op, found[0].status)))
            if found:
                break
        return dump

    def part(self, condition, *options):
        wanted = ids(self.path, condition)
        everything = ids(self.path)
        check(0 < len(wanted) < len(everything), "%s: %s: %d of %d" % (
            self.name, options, len(wanted), len(everything)))
        said, path = self.dump(*options)
        dump = self.verify(path, " ".join(options), said, wanted)
        selection = dump.trace.selection.decode().split()
        check(selection[::2] == [o for o in options if o.startswith("--")],
              "%s: selection %s" % (self.name, selection))
        return len(dump.operations)


def text_of(ns):
    return "%d.%09d" % divmod(ns, 10**9)


def busiest(case, column):
    """What has most operations but not nearly all, and what has least of at least 20."""
    found = rows(case.path, "SELECT %s AS x, count(*) AS n FROM operation o LEFT JOIN credential c ON"
                 " c.id = o.credential LEFT JOIN path p ON p.id = o.path WHERE %s AND x IS NOT NULL"
                 " GROUP BY x HAVING n >= 20 ORDER BY n DESC, x" % (column, NFS))
    return [x for x, _ in found]


def filters(case):
    """Each option by itself, and two together."""
    out = []
    for column, option, condition in (("o.client", "--client", "o.client = '%s'"),
                                      ("c.uid", "--uid", "o.credential IN (SELECT id FROM credential"
                                       " WHERE uid = %s)"),
                                      ("c.gid", "--gid", "o.credential IN (SELECT id FROM credential"
                                       " WHERE gid = %s)")):
        values = busiest(case, column)
        if len(values) > 1:
            out.append(case.part(condition % values[0], option, str(values[0])))
            out.append(case.part(condition % values[-1], option, str(values[-1])))
    above = collections.Counter()
    for path, in rows(case.path, "SELECT p.text FROM operation o JOIN path p ON p.id = o.path WHERE "
                      + NFS):
        while "/" in path[1:]:
            path = path.rpartition("/")[0]
            above[path] += 1
    count = len(ids(case.path))
    wide = [p for p, n in above.most_common() if n < 0.9 * count and not re.search(r"['*?\[]", p)]
    for path in wide[:1] + wide[4:5]:
        out.append(case.part(BELOW.format(path), "--under", path))
    times = [t for t, in rows(case.path, "SELECT %s FROM operation o WHERE %s ORDER BY 1" % (TIME, NFS))]
    start, stop = times[len(times) // 3], times[2 * len(times) // 3]
    out.append(case.part("%s >= %d" % (TIME, start), "--from", text_of(start)))
    out.append(case.part("%s < %d" % (TIME, stop), "--to", text_of(stop)))
    out.append(case.part("%s >= %d AND %s < %d" % (TIME, start, TIME, stop), "--from", text_of(start),
                         "--to", text_of(stop)))
    out.append(case.part("%s >= %d AND %s" % (TIME, start, BELOW.format(wide[0])), "--under", wide[0],
                         "--from", text_of(start)))
    return out


def split(case, what, column, condition):
    """All parts of a trace."""
    folder = case.scratch / ("%s-%s" % (case.name, what))
    folder.mkdir()
    *parts, total = made(case.path, "-o", folder / "x.y.rdump", "--split-by", what)
    everything, seen = ids(case.path), set()
    check(sorted(p["file"] for p in parts) == sorted(str(f) for f in folder.iterdir()),
          "%s: --split-by %s: files" % (case.name, what))
    for number, said in enumerate(parts):
        path = pathlib.Path(said["file"])
        selection = next(rdump_file.read(path))[1].selection.decode()
        option, _, value = selection.partition(" ")
        wanted = ids(case.path, condition.format(value))
        check(re.sub(r"[^a-zA-Z0-9.,+@-]", "_", value) == path.name[len("x.y-"):-len(".rdump")],
              "%s: %s is called %s" % (case.name, value, path.name))
        case.verify(path, selection, said, wanted)
        check(not wanted & seen, "%s: %s: shares operations" % (case.name, selection))
        seen |= wanted
        if number < 2:
            case.dump(option, value)
            check((case.scratch / "part.rdump").read_bytes() == path.read_bytes(),
                  "%s: %s: alone it is another one" % (case.name, selection))
    check(total == dict(split_by=what, dumps=len(parts), operations=len(seen),
                        in_none=len(everything - seen)),
          "%s: --split-by %s: says %s" % (case.name, what, total))
    if column:
        missing = rows(case.path, "SELECT count(*) FROM operation o LEFT JOIN credential c ON"
                       " c.id = o.credential WHERE %s AND %s IS NULL" % (NFS, column))[0][0]
        check(total["in_none"] == missing, "%s: --split-by %s: left out" % (case.name, what))
    text = rdump(case.path, "-o", folder / "x.y.rdump", "--split-by", what).stdout.decode()
    check(text.splitlines()[-1] == "split by %s: %d dumps with %s operations; %s others belong to no %s" % (
        what, len(parts), "{:,}".format(len(seen)), "{:,}".format(total["in_none"]), what),
          "%s: text of --split-by: %s" % (case.name, text.splitlines()[-1:]))
    return "%d by %s" % (len(parts), what)


def splits(case, *only):
    return [split(case, what, column, condition) for what, column, condition in (
        ("client", "o.client", "o.client = '{0}'"),
        ("uid", "c.uid", "o.credential IN (SELECT id FROM credential WHERE uid = {0})"),
        ("gid", "c.gid", "o.credential IN (SELECT id FROM credential WHERE gid = {0})"),
        ("subtree", None, BELOW)) if not only or what in only]


def split_within(case):
    """--split-by of what other options left; nested mounts give no part within another."""
    client = busiest(case, "o.client")[0]
    folder = case.scratch / "within"
    folder.mkdir()
    start = rows(case.path, "SELECT max(%s) - 1000000 FROM operation o WHERE o.client = '%s' AND %s" % (
        TIME, client, NFS))[0][0]
    *parts, total = made(case.path, "-o", folder / "x", "--split-by", "uid", "--client", client, "--from",
                         text_of(start))
    wanted = ids(case.path, "o.client = '%s' AND %s >= %d" % (client, TIME, start))
    found = set()
    for said in parts:
        found |= {r.source for k, r in rdump_file.read(said["file"]) if k == "operation" and r.source}
    check(found <= wanted and total["in_none"] == len(wanted - found) and
          total["operations"] == len(found) > 0, "within: %s of %d" % (total, len(wanted)))
    path = case.scratch / "nested.db"
    with open(path, "wb") as copy:
        copy.write(case.path.read_bytes())
    connection = sqlite3.connect(path)
    inner, = connection.execute("SELECT p.id FROM path p WHERE parent IN (SELECT id FROM path WHERE parent"
                                " IS NULL) AND (SELECT count(*) FROM path q WHERE q.parent = p.id AND q.id"
                                " IN (SELECT parent FROM path)) > 0 LIMIT 1").fetchone()
    connection.execute("UPDATE path SET parent = NULL WHERE id = ?", (inner,))
    connection.execute("UPDATE path SET parent = (SELECT id FROM path WHERE parent IS NULL AND id <> ?1)"
                       " WHERE id = (SELECT max(id) FROM path WHERE id <> ?1)", (inner,))
    connection.commit()
    connection.close()
    *parts, total = made(path, "-o", folder / "y", "--split-by", "subtree")
    sources = [r.source for said in parts for k, r in rdump_file.read(said["file"])
               if k == "operation" and r.source]
    check(len(sources) == len(set(sources)) == total["operations"], "nested: operations are in two parts")


KNOWN = {"mode": 1, "uid": 2, "gid": 4, "size": 8, "nlink": 128}


def pauses(dump):
    """Indexes of operations before which all others had ended."""
    operations, starts, latest = dump.operations, [], 2**63
    for op in reversed(operations):
        latest = min(latest, op.time)
        starts.append(latest)
    ended = -1
    for op, start in zip(operations, reversed(starts)):
        if op.index and ended < start == op.time:
            yield op.index
        ended = max(ended, op.time + max(op.latency, 0))


def tree_at(case):
    """What a part says that it knows of its tree is what playing all that came before leaves
    there; and no directory has more subdirectories than links."""
    _, path = case.dump()
    full = play.Dump(path)
    objects = play.Recorded(case.path, full).objects
    places = list(pauses(full))
    if not check(len(places) > 10, case.name + ": no pauses"):
        return
    compared, known = 0, collections.Counter()
    for place in places[len(places) // 5::len(places) // 5]:
        server = play.Replay(full, **case.options).server()
        run = play.Run(full, server)
        last = {number: source for number, source in objects.items()
                if number <= len(full.objects)}
        for op in full.operations[:place]:
            if op.arg is not None:
                run.execute(op)
            if op.made:
                last[op.made] = objects.get(op.made)
        number_of = {source: number for number, source in last.items()
                     if number in server.by_handle}
        _, path = case.dump("--from", text_of(full.trace.time + full.operations[place].time))
        part = play.Dump(path)
        types = {o.number: o.type for o in part.objects}
        below = collections.Counter(e.parent for e in part.entries if types[e.object] == DIR)
        for o in part.objects:
            check(o.type != DIR or o.nlink >= 2 + below[o.number],
                  "%s: a directory with %d links has %d in it" % (case.name, o.nlink, below[o.number]))
            if o.source not in number_of:
                continue
            inode = server.by_handle[number_of[o.source]]
            for key, bit in KNOWN.items():
                if not o.knows & bit or key == "size" and o.type != REG:
                    continue
                known[key] += 1
                check(getattr(inode, key) == getattr(o, key), "%s: from operation %d: %s of object %d "
                      "is %d, not %d" % (case.name, place, key, o.source, getattr(o, key),
                                         getattr(inode, key)))
        compared += len(part.objects)
    check(min(known[key] for key in KNOWN) > 20, "%s: known %s" % (case.name, dict(known)))
    print("%s: trees of %d objects, %s" % (case.name, compared, dict(known)))


# Copies

def numbered(op, change):
    """Arguments with other numbers of objects (RFC 1813: where handles stand)."""
    data = bytearray(op.arguments)
    places = [0] if data else []
    if op.procedure == RENAME and data:
        length = int.from_bytes(data[8:12], "big")
        places.append(12 + length + -length % 4)
    elif op.procedure == LINK and data:
        places.append(8)
    for at in places:
        length, number = struct.unpack_from(">II", data, at)
        if length != 4:
            raise ValueError("operation %d: a handle of %d bytes" % (op.index, length))
        struct.pack_into(">I", data, at + 4, change(number))
    return bytes(data)


def fields(record, *without):
    return {k: v for k, v in record.__dict__.items() if k not in without}


def by_kind(path):
    out = collections.defaultdict(list)
    for kind, record in rdump_file.read(path):
        out[kind].append(record)
    return out


def same_again(one, out, copy, count, name):
    """Copy |copy| taken out is the one dump."""
    def there(number):
        return (number - 1) * count + copy + 1 if number else 0

    objects = [o for o in out["object"] if o.copy == copy]
    check([fields(o, "copy") for o in objects] ==
          [dict(fields(o, "copy"), number=there(o.number)) for o in one["object"]], name + ": objects")
    numbers = {o.number for o in objects}
    entries = [e for e in out["entry"] if e.parent in numbers]
    check([fields(e) for e in entries] ==
          [dict(fields(e), parent=there(e.parent), object=there(e.object)) for e in one["entry"]],
          name + ": entries")
    operations = [o for o in out["operation"] if o.copy == copy]
    check(len(operations) == len(one["operation"]), name + ": %d operations" % len(operations))
    delays = {o.time - was.time for o, was in zip(operations, one["operation"])}
    check(len(delays) == 1, name + ": delays %s" % sorted(delays)[:4])
    moved = ("index", "copy", "time", "made", "arguments", "dependencies", "dependency_count",
             "forget", "cookie_from")
    for o, was in zip(operations, one["operation"]):
        good = (fields(o, *moved) == fields(was, *moved) and o.made == there(was.made) and
                o.arguments == numbered(was, there) and
                o.forget == [there(n) for n in was.forget] and
                (o.cookie_from and operations[was.index - was.cookie_from].index) ==
                (was.cookie_from and o.index - o.cookie_from) and
                [o.index - d for d in o.dependencies] ==
                [operations[was.index - d].index for d in was.dependencies])
        if not check(good, "%s: %s is not %s" % (name, o, was)):
            break
    return delays.pop()


def in_time(one, out, delays, name):
    """Always the first one of those that are next in their copy; of equal ones the earlier copy's."""
    following = [0] * len(delays)
    for o in out["operation"]:
        heads = [(one["operation"][n].time + delay, copy) for copy, (n, delay) in
                 enumerate(zip(following, delays)) if n < len(one["operation"])]
        if not check(min(heads) == (o.time, o.copy), "%s: %d is not in time" % (name, o.index)):
            break
        following[o.copy] += 1


def copies(case):
    _, path = case.dump()
    one, single = by_kind(path), path.read_bytes()
    case.dump("--copies", "1")
    check(path.read_bytes() == single, case.name + ": --copies 1 is another dump")
    seen = {}
    for count, delay, seed in ((3, "10ms", 7), (2, None, None), (5, "3s", 8), (3, "10ms", 9)):
        options = ["--copies", str(count)] + (["--delay", delay] if delay else [])
        options += ["--seed", str(seed)] if seed is not None else []
        name = "%s: %s" % (case.name, " ".join(options))
        said, path = case.dump(*options)
        data = path.read_bytes()
        out = by_kind(path)
        done = rdump("--check", path)
        check(done.returncode == 0, "%s: --check: %s" % (name, done.stdout[:300]))
        check(out["trace"][0].copies == count and
              fields(out["trace"][0], "copies") == fields(one["trace"][0], "copies"), name + ": trace")
        for kind in ("host", "credential"):
            check([fields(r) for r in out[kind]] == [fields(r) for r in one[kind]], name + ": " + kind)
        for kind in ("object", "entry", "operation"):
            check(len(out[kind]) == count * len(one[kind]), "%s: %d of %s" % (name, len(out[kind]), kind))
        check([o.number for o in out["object"]] == list(range(1, len(out["object"]) + 1)),
              name + ": numbers of objects")
        delays = [same_again(one, out, k, count, "%s: copy %d" % (name, k)) for k in range(count)]
        bound = {"10ms": 10**7, "3s": 3 * 10**9, None: 1}[delay]
        check(delays[0] == 0 and all(0 <= d < bound for d in delays), "%s: delays %s" % (name, delays))
        check(not delay or len(set(delays)) == count, "%s: delays %s" % (name, delays))
        in_time(one, out, delays, name)
        check(abs(said["bytes_per_operation"] - len(data) / len(out["operation"])) < 0.01 and
              said["copies"] == count, "%s: says %s" % (name, said))
        check(said["operations"] + sum(said["inferred"].values()) == len(one["operation"]),
              name + ": says of the one trace")
        text = rdump(case.path, "-o", path, *options).stdout.decode()
        check(path.read_bytes() == data, name + ": other bytes with the same seed")
        check(", %.1f bytes per operation\n" % (len(data) / len(out["operation"])) in text and
              re.search(r"^copies +%d;" % count, text, re.M), name + ": text")
        seen[tuple(options)] = delays
    check(seen["--copies", "3", "--delay", "10ms", "--seed", "7"] !=
          seen["--copies", "3", "--delay", "10ms", "--seed", "9"], case.name + ": another seed, same delays")
    return one


def scaled(case, one):
    for factor in ("2.5", "0.125", "1000"):
        _, path = case.dump("--time-scale", factor)
        out = by_kind(path)
        f = float(factor)
        want = [(int(o.time / f), -1 if o.latency < 0 else
                 int((o.time + o.latency) / f) - int(o.time / f)) for o in one["operation"]]
        check([(o.time, o.latency) for o in out["operation"]] == want,
              "%s: --time-scale %s: times" % (case.name, factor))
        for kind in ("object", "entry", "operation"):
            check([fields(r, "time", "latency") for r in out[kind]] ==
                  [fields(r, "time", "latency") for r in one[kind]],
                  "%s: --time-scale %s: %s" % (case.name, factor, kind))
        check(rdump("--check", path).returncode == 0, "%s: --time-scale %s: --check" % (case.name, factor))
    _, path = case.dump("--time-scale", "4", "--copies", "2", "--delay", "1s", "--seed", "3")
    out = by_kind(path)
    firsts = [next(o.time for o in out["operation"] if o.copy == k) for k in (0, 1)]
    check(0 < firsts[1] - firsts[0] < 10**9, case.name + ": delays are scaled")


def granular(case, one):
    texts = {}
    for granularity in ("fine", "object"):
        said, path = case.dump("--granularity", granularity)
        out = by_kind(path)
        check(said["granularity"] == granularity and out["trace"][0].fine == (granularity == "fine"),
              "%s: %s: says %s" % (case.name, granularity, said))
        check([fields(r, "dependencies", "dependency_count") for r in out["operation"]] ==
              [fields(r, "dependencies", "dependency_count") for r in one["operation"]],
              "%s: %s: operations" % (case.name, granularity))
        edges = [o.dependencies for o in out["operation"]]
        check(said["dependencies"] == sum(map(len, edges)) and
              said["most_dependencies"] == max(map(len, edges)) and
              said["independent"] == edges.count([]), "%s: %s: counts" % (case.name, granularity))
        texts[granularity] = path.read_bytes()
    check(texts["fine"] != texts["object"], case.name + ": granularities are the same")
    done = rdump(case.path, "-o", "-")
    check(done.returncode == 0 and done.stdout == texts["fine"], case.name + ": -o - is another dump")
    done = rdump(case.path, "-o", "-", "--granularity", "object", "--copies", "2")
    _, path = case.dump("--granularity", "object", "--copies", "2")
    check(done.stdout == path.read_bytes(), case.name + ": -o - with copies is another dump")


def refused(case):
    out = case.scratch / "refused"
    out.mkdir()
    target, path = out / "x.rdump", case.path
    cases = [((path,), 2, "--output"), ((path, path, "-o", target), 2, "takes a database"),
             (("-o", "-", "--split-by", "uid"), 2, "several files"),
             (("--split-by", "moon"), 2, "takes client, uid"), (("--client", "moon"), 2, "not an IPv4"),
             (("--client", "192.0.2.77"), 3, "none of its operations"), (("--uid", "-1"), 2, "--uid"),
             (("--uid", "4294967296"), 2, "--uid"), (("--gid", "x"), 2, "--gid"),
             (("--gid", "4294967295"), 3, "none of its operations"),
             (("--under", "/moon"), 3, "none of its operations"), (("--from", "moon"), 2, "not a time"),
             (("--to", "0"), 3, "none of its operations"), (("--time-scale", "0"), 2, "--time-scale"),
             (("--time-scale", "1x"), 2, "--time-scale"), (("--time-scale", "nan"), 2, "--time-scale"),
             (("--copies", "257"), 2, "--copies"), (("--copies", "0"), 2, "--copies"),
             (("--delay", "1s"), 2, "go with --copies"), (("--copies", "1", "--seed", "3"), 2, "--copies"),
             (("--copies", "2", "--delay", "x"), 2, "not a duration"), (("--granularity", "x"), 2, "fine or"),
             (("--uid", "1", "--split-by", "uid"), 2, "contradict"),
             (("--under", "/x", "--split-by", "subtree"), 2, "contradict"),
             (("--client", "192.0.2.77", "--split-by", "uid"), 3, "nothing to split")]
    for arguments, code, words in cases:
        if path not in arguments:
            arguments += (path,) + (() if "-o" in arguments else ("-o", target))
        done = rdump(*arguments)
        check(done.returncode == code and words in done.stderr.decode(), "rdump %s: %d, %s" % (
            " ".join(map(str, arguments)), done.returncode, done.stderr))
    check(rdump(path, "-o", "/dev/full").returncode == 4, "full device")
    check(rdump(path, "-o", out / "no/x").returncode == 4, "no folder")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    _, whole = case.dump("--copies", "20")
    temporary = out / "tmp"
    temporary.mkdir()
    for size in (0, 4096, whole.stat().st_size // 2, whole.stat().st_size - 1):
        done = rdump(path, "-o", target, "--copies", "20", preexec_fn=limit,
                     env=dict(os.environ, TMPDIR=str(temporary)))
        check(done.returncode == 4 and b"too large" in done.stderr,
              "limit %d: %d, %s" % (size, done.returncode, done.stderr))
        check(not list(temporary.iterdir()), "limit %d: left behind" % size)
    temporary.rmdir()
    check(not list(out.iterdir()), "refused: left behind %s" % list(out.iterdir()))


def main():
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)

        def world(name, loss=0.0, **options):
            capture = scratch / (name + ".pcap")
            # nobody knows whose the objects are that only others used: so everybody may do everything
            model_capture.record(model_world.World(permissions=False, processes=3, share=0.5, **options),
                                 capture, loss=model_capture.Loss(loss, loss, seed=options["seed"]))
            return lambda: Case(name, scratch, [capture], permissions=False)

        cases = {
            "shared": world("shared", seed=40, operations=1500, hosts=4),
            "lossy": world("lossy", loss=0.03, seed=42, operations=1200, hosts=3),
            "serial": world("serial", seed=43, operations=900, hosts=3, depth=3,
                            order=model_world.SERIAL, weights=dict(make_directories=30, links=20)),
            "merged": lambda: Case("merged", scratch, [CAPTURES / "merged-tcp-udp-2if.pcapng.zst"]),
            "ganesha": lambda: Case("ganesha", scratch, [CAPTURES / "vfs-libnfs-all22.pcap.zst"],
                                    default_mode=0o600, always_one=True),
            "knfsd": lambda: Case("knfsd", scratch, [CAPTURES / "knfsd-netem-udp.pcap.zst"],
                                  always_one=True),
        }
        for name, make in cases.items():
            if wanted and name not in wanted:
                continue
            case = make()
            if name == "serial":
                tree_at(case)
                continue
            if name == "merged":  # a long one
                print("merged: %d operations; %s" % (len(ids(case.path)), splits(case, "client")[0]))
                continue
            print("%s: %d operations; parts of %s; %s" % (
                name, len(ids(case.path)), ", ".join(map(str, filters(case))), ", ".join(splits(case))))
            if name in ("lossy", "ganesha"):
                one = copies(case)
                scaled(case, one)
                granular(case, one)
            if name == "shared":
                split_within(case)
                refused(case)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
