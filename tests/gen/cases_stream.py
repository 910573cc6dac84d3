# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of segments, record marks, encapsulation, connections and files."""
import messages as m
import packets
from cases import (A, GETATTR_A, GETATTR_B, LOOKUP_C, MS, READ_A, SECOND, Case, case, mix, tcp, udp,
                   variants)
from traffic import CLIENT, SERVER, TcpFlow, Trace


def sixteen(trace, clients=16):
    flows = [tcp(trace, 700 + i, "10.0.0.%d" % (1 + i % clients)) for i in range(16)]
    for round_ in range(6):
        calls = []
        for i, flow in enumerate(flows):
            data = m.pattern(6000, 1 + i)
            calls.append(flow.new_call(50 + round_, m.WRITE, m.write_args(A, i, data)))
            flow.send(CLIENT, calls[-1:])
        # The segments of all calls, taken in turns.
        frames = [f for c in calls for f in c.frames]
        start = trace.frames.index(frames[0])
        turns = [c.frames[k] for k in range(max(len(c.frames) for c in calls)) for c in calls
                 if k < len(c.frames)]
        times = [f.time for f in frames]
        for frame, time in zip(turns, times):
            frame.time = time
        trace.frames[start:start + len(frames)] = turns
        for i in range(15, -1, -1):
            flows[i].reply(calls[i].op, m.write_res(6000))
        trace.wait(MS)
    return trace


@variants(sixteen_clients=(16,), one_client=(1,))
def sixteen_connections(clients):
    return Case(sixteen(Trace(), clients))


def long_trace():
    """Pairs, a message over many segments, a retransmission and a reused XID, to be cut."""
    trace = Trace()
    flow, other = tcp(trace), udp(trace, 901)
    mix(flow, 100, 6)
    op = other.call(7, *GETATTR_A[:2])
    flow.pair(200, m.WRITE, m.write_args(A, 0, m.pattern(30000)), m.write_res(30000))
    trace.wait(SECOND)
    other.repeat_call(op)
    other.reply(op, GETATTR_A[2])
    other.pair(8, m.READ, m.read_args(A, 0, 8000), m.read_res(m.pattern(8000)))
    mix(flow, 300, 6)
    flow.pair(100, *LOOKUP_C)
    other.repeat_reply(op)
    return trace


@case
def rotated_one_command():
    trace = long_trace()
    return Case(trace, range(5, len(trace.frames), 5))


@case
def rotated_several_commands():
    trace = long_trace()
    cuts = range(5, len(trace.frames), 5)
    return Case(trace, cuts, [[i] for i in range(len(cuts) + 1)])


@case
def rotated_pcapng_mixed_commands():
    trace = long_trace()
    cuts = list(range(3, len(trace.frames), 7))
    return Case(trace, cuts, [[0, 1, 2], [3]] + [list(range(4, len(cuts) + 1))], pcapng=True)


@variants(tcp=(tcp,), udp=(udp,))
def every_frame_twice(make):
    trace = Trace()
    mix(make(trace), 100, 12)
    trace.double_all()
    return Case(trace)


@variants(**{str(n): (n,) for n in (1, 4, 9, 13, 14, 17)})
def starts_mid_stream(first):
    """The first |first| frames are not there: handshake, or a message's beginning."""
    trace = Trace()
    flow = tcp(trace)
    flow.pair(5, m.READ, m.read_args(A, 0, 9000), m.read_res(m.pattern(9000)))
    mix(flow, 100, 12)
    trace.frames = trace.frames[first:]
    return Case(trace)


@variants(same_port=(900,), other_port=(901,))
def reset_and_reconnect(port):
    """Reset in the middle of a message; that one never comes to its end."""
    trace = Trace()
    flow = tcp(trace)
    mix(flow, 100, 4)
    call = flow.new_call(7, m.WRITE, m.write_args(A, 0, m.pattern(20000)))
    frames = flow.send(CLIENT, [call])
    trace.drop(frames[6:])
    flow.reset(False)
    call.op.calls.clear()
    trace.wait(SECOND)
    flow = TcpFlow(trace, "10.0.0.1", port, isn=(10**9, 2 * 10**9))
    flow.open()
    mix(flow, 200, 4)
    case_ = Case(trace)
    case_.partial = {7}
    return case_


@case
def many_messages_in_one_segment():
    trace = Trace()
    flow = tcp(trace, mss=9000)
    for base in range(0, 100, 20):
        calls = [flow.new_call(100 + base + i, m.GETATTR, m.getattr_args(m.handle(base + i)))
                 for i in range(20)]
        flow.send(CLIENT, calls)
        flow.send(SERVER, [flow.new_reply(c.op, m.getattr_res(i)) for i, c in enumerate(calls)])
        trace.wait(MS)
    return Case(trace)


