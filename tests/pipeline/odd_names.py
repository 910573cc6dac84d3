#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600 plugin
"""Names of all bytes, in traces and of files, wherever they are shown: as the one escaped text, which
can be taken back; as strict UTF-8, in JSON, too; with nothing that a terminal would obey.  And info
reads pipes as it reads files.

    odd_names.py [-k DIRECTORY]
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "gen")]

import capfile  # noqa: E402
import messages as rpc  # noqa: E402
import nfsr  # noqa: E402
import scratch as work  # noqa: E402
import traffic  # noqa: E402

PROGRAM = os.environ["NFSDIGEST"]
TSHARK = os.path.join(os.environ["BUILD"], "bin", "tshark")
CAPTURES = pathlib.Path(os.environ["CAPTURES"])

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NAMES = ([b"x" + bytes([b]) for b in range(256)]
         + ["b%sd" % c for c in BIDI + "\u2028\u2029\x9b\u00a0\u00e4\u20ac\U0001f600"]
         + [b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xed\xb3\xbf", b"\xf4\x90\x80\x80",
            b"\xe2\x82", b"\xff\xfe\xfd", b"\\x41", b"\\\\", b"a\\", b"\x1b[31mred\x1b[0m",
            "\u202egnp.exe", b"a\xff/../b", b"'\"$(x)`;", bytes(range(256))])
NAMES = [n.encode() if isinstance(n, str) else n for n in NAMES]
ROOT = "/srv/\u202eodd".encode() + b"\xff\\"
MOUNT, MNT = 100005, 1
READLINK, SYMLINK_TYPE, DIRECTORY = 5, 5, 2

failures = []


def check(truth, text):
    if not truth:
        failures.append(text)
        print("FAILED:", ascii(text[:600]))
    return truth


def run(*command, code=0, stdin=None):
    """Its output, which must be strict and harmless UTF-8; so must be what it complains about."""
    done = subprocess.run(command, capture_output=True, check=False, stdin=stdin)
    what = ascii(b" ".join(os.fsencode(c) for c in command[1:4]))
    check(done.returncode == code, "%s: exit %d: %s" % (what, done.returncode, done.stderr[-300:]))
    for data in done.stdout, done.stderr:
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            check(False, "%s: %s" % (what, error))
            continue
        bad = {c for c in text if c != "\n" and not nfsr.is_shown(c)}
        check(not bad, "%s: characters %s" % (what, ascii(sorted(bad))))
    return done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def nfsdigest(*arguments, **options):
    return run(PROGRAM, *arguments, **options)[0]


def strict(text):
    """JSON whose strings are all text."""
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False).encode()  # fails at lone surrogates
    return value


def make(path, flow_type, nlink):
    """A MOUNT, then for each name LOOKUP, GETATTR, READLINK with the name as the link's text."""
    trace = traffic.Trace()
    mount = traffic.UdpFlow(trace, "10.0.0.1", 800, server_port=20048)
    mount.pair(1, MNT, rpc.opaque(ROOT), rpc.u32(0) + rpc.opaque(rpc.handle(1)) + rpc.u32(1, 1),
               program=MOUNT)
    flow = flow_type(trace, "10.0.0.1", 900)
    if flow_type is traffic.TcpFlow:
        flow.open()
    flow.pair(2, 1, rpc.getattr_args(rpc.handle(1)), rpc.getattr_res(1, rpc.DIR))
    for i, name in enumerate(NAMES):
        handle, xid = rpc.handle(10 + i), 100 + 10 * i
        flow.pair(xid, 3, rpc.lookup_args(rpc.handle(1), name),
                  rpc.lookup_res(handle, 10 + i, SYMLINK_TYPE))
        flow.pair(xid + 1, 1, rpc.getattr_args(handle),
                  rpc.getattr_res(10 + i, SYMLINK_TYPE, 4096 + nlink))
        flow.pair(xid + 2, READLINK, rpc.opaque(handle),
                  rpc.u32(0) + rpc.some(rpc.fattr3(10 + i, SYMLINK_TYPE)) + rpc.opaque(name))
    capfile.write_pcap(path, [capfile.Packet(f.time, f.data, len(f.data), 1) for f in trace.frames])
    os.chmod(path, 0o644)


def wanted():
    """{xid: path}"""
    root = nfsr.escape(ROOT)
    out = {}
    for i, name in enumerate(NAMES):
        text = root + "/" + nfsr.escape(name, False)
        check(nfsr.unescape(text) == ROOT + b"/" + name, "not reversible: " + text)
        out.update({100 + 10 * i + k: text for k in range(3)})
    return out


