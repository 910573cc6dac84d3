#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest phase, and phases in traces: marks, hostile names, filters, tables, anonymized captures.

A generated capture, whose phases the generator knows.  Its marks are the names that "nfsdigest phase
--print" prints, and such as it would never send.
"""
import collections
import csv
import io
import json
import os
import pathlib
import random
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))

import capfile  # noqa: E402
import database  # noqa: E402
import lab_workloads  # noqa: E402
import live_client  # noqa: E402
import messages  # noqa: E402
import packets  # noqa: E402
from checks import check, exit_code, good, run  # noqa: E402

SECOND = 10**9
START = 1_700_000_000 * SECOND
SERVER, ROOT = "10.0.0.1", messages.handle(1)

Op = collections.namedtuple("Op", "client procedure arguments result call reply mark")


# --- the command


def printed(*arguments):
    return good("phase", "--print", *arguments).rstrip("\n").encode()


def the_command(folder):
    names = {printed("build") for _ in range(10)}
    check(len(names) == 10 and all(n.startswith(b".nfsdigest-phase-build.") for n in names),
          "each mark is another one: %s" % names)
    check(printed("--suffix", "7", "a b") == b".nfsdigest-phase-a b.7", "--suffix")
    check(printed("--end").startswith(b".nfsdigest-phase-."), "--end")
    longest = "é" * 50
    check(len(printed(longest, "--suffix", "x" * 64)) <= 255, "a mark is a name")
    there = folder / "there"
    there.mkdir()
    done = run("phase", "x", there)
    check(done.returncode == 0 and not list(there.iterdir()) and "not on an NFS mount" in done.stderr,
          "makes nothing: %s" % done.stderr)
    (there / ".nfsdigest-phase-x.1").touch()  # it asks for exactly this name
    check(run("phase", "--suffix", "2", "x", there).returncode == 0, "another suffix")
    for code, pattern, arguments in (
            (3, "exists", ["--suffix", "1", "x", there]), (3, "No such file", ["x", folder / "none"]),
            (3, "not a directory", ["x", there / ".nfsdigest-phase-x.1"]),
            (2, "has 101 bytes", ["x" * 101, there]), (2, "slashes", ["a/b", there]),
            (2, "control characters", ["a\nb", there]), (2, "is empty", ["", there]),
            (2, "takes a name", ["x"]), (2, "takes a name", ["--end", "x", there]),
            (2, "without dots", ["--suffix", "a.b", "x", there])):
        done = run("phase", *arguments)
        check(done.returncode == code and pattern in done.stderr,
              "phase %s: %d %s" % (arguments, done.returncode, done.stderr))


# --- a generated capture


def escaped(name):
    """A name's text in databases, for the bytes that are used here."""
    return name.decode("ascii", "surrogateescape").replace("\\", "\\\\").replace("\x1b", "\\x1b") \
        .replace("\udcff", "\\xff")


# the name of a mark | the phase that it begins (None: ends one)
HOSTILE = [(b".nfsdigest-phase-\x1b[31m\xff.1", b"\x1b[31m\xff"), (b".nfsdigest-phase-" + b"x" * 238, b"x" * 238),
           (b".nfsdigest-phase-no suffix", b"no suffix"), (b".nfsdigest-phase-a.b.c", b"a.b"),
           (b".nfsdigest-phase-", None), (b".nfsdigest-phase-..", b".")]


def make_operations(rng):
    """(operations, {number of an operation: phase}, [(phase, client, start, stop)])"""
    ops, phase_of, phases, now = [], {}, [], {}
    at = START

    def mark(client, name, phase):
        ops.append(Op(client, messages.LOOKUP, messages.lookup_args(ROOT, name), messages.lookup_fail(),
                      at, at + 1000, name))
        last = now.get(client)
        if last and last[0] == name:  # the same mark again: part of the phase
            if phase is not None:
                phase_of[len(ops) - 1] = phase
            return
        if last and last[1] is not None:
            phases.append((last[1], client, last[2], at))
        now[client] = (name, phase, at)

    marks = [(printed(n), n.encode()) for n in ("create", "write", "close", "write") for _ in range(4)]
    marks += HOSTILE + [(printed("--end"), None)] * 2
    rng.shuffle(marks)
    for number in range(1200):
        at += rng.randrange(1, 3_000_000) * rng.randrange(2)  # some at the same time
        client = "10.0.0.%d" % rng.randrange(2, 5)
        if number % 40 == 39 and marks:
            name, phase = marks.pop()
            mark(client, name, phase)
            if rng.random() < 0.2:
                mark(client, name, phase)
        elif number % 100 == 7:  # no marks: another procedure, and another name
            name = printed("never")
            ops.append(Op(client, messages.REMOVE, messages.remove_args(ROOT, name),
                          messages.remove_res(), at, at + 1000, None))
        elif number % 100 == 9:
            ops.append(Op(client, messages.LOOKUP, messages.lookup_args(ROOT, b"x" + printed("never")),
                          messages.lookup_fail(), at, at + 1000, None))
        else:
            fh = messages.handle(rng.randrange(10, 20))
            ops.append(Op(client, messages.GETATTR, messages.getattr_args(fh), messages.getattr_res(5),
                          at, at + rng.randrange(1000, 9000), None))
        if ops[-1].mark is None and client in now and now[client][1] is not None:
            phase_of[len(ops) - 1] = now[client][1]
    last = max(op.reply for op in ops)
    phases += [(phase, client, start, None) for client, (_, phase, start) in now.items()
               if phase is not None]
    return ops, phase_of, phases, last


