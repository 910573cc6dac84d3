#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan long=--kills,1000 timeout=600
"""nfstee relay.  What both sides send and get is compared byte by byte, also with what a reader of the
ring gets.  The peers are this program, so any bytes can be sent; with ftnfsd, a client that sends its
calls again while the relay is killed gets each executed once."""
import argparse
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each
from live_client import Client, Ftnfsd, RpcError
from messages import MOUNT, NFS, NFSACL, PORTMAP
from tee_peers import (CLIENT, Listener, Retransmitting, connect, free_port, is_reset, read_all,
                       reset)
from tee_ring import (CLOSED, END_TO_CLIENT, END_TO_SERVER, TO_CLIENT, TO_SERVER, Relay, Ring, ends)

GETATTR = 1


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def random_bytes(chance, size):
    return chance.getrandbits(8 * size).to_bytes(size, "little") if size else b""


def send_in_pieces(s, data, chance):
    at = 0
    while at < len(data):
        size = int(2 ** chance.uniform(0, 20))
        s.sendall(data[at:at + size])
        at += size
    s.shutdown(socket.SHUT_WR)


def test_bytes(folder):
    """Many connections at once, any bytes in both directions; the ring has the same."""
    listener, chance = Listener(), random.Random(1)
    with Relay(listener.port, "--attach", folder + "/ring", "--control", folder + "/ctl") as relay:
        ring, talks, threads, names = Ring(folder + "/ring"), [], [], []
        for i in range(12):
            client, server = listener.pair(relay, (CLIENT, free_port()))
            expect("the client's port", server.getpeername()[1], client.getsockname()[1])
            sizes = [0, 0] if i == 0 else [int(2 ** chance.uniform(0, 23)) for _ in range(2)]
            talks.append([client, server, *(random_bytes(chance, size) for size in sizes)])
            names.append((client.getsockname(), server.getpeername()))
        got = {}

        def receive(key, s):
            got[key] = read_all(s)
        for i, (client, server, request, reply) in enumerate(talks):
            for target, *arguments in ((receive, (i, 1), server), (receive, (i, 0), client),
                                       (send_in_pieces, client, request, random.Random(i)),
                                       (send_in_pieces, server, reply, random.Random(-i))):
                threads.append(threading.Thread(target=target, args=arguments))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        wait_until(lambda: relay.ctl("statistics")["open"] == 0)
        ring.read()
        for i, (client, server, request, reply) in enumerate(talks):
            expect("bytes to the server", got[i, 1] == request, True)
            expect("bytes to the client", got[i, 0] == reply, True)
            expect("the ring's bytes to the server",
                   ring.streams.get((i + 1, TO_SERVER), b"") == request, True)
            expect("the ring's bytes to the client",
                   ring.streams.get((i + 1, TO_CLIENT), b"") == reply, True)
            flags, data = ring.opens[i + 1]
            addresses, offsets = ends(data)
            expect("an opening", (flags, addresses, offsets),
                   (0, [names[i][0], ("127.0.0.1", relay.port), names[i][1],
                        ("127.0.0.1", listener.port)], (0, 0)))
            marks = [m[1:] for m in ring.marks if m[0] == i + 1]
            expect("marks", sorted(marks), [(END_TO_SERVER, len(request), 0),
                                            (END_TO_CLIENT, len(reply), 0), (CLOSED, 0, 0)])
            expect("the last mark", marks[-1][0], CLOSED)
            client.close()
            server.close()
        statistics = relay.ctl("statistics")
        expect("statistics", [statistics[n] for n in ("connections", "open", "ended")], [12, 0, 12])
        expect("statistics of bytes", [statistics[n]["bytes"] for n in ("to_server", "to_client")],
               [sum(len(t[2]) for t in talks), sum(len(t[3]) for t in talks)])
        ring.close()
        code, out, err = relay.stop()
        expect("the end", (code, out.startswith("12 connections, "), err), (0, True, ""))


