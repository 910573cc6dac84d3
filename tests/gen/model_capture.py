# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes what a model world does as a capture file, message by message.

    record(world, "x.pcap", loss=Loss(call=0.01, reply=0.01, seed=3), mounts=True)

A lost message is lost as a whole: its segments leave a hole in the stream, or its datagram is not
there. Nothing is sent again. Memory doesn't grow with the number of operations.
"""
import functools
import random
import struct

import messages
import model_world
import packets
import traffic
from model_xdr import NULL, encode_arguments, encode_result

SERVER, NFS_PORT, MOUNT_PORT = "10.0.0.9", 2049, 20048
MNT, MNT3_OK, AUTH_SYS = 1, 0, 1


class Loss:
    """Probabilities that a call or a reply is lost. |procedures|: {procedure: (of its calls, of its
    replies)} for those that have others."""

    def __init__(self, call=0.0, reply=0.0, procedures=None, seed=0):
        self.usual, self.procedures = (call, reply), procedures or {}
        self.rng = random.Random(seed)

    def loses(self, procedure, is_reply):
        return self.rng.random() < self.procedures.get(procedure, self.usual)[is_reply]


class Wire:
    """A message on its way, as traffic.Flow.send() wants it."""

    def __init__(self, wire):
        self.wire, self.frames = wire, []


@functools.lru_cache(maxsize=1024)
def credential(who, machine):
    return messages.auth_sys(who.uid, who.gid, who.gids, machine)


class Writer:
    """Stands in for a traffic.Trace, and keeps no frame. |connections|: of each host; a process
    uses one of them. |mss|: bytes of a TCP segment."""

    def __init__(self, path, world, transport=packets.TCP, connections=2, loss=None, mounts=True,
                 mss=1448):
        self.world, self.transport, self.mss = world, transport, mss
        self.connections, self.loss = connections, loss or Loss()
        self.frames, self.ident = 0, 0
        self.now = model_world.BEGIN - 10**9
        self.flows = {}
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, packets.ETHERNET))
        if mounts:
            for host in world.hosts:
                self.mount(host)

    # As traffic.Trace

    def next_ident(self):
        self.ident += 1
        return self.ident

    def add(self, packet, vlans=(), pieces=(), lost=False):
        data = packets.ethernet(packet, vlans)
        if not lost:
            self.frames += 1
            self.file.write(struct.pack("<IIII", self.now // 10**9, self.now % 10**9, len(data),
                                        len(data)) + data)
        return traffic.Frame(self.now, b"", pieces, len(data))

    # What is written

    def mount(self, host):
        """MNT of each export (RFC 1813 s5.2.1), and its handle."""
        flow = traffic.UdpFlow(self, host.address, 700, SERVER, MOUNT_PORT)
        for path, root in zip(self.world.paths, self.world.roots):
            self.now += 10**6
            xid = host.number << 16 | len(path)
            flow.send(traffic.CLIENT, [Wire(messages.call(
                xid, MNT, messages.opaque(path), messages.MOUNT, 3))])
            self.now += 10**5
            flow.send(traffic.SERVER, [Wire(messages.reply(
                xid, messages.u32(MNT3_OK) + messages.opaque(root) + messages.u32(1, AUTH_SYS)))])

    def flow(self, op):
        key = (op.host.number, op.process.number % self.connections)
        if key not in self.flows:
            port = 800 + key[1]
            if self.transport == packets.TCP:
                flow = traffic.TcpFlow(self, op.host.address, port, SERVER, NFS_PORT, mss=self.mss)
                flow.open()
            else:
                flow = traffic.UdpFlow(self, op.host.address, port, SERVER, NFS_PORT)
            self.flows[key] = flow
        return self.flows[key]

    def take(self, event, op):
        """An event of the world."""
        if event == model_world.CALL:
            self.now = op.call_time
            body = messages.call(op.xid, op.procedure, encode_arguments(op.procedure, op.arguments),
                                 credential=credential(op.who, op.host.machine))
            op.call_frame = self.send(op, body, traffic.CLIENT)
        elif event == model_world.REPLY:
            self.now = op.reply_time
            body = messages.reply(op.xid, encode_result(op.procedure, op.result.status,
                                                        op.result.fields))
            op.reply_frame = self.send(op, body, traffic.SERVER)

    def send(self, op, body, from_client):
        """The number of the frame that has the message's end, or None."""
        flow = self.flow(op)
        lost = op.procedure != NULL and self.loss.loses(op.procedure, not from_client)
        flow.send(from_client, [Wire(flow.framed(body))], lost)
        return None if lost else self.frames

    def close(self):
        self.now += 10**9
        for flow in self.flows.values():
            if self.transport == packets.TCP:
                flow.close()
        self.file.close()


def record(world, path, sinks=(), **options):
    """Lets the world run, with a Writer's |options|; |sinks| get every event, too. Returns how many
    frames were written."""
    writer = Writer(path, world, **options)
    for event, op in world.run():
        writer.take(event, op)
        for sink in sinks:
            sink(event, op)
    writer.close()
    return writer.frames
