# SPDX-License-Identifier: GPL-2.0-or-later
"""Cuts captures into pieces, and runs "nfsdigest piece" and "nfsdigest join" for them.

A piece is a folder NAME with NAME.nfsr, NAME.border, NAME.state and row.json, which says what was made.  The folder
appears under its name once all of that is complete.  The programs do the work; nothing here reads packets.
"""

import dataclasses
import errno
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

MAGICS = {bytes.fromhex(magic) for magic in (
    "a1b2c3d4 d4c3b2a1 a1b23c4d 4d3cb2a1 a1b2cd34 34cdb2a1 0a0d0d0a").split()}  # of files that can be cut
TEMPORARY = ".tmp-"
SIZE = 1 << 30  # bytes of a piece
REPLACED = 20  # attempts to put a folder in the place of another


class Refused(Exception):
    """What was asked for cannot be done; |code| is the exit code: 2 usage, 3 input, 4 system."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


@dataclasses.dataclass
class Piece:
    """Bytes |start| to |end| (None: its end) of the capture of the number |source|, from 0."""

    name: str
    source: int
    start: int = 0
    end: int = None
    last: bool = False

    def arguments(self):
        range_ = ["--from", str(self.start)] if self.start else []
        range_ += ["--to", str(self.end)] if self.end is not None else []
        return range_ + (["--last"] if self.last else [])


def program():
    return os.environ.get("NFSDIGEST") or "nfsdigest"


def run(*arguments, codes=(0,), cwd=None):
    """The output of nfsdigest.  Raises Refused with what it said and its exit code."""
    try:
        done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd,
                              errors="replace")
    except OSError as error:
        raise Refused(4, f"{program()}: {error.strerror}: install nfsdigest, or set NFSDIGEST to its path") from None
    if done.returncode < 0:  # by a signal: not the input's fault
        raise OSError(f"nfsdigest {arguments[0]} was ended by signal {-done.returncode}")
    if done.returncode not in codes:
        text = done.stderr.strip().rpartition("\n")[2]
        raise Refused(done.returncode, text.removeprefix("nfsdigest: ") or f"nfsdigest {arguments[0]} failed")
    return done


def version():
    return run("--version").stdout.strip()


def identity(path):
    """What says that a capture is still the one that was planned."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise Refused(3, f"{path}: {error.strerror}") from None
    return {"path": os.path.abspath(path), "size": status.st_size, "mtime": status.st_mtime_ns}


def captures_of(paths):
    """Identities of all captures.  Refuses one that is missing or given twice."""
    found, seen = [], {}
    for path in paths:
        found.append(identity(path))
        if not os.path.isfile(path):
            raise Refused(3, f"{path}: not a file")
        key = os.path.realpath(path)
        if key in seen:
            raise Refused(2, f"{path}: given twice" if seen[key] == path else f"{path}: the same file as {seen[key]}")
        seen[key] = path
    return found


def can_be_cut(path):
    with open(path, "rb") as file:
        return file.read(4) in MAGICS


def plan(captures, size=SIZE):
    """The pieces of captures that follow each other, of about |size| bytes each."""
    pieces = []
    for source, capture in enumerate(captures):
        count = max(1, round(capture["size"] / size)) if can_be_cut(capture["path"]) else 1
        borders = [capture["size"] * number // count for number in range(count)] + [None]
        for start, end in zip(borders, borders[1:]):
            pieces.append(Piece(f"p{len(pieces):06d}", source, start, end))
    pieces[-1].last = True
    return pieces


def replace_folder(made, folder):
    """Puts the folder |made| in the place of |folder|, which may be there."""
    made, folder = pathlib.Path(made), pathlib.Path(folder)
    for left in reversed(range(REPLACED)):
        try:
            os.rename(made, folder)
            return
        except OSError as error:
            # only another attempt of the same task can put one there each time
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY) or not left:
                raise
        old = tempfile.mkdtemp(prefix=TEMPORARY + "old-", dir=folder.parent)
        try:
            os.rename(folder, pathlib.Path(old) / "old")
        except FileNotFoundError:  # another attempt of the same task was faster
            pass
        shutil.rmtree(old, ignore_errors=True)


def sweep(folder):
    """Removes what tasks that were killed left behind."""
    for left in pathlib.Path(folder).glob(TEMPORARY + "*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def write_json(path, value):
    """Whole, or not at all."""
    temporary = path.with_name(TEMPORARY + path.name)
    temporary.write_text(json.dumps(value, indent=1))
    os.replace(temporary, path)


def check_unchanged(capture):
    if identity(capture["path"]) != capture:
        raise Refused(3, f"{capture['path']}: was changed since the work began")


def make(piece, capture, folder, options=(), before=None, previous=None, number=0):
    """Makes |piece| of |capture| in |folder|.  before: the capture before it.  previous: the piece before it, if this
    one goes on with the state at its end.  number: of the round in which it is made.  Returns what was made."""
    folder = pathlib.Path(folder)
    check_unchanged(capture)
    made = pathlib.Path(tempfile.mkdtemp(prefix=TEMPORARY, dir=folder))
    try:
        arguments = piece.arguments() + list(options)
        if previous:
            arguments += ["--continue", folder / previous / previous]
        elif before and not piece.start:
            arguments += ["--before", before]
        done = run("piece", "--json", "-o", made / piece.name, *arguments, capture["path"], codes=(0, 3))
        if not (made / f"{piece.name}.border").exists():  # nothing could be read
            raise Refused(3, done.stderr.strip().removeprefix("nfsdigest: "))
        row = json.loads(done.stdout)
        row.update(piece=piece.name, source=piece.source, last=piece.last, continues=previous, round=number,
                   note=done.stderr.strip().rpartition("\n")[2].removeprefix("nfsdigest: ") if row["cut"] else None)
        check_unchanged(capture)
        (made / "row.json").write_text(json.dumps(row))
        replace_folder(made, folder / piece.name)
        return row
    finally:
        shutil.rmtree(made, ignore_errors=True)


def join(names, folder):
    """What "nfsdigest join" says: "pieces" has a verdict for each, "stopped" the connections of which something may be
    missing."""
    with tempfile.NamedTemporaryFile("w", prefix=TEMPORARY, dir=folder) as listed:  # too many for a command line
        listed.writelines(f"{name}/{name}\n" for name in names)
        listed.flush()
        done = run("join", "--json", "--list", listed.name, codes=(0, 1), cwd=folder)
    return json.loads(done.stdout)
