#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""nfsreplay plays all captures on ftnfsd: what differs is what the two servers are known to do
differently, operation by operation.  A server that answers wrongly is found.  What stands on the server
and what the dump has is looked at before the first operation.

    nfsreplay_play.py     environment: BUILD, NFSDIGEST, CAPTURES
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import LOOKUP, READDIR  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
PROGRAM = str(BUILD / "bin" / "nfsreplay")
failures = []

# What Linux's server (knfsd) and NFS-Ganesha do and ftnfsd does not: (procedure, words, how often).
KNFSD = [("READ", "different error: NFS3ERR_ISDIR in the trace, NFS3ERR_INVAL here", 1),
         ("READDIR", "new error: NFS3_OK in the trace, NFS3ERR_TOOSMALL here", 1)]
# a CREATE without a mode
GANESHA = [("CREATE", "different result: mode of what was found or made: 0600 in the trace, 0000 here",
            60)] + KNFSD
KNOWN = {
    "pair-knfsd": KNFSD,
    "pair-ganesha-vfs": GANESHA,
    "vfs-libnfs-all22": GANESHA,
    "mem-libnfs-all22": GANESHA + [
        ("LOOKUP", "different error: NFS3ERR_NOENT in the trace, NFS3ERR_NAMETOOLONG here", 1)],
}
SHOWN = 20  # differences that are printed


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %.400r, not %.400r" % (what, found, wanted))


def check_words(what, done, code, words):
    text = done.stdout + done.stderr
    if done.returncode != code or words not in text:
        failures.append("%s: exit %d: %s\n    not %d: %s" % (what, done.returncode, text[:600], code,
                                                             words))


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=120)


