#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=13 asan-long
"""Made pcapng files whose interfaces are described late, with several sections of both byte orders, cut anywhere.
The oracle is one run over the same packets in a pcap file, which has neither (but for packets without a time).  If all interfaces mean the same, no piece
is made again because of them; if they do not, join names them."""
import os
import pathlib
import random
import struct
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))
sys.path.insert(0, str(SRC / "tests/pipeline"))

import capfile  # noqa: E402
import packets  # noqa: E402
import pieces  # noqa: E402
from cut_mix import mixed  # noqa: E402
from pieces import Trace, check, failures, joined, make, run  # noqa: E402

RAW, SNAP = 101, 600  # LINKTYPE_RAW; bytes of an Ethernet frame
ETHERNET_HEAD = 14


class Face:
    """An interface.  |raw|: frames without Ethernet."""

    def __init__(self, raw=False, resolution=6, offset=0, snap=0):
        self.raw, self.resolution, self.offset, self.snap = raw, resolution, offset, snap

    def describe(self, order):
        body = struct.pack(order + "HHI", RAW if self.raw else packets.ETHERNET, 0, self.snap)
        body += struct.pack(order + "HHB3x", 9, 1, self.resolution)
        body += struct.pack(order + "HHq", 14, 8, self.offset) + struct.pack(order + "HH", 0, 0)
        return block(order, 1, body)

    def packet(self, order, number, frame):
        skip = ETHERNET_HEAD if self.raw else 0
        data = frame.data[skip:]
        ticks = (frame.time - self.offset * 10**9) * 10**self.resolution // 10**9
        return block(order, 6, struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xffffffff, len(data),
                                           frame.wire_len - skip) + data)


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    total = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + total + body + total


def frames_of(seed):
    """Of TCP, because fragments that stand over a border make its piece again; in microseconds, as all interfaces can
    say them."""
    frames = [f for f in mixed(seed).frames if f.data[23] == 6]
    for f in frames:
        f.time -= f.time % 1000
    return frames


class File:
    """A capture of the frames of a trace, in pcapng and in pcap."""

    def __init__(self, rng, frames):
        self.rng, self.frames, self.out, self.plain = rng, frames, [], []
        self.order, self.faces = "<", []

    def section(self, order="<"):
        self.order, self.faces = order, []
        self.out.append(block(order, 0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1)))

    def face(self, face):
        self.faces.append(face)
        self.out.append(face.describe(self.order))

    def take(self, count, simple=False):
        """The next packets, of any of the interfaces.  Now and then another block stands between."""
        for f in self.frames[:count]:
            number = self.rng.randrange(len(self.faces))
            if simple and self.rng.random() < 0.02:
                snap = self.faces[0].snap or len(f.data)
                f.data, f.time, number = f.data[:snap], None, 0
                assert not self.faces[0].raw
                self.out.append(block(self.order, 3, struct.pack(self.order + "I", f.wire_len) + f.data))
            else:
                if self.faces[number].snap:
                    f.data = f.data[:SNAP]
                self.out.append(self.faces[number].packet(self.order, number, f))
            if self.rng.random() < 0.02:
                self.out.append(block(self.order, 5, struct.pack(self.order + "III", number, 0, 0)))
            self.plain.append(capfile.Packet(f.time, f.data, f.wire_len, packets.ETHERNET))
        del self.frames[:count]

    def write(self, folder):
        path = folder / "made-udp.pcapng"  # its lead-ins have some time
        path.write_bytes(b"".join(self.out))
        if any(p.time is None for p in self.plain):  # pcap cannot say that
            return path, path
        capfile.write_pcap(folder / "truth.pcap", self.plain)
        return path, folder / "truth.pcap"


