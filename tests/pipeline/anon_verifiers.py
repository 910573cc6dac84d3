#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600
"""Verifiers of exclusive CREATEs, which servers keep in times of the new file (RFC 1813 s3.3.8), and
constants of time: knfsd, Ganesha, and made captures as of servers of the other byte order, and of one
that puts both halves into one time, under each policy.

What the copy shows of a verifier in a time is what its pseudonym would have put there.  And what
somebody tries who has the released file alone: to read verifiers out of times, and under strict
to find the offset of all times by times that are none.  Each attack is tried first on what would
be released if such times were moved as all others are; there it must succeed.
"""
import collections
import os
import subprocess
import sys
import tempfile

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import anonymizer  # noqa: E402
import database  # noqa: E402
import isomorphism  # noqa: E402
import messages as m  # noqa: E402
import traffic  # noqa: E402

BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
FIELD_DUMP = os.path.join(BUILD, "bin", "tests", "field_dump")
CAPTURES = os.environ.get("CAPTURES") or os.path.join(SRC, "captures")
SIGN, MASK, DAY = 1 << 31, (1 << 31) - 1, 86400
SHIFT_DAYS = 1825  # of strict
CONSTANTS = (1, 315532800, 315619200, 499162500, 1073741823, MASK, (1 << 32) - 1)
CREATED = 1_700_000_000_123_456_789

FORMS = {  # (verifier) -> (atime, mtime), each (seconds, nanoseconds)
    "knfsd": lambda v: ((int.from_bytes(v[4:], "little") & MASK, 0),
                        (int.from_bytes(v[:4], "little") & MASK, 0)),
    "big": lambda v: ((int.from_bytes(v[4:], "big") & MASK, 0),
                      (int.from_bytes(v[:4], "big") & MASK, 0)),
    "ganesha": lambda v: ((int.from_bytes(v[:4], "little"), 0),
                          (int.from_bytes(v[4:], "little"), 0)),
    "both": lambda v: ((int.from_bytes(v[:4], "little"), int.from_bytes(v[4:], "little")),
                          divmod(CREATED, 10**9)),
}


def attributes(fileid, atime, mtime, ctime):
    return m.fattr3(fileid)[:60] + m.u32(*atime, *mtime, *ctime)


def made(form, path):
    """Files made as a Linux client does, looked at, and then given times; and old files whose times
    are constants."""
    trace = traffic.Trace()
    flow = traffic.TcpFlow(trace, "10.0.0.1", 900)
    flow.open()
    ctime, xid = divmod(CREATED, 10**9), 1
    for number in range(1, 65):
        verifier = (0xfffee3c7 + 977 * number & 0xffffffff).to_bytes(4, "big") + \
            (153 + number * 71).to_bytes(4, "big")
        times, fh = FORMS[form](verifier), m.handle(number)
        flow.pair(xid, 8, m.opaque(m.handle(999)) + m.opaque(b"file%d" % number) + m.u32(2) + verifier,
                  m.u32(0) + m.some(m.opaque(fh)) + m.some(attributes(number, *times, ctime))
                  + m.wcc())
        flow.pair(xid + 1, 1, m.opaque(fh), m.u32(0) + attributes(number, *times, ctime))
        before = m.u32(1) + m.u64(0) + m.u32(*times[1], *ctime)
        flow.pair(xid + 2, 2, m.opaque(fh) + m.u32(1, 0o644, 0, 0, 0, 1, 1, 0),
                  m.u32(0) + before + m.some(attributes(number, ctime, ctime, ctime)))
        xid += 3
    for number, constant in enumerate(CONSTANTS, 100):
        flow.pair(xid, 1, m.opaque(m.handle(number)),
                  m.u32(0) + attributes(number, (constant, 0), (constant, 0), ctime))
        xid += 1
    trace.write(path)


class Shown:
    """What field_dump says of a capture: verifiers, and the times of all attributes in order."""

    def __init__(self, path):
        self.verifiers, self.times, self.offset = [], [], 0
        for message in isomorphism.messages(isomorphism.dump(database.program(), FIELD_DUMP, path)):
            for line in message.fields:
                _, name, _, value = line.rstrip("\n").split("\t")
                if name.endswith("how.verf"):
                    self.verifiers.append(bytes.fromhex(value[1:]))
                elif name.endswith(("atime.seconds", "mtime.seconds")):
                    self.times.append([int(value[1:]), None])
                elif name.endswith(("atime.nseconds", "mtime.nseconds")):
                    self.times[-1][1] = int(value[1:])


def numbers(half):
    """All that a server may make of half a verifier."""
    for order in ("little", "big"):
        number = int.from_bytes(half, order)
        yield order, False, number
        yield order, True, number & MASK


def carried(verifiers):
    """number -> the numbers that may stand for it, by what became of each verifier."""
    out = collections.defaultdict(set)
    for original, copy in verifiers.items():
        for at in (0, 4):
            if any(original[at:at + 4]):
                for a, b in zip(numbers(original[at:at + 4]), numbers(copy[at:at + 4])):
                    out[a[2]].add(b[2])
    return out


