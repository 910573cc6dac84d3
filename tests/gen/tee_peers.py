# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients and servers on both sides of a relay, as sockets, and a client that sends its calls again."""
import random
import socket
import struct
import time

from live_client import Client, parse_reply
from messages import auth_sys
from model_xdr import decode_result, encode_arguments

CLIENT = "127.0.0.2"  # another address than the relay's, so that both can have one port
MKDIR = 9
NEVER = struct.pack("ii", 1, 0)  # SO_LINGER: close resets


def connect(port, source=(CLIENT, 0)):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(source)
    s.settimeout(30)
    s.connect(("127.0.0.1", port))
    return s


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NEVER)
    s.close()


def read_all(s):
    data = bytearray()
    while more := s.recv(1 << 16):
        data += more
    return bytes(data)


def free_port(chance=random.Random()):
    """A port that is free at both addresses, and that the system gives to nobody who did not ask for it:
    the relay can have it, too."""
    while True:
        port = chance.randrange(15000, 32000)
        try:
            for address in CLIENT, "127.0.0.1":
                for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
                    with socket.socket(socket.AF_INET, kind) as s:
                        s.bind((address, port))
            return port
        except OSError:
            pass


class Listener:
    def __init__(self, port=0):
        self.socket = socket.create_server(("127.0.0.1", port))
        self.socket.settimeout(30)
        self.port = self.socket.getsockname()[1]

    def pair(self, relay, source=(CLIENT, 0)):
        """(client's socket, server's)"""
        client = connect(relay.port, source)
        server, _ = self.socket.accept()
        server.settimeout(30)
        return client, server


def is_reset(s):
    try:
        while s.recv(65536):
            pass
    except ConnectionResetError:
        return True
    return False


class Retransmitting:
    """Makes directories, from one port, sending a call again with the same XID and bytes if its
    connection breaks."""

    def __init__(self, relay, root, port, number, count):
        self.relay, self.root, self.port = relay, root, port
        self.number, self.count, self.results, self.again = number, count, [], 0
        self.stopped = False

    def connection(self):
        while True:
            try:
                client = Client(self.relay, source=(CLIENT, self.port))
                client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NEVER)
                return client
            except OSError:
                time.sleep(0.002)

    def run(self):
        client, xid = self.connection(), self.number << 24
        for i in range(self.count):
            name = b"%d-%d" % (self.number, i)
            arguments = encode_arguments(MKDIR, {"object": self.root, "name": name,
                                                 "settings": {}})
            client.xid = xid + i
            message = client.message(MKDIR, arguments, credential=auth_sys(0, 0, ()))
            while True:
                try:
                    client.send(message)
                    reply, results = parse_reply(client.receive())
                    break
                except OSError:
                    self.again += 1
                    client.close()
                    client = self.connection()
            if reply != xid + i + 1:
                self.results.append(-1)
            else:
                self.results.append(decode_result(MKDIR, results)[0])
            if self.stopped:
                break
        client.close()
