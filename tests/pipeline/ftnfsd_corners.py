#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600 asan
"""Corners of the protocol, by a client of our own: statuses that a request can provoke, requests that
are no requests, retransmissions before, during and after the execution, and what the server does with
clients that misbehave.

    ftnfsd_corners.py     environment: BUILD
"""
import pathlib
import socket
import struct
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd, RpcError, parse_reply  # noqa: E402
from messages import MOUNT, NFS, NFSACL, auth_none, auth_sys, opaque, record, u32  # noqa: E402
from model_status import (ACCES, BADHANDLE, BADTYPE, BAD_COOKIE, DQUOT, EXIST, FBIG,  # noqa: E402
                          INVAL, NAMETOOLONG, NOSPC, NOTDIR, NOTEMPTY, NOT_SYNC, PERM, ROFS,
                          TOOSMALL, XDEV)
from model_xdr import (ACCESS, BLK, COMMIT, CREATE, EXCLUSIVE, FIFO, FILE_SYNC, FSINFO,  # noqa: E402
                       FSSTAT, GETATTR, GUARDED, LINK, LOOKUP, MKDIR, MKNOD, NAMES, PATHCONF, READ,
                       READDIR, READDIRPLUS, READLINK, REMOVE, RENAME, RMDIR, SETATTR, SYMLINK,
                       UNCHECKED, WRITE, encode_arguments)

OK, NOENT, STALE, ISDIR = 0, 2, 70, 21
NO_VERIFIER = bytes(8)
failures = []


def check(what, ours, wanted):
    if ours != wanted:
        failures.append("%s: %r, not %r" % (what, ours, wanted))


def create(directory, name, how=UNCHECKED, **settings):
    return {"object": directory, "name": name, "how": how, "settings": settings,
            "verifier": b"verifier"}


def write(file, offset, data, stable=FILE_SYNC):
    return {"object": file, "offset": offset, "count": len(data), "stable": stable,
            "data": [(len(data), data[0])] if data else []}


class Tree:
    """A small tree in an empty export, made by root."""

    def __init__(self, client, path):
        self.client, self.root = client, client.mount(path)
        self.dir = self.make(MKDIR, b"dir", mode=0o755)
        self.full = self.make(MKDIR, b"full", mode=0o755)
        self.file = client.nfs(CREATE, create(self.root, b"file", mode=0o644))[1]["handle"]
        client.nfs(CREATE, create(self.full, b"x", mode=0o600))
        self.link = client.nfs(SYMLINK, {"object": self.root, "name": b"link", "settings": {},
                                         "text": b"file"})[1]["handle"]
        self.fifo = client.nfs(MKNOD, {"object": self.root, "name": b"fifo", "settings": {},
                                       "type": FIFO, "rdev": (0, 0)})[1]["handle"]
        self.gone = self.make(MKDIR, b"gone")
        client.nfs(RMDIR, {"object": self.root, "name": b"gone"})

    def make(self, procedure, name, **settings):
        return self.client.nfs(procedure, {"object": self.root, "name": name,
                                           "settings": settings})[1]["handle"]


