# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies of NFSv3 (RFC 1813) and NFSACL: every procedure, every arm of every union.

NFSACL has no RFC; its structures are those of the nfs_acl.x that Solaris publishes.
"""
from xdr import Values, array, boolean, fixed, linked, opaque, optional, string, u32, u64

NFS3_OK, ERR_NOENT, ERR_NOT_SYNC, ERR_JUKEBOX = 0, 2, 10002, 10008
# RFC 1813 s2.6
NFSSTAT3 = [1, 2, 5, 6, 13, 17, 18, 19, 20, 21, 22, 27, 28, 30, 31, 63, 66, 69, 70, 71, 10001,
            10002, 10003, 10004, 10005, 10006, 10007, 10008]


class Nfs3:
    def __init__(self, values=None):
        self.v = values or Values()

    def time(self):
        n = self.v.next()
        return u32(n * 1000003) + u32(n * 7919 % 1000000000)

    def handle(self, length=28):
        return opaque(self.v.bytes(length))

    def fattr(self, ftype=1):
        v = self.v
        return (u32(ftype) + u32(0o7777 & v.next() * 73) + v.n32() + v.secret32() + v.secret32() +
                v.n64() + v.n64() + v.secret32() + v.secret32() + v.secret64() + v.secret64() +
                self.time() + self.time() + self.time())

    def attr(self, present=True, ftype=1):
        return optional(self.fattr(ftype) if present else None)

    def wcc(self, before=True, after=True):
        pre = self.v.n64() + self.time() + self.time()
        return optional(pre if before else None) + self.attr(after)

    def name(self):
        return string(self.v.name(5 + self.v.next() % 9))

    def where(self):
        return self.handle() + self.name()

    def sattr(self, setting, how=0):
        """|how|: 0 don't change times, 1 to server time, 2 to client time (RFC 1813 s2.6)."""
        v = self.v
        out = optional(u32(0o640 + v.next() % 8) if setting else None)
        for _ in range(2):
            out += optional(v.secret32() if setting else None)
        out += optional(v.n64() if setting else None)
        for _ in range(2):
            out += u32(how) + (self.time() if how == 2 else b"")
        return out

    def both(self):
        for present in (True, False):
            yield present


def nfs3_cases(values=None):
    """(procedure, arguments, result)"""
    n = Nfs3(values)
    v = n.v
    cases = [(0, b"", b"")]

    for ftype in range(1, 8):
        cases.append((1, n.handle(), u32(0) + n.fattr(ftype)))
    for status in NFSSTAT3:
        cases.append((1, n.handle(64 - status % 60), u32(status)))

    for how in range(3):
        for present in n.both():
            guard = optional(n.time() if present else None)
            cases.append((2, n.handle() + n.sattr(present, how) + guard,
                          u32(0) + n.wcc(present, True)))
    cases.append((2, n.handle() + n.sattr(True, 2) + optional(None),
                  u32(ERR_NOT_SYNC) + n.wcc(True, False)))

    for a in n.both():
        for b in n.both():
            cases.append((3, n.where(), u32(0) + n.handle() + n.attr(a) + n.attr(b, 2)))
        cases.append((3, n.where(), u32(ERR_NOENT) + n.attr(a)))
        cases.append((4, n.handle() + u32(0x3F), u32(0) + n.attr(a) + u32(0x15)))
        cases.append((4, n.handle() + u32(0x2A), u32(13) + n.attr(a)))
        cases.append((5, n.handle(), u32(0) + n.attr(a) + string(v.text("../some/where"))))
        cases.append((5, n.handle(), u32(22) + n.attr(a)))
        data = v.bytes(1001 if a else 0)
        cases.append((6, n.handle() + v.n64() + v.n32(),
                      u32(0) + n.attr(a) + u32(len(data)) + boolean(not a) + opaque(data)))
        cases.append((6, n.handle() + v.n64() + v.n32(), u32(5) + n.attr(a)))
    for stable in range(3):
        data = v.bytes(stable * 333)
        cases.append((7, n.handle() + v.n64() + u32(len(data)) + u32(stable) + opaque(data),
                      u32(0) + n.wcc(stable != 1, stable != 2) + v.n32() + u32(2 - stable) +
                      fixed(v.bytes(8))))
    cases.append((7, n.handle() + v.n64() + u32(3) + u32(2) + opaque(v.bytes(3)),
                  u32(28) + n.wcc()))

    made = []
    for a in n.both():
        for b in n.both():
            made.append(u32(0) + optional(n.handle() if a else None) + n.attr(b) + n.wcc(a, b))
    made.append(u32(17) + n.wcc())
    made.append(u32(30) + n.wcc(False, False))

    hows = [u32(0) + n.sattr(True, 1), u32(0) + n.sattr(False, 0), u32(1) + n.sattr(True, 2),
            u32(2) + fixed(v.bytes(8)), u32(1) + n.sattr(False, 2), u32(0) + n.sattr(True)]
    cases += [(8, n.where() + how, result) for how, result in zip(hows, made)]
    cases += [(9, n.where() + n.sattr(i % 2 == 0, i % 3), r) for i, r in enumerate(made)]
    cases += [(10, n.where() + n.sattr(i % 2 == 0, i % 3) + string(v.text("target/%d" % i)), r)
              for i, r in enumerate(made)]
    nodes = [u32(3) + n.sattr(True, 1) + v.secret32() + v.secret32(),
             u32(4) + n.sattr(False, 2) + v.secret32() + v.secret32(),
             u32(6) + n.sattr(True, 2), u32(7) + n.sattr(True, 0), u32(1), u32(2)]
    cases += [(11, n.where() + node, r) for node, r in zip(nodes, made)]

    for procedure in (12, 13):
        for a in n.both():
            cases.append((procedure, n.where(), u32(0) + n.wcc(a, True)))
            cases.append((procedure, n.where(), u32(66) + n.wcc(a, False)))
    for a in n.both():
        for status in (0, 18):
            cases.append((14, n.where() + n.where(), u32(status) + n.wcc(a) + n.wcc(not a)))
            cases.append((15, n.handle() + n.where(), u32(status) + n.attr(a) + n.wcc(not a)))

    def entry():
        return v.secret64() + n.name() + v.secret64()

    def entry_plus(a, b):
        return (v.secret64() + n.name() + v.secret64() + n.attr(a) +
                optional(n.handle() if b else None))

    for a in n.both():
        cases.append((16, n.handle() + v.secret64() + fixed(v.bytes(8)) + v.n32(),
                      u32(0) + n.attr(a, 2) + fixed(v.bytes(8)) +
                      linked([entry() for _ in range(3 if a else 0)]) + boolean(a)))
        cases.append((16, n.handle() + v.secret64() + fixed(v.bytes(8)) + v.n32(),
                      u32(10003) + n.attr(a)))
        entries = [entry_plus(x, y) for x in n.both() for y in n.both()] if a else []
        cases.append((17, n.handle() + v.secret64() + fixed(v.bytes(8)) + v.n32() + v.n32(),
                      u32(0) + n.attr(a, 2) + fixed(v.bytes(8)) + linked(entries) +
                      boolean(not a)))
        cases.append((17, n.handle() + v.secret64() + fixed(v.bytes(8)) + v.n32() + v.n32(),
                      u32(10004) + n.attr(a)))
        cases.append((18, n.handle(), u32(0) + n.attr(a) +
                      b"".join(v.n64() for _ in range(6)) + v.n32()))
        cases.append((18, n.handle(), u32(70) + n.attr(a)))
        cases.append((19, n.handle(), u32(0) + n.attr(a) + b"".join(v.n32() for _ in range(7)) +
                      v.n64() + n.time() + u32(0x1B if a else 0)))
        cases.append((19, n.handle(), u32(10001) + n.attr(a)))
        flags = [boolean(a), boolean(not a), boolean(a), boolean(not a)]
        cases.append((20, n.handle(), u32(0) + n.attr(a) + v.n32() + v.n32() + b"".join(flags)))
        cases.append((20, n.handle(), u32(10006) + n.attr(a)))
        cases.append((21, n.handle() + v.n64() + v.n32(),
                      u32(0) + n.wcc(a, not a) + fixed(v.bytes(8))))
        cases.append((21, n.handle() + v.n64() + v.n32(), u32(ERR_JUKEBOX) + n.wcc(not a, a)))
    return cases


