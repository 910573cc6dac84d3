#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare on real pairs of servers: each group against a list that was verified by hand
against the frames (tests/expected/compare-*.txt), whose examples stock tshark shows as well; what
the rule sets of both servers leave; runs of one server; captures against themselves and against
anonymized twins."""

import datetime
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

from comparing import check, compare, failures, run

SRC = pathlib.Path(os.environ["SRC"])
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
PAIRS = {"all22": ("vfs-libnfs-all22", "mem-libnfs-all22"),
         "pair": ("pair-knfsd", "pair-ganesha-vfs"),
         "load": ("load-ganesha-vfs", "load-ganesha-mem")}
AGAIN = "load-ganesha-vfs-again"
RUNS = ["knfsd-tcp-mtu1500", "knfsd-udp-frag", "knfsd-vlan"]
# what the limits of UDP explain: 32768 in place of 524288
UDP_LIMITS = {(2, f"FSINFO3res.resok.{name}", "524288", "32768")
              for name in ("rtmax", "rtpref", "wtmax", "wtpref", "dtpref")}
# what a person wants to see of the pair: trees that differ, what is refused, what is wrong
KEPT = {("NFSACL SETACL", "rpc-status"), ("NFSACL SETACL", "retransmissions"),
        ("NFS LOOKUP", "LOOKUP3res.status"), ("NFS LOOKUP", "rpc-status"),
        ("NFS MKDIR", "MKDIR3res.status"), ("NFS READ", "READ3res.resok.data"),
        ("NFS READDIR", "malformed"), ("NFS ACCESS", "ACCESS3res.resok.access"),
        ("NFS ACCESS", "ACCESS3res.resok.obj_attributes.mode")}
LEFT_OUT = ("acl.acl", "FSINFO", "FSSTAT", "PATHCONF", "committed", "atime", "MKDIR3res.resok.dir_wcc")


def expected(name):
    """The groups with their examples, and the counts."""
    groups, counts, last = {}, [], None
    for line in (SRC / f"tests/expected/compare-{name}.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        parts = [p.strip() for p in line.split(" | ")]
        if line.startswith(" "):
            if last and groups[last] is None:
                frames = re.fullmatch(r"(\d+), (\d+)", parts[0])
                groups[last] = (*map(int, frames.groups()), *parts[1:])
        elif len(parts) == 6:
            last = tuple(parts)
            check(last not in groups, f"{name}: twice: {line}")
            groups[last] = None
        else:
            counts.append(line)
    return groups, counts


def counts_of(report):
    totals = report["totals"][0]
    return [f"pairs {totals['pairs']}", f"alone ref {totals['ref_alone']}",
            f"alone sut {totals['sut_alone']}",
            *(f"withheld {w['count']} {w['reason']}" for w in report["withheld"])]


def pair(folder, name):
    ref, sut = (folder / f"{capture}.db" for capture in PAIRS[name])
    out = folder / f"{name}.out.db"
    report = compare("-o", out, ref, sut, code=1)
    found = {(str(g["count"]), g["kind"], g["operation"], g["field"], g["difference"],
              g["cause"] or "-") for g in report["groups"]}
    groups, counts = expected(name)
    for group in sorted(found - set(groups)):
        check(False, f"{name}: not in the verified list: {' | '.join(group)}")
    for group in sorted(set(groups) - found):
        check(False, f"{name}: verified and not found: {' | '.join(group)}")
    check(counts_of(report) == counts, f"{name}: {counts_of(report)}, not {counts}")
    with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as db:
        for group, example in groups.items():
            rows = db.execute("SELECT 1 FROM discrepancies WHERE operation = ? AND field = ? AND"
                              " difference = ? AND ref_frame = ? AND sut_frame = ? AND"
                              " ifnull(ref_text, '-') = ? AND ifnull(sut_text, '-') = ?",
                              (*group[2:5], *example)).fetchall()
            check(rows, f"{name}: {' | '.join(group)}: no such example: {example}")
    return groups


def frame_texts(capture, frames):
    """What stock tshark tells of these frames."""
    numbers = ",".join(map(str, sorted(frames)))
    done = subprocess.run(["tshark", "-r", CAPTURES / f"{capture}.pcap.zst", "-d",
                           "tcp.port==2049,rpc", "-Y", f"frame.number in {{{numbers}}}", "-V"],
                          capture_output=True, text=True, check=True, errors="replace")
    parts = re.split(r"^Frame (\d+):", done.stdout, flags=re.M)
    return {int(number): text for number, text in zip(parts[1::2], parts[2::2])}


def shown(field, value):
    """How tshark writes a value; None: it tells no such thing."""
    moment = re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d):(\d\d)\.(\d{9})", value)
    name = field.rsplit(".", 1)[1] if "." in field else field
    over = re.fullmatch(r"1970-01-01 00:00:00 and (\d+) ns", value) # as they were sent
    if over:
        return f"{name}: Jan  1, 1970 00:00:00.{over[1]} UTC"
    if moment:
        day = datetime.datetime.strptime(moment[1], "%Y-%m-%d %H:%M")
        return f"{name}: {day:%b} {day.day:2}, {day:%Y %H:%M}:{moment[2]}.{moment[3]} UTC"
    if name == "mode":
        return rf"[Mm]ode: {value}\b"
    if name == "status":
        return rf"Status: {value} "
    if name == "committed":
        return f"Committed: {value} "
    if field == "rpc-status":
        return {"SUCCESS": "executed successfully", "GARBAGE_ARGS": "can't decode params"}[value]
    if value in ("yes", "no"):
        return f"{name}: {value.capitalize()}" if name == "no_trunc" else \
            f"attributes_follow: {'value follows' if value == 'yes' else 'no value'}"
    if name == "seconds" or name == "nseconds":
        return rf"\n +{'nano ' if name == 'nseconds' else ''}seconds: {value}\n"
    if name == "aclcnt":
        return f"ACL count: {value}\n"
    return rf"{name}: {value}\b" if value.isdigit() and field != "retransmissions" else None


def tshark_agrees(name, groups):
    texts = [frame_texts(capture, {example[side] for example in groups.values()})
             for side, capture in enumerate(PAIRS[name])]
    seen = 0
    for group, example in groups.items():
        for side in (0, 1):
            text, want = texts[side].get(example[side], ""), shown(group[3], example[2 + side])
            check("Message Type: Reply (1)" in text, f"{name}: frame {example[side]} is no reply")
            if want is not None:
                seen += 1
                check(re.search(want, text),
                      f"{name}: {' | '.join(group)}: tshark has no {want!r} in {example[side]}")
    check(seen > 1.7 * len(groups), f"{name}: tshark looked at {seen} values only")


def known(folder):
    """What is known of both servers is left out, and what is not stays."""
    ref, sut = (folder / f"{capture}.db" for capture in PAIRS["pair"])
    report = compare("-r", "linux-knfsd", "-r", "ganesha", ref, sut, code=1)
    fields = {(g["operation"], g["field"]) for g in report["groups"]}
    check(KEPT <= fields, f"rules hide {KEPT - fields}")
    for operation, field in sorted(fields):
        check(not any(word in field for word in LEFT_OUT), f"rules leave {operation} {field}")
    check(sum(g["count"] for g in report["groups"]) < 60, f"rules leave {report['totals']}")


def one_server(folder):
    """Runs of the same work on knfsd: the export's age, and what is learned as noise."""
    tcp, udp, vlan = (folder / f"{name}.db" for name in RUNS)
    other = folder / "pair-knfsd.db"
    report = compare(tcp, vlan, code=1)
    check({g["cause"] for g in report["groups"]} == {"old-times"}
          and report["totals"][0]["pairs"] > 8000, f"two runs: {report['groups']}")
    for ref, sut, noise in ((vlan, tcp, other), (other, vlan, tcp)):
        report = compare("--noise", noise, ref, sut, code=0)
        check(all(g["noise"] for g in report["groups"]) and report["groups"],
              f"{ref} {sut}: {report['groups']}")
    report = compare("--noise", vlan, tcp, udp, code=1)
    left = {(g["count"], g["field"], g["examples"][0]["ref"], g["examples"][0]["sut"])
            for g in report["groups"] if not g["noise"]}
    check(left == UDP_LIMITS, f"TCP and UDP: {left}")
    compare("--noise", vlan, "-r", "linux-knfsd", tcp, udp, code=0)
    # six calls at once, in another order
    report = compare(folder / f"{PAIRS['load'][0]}.db", folder / f"{AGAIN}.db", code=0)
    check(not report["groups"] and report["totals"][0]["pairs"] > 850,
          f"two runs of a load: {report['totals']}")


