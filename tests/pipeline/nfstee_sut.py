#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=180
"""nfstee shadow when its SUT hangs, is slow, is gone, comes back with its files or without, and when the
shadow itself is stopped, killed or out of memory.  Clients go on, the relay passes exactly their bytes, and all is
synchronized again."""
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from live_client import Client, Ftnfsd  # noqa: E402
from model_xdr import CREATE, GETATTR, GUARDED, WRITE  # noqa: E402
from nfstee_shadow import expect, failures, fates, no_trees_differ, settle, small_tree  # noqa: E402
from tee_ring import Relay  # noqa: E402
from tee_traffic import Objects, Shadow, attached, mounted, servers, work  # noqa: E402
from tee_wire import Wire  # noqa: E402

EACH = 10  # operations between two looks at the clock


class Busy:
    """A client that works at random until the block ends, or |most| operations are done, and must not be held up
    meanwhile."""

    def __init__(self, what, server, objects, chance, least, most):
        self.what, self.least, self.most, self.count, self.over = what, least, most, 0, False
        self.thread = threading.Thread(target=self.run, args=(Client(server), objects, chance))

    def run(self, client, objects, chance):
        while not self.over and self.count < self.most:
            work(client, chance, objects, EACH)
            self.count += EACH
        client.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        end = time.monotonic() + 20
        while self.count < self.least and time.monotonic() < end:
            time.sleep(0.01)
        done, self.over = self.count, True
        self.thread.join()
        expect("%s: operations of the client, at least %d" % (self.what, self.least), done >= self.least, True)


class Run:
    def __init__(self, folder, reference, sut, relay, client_side):
        self.folder, self.reference, self.sut = folder, reference, sut
        self.relay, self.client_side, self.chance = relay, client_side, random.Random(7)
        client, root = mounted(client_side)
        self.directory = small_tree(client, root)
        for i in range(16):  # many times the ring: to copy them must not overrun it
            client.nfs(CREATE, {"object": root, "name": b"long%d" % i, "how": GUARDED, "settings": {"size": 2 << 20}})
        self.client, self.objects = client, Objects(root)
        work(client, self.chance, self.objects, 100)

    def busy(self, what, least=3 * EACH, most=1 << 30):
        return Busy(what, self.client_side, self.objects, self.chance, least, most)

    def is_same_again(self, what, shadow):
        settle(shadow)
        shadow.wait_for(lambda: not shadow.settle()["copy"]["scratch"], "end of what is between two names")
        no_trees_differ(what, self.reference, self.sut)


def hangs(run, shadow):
    run.sut.process.send_signal(signal.SIGSTOP)
    with run.busy("the SUT hangs"):
        time.sleep(0.5)
    waiting = shadow.statistics()["requests"]["waiting"]
    run.sut.process.send_signal(signal.SIGCONT)
    expect("requests wait for the SUT that hangs", waiting > 0, True)
    run.is_same_again("the SUT hung", shadow)


def is_slow(run, shadow):
    path = run.folder + "/sut"
    ftnfsd = run.sut.command[0]
    subprocess.run([ftnfsd, "ctl", path, "fault-add", "*:delay=30ms"], check=True, stdout=subprocess.DEVNULL)
    with run.busy("the SUT is slow"):
        time.sleep(0.5)
    subprocess.run([ftnfsd, "ctl", path, "fault-clear"], check=True, stdout=subprocess.DEVNULL)
    run.is_same_again("the SUT was slow", shadow)


def is_away(run, shadow, door):
    """It has its files when it comes back: only its network was away."""
    door.kill()
    with run.busy("the SUT is away"):
        time.sleep(0.3)
    door.__enter__()
    run.is_same_again("the SUT was away", shadow)
    expect("the SUT that was away began anew", shadow.statistics()["sut"]["began_anew"], 0)


def begins_anew(run, shadow):
    port = run.sut.port
    with run.busy("the SUT begins anew"):
        run.sut.stop()
        time.sleep(0.2)
        run.sut = Ftnfsd("--export", "/a(no_root_squash)", "--port", str(port)).__enter__()
        shadow.wait_for(lambda: shadow.statistics()["sut"]["began_anew"], "new SUT")
    run.is_same_again("the SUT began anew", shadow)


def shadow_stops(run, shadow):
    """It is too slow for the ring, and then it dies."""
    time.sleep(2.2)  # what changed later is read again
    run.client.nfs(GETATTR, {"object": run.directory})
    before = settle(shadow)
    count = before["objects"]["synchronized"]
    f = next(h for h in run.objects.known if run.objects.type_of(h) == 1)
    shadow.process.send_signal(signal.SIGSTOP)
    with run.busy("the shadow is stopped", 1, 2 * EACH):  # few: what they change has to be read again
        for i in range(60):
            run.client.nfs(WRITE, {"object": f, "offset": i * 1000, "count": 50000, "stable": 0,
                                   "data": [(50000, i)]})
    shadow.process.send_signal(signal.SIGCONT)
    shadow.wait_for(lambda: shadow.statistics()["ring"]["gaps"], "gap")
    run.is_same_again("the ring was overrun", shadow)
    after = shadow.statistics()
    same = after["copy"]["same"] - before["copy"]["same"]
    expect("objects that were not read again behind the gap, at least half", 2 * same >= count, True)
    with run.busy("behind the gap"):
        pass
    found = fates(after, settle(shadow))
    expect("requests compared behind the gap", found["compared"] > 0.8 * found["all"], True)
    with run.busy("the shadow dies"):
        shadow.process.kill()
        shadow.process.wait()


