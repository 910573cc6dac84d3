#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan
"""Captures with packet comments: stock tshark shows them on exactly the frames that the result has
and says of everything else what it says of the original; the blocks of pcapng files stay byte for
byte what they were, in either byte order; names, digests and bad input."""
import os
import pathlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "gen")]

import capfile  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
CAPTURES = pathlib.Path(os.environ["CAPTURES"])
SECTION, INTERFACE, OBSOLETE, SIMPLE, NAMES, PACKET = 0x0a0d0d0a, 1, 2, 3, 4, 6
COMMENTS_MAX = 20
breaches = []
checks = 0
kinds = set()  # of packets with comments: type of block, whether it had options before


def expect(good, *words):
    global checks
    checks += 1
    if not good:
        breaches.append(" ".join(str(w) for w in words)[:1200])


def run(*arguments, **how):
    done = subprocess.run([NFSDIGEST, *map(str, arguments)], capture_output=True,
                          stdin=subprocess.DEVNULL, check=False, **how)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def tshark(path, *fields):
    """Lines of fields; separated by what no comment has."""
    line = ["tshark", "-n", "-r", str(path), "-T", "fields", "-E", "separator=/t",
            "-E", "aggregator=\x1e"]
    for field in fields:
        line += ["-e", field]
    return subprocess.run(line, capture_output=True, check=True).stdout.decode().rstrip("\n").split("\n")


def hex_dump(path):
    return subprocess.run(["tshark", "-n", "-r", str(path), "-x"], capture_output=True,
                          check=True).stdout


# --- pcapng files of our own making and reading

def blocks(path):
    """(type, order, body) of a pcapng file."""
    data, at, order = pathlib.Path(path).read_bytes(), 0, "<"
    while at < len(data):
        kind = struct.unpack_from("<I", data, at)[0]
        if kind == SECTION:
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, total = struct.unpack_from(order + "II", data, at)
        if data[at + total - 4:at + total] != data[at + 4:at + 8] or total % 4:
            raise ValueError("%s: block at %d" % (path, at))
        yield kind, order, data[at + 8:at + total - 4]
        at += total


def options_of(order, data):
    """(code, value)s; the rest must be nothing."""
    at, found = 0, []
    while at < len(data):
        code, size = struct.unpack_from(order + "HH", data, at)
        at += 4
        if not code:
            break
        found.append((code, data[at:at + size]))
        at += (size + 3) & ~3
    expect(at == len(data), "options end at", at, "of", len(data))
    return found


def option(order, code, value):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def block(order, kind, body):
    body += bytes(-len(body) % 4)
    total = 12 + len(body)
    return struct.pack(order + "II", kind, total) + body + struct.pack(order + "I", total)


def write_odd(path, packets, order):
    """Everything that a packet can be, other blocks between, two sections, comments of others."""
    with open(path, "wb") as out:
        for half in packets[:len(packets) // 2], packets[len(packets) // 2:]:
            head = struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, 4711)
            out.write(block(order, SECTION, head + option(order, 1, b"by hand")
                            + option(order, 0, b"")))
            out.write(block(order, INTERFACE, struct.pack(order + "HHI", 1, 0, 0)
                            + option(order, 2, b"eth0") + option(order, 9, b"\x09")
                            + option(order, 0, b"")))
            for i, p in enumerate(half):
                data = p.data + bytes(-len(p.data) % 4)
                head = struct.pack(order + "IIII", p.time >> 32, p.time & 0xffffffff, len(p.data),
                                   p.wire_len)
                form = 3 if i % 23 == 22 else i % 5 % 3 # simple ones have no times
                if form == 0:
                    out.write(block(order, PACKET, struct.pack(order + "I", 0) + head + data))
                elif form == 1:
                    out.write(block(order, PACKET, struct.pack(order + "I", 0) + head + data
                                    + option(order, 1, "d\u00e9j\u00e0 vu".encode())
                                    + option(order, 2, b"\0\0\0\1") + option(order, 0, b"")))
                elif form == 2:
                    out.write(block(order, OBSOLETE, struct.pack(order + "HH", 0, 0xffff) + head
                                    + data))
                else:
                    out.write(block(order, SIMPLE, struct.pack(order + "I", len(p.data)) + data))
                if i % 50 == 7:
                    out.write(block(order, NAMES, struct.pack(order + "HH", 0, 0)))
                    out.write(block(order, 0x1f, b"anything" * 3))


