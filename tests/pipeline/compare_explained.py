#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=120 asan
"""What nfsdigest compare says of differences: which side, for whom, with which arguments; no cause that
cannot be; the value that was expected; the gravest first; the causes; rules that accept them; what is new
since an earlier result. In text, JSON, page and annotations."""

import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ["SRC"])
sys.path.insert(0, str(SRC / "tests/gen"))
from comparing import PROGRAM, check, compare, failures, run  # noqa: E402
from made_side import ROOT, Side, attributes  # noqa: E402
from messages import *  # noqa: E402,F403

FILE, ACCES, EXIST = handle(2), 13, 17
MODE, NO_MODE = u32(1, 0o640), u32(0)
SEVERITIES = ["outcome", "replies", "attributes", "limits", "performance"]


def create(side, name, how, mode, given):
    side.ask(CREATE, opaque(ROOT) + opaque(name) + u32(how) + mode + u32(0, 0, 0, 0, 0),
             u32(OK) + some(opaque(handle(len(name) + 20))) + some(attributes(len(name) + 20, mode=given))
             + u32(0, 0))


def listing(side, names):
    out = u32(OK, 0) + bytes(8)
    for i, name in enumerate(names):
        out += u32(1) + u64(100 + i) + opaque(name) + u64(i + 1)
    side.ask(READDIR, opaque(ROOT) + u64(0, 0) + u32(4096), out + u32(0, 1))


def play(sut, later=False):
    """Replies of the reference, or of the |sut|, which differs in each way once.  |later|: the limits do not
    differ any more, and one more status does."""
    side = Side()
    limits = 0 if later else sut
    side.ask(LOOKUP, lookup_args(ROOT, "f"), u32(OK) + opaque(FILE) + some(attributes(2)) + u32(0))
    for _ in range(3):  # frequent and no grave matter
        side.ask(FSINFO, opaque(ROOT), u32(OK, 0) + u32(*[4096 * (1 + limits)] * 7) + u64(1 << 40)
                 + u32(0, 1, 0x1b))
    side.ask(REMOVE, remove_args(ROOT, "g"), u32(OK if sut else ACCES) + u32(0, 0), uid=1001)
    side.ask(GETATTR, opaque(FILE), u32(OK) + attributes(2, nlink=1 + sut))
    side.ask(GETATTR, opaque(ROOT), u32(OK) + attributes(1, kind=DIR, nlink=2))
    side.ask(GETATTR, opaque(ROOT), u32(OK) + attributes(1, kind=DIR, nlink=2 + sut))
    create(side, "mode", 0, MODE, 0o640 if sut else 0o600)
    create(side, "nomode", 1, NO_MODE, 0o644 if sut else 0o600)
    listing(side, ["same", "\u00fc1", "caf\u00e9"] if sut else ["same", "\u00f61", "cafe\u0301"])
    side.ask(GETATTR, opaque(FILE), u32(OK) + attributes(2 + 4242 * sut, nlink=1 + sut))
    side.ask(WRITE, write_args(FILE, 8192, b"abcd"), u32(OK) + u32(0, 0) + u32(4, 2) + u64(0x1111))
    side.ask(WRITE, write_args(FILE, 8192, b"efgh"),
             u32(OK) + u32(0, 0) + u32(4, 2) + u64(0x2222 if sut else 0x1111))
    side.ask(REMOVE, remove_args(ROOT, "h"), u32(EXIST if sut and later else OK) + u32(0, 0))
    return side


def said(groups, field, difference=None):
    found = [g for g in groups if g["field"].endswith(field) and difference in (None, g["difference"])]
    check(found, f"no group of {field}")
    return found


# What play() does: the cause, its severity, discrepancies and groups.
MADE = {("status-refused", "outcome"): (1, 1), ("entry", "outcome"): (2, 2),
        ("entry-encoding", "outcome"): (2, 2), ("write-verifier", "outcome"): (1, 1),
        ("nlink-file", "attributes"): (2, 1), ("nlink-directory", "attributes"): (1, 1),
        ("mode-bits", "attributes"): (1, 1), ("exclusive-mode", "attributes"): (1, 1),
        ("fileid", "attributes"): (1, 1), ("limits", "limits"): (21, 7)}


def by_cause(groups, causes):
    """One row for each cause that was made, the gravest first, of these the most frequent."""
    found = {(c["name"], c["severity"]): (c["count"], c["groups"]) for c in causes}
    check(found == MADE and len(causes) == len(MADE), f"causes: {found}, not {MADE}")
    order = [(SEVERITIES.index(c["severity"]), -c["count"]) for c in causes]
    check(order == sorted(order) and [c["id"] for c in causes] == list(range(1, len(causes) + 1)),
          f"order of causes: {causes}")
    for cause in causes:
        ids = [g["id"] for g in groups if g["cause_id"] == cause["id"]]
        first = cause["first_group"]
        check(ids == list(range(first, first + cause["groups"])), f"groups of {cause}: {ids}")
        check(all(g["cause"] == cause["name"] for g in groups if g["id"] in ids), f"cause {cause}")


