#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=1800 plugin slow cost=100 long=--every
"""All ways into the engine give the same bytes: libpcap (nfsdigest record), tshark's frame tap,
tshark with decap=wireshark, and both of these in two passes.

Over the captures of $CAPTURES, those of the generators, and RPC traffic in every encapsulation
that the engine knows.  Encapsulations that only Wireshark knows must give the same operations with
decap=wireshark, and without it both doors must name them and that option.

    plugin_record.py [-k DIRECTORY] [--every] [NAME...]

-k keeps captures and streams there; NAMEs are patterns of captures.  Without --every, each capture
goes some of the ways, and each way is gone by some of them: starting tshark takes most of the time.
"""
import argparse
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
import zlib

HERE = pathlib.Path(__file__).resolve().parent
for folder in HERE.parent, HERE.parent / "gen", HERE.parent / "oracle":
    sys.path.insert(0, str(folder))

import capfile  # noqa: E402
import cases  # noqa: E402
import cases_pairing  # noqa: E402,F401
import cases_stream  # noqa: E402,F401
import link_cases as link  # noqa: E402
import messages as m  # noqa: E402
import nfsr  # noqa: E402
import packets  # noqa: E402
import traffic  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
TSHARK = os.path.join(os.environ["BUILD"], "bin", "tshark")
CAPTURES_LEAST, GENERATED_LEAST, WRAPPED_LEAST = 12, 110, 20

# Generated captures on which Wireshark itself takes off the headers in another way, and how. One that
# no longer differs is an error too.
MEANT = {}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return done.stderr


def record(way, capture, out):
    """The stream, and what was said on standard error."""
    options = {"tap": "", "wireshark": ",decap=wireshark"}
    if way == "libpcap":
        said = run(NFSDIGEST, "record", "-o", out, capture)
    else:
        passes = ["-2"] if way.endswith("-2") else []
        said = run(TSHARK, *DECODE_AS, *passes, "-r", capture, "-q", "-z",
            "nfspair,out=" + out + options[way.removesuffix("-2")])
    with open(out, "rb") as file:
        return file.read(), said


def operations(stream):
    """How many, and how many of them are pairs."""
    with open(stream, "rb") as file:
        ops = [r for r in nfsr.read(file) if r["kind"] == "operation"]
    return len(ops), sum(1 for op in ops if op["call.frame"] and op["reply.frame"])


class Capture:
    """|ways|: those whose streams must be equal.  |pairs|: how many pairs each must hold, or None.
    |unopened|: the encapsulation that the other ways must name, or None."""

    def __init__(self, name, path, pairs=None, ways=("libpcap", "tap", "wireshark"), unopened=None):
        self.name, self.path, self.pairs, self.ways = name, str(path), pairs, ways
        self.unopened = unopened

    def check(self, scratch):
        """Lines of what is wrong."""
        wrong, first, words = [], None, {}
        for way in self.ways:
            out = str(scratch / (self.name + "." + way + ".nfsr"))
            data, words[way] = record(way, self.path, out)
            first = first or data
            if (data != first) != (self.name in MEANT and way.startswith("wireshark")):
                wrong.append("%s: %s and %s %s" % (
                    self.name, self.ways[0], way,
                    "differ" if data != first else "no longer differ: take it out of MEANT"))
            if self.pairs is not None and operations(out) != (self.pairs, self.pairs):
                wrong.append("%s: %s gives %s operations and pairs, not %d"
                             % (self.name, way, operations(out), self.pairs))
        return wrong + self.check_words(scratch, words)

    def check_words(self, scratch, words):
        """Whoever does not open an encapsulation says so, and nobody else."""
        wrong = []
        if self.pairs is None:
            return wrong
        for way in "libpcap", "tap", "wireshark":
            said = words.get(way)
            if said is None:
                said = record(way, self.path, str(scratch / (self.name + ".words")))[1]
            meant = self.unopened if way != "wireshark" else None
            if meant and not ("(%s %d)" % (meant, PACKETS) in said and "decap=wireshark" in said):
                wrong.append("%s: %s does not say that %s is not opened: %r"
                             % (self.name, way, meant, said))
            if not meant and "decap=" in said:
                wrong.append("%s: %s says %r" % (self.name, way, said))
        return wrong


# --- RPC traffic in encapsulations ---

FLOW_PAIRS = 10


