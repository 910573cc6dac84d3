#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow
"""What the key is to pseudonyms.  Captures of one site that were anonymized apart with one key agree on
every pseudonym, with two keys on none.  And what somebody without the key tries: hashing likely
names, reading inode numbers out of handles, names out of ext4's directory cookies and out of
lengths.  Each attack is tried on the original first, where it must succeed.
"""
import base64
import bisect
import collections
import concurrent.futures
import hashlib
import hmac
import os
import subprocess
import sys
import tempfile
import zlib

SRC = os.environ.get("SRC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path[:0] = [os.path.join(SRC, "tests", "oracle"), os.path.join(SRC, "tests", "gen")]

import anonymizer  # noqa: E402
import capfile  # noqa: E402
import database  # noqa: E402
import isomorphism  # noqa: E402
import isomorphism_rows  # noqa: E402
import stock  # noqa: E402
import tshark  # noqa: E402

BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
FIELD_DUMP = os.path.join(BUILD, "bin", "tests", "field_dump")
CAPTURES = os.environ.get("CAPTURES") or os.path.join(SRC, "captures")
# One site: one client machine with one workload, against two servers.
SITE = ("pair-knfsd.pcap", "pair-ganesha-vfs.pcap")
# Kinds of things as isomorphism.py calls them, and how many both captures of the site must share.
SHARED = {"name": 900, "uidn": 1, "gidn": 1, "hostx": 1}
WIDE = {"name": 900, "handle": 3000, "fileidn": 2000, "cookien": 1000}
TOKEN = 16


class Capture:
    """An original or one half of it, and its copies: |copies| by (policy, number of the key)."""

    def __init__(self, name, path, directory):
        self.name, self.path, self.directory, self.copies = name, path, directory, {}

    def copy(self, policy, seed):
        if (policy, seed) not in self.copies:
            path = os.path.join(self.directory, "%s.%s.%d" % (self.name, policy, seed))
            key = anonymizer.known_key(path + ".key", seed)
            anonymizer.anonymize(path, policy, key, self.path)
            self.copies[policy, seed] = path
        return self.copies[policy, seed]

    def lines(self, path):
        return isomorphism.dump(database.program(), FIELD_DUMP, path)

    def addresses(self, path):
        """Of clients and servers, in the order of operations."""
        if not os.path.exists(path + ".db"):
            database.ingest(path + ".db", path)
        rows = isomorphism_rows.Base(path + ".db").rows(
            "SELECT client, server FROM operation WHERE call_frame NOT NULL ORDER BY id")
        return [row[side] for row in rows for side in (0, 1)]

    def learn(self, values, policy, seed, findings):
        """Which pseudonym each thing got goes into |values|; findings: where they don't agree."""
        copy = self.copy(policy, seed)
        isomorphism.compare_fields(isomorphism.Fields(FIELD_DUMP), values, self.lines(self.path),
                                   self.lines(copy), findings)
        for a, b in zip(self.addresses(self.path), self.addresses(copy)):
            if not values.renaming.same("address", a, b):
                findings.add("address", "%s for %s" % (b, a))
                break


def pseudonyms(captures, policy, seed):
    """One renaming for all of |captures|, and lines on what in them does not agree."""
    values = isomorphism.Values(isomorphism.POLICIES[policy])
    findings, counts = isomorphism.Findings(), collections.Counter()
    for capture in captures:
        capture.learn(values, policy, seed, findings)
        counts.update({kind: len(table[0]) for kind, table in values.renaming.kinds.items()})
    return values.renaming, ["%s, %s" % (policy, text) for text in findings.examples]


def agree(captures, policy):
    """One key: what either capture alone was given is what both together have."""
    both, wrong = pseudonyms(captures, policy, 1)
    alone = [pseudonyms([capture], policy, 1)[0] for capture in captures]
    for kind, least in SHARED.items():
        shared = set(alone[0].kinds[kind][0]) & set(alone[1].kinds[kind][0])
        print("%s: %d %ss in both captures have the same pseudonym" % (
            policy, len(shared), kind.rstrip("nx")))
        if len(shared) < least:
            wrong.append("%s: only %d of %s are in both captures" % (policy, len(shared), kind))
    if not disagree(captures[0], policy):
        wrong.append("two keys seem to agree")
    return both, wrong


def disagree(capture, policy):
    """That the comparison would find it: a capture's copies under two keys taken for one."""
    values, findings = isomorphism.Values(isomorphism.POLICIES[policy]), isomorphism.Findings()
    for seed in (1, 2):
        capture.learn(values, policy, seed, findings)
    return {"value of name", "value of dir", "value of uid", "value of fileid"} <= \
        set(findings.aspects)


def differ(captures, policy, first):
    """Two keys: no pseudonym is the same, and of wide ones none is used twice."""
    second, wrong = pseudonyms(captures[:1], policy, 2)
    kept = (b"", b".", b"..", "n0", "x", "x" + "00" * 8, "n65534", "n4294967294", "n4294967295")
    for kind, (forth, _) in second.kinds.items():
        here = first.kinds[kind][0]
        same = [a for a in forth if a not in kept and forth[a] == here.get(a)]
        if same:
            wrong.append("%s: %d of %d of %s have one pseudonym under two keys, as %r" % (
                policy, len(same), len(forth), kind, same[0]))
        if kind in WIDE:
            twice = {b for b in forth.values() if b not in kept} & set(here.values())
            if twice:
                wrong.append("%s: %d pseudonyms of %s under both keys" % (policy, len(twice), kind))
    print("%s: another key, other pseudonyms (%s)" % (policy, ", ".join(
        "%d %s" % (len(t[0]), kind) for kind, t in sorted(second.kinds.items()))))
    return wrong


FIELDS = ("frame.time_epoch", "rpc.xid", "rpc.msgtyp", "ip.src", "ip.dst", "rpc.auth.machinename",
          "rpc.auth.uid", "nfs.fhandle", "nfs.name", "nfs.fattr3.uid", "nfs.fattr3.fileid",
          "nfs.fattr3.fsid", "nfs.readdir.entry3.name", "nfs.readdirplus.entry.name",
          "nfs.readdirplus.entry.cookie", "mount.path")


def shown(path):
    """{(time, XID, direction): what stock tshark shows}"""
    out = subprocess.run(["tshark", "-n", "-r", path, "-Y", "rpc", "-T", "fields", "-E",
                          "occurrence=a", "-E", "aggregator=|"] + tshark.OPTIONS +
                         [o for field in FIELDS for o in ("-e", field)], env=stock.STOCK,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                         encoding="utf-8", errors="replace").stdout
    rows = [line.split("\t") for line in out.splitlines()]
    return {tuple(row[:3]): row[3:] for row in rows}


def halves(directory):
    """A capture cut in two, each half anonymized alone, says what the whole says, for tshark."""
    whole = unpack("knfsd-netem-udp.pcap", directory)
    packets = capfile.read(whole.path)
    middle = len(packets) // 2
    found, wrong = {}, []
    for number, part in enumerate((packets[:middle], packets[middle:])):
        path = os.path.join(directory, "half%d.pcap" % number)
        capfile.write_pcap(path, part)
        found.update(shown(Capture("half%d" % number, path, directory).copy("public", 1)))
    together = shown(whole.copy("public", 1))
    different = [k for k in together if k in found and found[k] != together[k]]
    # what was cut in two, and replies whose call is in the other half, are not in the halves
    missing = [k for k in together if k not in found]
    print("%d messages of two halves are those of the whole, %d are in neither half" % (
        len(together) - len(missing) - len(different), len(missing)))
    if different:
        wrong.append("halves: %d of %d messages differ: %s, not %s" % (
            len(different), len(together), found[different[0]], together[different[0]]))
    if len(missing) > 10 or len(together) < 1900:
        wrong.append("halves: %d of %d messages are missing" % (len(missing), len(together)))
    return wrong


# --- attacks ---

def digits(number, alphabet, length):
    out = ""
    for _ in range(length):
        number, digit = divmod(number, len(alphabet))
        out = alphabet[digit] + out
    return out


def spellings(digest):
    """How a token might be made of a digest: its first TOKEN characters."""
    lower = "0123456789abcdefghijklmnopqrstuvwxyz"
    yield digest.hex()
    if len(digest) < 10:
        return
    yield base64.b64encode(digest, b"-_").decode()
    standard = base64.b32encode(digest[:10]).decode()
    yield standard.lower()
    table = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", lower[:32])
    yield standard.translate(table)
    yield standard.translate(str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                                           "0123456789abcdefghjkmnpqrstvwxyz"))
    for alphabet in (lower, lower[10:] + lower[:10], lower[10:] + "234567"):
        number = int.from_bytes(digest, "big")
        yield digits(number, alphabet, TOKEN)
        yield digits(int.from_bytes(digest, "little"), alphabet, TOKEN)