def test_ends(folder):
    """One direction stays open when the other one ends; resets are passed on, both ways."""
    listener = Listener()
    with Relay(listener.port, "--attach", folder + "/ring", "--control", folder + "/ctl") as relay:
        ring = Ring(folder + "/ring")
        client, server = listener.pair(relay)
        client.sendall(b"last")
        client.shutdown(socket.SHUT_WR)
        expect("a half-closed direction", read_all(server), b"last")
        for _ in range(3):
            time.sleep(0.02)
            server.sendall(b"still")
        server.close()
        expect("the other direction", read_all(client), b"still" * 3)
        client.close()
        client, server = listener.pair(relay)
        client.sendall(b"x")
        server.recv(1)
        reset(client)
        expect("a reset by the client", is_reset(server), True)
        client, server = listener.pair(relay)
        client.sendall(b"x")
        server.recv(1)
        reset(server)
        expect("a reset by the server", is_reset(client), True)
        wait_until(lambda: relay.ctl("statistics")["open"] == 0)
        ring.read()
        expect("reasons", sorted(m[3] for m in ring.marks if m[1] == CLOSED), [0, 1, 2])
        # a reader that comes late asks what is under way
        client, server = listener.pair(relay)
        client.sendall(b"12345")
        server.recv(5)
        late = Ring(folder + "/ring")
        late.ask()
        wait_until(lambda: (late.read(), late.opens)[1])
        expect("announced", [(f, ends(d)[1]) for f, d in late.opens.values()], [(1, (5, 0))])
        # SIGTERM resets, so that clients notice, and the server's side keeps no port
        code, _, _ = relay.stop()
        expect("the end", (code, is_reset(client), is_reset(server)), (0, True, True))
        ring.close()
        late.close()
    expect("sockets are removed", os.listdir(folder), [])


def test_together(folder):
    """Bytes and an end that are there when the relay looks for the first time; also as many bytes as it reads
    at once, and more."""
    listener = Listener()
    with Relay(listener.port) as relay:
        for size in 1, 100, 1 << 17, (1 << 17) + 1, 1 << 18, 400000:
            data = random_bytes(random.Random(size), size)
            for turned in False, True:
                pair = listener.pair(relay)
                sender, receiver = pair[::-1] if turned else pair
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                sender.sendall(b"first")
                receiver.recv(5, socket.MSG_WAITALL)
                relay.process.send_signal(signal.SIGSTOP)
                thread = threading.Thread(target=lambda: (sender.sendall(data), sender.shutdown(
                    socket.SHUT_WR)))
                thread.start()
                thread.join(0.05)
                relay.process.send_signal(signal.SIGCONT)
                expect("%d bytes and an end" % size, read_all(receiver) == data, True)
                thread.join()
                receiver.close()
                expect("the other end", sender.recv(1), b"")
                sender.close()


