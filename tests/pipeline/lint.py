#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest lint on real captures: the findings that were verified by hand in the frames, and no others.
Which listings are longer than asked for, stock tshark says, too."""
import json
import os
import pathlib
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
    # two captures: in between, the server's owner removed /srv/exp/w: 20 bytes less in this directory of a tmpfs
    "merged-tcp-udp-2if.pcapng.zst": {
        "verifier-changed": [(45625, 45627)],
        "listing-size": [(10771, 10801)],
        "changed-unseen": [(19529, 19531)],
        "make-exists": [(19618, 19620)],
    },
    "pair-knfsd.pcap.zst": {
        "status-unlisted": [(21354, 21355)],
        "listing-size": None,  # as tshark has them
    },
}
LEVELS = {"status-unlisted": "notes", "verifier-changed": "notes", "read-contents": "suspects",
          "changed-unseen": "suspects", "make-exists": "suspects"}
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
    path = folder / (name.split(".")[0] + ".db")
    database.ingest(path, CAPTURES / name)
    done = run("--json", "--top", "1000", path)
    result = json.loads(done.stdout)
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
    check(done.returncode == (1 if counts["errors"] + counts["suspects"] else 0), name + ": exit code")
    count = database.rows(path, "SELECT count(*) FROM operation WHERE program = 100003")[0][0]
    check(result["operations"] == count, name + ": number of operations")
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


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o777)  # tshark may run as another user
        paths = {name: judge(name, wanted, folder) for name, wanted in WANTED.items()}
        choose(paths["mem-libnfs-all22.pcap.zst"])
    if failures:
        sys.exit(1)
    print("%d captures, %d findings" % (len(WANTED), sum(
        len(frames or []) for rules in WANTED.values() for frames in rules.values())))


if __name__ == "__main__":
    main()
