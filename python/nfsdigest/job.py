# SPDX-License-Identifier: GPL-2.0-or-later
"""The work of nfsdigest.digest: what is known stands in OUT/_digest, Job.next() says what can be done now, and
run_task() does it, here or elsewhere.

    job.json               what was asked for
    pieces/NAME/           of "nfsdigest piece"; row.json says what was made
    parts/NAME/            of the data set; row.json has what was counted
    redo.json              pieces to be made again, and in which round
    set/, manifest.json    the data set before it comes to OUT

A folder appears under its name once it is complete.
"""

import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import tempfile

from nfsdigest import pieces
from nfsdigest._library import NOT_UTF8, Error, is_utf8, row_text
from nfsdigest.pieces import Refused

FORMAT = 1  # of OUT/_digest


def run_task(task):
    """Runs a task, on any machine that has the captures and OUT under the same names.  Returns its row.  What cannot
    be mended by trying again is a row with "error"."""
    try:
        found = pieces.version()
        if found != task["version"]:
            raise Refused(3, f"this machine has {found}, and the work was begun by {task['version']}")
        folder = pathlib.Path(task["folder"])
        if task["kind"] == "piece":
            return pieces.make(pieces.Piece(**task["piece"]), task["capture"], folder / "pieces", task["options"],
                               task["before"], task["previous"], task["round"])
        if "row" in task and json.loads((folder / "pieces" / task["name"] / "row.json").read_text()) != task["row"]:
            raise Refused(4, f"{task['name']}: was made again by another program meanwhile")
        made = pathlib.Path(tempfile.mkdtemp(prefix=pieces.TEMPORARY, dir=folder / "parts"))
        try:
            row = _make_part(task, folder / "pieces", made)
            (made / "row.json").write_text(json.dumps(row))
            pieces.replace_folder(made, folder / "parts" / task["name"])
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return row
    except (Refused, Error) as error:
        return {"task": task["name"], "error": str(error), "code": error.code}
    except OSError as error:
        if error.errno is None:  # a program that was killed: perhaps another machine has more memory
            raise
        return {"task": task["name"], "error": str(error), "code": 4}


def _make_part(task, folder, made):
    """Makes a part of the data set in the folder |made|, of the pieces in |folder|."""
    from nfsdigest import place  # pyarrow

    where = place.Place(task["shift"], task["bases"])
    nfsr = folder / task["name"] / f"{task['name']}.nfsr"
    if task["kind"] == "rest":
        return place.write_rest(nfsr, made, task["name"], where, task["problems"])
    if task["kind"] == "server":
        nfsr = made / "names.nfsr"
        listed = made / "names.list"
        listed.write_text("".join(f"{name}/{name}\n" for name in task["pieces"]))
        pieces.run("names", *task["server"], "-o", nfsr, "--list", listed, cwd=folder)
        listed.unlink()
    row = place.write(nfsr, made, task["name"], where, own=task["own"], first=task["first"], bodies=task["bodies"])
    if task["kind"] == "server":
        nfsr.unlink()
    return row


