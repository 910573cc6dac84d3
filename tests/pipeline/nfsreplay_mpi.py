#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 slow
"""nfsreplay-mpi: 1, 2 and 4 ranks judge as nfsreplay does, also when the server answers wrongly; the
server sees each operation after the replies to those of other ranks on which it depends; and a rank that
is killed ends the run of all.

    nfsreplay_mpi.py     environment: BUILD, NFSDIGEST
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import rdump_file  # noqa: E402
import replay_run  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import (COMMIT, CREATE, FILE_SYNC, LOOKUP, OK, READ, READDIR, REMOVE,  # noqa: E402
                       SETATTR, UNCHECKED, UNSTABLE, WRITE)

BIN = replay_run.BIN
MPIRUN = ("mpirun", "--oversubscribe", "--allow-run-as-root", "--mca", "btl", "vader,self",
          "--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo")
CLIENTS = ["127.0.0.%d" % n for n in (2, 3, 4, 5)]
FILES = 16
SLOW = ("CREATE:delay=10ms", "WRITE:delay=10ms", "SETATTR:delay=10ms")
# whatever order they come in, the same ones fail
FAULTS = ("WRITE:path=*/file5:status=NFS3ERR_NOSPC", "READ:path=*/file2:wrong-bytes",
          "COMMIT:path=*/file1?:status=NFS3ERR_IO")
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.600r, not %.600r" % (what, found, wanted))


# --- a trace whose operations depend on those of other clients


def work(clients, root):
    """Each file is made, filled and read by clients in turn; listings go on where others stopped."""
    def ask(number, procedure, **arguments):
        status, fields = clients[number % len(clients)].nfs(procedure, arguments)
        check("the trace's status", status, OK)
        return fields

    for n in range(FILES):
        name = b"file%d" % n
        made = ask(n, CREATE, object=root, name=name, how=UNCHECKED, settings={"mode": 0o644})
        file = made["handle"]
        ask(n + 1, LOOKUP, object=root, name=name)
        for part in range(4):
            ask(n + part, WRITE, object=file, offset=8192 * part, count=4096,
                stable=UNSTABLE if part else FILE_SYNC, data=[(4096, 7)])
        ask(n + 2, COMMIT, object=file, offset=0, count=0)
        ask(n + 3, SETATTR, object=file, settings={"size": 50000 + n})
        for part in range(3):
            ask(n + part, READ, object=file, offset=16384 * part, count=16384)
        if n % 4 == 3:
            ask(n + 1, REMOVE, object=root, name=name)
    cookie, verifier, turn = 0, bytes(8), 0
    while True:
        listing = ask(turn, READDIR, object=root, cookie=cookie, verifier=verifier, count=256)
        if listing["eof"]:
            break
        cookie, verifier, turn = listing["entries"][-1][2], listing["verifier"], turn + 1


def make_trace(scratch):
    """(dump, database) of work()"""
    stream, database, dump = (os.path.join(scratch, "work" + end) for end in
                              (".nfsr", ".db", ".rdump"))
    with Ftnfsd("--export", "/a", "--record", stream) as server:
        clients = [Client(server, source=(address, 0)) for address in CLIENTS]
        work(clients, clients[0].mount(b"/a"))
        for client in clients:
            client.close()
    subprocess.run([BIN / "nfsdigest", "ingest", "-q", "-o", database, stream], check=True)
    subprocess.run([BIN / "nfsdigest", "rdump", "--with-results", "-o", dump, database], check=True,
                   stdout=subprocess.DEVNULL)
    return dump, database


# --- runs


def command(ranks):
    if not ranks:
        return [str(BIN / "nfsreplay")]
    return [*MPIRUN, "-n", str(ranks), str(BIN / "nfsreplay-mpi")]


def play(ranks, dump, kept, *options, server_options=()):
    """The kept report of a run on a server of its own; 0 ranks: nfsreplay."""
    with Ftnfsd("--export", "/a", *server_options) as server:
        populate(dump, server)
        pace = () if "--rate" in options else ("--pace", "asap")
        done = subprocess.run([*command(ranks), "play", "-q", *pace, *options, "-o", kept, dump,
                               server.urls[0]], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode not in (0, 1):
        raise RuntimeError("%d ranks: exit %d: %s" % (ranks, done.returncode, done.stdout + done.stderr))
    result = replay_run.Kept(kept)
    shutil.rmtree(kept)
    differ = set(result.classes) - {"as recorded", "unplayable", "not played"}
    check("%d ranks: exit code" % ranks, done.returncode, 1 if differ else 0)
    return result


def populate(dump, server):
    done = replay_run.run("populate", "-q", dump, server.urls[0])
    if done.returncode:
        raise RuntimeError("populate: " + done.stdout + done.stderr)


def shown(kept):
    """What must be equal however many ranks there are."""
    skipped = kept.classes.get("skipped", 0) > 100 # not all of them are listed
    return ({(m["dump"], m["number"], m["class"], m["got"], m.get("because"), m["text"])
             for m in kept.mismatches if not skipped or m["class"] != "skipped"}, kept.classes,
            {(p["name"], p["operations"], p["differ"], p["trace_count"], p["sent_count"])
             for p in kept.report["procedures"]})


def same_verdicts(scratch, name, dump, ranks, *options, server_options=()):
    kept = os.path.join(scratch, "kept")
    alone = shown(play(0, dump, kept, *options, server_options=server_options))
    for count in ranks:
        found = shown(play(count, dump, kept, *options, server_options=server_options))
        for what, ours, theirs in zip(("mismatches", "classes", "procedures"), found, alone):
            check("%s, %d ranks: %s" % (name, count, what), ours, theirs)
    return alone


# --- dependencies, as the server saw them


def seen(database):
    """{(procedure, name, offset): (id, client, call time, reply time)} of those that are there once"""
    found = {}
    with sqlite3.connect(database) as db:
        for row in db.execute("SELECT o.id, client, call_time, reply_time, procedure, p.name, o.offset"
                              " FROM operation o JOIN path p ON p.id = o.path"
                              " WHERE program = 100003 AND p.name LIKE 'file%'"):
            found.setdefault(row[4:], []).append(row[:4])
    return {key: rows[0] for key, rows in found.items() if len(rows) == 1}


def out_of_order(scratch, dump, database, *options):
    """(how many dependencies between clients were looked at, how many of them the server saw broken)"""
    stream, played = os.path.join(scratch, "played.nfsr"), os.path.join(scratch, "played.db")
    kept = play(4, dump, os.path.join(scratch, "kept"), *options,
                server_options=("--record", stream, *(w for rule in SLOW for w in ("--fault", rule))))
    subprocess.run([BIN / "nfsdigest", "ingest", "-q", "-o", played, stream], check=True)
    keys = {row[0]: (key, row[1]) for key, row in seen(database).items()}
    server, looked, broken = seen(played), 0, 0
    os.unlink(played)
    operations = [r for kind, r in rdump_file.read(dump) if kind == "operation"]
    for op in operations:
        for back in op.dependencies:
            before = operations[op.index - back]
            ours, theirs = keys.get(op.source), keys.get(before.source)
            if not ours or not theirs or ours[1] == theirs[1]:
                continue
            if ours[0] in server and theirs[0] in server:
                looked += 1
                broken += server[ours[0]][2] < server[theirs[0]][3]
    return looked, broken, kept


def dependencies(scratch, dump, database):
    looked, broken, kept = out_of_order(scratch, dump, database)
    check("dependencies between ranks: enough of them", looked > 4 * FILES, True)
    check("dependencies between ranks that the server saw broken", broken, 0)
    check("classes of the run", set(kept.classes), {"as recorded"})
    _, broken, _ = out_of_order(scratch, dump, database, "--order", "none")
    check("without dependencies some are broken", broken > 0, True)
    print("%d dependencies between ranks" % looked)


# --- a rank that dies


def wrapper(scratch):
    """A program that notes a rank's process and its exit code."""
    path = pathlib.Path(scratch, "wrapper")
    path.write_text('#!/bin/sh\n"$@" &\necho $! >%s/pid.$OMPI_COMM_WORLD_RANK\nwait $!\ncode=$?\n'
                    'echo $code >%s/code.$OMPI_COMM_WORLD_RANK\nexit $code\n' % (scratch, scratch))
    path.chmod(0o755)
    return str(path)