def alike(folder):
    """Nothing against itself, nor, when names count for nothing, against an anonymized twin."""
    run("key", "new", folder / "key")
    for name in RUNS:
        report = compare(folder / f"{name}.db", folder / f"{name}.db", code=0)
        check(not report["groups"] and not report["alone"] and
              report["totals"][0]["pairs"] > 8000, f"{name} against itself: {report['totals']}")
    name = RUNS[2]
    run("anonymize", "--key", folder / "key", "--policy", "public", "-o", folder / "twin.pcapng",
        CAPTURES / f"{name}.pcap.zst")
    run("ingest", "-q", "-o", folder / "twin.db", folder / "twin.pcapng")
    report = compare("-r", "anonymized", folder / f"{name}.db", folder / "twin.db", code=0)
    check(not report["groups"] and not report["alone"] and report["totals"][0]["pairs"] > 8000,
          f"{name} against its twin: {report['totals']}")
    report = compare(folder / f"{name}.db", folder / "twin.db", code=0)
    check(not report["groups"] and sum(a["count"] for a in report["alone"]) > 4000,
          f"names are told apart without the rules: {report['totals']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in [capture for both in PAIRS.values() for capture in both] + RUNS + [
                AGAIN]:
            run("ingest", "-q", "-o", folder / f"{name}.db", CAPTURES / f"{name}.pcap.zst")
        for name in PAIRS:
            tshark_agrees(name, pair(folder, name))
        known(folder)
        one_server(folder)
        alike(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
