#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: long=all
"""The audit holds each value against the rule that the stated policy has for it: a capture that was
anonymized under a policy of one's own is right under that policy's file, and wrong under one in
which a single rule is another.
Environment: NFSDIGEST, CAPTURES.  Argument: "all", or each class in one capture."""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_lib  # noqa: E402
from audit_lib import anonymizer  # noqa: E402

# class -> rules that it may have, nfsdigest-policy(5); those of the first line are public's
CLASSES = {
    "handle": ("keyed", "keep"), "name": ("token", "same", "keep"), "path": ("token", "same", "keep"),
    "uid": ("keyed", "zero", "keep"), "gid": ("keyed", "zero", "keep"),
    "fileid": ("keyed", "zero", "keep"), "fsid": ("keyed", "zero", "keep"),
    "cookie": ("keyed", "zero", "keep"), "lock_owner": ("token", "same", "keep"),
    "time": ("keep", "shift", "zero"), "interval": ("keep", "zero"),
    "mode": ("keep", "owner", "zero"), "data": ("zero", "noise", "keep"), "stamp": ("keyed", "zero"),
    "xid": ("keep", "keyed"),
}
# captures in which all classes have values, and such that each two rules differ on
CAPTURES = "mem-libnfs-all22", "knfsd-netem-udp", "knfsd-nlm-locks"
# the values of all together say it
ELSEWHERE = {"time": {("policy", "time"), ("time", "time"), ("value", "time")},
             "interval": {("value", "interval")}}
# what identifies and was kept is found for itself, whatever the policy says
KEPT = {("identity", cls) for cls in CLASSES} | {("identity", "name"), ("contents", "data")}


def policy(folder, rules, more=""):
    text = anonymizer.checked("policy", "show", "public").replace("name = public", "name = mine")
    for cls, rule in rules.items():
        begin = text.index("\n%s = " % cls) + 1
        text = text[:begin] + "%s = %s" % (cls, rule) + text[text.index("\n", begin):]
        if cls in ("uid", "gid") and rule != "keyed":
            text = text.replace("\n%s = 0;" % cls, "\n# ")
    if "shift" in rules.values():
        text += "\n[time]\nshift-days = 1000\n"
    path = folder / "mine.conf"
    path.write_text(text + more)
    return path


def released(original, path, folder):
    key, out = folder / "key", folder / "out.pcapng"
    key.unlink(missing_ok=True)
    out.unlink(missing_ok=True)
    anonymizer.new_key(key)
    anonymizer.anonymize(out, path, key, original)
    return out


def main():
    wrong, tried, caught = [], 0, {}
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        folder = pathlib.Path(scratch)
        for name in CAPTURES if sys.argv[1:] else CAPTURES[::2]:
            original = next(pathlib.Path(os.environ["CAPTURES"]).glob(name + ".pcap*"))
            for cls, rules in CLASSES.items():
                if sys.argv[1:] != ["all"] and (cls == "lock_owner") != ("nlm" in name):
                    continue
                for rule in rules:
                    out = released(original, policy(folder, {cls: rule}), folder)
                    for other in rules:
                        path = policy(folder, {cls: other})
                        found = audit_lib.found(audit_lib.report(original, out, "-p", path))
                        broken = found & ({("policy", cls)} | ELSEWHERE.get(cls, set()))
                        tried += 1
                        if other == rule and broken:
                            wrong.append("%s, %s = %s: %s" % (name, cls, rule, sorted(broken)))
                        if other != rule:
                            broken |= found & KEPT if rule == "keep" else set()
                            caught[cls, rule, other] = caught.get((cls, rule, other)) or broken
        # a rule of a single field
        original = next(pathlib.Path(os.environ["CAPTURES"]).glob(CAPTURES[0] + ".pcap*"))
        field = "\n[fields]\nGETATTR3res.resok.obj_attributes.mode = %s\n"
        for rule in "zero", "keep":
            out = released(original, policy(folder, {}, field % rule), folder)
            for other in "zero", "keep":
                found = audit_lib.found(audit_lib.report(
                    original, out, "-p", policy(folder, {}, field % other)))
                if (("policy", "mode") in found) != (rule != other):
                    wrong.append("a field of rule %s as %s: %s" % (rule, other, sorted(found)))
        code, _, error = audit_lib.audit(original, out, "-p", folder / "none.conf")
        if code != 3 or "none.conf" not in error:
            wrong.append("no such policy: %d %s" % (code, error))
    wrong += ["%s = %s is not found to be no %s" % key for key, found in caught.items() if not found]
    for line in wrong:
        print(line)
    print("%d tried, %d wrong" % (tried, len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
