#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""What a running ftnfsd tells of itself is what its client did: by the control socket, and as metrics.

    ftnfsd_tell.py     environment: BUILD
"""
import collections
import json
import os
import pathlib
import re
import shlex
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import LOOPBACK, Client, Ftnfsd, RpcError  # noqa: E402
from messages import NFS, NFSACL, auth_none, opaque, record, u32  # noqa: E402
from model_xdr import (CREATE, GETATTR, LOOKUP, NAMES, READ, UNCHECKED, UNSTABLE, WRITE)  # noqa: E402

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "bin", "ftnfsd")
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %r, not %r" % (what, found, wanted))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ctl(path, *words):
    done = subprocess.run([PROGRAM, "ctl", path, *words], capture_output=True, text=True,
                          check=False)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def metrics(port):
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=20) as page:
        text = page.read().decode()
    return {m[1]: float(m[2]) for m in re.finditer(r"^(ftnfsd_\S+) (\S+)$", text, re.M)}


def work(client):
    """The root's handle, and (calls, errors, bytes) by procedure."""
    said = collections.defaultdict(lambda: [0, 0, 0])

    def do(procedure, arguments, data=0):
        status, fields = client.nfs(procedure, arguments)
        row = said[NAMES[procedure]]
        row[0] += 1
        row[1] += status != 0
        row[2] += data if status == 0 else 0
        return fields

    root = client.mount(b"/a")
    for i in range(5):
        file = do(CREATE, {"object": root, "name": b"f%d" % i, "how": UNCHECKED,
                           "settings": {}})["handle"]
        do(WRITE, {"object": file, "offset": 0, "count": 5000, "stable": UNSTABLE,
                   "data": [(5000, 65)]}, 5000)
        do(READ, {"object": file, "offset": 4000, "count": 5000}, 1000)
        do(LOOKUP, {"object": root, "name": b"no%d" % i})
        do(GETATTR, {"object": file})
    return root, {k: tuple(v) for k, v in said.items()}


def misbehave(server, client, root):
    """Each way once; the server counts them by these."""
    client.rpc(1, opaque(root) + u32(1), program=NFSACL, credential=auth_none())
    for program, procedure, credential in ((NFSACL, 1, None), (77, 1, None), (NFS, 1, u32(6, 0))):
        try:
            client.rpc(procedure, b"", program=program, credential=credential)
            failures.append("a call of program %d that is wrong was answered" % program)
        except RpcError:
            pass
    for data in (record(b"no call, but long enough to be one"), record(u32(1, 1, 0, 0, 0, 0)),
                 u32(0xffffffff), u32(0x80000100) + b"the beginning"):
        with socket.create_connection((LOOPBACK, server.port), timeout=20) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            s.recv(1)


def refused():
    """Ports that nobody would know."""
    for option in "--metrics", "--portmap":
        done = subprocess.run([PROGRAM, "--memory", "--export", "/a", "--port", "0", "--for", "1s", option, "0"],
                              capture_output=True, text=True, check=False, timeout=60)
        check("port 0", (done.returncode, "ftnfsd: %s: port 0" % option in done.stderr, done.stdout),
              (2, True, ""))


def commands():
    """What it prints can be given to a shell."""
    for name in "/a", "/a b", "/q'x;$y", "/t\\n", "/\xe9", "/c*":
        with Ftnfsd("--export", name) as server:
            words = shlex.split(server.lines[0])
            check("the command", (words[0], words[-2:]),
                  ("mount", ["127.0.0.1:" + name, "/mnt"]))


