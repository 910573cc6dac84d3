#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: serial plugin slow
"""Record mode in a live capture. The interface is a named pipe with a capture in it, which needs no
rights; to tshark and dumpcap it is as live as any.

- what came goes out while the capture waits for more, also what is in the middle of a block;
- Ctrl-C ends it with a complete stream, whose records are those of the same capture as a file;
- so does a capture into a ring of files, although Wireshark counts frames anew in each;
- a reader that goes away ends it with exit status 4, and dumpcap's file is gone.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in HERE.parent, HERE.parent / "gen":
    sys.path.insert(0, str(folder))

import capfile  # noqa: E402
import cases  # noqa: E402
import nfsr  # noqa: E402
import traffic  # noqa: E402

TSHARK = os.path.join(os.environ["BUILD"], "bin", "tshark")
NFSDIGEST = os.environ["NFSDIGEST"]
PATIENCE = 30  # seconds


class Failure(Exception):
    pass


def make_capture(path):
    trace = traffic.Trace()
    tcp, udp = cases.tcp(trace), cases.udp(trace, 901)
    cases.mix(tcp, 100, 40)
    cases.mix(udp, 500, 40)
    capfile.write_pcap(path, trace.packets())
    with open(path, "rb") as file:
        return file.read()


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise Failure("after %d s: no %s" % (PATIENCE, what))
        time.sleep(0.05)


class Live:
    """A tshark that captures from a pipe."""

    def __init__(self, scratch, name, options, stdout=None):
        self.scratch, self.fifo = scratch, str(scratch / (name + ".fifo"))
        os.mkfifo(self.fifo)
        os.chmod(self.fifo, 0o666)
        self.log = open(scratch / (name + ".log"), "w+", encoding="utf-8", errors="replace")
        # a folder for dumpcap's temporary file, so that one left behind is seen
        self.temporary = scratch / (name + ".tmp")
        self.temporary.mkdir()
        self.temporary.chmod(0o777)
        self.process = subprocess.Popen([TSHARK, "-i", self.fifo, "-q", *options], stdout=stdout,
                                        stderr=self.log,
                                        env=dict(os.environ, TMPDIR=str(self.temporary)))
        self.pipe = open(self.fifo, "wb", buffering=0)

    def end(self, expected, sign=signal.SIGINT):
        if sign:
            self.process.send_signal(sign)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure("tshark does not end") from None
        finally:
            self.pipe.close()
        self.log.seek(0)
        text = self.log.read()
        if status != expected:
            raise Failure("exit %d, not %d: %s" % (status, expected, text))
        left = list(self.temporary.iterdir())
        if left:
            raise Failure("left behind: %s" % left)
        return text


def records(stream):
    with open(stream, "rb") as file:
        return list(nfsr.read(file))


def operations_in(data):
    """How many operations the blocks hold that are whole so far."""
    count = 0
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        try:
            for record in nfsr.read(file):
                count += record["kind"] == "operation"
        except nfsr.NfsrError:
            pass
    return count


def test_flows(scratch, data, reference):
    """Half of the capture, a pause, the rest."""
    out = scratch / "flows.nfsr"
    live = Live(scratch, "flows", ["-z", "nfspair,out=-"], stdout=open(out, "wb"))
    half = len(data) // 2
    live.pipe.write(data[:half])
    everything = sum(r["kind"] == "operation" for r in reference)
    wait_for("operations in the pause",
             lambda: operations_in(out.read_bytes()) > everything // 2 - 10)
    live.pipe.write(data[half:])
    wait_for("operations at the end",
             lambda: operations_in(out.read_bytes()) == everything)
    live.end(0)
    if records(out) != reference:
        raise Failure("other records than from a file")


def test_file(scratch, data, reference):
    out = scratch / "file.nfsr"
    live = Live(scratch, "file", ["-z", "nfspair,out=%s,decap=wireshark" % out])
    live.pipe.write(data)
    # the engine has it all when it flushes
    wait_for("stream", lambda: any(operations_in(p.read_bytes()) ==
                                   sum(r["kind"] == "operation" for r in reference)
                                   for p in scratch.glob("file.nfsr.*")))
    if out.exists():
        raise Failure("%s is there before its end" % out)
    live.end(0)
    if records(out) != reference:
        raise Failure("other records than from a file")


def test_ring(scratch, data, reference):
    out, ring = scratch / "ring.nfsr", scratch / "ring"
    ring.mkdir()
    ring.chmod(0o777)
    live = Live(scratch, "ring", ["-z", "nfspair,out=%s" % out, "-b", "packets:30", "-w",
                                  str(ring / "part.pcapng")])
    live.pipe.write(data)
    wait_for("stream", lambda: any(operations_in(p.read_bytes()) ==
                                   sum(r["kind"] == "operation" for r in reference)
                                   for p in scratch.glob("ring.nfsr.*")))
    live.end(0)
    if len(list(ring.iterdir())) < 5:
        raise Failure("no ring of files")
    if records(out) != reference:
        raise Failure("other records than from a file")


def test_reader_gone(scratch, data, _reference):
    reader, writer = os.pipe()
    live = Live(scratch, "gone", ["-z", "nfspair,out=-"], stdout=writer)
    os.close(writer)
    live.pipe.write(data[:len(data) // 2])
    if not os.read(reader, 100):
        raise Failure("no stream")
    os.close(reader)
    try:
        live.pipe.write(data[len(data) // 2:])
        text = live.end(4, sign=None)
    except BrokenPipeError:
        text = live.end(4, sign=None)
    if "Broken pipe" not in text:
        raise Failure("no message: %s" % text)


def main():
    scratch = pathlib.Path(tempfile.mkdtemp())
    scratch.chmod(0o777)
    failed = 0
    tests = [test_flows, test_file, test_ring, test_reader_gone]
    try:
        data = make_capture(scratch / "capture.pcap")
        subprocess.run([NFSDIGEST, "record", "-o", str(scratch / "reference.nfsr"),
                        str(scratch / "capture.pcap")], check=True)
        reference = records(scratch / "reference.nfsr")
        for test in tests:
            try:
                test(scratch, data, reference)
                print("ok", test.__name__, flush=True)
            except (Failure, nfsr.NfsrError) as error:
                failed += 1
                print("FAILED %s: %s" % (test.__name__, error), flush=True)
    finally:
        shutil.rmtree(scratch)
    print("%d tests, %d failed" % (len(tests), failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
