#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120
"""nfstee shadow --exclude and --only, when objects get a name that is wanted, or one that is not."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from model_xdr import (CREATE, GETATTR, GUARDED, LINK, LOOKUP, MKDIR, OK, READ, REG, REMOVE, RENAME,  # noqa: E402
                       WRITE)
from nfstee_shadow import fates, find, no_trees_differ, small_tree  # noqa: E402
from tee_traffic import Shadow, attached, mounted, names, servers, settle, tree  # noqa: E402

PROGRAM = os.path.join(os.environ["BUILD"], "bin", "nfstee")


class Run:
    """|away|: the directory that is not wanted."""

    def __init__(self, folder, *options, away=b"d0"):
        self.reference, self.sut = servers()
        self.folder, self.options, self.away = folder, options, b"/" + away

    def __enter__(self):
        self.reference.__enter__()
        self.sut.__enter__()
        self.relay = attached(self.folder, self.reference).__enter__()
        self.client, self.root = mounted(self.relay)
        small_tree(self.client, self.root)
        self.shadow = Shadow(self.folder, self.relay, self.sut, *self.options).__enter__()
        settle(self.shadow)
        return self

    def __exit__(self, *error):
        for what in self.shadow, self.relay, self.sut, self.reference:
            what.__exit__(*error)

    def find(self, name):
        return find(self.client, self.root, name)

    def make(self, procedure, directory, name):
        _, fields = self.client.nfs(procedure, {"object": directory, "name": name, "how": GUARDED, "settings": {}})
        return fields["handle"]

    def write(self, file):
        self.client.nfs(WRITE, {"object": file, "offset": 0, "count": 3000, "stable": 2, "data": [(3000, 65)]})

    def move(self, a, name, b, to):
        status, _ = self.client.nfs(RENAME, {"object": a, "name": name, "object2": b, "name2": to})
        expect("RENAME of %r" % name, status, OK)

    def is_same(self, what):
        self.shadow.wait_for(lambda: not settle(self.shadow)["copy"]["scratch"], "end of what is between two names")
        no_trees_differ(what, self.reference, self.sut, without=(self.away,))
        found = [p for p in tree(*mounted(self.sut)) if p.startswith(self.away + b"/")]
        expect("what is on the SUT although it is not wanted, " + what, found, [])

    def are_compared(self, what, ask, count=3):
        before = settle(self.shadow)
        for _ in range(count):
            ask()
        expect(what, fates(before, settle(self.shadow)), {"all": count, "compared": count})

    def ends(self):
        expect("differences", self.shadow.stop()[1]["verdicts"]["differ"], 0)


def excluded(folder):
    with Run(folder, "--exclude", "/d0", "--exclude", "*.tmp") as run:
        root, d0, d1 = run.root, run.find(b"d0"), run.find(b"d1")
        new = run.make(CREATE, root, b"new.tmp")
        run.write(new)
        run.make(CREATE, run.make(MKDIR, root, b"dir.tmp"), b"in it")
        run.move(root, b"new.tmp", root, b"new")
        run.move(root, b"dir.tmp", root, b"dir")
        run.move(d0, b"f0", d1, b"from d0")
        linked = run.make(CREATE, root, b"linked.tmp")
        run.write(linked)
        run.move(root, b"linked.tmp", root, b"linked")
        run.client.nfs(LINK, {"object": linked, "object2": d1, "name2": b"link"})
        run.is_same("names that are wanted")
        run.are_compared("READs of what is wanted now",
                         lambda: run.client.nfs(READ, {"object": new, "offset": 0, "count": 100}))
        run.move(d1, b"f0", d0, b"to d0")
        run.move(root, b"d2", d0, b"d2")
        run.is_same("names that are not wanted")
        run.are_compared("listings beside what is not wanted", lambda: names(run.client, root))
        run.move(d0, b"d2", root, b"d2")
        run.is_same("names that are wanted again")
        run.ends()


def only(folder):
    with Run(folder, "--only", "/d1", "--only", "/d2", away=b"d0") as run:
        root, d0, d1 = run.root, run.find(b"d0"), run.find(b"d1")
        run.move(d0, b"f1", d1, b"from d0")
        run.is_same("a file that is wanted now")
        run.move(d1, b"f1", d0, b"to d0")
        run.move(root, b"d2", d0, b"d2")
        run.is_same("what is not wanted any more")
        run.are_compared("listings", lambda: names(run.client, root))
        run.ends()


def linked(folder):
    """Files with a name that is wanted, and one that is not."""
    with Run(folder, "--exclude", "/d0", "--exclude", "*.tmp") as run:
        root, d0, d1 = run.root, run.find(b"d0"), run.find(b"d1")
        new, f0 = run.make(CREATE, root, b"new.tmp"), find(run.client, d1, b"f0")
        run.write(new)
        run.client.nfs(LINK, {"object": new, "object2": d1, "name2": b"link"})
        run.is_same("a link that is wanted")
        run.client.nfs(LINK, {"object": f0, "object2": d0, "name2": b"link"})
        settle(run.shadow)
        for _ in range(3):
            run.client.nfs(GETATTR, {"object": f0})
            names(run.client, d1)
        run.move(d1, b"f0", d0, b"last name")
        f1 = find(run.client, d1, b"f1")
        run.client.nfs(LINK, {"object": f1, "object2": d0, "name2": b"another link"})
        settle(run.shadow)
        run.client.nfs(REMOVE, {"object": d1, "name": b"f1"})
        for _ in range(3):
            run.client.nfs(GETATTR, {"object": f1})
            run.write(f1)
            settle(run.shadow)
        run.are_compared("listings", lambda: names(run.client, root))
        run.ends()


def overwritten(folder):
    """What is below an excluded name stays on the SUT, and what only the SUT has goes."""
    reference, sut = servers()
    with reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        small_tree(client, root)
        theirs, sut_root = mounted(sut)

        def make(procedure, directory, name):
            _, fields = theirs.nfs(procedure, {"object": directory, "name": name, "how": GUARDED, "settings": {}})
            return fields["handle"]
        for name in b"d0", b"d1":
            directory = make(MKDIR, sut_root, name)
            make(CREATE, make(MKDIR, directory, b"below"), b"old")
            make(CREATE, directory, b"f0")
        file = make(CREATE, sut_root, b"old.tmp")
        theirs.nfs(WRITE, {"object": file, "offset": 0, "count": 3000, "stable": 2, "data": [(3000, 65)]})
        with Shadow(folder, relay, sut, "--exclude", "/d0", "--exclude", "*.tmp", "--overwrite") as shadow:
            settle(shadow)
            found = tree(*mounted(sut))
            expect("below the excluded directory", sorted(p for p in found if p.startswith(b"/d0/")),
                   [b"/d0/below", b"/d0/below/old", b"/d0/f0"])
            expect("the other one, and a name of the SUT's alone",
                   [p in found for p in (b"/d1/below", b"/old.tmp")], [False, False])
            no_trees_differ("overwritten", reference, sut, without=(b"/d0",))
            err = shadow.stop()[2]
        expect("the message", [text in err for text in (
            'removed from it: "old.tmp", with all below', "--exclude or --only leaves out, stays")], [True, True])


def is_wanted(path):
    return not path.startswith(b"/d0/") and not any(part.endswith(b".tmp") for part in path.split(b"/"))


def contents(server):
    """Of what is wanted; numbers of links are those of all names."""
    return {path: (a.type, a.mode, a.size if a.type == REG else 0, data)
            for path, (a, data) in tree(*mounted(server)).items() if is_wanted(path)}


def at_random(folder, seed, count):
    chance, some = random.Random(seed), [b"f0", b"f1", b"x", b"y.tmp", b"z.tmp", b"d1", b"d2", b"s", b"s.tmp"]
    with Run(folder, "--exclude", "/d0", "--exclude", "*.tmp") as run:
        client, directories = run.client, [run.root, *(run.find(b"d%d" % i) for i in range(3))]
        for i in range(count):
            a, b, x, y = *chance.choices(directories, k=2), *chance.choices(some, k=2)
            procedure = chance.choices((RENAME, CREATE, REMOVE, MKDIR, LINK), (10, 4, 2, 2, 2))[0]
            status, fields = client.nfs(LOOKUP, {"object": a, "name": x})
            if procedure == RENAME:
                client.nfs(RENAME, {"object": a, "name": x, "object2": b, "name2": y})
            elif procedure == LINK and status == OK:
                client.nfs(LINK, {"object": fields["handle"], "object2": b, "name2": y})
            elif procedure == CREATE and status == OK:
                run.write(fields["handle"])
            elif procedure != LINK:
                client.nfs(procedure, {"object": a, "name": x, "how": GUARDED, "settings": {"mode": 0o700 + i % 8}})
            if i % 20 == 0:
                time.sleep(chance.random() * 0.3)
        run.shadow.wait_for(lambda: not settle(run.shadow)["copy"]["scratch"], "end of what is between two names")
        ours, theirs = contents(run.reference), contents(run.sut)
        expect("what differs, seed %d" % seed,
               {p: (ours.get(p), theirs.get(p)) for p in {*ours, *theirs} if ours.get(p) != theirs.get(p)}, {})
        run.ends()


def refused(folder):
    """Patterns that no path can match."""
    for option in "--exclude", "--only":
        for pattern in "", "home/a", "d0/", "/d0/", "/":
            done = subprocess.run([PROGRAM, "shadow", "--attach", folder + "/none", "--relay", "nfs://127.0.0.1:1/a",
                                   "--sut", "nfs://127.0.0.1:1/a", "--log", folder + "/log", option, pattern],
                                  capture_output=True, text=True, check=False, timeout=60)
            expect("%s %r: %s" % (option, pattern, done.stderr),
                   (done.returncode, '%s: "%s"' % (option, pattern) in done.stderr), (2, True))


def main():
    for test in excluded, only, linked, overwritten, refused:
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
    for seed in 1, 2, 59:
        with tempfile.TemporaryDirectory() as folder:
            at_random(folder, seed, 150)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
