# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures to be cut into pieces, of which it is known what a reader that begins in their middle cannot know.

CASES: functions that get a Cut, add frames to its trace, and call lead() where the lead-in of the second piece
begins and border() where its own frames do.  Each says what "nfsdigest join" tells of the second piece ("" is
exact), and whether that piece, made on its own, has other records than one run.
"""
import collections

import messages as m
import packets
import traffic

CLIENT, SERVER = traffic.CLIENT, traffic.SERVER
A, B, NOISE, FAR = "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.9"
FH = m.handle(7)
Case = collections.namedtuple("Case", "make why differs options")
CASES = {}


def case(why="", differs=False, options=()):
    def enter(make):
        CASES[make.__name__] = Case(make, why, differs, options)
        return make
    return enter


class Cut:
    def __init__(self):
        self.trace = traffic.Trace()
        self.noise_flow = traffic.UdpFlow(self.trace, NOISE, 700)
        self.noise_xid = 1 << 20
        self.marks = []

    def tcp(self, client=A, port=800, opened=True, **options):
        flow = traffic.TcpFlow(self.trace, client, port, **options)
        if opened:
            flow.open()
        return flow

    def udp(self, client=A, port=800, **options):
        return traffic.UdpFlow(self.trace, client, port, **options)

    def get(self, flow, xid):
        return flow.pair(xid, m.GETATTR, m.getattr_args(FH), m.getattr_res(7))

    def ask(self, flow, xid, **options):
        return flow.call(xid, m.GETATTR, m.getattr_args(FH), **options)

    def answer(self, flow, op):
        return flow.reply(op, m.getattr_res(7))

    def noise(self, count=30):
        for _ in range(count):
            self.noise_xid += 1
            self.get(self.noise_flow, self.noise_xid)

    def lead(self, noise=30):
        self.noise()
        self.marks.append(len(self.trace.frames))
        self.noise(noise)

    def border(self):
        self.noise(5)
        self.marks.append(len(self.trace.frames))
        self.noise(5)

    def offsets(self):
        """The bytes of the pcap file at which the frames of the marks begin."""
        at, out = 24, []
        for number, frame in enumerate(self.trace.frames + [None]):
            out += [at] * self.marks.count(number)
            at += 16 + len(frame.data) if frame else 0
        return out


def acknowledge(flow):
    """Nothing is on its way."""
    flow.segment(CLIENT, packets.ACK)
    flow.segment(SERVER, packets.ACK)


# --- connections

@case()
def stands_still(c):
    """A connection over which nothing comes for longer than the lead-in."""
    flow = c.tcp()
    c.get(flow, 1)
    acknowledge(flow)
    c.trace.wait(1200 * 10**9)  # longer than calls are remembered
    c.lead()
    c.border()
    c.get(flow, 2)


@case("went on inside a message, or with a hole", True)
def stands_still_before_hole(c):
    flow = c.tcp()
    c.get(flow, 1)
    acknowledge(flow)
    c.lead()
    c.border()
    c.ask(flow, 2, lost=True)
    c.ask(flow, 3)
    c.get(flow, 4)


@case("a segment from before the lead-in came again", True)
def stands_still_inside(c):
    flow = c.tcp()
    c.get(flow, 1)
    acknowledge(flow)
    call = flow.new_call(2, m.WRITE, m.write_args(FH, 0, m.pattern(4000)))
    flow.send(CLIENT, [call])
    later = call.frames[1:]
    c.lead()
    c.border()
    c.trace.drop(later)
    c.trace.frames += later
    flow.reply(call.op, m.write_res(4000))


@case("differs at the border")
def lead_in_within_message(c):
    flow = c.tcp()
    c.get(flow, 1)
    call = flow.new_call(2, m.WRITE, m.write_args(FH, 0, m.pattern(60000)))
    flow.send(CLIENT, [call])
    parts = call.frames
    c.trace.drop(parts[5:])
    c.lead()
    c.trace.frames += parts[5:20]
    c.border()
    c.trace.frames += parts[20:]
    flow.reply(call.op, m.write_res(60000))


@case()
def border_within_message(c):
    """The lead-in has the message's beginning."""
    flow = c.tcp()
    c.lead()
    c.get(flow, 1)
    call = flow.new_call(2, m.WRITE, m.write_args(FH, 0, m.pattern(60000)))
    flow.send(CLIENT, [call])
    parts = call.frames
    c.trace.drop(parts[20:])
    c.border()
    c.trace.frames += parts[20:]
    flow.reply(call.op, m.write_res(60000))


