#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""SIGINT and SIGTERM end a relay, a shadow and a tap that wait for another process, which hangs."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each

PROGRAM = os.path.join(os.environ["BUILD"], "bin", "nfstee")
SIGNALS = signal.SIGINT, signal.SIGTERM
ASKED = b"NFSTEE2\0"
NO_SOCKETS = struct.pack("<8sII", ASKED, 0, 0)
SOON = 10  # s; the programs would wait for 30


@contextlib.contextmanager
def hangs(path, backlog=1):
    """A process that listens on a path, which is gone in the end."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.settimeout(60)
        listening.bind(path)
        listening.listen(backlog)
        yield listening
    if os.path.exists(path):
        os.unlink(path)


@contextlib.contextmanager
def runs(*words):
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def relay(folder):
    return runs("relay", "--to", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--upgrade", folder + "/up", "--attach",
                folder + "/ring", "--control", folder + "/ctl", "--ports", folder + "/ports")


def await_mask(process):
    """From now on no signal ends it at once, and none is lost before it looks at them."""
    bit = 1 << (signal.SIGTERM - 1)
    status = pathlib.Path("/proc/%d/status" % process.pid)
    while not int(re.search(r"SigBlk:\s*(\w+)", status.read_text(encoding="utf-8"))[1], 16) & bit:
        time.sleep(0.01)


def ends(what, process, sign, said):
    await_mask(process)
    time.sleep(0.2)  # most likely it waits, but nothing depends on that
    begun = time.monotonic()
    process.send_signal(sign)
    text = process.communicate(timeout=60)[1]
    what = "%s, %s" % (what, signal.Signals(sign).name)
    expect(what + ": how", (process.returncode, text), (4, "nfstee: %s\n" % said))
    expect(what + ": soon", time.monotonic() - begun < SOON, True)


def test_relay(folder):
    """The predecessor hangs before it accepts, before it answers, and before it says that this one serves."""
    up = folder + "/up"
    for sign in SIGNALS:
        with hangs(up, 0) as listening, socket.socket(socket.AF_UNIX) as first:
            first.connect(up)  # fills the queue
            with relay(folder) as process:
                ends("nobody accepts", process, sign, "--upgrade: %s: interrupted by a signal" % up)
        with hangs(up) as listening, relay(folder) as process:
            peer, _ = listening.accept()
            with peer:
                expect("what it asks", peer.recv(100), ASKED)
                ends("no answer", process, sign, "--upgrade: %s: interrupted by a signal" % up)
                expect("it is gone", peer.recv(100), b"")
        expect("what it left", os.listdir(folder), [])
        with hangs(up) as listening, relay(folder) as process:
            peer, _ = listening.accept()
            with peer:
                expect("what it asks", peer.recv(100), ASKED)
                os.unlink(up)
                peer.sendall(NO_SOCKETS)
                expect("it has what it needs", peer.recv(100), b"r")
                ends("not confirmed", process, sign, "--upgrade: %s: the relay there does not say that it gives its "
                     "sockets: interrupted by a signal" % up)
                expect("it is gone, too", peer.recv(100), b"")
        expect("what it left at last", os.listdir(folder), ["ports"])  # it stays for the next relay
        os.unlink(folder + "/ports")


def test_relay_that_serves(folder):
    """A predecessor that is gone cannot serve any more, so this one does until it sees its signal."""
    with hangs(folder + "/up") as listening, relay(folder) as process:
        peer, _ = listening.accept()
        with peer:
            expect("what it asks", peer.recv(100), ASKED)
            os.unlink(folder + "/up")
            peer.sendall(NO_SOCKETS)
            expect("it has what it needs", peer.recv(100), b"r")
            process.send_signal(signal.SIGSTOP)
            process.send_signal(signal.SIGTERM)
            peer.sendall(b"g")
        process.send_signal(signal.SIGCONT)
        text = process.communicate(timeout=60)[1]
        expect("its end", (process.returncode, text), (0, ""))


def test_readers(folder):
    """The relay hangs before it lets a shadow or a tap in, and before it greets them."""
    ring, output = folder + "/ring", folder + "/out"
    shadow = ["shadow", "--attach", ring, "--relay", "nfs://127.0.0.1:1/a?nfsport=1&mountport=1", "--sut",
              "nfs://127.0.0.1:1/b?nfsport=1&mountport=1", "--log", output]
    tap = ["tap", "--attach", ring, "-o", output]
    for words in shadow, tap:
        for sign in SIGNALS:
            with hangs(ring, 0), socket.socket(socket.AF_UNIX) as first:
                first.connect(ring)
                with runs(*words) as process:
                    ends(words[0] + ", nobody accepts", process, sign,
                         "--attach: %s: interrupted by a signal" % ring)
            with hangs(ring) as listening, runs(*words) as process:
                peer, _ = listening.accept()
                with peer:
                    ends(words[0] + ", no greeting", process, sign, "--attach: %s: interrupted by a signal" % ring)
                    expect("it is gone", peer.recv(100), b"")
            expect("what it left", os.listdir(folder), [])


if __name__ == "__main__":
    sys.exit(run_each((test_relay, test_relay_that_serves, test_readers)))
