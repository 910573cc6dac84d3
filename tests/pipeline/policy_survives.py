#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow long=all timeout=3600
"""What survives anonymization is what the documents say: "nfsdigest policy survives" over committed
captures, and made ones with messages of every kind, under every built-in policy.  Every field of which something stays belongs to a class for
which nfsdigest-policy(5) has the reason and docs/releasing.md the topic, and the list itself is what
stock tshark sees in both files.

    policy_survives.py [all]
"""
import collections
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "oracle"), str(SRC / "tests" / "gen")]

import anonymizer  # noqa: E402
import craft_marked  # noqa: E402
import tshark  # noqa: E402

CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
POLICIES = "public", "lab", "strict"
SAMPLE = "vfs-libnfs-all22.pcap", "knfsd-nlm-locks.pcap", "load-ganesha-mem.pcap"
ORACLE = SAMPLE[:2]  # stock tshark reads all messages of these

# what messages are made of: nothing else may stand there, unless the value was hidden as something
# else (verifiers in times, bits of modes)
UNTOUCHED = {"header", "xid", "size", "offset", "count", "type", "status", "boolean", "enum", "none",
             "port", "transport", "packet interval"}

# of the RPC header, whose fields no table names; replies have no program for the messages' list
HEADER = {"RPC xid": "rpc.xid", "RPC uid": "rpc.auth.uid", "RPC gid": "rpc.auth.gid",
          "RPC gids": "rpc.auth.gid", "RPC stamp": "rpc.auth.stamp",
          "RPC machine": "rpc.auth.machinename", "RPC direction": "rpc.msgtyp",
          "RPC rpc version": "rpc.version", "RPC reply state": "rpc.replystat"}
FILTERS = """
    rpc.xid rpc.auth.uid rpc.auth.gid rpc.auth.stamp rpc.auth.machinename rpc.msgtyp rpc.version
    rpc.replystat nfs.fhandle nfs.name nfs.status3 nfs.fattr3.type nfs.fattr3.nlink nfs.fattr3.uid
    nfs.fattr3.gid nfs.fattr3.size nfs.fattr3.used nfs.fattr3.fsid nfs.fattr3.fileid nfs.atime.sec
    nfs.atime.nsec nfs.mtime.sec nfs.mtime.nsec nfs.ctime.sec nfs.ctime.nsec nfs.mode3 nfs.offset3
    nfs.count3 nfs.verifier nfs.cookie3 nfs.data nfs.write.stable nfs.write.committed
    nfs.wcc_attr.size nfs.set_it nfs.attributes_follow nfs.handle_follow nfs.createmode
    nfs.specdata1 nfs.specdata2 nfs.access_rights nfs.dircount nfs.maxcount
    """.split()

wrong = []


def check(good, *words):
    if not good:
        wrong.append(" ".join(map(str, words)))


def is_chance(count, expected):
    """Whether so many or more are no wonder where so many are expected (Poisson)."""
    return 1 - sum(math.exp(-expected) * expected**i / math.factorial(i) for i in range(count)) > 1e-6


def survives(original, anonymized, *options):
    return json.loads(anonymizer.checked("policy", "survives", "--json", *options, original,
                                         anonymized))


# --- the documents

def roff(text):
    return None if text == "\\-" else text.replace("\\(dq", '"').replace("\\(aq", "'").replace(
        "\\-", "-")


def documented():
    """(class -> (with keep, otherwise) of the manual page, topics of releasing.md)"""
    page = (SRC / "man" / "nfsdigest-policy.5").read_text()
    part = re.search(r"^\.SH WHAT STAYS\n(.*?)^\.SH ", page, re.M | re.S)[1]
    rows = re.findall(r"^([a-z_ ]+)\|T\{\n(.*)\nT\}\|T\{\n(.*)\nT\}$", part, re.M)
    text = (SRC / "docs" / "releasing.md").read_text()
    part = re.search(r"^## What no policy hides\n(.*?)^## ", text, re.M | re.S)[1]
    topics = {t.rstrip(".") for t in re.findall(r"^- \*\*(.*?)\*\*", part, re.M)}
    return {name: (roff(kept), roff(special)) for name, kept, special in rows}, topics


def test_classes(found, page, topics):
    said = {c["class"]: (c["kept"], c["special"]) for c in found["classes"]}
    for name in sorted(set(said) | set(page)):
        check(said.get(name) == page.get(name), "class", name, "is", said.get(name), "and in policy(5)",
              page.get(name))
    for c in found["classes"]:
        check(c["topic"] in topics, "class", c["class"], "has the topic", c["topic"],
              "which releasing.md lacks")
    check(len(page) > 40, "policy(5) has only", len(page), "classes")


