#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""ftnfsd --image: a client of our own walks the export and compares each object with what a second
reader says of the dump, and each byte with a second implementation of docs/contents.md.  Dumps of
captures, one by hand with all corners, mtree files; damaged ones, which are not served.

    ftnfsd_image.py     environment: BUILD, NFSDIGEST, CAPTURES
"""
import os
import pathlib
import re
import stat
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import database  # noqa: E402
import rdump_file  # noqa: E402
import scratch  # noqa: E402
from fill import fill  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from messages import NFS, auth_sys  # noqa: E402
from model_xdr import (BLK, CHR, CREATE, DIR, FILE_SYNC, GETATTR, LNK, LOOKUP, READ, READDIR,  # noqa: E402
                       READLINK, REG, SETATTR, WRITE, Cursor, encode_arguments)
from rdump_values import hash64  # noqa: E402

CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or HERE.parent.parent / "captures")
PIECE, WHOLE = 1 << 16, 1 << 18
failures = []


def check(good, *what):
    if not good:
        failures.append(" ".join(map(str, what)))
    return good


# --- what a client sees

class View:
    def __init__(self, client, path):
        self.client, self.root = client, client.mount(path)

    def ask(self, procedure, **arguments):
        status, fields = self.client.nfs(procedure, arguments)
        if status:
            raise RuntimeError("status %d of %r" % (status, arguments))
        return fields

    def names(self, directory):
        found, cookie, verifier, eof = [], 0, bytes(8), False
        while not eof:
            listing = self.ask(READDIR, object=directory, cookie=cookie, verifier=verifier, count=8192)
            found += [name for _, name, _ in listing["entries"]]
            cookie, verifier, eof = listing["entries"][-1][2], listing["verifier"], listing["eof"]
        return [name for name in found if name not in (b".", b"..")]

    def read(self, handle, offset, count):
        arguments = {"object": handle, "offset": offset, "count": count}
        c = Cursor(self.client.rpc(READ, encode_arguments(READ, arguments), credential=auth_sys(0, 0)))
        if c.u32():
            raise RuntimeError("a READ failed")
        c.optional(c.attributes)
        count, eof, data = c.u32(), c.u32(), c.opaque()
        return data, eof

    def walk(self):
        """{path: (handle, attributes)}, a path as a tuple of names."""
        found, queue = {}, [((), self.root)]
        while queue:
            path, handle = queue.pop()
            attributes = self.ask(GETATTR, object=handle)["attributes"]
            found[path] = handle, attributes
            if attributes.type == DIR:
                for name in self.names(handle):
                    queue.append((path + (name,), self.ask(LOOKUP, object=handle, name=name)["handle"]))
        return found


def check_contents(view, what, handle, key, size):
    """Small files as a whole; of large ones the ends, and pieces at powers of two."""
    places = list(range(0, size, PIECE)) if size <= WHOLE else \
        [0, PIECE - 1, size // 2, size - PIECE, size - 3] + [1 << n for n in range(17, 63) if 1 << n < size]
    for place in places:
        data, eof = view.read(handle, place, PIECE)
        left = min(PIECE, size - place)
        if not check(data == fill(key, place, left), what, "contents at", place) or \
                not check(eof == (place + left == size), what, "eof at", place):
            return


# --- dumps

class Dump:
    def __init__(self, path):
        self.objects, self.entries = {}, []
        for kind, record in rdump_file.read(path):
            if kind == "object":
                self.objects[record.number] = record
            elif kind == "entry":
                self.entries.append(record)

    def paths(self):
        """{path: number}, also of links that no entry shows."""
        of, names = {}, {}
        for e in self.entries:
            of.setdefault(e.parent, []).append(e)
            names[e.object] = names.get(e.object, 0) + 1
        queue = [((b"root-%d" % n,), n) for n in self.objects if n not in names]
        found = {}
        for path, number in queue:
            found[path] = number
            queue += [(path + (e.name,), e.object) for e in of.get(number, ())]
        for number, o in self.objects.items():
            if o.type != DIR:
                for k in range(1, o.nlink - max(names.get(number, 0), 1) + 1):
                    found[b"scratch", b"link-%d-%d" % (number, k)] = number
        return found


def check_object(view, path, number, o, names, seen):
    handle, a = seen
    what = b"/".join(path).decode(errors="replace")
    check(a.type == (o.type or REG), what, "type", a.type)
    check((a.mode, a.uid, a.gid) == (o.mode, o.uid, o.gid), what, "owner or mode", a)
    check((a.atime, a.mtime, a.ctime) == (o.atime, o.mtime, o.ctime), what, "times", a)
    if a.type != DIR:
        check(a.nlink == names, what, "links", a.nlink, "not", names)
    if a.type in (BLK, CHR):
        check(a.rdev == tuple(o.rdev), what, "device", a.rdev)
    if a.type == LNK:
        text = o.link or b"x" * min(max(o.size, 1), 4095)
        check(view.ask(READLINK, object=handle)["text"] == text, what, "text")
    if a.type == REG:
        check(a.size == o.size, what, "size", a.size)
        check_contents(view, what, handle, number, o.size)


def check_dump(path, name=b"/i"):
    dump = Dump(path)
    should = dump.paths()
    with Ftnfsd("--export", name.decode(), "--image", str(path), "--no-atime") as server:
        view = View(Client(server), name)
        seen = view.walk()
        extra = [(b"scratch",)] if any(p[0] == b"scratch" for p in should) else []
        check(set(seen) == set(should) | {(), *extra}, path, "paths:",
              sorted(set(seen) ^ (set(should) | {(), *extra}))[:5])
        names, handles = {}, {}
        for p, number in should.items():
            names[number] = names.get(number, 0) + 1
        for p, number in should.items():
            if p in seen:
                check_object(view, p, number, dump.objects[number], names[number], seen[p])
                check(handles.setdefault(number, seen[p][0]) == seen[p][0], p, "is another object")
        check(len(set(handles.values())) == len(handles), path, "objects that are one")
        said = " ".join(server.lines)
        check("%d" % len(dump.objects) in said.replace(",", ""), path, "objects told:", said)
    return dump


def of_captures(folder):
    for capture, part in ("vfs-libnfs-all22", 0.6), ("knfsd-tcp-mtu1500", 0.7), ("pair-ganesha-vfs", 0.5):
        path, dump = folder / (capture + ".db"), folder / (capture + ".rdump")
        database.ingest(path, CAPTURES / (capture + ".pcap.zst"))
        count = database.rows(path, "SELECT count(*) FROM operation")[0][0]
        time = database.rows(path, "SELECT ifnull(call_time, reply_time) FROM operation ORDER BY id "
                             "LIMIT 1 OFFSET %d" % int(count * part))[0][0]
        start = subprocess.run(["date", "-u", "-d", "@%d" % (time // 10**9), "+%F %T"], check=True,
                               capture_output=True, text=True).stdout.strip()
        subprocess.run([database.program(), "rdump", "-o", dump, "--from",
                        "%s.%09d" % (start, time % 10**9), path], check=True, capture_output=True)
        read = check_dump(dump)
        check(len(read.objects) > 20, capture, "has few objects:", len(read.objects))
        yield dump


CORNERS = r"""rdump 2.0
trace time=1000000000000000000 horizon=64 fine=1 copies=1 tool=by\x20hand
host number=1 address=192.0.2.1
host number=2 address=192.0.2.2
object number=1 server=1 type=2 mode=02755 uid=1 gid=2 nlink=4 atime=1000 mtime=2000000000 ctime=3000000000
object number=2 server=1 type=2 mode=01777 uid=3 gid=4 nlink=2 mtime=4294967295999999999
object number=3 server=1 type=1 mode=04711 uid=5 gid=6 nlink=5 size=70000 atime=1 mtime=2 ctime=3
object number=4 server=1 mode=0600 nlink=3 size=9223372036854775807 mtime=5
object number=5 server=1 type=3 mode=0600 nlink=1 rdev.major=8 rdev.minor=1
object number=6 server=1 type=4 mode=0620 nlink=2 rdev.major=4294967295 rdev.minor=7
object number=7 server=1 type=5 mode=0777 nlink=1 size=6 link=../a\x20b
object number=8 server=1 type=5 mode=0777 nlink=1 size=11
object number=9 server=1 type=5 mode=0777 nlink=2
object number=10 server=1 type=6 mode=0755 nlink=1
object number=11 server=1 type=7 mode=0644 nlink=1 uid=4294967294
object number=12 server=2 type=2 mode=0700 nlink=2
object number=13 server=2 type=1 mode=0 nlink=1 size=1099511627776
object number=14 server=2 type=1 mode=0666 nlink=0 size=1
object number=15 server=2 type=1 mode=0644 nlink=1
entry parent=2 object=3 name=deep
entry parent=1 object=2 name=d
entry parent=1 object=3 name=\x00\x01?
entry parent=1 object=3 name=again
entry parent=1 object=4 name=NAME
entry parent=1 object=6 name=c
entry parent=1 object=7 name=l
entry parent=2 object=8 name=l
entry parent=2 object=9 name=m
entry parent=2 object=10 name=s
entry parent=2 object=11 name=p
entry parent=12 object=13 name=scratch
entry parent=12 object=15 name=root-1
end hosts=2 objects=15 entries=13
""".replace("NAME", "n" * 255).replace(r"\x00\x01", r"\xff\x01")


def by_hand(folder, text, name):
    (folder / (name + ".txt")).write_text(text)
    path = folder / (name + ".rdump")
    done = subprocess.run([database.program(), "rdump", "--undump", folder / (name + ".txt"), "-o", path],
                          check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return path


def written(path):
    """What a client writes stands; the rest is made up, and zeros where it was cut off."""
    with Ftnfsd("--export", "/i", "--image", str(path)) as server:
        view = View(Client(server), b"/i")
        directory = view.ask(LOOKUP, object=view.root, name=b"root-1")["handle"]
        file = view.ask(LOOKUP, object=directory, name=b"again")["handle"]
        should = bytearray(fill(3, 0, 70000))
        for offset, data in (5000, b"new"), (65530, b"\0" * 100):
            view.ask(WRITE, object=file, offset=offset, count=len(data), stable=FILE_SYNC,
                     data=[(1, byte) for byte in data])
            should[offset:offset + len(data)] = data
        for size in 66000, 80000:
            view.ask(SETATTR, object=file, settings={"size": size})
        should = bytes(should[:66000]) + bytes(14000)
        data = view.read(file, 0, 40000)[0] + view.read(file, 40000, 40001)[0]
        check(data == should, "a file that was written and cut")
        made = view.client.nfs(CREATE, {"object": view.root, "name": b"new", "how": 0, "settings": {},
                                        "verifier": bytes(8)}, uid=7)[0]
        check(made == 0, "making a file beside the roots:", made)


# --- what is not served

def tried(*options):
    """Ends soon even if it serves."""
    command = Ftnfsd(*map(str, options), "--for", "0.1s").command
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def refused(folder, content, words, name="bad"):
    path = folder / name
    path.write_bytes(content)
    done = tried("--export", "/i", "--image", path)
    check(done.returncode == 3, words, "exit code", done.returncode)
    check(str(path) in done.stderr and re.search(words, done.stderr), words, "not in", done.stderr)
    check("nfs://" not in done.stdout, words, "was served")


def damaged(folder, good):
    content = good.read_bytes()
    refused(folder, b"", "mtree")
    refused(folder, b"root:x:0:0:root:/root:/bin/bash\n", "mtree")
    for cut in 9, 40, 2000, len(content) // 2:
        refused(folder, content[:cut], "truncated at offset")
    middle = bytearray(content)
    middle[len(middle) // 2] ^= 16
    refused(folder, bytes(middle), "damaged|checksum")
    for what, to, words in (
            ("object=15 name=root-1", "object=16 name=root-1", r"entry 13: refers to object 16"),
            ("entry parent=12 object=13", "entry parent=3 object=13", "not a directory"),
            ("name=again", "name=d", "has the directory and the name of entry 2"),
            ("name=again", "name=..", "this name is not possible"),
            ("entry parent=1 object=2 name=d", "entry parent=2 object=2 name=d", "below itself"),
            ("number=4 server=1", "number=5 server=1", "object 4: has number 5"),
            ("number=14 server=2 type=1", "number=14 server=2 type=9", "object 14: type 9"),
            ("size=9223372036854775807", "size=9223372036854775808", "object 4: its size"),
            ("nlink=5 size=70000", "nlink=65001 size=70000", "object 3: more than 65,000 links"),
            ("name=" + "n" * 255, "name=" + "n" * 256, "object 4: a name is longer"),
            ("link=../a", "link=" + "x" * 4096, "link's text longer")):
        assert CORNERS.count(what) == 1, what
        path = by_hand(folder, CORNERS.replace(what, to), "corner")
        refused(folder, path.read_bytes(), words)


# --- mtree

MTREE = """#mtree
/set type=file uid=7 gid=8 mode=0640
.               type=dir mode=0755 uid=1 gid=2 time=1000000000.500000000
    f\\040g      size=100000 time=1234567890.123456789
    empty       mode=0
    l           type=link link=some/where mode=0777
    chr         type=char device=native,4,5 mode=0600
    blk         type=block device=native,255,1048575 mode=0600
    fifo        type=fifo
    d           type=dir mode=02750 time=5.0
        h1      size=10 nlink=2 inode=77 mode=0600 time=99.0
        h2      size=10 nlink=2 inode=77 mode=0600 time=99.0
        other   size=10 nlink=2 inode=78 mode=0600 time=99.0
        big     size=1125899906842624
    ..
