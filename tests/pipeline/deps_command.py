#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan-long slow
"""nfsdigest deps: its list, as text and JSON, its tables and its graphs say what replay dumps of the same
database say (read by a reader of its own), its summary what can be counted in these; choices are those of
SQL; graphs are read by a parser of their language, also with hostile names.  Plans of several captures, and of
one with losses.  What makes no sense, is too much, or does not fit on the disk leaves
nothing behind."""
import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import model_capture  # noqa: E402
import model_world  # noqa: E402
import rdump_file  # noqa: E402
from model_xdr import decode_arguments  # noqa: E402

GRANULARITIES = ("fine", "object")
NODES_MAX = 4096
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments, **options):
    return subprocess.run([database.program()] + [str(a) for a in arguments], check=False,
                          capture_output=True, **options)


def good(*arguments):
    done = run("deps", *arguments)
    if done.returncode:
        raise RuntimeError("deps %s: %s" % (" ".join(map(str, arguments)), done.stderr.decode()))
    return done.stdout.decode()


def rows(path, query, *values):
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


class Plan:
    """What dumps and SQL say of a database. |operations|: as --list --json has them, without what they
    depend on; |before|: {granularity: places that each depends on}."""

    def __init__(self, path, scratch):
        self.path, self.made = path, {}
        dumps = {}
        for granularity in GRANULARITIES:
            dump = scratch / "plan.rdump"
            done = run("rdump", path, "-o", dump, "--granularity", granularity, "--json")
            check(done.returncode == 0, "rdump: %s" % done.stderr)
            self.made[granularity] = json.loads(done.stdout)
            dumps[granularity] = list(rdump_file.read(dump))
        self.begin = next(r for k, r in dumps["fine"] if k == "trace").time
        self.records = [r for k, r in dumps["fine"] if k == "operation"]
        self.before = {g: [[r.index - d for d in reversed(r.dependencies)] for k, r in dump
                           if k == "operation"] for g, dump in dumps.items()}
        self.names = {n: name for n, name in rows(
            path, "SELECT number + iif(program = 100003, 0, 100), name FROM procedure"
            " WHERE program IN (100003, 100227) AND version = 3")}
        self.look = {r[0]: r[1:] for r in rows(
            path, "SELECT id, call_source, call_frame, reply_source, reply_frame, path, path2, status,"
            " object, object2, new_object FROM op")}
        self.numbers = {r.number: r.source for k, r in dumps["fine"] if k == "object"}
        for record in self.records:
            if record.made:
                self.numbers[record.made] = \
                    self.look[record.source][9] if record.source else "@%d" % record.index

    def codes(self, domain):
        return {value: name for value, name in rows(
            self.path, "SELECT value, name FROM code WHERE domain = ?", domain)}

    def frame(self, record):
        """Source and frame, of the call if it was captured."""
        call_source, call_frame, reply_source, reply_frame = \
            self.look[record.source][:4] if record.source else [None] * 4
        return (call_source, call_frame) if call_frame else (reply_source, reply_frame)

    def procedure(self, record):
        return self.names.get(record.procedure)

    def about(self, record):
        """The objects of an inferred operation and the names in its arguments."""
        a = decode_arguments(record.procedure, record.arguments)
        objects = [self.numbers[int.from_bytes(a[k], "big")] for k in ("object", "object2") if k in a]
        return objects, [a[k] for k in ("name", "name2") if k in a]

    def items(self, granularity):
        inferred, unplayable = self.codes("inference"), self.codes("unplayable")
        for record, before in zip(self.records, self.before[granularity]):
            look = self.look[record.source] if record.source else [None] * 4 + [None, None, "NFS3_OK"]
            item = dict(zip(("call_source", "call_frame", "reply_source", "reply_frame", "path", "path2",
                             "status"), look))
            item.update(kind="operation", place=record.index, operation=record.source or None,
                        time=self.begin + record.time, procedure=self.procedure(record),
                        inferred=inferred.get(record.inferred),
                        not_replayable=unplayable.get(record.unplayable), depends_on=[])
            for place in before:
                other = self.records[place]
                source, frame = self.frame(other)
                item["depends_on"].append(dict(place=place, operation=other.source or None,
                                               source=source, frame=frame,
                                               procedure=self.procedure(other)))
            yield item


def json_lines(*arguments):
    return [json.loads(line) for line in good("--json", *arguments).splitlines()]


def frame_text(source, frame):
    return "-" if not frame else "%d:%d" % (source, frame) if source > 1 else "%d" % frame


