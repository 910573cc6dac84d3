#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan slow long=--bounds
"""nfsdigest report of a trace: the numbers of the page against a generator that knows them, against
stock tshark and SQL; the page itself, as an HTML parser reads it and in Chromium at three widths, light
and dark, by keyboard and without a script; hostile names; and what is refused.

    report_trace.py --bounds            only what is said beyond all bounds, and that memory stays bounded
    report_trace.py --shots FOLDER      also leaves pictures there, for those who have eyes"""
import collections
import json
import math
import os
import pathlib
import random
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import traceback

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "oracle"), str(SRC / "tests" / "gen")]

import audit_schema  # noqa: E402
import browser as chromium  # noqa: E402
import busy_capture  # noqa: E402
import database  # noqa: E402
import messages  # noqa: E402
from activity_truth import (SHOWN, SPANS, Row, breaches, check_list, check_slowest,  # noqa: E402
                            check_spans, check_totals, check_tree, checks, expect, same)
from page import UNSEEN, Page  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
SCHEMA = json.loads((SRC / "schemas/trace.schema.json").read_text())
SANITIZED = os.environ.get("SANITIZED")
PAGE_MAX = 2 << 20
NAMES = {(messages.NFS, messages.GETATTR): "NFS GETATTR", (messages.NFS, messages.READ): "NFS READ",
         (messages.NFS, messages.WRITE): "NFS WRITE", (messages.NFS, messages.LOOKUP): "NFS LOOKUP",
         (messages.NFS, messages.REMOVE): "NFS REMOVE", (messages.MOUNT, 1): "MOUNT MNT"}
def run(*arguments, **how):
    done = subprocess.run([NFSDIGEST, *map(str, arguments)], capture_output=True, check=False,
                          **{"stdin": subprocess.DEVNULL, **how})
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def report(trace, to, code=0, long=False):
    """The page and its numbers, which --json says, too, but |long| texts whole."""
    got, out, said = run("report", "--json", "--html", to, trace)
    same(got, code, "report", trace, said)
    page = Page(to.read_bytes())
    for line in page.wrong[:20]:
        expect(False, trace, line)
    text = page.ids["data"].text()
    expect("<" not in text, "markup among the numbers")
    data = json.loads(text)
    for problem in audit_schema.errors(SCHEMA, json.loads(out)):
        expect(False, trace, problem)
    expect(long or data == json.loads(out), "--json")
    expect(page.size < PAGE_MAX, "the page has", page.size, "bytes")
    return page, data


# --- the generator

def rows_of(ops, trace, objects):
    """What must have been captured; in the order of the database's ids. |objects|: numbers of handles;
    a handle that no LOOKUP found has a path made of it."""
    rows = []
    for op in ops:
        time = op.reply if op.call_lost else op.call
        known = not op.call_lost
        good = known and not op.status
        path = op.path
        if ":" in op.client and known:
            path = "[#%d]" % objects["2001:db8::1", op.arguments[4:32]]
        rows.append(Row(
            0, time, op.reply - time if known and op.reply is not None else None,
            NAMES[op.program, op.procedure] if known else None, op.client,
            "uid %d" % op.uid if known else "not captured", path if known else None,
            bool(op.status) and known and op.reply is not None, op.status, op.reply is not None,
            op.size if op.procedure == messages.READ and good and op.reply is not None else 0,
            op.size if op.procedure == messages.WRITE and known else 0))
    done = trace.completed()
    for op in trace.operations:
        call, reply = op.calls[0], op.replies[0]
        answered = reply in done
        time = call.frames[0].time
        rows.append(Row(0, time, reply.frames[0].time - time if answered else None, "NFS GETATTR",
                        op.client, "uid 1000", "[#%d]" % objects["10.0.0.9", messages.handle(2)],
                        False, 0, answered, 0, 0))
    rows.sort(key=lambda r: r.time)
    return [r._replace(id=i) for i, r in enumerate(rows, 1)]


