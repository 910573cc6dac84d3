#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Speed and memory against the bounds that the project promises, in one run.

    run.py [--build DIR] [--packets N] [--rounds N] [--capture FILE]
           [--part engine|anon|audit|digest|compare|live|replay|player] [--no-memory] [--json FILE]

Makes the capture if it is missing (gen_bench), reads it once to warm the page cache, then measures
all programs in turns, |rounds| times, and compares medians. Not part of ./check: times depend on the
machine, only their ratios are judged. Ends with 1 when a bound is missed.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

import part_audit
import part_compare
import part_digest
import part_live
import part_player
import part_relay
import part_replay

FIELDS = """rpc.xid rpc.msgtyp rpc.program rpc.programversion rpc.procedure rpc.auth.uid rpc.auth.gid
rpc.auth.machinename rpc.replystat rpc.state_accept rpc.time rpc.repframe rpc.reqframe
nfs.procedure_v3 nfs.status nfs.fh.hash nfs.name nfs.offset3 nfs.count3 nfs.read.eof
nfs.fattr3.type nfs.fattr3.size nfs.fattr3.fileid nfs.access_rights nfs.cookie3""".split()
MEGABYTE = 10**6
MEMORY_PACKETS = 10**6, 4 * 10**6


class Bench:
    def __init__(self, build, scratch):
        self.build, self.scratch, self.cpu = build, scratch, 0
        self.tools = build / "bin" / "tests"
        self.nfsdigest = str(build / "bin" / "nfsdigest")
        self.plugin_tshark = str(build / "bin" / "tshark")
        path = os.environ["PATH"].split(":")
        self.tshark = shutil.which("tshark", path=":".join(
            p for p in path if pathlib.Path(p) != build / "bin"))
        if not self.tshark:
            raise SystemExit("tshark is not installed")

    def file(self, name):
        """A name for output; what was there is gone."""
        path = self.scratch / name
        for old in self.scratch.glob(name + "*"):
            old.unlink()
        return str(path)

    def run(self, *commands, keep=False, accept=(0,)):
        """Runs a pipe of commands, which must end with one of |accept|. Returns (seconds, [peak bytes
        of each], output if |keep|). Their CPU time is added to self.cpu."""
        processes, source = [], subprocess.DEVNULL
        errors = open(self.scratch / "stderr", "w+b")
        start = time.monotonic()
        for i, command in enumerate(commands):
            last = i == len(commands) - 1
            sink = subprocess.PIPE if not last or keep else subprocess.DEVNULL
            process = subprocess.Popen(command, stdin=source, stdout=sink, stderr=errors)
            if source not in (subprocess.DEVNULL, None):
                source.close()
            source = process.stdout
            processes.append(process)
        output = source.read().decode() if keep else ""
        peaks, failed = [], []
        for process in processes:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in accept:
                failed.append("%s: exit %d" % (" ".join(process.args), process.returncode))
            peaks.append(usage.ru_maxrss * 1024)
            self.cpu += usage.ru_utime + usage.ru_stime
        seconds = time.monotonic() - start
        errors.seek(0)
        text = errors.read().decode(errors="replace")
        errors.close()
        if failed:
            raise SystemExit("\n".join(failed) + "\n" + text)
        return seconds, peaks, output

    def capture(self, packets):
        path = self.build / "bench" / ("nfs3-%d.pcap" % packets)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            print("making %s" % path, file=sys.stderr)
            subprocess.run([str(self.tools / "gen_bench"), "--packets", str(packets), str(part)],
                           check=True, stdout=subprocess.DEVNULL)
            part.rename(path)
        return str(path)

    def key(self):
        path = self.scratch / "key"
        if not path.exists():
            self.run([self.nfsdigest, "key", "new", str(path)])
        return str(path)

    # The programs. Each returns (seconds, peaks, ...).

    def bare(self, capture):
        return self.run([str(self.tools / "bare_pcap"), capture])

    def io_stat(self, capture):
        return self.run([self.tshark, "-r", capture, "-q", "-z", "io,stat,0"])

    def fields(self, capture):
        command = [self.tshark, "-r", capture, "-T", "fields"]
        for field in FIELDS:
            command += ["-e", field]
        return self.run(command)

    def record_tshark(self, capture):
        return self.run([self.plugin_tshark, "-r", capture, "-q", "-z",
                         "nfspair,out=" + self.file("tshark.nfsr")])

    def record(self, capture):
        return self.run([self.nfsdigest, "record", "-o", self.file("native.nfsr"), capture])

    def copy(self, capture):
        return self.run([str(self.tools / "bare_pcap"), capture, self.file("copy.pcap")])

    def anonymize(self, capture):
        return self.run([self.nfsdigest, "anonymize", "--key", self.key(), "-o",
                         self.file("native.pcapng"), capture])

    def anon_argument(self):
        return "nfsanon,key=%s,out=%s" % (self.key(), self.file("tshark.pcapng"))

    def anon_tshark(self, capture):
        return self.run([self.plugin_tshark, "-r", capture, "-q", "-z", self.anon_argument()])

    def both_tshark(self, capture):
        return self.run([self.plugin_tshark, "-r", capture, "-q", "-z", self.anon_argument(), "-z",
                         "nfspair,out=" + self.file("tshark.nfsr")])

    def ingest(self, capture):
        return self.run([self.nfsdigest, "ingest", "-o", self.file("capture.db"), capture])

    def pipe(self, capture):
        return self.run([self.plugin_tshark, "-r", capture, "-q", "-z", "nfspair,out=-"],
                        [self.nfsdigest, "ingest", "-o", self.file("pipe.db"), "-"])

    def ingest_nfsr(self):
        return self.run([self.nfsdigest, "ingest", "-o", self.file("nfsr.db"),
                         str(self.scratch / "native.nfsr")])

    def insert(self):
        _, peaks, output = self.run([str(self.tools / "bench_insert"),
                                     str(self.scratch / "nfsr.db"), self.file("insert.db")],
                                    keep=True)
        rows, seconds = re.match(r"(\d+) rows ([\d.]+) seconds", output).groups()
        return float(seconds), peaks, int(rows)


