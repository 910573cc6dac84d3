#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: long=20 timeout=3600
"""Good files that were made bad: committed captures, anonymized under each policy with fresh keys,
in which then values follow from their originals, stand as they were, or where nobody looks; or
which claim another policy.  Each kind over the whole capture must be found in every run; and in one
value only, where chance allows a verdict.

Chance: what is found must be rarer than 1 in 10^9 among good files, over all values of a class.
- A row of 7 bytes left in one handle of 28: 22 x 256^-7 = 3e-16 each, so of up to 10^6 handles one
  tells.  A row of 4: 6e-9 each, so one does not; 400 of them do.
- One handle reversed, or xored with one byte: 256^-27 or rarer.  One handle xored with some row of
  bytes may be any pseudonym, as may be one number and a constant: two and three of them tell.
- 12 letters of a name's digest: 1000 x 32^-12 = 9e-16 each.  CRC-32 has 8: 9e-10 each, so one name
  does not tell.  8 bytes of a handle's or number's digest: 150 x 256^-8 = 8e-18.
- 4 bytes of an address's digest: 420 x 256^-4 = 1e-7 each, so two tell.
- A name of 3 to 7 bytes encoded as a whole value: 1/10 for each digit and 1/16 for each letter, so a
  single one of few letters may be a pseudonym, and all of them are none.
- The first 4 letters of a name: 1e-4 each, which one name does not tell.  Its length does, under
  policies in which all are alike.
- What the form leaves no freedom for needs no chance.
Environment: NFSDIGEST, BUILD, CAPTURES.  Arguments: runs of each kind (1); words of kinds."""
import base64
import ctypes
import hashlib
import os
import pathlib
import socket
import struct
import sys
import tempfile
import zlib

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / p) for p in ("gen", "oracle", "pipeline")]

import anonymizer  # noqa: E402
import audit_lib  # noqa: E402
import isomorphism  # noqa: E402
import packets  # noqa: E402
import remade  # noqa: E402

FIELD_DUMP = os.path.join(os.environ["BUILD"], "bin", "tests", "field_dump")
CAPTURES = ("mem-libnfs-all22", "knfsd-netem-udp", "vfs-libnfs-all22", "load-ganesha-mem",
            "load-ganesha-vfs", "knfsd-netem-tcp", "knfsd-nlm-locks")
XOR = hashlib.sha256(b"a row of bytes").digest() * 2
SUM = 0x1d3a977e5511
NAME_MAX = 4096  # no name is longer, though servers refuse some
HIDDEN = b"\x07q\x91\x0e"


# --- values ---

XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits.restype = XXHASH.XXH64.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
XXHASH.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def xxh3(data):
    return struct.pack(">Q", XXHASH.XXH3_64bits(data, len(data)))


def xxh64(data):
    return struct.pack(">Q", XXHASH.XXH64(data, len(data), 0))


def crc32(data):
    return struct.pack(">I", zlib.crc32(data))


DIGESTS = {"MD5": lambda d: hashlib.md5(d).digest(), "SHA-1": lambda d: hashlib.sha1(d).digest(),
           "SHA-256": lambda d: hashlib.sha256(d).digest(), "XXH3": xxh3, "XXH64": xxh64,
           "CRC-32": crc32}


def hexed(digest, first=None, last=0):
    return lambda o, n: digest(o).hex()[-last:][:first].encode()


def in_base(encode, length):
    return lambda o, n: encode(hashlib.sha256(o).digest()).decode().lower()[:length].encode()


def stem_hashed(original, pseudonym):
    """The suffix stays, as it does in pseudonyms."""
    dot = original.rfind(b".")
    if dot < 1 or not pseudonym.endswith(original[dot:]):
        return hashlib.sha256(original).hexdigest()[:16].encode()
    return hashlib.sha256(original[:dot]).hexdigest()[:16].encode() + original[dot:]


def number(data):
    return int.from_bytes(data, "big")


def same_length(original, pseudonym):
    return (hashlib.sha256(pseudonym).hexdigest() * 8)[:len(original)].encode()