def bytes_mapped(process):
    text = pathlib.Path("/proc/%d/status" % process.pid).read_text()
    return int(text.split("VmSize:")[1].split()[0]) * 1024


def is_out_of_memory(run, shadow):
    """It may have 1 MB more than it has, and must hold more while the SUT hangs: it says so, and ends."""
    settle(shadow)
    f = next(h for h in run.objects.known if run.objects.type_of(h) == 1)
    most = bytes_mapped(shadow.process) + (1 << 20)
    resource.prlimit(shadow.process.pid, resource.RLIMIT_AS, (most, most))
    run.sut.process.send_signal(signal.SIGSTOP)
    with run.busy("the shadow has no memory"):
        for i in range(120):
            run.client.nfs(WRITE, {"object": f, "offset": i * 1000, "count": 50000, "stable": 0,
                                   "data": [(50000, i)]})
        said = shadow.process.communicate(timeout=60)[1]
    run.sut.process.send_signal(signal.SIGCONT)
    expect("exit code without memory, and what is said: " + said,
           (shadow.process.returncode, said.splitlines()[-1].startswith("nfstee: out of memory")), (4, True))


def many_wait():
    """While the SUT stands still: all that waits for it is compared in the end, in its order."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        chance, objects = random.Random(11), Objects(root)
        work(client, chance, objects, 500)
        with Shadow(folder, relay, sut, "--timeout", "100s") as shadow:
            before = settle(shadow)
            sut.process.send_signal(signal.SIGSTOP)
            work(client, chance, objects, 3000)
            shadow.wait_for(lambda: shadow.statistics()["requests"]["waiting"] > 2000, "waiting requests")
            sut.process.send_signal(signal.SIGCONT)
            found = fates(before, settle(shadow))
            expect("requests that waited, but for stale handles", set(found) - {"all", "compared", "not_synchronized"},
                   set())
            expect("requests that waited and were compared", found["compared"] > 0.95 * found["all"] > 1900, True)
            no_trees_differ("after many requests waited", reference, sut)
            code, totals, _ = shadow.stop()
            expect("differences of requests that waited", (code, totals["verdicts"]["differ"]), (0, 0))


def ends_while_it_hangs():
    """Each request is counted once, also one that still waits for the SUT."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        with Shadow(folder, relay, sut) as shadow:
            settle(shadow)
            sut.process.send_signal(signal.SIGSTOP)
            for _ in range(20):
                client.nfs(GETATTR, {"object": root})
            shadow.wait_for(lambda: shadow.statistics()["requests"]["waiting"] >= 20, "waiting requests")
            requests = shadow.stop()[1]["requests"]
            sut.process.send_signal(signal.SIGCONT)
            expect("requests that did not end", {k: v for k, v in requests.items() if v},
                   {"all": 20, "sut_slow": 20})


class Hostile(Client):
    """Changes some bytes of some calls, and cuts others off."""

    def __init__(self, server, chance):
        super().__init__(server)
        self.chance = chance
        self.socket.settimeout(0.2)

    def send(self, message, fragments=()):
        m, r = bytearray(message), self.chance
        if r.random() < 0.3:
            for _ in range(r.choice((1, 1, 2, 8))):
                i = r.randrange(24, len(m))
                m[i] = r.choice((0, 1, 255, m[i] ^ 1 << r.randrange(8)))
        super().send(bytes(m[:r.randrange(4, len(m))] if r.random() < 0.03 else m), fragments)


def hostile():
    """Whatever clients send, the shadow goes on, and does on the SUT what the reference has done."""
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, sut, attached(folder, reference) as relay:
        client, root = mounted(relay)
        small_tree(client, root)
        objects, chance = Objects(root), random.Random(3)
        work(client, chance, objects, 50)
        with Shadow(folder, relay, sut) as shadow:
            settle(shadow)
            for _ in range(20):
                try:
                    work(Hostile(relay, chance), chance, objects, 40)
                except (OSError, ValueError, IndexError, KeyError, struct.error):
                    pass  # the server has closed the connection, or the reply is not to what was meant
            settle(shadow)
            shadow.wait_for(lambda: not shadow.settle()["copy"]["scratch"], "end of what is between two names")
            no_trees_differ("hostile calls", reference, sut)
            expect("malformed calls", shadow.statistics()["requests"]["without_object"] > 0, True)


def main():
    hostile()
    ends_while_it_hangs()
    many_wait()
    reference, sut = servers()
    with tempfile.TemporaryDirectory() as folder, reference, Wire(reference) as behind, \
            attached(folder, behind, "--ring", "1M") as relay, Wire(relay) as before:
        sut.command += ["--control", folder + "/sut"]
        with sut, Relay(sut.port) as door:
            run = Run(folder, reference, sut, relay, before)
            with Shadow(folder, relay, door, "--timeout", "2s", "--queue", "256k") as shadow:
                expect("gaps of the ring by copying", settle(shadow)["ring"]["gaps"], 0)
                hangs(run, shadow)
                is_slow(run, shadow)
                is_away(run, shadow, door)
                begins_anew(run, shadow)
                shadow_stops(run, shadow)
            with Shadow(folder, relay, door, "--overwrite", log="memory") as shadow:
                is_out_of_memory(run, shadow)
            run.sut.stop()
        run.client.close()
        time.sleep(0.1)
        expect("connections of clients", len(before.streams), 9)
        # others behind the relay are the shadow's
        expect("connections whose bytes are not those on the relay's other side",
               sum(s not in behind.streams for s in before.streams), 0)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
