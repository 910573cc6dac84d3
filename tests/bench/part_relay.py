# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "relay" of run.py: nfstee relay, with its ring and without, beside HAProxy in TCP mode
(haproxy.cfg), socat, and no relay, all before one ftnfsd, in turns.  Calls a second, latency, and the
relay's CPU a call.  And the latency beside readers of the ring that are stopped or killed, in pairs with
runs without readers; and that of clients at half of the relay's load with a shadow that works, is stopped, or
is killed, in pairs with runs without one."""
import os
import pathlib
import re
import shutil
import socket
import statistics
import signal
import subprocess
import sys
import tempfile
import threading
import time

import part_live

SECONDS = 2
CLIENTS = 16
SLOWER, CPU_MOST = 3, 15  # % than HAProxy; us of a call
READERS, LATER = 3, 105  # that are stopped, and as many that are killed; % of the 99th percentile
PAIRS = 3  # of runs with readers and without, in a round
SHADOWED = {"works": 110, "is stopped": 105, "is killed": 105}  # % of the 99th percentile without a shadow
PACED = 4  # clients at half load
HERE = pathlib.Path(__file__).resolve().parent


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.01)
    raise SystemExit("nothing listens at port %d" % port)


def nfstee(bench, server, *options):
    process = subprocess.Popen([str(bench.build / "bin" / "nfstee"), "relay", "--listen",
                                "127.0.0.1:0", "--to", "127.0.0.1:%s" % server, "--for", "1200s",
                                *options], stdout=subprocess.PIPE, text=True)
    return process, int(re.search(r":(\d+) to", process.stdout.readline())[1])


def other(program, server):
    """HAProxy or socat, which makes a process for each connection: its CPU is not measured."""
    path, port = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"), free_port()
    if not path:
        print("NOT RUN: %s is not installed" % program)
        return None
    words = {"haproxy": ["-db", "-f", str(HERE / "haproxy.cfg")],
             "socat": ["TCP-LISTEN:%d,bind=127.0.0.1,fork,reuseaddr,nodelay" % port,
                       "TCP:127.0.0.1:%s,nodelay" % server]}[program]
    process = subprocess.Popen([path, *words], env={**os.environ, "RELAY_PORT": str(port),
                                                    "SERVER_PORT": str(server)},
                               stderr=subprocess.DEVNULL)
    wait_for(port)
    return process, port


def load(bench, pid, port, clients, rate=0):
    """(calls a second, median us, 99th percentile us, us of the relay's CPU a call) of GETATTR.  |rate|: calls
    a second of each client, or as many as it can."""
    words = [str(bench.tools / "bench_nfs"), "127.0.0.1", str(port), str(port), "/a", "getattr", "1",
             str(SECONDS), "100", str(rate)]
    all_of_them = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                   for _ in range(clients)]
    for process in all_of_them:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("bench_nfs failed")
    before = part_live.cpu_of(pid)
    for process in all_of_them:
        process.stdin.write("\n")
        process.stdin.flush()
    found = [[float(x) for x in process.communicate()[0].split()] for process in all_of_them]
    cpu = part_live.cpu_of(pid) - before
    rates, medians, late, counts = zip(*found)
    return sum(rates), statistics.median(medians), statistics.median(late), cpu / sum(counts) * 1e6


def reader(ring):
    """A process that has attached itself, and sleeps."""
    gen = str(HERE.parent / "gen")
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys, time; sys.path.insert(0, %r); from tee_ring import Ring; "
         "r = Ring(%r); print(flush=True); time.sleep(60)" % (gen, ring)], stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def load_with_readers(bench, way, ring):
    """load, while readers are stopped, and others are killed one after the other."""
    stopped, killed = ([reader(ring) for _ in range(READERS)] for _ in range(2))
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    timers = [threading.Timer(SECONDS * (i + 1) / (READERS + 1), process.kill)
              for i, process in enumerate(killed)]
    for timer in timers:
        timer.start()
    found = load(bench, way[0].pid, way[1], 1)
    for timer in timers:
        timer.join()
    for process in stopped + killed:
        process.kill()
        process.communicate()
    return found


def beside_readers(bench, server, rounds, report):
    """The 99th percentile with readers as a share of that without, in pairs of runs, of which each
    second one is turned round."""
    ring = str(bench.build / "bench" / "scratch" / "readers")
    way = nfstee(bench, server, "--attach", ring, "--ring", "1M")
    shares = []
    for i in range(PAIRS * rounds):
        late = {}
        for readers in (False, True) if i % 2 else (True, False):
            late[readers] = (load_with_readers(bench, way, ring) if readers else
                             load(bench, way[0].pid, way[1], 1))[2]
        shares.append(100 * late[True] / late[False])
    way[0].terminate()
    way[0].wait()
    print("  p99 with readers, %% of that without: %s" % " ".join("%.0f" % s for s in sorted(shares)))
    report.add("nfstee beside stopped and killed readers, 99th percentile",
               statistics.median(shares), "%", LATER, False)
    return shares


def follower(bench, way, ring, sut, log):
    """A shadow that compares all requests."""
    place = "nfs://127.0.0.1/a?nfsport=%s&mountport=%s"
    control = ring + ".control"
    process = subprocess.Popen([str(bench.build / "bin" / "nfstee"), "shadow", "--attach", ring, "--relay",
                                place % (way[1], way[1]), "--sut", place % (sut, sut), "--log", log,
                                "--control", control, "--overwrite", "--quiet"])
    for _ in range(1200):
        told = subprocess.run([str(bench.build / "bin" / "nfstee"), "ctl", control, "statistics"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
        if b'"synchronized":true' in told:
            return process
        time.sleep(0.05)
    raise SystemExit("the shadow does not synchronize")


def load_with_shadow(bench, way, ring, sut, fate, rate):
    """load, while there is a shadow that |fate| becomes of."""
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        process = follower(bench, way, ring, sut, folder + "/log")
        if fate == "is stopped":
            process.send_signal(signal.SIGSTOP)
        timer = threading.Timer(SECONDS / 2, process.kill if fate == "is killed" else lambda: None)
        timer.start()
        found = load(bench, way[0].pid, way[1], PACED, rate)
        timer.join()
        process.kill()
        process.wait()
        pathlib.Path(ring + ".control").unlink(missing_ok=True)
    return found


def beside_shadow(bench, rounds, report):
    """As beside_readers, for each fate of a shadow."""
    (server, where), (other_server, sut) = (part_live.ftnfsd(bench, export="/a(no_root_squash)")
                                               for _ in range(2))
    ring = str(bench.scratch / "shadowed")
    way = nfstee(bench, where[1], "--attach", ring)
    most = statistics.median(load(bench, way[0].pid, way[1], PACED)[0] for _ in range(3))
    rate, found = most / 2 / PACED, {}
    for fate, bound in SHADOWED.items():
        shares = []
        for i in range(PAIRS * rounds):
            late = {}
            for with_it in (False, True) if i % 2 else (True, False):
                late[with_it] = (load_with_shadow(bench, way, ring, sut[1], fate, rate) if with_it else
                                 load(bench, way[0].pid, way[1], PACED, rate))[2]
            shares.append(100 * late[True] / late[False])
        print("  p99 at half load (%.0f /s), the shadow %s, %% of that without: %s" % (
            most / 2, fate, " ".join("%.0f" % s for s in sorted(shares))))
        report.add("nfstee at half load, 99th percentile, the shadow " + fate, statistics.median(shares), "%",
                   bound, False)
        found[fate] = shares
    for process in way[0], server, other_server:
        process.terminate()
        process.wait()
    return found


def speed(bench, packets, capture, rounds, report):
    server, where = part_live.ftnfsd(bench)
    ring = str(bench.build / "bench" / "scratch" / "ring")
    ways = {"direct": (server, where[1]), "nfstee, ring": nfstee(bench, where[1], "--attach", ring),
            "nfstee, no ring": nfstee(bench, where[1]), "HAProxy": other("haproxy", where[1]),
            "socat": other("socat", where[1])}
    found = {}
    for clients in 1, CLIENTS:
        runs = {name: [] for name, way in ways.items() if way}
        for _ in range(rounds):
            for name in runs:
                process, port = ways[name]
                runs[name].append(load(bench, process.pid, port, clients))
        for name, values in runs.items():
            found[name, clients] = [statistics.median(v) for v in zip(*values)]
            print("  %-16s %2d clients %9.0f /s %8.1f us median %8.1f us p99 %6.2f us CPU" % (
                name, clients, *found[name, clients]))
    shares = beside_readers(bench, where[1], rounds, report)
    shadowed = beside_shadow(bench, rounds, report)
    for process, _ in filter(None, ways.values()):
        process.terminate()
        process.wait()
    for clients in 1, CLIENTS:
        ours = found["nfstee, ring", clients]
        report.add("nfstee with ring, CPU of a call, %d clients" % clients, ours[3], "us", CPU_MOST,
                   False)
        if ("HAProxy", clients) in found:
            theirs = found["HAProxy", clients]
            report.add("nfstee with ring, rate of HAProxy's, %d clients" % clients,
                       100 * ours[0] / theirs[0], "%", 100 - SLOWER, True)
            report.add("nfstee with ring, CPU of HAProxy's, %d clients" % clients,
                       100 * ours[3] / theirs[3], "%", 100, False)
    return {"p99 with readers": shares, "p99 with a shadow": shadowed, **{"%s %d" % key: value for key, value in found.items()}}


def memory(bench, sizes, report):
    """The relay's memory is bounded by what it holds back: tests/pipeline/nfstee_relay.py."""
