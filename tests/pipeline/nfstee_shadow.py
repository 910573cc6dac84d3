#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=600 long=long
"""nfstee shadow.  A second ftnfsd becomes equal to the one behind a relay while clients work at random, all
their requests are compared, and only what was made wrong on purpose differs.

    nfstee_shadow.py [long]     environment: BUILD

long: hundreds of seeds, with several clients, and servers that are late.
"""
import json
import os
import pathlib
import pty
import random
import re
import signal
import struct
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, failures  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from messages import NFSACL, auth_sys, opaque  # noqa: E402
from model_xdr import (CREATE, GETATTR, GUARDED, LOOKUP, MKDIR, OK, READ, REMOVE, RMDIR,  # noqa: E402
                       SETATTR, WRITE)
from slow_wire import SlowWire  # noqa: E402
from tee_ring import Relay  # noqa: E402
from tee_traffic import Objects, Shadow, attached, mounted, servers, settle, tree, work  # noqa: E402

ATTRIBUTES = "type mode nlink uid gid size".split()


def no_trees_differ(what, reference, sut, without=()):
    ours, theirs = (tree(*mounted(server)) for server in (reference, sut))
    for path in sorted(set(ours) | set(theirs)):
        if any(path == w or path.startswith(w + b"/") for w in without):
            continue
        if path not in ours or path not in theirs:
            expect("%s: %r is on the SUT" % (what, path), path in theirs, path in ours)
            continue
        (a, contents), (b, others) = ours[path], theirs[path]
        for name in ATTRIBUTES:
            expect("%s: %s of %r" % (what, name, path), getattr(b, name), getattr(a, name))
        if contents != others:
            expect("%s: contents of %r" % (what, path), "other", "the same")
    return len(ours)