class Job:
    """The work on one data set.  Only one process at a time has it."""

    def __init__(self, out):
        self.out = pathlib.Path(os.path.abspath(out))
        if not is_utf8(self.out):
            raise Refused(2, f"{row_text(out)}: {NOT_UTF8}")
        if self.out.exists() and not self.out.is_dir():
            raise Refused(2, f"{row_text(out)}: a file, where the folder OUT was expected: it is the last name")
        self.folder = self.out / "_digest"
        self.failed = {}  # tasks with errors, of this run

    def begin(self, captures, size=pieces.SIZE, options=(), partial=False, bodies=False, names=True):
        """Plans the work, or takes up what was begun.  Refuses another job than that."""
        job = {"format": FORMAT, "version": pieces.version(), "captures": pieces.captures_of(captures),
               "size": size, "options": list(options), "partial": partial, "bodies": bodies, "names": names}
        for known in (self.folder / "job.json", self.out / "_manifest.json"):
            if known.exists():
                self._same(job, json.loads(known.read_text())["job"], known)
                break
        else:
            if self.out.exists() and any(self.out.glob("*/*.parquet")):
                raise Refused(2, f"{self.out}: has another data set: name a new folder")
            for name in ("pieces", "parts"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            pieces.write_json(self.folder / "job.json", {"job": job})
        self.load()

    def _same(self, job, known, where):
        for key, value in job.items():
            if known.get(key) == value:
                continue
            if key == "captures":
                other = next((a["path"] for a, b in zip(value, known[key]) if a != b), "their number")
                raise Refused(2, f"{where}: is of other captures, or they were changed since: {other}")
            raise Refused(2, f"{where}: was begun with another {key}: {known.get(key)}, not {value}")

    def load(self):
        """Takes up what --plan or an earlier run has begun."""
        where = self.folder / "job.json"
        if not where.exists():
            where = self.out / "_manifest.json"
        if not where.exists():
            raise Refused(2, f"{self.out}: nothing is planned there")
        self.job = json.loads(where.read_text())["job"]
        if self.is_done():
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        self.lock()
        for name in ("", "pieces", "parts"):
            pieces.sweep(self.folder / name)

    def lock(self, how=fcntl.LOCK_EX):
        """Tasks that are run by hand share it."""
        self.locked = open(self.folder / "lock", "w")
        try:
            fcntl.flock(self.locked, how | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(2, f"{self.out}: another program works there") from None

    def is_done(self):
        return (self.out / "_manifest.json").exists()

    def manifest(self):
        return json.loads((self.out / "_manifest.json").read_text())

    def _rows(self, kind):
        found = {}
        for path in (self.folder / kind).glob("*/row.json"):
            found[path.parent.name] = json.loads(path.read_text())
        return found

    def _task(self, kind, name, **more):
        return {"kind": kind, "name": name, "folder": str(self.folder), "version": self.job["version"], **more}

    def _piece_task(self, piece, previous=None, number=0):
        captures = self.job["captures"]
        before = captures[piece.source - 1]["path"] if piece.source else None
        return self._task("piece", piece.name, piece=dataclasses.asdict(piece), capture=captures[piece.source],
                          before=before, options=self.job["options"], previous=previous, round=number)

    def _alive(self, rows):
        """The pieces without those behind a place where their capture is cut."""
        planned, cut = pieces.plan(self.job["captures"], self.job["size"]), {}
        alive = []
        for piece in planned:
            if piece.source in cut:
                continue
            alive.append(piece)
            row = rows.get(piece.name)
            if row and row["cut"]:
                if not self.job["partial"]:
                    raise Refused(3, f"{row['note']}: --partial takes what stands before that place")
                cut[piece.source] = row
        alive[-1].last = True
        return alive, cut

    def next(self):
        """The tasks that can run now, at the same time.  None: all is done."""
        if self.is_done():
            return []
        rows = self._rows("pieces")
        alive, self.cut = self._alive(rows)
        tasks = [self._piece_task(piece, rows.get(piece.name, {}).get("continues"),
                                  rows.get(piece.name, {}).get("round", 0)) for piece in alive
                 if piece.name not in rows or rows[piece.name]["last"] != piece.last]
        return self._checked(tasks or self._redo(alive, rows) or self._parts(alive, rows) or
                             self._servers(alive, rows) or self._finish(alive, rows))

    def _checked(self, tasks):
        for task in tasks:
            if task["name"] in self.failed:
                row = self.failed[task["name"]]
                raise Refused(row["code"], row["error"])
        return tasks

    def _redo(self, alive, rows):
        """Pieces that must be made again.  One that continues another one waits for that."""
        where = self.folder / "redo.json"
        redo = json.loads(where.read_text()) if where.exists() else {"round": 0, "pieces": []}
        names = [piece.name for piece in alive]
        pending = {number for number in redo["pieces"] if rows[names[number]]["round"] < redo["round"]}
        if not pending:
            found = pieces.join(names, self.folder / "pieces")
            self.joined, self.stopped = found["pieces"], found["stopped"]
            chosen = _again([v["verdict"] for v in self.joined], [rows[name]["continues"] for name in names])
            if not chosen:
                return []
            redo = {"round": redo["round"] + 1, "pieces": chosen}
            pieces.write_json(where, redo)
            pending = set(chosen)
        return [self._piece_task(alive[number], names[number - 1], redo["round"]) for number in sorted(pending)
                if number - 1 not in pending]

    def bases(self, alive, rows):
        """The frames before each capture."""
        frames = [0] * len(self.job["captures"])
        for piece in alive:
            frames[piece.source] += rows[piece.name]["frames"]
        return [sum(frames[:source]) for source in range(len(frames))]

    def _parts(self, alive, rows):
        """A part of the data set for each piece, or with names, of what the servers' streams do not have."""
        made, bases, tasks = self._rows("parts"), self.bases(alive, rows), []
        for piece, joined in zip(alive, self.joined):
            if piece.name in made:
                continue
            task = self._task("rest", piece.name, row=rows[piece.name], shift=joined["frame_shift"],
                              bases=bases[:piece.source + 1], problems=self._by_server())
            if not self.job["names"]:
                own = {"operations": rows[piece.name]["operations"], "unfinished": joined["unfinished"]}
                task.update(kind="part", own=own, bodies=self.job["bodies"], first=piece is alive[0])
            tasks.append(task)
        return tasks

    def _by_server(self):
        """Not if servers have several addresses: then one task has all of them."""
        return not any(option.startswith("--same-server") for option in self.job["options"])

    def _servers(self, alive, rows):
        """A part of the data set for each server, with the paths that its whole past gives."""
        if not self.job["names"]:
            return []
        made, bases, tasks = self._rows("parts"), self.bases(alive, rows), []
        servers = sorted({server for row in made.values() for server in row.get("servers", [])})
        wanted = {f"server-{server.replace(':', '_')}": ["--server", server] for server in servers}
        if not self._by_server():
            wanted = {"servers": []}
        elif not servers:  # a capture without RPC has tables, too
            wanted = {"server-none": ["--server", "0.0.0.0"]}
        for name, server in wanted.items():
            if name not in made:
                tasks.append(self._task("server", name, server=server, pieces=[piece.name for piece in alive], shift=0,
                                        bases=bases, own=None, bodies=self.job["bodies"], first=name == min(wanted)))
        return tasks

    def _finish(self, alive, rows):
        from nfsdigest import publish  # pyarrow

        publish.publish(self, alive, rows, self._rows("parts"))
        return []

    def run(self, runner, tell=lambda text: None):
        """Runs all tasks.  |runner| takes tasks, and gives their rows, in any order."""
        while tasks := self.next():
            tell(_describe(tasks))
            for row in runner(tasks):
                if "error" in row:
                    self.failed[row["task"]] = row
        return self.manifest()


def _again(verdicts, continues):
    """Numbers of the pieces to be made again, in their order, and of those that continue one of them."""
    chosen = set()
    for number, verdict in enumerate(verdicts):
        if verdict == "exact" or number in chosen:
            continue
        if continues[number]:  # the cause is older
            while number > 1 and continues[number - 1]:
                number -= 1
            number = max(number - 1, 1)
        chosen.add(number)
    for number in range(1, len(verdicts)):
        if continues[number] and number - 1 in chosen:
            chosen.add(number)
    return sorted(chosen)


def _describe(tasks):
    if tasks[0]["kind"] != "piece":
        return f"{len(tasks)} {'servers' if tasks[0]['kind'] == 'server' else 'parts of the data set'}"
    return f"{len(tasks)} pieces{' to be made again' if tasks[0]['previous'] else ''}"
