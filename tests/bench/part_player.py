# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "player" of run.py: what nfsreplay play costs when the server costs nothing.

The operations are played once on ftnfsd, and bench_prepare keeps each call with its reply.  Then
bench_responder answers from that file on one processor, while on the other one nfsreplay plays and
verifies, and libnfs makes the same calls without verifying.  CPU of the client for an operation, and
operations a second.

The dump is short, so it is played by halves, too: what its second half costs is the cost without the
start, when the player's memory is touched for the first time.

libnfs's loop is rpc_service, as its documentation has it, with one poll for all connections, and as many
calls outstanding as ours.  Its arguments are read before the clock starts.  Version 4.0.0 makes three
system calls a call, whatever is outstanding (strace -c): one sends it, two read the mark and the rest of
its reply.  That is its own doing: the bench has no say in it.

What no client can do without is measured, too: bench_floor sends the same calls as they are, as many at a
time, and reads the replies without a look at them.  Nothing can be faster on this machine."""
import json
import os
import pathlib
import subprocess
import statistics
import sys
import tempfile

import part_live
import part_replay

PACKETS, CONNECTIONS, OUTSTANDING = 2_000_000, 4, 256
CPU_MOST, RATE_LEAST, LIBNFS_TIMES = 0.7, 500_000, 4  # us; a second; x


def pinned(which):
    """Where a program runs: 0, the client; 1, the server."""
    processors = sorted(os.sched_getaffinity(0))
    return lambda: os.sched_setaffinity(0, {processors[which % len(processors)]})


class Server:
    """A bench program that prints its port, and ends with its input."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, preexec_fn=pinned(1))
        self.port = self.process.stdout.readline().strip()
        if not self.port:
            raise SystemExit("%s does not start" % command[0])

    def target(self):
        return "nfs://127.0.0.1/a?nfsport=%s&mountport=%s" % (self.port, self.port)

    def end(self):
        out, _ = self.process.communicate()
        if self.process.returncode:
            raise SystemExit("%s: exit %d" % (self.process.args[0], self.process.returncode))
        return [int(x) for x in out.split()]


def play(bench, dump, target, *more):
    """The report of a run that is allowed to differ."""
    with tempfile.TemporaryDirectory() as folder:
        run = folder + "/run"
        done = subprocess.run(
            [str(bench.build / "bin" / "nfsreplay"), "play", "--quiet", "--force", "--pace", "asap",
             "-c", str(CONNECTIONS), "--outstanding", str(OUTSTANDING * CONNECTIONS), "-o", run, *more, dump, target],
            stdout=subprocess.DEVNULL, check=False, preexec_fn=pinned(0))
        if done.returncode not in (0, 1):
            raise SystemExit("nfsreplay play: exit %d" % done.returncode)
        return json.loads(pathlib.Path(run, "report.json").read_text())


def differ(report):
    return report["run"]["operations"] - sum(c["operations"] for c in report["classes"]
                                             if c["name"] in ("as recorded", "unplayable"))


def prepare(bench, dump):
    """The file of calls and replies."""
    path = pathlib.Path(dump).with_suffix(".calls")
    if path.exists():
        return path
    print("making %s" % path, file=sys.stderr)
    process, where = part_live.ftnfsd(bench)
    direct = "nfs://127.0.0.1/a?nfsport=%s&mountport=%s" % (where[1], where[1])
    part_replay.nfsreplay(bench.build, "populate", "--quiet", "--force", dump, direct)
    part = path.with_suffix(".part")
    proxy = Server(bench.tools / "bench_prepare", where[1], part)
    play(bench, dump, proxy.target())
    proxy.end()
    process.terminate()
    process.wait()
    part.rename(path)
    return path


def ours(bench, dump, calls, *spoil):
    """(us of user CPU, of system CPU, operations a second, differ, calls without a reply, us of the
    responder's CPU)"""
    server = Server(bench.tools / "bench_responder", calls, *spoil)
    report = play(bench, dump, server.target())
    answered, unknown, _, cpu = server.end()
    ran = report["run"]
    return (ran["cpu_user"] / ran["operations"] / 1e3, ran["cpu_system"] / ran["operations"] / 1e3,
            ran["operations"] / ran["duration"] * 1e9, differ(report), unknown, cpu / answered / 1e3)


