#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""A package in spite of findings of its audit: only when its maker gives a reason for each, and its
reader sees that.  Environment: NFSDIGEST, CAPTURES."""
import json
import os
import pathlib
import re
import stat
import subprocess
import tempfile

import package_lib as p
from package_lib import expect

IDENTITY = re.compile(r"^([0-9a-f]{16}) $", re.M)


def leaking(folder):
    """A policy that keeps handles."""
    shown = subprocess.run([p.NFSDIGEST, "policy", "show", "public"], capture_output=True, text=True,
                           check=True).stdout.split("\n", 1)[1]
    path = folder / "leaking.conf"
    path.write_text(shown.replace("name = public", "name = leaking").replace(
        "\nhandle = keyed", "\nhandle = keep"), encoding="ascii")
    return path


class Maker:
    def __init__(self, folder):
        self.folder = folder
        self.policy = leaking(folder)
        self.key = p.new_key(folder / "k.key")
        self.original = p.capture("mem-libnfs-all22", folder)
        self.output = folder / "t.tar.zst"

    def make(self, *more):
        return p.run("-o", self.output, "-k", self.key, "-p", self.policy, *more, self.original)

    def refused(self, what, text, pattern, codes=(1, 3)):
        path = self.folder / "accept.txt"
        path.write_text(text, encoding="utf-8")
        code, out, said = self.make("--accept", path)
        expect(code in codes and re.search(pattern, said), what, ": exit code", code, said)
        expect(not self.output.exists(), what, ": an archive")
        expect((code == 1) == ("quotes the original" in out), what, ": report", code, out[:100])


def findings(m):
    """The file that is to be filled in; the same from another run, and from audit."""
    path = m.folder / "findings.txt"
    code, out, said = m.make("--findings", path)
    expect(code == 1 and "quotes the original" in out and "--accept FILE" in said, "findings:", code,
           said)
    text = path.read_text(encoding="ascii")
    expect(stat.S_IMODE(path.stat().st_mode) == 0o600, "mode of the findings")
    code, _, said = m.make("--findings", path)
    expect(code == 2 and "findings.txt" in said, "findings: the file exists:", code, said)
    alone, other = m.folder / "alone.pcapng", m.folder / "other.txt"
    p.anonymizer.checked("anonymize", "-k", m.key, "-p", m.policy, "-o", alone, m.original)
    done = p.anonymizer.run("audit", "--json", "-p", m.policy, "--findings", other, m.original,
                             alone)
    expect(done.returncode == 1 and IDENTITY.findall(other.read_text(encoding="ascii")) ==
           IDENTITY.findall(text), "audit --findings has other identities")
    counts = json.loads(done.stdout)["finding_counts"]
    expect(sum(min(c["count"], 20) + (c["count"] > 20) for c in counts) ==
           len(IDENTITY.findall(text)) > 20, "findings: identities", counts)
    return text, counts


def check_refusals(m, text):
    good = IDENTITY.sub(r"\1 of a demo server", text)
    first = IDENTITY.search(text).group(1)
    m.refused("no reasons", text, ":[0-9]+: a finding without a reason", (3,))
    m.refused("one reason is missing", good.replace(first + " of a demo server", first),
              "a finding without a reason", (3,))
    m.refused("one finding is missing", good.replace(first + " of a demo server\n", ""),
              "does not accept 1 of the findings, among them " + first, (1,))
    m.refused("empty", "", "does not accept [0-9]+ of the findings", (1,))
    m.refused("one more", good + "0123456789abcdef why not\n", "not a finding of this audit: 0123", (1,))
    m.refused("one twice", good + first + " again\n", "the same as in line", (3,))
    for line in "all of them", first + "0 x", first.upper() + " x", first[:15] + " x":
        m.refused(repr(line), good + line + "\n", "expected a finding's identity", (3,))
    for reason in "x" * 201, "a | b", "\x1b[31m":
        m.refused("reason " + repr(reason), first + " " + reason + "\n", "a reason is UTF-8", (3,))
    code, _, said = m.make("--accept", m.folder / "nowhere")
    expect(code == 3 and "nowhere" in said, "no such file:", code, said)
    clean = p.run("-o", m.output, "-k", m.key, "--accept", m.folder / "accept.txt", m.original)
    expect(clean[0] in (1, 3) and not m.output.exists(), "accepting what is not there:", clean[2])
    return good


def check_release(m, good, counts):
    """It says kind, class, number and reason, and nothing that is quoted."""
    path = m.folder / "accept.txt"
    path.write_text(good, encoding="ascii")
    code, out, said = m.make("--accept", path)
    expect(code == 0 and not out and not said, "accepted:", code, out[:200], said)
    data = m.output.read_bytes()
    files = p.contents(data)
    accepted = json.loads(files["datapackage.json"])["nfsdigest"]["accepted"]
    expect([dict(c, reason="of a demo server") for c in counts] == accepted, "accepted", accepted)
    for c in counts:
        expect(re.search(r"^\| %s \| %s \| %s \| of a demo server \|$" % (
            c["kind"], c["class"], format(c["count"], ",")), files["README.md"].decode(), re.M),
            "README.md: row of", c)
    report = json.loads(files["audit.json"])
    expect(not report["clean"] and report["redacted"] and report["findings"] == [] and
           report["finding_counts"] == counts, "audit.json tells more or less")
    quotes = set(re.findall(r'"([^"]{6,})"|0x([0-9a-f]{16})', good))
    expect(len(quotes) > 3, "quotes", len(quotes))
    quotes = {one or two for one, two in quotes} - {"unchecked"}  # also a kind of finding
    for name in "README.md", "audit.html", "audit.json", "datapackage.json":
        for quote in quotes:
            expect(quote.encode() not in files[name] or "package" in quote, name, "quotes", quote)
    code, out, said = p.run("--verify", m.output)
    expect(code == 0 and out.count("accepted by its maker: ") == len(counts) and
           "nothing wrong except for the findings that its maker accepted" in out, "verify:", code, out, said)
    other = m.folder / "x.tar.zst"
    tar = p.unzstd(data)
    for what, old, new, where in (
            ("a reason", b"of a demo server", b"of a fake server", "datapackage.json"),
            ("a count", b'"count": %d' % counts[0]["count"],
             b'"count": %d' % (counts[0]["count"] + 1), "datapackage.json"),
            ("a kind", b'"kind": "identity"', b'"kind": "harmless"', "datapackage.json"),
            ("the reader's reason", b"of a demo server", b"of a fake server", "README.md")):
        body = files[where].replace(old, new, 1)
        expect(body != files[where], what, "is not there")
        other.write_bytes(p.zstd(p.agreeing_tar(tar, where, body)))
        code, out, _ = p.run("--verify", other)
        expect(code == 1 and re.search("README.md: byte|not clean|audit.json: has other", out), what,
               "changed:", code, out[:500])


def main():
    with tempfile.TemporaryDirectory() as folder:
        m = Maker(pathlib.Path(folder))
        text, counts = findings(m)
        good = check_refusals(m, text)
        check_release(m, good, counts)
    p.finish()


if __name__ == "__main__":
    os.umask(0o022)
    main()
