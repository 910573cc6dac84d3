#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600 plugin
"""Paths and names of objects on traffic of model worlds, whose truth is known: hard links, RENAMEs
over targets, removals, directories that move, with some that are mounted.

- The path of each operation is one that its object has at that moment, or begins at an object
  without a name; and nothing has a partial path that has a name which a reply showed.
- Each name in view object_name was its object's in truth, no two objects have a name at once, and
  no directory has two.
- nfsdigest ingest, tshark's recording and tshark's tree show the same, and so do the parts of a
  capture one after the other, and a server that is reached at several addresses (--same-server).

    names_truth.py [CASE...]
"""
import collections
import json
import os
import pathlib
import random
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import messages  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import packets  # noqa: E402
import traffic  # noqa: E402
from database import rows as query  # noqa: E402
from messages import OK, STALE  # noqa: E402
from model_paths import LATE, Paths  # noqa: E402
from model_xdr import DIR, LINK, LOOKUP, RENAME, REMOVE, RMDIR  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
TSHARK = os.path.join(os.environ["BUILD"], "bin", "tshark")

RESTLESS = dict(move=40, make_directories=25, recreate=15, links=25, save=15, silly=10, tidy=10,
                listing=12)
CHANGES = {p: (0, 0) for p in (RENAME, REMOVE, RMDIR, LINK, 8, 9, 10, 11)}
# |wrong|: so many of a thousand paths may be wrong; |whole|: every object that has a name that was
# shown has a path.
Case = collections.namedtuple("Case", "name world capture mounts wrong whole",
                              defaults=({}, 0, 0, True))
CASES = [
    Case("serial", dict(seed=1, operations=1500, order=model_world.SERIAL, weights=RESTLESS)),
    Case("free", dict(seed=2, operations=2500, hosts=4, processes=3, share=0.15, depth=3,
                      weights=RESTLESS), dict(transport=packets.UDP)),
    Case("mounts", dict(seed=3, operations=2500, hosts=4, share=0.15, depth=3, weights=RESTLESS),
         mounts=60),
    Case("no export", dict(seed=4, operations=2000, share=0.15, depth=3, weights=RESTLESS),
         dict(mounts=False), mounts=40, whole=False),
    Case("loss", dict(seed=5, operations=2500, hosts=4, share=0.15, depth=3, weights=RESTLESS),
         dict(loss=model_capture.Loss(0.1, 0.1, CHANGES, seed=5), transport=packets.UDP), mounts=30,
         whole=False),
    Case("loss of all", dict(seed=6, operations=2500, hosts=4, share=0.15, weights=RESTLESS),
         dict(loss=model_capture.Loss(0.02, 0.02, seed=6), transport=packets.UDP), wrong=20,
         whole=False),
]

failures = []


def fail(text):
    failures.append(text)
    if len(failures) < 40:
        print(text)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", check=False)
    if done.returncode:
        raise RuntimeError("%s: exit %d: %s" % (command[0], done.returncode, done.stderr[-2000:]))
    return done.stdout


class Trunked(model_capture.Writer):
    """A host's connections go to other addresses of the server, one over IPv6."""
    servers = [model_capture.SERVER, "10.0.0.19", "fd00::9"]

    def flow(self, op):
        key = (op.host.number, op.process.number % self.connections)
        if key not in self.flows and len(self.servers) > 1:
            server = self.servers[sum(key) % len(self.servers)]
            client = op.host.address if "." in server else "fd00::1:%d" % op.host.number
            self.flows[key] = traffic.TcpFlow(self, client, 800 + key[1], server,
                                              model_capture.NFS_PORT, mss=self.mss)
            self.flows[key].open()
        return super().flow(op)


class Mounter:
    """Mounts directories of the tree now and then, at the path that they have."""

    def __init__(self, world, paths, writer, times):
        self.world, self.paths, self.writer = world, paths, writer
        self.rng, self.count = random.Random(world.operations), 0
        self.chance = times / world.operations
        self.flow = None

    def take(self, event, _op):
        if event != model_world.REPLY or self.rng.random() >= self.chance:
            return
        handle = self.rng.choice([inode.handle for inode in self.world.server.by_handle.values()
                                  if inode.type == DIR])
        path = self.paths.path(handle)
        if path is None:
            return
        if not self.flow:
            self.flow = traffic.UdpFlow(self.writer, "10.9.9.9", 701, model_capture.SERVER,
                                        model_capture.MOUNT_PORT)
        self.count += 1
        self.flow.send(traffic.CLIENT, [model_capture.Wire(messages.call(
            self.count, model_capture.MNT, messages.opaque(path), messages.MOUNT, 3))])
        self.flow.send(traffic.SERVER, [model_capture.Wire(messages.reply(
            self.count, messages.u32(0) + messages.opaque(handle) + messages.u32(1, 1)))])