# --- every field of which something stays is explained

def totals(path):
    """What the file's last block says, read without the program: name -> number, as text."""
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack_from("<I", data, len(data) - 4)[0]
    kind, code, size = struct.unpack_from("<I16xHH", data, len(data) - length)
    check((kind, code) == (5, 1), path, "ends with a block of kind", kind, "option", code)
    at = len(data) - length + 24
    return dict(line.split(" ") for line in data[at:at + size].decode().splitlines())


def test_field(where, field, page, policy):
    kept, special = page.get(field["class"], (None, None))
    name, rule, same = field["field"], field["rule"], field["same"]
    if field["class"] in policy["classes"]:
        wanted = policy["fields"].get(name, policy["classes"][field["class"]])
        check(rule == wanted, where, name, "has the rule", wanted, "but is listed with", rule)
    if rule == "keep":
        check(kept or not same, where, name, "stays, and there is no reason")
        check(same == field["values"] or field["class"] not in UNTOUCHED, where, name, "stays in",
              same, "of", field["values"], "places")
        return
    check(special or not field["distinct_special"], where, name, "stays in", same, "places for no reason")
    check(is_chance(field["others"], field["by_chance"]), where, name, "stays by chance:",
          field["others"], "of", field["distinct"], "distinct ones, expected", field["by_chance"],
          [e["value"] for e in field["examples"]])


def test_policy(original, anonymized, name, page, least=(100, 200)):
    """|least|: so many messages and fields there are."""
    found = survives(original, anonymized)
    policy = json.loads(anonymizer.checked("policy", "show", "--json", name))
    where = "%s under %s:" % (os.path.basename(original), name)
    check(found["policy"] == name, where, "said to be", found["policy"])
    check(found["messages"]["compared"] > least[0], where, found["messages"])
    check(len(found["fields"]) > least[1], where, "only", len(found["fields"]), "fields")
    for field in found["fields"]:
        test_field(where, field, page, policy)
        check(field["same"] <= field["values"] and
              field["distinct_special"] <= field["distinct_same"] <= field["distinct"] and
              len(field["examples"]) == min(3, field["distinct_same"]), where, field)
    stated = totals(anonymized)
    rows = {f["field"]: [(e["value"], e["same"]) for e in f["examples"]] for f in found["fields"]
            if f["class"] == "count at the end"}
    check(rows == {name: [(value, 1)] for name, value in stated.items()} and len(rows) > 5, where,
          "counts at the end:", rows, "and in the file:", stated)
    times = [f for f in found["fields"] if f["class"] == "packet time"]
    check([f["same"] for f in times] == [0 if name == "strict" else f["values"] for f in times]
          and len(times) == 1, where, "packet times", times)
    return found


def test_made(key, directory, page):
    """Every kind of message, strange names, credentials, refusals, cuts."""
    fields = set()
    for make in craft_marked.ALL:
        original = make().write(os.path.join(directory, make.__name__ + ".pcap"))
        for policy in POLICIES:
            out = "%s.%s.pcapng" % (original, policy)
            anonymizer.anonymize(out, policy, key, original)
            found = test_policy(original, out, policy, page, (20, 30))
            fields |= {f["field"] for f in found["fields"]}
    check(len(fields) > 1900, "only", len(fields), "fields in made captures")


# --- stock tshark