def digests(name):
    """What somebody would try: plain hashes, and keyed ones with no key."""
    for kind in ("md5", "sha1", "sha256", "sha512", "sha3_256", "blake2b", "blake2s"):
        yield hashlib.new(kind, name).digest()
    for text in (name + b"\n", name + b"\0", b"name" + name, b"name\0" + name):
        yield hashlib.sha256(text).digest()
    for key in (b"", bytes(32), b"name"):
        yield hmac.new(key.ljust(1, b"\0"), name, "sha256").digest()
    yield bytes.fromhex(tshark.digest(name))
    xxh = int(tshark.digest(name), 16)
    yield (xxh & (1 << 64) - 1).to_bytes(8, "big")
    yield zlib.crc32(name).to_bytes(4, "big") * 2
    number = 0xcbf29ce484222325
    for byte in name:
        number = (number ^ byte) * 0x100000001b3 & (1 << 64) - 1
    yield number.to_bytes(8, "big")


def dictionary(renaming, tokens=None):
    """How many names are found by hashing all of them, among tokens, handles, and numbers."""
    names = [n for n in renaming.kinds["name"][0] if len(n) > 2]
    tokens = {t[:TOKEN] for t in tokens or renaming.kinds["name"][1]}
    wide = set()
    for handle in renaming.kinds["handle"][1]:
        wide.update(handle[i:i + 8] for i in range(len(handle) - 7))
    for kind in "cookien", "fileidn", "fsidn":
        wide.update(int(n[1:]).to_bytes(8, "big") for n in renaming.kinds[kind][1])
    found = 0
    for name in names:
        for digest in digests(name):
            head = digest[:8]
            found += (head in wide or head[::-1] in wide or
                      any(s[:TOKEN].encode() in tokens for s in spellings(digest)))
    return found, len(names)