@variants(**{str(n): (n,) for n in (1, 3, 7, 41, 130, 600)})
def messages_across_segments(mss):
    """Segments end anywhere: in marks, headers and bodies."""
    trace = Trace()
    flow = tcp(trace, mss=mss)
    calls = [flow.new_call(100 + i, m.GETATTR, m.getattr_args(m.handle(i))) for i in range(9)]
    flow.send(CLIENT, calls)
    flow.send(SERVER, [flow.new_reply(c.op, m.getattr_res(i)) for i, c in enumerate(calls)])
    flow.pair(200, *READ_A)
    return Case(trace)


@variants(mss_1448=(1448,), mss_536=(536,))
def message_over_hundreds_of_segments(mss):
    trace = Trace()
    flow = tcp(trace, mss=mss)
    flow.pair(7, m.WRITE, m.write_args(A, 0, m.pattern(1 << 20)), m.write_res(1 << 20))
    flow.pair(8, m.READ, m.read_args(A, 0, 1 << 20), m.read_res(m.pattern(1 << 20)))
    flow.pair(9, *GETATTR_A)
    return Case(trace)


@variants(two=((1000,),), many=((4, 8, 12, 100, 1, 3, 600),), tiny=((1,) * 60,))
def record_fragments(lengths):
    trace = Trace()
    flow = tcp(trace)
    for i in range(4):
        op = flow.call(100 + i, m.WRITE, m.write_args(A, i, m.pattern(3000)), fragments=lengths)
        flow.reply(op, m.write_res(3000), fragments=(8, 20))
        flow.pair(200 + i, *GETATTR_B)
    return Case(trace)


@variants(ipv4=("10.0.0.1", "10.0.0.9"), ipv6=("fd00::1", "fd00::9"))
def frames_above_64_kib(client, server):
    """Segmentation offload: the IP length is 0, the frame holds it all."""
    trace = Trace()
    flow = tcp(trace, client=client, server=server, mss=180000)
    flow.pair(7, m.WRITE, m.write_args(A, 0, m.pattern(150000)), m.write_res(150000))
    flow.pair(8, m.READ, m.read_args(A, 0, 500000), m.read_res(m.pattern(500000)))
    flow.pair(9, *GETATTR_A)
    return Case(trace)


@variants(vlan=((7,),), qinq=((7, 8),), three=((7, 8, 9),))
def tagged(vlans):
    trace = Trace()
    mix(tcp(trace, vlans=vlans), 100, 8)
    mix(udp(trace, 901, vlans=vlans), 200, 8)
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def ipv6(make):
    trace = Trace()
    mix(make(trace, client="fd00::1", server="2001:db8::9"), 100, 12)
    return Case(trace)


@variants(in_order=(False,), reversed=(True,))
def udp_fragments(backwards):
    trace = Trace()
    flow = udp(trace)
    for i in range(6):
        op = flow.pair(100 + i, m.READ, m.read_args(A, i, 32768), m.read_res(m.pattern(32768, 9)))
        frames = op.replies[0].frames
        if backwards:
            at = trace.frames.index(frames[0])
            trace.frames[at:at + len(frames)] = frames[::-1]
    return Case(trace)


@variants(**{"%s_%d" % (kind.__name__, port): (kind, port) for kind in (tcp, udp)
             for port in (639, 111, 2049, 20048, 53, 4789, 80)})
def client_port(make, port):
    trace = Trace()
    mix(make(trace, port), 100, 8)
    return Case(trace)


@variants(client=((2**32 - 2500, 5),), server=((5, 2**32 - 2500),), both=((2**32 - 1, 2**32 - 9),))
def sequence_wraps(isn):
    trace = Trace()
    flow = tcp(trace, isn=isn)
    flow.pair(7, m.WRITE, m.write_args(A, 0, m.pattern(9000)), m.write_res(9000))
    flow.pair(8, m.READ, m.read_args(A, 0, 9000), m.read_res(m.pattern(9000)))
    mix(flow, 100, 4)
    return Case(trace)


@case
def keep_alives_and_zero_windows():
    trace = Trace()
    flow = tcp(trace)
    for i in range(6):
        mix(flow, 100 + 10 * i, 3)
        flow.keep_alive(i % 2 == 0)
        trace.wait(SECOND)
        flow.zero_window(i % 2 == 1)
        flow.keep_alive(i % 2 == 1)
    return Case(trace)


@variants(whole=(0, 1448), overlapping=(-700, 2148), longer=(0, 2896), shifted=(300, 1448))
def tcp_retransmission(shift, length):
    """A lost segment comes again, later and cut otherwise."""
    trace = Trace()
    flow = tcp(trace)
    call = flow.new_call(7, m.WRITE, m.write_args(A, 0, m.pattern(12000)))
    base = flow.next[CLIENT]
    frames = flow.send(CLIENT, [call])
    trace.drop(frames[3:4])
    starts = [3 * 1448 + shift]
    if shift > 0:
        starts.insert(0, 3 * 1448)
    for start in starts:
        data = call.wire[start:start + length]
        flow.segment(CLIENT, packets.ACK, data, base + start,
                     pieces=[(call, start, start + len(data))])
    flow.reply(call.op, m.write_res(12000))
    flow.pair(8, *GETATTR_A)
    return Case(trace)


