#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan slow cost=35
"""Decoding against stock tshark: on every loss-free capture, and on a crafted one with all
procedures and all arms, each field of our tables that tshark knows has the same value in the same
place, message by message.  Known defects of tshark are rows in tests/oracle/defects.py.

A sanitized build only decodes: the values are those that another build has compared.

With arguments: compares the captures named, and shows more of their differences.
"""
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(SRC, "tests", "oracle"))

import compare
import craft
from defects import DEFECTS, HELD_BACK, LOST_FRAGMENT, VIEWS

BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
PROGRAMS = compare.Programs(os.environ.get("NFSDIGEST") or os.path.join(BUILD, "bin", "nfsdigest"),
                            os.path.join(BUILD, "bin", "tests", "field_dump"))
CAPTURES = os.environ.get("CAPTURES") or os.path.join(SRC, "captures")
SANITIZED = "SANITIZED" in os.environ

# Of the merged capture interface 0 only: the frames of interface 1 are cut at 200 bytes.
FILTERS = {"merged-tcp-udp-2if.pcapng": "frame.interface_id == 0"}
LOSS_FREE = ["merged-tcp-udp-2if.pcapng", "knfsd-tcp-mtu1500.pcap", "knfsd-udp-frag.pcap",
             "pair-ganesha-vfs.pcap", "pair-knfsd.pcap", "knfsd-vlan.pcap",
             "knfsd-netem-tcp.pcap", "knfsd-netem-udp.pcap", "vfs-libnfs-all22.pcap",
             "mem-libnfs-all22.pcap", "knfsd-nlm-locks.pcap"]
CRAFTED = "crafted.pcap"


def prepare(capture, directory):
    """The path of |capture|, made or unpacked into |directory|."""
    if capture != CRAFTED and capture not in LOSS_FREE:
        return capture
    path = os.path.join(directory, capture)
    if capture == CRAFTED:
        craft.write(path)
        return path
    with open(path, "wb") as out:
        subprocess.run(["zstd", "-dc", os.path.join(CAPTURES, capture + ".zst")], stdout=out,
                       check=True)
    if capture in FILTERS:
        subprocess.run(["tshark", "-n", "-r", path, "-Y", FILTERS[capture], "-F", "pcapng", "-w",
                        path + ".part"], stderr=subprocess.DEVNULL, check=True)
        os.replace(path + ".part", path)
    return path


def decode(path):
    """Without a comparison: the sanitizers look on."""
    result = compare.Result(path)
    for messages in compare.our_messages(PROGRAMS, path, collections.defaultdict(str)).values():
        result.messages += len(messages)
        result.fields += sum(len(m.fields) for m in messages)
    return result


def run(capture, directory):
    """In a process of its own."""
    started = time.monotonic()
    try:
        path = prepare(capture, directory)
        result = decode(path) if SANITIZED else \
            compare.compare(PROGRAMS, compare.Tables(PROGRAMS), path)
        if path != capture:
            os.unlink(path)
    except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as failure:
        result = compare.Result(capture)
        result.differ(str(failure))
    result.seconds = time.monotonic() - started
    return result


def check_coverage(tables, results):
    """Complaints about fields, defects and views that never occurred."""
    compared = set().union(*(r.compared for r in results))
    real = set().union(*(r.compared for r in results if r.capture != CRAFTED))
    excused = {d.where for d in DEFECTS}
    wanted = [p for p in tables.places if p.wireshark]
    silent = [p for p in wanted if (*p[:4], p.path) not in compared and p[:4] not in excused]
    print("%d fields in the tables, %d with a name in tshark; %d compared, %d of them in real "
          "captures" % (len(tables.places), len(wanted), sum((*p[:4], p.path) in compared
                                                             for p in wanted),
                        sum((*p[:4], p.path) in real for p in wanted)))
    used = set().union(*(r.defects for r in results))
    views = set().union(*(r.views for r in results))
    complaints = ["never compared: program %d version %d procedure %d %s %s (%s)" % p[:6]
                  for p in silent]
    complaints += ["tshark has no field %s" % name for name in tables.unknown_names]
    complaints += ["this defect of tshark never showed: %s %s" % (d.where, d.reason)
                   for i, d in enumerate(DEFECTS) if i not in used]
    complaints += ["this never showed: " + text for text in (HELD_BACK, LOST_FRAGMENT)
                   if text not in used]
    complaints += ["tshark never showed %s" % view[0] for i, view in enumerate(VIEWS)
                   if i not in views]
    return complaints


def main():
    captures = sys.argv[1:] or LOSS_FREE + [CRAFTED]
    if sys.argv[1:]:
        compare.EXAMPLES = 50
    with tempfile.TemporaryDirectory() as directory:
        with concurrent.futures.ProcessPoolExecutor(min(2, os.cpu_count())) as pool:
            results = list(pool.map(run, captures, [directory] * len(captures)))
    for r in results:
        print("%-28s %6d messages %7d fields %3d excused %3d different  %.1f s" %
              (r.capture, r.messages, r.fields, sum(r.defects.values()), r.different, r.seconds))
        for text in r.examples:
            print("    " + text)
    print("%d messages, %d fields" % (sum(r.messages for r in results),
                                      sum(r.fields for r in results)))
    failed = any(r.different or not r.messages for r in results)
    if not sys.argv[1:] and not failed and not SANITIZED:
        complaints = check_coverage(compare.Tables(PROGRAMS), results)
        for complaint in complaints:
            print(complaint)
        failed = bool(complaints)
    print("decode_oracle: " + ("FAILED" if failed else "decoded" if SANITIZED else "equal"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
