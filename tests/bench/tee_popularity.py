#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How soon the requests of clients can be compared, with the order by popularity and without it: figure 6
of the paper about the live Tee.

    tee_popularity.py [--files 25000] [--bytes 568000000] [--seconds 90] [--jobs 4] [--plot FILE.svg]
                      [--json FILE]          environment: BUILD

A tree of 25 projects is copied at a rate with which that takes 90 s.  Meanwhile one of the projects is
built: each job reads a source and some of its headers, waits as long as a compiler works, and writes an
object.  Both ftnfsd keep all files in memory, so this takes twice --bytes, and some four minutes.
Ends with 1 if less than 90 % of the requests between the 10th and the 15th second were compared."""
import argparse
import json
import random
import sys
import tempfile
import threading
import time

from tee_figures import draw, relay, server, shadow

from live_client import Client
from model_xdr import (ACCESS, COMMIT, CREATE, GETATTR, GUARDED, LOOKUP, MKDIR, OK, READ, UNCHECKED, WRITE)

PROJECTS, DIRECTORIES, BUILT = 25, 20, 15
HEADERS = 5  # each so many files is a header
COMPILING = 0.15  # s
BY, NEARLY_ALL = 10, 90


class Tree:
    """/pNN/dNN/fNNN; a project's first files are its headers."""

    def __init__(self, client, root, files, total):
        self.handles, self.sizes = {(): root}, {}
        rng = random.Random(6)
        weights = [rng.lognormvariate(0, 1) for _ in range(files)]
        scale = total / sum(weights)
        each = files // (PROJECTS * DIRECTORIES)
        for p in range(PROJECTS):
            self.directory(client, (b"p%02d" % p,))
            for d in range(DIRECTORIES):
                self.directory(client, (b"p%02d" % p, b"d%02d" % d))
                for f in range(each):
                    self.file(client, (b"p%02d" % p, b"d%02d" % d, b"f%03d" % f),
                              max(64, int(weights.pop() * scale)))
        self.directory(client, (b"p%02d" % BUILT, b"objects"))
        self.count = PROJECTS * DIRECTORIES * each

    def directory(self, client, path):
        status, made = client.nfs(MKDIR, {"object": self.handles[path[:-1]], "name": path[-1],
                                          "settings": {"mode": 0o755}})
        assert status == OK, status
        self.handles[path] = made["handle"]

    def file(self, client, path, size):
        status, made = client.nfs(CREATE, {"object": self.handles[path[:-1]], "name": path[-1],
                                           "how": GUARDED, "settings": {"mode": 0o644}})
        assert status == OK, status
        self.handles[path], self.sizes[path] = made["handle"], size
        for offset in range(0, size, 1 << 18):
            part = min(1 << 18, size - offset)
            client.nfs(WRITE, {"object": made["handle"], "offset": offset, "count": part, "stable": 0,
                               "data": [(part, 1 + offset % 250)]})


class Job(threading.Thread):
    """A make's job.  What it knows of handles, it has looked up."""

    def __init__(self, at, tree, sources, headers, number, stop):
        super().__init__(daemon=True)
        self.client, self.tree, self.stop = Client(at), tree, stop
        self.sources, self.headers = sources, headers
        self.rng, self.seen = random.Random(number), set()
        self.compiled = 0

    def look(self, path):
        parent = self.tree.handles[path[:-1]]
        return self.client.nfs(LOOKUP, {"object": parent, "name": path[-1]})[1]["handle"]

    def read(self, path):
        """As a client with a cache does it: contents only once."""
        handle = self.look(path)
        self.client.nfs(GETATTR, {"object": handle})
        self.client.nfs(ACCESS, {"object": handle, "access": 1})
        if path in self.seen:
            return
        self.seen.add(path)
        for offset in range(0, self.tree.sizes[path], 65536):
            self.client.nfs(READ, {"object": handle, "offset": offset, "count": 65536})

    def compile(self, source):
        self.read(source)
        for header in self.rng.choices(self.headers, k=10):
            self.read(header)
        self.stop.wait(COMPILING)
        folder = self.tree.handles[(source[0], b"objects")]
        status, made = self.client.nfs(CREATE, {"object": folder, "name": b"-".join(source[1:]) + b".o",
                                                "how": UNCHECKED, "settings": {"mode": 0o644, "size": 0}})
        assert status == OK, status
        self.client.nfs(WRITE, {"object": made["handle"], "offset": 0, "count": 20000, "stable": 0,
                                "data": [(20000, 7)]})
        self.client.nfs(COMMIT, {"object": made["handle"], "offset": 0, "count": 0})
        self.client.nfs(GETATTR, {"object": made["handle"]})

    def run(self):
        while not self.stop.is_set():
            self.compile(self.sources[self.compiled % len(self.sources)])
            self.compiled += 1


