# SPDX-License-Identifier: GPL-2.0-or-later
"""A relay of RPC over TCP that stands between a client and a server, and keeps every message.

    with Relay(server.port) as relay:
        ...                            # a client at relay.port
    for wire in relay.wires:           # one for each connection, in the order of their beginning
        wire.port                      # the client's own port
        wire.calls, wire.replies       # messages; a reply only if all of it was passed on.  What the
                                       # client sent behind the cut is there, too
        wire.cut                       # what the relay did to it: CUT_..., or None

|opened|: called with the number of a connection, from 0, before anything of it is passed on.
|cut|: called with (wire, call) for each call; what it returns (CUT_...) ends the connection.
|alter|: called with (wire, call, reply) for each reply; the client gets what it returns.

To the server, each connection has the same port number as to the relay, at another address of this
machine: so a server that tells clients by their port can.  It knows nothing of the project's code.
"""
import selectors
import socket
import struct
import threading

CUT_BEFORE = "before it is executed"     # the call is not passed on
CUT_AFTER = "after it is executed"       # its reply is not
CUT_MIDDLE = "in the middle of its reply"  # half of its reply is
CUTS = (CUT_BEFORE, CUT_AFTER, CUT_MIDDLE)
UPSTREAM = "127.0.0.2"


class Wire:
    def __init__(self, number, client, server):
        self.number, self.client, self.server = number, client, server
        self.port = client.getpeername()[1]
        self.calls, self.replies = [], []
        self.cut, self.awaited = None, {}  # {XID: CUT_AFTER or CUT_MIDDLE}
        self.ended = False
        self.buffers = {client: bytearray(), server: bytearray()}

    def answered(self):
        return {reply[:4] for reply in self.replies}


def reset(sock):
    """Ends a connection so that its addresses and ports can be used again at once."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


class Relay:
    def __init__(self, port, opened=None, cut=None, alter=None):
        self.server_port, self.opened, self.cut, self.alter = port, opened, cut, alter
        self.wires, self.live = [], {}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.selector = selectors.DefaultSelector()
        self.over, self.failure = False, None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join(10)
        for sock in list(self.live):
            self.forget(sock)
            sock.close()
        self.listener.close()
        if self.failure:
            raise self.failure

    def url(self, url):
        """The server's URL, with the relay for NFS."""
        return url.replace("nfsport=%d" % self.server_port, "nfsport=%d" % self.port)

    def run(self):
        try:
            while not self.over:
                for key, _ in self.selector.select(0.1):
                    if key.fileobj is self.listener:
                        self.accept()
                    elif key.fileobj in self.live:
                        self.take(self.live[key.fileobj], key.fileobj)
        except Exception as why:  # pylint: disable=broad-except
            self.failure = why

    def accept(self):
        client, (_, port) = self.listener.accept()
        server = socket.socket()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((UPSTREAM, port))
            server.connect(("127.0.0.1", self.server_port))
        except OSError:  # the server is away
            server.close()
            reset(client)
            return
        for sock in client, server:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire = Wire(len(self.wires), client, server)
        self.wires.append(wire)
        if self.opened:
            self.opened(wire.number)
        for sock in client, server:
            self.live[sock] = wire
            self.selector.register(sock, selectors.EVENT_READ)

    def end(self, wire, rest=b""):
        """The client gets |rest|, and the end after all that it was given before."""
        if wire.ended:
            return
        wire.ended = True
        self.forget(wire.server)
        reset(wire.server)
        try:
            wire.client.sendall(rest)
            wire.client.shutdown(socket.SHUT_WR)
        except OSError:
            self.forget(wire.client)
            wire.client.close()

    def forget(self, sock):
        if sock in self.live:
            self.selector.unregister(sock)
            del self.live[sock]

    def take(self, wire, sock):
        try:
            data = sock.recv(1 << 20)
        except OSError:
            data = b""
        if not data:
            self.end(wire)
            if sock is wire.client:
                self.forget(sock)
                sock.close()
            return
        buffer = wire.buffers[sock]
        buffer += data
        try:
            while len(buffer) >= 4 and (sock is wire.client or not wire.ended):
                mark = struct.unpack_from(">I", buffer)[0]
                if not mark >> 31:
                    raise ValueError("a message in several fragments")
                length = 4 + (mark & 0x7fffffff)
                if len(buffer) < length:
                    return
                record, buffer[:length] = bytes(buffer[:length]), b""
                (self.call if sock is wire.client else self.reply)(wire, record)
        except OSError:  # the other side has ended
            self.end(wire)

    def call(self, wire, record):
        message = record[4:]
        wire.calls.append(message)
        how = self.cut(wire, message) if self.cut else None
        if wire.ended:
            return
        if how == CUT_BEFORE:
            wire.cut = how
            self.end(wire)
            return
        if how:
            wire.awaited[message[:4]] = how
        wire.server.sendall(record)

    def reply(self, wire, record):
        message = record[4:]
        how = wire.awaited.get(message[:4])
        if how:
            wire.cut = how
            self.end(wire, record[:len(record) // 2] if how == CUT_MIDDLE else b"")
            return
        if self.alter:
            call = next(c for c in reversed(wire.calls) if c[:4] == message[:4])
            message = self.alter(wire, call, message)
            record = struct.pack(">I", 1 << 31 | len(message)) + message
        wire.client.sendall(record)
        wire.replies.append(message)
