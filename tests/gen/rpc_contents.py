# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic whose files hold RPC themselves: captures of NFS, raw TCP streams with record marks, raw
messages.  Behind a lost segment such contents look like messages.

    trace = Trace()
    connection(trace, seed, "10.0.0.1")             # appends one connection's frames
    connection(trace, seed, "10.0.0.1", twin=True)  # and the files hold a twin's traffic
"""
import random
import struct

import messages as m
import packets
import traffic

CLIENT, SERVER = traffic.CLIENT, traffic.SERVER
KINDS = ("capture", "own capture", "stream", "whole stream", "messages", "mixed")
XIDS = ("little", "big", "random")
TWIN_XID = 17  # clients that number their calls alike begin with this one


def swap(value):
    return int.from_bytes(value.to_bytes(4, "little"), "big")


class Xids:
    """How a client numbers its calls: counting up as numbers of the host's or the network's byte
    order, or without any order."""

    def __init__(self, rng, how, last=None):
        self.rng, self.how = rng, how
        self.last = rng.getrandbits(32) if last is None else last

    def next(self):
        if self.how == "random":
            return self.rng.getrandbits(32)
        self.last = self.last + 1 & 0xffffffff
        return swap(self.last) if self.how == "little" else self.last


def stored_xids(rng, live):
    """How a stored client numbers its calls.  |live|: the Xids of the client whose twin it is, and
    then it counts from where that began, or from where that is now; None: another client's."""
    if live:
        return Xids(rng, live.how, rng.choice((TWIN_XID, live.last)))
    return Xids(rng, rng.choice(XIDS))


def exchange(rng, xid, most=9000, live=None):
    """One stored operation: (call, reply)."""
    handle, kind = m.handle(rng.randrange(1000)), rng.randrange(5)
    credential = m.auth_sys(uid=rng.randrange(4), gids=range(rng.randrange(17)))
    if live:
        handle, credential = m.handle(7), None
    size = rng.choice((0, 100, 1000, 4096, most))
    if kind == 0:
        pair = m.READ, m.read_args(handle, 0, size), m.read_res(m.pattern(size, xid))
    elif kind == 1:
        pair = m.WRITE, m.write_args(handle, 0, m.pattern(size, xid)), m.write_res(size)
    elif kind == 2:
        pair = m.LOOKUP, m.lookup_args(handle, "n%d" % xid), m.lookup_fail()
    elif kind == 3:
        pair = m.NULL, b"", b""
    else:
        pair = m.GETATTR, m.getattr_args(handle), m.getattr_res(xid)
    return m.call(xid, pair[0], pair[1], credential=credential), m.reply(xid, pair[2])