def time_text(ns):
    return "%s.%09d" % (datetime.datetime.fromtimestamp(
        ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S"), ns % 10**9)


def line_of(item):
    side = "call" if item["call_frame"] else "reply"
    words = [str(item["place"]), str(item["operation"] or "-"),
             frame_text(item[side + "_source"], item[side + "_frame"]), time_text(item["time"]),
             item["procedure"] or "?", item["path"] or "-"]
    words += [item["path2"]] if item["path2"] else []
    words += [item["status"] or "-"]
    words += ["(%s: %s)" % (what, item[key]) for what, key in
              (("inferred", "inferred"), ("unplayable", "not_replayable")) if item[key]]
    on = ["%d %s [%s]" % (d["place"], d["procedure"] or "?", frame_text(d["source"], d["frame"]))
          for d in item["depends_on"]]
    return " ".join(words) + (" <- " + ", ".join(on) if on else "")


def with_paths(plan, name, wanted, got):
    """Paths of inferred operations: their last parts are the names in the arguments, and what stands
    before is known to be a directory's path, or the object's number."""
    known = {text for text, in rows(plan.path, "SELECT text FROM path")}
    for want, item in zip(wanted, got):
        if item["operation"] is not None:
            continue
        objects, names = plan.about(plan.records[item["place"]])
        ends = [e for e in (item["path"], item["path2"]) if e]
        check(len(ends) == len(objects), "%s: place %d: paths %s" % (name, item["place"], ends))
        if len(names) == len(objects):  # not LINK and SETATTR
            for end, entry, above in zip(ends, names, objects):
                place, _, last = end.rpartition("/")
                check(re.sub(r"\\(x..|\\)", lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)),
                             last).encode("latin-1", "replace") == entry or not last.isascii(),
                      "%s: place %d: %s is no %s" % (name, item["place"], end, entry))
                check(place in known or place in ("[#%s]" % above, "[%s]" % above),
                      "%s: place %d: nobody knows %s" % (name, item["place"], place))
        want.update(path=item["path"], path2=item["path2"])


def lists(plan, name):
    for granularity in GRANULARITIES:
        wanted = list(plan.items(granularity))
        got = json_lines("--list", "--granularity", granularity, plan.path)
        check(len(got) == len(wanted), "%s: %d lines" % (name, len(got)))
        with_paths(plan, name, wanted, got)
        different = [(g, w) for g, w in zip(got, wanted) if g != w]
        check(not different, "%s: %s: JSON: %s" % (name, granularity, different[:1]))
        lines = good("--list", "--granularity", granularity, plan.path).splitlines()
        different = [(g, line_of(w)) for g, w in zip(lines, wanted) if g != line_of(w)]
        check(len(lines) == len(wanted) and not different,
              "%s: %s: text: %s" % (name, granularity, different[:1]))
    check(good("--list", plan.path) == good("--list", "--granularity", "fine", plan.path),
          name + ": fine is not the default")
    return wanted


def chain(plan, granularity):
    lengths = []
    for record, before in zip(plan.records, plan.before[granularity]):
        lengths.append(max((lengths[b] for b in before), default=0) + (not record.unplayable))
    return max(lengths)