# name -> (class, function of the original and its pseudonym, whether one value tells, how many
# values are needed)
VALUES = {
    "the last 4 bytes of handles": ("handle", lambda o, n: n[:-4] + o[-4:], False, 2),
    "the last 7 bytes of handles": ("handle", lambda o, n: n[:-7] + o[-7:], True, 1),
    "handles reversed": ("handle", lambda o, n: o[::-1], True, 1),
    "handles xored with a byte": ("handle", lambda o, n: bytes(b ^ 0x5a for b in o), True, 1),
    "handles xored with a row": ("handle", lambda o, n: bytes(
        a ^ b for a, b in zip(o, XOR)), False, 2),
    "handles as SHA-256": ("handle", lambda o, n: (hashlib.sha256(o).digest() * 4)[:len(o)], True,
                           1),
    "file ids and a constant": ("fileid", lambda o, n: struct.pack(
        ">Q", number(o) + SUM & (1 << 64) - 1), False, 3),
    "file ids xored": ("fileid", lambda o, n: bytes(a ^ b for a, b in zip(o, XOR)), False, 2),
    "file ids as the end of SHA-256": ("fileid", lambda o, n: hashlib.sha256(o).digest()[-8:], True,
                                       1),
    "names as SHA-256 in base 32": ("name", in_base(base64.b32encode, 16), True, 1),
    "names as SHA-256 in base 64": ("name", lambda o, n: base64.b64encode(
        hashlib.sha256(o).digest())[:16].replace(b"/", b"_").replace(b"+", b"-"), True, 1),
    "the end of names' SHA-256": ("name", hexed(DIGESTS["SHA-256"], last=16), True, 1),
    "stems of names as SHA-256": ("name", stem_hashed, True, 1),
    "lengths of names": ("name", same_length, True, 2),
    "the first 4 letters of names": ("name", lambda o, n: o[:4] + n[4:], False, 4),
}
for _name, _digest in DIGESTS.items():
    VALUES["names as whole " + _name] = ("name", hexed(_digest), _name != "CRC-32", 2)
    VALUES["names as 8 letters of " + _name] = ("name", hexed(_digest, 8), False, 2)
    if _name != "CRC-32":
        VALUES["names as 16 letters of " + _name] = ("name", hexed(_digest, 16), True, 1)


def short(encode):
    """Only of names of 3 to 7 bytes that have letters."""
    return lambda o, n: encode(o) if 3 <= len(o) < 8 and encode(o) not in (o, o.lower()) else None


for _name, _encode in {
        "hexadecimal digits": lambda o: o.hex().encode(), "base 64": base64.b64encode,
        "UTF-16": lambda o: o.decode("latin-1").encode("utf-16-le"), "upper case": bytes.upper,
        "reverse": lambda o: o[::-1],
        "percent signs": lambda o: b"".join(b"%%%02x" % c for c in o)}.items():
    VALUES["short names in " + _name] = ("name", short(_encode), False, 3)
SOUGHT = {**{name: ("leak",) for name in VALUES if name.startswith("short names")},
          "lengths of names": ("length", "policy"),
          # of 4 letters nothing else is left
          "the first 4 letters of names": ("unkeyed", "identity")}


def raw(value):
    """A field's value as it stands in the message; only of 64 bits among numbers."""
    return bytes.fromhex(value[1:]) if value[0] == "x" else struct.pack(">Q", int(value[1:]))


def pseudonyms(original, other, fields):
    """{class: {pseudonym: original}}, of values that did not stay."""
    found = {"handle": {}, "fileid": {}, "name": {}}
    nfsdigest = os.environ["NFSDIGEST"]
    copy = isomorphism.Ahead(isomorphism.dump(nfsdigest, FIELD_DUMP, other))
    for a in isomorphism.messages(isomorphism.dump(nfsdigest, FIELD_DUMP, original)):
        b = None if isomorphism.unread(a) else copy.take(tuple(a.head[2:4]))
        if b is None or len(a.fields) != len(b.fields):
            continue
        where = int(a.head[4]), int(a.head[5]), int(a.head[6]), a.head[3]
        for x, y in zip(a.fields, b.fields):
            x, y = x.rstrip("\n").split("\t"), y.rstrip("\n").split("\t")
            cls = fields.classes.get(where + (x[1],))
            if cls in found and x[3] != y[3] and x[3][0] in "nx":
                found[cls][raw(y[3])] = raw(x[3])
    return found


