#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=300
"""nfstee tap.  What it records of a relay's ring is what the server behind the relay records itself, in
every field but ports and times; also of connections that were open before, and behind an overrun."""
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures
from live_client import Client, Ftnfsd
from tee_ring import Relay

BIN = pathlib.Path(os.environ["BUILD"]) / "bin"
NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
GETATTR, WRITE = 1, 7
PARTIAL = 1


def run(*words, codes=(0,)):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False, timeout=200)
    if done.returncode not in codes:
        raise RuntimeError("%s: %d: %s" % (words, done.returncode, done.stderr))
    return done


class Tap:
    """nfstee tap.  |record|: its stream, once it has ended."""

    def __init__(self, folder, name, *options):
        self.record = pathlib.Path(folder) / (name + ".nfsr")
        self.process = subprocess.Popen(
            [BIN / "nfstee", "tap", "--attach", folder + "/ring", "-o", self.record, "--for", "120s",
             *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        line = self.process.stderr.readline()
        if line != "recording what passes %s/ring\n" % folder:
            raise RuntimeError("nfstee tap: " + line + self.process.stderr.read())

    def end(self, number=signal.SIGTERM):
        """(exit code, what it said)"""
        if number:
            self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def operations(stream):
    """Every field of every operation that does not depend on where and when it was recorded."""
    database = str(stream) + ".db"
    run(NFSDIGEST, "check", stream, codes=(0, 1))
    run(NFSDIGEST, "ingest", "-o", database, stream)
    with sqlite3.connect(database) as db:
        return sorted(db.execute(
            "SELECT xid, program, version, procedure, pairing, call_length, call_flags, reply_length,"
            " reply_flags, rpc_status, status, offset, count, data_length, hex(data_digest),"
            " arguments_length, result_length, hex(arguments), hex(result), credential IS NULL"
            " FROM operation").fetchall(), key=repr)


def problems(stream):
    with sqlite3.connect(str(stream) + ".db") as db:
        return db.execute("SELECT kind, count(*), sum(length) FROM problem GROUP BY 1").fetchall()


def made_up(found, wanted):
    """Operations that the server did not have.  What the tap saw only a part of says so (pairing), and
    flags say where reading began again."""
    known = {row[:6] + row[7:8] + row[9:] for row in wanted}
    return [row for row in found
            if row[4] == 0 and not row[6] & PARTIAL and not row[8] & PARTIAL
            and row[:6] + row[7:8] + row[9:] not in known]


def relayed(url, relay):
    """The server's URL at the relay."""
    where, _, query = url.partition("?")
    rest = [w for w in query.split("&") if not w.startswith(("nfsport", "mountport"))]
    return where + "?" + "&".join([*rest, "nfsport=%d" % relay.port, "mountport=%d" % relay.port])


def test_same(folder):
    """A capture is played through the relay, over TCP and over UDP."""
    dump = folder + "/played.rdump"
    trace = folder + "/played.db"
    run(NFSDIGEST, "ingest", "-o", trace, CAPTURES / "vfs-libnfs-all22.pcap.zst")
    run(NFSDIGEST, "rdump", "--with-results", "-o", dump, trace)
    for name, options in (("tcp", ["-c", "3"]), ("udp", ["--udp", "--force"])):
        own = folder + "/own-%s.nfsr" % name
        with Ftnfsd("--export", "/a", "--record", own) as server:
            with Relay(server.port, "--attach", folder + "/ring", "--control", folder + "/ctl") as relay:
                tap = Tap(folder, name)
                run(BIN / "nfsreplay", "run", "--pace", "asap", *options, dump,
                    relayed(server.urls[0], relay), codes=(0, 1))
                relay.stop()
                # it ends with the relay
                code, said = tap.end(0)
            server.stop()
        expect(name + ": the end", code, 0)
        found, wanted = operations(tap.record), operations(own)
        expect(name + ": said", said.splitlines()[0].startswith("%d operations of " % len(wanted)), True)
        expect(name + ": said at all", len(said.splitlines()), 1)
        expect(name + ": enough", len(wanted) > 100, True)
        expect(name + ": number of operations", len(found), len(wanted))
        expect(name + ": operations", [w for w in wanted if w not in found], [])
        expect(name + ": problems", problems(tap.record), [])


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)


def entries(relay):
    return relay.ctl("statistics")["ring"]["entries"]


def getattrs(client, root, count):
    return [client.nfs(GETATTR, {"object": root})[0] for _ in range(count)]


def test_late(folder):
    """Connections that were open before the tap: from then on, each call is there."""
    own = folder + "/own-late.nfsr"
    with Ftnfsd("--export", "/a", "--record", own) as server:
        with Relay(server.port, "--attach", folder + "/ring", "--control", folder + "/ctl") as relay:
            clients = [Client(relay), Client(relay, udp=True), Client(relay)]
            root = clients[0].mount(b"/a")
            before = sum(len(getattrs(c, root, 5)) for c in clients) + 1
            written = entries(relay)
            tap = Tap(folder, "late")
            wait_until(lambda: entries(relay) >= written + 3)  # the announcement
            for _ in range(10):
                for client in clients:
                    getattrs(client, root, 2)
            code, said = tap.end()
            for client in clients:
                client.close()
        server.stop()
    expect("late: the end", (code, len(said.splitlines())), (0, 1))
    found, wanted = operations(tap.record), operations(own)
    expect("late: all calls", len(found), len(wanted) - before)
    expect("late: calls that the server got", made_up(found, wanted), [])


def test_overrun(folder):
    """The tap stands still while more passes than the ring holds."""
    own = folder + "/own-overrun.nfsr"
    with Ftnfsd("--export", "/a", "--record", own) as server:
        with Relay(server.port, "--attach", folder + "/ring", "--control", folder + "/ctl",
                   "--ring", "1M") as relay:
            silent, busy = Client(relay), Client(relay)
            root = busy.mount(b"/a")
            tap = Tap(folder, "overrun")
            getattrs(silent, root, 3)
            time.sleep(0.3)
            tap.process.send_signal(signal.SIGSTOP)
            # whole messages do not fit into the ring's blocks, so the gap ends within one
            for i in range(40):
                busy.nfs(WRITE, {"object": root, "offset": 0, "count": 60000, "stable": 0,
                                 "data": [(60000, i)]})
            new, udp = Client(relay), Client(relay, udp=True)
            late = getattrs(new, root, 1) + getattrs(udp, root, 1)
            for i in range(40):
                busy.nfs(WRITE, {"object": root, "offset": 0, "count": 60000, "stable": 0,
                                 "data": [(60000, i)]})
            expect("overrun: statuses", late, [0, 0])
            written = entries(relay)
            tap.process.send_signal(signal.SIGCONT)
            # what is left of the ring is read then, and the announcement asked for
            wait_until(lambda: entries(relay) >= written + 4)
            first = [c.xid for c in (silent, busy, new, udp)]
            for client in (silent, busy, new, udp):
                getattrs(client, root, 20)
            code, said = tap.end()
        server.stop()
    lines = said.splitlines()
    expect("overrun: the end", (code, ["entries were overwritten" in line for line in lines[1:2]]),
           (0, [True]))
    found, wanted = operations(tap.record), operations(own)
    expect("overrun: calls that the server got", made_up(found, wanted), [])
    for what, xid in zip(("silent", "busy", "new", "udp"), first):
        calls = {row[0] for row in found if row[4] == 0}
        expect("overrun: calls of the %s one" % what,
               [i for i in range(1, 21) if (xid + i) & 0xffffffff not in calls], [])
    expect("overrun: a hole", [row[0] for row in problems(tap.record) if row[0] == 1], [1])


def test_ends(folder):
    """Where the stream goes, and when it ends."""
    with Ftnfsd("--export", "/a") as server:
        with Relay(server.port, "--attach", folder + "/ring", "--control", folder + "/ctl") as relay:
            client = Client(relay)
            done = subprocess.run([BIN / "nfstee", "tap", "-q", "--attach", folder + "/ring", "--for",
                                   "100ms"], capture_output=True, check=False, timeout=60)
            expect("standard output", (done.returncode, done.stdout[1:5], done.stderr),
                   (0, b"NFSR", b""))
            done = run(BIN / "nfstee", "tap", "--json", "--attach", folder + "/ring", "--for", "100ms", "-o",
                       folder + "/told.nfsr")
            told = json.loads(done.stdout)
            expect("totals as JSON", (told["output"], told["operations"], told["damaged"], done.stderr),
                   (folder + "/told.nfsr", 0, 0, ""))
            tap = Tap(folder, "killed")
            getattrs(client, client.mount(b"/a"), 1)
            tap.end(signal.SIGKILL)
            expect("a tap that was killed", tap.record.exists(), False)
            client.close()
        server.stop()
    for words, code, text in ((["--attach", folder + "/nothing", "-o", folder + "/x"], 4, "nothing"),
                              (["-o", folder + "/x"], 2, "--attach"),
                              (["--attach", folder + "/ring", "x"], 2, "takes no arguments"),
                              (["--attach", folder + "/ring", "--json"], 2, "--json needs -o FILE"),
                              (["--attach", folder + "/ring", "-o", "/nowhere/x"], 4, "/nowhere/x")):
        done = run(BIN / "nfstee", "tap", *words, codes=(code,))
        expect("a message about %s" % words, (text in done.stderr, done.stderr[:8]), (True, "nfstee: "))
    done = subprocess.run([BIN / "nfstee", "tap", "--attach", folder + "/nothing"], capture_output=True, check=False,
                          timeout=60)
    expect("nothing for a pipe", (done.returncode, done.stdout), (4, b""))
    expect("no file", os.path.exists(folder + "/x"), False)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (test_same, test_late, test_overrun, test_ends):
            test(folder)
    sys.exit(bool(failures))


main()
