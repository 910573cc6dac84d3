#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1800 plugin slow cost=70 long=--every
"""The NFS Pair tree.

For the captures of $CAPTURES and some generated ones:
- the second pass (tshark -2) and random access (sharkd, frames in shuffled order, some twice) show
  the same; the first pass does too, but for what only a later frame can tell (LATER);
- every value is that of the database which nfsdigest ingest makes of the capture, and every message
  of the database is there;
- a display filter on a path finds what SQL finds;
- on captures without losses, calls and replies are linked as stock tshark links them, with the
  same times (STOCK).

    plugin_tree.py [-k DIRECTORY] [--every] [NAME...]

Without --every: the beginnings of the captures, and half of the generated ones.
"""
import argparse
import fnmatch
import glob
import json
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
import zlib

HERE = pathlib.Path(__file__).resolve().parent
for folder in HERE.parent, HERE.parent / "gen":
    sys.path.insert(0, str(folder))

import capfile  # noqa: E402
import cases  # noqa: E402
import cases_pairing  # noqa: E402,F401
import cases_stream  # noqa: E402,F401

BIN = os.path.join(os.environ["BUILD"], "bin")
TSHARK, WITH_PLUGINS = os.path.join(BIN, "tshark"), os.path.join(BIN, "with-plugins")
NFSDIGEST = os.environ["NFSDIGEST"]

GENERATED = ("*reply_before_call*", "only_calls*", "only_replies*", "retransmission*",
             "many_messages*", "rpc_*", "some_calls*", "udp_fragments*", "starts_mid_stream*",
             "other_programs*", "message_over_hundreds*", "xid_reuse_other_body*", "copies_*_1us",
             "every_frame_twice*", "first_call_lost*_100ms", "second_run_f*",
             "reply_from_another_address*")
GENERATED_LEAST = 20

# What a call may show only once the reply is known, or known to be lost.
LATER = {"nfspair.reply_frame", "nfspair.latency", "nfspair.pairing", "_ws.expert",
         "nfspair.expert.no_reply", "_ws.expert.severity", "_ws.expert.group"}

# Captures with gaps: what comes behind one in a TCP stream, and a datagram that lost a fragment, is known
# when the gap is filled or given up.
# (knfsd-tcp-mtu1500 is reordered, and cut here in the middle of that.)
GAPS = ("knfsd-netem-*", "*-drop1pct*", "some_calls*tcp", "first_call_lost*tcp*",
        "knfsd-tcp-mtu1500*", "starts_mid_stream*")

# Captures that stock tshark pairs without a fault, and the options that it needs for that.
STOCK = {"vfs-libnfs-all22.pcap": (), "mem-libnfs-all22.pcap": (), "knfsd-nlm-locks.pcap": (),
         "knfsd-udp-frag.pcap": (), "pair-knfsd.pcap": (),
         "knfsd-tcp-mtu1500.pcap": ("-o", "tcp.reassemble_out_of_order:TRUE")}
# Everything there is RPC, whatever other protocol a client's port number stands for.
RPC_PORTS = ("-d", "tcp.port==2049,rpc", "-d", "udp.port==2049,rpc", "-d", "tcp.port==111,rpc")

RANDOM_FRAMES = 300

# of the large captures, from their beginning: PDML takes its time
FRAMES_MOST = {False: 1600, True: 6000}  # by --every


def run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace",
                          check=False)
    if done.returncode:
        raise RuntimeError("%s: exit %d: %s" % (" ".join(command[:8]), done.returncode,
                                                done.stderr[-2000:]))
    return done.stdout


# --- what the tree shows ---

def lines_of(element):
    """[(field, text)] of a protocol in PDML, with its children's children."""
    return [(field.get("name"), field.get("showname") or field.get("show"))
            for field in element.iter("field") if field.get("hide") != "yes"]


def pdml(capture, *options):
    """{frame: [protocol elements "rpc" and "nfspair"]}"""
    text = run(TSHARK, *options, "-n", "-r", capture, "-T", "pdml", "-j", "rpc nfspair _ws.expert")
    frames = {}
    for packet in xml.fromstring(text).iter("packet"):
        number = int(packet.find("proto[@name='geninfo']/field[@name='num']").get("show"))
        frames[number] = [p for p in packet if p.get("name") in ("rpc", "nfspair")]
    return frames


def messages(frames):
    """{frame: [(title, [(field, text)])]} of the NFS Pair trees; frames without are left out."""
    out = {}
    for number, protocols in frames.items():
        shown = [(p.get("showname"), lines_of(p)) for p in protocols if p.get("name") == "nfspair"]
        if shown:
            out[number] = shown
    return out


