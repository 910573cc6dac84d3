#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""The audit's three forms of report, its redaction, its exit codes, and that it stands alone.
Environment: NFSDIGEST, SRC."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit_schema  # noqa: E402
from audit_lib import anonymizer  # noqa: E402
import audit_twin as t  # noqa: E402

SOURCE = pathlib.Path(os.environ["SRC"])
SECRETS = [t.MACHINE, t.OTHER_HOST, t.CLIENT, t.SERVER, t.THIRD, t.CLIENT6, t.SERVER6, "projects",
           "old-ledger", "salaries", "Dear auditors", t.COMMENT, t.INTERFACE, str(t.STAMP),
           str(t.UID), "51e6a7c3"] + [n for n in t.NAMES if len(n) > 3]
FORMS = [], ["--json"], ["--html"]
breaches = []


def expect(good, *words):
    if not good:
        breaches.append(" ".join(str(w) for w in words))


def run(*arguments):
    done = subprocess.run([os.environ["NFSDIGEST"], "audit", *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Page(html.parser.HTMLParser):
    """Whether tags are closed in order, and which there are."""
    void = {"meta", "link", "br", "img"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.wrong = [], set(), []
        self.feed(text)
        self.wrong += self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.wrong += ["%s=%s" % a for a in attributes if a[0] in ("src", "href", "onload")]
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("/" + tag)


def check_forms(original, twin, code, schema):
    for form in FORMS:
        for redact in [], ["--redact"]:
            got, out, error = run(*form, *redact, original, twin)
            expect(got == code, form, redact, "exit code", got, error)
            first = json.loads(out)["warning"] if form == ["--json"] else out[out.find("<body>") + 1:][:3000]
            expect(("Keep it as private" in first) == (not redact), form, redact, "no warning")
            if redact:
                for secret in SECRETS:
                    expect(secret not in out, form, "redacted, and says", secret)
                expect(not re.search(r"original frame \d|\"original_frame\"", out), form,
                       "redacted, and names frames of the original")
            if form == ["--json"]:
                for line in audit_schema.errors(schema, json.loads(out)):
                    expect(False, "schema:", line)
            if form == ["--html"]:
                page = Page(out)
                expect(not page.wrong and "table" in page.tags and "script" not in page.tags, form,
                       page.wrong)
                expect("prefers-color-scheme" in out, "no dark page")
            if not form:
                expect(out.startswith("This report"), "first line:", out[:80])


def check_schema_bites(schema, original, twin):
    """The schema and its reader find what is wrong."""
    report = json.loads(run("--json", original, twin)[1])
    harms = [lambda r: r.pop("clean"), lambda r: r.update(more=1),
             lambda r: r["search"][0].update(hits=-1), lambda r: r["names"].update(lengths="so"),
             lambda r: r.update(version=2), lambda r: r["findings"].append({"kind": "leak"})]
    for i, harm in enumerate(harms):
        changed = json.loads(json.dumps(report))
        harm(changed)
        expect(list(audit_schema.errors(schema, changed)), "harm", i, "passes the schema")


def check_policy(folder, original):
    world = t.World(True, lengths=True)
    world.write(folder / "lengths.pcapng")
    expect(run(original, folder / "lengths.pcapng")[0] == 1, "lengths kept under public")
    code, out, _ = run("--policy", "lab", original, folder / "lengths.pcapng")
    expect(code == 1 and "made under another policy" in out, "public as lab", out[-2000:])
    world.comment = t.stated("lab")
    world.write(folder / "lengths.pcapng")
    code, out, _ = run(original, folder / "lengths.pcapng")
    expect(code == 0, "lengths kept, lab in the comment", out[-2000:])
    code, out, _ = run("--policy", "lab", original, folder / "lengths.pcapng")
    expect(code == 0 and "as the command line says" in out, "lengths kept under lab", out[-2000:])
    expect(run("--policy", "strict", original, folder / "lengths.pcapng")[0] == 1, "strict")
    check_stated(folder, original, world)


def check_stated(folder, original, world):
    """The policy that the file states, by all that it says, without the key."""
    path, own = folder / "lengths.pcapng", folder / "own.conf"
    good, words = t.stated("lab"), "SHA-256 that the file states is not that"
    text = anonymizer.checked("policy", "show", "lab").replace("name = lab", "name = ours", 1)
    own.write_text(text)
    stated = t.stated(str(own))
    for comment, options, said in (
            (good[:-1] + ("0" if good[-1] != "0" else "1"), (), words),
            (good[:-1] + ("0" if good[-1] != "0" else "1"), ("--policy", "lab"), words),
            (stated, ("--policy", own), ""),
            (stated, (), "give its file with --policy"),
            (stated.replace("ours", "../x"), (), "give its file with --policy"),
            (stated.replace("ours", "lab"), (), words),
            (good.replace("lab", "ours"), ("--policy", own), words)):
        world.comment = comment
        world.write(path)
        code, out, error = run(*options, original, path)
        expect(code == (1 if said else 0) and said in " ".join(out.split()), "stated", comment,
               options, code, error, out[-1500:])
    own.write_text(text.replace("\nmode = keep\n", "\nmode = owner\n"))
    world.comment = stated
    world.write(path)
    out = run("--policy", own, original, path)[1]
    expect(words in " ".join(out.split()), "another policy of the name", out[-1500:])


def check_allow(folder, original):
    world = t.World(True, {("uid", t.UID): None, ("host", t.MACHINE): None}, always=True)
    world.write(folder / "some.pcapng")
    expect(run(original, folder / "some.pcapng")[0] == 1, "uid and host left")
    (folder / "allow").write_text("# these may\nuid %d\ntext %s\n" % (t.UID, t.MACHINE))
    code, out, _ = run("--allow", folder / "allow", original, folder / "some.pcapng")
    expect(code == 0, "allowed uid and host", out[-3000:])
    for line in "uid", "uid x", "nothing 7", "uid -1":
        (folder / "allow").write_text("#\n" + line + "\n")
        code, _, error = run("--allow", folder / "allow", original, folder / "some.pcapng")
        expect(code == 2 and f"nfsdigest: {folder}/allow:2: " in error, "allow-list line", line, code, error)
    code, _, error = run("--allow", folder / "none", original, original)
    expect(code == 3, "no allow-list", code, error)


def check_bad_input(folder, original, twin):
    data = twin.read_bytes()
    (folder / "cut.pcapng").write_bytes(data[:len(data) // 2])
    (folder / "text").write_text("no capture\n" * 9)
    (folder / "empty").write_bytes(b"")
    expect(run(original)[0] == 2 and run()[0] == 2, "usage")
    expect(run("--json", "--html", original, twin)[0] == 2, "two forms")
    expect(run("--sample", "x", original, twin)[0] == 2, "sample x")
    code, out, error = run("--policy", "nothing", original, twin)
    expect(code == 2 and not out and "nothing" in error, "a policy that there is not", code, error)
    os.mkfifo(folder / "pipe")
    for bad in "-", folder / "pipe":
        for files in (bad, twin), (original, bad):
            code, out, error = run(*files)
            expect(code == 2 and f"{bad}: it is read more than once" in error, "a pipe", files, code, error)
    for bad in "text", "empty", "missing":
        for files in (folder / bad, twin), (original, folder / bad):
            code, out, error = run(*files)
            expect(code == 3 and not out and str(folder / bad) in error, files, code, error)
    code, _, error = run(original, folder / "cut.pcapng")
    expect(code in (1, 3), "a cut file", code, error)
    code, _, error = run(folder / "cut.pcapng", folder / "cut.pcapng")
    expect(code == 1, "a cut file against itself", code, error)
    with open("/dev/full", "w", encoding="utf-8") as full:
        code = subprocess.run([os.environ["NFSDIGEST"], "audit", original, twin], stdout=full,
                              stderr=subprocess.DEVNULL, check=False).returncode
    expect(code == 4, "disk full", code)


def check_sampling(original, twin):
    """With few patterns a class the report says so, and the same ones are taken each time."""
    code, out, _ = run("--sample", "16", "--json", original, twin)
    report = json.loads(out)
    rows = {r["class"]: r for r in report["search"]}
    expect(code == 0 and rows["handle"]["sampled"] and rows["handle"]["searched"] <= 16,
           "sampling", code, rows["handle"])
    expect(report["mappings_sampled"], "mappings are not sampled")
    expect(run("--sample", "16", "--json", original, twin)[1] == out, "another sample")


def check_independence():
    """No header, source or symbol of engine/anon in the audit, but in what makes all again, which the
    rest only starts."""
    files = [f for f in SOURCE.glob("postproc/audit/*.[ch]") if not f.name.startswith("recompute")]
    expect(len(files) > 20, "where is the audit?")
    names = {m for f in SOURCE.glob("engine/anon/*.h")
             for m in re.findall(r"^[a-z].*?\b([a-z0-9]+_[a-z0-9_]+)\(", f.read_text(), re.M)}
    for file in files:
        text = file.read_text()
        expect(not re.search(r"#\s*include\s*[<\"](\.\./)*((engine/)?anon/|(audit/)?recompute)",
                             text), file, "includes from anon/")
        used = names & set(re.findall(r"\b([a-z0-9]+_[a-z0-9_]+)\(", text))
        expect(not used, file, "calls", used)
    expect(len(names) > 20 or not list(SOURCE.glob("engine/anon/*.h")), "no functions in anon?")


def main():
    schema = json.loads((SOURCE / "schemas/audit.schema.json").read_text())
    with tempfile.TemporaryDirectory(prefix="audit.") as scratch:
        folder = pathlib.Path(scratch)
        original, twin, bad = (folder / n for n in ("original.pcapng", "twin.pcapng", "bad.pcapng"))
        t.World(False).write(original)
        t.World(True).write(twin)
        world = t.World(True, dict.fromkeys(("name", "path", "host", "uid", "gid", "stamp", "handle",
                                             "address", "data", "owner", "cookie", "fileid")))
        world.comment += "\n%s\n%s" % (t.COMMENT, t.INTERFACE)
        world.write(bad)
        check_forms(original, twin, 0, schema)
        check_forms(original, bad, 1, schema)
        check_forms(original, original, 1, schema)
        check_schema_bites(schema, original, bad)
        check_policy(folder, original)
        check_allow(folder, original)
        check_bad_input(folder, original, twin)
        check_sampling(original, twin)
    check_independence()
    for line in breaches:
        print(line[:2000])
    print("%d wrong" % len(breaches))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
