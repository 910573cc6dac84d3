# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether two databases (schemas/trace.sql) say the same up to renaming.  Ids of rows are renamed
things, too: one to one, and whatever refers to one must refer to the other."""
import json
import sqlite3

PARTIAL, CUT, HOLE, MALFORMED, OPAQUE, RESYNC, DATA = (1 << n for n in range(7))
REPEATS = """SELECT * FROM (SELECT operation, kind, differs, flow, frame, time, flags, id
        FROM retransmission UNION ALL SELECT operation, kind, 0, flow, frame, time, flags, id FROM copy)
    ORDER BY kind > 2, id"""
SAME_COLUMNS = ("program", "version", "procedure", "rpc_status", "status", "offset",
                "count", "data_length")
BODY = {"call": "arguments_length", "reply": "result_length"}
ID_COLUMNS = {"flow": "flow", "object": "object", "object2": "object", "new_object": "object",
              "path": "path", "path2": "path"}


class Base:
    """A database, read only."""

    def __init__(self, path):
        self.connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.connection.row_factory = sqlite3.Row

    def rows(self, query):
        return self.connection.execute(query).fetchall()

    def by_id(self, table):
        return {row["id"]: row for row in self.rows("SELECT * FROM " + table)}


def unescape(text):
    """The bytes of a name (schemas/trace.sql, "names")."""
    out, at = bytearray(), 0
    while at < len(text):
        if text[at] != "\\":
            out += text[at].encode()
            at += 1
        elif text[at + 1] == "\\":
            out += b"\\"
            at += 2
        else:
            out.append(int(text[at + 2:at + 4], 16))
            at += 4
    return bytes(out)


def flags(value, violation=False):
    """What of a sighting's flags must be equal.  Bytes that were lost in the network are cut off in
    the copy, where they can only be missing at the end: HOLE becomes CUT, and nothing has to be
    found again behind a hole (RESYNC).  What violates its table ends there as if cut
    (|violation|: it is more than bytes behind the end)."""
    if value is None:
        return None
    if violation:
        value = value & ~MALFORMED | PARTIAL | CUT
    if value & HOLE:
        value |= CUT
    return value & ~(HOLE | RESYNC)


def unread(value):
    return value is not None and bool(value & OPAQUE)


class Rows:
    """Compares two databases; |values| (isomorphism.Values) may know renamings of the same pair
    already."""

    def __init__(self, fields, values, original, other, findings):
        self.fields, self.values, self.policy = fields, values, values.policy
        self.a, self.b = Base(original), Base(other)
        self.renaming, self.findings = values.renaming, findings
        self.surplus = {(row["source"], row["frame"], row["xid"]) for row in self.a.rows(
            "SELECT * FROM problem WHERE text LIKE '%bytes are left over%'")}
        self.operations = {}  # of the original -> its copy
        self.lost_names = False
        self.not_read = set()  # operations of the original, of which a part could not be

    def differ(self, aspect, text, *arguments):
        self.findings.add(aspect, text % arguments)

    def renamed(self, cls, a, b, fixed=(None, 0)):
        """Numbers of a class."""
        if self.policy.mode(cls) == "equal":
            return a == b
        return self.renaming.same(cls + " in rows", a, b, fixed)

    def address(self, a, b):
        return a == b if self.policy.mode("address") == "equal" else \
            self.renaming.same("address in rows", a, b)

    def kept(self, row):
        """Whether anything of an operation is in the copy, and which sides."""
        sides = []
        for side in "call", "reply":
            there = row[side + "_frame"] is not None
            bad = unread(row[side + "_flags"]) and row[BODY[side]]
            if there and bad:
                self.not_read.add(row["id"])
            if there and not (self.policy.drop and bad):
                sides.append(side)
        return sides

    def is_surplus(self, row, side):
        return (row[side + "_source"], row[side + "_frame"], row["xid"]) in self.surplus

    def run(self):
        self.compare_operations()
        self.compare_order()
        self.compare_flows()
        self.compare_credentials()
        self.compare_objects()
        self.compare_paths()
        self.compare_names()
        self.compare_repeats()
        self.compare_counts()

    def compare_operations(self):
        rows = self.a.rows("SELECT * FROM operation ORDER BY id")
        left = [row for row in rows if "call" in self.kept(row)]
        left += [row for row in rows if self.kept(row) == ["reply"]]
        right = self.b.rows("SELECT * FROM operation ORDER BY call_frame IS NULL, id")
        if len(left) != len(right):
            self.differ("operations", "%d, not %d", len(right), len(left))
        self.texts = {table: (self.a.by_id(table), self.b.by_id(table))
                      for table in ("credential", "path", "object", "flow")}
        for a, b in zip(left, right):
            self.operations[a["id"]] = b["id"]
        for a, b in zip(left, right):
            self.compare_operation(a, b)

    def compare_operation(self, a, b):
        where = "operation %d" % a["id"]
        sides = self.kept(a)
        partly = a["id"] in self.not_read
        for column in SAME_COLUMNS:
            if a[column] != b[column] and not partly:
                self.differ(column, "%s: %s, not %s", where, b[column], a[column])
        ids = dict(ID_COLUMNS)
        if (a["call_flags"] or 0) & PARTIAL and len(a["arguments"] or b"") % 4:
            self.lost_names = True  # cut within the padding of a name, which the copy then lacks
            ids.pop("path")
            ids.pop("path2")
        for column, kind in ids.items():
            if not partly and not self.renaming.same(kind + " id", a[column], b[column], (None,)):
                self.differ(column, "%s: %s for %s", where, b[column], a[column])
        for column in "client", "server":
            if not self.address(a[column], b[column]):
                self.differ("address", "%s: %s %s for %s", where, column, b[column], a[column])
        if self.operations.get(a["depends_on"]) != b["depends_on"] and not partly and \
                a["depends_on"] not in self.not_read:
            self.differ("depends_on", "%s: %s, not %s", where, b["depends_on"],
                        self.operations.get(a["depends_on"]))
        if not self.renamed("xid", a["xid"], b["xid"], ()):
            self.differ("xid", "%s: %s for %s", where, b["xid"], a["xid"])
        for side in sides:
            self.compare_side(a, b, side, where)
        for side in {"call", "reply"} - set(sides):
            if b[side + "_frame"] is not None:
                self.differ("pairing", "%s has a %s", where, side)
        if len(sides) == (a["call_frame"] is not None) + (a["reply_frame"] is not None) and \
                a["pairing"] != b["pairing"]:
            self.differ("pairing", "%s: %s, not %s", where, b["pairing"], a["pairing"])
        if "call" in sides and not self.same_credential(a["credential"], b["credential"]):
            self.differ("credential", where)
        self.compare_data(a, b, where)

    def compare_side(self, a, b, side, where):
        if b[side + "_frame"] is None:
            self.differ("pairing", "%s has no %s", where, side)
            return
        if not self.values.ns(a[side + "_time"], b[side + "_time"]):
            self.differ("time", "%s, %s: %s, not %s", where, side, b[side + "_time"],
                        a[side + "_time"])
        if a["id"] in self.not_read:
            return
        violation = a[side + "_flags"] & MALFORMED and not self.is_surplus(a, side)
        one, two = flags(a[side + "_flags"], violation), flags(b[side + "_flags"])
        if one != two:
            self.differ("flags", "%s, %s: %s, not %s", where, side, two, one)
        body = BODY[side]
        place = (a["program"], a["version"], a["procedure"], side)
        if self.is_surplus(a, side) or (one & PARTIAL and not self.policy.lengths):
            return
        if self.fields.length_stays(self.policy, place) and a[body] != b[body]:
            self.differ("length", "%s, %s: %s, not %s", where, body, b[body], a[body])
        if a[body] is None or b[body] is None:  # cut within the header
            if a[body] is not b[body]:
                self.differ("length", "%s, %s: %s, not %s", where, body, b[body], a[body])
            return
        # headers: of calls they have the client's name in them
        header = [row[side + "_length"] - row[body] for row in (a, b)]
        if header[0] != header[1] and side == "reply":
            self.differ("length", "%s, header of the reply: %d, not %d", where, *reversed(header))

    def compare_data(self, a, b, where):
        if (a["data_digest"] is None) != (b["data_digest"] is None):
            self.differ("data", where)
        elif a["data_digest"] is not None and self.policy.mode("data") == "equal" and \
                a["data_digest"] != b["data_digest"]:
            self.differ("data", where)

    def same_credential(self, a, b):
        one, two = self.texts["credential"]
        if a is None or b is None:
            return a is b
        a, b = one[a], two[b]
        if a["flavor"] != b["flavor"] or a["valid"] != b["valid"] or \
                a["gss_service"] != b["gss_service"]:
            return False
        if a["flavor"] != 1:
            return b["body"] == bytes(len(a["body"]))
        groups = [json.loads(row["gids"] or "[]") for row in (a, b)]
        return (self.renamed("uid", a["uid"], b["uid"]) and
                self.renamed("gid", a["gid"], b["gid"]) and
                len(groups[0]) == len(groups[1]) and
                all(self.renamed("gid", x, y) for x, y in zip(*groups)) and
                (a["machine"] == b["machine"] if self.policy.mode("host") == "equal" else
                 self.renaming.same("machine", a["machine"], b["machine"], ("", None))) and
                self.renamed("stamp", a["stamp"], b["stamp"]))

    def sightings(self):
        """(frame in the copy, frame in the original, direction of which flow), of calls, replies
        and repeats, in the order of the copy.  TCP's flows have one, UDP's None.  A datagram that
        lost a fragment is known when the others have waited for it: it is left out."""
        seen = []

        def add(frames, flow, flags):
            if flow[0] in tcp or not flags & PARTIAL:
                seen.append((*frames, flow if flow[0] in tcp else None))

        tcp = {flow["id"] for flow in self.texts["flow"][0].values() if flow["transport"] == 6}
        rows = [base.by_id("operation") for base in (self.a, self.b)]
        for one, two in self.operations.items():
            one, two = rows[0][one], rows[1][two]
            for side in "call", "reply":
                if None not in (one[side + "_frame"], two[side + "_frame"]):
                    add((two[side + "_frame"], one[side + "_frame"]), (one["flow"], side),
                        one[side + "_flags"])
        for one, two in zip(*(base.rows(REPEATS) for base in (self.a, self.b))):
            flow = (one["flow"], ("call", "reply")[(one["kind"] - 1) % 2])
            add((two["frame"], one["frame"]), flow, one["flags"])
        return sorted(seen, key=lambda s: s[0])

    def compare_order(self):
        """Whatever came in a later frame comes in a later frame.  A frame with several messages
        becomes several.  A message that had to wait for an earlier one of its TCP stream, which
        came late, comes right behind it.  Where one was lost for good, those behind it waited
        for that to show: of such a connection only which came first, call or reply, is the same,
        but for one in a thousand, whose reply came between those of other late calls."""
        before, last = 0, {}
        holed = {row["flow"] for row in self.a.rows("SELECT flow FROM problem WHERE kind = 1")}
        rows = [base.by_id("operation") for base in (self.a, self.b)]
        turned = []
        for one, two in self.operations.items():
            flow = rows[0][one]["flow"]
            one, two = ((row["call_frame"], row["reply_frame"])
                        for row in (rows[0][one], rows[1][two]))
            if None not in one + two and one[0] != one[1] and (one < one[::-1]) != (two < two[::-1]):
                turned.append((flow, two + one))
        for flow, frames in turned:
            if flow not in holed or len(turned) * 1000 > len(self.operations):
                self.differ("order", "frames %d and %d are from %d and %d", *frames)
        for frame, original, flow in self.sightings():
            if flow and flow[0] in holed:
                continue
            if flow:
                original = max(original, last.get(flow, 0))
                last[flow] = original
            if original < before:
                self.differ("order", "frame %d is from frame %d, after one from %d", frame,
                            original, before)
            before = max(before, original)

    def used(self, kind):
        """(original, copy) rows of a table, as the operations paired their ids."""
        one, two = self.texts[kind]
        forth, _ = self.renaming.kinds.get(kind + " id", ({}, {}))
        return [(one[a], two[b]) for a, b in forth.items() if a is not None]

    def compare_flows(self):
        for a, b in self.used("flow"):
            same = (a["transport"] == b["transport"] and self.address(a["client"], b["client"]) and
                    self.address(a["server"], b["server"]) and
                    self.renamed("port", a["client_port"], b["client_port"]) and
                    self.renamed("port", a["server_port"], b["server_port"]))
            if not same:
                self.differ("flow", "%s for %s", tuple(b), tuple(a))

    def compare_credentials(self):
        """That no two of a kind became one beyond what a zeroed stamp explains."""
        kinds = [set((row["flavor"], row["uid"], row["gid"], row["gids"], row["machine"],
                      row["body"] if row["flavor"] != 1 else None) for row in table.values())
                 for table in self.texts["credential"]]
        if len(kinds[0]) != len(kinds[1]) and not self.policy.drop:
            self.differ("credential", "%d different ones, not %d", len(kinds[1]), len(kinds[0]))

    def compare_objects(self):
        one, two = self.texts["object"]
        if not self.not_read and [len(one)] != [len(two)]:
            self.differ("object graph", "%d objects, not %d", len(two), len(one))
        pairs = zip(one.values(), two.values()) if not self.not_read else self.used("object")
        for a, b in pairs:
            same = (self.renaming.same("object id", a["id"], b["id"], (None,)) and
                    self.address(a["server"], b["server"]) and
                    (a["handle"] == b["handle"] if self.policy.mode("handle") == "equal" else
                     self.values.handle(a["handle"], b["handle"])) and
                    a["type"] == b["type"] and self.renamed("fsid", a["fsid"], b["fsid"]) and
                    self.renamed("fileid", a["fileid"], b["fileid"]) and
                    self.values.ns(a["time"], b["time"]))
            if not same:
                self.differ("object graph", "object %s for %s", tuple(b), tuple(a))

    def text(self, a, b, path):
        """Names; those of MOUNT are paths."""
        if self.policy.mode("name") == "equal":
            return a == b
        a, b = unescape(a), unescape(b)
        return self.values.path(a, b) if path else self.values.name(a, b)

    def components(self, *rows):
        """The numbers of components that the texts of paths have; of very long ones none is said."""
        return {row["text"].count("/") if len(row["text"]) < 600 else 0 for row in rows}

    def compare_paths(self):
        one, two = self.texts["path"]
        all_there = not self.not_read and not self.lost_names
        if all_there and len(one) != len(two):
            self.differ("path", "%d paths, not %d", len(two), len(one))
        pairs = zip(one.values(), two.values()) if all_there else self.used("path")
        for a, b in pairs:
            root = a["parent"] is None and a["object"] is None
            same = (self.renaming.same("path id", a["id"], b["id"], (None,)) and
                    self.renaming.same("path id", a["parent"], b["parent"], (None,)) and
                    self.renaming.same("object id", a["object"], b["object"], (None,)) and
                    self.text(a["name"], b["name"], root) and
                    len(self.components(a, b)) == 1)
            if not same:
                self.differ("path", "%s for %s", tuple(b), tuple(a))

    def compare_names(self):
        one = [row for row in self.a.rows("SELECT * FROM name_event ORDER BY id")
               if row["operation"] in self.operations and row["operation"] not in self.not_read]
        copies = {self.operations[o] for o in self.not_read if o in self.operations}
        two = [row for row in self.b.rows("SELECT * FROM name_event ORDER BY id")
               if row["operation"] not in copies]
        if len(one) != len(two):
            self.differ("name events", "%d, not %d", len(two), len(one))
        for a, b in zip(one, two):
            same = (a["event"] == b["event"] and
                    self.renaming.same("object id", a["parent"], b["parent"], (None,)) and
                    self.renaming.same("object id", a["object"], b["object"], (None,)) and
                    self.text(a["name"], b["name"], a["parent"] is None) and
                    self.operations[a["operation"]] == b["operation"] and
                    self.values.ns(a["time"], b["time"]))
            if not same:
                self.differ("name events", "%s for %s", tuple(b), tuple(a))

    def compare_repeats(self):
        one = [row for row in self.a.rows(REPEATS)
               if not (self.policy.drop and unread(row["flags"]))]
        two = self.b.rows(REPEATS)
        if len(one) != len(two):
            self.differ("retransmission", "%d, not %d", len(two), len(one))
        for a, b in zip(one, two):
            same = (self.operations.get(a["operation"]) == b["operation"] and
                    a["kind"] == b["kind"] and a["differs"] == b["differs"] and
                    self.renaming.same("flow id", a["flow"], b["flow"], (None,)) and
                    self.values.ns(a["time"], b["time"]) and
                    (flags(a["flags"]) == flags(b["flags"]) or
                     a["operation"] in self.not_read))
            if not same:
                self.differ("retransmission", "%s for %s", tuple(b), tuple(a))

    def compare_counts(self):
        """Of a source.  Of the problems only bytes behind a body stay: what could not be used is not
        copied."""
        one, two = (base.rows("SELECT sum(calls), sum(replies), sum(retransmissions), sum(copies), "
                              "sum(problems) FROM source")[0] for base in (self.a, self.b))
        if tuple(one)[:4] != tuple(two)[:4] and not self.policy.drop:
            self.differ("counts", "%s, not %s", tuple(two)[:4], tuple(one)[:4])
        if two[4] not in (one[4], len(self.surplus)):
            self.differ("problems", "%d, not %d", two[4], len(self.surplus))
