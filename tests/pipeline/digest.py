#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: slow cost=10
"""python -m nfsdigest.digest: a data set made in pieces has the rows that "nfsdigest ingest" of the whole has, and the
totals of "nfsdigest info"; work that was ended goes on where it was, also task by task; what is wrong is named, and
leaves no half-made tables."""
import errno
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import messages  # noqa: E402
import python_package  # noqa: E402
import traffic  # noqa: E402

python_package.use()

import data_set  # noqa: E402
from cut_cases import Cut, acknowledge  # noqa: E402

import pyarrow as pa  # noqa: E402

from nfsdigest import digest, pieces, place, summary  # noqa: E402

OPTIONS = ["--lead-in", "20000", "--lead-in-time", "0s"]
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def command(*arguments, **options):
    return python_package.module("digest", *arguments, **options)


def unpacked(folder, name):
    file = folder / name.removesuffix(".zst")
    subprocess.run(["zstd", "-dqf", CAPTURES / name, "-o", file], check=True)
    return file


def halves(folder, capture):
    """The capture as two files, of which the second one is compressed."""
    data, at = capture.read_bytes(), 24
    while at < len(data) * 2 // 5:
        at += 16 + int.from_bytes(data[at + 8:at + 12], "little")
    files = [folder / "half0.pcap", folder / "half1.pcap"]
    files[0].write_bytes(data[:at])
    files[1].write_bytes(data[:24] + data[at:])
    subprocess.run(["zstd", "-qf", "--rm", files[1]], check=True)
    return [files[0], folder / "half1.pcap.zst"]


def totals(database_file, manifest, what, names):
    """The summary is that of info.  Pieces do not know of calls sent again what they were, a server's stream does."""
    known = json.loads(subprocess.run([database.program(), "info", "--json", database_file, "--top", "1000"],
                                      capture_output=True, text=True, check=True).stdout)
    found = manifest["summary"]
    for row in known["by_procedure"]:
        row["resent"] = row["resent"] if names else None
    for name, value in found["totals"].items():
        check(known["totals"][0][name] == value, f"{what}: {name}: {value}, not {known['totals'][0][name]}")
    check(found["by_procedure"] == known["by_procedure"], f"{what}: {found['by_procedure']} {known['by_procedure']}")
    check(found["counters"] == {row["name"]: row["value"] for row in known["counters"]}, f"{what}: counters")
    replied = {row["pairing"]: row["operations"] for row in known["pairing"]}
    check({k: v for k, v in found["pairing"].items() if v} == {k: v for k, v in replied.items() if v},
          f"{what}: {found['pairing']}, not {replied}")


def listing(folder):
    return {(str(p.relative_to(folder)), p.stat().st_mtime_ns) for p in folder.rglob("*")}


def same(folder, files, size, name, work, names=True):
    """|work| makes the data set of |files|."""
    out, stored = folder / name, folder / f"{name}.db"
    job = digest.Job(out)
    job.begin(list(map(str, files)), size, OPTIONS, names=names)
    manifest = work(job)
    check(len(manifest["pieces"]) > 2, f"{name}: only {len(manifest['pieces'])} pieces")
    for table, text in data_set.differences(data_set.ingest(files, stored), out, names).items():
        check(False, f"{name}: {table}: {text}")
    totals(stored, manifest, name, names)
    check(not (out / "_digest").exists(), f"{name}: left behind: _digest")
    return out, manifest


def by_itself(job):
    return job.run(digest.local(2))


class Ended(Exception):
    pass


def in_turns(job):
    """Each run is ended before its third task; the last one finds what is missing."""
    ran = []

    def runner(tasks):
        for task in tasks[:2]:
            ran.append((task["name"], task["kind"], task.get("round")))
            yield digest.run_task(task)
        if len(tasks) > 2:
            (job.folder / "pieces" / f"{pieces.TEMPORARY}left").mkdir()
            raise Ended
    for _ in range(100):
        again = digest.Job(job.out)
        job.locked.close()
        again.load()
        check(not list(again.folder.glob(f"*/{pieces.TEMPORARY}*")), "temporary folders were not swept")
        try:
            manifest = again.run(runner)
            break
        except Ended:
            again.locked.close()
    check(len(ran) == len(set(ran)), f"what was there was made again: {ran}")
    return manifest


def by_hand(job):
    """As a batch system would."""
    job.locked.close()
    for _ in range(100):
        tasks = command("--next", job.out)
        check(tasks.returncode == 0, f"--next: {tasks.stderr}")
        if not tasks.stdout:
            break
        for name in tasks.stdout.split("\n")[:-1]:
            done = command("--task", name, job.out)
            check(done.returncode == 0, f"--task {name}: {done.stderr}")
    return job.manifest()


def refused(code, word, *arguments, **options):
    done = command(*arguments, **options)
    check(done.returncode == code and word in done.stderr and "Traceback" not in done.stderr,
          f"{' '.join(map(str, arguments))}: {done.returncode} {done.stderr}")
    return done