@case()
def lost_over_border(c):
    """A segment before the border is lost, and sent again behind it."""
    flow = c.tcp()
    c.lead()
    c.get(flow, 1)
    call = flow.new_call(2, m.WRITE, m.write_args(FH, 0, m.pattern(20000)))
    flow.send(CLIENT, [call])
    again = call.frames[6]
    c.trace.drop([again])
    c.border()
    c.trace.frames.append(again)
    flow.reply(call.op, m.write_res(20000))
    c.get(flow, 3)


@case("a segment from before the lead-in came again")
def older_segment(c):
    flow = c.tcp()
    old = c.ask(flow, 1)
    c.answer(flow, old)
    acknowledge(flow)
    c.lead()
    c.border()
    c.get(flow, 2)
    c.trace.frames.append(old.calls[0].frames[0].copy(c.trace.now))
    c.get(flow, 3)


@case("a segment from before the lead-in came again", True)
def older_segment_of_hole(c):
    """It stood before the lead-in, out of order, where a reader of the lead-in saw a hole, and it comes again."""
    flow = c.tcp()
    c.get(flow, 1)
    before, old = c.ask(flow, 2), c.ask(flow, 3)
    late = before.calls[0].frames
    c.trace.drop(late)
    c.lead()
    late[0].time = c.trace.now
    c.trace.frames += late
    for xid in range(4, 8):
        c.get(flow, xid)
    for xid in range(8, 11):
        c.trace.wait(20 * 10**9)
        c.get(flow, xid)
        acknowledge(flow)
    c.border()
    c.get(flow, 11)
    c.trace.frames.append(old.calls[0].frames[0].copy(c.trace.now))
    c.get(flow, 12)


@case("ended or began again")
def begins_again(c):
    flow = c.tcp()
    c.get(flow, 1)
    acknowledge(flow)
    c.lead()
    c.border()
    other = c.tcp(isn=(90_000_000, 80_000_000))
    c.get(other, 2)


@case("a SYN, FIN or RST")
def reset_of_old(c):
    flow = c.tcp()
    c.get(flow, 1)
    acknowledge(flow)
    c.lead()
    c.border()
    flow.reset()
    c.trace.wait(10**6)


@case("joined in its middle", True)
def joined(c):
    """No one saw the beginning: nothing can be assumed."""
    c.get(c.tcp(B), 1)
    c.lead()
    c.border()
    c.get(c.tcp(opened=False), 3)


@case("something came before the first message of a connection", True)
def joined_inside(c):
    """The same inside a message."""
    c.get(c.tcp(B), 1)
    c.lead()
    c.border()
    flow = c.tcp(opened=False)
    call = flow.new_call(2, m.WRITE, m.write_args(FH, 0, b"".join(
        m.record(m.call(77, m.GETATTR, m.getattr_args(FH))) for _ in range(60))))
    flow.send(CLIENT, [call])
    c.trace.drop(call.frames[:1])
    flow.reply(call.op, m.write_res(4000))
    c.get(flow, 3)


@case("something came before the first message of a connection")
def before_first_message(c):
    """Of a connection only bytes were seen that are no message; then there is a problem on it."""
    flow = c.tcp()
    c.get(flow, 1)
    acknowledge(flow)
    c.lead()
    c.border()
    flow.segment(CLIENT, packets.ACK, b"\x80\0\0\x40" + b"no RPC message" * 20)
    flow.next[CLIENT] += 4 + 14 * 20
    c.trace.wait(10**9)
    c.get(flow, 2)


