#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1800 slow cost=40
"""An anonymized capture says what the original says, up to renaming: for every capture and every
policy the same operations in the same order, the same object graph, paths, attributes, times.

First the comparison itself is tested: a database is equal to itself and to a renamed one, and
not to one in which any one thing was changed.

    anon_isomorphism.py [CAPTURE...]     compares these only
"""
import concurrent.futures
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import anonymizer  # noqa: E402
import database  # noqa: E402
import isomorphism  # noqa: E402
import isomorphism_rows  # noqa: E402

BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
FIELD_DUMP = os.path.join(BUILD, "bin", "tests", "field_dump")
CAPTURES = os.environ.get("CAPTURES") or os.path.join(SRC, "captures")
POLICIES = ("public", "lab", "strict")

# What is changed, in which capture's database, and the aspect under which it must be found.
FIRST = "WHERE id = (SELECT min(id) FROM operation WHERE %s)"
CHANGES = [
    ("operations", "all22", "DELETE FROM operation WHERE id = (SELECT max(id) FROM operation)"),
    ("program", "all22", "UPDATE operation SET program = 100004 WHERE id = 50"),
    ("version", "all22", "UPDATE operation SET version = 4 WHERE id = 50"),
    ("procedure", "all22", "UPDATE operation SET procedure = procedure + 1 WHERE id = 50"),
    ("rpc_status", "all22", "UPDATE operation SET rpc_status = 1 WHERE id = 50"),
    ("status", "all22", "UPDATE operation SET status = status + 1 WHERE id = 50"),
    ("offset", "all22", "UPDATE operation SET offset = offset + 1 " + FIRST % "offset > 0"),
    ("count", "all22", "UPDATE operation SET count = count + 1 " + FIRST % "count > 0"),
    ("data_length", "all22", "UPDATE operation SET data_length = 5 " + FIRST % "data_length > 5"),
    ("data", "all22", "UPDATE operation SET data_digest = NULL " + FIRST % "data_digest NOT NULL"),
    ("pairing", "all22", "UPDATE operation SET pairing = 1 WHERE id = 60"),
    ("pairing", "all22", "UPDATE operation SET reply_frame = NULL WHERE id = 60"),
    ("time", "all22", "UPDATE operation SET reply_time = reply_time + 1 WHERE id = 60"),
    ("time", "all22", "UPDATE operation SET call_time = call_time - 1 WHERE id = 60"),
    ("xid", "all22", "UPDATE operation SET xid = xid + 1 WHERE id = 60"),
    ("flags", "snap256", "UPDATE operation SET reply_flags = reply_flags & ~3 "
     + FIRST % "reply_flags & 1"),
    ("flags", "all22", "UPDATE operation SET call_flags = call_flags | 4 WHERE id = 60"),
    ("length", "all22", "UPDATE operation SET arguments_length = arguments_length + 4 "
     + FIRST % "program = 100003 AND procedure = 6"),
    ("length", "all22", "UPDATE operation SET reply_length = reply_length + 4 WHERE id = 60"),
    ("address", "netem-udp", "UPDATE operation SET client = '192.0.2.77' WHERE id = 60"),
    ("flow", "all22", "UPDATE operation SET flow = (SELECT max(id) FROM flow) WHERE id = 1"),
    ("flow", "all22", "UPDATE flow SET server_port = 2050 WHERE server_port = 2049"),
    ("flow", "all22", "UPDATE flow SET transport = 17 WHERE id = 1"),
    ("credential", "netem-udp", "UPDATE operation SET credential = (SELECT id FROM credential "
     "WHERE flavor = 0) WHERE id = 600"),
    ("credential", "nlm-locks", "UPDATE credential SET gid = uid + 1 WHERE uid = "
     "(SELECT max(uid) FROM credential) AND gid = 0"),
    ("credential", "netem-udp", "UPDATE credential SET stamp = 1 WHERE flavor = 1"),
    ("depends_on", "all22", "UPDATE operation SET depends_on = depends_on - 1 "
     + FIRST % "depends_on > 1"),
    ("depends_on", "all22", "UPDATE operation SET depends_on = NULL "
     + FIRST % "depends_on NOT NULL"),
    ("object", "all22", "UPDATE operation SET object = object + 1 WHERE id = "
     "(SELECT max(id) FROM operation WHERE object IS NOT NULL)"),
    ("object2", "all22", "UPDATE operation SET object2 = NULL " + FIRST % "object2 NOT NULL"),
    ("new_object", "all22", "UPDATE operation SET new_object = object "
     + FIRST % "new_object NOT NULL"),
    ("path", "all22", "UPDATE operation SET path = path + 1 WHERE id = "
     "(SELECT max(id) FROM operation WHERE path IS NOT NULL)"),
    ("path2", "all22", "UPDATE operation SET path2 = NULL " + FIRST % "path2 NOT NULL"),
    ("order", "all22", "UPDATE operation SET call_frame = 1 WHERE id = 60"),
    ("object graph", "all22", "UPDATE object SET type = 3 WHERE id = 2"),
    ("object graph", "all22", "UPDATE object SET handle = (SELECT handle FROM object WHERE id = 1) "
     "WHERE id = 2"),
    ("object graph", "all22", "UPDATE object SET handle = CAST(handle || x'00' AS BLOB) WHERE id = 2"),
    ("object graph", "all22", "UPDATE object SET fileid = (SELECT fileid FROM object WHERE id = 3) "
     "WHERE id = 2"),
    ("object graph", "all22", "UPDATE object SET fsid = fsid + 1 WHERE id = 3"),
    ("object graph", "all22", "DELETE FROM object WHERE id = (SELECT max(id) FROM object)"),
    ("path", "all22", "UPDATE path SET parent = 1 WHERE id = (SELECT max(id) FROM path "
     "WHERE parent > 1)"),
    ("path", "all22", "UPDATE path SET name = (SELECT max(name) FROM path) WHERE id = "
     "(SELECT max(id) FROM path WHERE parent > 1 AND name < (SELECT max(name) FROM path))"),
    ("name events", "all22", "DELETE FROM name_event WHERE id = 5"),
    ("name events", "all22", "UPDATE name_event SET event = 5 - event WHERE id = 5"),
    ("name events", "all22", "UPDATE name_event SET object = NULL WHERE id = "
     "(SELECT min(id) FROM name_event WHERE object NOT NULL AND id > 5)"),
    ("name events", "all22", "UPDATE name_event SET operation = operation - 1 WHERE id = 5"),
    ("retransmission", "netem-udp", "DELETE FROM retransmission WHERE id = 7"),
    ("retransmission", "netem-udp", "UPDATE retransmission SET kind = 3 - kind WHERE id = 7"),
    ("retransmission", "netem-udp", "UPDATE retransmission SET differs = 1 WHERE id = 7"),
    ("retransmission", "netem-udp", "UPDATE retransmission SET time = time + 1 WHERE id = 7"),
    ("retransmission", "netem-udp", "UPDATE retransmission SET operation = operation + 1 "
     "WHERE id = 7"),
    ("counts", "all22", "UPDATE source SET calls = calls + 1"),
    ("problems", "nlm-locks", "UPDATE source SET problems = 1"),
]
# Renamings that must not be found: one to one, and the same wherever the thing is.
HARMLESS = [
    ("all22", "UPDATE object SET handle = randomblob(length(handle)) WHERE id = 2"),
    ("all22", "UPDATE object SET fileid = fileid + 1000000"),
    ("netem-udp", "UPDATE operation SET client = '10.9.9.9'; "
     "UPDATE flow SET client = '10.9.9.9'"),
    ("snap256", "UPDATE operation SET reply_flags = reply_flags - 2 + 4 WHERE reply_flags & 2"),
    ("snap256", "UPDATE credential SET uid = 4711 WHERE uid = (SELECT max(uid) FROM credential)"),
]
SMALL = {"all22": "vfs-libnfs-all22.pcap", "nlm-locks": "knfsd-nlm-locks.pcap",
         "netem-udp": "knfsd-netem-udp.pcap", "snap256": "knfsd-snap256.pcap"}