def work_at_once(relay, objects, seed, clients, count):
    threads = [threading.Thread(target=work, args=(Client(relay), random.Random(seed * 1000 + i), objects,
                                                   count)) for i in range(clients)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def logged_as_said(what, shadow):
    """Who reads the log finds what the shadow found, no more and no less."""
    groups = json.loads((shadow.log / "summary.json").read_text())["groups"]
    compared = subprocess.run([os.environ["NFSDIGEST"], "compare", str(shadow.log), "--json"],
                              capture_output=True, text=True)
    expect(what + ": nfsdigest compare", (compared.returncode, compared.stderr),
           (1 if groups else 0, ""))
    found = json.loads(compared.stdout)["groups"]
    expect(what + ": differences in the log",
           sorted((g["operation"].split()[-1], g["field"], g["count"]) for g in found),
           sorted((g["operation"], g["field"], g["count"]) for g in groups))


def fates(before, after):
    return {k: v - before["requests"][k] for k, v in after["requests"].items() if v != before["requests"][k]}


def synchronized(seed, clients, count, late=0.0):
    """All of a tree, while it changes; from then on every request is compared.  |late|: seconds that calls and
    replies of the reference take at most, and some calls of the SUT in addition: so requests overlap, and are
    executed in another order than that of their replies."""
    what = "seed %d" % seed
    reference, sut = servers(sut=("--fault", "*:delay=%dus:p=0.2" % (late * 1500000)) if late else ())
    with tempfile.TemporaryDirectory() as folder, reference, sut, SlowWire(reference, seed, late) as wire, \
            attached(folder, wire if late else reference) as relay:
        client, root = mounted(relay)
        objects = Objects(root)
        work(client, random.Random(seed), objects, count)
        with Shadow(folder, relay, sut, "--record", "all") as shadow:
            work_at_once(relay, objects, seed, clients, count)
            before = settle(shadow)
            # it reads both servers directly, which changes access times behind the Tee
            if looks := seed % 2 == 0:
                no_trees_differ(what + ", synchronized", reference, sut)
            tree(*mounted(relay))
            walked = settle(shadow)
            found = fates(before, walked)
            expect(what + ": calls of a walk that were not compared",
                   {k: v for k, v in found.items() if k not in ("all", "compared", "not_nfs")}, {})
            before = walked
            left_out = work(client, random.Random(seed + 1), objects, count)
            after = settle(shadow)
            found = fates(before, after)
            expect(what + ": requests that were not compared, but for those that none compares",
                   set(found) - {"all", "compared", "not_synchronized"}, set())
            if found["compared"] < found["all"] - left_out:
                expect(what + ": requests compared, of %d" % found["all"], found["compared"],
                       found["all"] - left_out)
            no_trees_differ(what + ", at the end", reference, sut)
            code, totals, said = shadow.stop()
            # clients at the same time: the SUT may execute what overlapped in another order, and not
            # all that follows from that is withheld
            allowed = 2 if clients > 1 else 0
            differ = totals["verdicts"]["differ"]
            groups = json.loads((shadow.log / "summary.json").read_text())["groups"]
            of_looks = sum(g["count"] for g in groups if looks and g["field"].endswith(".atime"))
            expect(what + ": exit code", code, 1 if differ else 0)
            if differ - of_looks > allowed and not late:
                expect(what + ": pairs that differ", differ, 0)
            expect(what + ": said", said, "synchronized\n")
            logged_as_said(what, shadow)
            if failures:
                print((shadow.log / "summary.json").read_text())


def small_tree(client, root):
    for i in range(3):
        _, d = client.nfs(MKDIR, {"object": root, "name": b"d%d" % i, "settings": {"mode": 0o755}})
        for j in range(3):
            _, f = client.nfs(CREATE, {"object": d["handle"], "name": b"f%d" % j, "how": GUARDED,
                                       "settings": {"mode": 0o644}})
            client.nfs(WRITE, {"object": f["handle"], "offset": 0, "count": 5000, "stable": 2,
                               "data": [(5000, 65 + j)]})
    return client.nfs(LOOKUP, {"object": root, "name": b"d1"})[1]["handle"]


def read_some(client, directory, count):
    for i in range(count):
        status, fields = client.nfs(LOOKUP, {"object": directory, "name": b"f%d" % (i % 3)})
        expect("LOOKUP", status, OK)
        client.nfs(READ, {"object": fields["handle"], "offset": 0, "count": 5000})


def latencies_told(totals, metrics):
    """Of 20 LOOKUPs and 20 READs: each is counted once, and the metrics have the same."""
    rows = {row.pop("procedure"): row for row in totals["latencies"]}
    expect("procedures with latencies", set(rows), {"all", "LOOKUP", "READ"})
    for name, row in rows.items():
        expect("answers of the reference, " + name, row["reference"]["answers"], 40 if name == "all" else 20)
        for server, found in row.items():
            figures = [found[k] for k in ("p50", "p90", "p99", "most")]
            expect("latencies of %s, %s" % (server, name), figures, sorted(figures))
            if not 1000 <= found["p50"] <= 10 ** 10:
                expect("median of %s, %s" % (server, name), found["p50"], "1 us to 10 s")
            if name == "all":
                continue
            label = '{server="%s",procedure="%s"' % (server, name)
            told = dict(re.findall(r'nfstee_shadow_latency_seconds_(count|sum)%s\} ([0-9.e+-]+)'
                                   % re.escape(label), metrics))
            expect("answers in the metrics, " + label, float(told.get("count", 0)), found["answers"])
            mean = float(told.get("sum", 0)) / found["answers"] * 1e9
            if abs(mean - found["mean"]) > 2:
                expect("mean in the metrics, " + label, mean, found["mean"])
            below = [(float(a), int(b)) for a, b in re.findall(
                r'latency_seconds_bucket%s,le="([0-9.e+-]+)"\} ([0-9]+)' % re.escape(label), metrics)]
            at = [b for a, b in below if a > found["p50"] * 1.02 / 1e9][0]
            expect("values up to twice the median, " + label, at >= found["answers"] / 2, True)
    expect("answers of the SUT", sum(rows[n]["sut"]["answers"] for n in ("READ", "LOOKUP")),
           rows["all"]["sut"]["answers"])


def faults_seen():
    """A fault of the SUT shows in all operations that it touches, and in no others."""
    reference, sut = servers(sut=("--fault", "READ:eof"))
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        directory = small_tree(client, root)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with Shadow(folder, relay, sut, "--metrics", str(port)) as shadow:
            before = shadow.settle()
            read_some(client, directory, 20)
            settle(shadow)
            found = fates(before, settle(shadow))
            expect("requests of the fault's case", found["all"], 40)
            with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=60) as page:
                metrics = page.read().decode()
            code, totals, _ = shadow.stop()
            latencies_told(totals, metrics)
            expect("exit code with differences", code, 1)
            # a file that differs is copied again, and not compared meanwhile
            expect("READs that differ, of up to 20", 1 <= totals["verdicts"]["differ"] <= 20, True)
            groups = json.loads((shadow.log / "summary.json").read_text())["groups"]
            expect("what differs", {g["operation"] for g in groups}, {"READ"})
            compared = subprocess.run([os.environ["NFSDIGEST"], "compare", str(shadow.log), "--json"],
                                      capture_output=True, text=True)
            expect("exit code of nfsdigest compare", compared.returncode, 1)
            expect("differences in the log", json.loads(compared.stdout)["totals"][0]["discrepancies"],
                   sum(g["count"] for g in groups))


