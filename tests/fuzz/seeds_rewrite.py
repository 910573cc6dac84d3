#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_rewrite: calls and replies of every procedure, and a few real frames.

    tests/fuzz/seeds_rewrite.py          rewrites tests/fuzz/corpus/fuzz_rewrite/made-*
"""
import glob
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "gen"), os.path.join(HERE, "..", "oracle")]
import capfile  # noqa: E402
import craft  # noqa: E402
import xdr  # noqa: E402

FOLDER = os.path.join(HERE, "corpus", "fuzz_rewrite")
CAPTURES = os.path.join(HERE, "..", "..", "captures")
RECORD, DATAGRAM, REPLY, CUT, EVERYWHERE, AT = 1, 2, 4, 32, 64, 128
PORT = {2049: 0, 111: 1, 20048: 2, 4045: 3}
LARGEST = 5000


def piece(kind, data, sixteenths=None, offset=None):
    out = struct.pack("BB", kind | (CUT if sixteenths is not None else 0) |
                      (AT if offset is not None else 0), 5)
    if sixteenths is not None:
        out += bytes([sixteenths])
    if offset is not None:
        out += struct.pack(">H", offset)
    return out + struct.pack(">H", len(data)) + data


def gss_credential(procedure, service):
    return xdr.u32(6) + xdr.opaque(xdr.u32(1) + xdr.u32(procedure) + xdr.u32(77) +
                                   xdr.u32(service) + xdr.opaque(b"context-of-16-by"))


def write(name, seed):
    with open(os.path.join(FOLDER, "made-" + name), "wb") as out:
        out.write(seed)


def programs():
    """Each program's cases in as many seeds as their size asks for."""
    for program, version, port, cases in craft.PROGRAMS:
        for transport in (RECORD, DATAGRAM):
            seed, part, xid = b"", 0, 0x01000000
            rows = cases()
            rows = rows[transport - 1::2] if len(rows) > 12 else rows
            for procedure, arguments, result in rows:
                if len(arguments) + len(result) > 700:
                    continue
                xid += 1
                kind = transport | PORT[port] << 3 | EVERYWHERE
                credential = craft.CREDENTIALS[xid % len(craft.CREDENTIALS)]
                call = xdr.call(xid, program, version, procedure, arguments, credential)
                seed += piece(kind, call) + piece(kind | REPLY, xdr.reply(xid, result))
                if len(seed) > LARGEST:
                    write("%d-%d-%d-%d" % (program, version, transport, part),
                          bytes([part % 4]) + seed)
                    seed, part = b"", part + 1
            write("%d-%d-%d-%d" % (program, version, transport, part), bytes([part % 4]) + seed)


def oddities():
    """Cut, padded, with trailing bytes, under RPCSEC_GSS, of other programs, refused."""
    handle, name = xdr.opaque(bytes(range(28))), xdr.string("a-file-of-some-length." * 4)
    lookup = lambda xid, credential: xdr.call(xid, 100003, 3, 3, handle + name, credential)
    result = xdr.u32(0) + handle + xdr.u32(0) + xdr.u32(0)
    for policy in range(4):
        seed = bytes([policy])
        for i, sixteenths in enumerate(range(17)):
            call = lookup(100 + i, craft.CREDENTIALS[1])
            seed += piece(RECORD | EVERYWHERE, call, sixteenths)
            seed += piece(RECORD | REPLY | EVERYWHERE, xdr.reply(100 + i, result), 16 - sixteenths)
        write("cut-%d" % policy, seed)
        seed = bytes([policy])
        for i, (procedure, service) in enumerate([(0, 1), (0, 2), (0, 3), (1, 1), (3, 1)]):
            body = handle + name
            if service == 2:
                body = xdr.opaque(xdr.u32(77) + body) + xdr.opaque(b"checksum" * 3)
            if service == 3:
                body = xdr.opaque(b"\x5a" * 60)
            call = xdr.call(200 + i, 100003, 3, 3, body, gss_credential(procedure, service))
            answer = xdr.opaque(xdr.u32(77) + result) + xdr.opaque(b"checksum" * 3) \
                if service == 2 else result
            seed += piece(RECORD | EVERYWHERE, call)
            seed += piece(RECORD | REPLY | EVERYWHERE, xdr.reply(200 + i, answer))
        write("gss-%d" % policy, seed)
        seed = bytes([policy])
        call = lookup(300, xdr.u32(2) + xdr.opaque(b"short-hand-credential-of-a-server"))
        seed += piece(DATAGRAM | EVERYWHERE, call + b"behind the body")
        seed += piece(DATAGRAM | REPLY, xdr.reply(300, result) + b"16 bytes or more", None, 400)
        for xid, program, version in ((301, 100003, 2), (302, 100003, 4), (303, 100024, 1)):
            seed += piece(DATAGRAM | EVERYWHERE, xdr.call(xid, program, version, 1, b"x" * 40))
            seed += piece(DATAGRAM | REPLY | EVERYWHERE, xdr.reply(xid, b"y" * 40))
        for i, make in enumerate(craft.header_cases()[1]):
            seed += piece(DATAGRAM | EVERYWHERE, lookup(310 + i, xdr.AUTH_NONE))
            seed += piece(DATAGRAM | REPLY | EVERYWHERE, make(310 + i))
        seed += piece(DATAGRAM, b"no RPC message at all, but on its port, and long", None, 9)
        write("odd-%d" % policy, seed)


def captured():
    for number, (name, start) in enumerate((("vfs-libnfs-all22", 150), ("knfsd-nlm-locks", 60),
                                            ("knfsd-netem-udp", 220))):
        with tempfile.NamedTemporaryFile() as plain:
            subprocess.run(["zstd", "-dqc", os.path.join(CAPTURES, name + ".pcap.zst")],
                           stdout=plain, check=True)
            packets = capfile.read(plain.name)[start:start + 20]
        seed = bytes([number])
        for p in packets:
            if len(seed) + len(p.data) < LARGEST:
                seed += piece(0, p.data)
        write("frames-" + name, seed)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for old in glob.glob(os.path.join(FOLDER, "made-*")):
        os.unlink(old)
    programs()
    oddities()
    captured()


if __name__ == "__main__":
    main()
