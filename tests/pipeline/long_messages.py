#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest:
"""Messages that are longer than what is kept of one keep their lengths: in the database, which `check`
finds sound, and when they are anonymized."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

import anonymizer  # noqa: E402
import cases  # noqa: E402
import cases_stream  # noqa: E402,F401
import database  # noqa: E402

LENGTHS = ("SELECT xid, count, data_length, call_flags & 9 AS call, reply_flags & 9 AS reply,"
           " max(call_length, reply_length) AS longest FROM operation WHERE xid IN (7, 8)"
           " ORDER BY xid")


def wrong_in(directory, name, capture, length):
    """Lines of what is wrong in one capture of the case."""
    path = directory / (name + ".db")
    database.ingest(path, capture)
    base = database.Database(path)
    rows = base.rows(LENGTHS)
    problems = base.rows("SELECT kind, text FROM problem")
    base.close()
    checked = subprocess.run([database.program(), "check", str(path)], capture_output=True,
                             text=True, check=False)
    if checked.returncode:
        yield "check: " + checked.stdout + checked.stderr
    if len(rows) != 2 or problems:
        yield "%d operations, %s" % (len(rows), [tuple(p) for p in problems])
    for row in rows:
        flags = (row["call"], row["reply"])
        if (row["count"], row["data_length"]) != (length, length) or row["longest"] <= length:
            yield "lengths: %s" % (tuple(row),)
        if flags != ((database.PARTIAL, 0) if row["xid"] == 7 else (0, database.PARTIAL)):
            yield "flags of 0x%x: %s" % (row["xid"], flags)


def main():
    failed = 0
    for name, length in ("mib_4", 4 << 20), ("mib_9", 9 << 20):
        with tempfile.TemporaryDirectory(prefix="long.") as scratch:
            scratch = pathlib.Path(scratch)
            capture, key = scratch / "original.pcap", scratch / "key"
            cases.CASES["long_messages_" + name]().trace.write(capture)
            anonymizer.known_key(key)
            captures = {"original": capture}
            for policy in "public", "lab", "strict":
                captures[policy] = scratch / (policy + ".pcapng")
                anonymizer.anonymize(captures[policy], policy, key, capture)
            for what, path in captures.items():
                lines = list(wrong_in(scratch, what, path, length))
                failed += bool(lines)
                for line in lines:
                    print("FAILED %s, %s: %s" % (name, what, line))
    print("8 captures, %d failed" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    sys.exit(main())
