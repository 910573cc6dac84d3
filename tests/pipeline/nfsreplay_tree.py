#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=180 asan
"""Trees and servers that are not as nfsreplay populate and clean would have them: answers that got lost,
objects of another kind, values that a server does not keep, verifiers that never stay, listings without an end,
and what somebody else made.  Nothing of that is passed over, and nothing of somebody else is touched.

    nfsreplay_tree.py     environment: BUILD, NFSDIGEST
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import messages  # noqa: E402
import replay_tree  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import (BLK, CREATE, LOOKUP, MKDIR, MKNOD, READDIR, REMOVE, SETATTR, UNCHECKED)  # noqa: E402
from replay_run import BIN, check, ctl, failures, is_empty, refused, run  # noqa: E402
from replay_tree import BLOCK, DIRECTORY, FIFO, FILE, Node  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
SQUASHED = "the server maps uid 0 to uid 65534"


def save(path, nodes, entries):
    with open(str(path) + ".txt", "w", encoding="ascii") as out:
        out.write(replay_tree.text(nodes, entries))
    subprocess.run([NFSDIGEST, "rdump", "--undump", str(path) + ".txt", "--output", path], check=True)
    return str(path)


def small(path):
    """Directories with one name each, of a file or of a further link; a device; a pipe; a file as a root."""
    nodes = [Node(n, DIRECTORY) for n in range(1, 12)] + [Node(n, FILE) for n in range(12, 18)]
    nodes += [Node(18, BLOCK), Node(19, FIFO)]
    root, files = nodes[0], nodes[11:17]
    entries = [(root, d, b"d%d" % d.number) for d in nodes[1:11]]
    entries += [(nodes[1 + i], f, b"file") for i, f in enumerate(files[:5])]
    entries += [(nodes[6 + i], f, b"link") for i, f in enumerate(files[:5])]
    entries += [(root, nodes[17], b"block"), (root, nodes[18], b"pipe")]
    for f in files[:5]:
        f.size, f.nlink = 9000, 2
    nodes[17].rdev = (7, 9)
    for n in nodes[:11]:
        n.mode = 0o755
    return save(path, nodes, entries)


class Export:
    """A client's view of the first export."""

    def __init__(self, server):
        self.client = Client(server)

    def find(self, *names):
        handle = self.client.mount(b"/a")
        for name in names:
            status, r = self.client.nfs(LOOKUP, {"object": handle, "name": name})
            if status:
                return None
            handle = r["handle"]
        return handle

    def directory(self, *names):
        self.client.nfs(MKDIR, {"object": self.find(*names[:-1]), "name": names[-1], "settings": {"mode": 0o755}})

    def file(self, *names):
        self.client.nfs(CREATE, {"object": self.find(*names[:-1]), "name": names[-1], "how": UNCHECKED,
                                 "settings": {"mode": 0o644}})

    def remove(self, *names):
        self.client.nfs(REMOVE, {"object": self.find(*names[:-1]), "name": names[-1]})

    def settings(self, *names, **settings):
        self.client.nfs(SETATTR, {"object": self.find(*names), "settings": settings})

    def names(self, *names):
        _, r = self.client.nfs(READDIR, {"object": self.find(*names), "cookie": 0, "verifier": bytes(8), "count": 8192})
        return {name for _, name, _ in r["entries"]} - {b".", b".."}


def faults(*rules):
    return [word for rule in rules for word in ("--fault", rule)]


def said(what, done, code, *words):
    text = done.stdout + done.stderr
    check(done.returncode == code and all(w in text for w in words), what, done.returncode, text[:800], words)


def lost_answers(dump):
    """Calls are sent again to a server that has forgotten that it executed them."""
    with Ftnfsd("--export", "/a", *faults("CREATE:after=1:count=5:drop", "CREATE:forget", "LINK:count=5:drop",
                                          "LINK:forget")) as server:
        said("lost answers", run("populate", "--udp", dump, server.urls[0]), 0, "19 objects")
        said("lost answers: check", run("populate", "--check", dump, server.urls[0]), 0, "0 made")


def other_objects(dump):
    with Ftnfsd("--export", "/a") as server:
        url, export = server.urls[0], Export(server)
        said("made", run("populate", dump, url), 0, "19 made")
        export.remove(b"root-1", b"pipe")
        export.file(b"root-1", b"pipe")
        said("type", run("populate", "--check", dump, url), 1, "\nroot-1/pipe: type 7, there 1\n")
        refused(3, "root-1/pipe: type 7, there 1", "populate", dump, url)
        export.remove(b"root-1", b"pipe")
        export.remove(b"root-1", b"block")
        export.client.nfs(MKNOD, {"object": export.find(b"root-1"), "name": b"block", "type": BLK, "rdev": (7, 8),
                                  "settings": {"mode": 0o644, "mtime": replay_tree.TIME}})
        said("device", run("populate", dump, url), 1, "root-1/block: device 7,9, there 7,8\n", "1 made", "1 differences")
        export.client.nfs(messages.LINK, {"object": export.find(b"root-17"), "object2": export.find(b"root-1"),
                                          "name2": b"more"})
        said("links", run("populate", "--check", dump, url), 1, "root-17: 1 hard links, there 2\n",
             "root-1: has \"more\", which the dump does not have\n")
        said("removed", run("clean", dump, url), 0, "removed")
        check(is_empty(server), "something is left")