def acl(n, entries, defaults):
    """secattr: mask, counts, and both lists. Types as Solaris's sys/acl.h has them."""
    def one(kind):
        return u32(kind) + n.v.secret32() + u32(n.v.next() % 8)
    return (u32(0xF) + u32(entries) + array([one(1 << i) for i in range(entries)]) +
            u32(defaults) + array([one(0x1000 | 1 << i) for i in range(defaults)]))


def fattr2(n, ftype=1):
    """RFC 1094 s2.3.5"""
    v = n.v
    return (u32(ftype) + u32(0o100644) + v.n32() + v.secret32() + v.secret32() + v.n32() + v.n32() +
            v.secret32() + v.n32() + v.secret32() + v.secret32() +
            b"".join(u32(v.next() * 1000003) + u32(v.next() * 7919 % 1000000) for _ in range(3)))


def nfsacl2_cases(values=None):
    n = Nfs3(values)
    handle = lambda: fixed(n.v.bytes(32))
    cases = [(0, b"", b"")]
    cases.append((1, handle() + u32(0xF), u32(0) + fattr2(n) + acl(n, 6, 5)))
    cases.append((1, handle() + u32(5), u32(0) + fattr2(n, 2) + acl(n, 0, 0)))
    cases.append((1, handle() + u32(1), u32(70)))
    cases.append((2, handle() + acl(n, 5, 4), u32(0) + fattr2(n)))
    cases.append((2, handle() + acl(n, 0, 0), u32(13)))
    cases.append((3, handle(), u32(0) + fattr2(n)))
    cases.append((3, handle(), u32(70)))
    cases.append((4, handle() + u32(0x3F), u32(0) + fattr2(n) + u32(0x15)))
    cases.append((4, handle() + u32(0x1F), u32(1)))
    for create in (True, False):
        cases.append((5, handle() + boolean(create), u32(0) + handle() + fattr2(n, 2)))
    cases.append((5, handle() + boolean(True), u32(2)))
    return cases


def nfsacl3_cases(values=None):
    n = Nfs3(values)
    cases = [(0, b"", b"")]
    for a in (True, False):
        cases.append((1, n.handle() + u32(0xF), u32(0) + n.attr(a) + acl(n, 6, 5)))
        cases.append((1, n.handle() + u32(0x3), u32(0) + n.attr(a) + acl(n, 0, 0)))
        cases.append((1, n.handle() + u32(0xF), u32(10004) + n.attr(a)))
        cases.append((2, n.handle() + acl(n, 5, 4), u32(0) + n.attr(a)))
        cases.append((2, n.handle() + acl(n, 0, 0), u32(30) + n.attr(a)))
        cases.append((3, n.handle() + boolean(a), u32(0) + n.handle() + n.attr(a)))
        cases.append((3, n.handle() + boolean(a), u32(2)))
    return cases
