#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the seeds of fuzz_service: steps that make, fill, list, rename, link and remove, by several
users, over both transports, with access lists, and each fault.

    tests/fuzz/seeds_service.py          rewrites tests/fuzz/corpus/fuzz_service/made-*
"""
import glob
import os

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "corpus", "fuzz_service")
# The first byte of a step, and the places of the first handles.
NFS, NFSACL, MOUNT, ANY, AGAIN, BYTES, CONTROL = 0, 10, 11, 12, 13, 0x8e, 15
PLAIN, SQUASHED, READ_ONLY = 0, 1, 2
ROOT, SEVEN, EIGHT, NOBODY, UDP, GROUPS = 5, 6, 7, 0, 128, 16
FAULTS = 28
NO_HARM = 0
KEEP = bytes(6)  # a sattr3 that sets nothing
UNCHECKED, GUARDED, EXCLUSIVE = 0, 1, 2
CHR = 3  # the fourth type
OWNER, USER, GROUP, _, MASK, OTHER = range(6)


def step(what, *parts):
    return bytes([what]) + b"".join(bytes([p]) if isinstance(p, int) else p for p in parts)


def nfs(procedure, *arguments, who=ROOT):
    return step(NFS, procedure, who, *arguments, NO_HARM)


def mode(bits):
    """A sattr3 with a mode: |bits| << 3 | 7."""
    return bytes([1, bits]) + bytes(5)


def create(place, name, how=UNCHECKED, attributes=KEEP, **more):
    return nfs(8, place, name, how, bytes([0, 1]) if how == EXCLUSIVE else attributes, **more)


def write(place, offset, count, fill=0x15, stable=0, **more):
    return nfs(7, place, offset, count, stable, fill, **more)


def mkdir(place, name, **more):
    return nfs(9, place, name, KEEP, **more)


def rename(place, name, to, to_name, **more):
    return nfs(14, place, name, to, to_name, **more)


def getattr_all(**more):
    return b"".join(nfs(1, place, **more) for place in range(6))


def set_lists(place, entries, defaults=(), who=ROOT):
    mask = bytes([0, 1 | (4 if defaults else 0)])
    lists = [bytes([0, len(some)]) + b"".join(map(bytes, some)) for some in (entries, defaults)]
    return step(NFSACL, 2, who, place, mask, *lists, NO_HARM)


LIST = [(OWNER, 0, 7), (USER, 1, 4), (GROUP, 0, 5), (MASK, 0, 7), (OTHER, 0, 1)]


def tree(place=PLAIN, who=ROOT):
    """Directories, files, a link, a device; the places of what was made follow 2."""
    out = mkdir(place, 1, who=who) + create(3, 2, who=who) + write(4, 0, 140, who=who)
    out += create(place, 3, EXCLUSIVE, who=who) + write(5, 130, 200, 0x16, who=who)
    out += nfs(10, place, 4, KEEP, 1, who=who) + nfs(11, place, 5, CHR, KEEP, 0, 1, 0, 2, who=who)
    return out + nfs(15, 4, place, 6, who=who) + rename(place, 6, 3, 7, who=who)


def every():
    """Each procedure with a directory, a file, a link, and a handle that is broken."""
    out = tree()
    for place in (0, 4, 6, 0xf0, bytes([0xfc, 5])):
        for who in (ROOT, SEVEN | UDP):
            for procedure in (0, 1, 5, 18, 19, 20, 22):
                out += nfs(procedure, *([] if procedure in (0, 22) else [place]), who=who)
            out += nfs(2, place, mode(0x3c), 0, who=who) + nfs(3, place, 3, who=who)
            out += nfs(4, place, 0, 63, who=who) + nfs(6, place, 0, 140, who=who)
            out += write(place, 3, 50, who=who) + create(place, 20, who=who)
            out += mkdir(place, 21, who=who) + nfs(10, place, 22, KEEP, 1, who=who)
            out += nfs(11, place, 23, CHR, KEEP, 0, 1, 0, 2, who=who) + nfs(12, place, 20, who=who)
            out += nfs(13, place, 21, who=who) + rename(place, 22, 0, 24, who=who)
            out += nfs(15, place, 0, 25, who=who) + nfs(16, place, 0, 1, 150, who=who)
            out += nfs(17, place, 0, 1, 150, 150, who=who) + nfs(21, place, 0, 0, who=who)
    return out


def listings(udp=0):
    out = b"".join(create(PLAIN, name) for name in range(35))
    for count in (3, 40, 60, 100, 130, 200):
        out += nfs(16, PLAIN, 0, 1, count, who=ROOT | udp) + nfs(16, PLAIN, 9, 1, count, who=SEVEN)
        out += nfs(17, PLAIN, 0, 1, count, count, who=ROOT | udp)
        out += nfs(17, PLAIN, 20, 1, 0, 200, who=ROOT)
    return out


def removals():
    out = tree()
    for name in (1, 2, 3, 7, 160, 161):
        out += nfs(12, PLAIN, name) + nfs(13, PLAIN, name) + nfs(13, 3, name, who=SEVEN)
    return out + rename(3, 7, PLAIN, 1) + rename(PLAIN, 1, 3, 1) + nfs(12, 3, 2) + nfs(13, PLAIN, 1)


def users():
    out = b""
    for who in (NOBODY, SEVEN, EIGHT | GROUPS, ROOT, 1, 17, 33, 49):
        for place in (PLAIN, SQUASHED, READ_ONLY):
            out += create(place, who, GUARDED, mode(0x3c), who=who) + nfs(4, place, 0, 63, who=who)
            out += nfs(2, place, mode(0x1f), 0, who=who) + nfs(18, place, who=who)
    return out


def again():
    out = b""
    for call in (create(PLAIN, 1, GUARDED), write(3, 0, 140), nfs(12, PLAIN, 1), mkdir(PLAIN, 2),
                 rename(PLAIN, 2, PLAIN, 3), nfs(1, PLAIN), create(PLAIN, 4, GUARDED, who=SEVEN | UDP)):
        out += call + step(AGAIN) + step(CONTROL, 7) + step(AGAIN)
    return out


def lists():
    out = tree() + set_lists(4, LIST) + set_lists(3, LIST, LIST) + set_lists(READ_ONLY, LIST)
    out += mkdir(3, 9) + create(3, 10)
    for place in range(8):
        out += step(NFSACL, 1, SEVEN, place, 0, 15, NO_HARM)
        out += nfs(4, place, 0, 63, who=EIGHT | GROUPS)
    return out + nfs(2, 4, mode(0), 0) + set_lists(4, []) + step(NFSACL, 2, SEVEN, 4, 0, 5, 0, 250, 0, 250)


def sizes():
    out = create(PLAIN, 1)
    for edge in range(128, 142):
        out += write(3, edge, 130 + edge % 8, stable=edge % 3) + nfs(6, 3, edge, 140)
        out += nfs(21, 3, edge, 5) + nfs(2, 3, 0, 0, 0, 1, edge, 0, 0, 0)
    return out + step(CONTROL, 4) + step(CONTROL, 3)


def mounts():
    """|version| 3, 1, 2 and 4, which is not there."""
    out = b""
    for version in (32, 48, 16, 0):
        for path in range(12 if version else 0):
            out += step(MOUNT, version | 1, ROOT, path, NO_HARM)
        for procedure in (0, 2, 5, 6, 4, 7, 2):
            out += step(MOUNT, version | procedure, UDP | 5, NO_HARM)
        out += step(MOUNT, version | 3, ROOT, 4, NO_HARM) if version else b""
    for program in range(6):
        for version in range(6):
            out += step(ANY, program, version, 0, ROOT, NO_HARM)
    for version in (2, 3, 4):
        out += step(ANY, 0, version, 4, ROOT, NO_HARM)
    return out


def with_fault(number):
    """One fault, then calls that it may concern."""
    out = tree() + step(CONTROL, 0, number) + write(4, 0, 140) + nfs(6, 4, 0, 140)
    out += nfs(16, PLAIN, 0, 1, 150) + nfs(17, PLAIN, 0, 1, 150, 150) + nfs(21, 4, 0, 0)
    out += create(PLAIN, 8, who=SEVEN) + step(AGAIN) + nfs(3, PLAIN, 3) + step(MOUNT, 49, ROOT, 0, 0)
    return out + getattr_all(who=SEVEN | UDP) + step(CONTROL, 0, FAULTS) + getattr_all()


def broken():
    """Messages that are none, cut, too long, and with a byte changed."""
    out = step(BYTES, 0) + step(BYTES, 40, bytes(40)) + step(BYTES, 12, bytes(12))
    for harm in ([230, 0, 4], [230, 0, 40], [236, 0, 4], [250, 0, 7, 9], [250, 0, 41, 1],
                 [250, 0, 60, 255]):
        for call in (nfs(1, PLAIN), write(PLAIN, 0, 50), create(PLAIN, 1), nfs(0), nfs(3, PLAIN, 1)):
            out += call[:-1] + bytes(harm)
    return out


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for old in glob.glob(os.path.join(FOLDER, "made-*")):
        os.unlink(old)
    seeds = {"every": every(), "listings": listings(), "listings-udp": listings(UDP),
             "removals": removals(), "users": users(), "again": again(), "lists": lists(),
             "sizes": sizes(), "mounts": mounts(), "broken": broken()}
    seeds.update(("fault-%02d" % number, with_fault(number)) for number in range(FAULTS))
    for number, (name, seed) in enumerate(seeds.items()):
        # configurations: all bits of the first seeds 0, then bounds of all kinds
        how = 0 if number < 2 else number * 37 & 255
        with open(os.path.join(FOLDER, "made-" + name), "wb") as out:
            out.write(bytes([how]) + seed)


if __name__ == "__main__":
    main()
