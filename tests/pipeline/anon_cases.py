#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan slow
"""Made-up captures in which every secret is marked: messages of every kind, strange names,
credentials, refusals, cuts at every byte, captures with comments.  Under every policy no 8 bytes of
a secret get out (of shorter ones all), the copy says the same as the original up to renaming,
and lengths follow the policy.

    anon_cases.py [CASE...]
"""
import os
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import craft_marked  # noqa: E402
import database  # noqa: E402
import isomorphism  # noqa: E402
import isomorphism_rows  # noqa: E402
import marked  # noqa: E402
import stock  # noqa: E402
import xdr  # noqa: E402

BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
FIELD_DUMP = os.path.join(BUILD, "bin", "tests", "field_dump")
POLICIES = ("public", "lab", "strict")
DATAGRAM = 14 + 20 + 8  # where a message begins in a frame


def compare(policy, original, other):
    """What differs, as lines."""
    findings = isomorphism.Findings()
    fields = isomorphism.Fields(FIELD_DUMP)
    values = isomorphism.Values(isomorphism.POLICIES[policy])
    rows = isomorphism_rows.Rows(fields, values, original + ".db", other + ".db", findings)
    rows.run()
    isomorphism.compare_fields(fields, values, *(
        isomorphism.dump(database.program(), FIELD_DUMP, path) for path in (original, other)),
        findings)
    return len(rows.operations), ["%s (%d)" % item for item in findings.aspects.items()] + \
        ["    " + text[:300] for text in findings.examples]


def examine(name, make, directory):
    """Lines of what is wrong with one case under all policies."""
    wrong = []
    case = make()
    original = case.write(os.path.join(directory, name + ".pcap"))
    with open(original, "rb") as file:
        there = case.secrets.found(file.read())
    if len(there) < 10:
        wrong.append("%s: the secrets are not in the original" % name)
    database.ingest(original + ".db", original)
    before = stock.Seen(original).wrong  # tshark's own defects
    inputs = [("pcap", original)]
    if name == "procedures":
        inputs.append(("pcapng", craft_marked.write_decorated(original + "ng", case)))
    for policy in POLICIES:
        key = anonymizer.known_key(os.path.join(directory, "%s.%s.key" % (name, policy)))
        outputs = []
        for form, path in inputs:
            other = os.path.join(directory, "%s.%s.%s.out" % (name, policy, form))
            anonymizer.anonymize(other, policy, key, path)
            with open(other, "rb") as file:
                outputs.append(file.read())
            for at, what in case.secrets.found(outputs[-1]):
                wrong.append("%s, %s: at %d of the output: %s" % (name, policy, at, what))
        if len(set(outputs)) != 1:
            wrong.append("%s, %s: blocks and options change the output" % (name, policy))
        other = os.path.join(directory, "%s.%s.pcap.out" % (name, policy))
        database.ingest(other + ".db", other)
        operations, lines = compare(policy, original, other)
        wrong += ["%s, %s: %s" % (name, policy, line) for line in lines]
        seen, python = stock.Seen(other), stock.Python(other)
        for what, count in seen.wrong.items():
            if count > before[what] and (case.readable or
                                         not what.startswith(("malformed", "expert"))):
                wrong.append("%s, %s: tshark: %s (%d, as in frame %s)" % (
                    name, policy, what, count, seen.example[what]))
        wrong += ["%s, %s: %s" % (name, policy, line) for line in python.wrong[:4]]
        print("%-12s %-7s %5d operations, %5d secrets, %7d bytes" % (
            name, policy, operations, case.secrets.count, len(outputs[0])))
    return wrong


def messages(path):
    """(captured, claimed) lengths of the datagrams of a capture."""
    return [(len(p.data) - DATAGRAM, p.wire_len - DATAGRAM) for p in capfile.read(path)]