def attack_names(renaming):
    """Hashes of names.  That the attack works is shown on tokens made by a plain hash."""
    names = [n for n in renaming.kinds["name"][0] if len(n) > 2]
    weak = [base64.b32encode(hashlib.sha256(n).digest()[:10]).lower() for n in names]
    control, _ = dictionary(renaming, weak)
    found, tried = dictionary(renaming)
    print("hashing %d names: finds %d of plain hashes, %d here" % (tried, control, found))
    return ["%d names are found by hashing" % found] * bool(found) + \
        ["hashing finds only %d of %d" % (control, tried)] * (control < tried)


def bytes_of(number):
    """A number as it stands in memory, as far as it says something."""
    size = 4 if number < 1 << 32 else 8
    return {number.to_bytes(size, "little"), number.to_bytes(size, "big"),
            (number & 0xffffffff).to_bytes(4, "little"), (number & 0xffffffff).to_bytes(4, "big")}


def attack_handles(original, copy):
    """Inode numbers in handles: of the original in the copy's, of the copy in the copy's."""
    wrong = []
    one, two = (isomorphism_rows.Base(path + ".db").rows(
        "SELECT handle, fileid FROM object ORDER BY id") for path in (original, copy))
    known = [(a, b) for a, b in zip(one, two)
             if a["fileid"] is not None and a["fileid"] > 255 and b["fileid"] is not None]
    inside = sum(any(x in a["handle"] for x in bytes_of(a["fileid"])) for a, _ in known)
    for what, side in (("original's", 0), ("copy's own", 1)):
        hits = sum(any(x in pair[1]["handle"] for x in bytes_of(pair[side]["fileid"] & (1 << 64) - 1))
                   for pair in known)
        print("%s: the inode's number is in %d of %d handles, after anonymizing the %s in %d" % (
            os.path.basename(original), inside, len(known), what, hits))
        if hits:
            wrong.append("%d handles have the %s inode number in them" % (hits, what))
    if inside < len(known) // 2 or len(known) < 1000:
        wrong.append("no inode numbers in the original's handles")
    wrong += attack_structure([a["handle"] for a, _ in known], [b["handle"] for _, b in known])
    return wrong


