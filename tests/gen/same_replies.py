# SPDX-License-Identifier: GPL-2.0-or-later
"""The replies of two servers to the same request, field by field, up to the names that each server
gives to objects: handle for handle and file id for file id, one to one.  Times are the caller's.

    class Mine(Replies):
        def time(self, what, ours, theirs): ...
    replies.fields(our_fields, their_fields)

Each difference goes to differs(), which raises Differs unless the caller has other plans.
"""
from model_xdr import DIR, Attributes

# each server's own; who pages through listings compares their entries
OWN = ("verifier", "entries")


class Differs(Exception):
    pass


class Pairs:
    """What is the same thing under two names."""

    def __init__(self):
        self.ours, self.theirs = {}, {}

    def same(self, ours, theirs):
        if self.ours.setdefault(ours, theirs) == theirs and \
                self.theirs.setdefault(theirs, ours) == ours:
            return None
        return "%r is %r there, now %r, which was %r here" % (
            ours, self.ours.get(ours), theirs, self.theirs.get(theirs))


class Replies:
    """|theirs|: what the second server is called."""

    def __init__(self, theirs):
        self.name = theirs
        self.handles, self.fileids = Pairs(), Pairs()

    def differs(self, what, ours, theirs):
        raise Differs("%s: %r, %s %r" % (what, ours, self.name, theirs))

    def time(self, what, ours, theirs):
        raise NotImplementedError

    def found(self, handle, attributes):
        """|handle|: theirs, as one of the two servers' handles that stand for the same object."""

    def pair(self, what, pairs, ours, theirs):
        why = pairs.same(ours, theirs)
        if why:
            self.differs(what, why, theirs)

    def attributes(self, what, ours, theirs, times=True):
        for field in "type mode nlink uid gid size rdev".split():
            if field == "size" and theirs.type == DIR:
                continue  # each server's own
            if getattr(ours, field) != getattr(theirs, field):
                self.differs("%s.%s" % (what, field), getattr(ours, field), getattr(theirs, field))
        self.pair("%s.fileid" % what, self.fileids, ours.fileid, theirs.fileid)
        if times:
            for field in "atime", "mtime", "ctime":
                self.time("%s.%s" % (what, field), getattr(ours, field), getattr(theirs, field))

    def wcc(self, what, ours, theirs):
        if self.both(what + ".before", ours[0], theirs[0]):
            after = theirs[1] or ours[1]
            if ours[0].size != theirs[0].size and not (after and after.type == DIR):
                self.differs(what + ".before.size", ours[0].size, theirs[0].size)
            self.time(what + ".before.mtime", ours[0].mtime, theirs[0].mtime)
            self.time(what + ".before.ctime", ours[0].ctime, theirs[0].ctime)
        if self.both(what + ".after", ours[1], theirs[1]):
            self.attributes(what + ".after", ours[1], theirs[1])

    def both(self, what, ours, theirs):
        """There is something to compare."""
        if (ours is None) != (theirs is None):
            self.differs(what, ours and "follows", theirs and "follows")
        return ours is not None and theirs is not None

    def fields(self, ours, theirs):
        for key in theirs:
            if key in OWN:
                continue
            if key in ("wcc", "wcc2"):
                self.wcc(key, ours[key], theirs[key])
            elif not self.both(key, ours[key], theirs[key]):
                continue
            elif isinstance(theirs[key], Attributes):
                self.attributes(key, ours[key], theirs[key])
            elif key == "handle":
                self.pair(key, self.handles, ours[key], theirs[key])
                self.found(theirs[key], theirs.get("attributes"))
            elif ours[key] != theirs[key]:
                self.differs(key, ours[key], theirs[key])
