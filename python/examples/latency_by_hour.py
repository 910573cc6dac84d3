#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Latencies of each client, hour by hour: spark-submit latency_by_hour.py OUT"""

import sys

from nfsdigest import spark

BY_HOUR = """
SELECT date_trunc('HOUR', time) AS hour, client, count(*) AS operations,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY latency) / 1e6 AS p50_ms,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY latency) / 1e6 AS p99_ms, max(latency) / 1e6 AS max_ms
  FROM operation WHERE latency IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2"""


def by_hour(session, folder):
    spark.views(session, folder)
    return session.sql(BY_HOUR)


if __name__ == "__main__":
    by_hour(spark.session("latency by hour"), sys.argv[1]).show(1000, truncate=False)