def compare(what, original, copy, offset):
    """Times that carry verifiers, by the pseudonyms of these; constants; all others."""
    wrong, found, constants = [], 0, 0
    if len(original.times) != len(copy.times) or len(original.verifiers) != len(copy.verifiers):
        return ["%s: another number of times or verifiers" % what]
    stand_for = carried(dict(zip(original.verifiers, copy.verifiers)))
    for (sec, nsec), (new_sec, new_nsec) in zip(original.times, copy.times):
        if sec in stand_for and (nsec == 0 or nsec in stand_for):
            found += 1
            good = new_sec in stand_for[sec] and (new_nsec in stand_for[nsec] if nsec else
                                                  new_nsec == 0)
        elif sec == 0 or sec in CONSTANTS:
            constants += 1
            good = (new_sec, new_nsec) == (sec, nsec)
        else:
            good = ((sec + offset) % (1 << 32), nsec) == (new_sec, new_nsec)
        if not good and len(wrong) < 5:
            wrong.append("%s: %d.%09d became %d.%09d" % (what, sec, nsec, new_sec, new_nsec))
    print("%s: %d times carry verifiers, %d are constants, of %d" % (
        what, found, constants, len(original.times)))
    if found < 4:
        wrong.append("%s: only %d times carry verifiers" % (what, found))
    return wrong


def read_verifiers(verifiers, times):
    """How many verifiers' halves stand in times."""
    shown = {number for time in times for number in time}
    return sum(any(number in shown for _, _, number in numbers(v[at:at + 4]))
               for v in set(verifiers) for at in (0, 4) if any(v[at:at + 4]))


def offsets(times):
    """Offsets that times speak for which have no fraction: process numbers are below 65,536 and
    stand in the upper half; and constants.  The best of all that a key may have, and of these
    the best."""
    whole = {sec for sec, nsec in times if nsec == 0 and sec}
    most = SHIFT_DAYS * DAY
    votes = collections.Counter(sec % 65536 for sec in whole)
    best = max(votes.values(), default=0)
    by_process = {s for low, n in votes.items() if n == best
                  for s in range((low + most) % 65536 - most, most + 1, 65536)}
    moved = collections.Counter()
    for sec in whole:
        for constant in CONSTANTS:
            by = (sec - constant + SIGN) % (1 << 32) - SIGN
            if abs(by) <= most and by:
                moved[by] += 1
    best = max(moved.values(), default=0)
    return by_process, {by for by, n in moved.items() if n == best and n > 1}


def examine(name, path, directory):
    wrong, original = [], Shown(path)
    key = anonymizer.known_key(os.path.join(directory, name + ".key"), 7)
    for policy in ("public", "lab", "strict"):
        what = "%s, %s" % (name, policy)
        out = os.path.join(directory, name + "." + policy)
        anonymizer.anonymize(out, policy, key, path)
        copy, offset = Shown(out), 0
        if policy == "strict":
            said = anonymizer.checked("unmask", "-k", key, "-p", policy, "--forward", "time", 1700000000)
            offset = int(said.split()[1]) - 1700000000
        wrong += compare(what, original, copy, offset)
        readable = read_verifiers(original.verifiers, copy.times)
        before = read_verifiers(original.verifiers, original.times)
        print("%s: %d halves of verifiers can be read, before %d" % (what, readable, before))
        if readable or not before:
            wrong.append("%s: %d halves of verifiers can be read" % (what, readable))
        if policy == "strict":
            naive = [((sec + offset) % (1 << 32) if sec else 0, nsec) for sec, nsec in original.times]
            for kind, control, found in zip(("process numbers", "constants"), offsets(naive),
                                            offsets(copy.times)):
                print("%s: %s leave %d offsets, the true one %s; moved as other times, %d, %s" % (
                    what, kind, len(found), offset in found, len(control), offset in control))
                if offset in found:
                    wrong.append("%s: %s tell the offset" % (what, kind))
                if name == "knfsd" and offset not in control:
                    wrong.append("%s: the attack by %s finds nothing" % (what, kind))
        wrong += ["%s: %s" % (what, line) for line in audited(path, out)]
    return wrong


def audited(path, out):
    done = anonymizer.run("audit", path, out)
    return [] if done.returncode == 0 else ["audit: " + done.stdout[:600]]


def apart(directory):
    """The same verifier, in two captures, is the same in times and out of them."""
    key = anonymizer.known_key(os.path.join(directory, "apart.key"), 9)
    seen = []
    for form in ("knfsd", "ganesha"):
        path = os.path.join(directory, form + ".pcap")
        anonymizer.anonymize(path + ".apart", "public", key, path)
        shown = Shown(path + ".apart")
        seen.append((shown.verifiers, {sec & MASK for sec, nsec in shown.times if nsec == 0}))
    if seen[0] != seen[1]:
        return ["two captures do not agree"]
    return []


def main():
    wrong = []
    with tempfile.TemporaryDirectory(prefix="verifiers.") as directory:
        for form in FORMS:
            path = os.path.join(directory, form + ".pcap")
            made(form, path)
            wrong += examine(form, path, directory)
        for name in ("pair-knfsd", "pair-ganesha-vfs", "vfs-libnfs-all22"):
            path = os.path.join(directory, name + ".pcap")
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-dqc", os.path.join(CAPTURES, name + ".pcap.zst")],
                               stdout=out, check=True)
            wrong += examine(name, path, directory)
        wrong += apart(directory)
    for line in wrong:
        print("FAILED " + line)
    print("anon_verifiers: " + ("FAILED" if wrong else "good"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
