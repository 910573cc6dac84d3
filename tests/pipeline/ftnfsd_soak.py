#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: long timeout=1800
"""ftnfsd for some minutes under all at once: clients that work, faults that come and go, floods of
connections, clients that send slowly, do not read, or send what is no call.

What is read was written, whatever faults there were; at the end the file systems are whole ("check" of
the control socket, and a walk from outside), every descriptor is given back, and memory never passed
the manual's bounds.

    ftnfsd_soak.py [SECONDS]     environment: BUILD; default: 180
"""
import json
import multiprocessing
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import LOOPBACK, Client, Ftnfsd, RpcError  # noqa: E402
from messages import auth_sys, record  # noqa: E402
from model_xdr import (COMMIT, CREATE, DIR, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, OK, READ,
                       READDIRPLUS, REMOVE, RENAME, RMDIR, UNCHECKED, UNSTABLE, WRITE,
                       decode_result, encode_arguments)

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "bin", "ftnfsd")
WORKERS, NAMES, LARGEST, FLOOD, STUBBORN = 4, 12, 200000, 150, 6
MIB = 1 << 20
MEMORY_LIMIT = 64 * MIB
BASE = 128 * MIB  # the program, its cache of replies (16 MiB), its buffers
NET_MEMORY = 64 * MIB
# Those that a client may survive; the server loses nothing.
FAULTS = ("*:delay=20ms:p=0.05", "*:close:p=0.01", "*:twice:p=0.05", "NFS.*:drop:p=0.01",
          "NFS.*:ignore:p=0.01", "*:status=NFS3ERR_JUKEBOX:p=0.1", "*:rpc-status=SYSTEM_ERR:p=0.05",
          "*:malformed:p=0.02", "NFS.*:no-attributes:p=0.2", "NFS.*:short:p=0.1",
          "NFS.*:rpc-status=PROG_UNAVAIL:p=0.02", "COMMIT:verifier", "READDIRPLUS:no-handle:p=0.1")
LOST = (ConnectionError, TimeoutError, RpcError, ValueError, IndexError, struct.error)


def fill(fileid):
    """The one byte that is written to a file; others there are zeros."""
    return 1 + fileid % 250


class Worker:
    """Works in a directory of its own.  Replies may be wrong or missing: only contents are sure."""

    def __init__(self, server, seed):
        self.server, self.random, self.seed = server, random.Random(seed), seed
        self.client, self.calls, self.failed, self.read = None, 0, 0, 0

    def nfs(self, procedure, arguments):
        """(status, fields); READ's fields have all bytes, as "bytes"."""
        self.calls += 1
        try:
            if not self.client:
                self.client = Client(self.server)
                self.client.socket.settimeout(2)
            results = self.client.rpc(procedure, encode_arguments(procedure, arguments),
                                      credential=auth_sys(1000 + self.seed, 0, ()))
            status, fields = decode_result(procedure, results)
            if procedure == READ and status == OK: # they stand at the end
                at = len(results) - (fields["count"] + 3 & ~3)
                fields["bytes"] = results[at:at + fields["count"]]
            return status, fields
        except LOST:
            self.failed += 1
            if self.client:
                self.client.close()
            self.client = None
            return None, {}

    def name(self):
        return b"w%d-%d" % (self.seed, self.random.randrange(NAMES))

    def file(self, root, name):
        """(handle, fileid), or None."""
        status, fields = self.nfs(LOOKUP, {"object": root, "name": name})
        if status != OK:
            status, fields = self.nfs(CREATE, {"object": root, "name": name, "how": UNCHECKED,
                                               "settings": {"mode": 0o644}})
        if status != OK or not fields["handle"]:
            return None
        status, got = self.nfs(GETATTR, {"object": fields["handle"]})
        if status != OK or got["attributes"].type == DIR:
            return None
        return fields["handle"], got["attributes"].fileid

    def contents(self, root):
        found = self.file(root, self.name())
        if not found:
            return
        handle, fileid = found
        offset, count = self.random.randrange(LARGEST), self.random.randrange(1, 70000)
        if self.random.randrange(3):
            self.nfs(WRITE, {"object": handle, "offset": offset, "count": count, "stable": UNSTABLE,
                             "data": [(count, fill(fileid))]})
        if not self.random.randrange(4):
            self.nfs(COMMIT, {"object": handle, "offset": 0, "count": 0})
        status, got = self.nfs(READ, {"object": handle, "offset": offset, "count": count})
        if status == OK:
            self.read += got["count"]
            if got["bytes"].translate(None, bytes([0, fill(fileid)])):
                raise AssertionError("file %d has other bytes than %d" % (fileid, fill(fileid)))

    def names(self, root):
        kind, name = self.random.randrange(6), self.name()
        both = {"object": root, "name": name, "object2": root, "name2": self.name()}
        if kind == 0:
            self.nfs(REMOVE, {"object": root, "name": name})
        elif kind == 1:
            self.nfs(RENAME, both)
        elif kind == 2:
            self.nfs(MKDIR, {"object": root, "name": name, "settings": {"mode": 0o755}})
        elif kind == 3:
            self.nfs(RMDIR, {"object": root, "name": name})
        elif kind == 4:
            self.nfs(READDIRPLUS, {"object": root, "cookie": 0, "verifier": bytes(8),
                                   "dircount": 4000, "maxcount": 30000})
        else:
            found = self.file(root, name)
            if found:
                self.nfs(LINK, {"object": found[0], "object2": root, "name2": self.name()})

    def run(self, root, until, results):
        try:
            while time.monotonic() < until:
                (self.contents if self.random.randrange(2) else self.names)(root)
            results.put((None, self.calls, self.failed, self.read))
        except Exception as why:  # whatever it is: the test must hear of it
            results.put(("worker %d: %r" % (self.seed, why), 0, 0, 0))


