# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a small capture with every procedure of every table, all arms of all results, the
credentials of RFC 5531 and its reply states.  `python3 craft.py FILE` for a look at it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gen"))

import capfile
import packets
from craft_nfs import nfs3_cases, nfsacl2_cases, nfsacl3_cases
from craft_others import (mount1_cases, mount3_cases, nlm_cases, portmap2_cases, rpcbind3_cases,
                          rpcbind4_cases)
from xdr import (AUTH_NONE, auth_sys, call, opaque, reply, reply_denied, reply_not_accepted,
                 u32)

CLIENT, SERVER, CLIENT_PORT = "192.0.2.11", "192.0.2.1", 700

# (program, version, server port, cases)
PROGRAMS = [
    (100003, 3, 2049, nfs3_cases),
    (100227, 2, 2049, nfsacl2_cases),
    (100227, 3, 2049, nfsacl3_cases),
    (100005, 1, 20048, mount1_cases),
    (100005, 3, 20048, mount3_cases),
    (100000, 2, 111, portmap2_cases),
    (100000, 3, 111, rpcbind3_cases),
    (100000, 4, 111, rpcbind4_cases),
    (100021, 1, 4045, lambda values=None: nlm_cases(False, False, values)),
    (100021, 3, 4045, lambda values=None: nlm_cases(False, True, values)),
    (100021, 4, 4045, lambda values=None: nlm_cases(True, True, values)),
]

CREDENTIALS = [
    AUTH_NONE,
    auth_sys(0x11223344, "client.example", 1000, 1001, []),
    auth_sys(0x80000001, "a", 4294967294, 65534, list(range(3000, 3016))),
    auth_sys(0, "", 0, 0, [0]),
]


def header_cases():
    """(call, reply) of GETATTR with all that can go wrong below it (RFC 5531 s9)."""
    arguments = opaque(bytes(range(28)))
    replies = [lambda xid, n=n: reply_not_accepted(xid, n) for n in (1, 3, 4, 5)]
    replies.append(lambda xid: reply_not_accepted(xid, 2, u32(2) + u32(4)))
    replies.append(lambda xid: reply_denied(xid, 0, u32(2) + u32(2)))
    replies += [lambda xid, n=n: reply_denied(xid, 1, u32(n)) for n in range(1, 8)]
    return arguments, replies


class Capture:
    """A datagram a frame, a millisecond apart."""

    def __init__(self):
        self.packets = []

    def add(self, source, destination, source_port, destination_port, message):
        number = len(self.packets)
        datagram = packets.udp(source, destination, source_port, destination_port, message)
        frame = packets.ethernet(packets.ipv4(source, destination, packets.UDP, datagram, number))
        self.packets.append(capfile.Packet(1700000000 * 10**9 + number * 10**6, frame, len(frame),
                                           packets.ETHERNET))

    def pair(self, port, call_message, reply_message):
        self.add(CLIENT, SERVER, CLIENT_PORT, port, call_message)
        self.add(SERVER, CLIENT, port, CLIENT_PORT, reply_message)


def write(path):
    """Returns the number of messages."""
    capture = Capture()
    xid = 0xC0DE0000
    for program, version, port, cases in PROGRAMS:
        for procedure, arguments, result in cases():
            xid += 1
            credential = CREDENTIALS[xid % len(CREDENTIALS)]
            capture.pair(port, call(xid, program, version, procedure, arguments, credential),
                         reply(xid, result))
    arguments, replies = header_cases()
    for make in replies:
        xid += 1
        capture.pair(2049, call(xid, 100003, 3, 1, arguments), make(xid))
    capfile.write_pcap(path, capture.packets)
    return len(capture.packets)


if __name__ == "__main__":
    write(sys.argv[1])
