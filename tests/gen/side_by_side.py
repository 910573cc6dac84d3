# SPDX-License-Identifier: GPL-2.0-or-later
"""The same random operations on two live servers at once, ftnfsd and another one.

    world = World(rng, (ours, theirs), (our_root, their_root), table, relatime, folder)
    while ...: world.step()

table.explain(Difference) returns a row with |name| and |stays| (the trees differ from now on), or None:
then the difference is in world.unexplained.  table.is_costly() tells requests that are made seldom,
table.is_left_out() those that are not made, and table.may_have_changed() those that may do something
although they fail.  |relatime|: their file system does not note each access.  |folder|: the operations
are in folders whose names begin so.  After a difference that leaves the two trees different, they go on
in a new one.

The two servers' clocks are one: a time stands for the operations of the moment in which it was taken.
Moments are apart by more than a tick of the clock that file systems take times from.
"""
import bisect
import collections
import time

from messages import OK, STALE
from model_objects import ATTRIBUTES, ENTRY, ENTRY_HANDLE, LISTING, padded
from model_xdr import (ACCESS, CREATE, EXCLUSIVE, GETATTR, LOOKUP, MKDIR, NAMES, PATHCONF, READ,
                       READDIR, READDIRPLUS, READLINK, SERVER_TIME, SETATTR)
from random_operations import Operations
from same_replies import Differs, Pairs, Replies

TICK = time.clock_getres(time.CLOCK_REALTIME_COARSE) if hasattr(time, "CLOCK_REALTIME_COARSE") else 0.01
ASKING = (GETATTR, LOOKUP, ACCESS, READLINK, READ, READDIR, READDIRPLUS, PATHCONF)
STEPS = 4  # operations between two ticks
PAGES = 1000  # of a listing: more is a listing without end

# of one field, or of "status"; |type|: of what the field's attributes belong to, or None
Difference = collections.namedtuple(
    "Difference", "procedure arguments who what ours theirs type replies world")


def size_of(procedure, fields):
    """Bytes of a listing's resok."""
    size = LISTING + sum(ENTRY + padded(e[1]) for e in fields["entries"])
    if procedure == READDIRPLUS:
        size += sum(4 + (ATTRIBUTES if e[3] else 0) + 4 + (4 + padded(e[4]) if e[4] else 0)
                    for e in fields["entries"])
    return size


class Moments:
    """Some operations each, told apart by their times (in ns)."""

    def __init__(self):
        self.begins, self.ends = [], []

    def begin(self):
        if self.begins:
            self.ends[-1] = time.time_ns()
        time.sleep(2.5 * TICK)
        self.begins.append(time.time_ns() - int(2 * TICK * 1e9))  # a late tick, and some
        self.ends.append(None)

    def name(self, ns):
        """Of the moment, or the time itself when a client set it."""
        at = bisect.bisect_right(self.begins, ns) - 1
        return "moment %d" % at if at >= 0 and ns <= (self.ends[at] or time.time_ns()) else ns