def split_packet(kind, order, body):
    """What stands before the options, and these."""
    if kind == SIMPLE:
        return body, []
    captured = struct.unpack_from(order + "I", body, 12)[0]
    end = 20 + (captured + 3 & ~3)
    return body[:end], options_of(order, body[end:])


def check_blocks(original, copy, commented):
    """Block by block; |commented|: numbers of frames."""
    left, right = list(blocks(original)), list(blocks(copy))
    expect(len(left) == len(right), "blocks", len(left), len(right))
    frame = 0
    for (kind, order, body), (kind2, order2, body2) in zip(left, right):
        expect(order == order2, "byte order")
        if kind == SECTION:
            expect(body[:8] + b"\xff" * 8 + body[16:] == body2 and kind2 == kind, "a section")
        elif kind not in (PACKET, OBSOLETE, SIMPLE):
            expect((kind, body) == (kind2, body2), "a block of type", kind)
        else:
            frame += 1
            packet, options = split_packet(kind, order, body)
            packet2, options2 = split_packet(kind2, order, body2)
            if frame not in commented:
                expect((kind, body) == (kind2, body2), "frame", frame, "is another one")
                continue
            kinds.add((kind, bool(options)))
            more = len(options2) - len(options)
            expect(more > 0 and all(c == 1 and v.startswith(b"nfsdigest: ")
                                    for c, v in options2[:more]) and options2[more:] == options,
                   "comments of frame", frame, options2)
            if kind == SIMPLE:
                expect(kind2 == PACKET and packet2[20:] == packet[4:] and
                       packet2[12:20] == packet[:4] * 2, "a simple packet", frame)
            else:
                expect(kind2 == kind and packet == packet2, "packet", frame)
    return frame


# --- comparisons

def ingest(database, *captures):
    code, said = run("ingest", "-q", "-o", database, *captures)
    expect(code == 0, "ingest", captures, said)


def compare(result, *sides):
    code, said = run("compare", "-o", result, *sides)
    expect(code == 1, "compare", code, said)


def wanted(result, side, source=1):
    """Frames with their discrepancies, as the result has them."""
    db = sqlite3.connect(result)
    found = {}
    for frame, *row in db.execute(
            "SELECT f.frame, c.id, c.field, c.difference, d.ref_text, d.sut_text, f.other_frame"
            " FROM frame f JOIN discrepancy d ON d.id = f.discrepancy"
            " JOIN discrepancy_group c ON c.id = d.discrepancy_group WHERE f.side = ? AND f.source = ?"
            " ORDER BY f.frame, d.id", (side, source)):
        found.setdefault(frame, []).append(row)
    db.close()
    expect(len(found) > 1, "only", len(found), "frames to comment on")
    return found


def check_comments(copy, frames, side):
    lines = [line.split("\t") for line in tshark(copy, "frame.number", "frame.comment")]
    said = {int(n): text.split("\x1e") for n, text in lines if text}
    said = {n: [t for t in texts if t.startswith("nfsdigest: ")] for n, texts in said.items()}
    said = {n: texts for n, texts in said.items() if texts}
    expect(set(said) == set(frames), copy.name, "comments on", sorted(set(said) ^ set(frames))[:20])
    for frame, texts in said.items():
        want = frames.get(frame, [])
        shown = texts[:COMMENTS_MAX]
        expect(len(shown) == min(len(want), COMMENTS_MAX), "frame", frame, len(texts), len(want))
        if len(want) > COMMENTS_MAX:
            expect(texts[COMMENTS_MAX:] == ["nfsdigest: %d more discrepancies of this frame"
                                            % (len(want) - COMMENTS_MAX)], "frame", frame, texts[-1])
        for text, (group, field, difference, ref, sut, other) in zip(shown, want):
            parts = ["group %d" % group, field + ": " + difference, side]
            parts += ["ref " + ref[:100]] if ref else []
            parts += ["sut " + sut[:100]] if sut else []
            parts += ["counterpart in frame %d of " % other] if other else []
            expect(all(p in text for p in parts), "frame", frame, text, parts)


