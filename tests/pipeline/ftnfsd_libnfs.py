#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: timeout=300
"""The calls of libnfs, on ftnfsd: files, directories, names and attributes, as a program uses them.  Each
call is also made on a folder of this machine, and must end alike: the same result or the same errno.
Then a server that answers late, or closes the connection instead of answering.

    ftnfsd_libnfs.py     environment: BUILD
"""
import errno
import os
import pathlib
import stat
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "gen"))

from libnfs import Folder, Libnfs, library  # noqa: E402
from live_client import Ftnfsd  # noqa: E402

R, W, RW, CREAT, EXCL, TRUNC, APPEND = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_EXCL,
                                        os.O_TRUNC, os.O_APPEND)
STATS = ("stat", "lstat", "fstat")
failures = []


def check(what, found, wanted):
    if found != wanted:
        failures.append("%s: %r, not %r" % (what, found, wanted))


class Session:
    """Makes calls and keeps what came of them.  |opened|: files by their names here."""

    def __init__(self, fs):
        self.fs, self.log, self.opened = fs, [], {}

    def do(self, call, *arguments):
        real = [self.opened.get(a, a) if isinstance(a, str) else a for a in arguments]
        try:
            result = getattr(self.fs, call)(*real)
        except OSError as why:
            result = errno.errorcode.get(why.errno, why.errno)
        if call in STATS and not isinstance(result, str):
            mode, nlink, uid, gid, size, _ = result
            result = ("%o" % mode, uid, gid) + (() if stat.S_ISDIR(mode) else (nlink, size))
        self.log.append((call, arguments, result))
        return result

    def open(self, name, call, *arguments):
        """As do(); the file is called |name| from now on."""
        try:
            self.opened[name] = getattr(self.fs, call)(*arguments)
            self.log.append((call, arguments, "opened"))
        except OSError as why:
            self.log.append((call, arguments, errno.errorcode.get(why.errno, why.errno)))

    def mtime(self, path, follow=True):
        """Of what utimes has set."""
        found = (self.fs.stat if follow else self.fs.lstat)(path)
        self.log.append(("mtime", (path,), found[5]))


# --- what programs do

def files(s):
    s.do("open", "/none", R)
    s.open("F", "open", "/f", RW | CREAT | EXCL, 0o640)
    s.do("open", "/f", RW | CREAT | EXCL, 0o600)
    for call in (("write", "F", b"hello world"), ("lseek", "F", 0, os.SEEK_CUR),
                 ("lseek", "F", -5, os.SEEK_END), ("read", "F", 100), ("read", "F", 100),
                 ("write", "F", b"W", 6), ("read", "F", 5, 3), ("read", "F", 5, 50),
                 ("lseek", "F", -1, os.SEEK_SET), ("fstat", "F"), ("ftruncate", "F", 4),
                 ("fsync", "F"), ("read", "F", 9, 0), ("ftruncate", "F", 9), ("read", "F", 99, 0),
                 ("write", "F", b"far", 5 << 30), ("fstat", "F"), ("read", "F", 9, (5 << 30) - 3),
                 ("close", "F")):
        s.do(*call)
    s.open("A", "open", "/f", W | APPEND)
    s.do("truncate", "/f", 3)
    s.do("write", "A", b"++")
    s.do("write", "A", b"--")
    s.do("close", "A")
    s.open("G", "open", "/f", R)
    s.do("read", "G", 99)
    s.do("close", "G")
    s.open("T", "open", "/f", W | TRUNC)
    s.do("fstat", "T")
    s.do("close", "T")
    s.open("C", "creat", "/created", 0o604)
    s.do("fstat", "C")
    s.do("close", "C")
    s.do("truncate", "/none", 1)
    s.do("unlink", "/created")
    s.do("unlink", "/created")
    s.do("stat", "/created")