def plain_packets():
    """(time, IP packet) of some calls and replies over TCP and UDP."""
    trace = traffic.Trace()
    tcp, udp = cases.tcp(trace), cases.udp(trace, 901)
    for flow, xid in (tcp, 100), (udp, 500):
        for i in range(FLOW_PAIRS):
            flow.pair(xid + i, m.WRITE, m.write_args(cases.A, i, m.pattern(600)), m.write_res(600))
            trace.wait(cases.MS)
    # without Ethernet's padding: Wireshark 4.6 takes no padded packet out of GTP
    return [(p.time, p.data[14:14 + int.from_bytes(p.data[16:18], "big")])
            for p in trace.packets()]


# what plain_packets holds: each flow begins with a NULL call
PAIRS = 2 * (FLOW_PAIRS + 1)
PACKETS = len(plain_packets())


def ether(packet, vlans=()):
    return packets.ethernet(packet, vlans)


def outer(protocol, rest):
    return ether(packets.ipv4(link.P4, link.Q4, protocol, rest))


def outer6(protocol, rest):
    return ether(packets.ipv6(link.C6, link.D6, protocol, rest))


def in_udp(port, rest):
    return outer(17, packets.udp(link.P4, link.Q4, 50000, port, rest))


# nothing in a pseudowire says that it is one; Wireshark guesses otherwise than we do
DECODE_AS = ("-d", "mpls.label==98,pwethcw")
MPLS = link.be32(99 << 12 | 0x140)
SLL = link.be16(0, 1, 6, 0, 0, 0, 0, 0x0800)
SLL2 = link.be16(0x0800, 0) + link.be32(1) + link.be16(1) + bytes([0, 6]) + bytes(8)
PPP = b"\xff\3" + link.be16(0x21)

NFLOG = struct.pack("<BBH", 2, 0, 0)

# name: link type and the frame for an IP packet
KNOWN = {
    "ethernet": (link.ETHERNET, ether),
    "vlan": (link.ETHERNET, lambda p: ether(p, (5,))),
    "qinq": (link.ETHERNET, lambda p: ether(p, (5, 6))),
    "sll": (link.SLL, lambda p: SLL + p),
    "sll2": (link.SLL2, lambda p: SLL2 + p),
    "raw": (link.RAW, lambda p: p),
    "raw-bsd": (link.RAW_BSD, lambda p: p),
    "ipv4": (link.IPV4, lambda p: p),
    "null": (link.NULL, lambda p: b"\2\0\0\0" + p),
    "loop": (link.LOOP, lambda p: b"\0\0\0\2" + p),
    "ppp": (link.PPP, lambda p: PPP + p),
    "ip-in-ip": (link.ETHERNET, lambda p: outer(4, p)),
    "ip-in-ipv6": (link.ETHERNET, lambda p: outer6(4, p)),
    "gre": (link.ETHERNET, lambda p: outer(47, link.gre(0x0800, p))),
    "gre-ethernet": (link.ETHERNET, lambda p: outer(47, link.gre(0x6558, ether(p), key=3))),
    "mpls": (link.ETHERNET, lambda p: link.ether(0x8847, MPLS + p)),
    "vxlan": (link.ETHERNET, lambda p: ether(packets.ipv4(link.P4, link.Q4, 17,
                                                          link.vxlan(ether(p))))),
    "vxlan-vlan": (link.ETHERNET, lambda p: ether(packets.ipv4(link.P4, link.Q4, 17,
                                                               link.vxlan(ether(p, (9,)))), (5,))),
    "geneve": (link.ETHERNET, lambda p: ether(packets.ipv4(link.P4, link.Q4, 17,
                                                           link.geneve(0x6558, ether(p), bytes(8))))),
    "pseudowire": (link.ETHERNET, lambda p: link.ether(0x8847, link.be32(98 << 12 | 0x140) + bytes(4) + ether(p))),
    "vn-tag": (link.ETHERNET, lambda p: link.ether(0x8926, bytes(4) + link.be16(0x0800) + p)),
    "802.1ah": (link.ETHERNET, lambda p: link.i_tag(ether(p))),
    "nflog": (link.NFLOG, lambda p: NFLOG + link.attributes((9, p))),
}
# what only Wireshark takes off, with its own decoders' ports, and what the engine calls it
FOREIGN = {
    "gtp": (link.ETHERNET, lambda p: in_udp(2152, link.be16(0x30ff, len(p)) + link.be32(7) + p), "GTP"),
    "mpls-in-udp": (link.ETHERNET, lambda p: in_udp(6635, MPLS + p), "MPLS in UDP"),
    "gre-in-udp": (link.ETHERNET, lambda p: in_udp(4754, link.gre(0x0800, p)), "GRE in UDP"),
    "etherip": (link.ETHERNET, lambda p: outer(97, link.be16(0x3000) + ether(p)), "EtherIP"),
    "vxlan-gpe": (link.ETHERNET, lambda p: in_udp(4790, link.be32(0x0c000001, 42 << 8) + p), "VXLAN-GPE"),
    "token-ring": (6, lambda p: b"\x10\x40" + bytes(6) + b"\2" + bytes(5) + b"\xaa\xaa\3\0\0\0\x08\0" + p,
                   "another link type"),
}


