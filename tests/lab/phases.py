#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the three workloads of tests/gen/lab_workloads.py in a directory, and prints the time of each step.

    phases.py DIRECTORY [SCALE [NFSDIGEST]]

On an NFS mount, each step is also a phase in the traffic (nfsdigest phase).  SCALE divides the work: 1 makes
100,000 random writes of 4 KiB into 100 MB, appends 500 MB, and makes 100 files of 4 KiB; 1000 is the default.
Steps end when their data is on the server: "close" waits for that (fsync), and with the mount option sync
each write does.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import lab_workloads  # noqa: E402


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    scale = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    system = lab_workloads.Mount(sys.argv[1], *sys.argv[3:4])
    lab_workloads.run(system, scale)
    for name, seconds in system.lasted.items():
        print("%-16s %12.6f s" % (name, seconds))
    print("%-16s %12.6f s, which no phase has" % ("longest-mark", system.longest_mark))


if __name__ == "__main__":
    main()
