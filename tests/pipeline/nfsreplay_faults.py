#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 long=long
"""nfsreplay reports exactly what a server does wrong.

A dump is played on ftnfsd, one operation at a time, while ftnfsd injects faults.  A relay between the
two keeps all messages.  From these and the dump, an oracle of its own says which calls must be sent,
the class of each operation, and because of which other one it is skipped.  That must be the report, to
the operation.  Faults that no value of a dump shows must not be reported.

With many operations under way the same must hold for what is skipped: it follows from the dependencies
and what failed.

    nfsreplay_faults.py [long]     environment: BUILD, CAPTURES

long: all captures, and more traces and seeds.
"""
import collections
import os
import pathlib
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import replay_run  # noqa: E402
from messages import NFS, STALE  # noqa: E402
from model_xdr import ACL_NULL, GETATTR, NAMES  # noqa: E402
from replay_oracle import (AS_RECORDED, CHANGES, FAILED, SKIPPED, UNPLAYABLE,  # noqa: E402
                           VANISHED, spread)

CAPTURES = pathlib.Path(os.environ.get("CAPTURES", HERE.parent.parent / "captures"))
LISTED_IN_ALL = 1000  # by mismatches.jsonl
LISTED = 100  # of those in these classes
SELDOM_LISTED = SKIPPED, UNPLAYABLE
failures = []

# What is injected into one play.
STATUSES = ["GETATTR:status=NFS3ERR_IO:p=0.1", "LOOKUP:status=NFS3ERR_ACCES:p=0.05",
            "WRITE:status=NFS3ERR_NOSPC:p=0.05", "CREATE:status=NFS3ERR_IO:p=0.03",
            "REMOVE:status=NFS3ERR_ACCES:p=0.03", "SETATTR:status=NFS3ERR_PERM:p=0.05",
            "RENAME:status=NFS3ERR_IO:p=0.1", "READ:status=NFS3ERR_STALE:p=0.2",
            "ACCESS:status=NFS3ERR_IO:p=0.05"]
SEEN = {
    "statuses": STATUSES,
    "success instead of an error": ["LOOKUP:handle:p=0.02", "REMOVE:status=NFS3ERR_NOENT:p=0.1"],
    "attributes": ["GETATTR:mode-bits=022:p=0.2", "LOOKUP:mode-bits=1:p=0.1", "WRITE:size:p=0.2",
                   "*:link-count:p=0.1", "GETATTR:size:p=0.1", "SETATTR:mode-bits=100:p=0.3"],
    "attributes that are missing, too": ["*:no-attributes:p=0.3", "*:mode-bits=7:p=0.3"],
    "contents": ["READ:wrong-bytes:p=0.3", "READ:eof:p=0.1", "READ:short:p=0.1",
                 "WRITE:short:p=0.02"],
    "handles": ["CREATE:no-handle:p=0.4", "SYMLINK:no-handle", "CREATE:handle:p=0.03",
                "MKDIR:no-handle:p=0.8", "LOOKUP:handle:p=0.02"],
    "listings": ["READDIR:skip-entry:p=0.3", "READDIRPLUS:skip-entry:p=0.3",
                 "READDIR:twice-entry:p=0.3", "READDIRPLUS:twice-entry:p=0.5", "READDIR:eof:p=0.2",
                 "READDIRPLUS:eof:p=0.2", "READDIR:cookie-verifier:p=0.3",
                 "READDIRPLUS:cookie-verifier:p=0.2"],
    "no answers": ["*:malformed:p=0.02", "LOOKUP:rpc-status=SYSTEM_ERR:p=0.03",
                   "REMOVE:rpc-status=GARBAGE_ARGS:p=0.2"],
}
UNSEEN = {
    "what no dump shows": ["*:fileid", "*:fsid", "*:no-atime", "*:no-before", "*:before-current",
                           "*:verifier", "*:committed=FILE_SYNC", "*:twice:p=0.1",
                           "*:delay=1ms:p=0.02"],
    "missing attributes": ["*:no-attributes:p=0.3"],
    "missing handles": ["CREATE:no-handle:p=0.5", "MKDIR:no-handle", "SYMLINK:no-handle"],
    "a busy server": ["*:status=NFS3ERR_JUKEBOX:p=0.03:count=3"],
    "connections that are closed": ["REMOVE:close:p=0.1", "CREATE:close:p=0.05", "READ:close:p=0.1",
                                    "WRITE:close:p=0.05"],
}


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.300r, not %.300r" % (what, found, wanted))


def seldom(played):
    return sum(played.kept.classes.get(kind, 0) for kind in SELDOM_LISTED)