ONE = isomorphism.Policy(data="equal")  # whatever may be renamed, is


def unpack(capture, directory):
    path = os.path.join(directory, capture)
    with open(path, "wb") as out:
        subprocess.run(["zstd", "-dqc", os.path.join(CAPTURES, capture + ".zst")], stdout=out,
                       check=True)
    return path


def compare(policy, original, other, original_lines=None, other_lines=None):
    """Databases, and lines of field_dump if they are given."""
    findings = isomorphism.Findings()
    fields = isomorphism.Fields(FIELD_DUMP)
    values = isomorphism.Values(policy)
    rows = isomorphism_rows.Rows(fields, values, original, other, findings)
    rows.run()
    findings.operations, findings.fields = len(rows.operations), 0
    if original_lines is not None:
        findings.fields = isomorphism.compare_fields(fields, values, original_lines, other_lines,
                                                     findings)
    return findings


def changed_fields(lines, fields):
    """Yields (class, lines with one value changed): for each class a value that came before is
    replaced by another that came before, and the next class."""
    seen, at, done = {}, None, set()
    for number, line in enumerate(lines):
        if line[0] == "M":
            at = line.split("\t")
        elif line[0] == "F":
            row = line.rstrip("\n").split("\t")
            where = (int(at[4]), int(at[5]), int(at[6]), at[3], row[1])
            cls = isomorphism.HEADER.get(row[1]) or fields.classes.get(where) or "header"
            known = seen.setdefault(cls, {})
            others = [v for v in known if v != row[3] and v[0] == row[3][0]]
            if cls not in done and row[3] in known and others:
                done.add(cls)
                row[3] = others[0]
                yield cls, lines[:number] + ["\t".join(row) + "\n"] + lines[number + 1:]
            known[row[3]] = True
    for cls in sorted(set(seen) - done):
        yield cls, None


