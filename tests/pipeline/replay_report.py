#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""The report of a replay's run: its JSON is what schemas/replay.schema.json says, and holds all
that the text needs; its figures fit each other and those of the HdrHistogram files."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import audit_schema  # noqa: E402

sys.path.insert(0, str(pathlib.Path(os.environ["SRC"]) / "tests" / "oracle"))
from page import Page  # noqa: E402

TOOL = pathlib.Path(os.environ["BUILD"]) / "bin/tests/report_tool"
PROGRAM = pathlib.Path(os.environ["BUILD"]) / "bin/nfsreplay"
RULES = pathlib.Path(os.environ["SRC"]) / "schemas" / "rules"
SCHEMA = json.loads((pathlib.Path(os.environ["SRC"]) / "schemas/replay.schema.json").read_text())
NOTES = {"unanswered": " (no answer, or an RPC error)"}
LEFT_OUT = "skipped", "unplayable", "not played"
failures = []


def check(truth, *text):
    if not truth:
        failures.append(text)
        print("FAILED:", *text)


def tool(*arguments, code=0, program=TOOL):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    check(done.returncode == code, arguments, done.returncode, done.stderr)
    return done


def histogram(path):
    """Count, mean and most in ns of a percentile distribution in us, and its values by part."""
    text = path.read_text()
    mean = float(re.search(r"#\[Mean *= *([0-9.]+)", text)[1]) * 1000
    most, count = re.search(r"#\[Max *= *([0-9.]+), Total count *= *(\d+)\]", text).groups()
    rows = [line.split() for line in text.splitlines()[2:] if not line.startswith("#")]
    return int(count), mean, float(most) * 1000, [(float(r[1]), float(r[0]) * 1000) for r in rows]


