#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow long=20 timeout=3600
"""One name of the original that stands encoded anywhere in an anonymized capture that is clean
without it is found, whatever the encoding, its alignment and the place: names of LEAST characters
in values of messages, of LEAST_BESIDE beside packets; shorter ones as whole values, where there are
several or the encoding has letters enough; and so are digests of hosts, addresses and
ids, whole or cut.  Environment: NFSDIGEST.  Argument: names for each (20 are all)."""
import base64
import collections
import hashlib
import ipaddress
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_lib  # noqa: E402
import audit_plants  # noqa: E402
import audit_twin as t  # noqa: E402
from audit_twin import World, capfile, m  # noqa: E402

LEAST, LEAST_BESIDE = 12, 6
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_?~>+"
ENCODINGS = {
    "base64, first alignment": base64.b64encode,
    "base64, second alignment": lambda n: base64.b64encode(b"x" + n),
    "base64, third alignment": lambda n: base64.b64encode(b"xy" + n),
    "base64 for URLs": base64.urlsafe_b64encode,
    "base64 for URLs in a row": lambda n: b"abc" + base64.urlsafe_b64encode(b"x" + n),
    "hexadecimal": lambda n: n.hex().encode(),
    "hexadecimal, upper case": lambda n: n.hex().upper().encode(),
    "hexadecimal, odd place": lambda n: b"7" + n.hex().encode(),
    "UTF-16, little end first": lambda n: n.decode().encode("utf-16-le"),
    "UTF-16, big end first": lambda n: n.decode().encode("utf-16-be"),
    "UTF-16, odd place": lambda n: b"x" + n.decode().encode("utf-16-le"),
    "reversed": lambda n: n[::-1],
    "upper case": bytes.upper,
    "lower case": bytes.lower,
    "upper case, reversed": lambda n: n.upper()[::-1],
    "percent signs": lambda n: b"".join(b"%%%02x" % c for c in n),
    "some percent signs": lambda n: b"".join(
        b"%%%02X" % c if i % 3 == 0 else b"%c" % c for i, c in enumerate(n)),
}
PLACES = {}


def place(function):
    PLACES[function.__name__.replace("_", " ")] = function
    return function


@place
def a_name(text, folder):
    World(True, {("name", "quarterly-report"): text}).write(folder)


@place
def opaque_bytes(text, folder):
    World(True, {"owner": t.digest("owner")[:5] + text + t.digest("behind")[:3]}).write(folder)


@place
def the_path_of_a_mount(text, folder):
    made = b"/" + t.digest("export").hex()[:16].encode() + b"/" + text
    World(True, {("path", t.DIRECTORY): made}).write(folder)


@place
def contents(text, folder):
    data = bytes(100) + text
    World(True, {("data", t.CONTENTS[1:1502]): data + bytes(1501 - len(data))}).write(folder)


@place
def a_comment(text, folder):
    twin = World(True)
    twin.comment = twin.comment.encode() + b"\n" + text
    twin.write(folder)


@place
def a_custom_block(text, folder):
    World(True).write(folder)
    with open(folder, "ab") as out:
        out.write(capfile.block(0x80000bad, bytes(4) + m.pad(text)))


@place
def a_frame_s_padding(text, folder):
    """Anything there is one."""
    def change(frames):
        frames[61] = frames[61]._replace(data=frames[61].data + text,
                                         wire_len=frames[61].wire_len + len(text))
    audit_plants.twin_with(change).write(folder)


BESIDE = "a comment", "a custom block"


def names(chance, least, count):
    """Of letters of both cases, so that each encoding is none of another one."""
    out = []
    while len(out) < count:
        name = "".join(chance.choice(LETTERS) for _ in range(least + len(out) % 9))
        if name.lower() != name and name.upper() != name:
            out.append(name)
    return out



def cut(data, kind):
    return {"whole": data, "first 8": data[:8], "last 8": data[-8:]}[kind]


VALUES = {
    "host": t.MACHINE.encode(),
    "address": ipaddress.ip_address(t.CLIENT).packed,
    "address as text": t.THIRD.encode(),
    "address, least byte first": ipaddress.ip_address(t.SERVER).packed[::-1],
    "IPv6 address": ipaddress.ip_address(t.SERVER6).packed,
    "uid": t.UID.to_bytes(4, "big"),
    "uid as text": b"%d" % t.UID,
    "gid, least byte first": t.GROUPS[1].to_bytes(4, "little"),
}
WRITTEN = {
    "in bytes": lambda d: d,
    "in hexadecimal digits": lambda d: d.hex().encode(),
    "in base64": base64.b64encode,
}


