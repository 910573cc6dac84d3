#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: plugin slow cost=45
"""tshark -z nfsanon writes the same bytes as nfsdigest anonymize: from the frame tap and with
decap=wireshark, in one pass and in two, alone and beside nfspair in one run, whose stream is then
that of nfspair alone.  In live captures too (plugin_live.py says how), where what came goes out in
pauses.

What only Wireshark takes off gives, with decap=wireshark, the anonymized capture of the same packets
without it; also beside a recorder that takes frames apart itself, and finds nothing there.

    plugin_anon.py [NAME...]

NAMEs are patterns of what is to be tried.
"""
import concurrent.futures
import fnmatch
import glob
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import plugin_live as live
import plugin_record as record
import ended_runs  # by the path that plugin_record sets

NFSDIGEST, TSHARK = record.NFSDIGEST, record.TSHARK
WITH_PLUGINS = os.path.join(os.environ["BUILD"], "bin", "with-plugins")
CAPTURES_LEAST, FOREIGN_LEAST, LIVE_LEAST = 12, 5, 4
POLICIES = ("public", "lab", "strict")
# tried in every way and with every policy
THOROUGH = ("vfs-libnfs-all22.pcap", "knfsd-udp-frag.pcap", "gtp")
WIRESHARK = ",decap=wireshark"


def anonymize(scratch, capture, out, policy="public"):
    """By the other door.  As the user that tshark is run as, whose key it is."""
    record.run(WITH_PLUGINS, NFSDIGEST, "anonymize", "--policy", policy, "--key",
               str(scratch / "key"), "-o", str(out), str(capture))
    return out.read_bytes()


def statistic(scratch, out, options=""):
    return "nfsanon,out=%s,key=%s%s" % (out, scratch / "key", options)


class Try:
    """Runs of tshark on one capture; |out| is the name that their files begin with."""

    def __init__(self, scratch, capture, out):
        self.scratch, self.capture, self.out = scratch, str(capture), out
        self.wrong, self.runs = [], 0

    def file(self, name):
        return self.scratch / ("%s.%s" % (self.out, name))

    def tshark(self, passes, *statistics):
        record.run(TSHARK, *record.DECODE_AS, *passes, "-q", "-r", self.capture,
                   *(word for text in statistics for word in ("-z", text)))
        self.runs += 1

    def same(self, what, data, expected):
        if data != expected:
            self.wrong.append("%s: %s: other bytes" % (self.out, what))

    def alone(self, expected, options="", passes=()):
        out = self.file("alone")
        self.tshark(passes, statistic(self.scratch, out, options + ",force"))
        self.same("nfsanon%s %s" % (options, " ".join(passes)), out.read_bytes(), expected)

    def beside(self, expected, stream, anon="", pair="", swap=False, passes=()):
        """|stream|: that of nfspair alone."""
        both = [self.file("both.pcapng"), self.file("both.nfsr")]
        statistics = [statistic(self.scratch, both[0], anon + ",force"),
                      "nfspair,out=%s%s" % (both[1], pair)]
        self.tshark(passes, *(reversed(statistics) if swap else statistics))
        what = "nfsanon%s %s nfspair%s %s" % (anon, "after" if swap else "before", pair,
                                               " ".join(passes))
        self.same(what + ": the capture", both[0].read_bytes(), expected)
        self.same(what + ": the stream", both[1].read_bytes(), stream)

    def stream(self, options=""):
        out = self.file("nfsr")
        self.tshark((), "nfspair,out=%s%s" % (out, options))
        return out.read_bytes()


def try_capture(scratch, path):
    t = Try(scratch, path, path.name)
    expected = anonymize(scratch, path, t.file("expected"))
    stream = t.stream()
    t.alone(expected)
    t.alone(expected, WIRESHARK)
    t.beside(expected, stream)
    if path.name not in THOROUGH:
        return t
    for policy in POLICIES:
        data = anonymize(scratch, path, t.file(policy), policy)
        if (data == expected) != (policy == "public"):
            t.wrong.append("%s: is policy %s the default?" % (t.out, policy))
        t.alone(data, ",policy=" + policy)
        t.alone(data, ",policy=%s,stats%s" % (policy, WIRESHARK))
    for options in "", WIRESHARK:
        t.alone(expected, options, ("-2",))
    for anon, pair, swap in (("", WIRESHARK, False), ("", WIRESHARK, True), (WIRESHARK, "", False),
                             (WIRESHARK, "", True), (WIRESHARK, WIRESHARK, False),
                             (WIRESHARK, WIRESHARK, True)):
        t.beside(expected, stream, anon, pair, swap, ("-2",) if swap else ())
    return t


def try_foreign(scratch, name):
    """An encapsulation that the engine doesn't know."""
    paths = []
    for link_type, wrap, *_ in (record.KNOWN["ethernet"], record.FOREIGN[name]):
        paths.append(scratch / ("%s-%d.pcap" % (name, len(paths))))
        record.capfile.write_pcap(paths[-1], [
            record.capfile.Packet(time, wrap(packet), len(wrap(packet)), link_type)
            for time, packet in record.plain_packets()], link_type)
    t = Try(scratch, paths[1], name)
    expected = anonymize(scratch, paths[0], t.file("plain"))
    nothing = anonymize(scratch, paths[1], t.file("nothing"))
    streams = t.stream(), t.stream(WIRESHARK)
    if blocks(nothing) or blocks(expected) < record.PAIRS * 2 or streams[0] == streams[1]:
        t.wrong.append("%s: does the engine know it?" % name)
    t.alone(expected, WIRESHARK)
    t.beside(expected, streams[0], WIRESHARK, "", True)
    for swap in (False, True) if name in THOROUGH else ():
        for anon, pair in (WIRESHARK, ""), ("", WIRESHARK), (WIRESHARK, WIRESHARK):
            t.beside(expected if anon else nothing, streams[bool(pair)], anon, pair, swap)
    return t


