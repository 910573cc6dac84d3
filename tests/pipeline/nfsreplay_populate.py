#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""The tree that nfsreplay populate makes is that of the dump, as a client of our own sees it: also when
the server leaves things out or loses them, and when a run is interrupted and goes on.  What nfsreplay
must not touch it refuses, and clean removes what it made and nothing else.

    nfsreplay_populate.py     environment: BUILD, NFSDIGEST
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import replay_tree  # noqa: E402
from fill import fill  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from messages import auth_sys, opaque, u32, u64  # noqa: E402
from model_xdr import (CREATE, GETATTR, LOOKUP, MKDIR, READ, READDIR, READLINK, REMOVE,  # noqa: E402
                       SETATTR, UNCHECKED, WRITE, data_pieces)
from replay_tree import BLOCK, CHARACTER, DIRECTORY, FILE, LINK  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
NFSDIGEST = os.environ["NFSDIGEST"]
PROGRAM = str(BUILD / "bin" / "nfsreplay")
OBJECTS = 250
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%.300s: %.300r, not %.300r" % (what, found, wanted))


def check_words(what, done, code, words):
    text = done.stdout + done.stderr
    if done.returncode != code or words not in text:
        failures.append("%s: exit %d: %s\n    not %d: %s" % (what, done.returncode, text, code,
                                                             words))


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=120)


def ctl(path, *words):
    subprocess.run([BUILD / "bin" / "ftnfsd", "ctl", path, *words], check=True,
                   stdout=subprocess.DEVNULL)


# --- what a client sees

def names_in(client, directory):
    found, cookie, verifier, end = set(), 0, bytes(8), False
    while not end:
        _, r = client.nfs(READDIR, {"object": directory, "cookie": cookie, "verifier": verifier,
                                    "count": 8192})
        found |= {name for _, name, _ in r["entries"]}
        end, verifier = r["eof"], r["verifier"]
        cookie = r["entries"][-1][2] if r["entries"] else 0
    return found - {b".", b".."}


def contents(client, handle, size, piece):
    """The pieces of the whole file."""
    return [client.nfs(READ, {"object": handle, "offset": at, "count": piece})[1]["data"]
            for at in range(0, size, piece)]


def seen(client, handle, node, atimes, piece=65536):
    """What should be as the dump has it: (found, wanted)."""
    a = client.nfs(GETATTR, {"object": handle})[1]["attributes"]
    found = [a.type, a.uid, a.gid, a.mtime, a.atime if atimes else None]
    wanted = [node.type, node.uid, node.gid, node.mtime, node.atime if atimes else None]
    if node.type != LINK:
        found.append(oct(a.mode))
        wanted.append(oct(node.mode))
    if node.type != DIRECTORY:
        found.append(a.nlink)
        wanted.append(node.nlink)
    if node.type == FILE:
        found += [a.size, contents(client, handle, node.size, piece)]
        whole = fill(node.number, 0, node.size)
        wanted += [node.size, [data_pieces(whole[at:at + piece])
                               for at in range(0, node.size, piece)]]
    if node.type in (BLOCK, CHARACTER):
        found.append(a.rdev)
        wanted.append(node.rdev)
    if node.type == LINK:
        found.append(client.nfs(READLINK, {"object": handle})[1]["text"])
        wanted.append(node.link)
    return found, wanted


def verify(what, server, export, paths, atimes=False, piece=65536):
    """|atimes|: nobody has listed a directory or read a link yet.  |piece|: bytes of a READ."""
    client = Client(server)
    handles = {b"": client.mount(export)}
    inside, read = {b"": {b"scratch"}}, set()
    for path, node in paths.items():
        parent, _, name = path.rpartition(b"/")
        inside.setdefault(parent, set()).add(name)
        if node.type == DIRECTORY:
            inside.setdefault(path, set())
        status, r = client.nfs(LOOKUP, {"object": handles[parent], "name": name})
        if status:
            failures.append("%s: %r is missing: %d" % (what, path, status))
            return
        handles[path] = r["handle"]
    for path, node in paths.items():
        check("%s: %r" % (what, path), *seen(client, handles[path], node,
                                             atimes and node.number not in read, piece))
        read.add(node.number)
    for path, names in inside.items():
        check("%s: names in %r" % (what, path), names_in(client, handles[path]), names)
    client.close()


