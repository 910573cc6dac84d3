#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow long=300 timeout=7200
"""Good files are clean whatever the key: captures with what once raised false alarms, and the
committed ones, anonymized with fresh keys under each policy.
Environment: NFSDIGEST, CAPTURES.  Argument: how many committed captures with a fresh key each."""
import copy
import itertools
import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "gen"), str(SRC / "tests" / "pipeline")]

import audit_lib  # noqa: E402
import messages as m  # noqa: E402
import traffic  # noqa: E402

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


def groups():
    """Exports for everybody, for netgroups, for names with wildcards."""
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.1.2.3", 711, "10.1.2.9", 20048)
    names = "*", "@", "@trusted", "*.lab.example.org", "10.0.0.0/8", ""
    listed = b"".join(m.u32(1) + m.opaque(n) for n in names)
    for xid in range(3):
        flow.pair(xid + 0x11000000, 5, b"", m.u32(1) + m.opaque("/export/home") + listed
                  + m.u32(0, 0), program=m.MOUNT)
    return trace


def printable_marks():
    """A length and an XID that together read as a text, which both may stay."""
    trace = traffic.Trace()
    flow = traffic.TcpFlow(trace, "10.1.2.3", 712, "10.1.2.9")
    flow.open()
    for i in range(4):
        xid = int.from_bytes(b"Lab%d" % i, "big")
        data = bytes(0x4144 - len(m.reply(0, m.read_res(b""))))
        flow.pair(xid, m.READ, m.read_args(m.handle(7), 0, 32768), m.read_res(data))
        flow.pair(xid + 0x01000000, m.WRITE, m.write_args(m.handle(7), 0, bytes(0x4100)),
                  m.write_res(0x4100))
    return trace


def handles_like_names():
    """Handles with texts and zeros in them, as names with suffix and padding look."""
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.1.2.3", 713, "10.1.2.9")
    texts = itertools.product(LETTERS, repeat=4)
    handles = ["".join(next(texts)[::-1]) for _ in range(12000)]
    for i in range(0, len(handles), 6):
        words = b"".join(h.encode() + b".c\0\0" for h in handles[i:i + 6])
        flow.pair(0x20000000 + i, m.LOOKUP, m.lookup_args(words, "file%05d.c" % i),
                  m.lookup_res(m.handle(i), i))
    return trace


def first_dropped(count):
    """So many messages at the start that a policy drops."""
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.1.2.3", 714, "10.1.2.9")
    for i in range(count):
        flow.call(0x30000000 + i, 1, m.u32(0, i), program=m.NFS, version=4)
    for i in range(100):
        flow.pair(0x31000000 + i, m.LOOKUP, m.lookup_args(m.handle(i), "document-%d" % i),
                  m.lookup_res(m.handle(i + 1), i))
    return trace


def connections_again():
    """One pair of ports, one connection after the other."""
    trace = traffic.Trace()
    for turn in range(8):
        flow = traffic.TcpFlow(trace, "10.1.2.3", 715, "10.1.2.9",
                               isn=(turn * 0x11111111, turn * 0x22222222))
        flow.open()
        for i in range(4):
            flow.pair(0x40000000 + 16 * turn + i, m.LOOKUP,
                      m.lookup_args(m.handle(i), "document-%d" % i),
                      m.lookup_res(m.handle(i + 1), i))
        if turn % 2:
            flow.close()
        elif turn % 4:
            flow.reset()
    return trace


def many_connections():
    """So many that the first one is forgotten beside one of the last, and begins again."""
    trace = traffic.Trace()
    first = traffic.TcpFlow(trace, "10.1.2.3", 716, "10.1.2.9")
    first.open()
    flows = [first]
    for i in range((1 << 16) + 3):
        host, port = divmod(i, 5000)
        flows[1:] = [traffic.TcpFlow(trace, "10.1.3.%d" % (host + 1), 1024 + port, "10.1.2.9")]
        if i % 5000 == 0 or i >= 1 << 16:
            for flow in flows:
                flow.pair(0x50000000 + 2 * i + (flow == first), m.LOOKUP,
                          m.lookup_args(m.handle(i % 100), "document-%d" % (i % 10)),
                          m.lookup_res(m.handle(i % 100 + 1), i % 100))
        else:
            flows[1].call(0x50000000 + 2 * i, m.GETATTR, m.handle(i % 100))
    return trace


def one_identification():
    """Hosts that give all datagrams the same identification; and one datagram twice."""
    trace = traffic.Trace()
    trace.next_ident = lambda: 77
    flow = traffic.UdpFlow(trace, "10.1.2.3", 717, "10.1.2.9")
    for i in range(40):
        flow.pair(0x60000000 + i, m.LOOKUP, m.lookup_args(m.handle(i), "document-%d" % i),
                  m.lookup_res(m.handle(i + 1), i))
        if i % 3 == 0:
            again = copy.copy(trace.frames[-2])
            again.time = trace.now
            trace.frames.append(again)
    return trace


