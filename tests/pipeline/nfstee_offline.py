#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=6
"""`nfsdigest compare LOG` finds the same requests as the shadow did, and these are the ones that a fault of the SUT
has met, by their XIDs: also where most changes of the SUT keep the old times, from which nobody may take its clock;
where the SUT gives an object another handle; and where a name of an object that is not synchronized is another's now.
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from model_xdr import (CREATE, GETATTR, GUARDED, LINK, LOOKUP, OK, READDIRPLUS, RENAME,  # noqa: E402
                       SETATTR, WRITE)
from tee_traffic import Shadow, attached, mounted, servers, settle  # noqa: E402

FILES, USER, OTHER = 24, 2000, 1999
FILE_SYNC = 2
AGE = 0.7  # s: the times that are kept are so old, which is more than times may differ by


class Work:
    def __init__(self, relay):
        self.client, self.root = mounted(relay)
        self.files = []
        for i in range(FILES):
            status, fields = self.client.nfs(CREATE, {"object": self.root, "name": b"%d" % i, "how": GUARDED,
                                                      "settings": {"mode": 0o666}})
            expect("the tree", status, OK)
            self.files.append(fields["handle"])

    def ask(self, procedure, arguments, who):
        """The call's XID."""
        expect("status", self.client.nfs(procedure, arguments, who)[0], OK)
        return self.client.xid

    def look(self, i, who):
        return self.ask(LOOKUP, {"object": self.root, "name": b"%d" % i}, who)

    def write(self, i, who):
        return self.ask(WRITE, {"object": self.files[i], "offset": 0, "count": 100, "stable": FILE_SYNC,
                                "data": [(100, 66)]}, who)


def kept_times(work):
    """A few changes have their times, before and behind those that do not."""
    time.sleep(AGE)
    met = [work.write(i, USER) for i in range(FILES - 4)]
    for i in range(FILES - 4, FILES):
        work.write(i, OTHER)
    return met


def another_handle(work):
    for i in range(FILES):  # so its handle is known
        work.look(i, OTHER)
    return [work.look(i, USER) for i in range(3)]


def xids_found(log, folder, code=1):
    out = os.path.join(folder, "out.db")
    done = subprocess.run([os.environ["NFSDIGEST"], "compare", str(log), "--summary", "-o", out],
                          capture_output=True, text=True, check=False)
    expect("nfsdigest compare", (done.returncode, done.stderr), (code, ""))
    db = sqlite3.connect(out)
    found = [xid for xid, in db.execute("SELECT DISTINCT o.xid FROM discrepancy d JOIN operation o"
                                        " ON o.side = 1 AND o.id = d.ref ORDER BY d.ref")]
    groups = db.execute("SELECT operation, field, count FROM discrepancy_group ORDER BY 1, 2").fetchall()
    db.close()
    return found, [(operation.split()[-1], field, count) for operation, field, count in groups]


def groups_said(shadow):
    with open(shadow.log / "summary.json", encoding="utf-8") as file:
        return sorted((g["operation"], g["field"], g["count"]) for g in json.load(file)["groups"])


def meets(name, fault, play, *options):
    reference, sut = servers(sut=("--fault", fault))
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        work = Work(relay)
        with Shadow(folder, relay, sut, *options) as shadow:
            settle(shadow)
            met = play(work)
            settle(shadow)
            code, totals, _ = shadow.stop()
        expect(name + ": exit code, and what differs as it runs", (code, totals["verdicts"]["differ"]),
               (1, len(met)))
        found, groups = xids_found(shadow.log, folder)
        expect(name + ": off line", found, met)
        expect(name + ": the groups are those of the shadow", groups, groups_said(shadow))


def take_a_name(work):
    """File 0 has the name "b" as well, until file 1 gets it."""
    work.ask(LINK, {"object": work.files[0], "object2": work.root, "name2": b"b"}, 0)
    work.ask(RENAME, {"object": work.root, "name": b"1", "object2": work.root, "name2": b"b"}, 0)


def change_behind(server, handle):
    client, _ = mounted(server)
    expect("behind the relay", client.nfs(SETATTR, {"object": handle, "settings": {"uid": OTHER}})[0], OK)


def name_taken():
    """Somebody changes file 0 behind the relay, and the SUT does not let the copy do so, too: a listing has it while
    it is not synchronized."""
    with tempfile.TemporaryDirectory() as folder:
        control = os.path.join(folder, "control")
        reference, sut = servers(sut=("--control", control))
        with reference, sut, attached(folder, reference) as relay:
            work = Work(relay)
            with Shadow(folder, relay, sut, "--record", "all") as shadow:
                settle(shadow)
                take_a_name(work)
                work.ask(GETATTR, {"object": work.files[0]}, 0)
                settle(shadow)
                subprocess.run([sut.command[0], "ctl", control, "fault-add", "SETATTR:status=NFS3ERR_JUKEBOX"],
                               check=True, stdout=subprocess.DEVNULL)
                change_behind(reference, work.files[0])
                work.ask(GETATTR, {"object": work.files[0]}, 0)
                shadow.wait_for(lambda: not shadow.statistics()["synchronized"], "change")
                compared = shadow.statistics()["requests"]["compared"]
                work.ask(READDIRPLUS, {"object": work.root, "cookie": 0, "verifier": bytes(8), "dircount": 1 << 16,
                                       "maxcount": 1 << 16}, 0)
                shadow.wait_for(lambda: shadow.statistics()["requests"]["compared"] > compared, "listing")
                code, totals, _ = shadow.stop()
            expect("a name that is another's: differences, and a value that is left open",
                   (code, totals["verdicts"]["differ"]), (0, 0))
            expect("a name that is another's: off line", xids_found(shadow.log, folder, 0), ([], []))


def main():
    for options in (), ("--record", "all"):
        meets("times kept %s" % (options,), "WRITE:uid=%d:keep-times" % USER, kept_times, *options)
    meets("another handle", "LOOKUP:uid=%d:handle" % USER, another_handle, "--record", "all")
    name_taken()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
