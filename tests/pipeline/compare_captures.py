#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare on whole captures: each against itself, its anonymized twin and shortened copies, what is stored
of pairs of real servers (compare_pairs.py has their groups), two servers in one database, listings
split in other ways, a second run of the reference, other rules on a stored result, and bad input."""

import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
from comparing import check, compare, failures, run  # noqa: E402

CAPTURES = pathlib.Path(os.environ["CAPTURES"])
NAMES = ["vfs-libnfs-all22", "mem-libnfs-all22", "pair-knfsd", "pair-ganesha-vfs"]


def rows(database, query, *values):
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute(query, values).fetchall()


def alike(folder):
    """Nothing against itself, nor against the anonymized twin."""
    run("key", "new", folder / "key", code=0)
    for name in NAMES:
        report = compare(folder / f"{name}.db", folder / f"{name}.db", code=0)
        alone = rows(folder / f"{name}.db", "SELECT count(*) FROM operation")[0][0]
        parts = report["totals"][0]["pairs"]
        check(not report["groups"] and not report["alone"], f"{name} against itself")
        check(alone - parts < 20, f"{name}: {parts} pairs of {alone} operations")
    for name, policy in (("vfs-libnfs-all22", "public"), ("pair-knfsd", "lab"),
                         ("pair-knfsd", "strict")):
        twin = folder / f"{name}.{policy}"
        run("anonymize", "--key", folder / "key", "--policy", policy, "-o", f"{twin}.pcapng",
            CAPTURES / f"{name}.pcap.zst", code=0)
        run("ingest", "-q", "-o", f"{twin}.db", f"{twin}.pcapng", code=0)
        more = ("-r", "strict") if policy == "strict" else ()
        report = compare("-r", "anonymized", *more, folder / f"{name}.db", f"{twin}.db", code=0)
        check(not report["groups"] and not report["alone"], f"{name} against its {policy} twin")
        check(report["totals"][0]["pairs"] > 200, f"{name} against its {policy} twin: few pairs")


def shortened(folder):
    """Nothing against a copy with a snap length, whatever it cuts: the text of a link, a time, a malformed reply."""
    for name, snap_length in ((NAMES[0], 200), (NAMES[0], 228), (NAMES[2], 200)):
        whole, short = folder / "whole.pcap", folder / "short.pcap"
        subprocess.run(["zstd", "-dqf", CAPTURES / f"{name}.pcap.zst", "-o", whole], check=True)
        capfile.write_pcap(short, capfile.read(whole), snaplen=snap_length)
        report = compare(folder / f"{name}.db", short, code=0)
        check(not report["groups"] and report["totals"][0]["pairs"] > 50, f"{name} against its copy of {snap_length} bytes")


def half_accepted(folder, out, groups):
    """Suggested rules for every second group leave the others as they are, and what was withheld."""
    parts = run("compare", "--suggest-rules", out, code=1).stdout.split("\n\n")
    mine, kept = folder / "half.conf", set()
    with mine.open("w") as file:
        for part in parts:
            if part.startswith("["):
                file.write(part + "\n")
            for group in groups[::2]:
                if part.startswith(f"# group {group['id']}: "):
                    file.write(part + "\n")
                    kept.add(group["id"])
    check(len(kept) == (len(groups) + 1) // 2, f"{out}: rules for {len(kept)} groups")
    again = compare("-r", mine, "-o", folder / "half.db", out, code=1)
    what = ("operation", "field", "difference", "circumstance", "count", "reason")
    left, want = ([tuple(g[k] for k in what) for g in some] for some in (again["groups"], groups[1::2]))
    check(sorted(left, key=str) == sorted(want, key=str), f"{out}: left {left}, not {want}")
    check(again["totals"][0]["accepted"] == sum(g["count"] for g in groups[::2]), f"{out}: accepted")
    counts = "SELECT sum(equal), sum(different), sum(ignored), sum(withheld) FROM compared"
    (before,), (after,) = rows(out, counts), rows(folder / "half.db", counts)
    fields = sum(g["count"] for g in groups[::2] if g["class"])
    check((before[0], before[1] - fields, before[2] + fields, before[3]) == after,
          f"{out}: {before}, {after}, {fields}")


def real_pairs(folder):
    for ref, sut, vector in (("vfs-libnfs-all22", "mem-libnfs-all22", "all22"),
                             ("pair-knfsd", "pair-ganesha-vfs", "pair")):
        out = folder / f"{vector}.out.db"
        found = compare("-o", out, folder / f"{ref}.db", folder / f"{sut}.db", code=1)
        half_accepted(folder, out, found["groups"])
        # what each discrepancy names is there
        check(rows(out, "SELECT count(*) FROM discrepancy d WHERE d.ref NOT IN (SELECT id FROM"
                        " operation WHERE side = 1) OR d.sut NOT IN (SELECT id FROM operation"
                        " WHERE side = 2)")[0][0] == 0, f"{vector}: operations are missing")
        check(rows(out, "SELECT count(*) FROM discrepancy_group WHERE id NOT IN (SELECT discrepancy_group FROM step)"
                        " AND operation <> ''")[0][0] == 0, f"{vector}: groups without an example")
        check(rows(out, "SELECT sum(count) FROM discrepancy_group")
              == rows(out, "SELECT count(*) FROM discrepancy"), f"{vector}: counts")
        frames = rows(out, "SELECT count(*) FROM frame f JOIN discrepancy d ON d.id = f.discrepancy"
                           " JOIN operation o ON o.side = f.side AND o.id = CASE f.side WHEN 1 THEN"
                           " d.ref ELSE d.sut END WHERE f.frame = ifnull(o.reply_frame,"
                           " o.call_frame)")[0][0]
        check(frames == rows(out, "SELECT count(*) FROM frame")[0][0] > 0, f"{vector}: frames")


def two_runs(folder):
    """The same work on the same server, twice: only the export's own times are older than that."""
    for name in ("knfsd-tcp-mtu1500", "knfsd-vlan"):
        run("ingest", "-q", "-o", folder / f"{name}.db", CAPTURES / f"{name}.pcap.zst", code=0)
    report = compare(folder / "knfsd-tcp-mtu1500.db", folder / "knfsd-vlan.db", code=1)
    check(report["totals"][0]["pairs"] > 8300, f"two runs: {report['totals']}")
    for group in report["groups"]:
        check((group["kind"], group["difference"]) == ("time", "both from before the trace")
              and {e["object"] for e in group["examples"]} <= {"/srv/exp", None},
              f"two runs: {group['count']} {group['field']} {group['difference']}"
              f" {group['examples']}")