def write_capture(path, ops):
    out = []
    for number, op in enumerate(ops):
        for time, source, destination, ports, message in (
                (op.call, op.client, SERVER, (700, 2049),
                 messages.call(5000 + number, op.procedure, op.arguments)),
                (op.reply, SERVER, op.client, (2049, 700), messages.reply(5000 + number, op.result))):
            payload = packets.udp(source, destination, *ports, message)
            out.append((time, packets.ethernet(packets.internet(source, destination, packets.UDP, payload,
                                                                len(out) + 1))))
    out.sort(key=lambda p: p[0])  # stable: calls at the same time stay in their order
    capfile.write_pcap(path, [capfile.Packet(t, data, len(data), packets.ETHERNET) for t, data in out])


def the_trace(folder):
    ops, phase_of, phases, last = make_operations(random.Random(11))
    capture, db = folder / "made.pcap", folder / "made.db"
    write_capture(capture, ops)
    database.ingest(db, capture)
    rows = database.rows(db, "SELECT id, xid FROM operation")
    check(len(rows) == len(ops), "all operations are there")
    number_of = {identity: xid - 5000 for identity, xid in rows}

    truth = sorted((escaped(phase), client, start, stop) for phase, client, start, stop in phases)
    found = database.rows(db, "SELECT name, client, start, stop FROM phase")
    check(sorted(found, key=str) == sorted(truth, key=str), "view phase: %s, not %s" % (found, truth))
    check(len({p[0] for p in truth}) >= 8, "the capture has phases: %s" % truth)

    lines = [json.loads(line) for line in good("ops", "--json", db).splitlines()]
    wrong = [(op["id"], op["phase"]) for op in lines if op["phase"] != (
        escaped(phase_of[number_of[op["id"]]]) if number_of[op["id"]] in phase_of else None)]
    check(not wrong, "phases of operations: %s" % wrong[:5])

    groups = json.loads(good("info", "--by", "phase", "--top", 99, "--json", db))["by_phase"]
    said = list(csv.DictReader(io.StringIO(good("info", "--by", "phase", "--top", 99, "--csv", db), newline="")))
    check(said == [{k: "" if g[k] is None else str(g[k]) for k in said[0]} for g in groups] and len(said[0]) == 12,
          "CSV is not as JSON: %s" % said)
    groups = {g["phase"]: g for g in groups}
    counts = collections.Counter(escaped(p) for p in phase_of.values())
    counts[None] = len(ops) - len(phase_of)
    for name in counts.keys() | {p[0] for p in truth}:
        mine = [p for p in truth if p[0] == name]
        g = groups.pop(name, None)
        check(g and g["operations"] == counts[name] and g["times"] == len(mine)
              and g["lasted"] == (sum((p[3] or last) - p[2] for p in mine) if mine else None),
              "by phase %r: %s, %d operations, %s" % (name, g, counts[name], mine))
        if name is not None and counts[name]:
            said = good("ops", "--phase", name, db).splitlines()
            check(len(said) == counts[name], "ops --phase %r: %d" % (name, len(said)))
            matching = json.loads(good("info", "--phase", name, "--json", db))["matching"]
            check(matching["operations"] == counts[name], "info --phase %r" % name)
    check(not groups, "further phases: %s" % groups)
    report = json.loads(good("report", "--json", "--html", folder / "made.html", db))
    check({p["phase"]: p["operations"] for p in report["phases"]} == counts and report["filter"] is None,
          "report: %s" % report["phases"])
    page = (folder / "made.html").read_text()
    check('id="phases"' in page and "in no phase" in page, "the page has phases")
    report = json.loads(good("report", "--json", "--phase", "write", db))
    check(report["totals"]["operations"] == counts["write"] and report["filter"] == "--phase write"
          and [p["phase"] for p in report["phases"] if p["operations"]] == ["write"], "report --phase")
    mine = sum(op.client == "10.0.0.3" and phase_of.get(i) == b"write" for i, op in enumerate(ops))
    said = good("ops", "--phase", "write", "--client", "10.0.0.3", db).splitlines()
    check(0 < len(said) == mine, "--phase and --client")
    done = run("ops", "--phase", "nosuch", db)
    check(done.returncode == 2 and 'no phase of the trace is called "nosuch"' in done.stderr, "no such phase")
    for text in (good("info", db), good("info", "--by", "phase", db)):
        check("\x1b" not in text and "\\x1b[31m\\xff" in text, "hostile names are escaped")
    return capture


