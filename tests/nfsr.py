#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A second reader of .nfsr streams, made from schemas/nfsr.md alone.

It knows the types of fields but no kind of record: those it takes from the stream's own layout.

    nfsr.py FILE            one JSON object a line for each record; exit 3 and a message where it is bad
    nfsr.py --hexdump FILE  the bytes, each number on a line of its own with its meaning

As a module: for record in nfsr.read(file): ...; every record is a dict with its "kind".
"""
import ctypes
import ipaddress
import json
import re
import struct
import sys

MAGIC = b"\x89NFSR\r\n\x1a"
MAJOR = 1
MINOR = 5
MASK = (1 << 64) - 1

_xxhash = ctypes.CDLL("libxxhash.so.0")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


class NfsrError(Exception):
    """What is wrong, with the offset."""


class NotMine(NfsrError):
    """Not an .nfsr stream at all."""


def is_shown(c):
    """Whether a terminal does nothing with the character but show it."""
    return not (c < "\x20" or "\x7f" <= c <= "\x9f" or "\u2028" <= c <= "\u202e"
                or "\u2066" <= c <= "\u2069" or c in "\u061c\u200e\u200f")


def escape(name, is_path=True):
    """A name's bytes as text (schemas/nfsr.md section 3)."""
    out = []
    for c in name.decode("utf-8", "surrogateescape"):
        if c == "\\":
            out.append("\\\\")
        elif "\ud800" <= c <= "\udfff" or not is_shown(c) or (c == "/" and not is_path):
            out += ["\\x%02x" % b for b in c.encode("utf-8", "surrogateescape")]
        else:
            out.append(c)
    return "".join(out)


def unescape(text):
    """The bytes that such a text stands for."""
    return re.sub(rb"\\(\\|x([0-9a-f]{2}))",
                  lambda m: bytes([int(m[2], 16)]) if m[2] else b"\\", text.encode())


def unzigzag(v):
    return (v >> 1) ^ -(v & 1)


def to_signed(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> (bits - 1) else v


class Cursor:
    """Bytes with their offset in the stream; every step can be told to |trace|."""

    def __init__(self, data, offset, trace=None):
        self.data = data
        self.offset = offset
        self.at = 0
        self.trace = trace

    def left(self):
        return len(self.data) - self.at

    def fail(self, what):
        raise NfsrError("offset %d: %s" % (self.offset + self.at, what))

    def take(self, size, what, note=None):
        if size > self.left():
            self.fail("%s passes the end" % what)
        piece = self.data[self.at : self.at + size]
        if self.trace and size:
            self.trace(self.offset + self.at, piece, note(piece) if note else what)
        self.at += size
        return piece

    def number(self, size, what):
        form = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}[size]
        value = lambda piece: struct.unpack(form, piece)[0]
        return value(self.take(size, what, lambda piece: "%s: %d" % (what, value(piece))))

    def varint(self, what, show=str):
        value = 0
        for i in range(10):
            if self.at + i >= len(self.data):
                self.fail("%s passes the end" % what)
            byte = self.data[self.at + i]
            value |= (byte & 0x7F) << (7 * i)
            if byte < 0x80:
                if value > MASK:
                    break
                self.take(i + 1, what, lambda piece: "%s: %s" % (what, show(value)))
                return value
        self.fail("%s has more than 64 bits" % what)


def parse_layout(text):
    """{number: (name, [(field, type), ...])}"""
    kinds = {}
    fields = None
    for line in text.decode("ascii").splitlines():
        words = line.split(" ")
        if len(words) == 3 and words[0] == "record":
            fields = []
            kinds[int(words[1])] = (words[2], fields)
        elif len(words) == 2 and fields is not None:
            fields.append((words[0], words[1]))
        else:
            raise NfsrError("layout: a line I cannot read: %r" % line)
    return kinds


