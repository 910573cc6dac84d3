#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a relay costs clients: figure 5 of the paper about the live Tee.

    tee_postmark.py [--rounds 3] [--seconds 2] [--delay TIME] [--plot FILE.svg] [--json FILE]    environment: BUILD

PostMark's transactions (bench_postmark.c) of 1 to 16 clients: directly, through nfstee relay, through it
with a shadow and a second server, and through HAProxy in TCP mode, in turns.  Each way has a server of its
own, which takes the time of --delay for each call."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from tee_figures import HERE, TOOLS, draw, relay, server, shadow

CLIENTS = 1, 2, 4, 8, 16
DIRECT, RELAY, SHADOW, HAPROXY = "direct", "nfstee relay", "relay with shadow", "HAProxy"


def haproxy(port):
    path = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
    if not path:
        print("NOT RUN: haproxy is not installed")
        return None, 0
    import part_relay
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
    time.sleep(0.5)
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
        slow = ("--fault", "*:delay=" + delay) if delay else ()
        servers = [stack.enter_context(server(*slow)) for _ in range(5)]
        found = {DIRECT: (servers[0].port, None)}
        at = stack.enter_context(relay(servers[1].port, "--attach", folder + "/alone"))
        found[RELAY] = at.port, None
        at = stack.enter_context(relay(servers[2].port, "--attach", folder + "/ring"))
        found[SHADOW] = at.port, stack.enter_context(shadow(folder, at, servers[3]))
        process, port = haproxy(servers[4].port)
        if process:
            found[HAPROXY] = port, None
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield found


def measure(options):
    """{way: {clients: [transactions a second]}}, what the shadow says, and what differs"""
    with tempfile.TemporaryDirectory() as folder, ways(folder, options.delay) as there:
        found = {way: {n: [] for n in CLIENTS} for way in there}
        for _ in range(options.rounds):
            for clients in CLIENTS:
                for way, (port, follower) in there.items():
                    if follower:
                        follower.settle()
                    found[way][clients].append(postmark(port, clients, options.seconds)[0])
        told = there[SHADOW][1].settle()
        summary = json.loads((there[SHADOW][1].log / "summary.json").read_text())
        return found, told, summary["groups"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--delay")
    parser.add_argument("--plot")
    parser.add_argument("--json")
    options = parser.parse_args()
    found, told, groups = measure(options)
    medians = {way: {n: statistics.median(v) for n, v in of.items()} for way, of in found.items()}
    print("transactions a second, medians of %d" % options.rounds)
    print("%-18s" % "clients" + "".join("%14d" % n for n in CLIENTS))
    for way, of in medians.items():
        print("%-18s" % way + "".join("%8.0f %4.0f%%" % (v, 100 * v / medians[DIRECT][n])
                                      for n, v in of.items()))
    requests = told["requests"]
    print("with the shadow: %d requests, %d compared, %s; %d differ" % (
        requests["all"], requests["compared"], ", ".join("%d %s" % (v, k) for k, v in requests.items()
                                                         if v and k not in ("all", "compared")),
        told["verdicts"]["differ"]))
    for group in groups:
        print("  differs: %(operation)s %(field)s %(difference)s, %(count)d times, %(first)s" % group)
    if options.plot:
        draw(options.plot, "What a relay costs clients",
             "PostMark's transactions on 500 files of 512 bytes to 9.77 KB for each client; all on one "
             "machine with %d processors. The servers take %s for a call." % (
                 os.cpu_count(), options.delay or "no time"), "number log2 Clients", [
                 ("number linear Transactions a second", [
                     ("line", i, way, sorted(of.items())) for i, (way, of) in enumerate(medians.items())])])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
