#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan slow
"""What engine/link delivers is what stock tshark finds: frame, addresses, protocol, length.

Runs over the captures of $CAPTURES and over generated ones of all link types, tags, tunnels and
fragments (tests/oracle/link_cases.py). Differences that are meant stand in MEANT, with the reason;
one that no longer occurs is an error too.
"""
import glob
import ipaddress
import os
import re
import subprocess
import sys
import tempfile

SRC = os.environ["SRC"]
sys.path.insert(0, os.path.join(SRC, "tests", "gen"))
sys.path.insert(0, os.path.join(SRC, "tests", "oracle"))
import capfile  # noqa: E402
import link_cases  # noqa: E402

DUMP = os.path.join(os.environ["BUILD"], "bin", "tests", "link_dump")

# capture: {line: "ours" or "theirs"}, and why
MEANT = {
    # tshark shows a cut first fragment's content in IPv4, but not in IPv6
    "ipv6-fragments-cut": {(1, "2001:db8::1", "2001:db8:0:1::2", 17, "5008"): "ours"},
}

# generated captures in which nothing is to be delivered; in all others something is
EMPTY = {"icmp"}


def run(*command):
    # root gets a warning on stderr from tshark; anything that matters is in the exit code
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("%s: exit %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def plain(address):
    return str(ipaddress.ip_address(address)) if address else ""


def theirs(path):
    """The innermost IP payload of each frame that is TCP or UDP, as tshark has it."""
    text = run("tshark", "-n", "-r", path, "-d", "tcp.port==1-65535,data", "-o", "ip.defragment:TRUE",
               "-o", "ipv6.defragment:TRUE", "-o", "ipv6.tso_support:TRUE", "-T", "fields", "-E", "occurrence=l",
               "-e", "frame.number", "-e", "frame.protocols", "-e", "_ws.col.Source",
               "-e", "_ws.col.Destination", "-e", "tcp.len", "-e", "tcp.window_size_value",
               "-e", "udp.length", "-e", "udp.dstport")
    lines = set()
    for line in text.splitlines():
        number, protocols, source, destination, tcp_len, window, udp_len, port = line.split("\t")
        # behind MPLS, tshark 4.4 leaves the IP header out of this list
        names = re.sub(r":mpls:(?=tcp|udp)", ":mpls:ip:", protocols).split(":")
        for i, name in enumerate(names):
            # what is inside TCP or UDP may be taken for anything by its port number
            if name == "tcp" or name == "udp" and names[i + 1:i + 2] not in (["vxlan"], ["geneve"]):
                names = names[:i + 1]
                break
        if "icmp" in names or "icmpv6" in names:
            continue  # may hold a packet, but none that was sent
        last = max((i for i, name in enumerate(names) if name in ("ip", "ipv6")), default=None)
        if last is None or names[-1] in ("vxlan", "geneve"):
            continue
        if "tcp" in names[last:]:
            # tshark before 4.6 has no length if the header is cut before the window
            protocol, length = 6, tcp_len if window else ""
        elif "udp" in names[last:]:
            if port in ("4789", "6081"):
                continue  # VXLAN or Geneve, of which too little was captured
            protocol, length = 17, udp_len
        else:
            continue
        lines.add((int(number), plain(source), plain(destination), protocol, length or "-"))
    return lines


def ours(path, numbers=None):
    lines = set()
    for line in run(DUMP, path).splitlines():
        number, source, destination, protocol, length = line.split("\t")
        number = numbers[int(number) - 1] if numbers else int(number)
        if ":" in source and "." not in source and source != plain(source):
            sys.exit("%s: %s is not how RFC 5952 writes it" % (path, source))
        lines.add((number, plain(source), plain(destination), int(protocol), length))
    return lines


def ours_mixed(path, folder):
    """libpcap reads no file of several link types: one file for each."""
    kinds = {}
    for number, packet in enumerate(capfile.read(path), 1):
        kinds.setdefault(packet.link_type, []).append((number, packet))
    if len(kinds) == 1:
        return ours(path)
    lines = set()
    for kind, packets in kinds.items():
        part = os.path.join(folder, "part-%d.pcap" % kind)
        capfile.write_pcap(part, [p for _, p in packets], link_type=kind)
        lines |= ours(part, [n for n, _ in packets])
    return lines


def compare(name, left, right):
    """Returns how many lines were compared, and prints those on one side only."""
    difference = {line: "ours" for line in left - right}
    difference.update({line: "theirs" for line in right - left})
    meant = MEANT.get(name, {})
    bad = 0
    for line, side in sorted(difference.items()):
        if meant.get(line) != side:
            print("%s: only %s: %s" % (name, side, line))
            bad += 1
    for line in meant:
        if line not in difference:
            print("%s: no longer a difference: %s" % (name, line))
            bad += 1
    if bad:
        FAILED.append(name)
    return len(left & right)


FAILED = []


def check(name, found, path):
    """Returns how many lines were compared; in a sanitized build, how many |found| has: another build
    compares them."""
    return len(found) if "SANITIZED" in os.environ else compare(name, found, theirs(path))


def main():
    captures = sorted(glob.glob(os.path.join(os.environ["CAPTURES"], "*.zst")))
    if not captures:
        sys.exit("no captures in %s" % os.environ["CAPTURES"])
    lines = 0
    with tempfile.TemporaryDirectory() as folder:
        for capture in captures:
            path = os.path.join(folder, os.path.basename(capture)[:-len(".zst")])
            with open(path, "wb") as out:
                subprocess.run(["zstd", "-dcq", capture], stdout=out, check=True)
            same = check(os.path.basename(path), ours_mixed(path, folder), path)
            print("%s: %d payloads" % (os.path.basename(path), same))
            if not same:
                FAILED.append(os.path.basename(path))
            lines += same
            os.unlink(path)
        count = 0
        for name, kind, frames in link_cases.cases():
            path = os.path.join(folder, name + ".pcap")
            capfile.write_pcap(path, [capfile.Packet(10**18 + i * 10**6, data, wire, kind)
                                      for i, (data, wire) in enumerate(frames)], link_type=kind)
            same = check(name, ours(path), path)
            if bool(same) == (name in EMPTY):
                print("%s: %d payloads" % (name, same))
                FAILED.append(name)
            lines += same
            count += 1
    print("%d captures, %d generated ones, %d payloads%s" % (
        len(captures), count, lines, "" if "SANITIZED" in os.environ else " equal"))
    if FAILED:
        sys.exit("differences in: " + ", ".join(FAILED))


if __name__ == "__main__":
    main()
