#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: plugin slow cost=26
"""What a comparison found, in the NFS Pair tree.

Databases are written by gen/compare_fixture.py for messages that stock tshark knows, and by
nfsdigest compare for two real captures.  What shall be shown is read from them by sqlite3.

    plugin_discrepancy.py [-k DIRECTORY] [TEST...]
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
for folder in HERE.parent, HERE.parent / "gen":
    sys.path.insert(0, str(folder))

import capfile  # noqa: E402
import cases  # noqa: E402
import cases_stream  # noqa: E402,F401
import plugin_tree as tree  # noqa: E402
from compare_fixture import REF, SUT, Capture, Finding, Message, messages, write  # noqa: E402

SRC = pathlib.Path(os.environ["SRC"])
SCHEMA = SRC / "schemas" / "compare.sql"
PROFILE = SRC / "plugins" / "nfspair" / "profile" / "NFS Pair"
PREFIX = "nfspair.discrepancy"
# Names of the fields below nfspair.discrepancy, in the order of QUERY's columns.
PARTS = ("kind", "class", "field", "element", "difference", "ref", "sut", "explanation", "cause",
         "rule", "group", "count", "side", "counterpart", "counterpart.file", "noise")
MOST = 500  # that are shown of one message

QUERY = """
SELECT f.frame, f.xid, ifnull(k.name, 'unknown'), c.class, c.field, d.element, c.difference,
       d.ref_text, d.sut_text, c.reason, c.cause, r.text, c.id, c.count,
       CASE f.side WHEN 1 THEN 'ref' ELSE 'sut' END, f.other_frame,
       CASE WHEN o.digest IS NOT s.digest THEN o.name END, nullif(c.is_noise, 0)
  FROM frame f JOIN source s ON s.side = f.side AND s.id = f.source
  JOIN discrepancy d ON d.id = f.discrepancy JOIN discrepancy_group c ON c.id = d.discrepancy_group
  LEFT JOIN code k ON k.domain = 'kind' AND k.value = c.kind LEFT JOIN rule r ON r.id = c.rule
  LEFT JOIN source o ON o.side = 3 - f.side AND o.id = f.other_source
 WHERE s.name = ? ORDER BY f.frame, f.xid, f.side, f.discrepancy"""

scratch = None


def check(condition, text, *values):
    if not condition:
        raise AssertionError(text % values if values else text)


def equal(have, want, what):
    if have == want:
        return
    if isinstance(have, dict) and isinstance(want, dict):
        for key in sorted(set(have) | set(want)):
            check(have.get(key) == want.get(key), "%s: %s is %r, not %r", what, key, have.get(key),
                  want.get(key))
    raise AssertionError("%s: %r, not %r" % (what, have, want))


def tshark(capture, *options, database=None, code=0):
    """(what it prints, what it complains about)"""
    command = [tree.TSHARK, "-n", "-r", str(capture)]
    if database is not None:
        command += ["-o", "nfspair.discrepancies:%s" % database]
    done = subprocess.run(command + list(options), capture_output=True, text=True, errors="replace",
                          check=False)
    check(done.returncode == code, "%s: exit %d: %s", options, done.returncode, done.stderr)
    complaints = [line for line in done.stderr.splitlines()
                  if "NFS Pair" in line or "nfspair" in line]
    return done.stdout, complaints


def frames(capture, filter_, *options, database):
    out, _ = tshark(capture, *options, "-Y", filter_, "-T", "fields", "-e", "frame.number",
                    database=database)
    return [int(line) for line in out.split()]


def wanted(database, name):
    """{(frame, xid): [{part: text}]} of the capture |name|"""
    db = sqlite3.connect(database)
    db.text_factory = lambda text: text.decode(errors="replace")
    out = collections.defaultdict(list)
    for row in db.execute(QUERY, (name,)):
        parts = {part: str(value) for part, value in zip(PARTS, row[2:])
                 if value is not None and value != ""}
        if "counterpart" not in parts:
            parts.pop("counterpart.file", None)
        out[row[0], row[1]].append(parts)
    db.close()
    return dict(out)


def shown(capture, database, *options):
    """The same, as it is in the packet tree."""
    out = {}
    text, _ = tshark(capture, *options, "-T", "pdml", "-J", "nfspair", database=database)
    for packet in xml.fromstring(text).iter("packet"):
        frame = int(packet.find("proto[@name='geninfo']/field[@name='num']").get("show"))
        for protocol in packet.findall("proto[@name='nfspair']"):
            rows = [row for row in protocol.iter("field") if row.get("name") == PREFIX]
            if rows:
                xid = next(f.get("show") for f in protocol if f.get("name") == "nfspair.xid")
                check((frame, int(xid, 0)) not in out, "frame %d: twice", frame)
                out[frame, int(xid, 0)] = [parts_of(row) for row in rows]
    return out


def parts_of(row):
    parts = {}
    for field in row:
        name = field.get("name")
        if name.startswith(PREFIX + "."):
            parts[name[len(PREFIX) + 1:]] = "1" if name.endswith(".noise") else field.get("show")
    element = " [%s]" % parts["element"] if "element" in parts else ""
    summary = "%s%s: ref %s, sut %s" % (parts.get("field", ""), element,
                                        parts.get("ref", "nothing"), parts.get("sut", "nothing"))
    check(row.get("show") == summary, "summary %r, not %r", row.get("show"), summary)
    where = [f.get("showname") for f in row if f.get("name") == PREFIX + ".counterpart"]
    if "counterpart.file" in parts:
        equal(where, ["Counterpart: %s of %s" % (parts["counterpart"], parts["counterpart.file"])],
              "counterpart")
    return parts


# --- captures and databases ---

def capture(name):
    path = scratch / (name + ".pcap")
    if not path.exists():
        tree.run("zstd", "-q", "-d", os.path.join(os.environ["CAPTURES"], name + ".pcap.zst"), "-o",
                 str(path))
        path.chmod(0o644)
    return path


def vfs():
    return capture("vfs-libnfs-all22")


def mem():
    return capture("mem-libnfs-all22")


def database(name, captures, findings, **more):
    path = scratch / name
    write(path, SCHEMA, captures, findings, **more)
    return path


def two_sides(findings, name="two.db", **more):
    return database(name, [Capture(REF, vfs()), Capture(SUT, mem())], findings, **more)


def replies(path):
    return [m for m in messages(tree.TSHARK, path) if m.is_reply]


def everything():
    """One of each kind, over both captures, with all parts and with as few as there may be."""
    ours, theirs = replies(vfs()), replies(mem())
    kinds = ("rpc", "missing reply", "status", "value", "presence", "time", "order", "entry",
             "pattern", "count", "retransmissions", "disconnects", "malformed", "of the future")
    findings = [
        Finding(kind, [(REF, ours[5 + 7 * i], theirs[i + 9].frame),
                       (SUT, theirs[i + 9], ours[5 + 7 * i].frame)],
                field="READ3res.resok.f%d" % i, ref=str(i), sut="\u00fc %d" % (2 * i),
                element="a \"name\"" if i % 3 == 0 else None, cause="c" if i % 2 else None,
                rule="[classes] time = tolerance 2s" if i % 4 == 0 else None)
        for i, kind in enumerate(kinds)]
    findings += [
        Finding("value", [(REF, ours[40], theirs[30].frame), (SUT, theirs[30], ours[40].frame)],
                is_noise=1),
        Finding("value", [(REF, ours[40], None)], ref=None, sut=None, klass=None, reason=""),
        Finding("value", [(REF, ours[40], 3)], group=15),
        Finding("entry", [(SUT, theirs[30], None)], ref=None, element="\u20ac"),
    ]
    return findings


# --- the tests ---

def test_fields():
    """Each part of each discrepancy, on both sides, in the first pass and in the second."""
    path = two_sides(everything())
    for side in vfs(), mem():
        want = wanted(path, side.name)
        check(len(want) >= 14, "%d messages", len(want))
        for options in (), ("-2",):
            equal(shown(side, path, *options), want, "%s %s" % (side.name, options))
        for other, place in ("ref", vfs()), ("sut", mem()):
            forced = shown(side, path, "-o", "nfspair.discrepancies_side:" + other)
            equal(forced, want if place == side else {}, "forced to " + other)


def test_without():
    """Nothing of it without the preference, and nothing else is different with it."""
    path = two_sides(everything())
    out, complaints = tshark(vfs(), "-Y", PREFIX)
    equal((out, complaints), ("", []), "without")
    columns = ("-T", "fields", "-e", "frame.number", "-e", "nfspair.path", "-e", "nfspair.latency",
               "-e", "nfspair.status", "-e", "_ws.col.Info")
    equal(tshark(vfs(), *columns, database=path), tshark(vfs(), *columns), "other columns")
    equal(tshark(vfs(), *columns, "-o", "nfspair.feed:FALSE", database=path)[1], [], "not fed")


def test_random_access():
    """Frames in any order, some of them twice, as when one clicks around."""
    path = two_sides(everything())
    want = wanted(path, vfs().name)
    numbers = sorted({frame for frame, _ in want}) * 2 + list(range(1, 100, 7))
    random.Random(1).shuffle(numbers)
    requests = [("setconf", {"name": "nfspair.discrepancies", "value": str(path)}),
                ("load", {"file": str(vfs())})]
    requests += [("frame", {"frame": number, "proto": True}) for number in numbers]
    text = tree.run(tree.WITH_PLUGINS, "sharkd", "-", text="".join(
        json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}) + "\n"
        for i, (method, params) in enumerate(requests, 1)))
    answers = {a["id"]: a.get("result")
               for a in (json.loads(line) for line in text.splitlines() if line.startswith("{"))}
    for i, number in enumerate(numbers, 3):
        labels = [label for top in answers[i]["tree"] if top.get("f") == "nfspair"
                  for label in tree.labels(top)]
        fields = [label[7:] for label in labels if label.startswith("Field: ")]
        equal(fields, [row["field"] for (frame, _), rows in sorted(want.items())
                       if frame == number for row in rows], "frame %d" % number)


def test_filters():
    path = two_sides(everything())
    rows = {frame: rows for (frame, _), rows in wanted(path, vfs().name).items()}

    def have(condition):
        return sorted(frame for frame, some in rows.items() if any(condition(r) for r in some))
    for filter_, condition in (
            (PREFIX, lambda r: True),
            (PREFIX + '.field == "READ3res.resok.f3"', lambda r: r["field"].endswith(".f3")),
            (PREFIX + '.field contains "resok.f1"', lambda r: "resok.f1" in r["field"]),
            (PREFIX + '.kind == "status"', lambda r: r["kind"] == "status"),
            (PREFIX + '.kind in {"time", "missing reply"}',
             lambda r: r["kind"] in ("time", "missing reply")),
            (PREFIX + '.class == "boolean"', lambda r: r.get("class") == "boolean"),
            (PREFIX + '.sut contains "\u00fc 4"', lambda r: "\u00fc 4" in r.get("sut", "")),
            (PREFIX + '.ref == "4"', lambda r: r.get("ref") == "4"),
            (PREFIX + '.explanation contains "ends here"', lambda r: "explanation" in r),
            (PREFIX + '.group == 15', lambda r: r["group"] == "15"),
            (PREFIX + '.count > 1', lambda r: int(r["count"]) > 1),
            (PREFIX + '.counterpart == %d' % int(rows[min(rows)][0]["counterpart"]),
             lambda r: r.get("counterpart") == rows[min(rows)][0]["counterpart"]),
            (PREFIX + '.counterpart.file == "mem-libnfs-all22.pcap"',
             lambda r: "counterpart.file" in r),
            (PREFIX + ".noise", lambda r: "noise" in r),
            (PREFIX + '.side == "sut"', lambda r: False),
            (PREFIX + ".element", lambda r: "element" in r)):
        equal(frames(vfs(), filter_, database=path), have(condition), filter_)
    for filter_ in PREFIX, PREFIX + ".kind and not " + PREFIX + ".noise":
        equal(frames(vfs(), filter_, "-2", database=path), frames(vfs(), filter_, database=path),
              filter_ + " in two passes")


SEVERITY = {"rpc": "error", "missing reply": "error", "status": "error", "malformed": "error",
            "time": "note", "retransmissions": "note", "disconnects": "note"}


def test_experts():
    """Expert infos by kind, and in the counts of tshark -z expert, where there is no tree."""
    path = two_sides(everything())
    out, _ = tshark(vfs(), "-Y", PREFIX, "-T", "fields", "-E", "occurrence=a", "-e", "frame.number",
                    "-e", PREFIX + ".kind", "-e", "_ws.expert.severity", "-e",
                    "_ws.expert.message", database=path)
    numbers = {"error": "8388608", "warn": "6291456", "note": "4194304", "chat": "2097152"}
    counts = collections.Counter()
    for line in out.splitlines():
        _, kinds, severities, texts = line.split("\t")
        want = [SEVERITY.get(kind, "warn") for kind in kinds.split(",")]
        if len(want) > 1:
            want[0] = "chat"  # the noise
        have = [s for s, t in zip(severities.split(","), texts.split(",Discrepancy"))]
        for severity in want:
            check(numbers[severity] in have, "%s: %s", kinds, have)
        counts.update(want)
    out, _ = tshark(vfs(), "-q", "-z", "expert,chat", database=path)
    listed = sum(int(line.split()[0]) for line in out.splitlines() if "Discrepancy:" in line)
    equal((listed, sum(counts.values())), (17, 17), "listed expert infos")
    for kind, name in ("status", "status"), ("missing reply", "missing_reply"):
        equal(frames(vfs(), "nfspair.expert.discrepancy." + name, database=path),
              frames(vfs(), PREFIX + '.kind == "%s"' % kind, database=path), name)


def test_same_capture():
    """Both servers in one capture: counterparts are links, also where a read filter renumbers."""
    ours = replies(vfs())
    findings = [Finding("value", [(REF, ours[i], ours[-i].frame), (SUT, ours[-i], ours[i].frame)],
                        field="f%d" % i) for i in (3, 8, 21)]
    findings.append(Finding("value", [(REF, ours[8], 2), (SUT, ours[8], 2)], field="both"))
    path = database("same.db", [Capture(REF, vfs()), Capture(SUT, vfs())], findings)
    want = wanted(path, vfs().name)
    # the query names the capture, which stands there twice
    want = {key: [dict(t) for t in dict.fromkeys(tuple(sorted(r.items())) for r in rows)]
            for key, rows in want.items()}
    equal(shown(vfs(), path), want, "same capture")
    for side in "ref", "sut":
        rows = shown(vfs(), path, "-o", "nfspair.discrepancies_side:" + side)
        equal({row["side"] for some in rows.values() for row in some}, {side}, side)
        equal(sum(map(len, rows.values())), 4, side)
    # with a read filter numbers change, and frame 2 is not there
    kept = {number: at for at, number in enumerate(frames(vfs(), "rpc", database=path), 1)}
    check(2 not in kept and len(kept) < 441, "the filter keeps %d", len(kept))

    def renumbered(row):
        number = int(row["counterpart"])
        return {**row, "counterpart": str(kept.get(number, number))}
    equal(shown(vfs(), path, "-2", "-R", "rpc"),
          {(kept[frame], xid): [renumbered(row) for row in rows]
           for (frame, xid), rows in want.items()}, "read filter")


def test_many_in_a_frame():
    """Twenty messages end in one frame; each has its own."""
    path = scratch / "many.pcap"
    capfile.write_pcap(path, cases.CASES["many_messages_in_one_segment"]().trace.packets())
    path.chmod(0o644)
    all_ = replies(path)
    frame = collections.Counter(m.frame for m in all_).most_common(1)[0][0]
    together = [m for m in all_ if m.frame == frame]
    check(len(together) == 20, "%d messages", len(together))
    findings = [Finding("value", [(REF, m, 7)], field="f%d.%d" % (i, j))
                for i, m in enumerate(together[::3]) for j in range(i)]
    findings += [
        # nobody has this XID, or this time
        Finding("value", [(REF, together[1]._replace(xid=99999), 7)], field="wrong XID"),
        Finding("value", [(REF, next(m for m in all_ if m.frame > frame)._replace(time=1), 7)],
                field="wrong time"),
        # times that are not known, and those that were rounded
        Finding("value", [(REF, all_[-1]._replace(time=None), 7)], field="no time"),
        Finding("value", [(REF, all_[-21]._replace(time=all_[-21].time + 999), 7)], field="rounded"),
    ]
    made = database("many.db", [Capture(REF, path), Capture(SUT, mem())], findings)
    want = {key: rows for key, rows in wanted(made, path.name).items()
            if not rows[0]["field"].startswith("wrong")}
    check(len(want) == 8, "%d messages", len(want))
    for options in (), ("-2",):
        equal(shown(path, made, *options), want, "many")
    crowd = [Finding("entry", [(REF, together[0], 7)], element=str(i), group=1)
             for i in range(MOST + 23)]
    made = database("crowd.db", [Capture(REF, path), Capture(SUT, mem())], crowd)
    rows = shown(path, made)[frame, together[0].xid]
    equal([r["element"] for r in rows], [str(i) for i in range(MOST)], "a crowd")
    out, _ = tshark(path, "-Y", PREFIX, "-T", "fields", "-e", PREFIX + ".more", database=made)
    equal(out.split(), ["23"], "more")


def test_other_database():
    """Each is refused with its reason, once; the rest is as without a database."""
    plain, _ = tshark(vfs(), "-V")
    good = two_sides(everything())
    later = two_sides(everything(), "later.db", version=8)
    shifted = scratch / "shifted.pcap"
    tree.run(tree.WITH_PLUGINS, "editcap", "-t", "0.001", str(vfs()), str(shifted))
    trace = scratch / "trace.db"
    tree.run(tree.NFSDIGEST, "ingest", "-o", str(trace), str(vfs()))
    (scratch / "empty.db").write_bytes(b"")
    (scratch / "text.db").write_text("this is no database, but it is long enough to be read\n" * 9)
    (scratch / "cut.db").write_bytes(good.read_bytes()[:9000])
    early = [f for f in everything()]
    for f in early:
        f.at = [(side, m._replace(frame=m.frame + 5000), other) for side, m, other in f.at]
    for name, words in (("none.db", "No such file"), ("empty.db", "not the result of a comparison"),
                        (trace, "not the result of a comparison"), ("text.db", "not a database"),
                        (later, "version 8, and this plugin reads version 7"), (".", "not a file"),
                        ("cut.db", "malformed"),
                        (two_sides(early, "early.db"), "nothing about the 441 frames"),
                        (two_sides(everything(), "strange.db", application_id=7),
                         "not the result of a comparison")):
        out, complaints = tshark(vfs(), "-V", database=scratch / name)
        check(len(complaints) == 1 and words in complaints[0] and str(scratch) in complaints[0],
              "%s: %s", name, complaints)
        check(out == plain and "Discrepancy" not in out, "%s: another tree", name)
    for options in (), ("-2",):  # said at the end, and behind the first pass
        out, complaints = tshark(shifted, *options, "-Y", PREFIX, database=good)
        check(out == "" and len(complaints) == 1 and "other captures than this" in complaints[0],
              "shifted: %s", complaints)
    # nothing was found in a capture that it knows
    quiet = [f for f in everything() if f.is_noise]
    for f in quiet:
        f.at = [a for a in f.at if a[0] == SUT]
    known = database("known.db", [Capture(REF, vfs(), frames=441), Capture(SUT, mem())], quiet)
    equal(tshark(vfs(), "-Y", PREFIX, database=known), ("", []), "known capture")
    nothing = two_sides([], "nothing.db")
    equal(tshark(vfs(), "-Y", PREFIX, database=nothing), ("", []), "no discrepancy at all")


def test_hostile():
    """Damaged and malicious databases do no harm: something is shown, or a reason is given."""
    plain, _ = tshark(vfs(), "-T", "fields", "-e", "frame.number", "-e", "nfspair.path")
    columns = ("-T", "fields", "-e", "frame.number", "-e", "nfspair.path")
    draw = random.Random(7)
    good = two_sides(everything()).read_bytes()
    bad = scratch / "bad.db"
    for _ in range(12):
        data = bytearray(good)
        for _ in range(draw.choice((1, 20, 400))):
            data[draw.randrange(100, len(data))] = draw.randrange(256)
        bad.write_bytes(data)
        out, _ = tshark(vfs(), *columns, database=bad)
        check(out == plain, "damaged: other columns")
    first = replies(vfs())[5]
    for what, statements in (
            ("an endless view", "DROP TABLE frame; CREATE VIEW frame AS WITH RECURSIVE n(x) AS"
             " (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT 1 AS side, 1 AS source, x AS frame,"
             " 1 AS xid, 1 AS discrepancy, 1 AS other_source, 1 AS other_frame, 1 AS time FROM n"),
            ("a frame before the first", "UPDATE frame SET frame = frame - 100000"),
            ("frames beyond all", "UPDATE frame SET frame = frame + 1000000000000"),
            ("no table discrepancy_group", "DROP TABLE discrepancy_group"),
            ("no column", "ALTER TABLE discrepancy RENAME COLUMN element TO other"),
            ("a huge text", "UPDATE discrepancy SET ref_text = hex(zeroblob(100000))")):
        bad.write_bytes(good)
        db = sqlite3.connect(bad)
        db.executescript(statements)
        db.close()
        out, complaints = tshark(vfs(), *columns, "-2", "-Y", "nfspair.latency or frame",
                                 database=bad)
        check(len(complaints) == 1, "%s: %s", what, complaints)
        equal(len(out.splitlines()), len(plain.splitlines()), what)
    strange = [Finding("value", [(REF, first, 2**40)], ref="a\tb\nc\\", sut="x" * 5000)]
    made = two_sides(strange, "strange.db")
    db = sqlite3.connect(made)
    db.execute("UPDATE discrepancy SET element = CAST(x'41ff42' AS TEXT)")
    db.execute("UPDATE discrepancy_group SET count = -1")
    db.commit()
    db.close()
    out, complaints = tshark(vfs(), "-Y", PREFIX, "-T", "fields", "-e", PREFIX + ".element", "-e",
                             PREFIX + ".sut", "-e", PREFIX + ".counterpart", "-e",
                             PREFIX + ".count", database=made)
    equal(out, "A\ufffdB\t%s\t\t%d\n" % ("x" * 4096, 2**64 - 1), "strange texts")
    equal(complaints, [], "strange texts")


def test_compare():
    """What nfsdigest compare itself makes of two captures: all of it, and nothing else."""
    sides = {}
    for name in vfs(), mem():
        sides[name] = scratch / (name.stem + ".db")
        tree.run(tree.NFSDIGEST, "ingest", "-o", str(sides[name]), str(name))
    result = scratch / "result.db"
    done = subprocess.run([tree.NFSDIGEST, "compare", str(sides[vfs()]), str(sides[mem()]), "-o",
                           str(result)], capture_output=True, text=True, check=False)
    check(done.returncode == 1, "compare: exit %d: %s", done.returncode, done.stderr)
    result.chmod(0o644)
    for side in vfs(), mem():
        want = wanted(result, side.name) or wanted(result, str(side))
        check(len(want) > 20, "%s: only %d", side.name, len(want))
        for options in (), ("-2",):
            equal(shown(side, result, *options), want, "%s %s" % (side.name, options))


def test_profile():
    """The colours of the profile, by the rule that each frame gets."""
    path = two_sides(everything())
    home = scratch / "config"
    shutil.copytree(PROFILE, home / "profiles" / "NFS Pair")
    for folder_, _, _ in os.walk(home):
        os.chmod(folder_, 0o755)
    os.environ["WIRESHARK_CONFIG_DIR"] = str(home)
    try:
        out, complaints = tshark(vfs(), "-C", "NFS Pair", "--color", "-T", "fields", "-e",
                                 "frame.number", "-e", "frame.coloring_rule.name", "-e",
                                 PREFIX + ".kind", database=path)
        columns, _ = tshark(vfs(), "-C", "NFS Pair", "-Y", PREFIX, database=path)
    finally:
        del os.environ["WIRESHARK_CONFIG_DIR"]
    equal(complaints, [], "colours")
    check("READ3res.resok.f1: ref 1, sut" in columns, "the profile's columns: %s", columns[:300])
    rules = collections.Counter()
    for line in out.splitlines():
        _, rule, kinds = line.split("\t")
        kinds = kinds.split(",") if kinds else []
        if any(SEVERITY.get(kind) == "error" for kind in kinds):
            equal(rule, "Discrepancy: the outcome", kinds)
        elif any(kind in ("value", "presence", "order", "entry", "pattern", "count")
                 for kind in kinds):
            equal(rule, "Discrepancy: what is in the reply", kinds)
        elif kinds:
            equal(rule, "Discrepancy: times, repetitions", kinds)
        rules[rule] += 1
    check(rules["Discrepancy: the outcome"] == 4 and rules["Reply"] and rules["Call"] and
          rules["Failed operation"] and rules["Other"], "rules: %s", rules)


TESTS = {name[5:]: function for name, function in list(globals().items())
         if name.startswith("test_")}


def main():
    global scratch
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", metavar="DIRECTORY")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    args = parser.parse_args()
    scratch = pathlib.Path(args.k or tempfile.mkdtemp())
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o755)
    failed = 0
    try:
        for name in args.tests or TESTS:
            try:
                TESTS[name]()
                print("ok " + name, flush=True)
            except (AssertionError, RuntimeError) as e:
                failed += 1
                print("FAILED %s: %s" % (name, str(e)[:3000]), flush=True)
    finally:
        if not args.k:
            shutil.rmtree(scratch)
    print("%d tests, %d failed" % (len(args.tests or TESTS), failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
