# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the Parquet part of a piece or of a server: its rows, with frames counted in the captures of the whole.

"nfsdigest piece" counts frames from where its reader began, and puts the operations that still wait at the end
behind the others.  "nfsdigest join" tells which of these no later piece has.
"""

import pathlib

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import nfsdigest
from nfsdigest import parquet, summary
from nfsdigest._library import read

TALLY = "tally.parquet"
CALL = 1  # code 'repeat'
# which source the frames of a row are of
FRAMES = {"call_source": ("call_frame", "call_first_frame"), "reply_source": ("reply_frame", "reply_first_frame"),
          "source": ("frame", "first_frame", "last_frame")}


class Place:
    """Where the frames of a piece are: frame + |shift| is counted over the whole trace.  |bases| are the frames before
    each source, up to that of the piece."""

    def __init__(self, shift, bases):
        self.shift, self.bases = shift, bases

    def move(self, batch):
        """|batch| with frames counted in their sources."""
        for source, frames in FRAMES.items():
            if source not in batch.schema.names or frames[0] not in batch.schema.names:
                continue
            whole = pc.add(batch[frames[0]], self.shift)
            number, before = self._sources(whole)
            known = pc.is_valid(batch[source])
            if source == "source":  # also of a row whose frame is unknown
                number = pc.fill_null(number, len(self.bases))
                before = pc.fill_null(before, self.bases[-1])
            batch = _set(batch, source, pc.if_else(known, number, None))
            for name in frames:
                if name in batch.schema.names:
                    batch = _set(batch, name, pc.subtract(pc.add(batch[name], self.shift), before))
        return batch

    def _sources(self, frames):
        """The number of each frame's source, and the frames before that."""
        count = len(self.bases)
        number = pc.if_else(pc.is_valid(frames), pa.scalar(count, pa.int64()), None)
        before = pc.if_else(pc.is_valid(frames), pa.scalar(self.bases[-1], pa.int64()), None)
        least = pc.min(frames).as_py()
        while count > 1 and least is not None and least <= self.bases[count - 1]:
            earlier = pc.less_equal(frames, self.bases[count - 1])
            count -= 1
            number = pc.if_else(earlier, pa.scalar(count, pa.int64()), number)
            before = pc.if_else(earlier, pa.scalar(self.bases[count - 1], pa.int64()), before)
        return number, before


def _set(batch, name, values):
    at = batch.schema.get_field_index(name)
    return batch.set_column(at, batch.schema.field(at), pc.cast(values, batch.schema.field(at).type))


def _of_piece(batch, seen, own):
    """The rows that do not wait (the first |own|.operations), and those that nobody finished."""
    left = max(0, min(batch.num_rows, own["operations"] - seen))
    rows = [batch.slice(0, left)]
    if left < batch.num_rows and own["unfinished"]:
        rest = batch.slice(left)
        rows.append(rest.filter(pc.is_in(rest["id"], pa.array(own["unfinished"], rest["id"].type))))
    return [rows for rows in rows if rows.num_rows]


class _Counts:
    """Rows of each table, and of what sources they are."""

    def __init__(self):
        self.rows, self.sources = {}, {}

    def _of_sources(self, names, column):
        for count in pc.value_counts(column.drop_null()).to_pylist():
            source = self.sources.setdefault(count["values"], {})
            for name in names:
                source[name] = source.get(name, 0) + count["counts"]

    def add(self, name, batch):
        self.rows[name] = self.rows.get(name, 0) + batch.num_rows
        if name == "operations":
            self._of_sources(("operations", "calls"), batch["call_source"])
            self._of_sources(("replies",), batch["reply_source"])
            self._of_sources(("operations",), batch["reply_source"].filter(pc.is_null(batch["call_source"])))
        elif name in ("retransmissions", "copies", "problems"):
            self._of_sources((name,), batch["source"])


