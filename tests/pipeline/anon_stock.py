#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1800 slow
"""What others see in anonymized captures.  Stock tshark, without a plugin of this tree: no malformed
frame, no remark on TCP, no bad checksum, every call and reply that the original has, at its time to
the nanosecond.  capinfos and a reader of pcapng in Python count the same packets; the latter checks
every checksum and sequence number again, without tshark's heuristics.

    anon_stock.py [CAPTURE...]
"""
import collections
import concurrent.futures
import os
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import database  # noqa: E402
import packets  # noqa: E402
import stock  # noqa: E402

CAPTURES = os.environ.get("CAPTURES") or os.path.join(SRC, "captures")
LARGE = 1 << 20  # bytes of a packed capture above which one policy must do
SMALL = "vfs-libnfs-all22.pcap"
OPAQUE = 16


def expected(path, drop):
    """Counter of (direction, xid, time) of all messages that must be there.  Of a reply without its
    call tshark shows nothing."""
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    found = collections.Counter()
    for side, direction in ("call", 0), ("reply", 1):
        for xid, at, flags in connection.execute(
                "SELECT xid, %s_time, %s_flags FROM operation WHERE %s_frame NOT NULL "
                "AND program NOT NULL" % (side, side, side)):
            if not (drop and flags & OPAQUE):
                found[direction, xid, at] += 1
        for xid, at, flags in connection.execute(
                "SELECT o.xid, r.time, r.flags FROM (SELECT operation, kind, time, flags FROM "
                "retransmission UNION ALL SELECT operation, kind, time, flags FROM copy) r "
                "JOIN operation o ON o.id = r.operation WHERE r.kind IN (?, ?)",
                (direction + 1, direction + 3)):
            if not (drop and flags & OPAQUE):
                found[direction, xid, at] += 1
    connection.close()
    return found


def differences(wanted, seen):
    """Lines on messages at their times; a shift that is the same for all is taken off before."""
    shift = 0
    if wanted and seen:
        shift = min(at for _, _, at in seen) - min(at for _, _, at in wanted)
    wanted = collections.Counter({(d, x, at + shift): n for (d, x, at), n in wanted.items()})
    out = ["%d of %d messages are not there, as %s" % (
        sum((wanted - seen).values()), sum(wanted.values()), next(iter(wanted - seen)))] \
        if wanted - seen else []
    if seen - wanted:
        out.append("%d messages are too many, as %s" % (sum((seen - wanted).values()),
                                                       next(iter(seen - wanted))))
    return out, shift


def examine(path, base, policy):
    """(lines of what is wrong, messages, frames)"""
    seen, python = stock.Seen(path), stock.Python(path)
    wrong = ["%s (%d times, as in frame %s)" % (what, n, seen.example[what])
             for what, n in seen.wrong.items()] + python.wrong[:5]
    lines, shift = differences(expected(base, policy == "strict"), seen.messages)
    wrong += lines
    if (shift != 0) != (policy == "strict") or shift % 10**9:
        wrong.append("times are shifted by %d ns" % shift)
    counts = (seen.frames, len(python.packets), stock.capinfos_packets(path))
    if len(set(counts)) != 1:
        wrong.append("frames: tshark %d, Python %d, capinfos %d" % counts)
    return wrong, sum(seen.messages.values()), seen.frames


def flip(frame):
    return frame[:-3] + bytes([frame[-3] ^ 1]) + frame[-2:]


