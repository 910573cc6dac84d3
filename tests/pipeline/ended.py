#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=900 plugin slow
"""Commands that are ended by a signal, and ingests that make one database at the same time.

- Every command that writes, ended at many moments by SIGINT, SIGTERM or SIGHUP: it ends by that signal and
  says so, or had ended well before; nothing half-made is left, neither a temporary file nor a journal,
  and what was there before is as it was.
- Signals that are ignored when a command begins stay so.
- Several ingests of one database, new or not: who ends with 0 has its captures in it, whatever became
  of the others, and no journal is left.
- Record mode in tshark, as far as tshark allows.

    ended.py [-s SEED] [-k DIRECTORY]
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ["NFSDIGEST"]
TSHARK = os.path.join(os.environ["BUILD"], "bin", "tshark")
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ROUNDS = 8

failures = []


def check(truth, text):
    if not truth:
        failures.append(text)
        print("FAILED:", text[:400])
    return truth


def nfsdigest(*arguments, code=0):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    check(done.returncode == code, "%s: exit %d: %s" % (arguments[:3], done.returncode, done.stderr))
    return done


def start(*arguments, stdin=subprocess.DEVNULL, **options):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=stdin, stderr=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, **options)


def wait_until_it_listens(process):
    """A program that has only begun is ended by a signal without a word, as any is."""
    mask = sum(1 << sign - 1 for sign in SIGNALS)
    while process.poll() is None:
        try:
            status = pathlib.Path("/proc/%d/status" % process.pid).read_text()
        except (FileNotFoundError, ProcessLookupError):
            return
        blocked = [line for line in status.splitlines() if line.startswith("SigBlk:")]
        if blocked and int(blocked[0].split()[1], 16) & mask == mask:
            return
        time.sleep(0.001)


def dump(database):
    return subprocess.run(["sqlite3", "-readonly", str(database), ".dump"], capture_output=True,
                          check=True).stdout


def sources(database):
    db = sqlite3.connect(database)
    found = [row[0] for row in db.execute("SELECT name FROM source WHERE state = 'complete'")]
    db.close()
    return found


class Commands:
    """Each in a folder of its own, with what it needs; |output| is what it makes."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.capture, self.other = scratch / "a.pcap", scratch / "b.pcap"
        for path, name in (self.capture, "knfsd-tcp-mtu1500"), (self.other, "pair-knfsd"):
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-qdc", CAPTURES / (name + ".pcap.zst")], stdout=out,
                               check=True)
        os.chmod(self.capture, 0o644)
        self.database, self.second = scratch / "a.db", scratch / "b.db"
        self.key, self.result = scratch / "key", scratch / "result.db"
        nfsdigest("ingest", "-q", "-o", self.database, self.capture)
        nfsdigest("ingest", "-q", "-o", self.second, self.other)
        nfsdigest("key", "new", self.key)
        nfsdigest("compare", "-o", self.result, self.database, self.second, code=1)

    def all(self):
        a, b = self.database, self.second
        yield "ingest", ("-o", "new.db", self.capture, self.other), None
        yield "ingest", ("-o", "old.db", self.other), "old.db"
        yield "record", ("-o", "out.nfsr", self.capture), None
        yield "anonymize", ("-p", "lab", "-k", self.key, "-o", "out.pcapng", self.capture), None
        yield "rdump", ("-o", "out.rdump", a), None
        yield "rdump", ("-o", "out.rdump", "--copies", "3", "--delay", "1s", a), None
        yield "tree", ("--store", "old.db"), "old.db"
        yield "deps", ("--store", "old.db"), "old.db"
        yield "compare", ("-o", "out.db", a, b), None
        yield "compare", ("--html", "out.html", a, b), None
        yield "compare", ("-o", "out.db", self.capture, b), None
        yield "report", ("--html", "out.html", self.result), None
        yield "info", (self.capture,), None
        yield "package", ("-p", "lab", "-k", self.key, "-o", "out.tar", self.capture), None


def whole(path):
    """What a file says: of a database the rows, since its pages may lie otherwise."""
    data = path.read_bytes()
    return dump(path) if data.startswith(b"SQLite format 3") else data


