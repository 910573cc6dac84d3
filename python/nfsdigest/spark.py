# SPDX-License-Identifier: GPL-2.0-or-later
"""nfsdigest.digest on Apache Spark, and data sets as its views:

    nfsdigest-spark digest [--master URL] CAPTURE... OUT
    python -m nfsdigest.spark digest ...                   the same

All machines need this package and nfsdigest, and the captures and OUT under the same names.
"""

import argparse
import os
import pathlib
import sys
import threading

from nfsdigest import digest, pieces
from nfsdigest.job import run_task

# Of the driver's environment, what tasks need.
PASSED = ("NFSDIGEST", "NFSDIGEST_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH", "PATH")
# schemas/trace.sql: the name of a table, and that of its folder
VIEWS = {"operation": "operations", "retransmission": "retransmissions", "copy": "copies", "problem": "problems",
         "connection_event": "connection_events", "object": "objects", "path": "paths", "name_event": "names",
         "credential": "credentials", "flow": "flows", "source": "sources", "counter": "counters",
         "program": "programs", "procedure": "procedures", "status_name": "status_names", "field": "fields",
         "code": "codes"}


def context(master=None, settings=()):
    """A SparkContext.  settings: (key, value)"""
    from pyspark import SparkConf, SparkContext

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # that of the tasks
    conf = SparkConf().setAppName("nfsdigest")
    # plain local[N] gives up at the first failure
    conf.setMaster(master or conf.get("spark.master", f"local[{os.cpu_count()},4]"))
    for name in PASSED:
        if name in os.environ:
            conf.setExecutorEnv(name, os.environ[name])
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    for key, value in settings:
        conf.set(key, value)
    spark = SparkContext.getOrCreate(conf)
    spark.setLogLevel("ERROR")
    return spark


def runner(spark, show=lambda done, of: None):
    """Runs tasks of nfsdigest.job on Spark, one a core."""
    def run(tasks):
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(spark, len(tasks), ended, show), daemon=True)
        watcher.start()
        try:
            return spark.parallelize(tasks, len(tasks)).map(run_task).collect()
        finally:
            ended.set()
            watcher.join()
            show(len(tasks), len(tasks))
    return run


def _watch(spark, of, ended, show):
    """Shows how many tasks are done."""
    tracker, shown = spark.statusTracker(), 0
    while not ended.wait(1):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        done = sum(stage.numCompletedTasks for stage in stages if stage)
        if shown < done < of:
            show(done, of)
            shown = done


def views(session, folder, suffix=""):
    """The tables of the data set |folder| as views of the SparkSession |session|, named as in schemas/trace.sql, with
    |suffix| behind each name.  operation has a latency, too, in ns, and a time, which is that of its call or reply."""
    for name, table in VIEWS.items():
        frame = session.read.option("mergeSchema", "true").parquet(str(pathlib.Path(folder) / table))
        if name == "operation":
            # a day and a server are texts, whatever they look like
            frame = frame.selectExpr("*", "reply_time - call_time AS latency",
                                     "timestamp_micros(coalesce(call_time, reply_time) div 1000) AS time")
        frame.createOrReplaceTempView(name + suffix)


def session(name="nfsdigest"):
    """A SparkSession for views()."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.appName(name).config("spark.sql.session.timeZone", "UTC").config(
        "spark.sql.sources.partitionColumnTypeInference.enabled", "false").getOrCreate()


def _setting(text):
    key, equal, value = text.partition("=")
    if not equal:
        raise ValueError(text)
    return key, value


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="nfsdigest-spark")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("digest", help="captures to a Parquet data set",
                                  usage="nfsdigest-spark digest [OPTION...] CAPTURE... OUT", description="Digests large captures "
                                  "into a Parquet data set, in pieces, on Apache Spark.  A second run does only what "
                                  "is missing.")
    digest.add_arguments(command)
    command.add_argument("--master", metavar="URL", help="spark://HOST:7077, local[N,4], ... (default: what "
                         "spark-submit says, else local[N,4] with all cores)")
    command.add_argument("--conf", action="append", default=[], type=_setting, metavar="KEY=VALUE",
                         help="a setting of Spark; can be given several times")
    given = parser.parse_args(arguments)
    return digest.ended(lambda: _digest(given))


def _reason(error):
    """The line that says something, of a Java exception with its stack."""
    lines = [line.strip() for line in str(error).splitlines()]
    chosen = [line for line in lines if line and not line.startswith(("at ", "File ", "SQLSTATE", "^"))]
    return next((line for line in chosen if "Job aborted" in line or "Error: " in line), chosen[-1] if chosen else error)


def _digest(given):
    from py4j.protocol import Py4JError

    job = digest.begin(given)
    if job.is_done():
        return digest.finished(job.manifest())
    spark = context(given.master, given.conf)
    try:
        return digest.finished(job.run(runner(spark, digest.progress), digest.say))
    except Py4JError as error:  # Spark has given up
        raise pieces.Refused(4, f"Spark ended the work: {_reason(error)}; the same command goes on") from None
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
