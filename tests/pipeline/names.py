#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=8 long=20 asan
"""Captures cut into pieces at random places and named by "nfsdigest names", against one run over the
whole: in the canonical order both are the same bytes.  Each server alone gives what all together
give, and two days with a state between them what one run gives."""
import collections
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
PROGRAM = os.path.abspath(os.environ.get("NFSDIGEST", "build/bin/nfsdigest"))
sys.path[:0] = [str(SRC / "tests"), str(SRC / "tests/gen")]

import nfsr  # noqa: E402
from continued import note  # noqa: E402

FEW = ("knfsd-netem-tcp", "load-ganesha-vfs", "knfsd-udp-frag", "merged-tcp-udp-2if")
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)
    return good


def run(*arguments, codes=(0,)):
    done = subprocess.run([PROGRAM] + [str(a) for a in arguments], capture_output=True, text=True,
                          check=False)
    check(done.returncode in codes, "%s: %d %s" % (" ".join(map(str, arguments)), done.returncode,
                                                   done.stderr.strip()))
    return done.stdout


def make(capture, folder, borders, lead, prefix="p"):
    """Makes exact pieces.  Returns their names, and how many were made again."""
    ranges = list(zip([0] + borders, borders + [1 << 62]))
    options = ["--lead-in", lead, "--lead-in-time", "1s" if "udp" in capture.name else "0s"]
    names = [folder / ("%s%d" % (prefix, i)) for i in range(len(ranges))]
    spans = [["--from", a, "--to", b] for a, b in ranges[:-1]] + [["--from", ranges[-1][0], "--last"]]
    for name, span in zip(names, spans):
        run("piece", "-o", name, *options, *span, capture)
    continued = set()
    for _ in range(2 * len(ranges)):
        todo = note(json.loads(run("join", "--json", *names, codes=(0, 1)))["pieces"], continued)
        if not todo:
            break
        for i in sorted(continued):
            run("piece", "-o", names[i], "--continue", names[i - 1], *spans[i], capture)
    check(not todo, "%s at %s: never exact" % (capture.name, borders))
    return names, len(continued)


def text(r):
    return json.dumps(r, sort_keys=True, default=str)


def records(path):
    with open(path, "rb") as file:
        yield from nfsr.read(file)


def texts(path):
    """The records of a stream as a counter of texts."""
    return collections.Counter(text(r) for r in records(path))


def same(one, other, where):
    if one.read_bytes() == other.read_bytes():
        return True
    a, b = texts(one), texts(other)
    return check(False, "%s: %d records missing, %d more: %s | %s" % (
        where, sum((a - b).values()), sum((b - a).values()), list(a - b)[:2], list(b - a)[:2]))


def cuts(stored, folder, rounds, most):
    plain = folder / stored.stem
    subprocess.run(["zstd", "-dqf", stored, "-o", plain], check=True)
    run("record", "-o", folder / "one.nfsr", plain)
    run("names", "--canonical", "-o", folder / "truth.nfsr", folder / "one.nfsr")
    size = plain.stat().st_size
    for turn in range(rounds):
        borders = sorted(set(random.randrange(1, size) for _ in range(random.randint(1, most - 1))))
        if not turn:  # a piece of nothing
            borders = sorted({random.randrange(1, 24)} | set(borders))
        lead = random.choice((1 << 20, 200000))
        names, again = make(plain, folder, borders, lead)
        run("names", "--canonical", "-o", folder / "named.nfsr", *names)
        if rounds > 1 or size < 1 << 22:
            days(folder, names, stored.name)
        where = "%s at %s, lead-in %d, %d again" % (stored.name, borders, lead, again)
        if same(folder / "truth.nfsr", folder / "named.nfsr", where):
            print(where)
    plain.unlink()


class Natural:
    """What a stream says, without the ids of objects, paths, connections and credentials."""

    def __init__(self, path):
        self.operations = {}
        self.others = collections.Counter()
        self.servers = set()
        objects, paths, flows, credentials = {0: None}, {0: None}, {0: None}, {0: None}
        for r in records(path):
            kind = r["kind"]
            if kind == "flow":
                flows[r["id"]] = tuple(r[k] for k in ("transport", "client", "server", "client_port",
                                                      "server_port", "frame"))
                self.servers.add(r["server"])
            elif kind == "credential":
                credentials[r["id"]] = (r["flavor"], r["body"])
            elif kind == "object":
                objects[r["id"]] = (r["server"], r["handle"])
            elif kind == "path":
                paths[r["id"]] = (objects[r["object"]], paths[r["parent"]], r["name"])
            elif kind == "operation":
                for key in ("object", "object2", "new_object"):
                    r[key] = objects[r[key]]
                for key in ("path", "path2"):
                    r[key] = paths[r[key]]
                r["flow"] = flows[r["flow"]]
                r["credential"] = credentials[r["credential"]]
                check(r["id"] not in self.operations, "%s: operation %d twice" % (path, r["id"]))
                self.operations[r["id"]] = text(r)
            elif kind == "name":
                r["parent"], r["object"] = objects[r["parent"]], objects[r["object"]]
                self.others[text(r)] += 1
            elif kind in ("repeat", "problem", "connection_event"):
                r["flow"] = flows[r["flow"]]
                self.others[text(r)] += 1

    def add(self, other, where):
        for number, found in other.operations.items():
            check(number not in self.operations, "%s: operation %d twice" % (where, number))
            self.operations[number] = found
        self.others += other.others

    def compare_without_events(self, other, where):
        """Of streams of which one has borders."""
        a, b = nothing(), nothing()
        for n, of in ((a, self), (b, other)):
            n.operations = of.operations
            n.others = collections.Counter({t: c for t, c in of.others.items()
                                            if '"connection_event"' not in t})
        a.compare(b, where)

    def compare(self, other, where):
        check(len(self.operations) > 0, where + ": no operations")
        for what, a, b in (("operations", self.operations.items(), other.operations.items()),
                           ("others", self.others.items(), other.others.items())):
            a, b = set(a), set(b)
            check(a == b, "%s: %s: %d missing, %d more: %s | %s" % (
                where, what, len(a - b), len(b - a), list(a - b)[:1], list(b - a)[:1]))


