# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict NFSv3 server in memory (RFC 1813); where the RFC leaves a choice, it does as Linux's.

    server = Server()
    root = server.export(b"/srv/a")
    result = server.execute(MKDIR, {"object": root.handle, "name": b"d", "settings": {}}, who, now)
    result.status, result.fields["handle"]

Arguments and fields are those of model_xdr; encode_arguments, encode_result and their counterparts
bring them to the wire and back. A handle may be any key (an id, say) as long as nothing is encoded:
load() takes a tree with keys of the caller's choice, and execute(..., new=KEY) the key of what the
call makes. So an rdump can be played, in any order: see model_play.

Of access lists, only the mode that they make is modelled.

Not modelled: space and quotas, set-uid bits that a write or change of owner takes away.
"""
import collections
import heapq
import struct

import model_names
import model_objects
from messages import OK, STALE
from model_files import Inode, inode_of
from model_status import BADHANDLE, NOTDIR, Failure
from model_xdr import (ACCESS, ACL_NULL, COMMIT, CREATE, DIR, FORMS, FSINFO, FSSTAT, GETACL, GETATTR, LINK, LOOKUP,
                       MKDIR, MKNOD, NULL, PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REMOVE,
                       RENAME, RMDIR, SETACL, SETATTR, SYMLINK, WRITE, Before)

Who = collections.namedtuple("Who", "uid gid gids", defaults=((),))
ROOT = Who(0, 0)

PROCEDURES = {
    NULL: lambda call: {}, GETATTR: model_objects.getattr_, SETATTR: model_objects.setattr_,
    LOOKUP: model_names.lookup, ACCESS: model_objects.access, READLINK: model_objects.readlink,
    READ: model_objects.read, WRITE: model_objects.write, CREATE: model_names.create,
    MKDIR: model_names.mkdir, SYMLINK: model_names.symlink, MKNOD: model_names.mknod,
    REMOVE: model_names.remove, RMDIR: model_names.rmdir, RENAME: model_names.rename,
    LINK: model_names.link, READDIR: model_objects.readdir,
    READDIRPLUS: model_objects.readdirplus, FSSTAT: model_objects.fsstat,
    FSINFO: model_objects.fsinfo, PATHCONF: model_objects.pathconf, COMMIT: model_objects.commit,
    ACL_NULL: lambda call: {}, GETACL: model_objects.getacl, SETACL: model_objects.setacl,
}
DIRECTORY_OF = {LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD, REMOVE, RMDIR, RENAME, READDIR, READDIRPLUS}
MAGIC = 0x01000701


class Result:
    """|roles|: the inodes that the call met, by what they were to it: "object", "object2", "found"
    (behind the name before), "target" (behind RENAME's and LINK's second name before), "made";
    "unseen": "object2", which the server did not look at; "gone": list of those that ceased to exist. |sizes|: (before, after) of "object" or of what
    CREATE found."""

    __slots__ = ("status", "fields", "roles", "sizes")

    def __init__(self, status, fields, roles, sizes):
        self.status, self.fields, self.roles, self.sizes = status, fields, roles, sizes


class Call:
    """What procedures work on."""

    def __init__(self, server, procedure, arguments, who, now, new):
        self.server, self.procedure, self.arguments = server, procedure, arguments
        self.who, self.now, self.new = who, now, new
        self.root = who.uid == 0 or not server.permissions
        self.roles, self.sizes = {"gone": []}, None
        self.object = self.object2 = None
        self.before = self.before2 = None

    def resolve(self):
        a = self.arguments
        if "object" in a:
            if a["object"] not in self.server.by_handle and a.get("object2") in \
                    self.server.by_handle:
                self.roles["unseen"] = self.server.by_handle[a["object2"]]
            self.object = self.roles["object"] = self.server.find(a["object"])
            self.before = before_of(self.object)
        if "object2" in a:
            self.object2 = self.roles["object2"] = self.server.find(a["object2"])
            self.before2 = before_of(self.object2)
        if self.procedure in DIRECTORY_OF and self.object.type != DIR:
            raise Failure(NOTDIR)
        if self.object2 is not None and self.object2.type != DIR:
            raise Failure(NOTDIR)

    def posts(self, form, fields):
        """post_op_attr and wcc_data, where the procedure didn't put them itself."""
        for letter in form:
            second = letter == "v" or letter == "w" and self.procedure == LINK
            inode = self.object2 if second else self.object
            after = None if inode is None else inode.attributes()
            if letter in "ad":
                fields.setdefault("attributes" if letter == "a" else "dir_attributes", after)
            else:
                fields["wcc" if letter == "w" else "wcc2"] = (
                    self.before2 if second else self.before, after)


