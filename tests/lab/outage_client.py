#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""outage_client.py SERVER EXPORT NAME SECONDS: a client that goes on when its server does not.

It writes, reads and lists a few files of its own, sends a call again after half a second without an
answer, and connects again when its connection ends.  "three" gives up then; "four" only asks for
attributes now and then.  At the end it prints as JSON what it saw.
"""
import json
import os
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gen"))

from live_client import Client, parse_reply  # noqa: E402
from messages import COMMIT, CREATE, GETATTR, LOOKUP, READ, WRITE, auth_sys  # noqa: E402
from model_xdr import UNCHECKED, UNSTABLE, decode_result, encode_arguments  # noqa: E402

AGAIN = 0.5  # seconds without an answer


class Port:
    def __init__(self, port):
        self.port = port


class Stubborn:
    """A connection that comes back."""

    def __init__(self, host, gives_up):
        self.host, self.gives_up = host, gives_up
        self.client, self.seen = None, {"resent": 0, "connections": 0, "gave_up": False}
        self.longest = (0, None)

    def connect(self, until):
        while time.time() < until:
            try:
                client = Client(Port(2049), host=self.host, whole=False)
                client.socket.settimeout(AGAIN)
                if self.client:
                    client.xid = self.client.xid
                self.client = client
                self.seen["connections"] += 1
                return True
            except OSError:
                time.sleep(0.3)
        return False

    def call(self, procedure, arguments, until):
        """(status, fields), or None: no answer until then."""
        began = time.time()
        if not self.client and not self.connect(until):
            return None
        message = self.client.message(procedure, encode_arguments(procedure, arguments),
                                      credential=auth_sys(0, 0, ()))
        sent = False
        while time.time() < until:
            try:
                self.client.send(message)
                self.seen["resent"] += sent
                sent = True
                while True:
                    xid, results = parse_reply(self.client.receive())
                    if xid == self.client.xid:
                        break
                if time.time() - began > self.longest[0]:
                    self.longest = (time.time() - began, procedure)
                return decode_result(procedure, results, False)
            except socket.timeout:
                pass  # sends it again
            except OSError:
                if self.gives_up:
                    self.seen["gave_up"] = True
                    return None
                self.client.close()
                if not self.connect(until):
                    return None
        return None


def work(connection, root, name, until):
    """Files of its own: written in blocks, some of them committed, and read again."""
    number = 0
    while time.time() < until:
        file_name = b"%s-%d" % (name, number)
        number += 1
        connection.call(CREATE, {"object": root, "name": file_name, "how": UNCHECKED,
                                 "settings": {"mode": 0o644}}, until)
        done = connection.call(LOOKUP, {"object": root, "name": file_name}, until)
        if not done or done[0]:
            continue
        handle = done[1]["handle"]
        for block in range(4):
            connection.call(WRITE, {"object": handle, "offset": block * 512, "count": 512,
                                    "stable": UNSTABLE, "data": [(512, number % 256)]}, until)
            time.sleep(0.06)
        if number % 2:
            connection.call(COMMIT, {"object": handle, "offset": 0, "count": 0}, until)
        connection.call(READ, {"object": handle, "offset": 512, "count": 512}, until)
        connection.call(GETATTR, {"object": handle}, until)


def main():
    host, export, name, seconds = sys.argv[1:]
    until = time.time() + float(seconds)
    mount = Client(Port(20048), host=host)
    root = mount.mount(os.fsencode(export))
    mount.close()
    connection = Stubborn(host, name == "three")
    if name == "four":
        while time.time() < until:
            connection.call(GETATTR, {"object": root}, until)
            time.sleep(0.8)
    else:
        work(connection, root, name.encode(), until)
    print(json.dumps({"client": name, **connection.seen,
                      "longest": round(connection.longest[0], 3)}))


main()
