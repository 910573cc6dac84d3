# SPDX-License-Identifier: GPL-2.0-or-later
"""A small NFSv3 client over TCP and UDP, and ftnfsd as a context, for tests.

    with Ftnfsd("--export", "/a") as server:
        client = Client(server)
        root = client.mount(b"/a")
        status, fields = client.nfs(LOOKUP, {"object": root, "name": b"x"}, uid=1000)

Arguments and fields are those of model_xdr.  Independent of engine/wire: it is an oracle.
"""
import os
import re
import socket
import struct
import subprocess

from messages import MOUNT, NFS, auth_none, auth_sys, call, opaque, record
from model_xdr import Cursor, decode_result, encode_arguments

SECONDS = 120  # after which a server that was forgotten ends by itself
LOOPBACK = "127.0.0.1"


class RpcError(Exception):
    """|accept|: accept_stat, or None when the call was denied."""

    def __init__(self, accept, detail=()):
        super().__init__("accept_stat %s %s" % (accept, detail))
        self.accept, self.detail = accept, detail


class Ftnfsd:
    def __init__(self, *options, wrapper=()):
        program = os.path.join(os.environ.get("BUILD", "build"), "bin", "ftnfsd")
        self.command = [*wrapper, program, "--memory", "--port", "0", "--for", "%ds" % SECONDS,
                        *options]
        self.process = self.port = self.mount_port = None
        self.urls, self.lines = [], []

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        exports = sum(o.startswith("/") and self.command[i] == "--export"
                      for i, o in enumerate(self.command[1:]))
        while len(self.urls) < exports:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("ftnfsd: %s" % self.process.stderr.read())
            self.lines.append(line.rstrip())
            match = re.match(r"nfs://\S+nfsport=(\d+)&mountport=(\d+)", line)
            if match:
                self.urls.append(line.strip())
                self.port, self.mount_port = int(match[1]), int(match[2])
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """(exit code, the rest of standard output, standard error)"""
        if self.process.poll() is None:
            self.process.terminate()
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


def parse_reply(data):
    """(xid, results)"""
    c = Cursor(data)
    xid, direction, state = c.u32(), c.u32(), c.u32()
    if direction != 1:
        raise ValueError("not a reply")
    if state == 1:
        raise RpcError(None, (c.u32(), c.u32()))
    c.u32()
    c.opaque()  # the verifier
    accept = c.u32()
    if accept:
        raise RpcError(accept, (c.u32(), c.u32()) if accept == 2 else ())
    return xid, data[c.at:]


class Client:
    """One connection. |udp|: datagrams. |whole|: False: results may have bytes behind the end, as
    Ganesha's have."""

    def __init__(self, server, udp=False, host=LOOPBACK, source=None, whole=True):
        self.server, self.udp, self.whole = server, udp, whole
        self.xid = struct.unpack(">I", os.urandom(4))[0]
        kind = socket.SOCK_DGRAM if udp else socket.SOCK_STREAM
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
        self.socket.settimeout(30)
        if source:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(source)
        self.socket.connect((host, server.port))
        if not udp:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.socket.close()

    def send(self, message, fragments=()):
        self.socket.sendall(message if self.udp else record(message, fragments))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the server closed the connection")
            data += more
        return data

    def receive(self):
        """One message."""
        if self.udp:
            return self.socket.recv(65536)
        data, last = b"", False
        while not last:
            mark = struct.unpack(">I", self.exactly(4))[0]
            last = bool(mark >> 31)
            data += self.exactly(mark & 0x7fffffff)
        return data

    def message(self, procedure, arguments, program=NFS, version=3, credential=None):
        self.xid = (self.xid + 1) & 0xffffffff
        return call(self.xid, procedure, arguments, program, version, credential)

    def rpc(self, procedure, arguments, **more):
        """The results of a call as bytes."""
        self.send(self.message(procedure, arguments, **more))
        xid, results = parse_reply(self.receive())
        if xid != self.xid:
            raise ValueError("the reply's XID is %08x, not %08x" % (xid, self.xid))
        return results

    def nfs(self, procedure, arguments, uid=0, gid=0, gids=()):
        """(status, fields)"""
        return decode_result(procedure, self.rpc(procedure, encode_arguments(procedure, arguments),
                                                 credential=auth_sys(uid, gid, gids)), self.whole)

    def mount(self, path):
        """The root's handle; raises FileNotFoundError with the status."""
        c = Cursor(self.rpc(1, opaque(path), program=MOUNT, credential=auth_none()))
        status = c.u32()
        if status:
            raise FileNotFoundError(status, path)
        return c.opaque()
