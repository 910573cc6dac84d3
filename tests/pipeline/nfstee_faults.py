#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=180
"""nfstee shadow tells everything that a SUT does wrong, and nothing else: each kind of fault that ftnfsd can have
meets some requests of one user, and "nfsdigest compare" names exactly these by their XIDs.  A second shadow of the
same relay, whose SUT has no faults, finds nothing.  Behind a reference that takes longer than the shadow remembers
calls, nothing differs either."""
import collections
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from live_client import Client  # noqa: E402
from model_xdr import (ACCESS, COMMIT, CREATE, GETATTR, GUARDED, LOOKUP, MKDIR, OK, READ, READDIR,  # noqa: E402
                       READDIRPLUS, REMOVE, SETATTR, WRITE)
from nfstee_shadow import fates, no_trees_differ  # noqa: E402
from slow_wire import SlowWire  # noqa: E402
from tee_traffic import Shadow, attached, mounted, servers, settle  # noqa: E402

COUNT, FIRST_USER, OTHER = 3, 2000, 1999  # requests that meet a fault; users of the faults; a user of none
UNSTABLE, FILE_SYNC = 0, 2
SLOW = 1.5  # s; more than the shadow remembers what was under way
PROCEDURES = {"GETATTR": GETATTR, "SETATTR": SETATTR, "LOOKUP": LOOKUP, "ACCESS": ACCESS, "READ": READ,
              "WRITE": WRITE, "CREATE": CREATE, "REMOVE": REMOVE, "READDIR": READDIR,
              "READDIRPLUS": READDIRPLUS, "COMMIT": COMMIT}
SEEN = """
GETATTR:status=NFS3ERR_IO GETATTR:size GETATTR:mode-bits=22 GETATTR:shift-times=1h
GETATTR:fileid GETATTR:malformed GETATTR:rpc-status=SYSTEM_ERR GETATTR:ignore GETATTR:drop
LOOKUP:no-attributes ACCESS:no-attributes
READ:eof READ:short READ:wrong-bytes READ:no-attributes
WRITE:short WRITE:no-before WRITE:before-current WRITE:no-attributes WRITE:committed=UNSTABLE WRITE:keep-times
WRITE:status=NFS3ERR_NOSPC WRITE:drop WRITE:ignore
CREATE:no-handle CREATE:no-attributes CREATE:mode-bits=1
SETATTR:no-atime SETATTR:keep-times SETATTR:mode-bits=2 SETATTR:status=NFS3ERR_PERM REMOVE:no-before
READDIR:skip-entry READDIR:twice-entry READDIR:eof READDIR:fileid
READDIRPLUS:skip-entry READDIRPLUS:twice-entry READDIRPLUS:eof READDIRPLUS:no-handle READDIRPLUS:no-attributes
READDIRPLUS:size
COMMIT:status=NFS3ERR_IO
""".split()
# what a client cannot take for wrong
UNSEEN = "GETATTR:delay=100ms GETATTR:twice READ:forget CREATE:handle".split()
# These concern more than the objects of their requests; and while objects are copied again, a name may stand for
# something else on the SUT, so that a status, a handle or a number of links says nothing.
ALONE = """
GETATTR:link-count LOOKUP:handle READDIRPLUS:handle
LOOKUP:status=NFS3ERR_NOENT CREATE:status=NFS3ERR_IO REMOVE:status=NFS3ERR_ACCES
GETATTR:fsid WRITE:verifier COMMIT:verifier WRITE:lose-unstable READDIR:cookie-verifier GETATTR:close
""".split()


class Case:
    """A kind of fault, its user, and a directory with one object for each request, and one for another user's."""

    def __init__(self, number, rule):
        self.rule, self.user = rule, FIRST_USER + number
        self.procedure, self.effect = rule.split(":")
        self.lists = self.procedure.startswith("READDIR")
        self.directories, self.objects = [], []

    def option(self):
        return "%s:uid=%d:%s" % (self.procedure, self.user, self.effect)


