#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How nfsdigest-spark gains by a second worker: the same capture with local[2,4] and, pinned to a core, with
local[1,4], in turns, without the start of Spark. An idle machine with two cores, ./check --all before, and

    build/bin/tests/gen_bench --packets 60000000 --block 256 /tmp/many.pcap      # 10 GB
    tests/bench/spark_scale.py /tmp/many.pcap [ROUNDS [--names]]

Jobs must take 60 s or more. With --names, also the pass over names, which is one task for each server."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SRC = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SRC / "tests/gen"))

import python_package  # noqa: E402

python_package.use("spark")
os.environ.setdefault("NFSDIGEST", str(python_package.BUILD / "bin/nfsdigest"))
os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYTHONPATH=str(SRC / "python"))


def one(capture, cores, names):
    """Seconds of one job, in this process."""
    from nfsdigest import digest, spark

    context = spark.context(f"local[{cores},4]", [("spark.driver.memory", "1g"), ("spark.ui.enabled", "false")])
    context.parallelize(range(cores), cores).map(lambda n: n).collect()  # Python's workers, too
    folder = tempfile.mkdtemp(dir=os.path.dirname(os.path.abspath(capture)))
    try:
        job = digest.Job(os.path.join(folder, "out"))
        job.begin([capture], 256 << 20, names=names)
        began = time.monotonic()
        manifest = job.run(spark.runner(context))
        return time.monotonic() - began, manifest["summary"]["totals"]["operations"]
    finally:
        context.stop()
        shutil.rmtree(folder)


def main():
    if sys.argv[1] == "--one":
        print(json.dumps(one(sys.argv[2], int(sys.argv[3]), "--names" in sys.argv)))
        return
    capture, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = {1: [], 2: []}
    for _ in range(rounds):
        for cores in seconds:
            pinned = ["taskset", "-c", "0"] if cores == 1 else []
            done = subprocess.run([*pinned, sys.executable, __file__, "--one", capture, str(cores), *sys.argv[3:]],
                                  stdout=subprocess.PIPE, text=True, check=True)
            took, operations = json.loads(done.stdout.splitlines()[-1])
            seconds[cores].append(took)
            print(f"{cores} workers: {took:.1f} s, {operations} operations", flush=True)
    ratio = statistics.median(seconds[1]) / statistics.median(seconds[2])
    print(f"two workers are {ratio:.2f} times as fast as one" +
          ("" if min(seconds[2]) >= 60 else "; but jobs of less than 60 s"))


if __name__ == "__main__":
    main()
