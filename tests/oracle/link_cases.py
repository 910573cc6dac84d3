# SPDX-License-Identifier: GPL-2.0-or-later
"""Small captures of every link type, tag, tunnel and kind of fragment that engine/link knows.

cases() gives (name, link type, [(captured bytes, length on the wire)]).
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gen"))
import packets  # noqa: E402

A4, B4 = "192.0.2.1", "198.51.100.2"  # not private: Wireshark treats those apart
P4, Q4 = "10.1.2.3", "10.1.2.4"
A6, B6 = "2001:db8::1", "2001:db8:0:1::2"
C6, D6 = "2001:db8:3::3", "2001:db8:4::4"
MAC = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02"
NULL, ETHERNET, PPP, RAW_BSD, PPP_HDLC, PPP_ETHER = 0, 1, 9, 12, 50, 51
RAW, C_HDLC, LOOP, SLL, IPV4, IPV6, NFLOG, SLL2 = 101, 104, 108, 113, 228, 229, 239, 276


def be16(*values):
    return struct.pack(">%dH" % len(values), *values)


def be32(*values):
    return struct.pack(">%dI" % len(values), *values)


def udp(source=A4, destination=B4, size=100, port=9999):
    return packets.udp(source, destination, 40000, port, bytes(i & 255 for i in range(size)))


def tcp(source=A4, destination=B4, size=100, seq=1):
    return packets.tcp(source, destination, 40001, 9998, seq, 1, packets.ACK, bytes(size))


def udp4(size=100, **more):
    return packets.ipv4(A4, B4, 17, udp(size=size), **more)


def tcp4(size=100):
    return packets.ipv4(A4, B4, 6, tcp(size=size))


def udp6(size=100):
    return packets.ipv6(A6, B6, 17, udp(A6, B6, size))


def tcp6(size=100):
    return packets.ipv6(A6, B6, 6, tcp(A6, B6, size))


def ether(ether_type, rest):
    return MAC + be16(ether_type) + rest


def ethernet(packet, vlans=()):
    return packets.ethernet(packet, vlans)


def options4(packet, options):
    """Puts |options| behind an IPv4 header without any."""
    options += bytes(-len(options) % 4)
    head = bytes([packet[0] + len(options) // 4]) + packet[1:2]
    head += be16(len(packet) + len(options)) + packet[4:10] + b"\0\0" + packet[12:20] + options
    return head[:10] + packets.checksum(head) + head[12:] + packet[20:]


def whole(*frames):
    return [(f, len(f)) for f in frames]


def tags():
    four, six = udp4(), tcp6()
    yield "ethernet", ETHERNET, whole(
        ethernet(four), ethernet(six), ethernet(udp4(0)), ethernet(tcp4(0)), ethernet(udp4(1)),
        ether(0x0806, bytes(46)), ether(0x88cc, bytes(46)))
    yield "vlan", ETHERNET, whole(
        ethernet(four, (5,)), ethernet(six, (0x2005,)), ethernet(four, (0,)),
        ethernet(four, (5, 6)), ethernet(six, (5, 6)), ethernet(udp4(3), (5, 6)),
        ether(0x9100, be16(5, 0x8100, 6, 0x0800) + four),
        ether(0x9100, be16(5, 0x9100, 6, 0x88a8, 7, 0x8100, 8, 0x86dd) + six))
    snap = b"\xaa\xaa\x03\0\0\0\x08\0" + four
    snap6 = b"\xaa\xaa\x03\0\0\0\x86\xdd" + six
    tunnelled = b"\xaa\xaa\x03\0\0\xf8\x08\0" + four
    sap = b"\x06\x06\x03" + four
    small = b"\xaa\xaa\x03\0\0\0\x08\0" + udp4(2)
    spanning_tree = b"\x42\x42\x03" + bytes(35)
    yield "802.3", ETHERNET, whole(
        ether(len(snap), snap), ether(len(snap6), snap6), ether(len(tunnelled), tunnelled),
        ether(len(sap), sap), ether(len(small), small + bytes(10)),
        ether(len(spanning_tree), spanning_tree + bytes(8)),
        ether(0x8100, be16(5, len(snap)) + snap))
    ppp = be16(0x0021) + four
    yield "pppoe", ETHERNET, whole(
        ether(0x8864, be16(0x1100, 1, len(ppp)) + ppp),
        ether(0x8864, be16(0x1100, 1, len(six) + 2) + be16(0x57) + six),
        ether(0x8864, be16(0x1100, 1, 8) + be16(0xc021) + bytes(6)))
    label = (99 << 12 | 64)
    yield "mpls", ETHERNET, whole(
        ether(0x8847, be32(label | 0x100) + four), ether(0x8847, be32(label, label | 0x100) + six),
        ether(0x8848, be32(label, label, label | 0x100) + four),
        ether(0x8847, be32(label | 0x100) + bytes(64)), ether(0x8847, be32(label | 0x100)))


def vn_tag(rest):
    return ether(0x8926, be32(0x80010002) + rest)


def i_tag(frame, service=7):
    return ether(0x88a8, be16(9, 0x88e7) + be32(0x40000000 | service) + frame)


def bridges():
    four, six = udp4(), tcp6()
    yield "vn-tag", ETHERNET, whole(
        vn_tag(be16(0x0800) + four), vn_tag(be16(0x8100, 5, 0x86dd) + six), vn_tag(be16(0x0806) + bytes(40)))
    yield "802.1ah", ETHERNET, whole(
        i_tag(ethernet(four)), i_tag(ethernet(six, (3,))), i_tag(ethernet(six, (3, 4))),
        ether(0x88e7, be32(9) + ethernet(four)))
    stack = be32(99 << 12 | 0x140)
    # addresses of no known maker: with one, tshark looks for no control word; and tshark 4.0 takes
    # those that begin with 4 or 6 for IP
    frame, frame6 = (b"\x0e\x11\x22\x33\x44\x55\x0e\x11\x22\x33\x44\x66" + ethernet(p)[12:]
                     for p in (four, six))
    arp = frame[:12] + be16(0x0806) + bytes(46)
    yield "pseudowire", ETHERNET, whole(
        ether(0x8847, stack + be32(0) + frame), ether(0x8847, stack + be32(77) + frame6),
        ether(0x8847, be32(5 << 12) + stack + be32(78) + frame[:12] + be16(0x8100, 5) + frame[12:]),
        ether(0x8847, stack + be32(79) + arp))


def attributes(*pairs):
    """Netfilter's, each padded."""
    return b"".join(struct.pack("<HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)
                    for kind, value in pairs)


def link_types():
    four, six = udp4(), tcp6()
    yield "raw", RAW, whole(four, six, udp4(0))
    yield "raw-bsd", RAW_BSD, whole(four, six)
    yield "ipv4", IPV4, whole(four)
    yield "ipv6", IPV6, whole(six)
    yield "null-little", NULL, whole(*[struct.pack("<I", family) + packet for family, packet in (
        (2, four), (24, six), (28, six), (30, six))])
    yield "null-big", NULL, whole(*[struct.pack(">I", family) + packet for family, packet in (
        (2, four), (24, six), (28, six), (30, six))])
    yield "loop", LOOP, whole(be32(2) + four, be32(24) + six, be32(28) + six, be32(30) + six)

    def sll(protocol, rest, hardware=1):
        return be16(0, hardware, 6) + b"\2\0\0\0\0\1\0\0" + be16(protocol) + rest

    def sll2(protocol, rest, hardware=1):
        return be16(protocol, 0) + be32(3) + be16(hardware) + b"\0\6\2\0\0\0\0\1\0\0" + rest

    for name, kind, cooked in ("sll", SLL, sll), ("sll2", SLL2, sll2):
        yield name, kind, whole(
            cooked(0x0800, four), cooked(0x86dd, six), cooked(0x0800, udp4(1), 772),
            cooked(0x8100, be16(7, 0x0800) + four),
            cooked(0x88a8, be16(7, 0x8100, 8, 0x86dd) + six), cooked(0x0806, bytes(28)))
    four_in, six_in = bytes([2, 0]) + be16(5), bytes([10, 0]) + be16(5)
    first = (1, be16(0x0800) + b"\1\0"), (10, b"prefix\0"), (11, be32(1000))
    yield "nflog", NFLOG, whole(
        four_in + attributes(*first, (9, four)), six_in + attributes(*first, (9, six)),
        four_in + attributes((9, udp4(1))), four_in + attributes((9, four), (14, be32(1))),
        bytes([7, 0]) + be16(5) + attributes(*first, (9, four)))
    ppp = be16(0x0021)
    yield "ppp", PPP, whole(b"\xff\3" + ppp + four, b"\xff\3" + be16(0x57) + six,
                            ppp + four, b"\x21" + four, b"\xff\3" + b"\x57" + six,
                            b"\xff\3" + be16(0xc021) + bytes(8))
    yield "ppp-hdlc", PPP_HDLC, whole(b"\xff\3" + ppp + four, b"\x0f\0\x08\0" + four)
    yield "c-hdlc", C_HDLC, whole(b"\x0f\0\x08\0" + four, b"\x8f\0\x86\xdd" + six)
    yield "ppp-ether", PPP_ETHER, whole(be16(0x1100, 1, len(four) + 2) + ppp + four)


def headers():
    segment, datagram = tcp(A6, B6), udp(A6, B6)

    def hop(next_header, options=b"\1\4\0\0\0\0"):
        return bytes([next_header, len(options) // 8]) + options

    def six(first, rest):
        return ethernet(packets.ipv6(A6, B6, first, rest))

    def route(next_header, kind, left, addresses):
        body = b"".join(packets.packed(a) for a in addresses)
        last = bytes([len(addresses) - 1]) if kind == 4 else b"\0"
        return bytes([next_header, len(body) // 8, kind, left]) + last + bytes(3) + body

    ah = bytes([17, 4]) + bytes(22)
    home = b"\1\2\0\0" + b"\xc9\x10" + packets.packed(C6)
    yield "ipv6-extensions", ETHERNET, whole(
        six(0, hop(6) + segment), six(60, hop(17) + datagram), six(0, hop(60) + hop(6) + segment),
        six(0, hop(17, b"\1\14" + bytes(12)) + datagram), six(51, ah + datagram),
        six(0, hop(51) + ah + datagram), six(59, b""), six(59, bytes(8)),
        six(44, bytes([17, 0, 0, 0]) + be32(77) + datagram),
        six(0, hop(44) + bytes([60, 0, 0, 0]) + be32(78) + hop(17) + datagram),
        six(0, hop(59)), six(58, bytes([128, 0, 0, 0]) + bytes(20)))
    yield "ipv6-routing", ETHERNET, whole(
        six(43, route(17, 0, 1, [C6]) + datagram), six(43, route(17, 0, 0, [C6]) + datagram),
        six(43, route(17, 0, 2, [C6, D6]) + datagram), six(43, route(17, 2, 1, [C6]) + datagram),
        six(43, route(17, 4, 1, [C6, D6]) + datagram), six(43, route(17, 4, 0, [C6, D6]) + datagram),
        six(43, route(44, 0, 1, [D6]) + bytes([17, 0, 0, 0]) + be32(79) + datagram))
    yield "ipv6-home-address", ETHERNET, whole(six(60, bytes([17, 2]) + home + datagram))
    jumbo = b"\xc2\4" + be32(8 + 66008)
    big = packets.udp(A6, B6, 40000, 9999, bytes(65000)) + bytes(1000)
    yield "ipv6-jumbogram", ETHERNET, whole(
        six(0, b"")[:18] + be16(0) + six(0, b"")[20:54] + bytes([17, 0]) + jumbo + big)
    yield "offload", ETHERNET, whole(
        ethernet(packets.ipv4(A4, B4, 6, tcp(size=3000), zero_total=True)),
        ethernet(packets.ipv4(A4, B4, 6, tcp(size=70000))),
        ethernet(packets.ipv6(A6, B6, 6, tcp(A6, B6, 70000))))
    lsrr = b"\1" + bytes([131, 11, 4]) + packets.packed(P4) + packets.packed(Q4)
    used = bytes([137, 7, 8]) + packets.packed(P4)
    yield "ipv4-options", ETHERNET, whole(
        ethernet(options4(udp4(), b"\x94\4\0\0")), ethernet(options4(udp4(), lsrr)),
        ethernet(options4(udp4(), used)), ethernet(options4(udp4(), b"\0" + lsrr[1:])),
        ethernet(options4(tcp4(), b"\1" * 40)), ethernet(packets.ipv4(A4, B4, 51, ah + udp())))
    four = udp4()
    yield "ipv4-odd", ETHERNET, whole(
        ethernet(b"\x44" + four[1:]), ethernet(four[:2] + be16(19) + four[4:]),
        ethernet(four[:2] + be16(20) + four[4:]), ethernet(four[:2] + be16(500) + four[4:]),
        ethernet(b"\x55" + four[1:]), ether(0x86dd, four), ether(0x0800, tcp6()),
        ethernet(packets.ipv4(A4, B4, 50, bytes(40))), ethernet(packets.ipv4(A4, B4, 132, bytes(40))))
    error = bytes([3, 3, 0, 0, 0, 0, 0, 0]) + four
    error6 = bytes([1, 4, 0, 0, 0, 0, 0, 0]) + udp6()
    yield "icmp", ETHERNET, whole(
        ethernet(packets.ipv4(A4, B4, 1, error)), ethernet(packets.ipv6(A6, B6, 58, error6)))


def gre(protocol, rest, checksum=False, key=None, sequence=None):
    flags = checksum * 0x8000 | (key is not None) * 0x2000 | (sequence is not None) * 0x1000
    out = be16(flags, protocol)
    if checksum:
        out += be32(0)
    if key is not None:
        out += be32(key)
    if sequence is not None:
        out += be32(sequence)
    return out + rest


def vxlan(frame, vni=42, port=4789):
    return packets.udp(P4, Q4, 50000, port, be32(0x08000000, vni << 8) + frame)


def geneve(kind, rest, options=b""):
    head = bytes([len(options) // 4, 0]) + be16(kind) + be32(42 << 8)
    return packets.udp(P4, Q4, 50000, 6081, head + options + rest)


def tunnels():
    four, six = udp4(), tcp6()

    def outer(protocol, rest):
        return ethernet(packets.ipv4(P4, Q4, protocol, rest))

    def outer6(protocol, rest):
        return ethernet(packets.ipv6(C6, D6, protocol, rest))

    yield "ip-in-ip", ETHERNET, whole(
        outer(4, four), outer(41, six), outer6(4, four), outer6(41, six),
        outer(4, packets.ipv4(A4, B4, 41, six)), outer6(60, b"\4\0\1\4\0\0\0\0" + four),
        outer(137, be32(99 << 12 | 0x140) + four))
    yield "gre", ETHERNET, whole(
        outer(47, gre(0x0800, four)), outer(47, gre(0x86dd, six)),
        outer(47, gre(0x0800, four, checksum=True)), outer(47, gre(0x0800, four, key=9)),
        outer(47, gre(0x0800, four, sequence=9)),
        outer(47, gre(0x86dd, six, checksum=True, key=1, sequence=2)),
        outer(47, gre(0x6558, ethernet(four))), outer(47, gre(0x6558, ethernet(six, (9,)), key=3)),
        outer6(47, gre(0x0800, four)), outer(47, gre(0x8847, be32(99 << 12 | 0x140) + four)),
        outer(47, gre(0x0800, outer(47, gre(0x86dd, six))[14:])))
    erspan = be16(0x1005, 7) + be32(0)
    erspan3 = be16(0x2005, 7) + be32(0) + be16(0, 0)
    yield "erspan", ETHERNET, whole(
        outer(47, gre(0x88be, erspan + ethernet(four), sequence=1)),
        outer(47, gre(0x22eb, erspan3 + ethernet(six), sequence=1)),
        outer(47, gre(0x22eb, erspan3[:11] + b"\1" + bytes(8) + ethernet(six), sequence=1)))
    pptp = be16(0x3081, 0x880b, len(four) + 4, 5) + be32(1, 1) + b"\xff\3" + be16(0x21) + four
    yield "pptp", ETHERNET, whole(outer(47, pptp))
    yield "vxlan", ETHERNET, whole(
        outer(17, vxlan(ethernet(four))), outer(17, vxlan(ethernet(six, (7,)))),
        outer(17, vxlan(ethernet(udp4(1)))), outer(17, vxlan(ether(0x0806, bytes(46)))),
        ethernet(packets.ipv6(C6, D6, 17, packets.udp(
            C6, D6, 50000, 4789, be32(0x08000000, 42 << 8) + ethernet(four)))),
        outer(17, vxlan(outer(17, vxlan(ethernet(six), 7)), 8)))
    yield "geneve", ETHERNET, whole(
        outer(17, geneve(0x6558, ethernet(four))), outer(17, geneve(0x6558, ethernet(six, (7,)))),
        outer(17, geneve(0x0800, four)), outer(17, geneve(0x86dd, six)),
        outer(17, geneve(0x6558, ethernet(udp4(1)), be32(0x01020301, 5, 0x01020380))),
        outer(17, geneve(0x6558, ethernet(four), bytes(252))),
        outer(17, geneve(0x6558, ether(0x0806, bytes(46)))),
        outer(17, geneve(0x6558, outer(17, vxlan(ethernet(six), 7)))))
    pieces = [p for p, _, _ in packets.fragments(P4, Q4, 17, vxlan(ethernet(udp4(1400))), 5, 800)]
    inner = [p for p, _, _ in packets.fragments(A4, B4, 17, udp(size=3000), 6, 1400)]
    yield "tunnelled-fragments", ETHERNET, whole(
        *[ethernet(p) for p in pieces], *[outer(17, vxlan(ethernet(p))) for p in inner],
        *[outer(47, gre(0x0800, p)) for p in inner], *[outer(4, p) for p in inner])


def split(source, destination, size, ident, step=800, protocol=17):
    payload = udp(source, destination, size)
    return [p for p, _, _ in packets.fragments(source, destination, protocol, payload, ident, step)]


def fragments():
    for name, a, b in ("ipv4", A4, B4), ("ipv6", A6, B6):
        def many(ident, size=5000):
            return split(a, b, size, ident)

        def case(kind, *parts):
            return name + "-fragments-" + kind, ETHERNET, whole(*[ethernet(p) for p in parts])

        one, two = many(1), many(2)
        yield case("in-order", *one)
        yield case("reversed", *reversed(one))
        yield case("shuffled", *[one[i] for i in (3, 0, 6, 1, 5, 2, 4)])
        yield case("interleaved", *[p for pair in zip(one, two) for p in pair])
        yield case("duplicates", one[0], one[0], one[1], one[0], *one[1:])
        yield case("twice", *(one + one))
        yield case("incomplete", *(one[:3] + one[4:]), *two)
        yield case("resent", *(one[:3] + one[4:] + [one[3]]))
        yield case("small", *split(a, b, 1, 3, 8))
        coarse, fine = split(a, b, 5000, 4, 1600), split(a, b, 5000, 4, 808)
        yield case("overlapping", coarse[0], *fine[1:], coarse[1])
        other = [p for p in many(1)]
        yield case("overlapping-otherwise", fine[0], coarse[0], fine[2], fine[3], *coarse[1:])
        yield case("addresses", one[0], split(b, a, 5000, 1)[1], *other[1:])
        cut = [(ethernet(p)[:200], len(ethernet(p))) for p in one]
        yield name + "-fragments-cut", ETHERNET, cut + whole(*[ethernet(p) for p in two])
    for vlans in ((5, 6), (5, 0)):
        one = split(A4, B4, 3000, 1)
        yield "fragments-vlan-%d-%d" % vlans, ETHERNET, whole(
            *[ethernet(p, (vlan,)) for p in one for vlan in vlans])
        one = split(P4, Q4, 3000, 1)
        yield "private-fragments-vlan-%d-%d" % vlans, ETHERNET, whole(
            *[ethernet(p, (vlan,)) for p in one for vlan in vlans])
        one = split(A6, B6, 3000, 1)
        yield "ipv6-fragments-vlan-%d-%d" % vlans, ETHERNET, whole(
            *[ethernet(p, (vlan,)) for p in one for vlan in vlans])
    one = packets.fragments(A4, B4, 17, udp(size=3000), 1, 800)
    two = packets.fragments(A4, B4, 6, tcp(size=3000), 1, 800)
    yield "fragments-two-protocols", ETHERNET, whole(
        *[ethernet(p) for pair in zip(one, two) for p, _, _ in pair])
    payload = bytes([17, 0, 1, 4, 0, 0, 0, 0]) + udp(A6, B6, 3000)
    yield "ipv6-fragmented-extension", ETHERNET, whole(
        *[ethernet(p) for p, _, _ in packets.fragments(A6, B6, 60, payload, 9, 800)])


def truncated():
    """Every kind of header cut at every length."""
    datagram = ethernet(packets.ipv4(P4, Q4, 17, vxlan(ethernet(tcp4(), (9,)))), (5, 6))
    yield "cut-vxlan", ETHERNET, [(datagram[:n], len(datagram)) for n in range(1, len(datagram))]
    datagram = ethernet(packets.ipv4(P4, Q4, 17, geneve(0x6558, ethernet(tcp4()), bytes(8))))
    yield "cut-geneve", ETHERNET, [(datagram[:n], len(datagram)) for n in range(1, len(datagram))]
    six = ethernet(packets.ipv6(A6, B6, 0, bytes([60, 0, 1, 4, 0, 0, 0, 0])
                                + bytes([6, 0, 1, 4, 0, 0, 0, 0]) + tcp(A6, B6)))
    yield "cut-ipv6", ETHERNET, [(six[:n], len(six)) for n in range(1, len(six))]
    tunnel = ethernet(packets.ipv4(P4, Q4, 47, gre(0x0800, options4(udp4(), b"\x94\4\0\0"), True, 1, 2)))
    yield "cut-gre", ETHERNET, [(tunnel[:n], len(tunnel)) for n in range(1, len(tunnel))]


def cases():
    for part in tags, bridges, link_types, headers, tunnels, fragments, truncated:
        yield from part()
