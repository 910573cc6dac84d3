#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""The RPC server on loopback, asked by hand-made calls over TCP and UDP.  What it answers is put into
a capture, and stock tshark must see in it what RFC 5531 says about each call, and nothing malformed.

The calls are made without the engine's tables (tests/gen/messages.py)."""
import collections
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import time

sys.path[:0] = [os.path.join(os.environ["SRC"], "tests", name) for name in ("gen", "oracle")]
import capfile  # noqa: E402
import messages as m  # noqa: E402
import packets  # noqa: E402
import scratch  # noqa: E402
import stock  # noqa: E402
import tshark  # noqa: E402

SERVER = os.path.join(os.environ["BUILD"], "bin/tests/rpc_answers")
FIELDS = ("rpc.xid", "rpc.replystat", "rpc.state_accept", "rpc.state_reject", "rpc.state_auth",
          "rpc.programversion.min", "rpc.programversion.max", "rpc.version.min", "rpc.version.max",
          "nfs.status3")
Case = collections.namedtuple("Case", "name message replies")
FH = m.handle(1)


def accepted(state, **more):
    return dict({"rpc.replystat": 0, "rpc.state_accept": state}, **more)


def failed(status):
    return accepted(0, **{"nfs.status3": status})


def refused(auth_state):
    return {"rpc.replystat": 1, "rpc.state_reject": 1, "rpc.state_auth": auth_state}


def cases():
    """In the order of sending; the XID is the place from 1."""
    gss = m.u32(6) + m.opaque(m.u32(1, 1, 0, 1, 0))
    rows = [
        ("NULL", m.NULL, b"", {}, [accepted(0)]),
        ("NULL, AUTH_NONE", m.NULL, b"", {"credential": m.auth_none()}, [accepted(0)]),
        ("GETATTR", m.GETATTR, m.getattr_args(FH), {}, [failed(m.STALE)]),
        ("LOOKUP, late", m.LOOKUP, m.lookup_args(FH, "a"), {}, [failed(m.NOENT)]),
        ("ACCESS", m.ACCESS, m.access_args(FH), {}, [accepted(4)]),
        ("READLINK", m.READLINK, m.getattr_args(FH), {}, [accepted(5)]),
        ("READ", m.READ, m.read_args(FH, 0, 9), {}, [refused(5)]),
        ("WRITE, twice", m.WRITE, m.write_args(FH, 0, m.pattern(70000)), {}, [failed(28)] * 2),
        ("CREATE, never", m.CREATE, m.create_args(FH, "a"), {}, []),
        ("no such program", 0, b"", {"program": m.MOUNT}, [accepted(1)]),
        ("no such version", 0, b"", {"version": 2},
         [accepted(2, **{"rpc.programversion.min": 3, "rpc.programversion.max": 3})]),
        ("no such procedure", 22, b"", {}, [accepted(3)]),
        ("RPCSEC_GSS", m.NULL, b"", {"credential": gss}, [refused(2)]),
    ]
    for xid, (name, procedure, arguments, more, replies) in enumerate(rows, 1):
        yield Case(name, m.call(xid, procedure, arguments, **more), replies)


class Wire:
    """A capture in the making: messages of one connection, or of two UDP ports."""

    def __init__(self, protocol):
        self.protocol, self.packets, self.seq = protocol, [], [1, 1]
        self.time = 1_700_000_000_000_000_000

    def add(self, from_server, data, limit=60000):
        ends = ("127.0.0.1", "127.0.0.1", 900, 2049)
        if from_server:
            ends = ("127.0.0.1", "127.0.0.1", 2049, 900)
        pieces = [data[i:i + limit] for i in range(0, len(data), limit)]
        for piece in pieces:
            if self.protocol == packets.TCP:
                segment = packets.tcp(*ends, self.seq[from_server], self.seq[not from_server],
                                      packets.ACK | packets.PSH, piece)
                self.seq[from_server] += len(piece)
            else:
                segment = packets.udp(*ends, piece)
            frame = packets.ethernet(packets.internet(*ends[:2], self.protocol, segment))
            self.time += 1000
            self.packets.append(capfile.Packet(self.time, frame, len(frame), 1))


def receive_record(connection):
    """Of one fragment, as the server sends them."""
    def exactly(length):
        data = b""
        while len(data) < length:
            more = connection.recv(length - len(data))
            if not more:
                raise EOFError
            data += more
        return data
    mark, = struct.unpack(">I", exactly(4))
    if not mark >> 31:
        raise ValueError("a fragment that is not the last")
    return exactly(mark & 0x7fffffff)


def over_tcp(address, wire):
    with socket.create_connection(address, timeout=20) as connection:
        for case in cases():
            # fragments this small are legal, but tshark does not follow them
            connection.sendall(m.record(case.message, (10, 0, 30)))
            wire.add(False, m.record(case.message))
            for _ in case.replies:
                wire.add(True, m.record(receive_record(connection)))
        connection.sendall(m.record(m.call(99, m.REMOVE, m.remove_args(FH, "a"))))
        try:
            receive_record(connection)
            return ["REMOVE did not end the connection"]
        except EOFError:
            return []


def over_udp(address, wire):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(20)
        sender.connect(address)
        for case in cases():
            message = case.message
            if len(message) > 60000:  # one that UDP carries
                message = m.call(struct.unpack(">I", message[:4])[0], m.WRITE,
                                 m.write_args(FH, 0, m.pattern(8000)))
            sender.send(message)
            wire.add(False, message)
            for _ in case.replies:
                wire.add(True, sender.recv(65536))
    return []


def seen_replies(path):
    """Of each XID, what tshark shows of its replies."""
    command = ["tshark", "-n", "-r", path, "-Y", "rpc.msgtyp == 1", "-T", "fields"]
    command += tshark.OPTIONS + [o for field in FIELDS for o in ("-e", field)]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                         env=stock.STOCK, text=True).stdout
    seen = collections.defaultdict(list)
    for line in out.splitlines():
        row = {k: int(v, 0) for k, v in zip(FIELDS, line.split("\t")) if v}
        seen[row.pop("rpc.xid")].append(row)
    return seen


def judge(name, path):
    wrong = []
    looked = stock.Seen(path)
    for complaint, count in looked.wrong.items():
        wrong.append(f"{name}: {complaint} ({count} times)")
    seen = seen_replies(path)
    for xid, case in enumerate(cases(), 1):
        if seen.get(xid, []) != case.replies:
            wrong.append(f"{name}: {case.name}: expected {case.replies}, seen {seen.get(xid)}")
    return wrong


def main():
    wrong = []
    with scratch.folder() as folder, subprocess.Popen(
            [SERVER, "127.0.0.1:0", "60"], stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        found = re.fullmatch(r"(127\.0\.0\.1):(\d+)\n", line)
        if not found:
            print("no address of the server:", repr(line))
            return 1
        address = found[1], int(found[2])
        for name, protocol, ask in ("tcp", packets.TCP, over_tcp), ("udp", packets.UDP, over_udp):
            wire = Wire(protocol)
            wrong += ask(address, wire)
            path = pathlib.Path(folder) / f"{name}.pcap"
            capfile.write_pcap(path, wire.packets)
            path.chmod(0o644)
            wrong += judge(name, path)
        server.terminate()
        began = time.monotonic()
        if server.wait(20) != 0:
            wrong.append(f"the server's exit code is {server.returncode}")
        if time.monotonic() - began > 10:
            wrong.append("SIGTERM did not end the server at once")
    print("\n".join(wrong) or f"{len(list(cases()))} calls over TCP and UDP")
    return 1 if wrong else 0


sys.exit(main())