def times_over_udp():
    """An access time that a client set differs, whatever it was sent over, and a rule can ignore it."""
    for rules in None, "[classes]\ntime = ignored\n":
        reference, sut = servers(sut=("--fault", "GETATTR:no-atime"))
        with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
            client, root = mounted(relay)
            handle = client.nfs(LOOKUP, {"object": small_tree(client, root), "name": b"f1"})[1]["handle"]
            file = pathlib.Path(folder) / "rules"
            file.write_text(rules or "")
            with Shadow(folder, relay, sut, *(("--rules", str(file)) if rules else ())) as shadow:
                before = shadow.settle()
                client.nfs(SETATTR, {"object": handle, "settings": {"atime": 10 ** 18}})
                datagrams = Client(relay, udp=True)
                for _ in range(3):
                    datagrams.nfs(GETATTR, {"object": handle})
                expect("fates over UDP", fates(before, settle(shadow)), {"all": 4, "compared": 4})
                code, totals, _ = shadow.stop()
                expect("exit code over UDP, rules %r" % rules, code, 0 if rules else 1)
                expect("differences over UDP, rules %r" % rules, totals["verdicts"]["differ"],
                       0 if rules else 3)


def watched():
    """On a terminal, it shows how far it is; the test above saw that elsewhere it does not."""
    reference, sut = servers(sut=("--fault", "READ:eof"))
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        directory = small_tree(client, root)
        with Shadow(folder, relay, sut) as shadow:
            shadow.settle()
        shadow = Shadow(folder, relay, sut, "--overwrite", log="watched")
        ours, theirs = pty.openpty()
        with subprocess.Popen(shadow.command, stdout=subprocess.DEVNULL, stderr=theirs) as shadow.process:
            os.close(theirs)
            seen = b""
            while not re.search(rb"differ [1-9].*latency: reference [0-9].*\n", seen, re.S) and \
                    len(seen) < 1 << 16:
                if b"synchronized 100.0 %" in seen:
                    read_some(client, directory, 1)
                seen += os.read(ours, 4096)
            shadow.process.terminate()
        os.close(ours)
        for text in (rb"compared [1-9][0-9.]* %", rb"[0-9]+ agree", rb"\033\[4A",
                     rb"latency: reference [0-9.]+[mu]?s, p99 [0-9.]+[mu]?s; SUT [0-9.]+[mu]?s, p99"):
            expect("on the terminal: %r in %r" % (text, seen[-600:]), bool(re.search(text, seen)), True)