def put(values, is_text):
    """A change of messages: |values| of pseudonyms to what shall stand for them."""
    def change(message):
        out, last, at = [], 0, 24
        while at + 4 <= len(message):
            length = struct.unpack_from(">I", message, at)[0]
            there = message[at:at + 8] if not is_text else message[at + 4:at + 4 + length]
            made = values.get(there) if not is_text or 0 < length < NAME_MAX else None
            if made is None:
                at += 4
                continue
            if is_text:
                made = struct.pack(">I", len(made)) + made + bytes(-len(made) % 4)
                length = 4 + length + -length % 4
            else:
                length = 8
            out += [message[last:at], made]
            at = last = at + length
        return b"".join(out) + message[last:] if out else message
    return change


# --- what stands beside messages ---

def new_block(kind, body):
    return lambda c, one: c.blocks[2:2] or c.blocks.__setitem__(
        slice(2, 2), [remade.capfile.block(kind, body)] * (1 if one else 3))


def option(which, code):
    """A comment, or another option: in the block |which|, or in packets."""
    def change(capture, one):
        made = struct.pack("<HH", code, 4) + HIDDEN
        packet_seen = False
        for i, b in enumerate(capture.blocks):
            if remade.is_packet(b) and which is None and not (one and packet_seen):
                packet_seen = True
                capture.blocks[i] = remade.capfile.block(6, b[8:-4] + made + bytes(4))
        if which is not None:
            b = capture.blocks[which]
            capture.blocks[which] = remade.capfile.block(struct.unpack_from("<I", b)[0],
                                                         b[8:-8] + made + bytes(4))
    return change


def frames(function):
    """|function|: of an IPv4 frame's bytes, or None where there is no place."""
    def change(capture, one):
        done = [0]

        def each(number, data):
            made = function(data, number) if not (one and done[0]) else None
            if made is None:
                return data
            done[0] += 1
            return made
        capture.frames(each)
        return done[0]
    return change


def patched(at, hidden, mend=True):
    def function(data, number):
        if data[12:14] != b"\x08\x00":
            return None
        made = data[:at] + hidden + data[at + len(hidden):]
        return remade.mended(made) if mend else made
    return frames(function)


def repeated(capture, one):
    """Datagrams with the identification of another one between the same ends, which says something
    else; all others are counted on, so that none is left out."""
    said, made, last, count = {}, {}, {}, 0

    def is_udp(data):
        return data[12:14] == b"\x08\x00" and data[23] == packets.UDP

    def note(number, data):
        if is_udp(data):
            said.setdefault(struct.unpack_from(">H", data, 18)[0], (data[26:38], data[42:50]))
        return data

    def put(number, data):
        if not is_udp(data):
            return data
        new = made[struct.unpack_from(">H", data, 18)[0]]
        return remade.mended(data[:18] + struct.pack(">H", new) + data[20:])
    capture.frames(note)
    for number, (ends, words) in sorted(said.items()):
        before = last.pop(ends, None)
        if before and before[1] != words and not (one and count):
            made[number] = before[0]
            count += 1
        else:
            made[number] = number - count
            last[ends] = made[number], words
    if count:
        capture.frames(put)
    return count


