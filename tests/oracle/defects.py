# SPDX-License-Identifier: GPL-2.0-or-later
"""Where stock tshark (4.0) is known to be wrong or silent, and what it shows beside the fields.

Every row is one defect.  The comparison fails for a row that never applied, so none outlives its
reason.
"""


def values(fields):
    return [value for _, value in fields]


class Undissected:
    """The body of one procedure, in one direction, is left as bytes."""

    def __init__(self, program, version, procedure, direction, reason):
        self.where = (program, version, procedure, direction)
        self.reason = reason

    def excuses(self, ours, theirs):
        header = [f for f in ours if f[0].startswith("rpc.")]
        return theirs == header and len(ours) > len(header)


class StatusReadAsType:
    """NFSACL version 2's GETATTR answers a status first; tshark takes it for the first attribute
    and so shows each word under the next one's name."""

    def __init__(self):
        self.where = (100227, 2, 3, "reply")
        self.reason = "the reply's status is not read"

    def excuses(self, ours, theirs):
        return theirs != ours and values(theirs) == values(ours)[:len(theirs)]


RPCB = "rpcbind's %s is not dissected, its RPCB argument stays bytes"
DEFECTS = [
    StatusReadAsType(),
    Undissected(100000, 3, 1, "call", RPCB % "SET (version 3)"),
    Undissected(100000, 3, 2, "call", RPCB % "UNSET (version 3)"),
    Undissected(100000, 4, 1, "call", RPCB % "SET (version 4)"),
    Undissected(100000, 4, 2, "call", RPCB % "UNSET (version 4)"),
    Undissected(100000, 4, 9, "call", RPCB % "GETVERSADDR"),
    Undissected(100000, 4, 11, "call", RPCB % "GETADDRLIST"),
]

# With tcp.reassemble_out_of_order tshark shows a message in the frame that fills an earlier hole of
# the stream, though all of the message's own bytes were in earlier frames.
HELD_BACK = "shown in a later frame: held back by a hole before it"

# tshark shows the fragments of a datagram of which one was lost, and nothing of what they carried.
LOST_FRAGMENT = "a partial message of a datagram that lost a fragment"

# Names with bytes of their own that are no further values: (names or prefixes ending in "*", why).
VIEWS = [
    ("nfs.fh.hash", "computed from the handle"),
    ("nfs.fh.length", "the handle's length"),
    ("nfs.mode3.*", "bits of nfs.mode3"),
    ("nfs.mode.*", "bits of nfs.mode"),
    ("nfs.access_*", "bits of an access mask"),
    ("nfs.fsinfo.properties.*", "bits of nfs.fsinfo.properties"),
    ("nfsacl.mask.*", "bits of nfsacl.mask"),
    ("nfsacl.aclent.perm.*", "bits of nfsacl.aclent.perm"),
    ("nfs.atime", "seconds and their fraction, compared one by one"),
    ("nfs.mtime", "the same"),
    ("nfs.ctime", "the same"),
    ("nfs.dtime", "the same"),
    ("nfs.readdir.entry", "a structure"),
    ("nfsacl.acl", "a structure"),
    ("nfsacl.aclent", "a structure"),
    ("mount.dump.entry", "a structure"),
    ("mount.export.entry", "a structure"),
    ("mount.export.groups", "a structure"),
    ("portmap.rpcb", "a structure"),
    ("nlm.lock", "a structure"),
    ("nlm.share", "a structure"),
    ("nlm.test_stat", "a structure"),
    ("nlm.holder", "a structure"),
]


def view_of(name):
    """The index of the row of VIEWS that |name| falls under, or None."""
    for i, (view, _) in enumerate(VIEWS):
        if name == view or (view.endswith("*") and name.startswith(view[:-1])):
            return i
    return None
