#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=5
"""python -m nfsdigest.parquet: DuckDB, with schemas/trace_duckdb.sql, finds the same rows in the data set as SQLite
in the database of the same captures; rows are in the order of their times; parts add up; a run that is refused,
fails or is killed leaves the data set as it was; a trace without operations has all tables, too."""
import datetime
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import messages  # noqa: E402
import python_package  # noqa: E402
import traffic  # noqa: E402

python_package.use()

import duckdb  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

from nfsdigest import parquet  # noqa: E402

TABLES = ["operation", "retransmission", "copy", "problem", "connection_event", "object", "path", "name_event",
          "credential", "flow", "source", "counter", "program", "procedure", "status_name", "field", "code"]
# of views, which columns are the same
VIEWS = {
    "op": "id, time, client, server, program, version, procedure, path, path2, offset, count, status, pairing, "
          "latency_ms, uid, xid, call_source, call_frame, reply_source, reply_frame, object, object2, new_object, "
          "depends_on",
    "latency_by_procedure": "program, version, procedure, operations, p50_ms, p90_ms, p99_ms, max_ms",
    "latency_by_client": "client, operations, p50_ms, p90_ms, p99_ms, max_ms",
    "latency_by_path": "path, operations, p50_ms, p90_ms, p99_ms, max_ms",
}
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def package(*arguments, **options):
    return python_package.module("parquet", *arguments, **options)


def opened(folder):
    connection = duckdb.connect()
    connection.execute(f"SET VARIABLE trace = '{folder}'")
    connection.execute((SRC / "schemas/trace_duckdb.sql").read_text())
    return connection


def plain(value):
    """DuckDB has booleans and texts where SQLite has numbers; both give rounded floats."""
    if isinstance(value, bool):
        return int(value)
    return round(value, 9) if isinstance(value, float) else value


def rows(connection, sql):
    return sorted((tuple(plain(v) for v in row) for row in connection.execute(sql).fetchall()), key=repr)


def same(what, columns, view, data, stored):
    """Numbers that stand for unknown names are texts in DuckDB."""
    got, wanted = (rows(c, f"SELECT {columns} FROM {view}") for c in (data, stored))
    if view in VIEWS:
        wanted = sorted((tuple(str(v) if isinstance(g, str) and isinstance(v, int) else v for v, g in zip(w, g))
                         for w, g in zip(wanted, got)), key=repr) if len(got) == len(wanted) else wanted
    check(got == wanted, f"{what}: {view}: {len(got)} rows of {len(wanted)}; the first that differ: "
          f"{next((pair for pair in zip(got, wanted) if pair[0] != pair[1]), None)}")


def compare(what, folder, database_file, bodies):
    data, stored = opened(folder), sqlite3.connect(database_file)
    for table in TABLES:
        names = [row[1] for row in stored.execute(f"PRAGMA table_xinfo({table})")]
        if not bodies and table == "operation":
            names = [name for name in names if name not in parquet.BODIES]
        same(what, ", ".join(f'"{name}"' for name in names), table, data, stored)
    for view, columns in VIEWS.items():
        same(what, ", ".join(f'"{name}"' for name in columns.split(", ")), view, data, stored)


def one(folder, name, *options):
    capture = CAPTURES / f"{name}.pcap.zst"
    stored, data = folder / f"{name}.db", folder / f"{name}.data"
    subprocess.run([database.program(), "ingest", stored, capture], capture_output=True, check=False)
    done = package(capture, "-o", data, *options)
    check(done.returncode == 0, f"{name}: {done.returncode} {done.stderr}")
    compare(name, data, stored, "--bodies" in options)
    for file in data.glob("operations/*/*/*.parquet"):
        times = [call if call is not None else reply for call, reply in
                 zip(*(pq.read_table(file)[n].to_pylist() for n in ("call_time", "reply_time")))]
        check(times == sorted(times), f"{file.name}: not in the order of time")
        check(file.parent.parent.name.startswith("day=20"), f"{file}: no day")
    return data


def listing(folder):
    return {(str(p.relative_to(folder)), p.stat().st_mtime_ns) for p in folder.rglob("*")}


