#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""nfsdigest package: the same bytes from anywhere, everything in it and agreeing, nothing of the
original, and nothing at all when something is wrong.  Environment: NFSDIGEST, CAPTURES."""
import getpass
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import time

import package_lib as p
from package_lib import expect

import capfile  # noqa: E402 (its folder is known to package_lib)
import craft_marked  # noqa: E402

NEEDED = {"README.md", "SHA256SUMS", "audit.html", "audit.json", "captures/001.pcapng",
          "datapackage.json", "plots/concurrency.svg", "plots/growth.svg", "plots/latency.svg",
          "plots/operations.svg", "policy.conf", "schemas/audit.schema.json", "schemas/digest.sql",
          "schemas/nfsr.ksy", "schemas/nfsr.md", "schemas/trace.sql", "trace.db", "trace.rdump"}


def again(folder, original, key):
    """Another place, name, time, user's environment: the same bytes."""
    first, second = folder / "first", folder / "second place"
    first.mkdir()
    second.mkdir()
    one = p.made(first / "trace-1.tar.zst", key, original)
    other = second / "renamed.cap"
    other.write_bytes(original.read_bytes())
    os.utime(other, (1, 1))
    two = p.made("x.tar.zst", key, "--name", "trace-1", other.name, folder=second, environment={
        "TZ": "America/New_York", "HOME": str(second), "USER": "somebody", "LC_ALL": "C"},
        before=lambda: os.umask(0o077))
    expect(one and one == two, "the same capture gives other bytes")
    subprocess.run(["zstd", "-q", str(other), "-o", str(second / "z")], check=True)
    expect(one == p.made(second / "trace-1.tar.zst", key, second / "z"), "compressed: other bytes")
    dated = p.members(p.made(folder / "dated.tar.zst", key, "--no-rdump", original,
                             environment={"SOURCE_DATE_EPOCH": "1234567890"}))
    expect({m.mtime for m, _ in dated} == {1234567890}, "SOURCE_DATE_EPOCH is not heeded")
    os.unlink(folder / "dated.tar.zst")
    return one


def check_headers(data, name, database):
    entries = p.members(data)
    names = [m.name for m, _ in entries]
    last = database.execute("SELECT max(last_time) FROM source").fetchone()[0] // 10**9
    expect(names == sorted(names), "names are not sorted", names)
    expect({n.split("/")[0] for n in names} == {name}, "not one folder", names)
    for m, _ in entries:
        expect(m.isreg() and m.uid == m.gid == 0 and not m.uname and not m.gname and
               m.mode == 0o644 and m.mtime == last and not m.pax_headers, "header of", m.name,
               m.get_info())


def check_sums(files, folder):
    lines = [line.split("  ", 1) for line in files["SHA256SUMS"].decode().splitlines()]
    expect([path for _, path in lines] == sorted(set(files) - {"SHA256SUMS"}), "SHA256SUMS lists",
           lines)
    for path, body in files.items():
        where = folder / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(body)
    done = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=folder,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, "sha256sum -c:", done.stdout, done.stderr)


def check_datapackage(files, name, title=None):
    """What https://specs.frictionlessdata.io/schemas/data-package.json (version 1) asks for."""
    package = json.loads(files["datapackage.json"])
    expect(package["profile"] == "data-package" and package["name"] == name, "package's name")
    expect(re.fullmatch(r"([-a-z0-9._/])+", package["name"]), "name", package["name"])
    expect(not {"created", "contributors", "sources"} & set(package), "too much", set(package))
    expect(title is None or package["title"] == title, "title", package["title"])
    expect(all(isinstance(k, str) for k in package["keywords"]) and package["keywords"], "keywords")
    for item in package.get("licenses", [{"name": "x"}]):
        expect("name" in item or "path" in item, "license", item)
    resources = package["resources"]
    expect(len({r["name"] for r in resources}) == len(resources) > 0, "names are not unique")
    expect({r["path"] for r in resources} == set(files) - {"SHA256SUMS", "datapackage.json"},
           "resources are", [r["path"] for r in resources])
    for r in resources:
        expect(re.fullmatch(r"([-a-z0-9._/])+", r["name"]), "resource's name", r)
        expect(re.fullmatch(r"^(?=^[^./~])(^((?!\.{2}).)*$).*", r["path"]), "path", r)
        expect(re.fullmatch(r"(.+)/(.+)", r["mediatype"]), "mediatype", r)
        expect(isinstance(r["bytes"], int) and r["bytes"] == len(files[r["path"]]), "bytes", r)
        expect(r["hash"] == "sha256:" + hashlib.sha256(files[r["path"]]).hexdigest(), "hash", r)
    return package


