# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of nfsdigest package have in common: running it, and archives as Python's tarfile
and the program zstd read and write them."""
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile

SRC = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SRC / "tests" / "gen"), str(SRC / "tests" / "oracle")]

import anonymizer  # noqa: E402

NFSDIGEST = os.environ["NFSDIGEST"]
breaches = []
checks = 0


def expect(good, *words):
    global checks
    checks += 1
    if not good:
        breaches.append(" ".join(str(w) for w in words)[:1200])


def finish():
    for text in breaches:
        print("FAILED", text)
    print("%d checks, %d failed" % (checks, len(breaches)))
    sys.exit(1 if breaches else 0)


def run(*arguments, folder=None, environment=None, before=None):
    """Exit code, standard output, standard error."""
    done = subprocess.run([NFSDIGEST, "package", *map(str, arguments)], capture_output=True,
                          cwd=folder, env={**os.environ, **(environment or {})}, preexec_fn=before,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace"), \
        done.stderr.decode("utf-8", "replace")


def made(output, key, *rest, **how):
    """Makes a package that must succeed; returns its bytes."""
    code, out, said = run("-o", output, "--key", key, *rest, **how)
    expect(code == 0 and out == "", "package", output, *rest, ":", code, out[:300], said)
    where = pathlib.Path(how.get("folder") or ".") / output
    return where.read_bytes() if where.exists() else b""


def capture(name, folder):
    """A real capture without zstd, which capfile.py cannot read."""
    path = folder / (name + ".pcap")
    subprocess.run(["zstd", "-dqf", os.path.join(os.environ["CAPTURES"], name + ".pcap.zst"), "-o",
                    path], check=True)
    return path


def new_key(path):
    return anonymizer.known_key(str(path))


def unzstd(data):
    return subprocess.run(["zstd", "-dqc"], input=data, capture_output=True, check=True).stdout


def zstd(data):
    """As nfsdigest compresses archives: the same bytes give the same frame. (zstd 1.5.7 compresses in
    threads by itself, and otherwise.)"""
    return subprocess.run(["zstd", "-qc", "-9", "--no-check", "--single-thread"], input=data,
                          capture_output=True, check=True).stdout


def members(data):
    """(header, contents) of each, in order."""
    with tarfile.open(fileobj=io.BytesIO(unzstd(data)), mode="r:") as archive:
        return [(m, archive.extractfile(m).read() if m.isreg() else b"") for m in archive]


def contents(data):
    """By the path below the package's folder."""
    return {m.name.split("/", 1)[1]: body for m, body in members(data)}


def header(name, size=0, kind=tarfile.REGTYPE, **changes):
    m = tarfile.TarInfo(name)
    m.size, m.type, m.mtime = size, kind, 1700000000
    for field, value in changes.items():
        setattr(m, field, value)
    return m


def archive(entries):
    """tar.zst of (header, contents)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for m, body in entries:
            tar.addfile(m, io.BytesIO(body))
    return zstd(out.getvalue())


def place(tar, path):
    """The header and its offset of a member."""
    with tarfile.open(fileobj=io.BytesIO(tar), mode="r:") as archived:
        return next(m for m in archived if m.name.split("/", 1)[1] == path)


def with_contents(tar, path, body):
    """A tar in which one member has other contents of the same length, and nothing else differs."""
    m = place(tar, path)
    assert m.size == len(body), (m.size, len(body))
    return tar[:m.offset_data] + body + tar[m.offset_data + m.size:]


def agreeing_tar(tar, path, body):
    """The same, with its new sum in the lists."""
    files = {m.name.split("/", 1)[1]: b for m, b in members(zstd(tar))}
    for name in ([path] if path == "SHA256SUMS" else
                 [path, "SHA256SUMS"] if path == "datapackage.json" else
                 [path, "datapackage.json", "SHA256SUMS"]):
        if name != path:
            for old, new in sums:
                files[name] = files[name].replace(old, new)
            body = files[name]
        else:
            sums = []
        old = next(b for m, b in members(zstd(tar)) if m.name.endswith("/" + name))
        sums.append(tuple(hashlib.sha256(x).hexdigest().encode() for x in (old, body)))
        tar = with_contents(tar, name, body)
    return tar


def packed(name, files, more=()):
    """A package of the files (path: contents), and entries that are added as they are."""
    return archive([(header(name + "/" + path, len(body)), body)
                    for path, body in sorted(files.items())] + list(more))