def statuses(server):
    client = Client(server)
    t, other = Tree(client, b"/w"), Tree(client, b"/v")
    fixed = client.mount(b"/ro")
    listing = {"cookie": 0, "verifier": NO_VERIFIER}
    user = {"uid": 1000, "gid": 1000}
    long = b"n" * 256
    sattr = {"settings": {"mode": 0o600}}
    cases = [
        # (status, procedure, arguments, credentials)
        (BADHANDLE, GETATTR, {"object": b""}, {}),
        (BADHANDLE, GETATTR, {"object": b"x" * 20}, {}),
        (BADHANDLE, GETATTR, {"object": t.file[:19]}, {}),
        (BADHANDLE, GETATTR, {"object": t.file + bytes(44)}, {}),
        (BADHANDLE, GETATTR, {"object": t.file[:19] + bytes([t.file[19] ^ 1])}, {}),
        (STALE, GETATTR, {"object": t.gone}, {}),
        (STALE, LOOKUP, {"object": t.gone, "name": b"x"}, {}),
        (STALE, READDIR, {"object": t.gone, **listing, "count": 4096}, {}),
        (STALE, RENAME, {"object": t.root, "name": b"file", "object2": t.gone, "name2": b"x"}, {}),
        (PERM, SETATTR, {"object": t.file, **sattr}, user),
        (ACCES, SETATTR, {"object": t.file, "settings": {"size": 1}}, user),
        (NOT_SYNC, SETATTR, {"object": t.file, **sattr, "guard": 1}, {}),
        (FBIG, SETATTR, {"object": t.file, "settings": {"size": 2**63}}, {}),
        (NOTDIR, LOOKUP, {"object": t.file, "name": b"x"}, {}),
        (NOENT, LOOKUP, {"object": t.root, "name": b"nothing"}, {}),
        (NAMETOOLONG, LOOKUP, {"object": t.root, "name": long}, {}),
        (OK, LOOKUP, {"object": t.root, "name": b".."}, {}),
        (OK, ACCESS, {"object": t.file, "access": 0}, user),
        (INVAL, READLINK, {"object": t.file}, {}),
        (INVAL, READ, {"object": t.dir, "offset": 0, "count": 1}, {}),
        (INVAL, READ, {"object": t.link, "offset": 0, "count": 1}, {}),
        (INVAL, READ, {"object": t.fifo, "offset": 0, "count": 1}, {}),
        (OK, READ, {"object": t.file, "offset": 2**64 - 1, "count": 100}, {}),
        (ACCES, WRITE, write(t.file, 0, b"x"), user),
        (FBIG, WRITE, write(t.file, 2**63 - 1, b"xx"), {}),
        (FBIG, WRITE, write(t.file, 2**64 - 1, b"xx"), {}),
        (OK, WRITE, write(t.file, 2**63 - 2, b"x"), {}),
        (INVAL, WRITE, write(t.dir, 0, b"x"), {}),
        (EXIST, CREATE, create(t.root, b"file", GUARDED), {}),
        (EXIST, CREATE, create(t.root, b"dir"), {}),
        (EXIST, CREATE, create(t.root, b"file", EXCLUSIVE), {}),
        (EXIST, CREATE, create(t.root, b"."), {}),
        (NAMETOOLONG, CREATE, create(t.root, long), {}),
        (ACCES, CREATE, create(t.root, b""), {}),
        (ACCES, CREATE, create(t.root, b"a/b"), {}),
        (ACCES, CREATE, create(t.dir, b"x"), user),
        (NOTDIR, CREATE, create(t.file, b"x"), {}),
        (ROFS, CREATE, create(fixed, b"x"), {}),
        (EXIST, MKDIR, {"object": t.root, "name": b"file", "settings": {}}, {}),
        (ROFS, MKDIR, {"object": fixed, "name": b"x", "settings": {}}, {}),
        (EXIST, SYMLINK, {"object": t.root, "name": b"dir", "settings": {}, "text": b"x"}, {}),
        (NAMETOOLONG, SYMLINK, {"object": t.root, "name": b"l", "settings": {},
                                "text": b"x" * 4097}, {}),
        (BADTYPE, MKNOD, {"object": t.root, "name": b"n", "settings": {}, "type": 1}, {}),
        (BADTYPE, MKNOD, {"object": t.root, "name": b"n", "settings": {}, "type": 99}, {}),
        (PERM, MKNOD, {"object": t.root, "name": b"n", "settings": {}, "type": BLK,
                       "rdev": (1, 2)}, user),
        (NOENT, REMOVE, {"object": t.root, "name": b"nothing"}, {}),
        (ISDIR, REMOVE, {"object": t.root, "name": b"dir"}, {}),
        (ACCES, REMOVE, {"object": t.root, "name": b"file"}, user),  # sticky; s3.3.12 has no PERM
        (NOTEMPTY, RMDIR, {"object": t.root, "name": b"full"}, {}),
        (NOTDIR, RMDIR, {"object": t.root, "name": b"file"}, {}),
        (INVAL, RMDIR, {"object": t.root, "name": b"."}, {}),
        (EXIST, RMDIR, {"object": t.root, "name": b".."}, {}),
        (INVAL, RENAME, {"object": t.root, "name": b"dir", "object2": t.dir, "name2": b"x"}, {}),
        (XDEV, RENAME, {"object": t.root, "name": b"file", "object2": other.root,
                        "name2": b"x"}, {}),
        (NOTEMPTY, RENAME, {"object": t.root, "name": b"dir", "object2": t.root,
                            "name2": b"full"}, {}),
        (NOENT, RENAME, {"object": t.root, "name": b"nothing", "object2": t.root,
                         "name2": b"x"}, {}),
        (XDEV, LINK, {"object": t.file, "object2": other.root, "name2": b"x"}, {}),
        (INVAL, LINK, {"object": t.dir, "object2": t.root, "name2": b"x"}, {}),
        (EXIST, LINK, {"object": t.file, "object2": t.root, "name2": b"dir"}, {}),
        (ROFS, LINK, {"object": fixed, "object2": fixed, "name2": b"x"}, {}),
        (NOTDIR, READDIR, {"object": t.file, **listing, "count": 4096}, {}),
        (TOOSMALL, READDIR, {"object": t.root, **listing, "count": 100}, {}),
        (BAD_COOKIE, READDIR, {"object": t.root, "cookie": 77, "verifier": b"01234567",
                               "count": 4096}, {}),
        (TOOSMALL, READDIRPLUS, {"object": t.root, **listing, "dircount": 4096,
                                 "maxcount": 150}, {}),
        (OK, FSSTAT, {"object": t.file}, user), (OK, FSINFO, {"object": t.file}, user),
        (OK, PATHCONF, {"object": t.file}, user),
        (INVAL, COMMIT, {"object": t.dir, "offset": 0, "count": 0}, {}),
    ]
    for status, procedure, arguments, who in cases:
        said, fields = client.nfs(procedure, arguments, **who)
        what = "%s %r by uid %d" % (NAMES[procedure], arguments, who.get("uid", 0))
        check(what, said, status)
        for key in "wcc", "wcc2":
            if key in fields and said not in (BADHANDLE, STALE, XDEV):
                check(what + ": " + key, None in fields[key], False)
    check("a cookie that never was", client.nfs(READDIR, {
        "object": t.root, "cookie": 10**9, "verifier": verifier(client, t.root), "count": 4096})[0],
        BAD_COOKIE)