def not_kept(scratch, dump):
    """A server that shows other modes than those that were set: also where the report is JSON."""
    with Ftnfsd("--export", "/a", *faults("SETATTR:mode-bits=1", "CREATE:mode-bits=1", "LOOKUP:mode-bits=1")) as server:
        said("modes", run("populate", dump, server.urls[0]), 1, "root-17: mode 0644, there 0645", "17 differences")
        run("clean", dump, server.urls[0])
        done = run("run", "--json", dump, server.urls[0])
        check(json.loads(done.stdout)["classes"] and "root-17: mode" in done.stderr, "JSON", done.stdout, done.stderr)
        check(done.returncode == 1, "the exit code of run", done.returncode)
    with Ftnfsd("--export", "/a", *faults("MKNOD:status=NFS3ERR_PERM")) as server:
        said("no devices", run("populate", dump, server.urls[0]), 0, "root-1/block: cannot be made: NFS3ERR_PERM",
             "2 that the server does not make")


def without_end(scratch, dump):
    """Verifiers that change for ever, a listing that does not end, a check that is interrupted."""
    control = str(scratch / "control")
    with Ftnfsd("--export", "/a", "--transfer-size", "4k", "--control", control,
                *faults("WRITE:committed=UNSTABLE", "COMMIT:verifier")) as server:
        url = server.urls[0]
        refused(3, ": the server's write verifier is another one each time", "populate", "--force", dump, url)
        ctl(control, "fault-clear")
        said("mended", run("populate", "--force", dump, url), 0, "19 objects")
        ctl(control, "fault-add", "READDIR:eof:after=1")
        refused(3, "READDIR gives neither entries nor the end", "populate", "--check", dump, url)
        ctl(control, "fault-clear")
        ctl(control, "fault-add", "LOOKUP:after=6:ignore")
        with subprocess.Popen([BIN / "nfsreplay", "populate", "--check", dump, url], stdout=subprocess.PIPE,
                              text=True) as process:
            time.sleep(.5)
            process.send_signal(signal.SIGINT)
            out = process.communicate(timeout=60)[0]
            check(process.returncode == 1 and "not reached" in out and "missing" not in out, "interrupted", out)


def clean_anyway(dump):
    for rules in (["*:no-attributes", "*:no-handle"], ["READDIR:twice-entry"]):
        with Ftnfsd("--export", "/a", *faults(*rules)) as server:
            said("populate with %r" % rules, run("populate", dump, server.urls[0]), 0, "19 made")
            said("clean with %r" % rules, run("clean", dump, server.urls[0]), 0, "removed")
            check(is_empty(server), "left with", rules)


def clean_busy(scratch, dump):
    """A server that is busy is asked again a little later, not at once."""
    control = str(scratch / "control")
    with Ftnfsd("--export", "/a", "--control", control) as server:
        run("populate", dump, server.urls[0])
        for rule in "REMOVE", "READDIR", "RMDIR":
            ctl(control, "fault-add", rule + ":count=2:status=NFS3ERR_JUKEBOX")
        begun = time.monotonic()
        said("busy", run("clean", dump, server.urls[0]), 0, "removed")
        check(time.monotonic() - begun > .5, "asked again at once")
        check(is_empty(server), "left on a busy server")


