#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=900 plugin
"""Frame numbers and times are those of tshark: pcapng files with all kinds of blocks between the
packets, and times beyond 2^31 seconds, through libpcap's door and the plugin.

    frame_numbers.py [-k DIRECTORY]     environment: NFSDIGEST, BUILD
"""
import argparse
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
for folder in HERE.parent, HERE.parent / "gen":
    sys.path.insert(0, str(folder))

import capfile  # noqa: E402
import cases  # noqa: E402
import database  # noqa: E402
from traffic import Trace  # noqa: E402

TSHARK = os.path.join(os.environ.get("BUILD", "build"), "bin", "tshark")

BLOCKS = {
    "custom": (0xbad, struct.pack("<I", 1234) + b"abcd"),
    "custom_not_copied": (0x40000bad, struct.pack("<I", 1234) + b"abcd"),
    "custom_empty": (0xbad, struct.pack("<I", 1234)),
    "custom_netflix": (0xbad, struct.pack("<III", 10949, 2, 5)),
    "journal": (9, b"__REALTIME_TIMESTAMP=1600000000000000\nMESSAGE=what a day this is\n"),
    "sysdig": (0x204, struct.pack("<HQQIHI", 0, 16 * 10**17, 1, 30, 1, 0) + bytes(10)),
    "sysdig_2": (0x216, struct.pack("<HQQIHI", 0, 16 * 10**17, 1, 30, 1, 0) + bytes(10)),
    "sysdig_2_large": (0x221, struct.pack("<HIQQIHI", 0, 0, 16 * 10**17, 1, 30, 1, 0) + bytes(10)),
    "sysdig_flags": (0x208, struct.pack("<HIQQIH", 0, 0, 16 * 10**17, 1, 30, 1) + bytes(10)),
    "names": (4, struct.pack("<I", 0)),
    "statistics": (5, struct.pack("<III", 0, 0, 0)),
    "secrets": (10, struct.pack("<II", 0x544c534b, 4) + b"abcd"),
    "unknown": (0x7777, b"abcdefgh"),
    "local": (0x80000001, b"abcdefgh"),
}
TIMES = {"before": 2**31 - 2, "border": 2**31 - 1, "behind": 2**31, "last": 2**32 - 2}


def conversation(start=1_700_000_000):
    trace = Trace(start * 10**9)
    cases.mix(cases.tcp(trace), 100, 12)
    return trace.packets()


def with_block(path, packets, kind, body):
    """The block before the first packet, between some, several times, and at the end."""
    plain = path.with_suffix(".plain")
    capfile.write_pcapng(plain, packets)
    data, at, n = plain.read_bytes(), 0, 0
    with open(path, "wb") as out:
        while at < len(data):
            type_, total = struct.unpack_from("<II", data, at)
            if type_ == 6:
                for _ in range({0: 1, 3: 2, 5: 1, 20: 3}.get(n, 0)):
                    out.write(capfile.block(kind, body))
                n += 1
            out.write(data[at:at + total])
            at += total
        out.write(capfile.block(kind, body))


def write_big_endian(path, packets):
    with open(path, "wb") as out:
        out.write(struct.pack(">IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for p in packets:
            out.write(struct.pack(">IIII", p.time // 10**9, p.time % 10**9 // 1000, len(p.data),
                                  p.wire_len) + p.data)


def theirs(path):
    """{frame number: time in ns} of the frames with TCP data."""
    out = subprocess.run([TSHARK, "-r", str(path), "-Y", "tcp.len > 0", "-T", "fields", "-e",
                          "frame.number", "-e", "frame.time_epoch"], capture_output=True,
                         text=True, check=True).stdout
    rows = (line.split() for line in out.splitlines())
    return {int(n): int(s) * 10**9 + int(f) for n, t in rows for s, f in [t.split(".")]}


def check(path, scratch):
    """Lines of what is wrong."""
    wrong, ours, streams = [], {}, []
    for way in "libpcap", "plugin", "decap=wireshark":
        out = scratch / "out.nfsr"
        if way == "libpcap":
            command = [database.program(), "record", "-o", str(out), str(path)]
        else:
            command = [TSHARK, "-r", str(path), "-q", "-z", "nfspair,out=%s%s" % (
                out, "," + way if "=" in way else "")]
        subprocess.run(command, capture_output=True, check=True)
        streams.append(out.read_bytes())
        if streams[-1] != streams[0]:
            wrong.append("%s: libpcap and %s differ" % (path.name, way))
    base = scratch / "out.db"
    base.unlink(missing_ok=True)
    database.ingest(base, path)
    db = database.Database(base)
    for op in db.operations():
        for side in "call", "reply":
            ours[op[side + "_frame"]] = op[side + "_time"]
    db.close()
    seen = theirs(path)
    for frame, time in ours.items():
        if seen.get(frame) != time:
            wrong.append("%s: frame %s at %s, not %s" % (path.name, frame, time, seen.get(frame)))
    done = subprocess.run([database.program(), "check", str(base)], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        wrong.append("%s: check: %s" % (path.name, done.stdout + done.stderr))
    if len(ours) != 26:
        wrong.append("%s: %d messages, not 26" % (path.name, len(ours)))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", "--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="frame_numbers.") as name:
        scratch = arguments.keep or pathlib.Path(name)
        for block, (kind, body) in BLOCKS.items():
            path = scratch / (block + ".pcapng")
            with_block(path, conversation(), kind, body)
            wrong += check(path, scratch)
            tried += 1
        for moment, start in TIMES.items():
            packets = conversation(start)
            for suffix, writer in (("ns.pcap", capfile.write_pcap),
                                   ("big.pcap", write_big_endian),
                                   ("pcapng", capfile.write_pcapng)):
                path = scratch / ("%s.%s" % (moment, suffix))
                writer(path, packets)
                wrong += check(path, scratch)
                tried += 1
    print("\n".join(wrong))
    print("%d captures, %d wrong" % (tried, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
