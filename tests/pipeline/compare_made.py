#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""nfsdigest compare on made traffic, of which is known what differs: two servers with equal handles
in one capture."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
sys.path.insert(0, str(SRC / "tests/pipeline"))
import audit_schema  # noqa: E402
import capfile  # noqa: E402
import packets  # noqa: E402
from messages import *  # noqa: E402,F403

PROGRAM = os.environ["NFSDIGEST"]
SCHEMA = json.loads((SRC / "schemas/compare.schema.json").read_text())
CLIENT, SERVER, OTHER = "192.0.2.1", "192.0.2.9", "192.0.2.8"
ROOT = handle(1)

failures = 0


def check(truth, text):
    global failures
    if not truth:
        failures += 1
        print("FAILED:", text)


def run(*arguments, code):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    check(done.returncode == code,
          f"{arguments}: exit {done.returncode}, not {code}: {done.stderr or done.stdout[:500]}")
    return done


def compare(*arguments, code):
    report = json.loads(run("compare", "--json", *arguments, code=code).stdout or "{}")
    for problem in audit_schema.errors(SCHEMA, report) if report else ():
        check(False, f"{arguments}: {problem}")
    return report or {"groups": []}


class Trace:
    """Requests over UDP with their replies, each 150 us after the one before; the root is mounted."""

    def __init__(self, servers=(SERVER,)):
        self.time, self.xid, self.packets, self.servers = 1_700_000_000_000_000_000, 0, [], servers
        self.ask(1, opaque("/x"), u32(0) + opaque(ROOT) + u32(1, 1), program=MOUNT, port=20048)

    def put(self, time, source, destination, source_port, port, data):
        datagram = packets.udp(source, destination, source_port, port, data)
        frame = packets.ethernet(packets.internet(source, destination, packets.UDP, datagram))
        self.packets.append(capfile.Packet(time, frame, len(frame), 1))

    def ask(self, procedure, arguments, result, program=NFS, port=2049, version=3):
        """|result|: bytes, None, or a function of the server."""
        for server in self.servers:
            self.xid += 1
            self.put(self.time, CLIENT, server, 700, port,
                     call(self.xid, procedure, arguments, program, version))
            answer = result(server) if callable(result) else result
            if answer is not None:
                self.put(self.time + 100_000, server, CLIENT, port, 700, reply(self.xid, answer))
            self.time += 150_000

    def ingest(self, path):
        capfile.write_pcap(f"{path}.pcap", sorted(self.packets))
        path.unlink(missing_ok=True)
        run("ingest", "-q", "-o", path, f"{path}.pcap", code=0)
        return path


def equal_handles(folder):
    """Two servers that give objects the same handles, and other file numbers; one of them tells in a
    listing another number than its attributes do."""
    trace = Trace((SERVER, OTHER))

    def number(server, i):
        return 10 + i + (700 if server == OTHER else 0)

    def listing(server):
        out = u32(OK, 0) + bytes(8)
        for i in range(3):
            n = 99999 if server == OTHER and i == 1 else number(server, i)
            out += (u32(1) + u64(n) + opaque(f"f{i}") + u64(i + 1) + some(fattr3(n))
                    + some(opaque(handle(10 + i))))
        return out + u32(0, 1)

    for i in range(3):
        trace.ask(LOOKUP, lookup_args(ROOT, f"f{i}"),
                  lambda server, i=i: lookup_res(handle(10 + i), number(server, i)))
    trace.ask(READDIRPLUS, opaque(ROOT) + u64(0, 0) + u32(4096, 32768), listing)
    both = trace.ingest(folder / "both.db")
    for ref, sut, changed in ((SERVER, OTHER, "sut changed, ref not"),
                              (OTHER, SERVER, "ref changed, sut not")):
        report = compare("--ref-server", ref, "--sut-server", sut, both, code=1)
        found = [(g["operation"], g["kind"], g["field"].rsplit(".")[-1], g["difference"])
                 for g in report["groups"]]
        check(found == [("NFS READDIRPLUS", "pattern", "fileid", changed)],
              f"equal handles, ref {ref}: {found}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        equal_handles(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