def before_of(inode):
    return Before(inode.size, inode.mtime, inode.ctime)


class Server:
    """|permissions|: False: everybody may do what root may. |reuse|: fileids of removed objects
    come again, with another generation in their handles, as ext4 does it. |watch|: called as
    (bound, directory, name, inode) for each directory entry that comes (True) or goes (False)."""

    verifier = struct.pack(">Q", 0x6d6f64656c000001)  # of WRITE and COMMIT
    listing_verifier = bytes(8)
    largest_read = largest_write = 65536
    largest_file = 2**63 - 1
    most_links = 65000
    longest_name = 255
    default_mode = 0  # of a CREATE that says none
    always_one = False  # entry, in a listing with room for none
    most_entries = None  # of a directory, in one reply
    directory_links = None  # their nlink, whatever is in them; None: as Linux's
    attributes = True  # after an operation, where they are optional

    def __init__(self, permissions=True, reuse=True):
        self.permissions, self.reuse = permissions, reuse
        self.by_handle, self.exports = {}, {}
        self.read_only = set()  # fsids
        self.watch = None
        self.next_number, self.next_cookie, self.generation = 1, 3, 0
        self.next_fileid, self.free_fileids = {}, {}  # by fsid

    # Trees

    def load(self, nodes):
        """Takes nodes (model_files.Node), in any order. Names may have their cookie as a third
        part: listings are in its order, else in that of the nodes."""
        bindings = []
        for node in nodes:
            if node.key in self.by_handle:
                raise ValueError("two objects with the handle %r" % (node.key,))
            inode = inode_of(node, self.number())
            self.next_fileid[inode.fsid] = max(self.next_fileid.get(inode.fsid, 2),
                                               inode.fileid + 1)
            self.by_handle[node.key] = inode
            if isinstance(node.key, bytes) and len(node.key) == 28:
                self.generation = max(self.generation, struct.unpack_from(">I", node.key, 20)[0])
            if node.export is not None:
                self.exports[node.export] = inode
            bindings += [(name[2] if len(name) > 2 else 0, name[0], name[1], inode)
                         for name in node.names]
        for cookie, parent, name, inode in sorted(bindings, key=lambda b: b[0]):
            directory = self.by_handle[parent]
            if name in directory.entries:
                raise ValueError("two objects have the name %r in %r" % (name, parent))
            if cookie:
                self.next_cookie = cookie
            self.bind(directory, name, inode)
        for node in nodes:
            inode = self.by_handle[node.key]
            if node.nlink is not None:
                inode.nlink = node.nlink
            elif inode.type == DIR:
                inode.nlink = 2 + sum(e[0].type == DIR for e in inode.entries.values())
            else:
                inode.nlink = max(1, len(inode.names))

    def tree(self):
        """Its objects as nodes that load() takes, cookies included."""
        out = []
        for inode in self.by_handle.values():
            node = inode.node()
            node.names = [(directory.handle, name, directory.entries[name][1])
                          for directory, name in inode.names]
            out.append(node)
        return out

    def export(self, path, fsid=None, mode=0o755):
        fsid = 1 + len(self.exports) if fsid is None else fsid
        root = self.make(DIR, fsid, 0)
        root.mode, root.export = mode, path
        self.exports[path] = root
        return root

    # Objects

    def number(self):
        self.next_number += 1
        return self.next_number - 1

    def make(self, kind, fsid, now, handle=None):
        """An object without a name."""
        inode = Inode(self.number(), kind)
        inode.fsid = fsid
        if self.free_fileids.get(fsid):
            inode.fileid = heapq.heappop(self.free_fileids[fsid])
        else:
            inode.fileid = self.next_fileid.get(fsid, 2)
            self.next_fileid[fsid] = inode.fileid + 1
        self.generation += 1
        if handle is None:
            handle = struct.pack(">IQQII", MAGIC, fsid, inode.fileid, self.generation, 0)
        if handle in self.by_handle:
            raise ValueError("the handle %r is taken" % (handle,))
        inode.handle = handle
        inode.atime = inode.mtime = inode.ctime = now
        self.by_handle[handle] = inode
        return inode

    def forget(self, inode):
        del self.by_handle[inode.handle]
        if self.reuse:
            heapq.heappush(self.free_fileids.setdefault(inode.fsid, []), inode.fileid)

    def find(self, handle):
        """STALE: one of ours, or a key that may have been; BADHANDLE: no server of this kind made
        it (RFC 1813 s2.6)."""
        inode = self.by_handle.get(handle)
        if inode is None:
            foreign = isinstance(handle, bytes) and handle[:4] != struct.pack(">I", MAGIC)
            raise Failure(BADHANDLE if foreign else STALE)
        return inode

    # Directory entries. Link counts of directories are kept here, those of others by callers.

    def bind(self, directory, name, inode):
        """|name| must be free, or about to be replaced: it then keeps its place in listings."""
        old = directory.entries.get(name)
        directory.entries[name] = [inode, old[1] if old else self.next_cookie]
        if not old:
            self.next_cookie += 1
        inode.names.append((directory, name))
        if inode.type == DIR:
            inode.parent = directory
            directory.nlink += 1
        if self.watch:
            self.watch(True, directory, name, inode)

    def unbind(self, directory, name, keep_place=False):
        inode = directory.entries[name][0]
        if not keep_place:
            del directory.entries[name]
        inode.names.remove((directory, name))
        if inode.type == DIR:
            directory.nlink -= 1
        if self.watch:
            self.watch(False, directory, name, inode)
        return inode

    def names_of(self, handle):
        """{name: handle} of a directory: all that a complete listing shows."""
        return {name: entry[0].handle for name, entry in self.find(handle).entries.items()}

    # Calls

    def execute(self, procedure, arguments, who=ROOT, now=0, new=None):
        """|now|: ns. |new|: the handle of what the call makes, if it makes something."""
        call = Call(self, procedure, arguments, who, now, new)
        first, last, failure = FORMS[procedure]
        try:
            call.resolve()
            fields, status = PROCEDURES[procedure](call), OK
            call.posts(first + last, fields)
        except Failure as why:
            fields, status = {}, why.status
            call.posts(failure, fields)
        return Result(status, self.as_told(procedure, fields), call.roles, call.sizes)

    def as_told(self, procedure, fields):
        """Fields with what this server does its own way."""
        if self.attributes and self.directory_links is None:
            return fields

        def attributes(a):
            if not self.attributes and procedure != GETATTR or a is None:
                return None
            own = a.type == DIR and self.directory_links is not None
            return a._replace(nlink=self.directory_links) if own else a

        out = dict(fields)
        for key in "attributes", "dir_attributes":
            if key in out:
                out[key] = attributes(out[key])
        for key in "wcc", "wcc2":
            if out.get(key):
                out[key] = (out[key][0] if self.attributes else None, attributes(out[key][1]))
        if out.get("entries") and len(out["entries"][0]) > 3:
            out["entries"] = [e[:3] + (attributes(e[3]),) + e[4:] for e in out["entries"]]
        return out
