#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan long=--patience timeout=300
"""nfstee relay --upgrade: relays that take over from one another, and successors that do not get that far."""
import argparse
import contextlib
import fcntl
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each
from live_client import Client, Ftnfsd
from messages import NFS, PORTMAP
from nfstee_relay import wait_until
from tee_peers import CLIENT, connect, free_port, is_reset
from tee_ring import Relay, Ring

GETATTR = 1


def test_upgrade(folder):
    """Relays take over from one another, and no connection is refused or reset meanwhile."""
    errors, counts, stopped = [], [0] * 4, []
    with Ftnfsd("--export", "/a") as nfsd:
        root = Client(nfsd).mount(b"/a")
        options = ["--upgrade", folder + "/up", "--attach", folder + "/ring", "--control",
                   folder + "/ctl", "--ports", folder + "/ports"]
        relay = Relay(nfsd.port, *options, "--drain", "30s", port=free_port()).__enter__()

        def work(number):
            while not stopped:
                try:
                    client = Client(relay, source=(CLIENT, 0))
                    if client.nfs(GETATTR, {"object": root})[0]:
                        errors.append("a status")
                    client.close()
                    counts[number] += 1
                except Exception as error:
                    errors.append(error)
        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(counts))]
        for thread in threads:
            thread.start()
        for drain in ["30s"] * 4 + ["0s"]:
            old, stays = relay, Client(relay, source=(CLIENT, free_port()))
            stays.nfs(GETATTR, {"object": root})
            time.sleep(0.05)
            relay = Relay(nfsd.port, *options, "--drain", drain, port=old.port).__enter__()
            expect("a connection of before", stays.nfs(GETATTR, {"object": root})[0], 0)
            expect("the predecessor waits for it", old.process.poll(), None)
            stays.close()
            code, out, err = old.stop() if wait_until(
                lambda: old.process.poll() is not None) else (None, "", "")
            expect("the predecessor's end", (code, "connections" in out, err), (0, True, ""))
            expect("the successor", relay.ctl("statistics")["ring"]["readers"], 0)
            Ring(folder + "/ring").close()
        stopped.append(True)
        for thread in threads:
            thread.join(30)
        expect("connections that failed", errors, [])
        expect("connections", min(counts) > 10, True)
        # without time to drain, connections are reset, and can be made again from the same port
        port = free_port()
        first = connect(relay.port, (CLIENT, port))
        wait_until(lambda: relay.ctl("statistics")["open"] > 0)
        old, relay = relay, Relay(nfsd.port, *options, port=relay.port).__enter__()
        expect("it is reset", (is_reset(first), old.process.wait(30)), (True, 0))
        again = Client(relay, source=(CLIENT, port))
        expect("and made again", again.nfs(GETATTR, {"object": root})[0], 0)
        expect("from the same port", relay.ctl("connections")["connections"][0]["connects"], "127.0.0.1:%d" % port)
        old.stop()
        relay.stop()
        # who connects, but is no successor, has no effect
        with Relay(nfsd.port, *options) as relay:
            client = Client(relay)
            for said in (None, b"", b"statistics\n", b"NFSTEE1\0", b"NFSTEE"):
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(folder + "/up")
                    if said is not None:
                        s.sendall(said)
                        s.shutdown(socket.SHUT_WR)
                        s.settimeout(30)
                        with contextlib.suppress(ConnectionResetError):
                            expect("an answer to %r" % said, s.recv(100), b"")
            expect("the relay goes on", (client.nfs(GETATTR, {"object": root})[0], Client(relay).nfs(
                GETATTR, {"object": root})[0]), (0, 0))
            with socket.socket(socket.AF_UNIX) as silent:
                silent.connect(folder + "/up")
                with Relay(nfsd.port, *options, port=relay.port) as successor:
                    expect("behind one that says nothing", Client(successor).nfs(GETATTR, {"object": root})[0], 0)
        # one that was killed leaves its socket
        relay = Relay(nfsd.port, *options).__enter__()
        relay.kill()
        with Relay(nfsd.port, *options) as relay:
            expect("after a kill", Client(relay).nfs(GETATTR, {"object": root})[0], 0)