def small_listings(server):
    """A listing that has no room for an entry was none: it does not change the access time."""
    client = Client(server)
    root = client.mount(b"/w")
    found = set()
    for procedure, count in ((READDIR, "count"), (READDIRPLUS, "maxcount")):
        for size in range(96, 400, 4):
            before = client.nfs(GETATTR, {"object": root})[1]["attributes"].atime
            status = client.nfs(procedure, {"object": root, "cookie": 0, "verifier": NO_VERIFIER,
                                            "dircount": 4096, count: size})[0]
            after = client.nfs(GETATTR, {"object": root})[1]["attributes"].atime
            found.add((procedure, status))
            if (status, after == before) not in ((OK, False), (TOOSMALL, True)):
                check("%s of %d bytes: the access time" % (NAMES[procedure], size), after, before)
    check("small listings", found, {(p, s) for p in (READDIR, READDIRPLUS) for s in (OK, TOOSMALL)})


def verifier(client, directory):
    return client.nfs(READDIR, {"object": directory, "cookie": 0, "verifier": NO_VERIFIER,
                                "count": 4096})[1]["verifier"]


def quotas():
    with Ftnfsd("--export", "/q(no_root_squash)", "--capacity", "64k", "--max-objects", "10",
                "--user-capacity", "16k", "--user-objects", "3") as server:
        client, user = Client(server), {"uid": 1000, "gid": 1000}
        root = client.mount(b"/q")
        made = [client.nfs(CREATE, create(root, b"u%d" % i, mode=0o666), **user) for i in range(4)]
        check("objects of a user", [m[0] for m in made], [OK, OK, OK, DQUOT])
        file = made[0][1]["handle"]
        check("bytes of a user", [client.nfs(WRITE, write(file, 4096 * i, b"x"), **user)[0]
                                  for i in range(5)], [OK, OK, OK, OK, DQUOT])
        made = [client.nfs(CREATE, create(root, b"r%d" % i)) for i in range(8)]
        check("objects", made[-1][0], NOSPC)
        file = made[0][1]["handle"]
        check("bytes", [client.nfs(WRITE, write(file, 4096 * i, b"x"))[0]
                        for i in range(4, 18)][-1], NOSPC)
        check("a hole", client.nfs(SETATTR, {"object": file, "settings": {"size": 2**40}})[0], OK)
        space = client.nfs(FSSTAT, {"object": root})[1]
        check("FSSTAT", (space["tbytes"], space["tfiles"], space["ffiles"]), (65536, 10, 0))


