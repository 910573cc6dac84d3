# SPDX-License-Identifier: GPL-2.0-or-later
"""nfstee as a context, and a reader of its ring that shares nothing with live/ring but the layout in
ring.h and relay_entry.h."""
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import json

SECONDS = 120  # after which a relay that was forgotten ends by itself
OPEN, TO_SERVER, TO_CLIENT, END_TO_SERVER, END_TO_CLIENT, CLOSED, MARK = range(1, 8)
HEAD = struct.Struct("<8sIIII QQ")
ENTRY = struct.Struct("<QQQqIIHHI16x")
BLOCK = 1 << 18


class Relay:
    """nfstee relay in front of a port of 127.0.0.1."""

    def __init__(self, server_port, *options, port=0):
        self.program = os.path.join(os.environ["BUILD"], "bin", "nfstee")
        self.command = [self.program, "relay", "--to", "127.0.0.1:%d" % server_port,
                        "--for", "%ds" % SECONDS, *options]
        self.port, self.process = port, None

    def __enter__(self):
        self.process = subprocess.Popen(
            [*self.command, "--listen", "127.0.0.1:%d" % self.port], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        match = re.match(r"NFS: 127\.0\.0\.1:(\d+) to 127\.0\.0\.1:\d+$", line)
        if not match:
            raise RuntimeError("nfstee: %s%s" % (line, self.process.stderr.read()))
        self.port = int(match[1])
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """(exit code, the rest of standard output, standard error)"""
        if self.process.poll() is None:
            self.process.terminate()
        if self.process.stdout.closed:
            return None
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate(timeout=60)

    def ctl(self, *words):
        path = self.command[self.command.index("--control") + 1]
        run = subprocess.run([self.program, "ctl", path, *words], stdout=subprocess.PIPE,
                             check=True)
        return json.loads(run.stdout)


class Ring:
    """Attached at |path|.  |streams|: (connection, TO_SERVER or TO_CLIENT) to bytes.  |shadows|: marks of these."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(path)
        greeting, fds, _, _ = socket.recv_fds(self.socket, 100, 1)
        magic, version, _, identity = struct.unpack("<8sIIQ", greeting)
        size = os.fstat(fds[0]).st_size
        self.memory = mmap.mmap(fds[0], size, mmap.MAP_SHARED, mmap.PROT_READ)
        os.close(fds[0])
        head = HEAD.unpack_from(self.memory)
        if head != (b"NFSRING\0", 1, 4096, BLOCK, 0, size - 4096, identity) or \
                (magic, version) != head[:2]:
            raise ValueError("the ring's head: %r" % (head,))
        self.size, self.position = size - 4096, self.written()
        self.number, self.streams, self.marks, self.opens, self.shadows = None, {}, [], {}, []

    def written(self):
        return struct.unpack_from("<Q", self.memory, 128)[0]

    def read(self):
        """Takes all entries.  An overrun is an error: the test's rings are large enough."""
        while self.position < self.written():
            at = 4096 + self.position % self.size
            number, connection, offset, time, size, length, kind, flags, zero = \
                ENTRY.unpack_from(self.memory, at)
            data = self.memory[at + 64:at + 64 + length]
            if struct.unpack_from("<Q", self.memory, 64)[0] - self.position > self.size:
                raise ValueError("the ring was overrun")
            self.position += size
            if number:
                self.take(number, (connection, offset, time, kind, flags, zero), data)

    def take(self, number, entry, data):
        connection, offset, time, kind, flags, zero = entry
        if self.number not in (None, number - 1) or zero or time < 1500000000 * 10**9:
            raise ValueError("entry %d behind %s: %r" % (number, self.number, entry))
        self.number = number
        if kind == OPEN:
            self.opens[connection] = (flags, data)
        elif kind == MARK:
            self.shadows.append(data)
        elif kind in (TO_SERVER, TO_CLIENT):
            stream = self.streams.setdefault((connection, kind), bytearray())
            if offset != len(stream):
                raise ValueError("bytes at %d behind %d" % (offset, len(stream)))
            stream += data
        else:
            self.marks.append((connection, kind, offset, flags))

    def ask(self):
        self.socket.sendall(b"A")

    def close(self):
        self.memory.close()
        self.socket.close()


def ends(data):
    """((address, port) of the client, where the relay listens, where it connects from, the server),
    bytes so far to both sides"""
    found = []
    for i in range(4):
        address, scope, port, zero = struct.unpack_from("<16sIHH", data, 24 * i)
        if scope or zero or address[:12] != bytes(10) + b"\xff\xff":
            raise ValueError("an address: %r" % address)
        found.append((socket.inet_ntoa(address[12:]), port))
    return found, struct.unpack_from("<QQ", data, 96)
