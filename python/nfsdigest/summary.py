# SPDX-License-Identifier: GPL-2.0-or-later
"""The totals of a data set, as "nfsdigest info" has them: each part counts its operations, and what they count is
added up.  Percentiles are exact, by nearest rank.

Memory: a row for each latency that a procedure has.
"""

import pyarrow as pa
import pyarrow.compute as pc

KEYS = ["program", "version", "procedure", "pairing", "latency"]
SUMS = ["operations", "calls", "replies", "partial_calls", "partial_replies", "errors", "resent", "read", "written"]
READ, WRITE, NFS = 6, 7, 100003
NLM, BLOCKED = 100021, 3
PARTIAL = 1  # code 'sighting'
PAIRINGS = ["paired", "reply lost", "call lost", "out of window", "capture ended"]
MANY = 1 << 20


def _number(condition):
    return pc.cast(pc.fill_null(condition, False), pa.int64())


def _failures(batch):
    """What counts as an error: engine/wire/failure.h."""
    blocked = pc.fill_null(pc.and_(pc.equal(batch["program"], NLM), pc.equal(batch["status"], BLOCKED)), False)
    return pc.or_(pc.fill_null(pc.greater(batch["rpc_status"], 0), False),
                  pc.and_not(pc.fill_null(pc.greater(batch["status"], 0), False), blocked))


class Tally:
    """Counts operations.  |resent|: also add_resent is called."""

    def __init__(self, resent=True):
        self.tables, self.rows, self.resent = [], 0, 0 if resent else None

    def add(self, batch):
        """Operations."""
        length, procedure = pc.fill_null(batch["data_length"], 0), batch["procedure"]
        nfs = pc.equal(batch["program"], NFS)
        columns = {
            "program": batch["program"], "version": batch["version"], "procedure": procedure,
            "pairing": batch["pairing"], "latency": pc.subtract(batch["reply_time"], batch["call_time"]),
            "operations": pa.repeat(pa.scalar(1, pa.int64()), batch.num_rows),
            "resent": pa.repeat(pa.scalar(self.resent, pa.int64()), batch.num_rows),
            "calls": _number(pc.is_valid(batch["call_frame"])), "replies": _number(pc.is_valid(batch["reply_frame"])),
            "partial_calls": _number(pc.equal(pc.bit_wise_and(batch["call_flags"], PARTIAL), PARTIAL)),
            "partial_replies": _number(pc.equal(pc.bit_wise_and(batch["reply_flags"], PARTIAL), PARTIAL)),
            "errors": _number(_failures(batch)),
        }
        for name, number in (("read", READ), ("written", WRITE)):
            columns[name] = pc.multiply(length, _number(pc.and_(nfs, pc.equal(procedure, number))))
        self._add(columns, batch.num_rows)

    def add_resent(self, operations):
        """The program, version and procedure of each call that was sent again, once for each time."""
        self._add({**{name: operations[name] for name in KEYS[:3]},
                   "resent": pa.repeat(pa.scalar(1, pa.int64()), operations.num_rows)}, operations.num_rows)

    def _add(self, columns, rows):
        for name in KEYS[3:]:
            columns.setdefault(name, pa.nulls(rows, pa.int64()))
        for name in SUMS:
            columns.setdefault(name, pa.repeat(pa.scalar(0, pa.int64()), rows))
        self.add_table(pa.table({name: pc.cast(columns[name], pa.int64()) for name in KEYS + SUMS}))

    def add_table(self, table):
        """What another tally has."""
        self.tables.append(table)
        self.rows += table.num_rows
        if self.rows > MANY:
            self.tables = [self.table()]
            self.rows = self.tables[0].num_rows // 2

    def table(self):
        if not self.tables:
            return pa.table({name: pa.array([], pa.int64()) for name in KEYS + SUMS})
        table = pa.concat_tables(self.tables).group_by(KEYS).aggregate([(name, "sum") for name in SUMS])
        return table.rename_columns([name.removesuffix("_sum") for name in table.column_names]).select(KEYS + SUMS)


def _quantiles(rows):
    """p50, p90, p99 and max of latencies, which |rows| count."""
    rows = rows.filter(pc.is_valid(rows["latency"])).select(["latency", "operations"]).sort_by("latency")
    if not rows.num_rows:
        return {"answered": 0, "p50": None, "p90": None, "p99": None, "max": None}
    upto = pc.cumulative_sum(rows["operations"])
    count, found = upto[-1].as_py(), {}
    for name, hundredths in (("p50", 50), ("p90", 90), ("p99", 99)):
        rank = max(1, -(-count * hundredths // 100))
        found[name] = rows["latency"][pc.sum(_number(pc.less(upto, rank))).as_py()].as_py()
    return {"answered": count, **found, "max": rows["latency"][-1].as_py()}


def of(table, names):
    """totals, pairing and by_procedure of a tally's table.  names: {(program, version, procedure): text}.  |resent| of
    a procedure is None if that was not counted."""
    totals = {name: pc.sum(table[name]).as_py() or 0 for name in SUMS[:5]}
    pairing = {}
    for number, name in enumerate(PAIRINGS):
        pairing[name] = pc.sum(table.filter(pc.equal(table["pairing"], number))["operations"]).as_py() or 0
    table, rows = table.filter(pc.is_valid(table["program"])), []  # the others' calls were not captured
    for group in table.group_by(KEYS[:3]).aggregate([]).to_pylist():
        chosen = table
        for name, value in group.items():
            chosen = chosen.filter(pc.equal(chosen[name], value))
        key = tuple(group.values())
        rows.append({"procedure": names.get(key) or " ".join(map(str, key)), "program": key[0], "version": key[1],
                     "number": key[2], **{name: pc.sum(chosen[name]).as_py() for name in
                                          ("operations", "errors", "resent", "read", "written")},
                     **_quantiles(chosen)})
    rows.sort(key=lambda row: (-row["operations"], row["program"], row["version"], row["number"]))
    return {"totals": totals, "pairing": pairing, "by_procedure": rows}


def _time(ns):
    return "-" if ns is None else f"{ns / 1e6:.3f}"


def text(manifest):
    """What a person reads."""
    totals = manifest["summary"]["totals"]
    lines = [f"{totals['frames']:,} frames, {totals['operations']:,} operations, {totals['calls']:,} calls, "
             f"{totals['replies']:,} replies, {len(manifest['pieces']):,} pieces", "",
             f"{'operations':>14} {'errors':>10} {'p50 ms':>10} {'p99 ms':>10} {'max ms':>12}  procedure"]
    for row in manifest["summary"]["by_procedure"]:
        lines.append(f"{row['operations']:>14,} {row['errors']:>10,} {_time(row['p50']):>10} {_time(row['p99']):>10} "
                     f"{_time(row['max']):>12}  {row['procedure']}")
    return "\n".join(lines) + "\n"
