# SPDX-License-Identifier: GPL-2.0-or-later
"""RPC messages of NFSv3 and its neighbours, as bytes (RFC 4506, RFC 5531, RFC 1813).

Written from the RFCs and independent of the engine's tables: tests use it as an oracle.
Calls are made by call(xid, procedure, arguments), replies by reply(xid, result); arguments and
results by functions named after the procedure.
"""
import struct

NFS, MOUNT, PORTMAP, NFSACL = 100003, 100005, 100000, 100227
(NULL, GETATTR, SETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE, MKDIR, SYMLINK, MKNOD,
 REMOVE, RMDIR, RENAME, LINK, READDIR, READDIRPLUS, FSSTAT, FSINFO, PATHCONF, COMMIT) = range(22)
OK, NOENT, STALE = 0, 2, 70
REG, DIR, LNK = 1, 2, 5


def u32(*values):
    return struct.pack(">%dI" % len(values), *values)


def u64(*values):
    return struct.pack(">%dQ" % len(values), *values)


def pad(data):
    return data + bytes(-len(data) % 4)


def opaque(data):
    """opaque<> and string<>: the length, the bytes, zeros up to a multiple of four."""
    if isinstance(data, str):
        data = data.encode()
    return u32(len(data)) + pad(data)


def auth_none():
    return u32(0, 0)


def auth_sys(uid=1000, gid=1000, gids=(1000, 4, 24), machine="client", stamp=0):
    body = u32(stamp) + opaque(machine) + u32(uid, gid, len(gids), *gids)
    return u32(1) + opaque(body)


def call(xid, procedure, arguments=b"", program=NFS, version=3, credential=None):
    if credential is None:
        credential = auth_sys()
    return u32(xid, 0, 2, program, version, procedure) + credential + auth_none() + arguments


def reply(xid, result=b"", accept=0):
    return u32(xid, 1, 0) + auth_none() + u32(accept) + result


def denied(xid, auth_stat=1):
    """AUTH_ERROR."""
    return u32(xid, 1, 1, 1, auth_stat)


def record(message, fragments=()):
    """A message with its record marks (RFC 5531 s11). |fragments|: lengths of all but the last."""
    out, at = b"", 0
    for length in fragments:
        out += u32(length) + message[at:at + length]
        at += length
    return out + u32(0x80000000 | len(message) - at) + message[at:]


def handle(number, length=28):
    """A file handle that is told from others by |number|."""
    return (u32(0x01000701) + u64(number) + bytes(range(64)))[:length]


def time3(ns):
    return u32(ns // 10**9 & 0xffffffff, ns % 10**9)


def fattr3(fileid, kind=REG, size=4096, mtime=1_700_000_000_000_000_000):
    mode = 0o755 if kind == DIR else 0o644
    return (u32(kind, mode, 1, 1000, 1000) + u64(size, size) + u32(0, 0) + u64(0xfd00, fileid)
            + time3(mtime) * 3)


def some(data):
    """An optional that is there."""
    return u32(1) + data


def wcc(fileid=None, kind=DIR):
    return u32(0) + (u32(0) if fileid is None else some(fattr3(fileid, kind)))


# Arguments and results of procedures. Results take the status first.

def getattr_args(fh):
    return opaque(fh)


def getattr_res(fileid, kind=REG, size=4096):
    return u32(OK) + fattr3(fileid, kind, size)


def lookup_args(directory, name):
    return opaque(directory) + opaque(name)


def lookup_res(fh, fileid, kind=REG):
    return u32(OK) + opaque(fh) + some(fattr3(fileid, kind)) + u32(0)


def lookup_fail(status=NOENT):
    return u32(status) + u32(0)


def access_args(fh, bits=0x1f):
    return opaque(fh) + u32(bits)


def access_res(fileid, bits=0x1f, kind=REG):
    return u32(OK) + some(fattr3(fileid, kind)) + u32(bits)


def read_args(fh, offset, count):
    return opaque(fh) + u64(offset) + u32(count)


def read_res(data, fileid=1, eof=False):
    return u32(OK) + some(fattr3(fileid)) + u32(len(data), int(eof)) + opaque(data)


def write_args(fh, offset, data, stable=2):
    return opaque(fh) + u64(offset) + u32(len(data), stable) + opaque(data)


def write_res(count, fileid=1, verifier=0x1122334455667788, committed=2):
    return u32(OK) + wcc(fileid, REG) + u32(count, committed) + u64(verifier)


def commit_args(fh, offset=0, count=0):
    return opaque(fh) + u64(offset) + u32(count)


def commit_res(fileid=1, verifier=0x1122334455667788):
    return u32(OK) + wcc(fileid, REG) + u64(verifier)


def create_args(directory, name):
    """UNCHECKED, with a mode and nothing else."""
    return opaque(directory) + opaque(name) + u32(0) + u32(1, 0o644, 0, 0, 0, 0, 0)


def create_res(fh, fileid):
    return u32(OK) + some(opaque(fh)) + some(fattr3(fileid)) + wcc()


def remove_args(directory, name):
    return opaque(directory) + opaque(name)


def remove_res():
    return u32(OK) + wcc()


def pattern(length, seed=1):
    """Bytes that repeat nowhere near and look like no RPC header."""
    out = bytearray()
    state = seed & 0xffffffff or 1
    while len(out) < length:
        state ^= state << 13 & 0xffffffff
        state ^= state >> 17
        state ^= state << 5 & 0xffffffff
        out += struct.pack(">I", state)
    return bytes(out[:length])
