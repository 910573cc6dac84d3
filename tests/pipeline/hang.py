#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest hang: made captures from the client's and the server's side of one world, in which the
generator knows what became of each call; and real captures: of a server that was away, and of both sides
of one that stopped and of a network that was cut.  Of these stock tshark says which messages each side
saw.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))
sys.path.insert(0, str(SRC / "tests/pipeline"))

import audit_schema  # noqa: E402
import database  # noqa: E402
import messages  # noqa: E402
from packets import ACK, FIN, RST  # noqa: E402
from tcp_world import CLIENT, DELAY, SERVER, Line, World  # noqa: E402

SECOND = 10**9
START = 1_700_000_000 * SECOND
HUNG = START + 10 * SECOND
OFFSET = 5 * SECOND + 12_345
GETATTR = messages.GETATTR
FILE = messages.handle(7)
SCHEMA = json.loads((SRC / "schemas/hang.schema.json").read_text())
failures = []


def check(found, wanted, what):
    if found != wanted:
        failures.append(what)
        print("FAILED %s: %r, wanted %r" % (what, found, wanted))


def hang(*arguments, code=None):
    done = subprocess.run([database.program(), "hang", "--json", *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    check(list(audit_schema.errors(SCHEMA, found)), [], "schema")
    check(done.returncode, int(bool(found["calls"])) if code is None else code, "exit code")
    return found


def window(line, at, side, size):
    line.world.send(at, line, side, ACK, window=size)


class Case:
    """A client with a line, a call that worked, and one that waits from HUNG on."""

    def __init__(self, world, number):
        self.line = Line(world, "10.0.0.%d" % number, 700 + number, "10.0.0.1")
        self.xid = number * 1000
        self.at = HUNG + number * 1_000_000
        self.line.open(START + number * 1000)
        self.line.call(START + SECOND, self.xid, GETATTR, messages.getattr_args(FILE))
        self.line.reply(START + SECOND + SECOND // 100, self.xid, messages.getattr_res(7))

    def ask(self, lost=False):
        self.xid += 1
        self.line.call(self.at, self.xid, GETATTR, messages.getattr_args(FILE), lost)


def server_hangs(case):
    case.ask()


def call_is_lost(case):
    case.ask(lost=True)
    for i in range(4):
        case.line.resend(case.at + (SECOND << i) // 4, CLIENT, case.xid, lost=True)


def reply_is_lost(case):
    case.ask()
    case.line.reply(case.at + SECOND // 10, case.xid, messages.getattr_res(7), lost=True)
    for i in range(4):
        case.line.resend(case.at + (SECOND << i) // 4, SERVER, case.xid, lost=True)


def server_reads_nothing(case):
    window(case.line, case.at - SECOND, SERVER, 0)
    window(case.line, case.at - SECOND // 2, SERVER, 5000)
    case.ask()
    window(case.line, case.at + SECOND // 100, SERVER, 0)
    window(case.line, case.at + 3 * SECOND, SERVER, 0)


def client_reads_nothing(case):
    case.ask()
    window(case.line, case.at + SECOND // 100, CLIENT, 0)


def is_refused(case):
    case.ask()
    case.line.flag(case.at + SECOND // 100, SERVER, RST)
    case.line.port += 100
    for i in range(1, 4):
        case.line.again()
        case.line.syn(case.at + i * SECOND)
        case.line.refuse(case.at + i * SECOND + DELAY)


def connects_in_vain(case):
    case.ask()
    case.line.flag(case.at + SECOND // 100, SERVER, FIN | ACK)
    case.line.port += 100
    case.line.again()
    for i in range(3):
        case.line.syn(case.at + (SECOND << i), lost=True)


def reuses_its_ports(case):
    case.ask()
    case.line.flag(case.at + SECOND // 100, CLIENT, RST)
    case.line.again(-(1 << 24))
    for i in range(3):
        case.line.syn(case.at + (SECOND << i))


def ended(case):
    case.ask()
    case.line.flag(case.at + SECOND // 100, SERVER, RST)


CASES = [  # what happens, the verdict from the client's side, that from both
    (server_hangs, "server", "server", (0, 1, 0)),
    (call_is_lost, "network", "network", (1, 0, 0)),
    (reply_is_lost, "server", "network-back", (0, 0, 1)),
    (server_reads_nothing, "server-window", "server-window", (0, 1, 0)),
    (client_reads_nothing, "client", "client", (0, 1, 0)),
    (is_refused, "refused", "refused", (0, 1, 0)),
    (connects_in_vain, "connect", "connect", (0, 1, 0)),
    (reuses_its_ports, "reuse", "reuse", (0, 1, 0)),
    (ended, "ended", "ended", (0, 1, 0)),
]


def made(folder):
    world = World(OFFSET)
    cases = [Case(world, i + 2) for i in range(len(CASES))]
    for case, row in zip(cases, CASES):
        row[0](case)
    many = Line(world, "10.0.1.1", 600, "10.0.0.1")  # goes through reserved ports
    for port in range(650, 980):
        many.port = port
        many.syn(HUNG + port * 1_000_000)
    many.port = 600
    many.call(START + SECOND, 9, GETATTR, messages.getattr_args(FILE))
    end = HUNG + 20 * SECOND
    cases[0].line.flag(end, CLIENT, ACK)
    near, far = os.path.join(folder, "near.pcap"), os.path.join(folder, "far.pcap")
    world.write(near, CLIENT)
    world.write(far, SERVER)

    found = hang(near, "--top", 20)
    check(found["at"], end, "the end")
    check(found["both_sides"], None, "one side")
    waiting = {w["client"]: w for w in found["waiting"]}
    check(len(waiting), len(CASES) + 1, "connections")
    check(found["waiting"][0]["client"], "10.0.1.1", "the oldest")
    check(waiting["10.0.1.1"]["reserved_ports"], 330, "reserved ports")
    for case, row in zip(cases, CASES):
        w = waiting[case.line.client]
        name = row[0].__name__
        check((w["calls"], w["xid"], w["called"], w["age"]), (1, case.xid, case.at, end - case.at),
              name)
        check(w["last_reply"], START + SECOND + SECOND // 100 + DELAY, name + ": last reply")
        check(w["verdict"], row[1], name + ": verdict")
    check(waiting["10.0.0.3"]["resent_segments"], 4, "segments sent again")
    check([waiting["10.0.0.7"][k] for k in ("attempts", "syns", "refused", "resets")],
          [3, 3, 3, 1], "refused attempts")
    check([waiting["10.0.0.8"][k] for k in ("attempts", "syns", "reused", "closed")], [1, 3, 0, 1],
          "attempts in vain")
    check(waiting["10.0.0.9"]["reused"], 1, "attempts from the same ports")

    both = hang(near, far, "--top", 20)
    check(both["both_sides"], {"calls": both["both_sides"]["calls"], "offset": OFFSET,
                               "way": DELAY}, "the clocks")
    check(both["both_sides"]["calls"], 2 * len(CASES), "calls that both have")
    for case, row in zip(cases, CASES):
        w = next(w for w in both["waiting"] if w["client"] == case.line.client)
        check(w["verdict"], row[2], row[0].__name__ + ": verdict from both sides")
        check(tuple(w["at_server"].values()), row[3], row[0].__name__ + ": at the server")

    check(hang(near, "--at", "+5s", "--client", "10.0.0.2")["calls"], 0, "nothing hangs then")
    quick = hang(near, "--to", "+5s", "--client", "10.0.0.2")
    check((quick["at"], quick["calls"], quick["chosen"]), (end, 0, False), "no long wait")
    quick = hang(near, "--to", "+5s", "--client", "10.0.0.2", "--age", "5ms")
    check((quick["chosen"], quick["waiting"][0]["called"]), (True, START + SECOND), "a short wait")
    check(quick["at"] < START + SECOND + SECOND // 100 + DELAY, True, "before its reply")
    early = hang(near, "--at", "+10.2s", "--age", "100ms", "--client", "10.0.0.5")
    check([w["server_window_closed"] for w in early["waiting"]], [True], "a closed window")
    early = hang(near, "--at", "+10.004s", "--age", "0s", "--client", "10.0.0.5")
    check([w["server_window_closed"] for w in early["waiting"]], [], "not called yet")
    swapped = subprocess.run([database.program(), "hang", far, near], capture_output=True, text=True,
                             check=False)
    check((swapped.returncode, "are swapped" in swapped.stderr, swapped.stdout), (3, True, ""),
          "swapped traces")
    text = subprocess.run([database.program(), "hang", near, far], capture_output=True, text=True,
                          check=False).stdout
    check("the server has the call, and does not answer" in text and "ahead" in text, True, "text")


def comes_back(folder):
    """The server refuses connections, accepts one at last, and replies a second later: the reason of
    the wait is what came before it accepted."""
    world = World()
    case = Case(world, 2)
    is_refused(case)
    accepted, replied = case.at + 5 * SECOND + SECOND // 2, case.at + 6 * SECOND + SECOND // 2
    case.line.again()
    case.line.open(accepted)
    case.line.call(accepted + SECOND // 100, case.xid, GETATTR, messages.getattr_args(FILE))
    case.line.reply(replied, case.xid, messages.getattr_res(7))
    case.line.flag(replied + 9 * SECOND, CLIENT, ACK)
    path = os.path.join(folder, "back.pcap")
    world.write(path, CLIENT)
    found = hang(path)
    check((found["chosen"], [w["verdict"] for w in found["waiting"]]), (True, ["refused"]),
          "why it waited")
    check(case.at + 5 * SECOND < found["at"] < accepted + DELAY, True, "before it was accepted")


def real():
    """While Ganesha is away, and when it is back."""
    path = CAPTURES / "outage/outage-kill.pcap.zst"
    found = hang(path, "--at", "+4s")
    check(sorted((w["client"], w["verdict"]) for w in found["waiting"]),
          [("10.7.0.21", "refused"), ("10.7.0.22", "refused"), ("10.7.0.23", "ended"),
           ("10.7.0.24", "refused")], "Ganesha is away")
    check([w["client"] for w in hang(path)["waiting"]], ["10.7.0.23"], "Ganesha is back")
    found = hang(path, "--client", "10.7.0.22")  # it came back, over a connection accepted just before
    check((found["chosen"], [w["verdict"] for w in found["waiting"]]), (True, ["refused"]),
          "why the reply came that late")
    check(found["waiting"][0]["age"] > 3 * SECOND, True, "how long it had waited then")
    outside = subprocess.run([database.program(), "hang", "--at", "10:00", path], capture_output=True,
                             text=True, check=False)
    check((outside.returncode, "is not in the trace, which is from" in outside.stderr), (2, True),
          "a time outside the trace")
    found = hang(CAPTURES / "outage/outage-move.pcap.zst", "--at", "+4s")
    check(sorted({w["verdict"] for w in found["waiting"]}), ["network"], "the machine is gone")


def messages_of(path, folder):
    """(time, XID, whether it is a reply) of all messages of port 2049 that tshark sees."""
    plain = os.path.join(folder, path.name.removesuffix(".zst"))
    with open(plain, "wb") as out:
        subprocess.run(["zstd", "-dqc", path], stdout=out, check=True)
    done = subprocess.run(["tshark", "-r", plain, "-Y", "tcp.port == 2049 && rpc", "-T", "fields",
                           "-o", "tcp.reassemble_out_of_order:TRUE", "-e", "frame.time_epoch", "-e",
                           "rpc.xid", "-e", "rpc.msgtyp"], capture_output=True, text=True, check=True)
    found = []
    for line in done.stdout.splitlines():
        time, xids, kinds = line.split("\t")
        second, _, part = time.partition(".")
        for xid, kind in zip(xids.split(","), kinds.split(",")):
            found.append((int(second) * SECOND + int(part.ljust(9, "0")), int(xid, 16), kind == "1"))
    return found


def both_sides(folder):
    near, far = (CAPTURES / "outage" / name for name in ("hang-client.pcap.zst",
                                                         "hang-server.pcap.zst"))
    swapped = subprocess.run([database.program(), "hang", far, near], capture_output=True, check=False)
    check((swapped.returncode, b"are swapped" in swapped.stderr), (3, True), "swapped real traces")
    seen = messages_of(far, folder)
    mine = messages_of(near, folder)
    for moment, verdict, arrived in ("+2.9s", "server", True), ("+6.9s", "network", False), \
            (None, "network", False):  # the longest wait is that for the network
        found = hang(near, far, *(["--at", moment] if moment else []))
        check(found["chosen"], not moment, "who chose the time")
        moment = moment or "the longest"
        check([w["verdict"] for w in found["waiting"]], [verdict], moment)
        w, = found["waiting"]
        waiting = {x for t, x, reply in mine if not reply and t <= found["at"] - SECOND} - \
            {x for t, x, reply in mine if reply and t <= found["at"]}
        check({w["xid"]}, waiting, moment + ": waits in tshark, too")
        check(any(x == w["xid"] and not reply and t <= found["at"] for t, x, reply in seen), arrived,
              moment + ": whether tshark sees it at the server")
        check(any(x == w["xid"] and reply and t <= found["at"] for t, x, reply in seen), False,
              moment + ": whether it is answered")
        check(w["at_server"], {"not_arrived": int(not arrived), "not_answered": int(arrived),
                               "answered": 0}, moment + ": at the server")
        check(abs(found["both_sides"]["offset"]) < SECOND // 1000, True, "one clock")
    said = subprocess.run([database.program(), "hang", near], capture_output=True, text=True, check=False).stdout
    other = next((line for line in said.splitlines() if line.startswith("1 other call waited")), "").split('"')
    check(len(other), 3, "the hang before: " + said)
    check([w["verdict"] for w in hang(near, "--at", other[1])["waiting"]], ["server"], "the hang before")
    check("other call" in subprocess.run([database.program(), "hang", "--at", "+2.9s", near], capture_output=True,
                                         text=True, check=False).stdout, False, "a moment that was asked for")


def main():
    with tempfile.TemporaryDirectory() as folder:
        made(folder)
        comes_back(folder)
        if not os.environ.get("SANITIZED"):
            both_sides(folder)
    real()
    if failures:
        sys.exit("%d checks failed" % len(failures))
    print("hang: %d made cases and four real ones" % len(CASES))


main()
