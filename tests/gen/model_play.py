# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays recorded operations on a model server, in any order, and compares what can be reproduced.

    root = Node(1, DIR, 0o755, export=b"/srv")   # of model_files; the key is the object's id
    player = Player([root, Node(2, REG, 0o644, size=10, names=[(1, b"f")])])
    player.play(REMOVE, {"object": 1, "name": b"f"}, Who(0, 0), OK, {})          # []
    player.play(MKDIR, {"object": 1, "name": b"d", "settings": {}}, Who(0, 0), OK,
                {"handle": 3}, new=3)                                            # []
    player.play(LOOKUP, {"object": 1, "name": b"f"}, Who(0, 0), OK, {"handle": 2})
                                                                # [("status", 0, 2)]

Each call returns what differs from the recorded status and fields; |new| is the id that the trace
gave to what the operation made. Fields that were not recorded are not compared.

Arguments and fields are those of model_xdr, with ids in the place of handles (with_ids() makes them
so). Compared are: status, identity of what is found or made, type, mode, owner, group, link count,
size (of files and links), link text, granted access, data length and EOF, names. Not: times,
fileids, cookies, contents, free space, and sizes of directories.

A listing is compared by its names: those recorded must be there, and no others if one reply had
them all. A guard on ctime is played as met or missed, as it was recorded.
"""
import model_xdr as x
from messages import OK
from model_server import Server, Who
from model_status import BAD_COOKIE, NOT_SYNC, TOOSMALL
from model_xdr import FSINFO, FSSTAT, LNK, PATHCONF, READ, READDIR, READDIRPLUS, REG, SETATTR

LISTINGS = (READDIR, READDIRPLUS)
COUNTED = ("access", "text", "count", "eof")
NEVER = -1  # no inode's ctime
NOBODY = Who(65534, 65534)


def stable(attributes):
    """Of an object's attributes, those that a replay must show again."""
    if attributes is None:
        return None
    a = attributes
    return {"type": a.type, "mode": a.mode, "nlink": a.nlink, "uid": a.uid, "gid": a.gid,
            "size": a.size if a.type in (REG, LNK) else None,
            "rdev": a.rdev if a.type in (x.BLK, x.CHR) else None}


def reproducible(procedure, status, fields):
    """{name: value}; attributes that a server left out are not in it."""
    out = {"status": status}
    if procedure in (FSSTAT, FSINFO, PATHCONF):
        return out
    for key in "attributes", "dir_attributes":
        if fields.get(key) is not None:
            out[key] = stable(fields[key])
    for key in "wcc", "wcc2":
        if fields.get(key) and fields[key][1] is not None:
            out[key] = stable(fields[key][1])
    if fields.get("handle") is not None:
        out["object"] = fields["handle"]
    if procedure != x.WRITE or status != OK:
        out.update((key, fields[key]) for key in COUNTED if key in fields)
    if procedure in LISTINGS and status == OK:
        del out["eof"]
        out["names"] = {e[1]: (stable(e[3]), e[4]) if len(e) > 3 else None
                        for e in fields["entries"] if e[1] not in (b".", b"..")}
    return out


def with_ids(things, id_of):
    """Arguments or fields with id_of(handle) for each handle."""
    out = dict(things)
    for key in "object", "object2", "handle":
        if isinstance(out.get(key), bytes):
            out[key] = id_of(out[key])
    if out.get("entries") and len(out["entries"][0]) > 3:
        out["entries"] = [e[:4] + (None if e[4] is None else id_of(e[4]),) for e in out["entries"]]
    return out


class Player:
    """|default_mode|: what the recorded server gave files whose CREATE said none, as exclusive ones
    do. Other |options|: of the Server, which has no limits to the length of a READ or WRITE."""

    def __init__(self, nodes, default_mode=0, **options):
        self.server = Server(**options)
        self.server.default_mode = default_mode
        self.server.largest_read = self.server.largest_write = 1 << 31
        self.server.load(nodes)

    def play(self, procedure, arguments, who, status, fields, new=None):
        """Returns differences: [(what, recorded, played)]."""
        whole = False
        if procedure == SETATTR and arguments.get("guard") is not None:
            arguments = dict(arguments, guard=NEVER if status == NOT_SYNC else None)
        if procedure == READ and status == OK and not fields["eof"]:  # the server's limit
            arguments = dict(arguments, count=min(arguments["count"], fields["count"]))
        if procedure in LISTINGS and status not in (BAD_COOKIE, TOOSMALL):
            whole = status == OK and fields["eof"] and arguments["cookie"] == 0
            arguments = dict(arguments, count=None, maxcount=None, cookie=0)
        result = self.server.execute(procedure, arguments, who or NOBODY, 0, new)
        recorded = reproducible(procedure, status, fields)
        played = reproducible(procedure, result.status, result.fields)
        if "names" in recorded and "names" in played:
            names = recorded.pop("names"), played.pop("names")
            return differences(recorded, played) + list(compare_names(*names, whole))
        return differences(recorded, played)


def differences(recorded, played):
    """What a server leaves out of a reply is not compared."""
    if recorded["status"] != played["status"]:
        return [("status", recorded["status"], played["status"])]
    out = []
    for key in recorded.keys() & played.keys():
        if recorded[key] == played[key]:
            continue
        if isinstance(recorded[key], dict):
            out += [(key + "." + k, v, played[key].get(k)) for k, v in recorded[key].items()
                    if v != played[key].get(k)]
        else:
            out.append((key, recorded[key], played[key]))
    return out


def compare_names(recorded, played, whole):
    for name, shown in recorded.items():
        if name not in played:
            yield "names", name, None
        elif shown is not None:
            for one, two in zip(shown, played[name]):
                if one is not None and one != two:
                    yield "entry", (name, one), (name, two)
    if whole:
        for name in played.keys() - recorded.keys():
            yield "names", None, name
