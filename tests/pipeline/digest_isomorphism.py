#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The replay dump of an anonymized capture is that of the original up to renaming: the same objects,
entries, operations, inferences, dependencies, masks and, where no name or owner is in them, digests;
names, users, groups, device numbers and addresses are others, one for one.  Sizes of symbolic links are those of the
original, which their new texts no longer have: their masks leave them out.

    digest_isomorphism.py [CAPTURE...]
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import anonymizer  # noqa: E402
import rdump_file  # noqa: E402
from model_xdr import BLK, CHR, LNK, MKNOD, NULL, SYMLINK, WRITE, decode_arguments  # noqa: E402

CASES = ["vfs-libnfs-all22.pcap", "mem-libnfs-all22.pcap", "knfsd-netem-udp.pcap",
         "knfsd-nlm-locks.pcap", "pair-ganesha-vfs.pcap", "knfsd-tcp-mtu1500.pcap",
         "knfsd-snap256.pcap"]
POLICIES = "public", "lab"  # strict leaves out modes, which changes tell apart
OWNER = sum(1 << 6 * i + 2 for i in range(4))
SIZE = sum(1 << 6 * i + 4 for i in range(4))
TYPE = 1 << 0 | 1 << 18  # of object, and found: with the numbers of devices
TEXT, LISTED = 1 << 26, 3 << 28
RENAMED = OWNER | SIZE | TEXT | LISTED  # groups whose digests may be others
PLAIN = {"trace": ("horizon", "fine", "copies"), "host": ("number",), "credential": ("flavor",),
         "object": ("number", "server", "type", "knows", "mode", "nlink", "source", "copy"),
         "entry": ("parent", "object"),
         "operation": ("source", "inferred", "unplayable", "latency", "client", "server",
                       "procedure", "status", "made", "dependencies", "copy"),
         "end": ("hosts", "credentials", "objects", "entries", "operations", "inferred",
                 "unplayable", "dependencies")}


class Renaming:
    """One for one, each kind by itself."""

    def __init__(self):
        self.there, self.back = {}, {}

    def same(self, kind, one, two):
        return (self.there.setdefault((kind, one), two) == two and
                self.back.setdefault((kind, two), one) == one)

    def paths(self, one, two):
        parts = (one or b"").split(b"/"), (two or b"").split(b"/")
        return len(parts[0]) == len(parts[1]) and all(
            a == b if a in (b"", b".", b"..") else self.same("name", a, b) for a, b in zip(*parts))

    def arguments(self, one, two):
        """Of one procedure; what differs."""
        if one.keys() != two.keys():
            return ["arguments"]
        wrong = []
        for key, a in one.items():
            b = two[key]
            if key in ("name", "name2", "text"):
                good = self.paths(a, b)
            elif key == "rdev":
                good = self.same("rdev", a, b)
            elif key == "settings":
                good = a.keys() == b.keys() and all(
                    self.same(k, a[k], b[k]) if k in ("uid", "gid") else
                    k in ("atime", "mtime") or a[k] == b[k] for k in a)
            else:
                good = key in ("cookie", "cookieverf", "verifier", "guard") or a == b
            wrong += [] if good else [key]
        return wrong


