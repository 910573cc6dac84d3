#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=6 asan
"""Made captures, cut where a reader that begins in the middle cannot know something (tests/gen/cut_cases.py):
join says so, and why; the piece, made again, has the records of one run.  Where the case says so, the piece that
was made on its own had others: join had to say it."""
import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))
sys.path.insert(0, str(SRC / "tests/pipeline"))

from cut_cases import CASES, Cut  # noqa: E402
from pieces import Trace, check, compare, failures, joined, make, run  # noqa: E402


def records(folder, names, verdicts):
    found = Trace()
    for name, piece in zip(names, verdicts):
        found.add(folder / (name + ".nfsr"), piece)
    return found


def same(a, b):
    return (a.operations, a.waited, a.others) == (b.operations, b.waited, b.others)


def one(folder, name, case):
    cut = Cut()
    case.make(cut)
    capture = folder / "made.pcap"
    cut.trace.write(capture)
    lead, border = cut.offsets()
    run("record", "-o", folder / "truth.nfsr", *case.options, capture)
    truth = Trace()
    truth.add(folder / "truth.nfsr")
    make(capture, folder, "a", "--to", border, *case.options)
    second = ("--from", border, "--last", *case.options)
    made = make(capture, folder, "b", "--lead-in", border - lead, "--lead-in-time", "0s", *second)
    check(made["lead_in_frames"] == cut.marks[1] - cut.marks[0], f"{name}: a lead-in of {made['lead_in_frames']}")
    verdicts = joined(folder, "ab")
    why = verdicts[1].get("why", "")
    check(verdicts[0]["verdict"] == "exact" and case.why in why and bool(why) == bool(case.why),
          f"{name}: {verdicts[1]['verdict']}, {why!r}, not {case.why!r}")
    found = records(folder, "ab", verdicts)
    if not case.why:
        compare(truth, found, name)
        return
    if case.differs:
        check(not same(truth, found), f"{name}: the records are those of one run: join need not have said {why!r}")
    make(capture, folder, "b", "--continue", folder / "a", *second)
    verdicts = joined(folder, "ab")
    check(verdicts[1]["verdict"] == "exact", f"{name}, made again: {verdicts[1]}")
    compare(truth, records(folder, "ab", verdicts), f"{name}, made again")


def main():
    chosen = sys.argv[1:] or CASES
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            one(pathlib.Path(folder), name, CASES[name])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