def signals(commands, draw):
    ended = dict.fromkeys(SIGNALS, 0)
    for name, arguments, old in commands.all():
        count, length, done, made = 0, None, None, {}
        for round_ in range(ROUNDS + 1):
            folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
            temporary = folder / "tmp"
            temporary.mkdir()
            if old:
                shutil.copy(commands.database, folder / old)
            before, was = sorted(p.name for p in folder.iterdir()), old and dump(folder / old)
            sign = SIGNALS[round_ % 3]
            begun = time.monotonic()
            process = start(name, *arguments, cwd=folder,
                            env=dict(os.environ, TMPDIR=str(temporary)))
            if length is not None:
                wait_until_it_listens(process)
                time.sleep(draw.random() * length)
                process.send_signal(sign)
            said = process.communicate()[1].decode()
            where = "%s %s %s" % (name, arguments[:2], sign.name)
            if length is None:  # undisturbed, to know how long that takes
                length = time.monotonic() - begun
                check(process.returncode in (0, 1), "%s: exit %d: %s" % (
                    where, process.returncode, said))
                done = old and dump(folder / old)
                made = {p.name: whole(p) for p in folder.iterdir() if p.is_file()}
            elif process.returncode >= 0:
                check(process.returncode in (0, 1), "%s: exit %d: %s" % (
                    where, process.returncode, said))
            else:
                count += 1
                ended[sign] += 1
                check(process.returncode == -sign, "%s: signal %d" % (where, -process.returncode))
                check("nfsdigest: ended by %s\n" % sign.name in said, "%s: says %r" % (where, said))
                # the staging folder of a package is removed by a process that outlives it a little
                for _ in range(200 if name == "package" else 1):
                    now = sorted(p.name for p in folder.iterdir())
                    left = list(temporary.iterdir())
                    if now == before and not left:
                        break
                    time.sleep(0.01)
                check(not left, "%s: leaves %s" % (where, left))
                if name == "ingest" and not old and "new.db" in now:
                    now.remove("new.db")  # with the first of its captures, or both
                    check(sources(folder / "new.db") in (
                        [str(commands.capture)], [str(commands.capture), str(commands.other)]),
                        where + ": half")
                # the signal may come between the last step, which gives the file its name, and the end
                for name_ in set(now) - set(before):
                    if name_ in made and whole(folder / name_) == made[name_]:
                        now.remove(name_)
                check(now == before, "%s: leaves %s" % (where, now))
                # ingest of one capture is one transaction: done, or not at all
                check(not old or dump(folder / old) in (was, done), where + ": neither as it was"
                      " nor done")
            shutil.rmtree(folder)
        print("%s %s: %.2f s, ended %d of %d times" % (name, arguments[0], length, count, ROUNDS))
    check(all(n > 5 for n in ended.values()), "hardly ever ended: %s" % ended)


