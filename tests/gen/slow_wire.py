# SPDX-License-Identifier: GPL-2.0-or-later
"""A wire that is slow at random: a server behind it seems to execute requests in another order than that of
their replies."""
import random
import socket
import threading
import time


class SlowWire:
    """Passes TCP connections on to a server's port, and is late by up to |most| seconds in each direction."""

    def __init__(self, server, seed, most):
        self.to, self.most, self.random = server.port, most, random.Random(seed)
        self.door = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.door.getsockname()[1]
        self.sockets = [self.door]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for s in self.sockets:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def accept(self):
        while True:
            try:
                client, _ = self.door.accept()
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            self.sockets += client, server
            for source, to in (client, server), (server, client):
                to.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pump, args=(source, to), daemon=True).start()

    def pump(self, source, to):
        try:
            while data := source.recv(1 << 20):
                time.sleep(max(0, self.random.uniform(-0.5, 1)) * self.most)
                to.sendall(data)
            to.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
