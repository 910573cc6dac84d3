# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts the parts that tasks made into a data set, and adds what is known of the whole.

The data set is put together in OUT/_digest/set, by renaming files.  Its tables appear in OUT when it is complete, and
OUT/_manifest.json after them: without that, OUT is not a data set yet.

Memory: the different objects, servers and clients, and what summary.py needs; not the tables.
"""

import os
import shutil

import pyarrow as pa
import pyarrow.acero as acero
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from nfsdigest import __version__, pieces, summary
from nfsdigest._library import row_text
from nfsdigest.place import TALLY


def _gather(job, parts):
    """Moves the files of all parts together.  Returns their number."""
    whole, count = job.folder / "set", 0
    for name in parts:
        folder = job.folder / "parts" / name
        for path in sorted(folder.rglob("*.parquet")):
            if path.name == TALLY:
                continue
            there = whole / path.relative_to(folder)
            there.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, there)
    for path in whole.rglob("*.parquet"):
        count += path.name != "all.parquet"
    return count


def _write(whole, table, rows, schema):
    folder = whole / table
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "all.parquet", compression="zstd", store_schema=False)


SOURCES = [("id", pa.int64()), ("name", pa.string()), ("kind", pa.string()), ("state", pa.string()),
           ("note", pa.string()), ("size", pa.int64()), ("digest", pa.binary()), ("head_digest", pa.binary()),
           ("frame_base", pa.int64()), ("frames", pa.int64()), ("operations", pa.int64()), ("calls", pa.int64()),
           ("replies", pa.int64()), ("retransmissions", pa.int64()), ("copies", pa.int64()), ("problems", pa.int64()),
           ("first_time", pa.int64()), ("last_time", pa.int64()), ("part", pa.string())]
COUNTERS = [("source", pa.int64()), ("name", pa.string()), ("value", pa.int64()), ("part", pa.string())]
COUNTS = ("operations", "calls", "replies", "retransmissions", "copies", "problems")


def _least(values, choose):
    values = [value for value in values if value is not None]
    return choose(values) if values else None


def _sources(job, alive, rows, parts):
    """The captures, as the table |sources| of one run has them, without digests."""
    found, bases = [], job.bases(alive, rows)
    for number, capture in enumerate(job.job["captures"]):
        names = [piece.name for piece in alive if piece.source == number]
        own = [parts[name] for name in names]
        cut = job.cut.get(number)
        counts = {name: sum(part["sources"].get(str(number + 1), {}).get(name, 0) for part in parts.values())
                  for name in COUNTS}
        found.append({"id": number + 1, "name": row_text(capture["path"]), "kind": "capture",
                      "state": "cut" if cut else "complete", "note": cut and cut["note"],
                      "size": max(capture["size"], rows[names[-1]]["to"]),
                      "frame_base": bases[number],
                      "frames": sum(rows[name]["frames"] for name in names),
                      **counts, "first_time": _least([part["first_time"] for part in own], min),
                      "last_time": _least([part["last_time"] for part in own], max), "part": "all"})
    return found


def _counters(alive, parts):
    found = {}
    for piece in alive:
        for name, value in parts[piece.name]["counters"].items():
            key = piece.source + 1, name
            found[key] = found.get(key, 0) + value
    return [{"source": source, "name": name, "value": value, "part": "all"}
            for (source, name), value in sorted(found.items())]


def _procedures(whole):
    programs = {(row["number"], row["version"]): row["name"]
                for row in pq.read_table(whole / "programs/all.parquet").to_pylist()}
    return {(row["program"], row["version"], row["number"]):
            f"{programs.get((row['program'], row['version']), row['program'])} {row['name']}"
            for row in pq.read_table(whole / "procedures/all.parquet").to_pylist()}


def _groups(whole, table, keys):
    """The different |keys| of a table, each with the |count| of its rows, which are read in batches."""
    rows = acero.ScanNodeOptions(ds.dataset(whole / table, format="parquet"), columns=keys, batch_readahead=1,
                                 fragment_readahead=1)  # else, some 20 row groups
    count = acero.AggregateNodeOptions([([], "hash_count_all", None, "count")], keys)
    return acero.Declaration.from_sequence([acero.Declaration("scan", rows),
                                            acero.Declaration("aggregate", count)]).to_table()


def _distinct(whole, table, keys):
    return _groups(whole, table, keys).num_rows


def _kinds(whole, table, key):
    return {row[key]: row["count"] for row in _groups(whole, table, [key]).to_pylist()}


def _summary(whole, sources, counters, tally, paths):
    found = summary.of(tally.table(), _procedures(whole))
    resent, copies = _kinds(whole, "retransmissions", "kind"), _kinds(whole, "copies", "kind")
    sums = {}
    for row in counters:
        sums[row["name"]] = sums.get(row["name"], 0) + row["value"]
    found["totals"] = {
        "sources": len(sources), "frames": sum(row["frames"] for row in sources),
        "first_time": _least([row["first_time"] for row in sources], min),
        "last_time": _least([row["last_time"] for row in sources], max), **found["totals"],
        "retransmitted_calls": resent.get(1, 0), "further_replies": resent.get(2, 0),
        "copies_of_calls": copies.get(3, 0), "copies_of_replies": copies.get(4, 0),
        "objects": _distinct(whole, "objects", ["server", "handle"]),
        **({"paths": paths} if paths is not None else {}),
        "clients": _distinct(whole, "flows", ["client"]), "servers": _distinct(whole, "flows", ["server"])}
    found["counters"] = dict(sorted(sums.items()))
    return found


def publish(job, alive, rows, parts):
    """Completes |job|.  Can be called again if it was ended."""
    whole, complete = job.folder / "set", job.folder / "manifest.json"
    if complete.exists():
        move(job)
        return
    dropped = {piece.name for piece in pieces.plan(job.job["captures"], job.job["size"])} - {p.name for p in alive}
    parts = {name: part for name, part in sorted(parts.items()) if name not in dropped}
    files = _gather(job, parts)
    tally = summary.Tally()
    for name in parts:
        if (job.folder / "parts" / name / TALLY).exists():
            tally.add_table(pq.read_table(job.folder / "parts" / name / TALLY))
    sources, counters = _sources(job, alive, rows, parts), _counters(alive, parts)
    _write(whole, "sources", sources, pa.schema(SOURCES))
    _write(whole, "counters", counters, pa.schema(COUNTERS))
    manifest = {
        "job": job.job, "nfsdigest": __version__, "files": files,
        "gaps": [{"capture": job.job["captures"][source]["path"], "from": row["to"], "note": row["note"]}
                 for source, row in job.cut.items()],
        "stopped": job.stopped,
        "parts": {name: part["counts"] for name, part in parts.items()},
        "pieces": [{"piece": piece.name, "capture": job.job["captures"][piece.source]["path"],
                   "from": rows[piece.name]["from"], "to": rows[piece.name]["to"],
                   "frames": rows[piece.name]["frames"], "made_again": bool(rows[piece.name]["continues"])}
                   for piece in alive],
        "summary": _summary(
            whole, sources, counters, tally,
            sum(part["counts"].get("paths", 0) for part in parts.values()) if job.job["names"] else None)}
    pieces.write_json(complete, manifest)
    move(job)


def move(job):
    """The last step: what is complete in OUT/_digest becomes the data set."""
    whole = job.folder / "set"
    if whole.exists():
        for table in sorted(whole.iterdir()):
            os.replace(table, job.out / table.name)
        whole.rmdir()
    os.replace(job.folder / "manifest.json", job.out / "_manifest.json")
    shutil.rmtree(job.folder, ignore_errors=True)