# --- bad clients

def connect(port):
    s = socket.create_connection((LOOPBACK, port), timeout=5)
    return s


def call(root, procedure, arguments):
    client = Client.__new__(Client)
    client.xid = random.getrandbits(32)
    return record(client.message(procedure, encode_arguments(procedure, {"object": root, **arguments}),
                                 credential=auth_sys(0, 0, ())))


def flood(port, root, until):
    """Connections that say nothing, half a call, or what is no call; all at once, then none."""
    message = call(root, GETATTR, {})
    chance = random.Random(1)
    while time.monotonic() < until:
        held = []
        for _ in range(FLOOD):
            try:
                s = connect(port)
                s.send(chance.choice((b"", message[:20], bytes(64), b"\x7f\xff\xff\xff", message)))
                held.append(s)
            except OSError:
                pass
        time.sleep(1)
        for s in held:
            s.close()


def slow(port, large, until):
    """A long WRITE, some bytes at a time, and never its end."""
    message = call(large, WRITE, {"offset": 0, "count": 900000, "stable": UNSTABLE,
                                  "data": [(900000, 0)]})
    while time.monotonic() < until:
        try:
            with connect(port) as s:
                for at in range(0, len(message) - 1000, 40000):
                    s.send(message[at:at + 40000])
                    time.sleep(0.2)
                    if time.monotonic() > until:
                        return
        except OSError:
            time.sleep(0.1)


def deaf(port, large, until):
    """Asks for much, and reads nothing."""
    message = call(large, READ, {"offset": 0, "count": MIB})
    while time.monotonic() < until:
        try:
            with connect(port) as s:
                s.settimeout(0.5)
                for _ in range(2000):
                    s.sendall(message)
                time.sleep(1)
        except OSError:
            time.sleep(0.5)


# --- the server from outside

