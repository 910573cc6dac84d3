# SPDX-License-Identifier: GPL-2.0-or-later
"""A made-up capture that knows its truth.

A Trace is a list of frames; each frame knows which bytes of which RPC messages it brings. Flows
(TcpFlow, UdpFlow) append frames; scenarios may then drop, move, copy and retime them in
trace.frames. Only at the end are frames numbered, and the truth follows from what is left: a
message was captured if all its bytes (record marks included) are there, in the frame that brings
the last missing one.

    trace = Trace()
    flow = TcpFlow(trace, "10.0.0.1", 900, "10.0.0.9")
    flow.open()
    op = flow.call(7, messages.GETATTR, messages.getattr_args(fh))
    flow.reply(op, messages.getattr_res(1))
    trace.write("x.pcap"); truth = trace.truth()
"""
import json

import capfile
import harm
import messages
import packets

CLIENT, SERVER = True, False


class Frame:
    def __init__(self, time, data, pieces=(), wire_len=None):
        self.time, self.data, self.pieces = time, data, list(pieces)
        self.wire_len = len(data) if wire_len is None else wire_len
        self.scope = None  # fragments of two scopes make two datagrams

    def copy(self, time=None):
        return Frame(self.time if time is None else time, self.data, self.pieces, self.wire_len)


class Operation:
    """What the database must say. |xid| and so on are of the call, seen or not."""

    def __init__(self, flow, xid, program, version, procedure):
        self.client, self.server = flow.client, flow.server
        self.xid, self.program, self.version, self.procedure = xid, program, version, procedure
        self.status = None
        self.calls, self.replies = [], []  # Message
        self.call_body = self.reply_body = None
        self.labels = []


class Message:
    """One RPC message on its way, with its record marks where the transport has them."""

    def __init__(self, op, is_call, flow, wire):
        self.op, self.is_call, self.wire = op, is_call, wire
        self.datagram, self.server = flow.transport == packets.UDP, flow.server
        self.frames = []


class Flow:
    """What TCP and UDP have in common: calls and replies."""

    def __init__(self, trace, client, client_port, server="10.0.0.9", server_port=2049, vlans=()):
        self.trace, self.vlans = trace, vlans
        self.client, self.client_port = client, client_port
        self.server, self.server_port = server, server_port

    def ends(self, from_client):
        client, server = (self.client, self.client_port), (self.server, self.server_port)
        return client + server if from_client else server + client

    def new_call(self, xid, procedure, arguments=b"", program=messages.NFS, version=3,
                 credential=None, fragments=()):
        op = Operation(self, xid, program, version, procedure)
        op.call_body = messages.call(xid, procedure, arguments, program, version, credential)
        self.trace.operations.append(op)
        op.calls.append(Message(op, True, self, self.framed(op.call_body, fragments)))
        return op.calls[-1]

    def new_reply(self, op, result=b"", accept=0, fragments=()):
        op.reply_body = messages.reply(op.xid, result, accept)
        if accept == 0 and op.procedure != 0 and len(result) >= 4:
            op.status = int.from_bytes(result[:4], "big")
        op.replies.append(Message(op, False, self, self.framed(op.reply_body, fragments)))
        return op.replies[-1]

    def call(self, xid, procedure, arguments=b"", lost=False, segments=(), **options):
        message = self.new_call(xid, procedure, arguments, **options)
        self.send(CLIENT, [message], lost, segments)
        return message.op

    def reply(self, op, result=b"", accept=0, lost=False, segments=(), fragments=()):
        message = self.new_reply(op, result, accept, fragments)
        self.send(SERVER, [message], lost, segments)
        return message

    def repeat_call(self, op, lost=False):
        op.calls.append(Message(op, True, self, self.framed(op.call_body)))
        self.send(CLIENT, [op.calls[-1]], lost)

    def repeat_reply(self, op, lost=False):
        op.replies.append(Message(op, False, self, self.framed(op.reply_body)))
        self.send(SERVER, [op.replies[-1]], lost)

    def pair(self, xid, procedure, arguments=b"", result=b"", after=200_000, **options):
        """A call and, |after| ns later, its reply."""
        op = self.call(xid, procedure, arguments, **options)
        self.trace.wait(after)
        self.reply(op, result)
        return op


