# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures for cuts at any byte: of everything that can stand over a border, and of files that are captures.

    trace = mixed(seed)                    losses, messages sent again, fragments, long messages, long silence
    trace = of_captures(seed, "pcap")      contents of WRITE calls are captures of the same form as the file
    met(trace, frames)                     what stands over a border behind so many frames
"""
import random
import struct

import capfile
import messages as m
import packets
import traffic

CLIENT, SERVER = traffic.CLIENT, traffic.SERVER
SECOND = 10**9
SILENCE = 900 * SECOND  # so long a call that was sent again counts as such
FH = m.handle(7)
WHAT = {"a TCP message", "a lost segment", "fragments", "a waiting call", "a call sent again", "silence"}


def operation(rng, flow, xid, size):
    """One operation, and what may happen to it."""
    data = m.pattern(rng.choice((100, size, size)), xid)
    kind = rng.randrange(3)
    if kind == 0:
        op = flow.call(xid, m.WRITE, m.write_args(FH, 0, data))
        result = m.write_res(len(data))
    elif kind == 1:
        op = flow.call(xid, m.READ, m.read_args(FH, 0, len(data)))
        result = m.read_res(data)
    else:
        op = flow.call(xid, m.GETATTR, m.getattr_args(FH))
        result = m.getattr_res(7)
    flow.trace.wait(rng.randrange(1, 3 * SECOND // 10))
    if rng.random() < 0.1:
        flow.repeat_call(op)
        flow.trace.wait(rng.randrange(1, 3 * SECOND // 10))
    if rng.random() > 0.03:
        flow.trace.wait(rng.randrange(1, SECOND // 20))
        flow.reply(op, result)
    flow.trace.wait(rng.randrange(1, SECOND // 20))


def lose(rng, frames):
    """Of TCP, most are sent again."""
    for frame in frames:
        chance = rng.random()
        if chance < 0.01:
            frame.time = None
        elif chance < 0.03:
            frame.time += rng.randrange(SECOND // 100, SECOND)


def mixed(seed):
    """Eight clients over TCP and UDP.  Two are silent for long; the others go on."""
    rng = random.Random(seed)
    trace = traffic.Trace()
    start = trace.now
    for number in range(8):
        trace.now = start + number * SECOND
        client = "10.0.1.%d" % (number + 1)
        flow = (traffic.UdpFlow if number % 3 == 2 else traffic.TcpFlow)(trace, client, 700 + number)
        first = len(trace.frames)
        if number % 3 == 0:
            flow.open()
        for xid in range(1, 120):
            operation(rng, flow, number << 24 | xid, 20000)
            trace.wait(rng.randrange(30 * SECOND))
            if number < 2 and xid == 60:
                trace.wait(SILENCE + SECOND)
        frames = trace.frames[first:]
        if number % 3 != 2 or number == 2:
            lose(rng, frames)
    trace.frames = [f for f in trace.frames if f.time is not None]
    trace.sort()
    return trace


def stored(form, now, count):
    """A capture file, or its packets alone, of times near those of the capture that holds it."""
    frames = [(now + i * 1000, m.pattern(60, i)) for i in range(count)]
    if form == "pcap":
        return b"".join(struct.pack("<IIII", t // SECOND, t % SECOND // 1000, len(d), len(d)) + d for t, d in frames)
    # behind two bytes, its blocks stand where blocks of the capture can
    return b"\0\0" + b"".join(capfile.block(6, struct.pack("<IIIII", 0, t >> 32, t & 0xffffffff, len(d), len(d)) + d)
                              for t, d in frames)


def of_captures(seed, form):
    """Frames of up to 64 KB, as hosts with segmentation offload capture them: nearly every byte of the file
    belongs to a stored capture."""
    rng = random.Random(seed)
    trace = traffic.Trace()
    flow = traffic.TcpFlow(trace, "10.0.1.1", 700, mss=60000)
    flow.open()
    for xid in range(1, 60):
        data = stored(form, trace.now, rng.randrange(200, 650)) + bytes(rng.choice((0, 4, 20)))
        flow.pair(xid, m.WRITE, m.write_args(FH, 0, data), m.write_res(len(data)))
    return trace


def met(trace, border):
    """What stands over the border behind |border| frames; of WHAT."""
    found = set()
    place = {id(f): i for i, f in enumerate(trace.frames)}
    for op in trace.operations:
        sent = []
        for message in op.calls + op.replies:
            at = [place[id(f)] for f in message.frames if id(f) in place]
            if at and min(at) < border <= max(at):
                found.add("fragments" if message.datagram else "a TCP message")
                if len(at) < len(message.frames) and not message.datagram:
                    found.add("a lost segment")
            sent.append(at)
        calls, replies = sent[:len(op.calls)], sent[len(op.calls):]
        if calls[0] and max(calls[0]) < border and all(not r or min(r) >= border for r in replies):
            found.add("a waiting call")
        if len(calls) > 1 and calls[0] and calls[1] and min(calls[0]) < border <= max(calls[1]):
            found.add("a call sent again")
    now = trace.frames[border].time if border < len(trace.frames) else None
    before, after = {}, {}
    for i, frame in enumerate(trace.frames):
        ends = frozenset((frame.data[26:30], frame.data[30:34]))
        if i < border:
            before[ends] = frame.time
        else:
            after.setdefault(ends, frame.time)
    if now and any(e in after and after[e] - t > SILENCE for e, t in before.items()):
        found.add("silence")
    return found


def frames_before(trace, byte):
    """How many frames begin before this byte of the pcap file."""
    at, count = 24, 0
    for frame in trace.frames:
        if at >= byte:
            break
        at += 16 + len(frame.data)
        count += 1
    return count
