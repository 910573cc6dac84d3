# SPDX-License-Identifier: GPL-2.0-or-later
"""NFS traces as Arrow streams.

    import nfsdigest, pyarrow
    trace = nfsdigest.open("trace.pcap.zst")
    table = pyarrow.table(trace.operations())

The objects that a trace's methods return have __arrow_c_stream__, which pyarrow, Polars, DuckDB and
pandas take:

    polars.DataFrame(trace.operations())
    operations = trace.operations(); duckdb.sql("SELECT count(*) FROM operations")
    trace.operations(["client", "latency"]).to_pandas()
"""

import os

from nfsdigest._describe import describe
from nfsdigest._library import Error, Handle, capsule, columns, library, tables

__all__ = ["Error", "Rows", "Trace", "open", "__version__"]
__version__ = library.nfsdigest_version().decode()


class Rows:
    """The rows of a table: read anew each time that somebody asks for the stream."""

    def __init__(self, handle, table, names, rows):
        self._handle, self._table, self._names, self._rows = handle, table, names, rows

    @property
    def columns(self):
        """The names of the columns."""
        return self._names or [name for name, _, _ in columns(self._table)]

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(self._handle.stream(self._table, self._names, self._rows))

    def to_batches(self):
        """A pyarrow.RecordBatchReader: one batch in memory at a time."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def to_arrow(self):
        """All rows as a pyarrow.Table."""
        return self.to_batches().read_all()

    def to_pandas(self, **arguments):
        """All rows as a pandas.DataFrame."""
        return self.to_arrow().to_pandas(**arguments)

    def __repr__(self):
        return f"<nfsdigest.Rows of {self._table}: {', '.join(self.columns)}>"


class Trace:
    """An open trace: a capture, an .nfsr stream or a trace database.

    Each table has a method of its name.  columns: names of columns, in any order (all of them if
    it is None).  rows: of a batch, at most if possible.
    """

    def __init__(self, path, *more, **options):
        words = {True: "yes", False: "no"}
        self._handle = Handle(path, [b"next=" + os.fsencode(name) for name in more] +
                              [f"{name.replace('_', '-')}={words[value] if isinstance(value, bool) else value}"
                               for name, value in options.items() if value is not None])

    def close(self):
        """Closes the trace.  Streams that were begun can be read on."""
        self._handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


def _method(name, sql):
    def rows(self, columns=None, rows=0):
        return Rows(self._handle, name, None if columns is None else list(columns), rows)

    rows.__name__ = name
    rows.__qualname__ = f"Trace.{name}"
    rows.__doc__ = describe(name, sql)
    return rows


for _name, _sql in tables():
    setattr(Trace, _name, _method(_name, _sql))


def open(path, *more, profile="arrow", partial=False, **options):
    """Opens a capture (pcap or pcapng, compressed or not), an .nfsr stream or a trace database.

    more: further captures, each of which goes on where the one before ended, as those of
        tcpdump -C do.
    profile: "plain" for Apache Spark and others that refuse timestamps in nanoseconds,
        dictionaries and unsigned integers: times are then ns since the epoch.
    partial: what stands before the place where a file is cut or damaged is all that is wanted.
        Else such a file is an error once all of that was read.
    frame_shift (an option): is added to the frame numbers of an .nfsr stream.  nfsdigest join
        --json tells it of pieces of a capture.
    options: those of "nfsdigest record" by their long names, with underscores for dashes.
    """
    return Trace(path, *more, profile=profile, partial=partial, **options)