@case("which end is the server differs", True)
def server_of_connection(c):
    """The other end calls first behind the border."""
    flow = c.tcp(port=2049)
    c.get(flow, 1)
    acknowledge(flow)
    c.lead()
    c.border()
    back = c.tcp(FAR, 2049, opened=False, server=A)
    back.next = {CLIENT: flow.next[SERVER], SERVER: flow.next[CLIENT]}
    c.get(back, 2)


@case("which end is the server differs", True)
def server_of_datagrams(c):
    c.get(c.udp(port=2049), 1)
    c.lead()
    c.border()
    c.get(c.udp(FAR, 2049, server=A), 2)


# --- calls

@case()
def never_answered(c):
    for flow, xid in (c.tcp(), 1), (c.udp(B), 2):
        c.ask(flow, xid)
    c.lead()
    c.border()


@case("came late", True)
def late_reply_tcp(c):
    flow = c.tcp()
    op = c.ask(flow, 1)
    flow.segment(SERVER, packets.ACK)
    c.lead()
    c.border()
    c.answer(flow, op)


@case("came late", True)
def late_reply_udp(c):
    flow = c.udp()
    op = c.ask(flow, 1)
    c.lead()
    c.border()
    c.answer(flow, op)


@case("came late", True)
def late_reply_of_other_address(c):
    """Over UDP a server may answer from another one of its addresses."""
    flow = c.udp()
    op = c.ask(flow, 1)
    c.lead()
    c.border()
    flow.server = "10.0.0.10"
    c.answer(flow, op)


@case("used XIDs again", True)
def sent_again_udp(c):
    """A call that was answered before the lead-in."""
    flow = c.udp()
    op = c.get(flow, 1)
    c.lead()
    c.border()
    flow.repeat_call(op)
    flow.repeat_reply(op)


@case("which of two connections is older", True)
def same_xid_over_two_connections(c):
    """Of one client: whose reply it is depends on which one was there first."""
    first, second = c.udp(port=800), c.udp(port=801)
    c.get(first, 1)
    c.get(second, 2)
    c.lead()
    c.border()
    c.ask(second, 9)
    op = c.ask(first, 9)
    c.answer(first, op)


@case("used XIDs again", True)
def sent_again_tcp(c):
    flow = c.tcp()
    op = c.get(flow, 1)
    acknowledge(flow)
    c.lead()
    c.border()
    flow.repeat_call(op)
    flow.repeat_reply(op)


@case("the lead-in alone knows a call", True)
def sent_again_in_lead_in(c):
    flow = c.udp()
    op = c.ask(flow, 1)
    c.lead()
    flow.repeat_call(op)
    c.border()
    c.answer(flow, op)


@case("the calls answered before the border differ")
def answered_again_in_lead_in(c):
    flow = c.udp()
    op = c.get(flow, 1)
    c.lead(noise=400)
    flow.repeat_call(op)
    flow.repeat_reply(op)
    c.noise(200)
    c.border()


@case()
def began_before_lead_in(c):
    """A call of which the lead-in has the last segments only: it is none there."""
    flow = c.tcp()
    c.get(flow, 1)
    op = flow.call(2, m.WRITE, m.write_args(FH, 0, m.pattern(20000)))
    c.marks.append(len(c.trace.frames) - 4)
    flow.reply(op, m.write_res(20000))
    for xid in range(3, 13):
        c.get(flow, xid)
    c.noise(495)  # all in 1,025 frames, of which join once compared the last 1,024
    c.border()
    c.get(flow, 13)


