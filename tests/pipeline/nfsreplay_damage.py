#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120 asan
"""Of a dump that is damaged nothing is played without --partial: also if all checksums are right and an
operation is impossible.  With it, the report says that this was not all.

    nfsreplay_damage.py     environment: BUILD, CAPTURES
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Ftnfsd  # noqa: E402
from replay_run import BIN, Kept, check, failures, is_empty, make_dump, run  # noqa: E402

CAPTURE = pathlib.Path(os.environ["CAPTURES"]) / "knfsd-nlm-locks.pcap.zst"
NOTE = "only what stands before the damage of the dump"

# The last operation is made impossible: what is replaced, by what, the message.
IMPOSSIBLE = [
    (r" client=\d+", " client=99", "hosts 99 and 1 of 3"),
    (r" credential=\d+", " credential=77", "credential 77, which is not there"),
    (r" dependencies=\S+", " dependencies=65535", "depends on what is 65535 before it"),
    (r" arguments=\S+", " arguments=00000004", "its arguments are not those of .*"),
]


def damaged(scratch, dump, words, operations):
    """|operations| of |dump| can be played.  |words|: a regular expression."""
    kept = scratch / "kept"
    with Ftnfsd("--export", "/a") as server:
        for command in (("run", "--pace", "asap"), ("curve", "-o", scratch / "curve")):
            said = run(*command, dump, server.urls[0])
            check(said.returncode == 3 and re.search(words + ": --partial plays what stands before",
                                                     said.stderr), words, said)
        check(is_empty(server), words, "something was changed")
        done = run("run", "--partial", "--pace", "asap", "-o", kept, dump, server.urls[0])
    check(done.returncode == 0 and re.search(words + ": what stood before was played", done.stderr), words,
          done)
    check(done.stdout.endswith("; %s\n" % NOTE), words, done.stdout)
    report = Kept(kept).report
    check(report["run"]["note"] == NOTE, words, report["run"])
    check(report["run"]["operations"] == operations, words, report["run"])
    shutil.rmtree(kept)


def impossible(scratch, dump):
    text, made = scratch / "text", scratch / "made.rdump"
    lines = subprocess.run([BIN / "nfsdigest", "rdump", "--dump", dump], capture_output=True, check=True,
                           text=True, errors="surrogateescape").stdout.splitlines()
    last = max(i for i, line in enumerate(lines) if line.startswith("operation "))
    left = sum(line.startswith("operation ") for line in lines) - 1
    cases = [([re.sub(old, new, lines[last], count=1)], "operation %d: %s" % (left, said))
             for old, new, said in IMPOSSIBLE]
    cases.append(([], "its end says %d operations, there were %d" % (left + 1, left)))
    for instead, said in cases:
        changed = "".join(line + "\n" for line in lines[:last] + instead + lines[last + 1:])
        text.write_text(changed, errors="surrogateescape")
        subprocess.run([BIN / "nfsdigest", "rdump", "--undump", text, "-o", made], check=True,
                       stdout=subprocess.DEVNULL)
        damaged(scratch, made, said, left)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        dump = make_dump(CAPTURE, scratch / "one.rdump")
        impossible(scratch, dump)
    sys.exit(1 if failures else 0)


main()
