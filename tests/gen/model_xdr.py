# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and results of NFSv3 as dictionaries, and as XDR (RFC 1813 s3.3, RFC 4506).

The same thing has the same key in every procedure:

    object, name     handle operated on; of a directory when |name| is in it
    object2, name2   RENAME's second directory; LINK's directory (object: the file)
    attributes       post_op_attr of |object|, or of what was made or found: Attributes or None
    dir_attributes   LOOKUP's
    wcc, wcc2        wcc_data: (Before or None, Attributes or None)
    settings         sattr3: {"mode": ..., "uid", "gid", "size", "atime", "mtime"}; a time is
                     SERVER_TIME or in ns
    data             file contents, as pieces: [(length, fill)]; a fill is a byte's value that
                     repeats, or (digest, offset) of contents that are not kept
    entries          READDIR: (fileid, name, cookie); READDIRPLUS: and Attributes or None, and
                     handle or None

Times are in ns, names and link texts in bytes. Written from the RFC alone.
"""
import collections
import hashlib
import struct

from messages import (ACCESS, COMMIT, CREATE, FSINFO, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, MKNOD,
                      NULL, OK, PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REMOVE, RENAME,
                      RMDIR, SETATTR, SYMLINK, WRITE, opaque, u32, u64)

NAMES = ("NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK MKNOD REMOVE "
         "RMDIR RENAME LINK READDIR READDIRPLUS FSSTAT FSINFO PATHCONF COMMIT").split()
# of NFSACL version 3, which no RFC describes: nfs_acl.x of OpenSolaris; numbers as in rdump.md
ACL_NULL, GETACL, SETACL = range(100, 103)
NAMES += [""] * (ACL_NULL - len(NAMES)) + ["ACL_NULL", "GETACL", "SETACL"]
REG, DIR, BLK, CHR, LNK, SOCK, FIFO = range(1, 8)  # ftype3
UNCHECKED, GUARDED, EXCLUSIVE = range(3)
UNSTABLE, DATA_SYNC, FILE_SYNC = range(3)
SERVER_TIME = "server time"

Attributes = collections.namedtuple(
    "Attributes", "type mode nlink uid gid size used rdev fsid fileid atime mtime ctime")
Before = collections.namedtuple("Before", "size mtime ctime")

FATTR3 = struct.Struct(">IIIIIQQIIQQIIIIII")
SECOND = 10**9

FSSTAT_FIELDS = "tbytes fbytes abytes tfiles ffiles afiles".split()
FSINFO_FIELDS = "rtmax rtpref rtmult wtmax wtpref wtmult dtpref".split()
PATHCONF_FIELDS = "linkmax name_max no_trunc chown_restricted case_insensitive case_preserving"
PATHCONF_FIELDS = PATHCONF_FIELDS.split()

# Which post_op_attr (a: attributes, d: dir_attributes) and wcc_data (w, v: wcc2) a result has, in
# their order: (first in success, last in success, in failure)
MADE = ("", "w", "w")
FORMS = {
    NULL: ("", "", ""), GETATTR: ("", "", ""), SETATTR: ("w", "", "w"), LOOKUP: ("", "ad", "d"),
    ACCESS: ("a", "", "a"), READLINK: ("a", "", "a"), READ: ("a", "", "a"), WRITE: ("w", "", "w"),
    CREATE: MADE, MKDIR: MADE, SYMLINK: MADE, MKNOD: MADE, REMOVE: ("w", "", "w"),
    RMDIR: ("w", "", "w"), RENAME: ("wv", "", "wv"), LINK: ("aw", "", "aw"),
    READDIR: ("a", "", "a"), READDIRPLUS: ("a", "", "a"), FSSTAT: ("a", "", "a"),
    FSINFO: ("a", "", "a"), PATHCONF: ("a", "", "a"), COMMIT: ("w", "", "w"),
    ACL_NULL: ("", "", ""), GETACL: ("a", "", "a"), SETACL: ("a", "", "a"),
}


def time3(ns):
    return u32(ns // SECOND & 0xffffffff, ns % SECOND)


def data_length(pieces):
    return sum(length for length, _ in pieces)


def data_bytes(pieces):
    """Contents of which only a digest is known stand as zeros."""
    return b"".join(bytes([fill]) * length if isinstance(fill, int) else bytes(length)
                    for length, fill in pieces)


def data_pieces(data):
    if not data:
        return []
    if data.count(data[:1]) == len(data):
        return [(len(data), data[0])]
    return [(len(data), (hashlib.blake2b(data, digest_size=16).digest(), 0))]


def encode_attributes(a):
    return FATTR3.pack(a.type, a.mode, a.nlink, a.uid, a.gid, a.size, a.used, *a.rdev, a.fsid,
                       a.fileid, a.atime // SECOND, a.atime % SECOND, a.mtime // SECOND,
                       a.mtime % SECOND, a.ctime // SECOND, a.ctime % SECOND)


def optional(value, encode):
    return u32(0) if value is None else u32(1) + encode(value)


def encode_wcc(wcc):
    before, after = wcc
    return optional(before, lambda b: u64(b.size) + time3(b.mtime) + time3(b.ctime)) + \
        optional(after, encode_attributes)


def encode_settings(settings):
    out = b""
    for key, encode in (("mode", u32), ("uid", u32), ("gid", u32), ("size", u64)):
        out += optional(settings.get(key), encode)
    for key in "atime", "mtime":
        value = settings.get(key)
        if value is None or value == SERVER_TIME:
            out += u32(0 if value is None else 1)
        else:
            out += u32(2) + time3(value)
    return out


def encode_arguments(procedure, a):
    if procedure == NULL:
        return b""
    out = opaque(a["object"])
    if "name" in a:
        out += opaque(a["name"])
    if procedure == SETATTR:
        out += encode_settings(a["settings"]) + optional(a.get("guard"), time3)
    elif procedure == ACCESS:
        out += u32(a["access"])
    elif procedure in (READ, COMMIT):
        out += u64(a["offset"]) + u32(a["count"])
    elif procedure == WRITE:
        out += u64(a["offset"]) + u32(a["count"], a["stable"]) + opaque(data_bytes(a["data"]))
    elif procedure == CREATE:
        exclusive = a["how"] == EXCLUSIVE
        out += u32(a["how"]) + (a["verifier"] if exclusive else encode_settings(a["settings"]))
    elif procedure == MKDIR:
        out += encode_settings(a["settings"])
    elif procedure == SYMLINK:
        out += encode_settings(a["settings"]) + opaque(a["text"])
    elif procedure == MKNOD:
        out += u32(a["type"])
        if a["type"] in (CHR, BLK, SOCK, FIFO):
            out += encode_settings(a["settings"])
        if a["type"] in (CHR, BLK):
            out += u32(*a["rdev"])
    elif procedure in (RENAME, LINK):
        out += opaque(a["object2"]) + opaque(a["name2"])
    elif procedure == READDIR:
        out += u64(a["cookie"]) + a["verifier"] + u32(a["count"])
    elif procedure == READDIRPLUS:
        out += u64(a["cookie"]) + a["verifier"] + u32(a["dircount"], a["maxcount"])
    return out


def encode_posts(form, r):
    out = b""
    for letter in form:
        if letter in "ad":
            out += optional(r["attributes" if letter == "a" else "dir_attributes"],
                            encode_attributes)
        else:
            out += encode_wcc(r["wcc" if letter == "w" else "wcc2"])
    return out


def encode_result(procedure, status, r):
    """The result with its status; b"" for NULL."""
    if procedure == NULL:
        return b""
    first, last, failure = FORMS[procedure]
    if status != OK:
        return u32(status) + encode_posts(failure, r)
    return u32(OK) + encode_posts(first, r) + encode_success(procedure, r) + encode_posts(last, r)


def encode_success(procedure, r):
    if procedure == GETATTR:
        return encode_attributes(r["attributes"])
    if procedure == LOOKUP:
        return opaque(r["handle"])
    if procedure == ACCESS:
        return u32(r["access"])
    if procedure == READLINK:
        return opaque(r["text"])
    if procedure == READ:
        return u32(r["count"], int(r["eof"])) + opaque(data_bytes(r["data"]))
    if procedure == WRITE:
        return u32(r["count"], r["committed"]) + r["verifier"]
    if procedure in (CREATE, MKDIR, SYMLINK, MKNOD):
        return optional(r["handle"], opaque) + optional(r["attributes"], encode_attributes)
    if procedure == READDIR:
        return r["verifier"] + b"".join(
            u32(1) + u64(fileid) + opaque(name) + u64(cookie)
            for fileid, name, cookie in r["entries"]) + u32(0, int(r["eof"]))
    if procedure == READDIRPLUS:
        return r["verifier"] + b"".join(
            u32(1) + u64(fileid) + opaque(name) + u64(cookie)
            + optional(attributes, encode_attributes) + optional(handle, opaque)
            for fileid, name, cookie, attributes, handle in r["entries"]) + u32(0, int(r["eof"]))
    if procedure == FSSTAT:
        return u64(*[r[f] for f in FSSTAT_FIELDS]) + u32(r["invarsec"])
    if procedure == FSINFO:
        return u32(*[r[f] for f in FSINFO_FIELDS]) + u64(r["maxfilesize"]) + \
            time3(r["time_delta"]) + u32(r["properties"])
    if procedure == PATHCONF:
        return u32(*[int(r[f]) for f in PATHCONF_FIELDS])
    if procedure == COMMIT:
        return r["verifier"]
    return b""


class Cursor:
    """Reads XDR. Raises ValueError or struct.error past the end."""

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def u32(self):
        self.at += 4
        return struct.unpack_from(">I", self.data, self.at - 4)[0]

    def u64(self):
        self.at += 8
        return struct.unpack_from(">Q", self.data, self.at - 8)[0]

    def fixed(self, length):
        if self.at + length > len(self.data):
            raise ValueError("the message ends within %d bytes at %d" % (length, self.at))
        start = self.at
        self.at += length + -length % 4
        return bytes(self.data[start:start + length])

    def opaque(self):
        return self.fixed(self.u32())

    def optional(self, decode):
        return decode() if self.u32() else None

    def time(self):
        return self.u32() * SECOND + self.u32()

    def attributes(self):
        v = FATTR3.unpack_from(self.data, self.at)
        self.at += FATTR3.size
        return Attributes(*v[:7], (v[7], v[8]), v[9], v[10], v[11] * SECOND + v[12],
                          v[13] * SECOND + v[14], v[15] * SECOND + v[16])

    def wcc(self):
        return (self.optional(lambda: Before(self.u64(), self.time(), self.time())),
                self.optional(self.attributes))

    def settings(self):
        out = {}
        for key, decode in (("mode", self.u32), ("uid", self.u32), ("gid", self.u32),
                            ("size", self.u64)):
            out[key] = self.optional(decode)
        for key in "atime", "mtime":
            how = self.u32()
            out[key] = None if how == 0 else SERVER_TIME if how == 1 else self.time()
        return {k: v for k, v in out.items() if v is not None}

    def end(self):
        if self.at != len(self.data):
            raise ValueError("%d bytes behind the end" % (len(self.data) - self.at))


NAMED = (LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME)


def decode_arguments(procedure, data):
    c, a = Cursor(data), {}
    if procedure not in (NULL, ACL_NULL):
        a["object"] = c.opaque()
    if procedure in NAMED:
        a["name"] = c.opaque()
    if procedure == SETATTR:
        a["settings"] = c.settings()
        a["guard"] = c.optional(c.time)
    elif procedure == GETACL:
        a["mask"] = c.u32()
    elif procedure == SETACL:
        a["mask"], lists = c.u32(), []
        for _ in range(2):  # of the object; of what will be made in it
            c.u32()
            lists.append([(c.u32(), c.u32(), c.u32()) for _ in range(c.u32())])
        a["acl"], a["default_acl"] = lists
    elif procedure == ACCESS:
        a["access"] = c.u32()
    elif procedure in (READ, COMMIT):
        a["offset"], a["count"] = c.u64(), c.u32()
    elif procedure == WRITE:
        a["offset"], a["count"], a["stable"] = c.u64(), c.u32(), c.u32()
        a["data"] = data_pieces(c.opaque())
    elif procedure == CREATE:
        a["how"] = c.u32()
        if a["how"] == EXCLUSIVE:
            a["verifier"] = c.fixed(8)
        else:
            a["settings"] = c.settings()
    elif procedure == MKDIR:
        a["settings"] = c.settings()
    elif procedure == SYMLINK:
        a["settings"], a["text"] = c.settings(), c.opaque()
    elif procedure == MKNOD:
        a["type"] = c.u32()
        if a["type"] in (CHR, BLK, SOCK, FIFO):
            a["settings"] = c.settings()
        if a["type"] in (CHR, BLK):
            a["rdev"] = (c.u32(), c.u32())
    elif procedure in (RENAME, LINK):
        a["object2"], a["name2"] = c.opaque(), c.opaque()
    elif procedure == READDIR:
        a["cookie"], a["verifier"], a["count"] = c.u64(), c.fixed(8), c.u32()
    elif procedure == READDIRPLUS:
        a["cookie"], a["verifier"] = c.u64(), c.fixed(8)
        a["dircount"], a["maxcount"] = c.u32(), c.u32()
    c.end()
    return a


def decode_posts(c, form, r):
    for letter in form:
        if letter in "ad":
            r["attributes" if letter == "a" else "dir_attributes"] = c.optional(c.attributes)
        else:
            r["wcc" if letter == "w" else "wcc2"] = c.wcc()


def decode_result(procedure, data, whole=True):
    """(status, fields). |whole|: False: there may be bytes behind the end, as Ganesha has them."""
    c, r = Cursor(data), {}
    if procedure in (NULL, ACL_NULL):
        c.end()
        return OK, r
    first, last, failure = FORMS[procedure]
    status = c.u32()
    if status != OK:
        decode_posts(c, failure, r)
    else:
        decode_posts(c, first, r)
        decode_success(c, procedure, r)
        decode_posts(c, last, r)
    if whole:
        c.end()
    return status, r


def decode_success(c, procedure, r):
    if procedure == GETATTR:
        r["attributes"] = c.attributes()
    elif procedure == LOOKUP:
        r["handle"] = c.opaque()
    elif procedure == ACCESS:
        r["access"] = c.u32()
    elif procedure == READLINK:
        r["text"] = c.opaque()
    elif procedure == READ:
        r["count"], r["eof"], r["data"] = c.u32(), bool(c.u32()), data_pieces(c.opaque())
    elif procedure == WRITE:
        r["count"], r["committed"], r["verifier"] = c.u32(), c.u32(), c.fixed(8)
    elif procedure in (CREATE, MKDIR, SYMLINK, MKNOD):
        r["handle"], r["attributes"] = c.optional(c.opaque), c.optional(c.attributes)
    elif procedure in (READDIR, READDIRPLUS):
        r["verifier"], r["entries"] = c.fixed(8), []
        while c.u32():
            entry = (c.u64(), c.opaque(), c.u64())
            if procedure == READDIRPLUS:
                entry += (c.optional(c.attributes), c.optional(c.opaque))
            r["entries"].append(entry)
        r["eof"] = bool(c.u32())
    elif procedure == FSSTAT:
        for field in FSSTAT_FIELDS:
            r[field] = c.u64()
        r["invarsec"] = c.u32()
    elif procedure == FSINFO:
        for field in FSINFO_FIELDS:
            r[field] = c.u32()
        r["maxfilesize"], r["time_delta"], r["properties"] = c.u64(), c.time(), c.u32()
    elif procedure == PATHCONF:
        for field in PATHCONF_FIELDS:
            r[field] = c.u32()
    elif procedure == COMMIT:
        r["verifier"] = c.fixed(8)
