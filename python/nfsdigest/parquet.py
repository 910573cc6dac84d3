# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a trace as a Parquet data set:

    python -m nfsdigest.parquet CAPTURE... -o DIR

    DIR/operations/day=2026-11-23/server=10.0.0.1/PART.parquet    sorted by time in row groups
    DIR/objects/PART.parquet, DIR/paths/PART.parquet, ...
    DIR/codes/all.parquet, ...                                    what is the same in every trace

PART is one run of this program; a data set can have several, and the column |part| says which one a row is of.
The columns are those of schemas/trace.sql; times are ns since the epoch.  schemas/trace_duckdb.sql makes the
same tables of it in DuckDB.

Files appear under their names once all of them are complete.  Memory: the row groups that are being filled, one
for each server and day at a time, at most OPEN of them.
"""

import argparse
import datetime
import glob
import inspect
import os
import pathlib
import re
import shutil
import sys
import tempfile
import urllib.parse

if __name__ == "__main__":  # pyarrow loads them where they are; nothing here needs them, and they take 0.4 s
    sys.modules.update(numpy=None, pandas=None)

import pyarrow as pa
import pyarrow.parquet as pq

import nfsdigest
from nfsdigest._kernels import call
from nfsdigest._library import NOT_UTF8, Error, columns, is_utf8, read, row_text, tables

BODIES = {"arguments", "result", "data_digest", "block_digests"}
# texts that other tables have, and what can be calculated
LEFT_OUT = {"program_name", "procedure_name", "status_name", "path_text", "path2_text", "uid", "latency"}
DICTIONARIES = {"programs", "procedures", "status_names", "fields", "codes"}
# The least and greatest values of a row group tell a reader what it can skip, where rows are in their order.
GROWING = {"id", "operation", "call_frame", "call_first_frame", "call_time", "reply_frame", "reply_first_frame",
           "reply_time", "frame", "first_frame", "time"}
# too many different values for a dictionary
VARIED = {"depends_on", "xid", "offset", "object", "new_object", "parent", "path"}
ROWS = 65536  # of a row group
# A column of a row group is one page, if that is below 1 MB.  Newer Arrow begins another one each 20,000 rows, but
# nobody skips pages without an index of them.
PAGES = {"max_rows_per_page": 1 << 30} if "max_rows_per_page" in inspect.signature(pq.ParquetWriter).parameters else {}
OPEN = 16
DAY = 86400 * 10**9
NOWHERE = "operations/day=unknown/server=unknown"  # without rows: readers find the columns of a trace without operations
_TEMPORARY = ".part-"


class Part:
    """A file of the data set while it is written.  Each row is of |name|, unless that is None."""

    def __init__(self, path, schema, name, level):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.name, self.rows, self.batches = path, name, 0, []
        numbers = [field.name for field in schema if pa.types.is_integer(field.type)]
        deltas = [name for name in numbers if name in GROWING | VARIED]
        if name is not None:
            schema = schema.append(pa.field("part", pa.dictionary(pa.int32(), pa.string())))
        self.writer = pq.ParquetWriter(
            path, schema, compression="zstd", compression_level=level,
            use_dictionary=[name for name in schema.names if name not in deltas],
            column_encoding={name: "DELTA_BINARY_PACKED" for name in deltas},
            write_statistics=[name for name in numbers if name in GROWING], store_schema=False, **PAGES)

    def add(self, batch):
        self.batches.append(batch)
        self.rows += batch.num_rows

    def flush(self):
        if not self.rows:
            return
        table = pa.Table.from_batches(self.batches)
        self.batches = []
        if "call_time" in table.column_names:
            when = call("coalesce", table["call_time"], table["reply_time"])
            table = call("take", table, call("array_sort_indices", when.combine_chunks()))
        if self.name is not None:
            numbers = pa.repeat(pa.scalar(0, pa.int32()), self.rows)
            table = table.append_column("part", pa.DictionaryArray.from_arrays(numbers, pa.array([self.name])))
        self.writer.write_table(table, row_group_size=self.rows)
        self.rows = 0

    def close(self):
        self.flush()
        self.writer.close()


class DataSet:
    """The files of one part, in a folder of their own until finish()."""

    def __init__(self, folder, part, level, rows):
        self.folder, self.part, self.level, self.rows = pathlib.Path(folder), part, level, rows
        self.folder.mkdir(parents=True, exist_ok=True)
        own = re.compile(re.escape(_TEMPORARY + part) + "-[^-.]{8}")  # as mkdtemp makes them
        for left in self.folder.iterdir():
            if own.fullmatch(left.name):  # of a run that was killed, and of no other part
                shutil.rmtree(left, ignore_errors=True)
        self.temporary = pathlib.Path(tempfile.mkdtemp(prefix=f"{_TEMPORARY}{part}-", dir=self.folder))
        self.parts = {}  # by what stands before the name; the one that was used last comes last
        self.counts = {}
        self.columns = None  # of operations, if they are a table without rows, too

    def begin(self, chosen, schemas, without=()):
        """A table without rows is one, too.  |chosen| is from selections(), |without| names of tables."""
        for (name, _), schema in zip(chosen, schemas):
            if name == "operations":
                self.columns = schema.remove(schema.get_field_index("server"))
            elif name not in without:
                self._part(name, schema)

    def _part(self, where, schema):
        part = self.parts.pop(where, None)
        if part is None:
            if len(self.parts) >= OPEN:
                self.parts.pop(next(iter(self.parts))).close()
            number = self.counts[where] = self.counts.get(where, -1) + 1
            name = "all" if where in DICTIONARIES else self.part
            name = f"{name}.parquet" if not number else f"{name}.{number}.parquet"
            part = Part(self.temporary / where / name, schema, None if where in DICTIONARIES else self.part,
                        self.level)
        self.parts[where] = part
        return part

    def add(self, where, batch):
        part = self._part(where, batch.schema)
        part.add(batch)
        if part.rows >= self.rows:
            part.flush()

    def add_operations(self, batch):
        """To a file for each day and server."""
        when = call("coalesce", batch["call_time"], batch["reply_time"])
        days, servers = call("divide", when, pa.scalar(DAY)), batch["server"]
        batch = batch.drop_columns(["server"])
        found = [call("unique", key) for key in (days, servers)]
        several = len(found[0]) > 1 or len(found[1]) > 1
        for server in found[1]:
            of_server = call("equal", servers, server) if several else None
            for day in found[0]:
                rows = batch
                if several:
                    is_day = call("coalesce", call("equal", days, day), pa.scalar(False)) if day.is_valid \
                        else call("is_null", days)
                    rows = call("filter", batch, call("and", is_day, of_server))
                if rows.num_rows:
                    self.add(f"operations/day={day_text(day.as_py())}/"
                             f"server={urllib.parse.quote(server.as_py(), safe='')}", rows)

    def finish(self):
        if self.columns and not any(where.startswith("operations/") for where in self.counts):
            self._part(NOWHERE, self.columns)
        while self.parts:
            self.parts.popitem()[1].close()
        files = [path.relative_to(self.temporary) for path in self.temporary.rglob("*.parquet")]
        for path in files:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.temporary / path, self._free(self.folder / path))
        shutil.rmtree(self.temporary)
        return len(files)

    def _free(self, path):
        """Where |path| can go.  Part "a.1" can have taken the name of the second file of part "a"."""
        number = 0
        while path.exists() and path.parent.name not in DICTIONARIES:
            number += 1
            path = path.with_name(f"{self.part}.{number}.parquet")
        return path

    def abandon(self):
        shutil.rmtree(self.temporary, ignore_errors=True)


def day_text(day):
    if day is None:
        return "unknown"
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()


def selections(bodies):
    """(table, columns) of a data set."""
    chosen = []
    for name, _ in tables():
        if name == "contents" and not bodies:
            continue
        chosen.append((name, [column for column, _, _ in columns(name)
                              if column not in (LEFT_OUT if bodies else LEFT_OUT | BODIES)
                              or name != "operations"]))
    return chosen


def _part_of(path):
    """The name that a part has if nobody gives it one."""
    name = os.fsencode(pathlib.Path(path).name.split(".")[0] or "trace").replace(b"\\", b"%5c")  # DuckDB does not find it
    return name.decode(errors="backslashreplace").replace("\\x", "%")


def write(paths, folder, *, part=None, bodies=False, level=1, rows=ROWS, partial=False, **options):
    """Writes the trace in |paths| as part |part| of the data set in |folder|.  Returns the number of
    operations and, with partial, where a file was cut, else "".  Raises FileExistsError if the part is there, and
    ValueError if its name cannot be that of a file."""
    part = part or _part_of(paths[0])
    for name in (part, folder):
        if not is_utf8(name):
            raise ValueError(f"{row_text(name)}: {NOT_UTF8}")
    if "/" in part or "\0" in part or part.startswith((".", "_")):  # readers leave such files out
        raise ValueError(f"{part!r} cannot be the name of a part: it has a slash, or begins with '.' or '_'")
    folder = pathlib.Path(folder)
    there = next(folder.glob(f"operations/*/*/{glob.escape(part)}.parquet"), None) or \
        next(folder.glob(f"counters/{glob.escape(part)}.parquet"), None)
    if there:
        raise FileExistsError(f"{there} is there already: name the part otherwise (--part)")
    trace = nfsdigest.open(*paths, profile="plain", partial=partial, **options)
    chosen = selections(bodies)
    data = DataSet(folder, part, level, rows)
    operations = 0
    try:
        schemas, batches, note = read(trace._handle, chosen, 0)
        data.begin(chosen, schemas)
        for number, batch in batches:
            name = chosen[number][0]
            if name == "operations":
                operations += batch.num_rows
                data.add_operations(batch)
            else:
                data.add(name, batch)
        data.finish()
    except BaseException:
        data.abandon()
        raise
    return operations, note()


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m nfsdigest.parquet",
        description="Writes captures that follow each other, an .nfsr stream or a trace database as a Parquet "
        "data set, partitioned by day and server.")
    parser.add_argument("trace", nargs="+", metavar="CAPTURE")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the data set; parts are added to it")
    parser.add_argument("--part", metavar="NAME",
                        help="name of this part; default: that of the first file up to its first dot")
    parser.add_argument("--bodies", action="store_true",
                        help="also what operations carry: arguments, results, digests of contents")
    parser.add_argument("--partial", action="store_true",
                        help="take what stands before the place where a file is cut or damaged")
    parser.add_argument("--frame-shift", type=int, metavar="N",
                        help="add N to the frame numbers of an .nfsr stream, as nfsdigest join --json tells of "
                        "pieces of a capture")
    parser.add_argument("--level", type=int, default=1, metavar="N", help="of zstd (default: 1)")
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N",
                        help=f"of a row group (default: {ROWS})")
    given = parser.parse_args(arguments)
    pa.set_memory_pool(pa.system_memory_pool())  # Arrow's own gives memory back between row groups, to take it anew
    try:
        count, note = write(given.trace, given.output, part=given.part, bodies=given.bodies, level=given.level,
                            rows=given.rows, partial=given.partial, frame_shift=given.frame_shift)
    except Error as error:
        print(f"nfsdigest.parquet: {error}", file=sys.stderr)
        return error.code
    except (FileExistsError, ValueError) as error:
        print(f"nfsdigest.parquet: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"nfsdigest.parquet: {error}", file=sys.stderr)
        return 4
    if note:
        print(f"nfsdigest.parquet: {note}", file=sys.stderr)
    print(f"{count} operations in {given.output}", file=sys.stderr)
    return 3 if note else 0


if __name__ == "__main__":
    sys.exit(main())
