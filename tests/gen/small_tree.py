# SPDX-License-Identifier: GPL-2.0-or-later
"""A small tree on a live server, and a request of each procedure that succeeds there, for tests.

Arguments are those of model_xdr.
"""
from model_xdr import (ACCESS, COMMIT, CREATE, FIFO, FILE_SYNC, FSINFO, FSSTAT, GETATTR, LINK, LOOKUP,
                       MKDIR, MKNOD, PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REMOVE, RENAME,
                       RMDIR, SETATTR, SYMLINK, UNCHECKED, WRITE)

NO_VERIFIER = bytes(8)


def create(directory, name, how=UNCHECKED, **settings):
    return {"object": directory, "name": name, "how": how, "settings": settings,
            "verifier": b"verifier"}


def write(file, offset, data, stable=FILE_SYNC):
    return {"object": file, "offset": offset, "count": len(data), "stable": stable,
            "data": [(len(data), data[0])] if data else []}


class Tree:
    """In an empty export, made by root."""

    def __init__(self, client, path):
        self.client, self.root = client, client.mount(path)
        self.dir = self.make(MKDIR, b"dir", mode=0o755)
        self.full = self.make(MKDIR, b"full", mode=0o755)
        self.file = client.nfs(CREATE, create(self.root, b"file", mode=0o644))[1]["handle"]
        client.nfs(CREATE, create(self.full, b"x", mode=0o600))
        self.link = client.nfs(SYMLINK, {"object": self.root, "name": b"link", "settings": {},
                                         "text": b"file"})[1]["handle"]
        self.fifo = client.nfs(MKNOD, {"object": self.root, "name": b"fifo", "settings": {},
                                       "type": FIFO, "rdev": (0, 0)})[1]["handle"]
        self.gone = self.make(MKDIR, b"gone")
        client.nfs(RMDIR, {"object": self.root, "name": b"gone"})

    def make(self, procedure, name, **settings):
        return self.client.nfs(procedure, {"object": self.root, "name": name,
                                           "settings": settings})[1]["handle"]


def requests(t):
    """Arguments by procedure; those of REMOVE, RMDIR and RENAME name nothing that is there."""
    return {
        GETATTR: {"object": t.file}, SETATTR: {"object": t.file, "settings": {"mode": 0o644}},
        LOOKUP: {"object": t.root, "name": b"file"}, ACCESS: {"object": t.file, "access": 1},
        READLINK: {"object": t.link}, READ: {"object": t.file, "offset": 0, "count": 1},
        WRITE: write(t.file, 0, b"four"), CREATE: create(t.root, b"file"),
        MKDIR: {"object": t.root, "name": b"dir", "settings": {}},
        SYMLINK: {"object": t.root, "name": b"link", "settings": {}, "text": b"text"},
        MKNOD: {"object": t.root, "name": b"fifo", "settings": {}, "type": FIFO},
        REMOVE: {"object": t.root, "name": b"nothing"}, RMDIR: {"object": t.root, "name": b"nothing"},
        RENAME: {"object": t.root, "name": b"no", "object2": t.root, "name2": b"no2"},
        LINK: {"object": t.file, "object2": t.root, "name2": b"file"},
        READDIR: {"object": t.root, "cookie": 0, "verifier": NO_VERIFIER, "count": 4096},
        READDIRPLUS: {"object": t.root, "cookie": 0, "verifier": NO_VERIFIER, "dircount": 4096,
                      "maxcount": 4096},
        FSSTAT: {"object": t.root}, FSINFO: {"object": t.root}, PATHCONF: {"object": t.root},
        COMMIT: {"object": t.file, "offset": 0, "count": 0},
    }