class World(Replies):
    def __init__(self, rng, clients, roots, table, relatime, folder):
        super().__init__("theirs")
        self.clients, self.roots, self.table = clients, roots, table
        self.operations = Operations(rng, self, far=False)
        self.relatime, self.folder = relatime, folder
        self.moments, self.number, self.afresh = Moments(), 0, 0
        self.differences, self.unexplained = [], []
        self.explained, self.outcomes = collections.Counter(), collections.Counter()
        self.now = self.type = None
        self.begin_afresh()

    def begin_afresh(self):
        """In a new directory, in which nothing is known to differ."""
        self.afresh += 1
        self.moments.begin()
        self.handles, self.fileids = Pairs(), Pairs()
        self.by_handle, self.by_fileid, self.our_ctimes = {}, {}, {}
        made = []
        for client, root in zip(self.clients, self.roots):
            name = ("%s%d" % (self.folder, self.afresh)).encode()
            status, fields = client.nfs(MKDIR, {"object": root, "name": name,
                                                "settings": {"mode": 0o1777}})
            if status != OK:
                raise Differs("MKDIR in the root: status %d" % status)
            made.append(fields)
        self.pair("handle", self.handles, made[0]["handle"], made[1]["handle"])
        self.pair("fileid", self.fileids, made[0]["attributes"].fileid, made[1]["attributes"].fileid)
        self.top = made[1]["handle"]
        self.found(self.top, made[1]["attributes"])

    # What Operations asks; handles are theirs

    @property
    def known(self):
        return list(self.by_handle)

    def type_of(self, handle):
        attributes = self.by_handle.get(handle)
        return attributes and attributes.type

    def ctime(self, handle):
        attributes = self.by_handle.get(handle)
        return attributes.ctime if attributes and handle in self.our_ctimes else None

    def some_time(self):
        return self.operations.rng.choice([a.ctime for a in self.by_handle.values() if a])

    # Comparing

    def differs(self, what, ours, theirs):
        self.differences.append(self.now._replace(what=what, ours=ours, theirs=theirs,
                                                  type=self.type))

    def time(self, what, ours, theirs):
        one, other = self.moments.name(ours), self.moments.name(theirs)
        if one != other:
            self.differs(what, one, other)

    def found(self, handle, attributes):
        if attributes:
            self.free(attributes.fileid, handle)
            self.by_handle[handle] = attributes
            self.by_fileid[attributes.fileid] = handle
        else:
            self.by_handle.setdefault(handle, None)

    def pair(self, what, pairs, ours, theirs):
        """File systems give the number of what is gone to a new object."""
        if pairs is self.fileids and pairs.same(ours, theirs):
            for number in theirs, pairs.ours.get(ours):
                self.free(number)
        super().pair(what, pairs, ours, theirs)

    def free(self, number, handle=None):
        """Forgets a file id, unless its object is |handle| or lives."""
        old = self.by_fileid.get(number)
        if old is None or old != handle and self.is_gone(old):
            self.fileids.ours.pop(self.fileids.theirs.pop(number, None), None)
            self.by_fileid.pop(number, None)

    def is_gone(self, handle):
        ask = [client.nfs(GETATTR, {"object": h})[0] for client, h in zip(
            self.clients, (self.handles.theirs[handle], handle))]
        if ask == [STALE, STALE]:
            self.by_handle[handle] = None
        return ask == [STALE, STALE]

    def attributes(self, what, ours, theirs, times=True):
        self.type = theirs.type
        super().attributes(what, ours, theirs, times)
        self.type = None
        handle = self.by_fileid.get(theirs.fileid)
        if self.by_handle.get(handle):
            self.by_handle[handle] = theirs
            self.our_ctimes[handle] = ours.ctime

    # One operation

    def for_ours(self, a):
        out = dict(a)
        for key in "object", "object2":
            if key in a:
                out[key] = self.handles.theirs[a[key]]
        return out

    def is_unwanted(self, procedure, a, who):
        """Also the root of the export, which the two servers did not make."""
        return self.table.is_costly(procedure, a, who) and self.operations.rng.random() < 0.95 or \
            self.table.is_left_out(procedure, self.type_of(a["object"])) or \
            a["object"] == self.top and a.get("name") == b".."

    def step(self):
        procedure, a, who = self.operations.next()
        if self.is_unwanted(procedure, a, who):
            return
        self.number += 1
        mine = self.for_ours(a)
        if a.get("guard") is not None:
            mine["guard"] = self.our_guard(a)
        if self.number % STEPS == 0:
            self.moments.begin()
        do = self.listing if procedure in (READDIR, READDIRPLUS) else self.once
        replies = [do(client, procedure, args, who) for client, args in zip(self.clients, (mine, a))]
        self.differences = []
        self.now = Difference(procedure, a, who, None, None, None, None, replies, self)
        (ours, our_fields), (theirs, their_fields) = replies
        self.outcomes[(procedure, ours)] += 1
        if ours != theirs:
            self.differs("status", ours, theirs)
        else:
            self.compare(our_fields, their_fields)
            if ours == STALE:
                self.forget_gone(a)
        self.judge((ours == OK) != (theirs == OK) and procedure not in ASKING or
                   self.table.may_have_changed(procedure, a, theirs))
        if procedure == CREATE and a["how"] == EXCLUSIVE and ours == theirs == OK and \
                their_fields["handle"] in self.by_handle:
            self.set_attributes(their_fields["handle"])

    def set_attributes(self, handle):
        """As clients must after an EXCLUSIVE create."""
        ours, theirs = [client.nfs(SETATTR, {"object": h, "settings": {
            "mode": 0o644, "atime": SERVER_TIME, "mtime": SERVER_TIME}})[1]["wcc"][1]
            for client, h in zip(self.clients, (self.handles.theirs[handle], handle))]
        self.by_handle[handle], self.our_ctimes[handle] = theirs, ours.ctime

    def our_guard(self, a):
        """The time that ftnfsd said when the other server said this one, which may be past."""
        if a["guard"] == self.ctime(a["object"]):
            return self.our_ctimes[a["object"]]
        return a["guard"]

    def forget_gone(self, a):
        for key in "object", "object2":
            if key in a and self.by_handle.get(a[key]):
                self.is_gone(a[key])

    def judge(self, trees_differ):
        """Explained differences are counted; after any that stays, a new directory."""
        stays = trees_differ
        for difference in self.differences:
            why = self.table.explain(difference)
            if why is None:
                self.unexplained.append(difference)
                stays = True
            else:
                self.explained[why.name] += 1
                stays |= why.stays
        if stays:
            self.begin_afresh()

    def once(self, client, procedure, a, who):
        return client.nfs(procedure, a, who.uid, who.gid, who.gids)

    def listing(self, client, procedure, a, who):
        """A whole listing: the first reply's fields, with all entries by their names."""
        first, entries, a = None, {}, dict(a)
        for _ in range(PAGES):
            status, fields = self.once(client, procedure, a, who)
            if status != OK:
                return status, first or fields
            first = first or fields
            first["size"] = max(first.get("size", 0), size_of(procedure, fields))
            for entry in fields["entries"]:
                if entry[1] in entries:
                    self.now = Difference(procedure, a, who, None, None, None, None, [], self)
                    raise Differs("%s: %r is listed twice" % (NAMES[procedure], entry[1]))
                entries[entry[1]] = entry
            if fields["eof"]:
                return OK, {**first, "entries": entries, "eof": True}
            a.update(cookie=fields["entries"][-1][2], verifier=fields["verifier"])
        raise Differs("%s: more than %d replies" % (NAMES[procedure], PAGES))

    def compare(self, ours, theirs):
        if "entries" not in theirs:
            self.fields(ours, theirs)
            return
        most = self.now.arguments.get("count", self.now.arguments.get("maxcount"))
        sizes = [fields.pop("size") for fields in (ours, theirs)]
        if max(sizes) > most:
            self.differs("size", *["%d bytes of %d" % (s, most) for s in sizes])
        self.fields(ours, theirs)
        mine, others = ours["entries"], theirs["entries"]
        if set(mine) != set(others):
            self.differs("entries", sorted(set(mine) - set(others)), sorted(set(others) - set(mine)))
        for name in sorted(set(mine) & set(others)):
            self.entry("entry", mine[name], others[name])

    def entry(self, what, ours, theirs):
        if ours[1] == b".." and self.now.arguments["object"] == self.top:
            return
        self.pair(what + ".fileid", self.fileids, ours[0], theirs[0])
        if len(ours) > 3:
            if self.both(what + ".attributes", ours[3], theirs[3]):
                self.attributes(what + ".attributes", ours[3], theirs[3])
            if self.both(what + ".handle", ours[4], theirs[4]):
                self.pair(what + ".handle", self.handles, ours[4], theirs[4])
                self.found(theirs[4], theirs[3])