def _selections(bodies, rest):
    """The tables to read."""
    for name, columns in parquet.selections(bodies):
        if name == "sources":
            yield name, ["first_time", "last_time"]
        elif not rest or name in ("problems", "flows", "counters"):
            yield name, columns


def write_rest(nfsr, folder, part, place, problems):
    """Writes only what the streams of servers do not have: problems without a connection (if |problems|).  Returns
    what was counted, and the addresses of the servers."""
    trace = nfsdigest.open(str(nfsr), profile="plain")
    chosen = list(_selections(False, True))
    data, counts, once = parquet.DataSet(folder, part, 1, parquet.ROWS), _Counts(), {"counters": [], "flows": []}
    try:
        _, batches, _ = read(trace._handle, chosen, 0)
        for number, batch in batches:
            name = chosen[number][0]
            if name == "flows":
                once[name] += pc.unique(batch["server"]).to_pylist()
            elif name != "problems":
                once.setdefault(name, []).extend(batch.to_pylist())
            elif problems and (rows := batch.filter(pc.is_null(batch["flow"]))).num_rows:
                rows = place.move(rows)
                counts.add(name, rows)
                data.add(name, rows)
        data.finish()
    except BaseException:
        data.abandon()
        raise
    return {**_row(counts, once), "servers": sorted(set(once["flows"]))}


def _row(counts, once):
    return {"counts": counts.rows, "sources": counts.sources, **once["sources"][0],
            "counters": {row["name"]: row["value"] for row in once["counters"]}}


def _count_resent(tally, folder, calls):
    """Adds to |tally| what the operations of the part in |folder| were whose ids are in |calls|, once for each."""
    calls, folder = pa.table({"id": pa.chunked_array(calls, pa.int64())}), pathlib.Path(folder) / "operations"
    if calls.num_rows and folder.exists():  # else nobody knows the operations: these calls came to an earlier one
        operations = ds.dataset(folder, format="parquet").to_table(
            columns=["id", *summary.KEYS[:3]], filter=ds.field("id").isin(calls["id"].combine_chunks()))
        tally.add_resent(calls.join(operations, "id", join_type="inner"))


def write(nfsr, folder, part, place, *, own=None, first=False, bodies=False):
    """Writes the rows of |nfsr| to |folder|, as part |part| of a data set, and what summary.py needs to the file
    TALLY.  own: of a piece, which operations are its rows: the number of "operations", and ids of "unfinished" ones
    behind them.  first: also what each data set has once, and tables without rows.  Returns what was counted."""
    trace = nfsdigest.open(str(nfsr), profile="plain")
    chosen = list(_selections(bodies, False))
    data = parquet.DataSet(folder, part, 1, parquet.ROWS)
    tally, counts, once, seen, resent = summary.Tally(own is None), _Counts(), {"counters": []}, 0, []
    try:
        schemas, batches, _ = read(trace._handle, chosen, 0)
        if first:
            data.begin(chosen, schemas, ("counters", "sources"))
        for number, batch in batches:
            name = chosen[number][0]
            if name in ("counters", "sources"):
                once.setdefault(name, []).extend(batch.to_pylist())
            elif name == "operations":
                for rows in [batch] if own is None else _of_piece(batch, seen, own):
                    rows = place.move(rows)
                    tally.add(rows)
                    counts.add(name, rows)
                    data.add_operations(rows)
                seen += batch.num_rows
            elif first or name not in parquet.DICTIONARIES:
                batch = place.move(batch)
                counts.add(name, batch)
                data.add(name, batch)
                if name == "retransmissions" and own is None:  # in a piece, the operation can be of the one before
                    resent.append(batch["operation"].filter(pc.equal(batch["kind"], CALL)))
        data.finish()
        _count_resent(tally, folder, resent)
        pq.write_table(tally.table(), pathlib.Path(folder) / TALLY, compression="zstd")
    except BaseException:
        data.abandon()
        raise
    return _row(counts, once)
