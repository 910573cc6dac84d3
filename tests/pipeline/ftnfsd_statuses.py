#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300 asan
"""Every procedure of ftnfsd with every status that RFC 1813 lists for it.

A status is provoked by a request, or by a fault where no request can (IO: there is no disk), or stands in
CANNOT with the reason why it never comes.  At the end all of them must have been seen, and no other.

    ftnfsd_statuses.py     environment: BUILD
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

import model_status  # noqa: E402
from ganesha_differences import ERRORS, UNLISTED  # noqa: E402
from live_client import Client, Ftnfsd  # noqa: E402
from model_status import (ACCES, BADHANDLE, BADTYPE, BAD_COOKIE, DQUOT, EXIST, FBIG,  # noqa: E402
                          INVAL, IO, ISDIR, JUKEBOX, MLINK, NAMETOOLONG, NOSPC, NOTDIR, NOTEMPTY,
                          NOTSUPP, NOT_SYNC, NXIO, PERM, ROFS, SERVERFAULT, TOOSMALL, XDEV)
from model_xdr import (ACCESS, BLK, COMMIT, CREATE, EXCLUSIVE, FIFO, FSINFO, FSSTAT,  # noqa: E402
                       GETATTR, GUARDED, LINK, LOOKUP, MKDIR, MKNOD, NAMES, PATHCONF, READ, READDIR,
                       READDIRPLUS, READLINK, REMOVE, RENAME, RMDIR, SETATTR, SYMLINK, WRITE)
from small_tree import NO_VERIFIER, Tree, create, requests, write  # noqa: E402

OK, NOENT, STALE = 0, 2, 70
BY_FAULT = (IO, SERVERFAULT, NOTSUPP, JUKEBOX)
NAMES_OF = {v: k for k, v in vars(model_status).items() if k.isupper() and isinstance(v, int) and
            not k.startswith("MAY")} | {NOENT: "NOENT", STALE: "STALE", OK: "OK"}
# What never comes, and why.
CANNOT = {
    (READ, NXIO): "it is for devices, and nothing is read from these: INVAL",
    (READLINK, ACCES): "POSIX: a symbolic link is read without any right to it",
    (SETATTR, NOSPC): "a longer file has a hole there, which takes no room",
    (RENAME, DQUOT): "an object stays its owner's", (LINK, DQUOT): "a name is nobody's",
    (RENAME, EXIST): "a directory and a file for each other are NOTDIR and ISDIR, as on Linux",
    (RENAME, MLINK): "a directory holds any number of directories",
    (LINK, MLINK): "65,000 links: unit/test_fs_names.c",
}
failures, seen = [], set()


def check(what, ours, wanted):
    if ours != wanted:
        failures.append("%s: %r, not %r" % (what, ours, wanted))


class Noting(Client):
    """Notes which procedures had which statuses."""

    def nfs(self, procedure, arguments, uid=0, gid=0, gids=()):
        status, fields = super().nfs(procedure, arguments, uid, gid, gids)
        seen.add((procedure, status))
        return status, fields


def verifier(client, directory):
    return client.nfs(READDIR, {"object": directory, "cookie": 0, "verifier": NO_VERIFIER,
                                "count": 4096})[1]["verifier"]


def expect(client, cases):
    """Each: (status, procedure, arguments, credentials).  wcc_data are there whenever they can be."""
    for status, procedure, arguments, who in cases:
        said, fields = client.nfs(procedure, arguments, **who)
        what = "%s %r by uid %d" % (NAMES[procedure], arguments, who.get("uid", 0))
        check(what, said, status)
        for key in "wcc", "wcc2":
            if key in fields and said not in (BADHANDLE, STALE, XDEV):
                check(what + ": " + key, None in fields[key], False)


def by_request(server):
    client = Noting(server)
    t, other = Tree(client, b"/w"), Tree(client, b"/v")
    fixed = client.mount(b"/ro")
    listing = {"cookie": 0, "verifier": NO_VERIFIER}
    user = {"uid": 1000, "gid": 1000}
    long = b"n" * 256
    sattr = {"settings": {"mode": 0o600}}
    expect(client, [
        (BADHANDLE, GETATTR, {"object": b""}, {}),
        (BADHANDLE, GETATTR, {"object": b"x" * 20}, {}),
        (BADHANDLE, GETATTR, {"object": t.file[:19]}, {}),
        (BADHANDLE, GETATTR, {"object": t.file + bytes(44)}, {}),
        (BADHANDLE, GETATTR, {"object": t.file[:19] + bytes([t.file[19] ^ 1])}, {}),
        (STALE, GETATTR, {"object": t.gone}, {}),
        (STALE, LOOKUP, {"object": t.gone, "name": b"x"}, {}),
        (STALE, READDIR, {"object": t.gone, **listing, "count": 4096}, {}),
        (STALE, RENAME, {"object": t.root, "name": b"file", "object2": t.gone, "name2": b"x"}, {}),
        (PERM, SETATTR, {"object": t.file, **sattr}, user),
        (ACCES, SETATTR, {"object": t.file, "settings": {"size": 1}}, user),
        (NOT_SYNC, SETATTR, {"object": t.file, **sattr, "guard": 1}, {}),
        (FBIG, SETATTR, {"object": t.file, "settings": {"size": 2**63}}, {}),
        (NOTDIR, LOOKUP, {"object": t.file, "name": b"x"}, {}),
        (NOENT, LOOKUP, {"object": t.root, "name": b"nothing"}, {}),
        (NAMETOOLONG, LOOKUP, {"object": t.root, "name": long}, {}),
        (OK, LOOKUP, {"object": t.root, "name": b".."}, {}),
        (OK, ACCESS, {"object": t.file, "access": 0}, user),
        (INVAL, READLINK, {"object": t.file}, {}),
        (INVAL, READ, {"object": t.dir, "offset": 0, "count": 1}, {}),
        (INVAL, READ, {"object": t.link, "offset": 0, "count": 1}, {}),
        (INVAL, READ, {"object": t.fifo, "offset": 0, "count": 1}, {}),
        (OK, READ, {"object": t.file, "offset": 2**64 - 1, "count": 100}, {}),
        (ACCES, WRITE, write(t.file, 0, b"x"), user),
        (FBIG, WRITE, write(t.file, 2**63 - 1, b"xx"), {}),
        (FBIG, WRITE, write(t.file, 2**64 - 1, b"xx"), {}),
        (OK, WRITE, write(t.file, 2**63 - 2, b"x"), {}),
        (INVAL, WRITE, write(t.dir, 0, b"x"), {}),
        (EXIST, CREATE, create(t.root, b"file", GUARDED), {}),
        (EXIST, CREATE, create(t.root, b"dir"), {}),
        (EXIST, CREATE, create(t.root, b"file", EXCLUSIVE), {}),
        (EXIST, CREATE, create(t.root, b"."), {}),
        (NAMETOOLONG, CREATE, create(t.root, long), {}),
        (ACCES, CREATE, create(t.root, b""), {}),
        (ACCES, CREATE, create(t.root, b"a/b"), {}),
        (ACCES, CREATE, create(t.dir, b"x"), user),
        (NOTDIR, CREATE, create(t.file, b"x"), {}),
        (ROFS, CREATE, create(fixed, b"x"), {}),
        (EXIST, MKDIR, {"object": t.root, "name": b"file", "settings": {}}, {}),
        (ROFS, MKDIR, {"object": fixed, "name": b"x", "settings": {}}, {}),
        (EXIST, SYMLINK, {"object": t.root, "name": b"dir", "settings": {}, "text": b"x"}, {}),
        (NAMETOOLONG, SYMLINK, {"object": t.root, "name": b"l", "settings": {},
                                "text": b"x" * 4097}, {}),
        (BADTYPE, MKNOD, {"object": t.root, "name": b"n", "settings": {}, "type": 1}, {}),
        (BADTYPE, MKNOD, {"object": t.root, "name": b"n", "settings": {}, "type": 99}, {}),
        (PERM, MKNOD, {"object": t.root, "name": b"n", "settings": {}, "type": BLK,
                       "rdev": (1, 2)}, user),
        (NOENT, REMOVE, {"object": t.root, "name": b"nothing"}, {}),
        (ISDIR, REMOVE, {"object": t.root, "name": b"dir"}, {}),
        (ACCES, REMOVE, {"object": t.root, "name": b"file"}, user),  # sticky; s3.3.12 has no PERM
        (NOTEMPTY, RMDIR, {"object": t.root, "name": b"full"}, {}),
        (NOTDIR, RMDIR, {"object": t.root, "name": b"file"}, {}),
        (INVAL, RMDIR, {"object": t.root, "name": b"."}, {}),
        (EXIST, RMDIR, {"object": t.root, "name": b".."}, {}),
        (INVAL, RENAME, {"object": t.root, "name": b"dir", "object2": t.dir, "name2": b"x"}, {}),
        (XDEV, RENAME, {"object": t.root, "name": b"file", "object2": other.root,
                        "name2": b"x"}, {}),
        (NOTEMPTY, RENAME, {"object": t.root, "name": b"dir", "object2": t.root,
                            "name2": b"full"}, {}),
        (NOENT, RENAME, {"object": t.root, "name": b"nothing", "object2": t.root,
                         "name2": b"x"}, {}),
        (XDEV, LINK, {"object": t.file, "object2": other.root, "name2": b"x"}, {}),
        (INVAL, LINK, {"object": t.dir, "object2": t.root, "name2": b"x"}, {}),
        (EXIST, LINK, {"object": t.file, "object2": t.root, "name2": b"dir"}, {}),
        (ROFS, LINK, {"object": fixed, "object2": fixed, "name2": b"x"}, {}),
        (NOTDIR, READDIR, {"object": t.file, **listing, "count": 4096}, {}),
        (TOOSMALL, READDIR, {"object": t.root, **listing, "count": 100}, {}),
        (BAD_COOKIE, READDIR, {"object": t.root, "cookie": 77, "verifier": b"01234567",
                               "count": 4096}, {}),
        (TOOSMALL, READDIRPLUS, {"object": t.root, **listing, "dircount": 4096,
                                 "maxcount": 150}, {}),
        (OK, FSSTAT, {"object": t.file}, user), (OK, FSINFO, {"object": t.file}, user),
        (OK, PATHCONF, {"object": t.file}, user),
        (INVAL, COMMIT, {"object": t.dir, "offset": 0, "count": 0}, {}),
        (BAD_COOKIE, READDIR, {"object": t.root, "cookie": 10**9, "count": 4096,
                               "verifier": verifier(client, t.root)}, {}),
    ])


def without_right(server):
    """A user among things of root."""
    client, user = Noting(server), {"uid": 1000, "gid": 1000}
    t = Tree(client, b"/n")
    private = t.make(MKDIR, b"private", mode=0o700)
    secret = client.nfs(CREATE, create(t.root, b"secret", mode=0o600))[1]["handle"]
    mine = client.nfs(CREATE, create(t.root, b"mine", mode=0o600), **user)[1]["handle"]
    for procedure in (MKDIR, CREATE, SYMLINK, MKNOD):
        arguments = requests(t)[procedure] | {"object": t.dir, "name": b"x"}
        expect(client, [(ACCES, procedure, arguments, user)])
    client.nfs(MKDIR, {"object": t.dir, "name": b"sub", "settings": {"mode": 0o755}})
    expect(client, [
        (ACCES, LOOKUP, {"object": private, "name": b"x"}, user),
        (ACCES, READ, {"object": secret, "offset": 0, "count": 1}, user),
        (ACCES, READDIR, requests(t)[READDIR] | {"object": private}, user),
        (ACCES, READDIRPLUS, requests(t)[READDIRPLUS] | {"object": private}, user),
        (ACCES, RMDIR, {"object": t.dir, "name": b"sub"}, user),
        (ACCES, RENAME, {"object": t.dir, "name": b"sub", "object2": t.root, "name2": b"s"}, user),
        (ACCES, LINK, {"object": mine, "object2": t.dir, "name2": b"x"}, user),
    ])


def wrong_types(server):
    """What is no directory, what is one, and what is no name."""
    client = Noting(server)
    t, long = Tree(client, b"/t"), b"n" * 256
    cases = [(NOTDIR, p, requests(t)[p] | {"object": t.file}, {})
             for p in (MKDIR, SYMLINK, MKNOD, REMOVE, RENAME, READDIRPLUS)]
    cases += [(NAMETOOLONG, p, requests(t)[p] | {"name": long}, {})
              for p in (MKDIR, MKNOD, SYMLINK, REMOVE, RMDIR, RENAME)]
    expect(client, cases + [
        (NAMETOOLONG, RENAME, requests(t)[RENAME] | {"name": b"file", "name2": long}, {}),
        (NAMETOOLONG, LINK, {"object": t.file, "object2": t.root, "name2": long}, {}),
        (NOTDIR, LINK, {"object": t.file, "object2": t.fifo, "name2": b"x"}, {}),
        (NOTDIR, RENAME, requests(t)[RENAME] | {"name": b"dir", "name2": b"file"}, {}),
        (ISDIR, RENAME, requests(t)[RENAME] | {"name": b"file", "name2": b"dir"}, {}),
        (EXIST, MKNOD, requests(t)[MKNOD], {}),
        (NOENT, RMDIR, {"object": t.root, "name": b"nothing"}, {}),
        (INVAL, SETATTR, {"object": t.dir, "settings": {"size": 1}}, {}),
        (BAD_COOKIE, READDIRPLUS, requests(t)[READDIRPLUS] | {"cookie": 77, "verifier": b"01234567"},
         {})])


def bad_objects(server):
    """Handles of what is gone, and what is no handle, for everything; what is read-only."""
    client = Noting(server)
    t, fixed = Tree(client, b"/b"), client.mount(b"/ro")
    for procedure, arguments in requests(t).items():
        expect(client, [(STALE, procedure, arguments | {"object": t.gone}, {}),
                        (BADHANDLE, procedure, arguments | {"object": b"no handle"}, {})])
        if "object2" in arguments:
            expect(client, [(STALE, procedure, arguments | {"object2": t.gone}, {}),
                            (BADHANDLE, procedure, arguments | {"object2": b"no handle"}, {})])
        if ROFS in ERRORS[procedure]:
            second = {"object2": fixed} if "object2" in arguments else {}
            expect(client, [(ROFS, procedure, arguments | {"object": fixed} | second, {})])


def by_fault(server):
    """A fault for each uid."""
    client = Noting(server)
    t = Tree(client, b"/f")
    for procedure, arguments in requests(t).items():
        for status in BY_FAULT:
            if status in ERRORS[procedure] or status == JUKEBOX:
                expect(client, [(status, procedure, arguments, {"uid": 20000 + status})])


def quotas():
    with Ftnfsd("--export", "/q(no_root_squash)", "--capacity", "64k", "--max-objects", "14",
                "--user-capacity", "16k", "--user-objects", "3") as server:
        client, user = Noting(server), {"uid": 1000, "gid": 1000}
        root = client.mount(b"/q")
        made = [client.nfs(CREATE, create(root, b"u%d" % i, mode=0o666), **user) for i in range(4)]
        check("objects of a user", [m[0] for m in made], [OK, OK, OK, DQUOT])
        new = {MKDIR: {}, SYMLINK: {"text": b"x"}, MKNOD: {"type": FIFO}}
        for procedure, more in new.items():
            expect(client, [(DQUOT, procedure, {"object": root, "name": b"n", "settings": {}, **more},
                             user)])
        file = made[0][1]["handle"]
        check("bytes of a user", [client.nfs(WRITE, write(file, 4096 * i, b"x"), **user)[0]
                                  for i in range(5)], [OK, OK, OK, OK, DQUOT])
        made = [client.nfs(CREATE, create(root, b"r%d" % i)) for i in range(12)]
        check("objects", made[-1][0], NOSPC)
        for procedure, more in new.items():
            expect(client, [(NOSPC, procedure, {"object": root, "name": b"n", "settings": {}, **more},
                             {})])
        file = made[0][1]["handle"]
        expect(client, [(DQUOT, SETATTR, {"object": file, "settings": {"uid": 1000}}, {})])
        check("bytes", [client.nfs(WRITE, write(file, 4096 * i, b"x"))[0]
                        for i in range(4, 18)][-1], NOSPC)
        check("a hole", client.nfs(SETATTR, {"object": file, "settings": {"size": 2**40}})[0], OK)
        space = client.nfs(FSSTAT, {"object": root})[1]
        check("FSSTAT", (space["tbytes"], space["tfiles"], space["ffiles"]), (65536, 14, 0))


def no_memory():
    """A directory that is to hold more names, when all memory is taken."""
    with Ftnfsd("--export", "/m(no_root_squash)", "--memory-limit", "1M") as server:
        client = Noting(server)
        root = client.mount(b"/m")
        made, status = [], OK
        while status == OK:
            status, fields = client.nfs(CREATE, create(root, b"%d" % len(made)))
            made.append(fields["handle"] if status == OK else None)
        check("full", status, NOSPC)
        for procedure, arguments in ((LINK, {"object": made[0], "object2": root}),
                                     (RENAME, {"object": root, "name": b"0", "object2": root})):
            said = OK
            for i in range(2000):
                if said == OK:
                    said = client.nfs(procedure, arguments | {"name2": b"%0200d" % i})[0]
                    arguments = arguments | ({"name": b"%0200d" % i} if procedure == RENAME else {})
            check(NAMES[procedure], said, NOSPC)


def complete():
    for procedure, statuses in ERRORS.items():
        for status in statuses:
            known = (procedure, status) in CANNOT
            if known == ((procedure, status) in seen):
                failures.append("%s, NFS3ERR_%s: %s" % (
                    NAMES[procedure], NAMES_OF[status], "it comes" if known else "never seen"))
    for procedure, status in seen:
        if status not in (OK, JUKEBOX) and status not in ERRORS[procedure] and \
                (procedure, status) not in UNLISTED:
            failures.append("%s: NFS3ERR_%s, which RFC 1813 does not list" % (
                NAMES[procedure], NAMES_OF[status]))


def main():
    exports = [o for name in ("w", "v", "n", "t", "b", "f")
               for o in ("--export", "/%s(no_root_squash)" % name)]
    faults = [o for status in BY_FAULT
              for o in ("--fault", "NFS.*:uid=%d:status=NFS3ERR_%s" % (20000 + status, NAMES_OF[status]))]
    with Ftnfsd(*exports, "--export", "/ro(ro)", *faults) as server:
        for part in by_request, without_right, wrong_types, bad_objects, by_fault:
            part(server)
    quotas()
    no_memory()
    complete()
    for failure in failures:
        print(failure)
    print("%d statuses, %d failures" % (len(seen), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
