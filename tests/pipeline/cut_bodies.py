#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=900 plugin slow
"""What is known of a message that was cut, and what of one that violates its specification.

- Real captures cut to all kinds of snap lengths: nothing is wrong with their records and databases,
  both doors give the same records, and what a database says is what that of the whole capture says,
  or NULL: byte ranges where they were captured, lengths of bodies where the RPC header was.
- Captures over TCP and UDP with messages that violate RFC 1813 at a known byte, whole and cut: exactly
  those whose violation was captured are malformed, in the database, in ops, tree, compare and in
  the packet tree; check finds nothing wrong.

    cut_bodies.py [-k DIRECTORY]
"""
import dataclasses
import json
import os
import pathlib
import random
import sqlite3
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import capfile  # noqa: E402
import model_recorded  # noqa: E402
import mutate  # noqa: E402
import scratch as work  # noqa: E402
import streams  # noqa: E402
from messages import COMMIT, NFS, OK, READ, READDIR, SETATTR, WRITE  # noqa: E402

PROGRAM = os.environ["NFSDIGEST"]
TSHARK = os.path.join(os.environ["BUILD"], "bin", "tshark")
CAPTURES = pathlib.Path(os.environ["CAPTURES"])

CUT = {"vfs-libnfs-all22": 441, "knfsd-nlm-locks": 538, "knfsd-udp-frag": 1000, "pair-knfsd": 800}
SNAPLENS = sorted({*range(54, 100, 2), *range(100, 301, 7), 300})
BOTH_DOORS = (54, 60, 85, 96, 111, 128, 160, 200, 256, 300)
PARTIAL, MALFORMED, HEADER = 1, 8, 512  # sighting bits, schemas/nfsr.md section 5

failures = []


def check(truth, text):
    if not truth:
        failures.append(text)
        print("FAILED:", text)


