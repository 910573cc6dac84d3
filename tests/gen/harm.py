# SPDX-License-Identifier: GPL-2.0-or-later
"""Harms captures, and says what is left of each message.

A harm is a list: for each frame of the unharmed capture how many of its bytes are kept; 0: the
frame is gone. Frames of the harmed capture are numbered anew.
"""
import random


def unharmed(packets):
    return [len(p.data) for p in packets]


def lose(packets, share, seed):
    """Each frame is lost with probability |share|."""
    rng = random.Random(seed)
    return [0 if rng.random() < share else len(p.data) for p in packets]


def lose_bursts(packets, share, seed, length=20):
    """Bursts of 1 to 2 * |length| frames; |share| of all frames are lost."""
    rng = random.Random(seed)
    kept = unharmed(packets)
    lost = 0
    while lost < share * len(packets):
        at = rng.randrange(len(packets))
        for i in range(at, min(len(packets), at + rng.randint(1, 2 * length))):
            lost += kept[i] > 0
            kept[i] = 0
    return kept


def cut(packets, snaplen):
    return [min(len(p.data), snaplen) for p in packets]


def without(packets, path):
    """The frames whose numbers a file lists, one a line, are gone."""
    kept = unharmed(packets)
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if not line.startswith("#"):
                kept[int(line) - 1] = 0
    return kept


def apply(packets, kept):
    return [p._replace(data=p.data[:k]) for p, k in zip(packets, kept) if k]


def numbering(kept):
    """New frame number by old one; both from 1."""
    numbers, n = {}, 0
    for old, k in enumerate(kept, 1):
        if k:
            n += 1
            numbers[old] = n
    return numbers


def subtract(missing, start, end):
    """|missing| (a list of intervals) without [start, end)."""
    out = []
    for low, high in missing:
        if end <= low or high <= start:
            out.append((low, high))
            continue
        if low < start:
            out.append((low, start))
        if end < high:
            out.append((end, high))
    return out


class Rest:
    """What is left of a message: |frame| that brings its last missing byte (old number; None: it is
    not whole); |header|: the fixed part of the RPC header is there; |some|: its XID and
    direction are;
    |frames|: all that bring something of it."""

    def __init__(self, message, kept):
        missing = [(message.start, message.end)]
        self.frame, self.frames = None, []
        for piece in message.pieces:
            length = min(piece.length, kept[piece.frame - 1] - piece.at)
            if kept[piece.frame - 1] == 0:
                continue
            self.frames.append(piece.frame)
            if length <= 0 or not missing:
                continue
            missing = subtract(missing, piece.start, piece.start + length)
            if not missing:
                self.frame = piece.frame
        first = missing[0][0] if missing else message.end
        self.header = first >= message.header_end
        begin = message.header_end - 24  # XID and direction
        self.some = not any(low < begin + 8 and begin < high for low, high in missing)
