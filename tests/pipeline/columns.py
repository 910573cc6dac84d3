#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: asan cost=6
"""libnfsdigest and the Python package: every column of every table, of captures, .nfsr streams and databases,
in both profiles, equals what SQL says of the database that "nfsdigest ingest" makes of the same file.  Also:
several captures as one trace, cut and empty ones, streams that nobody reads, and what readers of Arrow streams
make of them."""
import ctypes
import gc
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import python_package  # noqa: E402

python_package.use()

import pyarrow as pa  # noqa: E402

import nfsdigest  # noqa: E402
from nfsdigest._library import capsule, columns, row_text, tables  # noqa: E402

BOOLEANS = {"valid", "differs", "is_reply"}
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def run(*arguments):
    return subprocess.run([database.program()] + [str(a) for a in arguments], capture_output=True,
                          text=True, check=False)


def signed(value):
    """As SQLite stores unsigned numbers of 64 bits."""
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def rows_of(table):
    values = []
    for column in table.columns:
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        values.append([signed(v) for v in column.to_pylist()])
    return list(zip(*values)) if table.num_rows else []


def rows_in(connection, name, sql):
    described = columns(name)
    text = ",".join(expression if expression != column else "o." + column
                    for column, expression, _ in described)
    found = []
    for row in connection.execute(f"SELECT {text} FROM {sql} o"):
        found.append(tuple(
            bool(value) if described[i][0] in BOOLEANS else
            str(value) if isinstance(value, int) and described[i][0].endswith("_name") else value
            for i, value in enumerate(row)))
    return found


def compare(what, trace, connection, ordered):
    for name, sql in tables():
        table = getattr(trace, name)().to_arrow()
        table.validate(full=True)
        got, wanted = rows_of(table), rows_in(connection, name, sql)
        check(sorted(got, key=repr) == sorted(wanted, key=repr), f"{what}: {name}: {len(got)} rows "
              f"of {len(wanted)}; the first that differ: {differing(got, wanted)}")
        check(not ordered or got == wanted, f"{what}: {name}: another order")


def differing(got, wanted):
    for pair in zip(sorted(got, key=repr), sorted(wanted, key=repr)):
        if pair[0] != pair[1]:
            return pair
    return None


def one_file(folder, capture):
    """A capture, the .nfsr stream made of it, and databases of both."""
    stored, stream, streamed = folder / "c.db", folder / "c.nfsr", folder / "n.db"
    for made in (stored, stream, streamed):
        made.unlink(missing_ok=True)
    run("ingest", stored, capture)
    run("record", "-o", stream, capture)
    run("ingest", streamed, stream)
    for profile in ("arrow", "plain"):
        for path, source in ((capture, stored), (stream, streamed), (stored, stored)):
            with sqlite3.connect(source) as connection, \
                    nfsdigest.open(path, profile=profile, partial=True) as trace:
                compare(f"{capture.name}: {path.suffix} {profile}", trace, connection, path == stored)


def several(folder):
    """Captures that go on are one trace, and their frames are counted in each."""
    whole = folder / "whole.pcap"
    with open(whole, "wb") as out:
        subprocess.run(["zstd", "-dcq", CAPTURES / "knfsd-netem-tcp.pcap.zst"], stdout=out, check=True)
    data = whole.read_bytes()
    at, cuts, packets = 24, [], 0
    while at < len(data):
        at += 16 + int.from_bytes(data[at + 8:at + 12], "little")
        packets += 1
        if packets % 777 == 0:
            cuts.append(at)
    parts = []
    for number, (start, end) in enumerate(zip([24] + cuts, cuts + [len(data)])):
        parts.append(folder / f"part{number}.pcap")
        parts[-1].write_bytes(data[:24] + data[start:end])
    check(len(parts) > 3, "the capture is too short to be cut")
    stored = folder / "several.db"
    run("ingest", stored, *parts)
    with sqlite3.connect(stored) as connection, nfsdigest.open(*parts) as trace:
        compare("several captures", trace, connection, False)


