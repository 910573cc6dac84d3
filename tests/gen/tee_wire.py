# SPDX-License-Identifier: GPL-2.0-or-later
"""A wire that keeps what passes: two of them, one on each side of a relay, show if it changes anything."""
import socket
import threading


class Wire:
    """Passes TCP connections on to a port of 127.0.0.1.  |streams|: of each connection the bytes to the
    server and the bytes to the client."""

    def __init__(self, to):
        self.to, self.streams = to, []
        self.door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()

    def accept(self):
        while True:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.to.port))
            self.streams.append((bytearray(), bytearray()))
            for pair, stream in zip(((client, server), (server, client)), self.streams[-1]):
                for s in pair:
                    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pump, args=(*pair, stream), daemon=True).start()

    @staticmethod
    def pump(source, to, stream):
        try:
            while data := source.recv(1 << 16):
                stream += data
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)
        except OSError:
            pass
