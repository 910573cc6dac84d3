#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""Whatever an anonymized file has beside its messages that the anonymizer would not have written
there is found: a few bytes are hidden in each place that a format offers, with right checksums.
Environment: NFSDIGEST."""
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_lib  # noqa: E402
import audit_plants  # noqa: E402
import audit_twin as t  # noqa: E402
import remade  # noqa: E402
from audit_twin import World  # noqa: E402

HIDDEN = b"\x07q\x91\x0e"  # tells nothing by itself
TCP_DATA, UDP6 = 30, -1  # frames
block, pad = t.capfile.block, t.m.pad


def in_frame(which, at, hidden, mend=True):
    """The frame's bytes from |at| on."""
    def change(frames):
        data = frames[which].data
        data = data[:at] + hidden + data[at + len(hidden):]
        frames[which] = frames[which]._replace(data=remade.mended(data) if mend else data)
    return lambda path: audit_plants.twin_with(change).write(path)


def trailer(path):
    def change(frames):
        data = frames[TCP_DATA].data + HIDDEN
        frames[TCP_DATA] = frames[TCP_DATA]._replace(data=data, wire_len=len(data))
    audit_plants.twin_with(change).write(path)


def in_file(change):
    """|change|: of the list of blocks."""
    def write(path):
        World(True).write(path)
        blocks = remade.blocks(path)
        change(blocks)
        pathlib.Path(path).write_bytes(b"".join(blocks))
    return write


def further(at, kind, body):
    return in_file(lambda blocks: blocks.insert(at, block(kind, body)))


def option(at, code, data):
    """An option before the end of options of block |at|."""
    def change(blocks):
        old = blocks[at]
        body = old[8:-4]
        end = b"" if old[0] == 6 else body[-4:]
        body = body if old[0] == 6 else body[:-4]
        made = struct.pack("<HH", code, len(data)) + pad(data)
        blocks[at] = block(struct.unpack_from("<I", old)[0],
                           body + made + (end or struct.pack("<HH", 0, 0)))
    return in_file(change)


def packet_padding(path):
    def change(blocks):
        at = next(i for i, b in enumerate(blocks)
                  if b[0] == 6 and struct.unpack_from("<I", b, 20)[0] % 4)
        blocks[at] = blocks[at][:-5] + b"\x07" + blocks[at][-4:]
    in_file(change)(path)


def comment(text):
    def write(path):
        world = World(True)
        world.comment += text
        world.write(path)
    return write


def later_end(blocks):
    at = struct.unpack_from("<I", blocks[-1], 16)[0] + 1
    blocks[-1] = blocks[-1][:16] + struct.pack("<I", at) + blocks[-1][20:]


def unopened(path):
    """An acknowledgement with numbers of its own."""
    def change(frames):
        data = bytearray(frames[TCP_DATA].data[:54])
        data[34:36] = b"\x03\x09"
        data[38:46] = HIDDEN * 2
        data[16:18] = struct.pack(">H", 40)
        data[47] = t.packets.ACK
        frames.insert(TCP_DATA, frames[TCP_DATA]._replace(data=remade.mended(bytes(data)), wire_len=54))
    audit_plants.twin_with(change).write(path)


def repeated(frames):
    """A datagram with the identification of another one between the same ends; those behind it are
    counted on from there, so that none is left out."""
    seen, back = {}, 0
    for i, frame in enumerate(frames):
        data = frame.data
        if data[12:14] != b"\x08\0" or data[23] != t.packets.UDP:
            continue
        number = struct.unpack_from(">H", data, 18)[0] - back
        if not back and data[26:38] in seen:
            number, back = seen[data[26:38]], 1
        seen[data[26:38]] = number
        frames[i] = frame._replace(data=remade.mended(data[:18] + struct.pack(">H", number)
                                                      + data[20:]))