def check_contents(files, folder, key, original, database):
    expect(NEEDED <= set(files), "missing:", NEEDED - set(files))
    expect(set(files) - NEEDED <= {"schemas/rdump.md", "schemas/rdump.ksy"}, "more:",
           set(files) - NEEDED)
    done = subprocess.run([p.NFSDIGEST, "rdump", "--check", folder / "trace.rdump"],
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, "rdump --check:", done.stdout, done.stderr)
    report = json.loads(files["audit.json"])
    expect(report["clean"] and report["redacted"] and report["finding_total"] == 0, "audit")
    digest = hashlib.sha256(files["policy.conf"]).hexdigest()
    for where in files["README.md"], files["datapackage.json"], files["captures/001.pcapng"][:1000]:
        expect(digest.encode() in where, "the policy's SHA-256 is not in", where[:20])
    # the capture is what anonymizing alone makes, and the database what ingesting alone makes of it
    alone = folder / "alone.pcapng"
    p.anonymizer.checked("anonymize", "--key", key, "-o", alone, original)
    expect(alone.read_bytes() == files["captures/001.pcapng"], "another capture than anonymize's")
    p.anonymizer.checked("ingest", "-q", "-o", folder / "alone.db", alone)
    p.anonymizer.checked("tree", "--store", "--summary", folder / "alone.db")
    expect(sorted(dump(folder / "alone.db")) == sorted(dump(folder / "trace.db")),
           "another database than ingest's")
    expect(database.execute("SELECT name, state FROM source").fetchall() ==
           [("captures/001.pcapng", "complete")], "sources of the database")
    expect(database.execute("SELECT value FROM meta WHERE key = 'created_by'").fetchone()[0] ==
           subprocess.run([p.NFSDIGEST, "--version"], capture_output=True, text=True,
                          check=True).stdout.strip(), "created_by")
    for path in files:
        if path.startswith("schemas/"):
            expect(files[path] == (p.SRC / path).read_bytes(), path, "is another one")
        if path.endswith(".svg"):
            expect(files[path].lstrip()[:4] in (b"<svg", b"<?xm") and b"</svg>" in files[path][-8:],
                   path, "is no SVG")


def dump(path):
    with sqlite3.connect(path) as database:
        return [line for line in database.iterdump() if not line.startswith(
            'INSERT INTO "source"')]


def check_readme(text, database):
    """Figures by queries of the test's own."""
    ask = lambda sql: database.execute(sql).fetchone()[0]  # noqa: E731
    rows = dict(re.findall(r"^\| ([^|]+) \| ([0-9,]+)(?: \([0-9.]+ %\))? \|$", text, re.M))
    figures = {
        "operations": "SELECT count(*) FROM operation",
        "of these without call or reply": "SELECT count(*) FROM operation WHERE pairing <> 0",
        "frames": "SELECT sum(frames) FROM source",
        "clients": "SELECT count(DISTINCT client) FROM operation",
        "servers": "SELECT count(DISTINCT server) FROM operation",
        "objects (file handles)": "SELECT count(*) FROM object",
        "operations that were not captured but must have happened":
            "SELECT count(*) FROM tree_inferred",
        "operations that cannot be replayed": "SELECT count(*) FROM tree_unplayable",
        "NFS3_OK": "SELECT count(*) FROM operation WHERE program = 100003 AND procedure > 0 AND"
                   " rpc_status = 0 AND status = 0",
    }
    for what, sql in figures.items():
        expect(rows.get(what, "").replace(",", "") == str(ask(sql)), "README.md:", what, "is",
               rows.get(what), "not", ask(sql))
    for name, count in database.execute(
            "SELECT program || ' ' || procedure, count(*) FROM op GROUP BY 1"):
        expect(re.search(r"^\| %s \| %s \|" % (re.escape(name), format(count, ",")), text, re.M),
               "README.md: row of", name)
    expect("What can still be inferred" in text and "**File sizes.**" in text, "residual risks")


def secrets_of(capture):
    """Names, hosts and paths of 5 characters and more, as stock tshark shows them; addresses."""
    found = set()
    for name in "nfs.name", "rpc.auth.machinename", "mount.path", "nfs.readdirplus.entry.name":
        out = subprocess.run(["tshark", "-r", capture, "-T", "fields", "-e", name, "-Y", name],
                             capture_output=True, check=False).stdout
        found |= {w for line in out.split() for w in line.split(b",") if len(w) >= 5}
    return found


