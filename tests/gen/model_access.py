# SPDX-License-Identifier: GPL-2.0-or-later
"""What an operation reads and what it changes, as things; two operations are in conflict if they
share a thing that one of them changes. Only what can be reproduced counts: times (but for a guarded
SETATTR), cookies and free space make no conflict.

Things are tuples; N is an Inode.number. Granularity FINE:

    ("life", N)             it exists: read by whoever uses its handle or finds it
    ("mode" | "nlink" | "size", N)   attributes; mode stands for owner and group, too; size only of
                            files. Replies show attributes of what they are about (post_op_attr,
                            wcc_data): showing is reading
    ("time", N)             ctime: set by whatever changes N, asked for by a SETATTR with a guard and by
                            CREATE EXCLUSIVE; see Access.done()
    ("data", N, START, END) bytes; END None: all behind START
    ("name", N, NAME)       what NAME stands for in directory N, or that it stands for nothing
    ("names", N)            all names of N: read by listings, and by what needs N to be empty
    ("place", N)            what directory N is in: read by LOOKUP of "..", and by a RENAME of a
                            directory for all directories above its target

Granularity OBJECT is FEUT's table 1 with "life", "place" and "time" beside it, the latter of moved
objects alone:

    ("object", N)           all of it but these

    reads                   READ READDIR GETATTR READLINK ACCESS: the object; READDIRPLUS: also
                            those behind the entries; LOOKUP: parent and found; whatever failed:
                            all that it would change
    changes                 WRITE SETATTR COMMIT: the object; CREATE MKDIR SYMLINK MKNOD: parent and
                            what was made or met; REMOVE RMDIR: parent and what was removed; RENAME:
                            both parents and what was replaced, the moved one is read; LINK: the
                            file and the parent
    nothing but "life"      FSSTAT FSINFO PATHCONF (FEUT: they depend on nothing)

A RENAME that finds the same object behind both names changes nothing (RFC 1813 s3.3.14).
"""
from messages import OK
from model_names import above
from model_xdr import (COMMIT, CREATE, DIR, EXCLUSIVE, FSINFO, FSSTAT, LINK, LOOKUP, MKDIR, MKNOD,
                       NULL, PATHCONF, READ, READDIR, READDIRPLUS, REG, REMOVE, RENAME, RMDIR,
                       SETATTR, SYMLINK, WRITE)

FINE, OBJECT = "fine", "object"
ALIVE_ONLY = (FSSTAT, FSINFO, PATHCONF)
MAKING = (CREATE, MKDIR, SYMLINK, MKNOD)


class Access:
    """|reads| and |changes|: sets of things; what is changed is not also in |reads|."""

    def __init__(self):
        self.reads, self.changes = set(), set()

    def read(self, *things):
        self.reads.update(things)

    def change(self, *things):
        self.changes.update(things)

    def attributes(self, inode):
        n = inode.number
        self.read(("life", n), ("mode", n), ("nlink", n))
        if inode.type == REG:
            self.read(("size", n))

    def done(self):
        """Who sets ctime does not care who else does; who asks for it does, and excludes both. So of
        "time" setting counts as reading, asking as changing."""
        asked = {thing for thing in self.reads if thing[0] == "time"}
        times = {thing for thing in self.changes if thing[0] == "time"}
        self.changes = self.changes - times | asked
        self.reads = (self.reads - asked | times) - self.changes
        return self


def range_read(op):
    return op.arguments["offset"], op.arguments["offset"] + op.result.fields["count"]


def moves_directory(roles):
    return roles["found"].type == DIR and roles["object"] is not roles["object2"]


def idle_rename(roles):
    return roles["found"] is roles.get("target")


def fine(op, gone):
    """|gone|: {handle: Inode.number} of objects that no longer exist. To be called when the
    operation has just been executed."""
    access, roles, ok = Access(), op.result.roles, op.result.status == OK
    a, procedure = op.arguments, op.procedure
    if "unseen" in roles:  # a handle cannot be sent before there is one
        access.read(("life", roles["unseen"].number))
    for key in "object", "object2":
        if key not in a:
            continue
        inode = roles.get(key)
        if inode is None:
            if a[key] in gone:
                access.read(("life", gone[a[key]]))
        elif procedure in ALIVE_ONLY:
            access.read(("life", inode.number))
        else:
            access.attributes(inode)
    if procedure == NULL or roles.get("object") is None:
        return access.done()
    n = roles["object"].number
    if "name" in a and roles["object"].type == DIR:
        access.read(("place", n) if a["name"] == b".." else ("name", n, a["name"]))
    if "name2" in a and roles.get("object2") is not None and roles["object2"].type == DIR:
        access.read(("name", roles["object2"].number, a["name2"]))
    for key in "found", "target":
        if key in roles:
            fine_met(access, op, roles[key], ok)
    if procedure == RENAME and roles.get("found") is not None and roles["found"].type == DIR:
        access.read(*[("place", d.number) for d in above(roles["object2"])])
    if procedure == SETATTR and a.get("guard") is not None:
        access.read(("time", n))
    if ok:
        fine_success(access, op, roles, n)
    return access.done()