def cut_sources(folder):
    """The table of sources says of cut files what ingest says, and of streams made of cut captures."""
    whole = (folder / "whole.pcap").read_bytes()
    cut, stream, cut_stream = folder / "cut.pcap", folder / "of_cut.nfsr", folder / "cut_too.nfsr"
    cut.write_bytes(whole[:len(whole) // 2 + 5])
    run("record", "-o", stream, cut)
    cut_stream.write_bytes(stream.read_bytes()[:-3000])
    for path in (cut, stream, cut_stream):
        stored = folder / f"{path.name}.db"
        run("ingest", stored, path)
        with sqlite3.connect(stored) as connection, nfsdigest.open(path, partial=True) as trace:
            wanted = rows_in(connection, "sources", "source")
            got = rows_of(trace.sources().to_arrow())
            check(got == wanted and wanted[0][3] == "cut" and wanted[0][4], f"{path.name}: {got}, not {wanted}")


def errors(folder):
    cut = folder / "cut.nfsr"
    whole = folder / "whole.nfsr"
    run("record", "-o", whole, CAPTURES / "mem-libnfs-all22.pcap.zst")
    cut.write_bytes(whole.read_bytes()[:-100])
    reader = nfsdigest.open(cut).operations(rows=100).to_batches()
    rows, text = 0, ""
    try:
        for batch in reader:
            rows += batch.num_rows
    except pa.ArrowInvalid as error:
        text = str(error)
    check("truncated at offset" in text, f"a cut stream: {text!r}")
    check(rows == nfsdigest.open(cut, partial=True).operations().to_arrow().num_rows,
          "a cut stream: the rows before the cut")
    for what, words, call in (
            ("no file", "nosuchfile", lambda: nfsdigest.open("/nosuchfile")),
            ("no trace", "neither a capture", lambda: nfsdigest.open(__file__)),
            ("no table", "no table", lambda: nfsdigest.Rows(nfsdigest.open(whole)._handle, "x", None,
                                                             0).to_arrow()),
            ("no column", 'no column "x"', lambda: nfsdigest.open(whole).operations(["x"]).to_arrow()),
            ("a column twice", "named twice",
             lambda: nfsdigest.open(whole).operations(["id", "id"]).to_arrow()),
            ("a profile", "profile=x", lambda: nfsdigest.open(whole, profile="x")),
            ("an option", 'no option "x"', lambda: nfsdigest.open(whole, x=1)),
            ("further streams", "no other file can go on",
             lambda: nfsdigest.open(whole, whole).operations().to_arrow())):
        try:
            call()
            check(False, f"{what}: no error")
        except nfsdigest.Error as error:
            check(words in str(error) and error.code in (2, 3), f"{what}: {error}")


def empty(folder):
    nothing = folder / "empty.pcap"
    nothing.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    with nfsdigest.open(nothing) as trace:
        for name, _ in tables():
            table = getattr(trace, name)().to_arrow()
            check(table.column_names == [c[0] for c in columns(name)], f"empty: columns of {name}")
            check(table.num_rows == 0 or name in ("programs", "procedures", "status_names", "fields",
                                                  "codes", "sources"), f"empty: {table.num_rows} {name}")
        check(trace.sources(["size", "frames"]).to_arrow().to_pylist() == [{"size": 24, "frames": 0}],
              "empty: its source")


def unread(folder):
    """Streams and their parts are released, whoever has them at the end."""
    whole = folder / "whole.nfsr"
    for _ in range(50):
        trace = nfsdigest.open(whole)
        left = trace.operations().__arrow_c_stream__()
        reader = trace.objects().to_batches()
        trace.close()
        first = trace.operations
        del trace, left
        reader.read_next_batch()
        del reader, first
    gc.collect()
    stream = nfsdigest.open(whole)._handle.stream("operations", ["id"], 0)
    taken = pa.RecordBatchReader.from_stream(type("Taken", (), {
        "__arrow_c_stream__": lambda self, requested_schema=None: capsule(stream)})())
    check(taken.read_all().num_rows > 100, "a capsule made by hand")
    open_files = len(os.listdir("/proc/self/fd"))
    check(open_files < 30, f"{open_files} open files")


def readers(folder):
    import duckdb
    import pandas
    import polars

    whole = folder / "whole.nfsr"
    operations = nfsdigest.open(whole).operations()
    wanted = operations.to_arrow().num_rows
    check(duckdb.sql("SELECT count(*) FROM operations").fetchall()[0][0] == wanted, "DuckDB")
    check(polars.DataFrame(operations).height == wanted, "Polars")
    check(len(operations.to_pandas()) == wanted, "pandas, by pyarrow")
    check(len(pandas.DataFrame.from_arrow(operations)) == wanted, "pandas")
    sums = duckdb.sql("SELECT sum(latency)::BIGINT, count(DISTINCT client) FROM operations").fetchall()[0]
    table = operations.to_arrow()
    check(sums == (sum(v for v in table["latency"].to_pylist() if v is not None),
                   len(set(table["client"].to_pylist()))), f"DuckDB's sums: {sums}")


def described():
    for name, _ in tables():
        text = getattr(nfsdigest.Trace, name).__doc__
        for column, _, _ in columns(name):
            check(f"    {column}" in text, f"{name}: nothing about {column}")
    text = nfsdigest.Trace.operations.__doc__
    for words in ("xid", "latest earlier operation that intends to change what this one uses"):
        check(words in text, f"operations: {words!r} is not described:\n{text}")
    # no column of the schema is left out
    connection = sqlite3.connect(":memory:")
    schema = nfsdigest._library.library.nfsdigest_schema().decode()
    connection.executescript(schema[schema.index("--- tables"):schema.index("--- views")])
    for name, sql in tables():
        there = [row[1] for row in connection.execute(f"PRAGMA table_xinfo({sql})")]
        check([c[0] for c in columns(name) if not c[2]] == there, f"columns of {sql}: {there}")


def names():
    """Names of files, whatever Python takes for the encoding of file names."""
    for name, text in ((b"", ""), (b"a b/c", "a b/c"), (b"\\x41", "\\\\x41"), (b"\xc3\xa9\xff", "\xe9\\xff"),
                       (b"\x01\n\x7f", "\\x01\\x0a\\x7f"), (b"\xe2\x80\xae\xed\xa0\x80", "\\xe2\\x80\\xae\\xed\\xa0\\x80")):
        check(row_text(name) == text, f"the text of {name} is {row_text(name)}")
        script = f"from nfsdigest._library import row_text; print(ascii(row_text({name!r})))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PYTHONPATH=str(SRC / "python"), LC_ALL="C", PYTHONUTF8="0",
                                       PYTHONCOERCECLOCALE="0"))
        check(done.stdout == ascii(text) + "\n", f"the text of {name} in the locale C: {done.stdout}{done.stderr}")
    room = ctypes.create_string_buffer(b"?" * 7)
    write = nfsdigest._library.library.nfsdigest_name_text
    for size, left in ((0, b"???????"), (1, b"\0??????"), (5, b"\xc3\xa9\0????"), (7, b"\xc3\xa9\\xff\0")):
        room[:7] = b"?" * 7
        write(b"\xc3\xa9\xff", 3, room, size)
        check(room[:7] == left, f"in {size} bytes: {room[:7]}")


