#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=400
"""nfsdigest compare must report what was injected, and nothing else.

A capture is written twice, once as it is and once with replies altered by tests/gen/mutate.py; both
are read by the program, compared both ways, and each discrepancy must be one that was injected:
kind, field, operation and value. Every field of every NFSv3 result is altered; what rules let pass
must not be reported."""

import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import model_capture  # noqa: E402
import model_world  # noqa: E402
import mutate  # noqa: E402
from messages import (ACCESS, COMMIT, CREATE, FSINFO, FSSTAT, MKDIR, MKNOD,  # noqa: E402
                      PATHCONF, READDIR, READDIRPLUS, SYMLINK)
from model_xdr import BLK, CHR, DIR, NAMES, decode_arguments  # noqa: E402

PROGRAM = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
RULES = (SRC / "schemas/rules/default.conf").read_text()
IO, JUKEBOX = 5, 10008
MAKE = (CREATE, MKDIR, SYMLINK, MKNOD)
MADE_NAMES = tuple(NAMES[p] + "3res" for p in MAKE)
DAY = 86400

failures = 0


def check(truth, text):
    global failures
    if not truth:
        failures += 1
        print("FAILED:", text)


# --- what is done to each field, and what must come of it


def plus(value, salt):
    return value + salt


def less(value, _salt):
    return value - 1 if value else 1


def flip(bits):
    return lambda value, _salt: value ^ bits


def bit_of_mode(value, salt):
    return value ^ 1 << salt % 9


def other_type(value, _salt):
    return value % 7 + 1


def next_day(value, salt):
    return value + DAY + salt


def millisecond(value, _salt):
    return value + 10**6 if value < 500 * 10**6 else value - 10**6


def other_bytes(value, salt):
    if len(value) == 8:  # a verifier
        return (int.from_bytes(value, "big") ^ salt << 3).to_bytes(8, "big")
    return value[:-1] + bytes([value[-1] ^ 1])


def other_stable(value, _salt):
    return (value + 1) % 3


ABSENT = object()
# Fields; what is done; the kind that is reported, or the line of default.conf by which it is not.
# The first that fits counts. |DIRECTORY|, |DEVICE|: of an object of this type.
DIRECTORY, DEVICE = lambda kind: kind == DIR, lambda kind: kind in (BLK, CHR)
ANY = lambda kind: True  # noqa: E731
TABLE = [
    ("*.used", ANY, plus, "*.used = ignored"),
    ("*.size", DIRECTORY, plus, "*.size = ignored if type=NF3DIR"),
    ("*.size", ANY, plus, "value"),
    ("*.rdev.*", DEVICE, plus, "value"),
    ("*.rdev.*", ANY, plus, "*.rdev* = ignored"),
    ("*.mode", ANY, bit_of_mode, "value"),
    ("*.type", ANY, other_type, "value"),
    ("*.nlink", ANY, plus, "value"),
    ("*.uid", ANY, plus, "value"),
    ("*.gid", ANY, plus, "value"),
    ("*.fsid", ANY, plus, "pattern"),
    ("*.entries.fileid", ANY, plus, "pattern"),
    ("*.fileid", ANY, plus, "pattern"),
    ("FSINFO3res.resok.time_delta.*", ANY, plus, "value"),
    ("*.seconds", ANY, next_day, "time"),
    ("*.nseconds", ANY, millisecond, "time = tolerance 200ms"),
    ("*.entries.cookie", ANY, plus, "cookie = ignored"),
    ("*.cookieverf", ANY, other_bytes, "*.cookieverf = pattern listing"),  # one reply is no pattern
    ("*.verf", ANY, other_bytes, "pattern"),
    ("*.access", ANY, flip(1), "value"),
    ("*.committed", ANY, other_stable, "value"),
    ("*.count", ANY, less, "value"),
    ("*.eof", ANY, flip(1), "value"),
    ("*.data", ANY, other_bytes, "value"),
    ("FSSTAT3res.resok.tbytes", ANY, plus, "FSSTAT3res.resok.tbytes = ignored"),
    ("FSSTAT3res.resok.fbytes", ANY, plus, "FSSTAT3res.resok.fbytes = ignored"),
    ("FSSTAT3res.resok.abytes", ANY, plus, "FSSTAT3res.resok.abytes = ignored"),
    ("FSSTAT3res.resok.tfiles", ANY, plus, "FSSTAT3res.resok.tfiles = ignored"),
    ("FSSTAT3res.resok.ffiles", ANY, plus, "FSSTAT3res.resok.ffiles = ignored"),
    ("FSSTAT3res.resok.afiles", ANY, plus, "FSSTAT3res.resok.afiles = ignored"),
    ("FSSTAT3res.resok.invarsec", ANY, plus, "FSSTAT3res.resok.invarsec = ignored"),
    ("FSINFO3res.resok.properties", ANY, flip(1), "value"),
    ("FSINFO3res.resok.*", ANY, plus, "value"),
    ("PATHCONF3res.resok.linkmax", ANY, plus, "value"),
    ("PATHCONF3res.resok.name_max", ANY, plus, "value"),
    ("PATHCONF3res.resok.*", ANY, flip(1), "value"),
]
TABLE = [row for row in TABLE]
# Fields on which it depends which objects and operations meet: they are altered one by one, below.
STRUCTURAL = ("*.status", "LOOKUP3res.resok.object", "*.obj", "*.obj.handle", "*.entries",
              "*.entries.name", "*.name_handle", "*.name_handle.handle", "*.reply.eof")