def check_same(original, copy):
    """All that stock tshark knows of a packet, and its bytes."""
    fields = ("frame.number", "frame.time_epoch", "frame.len", "frame.cap_len",
              "frame.encap_type", "_ws.col.Info")
    expect(tshark(original, *fields) == tshark(copy, *fields), copy.name, "says something else")
    expect(hex_dump(original) == hex_dump(copy), copy.name, "has other bytes")


def plain(name, folder):
    path = folder / (name + ".pcap")
    subprocess.run(["zstd", "-dqf", CAPTURES / (name + ".pcap.zst"), "-o", path], check=True)
    return path


def check_pair(folder):
    """pcap files, compressed, under the names that the result has."""
    result = folder / "r.db"
    names = "mem-libnfs-all22", "vfs-libnfs-all22"
    for side, name in zip(("ref", "sut"), names):
        ingest(folder / (side + ".db"), CAPTURES / (name + ".pcap.zst"))
    compare(result, folder / "ref.db", folder / "sut.db")
    code, said = run("report", result, "--annotate", folder / "out.pcapng")
    expect(code == 0 and "442 frames" in said and "441 frames" in said, code, said)
    expect(not (folder / "out.pcapng").exists(), "out.pcapng")
    for number, (side, words, name) in enumerate(zip(("ref", "sut"), (
            "this is the reference", "this is the system under test"), names), 1):
        copy = folder / ("out-%s.pcapng" % side)
        check_comments(copy, wanted(result, number), words)
        check_same(plain(name, folder), copy)
    return result


def check_named(folder, result):
    """The captures given: other names and compression, in any order; then those that are wrong."""
    moved = folder / "moved"
    moved.mkdir()
    plain("mem-libnfs-all22", moved).rename(moved / "a")
    plain("vfs-libnfs-all22", moved).rename(moved / "b")
    subprocess.run(["gzip", "-q", moved / "b"], check=True)
    first = (folder / "out-ref.pcapng").read_bytes(), (folder / "out-sut.pcapng").read_bytes()
    code, said = run("report", result, moved / "b.gz", moved / "a", "--annotate", moved / "x.pcapng")
    expect(code == 0, "named", code, said)
    expect(first == ((moved / "x-ref.pcapng").read_bytes(), (moved / "x-sut.pcapng").read_bytes()),
           "other files from the same captures")
    code, said = run("report", result, moved / "a", "--annotate", moved / "y.pcapng")
    expect(code == 3 and "vfs-libnfs-all22" in said, "one is missing", code, said)
    other = CAPTURES / "knfsd-vlan.pcap.zst"
    code, said = run("report", result, moved / "a", other, "--annotate", moved / "y.pcapng")
    expect(code == 3 and "knfsd-vlan" in said, "a stranger", code, said)
    # the name that the result has leads to something else, or nowhere
    for content, words in (b"", "nothing"), (None, "nowhere"), ((moved / "a").read_bytes(), "other"):
        changed = folder / "changed.db"
        shutil.copy(result, changed)
        path = moved / "sut.pcap"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)
        db = sqlite3.connect(changed)
        db.execute("UPDATE source SET name = ? WHERE side = 2", (str(path),))
        db.commit()
        db.close()
        code, said = run("report", changed, "--annotate", moved / "y.pcapng")
        expect(code == 3 and "sut.pcap" in said, words, code, said)
    code, said = run("report", result, moved / "a", moved / "b.gz", "--annotate", "-")
    expect(code == 2, "standard output", code, said)
    (moved / "z-ref.pcapng").write_bytes((moved / "a").read_bytes())
    code, said = run("report", result, moved / "z-ref.pcapng", moved / "b.gz", "--annotate",
                     moved / "z.pcapng")
    expect(code == 2 and (moved / "z-ref.pcapng").read_bytes() == (moved / "a").read_bytes(),
           "a capture is written over", code, said)
    code, said = run("report", result, moved / "a", moved / "b.gz", "--annotate",
                     moved / "none" / "z.pcapng")
    expect(code == 4, "no folder", code, said)
    left = [p.name for p in moved.iterdir() if p.name.startswith("y") or ".part" in p.name]
    expect(not left, "left behind:", left)


