# SPDX-License-Identifier: GPL-2.0-or-later
"""Digests large captures into a Parquet data set, in tasks that can run anywhere:

    python -m nfsdigest.digest CAPTURE... OUT              all of it, on this machine
    python -m nfsdigest.digest --plan CAPTURE... OUT       only decides what is to be done
    python -m nfsdigest.digest --next OUT                  prints the tasks that can run now; none: OUT is done
    python -m nfsdigest.digest --task NAME OUT             runs one of them

nfsdigest.spark runs the same tasks on Apache Spark.  All that is known stands in OUT/_digest: a task makes a folder
there, which appears under its name once it is complete.  So a run that was ended goes on where it was.  OUT itself
gets its tables at the end, and OUT/_manifest.json last.
"""

import argparse
import concurrent.futures
import fcntl
import json
import os
import sys

from nfsdigest import pieces
from nfsdigest._library import Error
from nfsdigest.job import Job, run_task
from nfsdigest.pieces import Refused

STOPPED = 10  # connections that are told of


def local(jobs, show=lambda done, of: None):
    """A runner with |jobs| processes on this machine."""
    def runner(tasks):
        with concurrent.futures.ProcessPoolExecutor(min(jobs, len(tasks))) as pool:
            waiting = [pool.submit(run_task, task) for task in tasks]
            for number, done in enumerate(concurrent.futures.as_completed(waiting)):
                try:
                    yield done.result()
                except concurrent.futures.process.BrokenProcessPool:
                    raise Refused(4, "a process was killed; the same command goes on") from None
                show(number + 1, len(tasks))
    return runner


def progress(done, of):
    """On stderr: a line that changes on a terminal."""
    if sys.stderr.isatty():
        print(f"\r  {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)
    elif done == of or done * 10 // of != (done - 1) * 10 // of:
        print(f"  {done} of {of}", file=sys.stderr, flush=True)


def say(text):
    print(f"nfsdigest: {text}", file=sys.stderr, flush=True)


def size(text):
    """Bytes: a number with k, M or G."""
    unit = {"k": 10, "M": 20, "G": 30}.get(text[-1:], 0)
    number = int(text[:-1] if unit else text) << unit
    if number < 4096:
        raise ValueError(text)
    return number


def count(text):
    """At least one."""
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def add_arguments(parser):
    parser.add_argument("files", nargs="+", metavar="CAPTURE", help="captures that follow each other, in order; "
                        "the last name is that of the folder OUT")
    parser.add_argument("--piece-size", type=size, default="1G", metavar="SIZE",
                        help="of the pieces that captures are cut into; k, M and G are units of 1024 (default: 1G)")
    parser.add_argument("--partial", action="store_true", help="take what stands before the place where a capture "
                        "is cut or damaged; the rest of that file is a gap, recorded in OUT/_manifest.json")
    parser.add_argument("--bodies", action="store_true", help="also what operations carry: arguments, results, "
                        "digests of contents")
    parser.add_argument("--no-names", action="store_false", dest="names", help="write a part for each piece, not for each "
                        "server: faster, but paths are only those that a piece alone could find")
    parser.add_argument("--option", action="append", default=[], metavar="OPTION", dest="options",
                        help='passed to "nfsdigest piece", as --option=--rpc-port=2050; can be given several times')


def begin(given):
    if len(given.files) < 2:
        raise Refused(2, "name captures, and the folder OUT")
    job = Job(given.files[-1])
    job.begin(given.files[:-1], given.piece_size, given.options, given.partial, given.bodies, given.names)
    return job


def ended(work):
    """Calls |work|, and returns the exit code."""
    try:
        return work()
    except (Refused, Error) as error:
        say(error)
        return error.code
    except OSError as error:
        say(error)
        return 4
    except KeyboardInterrupt:
        say("ended; the same command goes on")
        return 130


def finished(manifest, out=None):
    """Tells what was made, on stdout or |out|.  Returns the exit code."""
    from nfsdigest import summary

    print(summary.text(manifest), end="", file=out)
    for gap in manifest["gaps"]:
        say(f"not read: {gap['note']}")
    stopped = manifest.get("stopped", [])
    for connection in stopped[:STOPPED]:
        say(f"the connection between {connection} stopped inside a message or at a hole: what one run finds in it "
            "later may be missing")
    if stopped[STOPPED:]:
        say(f"so did {len(stopped) - STOPPED} others: _manifest.json names them")
    return 3 if manifest["gaps"] else 0


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m nfsdigest.digest", usage="python -m nfsdigest.digest "
                                     "[OPTION...] [CAPTURE...] OUT", description="Digests large captures into a Parquet "
                                     "data set, in pieces.")
    add_arguments(parser)
    parser.add_argument("--jobs", type=count, default=os.cpu_count(), metavar="N", help="processes (default: all cores)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--plan", action="store_true", help="only decide what is to be done")
    what.add_argument("--next", action="store_true", help="print the tasks that can run now, one a line; if there are "
                      "none, complete OUT")
    what.add_argument("--task", metavar="NAME", help="run one of these")
    given = parser.parse_args(arguments)
    return ended(lambda: _main(given))


def _main(given):
    if given.task:
        job = Job(given.files[-1])
        known = job.folder / "tasks.json"
        tasks = json.loads(known.read_text()) if known.exists() else {}
        if given.task not in tasks:
            raise Refused(2, f"{given.task}: no task that --next named in {given.files[-1]}")
        job.lock(fcntl.LOCK_SH)
        row = run_task(tasks[given.task])
        if "error" in row:
            raise Refused(row["code"], row["error"])
        return 0
    if given.next:
        job = Job(given.files[-1])
        job.load()
        tasks = job.next()
        if tasks:
            pieces.write_json(job.folder / "tasks.json", {task["name"]: task for task in tasks})
            print("\n".join(task["name"] for task in tasks))
            return 0
        return finished(job.manifest(), sys.stderr)
    job = begin(given)
    if given.plan:
        return 0
    return finished(job.run(local(given.jobs, progress), say))


if __name__ == "__main__":
    sys.exit(main())
