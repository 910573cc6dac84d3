#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""info, starve and top --by export, and the page of a trace: the exports of a made capture, which the generator knows, and of real ones.

The capture has exports that are mounted, exports that only file systems (fsid) tell apart, exports that
share a file system, one that is mounted after its root was used, handles without attributes, and calls
that name nothing.  In real captures, plain SQL follows the paths of operations up to their roots.
"""
import collections
import json
import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path[:0] = [str(SRC / "tests/gen"), str(SRC / "tests/pipeline")]

import audit_schema  # noqa: E402
import capfile  # noqa: E402
import database  # noqa: E402
import messages  # noqa: E402
import packets  # noqa: E402
from checks import check, exit_code, good, run  # noqa: E402

START, STEP = 1_700_000_000 * 10**9, 1_000_000
CLIENT, ONE, TWO, SIX, SIX_CLIENT = "10.0.0.2", "10.0.0.1", "10.0.0.9", "fd00::1", "fd00::2"
MOUNT_PORT = 635
A, B, C, C_SUB, LATE, HUGE, LEFT, RIGHT = 11, 12, 13, 13, 14, (1 << 64) - 2, 21, 22  # fsid

Op = collections.namedtuple("Op", "server program procedure arguments result export")


def attributes(fsid, fileid, kind=messages.DIR):
    """fattr3 with another fsid: it stands behind 44 bytes."""
    whole = messages.fattr3(fileid, kind)
    assert whole[44:52] == messages.u64(0xfd00)
    return whole[:44] + messages.u64(fsid) + whole[52:]


def mnt(server, path, fh, export):
    result = messages.u32(0) + messages.opaque(fh) + messages.u32(1, 1) if fh else messages.u32(2)
    return Op(server, messages.MOUNT, 1, messages.opaque(path), result, export)


def getattr3(server, fh, fsid, fileid, export):
    result = messages.u32(0) + attributes(fsid, fileid) if fsid else messages.u32(messages.STALE)
    return Op(server, messages.NFS, messages.GETATTR, messages.getattr_args(fh), result, export)


def lookup(server, directory, name, fh, fsid, export):
    found = messages.u32(0) + messages.opaque(fh) + messages.some(attributes(fsid, fh[11])) + messages.u32(0)
    return Op(server, messages.NFS, messages.LOOKUP, messages.lookup_args(directory, name), found, export)


def made_operations():
    number = iter(range(1, 100))
    new = lambda: messages.handle(next(number))
    root, directory, file = new(), new(), new()
    a, c, late = ONE + ":/srv/a", ONE + ":/srv/c", ONE + ":/late"
    ops = [
        Op(ONE, messages.NFS, messages.NULL, b"", b"", None),
        mnt(ONE, "/srv/a", root, a),
        getattr3(ONE, root, A, 1, a),
        lookup(ONE, root, b"d", directory, A, a),
        lookup(ONE, directory, b"f", file, A, a),
        getattr3(ONE, file, A, 3, a),
        getattr3(ONE, new(), A, 4, a),  # its path is unknown, but the file system has one MOUNT path
        lookup(ONE, root, b"other", below := new(), 99, a),  # another file system below the export
        getattr3(ONE, below, 99, 5, a),
        getattr3(ONE, new(), B, 6, ONE + " fsid 0xc"),  # never mounted
        getattr3(ONE, new(), None, 7, None),  # stale: no attributes
        mnt(ONE, "/srv/nosuch", None, ONE + ":/srv/nosuch"),
    ]
    root_c, sub = new(), new()
    ops += [
        mnt(ONE, "/srv/c", root_c, c),
        mnt(ONE, "/srv/c/sub", sub, c + "/sub"),
        getattr3(ONE, root_c, C, 8, c),
        getattr3(ONE, sub, C_SUB, 9, c + "/sub"),
        lookup(ONE, sub, b"x", new(), C, c + "/sub"),
        getattr3(ONE, new(), C, 10, ONE + " fsid 0xd"),  # of which of the two?
    ]
    root_late, under = new(), new()
    ops += [
        getattr3(ONE, root_late, None, 11, late),  # its root, though without attributes
        lookup(ONE, root_late, b"u", under, LATE, late),
        getattr3(ONE, under, LATE, 12, late),
        mnt(ONE, "/late", root_late, late),
        getattr3(TWO, root, LEFT, 13, TWO + " fsid 0x15"),  # the handle of another server's root
        getattr3(TWO, new(), RIGHT, 14, TWO + " fsid 0x16"),
        getattr3(TWO, new(), RIGHT, 15, TWO + " fsid 0x16"),
        mnt(SIX, "/six", six := new(), "[%s]:/six" % SIX),
        getattr3(SIX, six, HUGE, 16, "[%s]:/six" % SIX),
        getattr3(SIX, new(), 7, 17, SIX + " fsid 0x7"),
        getattr3(SIX, new(), HUGE - 1, 18, SIX + " fsid 0xfffffffffffffffd"),
    ]
    return ops


def write_capture(path, ops):
    out = []
    for number, op in enumerate(ops):
        client = SIX_CLIENT if ":" in op.server else CLIENT
        port = MOUNT_PORT if op.program == messages.MOUNT else 2049
        for time, source, destination, ports, message in (
                (number * STEP, client, op.server, (700, port),
                 messages.call(900 + number, op.procedure, op.arguments, op.program)),
                (number * STEP + 1000, op.server, client, (port, 700),
                 messages.reply(900 + number, op.result))):
            payload = packets.udp(source, destination, *ports, message)
            data = packets.ethernet(packets.internet(source, destination, packets.UDP, payload, len(out) + 1))
            out.append(capfile.Packet(START + time, data, len(data), packets.ETHERNET))
    capfile.write_pcap(path, out)


def by_export(*arguments):
    groups = json.loads(good("info", "--by", "export", "--top", 99, "--json", *arguments))
    check(list(groups) == ["database", "by_export"], "only that table: %s" % list(groups))
    return {g["export"]: g for g in groups["by_export"]}


def top_exports(*arguments):
    shown = json.loads(good("top", "--json", *arguments))
    return {g["export"]: g["operations"] for g in shown["export"]}


def top_made(capture, wanted):
    """top knows what was seen up to each operation: a root that is mounted later is not known yet."""
    wanted = collections.Counter({"-" if name is None else name: n for name, n in wanted.items()})
    late = ONE + ":/late"
    wanted.subtract({late: 3})
    wanted.update({"-": 2, ONE + " fsid 0xe": 1})
    found = top_exports("--rpc-port", MOUNT_PORT, capture)
    check(found == wanted, "top: %s, not %s" % (found, dict(wanted)))
    text = good("top", "--by", "export", "--rpc-port", MOUNT_PORT, capture)
    check(all("  %s\n" % name in text for name in wanted), "top: text")
    done = run("top", "--by", "exports", capture)
    check(done.returncode == 2 and "user or export" in done.stderr, "top --by exports: %s" % done.stderr)


def made(folder):
    ops = made_operations()
    capture, db = folder / "made.pcap", folder / "made.db"
    write_capture(capture, ops)
    good("ingest", "-q", "--rpc-port", MOUNT_PORT, "-o", db, capture)
    check(database.rows(db, "SELECT count(*) FROM operation") == [(len(ops),)], "all operations are there")
    wanted = collections.Counter(op.export for op in ops)
    found = by_export(db)
    check({name: g["operations"] for name, g in found.items()} == wanted,
          "exports: %s, not %s" % ({name: g["operations"] for name, g in found.items()}, dict(wanted)))
    check(all(g["answered"] == g["operations"] and g["p50"] == g["max"] == 1000 for g in found.values()),
          "latencies: %s" % found)
    check(found[ONE + ":/srv/nosuch"]["errors"] == 1 and found[None]["errors"] == 1, "errors")
    mine = collections.Counter(op.export for op in ops if op.server == TWO)
    check({name: g["operations"] for name, g in by_export("--server", TWO, db).items()} == mine, "--server")
    text = good("info", "--by", "export", db)
    for name in wanted:
        check("  %s\n" % (name or "in no export") in text, "text: %s" % name)
    report = json.loads(good("report", "--json", "--html", folder / "made.html", db))
    check({g["export"]: g["operations"] for g in report["exports"]["groups"]} == wanted
          and report["exports"]["left_out"] == 0, "report: %s" % report["exports"])
    page = (folder / "made.html").read_text()
    check('<h2 id="exports">' in page and all(name in page for name in wanted if name), "the page")
    report = json.loads(good("report", "--json", "--server", TWO, db))
    check({g["export"]: g["operations"] for g in report["exports"]["groups"]} == mine, "report --server")
    done = run("starve", "--by", "export", "--json", db)
    told = json.loads(done.stdout)
    problems = list(audit_schema.errors(json.loads((SRC / "schemas/starve.schema.json").read_text()), told))
    check(not problems, "starve: %s" % problems)
    shares = collections.Counter()
    for service in told["services"]:
        for g in service["shares"]:
            shares[g["export"]] += g["calls"]
    check(shares == wanted, "starve: %s, not %s" % (shares, wanted))
    text = good("starve", "--by", "export", db)
    check(all("  %s\n" % (name or "in no export") in text for name in wanted), "starve: text")
    done = run("info", "--by", "exports", db)
    check(done.returncode == 2 and "export or status" in done.stderr, "--by exports: %s" % done.stderr)
    top_made(capture, wanted)


ROOTS = """
WITH RECURSIVE up(id, root) AS (
    SELECT id, id FROM path WHERE parent IS NULL
    UNION ALL SELECT p.id, up.root FROM path p JOIN up ON p.parent = up.id)
