#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""nfstee shadow --scrub.  What others change on the SUT is found although no client asks for it, is in the
log, and is copied again; what others change on the reference is not the SUT's fault."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from model_xdr import (CREATE, GETATTR, GUARDED, LOOKUP, OK, READ, READDIRPLUS, REMOVE, SETATTR,  # noqa: E402
                       SYMLINK, WRITE)
from nfstee_shadow import expect, failures, no_trees_differ, settle, small_tree  # noqa: E402
from tee_traffic import Objects, Shadow, attached, mounted, servers, work  # noqa: E402

LONG = 200000


def at(client, root, *names):
    handle = root
    for name in names:
        status, fields = client.nfs(LOOKUP, {"object": handle, "name": name})
        expect("LOOKUP of %r" % name, status, OK)
        handle = fields["handle"]
    return handle


def tree(client, root):
    small_tree(client, root)
    _, f = client.nfs(CREATE, {"object": root, "name": b"long", "how": GUARDED, "settings": {"mode": 0o600}})
    client.nfs(WRITE, {"object": f["handle"], "offset": 0, "count": LONG, "stable": 2, "data": [(LONG, 7)]})
    client.nfs(SYMLINK, {"object": root, "name": b"s", "settings": {}, "text": b"d0/f0"})
    d2 = at(client, root, b"d2")
    for i in range(500):
        client.nfs(CREATE, {"object": d2, "name": b"entry %3d" % i + 90 * b".", "how": GUARDED,
                            "settings": {"mode": 0o600}})


def scrub(shadow):
    return shadow.statistics()["scrub"]


def passes(shadow, count=2):
    """Waits until whole passes have begun and ended."""
    wanted = scrub(shadow)["passes"] + count
    shadow.wait_for(lambda: scrub(shadow)["passes"] >= wanted, "passes of the scrub")
    return scrub(shadow)


def change_sut(sut):
    """Each of these is one object that differs."""
    client, root = mounted(sut)
    client.nfs(WRITE, {"object": at(client, root, b"d1", b"f1"), "offset": 100, "count": 3, "stable": 2,
                       "data": [(3, 1)]})
    client.nfs(WRITE, {"object": at(client, root, b"long"), "offset": LONG - 5, "count": 1, "stable": 2,
                       "data": [(1, 1)]})
    client.nfs(SETATTR, {"object": at(client, root, b"d0", b"f0"), "settings": {"mode": 0o777}})
    client.nfs(CREATE, {"object": at(client, root, b"d2"), "name": b"surplus", "how": GUARDED, "settings": {}})


def found():
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        tree(client, root)
        with Shadow(folder, relay, sut, "--scrub", "0") as shadow:
            shadow.settle()
            first = passes(shadow)
            expect("what differs before", (first["differ"], first["too_long"]), (0, 0))
            expect("objects in two passes, at least %d" % (2 * 510), first["objects"] >= 2 * 510, True)
            change_sut(sut)
            shadow.wait_for(lambda: scrub(shadow)["differ"] >= 4, "differences")
            settle(shadow)
            expect("objects that differ", passes(shadow)["differ"], 4)
            no_trees_differ("copied again", reference, sut)
            code, totals, _ = shadow.stop()
            expect("exit code", code, 1)
            expect("pairs of answers to clients", totals["verdicts"],
                   {"pairs": 0, "agree": 0, "differ": 0, "withheld": 0})
            expect("what helps nothing", totals["scrub"]["incurable"], 0)
            summary = json.loads((shadow.log / "summary.json").read_text())
            expect("the shadow's own figures in the summary", summary["shadow"], totals)
            groups = summary["groups"]
            expect("found by", {g["found_by"] for g in groups}, {"scrub"})
            expect("paths", {g["first"]["path"] for g in groups} >= {"/d0/f0", "/d2"}, True)
            compared = subprocess.run([os.environ["NFSDIGEST"], "compare", str(shadow.log), "--json"],
                                      capture_output=True, text=True, check=False)
            expect("exit code of nfsdigest compare", compared.returncode, 1)
            expect("differences in the log", json.loads(compared.stdout)["totals"][0]["discrepancies"],
                   sum(g["count"] for g in groups))


def nothing_found():
    """Clients work, pause and work again; they are never in the scrub's way, nor it in theirs."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        objects = Objects(root)
        work(client, random.Random(1), objects, 150)
        with Shadow(folder, relay, sut, "--scrub", "10M") as shadow:
            for i in range(3):
                work(client, random.Random(i), objects, 100)
                time.sleep(0.3)
            settle(shadow)
            passes(shadow)
            no_trees_differ("scrubbed", reference, sut)
            _, totals, _ = shadow.stop()
            expect("objects that differ", totals["scrub"]["differ"], 0)


def behind():
    """The reference changes, but not through the relay."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        tree(client, root)
        with Shadow(folder, relay, sut) as shadow:
            shadow.settle()
            direct, _ = mounted(reference)
            files = [at(client, root, b"d1", b"f%d" % i) for i in range(3)]
            directory = at(client, root, b"d0")
            settle(shadow)
            for f in files:
                direct.nfs(WRITE, {"object": f, "offset": 100, "count": 3, "stable": 2, "data": [(3, 1)]})
            direct.nfs(REMOVE, {"object": directory, "name": b"f0"})
            client.nfs(READ, {"object": files[0], "offset": 0, "count": 5000})
            client.nfs(WRITE, {"object": files[1], "offset": 0, "count": 5, "stable": 2, "data": [(5, 2)]})
            client.nfs(READDIRPLUS, {"object": at(client, root, b"d1"), "cookie": 0, "verifier": bytes(8),
                                     "dircount": 8192, "maxcount": 32768})
            client.nfs(GETATTR, {"object": directory})
            settle(shadow)
            no_trees_differ("changed behind", reference, sut)
            code, totals, _ = shadow.stop()
            expect("changed behind", totals["copied_again"]["changed_behind"], 4)
            expect("exit code, answers that differ", (code, totals["verdicts"]["differ"]), (0, 0))


def main():
    found()
    nothing_found()
    behind()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
