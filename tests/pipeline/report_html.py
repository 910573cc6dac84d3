#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""The HTML report of a comparison: well-formed, complete and accessible by an HTML parser, with what
the result says by SQL, also where that is hostile or huge; in Chromium with its filters, by keyboard,
without a script, light, dark and printed.

    report_html.py --shots FOLDER      also leaves pictures there, for those who have eyes"""
import json
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "oracle")]

import browser as chromium  # noqa: E402
from page import UNSEEN, Page  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
GROUPS_MAX, PAGE_MAX = 500, 12 << 20
breaches = []
checks = 0


def expect(good, *words):
    global checks
    checks += 1
    if not good:
        breaches.append(" ".join(str(w) for w in words)[:1500])


def run(*arguments, **how):
    done = subprocess.run([NFSDIGEST, *map(str, arguments)], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False, **how)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def report(database, to):
    code, out, said = run("report", database, "--html", to)
    expect(code == 0 and out == b"", "report", database, code, out[:200], said)
    page = Page(to.read_bytes())
    for line in page.wrong[:20]:
        expect(False, database.name, line)
    return page


def rows_of(table):
    body = next(table.all("tbody"))
    return [[c for c in row.children] for row in body.children if row.tag == "tr"]


def number(text):
    return int(text.replace(",", ""))


# --- what the result says

def check_table(db, page):
    rows = rows_of(page.ids["groups"])
    wanted = db.execute("SELECT id, count, compared, operation, field, ifnull(class, 'none'),"
                        " (SELECT name FROM code WHERE domain = 'kind' AND value = kind),"
                        " difference || reason, CASE is_noise WHEN 1 THEN 'noise' ELSE '' END"
                        " FROM discrepancy_group ORDER BY id").fetchall()
    expect(len(rows) == len(wanted), "groups:", len(rows), "not", len(wanted))
    for row, want in zip(rows, wanted):
        got = [c.text() for c in row]
        expect([number(t) for t in got[:3]] + got[3:] == list(want), "group", got, want)


def check_causes(db, page):
    """The table of causes against sums of groups."""
    causes = {}
    for group in db.execute("SELECT * FROM discrepancy_group ORDER BY id"):
        causes.setdefault(group["cause"] or group["id"], []).append(group)
    rows = rows_of(page.ids["causes"])
    expect(len(rows) == len(causes) < db.execute("SELECT count(*) FROM discrepancy_group").fetchone()[0],
           "causes:", len(rows), "not", len(causes))
    severities = dict(db.execute("SELECT value, name FROM code WHERE domain = 'severity'"))
    order = []
    for (name, groups), row in zip(causes.items(), rows):
        got = [c.text() for c in row]
        ids = [g["id"] for g in groups]
        expect(ids == list(range(ids[0], ids[0] + len(ids))), "groups of a cause", name, ids)
        gravest, count = min(g["severity"] for g in groups), sum(g["count"] for g in groups)
        order.append((gravest, -count))
        said = [number(got[1]), *got[4:]]
        want = [count, severities[gravest],
                str(ids[0]) if len(ids) == 1 else "%d to %d" % (ids[0], ids[-1])]
        expect(said == want, "cause", name, said, "not", want)
        expect(set(got[3].split(", ")) == {g["operation"] for g in groups}, "procedures", name, got[3])
        expect(groups[0]["reason"] in got[2] and (groups[0]["cause"] or groups[0]["field"]) in got[2],
               "explanation", name, got[2])
    expect(order == sorted(order), "order of causes", order)


def check_summary(db, page):
    tiles = {e.children[0].text(): number(e.children[1].text())
             for e in next(page.root.all("dl")).children}
    for name, query in {
            "aligned operations": "SELECT count(*) FROM alignment WHERE kind = 1",
            "matched objects": "SELECT count(*) FROM object",
            "continued listings, reference": "SELECT count(ref) FROM alignment WHERE kind = 3",
            "continued listings, system under test": "SELECT count(sut) FROM alignment WHERE kind = 3",
            "operations, reference only": "SELECT count(*) FROM one_sided WHERE side = 'ref'"
                                  " AND reason <> ''",
            "operations, system under test only": "SELECT count(*) FROM one_sided WHERE side = 'sut'"
                                  " AND reason <> ''",
            "causes of discrepancies": "SELECT count(DISTINCT ifnull(cause, id)) FROM discrepancy_group",
            "groups of discrepancies": "SELECT count(*) FROM discrepancy_group",
            "discrepancies": "SELECT count(*) FROM discrepancy",
            "discrepancies that are noise": "SELECT count(*) FROM discrepancy d JOIN discrepancy_group c"
                              " ON c.id = d.discrepancy_group WHERE is_noise",
            "comparisons withheld": "SELECT sum(count) FROM withheld",
            "unsynchronized objects": "SELECT count(DISTINCT object) FROM unsynchronized",
    }.items():
        want = db.execute(query).fetchone()[0] or 0
        expect(tiles.get(name) == want, name, tiles.get(name), "not", want)
    text = page.root.text()
    for (name,) in db.execute("SELECT name FROM source UNION SELECT database FROM side"):
        expect(name in text, name, "is not on the page")
    for (offset,) in db.execute("SELECT clock_offset FROM side"):
        expect(re.search(r"[+-]%s" % re.escape(("%.9g" % (abs(offset) / 1e6))[:4]), text)
               or re.search(r"[+-][0-9.]+(us|ns|s)", text), "clock", offset)
    for name, text_of in db.execute("SELECT name, text FROM rule_file"):
        shown = [d for d in page.root.all("details") if next(d.all("summary")).text().startswith(name)]
        expect(shown and text_of.strip() in next(shown[0].all("pre")).text(), "rules", name)


def check_replies(db, example, discrepancy, values):
    """Both replies beside each other: what differs is marked and nothing else, what the discrepancy
    speaks of says what the result says."""
    table = next(example.all("table", "replies"), None)
    if table is None:
        return 0
    found = 0
    for row in rows_of(table)[1:]:
        texts = [c.text() for c in row[1:3]]
        marks = [any(c.all("mark")) for c in row[1:3]]
        mark = row[3].text()
        same = texts[0] == texts[1]
        expect(not same or not any(marks) or "…" in texts[0] or "bytes" in texts[0],
               "marked, and the same:", texts)
        expect(same or mark, "differs without a mark:", row[0].text(), texts)
        if mark == "this discrepancy":
            found += 1
            if row[0].text().endswith(discrepancy["field"].split(".", 1)[-1]):
                got = [None if t.startswith("not ") else t for t in texts]
                expect(all(g == v or t == "not in this reply" and "DIR" in discrepancy["field"]
                           for g, v, t in zip(got, values, texts)),
                       "values", got, "not", values, discrepancy["field"])
        expect(not re.match("group", mark) or any(row[3].all("a")), "no link:", mark)
    return found


def check_groups(db, page):
    found = 0
    for group in db.execute("SELECT * FROM discrepancy_group ORDER BY id").fetchall():
        section = page.ids.get("g%d" % group["id"])
        if section is None:
            expect(False, "no group", group["id"])
            continue
        text = section.text()
        expect(group["reason"] in text and group["difference"] in text, "group", group["id"], text)
        rule = db.execute("SELECT text FROM rule WHERE id = ?", (group["rule"],)).fetchone()
        expect(not rule or rule[0] in text, "rule", group["id"])
        steps = db.execute("SELECT * FROM step WHERE discrepancy_group = ? ORDER BY example, number",
                           (group["id"],)).fetchall()
        examples = [d for d in section.children if d.tag == "details"]
        expect(len(examples) == len({s["example"] for s in steps}), "examples of", group["id"])
        for number_of, example in enumerate(examples, 1):
            own = [s for s in steps if s["example"] == number_of]
            d = db.execute("SELECT d.*, c.field FROM discrepancy d JOIN discrepancy_group c ON c.id ="
                           " d.discrepancy_group WHERE d.id = ?", (own[0]["discrepancy"],)).fetchone()
            text = example.text()
            for side, operation in (1, d["ref"]), (2, d["sut"]):
                o = db.execute("SELECT * FROM operation WHERE side = ? AND id = ?",
                               (side, operation)).fetchone()
                for what in ("call", "reply") if o else ():
                    frame = o[what + "_frame"]
                    expect(frame is None or "%s in frame %d" % (what, frame) in text, "frame", frame)
            values = [d["ref_text"], d["sut_text"]]
            for value in values:
                expect(value is None or value[:150] in text, "value", value, "of", group["id"])
            found += check_replies(db, example, d, values) > 0
            captions = [c.text() for c in example.all("caption")]
            expect("Operations that lead to it" in captions, "no steps", group["id"])
            table = [t for t in example.all("table") if t.children[0].text() == "Operations that lead to it"]
            expect(len(rows_of(table[0])) == len(own), "steps of", group["id"], number_of)
    expect(found >= 20, "only", found, "examples have their field marked in the replies")


def check_latency(db, page):
    drawing = next(page.root.all("svg", "latency"))
    names = [t.text() for t in drawing.all("text")]
    for name, pairs in db.execute("SELECT operation, pairs FROM performance LIMIT 60"):
        expect(name in names, name, "is not drawn")
        expect(any(r[0].text() == name and number(r[1].text()) == pairs for t in
                   page.root.all("table") for r in rows_of(t) if len(r) == 13), "latency", name)
    expect(len(list(page.root.all("svg", "np"))) == 4, "distributions")
    expect(len(rows_of(page.ids["slowest"])) ==
           db.execute("SELECT count(*) FROM slowest").fetchone()[0], "slowest")


# --- hostile, huge and broken results

HOSTILE = ["<script>window.pwned=1</script>", "\"'><img src=x onerror=window.pwned=1>",
           "</textarea></style></script></pre><b>", "a\x01\x1b[31m\x7f\n\r\tb", "&lt;&amp;&#39;",
           "\u202e\ufffe\uffff\U0001f600é", UNSEEN, "x" * 100_000, "é" * 60_000, "--><!-- ]]>"]
COLUMNS = {"cause": ["name", "title"], "discrepancy_group": ["class", "operation", "field", "difference", "cause", "reason"],
           "discrepancy": ["element", "ref_text", "sut_text"], "object": ["path"],
           "operation": ["name", "client", "server", "path", "path2", "status"],
           "source": ["name"], "side": ["database", "server"], "rule": ["text"],
           "rule_file": ["name", "text"], "code": ["name", "text"], "meta": ["value"],
           "performance": ["operation"]}


def make_hostile(good, path):
    shutil.copy(good, path)
    db = sqlite3.connect(path)
    texts = HOSTILE + [b"\xff\xfe\xc0\xaf<i>\x80", b"\xed\xa0\x80"]
    for table, columns in COLUMNS.items():
        keys = [r[1] for r in db.execute("PRAGMA table_info(%s)" % table) if r[5]]
        rows = db.execute("SELECT %s FROM %s LIMIT 600" % (", ".join(keys), table)).fetchall()
        for i, row in enumerate(rows):
            for k, column in enumerate(columns):
                text = texts[(i * 3 + k) % len(texts)]
                db.execute("UPDATE %s SET %s = CAST(? AS TEXT) WHERE %s" %
                           (table, column, " AND ".join("%s = ?" % key for key in keys)),
                           (text, *row))
    # bodies that are cut, too long, or anything
    db.execute("UPDATE operation SET result = randomblob(300), result_length = 300 WHERE id % 3 = 0")
    db.execute("UPDATE operation SET result = substr(result, 1, 50) WHERE id % 3 = 1")
    db.execute("UPDATE operation SET arguments = randomblob(90) WHERE id % 2 = 0")
    db.execute("UPDATE operation SET procedure = 4711, reply_frame = NULL WHERE id % 7 = 0")
    db.commit()
    db.close()


def make_huge(good, path):
    """3,000 groups with 100,000 discrepancies."""
    shutil.copy(good, path)
    db = sqlite3.connect(path)
    db.execute("CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1"
               " FROM c WHERE i < 100000) SELECT i FROM c")
    groups = db.execute("SELECT max(id) FROM discrepancy_group").fetchone()[0]
    db.execute("INSERT INTO discrepancy SELECT (SELECT max(id) FROM discrepancy) + i,"
               " ?1 + 1 + i % 3000, d.alignment, d.ref, d.sut, d.object, i, d.ref_text, d.sut_text,"
               " NULL, NULL, NULL FROM n JOIN discrepancy d ON d.id = (SELECT discrepancy FROM step"
               " WHERE discrepancy_group = 3 LIMIT 1)", (groups,))
    db.execute("INSERT INTO discrepancy_group SELECT ?1 + i, kind, class, program, version, procedure,"
               " operation, field, difference || i, rule, cause, reason, 33, 100, NULL, NULL, 0, severity, cause_id, circumstance"
               " FROM n JOIN discrepancy_group ON id = 3 WHERE i <= 3000", (groups,))
    db.execute("INSERT INTO step SELECT ?1 + i, s.example, s.number, s.discrepancy, s.ref, s.sut"
               " FROM n JOIN step s ON s.discrepancy_group = 3 WHERE i <= 3000", (groups,))
    db.commit()
    db.close()


def check_hostile(folder, good, plain):
    path = folder / "hostile.db"
    make_hostile(good, path)
    page = report(path, folder / "hostile.html")
    expect(page.tags()["script"] == 1 and not {"img", "i", "textarea"} & set(page.tags()),
           "tags of texts:", page.tags())
    expect(page.tags()["section"] == plain.tags()["section"], "groups are lost")
    expect(page.size < PAGE_MAX and any(page.root.all("span", "cut")), "long texts", page.size)
    text = page.root.text()
    for c in UNSEEN:
        expect("".join("\\x%02x" % b for b in c.encode()) in text, "not shown: %r" % c)


def check_rules(folder, good):
    """What the page leaves out of rules, it says."""
    path = folder / "rules.db"
    shutil.copy(good, path)
    db = sqlite3.connect(path)
    lines = "".join("# line %06d\n" % i for i in range(20_000))
    files = db.execute("SELECT count(*) FROM rule_file").fetchone()[0]
    db.execute("INSERT INTO rule_file SELECT max(id) + 1, 'long.conf', 'x', ? FROM rule_file", (lines,))
    for i in range(24 - files):
        db.execute("INSERT INTO rule_file SELECT max(id) + 1, ?, 'x', '# short' FROM rule_file",
                   ("f%d.conf" % i,))
    db.commit()
    text = report(path, folder / "rules.html").root.text()
    expect("The first 200,000 characters of 280,000; all of them: SELECT text FROM rule_file WHERE"
           " id = %d" % (files + 1) in text, "a long rule file")
    last = 20 - files - 2
    expect(text.count("The first 200,000") == 1, "short rule files are said to be cut")
    expect("# line 014284" in text and "# line 014287" not in text, "the long text")
    expect("5 further files are in the database only" in text and "f%d.conf" % last in text
           and "f%d.conf" % (last + 1) not in text, "many rule files")
    db.execute("DELETE FROM rule_file WHERE id > 20")
    db.commit()
    db.close()
    expect("further files" not in report(path, folder / "rules.html").root.text(), "20 rule files")


def check_verdict(folder, good):
    """Alike is what was compared, and nothing else."""
    path = folder / "verdict.db"
    words = {"alike": "The two servers answer alike.", "nothing": "Nothing was compared.",
             "hardly": "All compared answers are alike, but most were not compared.",
             "unlike": "The two servers answer differently.",
             "uncertain": "The two servers answer alike, except for uncertain differences.",
             "unheard": "All compared answers are alike, but a capture lacks replies that the other one"
                        " has.",
             "silent": "Only one server answered some of the calls, and the captures do not show why."}
    lack = "INSERT INTO withheld SELECT value, 100003, 3, 1, '', 1, NULL, NULL FROM code" \
        " WHERE domain = 'withheld' AND name = '%s'"
    quiet = ("UPDATE discrepancy_group SET is_noise = 1;"
             "UPDATE meta SET value = '0' WHERE key = 'uncertain'")
    for verdict, *changes in (
            ("unlike",), ("alike", quiet),
            ("uncertain", quiet, "UPDATE meta SET value = '3' WHERE key = 'uncertain'"),
            ("unheard", quiet, lack % "reply lost"), ("unheard", quiet, lack % "capture ended"),
            ("silent", quiet, lack % "not asked again"), ("silent", quiet, lack % "unheard"),
            ("unlike", lack % "unheard"),
            ("nothing", quiet, "UPDATE alignment SET kind = 2, sut = NULL WHERE kind = 1"),
            ("nothing", quiet, "UPDATE compared SET equal = 0, different = 0"),
            ("hardly", quiet, "UPDATE alignment SET kind = 2, sut = NULL WHERE kind = 1 AND id % 5"),
            ("hardly", quiet, "UPDATE alignment SET kind = 2, ref = NULL WHERE kind = 1 AND id % 5"),
            ("alike", quiet, "UPDATE alignment SET kind = 2, ref = NULL WHERE kind = 1 AND id % 5 = 0"),
            ("hardly", quiet, "UPDATE compared SET equal = equal / 1000, different = 0"),
            ("unlike", "UPDATE alignment SET kind = 2, sut = NULL WHERE kind = 1 AND id % 5")):
        shutil.copy(good, path)
        db = sqlite3.connect(path)
        for change in changes:
            db.executescript(change)
        db.commit()
        db.close()
        said = [p.text() for p in report(path, folder / "verdict.html").root.all("p", "verdict")]
        expect(said == [words[verdict]], verdict, changes, said)


def check_huge(folder, good):
    path = folder / "huge.db"
    make_huge(good, path)
    begin = time.monotonic()
    page = report(path, folder / "huge.html")
    spent = time.monotonic() - begin
    expect(page.size < PAGE_MAX, "the page has", page.size, "bytes")
    expect(spent < 60, "it took", spent)
    expect(len(rows_of(page.ids["groups"])) == GROUPS_MAX, "groups", len(rows_of(page.ids["groups"])))
    expect("this page shows the first 500" in page.root.text() and
           "SELECT * FROM discrepancies" in page.root.text(), "it does not say what is left out")
    return page.size


def check_errors(folder, good):
    expect(run("report", good)[0] == 2, "nothing asked for")
    expect(run("report", "--html", folder / "x.html")[0] == 2, "no result")
    expect(run("report", good, good, "--html", folder / "x.html")[0] == 2, "two results")
    (folder / "text").write_text("no database\n" * 200)
    sqlite3.connect(folder / "other.db").execute("CREATE TABLE t (x)").connection.close()
    for bad in "text", "other.db", "missing.db":
        code, _, said = run("report", folder / bad, "--html", folder / "x.html")
        expect(code == 3 and bad in said, bad, code, said)
    damaged = bytearray(good.read_bytes())
    damaged[8192:len(damaged) // 2] = os.urandom(len(damaged) // 2 - 8192)
    (folder / "damaged.db").write_bytes(damaged)
    code, _, said = run("report", folder / "damaged.db", "--html", folder / "x.html")
    expect(code == 3, "damaged", code, said)
    expect(run("report", good, "--html", folder / "none" / "x.html")[0] == 4, "no folder")
    expect(run("report", good, "--html", "/dev/full")[0] == 4, "disk full")
    limit = 100_000
    code, _, said = run("report", good, "--html", folder / "x.html", preexec_fn=lambda: (
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))))
    expect(code in (4, -25), "limit on file size", code, said)
    left = [p.name for p in folder.iterdir() if p.name.startswith("x.html") and code == 4]
    expect(not left, "left behind:", left)


# --- in the browser

SHOWN = """({rows: Array.from(document.querySelectorAll("#groups tbody tr")).filter(r => !r.hidden)
    .map(r => Number(r.dataset.id)),
  sections: Array.from(document.querySelectorAll("section.group")).filter(s => s.checkVisibility())
    .map(s => Number(s.dataset.id)),
  says: document.getElementById("shown").value, hash: decodeURIComponent(location.hash)})"""


def check_shown(db, page, condition, *words):
    got = page.evaluate(SHOWN)
    want = [r[0] for r in db.execute("SELECT id FROM discrepancy_group WHERE " + condition)]
    count, every, groups = db.execute("SELECT (SELECT ifnull(sum(count), 0) FROM discrepancy_group WHERE %s),"
                                      " sum(count), count(*) FROM discrepancy_group" % condition).fetchone()
    expect(sorted(got["rows"]) == want and sorted(got["sections"]) == want, words, got, want)
    says = "{:,} of {:,} groups, {:,} of {:,} discrepancies".format(len(want), groups, count, every)
    expect(got["says"] == says, words, got["says"], "not", says)
    return got


def check_fragments(db, browser, path):
    """Filters that the address names: condition in SQL; neither none nor all groups fit."""
    groups = db.execute("SELECT count(*) FROM discrepancy_group").fetchone()[0]
    for fragment, condition in {
            "class=time": "class = 'time'",
            "cause=9": "cause = 'atime'",
            "class=-": "class IS NULL",
            "procedure=NFS%20CREATE": "operation = 'NFS CREATE'",
            "kind=presence": "kind = 5",
            "class=mode&procedure=NFS+ACCESS": "class = 'mode' AND operation = 'NFS ACCESS'",
            "noise=only": "is_noise",
            "noise=hide": "NOT is_noise",
            "q=DIRPLUS3RES": "field LIKE 'READDIRPLUS3res%'",
    }.items():
        page = browser.open(path, "#filter?" + fragment)
        got = check_shown(db, page, condition, fragment)
        if fragment != "q=DIRPLUS3RES":
            expect(0 < len(got["rows"]) < groups, fragment, "fits", len(got["rows"]))
        expect(not page.complaints(), fragment, page.complaints())
        page.close()


def check_addresses(db, browser, path):
    """What stands in an address may be anything: an order that is none is no order."""
    orders = {"2": "count, id", "-2": "count DESC, id"}
    heads = 9
    page = browser.open(path, "#filter?sort=1.5")
    expect(page.evaluate("document.querySelectorAll('#groups th button').length") == 9, "heads")
    for sort in ("1.5", "2", "-1.5", "-2", "0", "-0", "10", "-10", "99", "1e0", "0x2", "+2", " 2",
                 "2 ", "NaN", "Infinity", "length", "__proto__", "2,3", "\u0662"):
        page.evaluate("new Promise(done => { location.hash = %s; setTimeout(done, 30) })" %
                      json.dumps("#filter?sort=" + urllib.parse.quote(sort)))
        want = [r[0] for r in db.execute("SELECT id FROM discrepancy_group ORDER BY " + orders.get(sort, "id"))]
        got = check_shown(db, page, "1", "sort", sort)
        expect(got["rows"] == want, "order", repr(sort), got["rows"][:9])
        expect(page.evaluate("document.querySelectorAll('#groups [aria-sort]').length") ==
               (sort in orders), "aria-sort", repr(sort))
        expect(not page.complaints(), repr(sort), page.complaints())
    page.close()
    for words in "class=nonesuch&kind=%00&noise=maybe&&=x", "class=%E0%A4%A":
        page = browser.open(path, "#filter?" + words)
        expect(page.evaluate("document.getElementById('shown').value") and not page.complaints(),
               words, page.complaints())
        page.close()


def check_hands(db, browser, path):
    """Filters and order by keyboard and mouse."""
    page = browser.open(path)
    check_shown(db, page, "1", "at first")
    page.evaluate("document.activeElement.blur()")
    page.key("Tab", code=9)
    expect(page.evaluate("document.activeElement.className") == "skip", "the first one by Tab")
    names = []
    for _ in range(120):  # past the links of all causes
        page.key("Tab", code=9)
        names.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    for name in "f-class", "f-procedure", "f-kind", "f-noise", "f-q", "count":
        expect(name in names, name, "cannot be reached by keyboard:", names)
    page.evaluate("document.getElementById('f-q').focus()")
    for letter in "SetAttr3":
        page.key(letter, letter)
    check_shown(db, page, "field LIKE '%setattr3%' OR operation = 'no'", "typed")
    page.evaluate("document.querySelectorAll('#groups th button')[4].focus()")
    page.key("Enter", "\r", 13)
    got = page.evaluate(SHOWN)
    expect(got["hash"] == "#filter?q=SetAttr3&sort=5", "address", got["hash"])
    page.evaluate("document.querySelector('#filters button[type=reset]').click()")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    check_shown(db, page, "1", "reset")
    for column, order in (2, "count, id"), (-2, "count DESC, id"), (5, "field, id"):
        button = "document.querySelectorAll('#groups th button')[%d]" % (abs(column) - 1)
        page.evaluate(button + ".click()")
        want = [r[0] for r in db.execute("SELECT id FROM discrepancy_group ORDER BY " + order)]
        expect(page.evaluate(SHOWN)["rows"] == want, "order", column)
        expect(page.evaluate(button + ".parentElement.getAttribute('aria-sort')") ==
               ("ascending" if column > 0 else "descending"), "aria-sort", column)
    page.evaluate("""(() => { const s = document.getElementById("f-kind"); s.value = "status";
        s.dispatchEvent(new Event("input", {bubbles: true})) })()""")
    check_shown(db, page, "kind = 3", "chosen")
    page.evaluate("document.querySelectorAll('#causes tbody tr')[8].querySelector('a').click()")
    page.evaluate("new Promise(done => setTimeout(done, 50))")
    check_shown(db, page, "cause = 'atime'", "a cause")
    expect(not page.complaints(), page.complaints())
    expect(page.requests() == ["file://%s" % path], "requests", page.requests())
    page.close()


def check_looks(browser, path):
    page = browser.open(path, script=False)
    expect(page.evaluate("Array.from(document.querySelectorAll('section.group'))"
                         ".every(s => s.checkVisibility())"), "groups without a script")
    expect(not page.evaluate("document.getElementById('filters').checkVisibility()"),
           "filters without a script")
    colours = []
    for scheme in "light", "dark":
        page.media(scheme)
        colours.append(page.evaluate("['body', 'a', 'mark', 'tr.found'].map(s => { const c ="
                                     " getComputedStyle(document.querySelector(s));"
                                     " return c.color + c.backgroundColor })"))
    expect(all(x != y for x, y in zip(*colours)), "light and dark", colours)
    hidden = ("Array.from(document.querySelectorAll('section.group details:not([open]) table'))"
              ".filter(t => !t.checkVisibility()).length")
    expect(page.evaluate(hidden) > 10, "nothing is folded")
    page.media("light", "print")
    expect(page.evaluate(hidden) == 0, "folded on paper:", page.evaluate(hidden))
    page.media("light")
    for width in 1300, 420:
        page.size(width, 900)
        wide = page.evaluate("document.documentElement.scrollWidth")
        expect(wide <= width, "the page is wider than a window of", width, wide)
    expect(not page.complaints(), page.complaints())
    page.close()


def check_alarms(browser, path):
    """The console is heard, and no script of a text runs."""
    page = browser.open(path)
    expect(page.evaluate("typeof window.pwned") == "undefined", "a text ran")
    expect(not page.complaints(), path.name, page.complaints())
    page.evaluate("console.error('heard')")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=pwned=2>')")
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    expect(page.evaluate("typeof window.pwned") == "undefined", "the policy lets a script run")
    expect(any("heard" in c for c in page.complaints()), "the console is not heard")
    page.close()


def take_shots(browser, path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in "light", "dark":
        page = browser.open(path, "#filter?class=mode", scheme=scheme)
        page.screenshot(folder / ("compare-report-%s.png" % scheme), 1180, 1500)
        page.close()


def main():
    shots = sys.argv[sys.argv.index("--shots") + 1] if "--shots" in sys.argv else None
    with tempfile.TemporaryDirectory(prefix="report.") as scratch:
        folder = pathlib.Path(scratch)
        good, page_file = folder / "result.db", folder / "result.html"
        for name, capture in ("ref", "pair-knfsd"), ("sut", "pair-ganesha-vfs"):
            code, _, said = run("ingest", "-q", "-o", folder / (name + ".db"),
                                CAPTURES / (capture + ".pcap.zst"))
            expect(code == 0, "ingest", said)
        code, _, said = run("compare", "-o", good, folder / "ref.db", folder / "sut.db")
        expect(code == 1, "compare", code, said)
        db = sqlite3.connect(good)
        db.execute("UPDATE discrepancy_group SET is_noise = 1, noise_count = 3, noise_compared = 9"
                   " WHERE id IN (2, 9)")
        db.commit()
        db.row_factory = sqlite3.Row
        page = report(good, page_file)
        check_table(db, page)
        check_causes(db, page)
        check_summary(db, page)
        check_groups(db, page)
        check_latency(db, page)
        expect(run("report", good, "--html", "-")[1] == page_file.read_bytes(), "not the same twice")
        check_hostile(folder, good, page)
        check_rules(folder, good)
        check_verdict(folder, good)
        huge = check_huge(folder, good)
        check_errors(folder, good)
        with chromium.Browser(folder) as browser:
            check_fragments(db, browser, page_file)
            check_addresses(db, browser, page_file)
            check_hands(db, browser, page_file)
            check_looks(browser, page_file)
            check_alarms(browser, folder / "hostile.html")
            if shots:
                take_shots(browser, page_file, pathlib.Path(shots))
        print(json.dumps({"page": page.size, "huge": huge}))
    for line in breaches[:60]:
        print("FAILED", line)
    print("%d checks, %d failed" % (checks, len(breaches)))
    return 1 if breaches or checks < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