def wrapped(scratch, every):
    plain = plain_packets()
    two_passes = TWO_PASSES if every else ()
    for table, ways in (KNOWN, (*ALL_WAYS, *two_passes)), (FOREIGN, ("wireshark", "wireshark-2")):
        for name, (link_type, wrap, *unopened) in table.items():
            path = scratch / ("wrapped-%s.pcap" % name)
            frames = [(time, wrap(packet)) for time, packet in plain]
            capfile.write_pcap(path, [capfile.Packet(time, data, len(data), link_type)
                                      for time, data in frames], link_type)
            yield Capture("wrapped-" + name, path, PAIRS, ways, *unopened)


# --- all others ---

ALL_WAYS = ("libpcap", "tap", "wireshark")
SOME_WAYS = ("libpcap", "tap"), ("libpcap", "tap"), ("libpcap", "wireshark")
TWO_PASSES = "tap-2", "wireshark-2"


def some(kinds, name):
    return kinds[zlib.crc32(name.encode()) % len(kinds)]


# Wireshark's IPv6 dissector shows a first fragment that the snap length cut as data, without
# handing it to the protocol that it begins: decap=wireshark cannot see what we deliver.
UNMATCHED = {"ipv6-fragments-cut": ("libpcap", "tap")}

def generated(scratch, every):
    for name in sorted(cases.CASES):
        case = cases.CASES[name]()
        for i, (_, part) in enumerate(case.parts()):
            path = scratch / ("case-%s-%d.pcap" % (name, i))
            (capfile.write_pcapng if case.pcapng else capfile.write_pcap)(path, part)
            ways = ALL_WAYS if every else some(SOME_WAYS, path.name)
            yield Capture("case-%s-%d" % (name, i), path, ways=ways)
    path = scratch / "one-frame.pcap"  # both passes of -2 end and begin with it
    trace = traffic.Trace()
    cases.udp(trace)
    capfile.write_pcap(path, trace.packets()[:1])
    yield Capture("one-frame", path, ways=(*ALL_WAYS, *TWO_PASSES))
    for name, link_type, frames in link.cases():
        path = scratch / ("link-%s.pcap" % name)
        capfile.write_pcap(path, [capfile.Packet(i * cases.MS, data, wire, link_type)
                                  for i, (data, wire) in enumerate(frames)], link_type)
        ways = ALL_WAYS if every else some(SOME_WAYS, path.name)
        yield Capture("link-" + name, path, ways=UNMATCHED.get(name, ways))


def real(scratch, every):
    """The real ones, unpacked once: not every tshark reads zstd."""
    for path in sorted(glob.glob(os.path.join(os.environ["CAPTURES"], "*.pcap*"))):
        name = os.path.basename(path)
        if name.endswith(".zst"):
            name = name.removesuffix(".zst")
            run("zstd", "-q", "-d", "-f", path, "-o", str(scratch / name))
            path = scratch / name
        yield Capture(name, path,
                      ways=(*ALL_WAYS, *(TWO_PASSES if every else [some(TWO_PASSES, name)])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", metavar="DIRECTORY")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    scratch = pathlib.Path(args.k or tempfile.mkdtemp())
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o755)
    wrong = []
    try:
        for kind, captures, least in (("captures", real, CAPTURES_LEAST),
                                      ("encapsulations", wrapped, WRAPPED_LEAST),
                                      ("generated", generated, GENERATED_LEAST)):
            chosen = [c for c in captures(scratch, args.every) if not args.names
                      or any(fnmatch.fnmatch(c.name, n) for n in args.names)]
            if not args.names and len(chosen) < least:
                wrong.append("%d %s, not %d" % (len(chosen), kind, least))
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for lines in pool.map(lambda c: c.check(scratch), chosen):
                    wrong += lines
            print("%d %s" % (len(chosen), kind), flush=True)
    finally:
        if not args.k:
            shutil.rmtree(scratch)
    print("\n".join(wrong) if wrong else "all streams are equal")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
