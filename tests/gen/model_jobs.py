# SPDX-License-Identifier: GPL-2.0-or-later
"""What processes of client machines do: jobs, as coroutines that yield lists of calls made at once,
and get the operations when all replies are there.

A process learns handles from replies alone. Which names to try it may peek at in the server, as if
another process of its machine had told it.
"""
import model_xdr as x
from messages import OK, STALE
from model_status import ACCES
from model_tree import new_name
from model_xdr import (ACCESS, COMMIT, CREATE, FSINFO, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, MKNOD,
                       PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REMOVE, RENAME, RMDIR,
                       SETATTR, SYMLINK, WRITE)

CHUNK = 8192
KNOWN_MOST = 60
CROWDED = 40

# How often a job is done
WEIGHTS = {
    "walk": 10, "read_file": 8, "make_file": 8, "recreate": 4, "save": 4, "silly": 3, "overlap": 4,
    "truncate": 4, "listing": 4, "make_directories": 4, "move": 5, "links": 4, "symlinks": 3,
    "nodes": 2, "look_around": 6, "change_attributes": 4, "tidy": 6, "errors": 3,
}


class File:
    """Something that is no directory, and the name under which it was met."""
    __slots__ = ("handle", "parent", "name", "type")

    def __init__(self, handle, parent, name, kind):
        self.handle, self.parent, self.name, self.type = handle, parent, name, kind


