#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan timeout=120
"""nfstee relay --inject: what rules do to calls, and that nothing else happens to the bytes."""
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "gen"))
from expecting import expect, run_each
from live_client import Client, Ftnfsd
from messages import call, record, reply
from tee_peers import CLIENT, Listener, Retransmitting, free_port, is_reset, read_all
from tee_ring import Relay

NULL, GETATTR, ACCESS, READ, WRITE, MKDIR = 0, 1, 4, 6, 7, 9


def seconds(act):
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


def test_delay(folder):
    """The calls that a rule names are late, and others not.  Delays of calls that come together do not
    add up."""
    with Ftnfsd("--export", "/a") as nfsd, \
            Relay(nfsd.port, "--control", folder + "/ctl", "--inject", "GETATTR:delay=300ms",
                  "--inject", "ACCESS:uid=7:client=127.0.0.2:delay=300ms") as relay:
        root = Client(nfsd).mount(b"/a")
        client, other = Client(relay, source=(CLIENT, 0)), Client(relay)
        for who, procedure, uid, late in ((client, GETATTR, 0, True), (other, GETATTR, 0, True),
                                          (client, ACCESS, 7, True), (client, ACCESS, 8, False),
                                          (other, ACCESS, 7, False), (client, NULL, 7, False)):
            fields = {NULL: {}, GETATTR: {"object": root}, ACCESS: {"object": root, "access": 1}}
            took = seconds(lambda: who.rpc(NULL, b"") if procedure == NULL else
                           who.nfs(procedure, fields[procedure], uid=uid))
            expect("procedure %d of uid %d" % (procedure, uid), took >= 0.3, late)
        calls = b"".join(record(call(xid, GETATTR, b"\0\0\0\x20" + bytes(32))) for xid in range(10))

        def together():
            client.socket.sendall(calls)
            for _ in range(10):
                client.receive()
        expect("ten calls together", 0.3 <= seconds(together) < 1.5, True)
        statistics = relay.ctl("statistics")
        expect("statistics", (statistics["delayed"], statistics["reset_by_rule"]), (13, 0))
        expect("list", [(f["rule"], f["requests"], f["hits"]) for f in relay.ctl("fault-list")["faults"]],
               [("GETATTR:delay=300ms", 12, 12),
                ("ACCESS:uid=7:client=127.0.0.2:delay=300ms", 1, 1)])


def test_bytes(folder):
    """Bytes are those that were sent, however they come, also if they are not RPC."""
    listener, chance = Listener(), random.Random(5)
    with Relay(listener.port, "--control", folder + "/ctl", "--inject", "READ:p=0.1:delay=2ms",
               "--inject", "WRITE:every=7:delay=1ms", "--inject", "MKDIR:close") as relay:
        for kind in range(5):
            stream, read = bytearray(), 0
            while len(stream) < 300000:
                message = call(chance.getrandbits(32), chance.choice((READ, WRITE, NULL)),
                               bytes(int(2 ** chance.uniform(2, 14))))
                read += message[23] == READ
                if kind == 1 and chance.random() < 0.01:
                    message = bytes(chance.getrandbits(8) for _ in range(chance.randrange(60)))
                at, cuts = 0, []
                while kind == 2 and chance.random() < 0.7 and at < len(message):
                    cuts.append(chance.randrange(min(40, len(message) - at)))
                    at += cuts[-1]
                stream += record(message, cuts)
            if kind == 3:  # a mark that promises too much
                stream[100000:100004] = b"\x7f\xff\xff\xff"
            client, server = listener.pair(relay)

            def send(data=bytes(stream), kind=kind):
                at = 0
                while at < len(data):
                    size = 1 + chance.randrange(9) if kind == 4 and at < 9000 else chance.randrange(40000)
                    client.sendall(data[at:at + size])
                    at += size
                client.shutdown(socket.SHUT_WR)
            before = relay.ctl("fault-list")["faults"][0]["requests"]
            thread = threading.Thread(target=send)
            thread.start()
            got = read_all(server)
            thread.join(30)
            expect("bytes of kind %d" % kind, (len(got), got == stream), (len(stream), True))
            found = relay.ctl("fault-list")["faults"][0]["requests"] - before
            if kind in (0, 2, 4):
                expect("calls that were found, kind %d" % kind, found, read)
            server.sendall(stream)
            server.close()
            expect("bytes back", read_all(client) == stream, True)
            client.close()
        expect("delays", relay.ctl("statistics")["delayed"] > 10, True)


