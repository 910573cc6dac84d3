#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600 asan
"""Corners of the protocol, by a client of our own: statuses that a request can provoke, requests that
are no requests, retransmissions before, during and after the execution, and what the server does with
clients that misbehave.

    ftnfsd_corners.py     environment: BUILD
"""
import os
import pathlib
import socket
import struct
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd, RpcError, parse_reply  # noqa: E402
from messages import MOUNT, NFSACL, auth_none, auth_sys, opaque, record, u32  # noqa: E402
from model_status import BADHANDLE, EXIST, INVAL, NOSPC, TOOSMALL  # noqa: E402
from model_xdr import (CREATE, FIFO, GETATTR, GUARDED, LINK, LOOKUP, MKDIR, MKNOD, NAMES, READ,  # noqa: E402
                       READDIR, READDIRPLUS, REMOVE, RENAME, RMDIR, SETACL, SETATTR, SYMLINK, WRITE,
                       encode_arguments)
from small_tree import NO_VERIFIER, Tree, create, requests, write  # noqa: E402

OK, NOENT = 0, 2
LATE = "127.0.0.7"  # whose calls come late, or not at all
failures = []


def check(what, ours, wanted):
    if ours != wanted:
        failures.append("%s: %r, not %r" % (what, ours, wanted))


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


def limited_process():
    """At a limit of the process (ulimit), too: it keeps enough for its connections."""
    if os.environ.get("SANITIZED"):
        return  # takes terabytes of addresses
    with Ftnfsd("--export", "/m(no_root_squash)", wrapper=("prlimit", "--as=200000000")) as server:
        client = Client(server)
        file = client.nfs(CREATE, create(client.mount(b"/m"), b"large"))[1]["handle"]
        said = [client.nfs(WRITE, write(file, i << 19, b"x" * (1 << 19)))[0] for i in range(250)]
        check("125 MB", (said[0], said[-1], set(said)), (OK, NOSPC, {OK, NOSPC}))
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


def old_mounts():
    """MOUNT 1, which has handles of 32 bytes, and the lists of both versions."""
    with Ftnfsd("--export", "/a", "--export", "/b/c") as server:
        client = Client(server)
        root = client.mount(b"/a")

        def ask(version, procedure, arguments=b""):
            return client.rpc(procedure, arguments, program=MOUNT, version=version,
                              credential=auth_none())

        handle = ask(1, 1, opaque(b"/a"))
        check("MNT 1", handle, u32(OK) + root + bytes(12))
        check("GETATTR of it", client.nfs(GETATTR, {"object": handle[4:]})[0], OK)
        check("GETATTR of another one", client.nfs(GETATTR, {"object": handle[4:-1] + b"x"})[0],
              BADHANDLE)
        check("MNT with more slashes", [client.mount(p) for p in (b"//a", b"///a//")], [root] * 2)
        check("UMNTALL", ask(3, 4), b"")
        client.mount(b"/a")
        check("MNT 1 of nothing", ask(1, 1, opaque(b"/b")), u32(NOENT))
        exports = u32(1) + opaque(b"/a") + u32(0, 1) + opaque(b"/b/c") + u32(0, 0)
        mounted = u32(1) + opaque(b"127.0.0.1") + opaque(b"/a") + u32(0)
        for version in 1, 3:
            check("EXPORT of MOUNT %d" % version, ask(version, 5), exports)
            check("DUMP of MOUNT %d" % version, ask(version, 2), mounted)
        for procedure, arguments in ((3, opaque(b"/a")), (4, b"")):  # UMNT, UMNTALL
            client.mount(b"/a")
            check("MOUNT, procedure %d" % procedure, ask(1, procedure, arguments), b"")
            check("DUMP after it", ask(3, 2), u32(0))


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
    valid = requests(t)
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
        (SETACL, {"object": t.file, "lists": u32(1, 4, 4, 1, 0, 6, 4, 0, 4, 16, 0, 6, 32, 0, 0, 0, 0)}, OK),
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


def unsafe_message(client, procedure, arguments):
    """A call of root."""
    if procedure == SETACL:
        return client.message(2, opaque(arguments["object"]) + arguments["lists"], program=NFSACL,
                              credential=auth_sys(0, 0, ()))
    return client.message(procedure, encode_arguments(procedure, arguments),
                          credential=auth_sys(0, 0, ()))


def retransmitted(server, udp):
    client = Client(server, udp)
    t = Tree(Client(server), b"/u" if udp else b"/w3")
    for procedure, arguments, second in unsafe(t, b"-"):
        message = unsafe_message(client, procedure, arguments)
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


def late_copies(server, path, udp, copies):
    """Sends each unsafe call |copies| times at once: one answer.  And again after it: the same."""
    t, client = Tree(Client(server), path), Client(server, udp, source=(LATE, 0))
    for procedure, arguments, _ in unsafe(t, b"-"):
        message = unsafe_message(client, procedure, arguments)
        for _ in range(copies):
            client.send(message)
        reply = client.receive()
        what = "%s, %d copies over %s" % (NAMES[procedure], copies, "UDP" if udp else "TCP")
        check(what, (reply[:4], reply[24:28]), (message[:4], u32(OK)))
        client.send(message)
        check(what + ", and another one", client.receive(), reply)
    check("a call that was under way was answered twice", silent(client), True)


def during():
    """Retransmissions while the first copy is under way get no answer of their own."""
    with Ftnfsd("--export", "/d(no_root_squash)", "--export", "/e(no_root_squash)",
                "--fault", "*:client=%s:delay=60ms" % LATE) as server:
        late_copies(server, b"/d", False, 3)
        late_copies(server, b"/e", True, 3)


def before():
    """The first copy is lost before it is executed: the second one is a request like any other."""
    rules = [o for p in (SETATTR, *range(WRITE, LINK + 1), SETACL) for again in range(4)
             for o in ("--fault", "%s:client=%s:ignore:after=%d:count=1" % (NAMES[p], LATE, 2 * again))]
    for udp in False, True:
        with Ftnfsd("--export", "/b(no_root_squash)", *rules) as server:
            late_copies(server, b"/b", udp, 2)


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
        small_listings(server)
        garbage(server)
        hostile(server)
        retransmitted(server, False)
        retransmitted(server, True)
        reconnected(server)
        code, out, err = server.stop()
        check("the end", (code, err), (0, ""))
        check("the last line", " calls, " in out.splitlines()[-1], True)
    full_memory()
    limited_process()
    other_programs()
    old_mounts()
    access_list()
    between_peers()
    during()
    before()
    for failure in failures:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