KINDS = ("value", "pattern", "time", "presence")
for _, _, _, expected in TABLE:
    if expected not in KINDS and expected not in RULES.splitlines():
        raise SystemExit("default.conf has no line %r" % expected)


def row_of(path, kind):
    for pattern, fits, change, expected in TABLE:
        if fnmatch.fnmatchcase(path, pattern) and fits(kind):
            return change, expected
    raise SystemExit("nothing says what is done to %s" % path)


def reported_field(path):
    """A time is one field; what FSINFO tells of times is none."""
    return path.rsplit(".", 1)[0] if path.endswith("seconds") and "time_delta" not in path else path


def type_behind(exchange, items, at):
    """The type of the object that the attribute at |at| is of, or None."""
    path = items[at].path
    root = path.rsplit(".", 1)[0]
    for part in ".rdev", ".atime", ".mtime", ".ctime":
        root = root.removesuffix(part)
    if "dir_wcc" in root or "linkdir_wcc" in root:
        return DIR
    for i in range(at, -1, -1):
        if items[i].path == root + ".type":
            return items[i].value
    after = [i.value for i in items if i.path == root.replace(".before", ".after") + ".type"]
    return after[0] if after else None


class Found(collections.namedtuple("Found", "kind field client xid")):
    pass


class Injection:
    """One alteration of one reply."""

    def __init__(self, exchange, path, at, salt, shown):
        """|shown|: (exchange, path) where it shows."""
        self.exchange, self.path, self.shown = exchange, path, shown
        items = exchange.items()
        item = items[at]
        self.old = item.value
        if item.kind == "optional":
            mutate.drop(items, at)
            self.new, self.expected = ABSENT, "presence"
        else:
            change, self.expected = row_of(path, type_behind(exchange, items, at))
            item.value = self.new = change(item.value, salt)
        self.result = mutate.encode(items)

    @property
    def is_reported(self):
        return self.expected in KINDS

    def found(self):
        return Found(self.expected, reported_field(self.shown[1]), *self.shown[0].key)

    def __repr__(self):
        return "%s of %s/%08x: %r -> %r" % (self.path, *self.exchange.key, self.old,
                                            "absent" if self.new is ABSENT else self.new)


def is_fileid(item):
    return item.path.endswith(".fileid") and not item.path.endswith("entries.fileid")


def value_of(items, at):
    """With the file system that a file's number is of."""
    return (items[at - 1].value, items[at].value) if is_fileid(items[at]) else items[at].value


def beginnings(exchanges):
    """({exchange: that which began the listing}, for those that go on with one; those that go on
    with none that is known)."""
    waiting, out, orphans = {}, {}, set()
    for e in exchanges:
        if e.procedure not in (READDIR, READDIRPLUS):
            continue
        items = e.items()
        who = e.key[0], e.procedure
        a = decode_arguments(e.procedure, e.arguments)
        first = waiting.pop((*who, a["object"], a["cookie"]), None) if a["cookie"] else e
        if first is None:
            orphans.add(e)
        elif first is not e:
            out[e] = first
        cookies = [i.value for i in items if i.path.endswith("entries.cookie")]
        if first is not None and cookies and not items[-1].value:
            waiting[(*who, a["object"], cookies[-1])] = first
    return out, orphans


