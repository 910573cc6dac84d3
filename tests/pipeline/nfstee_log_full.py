#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""nfstee shadow whose log or page cannot be written any more: it says so when that happens, goes on comparing, and
its totals are right.  A limit on the size of files stands for a full disk."""
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each
from model_xdr import CREATE, GUARDED, READ, WRITE
from tee_traffic import Shadow, attached, mounted, servers, settle

USER, ROOM, READS = 1234, 65536, 20
LIMITED = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (%d, %d)); " \
          "os.execv(sys.argv[1], sys.argv[1:])"


def limited(shadow, room):
    """Python ignores SIGXFSZ, and so does what it executes."""
    shadow.command = [sys.executable, "-c", LIMITED % (room, room), *shadow.command]
    return shadow


def differing(shadow, relay):
    """READS requests that differ, with 5000 bytes each."""
    client, root = mounted(relay)
    handle = client.nfs(CREATE, {"object": root, "name": b"f", "how": GUARDED,
                                 "settings": {"mode": 0o644}})[1]["handle"]
    client.nfs(WRITE, {"object": handle, "offset": 0, "count": 5000, "stable": 2, "data": [(5000, 65)]})
    settle(shadow)
    for _ in range(READS):
        client.nfs(READ, {"object": handle, "offset": 0, "count": 5000}, USER)
        settle(shadow)  # what differs is copied again, and not compared meanwhile
    return settle(shadow)


def test_log(folder):
    reference, sut = servers(sut=("--fault", "READ:uid=%d:wrong-bytes" % USER))
    with reference, sut, attached(folder, reference) as relay, \
            limited(Shadow(folder, relay, sut, "--html", folder + "/tee.html"), ROOM) as shadow:
        now = differing(shadow, relay)
        shadow.wait_for(lambda: shadow.statistics()["log"]["failed"], "word of the log")
        told = os.read(shadow.process.stderr.fileno(), 65536).decode()
        expect("what it says at once", (told.count("nfstee: the log: %s/" % shadow.log), "only counted" in told),
               (1, True))
        code, totals, err = shadow.stop()
        log = totals["log"]
        expect("exit code", (code, ".nfsr: File too large" in err), (4, True))
        expect("requests that differ", (now["verdicts"]["differ"], totals["verdicts"]["differ"]), (READS, READS))
        expect("logged, and left out", (0 < log["pairs"], log["differing_left_out"] > 0, log["failed"]),
               (True, True, True))
        page = pathlib.Path(folder, "tee.html").read_text()
        expect("the page", ("%d of " % READS in page, "The log could not be written" in page,
                            ": %d pairs." % log["differing_left_out"] in page), (True, True, True))


def test_page_gone(folder):
    """The folder of the page goes away: totals come nevertheless, and the log has its end."""
    pages = pathlib.Path(folder, "pages")
    pages.mkdir()
    reference, sut = servers(sut=("--fault", "READ:uid=%d:eof" % USER))
    with reference, sut, attached(folder, reference) as relay, \
            Shadow(folder, relay, sut, "--html", str(pages / "tee.html")) as shadow:
        now = differing(shadow, relay)
        for path in pages.iterdir():
            path.unlink()
        pages.rename(pages.with_name("elsewhere"))
        code, totals, err = shadow.stop()
        expect("exit code", (code, str(pages) in err), (4, True))
        expect("totals", (totals["verdicts"], totals["log"]["failed"]), (now["verdicts"], False))
        summary = json.loads((shadow.log / "summary.json").read_text())
        expect("the log's totals", (summary["differ"], summary["log_error"]), (READS, None))


sys.exit(run_each([test_log, test_page_gone]))
