#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""nfstee relay --transparent, in three network namespaces: clients, the relay, and a server that routes
to the clients through the relay.  The server sees the clients' own addresses, over TCP and UDP, and of IPv4
and IPv6.  NLM and NSM are relayed, too, and the server calls a client back."""
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
import own_network
from expecting import expect, failures
from live_client import Client, Ftnfsd
from messages import PORTMAP, auth_none, opaque

PROGRAM = os.path.join(os.environ["BUILD"], "bin", "nfstee")
PORT, MOUNT_PORT, PORTMAP_PORT, CALLBACK = 20049, 20048, 20111, 20050
NETS = {"IPv4": ("10.1.0.", "10.2.0.", 24), "IPv6": ("fd01::", "fd02::", 64)}
NLM, NSM = 100021, 100024
LOCKS = {(NLM, "tcp"): 4001, (NLM, "udp"): 4002, (NSM, "tcp"): 4003, (NSM, "udp"): 4004}
GETATTR = 1


def ip(*words, pid=None):
    inside = ["nsenter", "-t", str(pid), "-n"] if pid else []
    subprocess.run([*inside, "ip", *words], check=True)


def in_url(host):
    return "[%s]" % host if ":" in host else host


class Namespace:
    """Another network namespace, joined by a veth pair: the relay's addresses end in 1."""

    def __init__(self, name, side, *ends):
        self.process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 100"],
                                        stdout=subprocess.PIPE)
        self.process.stdout.readline()
        pid = self.process.pid
        self.name, self.enter = name, ["nsenter", "-t", str(pid), "-n"]
        ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        ip("link", "set", name, "up")
        ip("link", "set", "eth0", "up", pid=pid)
        ip("link", "set", "lo", "up", pid=pid)
        for nets in NETS.values():
            net, length = nets[side], nets[2]
            more = ["nodad"] if ":" in net else []
            ip("addr", "add", "%s1/%d" % (net, length), "dev", name, *more)
            for end in ends:
                ip("addr", "add", "%s%d/%d" % (net, end, length), "dev", "eth0", *more, pid=pid)
            ip("route", "add", "default", "via", net + "1", pid=pid)

    def run(self, *words):
        return subprocess.run([*self.enter, sys.executable, __file__, *words], stdout=subprocess.PIPE,
                              text=True, timeout=60).stdout

    def end(self):
        self.process.kill()
        self.process.communicate()


def client(host, source, udp):
    """In the clients' namespace: a mount, and the status of GETATTR, from |source|."""
    at = type("At", (), {"port": PORT})
    mounting = type("At", (), {"port": MOUNT_PORT})
    root = Client(mounting, udp=udp, host=host, source=(source, 0)).mount(b"/a")
    status, _ = Client(at, udp=udp, host=host, source=(source, 0)).nfs(GETATTR, {"object": root})
    print("status %d" % status)


def lock_client(host, source, ports):
    """In the clients' namespace: where the relay's PORTMAP says that NLM and NSM are (or |ports|), whom they
    see, and who calls back."""
    callback = socket.create_server((source, CALLBACK), family=socket.AF_INET6 if ":" in source
                                    else socket.AF_INET)
    callback.settimeout(30)
    for program, transport in LOCKS:
        if ports:
            port = ports[program]
        else:
            asked = Client(type("At", (), {"port": PORTMAP_PORT}), host=host)
            number = socket.IPPROTO_TCP if transport == "tcp" else socket.IPPROTO_UDP
            port, = struct.unpack(">I", asked.rpc(3, struct.pack(
                ">4I", program, 4 if program == NLM else 1, number, 0), program=PORTMAP, version=2))
        caller = Client(type("At", (), {"port": port}), udp=transport == "udp", host=host,
                        source=(source, 0))
        answer = caller.rpc(1, opaque(b"lock"), program=program, version=4, credential=auth_none())
        _, by = callback.accept()
        print("%d %s seen %s called by %s" % (program, transport, answer.decode(), by[0]))


