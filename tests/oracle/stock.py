# SPDX-License-Identifier: GPL-2.0-or-later
"""What others see in a capture: stock tshark, without a plugin of this tree; capinfos; and a plain
reader in Python that checks headers, checksums and sequence numbers without any heuristics."""
import collections
import os
import re
import struct
import subprocess
import tempfile

import capfile
import packets
import tshark

FIELDS = ("frame.number", "frame.time_epoch", "rpc.msgtyp", "rpc.xid", "_ws.malformed",
          "tcp.analysis.flags", "tcp.analysis.reused_ports", "ip.checksum.status",
          "tcp.checksum.status", "udp.checksum.status", "_ws.expert.severity",
          "_ws.expert.message")
BAD, ERROR = "0", 0x00800000  # Wireshark's numbers: a checksum's status, an expert's severity
STOCK = {k: v for k, v in os.environ.items() if k != "WIRESHARK_PLUGIN_DIR"}
CHECKS = [o for name in ("ip", "tcp", "udp") for o in ("-o", name + ".check_checksum:TRUE")]


def nanoseconds(text):
    seconds, fraction = text.split(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


class Seen:
    """What tshark says of a capture."""

    def __init__(self, path):
        self.wrong = collections.Counter()
        self.messages, self.frames, self.example = collections.Counter(), 0, {}
        command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=a"] + CHECKS + \
            tshark.OPTIONS + [o for field in FIELDS for o in ("-e", field)]
        with tempfile.TemporaryFile("w+") as complaints, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=complaints, env=STOCK,
                encoding="utf-8", errors="replace") as process:
            for line in process.stdout:
                self.take(dict(zip(FIELDS, line.rstrip("\n").split("\t"))))
            if process.wait() != 0:
                complaints.seek(0)
                raise RuntimeError("tshark: " + complaints.read())

    def complain(self, what, frame):
        self.wrong[what] += 1
        self.example.setdefault(what, frame)

    def take(self, row):
        self.frames += 1
        frame = row["frame.number"]
        if row["_ws.malformed"]:
            self.complain("malformed: " + row["_ws.expert.message"], frame)
        if row["tcp.analysis.flags"] and not row["tcp.analysis.reused_ports"]:
            self.complain("TCP: " + row["_ws.expert.message"], frame)
        for name in "ip", "tcp", "udp":
            if BAD in row[name + ".checksum.status"].split(","):
                self.complain("bad checksum of " + name, frame)
        for severity in filter(None, row["_ws.expert.severity"].split(",")):
            if int(severity, 0) >= ERROR:
                self.complain("expert: " + row["_ws.expert.message"], frame)
        kinds, xids = row["rpc.msgtyp"].split(","), row["rpc.xid"].split(",")
        if kinds != [""]:
            at = nanoseconds(row["frame.time_epoch"])
            for kind, xid in zip(kinds, xids):
                self.messages[int(kind), int(xid, 0), at] += 1


class Python:
    """What a plain reader says of it: headers, checksums, sequence numbers."""

    def __init__(self, path):
        self.wrong, self.next = [], {}
        self.packets = capfile.read(path)
        for number, packet in enumerate(self.packets, 1):
            try:
                self.frame(packet)
            except (ValueError, IndexError, struct.error) as error:
                self.wrong.append("frame %d: %s" % (number, error))

    def frame(self, packet):
        data, whole = packet.data, packet.wire_len == len(packet.data)
        if packet.link_type != packets.ETHERNET:
            raise ValueError("link type %d" % packet.link_type)
        kind = struct.unpack_from(">H", data, 12)[0]
        if kind == 0x0800:
            header, protocol, ends = data[14:34], data[23], data[26:34]
            length = struct.unpack_from(">H", data, 16)[0] - 20
            if packets.checksum(header) != b"\0\0":
                raise ValueError("checksum of IP")
        elif kind == 0x86dd:
            protocol, ends = data[20], data[22:54]
            length = struct.unpack_from(">H", data, 18)[0]
        else:
            raise ValueError("type %#x" % kind)
        start = 34 if kind == 0x0800 else 54
        if packet.wire_len != start + length:
            raise ValueError("%d bytes of IP in a frame of %d" % (length, packet.wire_len))
        rest = data[start:]
        pseudo = ends + struct.pack(">II", length, protocol)
        if whole and packets.checksum(pseudo + rest) != b"\0\0":
            raise ValueError("checksum")
        if protocol == packets.TCP:
            self.segment(ends, rest, length)
        elif protocol != packets.UDP:
            raise ValueError("protocol %d" % protocol)

    def segment(self, ends, rest, length):
        """Each begins where the one before ended, and acknowledges all of the other side; those at
        the end of a connection, which have no data, not always."""
        ports, seq, ack = rest[:4], *struct.unpack_from(">II", rest, 4)
        head, flags = (rest[12] >> 4) * 4, rest[13]
        half = len(ends) // 2
        here = (ends[:half], ends[half:], ports)
        there = (ends[half:], ends[:half], ports[2:] + ports[:2])
        if flags & packets.SYN:
            if flags & packets.ACK and self.next.get(there) != ack:
                raise ValueError("acknowledges %d in the handshake" % ack)
            self.next[here] = seq + 1
            if not flags & packets.ACK:
                self.next.pop(there, None)
            return
        end = length == head and (self.next.get(there, ack) - ack & 0xffffffff) < 1 << 30
        if self.next.get(here) != seq or self.next.get(there) != ack and not end:
            raise ValueError("sequence %d, acknowledgement %d, not %s and %s" % (
                seq, ack, self.next.get(here), self.next.get(there)))
        self.next[here] = seq + length - head + bool(flags & packets.FIN) & 0xffffffff


def capinfos_packets(path):
    out = subprocess.run(["capinfos", "-M", "-c", path], capture_output=True, text=True, check=True,
                         env=STOCK).stdout
    return int(re.search(r"Number of packets:\s*(\d+)", out)[1])
