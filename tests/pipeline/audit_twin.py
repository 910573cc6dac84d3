# SPDX-License-Identifier: GPL-2.0-or-later
"""A capture and its anonymized twin, made by one script and two sets of values: the original's,
and pseudonyms that owe nothing to the program.  A plant is a change of one pseudonym, or of the
twin's bytes.

    original, twin = World(False), World(True, plants)
    original.write("x.pcapng"); twin.write("y.pcapng")
"""
import functools
import hashlib
import ipaddress
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import messages as m  # noqa: E402
import packets  # noqa: E402
import traffic  # noqa: E402

NLM, RPCBIND = 100021, 100000
CLIENT, SERVER, CLIENT6, SERVER6 = "10.20.30.41", "10.20.30.7", "2001:db8:7::9:41", "2001:db8:7::9:7"
THIRD = "172.19.88.23"
MACS = bytes.fromhex("3c5282a1b2c3"), bytes.fromhex("3c5282d4e5f6")
MACHINE, OTHER_HOST = "workstation-seventeen", "backup.example.org"
DIRECTORY = "/export/projects"
NAMES = ["quarterly-report", "main.c", "notes.txt", "ann", "Makefile", "a-much-longer-name-of-a-file.c",
         "ledger2025", "zz"]
TARGET = "../archive/old-ledger.txt"
STAMP = 0x51e6a7c3
UID, GID, GROUPS = 4711, 5813, (5813, 6007, 24)
FSID = 0x91d3a5e7c2b48f60
CONTENTS = b"Dear auditors, the numbers that you asked for are attached below. Yours, the board." * 20
HTTP = b"GET /intranet/salaries-2025.html HTTP/1.1\r\nHost: wiki.example.org\r\n\r\n"
COMMENT, INTERFACE = "taken on the storage rack by the night shift", "ens-storage-3"


def digest(*what):
    return hashlib.sha256(repr(what).encode()).digest()


@functools.cache
def stated(policy):
    """What a file says of its origin."""
    text = anonymizer.checked("policy", "show", policy)
    return "anonymized by nfsdigest 0\npolicy %s, SHA-256 %s" % (
        re.search("^name = (.*)$", text, re.M)[1],
        re.match("# SHA-256 of .*: ([0-9a-f]{64})$", text, re.M)[1])


class Form:
    """Frames as nfsdigest writes them: everything but messages, addresses and ports follows."""

    def __init__(self, macs=None):
        self.macs, self.begun, self.id = macs, 0, 0
        self.first = {}  # by ends: sequence number, and what it was before

    @staticmethod
    def hardware(address):
        out = bytearray(b"\2\6" if len(address) == 16 else b"\2\4") + address[-4:]
        for i in range(12 if len(address) == 16 else 0):
            out[2 + i % 4] ^= address[i] * 5 & 255
        return bytes(out)

    def follow(self, source, segment):
        """The sequence number of a segment."""
        sport, dport, seq, _, _, flags = struct.unpack_from(">HHIIBB", segment)
        if flags & packets.SYN:
            first = self.begun * 0x2545f491 & 0xffffffff
            if flags & packets.ACK:
                first = self.first[(dport, sport)][0] + 0x40000000 & 0xffffffff
            else:
                self.begun += 1
            self.first[(sport, dport)] = first, seq
        first, before = self.first[(sport, dport)]
        return first + seq - before

    def tcp(self, source, destination, segment):
        sport, dport, _, ack, offset, flags = struct.unpack_from(">HHIIBB", segment)
        options = b"\2\4\xfa\0\1\3\3\x0e" if flags & packets.SYN else b""
        seq = self.follow(source, segment)
        if flags & packets.ACK:
            first, before = self.first[(dport, sport)]
            ack += first - before
        else:
            ack = 0
        return packets.tcp(source, destination, sport, dport, seq, ack, flags,
                           segment[(offset >> 4) * 4:], options=options)

    def frames(self, frames):
        out = []
        for frame in frames:
            packet = frame.data[14:]
            v6 = packet[0] >> 4 == 6
            head, width, protocol = (40, 16, packet[6]) if v6 else (20, 4, packet[9])
            length = struct.unpack_from(">H", packet, 4 if v6 else 2)[0] + (40 if v6 else 0)
            ends = [packet[head - 2 * width:head - width], packet[head - width:head]]
            source, destination = (str(ipaddress.ip_address(e)) for e in ends)
            payload = packet[head:length]
            if protocol == packets.TCP:
                payload = self.tcp(source, destination, payload)
            packet = packets.internet(source, destination, protocol, payload)
            if not v6:
                if protocol == packets.UDP:
                    self.id += 1
                fixed = (packet[:4] + struct.pack(">HH", self.id if protocol == packets.UDP else 0,
                                                  0x4000) + packet[8:10] + b"\0\0" + packet[12:20])
                packet = fixed[:10] + packets.checksum(fixed) + fixed[12:] + payload
            macs = self.macs or (self.hardware(ends[1]), self.hardware(ends[0]))
            data = macs[0] + macs[1] + frame.data[12:14] + packet
            out.append(frame._replace(data=data, wire_len=len(data)))
        return out


