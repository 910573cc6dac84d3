# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP connections of NFS clients, segment by segment, as captures at both ends see them.

    world = World(start)
    line = Line(world, "10.0.0.2", 900, "10.0.0.1")
    line.open(at)
    line.call(at, xid, GETATTR, arguments); line.reply(at, xid, results)
    world.write(path, SERVER)

Every segment leaves its sender at a time and reaches the other end DELAY later, unless it is lost.
A capture at the client's end (CLIENT) sees what the client sends and what reaches it; one at the
server's end (SERVER) the same of the server, by a clock that is |offset| ahead.
"""
import capfile
import messages
from packets import ACK, ETHERNET, FIN, RST, SYN, TCP, ethernet, internet, tcp

CLIENT, SERVER = 0, 1
DELAY = 200_000  # ns from one end to the other


class World:
    def __init__(self, offset=0):
        self.offset = offset
        self.seen = ([], [])  # (time, order, frame) at each end
        self.ident = 0

    def send(self, at, line, side, flags, data=b"", seq=None, ack=None, window=0xffff, lost=False):
        self.ident += 1
        ends = [(line.client, line.port), (line.server, 2049)]
        source, destination = ends[side], ends[1 - side]
        seq = line.next[side] if seq is None else seq
        ack = line.next[1 - side] if ack is None else ack
        frame = ethernet(internet(source[0], destination[0], TCP, tcp(
            source[0], destination[0], source[1], destination[1], seq, ack, flags, data, window),
            self.ident))
        self.seen[side].append((at, self.ident, frame))
        if not lost:
            self.seen[1 - side].append((at + DELAY, self.ident, frame))

    def write(self, path, end):
        add = self.offset if end == SERVER else 0
        capfile.write_pcap(path, [capfile.Packet(t + add, f, len(f), ETHERNET)
                                  for t, _, f in sorted(self.seen[end])])


class Line:
    def __init__(self, world, client, port, server):
        self.world, self.client, self.port, self.server = world, client, port, server
        self.next = [1000 * port, 77 * port]
        self.sent = {}  # (side, xid): its sequence number and bytes

    def syn(self, at, lost=False):
        self.world.send(at, self, CLIENT, SYN, ack=0, lost=lost)

    def open(self, at):
        self.syn(at)
        self.next[0] += 1
        self.world.send(at + DELAY, self, SERVER, SYN | ACK)
        self.next[1] += 1
        self.world.send(at + 2 * DELAY, self, CLIENT, ACK)

    def again(self, jump=1 << 22):
        """Other numbers, for another connection between the same ports."""
        self.next = [n + jump for n in self.next]

    def refuse(self, at):
        self.world.send(at, self, SERVER, RST | ACK, seq=0, ack=self.next[0] + 1)

    def flag(self, at, side, flags):
        self.world.send(at, self, side, flags)
        self.next[side] += bool(flags & FIN)

    def data(self, at, side, key, data, lost=False):
        self.sent[side, key] = self.next[side], data
        self.world.send(at, self, side, ACK, data, lost=lost)
        self.next[side] += len(data)

    def resend(self, at, side, key, lost=False):
        seq, data = self.sent[side, key]
        self.world.send(at, self, side, ACK, data, seq=seq, lost=lost)

    def call(self, at, xid, procedure, arguments=b"", lost=False):
        self.data(at, CLIENT, xid, messages.record(messages.call(
            xid, procedure, arguments, credential=messages.auth_sys())), lost)

    def reply(self, at, xid, results=b"", lost=False):
        self.data(at, SERVER, xid, messages.record(messages.reply(xid, results)), lost)
