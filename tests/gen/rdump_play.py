# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays replay dumps on the model server, in any order that their dependencies allow.

    dump = Dump("x.rdump")
    replay = Replay(dump)              # plays the recorded order; .differences
    for difference in replay.play(random_order(dump, random.Random(1))):
        print(difference)
    replay.skipped                     # {reason: operations that cannot be replayed}

Nothing but the dump is read.  After each operation its status must be the expected one, and the
digest of the groups in its mask, computed here from what the model server replied as
postproc/digest/expect.h says, the recorded one.  Recorded (below) tells groups that differ apart.

What the trace does not show of the tree before: directories have mode 0777, others 0666; a thing
belongs to whoever may take its name away, else to root; an object without a type is a file; link
counts are those of the names.  A file system is what entries, and RENAMEs and LINKs that got past
the check of it, hold together.

Arguments are played as they are, but for what only the recorded server can know: a guard on ctime
is met or missed as it was; a listing is asked for as a whole, for its limits and cookies count
other servers' bytes; an unknown object is a handle that is bad or stale, as it is expected.
"""
import collections
import ctypes
import heapq
import sqlite3
import struct

import rdump_file
from messages import NOENT, OK
from model_files import Node
from model_server import ROOT, Server, Who
from model_status import (BAD_COOKIE, BADHANDLE, EXIST, INVAL, ISDIR, NOTDIR, NOT_SYNC, NOTEMPTY,
                          TOOSMALL)
from model_xdr import (ACCESS, BLK, CHR, CREATE, DIR, FSINFO, FSSTAT, LINK, LNK, LOOKUP, MKDIR,
                       MKNOD, NAMES, PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REG, REMOVE,
                       RENAME, RMDIR, SYMLINK, WRITE, decode_arguments, decode_result)

KNOWS = {"mode": 1 << 0, "uid": 1 << 1, "gid": 1 << 2, "nlink": 1 << 7}
MAKING = (CREATE, MKDIR, SYMLINK, MKNOD)
LISTINGS = (READDIR, READDIRPLUS)
AUTH_SYS, NOBODY = 1, Who(65534, 65534)
UNKNOWN, FOREIGN = 0, b"no handle of this server"
NEVER = -1  # no inode's ctime

# postproc/digest/expect.h
TYPE, MODE, OWNER, NLINK, SIZE = range(5)
IDENTITY, GRANTED, TEXT, EXTENT, LISTED = range(20, 25)
GROUP_NAMES = ("type", "mode", "owner", "nlink", "size")
WHOSE = ("object", "directory", "second directory", "found")
OF_OBJECT, OF_DIRECTORY, OF_DIRECTORY2, OF_FOUND = range(4)

XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def bit_name(bit):
    if bit < 20:
        return "%s of %s" % (GROUP_NAMES[bit % 5], WHOSE[bit // 5])
    return ("identity", "access", "text", "read", "names")[bit - 20]


def bits_of(mask):
    return [bit for bit in range(32) if mask >> bit & 1]


def shown_attributes(procedure, fields):
    """(whose, Attributes) of all that a result shows but a listing's."""
    named = procedure in (LOOKUP, REMOVE, RMDIR, RENAME) + MAKING
    for key, attributes in (("attributes", fields.get("attributes")),
                            ("dir_attributes", fields.get("dir_attributes")),
                            ("wcc", fields.get("wcc", (None, None))[1]),
                            ("wcc2", fields.get("wcc2", (None, None))[1])):
        if attributes is None:
            continue
        if key == "wcc2" or key == "wcc" and procedure == LINK:
            yield OF_DIRECTORY2, attributes
        elif key == "attributes":
            yield OF_FOUND if named else OF_OBJECT, attributes
        else:
            yield OF_DIRECTORY if named else OF_OBJECT, attributes


def u32(*numbers):
    return struct.pack(">%dI" % len(numbers), *numbers)


def text(data):
    return u32(len(data)) + data


def number(handle):
    return handle if isinstance(handle, int) else 0xffffffff


