#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_rdump: dumps, payloads of blocks and texts, of the dump that
schemas/rdump.md shows, of one with a listing over two replies, and of any records.

    BUILD=build tests/fuzz/seeds_rdump.py     rewrites tests/fuzz/corpus/fuzz_rdump/
"""
import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ["BUILD"])
FOLDER = pathlib.Path(__file__).resolve().parent / "corpus" / "fuzz_rdump"
DUMP, PAYLOAD, TEXT = b"\0", b"\1", b"\2"
HEADER, CHECKSUM = 24, 8  # of a block

# behind the example's last operation
LISTINGS = """\
operation source=5 time=4000000 latency=100 client=1 server=2 procedure=16 \
arguments=000000040000000100000000000000000000000000000000000001000 cookies=2,3 mask=0x40000000 \
names=000000026869
operation source=6 time=4000100 latency=100 client=1 server=2 procedure=17 \
arguments=0000000400000001000000000000006300000000000000000000010000000100 cookie_from=1 \
cookie_entries=3 mask=0x30000020 digest=0x1 links=00000002 dependencies=1
"""


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def blocks(dump):
    """(records, payload) of each block."""
    at = 16 + int.from_bytes(dump[12:16], "little") + CHECKSUM
    while at < len(dump):
        count = int.from_bytes(dump[at + 16:at + 20], "little")
        length = int.from_bytes(dump[at + 20:at + 24], "little")
        yield count, dump[at + HEADER:at + HEADER + length]
        at += HEADER + length + CHECKSUM


def main():
    tool, program = BUILD / "bin/tests/rdump_tool", BUILD / "bin/nfsdigest"

    def text_of(dump):
        return run(program, "rdump", "--dump", "-", input=dump)

    example, odd = run(tool, "example"), run(tool, "random", "7", "40")
    text = text_of(example)
    head, tail = text.split(b"\nend ")
    listings = LISTINGS.replace("1000 cookies", "100 cookies").encode()
    both = head + b"\n" + listings + b"end " + tail
    seeds = {"empty": DUMP + b"\0", "example": DUMP + example, "example-cut": DUMP + example[:-9],
             "listings": TEXT + both, "text": TEXT + text, "text-random": TEXT + text_of(odd)}
    for name, dump in ("payload", example), ("payload-random", odd):
        count, payload = next(blocks(dump))
        seeds[name] = PAYLOAD + bytes([count]) + payload
    for name, data in seeds.items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
