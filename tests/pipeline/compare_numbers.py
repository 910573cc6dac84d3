#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare, of a server that gives two living files one file number: it is found, once, with
its side and both names; hard links, further handles, other file systems and numbers that are given again
are not."""

import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
from comparing import check, compare, failures, run  # noqa: E402
from made_side import ROOT, Side, attributes  # noqa: E402
from messages import *  # noqa: E402,F403

A, B, C = handle(20), handle(21), handle(22)


class Server(Side):
    def look(self, name, fh, number, fsid=0xfd00, nlink=1):
        self.ask(LOOKUP, lookup_args(ROOT, name),
                 u32(OK) + opaque(fh) + some(attributes(number, fsid=fsid, nlink=nlink)) + u32(0))

    def get(self, fh, number, fsid=0xfd00, nlink=1):
        self.ask(GETATTR, opaque(fh), u32(OK) + attributes(number, fsid=fsid, nlink=nlink))

    def create(self, name, fh, number):
        self.ask(CREATE, create_args(ROOT, name),
                 u32(OK) + some(opaque(fh)) + some(attributes(number)) + u32(0, 0))

    def link(self, fh, name, number):
        self.ask(LINK, opaque(fh) + opaque(ROOT) + opaque(name),
                 u32(OK) + some(attributes(number, nlink=2)) + u32(0, 0))

    def remove(self, name):
        self.ask(REMOVE, remove_args(ROOT, name), u32(OK) + u32(0, 0))

    def rename(self, old, new):
        self.ask(RENAME, opaque(ROOT) + opaque(old) + opaque(ROOT) + opaque(new),
                 u32(OK) + u32(0, 0) * 2)

    def listing(self, *entries):
        out = u32(OK, 0) + bytes(8)
        for i, (name, fh, number) in enumerate(entries, 1):
            out += (u32(1) + u64(number) + opaque(name) + u64(i) + some(attributes(number))
                    + some(opaque(fh)))
        self.ask(READDIRPLUS, opaque(ROOT) + u64(0, 0) + u32(4096, 32768), out + u32(0, 1))

    def at_once(self, first, second):
        """Two requests; the first is answered after the second."""
        self.step, self.took = 10**6, 10**7
        first()
        self.took = 200_000
        second()
        self.time += 10**8
        self.step = 10**9


def looked_up(s, n):
    s.look("a", A, 10)
    s.look("b", B, n)
    s.get(A, 10)
    s.get(B, n)
    s.get(B, n)


def created(s, n):
    s.create("a", A, 10)
    s.create("b", B, n)


def listed(s, n):
    s.look("a", A, 10)
    s.listing(("a", A, 10), ("b", B, n))


def three(s, n):
    s.look("a", A, 10)
    s.look("b", B, n)
    s.look("c", C, n + (n > 10))


def hard_link(s, n):
    s.look("a", A, 10)
    s.link(A, "b", 10)
    s.look("b", A, 10, nlink=2)
    s.get(A, 10, nlink=2)


def link_with_handle(s, n):  # as where handles name the directory, too
    s.look("a", A, 10)
    s.link(A, "b", 10)
    s.look("b", A if n == 10 else B, 10, nlink=2)
    s.get(A, 10, nlink=2)


def snapshot(s, n):
    s.look("a", A, 10)
    s.look("b", B, n, fsid=0xfd01)
    s.get(A, 10)


def alike(s, n):
    s.look("a", A, n)
    s.look("b", B, n)


def again(s, n):
    s.create("a", A, 10)
    s.remove("a")
    s.create("b", B, n)
    s.get(B, n)


def again_at_once(s, n):
    s.create("a", A, 10)
    s.at_once(lambda: s.create("b", B, n), lambda: s.remove("a"))
    s.get(B, n)


def again_after_rename(s, n):
    s.create("a", A, 10)
    s.create("t", C, 12)
    s.rename("t", "a")
    s.create("b", B, n)


def lost_removal(s, n):
    s.create("a", A, 10)
    if n > 10:
        s.remove("a")
    s.create("b", B, n)
    s.get(B, n)


def one_name_left(s, n):
    s.create("a", A, 10)
    s.link(A, "l", 10)
    s.remove("l")
    s.create("b", B, n)
    s.get(A, 10)
    s.get(B, n)


def removed_name_of_linked(s, n):
    s.create("a", A, 10)
    s.link(A, "l", 10)
    s.at_once(lambda: s.create("b", B, n), lambda: s.remove("l"))
    s.get(A, 10)


def renamed(s, n):
    s.create("a", A, 10)
    s.at_once(lambda: s.create("b", B, n), lambda: s.rename("a", "a2"))


# the files that have the number of another one; None: nothing may be said
CASES = [(looked_up, ["b"]), (created, ["b"]), (listed, [""]), (three, ["b", "c"]),
         (one_name_left, ["a"]), (removed_name_of_linked, ["a"]), (renamed, ["b"]),
         (hard_link, None), (link_with_handle, None), (snapshot, None), (alike, None), (again, None),
         (again_at_once, None), (again_after_rename, None), (lost_removal, None)]


def told(case, groups, names, wrong):
    """|wrong|: the side that has one number for both."""
    found = [(g, e) for g in groups if g["cause"] == "fileid-shared" for e in g["examples"]]
    if names is None:
        check(not found, f"{case}: {found}")
        return
    check(sorted(e["path"].split("/")[-1] for _, e in found) == sorted(
        n or e["path"].split("/")[-1] for n, (_, e) in zip(names, found)) and found
        and sum(g["count"] for g in groups if g["cause"] == "fileid-shared") == len(names),
        f"{case}: {found}")
    right = "sut" if wrong == "ref" else "ref"
    for g, e in found:
        other = "/x/b" if names == ["a"] else "/x/a"
        check(g["kind"] == "pattern" and g["severity"] == "attributes"
              and g["difference"] == f"{wrong} the same for two files, {right} not"
              and g["reason"].startswith(f"{wrong} (")
              and e[wrong] == f"10 (also {other})" and "also" not in e[right], f"{case}: {g}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for case, names in CASES:
            sides = []
            for side, number in ("one", 11), ("other", 10):
                server = Server()
                case(server, number)
                sides.append(server.ingest(folder / f"{side}.db", run))
            groups = [compare(*pair, code=None)["groups"] for pair in (sides, sides[::-1])]
            told(case.__name__, groups[0], names, "sut")
            told(f"{case.__name__}, swapped", groups[1], names, "ref")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