def nothing():
    """Nothing was found."""
    empty = Natural.__new__(Natural)
    empty.operations, empty.others, empty.servers = {}, collections.Counter(), set()
    return empty


def packets(path):
    """The header of a pcap file with a byte order like this machine's, and its packets with times
    in ns."""
    data = path.read_bytes()
    unit = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}[struct.unpack_from("<I", data)[0]]
    found = []
    at = 24
    while at < len(data):
        seconds, part, kept, _ = struct.unpack_from("<IIII", data, at)
        found.append((seconds * 10**9 + part * unit, data[at + 8:at + 16 + kept]))
        at += 16 + kept
    return data[:24], found


def merge(folder, names, out):
    """One capture of several servers: all begin at the same time."""
    merged = []
    for name in names:
        plain = folder / "part.pcap"
        subprocess.run(["zstd", "-dqf", CAPTURES / (name + ".pcap.zst"), "-o", plain], check=True)
        head, found = packets(plain)
        link = struct.unpack_from("<I", head, 20)[0]
        check(link == 1, "%s: link type %d" % (name, link))
        first = found[0][0]
        merged += [(time - first, data) for time, data in found]
    merged.sort(key=lambda m: m[0])
    with open(out, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, 1))
        for time, data in merged:
            file.write(struct.pack("<II", 1700000000 + time // 10**9, time % 10**9) + data)


def servers(folder):
    """Each server alone gives what all give."""
    capture = folder / "two.pcap"
    merge(folder, ("load-ganesha-vfs", "knfsd-nlm-locks", "load-ganesha-mem"), capture)
    size = capture.stat().st_size
    names, _ = make(capture, folder, [size // 4, size // 2], 200000)
    run("names", "-o", folder / "all.nfsr", *names)
    run("record", "-o", folder / "one.nfsr", capture)
    both = Natural(folder / "all.nfsr")
    Natural(folder / "one.nfsr").compare_without_events(both, "two servers")
    check(len(both.servers) >= 2, "servers: %s" % both.servers)
    sum_of = nothing()
    for server in sorted(both.servers):
        run("names", "--server", server, "-o", folder / "server.nfsr", *names)
        run("ingest", "-q", "-o", folder / f"{server}.db", folder / "server.nfsr")  # ids are in sequence
        run("check", folder / "server.nfsr")
        sum_of.add(Natural(folder / "server.nfsr"), server)
    both.compare(sum_of, "each server alone")
    run("names", *[o for s in both.servers for o in ("--server", s)], "-o", folder / "server.nfsr", *names)
    both.compare(Natural(folder / "server.nfsr"), "all servers named")
    names, _ = make(capture, folder, sorted(random.randrange(1, size) for _ in range(7)), 200000)
    check(days(folder, names, "days") > 0, "no call waited between days")
    for server in sorted(both.servers):
        days(folder, names, "days of " + server, "--server", server)


def days(folder, names, where, *options):
    """Some pieces each day, and a state between them, give what all give at once."""
    state = folder / "names.state"
    state.unlink(missing_ok=True)
    run("names", *options, "-o", folder / "all.nfsr", *names)
    run("check", folder / "all.nfsr")
    found = nothing()
    left = list(names)
    waited = 0
    while left:
        day = [left.pop(0) for _ in range(random.randint(1, max(1, len(left) // 2)))]
        told = json.loads(run("names", "--json", *options, "--state", state, "-o", folder / "day.nfsr", *day))
        waited += told["waiting"]
        check(bool(left) or not told["waiting"], "%s: calls wait at the end" % where)
        run("check", folder / "day.nfsr")
        found.add(Natural(folder / "day.nfsr"), where)
    Natural(folder / "all.nfsr").compare(found, where)
    return waited


def bad_state(folder, names):
    state, out = folder / "names.state", ("-o", folder / "out.nfsr")
    state.unlink(missing_ok=True)
    run("names", "--state", state, *out, *names[:1])
    kept = state.read_bytes()
    state.unlink()
    run("names", "--state", state, *out, *names[:1])
    check(state.read_bytes() == kept, "two equal runs give two states")
    (folder / "out.nfsr").unlink()
    for content, word in ((kept[:len(kept) // 2], "damaged"), (kept[:9], "damaged"), (b"", "not a state"),
                          (kept[:-1], "damaged"), (bytes([kept[0] ^ 1]) + kept[1:], "not a state"),
                          (kept[:99] + bytes([kept[99] ^ 1]) + kept[100:], "damaged"),
                          (names[0].with_suffix(".border").read_bytes(), "not a state")):
        state.write_bytes(content)
        refused(3, word, "--state", state, *out, *names[1:])
        check(state.read_bytes() == content, "a refused state was written")
    state.write_bytes(kept)
    refused(2, "other servers", "--server", "10.0.0.1", "--state", state, *out, *names[1:])
    refused(3, "begins a capture", "--state", state, *out, *names)
    refused(3, "a piece is missing", "--state", state, *out, *names[2:])
    check(state.read_bytes() == kept and not (folder / "out.nfsr").exists(), "a refused day left files")
    (folder / "list").write_text("\n".join(map(str, names[2:])) + "\n")
    run("names", "--state", state, *out, "--list", folder / "list", names[1])
    refused(3, "was made with --last", "--state", state, *out, names[2])


def refused(code, word, *arguments, cwd=None):
    done = subprocess.run([PROGRAM, "names"] + [str(a) for a in arguments], capture_output=True,
                          text=True, check=False, cwd=cwd)
    check(done.returncode == code and word in done.stderr, "%s: %d, %s" % (
        " ".join(map(str, arguments)), done.returncode, done.stderr.strip()))


def bad_input(folder):
    folder = folder / "bad"
    folder.mkdir()
    stored = CAPTURES / "knfsd-nlm-locks.pcap.zst"
    capture = folder / "locks.pcap"
    subprocess.run(["zstd", "-dqf", stored, "-o", capture], check=True)
    size = capture.stat().st_size
    make(capture, folder, [size // 3, size // 3 * 2], 1 << 20)
    out = ["-o", "out.nfsr"]
    run("names", "-o", folder / "good.nfsr", *[folder / n for n in ("p0", "p1", "p2")])
    refused(3, "another order", *out, "p0", "p2", "p1", cwd=folder)
    refused(3, "a piece is missing", *out, "p0", "p2", cwd=folder)
    refused(3, "the pieces before it are missing", *out, "p1", "p2", cwd=folder)
    refused(3, "a piece twice", *out, "p0", "p1", "p1", "p2", cwd=folder)
    refused(3, "begins a capture", *out, "p0", "p0", cwd=folder)
    refused(3, "cannot be opened", *out, "none", cwd=folder)
    refused(2, "not an address", *out, "--server", "everest", "p0", cwd=folder)
    refused(2, "-o FILE is missing", "p0", cwd=folder)
    refused(2, "nothing to name", *out, cwd=folder)
    (folder / "locks.nfsr").write_bytes(b"no stream")
    refused(3, "not a record stream", *out, "--canonical", "locks.nfsr", cwd=folder)
    # not exact: no lead-in
    run("piece", "-o", folder / "p1", "--from", size // 3, "--to", size // 3 * 2, "--lead-in", "1",
        "--lead-in-time", "0s", capture)
    refused(3, "make it again", *out, "p0", "p1", "p2", cwd=folder)
    names, _ = make(capture, folder, [size // 3, size // 3 * 2], 1 << 20)
    # files of other pieces
    for suffix, word in ((".order", "does not belong to"), (".nfsr", "p1.nfsr"), (".border", "")):
        kept = (folder / ("p1" + suffix)).read_bytes()
        (folder / ("p1" + suffix)).write_bytes((folder / ("p0" + suffix)).read_bytes())
        refused(3, word, *out, "p0", "p1", "p2", cwd=folder)
        for at in (0, len(kept) // 2):
            (folder / ("p1" + suffix)).write_bytes(kept[:at] + bytes([kept[at] ^ 1]) + kept[at + 1:])
            refused(3, "p1" + suffix, *out, "p0", "p1", "p2", cwd=folder)
        (folder / ("p1" + suffix)).write_bytes(kept[:len(kept) // 2])
        refused(3, "p1" + suffix, *out, "p0", "p1", "p2", cwd=folder)
        (folder / ("p1" + suffix)).write_bytes(kept)
    check(not (folder / "out.nfsr").exists(), "a refused piece left a stream")
    run("names", "-o", folder / "again.nfsr", *names)
    check((folder / "again.nfsr").read_bytes() == (folder / "good.nfsr").read_bytes(), "two times")
    (folder / "again.nfsr").unlink()
    bad_state(folder, names)


def main():
    random.seed(18)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bad_input(folder)
        servers(folder)
        for stored in sorted(CAPTURES.glob("*.pcap*.zst")):
            if rounds or stored.name.split(".")[0] in FEW:
                cuts(stored, folder, rounds or 1, 20 if rounds else 6)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
