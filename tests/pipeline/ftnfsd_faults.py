#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600
"""Each fault of ftnfsd is one that compare finds, and nothing else is found; all kinds of differences
that compare knows come of one.

The same workload runs on a server without faults and on one with the fault.  Both record their own
traffic; nfsdigest compares the records.  Without a fault nothing may differ.

    ftnfsd_faults.py [FAULT...]     environment: BUILD, NFSDIGEST
"""
import contextlib
import json
import os
import pathlib
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import LOOPBACK, Client, Ftnfsd, RpcError, parse_reply  # noqa: E402
from model_xdr import (ACCESS, COMMIT, CREATE, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, READ,  # noqa: E402
                       READDIR, READDIRPLUS, READLINK, REMOVE, RENAME, RMDIR, SETATTR, SYMLINK,
                       UNCHECKED, UNSTABLE, WRITE)

SECONDS = 2  # until the client sends a call again
NFSDIGEST = os.environ.get("NFSDIGEST", "build/bin/nfsdigest")

# What is injected, and the fields that must then differ: all of these, and no others.
FAULTS = {
    "READ:path=*/f1:eof": {"READ3res.resok.eof"},
    "READ:path=*/f1:wrong-bytes": {"READ3res.resok.data"},
    "READ:path=*/f1:short": {"READ3res.resok.count"},
    "READ:path=*/f1:no-attributes": {"READ3res.resok.file_attributes"},
    "LOOKUP:count=1:status=NFS3ERR_IO": {"LOOKUP3res.status"},
    "GETATTR:path=*/f2:mode-bits=022": {"GETATTR3res.resok.obj_attributes.mode"},
    "GETATTR:path=*/f2:link-count": {"GETATTR3res.resok.obj_attributes.nlink"},
    "GETATTR:path=*/f2:size": {"GETATTR3res.resok.obj_attributes.size"},
    "GETATTR:path=*/f2:no-atime": {"GETATTR3res.resok.obj_attributes.atime"},
    "GETATTR:path=*/f2:shift-times=10s": {"GETATTR3res.resok.obj_attributes.atime",
                                          "GETATTR3res.resok.obj_attributes.ctime",
                                          "GETATTR3res.resok.obj_attributes.mtime"},
    "SETATTR:path=*/f3:no-attributes": {"SETATTR3res.resok.obj_wcc.after"},
    "SETATTR:path=*/f3:no-before": {"SETATTR3res.resok.obj_wcc.before"},
    "SETATTR:path=*/f3:before-current": {"SETATTR3res.resok.obj_wcc.before.ctime"},
    "CREATE:path=*/f3:no-handle": {"CREATE3res.resok.obj"},
    "WRITE:path=*/f3:committed=FILE_SYNC": {"WRITE3res.resok.committed"},
    "GETATTR:path=*/f2:fileid": {"GETATTR3res.resok.obj_attributes.fileid"},
    "GETATTR:path=*/f2:fsid": {"GETATTR3res.resok.obj_attributes.fsid"},
    "COMMIT:path=*/f2:verifier": {"COMMIT3res.resok.verf"},
    "WRITE:path=*/f2:keep-times": {"WRITE3res.resok.file_wcc.after.mtime",
                                   "WRITE3res.resok.file_wcc.after.ctime"},
    "READDIRPLUS:skip-entry": {"READDIRPLUS3res.resok.reply.entries"},
    "READDIR:skip-entry": {"READDIR3res.resok.reply.entries"},
    "READDIR:twice-entry": {"READDIR3res.resok.reply.entries"},
}
# Between the peers: the kinds of differences.  Of a reply that is sent twice, compare says nothing.
GET = "GETATTR:path=*/f2:count=1:"
BETWEEN = {
    GET + "rpc-status=SYSTEM_ERR": {"rpc"},
    "ACCESS:path=*/f2:count=1:malformed": {"malformed"},
    GET + "drop": {"retransmissions"}, GET + "close": {"disconnects"}, GET + "twice": set(),
    GET.replace("count=1", "count=2") + "ignore": {"missing reply", "retransmissions"},
    "LINK:path=*/f1:forget": {"other replies"},
}
# How lists differ is "entry", and a rule like "at least" of the user's makes "order".
NO_FAULT = {"count", "order"}
# What follows from these is found, too: these fields must be among what is found.
LASTING = {
    "WRITE:path=*/f3:short": {"WRITE3res.resok.count", "GETATTR3res.resok.obj_attributes.size"},
    "COMMIT:path=*/f2:lose-unstable": {"READ3res.resok.count", "READ3res.resok.eof"},
    "LOOKUP:path=*/f2:count=1:handle": {"LOOKUP3res.resok.object", "GETATTR3res.status"},
    "READDIRPLUS:handle": {"READDIRPLUS3res.resok.reply.entries.name_handle.handle"},
}


class Patient(Client):
    """Sends a call again that gets no answer, once; over a new connection if its own was closed."""

    def rpc(self, procedure, arguments, **more):
        message = self.message(procedure, arguments, **more)
        self.socket.settimeout(SECONDS)
        for last in False, True:
            try:
                self.send(message)
                xid, results = parse_reply(self.receive())
                while xid != self.xid:  # a call before was answered twice
                    xid, results = parse_reply(self.receive())
                return results
            except TimeoutError:
                if last:
                    raise
            except ConnectionError:
                self.socket.close()
                self.socket = socket.create_connection((LOOPBACK, self.server.port), SECONDS)
        return None

    def nfs(self, procedure, arguments, uid=0, gid=0, gids=()):
        try:
            return super().nfs(procedure, arguments, uid, gid, gids)
        except (RpcError, TimeoutError, IndexError, ValueError, struct.error):
            return None, {}

    def nfs_twice(self, procedure, arguments):
        """As if the first answer had been lost."""
        self.nfs(procedure, arguments)
        self.xid -= 1
        self.nfs(procedure, arguments)


