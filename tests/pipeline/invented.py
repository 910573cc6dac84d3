#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan long=-s,1000
"""No operation is invented from file contents that are RPC themselves (tests/gen/rpc_contents.py),
and what was captured whole, with its other half, is found.  Of the connections whose files hold the
traffic of a twin, which counts its XIDs alike, few may fail: a message of the one may fit for one of
the other that was lost.

    invented.py [-s SEEDS] [-f FIRST] [-k DIRECTORY]     environment: NFSDIGEST

Prints how many messages were found; a seed makes one connection, BATCH of them one capture.
"""
import argparse
import collections
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import database  # noqa: E402
import rpc_contents  # noqa: E402
import traffic  # noqa: E402

BATCH = 10
TWINS = 0.11  # the share that may fail


def client_of(i, twin):
    return "10.%d.%d.%d" % (2 if twin else 1, i // 250, 1 + i % 250)


class Known:
    """What there is of each message in the capture."""

    def __init__(self, trace):
        self.frames = collections.defaultdict(set)  # message -> numbers of its frames
        for number, frame in enumerate(trace.frames, 1):
            for message, _, _ in frame.pieces:
                self.frames[message].add(number)
        self.done = {message: frames[0] for message, frames in trace.completed().items()}
        self.by_key = collections.defaultdict(list)
        for message in self.frames:
            self.by_key[self.key(message)].append(message)

    @staticmethod
    def key(message):
        return message.op.client, 0 if message.is_call else 1, message.op.xid

    def certain(self):
        """Messages that are whole, and so is their other half."""
        for message, frame in self.done.items():
            others = message.op.replies if message.is_call else message.op.calls
            if any(o in self.done for o in others):
                yield message, frame


def judge(known, found):
    """Lines that say what is wrong, by client; and how many messages were found."""
    wrong, seen = collections.defaultdict(list), set()
    for s in found:
        client = s.source[0] if s.direction == 0 else s.destination[0]
        name = "%s xid 0x%08x in frame %d" % (("call", "reply")[s.direction], s.xid, s.frame)
        fits = [x for x in known.by_key.get((client, s.direction, s.xid), ())
                if s.frame in known.frames[x]]
        if not fits:
            wrong[client].append("invented: " + name)
        elif fits[0] in seen:
            wrong[client].append("twice: " + name)
        else:
            seen.add(fits[0])
            if fits[0] in known.done and s.flags & database.PARTIAL:
                wrong[client].append("whole, but called partial: " + name)
    for message, frame in known.certain():
        if message not in seen:
            wrong[message.op.client].append("not found: %s xid 0x%08x in frame %d" % (
                "call" if message.is_call else "reply", message.op.xid, frame))
    return wrong, len(seen), len(known.done)


def run(seeds, directory):
    """Returns the number of connections that failed, of twins', of messages found, and of those
    whole."""
    trace, names, twins = traffic.Trace(), {}, set()
    for seed in seeds:
        for twin in False, True:
            client = client_of(seed % 60000, twin)
            twins |= {client} if twin else set()
            names[client] = "seed %d: %s" % (
                seed, rpc_contents.connection(trace, seed, client, twin=twin))
    capture, base = directory / "contents.pcap", directory / "contents.db"
    trace.write(capture)
    base.unlink(missing_ok=True)
    database.ingest(base, capture)
    opened = database.Database(base, [len(trace.frames)])
    wrong, found, whole = judge(Known(trace), opened.sightings())
    opened.close()
    for client, lines in wrong.items():
        print("FAILED %s: %d" % (names.get(client, client), len(lines)))
        for line in lines[:6]:
            print("    " + line)
    return len(wrong.keys() - twins), len(wrong.keys() & twins), found, whole


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-s", "--seeds", type=int, default=60)
    parser.add_argument("-f", "--first-seed", type=int, default=1)
    parser.add_argument("-k", "--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    counts = collections.Counter()
    end = arguments.first_seed + arguments.seeds
    with tempfile.TemporaryDirectory(prefix="invented.") as scratch:
        for first in range(arguments.first_seed, end, BATCH):
            counts.update(dict(zip(("failed", "twins", "found", "whole"),
                                   run(range(first, min(end, first + BATCH)),
                                       arguments.keep or pathlib.Path(scratch)))))
    print("%d connections, %d failed, and of as many with twins %d; %d messages found, %d are whole" % (
        arguments.seeds, counts["failed"], counts["twins"], counts["found"], counts["whole"]))
    return 1 if counts["failed"] or counts["twins"] > TWINS * arguments.seeds else 0


if __name__ == "__main__":
    sys.exit(main())
