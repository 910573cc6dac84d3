#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300
"""Several nfstee shadows of one relay: what one of them asks of the reference is no request of a client to the
others, but what it changes there, access times, is known to them."""
import os
import pathlib
import random
import re
import socket
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each  # noqa: E402
from live_client import Ftnfsd  # noqa: E402
from messages import auth_sys  # noqa: E402
from model_xdr import GETATTR, OK, READ, SETATTR, WRITE, decode_result, encode_arguments  # noqa: E402
from nfstee_shadow import fates, find, no_trees_differ, read_some, small_tree  # noqa: E402
from tee_peers import free_port  # noqa: E402
from tee_ring import Ring  # noqa: E402
from tee_traffic import Shadow, attached, mounted, servers, settle  # noqa: E402


class Lab:
    """A reference behind a relay, with a small tree, and the first shadow, which has synchronized it."""

    def __init__(self, folder, *options):
        self.folder, self.options = folder, options
        self.reference, self.sut = servers()
        self.suts = [self.sut]

    def __enter__(self):
        self.reference.__enter__()
        self.sut.__enter__()
        self.relay = attached(self.folder, self.reference, "--control", self.folder + "/ctl").__enter__()
        self.client, self.root = mounted(self.relay)
        self.directory = small_tree(self.client, self.root)
        self.shadow = Shadow(self.folder, self.relay, self.sut, *self.options).__enter__()
        settle(self.shadow)
        return self

    def another(self, log, *options):
        """One more shadow, with a SUT of its own."""
        self.suts.append(Ftnfsd("--export", "/a(no_root_squash)").__enter__())
        return Shadow(self.folder, self.relay, self.suts[-1], *options, log=log)

    def set_atime(self, file, seconds):
        self.client.nfs(SETATTR, {"object": file, "settings": {"atime": seconds * 10 ** 9}})

    def __exit__(self, *error):
        for what in self.shadow, self.relay, *self.suts, self.reference:
            what.__exit__(*error)


def others(statistics):
    return statistics["reference"]["of_other_synchronizers"]


def in_metrics(port):
    """The same numbers as in "reference" of the statistics."""
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=60) as page:
        found = dict(re.findall(r'^nfstee_shadow_synchronizing_requests_total\{of="(\w+)"\} (\d+)$',
                                page.read().decode(), re.M))
    return {"own_requests": int(found.pop("this_synchronizer")),
            "of_other_synchronizers": int(found.pop("other_synchronizers")), **found}


def counted(folder):
    """Requests of clients are the same to both; one that comes later knows the mark of the first one."""
    port, html = free_port(), pathlib.Path(folder, "page.html")
    with Lab(folder, "--scrub", "0", "--metrics", str(port), "--html", str(html)) as lab:
        before = settle(lab.shadow)
        expect("others before there are any", others(before), 0)
        with lab.another("second", "--scrub", "0") as second:
            expect("fates while another one synchronizes", fates(before, settle(lab.shadow, second) and
                                                                 settle(lab.shadow)), {})
            expect("others to the first", others(lab.shadow.statistics()) > 20, True)
            middle = settle(second), settle(lab.shadow)
            read_some(lab.client, lab.directory, 30)
            for shadow, at in zip((second, lab.shadow), middle):
                expect("fates of clients' requests", fates(at, settle(shadow)), {"all": 60, "compared": 60})
            shadow_passes = lab.shadow.statistics()["scrub"]["passes"], second.statistics()["scrub"]["passes"]
            second.wait_for(lambda: all(
                s.statistics()["scrub"]["passes"] > p for s, p in zip((lab.shadow, second), shadow_passes)),
                "pass of both, though the other one reads")
            expect("others to the second", others(second.statistics()) > 0, True)
            expect("its requests", settle(second)["requests"]["all"], 60)
            no_trees_differ("the second SUT", lab.reference, lab.suts[1])
            code, totals, _ = second.stop()
            expect("the second one's end", (code, totals["verdicts"]["differ"]), (0, 0))
        first, told, last = (lab.shadow.statistics()["reference"], in_metrics(port),
                             lab.shadow.statistics()["reference"])
        expect("names in the metrics", told.keys(), first.keys())
        expect("the metrics", [first[name] <= told[name] <= last[name] for name in told], [True] * len(told))
        code, totals, _ = lab.shadow.stop()
        expect("the first one's end", (code, totals["verdicts"]["differ"]), (0, 0))
        said = re.findall(r"other synchronizers sent ([\d,]+) requests", html.read_text(encoding="utf-8"))
        expect("the page", [int(number.replace(",", "")) for number in said], [others(totals)])


