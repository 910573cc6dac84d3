#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=6 asan
"""1. Made captures, cut where a reader that begins in the middle cannot know something (tests/gen/cut_cases.py):
join says so, and why; the piece, made again, has the records of one run.  Where the case says so, the piece that
was made on its own had others: join had to say it.
2. Captures of everything, and of captures, cut anywhere, against one run."""
import json
import os
import pathlib
import random
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path.insert(0, str(SRC / "tests/gen"))
sys.path.insert(0, str(SRC / "tests/pipeline"))

import messages as m  # noqa: E402
import pieces  # noqa: E402
from cut_cases import CASES, Cut, acknowledge  # noqa: E402
from cut_mix import WHAT, frames_before, met, mixed, of_captures  # noqa: E402
from pieces import Trace, check, compare, failures, joined, make, run  # noqa: E402


def records(folder, names, verdicts):
    found = Trace()
    for name, piece in zip(names, verdicts):
        found.add(folder / (name + ".nfsr"), piece)
    return found


def same(a, b):
    return (a.operations, a.waited, a.others) == (b.operations, b.waited, b.others)


def one(folder, name, case):
    cut = Cut()
    case.make(cut)
    capture = folder / "made.pcap"
    cut.trace.write(capture)
    lead, border = cut.offsets()
    run("record", "-o", folder / "truth.nfsr", *case.options, capture)
    truth = Trace()
    truth.add(folder / "truth.nfsr")
    make(capture, folder, "a", "--to", border, *case.options)
    second = ("--from", border, "--last", *case.options)
    made = make(capture, folder, "b", "--lead-in", border - lead, "--lead-in-time", "0s", *second)
    check(made["lead_in_frames"] == cut.marks[1] - cut.marks[0], f"{name}: a lead-in of {made['lead_in_frames']}")
    verdicts = joined(folder, "ab")
    why = verdicts[1].get("why", "")
    check(verdicts[0]["verdict"] == "exact" and case.why in why and bool(why) == bool(case.why),
          f"{name}: {verdicts[1]['verdict']}, {why!r}, not {case.why!r}")
    found = records(folder, "ab", verdicts)
    if not case.why:
        compare(truth, found, name)
        return
    if case.differs:
        check(not same(truth, found), f"{name}: the records are those of one run: join need not have said {why!r}")
    make(capture, folder, "b", "--continue", folder / "a", *second)
    verdicts = joined(folder, "ab")
    check(verdicts[1]["verdict"] == "exact", f"{name}, made again: {verdicts[1]}")
    compare(truth, records(folder, "ab", verdicts), f"{name}, made again")