def rules_of(text):
    """The parts of a suggested file: (section, comment and rule), in its order."""
    section, parts, now = None, [], []
    for line in text.splitlines():
        if line.startswith("["):
            section, now = line, []
        elif line.startswith("#"):
            now.append(line)
        elif line:
            parts.append((section, "\n".join([*now, line])))
        if not line:
            now = []
    return parts


def name(group):
    return group["operation"], group["field"], group["difference"], group["circumstance"], group["count"]


def suggested(folder, out, groups):
    """The suggested rules accept exactly the groups that they are for: all together, and each one alone."""
    text = run("compare", "--suggest-rules", out, code=1).stdout
    rules, mine = rules_of(text), folder / "mine.conf"
    check(len(rules) == len(groups) and text.count("# Reason to accept it:\n") == len(rules),
          f"{len(rules)} rules for {len(groups)} groups")
    mine.write_text(text)
    report = compare("-r", mine, out, code=0)
    check(not report["groups"] and not report["causes"] and report["verdict"] == "alike"
          and report["totals"][0]["accepted"] == sum(g["count"] for g in groups), f"all: {report['totals']}")
    seen = set()
    for section, rule in rules:
        mine.write_text(f"{section}\n{rule}\n")
        left = {name(g) for g in compare("-r", mine, out, code=1)["groups"]}
        gone = [g for g in groups if name(g) not in left]
        check(len(gone) == 1 and len(left) == len(groups) - 1, f"accepts {gone}: {rule}")
        for g in gone:
            seen.add(g["id"])
            first = g["examples"][0]
            check(rule.startswith(f"# group {g['id']}: {g['count']} of ") and g["reason"][:200] in rule
                  and f"(frame {first['ref_frame']} of " in rule
                  and f"(frame {first['sut_frame']} of " in rule, f"comment: {rule}")
    check(len(seen) == len(groups), f"{len(seen)} of {len(groups)} groups were accepted")
    run("compare", "--suggest-rules", "--json", out, code=2, error="prints rules instead of a report")


def since(folder, out, groups, pair, turned):
    """Beside the earlier result |out|: nothing is new, or what the generator changed."""
    same = compare("--baseline", out, out, code=0)
    check(same["baseline"][0]["unchanged"] == len(groups) and not same["new"] and not same["gone"]
          and [(u["count"], u["was"]) for u in same["unchanged"]] == [(g["count"],) * 2 for g in groups],
          f"the same: {same['baseline']}")
    found = compare("--baseline", out, *pair, code=1)
    new, = [g for g in found["groups"] if g["id"] in [n["id"] for n in found["new"]]]
    words = ["NFS3_OK", "NFS3ERR_EXIST"]
    check((new["field"], new["difference"]) == ("REMOVE3res.status", ", ".join(words[::-1] if turned else words)),
          f"new: {new}")
    check({name(g)[1:] for g in found["gone"]} == {name(g)[1:] for g in groups if g["cause"] == "limits"}
          and len(found["gone"]) == 7, f"gone: {found['gone']}")
    check(found["baseline"][0] == {"database": str(out), "same_rules": True, "new": 1, "gone": 7,
                                   "unchanged": len(groups) - 7}, f"baseline: {found['baseline']}")
    text = run("compare", "--baseline", out, *pair, code=1).stdout
    check(f"since {out}: 1; unchanged: {len(groups) - 7}; gone: 7\n" in text
          and text.count("operations that lead to the first example") == 1, text)
    # a rule accepts what is new: then it is not
    run("compare", "-r", "linux-knfsd", "--baseline", out, *pair, code=1)
    (folder / "new.conf").write_text("[fields]\nREMOVE3res.status = ignored if ref=NFS3ERR_EXIST\n"
                                     "REMOVE3res.status = ignored if sut=NFS3ERR_EXIST\n")
    text = run("compare", "-r", folder / "new.conf", "--baseline", out, *pair, code=0).stdout
    check("it was made under other rules" in text, text)
    run("compare", "--baseline", pair[0], *pair, code=3, error="not the result of a comparison")
    run("compare", "--baseline", out, "-o", out, *pair, code=2, error="would replace the baseline")