def examine_lengths(directory):
    """Calls that differ in the length of a name alone: whole, cut within the name, cut before it."""
    wrong = []
    lengths = (12, 20, 33, 60, 100, 200, 246)
    shapes = {"whole": None, "within the name": 8, "before the name": -12, "in the credential": -60}
    for procedure, rest in ((3, b""), (12, b""), (9, xdr.u32(0) * 6), (8, xdr.u32(0) * 7)):
        for shape, cut in shapes.items():
            case = craft_marked.Marked(7)
            handle, credential = case.nfs.handle(), marked.sys_credential(case.secrets)
            for length in lengths:
                name = case.secrets.word(length)
                call = xdr.call(case.next_xid(), craft_marked.NFS, 3, procedure,
                                handle + xdr.string(name) + rest, credential)
                at = call.index(name)
                case.udp(call, kept=None if cut is None else at + cut)
            original = case.write(os.path.join(directory, "lengths.pcap"))
            for policy in POLICIES:
                key = anonymizer.known_key(os.path.join(directory, "lengths.key"))
                other = os.path.join(directory, "lengths.out")
                anonymizer.anonymize(other, policy, key, original)
                found = messages(other)
                if len(found) != len(lengths):
                    wrong.append("%s, procedure %d, %s: %d messages" % (policy, procedure, shape,
                                                                       len(found)))
                elif policy == "lab":
                    if [n for _, n in found] != [n for _, n in messages(original)]:
                        wrong.append("lab, procedure %d, %s: lengths change: %s" % (
                            procedure, shape, found))
                elif len(set(found)) != 1:
                    wrong.append("%s, procedure %d, %s: names of %s bytes in messages of %s" % (
                        policy, procedure, shape, lengths, found))
                os.unlink(other)
                os.unlink(key)
    return wrong


def examine_padding(directory):
    """Behind handles and names stand zeros, whatever stood there."""
    case, wrong = craft_marked.Marked(8), []
    ends = []
    for length in (9, 10, 11, 25, 26, 27):
        handle, name = case.secrets.raw(length), case.secrets.word(length)
        rest = -length % 4
        pad = b"\xee" * rest
        call = xdr.call(case.next_xid(), craft_marked.NFS, 3, 3,
                        xdr.u32(length) + handle + pad + xdr.u32(length) + name + pad)
        case.udp(call)
        ends += [(len(call) - 4 - length - 2 * rest, rest), (len(call) - rest, rest)]
    original = case.write(os.path.join(directory, "padding.pcap"))
    other = os.path.join(directory, "padding.out")
    anonymizer.anonymize(other, "lab", anonymizer.known_key(other + ".key"), original)
    found = capfile.read(other)
    for i, (at, rest) in enumerate(ends):
        padding = found[i // 2].data[DATAGRAM + at:DATAGRAM + at + rest]
        if padding != bytes(rest):
            wrong.append("padding of %s" % padding.hex())
    return wrong


def examine_growth(directory):
    """A datagram that tokens make longer than UDP allows is cut, and is seen to be."""
    case, wrong = craft_marked.Marked(10), []
    entries = [xdr.u64(i + 1) + xdr.string(bytes([97 + i % 26])) + xdr.u64(i + 1)
               for i in range(2000)]
    case.pair(craft_marked.NFS, 3, 16, case.nfs.handle() + xdr.u64(0) + bytes(8) + xdr.u32(60000),
              xdr.u32(0) + case.nfs.attr() + bytes(8) + xdr.linked(entries) + xdr.boolean(True))
    original = case.write(os.path.join(directory, "growth.pcap"))
    other = os.path.join(directory, "growth.out")
    anonymizer.anonymize(other, "public", anonymizer.known_key(other + ".key"), original)
    database.ingest(other + ".db", other)
    rows = isomorphism_rows.Base(other + ".db").rows("SELECT status, reply_flags FROM operation")
    if [(row["status"], row["reply_flags"] & 3) for row in rows] != [(0, 3)]:
        wrong.append("growth: %s" % [tuple(row) for row in rows])
    seen, python = stock.Seen(other), stock.Python(other)
    wrong += ["growth: " + line for line in list(seen.wrong) + python.wrong]
    return wrong


def main():
    wanted = sys.argv[1:]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="cases.") as directory:
        for make in craft_marked.ALL:
            if not wanted or make.__name__ in wanted:
                try:
                    wrong += examine(make.__name__, make, directory)
                except RuntimeError as error:
                    wrong.append("%s: %s" % (make.__name__, error))
        if not wanted or "lengths" in wanted:
            wrong += examine_lengths(directory)
        if not wanted or "padding" in wanted:
            wrong += examine_padding(directory)
        if not wanted or "growth" in wanted:
            wrong += examine_growth(directory)
    for line in wrong[:60]:
        print("FAILED " + line)
    print("anon_cases: " + ("FAILED" if wrong else "good"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
