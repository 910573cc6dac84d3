#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a relay costs clients: figure 5 of the paper about the live Tee.

    tee_postmark.py [--rounds 3] [--seconds 1] [--delay TIME]... [--plot FILE.svg] [--json FILE]
    environment: BUILD

PostMark's transactions (bench_postmark.c) of 1 to 16 clients: directly, through nfstee relay, through it
with a shadow and a second server, and through HAProxy in TCP mode, in turns.  Each way has a server of its
own, which takes the time of --delay for each call: each of 0us and 200us, if none is given.  The shadow has
the priority that its unit gives it, and so has the second server.  Takes some five minutes."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import random
import statistics
import subprocess
import sys
import tempfile
import time

import part_relay
from tee_figures import HERE, TOOLS, draw, relay, server, shadow

CLIENTS, DELAYS = (1, 2, 4, 8, 16), ("0us", "200us")
DIRECT, RELAY, SHADOW, HAPROXY = "direct", "nfstee relay", "relay with shadow", "HAProxy"


def haproxy(port):
    path = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
    if not path:
        print("NOT RUN: haproxy is not installed")
        return None, 0
    own = part_relay.free_port()
    process = subprocess.Popen([path, "-db", "-f", str(HERE / "haproxy.cfg")], stderr=subprocess.DEVNULL,
                               env={**os.environ, "RELAY_PORT": str(own), "SERVER_PORT": str(port)})
    part_relay.wait_for(own)
    return process, own


def postmark(port, clients, seconds):
    """(transactions a second, calls a second)"""
    words = [str(TOOLS / "bench_postmark"), "127.0.0.1", str(port), str(port), "/a", str(seconds)]
    processes = [subprocess.Popen([*words, str(i + 1)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True) for i in range(clients)]
    for process in processes:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("bench_postmark failed")
    time.sleep(0.2)
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    found = [[float(x) for x in process.stdout.readline().split()] for process in processes]
    for process in processes:
        process.communicate()
    return sum(t / s for t, _, s in found), sum(c / s for _, c, s in found)


@contextlib.contextmanager
def ways(folder, delay):
    """{way: (port, the shadow or None)}"""
    with contextlib.ExitStack() as stack:
        slow = ("--fault", "*:delay=" + delay) if float(delay.rstrip("nums")) else ()
        servers = [stack.enter_context(server(*slow)) for _ in range(5)]
        found = {DIRECT: (servers[0].port, None)}
        at = stack.enter_context(relay(servers[1].port, "--attach", folder + "/alone"))
        found[RELAY] = at.port, None
        at = stack.enter_context(relay(servers[2].port, "--attach", folder + "/ring"))
        found[SHADOW] = at.port, stack.enter_context(shadow(folder, at, servers[3]))
        for behind in found[SHADOW][1], servers[3]:
            os.setpriority(os.PRIO_PROCESS, behind.process.pid, part_relay.NICE)
        process, port = haproxy(servers[4].port)
        if process:
            found[HAPROXY] = port, None
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield found


def measure(delay, options):
    """{way: {clients: [transactions a second]}}, what the shadow says, and what differs"""
    rng = random.Random(5)
    with tempfile.TemporaryDirectory() as folder, ways(folder, delay) as there:
        found = {way: {n: [] for n in CLIENTS} for way in there}
        for _ in range(options.rounds):
            for clients in CLIENTS:
                for way in rng.sample(list(there), len(there)):
                    port, follower = there[way]
                    found[way][clients].append(postmark(port, clients, options.seconds)[0])
                    if follower:
                        follower.settle()
        told = there[SHADOW][1].settle()
        summary = json.loads((there[SHADOW][1].log / "summary.json").read_text())
        return found, told, summary["groups"]


def show(delay, found, told, groups):
    """The medians."""
    medians = {way: {n: statistics.median(v) for n, v in of.items()} for way, of in found.items()}
    print("a server that takes %s: transactions a second, medians of %d" % (delay, len(found[DIRECT][1])))
    print("%-18s" % "clients" + "".join("%14d" % n for n in CLIENTS))
    for way, of in medians.items():
        print("%-18s" % way + "".join("%8.0f %4.0f%%" % (v, 100 * v / medians[DIRECT][n])
                                      for n, v in of.items()))
    requests = told["requests"]
    print("with the shadow: %d requests, %d compared, %s; %d differ" % (
        requests["all"], requests["compared"], ", ".join("%d %s" % (v, k) for k, v in requests.items()
                                                         if v and k not in ("all", "compared")),
        told["verdicts"]["differ"]), flush=True)
    for group in groups:
        print("  differs: %(operation)s %(field)s %(difference)s, %(count)d times, %(first)s" % group)
    return medians


def panel(delay, medians):
    return "number linear Transactions a second, %s a call" % delay, [
        ("line", i, way, sorted(of.items())) for i, (way, of) in enumerate(medians.items())]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--delay", action="append")
    parser.add_argument("--plot")
    parser.add_argument("--json")
    options = parser.parse_args()
    found, medians = {}, {}
    for delay in options.delay or DELAYS:
        found[delay], told, groups = measure(delay, options)
        medians[delay] = show(delay, found[delay], told, groups)
    if options.plot:
        draw(options.plot, "What a relay costs clients",
             "PostMark's transactions on 500 files of 512 bytes to 9.77 KB for each client; all on one "
             "machine with %d processors." % os.cpu_count(),
             "number log2 Clients", [panel(delay, of) for delay, of in medians.items()])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
