#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow long=-s,3
"""Recovery: from harmed copies of real captures every message that is still there is found, and
none is invented.

    recovery.py [-s SEEDS] [-f FIRST] [-o TEXT] [-k DIRECTORY] [CAPTURE...]
    environment: NFSDIGEST, CAPTURES

The truth comes from the unharmed capture through an independent reader (tests/gen/streams.py).
After loss a message is there if all its bytes are, byte by byte (a byte that was retransmitted
in another frame still is); after a cut to a snap length, if the fixed part of its RPC header is.
No tolerance.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import capfile  # noqa: E402
import database  # noqa: E402
import harm  # noqa: E402
import streams  # noqa: E402

WHOLE = ("knfsd-tcp-mtu1500", "knfsd-udp-frag", "knfsd-netem-tcp", "knfsd-netem-udp", "knfsd-vlan",
         "knfsd-nlm-locks", "vfs-libnfs-all22", "mem-libnfs-all22", "pair-knfsd",
         "pair-ganesha-vfs")
VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors"
SHARES = (0.001, 0.005, 0.01, 0.05)
SNAPLENS = (96, 128, 160, 256, 400)


def find(name):
    """The capture's path without compression, in CAPTURES; None: it is not there."""
    directory = pathlib.Path(os.environ.get("CAPTURES", "captures"))
    for suffix in ".pcap", ".pcapng", ".pcap.zst", ".pcapng.zst":
        path = directory / (name + suffix)
        if path.exists():
            return path
    return None


def load(path, scratch):
    if path.suffix == ".zst":
        plain = scratch / path.stem
        subprocess.run(["zstd", "-q", "-d", "-f", str(path), "-o", str(plain)], check=True)
        path = plain
    return capfile.read(path)


def ends(thing):
    return thing.source, thing.destination


class Judge:
    """Compares what was found in one harmed capture with what is left of the messages."""

    def __init__(self, messages, kept, cut):
        self.wrong, self.numbers, self.cut = [], harm.numbering(kept), cut
        self.there = collections.defaultdict(list)  # (ends, direction, xid) -> [(message, rest)]
        self.must = 0
        for message in messages:
            rest = harm.Rest(message, kept)
            if rest.frames and rest.some:
                self.there[ends(message), message.direction, message.xid].append((message, rest))

    def complain(self, text, message, rest):
        self.wrong.append("%s: %s -> %s xid 0x%08x %s, frames %s" % (
            text, message.source, message.destination, message.xid,
            "reply" if message.direction else "call",
            [self.numbers[f] for f in rest.frames][:6]))

    def fits(self, sighting, rest):
        frames = [self.numbers[f] for f in rest.frames]
        return sighting.frame in frames or (
            sighting.flags & database.PARTIAL
            and sighting.first_frame in frames)

    def assign(self, sightings):
        """Gives each sighting its message; complete messages take theirs first."""
        left = [s for s in sightings if s.source[1] in streams.RPC_PORTS
                or s.destination[1] in streams.RPC_PORTS]
        exact = collections.defaultdict(list)
        for s in left:
            exact[ends(s), s.direction, s.xid, s.frame].append(s)
        operations = {}
        for key, candidates in self.there.items():
            for pair in list(candidates):
                message, rest = pair
                whole = rest.frame is not None
                if whole:
                    self.must += 1
                    found = exact.get(key + (self.numbers[rest.frame],))
                    if found:
                        s = found.pop(0)
                        if s.flags & database.PARTIAL:
                            self.complain("whole, but called partial", message, rest)
                        operations[message] = s.operation
                    else:
                        self.complain("not found", message, rest)
                    candidates.remove(pair)
        rest_of = [s for found in exact.values() for s in found]
        for s in rest_of:
            candidates = self.there.get((ends(s), s.direction, s.xid), [])
            for pair in candidates:
                if self.fits(s, pair[1]):
                    candidates.remove(pair)
                    operations[pair[0]] = s.operation
                    self.must += self.cut and pair[1].header
                    break
            else:
                self.wrong.append("invented: %s" % (s,))
        if self.cut:
            for candidates in self.there.values():
                for message, rest in candidates:
                    if rest.header:
                        self.must += 1
                        self.complain("header is there, not found", message, rest)
        return operations

    def pairs(self, operations):
        """A call and its reply on one connection, both found: one operation.  Over UDP a call that
        was captured behind its reply only is one sent again, and not what that reply answered."""
        calls = collections.defaultdict(list)
        for message, operation in operations.items():
            if message.direction == 0:
                calls[ends(message), message.xid].append((message.pieces[0].frame, operation))
        for message, operation in operations.items():
            if message.direction == 1:
                own = {o for frame, o in calls.get(((message.destination, message.source),
                                                    message.xid), ())
                       if message.transport == 6 or frame < message.pieces[0].frame}
                if len(own) == 1 and operation not in own:
                    self.wrong.append("reply 0x%08x of %s is not with its call" % (
                        message.xid, message.destination))


def harms(name, packets, seeds):
    """(what, kept, whether by snap length)"""
    yield "none", harm.unharmed(packets), False
    for path in sorted(VECTORS.glob(name + "-*.frames")):
        yield path.stem, harm.without(packets, path), False
    for seed in seeds:
        for share in SHARES:
            yield "loss %g seed %d" % (share, seed), harm.lose(packets, share, seed), False
            yield ("bursts %g seed %d" % (share, seed), harm.lose_bursts(packets, share, seed),
                   False)
    for snaplen in SNAPLENS:
        yield "snaplen %d" % snaplen, harm.cut(packets, snaplen), True


def check(name, seeds, scratch, only):
    """Returns the number of harms that failed, and of those tried."""
    path = find(name)
    if path is None:
        print("FAILED %s: not in CAPTURES" % name)
        return 1, 1
    packets = load(path, scratch)
    reader = streams.Reader(packets)
    failed = tried = 0
    for what, kept, cut in harms(name, packets, seeds):
        if only and only not in what:
            continue
        tried += 1
        capture, base = scratch / "harmed.pcap", scratch / "harmed.db"
        capfile.write_pcap(capture, harm.apply(packets, kept), packets[0].link_type)
        base.unlink(missing_ok=True)
        judge = Judge(reader.messages_when_cut() if cut else reader.messages + reader.parts(), kept,
                      cut)
        try:
            database.ingest(base, capture)
            found = database.Database(base, [sum(k > 0 for k in kept)])
            judge.pairs(judge.assign(found.sightings()))
            found.close()
        except RuntimeError as error:
            judge.wrong.append(str(error))
        if not judge.must and not cut:
            judge.wrong.append("nothing was left to be found")
        if judge.wrong:
            failed += 1
            print("FAILED %s, %s: %d of %d" % (name, what, len(judge.wrong), judge.must))
            for line in judge.wrong[:6]:
                print("    " + line)
    return failed, tried


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-s", "--seeds", type=int, default=1)
    parser.add_argument("-f", "--first-seed", type=int, default=1)
    parser.add_argument("-o", "--only", default="", help="harms with this in their name")
    parser.add_argument("-k", "--keep", type=pathlib.Path)
    parser.add_argument("capture", nargs="*", default=WHOLE)
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    failed = tried = 0
    with tempfile.TemporaryDirectory(prefix="recovery.") as scratch:
        for name in arguments.capture:
            result = check(name, seeds, arguments.keep or pathlib.Path(scratch), arguments.only)
            failed, tried = failed + result[0], tried + result[1]
    print("%d harmed captures, %d failed" % (tried, failed))
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
