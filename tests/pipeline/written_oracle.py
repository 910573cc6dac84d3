#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""Messages that the writer writes, against stock tshark: calls and replies of every procedure with
random values, read by our walker and by tshark to the same values, field by field."""
import os
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import capfile
import compare
import craft

BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
TOOLS = os.path.join(BUILD, "bin", "tests")
PROGRAMS = compare.Programs(os.environ.get("NFSDIGEST") or os.path.join(BUILD, "bin", "nfsdigest"),
                            os.path.join(TOOLS, "field_dump"))
PORTS = {(program, version): port for program, version, port, _ in craft.PROGRAMS}


def main():
    seed, count = (sys.argv[1:] + ["20261122", "6"][len(sys.argv) - 1:])[:2]
    sample = subprocess.run([os.path.join(TOOLS, "write_sample"), seed, count], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    capture = craft.Capture()
    for line in sample.splitlines():
        program, version, _, call, reply = line.split()
        capture.pair(PORTS[int(program), int(version)], bytes.fromhex(call), bytes.fromhex(reply))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "written.pcap")
        capfile.write_pcap(path, capture.packets)
        result = compare.compare(PROGRAMS, compare.Tables(PROGRAMS), path)
    print("%d messages %d fields %d excused %d different" %
          (result.messages, result.fields, sum(result.defects.values()), result.different))
    for text in result.examples:
        print("    " + text)
    failed = result.different or result.messages != len(capture.packets) or result.fields < 5000
    print("written_oracle: " + ("FAILED" if failed else "equal"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