def check_records(folder):
    """Databases of records: their captures are given, and known by their frames."""
    place = folder / "records"
    place.mkdir()
    names = "mem-libnfs-all22", "vfs-libnfs-all22"
    captures = [plain(name, place) for name in names]
    for side, capture in zip(("ref", "sut"), captures):
        code, said = run("record", "-o", place / (side + ".nfsr"), capture)
        expect(code == 0, "record", code, said)
        ingest(place / (side + ".db"), place / (side + ".nfsr"))
    ingest(place / "capture.db", captures[1])
    for name, sut in ("both", "sut.db"), ("half", "capture.db"):
        result = place / (name + "-r.db")
        compare(result, place / "ref.db", place / sut)
        code, said = run("report", result, *reversed(captures), "--annotate",
                         place / (name + ".pcapng"))
        expect(code == 0 and "442 frames" in said and "441 frames" in said, name, code, said)
        for number, side, words in (1, "ref", "this is the reference"), (2, "sut", "this is the sys"):
            copy = place / ("%s-%s.pcapng" % (name, side))
            check_comments(copy, wanted(result, number), words)
            check_same(captures[number - 1], copy)
    # as many frames, at other times; one less
    capfile.write_pcap(place / "later.pcap", [p._replace(time=p.time + 1000)
                                              for p in capfile.read(captures[0])])
    capfile.write_pcap(place / "less.pcap", capfile.read(captures[0])[:-1])
    for other in "later.pcap", "less.pcap":
        code, said = run("report", place / "both-r.db", captures[1], place / other, "--annotate",
                         place / "y.pcapng")
        expect(code == 3 and other in said and "not one of the captures" in said, other, code, said)
    expect(not list(place.glob("y*")), "left behind")


def check_odd(folder, order):
    """pcapng of every kind of block."""
    place = folder / ("odd" + {"<": "little", ">": "big"}[order])
    place.mkdir()
    for side, name in ("ref", "mem-libnfs-all22"), ("sut", "vfs-libnfs-all22"):
        write_odd(place / (side + ".pcapng"), capfile.read(plain(name, place)), order)
        ingest(place / (side + ".db"), place / (side + ".pcapng"))
    compare(place / "r.db", place / "ref.db", place / "sut.db")
    code, said = run("report", place / "r.db", "--annotate", place / "out")
    expect(code == 0, "odd", code, said)
    for number, side in (1, "ref"), (2, "sut"):
        frames = wanted(place / "r.db", number)
        count = check_blocks(place / (side + ".pcapng"), place / ("out-" + side), set(frames))
        expect(count > 400, "frames", count)
        check_comments(place / ("out-" + side), frames, "this is")
        expect(hex_dump(place / (side + ".pcapng")) == hex_dump(place / ("out-" + side)),
               "bytes of", side)
    return place


