#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1200
"""ftnfsd against the strict model server: random sequences of operations of several users, each
sent to ftnfsd over TCP and done by the model.  Statuses and all fields must be the same, up to the
names that each server gives to objects, times and places in listings: handle for handle, file id for
file id, time for time, cookie for cookie, one to one.

    ftnfsd_model.py [SEED...]     environment: BUILD
"""
import copy
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd  # noqa: E402
from messages import NOENT, OK  # noqa: E402
from model_objects import ATTRIBUTES, ENTRY, ENTRY_HANDLE, LISTING, padded  # noqa: E402
from model_server import Server  # noqa: E402
from model_status import ACCES, BADTYPE, EXIST, INVAL, ISDIR, NOT_SYNC, PERM, TOOSMALL  # noqa: E402
from model_xdr import (BLK, CHR, COMMIT, CREATE, DIR, EXCLUSIVE, FIFO, LINK, NAMES,  # noqa: E402
                       READ, READDIR, READDIRPLUS, SETATTR, SOCK, SYMLINK, WRITE, data_bytes,
                       data_pieces)
from random_operations import Operations  # noqa: E402
from same_replies import Differs, Pairs, Replies  # noqa: E402

SEEDS, OPERATIONS = range(1, 9), 2500
OUR_HANDLE = 20
FIRST = 2 * 10**18  # the model's times: far from those that clients set

# Where ftnfsd does as RFC 1813 says and the model as knfsd does: (procedure, ftnfsd's status,
# the model's).
RFC_SAYS = {
    (READ, INVAL, ISDIR): "s3.3.6 has INVAL for what is no regular file, and no ISDIR",
    (WRITE, INVAL, ISDIR): "s3.3.7: the same",
    (COMMIT, INVAL, ISDIR): "s3.3.21 has neither; as READ and WRITE",
    (SETATTR, INVAL, ISDIR): "s3.3.2 has INVAL, and no ISDIR",
    (LINK, INVAL, ISDIR): "s3.3.15 has INVAL, and no ISDIR",
    (SYMLINK, INVAL, NOENT): "s3.3.10 has neither for an empty text; Linux has NOENT",
}


