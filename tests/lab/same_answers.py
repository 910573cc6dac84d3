#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare what two builds make of every capture, byte by byte.

Use it for a change that must not change any output. Build the tree before and after the change, and run
this with both build folders. Each line of the output names a difference, with the first line of text or
the first byte that differs.

    same_answers.py OLD NEW [--texts] [-k DIRECTORY] [CAPTURE...]

OLD and NEW are build folders. Without CAPTURE it takes all of captures/. With --texts it also
compares what people read: help, tables, messages. --renamed FILE has a line "PATTERN REPLACEMENT" for
each name that was changed on purpose: a regular expression, which is replaced in the answers of both
builds. Comments in schemas do not count. Ends with 1 if anything differs.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
POLICIES = ("public", "lab", "strict")
PAIRS = (("pair-knfsd", "pair-ganesha-vfs"), ("load-ganesha-vfs", "load-ganesha-vfs-again"),
         ("mem-libnfs-all22", "vfs-libnfs-all22"))
TEXTS = (("info",), ("ops", "--limit", "2000"), ("tree",), ("tree", "--script", "sh"),
         ("deps",), ("concurrency",), ("check",))
ANSWERS = (("info", "--json"), ("ops", "--json", "--fields"), ("tree", "--json", "--inferred"),
           ("tree", "--script", "mtree"), ("deps", "--json", "--list"), ("concurrency", "--json"))


class Build:
    """One build at work in a folder of its own, where all relative names are the same."""

    def __init__(self, build, scratch, name):
        self.program = pathlib.Path(build).resolve() / "bin" / "nfsdigest"
        if not self.program.exists():
            sys.exit("same_answers.py: %s: no such program" % self.program)
        self.folder = scratch / name
        self.folder.mkdir(exist_ok=True)

    def run(self, *arguments):
        """Its output, with the exit code and what it says, as one text."""
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        return b"%sexit code %d\n%s" % (done.stdout, done.returncode, done.stderr)

    def file(self, name):
        path = self.folder / name
        return path.read_bytes() if path.exists() else b"no such file"

    def dump(self, name):
        """The schema and rows of a database, without comments and the folder it was made in."""
        text = subprocess.run(["sqlite3", "-readonly", str(self.folder / name), ".dump"],
                              capture_output=True, check=False).stdout
        lines = []
        for line in text.replace(bytes(self.folder), b"").split(b"\n"):
            if line.startswith(b"INSERT INTO carry "):  # the state's version, and its digest
                line = re.sub(rb"X'[0-9a-fA-F]{16}([0-9a-fA-F]*)[0-9a-fA-F]{16}'", rb"X'\1'", line)
            elif not line.startswith(b"INSERT INTO "):
                line = b" ".join(re.sub(rb"--.*", b"", line).split())
            if line:
                lines.append(line)
        return b"\n".join(lines)


def first_difference(old, new):
    old_lines, new_lines = old.split(b"\n"), new.split(b"\n")
    for number, (a, b) in enumerate(zip(old_lines, new_lines), 1):
        if a != b:
            at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            cut = slice(max(0, at - 60), at + 60)
            return "line %d, byte %d: %r, now %r" % (number, at, a[cut], b[cut])
    return "%d lines, now %d" % (len(old_lines), len(new_lines))


