#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest lint on all committed captures: the findings that were verified by hand in the frames, and no others.
Which listings are longer than asked for, stock tshark says, too."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402

# {capture: {rule: its frames of calls and replies}}
WANTED = {
    "load-ganesha-mem.pcap.zst": {},
    "knfsd-nlm-locks.pcap.zst": {},
    # behind the end of a READDIR of at most 8 bytes there are 12 more; its 136 bytes are too many
    "vfs-libnfs-all22.pcap.zst": {
        "malformed-reply": [(274, 275)],
        "status-unlisted": [(98, 99)],
        "listing-size": [(274, 275)],
    },
    # an access time set to the server's has 1073741823 ns, and stays so; a byte written at 8 GiB is lost
    "mem-libnfs-all22.pcap.zst": {
        "malformed-reply": [(275, 276)],
        "status-unlisted": [(99, 100)],
        "nanoseconds": [(109, 110), (113, 114), (115, 116), (135, 136), (137, 138), (269, 270)],
        "listing-size": [(275, 276)],
        "read-contents": [(95, 96)],
    },
    # two captures: in between, the server's owner removed /srv/exp/w: 20 bytes and a link less in this directory of
    # a tmpfs
    "merged-tcp-udp-2if.pcapng.zst": {
        "verifier-changed": [(45625, 45627)],
        "listing-size": [(10771, 10801)],
        "changed-unseen": [(19529, 19531)],
        "link-count": [(19529, 19531)],
        "make-exists": [(19618, 19620)],
    },
    "pair-ganesha-vfs.pcap.zst": {  # as vfs-libnfs-all22
        "malformed-reply": [(21723, 21724)],
        "status-unlisted": [(21544, 21545)],
        "listing-size": [(21723, 21724)],
    },
    # the lengths that tshark shows, without headers and status: 65608, 32792, 32772, 32840 and 65608 bytes
    "knfsd-tcp-mtu1500.pcap.zst": {"listing-size": [(13750, 13818)]},
    "knfsd-udp-frag.pcap.zst": {"listing-size": [(12914, 12937), (12938, 12961), (21617, 21640)]},
    "knfsd-vlan.pcap.zst": {"listing-size": [(10794, 10803)]},
    "knfsd-netem-tcp.pcap.zst": {},
    "knfsd-netem-udp.pcap.zst": {},
    "knfsd-snap256.pcap.zst": {},
    "load-ganesha-vfs.pcap.zst": {},
    "load-ganesha-vfs-again.pcap.zst": {},
    # other clients made files in the directory: their traffic is only in the capture of the server's side
    "outage/hang-client.pcap.zst": {"changed-unseen": [
        (58, 59), (104, 105), (127, 128), (148, 149), (171, 172), (192, 193), (215, 216), (237, 238), (261, 262),
        (299, 300)]},
    "outage/hang-server.pcap.zst": {},
    "outage/outage-kill.pcap.zst": {"verifier-changed": [(456, 544)]},
    # the time of the directory is 2 s earlier than it was: another server has the address now
    "outage/outage-move.pcap.zst": {"changed-unseen": [(245, 246)]},
    "pair-knfsd.pcap.zst": {
        "status-unlisted": [(21354, 21355)],
        "listing-size": None,  # as tshark has them
    },
}
LEVELS = {"status-unlisted": "notes", "verifier-changed": "notes", "read-contents": "suspects",
          "changed-unseen": "suspects", "link-count": "suspects", "make-exists": "suspects"}
# calls that change something and were sent again; over UDP 18 of them because a fragment was lost
AGAIN = {"knfsd-netem-udp.pcap.zst": 38, "knfsd-netem-tcp.pcap.zst": 0, "outage/hang-client.pcap.zst": 2}
# between the length of a record and a listing: header of an accepted reply, status
BEFORE_LISTING = 24 + 4
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments):
    return subprocess.run([database.program(), "lint"] + [str(a) for a in arguments],
                          capture_output=True, text=True, check=False)


