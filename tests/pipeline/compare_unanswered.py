#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan-long
"""nfsdigest compare, of calls that one server did not answer: a discrepancy each where later calls
were, where the call was repeated, or where the capture went on; undecided, and said, where the
capture ends, or a client over UDP had the time to ask again and did not; withheld where the capture
lost the reply.  Two servers of which only one answered a call are never called alike."""

import itertools
import json
import os
import pathlib
import random
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
import messages as m  # noqa: E402
import traffic  # noqa: E402
from comparing import check, compare, failures, run  # noqa: E402

ROOT, FILE = m.handle(1), m.handle(10)
SECOND = 10**9
CALLS = 200

PROCEDURES = {
    "GETATTR": lambda i: (m.GETATTR, m.getattr_args(FILE), m.getattr_res(10)),
    "LOOKUP": lambda i: (m.LOOKUP, m.lookup_args(ROOT, f"l{i}"), m.lookup_fail()),
    "READ": lambda i: (m.READ, m.read_args(FILE, 4 * i, 4),
                       m.u32(0, 0, 4, 0) + m.opaque(b"data")),
    "WRITE": lambda i: (m.WRITE, m.write_args(FILE, 4 * i, b"data"),
                        m.u32(0) + m.wcc() + m.u32(4, 2) + m.u64(7)),
    "REMOVE": lambda i: (m.REMOVE, m.remove_args(ROOT, f"r{i}"), m.u32(m.NOENT) + m.wcc()),
}


class Side:
    """CALLS calls one after the other on one connection, with a GETATTR at the end of each ten.
    Those of |silent| have no reply, those of |lost| none in the capture."""

    def __init__(self, transport, procedure, silent=(), lost=(), lost_calls=(), repeat=False,
                 at_once=1, go_on=0, other=False, end=None, pause=0):
        """|end|: closes the connection; |pause|: ns between calls."""
        self.trace = trace = traffic.Trace()
        flows = {}
        for client in ("10.0.0.1", "10.0.0.2"):
            flow = (traffic.TcpFlow if transport == "tcp" else traffic.UdpFlow)(trace, client, 700)
            if transport == "tcp":
                flow.open()
            flows[client] = flow
        flow, beside = flows.values()
        mount = traffic.UdpFlow(trace, "10.0.0.1", 800, server_port=20048)
        mount.pair(1, 1, m.opaque(b"/x"), m.u32(0) + m.opaque(ROOT) + m.u32(1, 1), program=m.MOUNT)
        flow.pair(2, m.LOOKUP, m.lookup_args(ROOT, b"f"),
                  m.u32(0) + m.opaque(FILE) + m.u32(0, 0))
        beside.pair(2, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))
        for first in range(0, CALLS, at_once):
            some = []
            for i in range(first, min(first + at_once, CALLS)):
                number, arguments, result = PROCEDURES[procedure](i)
                some.append((i, flow.call(10 + i, number, arguments, lost=i in lost_calls),
                             result))
            trace.wait(100_000 + pause)
            for i, call, result in some[::-1]:
                if i not in silent:
                    flow.reply(call, result, lost=i in lost)
                elif repeat:
                    trace.wait(SECOND)
                    flow.repeat_call(call)
                else:
                    trace.wait(trace.step)
            if other:
                beside.pair(1000 + first, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))
        if end:
            end(flow)
        if go_on:
            trace.wait(go_on)
            beside.pair(5000, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))

    def ingest(self, path, *later):
        """|later|: captures behind this one."""
        return Captured(self.trace).ingest(path, *later)


class Captured:
    def __init__(self, trace):
        self.trace = trace

    def ingest(self, path, *later):
        capture = path.with_suffix(".pcap")
        self.trace.write(capture)
        path.unlink(missing_ok=True)
        run("ingest", "-q", "-o", path, capture, *later)
        return path


def told(report):
    """How many missing replies, and how many that are uncertain by reason."""
    missing = sum(g["count"] for g in report["groups"] if g["kind"] == "missing reply")
    others = [(g["kind"], g["field"], g["difference"]) for g in report["groups"]
              if g["kind"] not in ("missing reply", "retransmissions")]
    reasons = {}
    for u in report.get("uncertain", []):
        if u["kind"] == "missing reply":
            reasons[u["reason"]] = reasons.get(u["reason"], 0) + 1
    return missing, reasons, others


UNDECIDED = "not asked again", "unheard", "small hole"  # why a call may have no reply; the exit code says so


def expect(folder, label, sides, missing, uncertain=(), lost=0):
    """|lost|: replies that the capture lost."""
    paths = [side.ingest(folder / f"{name}.db") for name, side in zip(("ref", "sut"), sides)]
    undecided = any(reason in UNDECIDED for reason in dict(uncertain))
    verdict = ("unlike" if missing else "silent" if undecided else
               "unheard" if uncertain or lost else "alike")
    for way, pair in (label, paths), (f"{label}, swapped", paths[::-1]):
        report = compare(*pair, code=int(missing > 0 or undecided))
        found = told(report)
        check(found == (missing, dict(uncertain), []), f"{way}: {found}, not {missing} {uncertain}")
        check(report["verdict"] == verdict, f"{way}: {report['verdict']}, not {verdict}")
        if lost:
            withheld = {w["reason"]: w["count"] for w in report["withheld"]}
            check(withheld.get("reply lost") == lost, f"{way}: {withheld}, not {lost} replies lost")
    return paths