def unescape(text):
    return re.sub(rb"\\(\\|x[0-9a-f]{2})",
                  lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1][1:], 16)]),
                  text.encode("utf-8"))


def record(case, capture, writer_class=model_capture.Writer):
    """The operations by (client, xid), and the truth about their objects."""
    world = model_world.World(**case.world)
    paths, operations = Paths(world), {}
    writer = writer_class(capture, world, **case.capture)
    mounter = Mounter(world, paths, writer, case.mounts)
    for event, op in world.run():
        writer.take(event, op)
        mounter.take(event, op)
        if event == model_world.CALL:
            operations[op.host.number, op.xid] = op
    writer.close()
    return operations, paths


def host_of(client):
    if ":" in client:
        return int(client.rpartition(":")[2])
    parts = client.split(".")
    return int(parts[2]) * 250 + int(parts[3]) - 1


def in_dots(paths, handle, name, text, time):
    """LOOKUP of "." and "..": where they lead, or where they were looked up."""
    places = [handle] if name == b"." else [parent for parent, _ in paths.names(handle, time)]
    return any(paths.is_one(place, text, time) for place in places + [handle])


def check_path(db, paths, op, text, directory, name):
    """Whether a path is right: None: it is partial."""
    time = op.reply_time if name in (b".", b"..") else op.call_time
    partial = re.match(r"\[#(\d+)\]", text)
    raw = unescape(text[partial.end():] if partial else text)
    if name and name not in (b".", b".."):
        if not raw.endswith(b"/" + name):
            return False
        raw = raw[:-len(name) - 1]
    if partial:
        top = db.execute("SELECT handle FROM object WHERE id = ?", (partial[1],)).fetchone()[0]
        if name in (b".", b".."):
            return None
        return None if paths.is_below(directory, top, raw, time) else False
    if name in (b".", b".."):
        return in_dots(paths, directory, name, raw, time)
    return paths.is_one(directory, raw, time)


class Known:
    """Which names were shown by the replies that were captured: what a path may be made of."""

    def __init__(self, db):
        self.rows = collections.defaultdict(list)
        for handle, start, stop in db.execute(
                "SELECT o.handle, n.start, n.stop FROM object_name n"
                " JOIN object o ON o.id = n.object"):
            self.rows[handle].append((start, stop))

    def has_name(self, handle, time):
        return any(start <= time - LATE and (stop is None or stop > time)
                   for start, stop in self.rows[handle])


def check_paths(case, db, operations, paths):
    known = Known(db)
    shown = partial = wrong = 0
    for number, client, xid, procedure, path, path2 in db.execute(
            "SELECT id, client, xid, procedure, path, path2 FROM op WHERE program = 'NFS'"
            " AND call_frame IS NOT NULL ORDER BY id"):
        op = operations[host_of(client), xid]
        a = op.arguments
        for text, directory, name in ((path, a.get("object"), a.get("name")),
                                      (path2, a.get("object2"), a.get("name2"))):
            if text is None:
                continue
            good = check_path(db, paths, op, text, directory, name)
            shown += 1
            if good is False:
                wrong += 1
                if wrong * 1000 > case.wrong * len(operations):
                    fail("%s: operation %d, %s: %s is not a path of it at that time" % (
                        case.name, number, procedure, text))
            elif good is None:
                partial += 1
                if case.whole and op.result and op.result.status not in (STALE,) and \
                        paths.names(directory, op.call_time, 0) and \
                        known.has_name(directory, op.call_time):
                    fail("%s: operation %d, %s: %s is partial" % (case.name, number, procedure,
                                                                  text))
    print("%s: %d paths, %d partial, %d wrong" % (case.name, shown, partial, wrong))
    if shown < case.world["operations"] * 0.9:
        fail("%s: only %d paths" % (case.name, shown))


