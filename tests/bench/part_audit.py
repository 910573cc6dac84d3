# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "audit" of run.py: a made capture and what anonymize makes of it under the policy public,
in MB of the latter a second.  The peer is sha256sum, which reads both files once, in turns with it."""
import os
import statistics

BOUND, PEER = 100, 4  # MB/s on two cores; times sha256sum's time
BOUND_MEMORY, GROWTH = 130, 10  # MB, percent: 112 and 2 were measured


def anonymized(bench, capture):
    path = bench.file("audited.pcapng")
    bench.run([bench.nfsdigest, "anonymize", "--policy", "public", "--key", bench.key(), "-o", path,
               capture])
    return path


def audit(bench, capture, path):
    return bench.run([bench.nfsdigest, "audit", "--json", capture, path])


def speed(bench, packets, capture, rounds, report):
    path = anonymized(bench, capture)
    times = {"sha256sum": [], "audit": []}
    cpu = {"sha256sum": [], "audit": []}
    for _ in range(rounds):
        for name in times:
            bench.cpu = 0
            seconds = audit(bench, capture, path)[0] if name == "audit" else \
                bench.run(["sha256sum", capture, path])[0]
            times[name].append(seconds)
            cpu[name].append(bench.cpu)
    t = {name: statistics.median(values) for name, values in times.items()}
    size = os.path.getsize(path) / 10**6
    print("%.0f MB anonymized, of %.0f MB, medians of %d rounds" % (
        size, os.path.getsize(capture) / 10**6, rounds))
    for name, seconds in t.items():
        print("  %-14s %8.2f s  %8.1f MB/s  CPU %6.2f s  (%s)" % (
            name, seconds, size / seconds, statistics.median(cpu[name]),
            " ".join("%.2f" % v for v in times[name])))
    report.add("audit, of what is searched", size / t["audit"], "MB/s", BOUND, True)
    report.add("audit, times sha256sum's time", t["audit"] / t["sha256sum"], "x", PEER, False)
    os.unlink(path)
    return t


def memory(bench, sizes, report):
    peaks = []
    for packets in sizes:
        capture = bench.capture(packets)
        path = anonymized(bench, capture)
        peaks.append(audit(bench, capture, path)[1][0] / 10**6)
        os.unlink(path)
    report.add("audit, peak at %d" % sizes[1], peaks[1], "MB", BOUND_MEMORY, False)
    report.add("audit, peak's growth", 100 * abs(peaks[1] / peaks[0] - 1), "%", GROWTH, False)