def ctl(path, *words):
    done = subprocess.run([PROGRAM, "ctl", path, *words], capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError("ctl %s: %s" % (words, done.stderr))
    return json.loads(done.stdout)


def memory(pid, field):
    text = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(text.split(field + ":")[1].split()[0]) * 1024


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def walk(client, root):
    """Complaints: links of every object, and the space of all, against what names lead to."""
    wrong, links, seen, todo = [], {}, {}, [root]
    while todo:
        handle, cookie, verifier, subdirs = todo.pop(), 0, bytes(8), 0
        own = client.nfs(GETATTR, {"object": handle})[1]["attributes"]
        seen[own.fileid] = own
        while True:
            status, got = client.nfs(READDIRPLUS, {"object": handle, "cookie": cookie, "dircount": 8000,
                                                   "verifier": verifier, "maxcount": 32000})
            if status != OK:
                return wrong + ["READDIRPLUS: status %s" % status]
            verifier = got["verifier"]
            for fileid, name, cookie, attributes, entry in got["entries"]:
                if name in (b".", b".."):
                    continue
                links[fileid] = links.get(fileid, 0) + 1
                seen[fileid] = attributes
                if attributes.type == DIR:
                    subdirs += 1
                    todo.append(entry)
            if got["eof"]:
                break
        if own.nlink != 2 + subdirs:
            wrong.append("directory %d: %d links, not %d" % (own.fileid, own.nlink, 2 + subdirs))
    for fileid, count in links.items():
        a = seen[fileid]
        if a.type != DIR and a.nlink != count:
            wrong.append("file %d: %d links, not %d" % (fileid, a.nlink, count))
    space = client.nfs(FSSTAT, {"object": root})[1]
    if space["tfiles"] - space["ffiles"] != len(seen):
        wrong.append("FSSTAT has %d objects, names lead to %d" % (space["tfiles"] - space["ffiles"],
                                                                 len(seen)))
    return wrong


def settle(pid, wanted):
    """How many descriptors there are when there are no more than |wanted|, or after 10 s."""
    for _ in range(100):
        if descriptors(pid) <= wanted:
            break
        time.sleep(0.1)
    return descriptors(pid)


def change_faults(path, until):
    chance, rounds = random.Random(3), 0
    while time.monotonic() < until:
        rule = chance.choice(FAULTS)
        ctl(path, "fault-add", rule)
        time.sleep(min(1.0, max(0, until - time.monotonic())))
        if chance.randrange(3) == 0:
            ctl(path, "fault-clear")
            time.sleep(0.5)
        rounds += 1
        if rounds % 10 == 0:
            ctl(path, "check")
    ctl(path, "fault-clear")
    return rounds


def begin(server):
    """The handles of the root and of a file of 1 MiB."""
    client = Client(server)
    root = client.mount(b"/s")
    large = client.nfs(CREATE, {"object": root, "name": b"large", "how": UNCHECKED,
                                "settings": {"mode": 0o644}})[1]["handle"]
    client.nfs(WRITE, {"object": large, "offset": 0, "count": MIB, "stable": UNSTABLE,
                       "data": [(MIB, 7)]})
    client.close()
    return root, large


def soak(server, path, seconds):
    pid = server.process.pid
    root, large = begin(server)
    # only now: it opens some when its loop begins, which is after it said its address
    at_first = settle(pid, 0)
    until = time.monotonic() + seconds
    results = multiprocessing.Queue()
    jobs = [multiprocessing.Process(target=Worker(server, seed).run, args=(root, until, results))
            for seed in range(WORKERS)]
    jobs += [multiprocessing.Process(target=bad, args=(server.port, at, until))
             for bad, at in ((flood, root), *[(slow, large)] * STUBBORN, *[(deaf, large)] * STUBBORN)]
    for job in jobs:
        job.start()
    rounds = change_faults(path, until)
    wrong, calls, failed, read = [], 0, 0, 0
    for _ in range(WORKERS):
        problem, *numbers = results.get(timeout=120)
        wrong += [problem] if problem else []
        calls, failed, read = (a + b for a, b in zip((calls, failed, read), numbers))
    for job in jobs:
        job.join(60)
        if job.is_alive():
            wrong.append("a client hangs")
            job.kill()
    print("%d calls, %d without a good answer, %d bytes read, %d faults" % (calls, failed, read, rounds))
    if calls - failed < 5 * seconds or read < MIB:
        wrong.append("too few calls: the test does not try what it should")
    left = settle(pid, at_first)
    if left != at_first:
        wrong.append("%d descriptors, %d at the beginning" % (left, at_first))
    return wrong


def main():
    seconds = int(sys.argv[1]) if sys.argv[1:] else 180
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/control"
        with Ftnfsd("--export", "/s(no_root_squash)", "--control", path, "--memory-limit",
                    str(MEMORY_LIMIT), "--net-memory", str(NET_MEMORY),
                    "--for", "%ds" % (seconds + 300)) as server:
            wrong = soak(server, path, seconds)
            said = ctl(path, "check")
            client = Client(server)
            wrong += walk(client, client.mount(b"/s"))
            peak = memory(server.process.pid, "VmHWM")
            bound = MEMORY_LIMIT + BASE + NET_MEMORY
            print("check: %s; at most %d MiB of memory" % (said, peak // MIB))
            if peak > bound:
                wrong.append("%d MiB of memory, above %d" % (peak // MIB, bound // MIB))
            code, out, err = server.stop()
            print(out.strip())
            if code or err:
                wrong.append("ftnfsd ended with %d: %s" % (code, err))
            if int(re.search(r"(\d+) connections", out)[1]) < 20 * seconds:
                wrong.append("too few connections: there was no flood")
    print("\n".join(wrong) if wrong else "it is whole")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
