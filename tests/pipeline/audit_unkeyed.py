#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""Pseudonyms that follow from their originals without a key, over a whole capture, are found by
what they have in common; and so is a file of another policy than the stated one.
Environment: NFSDIGEST."""
import base64
import hashlib
import ipaddress
import pathlib
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_lib  # noqa: E402
import audit_twin  # noqa: E402
from audit_mutations import DIGESTS  # noqa: E402
from audit_twin import World, digest  # noqa: E402

TURNS, FEW = 40, 3  # 400 handles, or 30; 3 addresses, 3 ids of users


def digested(kind):
    """Four bytes of digests of an address, of each way to write it."""
    def address(text):
        packed = ipaddress.ip_address(text).packed
        data = {"bytes": packed, "reversed": packed[::-1], "text": text.encode()}[kind[1]]
        made = DIGESTS[kind[0]](data)
        made = made[:4] if kind[2] == "first" else made[-4:]
        if len(packed) == 16:
            made = b"\x20\x01\x0d\xb8" + bytes(8) + made
        return str(ipaddress.ip_address(made))
    return address


class Made(World):
    """A twin of which one kind of value is made by a function of the original alone."""
    made = {}

    def handle(self, number):
        if "handle" not in self.made or not self.anonymize:
            return super().handle(number)
        return self.made["handle"](digest("an original handle", number)[:24],
                                   digest("handle", number)[:24])

    def number(self, kind, value, bits):
        if kind not in self.made or not self.anonymize or not value:
            return super().number(kind, value, bits)
        return self.made[kind](value, digest(kind, value)) & (1 << bits) - 1

    def address(self, text):
        if "address" not in self.made or not self.anonymize:
            return super().address(text)
        return self.made["address"](text)

    def token(self, name):
        if "name" not in self.made or not self.anonymize:
            return super().token(name)
        return self.made["name"](name, super().token(name))


def hashed(text, algorithm, length=16):
    return hashlib.new(algorithm, text.encode()).hexdigest()[:length]


def plain(function):
    return lambda original, _: function(original)


MUTATIONS = {
    "last 4 bytes of handles": ("handle", lambda o, n: n[:-4] + o[-4:]),
    "last 7 bytes of handles": ("handle", lambda o, n: n[:-7] + o[-7:]),
    "handles reversed": ("handle", plain(lambda o: o[::-1])),
    "handles xored with a byte": ("handle", plain(lambda o: bytes(b ^ 0x5a for b in o))),
    "handles xored with a row": ("handle", plain(lambda o: bytes(
        a ^ b for a, b in zip(o, digest("a row"))))),
    "handles as MD5": ("handle", plain(lambda o: (hashlib.md5(o).digest() * 2)[:24])),
    "file ids and a constant": ("fileid", plain(lambda o: o + 0x1d3a977e5511)),
    "file ids xored": ("fileid", plain(lambda o: o ^ 0x53c1d3a977e5511)),
    "file ids times a number": ("fileid", plain(lambda o: o * 0x9e3779b97f4a7c15 + 12345)),
    "file ids in their order": ("fileid", lambda o, n: o * 5003 + n[0] % 251),
    "file ids as SHA-256": ("fileid", plain(lambda o: int.from_bytes(
        hashlib.sha256(o.to_bytes(8, "big")).digest()[:8], "big"))),
    "uids and a constant": ("uid", plain(lambda o: o + 0x71c3b2)),
    "names as MD5": ("name", plain(lambda o: hashed(o, "md5"))),
    "names as whole MD5": ("name", plain(lambda o: hashed(o, "md5", 32))),
    "names as SHA-1": ("name", plain(lambda o: hashed(o, "sha1"))),
    "names as SHA-256": ("name", plain(lambda o: hashed(o, "sha256"))),
    "names as the end of SHA-256": ("name", plain(lambda o: hashed(o, "sha256", 64)[-16:])),
    "names as SHA-256 in base 32": ("name", plain(lambda o: base64.b32encode(
        hashlib.sha256(o.encode()).digest()).decode().lower()[:16])),
    "names as CRC-32": ("name", plain(lambda o: "%08x" % zlib.crc32(o.encode()))),
    "names begin as they did": ("name", lambda o, n: o[:4] + n[:12]),
}
MANY = set(MUTATIONS)
for _name, _digest in DIGESTS.items():
    for _kind in "bytes", "reversed", "text":
        for _part in "first", "last":
            MUTATIONS["addresses as the %s 4 bytes of %s of %s" % (_part, _name, _kind)] = (
                "address", digested((_name, _kind, _part)))
    for _what, _width in ("uid", 4), ("fileid", 8):
        for _how, _make in (("least byte first", lambda o, w: o.to_bytes(w, "little")),
                            ("as text", lambda o, w: b"%d" % o),
                            ("most byte first", lambda o, w: o.to_bytes(w, "big"))):
            for _order in "big", "little":
                MUTATIONS["%s, %s, as %s, %s end first" % (_what, _how, _name, _order)] = (
                    _what, plain(lambda o, d=_digest, m=_make, w=_width, b=_order: int.from_bytes(
                        d(m(o, w))[:w], b)))
    MUTATIONS["names as " + _name] = ("name", plain(lambda o, d=_digest: d(o.encode()).hex()[:16]))


def found(original, path, *options):
    return audit_lib.found(audit_lib.report(original, path, *options))


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        original, path = scratch + "/original.pcapng", scratch + "/twin.pcapng"
        few = scratch + "/few.pcapng"
        World(False, count=TURNS).write(original)
        clean = World(True, count=TURNS)
        clean.write(path)
        if found(original, path):
            wrong.append("not clean: %s" % sorted(found(original, path)))
        if ("policy", "name") not in found(original, path, "-p", "strict"):
            wrong.append("a public file as strict: %s" % found(original, path, "-p", "strict"))
        for policy, expected in ("strict", {("policy", "time"), ("policy", "mode")}), (
                "lab", {("policy", "name")}):
            clean.comment = audit_twin.stated(policy)
            clean.write(path)
            if not expected <= found(original, path):
                wrong.append("relabelled as %s: %s" % (policy, found(original, path)))
        owner = {"owner": hashlib.md5(b"1234@workstation-seventeen").digest()}
        World(True, owner, count=TURNS, always=True).write(path)
        if ("unkeyed", "lock_owner") not in found(original, path):
            wrong.append("a lock owner as MD5: %s" % sorted(found(original, path)))
        World(False, count=FEW).write(few)
        for name, (kind, function) in MUTATIONS.items():
            if sys.argv[1:] and not any(word in name for word in sys.argv[1:]):
                continue
            made = type("One", (Made,), {"made": {kind: function}})
            made(True, count=TURNS if name in MANY else FEW).write(path)
            those = found(original if name in MANY else few, path)
            if ("unkeyed", kind) not in those:
                wrong.append("%s: %s" % (name, sorted(those)))
    for line in wrong:
        print(line)
    print("%d mutations, %d wrong" % (len(MUTATIONS), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
