# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures full of marked secrets, for the anonymizer: messages of every kind with all that is
strange about names, credentials, replies, and captures.  Each function makes one capture and
returns a Marked."""
import ipaddress
import struct

import capfile
import craft
import marked
import packets
import xdr
from craft_nfs import Nfs3
from xdr import array, boolean, linked, opaque, optional, string, u32, u64

NFS, MOUNT, PORTMAP, NLM, ACL = 100003, 100005, 100000, 100021, 100227
START, STEP = 1_700_000_000_000_000_000, 1_000_000
SEGMENT = 30000


class Marked:
    """|packets| of Ethernet; |readable|: stock tshark can read all of it."""

    def __init__(self, seed):
        self.secrets = marked.Secrets(seed)
        self.values = marked.MarkedValues(self.secrets)
        self.nfs = Nfs3(self.values)
        self.packets, self.readable = [], True
        self.xid, self.seq = 0x00C0DE00, {}
        self.hosts = [self.host(60 + i) for i in range(2)]
        self.hardware = [self.secrets.raw(6, "hardware address") for _ in range(2)]

    def host(self, first):
        """An IPv4 address that must not get out: not in network order, nor reversed, nor as text."""
        rest = bytes(self.secrets.random.randrange(100, 255) for _ in range(3))
        address = bytes([first]) + rest
        text = ".".join(map(str, address))
        for form in (address, address[::-1]):
            self.secrets.note(form, "host " + text)
        self.secrets.note(text.encode(), "host as text", len(text))
        return text

    def move_to_ipv6(self):
        """All that follows is between two other hosts."""
        self.hosts = []
        for _ in range(2):
            address = ipaddress.IPv6Address(b"\x26\x20" + self.secrets.raw(14, "IPv6 address"))
            self.secrets.note(str(address).encode(), "IPv6 address as text")
            self.hosts.append(str(address))

    def next_xid(self):
        self.xid += 1
        return self.xid

    def frame(self, packet, kept=None, hardware=True):
        """|kept|: so much of the frame was captured."""
        data = packets.ethernet(packet)
        if hardware:
            data = self.hardware[0] + self.hardware[1] + data[12:]
        time = START + len(self.packets) * STEP
        self.packets.append(capfile.Packet(time, data[:kept], len(data), packets.ETHERNET))

    def udp(self, message, port=2049, back=False, kept=None, client_port=701):
        """|kept|: of the message."""
        ends = (self.hosts[1], self.hosts[0], port, client_port) if back else \
            (self.hosts[0], self.hosts[1], client_port, port)
        self.frame(packets.internet(ends[0], ends[1], packets.UDP, packets.udp(*ends, message),
                                    len(self.packets)),
                   None if kept is None else 14 + 20 + 8 + kept)

    def tcp(self, message, port=2049, back=False, kept=None, client_port=801, marks=True):
        ends = (self.hosts[1], self.hosts[0], port, client_port) if back else \
            (self.hosts[0], self.hosts[1], client_port, port)
        here, there = ends, (ends[1], ends[0], ends[3], ends[2])
        data = u32(0x80000000 | len(message)) + message if marks else message
        # timestamps tell how long a machine is up
        options = b"\x01\x01\x08\x0a" + self.secrets.raw(8, "TCP timestamps")
        seq = self.seq.setdefault(here, self.secrets.number(4, "sequence number"))
        self.seq.setdefault(there, self.secrets.number(4, "sequence number"))
        for at in range(0, len(data), SEGMENT):
            self.frame(packets.internet(ends[0], ends[1], packets.TCP, packets.tcp(
                *ends, seq + at, self.seq[there], packets.ACK, data[at:at + SEGMENT],
                options=options), len(self.packets)),
                       None if kept is None else 14 + 20 + 32 + 4 + kept)
        self.seq[here] += len(data)

    def pair(self, program, version, procedure, arguments, result, port=2049, send=None, **options):
        """A call and its reply; |options| are of xdr.call."""
        send = send or self.udp
        xid = self.next_xid()
        options.setdefault("credential", marked.sys_credential(self.secrets))
        send(xdr.call(xid, program, version, procedure, arguments, **options), port)
        send(xdr.reply(xid, result), port, back=True)

    def write(self, path):
        capfile.write_pcap(path, self.packets)
        return path


def procedures():
    """Every procedure of every program, all arms of all results."""
    m = Marked(1)
    for program, version, port, cases in craft.PROGRAMS:
        for procedure, arguments, result in cases(m.values):
            m.pair(program, version, procedure, arguments, result, port)
    return m


def names():
    """Names of every kind, in every place of a name."""
    m = Marked(2)
    word = m.secrets.word
    plain = [word(8), word(20), word(255), word(31) + b".c", word(12) + b".tar.gz",
             b".nfs" + word(20), b"." + word(12), word(9) + b" " + word(9), word(9) + b"\n" + word(9),
             word(9) + b"\\" + word(9), word(9) + b"%s%n" + word(9), b"'" + word(9) + b"\"<&>",
             "\u00fc\u00df\u20ac\U0001f600".encode() * 3 + word(9), m.secrets.raw(20, "name"),
             b"\xff\xfe" + word(10), b"\xc3" + word(10), word(9) + b"\0" + word(9),
             word(200) + b"." + word(30), b".", b"..", b"", b"a", b"\xff"]
    for name in plain:
        for procedure in (3, 12):
            m.pair(NFS, 3, procedure, m.nfs.handle() + string(name),
                   u32(2) + (m.nfs.attr() if procedure == 3 else m.nfs.wcc()))
        m.pair(NFS, 3, 14, m.nfs.handle() + string(name) + m.nfs.handle() + string(plain[0]),
               u32(0) + m.nfs.wcc() + m.nfs.wcc())
    entries = [u64(7) + string(name) + u64(8) for name in plain]
    m.pair(NFS, 3, 16, m.nfs.handle() + u64(0) + bytes(8) + u32(8192),
           u32(0) + m.nfs.attr() + bytes(8) + linked(entries) + boolean(True))
    paths = [word(9), b"/" + word(9) + b"/" + word(9), b"../" + word(9) + b"/../" + word(9),
             b"/", b"//" + word(9) + b"//" + word(9) + b"/", b"./.", b"", word(300),
             b"/" + b"/".join([word(9)] * 150), b"/".join([b"x"] * 400), b"/" + m.secrets.raw(30),
             word(9) + b"\n/" + word(9)]
    for path in paths:
        m.pair(NFS, 3, 5, m.nfs.handle(), u32(0) + m.nfs.attr() + opaque(path))
        m.pair(NFS, 3, 10, m.nfs.where() + m.nfs.sattr(False) + opaque(path),
               u32(0) + optional(m.nfs.handle()) + m.nfs.attr() + m.nfs.wcc())
    for path in [p for p in paths if len(p) <= 1024]:
        m.pair(MOUNT, 3, 1, opaque(path), u32(0) + m.nfs.handle() + array([u32(1)]), 20048)
    return m


def credentials():
    """AUTH_SYS that cannot be read, AUTH_SHORT, RPCSEC_GSS with its three services."""
    m = Marked(3)
    lookup = lambda: m.nfs.handle() + string(m.values.name())
    found = lambda: u32(0) + m.nfs.handle() + m.nfs.attr() + m.nfs.attr()
    raw = lambda n, what: opaque(m.secrets.raw(n, what))
    verifier = lambda: u32(1) + raw(24, "verifier")
    short = u32(2) + raw(16, "AUTH_SHORT")
    m.pair(NFS, 3, 3, lookup(), found(), credential=short)
    m.pair(NFS, 3, 3, lookup(), found(), credential=u32(3) + raw(60, "AUTH_DH"))
    m.pair(NFS, 3, 3, lookup(), found(), credential=u32(77) + raw(40, "unknown flavor"))
    m.pair(NFS, 3, 3, lookup(), found(), credential=u32(1) + raw(40, "no AUTH_SYS"))
    m.pair(NFS, 3, 3, lookup(), found(), verifier=verifier())
    m.pair(NFS, 3, 3, lookup(), found(), credential=marked.sys_credential(m.secrets, 16))
    m.readable = False
    context = m.secrets.raw(16, "context")
    for send in (m.udp, m.tcp):
        for procedure in (1, 2):  # INIT, CONTINUE_INIT: the token is the body
            xid = m.next_xid()
            send(xdr.call(xid, NFS, 3, 0, raw(300, "token"),
                          marked.gss_credential(b"", procedure, 1)))
            send(xdr.reply(xid, raw(16, "context") + u32(0) + u32(0) + u32(128) +
                           raw(100, "token"), u32(6) + raw(28, "checksum")), back=True)
        for service in (1, 2, 3):
            for sequence in range(3):
                xid = m.next_xid()
                bodies = [lookup(), found()]
                if service == 2:
                    bodies = [opaque(u32(sequence) + b) + raw(28, "checksum") for b in bodies]
                if service == 3:
                    bodies = [raw(len(b) + 36, "encrypted") for b in bodies]
                send(xdr.call(xid, NFS, 3, 3, bodies[0],
                              marked.gss_credential(context, 0, service, sequence),
                              u32(6) + raw(28, "checksum")))
                send(xdr.reply(xid, bodies[1], u32(6) + raw(28, "checksum")), back=True)
        xid = m.next_xid()
        send(xdr.call(xid, NFS, 3, 0, raw(40, "destroy"), marked.gss_credential(context, 3, 1),
                      u32(6) + raw(28, "checksum")))
        send(xdr.reply(xid, b"", u32(6) + raw(28, "checksum")), back=True)
    return m


def refusals():
    """Replies of every kind that have no result, and such as must not have more."""
    m = Marked(4)
    for make in craft.header_cases()[1]:
        xid = m.next_xid()
        m.udp(xdr.call(xid, NFS, 3, 1, m.nfs.handle(), marked.sys_credential(m.secrets)))
        m.udp(make(xid), back=True)
    for accept in (1, 3, 4, 5):
        xid = m.next_xid()
        m.udp(xdr.call(xid, NFS, 3, 1, m.nfs.handle(), marked.sys_credential(m.secrets)))
        m.udp(xdr.reply_not_accepted(xid, accept, m.secrets.raw(20, "behind a refusal")),
              back=True)
    m.readable = False
    return m


def strange():
    """Bytes behind bodies, padding that is not zero, other programs and versions, no RPC, replies
    without calls, before them, and again."""
    m = Marked(5)
    m.readable = False
    raw = m.secrets.raw
    found = lambda: u32(0) + m.nfs.handle() + m.nfs.attr() + m.nfs.attr()
    padded = lambda n: u32(n) + m.secrets.word(n) + m.secrets.note(
        bytes(m.secrets.random.randrange(1, 256) for _ in range(-n % 4)), "padding")
    for send in (m.udp, m.tcp):
        for length in (1, 4, 20, 400):
            xid = m.next_xid()
            send(xdr.call(xid, NFS, 3, 3, m.nfs.where() + raw(length, "behind a body")))
            send(xdr.reply(xid, found() + raw(length, "behind a body")), back=True)
        for length in (9, 10, 11, 13):
            m.pair(NFS, 3, 3, m.nfs.handle() + padded(length), found(), send=send)
        for program, version in ((NFS, 2), (NFS, 4), (NFS, 3), (100024, 1), (0x20000077, 1),
                                 (100011, 2), (100021, 2), (MOUNT, 2)):
            procedure = 99 if version == 3 else 1
            m.pair(program, version, procedure, raw(200, "unknown body"), raw(300, "unknown body"),
                   send=send)
        for bad in (u32(0xffffff00) + raw(40), opaque(raw(28)) + u32(0x7fffffff) + raw(40),
                    opaque(raw(65)) + string(m.secrets.word(20))):
            m.pair(NFS, 3, 3, bad, u32(0) + bad, send=send)
        m.pair(NFS, 3, 8, m.nfs.where() + u32(9) + raw(60), u32(0) + u32(7) + raw(60), send=send)
        xid = m.next_xid()
        send(xdr.reply(xid, found()), back=True)
        lost = xdr.call(m.next_xid(), NFS, 3, 3, m.nfs.where())
        send(lost)
        send(lost)
        xid = m.next_xid()
        call, answer = xdr.call(xid, NFS, 3, 3, m.nfs.where()), xdr.reply(xid, found())
        if send == m.udp:
            send(answer, back=True)
            send(call)
            send(call)
        send(answer, back=True)
        send(answer, back=True)
        send(xdr.reply(xid, found()), back=True)
    for _ in range(3):
        m.udp(raw(200, "no RPC"))
        m.udp(raw(200, "no RPC"), port=5353, client_port=5353)
        m.tcp(raw(200, "no RPC"), port=445, client_port=40001, marks=False)
        m.tcp(raw(200, "no RPC"), port=2049, client_port=40002, marks=False)
    arp = b"\0\1\x08\0\6\4\0\1" + m.hardware[0] + packets.packed(m.hosts[0]) + m.hardware[1] + \
        packets.packed(m.hosts[1])
    m.frame(b"\x45" + arp)  # taken for IPv4, which it is not
    m.frame(packets.ipv4(m.hosts[0], m.hosts[1], 1, b"\x08\0\0\0" + raw(56, "ICMP")))
    return m


def transports():
    """IPv4 and IPv6, UDP and TCP, messages longer than a packet."""
    m = Marked(9)
    contents = m.secrets.raw(600, "contents")
    for move in (False, True):
        if move:
            m.move_to_ipv6()
        for send in (m.udp, m.tcp):
            for length in (0, 1, 40000) + ((64000, 200000) if send == m.tcp else ()):
                data = (contents * (length // len(contents) + 1))[:length]
                m.pair(NFS, 3, 6, m.nfs.handle() + u64(0) + u32(length),
                       u32(0) + m.nfs.attr() + u32(length) + boolean(True) + opaque(data),
                       send=send)
                m.pair(NFS, 3, 7, m.nfs.handle() + u64(0) + u32(length) + u32(2) + opaque(data),
                       u32(0) + m.nfs.wcc() + u32(length) + u32(2) + m.secrets.raw(8, "verifier"),
                       send=send)
            entries = [u64(i + 1) + m.nfs.name() + u64(i + 1) for i in range(900)]
            m.pair(NFS, 3, 16, m.nfs.handle() + u64(0) + bytes(8) + u32(60000),
                   u32(0) + m.nfs.attr() + bytes(8) + linked(entries) + boolean(True), send=send)
    return m


def small_bodies(m):
    """(program, version, procedure, port, arguments, result) with all kinds of secrets in them."""
    n = m.nfs
    yield NFS, 3, 3, 2049, n.where(), u32(0) + n.handle() + n.attr() + n.attr()
    yield NFS, 3, 8, 2049, n.where() + u32(0) + n.sattr(True), \
        u32(0) + optional(n.handle()) + n.attr() + n.wcc()
    yield NFS, 3, 10, 2049, n.where() + n.sattr(False) + string(m.values.text("../one/two.c")), \
        u32(0) + optional(n.handle()) + n.attr() + n.wcc()
    yield NFS, 3, 6, 2049, n.handle() + u64(4096) + u32(100), \
        u32(0) + n.attr() + u32(100) + boolean(True) + opaque(m.secrets.raw(100, "contents"))
    yield NFS, 3, 7, 2049, n.handle() + u64(0) + u32(100) + u32(2) + \
        opaque(m.secrets.raw(100, "contents")), u32(0) + n.wcc() + u32(100) + u32(2) + \
        m.secrets.raw(8, "verifier")
    yield NFS, 3, 17, 2049, n.handle() + u64(0) + bytes(8) + u32(512) + u32(4096), \
        u32(0) + n.attr() + m.secrets.raw(8, "verifier") + linked(
            [u64(m.secrets.number(8)) + n.name() + u64(m.secrets.number(8)) + n.attr() +
             optional(n.handle()) for _ in range(2)]) + boolean(True)
    yield MOUNT, 3, 5, 20048, b"", linked(
        [string(m.values.text("/export/home")) + linked([string(m.values.text("host-a"))])])
    yield NLM, 4, 1, 4045, opaque(m.secrets.raw(8)) + boolean(True) + \
        string(m.secrets.word(20, "host")) + n.handle() + opaque(m.secrets.raw(12, "owner")) + \
        u32(m.secrets.number(4)) + u64(0) + u64(10), opaque(m.secrets.raw(8)) + u32(0)
    yield PORTMAP, 4, 4, 111, b"", linked(
        [u32(NFS) + u32(3) + string("tcp") + string(m.values.address("192.0.2.1.8.1")) +
         string(m.values.text("superuser"))])
    yield ACL, 3, 1, 2049, n.handle() + u32(15), u32(0) + n.attr() + u32(15) + u32(2) + array(
        [u32(2) + u32(m.secrets.number(4)) + u32(7), u32(8) + u32(m.secrets.number(4)) + u32(5)]) \
        + u32(0) + array([])


def cut():
    """Calls and replies cut by the snap length after every single byte."""
    m = Marked(6)
    m.readable = False
    for program, version, procedure, port, arguments, result in small_bodies(m):
        credential = marked.sys_credential(m.secrets, 1)
        call = xdr.call(0, program, version, procedure, arguments, credential)[4:]
        answer = xdr.reply(0, result)[4:]
        for kept in range(4, len(call) + 5):
            m.udp(u32(m.next_xid()) + call, port, kept=kept)
        for kept in range(4, len(answer) + 5):
            xid = m.next_xid()
            m.udp(u32(xid) + call, port)
            m.udp(u32(xid) + answer, port, True, kept)
    call = xdr.call(0, NFS, 3, 3, m.nfs.where())[4:]
    for kept in range(0, len(call) + 4):
        m.tcp(u32(m.next_xid()) + call, kept=kept)
    return m


ALL = (procedures, transports, names, credentials, refusals, strange, cut)


def write_decorated(path, m):
    """The same packets as pcapng with all the blocks and options that tell about a site; their
    texts are secrets, too."""
    text = lambda what: m.secrets.word(24, what)
    option = lambda code, data: struct.pack("<HH", code, len(data)) + data + bytes(-len(data) % 4)
    end = struct.pack("<HH", 0, 0)
    with open(path, "wb") as out:
        head = struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1)
        head += b"".join(option(code, text("section option")) for code in (1, 2, 3, 4)) + end
        out.write(capfile.block(0x0a0d0d0a, head))
        interface = struct.pack("<HHI", 1, 0, 0) + option(9, b"\x09")
        interface += b"".join(option(code, text("interface option")) for code in (1, 2, 3, 11, 12))
        out.write(capfile.block(1, interface + end))
        names = struct.pack("<HH", 1, 30) + packets.packed(m.hosts[0]) + text("host name") + \
            b"\0\0" + b"\0\0" + struct.pack("<HH", 0, 0)
        out.write(capfile.block(4, names))
        for i, p in enumerate(m.packets):
            extra = option(1, text("packet comment")) + end if i % 50 == 0 else b""
            out.write(capfile.block(6, struct.pack(
                "<IIIII", 0, p.time >> 32, p.time & 0xffffffff, len(p.data), p.wire_len) + p.data +
                bytes(-len(p.data) % 4) + extra))
        out.write(capfile.block(0xbad, struct.pack("<I", 32473) + text("custom block")))
        out.write(capfile.block(0xa, struct.pack("<II", 0x544c534b, 24) + text("keys")))
        out.write(capfile.block(5, struct.pack("<III", 0, 0, 0) + option(1, text("statistics"))
                                + end))
    return path
