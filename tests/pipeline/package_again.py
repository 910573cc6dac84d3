#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan-long slow cost=35
"""nfsdigest package --verify makes a release again from its own capture and compares bytes: in a
good release one place is changed at a time, in each part of each format, where all else, lists and
lengths included, agrees with it.  Environment: NFSDIGEST, CAPTURES."""
import os
import pathlib
import re
import sqlite3
import struct
import tempfile

import package_lib as p
from package_lib import expect

NAME = "t"
AGAIN = ": byte [0-9]+ differs from the file made again from the captures"
CAPTURE = "captures/001.pcapng"


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.key = p.new_key(folder / "k.key")
        self.original = p.capture("mem-libnfs-all22", folder)
        self.good = p.made(folder / "good.tar.zst", self.key, "--name", NAME, self.original)
        self.tar = p.unzstd(self.good)
        self.files = p.contents(self.good)
        expect(p.zstd(self.tar) == self.good, "zstd compresses otherwise than the program")

    def verify(self, data):
        path = self.folder / "x.tar.zst"
        path.write_bytes(data)
        code, out, said = p.run("--verify", path)
        expect(code in (0, 1, 3), "exit code", code, said)
        return code, out + said

    def wrong(self, what, data, pattern):
        code, out = self.verify(data)
        expect(code == 1 and re.search(pattern, out), what, ": exit code", code, out[:600])

    def changed(self, what, path, body, pattern=None):
        """With other contents of the same length: only the bytes tell."""
        self.wrong(what, p.zstd(p.agreeing_tar(self.tar, path, body)),
                   pattern or re.escape(path) + AGAIN)

    def replaced(self, what, path, body, pattern=None):
        """With contents of another length: packed by others, which is not looked at then."""
        files = dict(self.files, **{path: body})
        old, new = (p.hashlib.sha256(x).hexdigest().encode() for x in (self.files[path], body))
        package = files["datapackage.json"].replace(old, new).replace(
            b'"bytes": %d,\n      "hash": "sha256:%s' % (len(self.files[path]), new),
            b'"bytes": %d,\n      "hash": "sha256:%s' % (len(body), new))
        sums = files["SHA256SUMS"].replace(old, new)
        for name, text in ("datapackage.json", package), ("SHA256SUMS", sums):
            if name != path:
                files[name] = text
        other = p.hashlib.sha256(files["datapackage.json"]).hexdigest().encode()
        files["SHA256SUMS"] = re.sub(rb"[0-9a-f]{64}(?=  datapackage)", other, files["SHA256SUMS"])
        self.wrong(what, p.packed(NAME, files), pattern or re.escape(path) + AGAIN)


def flip(body, at):
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1:]


def check_members(b):
    """Every file: a bit in it, at its end; a byte more."""
    for path, body in b.files.items():
        if path in (CAPTURE, "SHA256SUMS", "datapackage.json"):
            continue
        pattern = re.escape(path) + ": |" + re.escape(CAPTURE) + ": does not say"
        if path == "audit.json":  # perhaps a figure, of which the page is made
            pattern += "|audit\\.html: "
        for at in len(body) // 2, len(body) - 1:
            b.changed("a bit of %s at %d" % (path, at), path, flip(body, at), pattern)
        b.replaced(path + ", longer", path, body + b"\n", pattern)
    for path in "README.md", "audit.html", "plots/growth.svg", "schemas/nfsr.md":
        body = b.files[path]
        at = body.index(b" ")
        b.changed("a letter of " + path, path, body[:at] + b"\t" + body[at + 1:])
    body = b.files["plots/growth.svg"]
    script = b"<script>fetch('https://example.org')</script></svg>"
    b.replaced("a script in a plot", "plots/growth.svg", body.replace(b"</svg>", script))
    body = b.files["datapackage.json"]
    b.changed("a word of datapackage.json", "datapackage.json",
              body.replace(b'"Replay dump"', b'"Replay damp"'))
    b.changed("keywords", "datapackage.json", body.replace(b"network", b"secrets"))
    for what, other in (("a title of two lines", b'"title": "a\\nb"'),
                        ("a title of none", b'"title": 7'), ("no title", b'"titel": "x"')):
        b.replaced(what, "datapackage.json", re.sub(rb'"title": "A trace[^"]*"', other, body, count=1),
                   "datapackage.json")


