# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of segments that do not continue their connection, and of those that come late.

A stray RST, SYN or far-off segment is one that the receiver ignores: the conversation goes on as if
it were not there. The knobs: what it is, which side sends it, how far off its number is, where in
the conversation it stands, and whether both directions were captured.
"""
import random

import messages as m
import packets
from cases import A, GETATTR_A, GETATTR_B, MS, SECOND, CASES, Case, mix, tcp, udp
from traffic import CLIENT, SERVER, TcpFlow, Trace

FAR, GIB = 20 << 20, 1 << 30
ADDRESS = {CLIENT: bytes([10, 0, 0, 1]), SERVER: bytes([10, 0, 0, 9])}


SHORT_STEP = 7
LONG = set()  # those that a short run leaves out
NAMES = []


def add(name, function, *arguments):
    assert name not in CASES, name
    NAMES.append(name)
    if len(NAMES) % SHORT_STEP:
        LONG.add(name)
    CASES[name] = lambda: function(*arguments)


def only(trace, side):
    """The capture has one direction: what |side| sends."""
    trace.frames = [f for f in trace.frames if f.data[26:30] == ADDRESS[side]]


def cleared(trace, sides):
    """What is left when only |sides| were captured."""
    if len(sides) == 1:
        only(trace, sides[0])
    return Case(trace)


BOTH, CALLS, REPLIES = (CLIENT, SERVER), (CLIENT,), (SERVER,)
CAPTURED = {"both": BOTH, "calls": CALLS, "replies": REPLIES}


def conversation(trace, flow, insert):
    """Small and large messages; |insert| is called amid them, in the middle of a WRITE's call, of a
    READ's reply, and between messages."""
    mix(flow, 100, 4)
    insert(0)
    mix(flow, 120, 2)
    call = flow.new_call(7, m.WRITE, m.write_args(A, 0, m.pattern(20000)))
    halves(flow, CLIENT, call, lambda: insert(1))
    flow.reply(call.op, m.write_res(20000))
    op = flow.call(8, m.READ, m.read_args(A, 0, 20000))
    halves(flow, SERVER, flow.new_reply(op, m.read_res(m.pattern(20000, 3))), lambda: insert(2))
    mix(flow, 140, 4)


def halves(flow, side, message, between):
    """Sends a message in segments; in the middle of them something else happens. The receiver
    acknowledges what it has."""
    base, wire = flow.next[side], message.wire
    for start in range(0, len(wire), flow.mss):
        end = min(len(wire), start + flow.mss)
        message.frames.append(flow.segment(side, packets.ACK, wire[start:end], base + start,
                                           [(message, start, end)]))
        flow.next[side] = base + end
        if start // flow.mss % 2:
            flow.segment(not side, packets.ACK)
        if start <= len(wire) // 2 < end:
            between()


def stray(flags, side, offset, data, place, sides, count=1):
    trace = Trace()
    flow = tcp(trace)

    def insert(where):
        if where == place:
            for i in range(count):
                at = 0 if offset is None else flow.next[side] + offset + i * len(data)
                flow.segment(side, flags, data, at % 2**32)
            trace.wait(2 * MS)
    conversation(trace, flow, insert)
    return cleared(trace, sides)


KINDS = {
    "rst": (packets.RST, (0, 1000, -3000, GIB, -GIB, None), b""),
    "rst_ack": (packets.RST | packets.ACK, (0, GIB), b""),
    "syn": (packets.SYN, (-1, 0, 1000, -5000, GIB, -GIB), b""),
    "syn_ack": (packets.SYN | packets.ACK, (1000, GIB), b""),
    "segment": (packets.ACK, (FAR, -FAR, GIB, -GIB, 5 << 20, 300000), m.pattern(1448, 77)),
    "call": (packets.ACK, (FAR, -FAR, GIB), m.record(m.call(7, *GETATTR_B[:2]))),
}
for kind, (flags, offsets, data) in KINDS.items():
    for offset in offsets:
        for place in range(3):
            for side_name, side in ("client", CLIENT), ("server", SERVER):
                for sides_name, sides in CAPTURED.items():
                    if side in sides:
                        add("stray_%s_%s_%s_%d_%s" % (kind, offset, side_name, place, sides_name),
                            stray, flags, side, offset, data, place, sides)


