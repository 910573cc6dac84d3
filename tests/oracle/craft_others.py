# SPDX-License-Identifier: GPL-2.0-or-later
"""Bodies of MOUNT (RFC 1094 A, RFC 1813 s5), PORTMAP and RPCBIND (RFC 1833) and NLM (XNFS 10,
RFC 1813 s6): every procedure, every arm of every union."""
from xdr import Values, array, boolean, fixed, linked, opaque, string, u32


def exports(v):
    groups = [string(v.text("host-a")), string(v.text("@netgroup")),
              string(v.address("10.0.0.0/8"))]
    return linked([string(v.text("/export/home")) + linked(groups),
                   string(v.text("/export/open")) + linked([])])


def mounts(v):
    return linked([string(v.text("client%d.example" % i)) + string(v.text("/export/%d" % i))
                   for i in range(3)])


def mount1_cases(values=None):
    v = values or Values()
    home = lambda: string(v.text("/export/home"))
    cases = [(0, b"", b""), (1, home(), u32(0) + fixed(v.bytes(32)))]
    cases += [(1, string(v.text("/export/%d" % s)), u32(s)) for s in (1, 2, 5, 13, 20, 22, 63)]
    cases += [(2, b"", mounts(v)), (2, b"", linked([])), (3, home(), b""),
              (4, b"", b""), (5, b"", exports(v)), (6, b"", exports(v)), (5, b"", linked([]))]
    return cases


def mount3_cases(values=None):
    v = values or Values()
    home = lambda: string(v.text("/export/home"))
    cases = [(0, b"", b"")]
    for flavors in ([1], [], [1, 0, 6, 390003, 390004, 390005, 77]):
        cases.append((1, home(), u32(0) + opaque(v.bytes(20 + len(flavors))) +
                      array([u32(f) for f in flavors])))
    cases += [(1, string(v.text("/export/%d" % s)), u32(s))
              for s in (1, 2, 5, 13, 20, 22, 63, 10004, 10006)]
    cases += [(2, b"", mounts(v)), (2, b"", linked([])), (3, home(), b""),
              (4, b"", b""), (5, b"", exports(v)), (5, b"", linked([]))]
    return cases


def portmap2_cases(values=None):
    v = values or Values()

    def mapping(protocol):
        return v.n32() + u32(v.next()) + u32(protocol) + u32(1000 + v.next())

    cases = [(0, b"", b"")]
    for answer in (True, False):
        cases.append((1, mapping(6), boolean(answer)))
        cases.append((2, mapping(17), boolean(answer)))
    cases.append((3, u32(100003) + u32(3) + u32(6) + u32(0), u32(2049)))
    cases.append((3, u32(100021) + u32(4) + u32(17) + u32(7), u32(0)))
    cases.append((4, b"", linked([mapping(p) for p in (6, 17, 99)])))
    cases.append((4, b"", linked([])))
    # An unknown program, for the stock dissector shows known ones decoded.
    cases.append((5, u32(0x20000001) + u32(2) + u32(3) + opaque(v.bytes(21)),
                  u32(999) + opaque(v.bytes(10))))
    cases.append((5, u32(0x20000001) + u32(2) + u32(3) + opaque(b""), u32(999) + opaque(b"")))
    return cases


def rpcb(v, netid, address, owner):
    return (v.n32() + u32(v.next()) + string(netid) +
            string(v.address(address) if address else "") + string(v.text(owner) if owner else ""))


def rpcbind_common(v):
    cases = [(0, b"", b"")]
    for answer in (True, False):
        cases.append((1, rpcb(v, "tcp", "0.0.0.0.8.1", "superuser"), boolean(answer)))
        cases.append((2, rpcb(v, "udp6", "::.8.1", "1000"), boolean(answer)))
    cases.append((3, u32(100003) + u32(3) + string("tcp") + string(v.address("192.0.2.1.0.111")) +
                  string(""), string(v.address("192.0.2.1.8.1"))))
    cases.append((3, rpcb(v, "udp6", "2001:db8::1.0.111", "me"), string("")))
    cases.append((4, b"", linked([rpcb(v, "tcp", "0.0.0.0.0.111", "superuser"),
                                  rpcb(v, "local", "/run/rpcbind.sock", "superuser"),
                                  rpcb(v, "udp6", "::.2.3", "nobody")])))
    cases.append((4, b"", linked([])))
    cases.append((5, u32(0x20000001) + u32(2) + u32(3) + opaque(v.bytes(13)),
                  string(v.address("192.0.2.1.3.231")) + opaque(v.bytes(9))))
    cases.append((6, b"", v.n32()))
    cases.append((7, string(v.address("192.0.2.1.8.1")), u32(16) + opaque(v.bytes(16))))
    cases.append((8, u32(28) + opaque(v.bytes(28)), string(v.address("2001:db8::1.8.1"))))
    return cases


