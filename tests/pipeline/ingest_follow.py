#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""ingest --follow: a database that grows with its captures has in the end what a later ingest of the same files
gives, byte by byte of its dump.  The writer here writes in random pieces, rotates in all the ways that
capture programs have, and stops in the middle of a packet.  Meanwhile the database can be read and is
marked."""
import gzip
import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
MARK = "unfinished: still being written, or its writer ended early"
seed = int(os.environ.get("SEED", time.time()))
rng = random.Random(seed)
failures = []
checks = 0


def expect(good, *words):
    global checks
    checks += 1
    if not good:
        failures.append(" ".join(str(w) for w in words)[:600])


def run(*words, stdin=None):
    return subprocess.run([NFSDIGEST, *map(str, words)], capture_output=True, text=True, check=False, stdin=stdin)


def dump(path):
    """All of a database but the names of its sources, which may be renamed."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        lines = list(db.iterdump())
    return [re.sub(r'^(INSERT INTO "source" VALUES\(\d+,)\x27[^\x27]*\x27', r'\1', line) for line in lines]


def same(name, database, files):
    """The database is as after one ingest of the files."""
    once = database.with_suffix(".once")
    done = run("ingest", "-q", "-o", once, *files)
    expect(done.returncode in (0, 3), name, "ingest", done.stderr)
    a, b = dump(once), dump(database)
    expect(len(b) > 500, name, "has only", len(b), "rows")
    expect(a == b, name, "differs:", [x for x in zip(a, b) if x[0] != x[1]][:1], len(a), len(b))
    found = run("check", database)
    expect((found.returncode, done.returncode) in ((0, 0), (1, 3)), name, "check", found.stdout)
    expect(not database.with_name(database.name + "-wal").exists(), name, "leaves a log")