def sharkd(capture, numbers):
    """Like messages(), by random access: every frame in the order of |numbers|, as a list."""
    requests = [{"jsonrpc": "2.0", "id": 1, "method": "load", "params": {"file": str(capture)}}]
    for i, number in enumerate(numbers):
        requests.append({"jsonrpc": "2.0", "id": i + 2, "method": "frame",
                         "params": {"frame": number, "proto": True}})
    text = run(WITH_PLUGINS, "sharkd", "-",
               text="".join(json.dumps(r) + "\n" for r in requests))
    answers = {}
    for line in text.splitlines():
        if line.startswith("{"):
            answer = json.loads(line)
            answers[answer["id"]] = answer.get("result")
    out = []
    for i, number in enumerate(numbers):
        shown = []
        for tree in answers[i + 2].get("tree", []):
            if tree.get("f") == "nfspair":
                shown.append((tree["l"], labels(tree)))
        out.append((number, shown))
    return out


def labels(tree):
    out = []
    for node in tree.get("n", []):
        out.append(node["l"])
        out += labels(node)
    return out


def plain(shown):
    """The texts of messages() alone, as sharkd has them."""
    return [(title, [text for _, text in lines]) for title, lines in shown]


# --- the comparisons ---

def compare_passes(name, first, second):
    """First pass against second."""
    gaps = any(fnmatch.fnmatch(name, pattern) for pattern in GAPS)
    wrong, later = [], 0
    for number, after in second.items():
        before = first.get(number, [])
        index = {}
        for title, lines in before:
            index.setdefault((title, dict(lines)["nfspair.operation"]), []).append(lines)
        for title, lines in after:
            known = index.get((title, dict(lines)["nfspair.operation"]))
            fields = dict(lines)
            if not known:
                # a reply whose call had not come yet, or something behind a gap
                if fields["nfspair.message"] != "Message: Reply (1)" and not gaps:
                    wrong.append("frame %d: %s is not in the first pass" % (number, title))
                later += 1
                continue
            missing = [x for x in lines if x not in known[0]]
            invented = [x for x in known[0] if x not in lines]
            if invented:
                wrong.append("frame %d: only in the first pass: %s" % (number, invented))
            for field, text in missing:
                if fields["nfspair.message"] == "Message: Reply (1)" or field not in LATER:
                    wrong.append("frame %d: not in the first pass: %s" % (number, text))
            later += bool(missing)
    for number in first.keys() - second.keys():
        wrong.append("frame %d: only the first pass shows a message" % number)
    return wrong, later


def compare_random(capture, second, frame_count, seed):
    draw = random.Random(seed)
    numbers = [draw.randint(1, frame_count) for _ in range(RANDOM_FRAMES)]
    known = sorted(second)
    numbers += [draw.choice(known) for _ in range(RANDOM_FRAMES)] if known else []
    wrong = []
    for number, shown in sharkd(capture, numbers):
        if shown != plain(second.get(number, [])):
            wrong.append("frame %d by random access: %s, not %s"
                         % (number, shown, plain(second.get(number, []))))
    return wrong


QUERY = """
SELECT o.id, o.xid, o.program, o.status, o.rpc_status, o.object, o.object2, o.new_object,
       (SELECT p.text FROM path p WHERE p.id = o.path) AS path,
       (SELECT p.text FROM path p WHERE p.id = o.path2) AS path2,
       (SELECT g.name FROM program g WHERE g.number = o.program AND g.version = o.version) AS program_name,
       (SELECT r.name FROM procedure r WHERE r.program = o.program AND r.version = o.version
           AND r.number = o.procedure) AS procedure_name,
       o.procedure, o.offset, o.count, o.pairing, o.latency, o.call_frame, o.reply_frame,
       (SELECT ifnull(d.call_frame, d.reply_frame) FROM operation d WHERE d.id = o.depends_on) AS depends_on,
       (o.call_flags & 1) AS call_partial, (o.reply_flags & 1) AS reply_partial,
       (o.call_flags & 8) AS call_malformed, (o.reply_flags & 8) AS reply_malformed,
       (o.reply_flags & 1024) AS other_address
  FROM operation o"""


def show(element):
    """{field: value} of one NFS Pair tree."""
    return {f.get("name"): f.get("show") for f in element.iter("field")}


def number(text):
    return None if text is None else int(text, 0)


def nanoseconds(text):
    if text is None:
        return None
    sign, whole, part = re.fullmatch(r"(-?)(\d+)\.(\d{9})", text).groups()
    return (int(whole) * 10**9 + int(part)) * (-1 if sign else 1)


