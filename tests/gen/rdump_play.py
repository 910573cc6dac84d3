# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays replay dumps on the model server, in any order that their dependencies allow.

    dump = Dump("x.rdump")
    replay = Replay(dump)              # plays the recorded order; .differences
    for difference in replay.play(random_order(dump, random.Random(1))):
        print(difference)
    replay.skipped                     # {reason: operations that cannot be replayed}

Nothing but the dump is read, and of it no more is kept than schemas/rdump.md says: the handles of
objects that are used until they are forgotten, the cookies that a listing names.  After each
operation its status must be the expected one, and the digest of the groups in its mask, computed
here from what the model server replied as model/effect/expect.h says, the recorded one; where
the dump has values, they must have that digest, and are compared one by one when attributes are
absent.  Recorded (below) tells groups that differ apart.

What the trace does not show of the tree before is as the dump guesses; an object without a type is
a file.  A file system is what entries, and RENAMEs and LINKs that got past the check of it, hold
together.

Arguments are played as they are, but for what only the recorded server can know: a guard on ctime
is met or missed as it was; a cookie is the one that this server gave at the place that the dump
names; an unknown object is a handle that is bad or stale, as it is expected.
"""
import collections
import heapq
import sqlite3
import struct

import rdump_file
from messages import NOENT, OK
from model_files import Node
from model_server import ROOT, Server, Who
from model_status import (BAD_COOKIE, BADHANDLE, EXIST, INVAL, ISDIR, NOTDIR, NOT_SYNC, NOTEMPTY,
                          TOOSMALL)
from model_xdr import (CREATE, DIR, EXCLUSIVE, FSINFO, FSSTAT, NAMES, PATHCONF, READ, REG, REMOVE,
                       RENAME, RMDIR, WRITE, decode_arguments, decode_result)
from rdump_values import (BEHIND, BESIDE, EXTENT, GRANTED, GROUPS, IDENTITY, LISTED, LISTINGS, MODE,
                          OF_FOUND, OF_OBJECT, OWNER, SIZE, SOME, bit_name, bits_of, groups,
                          mismatch, names_of, recorded_names, u32)

AUTH_SYS, NOBODY = 1, Who(65534, 65534)
UNKNOWN, FOREIGN = 0, b"no handle of this server"
NEVER = -1  # no inode's ctime

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
    return a


class Dump:
    """|operations| have |arg|, their arguments (None: unplayable), and |who|."""

    def __init__(self, path):
        self.objects, self.entries, self.operations = [], [], []
        self.credentials, self.trace, self.end = {UNKNOWN: NOBODY}, None, None
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
        names, fsids = collections.defaultdict(list), self.file_systems()
        for entry in self.entries:
            names[entry.object].append((entry.parent, entry.name))
        out = []
        for o in self.objects:
            kind = o.type or REG
            out.append(Node(
                o.number, kind, names=names[o.number], fsid=fsids[o.number], size=o.size,
                mode=o.mode, uid=o.uid, gid=o.gid,
                nlink=o.nlink, rdev=o.rdev, text=o.link))
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


Difference = collections.namedtuple("Difference", "op status values why")


class Mistake(Exception):
    """The dump lacks what a player needs."""


class Run:
    """One play: what a player keeps while it goes on."""

    def __init__(self, dump, server):
        self.dump, self.server = dump, server
        self.kept = {o.number for o in dump.objects if o.used}
        self.places = {}  # {(operation, entries): (cookie, verifier, Names, reached the end)}
        self.done, self.oldest = [False] * len(dump.operations), 0
        self.in_parts = 0  # replies before the ones that have BEHIND

    def handle(self, number_):
        if number_ not in (UNKNOWN, FOREIGN) and number_ not in self.kept:
            raise Mistake("uses object %d, which it has no handle of" % number_)

    def retire(self, index):
        """Everything up to some operation was answered."""
        operations, self.done[index] = self.dump.operations, True
        while self.oldest < len(operations) and self.done[self.oldest]:
            for number_ in operations[self.oldest].forget:
                self.kept.discard(number_)
            self.oldest += 1
            last = self.oldest - self.dump.trace.horizon
            if last >= 0:
                for entries in operations[last].cookies:
                    self.places.pop((last, entries), None)

    def place_of(self, op):
        """(cookie, verifier, Names)"""
        if not op.cookie_from:
            if op.status == OK:
                raise Mistake("goes on with a cookie that no operation gave")
            return 0, bytes(8), None
        place = self.places.get((op.index - op.cookie_from, op.cookie_entries))
        if place is None:
            raise Mistake("has a cookie behind %d entries of operation %d, which did not say so" % (
                op.cookie_entries, op.index - op.cookie_from))
        return place

    def keep_places(self, op, fields, before):
        for count in op.cookies:
            most = min(count, len(fields["entries"]))
            names = names_of(op.procedure, fields, before, most)
            cookie = fields["entries"][most - 1][2] if most else op.arg["cookie"]
            self.places[op.index, count] = cookie, fields["verifier"], names

    def execute(self, op):
        """(status, {bit: bytes})"""
        arguments, before = op.arg, None
        listing = op.procedure in LISTINGS
        if op.inferred and not op.credential:
            raise Mistake("is inferred, and nobody may do it")
        for key in "object", "object2":
            if key in arguments:
                self.handle(arguments[key])
        if listing and arguments["cookie"] and op.status not in (BAD_COOKIE, TOOSMALL):
            cookie, verifier, before = self.place_of(op)
            arguments = dict(arguments, cookie=cookie, verifier=verifier)
        result = self.server.execute(op.procedure, arguments, op.who, op.index + 1,
                                     op.made or None)
        values = groups(op.procedure, result.status, result.fields)
        if op.made:
            self.kept.add(op.made)
        if op.mask >> IDENTITY & 1 and result.fields.get("handle") is not None:
            self.handle(result.fields["handle"])
        if listing and result.status == OK:
            self.keep_places(op, result.fields, before)
            if op.mask >> LISTED & 1:
                values.update(self.list_on(op, arguments, result.fields, before).values())
            self.look_for_names(op)
        return result.status, values

    def list_on(self, op, arguments, fields, before):
        """To the end, where this server splits listings otherwise."""
        names = names_of(op.procedure, fields, before)
        while not fields["eof"]:
            last = fields["entries"][-1][2]
            more = self.server.execute(op.procedure, dict(
                arguments, cookie=last, verifier=fields["verifier"]), op.who, op.index + 1)
            if more.status != OK:
                raise Mistake("goes on with status %d" % more.status)
            fields = more.fields
            names = names_of(op.procedure, fields, names)
        part = op if op.mask >> BEHIND & 1 else None
        while part:  # this server may show them in another reply
            for _, object_ in recorded_names(part):
                self.handle(object_)
            self.in_parts += part is not op
            part = self.dump.operations[part.index - part.cookie_from] if part.cookie_from else None
        return names

    def look_for_names(self, op):
        if not op.mask >> SOME & 1:
            return
        there = self.server.names_of(op.arg["object"])
        for name, object_ in recorded_names(op):
            if name not in there or object_ and there[name] != object_:
                raise Mistake("must show %r" % name)
            self.handle(object_)


class Replay:
    """|like|: attributes of the Server in which the recorded one was another: |default_mode|, what
    it gives files whose CREATE says none; |longest_name|. It has no limits to the length of a READ
    or WRITE. |ignore|: bits of groups that are this server's own business."""

    def __init__(self, dump, permissions=True, ignore=0, **like):
        self.dump, self.permissions, self.ignore = dump, permissions, ignore
        self.like = dict(like, largest_read=1 << 31, largest_write=1 << 31)
        self.nodes = dump.nodes()
        self.skipped = collections.Counter(op.unplayable for op in dump.operations
                                           if op.unplayable)
        self.in_parts = 0  # of Run, of the last play
        self.differences = self.play(range(len(dump.operations)))

    def server(self):
        server = Server(permissions=self.permissions)
        for key, value in self.like.items():
            setattr(server, key, value)
        server.load(self.nodes)
        return server

    def play(self, order, most=20):
        """|order|: indexes of all operations. Returns up to |most| Differences."""
        operations, out, count = self.dump.operations, [], 0
        run = Run(self.dump, self.server())
        for index in order:
            op, count = operations[index], count + 1
            if op.arg is not None:
                try:
                    status, values = run.execute(op)
                    wrong = None
                    if status == op.status:
                        wrong = mismatch(op, values, self.ignore)
                    if status != op.status or wrong:
                        out.append(Difference(op, status, values if wrong == "differs" else None,
                                              wrong))
                except Mistake as mistake:
                    out.append(Difference(op, op.status, None, str(mistake)))
            run.retire(index)
            self.in_parts = run.in_parts
            if len(out) >= most:
                return out
        if count != len(operations):
            raise ValueError("%d operations played of %d" % (count, len(operations)))
        if run.kept and not out:
            out.append(Difference(operations[-1], OK, None, "%d objects are never forgotten: %s" % (
                len(run.kept), sorted(run.kept)[:5])))
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
        self.ids, self.exclusive = {}, set()
        for i, server, handle in self.db.execute("SELECT id, server, handle FROM object"):
            self.ids[server, handle] = i
        self.objects = {o.number: o.source for o in dump.objects}  # {number: id in the database}
        for op in dump.operations:
            if op.made and op.source:
                _, fields, server = self.result(op)
                handle = fields.get("handle")
                self.objects[op.made] = self.ids.get((server, handle), -op.made)
                if op.procedure == CREATE and op.arg["how"] == EXCLUSIVE:
                    self.exclusive.add(self.objects[op.made])

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
        for for no reason that the RFC knows, attributes beside those of a file system, and what a
        server chooses after an exclusive CREATE are no matter of the tree
        (model/effect/expect.h)."""
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
            shown -= {LISTED, BEHIND}
        handle = self.result(op)[1].get("handle")
        for whose, object_ in ((OF_OBJECT, self.objects.get(op.arg.get("object"))),
                               (OF_FOUND, self.ids.get((self.result(op)[2], handle)))):
            if object_ in self.exclusive:
                own = {GROUPS * whose + g for g in (MODE, OWNER, SIZE)} | {GRANTED}
                shown -= own - set(bits_of(op.mask))
        return shown - set(bits_of(op.mask)), shown

    def cookie_at(self, op):
        data = self.db.execute("SELECT arguments FROM operation WHERE id = ?",
                               (op.source,)).fetchone()[0]
        length = int.from_bytes(data[:4], "big")
        return 4 + length + -length % 4

    def explain(self, difference):
        """Text"""
        op, status, values, why = difference
        head = "operation %d (%d in the database) %s %s" % (op.index, op.source,
                                                            NAMES[op.procedure], op.arg)
        if why and why != "differs":
            return "%s: %s" % (head, why)
        if values is None:
            return "%s: status %d, not %d" % (head, status, op.status)
        out, shown = [], self.shown(op) if op.source else {}
        for bit in bits_of(op.mask):
            one, two = shown.get(bit), values.get(bit)
            if bit == IDENTITY and one and two:
                played = self.objects.get(int.from_bytes(two, "big"), 0) & 0xffffffff
                two = u32(played)
            if one != two:
                out.append("%s %s, not %s" % (bit_name(bit), shorter(two), shorter(one)))
        return "%s: %s" % (head, "; ".join(out) or "the digest of what is the same")


def shorter(value):
    return value.hex() if isinstance(value, bytes) else repr(value)
