#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1800 plugin
"""Packets without a time (pcapng's Simple Packet Blocks): nothing that is said of them has one, through
every way into the engine, and what belongs together is found without.

Generated captures over TCP and UDP, with retransmissions, copies, fragments and losses, whose packets
have no times, or some of them, on one interface and on two. The oracles are the generator, and what
stock tshark says of frame.time_epoch.

    untimed.py [-k DIRECTORY] [NAME...]     environment: NFSDIGEST, BUILD
"""
import argparse
import fnmatch
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
for folder in HERE.parent, HERE.parent / "gen":
    sys.path.insert(0, str(folder))

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import cases  # noqa: E402
import cases_pairing  # noqa: E402,F401
import cases_stream  # noqa: E402,F401
import database  # noqa: E402
import packets  # noqa: E402

TSHARK = os.path.join(os.environ.get("BUILD", "build"), "bin", "tshark")
LINUX_COOKED = 113

# Which packets have a time.
PATTERNS = {
    "none": lambda rng, i, n: False,
    "some": lambda rng, i, n: rng.random() < 0.5,
    "later": lambda rng, i, n: i > n // 2,
    "earlier": lambda rng, i, n: i < n // 2,
    "few": lambda rng, i, n: i % 7 == 3,
}
CASES = ("retransmission_before_reply_*", "rpc_errors_udp", "some_calls_and_replies_lost_*",
         "copies_three_50us", "segments_reordered_fours", "udp_fragments_reversed",
         "same_call_on_new_connection_after_reply", "starts_mid_stream_4")


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError("%s: exit %d: %s" % (command, done.returncode, done.stderr))
    return done.stdout


def mask(all_packets, pattern, seed):
    rng = random.Random(seed)
    return [p if PATTERNS[pattern](rng, i, len(all_packets)) else p._replace(time=None)
            for i, p in enumerate(all_packets)]


def two_interfaces(all_packets):
    """What has a time, and is not the first, comes from another interface, of another link type."""
    out = [all_packets[0]]
    for p in all_packets[1:]:
        if p.time is not None:
            cooked = bytes(6) + b"\0\6" + bytes(6) + p.data[12:14]
            p = capfile.Packet(p.time, cooked[:16] + p.data[14:], p.wire_len + 2, LINUX_COOKED)
        out.append(p)
    return out


def frame_times(path):
    """{number: time in ns, or None}, as stock tshark has them."""
    out = {}
    for line in run(TSHARK, "-r", path, "-T", "fields", "-e", "frame.number", "-e",
                    "frame.time_epoch").splitlines():
        number, time = (line + "\t").split("\t")[:2]
        seconds, _, rest = time.partition(".")
        out[int(number)] = int(seconds) * 10**9 + int(rest.ljust(9, "0")) if time else None
    return out


