# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads and writes capture files: pcap (both orders, micro- and nanoseconds) and pcapng.

A packet is (time in ns, captured bytes, length on the wire, link type). Without a time (None) it is one of
pcapng's Simple Packet Blocks, which belong to the first interface.
"""
import collections
import struct

Packet = collections.namedtuple("Packet", "time data wire_len link_type")


def write_pcap(path, packets, link_type=1, snaplen=262144, nanoseconds=True):
    magic = 0xa1b23c4d if nanoseconds else 0xa1b2c3d4
    unit = 1 if nanoseconds else 1000
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", magic, 2, 4, 0, 0, snaplen, link_type))
        for p in packets:
            if p.link_type != link_type:
                raise ValueError("a pcap file has one link type")
            data = p.data[:snaplen]
            out.write(struct.pack("<IIII", p.time // 10**9, p.time % 10**9 // unit, len(data),
                                  p.wire_len))
            out.write(data)


def block(kind, body):
    body += bytes(-len(body) % 4)
    total = 12 + len(body)
    return struct.pack("<II", kind, total) + body + struct.pack("<I", total)


def write_pcapng(path, packets, snaplen=0):
    """One interface for each link type, in nanoseconds (option if_tsresol 9)."""
    interfaces = {}
    with open(path, "wb") as out:
        out.write(block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)))
        for p in packets:
            if p.link_type not in interfaces:
                interfaces[p.link_type] = len(interfaces)
                out.write(block(1, struct.pack("<HHI", p.link_type, 0, snaplen)
                                + struct.pack("<HHI", 9, 1, 9) + struct.pack("<HH", 0, 0)))
            data = p.data[:snaplen] if snaplen else p.data
            if p.time is None:
                if interfaces[p.link_type] or len(data) < min(p.wire_len, snaplen or p.wire_len):
                    raise ValueError("no Simple Packet Block can say this")
                out.write(block(3, struct.pack("<I", p.wire_len) + data))
                continue
            out.write(block(6, struct.pack("<IIIII", interfaces[p.link_type], p.time >> 32,
                                           p.time & 0xffffffff, len(data), p.wire_len) + data))


def read(path):
    """All packets of a capture file, in its order."""
    with open(path, "rb") as file:
        data = file.read()
    magic = data[:4]
    if magic == b"\x0a\x0d\x0d\x0a":
        return read_pcapng(data)
    for order in "<", ">":
        value = struct.unpack(order + "I", magic)[0]
        if value in (0xa1b2c3d4, 0xa1b23c4d):
            return read_pcap(data, order, 1000 if value == 0xa1b2c3d4 else 1)
    raise ValueError("%s: not a capture" % path)


def read_pcap(data, order, unit):
    link_type = struct.unpack_from(order + "I", data, 20)[0] & 0xffff
    packets, at = [], 24
    while at < len(data):
        seconds, fraction, captured, wire = struct.unpack_from(order + "IIII", data, at)
        at += 16
        packets.append(Packet(seconds * 10**9 + fraction * unit, data[at:at + captured], wire,
                              link_type))
        at += captured
    return packets


def resolution(options, order):
    """Nanoseconds a time unit, as a (numerator, denominator), from an interface's options."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 0:
            break
        if code == 9:
            value = options[at + 4]
            return (10**9, 2**(value & 0x7f)) if value & 0x80 else (10**9, 10**value)
        at += 4 + length + -length % 4
    return 1000, 1


def read_pcapng(data):
    packets, at, interfaces, order = [], 0, [], "<"
    while at < len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces = []
        kind, total = struct.unpack_from(order + "II", data, at)
        body = data[at + 8:at + total - 4]
        if kind == 1:
            link_type, _, snaplen = struct.unpack_from(order + "HHI", body)
            interfaces.append((link_type, resolution(body[8:], order), snaplen))
        elif kind == 6:
            interface, high, low, captured, wire = struct.unpack_from(order + "IIIII", body)
            link_type, (up, down), _ = interfaces[interface]
            packets.append(Packet((high << 32 | low) * up // down, body[20:20 + captured], wire,
                                  link_type))
        elif kind == 3:
            wire = struct.unpack_from(order + "I", body)[0]
            link_type, _, snaplen = interfaces[0]
            packets.append(Packet(None, body[4:4 + min(wire, snaplen or wire)], wire, link_type))
        elif kind == 2:
            raise ValueError("pcapng block type %d: not written by anything here" % kind)
        at += total
    return packets