def late_alike(file):
    """What dumpcap and mergecap write that learn of interfaces as they go: all mean the same."""
    file.section()
    for _ in range(5):
        file.face(Face(snap=file.rng.choice((0, SNAP))))
        file.take(len(file.frames) // 5)


def late_others(file):
    """Each interface has another link type or time resolution."""
    file.section(">")
    for face in Face(), Face(raw=True), Face(resolution=9), Face(raw=True, resolution=9, offset=10**9, snap=SNAP):
        file.face(face)
        file.take(len(file.frames) // 3)


def sections_alike(file):
    """Files of one program put together (cat)."""
    for _ in range(7):
        file.section()
        file.face(Face(resolution=9))
        file.take(len(file.frames) // 5)


def sections_others(file):
    """Each section has another byte order or other interfaces, and some are described late."""
    many = len(file.frames) // 6
    for i in range(6):
        file.section("<>"[file.rng.randrange(2)] if i else ">")
        for _ in range(file.rng.randint(1, 3)):
            file.face(Face(file.rng.random() < 0.5, file.rng.choice((6, 9)), file.rng.choice((0, 1000)),
                           file.rng.choice((0, SNAP))))
            file.take(many // 3)


def simple_packets(file):
    """The snap length of the first interface says how much of a Simple Packet Block is a packet."""
    for snap, share in (0, 5), (SNAP, 1):
        file.section()
        file.face(Face(snap=snap))
        file.take(len(file.frames) // share, simple=True)


def orders(file):
    """Only the byte order changes, which the first block of a piece tells."""
    for order, share in ("<", 5), (">", 1):
        file.section(order)
        file.face(Face())
        file.take(len(file.frames) // share)


ALIKE = (late_alike, sections_alike, orders)
ALL = (*ALIKE, late_others, sections_others, simple_packets)


def about_faces():
    return sum(count for why, count in pieces.reasons.items() if why.startswith("interfaces of pcapng"))


def one(folder, case, rounds, seed):
    rng = random.Random(seed)
    file = File(rng, frames_of(seed))
    case(file)
    file.take(len(file.frames))
    capture, oracle = file.write(folder)
    run("record", "-o", folder / "truth.nfsr", oracle)
    truth = Trace()
    truth.add(folder / "truth.nfsr")
    check(sum(truth.operations.values()) > 50, f"{case.__name__}: {truth.operations.total()} operations")
    pieces.reasons.clear()
    total = again = 0
    for lead in [rng.choice((20000, 400000)) for _ in range(rounds)]:
        borders = sorted(rng.randrange(capture.stat().st_size) for _ in range(rng.randint(2, 8)))
        again += pieces.cut(capture, folder, borders, lead, truth)
        total += len(borders) + 1
    print(f"{case.__name__}: {again} of {total} pieces were made again: {dict(+pieces.reasons)}")
    if case in ALIKE:
        check(not about_faces(), f"{case.__name__}: interfaces that mean the same made pieces again")
    return about_faces()


def between(folder):
    """A description between two packets is of the piece in whose range it begins."""
    rng = random.Random(1)
    file = File(rng, frames_of(3))
    rng.random = lambda: 1.0  # no other blocks
    file.section()
    file.face(Face())
    file.take(len(file.frames) // 2)
    border = sum(map(len, file.out))
    file.face(Face(raw=True))
    behind = sum(map(len, file.out))
    file.take(len(file.frames))
    capture, _ = file.write(folder)
    for at in border - 4, border, border + 4, behind - 4, behind:
        make(capture, folder, "a", "--to", at)
        make(capture, folder, "b", "--from", at, "--last", "--lead-in", 1, "--lead-in-time", "0s")
        why = joined(folder, "ab")[1].get("why", "")  # it is in the lead-in, or in the piece
        check("interface" not in why and "guessed" not in why, f"cut {at - border} bytes behind: {why}")
        make(capture, folder, "b", "--from", at, "--last", "--continue", folder / "a")
        check([v["verdict"] for v in joined(folder, "ab")] == ["exact"] * 2, f"{at - border} bytes behind, made again")


def never_described(folder):
    """A packet of an interface that nobody describes: the file is damaged there, and one run ends there, too."""
    file = File(random.Random(2), frames_of(2))
    file.section()
    file.face(Face())
    file.take(len(file.frames) // 2)
    file.faces.append(Face())
    file.take(len(file.frames))
    capture, _ = file.write(folder)
    size = capture.stat().st_size
    run("record", "-o", folder / "truth.nfsr", capture, codes=(3,))
    truth, found = Trace(), Trace()
    truth.add(folder / "truth.nfsr")
    make(capture, folder, "a", "--to", size // 4)
    make(capture, folder, "b", "--from", size // 4, "--last", "--lead-in", 20000)
    verdicts = joined(folder, "ab")
    check("not as described" in verdicts[1].get("why", ""), f"not described: {verdicts[1]}")
    pieces.refused(folder, 3, "was not described", "piece", "-o", "b", "--from", size // 4, "--last", "--continue", "a",
                   capture)
    verdicts = joined(folder, "ab")
    check([v["verdict"] for v in verdicts] == ["exact"] * 2, f"not described, made again: {verdicts}")
    for name, piece in zip("ab", verdicts):
        found.add(folder / (name + ".nfsr"), piece)
    pieces.compare(truth, found, "not described")


def main():
    rounds = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 1
    chosen = [case for case in ALL if case.__name__ in sys.argv[1:]] or ALL
    random.seed(18)
    named = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        between(folder)
        never_described(folder)
        for case in chosen:
            named[case] = sum(one(folder, case, 2 if rounds == 1 else 4, seed) for seed in range(rounds))
    random.seed(6)
    with tempfile.TemporaryDirectory() as name:  # at its end, a reply that waited asks about the time before the border
        one(pathlib.Path(name), late_others, 4, 6)
        one(pathlib.Path(name), late_alike, 4, 5)
    check(pieces.told, "join never named a connection that stopped")
    for case in named:
        check(case in ALIKE or named[case], f"{case.__name__}: join never named interfaces")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
