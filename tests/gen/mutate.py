# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of captures in which chosen messages are altered, for comparisons that must find just
that.

    messages = mutate.read("a.pcap")                # through streams.py
    pairs = mutate.exchanges(messages)              # calls of NFSv3 with their replies
    items = mutate.decode(pairs[7].procedure, pairs[7].result)
    mutate.drop(items, mutate.find(items, "GETATTR3res.resok.obj_attributes.nlink")[0])
    mutate.write("b.pcap", mutate.with_results(messages, {pairs[7]: mutate.encode(items)}))

Results are lists of items, one for each field that is there, in the words of the table "field" of a
trace database. Written from RFC 1813; it shares nothing with the engine's tables.
"""
import dataclasses
import struct

import capfile
import messages as rpc
import model_recorded
import packets
import streams
import traffic
from messages import (ACCESS, COMMIT, CREATE, FSINFO, FSSTAT, GETATTR, LINK, LOOKUP, MKDIR, MKNOD,
                      NFS, OK, PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REMOVE, RENAME,
                      RMDIR, SETATTR, SYMLINK, WRITE)
from model_xdr import NAMES, decode_arguments, encode_arguments

# A field: (name, kind, fields within). Kinds: u32, u64, opaque, fixed (8 bytes), optional, list.


def words(names, kind="u32"):
    return [(name, kind, ()) for name in names.split()]


def times(names):
    return words(" ".join("%s.seconds %s.nseconds" % (n, n) for n in names.split()))


FATTR3 = (words("type mode nlink uid gid") + words("size used", "u64")
          + words("rdev.specdata1 rdev.specdata2") + words("fsid fileid", "u64")
          + times("atime mtime ctime"))
WCC_ATTR = words("size", "u64") + times("mtime ctime")


def post(name):
    return [(name, "optional", FATTR3)]


def wcc(name):
    return [(name + ".before", "optional", WCC_ATTR), (name + ".after", "optional", FATTR3)]


def within(name, fields):
    return [(name + "." + n, kind, sub) for n, kind, sub in fields]


HANDLE = words("handle", "opaque")
MADE = [("obj", "optional", HANDLE)] + post("obj_attributes") + wcc("dir_wcc")
ENTRY = words("fileid", "u64") + words("name", "opaque") + words("cookie", "u64")
ENTRY_PLUS = ENTRY + post("name_attributes") + [("name_handle", "optional", HANDLE)]


def listing(entry):
    return (post("dir_attributes") + words("cookieverf", "fixed")
            + [("reply.entries", "list", entry)] + words("reply.eof"))


# procedure: (fields of success, of failure)
RESULTS = {
    GETATTR: (within("obj_attributes", FATTR3), []),
    SETATTR: (wcc("obj_wcc"), wcc("obj_wcc")),
    LOOKUP: (words("object", "opaque") + post("obj_attributes") + post("dir_attributes"),
             post("dir_attributes")),
    ACCESS: (post("obj_attributes") + words("access"), post("obj_attributes")),
    READLINK: (post("symlink_attributes") + words("data", "opaque"), post("symlink_attributes")),
    READ: (post("file_attributes") + words("count eof") + words("data", "opaque"),
           post("file_attributes")),
    WRITE: (wcc("file_wcc") + words("count committed") + words("verf", "fixed"), wcc("file_wcc")),
    CREATE: (MADE, wcc("dir_wcc")), MKDIR: (MADE, wcc("dir_wcc")),
    SYMLINK: (MADE, wcc("dir_wcc")), MKNOD: (MADE, wcc("dir_wcc")),
    REMOVE: (wcc("dir_wcc"), wcc("dir_wcc")), RMDIR: (wcc("dir_wcc"), wcc("dir_wcc")),
    RENAME: (wcc("fromdir_wcc") + wcc("todir_wcc"),) * 2,
    LINK: (post("file_attributes") + wcc("linkdir_wcc"),) * 2,
    READDIR: (listing(ENTRY), post("dir_attributes")),
    READDIRPLUS: (listing(ENTRY_PLUS), post("dir_attributes")),
    FSSTAT: (post("obj_attributes") + words("tbytes fbytes abytes tfiles ffiles afiles", "u64")
             + words("invarsec"), post("obj_attributes")),
    FSINFO: (post("obj_attributes") + words("rtmax rtpref rtmult wtmax wtpref wtmult dtpref")
             + words("maxfilesize", "u64") + times("time_delta") + words("properties"),
             post("obj_attributes")),
    PATHCONF: (post("obj_attributes") + words("linkmax name_max no_trunc chown_restricted"
                                              " case_insensitive case_preserving"),
               post("obj_attributes")),
    COMMIT: (wcc("file_wcc") + words("verf", "fixed"), wcc("file_wcc")),
}


def paths(procedure):
    """All that a result may have."""
    root, out = NAMES[procedure] + "3res", []

    def add(prefix, fields):
        for name, _, sub in fields:
            out.append(prefix + name)
            add(prefix + name + ".", sub)

    out.append(root + ".status")
    for arm, fields in zip(("resok", "resfail"), RESULTS[procedure]):
        add("%s.%s." % (root, arm), fields)
    return out


@dataclasses.dataclass
class Item:
    """|value|: a number or bytes. |depth|: in how many optional fields and lists it is."""
    path: str
    kind: str
    value: object
    depth: int = 0

    def wire(self):
        if self.kind == "u64":
            return rpc.u64(self.value)
        if self.kind == "opaque":
            return rpc.opaque(self.value)
        return self.value if self.kind == "fixed" else rpc.u32(self.value)


def decode(procedure, result):
    """The items of a result. Raises ValueError or struct.error if it is not one."""
    cursor, out = rpc_cursor(result), []

    def take(prefix, fields, depth):
        for name, kind, sub in fields:
            path = prefix + name
            if kind == "list":
                while True:
                    more = cursor.u32()
                    out.append(Item(path, kind, more, depth))
                    if not more:
                        break
                    take(path + ".", sub, depth + 1)
                continue
            value = (cursor.u64() if kind == "u64" else cursor.opaque() if kind == "opaque" else
                     cursor.fixed(8) if kind == "fixed" else cursor.u32())
            out.append(Item(path, kind, value, depth))
            if kind == "optional" and value:
                take(path + ".", sub, depth + 1)

    root = NAMES[procedure] + "3res."
    status = cursor.u32()
    out.append(Item(root + "status", "u32", status))
    arm = int(status != OK)
    take(root + ("resok.", "resfail.")[arm], RESULTS[procedure][arm], 0)
    cursor.end()
    return out


def rpc_cursor(data):
    return model_recorded.Cursor(data)


def encode(items):
    return b"".join(item.wire() for item in items)


def find(items, path):
    """Where a field stands: indexes."""
    return [i for i, item in enumerate(items) if item.path == path]


def end_of(items, at):
    """Behind what an optional field, or a list's element, brings."""
    end = at + 1
    while end < len(items) and items[end].depth > items[at].depth:
        end += 1
    return end


