#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""--block-digests: digests of contents by blocks are those of the bytes that stock tshark shows, in a
database that is ingested at once, from a record stream, and from a capture that was split between calls
and replies; without the option there are none."""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path[:0] = [str(SRC / "tests"), str(SRC / "tests/gen")]

import database  # noqa: E402

CAPTURE = "knfsd-udp-frag.pcap.zst"
BLOCK = 4096
QUERY = "SELECT ifnull(CASE procedure WHEN 7 THEN call_frame ELSE reply_frame END, 0), hex(block_digests)" \
        " FROM operation WHERE program = 100003 AND procedure IN (6, 7) AND status = 0 AND data_length > 0"
xxhash = ctypes.CDLL("libxxhash.so.0")
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def digests(offset, data):
    found, at = "", 0
    while at < len(data):
        piece = data[at:at + BLOCK - (offset + at) % BLOCK]
        found += struct.pack("<Q", xxhash.XXH3_64bits(piece, len(piece))).hex().upper()
        at += len(piece)
    return found


def truth(capture):
    """{frame: digests}: of the data of WRITE calls, and of READ replies at the offset of their call."""
    text = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "nfs.procedure_v3 in {6, 7}", "-T", "fields", "-e", "frame.number",
         "-e", "rpc.msgtyp", "-e", "udp.stream", "-e", "rpc.xid", "-e", "nfs.offset3", "-e", "nfs.data"],
        capture_output=True, text=True, check=True).stdout
    offsets, found = {}, {}
    for line in text.splitlines():
        frame, kind, stream, xid, offset, data = line.split("\t")
        if "," in xid or "," in data or data == "<MISSING>":
            continue  # several messages in a frame, or no bytes
        if kind == "0":
            offsets[stream, xid] = int(offset)
        if data and (stream, xid) in offsets:
            found[int(frame)] = digests(offsets[stream, xid], bytes.fromhex(data.replace(":", "")))
    return found


def ingest(folder, name, *captures):
    path = folder / name
    done = subprocess.run([database.program(), "ingest", "-q", "--block-digests", "-o", path, *captures], check=False)
    assert done.returncode == 0, name
    return path


def column(path, base=0):
    return {frame + base: found for frame, found in database.rows(path, QUERY)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        os.chmod(folder, 0o777)  # tshark may run as another user
        whole = folder / "whole.pcap"
        with open(whole, "wb") as to:
            subprocess.run(["zstd", "-dcq", str(SRC / "captures" / CAPTURE)], stdout=to, check=True)
        wanted = truth(whole)
        assert len(wanted) > 50 and any(len(found) > 64 for found in wanted.values()), len(wanted)
        found = column(ingest(folder, "whole.db", whole))
        assert {frame: found.get(frame) for frame in wanted} == wanted
        stream = folder / "whole.nfsr"
        subprocess.run([database.program(), "record", "--block-digests", "-o", stream, whole], check=True)
        assert column(ingest(folder, "stream.db", stream)) == found
        plain = folder / "plain.db"
        database.ingest(plain, whole)
        assert set(column(plain).values()) == {""}

        # in two: behind the call of a WRITE, whose digests wait for the reply
        split = next(frame for frame in sorted(wanted) if frame > 400 and len(wanted[frame]) > 16)
        header, packets = capfile_of(whole)
        parts = [folder / "first.pcap", folder / "second.pcap"]
        parts[0].write_bytes(header + b"".join(packets[:split]))
        parts[1].write_bytes(header + b"".join(packets[split:]))
        ids = "SELECT id, hex(block_digests) FROM operation WHERE block_digests IS NOT NULL ORDER BY id"
        assert database.rows(ingest(folder, "parts.db", *parts), ids) == database.rows(folder / "whole.db", ids)
        print("%d ranges, split behind frame %d" % (len(wanted), split))


def capfile_of(path):
    """(header, records) of a pcap file of this machine's byte order."""
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        end = at + 16 + struct.unpack_from("<I", data, at + 8)[0]
        found.append(data[at:end])
        at = end
    return data[:24], found


if __name__ == "__main__":
    main()