def sent_again(delay, sides, dup_acks, count, length):
    """A segment is lost before the capture and sent again after |delay|; |count| messages of
    |length| bytes of data go with it."""
    trace = Trace()
    flow = tcp(trace)
    mix(flow, 100, 2)
    side = sides[0]
    flow.mss = 1448 if length < 10**6 else 8948
    batch = []
    for i in range(count):
        data = m.pattern(length, i)
        if side == CLIENT:
            batch.append(flow.new_call(300 + i, m.WRITE, m.write_args(A, i, data)))
        else:
            op = flow.call(300 + i, m.READ, m.read_args(A, i, length))
            batch.append(flow.new_reply(op, m.read_res(data)))
    begin = flow.next[side]
    frames = flow.send(side, batch)
    lost, end = frames[2], flow.next[side]
    trace.drop([lost])
    if dup_acks:
        flow.next[side] = begin + 2 * flow.mss
        for _ in range(3):
            flow.segment(not side, packets.ACK)
        flow.next[side] = end
    other = tcp(trace, 901)
    for i in range(10):  # the time goes on
        trace.wait(delay // 10)
        other.pair(200 + i, *GETATTR_A)
    again = lost.copy(trace.now)
    trace.frames.append(again)
    trace.now += trace.step
    flow.segment(not side, packets.ACK)
    if side == CLIENT:
        for message in batch:
            flow.reply(message.op, m.write_res(length))
    mix(flow, 400, 4)
    return cleared(trace, sides)


for seconds in 0.15, 0.25, 0.5, 1, 3, 31, 100:
    for sides_name, sides in CAPTURED.items():
        for dup_acks in (False, True) if len(sides) == 2 else (False,):
            add("sent_again_after_%s_%s%s" % (seconds, sides_name, "_acks" if dup_acks else ""),
                sent_again, int(seconds * SECOND), sides, dup_acks, 2, 20000)
for sides_name, sides in CAPTURED.items():
    add("sent_again_with_6_mib_behind_" + sides_name, sent_again, 300 * MS, sides,
        len(sides) == 2, 6, 10**6)


def ports_again(shift, ends, sides, begin):
    """Another connection between the same ports, whose begin was not captured: a run of a test
    tool, repeated."""
    trace = Trace()
    isn = (2**31 - 10**6, 10**9)
    flow = tcp(trace, isn=isn)
    conversation(trace, flow, lambda where: None)
    if ends == "fin":
        flow.close()
    elif ends == "reset":
        flow.reset()
    trace.wait(SECOND)
    again = TcpFlow(trace, "10.0.0.1", 900, isn=[(flow.next[s] + shift) % 2**32
                                                 for s in (CLIENT, SERVER)])
    if begin == "large":
        again.pair(507, m.WRITE, m.write_args(A, 0, m.pattern(20000)), m.write_res(20000))
    else:
        again.pair(507, *GETATTR_A)
    mix(again, 600, 8)
    return cleared(trace, sides)


for shift in -300, -20000, -500000, -(5 << 20), -(50 << 20), -GIB, 5 << 20, 50 << 20, GIB:
    for ends in "open", "fin", "reset":
        for begin in "large", "small":
            for sides_name, sides in CAPTURED.items():
                add("ports_again_%d_%s_%s_%s" % (shift, ends, begin, sides_name),
                    ports_again, shift, ends, sides, begin)


def syn_in_between(shift, lose, sides):
    """Another connection between the same ports, with its begin; |lose|: frames of the begin that
    were not captured."""
    trace = Trace()
    flow = tcp(trace)
    conversation(trace, flow, lambda where: None)
    isn = [(flow.next[s] + shift) % 2**32 for s in (CLIENT, SERVER)]
    trace.wait(SECOND)
    again = TcpFlow(trace, "10.0.0.1", 900, isn=isn)
    first = len(trace.frames)
    again.open()
    trace.drop([trace.frames[first + i] for i in lose])
    again.pair(507, m.WRITE, m.write_args(A, 0, m.pattern(20000)), m.write_res(20000))
    mix(again, 600, 8)
    return cleared(trace, sides)


for shift in -20000, -GIB, 100000, 5 << 20, GIB:
    for lose in (), (0,), (1,), (2,), (1, 2), (0, 2):
        for sides_name, sides in CAPTURED.items():
            add("syn_in_between_%d_%s_%s" % (shift, "".join(map(str, lose)) or "all", sides_name),
                syn_in_between, shift, lose, sides)


def ident_again(lost, same_length, apart, backwards, sides):
    """A datagram with a lost fragment, and the next one with its IP identification: the second is
    whole, and the first is known by its first fragment."""
    trace = Trace()
    flow = udp(trace)
    size, ident, calls = (8000, 8000 if same_length else 6500), trace.ident + 1, []
    for i in range(2):
        trace.ident = ident
        data = random.Random(i).randbytes(size[i])  # sums of patterns are all alike
        if CLIENT in sides:
            calls.append(flow.call(300 + i, m.WRITE, m.write_args(A, i, data)))
        else:
            calls.append(flow.call(300 + i, m.READ, m.read_args(A, i, size[i])))
            trace.ident = ident
            flow.reply(calls[i], m.read_res(data))
        side = calls[i].calls if CLIENT in sides else calls[i].replies
        if backwards:
            at = trace.frames.index(side[0].frames[0])
            trace.frames[at:at + len(side[0].frames)] = side[0].frames[::-1]
        if i == 0:
            trace.drop([side[0].frames[lost]])
            if CLIENT in sides and sides != CALLS:
                flow.reply(calls[0], m.write_res(size[0]))
            if lost:
                side.clear()  # what is left of it is a partial operation
        trace.wait(apart)
    if CLIENT in sides and sides != CALLS:
        flow.reply(calls[1], m.write_res(size[1]))
    mix(flow, 400, 4)
    case_ = Case(trace)
    if lost:
        case_.partial = {300}
        case_.found, case_.only = {300}, sides == CALLS
    return case_


for lost in 0, 1, 3, -1:
    for same_length in True, False:
        for apart in 0, 2 * MS, 2 * SECOND:
            for backwards in False, True:
                for name, sides in ("call", BOTH), ("calls_only", CALLS), ("reply", REPLIES):
                    add("ident_again_%d_%s_%d_%s_%s" % (
                        lost, "same" if same_length else "shorter", apart // MS,
                        "backwards" if backwards else "forwards", name),
                        ident_again, lost, same_length, apart, backwards, sides)
