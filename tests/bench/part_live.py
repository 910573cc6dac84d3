# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "live" of run.py: ftnfsd beside NFS-Ganesha's MEM and VFS back ends, under the same load of
bench_nfs, in turns.  Elapsed, latency, and the server's CPU an operation."""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import tee_memory

SECONDS = 2
LOADS = [("getattr", 1), ("getattr", 64), ("lookup", 64), ("access", 64), ("read", 64),
         ("write", 64), ("create", 64), ("list", 8)]
CPU_PART, LATENCY_PART, CPU_MOST = 0.2, 0.5, 5.0  # of Ganesha's; of Ganesha's; us
LARGE, SMALL, LARGE_TIMES = 1_000_000, 100, 2
TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def load(bench, pid, where, operation, outstanding, files=SMALL):
    """(operations a second, median us, 99th percentile us, us of the server's CPU an operation)"""
    with subprocess.Popen([str(bench.tools / "bench_nfs"), *where, operation, str(outstanding),
                           str(SECONDS), str(files)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("bench_nfs %s failed" % operation)
        before = cpu_of(pid)
        out, _ = process.communicate("\n")
        cpu = cpu_of(pid) - before
    rate, median, late, count = out.split()
    return float(rate), float(median), float(late), cpu / int(count) * 1e6


def measure(bench, pid, where, rounds, loads=tuple(LOADS)):
    """Yields each load and its medians."""
    for key in loads:
        yield key, [statistics.median(v) for v in zip(*(load(bench, pid, where, *key)
                                                        for _ in range(rounds)))]


def ftnfsd(bench, *options, export="/a"):
    program = str(bench.build / "bin" / "ftnfsd")
    process = subprocess.Popen([program, "--memory", "--export", export, "--port", "0", "--for",
                                "1200s", *options], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("nfs://"):
            port = line.split("nfsport=")[1].split("&")[0]
            return process, ["127.0.0.1", port, port, "/a"]
    raise SystemExit("ftnfsd does not start")


def ganesha(bench, kind, rounds):
    """The same in Ganesha's namespaces, where this program calls itself.  A load under which Ganesha
    ends is left out, and said; it begins anew for the others."""
    lab = pathlib.Path(__file__).resolve().parent.parent / "lab" / "ganesha.sh"
    found, left = {}, list(LOADS)
    if os.geteuid() or not shutil.which("ganesha.nfsd", path=os.environ["PATH"] + ":/usr/sbin"):
        print("NOT RUN: Ganesha %s: it is not installed, or this is not root" % kind)
        return found
    while left:
        done = subprocess.run([str(lab), kind, sys.executable, __file__, str(bench.build),
                               str(rounds), *("%s,%d" % key for key in left)],
                              env={**os.environ, "LIMIT": "600"}, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        for operation, count, *numbers in (line.split() for line in done.stdout.splitlines()):
            found[operation, int(count)] = [float(x) for x in numbers]
            left.remove((operation, int(count)))
        if left and done.returncode:
            print("NOT RUN: Ganesha %s ended under %s with %d outstanding" % (kind, *left.pop(0)))
    return found


def inside(build, rounds, loads):
    class Bench:
        tools = pathlib.Path(build) / "bin" / "tests"
    pid = int(pathlib.Path("/run/ganesha.pid").read_text())
    where = ["127.0.0.1", "2049", "20048", os.environ["EXPORT"]]
    for key, numbers in measure(Bench, pid, where, rounds, loads):
        print(*key, *numbers, flush=True)


def show(name, results):
    for (operation, outstanding), (rate, median, late, cpu) in results.items():
        print("  %-14s %-8s %4d outstanding %9.0f /s %8.1f us median %8.1f us p99 %6.2f us CPU" % (
            name, operation, outstanding, rate, median, late, cpu))


def speed(bench, packets, capture, rounds, report):
    process, where = ftnfsd(bench)
    ours = dict(measure(bench, process.pid, where, rounds))
    show("ftnfsd", ours)
    for kind in "mem", "vfs":
        theirs = ganesha(bench, kind, rounds)
        show("Ganesha " + kind, theirs)
        for key in theirs:
            if key[1] == 1:
                report.add("ftnfsd, latency of a lone %s to Ganesha %s" % (key[0], kind),
                           ours[key][1] / theirs[key][1], "x", LATENCY_PART, False)
            else:
                report.add("ftnfsd, CPU of %s to Ganesha %s" % (key[0], kind),
                           ours[key][3] / theirs[key][3], "x", CPU_PART, False)
    for key in LOADS[1:-1]:
        report.add("ftnfsd, CPU of %s" % key[0], ours[key][3], "us", CPU_MOST, False)
    small = load(bench, process.pid, where, "lookup", 64)
    large = load(bench, process.pid, where, "lookup", 64, LARGE)
    report.add("ftnfsd, CPU of LOOKUP in a directory of a million to one of %d" % SMALL,
               large[3] / small[3], "x", LARGE_TIMES, False)
    process.terminate()
    process.wait()
    return {"%s %d" % key: value for key, value in ours.items()}


def memory(bench, sizes, report):
    process, where = ftnfsd(bench)

    def resident():
        text = pathlib.Path("/proc/%d/status" % process.pid).read_text()
        return int(text.split("VmRSS:")[1].split()[0]) * 1024

    before = resident()
    load(bench, process.pid, where, "getattr", 1, LARGE)
    report.add("ftnfsd, memory an empty file", (resident() - before) / LARGE, "bytes", 300, False)
    process.terminate()
    process.wait()
    tee_memory.memory(bench, report)


if __name__ == "__main__":
    inside(sys.argv[1], int(sys.argv[2]),
           [(k.split(",")[0], int(k.split(",")[1])) for k in sys.argv[3:]])