def groups(procedure, status, fields, number_of=number):
    """{bit: bytes that the digest covers} of all groups that a result shows."""
    out = {}
    for whose, a in shown_attributes(procedure, fields):
        base = 5 * whose
        out[base + TYPE] = u32(a.type) + (u32(*a.rdev) if a.type in (BLK, CHR) else b"")
        out[base + MODE] = u32(a.mode & 0o7777)
        out[base + OWNER] = u32(a.uid, a.gid)
        out[base + NLINK] = u32(a.nlink)
        if a.type in (REG, LNK):
            out[base + SIZE] = struct.pack(">Q", a.size)
    if status != OK:
        return out
    if fields.get("handle") is not None:
        out[IDENTITY] = u32(number_of(fields["handle"]))
    if procedure == ACCESS:
        out[GRANTED] = u32(fields["access"])
    elif procedure == READLINK:
        out[TEXT] = text(fields["text"])
    elif procedure == READ:
        out[EXTENT] = u32(fields["count"], int(fields["eof"]))
    elif procedure in LISTINGS and fields["eof"]:
        entries = sorted((e for e in fields["entries"] if e[1] not in (b".", b"..")),
                         key=lambda e: e[1])
        out[LISTED] = u32(len(entries)) + b"".join(
            text(e[1]) + (b"" if procedure == READDIR else
                          u32(0 if e[4] is None else number_of(e[4]))) for e in entries)
    return out


def digest(mask, values):
    """None: a group is not there."""
    bits = bits_of(mask)
    if any(bit not in values for bit in bits):
        return None
    data = b"".join(values[bit] for bit in bits)
    return XXHASH.XXH3_64bits(data, len(data))


def arguments_of(op):
    """Their numbers of objects in the place of handles."""
    data = op.arguments
    if op.procedure == WRITE:  # its data is left out
        length = int.from_bytes(data[-4:], "big")
        data += bytes(length + -length % 4)
    a = decode_arguments(op.procedure, data)
    for key in "object", "object2":
        if key in a:
            if len(a[key]) != 4:
                raise ValueError("operation %d: a handle of %d bytes" % (op.index, len(a[key])))
            a[key] = int.from_bytes(a[key], "big")
            if a[key] == UNKNOWN and op.status == BADHANDLE:
                a[key] = FOREIGN
    if a.get("guard") is not None:
        a["guard"] = NEVER if op.status == NOT_SYNC else None
    if op.procedure in LISTINGS and op.status not in (BAD_COOKIE, TOOSMALL):
        a.update(count=None, maxcount=None, cookie=0)
    return a


class Dump:
    """|operations| have |arg|, their arguments (None: unplayable), and |who|."""

    def __init__(self, path):
        self.objects, self.entries, self.operations = [], [], []
        self.credentials, self.trace, self.end = {UNKNOWN: ROOT}, None, None
        for kind, record in rdump_file.read(path):
            if kind == "trace":
                self.trace = record
            elif kind == "credential":
                self.credentials[record.number] = NOBODY if record.flavor != AUTH_SYS else \
                    Who(record.uid, record.gid, record.gids)
            elif kind == "object":
                self.objects.append(record)
            elif kind == "entry":
                self.entries.append(record)
            elif kind == "operation":
                record.arg = None if record.unplayable else arguments_of(record)
                record.who = self.credentials[record.credential]
                self.operations.append(record)
            elif kind == "end":
                self.end = record

    def nodes(self):
        """The tree before, for Server.load()."""
        names, fsids, owners = collections.defaultdict(list), self.file_systems(), self.owners()
        for entry in self.entries:
            names[entry.object].append((entry.parent, entry.name))
        out = []
        for o in self.objects:
            known = {key for key, bit in KNOWS.items() if o.knows & bit}
            kind = o.type or REG
            out.append(Node(
                o.number, kind, names=names[o.number], fsid=fsids[o.number], size=o.size,
                mode=o.mode if "mode" in known else 0o777 if kind == DIR else 0o666,
                uid=o.uid if "uid" in known else owners.get(o.number, 0),
                gid=o.gid if "gid" in known else 0,
                nlink=o.nlink if "nlink" in known else None, rdev=o.rdev, text=o.link))
        return out

    def owners(self):
        """{number of an object: uid of who first may take a name of it away}"""
        entries, out = {(e.parent, e.name): e.object for e in self.entries}, {}
        for op in self.operations:
            if op.procedure not in (REMOVE, RMDIR, RENAME) or op.arg is None or \
                    op.status not in (OK, EXIST, NOTDIR, ISDIR, NOTEMPTY):
                continue
            a = op.arg
            for where in (a["object"], a["name"]), (a.get("object2"), a.get("name2")):
                out.setdefault(entries.get(where), op.who.uid)
        return out

    def file_systems(self):
        """{number of an object: a number of the file system that it must be in}"""
        above = {o.number: o.number for o in self.objects}

        def top(a):
            while above[a] != a:
                above[a] = above[above[a]]
                a = above[a]
            return a

        for entry in self.entries:
            above[top(entry.object)] = top(entry.parent)
        for op in self.operations:
            if op.arg is None:
                continue
            one, two = op.arg.get("object"), op.arg.get("object2")
            if op.made:
                above[op.made] = top(one)
            passed = op.status == OK or op.procedure == RENAME and op.status in (
                NOENT, NOTEMPTY, EXIST, ISDIR, INVAL)
            if one in above and two in above and passed:
                above[top(one)] = top(two)
        return {a: top(a) for a in above}


