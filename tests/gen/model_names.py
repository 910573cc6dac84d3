# SPDX-License-Identifier: GPL-2.0-or-later
"""The procedures of the model server on names in directories (RFC 1813 s3.3). As in model_objects.

"." and "..": EXIST where they are to be made, INVAL as RENAME's names and RMDIR's ".", EXIST for
RMDIR's "..", ACCES for REMOVE. RENAME over a target of another kind fails with NOTDIR or ISDIR, and
over a directory that is not empty with NOTEMPTY, as on Linux; RFC 1813 s3.3.14 would have EXIST.
"""
import model_objects
from messages import NOENT
from model_files import LONGEST_LINK
from model_status import (ACCES, BADTYPE, EXIST, INVAL, ISDIR, MAY_EXECUTE, MAY_WRITE, MLINK,
                          NAMETOOLONG, NOTDIR, NOTEMPTY, PERM, XDEV, Failure, check_name, is_dots,
                          need)
from model_xdr import (BLK, CHR, DIR, EXCLUSIVE, FIFO, GUARDED, LNK, REG, SOCK)

CHANGE = MAY_WRITE | MAY_EXECUTE


def entry(directory, name):
    found = directory.entries.get(name)
    return found[0] if found else None


def lookup(call):
    directory, name = call.object, call.arguments["name"]
    need(call, directory, MAY_EXECUTE)
    check_name(call, name)
    if name == b".":
        found = directory
    elif name == b"..":
        found = directory.parent or directory
    else:
        found = entry(directory, name)
    if found is None:
        raise Failure(NOENT)
    call.roles["found"] = found
    return {"handle": found.handle, "attributes": found.attributes()}


def room_for(call):
    """Checks that the name can be made in the directory; what is there already, or None."""
    directory, name = call.object, call.arguments["name"]
    check_name(call, name)
    need(call, directory, MAY_EXECUTE)
    if is_dots(name):
        raise Failure(EXIST)
    found = entry(directory, name)
    if found is None:
        need(call, directory, MAY_WRITE)
    else:
        call.roles["found"] = found
    return found


def make(call, kind, settings, mode=None):
    directory, who = call.object, call.who
    inode = call.server.make(kind, directory.fsid, call.now, call.new)
    inode.uid, inode.gid = who.uid, who.gid
    if directory.mode & 0o2000:
        inode.gid = directory.gid
    if mode is None:
        mode = settings.get("mode", call.server.default_mode if kind == REG else 0)
    inode.mode = mode & 0o7777
    if who.uid == 0:
        inode.uid, inode.gid = settings.get("uid", inode.uid), settings.get("gid", inode.gid)
    if kind == REG and "size" in settings:
        inode.size = settings["size"]
    for key in "atime", "mtime":
        if isinstance(settings.get(key), int):
            setattr(inode, key, settings[key])
    call.server.bind(directory, call.arguments["name"], inode)
    directory.mtime = directory.ctime = call.now
    call.roles["made"] = inode
    return inode


def shown(inode):
    return {"handle": inode.handle, "attributes": inode.attributes()}


def create(call):
    how, found = call.arguments["how"], room_for(call)
    if found is None:
        inode = make(call, REG, call.arguments.get("settings", {}))
        if how == EXCLUSIVE:  # where knfsd keeps the verifier, until a SETATTR
            inode.verifier = call.arguments["verifier"]
            high, low = inode.verifier[:4], inode.verifier[4:]
            inode.mtime = (int.from_bytes(high, "big") & 0x7fffffff) * 10**9
            inode.atime = (int.from_bytes(low, "big") & 0x7fffffff) * 10**9
        return shown(inode)
    if how == EXCLUSIVE:
        if found.verifier != call.arguments["verifier"] or found.size:
            raise Failure(EXIST)
    elif how == GUARDED or found.type != REG:
        raise Failure(EXIST)
    elif "size" in call.arguments["settings"]:
        need(call, found, MAY_WRITE, owner_always=True)
        model_objects.apply_settings(call, found, {"size": call.arguments["settings"]["size"]})
    return shown(found)


def mkdir(call):
    if room_for(call):
        raise Failure(EXIST)
    if call.object.nlink >= call.server.most_links:
        raise Failure(MLINK)
    directory = make(call, DIR, call.arguments["settings"])
    if call.object.mode & 0o2000:
        directory.mode |= 0o2000
    return shown(directory)


def symlink(call):
    text = call.arguments["text"]
    if not text:
        raise Failure(NOENT)
    if len(text) > LONGEST_LINK:
        raise Failure(NAMETOOLONG)
    if room_for(call):
        raise Failure(EXIST)
    settings = {k: v for k, v in call.arguments["settings"].items() if k != "size"}
    inode = make(call, LNK, settings, mode=0o777)
    inode.text, inode.size = text, len(text)
    return shown(inode)