def check_identifications(original, path, wrong):
    """With UDP over IPv4, the only one that has them."""
    ends = t.CLIENT6, t.SERVER6
    t.CLIENT6, t.SERVER6 = "10.20.30.42", "10.20.30.8"
    World(False).write(original)
    World(True).write(path)
    found = audit_lib.found(audit_lib.report(original, path))
    if found:
        wrong.append("UDP over IPv4 is not clean: %s" % sorted(found))
    audit_plants.twin_with(repeated).write(path)
    found = audit_lib.found(audit_lib.report(original, path))
    if ("form", "ip") not in found:
        wrong.append("a repeated identification: %s" % sorted(found))
    t.CLIENT6, t.SERVER6 = ends


def totals(path):
    world = World(True)
    world.totals += "messages.hidden_word 7\nabc 1\n"
    world.write(path)


PLANTS = {
    "a custom block": ("block", further(9, 0xbad, struct.pack("<I", 32473) + HIDDEN)),
    "a name resolution block": ("block", further(2, 4, struct.pack("<HH", 1, 8) + HIDDEN * 2
                                                 + bytes(4))),
    "a second interface": ("block", further(2, 1, struct.pack("<HHI", 1, 0, 0))),
    "a block behind the end": ("block", in_file(lambda b: b.append(block(0xbad, HIDDEN)))),
    "no end": ("block", in_file(lambda b: b.pop())),
    "a packet's comment": ("option", option(20, 1, HIDDEN)),
    "a packet's flags": ("option", option(20, 2, HIDDEN)),
    "a section's option": ("option", option(0, 2, HIDDEN)),
    "an interface's option": ("option", option(1, 3, HIDDEN)),
    "a statistics' option": ("option", option(-1, 1, HIDDEN)),
    "the end's time": ("block", in_file(later_end)),
    "a longer comment": ("option", comment("\nx")),
    "further totals": ("option", totals),
    "packet padding": ("padding", packet_padding),
    "a trailer": ("ip", trailer),
    "a MAC": ("hardware", in_frame(TCP_DATA, 2, HIDDEN)),
    "a class of service": ("ip", in_frame(TCP_DATA, 15, b"\x07")),
    "an identification": ("ip", in_frame(TCP_DATA, 18, HIDDEN[:2])),
    "IP flags": ("ip", in_frame(TCP_DATA, 20, b"\0")),
    "a TTL": ("ip", in_frame(TCP_DATA, 22, b"\x3f")),
    "an IPv6 flow label": ("ip", in_frame(UDP6, 15, b"\x07q")),
    "an IPv6 hop limit": ("ip", in_frame(UDP6, 21, b"\x07")),
    "IP checksum": ("checksum", in_frame(TCP_DATA, 24, HIDDEN[:2], False)),
    "TCP checksum": ("checksum", in_frame(TCP_DATA, 50, HIDDEN[:2], False)),
    "UDP checksum": ("checksum", in_frame(UDP6, 60, HIDDEN[:2], False)),
    "a SYN's options": ("tcp", in_frame(0, 58, HIDDEN)),
    "a SYN's sequence number": ("tcp", in_frame(0, 38, HIDDEN)),
    "a connection without a SYN": ("tcp", unopened),
    "an acknowledgement": ("tcp", in_frame(TCP_DATA, 42, HIDDEN)),
    "a window": ("tcp", in_frame(TCP_DATA, 48, HIDDEN[:2])),
    "an urgent pointer": ("tcp", in_frame(TCP_DATA, 52, HIDDEN[:2])),
    "flags of TCP": ("tcp", in_frame(TCP_DATA, 46, b"\x59")),
}


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        original, path = scratch + "/original.pcapng", scratch + "/twin.pcapng"
        World(False).write(original)
        for name, (cls, write) in PLANTS.items():
            if sys.argv[1:] and name not in sys.argv[1:]:
                continue
            write(path)
            found = audit_lib.found(audit_lib.report(original, path))
            if ("form", cls) not in found:
                wrong.append("%s: no finding of form, %s: %s" % (name, cls, sorted(found)))
        check_identifications(original, path, wrong)
    for line in wrong:
        print(line)
    print("%d plants, %d wrong" % (len(PLANTS), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