@case("a reply waited at the border", True)
def held_udp(c):
    """The reply was captured before its call, and the border is between them."""
    flow = c.udp()
    c.lead()
    op = c.ask(flow, 1)
    c.answer(flow, op)
    call, reply = op.calls[0].frames, op.replies[0].frames
    c.border()
    c.trace.drop(call)
    reply[0].time = call[0].time = c.trace.now
    c.trace.move(reply[0], c.marks[-1] - 1)
    reply[0].time = c.trace.frames[c.marks[-1] - 2].time
    call[0].time = reply[0].time + 1000
    c.trace.frames.insert(c.marks[-1], call[0])


@case("used XIDs again", True)
def held_tcp(c):
    flow = c.tcp()
    c.lead()
    for xid in range(20, 30):
        c.get(flow, xid)
    op = c.ask(flow, 1)
    c.answer(flow, op)
    call, reply = op.calls[0].frames, op.replies[0].frames
    c.border()
    c.trace.drop(call)
    c.trace.move(reply[0], c.marks[-1] - 1)
    reply[0].time = c.trace.frames[c.marks[-1] - 2].time
    call[0].time = reply[0].time + 1000
    c.trace.frames.insert(c.marks[-1], call[0])


@case("carries RPC")
def learned_port(c):
    """PORTMAP told before the lead-in that NLM has port 3000."""
    ask = c.udp(port=801, server_port=111)
    ask.pair(1, 3, m.u32(100021, 4, 17, 0), m.u32(3000), program=100000, version=2)
    c.lead()
    c.border()
    c.udp(port=802, server_port=3000).pair(2, 0, program=100021, version=4)


@case()
def learned_port_in_lead_in(c):
    ask = c.udp(port=801, server_port=111)
    c.lead()
    ask.pair(1, 3, m.u32(100021, 4, 17, 0), m.u32(3000), program=100000, version=2)
    c.border()
    c.udp(port=802, server_port=3000).pair(2, 0, program=100021, version=4)


# --- fragments and clocks

def fragmented(c, flow, xid):
    call = flow.new_call(xid, m.WRITE, m.write_args(FH, 0, m.pattern(7000)))
    flow.send(CLIENT, [call])
    return call


@case()
def fragments_over_border(c):
    flow = c.udp()
    c.lead()
    call = fragmented(c, flow, 1)
    later = call.frames[2:]
    c.trace.drop(later)
    c.border()
    c.trace.frames += later
    flow.reply(call.op, m.write_res(7000))


@case("the IP fragments that wait differ", True)
def fragments_over_lead_in(c):
    flow = c.udp()
    call = fragmented(c, flow, 1)
    later = call.frames[2:]
    c.trace.drop(later)
    c.lead(noise=10)
    c.border()
    c.trace.frames += later
    flow.reply(call.op, m.write_res(7000))


@case("checksums of fragments are not as before")
def surprising_checksums(c):
    """A host's checksums were wrong, as far as anyone knows, and now one is right."""
    flow = c.udp()
    c.lead()
    bad = fragmented(c, flow, 1)
    frame = bad.frames[0]
    frame.data = frame.data[:40] + bytes([frame.data[40] ^ 0x55]) + frame.data[41:]
    c.border()
    flow.reply(fragmented(c, flow, 2).op, m.write_res(7000))


@case("the clocks differ")
def clock_was_ahead(c):
    flow = c.udp()
    now, c.trace.now = c.trace.now, c.trace.now + 3600 * 10**9
    c.get(flow, 1)
    c.trace.now = now
    c.lead()
    c.border()
    c.get(flow, 2)


# --- limits of the engine, which one run reaches with the connections and calls of all pieces

@case("a limit was reached", options=("--connections", "16"))
def too_many_connections(c):
    for port in range(8):
        c.get(c.tcp(port=800 + port), 1)
    c.lead()
    c.border()
    for port in range(8):
        c.get(c.tcp(port=900 + port), 2)


@case("a limit was reached", options=("--pending", "64"))
def too_many_calls(c):
    flow = c.udp()
    for xid in range(40):
        c.ask(flow, xid)
    c.lead()
    c.border()
    for xid in range(100, 140):
        c.ask(flow, xid)
