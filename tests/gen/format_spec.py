# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds the specification of a block format, its Kaitai description, the table in the program and the
second reader to each other: what nfsr_spec.py and rdump_spec.py have in common."""
import io
import json
import os
import random
import re
import subprocess
import sys

SRC = os.environ["SRC"]
sys.path.insert(0, os.path.join(SRC, "tests"))
import nfsr  # noqa: E402

KSY_TYPES = {
    "u8": "varint", "u16": "varint", "u32": "varint", "u64": "varint", "i32": "zigzag",
    "i64": "zigzag", "bytes": "blob", "text": "blob", "address": "address", "digest": "16",
    "frame": "difference", "time": "difference", "operation": "difference", "hash": "u8be",
    "numbers": "list",
}  # fmt: skip


def text_of(*path):
    with open(os.path.join(SRC, *path), encoding="utf-8") as f:
        return f.read()


class Format:
    """|dump|: command that shows a file from standard input as JSON lines, and ends with 3 when that
    is bad; |same|: brings a record into a form in which equal ones are equal."""

    def __init__(self, name, reader, dump, same=lambda record: record):
        self.name = name
        self.reader = reader
        self.dump = dump
        self.same = same
        self.program = os.path.join(os.environ["BUILD"], "bin", "tests", name + "_tool")
        self.spec = text_of("schemas", name + ".md")
        self.ksy = text_of("schemas", name + ".ksy")

    def tool(self, *arguments):
        return subprocess.run([self.program, *arguments], capture_output=True, check=True).stdout

    def shown(self, data):
        return subprocess.run(self.dump, input=data, capture_output=True)

    def dumped(self, data):
        done = self.shown(data)
        assert done.returncode == 0, done.stderr
        return [self.same(json.loads(line)) for line in done.stdout.decode().splitlines()]

    def records_of(self, data):
        return [self.same(record) for record in self.reader(io.BytesIO(data)).records()]

    def fenced(self, name):
        """The block of the specification behind the comment |name|."""
        found = re.search(r"<!-- %s -->\n```\n(.*?)```\n" % name, self.spec, re.S)
        assert found, name
        return found.group(1)

    def layout_agrees(self):
        layout = self.tool("layout").decode()
        assert self.fenced("layout") == layout
        stream = self.tool("example")
        size = int.from_bytes(stream[12:16], "little")
        assert stream[16 : 16 + size].decode() == layout
        return layout

    def ksy_agrees(self, layout):
        """Every kind of the layout, with its fields, their types and presence bits."""
        kinds = nfsr.parse_layout(layout.encode())
        enum = re.search(r"  record_kind:\n((?:    \d+: \w+\n)+)", self.ksy).group(1)
        assert {int(n): k for n, k in re.findall(r"(\d+): (\w+)", enum)} == {
            n: name for n, (name, _) in kinds.items()
        }
        for name, fields in kinds.values():
            assert "'record_kind::%s': %s_record\n" % (name, name) in self.ksy, name
            body = re.search(r"\n  %s_record:\n(.*?)\n  \w" % name, self.ksy, re.S).group(1)
            seq, _, instances = body.partition("    instances:\n")
            found = re.findall(
                r"- id: (\w+)\n        (?:type|size): (\w+)\n"
                r"        if: \(present.group(\d+) & (0x\w\w)\) != 0",
                seq,
            )
            found = [(i, t, int(g), int(bit, 16)) for i, t, g, bit in found]
            flags = re.findall(
                r"(\w+):\n        value: \(present.group(\d+) & (0x\w\w)\) != 0", instances
            )
            flags = [(i, int(g), int(bit, 16)) for i, g, bit in flags]
            want = [
                (f.replace(".", "_"), KSY_TYPES[t], i // 7, 1 << i % 7)
                for i, (f, t) in enumerate(fields)
                if t != "bool"
            ]
            assert found == want, (name, found, want)
            assert seq.count("- id:") == len(want) + 1, name
            assert flags == [
                (f, i // 7, 1 << i % 7) for i, (f, t) in enumerate(fields) if t == "bool"
            ]

    def numbers_agree(self):
        """Magic, marker, version and bounds."""
        stream = self.tool("example")
        at = 16 + int.from_bytes(stream[12:16], "little") + 8
        for piece in (stream[:8], stream[at : at + 4]):
            assert piece.hex(" ") in self.spec
            assert "[%s]" % ", ".join("0x%02x" % b for b in piece) in self.ksy
        assert stream[:8] == self.reader.magic and stream[at : at + 4] == self.reader.marker
        assert stream[8:12] == bytes((self.reader.major, 0, self.reader.minor, 0))
        assert "version %d.%d\n" % (self.reader.major, self.reader.minor) in self.spec
        code = text_of("engine", "record", "nfsr.h") + text_of("engine", "record", "format.h")
        value = {}
        for name in ("BLOCK_TARGET", "BLOCK_MAX", "TEXT_MAX"):
            base, shift = re.search(r"NFSR_%s = (\d+) << (\d+)" % name, code).groups()
            value[name] = int(base) << int(shift)
        value["RECORD_MAX"] = value["BLOCK_MAX"] - value["BLOCK_TARGET"]
        for name, number in value.items():
            assert "{:,}".format(number) in self.spec, name
        assert "max: %d\n" % value["BLOCK_MAX"] in self.ksy
        assert "max: %d\n" % value["TEXT_MAX"] in self.ksy

    def example_agrees(self, count):
        stream = self.tool("example")
        shown = self.fenced("hexdump")
        assert "\n".join(nfsr.hexdump(io.BytesIO(stream), self.reader)) + "\n" == shown
        # the bytes themselves, without the second reader's help
        data = b""
        for line in shown.splitlines():
            offset, rest = line.split("  ", 1)
            assert int(offset, 16) == len(data), line
            data += self.fenced("layout").encode() if rest.startswith("...") else bytes.fromhex(rest[:47])
        assert data == stream
        assert self.fenced("example").encode() == self.shown(stream).stdout
        assert self.records_of(stream) == self.dumped(stream)
        assert len(self.records_of(stream)) == count

    def readers_agree(self):
        for seed in range(1, 9):
            stream = self.tool("random", str(seed), "1500")
            mine = self.records_of(stream)
            assert mine == self.dumped(stream)
            assert len(mine) == 1501

    def readers_refuse_the_same(self):
        stream = self.tool("example")
        choice = random.Random(4)
        bad = [stream[: choice.randrange(len(stream))] for _ in range(60)]
        for _ in range(60):
            at = choice.randrange(len(stream))
            flipped = bytes((stream[at] ^ 1 << choice.randrange(8),))
            bad.append(stream[:at] + flipped + stream[at + 1 :])
        bad += [stream + b"\0", b"", b"SQLite format 3\0", stream[:8] + bytes((stream[8] + 1,)) + stream[9:]]
        for data in bad:
            try:
                self.records_of(data)
            except nfsr.NfsrError:
                pass
            else:
                raise AssertionError("the second reader takes a bad %s" % self.name)
            assert self.shown(data).returncode == 3

    def all_agree(self, count):
        """|count|: records of the example."""
        self.ksy_agrees(self.layout_agrees())
        self.numbers_agree()
        self.example_agrees(count)
        self.readers_agree()
        self.readers_refuse_the_same()
