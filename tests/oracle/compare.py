# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what we decode (nfsdigest record, then field_dump) with what stock tshark decodes, field
by field, in the order of the message."""
import collections
import os
import subprocess

import tshark
from defects import DEFECTS, HELD_BACK, LOST_FRAGMENT, view_of

EXAMPLES = 5  # differences kept of each capture

Place = collections.namedtuple("Place", "program version procedure direction path wireshark cls")


Programs = collections.namedtuple("Programs", "nfsdigest field_dump")


class Tables:
    """What the engine's tables hold, and what tshark knows of it."""

    def __init__(self, programs):
        out = subprocess.run([programs.field_dump, "--fields"], stdout=subprocess.PIPE, check=True,
                             encoding="utf-8").stdout
        self.places = []
        for line in out.splitlines():
            row = line.split("\t")
            self.places.append(Place(int(row[1]), int(row[2]), int(row[3]), row[4], row[5],
                                     None if row[6] == "-" else row[6], row[7]))
        self.types = tshark.field_types()
        self.names = {p.wireshark for p in self.places if p.wireshark}
        self.unknown_names = sorted(self.names - set(self.types))
        self.data_names = {p.wireshark for p in self.places
                           if p.cls == "data" and p.wireshark and
                           self.types.get(p.wireshark) == "FT_BYTES"}

    def reader(self):
        return tshark.Reader(self.names - set(self.unknown_names), self.data_names, self.types)


class Ours:
    """A message of field_dump. |fields|: (Wireshark's name, value); |paths|: our names of them."""

    def __init__(self, row):
        self.frame, self.xid, self.direction = int(row[1]), int(row[2], 16), row[3]
        self.program, self.version, self.procedure = int(row[4]), int(row[5]), int(row[6])
        self.note = row[7]
        self.fields, self.paths, self.error = [], [], None

    def where(self):
        return self.program, self.version, self.procedure, self.direction


def as_shown(value, kind):
    """Signed numbers that tshark declares unsigned."""
    if value.startswith("n-") and kind.startswith("FT_UINT"):
        return "n%d" % (int(value[1:]) % (1 << int(kind[len("FT_UINT"):])))
    return value


def our_messages(programs, capture, types):
    """(frame, xid, direction) -> messages, in their order."""
    found = collections.defaultdict(list)
    with subprocess.Popen([programs.nfsdigest, "record", capture],
                          stdout=subprocess.PIPE) as recorder, \
            subprocess.Popen([programs.field_dump, "-"], stdin=recorder.stdout,
                             stdout=subprocess.PIPE, encoding="utf-8") as dump:
        recorder.stdout.close()
        for line in dump.stdout:
            row = line.rstrip("\n").split("\t")
            if row[0] == "F":
                if row[2] != "-":
                    message.fields.append((row[2], as_shown(row[3], types[row[2]])
                                           if row[3].startswith("n-") else row[3]))
                    message.paths.append(row[1])
            elif row[0] == "M":
                message = Ours(row)
                found[message.frame, message.xid, message.direction].append(message)
            else:
                message.error = row[2]
        if recorder.wait() != 0 or dump.wait() != 0:
            raise RuntimeError("%s: nfsdigest record exits with %d, field_dump with %d" %
                               (capture, recorder.wait(), dump.wait()))
    return found


class Result:
    """Of one capture; goes from one process to another."""

    def __init__(self, capture):
        self.capture = os.path.basename(capture)
        self.messages = self.fields = self.different = 0
        self.examples = []
        self.compared = set()  # (program, version, procedure, direction, path)
        self.defects = collections.Counter()  # index into DEFECTS, or a text
        self.views = set()  # index into VIEWS

    def differ(self, text):
        self.different += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(text)


def describe(ours, theirs):
    """The first field in which two messages differ."""
    text = "frame %d, XID %08x, %s of program %d version %d procedure %d: " % (
        ours.frame, ours.xid, ours.direction, ours.program, ours.version, ours.procedure)
    for i in range(max(len(ours.fields), len(theirs.fields))):
        a = ours.fields[i] if i < len(ours.fields) else ("nothing", "")
        b = theirs.fields[i] if i < len(theirs.fields) else ("nothing", "")
        if a != b:
            path = " (%s)" % ours.paths[i] if i < len(ours.paths) else ""
            return text + "field %d: ours %s%s %.80s, tshark's %s %.80s" % (
                i + 1, a[0], path, a[1], b[0], b[1])
    return text + "the headers"


def compare_message(ours, theirs, result):
    header = (theirs.program, theirs.version, theirs.procedure)
    if header == (ours.program, ours.version, ours.procedure) and ours.fields == theirs.fields:
        for name in theirs.other:
            view = view_of(name)
            if view is None:
                result.differ("frame %d: tshark shows %s, which no table names" %
                              (theirs.frame, name))
            result.views.add(view)
        result.fields += len(ours.fields)
        where = ours.where()
        result.compared.update((*where, path) for path in ours.paths)
        return
    for i, defect in enumerate(DEFECTS):
        if defect.where == ours.where() and defect.excuses(ours.fields, theirs.fields):
            result.defects[i] += 1
            return
    result.differ(describe(ours, theirs))


def compare_pair(ours, theirs, result):
    text = "frame %d, XID %08x, %s: " % (theirs.frame, theirs.xid, theirs.direction)
    result.messages += 1
    if ours.note.startswith("differs"):
        result.differ(text + "we find another body than in the operation's first")
    elif ours.error and not (ours.error == "bytes are left over" and theirs.leftover):
        result.differ(text + "ours ends early: " + ours.error)
    elif theirs.leftover and not ours.error and ours.where() not in {d.where for d in DEFECTS}:
        result.differ(text + "tshark finds bytes behind the end")
    else:
        compare_message(ours, theirs, result)


def compare_with(programs, tables, capture, out_of_order):
    result = Result(capture)
    found = our_messages(programs, capture, tables.types)
    unmatched = []
    for theirs in tables.reader().messages(capture, out_of_order):
        ours = found.get((theirs.frame, theirs.xid, theirs.direction))
        if ours:
            compare_pair(ours.pop(0), theirs, result)
        else:
            unmatched.append(theirs)
    elsewhere = collections.defaultdict(list)
    for key, rest in found.items():
        if rest:
            elsewhere[key[1:]].append(key)
    for theirs in unmatched:
        earlier = [key for key in elsewhere[theirs.xid, theirs.direction]
                   if found[key] and key[0] < theirs.frame]
        if earlier:
            result.defects[HELD_BACK] += 1
            compare_pair(found[min(earlier)].pop(0), theirs, result)
        else:
            result.differ("frame %d, XID %08x: a %s that only tshark finds" %
                          (theirs.frame, theirs.xid, theirs.direction))
    for key, rest in sorted(found.items()):
        for ours in rest:
            if "partial" in ours.note and "udp" in result.capture:
                result.defects[LOST_FRAGMENT] += 1
            else:
                result.differ("frame %d, XID %08x: a %s that only we find" % key)
    return result


def compare(programs, tables, capture):
    """With tshark's best setting for |capture|.  Without tcp.reassemble_out_of_order it loses
    messages where segments changed places; with it, version 4.4 stalls within some captures whose
    segments are in order."""
    result = compare_with(programs, tables, capture, True)
    if result.different:
        other = compare_with(programs, tables, capture, False)
        if other.different < result.different:
            return other
    return result
