#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan-long slow cost=40
"""nfsdigest package --verify finds whatever is wrong with an archive: one thing is made wrong at a
time in a package that is good without it, also when the lists of files were made to agree with it.
Hostile archives leave nothing behind.  Environment: NFSDIGEST, CAPTURES."""
import hashlib
import json
import os
import pathlib
import re
import sqlite3
import tarfile
import tempfile

import package_lib as p
from package_lib import expect, header

NAME = "t"
NEEDED = ("README.md", "SHA256SUMS", "audit.html", "audit.json", "captures/001.pcapng",
          "datapackage.json", "policy.conf")


class Bench:
    def __init__(self, folder):
        self.folder, self.told = folder, False
        self.key = p.new_key(folder / "k.key")
        original = p.capture("mem-libnfs-all22", folder)
        self.good = p.made(folder / "good.tar.zst", self.key, "--name", NAME, original)
        self.files = p.contents(self.good)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()

    def verify(self, data, *arguments):
        path = self.folder / "x.tar.zst"
        path.write_bytes(data)
        before = sorted(self.folder.rglob("*"))
        code, out, said = p.run("--verify", path, *arguments,
                                environment={"TMPDIR": str(self.temporary)})
        expect(sorted(self.folder.rglob("*")) == before, "verify leaves files behind")
        expect(not (code == 0 and "nothing wrong" not in out), "exit code 0:", out, said)
        expect(code in (0, 1, 3), "exit code", code, out, said)
        return code, out, said

    def wrong(self, what, data, pattern):
        """It must be found, as this."""
        code, out, said = self.verify(data)
        expect(code == 1 and re.search(pattern, out), what, ": exit code", code, out[:500],
               said[:300])
        if not self.told:  # once: the same findings as JSON
            self.told = True
            code, json_out, _ = self.verify(data, "--json")
            told = json.loads(json_out)
            lines = [line.partition(".tar.zst: ")[2] for line in out.splitlines()]
            expect(code == 1 and told["findings"] == lines and told["wrong"] == len(lines) > 0, what,
                   "as JSON:", code, told, lines)

    def refused(self, what, data, pattern, *arguments):
        code, out, said = self.verify(data, *arguments)
        expect(code == 3 and re.search(pattern, said), what, ": exit code", code, out[:300], said)

    def with_files(self, agree=False, more=(), **changes):
        """A package with other contents (None: without); |agree|: lists are made to fit."""
        files = dict(self.files)
        for path, body in changes.get("files", {}).items():
            if body is None:
                files.pop(path)
            else:
                files[path] = body
        return p.packed(NAME, agreeing(files) if agree else files, more)


def agreeing(files):
    """Sums and resources as they should be for these files."""
    package = json.loads(files["datapackage.json"])
    old = {r["path"]: r for r in package["resources"]}
    package["resources"] = []
    for path in sorted(set(files) - {"SHA256SUMS", "datapackage.json"}):
        r = dict(old.get(path, {"name": path.lower().replace("/", ".")}), path=path,
                 bytes=len(files[path]), hash="sha256:" + hashlib.sha256(files[path]).hexdigest())
        package["resources"].append(r)
    files = dict(files, **{"datapackage.json": json.dumps(package).encode()})
    files["SHA256SUMS"] = "".join("%s  %s\n" % (hashlib.sha256(files[path]).hexdigest(), path)
                                  for path in sorted(set(files) - {"SHA256SUMS"})).encode()
    return files


def flip(body, at):
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]