def not_ours(dump):
    """An empty file where the marker would be, beside a name of the dump; a file where its directory would be."""
    with Ftnfsd("--export", "/a") as server:
        url, export = server.urls[0], Export(server)
        export.directory(b"scratch")
        export.file(b"scratch", b"marker")
        export.directory(b"root-1")
        export.file(b"root-1", b"precious")
        for command in "populate", "run", "clean":
            refused(3, "it has \"root-1\"" if command != "clean" else "nfsreplay did not make what is there (\"root-1\")",
                    command, dump, url)
        check(export.names(b"root-1") == {b"precious"} and not export.find(b"root-17"), "the tree of somebody else")
        export.remove(b"root-1", b"precious")
        export.client.nfs(messages.RMDIR, {"object": export.find(), "name": b"root-1"})
        said("alone, the marker is ours", run("populate", dump, url), 0, "19 made")
        said("and removed", run("clean", dump, url), 0, "removed")
        export.file(b"scratch")
        refused(3, "it has \"scratch\"", "populate", dump, url)
        refused(3, "did not make what is there (\"scratch\")", "clean", dump, url)
        export.remove(b"scratch")
        export.directory(b"copy-1")
        said("clean of copies", run("clean", "--copies", 2, dump, url), 0, "0 directories")
        check(export.names() == {b"copy-1"}, "an empty directory of somebody else", export.names())
        export.file(b"copy-2")
        refused(3, "copy-2: it is not a directory", "populate", "--copies", 2, dump, url)
    with Ftnfsd("--export", "/a(all_squash)", *faults("*:no-attributes")) as server:
        refused(3, SQUASHED, "populate", dump, server.urls[0])
        refused(3, SQUASHED, "populate", "--copies", 2, dump, server.urls[0])
        check(is_empty(server), "left on a server that maps uid 0")


def like_ours(dump):
    """A whole tree without a marker is used if it is as the dump wants it, and is left as it is otherwise."""
    with Ftnfsd("--export", "/a", "--image", dump) as server:
        url, export = server.urls[0], Export(server)
        said("an image", run("populate", dump, url), 0, "nfsreplay did not make it")
        export.settings(b"root-17", size=5)
        for command in "populate", "run":
            refused(3, "not as the dump wants it: 1 difference, which", command, dump, url)
        said("what differs", run("populate", "--check", dump, url), 1, "root-17: size 0, there 5")


def odd_name(scratch, dump):
    """Two dumps, one of which has a name that a terminal would obey."""
    odd = scratch / "\x1b[31m.rdump"
    odd.write_bytes(pathlib.Path(dump).read_bytes())
    with Ftnfsd("--export", "/a") as server:
        for command in "populate", "clean":
            said("an odd name: " + command, run(command, odd, dump, server.urls[0]), 0, "/a/\\x1b[31m: ", "/a/small: ")
        check(is_empty(server), "left below an odd name")


def servers_swapped(scratch):
    """The tree of one server of a dump is not taken for that of another one."""
    path = scratch / "servers.rdump"
    nodes = [Node(1, DIRECTORY), Node(2, DIRECTORY)]
    text = replay_tree.text(nodes, []).replace("address=192.0.2.1", "address=192.0.2.1\nhost number=2 address=192.0.2.2")
    text = text.replace("object number=2 server=1", "object number=2 server=2")
    pathlib.Path(str(path) + ".txt").write_text(text, encoding="ascii")
    subprocess.run([NFSDIGEST, "rdump", "--undump", str(path) + ".txt", "--output", path], check=True)
    with Ftnfsd("--export", "/a", "--export", "/b") as server:
        right = ["192.0.2.%d=%s" % (i + 1, url) for i, url in enumerate(server.urls)]
        swapped = ["192.0.2.%d=%s" % (2 - i, url) for i, url in enumerate(server.urls)]
        said("two servers", run("populate", path, *right), 0, "/a: 1 objects", "/b: 1 objects")
        for command in "populate", "play", "clean":
            refused(3, "another server of th", command, path, *swapped)
        check(Export(server).names() == {b"root-1", b"scratch"}, "the tree of another server")
        said("again", run("run", path, *right), 0, "/a: 1 objects, 0 made", "/b: 1 objects, 0 made")
        said("removed", run("clean", path, *right), 0, "/a: 2 directories", "/b: 2 directories")


def too_large(scratch):
    """Files that have 2^64 bytes, all together."""
    nodes = [Node(1, DIRECTORY)] + [Node(n, FILE) for n in (2, 3, 4)]
    for n, size in zip(nodes[1:], ((1 << 63) - 1, (1 << 63) - 1, 2)):
        n.size = size
    dump = save(scratch / "large.rdump", nodes, [(nodes[0], n, b"f%d" % n.number) for n in nodes[1:]])
    with Ftnfsd("--export", "/a", "--memory-limit", "20M") as server:
        refused(3, "the files of the tree have 16.0 EiB", "populate", dump, server.urls[0])
    with Ftnfsd("--export", "/a", "--max-objects", "3") as server:
        refused(3, "has room for 2 files", "populate", "--fill", "sparse", dump, server.urls[0])
        check(is_empty(server), "something was made for files that have no room")


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        dump = small(scratch / "small.rdump")
        lost_answers(dump)
        other_objects(dump)
        not_kept(scratch, dump)
        without_end(scratch, dump)
        clean_anyway(dump)
        clean_busy(scratch, dump)
        not_ours(dump)
        like_ours(dump)
        odd_name(scratch, dump)
        servers_swapped(scratch)
        too_large(scratch)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
