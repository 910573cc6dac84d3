#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare, of requests that came in another order on the two sides, one after the other:
both servers are right, so nothing may be reported. Where nothing was changed in between, the same
difference must be: a test of the test."""

import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import messages as m  # noqa: E402
import traffic  # noqa: E402
from comparing import check, compare, failures, run  # noqa: E402

ONE, TWO = "10.0.0.1", "10.0.0.2"
SECOND = 10**9
ROOT, FILE = m.handle(1), m.handle(10)
ACCES, EXIST, STALE, MNT_ACCES = 13, 17, 70, 13


# Requests: (client, program, port, procedure, arguments, result)

def mnt(client, path, root=None):
    return (client, m.MOUNT, 20048, 1, m.opaque(path),
            m.u32(MNT_ACCES) if root is None else m.u32(0) + m.opaque(root) + m.u32(1, 1))


def nfs(client, procedure, arguments, result):
    return client, m.NFS, 2049, procedure, arguments, result


def attributes(mode):
    return m.u32(m.REG, mode) + m.fattr3(10)[8:]


def lookup(client, name=b"f", status=0):
    return nfs(client, m.LOOKUP, m.lookup_args(ROOT, name),
               m.lookup_fail(status) if status else
               m.u32(0) + m.opaque(FILE) + m.u32(0, 0))


def getattr_(client, mode=0o644, status=0):
    return nfs(client, m.GETATTR, m.getattr_args(FILE),
               m.u32(status) if status else m.u32(0) + attributes(mode))


def setattr_(client, mode):
    return nfs(client, m.SETATTR, m.opaque(FILE) + m.u32(1, mode, 0, 0, 0, 0, 0) + m.u32(0),
               m.u32(0) + m.wcc())


def write(client, data):
    return nfs(client, m.WRITE, m.write_args(FILE, 0, data),
               m.u32(0) + m.wcc() + m.u32(len(data), 2) + m.u64(7))


def read(client, data):
    return nfs(client, m.READ, m.read_args(FILE, 0, 4),
               m.u32(0, 0, len(data), 0) + m.opaque(data))


def remove(client):
    return nfs(client, m.REMOVE, m.remove_args(ROOT, b"f"), m.remove_res())


def rename(client, old, new):
    return nfs(client, m.RENAME, m.opaque(ROOT) + m.opaque(old) + m.opaque(ROOT) + m.opaque(new),
               m.u32(0) + m.wcc() + m.wcc())


def create(client, status=0):
    return nfs(client, m.CREATE, m.opaque(ROOT) + m.opaque(b"n") + m.u32(1)
               + m.u32(1, 0o644, 0, 0, 0, 0, 0),
               m.u32(status) + m.wcc() if status else
               m.u32(0) + m.some(m.opaque(m.handle(20))) + m.u32(0) + m.wcc())


BEGIN = [mnt(ONE, b"/x", ROOT), mnt(TWO, b"/x", ROOT), lookup(ONE), lookup(TWO)]

# Name: what each side does after BEGIN; whether that is a difference of the servers
CASES = {
    "modes": (
        [setattr_(ONE, 0o600), setattr_(TWO, 0o644), getattr_(ONE, 0o644)],
        [setattr_(TWO, 0o644), setattr_(ONE, 0o600), getattr_(ONE, 0o600)], False),
    "modes, in the same order": (
        [setattr_(ONE, 0o600), setattr_(TWO, 0o644), getattr_(ONE, 0o644)],
        [setattr_(ONE, 0o600), setattr_(TWO, 0o644), getattr_(ONE, 0o600)], True),
    "modes, one client": (
        [setattr_(ONE, 0o600), setattr_(ONE, 0o644), getattr_(ONE, 0o644)],
        [setattr_(ONE, 0o644), setattr_(ONE, 0o600), getattr_(ONE, 0o600)], False),
    "modes, known again": (
        [setattr_(ONE, 0o600), setattr_(TWO, 0o644), setattr_(ONE, 0o755), getattr_(ONE, 0o755),
         getattr_(TWO, 0o755)],
        [setattr_(TWO, 0o644), setattr_(ONE, 0o600), setattr_(ONE, 0o755), getattr_(ONE, 0o755),
         getattr_(TWO, 0o700)], True),
    "writes": (
        [write(ONE, b"AAAA"), write(TWO, b"BBBB"), read(ONE, b"BBBB")],
        [write(TWO, b"BBBB"), write(ONE, b"AAAA"), read(ONE, b"AAAA")], False),
    "writes, in the same order": (
        [write(ONE, b"AAAA"), write(TWO, b"BBBB"), read(ONE, b"BBBB")],
        [write(ONE, b"AAAA"), write(TWO, b"BBBB"), read(ONE, b"AAAA")], True),
    "LOOKUP before REMOVE": (
        [lookup(ONE), remove(TWO)], [remove(TWO), lookup(ONE, status=m.NOENT)], False),
    "LOOKUP after REMOVE": (
        [remove(TWO), lookup(ONE, status=m.NOENT)], [remove(TWO), lookup(ONE)], True),
    "GETATTR before REMOVE": (
        [getattr_(ONE), remove(TWO)], [remove(TWO), getattr_(ONE, status=STALE)], False),
    "GETATTR before REMOVE, one client": (
        [getattr_(ONE), remove(ONE)], [remove(ONE), getattr_(ONE, status=STALE)], False),
    "GETATTR after REMOVE": (
        [remove(TWO), getattr_(ONE, status=STALE)], [remove(TWO), getattr_(ONE)], True),
    "GUARDED creates": (
        [create(ONE), create(TWO, EXIST)], [create(TWO), create(ONE, EXIST)], False),
    "GUARDED creates, in the same order": (
        [create(ONE), create(TWO, EXIST)], [create(ONE, EXIST), create(TWO, EXIST)], True),
    "RENAME between": (
        [lookup(ONE, b"b", m.NOENT), rename(ONE, b"f", b"b"), lookup(ONE, b"b")],
        [rename(ONE, b"f", b"b"), lookup(ONE, b"b")], False),
    "RENAME before": (
        [rename(ONE, b"f", b"b"), lookup(ONE, b"b")],
        [rename(ONE, b"f", b"b"), lookup(ONE, b"b", m.NOENT)], True),
    "mode, then another answer": (
        [getattr_(TWO), setattr_(ONE, 0o600), getattr_(TWO, 0o600)],
        [setattr_(ONE, 0o600), getattr_(TWO, status=ACCES), getattr_(TWO, 0o600)], False),
    "mounts": (
        [mnt(ONE, b"/a", m.handle(5)), mnt(ONE, b"/b")],
        [mnt(ONE, b"/b"), mnt(ONE, b"/a", m.handle(5))], False),
    "mounts, refused": (
        [mnt(ONE, b"/a", m.handle(5)), mnt(ONE, b"/b")],
        [mnt(ONE, b"/b"), mnt(ONE, b"/a")], True),
    "mounts by other paths": (
        [mnt(ONE, b"/srv/a", m.handle(5)), mnt(ONE, b"/srv/b")],
        [mnt(ONE, b"/exp/a", m.handle(5)), mnt(ONE, b"/exp/b")], False),
}


def database(folder, name, requests):
    trace, flows = traffic.Trace(), {}
    for xid, (client, program, port, procedure, arguments, result) in enumerate(requests, 1):
        flow = flows.setdefault((client, port), traffic.UdpFlow(trace, client, 700,
                                                                server_port=port))
        flow.pair(xid, procedure, arguments, result, program=program,
                  version=3)
        trace.wait(SECOND)
    capture, out = folder / f"{name}.pcap", folder / f"{name}.db"
    trace.write(capture)
    out.unlink(missing_ok=True)
    run("ingest", "-q", "-o", out, capture)
    return out


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, (ref, sut, differs) in CASES.items():
            sides = [database(folder, side, BEGIN + requests)
                     for side, requests in (("ref", ref), ("sut", sut))]
            for label, pair in (name, sides), (f"{name}, swapped", sides[::-1]):
                groups = compare(*pair, code=int(differs))["groups"]
                check(bool(groups) == differs,
                      f"{label}: {[(g['operation'], g['field'], g['difference']) for g in groups]}")
    print(f"{len(CASES)} orders")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
