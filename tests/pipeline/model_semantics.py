#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The model server against rules of RFC 1813 s3.3, written by hand: each row is a call on a fresh
tree, the status it must have, and sometimes what must be so afterwards.  Rows marked "knfsd" hold
what Linux does where the RFC leaves it open or Linux goes another way.
"""
import os
import pathlib
import random
import sys

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path[:0] = [str(SRC / "tests/gen"), str(SRC / "tests/oracle")]

import craft_nfs  # noqa: E402
import model_status as s  # noqa: E402
import model_xdr as x  # noqa: E402
from messages import NOENT, OK, STALE  # noqa: E402
from model_files import Contents  # noqa: E402
from model_server import ROOT, Server, Who  # noqa: E402
from model_xdr import (  # noqa: E402
    ACCESS, COMMIT, CREATE, FSINFO, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, MKNOD, NULL, PATHCONF,
    READ, READDIR, READDIRPLUS, READLINK, REMOVE, RENAME, RMDIR, SETATTR, SYMLINK, WRITE)

OWNER, OTHER, GROUP = Who(1000, 100), Who(2000, 200), Who(3000, 100)
NOW = 10**18
ROWS_LEAST = 110


class Tree:
    """/a: d (of OWNER): f (10 bytes), g (a second name of f), l -> "to/f", sub (empty), full: x;
    p (a FIFO); t (sticky, all may write); /b: another file system; gone: a stale handle."""

    def __init__(self):
        self.server, self.now = Server(), NOW
        self.h = {"a": self.server.export(b"/a").handle, "b": self.server.export(b"/b").handle,
                  "bad": b"no handle of ours"}
        self.make("d", "a", MKDIR, who=ROOT, settings={"mode": 0o755})
        self.do(SETATTR, ROOT, object="d", guard=None, settings={"uid": 1000, "gid": 100})
        self.make("f", "d", CREATE, how=x.UNCHECKED, settings={"mode": 0o640})
        self.do(WRITE, object="f", offset=0, count=10, stable=2, data=[(10, 65)])
        self.do(LINK, object="f", object2="d", name2=b"g")
        self.make("l", "d", SYMLINK, settings={"mode": 0o777}, text=b"to/f")
        self.make("sub", "d", MKDIR, settings={"mode": 0o755})
        self.make("full", "d", MKDIR, settings={"mode": 0o755})
        self.make("x", "full", CREATE, how=x.UNCHECKED, settings={"mode": 0o644})
        self.make("p", "d", MKNOD, type=x.FIFO, settings={"mode": 0o644})
        self.make("t", "a", MKDIR, who=ROOT, settings={"mode": 0o1777})
        self.make("mine", "t", CREATE, how=x.UNCHECKED, settings={"mode": 0o666})
        self.make("bd", "b", MKDIR, who=ROOT, settings={"mode": 0o777})
        self.make("gone", "d", CREATE, how=x.UNCHECKED, settings={})
        self.do(REMOVE, object="d", name=b"gone")

    def do(self, procedure, who=OWNER, **a):
        """A text stands for the object of that name."""
        self.now += 1000
        for key in "object", "object2":
            if isinstance(a.get(key), str):
                a[key] = self.h[a[key]]
        x.encode_arguments(procedure, a)
        result = self.server.execute(procedure, a, who, self.now)
        x.encode_result(procedure, result.status, result.fields)
        return result

    def make(self, name, parent, procedure, who=OWNER, **a):
        result = self.do(procedure, who, object=parent, name=name.encode(), **a)
        assert result.status == OK, (name, result.status)
        self.h[name] = result.fields["handle"]

    def attributes(self, name):
        return self.do(GETATTR, ROOT, object=name).fields["attributes"]

    def status(self, procedure, who=ROOT, **a):
        return self.do(procedure, who, **a).status

    def exists(self, parent, name):
        return self.status(LOOKUP, object=parent, name=name) == OK


def listing(tree, procedure, **sizes):
    """Names over several calls; how many it took."""
    names, cookie, verifier, calls = [], 0, bytes(8), 0
    while True:
        r = tree.do(procedure, object="d", cookie=cookie, verifier=verifier, **sizes).fields
        calls += 1
        names += [e[1] for e in r["entries"]]
        if r["eof"]:
            return names, calls
        cookie, verifier = r["entries"][-1][2], r["verifier"]


ALL = [b".", b"..", b"f", b"g", b"l", b"sub", b"full", b"p"]
EXCLUSIVE = {"how": x.EXCLUSIVE, "verifier": b"verifier"}
UNCHECKED, GUARDED = {"how": x.UNCHECKED, "settings": {}}, {"how": x.GUARDED, "settings": {}}
LIST = {"cookie": 0, "verifier": bytes(8), "count": 4096}
PLUS = {"cookie": 0, "verifier": bytes(8), "dircount": 4096, "maxcount": 65536}
LONG, LONGEST = b"n" * 256, b"n" * 255


def renamed(source, name, target, name2):
    return {"object": source, "name": name, "object2": target, "name2": name2}


def again(tree, result):
    """An exclusive CREATE that is sent again finds its file; another verifier doesn't."""
    second = tree.do(CREATE, object="d", name=b"n", **EXCLUSIVE)
    other = tree.do(CREATE, object="d", name=b"n", how=x.EXCLUSIVE, verifier=b"another!")
    return second.status == OK and other.status == s.EXIST and \
        second.fields["handle"] == result.fields["handle"]