def answer_locks(call, peer):
    """The results are the caller's address; then the caller is called back."""
    socket.create_connection((peer, CALLBACK), timeout=30).close()
    return struct.pack(">6I", struct.unpack_from(">I", call)[0], 1, 0, 0, 0, 0) + peer.encode()


def answer_portmap(call, peer):
    """DUMP, of PORTMAP version 2 or RPCBIND version 4."""
    xid, _, _, _, version, procedure = struct.unpack_from(">6I", call)
    assert procedure == 4
    listed = b""
    for (program, transport), port in LOCKS.items():
        for number in (1, 3, 4) if program == NLM else (1,):
            if version == 2:
                kind = socket.IPPROTO_TCP if transport == "tcp" else socket.IPPROTO_UDP
                listed += struct.pack(">5I", 1, program, number, kind, port + (number != 4) * (program == NLM))
            else:
                for netid, host in ((transport, b"0.0.0.0"), (transport + "6", b"::")):
                    there = port if netid[-1] == "6" else 9
                    listed += struct.pack(">3I", 1, program, number) + opaque(netid.encode()) + opaque(
                        host + b".%d.%d" % divmod(there, 256)) + opaque(b"superuser")
    return struct.pack(">6I", xid, 1, 0, 0, 0, 0) + listed + bytes(4)


def serve_locks(host):
    """In the server's namespace: NLM, NSM and PORTMAP."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET

    def over_tcp(listener, answer):
        while True:
            s, peer = listener.accept()
            while mark := s.recv(4):
                call = s.recv(struct.unpack(">I", mark)[0] & 0x7fffffff)
                reply = answer(call, peer[0])
                s.sendall(struct.pack(">I", 1 << 31 | len(reply)) + reply)

    def over_udp(s, answer):
        while True:
            call, peer = s.recvfrom(4096)
            s.sendto(answer(call, peer[0]), peer)
    threads = []
    for (_, transport), port in LOCKS.items():
        if transport == "tcp":
            threads.append((over_tcp, socket.create_server((host, port), family=family), answer_locks))
        else:
            s = socket.socket(family, socket.SOCK_DGRAM)
            s.bind((host, port))
            threads.append((over_udp, s, answer_locks))
    threads.append((over_tcp, socket.create_server((host, 111), family=family), answer_portmap))
    for target, *arguments in threads:
        threading.Thread(target=target, args=arguments, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait(100)


class Relay:
    """|lines|: what it prints before "MOUNT:", and after it."""

    def __init__(self, nets, server, *options):
        here, there = nets[0] + "1", nets[1] + "2"
        self.process = subprocess.Popen(
            [PROGRAM, "relay", "--listen", "%s:%d" % (in_url(here), PORT), "--mount-listen", "%s:%d" % (
                in_url(here), MOUNT_PORT), "--to", "nfs://%s/a?nfsport=%d&mountport=%d" % (
                    in_url(there), server.port, server.mount_port), "--for", "100s", *options],
            stdout=subprocess.PIPE, text=True)
        self.lines = [self.process.stdout.readline() for _ in range(2)]

    def more(self, count):
        return [self.process.stdout.readline() for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        expect("end", self.process.wait(30), 0)


def take_answers(servers, ports):
    """What the server sends to its clients is for the relay's machine."""
    for option in "-4", "-6":
        for protocol, port in ports:
            ip(option, "rule", "add", "iif", servers.name, "ipproto", protocol, "sport", str(port), "lookup",
               "100")
        ip(option, "route", "replace", "local", "default", "dev", "lo", "table", "100")


def test_addresses(clients, nets, server):
    """The server's status tells whom it saw: 5 for the second client, 1 for the relay, and else 0."""
    for options, statuses in ([], [1, 1]), (["--transparent"], [0, 5]):
        with Relay(nets, server, *options) as relay:
            if options:  # nobody answers at the server's port 111
                expect("locks", relay.more(1)[0].startswith("NLM and NSM are not relayed: "), True)
            for udp in "", "udp":
                for end, status in zip((2, 3), statuses):
                    got = clients.run("client", nets[0] + "1", nets[0] + str(end), udp)
                    expect("%s %s %s %d" % (nets[0], options, udp, end), got, "status %d\n" % status)