def check_bytes(b):
    """A bit in any member; a member less; both also where the lists agree with it."""
    code, out, _ = b.verify(b.good)
    expect(code == 0, "unchanged:", out)
    code, out, _ = b.verify(p.packed(NAME, b.files))
    expect(code == 1 and len(out.splitlines()) == 1 and "the archive's own bytes" in out,
           "packed by others:", out)
    code, out, _ = b.verify(p.packed(NAME, agreeing(b.files)))
    expect(code == 1 and len(out.splitlines()) == 2 and
           all(re.search("(datapackage.json|SHA256SUMS): byte ", line)
               for line in out.splitlines()), "lists made by the test:", out)
    for path, body in b.files.items():
        for at in {0, len(body) // 2, len(body) - 1}:
            b.wrong("a bit of %s at %d" % (path, at),
                    b.with_files(files={path: flip(body, at)}),
                    "SHA256SUMS" if path == "SHA256SUMS" else re.escape(path))
        b.wrong(path + " is longer", b.with_files(files={path: body + b"\n"}),
                "SHA256SUMS: a line" if path == "SHA256SUMS" else re.escape(path) + ": its SHA-256")
        missing = b.with_files(files={path: None})
        b.wrong(path + " is missing", missing, re.escape(path) + ": missing")
        if path in NEEDED[:1] + NEEDED[2:5] + NEEDED[6:]:
            b.wrong(path + " is missing, and not listed",
                    b.with_files(agree=True, files={path: None}), re.escape(path) + ": missing")
    b.wrong("a file more", b.with_files(files={"schemas/more.md": b"x"}),
            r"schemas/more\.md: SHA256SUMS does not list it")
    b.wrong("a file that no package has", b.with_files(agree=True, files={"original.pcap": b"x"}),
            r"not a file of a package: original\.pcap")
    b.wrong("a second capture", b.with_files(agree=True, files={"captures/002.pcapng": b"x"}),
            r"not a file of a package: captures/002\.pcapng")
    b.wrong("a journal for SQLite", b.with_files(agree=True, files={"trace.db-journal": b"x"}),
            "not a file of a package: trace.db-journal")


def check_lists(b):
    lines = b.files["SHA256SUMS"].decode().splitlines(keepends=True)

    def sums(what, new, pattern):
        b.wrong("SHA256SUMS: " + what, b.with_files(files={"SHA256SUMS": new.encode()}), pattern)

    sums("a line less", "".join(lines[1:]), "README.md: SHA256SUMS does not list it")
    sums("a line twice", "".join(lines[:1] + lines), "lists README.md twice")
    sums("a line more", "".join(lines) + "0" * 64 + "  plots/x.svg\n", r"plots/x\.svg: missing")
    sums("a wrong sum", "".join(["0" * 64 + lines[0][64:]] + lines[1:]), "README.md: its SHA-256")
    sums("empty", "", "does not list it")
    sums("no line feed", "".join(lines)[:-1], "does not end")
    for line in ("x\n", "\n", "0" * 64 + " README.md\n", "0" * 64 + " *README.md\n",
                 "0" * 64 + "  ../x\n", "G" * 64 + "  README.md\n", "0" * 64 + "  \n", "\0\n",
                 "0" * 64 + "  /etc/passwd\n", "0" * 70 + "\n"):
        sums(repr(line), line + "".join(lines), "not of sha256sum's form")

    def package(what, change, pattern):
        tree = json.loads(b.files["datapackage.json"])
        change(tree)
        files = dict(b.files, **{"datapackage.json": json.dumps(tree).encode()})
        digest = hashlib.sha256(files["datapackage.json"]).hexdigest()
        files["SHA256SUMS"] = re.sub(rb"[0-9a-f]{64}(?=  datapackage)", digest.encode(),
                                     files["SHA256SUMS"])
        b.wrong("datapackage.json: " + what, p.packed(NAME, files), pattern)

    def first(field, value):
        return lambda tree: tree["resources"][0].__setitem__(field, value)

    package("bytes", first("bytes", 1), "another number of bytes for README.md")
    package("bytes as text", first("bytes", "1"), "another number of bytes for README.md")
    package("hash", first("hash", "sha256:" + "0" * 64), "another hash for README.md")
    package("MD5", first("hash", "0" * 32), "another hash for README.md")
    package("path", first("path", "../../etc/passwd"), "not there: .an unsafe path")
    package("path that is not there", first("path", "plots/x.svg"), "not there: plots/x.svg")
    package("no path", lambda t: t["resources"][0].pop("path"), "does not list README.md")
    package("a resource less", lambda t: t["resources"].pop(), "does not list trace.")
    package("a resource twice", lambda t: t["resources"].append(t["resources"][0]),
            "lists README.md twice")
    package("no resources", lambda t: t.pop("resources"), "does not list README.md")
    package("resources are none", lambda t: t.update(resources=[1, "x", None, []]),
            "does not list README.md")
    package("name", lambda t: t.update(name="other"), "its name is not that of the folder")
    package("profile", lambda t: t.update(profile="tabular-data-package"), "profile")
    package("operations", lambda t: t["nfsdigest"].update(operations=7), "says 7 operations")
    for body in b"", b"{", b"[1,2", b"\xff", b"null\0", b"[" * 5000:
        b.wrong("datapackage.json %r" % body[:10],
                b.with_files(files={"datapackage.json": body}), "datapackage.json: not JSON")


def check_headers(b):
    """Members that are no plain files of nobody, or lead elsewhere."""
    def more(what, pattern, entry, body=b""):
        b.wrong(what, b.with_files(more=[(entry, body)]), pattern)

    outside = b.folder / "outside"
    for name in ("../x", NAME + "/../../x", NAME + "/..", NAME + "/plots/../../x", "/x", "x",
                 str(outside), NAME + "//x", NAME + "/./x", NAME + "/a/b/c",
                 NAME + "/.hidden", NAME + "/-rf", NAME + "/a b", NAME + "/a\\b", NAME + "/\u00fc",
                 NAME + "/plots/" + "x" * 100 + ".svg", NAME + "/plots/a\nb.svg"):
        more("path " + repr(name), "(unsafe path|path outside)", header(name, 1), b"x")
    more("another folder", "path outside", header("other/plots/x.svg", 1), b"x")
    for what, kind, link in (("symbolic link", tarfile.SYMTYPE, "/etc/passwd"),
                             ("hard link", tarfile.LNKTYPE, NAME + "/README.md"),
                             ("hard link elsewhere", tarfile.LNKTYPE, "/etc/passwd"),
                             ("character device", tarfile.CHRTYPE, ""),
                             ("block device", tarfile.BLKTYPE, ""),
                             ("pipe", tarfile.FIFOTYPE, ""), ("folder", tarfile.DIRTYPE, "")):
        more(what, "not a regular file", header(NAME + "/plots/x.svg", kind=kind, linkname=link,
                                             devmajor=1, devminor=3))
    # a link, and then a file through it
    b.wrong("through a link", b.with_files(more=[
        (header(NAME + "/x", kind=tarfile.SYMTYPE, linkname=str(b.folder)), b""),
        (header(NAME + "/x/planted.svg", 1), b"x")]), "not a regular file")
    more("twice", "there twice: README.md", header(NAME + "/README.md", 1), b"x")
    for field, value in (("uid", 1000), ("gid", 1000), ("uname", "ann"), ("gname", "staff")):
        b.wrong(field, p.archive([
            (header(NAME + "/" + path, len(body),
                    **({field: value} if path == "README.md" else {})), body)
            for path, body in b.files.items()]), 'has an owner: "t/README.md"')
    b.wrong("mode", p.archive([
        (header(NAME + "/" + path, len(body), mode=0o4755 if path == "README.md" else 0o644), body)
        for path, body in b.files.items()]), 'has the mode 4755')
    expect(not outside.exists() and not (b.folder / "planted.svg").exists(), "escaped")
    big = header(NAME + "/plots/big.svg", 1, pax_headers={"path": NAME + "/plots/" + "y" * 5000})
    b.wrong("a long path", b.with_files(more=[(big, b"x")]), "unsafe path")


def database(b, change):
    """The package's database, changed, where the lists agree with it."""
    path = b.folder / "change.db"
    path.write_bytes(b.files["trace.db"])
    with sqlite3.connect(path) as connection:
        change(connection)
    connection.close()
    body = path.read_bytes()
    path.unlink()
    return b.with_files(agree=True, files={"trace.db": body})


def readable(body):
    """All that SQLite reads in a database, or None: it finds damage."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(body)
    try:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return None
        schema = connection.execute("SELECT name, type, sql FROM sqlite_schema").fetchall()
        return schema, [connection.execute('SELECT * FROM "%s" NOT INDEXED' % name).fetchall()
                        for name, kind, _ in schema if kind == "table"]
    except (sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        connection.close()


def check_database(b):
    with sqlite3.connect(":memory:") as connection:
        connection.deserialize(b.files["trace.db"])
        tables = {name: connection.execute('SELECT count(*) FROM "%s"' % name).fetchone()[0]
                  for name, in connection.execute(
                      "SELECT name FROM sqlite_schema WHERE type = 'table'")}
        columns = {name: [row[1] for row in connection.execute('PRAGMA table_info("%s")' % name)]
                   for name in tables}
    expect(sum(1 for n in tables.values() if n) > 15, "tables", tables)
    for name, rows in tables.items():
        if not rows:
            continue
        where = columns[name][0]
        b.wrong("a row of %s less" % name, database(b, lambda c: c.execute(
            'DELETE FROM "{0}" WHERE {1} = (SELECT max({1}) FROM "{0}")'.format(name, where))),
            "trace.db: table %s: row" % name)
    for name, sql in (
            ("operation", "UPDATE operation SET status = 13 WHERE id = 20"),
            ("operation", "UPDATE operation SET data_digest = zeroblob(16) WHERE id = "
                          "(SELECT max(id) FROM operation WHERE data_digest IS NOT NULL)"),
            ("path", "UPDATE path SET name = 'payroll' WHERE id = 9"),
            ("source", "UPDATE source SET name = 'monday-at-example.pcap'"),
            ("meta", "INSERT INTO meta VALUES ('who', 'ann')")):
        b.wrong(sql, database(b, lambda c: c.execute(sql)), "trace.db: table %s: row" % name)
    b.wrong("one row less by another version", database(b, lambda c: c.executescript(
        "UPDATE meta SET value = 'nfsdigest 0.0.9' WHERE key = 'created_by';"
        "DELETE FROM name_event WHERE id = 5;")), "table name_event: [0-9]+ rows, but the capture")
    b.wrong("a database of another version", database(b, lambda c: c.execute(
        "UPDATE meta SET value = 'nfsdigest 0.0.9' WHERE key = 'created_by'")), "trace.db: byte ")
    for sql in ("CREATE TABLE more (x)", "CREATE VIEW more AS SELECT 1",
                "CREATE TRIGGER more AFTER INSERT ON meta BEGIN DELETE FROM meta; END",
                "DROP VIEW op", "DROP INDEX operation_by_time",
                "DROP VIEW op; CREATE VIEW op AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL"
                " SELECT x + 1 FROM c) SELECT x FROM c",
                "DROP TABLE operation; CREATE VIEW operation AS WITH RECURSIVE c(x) AS (SELECT 1"
                " UNION ALL SELECT x + 1 FROM c) SELECT x AS id FROM c"):
        b.wrong(sql, database(b, lambda c: c.executescript(sql)), "tables are not those")
    body = b.files["trace.db"]
    for what, other in (("no database", b"x" * 5000), ("empty", b""),
                        ("cut", body[:len(body) // 2]), ("head only", body[:100]),
                        ("another program's", body[:68] + bytes(4) + body[72:]),
                        ("a later version", body[:60] + b"\0\0\0\x63" + body[64:])):
        b.wrong("database: " + what, b.with_files(agree=True, files={"trace.db": other}),
                "trace.db: ")
    good, hurt = readable(body), 0
    for at in range(100, len(body), len(body) // 24):
        broken = body[:at] + bytes(x ^ 0x5a for x in body[at:at + 40]) + body[at + 40:]
        if readable(broken) == good:  # in the free part of a page
            continue
        hurt += 1
        b.wrong("damage at byte %d of the database" % at,
                b.with_files(agree=True, files={"trace.db": broken}), "trace.db: ")
    expect(hurt >= 8, "places in use:", hurt)


def check_contents(b):
    """Members that are not what they should be, listed as they are."""
    def changed(what, path, body, pattern):
        b.wrong(what, b.with_files(agree=True, files={path: body}), pattern)

    capture, report = b.files["captures/001.pcapng"], b.files["audit.json"]
    changed("an empty capture", "captures/001.pcapng", b"", "captures/001.pcapng: ")
    changed("no capture", "captures/001.pcapng", b"no capture" * 100, "captures/001.pcapng: ")
    changed("a cut capture", "captures/001.pcapng", capture[:-100], "cut in the middle")
    changed("half a capture", "captures/001.pcapng", capture[:len(capture) // 2 & ~3],
            "trace.db: table operation: row")
    original = (b.folder / "mem-libnfs-all22.pcap").read_bytes()
    changed("the original", "captures/001.pcapng", original,
            "does not say that it was made under policy.conf")
    changed("another policy", "policy.conf", b.files["policy.conf"].replace(b"token", b"keep"),
            "does not say that it was made under policy.conf")
    for old, new in ((b'"clean":true', b'"clean":false'),
                     (b'"finding_total":0', b'"finding_total":1')):
        expect(old in report, old)
        changed("audit " + new.decode(), "audit.json", report.replace(old, new), "was not clean")
    changed("a private report", "audit.json", report.replace(b'"redacted":true',
                                                             b'"redacted":false'), "quotes")
    changed("no report", "audit.json", b"clean", "audit.json: not JSON")
    key = pathlib.Path(b.key).read_bytes()
    for path in "README.md", "captures/001.pcapng", "plots/growth.svg":
        changed("a key in " + path, path, b.files[path] + key, re.escape(path) + ": holds a key")
    body = b"x" * (262144 - 10) + key  # across the pieces that are read at once
    changed("a key behind much", "README.md", body, "README.md: holds a key")
    changed("a new member with the key", "schemas/site.md", key, "schemas/site.md: holds a key")
    if "trace.rdump" in b.files:
        dump = b.files["trace.rdump"]
        for at in range(0, len(dump), len(dump) // 9):
            changed("a bit of the replay dump at %d" % at, "trace.rdump", flip(dump, at),
                    "trace.rdump: ")
        changed("a cut replay dump", "trace.rdump", dump[:-1], "trace.rdump: ")


def check_slack(b):
    """Bytes that nobody sees who unpacks it."""
    tar = p.unzstd(b.good)
    end = len(tar.rstrip(b"\0")) + 511 & ~511
    expect(tar[end:] == bytes(1024), "the tar ends otherwise than with two blocks")
    b.wrong("a tar that ends later", p.zstd(tar + bytes(512)), "the archive's own bytes")
    first = len(b.files["README.md"]) + 512
    expect(first % 512, "README.md has no padding")
    for what, other in (("behind the end", tar + b"secret"),
                        ("behind a long end", tar[:end] + bytes(10240) + b"secret" + bytes(506)),
                        ("many zeros", tar[:end] + bytes(1 << 20)),
                        ("behind a member", tar[:first] + b"x" + tar[first + 1:]),
                        ("in the place of zeros", tar[:end + 512] + b"secret" + bytes(506))):
        b.wrong(what, p.zstd(other), "something between or behind its members")
    pax = [(header(NAME + "/" + path, len(body), pax_headers={"comment": "secret"}
                   if path == "README.md" else {}), body) for path, body in b.files.items()]
    b.wrong("a comment of pax", p.archive(pax), "something between or behind its members")
    b.wrong("a skippable frame", b.good + bytes.fromhex("502a4d18 06000000") + b"secret",
            "not in one piece")
    b.wrong("two frames", p.zstd(tar[:1000]) + p.zstd(tar[1000:]), "not in one piece")


def check_others(b):
    """What is no package."""
    original = (b.folder / "mem-libnfs-all22.pcap").read_bytes()
    tar = p.unzstd(b.good)
    b.refused("empty", b"", "not a package")
    b.refused("a capture", original, "not a package")
    b.refused("a compressed capture", p.zstd(original), "not a package")
    b.refused("compressed nothing", p.zstd(b""), "not a package")
    b.refused("zeros", p.zstd(bytes(20480)), "not a package")
    b.refused("a plain tar", tar, "not a package")
    b.refused("other files", p.archive([(header("t/x", 1), b"x")]), "not a package")
    b.refused("a package in the root", p.archive(
        [(header(path, len(body)), body) for path, body in b.files.items()]), "not a package")
    for size in (1, 100, len(b.good) // 2, len(b.good) - 1):
        b.refused("the first %d bytes" % size, b.good[:size], "not a package")
    for size in (1000, len(tar) // 3):
        b.refused("a tar cut at %d" % size, p.zstd(tar[:size]), "not a package")
    for at in (5, len(b.good) // 3, len(b.good) - 5):
        code, out, said = b.verify(flip(b.good, at))
        # of zstd's own header the size of its window may change nothing
        expect(code in (1, 3) or at == 5, "a bit of the archive at", at, ":", code, out, said)
    code, _, said = p.run("--verify", b.folder / "nowhere")
    expect(code == 3 and "nowhere" in said, "no such file:", code, said)
    code, _, said = p.run("--verify", b.folder)
    expect(code == 3, "a folder:", code, said)
    total = sum(map(len, b.files.values()))
    b.refused("too large", b.good, "more than %d bytes" % (total - 1), "--max-size", total - 1)
    code, out, _ = b.verify(b.good, "--max-size", total)
    expect(code == 0, "as large as allowed:", out)
    for size in "moon", "0", "-1", "":
        code, _, said = p.run("--verify", b.folder / "good.tar.zst", "--max-size", size)
        expect(code == 2 and "is not a size" in said, "--max-size", size, code, said)
    bomb = header("t/plots/bomb.svg", 1 << 28)
    data = p.zstd(bomb.tobuf(tarfile.PAX_FORMAT) + bytes((1 << 28) + 10240))
    expect(len(data) < 100000, "a bomb of", len(data))
    b.refused("a bomb", data, "more than 33554432 bytes", "--max-size", "32M")
    b.refused("too many files", p.archive([(header("t/plots/%d.svg" % i, 1), b"x")
                                           for i in range(1001)]), "more than 1000 members")


def main():
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(pathlib.Path(folder))
        check_bytes(b)
        check_lists(b)
        check_headers(b)
        check_database(b)
        check_contents(b)
        check_slack(b)
        check_others(b)
    p.finish()


if __name__ == "__main__":
    os.umask(0o022)
    main()