def on_terminal(environment, *arguments):
    """What the program writes to a terminal."""
    master, slave = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")}
    with subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=slave, stderr=slave,
                          env={**env, **environment}) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                more = os.read(master, 65536)
            except OSError:  # Linux: all writers are gone
                break
            if not more:
                break
            text += more
        process.wait()
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def colours(out):
    """Only on terminals that have them, and not against NO_COLOR; the words are the same."""
    plain = run("compare", out, code=1).stdout
    coloured = on_terminal({"TERM": "xterm"}, "compare", out)
    check("\x1b" not in plain and re.sub(r"\x1b\[\d+m", "", coloured) == plain, "colours change words")
    check("\x1b[31mThe two servers answer differently.\x1b[0m\nThis does not say which one is wrong;" in coloured
          and "\x1b[31moutcome" in coloured, coloured[:1000])
    check(on_terminal({"TERM": "xterm", "NO_COLOR": ""}, "compare", out) == coloured, "an empty NO_COLOR")
    for environment in {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"}, {}:
        check(on_terminal(environment, "compare", out) == plain, f"colours with {environment}")
    database = run("compare", "--json", out, code=1)
    database = json.loads(database.stdout)["sides"][0]["database"]
    for command, code, mark in ("check", 0, "\x1b[32m"), ("lint", None, "\x1b[1m"):
        plain = subprocess.run([PROGRAM, command, database], capture_output=True, text=True, check=False)
        coloured = on_terminal({"TERM": "xterm"}, command, database)
        check(code in (None, plain.returncode) and "\x1b" not in plain.stdout and mark in coloured
              and re.sub(r"\x1b\[\d+m", "", coloured) == plain.stdout, f"{command}: {coloured[:300]}")
    check(on_terminal({"TERM": "xterm"}, "compare", "nowhere").startswith("\x1b[31mnfsdigest:\x1b[0m "),
          "no colour of an error")


def explained(folder, one, other, turned, later):
    out = folder / "out.db"
    made = compare("-o", out, one, other, code=1)
    groups, causes = made["groups"], made["causes"]
    ref, sut = f"ref ({one.name})", f"sut ({other.name})"
    lets, refuses = (ref, sut) if turned else (sut, ref)
    removed = f"{lets} lets uid 1001 do REMOVE /x/g, and {refuses} refuses it with NFS3ERR_ACCES"

    order = [SEVERITIES.index(g["severity"]) for g in groups]
    check(order == sorted(order) and set(order) >= {0, 2, 3}, f"order: {order}")
    for a, b in zip(groups, groups[1:]):
        check(a["cause_id"] != b["cause_id"] or a["severity"] != b["severity"]
              or a["count"] >= b["count"], f"count: {a}, {b}")
    by_cause(groups, causes)
    suggested(folder, out, groups)
    if not turned:
        colours(out)
    since(folder, out, groups, later, turned)
    status, = said(groups, "REMOVE3res.status")
    check(status["reason"] == removed and status["examples"][0]["path"] == "/x/g",
          f"REMOVE: {status}")

    links = sorted((g["cause"], g["count"]) for g in said(groups, ".nlink"))
    check(links == [("nlink-directory", 1), ("nlink-file", 2)], f"links: {links}")
    modes = {g["cause"]: g["examples"][0]["path"] for g in said(groups, "obj_attributes.mode")}
    check(modes == {"mode-bits": "/x/mode", "exclusive-mode": "/x/nomode"}, f"modes: {modes}")

    names = {(g["difference"], g["cause"]): {e["element"] for e in g["examples"]}
             for g in said(groups, "reply.entries")}
    mine, theirs = ("\u00fc1", "\u00f61") if turned else ("\u00f61", "\u00fc1")
    check(names.get(("only ref", "entry")) == {mine} and names.get(("only sut", "entry")) == {theirs}
          and {c for _, c in names} == {"entry", "entry-encoding"}, f"names: {names}")

    which, value = ("ref", "4244") if turned else ("sut", "4244")
    number, = [e for g in said(groups, ".fileid") for e in g["examples"] if g["kind"] == "pattern"][:1]
    check(number[which] == f"{value} (2 expected)", f"fileid: {number}")
    verifier = said(groups, "resok.verf")[0]
    check(verifier["examples"][0][which] == "0000000000002222 (0000000000001111 expected)"
          and verifier["reason"].startswith("only the write verifier of " + lets), f"verifier: {verifier}")

    for text in (run("compare", out, code=1).stdout, page(folder, out)):
        check(removed in text and "/x/nomode" in text and "4244 (2 expected)" in text, text[:2000])
    run("report", "--annotate", folder / "a.pcapng", out, one.with_suffix(".pcap"),
        other.with_suffix(".pcap"), code=0)
    for side in "ref", "sut":
        check(removed.encode() in (folder / f"a-{side}.pcapng").read_bytes(), f"annotations of {side}")


def page(folder, out):
    run("report", "--html", folder / "page.html", out, code=0)
    return (folder / "page.html").read_text().replace("&#39;", "'")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        sides = [play(sut).ingest(folder / f"{name}.db", run)
                 for name, sut in (("one", 0), ("other", 1))]
        later = [play(sut, True).ingest(folder / f"later-{name}.db", run)
                 for name, sut in (("one", 0), ("other", 1))]
        explained(folder, *sides, False, later)
        explained(folder, *sides[::-1], True, later[::-1])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