def jobs_of(at, tree, count, stop):
    project = b"p%02d" % BUILT
    paths = sorted(p for p in tree.sizes if p[0] == project)
    headers, sources = paths[:len(paths) // HEADERS], paths[len(paths) // HEADERS:]
    return [Job(at, tree, sources[i::count], headers, i, stop) for i in range(count)]


def watch(s, began, most):
    """[(s, requests, compared, objects, synchronized)] until all is synchronized."""
    points = []
    while True:
        told = s.statistics()
        objects = {k: v for k, v in told["objects"].items() if k not in ("memory", "gone", "excluded")}
        points.append((time.monotonic() - began, told["requests"]["all"], told["requests"]["compared"],
                       sum(objects.values()), objects["synchronized"]))
        if points[-1][0] > most or (told["synchronized"] and points[-1][0] > most / 4):
            return points, told
        time.sleep(1)


def one(order, options):
    """Both servers anew: they begin alike."""
    stop = threading.Event()
    with tempfile.TemporaryDirectory() as folder, server() as reference, server() as sut, \
            relay(reference.port, "--attach", folder + "/ring") as at:
        client = Client(reference)
        tree = Tree(client, client.mount(b"/a"), options.files, options.bytes)
        rate = options.bytes / options.seconds
        jobs = jobs_of(at, tree, options.jobs, stop)
        for job in jobs:
            job.start()
        time.sleep(2)
        began = time.monotonic()
        with shadow(folder, at, sut, "--order", order, "--sync-rate", "%d" % rate) as s:
            points, told = watch(s, began, options.seconds * 1.6)
            stop.set()
            for job in jobs:
                job.join()
            code, totals, _ = s.stop()
        if not all(job.compiled for job in jobs):
            raise SystemExit("a job has failed")
        print("%-10s %d files, %d compiled; synchronized after %.0f s; %d of %d requests compared, "
              "%d differ, exit code %d" % (
                  order, tree.count, sum(j.compiled for j in jobs), points[-1][0],
                  totals["requests"]["compared"], totals["requests"]["all"],
                  totals["verdicts"]["differ"], code), flush=True)
        for group in json.loads((s.log / "summary.json").read_text())["groups"]:
            print("  differs: %(operation)s %(field)s %(difference)s, %(count)d times, %(first)s" % group)
        return points


def shares(points):
    """[(s, % of the requests since the point before that were compared)]"""
    found = []
    for a, b in zip(points, points[1:]):
        if b[1] > a[1]:
            found.append((b[0], 100 * (b[2] - a[2]) / (b[1] - a[1])))
    return found


def between(points, first, last):
    inside = [p for p in points if first <= p[0] <= last]
    a, b = inside[0], inside[-1]
    return 100 * (b[2] - a[2]) / max(1, b[1] - a[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=25000)
    parser.add_argument("--bytes", type=int, default=568_000_000)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--plot")
    parser.add_argument("--json")
    options = parser.parse_args()
    found = {order: one(order, options) for order in ("popularity", "tree")}
    for order, points in found.items():
        reached = [s for s, share in shares(points) if share >= NEARLY_ALL]
        print("%-10s %.1f %% compared between %d and %d s; first %d %% at %.0f s" % (
            order, between(points, BY, BY + 5), BY, BY + 5, NEARLY_ALL, reached[0] if reached else -1))
    if options.plot:
        looks = {"popularity": (0, "by popularity"), "tree": (1, "by tree")}
        draw(options.plot, "Requests that can be compared while files are copied",
             "%d files with %.0f MB, copied at %.1f MB/s while one of 25 projects is built." % (
                 options.files, options.bytes / 1e6, options.bytes / options.seconds / 1e6),
             "seconds linear Time since the shadow began", [
                 ("number linear Requests compared (%)", [
                     ("line", *looks[o], shares(p)) for o, p in found.items()]),
                 ("number linear Objects synchronized (%)", [
                     ("line", *looks[o], [(q[0], 100 * q[4] / max(1, q[3])) for q in p])
                     for o, p in found.items()])])
    if options.json:
        with open(options.json, "w") as out:
            json.dump(found, out, indent=1)
    return 0 if between(found["popularity"], BY, BY + 5) >= NEARLY_ALL else 1


if __name__ == "__main__":
    sys.exit(main())
