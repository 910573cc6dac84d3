# SPDX-License-Identifier: GPL-2.0-or-later
"""The requests of an unharmed capture, sent to a live server in the order of their calls, with its own
handles, cookies and times in the place of those of the captured server.

    Player(client, b"/export").play(packets)

So a server's replies can be compared with those of another one to the very same requests: MOUNT's MNT,
NFS and NFSACL version 3.  A request about an object that the live server never showed goes out with the
captured handle.  The rest of a listing that was already complete here is left out.
"""
import streams
from live_client import RpcError
from messages import (LINK, MOUNT, NFS, NFSACL, OK, READDIR, READDIRPLUS, RENAME, SETATTR,
                      opaque)
from model_xdr import Attributes, Cursor, decode_arguments, decode_result, encode_arguments

MNT = 1


class Exchange:
    """A call and its reply as they were captured."""

    def __init__(self, call, reply):
        c = Cursor(call, 12)
        self.program, self.version, self.procedure = c.u32(), c.u32(), c.u32()
        start = c.at
        c.u32()
        c.opaque()
        self.credential = call[start:c.at]
        c.u32()
        c.opaque()
        self.arguments = call[c.at:]
        r = Cursor(reply, 8)
        self.result = None  # of a call that was not executed
        if r.u32() == 0:
            r.u32()
            r.opaque()
            if r.u32() == 0:
                self.result = reply[r.at:]


def exchanges(packets):
    """In the order of calls; one of each call that was sent again."""
    messages = sorted(streams.Reader(packets).messages, key=lambda m: max(p.frame for p in m.pieces))
    calls, replies = {}, {}
    for m in messages:
        if m.direction == 0:
            calls.setdefault((m.source, m.xid), m.body)
        else:
            replies.setdefault((m.destination, m.xid), m.body)
    return [Exchange(body, replies[key]) for key, body in calls.items() if key in replies]


class Player:
    def __init__(self, client, export):
        self.client, self.export = client, export
        self.handles = {}   # {captured: here}
        self.times = {}     # {captured ctime: here}
        self.listings = {}  # {(captured handle, captured cookie): (cookie, verifier) here, or None}
        self.played = self.left_out = 0

    def play(self, packets):
        for e in exchanges(packets):
            if e.program == MOUNT and e.procedure == MNT and e.version == 3 and e.result:
                self.handles[Cursor(e.result, 4).opaque()] = self.client.mount(self.export)
            elif e.program == NFS and e.version == 3 and e.procedure:
                self.nfs(e)
            elif e.program == NFSACL and e.version == 3 and e.procedure:
                self.send(e, self.with_handle(e.arguments))
            else:
                continue
            self.played += 1

    def send(self, e, arguments):
        """The result, or None where the call was refused."""
        try:
            return self.client.rpc(e.procedure, arguments, program=e.program,
                                   credential=e.credential)
        except RpcError:
            return None

    def handle(self, captured):
        return self.handles.get(captured, captured)

    def with_handle(self, arguments):
        c = Cursor(arguments)
        handle = c.opaque()
        return opaque(self.handle(handle)) + arguments[c.at:]

    def nfs(self, e):
        a = decode_arguments(e.procedure, e.arguments)
        if e.procedure in (READDIR, READDIRPLUS):
            arguments = self.listing(e.procedure, a)
        elif e.procedure in (RENAME, LINK, SETATTR):
            for key in "object", "object2":
                if key in a:
                    a[key] = self.handle(a[key])
            if a.get("guard") is not None:
                a["guard"] = self.times.get(a["guard"], a["guard"])
            arguments = encode_arguments(e.procedure, a)
        else:
            arguments = self.with_handle(e.arguments)
        if arguments is None:
            self.left_out += 1
            return
        here = self.send(e, arguments)
        if here is None or e.result is None:
            return
        status, fields = decode_result(e.procedure, e.result, whole=False)
        our_status, ours = decode_result(e.procedure, here)
        self.learn(fields, ours)
        if e.procedure in (READDIR, READDIRPLUS) and status == our_status == OK:
            self.learn_listing(decode_arguments(e.procedure, e.arguments), fields, ours)

    def listing(self, procedure, a):
        """The arguments, or None when there is nothing left to be listed."""
        here = self.listings.get((a["object"], a["cookie"]), (a["cookie"], a["verifier"]))
        if here is None:
            return None
        return encode_arguments(procedure, {**a, "object": self.handle(a["object"]),
                                            "cookie": here[0], "verifier": here[1]})

    def learn_listing(self, a, there, here):
        if there["entries"]:
            self.listings[a["object"], there["entries"][-1][2]] = None if here["eof"] else (
                here["entries"][-1][2], here["verifier"])
        handles = {e[1]: e[4] for e in here["entries"] if len(e) > 4}
        for entry in there["entries"]:
            if len(entry) > 4 and entry[4] and handles.get(entry[1]):
                self.handles[entry[4]] = handles[entry[1]]

    def learn(self, there, here):
        if there.get("handle") and here.get("handle"):
            self.handles[there["handle"]] = here["handle"]
        for key in "attributes", "wcc":
            one, other = there.get(key), here.get(key)
            if key == "wcc" and one and other:
                one, other = one[1], other[1]
            if isinstance(one, Attributes) and isinstance(other, Attributes):
                self.times[one.ctime] = other.ctime
