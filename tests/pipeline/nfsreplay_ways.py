#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""Ways to a server: from privileged ports, over IPv6, through its portmapper, and over UDP; to NFSACL at a port of
its own.  In a network
namespace of its own, where the kernel's tables show the ports.

    nfsreplay_ways.py     environment: BUILD, NFSDIGEST
"""
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import own_network  # noqa: E402
import replay_tree  # noqa: E402
from live_client import Ftnfsd  # noqa: E402

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "bin", "nfsreplay")
MOUNT, NFS, NFSACL, GETACL = 100005, 100003, 100227, 1
ACLS = 5  # operations of NFSACL in the dump
failures = []


def run(*words, before=()):
    return subprocess.run([*before, PROGRAM, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=60)


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.400r, not %.400r" % (what, found, wanted))


def round_trip(what, dump, url, *options):
    """Made, played and removed."""
    for words, said in ((["run", "--pace", "asap"], "as recorded"), (["clean"], "removed")):
        done = run(*words, *options, dump, url)
        if done.returncode or said not in done.stdout:
            failures.append("%s: exit %d: %.600s" % (what, done.returncode, done.stdout + done.stderr))


def ports_towards(port):
    """Local ports of the connections to |port| that were closed from here (TIME_WAIT), IPv4."""
    found = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        local, remote, state = line.split()[1:4]
        if state == "06" and int(remote.split(":")[1], 16) == port:
            found.add(int(local.split(":")[1], 16))
    return found


def records(connection):
    """RPC messages from a connection, until it ends."""
    with connection.makefile("rb") as data:
        while len(mark := data.read(4)) == 4:
            yield data.read(struct.unpack(">I", mark)[0] & 0x7fffffff)


def program_of(call):
    """(program, procedure)"""
    return struct.unpack_from(">I4xI", call, 12)


def serve(port, one):
    """Listens at the port (0: any), and gives each connection to |one|.  Returns the port."""
    listener = socket.create_server(("127.0.0.1", port))

    def take():
        while True:
            threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=take, daemon=True).start()
    return listener.getsockname()[1]


def portmapper(ports):
    """A portmapper at port 111 that knows these ports of programs, and no others."""

    def answer(connection):
        for call in records(connection):
            port = ports.get(struct.unpack_from(">I", call, len(call) - 16)[0], 0)
            reply = call[:4] + struct.pack(">6I", 1, 0, 0, 0, 0, port)
            connection.sendall(struct.pack(">I", 1 << 31 | len(reply)) + reply)

    serve(111, answer)


def relay(port, seen):
    """A port whose calls go to |port|, one after the other; |seen| gets their programs and procedures."""

    def one(connection):
        with socket.create_connection(("127.0.0.1", port)) as server:
            replies = records(server)
            for call in records(connection):
                seen.append(program_of(call))
                server.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
                reply = next(replies)
                connection.sendall(struct.pack(">I", 1 << 31 | len(reply)) + reply)

    return serve(0, one)


def acl_elsewhere(dump):
    """The portmapper says another port for NFSACL than for NFS, then none at all."""
    with Ftnfsd("--export", "/a") as server:
        at_nfs, at_acl = [], []
        ports = {MOUNT: server.mount_port, NFS: relay(server.port, at_nfs), NFSACL: relay(server.port, at_acl)}
        portmapper(ports)
        round_trip("NFSACL elsewhere", dump, "nfs://127.0.0.1/a")
        check("calls at NFSACL's port", at_acl, [(NFSACL, GETACL)] * ACLS)
        check("programs at NFS's port", {program for program, _ in at_nfs}, {NFS})
        del ports[NFSACL], at_acl[:]
        round_trip("NFSACL not registered", dump, "nfs://127.0.0.1/a")
        check("calls at NFSACL's port that is gone", at_acl, [])
        check("calls of NFSACL at NFS's port", at_nfs.count((NFSACL, GETACL)), ACLS)


def with_operations(dump, scratch):
    """The tree's dump with some operations: GETATTR and NFSACL's GETACL of root 1, without results."""
    text = os.path.join(scratch, "ways.text")
    lines = subprocess.run([os.environ["NFSDIGEST"], "rdump", "--dump", dump], capture_output=True,
                           check=True, text=True).stdout.splitlines()
    operations = ["operation source=%d time=%d latency=1000 client=1 server=1 credential=1 %s" % (
        n + 1, n * 1000, "procedure=101 arguments=000000040000000100000001" if n < ACLS else
        "procedure=1 arguments=0000000400000001") for n in range(20)]
    hosts = max(n for n, line in enumerate(lines) if line.startswith("host ")) + 1
    lines[-1:] = [*operations, "end hosts=%d credentials=1 objects=%d operations=20 last_time=19000" % (
        sum(line.startswith("host ") for line in lines), sum(line.startswith("object ") for line in lines))]
    lines.insert(hosts, "credential number=1")
    pathlib.Path(text).write_text("\n".join(lines) + "\n")
    to = os.path.join(scratch, "ways.rdump")
    subprocess.run([os.environ["NFSDIGEST"], "rdump", "--undump", text, "-o", to], check=True)
    return to


def main():
    with tempfile.TemporaryDirectory() as scratch:
        dump = os.path.join(scratch, "tree.rdump")
        replay_tree.write(os.environ["NFSDIGEST"], dump, 30)
        dump = with_operations(dump, scratch)
        for privileged in (False, True):
            with Ftnfsd("--export", "/a") as server:
                options = ["--privileged"] * privileged
                round_trip("privileged: %s" % privileged, dump, server.urls[0], *options)
                own = ports_towards(server.port)
            check("connections", len(own) >= 6, True)
            check("privileged: %s" % privileged, {port < 1024 for port in own}, {privileged})
        with Ftnfsd("--export", "/a") as server:
            done = run("populate", "--privileged", dump, server.urls[0],
                       before=["setpriv", "--bounding-set=-net_bind_service"])
            check("no privilege", (done.returncode, done.stderr.rpartition(": ")[2]),
                  (4, "this needs root, or the capability CAP_NET_BIND_SERVICE\n"))
        with Ftnfsd("--export", "/a", "--portmap", "111") as server:
            round_trip("portmap", dump, "nfs://127.0.0.1/a")
            round_trip("portmap and UDP", dump, "nfs://127.0.0.1/a", "--udp")
            round_trip("UDP from privileged ports", dump, server.urls[0], "--udp", "--privileged")
        with Ftnfsd("--export", "/a", "--listen", "::1", "--portmap", "111") as server:
            round_trip("IPv6", dump, "nfs://[::1]:%d/a?mountport=%d" % (server.port, server.mount_port))
            round_trip("IPv6 and UDP", dump, "nfs://[::1]:%d/a?mountport=%d" % (server.port,
                                                                             server.mount_port), "--udp")
            round_trip("IPv6 and rpcbind", dump, "nfs://[::1]/a")
        done = run("populate", dump, "nfs://127.0.0.1/a")
        check("no portmapper", (done.returncode, "portmap" in done.stderr), (4, True))
        acl_elsewhere(dump)
    for failure in failures:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(own_network.exit_code(main))