def two_places():
    """UDP at two places, of which one has the replies first: each may wait for the call."""
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.1.2.3", 718, "10.1.2.9")
    for i in range(40):
        begin = len(trace.frames)
        flow.pair(0x61000000 + i, m.LOOKUP, m.lookup_args(m.handle(i), "document-%d" % i),
                  m.lookup_res(m.handle(i + 1), i))
        call, reply = trace.frames[begin:]
        order = ([reply, reply, call, call], [reply, call, call, reply], [reply, reply, call],
                 [call, reply, reply])[i % 4]
        trace.frames[begin:] = [copy.copy(frame) for frame in order]
        for frame in trace.frames[begin:]:
            trace.now += trace.step
            frame.time = trace.now
    return trace


def waited_too_long():
    """A reply whose call comes so late that it is written unread; and a copy that is read."""
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.1.2.3", 719, "10.1.2.9")
    flow.pair(0x62000000, m.LOOKUP, m.lookup_args(m.handle(1), "document"),
              m.lookup_res(m.handle(2), 1))
    call, reply = trace.frames
    trace.frames[:] = [reply]
    busy = traffic.TcpFlow(trace, "10.1.2.4", 720, "10.1.2.9")
    busy.open()
    for i in range(9):  # engine/anon/output_queue.h
        busy.pair(0x63000000 + i, m.WRITE, m.write_args(m.handle(3), 0, bytes(4000000)),
                  m.write_res(4000000))
    again = copy.copy(reply)
    call.time, again.time = trace.now, trace.now + trace.step
    trace.frames += [call, again]
    return trace


def calls_lost():
    """Replies that wait for calls which nobody captured.  Meanwhile all other identifications take the place of theirs
    (engine/anon/datagram_id.h)."""
    trace = traffic.Trace()
    idents = itertools.cycle(range(1, 1 << 16, 4096))
    trace.next_ident = lambda: next(idents)
    flow = traffic.UdpFlow(trace, "10.1.2.3", 721, "10.1.2.9")
    for i in range(40):
        lost = flow.call(0x64000000 + i, m.GETATTR, m.handle(i), lost=True)
        flow.reply(lost, m.getattr_res(i))
        flow.pair(0x65000000 + i, m.LOOKUP, m.lookup_args(m.handle(i), "document-%d" % i),
                  m.lookup_res(m.handle(i + 1), i))
        trace.wait(200000000)
    return trace


CASES = {
    "calls lost": calls_lost,
    "waited too long": waited_too_long,
    "two places": two_places,
    "one identification": one_identification,
    "groups": groups,
    "printable marks": printable_marks,
    "handles like names": handles_like_names,
    "70 dropped": lambda: first_dropped(70),
    "3000 dropped": lambda: first_dropped(3000),
    "connections again": connections_again,
    "many connections": many_connections,
}

# Keys that raised a false alarm: (capture, policy, key).
KEYS = (
    # the pseudonym of the one fsid ends in "ch", and "chr" is a name of the original
    ("pair-knfsd.pcap.zst", "strict",
     "9be29fa0b0df8ee65c2720bf24532e8c6e4948c68c06e883a7246e47371add7b"),
)


def main():
    only = sys.argv[1] if sys.argv[1:] and not sys.argv[1].isdigit() else ""
    runs = int(sys.argv[1]) if sys.argv[1:] and not only else 6
    wrong = []
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        folder = pathlib.Path(scratch)
        for name, make in CASES.items():
            original = folder / (name.replace(" ", "_") + ".pcap")
            if only not in name:
                continue
            make().write(original)
            for policy in audit_lib.POLICIES:
                wrong += audit_lib.alarms(name, original, policy, folder)
        for name, policy, secret in () if only else KEYS:
            wrong += audit_lib.alarms(name, pathlib.Path(os.environ["CAPTURES"]) / name, policy,
                                      folder, secret)
        captures = sorted(pathlib.Path(os.environ["CAPTURES"]).glob("*.zst"),
                          key=lambda path: path.stat().st_size)
        for run in range(0 if only else runs):
            # all of them in turn; of few runs the smallest captures
            capture = captures[run // len(audit_lib.POLICIES) % len(captures)]
            policy = audit_lib.POLICIES[run % len(audit_lib.POLICIES)]
            wrong += audit_lib.alarms(capture.name, capture, policy, folder)
    for line in wrong:
        print(line[:700])
    print("%d cases, %d runs, %d wrong" % (len(CASES), runs, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