FORM = {
    "a custom block": new_block(0xbad, struct.pack("<I", 32473) + HIDDEN),
    "a name resolution block": new_block(4, struct.pack("<HH", 1, 8) + HIDDEN * 2 + bytes(4)),
    "comments of packets": option(None, 1),
    "flags of packets": option(None, 2),
    "a comment of the section": option(0, 1),
    "a comment of the statistics": option(-1, 1),
    "trailers": frames(lambda data, number: data + HIDDEN),
    "MACs": patched(2, HIDDEN),
    "identifications": frames(lambda data, number: remade.mended(
        data[:18] + struct.pack(">H", number * 7919 + 40000 & 0xffff) + data[20:])
        if data[12:14] == b"\x08\x00" else None),
    "repeated identifications": repeated,
    "TTLs": patched(22, b"\x3f"),
    "classes of service": patched(15, b"\x04"),
    "checksums of IP": patched(24, HIDDEN[:2], False),
}

def address_digests(digest, reverse):
    """|digest|'s first 4 bytes in the place of addresses; |originals|: of these."""
    def change(capture, originals):
        made = {}
        for there, original in originals.items():
            value = digest(original[::-1] if reverse else original)[:4]
            made[there] = value[::-1] if reverse else value

        def each(number, data):
            if data[12:14] != b"\x08\x00":
                return data
            ends = made.get(data[26:30], data[26:30]), made.get(data[30:34], data[30:34])
            return remade.mended(b"\2\4" + ends[1] + b"\2\4" + ends[0] + data[12:26] + ends[0]
                                 + ends[1] + data[34:])
        capture.frames(each)
    return change


ADDRESSES = {"addresses as %s%s" % (name, ", least byte first" if reverse else ""):
             address_digests(digest, reverse)
             for name, digest in DIGESTS.items() for reverse in (False, True)}

# --- all of it ---


def relabelled(path, policy, out):
    """A file that says that it was made under |policy|."""
    made = anonymizer.checked("policy", "show", policy)
    digest = next(word for word in made.replace(":", " ").split()
                  if len(word) == 64 and not word.strip("0123456789abcdef"))
    capture = remade.Capture(path)
    block = capture.blocks[0]
    at = block.index(b"anonymized by nfsdigest ")
    length = struct.unpack_from("<H", block, at - 2)[0]
    end = at + length + -length % 4
    text = block[at:at + length].split(b"\n")[0] + b"\npolicy %s, SHA-256 %s" % (
        policy.encode(), digest.encode())
    capture.blocks[0] = remade.capfile.block(
        0x0a0d0d0a, block[8:at - 2] + struct.pack("<H", len(text)) + text + bytes(-len(text) % 4)
        + block[end:-4])
    capture.write(out)