def blocks(data):
    """How many enhanced packet blocks are there whole."""
    count = at = 0
    while at + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if size < 12 or at + size > len(data):
            break
        count += kind == 6
        at += size
    return count


# --- live captures ---

def live_flows(scratch, data, expected):
    """Half of the capture, a pause, the rest."""
    out = scratch / "flows"
    tshark = live.Live(scratch, "flows", ["-z", statistic(scratch, "-")], stdout=open(out, "wb"))
    tshark.pipe.write(data[:len(data) // 2])
    live.wait_for("messages in the pause",
                  lambda: blocks(out.read_bytes()) > blocks(expected) // 2 - 20)
    tshark.pipe.write(data[len(data) // 2:])
    live.wait_for("messages at the end", lambda: blocks(out.read_bytes()) == blocks(expected))
    tshark.end(0)
    return [out]


def live_file(scratch, data, expected):
    """Beside nfspair, and with Wireshark's decapsulation."""
    out, stream = scratch / "file", scratch / "file.nfsr"
    tshark = live.Live(scratch, "file", ["-z", statistic(scratch, out, WIRESHARK),
                                         "-z", "nfspair,out=%s" % stream])
    tshark.pipe.write(data)
    # both have it all when they flush
    live.wait_for("messages", lambda: any(blocks(p.read_bytes()) == blocks(expected)
                                          for p in scratch.glob("file.*.part")))
    if out.exists() or stream.exists():
        raise live.Failure("an output is there before its end")
    tshark.end(0)
    record.run(NFSDIGEST, "record", "-o", str(scratch / "reference.nfsr"),
               str(scratch / "live.pcap"))
    if live.records(stream) != live.records(scratch / "reference.nfsr"):
        raise live.Failure("other records than from a file")
    return [out]


def live_ring(scratch, data, expected):
    out, ring = scratch / "ring-out", scratch / "ring"
    ring.mkdir()
    ring.chmod(0o777)
    tshark = live.Live(scratch, "ring", ["-z", statistic(scratch, out), "-b", "packets:30", "-w",
                                         str(ring / "part.pcapng")])
    tshark.pipe.write(data)
    live.wait_for("messages", lambda: any(blocks(p.read_bytes()) == blocks(expected)
                                          for p in scratch.glob("ring-out.*.part")))
    tshark.end(0)
    if len(list(ring.iterdir())) < 5:
        raise live.Failure("no ring of files")
    return [out]


def live_reader_gone(scratch, data, _expected):
    reader, writer = os.pipe()
    tshark = live.Live(scratch, "gone", ["-z", statistic(scratch, "-")], stdout=writer)
    os.close(writer)
    tshark.pipe.write(data[:len(data) // 2])
    if not os.read(reader, 100):
        raise live.Failure("no capture")
    os.close(reader)
    try:
        tshark.pipe.write(data[len(data) // 2:])
    except BrokenPipeError:
        pass
    text = tshark.end(4, sign=None)
    if "nfsanon: standard output: cannot write: Broken pipe" not in text:
        raise live.Failure("no message: %s" % text)
    return []


LIVE = {"live-flows": live_flows, "live-file": live_file, "live-ring": live_ring,
        "live-reader-gone": live_reader_gone}


def try_live(scratch, name):
    t = Try(scratch, scratch / "live.pcap", name)
    try:
        expected = (scratch / "live.pcapng").read_bytes()
        for out in LIVE[name](scratch, (scratch / "live.pcap").read_bytes(), expected):
            t.same("the capture", out.read_bytes(), expected)
        t.runs += 1
    except (live.Failure, RuntimeError) as error:
        t.wrong.append("%s: %s" % (name, error))
    return t


def real(scratch):
    """The real captures, unpacked once: not every tshark reads zstd."""
    for path in sorted(glob.glob(os.path.join(os.environ["CAPTURES"], "*.pcap*"))):
        name = os.path.basename(path)
        if name.endswith(".zst"):
            name = name.removesuffix(".zst")
            record.run("zstd", "-q", "-d", "-f", path, "-o", str(scratch / name))
            path = scratch / name
        yield pathlib.Path(path)
    for case in ended_runs.cases():
        if case.acked and case.same_ports:
            yield case.write(scratch)


def main():
    patterns = sys.argv[1:] or ["*"]
    scratch = pathlib.Path(tempfile.mkdtemp())
    scratch.chmod(0o777)
    wrong = []

    def chosen(name):
        return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    try:
        record.run(WITH_PLUGINS, NFSDIGEST, "key", "new", str(scratch / "key"))
        live.make_capture(scratch / "live.pcap")
        anonymize(scratch, scratch / "live.pcap", scratch / "live.pcapng")
        for kind, function, inputs, least, threads in (
                ("captures", try_capture, [p for p in real(scratch) if chosen(p.name)],
                 CAPTURES_LEAST, 2),
                ("encapsulations", try_foreign, list(filter(chosen, record.FOREIGN)),
                 FOREIGN_LEAST, 2),
                ("live captures", try_live, list(filter(chosen, LIVE)), LIVE_LEAST, 1)):
            if patterns == ["*"] and len(inputs) < least:
                wrong.append("%d %s, not %d" % (len(inputs), kind, least))
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                tries = list(pool.map(lambda i, f=function: f(scratch, i), inputs))
            wrong += [line for t in tries for line in t.wrong]
            print("%d %s, %d runs of tshark" % (len(inputs), kind, sum(t.runs for t in tries)),
                  flush=True)
    finally:
        shutil.rmtree(scratch)
    print("\n".join(wrong) if wrong else "all captures are equal")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
