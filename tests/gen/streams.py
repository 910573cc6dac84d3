# SPDX-License-Identifier: GPL-2.0-or-later
"""An independent reader of unharmed captures: which RPC messages are in them, byte by byte.

Plain and slow, for whole captures only: segments are put in place by sequence number, then the
chain of record marks is followed from the beginning of each stream; datagrams are put together
from fragments. It knows nothing of loss. Each message knows the frames that carry its bytes, so
that what is left of it in a harmed copy of the capture can be decided byte by byte.
"""
import ipaddress
import struct

TCP, UDP = 6, 17
SYN, RST = 2, 4
RPC_PORTS = (2049, 111, 20048)


class Piece:
    """|length| bytes of a stream or datagram at |start|; in frame |frame| at |at|."""
    __slots__ = ("frame", "start", "length", "at")

    def __init__(self, frame, start, length, at):
        self.frame, self.start, self.length, self.at = frame, start, length, at


class Message:
    """[start, end) of a stream or datagram; marks included. |source| and |destination| are
    (address, port)."""

    def __init__(self, transport, source, destination, start, end, body, pieces, header):
        self.transport, self.source, self.destination = transport, source, destination
        self.start, self.end, self.body, self.pieces = start, end, body, pieces
        self.fragmented = False
        self.xid, self.direction = struct.unpack_from(">II", body)
        self.header_end = start + header  # after the fixed part of the RPC header
        self.program = self.version = None
        if self.direction == 0:
            self.program, self.version = struct.unpack_from(">II", body, 12)


def ip_of(data, link_type):
    """The offset of the IP header in a frame, or None."""
    if link_type == 1:
        at, kind = 14, struct.unpack_from(">H", data, 12)[0]
        while kind in (0x8100, 0x88a8):
            kind = struct.unpack_from(">H", data, at + 2)[0]
            at += 4
    elif link_type == 113:
        at, kind = 16, struct.unpack_from(">H", data, 14)[0]
    else:
        return None
    return at if kind in (0x0800, 0x86dd) else None


def transport_of(data, at, wire_end):
    """(protocol, source, destination, offset, end, fragment) of the IP packet at |at|; offsets in
    the frame, |end| on the wire. fragment: None or (key, offset, more)."""
    if data[at] >> 4 == 4:
        total, ident, word = struct.unpack_from(">HHH", data, at + 2)
        end = at + total if total else wire_end
        source = str(ipaddress.IPv4Address(data[at + 12:at + 16]))
        destination = str(ipaddress.IPv4Address(data[at + 16:at + 20]))
        protocol = data[at + 9]
        start = at + (data[at] & 15) * 4
        fragment = None
        if word & 0x3fff:
            key = (source, destination, protocol, ident)
            fragment = (key, (word & 0x1fff) * 8, bool(word & 0x2000))
        return protocol, source, destination, start, end, fragment
    length, protocol = struct.unpack_from(">HB", data, at + 4)
    source = str(ipaddress.IPv6Address(data[at + 8:at + 24]))
    destination = str(ipaddress.IPv6Address(data[at + 24:at + 40]))
    return protocol, source, destination, at + 40, at + 40 + length, None