def rpcbind3_cases(values=None):
    return rpcbind_common(values or Values())


def rpcbind4_cases(values=None):
    v = values or Values()
    cases = rpcbind_common(v)
    cases.append((9, rpcb(v, "tcp", "192.0.2.1.0.111", ""),
                  string(v.address("192.0.2.1.8.1"))))
    cases.append((10, u32(0x20000001) + u32(2) + u32(3) + opaque(v.bytes(13)),
                  string(v.address("192.0.2.1.3.231")) + opaque(v.bytes(9))))
    entry = lambda address, netid, semantics, proto: (
        string(v.address(address)) + string(netid) + u32(semantics) + string("inet") + string(proto))
    cases.append((11, rpcb(v, "tcp", "", ""), linked([entry("192.0.2.1.8.1", "tcp", 3, "tcp"),
                                                      entry("192.0.2.1.8.2", "udp", 1, "udp")])))
    cases.append((11, rpcb(v, "tcp", "", ""), linked([])))

    def statistics(entries):
        addresses = [v.n32() + v.n32() + v.n32() + v.n32() + string("tcp")
                     for _ in range(entries)]
        remote = [v.n32() + v.n32() + v.n32() + v.n32() + v.n32() + v.n32() + string("udp")
                  for _ in range(entries)]
        return (b"".join(v.n32() for _ in range(13)) + v.n32() + v.n32() + linked(addresses) +
                linked(remote))

    cases.append((12, b"", statistics(0) + statistics(2) + statistics(1)))
    return cases


def nlm_cases(wide, sharing, values=None):
    """|wide|: version 4's 64-bit offsets; |sharing|: the procedures from 20 on."""
    v = values or Values()
    cookie = lambda: opaque(v.bytes(4 + v.next() % 5))
    number = v.n64 if wide else v.n32
    statuses = range(10) if wide else range(5)

    def lock():
        return (string(v.text("client%d.example" % v.next())) + opaque(v.bytes(28)) +
                opaque(v.bytes(11)) + v.secret32() + number() + number())

    def testargs(exclusive):
        return cookie() + boolean(exclusive) + lock()

    def lockargs(flag):
        return (cookie() + boolean(flag) + boolean(not flag) + lock() + boolean(flag) + v.n32())

    def cancargs(flag):
        return cookie() + boolean(flag) + boolean(not flag) + lock()

    def unlockargs(_):
        return cookie() + lock()

    def res(status):
        return cookie() + u32(status)

    def testres(status):
        holder = boolean(True) + v.secret32() + opaque(v.bytes(9)) + number() + number()
        return cookie() + u32(status) + (holder if status == 1 else b"")

    cases = [(0, b"", b"")]
    arguments = {1: testargs, 2: lockargs, 3: cancargs, 4: unlockargs, 5: testargs}
    for procedure, make in arguments.items():
        result = testres if procedure == 1 else res
        for status in statuses:
            cases.append((procedure, make(status % 2 == 0), result(status)))
            cases.append((procedure + 10, result(status), b""))
        for flag in (True, False):
            cases.append((procedure + 5, make(flag), b""))
    if sharing:
        for procedure in (20, 21):
            for i in range(4):
                share = (string(v.text("pc%d" % i)) + opaque(v.bytes(32)) + opaque(v.bytes(7)) + u32(i) +
                         u32(3 - i))
                cases.append((procedure, cookie() + share + boolean(i % 2),
                              cookie() + u32(i) + v.n32()))
        cases.append((22, lockargs(False), res(0)))
        cases.append((22, lockargs(True), res(2)))
        cases.append((23, string(v.text("pc1")) + v.n32(), b""))
    return cases
