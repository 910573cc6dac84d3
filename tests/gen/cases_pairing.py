# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of XIDs, retransmission, order and clients."""
import messages as m
import packets
from cases import (A, GETATTR_A, GETATTR_B, HOUR, LOOKUP_C, MS, NOTHING, READ_A, SECOND, Case, case,
                   mix, tcp, udp, variants)
from traffic import CLIENT, SERVER, TcpFlow, Trace, UdpFlow

KINDS = {"tcp": tcp, "udp": udp}


@variants(seconds_tcp=(tcp, 3 * SECOND), hours_tcp=(tcp, 5 * HOUR), seconds_udp=(udp, 3 * SECOND),
          hours_udp=(udp, 5 * HOUR), at_once_tcp=(tcp, 0), at_once_udp=(udp, 0))
def xid_reuse_other_body(make, after):
    trace = Trace()
    flow = make(trace)
    flow.pair(7, *GETATTR_A)
    trace.wait(after)
    flow.pair(7, *GETATTR_B)
    trace.wait(after)
    flow.pair(7, *LOOKUP_C)
    trace.wait(after)
    flow.pair(7, *GETATTR_B[:1], m.getattr_args(m.handle(77)), m.getattr_res(77))
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def xid_reuse_same_body_hours(make):
    """The same bytes again, long after any retransmission: another operation."""
    trace = Trace()
    flow = make(trace)
    for _ in range(3):
        flow.pair(7, *GETATTR_A)
        mix(flow, 1000, 8)
        trace.wait(5 * HOUR)
    return Case(trace)


@variants(seconds_same_port=(3 * SECOND, 900), seconds_other_port=(3 * SECOND, 901),
          hours_same_port=(5 * HOUR, 900), hours_other_port=(5 * HOUR, 901))
def xid_reuse_after_reconnect(after, port):
    trace = Trace()
    flow = tcp(trace)
    flow.pair(7, *GETATTR_A)
    flow.pair(8, *READ_A)
    flow.close()
    trace.wait(after)
    flow = TcpFlow(trace, "10.0.0.1", port, isn=(77777, 888888))
    flow.open()
    flow.pair(7, *GETATTR_B)
    flow.pair(8, *LOOKUP_C)
    return Case(trace)


@case
def xid_reuse_same_body_hours_after_reconnect():
    trace = Trace()
    flow = tcp(trace)
    flow.pair(7, *GETATTR_A)
    flow.close()
    trace.wait(5 * HOUR)
    tcp(trace, 901, isn=(5, 6)).pair(7, *GETATTR_A)
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def xid_reuse_first_unanswered(make):
    """The reply belongs to the later call."""
    trace = Trace()
    flow = make(trace)
    flow.call(7, *GETATTR_A[:2])
    trace.wait(20 * SECOND)
    flow.pair(7, *LOOKUP_C)
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def retransmission_before_reply(make):
    trace = Trace()
    flow = make(trace)
    op = flow.call(7, *GETATTR_A[:2])
    mix(flow, 1000, 3)
    flow.repeat_call(op)
    trace.wait(SECOND)
    flow.repeat_call(op)
    flow.reply(op, GETATTR_A[2])
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def retransmission_after_reply(make):
    """The reply was captured but lost on its way; the server answers again."""
    trace = Trace()
    flow = make(trace)
    op = flow.pair(7, *READ_A)
    trace.wait(SECOND)
    flow.repeat_call(op)
    flow.repeat_reply(op)
    trace.wait(2 * SECOND)
    flow.repeat_call(op)
    trace.wait(60 * SECOND)
    flow.repeat_call(op)
    flow.repeat_reply(op)
    return Case(trace)


@case
def retransmission_udp_both_answered():
    trace = Trace()
    flow = udp(trace)
    op = flow.call(7, *LOOKUP_C[:2])
    trace.wait(SECOND)
    flow.repeat_call(op)
    flow.reply(op, LOOKUP_C[2])
    flow.repeat_reply(op)
    return Case(trace)


@variants(same_port=(900, True), other_port=(901, True), no_reset_other_port=(901, False))
def same_call_on_new_connection(port, reset):
    trace = Trace()
    first = tcp(trace)
    one, two = first.call(7, *GETATTR_A[:2]), first.call(8, *READ_A[:2])
    trace.wait(10 * SECOND)
    if reset:
        first.reset()
    second = TcpFlow(trace, "10.0.0.1", port, isn=(3, 4))
    second.open()
    second.repeat_call(one)
    second.repeat_call(two)
    second.reply(two, READ_A[2])
    second.reply(one, GETATTR_A[2])
    mix(second, 100, 4)
    return Case(trace)