def check_secrets(files, original, key):
    """Of a real capture: what stock tshark shows in it; of where it was made: everything."""
    words = secrets_of(original)
    raw = original.read_bytes()
    expect(len(words) > 40 and all(w in raw for w in words), "the search's words", len(words))
    # words of specifications and of this program's own texts
    words -= {b"libnfs", b"exclusive", b"symlink", b"unchecked"}
    key_text = pathlib.Path(key).read_text(encoding="ascii").split()[-1]
    words |= {str(original.parent).encode(), original.name.encode(), key_text.encode(),
              bytes.fromhex(key_text), os.path.basename(key).encode(), b"second place"}
    if len(socket.gethostname()) > 4:
        words.add(socket.gethostname().encode())
    if len(getpass.getuser()) > 4:
        words.add(getpass.getuser().encode())
    for path, body in files.items():
        for word in words:
            expect(word not in body, path, "holds", word)


def check_marked(folder, key):
    """A made-up capture in which all that is secret is marked, comments of the file too."""
    case = craft_marked.procedures()
    original = craft_marked.write_decorated(str(folder / "marked.pcapng"), case)
    for policy in "public", "strict":
        output = folder / ("marked-%s.tar.zst" % policy)
        files = p.contents(p.made(output, key, "--policy", policy, original))
        expect(NEEDED <= set(files), "marked: missing", NEEDED - set(files))
        code, out, said = p.run("--verify", output)
        # the messages contradict each other, of which a replay dump tells
        expect(code in (0, 1) and not said and all(": trace.rdump: " in line or "nothing" in line
                                                   for line in out.splitlines()),
               "marked:", policy, "verify:", code, out, said)
        for path, body in files.items():
            if not path.startswith("schemas/"):
                expect(case.secrets.found(body) == [], policy, path, case.secrets.found(body)[:2])
        output.unlink()


def check_rotated(folder, whole, key):
    """Parts of a capture, of several kinds, give what the whole one gives."""
    packets = capfile.read(str(whole))
    cuts = 0, len(packets) // 3, 2 * len(packets) // 3, len(packets)
    parts = [packets[a:b] for a, b in zip(cuts, cuts[1:])]
    capfile.write_pcap(str(folder / "1"), parts[0], packets[0].link_type)
    capfile.write_pcapng(str(folder / "2"), parts[1])
    capfile.write_pcap(str(folder / "3"), parts[2], packets[0].link_type)
    subprocess.run(["zstd", "-q", "--rm", folder / "3"], check=True)
    one = p.contents(p.made(folder / "t.tar.zst", key, whole))
    several = p.contents(p.made(folder / "t2.tar.zst", key, "--name", "t", folder / "1",
                                folder / "2", folder / "3.zst"))
    for path in one:
        if path not in ("audit.html", "audit.json", "SHA256SUMS", "datapackage.json"):
            expect(several.get(path) == one[path], "rotated:", path, "differs")
    figures = [json.loads(f["audit.json"]) for f in (one, several)]
    expect(figures[0]["original"] == figures[1]["original"] and
           figures[0]["messages"] == figures[1]["messages"], "rotated: the audit's figures differ")
    code, _, said = p.run("-o", folder / "u.tar.zst", "-k", key, folder / "2", folder / "1")
    expect(code in (0, 1), "in another order:", code, said)
    for name in "1", "2", "3.zst", "t.tar.zst", "t2.tar.zst", "u.tar.zst":
        (folder / name).unlink(missing_ok=True)