def compare_database(database, frames):
    connection = sqlite3.connect(database)
    connection.row_factory = sqlite3.Row
    ops = {row["id"]: row for row in connection.execute(QUERY)}
    wanted = set()
    for op in ops.values():
        for side, name in (0, "call_frame"), (1, "reply_frame"):
            if op[name]:
                wanted.add((op["id"], side, op[name], 0))
    differing = set()
    for row in connection.execute("SELECT operation, kind, frame, differs FROM "
                                  "retransmission UNION ALL SELECT operation, kind, frame, 0 FROM "
                                  "copy"):
        wanted.add((row["operation"], (row["kind"] - 1) % 2, row["frame"], row["kind"]))
        if row["differs"]:
            differing.add((row["operation"], row["frame"]))
    wrong, found = [], []
    for frame, protocols in frames.items():
        for protocol in protocols:
            if protocol.get("name") != "nfspair":
                continue
            have = show(protocol)
            repeat = 1 if "nfspair.retransmission" in have else \
                2 if "nfspair.duplicate_reply" in have else \
                3 + int(have["nfspair.message"]) if "nfspair.copy" in have else 0
            op = ops.get(number(have["nfspair.operation"]))
            found.append((number(have["nfspair.operation"]), number(have["nfspair.message"]),
                          frame, repeat))
            if op is not None:
                differs = (op["id"], frame) in differing
                wrong += ["frame %d: %s" % (frame, w)
                          for w in compare_message(op, have, repeat, differs)]
    if sorted(found) != sorted(wanted):
        wrong.append("messages only in the tree: %s; only in the database: %s"
                     % (sorted(set(found) - wanted)[:5], sorted(wanted - set(found))[:5]))
    connection.close()
    return wrong


def compare_message(op, have, repeat, differs):
    is_reply = have["nfspair.message"] == "1"
    want = {
        "xid": op["xid"], "pairing": op["pairing"], "depends_on": op["depends_on"],
        "call_frame": op["call_frame"] if is_reply or repeat else None,
        "reply_frame": op["reply_frame"] if not is_reply or repeat else None,
        "retransmission_of": op["call_frame"] if repeat == 1 else None,
        "copy_of": {3: op["call_frame"], 4: op["reply_frame"]}.get(repeat),
        "range.offset": op["offset"], "range.count": op["count"], "latency": op["latency"],
    }
    if op["program"] is not None and op["procedure_name"] is not None:
        want["procedure"] = op["procedure_name"]
    if is_reply:
        # what the operation came to know with its reply stands in the reply only
        want.update({"status": op["status"], "rpc_status": op["rpc_status"],
                     "object": op["object"], "object2": op["object2"],
                     "new_object": op["new_object"], "path": op["path"], "path2": op["path2"]})
    elif op["reply_frame"] is None:
        want.update({"object": op["object"], "path": op["path"], "path2": op["path2"]})
    if differs:
        want.update({"status": None, "rpc_status": None, "duplicate_reply.differs": 1})
    if not repeat:
        side = "reply" if is_reply else "call"
        want["partial"] = 1 if op[side + "_partial"] else None
        want["malformed"] = 1 if op[side + "_malformed"] else None
        want["other_address"] = 1 if is_reply and op["other_address"] else None
    wrong = []
    for name, value in want.items():
        shown = have.get("nfspair." + name)
        if name == "latency":
            shown = nanoseconds(shown)
        elif name in ("partial", "malformed", "duplicate_reply.differs", "other_address"):
            shown = None if shown is None else 1
        elif name not in ("path", "path2", "procedure"):
            shown = number(shown)
        if shown != value:
            wrong.append("operation %d, %s %s: %s is %r, not %r"
                         % (op["id"], "reply" if is_reply else "call",
                            repeat or "", name, shown, value))
    return wrong


def compare_filter(capture, database):
    """nfspair.path contains the most frequent last component of a path."""
    connection = sqlite3.connect(database)
    paths = [row[0] for row in connection.execute(
        "SELECT p.text FROM operation o JOIN path p ON p.id = o.path "
        "WHERE o.reply_frame IS NOT NULL AND p.text LIKE '%/%'")]
    names = [p.rsplit("/", 1)[1] for p in paths]
    names = [n for n in names if len(n) > 2 and n.isascii() and '"' not in n and "\\" not in n]
    if not names:
        return []
    name = max(sorted(set(names)), key=names.count)
    want = {row[0] for row in connection.execute(
        "SELECT o.reply_frame FROM operation o JOIN path p ON p.id = o.path "
        "WHERE o.reply_frame IS NOT NULL AND instr(p.text, ?)", (name,))}
    text = run(TSHARK, "-n", "-2", "-r", capture, "-Y",
               'nfspair.message == 1 and nfspair.path contains "%s"' % name,
               "-T", "fields", "-e", "frame.number")
    have = {int(line) for line in text.split()}
    # a frame with several messages may match by two of them
    if not want <= have or not want:
        return ["filter on %s: %d frames, SQL has %d" % (name, len(have), len(want))]
    return []


