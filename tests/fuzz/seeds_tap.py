#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_tap: connections that begin, pass calls and replies, are overrun, announced
and closed, over TCP and UDP.

    tests/fuzz/seeds_tap.py          rewrites tests/fuzz/corpus/fuzz_tap/made-*
"""
import glob
import os
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "fuzz_tap")
OPEN, TO_SERVER, TO_CLIENT, END_TO_SERVER, END_TO_CLIENT, CLOSED = range(1, 7)
ANNOUNCED, DATAGRAMS = 1, 2
FAR, RAW, V6 = 0x20, 0x40, 0x80
GETATTR, STALE = 1, 70


def step(kind, connection=1, payload=b"", flags=0, lost=0, ahead=0):
    return struct.pack("<BBBBIH", kind, connection, flags, lost, ahead, len(payload)) + payload


def mark(message):
    return struct.pack(">I", 0x80000000 | len(message)) + message


def call(xid):
    return struct.pack(">10I", xid, 0, 2, 100003, 3, GETATTR, 0, 0, 0, 0) + \
        struct.pack(">II", 4, xid)


def reply(xid):
    return struct.pack(">7I", xid, 1, 0, 0, 0, 0, STALE)


def pair(xid, connection=1, **more):
    return step(TO_SERVER, connection, mark(call(xid)), **more) + \
        step(TO_CLIENT, connection, mark(reply(xid)))


def pairs(first, count, connection=1):
    return b"".join(pair(first + i, connection) for i in range(count))


def ended(connection=1):
    return step(END_TO_SERVER, connection) + step(END_TO_CLIENT, connection) + step(CLOSED, connection)


CALLS = b"".join(mark(call(x)) for x in range(50, 54))
REPLIES = b"".join(mark(reply(x)) for x in range(50, 54))
SEEDS = {
    "tcp": step(OPEN) + pairs(1, 3) + ended() + step(OPEN) + pairs(4, 1),
    "many-at-once": step(OPEN) + step(TO_SERVER, payload=CALLS) + step(TO_CLIENT, payload=REPLIES),
    "cut": step(OPEN) + step(TO_SERVER, payload=CALLS[:61]) + step(TO_SERVER, payload=CALLS[61:63]) +
    step(TO_SERVER, payload=CALLS[63:]) + step(TO_CLIENT, payload=REPLIES) + ended(),
    "gap": step(OPEN) + pairs(1, 2) + step(TO_SERVER, payload=CALLS[20:], lost=3, ahead=20) +
    step(TO_CLIENT, payload=REPLIES[9:], ahead=9) + pairs(90, 6),
    "gap-far": step(OPEN) + pairs(1, 1) + pair(2, 1 | FAR, ahead=7) + pairs(3, 6),
    "joined": step(TO_SERVER, payload=CALLS[30:]) + step(OPEN, flags=ANNOUNCED) + pairs(1, 6) +
    step(OPEN, flags=ANNOUNCED) + ended(),
    "udp": step(OPEN, flags=DATAGRAMS) + step(TO_SERVER, payload=call(1)) +
    step(TO_CLIENT, payload=reply(1)) + step(TO_SERVER, payload=b"nonsense") + step(TO_SERVER) +
    step(CLOSED, flags=3),
    "two": step(OPEN, 1 | V6) + step(OPEN, 2) + pairs(1, 1, 1) + pairs(1, 1, 2) +
    step(CLOSED, 1, flags=1) + step(CLOSED, 2, flags=2),
    "damaged": step(OPEN, 1 | RAW, b"short") + step(OPEN) + step(OPEN) + step(9) +
    step(TO_SERVER, 1, b"x", ahead=0xffffffff) + step(TO_SERVER, payload=b"\x80\xff\xff\xff" * 4),
}

os.makedirs(FOLDER, exist_ok=True)
for old in glob.glob(os.path.join(FOLDER, "made-*")):
    os.remove(old)
for name, seed in SEEDS.items():
    with open(os.path.join(FOLDER, "made-" + name), "wb") as out:
        out.write(seed)