def drop(items, at):
    """The optional field is no longer there."""
    del items[at + 1:end_of(items, at)]
    items[at].value = 0


def failed(procedure, items, status):
    """A result of failure that has the attributes of the success |items|."""
    root = NAMES[procedure] + "3res."
    out = [Item(root + "status", "u32", status)]
    for name, kind, sub in RESULTS[procedure][1]:
        source = [i for i in find(items, root + "resok." + name) if items[i].value]
        if not source:
            out.append(Item(root + "resfail." + name, kind, 0))
            continue
        at = source[0]
        out += [Item(item.path.replace(".resok.", ".resfail.", 1), item.kind, item.value,
                     item.depth) for item in items[at:end_of(items, at)]]
    return out


# --- captures


@dataclasses.dataclass(eq=False)
class Message:
    """|client|, |server|: (address, port). |time|: of its last frame, ns."""
    time: int
    transport: int
    client: tuple
    server: tuple
    is_reply: bool
    body: bytes
    lost: bool = False

    @property
    def xid(self):
        return struct.unpack_from(">I", self.body)[0]

    @property
    def key(self):
        return self.client[0], self.xid


@dataclasses.dataclass(eq=False)
class Exchange:
    """A call of NFSv3 and its reply."""
    call: Message
    reply: Message
    procedure: int
    arguments: bytes
    result: bytes

    @property
    def key(self):
        return self.call.key

    def items(self):
        return decode(self.procedure, self.result)


def read(path):
    """The messages of an unharmed capture, in the order in which they end."""
    captured = capfile.read(path)
    reader = streams.Reader(captured)
    found = []
    for m in reader.messages:
        frame = max(p.frame for p in m.pieces)
        is_reply = m.direction == 1
        ends = (m.destination, m.source) if is_reply else (m.source, m.destination)
        found.append((frame, m.start, Message(captured[frame - 1].time, m.transport, *ends,
                                              is_reply, m.body)))
    return [m for _, _, m in sorted(found, key=lambda f: f[:2])]


def is_result(procedure, result):
    """Some servers have bytes behind a result's end."""
    try:
        decode(procedure, result)
    except ValueError:
        return False
    return True