def work(client):
    root = client.mount(b"/a")
    d = client.nfs(MKDIR, {"object": root, "name": b"d", "settings": {"mode": 0o755}})[1]["handle"]
    client.nfs(FSSTAT, {"object": root})
    for i in range(4):
        name = b"f%d" % i
        client.nfs(CREATE, {"object": d, "name": name, "how": UNCHECKED,
                            "settings": {"mode": 0o644}})
        f = client.nfs(LOOKUP, {"object": d, "name": name})[1].get("handle")
        if f is None:  # a fault
            f = client.nfs(LOOKUP, {"object": d, "name": name})[1]["handle"]
        if i == 2:
            time.sleep(0.5)  # more than compare lets times differ
        client.nfs(WRITE, {"object": f, "offset": 0, "count": 5000, "stable": UNSTABLE,
                           "data": [(5000, 65 + i)]})
        client.nfs(COMMIT, {"object": f, "offset": 0, "count": 0})
        client.nfs(GETATTR, {"object": f})
        client.nfs(ACCESS, {"object": f, "access": 0x3f})
        client.nfs(READ, {"object": f, "offset": 0, "count": 4096})
        client.nfs(READ, {"object": f, "offset": 4096, "count": 4096})
        client.nfs(SETATTR, {"object": f, "settings": {"mode": 0o600}})
        client.nfs_twice(LINK, {"object": f, "object2": d, "name2": b"l%d" % i})
    listing = {"object": d, "cookie": 0, "verifier": bytes(8)}
    client.nfs(READDIRPLUS, {**listing, "dircount": 8192, "maxcount": 8192})
    client.nfs(READDIR, {**listing, "count": 8192})
    client.nfs(SYMLINK, {"object": d, "name": b"s", "settings": {}, "text": b"f0"})
    s = client.nfs(LOOKUP, {"object": d, "name": b"s"})[1]["handle"]
    client.nfs(READLINK, {"object": s})
    client.nfs(RENAME, {"object": d, "name": b"f0", "object2": root, "name2": b"g"})
    client.nfs(REMOVE, {"object": root, "name": b"g"})
    client.nfs(RMDIR, {"object": root, "name": b"d"})


def record(path, *options):
    """The database of a run."""
    stream, database = path.with_suffix(".nfsr"), path.with_suffix(".db")
    # the root's times are those of a folder: else, how long after its start the first call comes
    tree = path.parent / "tree"
    if not tree.exists():
        tree.mkdir()
        os.listdir(tree)  # its access time is later than its change: relatime leaves it so
    with Ftnfsd("--export", "/a=%s" % tree, "--record", str(stream), *options) as server:
        work(Patient(server))
        code, _, err = server.stop()
        if code or err:
            raise SystemExit("ftnfsd: exit %d: %s" % (code, err))
    subprocess.run([NFSDIGEST, "ingest", "-q", "-o", str(database), str(stream)], check=True)
    return database


def compare(one, other):
    """The fields that differ, the kinds of differences, and totals."""
    done = subprocess.run([NFSDIGEST, "compare", "--json", str(one), str(other)],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit("compare: exit %d" % done.returncode)
    said = json.loads(done.stdout)
    groups = said["groups"]
    return {g["field"] for g in groups}, {g["kind"] for g in groups}, said["totals"][0]


def unlisted():
    """The words of these faults that "--fault help" does not list."""
    told = subprocess.run([os.path.join(os.environ.get("BUILD", "build"), "bin", "ftnfsd"), "--fault",
                           "help"], capture_output=True, text=True, check=True).stdout
    listed = {line.split()[0].split("=")[0] for line in told.splitlines() if line.startswith("  ")}
    words = {word.split("=")[0] for spec in (*FAULTS, *LASTING, *BETWEEN) for word in spec.split(":")[1:]}
    return sorted(words - listed)


def kinds_of(database, folder):
    """All that compare knows."""
    result = folder / "result.db"
    subprocess.run([NFSDIGEST, "compare", "-o", str(result), str(database), str(database)], check=True,
                   stdout=subprocess.DEVNULL)
    with contextlib.closing(sqlite3.connect(result)) as db:
        return {name for name, in db.execute("SELECT name FROM code WHERE domain = 'kind'")}


def main():
    failed, seen = 0, set()
    wanted = FAULTS | LASTING | BETWEEN
    if sys.argv[1:]:
        wanted = {spec: wanted.get(spec, set()) for spec in sys.argv[1:]}
    if unlisted():
        print("--fault help does not list %s" % ", ".join(unlisted()))
        failed += 1
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        reference = record(folder / "reference")
        found, _, totals = compare(reference, record(folder / "same"))
        if found or totals["pairs"] < 50:
            print("two servers without faults: %s, %s" % (found, totals))
            failed += 1
        for spec in wanted:
            fields, kinds, _ = compare(reference, record(folder / "faulty", "--fault", spec))
            found = kinds if spec in BETWEEN else fields
            if not found >= wanted[spec] or spec not in LASTING and found != wanted[spec]:
                print("%s: compare finds %s, not %s" % (spec, sorted(found), sorted(wanted[spec])))
                failed += 1
            seen |= kinds
            for file in folder.glob("faulty*"):
                file.unlink()
        known = kinds_of(reference, folder)
    if not sys.argv[1:] and seen | NO_FAULT != known:
        print("kinds of differences: %s were found, compare knows %s" % (sorted(seen), sorted(known)))
        failed += 1
    print("%d faults, %d not as they should be" % (len(wanted), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