# --- the cases

def whole(scratch, dump, paths):
    """Made, found again, damaged, mended, removed."""
    with Ftnfsd("--export", "/a", "--export", "/b") as server:
        url = server.urls[0]
        done = run("populate", dump, url)
        check_words("populate", done, 0, "/a: %d objects, %d made" % (OBJECTS, OBJECTS))
        verify("made", server, b"/a", paths, True)
        check_words("again", run("populate", dump, url), 0, "%d objects, 0 made, 0 B" % OBJECTS)
        check_words("check", run("populate", "--check", dump, url), 0, "0 made")
        verify("after both", server, b"/a", paths)

        client = Client(server)
        root = client.mount(b"/a")
        top = client.nfs(LOOKUP, {"object": root, "name": b"root-1"})[1]["handle"]
        file = client.nfs(LOOKUP, {"object": root, "name": b"root-3"})[1]["handle"]
        client.nfs(SETATTR, {"object": file, "settings": {"mode": 0o123}})
        client.nfs(CREATE, {"object": top, "name": b"sur\nplus", "how": UNCHECKED, "settings": {}})
        gone = next(p for p, n in paths.items() if n.type == FILE and n.nlink == 1 and
                    p.count(b"/") == 1 and p.startswith(b"root-1/"))
        client.nfs(REMOVE, {"object": top, "name": gone.partition(b"/")[2]})
        done = run("populate", "--check", "--quiet", dump, url)
        said = sorted(done.stdout.splitlines())
        check("the exit code of check", done.returncode, 1)
        check("what check says", [line for line in said if "mtime" not in line], sorted([
            "root-1: has \"sur\\x0aplus\", which the dump does not have",
            "%s: is missing" % replay_tree.escape(gone).replace("\\x20", " "),
            "root-3: mode %04o, there 0123" % paths[b"root-3"].mode]))
        said = [json.loads(line) for line in
                run("populate", "--check", "--json", dump, url).stdout.splitlines()]
        counts = said.pop()
        check("check --json", sorted(
            [{**d, "path": d["path"].encode()} for d in said
             if "mtime" not in d["difference"] and "/" not in d["path"]], key=lambda d: d["path"]),
              [{"path": b"root-1", "difference": "has \"sur\\x0aplus\", which the dump does not have"},
               {"path": b"root-3", "difference": "mode %04o, there 0123" % paths[b"root-3"].mode}])
        check("its counts", (counts["objects"], counts["there"], counts["made"], counts["differences"],
                             counts["foreign"], counts["interrupted"]),
              (OBJECTS, OBJECTS - 1, 0, len(said), False, False))
        client.nfs(REMOVE, {"object": top, "name": b"sur\nplus"})
        client.nfs(SETATTR, {"object": file, "settings": {"size": 7}})
        check_words("mend", run("populate", dump, url), 0, "%d objects, 1 made" % OBJECTS)
        verify("mended", server, b"/a", paths)
        wrong_bytes(client, dump, url, paths)
        client.close()
        refuse_other(server, scratch, dump)
        cleaned = json.loads(run("clean", "--json", dump, url).stdout)
        check("clean --json", (cleaned["target"].startswith(url.partition("?")[0]), cleaned["interrupted"]),
              (True, False))
        check("objects that were removed", cleaned["directories"] + cleaned["others"] >= OBJECTS, True)
        check("the time it took", cleaned["took"] > 0, True)
        client = Client(server)
        check("what clean leaves", names_in(client, client.mount(b"/a")), set())
        client.close()


