#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=8 long=20 asan
"""Captures cut into pieces at random places, each read on its own, against one run over the whole:
once "nfsdigest join" calls all pieces exact, their operations, repeated messages and problems are
those of one run, in everything that the wire says.  Pieces that join wants again are made again."""
import collections
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import json

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
PROGRAM = os.path.abspath(os.environ.get("NFSDIGEST", "build/bin/nfsdigest"))
sys.path[:0] = [str(SRC / "tests"), str(SRC / "tests/gen")]

import nfsr  # noqa: E402
from continued import note  # noqa: E402

FEW = ("knfsd-netem-tcp", "knfsd-nlm-locks", "load-ganesha-vfs", "knfsd-udp-frag", "merged-tcp-udp-2if")
ALL = FEW + ("knfsd-tcp-mtu1500", "knfsd-netem-udp", "knfsd-snap256", "knfsd-vlan", "vfs-libnfs-all22",
             "mem-libnfs-all22", "load-ganesha-mem", "load-ganesha-vfs-again")
WAITED = (1, 4)  # REPLY_LOST, CAPTURE_ENDED
failures = []
numbers = itertools.count()
told = collections.Counter()  # what is missing as join says
reasons = collections.Counter()  # why pieces with a lead-in had to be made again


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments, codes=(0,), cwd=None):
    done = subprocess.run([PROGRAM] + [str(a) for a in arguments], capture_output=True, text=True,
                          check=False, cwd=cwd)
    check(done.returncode in codes, "%s: %d %s" % (" ".join(map(str, arguments)), done.returncode,
                                                   done.stderr.strip()))
    return done.stdout


def records(name):
    with open(name, "rb") as file:
        return list(nfsr.read(file))


class Trace:
    """What the wire says in records.  Frames are counted over the whole capture."""

    def __init__(self):
        self.operations = collections.Counter()
        self.others = collections.Counter()
        self.waited = collections.Counter()

    def add(self, name, piece=None):
        """|piece|: what join says of it."""
        flows = {}
        operations = piece and piece["operations"]
        for r in records(name):
            kind = r["kind"]
            if kind == "flow":
                flows[r["id"]] = tuple(r[k] for k in ("transport", "client", "server", "client_port",
                                                      "server_port"))
                continue
            if kind not in ("operation", "repeat", "problem"):
                continue
            wire = {"kind": kind, "flow": flows.get(r.get("flow"))}
            for key, value in r.items():
                if key in IDS:
                    continue
                if key.endswith("frame") and value:
                    value += piece["frame_shift"] if piece else 0
                wire[key] = value
            if piece and kind == "operation":
                operations -= 1
                if operations < 0 and r["id"] not in piece["unfinished"]:
                    continue
            if kind == "operation" and wire["pairing"] in WAITED:  # one run knows better if it was given up
                del wire["pairing"]
                counter = self.waited
            else:
                counter = self.operations if kind == "operation" else self.others
            counter[json.dumps(wire, sort_keys=True, default=str)] += 1


IDS = ("kind", "id", "flow", "credential", "object", "object2", "new_object", "path", "path2",
       "depends_on", "operation")


def make(capture, folder, name, *arguments):
    # where packets were guessed wrong, they look damaged
    codes = (0, 3) if capture.name.startswith("stored") else (0,)
    return json.loads(run("piece", "--json", "-o", folder / name, *arguments, capture, codes=codes))


def joined(folder, names):
    return json.loads(run("join", "--json", *[folder / n for n in names], codes=(0, 1)))["pieces"]


def stopped(folder, names):
    """The connections of which join says that something is missing."""
    return set(json.loads(run("join", "--json", *[folder / n for n in names], codes=(0, 1)))["stopped"])


def tree(folder, names, top=True):
    """Joins ranges of pieces, in any order; returns the name of all of them, or what join says of each piece."""
    places = sorted(random.sample(range(1, len(names)), min(len(names) - 1, random.choice((1, 1, 2, 3)))))
    parts = [names[a:b] for a, b in zip([0] + places, places + [len(names)])]
    names = [part[0] if len(part) == 1 else tree(folder, part, False) for part in parts]
    if top:
        return json.loads(run("join", "--json", *names, codes=(0, 1), cwd=folder))["pieces"]
    counted = "range%d" % next(numbers)
    run("join", "-o", counted, *names, codes=(0, 1), cwd=folder)
    return counted