def parts(folder, data):
    """Another capture becomes another part; a part is not overwritten; what fails leaves nothing."""
    before = opened(data).execute("SELECT count(*) FROM op").fetchall()[0][0]
    done = package(CAPTURES / "mem-libnfs-all22.pcap.zst", "-o", data)
    check(done.returncode == 0, f"a second part: {done.stderr}")
    found = opened(data).execute("SELECT part, count(*) FROM op GROUP BY ALL ORDER BY 1").fetchall()
    check(len(found) == 2 and before in [count for _, count in found], f"parts: {found}")
    there = listing(data)
    again = package(CAPTURES / "mem-libnfs-all22.pcap.zst", "-o", data)
    check(again.returncode == 2 and "--part" in again.stderr, f"the same part again: {again.stderr}")
    for name in ("../outside", ".hidden", "_hidden"):
        wrong = package(CAPTURES / "mem-libnfs-all22.pcap.zst", "-o", data, "--part", name)
        check(wrong.returncode == 2 and name in wrong.stderr, f"part {name}: {wrong.returncode} {wrong.stderr}")
    cut = folder / "cut.pcap"
    with open(cut, "wb") as out:
        whole = subprocess.run(["zstd", "-dcq", CAPTURES / "knfsd-netem-udp.pcap.zst"],
                               stdout=subprocess.PIPE, check=True).stdout
        out.write(whole[:len(whole) // 2 + 7])
    failed = package(cut, "-o", data)
    check(failed.returncode == 3 and "cut.pcap" in failed.stderr, f"a cut capture: {failed.stderr}")
    check(listing(data) == there, f"left behind: {listing(data) ^ there}")
    partial = package(cut, "-o", data, "--partial")
    check(partial.returncode == 3 and (data / "counters/cut.parquet").exists(), f"--partial: {partial.stderr}")


def killed(folder, data):
    """A run that was killed leaves a folder that nobody reads, and that its next run removes."""
    there = {name for name, _ in listing(data)}
    fifo = folder / "waits.pcap"
    os.mkfifo(fifo)
    environment = dict(os.environ, PYTHONPATH=str(SRC / "python"))
    run = subprocess.Popen([sys.executable, "-m", "nfsdigest.parquet", fifo, "-o", data], env=environment)
    with open(fifo, "wb") as out:
        out.write(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000") + bytes(1 << 17))
        out.flush()
        for _ in range(600):
            if list(data.glob(".part-waits-*/counters/*")):
                break
            time.sleep(0.05)
        run.send_signal(signal.SIGKILL)
        run.wait()
    left = {name for name, _ in listing(data)} - there
    check(left and all(name.startswith(".part-waits-") for name in left), f"after a kill: {left}")
    opened(data).execute("SELECT count(*) FROM operation").fetchall()
    fifo.unlink()
    other = data / ".part-waits-more-abcdefgh"  # of a run of another part, which may go on
    other.mkdir()
    package(CAPTURES / "mem-libnfs-all22.pcap.zst", "-o", data, "--part", "waits")
    check(list(data.glob(".part-*")) == [other], f"left: {list(data.glob('.part-*'))}")


FRAMES = {"operation": ("call_frame", "call_first_frame", "reply_frame", "reply_first_frame"),
          "retransmission": ("frame", "first_frame"), "problem": ("frame",), "flow": ("frame",), "object": ("frame",),
          "connection_event": ("frame", "last_frame")}


def with_holes(name, path):
    """The capture without each 97th packet: its streams have holes, which are problems."""
    data = subprocess.run(["zstd", "-dcq", CAPTURES / name], stdout=subprocess.PIPE, check=True).stdout
    kept, at, number = [data[:24]], 24, 0
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8:at + 12], "little")
        number += 1
        if number % 97:
            kept.append(data[at:end])
        at = end
    path.write_bytes(b"".join(kept))


def shifted(folder):
    """Frames of a piece of a capture are counted from where the capture begins; 0 is no frame."""
    with_holes("knfsd-netem-tcp.pcap.zst", folder / "holes.pcap")
    met = set()
    for capture in (folder / "holes.pcap", CAPTURES / "knfsd-netem-udp.pcap.zst"):
        stream = folder / "piece.nfsr"
        subprocess.run([database.program(), "record", "-o", stream, capture], stderr=subprocess.DEVNULL, check=True)
        found = []
        for shift in ("0", "1000000"):
            data = folder / f"{capture.name}{shift}"
            done = package(stream, "-o", data, "--frame-shift", shift)
            check(done.returncode == 0, f"--frame-shift {shift}: {done.stderr}")
            found.append({f"{table}.{name}": [
                row[0] - int(shift) if row[0] is not None else None
                for row in opened(data).execute(f"SELECT {name} FROM {table} ORDER BY 1").fetchall()]
                for table, names in FRAMES.items() for name in names})
        for name, values in found[0].items():
            met |= {name} if values else set()
            check(values == found[1][name], f"--frame-shift: {name}: {values[:2]}, {found[1][name][:2]}")
    check(len(met) == sum(map(len, FRAMES.values())), f"--frame-shift: columns with frames: {met}")
    for wrong, code in ((stream, 3), (CAPTURES / "mem-libnfs-all22.pcap.zst", 2)):
        done = package(wrong, "-o", folder / "none", "--frame-shift", "-1000")
        check(done.returncode == code and "shifted" in done.stderr, f"--frame-shift: {done.returncode} {done.stderr}")


def days(folder):
    """Rows go to the file of their day and server; also those whose times are unknown."""
    day, rows = 86400 * 10**9, []
    for number in range(40):
        call = None if number % 5 == 0 else (20000 + number % 3) * day - 2 + number
        rows.append({"id": number, "call_time": call, "reply_time": None if number % 10 == 0 else 20005 * day + number,
                     "server": "fd00::1" if number % 4 == 0 else "10.0.0.1"})
    columns = [(name, pa.int64()) for name in ("id", "call_time", "reply_time")] + [("server", pa.string())]
    data = parquet.DataSet(folder / "days", "part", 1, 65536)
    for first in 0, 20:
        data.add_operations(pa.RecordBatch.from_pylist(rows[first:first + 20], pa.schema(columns)))
    data.finish()
    wanted, found = {}, {}
    for row in rows:
        when = row["call_time"] if row["call_time"] is not None else row["reply_time"]
        text = "unknown" if when is None else str(datetime.date(1970, 1, 1) + datetime.timedelta(days=when // day))
        wanted.setdefault(f"day={text}/server={row['server'].replace(':', '%3A')}", []).append(row["id"])
    for file in folder.glob("days/operations/*/*/part.parquet"):
        found[f"{file.parent.parent.name}/{file.parent.name}"] = sorted(
            pq.read_table(file, partitioning=None)["id"].to_pylist())
    check(len(wanted) > 6 and found == wanted, f"days and servers: {found}, not {wanted}")


def taken(folder):
    """A part whose name is that of another part's second file keeps its rows."""
    columns = pa.schema([(name, pa.int64()) for name in ("id", "call_time", "reply_time")] + [("server", pa.string())])
    for part in "day.1", "day":
        data = parquet.DataSet(folder / "taken", part, 1, 65536)
        for _ in range(2):
            rows = [{"id": n, "call_time": n, "reply_time": n, "server": f"10.0.0.{n}"} for n in range(parquet.OPEN + 2)]
            data.add_operations(pa.RecordBatch.from_pylist(rows, columns))
        data.finish()
    found = duckdb.sql(f"SELECT part, count(*) FROM read_parquet('{folder}/taken/*/*/*/*.parquet') GROUP BY 1 ORDER BY 1")
    want = [(part, 2 * (parquet.OPEN + 2)) for part in ("day", "day.1")]
    check(found.fetchall() == want, f"parts with the same names: {found.fetchall()}, not {want}")


def requests(file, count):
    """A capture with |count| operations on one file, of which only the handle is known."""
    trace = traffic.Trace()
    flow = traffic.TcpFlow(trace, "10.0.0.1", 700)
    flow.open()
    for xid in range(1, count + 1):
        flow.reply(flow.call(xid, messages.GETATTR, messages.getattr_args(messages.handle(count))), messages.getattr_res(7))
    trace.write(file)


def named(folder):
    """Names that are not UTF-8: those of captures are taken; Arrow does not open others."""
    odd, data = folder / "a\udcff\\.pcap", folder / "odd"
    requests(odd, 3)
    done = package(odd, "-o", data)
    check(done.returncode == 0, f"a capture whose name is not UTF-8: {done.stderr}")
    found = opened(data).execute("SELECT part, name FROM source").fetchall()
    check(found == [("a%ff%5c", f"{folder}/a\\xff\\\\.pcap")], f"its name: {found}")
    for arguments in ("-o", data, "--part", "b\udcff"), ("-o", folder / "b\udcff"):
        done = package(odd, *arguments)
        check(done.returncode == 2 and "b\\xff: " in done.stderr, f"names that Arrow refuses: {done.stderr}")
    check(not (folder / "b\udcff").exists(), "a folder that Arrow refuses was made")


def unknown(folder):
    """Files of two parts whose paths nobody knows are two files, though both are object 1 there."""
    for count in 2, 3:
        requests(folder / f"{count}.pcap", count)
        package(folder / f"{count}.pcap", "-o", folder / "unknown")
    found = opened(folder / "unknown").execute("SELECT path, operations FROM latency_by_path ORDER BY 2").fetchall()
    check(found == [("[#1]", 2), ("[#1]", 3)], f"unknown paths of two parts: {found}")


def nothing(folder):
    """A trace without operations has their table and its views."""
    (folder / "none.pcap").write_bytes(bytes.fromhex(
        "d4c3b2a1020004000000000000000000ffff000001000000" "f0a0006a000000003c0000003c000000" + "00" * 60))
    done = package(folder / "none.pcap", "-o", folder / "none")
    check(done.returncode == 0, f"no operations: {done.stderr}")
    subprocess.run([database.program(), "ingest", folder / "none.db", folder / "none.pcap"], check=True,
                   capture_output=True)
    compare("no operations", folder / "none", folder / "none.db", False)


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    days(scratch)
    taken(scratch)
    named(scratch)
    unknown(scratch)
    nothing(scratch)
    made = one(scratch, "vfs-libnfs-all22")
    one(scratch, "knfsd-netem-udp", "--bodies")
    one(scratch, "knfsd-snap256", "--rows", "100")
    parts(scratch, made)
    shifted(scratch)
    killed(scratch, made)
sys.exit(1 if failures else 0)
