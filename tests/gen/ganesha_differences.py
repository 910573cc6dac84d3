# SPDX-License-Identifier: GPL-2.0-or-later
"""Where ftnfsd and NFS-Ganesha (4.3, VFS) may differ, and which of the two is right by RFC 1813.

A row: name, who is right (OURS: ftnfsd; THEIRS; BOTH: the RFC leaves it open), whether the trees differ
afterwards, the section and what it says, and the test that tells such a difference
(side_by_side.Difference) from others.
"""
import collections

from messages import NOENT, OK, STALE
from model_status import (ACCES, BAD_COOKIE, BADHANDLE, BADTYPE, DQUOT, EXIST, FBIG, INVAL, IO,
                          ISDIR, JUKEBOX, MLINK, NAMETOOLONG, NOSPC, NOT_SYNC, NOTDIR, NOTEMPTY,
                          NOTSUPP, NXIO, PERM, ROFS, SERVERFAULT, TOOSMALL, XDEV)
from model_xdr import (ACCESS, BLK, CHR, COMMIT, CREATE, DATA_SYNC, DIR, EXCLUSIVE, FIFO,
                       FILE_SYNC, FSINFO, FSSTAT, GETATTR, LINK, LNK, LOOKUP, MKDIR, MKNOD,
                       PATHCONF, READ, READDIR, READDIRPLUS, READLINK, REG, REMOVE, RENAME, RMDIR,
                       SETATTR, SOCK, SYMLINK, UNCHECKED, WRITE)

Row = collections.namedtuple("Row", "name right stays says test")
OURS, THEIRS, BOTH = "ftnfsd", "Ganesha", "both"

# Errors that the sections 3.3.1 to 3.3.21 list under ERRORS.
ALWAYS = {IO, STALE, BADHANDLE, SERVERFAULT}
NEW = ALWAYS | {ACCES, EXIST, NOTDIR, NOSPC, ROFS, NAMETOOLONG, DQUOT, NOTSUPP}
ERRORS = {
    GETATTR: ALWAYS, ACCESS: ALWAYS, FSSTAT: ALWAYS, FSINFO: ALWAYS - {IO}, COMMIT: ALWAYS,
    PATHCONF: ALWAYS - {IO},
    SETATTR: ALWAYS | {PERM, ACCES, INVAL, NOSPC, ROFS, DQUOT, NOT_SYNC},
    LOOKUP: ALWAYS | {NOENT, ACCES, NOTDIR, NAMETOOLONG},
    READLINK: ALWAYS | {INVAL, ACCES, NOTSUPP}, READ: ALWAYS | {NXIO, ACCES, INVAL},
    WRITE: ALWAYS | {ACCES, FBIG, DQUOT, NOSPC, ROFS, INVAL},
    CREATE: NEW, MKDIR: NEW, SYMLINK: NEW, MKNOD: NEW | {BADTYPE},
    REMOVE: ALWAYS | {NOENT, ACCES, NOTDIR, NAMETOOLONG, ROFS},
    RMDIR: ALWAYS | {NOENT, ACCES, INVAL, EXIST, NOTDIR, NAMETOOLONG, ROFS, NOTEMPTY, NOTSUPP},
    RENAME: ALWAYS | {NOENT, ACCES, EXIST, XDEV, NOTDIR, ISDIR, INVAL, NOSPC, ROFS, MLINK,
                      NAMETOOLONG, NOTEMPTY, DQUOT, NOTSUPP},
    LINK: ALWAYS | {ACCES, EXIST, XDEV, NOTDIR, INVAL, NOSPC, ROFS, MLINK, NAMETOOLONG, DQUOT, NOTSUPP},
    READDIR: ALWAYS | {ACCES, NOTDIR, BAD_COOKIE, TOOSMALL},
    READDIRPLUS: ALWAYS | {ACCES, NOTDIR, BAD_COOKIE, TOOSMALL, NOTSUPP},
}
MAKING = (CREATE, MKDIR, SYMLINK, MKNOD)
# Not listed there, and ftnfsd sends them all the same.
UNLISTED = {
    (REMOVE, ISDIR): "s3.3.12 has no error for a directory; other servers have this one",
    (MKNOD, PERM): "s2.6: it is for who is not a privileged user; other servers have it, too",
    (COMMIT, INVAL): "s3.3.21 has no error for what has no data; READ and WRITE have this one",
    (SETATTR, FBIG): "s3.3.2 has no error for a size above the largest one; WRITE has this one",
    (SYMLINK, INVAL): "s3.3.10 has no error for an empty text",
}
RIGHTS = (ACCES, PERM)
IN_ANY_ORDER = {(TOOSMALL, NOTDIR), (BADTYPE, NOTDIR), (NAMETOOLONG, NOENT), (NAMETOOLONG, NOTDIR),
                (NAMETOOLONG, INVAL), (ISDIR, NOTEMPTY)}
