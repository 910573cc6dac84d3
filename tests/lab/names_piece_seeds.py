#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the corpus of tests/fuzz/fuzz_names_piece.c: short pieces of short captures, with what they need of their
borders and orders.

    tests/lab/names_piece_seeds.py build/bin/nfsdigest tests/fuzz/corpus/fuzz_names_piece
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "gen")]

import cut_cases  # noqa: E402
import messages as m  # noqa: E402

ROOT, DIRECTORY, FILE = m.handle(1), m.handle(2), m.handle(7)


class Short(cut_cases.Cut):
    def noise(self, count=0):
        super().noise(1)


def named(c, flow, xid):
    flow.pair(xid, m.LOOKUP, m.lookup_args(DIRECTORY, b"file"), m.lookup_res(FILE, 7))
    c.get(flow, xid + 1)


def work(c):
    """Names, a call that waits over both borders, one that is sent again, a reply whose call is lost."""
    flow, other = c.tcp(), c.udp(cut_cases.B)
    named(c, flow, 1)
    waits = c.ask(flow, 3)
    again = c.ask(other, 4)
    cut_cases.acknowledge(flow)
    c.lead()
    c.border()
    other.repeat_call(again)
    c.answer(other, again)
    c.answer(other, c.ask(other, 5, lost=True))
    c.lead()
    c.border()
    c.answer(flow, waits)
    named(c, flow, 6)


def two_servers(c):
    for number, server in enumerate(("10.0.0.9", "10.0.0.8")):
        named(c, c.udp(server=server, port=801 + number), 10 * number)
        c.ask(c.udp(server=server, port=803 + number), 5)
    for _ in range(2):
        c.lead()
        c.border()
        named(c, c.udp(cut_cases.B), 30)


def order(path):
    """(lead operations, lead connections, numbers, calls as (id, frame, xid))"""
    data = path.read_bytes()
    lead, flows = struct.unpack_from("<QQ", data, 16)
    size = struct.unpack_from("<I", data, 40)[0]
    turns, data, calls, last = data[44:44 + size], data[44 + size:], [], [0, 0]
    size, at = struct.unpack_from("<I", data)[0], 4
    while at < 4 + size:
        for i in range(2):
            value = shift = 0
            while True:
                value |= (data[at] & 127) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 128:
                    break
            last[i] += (value >> 1) ^ -(value & 1) if i else value
        calls.append((*last, struct.unpack_from("<I", data, at)[0]))
        at += 4
    return lead, flows, turns, calls


def payload(path):
    """The records of the one block."""
    data = path.read_bytes()
    at = 16 + struct.unpack_from("<I", data, 12)[0] + 8
    size = struct.unpack_from("<I", data, at + 20)[0]
    assert data[at:at + 4] == b"NFRB" and len(data) == at + 24 + size + 8, path
    return data[at + 24:at + 24 + size]


def piece(name, made, continues):
    lead, flows, turns, calls = order(name.with_suffix(".order"))
    seed = bytes([continues, made["lead_in_frames"], lead, flows, made["operations"], made["waiting"]])
    seed += struct.pack("<H", made["frames"]) + bytes([len(turns)]) + turns + bytes([len(calls)])
    last = (0, 0, 0)
    for call in calls:
        seed += bytes([call[0] - last[0] - 1, (call[1] - last[1]) & 255, (call[2] - last[2]) & 255])
        last = call
    records = payload(name.with_suffix(".nfsr"))
    return seed + struct.pack("<H", len(records)) + records


def seeds(program, folder, fill, continues):
    cut = Short()
    fill(cut)
    capture = folder / "c.pcap"
    cut.trace.write(capture)
    at = cut.offsets()
    ends = [at[1], at[3], None]
    out = b""
    for number, end in enumerate(ends):
        span = ["--from", str(ends[number - 1])] if number else []
        span += ["--to", str(end)] if end else ["--last"]
        if number and continues:
            span += ["--continue", folder / f"p{number - 1}"]
        elif number:
            span += ["--lead-in", str(ends[number - 1] - at[2 * number - 2]), "--lead-in-time", "0s"]
        made = subprocess.run([program, "piece", "--json", "-o", folder / f"p{number}", *span, capture], check=True,
                              stdout=subprocess.PIPE)
        out += piece(folder / f"p{number}", json.loads(made.stdout), bool(number and continues))
    return out


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    corpus.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for fill in work, two_servers:
            for continues in False, True:
                name = fill.__name__ + ("-continued" if continues else "")
                (corpus / name).write_bytes(seeds(program, pathlib.Path(folder), fill, continues))


if __name__ == "__main__":
    main()