def anonymized(folder, capture):
    """Names of phases are names: nothing of them is left."""
    key, out, db = folder / "key", folder / "anonymized.pcapng", folder / "anonymized.db"
    good("key", "new", key)
    good("anonymize", "--key", key, "-o", out, capture)
    data = out.read_bytes()
    check(b"phase" not in data and b"nfsdigest-" not in data, "the anonymized capture has marks")
    database.ingest(db, out)
    check(not database.rows(db, "SELECT * FROM phase"), "the anonymized capture has phases")


# --- two servers


DELAY = 2_000_000  # ns, of each WRITE of the system under test
SCALE = 1000


def lab(folder, name, *faults):
    """Runs the lab's workloads.  Returns the record stream, and the calls of each phase."""
    stream = folder / (name + ".nfsr")
    options = [word for fault in faults for word in ("--fault", fault)]
    with live_client.Ftnfsd("--export", "/a", "--record", str(stream), *options) as server:
        client = live_client.Client(server)
        system = lab_workloads.Live(client, client.mount(b"/a"), database.program())
        lab_workloads.run(system, SCALE)
        client.close()
        server.stop()
    return stream, system.counts


def two_servers(folder):
    ref, counts = lab(folder, "ref")
    sut, again = lab(folder, "sut", "WRITE:delay=%dus" % (DELAY // 1000), "ACCESS:path=/a/small*:no-attributes")
    check(counts == again and len(counts) == 12, "both made the same calls: %s %s" % (counts, again))
    # the roots were made when the servers began, which is not the same time before the traces
    rules = folder / "rules.conf"
    rules.write_text("[classes]\ntime = ignored\n")
    done = run("compare", "--json", "-r", rules, "-o", folder / "result.db", ref, sut)
    check(done.returncode == 1, "compare: %s" % done.stderr)
    result = json.loads(done.stdout)
    phases = {p["phase"]: p for p in result["phases"]}
    check(list(phases) == list(counts), "phases in their order: %s" % list(phases))
    for name, n in counts.items():
        p = phases[name]
        check(p["ref_operations"] == p["sut_operations"] == n and p["ref_times"] == p["sut_times"] == 1,
              "%s has its operations: %s, not %d" % (name, p, n))
        check(0 < p["ref_latency"] <= p["ref_lasted"] and 0 < p["sut_latency"] <= p["sut_lasted"],
              "%s: one call at a time: %s" % (name, p))
        if name.endswith("-write"):
            check(p["sut_latency"] >= n * DELAY, "%s is delayed: %s" % (name, p))
    names = [p for p in result["phases"] if p["discrepancies"]]
    found = sum(p["discrepancies"] for p in result["phases"])
    check({p["phase"] for p in names} >= {"small-open"} and 0 < found <= result["totals"][0]["discrepancies"],
          "discrepancies by phase: %s" % names)
    by = run("compare", "--by", "phase", "-r", rules, folder / "result.db").stdout
    check(all(name in by for name in counts) and "NFS ACCESS" not in by, "--by phase: %s" % by)
    narrow = run("compare", "--json", "--phase", "small-open", "-r", rules, folder / "result.db")
    groups = json.loads(narrow.stdout)["groups"]
    check(narrow.returncode == 1 and groups and {g["operation"] for g in groups} == {"NFS ACCESS"}
          and sum(g["count"] for g in groups) == phases["small-open"]["discrepancies"]
          and json.loads(narrow.stdout)["causes"], "--phase small-open: %s" % groups)
    narrow = run("compare", "--json", "--phase", "small-create", "-r", rules, folder / "result.db")
    check(narrow.returncode == 0 and not json.loads(narrow.stdout)["groups"], "--phase small-create")
    done = run("compare", "--phase", "moon", "-r", rules, folder / "result.db")
    check(done.returncode == 2 and 'is called "moon"' in done.stderr, "no such phase")
    done = run("report", "--html", "-", "--client", "127.0.0.1", folder / "result.db")
    check(done.returncode == 2 and "filters are for a trace" in done.stderr, "filters of a result")
    page = good("report", "--html", "-", folder / "result.db")
    check('id="phases"' in page and all(">%s<" % name in page for name in counts), "the page has phases")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        the_command(folder)
        anonymized(folder, the_trace(folder))
        two_servers(folder)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