def file_of(frames):
    """The bytes of a pcap file with these (time, data)."""
    out = [struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, packets.ETHERNET)]
    for time, data in frames:
        out += [struct.pack("<IIII", time // 10**9, time % 10**9 // 1000, len(data), len(data)),
                data]
    return b"".join(out)


def stored_capture(rng, size, live):
    trace, xids = traffic.Trace(start=10**18), stored_xids(rng, live)
    flow = traffic.TcpFlow(trace, "10.0.0.%d" % rng.randrange(1, 99), rng.randrange(600, 1023))
    total = 0
    while total < size:
        calls, replies = [], []
        for _ in range(rng.choice((1, 1, 2, 8))):
            call, reply = exchange(rng, xids.next(), live=live)
            calls.append(call)
            replies.append(reply)
            total += len(call) + len(reply) + 164
        for side, batch in (CLIENT, calls), (SERVER, replies):
            data = b"".join(m.record(x) for x in batch)
            for at in range(0, len(data), 1448):
                flow.segment(side, packets.ACK, data[at:at + 1448])
                flow.next[side] += len(data[at:at + 1448])
    return file_of([(f.time, f.data) for f in trace.frames])


def stored_stream(rng, size, live, marks=True, side=None):
    """One direction's messages, back to back."""
    xids, side = stored_xids(rng, live), rng.randrange(2) if side is None else side
    out, most = bytearray(), rng.choice((0, 1000, 9000))
    while len(out) < size:
        message = exchange(rng, xids.next(), most, live)[side]
        cuts = [rng.randrange(1, 24)] if marks and rng.random() < 0.05 else ()
        out += m.record(message, cuts) if marks else message
    return bytes(out)


class Connection:
    def __init__(self, trace, rng, client, twin):
        self.trace, self.rng = trace, rng
        self.flow = traffic.TcpFlow(trace, client, rng.randrange(600, 1023),
                                    mss=rng.choice((1448, 1448, 536, 8948)),
                                    isn=(rng.getrandbits(32), rng.getrandbits(32)))
        self.xids = Xids(rng, rng.choice(XIDS[:2] if twin else XIDS), TWIN_XID if twin else None)
        self.twin = self.xids if twin else None
        self.kind = rng.choice(KINDS)
        self.first = len(trace.frames)
        self.waiting = []  # replies that were not sent yet
        self.file, self.read = b"", 0

    def contents(self, size, side):
        """The next |size| bytes of a file; less at the end of one."""
        kind = self.kind if self.kind != "mixed" else self.rng.choice(KINDS[:-1])
        if kind == "whole stream":  # no file goes on in the next call
            return stored_stream(self.rng, size, self.twin, side=side)
        if self.read >= len(self.file):
            self.read = 0
            if kind == "own capture":
                lag = self.rng.randrange(64, 300)
                frames = self.trace.frames[self.first:]
                self.file = file_of([(f.time, f.data) for f in frames[-lag - 200:-lag]])
            elif kind == "capture":
                self.file = stored_capture(self.rng, 4 * size, self.twin)
            else:
                self.file = stored_stream(self.rng, 4 * size, self.twin, kind == "stream", side)
        part = self.file[self.read:self.read + size]
        self.read += size
        return part

    def operation(self):
        rng, xid = self.rng, self.xids.next()
        handle, size = m.handle(7), rng.choice((1000, 4096, 8192, 16384, 65536))
        what = rng.random()
        if what < 0.35:
            data = self.contents(size, 0)
            return (xid, m.WRITE, m.write_args(handle, 0, data)), m.write_res(len(data))
        if what < 0.7:
            return (xid, m.READ, m.read_args(handle, 0, size)), m.read_res(self.contents(size, 1))
        if what < 0.85:
            return (xid, m.GETATTR, m.getattr_args(handle)), m.getattr_res(7)
        return (xid, m.LOOKUP, m.lookup_args(handle, "name")), m.lookup_fail()

    def run(self, operations):
        """Some calls at once, their replies in any order."""
        left = operations
        while left > 0 or self.waiting:
            count = min(left, self.rng.choice((0, 1, 1, 2, 5)))
            left -= count
            batch = [self.operation() for _ in range(count)]
            calls = [self.flow.new_call(*call) for call, _ in batch]
            if self.rng.random() < 0.5:
                self.flow.send(CLIENT, calls)
            else:
                for call in calls:
                    self.flow.send(CLIENT, [call])
            self.waiting += [(c.op, result) for c, (_, result) in zip(calls, batch)]
            self.rng.shuffle(self.waiting)
            answered = self.rng.randrange(len(self.waiting) + 1) if left else len(self.waiting)
            for op, result in self.waiting[:answered]:
                self.flow.reply(op, result)
            del self.waiting[:answered]
            self.trace.wait(100_000)


def connection(trace, seed, client, operations=40, twin=False):
    """One connection's frames, with losses and perhaps from its middle on; returns what it is.
    |twin|: the files hold traffic that has the XIDs, the credential and the handle of its own."""
    rng = random.Random(seed)
    c = Connection(trace, rng, client, twin)
    c.flow.open()
    c.run(operations)
    share = rng.choice((0.001, 0.005, 0.01, 0.02, 0.05, 0.1))
    frames, joined = trace.frames[c.first:], 0
    if rng.random() < 0.3:
        joined = rng.randrange(len(frames) // 2)
    kept = [f for i, f in enumerate(frames) if i >= joined and rng.random() >= share]
    if rng.random() < 0.2:  # the one segment in front of contents
        starts = [f for f in kept if any(p[1] == 0 for p in f.pieces)]
        if starts:
            kept.remove(rng.choice(starts))
    trace.frames[c.first:] = kept
    return "%s%s, xids %s, mss %d, loss %g, from frame %d" % (
        "twin's " if twin else "", c.kind, c.xids.how, c.flow.mss, share, joined)
