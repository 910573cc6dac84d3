# SPDX-License-Identifier: GPL-2.0-or-later
"""Objects of the model server: inodes, their contents, and nodes, the form in which a tree is given
to a server and taken from one.
"""
import dataclasses

from model_xdr import DIR, LNK, REG, Attributes

BLOCK = 4096
LONGEST_LINK = 4096


class Contents:
    """What is in a file: extents [start, end, fill], in order, without overlap; the rest is zeros.
    Fills are as in pieces of data (model_xdr)."""

    __slots__ = ("extents",)

    def __init__(self):
        self.extents = []

    def write(self, offset, pieces):
        for length, fill in pieces:
            self.clear(offset, offset + length)
            if length and fill != 0:
                self.insert(offset, offset + length, fill)
            offset += length

    def insert(self, start, end, fill):
        at = len(self.extents)
        while at and self.extents[at - 1][0] > start:
            at -= 1
        left = self.extents[at - 1] if at else None
        if left and left[1] == start and left[2] == fill and isinstance(fill, int):
            left[1] = end
        else:
            self.extents.insert(at, [start, end, fill])

    def clear(self, start, end):
        """[start, end) becomes zeros. |end| None: all behind."""
        kept = []
        for low, high, fill in self.extents:
            if high <= start or (end is not None and low >= end):
                kept.append([low, high, fill])
                continue
            if low < start:
                kept.append([low, start, fill])
            if end is not None and high > end:
                kept.append([end, high, behind(fill, end - low)])
        self.extents = kept

    def read(self, start, end):
        pieces, at = [], start
        for low, high, fill in self.extents:
            if high <= at or low >= end:
                continue
            if low > at:
                add_piece(pieces, low - at, 0)
                at = low
            stop = min(high, end)
            add_piece(pieces, stop - at, behind(fill, at - low))
            at = stop
        if at < end:
            add_piece(pieces, end - at, 0)
        return pieces


def behind(fill, distance):
    return fill if isinstance(fill, int) else (fill[0], fill[1] + distance)


def add_piece(pieces, length, fill):
    if pieces and isinstance(fill, int) and pieces[-1][1] == fill:
        pieces[-1] = (pieces[-1][0] + length, fill)
    else:
        pieces.append((length, fill))


@dataclasses.dataclass
class Node:
    """An object of a tree that is given to a server. |key|: its handle (what calls will say: bytes,
    or any other key such as an id). |names|: [(key of the directory, name)], in the order in which
    a listing shows them there; a node without names is a root. |nlink|: None: as many as there are
    names (2 and its subdirectories for a directory)."""
    key: object
    type: int = REG
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    size: int = 0
    nlink: int | None = None
    rdev: tuple = (0, 0)
    text: bytes = b""
    fsid: int = 1
    fileid: int | None = None
    atime: int = 0
    mtime: int = 0
    ctime: int = 0
    names: list = dataclasses.field(default_factory=list)
    export: bytes | None = None  # a root's path in MOUNT's words
    number: int | None = None    # a taken one: Inode.number


class Inode:
    """|number| is never used again, unlike |fileid|. |names|: [(directory, name)]. |entries| of a
    directory: {name: [inode, cookie]}, cookies growing."""

    __slots__ = ("number", "handle", "type", "mode", "nlink", "uid", "gid", "size", "rdev", "fsid",
                 "fileid", "atime", "mtime", "ctime", "contents", "text", "entries", "parent",
                 "next_cookie", "verifier", "names", "export")

    def __init__(self, number, kind, handle=None):
        self.number, self.handle, self.type = number, handle, kind
        self.mode = self.uid = self.gid = self.size = self.fileid = 0
        self.nlink = 1
        self.fsid, self.rdev, self.text = 1, (0, 0), b""
        self.atime = self.mtime = self.ctime = 0
        self.contents = Contents() if kind == REG else None
        self.entries = {} if kind == DIR else None
        self.parent = self.verifier = self.export = None
        self.next_cookie = 3  # 1 and 2 are those of "." and ".."
        self.names = []
        if kind == DIR:
            self.size, self.nlink = BLOCK, 2

    def __repr__(self):
        return "<inode %d type %d %s>" % (self.number, self.type, self.path().decode("latin-1"))

    def attributes(self):
        used = -(-self.size // BLOCK) * BLOCK if self.type in (REG, DIR) else 0
        return Attributes(self.type, self.mode, self.nlink, self.uid, self.gid, self.size, used,
                          self.rdev, self.fsid, self.fileid, self.atime, self.mtime, self.ctime)

    def path(self):
        """Through its first name; b"?" begins that of an object without one."""
        parts, at = [], self
        while at.names:
            parts.append(at.names[0][1])
            at = at.names[0][0]
        return b"/".join([at.export or b"?"] + parts[::-1])

    def node(self):
        names = [(directory.handle, name) for directory, name in self.names]
        return Node(self.handle, self.type, self.mode, self.uid, self.gid, self.size, self.nlink,
                    self.rdev, self.text, self.fsid, self.fileid, self.atime, self.mtime,
                    self.ctime, names, self.export, self.number)


def inode_of(node, number):
    inode = Inode(number, node.type, node.key)
    for field in ("mode", "uid", "gid", "rdev", "fsid", "atime", "mtime", "ctime", "export"):
        setattr(inode, field, getattr(node, field))
    inode.text = node.text if node.type == LNK else b""
    inode.fileid = number if node.fileid is None else node.fileid
    if node.type == REG:
        inode.size = node.size
    elif node.type == LNK:
        inode.size = len(node.text) or node.size
    return inode
