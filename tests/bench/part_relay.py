# SPDX-License-Identifier: GPL-2.0-or-later
"""The part "relay" of run.py: nfstee relay, with its ring and without, beside HAProxy in TCP mode
(haproxy.cfg), socat, and no relay, all before one ftnfsd, in turns of short windows (ways.py): calls a second,
latency, and the relay's CPU a call.  Most of that is what any relay needs to sleep and to wake others up, which
differs from hour to hour on one machine; so a loop that only passes bytes on (bench_bare.c) has turns, too.
Then the latency beside readers of the ring that are stopped or killed; and that of clients at half load with a
shadow that works, is stopped, or is killed.  Shares are told with the interval that the windows leave, and that
of the relay beside its twin, for which only 100 % is true."""
import os
import pathlib
import re
import shutil
import socket
import signal
import subprocess
import sys
import tempfile
import threading
import time

import part_live
import ways

SLOWER, CPU_MOST, CPU_SHARE = 3, 15, 105  # % than HAProxy; us of a call; % of the bare loop's
SLOW, LOST = "200us", 12  # a server's time; % of its calls a second that a lone client may lose by a relay
# operation, clients, the server's time; windows of SECONDS in each round
LOADS = [("getattr", 1, None), ("getattr", 16, None), ("getattr", 1, SLOW), ("getattr", 16, SLOW),
         ("read", 1, None)]
WINDOWS, SECONDS = 5, 0.1
READERS, LATER = 3, 105  # that are stopped, and as many that are killed; % of the 99th percentile
READER_WINDOWS, READER_SECONDS = 2, 0.5
SHADOWED = {"works": 110, "is stopped": 105, "is killed": 105}  # % of the 99th percentile without a shadow
PACED, PACED_WINDOWS, PACED_SECONDS = 4, 3, 0.5  # clients at half load
STEADY, STEADY_SECONDS = 0.97, 0.5  # of what is due is done when a pace is kept up
OURS, TWIN, NO_RING, DIRECT = "nfstee, ring", "nfstee, its twin", "nfstee, no ring", "direct"
BARE = "a bare loop"
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