# (procedure, who, arguments, status, check of the tree and the result or None)
ROWS = [
    (NULL, OWNER, {}, OK, None),
    (GETATTR, OTHER, {"object": "f"}, OK, lambda t, r: r.fields["attributes"][:6] ==
     (x.REG, 0o640, 2, 1000, 100, 10)),
    (GETATTR, OWNER, {"object": "gone"}, STALE, None),
    (GETATTR, OWNER, {"object": "bad"}, s.BADHANDLE, None),
    (GETATTR, OWNER, {"object": "d"}, OK, lambda t, r: r.fields["attributes"].nlink == 4),

    (SETATTR, OWNER, {"object": "f", "settings": {"mode": 0o600}, "guard": None}, OK,
     lambda t, r: t.attributes("f").mode == 0o600 and t.attributes("f").ctime == r.fields["wcc"][1]
     .ctime > r.fields["wcc"][0].ctime),
    (SETATTR, OTHER, {"object": "f", "settings": {"mode": 0o600}, "guard": None}, s.PERM, None),
    (SETATTR, OWNER, {"object": "f", "settings": {"uid": 2000}, "guard": None}, s.PERM, None),
    (SETATTR, ROOT, {"object": "f", "settings": {"uid": 2000}, "guard": None}, OK, None),
    (SETATTR, OWNER, {"object": "f", "settings": {"gid": 999}, "guard": None}, s.PERM, None),
    (SETATTR, OTHER, {"object": "f", "settings": {"size": 1}, "guard": None}, s.ACCES,
     lambda t, r: t.attributes("f").size == 10),
    (SETATTR, OWNER, {"object": "f", "settings": {"size": 4}, "guard": None}, OK,
     lambda t, r: t.attributes("f").size == 4),
    (SETATTR, OWNER, {"object": "f", "settings": {"size": 40}, "guard": None}, OK,
     lambda t, r: t.do(READ, object="f", offset=8, count=4).fields["data"] == [(2, 65), (2, 0)]),
    (SETATTR, OWNER, {"object": "f", "settings": {"size": 2**63}, "guard": None}, s.FBIG, None),
    (SETATTR, OWNER, {"object": "d", "settings": {"size": 4}, "guard": None}, s.ISDIR, None),
    (SETATTR, OWNER, {"object": "f", "settings": {"size": 4}, "guard": 7}, s.NOT_SYNC,
     lambda t, r: t.attributes("f").size == 10),
    (SETATTR, OTHER, {"object": "f", "settings": {"mtime": 5}, "guard": None}, s.PERM, None),
    (SETATTR, GROUP, {"object": "f", "settings": {"mtime": x.SERVER_TIME}, "guard": None}, s.ACCES,
     None),
    (SETATTR, OWNER, {"object": "f", "settings": {"mtime": 5 * 10**9}, "guard": None}, OK,
     lambda t, r: t.attributes("f").mtime == 5 * 10**9),

    (LOOKUP, OTHER, {"object": "d", "name": b"f"}, OK,
     lambda t, r: r.fields["handle"] == t.h["f"] and r.fields["dir_attributes"].type == x.DIR),
    (LOOKUP, OWNER, {"object": "d", "name": b"nothing"}, NOENT,
     lambda t, r: r.fields["dir_attributes"] == t.attributes("d")),
    (LOOKUP, OWNER, {"object": "f", "name": b"f"}, s.NOTDIR, None),
    (LOOKUP, OWNER, {"object": "d", "name": LONG}, s.NAMETOOLONG, None),
    (LOOKUP, OWNER, {"object": "d", "name": LONGEST}, NOENT, None),
    (LOOKUP, OWNER, {"object": "d", "name": b"."}, OK,
     lambda t, r: r.fields["handle"] == t.h["d"]),
    (LOOKUP, OWNER, {"object": "d", "name": b".."}, OK,
     lambda t, r: r.fields["handle"] == t.h["a"]),
    (LOOKUP, OWNER, {"object": "a", "name": b".."}, OK,
     lambda t, r: r.fields["handle"] == t.h["a"]),
    (LOOKUP, OWNER, {"object": "gone", "name": b"f"}, STALE,
     lambda t, r: r.fields["dir_attributes"] is None),

    (ACCESS, OWNER, {"object": "f", "access": 0x3f}, OK,
     lambda t, r: r.fields["access"] == 0x0d),
    (ACCESS, GROUP, {"object": "f", "access": 0x3f}, OK,
     lambda t, r: r.fields["access"] == 0x01),
    (ACCESS, OTHER, {"object": "f", "access": 0x3f}, OK, lambda t, r: r.fields["access"] == 0),
    (ACCESS, ROOT, {"object": "f", "access": 0x3f}, OK, lambda t, r: r.fields["access"] == 0x0d),
    (ACCESS, OTHER, {"object": "d", "access": 0x3f}, OK,
     lambda t, r: r.fields["access"] == 0x03),
    (ACCESS, OWNER, {"object": "d", "access": 0x1e}, OK,
     lambda t, r: r.fields["access"] == 0x1e),

    (READLINK, OTHER, {"object": "l"}, OK, lambda t, r: r.fields["text"] == b"to/f"),
    (READLINK, OWNER, {"object": "f"}, s.INVAL, None),
    (READLINK, OWNER, {"object": "gone"}, STALE, None),

    (READ, OWNER, {"object": "f", "offset": 0, "count": 10}, OK,
     lambda t, r: (r.fields["count"], r.fields["eof"]) == (10, True)),
    (READ, OWNER, {"object": "f", "offset": 0, "count": 9}, OK,
     lambda t, r: (r.fields["count"], r.fields["eof"]) == (9, False)),
    (READ, OWNER, {"object": "f", "offset": 8, "count": 9}, OK,
     lambda t, r: (r.fields["count"], r.fields["eof"]) == (2, True)),
    (READ, OWNER, {"object": "f", "offset": 10, "count": 1}, OK,
     lambda t, r: (r.fields["count"], r.fields["eof"]) == (0, True)),
    (READ, OWNER, {"object": "f", "offset": 2**64 - 1, "count": 1}, OK,
     lambda t, r: (r.fields["count"], r.fields["eof"]) == (0, True)),
    (READ, OTHER, {"object": "f", "offset": 0, "count": 1}, s.ACCES, None),
    (READ, OWNER, {"object": "d", "offset": 0, "count": 1}, s.ISDIR, None),  # knfsd
    (READ, OWNER, {"object": "l", "offset": 0, "count": 1}, s.INVAL, None),
    (READ, OWNER, {"object": "p", "offset": 0, "count": 1}, s.INVAL, None),

    (WRITE, OWNER, {"object": "f", "offset": 8, "count": 4, "stable": 0, "data": [(4, 66)]}, OK,
     lambda t, r: t.attributes("f").size == 12 and r.fields["wcc"][0].size == 10),
    (WRITE, OWNER, {"object": "f", "offset": 100, "count": 1, "stable": 2, "data": [(1, 66)]}, OK,
     lambda t, r: t.do(READ, object="f", offset=9, count=92).fields["data"] ==
     [(1, 65), (90, 0), (1, 66)]),
    (WRITE, OWNER, {"object": "f", "offset": 3, "count": 0, "stable": 2, "data": []}, OK,
     lambda t, r: r.fields["wcc"][1].mtime == r.fields["wcc"][0].mtime),
    (WRITE, OWNER, {"object": "f", "offset": 0, "count": 3, "stable": 2, "data": [(2, 0)]},
     s.INVAL, None),
    (WRITE, GROUP, {"object": "f", "offset": 0, "count": 1, "stable": 2, "data": [(1, 0)]},
     s.ACCES, None),
    (WRITE, OWNER, {"object": "f", "offset": 2**63, "count": 1, "stable": 2, "data": [(1, 0)]},
     s.FBIG, None),
    (WRITE, OWNER, {"object": "l", "offset": 0, "count": 1, "stable": 2, "data": [(1, 0)]},
     s.INVAL, None),

    (CREATE, OWNER, {"object": "d", "name": b"n", **UNCHECKED}, OK,
     lambda t, r: t.exists("d", b"n") and r.fields["wcc"][1].mtime > r.fields["wcc"][0].mtime),
    (CREATE, OWNER, {"object": "d", "name": b"f", **UNCHECKED}, OK,
     lambda t, r: r.fields["handle"] == t.h["f"] and t.attributes("f").size == 10),
    (CREATE, OWNER, {"object": "d", "name": b"f", "how": x.UNCHECKED, "settings": {"size": 0}}, OK,
     lambda t, r: t.attributes("f").size == 0 and t.attributes("f").nlink == 2),
    (CREATE, OWNER, {"object": "d", "name": b"sub", **UNCHECKED}, s.EXIST, None),
    (CREATE, OWNER, {"object": "d", "name": b"f", **GUARDED}, s.EXIST, None),
    (CREATE, OWNER, {"object": "d", "name": b"n", **GUARDED}, OK, None),
    (CREATE, OWNER, {"object": "d", "name": b"n", **EXCLUSIVE}, OK, again),
    (CREATE, OWNER, {"object": "d", "name": b"f", **EXCLUSIVE}, s.EXIST, None),
    (CREATE, OTHER, {"object": "d", "name": b"n", **UNCHECKED}, s.ACCES, None),
    (CREATE, OWNER, {"object": "f", "name": b"n", **UNCHECKED}, s.NOTDIR, None),
    (CREATE, OWNER, {"object": "d", "name": LONG, **UNCHECKED}, s.NAMETOOLONG, None),
    (CREATE, OWNER, {"object": "d", "name": b"..", **UNCHECKED}, s.EXIST, None),
    (CREATE, OWNER, {"object": "gone", "name": b"n", **UNCHECKED}, STALE, None),

    (MKDIR, OWNER, {"object": "d", "name": b"n", "settings": {"mode": 0o700}}, OK,
     lambda t, r: t.attributes("d").nlink == 5 and r.fields["attributes"].nlink == 2),
    (MKDIR, OWNER, {"object": "d", "name": b"f", "settings": {}}, s.EXIST, None),
    (MKDIR, OWNER, {"object": "d", "name": b".", "settings": {}}, s.EXIST, None),
    (MKDIR, OTHER, {"object": "d", "name": b"n", "settings": {}}, s.ACCES, None),
    (SYMLINK, OWNER, {"object": "d", "name": b"n", "settings": {}, "text": b"abc"}, OK,
     lambda t, r: r.fields["attributes"].size == 3 and r.fields["attributes"].type == x.LNK),
    (SYMLINK, OWNER, {"object": "d", "name": b"f", "settings": {}, "text": b"abc"}, s.EXIST, None),
    (MKNOD, ROOT, {"object": "d", "name": b"n", "type": x.CHR, "settings": {}, "rdev": (4, 7)}, OK,
     lambda t, r: r.fields["attributes"].rdev == (4, 7)),
    (MKNOD, OWNER, {"object": "d", "name": b"n", "type": x.BLK, "settings": {}, "rdev": (4, 7)},
     s.PERM, None),
    (MKNOD, OWNER, {"object": "d", "name": b"n", "type": x.SOCK, "settings": {}}, OK, None),
    (MKNOD, OWNER, {"object": "d", "name": b"n", "type": x.DIR}, s.BADTYPE, None),
    (MKNOD, OWNER, {"object": "d", "name": b"p", "type": x.FIFO, "settings": {}}, s.EXIST, None),

    (REMOVE, OWNER, {"object": "d", "name": b"f"}, OK,
     lambda t, r: not t.exists("d", b"f") and t.attributes("f").nlink == 1),
    (REMOVE, OWNER, {"object": "d", "name": b"p"}, OK,
     lambda t, r: t.status(GETATTR, object="p") == STALE),
    (REMOVE, OWNER, {"object": "d", "name": b"nothing"}, NOENT, None),
    (REMOVE, OWNER, {"object": "d", "name": b"sub"}, s.ISDIR, None),  # knfsd
    (REMOVE, OTHER, {"object": "d", "name": b"f"}, s.ACCES, None),
    (REMOVE, OTHER, {"object": "t", "name": b"mine"}, s.PERM, None),
    (REMOVE, OWNER, {"object": "f", "name": b"f"}, s.NOTDIR, None),
    (REMOVE, OWNER, {"object": "d", "name": LONG}, s.NAMETOOLONG, None),
    (RMDIR, OWNER, {"object": "d", "name": b"sub"}, OK,
     lambda t, r: t.attributes("d").nlink == 3 and t.status(GETATTR, object="sub") == STALE),
    (RMDIR, OWNER, {"object": "d", "name": b"full"}, s.NOTEMPTY, None),
    (RMDIR, OWNER, {"object": "d", "name": b"f"}, s.NOTDIR, None),
    (RMDIR, OWNER, {"object": "d", "name": b"nothing"}, NOENT, None),
    (RMDIR, OWNER, {"object": "d", "name": b"."}, s.INVAL, None),
    (RMDIR, OWNER, {"object": "d", "name": b".."}, s.EXIST, None),

    (RENAME, OWNER, renamed("d", b"p", "full", b"q"), OK,
     lambda t, r: t.exists("full", b"q") and not t.exists("d", b"p")),
    (RENAME, OWNER, renamed("d", b"f", "full", b"x"), OK,
     lambda t, r: t.status(GETATTR, object="x") == STALE and t.attributes("f").nlink == 2),
    (RENAME, OWNER, renamed("d", b"f", "d", b"g"), OK,
     lambda t, r: t.exists("d", b"f") and t.exists("d", b"g")),
    (RENAME, OWNER, renamed("d", b"f", "d", b"f"), OK, lambda t, r: t.exists("d", b"f")),
    (RENAME, OWNER, renamed("d", b"nothing", "d", b"q"), NOENT, None),
    (RENAME, OWNER, renamed("d", b"full", "d", b"sub"), OK,
     lambda t, r: t.exists("sub", b"x") is False and t.exists("full", b"x")
     and t.attributes("d").nlink == 3),
    (RENAME, OWNER, renamed("d", b"sub", "full", b"s"), OK,
     lambda t, r: (t.attributes("d").nlink, t.attributes("full").nlink) == (3, 3) and
     t.do(LOOKUP, object="sub", name=b"..").fields["handle"] == t.h["full"]),
    (RENAME, OWNER, renamed("d", b"sub", "d", b"full"), s.NOTEMPTY, None),  # knfsd
    (RENAME, OWNER, renamed("d", b"sub", "d", b"f"), s.NOTDIR, None),  # knfsd
    (RENAME, OWNER, renamed("d", b"f", "d", b"sub"), s.ISDIR, None),  # knfsd
    (RENAME, ROOT, renamed("a", b"d", "full", b"d"), s.INVAL, None),
    (RENAME, ROOT, renamed("d", b"f", "bd", b"f"), s.XDEV, None),
    (RENAME, OWNER, renamed("d", b".", "d", b"q"), s.INVAL, None),
    (RENAME, OWNER, renamed("d", b"f", "d", b".."), s.INVAL, None),
    (RENAME, OWNER, renamed("d", b"f", "f", b"q"), s.NOTDIR, None),
    (RENAME, OWNER, renamed("d", b"f", "gone", b"q"), STALE,
     lambda t, r: r.fields["wcc"][1] and not r.fields["wcc2"][1]),
    (RENAME, OTHER, renamed("d", b"f", "t", b"q"), s.ACCES, None),
    (RENAME, OTHER, renamed("t", b"mine", "t", b"q"), s.PERM, None),

    (LINK, OWNER, {"object": "f", "object2": "full", "name2": b"h"}, OK,
     lambda t, r: r.fields["attributes"].nlink == 3),
    (LINK, OWNER, {"object": "f", "object2": "d", "name2": b"g"}, s.EXIST, None),
    (LINK, OWNER, {"object": "f", "object2": "bd", "name2": b"g"}, s.XDEV, None),
    (LINK, OWNER, {"object": "f", "object2": "l", "name2": b"g"}, s.NOTDIR, None),
    (LINK, OWNER, {"object": "sub", "object2": "d", "name2": b"q"}, s.ISDIR, None),  # knfsd
    (LINK, OWNER, {"object": "gone", "object2": "d", "name2": b"q"}, STALE, None),

    (READDIR, OTHER, {"object": "d", **LIST}, OK,
     lambda t, r: [e[1] for e in r.fields["entries"]] == ALL and r.fields["eof"]),
    (READDIR, OWNER, {"object": "d", **LIST, "count": 200}, OK,
     lambda t, r: not r.fields["eof"] and listing(t, READDIR, count=200)[0] == ALL
     and listing(t, READDIR, count=200)[1] > 2),
    (READDIR, OWNER, {"object": "d", **LIST, "count": 120}, s.TOOSMALL, None),
    (READDIR, OWNER, {"object": "d", **LIST, "cookie": 5, "verifier": b"mistaken"}, s.BAD_COOKIE,
     None),
    (READDIR, OWNER, {"object": "f", **LIST}, s.NOTDIR, None),
    (READDIRPLUS, OWNER, {"object": "d", **PLUS}, OK,
     lambda t, r: {e[1]: e[4] for e in r.fields["entries"]}[b"g"] == t.h["f"]),
    (READDIRPLUS, OWNER, {"object": "d", **PLUS, "maxcount": 500}, OK,
     lambda t, r: not r.fields["eof"] and
     listing(t, READDIRPLUS, dircount=500, maxcount=500)[0] == ALL),
    (READDIRPLUS, OWNER, {"object": "d", **PLUS, "maxcount": 200}, s.TOOSMALL, None),

    (FSSTAT, OWNER, {"object": "a"}, OK, None),
    (FSINFO, OWNER, {"object": "gone"}, STALE, None),
    (FSINFO, OWNER, {"object": "a"}, OK, None),
    (PATHCONF, OWNER, {"object": "a"}, OK, lambda t, r: r.fields["name_max"] == 255),
    (COMMIT, OWNER, {"object": "f", "offset": 0, "count": 0}, OK, None),
    (COMMIT, OWNER, {"object": "d", "offset": 0, "count": 0}, s.ISDIR, None),  # knfsd
]


