#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 cost=8
"""What connections cost ftnfsd: 1,020 of them that send half of a long WRITE, then 510 that ask for much
and read nothing.  The process takes no more than ftnfsd(8) says, and a client that behaves gets
its answers meanwhile, soon; also to calls that must wait for memory.

    ftnfsd_memory.py     environment: BUILD
"""
import json
import os
import pathlib
import resource
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd  # noqa: E402
from messages import auth_sys, record  # noqa: E402
from model_xdr import (CREATE, GETATTR, OK, READ, UNCHECKED, UNSTABLE, WRITE,  # noqa: E402
                       encode_arguments)

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "bin", "ftnfsd")
MIB = 1 << 20
BOUND = 256 * MIB
# Of the process besides: one call and one reply under way, the allocator's gaps.
SLACK = 16 * MIB
SOURCES, EACH = 4, 255  # 256 connections of one address
HONEST = "127.0.0.9"
SOON, WAITED = 1.0, 30.0  # seconds
failures = []


def check(what, good):
    if not good:
        failures.append(what)


def memory(pid, field):
    text = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(text.split(field + ":")[1].split()[0]) * 1024


def ctl(path):
    done = subprocess.run([PROGRAM, "ctl", path, "statistics"], capture_output=True, check=True)
    return json.loads(done.stdout)["net_memory"]


def connections(port, sources):
    """Many that are connected, from several addresses, and take in little."""
    for n in range(sources * EACH):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.bind(("127.0.0.%d" % (1 + n // EACH), 0))
        s.connect(("127.0.0.1", port))
        s.setblocking(False)
        yield s


class Flood:
    """Each connection sends |data| as far as it goes."""

    def __init__(self, port, data, sources=SOURCES):
        self.selector = selectors.DefaultSelector()
        self.data, self.all, self.left = data, list(connections(port, sources)), {}
        for s in self.all:
            self.left[s] = memoryview(data)
            self.selector.register(s, selectors.EVENT_WRITE)

    def push(self, seconds):
        """For so long, or until all is sent."""
        until = time.monotonic() + seconds
        while self.selector.get_map() and time.monotonic() < until:
            for key, _ in self.selector.select(0.05):
                s = key.fileobj
                try:
                    self.left[s] = self.left[s][s.send(self.left[s]):]
                except OSError:
                    self.left[s] = b""  # it was closed
                if not self.left[s]:
                    self.selector.unregister(s)

    def close(self):
        self.selector.close()
        for s in self.all:
            s.close()


def wait_for(pid, path, wanted):
    """Until the statistics are as |wanted|; memory is within bounds meanwhile."""
    for _ in range(100):
        said = ctl(path)
        if wanted(said):
            break
        time.sleep(0.1)
    else:
        check("statistics: %r" % said, False)
    return said


def answered(what, client, seconds, procedure, arguments, want=OK):
    began = time.monotonic()
    status, results = client.nfs(procedure, arguments)
    took = time.monotonic() - began
    check("%s: status %r" % (what, status), status == want)
    check("%s: %.1f s" % (what, took), took < seconds)
    return results


class Case:
    def __init__(self, server, path):
        self.server, self.path, self.pid = server, path, server.process.pid
        client = Client(server, source=(HONEST, 0))
        root = client.mount(b"/s")
        self.file = client.nfs(CREATE, {"object": root, "name": b"f", "how": UNCHECKED,
                                        "settings": {"mode": 0o666}})[1]["handle"]
        self.client = client
        client.socket.settimeout(WAITED)
        self.write("first WRITE", MIB)
        self.before = memory(self.pid, "VmRSS")

    def write(self, what, count, seconds=SOON):
        answered(what, self.client, seconds, WRITE,
                 {"object": self.file, "offset": 0, "count": count, "stable": UNSTABLE,
                  "data": [(count, 7)]})

    def call(self, procedure, **arguments):
        return record(self.client.message(procedure, encode_arguments(procedure, {
            "object": self.file, **arguments}), credential=auth_sys(0, 0, ())))

    def small_calls(self, what):
        for _ in range(20):
            answered(what + ": GETATTR", self.client, SOON, GETATTR, {"object": self.file})
        other = Client(self.server, source=(HONEST, 0))
        other.socket.settimeout(WAITED)
        answered(what + ": GETATTR of a new connection", other, SOON, GETATTR, {"object": self.file})
        other.close()

    def within(self, what):
        said, peak = ctl(self.path), memory(self.pid, "VmHWM") - self.before
        print("%s: %r, %d MiB more at most" % (what, said, peak // MIB))
        check("%s: %d MiB more" % (what, peak // MIB), peak <= BOUND + SLACK)
        check("%s: %r" % (what, said), said["most"] <= said["limit"] == BOUND)

    def half_writes(self):
        message = self.call(WRITE, offset=0, count=MIB, stable=UNSTABLE, data=[(MIB, 0)])
        flood = Flood(self.server.port, message[:MIB // 2])
        flood.push(2)
        said = ctl(self.path)
        check("few wait: %r" % said, said["waiting"] > 500)
        self.small_calls("half WRITEs")
        answered("half WRITEs: READ", self.client, SOON, READ,
                 {"object": self.file, "offset": 0, "count": MIB})
        self.write("half WRITEs: WRITE", MIB, WAITED)
        self.within("half WRITEs")
        check("none was closed", ctl(self.path)["closed"] > 0)
        flood.close()

    def deaf(self):
        flood = Flood(self.server.port, self.call(READ, offset=0, count=MIB) * 8, SOURCES // 2)
        flood.push(2)
        said = ctl(self.path)
        check("few wait to be answered: %r" % said, said["waiting"] > 250)
        answered("deaf clients: READ", self.client, WAITED, READ,
                 {"object": self.file, "offset": 0, "count": MIB})
        self.write("deaf clients: WRITE", MIB, WAITED)
        self.within("deaf clients")
        flood.close()

    def orderly(self):
        """Whole WRITEs of all at once: all are done, in turn."""
        message = self.call(WRITE, offset=0, count=MIB // 4, stable=UNSTABLE, data=[(MIB // 4, 0)])
        flood = Flood(self.server.port, message)
        flood.push(60)
        for n, s in enumerate(flood.all):
            s.settimeout(WAITED)
            head = s.recv(28, socket.MSG_WAITALL)
            status = struct.unpack(">7I", head)[6:] if len(head) == 28 else "closed"
            if status != (0,):  # accepted: SUCCESS
                check("connection %d of an orderly crowd: %r" % (n, status), False)
                break
        self.within("orderly crowd")
        flood.close()


def main():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/control"
        with Ftnfsd("--export", "/s(no_root_squash)", "--control", path,
                    "--for", "250s") as server:
            case = Case(server, path)
            for part in (case.orderly, case.half_writes, case.deaf):
                part()
                said = wait_for(case.pid, path, lambda said: said["held"] < MIB)
                check("memory at the end: %r" % said, said["waiting"] == 0)
            case.small_calls("at the end")
    for failure in failures[:20]:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
