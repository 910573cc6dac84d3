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
from model_server import Server, Who  # noqa: E402
from model_status import ACCES, BADTYPE, EXIST, INVAL, ISDIR, NOT_SYNC, PERM, TOOSMALL  # noqa: E402
from model_xdr import (ACCESS, BLK, CHR, COMMIT, CREATE, DIR, EXCLUSIVE, FIFO, FILE_SYNC,  # noqa: E402
                       GETATTR, GUARDED, LINK, LNK, LOOKUP, MKDIR, MKNOD, NAMES, PATHCONF, READ,
                       READDIR, READDIRPLUS, READLINK, REG, REMOVE, RENAME, RMDIR, SERVER_TIME,
                       SETATTR, SOCK, SYMLINK, UNCHECKED, WRITE, Attributes, Before, data_bytes,
                       data_pieces)

SEEDS, OPERATIONS = range(1, 9), 2500
USERS = [Who(0, 0), Who(1000, 1000, (4, 24)), Who(1001, 1000), Who(1002, 1002, (1000, 24)),
         Who(1000, 1000, (4, 24))]
OUR_HANDLE = 20
DIRECTORY_SIZE = 4096  # of the model; files here never have it before an operation
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

WEIGHTS = {GETATTR: 3, SETATTR: 10, LOOKUP: 8, ACCESS: 4, READLINK: 3, READ: 6, WRITE: 8, CREATE: 12,
           MKDIR: 8, SYMLINK: 4, MKNOD: 4, REMOVE: 7, RMDIR: 5, RENAME: 12, LINK: 6, READDIR: 4,
           READDIRPLUS: 4, PATHCONF: 1, COMMIT: 2}


class Differs(Exception):
    pass


class Pairs:
    """What is the same thing under two names."""

    def __init__(self, what):
        self.what, self.ours, self.models = what, {}, {}

    def same(self, ours, models):
        if self.ours.setdefault(ours, models) != models or \
                self.models.setdefault(models, ours) != ours:
            raise Differs("%s: %r of ftnfsd is %r, now %r of the model, which was %r" % (
                self.what, ours, self.ours.get(ours), models, self.models.get(models)))


