#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest outage: made captures whose outages the generator knows, and two real ones, of which
stock tshark says when each client got its replies, and what was closed, reset, refused and resent.
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
GETATTR, WRITE, COMMIT = messages.GETATTR, messages.WRITE, 21
FILE, LOST = messages.handle(7), messages.handle(8)
HOST = "10.0.0.1"
SCHEMA = json.loads((SRC / "schemas/outage.schema.json").read_text())
failures = []


def check(found, wanted, what):
    if found != wanted:
        failures.append(what)
        print("FAILED %s: %r, wanted %r" % (what, found, wanted))


def outages(path, *options, code=None):
    done = subprocess.run([database.program(), "outage", "--json", *options, str(path)],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    check(list(audit_schema.errors(SCHEMA, found)), [], "schema")
    check(done.returncode, int(bool(found["outages"])) if code is None else code, "exit code")
    return found["outages"]


class Pair:
    """Calls and replies with numbers of their own."""

    def __init__(self, line):
        self.line, self.xid = line, line.port * 1000

    def ask(self, at, results=None, lost=False, procedure=GETATTR, arguments=None):
        self.xid += 1
        self.line.call(at, self.xid, procedure, arguments or messages.getattr_args(FILE), lost)
        if results is not None:
            self.answer(at, results)

    def answer(self, at, results=None):
        self.line.reply(at + SECOND // 1000, self.xid, results or messages.getattr_res(7))


def quiet_world(world):
    """What is no outage: a slow answer, a long time in which nobody asks, an idle connection that
    the server closes, and one that the client has closed before the server resets it."""
    a = Pair(Line(world, "10.0.0.2", 900, HOST))
    a.line.open(START)
    for i in range(10):
        a.ask(START + (1 + i) * SECOND // 10, messages.getattr_res(7))
    a.ask(START + 2 * SECOND)
    a.answer(START + 3 * SECOND + SECOND // 2)
    a.ask(START + 60 * SECOND, messages.getattr_res(7))
    a.line.flag(START + 90 * SECOND, SERVER, FIN | ACK)
    a.line.flag(START + 91 * SECOND, CLIENT, FIN | ACK)
    a.line.again()
    a.line.open(START + 95 * SECOND)
    a.ask(START + 96 * SECOND, messages.getattr_res(7))
    a.line.flag(START + 97 * SECOND, CLIENT, FIN | ACK)
    a.line.flag(START + 98 * SECOND, SERVER, RST)


def overtaken_world(world):
    """A call waits from 1 s to 9 s, one of another client from 5 s to 6 s: nobody got a reply from
    1 s to 6 s, and then nobody until 9 s."""
    a, b = (Pair(Line(world, "10.0.0.%d" % i, 900 + i, HOST)) for i in (2, 3))
    for pair in a, b:
        pair.line.open(START)
        pair.ask(START + SECOND // 2, messages.getattr_res(7))
    a.ask(START + SECOND)
    b.ask(START + 5 * SECOND)
    b.answer(START + 6 * SECOND)
    a.answer(START + 9 * SECOND)


def resent_world(world):
    """Calls wait for 0.3 s.  The last one is sent again though it was answered, and then nothing
    comes for 1.2 s."""
    a = Pair(Line(world, "10.0.0.2", 900, HOST))
    a.line.open(START)
    for i in range(5):
        a.ask(START + (1 + i) * SECOND)
        a.answer(START + (1 + i) * SECOND + 3 * SECOND // 10)
    a.line.resend(START + 6 * SECOND, CLIENT, a.xid)
    a.ask(START + 7 * SECOND + SECOND // 5, messages.getattr_res(7))


def write(pair, at, offset, count, verifier, committed=0):
    pair.ask(at, messages.write_res(count, 8, verifier, committed), procedure=WRITE,
             arguments=messages.write_args(LOST, offset, b"x" * count, committed))


def commit(pair, at, offset, count, verifier):
    pair.ask(at, messages.commit_res(8, verifier), procedure=COMMIT,
             arguments=messages.commit_args(LOST, offset, count))


def restart_world(world, verifier=None):
    """With |verifier|, 10.0.0.3 has written four ranges before, committed the first one, and truncates
    before the last one; afterwards it sends half of the second one again and commits all, but not if the verifier is
    the same, 1.  Verifier 0: it does neither.
    The server dies after 10 s and is back after 16 s.  10.0.0.2 waits for a call, and is refused
    twice; 10.0.0.3 asks nothing until later, and is reset then; 10.0.0.4 never comes back; 10.0.0.5
    tries until the end.  The file shrinks meanwhile."""
    pairs = [Pair(Line(world, "10.0.0.%d" % i, 900 + i, HOST)) for i in range(2, 6)]
    for i, pair in enumerate(pairs):
        pair.line.open(START + i * 1000)
        for k in range(1, 10):
            pair.ask(START + k * SECOND + i * 10_000_000, messages.getattr_res(7, size=9000))
    a, b, _, d = pairs
    if verifier is not None:
        for i in range(4):
            write(b, START + 5 * SECOND + (i + 50) * SECOND // 100, i * 1000, 1000, 1)
        write(b, START + 6 * SECOND + SECOND // 2, 4000, 1000, 1, 2)
        commit(b, START + 7 * SECOND + SECOND // 2, 0, 1000, 1)
        b.ask(START + 8 * SECOND + SECOND // 2, messages.u32(0) + messages.wcc(8), procedure=2,
              arguments=messages.opaque(LOST) + messages.u32(0, 0, 0, 1, 0, 3000, 0, 0, 0))
    died, back = START + 10 * SECOND, START + 16 * SECOND
    a.ask(died)
    a.line.resend(died + SECOND // 2, CLIENT, a.xid, lost=True)
    a.line.flag(died + SECOND, SERVER, RST)
    a.line.again()
    for i in 1, 2:
        a.line.syn(died + i * 2 * SECOND)
        a.line.refuse(died + i * 2 * SECOND + DELAY)
        a.line.again()
    a.line.open(back)
    a.line.call(back + SECOND // 100, a.xid, GETATTR, messages.getattr_args(FILE))
    a.answer(back + SECOND // 100, messages.getattr_res(7, size=5))
    for i in range(1, 4):
        a.ask(back + i * SECOND, messages.u32(messages.STALE))
    b.ask(back + 5 * SECOND)
    b.line.flag(back + 5 * SECOND + DELAY, SERVER, RST)
    b.line.again()
    b.line.open(back + 6 * SECOND)
    b.line.call(back + 6 * SECOND + SECOND // 100, b.xid, GETATTR, messages.getattr_args(FILE))
    b.answer(back + 6 * SECOND + SECOND // 100)
    if verifier:
        write(b, back + 7 * SECOND, 1000, 500, verifier)
        if verifier != 1:
            commit(b, back + 8 * SECOND, 0, 0, verifier)
    d.line.again()
    for i in range(3):
        d.line.syn(died + (3 << i) * SECOND, lost=True)


def lost_writes(folder):
    """WRITEs that were not committed: the second one's rest, and the third one."""
    path = os.path.join(folder, "lost.pcap")
    for verifier, word in (2, "new"), (1, "same"), (0, None):
        world = World()
        restart_world(world, verifier)
        world.write(path, CLIENT)
        o, = outages(path)
        found = [(w["client"], w["procedure_name"], w["offset"], w["count"])
                 for w in o["lost_writes"]]
        wanted = [("10.0.0.3", "WRITE", 1000 if word is None else 1500, 1000 if word is None else 500),
                  ("10.0.0.3", "WRITE", 2000, 1000)]
        wanted = [] if word == "same" else wanted
        check(found, wanted, "lost, verifier %s" % word)
        check((o["write_verifier"], o["lost"], o["lost_bytes"]),
              (word, len(wanted), sum(w[3] for w in wanted)), "numbers of what was lost")
        check([w["time"] for w in o["lost_writes"]],
              [START + 5 * SECOND + i * SECOND // 100 for i in (51, 52)][:len(wanted)], "times")
        if word == "new":
            o, = outages(path, "--top", "1")
            check((o["lost"], len(o["lost_writes"])), (2, 1), "--top")
            o, = outages(path, "--client", "10.0.0.2")
            check(o["lost"], 0, "of another client")
            text = subprocess.run([database.program(), "outage", path], capture_output=True,
                                  text=True, check=False).stdout
            check("500 bytes at 1500\n" in text and "may be lost: 2 WRITEs" in text, True, text)


def waits(folder):
    """Who waits is the same whatever --silence is, and whose reply ends the gap."""
    path = os.path.join(folder, "waits.pcap")
    answered = SECOND // 1000 + DELAY  # after the time that the worlds give
    world = World()
    overtaken_world(world)
    world.write(path, CLIENT)
    for silence, wanted in (("4s", [(6, 5)]), ("1s", [(9, 5)]), ("6s", [])):
        check([(o["end"] - answered, o["waited"] - answered) for o in outages(path, "--silence", silence)],
              [(START + end * SECOND, waited * SECOND) for end, waited in wanted],
              "a call that waits longer than others, --silence " + silence)
    world = World()
    resent_world(world)
    world.write(path, CLIENT)
    for silence in "10s", "2s", "1300ms":
        found = json.loads(subprocess.run([database.program(), "outage", "--json", "--silence", silence, path],
                                          capture_output=True, check=True).stdout)
        check(found["longest_wait"], {"since": START + 6 * SECOND,
                                      "waited": SECOND + SECOND // 5 + answered},
              "the longest wait, --silence " + silence)
    check([(o["end"] - answered, o["waited"] - answered) for o in outages(path, "--silence", "1200ms")],
          [(START + 7 * SECOND + SECOND // 5, SECOND + SECOND // 5)], "the gap after a segment")


def made(folder):
    path = os.path.join(folder, "made.pcap")
    world = World()
    quiet_world(world)
    world.write(path, CLIENT)
    check(outages(path), [], "no outage")
    text = subprocess.run([database.program(), "outage", path], capture_output=True, text=True,
                          check=True).stdout
    check("without any reply was 1.50" in text and text.endswith("--silence 1s shows it\n"), True,
          "the longest wait: " + text)
    for silence, count in ("1500ms", 1), ("1502ms", 0):
        check(len(outages(path, "--silence", silence)), count, "--silence " + silence)
    found = outages(path, "--silence", "1s")
    check([(o["end"] - o["begin"], o["waited"]) for o in found],
          [(5 * SECOND // 2, 3 * SECOND // 2 + SECOND // 1000 + DELAY)], "the slow answer")

    world = World()
    restart_world(world)
    world.write(path, CLIENT)
    found = outages(path)
    check(len(found), 1, "one outage")
    o = found[0]
    check((o["server"], o["port"]), (HOST, 2049), "service")
    last = START + 9 * SECOND + 30_000_000 + SECOND // 1000 + DELAY  # of the fourth client
    back = START + 16 * SECOND + SECOND // 100 + SECOND // 1000 + DELAY
    check((o["begin"], o["end"], o["waited"]), (last, back, back - START - 10 * SECOND), "span")
    clients = {c["client"][-1]: c for c in o["clients"]}
    check(sorted(clients), ["2", "3", "4", "5"], "clients")
    check([clients[i]["came_back"] for i in "2345"], [True, True, False, False], "who came back")
    check([clients[i]["trouble_was"] for i in "2345"], ["RST", "RST", None, "SYN"], "trouble")
    a = clients["2"]
    check((a["resent_segments"], a["resent_calls"], a["attempts"], a["refused"], a["resets"]),
          (1, 1, 3, 2, 1), "what the first client did")
    check(a["trouble"]["time"], START + 11 * SECOND + DELAY, "its reset")
    check(a["first_reply"]["time"], back, "its first reply")
    check((a["answered_after"], a["errors_after"]), (4, 3), "its replies after")
    b = clients["3"]
    check(b["first_reply"]["time"], START + 22 * SECOND + SECOND // 100 + SECOND // 1000 + DELAY,
          "the second one's first reply")
    check((b["resets"], b["unanswered"], b["resent_calls"]), (1, 0, 1), "its connection")
    check((o["unanswered"], o["lost"], o["write_verifier"]), ([], 0, None), "nothing written")
    check(clients["4"]["last_try"], None, "the third asks for nothing")
    check(clients["5"]["last_try"]["time"], START + 22 * SECOND, "the fourth one's last attempt")
    check(clients["5"]["attempts"], 1, "its attempts have the same number")
    check(clients["5"]["syns"], 3, "its SYNs")
    check(o["statuses"], [{"status": "NFS3ERR_STALE", "before": 0, "after": 3}], "statuses")
    check([(d["rule"], d["procedure_name"]) for d in o["differences"]],
          [("changed-unseen", "GETATTR")], "differences")
    check([[c["client"] for c in o["clients"]] for o in outages(path, "--client", "10.0.0.3")],
          [["10.0.0.3"]], "one client's outage")
    check(outages(path, "--to", "+9s"), [], "before it")
    text = subprocess.run([database.program(), "outage", path], capture_output=True, text=True,
                          check=False).stdout
    check("10.0.0.4 asked for nothing any more" in text, True, "text")
    check("    unless something that the trace does not show" in text, True, "a suspect")
    check("\n\n\n" in text or "longest wait without" in text, False, "text of outages")
    text = subprocess.run([database.program(), "outage", "--client", "10.0.0.2", path],
                          capture_output=True, text=True, check=False).stdout
    check(": no reply to 10.0.0.2 for " in text, True, "text for one client")
    # a database, a stream and a capture give the same
    stream, store = os.path.join(folder, "a.nfsr"), os.path.join(folder, "a.db")
    subprocess.run([database.program(), "record", "-o", stream, path], check=True,
                   capture_output=True)
    subprocess.run([database.program(), "ingest", "-o", store, stream], check=True,
                   capture_output=True)
    check(outages(stream), found, "a stream")
    check(outages(store), found, "a database")


FIELDS = ("frame.number", "ip.src", "ip.dst", "tcp.srcport", "tcp.flags.syn", "tcp.flags.ack",
          "tcp.flags.fin", "tcp.flags.reset", "tcp.seq_raw", "tcp.ack_raw", "rpc.msgtyp",
          "tcp.analysis.retransmission", "tcp.port")


def tshark(path):
    """A dictionary for each frame of port 2049."""
    done = subprocess.run(["tshark", "-r", path, "-Y", "tcp.port == 2049", "-T", "fields", "-E",
                           "separator=;", *[a for f in FIELDS for a in ("-e", f)]],
                          capture_output=True, text=True, check=True)
    return [dict(zip(FIELDS, line.split(";"))) for line in done.stdout.splitlines()]


def set_flag(frame, name):
    return frame["tcp.flags." + name] in ("1", "True")


def real(path, host, refuses):
    """Of each client, what tshark sees between its last reply before and its first one after."""
    o, = outages(path)
    plain = subprocess.run(["zstd", "-dqc", path], capture_output=True, check=True).stdout
    with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
        file.write(plain)
        file.flush()
        os.chmod(file.name, 0o644)
        frames = tshark(file.name)
    replies = [int(f["frame.number"]) for f in frames if "1" in f["rpc.msgtyp"].split(",")]
    check(max(n for n in replies if n <= o["last_reply"]["frame"]), o["last_reply"]["frame"],
          "last reply")
    check(min(n for n in replies if n > o["last_reply"]["frame"]), o["first_reply"]["frame"],
          "first reply")
    check(len(o["clients"]), 4, "clients")
    for c in o["clients"]:
        name = path.name + " " + c["client"]
        mine = [f for f in frames if c["client"] in (f["ip.src"], f["ip.dst"])]
        got = [int(f["frame.number"]) for f in mine if "1" in f["rpc.msgtyp"].split(",")]
        before = max(n for n in got if n <= o["last_reply"]["frame"])
        behind = min((n for n in got if n > before), default=None)
        check(c["last_reply"]["frame"], before, name + ": last reply")
        check(c["first_reply"] and c["first_reply"]["frame"], behind, name + ": first reply")
        span = [f for f in mine if o["last_reply"]["frame"] < int(f["frame.number"])
                < (behind or 1 << 60)]
        down = [f for f in span if f["ip.src"] == host]
        up = [f for f in span if f["ip.dst"] == host]
        syns = [f for f in up if set_flag(f, "syn")]
        wanted = {str((int(f["tcp.seq_raw"]) + 1) % (1 << 32)) for f in syns}
        refused = [f for f in down if set_flag(f, "reset") and f["tcp.ack_raw"] in wanted]
        resets = [f for f in down if set_flag(f, "reset") and f not in refused]
        again = [f for f in up if f["tcp.analysis.retransmission"] and not set_flag(f, "syn")]
        check(c["syns"], len(syns), name + ": SYNs")
        check(c["refused"], len(refused), name + ": refused")
        check(bool(c["refused"]), refuses and c["came_back"], name + ": whether it was refused")
        check(c["resets"], int(bool(resets)), name + ": resets")
        check(c["closed"], sum(set_flag(f, "fin") for f in down), name + ": closed")
        check(c["resent_segments"], len(again), name + ": resent segments")
    check([c["client"] for c in o["clients"] if not c["came_back"]], ["10.7.0.23"], "who is gone")


def main():
    with tempfile.TemporaryDirectory() as folder:
        made(folder)
        waits(folder)
        lost_writes(folder)
    if not os.environ.get("SANITIZED"):
        real(CAPTURES / "outage/outage-kill.pcap.zst", "10.7.0.1", True)
        real(CAPTURES / "outage/outage-move.pcap.zst", "10.7.0.1", False)
    if failures:
        sys.exit("%d checks failed" % len(failures))
    print("outages: those of the made captures and of the real ones were found")


main()
