# SPDX-License-Identifier: GPL-2.0-or-later
"""Ethernet, VLAN, IPv4, IPv6, fragments, UDP and TCP headers around bytes, with right checksums.

Addresses are texts; the version of IP follows from them.
"""
import array
import ipaddress
import struct

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
TCP, UDP = 6, 17
ETHERNET = 1


def checksum(data):
    """RFC 1071, over bytes in network order."""
    if len(data) & 1:
        data += b"\0"
    total = sum(array.array("H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    total = ~total & 0xffff
    return struct.pack("=H", total)


def packed(address):
    return ipaddress.ip_address(address).packed


def pseudo_header(source, destination, protocol, length):
    """RFC 9293 s3.1, RFC 8200 s8.1. A length above 16 bits (offload) is folded away as Linux does."""
    if ":" in source:
        return packed(source) + packed(destination) + struct.pack(">II", length, protocol)
    return packed(source) + packed(destination) + struct.pack(">BBH", 0, protocol, length & 0xffff)


def udp(source, destination, source_port, destination_port, data):
    header = struct.pack(">HHHH", source_port, destination_port, 8 + len(data), 0)
    datagram = header + data
    total = checksum(pseudo_header(source, destination, UDP, len(datagram)) + datagram)
    if total == b"\0\0":
        total = b"\xff\xff"
    return datagram[:6] + total + datagram[8:]


def tcp(source, destination, source_port, destination_port, seq, ack, flags, data=b"",
        window=0xffff, options=b""):
    options += b"\1" * (-len(options) % 4)
    words = (20 + len(options)) // 4
    segment = struct.pack(">HHIIBBHHH", source_port, destination_port, seq & 0xffffffff,
                          ack & 0xffffffff, words << 4, flags, window, 0, 0) + options + data
    total = checksum(pseudo_header(source, destination, TCP, len(segment)) + segment)
    return segment[:16] + total + segment[18:]


def ipv4(source, destination, protocol, payload, ident=0, offset=0, more=False, zero_total=False):
    """|offset| in bytes. |zero_total|: the total length 0 that a capture above 64 KiB shows."""
    total = 20 + len(payload)
    if total > 0xffff or zero_total:
        total = 0
    word = offset // 8 | (0x2000 if more else 0)
    header = struct.pack(">BBHHHBBH", 0x45, 0, total, ident & 0xffff, word, 64, protocol, 0)
    header += packed(source) + packed(destination)
    return header[:10] + checksum(header) + header[12:] + payload


def ipv6(source, destination, protocol, payload):
    length = len(payload) if len(payload) <= 0xffff else 0
    return (struct.pack(">IHBB", 0x60000000, length, protocol, 64) + packed(source)
            + packed(destination) + payload)


def ipv6_fragment(source, destination, protocol, payload, ident, offset, more):
    header = struct.pack(">BBHI", protocol, 0, offset | int(more), ident)
    return ipv6(source, destination, 44, header + payload)


def ethernet(packet, vlans=()):
    """Pads to the 60 bytes that the wire asks for. |vlans|: outer tag first."""
    out = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02"
    for i, vlan in enumerate(vlans):
        out += struct.pack(">HH", 0x88a8 if i < len(vlans) - 1 else 0x8100, vlan)
    out += struct.pack(">H", 0x86dd if packet[0] >> 4 == 6 else 0x0800) + packet
    return out + bytes(max(0, 60 - len(out)))


def internet(source, destination, protocol, payload, ident=0):
    if ":" in source:
        return ipv6(source, destination, protocol, payload)
    return ipv4(source, destination, protocol, payload, ident)


def fragments(source, destination, protocol, payload, ident, size=1480):
    """Yields (packet, start, end): IP fragments with payload[start:end]. |size| is one of 8s."""
    for start in range(0, len(payload), size):
        end = min(start + size, len(payload))
        more = end < len(payload)
        if ":" in source:
            packet = ipv6_fragment(source, destination, protocol, payload[start:end], ident, start,
                                   more)
        else:
            packet = ipv4(source, destination, protocol, payload[start:end], ident, start, more)
        yield packet, start, end
