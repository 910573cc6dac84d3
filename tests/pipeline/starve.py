#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest starve on made captures of a server that serves one call after the other.

The generator knows how long each call queued and how long it was served.  Outstanding calls, shares
and latencies by the calls of others are found here once more, from the list of calls, moment by moment.
"""
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))
sys.path.insert(0, str(SRC / "tests/pipeline"))

import audit_schema  # noqa: E402
import capfile  # noqa: E402
import database  # noqa: E402
import messages  # noqa: E402
import packets  # noqa: E402

MS = 1_000_000
START = 1_700_000_000_000 * MS
SERVER = "10.0.0.1"
GREEDY, POOR, OTHER = "10.0.0.2", "10.0.0.3", "10.0.0.4"
SCHEMA = json.loads((SRC / "schemas/starve.schema.json").read_text())
SIZES = {GREEDY: 32000, POOR: 100, OTHER: 0}  # of READs; 0: GETATTRs
SERVICE = {GREEDY: 8 * MS, POOR: MS, OTHER: MS // 2}
failures = []

Call = collections.namedtuple("Call", "client call reply queued")


def check(good, *what):
    if not good:
        failures.append(what)
        print("FAILED", *what)


def near(found, wanted, off, *what):
    check(abs(found - wanted) <= off, found, "wanted", wanted, *what)


def serve(arrivals):
    """One after the other, in the order of arrival: (client, time) to calls."""
    free, calls = 0, []
    for client, at in sorted(arrivals, key=lambda a: a[1]):
        begin = max(at, free)
        free = begin + SERVICE[client]
        calls.append(Call(client, at, free, begin - at))
    return calls


def world(rng, starves):
    """Each client alone first; then all at once, where one of them asks for much at a time."""
    arrivals, at = [], START
    for client in SIZES:
        for _ in range(12):
            arrivals.append((client, at))
            at += 20 * MS
    for burst in range(60):
        begin = at + burst * 100 * MS
        for i in range(10 if starves else 1):
            arrivals.append((GREEDY, begin + i * 1000))
        arrivals.append((POOR, begin + rng.randrange(2, 60) * MS + 7))
        arrivals.append((OTHER, begin + rng.randrange(70, 95) * MS + 13))
    return serve(arrivals)


def write_capture(path, calls):
    out = []
    ports = {client: 700 + i for i, client in enumerate(SIZES)}

    def datagram(time, source, destination, pair, message):
        payload = packets.udp(source, destination, *pair, message)
        out.append(capfile.Packet(time, packets.ethernet(packets.internet(
            source, destination, packets.UDP, payload, len(out) + 1)), None, packets.ETHERNET))

    for xid, c in enumerate(calls, 1):
        fh, size = messages.handle(ports[c.client]), SIZES[c.client]
        procedure = messages.READ if size else messages.GETATTR
        arguments = messages.read_args(fh, 0, size) if size else messages.getattr_args(fh)
        result = messages.read_res(messages.pattern(size)) if size else messages.getattr_res(1)
        datagram(c.call, c.client, SERVER, (ports[c.client], 2049),
                 messages.call(xid, procedure, arguments))
        if c.reply is None:
            continue
        datagram(c.reply, SERVER, c.client, (2049, ports[c.client]), messages.reply(xid, result))
    out.sort(key=lambda p: p.time)
    capfile.write_pcap(path, [p._replace(wire_len=len(p.data)) for p in out])


def sweep(calls):
    """By client: outstanding calls over time, share, at most; for each call those of others."""
    events = sorted([(c.call, 1, i) for i, c in enumerate(calls)] +
                    [(c.reply, 0, i) for i, c in enumerate(calls)])
    now, last = collections.Counter(), 0
    share, active, busy, most = (collections.Counter() for _ in range(4))
    others, total = {}, 0
    for time, begins, i in events:
        n = sum(now.values())
        if n:
            total += time - last
            for client, k in now.items():
                share[client] += (time - last) * k / n
                active[client] += (time - last) * (k > 0)
                busy[client] += (time - last) * k
        last = time
        client = calls[i].client
        if begins:
            others[i] = n - now[client]
            now[client] += 1
            most[client] = max(most[client], now[client])
        else:
            now[client] -= 1
    return share, active, busy, most, others, total


def starve(path, *options, code):
    done = subprocess.run([database.program(), "starve", "--json", *options, path],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout)
    problems = list(audit_schema.errors(SCHEMA, found))
    check(not problems, problems)
    check(done.returncode == code, "exit code", done.returncode)
    return found


def compare(calls, found):
    share, active, busy, most, others, total = sweep(calls)
    service, = found["services"]
    check(service["calls"] == len(calls), "calls", service["calls"])
    near(service["active"], total, 1000, "active")
    near(sum(g["share"] for g in service["shares"]), 1, 0.001, "all shares")
    check([g["share"] for g in service["shares"]] ==
          sorted((g["share"] for g in service["shares"]), reverse=True), "order")
    for g in service["shares"]:
        client = g["client"]
        mine = [(i, c) for i, c in enumerate(calls) if c.client == client]
        check(g["calls"] == len(mine), client, "calls", g["calls"])
        check(g["bytes"] == len(mine) * SIZES[client], client, "bytes", g["bytes"])
        near(g["share"], share[client] / total, 0.001, client, "share")
        near(g["outstanding_mean"], busy[client] / active[client], 0.001, client, "mean")
        check(g["outstanding_most"] == most[client], client, "most", g["outstanding_most"])
        check(g["outstanding_bytes_most"] == most[client] * SIZES[client], client, "bytes at a time")
        latencies = sorted(c.reply - c.call for _, c in mine)
        near(g["latency_mean"], sum(latencies) / len(latencies), 2, client, "latency")
        median = latencies[(len(latencies) + 1) // 2 - 1]
        near(g["latency_p50"], median, median / 7, client, "p50")
        queued = sum(c.queued for _, c in mine) / sum(latencies)
        near(g["queueing"], queued, 0.07, client, "queueing")
        wanted = collections.defaultdict(list)
        for i, c in mine:
            wanted[1 << (others[i].bit_length() - 1) if others[i] else 0].append(c.reply - c.call)
        check([(b["from"], b["calls"]) for b in g["by_others"]] ==
              [(k, len(v)) for k, v in sorted(wanted.items())], client, "calls of others")
        for b in g["by_others"]:
            near(b["latency_mean"], sum(wanted[b["from"]]) / len(wanted[b["from"]]), 2, client,
                 "latency by calls of others")


def main():
    rng = random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "starves.pcap")
        calls = world(rng, True)
        write_capture(path, calls)
        found = starve(path, code=1)
        compare(calls, found)
        poor = next(g for g in found["services"][0]["shares"] if g["client"] == POOR)
        near(next(b["part"] for b in poor["behind"] if b["client"] == GREEDY), 1, 0.05, "behind whom")
        check([(f["victim"]["client"], f["behind"]["client"]) for f in found["findings"]
               if f["victim"]["client"] == POOR] == [(POOR, GREEDY)], found["findings"])
        connections = starve(path, "--by", "connection", code=1)["services"][0]["shares"]
        check(sorted(g["client_port"] for g in connections) == [700, 701, 702], "connections")
        # intervals: calls, bytes and outstanding calls of all of them together are those of the trace
        rows = starve(path, "--every", "250ms", code=1)["intervals"]
        busy = sweep(calls)[2]
        for client in SIZES:
            mine = [r for r in rows if r["client"] == client]
            check(sum(r["calls"] for r in mine) == sum(c.client == client for c in calls), client,
                  "calls of intervals")
            near(sum(r["outstanding_mean"] for r in mine) * 250 * MS, busy[client],
                 busy[client] / 1000, client, "outstanding calls of intervals")
            first = mine[0]
            inside = [c for c in calls if c.client == client and
                      0 <= c.reply - first["time"] < 250 * MS]
            check(first["calls"] == len(inside), client, "calls of an interval")
        path = os.path.join(folder, "fair.pcap")
        calls = world(rng, False)
        write_capture(path, calls)
        found = starve(path, code=0)
        compare(calls, found)
        check(found["findings"] == [], found["findings"])
        text = subprocess.run([database.program(), "starve", path], capture_output=True, text=True,
                              check=True).stdout
        check(GREEDY in text and "  in queue  " in text, "text")
        starving = subprocess.run([database.program(), "starve", os.path.join(folder, "starves.pcap")],
                                  capture_output=True, text=True, check=False).stdout
        part = next(b["part"] for b in poor["behind"] if b["client"] == GREEDY)
        check("    %s:  %.0f %% %s  " % (POOR, 100 * part, GREEDY) in starving and
              "no client" not in starving,
              "behind whom, as text", starving)
        check("no client waits mainly for another one\n" in text, "the verdict", text)
        check(found["silence"] is None and "answered nobody" not in text, "no silence")
        late = max(c.reply for c in calls) + 1000 * MS  # the last but one reply is that of a slow call
        calls += [Call(POOR, late, late + 2500 * MS, 0), Call(OTHER, late + MS, late + 2400 * MS, 0)]
        write_capture(path, calls)
        silence = starve(path, code=0)["silence"]
        check((silence["since"], silence["length"], silence["server"]) ==
              (late + MS, 2399 * MS, SERVER), "silence", silence)
        calls += [Call(OTHER, late + 3000 * MS, None, 0)]  # a call that nobody answers is of one client
        write_capture(path, calls)
        for options, unanswered in (([], 1), (["--client", OTHER], 1), (["--client", POOR], 0),
                                    (["--to", "+1s"], 0)):
            said = starve(path, *options, code=0)["unanswered"]
            check(said == unanswered, options, "calls without a reply", said)
    if failures:
        sys.exit("%d checks failed" % len(failures))
    print("starve: queueing, shares and latencies are those of the made server")


main()
