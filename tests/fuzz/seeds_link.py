#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_link from the packets of tests/oracle/link_cases.py.

    tests/fuzz/seeds_link.py            rewrites tests/fuzz/corpus/fuzz_link/case-*
"""
import glob
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
import link_cases  # noqa: E402

FOLDER = os.path.join(HERE, "corpus", "fuzz_link")
LARGEST = 6000  # a seed; larger cases give no further branch


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for old in glob.glob(os.path.join(FOLDER, "case-*")):
        os.unlink(old)
    for name, kind, frames in link_cases.cases():
        if name.startswith("cut-"):
            frames = frames[::24]
        if max(len(data) for data, _ in frames) > LARGEST:
            continue
        seed = struct.pack(">H", kind)
        for i, (data, wire) in enumerate(frames):
            seed += struct.pack(">HBB", len(data), min(wire - len(data), 255), i % 3 == 2) + data
        if len(seed) <= LARGEST:
            with open(os.path.join(FOLDER, "case-" + name), "wb") as out:
                out.write(seed)


if __name__ == "__main__":
    main()
