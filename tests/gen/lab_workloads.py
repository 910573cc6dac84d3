# SPDX-License-Identifier: GPL-2.0-or-later
"""Three small workloads, step by step, with a mark before each step (nfsdigest phase), so that a trace has
its time by step: random writes of 4 KiB, appending, and many small files.

    run(system, scale)     on a system with these methods, divided by |scale|

    prepare(names)         marks of these names will come
    mark(name)             a phase begins; None: ends
    create(name), open(name) -> file, write(file, offset, data), close(file)

Mount is a directory; Live is an NFSv3 server, without a mount.
"""
import os
import random
import subprocess
import time

from messages import ACCESS, COMMIT, CREATE, LOOKUP, WRITE
from model_xdr import data_pieces

BLOCK, PIECE, MIB = 4096, 65536, 1 << 20
UNSTABLE, UNCHECKED = 0, 0


def rounds(scale):
    """(workload, names of files, [(file's number, offset, length)])"""
    rng = random.Random(380)
    blocks = max(100 * MIB // scale // BLOCK, 1)
    appended = max(500 * MIB // scale // PIECE, 1)
    files = max(100 // min(scale, 10), 1)
    yield "random", ["random"], [(0, rng.randrange(blocks) * BLOCK, BLOCK)
                                 for _ in range(max(100_000 // scale, 1))]
    yield "append", ["append"], [(0, i * PIECE, PIECE) for i in range(appended)]
    yield "small", ["small%d" % i for i in range(files)], [(i, 0, BLOCK) for i in range(files)]


STEPS = ("create", "open", "write", "close")


def run(system, scale):
    system.prepare(["%s-%s" % (r[0], step) for r in rounds(scale) for step in STEPS] + [None])
    for workload, names, writes in rounds(scale):
        system.mark(workload + "-create")
        for name in names:
            system.create(name)
        system.mark(workload + "-open")
        files = [system.open(name) for name in names]
        system.mark(workload + "-write")
        for number, offset, length in writes:
            system.write(files[number], offset, bytes([65 + number % 26]) * length)
        system.mark(workload + "-close")
        for file in files:
            system.close(file)
    system.mark(None)


class Timed:
    """|lasted|: seconds by name of the phase."""

    def __init__(self):
        self.lasted, self.phase, self.start = {}, None, None

    def note(self, name):
        now = time.monotonic()
        if self.phase is not None:
            self.lasted[self.phase] = self.lasted.get(self.phase, 0) + now - self.start
        self.phase, self.start = name, now


class Mount(Timed):
    """|longest_mark|: seconds that a mark took at most.  They are in no phase of |lasted|."""

    def __init__(self, directory, program="nfsdigest"):
        super().__init__()
        self.directory, self.program, self.longest_mark = directory, program, 0

    def prepare(self, names):
        pass

    def mark(self, name):
        command = [self.program, "phase"] + (["--end"] if name is None else [name]) + [self.directory]
        self.note(None)
        begun = time.monotonic()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        self.longest_mark = max(self.longest_mark, time.monotonic() - begun)
        self.note(name)

    def path(self, name):
        return os.path.join(self.directory, name)

    def create(self, name):
        os.close(os.open(self.path(name), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644))

    def open(self, name):
        return os.open(self.path(name), os.O_WRONLY)

    def write(self, file, offset, data):
        while data:
            done = os.pwrite(file, data, offset)
            data, offset = data[done:], offset + done

    def close(self, file):
        os.fsync(file)
        os.close(file)


class Live(Timed):
    """|client|: of live_client.py; |root|: a handle.  |counts|: calls by name of the phase."""

    def __init__(self, client, root, program):
        super().__init__()
        self.client, self.root, self.program = client, root, program
        self.counts, self.marks = {}, {}

    def call(self, procedure, arguments, expected=0):
        status, fields = self.client.nfs(procedure, arguments)
        if status != expected:
            raise RuntimeError("procedure %d: status %d" % (procedure, status))
        self.counts[self.phase] = self.counts.get(self.phase, 0) + 1
        return fields

    def prepare(self, names):
        """The same suffixes in each run, so that two servers get the same requests."""
        for name in names:
            self.marks[name] = subprocess.run(
                [self.program, "phase", "--print", "--suffix", "1"]
                + (["--end"] if name is None else [name]), check=True,
                capture_output=True).stdout.rstrip(b"\n")

    def mark(self, name):
        self.note(None)
        status, _ = self.client.nfs(LOOKUP, {"object": self.root, "name": self.marks[name]})
        if status != 2:
            raise RuntimeError("a mark exists")
        self.note(name)

    def create(self, name):
        self.call(CREATE, {"object": self.root, "name": name.encode(), "how": UNCHECKED,
                           "settings": {"mode": 0o644}})

    def open(self, name):
        handle = self.call(LOOKUP, {"object": self.root, "name": name.encode()})["handle"]
        self.call(ACCESS, {"object": handle, "access": 0x0c})
        return handle

    def write(self, file, offset, data):
        self.call(WRITE, {"object": file, "offset": offset, "count": len(data), "stable": UNSTABLE,
                          "data": data_pieces(data)})

    def close(self, file):
        self.call(COMMIT, {"object": file, "offset": 0, "count": 0})
