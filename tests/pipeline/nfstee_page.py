#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow timeout=200
"""The page of a shadow (nfstee shadow --html): well-formed by an HTML parser, with the figures that the
control socket has; in Chromium, from a file, it shows by itself what is new, runs no other script, and
says when the shadow has stopped writing.  Also narrow, dark, and without scripts.

    nfstee_page.py [--shots FOLDER]     environment: BUILD, NFSDIGEST; leaves pictures in FOLDER"""
import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "oracle"), str(SRC / "tests" / "gen")]

import browser as chromium  # noqa: E402
from expecting import expect, failures  # noqa: E402
from model_xdr import CREATE, GUARDED, LOOKUP, READ, WRITE  # noqa: E402
from page import Page  # noqa: E402
from tee_traffic import Shadow, attached, mounted, servers  # noqa: E402

HOSTILE = b"<img src=x onerror=globalThis.bad=1>&\"'\xff"


def has(what, got):
    expect(what, bool(got), True)


def files(client, root, count):
    for i in range(count):
        name = HOSTILE if i == 0 else b"f%d" % i
        _, made = client.nfs(CREATE, {"object": root, "name": name, "how": GUARDED, "settings": {"mode": 0o644}})
        client.nfs(WRITE, {"object": made["handle"], "offset": 0, "count": 3000, "stable": 2,
                           "data": [(3000, 66)]})


def read(client, root, name):
    handle = client.nfs(LOOKUP, {"object": root, "name": name})[1]["handle"]
    client.nfs(READ, {"object": handle, "offset": 0, "count": 3000})


def tables(page):
    """{caption: [[text of a cell]]}"""
    return {next(t.all("caption")).text(): [[c.text() for c in row.children]
                                            for row in next(t.all("tbody")).children]
            for t in page.root.all("table")}


def number(text):
    return int(text.replace(",", ""))


def parsed(path):
    page = Page(path.read_bytes())
    for line in page.wrong:
        expect(path.name, line, None)
    return page


def figures(page, told):
    """Each figure of the page is that of the control socket, or of the file for programs."""
    found = tables(page)
    tiles = {e.children[0].text(): e.children[1].text() for e in next(page.root.all("dl")).children}
    expect("requests", number(tiles["requests of clients"]), told["requests"]["all"])
    expect("share", tiles["compared"], "%.1f %%" % (
        100 * told["requests"]["compared"] / told["requests"]["all"]))
    expect("differ", number(tiles["pairs that differ"]), told["verdicts"]["differ"])
    for row in found["Requests"]:
        expect("requests, " + row[0], number(row[1]), told["requests"][row[0]])
    for row in found["Objects"]:
        expect("objects, " + row[0], number(row[1]), told["objects"][row[0]])
    rows = {row[0]: row[1:] for row in found["From a request to its answer"]}
    for wanted in told["latencies"]:
        got = rows.pop(wanted["procedure"])
        for at, side in (0, "reference"), (5, "sut"):
            expect("answers of " + wanted["procedure"], number(got[at]), wanted[side]["answers"])
            texts = got[at + 1:at + 5]
            units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
            for text, name in zip(texts, ("p50", "p90", "p99", "most")):
                match = re.fullmatch(r"([0-9.]+)([num]?s)", text)
                near = match and abs(float(match[1]) * units[match[2]] - wanted[side][name]) <= \
                    wanted[side][name] / 500 + 1
                if not near and not (text == "-" and not wanted[side]["answers"]):
                    expect("latency %s of %s" % (name, wanted["procedure"]), text, wanted[side][name])
    expect("further procedures", rows, {})
    return found


def differences(found, told):
    expect("rows of differences", len(found["Each field, with the first example"]), len(told["differences"]))
    row = found["Each field, with the first example"][0]
    expect("the difference", row[:2], ["READ", "READ3res.resok.eof"])
    expect("its path, escaped", row[4], "/<img src=x onerror=globalThis.bad=1>&\"'\\xff")
    expect("its values", row[5:7], ["yes", "no"])
    expect("its count", number(row[3]), told["differences"][0]["count"])


def as_it_works(tab, path, client, root):
    """What is new shows without another load of the page."""
    requests = "Number(document.querySelector('.tiles dd').textContent.replaceAll(',', ''))"
    before = tab.evaluate(requests)
    tab.evaluate("globalThis.mark = 5; document.querySelectorAll('.wide')[1].focus()")
    for i in range(30):
        read(client, root, b"f%d" % (1 + i % 4))
    for _ in range(100):
        if tab.evaluate(requests) >= before + 60:
            break
        time.sleep(0.2)
    has("60 further requests show", tab.evaluate(requests) >= before + 60)
    expect("no other load of the page", tab.evaluate("globalThis.mark"), 5)
    expect("scripts of names", tab.evaluate("globalThis.bad"), None)
    expect("elements of names", tab.evaluate("document.querySelectorAll('main img').length"), 0)
    has("what had the focus has it", tab.evaluate(
        "document.activeElement === document.querySelectorAll('.wide')[1]"))
    expect("its state", tab.evaluate("document.getElementById('state').className"), "note")
    expect("addresses", {urllib.parse.unquote(r.split("?")[0]) for r in tab.requests()},
           {"file://%s" % p for p in (path, path.with_suffix(".js"))})
    expect("tags of scripts left", tab.evaluate("document.querySelectorAll('head script').length"), 0)