Difference = collections.namedtuple("Difference", "op status values")


class Replay:
    """|like|: attributes of the Server in which the recorded one was another: |default_mode|, what
    it gives files whose CREATE says none, as exclusive ones do; |longest_name|. It has no limits to
    the length of a READ or WRITE."""

    def __init__(self, dump, permissions=True, **like):
        self.dump, self.permissions = dump, permissions
        self.like = dict(like, largest_read=1 << 31, largest_write=1 << 31)
        self.nodes = dump.nodes()
        self.skipped = collections.Counter(op.unplayable for op in dump.operations
                                           if op.unplayable)
        self.differences = self.play(range(len(dump.operations)))

    def server(self):
        server = Server(permissions=self.permissions)
        for key, value in self.like.items():
            setattr(server, key, value)
        server.load(self.nodes)
        return server

    def play(self, order, most=20):
        """|order|: indexes of all operations. Returns up to |most| Differences."""
        server, operations, out, count = self.server(), self.dump.operations, [], 0
        for index in order:
            op, count = operations[index], count + 1
            if op.arg is None:
                continue
            result = server.execute(op.procedure, op.arg, op.who, index + 1, op.made or None)
            if result.status != op.status:
                out.append(Difference(op, result.status, None))
            elif op.mask:
                values = groups(op.procedure, result.status, result.fields)
                if digest(op.mask, values) != op.digest:
                    out.append(Difference(op, result.status, values))
            if len(out) == most:
                return out
        if count != len(operations):
            raise ValueError("%d operations played of %d" % (count, len(operations)))
        return out


# Orders: indexes of all operations, each behind those it depends on.

class Ready:
    """Which operations may come next. |free|: indexes of operations without any dependency."""

    def __init__(self, dump, free=()):
        self.horizon, self.count = dump.trace.horizon, len(dump.operations)
        self.after, self.waits = collections.defaultdict(list), [0] * self.count
        self.late = self.horizon  # the first one that is too far ahead
        self.oldest, self.done = 0, [False] * self.count
        for op in dump.operations:
            if op.index in free:
                continue
            for distance in op.dependencies:
                self.after[op.index - distance].append(op.index)
            self.waits[op.index] = len(op.dependencies)

    def first(self):
        return [i for i in range(min(self.count, self.late)) if not self.waits[i]]

    def take(self, index):
        """Those that may come now that this one was."""
        out = []
        self.done[index] = True
        for later in self.after[index]:
            self.waits[later] -= 1
            if not self.waits[later] and later < self.late:
                out.append(later)
        while self.oldest < self.count and self.done[self.oldest]:
            self.oldest += 1
            if self.late < self.count and not self.waits[self.late]:
                out.append(self.late)
            self.late += 1
        return out