def make_dump(scratch, capture):
    name = capture.name.split(".")[0]
    database, dump = os.path.join(scratch, name + ".db"), os.path.join(scratch, name + ".rdump")
    for words in (["ingest", "-o", database, capture], ["rdump", "--with-results", "-o", dump, database]):
        subprocess.run([NFSDIGEST, *map(str, words)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    return name, dump


def operations(dump):
    """(all, unplayable)"""
    text = subprocess.run([NFSDIGEST, "rdump", "--dump", dump], capture_output=True, check=True).stdout
    lines = [line for line in text.splitlines() if line.startswith(b"operation ")]
    return len(lines), sum(b" unplayable=" in line for line in lines)


def classes(text):
    return {m[1]: int(m[2].replace(",", ""))
            for m in re.finditer(r"^  ([a-z ]+?) +([\d,]+)$", text, re.M)}


def differences(text):
    """{(procedure, words): how often} of those that are shown"""
    found = {}
    for m in re.finditer(r"^operation \d+ \(\d+ in the database\), (\S+) .*?: ((?:new|vanished|"
                         r"different|skipped|unanswered|uncertain).*)$", text, re.M):
        found[m[1], m[2]] = found.get((m[1], m[2]), 0) + 1
    return found


def play_all(dumps):
    played = 0
    for name, dump in dumps.items():
        with Ftnfsd("--export", "/a") as server:
            done = run("run", "--pace", "asap", dump, server.urls[0])
        known = KNOWN.get(name, [])
        every, unplayable = operations(dump)
        seen = classes(done.stdout)
        check("%s: exit" % name, done.returncode, 1 if known else 0)
        check("%s: operations" % name, sum(seen.values()), every)
        check("%s: unplayable" % name, seen.get("unplayable", 0), unplayable)
        check("%s: as recorded" % name, seen.get("as recorded"),
              every - unplayable - sum(often for _, _, often in known))
        shown = differences(done.stdout)
        check("%s: unknown differences" % name, set(shown) - {(p, w) for p, w, _ in known}, set())
        played += every
    check("operations in all", played > 75000, True)


def play_wrong(dump):
    """A server that is wrong once; what it says is in no other operation."""
    for fault, words in (("READ:wrong-bytes", "different result"),
                         ("LOOKUP:status=NFS3ERR_IO:after=50:count=1", "NFS3ERR_IO here"),
                         ("GETATTR:mode-bits=1:count=1:after=5", "mode of the object")):
        with Ftnfsd("--export", "/a", "--fault", fault) as server:
            run("populate", dump, server.urls[0])
            done = run("play", "--pace", "asap", dump, server.urls[0])
            check_words("with " + fault, done, 1, words)
    with Ftnfsd("--export", "/a", "--fault", "CREATE:status=NFS3ERR_NOSPC:after=20:count=1") as server:
        done = run("run", "--pace", "asap", dump, server.urls[0])
        check_words("containment", done, 1, "because of operation")
        seen = classes(done.stdout)
        check("containment: the failure", seen.get("new error"), 1)
        check("containment: skipped ones", seen.get("skipped", 0) > 0, True)


RULES = """[rules]
name = mine

[fields]
*.atime = ignored
GETATTR3res.status = ignored
# this server adds an execute bit,
# and nobody minds
GETATTR3res.*.mode = mask 07776
READ3res.resok.eof = ignored
"""


def play_json(server, dump, *words):
    done = run("run", "--pace", "asap", "--json", *words, dump, server.urls[0])
    run("clean", dump, server.urls[0])
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


def not_as_recorded(report):
    return {p["name"]: p["differ"] for p in report["procedures"] if p["differ"]}


def rules(scratch, dumps):
    """Rules allow what they name, and nothing else."""
    for name, sets, left in (("pair-knfsd", ["ftnfsd"], {}), ("pair-ganesha-vfs", ["ganesha", "ftnfsd"], {}),
                             ("mem-libnfs-all22", ["ganesha", "ftnfsd"], {"LOOKUP": 1})):
        words = [w for s in sets for w in ("--rules", s)]
        with Ftnfsd("--export", "/a") as server:
            code, report = play_json(server, dumps[name], *words)
        check("%s: under rules" % name, (code, not_as_recorded(report)), (1 if left else 0, left))
        check("%s: explained" % name, report["run"]["explained"],
              sum(often for _, _, often in KNOWN[name]) - sum(left.values()))
    dump, mine = dumps["knfsd-tcp-mtu1500"], os.path.join(scratch, "mine.conf")
    pathlib.Path(mine).write_text(RULES)
    with Ftnfsd("--export", "/a", "--fault", "GETATTR:mode-bits=1", "--fault", "READ:eof") as server:
        code, plain = play_json(server, dump)
        differ = not_as_recorded(plain)
        check("without rules", (code, set(differ), plain["rules"]), (1, {"GETATTR", "READ"}, []))
        code, report = play_json(server, dump, "--rules", mine)
        check("rules", (code, not_as_recorded(report)), (0, {}))
        check("explained", report["run"]["explained"], sum(differ.values()))
        check("rules in force", report["run"]["rules"], mine)
        check("each rule", {(r["line"], r["operations"], r["differ"], r["reason"], r["procedure"])
                            for r in report["rules"]},
              {(9, differ["GETATTR"], 0, "this server adds an execute bit, and nobody minds", "GETATTR"),
               (10, differ["READ"], 0, "this server adds an execute bit, and nobody minds", "READ")})
        told = run("run", "--pace", "asap", "-r", mine, dump, server.urls[0])
        check_words("what rules allowed", told, 0, "under rules only")
        check_words("what rules allowed", told, 0, "%d                 0  [fields] GETATTR3res.*.mode = mask"
                    % differ["GETATTR"])
        check("idle rules", re.findall(r"mine.conf line (\d+): .*\" (.*)", told.stderr),
              [("5", "speaks of what a replay does not compare"), ("6", "allowed nothing")])
    # the same faults of others
    with Ftnfsd("--export", "/a", "--fault", "LOOKUP:mode-bits=1", "--fault", "READ:eof") as server:
        code, report = play_json(server, dump, "--rules", mine)
        check("another procedure", (code, set(not_as_recorded(report))), (1, {"LOOKUP"}))
        check("another procedure: rules", [r["line"] for r in report["rules"]], [10])
    with Ftnfsd("--export", "/a", "--fault", "GETATTR:mode-bits=2") as server:
        code, report = play_json(server, dump, "--rules", mine)
        check("another bit", (code, not_as_recorded(report)), (1, {"GETATTR": differ["GETATTR"]}))
        bare = os.path.join(scratch, "bare.rdump")
        subprocess.run([NFSDIGEST, "rdump", "-o", bare, dump.replace(".rdump", ".db")], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in ("play", "run"):
            check_words("no results", run(command, "-r", mine, bare, server.urls[0]), 2, "--with-results")
        check_words("no such rules", run("play", "-r", "nix", dump, server.urls[0]), 2, "ftnfsd")
        folder = os.path.join(scratch, "curve-of-rules")
        check_words("no results", run("curve", "-o", folder, "-r", mine, bare, server.urls[0]), 2,
                    "--with-results")
        check("no folder", os.path.exists(folder), False)
    with Ftnfsd("--export", "/a", "--fault", "READ:eof") as server:
        done = run("curve", "--points", 1, "-o", folder, "-r", mine, dump, server.urls[0])
        check_words("a curve", done, 0, "mine.conf line 9: \"[fields] GETATTR3res.*.mode = mask 07776\" "
                    "allowed nothing")
        report = json.loads(pathlib.Path(folder, "1-asap", "report.json").read_text())
        check("a curve's rules", [(r["line"], r["operations"]) for r in report["rules"]],
              [(10, differ["READ"])])


def refused_under_rules(scratch, dump):
    """A rule that allows an error does not make the file that others need."""
    mine = os.path.join(scratch, "errors.conf")
    pathlib.Path(mine).write_text("[rules]\nname = e\n\n[fields]\nCREATE3res.status = ignored\n")
    with Ftnfsd("--export", "/a", "--fault", "CREATE:status=NFS3ERR_NOSPC:after=20:count=1") as server:
        code, report = play_json(server, dump, "--rules", mine)
    ends = {c["name"]: c["operations"] for c in report["classes"]}
    check("an error that is allowed", (code, report["run"]["explained"], ends["new error"]), (1, 1, 0))
    check("those that need its file", ends["skipped"] > 0, True)


def ways(dump):
    """Orders, paces and connections: all the same."""
    for words in (["--pace", "asap", "--order", "trace"], ["--tscale", "50"], ["--rate", "20000"],
                  ["--pace", "asap", "--pick", "random", "--seed", "7", "-c", "3"],
                  ["--pace", "asap", "--pick", "newest", "--outstanding", "5"],
                  ["--pace", "asap", "--warm-up", "500"], ["--pace", "asap", "--udp"],
                  ["--pace", "asap", "--stop-after", "100"]):
        with Ftnfsd("--export", "/a") as server:
            done = run("run", *words, dump, server.urls[0])
            if done.returncode or set(classes(done.stdout)) - {"as recorded", "unplayable"}:
                failures.append("%r: exit %d: %s" % (words, done.returncode,
                                                     (done.stdout + done.stderr)[:800]))


def standing(scratch, dump):
    """What play says of the tree."""
    with Ftnfsd("--export", "/a", "--export", "/b(root_squash)", "--export", "/small") as server:
        a, b, _ = server.urls
        check_words("no tree", run("play", dump, a), 3, "nfsreplay populate")
        check_words("squashed", run("run", dump, b), 3, "no_root_squash")
        check_words("populate", run("populate", dump, a), 0, "made")
        check_words("play", run("play", "--pace", "asap", dump, a), 0, "as recorded")
        check_words("play again", run("play", "--pace", "asap", dump, a), 3, "was played on before")
        check_words("run again", run("run", "--pace", "asap", dump, a), 3, "was played on")
        check_words("clean", run("clean", dump, a), 0, "removed")
        client = Client(server)
        _, r = client.nfs(READDIR, {"object": client.mount(b"/a"), "cookie": 0, "verifier": bytes(8),
                                    "count": 8192})
        check("after clean", sorted(e[1] for e in r["entries"]), [b".", b".."])
        client.close()
        check_words("after clean", run("run", "--pace", "asap", dump, a), 0, "as recorded")
    with Ftnfsd("--export", "/a", "--transfer-size", "4k") as server:
        check_words("small transfers", run("run", dump, server.urls[0]), 3, "moves at most 4096 bytes")
    with Ftnfsd("--export", "/a", "--image", dump) as server:
        check_words("an image", run("populate", dump, server.urls[0]), 0, "nfsreplay did not make it")
        check_words("play of an image", run("play", "--pace", "asap", dump, server.urls[0]), 0,
                    "as recorded")
        client = Client(server)
        root = client.mount(b"/a")
        check("what play leaves", client.nfs(LOOKUP, {"object": root, "name": b"scratch"})[0], 2)
        client.close()


def refused(scratch, dump):
    """Servers that are not fit say so before anything is changed."""
    control = os.path.join(scratch, "refused")
    for options, command, words in (
            (["--fault", "FSINFO:status=NFS3ERR_PERM"], "run", "privileged port (--privileged"),
            (["--fault", "FSINFO:rpc-status=AUTH_ERROR"], "play", "privileged port (--privileged"),
            (["--fault", "MNT:status=MNT3ERR_ACCES"], "run", "does not let this machine mount it"),
            (["--read-only"], "run", "the export is read-only"),
            (["--read-only", "--image", dump], "play", "the export is read-only")):
        with Ftnfsd("--export", "/a", "--control", control, *options) as server:
            check_words("refused, " + " ".join(options), run(command, dump, server.urls[0]), 3, words)
            said = json.loads(subprocess.run([BUILD / "bin/ftnfsd", "ctl", control, "statistics"],
                                             capture_output=True, text=True, check=True).stdout)
        changed = [p for p in said["procedures"] if p["calls"] > p["errors"] and p["procedure"] in (
            "SETATTR", "WRITE", "CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RENAME", "LINK")]
        check("refused, %s: what was changed" % options, changed, [])


def damaged(scratch, dump):
    cut = os.path.join(scratch, "cut.rdump")
    data = pathlib.Path(dump).read_bytes()
    pathlib.Path(cut).write_bytes(data[:len(data) * 2 // 3])
    with Ftnfsd("--export", "/a") as server:
        check_words("damaged", run("run", "--pace", "asap", cut, server.urls[0]), 3, "--partial")
        client = Client(server)
        _, r = client.nfs(READDIR, {"object": client.mount(b"/a"), "cookie": 0, "verifier": bytes(8),
                                    "count": 8192})
        check("before the first change", len(r["entries"]), 2)
        client.close()
        check_words("partial", run("run", "--partial", "--pace", "asap", cut, server.urls[0]), 0,
                    "as recorded")


def reports(scratch, dump):
    kept = os.path.join(scratch, "kept")
    with Ftnfsd("--export", "/a") as server:
        done = run("run", "--pace", "asap", "--json", "-o", kept, dump, server.urls[0])
    check("the JSON that is printed and kept", json.loads(done.stdout),
          json.loads(pathlib.Path(kept, "report.json").read_text()))
    check_words("report", run("report", kept), 0, "as recorded")


REASONS = {1: "no call", 2: "no reply", 3: "protected", 4: "partial", 5: "malformed", 6: "refused by RPC",
           7: "stale handle", 8: "server's own failure", 9: "out of order", 10: "unknown cookie"}


def unplayable(scratch, dump):
    """What cannot be played says why."""
    text = subprocess.run([NFSDIGEST, "rdump", "--dump", dump], capture_output=True, check=True).stdout
    wanted = [REASONS[int(n)] for n in re.findall(rb"^operation .* unplayable=(\d+)", text, re.M)]
    kept = os.path.join(scratch, "unplayable")
    with Ftnfsd("--export", "/a") as server:
        run("run", "--pace", "asap", "-o", kept, dump, server.urls[0])
    lines = [json.loads(line) for line in
             pathlib.Path(kept, "mismatches.jsonl").read_text().splitlines()]
    check("unplayable: why", sorted(line["text"] for line in lines if line["class"] == "unplayable"),
          sorted(wanted))
    check("unplayable: some", len(set(wanted)) > 1, True)


def interrupted(dump):
    with Ftnfsd("--export", "/a") as server:
        process = subprocess.Popen([PROGRAM, "run", "--rate", "300", dump, server.urls[0]],
                                   stdout=subprocess.PIPE, text=True)
        time.sleep(1.2)
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=60)[0]
        seen = classes(text)
        check("interrupted: exit", process.returncode, 1)
        check("interrupted: says it", "interrupted" in text, True)
        check("interrupted: in one class each", sum(seen.values()), operations(dump)[0])
        check("interrupted: played", 10 < seen.get("as recorded", 0) < operations(dump)[0], True)


def narrow(dump, horizon):
    """The dump with another horizon, which is still as far as its dependencies reach."""
    to = dump + ".narrow"
    text = subprocess.run([NFSDIGEST, "rdump", "--dump", dump], capture_output=True, check=True).stdout
    pathlib.Path(to + ".text").write_bytes(re.sub(rb" horizon=\d+", b" horizon=%d" % horizon, text, count=1))
    subprocess.run([NFSDIGEST, "rdump", "--undump", to + ".text", "-o", to], check=True)
    subprocess.run([NFSDIGEST, "rdump", "--check", to], check=True, stdout=subprocess.DEVNULL)
    return to


def ended(scratch, dump, piped):
    """--duration ends the run, and the last operations were not read until then: every operation is in
    one class, and in one procedure."""
    what = "a duration%s" % (", of a pipe" if piped else "")
    every = operations(dump)[0]
    kept = os.path.join(scratch, "ended%d" % piped)
    master, terminal = os.openpty()
    with Ftnfsd("--export", "/a") as server:
        run("populate", dump, server.urls[0])
        with subprocess.Popen(["cat", dump], stdout=subprocess.PIPE) as source:
            done = subprocess.run([PROGRAM, "play", "--rate", "150", "--duration", "1s", "-o", kept,
                                   "/dev/stdin" if piped else dump, server.urls[0]],
                                  stdin=source.stdout, stdout=subprocess.PIPE, stderr=terminal, text=True,
                                  check=False, timeout=120)
            source.stdout.close()
    seen = classes(done.stdout)
    told = os.read(master, 65536).decode()
    os.close(master)
    os.close(terminal)
    check(what + ": exit", done.returncode, 0)
    check(what + ": says it", "; its duration was over" in done.stdout, True)
    check(what + ": differences", re.findall("^operation .*", done.stdout, re.M), [])
    check(what + ": in one class each", sum(seen.values()), every)
    check(what + ": not played", every // 2 < seen.get("not played", 0) < every - 10, True)
    check(what + ": progress", bool(re.search(r"\d %% of %s operations in [\d.]+m?s of 1.000s, " %
                                              format(every, ","), told)), not piped)
    rates = [int(n) for n in re.findall(r"(\d+)/s, \S+ late, 0 differ", told)]
    check("%s: a rate near 150 in %r" % (what, rates), any(75 < rate < 300 for rate in rates), True)
    report = json.loads(pathlib.Path(kept, "report.json").read_text())
    check(what + ": the note", report["run"]["note"], "its duration was over")
    check(what + ": in one procedure each", sum(p["operations"] for p in report["procedures"]), every)


def stopped(dump):
    """What --stop-after leaves off is no part of the run."""
    every = operations(dump)[0]
    for count in (100, every, every + 1):
        with Ftnfsd("--export", "/a") as server:
            done = run("run", "--pace", "asap", "--stop-after", count, dump, server.urls[0])
        check("stop after %d" % count, sum(classes(done.stdout).values()), min(count, every))
        check("stop after %d: says it" % count,
              "only the first %d operations of the dump" % count in done.stdout, count < every)


def names(client, path):
    """In the export."""
    handle = client.mount(path)
    _, r = client.nfs(READDIR, {"object": handle, "cookie": 0, "verifier": bytes(8), "count": 8192})
    return sorted(e[1] for e in r["entries"] if e[1] not in (b".", b".."))


def several(scratch, small, large):
    """Several dumps and copies at once: each has a tree, clients and connections of its own, and its
    operations are all there."""
    first, second = operations(small), operations(large)
    other = os.path.join(scratch, "again")
    os.mkdir(other)
    twin = os.path.join(other, os.path.basename(small))  # another file of the same name
    shutil.copy(small, twin)
    own = [os.path.basename(d)[:-len(".rdump")].encode() for d in (small, large)]
    with Ftnfsd("--export", "/a") as server:
        url, client = server.urls[0], Client(server)
        done = run("run", "--pace", "asap", "--copies", 3, small, url)
        check_words("copies", done, 0, "as recorded")
        check("copies: operations", sum(classes(done.stdout).values()), 3 * first[0])
        check("copies: their trees", names(client, b"/a"), [b"copy-1", b"copy-2", b"copy-3"])
        check("copies: trees with marks", done.stdout.count("objects, "), 3)
        check_words("copies again", run("play", "--copies", 3, small, url), 3, "(copy-1) was played on")
        check_words("further copies", run("play", "--force", "--copies", 4, small, url), 3,
                    "(copy-4): there is no tree")
        check_words("one that is not there", run("clean", "--copies", 4, small, url), 0, "copy-3: ")
        check("copies: after clean", names(client, b"/a"), [])
        dumps = [small + "@400ms", large, twin + "@0s"]
        done = run("populate", *dumps, url)
        check_words("dumps: populate", done, 0, "/a/%s-2: " % own[0].decode())
        check("dumps: their trees", names(client, b"/a"), sorted(own + [own[0] + b"-2"]))
        done = run("play", "--pace", "asap", "--json", *dumps, url)
        report = json.loads(done.stdout)
        check("dumps: exit", done.returncode, 0)
        check("dumps: operations", report["run"]["operations"], 2 * first[0] + second[0])
        check("dumps: names", report["run"]["dump"], ", ".join([small, large, twin]))
        check("dumps: of each", [(d["name"], d["operations"], d["as_recorded"], d["unplayable"])
                                 for d in report["dumps"]],
              [("%s (%.150s)" % (n, d), every, every - unplayable, unplayable)
               for d, n, (every, unplayable) in ((small, own[0].decode(), first),
                                                 (large, own[1].decode(), second),
                                                 (twin, own[0].decode() + "-2", first))])
        check("dumps: delays", [d["delay"] for d in report["dumps"]], [400000000, 0, 0])
        check("dumps: one begins later", report["run"]["duration"] >= 400000000, True)
        check_words("dumps: another order", run("play", *reversed(dumps), url), 3, "was played on")
        check_words("dumps: clean", run("clean", *dumps, url), 0, "removed")
        check("dumps: after clean", names(client, b"/a"), [])
        client.close()
        for words in ([url, small], [small, large], ["--copies", 200, small, large, url],
                      ["--loop", 2, "--record", os.path.join(scratch, "no.nfsr"), small, url]):
            check("usage %r" % (words,), run("play", *words).returncode, 2)
        with subprocess.Popen(["cat", small], stdout=subprocess.PIPE) as source:
            done = subprocess.run([PROGRAM, "play", "--copies", "2", "/dev/stdin", url],
                                  stdin=source.stdout, capture_output=True, text=True, check=False)
            source.stdout.close()
        check_words("copies of a pipe", done, 2, "is a pipe")


def two_servers(scratch, database):
    """A dump of two copies, the second of which is made one of another server.  At its end each server is
    asked for a file that is gone."""
    one, two, text = (os.path.join(scratch, "two." + kind) for kind in ("rdump", "servers", "text"))
    subprocess.run([NFSDIGEST, "rdump", "--with-results", "--copies", "2", "-o", one, database], check=True,
                   stdout=subprocess.DEVNULL)
    lines, hosts = [], 0
    for line in subprocess.run([NFSDIGEST, "rdump", "--dump", one], capture_output=True, check=True,
                               text=True).stdout.splitlines():
        if " copy=1" in line and not line.startswith("end"):
            line = line.replace(" server=1 ", " server=3 ")
        if line.startswith("end "):
            time_ = int(re.search(r"last_time=(\d+)", line)[1])
            lines += ["operation source=9 time=%d client=2 server=%d credential=2 procedure=1 status=70"
                      " arguments=0000000400000000" % (time_, server) for server in (1, 3)]
            line = re.sub(r"operations=(\d+)", lambda m: "operations=%d" % (int(m[1]) + 2),
                          line.replace("hosts=2", "hosts=3"))
        lines.append(line)
        hosts = len(lines) if line.startswith("host ") else hosts
    lines.insert(hosts, "host number=3 address=10.99.0.9")
    pathlib.Path(text).write_text("\n".join(lines) + "\n")
    subprocess.run([NFSDIGEST, "rdump", "--undump", text, "-o", two], check=True)
    subprocess.run([NFSDIGEST, "rdump", "--check", two], check=True, stdout=subprocess.DEVNULL)
    return two


def servers(scratch, dump):
    """Each server of the trace has a target; one may be left out, and one may stop to answer."""
    every = operations(dump)[0]
    control, kept = os.path.join(scratch, "control"), [os.path.join(scratch, name) for name in ("both", "half")]
    with Ftnfsd("--export", "/a") as first, Ftnfsd("--export", "/b", "--control", control) as second:
        targets = ["10.99.0.1=" + first.urls[0], "10.99.0.9=" + second.urls[0]]
        done = run("run", "--pace", "asap", "-o", kept[0], dump, *targets)
        check("servers: all", (done.returncode, classes(done.stdout)), (0, {"as recorded": every}))
        check_words("servers: clean", run("clean", dump, *targets), 0, "/b: ")
        check_words("servers: no name", run("play", dump, first.urls[0]), 2, "has 2 servers: say SERVER=")
        check_words("servers: another", run("play", dump, "10.9.9.9=" + first.urls[0]), 2,
                    "it has 10.99.0.1, 10.99.0.9")
        check_words("servers: twice the same", run("play", dump, targets[0], "10.99.0.9=" + first.urls[0]),
                    2, "a target of its own")
        done = run("run", "--pace", "asap", "-o", kept[1], dump, targets[1])
        check("servers: one", (done.returncode, classes(done.stdout)),
              (0, {"as recorded": every // 2, "unplayable": every // 2}))
        both, half = (json.loads(pathlib.Path(path, "report.json").read_text())["run"] for path in kept)
        check("servers: data", {k: v for k, v in both.items() if k[:7] in ("initial", "accesse")},
              {k: 2 * v for k, v in half.items() if k[:7] in ("initial", "accesse")})
        run("clean", dump, *targets)

        run("populate", dump, *targets)
        subprocess.run([BUILD / "bin" / "ftnfsd", "ctl", control, "fault-add", "*:ignore:after=300"],
                       check=True, stdout=subprocess.DEVNULL)
        done = run("play", "--rate", 2000, "--give-up", "600ms", dump, *targets)
        seen = classes(done.stdout)
        check_words("given up", done, 1, "the run goes on without it")
        check("given up: in one class each", sum(seen.values()), every)
        check("given up: the other server's, and some of its own",
              every // 2 <= seen.get("as recorded", 0) <= every // 2 + 310, True)
        check("given up: what was left", seen.get("not played", 0) > 100, True)
        check_words("given up: the report", done, 1, "; a server answered no more")


def wrong_in_one(small):
    """Of two copies one is answered wrongly once; the difference says which."""
    with Ftnfsd("--export", "/a", "--fault", "GETATTR:mode-bits=1:count=1:after=5") as server:
        run("populate", "--copies", 2, small, server.urls[0])
        done = run("play", "--pace", "asap", "--copies", 2, small, server.urls[0])
    found = re.findall(r"^(copy-[12]) \(%s\): operation \d+ .*mode of the object" % re.escape(small), done.stdout,
                       re.M)
    check("wrong in one copy", (done.returncode, len(found)), (1, 1))


def rounds(dump):
    """One after the other, each on a tree as the dump has it."""
    every, unplayable = operations(dump)
    with Ftnfsd("--export", "/a") as server:
        url = server.urls[0]
        done = run("run", "--pace", "asap", "--loop", 3, "--json", "--fill", "random", dump, url)
        report = json.loads(done.stdout)
        check("rounds: exit", done.returncode, 0)
        check("rounds: operations", report["run"]["operations"], 3 * every)
        check("rounds: name", report["run"]["dump"], dump + ", 3 rounds")
        check("rounds: of the dump", [(d["operations"], d["as_recorded"]) for d in report["dumps"]],
              [(3 * every, 3 * (every - unplayable))])
        check("rounds: in all parts", sum(i["done"] for i in report["intervals"]),
              3 * (every - unplayable))
        check("rounds: as long as their parts", report["run"]["duration"] <=
              report["run"]["interval_length"] * len(report["intervals"]), True)
        check_words("rounds: after them", run("play", dump, url), 3, "was played on")
        again = run("play", "--loop", 2, "--force", "--pace", "asap", dump, url)
        check_words("rounds: on what was played", again, 1, "operations answered in")
        check("rounds: on what was played, in all classes", sum(classes(again.stdout).values()), 2 * every)
    with Ftnfsd("--export", "/a", "--image", dump) as server:
        check_words("rounds of an image", run("play", "--loop", 2, dump, server.urls[0]), 3,
                    "does not remove it between rounds")
    with Ftnfsd("--export", "/a") as server:
        process = subprocess.Popen([PROGRAM, "run", "--rate", str(every), "--loop", "9", dump,
                                    server.urls[0]], stdout=subprocess.PIPE, text=True)
        time.sleep(1.6)
        process.send_signal(signal.SIGINT)
        text = process.communicate(timeout=60)[0]
        check("rounds: interrupted", process.returncode, 1)
        said = re.findall(r"; ([1-8]) of 9 rounds; interrupted by a signal", text)
        check("rounds: says how many", len(said), 1)
        check("rounds: in one class each", sum(classes(text).values()), int(said[0]) * every)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        dumps = dict(make_dump(scratch, capture) for capture in sorted(CAPTURES.glob("*.zst")))
        check("captures", len(dumps) >= 15, True)
        play_all(dumps)
        play_wrong(dumps["knfsd-tcp-mtu1500"])
        rules(scratch, dumps)
        refused_under_rules(scratch, dumps["knfsd-tcp-mtu1500"])
        ways(dumps["knfsd-netem-tcp"])
        standing(scratch, dumps["knfsd-snap256"])
        refused(scratch, dumps["knfsd-netem-tcp"])
        damaged(scratch, dumps["knfsd-vlan"])
        interrupted(dumps["knfsd-udp-frag"])
        unplayable(scratch, dumps["pair-knfsd"])
        for piped in (False, True):
            ended(scratch, narrow(dumps["merged-tcp-udp-2if"], 10000), piped)
        stopped(dumps["knfsd-netem-tcp"])
        reports(scratch, dumps["knfsd-netem-udp"])
        several(scratch, dumps["knfsd-netem-tcp"], dumps["knfsd-snap256"])
        wrong_in_one(dumps["knfsd-netem-tcp"])
        rounds(dumps["knfsd-netem-tcp"])
        servers(scratch, two_servers(scratch, os.path.join(scratch, "knfsd-netem-tcp.db")))
    for failure in failures[:30]:
        print(failure)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
