#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a seed of fuzz_border from a border file: seeds_border.py NAME.border SEED"""
import sys


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()[8:-8]  # without version and digest
    seed = bytearray()
    at = 0
    while at < len(data):
        seed.append(data[at])
        at += 1
        if seed[-1]:
            continue
        run = len(data) - at - len(data[at:].lstrip(b"\0"))
        seed.append(min(run // 64, 255))
        at += 64 * seed[-1]
    with open(sys.argv[2], "wb") as file:
        file.write(seed)


if __name__ == "__main__":
    main()