def check_times(folder, name, times):
    path = folder / "latencies" / (name + ".hgrm")
    if not times["count"]:
        check(not path.exists(), path)
        return
    count, mean, most, rows = histogram(path)
    check(count == times["count"], name, "count")
    check(abs(mean - times["mean"]) <= 2, name, mean, times["mean"])
    check(abs(most - times["most"]) <= 1, name, most, times["most"])
    for part, key in ((0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p999")):
        below = [v for p, v in rows if p <= part]
        above = [v for p, v in rows if p >= part]
        check(below[-1] - 1 <= times[key] <= above[0] + 1, name, key, times[key])


def inner(row, prefix):
    return {key[len(prefix) + 1:]: row[key] for key in row if key.startswith(prefix + "_")}


def check_figures(folder, report):
    run = report["run"]
    check(sum(c["operations"] for c in report["classes"]) == run["operations"], "classes")
    check(sum(p["operations"] for p in report["procedures"]) == run["operations"], "procedures")
    recorded = sum(c["operations"] for c in report["classes"] if c["name"] == "as recorded")
    never = sum(c["operations"] for c in report["classes"]
                if c["name"] in ("unplayable", "not played"))
    check(never and sum(p["differ"] for p in report["procedures"])
          == run["operations"] - recorded - never, "differ")
    timed = sum(p["sent_count"] for p in report["procedures"])
    check(sum(i["done"] for i in report["intervals"]) == timed, "intervals")
    check(sum(i["busy"] for i in report["intervals"])
          == sum(p["sent_sum"] for p in report["procedures"]), "busy")
    late = {row["cause"]: row for row in report["late"]}
    check(sum(row["times_sum"] for row in late.values()) == 2 * late["all"]["times_sum"], "late")
    stalls = report["stalls"]
    dependency = late["dependency"]
    check(len(stalls) == 20 and stalls == sorted(stalls, key=lambda row: -row["waited"]), "stalls")
    check(max(row["longest"] for row in stalls) <= dependency["times_most"], "the longest stall")
    check(0 < sum(row["waited"] for row in stalls) <= dependency["times_sum"], "stalls in all")
    check(all(row["object"] and row["operations"] <= dependency["times_count"] for row in stalls), stalls)
    for p in report["procedures"]:
        for kind in ("trace", "sent", "planned"):
            check_times(folder, p["name"] + "." + kind, inner(p, kind))
    for cause, row in late.items():
        check_times(folder, "late." + cause, inner(row, "times"))
    mismatches = [json.loads(line) for line in
                  (folder / "mismatches.jsonl").read_text().splitlines()]
    others = sum(c["operations"] for c in report["classes"]
                 if c["name"] in LEFT_OUT)
    examples = run["operations"] - recorded - max(0, others - 100)
    check(len(mismatches) == examples, len(mismatches), examples)
    mismatches.sort(key=lambda line: line["class"] in LEFT_OUT)  # the others first
    for example, line in zip(report["examples"], mismatches):
        check(all(example[key] == line[key] for key in example if key in line), example, line)


def check_rules(report, text):
    """Rows of rules, whose last one is the sum of those that have none."""
    rules = report["rules"]
    check(0 < report["run"]["explained"] < sum(r["operations"] for r in rules), "explained")
    check(len(rules) == 100 and rules[-1]["rule"] == "further rules" and not rules[-1]["line"],
          "further rules")
    for r in rules[:-1]:
        lines = (RULES / (r["file"] + ".conf")).read_text().splitlines()
        check(lines[r["line"] - 1].split() == r["rule"].split("] ", 1)[1].split(), r)
        above = [line for line in lines[:r["line"]] if not line or line[0] in "#["]
        check(not r["reason"] or above[-1].lstrip("# ") in r["reason"] + " ", r["reason"])
        check(not r["reason"] or r["reason"].split()[0] in " ".join(above), r["reason"])
        check((r["text"] != "") == (r["procedure"] != ""), r)
        words = "%s (%s line %d)" % (r["rule"], r["file"], r["line"])
        check(re.search("^ +%d +%d  %s$" % (r["operations"], r["differ"], re.escape(words)), text,
                        re.M), r)
    check(any(r["reason"].startswith("it has no ISDIR where RFC 1813 lists INVAL") and
              "s3.3.21" in r["reason"] for r in rules), "a reason of two lines")
    check(any(r["file"] == "default" and not r["reason"] for r in rules), "no reason")
    check(re.search(r"^    under rules only +%d " % report["run"]["explained"], text, re.M), "total")


def check_text(report, text):
    for c in report["classes"]:
        if c["operations"]:
            check(re.search(r"^ *%s +%d " % (c["name"], c["operations"]), text, re.M), c)
    for p in report["procedures"]:
        check(len(re.findall(r"^  %s " % p["name"], text, re.M)) == 2, p["name"])
    planned = [sum(i["trace_" + of] for i in report["intervals"]) / report["run"]["planned"] for of in ("done", "busy")]
    found = re.search(r"the plan, with the latencies of the trace: (\d+) and ([\d.]+)$", text, re.M)
    check(found and abs(int(found[1]) - 1e9 * planned[0]) < 1 and abs(float(found[2]) - planned[1]) < 0.01, "fidelity")
    refused = report["run"]["refused"]
    check(refused and "\n  %d of the answers are RPC errors or cannot be read\n" % refused in text, "refused", refused)
    for row in report["late"]:
        check(re.search(r"^  %s +%d " % (row["cause"], row["times_count"]), text, re.M), row)
    for i, x in enumerate(report["stalls"]):
        found = re.search(r"^  (?:dump \d+, )?object %d +%d .* %d \(%s" % (x["object"], x["operations"], x["number"],
                                                                      x["procedure"]), text, re.M)
        check(bool(found) == (i < 10), x)
    for x in report["examples"]:
        if x["class"] == "skipped":
            check("skipped because of operation %d:" % (x["number"] // 2) in text, x)
    check("rules: ftnfsd" == text.splitlines()[1], "the rules")
    check("options: --order trace --udp" == text.splitlines()[2], "the options")
    check("interrupted" in text.splitlines()[3], "the note")
    check("\x1b" not in text, "a terminal's escape")


def check_refusals(folder, good):
    """Each line that is missing, and text that is no report."""
    path = folder / "bad.json"
    lines = good.splitlines(keepends=True)
    for i in (0, 1, 2):
        path.write_text("".join(lines[:i] + lines[i + 1:]))
        check("bad.json" in tool("show", path, code=3).stderr, "without line", i)
    for length in *range(3, len(lines), 9), len(lines) - 1:
        path.write_text("".join(lines[:length]))
        check("bad.json" in tool("show", path, code=3).stderr, "the first lines", length)
    for old, new in (('"operations": ', '"operations": -'), ('"operations": ', '"operations": x'),
                     ('"warm_up": ', '"warm": '), ('"version": 1', '"version": 2'),
                     ('"late": [', '"later": [')):
        path.write_text(good.replace(old, new, 1))
        check("bad.json" in tool("show", path, code=3).stderr, new)
    path.write_text(json.dumps(json.loads(good)))
    tool("show", path, code=3)
    tool("show", folder / "none.json", code=3)
    path = folder / "earlier.json"
    path.write_text(re.sub('"(options|refused)": ("[^"]*"|[0-9]+),? ?', "", good)) # a report of an earlier version
    text = tool("show", path).stdout
    check("--udp" not in text and "RPC errors" not in text, "an earlier report", text)


def make_page(top, *runs):
    path = top / "page.html"
    check(tool("report", "--html", path, *runs, program=PROGRAM).stdout == "", "text beside a page")
    data = path.read_bytes()
    page = Page(data)
    check(not page.wrong, page.wrong[:5])
    outside = re.findall(rb"https?://(?!www\.w3\.org/2000/svg\")", data)
    check(not outside and not page.tags()["script"], "the page refers to something", outside)
    check([p.name for p in top.glob("*page.html*")] == ["page.html"], "a temporary file")
    return page


def check_page(top, folder, report):
    """All figures of a table's kind that the report has, and names that are markup."""
    def rows(page, caption):
        table = next(t for t in page.root.all("table") if t.children[0].text().startswith(caption))
        body = next(table.all("tbody"))
        return [[c.text() for c in row.children] for row in body.children]

    page = make_page(top, folder)
    ends = [[c["name"] + NOTES.get(c["name"], ""), format(c["operations"], ",")] for c in report["classes"]
            if c["operations"]]
    ends.insert(1, ["under rules only", format(report["run"]["explained"], ",")])
    check([r[:2] for r in rows(page, "How operations ended")] == ends, "classes")
    check([r[:5:2] for r in rows(page, "Differences that rules allow")]
          == [[r["rule"], format(r["operations"], ","), r["reason"]] for r in report["rules"]],
          "rules")
    check([r[:4:3] for r in rows(page, "Operations by procedure")]
          == [[p["name"], format(p["differ"], ",")] for p in report["procedures"]], "procedures")
    check([[r[0], r[2]] for r in rows(page, "Lateness")]
          == [[r["cause"], format(r["times_count"], ",")] for r in report["late"]], "lateness")
    check([[r[0], r[1], r[5], r[6]] for r in rows(page, "Late by dependency")]
          == [[format(r["object"], ","), format(r["operations"], ","), format(r["number"], ","), r["procedure"]]
              for r in report["stalls"]], "stalls")
    check(len(rows(page, "Latencies")) == len(report["procedures"]), "latencies")
    check([r[0] for r in rows(page, "The first")]
          == [format(x["number"], ",") for x in report["examples"]], "examples")
    check("\n%d of the answers are RPC errors or cannot be read." % report["run"]["refused"]
          in page.root.text(), "refused")
    of = {c["name"]: c["operations"] for c in report["classes"]}
    every, left = report["run"]["operations"], of["unplayable"] + of["not played"]
    tiles = page.root.text()
    rate = sum(i["trace_done"] for i in report["intervals"]) * 1e9 / report["run"]["planned"]
    check(re.search(r"of the plan\s*%s" % format(round(rate), ","), tiles), "the rate of the plan", rate)
    check("%s of %s operations are not as recorded, and %s were not played." % tuple(
        format(n, ",") for n in (every - of["as recorded"] - left, every, left))
          in page.root.text(), "verdict")
    check(len(list(page.root.all("svg"))) == 1, "the plot")
    hostile = "<script src='x'>&\" onload=\"\u202e"
    bad = top / "hostile.json"
    text = (folder / "report.json").read_text()
    for name in ("dump", "target", "note", "what", "text", "rule", "reason", "file", "rules", "options", "pace", "cause", "name", "procedure"):
        room = hostile[:-1] if name in ("pace", "cause", "name", "procedure") else hostile
        text = re.sub('"%s": "[^"\\\\]*(\\\\.[^"\\\\]*)*"' % name,
                      lambda _, n=name, v=room: '"%s": %s' % (n, json.dumps(v)), text)
    bad.write_text(text)
    for runs in ((bad,), (bad, folder, bad)):
        words = make_page(top, *runs).root.text()
        check("<script src='x'>&\" onload=\"" in words and "\u202e" not in words, words[:400])
    for old, new in (("[0-9]+", str(2**63 - 1)), ("[0-9]+", "0")):
        bad.write_text(re.sub('("(?!version")[a-z_0-9]+": )%s' % old, lambda m, v=new: m[1] + v,
                              (folder / "report.json").read_text()))
        make_page(top, bad)
        make_page(top, bad, bad, folder)
    tool("report", "--html", top / "none" / "page.html", folder, program=PROGRAM, code=4)
    tool("report", "--html", top / "page.html", "--json", folder, program=PROGRAM, code=2)


def check_all_shown(top, folder):
    """What says where more is, only if there is more than the report has."""
    text = (folder / "report.json").read_text()
    shown = len(json.loads(text)["examples"])
    recorded = json.loads(text)["classes"][0]["operations"]
    path = top / "shown.json"
    for more in (0, 1):
        path.write_text(re.sub('"operations": [0-9]+', '"operations": %d' % (recorded + shown + more), text, count=1))
        for words in (tool("show", path).stdout, make_page(top, path).root.text()):
            check(("All that are not as recorded" in words, "more in mismatches.jsonl" in words)
                  == (not more, bool(more)), more, words[:2000])


def check_page_of_runs(top, folders, text):
    page = make_page(top, *folders)
    table = next(page.root.all("table"))
    got = [[c.text() for c in row.children] for row in next(table.all("tbody")).children]
    lines = [line for line in text.split("\n\n")[-1].splitlines() if " +-" in line]
    check(len(got) == len(lines), len(got), len(lines))
    for cells, line in zip(got, lines):
        amounts = re.findall(r"(\S+) \+-(\S+)", line)
        check([c.split(" ± ") for c in cells[2:4]] == [list(a) for a in amounts], cells, line)
        check(line.rstrip().endswith(cells[4]) and bool(cells[4]) == line.endswith("%"), line)
    check(len(list(page.root.all("details"))) == len(folders), "each run")
    many = make_page(top, *folders * 5)
    check(len(list(many.root.all("details"))) == 16 and "Of 4 further runs" in many.root.text(),
          "runs that are left out")


def check_conditions(top, runs):
    """Runs that differ only in their rules or options are two groups, which name them."""
    others = []
    for name, old, new in (("rules", "ftnfsd", ""), ("rules", "ftnfsd", "ganesha, ./own.conf"),
                           ("options", "--order trace --udp", ""), ("options", "--order trace --udp", "--udp")):
        other = top / ("other%d.json" % len(others))
        other.write_text(runs[1].read_text().replace('"%s": "%s"' % (name, old), '"%s": "%s"' % (name, new)))
        others.append(other)
    text = tool("runs", runs[0], *others).stdout
    heads = [line for line in text.splitlines() if line.startswith(("group ", "    "))]
    wanted = [["rules: ftnfsd", "options: --order trace --udp"], ["options: --order trace --udp"],
              ["rules: ganesha, ./own.conf", "options: --order trace --udp"], ["rules: ftnfsd"],
              ["rules: ftnfsd", "options: --udp"]]
    check(re.sub(r"group (\d): 1 run,[^\n]*", r"group \1", "\n".join(heads[:13]))
          == "\n".join("\n".join(["group %d" % (i + 1)] + ["    " + line for line in lines])
                       for i, lines in enumerate(wanted)), text)
    alone = "A group of one run has no spread"
    check(alone in text and "+-" not in text, "groups of one run", text)
    page = make_page(top, runs[0], *others)
    check(alone in page.root.text() and "±" not in page.root.text(), "groups of one run, the page")
    items = [item.text() for item in page.root.all("li")][:5]
    check([[part for part in re.split(", (?=rules: |options: )", item)[1:]] for item in items] == wanted, items)


def check_nothing(top, run):
    """There is no percentage of a median that is 0: the difference itself is shown."""
    good = run.read_text()
    paths = [top / "nothing.json", top / "late.json"]
    for path, ns in zip(paths, (0, 5000000)):
        path.write_text(re.sub('("cause": "own".*"times_p99": )[0-9]+', r"\g<1>%d" % ns, good)
                        .replace('"rules": "ftnfsd"', '"rules": "%d"' % ns))
    for runs, wanted in ((paths, "+5.000ms"), (paths[::-1], "-100.0 %")):
        text = tool("runs", runs[0], runs[0], runs[1], runs[1]).stdout
        line = next(line for line in text.splitlines() if line.startswith(" " * 15 + "own lateness"))
        check(line.endswith(" " + wanted), wanted, line)


def check_shares(top, run):
    """The difference of two shares is one of percentage points.  No line ends in a blank."""
    good = run.read_text()
    report, copies = json.loads(good), [run, run]
    operations = report["run"]["operations"]
    recorded = report["classes"][0]["operations"]
    line = '"name": "as recorded", "operations": %d ' % recorded
    check(good.count(line) == 1 and recorded > 7, recorded)
    fewer = top / "fewer.json"
    fewer.write_text(good.replace(line, '"name": "as recorded", "operations": %d ' % (recorded - 7))
                     .replace('"rules": "ftnfsd"', '"rules": ""'))
    text = tool("runs", *copies, fewer, fewer).stdout
    found = re.search(r"^ +as recorded, % .* ([-+][0-9.]+)$", text, re.M)
    check(found and float(found[1]) == round(-700 / operations, 2), operations, text)
    check(not re.search(r" $", text, re.M), "blanks at the end of a line")


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for seed in range(4):
            folder = top / ("run%d" % seed)
            text = tool("make", seed, folder).stdout
            good = (folder / "report.json").read_text()
            report = json.loads(good)
            for problem in audit_schema.errors(SCHEMA, report):
                check(False, problem)
            check_figures(folder, report)
            check_text(report, text)
            check_rules(report, text)
            check(tool("show", folder / "report.json").stdout == text, "the text of what was read")
            check(tool("json", folder / "report.json").stdout == good, "the JSON of what was read")
        check_refusals(top, good)
        check(tool("report", folder, program=PROGRAM).stdout == text, "report RUN")
        check(tool("report", "--json", folder, program=PROGRAM).stdout == good, "report --json RUN")
        tool("report", program=PROGRAM, code=2)
        tool("report", "--json", folder, folder, program=PROGRAM, code=2)
        tool("report", top, program=PROGRAM, code=3)
        tool("report", top / "bad.json", program=PROGRAM, code=3)
        runs = [top / ("run%d" % seed) / "report.json" for seed in range(4)]
        text = tool("runs", *runs).stdout
        folders = [run.parent for run in runs]
        check(tool("report", *folders, program=PROGRAM).stdout == text, "report RUN...")
        check("group 1: 2 runs" in text and "group 2: 2 runs" in text, text)
        check("spread of both groups" in text and "no spread" not in text, text)
        fast, slow = ([json.loads(r.read_text())["procedures"][0]["sent_p50"] for r in runs[i::2]]
                      for i in (0, 1))
        check_page(top, top / "run0", json.loads((top / "run0" / "report.json").read_text()))
        check_page_of_runs(top, folders, text)
        more = 100 * (sum(slow) / sum(fast) - 1)
        line = re.search(r"GETATTR +median .* (\+[0-9.]+) %$", text, re.M)
        check(line and abs(float(line[1]) - more) < 0.1, more, text)
        check(not re.search(r"CPU of the player.*%", text), "a difference of nothing")
        text = tool("runs", *runs[::2]).stdout
        check("group 1: 2 runs" in text and "group 2" not in text and "difference" not in text,
              text)
        check_conditions(top, runs[::2])
        check_shares(top, runs[0])
        check_nothing(top, runs[0])
        check_all_shown(top, top / "run0")
    sys.exit(1 if failures else 0)


main()