def seen(path):
    """Filter -> its values, in the order of the capture."""
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=a", "-E",
               "aggregator=|"] + tshark.OPTIONS + [o for f in FILTERS for o in ("-e", f)]
    env = {k: v for k, v in os.environ.items() if k != "WIRESHARK_PLUGIN_DIR"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    values = collections.defaultdict(list)
    for line in done.stdout.split("\n"):
        for name, text in zip(FILTERS, line.split("\t")):
            values[name] += text.split("|") if text else []
    return values


def plain(text):
    """Numbers and names as both show them; bytes by their beginning."""
    if re.fullmatch("0|[1-9][0-9]*|0x[0-9a-f]{1,8}", text):
        return int(text, 0)
    if re.fullmatch("0[0-7]{1,6}", text):
        return int(text, 8)
    if text in ("True", "False", "<MISSING>"):
        return {"True": 1, "False": 0}.get(text, "")
    text = text.strip('"').replace(":", "").replace("...", "").removeprefix("0x")
    return bytes.fromhex(text)[:32] if re.fullmatch("([0-9a-f]{2}){3,}", text) else text


def test_oracle(original, anonymized, where):
    rows = collections.defaultdict(list)
    for field in survives(original, anonymized, "--all")["fields"]:
        rows[field["wireshark"] or HEADER.get(field["field"])].append(field)
    before, after = seen(original), seen(anonymized)
    compared = 0
    for name in FILTERS:
        pairs = list(zip(before[name], after[name]))
        check(len(before[name]) == len(after[name]), where, name, "tshark has", len(before[name]),
              "and", len(after[name]))
        ours = tuple(sum(r[key] for r in rows[name]) for key in ("values", "same"))
        same = [a for a, b in pairs if a == b]
        check(ours == (len(pairs), len(same)), where, name, "values and survivors:", ours,
              "by tshark", (len(pairs), len(same)))
        listed = {plain(e["value"]) for r in rows[name] for e in r["examples"]}
        check(listed == {plain(v) for v in same}, where, name, "survivors:",
              list(listed ^ {plain(v) for v in same})[:5])
        compared += bool(pairs)
    return compared


# --- what is no good release is seen

def test_leaks(original, key, directory, page):
    """Values that stay against the rule are listed as such: names kept, and a capture that was not
    anonymized at all."""
    found = survives(original, original, "--policy", "public")
    for field in found["fields"]:
        check(field["same"] == field["values"] and field["distinct_same"] == field["distinct"],
              "against itself:", field)
    leaks = {f["class"] for f in found["fields"] if not is_chance(f["others"], f["by_chance"])}
    check({"name", "path", "handle", "fileid", "fsid", "verifier", "cookie", "data", "stamp"} <= leaks,
          "against itself only these are without a reason:", leaks)
    text = anonymizer.checked("policy", "show", "public").replace("name = public", "name = open", 1)
    path = os.path.join(directory, "open.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("fileid = keyed", "fileid = keep"))
    out = os.path.join(directory, "open.pcapng")
    anonymizer.anonymize(out, path, key, original)
    for options, rule in ((), None), (("--policy", path), "keep"), (("--policy", "public"), "keyed"):
        found = survives(original, out, *options)
        rows = [f for f in found["fields"] if f["class"] == "fileid"]
        check(rows and all(f["rule"] == rule and f["same"] == f["values"] for f in rows),
              "fileids that stay", options, rows[:2])
        check(bool(rows and rows[0]["others"]) == (rule == "keyed"), "others", options, rows[:1])
    said = anonymizer.checked("policy", "survives", "--policy", "public", original, out)
    check("fileid = keyed" in said and "by chance; " in said, "text:", said[:200])


def main():
    everything = sys.argv[1:] == ["all"]
    page, topics = documented()
    compared, survivors = 0, set()
    with tempfile.TemporaryDirectory() as directory:
        key = anonymizer.known_key(os.path.join(directory, "a.key"))
        names = sorted(p.name for p in CAPTURES.glob("*.zst"))
        names = [n for n in names if everything or n.removesuffix(".zst") in SAMPLE]
        check(len(names) == (len(names) if everything else len(SAMPLE)), "captures:", names)
        for name in names:
            original = os.path.join(directory, name.removesuffix(".zst"))
            with open(original, "wb") as file:
                subprocess.run(["zstd", "-dqc", CAPTURES / name], stdout=file, check=True)
            for policy in POLICIES:
                out = "%s.%s.pcapng" % (original, policy)
                anonymizer.anonymize(out, policy, key, original)
                found = test_policy(original, out, policy, page)
                survivors |= {f["class"] for f in found["fields"] if f["same"]}
                if os.path.basename(original) in ORACLE:
                    compared += test_oracle(original, out, "%s under %s:" % (name, policy))
                os.unlink(out)
            if original.endswith(SAMPLE[0]):
                test_classes(found, page, topics)
                test_leaks(original, key, directory, page)
            os.unlink(original)
        test_made(key, directory, page)
    check(compared >= 30 * len(POLICIES), "only", compared, "fields compared with tshark's")
    check(len(survivors) >= 30, "survivors of only", len(survivors), "classes")
    for line in wrong[:40]:
        print("FAIL", line)
    print("%d captures, %d comparisons of fields with tshark's, survivors of %d classes, %d failures" % (
        len(names), compared, len(survivors), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