def read_numbers(c, name):
    """A list of numbers of 32 bits that don't fall, as differences."""
    count = c.varint(name + ", count")
    if count > c.left():
        c.fail("%s passes the end" % name)
    values = []
    last = 0
    for _ in range(count):
        last += c.varint(name, lambda v: "+%d, so %d" % (v, last + v))
        if last >> 32:
            c.fail("%s is too large" % name)
        values.append(last)
    return values


def read_field(c, name, kind, last):
    if kind in ("u8", "u16", "u32", "u64"):
        value = c.varint(name)
        if value >> int(kind[1:]):
            c.fail("%s is too large" % name)
        return value
    if kind in ("i32", "i64"):
        bits = int(kind[1:])
        value = c.varint(name, lambda v: to_signed(unzigzag(v), bits))
        if value >> bits:
            c.fail("%s is too large" % name)
        return to_signed(unzigzag(value), bits)
    if kind == "bool":
        return True
    if kind in ("bytes", "text"):
        size = c.varint(name + ", length")
        if kind == "text":
            return escape(c.take(size, name, lambda p: "%s: %s" % (name, json.dumps(escape(p)))))
        return c.take(size, name).hex()
    if kind == "address":
        version = c.number(1, name + ", IP version")
        if version not in (4, 6):
            c.fail("%s: no IP version" % name)
        show = lambda piece: str(ipaddress.ip_address(piece))
        size = 4 if version == 4 else 16
        return show(c.take(size, name, lambda piece: "%s: %s" % (name, show(piece))))
    if kind == "digest":
        return c.take(16, name).hex()
    if kind == "hash":
        return c.take(8, name).hex()
    if kind == "numbers":
        return read_numbers(c, name)
    if kind in ("frame", "time", "operation"):
        step = lambda v: (last.get(kind, 0) + unzigzag(v)) & MASK
        whole = lambda v: to_signed(v, 64) if kind == "time" else v
        value = step(c.varint(name, lambda v: "%+d, so %d" % (unzigzag(v), whole(step(v)))))
        last[kind] = value
        return whole(value)
    c.fail("field %s is of a type that I don't know: %s" % (name, kind))


ABSENT = {"bool": False, "bytes": "", "text": "", "address": None, "digest": "0" * 32}
ABSENT.update(hash="0" * 16, numbers=[])


def read_record(c, kinds, last, no_time=None):
    number = c.take(1, "kind", lambda p: "record %s" % kinds.get(p[0], ("of unknown kind",))[0])[0]
    size = c.varint("length")
    body = Cursor(c.data[: c.at + size], c.offset, c.trace)
    body.at = c.at
    if size > c.left():
        c.fail("a record passes its block's end")
    c.at += size
    if number not in kinds:
        raise NfsrError("offset %d: record kind %d is not in the layout" % (body.offset, number))
    name, fields = kinds[number]
    present = body.varint(
        "present", lambda v: " ".join(f[0] for i, f in enumerate(fields) if v >> i & 1) or "none"
    )
    if present >> len(fields):
        body.fail("fields that the layout lacks")
    record = {"kind": name}
    for i, (field, kind) in enumerate(fields):
        record[field] = no_time if kind == "time" else ABSENT.get(kind, 0)
        if present >> i & 1:
            record[field] = read_field(body, field, kind, last)
    if body.left():
        body.fail("%d bytes left over in a %s record" % (body.left(), name))
    return record