def library():
    """Where the linker finds it, no compiler is asked; where it is not, the message says what to do."""
    def load(**more):
        own = {name: value for name, value in os.environ.items() if name != "NFSDIGEST_LIBRARY"}
        own.update(PATH="/nowhere", PYTHONPATH=str(SRC / "python"), **more)
        return subprocess.run([sys.executable, "-c", "import nfsdigest"], env=own, capture_output=True, text=True,
                              check=False)
    done = load(LD_LIBRARY_PATH=str(python_package.BUILD / "lib"))
    check(done.returncode == 0, f"in LD_LIBRARY_PATH: {done.stderr}")
    done = load(NFSDIGEST_LIBRARY="/nowhere/libnfsdigest.so")
    check("/nowhere/libnfsdigest.so" in done.stderr and "install nfsdigest, or set" in done.stderr,
          f"at a wrong path: {done.stderr}")


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    for capture in ("vfs-libnfs-all22", "knfsd-netem-udp", "knfsd-nlm-locks", "knfsd-snap256"):
        one_file(scratch, CAPTURES / f"{capture}.pcap.zst")
    several(scratch)
    cut_sources(scratch)
    errors(scratch)
    empty(scratch)
    unread(scratch)
    readers(scratch)
    described()
    names()
    library()
sys.exit(1 if failures else 0)