def full_memory():
    """Full memory is an answer, not the end: what is there stays, and room comes back."""
    with Ftnfsd("--export", "/m(no_root_squash)", "--memory-limit", "4M") as server:
        client = Client(server)
        root = client.mount(b"/m")
        file = client.nfs(CREATE, create(root, b"large"))[1]["handle"]
        said = [client.nfs(WRITE, write(file, 65536 * i, b"x" * 65536))[0] for i in range(100)]
        check("4 MiB of memory", (said[0], said[-1], set(said)), (OK, NOSPC, {OK, NOSPC}))
        check("what was written", client.nfs(READ, {"object": file, "offset": 0, "count": 3})[1][
            "data"], [(3, ord("x"))])
        check("cut", client.nfs(SETATTR, {"object": file, "settings": {"size": 0}})[0], OK)
        check("room again", client.nfs(WRITE, write(file, 0, b"y" * 65536))[0], OK)
        check("the end", server.stop()[0], 0)


def other_programs():
    """Faults of MOUNT and NFSACL."""
    with Ftnfsd("--export", "/n(no_root_squash)", "--fault", "MNT:count=1:status=13", "--fault",
                "GETACL:count=1:status=NFS3ERR_IO", "--fault",
                "GETACL:after=1:no-attributes") as server:
        client = Client(server)
        try:
            client.mount(b"/n")
            failures.append("MNT: the fault did nothing")
        except FileNotFoundError as why:
            check("MNT", why.args[0], 13)
        arguments = opaque(client.mount(b"/n")) + u32(1)
        check("GETACL", client.rpc(1, arguments, program=NFSACL)[:8], u32(5, 1))
        check("GETACL, no attributes", client.rpc(1, arguments, program=NFSACL)[:8], u32(OK, 0))


def access_list():
    """GETACL of a mode is as Linux's server and Solaris's have it: with a mask and the owner's ids."""
    with Ftnfsd("--export", "/l(no_root_squash)") as server:
        client = Client(server)
        root = client.mount(b"/l")
        settings = {"mode": 0o751, "uid": 1001, "gid": 1002}
        made = client.nfs(MKDIR, {"object": root, "name": b"d", "settings": settings})[1]["handle"]
        whole = client.rpc(1, opaque(made) + u32(15), program=NFSACL)[8 + 84:]
        check("GETACL", whole, u32(15, 4, 4, 1, 1001, 7, 4, 1002, 5, 16, 0, 5, 32, 0, 1, 0, 0))
        lists = u32(15, 4, 4, 1, 0, 7, 4, 0, 0, 16, 0, 0, 32, 0, 0, 1, 1, 0x1001, 0, 7)
        said = client.rpc(2, opaque(made) + lists, program=NFSACL,
                          credential=auth_sys(1001, 1002, ()))[:4]
        check("SETACL, of which the defaults are no list", said, u32(INVAL))
        check("GETACL behind it", client.rpc(1, opaque(made) + u32(15), program=NFSACL)[8 + 84:], whole)
        check("GETACL of counts", client.rpc(1, opaque(made) + u32(2), program=NFSACL)[8 + 84:],
              u32(2, 4, 0, 0, 0))


# --- what is no request

