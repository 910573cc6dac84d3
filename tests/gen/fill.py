# SPDX-License-Identifier: GPL-2.0-or-later
"""Contents that are made up (docs/contents.md), independent of live/fill."""
import functools
import struct

PERIOD = 1048573
MASK = (1 << 64) - 1
SEED = 0x66696c6c


def splitmix64(state, count):
    """The first |count| numbers."""
    for _ in range(count):
        state = (state + 0x9e3779b97f4a7c15) & MASK
        z = ((state ^ state >> 30) * 0xbf58476d1ce4e5b9) & MASK
        z = ((z ^ z >> 27) * 0x94d049bb133111eb) & MASK
        yield z ^ z >> 31


@functools.lru_cache(None)
def table():
    count = PERIOD // 8 + 1
    return struct.pack("<%dQ" % count, *splitmix64(SEED, count))[:PERIOD]


def fill(key, offset, length):
    start = (next(splitmix64(key, 1)) + offset) % PERIOD
    whole = table()[start:] + table() * (length // PERIOD + 1)
    return whole[:length]