def access_times(folder):
    """Another shadow reads a file whose access time a client has set: that is no difference."""
    with Lab(folder) as lab:
        files = [find(lab.client, lab.root, b"d%d" % i, b"f%d" % j) for i in range(3) for j in range(3)]
        for i, file in enumerate(files):
            lab.set_atime(file, 10 ** 9 + i)
        settle(lab.shadow)
        with lab.another("second") as second:
            settle(second)
            before = settle(lab.shadow)
            for file in files:
                expect("GETATTR", lab.client.nfs(GETATTR, {"object": file})[0], OK)
            after = settle(lab.shadow)
            expect("GETATTRs", fates(before, after), {"all": 9, "compared": 9})
            expect("differences", after["verdicts"]["differ"], 0)
        # from when clients set it again, it is compared again
        for i, file in enumerate(files):
            lab.set_atime(file, 10 ** 9 + 100 + i)
        settle(lab.shadow)
        for file in files:
            lab.client.nfs(GETATTR, {"object": file})
        settle(lab.shadow)
        expect("the end", lab.shadow.stop()[0], 0)


def at_once(folder):
    """Clients set access times and look at them while others synchronize and scrub."""
    with Lab(folder, "--scrub", "0") as lab:
        stopped, files = [], [find(lab.client, lab.root, b"d%d" % i, b"f%d" % j) for i in range(3) for j in range(3)]

        def work(seed):
            client, chance = mounted(lab.relay)[0], random.Random(seed)
            while not stopped:
                file = chance.choice(files[seed::2])
                client.nfs(SETATTR, {"object": file, "settings": {"atime": chance.randrange(10 ** 18)}})
                for _ in range(chance.randrange(3)):
                    client.nfs(GETATTR, {"object": file})
                time.sleep(chance.random() * 0.003)
        threads = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(2)]
        for thread in threads:
            thread.start()
        for i in range(4):
            with lab.another("more%d" % i, "--scrub", "0") as more:
                time.sleep(1)
                expect("differences of a later one", more.stop()[1]["verdicts"]["differ"], 0)
        stopped.append(True)
        for thread in threads:
            thread.join(30)
        settle(lab.shadow)
        expect("differences", (lab.shadow.stop()[1]["verdicts"]["differ"], ), (0,))


def forgotten(folder):
    """The mark of a shadow that stays is known after many others have come and gone."""
    def attach():
        ring = Ring(folder + "/ring")
        ring.ask()
        time.sleep(0.3)
        ring.read()
        ring.close()
        return [bytes(mark) for mark in ring.shadows]
    with Lab(folder) as lab:
        mark, = attach()
        for i in range(100):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(folder + "/ring")
                s.sendall(b"M%032x" % i)
                s.shutdown(socket.SHUT_WR)
                while s.recv(100):
                    pass
        known = attach()
        expect("the mark", (mark in known, len(set(known))), (True, 64))
        expect("the end", lab.shadow.stop()[0], 0)


def imitated(folder):
    """A client that has got hold of a mark can hide nothing: what it reads is counted apart, and what it changes is
    a client's."""
    with Lab(folder) as lab:
        ring = Ring(folder + "/ring")
        ring.ask()
        time.sleep(0.3)
        ring.read()
        expect("marks", [re.fullmatch(rb"[0-9a-f]{32}", bytes(m)) is not None for m in ring.shadows], [True])
        mark = bytes(ring.shadows[0]).decode()
        ring.close()
        file = find(lab.client, lab.directory, b"f1")

        def ask(machine, procedure, arguments):
            return decode_result(procedure, lab.client.rpc(
                procedure, encode_arguments(procedure, arguments), credential=auth_sys(0, 0, (), machine)))[0]
        read = READ, {"object": file, "offset": 0, "count": 100}
        write = WRITE, {"object": file, "offset": 0, "count": 3000, "stable": 2, "data": [(3000, 90)]}
        for machine, words, found, count in (
                ("nfstee-" + mark, read, {}, 5), ("nfstee-" + mark, write, {"all": 5, "compared": 5}, 0),
                ("nfstee-" + mark[::-1], read, {"all": 5, "compared": 5}, 0),
                ("nfstee-" + mark[1:], read, {"all": 5, "compared": 5}, 0),
                (mark, read, {"all": 5, "compared": 5}, 0), ("nfstee-", read, {"all": 5, "compared": 5}, 0)):
            before = settle(lab.shadow)
            expect("statuses", [ask(machine, *words) for _ in range(5)], [OK] * 5)
            after = settle(lab.shadow)
            expect("as %r: %d" % (machine[:10], words[0]), (fates(before, after), others(after) - others(before)),
                   (found, count))
        no_trees_differ("imitated", lab.reference, lab.sut)
        # who says anything at the door of readers harms nobody
        for said in b"M", b"M" * 40, b"M" + bytes(31), b"A" * 100 + b"M" * 3300, os.urandom(1000):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(folder + "/ring")
                s.sendall(said)
        settle(lab.shadow)
        expect("the relay goes on", lab.relay.ctl("statistics")["ring"]["readers"], 1)
        expect("the end", lab.shadow.stop()[1]["verdicts"]["differ"], 0)


def main():
    return run_each((counted, access_times, at_once, forgotten, imitated))


if __name__ == "__main__":
    sys.exit(main())
