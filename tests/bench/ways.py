# SPDX-License-Identifier: GPL-2.0-or-later
"""Short windows of load on several ways to one server (bench_ways.c), in turns, and what they show.

A machine's speed changes from second to second, and a percentile of one run says as much about its neighbours
as about the program.  So ways are compared by many short windows that lie side by side; all times of a way
count together; and the interval of a share comes from drawing rounds of windows again (bootstrap)."""
import pathlib
import random
import statistics
import subprocess

BUCKETS = 128  # an octave; bench_ways.c
DRAWS, SURE = 400, 0.9  # of the bootstrap


def cpu_ns(pid):
    """Of all threads of a process."""
    tasks = pathlib.Path("/proc/%d/task" % pid)
    return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks.iterdir())


def middle(bucket):
    """In ns."""
    octave = bucket // BUCKETS - 1
    return (BUCKETS + bucket % BUCKETS + 0.5) * 2 ** octave


class Window:
    def __init__(self, line, cpu):
        calls, seconds, *times = line.split()
        self.calls, self.rate, self.cpu = int(calls), int(calls) / float(seconds), cpu
        self.times = [tuple(int(n) for n in t.split(":")) for t in times]
        self.p99 = percentile([self], 0.99)


def percentile(windows, share):
    """us, of the times of all windows together."""
    counts = {}
    for window in windows:
        for bucket, count in window.times:
            counts[bucket] = counts.get(bucket, 0) + count
    left = share * sum(counts.values())
    for bucket in sorted(counts):
        left -= counts[bucket]
        if left <= 0:
            return middle(bucket) / 1000
    raise SystemExit("no call was answered")


def rate(windows):
    return statistics.median(w.rate for w in windows)


def p50(windows):
    return percentile(windows, 0.5)


def p99(windows):
    return percentile(windows, 0.99)


def p99_of_windows(windows):
    """The median window's: a window with a burst of other work counts as one, however late its calls are."""
    return statistics.median(w.p99 for w in windows)


def cpu(windows):
    """us of the way's process a call."""
    return sum(w.cpu for w in windows) / sum(w.calls for w in windows) / 1000


def share(of, one, other):
    """|of| (rate, p99, ...) of one way in % of that of the other, and the ends of its interval.  Windows of
    the same place in both lists lay side by side, so they are drawn together."""
    rng, drawn = random.Random(1), []
    for _ in range(DRAWS):
        places = rng.choices(range(len(one)), k=len(one))
        drawn.append(100 * of([one[i] for i in places]) / of([other[i] for i in places]))
    drawn.sort()
    out = int(DRAWS * (1 - SURE) / 2)
    return 100 * of(one) / of(other), drawn[out], drawn[-1 - out]


class Load:
    """One generator for all |ways|: {name: (port, pid or None)}."""

    def __init__(self, tools, operation, clients, ways):
        self.ways, self.names = ways, list(ways)
        self.process = subprocess.Popen([str(tools / "bench_ways"), operation, str(clients),
                                         *(str(port) for port, _ in ways.values())],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("bench_ways failed")

    def window(self, name, seconds, pace=0):
        """|pace|: calls a second of all clients; 0: as many as they can."""
        pid = self.ways[name][1]
        before = cpu_ns(pid) if pid else 0
        self.process.stdin.write("%d %g %g\n" % (self.names.index(name), seconds, pace))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return Window(line, cpu_ns(pid) - before if pid else 0)

    def turns(self, rounds, seconds, pace=0, before=lambda name: None):
        """{name: windows}.  Each round has an order of its own.  |before| is called before each window."""
        found, rng = {name: [] for name in self.names}, random.Random(rounds)
        for _ in range(rounds):
            for name in rng.sample(self.names, len(self.names)):
                before(name)
                found[name].append(self.window(name, seconds, pace))
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