def wrong_bytes(client, dump, url, paths):
    """One byte of a file is another one, and the file is found by its contents only; then it is mended by
    hand."""
    path, node = next((p, n) for p, n in paths.items() if n.type == FILE and n.size > 100 and
                      n.nlink == 1 and p.startswith(b"root-1/") and p.count(b"/") == 1 and not
                      n.mode & 0o6000)
    top = client.nfs(LOOKUP, {"object": client.mount(b"/a"), "name": b"root-1"})[1]["handle"]
    file = client.nfs(LOOKUP, {"object": top, "name": path.partition(b"/")[2]})[1]["handle"]
    at = node.size - 3
    good = fill(node.number, at, 1)
    for byte, code in (bytes([good[0] ^ 1]), 1), (good, 0):
        client.nfs(WRITE, {"object": file, "offset": at, "count": 1, "stable": 2,
                           "data": data_pieces(byte)})
        client.nfs(SETATTR, {"object": file, "settings": {"mtime": node.mtime}})
        done = run("populate", "--check", "--contents", "--quiet", dump, url)
        said = [line for line in done.stdout.splitlines() if "contents" in line]
        check("contents, with %r" % byte, said, ["%s: other contents from byte %d on" % (
            replay_tree.escape(path).replace("\\x20", " "), at)] * code)


def refuse_other(server, scratch, dump):
    """What is not ours stays."""
    other = os.path.join(scratch, "other.rdump")
    replay_tree.write(NFSDIGEST, other, 20, seed=2)
    a, b = server.urls
    check_words("another dump", run("populate", other, a), 3, "the tree of another dump")
    check_words("clean of another dump", run("clean", other, a), 3, "the tree of another dump")
    check_words("another fill", run("populate", "--fill", "zero", dump, a), 3, "say --fill fill")
    client = Client(server)
    root = client.mount(b"/b")
    client.nfs(MKDIR, {"object": root, "name": b"ho\nme", "settings": {}})
    check_words("a foreign tree", run("populate", dump, b), 3, "it has \"ho\\x0ame\", and 250")
    check_words("clean of it", run("clean", dump, b), 3, "nfsreplay did not make what is there")
    check("the foreign tree", names_in(client, root), {b"ho\nme"})
    client.close()


def refusals(scratch, dump):
    large = os.path.join(scratch, "large.rdump")
    nodes, entries, _ = replay_tree.make(10, seed=3)
    nodes[2].size = 1 << 40
    with open(large + ".txt", "w", encoding="ascii") as out:
        out.write(replay_tree.text(nodes, entries))
    subprocess.run([NFSDIGEST, "rdump", "--undump", large + ".txt", "--output", large], check=True)
    with Ftnfsd("--export", "/ro(ro)", "--export", "/root(root_squash)", "--export",
                "/all(all_squash)", "--capacity", "1G") as server:
        for url, words in zip(server.urls, ("the export is read-only", "maps uid 0 to uid 65534",
                                            "maps uid 0 to uid 65534")):
            check_words("populate of " + words, run("populate", dump, url), 3, words)
        client = Client(server)
        for export in b"/ro", b"/root", b"/all":
            check("what is left in %r" % export, names_in(client, client.mount(export)), set())
        client.close()
        url = server.urls[0]
        check_words("no room", run("populate", large, url), 3, "has room for 1.0 GiB")
        check_words("no export", run("populate", dump, url.replace("/ro?", "/none?")), 3,
                    "no such export")
        for words in ("nothing",), (dump,), (dump, "127.0.0.1:/a"), (dump, "10.0.0.1=" + url):
            check("usage %r" % (words,), run("populate", *words).returncode, 2)
    check_words("no server", run("populate", dump, url), 4, "refused")
    check_words("no dump", run("populate", "/nonexistent", url), 3, "/nonexistent")


