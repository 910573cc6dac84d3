# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations of an unharmed capture, read without the program's help (tests/gen/streams.py), and
the simplest tree before them that explains what they show: whatever a reply shows, and no call
made, was there. Objects get ids: 1, 2, ... in the order in which they show.
"""
import collections

import streams
from messages import NFS, OK
from model_files import Node
from model_server import Who
from model_status import EXIST, NOTEMPTY
from model_xdr import (CREATE, DIR, LINK, LOOKUP, MKDIR, MKNOD, REMOVE, RENAME, RMDIR, SYMLINK,
                       READDIR, READDIRPLUS, READLINK, REG, Cursor, decode_arguments,
                       decode_result)

Operation = collections.namedtuple(
    "Operation", "frame time xid who procedure arguments status fields")
MAKING = (CREATE, MKDIR, SYMLINK, MKNOD)
NOBODY = Who(65534, 65534)
AUTH_SYS = 1


def call_of(body):
    """(procedure, who, arguments)"""
    c = Cursor(body, 20)
    procedure, flavor, credential = c.u32(), c.u32(), Cursor(c.opaque())
    c.u32()
    c.opaque()  # the verifier
    who = NOBODY
    if flavor == AUTH_SYS:
        credential.u32()
        credential.opaque()
        uid, gid = credential.u32(), credential.u32()
        who = Who(uid, gid, tuple(credential.u32() for _ in range(credential.u32())))
    return procedure, who, body[c.at:]


def result_of(body):
    """The result of an accepted and executed call, or None."""
    c = Cursor(body, 8)
    if c.u32() != 0:
        return None
    c.u32()
    c.opaque()
    return body[c.at:] if c.u32() == 0 else None


def operations(packets):
    """In the order in which their calls were whole; without repetitions and what was not answered.
    """
    reader, calls, found = streams.Reader(packets), {}, []
    messages = [(max(p.frame for p in m.pieces), m) for m in reader.messages]
    for frame, m in sorted(messages, key=lambda f: f[0]):
        if m.direction == 0:
            if (m.program, m.version) == (NFS, 3):
                calls.setdefault((m.source, m.xid), []).append((frame, m.body))
            continue
        waiting = calls.get((m.destination, m.xid))
        if not waiting:
            continue
        call_frame, call = waiting[0]
        del calls[m.destination, m.xid]
        result = result_of(m.body)
        if result is None:
            continue
        procedure, who, arguments = call_of(call)
        found.append(Operation(call_frame, packets[call_frame - 1].time, m.xid, who, procedure,
                               decode_arguments(procedure, arguments),
                               *decode_result(procedure, result, whole=False)))
    return sorted(found, key=lambda op: op.frame)


class Before:
    """The tree before, as operations show it. |ids|: {handle: id}; |nodes|: {id: Node}."""

    def __init__(self, ops):
        self.ids, self.nodes = {}, {}
        self.made = set()    # ids of what calls made
        self.bound = {}      # {(directory id, name): id or None}
        self.initial = {}    # the same, as it was before
        self.described = set()
        self.guessed = set()  # ids without a handle as yet
        for op in ops:
            self.operation(op)

    def tree(self):
        """Nodes for Player; those that hang nowhere are roots."""
        names = collections.defaultdict(list)
        for (directory, name), number in self.initial.items():
            if number is not None and not self.made & {number, directory}:
                names[number].append((directory, name))
        return [Node(**dict(vars(node), names=names[number]))
                for number, node in self.nodes.items() if number not in self.made]

    def id_of(self, handle):
        return self.ids.get(handle, handle)

    def new(self, kind=REG):
        number = len(self.nodes) + 1
        self.nodes[number] = Node(number, kind, 0o777 if kind == DIR else 0o666)
        return number

    def number(self, handle, attributes=None, before=None, links=0):
        """The id of a handle that a server gave or took."""
        if handle not in self.ids:
            self.ids[handle] = self.new()
        number = self.ids[handle]
        self.describe(number, attributes, before, links)
        return number

    def describe(self, number, a, before=None, links=0):
        """|links|: how many the operation made."""
        if a is None or number in self.described:
            return
        self.described.add(number)
        node = self.nodes[number]
        node.type, node.mode, node.uid, node.gid, node.rdev = a.type, a.mode, a.uid, a.gid, a.rdev
        node.size = before.size if before else a.size
        node.fsid, node.ctime = a.fsid, a.ctime
        node.nlink = None if a.type == DIR else a.nlink - links

    def shows(self, directory, name, number=None):
        """|name| is there, and is |number|, or it is not known what."""
        key = directory, name
        if name in (b".", b".."):
            return
        if key not in self.bound:
            if number is None:
                number = self.new()
                self.guessed.add(number)
            self.initial[key] = self.bound[key] = number
        elif number is not None and self.bound[key] != number:
            old = self.bound[key]
            if old in self.guessed:  # now it is known
                for known in self.initial, self.bound:
                    for k in [k for k, v in known.items() if v == old]:
                        known[k] = number
                self.guessed.discard(old)
                del self.nodes[old]
                self.nodes[old] = Node(old)  # ids stay in step
                self.made.add(old)
            self.bound[key] = number

    def takes(self, directory, name, kind=None):
        self.shows(directory, name)
        number = self.bound[directory, name]
        if number in self.guessed and kind == DIR:
            self.nodes[number].type = DIR
        self.bound[directory, name] = None
        return number

    def operation(self, op):
        a, f, ok = op.arguments, op.fields, op.status == OK
        wcc = f.get("wcc") or (None, None)
        if "object" not in a or a["object"] not in self.ids and not ok and not (
                f.get("attributes") or f.get("dir_attributes") or wcc[1]):
            return
        if op.procedure == LINK:
            n = self.number(a["object"], f["attributes"], links=int(ok))
        elif op.procedure == LOOKUP:
            n = self.number(a["object"], f["dir_attributes"])
        elif wcc[1]:
            n = self.number(a["object"], wcc[1], wcc[0])
        else:
            n = self.number(a["object"], None if op.procedure in MAKING else f.get("attributes"))
        if ok or op.status in (EXIST, NOTEMPTY):
            self.names(op, n, a, f, ok)

    def names(self, op, n, a, f, ok):
        procedure, n2 = op.procedure, None
        if "object2" in a:
            wcc = f["wcc" if procedure == LINK else "wcc2"]
            n2 = self.number(a["object2"], wcc[1], wcc[0])
        if not ok:
            if op.status == EXIST and procedure in MAKING:
                self.shows(n, a["name"])
            elif op.status == EXIST and procedure == LINK:
                self.shows(n2, a["name2"])
            elif op.status == NOTEMPTY and procedure == RMDIR:
                self.shows(n, a["name"])
                inside = self.bound[n, a["name"]]
                if not any(k[0] == inside and v is not None for k, v in self.bound.items()):
                    self.shows(inside, b"something")
            return
        if procedure == LOOKUP:
            self.shows(n, a["name"], self.number(f["handle"], f["attributes"]))
        elif procedure in MAKING and f["handle"] is not None:
            fresh = f["handle"] not in self.ids
            number = self.number(f["handle"], f["attributes"])
            if fresh:
                self.made.add(number)
            if (n, a["name"]) not in self.bound:
                self.initial[n, a["name"]] = None if fresh else number
            self.bound[n, a["name"]] = number
        elif procedure in (REMOVE, RMDIR):
            self.takes(n, a["name"], DIR if procedure == RMDIR else None)
        elif procedure == RENAME:
            moved = self.takes(n, a["name"])
            self.bound.setdefault((n2, a["name2"]), None)
            self.bound[n2, a["name2"]] = moved
        elif procedure == LINK:
            self.bound[n2, a["name2"]] = n
        elif procedure in (READDIR, READDIRPLUS):
            for entry in f["entries"]:
                handle = entry[4] if len(entry) > 4 else None
                self.shows(n, entry[1], None if handle is None else
                           self.number(handle, entry[3]))
        elif procedure == READLINK:
            self.nodes[n].text = f["text"]
