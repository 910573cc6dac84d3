# SPDX-License-Identifier: GPL-2.0-or-later
"""What an operation of a replay dump must show again (schemas/rdump.md section 5): the groups of
values that a model server's reply has, and their comparison with a dump's mask, digest and values.
"""
import ctypes
import struct

from messages import OK
from model_xdr import (ACCESS, BLK, CHR, CREATE, DIR, LINK, LNK, LOOKUP, MKDIR, MKNOD, READ, READDIR,
                       READDIRPLUS, READLINK, REG, REMOVE, RENAME, RMDIR, SYMLINK)

MAKING = (CREATE, MKDIR, SYMLINK, MKNOD)
LISTINGS = (READDIR, READDIRPLUS)

# model/effect/expect.h
TYPE, MODE, OWNER, NLINK, SIZE, LINKS = range(6)
GROUPS = 6
IDENTITY, GRANTED, TEXT, EXTENT, LISTED, BEHIND, SOME = range(24, 31)
GROUP_NAMES = ("type", "mode", "owner", "nlink", "size", "nlink of directory")
BESIDE = sum(1 << GROUPS * w + LINKS for w in range(4)) | 1 << SOME  # not in the digest
WHOSE = ("object", "directory", "second directory", "found")
OF_OBJECT, OF_DIRECTORY, OF_DIRECTORY2, OF_FOUND = range(4)

