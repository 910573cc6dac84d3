# SPDX-License-Identifier: GPL-2.0-or-later
"""A tree of a replay dump as text, for "nfsdigest rdump --undump": all types, modes, owners, times,
names with odd bytes, several roots, hard links with and without a name.

    write(path, objects, seed=1)     returns a dictionary: path below the export -> Node
"""
import random
import subprocess

TIME = 1700000000 * 10**9
FILE, DIRECTORY, BLOCK, CHARACTER, LINK, SOCKET, FIFO = range(1, 8)
ALL = 0x3ff
SIZES = (0, 0, 0, 1, 511, 4096, 4097, 20000, 65536)


class Node:
    def __init__(self, number, kind):
        self.number, self.type = number, kind
        self.mode, self.uid, self.gid, self.nlink, self.size = 0o644, 0, 0, 1, 0
        self.atime = self.mtime = TIME
        self.rdev, self.link, self.names = (0, 0), b"", []


def escape(name):
    return "".join(chr(b) if 33 <= b < 127 and b != 92 else "\\x%02x" % b for b in name)


def node(r, number, kind):
    n = Node(number, kind)
    n.mode = r.choice((0o644, 0o600, 0o755, 0o4755, 0o2750, 0o1777, 0, 0o7777))
    n.uid, n.gid = r.choice((0, 1000, 65534, 4294967294)), r.choice((0, 100, 4294967294))
    n.atime, n.mtime = TIME - r.randrange(10**18), TIME - r.randrange(10**18)
    if kind == FILE:
        n.size = r.choice(SIZES)
    elif kind in (BLOCK, CHARACTER):
        n.rdev = (r.randrange(255), r.randrange(255))
    elif kind == LINK:
        n.link = bytes(r.randrange(33, 255) for _ in range(r.randrange(1, 60)))
        n.size = len(n.link)
    return n


def kind_of(r, files_only):
    if files_only:
        return FILE if r.random() < .99 else DIRECTORY
    return r.choices((FILE, DIRECTORY, BLOCK, CHARACTER, LINK, SOCKET, FIFO),
                     (50, 15, 2, 2, 8, 2, 2))[0]


def record(kind, **fields):
    return kind + "".join(" %s=%s" % (k.replace("_major", ".major").replace("_minor", ".minor"), v)
                          for k, v in fields.items())


def make(objects, seed=1, files_only=False):
    """(nodes, entries as (parent, node, name), paths)"""
    r = random.Random(seed)
    roots = [node(r, 1, DIRECTORY), node(r, 2, DIRECTORY), node(r, 3, FILE)]
    nodes, entries = roots[:], []
    paths = {b"root-%d" % n.number: n for n in roots}
    where = {n.number: b"root-%d" % n.number for n in roots}
    directories, full = roots[:2], {}
    while len(nodes) < objects:
        n = node(r, len(nodes) + 1, kind_of(r, files_only))
        parent = r.choice(directories[-50:]) if r.random() < .9 else r.choice(directories)
        name = b"%s%d" % (r.choice((b"f", b"\xc3\xa4", b"\xff\x01 ", b"x" * 200)), n.number)
        for _ in range(2 if n.type != DIRECTORY and not files_only and r.random() < .1 else 1):
            entries.append((parent, n, name))
            path = where[parent.number] + b"/" + name
            paths[path] = n
            where.setdefault(n.number, path)
            n.names.append(path)
            parent, name = r.choice(directories), b"link-%d" % n.number
        n.nlink = len(n.names)
        if n.type == FILE and not files_only and r.random() < .05:
            n.nlink += r.randrange(1, 4)
        nodes.append(n)
        if n.type == DIRECTORY:
            directories.append(n)
    del full
    return nodes, entries, paths


def text(nodes, entries, seed=1):
    lines = ["rdump 2.0", record("trace", time=TIME, horizon=65536, fine=1, copies=1, tool="test"),
             record("host", number=1, address="192.0.2.1")]
    for n in nodes:
        fields = dict(number=n.number, server=1, type=n.type, knows="0x%x" % ALL,
                      mode="0%o" % n.mode, uid=n.uid, gid=n.gid, nlink=n.nlink,
                      rdev_major=n.rdev[0], rdev_minor=n.rdev[1], size=n.size, atime=n.atime,
                      mtime=n.mtime, ctime=n.mtime)
        if n.link:
            fields["link"] = escape(n.link)
        lines.append(record("object", **fields, source=n.number))
    entries = entries[:]
    random.Random(seed).shuffle(entries)
    lines += [record("entry", parent=p.number, object=n.number, name=escape(name))
              for p, n, name in entries]
    return "\n".join(lines + ["end", ""])


def write(nfsdigest, path, objects, seed=1, files_only=False):
    nodes, entries, paths = make(objects, seed, files_only)
    with open(path + ".txt", "w", encoding="ascii") as out:
        out.write(text(nodes, entries, seed))
    subprocess.run([nfsdigest, "rdump", "--undump", path + ".txt", "--output", path], check=True)
    return paths