def test_checks(directory):
    """That these checks can fail: a good copy, then harmed ones."""
    original = os.path.join(directory, "small.pcap")
    with open(original, "wb") as file:
        subprocess.run(["zstd", "-dqc", os.path.join(CAPTURES, SMALL + ".zst")], stdout=file,
                       check=True)
    database.ingest(original + ".db", original)
    path = original + ".copy"
    anonymizer.anonymize(path, "public", anonymizer.known_key(path + ".key"), original)
    good = capfile.read(path)
    at = next(i for i, p in enumerate(good) if i > 200 and len(p.data) > 150)
    one = good[at]
    harms = {
        "bad checksum of tcp": good[:at] + [one._replace(data=flip(one.data))] + good[at + 1:],
        "checksum": good[:at] + [one._replace(data=flip(one.data))] + good[at + 1:],
        "bad checksum of ip": good[:at] + [one._replace(
            data=one.data[:25] + b"\0" + one.data[26:])] + good[at + 1:],
        "TCP: ": good[:at] + good[at + 1:],
        "sequence": good[:at] + good[at + 1:],
        "messages are not there": good[:at] + good[at + 1:],
        "retransmission": good[:at + 1] + good[at:],
        "1 of": good[:at] + [one._replace(time=one.time + 1)] + good[at + 1:],
        "times are shifted": [p._replace(time=p.time + 1) for p in good],
    }
    wrong = []
    harms["malformed"] = None
    for words, harmed in [("", good)] + list(harms.items()):
        if words == "malformed":
            harmed = [p if i != at else malformed(p) for i, p in enumerate(good)]
        capfile.write_pcapng(path, harmed)
        found, _, _ = examine(path, original + ".db", "public")
        if bool(words) != any(words in line for line in found) or bool(found) != bool(words):
            wrong.append("%r was looked for, found was %s" % (words, found))
    print("the checks find %d kinds of harm" % len(harms))
    return wrong


def malformed(packet):
    """The same message with its first byte behind the RPC header's fixed part cut off the end: its
    record and its packet say they are whole."""
    data = packet.data
    tail = data[54:-4]
    tail = struct.pack(">I", 0x80000000 | len(tail) - 4) + tail[4:]
    source, destination = (".".join(map(str, data[i:i + 4])) for i in (26, 30))
    ports = struct.unpack(">HH", data[34:38])
    seq, ack = struct.unpack(">II", data[38:46])
    segment = packets.tcp(source, destination, *ports, seq, ack, data[47], tail)
    frame = data[:14] + packets.ipv4(source, destination, packets.TCP, segment)
    return packet._replace(data=frame, wire_len=len(frame))


def run(capture, directory):
    out, failed = [], 0
    original = os.path.join(directory, capture)
    packed = os.path.join(CAPTURES, capture + ".zst")
    try:
        with open(original, "wb") as file:
            subprocess.run(["zstd", "-dqc", packed], stdout=file, check=True)
        base = original + ".db"
        database.ingest(base, original)
        policies = ("public",) if os.path.getsize(packed) > LARGE else ("public", "lab", "strict")
        for policy in policies:
            started = time.monotonic()
            path = "%s.%s.pcapng" % (original, policy)
            anonymizer.anonymize(path, policy, anonymizer.known_key(path + ".key"), original)
            wrong, messages, frames = examine(path, base, policy)
            failed += bool(wrong) or not messages
            out.append("%-28s %-7s %6d messages in %6d frames  %s  %.1f s" % (
                capture, policy, messages, frames, "FAILED" if wrong else "good",
                time.monotonic() - started))
            out += ["    " + line for line in wrong[:12]]
            os.unlink(path)
        os.unlink(original)
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError, sqlite3.Error) as error:
        return out + ["%s: %r" % (capture, error)], failed + 1
    return out, failed


def examine_all(captures, directory):
    failed = False
    with concurrent.futures.ProcessPoolExecutor(min(2, os.cpu_count())) as pool:
        for lines, count in pool.map(run, captures, [directory] * len(captures)):
            print("\n".join(lines), flush=True)
            failed |= bool(count)
    return failed


def main():
    captures = sys.argv[1:] or [name[:-len(".zst")] for name in sorted(
        os.listdir(CAPTURES), key=lambda n: -os.path.getsize(os.path.join(CAPTURES, n)))
        if re.search(r"\.pcap(ng)?\.zst$", name)]
    failed = len(captures) < 12 and not sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="stock.") as directory:
        for line in test_checks(directory):
            print("FAILED " + line)
            failed = True
        failed |= examine_all(captures, directory)
    print("anon_stock: " + ("FAILED" if failed else "good"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