class Comparison:
    def __init__(self, shifted):
        self.renaming, self.links, self.shifted = Renaming(), set(), shifted
        self.devices = False

    def record(self, kind, one, two):
        """Names of members that differ."""
        wrong = [m for m in PLAIN[kind] if getattr(one, m) != getattr(two, m)]
        return wrong + list(getattr(self, kind)(one, two))

    def bound(self, kind, one, two, *members):
        return [m for m in members if not self.renaming.same(kind or m, getattr(one, m),
                                                             getattr(two, m))]

    def trace(self, one, two):
        return [] if self.shifted or one.time == two.time else ["time"]

    def host(self, one, two):
        return self.bound("host", one, two, "address")

    def credential(self, one, two):
        wrong = self.bound("credential", one, two, "number")
        if one.flavor == 1:
            wrong += self.bound(None, one, two, "uid", "gid")
            if len(one.gids) != len(two.gids) or not all(
                    self.renaming.same("gid", a, b) for a, b in zip(one.gids, two.gids)):
                wrong.append("gids")
        return wrong

    def object(self, one, two):
        if one.type == LNK:
            self.links.add(one.number)
        elif one.size != two.size:
            yield "size"
        if one.type in (BLK, CHR):
            self.devices = True
            yield from self.bound("rdev", one, two, "rdev")
        if one.knows & 2:
            yield from self.bound("uid", one, two, "uid")
        if one.knows & 4:
            yield from self.bound("gid", one, two, "gid")
        for member in "link", "root":
            if not self.renaming.paths(getattr(one, member), getattr(two, member)):
                yield member
        for member in "atime", "mtime", "ctime":
            if not self.shifted and getattr(one, member) != getattr(two, member):
                yield member

    def entry(self, one, two):
        return [] if self.renaming.paths(one.name, two.name) else ["name"]

    def operation(self, one, two):
        if one.made and one.procedure == SYMLINK:
            self.links.add(one.made)
        self.devices |= one.procedure == MKNOD
        if one.time != two.time:
            yield "time"
        yield from self.bound("credential", one, two, "credential")
        if (one.mask ^ two.mask) & ~SIZE or one.mask != two.mask and not self.links:
            yield "mask"
        elif not one.mask & (RENAMED | (TYPE if self.devices else 0)) and one.digest != two.digest:
            yield "digest"
        if one.procedure in (NULL, WRITE, 255) or not one.arguments or not two.arguments:
            if one.arguments != two.arguments:
                yield "arguments"
        else:
            yield from self.renaming.arguments(decode_arguments(one.procedure, one.arguments),
                                               decode_arguments(two.procedure, two.arguments))

    def end(self, one, two):
        return []


def dump(capture, scratch, name):
    database, path = scratch / (name + ".db"), scratch / (name + ".rdump")
    anonymizer.checked("ingest", "-q", "-o", database, capture)
    anonymizer.checked("rdump", "-o", path, database)
    return list(rdump_file.read(path))


def check(name, capture, policy, key, scratch, original):
    """Lines that say what differs."""
    anonymous = scratch / "anonymous.pcapng"
    anonymous.unlink(missing_ok=True)
    anonymizer.anonymize(anonymous, policy, key, capture)
    found = dump(anonymous, scratch, "anonymous-" + policy)
    comparison, wrong = Comparison(policy != "public"), []
    if [kind for kind, _ in original] != [kind for kind, _ in found]:
        wrong.append("%d and %d records" % (len(original), len(found)))
    for i, ((kind, one), (_, two)) in enumerate(zip(original, found)):
        different = comparison.record(kind, one, two) if not wrong else []
        if different:
            wrong.append("%s %d: %s\n    %r\n    %r" % (kind, i, ", ".join(different), one, two))
    names = sum(kind == "name" for kind, _ in comparison.renaming.there)
    changed = sum(one != two for (kind, one), two in comparison.renaming.there.items()
                  if kind == "name")
    print("%-24s %-7s %6d records, %4d names, %4d of them others: %s" % (
        name, policy, len(found), names, changed, "differs" if wrong else "the same"))
    if names > 10 and changed < names // 2:
        wrong.append("hardly a name was renamed")
    return wrong


def main():
    failures = 0
    with tempfile.TemporaryDirectory(prefix="isomorphism.") as folder:
        scratch = pathlib.Path(folder)
        key = anonymizer.known_key(scratch / "key")
        for name in sys.argv[1:] or CASES:
            capture = scratch / name
            with open(capture, "wb") as out:
                subprocess.run(["zstd", "-dc", CAPTURES / (name + ".zst")], stdout=out, check=True)
            original = dump(capture, scratch, "original")
            for policy in POLICIES:
                wrong = check(name, capture, policy, key, scratch, original)
                failures += bool(wrong)
                for line in wrong[:5]:
                    print("  " + line)
            for old in scratch.glob("*.db"):
                old.unlink()
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