class Runs:
    def __init__(self, wanted, words, folder):
        self.wanted, self.words, self.folder = wanted, words, pathlib.Path(folder)
        self.fields = isomorphism.Fields(FIELD_DUMP)
        self.counts, self.missed, self.alarms = {}, [], []
        self.where = {}  # a capture in which a kind could be tried

    def open(self, kind, enough=True):
        """Whether this kind shall be tried."""
        count = self.counts.setdefault(kind, 0)
        return (enough and count < self.wanted
                and (not self.words or any(w in kind for w in self.words)))

    def judge(self, kind, sought, path, *options):
        found = audit_lib.found(audit_lib.report(self.original, path, *options))
        self.counts[kind] += 1
        self.where[kind] = self.name
        if not sought & {k for k, _ in found}:
            self.missed.append("%s: %s under %s: %s" % (kind, self.original.name, self.policy,
                                                        sorted(found)))

    def labels(self, out):
        for other in set(audit_lib.POLICIES) - {self.policy}:
            for kind, path in (("expected to be of another policy", out),
                               ("labelled with another policy", self.folder / "changed.pcapng")):
                kind = "%s: %s as %s" % (kind, self.policy, other)
                if not self.open(kind):
                    continue
                if path != out:
                    relabelled(out, other, path)
                self.judge(kind, {"policy", "length", "time"}, path, *(
                    ("-p", other) if path == out else ()))

    def values(self, out):
        known = None
        for name, (cls, function, one_tells, least) in VALUES.items():
            for one in (False, True)[:2 if one_tells else 1]:
                kind = name + (", one" if one else "")
                if not self.open(kind):
                    continue
                known = known or pseudonyms(self.original, out, self.fields)
                table = known[cls]
                if one:
                    longest = max(table, key=lambda n: len(table[n]), default=b"")
                    table = {n: o for n, o in table.items() if n == longest}
                made = {n: function(o, n) for n, o in table.items() if len(o) >= least}
                made = {n: v for n, v in made.items() if v is not None}
                if one and self.policy == "lab" and cls == "name" and min(
                        map(len, made.values()), default=0) < 12:
                    continue
                if len(made) < (1 if one else max(least, 3)) or name == "lengths of names" and (
                        self.policy == "lab" or len(set(map(len, made.values()))) < 2 - one or one
                        and {16} >= set(map(len, made.values()))):
                    continue
                capture = remade.Capture(out)
                capture.messages(put(made, cls != "fileid"))
                capture.write(self.folder / "changed.pcapng")
                self.judge(kind, set(SOUGHT.get(name, ("unkeyed",))),
                           self.folder / "changed.pcapng")

    def addresses(self, out):
        there = set()
        remade.Capture(out).frames(lambda number, data: there.update(
            (data[26:30], data[30:34]) if data[12:14] == b"\x08\x00" else ()) or data)
        values = [socket.inet_ntoa(a) for a in sorted(there)]
        said = values and anonymizer.checked("unmask", "-k", self.key, "-p", self.policy, "address",
                                             *values)
        pairs = (map(socket.inet_aton, line.split("\t")) for line in said.splitlines())
        originals = {a: b for a, b in pairs if a != b}
        for kind, change in ADDRESSES.items():
            if self.open(kind, len(originals) > 1):
                capture = remade.Capture(out)
                change(capture, originals)
                capture.write(self.folder / "changed.pcapng")
                self.judge(kind, {"unkeyed"}, self.folder / "changed.pcapng")

    def form(self, out):
        for name, change in FORM.items():
            for one in (False, True):
                kind = name + (", one" if one else "")
                if not self.open(kind):
                    continue
                capture = remade.Capture(out)
                if change(capture, one) == 0:
                    continue  # no datagrams
                capture.write(self.folder / "changed.pcapng")
                self.judge(kind, {"form"}, self.folder / "changed.pcapng")

    def run(self, name, policy):
        self.name, self.policy = name, policy
        self.original = next(pathlib.Path(os.environ["CAPTURES"]).glob(name + ".pcap*"))
        out, self.key = audit_lib.fresh(self.original, self.policy, self.folder)
        found = audit_lib.found(audit_lib.report(self.original, out))
        if found:
            self.alarms.append("%s under %s is not clean: %s" % (name, policy, found))
        self.labels(out)
        self.values(out)
        self.addresses(out)
        self.form(out)


def main():
    wanted = int(sys.argv[1]) if sys.argv[1:] else 1
    with tempfile.TemporaryDirectory(prefix="audit.") as folder:
        runs = Runs(wanted, sys.argv[2:], folder)
        for number in range(3 * wanted + len(CAPTURES) * len(audit_lib.POLICIES)):
            runs.run(CAPTURES[number % len(CAPTURES)],
                     audit_lib.POLICIES[number // len(CAPTURES) % len(audit_lib.POLICIES)])
            if number > len(CAPTURES) * 2 and not any(runs.open(kind) for kind in runs.counts):
                break
        for number in range(3 * wanted):  # what few captures have
            left = [kind for kind in runs.where if runs.open(kind)]
            if not left:
                break
            runs.run(runs.where[left[0]], audit_lib.POLICIES[number % len(audit_lib.POLICIES)])
    for line in runs.missed + runs.alarms:
        print(line[:600])
    few = [k for k, n in runs.counts.items() if n < wanted and runs.open(k)]
    for kind in few:
        print("%s: tried %d times of %d" % (kind, runs.counts[kind], wanted))
    print("%d kinds, %d tried, %d missed, %d false alarms" % (
        len(runs.counts), sum(runs.counts.values()), len(runs.missed), len(runs.alarms)))
    return 1 if runs.missed or runs.alarms or few else 0


if __name__ == "__main__":
    sys.exit(main())
