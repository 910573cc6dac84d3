# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's libnfs, as it is installed for its programs, and a folder of this machine, by the same calls.

    fs = Libnfs("nfs://127.0.0.1/a?nfsport=2049&mountport=2049")    fs = Folder("/tmp/x")
    file = fs.open("/f", os.O_RDWR | os.O_CREAT, 0o644)
    fs.pwrite(file, 0, b"text")

Both raise OSError with the errno.  Paths begin with "/", which is the export or the folder.
"""
import ctypes
import glob
import os
import re
import stat

ORDER_CHANGED = 16  # the first libnfs.so that takes the buffer before its size (libnfs 6)


def library():
    """(path, number of the interface), or None."""
    found = sorted(glob.glob("/usr/lib/*/libnfs.so.[0-9]*") + glob.glob("/lib/*/libnfs.so.[0-9]*"))
    return (found[0], int(re.search(r"\.so\.(\d+)", found[0])[1])) if found else None


class Url(ctypes.Structure):
    _fields_ = [(n, ctypes.c_char_p) for n in ("server", "path", "file")]


class Stat(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in (
        "dev ino mode nlink uid gid rdev size blksize blocks atime mtime ctime atime_ns mtime_ns"
        " ctime_ns used").split()] + [("room", ctypes.c_uint64 * 16)]


class Statvfs(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint64) for n in (
        "bsize frsize blocks bfree bavail files ffree favail fsid flag namemax").split()] + [
            ("room", ctypes.c_uint64 * 16)]


class Entry(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("name", ctypes.c_char_p), ("inode", ctypes.c_uint64)]


class Timeval(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long)]


POINTERS = {"nfs_init_context": ctypes.c_void_p, "nfs_parse_url_dir": ctypes.POINTER(Url),
            "nfs_readdir": ctypes.POINTER(Entry)}


class Libnfs:
    def __init__(self, url):
        path, number = library()
        self.library, self.new_order = ctypes.CDLL(path), number >= ORDER_CHANGED
        self.context = ctypes.c_void_p(self.call("nfs_init_context"))
        parts = self.with_context("nfs_parse_url_dir", url.encode()).contents
        self.with_context("nfs_umask", 0)
        self.checked("nfs_mount", parts.server, parts.path)

    def call(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = POINTERS.get(name, ctypes.c_int)
        return function(*arguments)

    def with_context(self, name, *arguments):
        return self.call(name, self.context, *arguments)

    def checked(self, name, *arguments):
        result = self.with_context(name, *[a.encode() if isinstance(a, str) else a
                                           for a in arguments])
        if result < 0:
            raise OSError(-result, name)
        return result

    def close_all(self):
        self.with_context("nfs_destroy_context")

    def set_timeout(self, ms):
        self.with_context("nfs_set_timeout", ms)

    # Files

    def open(self, path, flags, mode=0o666):
        file = ctypes.c_void_p()
        self.checked("nfs_open2", path, flags, mode, ctypes.byref(file))
        return file

    def creat(self, path, mode):
        file = ctypes.c_void_p()
        self.checked("nfs_creat", path, mode, ctypes.byref(file))
        return file

    def close(self, file):
        self.checked("nfs_close", file)

    def transfer(self, name, file, data, size, offset=None):
        count, place = ctypes.c_uint64(size), [] if offset is None else [ctypes.c_uint64(offset)]
        arguments = [data, count, *place] if self.new_order else [*place, count, data]
        return self.checked(name, file, *arguments)

    def read(self, file, size, offset=None):
        data = ctypes.create_string_buffer(size)
        count = self.transfer("nfs_read" if offset is None else "nfs_pread", file, data, size, offset)
        return data.raw[:count]

    def write(self, file, data, offset=None):
        return self.transfer("nfs_write" if offset is None else "nfs_pwrite", file, data, len(data),
                             offset)

    def lseek(self, file, offset, whence):
        at = ctypes.c_uint64()
        self.checked("nfs_lseek", file, ctypes.c_int64(offset), whence, ctypes.byref(at))
        return at.value

    def fsync(self, file):
        self.checked("nfs_fsync", file)

    def ftruncate(self, file, size):
        self.checked("nfs_ftruncate", file, ctypes.c_uint64(size))

    def truncate(self, path, size):
        self.checked("nfs_truncate", path, ctypes.c_uint64(size))

    # Attributes

    def any_stat(self, name, what):
        found = Stat()
        self.checked(name, what, ctypes.byref(found))
        return found.mode, found.nlink, found.uid, found.gid, found.size, \
            found.mtime * 10**9 + found.mtime_ns

    def stat(self, path):
        return self.any_stat("nfs_stat64", path)

    def lstat(self, path):
        return self.any_stat("nfs_lstat64", path)

    def fstat(self, file):
        return self.any_stat("nfs_fstat64", file)

    def statvfs(self, path):
        found = Statvfs()
        self.checked("nfs_statvfs64", path, ctypes.byref(found))
        return found

    def chmod(self, path, mode):
        self.checked("nfs_chmod", path, mode)

    def fchmod(self, file, mode):
        self.checked("nfs_fchmod", file, mode)

    def chown(self, path, uid, gid):
        self.checked("nfs_chown", path, uid, gid)

    def lchown(self, path, uid, gid):
        self.checked("nfs_lchown", path, uid, gid)

    def fchown(self, file, uid, gid):
        self.checked("nfs_fchown", file, uid, gid)

    def utimes(self, path, atime, mtime, follow=True):
        """In microseconds."""
        times = (Timeval * 2)(*[Timeval(*divmod(t, 10**6)) for t in (atime, mtime)])
        self.checked("nfs_utimes" if follow else "nfs_lutimes", path, times)

    def access(self, path, mode):
        self.checked("nfs_access", path, mode)

    # Names

    def mkdir(self, path, mode):
        self.checked("nfs_mkdir2", path, mode)

    def rmdir(self, path):
        self.checked("nfs_rmdir", path)

    def unlink(self, path):
        self.checked("nfs_unlink", path)

    def rename(self, path, new):
        self.checked("nfs_rename", path, new)

    def link(self, path, new):
        self.checked("nfs_link", path, new)

    def symlink(self, text, path):
        self.checked("nfs_symlink", text, path)

    def readlink(self, path):
        text = ctypes.create_string_buffer(4097)
        self.checked("nfs_readlink", path, text, len(text))
        return text.value

    def mkfifo(self, path, mode):
        self.checked("nfs_mknod", path, stat.S_IFIFO | mode, 0)

    def chdir(self, path):
        self.checked("nfs_chdir", path)

    def getcwd(self):
        path = ctypes.c_char_p()
        self.with_context("nfs_getcwd", ctypes.byref(path))
        return path.value

    def listdir(self, path):
        directory = ctypes.c_void_p()
        self.checked("nfs_opendir", path, ctypes.byref(directory))
        names = []
        for _ in range(2):  # once more after rewinddir
            entry, names = self.with_context("nfs_readdir", directory), []
            while entry:
                names.append(entry.contents.name)
                entry = self.with_context("nfs_readdir", directory)
            self.with_context("nfs_rewinddir", directory)
        self.with_context("nfs_closedir", directory)
        return sorted(set(names) - {b".", b".."}) if len(set(names)) == len(names) else names


class Folder:
    """The same calls on a folder."""

    def __init__(self, root):
        self.root, self.at = str(root), "/"

    def path(self, path):
        path = os.path.join(self.at, path)
        return self.root + path

    def open(self, path, flags, mode=0o666):
        return os.open(self.path(path), flags, mode)

    def creat(self, path, mode):
        return self.open(path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, mode)

    close, fsync, lseek, ftruncate = map(staticmethod, (os.close, os.fsync, os.lseek, os.ftruncate))
    fchmod, fchown = staticmethod(os.fchmod), staticmethod(os.fchown)

    @staticmethod
    def read(file, size, offset=None):
        return os.read(file, size) if offset is None else os.pread(file, size, offset)

    @staticmethod
    def write(file, data, offset=None):
        return os.write(file, data) if offset is None else os.pwrite(file, data, offset)

    def truncate(self, path, size):
        os.truncate(self.path(path), size)

    @staticmethod
    def told(found):
        return (found.st_mode, found.st_nlink, found.st_uid, found.st_gid, found.st_size,
                found.st_mtime_ns)

    def stat(self, path):
        return self.told(os.stat(self.path(path)))

    def lstat(self, path):
        return self.told(os.lstat(self.path(path)))

    def fstat(self, file):
        return self.told(os.fstat(file))

    def chmod(self, path, mode):
        os.chmod(self.path(path), mode)

    def chown(self, path, uid, gid):
        os.chown(self.path(path), uid, gid)

    def lchown(self, path, uid, gid):
        os.lchown(self.path(path), uid, gid)

    def utimes(self, path, atime, mtime, follow=True):
        os.utime(self.path(path), ns=(atime * 1000, mtime * 1000), follow_symlinks=follow)

    def access(self, path, mode):
        if not os.access(self.path(path), mode):
            os.stat(self.path(path))
            raise PermissionError(13, path)

    def mkdir(self, path, mode):
        os.mkdir(self.path(path), mode)

    def rmdir(self, path):
        os.rmdir(self.path(path))

    def unlink(self, path):
        os.unlink(self.path(path))

    def rename(self, path, new):
        os.rename(self.path(path), self.path(new))

    def link(self, path, new):
        os.link(self.path(path), self.path(new), follow_symlinks=False)

    def symlink(self, text, path):
        os.symlink(text, self.path(path))

    def readlink(self, path):
        return os.fsencode(os.readlink(self.path(path)))

    def mkfifo(self, path, mode):
        os.mkfifo(self.path(path), mode)

    def chdir(self, path):
        os.listdir(self.path(path))
        self.at = os.path.normpath(os.path.join(self.at, path))

    def getcwd(self):
        return self.at.encode()

    def listdir(self, path):
        return sorted(os.fsencode(n) for n in os.listdir(self.path(path)))