class Work:
    """A client that keeps the XIDs of its calls."""

    def __init__(self, server):
        self.client, self.root = mounted(server)
        self.calls = {}  # {xid: (rule, procedure, user, place)}

    def call(self, case, procedure, who, i, arguments):
        status, fields = self.client.nfs(procedure, arguments, who)
        self.calls[self.client.xid] = case.rule, procedure, who, i
        return status, fields

    def make(self, procedure, parent, name, mode):
        status, fields = self.client.nfs(procedure, {"object": parent, "name": name, "how": GUARDED,
                                                     "settings": {"mode": mode}})
        expect("the tree", status, OK)
        return fields["handle"]

    def prepare(self, case):
        top = self.make(MKDIR, self.root, case.rule.encode(), 0o777)
        for i in range(COUNT + 1):
            directory = self.make(MKDIR, top, b"%d" % i, 0o777)
            case.directories.append(directory)
            if case.lists:
                case.objects.append(directory)
                for name in range(5):
                    self.make(CREATE, directory, b"entry%d" % name, 0o644)
                continue
            case.objects.append(self.make(CREATE, directory, b"file", 0o666))
            self.client.nfs(WRITE, {"object": case.objects[-1], "offset": 0, "count": 3000, "stable": FILE_SYNC,
                                    "data": [(3000, 65)]})
            self.client.nfs(SETATTR, {"object": case.objects[-1],
                                      "settings": {"uid": case.user if i < COUNT else OTHER}})

    def ask(self, case, i, who, cookie=(0, bytes(8)), count=8192):
        procedure, of_name = PROCEDURES[case.procedure], {"object": case.directories[i], "name": b"file"}
        more = {
            GETATTR: {}, LOOKUP: of_name, REMOVE: of_name, ACCESS: {"access": 63},
            SETATTR: {"settings": {"mode": 0o640 + i, "atime": 10 ** 18}},
            READ: {"offset": 0, "count": 4096}, COMMIT: {"offset": 0, "count": 0},
            WRITE: {"offset": 100, "count": 500, "stable": FILE_SYNC, "data": [(500, 66)]},
            CREATE: {**of_name, "name": b"new", "how": GUARDED, "settings": {"mode": 0o644}},
            READDIR: {"cookie": cookie[0], "verifier": cookie[1], "count": count},
            READDIRPLUS: {"cookie": cookie[0], "verifier": cookie[1], "dircount": count, "maxcount": 4 * count},
        }[procedure]
        return self.call(case, procedure, who, i, {"object": case.objects[i], **more})

    def ask_all(self, case):
        for i in range(COUNT):
            self.ask(case, i, case.user)
        self.ask(case, COUNT, OTHER)


def alone(work, case, shadow):
    """Returns the calls that must differ: (procedure, user, place)."""
    if case.effect == "fsid":  # one change of the file system
        work.ask(case, 0, case.user)
        return {(GETATTR, case.user, 0)}
    if case.effect == "lose-unstable":
        for i in range(COUNT):
            work.call(case, WRITE, OTHER, i, {"object": case.objects[i], "offset": 0, "count": 1000,
                                              "stable": UNSTABLE, "data": [(1000, 67)]})
        work.ask(case, COUNT, case.user)
        for i in range(COUNT):
            work.call(case, READ, OTHER, i, {"object": case.objects[i], "offset": 0, "count": 100})
        return {(READ, OTHER, i) for i in range(COUNT)}
    if case.effect == "cookie-verifier":  # where a listing goes on
        for i in range(COUNT):
            _, fields = work.ask(case, i, case.user, count=200)
            work.ask(case, i, OTHER, (fields["entries"][-1][2], fields["verifier"]))
        return {(READDIR, OTHER, i) for i in range(COUNT)}
    if case.effect == "close":  # the SUT is away, which is counted
        work.ask(case, 0, case.user)
        return set()
    for i in range(COUNT):
        work.ask(case, i, case.user)
        settle(shadow)
    return {(PROCEDURES[case.procedure], case.user, i) for i in range(COUNT)}


def found(shadow, work, folder):
    """What differs, by the log: {rule: {(procedure, user, place)}}."""
    out, by_rule = str(pathlib.Path(folder) / "out.db"), collections.defaultdict(set)
    done = subprocess.run([os.environ["NFSDIGEST"], "compare", str(shadow.log), "--summary", "-o", out],
                          capture_output=True, text=True)
    expect("exit code of nfsdigest compare", (done.returncode, done.stderr), (1, ""))
    db = sqlite3.connect(out)
    for xid, in db.execute("SELECT DISTINCT o.xid FROM discrepancy d JOIN operation o ON o.side = 1 AND o.id = d.ref"):
        rule, *call = work.calls.get(xid, ("none", xid))
        by_rule[rule].add(tuple(call))
    db.close()
    return by_rule


def effects_of_ftnfsd():
    told = subprocess.run([os.path.join(os.environ["BUILD"], "bin", "ftnfsd"), "--fault", "help"], capture_output=True,
                          text=True, check=True).stdout
    return {re.split("[ =]", line.strip())[0] for line in told.split("effects:")[1].splitlines() if line.strip()}