def refused(client, procedure, arguments, **more):
    try:
        client.rpc(procedure, arguments, **more)
        return OK
    except RpcError as why:
        return (why.accept, *why.detail)


def garbage(server):
    client = Client(server)
    t = Tree(client, b"/w2")
    valid = {
        GETATTR: {"object": t.file}, SETATTR: {"object": t.file, "settings": {"mode": 0o644}},
        LOOKUP: {"object": t.root, "name": b"file"}, ACCESS: {"object": t.file, "access": 1},
        READLINK: {"object": t.link}, READ: {"object": t.file, "offset": 0, "count": 1},
        WRITE: write(t.file, 0, b"four"), CREATE: create(t.root, b"file"),
        MKDIR: {"object": t.root, "name": b"dir", "settings": {}},
        SYMLINK: {"object": t.root, "name": b"link", "settings": {}, "text": b"text"},
        MKNOD: {"object": t.root, "name": b"fifo", "settings": {}, "type": FIFO},
        REMOVE: {"object": t.root, "name": b"nothing"}, RMDIR: {"object": t.root, "name": b"nothing"},
        RENAME: {"object": t.root, "name": b"no", "object2": t.root, "name2": b"no2"},
        LINK: {"object": t.file, "object2": t.root, "name2": b"file"},
        READDIR: {"object": t.root, "cookie": 0, "verifier": NO_VERIFIER, "count": 4096},
        READDIRPLUS: {"object": t.root, "cookie": 0, "verifier": NO_VERIFIER, "dircount": 4096,
                      "maxcount": 4096},
        FSSTAT: {"object": t.root}, FSINFO: {"object": t.root}, PATHCONF: {"object": t.root},
        COMMIT: {"object": t.file, "offset": 0, "count": 0},
    }
    check("procedures that are tried", sorted(valid), list(range(1, 22)))
    for procedure, arguments in valid.items():
        data = encode_arguments(procedure, arguments)
        check(NAMES[procedure], refused(client, procedure, data), OK)
        for cut in range(0, len(data), 4):
            check("%s, %d bytes of it" % (NAMES[procedure], cut),
                  refused(client, procedure, data[:cut]), (4,))
        check("%s and 4 bytes" % NAMES[procedure], refused(client, procedure, data + bytes(4)), (4,))
        check("%s with a long handle" % NAMES[procedure],
              refused(client, procedure, opaque(bytes(65)) + data), (4,))
    for what, arguments, wanted in (
            ("a program", {"program": 77}, (1,)), ("version 2", {"version": 2}, (2, 3, 3)),
            ("version 4", {"version": 4}, (2, 3, 3)),
            ("MOUNT 4", {"program": MOUNT, "version": 4}, (2, 1, 3)),
            ("NFSACL 2", {"program": NFSACL, "version": 2}, (2, 3, 3)),
            ("AUTH_SHORT", {"credential": u32(2) + opaque(b"abcd")}, (None, 1, 2)),
            ("RPCSEC_GSS", {"credential": u32(6) + opaque(bytes(20))}, (None, 1, 2)),
            ("AUTH_SYS cut", {"credential": u32(1) + opaque(bytes(8))}, (None, 1, 1))):
        check(what, refused(client, GETATTR, opaque(t.file), **arguments), wanted)
    check("procedure 22", refused(client, 22, b""), (3,))
    check("NULL", refused(client, 0, b""), OK)
    check("AUTH_NONE", refused(client, GETATTR, opaque(t.file), credential=auth_none()), OK)
    check("WRITE whose count is wrong",
          refused(client, WRITE, opaque(t.file) + u32(0, 0, 5, 0) + opaque(b"four")), (4,))


def closed(server, data):
    """Whether the server closes a connection that sends this."""
    client = Client(server)
    client.socket.settimeout(10)
    client.socket.sendall(data)
    try:
        return client.socket.recv(100) == b""
    except ConnectionError:
        return True
    finally:
        client.close()


