# SPDX-License-Identifier: GPL-2.0-or-later
"""The procedures of the model server that name an object by its handle alone (RFC 1813 s3.3).

Each takes a model_server.Call and returns the fields of its success, without the attributes that
every reply has; or raises Failure.
"""
from model_status import (ACCES, BAD_COOKIE, FBIG, INVAL, ISDIR, MAY_EXECUTE, MAY_READ, MAY_WRITE,
                          NOT_SYNC, PERM, TOOSMALL, Failure, allowed, need, writable)
from model_xdr import DIR, LNK, REG, SERVER_TIME, data_length

READ3, LOOKUP3, MODIFY3, EXTEND3, DELETE3, EXECUTE3 = 1, 2, 4, 8, 16, 32


def getattr_(call):
    return {"attributes": call.object.attributes()}


def setattr_(call):
    inode, settings, who = call.object, call.arguments["settings"], call.who
    guard = call.arguments.get("guard")
    if settings:
        writable(call, inode)
    owner = call.root or who.uid == inode.uid
    if "size" in settings:
        if inode.type != REG:
            raise Failure(ISDIR if inode.type == DIR else INVAL)
        need(call, inode, MAY_WRITE, owner_always=True)
    if guard is not None and guard != inode.ctime:
        raise Failure(NOT_SYNC)
    if "mode" in settings and not owner:
        raise Failure(PERM)
    if not owner and ("uid" in settings or "gid" in settings):
        raise Failure(PERM)
    if not call.root and settings.get("uid", inode.uid) != inode.uid:
        raise Failure(PERM)
    group = settings.get("gid", inode.gid)
    if not call.root and group != inode.gid and not (
            owner and (group == who.gid or group in who.gids)):
        raise Failure(PERM)
    for key in "atime", "mtime":
        if key in settings and not owner:
            if settings[key] != SERVER_TIME:
                raise Failure(PERM)
            if not allowed(call, inode, MAY_WRITE):
                raise Failure(ACCES)
    apply_settings(call, inode, settings)
    return {}


def getacl(call):
    return {}


def setacl(call):
    """Mode bits: those of the owner, of the mask if there is one, else the group, and of others."""
    inode, owner, mask, group, others = call.object, 0x1, 0x10, 0x4, 0x20
    if not call.root and call.who.uid != inode.uid:
        raise Failure(PERM)
    perms = {kind: perm & 7 for kind, _, perm in call.arguments["acl"]}
    if call.arguments["mask"] & 1 and perms:
        inode.mode = (inode.mode & 0o7000 | perms[owner] << 6 |
                      perms.get(mask, perms[group]) << 3 | perms[others])
    inode.ctime = call.now
    return {}


def apply_settings(call, inode, settings):
    """Checked before."""
    if "size" in settings:
        set_size(call, inode, settings["size"])
        inode.mtime = call.now
    inode.uid, inode.gid = settings.get("uid", inode.uid), settings.get("gid", inode.gid)
    if "mode" in settings and inode.type != LNK:
        inode.mode = settings["mode"] & 0o7777
        if not call.root and inode.gid != call.who.gid and inode.gid not in call.who.gids:
            inode.mode &= ~0o2000  # POSIX chmod
    for key in "atime", "mtime":
        if key in settings:
            setattr(inode, key, call.now if settings[key] == SERVER_TIME else settings[key])
            inode.verifier = None
    if settings:
        inode.ctime = call.now


def set_size(call, inode, size):
    if size > call.server.largest_file:
        raise Failure(FBIG)
    call.sizes = (inode.size, size)
    if size < inode.size:
        inode.contents.clear(size, None)
    inode.size = size


def access(call):
    """Of what was asked for, what is granted (RFC 1813 s3.3.4)."""
    inode = call.object
    if inode.type == DIR:
        bits = {READ3: MAY_READ, LOOKUP3: MAY_EXECUTE, MODIFY3: MAY_WRITE | MAY_EXECUTE,
                EXTEND3: MAY_WRITE | MAY_EXECUTE, DELETE3: MAY_WRITE | MAY_EXECUTE}
    else:
        bits = {READ3: MAY_READ, MODIFY3: MAY_WRITE, EXTEND3: MAY_WRITE, EXECUTE3: MAY_EXECUTE}
    granted = 0
    for bit, wanted in bits.items():
        if call.arguments["access"] & bit and allowed(call, inode, wanted) and not (
                wanted & MAY_WRITE and inode.fsid in call.server.read_only):
            granted |= bit
    return {"access": granted}


def readlink(call):
    if call.object.type != LNK:
        raise Failure(INVAL)
    call.object.atime = call.now
    return {"text": call.object.text}


def regular(call):
    if call.object.type != REG:
        raise Failure(ISDIR if call.object.type == DIR else INVAL)


