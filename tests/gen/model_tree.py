# SPDX-License-Identifier: GPL-2.0-or-later
"""A random tree in a model server, as it was before a trace begins."""
import model_xdr as x
from model_server import Who
from model_xdr import (BLK, CHR, CREATE, FIFO, LINK, MKDIR, MKNOD, SYMLINK, UNCHECKED, WRITE)

START = 1_600_000_000 * 10**9  # when the first objects were made
SUFFIXES = (b"", b".c", b".h", b".txt", b".o", b".log", b"~", b".tar.gz")
WORDS = (b"alpha beta gamma delta readme main util index data report notes build lib src test "
         b"config cache image draft final").split()
ODD = (b"with space", b"tab\there", b"\xc3\xa9t\xc3\xa9", b"back\\slash", b"\xff\xfe", b"'quote'",
       b"-dash", b"new\nline", b"%41", b"<tag>&")


def new_name(rng):
    """Names come again, in other directories and in the same one."""
    if rng.random() < 0.03:
        return rng.choice(ODD)
    return rng.choice(WORDS) + (b"%d" % rng.randrange(40) if rng.random() < 0.7 else b"") + \
        rng.choice(SUFFIXES)


class Builder:
    """Fills |server| by calls of its own, a second apart."""

    def __init__(self, server, rng):
        self.server, self.rng, self.now = server, rng, START

    def call(self, procedure, who, **arguments):
        """The handle that was made, or None."""
        self.now += 10**9
        result = self.server.execute(procedure, arguments, who, self.now)
        return result.fields.get("handle") if result.status == 0 else None

    def directory(self, parent, name, who, mode):
        return self.call(MKDIR, who, object=parent, name=name, settings={"mode": mode})

    def file(self, parent, name, who):
        rng = self.rng
        mode = rng.choice((0o644, 0o644, 0o600, 0o664, 0o755, 0o444))
        handle = self.call(CREATE, who, object=parent, name=name, how=UNCHECKED,
                           settings={"mode": mode})
        size = rng.choice((0, rng.randrange(200), rng.randrange(20000), rng.randrange(200000)))
        if handle and size:
            offset = 0
            while offset < size:
                count = min(size - offset, self.server.largest_write)
                self.call(WRITE, who, object=handle, offset=offset, count=count,
                          stable=x.FILE_SYNC, data=[(count, rng.randrange(256))])
                offset += count
        return handle

    def fill(self, directory, who, depth, share):
        """Some entries of every kind; |share| of the usual number."""
        rng, files = self.rng, []
        for _ in range(int(rng.randrange(3, 12) * share) + 1):
            name, kind = new_name(rng), rng.random()
            if kind < 0.6:
                files.append(self.file(directory, name, who))
            elif kind < 0.78 and depth:
                below = self.directory(directory, name, who,
                                       rng.choice((0o755, 0o755, 0o750, 0o700)))
                if below:
                    self.fill(below, who, depth - 1, share)
            elif kind < 0.88:
                text = rng.choice((b"../" + new_name(rng), b"/absent/" + new_name(rng),
                                   new_name(rng)))
                self.call(SYMLINK, who, object=directory, name=name, settings={}, text=text)
            elif kind < 0.96 and any(files):
                self.call(LINK, who, object=rng.choice([f for f in files if f]),
                          object2=directory, name2=name)
            elif who.uid == 0 and rng.random() < 0.5:
                self.call(MKNOD, who, object=directory, name=name,
                          type=rng.choice((BLK, CHR)), settings={"mode": 0o600},
                          rdev=(rng.randrange(1, 250), rng.randrange(256)))
            else:
                self.call(MKNOD, who, object=directory, name=name, type=FIFO,
                          settings={"mode": 0o644})


def build(server, rng, exports, users, depth=2, share=1.0):
    """|exports|: paths; |users|: [(uid, gid, ...)]. In each export: a directory for each user and
    group of files of root, one that all may write, one with the sticky bit."""
    builder, root = Builder(server, rng), Who(0, 0)
    for path in exports:
        top = server.export(path).handle
        builder.fill(top, root, depth, share)
        for name, mode in ((b"shared", 0o777), (b"tmp", 0o1777), (b"closed", 0o711)):
            below = builder.directory(top, name, root, mode)
            if below:
                builder.fill(below, root, depth - 1, share)
        for who in users:
            home = builder.directory(top, b"u%d" % who.uid, root, 0o755)
            if home is None:
                continue
            server.execute(x.SETATTR, {"object": home, "guard": None,
                                       "settings": {"uid": who.uid, "gid": who.gid}}, root)
            builder.fill(home, who, depth, share)
    return builder.now