@case
def same_call_on_new_connection_after_reply():
    trace = Trace()
    first = tcp(trace)
    op = first.pair(7, *READ_A)
    first.reset(False)
    trace.wait(SECOND)
    second = TcpFlow(trace, "10.0.0.1", 904, isn=(3, 4))
    second.open()
    second.repeat_call(op)
    second.repeat_reply(op)
    return Case(trace)


@case
def same_call_from_other_udp_port():
    trace = Trace()
    op = udp(trace).call(7, *GETATTR_A[:2])
    trace.wait(SECOND)
    other = UdpFlow(trace, "10.0.0.1", 950)
    other.repeat_call(op)
    other.reply(op, GETATTR_A[2])
    return Case(trace)


EARLY = {"equal_time": 0, "1us": 1000, "50us": 50_000, "5ms": 5 * MS, "40ms": 40 * MS}
# Over TCP nobody sends a call again so soon: the later frame brings the call that was answered.
EARLY_TCP = {"100ms": 100 * MS, "500ms": 500 * MS}


@variants(**{kind + "_" + name: (make, early) for kind, make in KINDS.items()
             for name, early in EARLY.items()},
          **{"tcp_" + name: (tcp, early) for name, early in EARLY_TCP.items()})
def reply_before_call(make, early):
    """Each second reply was captured |early| before its call, among other traffic."""
    trace = Trace()
    flow = make(trace)
    other = make(trace, 901, "10.0.0.2")
    for i in range(20):
        op = flow.pair(100 + i, m.GETATTR, m.getattr_args(m.handle(i)), m.getattr_res(i), after=0)
        if i % 2:
            call, reply = op.calls[0].frames[-1], op.replies[0].frames[0]
            reply.time = call.time - early
            trace.frames.remove(reply)
            at = len([f for f in trace.frames if f.time < reply.time])
            trace.frames.insert(min(at, trace.frames.index(call)), reply)
        trace.wait(700 * MS)
        mix(other, 5000 + 10 * i, 2)
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def all_replies_before_calls(make):
    """Pairs swapped as two capture queues do it, large messages included."""
    trace = Trace()
    flow = make(trace)
    for i in range(12):
        kind = (GETATTR_A, READ_A, LOOKUP_C)[i % 3]
        op = flow.pair(300 + i, *kind, after=0)
        trace.move_before(op.replies[0].frames, op.calls[0].frames[0])
        trace.wait(5 * MS)
    return Case(trace)


@variants(seconds_tcp=(tcp, 5 * SECOND), hours_tcp=(tcp, 5 * HOUR), seconds_udp=(udp, 5 * SECOND),
          hours_udp=(udp, 5 * HOUR))
def reply_before_call_with_reused_xid(make, after):
    trace = Trace()
    flow = make(trace)
    flow.pair(7, *GETATTR_A)
    trace.wait(after)
    op = flow.pair(7, *LOOKUP_C, after=0)
    trace.move_before(op.replies[0].frames, op.calls[0].frames[0])
    trace.wait(SECOND)
    flow.pair(8, *GETATTR_B)
    return Case(trace)


@variants(udp_100ms=(100 * MS, False), udp_700ms=(700 * MS, False), udp_1900ms=(1900 * MS, False),
          udp_answered_100ms=(100 * MS, True), udp_answered_700ms=(700 * MS, True),
          udp_answered_1900ms=(1900 * MS, True))
def first_call_lost(after, answered):
    """The first call was not captured, its reply was; then the call comes again."""
    return lost_call(udp, after, answered)


@variants(tcp_100ms=(100 * MS,), tcp_700ms=(700 * MS,), tcp_1900ms=(1900 * MS,))
def first_call_lost_answered(after):
    return lost_call(tcp, after, True)


def lost_call(make, after, answered):
    trace = Trace()
    flow, other = make(trace), make(trace, 901, "10.0.0.2")
    for i in range(6):
        kind = (GETATTR_A, LOOKUP_C, READ_A)[i % 3]
        op = flow.call(100 + i, *kind[:2], lost=True)
        trace.wait(MS)
        flow.reply(op, kind[2])
        mix(other, 1000 + 10 * i, 3)
        trace.wait(after)
        if answered:
            flow.pair(100 + i, *kind)
        else:
            flow.call(100 + i, *kind[:2])
        mix(flow, 3000 + 100 * i, 80 if make is tcp else 3)
        trace.wait(5 * SECOND)
    mix(flow, 9000, 3)
    return Case(trace)