def said_alike(folder, paths, code):
    """Whether text or page says so."""
    page = folder / "page.html"
    text = run("compare", "-s", "--html", page, *paths, code=code).stdout
    return "servers answer alike" in text, "servers answer alike" in page.read_text()


def silences(folder):
    """Ten at once and single ones, anywhere in the capture, of each procedure."""
    ten = range(20, 30)
    for transport, procedure in itertools.product(("tcp", "udp"), PROCEDURES):
        for at_once, other in ((1, False), (8, True))[:1 + (procedure in ("GETATTR", "WRITE"))]:
            def side(**options):
                return Side(transport, procedure, at_once=at_once, other=other,  # noqa: B023
                            **options)
            label = f"{transport}, {procedure}, {at_once} at once"
            whole = side()
            expect(folder, f"{label}: ten", (whole, side(silent=ten)), 10)
            expect(folder, f"{label}: ten, repeated", (whole, side(silent=ten, repeat=True)), 10)
            expect(folder, f"{label}: on both sides", (side(silent=ten), side(silent=ten)), 0)
            expect(folder, f"{label}: the same", (whole, whole), 0)
    for transport, i in itertools.product(("tcp", "udp"), (0, 100, CALLS - 12)):
        label = f"{transport}, one, {i}"
        whole = Side(transport, "GETATTR")
        one = Side(transport, "GETATTR", silent=[i])
        expect(folder, label, (whole, one), 1)
        expect(folder, f"{label}, repeated",
               (whole, Side(transport, "GETATTR", silent=[i], repeat=True)), 1)