def compare_stock(frames):
    """Links and times of stock tshark's RPC dissector."""
    wrong, compared = [], 0
    for number_, protocols in frames.items():
        ours = {}
        for p in protocols:
            if p.get("name") == "nfspair":
                have = show(p)
                ours[(have["nfspair.xid"], have["nfspair.message"])] = have
        for p in protocols:
            stock = show(p)
            if p.get("name") != "rpc" or "rpc.xid" not in stock or "rpc.msgtyp" not in stock:
                continue
            have = ours.get((stock["rpc.xid"], stock["rpc.msgtyp"]))
            if have is None:
                wrong.append("frame %d: stock tshark has XID %s" % (number_, stock["rpc.xid"]))
                continue
            compared += 1
            # rpc.reqframe and rpc.repframe: stock's names for both directions
            link = stock.get("rpc.repframe") if stock["rpc.msgtyp"] == "1" else \
                stock.get("rpc.reqframe")
            mine = have.get("nfspair.call_frame") if stock["rpc.msgtyp"] == "1" else \
                have.get("nfspair.reply_frame")
            if link != mine:
                wrong.append("frame %d: linked to %s, by stock tshark to %s" % (number_, mine, link))
            if "rpc.time" in stock and stock["rpc.time"] != have.get("nfspair.latency"):
                wrong.append("frame %d: latency %s, stock %s"
                             % (number_, have.get("nfspair.latency"), stock["rpc.time"]))
    if not compared:
        wrong.append("stock tshark found no message")
    return wrong


def check(name, capture, scratch):
    """Lines of what is wrong, and a summary."""
    database = str(scratch / (name + ".db"))
    if os.path.exists(database):
        os.unlink(database)
    run(NFSDIGEST, "ingest", "-o", database, capture)
    frames = pdml(capture, "-2")
    second = messages(frames)
    wrong, later = compare_passes(name, messages(pdml(capture)), second)
    wrong += compare_random(capture, second, len(frames), name)
    wrong += compare_database(database, frames)
    wrong += compare_filter(capture, database)
    if name in STOCK:
        wrong += compare_stock(pdml(capture, "-2", *RPC_PORTS, *STOCK[name]))
    count = sum(len(m) for m in second.values())
    return wrong, "%d messages, %d learn something later" % (count, later)


def captures(scratch, every):
    for path in sorted(glob.glob(os.path.join(os.environ["CAPTURES"], "*.pcap*"))):
        name = os.path.basename(path).removesuffix(".zst")
        if path.endswith(".zst"):
            run("zstd", "-q", "-d", "-f", path, "-o", str(scratch / "whole"))
            path = scratch / "whole"
        run(WITH_PLUGINS, "editcap", "-r", str(path), str(scratch / name), "1-%d" % FRAMES_MOST[every])
        yield name, str(scratch / name)
    for name in sorted(cases.CASES):
        if any(fnmatch.fnmatch(name, pattern) for pattern in GENERATED) and \
                (every or zlib.crc32(name.encode()) % 2):
            case = cases.CASES[name]()
            path = scratch / (name + ".pcap")
            capfile.write_pcap(path, case.trace.packets())
            yield name, str(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", metavar="DIRECTORY")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    scratch = pathlib.Path(args.k or tempfile.mkdtemp())
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o755)
    failed = tried = 0
    try:
        for name, capture in captures(scratch, args.every):
            if args.names and not any(fnmatch.fnmatch(name, n) for n in args.names):
                continue
            tried += 1
            wrong, summary = check(name, capture, scratch)
            print("%s %s: %s" % ("FAILED" if wrong else "ok", name, summary), flush=True)
            for line in wrong[:10]:
                print("    " + line)
            if wrong[10:]:
                print("    and %d more" % len(wrong[10:]))
            failed += bool(wrong)
    finally:
        if not args.k:
            shutil.rmtree(scratch)
    if not args.names and tried < 12 + GENERATED_LEAST:
        print("only %d captures" % tried)
        failed += 1
    print("%d captures, %d failed" % (tried, failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