COPY_DELAYS = {"1us": 1000, "50us": 50_000, "5ms": 5 * MS}


@variants(**{"%s_%s" % (kind, name): (client, delay, count, vlan) for name, delay in
             COPY_DELAYS.items() for kind, client, count, vlan in
             (("ipv4", "10.0.0.1", 1, ()), ("ipv6", "fd00::1", 1, ()),
              ("three", "10.0.0.1", 2, ()), ("tagged", "10.0.0.1", 1, (100,)))},
          ipv4_90ms=("10.0.0.1", 90 * MS, 1, ()))
def copies(client, delay, count, vlans):
    """Every datagram is captured again |delay| later, in one piece or in fragments; some calls and
    replies are sent again, too."""
    trace = Trace()
    server = "fd00::9" if ":" in client else "10.0.0.9"
    flow = UdpFlow(trace, client, 900, server)
    for i in range(12):
        kind = (GETATTR_A, READ_A, LOOKUP_C)[i % 3]
        op = flow.call(100 + i, *kind[:2])
        if i % 4 == 1:
            trace.wait(100 * MS)
            flow.repeat_call(op)
        flow.reply(op, kind[2])
        if i % 4 == 1:
            trace.wait(100 * MS)
            flow.repeat_reply(op)
        trace.wait(20 * MS)
    frames = list(trace.frames)
    for n in range(1, count + 1):
        for frame in frames:
            copy = frame.copy(frame.time + n * delay)
            if vlans:
                copy.data = packets.ethernet(frame.data[14:], vlans)
                copy.wire_len, copy.scope = len(copy.data), vlans
            trace.frames.append(copy)
    trace.sort()
    return Case(trace)


@variants(fin_other_port=("close", 901), fin_same_port=("close", 900),
          reset_other_port=("reset", 901), reset_same_port=("reset", 900), syn_same_port=("", 900))
def second_run(end, port):
    """A test tool that starts again at the same XID; what its first connection left open it sends
    again."""
    trace = Trace()
    flow = tcp(trace)
    mix(flow, 100, 12)
    left = flow.call(99, *GETATTR_A[:2])
    if end:
        flow.segment(CLIENT, packets.ACK)
        getattr(flow, end)()
    trace.wait(2 * SECOND)
    flow = TcpFlow(trace, "10.0.0.1", port, isn=(7777777, 88888888))
    flow.open()
    mix(flow, 100, 12)
    flow.repeat_call(left)
    flow.reply(left, GETATTR_A[2])
    return Case(trace)