def large(s):
    data = bytes(i * i % 251 for i in range(256)) * 12000
    s.open("L", "open", "/large", RW | CREAT, 0o644)
    s.do("write", "L", data, 12345)
    s.do("fsync", "L")
    s.do("fstat", "L")
    for offset in 0, 12000, 1 << 20, len(data):
        s.do("read", "L", 1000000, offset)
    s.do("close", "L")


def directories(s):
    for call in (("mkdir", "/d", 0o750), ("mkdir", "/d", 0o750), ("mkdir", "/no/d", 0o755),
                 ("stat", "/d"), ("mkdir", "/d/e", 0o700), ("rmdir", "/d"), ("rmdir", "/f"),
                 ("unlink", "/d/none"), ("rmdir", "/d/none"), ("mkdir", "/f/x", 0o755),
                 ("listdir", "/d"), ("listdir", "/f"), ("listdir", "/none"), ("rmdir", "/d/e"),
                 ("listdir", "/d"), ("stat", "/d/../d/./"), ("mkdir", "/d/" + "n" * 255, 0o755),
                 ("mkdir", "/d/" + "n" * 256, 0o755), ("rmdir", "/d/" + "n" * 255)):
        s.do(*call)
    for i in range(300):
        s.do("mkdir", "/d/name-%03d" % i, 0o755)
    s.do("listdir", "/d")
    for i in range(0, 300, 2):
        s.do("rmdir", "/d/name-%03d" % i)
    s.do("listdir", "/d")
    for call in (("chdir", "/d"), ("getcwd",), ("stat", "name-001"), ("mkdir", "x", 0o711),
                 ("chdir", "x"), ("getcwd",), ("chdir", ".."), ("getcwd",), ("chdir", "/none"),
                 ("rmdir", "x"), ("chdir", "/")):
        s.do(*call)


def names(s):
    s.do("mkdir", "/n", 0o755)
    for name in "ab":
        s.open(name.upper(), "open", "/n/" + name, W | CREAT, 0o644)
        s.do("write", name.upper(), name.encode() * 5)
        s.do("close", name.upper())
    for name in "full", "full/inside", "empty", "moved":
        s.do("mkdir", "/n/" + name, 0o755)
    for call in (("link", "/n/a", "/n/c"), ("stat", "/n/a"), ("link", "/n/a", "/n/b"),
                 ("link", "/n/none", "/n/x"), ("rename", "/n/c", "/n/a"), ("lstat", "/n/c"),
                 ("rename", "/n/b", "/n/a"), ("stat", "/n/a"), ("stat", "/n/c"),
                 ("rename", "/n/none", "/n/x"), ("rename", "/n/moved", "/n/empty"),
                 ("rename", "/n/empty", "/n/full"), ("rename", "/n/full", "/n/full/inside/x"),
                 ("rename", "/n/a", "/n/full"), ("rename", "/n/full", "/n/a"),
                 ("rename", "/n/empty", "/d/from-n"), ("listdir", "/n"), ("stat", "/d/from-n"),
                 ("mkfifo", "/n/fifo", 0o620), ("lstat", "/n/fifo"), ("mkfifo", "/n/fifo", 0o600),
                 ("unlink", "/n/fifo")):
        s.do(*call)
    for call in (("symlink", "a", "/n/to-a"), ("symlink", "a", "/n/to-a"),
                 ("symlink", "full", "/n/to-full"), ("symlink", "nowhere", "/n/dangling"),
                 ("symlink", "loop2", "/n/loop1"), ("symlink", "loop1", "/n/loop2"),
                 ("readlink", "/n/to-a"), ("readlink", "/n/a"), ("readlink", "/n/none"),
                 ("stat", "/n/to-a"), ("lstat", "/n/to-a"), ("stat", "/n/dangling"),
                 ("lstat", "/n/dangling"), ("listdir", "/n/to-full"), ("stat", "/n/to-full/inside"),
                 ("stat", "/n/loop1"), ("mkdir", "/n/to-full/made", 0o755), ("listdir", "/n/full"),
                 ("rename", "/n/to-a", "/n/renamed"), ("readlink", "/n/renamed"),
                 ("unlink", "/n/renamed"), ("stat", "/n/a"), ("unlink", "/n/dangling")):
        s.do(*call)