def summary(plan, name):
    got, = json_lines(plan.path)
    text = good(plan.path)
    reasons, whys = plan.codes("inference"), plan.codes("unplayable")
    count = collections.Counter(reasons[r.inferred] for r in plan.records if r.inferred)
    check(got["inferred"] == count, "%s: inferred %s" % (name, got["inferred"]))
    count = collections.Counter(whys[r.unplayable] for r in plan.records if r.unplayable)
    check(got["not_replayable"] == count, "%s: not replayable %s" % (name, got["not_replayable"]))
    captured = sum(r.source > 0 for r in plan.records)
    others, = rows(plan.path, "SELECT count(*) FROM operation")[0]
    check((got["operations"], got["others"]) == (captured, others - captured), name + ": operations")
    check(text.startswith("operations      {:,}; {:,} of other".format(captured, others - captured)),
          name + ": text: operations")
    played = sum(not r.unplayable for r in plan.records)
    for column, granularity in enumerate(reversed(GRANULARITIES)):
        before, g, made = plan.before[granularity], got[granularity], plan.made[granularity]
        edges = sum(map(len, before))
        want = dict(dependencies=edges, mean=edges / len(before), most=max(map(len, before)),
                    independent=before.count([]), joined=made["joined"], kept=made["kept"],
                    longest_chain=chain(plan, granularity))
        want["critical_share"] = want["longest_chain"] / played
        check(set(g) == set(want) and all(abs(g[k] - want[k]) < 1e-6 for k in want),
              "%s: %s: %s, not %s" % (name, granularity, g, want))
        for label, key in (("direct dependencies", "dependencies"), ("  most of one operation", "most"),
                           ("operations with none", "independent"), ("joined", "joined"),
                           ("kept though implied", "kept"), ("longest chain", "longest_chain")):
            line = re.search(r"^%s +(.*)$" % label, text, re.M)[1].split()
            check(line[column] == "{:,}".format(want[key]), "%s: text: %s" % (name, line))
        line = re.search(r"^  per operation +(.*)$", text, re.M)[1].split()
        check(line[column] == "%.3f" % want["mean"], "%s: text: %s" % (name, line))
        line = re.findall(r"(\S+) %", re.search(r"^  share of operations +(.*)$", text, re.M)[1])
        check(line[column] == "%.2f" % (100 * want["critical_share"]), "%s: text: %s" % (name, line))
        # a replay with one latency takes as long as its longest chain
        done = run("concurrency", "--json", "--latency", "1us", plan.path)
        for model in map(json.loads, done.stdout.splitlines()):
            if model["kind"] == "model" and model["granularity"] == granularity:
                check(model["critical_path"] == 1000 * want["longest_chain"], name + ": chain")


TABLES = ("SELECT 0, place, operation, inferred, unplayable, procedure, time, latency, path, path2 FROM"
          " plan_operation UNION ALL SELECT 1, place, granularity, on_place, 0, 0, 0, 0, '', ''"
          " FROM plan_dependency UNION ALL SELECT 2, key, value, 0, 0, 0, 0, 0, 0, 0 FROM meta"
          " UNION ALL SELECT 3, domain, value, name, 0, 0, 0, 0, 0, 0 FROM code ORDER BY 1, 2, 3, 4")


def stored(plan, name, items):
    path = plan.path
    got = rows(path, "SELECT place, operation, inferred, unplayable, procedure, time, latency FROM"
               " plan_operation ORDER BY place")
    want = [(r.index, r.source or None, r.inferred or None, r.unplayable or None,
             None if r.procedure == 255 else r.procedure, plan.begin + r.time,
             None if r.latency < 0 else r.latency) for r in plan.records]
    check(got == want, "%s: tables: operations: %s" % (name, [p for p in zip(got, want) if p[0] != p[1]][:1]))
    for granularity in GRANULARITIES:
        got = rows(path, "SELECT place, on_place FROM plan_dependency JOIN code ON domain = 'granularity'"
                   " AND value = granularity WHERE name = ? ORDER BY place, on_place", granularity)
        want = [(place, on) for place, before in enumerate(plan.before[granularity]) for on in before]
        check(got == want, "%s: tables: %s" % (name, granularity))
    got = rows(path, "SELECT place, operation, time, procedure, path, path2, status, call_source,"
               " call_frame, reply_source, reply_frame, inferred, unplayable FROM plan ORDER BY place")
    want = [(i["place"], i["operation"], time_text(i["time"]), i["procedure"], i["path"], i["path2"],
             i["status"] if i["operation"] else None, i["call_source"], i["call_frame"],
             i["reply_source"], i["reply_frame"], i["inferred"], i["not_replayable"]) for i in items]
    check(got == want, "%s: view plan: %s" % (name, [p for p in zip(got, want) if p[0] != p[1]][:1]))
    got = rows(path, "SELECT place, procedure, path, call_frame, on_place, on_operation, on_procedure,"
               " ifnull(on_call_source, on_reply_source), ifnull(on_call_frame, on_reply_frame)"
               " FROM dependency WHERE granularity = 'object' ORDER BY place, on_place")
    want = [(i["place"], i["procedure"], i["path"], i["call_frame"], d["place"], d["operation"],
             d["procedure"], d["source"], d["frame"]) for i in items for d in i["depends_on"]]
    check(got == want, "%s: view dependency" % name)
    count, = rows(path, "SELECT count(*) FROM operation")[0]
    check(rows(path, "SELECT key, value FROM meta WHERE key LIKE 'plan%' ORDER BY key") ==
          [("plan_operations", str(count)), ("plan_version", "1")], name + ": meta")
    check(run("check", path).returncode == 0, name + ": check finds something")
    before = rows(path, TABLES)
    good("--store", path)
    check(before == rows(path, TABLES), name + ": --store: not the same again")
    check(run("tree", "--store", "--summary", path).returncode == 0 and
          set(before) <= set(rows(path, TABLES)), name + ": the tree's tables take codes away")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TRIGGER t BEFORE DELETE ON meta BEGIN SELECT raise(FAIL, 'no'); END")
    connection.commit()
    before = rows(path, TABLES)
    refused = run("deps", "--store", path)
    check(refused.returncode == 3 and before == rows(path, TABLES), name + ": --store: refused")
    connection.execute("DROP TRIGGER t")
    connection.commit()
    connection.close()


