#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""nfstee relay --transparent, in three network namespaces: clients, the relay, and a server that routes
to the clients through the relay.  The server sees the clients' own addresses, over TCP and UDP."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from live_client import Client, Ftnfsd

PROGRAM = os.path.join(os.environ["BUILD"], "bin", "nfstee")
PORT, MOUNT_PORT = 20049, 20048
CLIENTS = ["10.1.0.2", "10.1.0.3"]
GETATTR = 1
failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(what)
        print("%s: %.300r, not %.300r" % (what, got, wanted))


def ip(*words, pid=None):
    inside = ["nsenter", "-t", str(pid), "-n"] if pid else []
    subprocess.run([*inside, "ip", *words], check=True)


class Namespace:
    """Another network namespace, joined by a veth pair: the relay's address ends in .1."""

    def __init__(self, net, *addresses):
        self.process = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 100"],
                                        stdout=subprocess.PIPE)
        self.process.stdout.readline()
        pid, ours = self.process.pid, "v" + net.replace(".", "")
        ip("link", "add", ours, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
        ip("addr", "add", net + ".1/24", "dev", ours)
        ip("link", "set", ours, "up")
        for address in addresses:
            ip("addr", "add", address + "/24", "dev", "eth0", pid=pid)
        ip("link", "set", "eth0", "up", pid=pid)
        ip("link", "set", "lo", "up", pid=pid)
        ip("route", "add", "default", "via", net + ".1", pid=pid)
        self.name, self.enter = ours, ["nsenter", "-t", str(pid), "-n"]

    def end(self):
        self.process.kill()
        self.process.communicate()


def client(source, udp):
    """In the clients' namespace: a mount, and the status of GETATTR, from |source|."""
    at = type("At", (), {"port": PORT})
    mounting = type("At", (), {"port": MOUNT_PORT})
    root = Client(mounting, udp=udp, host="10.1.0.1", source=(source, 0)).mount(b"/a")
    status, _ = Client(at, udp=udp, host="10.1.0.1", source=(source, 0)).nfs(GETATTR, {"object": root})
    print("status %d" % status)


def relay(server, *options):
    process = subprocess.Popen(
        [PROGRAM, "relay", "--listen", "10.1.0.1:%d" % PORT, "--mount-listen", "10.1.0.1:%d" % MOUNT_PORT,
         "--to", "nfs://10.2.0.2/a?nfsport=%d&mountport=%d" % (server.port, server.mount_port), "--for",
         "100s", *options], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.readline()
    return process


def test(clients, servers):
    """The server's status tells whom it saw: 5 for the second client, 1 for the relay, and else 0."""
    with Ftnfsd("--export", "/a", "--listen", "10.2.0.2", "--fault",
                "GETATTR:client=10.1.0.3:status=NFS3ERR_IO", "--fault",
                "GETATTR:client=10.2.0.1:status=NFS3ERR_PERM", wrapper=servers.enter) as server:
        for port in server.port, server.mount_port:
            for protocol in "tcp", "udp":
                ip("rule", "add", "iif", servers.name, "ipproto", protocol, "sport", str(port), "lookup",
                   "100")
        ip("route", "add", "local", "default", "dev", "lo", "table", "100")
        for options, statuses in ([], [1, 1]), (["--transparent"], [0, 5]):
            process = relay(server, *options)
            for udp in "", "udp":
                for source, status in zip(CLIENTS, statuses):
                    run = subprocess.run([*clients.enter, sys.executable, __file__, "client", source, udp],
                                         stdout=subprocess.PIPE, text=True, timeout=60)
                    expect("%s %s %s" % (options, udp, source), run.stdout, "status %d\n" % status)
            process.terminate()
            expect("end", process.wait(30), 0)


def test_refusals():
    words = [PROGRAM, "relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--for", "10s",
             "--transparent"]
    run = subprocess.run(["setpriv", "--bounding-set=-all", "--inh-caps=-all", *words],
                         capture_output=True, text=True, timeout=60)
    expect("without the capability", (run.returncode, "CAP_NET_ADMIN" in run.stderr), (4, True))
    run = subprocess.run([*words, "--bind", "127.0.0.1"], capture_output=True, text=True, timeout=60)
    expect("with --bind", (run.returncode, "--bind and --transparent" in run.stderr), (2, True))


def main():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    clients, servers = Namespace("10.1.0", *CLIENTS), Namespace("10.2.0", "10.2.0.2")
    try:
        test(clients, servers)
        test_refusals()
    finally:
        clients.end()
        servers.end()
    return bool(failures)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        client(sys.argv[2], bool(sys.argv[3]))
    elif sys.argv[1:] == ["inside"]:
        sys.exit(main())
    elif subprocess.run(["unshare", "-Urn", "true"], stderr=subprocess.DEVNULL).returncode:
        print("NOT RUN: this system allows no network namespaces")
    else:
        sys.exit(subprocess.run(["unshare", "-Urn", sys.executable, __file__, "inside"]).returncode)