def mknod(call):
    kind = call.arguments["type"]
    if kind not in (BLK, CHR, SOCK, FIFO):
        raise Failure(BADTYPE)
    if room_for(call):
        raise Failure(EXIST)
    if kind in (BLK, CHR) and not call.root:
        raise Failure(PERM)
    inode = make(call, kind, call.arguments["settings"])
    if kind in (BLK, CHR):
        inode.rdev = call.arguments["rdev"]
    return shown(inode)


def sticky(call, directory, inode):
    """Who may take |inode| out of |directory|."""
    if directory.mode & 0o1000 and not call.root and call.who.uid not in (inode.uid,
                                                                           directory.uid):
        raise Failure(PERM)


def drop(call, inode):
    """One name less."""
    inode.nlink -= 2 if inode.type == DIR else 1
    inode.ctime = call.now
    if inode.nlink <= 0:
        call.server.forget(inode)
        call.roles["gone"].append(inode)


def victim(call):
    directory, name = call.object, call.arguments["name"]
    check_name(call, name)
    need(call, directory, CHANGE)
    found = entry(directory, name)
    if found is None:
        raise Failure(NOENT)
    call.roles["found"] = found
    sticky(call, directory, found)
    return found


def take_away(call, found):
    call.server.unbind(call.object, call.arguments["name"])
    call.object.mtime = call.object.ctime = call.now
    drop(call, found)
    return {}


def remove(call):
    if is_dots(call.arguments["name"]):
        raise Failure(ACCES)
    found = victim(call)
    if found.type == DIR:
        raise Failure(ISDIR)
    return take_away(call, found)


def rmdir(call):
    if is_dots(call.arguments["name"]):
        raise Failure(INVAL if call.arguments["name"] == b"." else EXIST)
    found = victim(call)
    if found.type != DIR:
        raise Failure(NOTDIR)
    if found.entries:
        raise Failure(NOTEMPTY)
    found.nlink = 2
    return take_away(call, found)


def above(directory):
    """|directory| and all directories it is in."""
    out = [directory]
    while directory.parent is not None:
        directory = directory.parent
        out.append(directory)
    return out


def rename(call):
    a, source, target = call.arguments, call.object, call.object2
    for name in a["name"], a["name2"]:
        check_name(call, name)
    need(call, source, CHANGE)
    need(call, target, CHANGE)
    if source.fsid != target.fsid:
        raise Failure(XDEV)
    if is_dots(a["name"]) or is_dots(a["name2"]):
        raise Failure(INVAL)
    moved, replaced = entry(source, a["name"]), entry(target, a["name2"])
    call.roles.update({k: v for k, v in (("found", moved), ("target", replaced)) if v})
    if moved is None:
        raise Failure(NOENT)
    if moved.type == DIR and moved in above(target):
        raise Failure(INVAL)
    if moved is replaced:
        return {}
    sticky(call, source, moved)
    if replaced is not None:
        check_replaced(call, moved, replaced)
    if moved.type == DIR and source is not target:
        need(call, moved, MAY_WRITE)
        if replaced is None and target.nlink >= call.server.most_links:
            raise Failure(MLINK)
    if replaced is not None:
        call.server.unbind(target, a["name2"], keep_place=True)
        if replaced.type == DIR:
            replaced.nlink = 2
        drop(call, replaced)
    call.server.unbind(source, a["name"])
    call.server.bind(target, a["name2"], moved)
    for inode in source, target:
        inode.mtime = inode.ctime = call.now
    moved.ctime = call.now
    return {}


def check_replaced(call, moved, replaced):
    sticky(call, call.object2, replaced)
    if moved.type == DIR and replaced.type != DIR:
        raise Failure(NOTDIR)
    if moved.type != DIR and replaced.type == DIR:
        raise Failure(ISDIR)
    if replaced.type == DIR and replaced.entries:
        raise Failure(NOTEMPTY)


def link(call):
    inode, directory, name = call.object, call.object2, call.arguments["name2"]
    if inode.type == DIR:
        raise Failure(ISDIR)
    check_name(call, name)
    need(call, directory, MAY_EXECUTE)
    if is_dots(name):
        raise Failure(EXIST)
    target = entry(directory, name)
    if target is not None:
        call.roles["target"] = target
        raise Failure(EXIST)
    need(call, directory, MAY_WRITE)
    if inode.fsid != directory.fsid:
        raise Failure(XDEV)
    if inode.nlink >= call.server.most_links:
        raise Failure(MLINK)
    call.server.bind(directory, name, inode)
    inode.nlink += 1
    inode.ctime = directory.mtime = directory.ctime = call.now
    return {}