class Process:
    def __init__(self, world, host, who, number):
        self.world, self.host, self.who, self.rng = world, host, who, world.rng
        self.number = number  # on its host
        self.directories, self.files = list(world.roots), []
        self.pending, self.unanswered = [], 0
        self.coroutine = None

    # What the world calls

    def next_calls(self):
        done, self.pending = self.pending, []
        for op in done:
            if op.result.status in (STALE, ACCES) and self.rng.random() < 0.7:
                self.forget(op.arguments["object"])
        if self.coroutine is None:
            self.coroutine = self.work()
            return next(self.coroutine)
        return self.coroutine.send(done)

    def work(self):
        for root in self.world.roots:
            yield [(FSINFO, {"object": root}), (PATHCONF, {"object": root})]
        for root in self.world.roots:
            for name in b"shared", b"tmp", b"u%d" % self.who.uid:
                self.remember((yield from self.one(LOOKUP, object=root, name=name)), root, name)
        names, weights = zip(*self.world.jobs.items())
        while True:
            yield from getattr(self, self.rng.choices(names, weights)[0])()

    def know(self, nodes):
        """Nodes of the tree before."""
        for node in nodes:
            if node.type == x.DIR and node.names:
                self.directories.append(node.key)
            elif node.names:
                self.files.append(File(node.key, node.names[0][0], node.names[0][1], node.type))

    # Tools

    def one(self, procedure, **arguments):
        """A call alone; its operation."""
        return (yield [(procedure, arguments)])[0]

    def remember(self, op, parent, name):
        """What a LOOKUP, or a call that makes something, gave. Its File, or None."""
        fields = op.result.fields
        if op.result.status != OK or not fields.get("handle"):
            return None
        if fields["attributes"].type == x.DIR:
            if fields["handle"] not in self.directories:
                keep(self.rng, self.directories, fields["handle"], len(self.world.roots))
            return None
        file = File(fields["handle"], parent, name, fields["attributes"].type)
        keep(self.rng, self.files, file)
        return file

    def forget(self, handle):
        if handle in self.directories and handle not in self.world.roots:
            self.directories.remove(handle)
        self.files = [f for f in self.files if handle not in (f.handle, f.parent)]

    def directory(self):
        """Some known directory; seldom a root, where few may write."""
        roots = len(self.world.roots)
        known = self.directories
        if len(known) > roots and self.rng.random() < 0.9:
            return known[self.rng.randrange(roots, len(known))]
        return self.rng.choice(known)

    def peek(self, directory):
        """A name that is in there now, or a new one."""
        inode = self.world.server.by_handle.get(directory)
        if inode is None or not inode.entries or self.rng.random() < 0.1:
            return new_name(self.rng)
        return self.rng.choice(list(inode.entries))

    def file(self, kind=None):
        """A File (of type |kind|) that was met before, or is looked up now; None: no luck."""
        known = [f for f in self.files if kind in (None, f.type)]
        if known and self.rng.random() < 0.8:
            return self.rng.choice(known)
        parent = self.directory()
        name = self.peek(parent)
        op = yield from self.one(LOOKUP, object=parent, name=name)
        file = self.remember(op, parent, name)
        return file if file and kind in (None, file.type) else None

    def settings(self):
        return {"mode": self.rng.choice((0o644, 0o600, 0o664, 0o666, 0o755))}

    def writes(self, handle, offset, size, step=CHUNK):
        calls = []
        while size > 0:
            count = min(size, step)
            calls.append((WRITE, {"object": handle, "offset": offset, "count": count,
                                  "stable": self.rng.choice((0, 0, 0, 1, 2)),
                                  "data": [(count, self.rng.randrange(256))]}))
            offset, size = offset + count, size - count
        return calls

    def create(self, parent, name):
        """Its File, or None."""
        how = self.rng.choice((x.UNCHECKED, x.UNCHECKED, x.GUARDED, x.EXCLUSIVE))
        arguments = {"object": parent, "name": name, "how": how}
        if how == x.EXCLUSIVE:
            arguments["verifier"] = self.rng.randbytes(8)
        else:
            arguments["settings"] = self.settings()
            if self.rng.random() < 0.3:
                arguments["settings"]["size"] = 0
        op = yield from self.one(CREATE, **arguments)
        file = self.remember(op, parent, name)
        if file and how == x.EXCLUSIVE:
            times = {"atime": x.SERVER_TIME, "mtime": x.SERVER_TIME}
            yield [(SETATTR, {"object": file.handle, "settings": dict(self.settings(), **times),
                              "guard": None})]
        return file

    # Jobs

    def walk(self):
        directory = self.rng.choice(self.world.roots)
        for _ in range(self.rng.randrange(1, 5)):
            name = self.peek(directory) if self.rng.random() < 0.85 else new_name(self.rng)
            op = yield from self.one(LOOKUP, object=directory, name=name)
            if op.result.status != OK:
                continue
            self.remember(op, directory, name)
            if op.result.fields["attributes"].type != x.DIR:
                break
            directory = op.result.fields["handle"]
            yield [(ACCESS, {"object": directory, "access": 0x1f})]

    def read_file(self):
        file = yield from self.file()
        if not file:
            return
        ops = yield [(ACCESS, {"object": file.handle, "access": 0x2d}),
                     (GETATTR, {"object": file.handle})]
        if ops[-1].result.status != OK or ops[-1].result.fields["attributes"].type != x.REG:
            return
        size, step = ops[-1].result.fields["attributes"].size, self.rng.choice((CHUNK, 4 * CHUNK))
        offsets = list(range(0, size + 1, step))[:8]
        yield [(READ, {"object": file.handle, "offset": o, "count": step}) for o in offsets]
        if self.rng.random() < 0.2:
            yield [(READ, {"object": file.handle, "offset": size + 10, "count": 100})]

    def make_file(self):
        parent = self.directory()
        file = yield from self.create(parent, new_name(self.rng))
        if not file:
            return
        size = self.rng.choice((0, self.rng.randrange(1, 300), self.rng.randrange(1, 60000)))
        if size:
            yield self.writes(file.handle, 0, size)
            yield [(COMMIT, {"object": file.handle, "offset": self.rng.choice((0, 100)),
                             "count": self.rng.choice((0, size))}),
                   (GETATTR, {"object": file.handle})]

    def recreate(self):
        """One name, several objects one after another; another process may come between."""
        parent, name = self.directory(), b"lock%d" % self.rng.randrange(4)
        for _ in range(self.rng.randrange(2, 5)):
            file = yield from self.create(parent, name)
            if file and self.rng.random() < 0.5:
                yield self.writes(file.handle, 0, self.rng.randrange(1, 400))
            yield [(REMOVE, {"object": parent, "name": name})]

    def save(self):
        """Writes a new file and moves it over the old one, as editors do."""
        parent = self.directory()
        name, draft = self.peek(parent), b"." + new_name(self.rng) + b".swp"
        file = yield from self.create(parent, draft)
        if file:
            yield self.writes(file.handle, 0, self.rng.randrange(1, 20000))
            yield [(RENAME, {"object": parent, "name": draft, "object2": parent, "name2": name})]
            file.name = name
            yield [(LOOKUP, {"object": parent, "name": name}),
                   (LOOKUP, {"object": parent, "name": draft})]

    def silly(self):
        """A file that is removed while it is open (RFC 1813 s4.6)."""
        file = yield from self.file()
        if not file:
            return
        name = b".nfs%016x" % self.rng.getrandbits(48)
        yield [(RENAME, {"object": file.parent, "name": file.name, "object2": file.parent,
                         "name2": name})]
        yield [(READ, {"object": file.handle, "offset": 0, "count": CHUNK})]
        yield [(REMOVE, {"object": file.parent, "name": name})]
        if self.rng.random() < 0.3:
            yield [(GETATTR, {"object": file.handle})]

    def overlap(self):
        file = yield from self.file(x.REG)
        if not file:
            return
        calls = []
        for _ in range(self.rng.randrange(2, 6)):
            calls += self.writes(file.handle, self.rng.randrange(30000),
                                 self.rng.randrange(1, 12000), 3000)
        calls.insert(self.rng.randrange(len(calls)),
                     (READ, {"object": file.handle, "offset": self.rng.randrange(30000),
                             "count": 5000}))
        yield calls[:12]

    def truncate(self):
        file = yield from self.file(x.REG)
        if not file:
            return
        op = yield from self.one(GETATTR, object=file.handle)
        if op.result.status != OK:
            return
        was, guard = op.result.fields["attributes"], None
        if self.rng.random() < 0.3:
            guard = was.ctime if self.rng.random() < 0.6 else was.ctime - 5
        size = self.rng.choice((0, was.size // 2, was.size + 5000, 777))
        yield [(SETATTR, {"object": file.handle, "settings": {"size": size}, "guard": guard})]
        yield [(READ, {"object": file.handle, "offset": max(0, size - 50), "count": 200})]

    def listing(self):
        directory = self.directory()
        procedure = self.rng.choice((READDIR, READDIRPLUS))
        arguments = {"object": directory, "cookie": 0, "verifier": bytes(8)}
        if procedure == READDIR:
            arguments["count"] = self.rng.choice((512, 4096))
        else:
            arguments.update(dircount=1024, maxcount=self.rng.choice((1500, 8192)))
        for _ in range(12):
            op = yield from self.one(procedure, **arguments)
            fields = op.result.fields
            if op.result.status != OK or fields["eof"] or not fields["entries"]:
                break
            last = fields["entries"][-1]
            if self.world.middle and self.rng.random() < self.world.middle:
                last = self.rng.choice(fields["entries"])
            arguments = dict(arguments, cookie=last[2], verifier=fields["verifier"])
        if op.result.status == OK and procedure == READDIRPLUS:
            for entry in fields["entries"]:
                if entry[1] not in (b".", b"..") and entry[3].type == x.REG:
                    keep(self.rng, self.files, File(entry[4], directory, entry[1], x.REG))

    def make_directories(self):
        parent, name = self.directory(), new_name(self.rng)
        op = yield from self.one(MKDIR, object=parent, name=name,
                                 settings={"mode": self.rng.choice((0o755, 0o777, 0o700))})
        self.remember(op, parent, name)
        if op.result.status != OK:
            return
        below, names = op.result.fields["handle"], [new_name(self.rng) for _ in range(3)]
        yield [(CREATE, {"object": below, "name": n, "how": x.UNCHECKED,
                         "settings": self.settings()}) for n in names]
        yield [(LOOKUP, {"object": below, "name": b".."}), (GETATTR, {"object": parent})]
        if self.rng.random() < 0.5:
            yield [(RMDIR, {"object": parent, "name": name})]
            yield [(REMOVE, {"object": below, "name": n}) for n in names]
            yield [(RMDIR, {"object": parent, "name": name})]
            yield [(LOOKUP, {"object": parent, "name": name}), (GETATTR, {"object": below})]

    def move(self):
        source, target = self.directory(), self.directory()
        if self.rng.random() < 0.4:
            target = source
        name = self.peek(source)
        name2 = self.rng.choice((name, new_name(self.rng), self.peek(target)))
        yield [(RENAME, {"object": source, "name": name, "object2": target, "name2": name2})]
        op = yield from self.one(LOOKUP, object=target, name=name2)
        self.remember(op, target, name2)

    def links(self):
        file = yield from self.file()
        if not file:
            return
        directory, name = self.directory(), new_name(self.rng)
        op = yield from self.one(LINK, object=file.handle, object2=directory, name2=name)
        yield [(GETATTR, {"object": file.handle}), (LOOKUP, {"object": directory, "name": name})]
        if op.result.status == OK and self.rng.random() < 0.6:
            gone = self.rng.choice(((file.parent, file.name), (directory, name)))
            yield [(REMOVE, {"object": gone[0], "name": gone[1]})]
            yield [(GETATTR, {"object": file.handle})]

    def symlinks(self):
        parent, name = self.directory(), new_name(self.rng)
        op = yield from self.one(SYMLINK, object=parent, name=name, settings={"mode": 0o777},
                                 text=b"../" + new_name(self.rng))
        file = self.remember(op, parent, name)
        if file:
            yield [(READLINK, {"object": file.handle}), (GETATTR, {"object": file.handle})]

    def nodes(self):
        parent, name = self.directory(), new_name(self.rng)
        kind = self.rng.choice((x.FIFO, x.SOCK, x.CHR, x.BLK))
        arguments = {"object": parent, "name": name, "type": kind, "settings": {"mode": 0o644}}
        if kind in (x.CHR, x.BLK):
            arguments["rdev"] = (self.rng.randrange(1, 20), self.rng.randrange(256))
        op = yield from self.one(MKNOD, **arguments)
        self.remember(op, parent, name)

    def look_around(self):
        root = self.rng.choice(self.world.roots)
        calls = [(GETATTR, {"object": self.directory()}) for _ in range(3)]
        calls += [(ACCESS, {"object": f.handle, "access": 0x3f}) for f in self.files[:3]]
        if self.rng.random() < 0.3:
            calls.append((FSSTAT, {"object": root}))
        yield calls

    def change_attributes(self):
        file = yield from self.file()
        handle = file.handle if file and self.rng.random() < 0.7 else self.directory()
        if handle in self.world.roots:
            return
        settings = self.rng.choice((
            self.settings(), {"gid": 100}, {"uid": 1000 + self.rng.randrange(3)},
            {"atime": x.SERVER_TIME, "mtime": x.SERVER_TIME},
            {"mtime": self.rng.randrange(2**31) * 10**9 + 5}, {}))
        if "mode" in settings and handle in self.directories:
            settings["mode"] |= 0o755
        yield [(SETATTR, {"object": handle, "settings": settings, "guard": None})]
        yield [(GETATTR, {"object": handle})]

    def tidy(self):
        """Removes from where there is much."""
        for _ in range(4):
            directory = self.directory()
            inode = self.world.server.by_handle.get(directory)
            if inode is not None and len(inode.entries) > CROWDED // 4:
                break
        count = 6 if inode is not None and len(inode.entries) > CROWDED else 2
        for _ in range(count):
            name = self.peek(directory)
            kind = inode.entries[name][0].type if inode and name in inode.entries else x.REG
            yield [(RMDIR if kind == x.DIR else REMOVE, {"object": directory, "name": name})]

    def errors(self):
        file, directory = (yield from self.file()), self.directory()
        handle = file.handle if file else directory
        yield self.rng.sample([
            (READ, {"object": directory, "offset": 0, "count": 10}),
            (READLINK, {"object": handle}),
            (LOOKUP, {"object": handle, "name": b"x"}),
            (LOOKUP, {"object": directory, "name": b"n" * 256}),
            (LOOKUP, {"object": directory, "name": b"."}),
            (LOOKUP, {"object": directory, "name": b".."}),
            (GETATTR, {"object": b"not a handle"}),
            (MKDIR, {"object": directory, "name": b"..", "settings": {}}),
            (MKNOD, {"object": directory, "name": b"bad", "type": x.REG, "settings": {}}),
            (RMDIR, {"object": directory, "name": b"."}),
            (REMOVE, {"object": directory, "name": self.peek(directory)}),
            (RMDIR, {"object": directory, "name": self.peek(directory)}),
            (LINK, {"object": directory, "object2": directory, "name2": new_name(self.rng)}),
            (READDIR, {"object": directory, "cookie": 0, "verifier": bytes(8), "count": 100}),
            (READDIR, {"object": directory, "cookie": 99, "verifier": b"mistaken",
                       "count": 1000}),
            (READDIR, {"object": handle, "cookie": 0, "verifier": bytes(8), "count": 1000}),
            (WRITE, {"object": directory, "offset": 0, "count": 3, "stable": 2,
                     "data": [(3, 65)]}),
            (SETATTR, {"object": directory, "settings": {"size": 5}, "guard": None}),
        ], 4)


def keep(rng, known, thing, least=0):
    """Puts |thing| among those that are known; one behind the first |least| may make room."""
    if len(known) < KNOWN_MOST:
        known.append(thing)
    else:
        known[rng.randrange(least, len(known))] = thing