def random_order(dump, rng, free=()):
    state = Ready(dump, free)
    ready = state.first()
    while ready:
        at = rng.randrange(len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        index = ready.pop()
        yield index
        ready += state.take(index)


def extreme_order(dump, newest, free=()):
    """Always the newest that is ready, or the oldest."""
    sign, state = -1 if newest else 1, Ready(dump, free)
    ready = [sign * i for i in state.first()]
    heapq.heapify(ready)
    while ready:
        index = sign * heapq.heappop(ready)
        yield index
        for later in state.take(index):
            heapq.heappush(ready, sign * later)


def object_order(dump, rng, free=()):
    """All that can be done to one object before another one has its turn."""
    state, ready = Ready(dump, free), {}

    def add(indexes):
        for i in indexes:
            arguments = dump.operations[i].arg or {}
            ready.setdefault(arguments.get("object"), []).append(i)

    add(state.first())
    while ready:
        thing = rng.choice(list(ready))
        while ready.get(thing):
            index = ready[thing].pop()
            yield index
            add(state.take(index))
        del ready[thing]


class Recorded:
    """The results that a database has, to tell what differs, and what no mask covers."""

    def __init__(self, path, dump):
        self.db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.ids = {}
        for i, server, handle in self.db.execute("SELECT id, server, handle FROM object"):
            self.ids[server, handle] = i
        self.objects = {o.number: o.source for o in dump.objects}  # {number: id in the database}
        for op in dump.operations:
            if op.made and op.source:
                _, fields, server = self.result(op)
                handle = fields.get("handle")
                self.objects[op.made] = self.ids.get((server, handle), -op.made)

    def result(self, op):
        """(status, fields, server)"""
        row = self.db.execute("SELECT result, server FROM operation WHERE id = ?",
                              (op.source,)).fetchone()
        data = row[0] or b""
        if op.procedure == READ and data[:4] == u32(OK):  # its data is left out
            length = int.from_bytes(data[-4:], "big")
            data += bytes(length + -length % 4)
        try:
            return decode_result(op.procedure, data, whole=False) + (row[1],)
        except (ValueError, struct.error):
            return None, {}, row[1]

    def shown(self, op):
        """{bit: bytes}; objects are those of the database."""
        status, fields, server = self.result(op)
        return groups(op.procedure, status, fields,
                      lambda handle: self.ids.get((server, handle), 0) & 0xffffffff)

    def left_out(self, op):
        """Bits of groups that the result shows and the mask doesn't cover, and of all that it
        shows.  But a listing that is not complete in one reply, a READ that got less than it asked
        for for no reason that the RFC knows, and attributes beside those of a file system are no
        matter of the tree (postproc/digest/expect.h)."""
        shown = set(self.shown(op))
        if op.procedure in (FSSTAT, FSINFO, PATHCONF):
            return set(), set()
        if op.procedure == READ and EXTENT in shown:
            fields = self.result(op)[1]
            if not fields["eof"] and fields["count"] < op.arg["count"]:
                shown.discard(EXTENT)
        if LISTED in shown and self.db.execute(
                "SELECT arguments FROM operation WHERE id = ?", (op.source,)).fetchone()[0][
                    self.cookie_at(op):][:8] != bytes(8):
            shown.discard(LISTED)
        return shown - set(bits_of(op.mask)), shown

    def cookie_at(self, op):
        data = self.db.execute("SELECT arguments FROM operation WHERE id = ?",
                               (op.source,)).fetchone()[0]
        length = int.from_bytes(data[:4], "big")
        return 4 + length + -length % 4

    def explain(self, difference):
        """Text"""
        op, status, values = difference
        head = "operation %d (%d in the database) %s %s" % (op.index, op.source,
                                                            NAMES[op.procedure], op.arg)
        if values is None:
            return "%s: status %d, not %d" % (head, status, op.status)
        out, shown = [], self.shown(op) if op.source else {}
        for bit in bits_of(op.mask):
            one, two = shown.get(bit), values.get(bit)
            if bit == IDENTITY and one and two:
                played = self.objects.get(int.from_bytes(two, "big"), 0) & 0xffffffff
                two = u32(played)
            if bit == LISTED and op.procedure == READDIRPLUS:
                one = one and (len(one), one[:60])
                two = two and (len(two), two[:60])
            if one != two:
                out.append("%s %s, not %s" % (bit_name(bit), shorter(two), shorter(one)))
        return "%s: %s" % (head, "; ".join(out) or "the digest of what is the same")


def shorter(value):
    return value.hex() if isinstance(value, bytes) else repr(value)
