# SPDX-License-Identifier: GPL-2.0-or-later
"""A made-up capture of busy clients that knows its operations: who called what on which path, when,
with what outcome, and in which frames. For reports that count all of these.

Datagrams of many clients, some of them lost or sent again; a name that stood for two files; names
that look like markup; and a TCP connection of which a reply was not captured."""
import collections

import capfile
import messages
import packets
import traffic

SECOND = 10**9
START = 1_700_000_000 * SECOND + 300_000_000  # 2023-11-14 22:13:20.3
SERVER, EXPORT, MNT = "10.0.0.1", "/srv/exp", 1

Op = collections.namedtuple(
    "Op", "number client uid program procedure path size status call reply resent replied_again"
          " call_lost xid arguments result")

# name | how a trace shows it (schemas/trace.sql, "names")
ODD_NAMES = [
    (b"<script>window.pwned=1<", "<script>window.pwned=1<"),
    (b"\"'><img src=x onerror=pwned=2>", "\"'><img src=x onerror=pwned=2>"),
    (b"&lt;b&gt;", "&lt;b&gt;"),
    (b"a\x01\x1b[31m\x7f\nb", "a\\x01\\x1b[31m\\x7f\\x0ab"),
    ("\u202egnp.exe".encode(), "\\xe2\\x80\\xaegnp.exe"),
    (b"\xff\xfe latin", "\\xff\\xfe latin"),
    (b"back\\slash", "back\\\\slash"),
    ("\u00e9\U0001f600".encode(), "\u00e9\U0001f600"),
    (b"]]>--></style></script>", "]]>--><\\x2fstyle><\\x2fscript>"),
    (b"x" * 250, "x" * 250),
]