def full(dump):
    """What stands on a full server can be removed: the tree so far, also if the marker got no room."""
    for options, words in ((["--capacity", "200k"], "it cannot be written: NFS3ERR_NOSPC"),
                           (["--capacity", "1000"], "writing the marker: NFS3ERR_NOSPC"),
                           (["--fault", "WRITE:status=NFS3ERR_DQUOT"], "writing the marker: NFS3ERR_DQUOT")):
        with Ftnfsd("--export", "/a", *options) as server:
            check_words("full", run("populate", "--force", dump, server.urls[0]), 3, words)
            check_words("full, %r: clean" % options, run("clean", dump, server.urls[0]), 0, "removed")
            client = Client(server)
            check("full, %r: what is left" % options, names_in(client, client.mount(b"/a")), set())
            client.close()


def short_marker(dump):
    """A server may return less of the marker than it was asked for."""
    with Ftnfsd("--export", "/a", "--fault", "READ:path=*marker:short:every=2") as server:
        check_words("short READs: populate", run("populate", dump, server.urls[0]), 0, "250 made")
        check_words("short READs: check", run("populate", "--check", dump, server.urls[0]), 0, "0 made")
        check_words("short READs: clean", run("clean", dump, server.urls[0]), 0, "removed")


def faults(dump, paths):
    """The server leaves out, loses, breaks off; the tree is the same."""
    for fault in (["*:no-attributes", "*:no-handle"], ["WRITE:p=0.4:short", "WRITE:committed=UNSTABLE",
                                                       "WRITE:every=9:verifier"],
                  ["*:every=90:close:after=20"], ["*:every=61:status=NFS3ERR_JUKEBOX:after=30"]):
        options = [o for rule in fault for o in ("--fault", rule)]
        with tempfile.TemporaryDirectory() as scratch:
            control = os.path.join(scratch, "control")
            with Ftnfsd("--export", "/a", "--control", control, *options) as server:
                check_words("with %r" % fault, run("populate", dump, server.urls[0]), 0, "made")
                ctl(control, "fault-clear")
                verify("with %r" % fault, server, b"/a", paths)
                ctl(control, "fault-add", "READ:p=0.5:short")
                check_words("contents, by short READs", run("populate", "--check", "--contents", dump,
                                                           server.urls[0]), 0, "MiB compared")


def large_file(scratch):
    """A file of many WRITEs: several of them are under way at a time, also when the server writes less than
    it should, or loses what it has."""
    dump = os.path.join(scratch, "large.rdump")
    nodes, entries, paths = replay_tree.make(10, seed=3)
    node = next(n for n in nodes if n.type == FILE and n.size)
    node.size = (2 << 20) + 17
    with open(dump + ".txt", "w", encoding="ascii") as out:
        out.write(replay_tree.text(nodes, entries))
    subprocess.run([NFSDIGEST, "rdump", "--undump", dump + ".txt", "--output", dump], check=True)
    control = os.path.join(scratch, "large.control")
    for faults_ in (["WRITE:delay=5ms"], ["WRITE:p=0.4:short", "WRITE:committed=UNSTABLE",
                                          "WRITE:count=3:after=200:verifier"],
                    ["*:every=211:close:after=20", "WRITE:every=61:status=NFS3ERR_JUKEBOX"]):
        options = [o for rule in faults_ for o in ("--fault", rule)]
        with Ftnfsd("--export", "/a", "--transfer-size", "4k", "--control", control, *options) as server:
            begun = time.monotonic()
            done = run("populate", "--force", dump, server.urls[0])
            took = time.monotonic() - begun
            check_words("large, %r" % faults_, done, 0, "made")
            if "delay" in faults_[0]:  # one after the other: 513 * 5 ms
                check("large: several at a time, in %.2f s" % took, took < 2, True)
            ctl(control, "fault-clear")
            verify("large, %r" % faults_, server, b"/a", paths, piece=4096)


