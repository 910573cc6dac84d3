# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of nfsreplay on ftnfsd for tests: a dump is made, the tree is populated, and the dump is played
through a relay, with faults of ftnfsd that begin with the play."""
import collections
import json
import os
import pathlib
import struct
import subprocess

import model_capture
import model_world
import rdump_play
from live_client import Client, Ftnfsd
from messages import NFS, REMOVE
from model_xdr import READDIR
from replay_oracle import Oracle, exchanges, tree_handles
from wire_relay import Relay

failures = []
BIN = pathlib.Path(os.environ.get("BUILD", "build")) / "bin"
LOCKSTEP = ("--order", "trace", "--outstanding", "1", "-c", "1", "--pace", "asap")
REMOVE_CALL = struct.pack(">3I", NFS, 3, REMOVE)


def check(truth, *text):
    if not truth:
        failures.append(text)
        print("FAILED:", *text)


def run(*words, timeout=120, **more):
    return subprocess.run([BIN / "nfsreplay", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=timeout, **more)


def refused(code, said, *words):
    done = run(*words)
    check(done.returncode == code and said in done.stderr, words, done.returncode, done.stderr)


def is_empty(server):
    """Its first export."""
    client = Client(server)
    _, r = client.nfs(READDIR, {"object": client.mount(b"/a"), "cookie": 0, "verifier": bytes(8),
                                "count": 8192})
    client.close()
    return len(r["entries"]) == 2


def ctl(path, *words):
    done = subprocess.run([BIN / "ftnfsd", "ctl", path, *words], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def make_dump(capture, path, *options):
    """A dump with the values of its results."""
    database = str(path) + ".db"
    for words in (["ingest", "-q", "-o", database, capture],
                  ["rdump", "--with-results", *options, "-o", path, database]):
        subprocess.run([BIN / "nfsdigest", *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    os.unlink(database)
    return str(path)


def make_world(path, *options, **world):
    """The dump of a generated trace."""
    capture = str(path) + ".pcap"
    model_capture.record(model_world.World(**world), capture)
    make_dump(capture, path, *options)
    os.unlink(capture)
    return str(path)


class Kept:
    """What nfsreplay kept of a run."""

    def __init__(self, folder):
        self.report = json.loads(pathlib.Path(folder, "report.json").read_text())
        self.mismatches = [json.loads(line) for line in
                           pathlib.Path(folder, "mismatches.jsonl").read_text().splitlines()]
        self.classes = {c["name"]: c["operations"] for c in self.report["classes"] if c["operations"]}

    def ends(self):
        """{(number, class, because)} of those that are listed"""
        return {(m["number"], m["class"], m.get("because")) for m in self.mismatches}


Played = collections.namedtuple("Played", "done kept wires all_wires hits handles links statistics")


def play(scratch, name, dump, faults=(), options=LOCKSTEP, cut=None, server_options=(),
         alter=None):
    """Plays |dump| on a server of its own.  |faults|: rules; |hits|: how often each was met."""
    socket, kept = os.path.join(scratch, "control"), os.path.join(scratch, name)
    with Ftnfsd("--export", "/a", "--control", socket, *server_options) as server:
        done = run("populate", "-q", dump, server.urls[0])
        if done.returncode:
            raise RuntimeError("populate: " + done.stdout + done.stderr)
        client = Client(server)
        handles, links = tree_handles(parsed(dump), client, client.mount(b"/a"))
        client.close()

        first = []  # connection of the player: before it begins, nfsreplay removes a file

        def opened(number):
            if not first and any(REMOVE_CALL in call[12:24] for wire in relay.wires[:number]
                                 for call in wire.calls):
                first.append(number)
                for rule in faults:
                    ctl(socket, "fault-add", rule)

        def cut_play(wire, call):
            return cut(wire, call) if first and wire.number >= first[0] else None

        before = ctl(socket, "statistics")
        def alter_play(wire, call, reply):
            return alter(call, reply) if first and wire.number >= first[0] else reply

        relay = Relay(server.port, opened, cut and cut_play, alter and alter_play)
        with relay:
            done = run("play", *options, "-o", kept, dump, relay.url(server.urls[0]))
        if done.returncode not in (0, 1):
            raise RuntimeError("play: exit %d: %s" % (done.returncode, done.stdout + done.stderr))
        hits = {f["rule"]: f["hits"] for f in ctl(socket, "fault-list")["faults"]}
        after = ctl(socket, "statistics")
    return Played(done, Kept(kept), relay.wires[first[0]:], relay.wires, hits, handles, links,
                  (before, after))


_DUMPS = {}  # they are only read


def parsed(path):
    if path not in _DUMPS:
        _DUMPS[path] = rdump_play.Dump(path)
    return _DUMPS[path]


def judged(dump, played):
    """The oracle's word on a run with LOCKSTEP."""
    oracle = Oracle(parsed(dump), played.handles, played.links, exchanges(played.wires))
    oracle.run()
    return oracle