def check_names(case, db, paths):
    """View object_name."""
    rows = db.execute(
        "SELECT o.handle, o.type, p.handle, n.name, n.start, n.stop, n.how, n.stop_how"
        " FROM object_name n JOIN object o ON o.id = n.object JOIN object p ON p.id = n.parent"
        " ORDER BY n.start").fetchall()
    holders, homes, linked = {}, {}, set()
    for handle, kind, parent, name, start, stop, how, stop_how in rows:
        name, end = unescape(name), stop if stop is not None else 2**63
        where = (parent, name)
        lives = [life for life in paths.lives[handle] if life[:2] == where
                 and life.start <= start and (life.stop is None or life.stop >= start - LATE)]
        if not case.wrong and not lives:
            fail("%s: %r was not a name at %d (%s)" % (case.name, where, start, how))
        elif stop_how == "removed" and not case.wrong and \
                not any(life.stop and life.stop <= end for life in lives):
            fail("%s: %r was not removed at %d" % (case.name, where, stop))
        if holders.get(where, (0,))[0] > start:
            fail("%s: %r stands for two objects at %d" % (case.name, where, start))
        holders[where] = (end, handle)
        if kind == DIR:
            if homes.get(handle, 0) > start:
                fail("%s: a directory has two names at %d" % (case.name, start))
            homes[handle] = end
        linked.add((handle, parent, name))
    several = collections.Counter(handle for handle, _, _ in linked)
    if sum(n > 1 for n in several.values()) < 20:
        fail("%s: only %d objects had several names" % (case.name, len(several)))


def check_ops(case, database):
    """ops --object, of the object that had most names."""
    db = sqlite3.connect(database)
    number, count = db.execute("SELECT object, count(*) FROM object_name GROUP BY 1"
                               " ORDER BY 2 DESC, 1").fetchone()
    rows = db.execute("SELECT path, start, stop FROM object_name WHERE object = ? ORDER BY 2",
                      (number,)).fetchall()
    uses = db.execute("SELECT count(*) FROM operation WHERE ?1 IN (object, object2, new_object)"
                      " OR id IN (SELECT operation FROM name_event WHERE object = ?1)",
                      (number,)).fetchone()[0]
    db.close()
    lines = run(NFSDIGEST, "ops", "--object", number, database).splitlines()
    if len(lines) != 1 + count + uses or not lines[0].startswith("object %d of " % number) or \
            any(not line.startswith("  " + row[0] + ": ")
                for line, row in zip(lines[1:], rows)):
        fail("%s: ops --object: %s" % (case.name, lines[:count + 1]))
    lines = run(NFSDIGEST, "ops", "--object", number, "--json", database).splitlines()
    names = json.loads(lines[0])["names"]
    if [(n["path"], n["start"], n["stop"]) for n in names] != rows or len(lines) != 1 + uses:
        fail("%s: ops --object --json: %s" % (case.name, names))
    done = subprocess.run([NFSDIGEST, "ops", "--object", "999999", str(database)],
                          capture_output=True, check=False)
    if done.returncode != 2:
        fail("%s: an object that is not there: %d" % (case.name, done.returncode))


SAME = ("SELECT client, xid, procedure, path, path2, object, object2, new_object FROM op"
        " ORDER BY id", "SELECT * FROM name_event ORDER BY id", "SELECT * FROM path ORDER BY id")


def rows_of(path):
    return [query(path, sql) for sql in SAME]


def rows_of_partial(path):
    return query(path, "SELECT call_frame, reply_frame FROM op WHERE path LIKE '[#%' OR"
                 " path2 LIKE '[#%'")


def writes_escapes():
    """Whether this tshark puts a second backslash before each in its output of fields (since 4.2)."""
    known = subprocess.run([TSHARK, "-E", "escape=y", "-v"], capture_output=True, check=False)
    return known.returncode == 0


def check_doors(case, capture, database, folder):
    """tshark's recording, and its tree."""
    stream, other = folder / "x.nfsr", folder / "x.db"
    run(TSHARK, "-r", capture, "-q", "-z", "nfspair,out=%s" % stream)
    run(NFSDIGEST, "ingest", "-q", "-o", other, stream)
    if rows_of(other) != rows_of(database):
        fail("%s: tshark's recording differs" % case.name)
    other.unlink()
    db = sqlite3.connect(database)
    expected = collections.Counter(
        (str(frame), path) for frame, path in db.execute(
            "SELECT call_frame, path FROM op WHERE program = 'NFS' AND path IS NOT NULL"
            " AND call_frame IS NOT NULL"))
    shown = collections.Counter()
    for passes in ((), ("-2",)):
        lines = run(TSHARK, *passes, "-r", capture, "-Y", "nfspair.path and rpc.msgtyp == 0",
                    "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=|",
                    "-e", "frame.number", "-e", "nfspair.path")
        lines = (lines.replace("\\\\", "\\") if writes_escapes() else lines).splitlines()
        shown = collections.Counter((number, path) for number, _, rest in
                                    (line.partition("\t") for line in lines)
                                    for path in rest.split("|"))
        missing = [pair for pair in expected if pair not in shown]
        if missing:
            fail("%s: tree %s lacks %d paths, as %r" % (case.name, passes, len(missing),
                                                        missing[0]))
    db.close()


