#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=6
"""The comments that `nfsdigest report --annotate` adds to a capture of a relay's clients, by the log of a shadow, are
on the replies that a fault of the SUT has met, and on no others: by the XIDs that the clients know, and stock tshark.
The XIDs are the same on two connections, and come again in a moment.  The relay stands still while both connections
send the same XID, and one sends it again as soon as it has its answer, before the other one has its own: so the call
whose time is nearest to the relay's is another connection's, or a later one.  In a network namespace of this test's
own."""
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
import capfile  # noqa: E402
import own_network  # noqa: E402
from expecting import expect, failures  # noqa: E402
from model_xdr import CREATE, GUARDED, LOOKUP, OK  # noqa: E402
from tee_traffic import Shadow, attached, mounted, servers, settle  # noqa: E402

# of a capture: the shadow tells once that a file has another handle
FILES, USER, OTHER, SLOW, SAME_XID = 12, 2000, 1999, 1998, 0x7a000000
HELD = 2  # further files of each capture
PATIENCE = 60  # s


class Capture:
    """All of loopback, so the relay's other side and the shadow's requests, too."""

    def __init__(self, path):
        self.path = path
        self.process = subprocess.Popen(["dumpcap", "-q", "-i", "lo", "-B", "64", "-w", str(path)],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if line.startswith("File:"):
                break
        self.sees(b"something comes behind this")

    def sees(self, text):
        late = time.monotonic() + PATIENCE
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            while text not in self.path.read_bytes() and time.monotonic() < late:
                end.sendto(text, ("127.0.0.1", 9))
                time.sleep(0.1)
        expect("dumpcap saw %s" % text, time.monotonic() < late, True)

    def stop(self):
        self.sees(b"nothing comes behind this")
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=PATIENCE)


def ask(client, root, name, who):
    """What is on the wire: the client's port and XID."""
    expect("status", client.nfs(LOOKUP, {"object": root, "name": name}, who)[0], OK)
    return client.socket.getsockname()[1], client.xid


def nfsdigest(code, *words):
    done = subprocess.run([os.environ["NFSDIGEST"], *map(str, words)], capture_output=True, text=True, check=False,
                          timeout=60)
    expect("exit code of %s: %s" % (words, done.stderr), done.returncode, code)
    return done.stderr


def replies(path, relay):
    """(client's port, XID, whether there are comments) of the relay's replies; nothing else may have comments."""
    done = subprocess.run(["tshark", "-n", "-r", str(path), "-d", "tcp.port==%d,rpc" % relay.port, "-Y",
                           "(tcp.srcport == %d && rpc.msgtyp == 1) || frame.comment contains \"nfsdigest\""
                           % relay.port,
                           "-T", "fields", "-e", "tcp.srcport", "-e", "tcp.dstport", "-e", "rpc.xid", "-e",
                           "frame.comment"], capture_output=True, text=True, check=False)
    expect("tshark: " + done.stderr, done.returncode, 0)
    found = []
    for line in done.stdout.splitlines():
        source, port, xid, text = (line + "\t\t\t").split("\t")[:4]
        expect("a reply of the relay", int(source), relay.port)
        expect("the comment says " + text, not text or "this is the reference: NFS LOOKUP" in text, True)
        found.append((int(port), int(xid or "0", 16), text != ""))
    return found


def held(relay, first, other, names, xid):
    """|first| sends a call that the fault meets, and |other| the same XID, while the relay stands still; then |first|
    sends the XID again, and at last |other| gets its answer.  Of each end, what is on the wire."""
    def sends(end, *calls):
        for name, who in calls:
            end[0].xid = xid
            asked[end].append(ask(*end, name, who) + (who == USER,))
    asked = {first: [], other: []}
    threads = [threading.Thread(target=sends, args=(first, (names[0], USER), (names[1], OTHER))),
               threading.Thread(target=sends, args=(other, (names[1], SLOW)))]
    relay.process.send_signal(signal.SIGSTOP)
    for thread in threads:
        thread.start()
        time.sleep(0.2)
    relay.process.send_signal(signal.SIGCONT)
    for thread in threads:
        thread.join()
    return asked[first] + asked[other]


def play(folder, relay, shadow):
    """Of two captures: (client's port, XID, whether the fault has met it), in the order of asking on each port."""
    ends = mounted(relay), mounted(relay)
    for i in range(2 * (FILES + HELD)):
        expect("the tree", ends[0][0].nfs(CREATE, {"object": ends[0][1], "name": b"%d" % i, "how": GUARDED,
                                                   "settings": {"mode": 0o666}})[0], OK)
    settle(shadow)
    for i in range(2 * (FILES + HELD)):  # so its handle is known
        ask(*ends[0], b"%d" % i, OTHER)
    asked = []
    for part in range(2):
        capture = Capture(folder / ("part%d.pcapng" % part))
        asked.append([])
        for i in range(FILES):
            if i % 3 == 0:
                ends[0][0].xid = ends[1][0].xid = SAME_XID + part * FILES
            for k, end in enumerate(ends):
                hit = (i * 5 + k + part) % 4 == 1
                asked[-1].append(ask(*end, b"%d" % (part * FILES + i), USER if hit else OTHER) + (hit,))
        names = [b"%d" % (2 * FILES + part * HELD + i) for i in range(HELD)]
        for i in range(HELD):
            asked[-1] += held(relay, ends[i], ends[1 - i], names[i:] + names[:i], SAME_XID + (2 + part) * FILES)
        settle(shadow)
        capture.stop()
    return asked