def half_read(commands):
    """In the middle of a capture from a pipe, which is certain."""
    data = commands.other.read_bytes()[:3_000_000]
    for sign in SIGNALS:
        for arguments, old in ((("ingest", "-o", "x.db", "-"), False),
                               (("ingest", "-o", "x.db", "-"), True), (("info", "-"), False),
                               (("record", "-o", "x.nfsr", "-"), False)):
            folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
            if old:
                shutil.copy(commands.database, folder / "x.db")
                was = dump(folder / "x.db")
            process = start(*arguments, cwd=folder, stdin=subprocess.PIPE)
            process.stdin.write(data)
            process.stdin.flush()
            process.send_signal(sign)
            process.wait()
            where = "%s -, %s" % (arguments[0], sign.name)
            check(process.returncode == -sign, "%s: %d" % (where, process.returncode))
            check(process.stderr.read().decode().endswith("ended by %s\n" % sign.name), where)
            check([p.name for p in folder.iterdir()] == ["x.db"] * old, "%s: leaves %s" % (
                where, list(folder.iterdir())))
            check(not old or dump(folder / "x.db") == was, where + ": the database has changed")
            process.stdin = None
    process = start("record", "-o", folder / "x.nfsr", "-", stdin=subprocess.PIPE,
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.stdin.write(data)
    process.send_signal(signal.SIGHUP)
    process.stdin.write(commands.other.read_bytes()[len(data):])
    process.stdin.close()
    check(process.wait() == 0 and (folder / "x.nfsr").exists(), "an ignored signal is obeyed")


def begun(folder, commands):
    """An ingest of a new database in |folder| that has begun, and waits for the rest."""
    process = start("ingest", "-q", "-o", folder / "d.db", "-", stdin=subprocess.PIPE)
    process.stdin.write(commands.other.read_bytes()[:3_000_000])
    process.stdin.flush()
    for _ in range(1000):
        if list(folder.glob("d.db*-journal")):
            return process
        time.sleep(0.01)
    check(False, "the first ingest never began")
    return process


def races(commands, draw):
    rest, text = commands.other.read_bytes()[3_000_000:], commands.scratch / "text"
    text.write_text("not a capture")
    # the second one fails with its input, or is done before the first one
    for second in text, commands.capture:
        folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
        first = begun(folder, commands)
        nfsdigest("ingest", "-q", "-o", folder / "d.db", second, code=3 if second == text else 0)
        first.stdin.write(rest)
        first.stdin.close()
        first.stdin = None
        said = first.communicate()[1].decode()
        if second == text:
            check(first.returncode == 0, "the first ingest: %d" % first.returncode)
            check((folder / "d.db").exists() and sources(folder / "d.db") == ["standard input"],
                  "an ingest that ended with 0 has no database, since another failed")
        else:
            check(first.returncode == 4 and "by another process" in said, "the slower one: " + said)
            check(sources(folder / "d.db") == [str(second)], "the faster one's database is gone")
        check([p.name for p in folder.iterdir()] == ["d.db"], "left: %s" % list(folder.iterdir()))
    # the first one fails, or is ended, beside the second one
    for sign in (None,) + SIGNALS:
        folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
        first = begun(folder, commands)
        second = start("ingest", "-q", "-o", folder / "d.db", commands.capture)
        if sign:
            first.send_signal(sign)
        else:
            first.stdin.close()  # cut in the middle
            first.stdin = None
        first.wait()
        check(second.wait() == 0, "the second ingest: %s" % second.stderr.read())
        check((folder / "d.db").exists() and str(commands.capture) in sources(folder / "d.db"),
              "an ingest that ended with 0 has no database, after %s" % sign)
        check([p.name for p in folder.iterdir()] == ["d.db"], "left: %s" % list(folder.iterdir()))
    # all at once
    small = [commands.scratch / ("s%d.pcap" % i) for i in range(3)]
    for i, path in enumerate(small):
        data = commands.capture.read_bytes()
        subprocess.run(["editcap", "-F", "pcap", "-r", commands.capture, path,
                        "%d-%d" % (1 + 300 * i, 300 + 300 * i)], check=True)
        check(len(data) > 1000, "no capture")
    won = 0
    for round_ in range(25):
        folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
        inputs, before = small + [text], []
        draw.shuffle(inputs)
        if round_ % 3 == 1:
            (folder / "d.db").touch()
        if round_ % 3 == 2:
            shutil.copy(commands.second, folder / "d.db")
            before = sources(folder / "d.db")
        running = [(path, start("ingest", "-q", "-o", folder / "d.db", path)) for path in inputs]
        for path, process in running:
            process.communicate()
            check(process.returncode in ((3, 4) if path == text else (0, 4)),
                  "round %d: exit %d" % (round_, process.returncode))
        good = [str(path) for path, process in running if process.returncode == 0]
        won += len(good)
        check(not good or (folder / "d.db").exists() and sorted(sources(folder / "d.db"))
              == sorted(good + before), "round %d: who ended with 0 is not in the database" % round_)
        check([p.name for p in folder.iterdir()] in ([], ["d.db"]), "round %d leaves %s" % (
            round_, list(folder.iterdir())))
        if good:
            nfsdigest("check", folder / "d.db")
    print("%d of 75 ingests of one database succeeded" % won)
    check(won > 40, "hardly any ingest succeeds beside others")


def only_own(commands):
    """What was there before is not removed by an ingest that fails."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
    (folder / "d.db").touch()
    nfsdigest("ingest", "-o", folder / "d.db", commands.scratch / "text", code=3)
    check((folder / "d.db").exists(), "an empty file of somebody else's was removed")
    nfsdigest("ingest", "-q", "-o", folder / "d.db", commands.capture)
    check(sources(folder / "d.db") == [str(commands.capture)], "an empty file is no database")


def in_tshark(commands):
    ended = 0
    for i in range(9):
        folder = pathlib.Path(tempfile.mkdtemp(dir=commands.scratch))
        os.chmod(folder, 0o777)
        sign = SIGNALS[i % 2]
        process = subprocess.Popen([TSHARK, "-q", "-r", commands.capture, "-z",
                                    "nfspair,out=%s" % (folder / "o.nfsr")],
                                   stderr=subprocess.PIPE)
        for _ in range(2000):
            if any(folder.iterdir()) or process.poll() is not None:
                break
            time.sleep(0.001)
        process.send_signal(sign)
        said = process.communicate()[1].decode()
        left = [p.name for p in folder.iterdir()]
        if process.returncode == 0:
            check(left == ["o.nfsr"], "tshark: %s" % left)
            nfsdigest("check", folder / "o.nfsr")
            continue
        ended += 1
        check(process.returncode in (2, -sign), "tshark: exit %d" % process.returncode)
        check(left == [],
              "tshark, %s: ends %d, leaves %s, says %r" % (
                      sign.name, process.returncode, left, said))
    print("tshark was ended %d of 9 times" % ended)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--seed", type=int, default=int(time.time()))
    parser.add_argument("-k", "--keep", type=pathlib.Path, help="work here, and leave it")
    arguments = parser.parse_args()
    print("seed %d" % arguments.seed)
    draw = random.Random(arguments.seed)
    for sign in SIGNALS:  # or they would be ignored in what is started
        signal.signal(sign, signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as temporary:
        scratch = arguments.keep or pathlib.Path(temporary)
        scratch.mkdir(exist_ok=True)
        os.chmod(scratch, 0o777)  # tshark may run as another user
        commands = Commands(scratch)
        half_read(commands)
        races(commands, draw)
        only_own(commands)
        signals(commands, draw)
        in_tshark(commands)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