class Comparison:
    def __init__(self, old, new, texts, renamed):
        self.builds, self.texts, self.renamed = (old, new), texts, renamed
        self.same = self.different = 0

    def check(self, what, get):
        old, new = (get(build) for build in self.builds)
        if old != new:
            for pattern, replacement in self.renamed:
                old, new = (re.sub(pattern, replacement, text) for text in (old, new))
        if old == new:
            self.same += 1
            return
        self.different += 1
        print("%s: %s" % (what, first_difference(old, new)), flush=True)

    def answer(self, what, *arguments):
        self.check("%s: %s" % (what, " ".join(map(str, arguments))),
                   lambda build: build.run(*arguments))

    def capture(self, name, path, key):
        for build in self.builds:
            build.run("record", "-o", name + ".nfsr", path)
            build.run("ingest", "-q", "-o", name + ".db", path)
            build.run("rdump", "--with-results", "-o", name + ".rdump", name + ".db")
        self.check(name + ".nfsr", lambda build: build.file(name + ".nfsr"))
        self.check(name + ".db", lambda build: build.dump(name + ".db"))
        self.check(name + ".rdump", lambda build: build.file(name + ".rdump"))
        self.answer(name, "rdump", "--dump", name + ".rdump")
        self.answer(name, "info", "--json", path)
        for arguments in ANSWERS + (TEXTS if self.texts else ()):
            self.answer(name, *arguments, name + ".db")
        for policy in POLICIES:
            out = "%s-%s.pcapng" % (name, policy)
            for build in self.builds:
                build.run("anonymize", "-k", key, "-p", policy, "-o", out, path)
            self.check(out, lambda build, out=out: build.file(out))
            self.answer(name, "audit", "--json", path, out)
        for build in self.builds:  # what only this capture needs
            for policy in POLICIES:
                (build.folder / ("%s-%s.pcapng" % (name, policy))).unlink(missing_ok=True)

    def pair(self, ref, sut):
        what = "%s, %s" % (ref, sut)
        for swapped, (a, b) in enumerate(((ref, sut), (sut, ref))):
            self.answer(what, "compare", "--json", a + ".db", b + ".db")
            out = "%s-%d.db" % (ref, swapped)
            for build in self.builds:
                build.run("compare", "-o", out, a + ".db", b + ".db")
            self.check(out, lambda build, out=out: build.dump(out))
            if self.texts:
                self.answer(what, "compare", a + ".db", b + ".db")

    def help(self):
        listed = self.builds[0].run("--help").decode()
        self.answer("help", "--help")
        for command in re.findall(r"^  (\w+) {2,}", listed, re.M):
            self.answer("help", command, "--help")


def unpacked(path, scratch):
    if path.suffix != ".zst":
        return path.stem, path.resolve()
    name = path.name.split(".")[0]
    out = scratch / path.name[:-len(".zst")]
    with open(out, "wb") as file:
        subprocess.run(["zstd", "-qdc", path], stdout=file, check=True)
    return name, out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", type=pathlib.Path)
    parser.add_argument("new", metavar="NEW", type=pathlib.Path)
    parser.add_argument("captures", metavar="CAPTURE", type=pathlib.Path, nargs="*")
    parser.add_argument("--texts", action="store_true", help="also what people read")
    parser.add_argument("-k", "--keep", type=pathlib.Path, help="work here, and leave it")
    parser.add_argument("--renamed", type=pathlib.Path, help="names changed on purpose")
    arguments = parser.parse_args()
    renamed = [line.encode().split(maxsplit=1) for line in
               arguments.renamed.read_text().splitlines()] if arguments.renamed else []
    captures = arguments.captures or sorted((SOURCE / "captures").glob("*.zst"))
    with tempfile.TemporaryDirectory() as temporary:
        scratch = arguments.keep or pathlib.Path(temporary)
        scratch.mkdir(exist_ok=True)
        old, new = (Build(build, scratch, name) for build, name in (
            (arguments.old, "old"), (arguments.new, "new")))
        key = scratch / "key"
        if not key.exists():
            old.run("key", "new", key)
        comparison, names = Comparison(old, new, arguments.texts, renamed), set()
        for path in captures:
            name, capture = unpacked(path, scratch)
            names.add(name)
            comparison.capture(name, capture, key)
        for ref, sut in PAIRS:
            if {ref, sut} <= names:
                comparison.pair(ref, sut)
        if arguments.texts:
            comparison.help()
    print("%d the same, %d differ" % (comparison.same, comparison.different))
    return 1 if comparison.different else 0


if __name__ == "__main__":
    sys.exit(main())
