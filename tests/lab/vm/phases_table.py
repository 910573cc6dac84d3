#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the times of the phases that vm/phases.sh measured, side by side, and compares the client's clock
with the traffic.

    phases_table.py OUTPUT
"""
import json
import pathlib
import sys

SYSTEMS = ("knfsd", "ftnfsd", "sshfs")
STEPS = [workload + "-" + step for workload in ("random", "append", "small")
         for step in ("create", "open", "write", "close")]


def main():
    folder = pathlib.Path(sys.argv[1])
    clock = {name: {words[0]: float(words[1]) for words in map(str.split, (folder / name).read_text().splitlines())}
             for name in SYSTEMS}
    traffic = {name: {g["phase"]: g for g in json.loads((folder / (name + ".json")).read_text())["by_phase"]}
               for name in SYSTEMS[:2]}
    print("%-14s %s   %s" % ("ms", "".join("%12s" % name for name in SYSTEMS),
                             "".join("%20s" % (name + ", traffic") for name in traffic)))
    failed = 0
    for step in STEPS:
        seen = {name: traffic[name].get(step, {"lasted": -10**9, "operations": 0}) for name in traffic}
        print("%-14s %s   %s" % (step, "".join("%12.1f" % (clock[name][step] * 1e3) for name in SYSTEMS),
                                 "".join("%10.1f (%5d op)" % (g["lasted"] / 1e6, g["operations"])
                                         for g in seen.values())))
        for name, g in seen.items():
            # the mark is somewhere in the command's time, which the clock leaves out
            if not 0 <= g["lasted"] / 1e9 - clock[name][step] <= 2 * clock[name]["longest-mark"]:
                failed = 1
                print("%s: %s: the clock and the traffic differ" % (name, step))
    print("%-14s %s" % ("longest mark", "".join("%12.1f" % (clock[name]["longest-mark"] * 1e3) for name in SYSTEMS)))
    return failed


if __name__ == "__main__":
    sys.exit(main())