def ranges(folder):
    """Pieces are joined as a range before those in front of them: what the range asks of these is found out then."""
    for late in "", "came late", "carries RPC":
        cut = Cut()
        flow, other = cut.tcp(), cut.udp("10.0.0.2")
        if late == "carries RPC":  # NLM has port 3000: nobody in the range knows that
            cut.udp(port=801, server_port=111).pair(1, 3, m.u32(100021, 4, 17, 0), m.u32(3000), program=100000, version=2)
        cut.get(flow, 1)
        op = cut.ask(other, 9)
        acknowledge(flow)
        for _ in range(2):
            cut.lead()
            cut.border()
        cut.get(flow, 2)  # nobody in the range has seen the connection
        if late == "came late":
            cut.answer(other, op)
        elif late:
            cut.udp(port=802, server_port=3000).pair(2, 0, program=100021, version=4)
        capture = folder / "ranges.pcap"
        cut.trace.write(capture)
        at = cut.offsets()
        make(capture, folder, "a", "--to", at[1])
        for name, lead, begin, end in ("b", at[0], at[1], ("--to", at[3])), ("c", at[2], at[3], ("--last",)):
            make(capture, folder, name, "--from", begin, "--lead-in", begin - lead, "--lead-in-time", "0s", *end)
        verdicts = json.loads(run("join", "--json", "-o", "bc", "b", "c", cwd=folder))["pieces"]
        check([v["verdict"] for v in verdicts] == ["open", "exact"], f"a range: {verdicts}")
        for name in "bc":
            os.rename(folder / f"{name}.border", folder / f"{name}.away")
        if late:  # which piece it is, only these tell
            pieces.refused(folder, 3, "b.border: cannot be opened", "join", "a", "bc")
        else:
            verdicts = json.loads(run("join", "--json", "a", "bc", cwd=folder))["pieces"]
            check([v["verdict"] for v in verdicts] == ["exact"] * 3 and len(verdicts[0]["unfinished"]) == 1 and
                  verdicts[2]["frames_before"] == cut.marks[3], f"a range alone: {verdicts}")
        for name in "bc":
            os.rename(folder / f"{name}.away", folder / f"{name}.border")
        verdicts = json.loads(run("join", "--json", "a", "bc", cwd=folder, codes=(int(bool(late)),)))["pieces"]
        check([v["verdict"] for v in verdicts] == ["exact", "exact", "again" if late else "exact"] and
              late in verdicts[2].get("why", "") and ("why" in verdicts[2]) == bool(late), f"a range: {verdicts}")
    pieces.refused(folder, 3, "the pieces before it are missing", "join", "bc")
    pieces.refused(folder, 3, "a piece twice", "join", "-o", "none", "a", "b", "bc")
    pieces.refused(folder, 3, "was made with --last", "join", "-o", "none", "bc", "a")
    data = bytearray((folder / "bc.border").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "bc.border").write_bytes(data)
    pieces.refused(folder, 3, "bc.border", "join", "a", "bc")
    check(not (folder / "none.border").exists(), "a refused range was written")


def chain(folder):
    """The first piece knows many connections that no later one does, so join takes those together first.  It finds
    what it finds when each one is taken by itself."""
    cut = Cut()
    for port in range(700, 760):
        flow = cut.tcp(port=port)
        cut.get(flow, port)
        acknowledge(flow)
    other = cut.udp("10.0.0.2")
    op = cut.ask(other, 9)
    for n in range(9):
        cut.lead()
        cut.border()
        if n == 6:
            cut.answer(other, op)
    capture = folder / "chain.pcap"
    cut.trace.write(capture)
    at = cut.offsets()
    names = [f"c{n}" for n in range(10)]
    make(capture, folder, "c0", "--to", at[1])
    for n in range(1, 10):
        lead, begin = at[2 * n - 2:2 * n]
        end = ("--to", at[2 * n + 1]) if n < 9 else ("--last",)
        make(capture, folder, names[n], "--from", begin, "--lead-in", begin - lead, "--lead-in-time", "0s", *end)
    known = ("piece", "verdict", "why", "frames", "operations", "frame_shift", "unfinished")

    def found(*names):
        rows = json.loads(run("join", "--json", *names, cwd=folder, codes=(0, 1)))["pieces"]
        return [[row.get(key) for key in known] for row in rows]

    for n in range(1, 9):
        run("join", "-o", f"all{n}", f"all{n - 1}" if n > 1 else "c0", names[n], cwd=folder, codes=(0, 1))
    one, each = found(*names), found("all8", "c9")
    check(one == each, f"all at once: {one}; one by one: {each}")
    check([row[1] for row in one].count("exact") > 5 and "came late" in one[7][2] and len(one[0][-1]) == 1,
          f"a chain: {one}")


