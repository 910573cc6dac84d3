#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 long=1000,10000,50000
"""nfsreplay keeps its plan, on the word of somebody else: dumpcap sees the calls on the wire,
and each is compared with the time that the rate gives it.  In a network namespace of this test's own.

The machine may be busy, so the bounds of what was measured are not judged: what the report says of lateness must
be what the wire shows.  Between both the player may have to wait for a processor, and the kernel knows for how
long: where that was a part of the run, no call may be off by more.

    nfsreplay_pace.py [RATE...]     operations a second; environment: BUILD, NFSDIGEST
"""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import capfile  # noqa: E402
import own_network  # noqa: E402
from live_client import Ftnfsd  # noqa: E402

NFS, NFSACL = 100003, 100227
BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
PROGRAM = BUILD / "bin" / "nfsreplay"
SECONDS = 5  # of each run, at most
# ns.  A call is stamped when the player hands it to its connection; the kernel stamps the packet
# when that is written, at the end of the same round.  The player may have to wait for a core there.
ROUND = {0.5: 100_000, 0.99: 1_500_000}
DRIFT = 0.001  # of the run's length
QUIET = 0.01  # of the run's length: waiting for a processor that is not counted
MARKER, PATIENCE = b"nothing comes behind this", 100  # s
UNSENT = "unplayable", "skipped"
failures = []


def check(truth, *text):
    if not truth:
        failures.append(text)
        print("FAILED:", *text)


def nfsreplay(*words, codes=(0,)):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=120)
    check(done.returncode in codes, words, done.returncode, done.stderr)


def play(*words):
    """Returns the ns that the player, which is the main thread, waited for a processor."""
    with subprocess.Popen([PROGRAM, "play", *map(str, words)], stderr=subprocess.PIPE, text=True) as process:
        told = process.stderr.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        waited = pathlib.Path("/proc/%d/schedstat" % process.pid).read_text().split()[1]
    check(process.returncode in (0, 1), words, process.returncode, told)
    return int(waited)


