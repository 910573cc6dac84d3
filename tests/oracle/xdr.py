# SPDX-License-Identifier: GPL-2.0-or-later
"""XDR (RFC 4506) and RPC messages (RFC 5531), for tests.

Knows nothing of the engine's tables: what is written here by hand from the RFCs is what the
tables are tested against.
"""
import struct


def u32(v):
    return struct.pack(">I", v & 0xFFFFFFFF)


def u64(v):
    return struct.pack(">Q", v & 0xFFFFFFFFFFFFFFFF)


def boolean(v):
    return u32(1 if v else 0)


def fixed(data):
    return data + bytes(-len(data) % 4)


def opaque(data):
    return u32(len(data)) + fixed(data)


def string(text):
    return opaque(text.encode() if isinstance(text, str) else text)


def optional(body):
    """None: absent (RFC 4506 s4.19)."""
    return boolean(False) if body is None else boolean(True) + body


def linked(bodies):
    return b"".join(boolean(True) + b for b in bodies) + boolean(False)


def array(bodies):
    return u32(len(bodies)) + b"".join(bodies)


class Values:
    """Values that are all different, so that fields which changed places don't go unseen.  Those
    that an anonymizer must replace are asked for as bytes, names, texts, addresses and secrets, so
    that others can put marked ones in their places."""

    def __init__(self):
        self.count = 0

    def next(self):
        self.count += 1
        return self.count

    def n32(self):
        return u32(self.next() * 2654435761)

    def n64(self):
        return u64(self.next() * 0x9E3779B97F4A7C15)

    def bytes(self, length):
        seed = self.next()
        return bytes((seed * 37 + i * 11) & 0xFF for i in range(length))

    def secret32(self):
        return self.n32()

    def secret64(self):
        return self.n64()

    def text(self, text):
        """A path, or the name of a host or person."""
        return text

    def address(self, text):
        """A universal address (RFC 5665 s5.2.3), or another transport's."""
        return text

    def name(self, length=8):
        return ("n%d-" % self.next() + "abcdefghijklmnopqrstuvwxyz" * 40)[:length]


def auth_sys(stamp, machine, uid, gid, gids):
    body = u32(stamp) + string(machine) + u32(uid) + u32(gid) + array([u32(g) for g in gids])
    return u32(1) + opaque(body)


AUTH_NONE = u32(0) + opaque(b"")


def call(xid, program, version, procedure, arguments, credential=AUTH_NONE, verifier=AUTH_NONE):
    return (u32(xid) + u32(0) + u32(2) + u32(program) + u32(version) + u32(procedure) +
            credential + verifier + arguments)


def reply(xid, result, verifier=AUTH_NONE):
    return u32(xid) + u32(1) + u32(0) + verifier + u32(0) + result


def reply_not_accepted(xid, accept_stat, detail=b""):
    return u32(xid) + u32(1) + u32(0) + AUTH_NONE + u32(accept_stat) + detail


def reply_denied(xid, reject_stat, detail):
    return u32(xid) + u32(1) + u32(1) + u32(reject_stat) + detail