def attack_structure(one, two):
    """Bytes that all handles of a file system share must not be shared any more."""
    def poorest(handles):
        length = collections.Counter(map(len, handles)).most_common(1)[0][0]
        same = [h for h in handles if len(h) == length]
        return min(len({h[i] for h in same}) for i in range(length)), len(same)
    before, _ = poorest(one)
    after, count = poorest(two)
    print("a byte of %d handles has %d values at the least, before it was %d" % (count, after,
                                                                            before))
    return ["a byte of handles has only %d values" % after] * (after < 200) + \
        ["all bytes of the original's handles differ"] * (before > 50)


def rank_correlation(pairs):
    """Spearman's, of distinct numbers."""
    first = sorted(a for a, _ in pairs)
    second = sorted(b for _, b in pairs)
    n = len(pairs)
    total = sum((bisect.bisect(first, a) - bisect.bisect(second, b)) ** 2 for a, b in pairs)
    return 1 - 6 * total / (n * (n * n - 1))


def attack_numbers(renaming):
    """Numbers that are hashes of names (ext4's cookies), or say when a file was made (inodes)."""
    wrong = []
    for kind, least in (("cookien", 1000), ("fileidn", 2000)):
        forth = {int(a[1:]): int(b[1:]) for a, b in renaming.kinds[kind][0].items() if a != "n0"}
        large = {a for a in forth if a >> 32}
        seen = set(forth.values())
        halves_seen = {b >> 32 for b in seen} | {b & 0xffffffff for b in seen}
        kept = {a for a in forth if a in seen}
        part = {a for a in large if a >> 32 in halves_seen}
        rank = rank_correlation(list(forth.items()))
        print("%s: %d numbers, %d of them wide; kept %d, halves kept %d; rank correlation %.3f" % (
            kind.rstrip("n"), len(forth), len(large), len(kept), len(part), rank))
        if kept or part or abs(rank) > 0.1 or len(forth) < least:
            wrong.append("%s tell of the originals" % kind.rstrip("n"))
        if kind == "cookien" and len(large) < 500:
            wrong.append("no cookies of ext4 in the original")
    return wrong


def attack_lengths(renaming):
    """Under public, a token's length says which suffix was kept, and nothing else."""
    lengths = collections.defaultdict(set)
    originals = collections.defaultdict(set)
    for name, token in renaming.kinds["name"][0].items():
        if name in (b"", b".", b".."):
            continue
        kept = token[TOKEN:] if not token.startswith(b".nfs") else b".nfs" + token[4 + TOKEN:]
        lengths[kept].add(len(token))
        originals[kept].add(len(name))
        if not (name.endswith(kept) or name.startswith(b".nfs")):
            return ["%r became %r, which has a suffix of its own" % (name, token)]
    print("names of %d lengths became tokens of %d forms, each of one length" % (
        len(set().union(*originals.values())), len(lengths)))
    return ["tokens with %r have lengths %s" % (k, v) for k, v in lengths.items() if len(v) > 1] + \
        ["all names have one length"] * (max(map(len, originals.values())) < 10)


def unpack(capture, directory):
    path = os.path.join(directory, capture)
    with open(path, "wb") as out:
        subprocess.run(["zstd", "-dqc", os.path.join(CAPTURES, capture + ".zst")], stdout=out,
                       check=True)
    return Capture(capture, path, directory)


def examine(policy, directory):
    """In a process of its own: (lines of what is wrong)."""
    directory = tempfile.mkdtemp(dir=directory)
    captures = [unpack(name, directory) for name in SITE]
    renaming, wrong = agree(captures, policy)
    wrong += differ(captures, policy, renaming)
    wrong += attack_numbers(renaming)
    for capture in captures:
        wrong += attack_handles(capture.path, capture.copy(policy, 1))
    if policy == "public":
        wrong += attack_names(renaming) + attack_lengths(renaming)
    else:
        wrong += halves(directory)
    return ["%s: %s" % (policy, line) for line in wrong]


def main():
    with tempfile.TemporaryDirectory(prefix="keys.") as directory, \
            concurrent.futures.ProcessPoolExecutor(min(2, os.cpu_count())) as pool:
        wrong = sum(pool.map(examine, ("public", "lab"), [directory] * 2), [])
    for line in wrong:
        print("FAILED " + line[:400])
    print("anon_keys: " + ("FAILED" if wrong else "good"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