def against_generator(folder):
    busy = busy_capture.Busy(random.Random(5), 3000)
    frames = list(busy.make())
    trace, missing = busy_capture.tcp_with_hole(busy.at - 3 * busy_capture.SECOND)
    frames += [(f.time, f.data, None) for f in trace.frames]
    frames.sort(key=lambda f: f[0])
    numbers = {f[2]: i for i, f in enumerate(frames, 1) if f[2]}
    capture, db = folder / "busy.pcap", folder / "busy.db"
    busy_capture.write(capture, frames)
    database.ingest(db, capture)
    objects = {(server, handle): number for number, server, handle in database.rows(
        db, "SELECT id, server, handle FROM object")}
    rows = rows_of(busy.ops, trace, objects)
    repeats = [(op.resent, 1) for op in busy.ops if op.resent is not None]
    repeats += [(op.replied_again, 2) for op in busy.ops if op.replied_again is not None]
    expect(len(repeats) > 150 and len({r.path for r in rows}) > 70, "the generator does too little")
    page, data = report(db, folder / "busy.html")

    check_totals(data, rows, repeats)
    check_list(data, "procedures", rows, lambda r: r.procedure, 40)
    check_list(data, "clients", rows, lambda r: r.client)
    check_list(data, "users", rows, lambda r: r.user)
    check_list(data, "paths", rows, lambda r: r.path)
    statuses = collections.Counter((r.status, r.procedure) for r in rows if r.error)
    same(collections.Counter({(g["number"], NAMES[g["program"], g["procedure"]]): g["operations"]
                              for g in data["statuses"]["groups"]}), statuses, "statuses")
    problems = database.rows(db, "SELECT time, length FROM problem WHERE kind = 1")
    same([(h["bytes"], h["client"], h["direction"]) for h in data["holes"]],
         [(missing, "10.0.2.1", "to client")], "holes")
    same([(p["problem"], p["count"], p["bytes"]) for p in data["problems"]], [("hole", 1, missing)],
         "problems")
    same({c["counter"]: c["value"] for c in data["counters"]}, dict(database.rows(
        db, "SELECT name, sum(value) FROM counter GROUP BY name")), "counters")
    times = [r.time for r in rows] + [t for t, _ in repeats + problems]
    check_spans(data, rows, repeats, times)
    same([(s["time"], s["hole_bytes"], s["problems"][0]) for s in data["spans"] if s["hole_bytes"]],
         [(problems[0][0] // data["every"] * data["every"], missing, 1)], "hole over time")
    check_slowest(data, rows)
    by_time = {op.call: op for op in busy.ops}
    for s in data["slowest"]:
        op = by_time[s["time"]]
        call, reply = numbers[op.number, "call"], numbers[op.number, "reply"]
        same([s["call_frame"], s["reply_frame"], s["filter"]],
             [call, reply, "frame.number in {%d, %d}" % (call, reply)], "frames")
    check_tree(data, rows, busy_capture.EXPORT)
    for client, n in collections.Counter(op.client for op in busy.ops
                                         if op.resent is not None).items():
        for g in data["clients"]["groups"]:
            expect(g["client"] != client or g["resent"] == n, "sent again by", client, g)
    check_page(page, data)
    same(run("report", db, "--html", "-")[1], (folder / "busy.html").read_bytes(), "twice")
    return db, capture, frames


# --- the page says what the numbers say

def cells_of(table):
    body = next(table.all("tbody"))
    return [[c.text() for c in row.children] for row in body.children if row.tag == "tr"]


def number(text):
    return int(text.replace(",", ""))


def check_page(page, data):
    tables = {next(t.all("caption")).text(): cells_of(t) for t in page.root.all("table")}
    for title, name, label in (("Procedures", "procedures", "procedure"), ("Clients", "clients", "client"),
                               ("Users", "users", "user"), ("Busiest paths", "paths", "path"),
                               ("Error statuses", "statuses", "status")):
        at = 2 if name == "statuses" else 1
        same(len(tables[title]), len(data[name]["groups"]), title)
        for row, g in zip(tables[title], data[name]["groups"]):
            expect(row[0].startswith(g[label][:200]) and number(row[at]) == g["operations"], title, row)
    # the headings say what the columns have
    row = tables["Clients"][0]
    g = data["clients"]["groups"][0]
    same([number(row[i]) for i in (1, 3, 4, 5)],
         [g["operations"], g["errors"], g["resent"], g["unanswered"]], "a client")
    rows = tables["The operations with the longest latencies"]
    same([(r[1], r[7], r[8], r[9]) for r in rows],
         [(s["procedure"], str(s["call_frame"]), str(s["reply_frame"]), s["filter"])
          for s in data["slowest"]], "slow rows")
    tiles = {e.children[0].text(): e.children[1].text() for e in next(page.root.all("dl")).children}
    totals = data["totals"]
    for name, key in (("operations", "operations"), ("calls sent again", "resent"),
                      ("without a reply", "unanswered"), ("most under way", "peak")):
        same(number(tiles[name]), totals[key], "tile", name)
    check_map(page, data)


def check_map(page, data):
    """What is drawn: each cell with operations once, none without, darker where more are."""
    columns, edges, drawn = data["heat"]["spans"], data["heat"]["from"], {}
    logs = [math.log(max(e, 1)) for e in edges]
    tops = [12 + 300 * (1 - (at - logs[0]) / (logs[-1] - logs[0])) for at in logs[1:]]
    for path in next(page.ids["heat"].all("g")).all("path"):
        shade = int(path.attributes["class"][1:])
        for x, y, run_of in re.findall(r"M(\d+) ([\d.]+)h(\d+)v[\d.]+h-\d+z", path.attributes["d"]):
            row, = (i for i, top in enumerate(tops) if abs(top - float(y)) < 0.06)
            for i in range(int(x), int(x) + int(run_of)):
                expect((i, row) not in drawn, "a cell twice", i, row)
                drawn[i, row] = shade
    wanted = {(i, row): n for i, column in enumerate(columns) for row, n in enumerate(column) if n}
    same(drawn.keys(), wanted.keys(), "cells")
    order = sorted((n, drawn.get(cell)) for cell, n in wanted.items())
    expect(all(a[1] <= b[1] for a, b in zip(order, order[1:])), "shades")
    expect(order[-1][1] == 8 and order[0][1] == 1, "the darkest and the lightest", order[0], order[-1])


# --- a real capture, by tshark and SQL

def against_tshark(folder):
    name = "knfsd-tcp-mtu1500"
    capture, db = folder / (name + ".pcap"), folder / "real.db"
    subprocess.run(["zstd", "-dqf", CAPTURES / (name + ".pcap.zst"), "-o", capture], check=True)
    database.ingest(db, capture)
    page, data = report(capture, folder / "real.html")
    check_page(page, data)
    rows = [Row(*r) for r in database.rows(
        db, "SELECT o.id, ifnull(call_time, reply_time), o.latency, op.program || ' ' || op.procedure,"
        " o.client, CASE WHEN flavor = 1 THEN 'uid ' || c.uid ELSE 'nobody (AUTH_NONE)' END,"
        " p.text, ifnull(rpc_status, 0) <> 0 OR ifnull(o.status, 0) <> 0, o.status,"
        " o.reply_frame IS NOT NULL, CASE WHEN o.procedure = 6 AND o.program = 100003 THEN"
        " ifnull(data_length, 0) ELSE 0 END, CASE WHEN o.procedure = 7 AND o.program = 100003 THEN"
        " ifnull(data_length, 0) ELSE 0 END FROM operation o JOIN op ON op.id = o.id"
        " JOIN credential c ON c.id = o.credential LEFT JOIN path p ON p.id = o.path ORDER BY o.id")]
    repeats = database.rows(db, "SELECT time, kind FROM retransmission")
    times = [r.time for r in rows] + [t for t, in database.rows(
        db, "SELECT time FROM retransmission UNION ALL SELECT time FROM problem WHERE time > 0")]
    check_totals(data, rows, repeats)
    check_spans(data, rows, repeats, times)
    check_slowest(data, rows)
    for name, key in (("procedures", lambda r: r.procedure), ("clients", lambda r: r.client),
                      ("users", lambda r: r.user), ("paths", lambda r: r.path)):
        check_list(data, name, rows, key, 40 if name == "procedures" else SHOWN)
    done = subprocess.run(["tshark", "-r", str(capture), "-Y", "rpc.time", "-T", "fields", "-e",
                           "frame.number", "-e", "rpc.xid", "-e", "rpc.time"], capture_output=True,
                          text=True, check=True)
    slow, seen = [], 0
    for line in done.stdout.splitlines():
        frame, xids, latencies = line.split("\t")
        seen += latencies.count(",") + 1
        slow += [(round(float(t) * 1e9), int(x, 16), int(frame))
                 for x, t in zip(xids.split(","), latencies.split(","))]
    expect(0 <= data["totals"]["answered"] - seen <= 5, "tshark has", seen, "latencies")
    slow.sort(reverse=True)
    own = [(s["latency"], s["xid"], s["reply_frame"]) for s in data["slowest"]]
    same([s for s in own if s in slow][:20], slow[:20], "tshark")
    expect(len([s for s in own if s not in slow]) <= 5, "tshark does not have", own)
    # the display filters find both messages of the operation
    for s in data["slowest"][:3]:
        done = subprocess.run(["tshark", "-r", str(capture), "-Y", s["filter"], "-T", "fields", "-e",
                               "frame.number", "-e", "rpc.xid"], capture_output=True, text=True,
                              check=True)
        found = {int(f): [int(x, 16) for x in xids.split(",")] for f, xids in
                 (line.split("\t") for line in done.stdout.splitlines())}
        same(sorted(found), sorted([s["call_frame"], s["reply_frame"]]), "filter", s["filter"])
        expect(all(s["xid"] in xids for xids in found.values()), "filter", s["filter"], found)


# --- other inputs, and what is refused

def check_inputs(folder, db, capture, frames):
    wanted = json.loads(run("report", "--json", db)[1])
    stream = folder / "busy.nfsr"
    same(run("record", "-o", stream, capture)[0], 0, "record")
    for name, how in ((capture, {}), (stream, {}), ("-", {"stdin": open(stream, "rb")})):
        code, out, said = run("report", "--json", name, **how)
        got = json.loads(out) if code == 0 else {}
        same(code, 0, name, said)
        for key in "totals", "spans", "clients", "users", "paths", "tree", "under_way", "heat", "holes":
            drop = ("source",) if key == "holes" else ()
            strip = (lambda rows: [{k: v for k, v in r.items() if k not in drop} for r in rows]) \
                if drop else (lambda x: x)
            same(strip(got.get(key, [])), strip(wanted[key]), name, key)
    # rotated captures: the frames of an operation are in two files
    slow = next(s for s in wanted["slowest"] if ":" in s["client"])
    middle = slow["call_frame"] + 1
    for part_of, which in ("1", frames[:middle]), ("2", frames[middle:]):
        busy_capture.write(folder / ("part%s.pcap" % part_of), which)
    database.ingest(folder / "parts.db", folder / "part1.pcap", folder / "part2.pcap")
    page, data = report(folder / "parts.db", folder / "parts.html")
    check_page_parts(page, data, slow, middle)
    same(data["under_way"], wanted["under_way"], "rotated")
    same(data["heat"], wanted["heat"], "rotated")
    # a name that stood for two files
    twice = folder / "twice.db"
    twice.write_bytes(db.read_bytes())
    changed = sqlite3.connect(twice)
    path, = changed.execute("SELECT path FROM operation WHERE path NOT NULL GROUP BY 1 ORDER BY count(*)"
                            " DESC LIMIT 1").fetchone()
    changed.execute("INSERT INTO path SELECT 5000, parent, NULL, name, text FROM path WHERE id = ?", (path,))
    changed.execute("UPDATE operation SET path = 5000 WHERE path = ? AND id % 2", (path,))
    changed.commit()
    changed.close()
    got = json.loads(run("report", "--json", twice)[1])
    for key in "paths", "tree":
        same(got[key], wanted[key], "two paths with one text:", key)
    cut = folder / "cut.pcap"
    cut.write_bytes(capture.read_bytes()[:-100])
    page, data = report(cut, folder / "cut.html", 3)
    expect("cut" in page.root.text() and data["sources"][0]["state"] == "cut", "a cut capture")


def check_page_parts(page, data, slow, middle):
    apart = [s for s in data["slowest"] if s["call_source"] != s["reply_source"]]
    same([(s["call_frame"], s["reply_frame"]) for s in apart if s["latency"] == slow["latency"]],
         [(slow["call_frame"], slow["reply_frame"] - middle)], "in two captures")
    expect({":" in s["client"] for s in apart} == {True, False}, "only one family of addresses")
    for s in apart:
        family = "ipv6.addr" if ":" in s["client"] else "ip.addr"
        same(s["filter"], "rpc.xid == 0x%08x && %s == %s" % (s["xid"], family, s["client"]),
             "filter for two captures")
    expect("part2.pcap" in page.root.text(), "no names of captures")


def check_refused(folder, db, capture):
    for code, words, arguments in (
            (2, "nothing to write", ["report", db]),
            (2, "--annotate takes the result", ["report", "--annotate", folder / "x.pcapng", db]),
            (2, "both go to standard output", ["report", "--html", "-", "--json", db]),
            (2, "would replace", ["report", "--html", db, db]),
            (2, "would replace", ["report", "--html", capture, db]),
            (2, "would replace", ["rdump", "-o", capture, db]),
            (2, "captures are for --annotate", ["report", "--html", folder / "x.html", db, capture]),
            (4, "", ["report", "--html", folder / "none" / "x.html", db]),
            (4, "", ["report", "--html", "/dev/full", db]),
            (3, "", ["report", "--html", folder / "x.html", folder / "missing"])):
        got, _, said = run(*arguments)
        expect(got == code and words in said, arguments, got, said)
    expect(not (folder / "x.html").exists(), "something was written")
    expect(db.read_bytes()[:6] == b"SQLite", "the input was replaced")
    empty = folder / "empty.pcap"  # only a packet without RPC
    busy_capture.write(empty, [(1_700_000_000 * 10**9, bytes(60))])
    page, data = report(empty, folder / "empty.html")
    same([data["totals"]["operations"], data["spans"], data["slowest"]], [0, [], []], "empty")
    expect("Nothing in this trace has a time" in page.root.text(), "empty")


HOSTILE = ["<script>window.pwned=1</script>", "\"'><img src=x onerror=window.pwned=1>",
           "</script></style><b>", "<!--<script>", "a\x01\x1b[31m\x7f\n\r\tb", "&lt;&amp;",
           "\u202e\ufffe\uffff\U0001f600\u00e9", UNSEEN, "x" * 100_000, "\u00e9" * 60_000]
COLUMNS = {"operation": ["client", "server"], "flow": ["client"], "path": ["name", "text"],
           "source": ["name", "note"], "code": ["name"], "procedure": ["name"], "program": ["name"],
           "status_name": ["name"], "problem": ["text"]}


def make_hostile(good, path):
    path.write_bytes(good.read_bytes())
    db = sqlite3.connect(path)
    texts = HOSTILE + [b"\xff\xfe\xc0\xaf<i>\x80"]
    for table, columns in COLUMNS.items():
        for k, column in enumerate(columns):
            for i, text in enumerate(texts):
                db.execute("UPDATE %s SET %s = CAST(? AS TEXT) WHERE %s %% %d = %d"
                           % (table, column, text_key(table), len(texts), (i + k) % len(texts)), (text,))
    # numbers without sense
    db.execute("UPDATE operation SET path = 99999999 WHERE id % 50 = 0")
    db.execute("UPDATE operation SET credential = 0 WHERE id % 51 = 0")
    db.execute("UPDATE operation SET program = -5, pairing = 99 WHERE id % 53 = 0")
    db.execute("UPDATE operation SET data_length = -1 WHERE id % 59 = 0")
    db.execute("UPDATE path SET parent = id WHERE id % 7 = 0")
    db.execute("UPDATE path SET parent = id + 1 WHERE id % 11 = 0")
    db.execute("UPDATE problem SET kind = 77, length = -9")
    db.commit()
    db.close()


def text_key(table):
    return {"code": "value", "procedure": "number", "program": "number", "status_name": "status"}.get(
        table, "id")


def check_hostile(folder, good):
    path = folder / "hostile.db"
    make_hostile(good, path)
    page, data = report(path, folder / "hostile.html", long=True)
    same(page.tags()["script"], 2, "scripts")
    expect(not {"img", "i", "b"} & set(page.tags()), "tags of texts:", page.tags())
    same(data["totals"]["operations"], database.rows(good, "SELECT count(*) FROM operation")[0][0],
         "operations")
    expect(any(page.root.all("span", "cut")), "long texts")
    # times far apart, and none
    db = sqlite3.connect(path)
    for change in ("UPDATE operation SET call_time = call_time - 5000000000000000000 WHERE id = 7",
                   "UPDATE operation SET reply_time = 9223372036854775807 WHERE id = 8",
                   "UPDATE operation SET reply_time = call_time - 1000 WHERE id = 9"):
        db.execute(change)
    db.commit()
    page, data = report(path, folder / "far.html", long=True)
    expect(1 < len(data["spans"]) <= SPANS, "spans", len(data["spans"]))
    db.execute("UPDATE operation SET call_time = NULL, reply_time = NULL")
    db.execute("UPDATE retransmission SET time = NULL")
    db.execute("UPDATE problem SET time = NULL")
    db.commit()
    db.close()
    page, data = report(path, folder / "untimed.html", long=True)
    same([data["totals"]["untimed"], data["spans"]], [data["totals"]["operations"], []], "untimed")
    same(page.tags()["script"], 2, "scripts without times")


# --- beyond all bounds

CLIENTS, PATHS, UNDER_WAY = 1 << 16, 1 << 19, 1 << 20
MANY, MANY_CLIENTS = UNDER_WAY + 50_000, 70_000

FILL = """
CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < %d)
 SELECT i FROM c;
INSERT INTO flow SELECT 1000 + i, 17, printf('10.%%d.%%d.%%d', i / 65536, i / 256 %% 256, i %% 256), 700,
 '10.0.0.1', 2049, 1, 1, NULL FROM n WHERE i < %d;
INSERT INTO credential(id, flavor, valid, uid, body) SELECT 1000 + i, 1, 1, i, x'00' FROM n WHERE i < %d;
INSERT INTO path SELECT 1001, NULL, NULL, '/big', '/big';
INSERT INTO path SELECT 1002 + i, 1001, NULL, 'f' || i, '/big/f' || i FROM n WHERE i < 600000;
DELETE FROM operation; DELETE FROM retransmission; DELETE FROM problem;
INSERT INTO operation(id, pairing, call_source, call_frame, call_time, reply_source, reply_frame,
 reply_time, client, server, flow, xid, program, version, procedure, rpc_status, status, credential, path)
 SELECT 1 + i, 0, 1, i, 1000000000000 + 1000 * i, 1, i, 9000000000000, f.client, '10.0.0.1',
 1000 + i %% %d, i, 100003, 3, 1, 0, 0, 1000 + i %% %d, 1002 + i %% 600000 FROM n
 JOIN flow f ON f.id = 1000 + i %% %d;
"""


def check_bounds(folder, good):
    """More clients, users, paths and operations under way than are told apart: what is said of them."""
    path = folder / "many.db"
    path.write_bytes(good.read_bytes())
    db = sqlite3.connect(path)
    db.executescript(FILL % (MANY, MANY_CLIENTS, MANY_CLIENTS, MANY_CLIENTS, MANY_CLIENTS, MANY_CLIENTS))
    db.close()
    page, data = report(path, folder / "many.html")
    mine = [MANY // MANY_CLIENTS + (i < MANY % MANY_CLIENTS) for i in range(MANY_CLIENTS)]
    for name in "clients", "users":
        same([data[name]["beyond"], data[name]["left_out"]],
             [sum(mine[CLIENTS:]), CLIENTS - SHOWN], name, "beyond the bound")
    own = [MANY // 600000 + (i < MANY % 600000) for i in range(600000)]
    known = PATHS - 1001  # of the files; ids are counted from 1
    same(data["paths"]["beyond"], sum(own[known:]), "paths beyond the bound")
    same(data["paths"]["left_out"], known - SHOWN, "paths")
    same([data["tree"][0][k] for k in ("name", "operations", "own")], ["/big", MANY, 0], "the tree")
    same([data["totals"]["peak"], data["totals"]["peak_is_least"]], [UNDER_WAY + 1, True], "under way")
    text = page.root.text()
    for words in ("There are more clients than are told apart", "There are more users than are",
                  "The trace has more than 524,288 paths", "More than 1,048,576 operations were under way"):
        expect(words in text, "the page does not say:", words)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    expect(SANITIZED or most < 250, "it took", most, "MiB")
    print("%d MiB, a page of %d bytes" % (most, page.size))


# --- in the browser

def check_browser(folder, shots):
    path = folder / "busy.html"
    data = json.loads(Page(path.read_bytes()).ids["data"].text())
    with chromium.Browser(folder) as browser:
        check_hands(browser, path, data)
        colours = []
        for scheme in "light", "dark":
            for width in 1300, 800, 390:
                page = browser.open(path, scheme=scheme)
                page.size(width, 900)
                wide = page.evaluate("document.documentElement.scrollWidth")
                expect(wide <= width, "the page is wider than a window of", width, wide)
                expect(not page.complaints(), width, scheme, page.complaints())
                same(page.requests(), ["file://%s" % path], "requests")
                if shots:
                    shots.mkdir(parents=True, exist_ok=True)
                    page.screenshot(shots / ("trace-%s-%d.png" % (scheme, width)), width, 4000)
                page.close()
            page = browser.open(path, scheme=scheme, script=False)
            colours.append(page.evaluate("['body', '#heat .s3', '.bar rect', 'a'].map(s => { const c ="
                                         " getComputedStyle(document.querySelector(s));"
                                         " return c.color + c.backgroundColor + c.fill })"))
            same(page.evaluate("document.querySelectorAll('button').length"), 0, "buttons without a script")
            page.close()
        expect(all(x != y for x, y in zip(*colours)), "light and dark", colours)
        if shots:  # the one of the README
            run("report", "--html", "shot.html", "knfsd-tcp-mtu1500.pcap", cwd=folder)
            page = browser.open(folder / "shot.html")
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            page.size(1180, 900)
            page.screenshot(shots / "trace-report.png", 1180, int(page.evaluate(
                "document.getElementById('under-way').getBoundingClientRect().top")) - 10)
            page.close()
        for name in "hostile", "far", "untimed", "empty":
            page = browser.open(folder / (name + ".html"))
            same(page.evaluate("typeof window.pwned"), "undefined", name, "a text ran")
            expect(not page.complaints(), name, page.complaints())
            page.close()


def check_hands(browser, path, data):
    """The map, the buttons and what opens, by keyboard."""
    page = browser.open(path)
    page.key("Tab", code=9)
    same(page.evaluate("document.activeElement.className"), "skip", "the first one by Tab")
    names = []
    for _ in range(80):
        page.key("Tab", code=9)
        names.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    expect("heat" in names and names.count("SUMMARY") > 10, "cannot be reached by keyboard:", names)
    page.evaluate("document.getElementById('heat').focus()")
    columns = data["heat"]["spans"]
    most = max(n for c in columns for n in c)
    at = next((i, row) for i, c in enumerate(columns) for row, n in enumerate(c) if n == most)
    for key, step in (("ArrowDown", (0, 0)), ("ArrowRight", (1, 0)), ("ArrowUp", (0, 1)),
                      ("ArrowLeft", (-1, 0)), ("ArrowLeft", (-1, 0)), ("ArrowDown", (0, -1))):
        page.key(key)
        at = (at[0] + step[0], at[1] + step[1])
        said = page.evaluate("document.getElementById('cell').value")
        expect(said.startswith("%d operation" % columns[at[0]][at[1]]), key, said, columns[at[0]][at[1]])
    said = page.evaluate("""(() => { const map = document.getElementById("heat");
        map.scrollIntoView(); const box = map.getBoundingClientRect(), scale = box.width / 1040;
        const d = map.dataset, rows = %d, columns = %d, x = Number(d.left) + (%d + .5) * d.width / columns;
        map.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + scale * x,
            clientY: box.top + scale * (Number(d.top) + Number(d.height) - 2)}));
        return document.getElementById("cell").value })()""" % (
            len(data["heat"]["from"]) - 1, len(columns), len(columns) // 2))
    expect(said.startswith("%d operation" % columns[len(columns) // 2][0]), "under the mouse:", said)
    same(page.evaluate("document.querySelectorAll('code.filter + button.copy').length"),
         len(data["slowest"]), "buttons")
    page.evaluate("document.querySelector('button.copy').focus()")
    page.key("Enter", "\r", 13)
    page.evaluate("new Promise(done => setTimeout(done, 200))")
    said = page.evaluate("document.querySelector('button.copy').textContent")
    expect(said in ("Copied", "Selected"), "the button says", said)
    expect(not page.complaints(), page.complaints())
    page.close()


def main():
    shots = pathlib.Path(sys.argv[sys.argv.index("--shots") + 1]) if "--shots" in sys.argv else None
    with tempfile.TemporaryDirectory(prefix="trace.") as scratch:
        folder = pathlib.Path(scratch)
        try:
            db, capture, frames = against_generator(folder)
            if "--bounds" in sys.argv:
                check_bounds(folder, db)
                return end()
            check_inputs(folder, db, capture, frames)
            check_refused(folder, db, capture)
            check_hostile(folder, db)
            if not SANITIZED:
                against_tshark(folder)
                check_browser(folder, shots)
        except Exception as error:  # what was found before is told
            breaches.append("ended early: %r" % error)
            traceback.print_exc()
    return end()


def end():
    for line in breaches[:60]:
        print("FAILED", line)
    print("%d checks, %d failed" % (len(checks), len(breaches)))
    return 1 if breaches or len(checks) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