def too_long(capture, folder):
    """(call, reply) of the listings that are longer than their calls ask for."""
    whole = folder / "whole.pcap"
    with open(whole, "wb") as to:
        subprocess.run(["zstd", "-dcq", str(capture)], stdout=to, check=True)
    text = subprocess.run(
        ["tshark", "-r", str(whole), "-Y", "nfs.procedure_v3 in {16, 17}", "-T", "fields",
         "-e", "frame.number", "-e", "rpc.msgtyp", "-e", "rpc.xid", "-e", "rpc.fraglen",
         "-e", "nfs.count3", "-e", "nfs.count3_maxcount", "-e", "nfs.status3"],
        capture_output=True, text=True, check=True).stdout
    calls, found = {}, []
    for line in text.splitlines():
        frame, kind, xid, length, count, maxcount, status = line.split("\t")
        if kind == "0":
            calls[xid] = (int(frame), int(maxcount or count))
        elif status == "0" and int(length) - BEFORE_LISTING > calls[xid][1]:
            found.append((calls[xid][0], int(frame)))
    return found


def judge(name, wanted, folder):
    path = folder / (pathlib.Path(name).name.split(".")[0] + ".db")
    database.ingest(path, CAPTURES / name)
    done = run("--json", "--top", "1000", path)
    result = json.loads(done.stdout)
    if "pair-" in name:  # errors come before notes
        levels = re.findall("^[a-z-]+: ([a-z]+), ", run(path).stdout, re.MULTILINE)
        check("note" in levels and levels == sorted(levels, key=["error", "suspect", "note"].index),
              "%s: the order of levels is %s" % (name, levels))
    found = {r["rule"]: [(s["call_frame"], s["reply_frame"]) for s in r["shown"]]
             for r in result["rules"]}
    wanted = {rule: too_long(CAPTURES / name, folder) if frames is None else frames
              for rule, frames in wanted.items()}
    check(found == wanted, "%s: %s, not %s" % (name, found, wanted))
    counts = {"errors": 0, "suspects": 0, "notes": 0}
    for rule, frames in wanted.items():
        check(frames, "%s: nothing is wanted for %s" % (name, rule))
        counts[LEVELS.get(rule, "errors")] += len(frames)
    check({key: result[key] for key in counts} == counts, name + ": totals")
    hosts = result["hosts"]
    check({key: sum(h[key] for h in hosts) for key in counts} == counts and
          all(h["role"] == "server" for h in hosts) and len(hosts) == (len(found) > 0), "%s: hosts %s" % (name, hosts))
    if hosts:
        server = database.rows(path, "SELECT server FROM operation WHERE program = 100003 LIMIT 1")[0][0]
        check(hosts[0]["address"] == server, "%s: %s" % (name, hosts))
        check("\n  server %s: %d error" % (server, counts["errors"]) in run(path).stdout, name + ": host in the text")
    check(done.returncode == (1 if counts["errors"] + counts["suspects"] else 0), name + ": exit code")
    count = database.rows(path, "SELECT count(*) FROM operation WHERE program = 100003")[0][0]
    check(result["operations"] == count, name + ": number of operations")
    others = database.rows(path, "SELECT count(*) FROM operation WHERE program <> 100003")[0][0]
    check(result["other_programs"] == others, "%s: %s operations of other programs" % (name, result["other_programs"]))
    check(result["new_verifiers"] == len(wanted.get("verifier-changed", [])), name + ": restarts")
    again = database.rows(path, "SELECT count(*) FROM operation o WHERE program = 100003 AND reply_frame IS NOT NULL AND"
                          " (procedure IN (2, 7) OR procedure BETWEEN 8 AND 15) AND EXISTS"
                          " (SELECT 1 FROM retransmission r WHERE r.operation = o.id AND r.kind = 1)")[0][0]
    check(result["sent_again"] == again, "%s: %d sent again, not %d" % (name, result["sent_again"], again))
    if name in AGAIN:
        said = run(path).stdout
        check(again == AGAIN[name] and "and were sent again: %d" % again in said
              and ("does not show if the duplicate" in said) == (again == 0)
              and ("a suspect stands unless" in said) == (counts["suspects"] > 0), "%s: what was tested: %d: %s" % (name, again, said))
    return path


