#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""nfsdigest check on databases whose pages were changed behind SQLite's back: each index says something else than its
table. SQLite's own integrity_check is the oracle."""
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402

INTERIOR, LEAF = 2, 10  # pages of an index
WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # of integers, by serial type
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


class Pages:
    def __init__(self, path):
        self.data = bytearray(path.read_bytes())
        self.size = int.from_bytes(self.data[16:18], "big")

    def cells(self, page):
        """Offsets of the cells."""
        at = (page - 1) * self.size
        head = 12 if self.data[at] == INTERIOR else 8
        count = int.from_bytes(self.data[at + 3:at + 5], "big")
        return [at + int.from_bytes(self.data[p:p + 2], "big") for p in range(at + head, at + head + 2 * count, 2)]

    def leaf(self, page):
        """A leaf in the middle of the tree."""
        while self.data[(page - 1) * self.size] == INTERIOR:
            cells = self.cells(page)
            cell = cells[len(cells) // 2]
            page = int.from_bytes(self.data[cell:cell + 4], "big")
        assert self.data[(page - 1) * self.size] == LEAF
        return page

    def integers(self, cell):
        """(offset, width) of the columns of a small record that have bytes."""
        assert self.data[cell] < 0x80
        head, at, found = self.data[cell + 1], cell + 1 + self.data[cell + 1], []
        for i in range(1, head):
            kind = self.data[cell + 1 + i]
            if kind in WIDTHS:
                found.append((at, WIDTHS[kind]))
            at += WIDTHS.get(kind, 0)
        return found


def key(pages, leaf):
    """One bit of a key."""
    for cell in pages.cells(leaf):
        if len(pages.integers(cell)) > 1:
            at, width = pages.integers(cell)[0]
            pages.data[at + width - 1] ^= 1
            return
    raise AssertionError("no key")


def row(pages, leaf):
    """One bit of the number of a row."""
    at, width = pages.integers(pages.cells(leaf)[1])[-1]
    pages.data[at + width - 1] ^= 1


def order(pages, leaf):
    """Two rows change places: the same rows, in another order."""
    at = (leaf - 1) * pages.size + 8
    pages.data[at:at + 4] = pages.data[at + 2:at + 4] + pages.data[at:at + 2]


def judged(path):
    done = subprocess.run([database.program(), "check", path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def roots(path):
    with sqlite3.connect(path) as db:
        return dict(db.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'index' AND rootpage > 0"))


def oracle(path):
    with sqlite3.connect(path) as db:
        return db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def main():
    with tempfile.TemporaryDirectory() as folder:
        good, bad = pathlib.Path(folder) / "good.db", pathlib.Path(folder) / "bad.db"
        database.ingest(good, CAPTURES / "knfsd-snap256.pcap.zst")
        with sqlite3.connect(good) as db:  # so that the partial indexes have rows
            db.execute("UPDATE operation SET counterpart = id + 5000, counterpart_copy = id % 3 WHERE id % 2")
        check(judged(good)[0] == 0, "a good one")
        tried = 0
        for name, root in roots(good).items():
            for harm in key, row, order:
                pages = Pages(good)
                leaf = pages.leaf(root)
                if len(pages.cells(leaf)) < 2 or (harm == key and not name.startswith("operation_by")):
                    continue
                harm(pages, leaf)
                bad.write_bytes(pages.data)
                code, text = judged(bad)
                check(not oracle(bad), "%s of %s: SQLite finds nothing" % (harm.__name__, name))
                check(code == 3 and "damaged" in text, "%s of %s: %d, %s" % (harm.__name__, name, code, text))
                tried += 1
        with sqlite3.connect(good) as db:
            db.execute("CREATE INDEX own ON operation (xid, id)")
        check(judged(good)[0] == 0, "an index of the user's own")
        pages = Pages(good)
        row(pages, pages.leaf(roots(good)["own"]))
        bad.write_bytes(pages.data)
        check(judged(bad)[0] == 3, "damage in an index of the user's own")
        check(tried >= 20, "only %d were tried" % tried)
    if failures:
        sys.exit(1)
    print("%d damaged indexes" % tried)


if __name__ == "__main__":
    main()
