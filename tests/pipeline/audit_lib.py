# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of nfsdigest audit have in common: running it, and good files for it."""
import json
import pathlib
import subprocess
import sys

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "gen")]

import anonymizer  # noqa: E402
import database  # noqa: E402

POLICIES = "public", "lab", "strict"


def audit(original, other, *options):
    """Exit code, output and errors."""
    done = subprocess.run([database.program(), "audit", *map(str, options), str(original),
                           str(other)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def report(original, other, *options):
    """As JSON has it; raises when there is none, or the exit code says something else."""
    code, out, error = audit(original, other, "--json", *options)
    if code not in (0, 1):
        raise RuntimeError("audit of %s ended with %d: %s" % (other, code, error))
    said = json.loads(out)
    if said["clean"] != (code == 0):
        raise RuntimeError("audit of %s ended with %d, clean: %s" % (other, code, said["clean"]))
    return said


def found(said):
    """(kind, class) of a report's findings."""
    return {(c["kind"], c["class"]) for c in said["finding_counts"]}


def fresh(original, policy, folder, secret=None):
    """|original| anonymized with a new key, or that of the hex text |secret|: its path, and the key."""
    key, out = pathlib.Path(folder) / "key", pathlib.Path(folder) / "out.pcapng"
    key.unlink(missing_ok=True)
    out.unlink(missing_ok=True)
    anonymizer.new_key(key)
    if secret:
        key.write_text(key.read_text(encoding="ascii").replace(
            key.read_text(encoding="ascii").split()[-1], secret), encoding="ascii")
    anonymizer.anonymize(out, policy, key, original)
    return out, key


def alarms(name, original, policy, folder, secret=None):
    """What the audit finds in |original| anonymized with a new key, as lines: none is right."""
    out, key = fresh(original, policy, folder, secret)
    code, text, error = audit(original, out, "--json", "--key", key)
    if code == 0:
        return []
    key_text = key.read_text(encoding="ascii").split()[-1]
    what = json.loads(text)["findings"][:3] if code == 1 else error
    return ["%s, %s, key %s: %d, %s" % (name, policy, key_text, code, what)]