class World:
    def __init__(self, rng, client):
        self.rng, self.client = rng, client
        self.model = Server(reuse=False)
        self.model.largest_read = self.model.largest_write = 1 << 20
        self.model.listing_verifier = None
        root = self.model.export(b"/w", mode=0o1777)
        root.atime = root.mtime = root.ctime = FIRST
        self.handles, self.fileids = Pairs("handle"), Pairs("file id")
        self.times, self.cookies = Pairs("time"), {}
        self.root = root.handle
        self.handles.same(client.mount(b"/w"), root.handle)
        self.known = [root.handle]
        self.now = FIRST
        self.verifier = bytes(8)
        self.counts, self.procedure, self.exclusive = {}, None, {}

    # One operation

    def handle(self):
        """Mostly of those that live; now and then one that is gone."""
        living = [h for h in self.known if h in self.model.by_handle]
        return self.rng.choice(self.known if self.rng.random() < 0.03 else living)

    def directory(self):
        living = [h for h in self.known if h in self.model.by_handle]
        directories = [h for h in living if self.model.by_handle[h].type == DIR]
        return self.rng.choice(directories) if self.rng.random() < 0.95 else self.handle()

    def name(self):
        roll = self.rng.random()
        if roll < 0.02:
            return self.rng.choice([b".", b".."])
        if roll < 0.03:
            return bytes([self.rng.randrange(1, 256)]) .replace(b"/", b"x") * self.rng.choice([1, 255, 256])
        return b"n%d" % self.rng.randrange(12)

    def settings(self):
        rng, out = self.rng, {}
        if rng.random() < 0.6:
            out["mode"] = rng.choice([0o644, 0o600, 0o755, 0o777, 0o700, 0o1777, 0o2775, 0o000, 0o4711])
        if rng.random() < 0.1:
            out["uid"] = rng.choice([0, 1000, 1001])
        if rng.random() < 0.15:
            out["gid"] = rng.choice([0, 24, 1000, 1002])
        if rng.random() < 0.2:
            out["size"] = rng.choice([0, 1, 4095, 4097, 10000, 1 << 40])
        for key in "atime", "mtime":
            if rng.random() < 0.15:
                out[key] = rng.choice([SERVER_TIME, rng.randrange(1 << 32) * 10**9 + rng.randrange(10**9)])
        return out

    def arguments(self, procedure):
        rng = self.rng
        if procedure in (GETATTR, READLINK, PATHCONF):
            return {"object": self.handle()}
        if procedure == SETATTR:
            a = {"object": self.handle(), "settings": self.settings()}
            inode = self.model.by_handle.get(a["object"])
            if rng.random() < 0.2 and inode:
                a["guard"] = inode.ctime if rng.random() < 0.7 else self.known_time()
            return a
        if procedure in (LOOKUP, REMOVE, RMDIR):
            return {"object": self.directory(), "name": self.name()}
        if procedure == ACCESS:
            return {"object": self.handle(), "access": rng.randrange(64)}
        if procedure in (READ, COMMIT):
            return {"object": self.handle(), "offset": rng.choice([0, 1, 4096, 9000, 1 << 40]),
                    "count": rng.choice([1, 100, 4096, 20000])}
        if procedure == WRITE:
            count = rng.choice([0, 1, 100, 4095, 9001])
            return {"object": self.handle(), "count": count, "stable": rng.randrange(3),
                    "offset": rng.choice([0, 2, 4095, 4096, 9000, 1 << 40, 2**63 - 50]),
                    "data": [(count, rng.randrange(256))] if count else []}
        if procedure == CREATE:
            how = rng.choice([UNCHECKED, UNCHECKED, GUARDED, EXCLUSIVE])
            a = {"object": self.directory(), "name": self.name(), "how": how}
            if how == EXCLUSIVE:
                a["verifier"] = bytes([rng.randrange(3)]) * 8
            else:
                a["settings"] = self.settings()
            return a
        if procedure == MKDIR:
            return {"object": self.directory(), "name": self.name(), "settings": self.making()}
        if procedure == SYMLINK:
            return {"object": self.directory(), "name": self.name(), "settings": self.making(),
                    "text": rng.choice([b"n1", b"../x", b"", b"y" * 300])}
        if procedure == MKNOD:
            kind = rng.choice([BLK, CHR, FIFO, SOCK, SOCK, FIFO, REG, 9])
            return {"object": self.directory(), "name": self.name(), "settings": self.making(),
                    "type": kind, "rdev": (rng.randrange(300), rng.randrange(300))}
        if procedure in (RENAME, LINK):
            a = {"object": self.directory() if procedure == RENAME else self.handle(),
                 "object2": self.directory(), "name2": self.name()}
            return {**a, "name": self.name()} if procedure == RENAME else a
        count = rng.choice([100, 200, 500, 4096])
        a = {"object": self.directory(), "cookie": 0, "verifier": bytes(8)}
        return {**a, "count": count} if procedure == READDIR else \
            {**a, "dircount": 1 << 20, "maxcount": 4 * count}

    def making(self):
        return {k: v for k, v in self.settings().items() if k != "size"}

    def known_time(self):
        return self.rng.choice(list(self.times.models) or [FIRST])

    def for_ours(self, a):
        """Arguments with ftnfsd's handles, times and verifiers."""
        out = dict(a)
        for key in "object", "object2":
            if key in a:
                out[key] = self.handles.models[a[key]]
        if a.get("guard") is not None:
            out["guard"] = self.times.models.get(a["guard"], a["guard"])
        return out

    # Comparing

    def time(self, ours, models):
        if models < FIRST:
            if ours != models:
                raise Differs("a time that a client set: %d, model %d" % (ours, models))
        else:
            self.times.same(ours, models)

    def attributes(self, what, ours, models, times=True):
        models = self.without_set_id(ours, models)
        for field in "type mode nlink uid gid size rdev".split():
            if field == "size" and models.type == DIR:
                continue  # each server's own
            if getattr(ours, field) != getattr(models, field):
                raise Differs("%s.%s: %r, model %r" % (what, field, getattr(ours, field),
                                                       getattr(models, field)))
        self.fileids.same(ours.fileid, models.fileid)
        if times:
            for field in "atime", "mtime", "ctime":
                try:
                    self.time(getattr(ours, field), getattr(models, field))
                except Differs as why:
                    raise Differs("%s.%s: %s" % (what, field, why)) from why

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

    def field(self, key, ours, models):
        if (ours is None) != (models is None):
            raise Differs("%s: %r, model %r" % (key, ours, models))
        if isinstance(models, Attributes):
            self.attributes(key, ours, models)
        elif isinstance(models, Before):
            if ours.size != models.size and models.size != DIRECTORY_SIZE:
                raise Differs("%s.size: %d, model %d" % (key, ours.size, models.size))
            self.time(ours.mtime, models.mtime)
            self.time(ours.ctime, models.ctime)
        elif key in ("wcc", "wcc2"):
            self.field(key + ".before", ours[0], models[0])
            self.field(key + ".after", ours[1], models[1])
        elif key == "handle":
            self.handles.same(ours, models)
            if models not in self.known:
                self.known.append(models)
        elif key == "data":
            if ours != data_pieces(data_bytes(models)):
                raise Differs("the data differ")
        elif key not in ("verifier",) and ours != models:
            raise Differs("%s: %r, model %r" % (key, ours, models))

    def step(self):
        procedure = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        a, who = self.arguments(procedure), self.rng.choice(USERS)
        self.now += 1
        self.procedure = procedure
        if procedure in (READDIR, READDIRPLUS):
            return self.listing(procedure, a, who)
        theirs = self.execute(procedure, a, who)
        status, fields = self.client.nfs(procedure, self.for_ours(a), who.uid, who.gid, who.gids)
        self.counts[(procedure, status)] = self.counts.get((procedure, status), 0) + 1
        try:
            self.status(procedure, a, who, (status, theirs.status))
            for key in theirs.fields:
                self.field(key, fields[key], theirs.fields[key])
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
                if ours[limit] < LISTING:
                    directory.atime = read_at  # ftnfsd did not even look
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
            self.fileids.same(one[0], other[0])
            if len(one) > 3:
                # the model's own access time has changed before it shows itself
                itself = other[3].fileid == self.model.by_handle[a_handle].fileid
                self.attributes("%s: %r" % (what, one[1]), one[3], other[3], times=not itself)
                self.field("handle", one[4], other[4])


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