def seen_late():
    """Directories that are made, emptied and removed before the shadow sees the first of it: each request goes
    to the SUT all the same."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        with Shadow(folder, relay, sut) as shadow:
            shadow.settle()
            client.nfs(LOOKUP, {"object": root, "name": b"none"})
            before = settle(shadow)
            shadow.process.send_signal(signal.SIGSTOP)
            for i in range(10):
                name = b"d%d" % i
                directory = client.nfs(MKDIR, {"object": root, "name": name, "settings": {}})[1]["handle"]
                for j in range(i % 4):
                    client.nfs(CREATE, {"object": directory, "name": b"f%d" % j, "how": GUARDED,
                                        "settings": {}})
                for j in range(i % 4):
                    client.nfs(REMOVE, {"object": directory, "name": b"f%d" % j})
                expect("RMDIR", client.nfs(RMDIR, {"object": root, "name": name})[0], OK)
            shadow.process.send_signal(signal.SIGCONT)
            found = fates(before, settle(shadow))
            expect("requests that were seen late", found, {"all": 46, "compared": 46})
            no_trees_differ("after requests that were seen late", reference, sut)
            code, totals, _ = shadow.stop()
            expect("differences of requests that were seen late", (code, totals["verdicts"]["differ"]), (0, 0))


def find(client, at, *names):
    for name in names:
        at = client.nfs(LOOKUP, {"object": at, "name": name})[1]["handle"]
    return at


def too_long():
    """A SUT that takes shorter WRITEs has the files all the same, by copies."""
    reference, sut = servers(sut=("--transfer-size", "16k"))
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        directory = small_tree(client, root)
        with Shadow(folder, relay, sut) as shadow:
            before = shadow.settle()
            handle = client.nfs(LOOKUP, {"object": directory, "name": b"f1"})[1]["handle"]
            for i, size in enumerate((16384, 16385, 50000)):
                client.nfs(WRITE, {"object": handle, "offset": i * 1000, "count": size, "stable": 2,
                                   "data": [(size, i)]})
                after = settle(shadow)
            found = fates(before, after)
            expect("requests with longer WRITEs", found, {"all": 4, "compared": 2, "too_long": 2})
            expect("connections that were lost", after["sut"]["connections_lost"], 0)
            for offset in range(0, 60000, 10000):  # in pieces that both servers return whole
                expect("contents after longer WRITEs, at %d" % offset, *(
                    c.nfs(READ, {"object": find(c, r, b"d1", b"f1"), "offset": offset, "count": 10000})[1]["data"]
                    for c, r in map(mounted, (sut, reference))))
            shadow.stop()


def refused():
    """A SUT that is not empty, and the reference by all its addresses, as a whole and in parts."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay, \
            Relay(reference.port) as other:
        client, root = mounted(sut)
        small_tree(client, root)
        client.nfs(CREATE, {"object": root, "name": b"\x1b[2J", "how": GUARDED, "settings": {}})
        at_reference, its_root = mounted(relay)
        at_reference.nfs(MKDIR, {"object": its_root, "name": b"d0", "settings": {"mode": 0o755}})

        def refuses(why, sut, *options, relay="/a", export="/a", host="127.0.0.1"):
            shadow = Shadow(folder, ports, sut, *options)
            words = shadow.command
            words[words.index("--relay") + 1] = words[words.index("--relay") + 1].replace("/a?", relay + "?")
            words[words.index("--sut") + 1] = words[words.index("--sut") + 1].replace(
                "127.0.0.1/a?", host + export + "?")
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            expect("%s: %s" % (why, done.stderr), (done.returncode, why in done.stderr), (2, True))
            return done.stderr
        ports = relay
        said = refuses("is not empty", sut)
        expect("what would be removed: " + said,
               [n in said for n in ('"d0"', '"d1"', '"d2"', '"\\x1b[2J"', "\x1b")], [False, True, True, True, False])
        for itself in reference, relay, other:
            refuses("the reference itself", itself, "--overwrite")
        refuses("the reference itself", reference, "--overwrite", host="localhost")
        with Ftnfsd("--export", "/a(ro,no_root_squash)") as read_only, \
                Ftnfsd("--export", "/a(no_root_squash)", "--fault", "CREATE:status=NFS3ERR_ACCES") as squashing:
            refuses("NFS3ERR_ROFS", read_only)
            refuses("no_root_squash", squashing)
        with Ftnfsd("--export", "/a(all_squash)") as squashing:
            refuses("what user 0 makes there is user 65534's", squashing)
            expect("what is left there", len(tree(*mounted(squashing))), 1)
        refuses("copied into itself", reference, "--overwrite", export="/a/d0")
        refuses("the reference's export is in that one", reference, "--overwrite", relay="/a/d0")
        expect("what stands on the SUT", no_trees_differ("refused", sut, sut), 14)
        expect("what stands on the reference", len(tree(*mounted(reference))), 2)
        with Shadow(folder, relay, sut, "--overwrite", log="told") as shadow:
            shadow.settle()
            said = shadow.stop()[2]
            expect("what is removed: " + said, 'removed from it: "' in said and '"d1"' in said, True)