class Capture:
    """Frames to |port| on loopback, as dumpcap sees them."""

    def __init__(self, path, port):
        self.path, self.port = str(path), port
        self.process = subprocess.Popen(
            ["dumpcap", "-q", "-i", "lo", "-B", "64", "-f", "tcp dst port %d" % port,
             "-w", self.path], stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        for line in self.process.stderr:
            if line.startswith("File:"):
                return self
        raise SystemExit("dumpcap ended")

    def __exit__(self, *_):
        with socket.create_connection(("127.0.0.1", self.port)) as end:
            end.sendall(MARKER)
        late = time.monotonic() + PATIENCE
        while MARKER not in pathlib.Path(self.path).read_bytes() and time.monotonic() < late:
            time.sleep(0.1)
        self.process.send_signal(signal.SIGINT)
        told = self.process.communicate()[1]
        check("dropped" not in told or "/0 (" in told, told)

    def calls(self):
        """The time of each NFS call, in ns, in the order of sending: when its end was."""
        streams = {}
        for frame in capfile.read(self.path):
            ip = frame.data[14:]
            if ip[9] != 6 or frame.data[12:14] != b"\x08\0":
                continue
            segment = ip[(ip[0] & 15) * 4:int.from_bytes(ip[2:4], "big")]
            source, _, sequence = struct.unpack(">HHI", segment[:8])
            stream = streams.setdefault(source, Stream())
            if segment[13] & 2:  # SYN
                stream.next = sequence + 1
            payload = segment[(segment[12] >> 4) * 4:]
            if payload:
                stream.add(frame.time, sequence, payload)
        times, seen = [], set()
        for stream in streams.values():
            check(not stream.early, "the capture lost a segment")
            for at, xid, program in stream.calls:
                check(xid not in seen, "call", xid, "was sent twice")
                seen.add(xid)
                if program in (NFS, NFSACL):
                    times.append(at)
        return sorted(times)


class Stream:
    """The RPC calls of one direction of a connection, which dumpcap saw whole.  Two segments may be in the wrong
    order: one processor sends what the other one's acknowledgement made room for."""

    def __init__(self):
        self.next, self.data, self.calls, self.early = None, bytearray(), [], {}

    def add(self, at, sequence, payload):
        if self.skip(sequence) >= 1 << 31:
            self.early[sequence] = at, payload
            return
        self.take(at, sequence, payload)
        while self.early:
            sequence = min(self.early, key=lambda s: (s - self.next + (1 << 31)) & 0xffffffff)
            if self.skip(sequence) >= 1 << 31:
                break
            self.take(self.early[sequence][0], sequence, self.early.pop(sequence)[1])

    def skip(self, sequence):
        return (self.next - sequence) & 0xffffffff

    def take(self, at, sequence, payload):
        payload = payload[self.skip(sequence):]  # what was sent again
        self.next = (self.next + len(payload)) & 0xffffffff
        self.data += payload
        while len(self.data) >= 4:
            mark = int.from_bytes(self.data[:4], "big")
            end = 4 + (mark & 0x7fffffff)
            if len(self.data) < end:
                break
            check(mark >> 31, "a call of several fragments")
            xid, _, _, program = struct.unpack(">IIII", self.data[4:20])
            self.calls.append((at, xid, program))
            del self.data[:end]


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def measure(scratch, dump, rate, most):
    """|most|: operations of the dump.  The calls before the play are those that look at the tree."""
    run = scratch / ("run-%d" % rate)
    with Ftnfsd("--export", "/pace") as server:
        target = server.urls[0]
        nfsreplay("populate", "-q", dump, target)
        with Capture(scratch / "calls.pcapng", server.port) as capture:
            waited = play("-q", "--rate", rate, "-c", 1, "--stop-after", min(most, rate * SECONDS),
                          "-o", run, dump, target)
    report = json.loads((run / "report.json").read_text())
    told = report["run"]
    late = {each["cause"]: each for each in report["late"]}
    unsent = {each["number"] for each in map(json.loads, open(run / "mismatches.jsonl"))
              if each["class"] in UNSENT}
    check(told["calls"] == told["operations"] - len(unsent), told, unsent)
    times = capture.calls()[-told["calls"]:]
    plan = [i * 10**9 // rate for i in range(told["operations"]) if i not in unsent]
    # The plan's beginning is not on the wire.  No operation goes before its plan.
    begin = min(at - planned for at, planned in zip(times, plan))
    lateness = [at - planned - begin for at, planned in zip(times, plan)]
    length = times[-1] - times[0]
    waited = waited if waited > QUIET * plan[-1] else 0
    print("%6d operations a second: %d calls, late by %.1f us (median), %.1f us (99 %%), %.1f us "
          "(most) on the wire; by the report %.1f, %.1f, %.1f, its own %.1f, %.1f; length %.6f s, "
          "planned %.6f s, waited for a processor for %.6f s" %
          (rate, len(times), quantile(lateness, 0.5) / 1e3, quantile(lateness, 0.99) / 1e3,
           max(lateness) / 1e3, *(late["all"]["times_" + at] / 1e3 for at in ("p50", "p99", "most")),
           *(late["own"]["times_" + at] / 1e3 for at in ("p50", "p99")), length / 1e9,
           plan[-1] / 1e9, waited / 1e9))
    check(len(times) == len(plan), "calls on the wire:", len(times))
    for part, name in ((0.5, "p50"), (0.99, "p99")):
        check(abs(quantile(lateness, part) - late["all"]["times_" + name]) <=
              ROUND[part] + 0.1 * late["all"]["times_" + name] + waited,
              rate, name, quantile(lateness, part), late["all"])
    check(abs(length - plan[-1]) <= DRIFT * plan[-1] + max(lateness), "length", length, plan[-1])
    check(abs(told["duration"] - length) <= DRIFT * length + max(ROUND.values()) + max(lateness) + waited,
          told, length)


def main():
    rates = [int(rate) for rate in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        captured, database, dump = (scratch / ("made." + end) for end in ("pcap", "db", "rdump"))
        subprocess.run([BUILD / "bin" / "tests" / "gen_bench", "--packets",
                        "900000" if rates else "20000", "--files", "2000" if rates else "100",
                        "--block", "4096", captured], check=True, stdout=subprocess.DEVNULL)
        for words in (["ingest", "-o", database, captured],
                      ["rdump", "--with-results", "-o", dump, database]):
            subprocess.run([os.environ["NFSDIGEST"], *map(str, words)], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for rate in rates or [2000]:
            measure(scratch, dump, rate, 10**6 if rates else 2000)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(own_network.exit_code(main, "dumpcap"))