def choose(path):
    """Rules that are chosen, and the text."""
    done = run("--rule", "status-unlisted", path)
    check(done.returncode == 0 and "call 99, reply 100: READ" in done.stdout, "a note alone")
    check("nanoseconds" not in done.stdout, "another rule")
    done = run("--rule", "nanoseconds", "--rule", "guard", "--top", "2", path)
    check(done.returncode == 1 and "and 4 more" in done.stdout, "--top")
    check("call 113, reply 114" in done.stdout and "call 115" not in done.stdout, "the first ones")
    check(run("--rule", "guard", path).returncode == 0, "a rule without findings")
    check(run("--rule", "no-such", path).returncode == 2, "an unknown rule")
    check(run("--list", path).returncode == 2 and run().returncode == 2, "usage")
    rules = [line.split()[0] for line in run("--list").stdout.splitlines()]
    groups = [line[1:-2] for line in open(SRC / "schemas/lint.conf", encoding="utf-8")
              if line.startswith("[")]
    check(sorted(rules + ["statuses"]) == sorted(groups), "--list")


class Cells(html.parser.HTMLParser):
    """The rows of all tables, and what the page is made of."""

    def __init__(self):
        super().__init__()
        self.rows, self.open, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        check(self.open.pop() == tag, "the page: </%s>" % tag)

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def page(path, folder):
    """The same findings as in JSON; a filter that finds their frames."""
    out = folder / "lint.html"
    done = run("--html", out, "--json", path)
    found = [s for r in json.loads(done.stdout)["rules"] for s in r["shown"]]
    cells = Cells()
    cells.feed(out.read_text(encoding="utf-8"))
    check(not cells.open, "the page: <%s> stays open" % cells.open)
    hosts = [[h["address"], h["role"], *(str(h[key]) for key in ("errors", "suspects", "notes"))]
             for h in json.loads(done.stdout)["hosts"]]
    check([row for row in cells.rows if len(row) == 5][1:] == hosts != [], "the hosts of the page")
    rows = [row for row in cells.rows if row[0] != "procedure" and len(row) != 5]
    check([(row[0], row[-1]) for row in rows] == [(s["procedure_name"], s["text"]) for s in found], "the rows of the page")
    check(all([int(row[5].replace(",", "")), int(row[6].replace(",", ""))] == [s["call_frame"], s["reply_frame"]]
              for row, s in zip(rows, found)), "frames in the page")
    times = [database.rows(path, "SELECT call_time FROM operation WHERE id = %d" % s["operation"])[0][0] for s in found]
    check([s["time"] for s in found] == times, "times of the findings")
    check([row[3].split(".")[-1] for row in rows] == ["%09d" % (t % 10**9) for t in times], "times in the page")
    check("call 99," in (text := run("--rule", "status-unlisted", path).stdout) and "\n    20" in text, "a time in the text")
    check("frame.number in {275, 276}" in cells.text, "the filter")
    check(run("--html", "-", path).stdout.startswith("<!"), "a page on standard output")
    check(run("--html", "-", "--json", path).returncode == 2, "two outputs at one place")
    check(run("--html", path, path).returncode == 2, "the page instead of the database")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o777)  # tshark may run as another user
        paths = {name: judge(name, wanted, folder) for name, wanted in WANTED.items()}
        missing = {str(p.relative_to(CAPTURES)) for p in CAPTURES.rglob("*.zst")} ^ set(WANTED)
        check(not missing, "captures that nobody looked at: %s" % missing)
        choose(paths["mem-libnfs-all22.pcap.zst"])
        page(paths["mem-libnfs-all22.pcap.zst"], folder)
    if failures:
        sys.exit(1)
    print("%d captures, %d findings" % (len(WANTED), sum(
        len(frames or []) for rules in WANTED.values() for frames in rules.values())))


if __name__ == "__main__":
    main()