class Report:
    def __init__(self):
        self.rows = []

    def add(self, what, value, unit, bound, at_least):
        good = value >= bound if at_least else value <= bound
        self.rows.append({"what": what, "value": round(value, 3), "unit": unit, "bound": bound,
                          "at_least": at_least, "pass": good})

    def show(self):
        width = max(len(r["what"]) for r in self.rows)
        for r in self.rows:
            print("%-*s %9.2f %-2s  %s %7.2f  %s" % (
                width, r["what"], r["value"], r["unit"], ">=" if r["at_least"] else "<=",
                r["bound"], "pass" if r["pass"] else "MISSED"))


def measure(bench, packets, capture, rounds, programs):
    """Runs the programs in turns; returns the medians in seconds."""
    times = {name: [] for name in programs}
    cpu = {name: [] for name in programs}
    rows = 0
    for _ in range(rounds):
        for name in programs:
            bench.cpu = 0
            if name == "ingest_nfsr":
                seconds = bench.ingest_nfsr()[0]
            elif name == "insert":
                seconds, _, rows = bench.insert()
            else:
                seconds = getattr(bench, name)(capture)[0]
            times[name].append(seconds)
            cpu[name].append(bench.cpu)
    t = {name: statistics.median(values) for name, values in times.items()}
    print("%d packets, %s medians of %d rounds" % (
        packets, "%d operations," % rows if rows else "", rounds))
    for name, seconds in t.items():
        what = rows if name in ("ingest_nfsr", "insert") else packets
        print("  %-14s %8.2f s  %8.0f k %s/s  CPU %6.2f s  (%s)" % (
            name, seconds, what / seconds / 1000, "rows" if what is rows else "packets",
            statistics.median(cpu[name]), " ".join("%.2f" % v for v in times[name])))
    return t


def speed_engine(bench, packets, capture, rounds, report):
    t = measure(bench, packets, capture, rounds, (
        "bare", "record", "record_tshark", "io_stat", "pipe", "fields", "ingest", "ingest_nfsr",
        "insert"))
    report.add("tshark record mode, times io,stat's speed", t["io_stat"] / t["record_tshark"], "x",
               5, True)
    report.add("tshark record mode, times -T fields' speed", t["fields"] / t["record_tshark"], "x",
               20, True)
    report.add("tshark | ingest, times -T fields' speed", t["fields"] / t["pipe"], "x", 8, True)
    report.add("nfsdigest record, times bare libpcap's time", t["record"] / t["bare"], "x", 4,
               False)
    report.add(".nfsr into SQLite, of plain insert's rows/s", 100 * t["insert"] / t["ingest_nfsr"],
               "%", 60, True)
    return t


