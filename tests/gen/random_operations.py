# SPDX-License-Identifier: GPL-2.0-or-later
"""Random operations of several users, for two servers that must do the same.

    operations = Operations(rng, objects)
    procedure, arguments, who = operations.next()

Arguments are those of model_xdr.  |objects| says what there is:

    objects.known           handles, also of what is gone
    objects.type_of(handle) ftype3, or None when it is gone
    objects.ctime(handle)   None when it is gone
    objects.some_time()     any time that a server said
"""
from model_server import Who
from model_xdr import (ACCESS, BLK, CHR, COMMIT, CREATE, DIR, EXCLUSIVE, FIFO, GETATTR, GUARDED, LINK, LOOKUP,
                       MKDIR, MKNOD, PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REG, REMOVE,
                       RENAME, RMDIR, SERVER_TIME, SETATTR, SOCK, SYMLINK, UNCHECKED, WRITE)

USERS = [Who(0, 0), Who(1000, 1000, (4, 24)), Who(1001, 1000), Who(1002, 1002, (1000, 24)),
         Who(1000, 1000, (4, 24))]
WEIGHTS = {GETATTR: 3, SETATTR: 10, LOOKUP: 8, ACCESS: 4, READLINK: 3, READ: 6, WRITE: 8, CREATE: 12,
           MKDIR: 8, SYMLINK: 4, MKNOD: 4, REMOVE: 7, RMDIR: 5, RENAME: 12, LINK: 6, READDIR: 4,
           READDIRPLUS: 4, PATHCONF: 1, COMMIT: 2}


class Operations:
    """|far|: offsets that some file systems cannot have are among those of WRITE."""

    def __init__(self, rng, objects, far=True):
        self.rng, self.objects = rng, objects
        self.offsets = [0, 2, 4095, 4096, 9000, 1 << 40] + [2**63 - 50] * far

    def next(self):
        procedure = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        return procedure, self.arguments(procedure), self.rng.choice(USERS)

    # Parts of arguments

    def handle(self):
        """Mostly of those that live; now and then one that is gone."""
        living = [h for h in self.objects.known if self.objects.type_of(h)]
        return self.rng.choice(self.objects.known if self.rng.random() < 0.03 else living)

    def directory(self):
        directories = [h for h in self.objects.known if self.objects.type_of(h) == DIR]
        return self.rng.choice(directories) if self.rng.random() < 0.95 else self.handle()

    def name(self):
        roll = self.rng.random()
        if roll < 0.02:
            return self.rng.choice([b".", b".."])
        if roll < 0.03:
            return bytes([self.rng.randrange(1, 256)]).replace(b"/", b"x") * self.rng.choice(
                [1, 255, 256])
        return b"n%d" % self.rng.randrange(12)

    def settings(self, size=True):
        rng, out = self.rng, {}
        if rng.random() < 0.6:
            out["mode"] = rng.choice([0o644, 0o600, 0o755, 0o777, 0o700, 0o1777, 0o2775, 0o000, 0o4711])
        if rng.random() < 0.1:
            out["uid"] = rng.choice([0, 1000, 1001])
        if rng.random() < 0.15:
            out["gid"] = rng.choice([0, 24, 1000, 1002])
        if rng.random() < 0.2 and size:
            out["size"] = rng.choice([0, 1, 4095, 4097, 10000, 1 << 40])
        for key in "atime", "mtime":
            if rng.random() < 0.15:
                out[key] = rng.choice([SERVER_TIME, rng.randrange(1 << 32) * 10**9 + rng.randrange(10**9)])
        return out

    # Arguments

    def arguments(self, procedure):
        rng = self.rng
        if procedure in (GETATTR, READLINK, PATHCONF):
            return {"object": self.handle()}
        if procedure == SETATTR:
            return self.setattr()
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
                    "offset": rng.choice(self.offsets),
                    "data": [(count, rng.randrange(256))] if count else []}
        if procedure in (CREATE, MKDIR, SYMLINK, MKNOD):
            return self.making(procedure)
        if procedure in (RENAME, LINK):
            a = {"object": self.directory() if procedure == RENAME else self.handle(),
                 "object2": self.directory(), "name2": self.name()}
            return {**a, "name": self.name()} if procedure == RENAME else a
        count = rng.choice([100, 200, 500, 4096])
        a = {"object": self.directory(), "cookie": 0, "verifier": bytes(8)}
        return {**a, "count": count} if procedure == READDIR else \
            {**a, "dircount": 1 << 20, "maxcount": 4 * count}

    def setattr(self):
        a = {"object": self.handle(), "settings": self.settings()}
        if self.rng.random() < 0.2 and self.objects.ctime(a["object"]) is not None:
            a["guard"] = self.objects.ctime(a["object"]) if self.rng.random() < 0.7 else \
                self.objects.some_time()
        return a

    def making(self, procedure):
        rng, a = self.rng, {"object": self.directory(), "name": self.name()}
        if procedure == CREATE:
            how = rng.choice([UNCHECKED, UNCHECKED, GUARDED, EXCLUSIVE])
            return {**a, "how": how, "verifier": bytes([rng.randrange(3)]) * 8} \
                if how == EXCLUSIVE else {**a, "how": how, "settings": self.settings()}
        a["settings"] = self.settings(size=False)
        if procedure == SYMLINK:
            a["text"] = rng.choice([b"n1", b"../x", b"", b"y" * 300])
        if procedure == MKNOD:
            a["type"] = rng.choice([BLK, CHR, FIFO, SOCK, SOCK, FIFO, REG, 9])
            a["rdev"] = (rng.randrange(300), rng.randrange(300))
        return a