def bad_input(folder, capture, finished):
    small = unpacked(folder, "knfsd-nlm-locks.pcap.zst")
    refused(3, "none.pcap", small, folder / "none.pcap", folder / "bad")
    refused(2, "given twice", small, small, folder / "bad")
    (folder / "link.pcap").symlink_to(small)
    refused(2, "the same file", small, folder / "link.pcap", folder / "bad")
    refused(2, "--jobs", "--jobs", 0, small, folder / "bad")
    check(not (folder / "bad").exists(), "refused work left a folder")
    refused(2, "other captures", small, finished)
    (folder / "other").mkdir()
    (folder / "other/operations").mkdir()
    (folder / "other/operations/x.parquet").touch()
    refused(2, "another data set", small, folder / "other")
    # changed since, begun by another version, or with other options; at the same time
    out = folder / "begun"
    check(command("--plan", small, out).returncode == 0, "--plan")
    refused(2, "another partial", "--partial", small, out)
    os.utime(small, ns=(1, 1))
    refused(2, "changed since", small, out)
    known = json.loads((out / "_digest/job.json").read_text())
    known["job"].update(version="nfsdigest 0.0.1", captures=pieces.captures_of([small]))
    (out / "_digest/job.json").write_text(json.dumps(known))
    refused(2, "another version", small, out)
    job = digest.Job(out)
    job.load()
    refused(2, "another program works", "--next", out)
    row = digest.run_task(job.next()[0])
    check("0.0.1" in row.get("error", ""), f"a task of another version: {row}")
    job.locked.close()


def nothing(folder):
    """A capture without packets."""
    empty = folder / "empty.pcap"
    empty.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    done = command(empty, folder / "empty")
    check(done.returncode == 0, f"an empty capture: {done.stderr}")
    if done.returncode == 0:
        manifest = json.loads((folder / "empty/_manifest.json").read_text())
        check(manifest["summary"]["totals"]["operations"] == 0, f"an empty capture: {manifest['summary']}")
        found = data_set.opened(folder / "empty").execute("SELECT count(*), count(call_time) FROM operation").fetchall()
        check(found == [(0, 0)], f"an empty capture: {found}")
        sql = "SELECT name, frames, operations, calls FROM source"
        found = data_set.opened(folder / "empty").execute(sql).fetchall()
        want = data_set.ingest([empty], folder / "empty.db").execute(sql).fetchall()
        check(found == want == [(str(empty), 0, 0, 0)], f"an empty capture: {found}, not {want}")


def damaged(folder, capture):
    """In the middle of a capture: refused, or a gap."""
    data, at = bytearray(capture.read_bytes()), 24
    while at < len(data) // 2:
        at += 16 + int.from_bytes(data[at + 8:at + 12], "little")
    data[at + 8:at + 12] = b"\xff\xff\xff\x7f"
    bad = folder / "bad.pcap"
    bad.write_bytes(data)
    arguments = ["--piece-size", "800k", *(f"--option={o}" for o in ("--lead-in=200000", "--lead-in-time=0s")), bad]
    refused(3, "bad.pcap", *arguments, folder / "damaged")
    check(not list((folder / "damaged").glob("[a-z]*")), "tables of a damaged capture")
    done = refused(3, "not read", "--partial", *arguments, folder / "partial")
    manifest = json.loads((folder / "partial/_manifest.json").read_text())
    check([gap["from"] for gap in manifest["gaps"]] == [at], f"gaps: {manifest['gaps']}, {at}; {done.stderr}")
    differ = data_set.differences(data_set.ingest([bad], folder / "partial.db"), folder / "partial")
    check(not differ, f"--partial: {differ}")


def stopped(folder):
    """Connections at a hole over which nothing more comes are told, as "nfsdigest join" does."""
    cut = Cut()
    ports = range(800, 800 + digest.STOPPED + 2)
    for port in ports:
        flow = cut.tcp(port=port)
        cut.get(flow, port)
        acknowledge(flow)
        cut.ask(flow, 2 * port, lost=True)
        cut.ask(flow, 2 * port + 1)
    cut.get(cut.tcp(port=700), 1)
    cut.noise(300)
    cut.trace.write(folder / "stopped.pcap")
    options = [f"--option={option}" for option in ("--lead-in=2000", "--lead-in-time=0s")]
    done = command("--piece-size", "16k", *options, folder / "stopped.pcap", folder / "stopped")
    found = json.loads((folder / "stopped/_manifest.json").read_text())["stopped"]
    check(found == [f"10.0.0.1 port {port} and 10.0.0.9 port 2049" for port in ports], f"stopped: {found}")
    check(done.returncode == 0 and found[0] in done.stderr and found[-1] not in done.stderr and
          "so did 2 others" in done.stderr, f"stopped: {done.stderr}")


def odd_name(folder):
    """The name of a capture is any bytes; tables have it as one run has."""
    capture = folder / "odd\udcff\\\t.pcap"
    trace = traffic.Trace()
    flow = traffic.UdpFlow(trace, "10.0.0.1", 700)
    flow.pair(1, messages.GETATTR, messages.getattr_args(messages.handle(1)), messages.getattr_res(1))
    trace.write(capture)
    done = command(capture, folder / "odd")
    check(done.returncode == 0, f"a capture whose name is not UTF-8: {done.stderr}")
    sql = "SELECT name FROM source"
    found = data_set.opened(folder / "odd").execute(sql).fetchall()
    want = data_set.ingest([capture], folder / "odd.db").execute(sql).fetchall()
    check(found == want, f"its name: {found}, not {want}")
    refused(2, "odd\\xff: ", capture, folder / "odd\udcff")


