#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest compare on a trace against copies of it in which one thing was altered: exactly that is
found, with its field and the frames of the reply; what rules let pass is not."""

import os
import pathlib
import shutil
import sqlite3
import struct
import sys
import tempfile

from comparing import check, compare, failures, run

CAPTURE = pathlib.Path(os.environ["CAPTURES"]) / "vfs-libnfs-all22.pcap.zst"
GETATTR, LOOKUP, ACCESS, READLINK, READ, WRITE, CREATE = 1, 3, 4, 5, 6, 7, 8
REMOVE, READDIRPLUS, FSINFO, PATHCONF = 12, 17, 19, 20
MODE = 4 + 4 + 24 + 4 + 4


def number(data, at):
    return struct.unpack_from(">I", data, at)[0]


def put(at, value, form=">I"):
    """Overwrites a value at |at|; negative: from the end."""
    def change(data):
        data = bytearray(data)
        struct.pack_into(form, data, at if at >= 0 else len(data) + at, value)
        return bytes(data)
    return change


def flip(at, bits):
    return lambda data: put(at, number(data, at if at >= 0 else len(data) + at) ^ bits)(data)


def add(at, more):
    return lambda data: put(at, number(data, at if at >= 0 else len(data) + at) + more)(data)


def without(at, length, before=None):
    """Takes bytes away; the flag before them becomes 0."""
    def change(data):
        data = put(before, 0)(data) if before is not None else data
        return data[:at] + data[at + length:]
    return change


def entries(data):
    """Where the entries of a READDIR or READDIRPLUS reply (NFS3_OK, with attributes) stand:
    (start, end, name's start, name's length); and where the end of the list."""
    found, at = [], 4 + 4 + 84 + 8
    while number(data, at):
        start, length = at, number(data, at + 12)
        name = at + 16
        at = name + (length + 3) // 4 * 4 + 8
        if PLUS[0]:
            at += 4 + 84 * number(data, at)
            at += 4 + (4 + (number(data, at + 4) + 3) // 4 * 4) * number(data, at)
        found.append((start, at, name, length))
    return found, at


PLUS = [False]


def listing(plus, change):
    def wrapped(data):
        PLUS[0] = plus
        return change(data, *entries(data))
    return wrapped


def without_entry(data, found, _end):
    start, end, _, _ = found[5]
    return data[:start] + data[end:]


def reversed_entries(data, found, end):
    pieces = [data[a:b] for a, b, _, _ in found]
    return data[:found[0][0]] + b"".join(reversed(pieces)) + data[end:]


def upper_name(data, found, _end):
    _, _, name, length = [f for f in found if data[f[2]:f[2] + f[3]].startswith(b"filler")][0]
    return data[:name] + data[name:name + length].upper() + data[name + length:]


def other_number(data, found, _end):
    return put(found[5][0] + 8, 4242)(data)


def no_end(data, _found, end):
    return put(end + 4, 0)(data)


# name, procedure, which of its replies, what is done to it, [(kind, field, difference)]; None: any
RESULT = [
    ("eof", READ, 0, flip(96, 1), [("value", "READ3res.resok.eof", None)]),
    ("attributes follow", READ, 0, without(8, 84, 4),
     [("presence", "READ3res.resok.file_attributes", "only ref")]),
    ("short read", READ, 0, add(92, -1), [("value", "READ3res.resok.count", "sut smaller")]),
    ("mode", GETATTR, 1, flip(8, 0o100), [("value", "GETATTR3res.resok.obj_attributes.mode", None)]),
    ("mode outside", GETATTR, 1, flip(8, 0o100000), []),
    ("type", GETATTR, 1, put(4, 7), [("value", "GETATTR3res.resok.obj_attributes.type", None)]),
    ("nlink", GETATTR, 1, add(12, 1), [("value", "GETATTR3res.resok.obj_attributes.nlink", None)]),
    ("uid", GETATTR, 1, add(16, 1), [("value", "GETATTR3res.resok.obj_attributes.uid", None)]),
    ("size", GETATTR, 1, add(28, 1), [("value", "GETATTR3res.resok.obj_attributes.size", None)]),
    ("size of a directory", GETATTR, 0, add(28, 1), []),
    ("used", GETATTR, 1, add(36, 512), []),
    ("device of a file", GETATTR, 1, add(40, 1), []),
    ("fsid", GETATTR, 1, add(52, 1), [("pattern", "GETATTR3res.resok.obj_attributes.fsid", None)]),
    ("fileid", GETATTR, 1, add(60, 1),
     [("pattern", "GETATTR3res.resok.obj_attributes.fileid", "sut changed, ref not")]),
    ("atime", GETATTR, 1, add(64, 3600),
     [("time", "GETATTR3res.resok.obj_attributes.atime", None)]),
    ("mtime", GETATTR, 1, add(72, -3600),
     [("time", "GETATTR3res.resok.obj_attributes.mtime", None)]),
    ("nanoseconds", GETATTR, 1, put(68, 10**9),
     [("malformed", "GETATTR3res.resok.obj_attributes.atime", "only sut's")]),
    ("many nanoseconds", GETATTR, 1, put(84, 0xffffffff),
     [("malformed", "GETATTR3res.resok.obj_attributes.ctime", "only sut's")]),
    ("nanoseconds before", REMOVE, 3, put(28, 1073741822),
     [("malformed", "REMOVE3res.resok.dir_wcc.before.ctime", "only sut's")]),
    ("ctime, a little", GETATTR, 0, add(84, 1000), []),
    ("status", GETATTR, 3, put(0, 5), [("status", "GETATTR3res.status", None)]),
    ("access", ACCESS, 0, flip(-4, 2), [("value", "ACCESS3res.resok.access", None)]),
    ("link", READLINK, 0, flip(-4, 0x01000000), [("value", "READLINK3res.resok.data", "differs")]),
    ("handle", LOOKUP, 0, flip(12, 0xff), [("pattern", "LOOKUP3res.resok.object", None)]),
    ("verifier", WRITE, 1, flip(-4, 1), [("pattern", "WRITE3res.resok.verf", "sut changed, ref not")]),
    ("committed", WRITE, 1, put(-12, 1), [("value", "WRITE3res.resok.committed", None)]),
    ("short write", WRITE, 1, add(-16, -1), [("value", "WRITE3res.resok.count", "sut smaller")]),
    ("before", REMOVE, 3, without(8, 24, 4), [("presence", "REMOVE3res.resok.dir_wcc.before", None)]),
    ("name_max", PATHCONF, 0, add(-20, 1), [("value", "PATHCONF3res.resok.name_max", None)]),
    ("properties", FSINFO, 0, flip(-4, 1), [("value", "FSINFO3res.resok.properties", None)]),
    ("malformed", GETATTR, 1, lambda data: data + b"\0\0\0\1", [("malformed", "malformed", None)]),
    ("order of a listing", READDIRPLUS, 0, listing(True, reversed_entries), []),
    ("entry", READDIRPLUS, 0, listing(True, without_entry),
     [("entry", "READDIRPLUS3res.resok.reply.entries", "only ref")]),
    ("case of a name", READDIRPLUS, 0, listing(True, upper_name),
     [("entry", "READDIRPLUS3res.resok.reply.entries", "only ref, other case"),
      ("entry", "READDIRPLUS3res.resok.reply.entries", "only sut, other case")]),
    ("number of an entry", READDIRPLUS, 0, listing(True, other_number),
     [("pattern", "READDIRPLUS3res.resok.reply.entries.fileid", None)]),
    ("no end of a listing", READDIRPLUS, 0, listing(True, no_end), []), # nobody knows if it has more
]
# name, SQL with ? for the operation, procedure, which, expectation
OTHER = [
    ("refused", "UPDATE operation SET rpc_status = 3, status = NULL, result = NULL WHERE id = ?",
     GETATTR, 1, [("rpc", "rpc-status", "SUCCESS, PROC_UNAVAIL")]),
    ("no reply", "UPDATE operation SET pairing = 1, reply_frame = NULL, reply_source = NULL,"
     " reply_time = NULL, rpc_status = NULL, status = NULL, result = NULL WHERE id = ?",
     GETATTR, 1, [("missing reply", "missing-reply", "only ref answered")]),
    ("no reply, but to later calls", "UPDATE operation SET pairing = 4, reply_frame = NULL, reply_source = NULL,"
     " reply_time = NULL, rpc_status = NULL, status = NULL, result = NULL WHERE id = ?",
     GETATTR, 1, [("missing reply", "missing-reply", "only ref answered")]),
    ("retransmission", "INSERT INTO retransmission SELECT NULL, id, 1, 0, flow, call_source,"
     " call_frame, NULL, call_time, call_length, 0 FROM operation WHERE id = ?",
     GETATTR, 1, [("retransmissions", "retransmissions", "sut more")]),
    ("another reply", "INSERT INTO retransmission SELECT NULL, id, 2, 1, flow, reply_source,"
     " reply_frame, NULL, reply_time, reply_length, 0 FROM operation WHERE id = ?",
     GETATTR, 1, [("other replies", "other-replies", "sut more")]),
    ("the same reply", "INSERT INTO retransmission SELECT NULL, id, 2, 0, flow, reply_source,"
     " reply_frame, NULL, reply_time, reply_length, 0 FROM operation WHERE id = ?",
     GETATTR, 1, []),
    ("contents", "UPDATE operation SET data_digest = zeroblob(16) WHERE id = ?",
     READ, 0, [("value", "READ3res.resok.data", "differs")]),
    ("latency", "UPDATE operation SET reply_time = reply_time + 50000000 WHERE id = ?",
     PATHCONF, 0, []),
    ("connection", "INSERT INTO flow SELECT (SELECT max(id) + 1 FROM flow), transport, client,"
     " client_port + 1, server, server_port, source, frame, time FROM flow WHERE id ="
     " (SELECT flow FROM operation WHERE id = ?)",
     GETATTR, 1, [("disconnects", "disconnects", "sut more")]),
    ("a request left out", "DELETE FROM operation WHERE id = ?", GETATTR, 1, []),
]


def operations(database, procedure):
    with sqlite3.connect(database) as connection:
        return connection.execute("SELECT id, result, reply_frame FROM operation WHERE program ="
                                  " 100003 AND procedure = ? ORDER BY id", (procedure,)).fetchall()


def groups(original, altered, *options, code):
    return compare(*options, original, altered, code=code)["groups"]


def expect(name, found, wanted, frame):
    have = sorted((g["kind"], g["field"], g["difference"]) for g in found)
    fits = len(have) == len(wanted) and all(
        h[0] == w[0] and h[1] == w[1] and w[2] in (None, h[2])
        for h, w in zip(have, sorted(wanted, key=lambda w: (w[0], w[1], w[2] or ""))))
    check(fits and all(g["count"] == 1 for g in found), f"{name}: {have}, not {wanted}")
    for g in found:
        for example in g.get("examples", []):
            check(example["ref_frame"] == frame, f"{name}: frame {example['ref_frame']}, not {frame}")


def at_once(folder, original):
    """Two SETATTRs of one file under way at once: what they answer, and attributes after them, is
    not compared until it was equal once."""
    first, second, third, after = 38, 39, 40, 43 # three SETATTR and a GETATTR
    both, altered = folder / "once.db", folder / "b.db"
    shutil.copy(original, both)
    with sqlite3.connect(both) as db:
        db.execute("UPDATE operation SET reply_time = (SELECT reply_time - 1 FROM operation WHERE"
                   " id = ?) WHERE id = ?", (second, first))
    check(groups(both, both, code=0) == [], "two at once against itself")

    def alter(*changed, code):
        shutil.copy(both, altered)
        with sqlite3.connect(altered) as db:
            for op, at in changed:
                data = db.execute("SELECT result FROM operation WHERE id = ?", (op,)).fetchone()[0]
                db.execute("UPDATE operation SET result = ? WHERE id = ?",
                           (flip(at, 0o100)(data), op))
        return compare(both, altered, code=code)

    def told(report):
        return ([g["field"] for g in report["groups"]],
                {w["reason"]: w["count"] for w in report["withheld"]})

    # the mode of a SETATTR's reply stands behind the status, two flags, what was before and the type
    found, withheld = told(alter((second, MODE), code=0))
    check(not found and withheld.get("overlap") == 1, f"under way: {found}, {withheld}")
    report = alter((second, MODE), (third, MODE), code=0)
    found, withheld = told(report)
    check(not found and withheld.get("conflict") == 1, f"after a conflict: {found}, {withheld}")
    check([(u["what"], u["reason"], u["count"], u["withheld"], u["open"])
           for u in report["unsynchronized"]] == [("attributes", "conflict", 1, 1, 0)],
          f"unsynchronized: {report['unsynchronized']}")
    found, withheld = told(alter((second, MODE), (after, 8), code=1))
    check(found == ["GETATTR3res.resok.obj_attributes.mode"] and "conflict" not in withheld,
          f"known again: {found}, {withheld}")


def other_rules(folder, original):
    """One alteration under several rules."""
    altered, rules = folder / "b.db", folder / "mine.conf"
    op, result, _ = operations(original, READ)[0]
    field = "READ3res.resok.count"
    for more, text, wanted in ((-1, "at-least", ["order"]), (1, "at-least", []),
                               (1, "at-most", ["order"]), (-1, "at-most", []),
                               (-1, "tolerance 1", []), (-2, "tolerance 1", ["value"]),
                               (-1, "tolerance 50%", []), (-1, "tolerance 1%", ["value"]),
                               (16, "mask 0xf", []), (1, "mask 0xf", ["value"]),
                               (1, "ignored", []), (1, "ignored if status=NFS3_OK", []),
                               (1, "ignored if status=NFS3ERR_IO", ["value"]),
                               (1, "ignored if procedure=READ", []),
                               (1, "ignored if procedure=WRITE", ["value"]),
                               (1, f"ignored if ref={number(result, 92)}", []),
                               (1, f"ignored if sut={number(result, 92)}", ["value"])):
        path = "*.resok.count" if "WRITE" in text else field
        rules.write_text(f"[fields]\n{path} = {text}\n")
        shutil.copy(original, altered)
        with sqlite3.connect(altered) as db:
            db.execute("UPDATE operation SET result = ? WHERE id = ?", (add(92, more)(result), op))
        found = groups(original, altered, "-r", rules, code=1 if wanted else 0)
        rule = "[classes] count = bitwise" if " if " in text else f"[fields] {field} = {text}"
        check([(g["kind"], g["field"], g["rule"]) for g in found]
              == [(kind, field, rule) for kind in wanted],
              f"{more:+} under {text}: {found}")


def few_rules(folder, original):
    """What is left when rules ignore the other kind of the two that are no replies."""
    altered, rules = folder / "b.db", folder / "mine.conf"
    for kept, ignored, name in (("retransmissions", "disconnects", "retransmission"),
                                ("disconnects", "retransmissions", "connection")):
        shutil.copy(original, altered)
        with sqlite3.connect(altered) as db:
            for other in OTHER:
                if other[0] in ("retransmission", "connection"):
                    db.execute(other[1], (operations(original, GETATTR)[1][0],))
        rules.write_text(f"[messages]\n{ignored} = ignored\n")
        found = groups(original, altered, "-r", rules, code=1)
        check([g["kind"] for g in found] == [kept], f"{name} alone: {found}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        original, altered = folder / "a.db", folder / "b.db"
        run("ingest", "-q", "-o", original, CAPTURE, code=0)
        check(groups(original, original, code=0) == [], "against itself")
        for name, procedure, which, change, wanted in RESULT:
            shutil.copy(original, altered)
            op, result, frame = operations(original, procedure)[which]
            new = change(result)
            with sqlite3.connect(altered) as db:
                db.execute("UPDATE operation SET result = ?, result_length = result_length + ?,"
                           " status = ? WHERE id = ?",
                           (new, len(new) - len(result), number(new, 0), op))
            expect(name, groups(original, altered, code=1 if wanted else 0), wanted, frame)
        for name, sql, procedure, which, wanted in OTHER:
            shutil.copy(original, altered)
            op, _, frame = operations(original, procedure)[which]
            with sqlite3.connect(altered) as db:
                db.execute(sql, (op,))
            expect(name, groups(original, altered, code=1 if wanted else 0), wanted, frame)
        at_once(folder, original)
        other_rules(folder, original)
        few_rules(folder, original)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
