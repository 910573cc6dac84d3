#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic of model worlds (tests/gen/model_world.py) as nfsdigest and stock tshark see it: the
database has exactly the world's operations, with their objects, names, ranges and frames, and no
wrong type of an object; tshark finds every message, none malformed, with the same values; of a
capture with losses exactly those calls and replies are unpaired whose counterpart was lost.
"""
import collections
import os
import pathlib
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
sys.path[:0] = [str(SRC / "tests"), str(SRC / "tests/gen"), str(SRC / "tests/oracle")]

import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import model_xdr as x  # noqa: E402
import nfsr  # noqa: E402
import packets  # noqa: E402
import stock  # noqa: E402
import tshark  # noqa: E402
from messages import NFS, OK  # noqa: E402
from model_status import NOTDIR  # noqa: E402
from model_truth import Truth  # noqa: E402

Case = collections.namedtuple("Case", "name world capture paths")
LOSSES = {x.LOOKUP: (0.1, 0.0), x.REMOVE: (0.0, 0.1), x.RENAME: (0.05, 0.05)}
CASES = [
    Case("tcp", dict(seed=1, operations=1500), {}, False),
    Case("crowd", dict(seed=2, operations=1500, hosts=6, processes=3, exports=3, share=0.3),
         dict(connections=3, mss=536), False),
    Case("udp", dict(seed=3, operations=1200), dict(transport=packets.UDP), False),
    Case("serial", dict(seed=4, operations=1500, order=model_world.SERIAL), {}, True),
    Case("by call", dict(seed=5, operations=800, order=model_world.BY_CALL, cached=12),
         dict(mounts=False), False),
    Case("loss", dict(seed=6, operations=1500),
         dict(loss=model_capture.Loss(0.02, 0.03, LOSSES, seed=6)), False),
    Case("loss udp", dict(seed=7, operations=1000), dict(
        transport=packets.UDP, loss=model_capture.Loss(0.05, 0.05, seed=7)), False),
]
UNPAIRED_LEAST = 20
NO_DIRECTORIES_LEAST = 5  # of all cases
SHOWS_NEW = (x.LOOKUP, x.CREATE, x.MKDIR, x.SYMLINK, x.MKNOD)

QUERY = """
SELECT o.*, a.handle AS handle, b.handle AS handle2, n.handle AS new_handle, p.text AS path_text,
       q.text AS path2_text, c.uid AS uid
  FROM operation o LEFT JOIN object a ON a.id = o.object LEFT JOIN object b ON b.id = o.object2
  LEFT JOIN object n ON n.id = o.new_object LEFT JOIN path p ON p.id = o.path
  LEFT JOIN path q ON q.id = o.path2 LEFT JOIN credential c ON c.id = o.credential
 WHERE ifnull(o.program, %d) = %d""" % (NFS, NFS)


def name_text(name):
    """As the database writes names (schemas/trace.sql)."""
    return nfsr.escape(name, False)


class Paths:
    """All paths of what operations are about, taken when they are executed. Not of what ever had
    several names: a path is then one that it has or had."""

    def __init__(self):
        self.of = {}  # {Operation.number: (set of texts for path, for path2)}
        self.several = set()  # Inode.number

    def take(self, event, op):
        if event == model_world.EXECUTE:
            a, roles = op.arguments, op.result.roles
            self.of[op.number] = (self.texts(roles.get("object"), a.get("name")),
                                  self.texts(roles.get("object2"), a.get("name2")))

    def texts(self, inode, name):
        if inode is None or not inode.names and inode.export is None:
            return None  # gone
        if inode.type != x.DIR and inode.nlink > 1:
            self.several.add(inode.number)
        if inode.number in self.several:
            return None
        if name in (b".", b".."):
            return None
        found = [(inode.export or b"").decode()] if inode.export else []
        found += [Paths.texts_of(directory) + "/" + name_text(n) for directory, n in inode.names]
        return {text + ("" if name is None else "/" + name_text(name)) for text in found}

    @staticmethod
    def texts_of(directory):
        parts = []
        while directory.names:
            parts.insert(0, name_text(directory.names[0][1]))
            directory = directory.names[0][0]
        return "/".join([directory.export.decode()] + parts)


class Types:
    """What each handle stands for, of all that was there and was made: {handle: type}"""

    def __init__(self, world):
        self.of = {node.key: node.type for node in world.initial}

    def take(self, event, op):
        if event == model_world.EXECUTE and op.result.roles.get("made"):
            self.of[op.result.roles["made"].handle] = op.result.roles["made"].type


def expected(op):
    """The columns that the database must have; None: NULL."""
    call, reply = op.call_frame is not None, op.reply_frame is not None
    pairing = {(True, True): (database.PAIRED,), (False, True): (database.CALL_LOST,),
               (True, False): (database.REPLY_LOST, database.CAPTURE_ENDED)}[call, reply]
    out = {"pairing": pairing, "call_frame": (op.call_frame,), "reply_frame": (op.reply_frame,),
           "call_time": (op.call_time if call else None,),
           "reply_time": (op.reply_time if reply else None,),
           "procedure": (op.procedure if call else None,),
           "status": (op.result.status if call and reply else None,),
           "uid": (op.who.uid if call else None,)}
    a, fields = op.arguments, op.result.fields
    if call:
        out.update(handle=(a.get("object"),), handle2=(a.get("object2"),))
        if op.procedure in (x.READ, x.WRITE, x.COMMIT):
            out.update(offset=(a["offset"],), count=(a["count"],))
        if op.procedure == x.WRITE:
            out.update(data_length=(a["count"],))
    if call and reply and op.result.status == OK:
        if op.procedure in SHOWS_NEW:
            out.update(new_handle=(fields["handle"],))
        if op.procedure == x.READ:
            out.update(data_length=(fields["count"],))
    return out


def check_database(case, truth, paths, path):
    """Yields what is wrong with what ingest makes of the capture."""
    base = database.Database(path)
    found = collections.defaultdict(list)
    for row in base.rows(QUERY):
        found[row["client"], row["xid"]].append(row)
    seen = compared = 0
    for op in truth.operations:
        rows = found.pop((op.host.address, op.xid), [])
        wanted = op.call_frame is not None or op.reply_frame is not None
        if len(rows) != wanted:
            yield "%s: operation %d is there %d times" % (case.name, op.number, len(rows))
        if not wanted or not rows:
            continue
        seen += 1
        for column, values in expected(op).items():
            if rows[0][column] not in values:
                yield "%s: operation %d (%s): %s is %r, not %r" % (
                    case.name, op.number, x.NAMES[op.procedure], column, rows[0][column], values[0])
        for column, texts in zip(("path_text", "path2_text"), paths.of[op.number]):
            if not case.paths or texts is None:
                continue
            compared += 1
            if rows[0][column] not in texts:
                yield "%s: operation %d (%s): %s is %r, not one of %s" % (
                    case.name, op.number, x.NAMES[op.procedure], column, rows[0][column], texts)
    for key in found:
        yield "%s: XID %08x of %s was never sent" % (case.name, key[1], key[0])
    if base.rows("SELECT count(*) FROM retransmission")[0][0]:
        yield case.name + ": retransmissions"
    if "loss" not in case.capture and base.rows("SELECT count(*) FROM problem")[0][0]:
        yield case.name + ": problems"
    unpaired = sum(op.call_frame is None or op.reply_frame is None for op in truth.operations)
    if ("loss" in case.capture) != (unpaired >= UNPAIRED_LEAST):
        yield "%s: %d operations with losses" % (case.name, unpaired)
    base.close()
    if case.paths and compared < seen / 2:
        yield "%s: only %d paths compared" % (case.name, compared)
    print("%-9s %5d operations, %3d unpaired, %4d paths" % (case.name, seen, unpaired, compared))


def check_types(case, truth, types, path, asked_in_all):
    """Yields what is wrong with the types of objects: they are true, or not known; directories are
    known by a name that was found in them or changed, and not by one that was asked for."""
    directories, asked = set(), set()
    for op in truth.operations:
        if op.call_frame is None or op.reply_frame is None:
            continue
        inside = {op.arguments[key] for key, name in (("object", "name"), ("object2", "name2"))
                  if name in op.arguments}
        if op.result.status == OK:
            directories |= inside
        elif op.result.status == NOTDIR:
            asked |= {handle for handle in inside if types.of.get(handle) not in (None, x.DIR)}
    base = database.Database(path)
    for row in base.rows("SELECT handle, type FROM object"):
        true = types.of.get(row["handle"])
        if row["type"] not in (None, true) or row["handle"] in directories and row["type"] is None:
            yield "%s: object %s is of type %s, not %s%s" % (
                case.name, row["handle"].hex(), row["type"], true,
                ", and was asked for a name" if row["handle"] in asked else "")
    base.close()
    asked_in_all.extend(asked)


# What tshark is asked for, and what it is in model_xdr
HANDLE, NAME, STATUS = "nfs.fhandle", "nfs.name", "nfs.status3"
OF_ATTRIBUTES = {"nfs.fattr3.type": "type", "nfs.fattr3.nlink": "nlink", "nfs.fattr3.size": "size",
                 "nfs.fattr3.fileid": "fileid", "nfs.mtime.sec": None}
OF_ARGUMENTS = {"nfs.offset3": "offset", "nfs.read.eof": None, "nfs.readlink.data": None}


def attributes_in_order(op):
    """All fattr3 of a reply, as they stand on the wire."""
    status, fields = op.result.status, op.result.fields
    first, last, failure = x.FORMS[op.procedure]
    key = {"a": "attributes", "d": "dir_attributes", "w": "wcc", "v": "wcc2"}

    def posts(form):
        return [fields[key[c]] if c in "ad" else fields[key[c]][1] for c in form]
    if status != OK:
        found = posts(failure)
    else:
        found = posts(first)
        if op.procedure in (x.GETATTR, x.CREATE, x.MKDIR, x.SYMLINK, x.MKNOD):
            found.append(fields["attributes"])
        if op.procedure == x.READDIRPLUS:
            found += [entry[3] for entry in fields["entries"]]
        found += posts(last)
    return [a for a in found if a is not None]


def expected_fields(op, direction):
    """{tshark's field: values in the order of the message}"""
    a, fields, out = op.arguments, op.result.fields, collections.defaultdict(list)
    if direction == "call":
        out[HANDLE] = ["x" + a[k].hex() for k in ("object", "object2") if k in a]
        out[NAME] = ["x" + a[k].hex() for k in ("name", "name2") if k in a]
        if "offset" in a:
            out["nfs.offset3"] = ["n%d" % a["offset"]]
        return out
    out[STATUS] = ["n%d" % op.result.status]
    attributes = attributes_in_order(op)
    for field, key in OF_ATTRIBUTES.items():
        out[field] = ["n%d" % (getattr(v, key) if key else v.mtime // 10**9) for v in attributes]
    if fields.get("wcc"):  # wcc_attr has an mtime, too
        out["nfs.mtime.sec"] = None
    if fields.get("handle"):
        out[HANDLE] = ["x" + fields["handle"].hex()]
    if op.result.status == OK and op.procedure == x.READ:
        out["nfs.read.eof"] = ["n%d" % fields["eof"]]
    if op.result.status == OK and op.procedure == x.READLINK:
        out["nfs.readlink.data"] = ["x" + fields["text"].hex()]
    if op.procedure == x.READDIRPLUS and op.result.status == OK:
        out[HANDLE] = ["x" + e[4].hex() for e in fields["entries"]]
    return out


def check_tshark(case, truth, capture):
    """Yields what stock tshark finds else than was meant."""
    seen = stock.Seen(capture)
    for what, count in seen.wrong.items():
        if "loss" not in case.capture or not what.startswith("TCP:"):
            yield "%s: tshark: %s, %d times, first in frame %s" % (case.name, what, count,
                                                                   seen.example[what])
    if "loss" in case.capture:
        return  # it pairs and reassembles in its own ways then
    wanted = {HANDLE, NAME, STATUS} | OF_ATTRIBUTES.keys() | OF_ARGUMENTS.keys()
    reader = tshark.Reader(wanted, (), tshark.field_types())
    ops = {(op.xid, frame): (op, direction) for op in truth.operations
           for frame, direction in ((op.call_frame, "call"), (op.reply_frame, "reply"))}
    found, compared = 0, 0
    for message in reader.messages(capture, False):
        if message.program != NFS:
            continue
        found += 1
        if (message.xid, message.frame) not in ops:
            yield "%s: tshark has XID %08x in frame %d" % (case.name, message.xid, message.frame)
            continue
        op, direction = ops[message.xid, message.frame]
        have = collections.defaultdict(list)
        for name, value in message.fields:
            have[name].append(value)
        if (message.direction, message.procedure) != (direction, op.procedure) or message.leftover:
            yield "%s: frame %d: not a whole %s" % (case.name, message.frame, direction)
        for name, values in expected_fields(op, direction).items():
            if values is not None and have[name] != values:
                yield "%s: frame %d (%s %s): tshark's %s is %s, not %s" % (
                    case.name, message.frame, x.NAMES[op.procedure], direction, name, have[name],
                    values)
            compared += len(values or ())
    if found != 2 * len(truth.operations):
        yield "%s: tshark finds %d messages of %d" % (case.name, found, 2 * len(truth.operations))
    print("%-9s %5d messages, %6d values as in tshark" % (case.name, found, compared))


def run(case, directory, asked):
    capture, base = directory / (case.name + ".pcap"), directory / (case.name + ".db")
    world = model_world.World(**case.world)
    truth, paths, types = Truth(world, granularities=()), Paths(), Types(world)
    frames = model_capture.record(world, capture, [truth.take, paths.take, types.take],
                                  **case.capture)
    truth.finish()
    if len(truth.operations) != case.world["operations"]:
        yield "%s: %d operations made" % (case.name, len(truth.operations))
    database.ingest(base, capture)
    if database.Database(base).rows("SELECT frames FROM source")[0][0] != frames:
        yield case.name + ": not all frames"
    yield from check_database(case, truth, paths, base)
    yield from check_types(case, truth, types, base, asked)
    yield from check_tshark(case, truth, str(capture))


def main():
    wrong, asked = 0, []
    with tempfile.TemporaryDirectory(prefix="model.") as directory:
        for case in CASES:
            if sys.argv[1:] and case.name not in sys.argv[1:]:
                continue
            lines = list(run(case, pathlib.Path(directory), asked))
            wrong += len(lines)
            for line in lines[:10]:
                print(line)
    if len(asked) < NO_DIRECTORIES_LEAST and not sys.argv[1:]:
        wrong += 1
        print("only %d objects were asked for names and are no directories" % len(asked))
    print("%d wrong" % wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