def again():
    """A shadow that is killed, a SUT that is not empty, a ring that is overrun, a SUT that begins anew."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, attached(folder, reference, "--ring", "1M") \
            as relay:
        client, root = mounted(relay)
        directory = small_tree(client, root)
        with sut:
            with Shadow(folder, relay, sut, log="killed") as shadow:
                shadow.settle()
                shadow.process.kill()
                shadow.process.wait()
            client.nfs(REMOVE, {"object": directory, "name": b"f0"})
            with Shadow(folder, relay, sut, "--overwrite") as shadow:
                shadow.settle()
                no_trees_differ("over what was there", reference, sut)
                shadow.process.send_signal(signal.SIGSTOP)
                for i in range(60):
                    handle = client.nfs(LOOKUP, {"object": directory, "name": b"f1"})[1]["handle"]
                    client.nfs(WRITE, {"object": handle, "offset": i * 1000, "count": 50000, "stable": 0,
                                       "data": [(50000, i)]})
                shadow.process.send_signal(signal.SIGCONT)
                shadow.wait_for(lambda: shadow.statistics()["ring"]["gaps"], "gap")
                settle(shadow)
                no_trees_differ("behind a gap", reference, sut)
                port = sut.port
                sut.stop()
                read_some(client, directory, 0)
                with Ftnfsd("--export", "/a(no_root_squash)", "--port", str(port)) as new:
                    client.nfs(REMOVE, {"object": directory, "name": b"f2"})
                    shadow.wait_for(lambda: shadow.statistics()["sut"]["began_anew"], "new SUT")
                    settle(shadow)
                    no_trees_differ("a SUT that began anew", reference, new)
                    time.sleep(1)  # it looks each 0.1 s
                _, totals, said = shadow.stop()
                expect("how often it said that all is synchronized",
                       sum(line == "synchronized" for line in said.splitlines()), 2)
                expect("differences", totals["verdicts"]["differ"], 0)
                if failures:
                    print((shadow.log / "summary.json").read_text())


def chosen():
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        small_tree(client, root)
        with Shadow(folder, relay, sut, "--exclude", "/d0", "--exclude", "f1") as shadow:
            shadow.settle()
            found = tree(*mounted(sut))
            expect("of /d0 on the SUT", [p for p in found if p.startswith(b"/d0/")], [])
            expect("of /d1 on the SUT", sorted(p for p in found if p.startswith(b"/d1/")),
                   [b"/d1/f0", b"/d1/f1", b"/d1/f2"])
            expect("sizes in /d1", [found[b"/d1/f%d" % i][0].size for i in (0, 2)], [5000, 5000])
            before = shadow.settle()
            for procedure in LOOKUP, REMOVE:
                client.nfs(procedure, {"object": root, "name": b"d2/../f"})
            expect("names that are paths", fates(before, settle(shadow)), {"all": 2, "without_object": 2})


def as_a_user():
    """--sync-uid: root may do nothing on the SUT, and need not."""
    refused = [word for name in ("CREATE", "READDIRPLUS", "READ", "WRITE", "SETATTR:after=1")
               for word in ("--fault", name + ":uid=0:status=NFS3ERR_ACCES")]
    reference, sut = servers(sut=refused)
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        for server in sut, relay:
            client, root = mounted(server)
            client.nfs(SETATTR, {"object": root, "settings": {"mode": 0o755, "uid": 1234, "gid": 5678}})
        for name, mode in (b"own", 0o600), (b"also own", 0o640):
            made = client.nfs(CREATE, {"object": root, "name": name, "how": GUARDED, "settings": {"mode": mode}}, 1234,
                              5678)[1]["handle"]
            client.nfs(WRITE, {"object": made, "offset": 0, "count": 5000, "stable": 2, "data": [(5000, 65)]}, 1234)
        with Shadow(folder, relay, sut, "--sync-uid", "1234", "--sync-gid", "5678") as shadow:
            totals = shadow.settle()
            expect("objects that a user synchronizes", totals["objects"]["synchronized"], 3)
            before = totals
            for procedure, who in (GETATTR, 1234), (READ, 1234):
                client.nfs(procedure, {"object": made, "offset": 0, "count": 100}, who)
            expect("fates of what a user synchronized", fates(before, settle(shadow)), {"all": 2, "compared": 2})
            expect("differences of what a user synchronized", shadow.stop()[0], 0)


# (kind, id, permissions) of NFSACL
LESS = [(1, 0, 6), (4, 0, 4), (0x20, 0, 4)]
MORE = [(1, 0, 6), (2, 1000, 5), (4, 0, 4), (0x10, 0, 5), (0x20, 0, 0)]
DEFAULTS = [(0x1001, 0, 7), (0x1002, 1001, 5), (0x1004, 0, 5), (0x1010, 0, 5), (0x1020, 0, 0)]


def set_acl(client, handle, *lists):
    """Of the object, and, for a directory, of what is made in it."""
    data = opaque(handle) + struct.pack(">I", 15 if len(lists) > 1 else 3)
    for acl in (*lists, [])[:2]:
        data += struct.pack(">II", len(acl), len(acl)) + b"".join(struct.pack(">3I", *entry) for entry in acl)
    result = client.rpc(2, data, program=NFSACL, credential=auth_sys(0, 0, ()))
    expect("SETACL", struct.unpack(">I", result[:4])[0], OK)


def get_acl(client, handle):
    """Both lists, as they are on the wire."""
    result = client.rpc(1, opaque(handle) + struct.pack(">I", 15), program=NFSACL,
                        credential=auth_sys(0, 0, ()))
    expect("GETACL", struct.unpack(">II", result[:8]), (OK, 1))
    return result[8 + 84 + 4:]


def acls():
    """Access control lists that say more than the mode, and some that go again."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        small_tree(client, root)

        def handles(server):
            c, top = mounted(server)
            directory = c.nfs(LOOKUP, {"object": top, "name": b"d1"})[1]["handle"]
            return c, [directory] + [c.nfs(LOOKUP, {"object": directory, "name": b"f%d" % i})[1]["handle"]
                                     for i in range(3)]

        def seen(server):
            c, found = handles(server)
            return [get_acl(c, handle) for handle in found]
        plain, (_, (directory, *files)) = seen(reference), handles(relay)
        set_acl(client, files[0], MORE)
        set_acl(client, files[1], MORE)
        set_acl(client, directory, MORE, DEFAULTS)
        with Shadow(folder, relay, sut) as shadow:
            shadow.settle()
            expect("lists", seen(sut), seen(reference))
            expect("objects with lists", [a != b for a, b in zip(plain, seen(reference))],
                   [True, True, True, False])
            shadow.process.kill()
            shadow.process.wait()
        set_acl(client, files[1], LESS)
        set_acl(client, directory, LESS, [])
        with Shadow(folder, relay, sut, "--overwrite", log="again") as shadow:
            copied = shadow.settle()["copy"]
            expect("lists, when some are gone", seen(sut), seen(reference))
            expect("lists that were refused", copied["refused_acls"], 0)


