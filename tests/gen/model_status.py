# SPDX-License-Identifier: GPL-2.0-or-later
"""nfsstat3 (RFC 1813 s2.6), and the checks that several procedures of the model server share."""
from model_xdr import DIR

(PERM, IO, NXIO, ACCES, EXIST, XDEV, NODEV, NOTDIR, ISDIR, INVAL, FBIG, NOSPC, ROFS, MLINK,
 NAMETOOLONG, NOTEMPTY, DQUOT) = (1, 5, 6, 13, 17, 18, 19, 20, 21, 22, 27, 28, 30, 31, 63, 66, 69)
(BADHANDLE, NOT_SYNC, BAD_COOKIE, NOTSUPP, TOOSMALL, SERVERFAULT, BADTYPE,
 JUKEBOX) = range(10001, 10009)
MAY_READ, MAY_WRITE, MAY_EXECUTE = 4, 2, 1


class Failure(Exception):
    def __init__(self, status):
        super().__init__(status)
        self.status = status


def allowed(call, inode, bits):
    who = call.who
    if call.root:
        return not bits & MAY_EXECUTE or inode.type == DIR or bool(inode.mode & 0o111)
    if who.uid == inode.uid:
        mode = inode.mode >> 6
    elif inode.gid == who.gid or inode.gid in who.gids:
        mode = inode.mode >> 3
    else:
        mode = inode.mode
    return mode & bits == bits


def need(call, inode, bits, owner_always=False):
    """|owner_always|: the owner may, whatever the mode says: the file may have been opened before
    its mode changed (RFC 1813 s4.4)."""
    if bits & MAY_WRITE:
        writable(call, inode)
    if owner_always and call.who.uid == inode.uid:
        return
    if not allowed(call, inode, bits):
        raise Failure(ACCES)


def writable(call, inode):
    if inode.fsid in call.server.read_only:
        raise Failure(ROFS)


def check_name(call, name):
    if not name or b"/" in name or b"\0" in name:
        raise Failure(ACCES)
    if len(name) > call.server.longest_name:
        raise Failure(NAMETOOLONG)


def is_dots(name):
    return name in (b".", b"..")