XXHASH = ctypes.CDLL("libxxhash.so.0")
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def bit_name(bit):
    if bit < IDENTITY:
        return "%s of %s" % (GROUP_NAMES[bit % GROUPS], WHOSE[bit // GROUPS])
    return ("identity", "access", "text", "read", "names", "objects behind names",
            "some names")[bit - IDENTITY]


def bits_of(mask):
    return [bit for bit in range(32) if mask >> bit & 1]


def shown_attributes(procedure, fields):
    """(whose, Attributes) of all that a result shows but a listing's."""
    named = procedure in (LOOKUP, REMOVE, RMDIR, RENAME) + MAKING
    for key, attributes in (("attributes", fields.get("attributes")),
                            ("dir_attributes", fields.get("dir_attributes")),
                            ("wcc", fields.get("wcc", (None, None))[1]),
                            ("wcc2", fields.get("wcc2", (None, None))[1])):
        if attributes is None:
            continue
        if key == "wcc2" or key == "wcc" and procedure == LINK:
            yield OF_DIRECTORY2, attributes
        elif key == "attributes":
            yield OF_FOUND if named else OF_OBJECT, attributes
        else:
            yield OF_DIRECTORY if named else OF_OBJECT, attributes


def u32(*numbers):
    return struct.pack(">%dI" % len(numbers), *numbers)


def text(data):
    return u32(len(data)) + data


def number(handle):
    return handle if isinstance(handle, int) else 0xffffffff


def hash64(data):
    return XXHASH.XXH3_64bits(data, len(data))


class Names:
    """What a listing has shown so far: the same in any order."""

    def __init__(self, before=None):
        self.count, self.sum, self.behind = (before.count, before.sum, before.behind) if before \
            else (0, 0, 0)

    def add(self, name, object_):
        """|object_|: number, or None: it is not known."""
        if name in (b".", b".."):
            return
        self.count += 1
        self.sum = (self.sum + hash64(name)) % 2**64
        if object_ is None:
            self.behind = None
        if self.behind is not None:
            self.behind = (self.behind + hash64(struct.pack(">QI", hash64(name), object_))) % 2**64

    def values(self):
        out = {LISTED: struct.pack(">IQ", self.count, self.sum)}
        if self.behind is not None:
            out[BEHIND] = struct.pack(">Q", self.behind)
        return out


def names_of(procedure, fields, before=None, most=None, number_of=number):
    """Names, with those of the first |most| entries."""
    out = Names(before)
    if procedure == READDIR:
        out.behind = None
    for entry in fields["entries"][:most]:
        handle = entry[4] if procedure == READDIRPLUS else None
        out.add(entry[1], None if handle is None else number_of(handle))
    return out


def groups(procedure, status, fields, number_of=number):
    """{bit: bytes} of all groups that a result shows, but for names of several listings."""
    out = {}
    for whose, a in shown_attributes(procedure, fields):
        base = GROUPS * whose
        out[base + TYPE] = u32(a.type) + (u32(*a.rdev) if a.type in (BLK, CHR) else b"")
        out[base + MODE] = u32(a.mode & 0o7777)
        out[base + OWNER] = u32(a.uid, a.gid)
        out[base + (LINKS if a.type == DIR else NLINK)] = u32(a.nlink)
        if a.type in (REG, LNK):
            out[base + SIZE] = struct.pack(">Q", a.size)
    if status != OK:
        return out
    if fields.get("handle") is not None:
        out[IDENTITY] = u32(number_of(fields["handle"]))
    if procedure == ACCESS:
        out[GRANTED] = u32(fields["access"])
    elif procedure == READLINK:
        out[TEXT] = text(fields["text"])
    elif procedure == READ:
        out[EXTENT] = u32(fields["count"], int(fields["eof"]))
    elif procedure in LISTINGS and fields["eof"]:
        out.update(names_of(procedure, fields, number_of=number_of).values())
    return out


def split_values(op):
    """{bit: bytes} of a dump's values; raises ValueError where they are not those of the mask."""
    data, out = op.results, {}
    for bit in bits_of(op.mask & ~BESIDE):
        length = {IDENTITY: 4, GRANTED: 4, EXTENT: 8, LISTED: 12, BEHIND: 8}.get(bit)
        if bit == TEXT:
            length = 4 + int.from_bytes(data[:4], "big")
        elif length is None:
            length = (4, 4, 8, 4, 8)[bit % GROUPS]
            if bit % GROUPS == TYPE and int.from_bytes(data[:4], "big") in (BLK, CHR):
                length = 12
        if len(data) < length:
            raise ValueError("operation %d: its values end too early" % op.index)
        out[bit], data = data[:length], data[length:]
    if data:
        raise ValueError("operation %d: %d bytes behind its values" % (op.index, len(data)))
    return out


def recorded_names(op):
    """[(name, number of an object)]"""
    data, out = op.names, []
    while data:
        length = int.from_bytes(data[:4], "big")
        name, data = data[4:4 + length], data[4 + length:]
        object_ = 0
        if op.procedure == READDIRPLUS:
            object_, data = int.from_bytes(data[:4], "big"), data[4:]
        out.append((name, object_))
    return out


def optional(bit):
    """Whether a server may leave the value out: attributes, and handles in listings."""
    return bit < IDENTITY or bit == BEHIND


def mismatch(op, values, ignore):
    """What is not as it must be: text, or None. |ignore|: bits."""
    if op.results and hash64(op.results) != op.digest:
        return "the values in the dump do not have its digest"
    mask = op.mask & ~ignore
    links = [op.links[i:i + 4] for i in range(0, len(op.links), 4)]
    beside = [bit for bit in bits_of(op.mask & BESIDE) if bit != SOME]
    if len(links) != len(beside):
        return "%d link counts, not %d" % (len(links), len(beside))
    for bit, count in zip(beside, links):
        if mask >> bit & 1 and values.get(bit, count) != count:
            return "%s %s, not %s" % (bit_name(bit), values[bit].hex(), count.hex())
    bits = bits_of(op.mask & ~BESIDE)
    missing = [bit for bit in bits if bit not in values]
    if any(not optional(bit) for bit in missing):
        return "lacks " + bit_name(missing[0])
    if not missing:
        good = not bits or hash64(b"".join(values[bit] for bit in bits)) == op.digest
        return None if good else "differs"
    if op.results:
        for bit, value in split_values(op).items():
            if bit in values and values[bit] != value:
                return "%s %s, not %s" % (bit_name(bit), values[bit].hex(), value.hex())
    return None