SET_ID = 0o6000
TIMES_AFTER = ("wcc.after.atime", "wcc.after.mtime", "wcc.after.ctime")
CHANGES = 0x1c  # MODIFY, EXTEND and DELETE of ACCESS


def is_expected(procedure, status):
    """Of ftnfsd."""
    return status == OK or status in ERRORS[procedure] or (procedure, status) in UNLISTED


def is_failure(d):
    return d.what == "status" and d.ours != OK and d.theirs != OK


def type_there(d, key="object"):
    """Of the object, as Ganesha sees it."""
    return d.world.type_of(d.arguments[key])


def settings(d):
    return d.arguments.get("settings", {})


def is_listed(d, status):
    return status in ERRORS[d.procedure]


def not_searchable(d):
    """By everybody."""
    return d.world.by_handle[d.arguments["object"]].mode & 0o111 != 0o111


def is_same_file(d):
    """Both names of a RENAME."""
    ours = d.world.clients[0]
    found = [ours.nfs(LOOKUP, {"object": d.world.handles.theirs[d.arguments[directory]],
                               "name": d.arguments[name]})
             for directory, name in (("object", "name"), ("object2", "name2"))]
    return all(status == OK for status, _ in found) and found[0][1]["handle"] == \
        found[1][1]["handle"]


def missing_there(d):
    return d.theirs is None and d.ours is not None