def test_pressure(folder):
    """A server that does not read stops its client, and nobody else."""
    listener = Listener()
    with Relay(listener.port, "--control", folder + "/ctl") as relay:
        client, server = listener.pair(relay)
        other, other_server = listener.pair(relay)
        sent, chunk = 0, random_bytes(random.Random(2), 1 << 16)
        client.settimeout(0.5)
        try:
            while sent < 1 << 28:
                sent += client.send(chunk[sent % len(chunk):])
        except TimeoutError:
            pass
        expect("the client was stopped", sent < 1 << 27, True)
        other.sendall(b"hello")
        expect("another connection", other_server.recv(5), b"hello")
        direction = relay.ctl("statistics")["to_server"]
        expect("waits", direction["waits"] > 0, True)
        memory = int(pathlib.Path("/proc/%d/statm" % relay.process.pid).read_text().split()[1])
        before = time.process_time_ns()
        ticks = pathlib.Path("/proc/%d/stat" % relay.process.pid).read_text().split()[13:15]
        time.sleep(0.3)
        after = pathlib.Path("/proc/%d/stat" % relay.process.pid).read_text().split()[13:15]
        expect("it sleeps meanwhile", sum(map(int, after)) - sum(map(int, ticks)) < 10, True)
        expect("it keeps little", memory * 4096 < 200 << 20 and before > 0, True)
        client.shutdown(socket.SHUT_WR)
        data = read_all(server)
        wanted = (chunk * (sent // len(chunk) + 1))[:sent]
        expect("bytes after pressure", data == wanted, True)
        # a reset gets through while nothing can be written
        client.close()
        server.close()
        client, server = listener.pair(relay)
        client.settimeout(0.3)
        try:
            while True:
                client.send(chunk)
        except TimeoutError:
            pass
        reset(client)
        wait_until(lambda: relay.ctl("statistics")["reset_by_client"] == 1)
        statistics = relay.ctl("statistics")
        expect("a reset under pressure", statistics["reset_by_client"], 1)
        expect("lost bytes are counted", statistics["to_server"]["lost"] > 0, True)
        for s in (server, other, other_server):
            s.close()


def test_ports(folder):
    """Two clients with one port: the second gets another one, and the same after a restart."""
    listener, table = Listener(), folder + "/ports"
    seen, port = [], free_port()
    for _ in range(2):
        with Relay(listener.port, "--ports", table, "--control", folder + "/ctl") as relay:
            first, first_server = listener.pair(relay, (CLIENT, port))
            second, second_server = listener.pair(relay, ("127.0.0.3", port))
            seen.append((first_server.getpeername()[1], second_server.getpeername()[1]))
            expect("the table", relay.ctl("statistics")["other_ports"], 1)
            run = subprocess.run([*relay.command, "--listen", "127.0.0.1:0", "--control", folder + "/other"],
                                 capture_output=True, text=True)
            expect("a second relay with this table",
                   (run.returncode, "another relay uses this file" in run.stderr), (2, True))
            for s in (first, second, first_server, second_server):
                reset(s)
    expect("the same ports again", seen[0], seen[1])
    expect("different ports", seen[0][0] != seen[0][1], True)
    pathlib.Path(table).write_bytes(b"x" * 131104)
    run = subprocess.run([*relay.command, "--listen", "127.0.0.1:0"], capture_output=True, text=True)
    expect("a file of something else", (run.returncode, "is not a file of ports" in run.stderr),
           (2, True))
    os.unlink(table)


def test_unreachable(folder):
    """Without a server, clients are told at once, and served when it comes."""
    listener = Listener(free_port())  # nobody else gets it meanwhile
    listener.socket.close()
    with Relay(listener.port, "--control", folder + "/ctl") as relay:
        try:
            told = is_reset(connect(relay.port))
        except ConnectionResetError:
            told = True
        expect("no server", told, True)
        expect("unreachable", relay.ctl("statistics")["unreachable"], 1)
        listener.socket = socket.create_server(("127.0.0.1", listener.port))
        client, server = listener.pair(relay)
        client.sendall(b"hello")
        expect("a server that came", server.recv(5), b"hello")
        client.close()
        server.close()


def test_readers(folder):
    """Readers that are killed, stopped, or too slow are nobody else's trouble."""
    reader = ("import sys, time; sys.path.insert(0, %r); from tee_ring import Ring; r = Ring(%r); "
              "print('here', flush=True); time.sleep(60)"
              % (str(pathlib.Path(__file__).resolve().parents[1] / "gen"), folder + "/ring"))
    with Ftnfsd("--export", "/a") as nfsd, \
            Relay(nfsd.port, "--attach", folder + "/ring", "--ring", "1M", "--control",
                  folder + "/ctl") as relay:
        client = Client(relay, source=(CLIENT, 0))
        root = client.mount(b"/a")
        readers = [subprocess.Popen([sys.executable, "-c", reader], stdout=subprocess.PIPE)
                   for _ in range(3)]
        for process in readers:
            process.stdout.readline()
        expect("readers", relay.ctl("statistics")["ring"]["readers"], 3)
        readers[0].kill()
        readers[1].send_signal(signal.SIGSTOP)
        for i in range(8000):  # more than twice around the ring
            if client.nfs(GETATTR, {"object": root})[0]:
                expect("GETATTR", i, None)
                break
        ring = relay.ctl("statistics")["ring"]
        expect("the ring went round", ring["entries"] * 64 + ring["bytes"] > 2 * ring["size"], True)
        expect("readers that are left", ring["readers"], 2)
        for process in readers:
            process.kill()
            process.communicate()
        client.close()


def test_datagrams(folder):
    """Datagrams of several clients, also such with one port; the ring has each one by itself."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    server.settimeout(30)
    chance, sizes, port = random.Random(4), [0, 1, 100, 1472, 8192, 32768, 65507], free_port()
    with Relay(server.getsockname()[1], "--attach", folder + "/ring", "--control",
               folder + "/ctl") as relay:
        ring, clients, ports = Ring(folder + "/ring"), [], []
        for host in CLIENT, "127.0.0.3":
            client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            client.bind((host, port))
            client.settimeout(30)
            client.connect(("127.0.0.1", relay.port))
            clients.append(client)
        wanted = [[bytearray(), bytearray()] for _ in clients]
        for size in sizes * 3:
            for i, client in enumerate(clients):
                request, reply = random_bytes(chance, size), random_bytes(chance, size // 2)
                client.send(request)
                got, address = server.recvfrom(65536)
                ports.append(address[1])
                server.sendto(reply, address)
                expect("a datagram to the server", got == request, True)
                expect("a datagram to the client", client.recv(65536) == reply, True)
                wanted[i][0] += request
                wanted[i][1] += reply
        expect("the first client's port", ports[0], port)
        expect("ports", (len(set(ports)), ports[0::2], ports[1::2]),
               (2, ports[:1] * 3 * len(sizes), ports[1:2] * 3 * len(sizes)))
        ring.read()
        for i in range(2):
            expect("the ring's datagrams",
                   [ring.streams[i + 1, kind] == wanted[i][kind - TO_SERVER]
                    for kind in (TO_SERVER, TO_CLIENT)], [True, True])
            expect("the ring's client", (ring.opens[i + 1][0], ends(ring.opens[i + 1][1])[0][0]),
                   (2, clients[i].getsockname()))
        count = 6 * len(sizes)
        expect("statistics of datagrams", relay.ctl("statistics")["datagrams"],
               {"clients": 2, "to_server": count, "to_client": count, "dropped": 0, "refused": 0})
        ring.close()
    with Ftnfsd("--export", "/a") as nfsd, Relay(nfsd.port) as relay:
        client = Client(relay, udp=True, source=(CLIENT, 0))
        expect("GETATTR over UDP", client.nfs(GETATTR, {"object": client.mount(b"/a")})[0], 0)


def objects_of(nfsd, path):
    out = subprocess.run([nfsd.command[0], "ctl", path, "exports"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["exports"][0]["objects"]


def test_kills(folder, kills):
    """No call is lost, and none is executed twice, while the relay is killed again and again."""
    with Ftnfsd("--export", "/a", "--control", folder + "/nfsd") as nfsd:
        root = Client(nfsd).mount(b"/a")
        relay = Relay(nfsd.port, "--ports", folder + "/ports", port=free_port()).__enter__()
        clients = [Retransmitting(relay, root, free_port(), i + 1, 1 << 20) for i in range(4)]
        threads = [threading.Thread(target=c.run, daemon=True) for c in clients]
        for thread in threads:
            thread.start()
        chance = random.Random(3)
        for _ in range(kills):
            time.sleep(chance.uniform(0.001, 0.05))
            relay.kill()
            relay = Relay(nfsd.port, "--ports", folder + "/ports", port=relay.port).__enter__()
        for c in clients:
            c.stopped = True
        for thread in threads:
            thread.join(60)
        expect("clients that came to an end", [t.is_alive() for t in threads], [False] * 4)
        relay.stop()
        results = [r for c in clients for r in c.results]
        again = sum(c.again for c in clients)
        expect("results other than NFS3_OK", [r for r in results if r], [])
        expect("calls were sent again", again >= kills // 4, True)
        expect("calls between kills", len(results) > 4 * kills, True)
        # the server's view: each of the clients' calls made one directory
        expect("directories of the server", objects_of(nfsd, folder + "/nfsd") - 1, len(results))
        print("%d kills, %d calls, %d sent again" % (kills, len(results), again))


def test_telling(folder):
    """Metrics, and PORTMAP."""
    metrics, portmap, mount = free_port(), free_port(), free_port()
    with Ftnfsd("--export", "/a") as nfsd, \
            Relay(nfsd.port, "--attach", folder + "/ring", "--control", folder + "/ctl", "--metrics",
                  str(metrics), "--portmap", "127.0.0.1:%d" % portmap, "--mount-listen",
                  "127.0.0.1:%d" % mount, "--mount-to", "127.0.0.1:%d" % nfsd.mount_port) as relay:
        asked, mounting = argparse.Namespace(port=portmap), argparse.Namespace(port=mount)
        for udp in False, True:
            client = Client(asked, udp=udp)

            def port_of(program, version, protocol):
                return struct.unpack(">I", client.rpc(3, struct.pack(
                    ">4I", program, version, protocol, 0), program=PORTMAP, version=2))[0]
            expect("GETPORT", [port_of(NFS, 3, 6), port_of(NFS, 3, 17), port_of(MOUNT, 3, 6),
                               port_of(MOUNT, 9, 17), port_of(NFSACL, 3, 6), port_of(NFS, 3, 99),
                               port_of(100021, 4, 6)],
                   [relay.port, relay.port, mount, mount, relay.port, 0, 0])
            listed = client.rpc(4, b"", program=PORTMAP, version=2)
            expect("DUMP", (len(listed), struct.unpack_from(">5I", listed)),
                   (10 * 20 + 4, (1, NFS, 3, 6, relay.port)))
            for procedure, arguments, status in (1, bytes(16), 3), (5, bytes(16), 3), (3, b"", 4):
                try:
                    client.rpc(procedure, arguments, program=PORTMAP, version=2)
                    expect("refused", None, status)
                except RpcError as error:
                    expect("refused", error.accept, status)
        root = Client(mounting).mount(b"/a")
        client = Client(relay)
        expect("GETATTR", client.nfs(GETATTR, {"object": root})[0], 0)
        with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % metrics, timeout=20) as page:
            found = dict(re.findall(r"^(nfstee_[^ ]+) (\S+)$", page.read().decode(), re.M))
        statistics = relay.ctl("statistics")
        expect("metrics", [float(found["nfstee_" + name]) for name in (
            'bytes_total{to="server"}', 'bytes_total{to="client"}', "ring_entries_total",
            "connections_total", "readers", "ring_size_bytes")],
               [statistics["to_server"]["bytes"], statistics["to_client"]["bytes"],
                statistics["ring"]["entries"], 2, 0, 64 << 20])


def test_many(folder):
    """More connections than a process has descriptors for at first."""
    listener = Listener()
    few = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, %d)); " \
          "os.execv(sys.argv[1], sys.argv[1:])"
    for most, code in (4096, 0), (100, 2):
        relay = Relay(listener.port, "--connections", "400", "--per-client", "400", "--control",
                      folder + "/ctl")
        relay.command = [sys.executable, "-c", few % most, *relay.command]
        if code:
            run = subprocess.run([*relay.command, "--listen", "127.0.0.1:0"], capture_output=True,
                                 text=True)
            expect("too few descriptors", (run.returncode, "ulimit" in run.stderr), (2, True))
            continue
        with relay:
            pairs = [listener.pair(relay) for _ in range(150)]
            for i, (client, server) in enumerate(pairs):
                client.sendall(b"%3d" % i)
                if server.recv(3) != b"%3d" % i:
                    expect("connection", i, None)
            expect("open connections", relay.ctl("statistics")["open"], 150)
            for s in (s for pair in pairs for s in pair):
                reset(s)


def test_usage(folder):
    program = os.path.join(os.environ["BUILD"], "bin", "nfstee")
    for words, code, text in (
            ([], 2, "usage: nfstee"),
            (["nothing"], 2, "no such command"),
            (["relay"], 2, "--listen"),
            (["relay", "--listen", ":0"], 2, "--to"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "x"], 2, "no arguments"),
            (["relay", "--listen", "nonsense", "--to", "127.0.0.1:1"], 2, "nonsense"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--ring", "2P", "--attach",
              folder + "/x"], 2, "--ring"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--mount-to",
              "127.0.0.1:1"], 2, "--mount-listen"),
            (["relay", "--listen", "192.0.2.1:0", "--to", "127.0.0.1:1"], 4, "192.0.2.1"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--bind", "192.0.2.1"], 4, "from 192.0.2.1"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--bind", "::1"], 2, "--bind"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:0"], 2, "port 0 is not a server's port"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "nonsense"], 2, "--to"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--mount-listen", "127.0.0.1:0",
              "--mount-to", "127.0.0.1:0"], 2, "--mount-to: "),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--mount-listen", "127.0.0.1:0",
              "--mount-to", "nfs://127.0.0.1/a"], 2, "--mount-to: "),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--drain", "0"], 2, "--drain needs --upgrade"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--ring", "64M"], 2, "--ring needs --attach"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--seed", "1"], 2, "--seed needs rules"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--metrics", "0"], 2, "--metrics: port 0"),
            (["relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--portmap", "127.0.0.1:0"], 2,
             "--portmap: port 0"),
            (["ctl", folder + "/none", "help"], 4, "none")):
        run = subprocess.run([program, *words], capture_output=True, text=True, timeout=60)
        expect(" ".join(words), (run.returncode, text in run.stderr, run.stdout),
               (code, True, ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, help="only the test of these, with so many")
    kills = parser.parse_args().kills
    tests = [test_bytes, test_ends, test_together, test_pressure, test_ports, test_unreachable, test_readers,
             test_datagrams, test_telling, test_many, test_usage, lambda folder: test_kills(folder, 20)]
    if kills:
        tests = [lambda folder: test_kills(folder, kills)]
    return run_each(tests)


if __name__ == "__main__":
    sys.exit(main())
