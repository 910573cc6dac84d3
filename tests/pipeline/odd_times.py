#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""Traces from before 1970 and far ahead, as pcapng files can have them (if_tsoffset): every command and
every view of a database tells the times that stock tshark tells of the same frames.

A committed capture, whose packets are moved in time.
"""
import calendar
import csv
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
import database  # noqa: E402
from checks import check, exit_code, good  # noqa: E402

SECOND = 10**9
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9}")


def moved(capture, path, offset):
    """The capture with times that are |offset| seconds later."""
    option = struct.pack("<HHI", 9, 1, 9) + struct.pack("<HHq", 14, 8, offset) + struct.pack("<HH", 0, 0)
    with open(path, "wb") as out:
        out.write(capfile.block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
        out.write(capfile.block(1, struct.pack("<HHI", 1, 0, 0) + option))
        for p in capfile.read(capture):
            out.write(capfile.block(6, struct.pack("<IIIII", 0, p.time >> 32, p.time & 0xffffffff, len(p.data),
                                                   p.wire_len) + p.data))


def tshark_times(capture):
    """Of each frame, in ns.  Before 1970 it prints the seconds, rounded down, and then what was added to them."""
    done = subprocess.run(["tshark", "-r", str(capture), "-T", "fields", "-e", "frame.time_epoch"],
                          capture_output=True, text=True, check=True)
    times = [0]
    for line in done.stdout.splitlines():
        seconds, fraction = line.split(".")
        times.append(int(seconds) * SECOND + int(fraction))
    return times


def ns(text):
    if not MOMENT.fullmatch(text):
        return text
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%d %H:%M:%S")) * SECOND + int(text[20:])


def one(folder, capture, first):
    """The trace begins in the second |first|."""
    path, db = folder / "moved.pcapng", folder / "moved.db"
    moved(capture, path, first - next(iter(capfile.read(capture))).time // SECOND)
    times = tshark_times(path)
    db.unlink(missing_ok=True)
    database.ingest(db, path)
    what = "from %d s on" % first
    wanted = [times[frame] for frame, in database.rows(db, "SELECT call_frame FROM operation ORDER BY id")]
    check(len(wanted) > 100 and min(wanted) // SECOND <= first + 2, what + ": the capture")
    check([t for t, in database.rows(db, "SELECT call_time FROM operation ORDER BY id")] == wanted, what + ": rows")
    check([ns(t) for t, in database.rows(db, "SELECT time FROM op ORDER BY id")] == wanted, what + ": view op")
    found = [json.loads(line) for line in good("ops", "--json", db).splitlines()]
    check([ns(o["time"]) for o in found] == [o["call_time"] for o in found] == wanted, what + ": ops --json")
    check([ns(row["time"]) for row in csv.DictReader(io.StringIO(good("ops", "--csv", db)))] == wanted, what + ": CSV")
    check([ns(MOMENT.match(line)[0]) for line in good("ops", db).splitlines()] == wanted, what + ": text")
    said = MOMENT.findall(re.search("^Time.*", good("info", db), re.M)[0])
    check([ns(t) for t in said] == [min(times[1:]), max(times[1:])], what + ": info %s" % said)
    good("deps", "--store", db)
    plan = database.rows(db, "SELECT p.time, o.time FROM plan p JOIN plan_operation o USING (place)")
    check(plan and all(ns(text) == number for text, number in plan), what + ": view plan %s" % plan[:1])
    middle = sorted(wanted)[len(wanted) // 2]
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(middle // SECOND)) + ".%09d" % (middle % SECOND)
    check(len(good("ops", "--from", text, db).splitlines()) == sum(t >= middle for t in wanted), what + ": --from")
    good("rdump", "--from", text, "-o", folder / "part.rdump", db)
    trace = good("rdump", "--dump", folder / "part.rdump").splitlines()[1]
    said = re.search(r"selection=--from\\x20(\S+)", trace)[1]
    number = float(said) if re.fullmatch(r"\d+\.\d{9}", said) else None
    check(number == middle / SECOND if number is not None else ns(said.replace("T", " ")) == middle,
          what + ": what a dump says of its part: %s" % said)
    check(len(good("ops", "--from", said, db).splitlines()) == sum(t >= middle for t in wanted),
          what + ": --from as a dump says it")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        capture = folder / "small.pcap"
        subprocess.run(["zstd", "-dqf", CAPTURES / "vfs-libnfs-all22.pcap.zst", "-o", capture], check=True)
        for first in (-315_360_000, -1, 2_147_483_647, 4_294_967_295):  # 1960, 1969, 2038, 2106
            one(folder, capture, first)
    return exit_code()


sys.exit(main())
