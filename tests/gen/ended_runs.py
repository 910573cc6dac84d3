# SPDX-License-Identifier: GPL-2.0-or-later
"""Captures of two runs of the same calls with the same XIDs, each on a connection of its own: the
first ends in one way or another, the second has the same ports, or others.

What a reader must make of the second run follows from the first one's end alone: a client that had
every answer on a connection that has ended sends none of these calls again, and while a connection is open
none of its calls is soon sent on another one (engine/flow/pair.h)."""
import itertools
import pathlib

import messages as m
import packets
import traffic
from traffic import CLIENT, SERVER

CALLS = 5
FILE = m.handle(10)


def fin_of_server(flow):
    for side in SERVER, CLIENT:
        flow.segment(side, packets.FIN | packets.ACK)
        flow.next[side] += 1
    flow.segment(SERVER, packets.ACK)


def half_close(flow):
    """The client sends no more; then comes a reply, and then the server's end."""
    call = flow.call(99, m.GETATTR, m.getattr_args(FILE))
    flow.segment(CLIENT, packets.FIN | packets.ACK)
    flow.next[CLIENT] += 1
    flow.reply(call, m.getattr_res(10))
    flow.segment(CLIENT, packets.ACK)
    flow.segment(SERVER, packets.FIN | packets.ACK)
    flow.next[SERVER] += 1
    flow.segment(CLIENT, packets.ACK)


def fin_sent_again(flow):
    flow.close()
    flow.segment(CLIENT, packets.FIN | packets.ACK, seq=flow.next[CLIENT] - 1)


def reset_twice(flow):
    flow.reset()
    flow.reset(False)


def refuted_reset(flow):
    """A RST that was none: the connection goes on, and ends well."""
    flow.reset(False)
    flow.pair(98, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))
    flow.segment(CLIENT, packets.ACK)
    flow.close()


def behind_hole(filled):
    """The client's FIN is captured without the call before it, which comes later or never."""
    def end(flow):
        call = flow.call(97, m.GETATTR, m.getattr_args(FILE))
        missing = call.calls[0].frames
        flow.segment(CLIENT, packets.FIN | packets.ACK)
        flow.next[CLIENT] += 1
        for frame in missing:
            flow.trace.frames.remove(frame)
            if filled:
                flow.trace.wait(1000)
                frame.time = flow.trace.now
                flow.trace.frames.append(frame)
        flow.reply(call, m.getattr_res(10))
        flow.segment(SERVER, packets.FIN | packets.ACK)
        flow.next[SERVER] += 1
        flow.segment(CLIENT, packets.ACK)
    return end


# How a connection ends, and how many segments with FIN and RST its twin has
ENDS = {
    "fin": (traffic.TcpFlow.close, 2, 0),
    "fin-of-server": (fin_of_server, 2, 0),
    "fin-again": (fin_sent_again, 2, 0),
    "half-close": (half_close, 2, 0),
    "fin-before-call": (behind_hole(True), 2, 0),
    "fin-behind-hole": (behind_hole(False), 2, 0),
    "rst": (traffic.TcpFlow.reset, 0, 1),
    "rst-of-server": (lambda flow: flow.reset(False), 0, 1),
    "rst-twice": (reset_twice, 0, 1),
    "rst-refuted": (refuted_reset, 2, 1),
    "syn": (lambda flow: None, 0, 0),
}


class Case:
    def __init__(self, end, acked, same_ports, ipv6=False):
        """|acked|: the last reply is acknowledged before the end; |end| may do so, too."""
        self.end, self.acked, self.same_ports = end, acked, same_ports
        self.name = "%s%s%s%s" % (end, ",acked" if acked else "", "" if same_ports else ",ports",
                                  ",ipv6" if ipv6 else "")
        self.trace, self.client = traffic.Trace(), "fd00::1" if ipv6 else "10.0.0.1"
        self.server = "fd00::9" if ipv6 else "10.0.0.9"
        finish, self.fins, self.resets = ENDS[end]
        for run in range(2):
            flow = traffic.TcpFlow(self.trace, self.client, 700 + (run if not same_ports else 0),
                                   self.server, isn=(1000 + run * 10**9, 500000 + run * 10**9))
            flow.open()
            for i in range(CALLS):
                flow.pair(10 + i, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))
            if acked:
                flow.segment(CLIENT, packets.ACK)
            if not run:
                finish(flow)
            self.trace.wait(1_000_000)

    def repeated(self):
        """Calls of the second run that are taken for calls of the first one."""
        over = self.end != "syn" or self.same_ports
        known = self.acked or self.fins  # each way to end with a FIN acknowledges all
        return 0 if known or not over else 1

    def write(self, folder):
        path = pathlib.Path(folder) / (self.name.replace(",", "-") + ".pcap")
        self.trace.write(path)
        return path


def cases():
    for end, acked, same_ports in itertools.product(ENDS, (True, False), (True, False)):
        yield Case(end, acked, same_ports)
    yield Case("fin", True, True, ipv6=True)
