#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of real captures: both readers see the same, `nfsdigest check` finds nothing to say, and says
where it is when a stream is damaged or cut."""
import ipaddress
import json
import os
import subprocess
import sys
import tempfile

SRC = os.environ["SRC"]
NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = os.environ["CAPTURES"]
TOOL = os.path.join(os.environ["BUILD"], "bin", "tests", "nfsr_tool")
sys.path.insert(0, os.path.join(SRC, "tests"))
import nfsr  # noqa: E402


def run(*arguments):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def normal(record):
    """Addresses may have several texts."""
    for field in ("client", "server"):
        if record.get(field):
            record[field] = ipaddress.ip_address(record[field])
    return record


def compare(path):
    """The program's records, one by one, with the second reader's."""
    count = 0
    with open(path, "rb") as file, open(path, "rb") as again:
        dump = subprocess.Popen([TOOL, "dump"], stdin=again, stdout=subprocess.PIPE)
        for theirs in nfsr.read(file):
            ours = json.loads(dump.stdout.readline())
            assert normal(ours) == normal(theirs), (path, count, ours, theirs)
            count += 1
        assert not dump.stdout.readline(), path
        assert dump.wait() == 0, path
    return count, theirs


def refuse(path, *words):
    done = run(NFSDIGEST, "check", path)
    message = done.stderr.decode() + done.stdout.decode()
    assert done.returncode == 3, (done.returncode, message)
    for word in (os.path.basename(path),) + words:
        assert word in message, (word, message)


def spoil(folder, stream):
    """Damage to a real stream; the place must be named."""

    def write(name, data):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return path

    half = len(stream) // 2
    refuse(write("cut.nfsr", stream[:half]), "truncated at offset %d" % half)
    refuse(write("endless.nfsr", stream[: stream.rindex(b"NFRB")]), "end record")
    bad = bytearray(stream)
    bad[half] ^= 16
    refuse(write("bad.nfsr", bytes(bad)), "block", "offset", "checksum")
    bad = bytearray(stream)
    bad[8] = 9
    refuse(write("later.nfsr", bytes(bad)), "9.5", "1.5")
    refuse(write("empty.nfsr", b""))
    refuse(write("text.nfsr", b"no stream at all\n"))


names = sorted(n for n in os.listdir(CAPTURES) if ".pcap" in n)
assert len(names) >= 10, names
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "out.nfsr")
    total = 0
    for name in names:
        done = run(NFSDIGEST, "record", "-o", path, os.path.join(CAPTURES, name))
        assert done.returncode == 0, (name, done.stderr)
        done = run(NFSDIGEST, "check", path)
        assert done.returncode == 0, (name, done.stdout, done.stderr)
        count, end = compare(path)
        assert end["operations"] > 0, name
        total += count
        print("%s: %d records, %d operations" % (name, count, end["operations"]), flush=True)
    assert total > 50000, total
    with open(path, "rb") as file:
        spoil(folder, file.read())