def trees(folder, names):
    """Whatever is joined first, the same is found of each piece."""
    known = ("piece", "verdict", "why", "frames", "operations", "frame_shift", "unfinished")
    one = [[v.get(k) for k in known] for v in
           json.loads(run("join", "--json", *names, codes=(0, 1), cwd=folder))["pieces"]]
    for _ in range(2):
        other = [[v.get(k) for k in known] for v in tree(folder, names)]
        check(other == one, "a tree of joins: %s, in one: %s" % next(
            ((a, b) for a, b in zip(other, one) if a != b), (len(other), len(one))))


def cut(capture, folder, borders, lead, truth):
    """Returns how many pieces were made again."""
    ranges = list(zip([0] + borders, borders + [1 << 62]))
    options = ["--lead-in", lead, "--lead-in-time", "1s" if "udp" in capture.name else "0s"]
    names = ["p%d" % i for i in range(len(ranges))]
    spans = [["--from", a, "--to", b] for a, b in ranges[:-1]] + [["--from", ranges[-1][0], "--last"]]
    made = [make(capture, folder, n, *options, *s) for n, s in zip(names, spans)]
    continued = set()
    trees(folder, names)
    for v in joined(folder, names):
        reasons[re.split(" between| at byte|: ", v.get("why", ""))[0]] += v["verdict"] != "exact"
    for _ in range(len(ranges) + 1):
        verdicts = joined(folder, names)
        if os.environ.get("TELL"):
            print([v.get("why") for v in verdicts])
        todo = note(verdicts, continued)
        if not todo:
            break
        for i in sorted(continued):
            made[i] = make(capture, folder, names[i], "--continue", folder / names[i - 1], *spans[i])
    check(not todo, "%s at %s: never exact: %s" % (capture.name, borders, verdicts))
    trees(folder, names)
    found = Trace()
    for name, m, piece in zip(names, made, verdicts):
        check((m["frames"], m["lead_in_frames"], m["operations"]) == (
            piece["frames"], piece["lead_in_frames"], piece["operations"]), "join and piece differ: %s" % piece)
        found.add(folder / (name + ".nfsr"), piece)
    compare(truth, found, "%s at %s, lead-in %d" % (capture.name, borders, lead), stopped(folder, names))
    return len(continued)


def is_of(record, connections):
    _, client, server, client_port, server_port = json.loads(record)["flow"]
    ends = "%s port %d" % (client, client_port), "%s port %d" % (server, server_port)
    return not connections.isdisjoint({"%s and %s" % ends, "%s and %s" % ends[::-1]})


def compare(truth, found, where, stopped_ones=()):
    for what, a, b in (("operations", truth.operations, found.operations),
                       ("operations without an answer", truth.waited, found.waited),
                       ("repeats and problems", truth.others, found.others)):
        missing, more = a - b, b - a
        for kind in (missing, more) if b is found.waited else (missing,):  # a reply can be missing, too
            for record in [r for r in kind if stopped_ones and is_of(r, stopped_ones)]:
                told[what] += kind.pop(record)
        check(not missing and not more, "%s: %s: %d missing, %d more: %s | %s" % (
            where, what, sum(missing.values()), sum(more.values()), list(missing)[:1],
            list(more)[:1]))


def refused(folder, code, word, *arguments):
    done = subprocess.run([PROGRAM] + [str(a) for a in arguments], capture_output=True, text=True,
                          check=False, cwd=folder)
    check(done.returncode == code and word in done.stderr, "%s: %d, %s" % (
        " ".join(map(str, arguments)), done.returncode, done.stderr.strip()))