class Busy:
    """The operations of |count| calls and those that find the files; |rng| decides."""

    def __init__(self, rng, count, seconds=20, clients=30, files=60):
        self.rng, self.ops, self.packets = rng, [], []
        self.at, self.step = START, seconds * SECOND // count
        self.clients = ["10.0.1.%d" % (i + 1) for i in range(clients)]
        self.clients.insert(1, "2001:db8::7")
        self.root = messages.handle(1)
        self.files, self.next_handle = [], 100
        self.set_up(files)
        for _ in range(count):
            self.random_op()
        self.again("lock")

    # --- operations

    def add(self, procedure, path, arguments, result, size=0, status=0, program=messages.NFS,
            quiet=False):
        """One operation; only if not |quiet|, something may be lost or come twice."""
        rng = self.rng
        self.at += rng.randrange(1, 2 * self.step)
        chance = 1.0 if quiet else rng.random()
        lost, call_lost = chance < 0.03, 0.03 <= chance < 0.04
        resent = 0.04 <= chance < 0.10
        latency = int(10 ** rng.uniform(4.7, 7.8)) + (700_000_000 if resent else 0)
        number = len(self.ops)
        client = rng.choice(self.clients[:1 + int(rng.random() ** 2 * len(self.clients))])
        self.ops.append(Op(
            number, self.clients[0] if quiet else client,
            rng.randrange(1000, 1030), program, procedure, path, size, status, self.at,
            None if lost else self.at + latency, self.at + 600_000_000 if resent else None,
            self.at + latency + 30_000_000 if resent and rng.random() < 0.5 else None,
            call_lost, 5000 + number, arguments, result))

    def find(self, directory, path, name, shown, kind=messages.REG):
        """A LOOKUP of a name; returns the handle and the path of what it found."""
        self.next_handle += 1
        fh, below = messages.handle(self.next_handle), "%s/%s" % (path, shown)
        self.add(messages.LOOKUP, below, messages.lookup_args(directory, name),
                 messages.lookup_res(fh, self.next_handle, kind), quiet=True)
        self.at += SECOND // 10  # what follows uses what this found
        return fh, below

    def set_up(self, files):
        self.add(MNT, EXPORT, messages.opaque(EXPORT), messages.u32(0) + messages.opaque(self.root)
                 + messages.u32(1, 1), program=messages.MOUNT, quiet=True)
        self.at += SECOND // 10
        places = [(self.root, EXPORT)]
        for name in "home", "deep", "er":
            places.append(self.find(*(places[-1] if name == "er" else places[0]), name, name,
                                    messages.DIR))
        for i in range(files):
            name = "f%d" % i
            self.files.append(self.find(*places[i % len(places)], name, name))
        for name, shown in ODD_NAMES:
            self.files.append(self.find(*places[1], name, shown))
        self.locks = places[1]
        self.again("lock")

    def again(self, name):
        """The name stands for a new file."""
        directory, path = self.locks
        fh, below = self.find(directory, path, name, name)
        for _ in range(40):
            self.add(messages.GETATTR, below, messages.getattr_args(fh),
                     messages.getattr_res(self.next_handle), quiet=True)
        self.at += SECOND // 10
        self.add(messages.REMOVE, below, messages.remove_args(directory, name),
                 messages.remove_res(), quiet=True)
        self.at += SECOND // 10

    def random_op(self):
        rng = self.rng
        fh, path = self.files[int(rng.random() ** 3 * len(self.files))]
        size, data_of = rng.randrange(1, 900), messages.pattern
        procedure = rng.choice([messages.GETATTR, messages.READ, messages.READ, messages.WRITE])
        if rng.random() < 0.1:
            tails = {messages.GETATTR: b"", messages.READ: messages.u32(0),
                     messages.WRITE: messages.u32(0, 0)}
            status = rng.choice([messages.STALE, 13])
            result = messages.u32(status) + tails[procedure]
        else:
            status = 0
            result = {messages.GETATTR: lambda: messages.getattr_res(7),
                      messages.READ: lambda: messages.read_res(data_of(size), 7),
                      messages.WRITE: lambda: messages.write_res(size, 7)}[procedure]()
        arguments = {messages.GETATTR: lambda: messages.getattr_args(fh),
                     messages.READ: lambda: messages.read_args(fh, 0, size),
                     messages.WRITE: lambda: messages.write_args(fh, 0, data_of(size))}[procedure]()
        self.add(procedure, path, arguments, result, size, status)

    # --- frames

    def datagram(self, time, source, destination, ports, message, what):
        payload = packets.udp(source, destination, *ports, message)
        self.packets.append((time, packets.ethernet(packets.internet(
            source, destination, packets.UDP, payload, len(self.packets) + 1)), what))

    def make(self):
        """[(time, bytes, what)] of all frames in order; |what|: (number, "call" or "reply")."""
        for op in self.ops:
            server = "2001:db8::1" if ":" in op.client else SERVER
            port = 20048 if op.program == messages.MOUNT else 2049
            call = messages.call(op.xid, op.procedure, op.arguments, op.program,
                                 credential=messages.auth_sys(uid=op.uid))
            for time in (None if op.call_lost else op.call, op.resent):
                if time is not None:
                    self.datagram(time, op.client, server, (700, port), call,
                                  (op.number, "call" if time == op.call else "again"))
            for time in op.reply, op.replied_again:
                if time is not None:
                    self.datagram(time, server, op.client, (port, 700),
                                  messages.reply(op.xid, op.result),
                                  (op.number, "reply" if time == op.reply else "again"))
        self.packets.sort(key=lambda p: p[0])
        return self.packets


def tcp_with_hole(start):
    """A connection of which one reply was not captured: (frames, operations, bytes that lack)."""
    trace = traffic.Trace(start=start)
    flow = traffic.TcpFlow(trace, "10.0.2.1", 901)
    fh = messages.handle(2)
    flow.open()
    for xid in range(1, 40):
        op = flow.call(xid, messages.GETATTR, messages.getattr_args(fh))
        trace.wait(300_000)
        lost = flow.reply(op, messages.getattr_res(2), lost=xid == 20)
        if xid == 20:
            missing = len(lost.wire)
        trace.wait(300_000)
    return trace, missing


def write(path, frames):
    """|frames|: [(time, bytes, ...)]."""
    capfile.write_pcap(path, [capfile.Packet(f[0], f[1], len(f[1]), packets.ETHERNET)
                              for f in frames])