@case
def second_run_over_borders():
    """The same, in captures of their own, one of which ends between both runs."""
    trace = second_run("close", 901).trace
    ends = len(trace.frames)
    return Case(trace, [ends // 3, ends // 2, ends // 3 * 2], [[0, 1], [2, 3]])


@variants(at_once=(0, False), repeated=(100 * MS, False), copied=(0, True), early=(-5 * MS, False))
def reply_from_another_address(after, doubled):
    """A server with two addresses answers from the one that its calls do not go to."""
    trace = Trace()
    flow = udp(trace)
    other = UdpFlow(trace, "10.0.0.1", 900, "10.0.0.10")
    for i in range(9):
        kind = (GETATTR_A, READ_A, LOOKUP_C)[i % 3]
        op = flow.call(100 + i, *kind[:2])
        if after > 0:
            trace.wait(after)
            flow.repeat_call(op)
        reply = other.reply(op, kind[2])
        if after > 0:
            other.repeat_reply(op)
        if after < 0 and len(reply.frames) == 1:
            trace.move_before(reply.frames, op.calls[0].frames[0])
        trace.wait(20 * MS)
    trace.wait(5 * SECOND)
    mix(flow, 500, 4)
    if doubled:
        trace.double_all()
    return Case(trace)


@case
def replies_of_strangers():
    """The same XIDs to the same client, but nothing that belongs together."""
    trace = Trace()
    flow, other = udp(trace), UdpFlow(trace, "10.0.0.1", 900, "10.0.0.10")
    third = UdpFlow(trace, "10.0.0.1", 901, "10.0.0.10")
    for i in range(6):
        op = flow.call(100 + i, *READ_A[:2])
        lost = (other if i % 2 else third).call(100 + i, *LOOKUP_C[:2], lost=True)
        (other if i % 2 else third).reply(lost, LOOKUP_C[2] if i % 2 else READ_A[2])
        trace.wait(MS)
        if i % 3:
            flow.reply(op, READ_A[2])
        trace.wait(5 * SECOND)
    mix(flow, 500, 4)
    return Case(trace)


@variants(tcp_null=(tcp, NOTHING), tcp_getattr=(tcp, GETATTR_A), udp_null=(udp, NOTHING),
          udp_getattr=(udp, GETATTR_A))
def two_clients_one_address_same_bodies(make, kind):
    """Behind one NAT address: ports tell them apart, both connections have been in use."""
    trace = Trace()
    one, two = make(trace, 900), make(trace, 901)
    mix(one, 2000, 4)
    mix(two, 3000, 4)
    for i in range(10):
        xid = 7 + i
        first, second = one.call(xid, *kind[:2]), two.call(xid, *kind[:2])
        flows = [(one, first), (two, second)]
        for flow, op in flows if i % 2 else flows[::-1]:
            flow.reply(op, kind[2])
        trace.wait(10 * MS)
    one.pair(50, *kind)
    two.pair(50, *kind)
    return Case(trace)


@variants(waiting=(False,), answered=(True,))
def clients_that_count_alike(answered):
    """Programs of one host that begin one after the other, each at XID 1, and stay connected."""
    trace, begun = Trace(), []
    for port in range(900, 905):
        flow = TcpFlow(trace, "10.0.0.1", port, isn=(port * 1000, port * 100000))
        flow.open()
        op = flow.call(1, *GETATTR_A[:2])
        if answered:
            flow.reply(op, GETATTR_A[2])
        begun.append((flow, op))
        trace.wait(MS)
    for flow, op in begun[::-1]:
        if not answered:
            flow.reply(op, GETATTR_A[2])
        flow.pair(2, *LOOKUP_C)
    for flow, _ in begun:
        flow.pair(3, *GETATTR_B)
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def two_clients_one_address_other_bodies(make):
    trace = Trace()
    one, two = make(trace, 900), make(trace, 901)
    for i in range(10):
        first, second = one.call(7 + i, *GETATTR_A[:2]), two.call(7 + i, *GETATTR_B[:2])
        two.reply(second, GETATTR_B[2])
        one.reply(first, GETATTR_A[2])
        one.pair(100 + i, *READ_A)
        two.pair(100 + i, *LOOKUP_C)
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def only_calls(make):
    trace = Trace()
    flow = make(trace)
    mix(flow, 1000, 20)
    trace.frames = [f for f in trace.frames if all(p[0].is_call for p in f.pieces)]
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def only_replies(make):
    trace = Trace()
    flow = make(trace)
    mix(flow, 1000, 20)
    trace.frames = [f for f in trace.frames if all(not p[0].is_call for p in f.pieces)]
    return Case(trace)


@variants(tcp=(tcp,), udp=(udp,))
def some_calls_and_replies_lost(make):
    trace = Trace()
    flow = make(trace)
    for i in range(30):
        op = flow.call(100 + i, *GETATTR_A[:2], lost=i % 5 == 1)
        flow.reply(op, GETATTR_A[2], lost=i % 5 == 3)
        trace.wait(10 * MS)
    return Case(trace)


def errors(flow):
    trace = flow.trace
    for accept in range(1, 6):
        op = flow.call(20 + accept, *GETATTR_A[:2])
        flow.reply(op, m.u32(2, 4) if accept == 2 else b"", accept=accept)
        trace.wait(MS)
    return Case(trace)


@case
def rpc_errors_tcp():
    return errors(tcp(Trace()))


@case
def rpc_errors_udp():
    return errors(udp(Trace()))


@case
def rpc_denied():
    trace = Trace()
    flow = tcp(trace)
    op = flow.call(20, *GETATTR_A[:2])
    message = flow.new_reply(op, accept=1)
    message.wire = m.record(m.denied(20))
    flow.send(SERVER, [message])
    flow.pair(21, *GETATTR_B)
    return Case(trace)


@case
def other_programs():
    """Programs with and without tables on the NFS port."""
    trace = Trace()
    flow = tcp(trace)
    op = flow.call(30, 1, m.opaque(A) + m.u32(5), program=m.NFSACL)
    flow.reply(op, m.u32(70) + m.u32(0))
    op = flow.call(31, 1, m.pattern(24), program=m.NFS, version=4)
    flow.reply(op, m.u32(10004) + m.u32(0, 0))
    op.status = None
    flow.pair(32, *GETATTR_A)
    return Case(trace)