def check_options(folder, original, key):
    text = folder / "about.md"
    text.write_text("Two *clients*,\nbuilding \u00fcber night.\n\n", encoding="utf-8")
    files = p.contents(p.made(folder / "My Trace.TAR.ZST.tar.zst", key, "--policy", "strict",
                              "--title", "A \"title\"", "--license", "CC-BY-4.0", "--description",
                              text, "--no-database", "--no-rdump", original))
    package = check_datapackage(files, "my-trace.tar.zst", "A \"title\"")
    expect(package["licenses"] == [{"name": "CC-BY-4.0"}], "license", package.get("licenses"))
    expect(package["description"] == "Two *clients*,\nbuilding \u00fcber night.", "description")
    expect(package["nfsdigest"]["policy"] == "strict", "policy", package["nfsdigest"])
    readme = files["README.md"].decode()
    expect(all(t in readme for t in ("# A \"title\"\n", package["description"], "CC-BY-4.0",
                                     "`strict`")), "README.md: texts of the command line")
    expect("trace.db" not in files and "trace.rdump" not in files, "left out:", set(files))
    expect("nfsdigest ingest" in readme and "| `trace.db` |" not in readme, "README.md: database")
    code, out, _ = p.run("--verify", folder / "My Trace.TAR.ZST.tar.zst")
    expect(code == 0 and "nothing wrong" in out, "verify:", code, out)
    code, out, _ = p.run("--verify", "--json", folder / "My Trace.TAR.ZST.tar.zst")
    told = json.loads(out)
    expect(code == 0 and told["findings"] == [] and told["wrong"] == 0 and told["files"] >= len(files) and
           told["bytes"] >= sum(map(len, files.values())), "verify --json:", code, told)
    (folder / "My Trace.TAR.ZST.tar.zst").unlink()
    code, out, _ = p.run("--help")
    page = (p.SRC / "man" / "nfsdigest-package.1").read_text(encoding="utf-8").replace("\\-", "-")
    options = re.compile(r"--[a-z][a-z-]+")
    expect(code == 0 and set(options.findall(out)) == set(options.findall(page)) -
           {"--store"}, "help and man page differ:",
           set(options.findall(out)) ^ set(options.findall(page)))


def refuse(name, code, pattern, folder, *arguments, **how):
    """It fails so, and leaves everything as it was."""
    before = listing(folder)
    got, out, said = p.run(*arguments, **how)
    expect(got == code and re.search(pattern, out + said), name, ": exit code", got, out[:300],
           said)
    expect(listing(folder) == before, name, "leaves", listing(folder) ^ before)


def listing(folder):
    return {(str(path), path.stat().st_mtime_ns if path.is_file() else 0)
            for path in folder.rglob("*")}


def check_refusals(folder, original, key):
    out = folder / "no.tar.zst"
    make = "-o", out, "-k", key
    shown = subprocess.run([p.NFSDIGEST, "policy", "show", "public"], capture_output=True,
                           text=True, check=True).stdout.split("\n", 1)[1]
    leaking = folder / "leaking.conf"
    leaking.write_text(shown.replace("name = public", "name = leaking").replace(
        "\nname = token", "\nname = keep"), encoding="ascii")
    refuse("a policy that keeps names", 1, r"(?s)quotes the original.*identity: name", folder,
           *make, "-p", leaking, original)
    leaking.write_text(shown.replace("name = public", "name = leaking").replace(
        "\nhandle = keyed", "\nhandle = keep"), encoding="ascii")
    refuse("a policy that keeps handles", 1, "identity: handle", folder, *make, "-p", leaking,
           original)
    cut = folder / "cut.pcap"
    cut.write_bytes(original.read_bytes()[:-7])
    refuse("a cut capture", 3, "cut in the middle", folder, *make, cut)
    refuse("a cut capture before another", 3, "cut in the middle", folder, *make, cut, original)
    other = folder / "other.pcap"
    capfile.write_pcap(str(other), [capfile.Packet(10**18, bytes(60), 60, 1)])
    refuse("no operation", 3, "nothing to release", folder, *make, other)
    capfile.write_pcap(str(other), [])
    refuse("no packet", 3, "nothing to release", folder, *make, other)
    other.write_bytes(b"This is no capture at all.")
    refuse("no capture", 3, "not a capture", folder, *make, other)
    refuse("no capture among others", 3, "not a capture", folder, *make, original, other)
    refuse("no such capture", 3, "cannot be opened", folder, *make, folder / "nowhere")
    refuse("standard input", 2, "more than once", folder, *make, "-")
    refuse("a device", 3, "not a regular file", folder, *make, "/dev/null")
    refuse("no output", 2, "archive's name", folder, "-k", key, original)
    refuse("standard output", 2, "archive's name", folder, "-o", "-", "-k", key, "--name", "x",
           original)
    refuse("no key", 2, "give the key", folder, "-o", out, original)
    refuse("no such key", 3, "nokey", folder, "-o", out, "-k", folder / "nokey", original)
    refuse("no capture named", 2, "nothing to package", folder, *make)
    refuse("no such policy", 2, "lab", folder, *make, "-p", "moon", original)
    refuse("no such folder", 4, "cannot make a folder", folder, "-o", folder / "x" / "y.tar.zst",
           "-k", key, original)
    for name in "", "Upper", "-x", "a/b", "..", "x" * 65, "\u00fc":
        refuse("name " + name, 2, "--name takes", folder, *make, "--name", name, original)
    for title in "", "two\nlines", "x" * 201, b"\xff":
        refuse("title", 2, "--title takes", folder, *make, "--title", os.fsdecode(title)
               if isinstance(title, bytes) else title, original)
    for text in "", "free for all", "x" * 65:
        refuse("license", 2, "--license takes", folder, *make, "--license", text, original)
    other.write_bytes(b"\xff\xfe")
    refuse("description", 3, "not UTF-8", folder, *make, "--description", other, original)
    other.write_bytes(b"x" * 65537)
    refuse("long description", 3, "1 to 65536 bytes", folder, *make, "--description", other,
           original)
    refuse("no description", 3, "cannot be read", folder, *make, "--description", folder / "nil",
           original)
    refuse("date", 2, "SOURCE_DATE_EPOCH", folder, *make, original,
           environment={"SOURCE_DATE_EPOCH": "moon"})
    refuse("size without verify", 2, "goes with --verify", folder, *make, "--max-size", "1M",
           original)
    refuse("verify with a key", 2, "--max-size and --json only", folder, "--verify", "-k", key, original)
    refuse("verify two", 2, "one archive", folder, "--verify", original, original)
    out.write_bytes(b"precious")
    refuse("it exists", 2, "--force replaces", folder, *make, original)
    p.made(out, key, "--force", original)
    expect(out.read_bytes()[:4] == struct.pack("<I", 0xfd2fb528), "--force does not replace it")
    for path in leaking, cut, other, out:
        path.unlink()
    for limit in 20000, 120000, 300000, 600000:
        refuse("files of %d bytes" % limit, 4, "nfsdigest: ", folder, *make, original,
               before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))


