#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# ctest: long timeout=1800
"""nfsdigest-spark: a standalone cluster on loopback makes the rows that "nfsdigest ingest" of the whole has, though an
executor and then a worker are killed in the middle; local mode does the same, and goes on where a driver was killed;
the example jobs answer as DuckDB does."""
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

SRC = pathlib.Path(os.environ.get("SRC") or pathlib.Path(__file__).resolve().parent.parent.parent)
CAPTURES = pathlib.Path(os.environ.get("CAPTURES") or SRC / "captures")
sys.path.insert(0, str(SRC / "tests/gen"))

import python_package  # noqa: E402

python_package.use("spark")
os.environ.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_DAEMON_MEMORY="256m", PYSPARK_PYTHON=sys.executable,
                  PYTHONPATH=str(SRC / "python"))

import data_set  # noqa: E402
import pyspark  # noqa: E402

from nfsdigest import digest, spark  # noqa: E402

OPTIONS = ["--lead-in", "100000", "--lead-in-time", "0s"]
SMALL = [("spark.executor.memory", "512m"), ("spark.driver.memory", "512m"), ("spark.ui.enabled", "false"),
         ("spark.sql.shuffle.partitions", "2"), ("spark.driver.host", "127.0.0.1")]
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED", what)


class Cluster:
    """A master and two workers of one core each."""

    def __init__(self, folder):
        self.folder, self.running = folder, []
        master = self._start("Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.url = self._wait(master, "Starting Spark master at ")
        self.workers = [self.worker() for _ in range(2)]

    def _start(self, what, *arguments):
        log = self.folder / f"{what}{len(self.running)}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen([pathlib.Path(pyspark.__path__[0]) / "bin/spark-class",
                                        f"org.apache.spark.deploy.{what.lower()}.{what}", *arguments],
                                       stdout=out, stderr=out)
        process.log = log
        self.running.append(process)
        return process

    def _wait(self, process, text):
        for _ in range(1200):
            log = process.log.read_text(errors="replace")
            if text in log:
                return log.split(text)[1].split()[0]
            time.sleep(0.1)
        raise SystemExit(f"{process.log}: {log}")

    def worker(self):
        process = self._start("Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0",
                              "--work-dir", str(self.folder / "work"), self.url)
        self._wait(process, "Successfully registered with master ")
        return process

    @staticmethod
    def executors(worker):
        """Processes of a worker's executors."""
        return [int(pid) for pid in pathlib.Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()] \
            + [int(pid) for thread in pathlib.Path(f"/proc/{worker.pid}/task").iterdir() if thread.name != str(worker.pid)
               for pid in (thread / "children").read_text().split()]

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in self.running:
            process.wait()


def unpacked(folder, name):
    file = folder / name.removesuffix(".zst")
    subprocess.run(["zstd", "-dqf", CAPTURES / name, "-o", file], check=True)
    return file


def slow(folder):
    """nfsdigest whose pieces take a second more, so that there is a middle."""
    script = folder / "nfsdigest"
    script.write_text(f'#!/bin/sh\n[ "$1" = piece ] && sleep 1\nexec {os.environ["NFSDIGEST"]} "$@"\n')
    script.chmod(0o755)
    os.environ["NFSDIGEST"] = str(script)


def when(condition, work):
    """Calls |work| in a thread as soon as |condition| holds."""
    done = []

    def wait():
        for _ in range(6000):
            if condition():
                done.append(work())
                return
            time.sleep(0.02)
    thread = threading.Thread(target=wait)
    thread.start()
    return thread, done


def kill_executors(workers):
    killed = [pid for worker in workers[:1] for pid in Cluster.executors(worker)]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    return len(killed)


def kill_worker(cluster):
    cluster.workers[0].kill()
    cluster.workers[0] = cluster.worker()
    return 1


def begun(out, files, size):
    job = digest.Job(out)
    job.begin(list(map(str, files)), size, OPTIONS)
    return job


def compare(what, files, out, folder):
    differ = data_set.differences(data_set.ingest(files, folder / f"{what}.db"), out)
    check(not differ, f"{what}: {differ}")


def on_cluster(cluster, run, folder, files):
    out = folder / "cluster"
    job = begun(out, files, 300000)
    made = lambda kind: len(list((out / "_digest" / kind).glob("p*/row.json")))  # noqa: E731
    first = when(lambda: made("pieces") >= 3, lambda: kill_executors(cluster.workers))
    second = when(lambda: made("pieces") >= 8, lambda: kill_worker(cluster))
    manifest = job.run(run)
    for thread, done in (first, second):
        thread.join()
        check(done and done[0] >= 1, "nothing was killed")
    check(len(manifest["pieces"]) > 10, f"only {len(manifest['pieces'])} pieces")
    check(not (out / "_digest").exists(), "temporary files are left")
    compare("cluster", files, out, folder)
    return out


