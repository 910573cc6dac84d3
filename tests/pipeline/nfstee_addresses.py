#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""nfstee relay at several addresses: what they share, what they do not, and a relay that would relay to
itself."""
import json
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each
from tee_peers import CLIENT, Listener, free_port

PROGRAM = os.path.join(os.environ["BUILD"], "bin", "nfstee")


class Everywhere:
    """nfstee relay at all addresses of this machine, IPv4 and IPv6."""

    def __init__(self, folder, server_port, *options):
        self.port, self.control = free_port(), folder + "/ctl"
        self.command = [PROGRAM, "relay", "--listen", ":%d" % self.port, "--to",
                        "127.0.0.1:%d" % server_port, "--control", self.control, "--for", "60s", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        for _ in range(2):
            self.process.stdout.readline()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=60)

    def statistics(self):
        return json.loads(subprocess.run([PROGRAM, "ctl", self.control, "statistics"], check=True,
                                         stdout=subprocess.PIPE).stdout)


def test_limit(folder):
    """--connections is for IPv4 and IPv6 together."""
    listener, kept = Listener(), []
    with Everywhere(folder, listener.port, "--connections", "3") as relay:
        for host in ("127.0.0.1", "::1", "127.0.0.1"):
            client = socket.create_connection((host, relay.port), timeout=30)
            kept += [client, listener.socket.accept()[0]]
            client.sendall(b"x")
            expect("a byte of " + host, kept[-1].recv(1), b"x")
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, relay.port), timeout=30) as client:
                expect("one more of " + host, client.recv(1), b"")
        expect("connections", [relay.statistics()[name] for name in ("open", "refused")], [3, 2])
        for s in kept:
            s.close()


def from_port(kind, port, host, relay):
    s = socket.socket(socket.AF_INET, kind)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((CLIENT, port))
    s.settimeout(30)
    s.connect((host, relay.port))
    return s


def test_one_port(folder):
    """A client's port can have connections to two addresses of the relay at once."""
    listener, port = Listener(), free_port()
    with Everywhere(folder, listener.port) as relay:
        clients = [from_port(socket.SOCK_STREAM, port, "127.0.0.1", relay)]
        servers = [listener.socket.accept()[0]]
        clients.append(from_port(socket.SOCK_STREAM, port, "127.0.0.3", relay))
        servers.append(listener.socket.accept()[0])
        for i, (client, server) in enumerate(zip(clients, servers)):
            client.sendall(b"to%d" % i)
            expect("to the server %d" % i, server.recv(3), b"to%d" % i)
            server.sendall(b"back")
            expect("to the client %d" % i, client.recv(4), b"back")
        expect("connections", [relay.statistics()[name] for name in ("open", "replaced")], [2, 0])
        for s in clients + servers:
            s.close()


def test_one_port_udp(folder):
    """Each datagram is answered from the address to which the call was sent."""
    server, port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), free_port()
    server.bind(("127.0.0.1", 0))
    server.settimeout(30)
    with Everywhere(folder, server.getsockname()[1]) as relay, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind((CLIENT, port))
        client.settimeout(30)
        asked = []
        for host in ("127.0.0.1", "127.0.0.3"):
            client.sendto(host.encode(), (host, relay.port))
            asked.append(server.recvfrom(100))
        for data, place in asked:
            server.sendto(data, place)
        answers = [client.recvfrom(100) for _ in asked]
        expect("answers", sorted((data.decode(), place[0]) for data, place in answers),
               [("127.0.0.1", "127.0.0.1"), ("127.0.0.3", "127.0.0.3")])
    server.close()


def test_itself(folder):
    """Each connection would lead to another one, until no more are allowed."""
    port = free_port()
    for listen, to in (("127.0.0.1", "127.0.0.1"), ("", "127.0.0.1"), ("", "127.0.0.3"), ("", "[::1]"),
                       ("0.0.0.0", "0.0.0.0"), ("[::1]", "[::1]")):
        done = subprocess.run([PROGRAM, "relay", "--listen", "%s:%d" % (listen, port), "--to",
                               "%s:%d" % (to, port), "--for", "1s"], capture_output=True, text=True,
                              timeout=60)
        expect("%s to %s" % (listen, to), (done.returncode, "this relay's own address" in done.stderr),
               (2, True))
    for listen, to in (("127.0.0.1", "127.0.0.3"), ("127.0.0.1", "[::1]"), ("", "192.0.2.1")):
        done = subprocess.run([PROGRAM, "relay", "--listen", "%s:%d" % (listen, port), "--to",
                               "%s:%d" % (to, port), "--for", "100ms"], capture_output=True, text=True,
                              timeout=60)
        # a machine without a network cannot reach the last one
        expect("%s to %s" % (listen, to), "own address" in done.stderr, False)


sys.exit(run_each([test_limit, test_one_port, test_one_port_udp, test_itself]))