def main():
    refused()
    commands()
    with tempfile.TemporaryDirectory() as folder:
        path, port = folder + "/control", free_port()
        options = "--export", "/a", "--control", path, "--metrics", str(port)
        with Ftnfsd(*options) as server:
            check("mode", stat.S_IMODE(os.stat(path).st_mode), 0o600)
            empty = ctl(path, "exports")[1]["exports"][0]["memory"]
            client = Client(server)
            root, wanted = work(client)
            for _ in range(2):
                client.rpc(0, b"")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.sendto(b"no call", ("127.0.0.1", server.port))
            misbehave(server, client, root)
            code, said = ctl(path, "statistics")
            check("exit code", code, 0)
            rows = {r["procedure"]: (r["calls"], r["errors"], r["bytes"])
                    for r in said["procedures"] if r["program"] == "NFS"}
            check("statistics", rows, wanted)
            total = sum(r[0] for r in wanted.values()) + 3  # MNT, GETACL twice
            check("client", [(c["client"], c["calls"]) for c in said["clients"]],
                  [("127.0.0.1", total)])
            check("calls of NULL", said["null_calls"], 2)
            check("refused", {k: v for k, v in said["refused"].items() if v},
                  {"GARBAGE_ARGS": 1, "PROG_UNAVAIL": 1, "AUTH_ERROR": 1})
            check("no calls", said["no_calls"], {"not_rpc": 2, "not_a_call": 1})
            check("closed", {k: v for k, v in said["closed"].items() if v}, {"too_long": 1, "cut": 1})
            check("connections so far", said["connections"]["begun"], 5)
            check("datagrams", {k: v for k, v in said["datagrams"].items() if v}, {"received": 1})
            check("cache", said["cache_of_replies"]["entries"], 10)
            found = metrics(port)
            for name, (calls, errors, data) in wanted.items():
                label = '{program="NFS",procedure="%s"}' % name
                check("metrics of " + name, tuple(found["ftnfsd_%s_total%s" % (n, label)] for n in (
                    "calls", "errors", "data_bytes")), (calls, errors, data))
                check("latencies of " + name, found["ftnfsd_latency_seconds_count" + label], calls)
            for label, rows in (('client="127.0.0.1"', "client"), ('export="/a"', "export")):
                check("metrics by " + rows, tuple(
                    found["ftnfsd_%s_%s_total{%s}" % (rows, n, label)] for n in (
                        "calls", "errors", "data_bytes")),
                      (total - (rows == "export"), 5 + (rows == "client"), 5 * 6000))
            check("metrics of GETACL", [found['ftnfsd_%s_total{program="NFSACL",procedure="GETACL"}' % n]
                                        for n in ("calls", "errors")], [2, 1])
            check("metrics of what is no call", (found["ftnfsd_refused_total"],
                                                 found["ftnfsd_not_rpc_total"]), (3, 5))
            check("metrics of what was closed",
                  [found['ftnfsd_connections_closed_total{why="%s"}' % why]
                   for why in ("too_long", "cut", "slow")], [1, 1, 0])
            check("objects", found['ftnfsd_export_objects{export="/a"}'], 6)
            check("bytes", found['ftnfsd_export_used_bytes{export="/a"}'], 5 * 8192)
            check("exports", [(e["name"], e["objects"]) for e in ctl(path, "exports")[1]["exports"]],
                  [("/a", 6)])
            grown = ctl(path, "exports")[1]["exports"][0]["memory"] - empty
            check("memory of 5 files that a crash would lose", (25000 <= grown <= 100000, grown),
                  (True, grown))
            check("mounts", ctl(path, "mounts")[1]["mounts"],
                  [{"client": "127.0.0.1", "path": "/a"}])
            check("connections", len(ctl(path, "connections")[1]["connections"]), 1)
            check("check", ctl(path, "check")[1]["ok"], True)
            check("a fault", ctl(path, "fault-add", "GETATTR:status=NFS3ERR_IO:count=1")[1]["ok"],
                  True)
            root = client.mount(b"/a")
            check("GETATTR", [client.nfs(GETATTR, {"object": root})[0] for _ in range(2)], [5, 0])
            check("no command", ctl(path, "nonsense")[0], 2)
            check("no fault", ctl(path, "fault-add", "GETATTR:nonsense")[0], 2)
            second = subprocess.run([PROGRAM, "--memory", "--export", "/b", "--port", "0",
                                     "--control", path], capture_output=True, text=True,
                                    check=False)
            check("a second server with this socket", second.returncode, 2)
            check("stop", ctl(path, "stop"), (0, {"ok": True}))
            check("the end", server.process.wait(timeout=20), 0)
        check("the socket is gone", os.path.exists(path), False)
        check("nobody listens", ctl(path, "help")[0], 4)
    for failure in failures:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