def check_row(row):
    """What is wrong, or None."""
    procedure, who, arguments, status, check = row
    tree = Tree()
    result = tree.do(procedure, who, **arguments)
    if result.status != status:
        return "status %d, not %d" % (result.status, status)
    if check and not check(tree, result):
        return "not as it must be: %s" % (result.fields,)
    return None


def check_wire():
    """Bodies written by hand in tests/oracle come back from model_xdr as they were; contents of
    files, which it doesn't keep, as zeros."""
    wrong, count = [], 0
    for procedure, arguments, result in craft_nfs.nfs3_cases():
        count += 1
        a, r = x.decode_arguments(procedure, arguments), x.decode_result(procedure, result)
        again_a, again_r = x.encode_arguments(procedure, a), x.encode_result(procedure, *r)
        if procedure == WRITE:
            size = a["count"] + -a["count"] % 4
            arguments = arguments[:len(arguments) - size] + bytes(size)
        if procedure == READ and r[0] == OK:
            size = r[1]["count"] + -r[1]["count"] % 4
            result = result[:len(result) - size] + bytes(size)
        if (again_a, again_r) != (arguments, result):
            wrong.append("%s, case %d: not the same bytes" % (x.NAMES[procedure], count))
    return wrong, count


def check_contents():
    """Extents against a plain array of bytes, through writes, cuts and reads at random."""
    rng, contents, size = random.Random(1), Contents(), 40
    plain = bytearray(size)
    for turn in range(3000):
        start, end = sorted(rng.sample(range(size + 1), 2))
        if rng.random() < 0.6:
            fill = rng.randrange(4)
            contents.write(start, [(end - start, fill)])
            plain[start:end] = bytes([fill]) * (end - start)
        elif rng.random() < 0.2:
            contents.clear(start, None)
            plain[start:] = bytes(size - start)
        start, end = sorted(rng.sample(range(size + 1), 2))
        if x.data_bytes(contents.read(start, end)) != plain[start:end]:
            return ["contents: other bytes after turn %d" % turn]
    contents.write(10, [(10, (b"digest", 0))])
    contents.write(14, [(2, 7)])
    if contents.read(12, 20) != [(2, (b"digest", 2)), (2, 7), (4, (b"digest", 6))]:
        return ["contents: other pieces of what a digest stands for"]
    return []


def main():
    wrong, bodies = check_wire()
    wrong += check_contents()
    for number, row in enumerate(ROWS, 1):
        what = check_row(row)
        if what:
            wrong.append("row %d, %s %s: %s" % (number, x.NAMES[row[0]], row[2], what))
    silent = set(range(22)) - {row[0] for row in ROWS}
    if silent or len(ROWS) < ROWS_LEAST:
        wrong.append("%d rows; procedures without one: %s" % (len(ROWS), silent))
    for line in wrong:
        print(line)
    print("%d rows, %d pairs of bodies, %d wrong" % (len(ROWS), bodies, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
