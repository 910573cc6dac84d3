#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan long=--all
"""Pairing against traffic whose truth is known: each case of tests/gen/cases*.py is made, ingested,
and the database compared with the truth, exactly.

    pairing_truth.py [-k DIRECTORY] [--all] [CASE...]     environment: NFSDIGEST

-k keeps captures, truth and databases there. --all: also the cases of tests/gen/cases_strays.py of
which the short run takes each seventh.
"""
import argparse
import fnmatch
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import cases  # noqa: E402
import cases_pairing  # noqa: E402,F401
import cases_stream  # noqa: E402,F401
import cases_strays  # noqa: E402
import database  # noqa: E402
import capfile  # noqa: E402

CASES_LEAST = 200  # so that a case cannot vanish unseen


def expected_pairing(op):
    if op["call_frame"] is None:
        return {database.CALL_LOST}
    if op["reply_frame"] is None:
        return {database.REPLY_LOST, database.CAPTURE_ENDED}
    return {database.PAIRED}


def key(op):
    return (op["call_frame"] or 0, op["reply_frame"] or 0, op["xid"])


def compare(truth, found, times, partial, parts, only, kept_partly):
    """Lines that say what is wrong. |partial|: XIDs of which pieces may be shown as such; |parts|:
    those of which they must be, with the other side unless |only| one was captured;
    |kept_partly|: those of messages that are too long to be kept."""
    wrong = ["no partial operation: 0x%x" % xid for xid in parts
             if not any(o["xid"] == xid and o["flags"] & database.PARTIAL
                        and (o["pairing"] == database.PAIRED or only) for o in found)]
    truth = [o for o in truth if o["xid"] not in parts]
    found = [o for o in found if not (o["xid"] in partial and o["flags"] & database.PARTIAL)]
    want = {key(o): o for o in truth}
    have = {}
    for op in found:
        if key(op) in have:
            wrong.append("twice: %s" % (op,))
        have[key(op)] = op
    for k in sorted(want.keys() - have.keys()):
        wrong.append("missing: %s" % (want[k],))
    for k in sorted(have.keys() - want.keys()):
        wrong.append("invented: %s" % (have[k],))
    for k in want.keys() & have.keys():
        one, two = want[k], have[k]
        for column in ("client", "server", "program", "version", "procedure", "status"):
            if one[column] != two[column]:
                wrong.append("%s: %s is %r, not %r" % (k, column, two[column], one[column]))
        if sorted(one["repeats"]) != two["repeats"]:
            wrong.append("%s: repeats are %s, not %s" % (k, two["repeats"], one["repeats"]))
        if two["pairing"] not in expected_pairing(one):
            wrong.append("%s: pairing is %s" % (k, two["pairing"]))
        if bool(two["flags"] & database.OTHER_ADDRESS) != one["other_address"]:
            wrong.append("%s: from another address: %s" % (k, not one["other_address"]))
        if bool(two["flags"] & database.PARTIAL) != (one["xid"] in kept_partly):
            wrong.append("%s: flags are %s" % (k, two["flags"]))
        for side in "call", "reply":
            frame = one[side + "_frame"]
            if two[side + "_time"] != (None if frame is None else times[frame - 1]):
                wrong.append("%s: %s_time is %s" % (k, side, two[side + "_time"]))
    return wrong


def run(name, directory):
    """Makes, ingests and compares one case; returns the lines of what is wrong."""
    case = cases.CASES[name]()
    directory.mkdir(parents=True, exist_ok=True)
    writer = capfile.write_pcapng if case.pcapng else capfile.write_pcap
    files = []
    for i, (_, packets) in enumerate(case.parts()):
        files.append(directory / ("%s.%d.%s" % (name, i, "pcapng" if case.pcapng else "pcap")))
        writer(files[-1], packets)
    case.trace.write_truth(directory / (name + ".json"))
    path = directory / (name + ".db")
    path.unlink(missing_ok=True)
    try:
        for command in case.commands:
            database.ingest(path, *[files[i] for i in command])
        base = database.Database(path, [len(p) for _, p in case.parts()])
        found = base.operations()
        base.close()
    except RuntimeError as error:
        return [str(error)]
    truth = case.trace.truth()
    for op in truth:
        if op["call_frame"] is None:
            op["program"] = op["version"] = op["procedure"] = None
    return compare(truth, found, [f.time for f in case.trace.frames],
                   getattr(case, "partial", set()), getattr(case, "found", set()),
                   getattr(case, "only", False), getattr(case, "kept_partly", set()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", "--keep", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("case", nargs="*")
    arguments = parser.parse_args()
    names = [n for n in cases.CASES
             if (any(fnmatch.fnmatch(n, p) for p in arguments.case) if arguments.case
                 else arguments.all or n not in cases_strays.LONG)]
    if not arguments.case and len(names) < CASES_LEAST:
        print("only %d cases: %d are expected" % (len(names), CASES_LEAST))
        return 1
    if not names:
        print("no such case")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory(prefix="pairing.") as scratch:
        for name in names:
            wrong = run(name, arguments.keep or pathlib.Path(scratch))
            if wrong:
                failed += 1
                print("FAILED %s" % name)
                for line in wrong[:12]:
                    print("    " + line)
                if len(wrong) > 12:
                    print("    ... and %d more" % (len(wrong) - 12))
    print("%d cases, %d failed" % (len(names), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