def run(*command, code=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    check(done.returncode == code, "%s: exit %d: %s" % (
        " ".join(map(str, command[-4:])), done.returncode, (done.stderr + done.stdout)[-500:]))
    return done.stdout


def nfsdigest(*arguments, code=0):
    return run(PROGRAM, *arguments, code=code)


def cut(path, packets, snaplen):
    """A pcap of microseconds or finer, with the lengths on the wire."""
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, snaplen or 262144,
                               packets[0].link_type))
        for p in packets:
            data = p.data[:snaplen] if snaplen else p.data
            file.write(struct.pack("<IIII", p.time // 10**9, p.time % 10**9, len(data), p.wire_len)
                       + data)
    os.chmod(path, 0o644)


def ingest(capture, scratch):
    path = scratch / (capture.name + ".db")
    path.unlink(missing_ok=True)
    nfsdigest("ingest", "-o", path, capture)
    said = nfsdigest("check", path)
    check(said.endswith("nothing wrong\n"), "check %s: %s" % (capture.name, said[:500]))
    return path


def rows(path):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    found = db.execute("SELECT o.*, f.client_port, f.transport FROM operation o"
                       " JOIN flow f ON f.id = o.flow").fetchall()
    db.close()
    return found


def key_of(row):
    return row["transport"], row["client"], row["client_port"], row["xid"]


# --- real captures

def range_of(row):
    """(offset, count) as the kept arguments have them; None: not captured, or no such fields."""
    body = row["arguments"] or b""
    if (row["program"], row["version"]) != (100003, 3) or row["procedure"] not in (
            READ, WRITE, COMMIT) or len(body) < 4:
        return None, None
    at = 4 + (struct.unpack_from(">I", body)[0] + 3) // 4 * 4
    offset = struct.unpack_from(">q", body, at)[0] if len(body) >= at + 8 else None
    return offset, struct.unpack_from(">I", body, at + 8)[0] if len(body) >= at + 12 else None


def compare_with_whole(name, whole, parts):
    """|whole|: {key: row}. Returns how many operations were compared."""
    compared = 0
    for row in parts:
        full = whole.get(key_of(row))
        where = "%s: operation %d" % (name, row["id"])
        for side, length in ("call", "arguments_length"), ("reply", "result_length"):
            flags = row[side + "_flags"]
            if flags is None:
                check(row[length] is None, where + ": %s of nothing" % length)
                continue
            check((row[length] is None) == bool(flags & HEADER),
                  "%s: %s is %s with flags %d" % (where, length, row[length], flags))
            if full is not None and full[side + "_flags"] is not None:
                compared += 1
                check(row[length] in (None, full[length]), "%s: %s" % (where, length))
                check(not flags & MALFORMED or full[side + "_flags"] & MALFORMED,
                      where + ": malformed for being cut")
        if (row["program"], row["version"]) == (100003, 3):
            check((row["offset"], row["count"]) == range_of(row), "%s: range %s, not %s" % (
                where, (row["offset"], row["count"]), range_of(row)))
    return compared


def real_captures(scratch):
    commits = 0
    for name, frames in CUT.items():
        plain = scratch / (name + ".whole.pcap")
        with open(plain, "wb") as out:
            subprocess.run(["zstd", "-qdc", CAPTURES / (name + ".pcap.zst")], stdout=out, check=True)
        packets = capfile.read(plain)[:frames]
        cut(plain, packets, 0)
        found = rows(ingest(plain, scratch))
        whole = {key_of(row): row for row in found}
        commits += sum(r["procedure"] == COMMIT and (r["offset"], r["count"]) == (0, 0)
                       for r in found)
        compared = compare_with_whole(name, whole, found)
        for snaplen in SNAPLENS:
            capture = scratch / ("%s.%d.pcap" % (name, snaplen))
            cut(capture, packets, snaplen)
            compared += compare_with_whole(capture.name, whole, rows(ingest(capture, scratch)))
            if snaplen in BOTH_DOORS:
                both_doors(capture, scratch)
            capture.unlink()
        check(compared > 40 * len(whole), "%s: only %d messages compared" % (name, compared))
        print("%s: %d messages at %d snap lengths" % (name, compared, len(SNAPLENS)))
    check(commits, "no COMMIT of a whole file")


def both_doors(capture, scratch):
    ours, theirs = scratch / "ours.nfsr", scratch / "theirs.nfsr"
    theirs.unlink(missing_ok=True)
    nfsdigest("record", "-o", ours, capture)
    run(TSHARK, "-q", "-r", capture, "-z", "nfspair,out=%s" % theirs)
    check(ours.read_bytes() == theirs.read_bytes(), capture.name + ": the doors differ")
    nfsdigest("check", theirs)


# --- violations

@dataclasses.dataclass
class Violation:
    """|at|: offset in the message of what is wrong; |need|: bytes of it that must be captured for
    that to show."""
    message: object
    at: int
    need: int
    surplus: bool = False


def violations(messages, draw):
    """{message: other body} and the list of what was done: of each procedure some calls and results,
    each of another operation."""
    bodies, done = {}, []
    by_procedure = {}
    for e in mutate.exchanges(messages):
        by_procedure.setdefault(e.procedure, []).append(e)

    def change(message, at, word):
        body = bytearray(message.body)
        struct.pack_into(">I", body, at, word)
        bodies[message] = bytes(body)
        done.append(Violation(message, at, 4))

    for procedure, found in sorted(by_procedure.items()):
        found = [e for e in found if e.result[:4] == struct.pack(">I", OK) and e.arguments]
        draw.shuffle(found)
        result_at = [len(e.reply.body) - len(e.result) for e in found]
        call_at = [len(e.call.body) - len(e.arguments) for e in found]
        if len(found) > 0:  # a boolean; a length; the last field's
            items, at = found[0].items(), result_at[0]
            places = []
            for item in items:
                if item.kind in ("optional", "list", "opaque"):
                    places.append(at)
                at += len(item.wire())
            if places:
                change(found[0].reply, draw.choice(places), draw.choice((7, 0x80000000)) | 1 << 30)
        if len(found) > 1:  # the handle's length, above its bound or behind the message
            change(found[1].call, call_at[1], draw.choice((65, 1 << 20, 0xffffffff)))
        if len(found) > 2 and procedure not in (READ, READDIR):
            body = found[2].reply.body
            bodies[found[2].reply] = body + b"more"
            done.append(Violation(found[2].reply, len(body), 0, True))
        if procedure == SETATTR and len(found) > 3:  # set_it of mode
            handle = struct.unpack_from(">I", found[3].arguments)[0]
            change(found[3].call, call_at[3] + 4 + (handle + 3) // 4 * 4, 9)
    return bodies, done


def seen(captured, snaplen, done):
    """Those of |done| that a cut to |snaplen| leaves to be seen."""
    by_key = {}
    for m in streams.Reader(captured).messages:
        by_key[m.transport, m.direction, m.xid] = m
    left = []
    for v in done:
        m = by_key[v.message.transport, int(v.message.is_reply), v.message.xid]
        begin = m.end - len(m.body)
        prefix = 0
        for piece in sorted(m.pieces, key=lambda p: p.start):
            have = piece.length if not snaplen else max(0, min(piece.length, snaplen - piece.at))
            if piece.start <= begin + prefix:
                prefix = max(prefix, piece.start + have - begin)
            if have < piece.length:
                break
        if prefix >= v.at + v.need:
            left.append(v)
    return left


def wanted(left):
    return sorted((v.message.client[1], v.message.xid, v.message.is_reply) for v in left)


def in_database(path):
    out = []
    for row in rows(path):
        for side, flags in enumerate((row["call_flags"], row["reply_flags"])):
            if flags is not None and flags & MALFORMED:
                out.append((row["client_port"], row["xid"], bool(side)))
    return sorted(out)


def in_ops(path):
    text, parsed = [], []
    for line in nfsdigest("ops", "--json", "--fields", path).splitlines():
        op = json.loads(line)
        for side, body in (False, "arguments"), (True, "result"):
            if op.get(body, {}).get("incomplete") == "malformed":
                parsed.append((op["client_port"], op["xid"], side))
    text = [line for line in nfsdigest("ops", path).splitlines() if line.endswith(" malformed")
            or " malformed " in line]
    return sorted(parsed), len(text)


def in_packet_tree(capture):
    out = []
    for line in run(TSHARK, "-n", "-r", capture, "-Y", "nfspair.malformed", "-T", "fields",
                    "-e", "tcp.port", "-e", "udp.port", "-e", "nfspair.xid", "-e",
                    "nfspair.message", "-e", "nfspair.malformed").splitlines():
        tcp, udp, xids, sides, marks = line.split("\t")
        port = next(int(p) for p in (tcp or udp).split(",") if p != "2049")
        check(len(xids.split(",")) == len(marks.split(",")) == 1, "several messages: " + line)
        out.append((port, int(xids, 0), sides == "1"))
    return sorted(out)


def in_compare(path, original, left):
    """How many replies compare calls malformed, and how many it has a counterpart for."""
    result = path.with_suffix(".compare")
    report = json.loads(nfsdigest("compare", "--json", "--rules", "strict", "-o", result, original,
                                  path, code=1 if left else 0))
    db = sqlite3.connect(result)
    db.execute("ATTACH ? AS sut", (str(path),))
    paired = db.execute("SELECT count(*) FROM main.alignment a JOIN sut.operation o ON o.id = a.sut"
                        " WHERE a.ref NOT NULL AND o.reply_flags & ?", (MALFORMED,)).fetchone()[0]
    db.close()
    result.unlink()
    return sum(g["count"] for g in report["groups"] if g["kind"] == "malformed"), paired


def well_formed(messages):
    """Without the 4 bytes that Ganesha 4.3 sends behind an empty listing."""
    calls, bodies = {}, {}
    for m in messages:
        if not m.is_reply:
            calls[m.key] = m
            continue
        call = calls[m.key].body
        result = model_recorded.result_of(m.body)
        if result and struct.unpack_from(">III", call, 12) == (NFS, 3, READDIR) and \
                not mutate.is_result(READDIR, result):
            bodies[m] = m.body[:-4]
    check(len(bodies) == 1, "%d replies were malformed" % len(bodies))
    return mutate.with_bodies(messages, bodies)


def made_captures(scratch):
    plain = scratch / "made.pcap"
    with open(plain, "wb") as out:
        subprocess.run(["zstd", "-qdc", CAPTURES / "vfs-libnfs-all22.pcap.zst"], stdout=out,
                       check=True)
    original = well_formed(mutate.read(plain))
    large = {m.key for m in original if len(m.body) > 60000}
    for transport in streams.TCP, streams.UDP:
        messages = [dataclasses.replace(m, transport=transport) for m in original
                    if transport == streams.TCP or m.key not in large]
        draw = random.Random(transport)
        bodies, done = violations(messages, draw)
        check(len(done) > 35, "only %d violations" % len(done))
        mutate.write(scratch / "good.pcap", messages)
        mutate.write(scratch / "bad.pcap", mutate.with_bodies(messages, bodies))
        good, bad = capfile.read(scratch / "good.pcap"), capfile.read(scratch / "bad.pcap")
        for snaplen in (0, 130, 170, 182, 196, 220, 260, 300):
            one_cut(scratch, "%d-%d" % (transport, snaplen), good, bad, snaplen, done)


def one_cut(scratch, name, good, bad, snaplen, done):
    paths = []
    for packets, kind in (good, "good"), (bad, "bad"):
        capture = scratch / ("%s-%s.pcap" % (kind, name))
        cut(capture, packets, snaplen)
        paths.append(ingest(capture, scratch))
    left = seen(bad, snaplen, done)
    check(left or snaplen == 130, name + ": no violation is left")
    want = wanted(left)
    check(in_database(paths[0]) == [], name + ": malformed without a violation")
    have = in_database(paths[1])
    check(have == want, "%s: database: missing %s, invented %s" % (
        name, sorted(set(want) - set(have))[:3], sorted(set(have) - set(want))[:3]))
    fields, lines = in_ops(paths[1])
    check(fields == want, "%s: ops --fields: missing %s, invented %s" % (
        name, sorted(set(want) - set(fields))[:3], sorted(set(fields) - set(want))[:3]))
    check(lines == len(want), "%s: %d lines of ops, not %d" % (name, lines, len(want)))
    have = in_packet_tree(capture)
    check(have == want, "%s: packet tree: missing %s, invented %s" % (
        name, sorted(set(want) - set(have))[:3], sorted(set(have) - set(want))[:3]))
    summary = json.loads(nfsdigest("tree", "-s", "--json", paths[1]).splitlines()[-1])
    grave = [v for v in left if not v.surplus]
    check(summary["unplayable"]["malformed"] == len(grave), "%s: tree: %d malformed, not %d" % (
        name, summary["unplayable"]["malformed"], len(grave)))
    replies = [v for v in left if v.message.is_reply]
    # what a malformed reply would have shown may leave a later request without counterpart
    have, paired = in_compare(paths[1], paths[0], left)
    check(have == paired and paired > 0.9 * len(replies),
          "%s: compare: %d malformed, of %d pairs, of %d" % (name, have, paired, len(replies)))
    print("%s: %d violations, %d to be seen" % (name, len(done), len(left)))


def main():
    with work.folder() as scratch:
        made_captures(scratch)
        real_captures(scratch)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