def without_acls():
    """Lists that the SUT does not take are counted; a server without NFSACL is copied all the same."""
    for faults, refused in (({"sut": ("--fault", "SETACL:status=NFS3ERR_NOTSUPP")}, 1),
                            ({"sut": ("--fault", "SETACL:rpc-status=PROG_UNAVAIL")}, 1),
                            ({"sut": ("--fault", "SETACL:status=NFS3ERR_ACCES")}, 1),
                            ({"reference": ("--fault", "GETACL:rpc-status=PROG_UNAVAIL")}, 0)):
        reference, sut = servers(**faults)
        with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
            client, root = mounted(relay)
            set_acl(client, small_tree(client, root), MORE, DEFAULTS)
            with Shadow(folder, relay, sut) as shadow:
                copied = shadow.settle()["copy"]
                expect("%s: files" % faults, (copied["files"], copied["failed"]), (9, {}))
                expect("%s: refused" % faults, copied["refused_acls"] >= refused, True)


def main():
    if sys.argv[1:] == ["long"]:
        for seed in range(int(os.environ.get("SEEDS", "200"))):
            synchronized(seed + 1, 1 + seed % 4, 150)
            if seed % 4 == 3:
                synchronized(seed + 1, 6, 100, 0.002)
            if failures:
                return 1
        return 0
    synchronized(2, 1, 150)
    synchronized(5, 1, 80)
    synchronized(742, 1, 80)  # of its last 91 requests, 5 have handles of what is gone
    synchronized(6, 4, 60, 0.002)
    faults_seen()
    times_over_udp()
    watched()
    seen_late()
    too_long()
    refused()
    again()
    chosen()
    as_a_user()
    acls()
    without_acls()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