class Places:
    """Where a field may be altered so that only this shows: |where|: {path: [(exchange, index)]}.

    A server's own value (fileid, fsid, verifier) must be known before: nobody can say of two first
    values which is wrong. The fileid of what was just made shows where it is told again."""

    def __init__(self, exchanges):
        self.where = collections.defaultdict(list)
        self.told, self.numbers = set(), set()
        self.first, self.orphans = beginnings(exchanges)
        self.again = {}  # (exchange, index): (exchange, path)
        unanswered = {}  # fileid: (exchange, index)
        for e in exchanges:
            items = e.items()
            for at, item in enumerate(items):
                made = is_fileid(item) and e.procedure in MAKE and "resok.obj_attr" in item.path
                if item.path.endswith("entries.fileid"):
                    for key in [k for k in unanswered if k[1] == item.value]:
                        del unanswered[key]  # it shows twice
                if is_fileid(item) and value_of(items, at) in unanswered and not made:
                    self.again[unanswered.pop(value_of(items, at))] = e, item.path
                if made:
                    unanswered[value_of(items, at)] = e, at
                    self.told.discard((".fileid", value_of(items, at)))
                    self.where[item.path].append((e, at))
                elif self.fits(e, items, at):
                    self.where[item.path].append((e, at))
            for at, item in enumerate(items):
                if item.path.endswith((".fsid", ".verf")) or is_fileid(item):
                    self.told.add((item.path[item.path.rindex("."):], value_of(items, at)))
                if is_fileid(item):
                    self.numbers.add(item.value)
        for path, some in self.where.items():
            if path.endswith("resok.obj_attributes.fileid") and path.startswith(MADE_NAMES):
                self.where[path] = [w for w in some if w in self.again]

    def fits(self, e, items, at):
        item = items[at]
        path, name = item.path, item.path[item.path.rindex("."):]
        if any(fnmatch.fnmatchcase(path, s) for s in STRUCTURAL) or e in self.orphans:
            return False
        if path.endswith("entries.cookie"):  # with the last one the client comes back
            return any(i.path == path for i in items[at + 1:])
        if name == ".cookieverf":
            return items[-1].value and e not in self.first
        if path.endswith("entries.fileid"):
            return item.value in self.numbers
        if name in (".fileid", ".fsid", ".verf"):
            return (name, value_of(items, at)) in self.told
        if item.kind in ("optional", "opaque"):
            return bool(item.value)
        return name != ".size" or type_behind(e, items, at) is not None

    def shown(self, e, at, path):
        """Entries of a listing are told of the operation that began it."""
        e, path = self.again.get((e, at), (e, path))
        return self.first.get(e, e) if ".entries." in path else e, path


def batches(exchanges, salt=1):
    """Lists of injections: each field once, no operation twice in a list."""
    places, lists = Places(exchanges), []
    where = places.where
    for path in sorted(where, key=lambda p: len(where[p])):
        for i in range(1000):
            if i == len(lists):
                lists.append({})
            # of many candidates another one each time
            free = [w for w in where[path] if w[0] not in lists[i]
                    and places.shown(*w, path)[0] not in lists[i]]
            if free:
                salt += 1
                e, at = free[salt * 7919 % len(free)]
                shown = places.shown(e, at, path)
                lists[i].setdefault(shown[0], None)
                lists[i][e] = Injection(e, path, at, salt, shown)
                break
    return [[i for i in some.values() if i] for some in lists], set(where)


# --- the program


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

    def __init__(self, folder, ref, sut, *options):
        out = folder / ("%s-%s.out.db" % (ref.stem, sut.stem))
        self.code = run("compare", "--summary", "-o", out, *options, ref, sut,
                        codes=(0, 1)).returncode
        db = sqlite3.connect("file:%s?mode=ro" % out, uri=True)
        self.rows = db.execute(
            "SELECT k.name, c.field, o.client, o.xid, d.ref_number, d.sut_number, c.difference,"
            " d.element FROM discrepancy d JOIN cluster c ON c.id = d.cluster JOIN code k ON"
            " k.domain = 'kind' AND k.value = c.kind LEFT JOIN operation o ON o.side ="
            " CASE WHEN d.ref IS NULL THEN 2 ELSE 1 END AND o.id = ifnull(d.ref, d.sut)").fetchall()
        self.found = collections.Counter(Found(*row[:4]) for row in self.rows)
        self.withheld = dict(db.execute(
            "SELECT field, sum(withheld) FROM compared GROUP BY field").fetchall())
        self.alone = db.execute("SELECT ref IS NOT NULL, reason, count(*) FROM alignment"
                                " WHERE kind = 2 GROUP BY 1, 2").fetchall()
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


def values_are_told(name, result, injections, swapped):
    told = {Found(*row[:4]): row[4:6] for row in result.rows}
    for i in injections:
        if isinstance(i.new, int) and i.expected == "value" and i.found() in told:
            signed = tuple(v - 2**64 if v >= 2**63 else v for v in (i.old, i.new))
            have = told[i.found()]
            check(have == (signed[::-1] if swapped else signed), "%s: %s: %s" % (name, i, have))


def every_field(folder, name, messages, exchanges):
    """All fields that occur. Returns their paths."""
    lists, seen = batches(exchanges)
    original = ingest(folder, name, messages)
    same = ingest(folder, name + "-same", messages)
    exactly(name + " against itself", Result(folder, original, same), collections.Counter())

    def one(job):
        number, injections = job
        altered = ingest(folder, "%s-%d" % (name, number), mutate.with_results(
            messages, {i.exchange: i.result for i in injections}))
        wanted = collections.Counter(i.found() for i in injections if i.is_reported)
        for swapped in False, True:
            label = "%s, list %d%s" % (name, number, ", swapped" if swapped else "")
            result = Result(folder, *((altered, original) if swapped else (original, altered)))
            exactly(label, result, wanted)
            check(not result.alone, "%s: one-sided: %s" % (label, result.alone))
            values_are_told(label, result, injections, swapped)
        altered.unlink()

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, enumerate(lists)))
    print("%s: %d operations, %d fields altered in %d captures, %d of them to be reported" % (
        name, len(exchanges), sum(map(len, lists)), len(lists),
        sum(i.is_reported for some in lists for i in some)))
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


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fields_of_generated(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
