#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second reader of replay dumps, made from schemas/rdump.md alone.

    rdump_file.py FILE            one JSON object a line for each record; exit 3 where it is bad
    rdump_file.py --hexdump FILE  the bytes, each number on a line of its own with its meaning

As a module:

    for kind, record in rdump_file.read(path): ...

|kind| is "trace", "host", "credential", "object", "entry", "operation" or "end"; |record| an object
whose attributes have the names of rdump.h's members.  Texts and byte strings are bytes, addresses
str, |gids| a tuple of numbers, |rdev| one of two, |dependencies|, |cookies| and |forget| lists,
|digest| a number.
Operations also have |index|, counted from 0.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import nfsr  # noqa: E402

LISTS = {"dependencies": "dependency_count", "cookies": "cookie_count",
         "forget": "forget_count"}
TEXTS = ("tool", "selection", "machine", "link", "root", "name")


class Reader(nfsr.Reader):
    magic = b"\x89NFRD\r\n\x1a"
    marker = b"NFDB"
    major = 2
    minor = 0
    noun = "a replay dump"
    no_time = 0


class Record:
    """Attributes are those of the record's kind."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __repr__(self):
        return "Record(%s)" % ", ".join("%s=%r" % v for v in sorted(self.__dict__.items()))


def numbers(data):
    """Big-endian ones of 4 bytes."""
    return tuple(int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4))


def make(values):
    """What nfsr.py reads, in the form described above."""
    values = dict(values)
    kind = values.pop("kind")
    for field in TEXTS:
        if field in values:
            values[field] = nfsr.unescape(values[field])
    if kind == "credential":
        values["gids"] = numbers(bytes.fromhex(values["gids"]))
    if kind == "object":
        values["rdev"] = (values.pop("rdev.major"), values.pop("rdev.minor"))
    if kind == "operation":
        for field in "arguments", "links", "results", "names":
            values[field] = bytes.fromhex(values[field])
        values["digest"] = int(values["digest"], 16)
        for field, count in LISTS.items():
            values[field] = list(values[field])
            values[count] = len(values[field])
    return kind, Record(values)


def read(path):
    """Yields (kind, record); raises nfsr.NfsrError where the dump is bad."""
    index = 0
    with open(path, "rb") as file:
        for values in Reader(file).records():
            kind, record = make(values)
            if kind == "operation":
                record.index = index
                index += 1
            yield kind, record


if __name__ == "__main__":
    sys.exit(nfsr.main(sys.argv[1:], Reader, __doc__))