class TcpFlow(Flow):
    transport = packets.TCP

    def __init__(self, trace, client, client_port, server="10.0.0.9", server_port=2049, vlans=(),
                 mss=1448, isn=(1000, 500000)):
        super().__init__(trace, client, client_port, server, server_port, vlans)
        self.mss = mss
        self.next = {CLIENT: isn[0], SERVER: isn[1]}

    @staticmethod
    def framed(body, fragments=()):
        return messages.record(body, fragments)

    def segment(self, from_client, flags, data=b"", seq=None, pieces=(), lost=False, window=0xffff):
        """Appends one segment, at |seq| or where the stream is; returns its frame."""
        source, source_port, destination, destination_port = self.ends(from_client)
        seq = self.next[from_client] if seq is None else seq
        segment = packets.tcp(source, destination, source_port, destination_port, seq,
                              self.next[not from_client], flags, data, window)
        return self.trace.add(packets.internet(source, destination, packets.TCP, segment,
                                               self.trace.next_ident()), self.vlans, pieces, lost)

    def open(self):
        self.segment(CLIENT, packets.SYN)
        self.next[CLIENT] += 1
        self.segment(SERVER, packets.SYN | packets.ACK)
        self.next[SERVER] += 1
        self.segment(CLIENT, packets.ACK)

    def close(self):
        for side in CLIENT, SERVER:
            self.segment(side, packets.FIN | packets.ACK)
            self.next[side] += 1
        self.segment(CLIENT, packets.ACK)

    def reset(self, from_client=True):
        self.segment(from_client, packets.RST | packets.ACK)

    def keep_alive(self, from_client=True):
        """RFC 9293 s3.8.4: a sequence number one before the next, with one byte of garbage."""
        self.segment(from_client, packets.ACK, b"\0", self.next[from_client] - 1)
        self.segment(not from_client, packets.ACK)

    def zero_window(self, from_client=False):
        self.segment(from_client, packets.ACK, window=0)
        self.segment(not from_client, packets.ACK, b"\0", self.next[not from_client] - 1)
        self.segment(from_client, packets.ACK, window=0xffff)

    def send(self, from_client, batch, lost=False, segments=()):
        """The messages of |batch| back to back. |segments|: lengths of the first segments; the
        others are of |mss| bytes."""
        data = b"".join(m.wire for m in batch)
        cuts, at, sizes = [], 0, iter(segments)
        while at < len(data):
            end = min(len(data), at + next(sizes, self.mss))
            cuts.append((at, end))
            at = end
        frames = []
        for start, end in cuts:
            flags = packets.ACK | (packets.PSH if end == len(data) else 0)
            frames.append(self.segment(from_client, flags, data[start:end],
                                       pieces=pieces_of(batch, start, end), lost=lost))
            self.next[from_client] += end - start
        for m in batch:
            m.frames = [f for f in frames if any(p[0] is m for p in f.pieces)]
        return frames


class UdpFlow(Flow):
    transport = packets.UDP
    fragment_size = 1480

    @staticmethod
    def framed(body, fragments=()):
        return body

    def send(self, from_client, batch, lost=False, segments=()):
        source, source_port, destination, destination_port = self.ends(from_client)
        frames = []
        for m in batch:
            datagram = packets.udp(source, destination, source_port, destination_port, m.wire)
            ident = self.trace.next_ident()
            parts = [(packets.internet(source, destination, packets.UDP, datagram, ident), 0,
                      len(datagram))]
            if len(datagram) > self.fragment_size:
                parts = packets.fragments(source, destination, packets.UDP, datagram, ident,
                                          self.fragment_size)
            m.frames = [self.trace.add(packet, self.vlans,
                                       [(m, max(0, start - 8), max(0, end - 8))], lost)
                        for packet, start, end in parts]
            frames += m.frames
        return frames