def operations(database, want):
    found = {}
    for line in nfsdigest("ops", "--json", "--fields", database).split("\n")[:-1]:
        op = strict(line)
        if op["xid"] >= 100:
            found[op["xid"]] = op["path"]
            if op["procedure"] == READLINK:
                text = op["result"]["READLINK3res.resok.data"]
                check(nfsr.unescape(text) == NAMES[(op["xid"] - 100) // 10], "link " + text)
    check(found == want, "ops --json: %s" % [(x, p) for x, p in found.items() if want[x] != p][:2])
    lines = nfsdigest("ops", database).split("\n")[:-1]
    check(len(lines) == len(want) + 2, "%d lines of ops" % len(lines))
    check(all(any(p in line for line in lines) for p in want.values()), "ops: a path is missing")
    check(len(set(want.values())) == len(NAMES), "two names have one text")
    nfsdigest("ops", "--fields", database)


def others(database, want, scratch):
    paths = {g["path"] for g in strict(nfsdigest("info", "--json", "--by", "path", "--top", "999",
                                                 database))["by_path"]}
    check(set(want.values()) <= paths, "info --json: %s" % (set(want.values()) - paths))
    text = nfsdigest("info", "--top", "999", database)
    check(all("  %s\n" % p in text for p in want.values()), "info: a path is missing")
    entries = [strict(line) for line in nfsdigest("tree", "--json", database).splitlines()]
    entries = {e["path"]: e for e in entries if e["kind"] == "entry"}
    check(set(want.values()) <= set(entries), "tree --json: a path is missing")
    for name in NAMES:
        entry = entries.get(nfsr.escape(ROOT) + "/" + nfsr.escape(name, False))
        check(entry and nfsr.unescape(entry["link"]) == name, "tree --json: link %s" % entry)
    for option in (), ("--script", "mtree"):
        nfsdigest("tree", *option, database)
    nfsdigest("deps", "--list", "--json", database)
    dump = scratch / "odd.rdump"
    nfsdigest("rdump", "-o", dump, database)
    listed = [strict(line) for line in nfsdigest("rdump", "--json", "--dump", dump).splitlines()]
    links = [nfsr.unescape(r["link"]) for r in listed if r["kind"] == "object" and r["link"]]
    check(sorted(links) == sorted(NAMES), "rdump --json: links")
    entries = {nfsr.unescape(r["name"]) for r in listed if r["kind"] == "entry"}
    impossible = {name for name in NAMES if b"/" in name or b"\0" in name}
    check(set(NAMES) - entries == impossible, "rdump --json: names %s" % (set(NAMES) ^ entries))
    check(strict(nfsdigest("rdump", "--json", "-o", dump, database))["impossible_names"] == len(impossible),
          "rdump --json: impossible_names")
    check(nfsdigest("rdump", "-o", dump, database).count("%d names were left out, which no file can have\n"
                                                         % len(impossible)) == 1, "rdump: names that are left out")


def compared(database, other):
    text = nfsdigest("compare", "--rules", "strict", database, other, code=1)
    report = strict(nfsdigest("compare", "--rules", "strict", "--json", database, other, code=1))
    check(report["groups"] and "gnp.exe" not in text.replace("\\xe2\\x80\\xaegnp.exe", ""), "compare")


def packet_tree(capture, want):
    out = subprocess.run([TSHARK, "-n", "-r", capture, "-T", "json", "-J", "nfspair", "-Y",
                          "nfspair.message == 1"], capture_output=True, check=True).stdout
    found = {}
    for packet in json.loads(out.decode()):
        tree = packet["_source"]["layers"]["nfspair"]
        if isinstance(tree, dict) and int(tree["nfspair.xid"], 0) >= 100:
            found[int(tree["nfspair.xid"], 0)] = tree["nfspair.path"]
    check(found == want, "nfspair.path: %s" % [(found.get(x), p) for x, p in want.items()
                                               if found.get(x) != p][:3])


def made_files(path):
    """Names of files that commands make, in text and in JSON."""
    key, dump, piece = path + b".key", path + b".rdump", path + b".piece"

    def tells(name, wanted, *arguments, code=0):
        said = strict(nfsdigest(*arguments, code=code))
        check(nfsr.unescape(said[name]) == wanted, "%s --json: %s" % (arguments[0], said[name]))

    for made in key, dump:
        pathlib.Path(os.fsdecode(made)).unlink(missing_ok=True)
    nfsdigest("key", "new", key)
    nfsdigest("key", "check", key)
    tells("file", key, "key", "check", "--json", key)
    nfsdigest("rdump", "-o", dump, path)
    tells("file", dump, "rdump", "--json", "-o", dump, path)
    nfsdigest("rdump", "--check", dump)
    tells("dump", dump, "rdump", "--check", dump, "--json")
    tells("piece", piece, "piece", "--json", "-o", piece, path)
    tells("capture", path, "piece", "--json", "-o", piece, path)
    nfsdigest("join", piece)
    check(nfsr.unescape(strict(nfsdigest("join", "--json", piece))["pieces"][0]["piece"]) == piece, "join --json")
    tells("file", path, "ingest", "--json", "-o", path + b".again.db", path)
    tells("output", path + b".nfsr", "record", "--json", "-o", path + b".nfsr", path)


def odd_files(capture, scratch):
    """Names of files: in info, messages and the database."""
    for name in (b"cap\xff\xe2\x80\xae.pcap", b"a\\x41\".pcap", b"\x1b[31m\n.pcap"):
        path = os.path.join(os.fsencode(scratch), name)
        with open(path, "wb") as out:
            out.write(capture.read_bytes())
        for target in path, path + b".db":
            if target != path:
                nfsdigest("ingest", "-o", target, path)
                nfsdigest("check", target)
            said = strict(nfsdigest("info", "--json", target))
            check(nfsr.unescape(said["database"]) == target, "info --json: %s" % said["database"])
            check(nfsr.unescape(said["sources"][0]["name"]) == path, "source's name")
            nfsdigest("info", target)
        run(PROGRAM, "ingest", "-o", path + b".db", path)  # is there already, and says so
        made_files(path)
        run(PROGRAM, "info", path + b".none", code=3)
        run(PROGRAM, "record", "-o", os.path.join(path, b"x"), path, code=4)
        with open(path, "r+b") as out:
            out.truncate(5000)
        nfsdigest("info", path, code=3)


def through(reader, source):
    """info of |source| through a pipe that has a name."""
    fifo = source.with_name("fifo")
    fifo.unlink(missing_ok=True)
    os.mkfifo(fifo)

    def feed():
        try:
            with open(fifo, "wb") as out:
                out.write(source.read_bytes())
        except BrokenPipeError:
            pass  # the reader had seen enough
    thread = threading.Thread(target=feed)
    thread.start()
    said = reader(fifo)
    thread.join()
    return said


def pipes(scratch):
    """Files on both sides of the 64 KiB that are looked at first."""
    compressed = CAPTURES / "vfs-libnfs-all22.pcap.zst"
    plain, records, database = scratch / "plain.pcap", scratch / "plain.nfsr", scratch / "plain.db"
    with open(plain, "wb") as out:
        subprocess.run(["zstd", "-qdc", compressed], stdout=out, check=True)
    nfsdigest("record", "-o", records, plain)
    copy = scratch / "plain.pcap.zst"
    copy.write_bytes(compressed.read_bytes())
    small = scratch / "small.pcap"
    small.write_bytes(plain.read_bytes()[:30000])
    nfsdigest("ingest", "-o", database, plain)

    def totals(*arguments, **options):
        said = strict(nfsdigest("info", "--json", *arguments, **options))
        return [{k: v for k, v in s.items() if k not in ("name", "note")}
                for s in said["sources"]], said["totals"], said["by_procedure"]

    for source in plain, copy, records, small:
        code = 3 if source == small else 0
        file = totals(source, code=code)
        with open(source, "rb") as stdin:
            check(totals("-", stdin=stdin, code=code) == file, "info - < %s" % source.name)
        with subprocess.Popen(["cat", source], stdout=subprocess.PIPE) as cat:
            check(totals("-", stdin=cat.stdout, code=code) == file, "cat %s | info -" % source.name)
        check(through(lambda fifo: totals(fifo, code=code), source) == file,
              "info FIFO of " + source.name)
    for command in "info", "check":
        said = through(lambda fifo: run(PROGRAM, command, fifo, code=3)[1], database)
        check("not from a pipe" in said, "%s of a database through a pipe: %s" % (command, said))


def hostile(database):
    """A database that others made: its texts are not what they should be."""
    db = sqlite3.connect(database)
    db.execute("UPDATE path SET text = CAST(x'2f1b5b33316dff' AS TEXT) || text WHERE id % 2")
    db.execute("UPDATE source SET name = CAST(x'1b5b33316de280ae' AS TEXT)")
    db.commit()
    db.close()
    for command in ("ops",), ("ops", "--json"), ("info",), ("info", "--json"):
        nfsdigest(*command, database)
    nfsdigest("check", database, code=1)


def main():
    with work.folder() as scratch:
        want = wanted()
        for flow_type in traffic.TcpFlow, traffic.UdpFlow:
            capture, other = scratch / "odd.pcap", scratch / "other.pcap"
            make(capture, flow_type, 1)
            make(other, flow_type, 2)
            for path in capture, other:
                path.with_suffix(".db").unlink(missing_ok=True)
                nfsdigest("ingest", "-o", path.with_suffix(".db"), path)
            operations(scratch / "odd.db", want)
            packet_tree(capture, want)
        others(scratch / "odd.db", want, scratch)
        compared(scratch / "odd.db", scratch / "other.db")
        odd_files(capture, scratch)
        pipes(scratch)
        hostile(scratch / "odd.db")
    print("%d names, %d failures" % (len(NAMES), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