def bare(bench, server):
    process = subprocess.Popen([str(bench.tools / "bench_bare"), server], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


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


def end(*processes):
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait()
        if process.stdout:
            process.stdout.close()


LATE = ways.p99, ways.p99_of_windows


def tell_shares(what, one, other_one, of=LATE):
    print("  %-34s" % what + ";".join(" %s %.1f %% (%.1f to %.1f)" % (
        f.__name__.replace("_", " "), *ways.share(f, one, other_one)) for f in of), flush=True)


# --- beside other relays

def one_load(bench, load, rounds):
    """{way: windows}"""
    operation, clients, delay = load
    server, where = part_live.ftnfsd(bench, *(("--fault", "*:delay=" + delay) if delay else ()))
    rings = [str(bench.scratch / name) for name in ("ring", "twin")]
    all_of_them = {DIRECT: (server, where[1]), OURS: nfstee(bench, where[1], "--attach", rings[0]),
                   TWIN: nfstee(bench, where[1], "--attach", rings[1]), NO_RING: nfstee(bench, where[1]),
                   BARE: bare(bench, where[1]),
                   "HAProxy": other("haproxy", where[1]), "socat": other("socat", where[1])}
    there = {name: way for name, way in all_of_them.items() if way}
    with ways.Load(bench.tools, operation, clients,
                   {name: (port, process.pid) for name, (process, port) in there.items()}) as generator:
        generator.turns(1, SECONDS)  # to get warm
        found = generator.turns(rounds * WINDOWS, SECONDS)
    end(*(process for process, _ in there.values()))
    return found


def words_of(load):
    operation, clients, delay = load
    return "%s%s of %d client%s" % ("1 MiB READ" if operation == "read" else "GETATTR",
                                    ", a server of " + delay if delay else "", clients, "s" * (clients > 1))


def beside_others(bench, load, rounds, report):
    found, what = one_load(bench, load, rounds), words_of(load)
    print(what, flush=True)
    for name, windows in found.items():
        print("  %-16s %9.0f /s %8.1f us median %8.1f us p99 %s" % (
            name, ways.rate(windows), ways.p50(windows), ways.p99(windows),
            "%7.2f us CPU" % ways.cpu(windows) if name != "socat" else ""), flush=True)
    ours = found[OURS]
    for name in filter(found.get, (TWIN, "HAProxy", BARE)):
        tell_shares("of %s's" % name, ours, found[name], (ways.rate, ways.p50, *LATE, ways.cpu))
    for of in (ways.rate, ways.p50, ways.p99) if "HAProxy" in found else ():
        report.add("relay, %s, %s of HAProxy's" % (what, of.__name__),
                   ways.share(of, ours, found["HAProxy"])[0], "%",
                   100 - SLOWER if of is ways.rate else 100 + SLOWER, of is ways.rate)
    if load[0] == "getattr" and not load[2]:
        report.add("relay, %s, CPU of a call" % what, ways.cpu(ours), "us", CPU_MOST, False)
        report.add("relay, %s, CPU of a call, of the bare loop's" % what,
                   ways.share(ways.cpu, ours, found[BARE])[0], "%", CPU_SHARE, False)
    if load[1:] == (1, SLOW):
        tell_shares("of the server's own", ours, found[DIRECT], (ways.rate,))
        report.add("relay, %s, rate of the server's own" % what,
                   ways.share(ways.rate, ours, found[DIRECT])[0], "%", 100 - LOST, True)
    return {name: [ways.rate(w), ways.p50(w), ways.p99(w), ways.cpu(w)] for name, w in found.items()}


# --- beside readers

def reader(bench, ring):
    """A process that has attached itself, and sleeps."""
    process = subprocess.Popen([str(bench.tools / "bench_reader"), ring], stdout=subprocess.PIPE)
    if not process.stdout.readline():
        raise SystemExit("bench_reader: exit %d" % process.wait())
    return process


class Killed:
    """Processes that are killed one after the other during a window, and made anew before the next."""

    def __init__(self, make, count, seconds):
        self.make, self.count, self.seconds, self.now = make, count, seconds, []

    def again(self, live=True):
        """|live|: false: they are gone before the window already; all else is the same, since what happens just
        before calls, or beside them, makes them slower or faster."""
        self.gone()
        made = self.now = [self.make() for _ in range(self.count)]
        if not live:
            self.gone()
        time.sleep(0.1)
        for i, process in enumerate(made):
            threading.Timer(self.seconds * (i + 1) / (self.count + 1), process.kill).start()

    def gone(self):
        for process in self.now:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        self.now = []


def beside_readers(bench, rounds, report):
    """The 99th percentile of a lone client with readers as a share of that without."""
    server, where = part_live.ftnfsd(bench)
    rings = [str(bench.scratch / name) for name in ("none", "twin", "readers")]
    relays = dict(zip(("none", "none either", "readers"),
                      (nfstee(bench, where[1], "--attach", ring, "--ring", "1M") for ring in rings)))
    stopped = [reader(bench, rings[-1]) for _ in range(READERS)]
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    killed = Killed(lambda: reader(bench, rings[-1]), READERS, READER_SECONDS)
    with ways.Load(bench.tools, "getattr", 1, {name: (port, process.pid)
                                               for name, (process, port) in relays.items()}) as generator:
        found = generator.turns(rounds * READER_WINDOWS, READER_SECONDS,
                                before=lambda name: killed.again(name == "readers"))
    killed.gone()
    for process in stopped:
        process.kill()
    end(*stopped, *(process for process, _ in relays.values()), server)
    print("a lone client beside readers, of that without them", flush=True)
    tell_shares("no readers either", found["none either"], found["none"])
    tell_shares("%d stopped, %d killed" % (READERS, READERS), found["readers"], found["none"])
    share = ways.share(ways.p99, found["readers"], found["none"])
    report.add("relay beside stopped and killed readers, p99 of that without", share[0], "%", LATER, False)
    return share


# --- beside shadows

def last_of_all(pid):
    """The process runs when no other wants to."""
    os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))