def with_ports_of_clients(path, out, relay, reference):
    """As a relay beside its clients has it, which uses their ports: the checksums are wrong, as on loopback."""
    packets, ports = capfile.read(path), {relay.port: [], reference.port: []}
    for p in packets:
        source, target = struct.unpack_from(">HH", p.data, 34)
        if p.data[23] == 6 and target in ports and source not in ports[target]:
            ports[target].append(source)
    new = dict(zip(ports[reference.port], ports[relay.port]))
    expect("connections of relay and clients", (len(new), len(ports[relay.port])), (2, 2))
    for i, p in enumerate(packets):
        both = struct.unpack_from(">HH", p.data, 34)
        if p.data[23] == 6 and reference.port in both:
            data = p.data[:34] + struct.pack(">HH", *(new.get(port, port) for port in both)) + p.data[38:]
            packets[i] = p._replace(data=data)
    capfile.write_pcapng(out, packets)


def halves(path, relay, replies_before):
    """The capture as two, of which the first ends with a reply."""
    done = subprocess.run(["tshark", "-n", "-r", str(path), "-d", "tcp.port==%d,rpc" % relay.port, "-Y",
                           "tcp.srcport == %d && rpc.msgtyp == 1" % relay.port, "-T", "fields", "-e", "frame.number"],
                          capture_output=True, text=True, check=True)
    last = int(done.stdout.split()[replies_before - 1])
    parts = path.with_name("half0.pcapng"), path.with_name("half1.pcapng")
    for part, frames in zip(parts, ("1-%d" % last, "%d-1000000" % (last + 1))):
        subprocess.run(["editcap", "-r", str(path), str(part), frames], check=True)
    return parts


def by_port(answers):
    return sorted(answers, key=lambda answer: answer[0])


def annotate(folder, relay, asked, *captures):
    told = nfsdigest(0, "report", "--annotate", folder / "out.pcapng", folder / "found.db", *captures)
    for i, part in enumerate(asked):
        out = folder / ("out-%d.pcapng" % (i + 1) if len(captures) > 1 else "out.pcapng")
        expect("comments of %s" % captures[i].name, by_port(replies(out, relay)), by_port(part))
    return told


def check(folder, relay, reference, log, asked):
    captures = folder / "part0.pcapng", folder / "part1.pcapng"
    nfsdigest(1, "compare", log, "--summary", "-o", folder / "found.db")
    hits = [sum(hit for _, _, hit in part) for part in asked]
    print("the fault has met", hits, "replies")
    expect("enough replies with the fault", min(hits) > 3, True)
    expect("nothing is lost", "discrepancies" in annotate(folder, relay, asked, *captures), False)
    own = [folder / ("own%d.pcapng" % i) for i in range(2)]
    for capture, out in zip(captures, own):
        with_ports_of_clients(capture, out, relay, reference)
    annotate(folder, relay, asked, *own)
    annotate(folder, relay, [asked[0][:FILES], asked[0][FILES:]], *halves(captures[0], relay, FILES))
    late = folder / "late.pcapng"
    subprocess.run(["editcap", "-t", "3600", str(captures[1]), str(late)], check=True)
    told = annotate(folder, relay, asked[:1], captures[0], late)
    expect("half is lost", "%d of %d discrepancies are not in these captures" % (hits[1], sum(hits)) in told, True)
    told = annotate(folder, relay, [[(*each[:2], False) for each in asked[1]]], late)
    expect("all is lost", "%d of %d discrepancies are not in %s" % (sum(hits), sum(hits), late) in told, True)
    for words in ("compare", log), ("report", folder / "found.db"):
        told = nfsdigest(2, *words, "--annotate", folder / "none.pcapng")
        expect("what to do: " + told, "report --annotate" in told, True)
    expect("nothing is left behind", list(folder.glob("none*")), [])


def main():
    reference, sut = servers(("--fault", "LOOKUP:uid=%d:delay=200ms" % SLOW),
                             ("--fault", "LOOKUP:uid=%d:handle" % USER))
    with tempfile.TemporaryDirectory() as name, reference, sut, attached(name, reference) as relay:
        folder = pathlib.Path(name)
        with Shadow(folder, relay, sut, "--record", "all") as shadow:
            settle(shadow)
            asked = play(folder, relay, shadow)
            shadow.stop()
        check(folder, relay, reference, shadow.log, asked)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(own_network.exit_code(main, "dumpcap", "tshark", "editcap"))