def bad_input(folder):
    """What cannot be joined or cut is named."""
    stored = CAPTURES / "knfsd-nlm-locks.pcap.zst"
    capture = folder / "locks.pcap"
    subprocess.run(["zstd", "-dqf", stored, "-o", capture], check=True)
    half = capture.stat().st_size // 2
    run("piece", "-o", folder / "a", "--to", half, capture)
    run("piece", "-o", folder / "b", "--from", half, capture)
    run("piece", "-o", folder / "c", "--from", half, "--reorder-span", "20ms", capture)
    run("piece", "-o", folder / "d", "--from", half + half // 2, capture)
    refused(folder, 3, "the pieces before it are missing", "join", "b")
    refused(folder, 3, "a piece twice", "join", "a", "b", "b")
    refused(folder, 3, "begins a capture", "join", "a", "a")
    refused(folder, 3, "a piece is missing", "join", "a", "d")
    refused(folder, 3, "other options", "join", "a", "c")
    run("piece", "-o", folder / "l", "--to", half, "--last", capture)
    refused(folder, 3, "was made with --last", "join", "l", "b")
    refused(folder, 2, "other options", "piece", "--continue", "a", "--reorder-span", "20ms", "-o", "e",
            "--from", half, capture)
    refused(folder, 3, "cannot be opened", "join", "none")
    refused(folder, 2, "it is compressed", "piece", "-o", "e", "--from", "1000", stored)
    refused(folder, 2, "behind --from", "piece", "-o", "e", "--from", "9", "--to", "9", capture)
    # a piece that continues another one, which was made again since
    run("piece", "-o", folder / "x", "--from", half, "--to", half + half // 2, capture)
    run("piece", "-o", folder / "y", "--continue", folder / "x", "--from", half + half // 2, capture)
    run("piece", "-o", folder / "x", "--continue", folder / "a", "--from", half, "--to", half + half // 2,
        capture)
    verdicts = joined(folder, ("a", "x", "y"))
    check([v["verdict"] for v in verdicts] == ["exact", "exact", "again"], "an old state: %s" % verdicts)
    check("made again" in verdicts[2]["why"], "an old state: %s" % verdicts[2])
    run("piece", "-o", folder / "y", "--continue", folder / "x", "--from", half + half // 2, capture)
    check([v["verdict"] for v in joined(folder, ("a", "x", "y"))] == ["exact"] * 3, "a chain")
    (folder / "list").write_text("x\n\ny")
    for arguments in ("a", "--list", "list"), ("--list", "list", "a"):
        check(run("join", *arguments, cwd=folder) == run("join", "a", "x", "y", cwd=folder), "--list")
    refused(folder, 3, "the pieces before it are missing", "join", "--list", "list")
    refused(folder, 3, "list: cannot be opened", "join", "--list", "none/list")
    (folder / "list").write_text("\n")
    refused(folder, 2, "nothing to join", "join", "--list", "list")
    (folder / "x.state").write_bytes((folder / "a.state").read_bytes())
    refused(folder, 3, "does not belong", "piece", "--continue", "x", "-o", "e", "--from", half + half // 2,
            capture)
    refused(folder, 2, "-o NAME is missing", "piece", "-o", "", capture)
    os.mkfifo(folder / "pipe")
    for pipe in "-", "pipe":
        refused(folder, 2, f"{pipe}: it is read more than once", "piece", "-o", "e", "--last", pipe)
    refused(folder, 2, "cannot continue itself", "piece", "--continue", "x", "-o", "x", capture)
    border = bytearray((folder / "b.border").read_bytes())
    border[len(border) // 2] ^= 1
    (folder / "b.border").write_bytes(border)
    refused(folder, 3, "damaged", "join", "a", "b")
    check(not list(folder.glob("e.*")), "a refused piece left a file")


def damaged(folder):
    """What is cut or damaged is named by its byte in the file, whatever was read of that."""
    capture = folder / "locks.pcap"
    subprocess.run(["editcap", "-F", "pcapng", capture, folder / "locks.pcapng"], check=True)
    for form, name, head, length in ("pcap", "packet", 16, 8), ("pcapng", "block", 0, 4):
        data, at, last = bytearray((folder / f"locks.{form}").read_bytes()), 24 if head else 0, 0
        while at < len(data) * 3 // 4:
            last, at = at, at + head + int.from_bytes(data[at + length:at + length + 4], "little")
        damage = bytearray(data)
        damage[at + length:at + length + 4] = b"\xff\xff\xff\x7f"
        bad = folder / f"bad.{form}"
        for content, what in (data[:at - 3], f"begins at byte {last}"), (damage, f"at byte {at}, after packet"):
            bad.write_bytes(content)
            for arguments in (), ("--from", len(data) // 2, "--lead-in", 2000, "--lead-in-time", "0s"):
                refused(folder, 3, what, "piece", "-o", "e", *arguments, "--last", bad)
                refused(folder, 3, "(counted from byte " if arguments else name, "piece", "-o", "e", *arguments, "--last",
                        bad)


def empty_pieces(folder):
    """A piece that ends before the first packet, or has no packet between its borders, is exact and has nothing."""
    for form in "pcap", "pcapng":
        stored = next(CAPTURES.glob("merged-tcp*" if form == "pcapng" else "knfsd-nlm-locks*"))
        capture = folder / ("empty." + form)
        subprocess.run(["zstd", "-dqf", stored, "-o", capture], check=True)
        run("record", "-o", folder / "truth.nfsr", capture)
        truth = Trace()
        truth.add(folder / "truth.nfsr")
        cut(capture, folder, [9, 12, 30, 31, capture.stat().st_size - 1], 200000, truth)
        check(json.loads(run("join", "--json", folder / "p0"))["frames"] == 0, "packets before byte 9")
        # the same bytes twice
        refused(folder, 3, "begins a capture", "join", "p0", "p0")
        refused(folder, 3, "begins a capture", "join", "p0", "p1", "p0")
        # going on from a piece of nothing
        run("piece", "-o", folder / "p3", "--from", 12, "--last", "--continue", folder / "p1", capture)
        check([v["verdict"] for v in joined(folder, ("p0", "p1", "p3"))] == ["exact"] * 3, "after nothing")
    # the same at the beginning of a later file
    one, two = folder / "locks.pcap", folder / "empty.pcap"
    run("piece", "-o", folder / "f0", one)
    run("piece", "-o", folder / "f1", "--to", 9, "--before", one, two)
    run("piece", "-o", folder / "f2", "--from", 9, "--last", "--before", one, two)
    verdicts = joined(folder, ("f0", "f1", "f2"))
    check(verdicts[1]["verdict"] == "exact" and verdicts[1]["frames"] == 0 < verdicts[2]["frames"],
          f"a later file: {verdicts}")
    run("piece", "-o", folder / "f2", "--from", 9, "--last", two)
    refused(folder, 3, "begins a capture", "join", "f0", "f1", "f2")


def files(folder):
    """A capture in two compressed files."""
    capture = folder / "whole.pcap"
    subprocess.run(["zstd", "-dqf", CAPTURES / "load-ganesha-vfs.pcap.zst", "-o", capture], check=True)
    data = capture.read_bytes()
    at = 24
    while at < len(data) // 2:
        at += 16 + int.from_bytes(data[at + 8:at + 12], "little")
    (folder / "0.pcap").write_bytes(data[:at])
    (folder / "1.pcap").write_bytes(data[:24] + data[at:])
    for name in ("0.pcap", "1.pcap"):
        subprocess.run(["zstd", "-qf", "--rm", folder / name], check=True)
    run("record", "-o", folder / "truth.nfsr", capture)
    truth, found = Trace(), Trace()
    truth.add(folder / "truth.nfsr")
    make(folder / "0.pcap.zst", folder, "f0")
    second = make(folder / "1.pcap.zst", folder, "f1", "--last", "--before", folder / "0.pcap.zst")
    verdicts = joined(folder, ("f0", "f1"))
    check([v["verdict"] for v in verdicts] == ["exact", "exact"], "two files: %s" % verdicts)
    check(second["lead_in_frames"] > 100, "no lead-in from the file before")
    for name, piece in zip(("f0.nfsr", "f1.nfsr"), verdicts):
        found.add(folder / name, piece)
    compare(truth, found, "two files")
    # frames of the second file, as other programs show them
    check(verdicts[1]["frame_shift"] == verdicts[0]["frames"] - second["lead_in_frames"], "frame_shift: %s" % verdicts)
    frames = {}
    for name, options in (("truth", ()), ("f1", ("--frame-shift", verdicts[1]["frame_shift"]))):
        shown = run("ops", "--columns", "call_frame,reply_frame,xid", *options, folder / (name + ".nfsr"))
        frames[name] = set(shown.split("\n")[1:])
    check(len(frames["f1"]) > 300 and len(frames["f1"] - frames["truth"]) < 5, "ops --frame-shift: %s" % list(
        frames["f1"] - frames["truth"])[:3])
    refused(folder, 3, "cannot be shifted", "ops", "--frame-shift", "-100000000", "f1.nfsr")
    refused(folder, 2, "in .nfsr streams only", "ops", "--frame-shift", "1", "0.pcap.zst")
    refused(folder, 2, "not a number", "ops", "--frame-shift", "1k", "f1.nfsr")


def main():
    random.seed(18)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    total = again = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bad_input(folder)
        damaged(folder)
        empty_pieces(folder)
        files(folder)
        for capture in ALL if rounds else FEW:
            stored = next(CAPTURES.glob(capture + ".pcap*.zst"))
            plain = folder / stored.stem
            subprocess.run(["zstd", "-dqf", stored, "-o", plain], check=True)
            run("record", "-o", folder / "truth.nfsr", plain)
            truth = Trace()
            truth.add(folder / "truth.nfsr")
            size = plain.stat().st_size
            for lead in [random.choice((1 << 20, 200000)) for _ in range(rounds or 1)]:
                count = random.randint(2, 50 if rounds else 6)
                borders = sorted(random.randrange(size) for _ in range(count - 1))
                redone = cut(plain, folder, borders, lead, truth)
                print("%s: %d pieces, lead-in %d: %d made again" % (capture, count, lead, redone))
                total += count
                again += redone
            plain.unlink()
    print("%d of %d pieces were made again" % (again, total))
    check(again * 3 < total * 2, "nearly all pieces were made again")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
