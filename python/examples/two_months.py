#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two data sets, such as those of two months, side by side, procedure by procedure:
spark-submit two_months.py OCTOBER NOVEMBER"""

import sys

from nfsdigest import spark

SIDE = """
SELECT program, version, procedure, count(*) AS operations,
       sum(CASE WHEN rpc_status > 0 OR status > 0 AND NOT (program = 100021 AND status = 3)
           THEN 1 ELSE 0 END) AS errors,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY latency) / 1e6 AS p50_ms,
       percentile_disc(0.99) WITHIN GROUP (ORDER BY latency) / 1e6 AS p99_ms
  FROM operation{month} GROUP BY 1, 2, 3"""
BOTH = f"""
SELECT coalesce(r.name, CAST(procedure AS STRING)) AS procedure, a.operations AS operations_1,
       b.operations AS operations_2, a.errors AS errors_1, b.errors AS errors_2, a.p50_ms AS p50_ms_1,
       b.p50_ms AS p50_ms_2, a.p99_ms AS p99_ms_1, b.p99_ms AS p99_ms_2
  FROM ({SIDE.format(month="_1")}) a FULL OUTER JOIN ({SIDE.format(month="_2")}) b
       USING (program, version, procedure)
  LEFT JOIN (SELECT program, version, number AS procedure, name FROM procedure_1) r USING (program, version, procedure)
 ORDER BY greatest(coalesce(a.operations, 0), coalesce(b.operations, 0)) DESC, program, version, procedure"""


def side_by_side(session, first, second):
    spark.views(session, first, "_1")
    spark.views(session, second, "_2")
    return session.sql(BOTH)


if __name__ == "__main__":
    side_by_side(spark.session("two months"), *sys.argv[1:]).show(1000, truncate=False)
