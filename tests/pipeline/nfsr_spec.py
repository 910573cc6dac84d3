#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""schemas/nfsr.md, nfsr.ksy, the table in the program and the second reader say the same."""
import io
import json
import os
import random
import re
import subprocess
import sys

SRC = os.environ["SRC"]
TOOL = os.path.join(os.environ["BUILD"], "bin", "tests", "nfsr_tool")
sys.path.insert(0, os.path.join(SRC, "tests"))
import nfsr  # noqa: E402


def text_of(*path):
    with open(os.path.join(SRC, *path), encoding="utf-8") as f:
        return f.read()


def tool(*arguments, data=b"", ok=True):
    done = subprocess.run([TOOL, *arguments], input=data, capture_output=True)
    assert not ok or done.returncode == 0, done.stderr
    return done.stdout if ok else done


SPEC = text_of("schemas", "nfsr.md")
KSY = text_of("schemas", "nfsr.ksy")


def fenced(name):
    """The block of the specification behind the comment |name|."""
    found = re.search(r"<!-- %s -->\n```\n(.*?)```\n" % name, SPEC, re.S)
    assert found, name
    return found.group(1)


def records_of(stream):
    """With the second reader; addresses in a form of their own, as texts may differ."""
    return [same_addresses(r) for r in nfsr.read(io.BytesIO(stream))]


def dumped(stream):
    lines = tool("dump", data=stream).decode().splitlines()
    return [same_addresses(json.loads(line)) for line in lines]


def same_addresses(record):
    for field in ("client", "server"):
        if record.get(field):
            record[field] = nfsr.ipaddress.ip_address(record[field])
    return record


def layout_agrees():
    layout = tool("layout").decode()
    assert fenced("layout") == layout
    stream = tool("example")
    size = int.from_bytes(stream[12:16], "little")
    assert stream[16 : 16 + size].decode() == layout
    return layout


KSY_TYPES = {
    "u8": "varint", "u16": "varint", "u32": "varint", "u64": "varint", "i32": "zigzag",
    "i64": "zigzag", "bytes": "blob", "text": "blob", "address": "address", "digest": "16",
    "frame": "difference", "time": "difference", "operation": "difference",
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
        seq, _, instances = body.partition("    instances:\n")
        found = re.findall(
            r"- id: (\w+)\n        (?:type|size): (\w+)\n"
            r"        if: \(present.group(\d+) & (0x\w\w)\) != 0",
            seq,
        )
        found = [(i, t, int(g), int(bit, 16)) for i, t, g, bit in found]
        flags = re.findall(r"(\w+):\n        value: \(present.group(\d+) & (0x\w\w)\) != 0", instances)
        flags = [(i, int(g), int(bit, 16)) for i, g, bit in flags]
        want = [
            (f.replace(".", "_"), KSY_TYPES[t], i // 7, 1 << i % 7)
            for i, (f, t) in enumerate(fields)
            if t != "bool"
        ]
        assert found == want, (name, found, want)
        assert seq.count("- id:") == len(want) + 1, name
        assert flags == [(f, i // 7, 1 << i % 7) for i, (f, t) in enumerate(fields) if t == "bool"]


def enumerations(path):
    """{name: [(value, NAME), ...]} of a C header; the one without a name holds the SIGHTING bits."""
    text = re.sub(r"/\*.*?\*/", "", text_of(*path), flags=re.S)
    found = {}
    for name, body in re.findall(r"\benum\s*(\w*)\s*\{(.*?)\}", text, re.S):
        values = []
        for item in body.split(","):
            m = re.fullmatch(r"\s*(\w+) = (\d+)(?: << (\d+))?\s*", item)
            if m:
                values.append((int(m.group(2)) << int(m.group(3) or 0), m.group(1)))
        if values and (name or values[0][1].startswith("SIGHTING")):
            found[name or "SIGHTING"] = values
    return found


def enumerations_agree():
    wanted = enumerations(("engine", "record", "record.h"))
    assert len(wanted) == 7, sorted(wanted)
    wanted["rpc_status"] = enumerations(("engine", "wire", "rpc.h"))["rpc_status"]
    kinds = wanted.pop("record_kind")
    assert [n for n, _ in kinds] == list(range(1, len(kinds) + 1))
    for name, values in wanted.items():
        row = "| `%s` | %s |\n" % (name, ", ".join("%d %s" % v for v in values))
        assert row in SPEC, row


def numbers_agree():
    stream = tool("example")
    assert stream[:8].hex(" ") in SPEC
    assert "[%s]" % ", ".join("0x%02x" % b for b in stream[:8]) in KSY
    assert stream[8:12] == bytes((nfsr.MAJOR, 0, nfsr.MINOR, 0))
    assert "version %d.%d\n" % (nfsr.MAJOR, nfsr.MINOR) in SPEC
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
    stream = tool("example")
    shown = fenced("hexdump")
    assert "\n".join(nfsr.hexdump(io.BytesIO(stream))) + "\n" == shown
    # the bytes themselves, without the second reader's help
    data = b""
    for line in shown.splitlines():
        offset, rest = line.split("  ", 1)
        assert int(offset, 16) == len(data), line
        data += fenced("layout").encode() if rest.startswith("...") else bytes.fromhex(rest[:47])
    assert data == stream
    assert fenced("example").encode() == tool("dump", data=stream)
    assert records_of(stream) == dumped(stream)
    assert len(records_of(stream)) == 9


def readers_agree():
    for seed in range(1, 9):
        stream = tool("random", str(seed), "1500")
        mine = records_of(stream)
        assert mine == dumped(stream)
        assert len(mine) == 1501


def readers_refuse_the_same():
    stream = tool("example")
    choice = random.Random(4)
    bad = [stream[: choice.randrange(len(stream))] for _ in range(60)]
    for _ in range(60):
        at = choice.randrange(len(stream))
        bad.append(stream[:at] + bytes((stream[at] ^ 1 << choice.randrange(8),)) + stream[at + 1 :])
    bad += [stream + b"\0", b"", b"SQLite format 3\0", stream[:8] + b"\2" + stream[9:]]
    for data in bad:
        try:
            records_of(data)
        except nfsr.NfsrError:
            pass
        else:
            raise AssertionError("the second reader takes a bad stream")
        assert tool("dump", data=data, ok=False).returncode == 3


layout_text = layout_agrees()
ksy_agrees(layout_text)
enumerations_agree()
numbers_agree()
example_agrees()
readers_agree()
readers_refuse_the_same()
print("nfsr: specification, table and both readers agree")