def driver_killed(folder, capture):
    """Local mode, from the command line; the driver is killed and begun again."""
    out = folder / "local"
    command = [sys.executable, "-m", "nfsdigest.spark", "digest", "--master", "local[2,4]", "--piece-size", "1M"]
    command += [f"--conf={key}={value}" for key, value in SMALL]
    command += [f"--option={OPTIONS[0]}={OPTIONS[1]}", f"--option={OPTIONS[2]}={OPTIONS[3]}", str(capture), str(out)]
    with open(folder / "driver.log", "wb") as log:
        driver = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        thread, done = when(lambda: list(out.glob("_digest/pieces/p*/row.json")),
                            lambda: os.killpg(driver.pid, signal.SIGKILL) or True)
        thread.join()
        driver.wait()
    check(done and not list(out.glob("[a-z]*")), "a killed driver left tables")
    before = len(list(out.glob("_digest/pieces/p*/row.json")))
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    check(again.returncode == 0, f"the second run: {again.stderr[-2000:]}")
    # a task that ran may have ended after the driver
    most = len(json.loads((out / "_manifest.json").read_text())["pieces"]) - before
    made = re.search(r"nfsdigest: (\d+) pieces\n", again.stderr)
    check(most and made and int(made[1]) <= most, f"made more than {most}: {again.stderr[-2000:]}")
    compare("local", [capture], out, folder)
    wrong = subprocess.run(command[:-2] + [str(folder / "none.pcap"), str(out)], capture_output=True, text=True,
                           check=False)
    check(wrong.returncode == 3 and "none.pcap" in wrong.stderr, f"a missing file: {wrong.stderr}")


def bad_piece(run, folder, capture):
    """A task that cannot succeed is not tried again, and is named."""
    data = bytearray(capture.read_bytes())
    data[24 + 8:24 + 12] = b"\xff\xff\xff\x7f"
    bad = folder / "bad.pcap"
    bad.write_bytes(data)
    try:
        begun(folder / "bad", [bad], 1 << 20).run(run)
        check(False, "a damaged capture was taken")
    except digest.Refused as error:
        check(error.code == 3 and "bad.pcap" in str(error), f"a damaged capture: {error}")


def example(name):
    spec = importlib.util.spec_from_file_location(name, SRC / f"python/examples/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(frame):
    return [tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in frame]


def examples(first, second, without):
    session, stored = spark.session(), data_set.opened(first)
    check(example("busiest_paths").busiest(session, without).count() == 0, "paths of a data set without operations")
    got = rows(example("busiest_paths").busiest(session, first, 10).select("path", "operations", "read").collect())
    want = stored.execute("SELECT p.text, count(*) c, sum(CASE WHEN procedure = 6 AND program = 100003 THEN data_length "
                          "ELSE 0 END) FROM operation o JOIN path p ON p.part = o.part AND p.id = o.path "
                          "GROUP BY 1 ORDER BY c DESC, 1 LIMIT 10").fetchall()
    check(got == rows(want) and got, f"busiest paths: {got} {want}")
    got = rows(example("latency_by_hour").by_hour(session, first).drop("hour").collect())
    want = stored.execute("SELECT client, count(*), quantile_disc(latency, 0.5) / 1e6, quantile_disc(latency, 0.99) / 1e6,"
                          " max(latency) / 1e6 FROM operation WHERE latency IS NOT NULL GROUP BY "
                          "coalesce(call_time, reply_time) // 3600000000000, client "
                          "ORDER BY coalesce(call_time, reply_time) // 3600000000000, client").fetchall()
    check(got == rows(want) and got, f"by hour: {got} {want}")
    got = example("two_months").side_by_side(session, first, second).collect()
    for number, folder in ((1, first), (2, second)):
        want = dict(data_set.opened(folder).execute(
            "SELECT p.name, count(*) FROM operation o JOIN procedure p ON p.program = o.program AND "
            "p.version = o.version AND p.number = o.procedure WHERE p.name <> 'NULL' GROUP BY 1").fetchall())
        found = {row.procedure: row[f"operations_{number}"] for row in got
                 if row[f"operations_{number}"] and row.procedure != "NULL"}
        check(found == want, f"two months: {found} {want}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [unpacked(folder, "load-ganesha-vfs.pcap.zst"), unpacked(folder, "knfsd-netem-tcp.pcap.zst")]
        slow(folder)
        cluster = Cluster(folder)
        try:
            context = spark.context(cluster.url, SMALL)
            run = spark.runner(context, digest.progress)
            first = on_cluster(cluster, run, folder, files)
            begun(folder / "second", files[1:], 1 << 20).run(run)
            compare("second", files[1:], folder / "second", folder)
            bad_piece(run, folder, files[1])
            empty = folder / "empty.pcap"
            empty.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
            begun(folder / "empty", [empty], 1 << 20).run(run)
            examples(first, folder / "second", folder / "empty")
            context.stop()
        finally:
            cluster.stop()
        driver_killed(folder, files[1])
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