def no_folder(folder, capture):
    """OUT was forgotten."""
    other = folder / "other.pcap"
    other.write_bytes(b"")
    for more in ([capture], ["--plan", capture], ["--next"], ["--task", "a"]):
        refused(2, "other.pcap: a file, where the folder OUT was expected", *more, other)
    refused(2, "name captures, and the folder OUT", capture)
    check(command().returncode == 2, "no argument")


def no_room(folder, capture):
    """A full disk: files cannot grow any more."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
    arguments = ["--piece-size", "1M", capture, folder / "full"]
    refused(4, "", *arguments, preexec_fn=limit)
    check({p.name for p in (folder / "full").iterdir()} == {"_digest"}, "a full disk: half-made tables")
    done = command(*arguments)
    check(done.returncode == 0 and (folder / "full/_manifest.json").exists(), f"after a full disk: {done.stderr}")


def replaced(folder):
    """Another folder takes the place of one; when it cannot, the old one stays, and nobody tries for ever."""
    made, place, rename, errors = folder / "made", folder / "place", os.rename, []

    def fails(code):
        def renames(old, new):
            if old == made:
                errors.append(code)
                raise OSError(code, os.strerror(code))
            rename(old, new)
        return renames

    for code, most in (errno.ENOTEMPTY, 100), (errno.EXDEV, 1):
        for path in made, place:
            path.mkdir(exist_ok=True)
            (path / path.name).touch()
        errors.clear()
        os.rename = fails(code)
        try:
            pieces.replace_folder(made, place)
            check(False, f"{os.strerror(code)}: replaced")
        except OSError as error:
            check(error.errno == code, f"{os.strerror(code)}: {error}")
        finally:
            os.rename = rename
        check(0 < len(errors) <= most, f"{os.strerror(code)}: {len(errors)} attempts")
    check((place / "place").exists(), "what could not be replaced is gone")
    pieces.replace_folder(made, place)
    check([p.name for p in place.iterdir()] == ["made"] and not made.exists(), "it was not replaced")
    check(not list(folder.glob(pieces.TEMPORARY + "*")), "replaced: something is left")


def without_operations(folder):
    """Calls that were sent again, in a part without operations: theirs are in another one."""
    tally = summary.Tally()
    place._count_resent(tally, folder, [pa.array([1, 2])])
    check(tally.table().num_rows == 0, "operations that are not there were counted")


COUNTED = """
import pathlib, resource, sys
import pyarrow as pa, pyarrow.parquet as pq
from nfsdigest import publish
folder = pathlib.Path(sys.argv[1])
(folder / "many").mkdir()
with pq.ParquetWriter(folder / "many/all.parquet", pa.schema([("server", pa.string()), ("handle", pa.binary())])) as out:
    rows = pa.table({"server": ["a", "a", "b", "b"] * 50000,
                     "handle": [b"%0100d" % (n % 1000) for n in range(200000)]})  # 22 MB
    for _ in range(30):
        out.write_table(rows.cast(out.schema))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = publish._groups(folder, "many", ["server", "handle"])
print(found.num_rows, sum(found["count"].to_pylist()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def counted(folder):
    """Different objects are counted without the table in memory."""
    done = subprocess.run([sys.executable, "-c", COUNTED, folder], env=dict(os.environ, PYTHONPATH=str(SRC / "python")),
                          capture_output=True, text=True, check=False)
    found = [int(word) for word in done.stdout.split()]
    check(found[:2] == [1000, 6000000] and found[2] < 250000, f"counted {found}: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        replaced(folder)
        without_operations(folder)
        counted(folder)
        capture = unpacked(folder, "knfsd-netem-tcp.pcap.zst")
        files = halves(folder, capture)
        out, manifest = same(folder, files, 300000, "two-files", by_itself)
        check(any(piece["made_again"] for piece in manifest["pieces"]), f"no piece was made again: {manifest['pieces']}")
        there = listing(out)
        arguments = ["--piece-size", "300000", *(f"--option={o}" for o in OPTIONS), *files, out]
        again = command(*arguments)
        check(again.returncode == 0 and listing(out) == there, f"a second run: {again.stderr}")
        # calls that were sent again
        same(folder, [unpacked(folder, "knfsd-netem-udp.pcap.zst")], 250000, "resent", by_itself)
        # replies without a call, of which some wait where a piece ends
        same(folder, [unpacked(folder, "knfsd-snap256.pcap.zst")], 900000, "in-turns", in_turns, names=False)
        same(folder, [unpacked(folder, "load-ganesha-vfs.pcap.zst")], 150000, "by-hand", by_hand)
        nothing(folder)
        bad_input(folder, capture, out)
        damaged(folder, capture)
        stopped(folder)
        odd_name(folder)
        no_folder(folder, capture)
        no_room(folder, capture)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
