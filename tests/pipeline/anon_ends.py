#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=900 cost=26
"""Connections end in an anonymized capture as they did in the original, so that a second run on the
same ports, with the same XIDs, is to every reader what it was: made captures with FIN, RST, and a
SYN alone between two runs (ended_runs.py), under every policy.

The databases are equal up to renaming, and what the second run is follows from how it was made.
tshark and a plain reader find nothing wrong, audit finds nothing of the original, and a release of
such a capture can be made and verified."""
import collections
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path[:0] = [str(SRC / "tests/oracle"), str(SRC / "tests/gen"), str(SRC / "tests/pipeline")]

import anon_isomorphism  # noqa: E402
import anon_stock  # noqa: E402
import anonymizer  # noqa: E402
import capfile  # noqa: E402
import database  # noqa: E402
import ended_runs  # noqa: E402
import isomorphism  # noqa: E402
import packets  # noqa: E402

wrong, checks = [], 0


def expect(good, *words):
    global checks
    checks += 1
    if not good:
        wrong.append(" ".join(map(str, words))[:600])


def ends(path):
    """(segments with FIN, with RST, with SYN alone)."""
    found = collections.Counter()
    for packet in capfile.read(path):
        start = 34 if packet.data[12:14] == b"\x08\0" else 54
        found[packet.data[start + 13] & ~packets.PSH] += 1
    return (sum(n for flags, n in found.items() if flags & packets.FIN),
            sum(n for flags, n in found.items() if flags & packets.RST), found[packets.SYN])


def counts(path):
    return database.rows(path, "SELECT (SELECT count(*) FROM flow), (SELECT count(*) FROM"
                         " retransmission WHERE kind = 1)")[0]


def try_case(case, folder):
    original = case.write(folder)
    base = str(original) + ".db"
    database.ingest(base, original)
    expect(counts(base) == (2, case.repeated()), case.name, "original", counts(base),
           case.repeated())
    for policy in anon_isomorphism.POLICIES:
        name = "%s, %s:" % (case.name, policy)
        out = "%s.%s.pcapng" % (original, policy)
        anonymizer.anonymize(out, policy, anonymizer.known_key(out + ".key"), original)
        database.ingest(out + ".db", out)
        found = anon_isomorphism.compare(isomorphism.POLICIES[policy], base, out + ".db")
        expect(not found.aspects and found.operations, name, dict(found.aspects), found.examples)
        expect(counts(out + ".db") == (2, case.repeated()), name, counts(out + ".db"))
        expect(ends(out) == (case.fins, case.resets, 2), name, "FIN, RST, SYN:", ends(out))
        lines, _, _ = anon_stock.examine(out, base, policy)
        expect(not lines, name, lines)
        done = anonymizer.run("audit", original, out)
        expect(done.returncode == 0, name, "audit", done.stdout[-400:])


def release(folder):
    original = ended_runs.Case("fin", True, True).write(folder)
    key = anonymizer.new_key(folder / "release.key")
    out = folder / "release.tar"
    anonymizer.checked("package", "-o", out, "--key", key, original)
    anonymizer.checked("package", "--verify", out)


def main():
    with tempfile.TemporaryDirectory(prefix="ends.") as folder:
        folder = pathlib.Path(folder)
        for case in ended_runs.cases():
            try:
                try_case(case, folder)
            except (OSError, RuntimeError, ValueError, subprocess.SubprocessError,
                    sqlite3.Error) as error:
                expect(False, case.name, repr(error))
        release(folder)
    for text in wrong:
        print("FAILED", text)
    print("%d checks, %d failed" % (checks, len(wrong)))
    return 1 if wrong or not checks else 0


if __name__ == "__main__":
    sys.exit(main())