def fine_met(access, op, inode, ok):
    """An object behind a name."""
    access.read(("life", inode.number))
    if op.procedure in (REMOVE, RMDIR, RENAME):  # sticky directories; moves of directories
        access.read(("mode", inode.number))
    if inode.type == DIR and (op.procedure == RMDIR or
                              op.procedure == RENAME and inode is op.result.roles.get("target")):
        access.read(("names", inode.number))
    if op.procedure in (LOOKUP, CREATE) and ok:
        access.attributes(inode)
    if op.procedure == CREATE and op.arguments["how"] == EXCLUSIVE:
        access.read(("size", inode.number), ("time", inode.number))
    elif op.procedure == CREATE and not ok:
        access.read(("mode", inode.number))


def resized(access, n, sizes):
    access.change(("size", n), ("data", n, min(sizes), None), ("time", n))


def fine_success(access, op, roles, n):
    a, procedure, fields = op.arguments, op.procedure, op.result.fields
    if procedure == READ:
        if fields["count"]:
            access.read(("data", n, *range_read(op)))
    elif procedure == WRITE:
        if a["count"]:
            access.change(("data", n, *range_read(op)), ("time", n))
        if op.result.sizes[0] != op.result.sizes[1]:
            access.change(("size", n))
    elif procedure == SETATTR:
        settings = a["settings"]
        if settings:
            access.change(("time", n))
        if settings.keys() & {"mode", "uid", "gid"}:
            access.change(("mode", n))
        if "size" in settings:
            resized(access, n, op.result.sizes)
    elif procedure in (READDIR, READDIRPLUS):
        access.read(("names", n))
        for inode in roles.get("entries", ()):
            access.attributes(inode)
    elif procedure in MAKING:
        fine_made(access, op, roles, n)
    elif procedure in (REMOVE, RMDIR):
        access.change(("name", n, a["name"]), ("time", n))
        if procedure == RMDIR:
            access.change(("nlink", n))
        fine_dropped(access, roles["found"], roles)
    elif procedure == LINK:
        into = roles["object2"].number
        access.change(("name", into, a["name2"]), ("time", into), ("nlink", n), ("time", n))
    elif procedure == RENAME and not idle_rename(roles):
        fine_renamed(access, a, roles, n)


def fine_made(access, op, roles, n):
    made = roles.get("made")
    if made is None:  # CREATE of what there was
        if op.result.sizes:
            resized(access, roles["found"].number, op.result.sizes)
        return
    access.change(("name", n, op.arguments["name"]), ("time", n))
    if made.type == DIR:
        access.change(("nlink", n), ("place", made.number))
    for kind in "life", "mode", "nlink", "size", "time":
        access.change((kind, made.number))


def fine_dropped(access, inode, roles):
    access.change(("nlink", inode.number), ("time", inode.number))
    if inode in roles["gone"]:
        access.change(("life", inode.number))


def fine_renamed(access, a, roles, n):
    into, moved, replaced = roles["object2"].number, roles["found"], roles.get("target")
    access.change(("name", n, a["name"]), ("name", into, a["name2"]), ("time", n), ("time", into),
                  ("time", moved.number))
    if replaced is not None:
        fine_dropped(access, replaced, roles)
    if moved.type == DIR:
        if n != into:
            access.change(("place", moved.number), ("nlink", n))
        if (n != into) != (replaced is not None):
            access.change(("nlink", into))


def coarse(op, gone):
    """As fine(), of granularity OBJECT."""
    access, roles, a = Access(), op.result.roles, op.arguments
    ok, procedure = op.result.status == OK, op.procedure
    changing = procedure in (WRITE, SETATTR, COMMIT, REMOVE, RMDIR, LINK) + MAKING or (
        procedure == RENAME and ok and not idle_rename(roles))
    for key in "object", "object2":
        if key in a and roles.get(key) is None and a[key] in gone:
            access.read(("life", gone[a[key]]))
    if "unseen" in roles:
        access.read(("life", roles["unseen"].number))
    met = [roles[k] for k in ("object", "object2", "found", "target", "made") if roles.get(k)]
    met += roles.get("entries", ())
    for inode in met:
        access.read(("life", inode.number))
        if procedure in ALIVE_ONLY:
            continue
        thing = ("object", inode.number)
        if ok and changing and not (procedure == RENAME and inode is roles["found"]):
            access.change(thing)
        else:
            access.read(thing)
    for inode in roles["gone"] + [i for i in (roles.get("made"),) if i]:
        access.change(("life", inode.number))
    if procedure == LOOKUP and a["name"] == b".." and roles.get("object"):
        access.read(("place", roles["object"].number))
    if procedure == RENAME and roles.get("found") is not None and roles["found"].type == DIR:
        access.read(*[("place", d.number) for d in above(roles["object2"])])
        if ok and not idle_rename(roles) and moves_directory(roles):
            access.change(("place", roles["found"].number))
    if procedure == RENAME and ok and not idle_rename(roles):
        access.change(("time", roles["found"].number))
    if procedure == SETATTR and a.get("guard") is not None and roles.get("object"):
        access.read(("time", roles["object"].number))
    if procedure == CREATE and a["how"] == EXCLUSIVE and roles.get("found"):
        access.read(("time", roles["found"].number))
    if procedure == MKDIR and ok:
        access.change(("place", roles["made"].number))
    return access.done()


RULES = {FINE: fine, OBJECT: coarse}