def hostile(server):
    check("noise", closed(server, record(b"this is no RPC call at all, but long enough")), True)
    check("a reply", closed(server, record(u32(1, 1, 0, 0, 0, 0))), True)
    check("a record of 2 GiB", closed(server, u32(0xffffffff)), True)
    client = Client(server)
    message = client.message(GETATTR, opaque(client.mount(b"/w")))
    client.send(message, fragments=[1, 0, 3, 4, 4, 8])
    check("a call in seven fragments", parse_reply(client.receive())[1][:4], u32(OK))
    udp = Client(server, udp=True)
    udp.send(b"noise")
    check("UDP after noise", udp.nfs(GETATTR, {"object": client.mount(b"/w")})[0], OK)


# --- retransmissions

def unsafe(t, suffix):
    """Requests that must not be done twice: (procedure, arguments), and what a second one would say."""
    name = b"again" + suffix
    return [
        (CREATE, create(t.root, name, GUARDED), EXIST),
        (WRITE, write(t.file, 0, b"data"), OK),
        (SETATTR, {"object": t.file, "settings": {"mode": 0o640}}, OK),
        (LINK, {"object": t.file, "object2": t.root, "name2": name + b"l"}, EXIST),
        (RENAME, {"object": t.root, "name": name, "object2": t.root, "name2": name + b"2"}, NOENT),
        (REMOVE, {"object": t.root, "name": name + b"2"}, NOENT),
        (REMOVE, {"object": t.root, "name": name + b"l"}, NOENT),
        (MKDIR, {"object": t.root, "name": name, "settings": {}}, EXIST),
        (RMDIR, {"object": t.root, "name": name}, NOENT),
        (SYMLINK, {"object": t.root, "name": name, "settings": {}, "text": b"x"}, EXIST),
        (REMOVE, {"object": t.root, "name": name}, NOENT),
        (MKNOD, {"object": t.root, "name": name, "settings": {}, "type": FIFO}, EXIST),
        (REMOVE, {"object": t.root, "name": name}, NOENT),
    ]


def retransmitted(server, udp):
    client = Client(server, udp)
    t = Tree(Client(server), b"/u" if udp else b"/w3")
    for procedure, arguments, second in unsafe(t, b"-"):
        message = client.message(procedure, encode_arguments(procedure, arguments),
                                 credential=auth_sys(0, 0, ()))
        replies = []
        for _ in range(3):
            client.send(message)
            replies.append(client.receive())
        what = "%s three times over %s" % (NAMES[procedure], "UDP" if udp else "TCP")
        check(what, [r[24:28] for r in replies], [u32(OK)] * 3)
        check(what + ": bytes", len(set(replies)), 1)
        # the same bytes from another port are another request
        stranger = Client(server, udp)
        stranger.send(message)
        check(what + ", then from another port", stranger.receive()[24:28], u32(second))


def reconnected(server):
    """The reply is found after a reconnect from the same port."""
    first = Client(server)
    t = Tree(Client(server), b"/w4")
    message = first.message(CREATE, encode_arguments(CREATE, create(t.root, b"once", GUARDED)),
                            credential=auth_sys(0, 0, ()))
    first.send(message)
    reply, source = first.receive(), first.socket.getsockname()
    first.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    first.close()
    time.sleep(0.2)
    again = Client(server, source=source)
    again.send(message)
    check("CREATE again after a reconnect", again.receive(), reply)


def during():
    """A retransmission while the first one is under way gets no answer of its own."""
    with Ftnfsd("--export", "/d(no_root_squash)", "--fault", "CREATE:delay=300ms") as server:
        for udp in False, True:
            client = Client(server, udp)
            root = client.mount(b"/d") if not udp else Client(server).mount(b"/d")
            message = client.message(CREATE, encode_arguments(CREATE, create(
                root, b"slow%d" % udp, GUARDED)), credential=auth_sys(0, 0, ()))
            client.send(message)
            client.send(message)
            check("CREATE, delayed", client.receive()[24:28], u32(OK))
            client.socket.settimeout(0.6)
            try:
                client.receive()
                failures.append("a call that was under way was answered twice")
            except TimeoutError:
                pass
            client.socket.settimeout(30)
            client.send(message)
            check("CREATE, again after it", client.receive()[24:28], u32(OK))