# The DOT language (graphviz.org/doc/info/lang.html), as far as it is needed.

TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([A-Za-z_]\w*)|(-?(?:\.\d+|\d+(?:\.\d*)?))|(->)|([{}\[\]=,;]))',
                   re.S)


def parse_dot(text):
    """({node: attributes}, [(from, to, attributes)])"""
    tokens, at = [], 0
    while text[at:].strip():
        m = TOKEN.match(text, at)
        if not m:
            raise ValueError("dot: at %r" % text[at:at + 40])
        tokens.append(m[0].strip())
        at = m.end()
    tokens.reverse()

    def take(*wanted):
        token = tokens.pop()
        if wanted and token not in wanted:
            raise ValueError("dot: %s in the place of %s" % (token, wanted))
        return token

    def attributes():
        out = {}
        if tokens[-1] != "[":
            return out
        take("[")
        while tokens[-1] != "]":
            key = take()
            take("=")
            out[key] = take()
            if tokens[-1] == ",":
                take(",")
        take("]")
        return out

    nodes, edges = {}, []
    take("digraph")
    take()
    take("{")
    while tokens[-1] != "}":
        name = take()
        if tokens[-1] == "=":
            take("=")
            take()
        elif tokens[-1] == "->":
            take("->")
            edges.append((name, take(), attributes()))
        else:
            value = attributes()
            if name != "node":
                check(name not in nodes, "dot: %s is there twice" % name)
                nodes[name] = value
        take(";")
    take("}")
    check(not tokens, "dot: more behind the graph")
    return nodes, edges


def label_lines(text):
    """Of a quoted label with the escapes of escString and entities."""
    out, parts = [""], re.findall(r'\\.|&\w*;?|[^\\&]', text[1:-1], re.S)
    for part in parts:
        if part == "\\n":
            out.append("")
        elif part in ("\\\\", '\\"', "&amp;"):
            out[-1] += {"\\\\": "\\", '\\"': '"', "&amp;": "&"}[part]
        elif part[0] in "\\&":
            raise ValueError("dot: %s in a label" % part)
        else:
            out[-1] += part
    return out


def graph(plan, name, items, granularity, *choice):
    """|items|: those that were chosen."""
    nodes, edges = parse_dot(good("--dot", "-", "--granularity", granularity, *choice, plan.path))
    inside = {i["place"]: i for i in items}
    outside = {d["place"]: d for i in items for d in i["depends_on"] if d["place"] not in inside}
    check(set(nodes) == {"p%d" % p for p in list(inside) + list(outside)}, name + ": dot: nodes")

    def frame(side):
        return "frame " + frame_text(*side) if side[1] else "not captured"

    for place, item in inside.items():
        node = nodes.get("p%d" % place, {"label": '""'})
        side = "call" if item["call_frame"] else "reply"
        want = [frame((item[side + "_source"], item[side + "_frame"])), item["procedure"] or "?"]
        want += [item[k] for k in ("path", "path2") if item[k]]
        want += ["inferred: " + item["inferred"]] if item["inferred"] else []
        want += ["unplayable: " + item["not_replayable"]] if item["not_replayable"] else []
        check(label_lines(node["label"]) == want, "%s: dot: %s, not %s" % (name, node, want))
        check((node.get("style") == "dotted") == bool(item["inferred"]) and
              ("color" in node) == bool(item["not_replayable"]), "%s: dot: %s" % (name, node))
    for place, on in outside.items():
        node = nodes.get("p%d" % place, {"label": '""'})
        check(label_lines(node["label"]) == [frame((on["source"], on["frame"])), on["procedure"] or "?"]
              and node.get("style") == "dashed", "%s: dot: outside: %s" % (name, node))
    want = [("p%d" % d["place"], "p%d" % i["place"], {} if d["place"] in inside else {"style": "dashed"})
            for i in items for d in i["depends_on"]]
    check(edges == want, "%s: dot: edges" % name)
    return len(outside)