def two_servers(folder):
    """One database with a second server that answers alike, at another address."""
    both = folder / "both.db"
    shutil.copy(folder / "vfs-libnfs-all22.db", both)
    with sqlite3.connect(both) as db:
        def double(table, changes):
            names = [r[1] for r in db.execute(f"PRAGMA table_info({table})")]
            db.execute(f"INSERT INTO {table} ({','.join(names)}) SELECT " +
                       ",".join(changes.get(n, n) for n in names) + f" FROM {table}")
        other = "'192.0.2.9'"
        double("flow", {"id": "id + 1000", "server": other})
        double("object", {"id": "id + 1000", "server": other})
        double("path", {"id": "id + 1000", "object": "object + 1000", "parent": "parent + 1000"})
        double("name_event", {"id": "id + 1000", "parent": "parent + 1000",
                              "object": "object + 1000", "operation": "operation + 1000"})
        double("operation", {"id": "id + 1000", "flow": "flow + 1000", "server": other,
                             "object": "object + 1000", "object2": "object2 + 1000",
                             "new_object": "new_object + 1000", "path": "path + 1000",
                             "call_time": "call_time + 700", "reply_time": "reply_time + 900"})
    arguments = ("--ref-server", "127.0.0.1", "--sut-server", "192.0.2.9", both)
    report = compare(*arguments, code=0)
    check(report["totals"][0]["pairs"] == 203 and not report["groups"], "two servers alike")
    with sqlite3.connect(both) as db:
        db.execute("UPDATE operation SET status = 5, result = x'0000000500000000',"
                   " result_length = 8 WHERE id = 1033")
    report = compare(*arguments, code=1)
    check([(g["kind"], g["field"]) for g in report["groups"]] == [("status", "READ3res.status")],
          f"two servers: {report['groups']}")
    run("compare", "--ref-server", "127.0.0.1", "--sut-server", "192.0.2.10", both, code=2,
        error="no server has the address 192.0.2.10")
    run("compare", both, code=2, error="one trace needs")
    # clients of other addresses meet in their order, or as they are told to
    moved = folder / "moved.db"
    shutil.copy(folder / "vfs-libnfs-all22.db", moved)
    with sqlite3.connect(moved) as db:
        db.execute("UPDATE operation SET client = '192.0.2.1'")
        db.execute("UPDATE flow SET client = '192.0.2.1'")
    original = folder / "vfs-libnfs-all22.db"
    for more in ((), ("--client-map", "127.0.0.1=192.0.2.1")):
        report = compare(*more, original, moved, code=0)
        check(report["totals"][0]["pairs"] == 203, f"clients {more}")
    run("compare", "--client-map", "127.0.0.1=192.0.2.2", original, moved, code=2,
        error="no client has the address 192.0.2.2")
    # one client twice, on either side; the second one is there
    with sqlite3.connect(moved) as db:
        db.execute("UPDATE flow SET client = '192.0.2.2' WHERE id = (SELECT max(id) FROM flow)")
    for first, second, side in (("127.0.0.1=192.0.2.1", "127.0.0.1=192.0.2.2", "127.0.0.1 of REF"),
                                ("192.0.2.1=127.0.0.1", "192.0.2.2=127.0.0.1", "127.0.0.1 of SUT")):
        sides = (original, moved) if side.endswith("REF") else (moved, original)
        run("compare", "--client-map", first, "--client-map", second, *sides, code=2,
            error=f"--client-map {second}: the client {side} is mapped already")


