#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_engine: small pieces of the real captures.

    tests/fuzz/seeds_engine.py          rewrites tests/fuzz/corpus/fuzz_engine/capture-*

The frames of a piece are put twice: as they are, and, for TCP, as the fuzz target's own kind of
segment, whose ports and sequence numbers it makes itself.
"""
import glob
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "gen"))
import capfile  # noqa: E402

FOLDER = os.path.join(HERE, "corpus", "fuzz_engine")
CAPTURES = os.path.join(HERE, "..", "..", "captures")
PIECES = [  # name, first frame, frames
    ("vfs-libnfs-all22", 0, 24),
    ("vfs-libnfs-all22", 120, 24),
    ("vfs-libnfs-all22", 300, 24),
    ("knfsd-nlm-locks", 40, 20),
    ("knfsd-netem-udp", 200, 16),
    ("knfsd-netem-tcp", 300, 20),
    ("knfsd-vlan", 100, 20),
    ("knfsd-snap256", 500, 20),
]
LARGEST = 9000


def payload(packet):
    """(protocol, direction, data) of a plain IPv4 frame, or None."""
    data = packet.data
    if len(data) < 34 or data[12:14] != b"\x08\x00" or data[14] != 0x45:
        return None
    data = data[14:14 + struct.unpack_from(">H", data, 16)[0]]
    if data[9] == 17:
        return 17, struct.unpack_from(">H", data, 20)[0] in (2049, 111, 20048), data[28:]
    if data[9] == 6 and len(data) >= 40:
        return 6, struct.unpack_from(">H", data, 20)[0] in (2049, 111, 20048), \
            data[20 + (data[32] >> 4) * 4:]
    return None


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for old in glob.glob(os.path.join(FOLDER, "capture-*")):
        os.unlink(old)
    for name, start, count in PIECES:
        with tempfile.NamedTemporaryFile() as plain:
            subprocess.run(["zstd", "-dqc", os.path.join(CAPTURES, name + ".pcap.zst")],
                           stdout=plain, check=True)
            packets = capfile.read(plain.name)[start:start + count]
        whole = own = b"\0"
        for p in packets:
            if len(whole) + len(p.data) < LARGEST:
                whole += struct.pack(">BBH", 0, 1, len(p.data)) + p.data
            made = payload(p)
            if not made or not made[2] or len(own) + len(made[2]) > LARGEST:
                continue
            protocol, back, data = made
            kind = 64 + 16 + 4 * back if protocol == 6 else 192 + back
            own += struct.pack(">BBH", kind, 1, len(data)) + data
        for kind, seed in ("frames", whole), ("own", own):
            if len(seed) > 100:
                path = "capture-%s-%s-%d" % (kind, name, start)
                with open(os.path.join(FOLDER, path), "wb") as out:
                    out.write(seed)


if __name__ == "__main__":
    main()