class Stream:
    """One direction of one TCP connection. The first copy of a byte wins."""

    def __init__(self, source, destination, base, from_syn):
        self.source, self.destination = source, destination
        self.base, self.from_syn = base, from_syn  # sequence number of byte 0
        self.last = base
        self.pieces = []
        self.data, self.there = bytearray(), bytearray()

    def place(self, seq):
        """The stream offset of a sequence number, near the last one."""
        distance = (seq - self.last + 2**31) % 2**32 - 2**31
        return self.last + distance - self.base

    def add(self, seq, payload, frame, at):
        start = self.place(seq)
        if start < 0:
            return
        end = start + len(payload)
        self.last = self.base + max(start, self.last - self.base)
        if end > len(self.data):
            more = bytes(end - len(self.data))
            self.data.extend(more)
            self.there.extend(more)
        fresh = self.there.count(0, start, end)
        if fresh == len(payload):
            self.data[start:end] = payload
        elif fresh:
            for i in range(start, end):
                if not self.there[i]:
                    self.data[i] = payload[i - start]
        elif self.data[start:end] != payload:
            return  # the garbage byte of a keep-alive is no copy
        self.there[start:end] = b"\1" * len(payload)
        self.pieces.append(Piece(frame, start, len(payload), at))

    def whole(self):
        """How many bytes there are before the first that was never captured."""
        hole = self.there.find(0)
        return len(self.data) if hole < 0 else hole

    def carriers(self):
        """A function (start, end) -> the pieces that touch it, in the order of frames."""
        buckets, size = {}, 4096
        for order, piece in enumerate(self.pieces):
            for bucket in range(piece.start // size, (piece.start + piece.length - 1) // size + 1):
                buckets.setdefault(bucket, []).append((order, piece))

        def find(start, end):
            found = {}
            for bucket in range(start // size, (end - 1) // size + 1):
                found.update(buckets.get(bucket, ()))
            return [p for _, p in sorted(found.items())
                    if p.start < end and p.start + p.length > start]
        return find


def is_rpc(body):
    """Whether this begins as an RPC message (RFC 5531 s9): a call of version 2, or a reply."""
    if len(body) < 24:
        return False
    words = struct.unpack_from(">6I", body)
    return words[1] == 0 and words[2] == 2 or words[1] == 1 and words[2] in (0, 1)


class Reader:
    def __init__(self, packets):
        self.open, self.streams, self.messages = {}, [], []
        self.heads = []  # first fragments of datagrams, as messages: all that a cut leaves
        self.sets, self.complete = {}, {}  # of fragments, by their key
        for number, packet in enumerate(packets, 1):
            self.frame(number, packet)
        for stream in self.streams:
            self.follow(stream)

    def frame(self, number, packet):
        data = packet.data
        if len(data) != packet.wire_len:
            raise ValueError("frame %d is cut: not an unharmed capture" % number)
        at = ip_of(data, packet.link_type)
        if at is None:
            return
        protocol, source, destination, start, end, fragment = transport_of(data, at, len(data))
        if protocol == TCP and fragment is None:
            self.segment(number, data, source, destination, start, end)
        elif protocol == UDP:
            self.datagram(number, data, source, destination, start, end, fragment)

    def segment(self, number, data, source, destination, at, end):
        source_port, destination_port, seq = struct.unpack_from(">HHI", data, at)
        if source_port not in RPC_PORTS and destination_port not in RPC_PORTS:
            return
        flags, start = data[at + 13], at + (data[at + 12] >> 4) * 4
        key = (source, source_port, destination, destination_port)
        stream = self.open.get(key)
        if flags & SYN:
            if stream is None or not stream.from_syn or stream.base != seq + 1:
                stream = None
            seq += 1
        if stream is None:
            stream = Stream(key[:2], key[2:], seq, bool(flags & SYN))
            self.open[key] = stream
            self.streams.append(stream)
        if end > start:
            stream.add(seq, data[start:end], number, start)

    def datagram(self, number, data, source, destination, start, end, fragment):
        pieces, whole = [Piece(number, 0, end - start, start)], data[start:end]
        if fragment:
            key, offset, more = fragment
            piece = Piece(number, offset, end - start, start)
            if offset == 0:
                self.head(data[start:end], source, destination, piece)
            again = self.complete.get(key)
            if again and again.whole[offset:offset + end - start] == data[start:end]:
                again.pieces.append(piece)  # another copy; it would do for one that is lost
            parts = self.sets.setdefault(key, {"pieces": [], "bytes": {}, "size": None})
            parts["pieces"].append(piece)
            parts["bytes"].setdefault(offset, data[start:end])
            if not more:
                parts["size"] = offset + end - start
            whole = bytearray()
            while parts["bytes"].get(len(whole)):
                whole += parts["bytes"][len(whole)]
            if len(whole) != parts["size"]:
                return
            pieces = parts["pieces"]
            del self.sets[key]
        ports = struct.unpack_from(">HH", whole)
        if not set(ports) & set(RPC_PORTS) or len(whole) < 8 + 24:
            return
        body = bytes(whole[8:])
        if not is_rpc(body):
            return
        message = Message(UDP, (source, ports[0]), (destination, ports[1]), 8, len(whole), body,
                          pieces, 24)
        message.fragmented = bool(fragment)
        self.messages.append(message)
        if fragment:
            message.whole = bytes(whole)
            self.complete[key] = message

    def head(self, data, source, destination, piece):
        ports = struct.unpack_from(">HH", data)
        if set(ports) & set(RPC_PORTS) and is_rpc(data[8:]):
            length = struct.unpack_from(">H", data, 4)[0]
            self.heads.append(Message(UDP, (source, ports[0]), (destination, ports[1]), 8, length,
                                      bytes(data[8:]), [piece], 24))

    def messages_when_cut(self):
        """Of datagrams in fragments, each first fragment stands alone."""
        return [m for m in self.messages if not m.fragmented] + self.heads

    def parts(self):
        """First fragments of datagrams that are not whole even here."""
        whole = {p.frame for m in self.messages if m.fragmented for p in m.pieces}
        return [h for h in self.heads if h.pieces[0].frame not in whole and
                h.end > h.pieces[0].length]

    def follow(self, stream):
        """Goes from record mark to record mark, up to the first byte that is not there."""
        at, data, end = 0, stream.data, stream.whole()
        find = stream.carriers()
        while True:
            start, body, header, last = at, bytearray(), None, False
            while not last:
                if at + 4 > end:
                    return
                mark = struct.unpack_from(">I", data, at)[0]
                length, last = mark & 0x7fffffff, bool(mark & 0x80000000)
                if at + 4 + length > end:
                    return
                body += data[at + 4:at + 4 + length]
                at += 4 + length
                if header is None and len(body) >= 24:
                    header = at - start - (len(body) - 24)
            if not is_rpc(body):
                raise ValueError("stream %s %s: no RPC message at %d" % (
                    stream.source, stream.destination, start))
            self.messages.append(Message(TCP, stream.source, stream.destination, start, at,
                                         bytes(body), find(start, at), header))