def test_close(folder):
    """The call is executed, and the connection is reset in the place of its reply."""
    with Ftnfsd("--export", "/a") as nfsd, \
            Relay(nfsd.port, "--control", folder + "/ctl", "--inject", "MKDIR:p=0.1:close") as relay:
        root = Client(nfsd).mount(b"/a")
        clients = [Retransmitting(relay, root, free_port(), i + 1, 100) for i in range(3)]
        threads = [threading.Thread(target=c.run, daemon=True) for c in clients]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        hits = relay.ctl("fault-list")["faults"][0]["hits"]
        expect("results", [c.results for c in clients], [[0] * 100] * 3)
        expect("calls that were sent again", sum(c.again for c in clients), hits)
        expect("calls", hits > 10, True)
        expect("statistics", relay.ctl("statistics")["reset_by_rule"], hits)


def test_order(folder):
    """Replies before the one that is replaced pass, and a reply of another call is not taken for it."""
    listener = Listener()
    with Relay(listener.port, "--inject", "MKDIR:close:count=1", "--control", folder + "/ctl") as relay:
        client, server = listener.pair(relay)
        calls = record(call(1, MKDIR)) + record(call(2, GETATTR))
        client.sendall(calls)
        expect("both calls", server.recv(len(calls), socket.MSG_WAITALL) == calls, True)
        second = record(reply(2))
        server.sendall(second)
        expect("the second reply", client.recv(len(second), socket.MSG_WAITALL) == second, True)
        server.sendall(record(reply(1)))
        expect("the first one", (is_reset(client), is_reset(server)), (True, True))


def test_control(folder):
    """Rules come and go, and connections that were open before are joined."""
    with Ftnfsd("--export", "/a") as nfsd, Relay(nfsd.port, "--control", folder + "/ctl") as relay:
        root = Client(nfsd).mount(b"/a")
        client = Client(relay, source=(CLIENT, 0))

        def getattr():
            return seconds(lambda: client.nfs(GETATTR, {"object": root})) >= 0.2
        expect("without a rule", getattr(), False)
        for _ in range(2):
            rule = relay.ctl("fault-add", "GETATTR:delay=200ms")
            expect("with one", getattr(), True)
            relay.ctl("fault-remove", str(rule["number"]))
            expect("without it", getattr(), False)
        relay.ctl("fault-add", "NFS.*:close")
        try:
            client.nfs(GETATTR, {"object": root})
            expect("closed", False, True)
        except OSError:
            pass
        words = " ".join(relay.ctl("fault-help")["words"])
        expect("help", [word in words for word in ("delay=", "close", "uid=", "status", "path", "drop")],
               [True] * 3 + [False] * 3)
        run = subprocess.run([relay.program, "ctl", folder + "/ctl", "fault-add", "READ:eof"],
                             capture_output=True, text=True)
        expect("a rule of servers", (run.returncode, "eof: a relay cannot do this" in run.stdout +
                                     run.stderr), (2, True))


def test_refusals(_):
    program = os.path.join(os.environ["BUILD"], "bin", "nfstee")
    for rule, text in (("WRITE:status=NFS3ERR_IO", "status: a relay cannot do this; it knows delay, close, "),
                       ("READ:path=/x:delay=1s", "path: a relay cannot do this"),
                       ("READ:object=01:close", "object: a relay cannot do this"),
                       ("READ:drop", "drop: a relay cannot do this"),
                       ("READ", "has no effect"), ("FLY:close", "FLY")):
        run = subprocess.run([program, "relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--for",
                              "10s", "--inject", rule], capture_output=True, text=True)
        expect(rule, (run.returncode, text in run.stderr, run.stderr.startswith("nfstee: --inject: fault: ")),
               (2, True, True))


def main():
    return run_each((test_delay, test_bytes, test_close, test_order, test_control, test_refusals))


if __name__ == "__main__":
    sys.exit(main())