def check_originals(b):
    """What the original gives in the place of what the release gives."""
    database, dump = b.folder / "o.db", b.folder / "o.rdump"
    p.anonymizer.checked("ingest", "-q", "-o", database, b.original)
    p.anonymizer.checked("rdump", "-o", dump, database)
    b.replaced("the original's replay dump", "trace.rdump", dump.read_bytes())
    anonymized = b.folder / "a.pcapng"
    anonymized.write_bytes(b.files[CAPTURE])
    for form, path in ("--json", "audit.json"), ("--html", "audit.html"):
        for redact in (), ("--redact",):
            body = p.anonymizer.checked("audit", form, "--key", b.key, *redact, b.original,
                                        anonymized).encode()
            if redact:
                expect(body == b.files[path], path, "is not what audit --redact says")
            else:
                b.replaced("an unredacted report", path, body)
    # figures are only as good as the maker's word, but both reports must say the same
    report = b.files["audit.json"]
    frames = re.search(rb'"original":\{"frames":(\d+)', report)
    b.changed("a figure", "audit.json", report[:frames.start(1)] + b"1" + report[frames.start(1) + 1:],
              "audit.html" + AGAIN)


def check_database(b):
    body = b.files["trace.db"]
    page = struct.unpack(">H", body[16:18])[0]
    for at in (18, 24, 40, 44, 48, 60, 64, 68, 72, 91, 92, 96):
        b.changed("byte %d of the database's header" % at, "trace.db", flip(body, at), "trace.db: ")
    slack = 0
    for start in range(0, len(body), page):  # between the cell pointers and the cells of a page
        head = start + (100 if start == 0 else 0)
        if body[head] not in (2, 5, 10, 13):
            continue
        cells, content = struct.unpack(">HH", body[head + 3:head + 7])
        free = head + (12 if body[head] in (2, 5) else 8) + 2 * cells
        if free + 8 < start + content and slack < 6:
            slack += 1
            b.changed("slack of page at %d" % start, "trace.db",
                      body[:free] + b"secrets!" + body[free + 8:])
    expect(slack > 2, "pages with slack:", slack)
    path = b.folder / "free.db"
    path.write_bytes(body)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE gone AS SELECT 'the secret ' || id AS x FROM operation")
        connection.commit()
        connection.execute("DROP TABLE gone")
    connection.close()
    b.replaced("free pages", "trace.db", path.read_bytes())
    expect(b"the secret 1" in path.read_bytes(), "free pages are empty")


def blocks(body):
    at = 0
    while at < len(body):
        kind, length = struct.unpack("<II", body[at:at + 8])
        yield at, kind, length
        at += length


def block(kind, inside):
    inside += bytes(-len(inside) % 4)
    return struct.pack("<II", kind, len(inside) + 12) + inside + struct.pack("<I", len(inside) + 12)


def option(code, text):
    return struct.pack("<HH", code, len(text)) + text + bytes(-len(text) % 4)