class World:
    """Values; in the twin each becomes its pseudonym, but for what |plants| says: a dict of
    "class" or ("class", original value) to a pseudonym, or to None to leave it as it is; once, or
    |always|."""

    def __init__(self, anonymize, plants=None, shift=0, lengths=False, xids=False, count=3,
                 always=False):
        self.anonymize, self.plants, self.shift = anonymize, dict(plants or {}), shift
        self.always = always
        self.lengths, self.xids = lengths, xids
        self.trace = traffic.Trace(start=1_700_000_000_123_456_789 + shift)
        self.used = set()
        self.xid_base = 0x52000000
        self.comment = stated("public")
        self.totals = "messages.whole 1\nmessages.dropped 0\n"
        self.macs = None
        self.extra_options = b""
        for round_number in range(count):
            self.run(round_number)

    # --- values ---

    def value(self, kind, original, pseudonym):
        if not self.anonymize:
            return original
        for key in (kind, original), kind:
            if key in self.plants and (self.always or key not in self.used):
                self.used.add(key)
                plant = self.plants[key]
                return original if plant is None else plant
        return pseudonym

    def token(self, name):
        for suffix in ".c", ".txt":
            if name.endswith(suffix):
                stem = len(name) - len(suffix)
                return (digest("name", name).hex() * 3)[:stem if self.lengths else 16] + suffix
        return (digest("name", name).hex() * 3)[:len(name) if self.lengths else 16]

    def name(self, name):
        return self.value("name", name, name if name in (".", "..") else self.token(name))

    def path(self, path):
        made = "/".join(c if c in ("", "..") else self.token(c) for c in path.split("/"))
        return self.value("path", path, made)

    def host(self, name):
        return self.value("host", name, digest("host", name).hex()[:16])

    def number(self, kind, value, bits):
        made = value if value == 0 else int.from_bytes(digest(kind, value)[:bits // 8], "big")
        return self.value(kind, value, made)

    def handle(self, number):
        original = digest("an original handle", number)[:24]
        return self.value("handle", original, digest("handle", number)[:24])

    def address(self, text):
        made = "2001:db8:ffff::" if ":" in text else "100.64."
        part = digest("address", text)
        made += "%x" % (part[0] << 8 | part[1]) if ":" in text else "%d.%d" % (part[0], part[1] | 1)
        return self.value("address", text, made)

    def data(self, data):
        return self.value("data", data, bytes(len(data)))

    # --- structures ---

    def credential(self):
        groups = [self.number("gid", g, 32) for g in GROUPS]
        body = (m.u32(self.number("stamp", STAMP, 32)) + m.opaque(self.host(MACHINE))
                + m.u32(self.number("uid", UID, 32), self.number("gid", GID, 32), len(groups),
                        *groups))
        return m.u32(1) + m.opaque(body)

    def fattr(self, number, kind=m.REG):
        seconds = 1_699_000_000 + number + self.shift // 10**9
        return (m.u32(kind, 0o644, 1, self.number("uid", UID + number % 3, 32),
                      self.number("gid", GID, 32))
                + m.u64(self.value("size", 3000 + number * 977, 3000 + number * 977),
                        4096) + m.u32(self.number("device", 0, 32), 0)
                + m.u64(self.number("fsid", FSID, 64),
                        self.number("fileid", 0x71e3d29a00 + number * 7919, 64))
                + m.u32(seconds, 123, seconds, 456, seconds, 789))

    def post_op(self, number, kind=m.REG):
        return m.u32(1) + self.fattr(number, kind)

    def xid(self):
        self.xid_base += 0x010307
        return (self.xid_base ^ 0x5a5a5a5a) if self.anonymize and self.xids else self.xid_base

    # --- traffic ---

    def listing(self, base):
        out = m.u32(0) + self.post_op(base, m.DIR)
        out += m.u64(self.number("verifier", 0x8a91c3d5e7f20614, 64))
        for i, name in enumerate([".", ".."] + NAMES):
            number = base + i
            out += m.u32(1) + m.u64(self.number("fileid", 0x71e3d29a00 + number * 7919, 64))
            out += m.opaque(self.name(name))
            out += m.u64(self.number("cookie", 0x3b7f91c2d4e6a801 + i * 0x1357, 64))
            out += self.post_op(number) + m.u32(1) + m.opaque(self.handle(number))
        return out + m.u32(0, 1)

    def run(self, turn):
        trace, flow = self.trace, None
        if turn == 2:
            flow = traffic.UdpFlow(trace, self.address(CLIENT6), 711, self.address(SERVER6))
            flow.fragment_size = 65000
        else:
            flow = traffic.TcpFlow(trace, self.address(CLIENT), 710 + turn, self.address(SERVER),
                                   mss=64000)
            flow.open()
        base = 100 * (turn + 1)
        root = base

        def call(procedure, arguments, result, program=m.NFS, version=3, **options):
            flow.pair(self.xid(), procedure, arguments, result, program=program, version=version,
                      credential=self.credential(), **options)

        call(1, m.opaque(self.path(DIRECTORY)), m.u32(0) + m.opaque(self.handle(root)) + m.u32(1, 1),
             program=m.MOUNT)
        call(2, b"", m.u32(1) + m.opaque(self.host(OTHER_HOST)) + m.opaque(self.path(DIRECTORY))
             + m.u32(0), program=m.MOUNT)
        call(5, b"", m.u32(1) + m.opaque(self.path(DIRECTORY)) + m.u32(1)
             + m.opaque(self.address(THIRD)) + m.u32(0, 0), program=m.MOUNT)
        call(3, m.u32(m.NFS, 3) + m.opaque("tcp") + m.opaque("") + m.opaque(""),
             m.opaque(self.address(SERVER) + ".8.1"), program=RPCBIND, version=4)
        for i, name in enumerate(NAMES):
            call(m.LOOKUP, m.opaque(self.handle(root)) + m.opaque(self.name(name)),
                 m.u32(0) + m.opaque(self.handle(base + i + 2)) + self.post_op(base + i + 2)
                 + self.post_op(root, m.DIR))
        call(m.READDIRPLUS, m.opaque(self.handle(root)) + m.u64(0, 0) + m.u32(4096, 32768),
             self.listing(base))
        call(m.READDIRPLUS, m.opaque(self.handle(root))
             + m.u64(self.number("cookie", 0x3b7f91c2d4e6a801, 64),
                     self.number("verifier", 0x8a91c3d5e7f20614, 64)) + m.u32(4096, 32768),
             m.u32(0) + self.post_op(root, m.DIR)
             + m.u64(self.number("verifier", 0x8a91c3d5e7f20614, 64)) + m.u32(0, 1))
        call(m.SYMLINK, m.opaque(self.handle(root)) + m.opaque(self.name("shortcut"))
             + m.u32(0, 0, 0, 0, 0, 0) + m.opaque(self.path(TARGET)), m.u32(13, 0, 0))
        call(m.READLINK, m.opaque(self.handle(base + 3)),
             m.u32(0) + self.post_op(base + 3, m.LNK) + m.opaque(self.path(TARGET)))
        data = CONTENTS[turn:1501 + turn]
        call(m.READ, m.opaque(self.handle(base + 2)) + m.u64(0) + m.u32(4096),
             m.u32(0) + self.post_op(base + 2) + m.u32(len(data), 1) + m.opaque(self.data(data)))
        call(m.WRITE, m.opaque(self.handle(base + 2)) + m.u64(4096) + m.u32(len(data), 2)
             + m.opaque(self.data(data)),
             m.u32(0, 0) + self.post_op(base + 2) + m.u32(len(data), 2)
             + m.u64(self.number("verifier", 0x77aa5533cc6611ee, 64)))
        owner = self.value("owner", b"1234@workstation-seventeen", (digest("owner") * 2)[:26 if self.lengths else 16])
        cookie = self.value("nlm cookie", b"\x8b\x2c\x71\x5e", b"\x11\x99\x31\x44")
        call(2, m.opaque(cookie) + m.u32(0, 1) + m.opaque(self.host(MACHINE))
             + m.opaque(self.handle(base + 2)) + m.opaque(owner) + m.u32(1234 if not self.anonymize
                                                                         else 991821)
             + m.u64(0, 0) + m.u32(0, 3), m.opaque(cookie) + m.u32(0), program=NLM, version=4)
        if not self.anonymize and turn == 1:
            segment = packets.tcp(CLIENT, "198.18.7.9", 50001, 80, 1, 1, 24, HTTP)
            trace.add(packets.internet(CLIENT, "198.18.7.9", packets.TCP, segment))
            trace.wait(-trace.step)

    # --- files ---

    def packets(self):
        frames = self.trace.packets()
        if self.anonymize:
            return Form(self.macs).frames(frames)
        return [p._replace(data=MACS[0] + MACS[1] + p.data[12:]) for p in frames]

    def write(self, path, frames=None):
        def option(code, data):
            data = data.encode() if isinstance(data, str) else data
            return struct.pack("<HH", code, len(data)) + m.pad(data)

        end = struct.pack("<HH", 0, 0)
        section, interface = self.extra_options, b""
        if self.anonymize:
            section += option(1, self.comment) + option(4, "nfsdigest 0")
        else:
            section += option(1, COMMENT) + option(4, "Some sniffer 4.2")
            interface = option(2, INTERFACE)
        with open(path, "wb") as out:
            out.write(capfile.block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1) + section
                                    + end))
            out.write(capfile.block(1, struct.pack("<HHI", 1, 0, 0) + interface + option(9, b"\x09")
                                    + end))
            for p in self.packets() if frames is None else frames:
                out.write(capfile.block(6, struct.pack("<IIIII", 0, p.time >> 32,
                                                       p.time & 0xffffffff, len(p.data),
                                                       p.wire_len) + m.pad(p.data)))
            if self.anonymize and self.totals:
                last = max(p.time for p in self.packets())
                out.write(capfile.block(5, struct.pack("<III", 0, last >> 32, last & 0xffffffff)
                                        + option(1, self.totals) + end))
