# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of pairing scenarios: name -> function that makes a Case.

Other modules add to it with @case; the name of a case is that of its function.
"""
import messages as m
import traffic

MS, SECOND, HOUR = 10**6, 10**9, 3600 * 10**9
A, B, C = m.handle(1), m.handle(2), m.handle(3)
GETATTR_A = (m.GETATTR, m.getattr_args(A), m.getattr_res(1))
GETATTR_B = (m.GETATTR, m.getattr_args(B), m.getattr_res(2))
LOOKUP_C = (m.LOOKUP, m.lookup_args(A, "c"), m.lookup_res(C, 3))
READ_A = (m.READ, m.read_args(A, 0, 3000), m.read_res(m.pattern(3000)))
NOTHING = (m.NULL, b"", b"")

CASES = {}


class Case:
    """|files|: the capture's frames cut into files at these frame counts; |commands|: how the files
    are given to ingest, as lists of file indexes."""

    def __init__(self, trace, cuts=(), commands=None, pcapng=False):
        self.trace, self.cuts, self.pcapng = trace, list(cuts), pcapng
        files = len(self.cuts) + 1
        self.commands = commands or [list(range(files))]

    def parts(self):
        """[(first frame - 1, packets)]"""
        packets = self.trace.packets()
        edges = [0] + self.cuts + [len(packets)]
        return [(low, packets[low:high]) for low, high in zip(edges, edges[1:])]


def case(function):
    CASES[function.__name__] = function
    return function


def variants(**table):
    """One function, a case for each row: name_row."""
    def wrap(function):
        for row, arguments in table.items():
            CASES[function.__name__ + "_" + row] = (
                lambda arguments=arguments: function(*arguments))
        return function
    return wrap


def tcp(trace, port=900, client="10.0.0.1", **options):
    """An open connection that has already been used."""
    flow = traffic.TcpFlow(trace, client, port, **options)
    flow.open()
    flow.pair(0x1000 + port, *NOTHING)
    return flow


def udp(trace, port=900, client="10.0.0.1", **options):
    flow = traffic.UdpFlow(trace, client, port, **options)
    flow.pair(0x1000 + port, *NOTHING)
    return flow


def mix(flow, first_xid, count, gap=1 * MS):
    """|count| pairs of changing kinds, each on its own object."""
    for i in range(count):
        xid, fh = first_xid + i, m.handle(1000 + i)
        if i % 4 == 0:
            flow.pair(xid, m.GETATTR, m.getattr_args(fh), m.getattr_res(1000 + i))
        elif i % 4 == 1:
            flow.pair(xid, m.READ, m.read_args(fh, 0, 5000), m.read_res(m.pattern(5000, i)))
        elif i % 4 == 2:
            flow.pair(xid, m.WRITE, m.write_args(fh, i, m.pattern(4000, i)), m.write_res(4000))
        else:
            flow.pair(xid, m.LOOKUP, m.lookup_args(fh, "no%d" % i), m.lookup_fail())
        flow.trace.wait(gap)
