#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_verdict: a reply of each kind that shows what it has to.

    seeds_verdict.py tests/fuzz/corpus/fuzz_verdict
"""
import pathlib
import struct
import sys

RESULTS, COPIES, LINKS, COOKIES, MADE, LOOKED_UP, LEARN = 1, 2, 4, 8, 16, 32, 64
IDENTITY, ACCESS, TEXT, READ, NAMES, BEHIND, SOME = (1 << n for n in range(24, 31))


def u32(*values):
    return b"".join(struct.pack(">I", v) for v in values)


def u64(*values):
    return b"".join(struct.pack(">Q", v) for v in values)


def opaque(data):
    return u32(len(data)) + data + bytes(-len(data) % 4)


def number(n):
    return opaque(u32(n))


def handle(n):
    return opaque(bytes([n]) * 8)


def attributes(kind=1, mode=0o644):
    return u32(kind, mode, 1, 0, 0) + u64(100, 512) + u32(0, 0) + u64(1, 2) + u32(*[5] * 6)


NO, ATTRIBUTES = u32(0), u32(1) + attributes()
WCC = u32(0, 0)
PLUS = [("a", 2), ("b", 3), ("..", 4)]


def listing(names, cookie, plus, eof):
    text = u32(0) + NO + bytes(8)
    for name, n in names:
        cookie += 1
        text += u32(1) + u64(n) + opaque(name.encode()) + u64(cookie)
        text += NO + u32(1) + handle(n) if plus else b""
    return text + u32(0, eof)


def names(plus):
    return b"".join(u32(1) + n.encode() + (u32(o) if plus else b"") for n, o in PLUS[:2])


SEEDS = {
    "getattr": (1, RESULTS | LEARN, 0, 0b11011, number(1),
                u32(1, 0o644, 1) + u64(100), b"", b"", [u32(0) + attributes()]),
    "lookup": (3, RESULTS, 0, IDENTITY, number(1) + opaque(b"x"), u32(2), b"", b"",
               [u32(0) + handle(2) + NO + NO]),
    "lookup-error": (3, 0, 2, 0b10 << 6, number(1) + opaque(b"x"), b"", b"", b"",
                     [u32(2) + ATTRIBUTES, u32(10008) + NO, u32(13) + NO]),
    "access": (4, RESULTS, 0, ACCESS, number(1) + u32(63), u32(31), b"", b"",
               [u32(0) + ATTRIBUTES + u32(31)]),
    "readlink": (5, RESULTS, 0, TEXT, number(1), u32(2) + b"ab", b"", b"",
                 [u32(0) + NO + opaque(b"ab")]),
    "read": (6, RESULTS, 0, READ, number(1) + u64(0) + u32(8), u32(8, 0), b"", b"",
             [u32(0) + NO + u32(8, 0) + opaque(bytes(8))]),
    "write": (7, 0, 0, 0, number(1) + u64(200) + u32(8, 2, 8), b"", b"", b"",
              [u32(0) + WCC + u32(8, 2) + bytes(8)]),
    "setattr": (2, 0, 0, 0, number(1) + u32(0, 0, 0, 1) + u64(500) + u32(0, 0, 0), b"", b"", b"",
                [u32(0) + WCC]),
    "create": (8, RESULTS | MADE | LOOKED_UP, 0, 0b10 << 18,
               number(1) + opaque(b"x") + u32(0, 0, 0, 0, 0, 0, 0), u32(0o644), b"", b"",
               [u32(0, 1) + handle(12) + ATTRIBUTES + WCC, u32(0, 0, 0) + WCC]),
    "stale": (1, COPIES, 70, 0, number(0), b"", b"", b"", [u32(0) + attributes(), u32(70)]),
    "links": (14, LINKS, 0, 1 << 11 | 1 << 17,
              number(1) + opaque(b"x") + number(2) + opaque(b"y"), b"", u32(2, 2), b"",
              [u32(0) + u32(0, 1) + attributes(2) + u32(0, 1) + attributes(2)]),
    "readdir": (16, RESULTS | COOKIES, 0, NAMES, number(1) + u64(0, 0) + u32(512),
                u32(2) + u64(5), b"", names(False),
                [listing(PLUS[:1], 0, False, 0), listing(PLUS[1:], 1, False, 1)]),
    "readdirplus": (17, RESULTS | COOKIES, 0, NAMES | BEHIND,
                    number(1) + u64(0, 0) + u32(512, 512), u32(2) + u64(5, 6), b"", names(True),
                    [listing(PLUS, 0, True, 1)]),
    "some-names": (16, RESULTS, 0, SOME, number(1) + u64(7, 0) + u32(512), b"", b"", names(False),
                   [listing(PLUS[:1], 7, False, 1), listing(PLUS[1:], 0, False, 1)]),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (procedure, bits, status, mask, *pieces, replies) in SEEDS.items():
        text = bytes([procedure, bits]) + u32(status, mask)
        for piece in pieces + replies:
            text += struct.pack(">H", len(piece)) + piece
        (folder / name).write_bytes(text)


main()