def counts(folder):
    """One to twenty, one after the other: as many as there are, and never alike."""
    for transport, count, repeat, pause in itertools.product(
            ("tcp", "udp"), (1, 2, 3, 7, 8, 9, 20), (False, True), (0, SECOND // 4)):
        silent = range(40, 40 + count)
        label = f"{transport}, {count} silent, repeated {repeat}, {pause} ns apart"
        sides = [Side(transport, "GETATTR", pause=pause),
                 Side(transport, "GETATTR", silent=silent, repeat=repeat, pause=pause)]
        # over UDP few that a client had the time to ask again: perhaps the capture lost the replies
        undecided = transport == "udp" and pause and not repeat and count < 8
        if undecided:
            paths = expect(folder, label, sides, 0, {"not asked again": count})
        else:
            paths = expect(folder, label, sides, count)
        check(said_alike(folder, paths, 1) == (False, False), f"{label}: said to be alike")
        if count == 7:
            ignored = folder / "ignored.conf"
            ignored.write_text("[rules]\nname = ignored\n[messages]\nmissing-reply = ignored\n")
            report = compare("-r", ignored, *paths, code=int(repeat))  # then for retransmissions
            check(told(report)[:2] == (0, {}), f"{label}, ignored: {told(report)}")


def unheard(folder):
    """No call of a connection was answered."""
    for transport, go_on in itertools.product(("tcp", "udp"), (0, 120 * SECOND)):
        def make(silent, calls=5):
            trace = Side(transport, "GETATTR").trace  # noqa: B023
            kind = traffic.TcpFlow if transport == "tcp" else traffic.UdpFlow  # noqa: B023
            flow, beside = (kind(trace, "10.0.0.3", 900 + i) for i in range(2))
            for i in range(calls):
                op = flow.call(9000 + i, m.GETATTR, m.getattr_args(FILE))
                trace.wait(100_000)
                if not silent:
                    flow.reply(op, m.getattr_res(10))
            trace.wait(go_on)  # noqa: B023
            beside.pair(9900, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))
            return Captured(trace)
        label = f"{transport}, none answered, {go_on} ns more"
        reason = "unheard" if go_on else "capture ended"
        expect(folder, label, (make(False), make(True)), 0, {reason: 5})


def ends(folder):
    """The last calls of a capture: nobody knows, and that is said in each report."""
    for transport, last in itertools.product(("tcp", "udp"), (1, 3)):
        def side(**options):
            return Side(transport, "GETATTR", at_once=4, **options)  # noqa: B023
        silent = range(CALLS - last, CALLS)
        label = f"{transport}, the last {last}"
        paths = expect(folder, label, (side(), side(silent=silent)), 0,
                       {"capture ended": last}.items())
        text = run("compare", *paths).stdout
        check(f"{last} uncertain" in text and text.count("capture ended") > 1, f"{label}: {text}")
        summary = run("compare", "-s", *paths).stdout
        check(f"{last} uncertain" in summary, f"{label}: {summary}")
        run("compare", "--html", folder / "page.html", *paths)
        page = (folder / "page.html").read_text()
        check("servers answer alike" not in page + text + summary and page.count("capture ended") > last
              and "missing reply" in page, f"{label}: page")
        expect(folder, f"{label}, the capture goes on",
               (side(go_on=SECOND), side(silent=silent, go_on=SECOND)), 0,
               {"capture ended": last}.items())
        for end in (traffic.TcpFlow.close, traffic.TcpFlow.reset) if transport == "tcp" else ():
            expect(folder, f"{label}, {end.__name__}", (side(end=end), side(silent=silent, end=end)),
                   last)
            lost = side(lost=silent, end=end)
            for pair in (side(end=end), lost), (lost, side(end=end)):
                expect(folder, f"{label}, {end.__name__}, not captured", pair, 0, lost=last)
        # for long: a client that does not ask again over UDP seems to have had its reply
        far = side(go_on=120 * SECOND), side(silent=silent, go_on=120 * SECOND)
        if transport == "tcp":
            expect(folder, f"{label}, then for long", far, last)
        else:
            expect(folder, f"{label}, then for long", far, 0, {"not asked again": last}.items())


def rotated(folder):
    """Captures with a gap between them: each one's end is an end."""
    more = folder / "more.pcap"
    for transport, gap in itertools.product(("tcp", "udp"), (SECOND // 2, 3600 * SECOND)):
        whole, silent = Side(transport, "GETATTR"), Side(transport, "GETATTR", silent=[CALLS - 1])
        later = traffic.Trace(start=max(whole.trace.now, silent.trace.now) + gap)
        flow = traffic.UdpFlow(later, "10.0.0.2", 777)
        for i in range(CALLS):
            flow.pair(7000 + i, m.GETATTR, m.getattr_args(FILE), m.getattr_res(10))
        later.write(more)
        paths = [side.ingest(folder / f"{n}.db", more) for n, side in enumerate((whole, silent))]
        for pair in paths, paths[::-1]:
            found = told(compare(*pair, code=0))
            check(found == (0, {"capture ended": 1}, []), f"{transport}, gap of {gap}: {found}")


def losses(folder):
    """What the capture lost is not the server's silence; and silence is seen beside losses."""
    for transport, procedure, seed in itertools.product(("tcp", "udp"), ("GETATTR", "READ"),
                                                        range(3)):
        rng = random.Random(seed)
        lost = [i for i in range(CALLS - 5) if rng.random() < 0.06]
        calls = [i for i in range(CALLS - 5) if rng.random() < 0.06]
        label = f"{transport}, {procedure}, losses {seed}"
        paths = [side.ingest(folder / f"{n}.db") for n, side in enumerate((
            Side(transport, procedure),
            Side(transport, procedure, lost=lost, lost_calls=calls)))]
        for pair in paths, paths[::-1]:
            report = compare(*pair, code=int(transport == "udp"))
            found = told(report)
            check(found[0] == 0, f"{label}: {found}")
            check(report["verdict"] == {"tcp": "unheard", "udp": "silent"}[transport],
                  f"{label}: {report['verdict']}")
    # one lost reply cannot be many, whichever it was
    whole = Side("tcp", "GETATTR")
    for count in 8, 20:
        silent = Side("tcp", "GETATTR", lost=[100], silent=range(20, 20 + count))
        expect(folder, f"tcp, one reply lost, {count} silent", (whole, silent), 0,
               {"small hole": count + 1})
    # a hole before the silence, or in the other direction
    whole = Side("tcp", "GETATTR")
    expect(folder, "tcp, a hole before", (whole, Side("tcp", "GETATTR", lost=[20], silent=[150])), 1)
    paths = [side.ingest(folder / f"{n}.db") for n, side in enumerate(
        (whole, Side("tcp", "GETATTR", lost_calls=[30, 160], silent=[100])))]
    found = told(compare(*paths, code=1))
    check(found[0] == 1, f"tcp, holes in the other direction: {found}")


def many(folder):
    """The list is bounded, and its rest is counted."""
    silent = range(0, CALLS, 2)
    lost = [i for i in range(1, CALLS, 2) if i % 4 == 1]  # replies without calls
    paths = [side.ingest(folder / f"{n}.db") for n, side in enumerate((
        Side("udp", "GETATTR"), Side("udp", "GETATTR", silent=silent, lost_calls=lost)))]
    done = run("compare", "--json", *paths, code=1)
    report = json.loads(done.stdout)
    listed = len(report["uncertain"])
    check(listed == report["totals"][0]["uncertain"] > 60, f"many: {listed}")
    text = run("compare", *paths, code=1).stdout
    shown = text.count("not asked again\n")
    check(0 < shown < listed and f"and {listed - shown} more" in text, f"many: {shown} of {listed}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        silences(folder)
        counts(folder)
        unheard(folder)
        ends(folder)
        rotated(folder)
        losses(folder)
        many(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