@variants(pairs=(2,), fours=(4,), nines=(9,))
def segments_reordered(group):
    trace = Trace()
    flow = tcp(trace)
    for i in range(3):
        op = flow.pair(7 + i, m.WRITE, m.write_args(A, 0, m.pattern(12000)), m.write_res(12000))
        frames = op.calls[0].frames
        at = trace.frames.index(frames[0])
        for low in range(0, len(frames), group):
            trace.frames[at + low:at + low + group] = frames[low:low + group][::-1]
    mix(flow, 100, 4)
    return Case(trace)


@case
def reply_before_end_of_call_segments():
    """The reply overtakes the last segments of a large call."""
    trace = Trace()
    flow = tcp(trace)
    for i in range(5):
        op = flow.pair(7 + i, m.WRITE, m.write_args(A, i, m.pattern(12000)), m.write_res(12000),
                       after=0)
        trace.move_before(op.replies[0].frames, op.calls[0].frames[-2])
        mix(flow, 100 + 10 * i, 2)
    return Case(trace)


@case
def udp_fragments_of_two_clients_with_one_ident():
    """The same IP identification from two hosts at once."""
    trace = Trace()
    one, two = udp(trace, 900, "10.0.0.1"), udp(trace, 900, "10.0.0.2")
    first = one.new_call(7, m.WRITE, m.write_args(A, 0, m.pattern(8000, 1)))
    trace.ident = 500
    one.send(CLIENT, [first])
    second = two.new_call(7, m.WRITE, m.write_args(A, 0, m.pattern(8000, 2)))
    trace.ident = 500
    two.send(CLIENT, [second])
    mixed = [f for pair in zip(first.frames, second.frames) for f in pair]
    at = trace.frames.index(first.frames[0])
    trace.frames[at:at + len(mixed)] = mixed
    for flow, call in (one, first), (two, second):
        flow.reply(call.op, m.write_res(8000))
    return Case(trace)


@variants(of_24=((24, 24, 24), 0), of_100=((100,), 0), of_1=((1,) * 40, 0), empty_first=((0, 0), 0),
          empty_between=((0, 50, 0, 0, 50), 0), of_100_joined=((100,), 11),
          of_1_joined=((1,) * 40, 11), empty_first_joined=((0, 0), 11),
          of_40_and_empty_joined=((40, 0, 20), 10))
def records_of_fragments(lengths, first):
    """RFC 5531 s11: also where the capture begins in the middle of a message."""
    trace = Trace()
    flow = tcp(trace)
    flow.pair(5, m.READ, m.read_args(A, 0, 9000), m.read_res(m.pattern(9000)))
    for i in range(12):
        call = flow.new_call(100 + i, *GETATTR_A[:2], fragments=lengths)
        flow.send(CLIENT, [call])
        flow.reply(call.op, GETATTR_A[2], fragments=lengths)
        trace.wait(MS)
    trace.frames = trace.frames[first:]
    return Case(trace)


@variants(mib_4=(4 << 20,), mib_9=(9 << 20,))
def long_messages(length):
    """Longer than what is kept of a message: partial, and what follows is found."""
    trace = Trace()
    flow = tcp(trace, mss=60000)
    flow.pair(7, m.WRITE, m.write_args(A, 0, bytes(length)), m.write_res(length))
    flow.pair(8, m.READ, m.read_args(A, 0, length), m.read_res(bytes(length)))
    mix(flow, 100, 8)
    case_ = Case(trace)
    case_.kept_partly = {7, 8}
    return case_


@variants(calls=(CLIENT,), replies=(SERVER,))
def contents_that_are_messages(side):
    """The begin of contents is lost that are messages with their marks, to the last byte."""
    trace = Trace()
    flow = tcp(trace)
    mix(flow, 100, 4)
    stored = b"".join(
        m.record(m.call(0x5a000000 + i, *GETATTR_A[:2]) if side == CLIENT
                 else m.reply(0x5a000000 + i, GETATTR_A[2])) for i in range(90))
    if side == CLIENT:
        op = flow.pair(7, m.WRITE, m.write_args(A, 0, stored), m.write_res(len(stored)))
    else:
        op = flow.pair(7, m.READ, m.read_args(A, 0, len(stored)), m.read_res(stored))
    trace.drop((op.calls if side == CLIENT else op.replies)[0].frames[:1])
    mix(flow, 200, 8)
    case_ = Case(trace)
    case_.partial = {7}
    return case_