class Follow:
    """A running ingest --follow."""

    def __init__(self, database, *words, **how):
        self.process = subprocess.Popen([NFSDIGEST, "ingest", "--follow", "-j", "-o", str(database),
                                         *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **how)

    def end(self, number=None, code=0, why="idle"):
        if number:
            self.process.send_signal(number)
            self.process.wait(60)
        out, err = self.process.communicate(timeout=120)
        expect(self.process.returncode == code, "exit", self.process.returncode, "not", code, err)
        lines = [json.loads(line) for line in out.splitlines()]
        totals = lines[-1] if lines else {}
        expect(totals.get("end") == why, "end", totals, err)
        return lines[:-1], totals, err


def pieces(data, count):
    at = sorted(rng.randrange(len(data)) for _ in range(count))
    at = [0, *at, *(min(len(data), a + rng.randrange(1, 20)) for a in at), len(data)]
    at.sort()
    return [data[a:b] for a, b in zip(at, at[1:]) if a < b]


def dribble(path, data, seconds, count=60, mode="wb"):
    with open(path, mode, buffering=0) as file:
        parts = pieces(data, count)
        for part in parts:
            file.write(part)
            time.sleep(seconds / len(parts))


def decompressed(name):
    path = next(CAPTURES.glob(name + ".pcap*"))
    return subprocess.run(["zstd", "-dqc", path], capture_output=True, check=True).stdout


def split_pcap(data, count):
    """A pcap file as |count| of them."""
    offsets, at = [24], 24
    while at < len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        offsets.append(at)
    step = (len(offsets) - 1) // count + 1
    marks = [*offsets[:-1:step], len(data)]
    return [data[:24] + data[a:b] for a, b in zip(marks, marks[1:])]


def check_dribble(folder, data):
    """Readers see a database that grows, of one moment, and are told."""
    path, database, go = folder / "cap.pcap", folder / "grow.db", threading.Event()
    follow = Follow(database, "--idle", "4", path)

    def write():
        at = len(data) // 2
        dribble(path, data[:at], 4)
        while not go.is_set():  # until everybody has read
            dribble(path, data[at:at + 9], 0.3, 2, "ab")
            at += 9
        dribble(path, data[at:], 2, mode="ab")

    writer = threading.Thread(target=write)
    writer.start()
    counts, told, codes = [], set(), set()
    begin = time.monotonic()
    while time.monotonic() - begin < 5 or len(set(counts)) < 2:
        if database.exists():
            done = run("info", "-j", database)
            if done.returncode == 0:
                counts.append(sum(s["operations"] for s in json.loads(done.stdout)["sources"]))
            codes.add(done.returncode)
            told.add(MARK in done.stderr)
        time.sleep(0.2)
    expect(codes == {0} and told == {True}, "info while it grows:", codes, told)
    expect(counts == sorted(counts), "operations seen:", counts)
    check_readers(folder, database)
    other = run("ingest", "-o", database, next(CAPTURES.glob("knfsd-nlm*")))
    expect(other.returncode == 3 and MARK in other.stderr, "a second writer:", other.returncode, other.stderr)
    go.set()
    writer.join()
    files, totals, err = follow.end()
    expect([f["state"] for f in files] == ["stored"] and totals["files"] == 1, files, totals, err)
    expect(MARK not in run("info", database).stderr, "is marked at the end")
    same("dribbled", database, [path])


def check_readers(folder, database):
    """Every command that reads a trace says it; those that store into it refuse."""
    page = folder / "page.html"
    for words in (["info"], ["ops", "-n", "1"], ["ops", "--retransmitted", "-n", "1"], ["tree"], ["deps"], ["concurrency"],
                  ["lint"], ["outage"], ["hang"], ["starve"], ["check"], ["report", "--html", page],
                  ["who", "/nothing"], ["rdump", "-o", folder / "x.rdump"], ["compare", database]):
        operands = [database, words[1]] if words[0] == "who" else [*words[1:], database]
        done = run(words[0], *operands)
        expect(done.stderr.count(MARK) == 1 and done.returncode in (0, 1, 2, 3), *words, "says", done.returncode,
               done.stderr)
        expect(words[0] in ("lint", "check", "who", "compare", "rdump", "concurrency") or not done.returncode, *words,
               "exit", done.returncode, done.stderr)
    done = run("tree", "--store", database)
    expect(done.returncode == 3 and MARK in done.stderr, "tree --store", done.returncode, done.stderr)


def rotate(folder, names, parts, seconds, keep=None):
    """Writes the parts under the names, one after the other; |keep|: of each name only the last is there."""
    for number, (name, part) in enumerate(zip(names, parts)):
        dribble(folder / name, part, seconds / len(parts), 8)
        if keep and number >= keep:
            (folder / names[number - keep]).unlink(missing_ok=True)


def check_rotation(scratch, data):
    parts = split_pcap(data, 12)
    ways = {
        "tcpdump-C": ["t.pcap" + (str(i) if i else "") for i in range(12)],
        "tcpdump-G": [f"t-20261123-03{59 - i:02d}.pcap" for i in range(12)],  # names against the times
        "dumpcap-b": [f"eth0_{i:05d}_2026112303{i:02d}00.pcap" for i in range(1, 13)],
    }
    for name, names in ways.items():
        folder, database = scratch / name, scratch / f"{name}.db"
        folder.mkdir()
        (folder / "README.txt").write_text("no capture, and longer than 24 bytes")
        for before in range(3):  # some are there already
            (folder / names[before]).write_bytes(parts[before])
        follow = Follow(database, "--idle", "2", folder)
        rotate(folder, names[3:], parts[3:], 2)
        files, totals, err = follow.end()
        expect([pathlib.Path(f["file"]).name for f in files] == names, name, "order:",
               [(pathlib.Path(f["file"]).name, f["state"]) for f in files], err, totals)
        expect(totals["no_captures"] == 1 and not totals["grown"] and not totals["left"], name, totals)
        same(name, database, [folder / n for n in names])
    # what is there already is skipped by the next one, in one more run into the same database
    again = Follow(database, "--idle", "1", folder)
    files, totals, err = again.end()
    expect({f["state"] for f in files} == {"known"} and len(files) == 12, "again:", files, err)
    same("again", database, [folder / n for n in names])


def check_rename(scratch, data):
    """logrotate: the file is renamed, and a new one gets its name."""
    folder, database = scratch / "renamed", scratch / "renamed.db"
    folder.mkdir()
    parts = split_pcap(data, 3)
    for operand in (folder, folder / "cap"):
        database.unlink(missing_ok=True)
        for old in folder.glob("*"):
            old.unlink()
        follow = Follow(database, "--idle", "3", operand)
        for number, part in enumerate(parts):
            if number:
                os.rename(folder / "cap", folder / f"cap.{number}")
            dribble(folder / "cap", part, 1, 10)
            time.sleep(0.7)  # a file that comes and goes between two looks cannot be read
        _, totals, err = follow.end()
        expect(totals["files"] == 3 and not totals["vanished"] + totals["grown"], operand, totals, err)
        same("renamed", database, [folder / "cap.1", folder / "cap.2", folder / "cap"])


def check_ring(scratch, data):
    """tcpdump -C -W: names are written again, from their beginning."""
    folder, database, copies = scratch / "ring", scratch / "ring.db", scratch / "copies"
    folder.mkdir()
    copies.mkdir()
    follow = Follow(database, "--idle", "2", folder)
    parts = split_pcap(data, 6)
    for number, part in enumerate(parts):
        (copies / str(number)).write_bytes(part)
        dribble(folder / f"r{number % 2}", part, 0.5, 5)
        time.sleep(0.7)
    _, totals, err = follow.end()
    expect(totals["files"] == 6, "ring", totals, err)
    same("ring", database, [copies / str(i) for i in range(6)])


def check_pipes(scratch, data):
    whole = scratch / "whole.pcap"
    whole.write_bytes(data)
    fifo = scratch / "fifo"
    os.mkfifo(fifo)
    follow = Follow(scratch / "fifo.db", fifo)
    time.sleep(0.3)
    dribble(fifo, data, 1)
    follow.end(why="closed")
    same("a named pipe", scratch / "fifo.db", [whole])
    follow = Follow(scratch / "stdin.db", "--metrics", "0", "-", stdin=subprocess.PIPE)
    address = follow.process.stderr.readline().split()[-1]
    for part in pieces(data, 20):
        os.write(follow.process.stdin.fileno(), part)
        time.sleep(0.02)
    for _ in range(300):  # nothing comes: what is there is committed
        if (scratch / "stdin.db").exists():
            break
        time.sleep(0.2)
    time.sleep(0.5)
    found = run("info", "-j", scratch / "stdin.db")
    expect(MARK in found.stderr, "standard input: nothing to read meanwhile")
    with urllib.request.urlopen(address, timeout=20) as page:
        samples = dict(l.split() for l in page.read().decode().splitlines() if l[0] != "#")
    expect(samples.get("nfsdigest_ingest_operations_total") ==
           str(json.loads(found.stdout)["sources"][0]["operations"]) != "0", "metrics:", samples)
    # a signal ends it although the pipe stays open
    follow.end(signal.SIGTERM, why="signal")
    same("standard input", scratch / "stdin.db", [whole])


def check_formats(scratch, data):
    """Compressed, pcapng, record streams."""
    pcap, png, stream = scratch / "f.pcap", scratch / "f.pcapng", scratch / "f.nfsr"
    pcap.write_bytes(data)
    subprocess.run(["editcap", "-F", "pcapng", pcap, png], check=True)
    run("record", "-o", stream, pcap)
    for name, content in (("z.pcap.gz", gzip.compress(data)), ("z.pcapng", png.read_bytes()),
                          ("z.nfsr", stream.read_bytes())):
        path, database = scratch / name, scratch / f"{name}.db"
        follow = Follow(database, "--idle", "1.5", path)
        dribble(path, content, 1, 20)
        follow.end()
        same(name, database, [path])


def check_ends(scratch, data):
    """Stopped in the middle of a packet; killed; grown after a later one began."""
    path, database = scratch / "cut.pcap", scratch / "cut.db"
    path.write_bytes(data[: len(data) // 2 | 1])
    follow = Follow(database, path)
    time.sleep(1)
    files, totals, err = follow.end(signal.SIGINT, 3, "signal")
    expect(files[0]["state"] == "cut" and totals["cut"] == 1, "cut:", files, err)
    same("cut", database, [path])

    database = scratch / "killed.db"
    follow = Follow(database, path)
    for _ in range(300):  # until a part is committed
        if database.exists():
            break
        time.sleep(0.2)
    time.sleep(0.3)
    follow.process.kill()
    follow.process.communicate()
    done = run("info", database)
    expect(done.returncode == 0 and MARK in done.stderr, "killed:", done.returncode, done.stderr)
    done = run("ingest", "-o", database, next(CAPTURES.glob("knfsd-nlm*")))
    expect(done.returncode == 3 and MARK in done.stderr and "--anew" in done.stderr, "into a killed one:",
           done.stderr)
    done = run("ingest", "--anew", "-o", database, path)
    expect(done.returncode == 3 and "is made anew" in done.stderr, "made anew:", done.stderr)
    same("killed, made anew", database, [path])

    folder, database = scratch / "grown", scratch / "grown.db"
    folder.mkdir()
    a, b = split_pcap(data, 2)
    (folder / "a").write_bytes(a)
    (folder / "b").write_bytes(b)
    follow = Follow(database, "--idle", "3", folder)
    time.sleep(1.5)
    with open(folder / "a", "ab") as file:
        file.write(b[24:])
    _, totals, err = follow.end(code=3)
    expect(totals["grown"] == 1 and "grew" in err and "/a" in err, "grown:", totals, err)

    for words, text in ((["--follow", path, path], "one file"), (["--idle", "2", path], "--idle is for")):
        done = run("ingest", "-o", scratch / "no.db", *words)
        expect(done.returncode == 2 and text in done.stderr, *words, done.stderr)


def check_killed(scratch, data):
    """Killed at several moments: with --anew, it has in the end what a later ingest gives."""
    folder, database = scratch / "rotated", scratch / "rotated.db"
    folder.mkdir()
    parts = split_pcap(data, 3)
    killed = 0
    for moment in range(7):
        if moment < 3:  # a further file, and the beginning of the next one
            (folder / ("part%d" % moment)).write_bytes(parts[moment])
            if moment < 2:
                (folder / ("part%d" % (moment + 1))).write_bytes(parts[moment + 1][:len(parts[moment + 1]) // 2 | 1])
        follow = Follow(database, "--anew", folder)
        if moment % 2 == 0:
            follow.process.stdout.readline()  # a file was committed
        time.sleep(rng.random() * (1.5 if moment % 2 else 0.5))
        if moment == 2:  # while it is followed, nobody else makes it anew
            done = run("ingest", "--anew", "-o", database, folder / "part0")
            expect(done.returncode == 3 and "has it open" in done.stderr, "two writers:", done.stderr)
        follow.process.kill()
        follow.process.communicate()
        killed += 1
    gone = folder / "part0"
    gone.rename(scratch / "away")
    if database.exists() and MARK in run("info", database).stderr:
        done = run("ingest", "--anew", "-o", database, folder / "part1")
        expect(done.returncode == 3 and "part0" in done.stderr and "not there any more" in done.stderr, "gone:",
               done.stderr)
        gone.write_bytes(parts[1])
        done = run("ingest", "--anew", "-o", database, folder / "part1")
        expect(done.returncode == 3 and "begin with other bytes" in done.stderr, "other bytes:", done.stderr)
        expect(MARK in run("info", database).stderr, "it was left as it was")
    else:
        expect(False, "the last one that was killed left nothing unfinished")
    (scratch / "away").rename(gone)
    follow = Follow(database, "--anew", "--idle", "1.5", folder)
    follow.end()
    same("killed %d times" % killed, database, sorted(folder.iterdir()))
    before = database.stat().st_ino
    done = run("ingest", "--anew", "-o", database, gone)
    expect(done.returncode == 0 and database.stat().st_ino == before, "a finished one stays:", done.stderr)


def main():
    print("seed", seed)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        large, small = decompressed("knfsd-netem-tcp"), decompressed("vfs-libnfs-all22")
        jobs = [(check_dribble, large), (check_rotation, large), (check_rename, large), (check_ring, large),
                (check_pipes, large), (check_formats, small), (check_ends, large), (check_killed, large)]
        threads = []
        for job, data in jobs:  # they mostly wait
            (scratch / job.__name__).mkdir()
            threads.append(threading.Thread(target=guarded, args=(job, scratch / job.__name__, data)))
            threads[-1].start()
        for thread in threads:
            thread.join()
    for failure in failures:
        print("FAILED", failure)
    print(checks, "checks,", len(failures), "failures")
    return bool(failures) or checks < 60


def guarded(job, folder, data):
    try:
        job(folder, data)
    except Exception as error:  # pylint: disable=broad-except
        failures.append(f"{job.__name__}: {error!r}")


sys.exit(main())