def of_second_half(bench, dump, calls):
    """(us of CPU for an operation of the dump's second half, ms that the start costs more)"""
    used = []
    operations = None
    for part in 1, 2:
        server = Server(bench.tools / "bench_responder", calls)
        more = () if part == 1 else ("--stop-after", str(operations // 2))
        ran = play(bench, dump, server.target(), *more)["run"]
        server.end()
        operations = operations or ran["operations"]
        used.append((ran["operations"], ran["cpu_user"] + ran["cpu_system"]))
    (all_of, cpu), (half, cpu_of_half) = used
    each = (cpu - cpu_of_half) / (all_of - half)
    return each / 1e3, (cpu - each * all_of) / 1e6


def client(bench, name, calls):
    """The same of another program that makes the calls; of it the fourth number is failed calls."""
    program = bench.tools / name
    if not program.exists():
        return None
    server = Server(bench.tools / "bench_responder", calls, "any-credential")
    done = subprocess.run([str(program), str(calls), server.port, str(CONNECTIONS),
                           str(OUTSTANDING)], stdout=subprocess.PIPE, text=True, check=True,
                          preexec_fn=pinned(0))
    answered, unknown, _, cpu = server.end()
    _, user, system, rate, failed = done.stdout.split()
    return float(user) / 1e3, float(system) / 1e3, float(rate), int(failed), unknown, cpu / answered / 1e3


def show(name, found):
    """A row; the responder's share is of its processor, while the client runs."""
    user, system, rate, differing, unknown, responder = found
    print("  %-10s CPU %5.2f us (user %5.2f, system %5.2f)  %8.0f operations/s; %d differ or fail, "
          "%d without a prepared reply; the responder %5.2f us, %3.0f %% of its processor"
          % (name, user + system, user, system, rate, differing, unknown, responder,
             responder * rate / 1e4))


def medians(rows):
    return [statistics.median(v) for v in zip(*rows)]


def speed(bench, packets, capture, rounds, report):
    dump = part_replay.dump_of(bench, part_replay.FILES, part_replay.BLOCK, PACKETS)
    calls = prepare(bench, dump)
    spoiled = ours(bench, dump, calls, "spoil")
    report.add("replies that are spoiled, found by the player", spoiled[3], "", 1, True)
    rows = {"nfsreplay": [], "second half": [], "libnfs": [], "floor": []}
    for _ in range(rounds):
        rows["nfsreplay"].append(ours(bench, dump, calls))
        rows["second half"].append(of_second_half(bench, dump, calls))
        rows["libnfs"].append(client(bench, "bench_libnfs", calls))
        rows["floor"].append(client(bench, "bench_floor", calls))
    own, floor = medians(rows["nfsreplay"]), medians(rows["floor"])
    print("%d connections x %d outstanding, medians of %d rounds" % (CONNECTIONS, OUTSTANDING, rounds))
    show("nfsreplay", own)
    show("floor", floor)
    print("  without the start %5.2f us; the start %.1f ms" % tuple(medians(rows["second half"])))
    report.add("player, CPU an operation with verification", own[0] + own[1], "us", CPU_MOST, False)
    report.add("player, operations a second", own[2], "", RATE_LEAST, True)
    report.add("player, operations that differ", own[3], "", 0, False)
    report.add("player, calls without a prepared reply", own[4], "", 0, False)
    if None in rows["libnfs"]:
        print("NOT RUN: libnfs: libnfs-dev was not installed when the programs were built")
        return {"nfsreplay": own, "floor": floor}
    theirs = medians(rows["libnfs"])
    show("libnfs", theirs)
    report.add("player, times libnfs's operations a second", own[2] / theirs[2], "x", LIBNFS_TIMES,
               True)
    report.add("libnfs's CPU to the player's", (theirs[0] + theirs[1]) / (own[0] + own[1]), "x",
               LIBNFS_TIMES, True)
    report.add("libnfs, calls that fail or lack a reply", theirs[3] + theirs[4], "", 0, False)
    print("  times libnfs's operations a second: the floor %.2f, nfsreplay %.2f; nfsreplay's CPU is %.2f "
          "times the floor's" % (floor[2] / theirs[2], own[2] / theirs[2],
                                 (own[0] + own[1]) / (floor[0] + floor[1])))
    return {"nfsreplay": own, "libnfs": theirs, "floor": floor}


def memory(bench, sizes, report):
    """The test nfsreplay_memory looks at it."""