def noted(scratch, what):
    """{rank: number}"""
    found = {int(path.suffix[1:]): path.read_text() for path in pathlib.Path(scratch).glob(what + ".*")}
    return {rank: int(text) for rank, text in found.items() if text.strip()}


def killed(scratch, dump, victim):
    kept = os.path.join(scratch, "killed")
    control = os.path.join(scratch, "control")
    with Ftnfsd("--export", "/a", "--control", control) as server:
        populate(dump, server)
        before = replay_run.ctl(control, "statistics")
        *mpirun, program = command(3)
        with subprocess.Popen([*mpirun, wrapper(scratch), program, "play", "--rate", "20", "-o", kept, dump,
                               server.urls[0]],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            wait_for_traffic(control, before)
            os.kill(noted(scratch, "pid")[victim], signal.SIGKILL)
            begun = time.monotonic()
            out, err = run.communicate(timeout=30)
            took = time.monotonic() - begun
    check("rank %d killed: within seconds (%.1f)" % (victim, took), took < 10, True)
    check("rank %d killed: mpirun succeeds" % victim, run.returncode != 0, True)
    codes = noted(scratch, "code")
    # the first one to end makes mpirun end the others' wrappers
    check("rank %d killed: codes of the others" % victim,
          {code for rank, code in codes.items() if rank != victim}, {4})
    for path in pathlib.Path(scratch).glob("code.*"):
        path.unlink()
    check("rank %d killed: said" % victim, "rank %d was lost" % victim in out + err, True)
    report = json.loads(pathlib.Path(kept, "report.json").read_text())
    shutil.rmtree(kept)
    check("rank %d killed: note" % victim, "rank %d was lost" % victim in report["run"]["note"], True)
    done = {c["name"]: c["operations"] for c in report["classes"]}
    check("rank %d killed: some were measured" % victim, done["as recorded"] > 0, True)
    check("rank %d killed: and others not played" % victim, done["not played"] > 0, True)


def wait_for_traffic(control, before):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        now = replay_run.ctl(control, "statistics")
        if made(now) > made(before) + 3:
            return
        time.sleep(0.05)
    raise RuntimeError("nothing is played")


def made(statistics):
    return sum(row["calls"] for row in statistics["procedures"] if row["procedure"] == "WRITE")


# --- a run that ends early


def short(scratch, dump, operations):
    """Every operation is in one class, of one rank."""
    kept = play(3, dump, os.path.join(scratch, "kept"), "--rate", "100", "--duration", "700ms")
    check("classes of a short run", sum(kept.classes.values()), operations)
    check("operations of a short run", 0 < kept.classes["as recorded"] < operations, True)
    check("note of a short run", kept.report["run"]["note"], "its duration was over")


def warm_up(scratch, dump, operations):
    """What is behind the warm-up is measured, also if a rank has nothing to play."""
    for ranks in 2, len(CLIENTS) + 1:
        kept = play(ranks, dump, os.path.join(scratch, "kept"), "--warm-up", "20")
        check("warm-up with %d ranks" % ranks, kept.report["run"]["warm_up"], 20)
        check("measured with %d ranks" % ranks, sum(p["sent_count"] for p in kept.report["procedures"]),
              operations - 20)


def connections(scratch, dump):
    """As many as --connections says, however many of the clients a rank has."""
    stream, played = os.path.join(scratch, "played.nfsr"), os.path.join(scratch, "played.db")
    for ranks in 0, 2:
        play(ranks, dump, os.path.join(scratch, "kept"), "--connections", "8",
             server_options=("--record", stream))
        subprocess.run([BIN / "nfsdigest", "ingest", "-q", "-o", played, stream], check=True)
        with sqlite3.connect(played) as db: # of work()'s READs: what makes the tree has none of them
            used = db.execute("SELECT count(DISTINCT flow) FROM operation"
                              " WHERE program = 100003 AND procedure = 6 AND count = 16384").fetchone()[0]
        os.unlink(played)
        check("--connections 8 with %d ranks" % ranks, used, 8)


def without_tree(dump):
    """What rank 0 alone finds ends all ranks."""
    with Ftnfsd("--export", "/a") as server:
        done = subprocess.run([*command(3), "play", "-q", dump, server.urls[0]], capture_output=True, text=True,
                              check=False, timeout=60)
    alone = subprocess.run([*command(0), "play", "-q", dump, server.urls[0]], capture_output=True, text=True,
                           check=False, timeout=60)
    check("no tree: ends with an error", done.returncode != 0 and alone.returncode != 0, True)
    check("no tree: %r" % done.stderr, done.stderr.count("populate") > 0, True)


# --- words


def refused(words, wanted, code=2):
    done = subprocess.run([BIN / "nfsreplay-mpi", *words], capture_output=True, text=True, check=False,
                          timeout=60)
    check("%s: exit code" % (words,), done.returncode, code)
    check("%s: %r" % (words, done.stderr), wanted in done.stderr, True)


def main():
    if not (BIN / "nfsreplay-mpi").exists():
        print("nfsreplay-mpi was not built: Open MPI is not there")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        dump, database = make_trace(scratch)
        world = replay_run.make_world(os.path.join(scratch, "world.rdump"), seed=5, operations=1000)
        same_verdicts(scratch, "work", dump, (1, 2, 4))
        usual = same_verdicts(scratch, "world", world, (2, 4))
        faulty = same_verdicts(scratch, "faults", dump, (1, 2, 4), server_options=(
            *(word for rule in FAULTS for word in ("--fault", rule)),))
        dependencies(scratch, dump, database)
        connections(scratch, dump)
        without_tree(dump)
        short(scratch, dump, sum(faulty[1].values()))
        warm_up(scratch, dump, sum(faulty[1].values()))
        for victim in 0, 2:
            killed(scratch, dump, victim)
        print(usual[1], faulty[1])
    there = "a", "nfs://127.0.0.1/a"
    refused(["populate", *there], "nfsreplay populate")
    refused(["play", "--loop", "2", *there], "--loop")
    refused(["play", "--record", "x", *there], "--record")
    refused(["play", "a"], "takes a dump and at least one target")
    for failure in failures[:30]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