def check_parts(case, capture, database, folder):
    """The same capture in three files."""
    data, at, cuts = capture.read_bytes(), 24, [24]
    while at < len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        cuts.append(at)
    parts = []
    for i in range(3):
        begin, end = cuts[len(cuts) * i // 3], cuts[min(len(cuts) * (i + 1) // 3, len(cuts) - 1)]
        parts.append(folder / ("part%d.pcap" % i))
        parts[-1].write_bytes(data[:24] + data[begin:end])
    other = folder / "parts.db"
    for part in parts:
        run(NFSDIGEST, "ingest", "-q", "-o", other, part)
    for one, two, sql in zip(rows_of(other), rows_of(database), SAME):
        if one != two:
            fail("%s: in parts, %s differs" % (case.name, sql))
    other.unlink()


def check_trunks(folder):
    case = Case("trunks", dict(seed=9, operations=1500, hosts=3, processes=3, share=0.15,
                               weights=RESTLESS), dict(connections=3), mounts=20)
    capture, database = folder / "t.pcap", folder / "t.db"
    operations, paths = record(case, capture, Trunked)
    same = [word for other in Trunked.servers[1:]
            for word in ("--same-server", "%s=%s" % (Trunked.servers[0], other))]
    run(NFSDIGEST, "ingest", "-q", *same, "-o", database, capture)
    db = sqlite3.connect(database)
    check_paths(case, db, operations, paths)
    check_names(case, db, paths)
    servers = {row[0] for row in db.execute("SELECT DISTINCT server FROM object")}
    if servers != {Trunked.servers[0]}:
        fail("trunks: objects of %s" % servers)
    if len(db.execute("SELECT DISTINCT server FROM operation").fetchall()) != 3:
        fail("trunks: operations do not keep their addresses")
    db.close()
    run(NFSDIGEST, "record", *same, "-o", folder / "t.nfsr", capture)
    run(TSHARK, "-r", capture, "-q", "-z", "nfspair,out=%s,%s" % (
        folder / "u.nfsr", ",".join("same-server=" + word for word in same[1::2])))
    if (folder / "t.nfsr").read_bytes() != (folder / "u.nfsr").read_bytes():
        fail("trunks: tshark records otherwise")
    run(NFSDIGEST, "ingest", "-q", *same, "-o", folder / "u.db", folder / "u.nfsr")
    if rows_of(folder / "u.db") != rows_of(database):
        fail("trunks: a recorded stream gives another database")
    run(NFSDIGEST, "record", "-o", folder / "apart.nfsr", capture)
    done = subprocess.run([NFSDIGEST, "ingest", "-q", *same, "-o", folder / "apart.db",
                           folder / "apart.nfsr"], capture_output=True, text=True, check=False)
    if done.returncode != 2 or "--same-server" not in done.stderr:
        fail("trunks: a stream that was recorded without it: %d, %s" % (done.returncode,
                                                                        done.stderr))
    partial = {str(frame) for row in rows_of_partial(database) for frame in row if frame}
    shown = run(TSHARK, "-r", capture, "-o", "nfspair.same_server: " + " ".join(same[1::2]),
                "-Y", 'nfspair.path contains "[#" or nfspair.path2 contains "[#"',
                "-T", "fields", "-e", "frame.number").split()
    if set(shown) != partial:
        fail("trunks: the tree shows %d partial paths, not %d" % (len(shown), len(partial)))


def main():
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in CASES:
            if wanted and case.name not in wanted:
                continue
            capture, database = folder / "c.pcap", folder / "c.db"
            operations, paths = record(case, capture)
            run(NFSDIGEST, "ingest", "-q", "-o", database, capture)
            db = sqlite3.connect(database)
            check_paths(case, db, operations, paths)
            check_names(case, db, paths)
            db.close()
            if case.name in ("free", "mounts"):
                check_doors(case, capture, database, folder)
                check_ops(case, database)
                check_parts(case, capture, database, folder)
            database.unlink()
        if not wanted or "trunks" in wanted:
            check_trunks(folder)
    print("%d failures" % len(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
