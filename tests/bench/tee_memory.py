# SPDX-License-Identifier: GPL-2.0-or-later
"""For the part "live" of run.py: memory that nfstee shadow needs for each object, and for each request that waits
for the SUT, beyond its fixed buffers: the difference between many of them and a few.  Counted is what malloc has
given out.  What is resident differs from that by where tables have lain before they grew, and by their unused ends, as
much as by 80 bytes an object."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from live_client import Client  # noqa: E402
from messages import auth_none, record  # noqa: E402
from model_xdr import GETATTR, NULL, SETATTR  # noqa: E402
from tee_traffic import Shadow, attached, servers  # noqa: E402

OBJECTS, WAITING = (60_000, 160_000), (1000, 4000)  # with 4096 waiting, it does not read on
ANSWERED = 131_072 + 4096  # the calls that the engine knows if they come again (DONE_MAX, engine/flow/calls.h)
OBJECT_MOST, REQUEST_MOST = 200, 128  # bytes


def make(bench, server, count):
    subprocess.run([str(bench.tools / "bench_nfs"), "127.0.0.1", str(server.port), str(server.port), "/a", "getattr",
                    "1", "1", str(count)], input="\n", text=True, stdout=subprocess.DEVNULL, check=True)


def fill_window(relay, shadow, at_once=512):
    """Else it grows with what is measured.  The shadow keeps pace, as it keeps the memory of what it once had."""
    client = Client(relay)
    for sent in range(at_once, ANSWERED + at_once, at_once):
        client.socket.sendall(b"".join(record(client.message(NULL, b"", credential=auth_none()))
                                       for _ in range(at_once)))
        for _ in range(at_once):
            client.receive()
        shadow.wait_for(lambda: shadow.statistics()["requests"]["without_object"] >= sent, "pace")
    client.close()


def of_objects(bench, count):
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        make(bench, reference, count)
        with Shadow(folder, relay, sut) as shadow:
            fill_window(relay, shadow)
            shadow.settle(110)
            return shadow.statistics()["memory"]


def of_requests(procedure, arguments):
    """All about one object, with |arguments|."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay, \
            Shadow(folder, relay, sut, "--timeout", "100s") as shadow:
        fill_window(relay, shadow)
        shadow.settle()
        client = Client(relay)
        root = client.mount(b"/a")
        sut.process.send_signal(signal.SIGSTOP)
        found, sent = [], 0
        for count in WAITING:
            while sent < count:
                client.nfs(procedure, {"object": root, **arguments})
                sent += 1
            shadow.wait_for(lambda: shadow.statistics()["requests"]["waiting"] >= count, "waiting request")
            found.append(shadow.statistics()["memory"])
        sut.process.send_signal(signal.SIGCONT)
        return found


def memory(bench, report):
    os.environ.setdefault("BUILD", str(bench.build))
    few, many = (of_objects(bench, count) for count in OBJECTS)
    report.add("nfstee shadow, memory an object", (many - few) / (OBJECTS[1] - OBJECTS[0]), "bytes", OBJECT_MOST,
               False)
    # the shortest ones; and some of which each waits for all before it
    for name, procedure, arguments in (("GETATTR", GETATTR, {}), ("SETATTR", SETATTR, {"settings": {"mode": 0o755}})):
        few, many = of_requests(procedure, arguments)
        report.add("nfstee shadow, memory a waiting %s" % name, (many - few) / (WAITING[1] - WAITING[0]), "bytes",
                   REQUEST_MOST, False)
