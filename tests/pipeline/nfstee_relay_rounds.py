#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfstee relay, when it finds much at once: short messages of many connections, and long contents.  What both
sides get and what the ring has is compared byte by byte."""
import pathlib
import random
import signal
import socket
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures
from nfstee_relay import random_bytes, wait_until
from tee_peers import Listener, is_reset, reset
from tee_ring import CLOSED, TO_CLIENT, TO_SERVER, Relay, Ring


def test_one_round(folder):
    """Short messages of many connections, both ways, and a datagram, that are all there at once; some of these
    connections are reset meanwhile, or their receiver has closed them, or takes nothing more."""
    listener, count = Listener(), 24
    udp_server, udp_client = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    udp_server.bind(("127.0.0.1", listener.port))
    with Relay(listener.port, "--attach", folder + "/ring", "--control", folder + "/ctl") as relay:
        ring, pairs = Ring(folder + "/ring"), [listener.pair(relay) for _ in range(count)]
        pairs[0][1].setblocking(False)
        while not relay.ctl("statistics")["to_client"]["waits"]:
            try:
                pairs[0][1].send(bytes(1 << 16))
            except BlockingIOError:
                pass
        pairs[0][1].setblocking(True)
        ways = [(i, i % 2 + 1) for i in range(1, count)]  # 1: to the server, 2: both
        udp_client.connect(("127.0.0.1", relay.port))
        for _ in range(3):
            udp_client.send(b"datagram")
            _, relayed = udp_server.recvfrom(100)
            relay.process.send_signal(signal.SIGSTOP)
            for i, directions in ways:
                pairs[i][0].sendall(b"call %d" % i)
                if directions == 2:
                    pairs[i][1].sendall(b"reply %d" % i)
            udp_server.sendto(b"#" * 5000, relayed)
            relay.process.send_signal(signal.SIGCONT)
            expect("a datagram", udp_client.recv(10000), b"#" * 5000)
            for i, directions in ways:
                expect("a call", pairs[i][1].recv(100), b"call %d" % i)
                if directions == 2:
                    expect("a reply", pairs[i][0].recv(100), b"reply %d" % i)
        relay.process.send_signal(signal.SIGSTOP)
        for i, (client, server) in enumerate(pairs):
            if i != 9:
                client.sendall(b"last call")
            if i:
                server.sendall(b"last reply")
        for i in 3, 9:
            reset(pairs[i][0])
        for i in 5, 11:
            reset(pairs[i][1])
        relay.process.send_signal(signal.SIGCONT)
        for i, (client, server) in enumerate(pairs):
            if i in (3, 9, 5, 11):
                expect("a reset", is_reset(pairs[i][i in (3, 9)]), True)
            else:
                expect("the last call", server.recv(100), b"last call")
                expect("the last reply", i == 0 or client.recv(100), i == 0 or b"last reply")
        wait_until(lambda: relay.ctl("statistics")["open"] == count - 4)
        ring.read()
        for i, directions in ways:
            calls, replies = b"call %d" % i * 3, b"reply %d" % i * 3 * (directions - 1)
            if i in (3, 5, 11):
                expect("calls in the ring", bytes(ring.streams[i + 1, TO_SERVER])[:len(calls)], calls)
            else:
                expect("the ring", [bytes(ring.streams[i + 1, kind]) for kind in (TO_SERVER, TO_CLIENT)],
                       [calls + b"last call" * (i != 9), replies + b"last reply"])
        expect("marks", sorted(m[0] for m in ring.marks if m[1] == CLOSED), [4, 6, 10, 12])
        ring.close()
        udp_server.close()
        udp_client.close()
        expect("the end", relay.stop()[0], 0)


def test_long(folder):
    """So many bytes at once that the relay lets others have a turn between them."""
    listener, data = Listener(), random_bytes(random.Random(7), 6 << 20)
    with Relay(listener.port, "--attach", folder + "/ring") as relay:
        ring = Ring(folder + "/ring")
        for turned in False, True:
            sender, receiver = listener.pair(relay)[::-1 if turned else 1]
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 20)
            for stopped in [False] * 6 + [True] * 2:  # the sockets of the relay grow with what is read
                thread = threading.Thread(target=sender.sendall, args=(data,))
                if stopped:
                    relay.process.send_signal(signal.SIGSTOP)
                thread.start()
                if stopped:
                    thread.join(0.2)
                    relay.process.send_signal(signal.SIGCONT)
                got = bytearray()
                while len(got) < len(data):
                    got += receiver.recv(len(data) - len(got))
                expect("long contents", got == data, True)
                thread.join()
            sender.close()
            expect("the end", receiver.recv(1), b"")
            receiver.close()
            wait_until(lambda: (ring.read(), len(ring.marks) > 2 * turned)[1])
            connection, kind = turned + 1, TO_CLIENT if turned else TO_SERVER
            expect("the ring's long contents", ring.streams[connection, kind] == data * 8, True)
        ring.close()


def main():
    for test in test_one_round, test_long:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
