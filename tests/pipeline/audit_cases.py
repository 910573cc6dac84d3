#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""The audit on made-up captures in which every secret is marked (messages of every kind, strange
names, credentials, refusals, cuts at every byte, captures with comments): clean when anonymized;
and when a marked secret is put back anywhere, it is found where it stands.
Environment: NFSDIGEST, SRC."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import craft_marked  # noqa: E402
import marked  # noqa: E402

POLICIES = ("public", "lab", "strict")
LEAST = 8  # bytes: shorter ones may stand somewhere by chance
EVERY = 29  # of the secrets one in so many is put back
# What only raw frames have, out of which the audit takes texts, and these are none.
OTHERS = "TCP timestamps", "no RPC", "ICMP", "unknown flavor", "behind a refusal"

noted = []


def audit(original, other):
    done = subprocess.run([os.environ["NFSDIGEST"], "audit", "--json", original, other],
                          capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError("audit ended with %d: %s" % (done.returncode, done.stderr))
    return json.loads(done.stdout)


def remember(note):
    """Secrets.note, and what it was given."""
    def wrapped(self, data, what, *more):
        noted.append((what, data))
        return note(self, data, what, *more)
    return wrapped


def put_back(original, other, secrets):
    """Each of |secrets| in a block of its own, one at a time: lines of what was not found."""
    wrong, clean = [], pathlib.Path(other).read_bytes()
    changed = other + ".changed"
    for what, secret in secrets:
        block = capfile.block(0x80000bad, bytes(4) + secret + bytes(4))
        at = len(clean) + 12
        pathlib.Path(changed).write_bytes(clean + block)
        offsets = [f["offset"] for f in audit(original, changed)["findings"] if "offset" in f]
        if not any(at <= o < at + len(secret) for o in offsets):
            wrong.append("%s %s, put back at %d, was found at %s" % (what, secret, at, offsets))
    return wrong


def main():
    wrong, planted = [], 0
    marked.Secrets.note = remember(marked.Secrets.note)
    with tempfile.TemporaryDirectory(prefix="audit.") as folder:
        key = anonymizer.known_key(os.path.join(folder, "key"))
        for make in craft_marked.ALL:
            noted.clear()
            case = make()
            name = os.path.join(folder, make.__name__)
            inputs = [case.write(name + ".pcap")]
            if make.__name__ == "procedures":
                inputs.append(craft_marked.write_decorated(name + ".pcapng", case))
            for original in inputs:
                for policy in POLICIES:
                    other = "%s.%s.out" % (original, policy)
                    anonymizer.anonymize(other, policy, key, original)
                    report = audit(original, other)
                    if not report["clean"]:
                        wrong.append("%s, %s: %s" % (original, policy, report["findings"][:4]))
            there = pathlib.Path(inputs[-1]).read_bytes()
            secrets = {s: w for w, s in noted
                       if len(s) >= LEAST and w not in OTHERS and s in there}
            chosen = [(w, s) for s, w in list(secrets.items())[::EVERY]]
            planted += len(chosen)
            wrong += ["%s: %s" % (make.__name__, line)
                      for line in put_back(inputs[-1], inputs[-1] + ".public.out", chosen)]
            print("%-12s %6d secrets, %3d put back" % (make.__name__, len(secrets), len(chosen)))
    for line in wrong:
        print(line[:600])
    print("%d put back, %d wrong" % (planted, len(wrong)))
    return 1 if wrong or planted < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
