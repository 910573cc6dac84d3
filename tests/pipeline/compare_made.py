#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare on made traffic, of which is known what differs: two servers with equal handles
in one capture; what a second run of the reference excuses; requests that
failed and came again; results that were altered; that counts add up."""

import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import capfile  # noqa: E402
import packets  # noqa: E402
from messages import *  # noqa: E402,F403
from comparing import check, compare, failures, run  # noqa: E402

CLIENT, SERVER, OTHER = "192.0.2.1", "192.0.2.9", "192.0.2.8"
ROOT = handle(1)


class Trace:
    """Requests over UDP with their replies, each 150 us after the one before; the root is mounted."""

    def __init__(self, servers=(SERVER,)):
        self.time, self.xid, self.packets, self.servers = 1_700_000_000_000_000_000, 0, [], servers
        self.ask(1, opaque("/x"), u32(0) + opaque(ROOT) + u32(1, 1), program=MOUNT, port=20048)

    def put(self, time, source, destination, source_port, port, data):
        datagram = packets.udp(source, destination, source_port, port, data)
        frame = packets.ethernet(packets.internet(source, destination, packets.UDP, datagram))
        self.packets.append(capfile.Packet(time, frame, len(frame), 1))

    def ask(self, procedure, arguments, result, program=NFS, port=2049, version=3):
        """|result|: bytes, None, or a function of the server."""
        for server in self.servers:
            self.xid += 1
            self.put(self.time, CLIENT, server, 700, port,
                     call(self.xid, procedure, arguments, program, version))
            answer = result(server) if callable(result) else result
            if answer is not None:
                self.put(self.time + 100_000, server, CLIENT, port, 700, reply(self.xid, answer))
            self.time += 150_000

    def ingest(self, path):
        capfile.write_pcap(f"{path}.pcap", sorted(self.packets))
        path.unlink(missing_ok=True)
        run("ingest", "-q", "-o", path, f"{path}.pcap", code=0)
        return path


def equal_handles(folder):
    """Two servers that give objects the same handles, and other file numbers; one of them tells in a
    listing another number than its attributes do."""
    trace = Trace((SERVER, OTHER))

    def number(server, i):
        return 10 + i + (700 if server == OTHER else 0)

    def listing(server):
        out = u32(OK, 0) + bytes(8)
        for i in range(3):
            n = 99999 if server == OTHER and i == 1 else number(server, i)
            out += (u32(1) + u64(n) + opaque(f"f{i}") + u64(i + 1) + some(fattr3(n))
                    + some(opaque(handle(10 + i))))
        return out + u32(0, 1)

    for i in range(3):
        trace.ask(LOOKUP, lookup_args(ROOT, f"f{i}"),
                  lambda server, i=i: lookup_res(handle(10 + i), number(server, i)))
    trace.ask(READDIRPLUS, opaque(ROOT) + u64(0, 0) + u32(4096, 32768), listing)
    both = trace.ingest(folder / "both.db")
    for ref, sut, changed in ((SERVER, OTHER, "sut changed, ref not"),
                              (OTHER, SERVER, "ref changed, sut not")):
        report = compare("--ref-server", ref, "--sut-server", sut, both, code=1)
        found = [(g["operation"], g["kind"], g["field"].rsplit(".")[-1], g["difference"])
                 for g in report["groups"]]
        check(found == [("NFS READDIRPLUS", "pattern", "fileid", changed)],
              f"equal handles, ref {ref}: {found}")


def lookups(folder, name, failed):
    """100 LOOKUPs, of which some fail: {which: status}."""
    trace = Trace()
    for i in range(100):
        trace.ask(LOOKUP, lookup_args(ROOT, f"f{i}"),
                  lookup_fail(failed[i]) if i in failed else lookup_res(handle(100 + i), 100 + i))
    return trace.ingest(folder / name)


def noise_of_statuses(folder):
    """A second run of the reference in which one LOOKUP failed excuses that failure in both
    directions, up to twice as often, and no other one."""
    jukebox, acces, perm = 10008, 13, 1
    ref = lookups(folder, "ref.db", {})
    noise = lookups(folder, "noise.db", {5: jukebox})
    for name, failed, left in (("other", {50: acces, 51: perm}, {"NFS3_OK, NFS3ERR_ACCES",
                                                                "NFS3_OK, NFS3ERR_PERM"}),
                               ("beside", {50: acces, 51: jukebox}, {"NFS3_OK, NFS3ERR_ACCES"}),
                               ("twice", {50: jukebox, 51: jukebox}, set()),
                               ("thrice", {50: jukebox, 51: jukebox, 52: jukebox},
                                {"NFS3_OK, NFS3ERR_JUKEBOX"})):
        sut = lookups(folder, "sut.db", failed)
        report = compare("--noise", noise, ref, sut, code=1 if left else 0)
        check({g["difference"] for g in report["groups"] if not g["noise"]} == left,
              f"noise, {name}: {report['groups']}")
        check(all(g["noise_count"] == ("JUKEBOX" in g["difference"])
                  and g["noise_compared"] == 100 for g in report["groups"]),
              f"rates, {name}: {report['groups']}")
    report = compare("--noise", ref, noise, ref, code=0)
    check([(g["difference"], g["noise"]) for g in report["groups"]]
          == [("NFS3ERR_JUKEBOX, NFS3_OK", True)], f"turned: {report['groups']}")


def sizes(folder, name, more):
    """100 GETATTRs of a file of 4096 bytes, or of more: {which: how much}."""
    trace = Trace()
    for i in range(100):
        trace.ask(GETATTR, getattr_args(ROOT), getattr_res(1, REG, 4096 + more.get(i, 0)))
    return trace.ingest(folder / name)


def noise_of_values(folder):
    """Values count in either direction; both directions are judged together, and again when a stored
    result is compared under other rules."""
    out, again, rules = folder / "out.db", folder / "again.db", folder / "mine.conf"
    ref, noise = sizes(folder, "ref.db", {}), sizes(folder, "noise.db", {5: 1000, 6: -1000})

    def told(report):
        return [(g["difference"], g["count"], g["noise_count"], g["noise"]) for g in report["groups"]]

    for more, wanted in (({7: -900, 8: -900}, [("sut smaller", 2, 2, True)]),
                         ({7: 900, 8: -900}, [("sut larger", 1, 2, True),
                                              ("sut smaller", 1, 2, True)]),
                         ({7: 1, 8: 1, 9: 1, 10: -1, 11: -1}, [("sut larger", 3, 2, False),
                                                               ("sut smaller", 2, 2, False)])):
        sut = sizes(folder, "sut.db", more)
        report = compare("--noise", noise, ref, sut, code=0 if wanted[0][3] else 1)
        check(told(report) == wanted, f"values {more}: {told(report)}")

    # 90 differ, all but two of them by less than the other rules let pass
    more = {i: 100 for i in range(10, 100)} | {50: 1000, 51: -1000}
    sut = sizes(folder, "sut.db", more)
    check(told(compare("-o", out, "--noise", noise, ref, sut, code=1))
          == [("sut larger", 89, 2, False), ("sut smaller", 1, 2, False)], "before")
    rules.write_text("[classes]\nsize = tolerance 500\n")
    check(told(compare("-o", again, "-r", rules, out, code=0))
          == [("sut larger", 1, 2, True), ("sut smaller", 1, 2, True)], "fewer than before")
    check(told(compare(again, code=1)) == [("sut larger", 89, 2, False),
                                           ("sut smaller", 1, 2, False)], "and again as many")
    # what no rule found before, nobody knows the noise of
    rules.write_text("[classes]\nsize = ignored\n")
    check(told(compare("-o", out, "-r", rules, "--noise", noise, ref, sut, code=0)) == [], "none")
    check(told(compare("-o", again, out, code=1))
          == [("sut larger", 89, None, False), ("sut smaller", 1, None, False)], "new groups")
    text = run("compare", again, code=1).stdout
    check(text.count("between two runs of the reference: not known") == 2, f"new groups: {text}")


def adding_up(folder):
    """Each operation is in a pair, of one side, or a part of a listing: all are told, with frames, also
    where there is no reply."""
    def listing(cookie, last):
        entry = u32(1) + u64(10 + cookie) + opaque(f"f{cookie}") + u64(cookie + 1)
        return (opaque(ROOT) + u64(cookie, 0) + u32(4096),
                u32(OK, 0) + bytes(8) + entry + u32(0, int(last)))

    def trace(name, lookups, parts, answered=True):
        made = Trace()
        made.ask(GETATTR, getattr_args(ROOT), getattr_res(1, DIR))
        if not answered: # and asked again, so that the capture is not to blame
            made.packets.pop()
            made.time += 11 * 10**8  # sooner it would be a copy of the first one
            made.put(made.time, CLIENT, SERVER, 700, 2049,
                     call(made.xid, GETATTR, getattr_args(ROOT)))
        for i in range(lookups):
            made.ask(LOOKUP, lookup_args(ROOT, f"l{i}"), lookup_fail())
        for i in range(parts):
            made.ask(READDIR, *listing(i, i == parts - 1))
        made.time += 10**12
        for _ in range(3): # the capture goes on
            made.ask(ACCESS, access_args(ROOT), access_res(1, kind=DIR))
        return made.ingest(folder / name)

    ref, sut = trace("ref.db", 5, 4), trace("sut.db", 2, 3, answered=False)
    out = folder / "sides.db"
    report = compare("-1", "-o", out, ref, sut, code=1)
    totals = report["totals"][0]
    check([totals[f"{side}_{what}"] for side in ("ref", "sut") for what in ("alone", "parts")]
          == [3, 3, 0, 2], f"totals: {totals}")
    for side in report["sides"]:
        name = side["name"]
        check(side["operations"] == totals["pairs"] + totals[f"{name}_alone"] + totals[f"{name}_parts"],
              f"operations of {name}: {side['operations']}, {totals}")
    # frames: 2 of MOUNT and 2 of GETATTR, then call and reply of each
    check([(o["side"], o["procedure"], o["frame"], o["path"]) for o in report["one_sided"]]
          == [("ref", "NFS LOOKUP", 9 + 2 * i, f"/x/l{2 + i}") for i in range(3)],
          f"one-sided: {report['one_sided']}")
    missing = [(e["ref_frame"], e["sut_frame"], e["sut_source"]) for g in report["groups"]
               for e in g["examples"] if g["kind"] == "missing reply"]
    check(missing == [(4, 3, 1)], f"missing reply: {missing}")
    with sqlite3.connect(out) as db:
        check(db.execute("SELECT ref_frame, sut_frame, sut_source FROM discrepancies WHERE kind ="
                         " 'missing reply'").fetchall() == missing, "finding")
    text = run("compare", "-1", "-s", out, code=1).stdout
    for line in ("operations on one side only: ref 3, sut 0; continued listings: ref 3, sut 2",
                 f"ref operation 5: NFS LOOKUP (frame 9 of {ref}.pcap): not asked /x/l2"):
        check(line in text, f"text without {line!r}: {text}")


DAMAGE = [
    ("UPDATE alignment SET object = 99999999 WHERE object IS NOT NULL", "no such object"),
    ("UPDATE alignment SET object = 4294967297", "no such object"),
    ("UPDATE alignment SET object = -5", "no such object"),
    ("UPDATE alignment SET kind = 7", "no such operations"),
    ("UPDATE alignment SET sut = sut * 1000000", "no such operations"),
    ("UPDATE alignment SET sut = NULL", "no such operations"),
    ("UPDATE alignment SET kind = 3", "not of one side"),
    ("UPDATE alignment SET kind = 3, ref = NULL, sut = 99999999", "not of one side"),
    ("DELETE FROM object WHERE id % 2", "objects are missing"),
    ("UPDATE object SET id = id + 100", "objects are missing"),
    ("UPDATE object SET ref = 99999999", "does not fit"),
    ("UPDATE side SET path = ''", "no path"),
    ("INSERT INTO other_handle VALUES (1, 99999999, 1, 1)", "other_handle does not fit"),
    ("INSERT INTO other_handle VALUES (2, 1, 1, 1)", "other_handle does not fit"),
    ("INSERT INTO granularity VALUES (1, 1, 0, 'ctime', 0)", "table granularity"),
    ("DELETE FROM side", "names no database"),
    ("UPDATE side SET clock_offset = 9223372036854775807", "out of range"),
    ("UPDATE side SET clock_offset = 4611686018427387000, first_time = 4611686018427387000",
     "out of range"),
    ("UPDATE side SET clock_error = 9223372036854775807", "out of range"),
    ("UPDATE side SET granularity = -1", "out of range"),
    ("UPDATE side SET first_time = -9223372036854775808", "out of range"),
    ("UPDATE side SET last_time = 9223372036854775807", "out of range"),
    ("DELETE FROM meta", "meta is not complete"),
    ("DROP TABLE meta", "meta is missing"),
    ("DROP VIEW discrepancies", "discrepancies is missing"),
    ("ALTER TABLE alignment DROP COLUMN other_last", "alignment is missing"),
    ("ALTER TABLE discrepancy_group ADD COLUMN more INTEGER", "discrepancy_group is missing, or has other columns"),
    ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(replace(sql, 'NOT NULL', ''),"
     " ') STRICT', ')') WHERE name = 'side' -- anew -- UPDATE side SET path = NULL", "NOT NULL"),
    ("PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ') STRICT', ')')"
     " WHERE name = 'alignment' -- anew -- UPDATE alignment SET object = 'abc'", "TEXT value"),
]
# what reports show as it is, whatever it is
def retried(folder):
    """A server fails requests that the client sends again at once; the other one answers them the first time."""
    rounds = 60
    sides = {}
    for fails in (False, True):
        trace = Trace()
        for i in range(12):
            trace.ask(LOOKUP, lookup_args(ROOT, f"f{i}"), lookup_res(handle(10 + i), 10 + i))
        for i in range(rounds):
            begin = trace.time
            if fails and i % 2:
                trace.ask(LOOKUP, lookup_args(ROOT, "again"), lookup_fail(5))
            trace.time = begin + 5_000_000
            trace.ask(LOOKUP, lookup_args(ROOT, "again"), lookup_res(handle(50), 50))
            trace.time = begin + 80_000_000
            for k in range(3):
                trace.ask(GETATTR, getattr_args(handle(10 + k)), getattr_res(10 + k))
        sides[fails] = trace.ingest(folder / f"fails-{fails}.db")
    for ref, sut, statuses in ((False, True, "NFS3_OK, NFS3ERR_IO"), (True, False, "NFS3ERR_IO, NFS3_OK")):
        report = compare("-o", folder / "retried.db", sides[ref], sides[sut], code=1)
        found = [(g["operation"], g["field"], g["difference"], g["count"]) for g in report["groups"]]
        check(found == [("NFS LOOKUP", "LOOKUP3res.status", statuses, rounds // 2)], f"retried: {found}")
        alone = [(a["side"], a["reason"], a["count"]) for a in report["alone"]]
        check(alone == [("sut" if sut else "ref", "not asked", rounds // 2)], f"retried: alone: {alone}")


SHOWN = ["UPDATE side SET clock_offset = -9223372036854775807 - 1, granularity = 9223372036854775807",
         "UPDATE side SET first_time = -9223372036854775807 - 1, last_time = 9223372036854775807"]


def damaged(folder):
    """A stored result that was altered is refused, and what stands at the output stays."""
    ref, sut = lookups(folder, "ref.db", {}), lookups(folder, "sut.db", {50: 13})
    good, bad, out = folder / "good.db", folder / "bad.db", folder / "out.db"
    compare("-o", good, ref, sut, code=1)
    out.write_text("what was here before")
    for sql, error in DAMAGE:
        shutil.copy(good, bad)
        for part in sql.split("-- anew --"):
            with sqlite3.connect(bad) as db:
                db.executescript(part)
        done = run("compare", "-o", out, bad, code=3)
        check(done.stderr.startswith(f"nfsdigest: {bad}: ") and error in done.stderr,
              f"{sql}: {done.stderr}")
        check(out.read_text() == "what was here before" and len(list(folder.glob("*.part"))) == 0,
              f"{sql}: something was written")
    for sql in SHOWN:
        shutil.copy(good, bad)
        with sqlite3.connect(bad) as db:
            db.executescript(sql)
        run("report", "--html", folder / "page.html", bad, code=0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        equal_handles(folder)
        noise_of_statuses(folder)
        noise_of_values(folder)
        adding_up(folder)
        retried(folder)
        damaged(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