# --- faults between the peers

def silent(client, seconds=0.5):
    client.socket.settimeout(seconds)
    try:
        return client.receive() is None
    except TimeoutError:
        return True
    finally:
        client.socket.settimeout(30)


def between_peers():
    """Each rule concerns one name, so that one server has all of them."""
    rules = {b"twice": "twice", b"drop": "drop", b"ignore": "ignore", b"close": "close",
             b"cut": "malformed", b"rpc": "rpc-status=SYSTEM_ERR", b"forget": "forget",
             b"late": "delay=400ms", b"half": "every=2:status=NFS3ERR_IO"}
    refusals = {"PROG_UNAVAIL": (1, 0, 0, 0, 1), "PROG_MISMATCH": (1, 0, 0, 0, 2, 3, 3),
                "PROC_UNAVAIL": (1, 0, 0, 0, 3), "GARBAGE_ARGS": (1, 0, 0, 0, 4),
                "RPC_MISMATCH": (1, 1, 0, 2, 2), "AUTH_ERROR": (1, 1, 1, 5)}
    refusals = {name: b"".join(map(u32, words)) for name, words in refusals.items()}
    rules.update((name.encode(), "rpc-status=" + name) for name in refusals)
    options = [o for name, effect in rules.items()
               for o in ("--fault", "CREATE:path=/p/%s:%s" % (name.decode(), effect))]
    with Ftnfsd("--export", "/p(no_root_squash)", *options) as server:
        client = Client(server)
        root = client.mount(b"/p")

        def message(name):
            return client.message(CREATE, encode_arguments(CREATE, create(root, name, GUARDED)),
                                  credential=auth_sys(0, 0, ()))

        def there(name):
            return client.nfs(LOOKUP, {"object": root, "name": name})[0]

        client.send(message(b"twice"))
        check("twice", client.receive(), client.receive())
        lost = message(b"drop")
        client.send(lost)
        check("drop", (silent(client), there(b"drop")), (True, OK))
        client.send(lost)
        check("drop, sent again", client.receive()[24:28], u32(OK))
        client.send(message(b"ignore"))
        check("ignore", (silent(client), there(b"ignore")), (True, NOENT))
        client.send(message(b"cut"))
        check("malformed", len(client.receive()) % 4 == 0 and there(b"cut"), OK)
        client.send(message(b"rpc"))
        try:
            parse_reply(client.receive())
            failures.append("rpc-status: the call was answered")
        except RpcError as why:
            check("rpc-status", (why.accept, there(b"rpc")), (5, NOENT))
        for status, header in refusals.items():
            client.send(message(status.encode()))
            check("rpc-status=" + status, client.receive()[4:], header)
        again = message(b"forget")
        client.send(again)
        client.send(again)
        check("forget", [client.receive()[24:28], client.receive()[24:28]], [u32(OK), u32(EXIST)])
        begun = time.monotonic()
        client.send(message(b"late"))
        check("delay", client.receive()[24:28], u32(OK))
        check("delay of 400 ms", 0.39 < time.monotonic() - begun < 10, True)
        check("every second one", [client.nfs(CREATE, create(root, b"half"))[0] for _ in range(4)],
              [OK, 5, OK, 5])
        closing = Client(server)
        closing.send(message(b"close"))
        try:
            closing.receive()
            failures.append("close: the connection lives")
        except ConnectionError:
            pass


def main():
    exports = [o for name in ("w", "v", "w2", "w3", "w4", "u")
               for o in ("--export", "/%s(no_root_squash)" % name)]
    with Ftnfsd(*exports, "--export", "/ro(ro)") as server:
        statuses(server)
        small_listings(server)
        garbage(server)
        hostile(server)
        retransmitted(server, False)
        retransmitted(server, True)
        reconnected(server)
        code, out, err = server.stop()
        check("the end", (code, err), (0, ""))
        check("the last line", " calls, " in out.splitlines()[-1], True)
    quotas()
    full_memory()
    other_programs()
    access_list()
    between_peers()
    during()
    for failure in failures:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
