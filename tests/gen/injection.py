# SPDX-License-Identifier: GPL-2.0-or-later
"""What is done to each field of a result so that a comparison of two servers must report it, or
must not, and where in a capture that can be done without other consequences.

    lists, paths = batches(exchanges)   # of mutate.exchanges(): each field once
    lists[0][3].found(), lists[0][3].result
"""
import collections
import fnmatch
import os
import pathlib

import mutate
from messages import CREATE, MKDIR, MKNOD, READDIR, READDIRPLUS, SYMLINK
from model_xdr import BLK, CHR, DIR, NAMES, decode_arguments

RULES = (pathlib.Path(os.environ["SRC"]) / "schemas/rules/default.conf").read_text()
DAY = 86400
MAKE = (CREATE, MKDIR, SYMLINK, MKNOD)
MADE_NAMES = tuple(NAMES[p] + "3res" for p in MAKE)

failures = []


def check(truth, text):
    if not truth:
        failures.append(text)
        print("FAILED:", text)


def plus(value, salt):
    return value + salt


def far(value, salt):
    """A number that nothing else has."""
    return value + (salt << 40)


def less(value, _salt):
    return value - 1 if value else 1


def flip(bits):
    return lambda value, _salt: value ^ bits


def bit_of_mode(value, salt):
    return value ^ 1 << salt % 9


def other_type(value, _salt):
    """Never a directory, whose sizes do not count."""
    return value % 7 + 1 if value != 1 else 6


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
    ("*.fsid", ANY, far, "pattern"),
    ("*.entries.fileid", ANY, far, "pattern"),
    ("*.fileid", ANY, far, "pattern"),
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
    """{exchange: that which began the listing}, for those that go on with one; {exchange: that which
    it goes on with}. What goes on with none that is known begins one."""
    waiting, out, before = {}, {}, {}
    for e in exchanges:
        if e.procedure not in (READDIR, READDIRPLUS):
            continue
        items = e.items()
        who = e.key[0], e.procedure
        a = decode_arguments(e.procedure, e.arguments)
        first = waiting.pop((*who, a["object"], a["cookie"]), (e, e)) if a["cookie"] else (e, e)
        if first[0] is not e:
            out[e], before[e] = first
        cookies = [i.value for i in items if i.path.endswith("entries.cookie")]
        if cookies and not items[-1].value:
            waiting[(*who, a["object"], cookies[-1])] = first[0], e
    return out, before


class Places:
    """Where a field may be altered so that only this shows: |where|: {path: [(exchange, index)]}.

    A server's own value (fileid, fsid, verifier) must be known before: nobody can say of two first
    values which is wrong. The fileid of what was just made shows where it is told again."""

    def __init__(self, exchanges):
        self.where = collections.defaultdict(list)
        self.told, self.numbers = set(), set()
        self.first, _ = beginnings(exchanges)
        self.again = {}  # (exchange, index): (exchange, path)
        self.next = {}   # exchange that made something: the first two that tell its number again
        unanswered = {}  # fileid: ((exchange, index), handle, [(exchange, path)])
        for e in exchanges:
            items = e.items()
            for at, item in enumerate(items):
                made = is_fileid(item) and e.procedure in MAKE and "resok.obj_attr" in item.path
                if item.path.endswith("entries.fileid"):
                    for key in [k for k in unanswered if k[1] == item.value]:
                        del unanswered[key]  # it shows twice
                if is_fileid(item) and value_of(items, at) in unanswered and not made:
                    made_by, handle, shown = unanswered[value_of(items, at)]
                    if handle not in e.arguments + e.reply.body:
                        del unanswered[value_of(items, at)]  # another object has the number now
                        continue
                    shown.append((e, item.path))
                    if len(shown) == 2:  # now it is believed
                        del unanswered[value_of(items, at)]
                        self.again[made_by] = shown[0]
                        self.next[made_by[0]] = {shown[0][0], e}
                if made:
                    handle = [i.value for i in items if i.path.endswith("resok.obj.handle")]
                    unanswered[value_of(items, at)] = (e, at), (handle or [b""])[0], []
                    self.told.discard((".fileid", value_of(items, at)))
                    self.where[item.path].append((e, at))
                elif self.fits(e, items, at):
                    self.where[item.path].append((e, at))
            for at, item in enumerate(items):
                if item.path.endswith((".fsid", ".verf")) or is_fileid(item):
                    self.told.add((item.path[item.path.rindex("."):], value_of(items, at)))
                if is_fileid(item):
                    self.numbers.add(value_of(items, at))
        for path, some in self.where.items():
            if path.endswith("resok.obj_attributes.fileid") and path.startswith(MADE_NAMES):
                self.where[path] = [w for w in some if w in self.again]
        self.where = {path: some for path, some in self.where.items() if some}

    def fits(self, e, items, at):
        item = items[at]
        path, name = item.path, item.path[item.path.rindex("."):]
        if any(fnmatch.fnmatchcase(path, s) for s in STRUCTURAL):
            return False
        if path.endswith("entries.cookie"):  # with the last one the client comes back
            return any(i.path == path for i in items[at + 1:])
        if name == ".cookieverf":
            return items[-1].value and e not in self.first
        if path.endswith("entries.fileid"):
            for beside in items[at + 1:]:
                if beside.path == path:
                    break
                if is_fileid(beside) and "name_attributes" in beside.path:
                    return beside.value == item.value
            systems = [i.value for i in items if i.path.endswith("dir_attributes.fsid")]
            return (*systems, item.value) in self.numbers
        if name in (".fileid", ".fsid", ".verf"):
            return (name, value_of(items, at)) in self.told
        if item.kind in ("optional", "opaque"):
            return bool(item.value)
        return name != ".size" or type_behind(e, items, at) is not None

    def all_of(self, e, at, path):
        """What nothing else may be done to at the same time."""
        return {e, self.shown(e, at, path)[0]} | self.next.get(e, set())

    def shown(self, e, at, path):
        return self.again.get((e, at), (e, path))


def batches(exchanges, salt=1):
    """Lists of injections: each field once, no operation twice in a list."""
    places, lists = Places(exchanges), []
    where = places.where
    for path in sorted(where, key=lambda p: len(where[p])):
        for i in range(len(lists) + 1):
            if i == len(lists):
                lists.append({})
            # of many candidates another one each time
            free = [w for w in where[path] if not places.all_of(*w, path) & lists[i].keys()]
            if free:
                salt += 1
                e, at = free[salt * 7919 % len(free)]
                lists[i].update(dict.fromkeys(places.all_of(e, at, path)))
                lists[i][e] = Injection(e, path, at, salt, places.shown(e, at, path))
                break
    return [[i for i in some.values() if i] for some in lists], set(where)