def test_comparison(directory):
    """Lines of what is wrong with the comparison itself."""
    wrong, bases, paths = [], {}, {}
    for name, capture in SMALL.items():
        paths[name] = unpack(capture, directory)
        bases[name] = os.path.join(directory, name + ".db")
        database.ingest(bases[name], paths[name])
        found = compare(ONE, bases[name], bases[name]).aspects
        if found:
            wrong.append("%s against itself: %s" % (name, dict(found)))
    copy = os.path.join(directory, "changed.db")

    def change(name, sql):
        shutil.copyfile(bases[name], copy)
        connection = sqlite3.connect(copy)
        connection.executescript("PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF")
        for statement in sql.split("; "):
            if connection.execute(statement).rowcount < 1:
                wrong.append("changes nothing: " + statement)
        connection.commit()
        connection.close()
        return compare(ONE, bases[name], copy).aspects

    for aspect, name, sql in CHANGES:
        found = change(name, sql)
        if aspect not in found:
            wrong.append("not found as %s, but %s: %s" % (aspect, dict(found), sql))
    for name, sql in HARMLESS:
        found = change(name, sql)
        if found:
            wrong.append("%s found by: %s" % (dict(found), sql))
    fields = isomorphism.Fields(FIELD_DUMP)
    tried = set()
    for name in "all22", "nlm-locks":
        lines = list(isomorphism.dump(database.program(), FIELD_DUMP, paths[name]))
        for cls, changed in changed_fields(lines, fields):
            findings = isomorphism.Findings()
            isomorphism.compare_fields(fields, isomorphism.Values(ONE), lines, changed or lines,
                                       findings)
            if changed and not findings.aspects:
                wrong.append("a changed %s in %s was not found" % (cls, name))
            if not changed and findings.aspects:
                wrong.append("%s against itself: %s" % (name, findings.examples))
            tried.update([cls] if changed else [])
    print("the comparison finds %d changed rows, changed fields of %d classes (%s), and no "
          "renaming" % (len(CHANGES), len(tried), ", ".join(sorted(tried))))
    if len(tried) < 20:
        wrong.append("only %d classes were changed" % len(tried))
    return wrong


def run(capture, directory):
    """One capture under every policy, in a process of its own."""
    out, failed = [], 0
    try:
        original = unpack(capture, directory)
        base = original + ".db"
        database.ingest(base, original)
        for policy in POLICIES:
            started = time.monotonic()
            name = "%s.%s" % (original, policy)
            key = anonymizer.known_key(name + ".key")
            anonymizer.anonymize(name + ".pcapng", policy, key, original)
            database.ingest(name + ".db", name + ".pcapng")
            found = compare(isomorphism.POLICIES[policy], base, name + ".db",
                            isomorphism.dump(database.program(), FIELD_DUMP, original),
                            isomorphism.dump(database.program(), FIELD_DUMP, name + ".pcapng"))
            bad = bool(found.aspects) or not found.operations or not found.fields
            failed += bad
            out.append("%-28s %-7s %6d operations %7d fields  %s  %.1f s" % (
                capture, policy, found.operations, found.fields,
                dict(found.aspects) if bad else "equal", time.monotonic() - started))
            out += ["    " + text[:400] for text in found.examples]
            for suffix in ".key", ".pcapng", ".db":
                os.unlink(name + suffix)
        os.unlink(original)
        os.unlink(base)
    except (OSError, RuntimeError, ValueError, KeyError, sqlite3.Error) as error:
        return out + ["%s: %r" % (capture, error)], failed + 1
    return out, failed


def main():
    captures = sys.argv[1:] or [name[:-len(".zst")] for name in sorted(
        os.listdir(CAPTURES), key=lambda n: -os.path.getsize(os.path.join(CAPTURES, n)))
        if re.search(r"\.pcap(ng)?\.zst$", name)]
    with tempfile.TemporaryDirectory(prefix="isomorphism.") as directory:
        wrong = test_comparison(directory)
        for line in wrong:
            print("FAILED " + line)
        failed = bool(wrong)
        with concurrent.futures.ProcessPoolExecutor(min(2, os.cpu_count())) as pool:
            for lines, count in pool.map(run, captures, [directory] * len(captures)):
                print("\n".join(lines), flush=True)
                failed |= bool(count)
    if len(captures) < 12 and not sys.argv[1:]:
        print("only %d captures" % len(captures))
        failed = True
    print("anon_isomorphism: " + ("FAILED" if failed else "equal"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