def exchanges(messages):
    """In the order of calls; without those that were not answered with a result. Of a call that was
    sent again, or answered again, the first of each."""
    calls, found, answered = {}, [], set()
    for m in messages:
        if not m.is_reply:
            if m.key not in answered and struct.unpack_from(">II", m.body, 12) == (NFS, 3):
                calls.setdefault(m.key, m)
            continue
        call, result = calls.pop(m.key, None), model_recorded.result_of(m.body)
        if call is None or result is None:
            continue
        answered.add(m.key)
        procedure, _, arguments = model_recorded.call_of(call.body)
        if procedure in RESULTS and is_result(procedure, result):
            found.append(Exchange(call, m, procedure, arguments, result))
    order = {id(m): i for i, m in enumerate(messages)}
    return sorted(found, key=lambda e: order[id(e.call)])


def with_bodies(messages, bodies):
    """A copy with other bodies: {message: bytes}, None: the message is not there."""
    return [dataclasses.replace(m, body=bodies.get(m, m.body)) for m in messages
            if bodies.get(m, b"") is not None]


def with_results(messages, results):
    """A copy with other results, also in further copies of a reply: {exchange: bytes}."""
    bodies = {e.reply: rpc.reply(e.reply.xid, result) for e, result in results.items()}
    same = {(m.key, m.body): new for m, new in bodies.items()}
    for m in messages:
        if m.is_reply and (m.key, m.body) in same:
            bodies[m] = same[m.key, m.body]
    return with_bodies(messages, bodies)


def another_server(messages, exchanges):
    """A copy in which all that is a server's own has other values: handles, numbers of files and
    file systems, verifiers, cookies; in calls, too."""
    def handle(value):
        return bytes(b ^ 0x55 for b in value)

    def number(fsid, value):
        return (value * (2 * fsid + 1) + 1000) & 0xffffffff

    def verifier(value):
        return handle(value) if any(value) else value

    def cookie(value):
        return value + 77 if value else 0

    change = {"fsid": lambda v: v + 5, "cookie": cookie, "verf": verifier, "cookieverf": verifier,
              "handle": handle, "object": handle}
    bodies = {}
    for m in messages:  # MNT's handle, RFC 1813 s5.2.1
        result = model_recorded.result_of(m.body) if m.is_reply and m.server[1] != 2049 else None
        if result and result[:4] == bytes(4):
            cursor = rpc_cursor(result[4:])
            old = cursor.opaque()
            bodies[m] = rpc.reply(m.xid, bytes(4) + rpc.opaque(handle(old))
                                  + result[4 + cursor.at:])
    for e in exchanges:
        items, fsid = e.items(), None
        for i in items:
            name = i.path[i.path.rindex(".") + 1:]
            if name == "fsid":
                fsid = i.value
            if i.path.endswith("entries.fileid"):
                i.value = number(fsid or 0, i.value)
            elif name == "fileid":
                i.value = number(fsid, i.value)
            elif name in change and i.kind != "optional":
                i.value = change[name](i.value)
        bodies[e.reply] = rpc.reply(e.reply.xid, encode(items))
        a = decode_arguments(e.procedure, e.arguments)
        for key in "object", "object2":
            if key in a:
                a[key] = handle(a[key])
        if "cookie" in a:
            a["cookie"], a["verifier"] = cookie(a["cookie"]), verifier(a["verifier"])
        bodies[e.call] = e.call.body[:len(e.call.body) - len(e.arguments)] + encode_arguments(
            e.procedure, a)
    return with_bodies(messages, bodies)


class Writer:
    """Stands in for a traffic.Trace."""

    def __init__(self, file):
        self.file, self.now, self.ident = file, 0, 0

    def next_ident(self):
        self.ident += 1
        return self.ident

    def add(self, packet, vlans=(), pieces=(), lost=False):
        data = packets.ethernet(packet, vlans)
        if not lost:
            self.file.write(struct.pack("<IIII", self.now // 10**9, self.now % 10**9, len(data),
                                        len(data)) + data)
        return traffic.Frame(self.now, b"", pieces, len(data))


class Wire:
    def __init__(self, wire):
        self.wire, self.frames = wire, []


def write(path, messages, reconnect=()):
    """Messages in their order, each in frames of its own; a lost one leaves a hole. |reconnect|:
    messages before which their connection is closed and opened anew."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 262144, packets.ETHERNET))
        writer, flows = Writer(file), {}
        for m in messages:
            writer.now = m.time
            key = m.transport, m.client, m.server
            if key in flows and m in reconnect:
                flows.pop(key).close()
            if key not in flows:
                if m.transport == packets.TCP:
                    flows[key] = traffic.TcpFlow(writer, *m.client, *m.server,
                                                 isn=(m.time & 0xffffffff, m.time >> 8 & 0xffffff))
                    flows[key].open()
                else:
                    flows[key] = traffic.UdpFlow(writer, *m.client, *m.server)
            flow = flows[key]
            side = traffic.SERVER if m.is_reply else traffic.CLIENT
            flow.send(side, [Wire(flow.framed(m.body))], m.lost)