def attributes(s):
    uid, gid = os.getuid(), os.getgid()
    s.open("M", "open", "/m", RW | CREAT, 0o600)
    s.do("symlink", "m", "/to-m")
    for mode in 0o000, 0o444, 0o711, 0o4755, 0o2710, 0o1644, 0o666:
        s.do("chmod", "/m", mode)
        s.do("stat", "/to-m")
        for wanted in os.F_OK, os.R_OK, os.W_OK, os.X_OK, os.R_OK | os.W_OK:
            s.do("access", "/m", wanted)
    for call in (("fchmod", "M", 0o640), ("fstat", "M"), ("chown", "/m", uid, gid),
                 ("fchown", "M", uid, gid), ("lchown", "/to-m", uid, gid), ("lstat", "/to-m"),
                 ("chmod", "/none", 0o600), ("chown", "/none", uid, gid), ("access", "/none", os.R_OK),
                 ("utimes", "/none", 1, 1)):
        s.do(*call)
    if uid == 0:
        for call in (("chown", "/m", 1000, 1001), ("chmod", "/m", 0o6755), ("stat", "/m"),
                     ("chown", "/m", 1002, 1003), ("stat", "/m"), ("lchown", "/to-m", 7, 8),
                     ("lstat", "/to-m"), ("stat", "/to-m")):
            s.do(*call)
    s.do("utimes", "/m", 10**15 + 5, 1234567890123456)
    s.mtime("/m")
    s.do("utimes", "/to-m", 10**15, 10**15 + 1)
    s.mtime("/m")
    s.do("utimes", "/to-m", 5 * 10**14, 6 * 10**14 + 7, False)
    s.mtime("/to-m", follow=False)
    s.mtime("/m")
    s.do("close", "M")


SCENES = (files, large, directories, names, attributes)


# --- what only a server has

def space(fs):
    found = fs.statvfs("/")
    check("statvfs", (found.blocks >= found.bfree >= found.bavail > 0, found.files >= found.ffree > 0,
                      found.namemax >= 255), (True, True, True))


def late(server):
    """A server that does not answer in time, or closes the connection: the calls it executed are not
    executed twice."""
    fs = Libnfs(server.urls[1])
    fs.set_timeout(1000)
    session = Session(fs)
    check("too late", session.do("statvfs", "/") in ("EINTR", "ETIMEDOUT"), True)
    fs.close_all()
    session = Session(Libnfs(server.urls[1]))
    check("MKDIR, closed", session.do("mkdir", "/x", 0o755), None)
    check("MKDIR", session.do("mkdir", "/x", 0o755), "EEXIST")
    check("RMDIR, closed", session.do("rmdir", "/x"), None)
    check("RMDIR", session.do("rmdir", "/x"), "ENOENT")


def main():
    if library() is None:
        print("NOT RUN: libnfs is not installed")
        return 77
    os.umask(0)
    faults = ["FSSTAT:path=/late*:count=1:delay=3s", "MKDIR:path=/late*:count=1:close",
              "RMDIR:path=/late*:count=1:close"]
    with tempfile.TemporaryDirectory(prefix="libnfs.") as folder, Ftnfsd(
            "--export", "/a", "--export", "/late", *sum((["--fault", f] for f in faults), [])) as server:
        ours, theirs = Session(Libnfs(server.urls[0])), Session(Folder(folder))
        for scene in SCENES:
            scene(ours)
            scene(theirs)
        for mine, other in zip(ours.log, theirs.log):
            check("%s%r" % mine[:2], mine[2], other[2])
        space(ours.fs)
        late(server)
        code, _, err = server.stop()
        check("the end", (code, err), (0, ""))
    for failure in failures:
        print(failure[:300])
    print("%d calls, %d failures" % (len(ours.log), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