def speed_anon(bench, packets, capture, rounds, report):
    t = measure(bench, packets, capture, rounds, (
        "copy", "anonymize", "anon_tshark", "record_tshark", "both_tshark", "io_stat"))
    report.add("nfsanon, times io,stat's speed", t["io_stat"] / t["anon_tshark"], "x", 2.5, True)
    # one of these two
    faster, of_copy = t["anon_tshark"] / t["anonymize"], t["copy"] / t["anonymize"]
    if faster >= 3 and of_copy < 0.5:
        report.add("nfsdigest anonymize, times nfsanon's speed", faster, "x", 3, True)
    else:
        report.add("nfsdigest anonymize, of a libpcap copy's speed", 100 * of_copy, "%", 50, True)
    report.add("nfspair and nfsanon, times nfspair's time", t["both_tshark"] / t["record_tshark"],
               "x", 2, False)
    return t


def measure_peaks(bench, sizes, programs):
    peaks = {}
    for packets in sizes:
        capture = bench.capture(packets)
        for name in programs:
            peaks.setdefault(name, []).append([p / MEGABYTE for p in getattr(bench, name)(
                capture)[1]])
    return peaks


def memory_engine(bench, sizes, report):
    peaks = measure_peaks(bench, sizes, ("record_tshark", "record", "ingest", "pipe"))
    tshark = [p[0] for p in peaks["record_tshark"]]
    report.add("tshark record mode, peak at %d" % sizes[1], tshark[1], "MB", 250, False)
    report.add("tshark record mode, peak's growth", 100 * abs(tshark[1] / tshark[0] - 1), "%", 10,
               False)
    for name, index in ("record", 0), ("ingest", 0), ("pipe", 1):
        for packets, values in zip(sizes, peaks[name]):
            what = "ingest behind the pipe" if name == "pipe" else name
            report.add("nfsdigest %s, peak at %d" % (what, packets), values[index], "MB", 150,
                       False)


def memory_anon(bench, sizes, report):
    peaks = measure_peaks(bench, sizes, ("anon_tshark", "anonymize"))
    for name, what, bound in (("anon_tshark", "nfsanon", 300),
                              ("anonymize", "nfsdigest anonymize", 150)):
        small, large = (p[0] for p in peaks[name])
        report.add("%s, peak at %d" % (what, sizes[1]), large, "MB", bound, False)
        report.add("%s, peak's growth" % what, 100 * abs(large / small - 1), "%", 10, False)


PARTS = {"engine": (speed_engine, memory_engine), "anon": (speed_anon, memory_anon),
         "audit": (part_audit.speed, part_audit.memory),
         "digest": (part_digest.speed, part_digest.memory),
         "compare": (part_compare.speed, part_compare.memory),
         "live": (part_live.speed, part_live.memory),
         "replay": (part_replay.speed, part_replay.memory),
         "player": (part_player.speed, part_player.memory),
         "relay": (part_relay.speed, part_relay.memory)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path(os.environ.get("BUILD", "build")))
    parser.add_argument("--packets", type=int, default=3_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--capture", help="measure on this file instead of a made one")
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    scratch = build / "bench" / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o777)  # tshark drops root's identity where plugins are to be loaded
    bench, report = Bench(build, scratch), Report()
    capture, packets = None, 0
    # those have databases of their own, or none
    if arguments.part not in ("digest", "compare", "live", "replay", "player", "relay"):
        capture = arguments.capture or bench.capture(arguments.packets)
        packets = int(bench.run([str(bench.tools / "bare_pcap"), capture], keep=True)[2].split()[0])
    times = {}
    for part in [arguments.part] if arguments.part else PARTS:
        speed, memory = PARTS[part]
        times[part] = speed(bench, packets, capture, arguments.rounds, report)
        if not arguments.no_memory:
            memory(bench, MEMORY_PACKETS, report)
    report.show()
    if arguments.json:
        arguments.json.write_text(json.dumps({"packets": packets, "seconds": times,
                                              "bounds": report.rows}, indent=1) + "\n")
    shutil.rmtree(scratch)
    return 0 if all(r["pass"] for r in report.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
