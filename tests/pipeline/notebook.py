#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: cost=6
"""The notebook python/examples/questions.ipynb runs, and its answers are those of SQL on the database that
"nfsdigest ingest" makes of the same captures.  It is committed without outputs.  With an argument, its last figure
is written there: docs/images/notebook.png."""
import base64
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures").resolve()
NOTEBOOK = SRC / "python/examples/questions.ipynb"
sys.path.insert(0, str(SRC / "tests/gen"))

import database  # noqa: E402
import python_package  # noqa: E402

python_package.use()

import nbclient  # noqa: E402
import nbformat  # noqa: E402

TABLES = ["over_time", "procedures", "paths", "by_client", "errors", "again", "sizes"]
QUESTIONS = {
    "procedures": """SELECT ifnull(g.name, o.program) || ' ' || ifnull(r.name, o.procedure) AS what, count(*),
        sum(latency) / 1e9 AS waited FROM operation o
        LEFT JOIN program g ON g.number = o.program AND g.version = o.version
        LEFT JOIN procedure r ON r.program = o.program AND r.version = o.version AND r.number = o.procedure
        GROUP BY what ORDER BY waited DESC, what""",
    "paths": """SELECT p.text, count(*) AS operations, ifnull(sum(o.data_length), 0) FROM operation o
        JOIN path p ON p.id = o.path GROUP BY p.text ORDER BY operations DESC, p.text LIMIT 8""",
    "by_client": "SELECT client, operations, p50_ms, p90_ms, p99_ms FROM latency_by_client ORDER BY client",
    "errors": """SELECT procedure || ' ' || status AS what, count(*) AS operations FROM op
        WHERE id IN (SELECT id FROM operation WHERE status <> 0 OR rpc_status <> 0)
        GROUP BY what ORDER BY operations DESC, what""",
    "again": """SELECT o.procedure, sum(r.kind = 1), sum(r.kind = 2) FROM retransmission r
        JOIN op o ON o.id = r.operation GROUP BY o.procedure ORDER BY count(*) DESC, o.procedure""",
}
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


def rank(values, percent):
    """A percentile by nearest rank."""
    return sorted(values)[(len(values) * percent + 99) // 100 - 1]


def over_time(connection):
    seconds = {}
    for time, latency in connection.execute("SELECT call_time, latency FROM operation WHERE call_time IS NOT NULL"):
        seconds.setdefault(time // 10**9, []).append(latency)
    check(all(None not in latencies for latencies in seconds.values()), "calls without replies: not compared")
    first = min(seconds)
    return [[second - first, len(waits), rank(waits, 50) / 1e6, rank(waits, 99) / 1e6]
            for second, waits in sorted(seconds.items())]


def sizes(connection):
    counts = {}
    for procedure, length in connection.execute(
            "SELECT p.procedure, o.data_length FROM operation o JOIN op p ON p.id = o.id"
            " WHERE p.procedure IN ('READ', 'WRITE') AND o.data_length > 0"):
        key = procedure, max(6, (length - 1).bit_length())
        counts[key] = counts.get(key, 0) + 1
    return [[procedure, power, count] for (procedure, power), count in sorted(counts.items())]


def same(got, wanted):
    return len(got) == len(wanted) and all(
        len(g) == len(w) and all(abs(a - b) < 1e-9 if isinstance(b, float) else a == b for a, b in zip(g, w))
        for g, w in zip(got, wanted))


def compare(answers, stored):
    with sqlite3.connect(stored) as connection:
        wanted = {"over_time": over_time(connection), "sizes": sizes(connection)}
        for name, sql in QUESTIONS.items():
            wanted[name] = [list(row) for row in connection.execute(sql)]
    for name in TABLES:
        check(len(wanted[name]) > 1, f"{name}: the captures do not answer it: {wanted[name]}")
        check(same(answers[name], wanted[name]), f"{name}:\n{answers[name]}\nnot\n{wanted[name]}")


def run(book):
    """The tables of the notebook, and its figures."""
    tables = ", ".join(f'"{name}": [list(row) for row in {name}.rows()]' for name in TABLES)
    book.cells.append(nbformat.v4.new_code_cell(f"import json\nprint(json.dumps({{{tables}}}))"))
    os.environ["CAPTURES"] = str(CAPTURES)
    os.environ["PYTHONPATH"] = str(SRC / "python")
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute(cwd=str(NOTEBOOK.parent))
    figures = [base64.b64decode(output.data["image/png"]) for cell in book.cells if cell.cell_type == "code"
               for output in cell.outputs if "image/png" in output.get("data", {})]
    return json.loads(book.cells[-1].outputs[-1].text), figures


book = nbformat.read(NOTEBOOK, 4)
nbformat.validate(book)
for cell in book.cells:
    if cell.cell_type == "code":
        check(not cell.outputs and cell.execution_count is None, f"cell {cell.id} has outputs: commit it without them")
captures = re.findall(r'"(knfsd-[a-z0-9-]+)"', "".join(cell.source for cell in book.cells))
with tempfile.TemporaryDirectory() as scratch:
    file = pathlib.Path(scratch) / "trace.db"
    subprocess.run([database.program(), "ingest", file] + [CAPTURES / f"{name}.pcap.zst" for name in captures],
                   check=True, capture_output=True)
    found, pictures = run(book)
    compare(found, file)
    check(len(pictures) == 7, f"{len(pictures)} figures, not 7")
    if len(sys.argv) > 1:
        pathlib.Path(sys.argv[1]).write_bytes(pictures[-1])
sys.exit(1 if failures else 0)