def interrupted(dump, paths):
    """A server that stops answering, in each kind of call, and a player that is ended or killed."""
    with tempfile.TemporaryDirectory() as scratch:
        control = os.path.join(scratch, "control")
        with Ftnfsd("--export", "/a", "--control", control) as server:
            for fault, end in (("CREATE:after=60", signal.SIGINT), ("WRITE:after=20", signal.SIGKILL),
                               ("SETATTR:after=10", signal.SIGTERM), ("LINK:after=5", signal.SIGKILL)):
                ctl(control, "fault-add", fault + ":ignore")
                process = subprocess.Popen([PROGRAM, "populate", dump, server.urls[0]],
                                           stdout=subprocess.PIPE, text=True)
                time.sleep(.4)
                process.send_signal(end)
                said = process.communicate(timeout=60)[0]
                check(fault + ": exit", process.returncode, -9 if end == signal.SIGKILL else 1)
                check(fault + ": says it", "interrupted" in said, end != signal.SIGKILL)
                ctl(control, "fault-clear")
            done = run("populate", dump, server.urls[0])
            check("the last run", done.returncode, 0)
            verify("interrupted", server, b"/a", paths)


def clean_interrupted(dump, paths):
    """Ended among the last calls, in the directory that has the marker, it goes on."""
    def removed(what, server):
        client = Client(server)
        check(what, names_in(client, client.mount(b"/a")), set())
        client.close()

    tried = sum(n.type == DIRECTORY and b"/" in path for path, n in paths.items())
    with tempfile.TemporaryDirectory() as scratch:
        control = os.path.join(scratch, "control")
        with Ftnfsd("--export", "/a", "--control", control) as server:
            url = server.urls[0]
            run("populate", dump, url)
            done = run("clean", dump, url)
            files = int(done.stdout.split()[4].replace(",", ""))
            removed("the whole clean", server)
            for before in 1, 2, 4:  # REMOVEs; each directory but the roots was tried, too
                run("populate", dump, url)
                ctl(control, "fault-add", "REMOVE:after=%d:ignore" % (files + tried - before))
                process = subprocess.Popen([PROGRAM, "clean", dump, url], stdout=subprocess.PIPE,
                                           text=True)
                time.sleep(.5)
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=60)
                ctl(control, "fault-clear")
                client = Client(server)
                check("%d before the end: what is left" % before,
                      names_in(client, client.mount(b"/a")), {b"scratch"})
                client.close()
                check_words("%d before the end" % before, run("clean", dump, url), 0, "removed")
                removed("%d before the end: removed" % before, server)


def fills(dump, paths):
    """How well the contents of all files can be compressed."""
    size = sum(n.size for n in paths.values() if n.type == FILE)
    for kind, low, high in (("zero", 0, .01), ("random", .99, 1.1), ("compressible=4", .2, .3),
                            ("sparse", 0, .01)):
        with Ftnfsd("--export", "/a") as server:
            url = server.urls[0]
            done = run("populate", "--fill", kind, dump, url)
            check_words("fill " + kind, done, 0, "0 B written" if kind == "sparse" else "MiB written")
            check_words("check " + kind, run("populate", "--check", "--contents", dump, url), 0,
                        "MiB compared")
            client = Client(server)
            handles, packed = {b"": client.mount(b"/a")}, 0
            for path, node in paths.items():
                parent, _, name = path.rpartition(b"/")
                handles[path] = client.nfs(LOOKUP, {"object": handles[parent], "name": name})[1][
                    "handle"]
                if node.type == FILE and node.size:
                    raw = client.rpc(READ, opaque(handles[path]) + u64(0) + u32(65536),
                                     credential=auth_sys(0, 0))
                    data = raw[-(node.size + -node.size % 4):]
                    packed += len(zlib.compress(data[:node.size], 1))
            check("%s: compressed to %.3f" % (kind, packed / size), low <= packed / size <= high,
                  True)
            client.close()


def main():
    with tempfile.TemporaryDirectory() as scratch:
        dump = os.path.join(scratch, "tree.rdump")
        paths = replay_tree.write(NFSDIGEST, dump, OBJECTS)
        whole(scratch, dump, paths)
        refusals(scratch, dump)
        full(dump)
        short_marker(dump)
        faults(dump, paths)
        large_file(scratch)
        interrupted(dump, paths)
        clean_interrupted(dump, paths)
        fills(dump, paths)
    for failure in failures[:20]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
