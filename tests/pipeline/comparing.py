# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of nfsdigest compare share: checks, runs of the program, and its JSON, which is
held against the schema."""
import json
import os
import pathlib
import subprocess

import audit_schema

PROGRAM = os.environ["NFSDIGEST"]
SCHEMA = json.loads((pathlib.Path(os.environ["SRC"]) / "schemas/compare.schema.json").read_text())
NOTHING = {"groups": [], "alone": [], "totals": [{"pairs": 0, "discrepancies": -1}]}

failures = []


def check(truth, text):
    if not truth:
        failures.append(text)
        print("FAILED:", text)


def run(*arguments, code=0, error=None):
    """|code|: the exit status that is expected; None: 0 or 1."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    check(code is None or done.returncode == code,
          f"{arguments}: exit {done.returncode}, not {code}: {done.stderr or done.stdout[:1000]}")
    check(error is None or error in done.stderr, f"{arguments}: {done.stderr!r}, not {error!r}")
    return done


def ingest(trace, path):
    """A traffic.Trace, into the database |path|, made anew."""
    capture = path.with_suffix(".pcap")
    trace.write(capture)
    path.unlink(missing_ok=True)
    run("ingest", "-q", "-o", path, capture)
    return path


def compare(*arguments, code):
    done = run("compare", "--json", *arguments, code=code)
    if not done.stdout:
        return NOTHING
    report = json.loads(done.stdout)
    for problem in audit_schema.errors(SCHEMA, report):
        check(False, f"{arguments}: {problem}")
    return report
