#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest info --every, and the filters of info and ops, also by time as people type it.

A generated capture, whose operations the generator knows: clients, users, times, statuses,
retransmissions and lost replies. And a real one, whose calls and latencies stock tshark knows.
"""
import collections
import csv
import datetime
import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
import database  # noqa: E402
import messages  # noqa: E402
import packets  # noqa: E402
import traffic  # noqa: E402
from checks import check, exit_code, good, run  # noqa: E402

SECOND = 10**9
START = 1_700_000_000 * SECOND + 300_000_000  # 2023-11-14 22:13:20.3
SERVER = "10.0.0.1"

Op = collections.namedtuple("Op", "client uid procedure size status call reply resent")


# --- a generated capture


def make_operations(rng):
    """12 seconds, with a pause in the middle."""
    ops, at = [], START
    while at < START + 12 * SECOND:
        at += rng.randrange(1, 30_000_000)
        if START + 5 * SECOND < at < START + 8 * SECOND:
            at = START + 8 * SECOND
        lost = rng.random() < 0.05
        resent = rng.random() < 0.1
        latency = rng.randrange(50_000, 40_000_000) + (700_000_000 if resent else 0)
        procedure = rng.choice([messages.GETATTR, messages.READ, messages.WRITE])
        status = messages.STALE if rng.random() < 0.1 else messages.OK
        ops.append(Op("10.0.0.%d" % rng.randrange(2, 5), rng.randrange(1000, 1003), procedure,
                      rng.randrange(1, 900), status, at, None if lost else at + latency,
                      at + 600_000_000 if resent else None))
    return ops


def bodies(op):
    fh = messages.handle(op.uid)
    data = messages.pattern(op.size)
    arguments = {messages.GETATTR: lambda: messages.getattr_args(fh),
                 messages.READ: lambda: messages.read_args(fh, 0, op.size),
                 messages.WRITE: lambda: messages.write_args(fh, 0, data)}[op.procedure]()
    if op.status:
        result = messages.u32(op.status)
        if op.procedure == messages.READ:
            result += messages.u32(0)
        elif op.procedure == messages.WRITE:
            result += messages.u32(0, 0)
        return arguments, result
    return arguments, {messages.GETATTR: lambda: messages.getattr_res(op.uid),
                       messages.READ: lambda: messages.read_res(data, op.uid),
                       messages.WRITE: lambda: messages.write_res(op.size, op.uid)}[op.procedure]()


def write_capture(path, ops, sort=True):
    out = []

    def datagram(time, source, destination, ports, message):
        payload = packets.udp(source, destination, *ports, message)
        out.append(capfile.Packet(time, packets.ethernet(packets.internet(
            source, destination, packets.UDP, payload, len(out) + 1)), None, packets.ETHERNET))

    for number, op in enumerate(ops):
        xid = 1000 + number
        arguments, result = bodies(op)
        call = messages.call(xid, op.procedure, arguments,
                             credential=messages.auth_sys(uid=op.uid))
        for time in (op.call, op.resent):
            if time is not None:
                datagram(time, op.client, SERVER, (700, 2049), call)
        if op.reply is not None:
            datagram(op.reply, SERVER, op.client, (2049, 700), messages.reply(xid, result))
    if sort:
        out.sort(key=lambda p: p.time)
    capfile.write_pcap(path, [p._replace(wire_len=len(p.data)) for p in out])


def percentile(values, percent):
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1] if values else None


def expected_intervals(ops, every):
    """The rows of info --every, from what the generator knows."""
    times = [t for op in ops for t in (op.call, op.reply, op.resent) if t is not None]
    rows = []
    for start in range(min(times) // every * every, max(times) + 1, every):
        end = start + every
        mine = [op for op in ops if start <= op.call < end]
        latencies = [op.reply - op.call for op in mine if op.reply is not None]

        def size(procedure, mine=mine):
            # the length of a WRITE is in its call, that of a READ in its reply
            return sum(op.size for op in mine if op.procedure == procedure and
                       (procedure == messages.WRITE or (op.reply is not None and not op.status)))
        rows.append({
            "time": start, "operations": len(mine),
            "errors": sum(1 for op in mine if op.reply is not None and op.status),
            "read": size(messages.READ), "written": size(messages.WRITE),
            "answered": len(latencies), "p50": percentile(latencies, 50),
            "p90": percentile(latencies, 90), "p99": percentile(latencies, 99),
            "max": max(latencies, default=None),
            "retransmissions": sum(1 for op in ops
                                   if op.resent is not None and start <= op.resent < end),
            "unanswered": sum(1 for op in mine if op.reply is None),
            "outstanding": sum(1 for op in ops
                               if op.call < end and op.reply is not None and op.reply >= end)})
    return rows


# options | which operations these are
def filters(ops):
    first = min(op.call for op in ops)
    last = max(t for op in ops for t in (op.call, op.reply, op.resent) if t is not None)
    midnight = 1_699_920_000 * SECOND
    at = midnight + ((22 * 60 + 13) * 60 + 24) * SECOND
    return [
        (["--client", "10.0.0.3"], lambda op: op.client == "10.0.0.3"),
        (["--uid", 1001], lambda op: op.uid == 1001),
        (["--procedure", "read"], lambda op: op.procedure == messages.READ),
        (["--status", "stale"], lambda op: op.status == messages.STALE and op.reply is not None),
        (["--from", "22:13:24"], lambda op: op.call >= at),
        (["--to", "22:13:24.25"], lambda op: op.call < at + SECOND // 4),
        (["--from", "2023-11-14 22:13:24"], lambda op: op.call >= at),
        (["--from", "+2s", "--to", "-3.5s"],
         lambda op: first + 2 * SECOND <= op.call < last - 7 * SECOND // 2),
        (["--from", "+500ms", "--uid", 1002, "--client", "10.0.0.2"],
         lambda op: op.call >= first + SECOND // 2 and op.uid == 1002 and op.client == "10.0.0.2"),
        (["--retransmitted"], lambda op: op.resent is not None),
        (["--unpaired"], lambda op: op.reply is None),
        (["--min-latency", "20ms"],
         lambda op: op.reply is not None and op.reply - op.call >= 20_000_000),
    ]


def sums(ops, key):
    """{value of |key|: how many of these operations were sent again}"""
    out = collections.Counter()
    for op in ops:
        out[getattr(op, key)] += op.resent is not None
    return dict(out)


def check_csv(what, said, wanted):
    """A table as CSV has the values of JSON under the same names."""
    rows = list(csv.DictReader(io.StringIO(said, newline="")))
    check(len(rows) == len(wanted) > 0, "%s: %d lines of CSV" % (what, len(rows)))
    for row, one in zip(rows, wanted):
        time = row.pop("time", None)
        check(time is None or time.startswith(str(datetime.datetime.fromtimestamp(
            one["time"] // SECOND, datetime.timezone.utc))[:19]), "%s: time %s" % (what, time))
        check(len(row) > 8 and row == {k: "" if one[k] is None else str(one[k]) for k in row}, "%s: CSV %s" % (what, row))


def against_generator(folder):
    ops = make_operations(random.Random(17))
    capture, db = folder / "made.pcap", folder / "made.db"
    write_capture(capture, ops)
    database.ingest(db, capture)
    for every, text in ((SECOND, "1s"), (250_000_000, "250ms"), (7 * SECOND, "7"),
                        (3600 * SECOND, "1h")):
        found = json.loads(good("info", "--json", "--every", text, db))
        check(found["every"] == every and found["untimed"] == 0, "every %s: says what it is" % text)
        check(found["intervals"] == expected_intervals(ops, every), "every %s: intervals" % text)
        said = good("info", "--every", text, db).splitlines()
        check(len(said) == len(found["intervals"]) + 1, "every %s: lines" % text)
        check_csv("every " + text, good("info", "--csv", "--every", text, db), found["intervals"])
    for by in ("client", "procedure", "user", "path", "status", "server", "export"):
        check_csv("by " + by, good("info", "--csv", "--by", by, db), json.loads(good("info", "--json", "--by", by, db))["by_" + by])
    for options, fits in filters(ops):
        mine = [op for op in ops if fits(op)]
        check(0 < len(mine) < len(ops), "%s: fits %d of %d" % (options, len(mine), len(ops)))
        said = good("ops", *options, db).splitlines()
        check(len(said) == len(mine), "ops %s: %d, not %d" % (options, len(said), len(mine)))
        check(sum(" call resent 1" in line for line in said) == sum(op.resent is not None for op in mine)
              and "reply resent" not in str(said), "ops %s: how often calls were sent again" % options)
        resent = [json.loads(line)["calls_resent"] for line in good("ops", "--json", *options, db).splitlines()]
        check(sum(resent) == sum(op.resent is not None for op in mine) and max(resent) <= 1,
              "ops %s: calls_resent" % options)
        found = json.loads(good("info", "--json", *options, db))
        times = [t for op in mine for t in (op.call, op.reply) if t is not None]
        latencies = [op.reply - op.call for op in mine if op.reply is not None]
        matching = found["matching"]
        check(matching["of"] == len(ops) and matching["operations"] == len(mine)
              and matching["calls"] == len(mine) and matching["replies"] == len(latencies)
              and matching["retransmitted_calls"] == sum(op.resent is not None for op in mine)
              and [matching["first_time"], matching["last_time"]] == [min(times), max(times)],
              "info %s: %s" % (options, matching))
        check(sum(g["operations"] for g in found["by_procedure"]) == len(mine)
              and {g["client"] for g in found["by_client"]} == {op.client for op in mine}
              and max(g["max"] or 0 for g in found["by_client"]) == max(latencies, default=0)
              and [sum(g["resent"] for g in found["by_procedure"]),
                   {g["client"]: g["resent"] for g in found["by_client"]}, {g.get("uid"): g["resent"] for g in found["by_user"]}]
              == [sum(op.resent is not None for op in mine), sums(mine, "client"), sums(mine, "uid")],
              "info %s: tables" % options)
        check("%d of %d match" % (len(mine), len(ops)) in good("info", *options, db),
              "info %s: text" % options)
        found = json.loads(good("info", "--json", "--every", "1s", *options, db))
        check(found["intervals"] == expected_intervals(mine, SECOND), "every %s" % options)
        check_report(db, options, mine)
    refused(db)
    for options in (["--every", "1s"], ["--by", "client"], []):
        done = run("info", *options, "--from", "+1h", db)
        check(done.returncode == 0 and "no operation matches; the trace is from" in done.stderr,
              "info %s: nothing matches: %s" % (options, done.stderr))


def clock_set_back(folder):
    """Between a call and its reply: the reply's time is before the call's, and the call is never outstanding."""
    ops = [Op("10.0.0.2", 1000, messages.GETATTR, 1, messages.OK, START + at, START + at + after, None)
           for at, after in ((0, 1000), (5 * SECOND, -3 * SECOND), (2 * SECOND + 1000, SECOND), (4 * SECOND, 1000))]
    write_capture(folder / "back.pcap", ops, sort=False)
    database.ingest(folder / "back.db", folder / "back.pcap")
    found = json.loads(good("info", "--json", "--every", "1s", folder / "back.db"))["intervals"]
    check([i["outstanding"] for i in found] == [i["outstanding"] for i in expected_intervals(ops, SECOND)]
          == [0, 0, 1, 0, 0, 0], "a clock that was set back: %s" % found)


def call_lost(folder):
    """A refusal whose call was not captured: it has a status and no procedure."""
    trace = traffic.Trace()
    udp = traffic.UdpFlow(trace, "10.0.0.2", 901)
    op = udp.call(5, messages.GETATTR, messages.getattr_args(messages.handle(3)))
    del trace.frames[-1]
    udp.reply(op, accept=4)
    trace.write(folder / "lost.pcap")
    for by in "status", "procedure":
        found = json.loads(good("info", "--json", "--by", by, folder / "lost.pcap"))["by_" + by]
        found = [[g[k] for k in ("status", "procedure", "program", "version", "number", "rpc_status", "operations")]
                 for g in found]
        check(found == ([["GARBAGE_ARGS", "call not captured", None, None, None, 4, 1]] if by == "status" else []),
              "info --by %s: a lost call: %s" % (by, found))


def check_report(db, options, mine):
    """The report of a trace with the same filter."""
    found = json.loads(good("report", "--json", *options, db))
    times = [t for op in mine for t in (op.call, op.reply) if t is not None]
    latencies = [op.reply - op.call for op in mine if op.reply is not None]
    totals = found["totals"]
    check([totals[k] for k in ("operations", "unanswered", "resent", "first_time", "last_time", "max", "p50")]
          == [len(mine), len(mine) - len(latencies), sum(op.resent is not None for op in mine), min(times),
              max(times), max(latencies, default=None), percentile(latencies, 50)],
          "report %s: %s" % (options, totals))
    check(sum(s["operations"] for s in found["spans"]) == len(mine)
          and {g["client"] for g in found["clients"]["groups"]} == {op.client for op in mine}
          and {s["call_frame"] is not None for s in found["slowest"]} <= {True}
          and sorted((s["latency"] for s in found["slowest"]), reverse=True)
          == sorted(latencies, reverse=True)[:50], "report %s: groups" % options)
    check(sorted(found["filter"].split())
          == sorted(" ".join(map(str, options)).replace("20ms", "20.00ms").split()),
          "report %s: %s" % (options, found["filter"]))


def refused(db):
    for pattern, arguments in (
            ("--every 1ns: more than 1000000 intervals", ["info", "--every", "1ns", db]),
            ("at least 1ns", ["info", "--every", "0", db]),
            ("do not go together", ["info", "--every", "1s", "--by", "path", db]),
            ("do not go together", ["info", "--every", "1s", "--csv", "--json", db]),
            ("choose it with --by or --every", ["info", "--csv", db]),
            ("one table at a time", ["info", "--by", "client", "--by", "status", db]),
            ('--from: "moon" is not a time', ["info", "--from", "moon", db]),
            ('--to: "+moon" is not a duration', ["ops", "--to", "+moon", db]),
            ('no path that begins with "/nosuch"', ["ops", "--path", "/nosuch", db]),
            ('no path that begins with "/nosuch"', ["info", "--path", "/nosuch", db])):
        done = run(*arguments)
        check(done.returncode == 2 and pattern in done.stderr,
              "%s: %d: %s" % (arguments, done.returncode, done.stderr))


# --- a real one


def tshark_operations(capture):
    """[(time of the call, latency)]; a frame can have several messages."""
    done = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "rpc.time", "-T", "fields", "-e",
         "frame.time_epoch", "-e", "rpc.time"], capture_output=True, text=True, check=True)
    out = []
    for line in done.stdout.splitlines():
        time, latencies = line.split("\t")
        reply = int(time.replace(".", "").ljust(19, "0")[:19])
        for text in latencies.split(","):
            latency = round(float(text) * 1e9)
            out.append((reply - latency, latency))
    return out


def against_tshark(folder):
    name = "knfsd-tcp-mtu1500"
    capture, db = folder / (name + ".pcap"), folder / "real.db"
    subprocess.run(["zstd", "-dqf", CAPTURES / (name + ".pcap.zst"), "-o", capture], check=True)
    database.ingest(db, capture)
    ops = tshark_operations(capture)
    # tshark 4.0 has no rpc.time for some replies in frames with several messages
    own = collections.Counter(database.rows(db, "SELECT call_time, latency FROM operation"))
    lacks = own - collections.Counter(ops)
    check(len(ops) > 7000 and not collections.Counter(ops) - own and len(lacks) <= 5,
          "tshark sees %d operations, and lacks %s" % (len(ops), lacks))
    ops += lacks.elements()
    for every, text in ((SECOND, "1s"), (SECOND // 10, "100ms")):
        found = json.loads(good("info", "--json", "--every", text, db))["intervals"]
        found = {i["time"]: i for i in found if i["answered"]}
        known = collections.defaultdict(list)
        for call, latency in ops:
            known[call // every * every].append(latency)
        check(found.keys() == known.keys(), "%s: other intervals than tshark's" % text)
        for start in found.keys() & known.keys():
            i, latencies = found[start], known[start]
            check(i["answered"] == len(latencies) and i["p50"] == percentile(latencies, 50)
                  and i["p99"] == percentile(latencies, 99) and i["max"] == max(latencies),
                  "%s: at %d: %s" % (text, start, i))


def waited_against_tshark(folder):
    """Over UDP with losses behind the place of the capture: waits that the first reply does not end."""
    capture = folder / "lossy.pcap"
    subprocess.run(["zstd", "-dqf", CAPTURES / "knfsd-netem-udp.pcap.zst", "-o", capture], check=True)
    done = subprocess.run(["tshark", "-r", str(capture), "-Y", "rpc", "-T", "fields", "-e", "frame.time_epoch",
                           "-e", "rpc.xid", "-e", "rpc.msgtyp"], capture_output=True, text=True, check=True)
    calls, replies = collections.defaultdict(list), collections.defaultdict(list)
    for time, xid, kind in (line.split("\t") for line in done.stdout.splitlines()):
        (replies if int(kind) else calls)[int(xid, 16)].append(int(time.replace(".", "").ljust(19, "0")[:19]))
    found = [json.loads(line) for line in good("ops", "--json", "--sort", "waited", capture).splitlines()]
    check([op["waited"] for op in found] == sorted((op["waited"] for op in found), reverse=True),
          "--sort waited: the longest first")
    done = subprocess.run(["tshark", "-r", str(capture), "-Y", "frame.number in {423, 429}", "-T", "fields", "-e",
                           "frame.time_epoch"], capture_output=True, text=True, check=True)
    sent, came = (int(line.replace(".", "").ljust(19, "0")[:19]) for line in done.stdout.split())
    check([op["waited"] for op in found if op["call_frame"] == 428] == [came - sent], "a call that lost a fragment")
    late = 0
    for op in found:
        sent, came = calls[op["xid"]], replies[op["xid"]]
        if op["copies"] or len(sent) != 1 + op["calls_resent"]:
            continue  # a copy is no call; a call in fragments is one for tshark only if all of them came
        wanted = next((t for t in came if t >= sent[-1]), sent[-1]) - sent[0] if came[0] < sent[-1] else op["latency"]
        check(op["waited"] == wanted, "waited: %s, not %d" % (op, wanted))
        late += wanted > 100_000_000
    check(late > 20 and found[0]["waited"] > 1_600_000_000, "%d calls waited long" % late)
    check(", waited 1.672s\n" in good("ops", "--sort", "waited", "--limit", 1, capture), "waited, as text")


def main():
    with tempfile.TemporaryDirectory() as folder:
        against_generator(pathlib.Path(folder))
        clock_set_back(pathlib.Path(folder))
        call_lost(pathlib.Path(folder))
        if not os.environ.get("SANITIZED"):
            against_tshark(pathlib.Path(folder))
            waited_against_tshark(pathlib.Path(folder))
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
