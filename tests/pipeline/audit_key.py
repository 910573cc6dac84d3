#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan-long slow long=0
"""With the key every byte of an anonymized capture is known: audit --key finds nothing in good
files, one thing with a wrong key, and each single value or byte that was changed.
Environment: NFSDIGEST, CAPTURES.  Argument: every how many bytes of a small capture one is changed
(default 997), 0: also all captures under all policies."""
import json
import os
import pathlib
import random
import struct
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SRC / "tests" / "gen"))

import anonymizer  # noqa: E402
import packets  # noqa: E402

CAPTURES = pathlib.Path(os.environ["CAPTURES"])
SMALL = "vfs-libnfs-all22", "knfsd-nlm-locks", "load-ganesha-mem"
RPC_TCP, NFS, LOOKUP, GETATTR = 58, 100003, 3, 1  # 58: Ethernet, IPv4, TCP, record mark
breaches = []


def expect(good, *words):
    if not good:
        breaches.append(" ".join(map(str, words))[:1200])
    return good


def audit(original, path, key, *options):
    done = anonymizer.run("audit", "--json", "--key", key, *options, original, path)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def recomputed(report):
    return [f for f in report["findings"] if f["kind"] == "recomputed"]


class File:
    """An anonymized capture, in blocks."""

    def __init__(self, path):
        self.data, self.blocks, at = path.read_bytes(), [], 0
        while at < len(self.data):
            kind, length = struct.unpack_from("<II", self.data, at)
            self.blocks.append((kind, at, length))
            at += length
        self.frames = [at for kind, at, _ in self.blocks if kind == 6]

    def bytes_of(self, frame):
        at = self.frames[frame]
        length = struct.unpack_from("<I", self.data, at + 20)[0]
        return self.data[at + 28:at + 28 + length]

    def with_bytes(self, frame, data):
        """|data| in the place of a frame as long, with right checksums."""
        at = self.frames[frame] + 28
        return self.data[:at] + mended(data) + self.data[at + len(data):]


def mended(data):
    if data[12:14] != b"\x08\x00":
        return data
    data = bytearray(data)
    data[24:26] = b"\0\0"
    data[24:26] = packets.checksum(bytes(data[14:34]))
    at = 34 + (16 if data[23] == packets.TCP else 6)
    length = struct.unpack_from(">H", data, 16)[0] - 20
    data[at:at + 2] = b"\0\0"
    data[at:at + 2] = packets.checksum(bytes(data[26:34]) + struct.pack(">HH", data[23], length)
                                       + bytes(data[34:34 + length]))
    return bytes(data)


def word(data, at):
    return struct.unpack_from(">I", data, at)[0]


def places(file):
    """Frames and offsets of one value of each kind: class, frame, offset, length."""
    calls, found = {}, {}
    for i in range(len(file.frames)):
        data = file.bytes_of(i)
        if data[12:14] != b"\x08\x00" or data[23] != packets.TCP or len(data) < RPC_TCP + 28:
            continue
        at = RPC_TCP
        if word(data, at + 4) == 0 and word(data, at + 12) == NFS:
            procedure = word(data, at + 20)
            calls[word(data, at)] = procedure
            if procedure != LOOKUP or word(data, at + 24) != 1 or "name" in found:
                continue
            machine = (word(data, at + 36) + 3) & ~3
            found["xid"] = i, at, 4
            found["uid"] = i, at + 40 + machine, 4
            found["address"] = i, 26, 4
            found["port"] = i, 34, 2
            handle = at + 24 + 8 + word(data, at + 28) + 8 + word(data, at + 32 + word(
                data, at + 28) + 4)
            found["handle"] = i, handle + 4, word(data, handle)
            name = handle + 4 + ((word(data, handle) + 3) & ~3)
            found["name"] = i, name + 4, word(data, name)
        elif calls.get(word(data, at)) == GETATTR and not word(data, at + 24) and (
                len(data) >= at + 28 + 84) and "fileid" not in found:
            fattr = at + 28
            found["fileid"] = i, fattr + 52, 8
            found["fsid"] = i, fattr + 44, 8
            found["gid"] = i, fattr + 16, 4
            found["size"] = i, fattr + 20, 8
            found["interval"] = i, fattr + 64, 4  # a fraction of a time
            found["time"] = i, fattr + 60, 4
    return found


def one_value(file, original, key, scratch, policy):
    """The least change of one value: that one is named, in its frame, and what it should be."""
    found, path = places(file), scratch / "changed.pcapng"
    expect(len(found) == 12, "not all kinds of values are in the capture:", sorted(found))
    for cls, (frame, at, length) in found.items():
        data = bytearray(file.bytes_of(frame))
        before = bytes(data[at:at + length])
        data[at + length - 1] ^= 1
        path.write_bytes(file.with_bytes(frame, bytes(data)))
        _, report, error = audit(original, path, key)
        findings = recomputed(report) if report else error
        if not expect(report and {(f["class"], f["frame"]) for f in findings} >= {
                (cls, frame + 1)}, policy, cls, frame + 1, "not found:", findings):
            continue
        expect(len({f["class"] for f in findings} - {"hardware"}) == 1, policy, cls,
               "and others:", findings)
        first = [f for f in findings if f["class"] == cls][0]
        if cls == "handle":
            # of long ones the end, in which they differ
            expect(length > 16 and first["expected"][-14:] == before.hex()[-14:] and
                   first["anonymized"][-14:] == bytes(data[at:at + length]).hex()[-14:],
                   "values of a handle:", first)
        if cls == "fileid":
            expect(first["expected"] == str(int.from_bytes(before, "big")), first)
        expect(first["original_frame"] > 0, cls, "without the original's frame:", first)
        _, report, error = audit(original, path, key, "--redact")
        text = json.dumps(recomputed(report))
        expect("expected" not in text and "original_frame" not in text and
               (length < 8 or before.hex() not in text), "redacted:", text)