def read(call):
    regular(call)
    inode, offset = call.object, call.arguments["offset"]
    if not (call.who.uid == inode.uid or allowed(call, inode, MAY_READ)
            or allowed(call, inode, MAY_EXECUTE)):  # a program is read to be run
        raise Failure(ACCES)
    count = min(call.arguments["count"], call.server.largest_read)
    end = min(offset + count, inode.size)
    count = max(0, end - offset)
    inode.atime = call.now
    return {"count": count, "eof": offset + count >= inode.size,
            "data": inode.contents.read(offset, end) if count else []}


def write(call):
    regular(call)
    inode, offset, data = call.object, call.arguments["offset"], call.arguments["data"]
    need(call, inode, MAY_WRITE, owner_always=True)
    count = data_length(data)
    if call.arguments["count"] != count or count > call.server.largest_write:
        raise Failure(INVAL)
    if offset + count > call.server.largest_file:
        raise Failure(FBIG)
    call.sizes = (inode.size, inode.size)
    if count:
        inode.contents.write(offset, data)
        inode.size = max(inode.size, offset + count)
        call.sizes = (call.sizes[0], inode.size)
        inode.mtime = inode.ctime = call.now
        inode.verifier = None
    return {"count": count, "committed": call.arguments["stable"],
            "verifier": call.server.verifier}


def commit(call):
    regular(call)
    need(call, call.object, MAY_WRITE, owner_always=True)
    return {"verifier": call.server.verifier}


ATTRIBUTES, ENTRY, ENTRY_HANDLE = 84, 24, 8  # bytes in XDR, names and handles aside
LISTING = 4 + ATTRIBUTES + 8 + 4 + 4         # READDIR3resok without entries


def padded(data):
    return len(data) + -len(data) % 4


def listing(call, cost, limit):
    """The entries behind the cookie that fit |limit|; cost(name, inode) is what one takes."""
    directory, cookie = call.object, call.arguments["cookie"]
    need(call, directory, MAY_READ)
    if cookie and call.arguments["verifier"] != call.server.listing_verifier:
        raise Failure(BAD_COOKIE)
    directory.atime = call.now
    found, used, eof = [], 0, True
    entries = [(b".", directory, 1), (b"..", directory.parent or directory, 2)]
    entries += [(name, inode, at) for name, (inode, at) in directory.entries.items()]
    for name, inode, at in entries:
        if at <= cookie:
            continue
        used += cost(name, inode)
        full = limit is not None and used > limit
        if full and (found or not call.server.always_one) or len(found) == call.server.most_entries:
            eof = False
            break
        found.append((inode.fileid, name, at, inode))
    if not found and not eof:
        raise Failure(TOOSMALL)
    return found, eof


def readdir(call):
    """A count of None: all of it."""
    limit = call.arguments["count"]
    found, eof = listing(call, lambda name, inode: ENTRY + padded(name),
                         None if limit is None else limit - LISTING)
    return {"verifier": call.server.listing_verifier, "entries": [e[:3] for e in found],
            "eof": eof}


def readdirplus(call):
    """A maxcount of None: all of it. A server may stop early, so dircount is not held exactly."""
    limit = call.arguments["maxcount"]

    def cost(name, inode):
        handle = inode.handle if isinstance(inode.handle, bytes) else b""
        return ENTRY + padded(name) + 4 + ATTRIBUTES + ENTRY_HANDLE + padded(handle)

    found, eof = listing(call, cost, None if limit is None else limit - LISTING)
    call.roles["entries"] = [e[3] for e in found]
    return {"verifier": call.server.listing_verifier, "eof": eof,
            "entries": [(fileid, name, at, inode.attributes(), inode.handle)
                        for fileid, name, at, inode in found]}


def fsstat(call):
    files = len(call.server.by_handle)
    return {"tbytes": 1 << 40, "fbytes": (1 << 40) - (files << 12),
            "abytes": (1 << 40) - (files << 12), "tfiles": 1 << 24, "ffiles": (1 << 24) - files,
            "afiles": (1 << 24) - files, "invarsec": 0}


def fsinfo(call):
    server = call.server
    return {"rtmax": server.largest_read, "rtpref": server.largest_read, "rtmult": 4096,
            "wtmax": server.largest_write, "wtpref": server.largest_write, "wtmult": 4096,
            "dtpref": 4096, "maxfilesize": server.largest_file, "time_delta": 1,
            "properties": 0x1b}  # hard and symbolic links, homogeneous, can set times


def pathconf(call):
    return {"linkmax": call.server.most_links, "name_max": 255, "no_trunc": True,
            "chown_restricted": True, "case_insensitive": False, "case_preserving": True}
