#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 long=long
"""ftnfsd against the servers of captures: a replay dump of the capture gives ftnfsd the tree before, the
requests of the capture go to ftnfsd, which records what it answers, and "nfsdigest compare" compares that
with the capture.  The rules ftnfsd, and those of the other server, explain all but the groups that are
listed here with their reasons.

    ftnfsd_pairs.py [long]     environment: NFSDIGEST, SRC, BUILD, CAPTURES

long: further captures.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
from comparing import check, compare, failures, run  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from played_capture import Player  # noqa: E402

EXCLUSIVE = "READDIRPLUS3res.resok.reply.entries.name_attributes."
CASES = [
    # capture, the other server's rules, aligned operations, groups that stay
    ("vfs-libnfs-all22", "ganesha", 196, {
        # this reply has bytes behind its end
        ("malformed", "malformed"),
        # the file "exclusive", whose times are the verifier until a SETATTR, and there is none
        ("time", EXCLUSIVE + "atime"), ("time", EXCLUSIVE + "mtime")}),
    ("pair-knfsd", "linux-knfsd", 9816, {
        # a name of 299 bytes, which it refuses to read
        ("rpc", "rpc-status"),
        # it returns other bytes of the file than those of the offset: tests/expected/compare-pair.txt
        ("value", "READ3res.resok.data"),
        # as above
        ("time", EXCLUSIVE + "mtime"),
        # all requests went over one connection here
        ("disconnects", "disconnects")}),
    ("pair-ganesha-vfs", "ganesha", 9877, {
        ("malformed", "malformed"), ("time", EXCLUSIVE + "atime"), ("time", EXCLUSIVE + "mtime"),
        ("disconnects", "disconnects"),
        # it refuses to read the lists that Linux clients send, so they send them again
        ("rpc", "rpc-status"), ("retransmissions", "retransmissions"),
        # files that are there before have contents that ftnfsd makes up
        ("value", "READ3res.resok.data"),
        # its file system notes only some accesses (relatime)
        *[("time", field + ".atime") for field in (
            "WRITE3res.resok.file_wcc.after", "SETATTR3res.resok.obj_wcc.after",
            "COMMIT3res.resok.file_wcc.after", "GETATTR3res.resok.obj_attributes")]}),
]

# these programs never set the times of what they make by an EXCLUSIVE create
VERIFIER = {("time", field) for field in (
    "LOOKUP3res.resok.obj_attributes.atime", "LOOKUP3res.resok.obj_attributes.mtime",
    "SETATTR3res.resok.obj_wcc.after.atime", "SETATTR3res.resok.obj_wcc.after.mtime",
    "WRITE3res.resok.file_wcc.after.atime", "ACCESS3res.resok.obj_attributes.atime",
    "GETATTR3res.resok.obj_attributes.atime")}
FURTHER = [
    ("knfsd-tcp-mtu1500", "linux-knfsd", 8516, {("disconnects", "disconnects")}),
    ("knfsd-vlan", "linux-knfsd", 8434, {("disconnects", "disconnects")}),
    ("knfsd-udp-frag", "linux-knfsd", 8669, set()),
    ("load-ganesha-vfs", "ganesha", 910, VERIFIER | {("disconnects", "disconnects")}),
]


def played(folder, name, *options):
    """The database of ftnfsd's answers to a capture's requests."""
    with Ftnfsd("--export", "/srv(no_root_squash)", "--image", str(folder / (name + ".rdump")),
                "--record", str(folder / "x.nfsr"), *options) as server:
        player = Player(Client(server), b"/srv/root-1")
        player.play(capfile.read(folder / name))
        code, _, err = server.stop()
    check(code == 0 and not err, "ftnfsd: %s %s" % (code, err))
    found = folder / "ftnfsd.db"
    found.unlink(missing_ok=True)
    run("ingest", "-q", "-o", found, folder / "x.nfsr")
    (folder / "x.nfsr").unlink()
    return found


def groups(rules, ref, sut):
    """(groups, pairs, requests of each side whose counterpart times do not tell)"""
    report = compare(*rules, ref, sut, code=None)
    found = {(g["kind"], g["field"]) for g in report["groups"]}
    doubtful = [sum(a["count"] for a in report["alone"] if (a["side"], a["reason"]) == (side, "doubtful"))
                for side in ("ref", "sut")]
    return found, report["totals"][0]["pairs"], doubtful


def explained(folder, name, rules, pairs, stay):
    with open(folder / name, "wb") as out:
        subprocess.run(["zstd", "-dc", CAPTURES / (name + ".pcap.zst")], stdout=out, check=True)
    captured = folder / (name + ".db")
    run("ingest", "-q", "-o", captured, folder / name)
    run("rdump", "-o", folder / (name + ".rdump"), captured)
    ours = played(folder, name)
    found, aligned, doubtful = groups(("-r", rules, "-r", "ftnfsd"), captured, ours)
    # like requests are doubtful where the machine let the replay stand still
    check(aligned + doubtful[0] == aligned + doubtful[1] == pairs and aligned > 0.99 * pairs,
          "%s: %d aligned operations and %s doubtful ones, not %d" % (name, aligned, doubtful, pairs))
    check(found == stay, "%s: not explained: %s; not there: %s" % (name, found - stay, stay - found))
    more, _, _ = groups(("-r", rules), captured, ours)
    check(more - found and not found - more, "%s: without the rules: %s" % (name, more))


def seen(folder):
    """The rules hide no fault."""
    name, _, _, stay = CASES[0]
    for fault in ("*:link-count", "READ:eof", "WRITE:committed=UNSTABLE", "REMOVE:no-attributes",
                  "READDIR:skip-entry", "SETATTR:keep-times", "LOOKUP:every=2:status=NFS3ERR_ACCES",
                  "CREATE:after=5:mode-bits=7"):
        ours = played(folder, name, "--fault", fault)
        found, _, _ = groups(("-r", "ganesha", "-r", "ftnfsd"), folder / (name + ".db"), ours)
        check(found - stay, "%s is not seen" % fault)


def main():
    with tempfile.TemporaryDirectory(prefix="pairs.") as folder:
        folder = pathlib.Path(folder)
        for case in FURTHER if sys.argv[1:] == ["long"] else CASES:
            explained(folder, *case)
        if not sys.argv[1:]:
            seen(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