def check_killed(folder, key, original):
    """Killed at any time: no archive, and the folder goes."""
    place = folder / "killed"
    place.mkdir()
    seen = 0
    for number, after in ((signal.SIGKILL, 0.03), (signal.SIGKILL, 0.1), (signal.SIGTERM, 0.2),
                          (signal.SIGINT, 0.3), (signal.SIGKILL, 0.5)):
        child = subprocess.Popen([p.NFSDIGEST, "package", "-o", place / "x.tar.zst", "-k", key,
                                  original], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after)
        seen += any(".part-" in n for n in os.listdir(place))
        child.send_signal(number)
        child.wait()
        for _ in range(200):
            left = [n for n in os.listdir(place) if ".part-" in n]
            if not left:
                break
            time.sleep(0.02)
        expect(not left, "killed by", number, "after", after, ": leaves", left)
        if child.returncode == 0:
            (place / "x.tar.zst").unlink()
        expect(not (place / "x.tar.zst").exists(), "killed: an archive", number)
    expect(seen > 1, "nothing was under way when it was killed")


def main():
    with tempfile.TemporaryDirectory(prefix="nfsdigest-original-") as folder:
        folder = pathlib.Path(folder)
        os.environ["TMPDIR"] = str(folder / "tmp")
        (folder / "tmp").mkdir()
        key = p.new_key(folder / "the-site.key")
        original = p.capture("mem-libnfs-all22", folder)
        data = again(folder, original, key)
        files = p.contents(data)
        unpacked = folder / "unpacked"
        check_sums(files, unpacked)
        with sqlite3.connect("file:%s?mode=ro" % (unpacked / "trace.db"), uri=True) as database:
            check_headers(data, "trace-1", database)
            check_datapackage(files, "trace-1")
            check_contents(files, unpacked, key, original, database)
            check_readme(files["README.md"].decode(), database)
        check_secrets(files, original, key)
        code, out, said = p.run("--verify", folder / "first" / "trace-1.tar.zst")
        expect(code == 0 and "nothing wrong" in out and not said, "verify:", code, out, said)
        check_marked(folder, key)
        check_rotated(folder, p.capture("knfsd-netem-udp", folder), key)
        check_options(folder, original, key)
        work = folder / "refused"
        work.mkdir()
        check_refusals(work, original, key)
        check_killed(folder, key, p.capture("knfsd-tcp-mtu1500", folder))
        expect(os.listdir(folder / "tmp") == [], "left in TMPDIR:", os.listdir(folder / "tmp"))
    p.finish()


main()
