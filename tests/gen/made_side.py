# SPDX-License-Identifier: GPL-2.0-or-later
"""One server's capture for a comparison: requests over UDP, one after the other, whose replies tell
the server's times as a test wants them.

    side = made_side.Side(step=10**9)
    side.ask(GETATTR, getattr_args(FILE), u32(0) + attributes(2, mtime=side.now - 5))
    side.ingest(folder / "ref.db", run)
"""
import capfile
import packets
from messages import (DIR, MOUNT, NFS, REG, auth_sys, call, handle, opaque, reply, some, time3, u32,
                      u64)

CLIENT, SERVER = "192.0.2.1", "192.0.2.9"
START = 1_700_000_000_000_000_000
ROOT = handle(1)


def nfstime(time):
    """|time|: ns, or (seconds, nseconds) as they go over the wire."""
    return u32(*time) if isinstance(time, tuple) else time3(time)


def attributes(fileid, kind=REG, size=4096, atime=START, mtime=START, ctime=START, fsid=0xfd00,
               mode=None, nlink=1):
    mode = (0o755 if kind == DIR else 0o644) if mode is None else mode
    return (u32(kind, mode, nlink, 1000, 1000) + u64(size, size) + u32(0, 0) + u64(fsid, fileid)
            + nfstime(atime) + nfstime(mtime) + nfstime(ctime))


def before(size, mtime, ctime):
    """wcc_attr"""
    return u64(size) + nfstime(mtime) + nfstime(ctime)


def wcc_data(old, new):
    """wcc_data of what |before| and |attributes| give; None: not there."""
    return (some(old) if old else u32(0)) + (some(new) if new else u32(0))


class Side:
    """The root is mounted, as |path|. |step|: from call to call, ns; |took|: from call to reply; |ahead|:
    by so much the server's clock is."""

    def __init__(self, step=10**9, took=200_000, ahead=0, start=START, path="/x"):
        self.time, self.step, self.took, self.ahead = start, step, took, ahead
        self.xid, self.packets = 0, []
        self.ask(1, opaque(path), u32(0) + opaque(ROOT) + u32(1, 1), program=MOUNT, port=20048)

    @property
    def now(self):
        """The server's time while it works on the next request."""
        return self.time + self.took // 2 + self.ahead

    def put(self, time, source, destination, source_port, port, data):
        datagram = packets.udp(source, destination, source_port, port, data)
        frame = packets.ethernet(packets.internet(source, destination, packets.UDP, datagram))
        self.packets.append(capfile.Packet(time, frame, len(frame), 1))

    def ask(self, procedure, arguments, *results, program=NFS, port=2049, uid=1000, wait=0):
        """|results|: the reply's, and those of further replies. |wait|: before the next request."""
        self.xid += 1
        self.put(self.time, CLIENT, SERVER, 700, port,
                 call(self.xid, procedure, arguments, program, 3, auth_sys(uid)))
        for i, result in enumerate(results):
            self.put(self.time + self.took + i * 1000, SERVER, CLIENT, port, 700,
                     reply(self.xid, result))
        self.time += self.step + wait

    def ingest(self, path, run, snap=1 << 16):
        """|run|: runs the program. |snap|: so much of each frame was captured."""
        capture = path.with_suffix(".pcap")
        capfile.write_pcap(str(capture), [packet._replace(data=packet.data[:snap])
                                          for packet in sorted(self.packets)])
        path.unlink(missing_ok=True)
        run("ingest", "-q", "-o", path, capture)
        return path
