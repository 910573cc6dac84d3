# SPDX-License-Identifier: GPL-2.0-or-later
"""Anonymized captures with other values in them: what the anonymizer wrote, taken apart and put
together again with right lengths, sequence numbers, checksums and hardware addresses.

    made = remade.Capture("released.pcapng")
    made.messages(lambda message: message.replace(b"one", b"another"))
    made.write("changed.pcapng")

What is changed: the bytes of whole messages (records without their marks, or datagrams), frames,
blocks.  Messages of which something was cut off stay as they are.
"""
import pathlib
import struct

import capfile
import packets

ETHERNET, PACKET, SEGMENT = 14, 6, 64000
HEAD = 28  # of an enhanced packet block


class Frame:
    """|payload|: of TCP or UDP; |seq| and |ack| follow from the lengths before."""

    def __init__(self, block):
        self.time = block[12:20]
        captured, self.wire_len = struct.unpack_from("<II", block, 20)
        data = self.data = block[HEAD:HEAD + captured]
        self.v6 = data[12:14] == b"\x86\xdd"
        self.next = ETHERNET + (40 if self.v6 else 20)
        self.tcp = data[20 if self.v6 else 23] == packets.TCP
        self.head = self.next + ((data[self.next + 12] >> 4) * 4 if self.tcp else 8)
        self.payload, self.cut = data[self.head:], captured < self.wire_len
        self.ends = data[self.next - (32 if self.v6 else 8):self.next], data[self.next:self.next + 4]
        half = len(self.ends[0]) // 2
        self.other = (self.ends[0][half:] + self.ends[0][:half],
                      self.ends[1][2:] + self.ends[1][:2])
        self.flags = data[self.next + 13] if self.tcp else 0


def mended(data):
    """The frame with right lengths and checksums."""
    v6 = data[12:14] == b"\x86\xdd"
    head, width = (40, 16) if v6 else (20, 4)
    data = bytearray(data)
    if not v6:
        data[24:26] = b"\0\0"
        data[24:26] = packets.checksum(bytes(data[14:34]))
    ends = bytes(data[14 + head - 2 * width:14 + head])
    protocol = data[20] if v6 else data[23]
    at = 14 + head + (16 if protocol == packets.TCP else 6)
    length = struct.unpack_from(">H", data, 18 if v6 else 16)[0] - (0 if v6 else 20)
    data[at:at + 2] = b"\0\0"
    total = packets.checksum(ends + struct.pack(">II", length, protocol)
                             + bytes(data[14 + head:14 + head + length]))
    data[at:at + 2] = b"\xff\xff" if protocol == packets.UDP and total == b"\0\0" else total
    return bytes(data)


def blocks(path):
    data, out, at = pathlib.Path(path).read_bytes(), [], 0
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 4)[0]
        out.append(data[at:at + length])
        at += length
    return out


def is_packet(block):
    return block[0] == PACKET


class Capture:
    def __init__(self, path):
        self.blocks = blocks(path)

    def write(self, path):
        pathlib.Path(path).write_bytes(b"".join(self.blocks))

    def frames(self, change):
        """|change|: a frame's number from 0 and its bytes -> bytes; what is not mended there stays
        so.  A frame that gets longer on the wire does so in the block, too."""
        number = 0
        for i, block in enumerate(self.blocks):
            if not is_packet(block):
                continue
            captured, wire = struct.unpack_from("<II", block, 20)
            data = change(number, block[HEAD:HEAD + captured])
            wire += len(data) - captured
            self.blocks[i] = capfile.block(PACKET, block[8:20] + struct.pack("<II", len(data), wire)
                                           + data + bytes(-len(data) % 4))
            number += 1

    def messages(self, change):
        """|change|: of the bytes of each whole message."""
        out, parts, moved = [], [], {}
        for block in self.blocks:
            if not is_packet(block):
                out.append(block)
                continue
            frame = Frame(block)
            parts.append(frame)
            if frame.tcp and frame.payload and not frame.flags & packets.PSH:
                continue
            out += self.put(parts, change, moved)
            parts = []
        self.blocks = out

    @staticmethod
    def put(parts, change, moved):
        """|parts|: the frames of one message; |moved|: by how much sequence numbers of a side have
        moved."""
        first = parts[0]
        before = b"".join(p.payload for p in parts)
        if first.flags & packets.SYN:
            moved[first.ends] = 0
        if not before or any(p.cut for p in parts):
            payloads = [p.payload for p in parts]
        elif first.tcp:
            message = change(before[4:])
            after = struct.pack(">I", 0x80000000 | len(message)) + message
            payloads = [after[i:i + SEGMENT] for i in range(0, len(after), SEGMENT)]
        else:
            payloads = [change(before)]
        seq = moved.get(first.ends, 0)
        start = struct.unpack_from(">I", first.data, first.next + 4)[0] if first.tcp else 0
        out, at = [], 0
        for i, payload in enumerate(payloads):
            frame = parts[min(i, len(parts) - 1)]
            data = bytearray(frame.data[:frame.head] + payload)
            missing = frame.wire_len - len(frame.data)
            wire = len(data) + missing
            struct.pack_into(">H", data, ETHERNET + (4 if frame.v6 else 2),
                             wire - ETHERNET - (40 if frame.v6 else 0))
            if frame.tcp:
                ack = struct.unpack_from(">I", data, frame.next + 8)[0]
                if frame.flags & packets.ACK:
                    ack += moved.get(frame.other, 0)
                struct.pack_into(">II", data, frame.next + 4, start + seq + at & 0xffffffff,
                                 ack & 0xffffffff)
                if payload and len(payloads) > 1:
                    data[frame.next + 13] = packets.ACK | (packets.PSH if i == len(payloads) - 1
                                                           else 0)
                elif before:
                    data[frame.next + 13] = frame.flags | packets.PSH
            else:
                struct.pack_into(">H", data, frame.next + 4, wire - frame.next)
            at += len(payload) + missing
            data = mended(bytes(data))
            out.append(capfile.block(PACKET, bytes(4) + frame.time
                                     + struct.pack("<II", len(data), wire) + data
                                     + bytes(-len(data) % 4)))
        if first.tcp:
            moved[first.ends] = seq + at - sum(len(p.payload) + p.wire_len - len(p.data)
                                               for p in parts)
        return out
