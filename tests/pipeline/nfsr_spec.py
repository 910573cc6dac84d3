#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""schemas/nfsr.md, nfsr.ksy, the table in the program and the second reader say the same."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests", "gen"))
from format_spec import Format, nfsr, text_of  # noqa: E402


def same_addresses(record):
    """In a form of their own, as texts may differ."""
    for field in ("client", "server"):
        if record.get(field):
            record[field] = nfsr.ipaddress.ip_address(record[field])
    return record


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


def enumerations_agree(spec):
    wanted = enumerations(("engine", "record", "record.h"))
    assert len(wanted) == 8, sorted(wanted)
    wanted["rpc_status"] = enumerations(("engine", "wire", "rpc.h"))["rpc_status"]
    kinds = wanted.pop("record_kind")
    assert [n for n, _ in kinds] == list(range(1, len(kinds) + 1))
    for name, values in wanted.items():
        row = "| `%s` | %s |\n" % (name, ", ".join("%d %s" % v for v in values))
        assert row in spec, row


tool = os.path.join(os.environ["BUILD"], "bin", "tests", "nfsr_tool")
streams = Format("nfsr", nfsr.Reader, [tool, "dump"], same_addresses)
streams.all_agree(9)
enumerations_agree(streams.spec)
print("nfsr: specification, table and both readers agree")