def take_over(path, *said):
    """A successor that gets the sockets, says |said|, and is gone.  Returns how many sockets it got."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(path)
        s.sendall(b"NFSTEE2\0")
        _, sockets, _, _ = socket.recv_fds(s, 16, 16)
        for text in said:
            s.sendall(text)
            expect("the answer to %r" % text, s.recv(10), b"n")
        for fd in sockets:
            os.close(fd)
        return len(sockets)


def test_successors_that_die(folder):
    """A successor that does not get ready changes nothing: the relay goes on, and the next one takes over."""
    metrics, portmap = free_port(), free_port()
    with Ftnfsd("--export", "/a") as nfsd:
        root = Client(nfsd).mount(b"/a")
        options = ["--upgrade", folder + "/up", "--attach", folder + "/ring", "--control", folder + "/ctl", "--ports",
                   folder + "/ports", "--metrics", str(metrics), "--portmap", "127.0.0.1:%d" % portmap, "--drain", "30s"]
        relay = Relay(nfsd.port, *options, port=free_port()).__enter__()
        stays, reader = Client(relay, source=(CLIENT, free_port())), Ring(folder + "/ring")

        def serves(what):
            for client in stays, Client(relay, source=(CLIENT, 0)), Client(relay, udp=True, source=(CLIENT, 0)):
                expect("GETATTR, " + what, client.nfs(GETATTR, {"object": root})[0], 0)
            expect("PORTMAP, " + what, Client(argparse.Namespace(port=portmap)).rpc(
                3, struct.pack(">4I", NFS, 3, 6, 0), program=PORTMAP, version=2), struct.pack(">I", relay.port))
            with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % metrics, timeout=20) as page:
                expect("metrics, " + what, b"nfstee_connections_total" in page.read(), True)
            expect("the control socket, " + what, "ring" in relay.ctl("statistics"), True)
            Ring(folder + "/ring").close()

        def is_back(what):
            wait_until(lambda: pathlib.Path(folder + "/up").exists())
            serves(what)
            with pathlib.Path("/proc/locks").open() as locks, pathlib.Path(folder + "/ports").open() as table:
                expect("the table of ports, " + what, ":%d 0 EOF" % os.fstat(table.fileno()).st_ino in locks.read(), True)
        serves("at first")
        for _ in range(10):  # gone before the sockets come, or with them
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(folder + "/up")
                s.sendall(b"NFSTEE2\0")
            is_back("after one that did not wait")
        expect("sockets", take_over(folder + "/up"), 1)
        is_back("after one that had the sockets")
        # somebody who looks if there is a relay does not get between
        with socket.socket(socket.AF_UNIX) as s, socket.socket(socket.AF_UNIX) as other:
            relay.process.send_signal(signal.SIGSTOP)
            s.connect(folder + "/up")
            s.sendall(b"NFSTEE2\0")
            other.connect(folder + "/up")
            relay.process.send_signal(signal.SIGCONT)
            s.settimeout(30)
            message, sockets, _, _ = socket.recv_fds(s, 16, 16)
            expect("the message, with another behind it", (message[:8], len(sockets)), (b"NFSTEE2\0", 1))
            for fd in sockets:
                os.close(fd)
        is_back("after one with another behind it")
        take_over(folder + "/up", b"x")
        is_back("after one that says something else")
        # one that was ready, and is gone before the relay reads it
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(folder + "/up")
            s.sendall(b"NFSTEE2\0")
            _, sockets, _, _ = socket.recv_fds(s, 16, 16)
            relay.process.send_signal(signal.SIGSTOP)
            s.sendall(b"r")
        for fd in sockets:
            os.close(fd)
        relay.process.send_signal(signal.SIGCONT)
        is_back("after one that ended when it was ready")
        # one whose address of metrics is taken
        with socket.create_server(("127.0.0.1", 0)) as taken:
            run = subprocess.run([*relay.command, "--listen", "127.0.0.1:%d" % relay.port, "--metrics",
                                  str(taken.getsockname()[1])], capture_output=True, text=True, timeout=60)
        expect("one with a wrong option", (run.returncode, "--metrics" in run.stderr), (4, True))
        is_back("after one with a wrong option")
        expect("connections of before", relay.ctl("statistics")["reset_by_client"], 0)
        reader.close()
        old, relay = relay, Relay(nfsd.port, *options, port=relay.port).__enter__()
        serves("by a successor")
        stays.close()
        expect("the predecessor's end", old.process.wait(30), 0)
        said = old.stop()[2].splitlines()
        expect("what it said", (len(said), {line.split(":")[1] for line in said}),
               (15, {" the successor did not take over"}))
        expect("what a successor said", relay.stop()[::2], (0, ""))
        # its predecessor is killed meanwhile
        old = Relay(nfsd.port, *options, port=relay.port).__enter__()
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(folder + "/up")
            s.sendall(b"NFSTEE2\0")
            _, sockets, _, _ = socket.recv_fds(s, 16, 16)
            old.process.terminate()
            expect("one that ends gives its sockets", s.recv(10), b"g")
            for fd in sockets:
                os.close(fd)
        old.stop()


def test_hanging_predecessor(folder):
    """A relay that does not answer one that is ready for 30 s cannot give its sockets later, when nobody is there."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(folder + "/up")
        listening.listen(1)
        program = os.path.join(os.environ["BUILD"], "bin", "nfstee")
        with subprocess.Popen([program, "relay", "--to", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--upgrade",
                               folder + "/up"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            peer, _ = listening.accept()
            with peer:
                expect("what it asks", peer.recv(100), b"NFSTEE2\0")
                os.unlink(folder + "/up")
                listening.close()
                peer.sendall(struct.pack("<8sII", b"NFSTEE2\0", 0, 0))
                text = run.communicate(timeout=60)[1]
                expect("its end", (run.returncode, "does not say" in text), (4, True))
                expect("it said", peer.recv(100), b"r")
                try:
                    peer.sendall(b"g")
                    expect("it hears", True, False)
                except BrokenPipeError:
                    pass


def test_hanging_successor(folder):
    """A relay whose successor has all and hangs goes on after 30 s, and takes back what that had when it is gone."""
    with Ftnfsd("--export", "/a") as nfsd, contextlib.ExitStack() as held:
        root, metrics = Client(nfsd).mount(b"/a"), free_port()
        options = ["--upgrade", folder + "/up", "--attach", folder + "/ring", "--control", folder + "/ctl", "--ports",
                   folder + "/ports", "--metrics", str(metrics)]
        relay = Relay(nfsd.port, *options, port=free_port()).__enter__()
        successor = held.enter_context(socket.socket(socket.AF_UNIX))
        successor.connect(folder + "/up")
        successor.sendall(b"NFSTEE2\0")
        for fd in socket.recv_fds(successor, 16, 16)[1]:
            os.close(fd)
        for name in "up", "ring", "ctl":
            listening = held.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(folder + "/" + name)
            listening.listen(5)
        held.enter_context(socket.create_server(("127.0.0.1", metrics)))
        fcntl.flock(held.enter_context(open(folder + "/ports", "rb")), fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.create_connection(("127.0.0.1", relay.port)):
            expect("what the successor hears", successor.recv(10), b"n")
        for client in Client(relay), Client(relay, udp=True):
            expect("meanwhile", client.nfs(GETATTR, {"object": root})[0], 0)
        time.sleep(2.5)
        held.close()
        time.sleep(2.5)
        expect("the control socket", "ring" in relay.ctl("statistics"), True)
        Ring(folder + "/ring").close()
        with Relay(nfsd.port, *options, port=relay.port) as another:
            expect("by a successor", Client(another).nfs(GETATTR, {"object": root})[0], 0)
        said = relay.stop()[2].splitlines()
        expect("what it said", [line.split(": ")[1].split("/")[0] for line in said], [
            "the successor did not take over", "--ports", "--attach", "--control", "--metrics", "--upgrade",
            "all is taken back"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--patience", action="store_true", help="only the tests that wait for 30 s")
    tests = (test_hanging_predecessor, test_hanging_successor) if parser.parse_args().patience else (
        test_upgrade, test_successors_that_die)
    return run_each(tests)


if __name__ == "__main__":
    sys.exit(main())
