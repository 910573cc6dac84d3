#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""nfstee relay --to nfs://HOST/EXPORT: which ports it takes, from the text and from a PORTMAP, and what
it says without one.  The PORTMAP is this program, at port 111 of a network namespace."""
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
from messages import MOUNT, NFS, NFSACL

PROGRAM = os.path.join(os.environ["BUILD"], "bin", "nfstee")
GETATTR = 1


class Portmap:
    """Answers GETPORT from |ports|: program to port.  |asked|: what the calls asked for."""

    def __init__(self, ports):
        self.ports, self.asked = ports, []
        self.socket = socket.create_server(("127.0.0.1", 111))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            with s:
                data = s.recv(4096)
                xid, _, _, program, version, procedure = struct.unpack_from(">6I", data, 4)
                wanted = struct.unpack(">4I", data[-16:])
                self.asked.append((program, version, procedure, *wanted))
                answer = struct.pack(">7I", xid, 1, 0, 0, 0, 0, self.ports.get(wanted[0], 0))
                s.sendall(struct.pack(">I", 1 << 31 | len(answer)) + answer)
                s.recv(1)  # until it closes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def relayed(to, *options):
    """The ports of the server that the relay says, and the process."""
    process = subprocess.Popen(
        [PROGRAM, "relay", "--listen", "127.0.0.1:0", "--to", to, "--mount-listen", "127.0.0.1:0",
         "--for", "60s", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [process.stdout.readline() for _ in range(2)]
    found = [re.fullmatch(r"(\w+): 127\.0\.0\.1:(\d+) to (?:127\.0\.0\.1|\[::1\]):(\d+)\n", line) for line in lines]
    if None in found:
        raise RuntimeError("%s%s" % (lines, process.communicate()[1]))
    return process, [(m[1], int(m[3])) for m in found], [int(m[2]) for m in found]


def test_ports():
    for url, asked in (("nfs://127.0.0.1/a", [MOUNT, NFS, NFSACL]),
                       ("nfs://127.0.0.1:1001/a", [MOUNT]),
                       ("nfs://127.0.0.1/a?nfsport=1001", [MOUNT]),
                       ("nfs://127.0.0.1/a?mountport=1002", [NFS, NFSACL]),
                       ("nfs://127.0.0.1:1001/a?mountport=1002", [])):
        with Portmap({NFS: 1001, MOUNT: 1002, NFSACL: 1001}) as portmap:
            process, found, _ = relayed(url)
            expect("%s: ports" % url, found, [("NFS", 1001), ("MOUNT", 1002)])
            expect("%s: questions" % url, portmap.asked,
                   [(100000, 2, 3, program, 3, 6, 0) for program in asked])
            process.terminate()
            expect("%s: end" % url, (process.wait(30), process.communicate()[1]), (0, ""))


def test_acl():
    """NFSACL is told on only if the server has it at the port of NFS."""
    for port in 1001, 1003, 0:
        with Portmap({NFS: 1001, MOUNT: 1002, NFSACL: port}):
            process, _, _ = relayed("nfs://127.0.0.1/a", "--portmap", "127.0.0.1:1111")
        client = Client(type("At", (), {"port": 1111}))
        listed = client.rpc(4, b"", program=100000, version=2)
        programs = {struct.unpack_from(">I", listed, at + 4)[0] for at in range(0, len(listed) - 4, 20)}
        expect("NFSACL at %d" % port, programs, {NFS, MOUNT} | ({NFSACL} if port == 1001 else set()))
        process.terminate()
        process.communicate(timeout=30)


def test_use():
    with Ftnfsd("--export", "/a") as nfsd, Portmap({NFS: nfsd.port, MOUNT: nfsd.mount_port}):
        process, _, ports = relayed("nfs://127.0.0.1/a")
        root = Client(type("At", (), {"port": ports[1]})).mount(b"/a")
        status, _ = Client(type("At", (), {"port": ports[0]})).nfs(GETATTR, {"object": root})
        expect("GETATTR", status, 0)
        process.terminate()
        process.communicate(timeout=30)
    with Ftnfsd("--export", "/a", "--listen", "::1", "--portmap", "111") as nfsd:  # RPCBIND version 4
        process, found, _ = relayed("nfs://[::1]/a")
        expect("IPv6", found, [("NFS", nfsd.port), ("MOUNT", nfsd.mount_port)])
        process.terminate()
        process.communicate(timeout=30)


def test_refusals():
    listen = ["--listen", "127.0.0.1:0"]
    mount = ["--mount-listen", "127.0.0.1:0"]
    for ports, to, options, code, text in (
            ({NFS: 1001, MOUNT: 1002}, "nfs://127.0.0.1/a", listen, 2,
             "MOUNT is at port 1002, and NFS at port 1001: say --mount-listen"),
            ({MOUNT: 1002}, "nfs://127.0.0.1/a", listen + mount, 4,
             "nfs://127.0.0.1/a: the port of NFS: PORTMAP: the program is not registered"),
            ({NFS: 1001}, "nfs://127.0.0.1/a", listen + mount, 4, "the port of MOUNT: PORTMAP"),
            (None, "nfs://127.0.0.1/a", listen + mount, 4, "Connection refused"),
            ({}, "nfs://127.0.0.1", listen + mount, 2, "the export is missing"),
            ({}, "nfs://127.0.0.1/a?port=7", listen + mount, 2, '"port" is unknown'),
            ({}, "nfs://127.0.0.1/a", listen + mount + ["--mount-to", "127.0.0.1:2"], 2,
             "?mountport=N")):
        portmap = Portmap(ports) if ports is not None else None
        run = subprocess.run([PROGRAM, "relay", "--to", to, "--for", "30s", *options],
                             capture_output=True, text=True, timeout=60)
        expect("%s %s" % (to, ports), (run.returncode, text in run.stderr, run.stdout), (code, True, ""))
        if code != run.returncode or text not in run.stderr:
            print(run.stderr)
        if portmap:
            portmap.__exit__()
    # MOUNT at the port of NFS needs no place of its own
    with Portmap({NFS: 1001, MOUNT: 1001}):
        run = subprocess.run([PROGRAM, "relay", "--to", "nfs://127.0.0.1/a", "--for", "1ms", *listen],
                             capture_output=True, text=True, timeout=60)
        expect("one port", (run.returncode, run.stdout.count(" to 127.0.0.1:1001\n")), (0, 1))


def main():
    for test in test_ports, test_acl, test_use, test_refusals:
        test()
    return bool(failures)


if __name__ == "__main__":
    sys.exit(own_network.exit_code(main))