def listings(folder):
    """READDIRPLUS's last reply of a listing in two."""
    original, split = folder / "vfs-libnfs-all22.db", folder / "split.db"
    op, arguments, result = rows(original, "SELECT id, arguments, result FROM operation WHERE"
                                           " program = 100003 AND procedure = 17 ORDER BY id")[1]
    head, at, cut, cookie = result[:4 + 4 + 84 + 8], 100, None, None
    while struct.unpack_from(">I", result, at)[0]:
        length = struct.unpack_from(">I", result, at + 12)[0]
        end = at + 16 + (length + 3) // 4 * 4
        cookie_here = result[end:end + 8]
        end += 8
        end += 4 + 84 * struct.unpack_from(">I", result, end)[0]
        end += 4 + ((4 + (struct.unpack_from(">I", result, end + 4)[0] + 3) // 4 * 4)
                    if struct.unpack_from(">I", result, end)[0] else 0)
        at = end
        if cut is None and at > len(result) // 3:
            cut, cookie = at, cookie_here
    more = struct.pack(">II", 0, 0)
    first, second = result[:cut] + more, head + result[cut:]

    def change(parts):
        shutil.copy(original, split)
        with sqlite3.connect(split) as db:
            db.execute("UPDATE operation SET result = ?, result_length = ? WHERE id = ?",
                       (parts[0], len(parts[0]), op))
            if len(parts) == 1:
                return
            names = [r[1] for r in db.execute("PRAGMA table_info(operation)")]
            told = {"id": "100000", "call_time": "reply_time + 1", "reply_time": "reply_time + 2",
                    "arguments": "?1", "result": "?2", "result_length": str(len(parts[1]))}
            length = struct.unpack_from(">I", arguments)[0]
            asked = arguments[:4 + length] + cookie + arguments[4 + length + 8:]
            db.execute(f"INSERT INTO operation ({','.join(names)}) SELECT "
                       + ",".join(told.get(n, n) for n in names)
                       + " FROM operation WHERE id = ?3", (asked, parts[1], op))

    change([first, second])
    report = compare(original, split, code=0)
    check(not report["groups"], f"a listing in two: {report['groups']}")
    incomplete = sum(w["count"] for w in report["withheld"] if w["reason"] == "incomplete listing")
    change([first, second[:-4] + struct.pack(">I", 0)])
    report = compare(original, split, code=1)
    check([(g["field"], g["difference"]) for g in report["groups"]]
          == [("READDIRPLUS3res.resok.reply.eof", "only ref")], f"no end: {report['groups']}")
    change([first])
    report = compare(original, split, code=0)
    check(sum(w["count"] for w in report["withheld"] if w["reason"] == "incomplete listing")
          == incomplete + 1, f"the rest is missing: {report['withheld']}")


def again(folder):
    """Other rules on a stored result; noise."""
    ref, sut = folder / "vfs-libnfs-all22.db", folder / "mem-libnfs-all22.db"
    out, out2, rules = folder / "all22.out.db", folder / "again.db", folder / "mine.conf"
    rules.write_text("[fields]\n*.nlink = ignored\n")
    direct = compare("-r", rules, ref, sut, code=1)
    stored = compare("-r", rules, "-o", out2, out, code=1)
    for report in (direct, stored):
        for group in report["groups"]:
            del group["examples"], group["steps"]
    check(direct["groups"] == stored["groups"] and direct["withheld"] == stored["withheld"]
          and direct["performance"] == stored["performance"], "the same rules, stored and direct")
    check(not any(g["field"].endswith("nlink") for g in stored["groups"]), "rules on a result")
    # a time by the name that the report has for it
    times = sorted({g["field"] for g in direct["groups"] if g["kind"] == "time"})
    check(len(times) > 1, f"times: {times}")
    rules.write_text(f"[fields]\n{times[0]} = ignored\n")
    check(sorted({g["field"] for g in compare("-r", rules, ref, sut, code=1)["groups"]
                  if g["kind"] == "time"}) == times[1:], f"{times[0]} = ignored")
    compare(out2, "-o", out2, code=1)
    rules.write_text("[requests]\nname = ignored\n")
    run("compare", "-r", rules, out, code=2, error="which requests are equal")
    moved = folder / "gone.db"
    shutil.copy(sut, moved)
    compare("-o", out2, ref, moved, code=1)
    with sqlite3.connect(moved) as db:
        db.execute("UPDATE source SET digest = zeroblob(16)")
    run("compare", out2, code=3, error="has changed since")
    moved.unlink()
    run("compare", out2, code=3, error="No such file")

    report = compare("--noise", sut, ref, sut, code=0)
    check(report["groups"] and all(g["noise"] for g in report["groups"]), "all is noise")
    report = compare("--noise", ref, ref, sut, code=1)
    check(not any(g["noise"] for g in report["groups"])
          and all(g["noise_count"] == 0 for g in report["groups"]), "nothing is noise")


def bad_input(folder):
    ref, sut, out = folder / "vfs-libnfs-all22.db", folder / "mem-libnfs-all22.db", folder / "o.db"
    out.write_text("what was here before")
    rules, text = folder / "bad.conf", folder / "text"
    text.write_text("no database\n")
    rules.write_text("[fields]\nREAD3res.resok.oef = ignored\n")
    run("compare", "-r", rules, "-o", out, ref, sut, code=2, error=f"{rules}:2: no field")
    # rules that could only do nothing (test_rules has them all)
    for text_of, error in (("[messages]\nretransmissions = ignored if procedure=COMMIT\n",
                            f"{rules}:2: retransmissions: here rules have no conditions but"),
                           ("[messages]\ndisconnects = tolerance 5%\n", "tolerance is a number"),
                           ("[fields]\n*.nseconds = ignored\n", "the fraction of a time"),
                           ("[classes]\nname = mask 7\n", "name: mask does not fit")):
        rules.write_text(text_of)
        run("compare", "-r", rules, "-o", out, ref, sut, code=2, error=error)
    run("compare", "-r", folder / "none.conf", "-o", out, ref, sut, code=2, error="cannot be read")
    run("compare", "-r", "nonesuch", "-o", out, ref, sut, code=2, error="no rules are called")
    run("compare", "-o", out, ref, code=2, error="one trace needs")
    run("compare", "-o", out, ref, sut, ref, code=2)
    run("compare", "-o", out, ref, text, code=3, error="not a capture")
    run("compare", "-o", out, ref, folder / "none.db", code=3, error="No such file")
    run("compare", "-o", out, ref, folder / "all22.out.db", code=3, error="result of a comparison")
    later = folder / "later.db"
    for source, error in ((ref, "is a trace database of version 99"),
                          (folder / "all22.out.db", "a result of version 99")):
        shutil.copy(source, later)
        with sqlite3.connect(later) as db:
            db.execute("PRAGMA user_version = 99")
        arguments = (ref, later) if source == ref else (later,)
        run("compare", "-o", out, *arguments, code=3, error=error)
    shutil.copy(ref, later)
    with sqlite3.connect(later) as db:
        db.execute("DELETE FROM operation")
    run("compare", "-o", out, ref, later, code=3, error="no operation in common")
    for same in (ref, sut):
        run("compare", "-o", same, ref, sut, code=2, error="would replace")
    run("compare", "-o", ref, "--noise", ref, sut, sut, code=2, error="would replace")
    run("compare", "-o", ref, folder / "all22.out.db", code=2, error="would replace")
    run("compare", "-o", folder / "none/o.db", ref, sut, code=4)
    run("compare", "-o", folder, ref, sut, code=2, error="cannot be written there")
    check(out.read_text() == "what was here before", "a failed comparison wrote")
    check(not list(folder.glob("*.part")), f"left behind: {list(folder.glob('*.part'))}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in NAMES:
            run("ingest", "-q", "-o", folder / f"{name}.db", CAPTURES / f"{name}.pcap.zst", code=0)
        alike(folder)
        shortened(folder)
        real_pairs(folder)
        two_runs(folder)
        two_servers(folder)
        listings(folder)
        again(folder)
        bad_input(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
