#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: long timeout=1200
"""The memory of nfsreplay play does not grow with the dump: it needs for 8 million operations what it
needs for 2 million, within a tenth, and no more than 64 MiB and 128 bytes for each operation of the horizon.

    nfsreplay_memory.py [OPERATIONS]     2,000,000, and four times as many; environment: BUILD
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Ftnfsd  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
PROGRAM = str(BUILD / "bin" / "nfsreplay")
MIB = 1 << 20
HORIZON = 262144  # of rdump_load's dumps, a power of two
# What nfsreplay may take in all: the aim that its parts were made for.
OF_STEP, FIXED = 128, 64 * MIB
GROWTH = 0.1


def run(*command):
    """(exit code, bytes of the most memory)"""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def peak(folder, count):
    dump, out = folder / ("%d.rdump" % count), folder / ("run-%d" % count)
    with open(dump, "wb") as file:
        subprocess.run([str(BUILD / "bin" / "tests" / "rdump_load"), str(count)], stdout=file, check=True)
    with Ftnfsd("--export", "/a", "--for", "900s") as server:
        target = "nfs://127.0.0.1/a?nfsport=%d&mountport=%d" % (server.port, server.port)
        code, _ = run(PROGRAM, "populate", "-q", str(dump), target)
        if code:
            sys.exit("populate: exit %d" % code)
        code, most = run(PROGRAM, "play", "-q", "--pace", "asap", "-c", "4", "-o", str(out), str(dump),
                         target)
    dump.unlink()
    report = json.loads((out / "report.json").read_text())
    same = {c["name"]: c["operations"] for c in report["classes"]}.get("as recorded", 0)
    if code or same != count:
        sys.exit("play: exit %d, %d of %d operations as recorded" % (code, same, count))
    print("%d operations: %.1f MiB" % (count, most / MIB))
    return most


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory() as name:
        small, large = (peak(pathlib.Path(name), n) for n in (count, 4 * count))
    bound = FIXED + HORIZON * OF_STEP
    if abs(large / small - 1) > GROWTH:
        sys.exit("the memory grows with the dump")
    if large > bound:
        sys.exit("%.1f MiB are above the bound of %.1f" % (large / MIB, bound / MIB))


if __name__ == "__main__":
    main()