def test_locks(clients, servers, nets, server):
    """NLM and NSM, at ports that PORTMAP tells over IPv4, and that options choose for IPv6."""
    here, seen, there = nets[0] + "1", nets[0] + "2", nets[1] + "2"
    ports = [] if nets is NETS["IPv4"] else [5001, 5002]
    options = [word for option, port in zip(("--nlm-listen", "--nsm-listen"), ports)
               for word in (option, "%s:%d" % (in_url(here), port))]
    process = subprocess.Popen([*servers.enter, sys.executable, __file__, "serve", there],
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    with Relay(nets, server, "--transparent", "--portmap", "%s:%d" % (in_url(here), PORTMAP_PORT),
               *options) as relay:
        found = [re.fullmatch(r"(NLM|NSM): (\S+):(\d+) to (\S+):(\d+)\n", line).groups()
                 for line in relay.more(2)]
        expect("where locks are", [(name, at, to, int(port)) for name, at, _, to, port in found],
               [("NLM", in_url(here), in_url(there), 4001), ("NSM", in_url(here), in_url(there), 4003)])
        expect("chosen ports", ports, [int(f[2]) for f in found] if ports else [])
        expect("locks of %s" % here, clients.run("lock", here, seen, *map(str, ports)).splitlines(),
               ["%d %s seen %s called by %s" % (*which, seen, there) for which in LOCKS])
    process.kill()
    process.communicate()


def test(clients, servers):
    for i, nets in enumerate(NETS.values()):
        second, relays = in_url(nets[0] + "3"), in_url(nets[1] + "1")
        with Ftnfsd("--export", "/a", "--listen", nets[1] + "2", "--fault",
                    "GETATTR:client=%s:status=NFS3ERR_IO" % second, "--fault",
                    "GETATTR:client=%s:status=NFS3ERR_PERM" % relays, wrapper=servers.enter) as server:
            ports = [(p, port) for p in ("tcp", "udp") for port in (server.port, server.mount_port)]
            take_answers(servers, ports + ([(p, port) for (_, p), port in LOCKS.items()] if not i else []))
            test_addresses(clients, nets, server)
            test_locks(clients, servers, nets, server)


def test_refusals():
    words = [PROGRAM, "relay", "--listen", "127.0.0.1:0", "--for", "10s"]
    plain = [*words, "--to", "127.0.0.1:1", "--transparent"]
    run = subprocess.run(["setpriv", "--bounding-set=-all", "--inh-caps=-all", *plain],
                         capture_output=True, text=True, timeout=60)
    expect("without the capability", (run.returncode, "CAP_NET_ADMIN" in run.stderr), (4, True))
    for more, text in (
            ([*plain, "--bind", "127.0.0.1"], "--bind and --transparent"),
            ([*plain, "--nlm-listen", "127.0.0.1:0"], "and --to nfs://..."),
            ([*words, "--to", "nfs://127.0.0.1/a", "--nsm-listen", "127.0.0.1:0"], "need --transparent")):
        run = subprocess.run(more, capture_output=True, text=True, timeout=60)
        expect(" ".join(more[6:]), (run.returncode, text in run.stderr), (2, True))


def main():
    for path in "ipv4/ip_forward", "ipv6/conf/all/forwarding":
        pathlib.Path("/proc/sys/net", path).write_text("1")
    clients, servers = Namespace("clients", 0, 2, 3), Namespace("servers", 1, 2)
    try:
        test(clients, servers)
        test_refusals()
    finally:
        clients.end()
        servers.end()
    return bool(failures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        client(*sys.argv[2:4], bool(sys.argv[4]))
    elif sys.argv[1:2] == ["lock"]:
        lock_client(*sys.argv[2:4], dict(zip((NLM, NSM), map(int, sys.argv[4:]))))
    elif sys.argv[1:2] == ["serve"]:
        serve_locks(sys.argv[2])
    else:
        sys.exit(own_network.exit_code(main))