def check_many(folder, place):
    """More than one capture on a side, one on both, and one that is cut."""
    packets = capfile.read(plain("mem-libnfs-all22", place))
    capfile.write_pcap(place / "1.pcap", packets[:200])
    capfile.write_pcap(place / "2.pcap", packets[200:])
    data = (place / "2.pcap").read_bytes()
    (place / "2.pcap").write_bytes(data[:-7])
    run("ingest", "-q", "-o", place / "two.db", place / "1.pcap", place / "2.pcap")
    compare(place / "two-r.db", place / "two.db", place / "sut.db")
    code, said = run("report", place / "two-r.db", "--annotate", place / "two.pcapng")
    expect(code == 0, "two captures", code, said)
    for source in 1, 2:
        copy = place / ("two-ref-%d.pcapng" % source)
        check_comments(copy, wanted(place / "two-r.db", 1, source), "this is the reference")
        expect([p.data for p in capfile.read(copy)] ==
               [p.data for p in (packets[:200], packets[200:-1])[source - 1]], "packets of", source)
    expect((place / "two-sut.pcapng").exists() and not (place / "two-ref.pcapng").exists(), "names")
    # both servers in one capture: the comments of both sides in one file
    both = place / "both.db"
    shutil.copy(place / "r.db", both)
    db = sqlite3.connect(both)
    db.execute("UPDATE source SET name = (SELECT name FROM source WHERE side = 1), digest ="
               " (SELECT digest FROM source WHERE side = 1), frames = (SELECT frames FROM source"
               " WHERE side = 1) WHERE side = 2")
    db.execute("DELETE FROM frame WHERE side = 2 AND frame > (SELECT frames FROM source"
               " WHERE side = 1)")
    db.commit()
    db.close()
    code, said = run("report", both, "--annotate", place / "both.pcapng")
    expect(code == 0 and (place / "both.pcapng").exists(), "both", code, said)
    frames = set(wanted(both, 1)) | set(wanted(both, 2))
    check_blocks(place / "ref.pcapng", place / "both.pcapng", frames)


def check_hostile(folder, place):
    """Texts of a result are comments that can be printed."""
    hostile = place / "hostile.db"
    shutil.copy(place / "r.db", hostile)
    db = sqlite3.connect(hostile)
    texts = ["a\n\r\x1b[31m\x07b", b"\xff\xc0\xaf", "é" * 40_000, "\ufffe\U0001f600", "x" * 70_000]
    for i in range(1, 60):
        db.execute("UPDATE discrepancy_group SET field = CAST(?1 AS TEXT), reason = CAST(?1 AS TEXT) WHERE id"
                   " = ?2", (texts[i % 5], i))
    db.execute("UPDATE discrepancy SET ref_text = CAST(? AS TEXT)", (texts[1],))
    db.execute("INSERT OR IGNORE INTO frame SELECT f.side, f.source, f.frame, f.xid + d.id, d.id,"
               " NULL, NULL, f.time FROM (SELECT * FROM frame WHERE side = 1 LIMIT 1) f, discrepancy d")
    db.commit()
    db.close()
    code, said = run("report", hostile, "--annotate", place / "hostile.pcapng")
    expect(code == 0, "hostile", code, said)
    longest = 0
    for kind, order, body in blocks(place / "hostile-ref.pcapng"):
        if kind in (PACKET, OBSOLETE):
            options = [v for c, v in split_packet(kind, order, body)[1] if c == 1]
            longest = max(longest, sum(v.startswith(b"nfsdigest") for v in options))
            for value in options:
                text = value.decode()
                expect(len(value) < 4000 and all(c.isprintable() or c == " " for c in text)
                       or "\U0001f600" in text, "comment", value[:300])
    expect(longest == COMMENTS_MAX + 1, "comments of one frame:", longest)
    # a frame that the capture does not have
    db = sqlite3.connect(hostile)
    db.execute("UPDATE frame SET frame = 100000 WHERE side = 1 AND frame ="
               " (SELECT max(frame) FROM frame WHERE side = 1)")
    db.commit()
    db.close()
    code, said = run("report", hostile, "--annotate", place / "beyond.pcapng")
    expect(code == 3 and "100000" in said, "beyond the end", code, said)
    expect(not list(place.glob("beyond*")), "left behind")


def main():
    with tempfile.TemporaryDirectory(prefix="annotate.") as scratch:
        folder = pathlib.Path(scratch)
        check_named(folder, check_pair(folder))
        check_records(folder)
        check_odd(folder, "<")
        place = check_odd(folder, ">")
        expect(len(kinds) == 4, "packets with comments were of", kinds)
        check_many(folder, place)
        check_hostile(folder, place)
    for line in breaches[:60]:
        print("FAILED", line)
    print("%d checks, %d failed" % (checks, len(breaches)))
    return 1 if breaches or checks < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