def limits(folder):
    """No piece reaches a limit, nor do two of them, but all three do.  A chain from the beginning is one run, then."""
    def connections(cut, n):
        for port in range(6):
            cut.get(cut.tcp(port=800 + 10 * n + port), 100 * n + port)

    def calls(cut, n):
        for xid in range(25):
            cut.ask(cut.udp(), 100 * n + xid)

    for fill, options in (connections, ("--connections", "16")), (calls, ("--pending", "64")):
        cut = Cut()
        fill(cut, 0)
        for n in 1, 2:
            cut.lead()
            cut.border()
            fill(cut, n)
        capture = folder / "limits.pcap"
        cut.trace.write(capture)
        run("record", "-o", folder / "truth.nfsr", *options, capture)
        truth = Trace()
        truth.add(folder / "truth.nfsr")
        at = cut.offsets()
        spans = {"a": ("--to", at[1]), "b": ("--from", at[1], "--to", at[3]), "c": ("--from", at[3], "--last")}
        for (name, span), lead in zip(spans.items(), (0, at[1] - at[0], at[3] - at[2])):
            make(capture, folder, name, "--lead-in", lead, "--lead-in-time", "0s", *span, *options)
        ends = fill.__name__

        def found(last, *names):
            verdicts = json.loads(run("join", "--json", *names, cwd=folder, codes=(0, 1)))["pieces"]
            check([v["verdict"] for v in verdicts] == ["exact", "exact", last] and
                  ("a limit was reached" in verdicts[2].get("why", "")) == (last == "again"), f"{ends}: {verdicts}")
            return verdicts

        found("again", "a", "b", "c")
        two = json.loads(run("join", "--json", "-o", "bc", "b", "c", cwd=folder))["pieces"]
        check([v["verdict"] for v in two] == ["open", "exact"], f"{ends}, two pieces: {two}")
        found("again", "a", "bc")
        make(capture, folder, "c", "--continue", folder / "b", *spans["c"], *options)
        found("again", "a", "b", "c")  # what the first one has counts as before
        for name, previous in ("b", "a"), ("c", "b"):
            make(capture, folder, name, "--continue", folder / previous, *spans[name], *options)
        compare(truth, records(folder, "abc", found("exact", "a", "b", "c")), f"{ends}: a chain from the beginning")
        run("join", "-o", "ab", "a", "b", cwd=folder)
        check("1 to be made again" not in run("join", "ab", "c", cwd=folder), f"{ends}: a range of a chain")


def anywhere(folder, trace, name, lead, rounds, rng):
    """Cuts at random bytes.  Returns what stood over the borders, how many pieces, and how many made again."""
    capture = folder / name
    trace.write(capture)
    run("record", "-o", folder / "truth.nfsr", capture)
    truth = Trace()
    truth.add(folder / "truth.nfsr")
    check(sum(truth.operations.values()) > 50, f"{name}: {truth.operations.total()} operations")
    size, over, total, again = capture.stat().st_size, set(), 0, 0
    for _ in range(rounds):
        borders = sorted(rng.randrange(size) for _ in range(rng.randint(3, 12)))
        if not name.endswith("ng"):
            over |= set().union(*[met(trace, frames_before(trace, at)) for at in borders])
        again += pieces.cut(capture, folder, borders, lead, truth)
        total += len(borders) + 1
    return over, total, again


def anywhere_all(folder, rounds):
    rng = random.Random(18)
    over, total, again = anywhere(folder, mixed(18), "mixed-udp.pcap", 600000, rounds, rng)
    print(f"mixed: {again} of {total} pieces were made again: {dict(+pieces.reasons)}")
    check(over == WHAT, f"over the borders stood {over} only")
    for form in "pcap", "pcapng":
        guessed = False
        for lead in 1000, 100000:
            pieces.reasons.clear()
            _, total, again = anywhere(folder, of_captures(18, form), f"stored.{form}", lead, 1, rng)
            print(f"{form} in {form}, lead-in {lead}: {again} of {total} pieces were made again: "
                  f"{dict(+pieces.reasons)}")
            guessed |= any("guessed" in why for why in pieces.reasons)
        check(guessed, f"{form} in {form}: nothing was guessed wrong")


def main():
    rounds = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdigit() else 3
    chosen = [name for name in sys.argv[1:] if name in CASES]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for one_case in chosen or CASES:
            one(folder, one_case, CASES[one_case])
        if not chosen:
            ranges(folder)
            chain(folder)
            limits(folder)
            anywhere_all(folder, rounds)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