def one_frame(file, original, key, scratch):
    """Times by one nanosecond, a message left out, one twice."""
    path, middle = scratch / "changed.pcapng", file.frames[len(file.frames) // 2]
    time = struct.unpack_from("<I", file.data, middle + 16)[0]
    length = struct.unpack_from("<I", file.data, middle + 4)[0]
    changes = {
        "time": file.data[:middle + 16] + struct.pack("<I", time ^ 1) + file.data[middle + 20:],
        "missing": file.data[:middle] + file.data[middle + length:],
        "surplus": file.data[:middle + length] + file.data[middle:],
    }
    for cls, data in changes.items():
        path.write_bytes(data)
        _, report, error = audit(original, path, key)
        counts = {c["class"]: c["count"] for c in report["finding_counts"]
                  if c["kind"] == "recomputed"} if report else error
        expect(counts == {cls: 1}, cls, "of one frame:", counts)


def any_byte(file, original, key, scratch, step):
    """One bit anywhere, checksums mended where it is in a frame and half of the time."""
    chance, count = random.Random(12), 0
    path = scratch / "changed.pcapng"
    for at in range(chance.randrange(step), len(file.data), step):
        bit = 1 << chance.randrange(8)
        frame = max((i for i, begin in enumerate(file.frames) if begin + 28 <= at), default=None)
        inside = frame is not None and at - file.frames[frame] - 28 < len(file.bytes_of(frame))
        data = bytearray(file.data)
        data[at] ^= bit
        if inside and chance.randrange(2):
            begin = file.frames[frame] + 28
            data = file.with_bytes(frame, bytes(data[begin:begin + len(file.bytes_of(frame))]))
            if bytes(data) == file.data:  # it was a checksum
                continue
        path.write_bytes(data)
        code, report, error = audit(original, path, key)
        count += 1
        # a head that is no capture's any more cannot be read; a version is not looked at
        expect((code == 1 and (recomputed(report) or report["recomputed"]["other_version"]))
               or (code in (2, 3) and not report and at < file.frames[0]) or
               (code == 2 and "policy" in error), "byte", at, "frame", frame, "bit", bit, ":", code,
               error, report and report["finding_counts"])
    return count


def good(capture, policy, key, other, scratch):
    path = scratch / "good.pcapng"
    path.unlink(missing_ok=True)
    anonymizer.anonymize(path, policy, key, capture)
    code, report, error = audit(capture, path, key)
    if expect(code == 0, capture.name, policy, code, error, report and report["findings"][:3]):
        expect(report["recomputed"]["bytes"] == path.stat().st_size, report["recomputed"])
    code, report, error = audit(capture, path, other)
    counts = report and [(c["kind"], c["class"], c["count"]) for c in report["finding_counts"]]
    expect(counts == [("recomputed", "key", 1)], capture.name, policy, "wrong key:", counts, error)
    return path


def own_policy(capture, key, scratch):
    """A policy of one's own is to be given, and by what it says."""
    own, path = scratch / "own.conf", scratch / "own.pcapng"
    text = anonymizer.checked("policy", "show", "public")
    own.write_text(text.replace("name = public", "name = ours").replace("mode = keep",
                                                                        "mode = owner"))
    anonymizer.anonymize(path, own, key, capture)
    code, report, error = audit(capture, path, key)
    expect(code == 2 and "ours" in error and "-p" in error, "policy not known:", code, error)
    _, report, error = audit(capture, path, key, "-p", own)
    expect(report and not recomputed(report) and report["recomputed"]["messages"], error,
           report and report["findings"][:3])
    own.write_text(text.replace("name = public", "name = ours"))
    _, report, error = audit(capture, path, key, "-p", own)
    classes = {f["class"] for f in recomputed(report)}
    expect({"section", "mode"} <= classes, "another policy of that name:", classes)


def main():
    step = int(sys.argv[1]) if sys.argv[1:] else 997
    count = 0
    with tempfile.TemporaryDirectory(prefix="audit.") as folder:
        scratch = pathlib.Path(folder)
        key = anonymizer.new_key(scratch / "key")
        other = anonymizer.new_key(scratch / "other")
        for name in SMALL:
            capture = CAPTURES / (name + ".pcap.zst")
            for policy in ("public", "strict") if step else ("public", "lab", "strict"):
                file = File(good(capture, policy, key, other, scratch))
                one_frame(file, capture, key, scratch)
                if name == "load-ganesha-mem":
                    one_value(file, capture, key, scratch, policy)
                if name == SMALL[0]:
                    count += any_byte(file, capture, key, scratch, step or 101)
        own_policy(CAPTURES / (SMALL[0] + ".pcap.zst"), key, scratch)
        for capture in sorted(CAPTURES.glob("*.zst")) if not step else ():
            for policy in "public", "lab", "strict":
                good(capture, policy, key, other, scratch)
    for line in breaches[:40]:
        print(line)
    print("%d bytes changed, %d breaches" % (count, len(breaches)))
    return 1 if breaches or not count else 0


if __name__ == "__main__":
    sys.exit(main())
