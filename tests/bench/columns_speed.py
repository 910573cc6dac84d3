#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What columns cost: operations a second as Arrow batches, from a warm .nfsr; the CPU (user and system) of capture to
Parquet and of "nfsdigest record" in turns; bytes an operation of the data set. An idle machine, ./check before, and

    build/bin/tests/gen_bench --packets 4000000 /tmp/many.pcap      # 1.9 GB
    tests/bench/columns_speed.py /tmp/many.pcap [ROUNDS]

It needs as much room again beside the capture."""
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SRC / "tests/gen"))

import python_package  # noqa: E402

python_package.use()
PROGRAM = os.environ.get("NFSDIGEST") or str(python_package.BUILD / "bin/nfsdigest")
os.environ.update(PYTHONPATH=str(SRC / "python"))

import nfsdigest  # noqa: E402

WITHOUT = {"arguments", "result", "data_digest", "block_digests"}  # as in a data set without bodies


def cpu(*command):
    """Seconds of user and system of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def arrow(stream, columns):
    """(operations, seconds, of these of CPU) until the last batch is there."""
    began, used = time.monotonic(), time.process_time()
    count = sum(batch.num_rows for batch in nfsdigest.open(stream).operations(columns).to_batches())
    return count, time.monotonic() - began, time.process_time() - used


def size(*folder):
    return sum(file.stat().st_size for file in pathlib.Path(*folder).rglob("*") if file.is_file())


def main():
    capture, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = {"record": [], "parquet": [], "all columns": [], "without bodies": []}
    used = {"all columns": [], "without bodies": []}
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(capture))) as name:
        stream = os.path.join(name, "trace.nfsr")
        cpu(PROGRAM, "record", "-o", stream, capture)  # warms the capture
        every = nfsdigest.open(stream).operations().columns
        for number in range(rounds):
            data_set = os.path.join(name, f"set{number}")
            seconds["record"].append(cpu(PROGRAM, "record", "-o", stream, capture))
            seconds["parquet"].append(cpu(sys.executable, "-m", "nfsdigest.parquet", capture, "-o", data_set))
            for what, columns in ("all columns", every), ("without bodies", [c for c in every if c not in WITHOUT]):
                count, took, busy = arrow(stream, columns)
                seconds[what].append(took)
                used[what].append(busy)
        middle = {what: statistics.median(values) for what, values in seconds.items()}
        for what, busy in used.items():
            print(f"Arrow, {what}: {count / middle[what] / 1e6:.2f} million operations/s, "
                  f"{count / statistics.median(busy) / 1e6:.2f} million a second of CPU")
        ratio = statistics.median(b / a for a, b in zip(seconds["record"], seconds["parquet"]))
        print(f"CPU: record {middle['record']:.2f} s, Parquet {middle['parquet']:.2f} s: {ratio:.2f} times")
        print(f"data set: {size(data_set, 'operations') / count:.1f} bytes an operation, "
              f"with everything else {size(data_set) / count:.1f}")


if __name__ == "__main__":
    main()