SELECT CASE WHEN r.object IS NULL AND r.id IS NOT NULL THEN o.server || ':' || r.text
            ELSE ifnull((SELECT min(s.server || ':' || e.name)
                           FROM object b JOIN object s ON s.server = b.server AND s.fsid = b.fsid
                           JOIN name_event e ON e.object = s.id AND e.parent IS NULL
                          WHERE b.id = ifnull(r.object, ifnull(o.object, o.new_object))),
                        (SELECT printf('%s fsid 0x%x', b.server, b.fsid) FROM object b
                          WHERE b.id = ifnull(r.object, ifnull(o.object, o.new_object))
                            AND b.fsid IS NOT NULL)) END AS export, count(*)
  FROM operation o LEFT JOIN up ON up.id = o.path LEFT JOIN path r ON r.id = up.root
 GROUP BY 1"""


def real(folder, name, least, mounted):
    db = folder / (name + ".db")
    database.ingest(db, CAPTURES / (name + ".pcap.zst"))
    wanted = dict(database.rows(db, ROOTS))
    found = {name: g["operations"] for name, g in by_export(db).items()}
    check(found == wanted, "%s: %s, not %s" % (name, found, wanted))
    check(sum(n for export, n in found.items() if export) >= least, "%s: %s" % (name, found))
    if mounted:  # at the beginning, so top knows the same
        shown = top_exports(CAPTURES / (name + ".pcap.zst"))
        check(shown == {export or "-": n for export, n in wanted.items()}, "top, %s: %s" % (name, shown))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made(folder)
        for capture, least, mounted in (("knfsd-tcp-mtu1500", 8000, True), ("load-ganesha-vfs", 800, True),
                                        ("knfsd-nlm-locks", 60, True)):
            real(folder, capture, least, mounted)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
