#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600
"""Each fault of ftnfsd is one that compare finds, and nothing else is found.

The same workload runs on a server without faults and on one with the fault.  Both record their own
traffic; nfsdigest compares the records.  Without a fault nothing may differ.

    ftnfsd_faults.py [FAULT...]     environment: BUILD, NFSDIGEST
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import (ACCESS, COMMIT, CREATE, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, READ,  # noqa: E402
                       READDIR, READDIRPLUS, READLINK, REMOVE, RENAME, RMDIR, SETATTR, SYMLINK,
                       UNCHECKED, UNSTABLE, WRITE)

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
# What follows from these is found, too: these fields must be among what is found.
LASTING = {
    "WRITE:path=*/f3:short": {"WRITE3res.resok.count", "GETATTR3res.resok.obj_attributes.size"},
    "COMMIT:path=*/f2:lose-unstable": {"READ3res.resok.count", "READ3res.resok.eof"},
    "LOOKUP:path=*/f2:count=1:handle": {"LOOKUP3res.resok.object", "GETATTR3res.status"},
}


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
        client.nfs(LINK, {"object": f, "object2": d, "name2": b"l%d" % i})
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
    with Ftnfsd("--export", "/a", "--record", str(stream), *options) as server:
        work(Client(server))
        code, _, err = server.stop()
        if code or err:
            raise SystemExit("ftnfsd: exit %d: %s" % (code, err))
    subprocess.run([NFSDIGEST, "ingest", "-q", "-o", str(database), str(stream)], check=True)
    return database


def compare(one, other):
    done = subprocess.run([NFSDIGEST, "compare", "--json", str(one), str(other)],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit("compare: exit %d" % done.returncode)
    said = json.loads(done.stdout)
    return {g["field"] for g in said["groups"]}, said["totals"][0]


def unlisted():
    """The words of these faults that "--fault help" does not list."""
    told = subprocess.run([os.path.join(os.environ.get("BUILD", "build"), "bin", "ftnfsd"), "--fault",
                           "help"], capture_output=True, text=True, check=True).stdout
    listed = {line.split()[0].split("=")[0] for line in told.splitlines() if line.startswith("  ")}
    words = {word.split("=")[0] for spec in (*FAULTS, *LASTING) for word in spec.split(":")[1:]}
    return sorted(words - listed)


def main():
    failed = 0
    if unlisted():
        print("--fault help does not list %s" % ", ".join(unlisted()))
        failed += 1
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        reference = record(folder / "reference")
        found, totals = compare(reference, record(folder / "same"))
        if found or totals["pairs"] < 50:
            print("two servers without faults: %s, %s" % (found, totals))
            failed += 1
        for spec in sys.argv[1:] or [*FAULTS, *LASTING]:
            found, _ = compare(reference, record(folder / "faulty", "--fault", spec))
            wanted = FAULTS.get(spec, LASTING.get(spec, set()))
            if not found >= wanted or spec not in LASTING and found != wanted:
                print("%s: compare finds %s, not %s" % (spec, sorted(found), sorted(wanted)))
                failed += 1
            for file in folder.glob("faulty*"):
                file.unlink()
    print("%d faults, %d not as they should be" % (len(FAULTS) + len(LASTING), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
