#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""nfsdigest tree on real captures.  Of loss-free ones nothing is inferred and nearly everything can
be replayed; one workload leaves the same tree on two servers; with frames lost, what was inferred
makes the lifetimes of names what they are without loss; the anonymized capture has the same tree but
for names; the scripts make what the JSON says, as find sees it, and nothing outside of their folder.
"""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import database  # noqa: E402
import harm  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import model_xdr  # noqa: E402
import rdump_file  # noqa: E402

REHEARSED = re.compile(rb"^(?:initial tree|operations  |inferred  |unplayable    | +\S+ more were).*$",
                       re.M)
LOSS_FREE = ["knfsd-netem-tcp", "knfsd-netem-udp", "knfsd-nlm-locks", "knfsd-tcp-mtu1500",
             "knfsd-udp-frag", "knfsd-vlan", "mem-libnfs-all22", "pair-ganesha-vfs", "pair-knfsd",
             "vfs-libnfs-all22"]
UNPLAYABLE_MOST = 0.005
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments):
    done = subprocess.run([database.program(), "tree"] + [str(a) for a in arguments],
                          capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError("tree %s: %s" % (" ".join(map(str, arguments)), done.stderr))
    return done.stdout


def tree(path, *arguments):
    """Entries, and the last line."""
    lines = [json.loads(line) for line in run("--json", *arguments, path).splitlines()]
    return [e for e in lines if e["kind"] == "entry"], lines[-1]


def rows(path, query):
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def unescape(text):
    return re.sub(rb"\\(\\|x[0-9a-f]{2})",
                  lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1][1:], 16)]), text.encode())


def loss_free(scratch):
    for name in LOSS_FREE:
        path = scratch / (name + ".db")
        database.ingest(path, next(CAPTURES.glob(name + ".pcap*")))
        entries, summary = tree(path, "--store")
        inferred, unplayable = sum(summary["inferred"].values()), sum(
            summary["unplayable"].values())
        check(inferred == 0, "%s: %d inferred" % (name, inferred))
        check(unplayable <= UNPLAYABLE_MOST * summary["operations"],
              "%s: %d of %d unplayable" % (name, unplayable, summary["operations"]))
        count = rows(path, "SELECT (SELECT count(*) FROM operation WHERE program IN (100003, 100227)"
                           " AND version = 3), (SELECT count(*) FROM tree_unplayable),"
                           " (SELECT count(*) FROM tree_initial)")[0]
        check(count == (summary["operations"], unplayable, summary["objects"]),
              "%s: %s" % (name, count))
        as_replayed(scratch, name)
        check(len(entries) >= count[2], name + ": entries")
        print("%s: %d subtrees, %d objects, %d unplayable of %d" % (
            name, summary["subtrees"], count[2], unplayable, summary["operations"]))


def as_replayed(scratch, name, *when):
    """Of one trace tree, its tables and rdump say the same: figures, objects and names, each operation
    that was inferred, and each that cannot be replayed."""
    path, dump = scratch / (name + ".db"), scratch / "x.rdump"
    seconds = when[0] if when else None
    made = json.loads(subprocess.run(
        [database.program(), "rdump", "--json", "-o", str(dump), str(path)]
        + (["--from", seconds] if when else []), capture_output=True, check=True).stdout)
    at = ["--at", seconds] if when else []
    lines = [json.loads(line) for line in run("--json", "--inferred", *at, path).splitlines()]
    summary, listed = lines[-1], [e for e in lines if e["kind"] == "inferred"]
    for key in "objects", "entries", "subtrees", "operations", "others", "superfluous":
        check(made[key] == summary[key], "%s: %s: %d in the dump, %d in the tree" % (
            name, key, made[key], summary[key]))
    for key, other in ("inferred", "inferred"), ("unplayable", "not_replayable"):
        have = {word: count for word, count in summary[key].items() if count}
        check(have == made[other], "%s: %s: %s in the dump, %s in the tree" % (
            name, key, made[other], have))
    before, inferred, unplayable = [0, 0, 0], [], {}
    for kind, record in rdump_file.read(dump):
        before[0] += kind == "object"
        before[1] += kind == "object" and record.type == 2
        before[2] += kind == "entry"
        if kind == "operation" and record.inferred:
            inferred.append((record.procedure, record.inferred))
        elif kind == "operation" and record.unplayable:
            unplayable[record.source] = record.unplayable
    check(before == [summary["objects"], summary["directories"], summary["entries"]],
          "%s: before: %s" % (name, before))
    check(len(listed) == len(inferred), "%s: %d listed" % (name, len(listed)))
    if when:
        return
    reasons = dict(rows(path, "SELECT value, name FROM code WHERE domain = 'inference'"))
    check([(model_xdr.NAMES[p], reasons[r]) for p, r in inferred]
          == [(e["procedure"], e["reason"]) for e in listed], "%s: listed" % name)
    check(rows(path, "SELECT procedure, reason FROM tree_inferred ORDER BY id") == inferred,
          "%s: tree_inferred" % name)
    check(dict(rows(path, "SELECT operation, reason FROM tree_unplayable")) == unplayable,
          "%s: tree_unplayable" % name)
    check(rows(path, "SELECT count(*) FROM tree_initial") == [(summary["objects"],)],
          "%s: tree_initial" % name)
    check(rows(path, "SELECT count(*) FROM tree_entry WHERE start IS NULL") >= [(before[2],)],
          "%s: tree_entry" % name)
    dumped = subprocess.run([database.program(), "rdump", "-o", str(dump), str(path)],
                            capture_output=True, check=True).stdout
    said = REHEARSED.findall(run("--summary", path))
    check(said == REHEARSED.findall(dumped) and len(said) > 3, "%s: said %s" % (name, said))


def below_root(entries):
    root = next(e["path"] for e in entries if e["root"])
    return {e["path"][len(root):]: e for e in entries if e["path"].startswith(root)}


def two_servers(scratch):
    """At both ends of the workload, and where both have been at its half: what both trees show."""
    for when, least in (("SELECT max(last_time) FROM source", 3), (
            "SELECT call_time FROM operation WHERE path IN (SELECT id FROM path WHERE text LIKE"
            " '%/w/d1/f1.renamed') AND procedure = 3 ORDER BY id LIMIT 1", 500)):
        sides = []
        for name in ("pair-knfsd", "pair-ganesha-vfs"):
            path = scratch / (name + ".db")
            at = rows(path, when)[0][0]
            if at is None:
                check(False, "no time: " + when)
                return
            seconds = "%d.%09d" % divmod(at, 10**9)
            sides.append(below_root(tree(path, "--at", seconds)[0]))
            if "max(" in when:  # the same moment, as people type it
                check(below_root(tree(path, "--at", "-0s")[0]) == sides[-1], "--at -0s")
        both = set(sides[0]) & set(sides[1])
        different = [p for p in both for key in ("type", "size", "uid", "gid", "link")
                     if sides[0][p][key] != sides[1][p][key]
                     and not (key == "size" and sides[0][p]["type"] == "directory") and p]
        modes = [p for p in both if p and sides[0][p]["mode"] != sides[1][p]["mode"]]
        only = [len(set(s) - both) for s in sides]
        check(not different and not modes, "two servers: %s %s" % (different[:5], modes[:5]))
        check(len(both) >= least, "two servers: %d paths in both" % len(both))
        print("two servers: %d paths in both, %d and %d in one" % (len(both), *only))


def lifetimes(path):
    """{(handle of the parent, name, handle)}: from the beginning, at the end."""
    found = rows(path, "SELECT p.handle, e.name, o.handle, e.start IS NULL, e.stop IS NULL"
                       " FROM tree_entry e JOIN object p ON p.id = e.parent"
                       " LEFT JOIN object o ON o.id = e.object")
    return ({f[:3] for f in found}, {f[:3] for f in found if f[3]}, {f[:3] for f in found if f[4]})


def lossy(scratch):
    unharmed = scratch / "unharmed.pcap"
    subprocess.run(["zstd", "-dqf", str(next(CAPTURES.glob("knfsd-tcp-mtu1500.pcap*"))), "-o",
                    str(unharmed)], check=True)
    packets = capfile.read(unharmed)
    kept = harm.without(packets, SRC / "tests/vectors/knfsd-tcp-mtu1500-drop1pct.frames")
    capture, path = scratch / "lossy.pcap", scratch / "lossy.db"
    capfile.write_pcap(capture, harm.apply(packets, kept))
    database.ingest(path, capture)
    _, summary = tree(path, "--store")
    whole, before, after = lifetimes(scratch / "knfsd-tcp-mtu1500.db")
    found, found_before, found_after = lifetimes(path)
    unnamed = {f for f in found if f[2] is None}
    check(not found_before - before, "lossy: there before: %s" % (found_before - before))
    # nothing comes after the last removals that could prove them
    check(after <= found_after and len(found_after - after) <= 1,
          "lossy: there at the end: %s" % (found_after ^ after))
    check(found - unnamed <= whole, "lossy: never there: %s" % (found - unnamed - whole))
    check(len(whole) - len(found) <= 2, "lossy: %d of %d names" % (len(found), len(whole)))
    as_replayed(scratch, "lossy")
    middle = rows(path, "SELECT call_time FROM operation ORDER BY id LIMIT 1 OFFSET 300")[0][0]
    as_replayed(scratch, "lossy", "%d.%09d" % divmod(middle, 10**9))
    changed = summary["inferred"]["attributes changed"]
    inferred = sum(summary["inferred"].values()) - changed
    check(40 <= inferred <= 60 and changed, "lossy: %d and %d inferred" % (inferred, changed))
    proofs = rows(path, "SELECT count(*), sum(reply_frame IS NOT NULL), count(witness) FROM inferred"
                        " GROUP BY reason = 'attributes changed' ORDER BY 1 DESC")
    check(proofs == [(inferred, inferred, inferred), (changed, changed, 0)],
          "lossy: proofs %s" % proofs)
    check(rows(path, "SELECT count(*) FROM inferred WHERE (procedure = 'SETATTR') <>"
                     " (object IS NOT NULL AND parent IS NULL AND name IS NULL)") == [(0,)],
          "lossy: SETATTR is of an object, others of names")
    print("lossy: %d names and %d attributes inferred, %d of %d names, %d there before" % (
        inferred, changed, len(found), len(whole), len(found_before)))


def anonymized(scratch):
    key, capture, path = (scratch / n for n in ("key", "anonymized.pcapng", "anonymized.db"))
    anonymizer.known_key(key)
    anonymizer.anonymize(capture, "public", key, next(CAPTURES.glob("pair-ganesha-vfs.pcap*")))
    database.ingest(path, capture)
    _, summary = tree(path, "--store")
    original = scratch / "pair-ganesha-vfs.db"
    check(summary == tree(original)[1], "anonymized: summary")
    for query in ("SELECT object, parent, start_operation, stop_operation, start IS NULL,"
                  " stop IS NULL FROM tree_entry ORDER BY object, parent, start_operation",
                  "SELECT object, type, size, at_least, guessed, mode, nlink, root IS NULL"
                  " FROM tree_initial ORDER BY object",
                  "SELECT precedes, reason, procedure FROM tree_inferred ORDER BY id",
                  "SELECT * FROM tree_unplayable ORDER BY operation"):
        there, here = rows(original, query), rows(path, query)
        check(there == here, "anonymized: %s: %d rows and %d" % (query, len(there), len(here)))
    names = set(rows(original, "SELECT name FROM tree_entry")) & set(
        rows(path, "SELECT name FROM tree_entry"))
    check(not names, "anonymized: the same names %s" % names)
    print("anonymized: the same tree")


def found_files(top):
    """As find sees them: {way: (type, mode, size, uid, gid, mtime, link, inode)}"""
    out = subprocess.run(["find", str(top), "-mindepth", "1", "-printf",
                          "%P\\0%y\\0%m\\0%s\\0%U\\0%G\\0%T@\\0%l\\0%i\\0"], capture_output=True,
                         check=True).stdout.split(b"\0")[:-1]
    return {out[i]: out[i + 1:i + 9] for i in range(0, len(out), 9)}


KINDS = {"directory": b"d", "file": b"f", "unknown": b"f", "symlink": b"l", "fifo": b"p",
         "block": b"b", "char": b"c"}


def make(scratch, path, *arguments, under=None):
    """Lets the script make the tree; returns how many entries it made."""
    root = os.geteuid() == 0
    top = scratch / "made"
    shutil.rmtree(top, ignore_errors=True)
    script = scratch / "make.sh"
    script.write_bytes(run("--script", "sh", *arguments, path))
    subprocess.run(["sh", str(script), str(top)], check=True, stderr=subprocess.DEVNULL)
    files = found_files(top)
    inodes, expected = {}, 0
    prefix = None
    for e in tree(path, *arguments)[0]:
        if under:
            way = unescape(e["path"][len(under) + 1:])
        else:
            if e["root"]:
                prefix = e["path"]
            way = b"root-%d" % root_number(e, prefix) + unescape(e["path"][len(prefix):])
        if not way or e["type"] == "socket" or (e["type"] in ("block", "char") and not root):
            continue
        expected += 1
        got = files.get(way)
        if got is None:
            check(False, "script: not made: %r" % way)
            continue
        kind, mode, size, uid, gid, mtime, link, inode = got
        check(kind == KINDS[e["type"]], "script: %r is %r" % (way, kind))
        if e["mode"] is not None and kind != b"l":
            check(int(mode, 8) == e["mode"] & 0o7777, "script: mode of %r: %r" % (way, mode))
        if kind == b"f":
            check(int(size) == (e["size"] or 0), "script: size of %r: %r" % (way, size))
        if root and e["uid"] is not None:
            check((int(uid), int(gid)) == (e["uid"], e["gid"]), "script: owner of %r" % way)
        if e["mtime"] is not None:
            seconds, _, fraction = mtime.decode().partition(".")
            check(int(seconds) * 10**9 + int(fraction[:9].ljust(9, "0")) == e["mtime"],
                  "script: time of %r: %r, not %d" % (way, mtime, e["mtime"]))
        if e["link"] is not None:
            check(link == unescape(e["link"]), "script: link of %r" % way)
        check(inodes.setdefault(e["object"], inode) == inode, "script: %r is another file" % way)
    check(len(files) == expected, "script: %d files, not %d" % (len(files), expected))
    check(len(set(inodes.values())) == len(inodes), "script: objects share an inode")
    return expected


numbers = {}


def root_number(entry, prefix):
    if entry["root"]:
        numbers[prefix] = entry["object"]
    return numbers[prefix]


def mtree(path):
    """The specification names what the JSON has."""
    lines = run("--script", "mtree", path).split(b"\n")
    check(lines[0] == b"#mtree v2.0" and lines[1] == b". type=dir", "mtree: %s" % lines[:2])
    found = {}
    for line in lines[2:-1]:
        way, *words = line.split(b" ")
        way = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), way)
        found[way] = dict(w.split(b"=", 1) for w in words)
    prefix, count = None, 0
    for e in tree(path)[0]:
        if e["root"]:
            prefix = e["path"]
        way = b"./root-%d" % root_number(e, prefix) + unescape(e["path"][len(prefix):])
        got = found.get(way)
        check(got is not None, "mtree: no %r" % way)
        if got and e["type"] in ("file", "unknown"):
            check(int(got[b"size"]) == (e["size"] or 0), "mtree: size of %r" % way)
        if got and e["mode"] is not None:
            check(int(got[b"mode"], 8) == e["mode"], "mtree: mode of %r" % way)
        count += 1
    check(count == len(found), "mtree: %d lines, not %d" % (len(found), count))


def scripts(scratch):
    print("script: %d of pair-ganesha-vfs" % make(scratch, scratch / "pair-ganesha-vfs.db"))
    path = scratch / "vfs-libnfs-all22.db"
    last = rows(path, "SELECT call_time FROM operation ORDER BY id DESC LIMIT 1 OFFSET 60")[0][0]
    at = "%d.%09d" % divmod(last, 10**9)
    print("script: %d of vfs-libnfs-all22, in its middle" % make(scratch, path, "--at", at))
    mtree(scratch / "pair-ganesha-vfs.db")
    # names of all kinds, hard links, links, devices, pipes
    path = scratch / "model.db"
    model_capture.record(model_world.World(seed=8, operations=1500, share=2.0,
                                           weights=dict(listing=60)), scratch / "model.pcap")
    database.ingest(path, scratch / "model.pcap")
    print("script: %d of a model world" % make(scratch, path))
    entries = tree(path)[0]
    check(len({e["object"] for e in entries}) < len(entries), "model: no hard links")
    check({"fifo", "symlink"} <= {e["type"] for e in entries}, "model: kinds")
    check(any(b"\n" in unescape(e["path"]) for e in entries), "model: no newline")
    mtree(path)
    under = next(e["path"] for e in entries if e["type"] == "directory" and not e["root"]
                 and sum(x["path"].startswith(e["path"] + "/") for x in entries) > 2)
    print("script: %d below %s" % (make(scratch, path, "--under", under, under=under), under))


def hostile(scratch):
    """A name that leads out of the folder makes nothing there."""
    path = scratch / "hostile.db"
    shutil.copy(scratch / "model.db", path)
    victim = next(e for e in tree(path)[0] if e["type"] == "file"
                  and re.search(r"/[a-z.0-9]{10,}$", e["path"]))
    name = victim["path"].rsplit("/", 1)[1].encode()
    evil = b"../../" + b"e" * (len(name) - 6)
    connection = sqlite3.connect(path)
    connection.create_function("swap", 1, lambda b: b.replace(name, evil) if b else b)
    connection.execute("UPDATE operation SET arguments = swap(arguments), result = swap(result)")
    connection.commit()
    connection.close()
    script, inner = scratch / "hostile.sh", scratch / "a/b/c"
    script.write_bytes(run("--script", "sh", path))
    inner.mkdir(parents=True)
    subprocess.run(["sh", str(script), str(inner / "top")], check=True, stderr=subprocess.DEVNULL)
    outside = [p for p in found_files(scratch / "a") if not p.startswith(b"b/c/top")
               and p not in (b"b", b"b/c")]
    check(not outside, "hostile: made outside: %s" % outside)
    check(b"no file can have this name" in script.read_bytes(), "hostile: not said")
    check(evil.replace(b"/", b"\\x2f") in run(path), "hostile: not in the text")
    mtree_lines = run("--script", "mtree", path)
    check(b"../.." not in mtree_lines, "hostile: in mtree")


def stored(scratch):
    """A second --store gives the same tables; a killed or refused one leaves the first."""
    path = scratch / "vfs-libnfs-all22.db"
    query = ("SELECT 1, id, object, parent, name, start, stop, start_operation, seen_operation,"
             " stop_operation, 0 FROM tree_entry UNION ALL SELECT 2, object, type, size, link, mode,"
             " uid, gid, mtime, ctime, root FROM tree_initial")
    first = rows(path, query)
    run("--store", "--summary", path)
    check(first == rows(path, query) and len(first) > 50, "store: not the same again")
    verified = subprocess.run([database.program(), "check", str(path)], check=False,
                              capture_output=True)
    check(verified.returncode == 0, "store: check says %s" % verified.stdout)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TRIGGER t BEFORE DELETE ON meta BEGIN SELECT raise(FAIL, 'no'); END")
    connection.commit()
    connection.close()
    refused = subprocess.run([database.program(), "tree", "--store", str(path)], check=False,
                             capture_output=True)
    check(refused.returncode == 3 and first == rows(path, query), "store: refused")


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for part in (loss_free, two_servers, lossy, anonymized, scripts, hostile, stored):
            part(scratch)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