class Shadow:
    """nfstee shadow, which compares all requests that pass the relay at |way|.  It takes no time from
    others, as nfstee-shadow.service has it; nor does its server, which stands elsewhere in earnest."""

    def __init__(self, bench, way, name):
        self.bench, self.name, self.ring = bench, name, str(bench.scratch / name.replace(" ", "-"))
        self.folder = tempfile.TemporaryDirectory(dir=bench.scratch)
        self.way, (self.sut, self.where) = way, part_live.ftnfsd(bench, export="/a(no_root_squash)")
        last_of_all(self.sut.pid)

    def statistics(self):
        return subprocess.run([str(self.bench.build / "bin" / "nfstee"), "ctl", self.ring + ".control",
                               "statistics"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False).stdout

    def start(self):
        place = "nfs://127.0.0.1/a?nfsport=%s&mountport=%s"
        pathlib.Path(self.ring + ".control").unlink(missing_ok=True)
        words = [str(self.bench.build / "bin" / "nfstee"), "shadow", "--attach", self.ring,
                 "--relay", place % (self.way, self.way), "--sut", place % (self.where[1], self.where[1]),
                 "--log", tempfile.mkdtemp(dir=self.folder.name) + "/log", "--control",
                 self.ring + ".control", "--overwrite", "--quiet"]
        process = subprocess.Popen(words, preexec_fn=lambda: last_of_all(0))
        for _ in range(1200):
            if b'"synchronized":true' in self.statistics():
                return process
            time.sleep(0.02)
        raise SystemExit("the shadow does not synchronize")

    def end(self):
        end(self.sut)
        self.folder.cleanup()


def keeps_up(generator, shadow, pace):
    """Whether the clients and the shadow do all that is due at |pace| while it is due."""
    def seen():
        return int(re.search(rb'"all":(\d+)', shadow.statistics())[1])

    before = -1
    while before != (before := seen()):  # what was too much before is done first
        time.sleep(0.1)
    window = generator.window(shadow.name, STEADY_SECONDS, pace)
    time.sleep(0.05)
    return min(window.rate / pace, (seen() - before) / window.calls) >= STEADY


def half_load(generator, shadow):
    """Half of the pace that clients and a shadow that works can keep up.  Clients that call at a pace sleep between
    calls, so all have to be woken up more often: they keep up less than clients that call as they can."""
    fits, least, most = 0, 500, 64000
    while least * 1.1 < most:
        pace = (least * most) ** 0.5
        if any(keeps_up(generator, shadow, pace) for _ in range(2)):
            fits = least = pace
        else:
            most = pace
    if not fits:
        raise SystemExit("the shadow does not keep up with any load")
    return fits / 2


def beside_shadows(bench, rounds, report):
    """The 99th percentile at half load with a shadow as a share of that without."""
    server, where = part_live.ftnfsd(bench, export="/a(no_root_squash)")
    names = ["none", "none either", *SHADOWED]
    relays = {name: nfstee(bench, where[1], "--attach", str(bench.scratch / name.replace(" ", "-")))
              for name in names}
    with ways.Load(bench.tools, "getattr", PACED, {name: (port, process.pid)
                                                   for name, (process, port) in relays.items()}) as generator:
        shadows = {name: Shadow(bench, relays[name][1], name) for name in SHADOWED}
        works, stopped = shadows["works"].start(), shadows["is stopped"].start()
        stopped.send_signal(signal.SIGSTOP)
        killed = Killed(shadows["is killed"].start, 1, PACED_SECONDS)

        pace = half_load(generator, shadows["works"])
        time.sleep(1)
        found = generator.turns(rounds * PACED_WINDOWS, PACED_SECONDS, pace,
                                before=lambda name: killed.again(name == "is killed"))
        told = shadows["works"].statistics()
        killed.gone()
    for process in works, stopped:
        process.kill()
        process.wait()
    for shadow in shadows.values():
        shadow.end()
    end(*(process for process, _ in relays.values()), server)
    counts = re.findall(r'"(?:all|compared)":\d+', told.decode())[:2]
    print("%d clients at half load (%.0f /s), of that without a shadow (p99 %.1f us)" % (
        PACED, pace, ways.p99(found["none"])), flush=True)
    print("  requests of the shadow that works: " + " ".join(counts))
    tell_shares("no shadow either", found["none either"], found["none"])
    for name, bound in SHADOWED.items():
        tell_shares("the shadow " + name, found[name], found["none"])
        report.add("relay at half load, the shadow %s, p99 of that without" % name,
                   ways.share(ways.p99, found[name], found["none"])[0], "%", bound, False)
    return {name: ways.share(ways.p99, windows, found["none"]) for name, windows in found.items()}


def speed(bench, packets, capture, rounds, report):
    found = {words_of(load): beside_others(bench, load, rounds, report) for load in LOADS}
    return {"p99 with readers": beside_readers(bench, rounds, report),
            "p99 with a shadow": beside_shadows(bench, rounds, report), **found}


def memory(bench, sizes, report):
    """The relay's memory is bounded by what it holds back: tests/pipeline/nfstee_relay.py."""