class World(Replies):
    def __init__(self, rng, client):
        super().__init__("model")
        self.client = client
        self.model = Server(reuse=False)
        self.model.largest_read = self.model.largest_write = 1 << 20
        self.model.listing_verifier = None
        root = self.model.export(b"/w", mode=0o1777)
        root.atime = root.mtime = root.ctime = FIRST
        self.times = Pairs()
        self.handles.same(client.mount(b"/w"), root.handle)
        self.known = [root.handle]
        self.now = FIRST
        self.counts, self.procedure, self.exclusive = {}, None, {}
        self.operations = Operations(rng, self)

    # What Operations asks

    def type_of(self, handle):
        inode = self.model.by_handle.get(handle)
        return inode and inode.type

    def ctime(self, handle):
        inode = self.model.by_handle.get(handle)
        return inode and inode.ctime

    def some_time(self):
        return self.operations.rng.choice(list(self.times.theirs) or [FIRST])

    # One operation

    def for_ours(self, a):
        """Arguments with ftnfsd's handles, times and verifiers."""
        out = dict(a)
        for key in "object", "object2":
            if key in a:
                out[key] = self.handles.theirs[a[key]]
        if a.get("guard") is not None:
            out["guard"] = self.times.theirs.get(a["guard"], a["guard"])
        return out

    # Comparing

    def time(self, what, ours, theirs):
        if theirs >= FIRST:
            self.pair(what, self.times, ours, theirs)
        elif ours != theirs:  # a time that a client set
            self.differs(what, ours, theirs)

    def attributes(self, what, ours, theirs, times=True):
        super().attributes(what, ours, self.without_set_id(ours, theirs), times)

    def found(self, handle, attributes):
        if handle not in self.known:
            self.known.append(handle)

    def without_set_id(self, ours, models):
        """The model leaves set-id bits alone when a file is written or its owner changes; POSIX has
        them cleared (write, chown), or leaves that open."""
        taken = models.mode & ~ours.mode
        if models.type == DIR or not taken or taken & ~0o6000 or ours.mode & ~models.mode or \
                self.procedure not in (WRITE, SETATTR, CREATE):
            return models
        for inode in self.model.by_handle.values():
            if inode.fileid == models.fileid:
                inode.mode = ours.mode
        return models._replace(mode=ours.mode)

    def step(self):
        procedure, a, who = self.operations.next()
        self.now += 1
        self.procedure = procedure
        if procedure in (READDIR, READDIRPLUS):
            return self.listing(procedure, a, who)
        theirs = self.execute(procedure, a, who)
        if "data" in theirs.fields:
            theirs.fields["data"] = data_pieces(data_bytes(theirs.fields["data"]))
        status, fields = self.client.nfs(procedure, self.for_ours(a), who.uid, who.gid, who.gids)
        self.counts[(procedure, status)] = self.counts.get((procedure, status), 0) + 1
        try:
            self.status(procedure, a, who, (status, theirs.status))
            self.fields(fields, theirs.fields)
        except Differs as why:
            raise Differs("%s %r by %r: %s" % (NAMES[procedure], a, tuple(who), why)) from None
        return None

    def status(self, procedure, a, who, statuses):
        """When a request fails for two reasons, the order in which they are looked at is a server's
        own: without rights, and something else.  So it may fail for lack of rights in the place of
        another reason; and for another reason if that is one without rights, too."""
        ours, models = statuses
        if ours == models or (procedure, ours, models) in RFC_SAYS:
            return
        if models != OK and who.uid and ours in (ACCES, PERM):
            return
        if models == EXIST and ours == OK and a.get("how") == EXCLUSIVE and self.exclusive.get(
                self.model.names_of(a["object"])[a["name"]]) == a["verifier"]:
            return  # the model forgets the verifier with the first change, ftnfsd never
        if models != OK and ours == NOT_SYNC and a["guard"] != self.model.by_handle[
                a["object"]].ctime:
            return
        if models != OK and ours == TOOSMALL and a.get("count", a.get("maxcount")) < LISTING:
            return
        if models != OK and ours == BADTYPE and a["type"] not in (BLK, CHR, SOCK, FIFO):
            return
        if models in (ACCES, PERM):
            copied = copy.deepcopy(self.model)
            copied.permissions = False
            other = copied.execute(procedure, a, who, self.now).status
            if ours == other or (procedure, ours, other) in RFC_SAYS:
                return
        raise Differs("status %d, model %d" % (ours, models))

    def execute(self, procedure, a, who):
        """By the model.  knfsd and the model keep an exclusive CREATE's verifier in times, ftnfsd does
        not."""
        result = self.model.execute(procedure, a, who, self.now)
        made = result.roles.get("made")
        if made and a.get("how") == EXCLUSIVE:
            self.exclusive[made.handle] = a["verifier"]
            made.atime = made.mtime = self.now
            result.fields["attributes"] = made.attributes()
        return result

    def listing(self, procedure, a, who):
        """A whole listing in pieces.  Each has as many of the model's entries as fit the bytes that
        were asked for, and not one less: counted here, since handles have other lengths."""
        ours, theirs = dict(self.for_ours(a)), dict(a)
        limit = "count" if procedure == READDIR else "maxcount"
        plus = 0 if procedure == READDIR else 4 + ATTRIBUTES + ENTRY_HANDLE + OUR_HANDLE
        theirs[limit] = None
        while True:
            self.now += 1
            directory = self.model.by_handle.get(a["object"])
            read_at = directory and directory.atime
            said = self.model.execute(procedure, theirs, who, self.now)
            status, fields = self.client.nfs(procedure, ours, who.uid, who.gid, who.gids)
            self.counts[(procedure, status)] = self.counts.get((procedure, status), 0) + 1
            what = "%s %r by %r" % (NAMES[procedure], theirs, tuple(who))
            entries = said.fields.get("entries", [])
            sizes = [ENTRY + padded(e[1]) + plus for e in entries]
            if status == TOOSMALL and entries and LISTING + sizes[0] > ours[limit]:
                directory.atime = read_at  # nothing was read
                return
            try:
                self.status(procedure, {**theirs, limit: ours[limit]}, who, (status, said.status))
            except Differs as why:
                raise Differs("%s: %s" % (what, why)) from None
            if said.fields.get("attributes"):
                self.attributes(what, fields["attributes"], said.fields["attributes"])
            if status:
                return
            count = len(fields["entries"])
            self.entries(what, a["object"], fields["entries"], entries)
            if LISTING + sum(sizes[:count]) > ours[limit] or fields["eof"] != (
                    count == len(entries)) or not fields["eof"] and \
                    LISTING + sum(sizes[:count + 1]) <= ours[limit]:
                raise Differs("%s: %d of %d entries in %d bytes, eof %r" % (
                    what, count, len(entries), ours[limit], fields["eof"]))
            if fields["eof"]:
                return
            ours.update(cookie=fields["entries"][-1][2], verifier=fields["verifier"])
            theirs.update(cookie=entries[count - 1][2], verifier=said.fields["verifier"])

    def entries(self, what, a_handle, ours, theirs):
        for one, other in zip(ours, theirs):
            if one[1] != other[1]:
                raise Differs("%s: %r, model %r" % (what, [e[1] for e in ours],
                                                   [e[1] for e in theirs]))
            self.pair("%s: %r: file id" % (what, one[1]), self.fileids, one[0], other[0])
            if len(one) > 3:
                # the model's own access time has changed before it shows itself
                itself = other[3].fileid == self.model.by_handle[a_handle].fileid
                self.attributes("%s: %r" % (what, one[1]), one[3], other[3], times=not itself)
                self.pair("%s: %r: handle" % (what, one[1]), self.handles, one[4], other[4])
                self.found(other[4], other[3])


def run(seed):
    with Ftnfsd("--export", "/w(no_root_squash)") as server:
        world = World(random.Random(seed), Client(server))
        try:
            for n in range(OPERATIONS):
                world.step()
        except (Differs, ConnectionError) as why:
            print("seed %d, operation %d: %s" % (seed, n, why))
            return 1, world.counts
        code, _, err = server.stop()
        if code or err:
            print("seed %d: ftnfsd ended with %d: %s" % (seed, code, err))
            return 1, world.counts
    return 0, world.counts


def main():
    failed, seen = 0, {}
    for seed in [int(s) for s in sys.argv[1:]] or SEEDS:
        bad, counts = run(seed)
        failed += bad
        for key, count in counts.items():
            seen[key] = seen.get(key, 0) + count
    print("%d operations, %d kinds of outcomes (procedure and status)" % (
        sum(seen.values()), len(seen)))
    if len(seen) < 60 and len(sys.argv) == 1:
        print("too few kinds of outcomes: the test does not try what it should")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
