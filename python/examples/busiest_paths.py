#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which paths are used most: spark-submit busiest_paths.py OUT [N]"""

import sys

from nfsdigest import spark

# Ids are those of a part.  Objects whose path is unknown have one that begins with [#, with the id of that part.
BUSIEST = """
SELECT p.text AS path, count(*) AS operations, count(DISTINCT o.client) AS clients,
       sum(CASE WHEN o.program = 100003 AND o.procedure = 6 THEN o.data_length ELSE 0 END) AS read,
       sum(CASE WHEN o.program = 100003 AND o.procedure = 7 THEN o.data_length ELSE 0 END) AS written
  FROM operation{suffix} o JOIN path{suffix} p ON p.part = o.part AND p.id = o.path
 GROUP BY p.text, CASE WHEN p.text LIKE '[#%' THEN p.part END ORDER BY operations DESC, path LIMIT {count}"""


def busiest(session, folder, count=20):
    spark.views(session, folder)
    return session.sql(BUSIEST.format(suffix="", count=int(count)))


if __name__ == "__main__":
    busiest(spark.session("busiest paths"), *sys.argv[1:]).show(1000, truncate=False)