class Capture:
    """|timed|: the same packets, all with their times."""

    def __init__(self, scratch, name, path, timed, truth):
        self.scratch, self.name, self.path, self.truth = scratch, name, path, truth
        self.timed = timed
        self.wrong = []

    def check(self, right, what):
        if not right:
            self.wrong.append("%s: %s" % (self.name, what))

    def streams(self):
        """All ways into the engine give the same."""
        first = None
        for way in "libpcap", "tap", "decap=wireshark":
            out = self.scratch / "out.nfsr"
            if way == "libpcap":
                run(database.program(), "record", "-o", out, self.path)
            else:
                run(TSHARK, "-r", self.path, "-q", "-z",
                    "nfspair,out=%s%s" % (out, "," + way if "=" in way else ""))
            data = out.read_bytes()
            first = first or data
            self.check(data == first, "libpcap and %s differ" % way)
            run(database.program(), "check", out)

    def ingest(self, name, path):
        base = self.scratch / name
        base.unlink(missing_ok=True)
        database.ingest(base, path)
        run(database.program(), "check", base)
        return database.Database(base)

    def times(self, db, times):
        """Every time in the database is that of its frame."""
        columns = {"flow": ("", "frame"), "object": ("", "frame"), "problem": ("", "frame"),
                   "retransmission": ("", "frame"), "copy": ("", "frame"),
                   "operation": ("call_", "frame"), "operation ": ("reply_", "frame")}
        for table, (prefix, frame) in columns.items():
            for row in db.rows("SELECT %s%s AS frame, %stime AS time FROM %s"
                               % (prefix, frame, prefix, table)):
                wanted = times[row["frame"]] if row["frame"] else None
                self.check(row["time"] == wanted, "%s: frame %s at %s, not %s"
                           % (table, row["frame"], row["time"], wanted))
        for row in db.rows("SELECT n.time, o.reply_time FROM name_event n JOIN operation o"
                           " ON o.id = n.operation"):
            self.check(row[0] == row[1], "name_event at %s, not %s" % tuple(row))
        for row in db.rows("SELECT latency, call_time, reply_time FROM operation"):
            known = None not in (row[1], row[2])
            self.check(row[0] == (row[2] - row[1] if known else None), "latency %s" % row[0])
        known = [t for t in times.values() if t is not None]
        row = db.rows("SELECT first_time, last_time FROM source")[0]
        self.check(tuple(row) == ((min(known), max(known)) if known else (None, None)),
                   "source from %s to %s" % tuple(row))
        timed = len(db.rows("SELECT 1 FROM operation WHERE latency IS NOT NULL"))
        seen = db.rows("SELECT ifnull(sum(operations), 0) FROM latency_by_procedure")[0][0]
        self.check(seen == timed, "%d operations with a latency, not %d" % (seen, timed))

    def pairs(self, db):
        """Calls, replies, retransmissions and copies, as the generator made them."""
        key = lambda op: (op["call_frame"] or 0, op["reply_frame"] or 0, op["xid"],
                          sorted(list(r) for r in op["repeats"]))
        ours, truth = sorted(map(key, db.operations())), sorted(map(key, self.truth))
        self.check(ours == truth, "not as it was: %s" % [
            (a, b) for a, b in zip(ours, truth) if a != b][:3])

    def commands(self, db):
        base = self.scratch / "out.db"
        info = json.loads(run(database.program(), "info", "--json", base))
        row = db.rows("SELECT min(first_time), max(last_time) FROM source")[0]
        self.check([info["totals"][0][k] for k in ("first_time", "last_time")] == list(row),
                   "info --json says %s" % info["totals"])
        text = run(database.program(), "info", base)
        self.check(("no packet has a time" in text) == (row[0] is None), "info says other times")
        self.check("1970" not in text, "info says 1970")
        rows = db.rows("SELECT * FROM operation ORDER BY id")
        lines = run(database.program(), "ops", base).splitlines()
        self.check(len(lines) == len(rows), "ops: %d lines, %d operations" % (len(lines), len(rows)))
        for line, row in zip(lines, rows):
            untimed = row["call_time"] is None and row["reply_time"] is None
            self.check(line.startswith("- ") == untimed, "ops: " + line)
        for line, row in zip(run(database.program(), "ops", "--json", base).splitlines(), rows):
            op = json.loads(line)
            self.check((op["time"] is None) == (row["call_time"] is None and
                                                row["reply_time"] is None), "ops --json: " + line)
            for name in "call_time", "reply_time", "latency":
                self.check(op[name] == row[name], "ops --json: " + line)

    def replays(self, db):
        """Figures about a replay need a latency, measured or given."""
        base = self.scratch / "out.db"
        nfs = db.rows("SELECT count(*), count(latency) FROM operation WHERE program = 100003"
                      " AND version = 3")[0]
        done = subprocess.run([database.program(), "concurrency", base], capture_output=True,
                              text=True, check=False)
        self.check(done.returncode == (3 if nfs[0] and not nfs[1] else 0)
                   and ("use --latency" in done.stderr) == bool(done.returncode),
                   "concurrency: exit %d: %s" % (done.returncode, done.stderr))
        run(database.program(), "concurrency", "--latency", "1ms", base)

    def package(self, key):
        """A package says when there are no times.  (What was cut has one, see nfsdigest-anonymize(1).)"""
        db = database.Database(self.scratch / "anonymized.db")
        untimed = db.rows("SELECT max(last_time) FROM source")[0][0] is None
        db.close()
        if not untimed:
            return
        out = self.scratch / "out.tar.zst"
        out.unlink(missing_ok=True)
        run(database.program(), "package", "-p", "lab", "-k", key, "-o", out, self.path)
        data = subprocess.run(["zstd", "-qdc", out], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            text = archive.extractfile("out/README.md").read().decode()
        self.check("| begins (UTC, as in the capture) | not known: no packet has a time |" in text
                   and "1970" not in text, "a package's README says 1970")

    def tree(self, db):
        """The packet tree shows a latency only where both packets have a time."""
        wanted, messages = {}, {}
        for row in db.rows("SELECT call_frame, reply_frame, latency FROM operation"):
            for frame in row["call_frame"], row["reply_frame"]:
                wanted.setdefault(frame, []).append(row["latency"])
        for sighting in db.sightings():
            messages[sighting.frame] = messages.get(sighting.frame, 0) + 1
        shown = {}
        for line in run(TSHARK, "-2", "-r", self.path, "-Y", "nfspair", "-T", "fields",
                        "-e", "frame.number", "-e", "nfspair.latency").splitlines():
            frame, latency = line.split("\t")
            shown[int(frame)] = round(float(latency) * 10**9) if latency else None
        for frame, latencies in wanted.items():
            if frame and messages[frame] == 1:
                self.check([shown[frame]] == latencies, "frame %d: nfspair.latency %s, not %s"
                           % (frame, shown[frame], latencies))

    def anonymized(self, db, key):
        """What has no time has none in the output, by any reader."""
        out = self.scratch / "out.pcapng"
        out.unlink(missing_ok=True)
        anonymizer.anonymize(out, "lab", key, self.path)
        seen = lambda d: [(r["xid"], r["procedure"], r["call_time"], r["reply_time"])
                          for r in d.rows("SELECT * FROM operation WHERE call_flags & 1 = 0 AND"
                                          " reply_flags & 1 IS NOT 1 ORDER BY xid, call_frame")]
        other = self.ingest("anonymized.db", out)
        self.check(seen(other) == seen(db), "anonymized: %s, not %s" % (seen(other), seen(db)))
        other.close()
        done = anonymizer.run("audit", "--policy", "lab", self.path, out)
        self.check(done.returncode == 0, "audit: " + done.stdout)

    def digests(self):
        """Trees, dependencies and replay dumps: made in the order of frames where there is no time."""
        base, dump = self.scratch / "out.db", self.scratch / "out.rdump"
        timed = self.scratch / "timed.db"
        timed.unlink(missing_ok=True)
        database.ingest(timed, self.timed)
        said = run(database.program(), "deps", base)
        self.check(said == run(database.program(), "deps", timed), "other dependencies: " + said)
        run(database.program(), "tree", base)
        dump.unlink(missing_ok=True)
        run(database.program(), "rdump", "-o", dump, base)
        out = self.scratch / "compared.db"
        for _ in "first", "again":
            run(database.program(), "compare", "-o", out, base, base)
        out.unlink()

    def verify(self, key):
        times = frame_times(self.path)
        self.streams()
        db = self.ingest("out.db", self.path)
        self.times(db, times)
        self.pairs(db)
        self.commands(db)
        self.replays(db)
        self.tree(db)
        self.digests()
        self.anonymized(db, key)
        self.package(key)
        db.close()
        return self.wrong


def captures(scratch, wanted):
    """(Capture, whether packets without a time are in it)"""
    names = [n for n in cases.CASES if any(fnmatch.fnmatch(n, c) for c in CASES)]
    for name in names:
        if wanted and not any(fnmatch.fnmatch(name, w) for w in wanted):
            continue
        case = cases.CASES[name]()
        if len(case.trace.frames) > 2500:
            continue
        rng = random.Random(name)
        timed = scratch / (name + ".pcapng")
        capfile.write_pcapng(timed, case.trace.packets())
        for pattern in ["none", rng.choice(["some", "later", "earlier", "few"])]:
            made = mask(case.trace.packets(), pattern, name)
            path = scratch / ("%s.%s.pcapng" % (name, pattern))
            capfile.write_pcapng(path, made)
            yield Capture(scratch, "%s, times of %s" % (name, pattern), path, timed,
                          case.trace.truth())
            if pattern != "none" and "tagged" not in name:
                path = scratch / ("%s.%s.two.pcapng" % (name, pattern))
                capfile.write_pcapng(path, two_interfaces(made))
                yield Capture(scratch, "%s, times of %s, two interfaces" % (name, pattern), path,
                              timed, case.trace.truth())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-k", "--keep", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    wrong, tried = [], 0
    with tempfile.TemporaryDirectory(prefix="untimed.") as name:
        key = anonymizer.known_key(os.path.join(name, "key"))
        for capture in captures(arguments.keep or pathlib.Path(name), arguments.names):
            wrong += capture.verify(key)[:5]
            tried += 1
    print("\n".join(wrong))
    print("%d captures, %d wrong" % (tried, len(wrong)))
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
