#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""schemas/rdump.md, rdump.ksy, the table in the program and the second reader say the same."""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests", "gen"))
import rdump_file  # noqa: E402
from format_spec import Format, text_of  # noqa: E402


def common_types_agree(ksy):
    """What it has in common with .nfsr streams is the same there."""
    common = text_of("schemas", "nfsr.ksy")
    for name in ("varint", "group", "zigzag", "difference", "blob", "presence"):
        assert re.search(r"\n  %s:\n(?:    .*\n)+" % name, ksy).group(0) in common, name


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


def constants_agree(spec):
    assert row_of(constants("model", "rdump", "rdump.h"), "RDUMP_KNOWS_") in spec
    repair = constants("model", "tree", "repair.h")
    assert row_of(repair, "REPAIR_") in spec
    assert row_of(repair, "UNPLAYABLE_") in spec
    expect = constants("model", "effect", "expect.h")
    assert len(expect) == 14, expect
    for name, value in expect.items():
        assert name == "EXPECT_GROUPS" or "\n| %d | `%s` | " % (value, name) in spec, name
    assert "bit %d w + g is group g of" % expect["EXPECT_GROUPS"] in spec


def module_gives_members(example):
    """Attributes of what rdump_file.read yields are the members of rdump.h's structures."""
    header = re.sub(r"/\*.*?\*/", "", text_of("model", "rdump", "rdump.h"), flags=re.S)
    seen = set()
    with tempfile.NamedTemporaryFile() as file:
        file.write(example)
        file.flush()
        records = list(rdump_file.read(file.name))
    for kind, record in records:
        body = re.search(r"struct rdump_%s \{(.*?)\n\};" % kind, header, re.S).group(1)
        members = re.findall(r"\*?(\w+)(?:\[\d\])?(?=[,;])", body)
        have = set(vars(record)) - {"index"}
        assert have == set(members), (kind, have ^ set(members))
        seen.add(kind)
    assert len(seen) == 7


dumps = Format("rdump", rdump_file.Reader, [os.environ["NFSDIGEST"], "rdump", "--json", "--dump", "-"])
dumps.all_agree(13)
common_types_agree(dumps.ksy)
constants_agree(dumps.spec)
module_gives_members(dumps.tool("example"))
print("rdump: specification, table and both readers agree")
