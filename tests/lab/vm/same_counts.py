#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a capture of an ftnfsd's whole life holds what that ftnfsd counted, and nothing unread.

    same_counts.py INFO.json STATISTICS.json

INFO.json is from "nfsdigest info --json --top 100", STATISTICS.json from "ftnfsd ctl PATH statistics".
Prints the calls of each procedure.  The exit code is 1 if there is a difference.
"""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        info = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        told = json.load(file)
    wrong = []
    totals = info["totals"][0]
    for source in info["sources"]:
        if source["problems"]:
            wrong.append("%s: %d problems" % (source["name"], source["problems"]))
    for field in "partial_calls", "partial_replies":
        if totals[field]:
            wrong.append("%s: %d" % (field, totals[field]))
    for row in info["pairing"]:
        if row["pairing"] != "paired" and row["operations"]:
            wrong.append("%s: %d" % (row["pairing"], row["operations"]))

    # ftnfsd counts NULL, of all programs, in one number
    nulls = sum(row["operations"] for row in info["by_procedure"]
                if row["procedure"].endswith(" NULL"))
    captured = {row["procedure"]: (row["operations"], row["errors"]) for row in info["by_procedure"]
                if not row["procedure"].endswith(" NULL")}
    counted = {row["program"] + " " + row["procedure"]: (row["calls"], row["errors"])
               for row in told["procedures"]}
    again = totals["retransmitted_calls"]
    for name in sorted(set(captured) | set(counted)):
        left, right = captured.get(name, (0, 0)), counted.get(name, (0, 0))
        print("%-22s %9d calls %9d errors" % (name, *left))
        # ftnfsd counts copies of a call, too
        if left != right and not (again and 0 <= right[0] - left[0] <= again):
            wrong.append("%s: the capture has %d calls and %d errors, ftnfsd counted %d and %d"
                         % (name, *left, *right))
    if nulls != told["null_calls"]:
        wrong.append("NULL: the capture has %d calls, ftnfsd counted %d" % (nulls, told["null_calls"]))
    print("%d calls, %d retransmissions, %d frames, %.1f s"
          % (totals["calls"], again, totals["frames"],
             (totals["last_time"] - totals["first_time"]) / 1e9))
    for text in wrong:
        print("DIFFERENCE: " + text)
    return 1 if wrong else 0


sys.exit(main())