def every_fault():
    rules = SEEN + UNSEEN + ALONE
    expect("effects", {re.split("[:=]", rule)[1] for rule in rules}, effects_of_ftnfsd())
    cases = [Case(number, rule) for number, rule in enumerate(rules)]
    faults = [word for case in cases for word in ("--fault", case.option())]
    reference, sut = servers(sut=faults)
    good, _ = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, good, attached(folder, reference) as relay:
        work, wanted = Work(relay), {}
        for case in cases:
            work.prepare(case)
        with Shadow(folder, relay, sut, "--timeout", "1s", "--record", "all") as shadow, \
                Shadow(folder, relay, good, log="good") as second:
            settle(shadow, second)
            for case in cases:  # so handles and file numbers are known
                for i in range(COUNT):
                    work.call(case, LOOKUP, OTHER, i, {"object": case.directories[i],
                                                       "name": b"entry0" if case.lists else b"file"})
                    work.call(case, GETATTR, OTHER, i, {"object": case.objects[i]})
            settle(shadow, second)
            before = second.statistics()
            for case in cases:
                if case.rule not in ALONE:
                    work.ask_all(case)
                    wanted[case.rule] = {(PROCEDURES[case.procedure], case.user, i) for i in range(COUNT)
                                         if case.rule in SEEN}
            settle(shadow, second)
            for case in cases:
                if case.rule in ALONE:
                    wanted[case.rule] = alone(work, case, shadow)
                    settle(shadow, second)
            code, totals, _ = shadow.stop()
            expect("exit code", code, 1)
            code, others, _ = second.stop()
            expect("differences of the second shadow", (code, others["verdicts"]["differ"]), (0, 0))
            told = fates(before, others)
            expect("requests that the second shadow has not compared, of %s" % told, told["all"] - told["compared"], 0)
        differ = found(shadow, work, folder)
        for rule in wanted.keys() | differ.keys():
            expect("what differs by " + rule, sorted(differ[rule]), sorted(wanted.get(rule, ())))
        expect("what differed as it ran", totals["verdicts"]["differ"], sum(map(len, wanted.values())))


class LateReply(SlowWire):
    """The reply to the call that comes next after |is_next| was set is late by SLOW."""

    def __init__(self, server):
        super().__init__(server, 0, 0)
        self.is_next, self.late = False, set()

    def pump(self, source, to):
        is_call = source.getsockname()[1] == self.port
        try:
            while data := source.recv(1 << 20):
                if is_call and self.is_next:
                    self.is_next = False
                    self.late.add(to)
                elif source in self.late:
                    self.late.remove(source)
                    time.sleep(SLOW)
                to.sendall(data)
        except OSError:
            pass


class Halved:
    """A client's socket that keeps the end of the next call."""

    def __init__(self, socket):
        self.socket, self.rest = socket, None

    def __getattr__(self, name):
        return getattr(self.socket, name)

    def sendall(self, data):
        self.socket.sendall(data[:50])
        self.rest = data[50:]


def look_meanwhile(wire, client, change, other, looks):
    """|change| is late; |other| looks at what |client| changes."""
    wire.is_next = True
    thread = threading.Thread(target=client.nfs, args=(*change, FIRST_USER))
    thread.start()
    while thread.is_alive():
        time.sleep(SLOW / 10)
        for look in looks:
            expect("a look meanwhile", other.nfs(*look, OTHER)[0], OK)
    thread.join()


def slow_reference(is_halved):
    """What one client changes is seen by another one on the reference, long before the SUT gets it.  All connections
    are older than the shadow, so the changes are the first that it sees of theirs.  |is_halved|: but for the end of a
    call, so it does not know where the next one begins."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, LateReply(reference) as wire, \
            attached(folder, wire) as relay:
        work, other = Work(relay), Client(relay)
        clients = Client(relay), Client(relay)
        directory = work.make(MKDIR, work.root, b"directory", 0o777)
        file = work.make(CREATE, directory, b"file", 0o666)
        for client in clients:
            client.nfs(GETATTR, {"object": file})
            client.socket = Halved(client.socket) if is_halved else client.socket
        begun = [threading.Thread(target=c.nfs, args=(GETATTR, {"object": file})) for c in clients if is_halved]
        for thread in begun:
            thread.start()
        while is_halved and not all(c.socket.rest for c in clients):
            time.sleep(0.01)
        with Shadow(folder, relay, sut) as shadow:
            settle(shadow)
            for client, thread in zip(clients, begun):
                client.socket.socket.sendall(client.socket.rest)
                thread.join()
                client.socket = client.socket.socket
            settle(shadow)
            settle(shadow)
            changes = [(WRITE, {"object": file, "offset": 0, "count": 5000, "stable": FILE_SYNC, "data": [(5000, 66)]}),
                       (CREATE, {"object": directory, "name": b"new", "how": GUARDED, "settings": {"mode": 0o666}})]
            looks = [(GETATTR, {"object": file}), (READ, {"object": file, "offset": 0, "count": 8192}),
                     (GETATTR, {"object": directory}),
                     (READDIR, {"object": directory, "cookie": 0, "verifier": bytes(8), "count": 8192})]
            for client, change in zip(clients, changes):
                look_meanwhile(wire, client, change, other, looks)
            settle(shadow)
            code, totals, _ = shadow.stop()
            expect("differences behind a slow reference", (code, totals["verdicts"]["differ"]), (0, 0))
            expect("requests compared, more than 10", totals["requests"]["compared"] > 10, True)
        no_trees_differ("a slow reference", reference, sut)


def main():
    every_fault()
    for is_halved in False, True:
        slow_reference(is_halved)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