class Reader:
    """Formats that share the container have other words of their own."""

    magic = MAGIC
    marker = b"NFRB"
    major = MAJOR
    minor = MINOR
    noun = "an .nfsr stream"
    no_time = None  # a time that is absent

    def __init__(self, file, trace=None):
        self.file = file
        self.trace = trace
        self.offset = 0  # of what comes next from the file

    def read(self, size, what):
        data = b""
        while len(data) < size:
            piece = self.file.read(size - len(data))
            if not piece:
                raise NfsrError("truncated at offset %d, in %s" % (self.offset + len(data), what))
            data += piece
        self.offset += size
        return data

    def sum_up(self, data, what):
        stored = self.read(8, what)
        if _xxhash.XXH3_64bits(data, len(data)) != struct.unpack("<Q", stored)[0]:
            raise NfsrError("%s at offset %d: wrong checksum" % (what, self.offset - 8 - len(data)))
        return stored

    def header(self):
        what = "stream header"
        magic = self.file.read(1)
        while magic and magic == self.magic[: len(magic)] and len(magic) < len(self.magic):
            piece = self.file.read(1)
            if not piece:
                raise NfsrError("truncated at offset %d, in %s" % (len(magic), what))
            magic += piece
        if magic != self.magic:
            raise NotMine("not %s" % self.noun)
        self.offset = len(self.magic)
        head = self.read(8, what)
        major, minor, size = struct.unpack("<HHI", head)
        if major != self.major:
            raise NfsrError("version %d.%d: I read version %d" % (major, minor, self.major))
        if size > 65536:
            raise NfsrError("stream header: text of %d bytes" % size)
        text = self.read(size, what)
        stored = self.sum_up(magic + head + text, what)
        if self.trace:
            c = Cursor(magic + head + text + stored, 0, self.trace)
            c.take(8, "magic")
            c.number(2, "major version")
            c.number(2, "minor version")
            c.number(4, "length of the text")
            c.take(size, "layout")
            c.take(8, "checksum")
        return parse_layout(text)

    def block(self, kinds, sequence):
        start = self.offset
        what = "block %d" % sequence
        head = self.read(24, what)
        marker, kind, number, count, size = struct.unpack("<4sIQII", head)
        if marker != self.marker:
            raise NfsrError("offset %d: no block begins here" % start)
        if size > 16 << 20:
            raise NfsrError("%s at offset %d: length %d" % (what, start, size))
        payload = self.read(size, what)
        stored = self.sum_up(head + payload, what)
        if number != sequence:
            raise NfsrError("%s at offset %d: has number %d" % (what, start, number))
        if kind != 1:
            raise NfsrError("%s at offset %d: unknown kind %d" % (what, start, kind))
        c = Cursor(head + payload, start, self.trace)
        c.take(4, "block marker")
        c.number(4, "kind")
        c.number(8, "sequence number")
        c.number(4, "records")
        c.number(4, "length of the payload")
        last = {}
        for _ in range(count):
            yield read_record(c, kinds, last, self.no_time)
        if c.left():
            c.fail("%d bytes left over in %s" % (c.left(), what))
        if self.trace:
            self.trace(self.offset - 8, stored, "checksum")

    def records(self):
        kinds = self.header()
        sequence = 0
        record = None
        while not record or record["kind"] != "end":
            sequence += 1
            for record in self.block(kinds, sequence):
                yield record
        if self.file.read(1):
            raise NfsrError("offset %d: bytes after the end record" % self.offset)


def read(file, trace=None):
    return Reader(file, trace).records()


def hexdump(file, reader=Reader):
    """Lines of "offset  bytes  meaning"; long pieces in lines of 16 bytes; the layout only named."""
    lines = []

    def trace(offset, data, note):
        if note == "layout":
            lines.append("%08x  %-47s  %s" % (offset, "...", "layout, %d bytes" % len(data)))
            return
        for i in range(0, len(data), 16):
            lines.append("%08x  %-47s  %s" % (offset + i, data[i : i + 16].hex(" "), "" if i else note))

    for _ in reader(file, trace).records():
        pass
    return [line.rstrip() for line in lines]


def main(arguments, reader=Reader, usage=__doc__):
    dump = arguments[:1] == ["--hexdump"]
    names = arguments[1:] if dump else arguments
    if len(names) != 1:
        print(usage.strip(), file=sys.stderr)
        return 2
    try:
        with open(0 if names[0] == "-" else names[0], "rb") as file:
            if dump:
                print("\n".join(hexdump(file, reader)))
            else:
                for record in reader(file).records():
                    print(json.dumps(record, separators=(",", ":")))
    except (NfsrError, OSError) as problem:
        print("%s: %s" % (names[0], problem), file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