def is_leak(report):
    """Of a kind that only the search finds."""
    return any(f["kind"] == "leak" and f["text"] for f in report["findings"])


def check_names(path, original, many, wrong, seen):
    for where, make in PLACES.items():
        for name, encode in ENCODINGS.items():
            for secret in many[LEAST_BESIDE if where in BESIDE else LEAST]:
                make(encode(secret.encode()), path)
                report = audit_lib.report(original, path)
                good = is_leak(report) if where != "a frame s padding" else not report["clean"]
                seen[where] += good
                if not good:
                    wrong.append("%s in %s: %s" % (secret, name, where))


WHOLE = {name: encode for name, encode in ENCODINGS.items()
         if not set(name.split()) & {"alignment", "row", "odd", "some"}}
WHOLE["base64, first alignment"] = base64.b64encode
WHOLE["base64 without its end"] = lambda n: base64.b64encode(n).rstrip(b"=")


class Short(World):
    """Names below 8 characters become their encodings, or those of another one."""
    encode, turned, limit = None, 0, 99

    def token(self, name):
        stem, dot, suffix = name.partition(".")
        dot, suffix = (dot, suffix) if suffix in ("c", "txt") else ("", "")
        if not self.encode or len(stem) not in range(3, 8) or stem not in self.chosen():
            return super().token(name)
        short = self.chosen()
        other = short[(short.index(stem) + self.turned) % len(short)]
        return type(self).encode(other.encode()) + (dot + suffix).encode()

    def chosen(self):
        stems = (n.partition(".")[0] for n in t.NAMES)
        return [s for s in dict.fromkeys(stems) if 3 <= len(s) < 8][:self.limit]

    def name(self, name):
        made = super().name(name)
        return made if isinstance(made, bytes) else made.encode()


def check_short(path, original, wrong, seen):
    """Many short names, each as itself or as another one; and a single one of 7 in digits."""
    for turned in 0, 1:
        for name, encode in WHOLE.items():
            made = type("One", (Short,), {"encode": staticmethod(encode), "turned": turned})
            made(True).write(path)
            report = audit_lib.report(original, path)
            texts = [f["text"] for f in report["findings"] if f["kind"] == "leak"]
            good = any("a short name" in text for text in texts)
            seen["short names"] += good
            if not good:
                wrong.append("short names, turned by %d, %s: %s" % (turned, name, texts))
    World(True, {("name", "quarterly-report"): "Ledgers".encode().hex()}).write(path)
    if not any("a short name" in f["text"] for f in audit_lib.report(original, path)["findings"]):
        wrong.append("one name of 7 in digits")


def check_digests(path, original, wrong, seen, every):
    for what, value in VALUES.items():
        for algorithm in "md5", "sha1", "sha256":
            digest = hashlib.new(algorithm, value).digest()
            for kind in "whole", "first 8", "last 8":
                for how, write in WRITTEN.items():
                    if not every and (how == "in bytes") == (kind == "whole"):
                        continue
                    PLACES["opaque bytes"](write(cut(digest, kind)), path)
                    good = is_leak(audit_lib.report(original, path))
                    seen["digests"] += good
                    if not good:
                        wrong.append("%s of %s, %s, %s" % (algorithm, what, kind, how))


def main():
    count = int(sys.argv[1]) if sys.argv[1:] else 1
    chance = random.Random(20)
    many = {least: names(chance, least, 20)[:count] for least in (LEAST, LEAST_BESIDE)}
    wrong, seen = [], collections.Counter()
    t.NAMES += [n for group in many.values() for n in group]
    t.NAMES += names(chance, 4, 100) + ["Ledgers"]
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        original, path = scratch + "/original.pcapng", scratch + "/twin.pcapng"
        World(False).write(original)
        World(True).write(path)
        report = audit_lib.report(original, path)
        if not report["clean"]:
            wrong.append("not clean: %s" % report["findings"][:3])
        check_names(path, original, many, wrong, seen)
        check_short(path, original, wrong, seen)
        check_digests(path, original, wrong, seen, count > 1)
    for line in wrong[:50]:
        print(line)
    print(", ".join("%s: %d" % each for each in seen.items()), "found, %d not" % len(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