def compare(what, dump, played):
    """The report with the oracle's words.  Returns the operations that are not as recorded."""
    oracle = replay_run.judged(dump, played)
    operations, ends = replay_run.parsed(dump).operations, oracle.ends
    check(what + ": calls", oracle.mistakes[:3], [])
    check(what + ": classes", played.kept.classes, dict(collections.Counter(e.kind for e in ends)))
    wanted = {(e.index, e.kind, e.because) for e in ends if e.kind != AS_RECORDED}
    found = played.kept.ends()
    why = {e.index: e.why for e in ends}
    for number, kind, because in sorted(found - wanted, key=str)[:5]:
        failures.append("%s: operation %d is %s (%s), which is wrong" % (what, number, kind, because))
    full = len(played.kept.mismatches) == LISTED_IN_ALL
    for number, kind, because in sorted(wanted - found, key=str)[:0 if full else 5]:
        if kind not in SELDOM_LISTED or seldom(played) <= LISTED:
            failures.append("%s: operation %d is not %s (%s): %s" % (what, number, kind, because,
                                                                     why[number]))
    for m in played.kept.mismatches:
        if m["number"] >= len(ends):  # the oracle gave up
            break
        e, op = ends[m["number"]], operations[m["number"]]
        name = NAMES[op.procedure] if op.procedure < ACL_NULL else m["procedure"]
        if m["procedure"] != name or e.kind in FAILED[:3] and m["got"] != e.status:
            failures.append("%s: %r, not %r" % (what, m, e))
    return [e for e in ends if e.kind != AS_RECORDED]


def exact(scratch, name, dump, sets, seed):
    """One operation at a time."""
    usual = compare(name, dump, replay_run.play(scratch, "%s %d" % (name, seed), dump))
    for title, faults in sets.items():
        what = "%s, %s, seed %d" % (name, title, seed)
        played = replay_run.play(scratch, "%s %s %d" % (name, title, seed), dump, faults,
                                 server_options=("--seed", str(seed)))
        ends = compare(what, dump, played)
        HITS.update({(title, rule.split(":p=")[0]): n for rule, n in played.hits.items()})
        if title in UNSEEN:
            more = {(e.index, e.kind) for e in ends} - {(e.index, e.kind) for e in usual}
            check(what + ": nothing more", sorted(more), [])
            check(what + ": nothing less", "attributes" in title or len(ends) == len(usual), True)
        if title == "statuses":
            server_says = sum(played.hits.values())
            wrong = [e for e in ends if e.kind in FAILED and
                     e.index not in {u.index for u in usual}]
            # one whose usual end is an error already may be hit, too
            check(what + ": as many as the server made", server_says - len(usual) <= len(wrong) <=
                  server_says, True)


HITS = collections.Counter()


def late_stale(scratch, dump, times):
    """A server that answers so often as if a file that is gone were there (GETATTR)."""
    good, left = [b""], [times]

    def alter(call, reply):
        if call[12:24] != struct.pack(">3I", NFS, 3, GETATTR):
            return reply
        if reply[24:28] == bytes(4):
            good[0] = reply
        elif left[0] and reply[24:28] == struct.pack(">I", STALE):
            left[0] -= 1
            return reply[:4] + good[0][4:]
        return reply

    what = "success instead of STALE, %d times" % times
    stale = [op.index for op in replay_run.parsed(dump).operations
             if op.status == STALE and op.procedure == GETATTR]
    played = replay_run.play(scratch, what, dump, alter=alter)
    ends = compare(what, dump, played)
    check(what + ": it was so", len(stale) == 1 and left[0] < times, True)
    vanished = [e.index for e in ends if e.kind == VANISHED]
    check(what + ": vanished errors", vanished, stale if times > 100 else [])


def contained(scratch, name, dump, seed):
    """Many at a time: what is skipped follows from what failed."""
    for options in (["--pick", "random", "--seed", seed], ["--pick", "newest", "--outstanding", "9"]):
        what = "%s, %s" % (name, " ".join(map(str, options)))
        played = replay_run.play(scratch, what, dump, STATUSES, ("--pace", "asap", "-c", "1", *options))
        operations = replay_run.parsed(dump).operations
        ends = played.kept.ends()
        failed = {n for n, kind, _ in ends if kind in FAILED and operations[n].procedure in CHANGES}
        wanted = {(n, SKIPPED, because) for n, because in spread(replay_run.parsed(dump),
                                                                 failed).items()}
        found = {e for e in ends if e[1] == SKIPPED}
        check(what + ": something failed", len(failed) > 2 or len(operations) < 200, True)
        check(what + ": skipped", played.kept.classes.get(SKIPPED, 0), len(wanted))
        check(what + ": which", sorted(found - wanted)[:5], [])
        check(what + ": how many are listed", sum(e[1] in SELDOM_LISTED for e in ends),
              min(seldom(played), LISTED))


def main(arguments):
    with tempfile.TemporaryDirectory() as scratch:
        dumps = {}
        more = arguments == ["long"]
        for name in ["load-ganesha-vfs", "mem-libnfs-all22"] if not more else sorted(
                p.name.split(".")[0] for p in CAPTURES.glob("*.zst")):
            path = next(CAPTURES.glob(name + ".pcap*.zst"))
            dumps[name] = replay_run.make_dump(path, os.path.join(scratch, name + ".rdump"))
        for seed in range(5, 15 if more else 6):
            name = "world %d" % seed
            dumps[name] = replay_run.make_world(os.path.join(scratch, name + ".rdump"), seed=seed,
                                                operations=2500 if more else 500)
        for name, dump in dumps.items():
            few = not more and name == "load-ganesha-vfs"
            for seed in (1, 2) if more else (1,):
                exact(scratch, name, dump, {"statuses": STATUSES} if few else SEEN | UNSEEN, seed)
            contained(scratch, name, dump, 3)
        for times in 3, 1000:
            late_stale(scratch, dumps["mem-libnfs-all22"], times)
    for (title, rule), n in sorted(HITS.items()):
        if not n:
            failures.append("%s: %s never happened" % (title, rule))
    for failure in failures[:30]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