ROWS = [
    # What a request gets that two things are wrong with, or that no server can carry out
    Row("error not listed", OURS, False,
        "s3.3: each procedure lists its errors; Ganesha's is not among them, ftnfsd's is",
        lambda d: is_failure(d) and is_listed(d, d.ours) and not is_listed(d, d.theirs)),
    Row("order of checks", BOTH, False,
        "s3.3 does not say what is looked at first: rights, the type of the object, or arguments",
        lambda d: is_failure(d) and is_listed(d, d.ours) and is_listed(d, d.theirs) and (
            d.who.uid and (d.ours in RIGHTS or d.theirs in RIGHTS) or
            (d.ours, d.theirs) in IN_ANY_ORDER)),
    Row("COMMIT of what has no data", BOTH, False,
        "s3.3.21 lists no error for it; ftnfsd has that of READ and WRITE (s3.3.6, s3.3.7), INVAL",
        lambda d: is_failure(d) and d.procedure == COMMIT and d.ours == INVAL and
        type_there(d) != REG),
    Row("MKNOD of a device by a user", BOTH, False,
        "s2.6: NFS3ERR_PERM is for who is not a privileged user, but s3.3.11 does not list it",
        lambda d: is_failure(d) and d.procedure == MKNOD and d.ours == PERM and d.who.uid and
        d.arguments["type"] in (BLK, CHR)),
    Row("RMDIR of ..", OURS, False,
        "s3.3.13: where the name \"..\" is illegal, the error is NFS3ERR_EXIST",
        lambda d: is_failure(d) and d.procedure == RMDIR and d.arguments["name"] == b".." and
        d.ours == EXIST),
    # What one of them does
    Row("RENAME of a file to another of its names", BOTH, False,
        "s3.3.14: no action, and NFS3_OK; as Linux's server, ftnfsd looks at the rights first",
        lambda d: d.procedure == RENAME and d.what == "status" and d.who.uid and
        (d.ours, d.theirs) == (ACCES, OK) and is_same_file(d)),
    Row("owner of a new object", BOTH, True,
        "s3.3.8 to s3.3.11: settings describe the initial attributes.  ftnfsd and Linux's server ignore"
        " owner and group of a request by a user; Ganesha sets them, or fails after it made the object",
        lambda d: d.procedure in MAKING and d.who.uid and {"uid", "gid"} & set(settings(d)) and (
            d.what == "status" and d.theirs in RIGHTS or
            d.what in ("attributes.uid", "attributes.gid", "attributes.mode"))),
    Row("group of a new object", OURS, True,
        "s3.3.8 to s3.3.11: settings are the initial attributes, also in a set-group-id directory",
        lambda d: d.procedure in MAKING and d.what == "attributes.gid" and
        d.ours == settings(d).get("gid")),
    Row("guard", OURS, True,
        "s3.3.2: it is compared with the current ctime; Ganesha takes the one of its cache, which a"
        " RENAME does not change",
        lambda d: d.procedure == SETATTR and d.arguments.get("guard") is not None and
        d.what == "status" and (d.ours, d.theirs) == (NOT_SYNC, OK)),
    Row("set-id bits of a new object", OURS, True,
        "s3.3.8, s3.3.9, s3.3.11: settings are the initial attributes; mkdir(2), and a chown after"
        " the file was made, drop these bits",
        lambda d: d.procedure in MAKING and d.what == "attributes.mode" and
        (d.procedure == MKDIR or {"uid", "gid"} & set(settings(d))) and
        d.ours == settings(d).get("mode") and d.theirs == d.ours & ~SET_ID),
    Row("set-id bits beside an owner", OURS, True,
        "s3.3.2: new_attributes are set, or the request fails; Ganesha changes the owner afterwards",
        lambda d: d.procedure == SETATTR and d.what == "wcc.after.mode" and
        {"uid", "gid"} & set(settings(d)) and d.ours == settings(d).get("mode") and
        d.theirs == d.ours & ~SET_ID),
    Row("try again", BOTH, False, "s2.6 NFS3ERR_JUKEBOX: the server is not ready",
        lambda d: d.what == "status" and d.theirs == JUKEBOX),
    Row("set-id bits when the size is set", BOTH, True,
        "s3.3.2 does not say; as Linux's server, ftnfsd takes them away as POSIX lets it",
        lambda d: d.procedure in (SETATTR, CREATE) and d.who.uid and "size" in settings(d) and
        d.what in ("wcc.after.mode", "attributes.mode") and d.ours == d.theirs & ~SET_ID),
    Row("CREATE of what is a symbolic link", OURS, False,
        "s3.3.8: what is there and no regular file is a duplicate; Ganesha follows the link",
        lambda d: is_failure(d) and d.procedure == CREATE and (d.ours, d.theirs) == (
            EXIST, NAMETOOLONG) and len(d.arguments["name"]) < 256),
    Row("times of a symbolic link", OURS, True,
        "s3.3.2: new_attributes are set, or the request fails; Ganesha ignores times and mode",
        lambda d: d.procedure == SETATTR and d.type == LNK and d.what in TIMES_AFTER),
    Row("changes of a directory that cannot be searched", OURS, False,
        "s3.3.4: what is granted is what the caller may do, and names in it cannot be made or removed",
        lambda d: d.procedure == ACCESS and d.what == "access" and type_there(d) == DIR and
        d.who.uid and d.ours == d.theirs & ~CHANGES and not_searchable(d)),
    Row("UNCHECKED and no right to the file", BOTH, False,
        "s3.3.8: UNCHECKED is not to check that there is a duplicate; Ganesha opens it",
        lambda d: d.procedure == CREATE and d.what == "status" and d.ours == OK and
        d.theirs == ACCES and d.arguments["how"] == UNCHECKED and d.who.uid),
    Row("size of an UNCHECKED create of what exists", BOTH, True,
        "s3.3.8: the settings are initial attributes; as Linux's server, ftnfsd takes the size for"
        " an existing file, too, and Ganesha seldom does",
        lambda d: d.procedure == CREATE and d.arguments["how"] == UNCHECKED and "size" in settings(d)
        and d.what in ("attributes.size", "attributes.mtime", "attributes.ctime", "attributes.mode")),
    Row("EXCLUSIVE again, after a SETATTR", BOTH, False,
        "s3.3.8: a server that keeps the verifier in attributes loses it; ftnfsd keeps it elsewhere",
        lambda d: d.procedure == CREATE and d.arguments["how"] == EXCLUSIVE and d.what == "status"
        and (d.ours, d.theirs) == (OK, EXIST)),
    Row("entries of a directory that cannot be searched", OURS, False,
        "s3.3.17: attributes and handles of entries are optional, the entries are not; Ganesha"
        " leaves out entries that it cannot look up",
        lambda d: d.procedure == READDIRPLUS and d.what == "entries" and not d.theirs and d.who.uid
        and not_searchable(d)),
    Row("EXCLUSIVE and attributes", BOTH, False,
        "s3.3.8: until a SETATTR the client should not rely upon any of the attributes; the"
        " verifier may be in them",
        lambda d: d.procedure == CREATE and d.arguments["how"] == EXCLUSIVE and d.what in (
            "attributes.mode", "attributes.atime", "attributes.mtime")),
    Row("mode of a new file", BOTH, True,
        "s3.3.8: the request sets none; Ganesha has 0600",
        lambda d: d.procedure == CREATE and d.what == "attributes.mode" and
        "mode" not in settings(d) and (d.ours, d.theirs) == (0, 0o600)),
    Row("times of a new symbolic link", OURS, True,
        "s3.3.10: symlink_attributes are the initial attributes; Ganesha ignores the times",
        lambda d: d.procedure == SYMLINK and d.what in ("attributes.atime", "attributes.mtime") and
        d.what[11:] in settings(d)),
    Row("FILE_SYNC for DATA_SYNC", BOTH, False,
        "s3.3.7: a server may commit more than was asked for",
        lambda d: d.what == "committed" and (d.ours, d.theirs) == (DATA_SYNC, FILE_SYNC)),
    Row("a listing larger than asked for", OURS, False,
        "s3.3.16: count is the maximum size of READDIR3resok with all XDR overhead",
        lambda d: d.procedure in (READDIR, READDIRPLUS) and (
            d.what == "status" and d.ours == TOOSMALL and d.theirs == OK or d.what == "size")),
    Row("access times of directories and links", OURS, False,
        "s2.6 fattr3: atime is when the object was last accessed; Ganesha answers from its cache",
        lambda d: d.what.endswith("atime") and d.type in (DIR, LNK)),
    Row("access times that are not of the last access", BOTH, False,
        "s2.6 fattr3: atime is when the data were last accessed; Linux's relatime notes the first time",
        lambda d: d.what.endswith("atime") and d.type == REG and d.world.relatime),
    Row("SETATTR of a special file", OURS, True,
        "s3.3.2 does not leave out any type of object; Ganesha fails with INVAL",
        lambda d: d.procedure == SETATTR and d.what == "status" and (d.ours, d.theirs) == (OK, INVAL)
        and type_there(d) in (BLK, CHR, FIFO, SOCK)),
    Row("attributes that do not follow", BOTH, False,
        "s2.6 post_op_attr, wcc_data: they are optional; Ganesha leaves them out after some failures,"
        " always before MKDIR, and now and then else",
        missing_there),
    Row("limits", BOTH, False, "s3.3.20: each server's own",
        lambda d: d.procedure == PATHCONF and d.what in ("linkmax", "name_max")),
]


def explain(difference):
    for row in ROWS:
        if row.test(difference):
            return row
    return None


def is_left_out(procedure, type_there):
    """Ganesha opens a FIFO that it is to COMMIT, and never answers."""
    return procedure == COMMIT and type_there not in (REG, DIR)


def may_have_changed(procedure, a, status):
    """Ganesha cuts the file before it looks whether the caller may (s3.3.8 has no such thing)."""
    return procedure == CREATE and status in RIGHTS and "size" in a.get("settings", {})


def is_costly(procedure, a, who):
    """Requests after which the two trees differ, or may: rarely of use."""
    wanted = a.get("settings", {})
    return procedure in MAKING and ("uid" in wanted or "gid" in wanted) and who.uid or \
        procedure in MAKING and wanted.get("mode", 0) & SET_ID and (
            procedure == MKDIR or "uid" in wanted or "gid" in wanted) or \
        procedure == CREATE and "mode" not in wanted and a["how"] != EXCLUSIVE or \
        procedure == SYMLINK and ("atime" in wanted or "mtime" in wanted)