def pieces_of(batch, start, end):
    """Which bytes of which messages stand in [start, end) of the messages back to back."""
    pieces, at = [], 0
    for m in batch:
        low, high = max(start, at), min(end, at + len(m.wire))
        if low < high:
            pieces.append((m, low - at, high - at))
        at += len(m.wire)
    return pieces


class Trace:
    def __init__(self, start=1_700_000_000_000_000_000, step=20_000):
        self.frames, self.operations = [], []
        self.now, self.step, self.ident = start, step, 0

    def next_ident(self):
        self.ident += 1
        return self.ident

    def wait(self, ns):
        self.now += ns

    def add(self, packet, vlans=(), pieces=(), lost=False):
        frame = Frame(self.now, packets.ethernet(packet, vlans), pieces)
        self.now += self.step
        if not lost:
            self.frames.append(frame)
        return frame

    def drop(self, frames):
        self.frames = [f for f in self.frames if f not in frames]

    def move(self, frame, index):
        self.frames.remove(frame)
        self.frames.insert(index, frame)

    def move_before(self, frames, other):
        """Also gives them times just before |other|'s."""
        for frame in frames:
            frame.time = other.time - 1000
            self.frames.remove(frame)
            self.frames.insert(self.frames.index(other), frame)

    def double_all(self):
        """As a capture on all interfaces does: each frame twice."""
        self.frames = [copy for f in self.frames for copy in (f, f.copy(f.time + 1000))]

    def sort(self):
        self.frames.sort(key=lambda f: f.time)

    def packets(self):
        return [capfile.Packet(f.time, f.data, f.wire_len, packets.ETHERNET) for f in self.frames]

    def write(self, path, **options):
        writer = capfile.write_pcapng if str(path).endswith("ng") else capfile.write_pcap
        writer(path, self.packets(), **options)

    def completed(self):
        """{message: frames that completed it}: one over TCP, one for each copy of a datagram."""
        missing, done = {}, {}
        for number, frame in enumerate(self.frames, 1):
            for message, start, end in frame.pieces:
                if message in done and not message.datagram:
                    continue
                key = message, frame.scope
                missing[key] = harm.subtract(missing.get(key, [(0, len(message.wire))]), start, end)
                if not missing[key]:
                    done.setdefault(message, []).append(number)
                    del missing[key]
        return done

    def truth(self):
        """The operations of which anything was captured, in the order of their calls."""
        done, out = self.completed(), []
        for op in self.operations:
            calls = sorted(n for m in op.calls for n in done.get(m, ()))
            replies = sorted(n for m in op.replies for n in done.get(m, ()))
            if not calls and not replies:
                continue
            copies = {n for m in op.calls + op.replies for n in sorted(done.get(m, ()))[1:]}
            seen = bool(calls)
            out.append({
                "client": op.client, "server": op.server, "xid": op.xid,
                "program": op.program if seen else 0, "version": op.version if seen else 0,
                "procedure": op.procedure if seen else 0,
                "status": op.status if seen and replies else None,
                "call_frame": calls[0] if calls else None,
                "reply_frame": replies[0] if replies else None,
                "repeats": [[kind if n not in copies else "copy of " + kind, n]
                            for kind, frames in (("call", calls), ("reply", replies))
                            for n in frames[1:]],
                "other_address": bool(replies) and calls != [] and self.answerer(op, done) !=
                                 op.server,
                "labels": op.labels,
            })
        out.sort(key=lambda o: o["call_frame"] or o["reply_frame"])
        return out

    @staticmethod
    def answerer(op, done):
        """The address from which the first reply came."""
        return min((min(done[m]), m.server) for m in op.replies if m in done)[1]

    def write_truth(self, path):
        with open(path, "w", encoding="utf-8") as out:
            json.dump(self.truth(), out, indent=1)
            out.write("\n")