def check_capture(b):
    """Each kind of block, each header, and what stands between."""
    body = b.files[CAPTURE]
    there = list(blocks(body))
    kinds = [kind for _, kind, _ in there]
    expect(kinds[0] == 0x0a0d0d0a and kinds[1] == 1 and set(kinds[2:-1]) == {6} and kinds[-1] == 5,
           "blocks", set(kinds))
    packets = [(at, length) for at, kind, length in there if kind == 6]
    at, length = packets[len(packets) // 2]
    padded = next((a, n) for a, n in packets if struct.unpack("<I", body[a + 20:a + 24])[0] % 4)
    frame, last = at + 28, there[-1][0]
    note = body.index(b"nfsdigest", 0)
    found = re.escape(CAPTURE) + ": (byte [0-9]+ is not what anonymizing|its last block)"
    places = {"section's version": 12, "section's length": 16, "its comment": note + 3,
              "snaplen": there[1][0] + 12, "link type": there[1][0] + 10,
              "padding of an option": there[1][0] + 21,
              "padding of a packet": padded[0] + padded[1] - 5,
              "destination's hardware address": frame + 5, "source's": frame + 11,
              "type of service": frame + 15, "identification": frame + 19, "hop limit": frame + 22,
              "checksum of IP": frame + 24, "TCP's flags": frame + 47, "window": frame + 48,
              "checksum of TCP": frame + 50, "urgent pointer": frame + 53,
              "sequence number": frame + 41, "acknowledged": frame + 45,
              "its packet's time": at + 16,
              "time at the end": last + 16, "interface at the end": last + 8}
    for what, place in places.items():
        b.changed(what, CAPTURE, flip(body, place), re.escape(CAPTURE) + ": |trace.db: ")
    text = body[last:].index(b"written.frames ") + last + len(b"written.frames ")
    b.changed("a counter", CAPTURE, body[:text] + b"9" + body[text + 1:], found)
    name = body[last:].index(b"messages.whole") + last
    b.changed("a counter's name", CAPTURE, body[:name] + b"messages.whale" + body[name + 14:], found)
    section, end = body[:there[0][2]], body[last:]
    counters = end[24:24 + struct.unpack("<H", end[22:24])[0]]
    packet = body[at:at + length]
    for what, other in (
            ("an option of the section", block(0x0a0d0d0a, section[8:24] + option(3, b"Plan 9") +
                                               section[24:-4]) + body[len(section):]),
            ("an option of the interface", section + block(
                1, body[there[1][0] + 8:there[1][0] + 16] + option(2, b"eth0") +
                body[there[1][0] + 16:there[2][0] - 4]) + body[there[2][0]:]),
            ("a comment of a packet", body[:at] + block(
                6, packet[8:-4] + option(1, b"secret") + bytes(4)) + body[at + length:]),
            ("names", body[:at] + block(4, struct.pack("<HH", 1, 12) + b"\x0a\0\0\1secret\0\0" +
                                        bytes(4)) + body[at:]),
            ("a custom block", body[:at] + block(0xbad, struct.pack("<I", 32473) + b"secret") +
             body[at:]),
            ("a simple packet", body[:at] + block(3, struct.pack("<I", 60) + bytes(60)) + body[at:]),
            ("a stranger's packet", body[:at] + block(
                6, bytes(4) + packet[12:20] + struct.pack("<II", 60, 60) + bytes(60)) + body[at:]),
            ("a packet twice", body[:at] + packet + body[at:]),
            ("a trailer of a frame", body[:at] + block(
                6, packet[8:20] + struct.pack("<II", *(n + 4 for n in struct.unpack(
                    "<II", packet[20:28]))) + packet[28:28 + struct.unpack("<I", packet[20:24])[0]] +
                b"secr") + body[at + length:]),
            ("a second section", body + body),
            ("a line more at the end", body[:last] + block(5, end[8:20] + option(
                1, counters + b"secret 1\n") + bytes(4))),
            ("a value of zero at the end", body[:last] + block(5, end[8:20] + option(
                1, counters + b"lost.hole_bytes 0\n") + bytes(4))),
            ("an option at the end", body[:last] + block(5, end[8:20] + option(1, counters) +
                                                         option(4, bytes(8)) + bytes(4))),
            ("nothing at the end", body[:last])):
        b.replaced(what, CAPTURE, other, re.escape(CAPTURE) + ": |trace.db: ")
    data = body.rindex(bytes(512), 0, last)  # file contents, under a policy that leaves zeros
    b.changed("file contents", CAPTURE, body[:data + 200] + b"secret" + body[data + 206:],
              re.escape(CAPTURE) + ": byte")


def with_field(tar, path, at, value):
    """A member's header with another field, and a checksum that fits."""
    head = p.place(tar, path).offset
    block_ = bytearray(tar[head:head + 512])
    block_[at:at + len(value)] = value
    block_[148:156] = b" " * 8
    block_[148:156] = b"%06o\0 " % sum(block_)
    return tar[:head] + bytes(block_) + tar[head + 512:]


def check_archive(b):
    found = "the archive's own bytes"
    for what, at, value in (("mode", 100, b"000600 "), ("owner", 108, b"001750 "),
                            ("group", 116, b"001750 "), ("time", 136, b"14000000000"),
                            ("link's name", 157, b"x"), ("user's name", 265, b"ann"),
                            ("group's name", 297, b"staff"), ("device", 329, b"000001 "),
                            ("prefix's end", 470, b"secret"), ("padding of the header", 500, b"x"),
                            ("size's end", 135, b"\0")):
        data = p.zstd(with_field(b.tar, "README.md", at, value))
        expect(data != b.good, what, "changes nothing")
        code, out = b.verify(data)
        expect(code in (1, 3) and (code == 3 or re.search(found + "|path outside", out)), "tar:", what,
               code, out[:300])
    dated = b.tar
    for path in b.files:
        dated = with_field(dated, path, 136, b"14000000000")
    b.wrong("all dates", p.zstd(dated), found)
    m = p.place(b.tar, "README.md")
    padding = m.offset_data + m.size
    expect(padding % 512, "README.md has no padding")
    b.wrong("padding of a member", p.zstd(b.tar[:padding] + b"x" + b.tar[padding + 1:]), "between")
    b.wrong("trailing blocks", p.zstd(b.tar[:-1] + b"x"), "between")
    b.wrong("more trailing blocks", p.zstd(b.tar + bytes(10240)), "between|" + found)
    b.wrong("fewer of them", p.zstd(b.tar[:-512]), found)
    members = p.members(b.good)
    b.wrong("another order", p.archive(members[1:] + members[:1]), found + "|between")
    b.wrong("a skippable frame", b.good + bytes.fromhex("502a4d18 06000000") + b"secret",
            "not in one piece")
    b.wrong("a skippable frame first", bytes.fromhex("502a4d18 06000000") + b"secret" + b.good,
            "not in one piece")
    for words in ("-9",), ("-3", "--no-check"), ("-9", "--no-check", "--stream-size=%d" % len(b.tar)):
        other = p.subprocess.run(["zstd", "-qc", *words], input=b.tar, capture_output=True,
                                 check=True).stdout
        expect(other != b.good, words, "gives the same")
        b.wrong("compressed with " + " ".join(words), other, found)


def check_versions(b):
    body = b.files["datapackage.json"]
    made_with = re.search(rb'"made_with": "nfsdigest ([^"]*)"', body)
    expect(made_with, "who made it is not in datapackage.json")
    for other in b"nfsdigest 0.0.9", b"something\\u001b[31m":
        text = body[:made_with.start(0)] + b'"made_with": "' + other + b'"' + body[made_with.end(0):]
        b.replaced("another version", "datapackage.json", text,
                   "made with .*which cannot make it again byte for byte.  Only these were checked")
    b.replaced("no version", "datapackage.json", body.replace(b'"made_with"', b'"made_wiht"'),
               "cannot make it again")
    epoch = b.folder / "epoch.tar.zst"
    data = p.made(epoch, b.key, "--no-rdump", b.original,
                  environment={"SOURCE_DATE_EPOCH": "1234567890"})
    code, out = b.verify(data)
    expect(code == 0 and b'"date": 1234567890' in p.contents(data)["datapackage.json"],
           "a date of the maker's choice:", code, out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        b = Bench(pathlib.Path(folder))
        code, out = b.verify(p.zstd(b.tar))
        expect(code == 0, "unchanged, compressed again:", out)
        check_members(b)
        check_originals(b)
        check_database(b)
        check_capture(b)
        check_archive(b)
        check_versions(b)
    p.finish()


if __name__ == "__main__":
    os.umask(0o022)
    main()