def looks(browser, path, shots):
    for width, scheme in (1300, "light"), (800, "dark"), (390, "light"):
        tab = browser.open(path, scheme=scheme)
        tab.size(width, 900)
        has("%d wide: nothing beside the window" % width, tab.evaluate(
            "document.documentElement.scrollWidth <= innerWidth"))
        paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        expect("paper, " + scheme, paper, "rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 26)")
        if shots:
            height = tab.evaluate("document.documentElement.scrollHeight")
            tab.screenshot(str(pathlib.Path(shots) / ("tee-%d-%s.png" % (width, scheme))), width,
                           min(height, 6000))
        expect("complaints", tab.complaints(), [])
        tab.close()
    tab = browser.open(path, script=False)
    has("without scripts, there is a table", "f1" in tab.evaluate("document.body.innerText") or
        "READ" in tab.evaluate("document.body.innerText"))
    tab.close()


def with_browser(path, folder, client, root, shadow, shots):
    with chromium.Browser(pathlib.Path(folder) / "browser") as browser:
        tab = browser.open(path)
        as_it_works(tab, path, client, root)
        shadow.process.send_signal(signal.SIGSTOP)
        time.sleep(3)  # the last one is loaded
        tab.evaluate("{ const now = Date.now; Date.now = () => now() + 60000; }")
        state = "document.getElementById('state').className"
        for _ in range(50):
            if tab.evaluate(state) == "warning":
                break
            time.sleep(0.2)
        expect("the state of a shadow that is stopped", tab.evaluate(state), "warning")
        shadow.process.send_signal(signal.SIGCONT)
        code, totals, said = shadow.stop()
        expect("exit code", code, 1)
        for _ in range(50):
            if tab.evaluate("document.getElementById('state').textContent") == "The shadow has ended.":
                break
            time.sleep(0.2)
        expect("the state at the end", tab.evaluate("document.getElementById('state').textContent"),
               "The shadow has ended.")
        expect("complaints", tab.complaints(), [])
        looks(browser, path, shots)
    return totals, said


def a_page(shots):
    reference, sut = servers(sut=("--fault", "READ:eof:path=/a/<img*"))
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        (pathlib.Path(folder) / "browser").mkdir()
        client, root = mounted(relay)
        files(client, root, 5)
        path = pathlib.Path(folder) / "a page & more.html"  # an address with escapes
        with Shadow(folder, relay, sut, "--html", str(path)) as shadow:
            parsed(path)
            shadow.settle()
            for _ in range(3):
                read(client, root, HOSTILE)
            totals, said = with_browser(path, folder, client, root, shadow, shots)
            expect("said", said, "synchronized\n")
        told = json.loads(path.with_suffix(".json").read_text())
        for key in ("requests", "verdicts", "objects", "latencies"):
            expect("of the page and of the totals: " + key, told[key], totals[key])
        expect("it ended", told["ended"], True)
        columns = told["history_columns"]
        last = dict(zip(columns, told["history"][-1]))
        expect("the last point", [last[k] for k in ("requests", "compared", "differ")],
               [totals["requests"]["all"], totals["requests"]["compared"], totals["verdicts"]["differ"]])
        for side in "reference", "sut":
            everything = told["latencies"][0][side]
            expect("the last point, " + side, [last[side + "_answers"], last[side + "_seconds"] > 0],
                   [everything["answers"], True])
            mean = last[side + "_seconds"] / last[side + "_answers"] * 1e9
            expect("the mean, " + side, abs(mean - everything["mean"]) < 2, True)
        times = [row[0] for row in told["history"]]
        expect("times rise", times, sorted(times))
        differences(figures(parsed(path), told), told)
        expect("files", sorted(p.name for p in pathlib.Path(folder).iterdir() if "more" in p.name),
               ["a page & more." + end for end in ("html", "js", "json")])


def not_written():
    """A place that cannot be written ends it at the beginning, and later is only told."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        shadow = Shadow(folder, relay, sut, "--html", folder + "/none/tee.html")
        done = subprocess.run(shadow.command, capture_output=True, text=True, check=False, timeout=60)
        expect("a folder that is not there", (done.returncode, "--html: " in done.stderr), (4, True))
        place = pathlib.Path(folder) / "place"
        place.mkdir()
        with Shadow(folder, relay, sut, "--html", str(place / "tee.html"), log="second") as shadow:
            shutil.rmtree(place)
            time.sleep(5)
            place.mkdir()
            code, _, said = shadow.stop()
            expect("a folder that went: exit code", code, 0)
            expect("told once", said.count("the page: "), 1)
            has("the last one is written", (place / "tee.html").exists())


def main():
    shots = sys.argv[2] if sys.argv[1:2] == ["--shots"] else None
    a_page(shots)
    not_written()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
