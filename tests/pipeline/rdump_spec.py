#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""schemas/rdump.md, rdump.ksy, the table in the program and the second reader say the same."""
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SRC = os.environ["SRC"]
PROGRAM = os.environ["NFSDIGEST"]
TOOL = os.path.join(os.environ["BUILD"], "bin", "tests", "rdump_tool")
sys.path.insert(0, os.path.join(SRC, "tests", "gen"))
import rdump_file  # noqa: E402
from rdump_file import nfsr  # noqa: E402


def text_of(*path):
    with open(os.path.join(SRC, *path), encoding="utf-8") as f:
        return f.read()


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, check=True).stdout


SPEC = text_of("schemas", "rdump.md")
KSY = text_of("schemas", "rdump.ksy")


def fenced(name):
    """The block of the specification behind the comment |name|."""
    found = re.search(r"<!-- %s -->\n```\n(.*?)```\n" % name, SPEC, re.S)
    assert found, name
    return found.group(1)


def records_of(dump):
    return list(rdump_file.Reader(io.BytesIO(dump)).records())


def json_of(dump):
    done = subprocess.run([PROGRAM, "rdump", "--json", "--dump", "-"], input=dump, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def layout_agrees():
    layout = tool("layout").decode()
    assert fenced("layout") == layout
    dump = tool("example")
    size = int.from_bytes(dump[12:16], "little")
    assert dump[16 : 16 + size].decode() == layout
    return layout


KSY_TYPES = {
    "u8": "varint", "u16": "varint", "u32": "varint", "u64": "varint", "i64": "zigzag",
    "bytes": "blob", "text": "blob", "hash": "u8be", "numbers": "list", "time": "difference",
    "operation": "difference",
}  # fmt: skip


def ksy_agrees(layout):
    """Every kind of the layout, with its fields, their types and presence bits."""
    kinds = nfsr.parse_layout(layout.encode())
    enum = re.search(r"  record_kind:\n((?:    \d+: \w+\n)+)", KSY).group(1)
    assert {int(n): k for n, k in re.findall(r"(\d+): (\w+)", enum)} == {
        n: name for n, (name, _) in kinds.items()
    }
    for name, fields in kinds.values():
        assert "'record_kind::%s': %s_record\n" % (name, name) in KSY, name
        body = re.search(r"\n  %s_record:\n(.*?)\n  \w" % name, KSY, re.S).group(1)
        found = re.findall(
            r"- id: (\w+)\n        type: (\w+)\n"
            r"        if: \(present.group(\d+) & (0x\w\w)\) != 0",
            body,
        )
        found = [(i, t, int(g), int(bit, 16)) for i, t, g, bit in found]
        want = [
            (f.replace(".", "_"), KSY_TYPES[t], i // 7, 1 << i % 7) for i, (f, t) in enumerate(fields)
        ]
        assert found == want, (name, found, want)
        assert body.count("- id:") == len(want) + 1, name
    # what it has in common with .nfsr streams is the same there
    common = text_of("schemas", "nfsr.ksy")
    for name in ("varint", "group", "zigzag", "difference", "blob", "presence"):
        piece = re.search(r"\n  %s:\n(?:    .*\n)+" % name, KSY).group(0)
        assert piece in common, name


def constants(*path):
    """{NAME: value} of a header's enumerations."""
    found = {}
    text = re.sub(r"/\*.*?\*/", "", text_of(*path), flags=re.S)
    for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", text, re.S):
        value = 0
        for item in body.split(","):
            m = re.fullmatch(r"\s*(\w+)(?: = (\w+)(?: << (\d+))?)?\s*", item)
            if m:
                value = int(m.group(2), 0) << int(m.group(3) or 0) if m.group(2) else value
                found[m.group(1)] = value
                value += 1
    return found


def row_of(values, prefix, least=1):
    names = [n for n in values if n.startswith(prefix) and not n.endswith("_MAX")]
    return "| %s |\n" % ", ".join("%d %s" % (values[n], n) for n in names if values[n] >= least)


def constants_agree():
    assert row_of(constants("postproc", "rdump", "rdump.h"), "RDUMP_KNOWS_") in SPEC
    repair = constants("postproc", "digest", "repair.h")
    assert row_of(repair, "REPAIR_") in SPEC
    assert row_of(repair, "UNPLAYABLE_") in SPEC
    expect = constants("postproc", "digest", "expect.h")
    assert len(expect) == 11, expect
    for name, value in expect.items():
        assert name == "EXPECT_GROUPS" or "\n| %d | `%s` | " % (value, name) in SPEC, name
    assert "bit %d w + g is group g of" % expect["EXPECT_GROUPS"] in SPEC


def numbers_agree():
    dump = tool("example")
    assert dump[:8].hex(" ") in SPEC
    assert "[%s]" % ", ".join("0x%02x" % b for b in dump[:8]) in KSY
    at = 16 + int.from_bytes(dump[12:16], "little") + 8
    assert dump[at : at + 4] == rdump_file.Reader.marker
    assert dump[at : at + 4].hex(" ") in SPEC and rdump_file.Reader.marker.decode() in SPEC
    assert "[%s]" % ", ".join("0x%02x" % b for b in dump[at : at + 4]) in KSY
    assert dump[8:12] == bytes((rdump_file.Reader.major, 0, 0, 0))
    assert "version 1.0\n" in SPEC and "| version | 1.0 |" in SPEC
    code = text_of("engine", "record", "nfsr.h") + text_of("engine", "record", "format.h")
    value = {}
    for name in ("BLOCK_TARGET", "BLOCK_MAX", "TEXT_MAX"):
        base, shift = re.search(r"NFSR_%s = (\d+) << (\d+)" % name, code).groups()
        value[name] = int(base) << int(shift)
    value["RECORD_MAX"] = value["BLOCK_MAX"] - value["BLOCK_TARGET"]
    for name, number in value.items():
        assert "{:,}".format(number) in SPEC, name
    assert "max: %d\n" % value["BLOCK_MAX"] in KSY and "max: %d\n" % value["TEXT_MAX"] in KSY


def example_agrees():
    dump = tool("example")
    shown = fenced("hexdump")
    assert "\n".join(nfsr.hexdump(io.BytesIO(dump), rdump_file.Reader)) + "\n" == shown
    # the bytes themselves, without the second reader's help
    data = b""
    for line in shown.splitlines():
        offset, rest = line.split("  ", 1)
        assert int(offset, 16) == len(data), line
        data += fenced("layout").encode() if rest.startswith("...") else bytes.fromhex(rest[:47])
    assert data == dump
    assert fenced("example").encode() == json_of(dump)
    assert len(records_of(dump)) == 13


def readers_agree():
    for seed in range(1, 9):
        dump = tool("random", str(seed), "1500")
        mine = records_of(dump)
        assert mine == [json.loads(line) for line in json_of(dump).decode().splitlines()]
        assert len(mine) == 1501


def readers_refuse_the_same():
    dump = tool("example")
    choice = random.Random(4)
    bad = [dump[: choice.randrange(len(dump))] for _ in range(40)]
    for _ in range(40):
        at = choice.randrange(len(dump))
        bad.append(dump[:at] + bytes((dump[at] ^ 1 << choice.randrange(8),)) + dump[at + 1 :])
    bad += [dump + b"\0", b"", b"SQLite format 3\0", dump[:8] + b"\2" + dump[9:]]
    for data in bad:
        try:
            records_of(data)
        except nfsr.NfsrError:
            pass
        else:
            raise AssertionError("the second reader takes a bad dump")
        for what in ("--dump", "--check"):
            done = subprocess.run([PROGRAM, "rdump", what, "-"], input=data, capture_output=True)
            assert done.returncode == 3, (what, done)


def module_gives_members():
    """Attributes of what rdump_file.read yields are the members of rdump.h's structures."""
    header = re.sub(r"/\*.*?\*/", "", text_of("postproc", "rdump", "rdump.h"), flags=re.S)
    seen = set()
    with tempfile.NamedTemporaryFile() as file:
        file.write(tool("example"))
        file.flush()
        records = list(rdump_file.read(file.name))
    for kind, record in records:
        body = re.search(r"struct rdump_%s \{(.*?)\n\};" % kind, header, re.S).group(1)
        members = re.findall(r"\*?(\w+)(?:\[\d\])?(?=[,;])", body)
        have = set(vars(record)) - {"index"}
        assert have == set(members), (kind, have ^ set(members))
        seen.add(kind)
    assert len(seen) == 7


layout_text = layout_agrees()
ksy_agrees(layout_text)
constants_agree()
numbers_agree()
example_agrees()
readers_agree()
readers_refuse_the_same()
module_gives_members()
print("rdump: specification, table and both readers agree")
