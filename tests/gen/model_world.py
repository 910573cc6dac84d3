# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that work in a model server's tree at the same time: who calls what when, when the server
does it, and when the reply comes.

    world = World(seed=1, operations=1000)
    for event, op in world.run():       # in the order of time
        ...                             # CALL, EXECUTE (op.result is there) or REPLY

The same arguments give the same operations. Nothing is kept of operations that are over.
"""
import heapq
import random

import model_jobs
import model_tree
from model_server import Server, Who

CALL, EXECUTE, REPLY, RESUME = "call", "execute", "reply", "resume"
FREE, BY_CALL, SERIAL = "free", "by call", "serial"
BEGIN = 1_700_000_000 * 10**9
US, MS = 1000, 10**6


class Operation:
    """|number|: in the order of calls; |order|: in that of their execution; both from 0. Times in
    ns. |call_frame|, |reply_frame|: where a capture has the message's end; None: it was lost."""

    __slots__ = ("number", "order", "host", "process", "who", "xid", "procedure", "arguments",
                 "call_time", "execute_time", "reply_time", "result", "call_frame", "reply_frame")

    def __init__(self, process, procedure, arguments):
        self.process, self.host, self.who = process, process.host, process.who
        self.procedure, self.arguments = procedure, arguments
        self.number = self.order = self.xid = self.result = None
        self.call_time = self.execute_time = self.reply_time = None
        self.call_frame = self.reply_frame = None


class Host:
    """A client machine. XIDs count up, so that (address, XID) tells an operation."""

    def __init__(self, number, rng):
        self.number = number
        self.address = "10.1.%d.%d" % (number // 250, 1 + number % 250)
        self.machine = "client%d" % number
        self.xid = rng.randrange(1 << 32)

    def next_xid(self):
        self.xid = (self.xid + 1) & 0xffffffff
        return self.xid


class World:
    """|order|: FREE: calls that are under way at the same time are done in any order; BY_CALL: in
    the order in which they were called, as a trace shows them; SERIAL: one call at a time in the
    whole world. |weights|: {name of a job in model_jobs: weight} that differ from the usual.
    |share|: of the usual size of the tree. |cached|: so many objects each process knows from
    before, so that calls name objects of which no reply shows a name or a parent. |middle|: share
    of the replies to listings of which not all was wanted: the next one begins amid them. |like|:
    attributes of the Server."""

    def __init__(self, seed, operations=1000, hosts=3, processes=2, exports=2, order=FREE,
                 weights=None, share=1.0, depth=2, permissions=True, cached=0, middle=0, like=None):
        self.rng = random.Random(seed)
        self.operations, self.order = operations, order
        self.server, self.middle = Server(permissions=permissions), middle
        for key, value in (like or {}).items():
            setattr(self.server, key, value)
        users = [Who(1000 + i, 100 + i // 2, (100, 27)) for i in range(max(2, processes))]
        paths = [b"/srv/%s" % name for name in (b"home", b"project", b"scratch", b"media")]
        paths += [b"/srv/more%d" % i for i in range(4, exports)]
        self.paths = paths[:exports]
        model_tree.build(self.server, self.rng, self.paths, users, depth, share)
        self.initial = self.server.tree()
        self.roots = [self.server.exports[path].handle for path in self.paths]
        self.hosts = [Host(i, self.rng) for i in range(hosts)]
        self.jobs = dict(model_jobs.WEIGHTS, **(weights or {}))
        self.processes = []
        for host in self.hosts:
            for i in range(processes):
                who = Who(0, 0) if i == 2 else users[i % len(users)]
                self.processes.append(model_jobs.Process(self, host, who, i))
        for process in self.processes if cached else ():
            process.know(self.rng.sample(self.initial, min(cached, len(self.initial))))
        self.issued = self.called = self.executed = self.under_way = 0
        self.last_execution = self.sequence = 0
        self.current = None  # operation that the server is at
        self.events, self.waiting = [], []

    def at(self, time, event, what):
        self.sequence += 1
        heapq.heappush(self.events, (time, self.sequence, event, what))

    def run(self):
        for process in self.processes:
            self.at(BEGIN + self.rng.randrange(5 * MS), RESUME, process)
        while self.events:
            now, _, event, what = heapq.heappop(self.events)
            if event == RESUME:
                self.resume(now, what)
            elif event == CALL:
                if self.order == SERIAL and self.under_way:
                    self.waiting.append(what)
                    continue
                self.call(now, what)
                yield event, what
            elif event == EXECUTE:
                self.execute(what)
                yield event, what
            else:
                yield event, what
                self.replied(now, what)

    def resume(self, now, process):
        """The process goes on, and makes its next calls."""
        batch = []
        while not batch and self.issued < self.operations:
            batch = process.next_calls()
        for procedure, arguments in batch:
            if self.issued == self.operations:
                break
            self.issued += 1
            op = Operation(process, procedure, arguments)
            process.pending.append(op)
            self.at(now, CALL, op)
            now += self.rng.randrange(1, 40 * US)
        process.unanswered = len(process.pending)

    def call(self, now, op):
        op.number, op.xid, op.call_time = self.called, op.host.next_xid(), now
        self.called += 1
        self.under_way += 1
        delay = self.rng.randrange(20 * US, 400 * US)
        if self.rng.random() < 0.05:
            delay += self.rng.randrange(8 * MS)
        time = now + delay
        if self.order != FREE:
            time = max(time, self.last_execution + 1)
        self.last_execution = max(self.last_execution, time)
        op.execute_time = time
        self.at(time, EXECUTE, op)

    def execute(self, op):
        op.order, self.current = self.executed, op
        self.executed += 1
        op.result = self.server.execute(op.procedure, op.arguments, op.who, op.execute_time)
        op.reply_time = op.execute_time + self.rng.randrange(20 * US, 300 * US)
        self.at(op.reply_time, REPLY, op)

    def replied(self, now, op):
        self.under_way -= 1
        op.process.unanswered -= 1
        if self.waiting:
            self.at(now + self.rng.randrange(1, 50 * US), CALL, self.waiting.pop(0))
        if not op.process.unanswered:
            self.at(now + self.rng.randrange(1, 500 * US), RESUME, op.process)