def is_below(path, above):
    return path is not None and (path == above or path.startswith(above + "/"))


def chosen(plan, items, first=1, last=None, obj=None, path=None):
    out, waiting = [], []
    for item in items:
        if item["operation"]:
            look = plan.look[item["operation"]]
            objects = look[7:10]
        else:
            objects = plan.about(plan.records[item["place"]])[0]
        fits = (obj is None or obj in objects) and (
            path is None or is_below(item["path"], path) or is_below(item["path2"], path))
        waiting += [item] if fits else []
        if item["operation"]:
            if first <= item["operation"] <= (last or 1 << 62):
                out += waiting
            waiting = []
        elif first == 1 and last is None:  # all: inferred ones stand for themselves
            out += waiting
            waiting = []
    return out


def choices(plan, name, items, granularity):
    """Ranges around inferred operations, objects and paths with many operations."""
    ids = [i["operation"] for i in items if i["operation"]]
    picks = [("--range", "%d..%d" % (ids[len(ids) // 3], ids[len(ids) // 2]),
              dict(first=ids[len(ids) // 3], last=ids[len(ids) // 2])),
             ("--range", str(ids[7]), dict(first=ids[7], last=ids[7])),
             ("--range", "%d.." % ids[-9], dict(first=ids[-9])),
             ("--range", "..%d" % ids[9], dict(last=ids[9]))]
    for at, item in enumerate(items):
        if item["inferred"] and at + 1 < len(items) and items[at + 1]["operation"]:
            number = items[at + 1]["operation"]
            picks.append(("--range", "%d..%d" % (number, number), dict(first=number, last=number)))
            picks.append(("--object", str(abs(plan.about(plan.records[at])[0][0])),
                          dict(obj=abs(plan.about(plan.records[at])[0][0]))))
            break
    objects = collections.Counter(o for i in ids for o in set(plan.look[i][7:10]) if o)
    picks += [("--object", str(o), dict(obj=o)) for o, _ in objects.most_common(40)[::13]]
    paths = collections.Counter(p.rpartition("/")[0] for i in items for p in (i["path"],) if p)
    picks += [("--path", p + "/" * n, dict(path=p)) for n, (p, _) in enumerate(paths.most_common(3)) if p]
    outside = 0
    for option, value, want in picks:
        what = "%s: %s %s" % (name, option, value)
        expected = chosen(plan, items, **want)
        check(expected and len(expected) < len(items), what + ": chooses all or nothing")
        got = json_lines("--list", "--granularity", granularity, option, value, plan.path)
        check(got == expected, "%s: %d lines, not %d" % (what, len(got), len(expected)))
        if len(expected) <= NODES_MAX:
            outside += graph(plan, what, expected, granularity, option, value)
    both = chosen(plan, items, last=ids[len(ids) // 2], path=paths.most_common(1)[0][0])
    got = json_lines("--list", "--granularity", granularity, "--range", "..%d" % ids[len(ids) // 2],
                     "--path", paths.most_common(1)[0][0], plan.path)
    check(got == both, name + ": two choices")
    check(outside > 10, name + ": no dependencies on others")


def hostile(plan, scratch):
    """Names that mean something in a graph's language."""
    path = scratch / "hostile.db"
    shutil.copy(plan.path, path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE path SET text = replace(text, 'a', ?)", ('"\\\\&amp;\\N<b>];p0->p1\u00e9\\',))
    connection.commit()
    connection.close()
    plan = Plan(path, scratch)
    wanted = list(plan.items("fine"))
    got = json_lines("--list", path)
    for want, item in zip(wanted, got):
        if not item["operation"]:
            want.update(path=item["path"], path2=item["path2"])
    check(got == wanted, "hostile: JSON")
    last = next(i["operation"] for i in wanted[300:] if i["operation"])
    graph(plan, "hostile", chosen(plan, wanted, last=last), "fine", "--range", "..%d" % last)


def refused(scratch, path, small):
    out = scratch / "refused"
    out.mkdir()
    cases = [((), 2, "one file"), ((path, path), 2, "one file"),
             (("--granularity", "coarse", "--list", path), 2, "fine or object"),
             (("--granularity", "fine", path), 2, "--list or --dot"),
             (("--range", "1..2", path), 2, "--list or --dot"),
             (("--dot", "-", "--list", path), 2, "alone"), (("--dot", "-", "--json", path), 2, "alone"),
             (("--list", "--object", "99999999", path), 2, "no object 99999999"),
             (("--list", "--object", "0", path), 2, "from 1"), (("--list", "--object", "x", path), 2, "not a number"),
             (("--list", "--path", "/moon", path), 2, 'no "/moon"'),
             (("--list", "--range", "9999999..", path), 2, "was selected"),
             (("--dot", out / "x.dot", path), 2, "choose less"),
             (("--dot", "-", path), 2, "more than %d operations" % NODES_MAX),
             (("--dot", out / "no/x.dot", "--range", "..9", path), 4, "no/x.dot"),
             ((scratch / "moon.db",), 3, "No such file"), ((__file__,), 3, "")]
    cases += [(("--list", "--range", r, path), 2, "not a range") for r in (
        "", "..", "x", "1..x", "2..1", "0", "-1", "1...2", "1-2", "1..99999999999999999999")]
    for arguments, code, words in cases:
        done = run("deps", *arguments)
        check(done.returncode == code and words in done.stderr.decode(),
              "deps %s: %d, %s" % (" ".join(map(str, arguments)), done.returncode, done.stderr))
    check(not list(out.iterdir()), "refused: left behind %s" % list(out.iterdir()))
    (out / "x.dot").write_text("old")
    run("deps", "--dot", out / "x.dot", path)
    check((out / "x.dot").read_text() == "old", "refused: the old graph is gone")
    check(good("--dot", out / "x.dot", small) == good(small), "--dot FILE changes the summary")
    check((out / "x.dot").read_text() == good("--dot", "-", small), "--dot FILE is another graph")
    full = subprocess.run([database.program(), "deps", "--list", path], check=False,
                          stdout=open("/dev/full", "wb"), stderr=subprocess.PIPE)
    check(full.returncode == 4, "full standard output: %s" % full.stderr)
    capture, empty = scratch / "empty.pcap", scratch / "empty.db"
    capture.write_bytes(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) +
                        struct.pack("<IIII", 1, 0, 60, 60) + bytes(60))
    database.ingest(empty, capture)
    for arguments in ((), ("--list",), ("--dot", out / "y.dot"), ("--store",)):
        done = run("deps", *arguments, empty)
        check(done.returncode == 3 and b"no operation of NFS version 3" in done.stderr,
              "empty: %s: %s" % (arguments, done.stderr))
    check(not rows(empty, "SELECT name FROM sqlite_schema WHERE name LIKE 'plan%'"), "empty: tables")
    text = run("deps", "--help").stdout.decode()
    page = (SRC / "man/nfsdigest-deps.1").read_text().replace("\\-", "-")
    found = [set(re.findall(r"--[a-z][a-z-]+", t)) for t in (text, page)]
    check(found[0] == found[1] and found[0], "options in help and man page: %s" % (found[0] ^ found[1]))


def main():
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        captures = scratch / "lossy.pcap", scratch / "whole.pcap"
        model_capture.record(model_world.World(seed=8, operations=1500, share=0.5, hosts=4), captures[0],
                             loss=model_capture.Loss(0.04, 0.04, seed=8))
        model_capture.record(model_world.World(seed=9, operations=600, share=0.3), captures[1])
        cases = {"pair-knfsd": [CAPTURES / "pair-knfsd.pcap.zst"], "lossy": captures[:1],
                 "whole": captures[1:],
                 "two": [CAPTURES / "knfsd-netem-udp.pcap.zst", CAPTURES / "knfsd-netem-tcp.pcap.zst"]}
        plans = {}
        for case, sources in cases.items():
            path = scratch / (case + ".db")
            database.ingest(path, *sources)
            before = rows(path, "SELECT * FROM operation")
            good("--store", path)
            check(before == rows(path, "SELECT * FROM operation"), case + ": --store changes operations")
            plan = plans[case] = Plan(path, scratch)
            items = lists(plan, case)
            summary(plan, case)
            stored(plan, case, items)
            choices(plan, case, items, "object")
            if case != "pair-knfsd":
                graph(plan, case, items, "object")
            print("%s: %d operations, %d inferred, %d not replayable, %d dependencies" % (
                case, len(items), sum(bool(i["inferred"]) for i in items),
                sum(bool(i["not_replayable"]) for i in items), sum(len(i["depends_on"]) for i in items)))
        check(any(r.inferred for r in plans["lossy"].records) and
              any(r.unplayable for r in plans["lossy"].records), "lossy: nothing lost")
        hostile(plans["whole"], scratch)
        refused(scratch, plans["pair-knfsd"].path, plans["whole"].path)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
