# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that work with a server at random, with a seed, several at the same time; and nfstee shadow
as a context, with everything around it."""
import json
import os
import pathlib
import socket
import subprocess
import threading
import time

from live_client import Client, Ftnfsd, RpcError
from model_xdr import (CREATE, DIR, EXCLUSIVE, GETATTR, LOOKUP, MKDIR, MKNOD, OK, READ, READDIR,
                       READDIRPLUS, READLINK, SYMLINK)
from random_operations import Operations
from tee_ring import Relay

SHADOW_SECONDS = 120
STALE = 70
MAKES = CREATE, MKDIR, SYMLINK, MKNOD


class Objects:
    """What the clients know of a server, from its replies."""

    def __init__(self, root):
        self.known, self.attributes, self.lock = [root], {root: None}, threading.Lock()
        self.types, self.times = {root: DIR}, [0]

    def type_of(self, handle):
        return self.types.get(handle)

    def ctime(self, handle):
        found = self.attributes.get(handle)
        return found.ctime if found else None

    def some_time(self):
        return self.times[-1]

    def saw(self, handle, attributes):
        with self.lock:
            if handle not in self.types:
                self.known.append(handle)
            if attributes:
                self.types[handle] = attributes.type
                self.attributes[handle] = attributes
                self.times = self.times[-20:] + [attributes.mtime, attributes.ctime]
            else:
                self.types.setdefault(handle, None)

    def gone(self, handle):
        if handle != self.known[0]:
            self.types[handle] = None


def learn(objects, procedure, arguments, status, fields):
    if status == STALE:
        objects.gone(arguments["object"])
    if status != OK:
        return
    if procedure in (LOOKUP, *MAKES) and fields.get("handle"):
        objects.saw(fields["handle"], fields.get("attributes"))
    elif fields.get("attributes"):
        objects.saw(arguments["object"], fields["attributes"])
    elif fields.get("wcc") and "name" not in arguments and fields["wcc"][1]:
        objects.saw(arguments["object"], fields["wcc"][1])
    for entry in fields.get("entries") or () if procedure == READDIRPLUS else ():
        if entry[1] not in (b".", b"..") and entry[4]:
            objects.saw(entry[4], entry[3])


def list_all(client, procedure, arguments, who):
    """The whole listing, call by call.  The status of the last one."""
    cookie, verifier = 0, bytes(8)
    for _ in range(1000):
        status, fields = client.nfs(procedure, {**arguments, "cookie": cookie, "verifier": verifier}, *who)
        if status != OK or fields["eof"] or not fields["entries"]:
            break
        cookie, verifier = fields["entries"][-1][2], fields["verifier"]
    return status


class Near(Operations):
    """Files end at a place that can be copied in a moment."""

    END = 200000

    def __init__(self, rng, objects):
        super().__init__(rng, objects, far=False)
        self.offsets = [min(o, self.END) for o in self.offsets]

    def settings(self, size=True):
        out = super().settings(size)
        if "size" in out:
            out["size"] = min(out["size"], self.END)
        return out


def is_made_again(objects, procedure, arguments, status, fields):
    """An EXCLUSIVE create of a file that was there: a copy of the file does not have its verifier."""
    return procedure == CREATE and arguments["how"] == EXCLUSIVE and status == OK and \
        fields.get("handle") in objects.types


def work(client, rng, objects, count):
    """|count| random operations.  How many of them no shadow compares, though all is synchronized: those with
    handles of what is gone, and files that are made again."""
    operations, left_out = Near(rng, objects), 0
    for _ in range(count):
        with objects.lock:
            procedure, arguments, who = operations.next()
        try:
            if procedure in (READDIR, READDIRPLUS):
                left_out += list_all(client, procedure, arguments, who) == STALE
                continue
            status, fields = client.nfs(procedure, arguments, *who)
            left_out += status == STALE or is_made_again(objects, procedure, arguments, status, fields)
            learn(objects, procedure, arguments, status, fields)
        except RpcError:
            pass
    return left_out


def tree(client, root, contents=True):
    """{path: (attributes, text or bytes)} of all below |root|, as root sees it."""
    found, todo = {}, [(b"", root)]
    while todo:
        path, handle = todo.pop()
        _, fields = client.nfs(GETATTR, {"object": handle})
        a = fields["attributes"]
        data = None
        if a.type == DIR:
            for name, child in names(client, handle):
                todo.append((path + b"/" + name, child))
        elif a.type == 5:
            data = client.nfs(READLINK, {"object": handle})[1]["text"]
        elif a.type == 1 and contents:
            data = read_all(client, handle, a.size)
        found[path] = a, data
    return found


def names(client, handle):
    cookie, verifier, found = 0, bytes(8), []
    while True:
        status, fields = client.nfs(READDIRPLUS, {"object": handle, "cookie": cookie, "verifier": verifier,
                                                  "dircount": 8192, "maxcount": 32768})
        if status != OK:
            raise RuntimeError("READDIRPLUS: %d" % status)
        found += [(e[1], e[4]) for e in fields["entries"] if e[1] not in (b".", b"..")]
        if fields["eof"]:
            return found
        cookie, verifier = fields["entries"][-1][2], fields["verifier"]


def read_all(client, handle, size):
    """The first and the last 64 KiB, which is all of most files."""
    data = []
    for offset in sorted({0, max(0, size - 65536)}):
        status, fields = client.nfs(READ, {"object": handle, "offset": offset, "count": 65536})
        if status != OK:
            raise RuntimeError("READ: %d" % status)
        data.append(fields["data"])
    return data


class Shadow:
    """nfstee shadow of a relay, for a SUT."""

    def __init__(self, folder, relay, sut, *options, log="log", export="/a"):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / log
        self.control = str(self.folder / (log + ".control"))
        self.program = os.path.join(os.environ["BUILD"], "bin", "nfstee")
        place = "nfs://127.0.0.1%s?nfsport=%d&mountport=%d"
        self.command = [os.environ.get("NFSTEE_SHADOW", self.program), "shadow", "--attach",
                        str(self.folder / "ring"), "--relay", place % (export, relay.port, relay.port),
                        "--sut", place % (export, sut.port, sut.port), "--log", str(self.log),
                        "--control", self.control, "--for", "%ds" % SHADOW_SECONDS, "--json", *options]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.wait_for(self.listens, "its control socket")
        return self

    def listens(self):
        """The socket has a path a moment before it takes connections."""
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.control) == 0

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=60)

    def wait_for(self, what, name, seconds=60):
        end = time.monotonic() + seconds
        while not what():
            if self.process.poll() is not None:
                raise RuntimeError("nfstee shadow ended: %s" % (self.process.communicate(),))
            if time.monotonic() > end:
                raise RuntimeError("nfstee shadow: no %s in %d s: %s" % (name, seconds, self.statistics()))
            time.sleep(0.02)

    def statistics(self):
        done = subprocess.run([self.program, "ctl", self.control, "statistics"], capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)

    def settle(self, seconds=60):
        """Waits until all is synchronized and nothing is under way."""
        def is_settled():
            s = self.statistics()
            return s["synchronized"] and not s["requests"]["waiting"]
        self.wait_for(is_settled, "synchronization", seconds)
        return self.statistics()

    def stop(self):
        """(exit code, totals, standard error)"""
        self.process.terminate()
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, json.loads(out) if out.startswith("{") else out, err


def attached(folder, reference, *options):
    return Relay(reference.port, "--attach", str(pathlib.Path(folder) / "ring"), *options)


def servers(reference=(), sut=(), export="/a(no_root_squash)"):
    return Ftnfsd("--export", export, *reference), Ftnfsd("--export", export, *sut)


def mounted(server):
    client = Client(server)
    return client, client.mount(b"/a")


def settle(*shadows):
    """Waits until all that was asked came through the ring.  The statistics of the last one."""
    time.sleep(0.2)  # more than a shadow waits between two looks at the ring
    return [shadow.settle() for shadow in shadows][-1]