..
no/such/file    type=file size=5 time=17.0
"""


def check_mtree(folder, content, name):
    path = folder / name
    path.write_bytes(content)
    (folder / "empty").write_text("what is on disk does not matter")
    should = {  # type, mode, uid, gid, nlink, size, time
        "": (DIR, 0o755, 1, 2, None, None, 1000000000_500000000),
        "f g": (REG, 0o640, 7, 8, 1, 100000, 1234567890_123456789),
        "empty": (REG, 0, 7, 8, 1, 0, None), "l": (LNK, 0o777, 7, 8, 1, 10, None),
        "chr": (CHR, 0o600, 7, 8, 1, 0, None), "blk": (BLK, 0o600, 7, 8, 1, 0, None),
        "fifo": (7, 0o640, 7, 8, 1, 0, None),
        "d": (DIR, 0o2750, 7, 8, None, None, 5 * 10**9),
        "d/h1": (REG, 0o600, 7, 8, 2, 10, 99 * 10**9), "d/h2": (REG, 0o600, 7, 8, 2, 10, 99 * 10**9),
        "d/other": (REG, 0o600, 7, 8, 1, 10, 99 * 10**9), "d/big": (REG, 0o640, 7, 8, 1, 1 << 50, None),
        "no": (DIR, 0o755, 0, 0, None, None, None), "no/such": (DIR, 0o755, 0, 0, None, None, None),
        "no/such/file": (REG, 0o640, 7, 8, 1, 5, 17 * 10**9)}
    with Ftnfsd("--export", "/none", "--export", "/i", "--image", str(path)) as server:
        client = Client(server)
        check(View(client, b"/none").names(client.mount(b"/none")) == [], "the other export is not empty")
        view = View(client, b"/i")
        seen = {b"/".join(p).decode(): v for p, v in view.walk().items()}
        check(set(seen) == set(should), name, "paths", sorted(set(seen) ^ set(should)))
        for p, (kind, mode, uid, gid, nlink, size, time) in should.items():
            handle, a = seen[p]
            check((a.type, a.mode, a.uid, a.gid) == (kind, mode, uid, gid), name, p, a)
            check(nlink in (None, a.nlink) and size in (None, a.size), name, p, a)
            check(time is None or a.atime == a.mtime == a.ctime == time, name, p, a)
            if kind == REG:
                check_contents(view, p, handle, hash64(b"d/h1" if p == "d/h2" else p.encode()), size)
        check(seen["d/h1"][0] == seen["d/h2"][0] != seen["d/other"][0], "hard links")
        check(view.ask(READLINK, object=seen["l"][0])["text"] == b"some/where", "the link's text")
        check(seen["chr"][1].rdev == (4, 5) and seen["blk"][1].rdev == (255, 1048575), "devices",
              seen["chr"][1].rdev, seen["blk"][1].rdev)


def of_mtree(folder):
    import gzip
    check_mtree(folder, MTREE.encode(), "tree.mtree")
    check_mtree(folder, gzip.compress(MTREE.encode()), "tree.mtree.gz")
    refused(folder, b"#mtree\n./a/../../b type=file\n", "path .* cannot be used")
    refused(folder, b"#mtree\n./a type=file\n./a/b type=file\n", "not a directory")
    refused(folder, b"#mtree\n./a type=file\n.//a type=link link=x\n", "it is there already")
    refused(folder, b"#mtree\n. type=file\n", "path .* cannot be used")
    refused(folder, b"#mtree\n./a type=link\n", "no such name or object")
    refused(folder, b"#mtree\n./" + b"a" * 256 + b" type=file\n", "a name is longer")


def options(folder, good):
    for words, *arguments in (("say --export /NAME before it", "--image", good, "--export", "/a"),
                              ("has an image already", "--export", "/a", "--image", good, "--image", good),
                              ("has a directory already", "--export", "/a=/", "--image", good)):
        done = tried(*arguments)
        check(done.returncode == 2 and words in done.stderr, words, done)
    done = tried("--export", "/a", "--image", good, "--max-objects", "5")
    check(done.returncode == 4 and "is full" in done.stderr, "a full file system", done)
    done = tried("--export", "/a", "--image", folder)
    check(done.returncode == 3, "a directory as image", done)


def main():
    with scratch.folder() as folder:
        dumps = list(of_captures(folder))
        corners = by_hand(folder, CORNERS, "corners")
        check_dump(corners)
        written(corners)
        damaged(folder, dumps[0])
        of_mtree(folder)
        options(folder, corners)
    for failure in failures[:40]:
        print("FAILED", failure)
    return 1 if failures else 0


sys.exit(main())
