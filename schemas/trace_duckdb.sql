-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- trace_duckdb.sql: the tables and views of trace.sql, for a Parquet data set in DuckDB.
--
--     $ python -m nfsdigest.parquet CAPTURE -o DIR
--     $ duckdb
--     D SET VARIABLE trace = 'DIR';
--     D .read trace_duckdb.sql
--     D SELECT * FROM op LIMIT 10;
--
-- Differences from trace.db: the columns that carry bodies and contents are there only if the data set has
-- them (--bodies); |day| is a column of operation; ids are those of one part of the data set (|part|), so
-- joins on ids of a data set of several parts also need |part|.

CREATE OR REPLACE VIEW operation AS
SELECT *, reply_time - call_time AS latency
  FROM read_parquet(getvariable('trace') || '/operations/*/*/*.parquet', hive_partitioning = true,
                    hive_types = {'day': VARCHAR, 'server': VARCHAR}, union_by_name = true);
CREATE OR REPLACE VIEW retransmission AS
SELECT * FROM read_parquet(getvariable('trace') || '/retransmissions/*.parquet');
CREATE OR REPLACE VIEW copy AS SELECT * FROM read_parquet(getvariable('trace') || '/copies/*.parquet');
CREATE OR REPLACE VIEW problem AS SELECT * FROM read_parquet(getvariable('trace') || '/problems/*.parquet');
CREATE OR REPLACE VIEW connection_event AS
SELECT * FROM read_parquet(getvariable('trace') || '/connection_events/*.parquet');
CREATE OR REPLACE VIEW object AS SELECT * FROM read_parquet(getvariable('trace') || '/objects/*.parquet');
CREATE OR REPLACE VIEW path AS SELECT * FROM read_parquet(getvariable('trace') || '/paths/*.parquet');
CREATE OR REPLACE VIEW name_event AS SELECT * FROM read_parquet(getvariable('trace') || '/names/*.parquet');
CREATE OR REPLACE VIEW credential AS
SELECT * FROM read_parquet(getvariable('trace') || '/credentials/*.parquet');
CREATE OR REPLACE VIEW flow AS SELECT * FROM read_parquet(getvariable('trace') || '/flows/*.parquet');
-- The captures that the data set is made of.
CREATE OR REPLACE VIEW source AS SELECT * FROM read_parquet(getvariable('trace') || '/sources/*.parquet');
CREATE OR REPLACE VIEW counter AS SELECT * FROM read_parquet(getvariable('trace') || '/counters/*.parquet');

-- The same in every trace.
CREATE OR REPLACE VIEW program AS SELECT * FROM read_parquet(getvariable('trace') || '/programs/*.parquet');
CREATE OR REPLACE VIEW procedure AS
SELECT * FROM read_parquet(getvariable('trace') || '/procedures/*.parquet');
CREATE OR REPLACE VIEW status_name AS
SELECT * FROM read_parquet(getvariable('trace') || '/status_names/*.parquet');
CREATE OR REPLACE VIEW field AS SELECT * FROM read_parquet(getvariable('trace') || '/fields/*.parquet');
CREATE OR REPLACE VIEW code AS SELECT * FROM read_parquet(getvariable('trace') || '/codes/*.parquet');

-- Operations in readable form.
CREATE OR REPLACE VIEW op AS
SELECT o.part, o.id,
       strftime(make_timestamp_ns(coalesce(o.call_time, o.reply_time)), '%Y-%m-%d %H:%M:%S.%n') AS time,
       o.client, o.server, coalesce(g.name, o.program::VARCHAR) AS program, o.version,
       coalesce(r.name, o.procedure::VARCHAR) AS procedure,
       p.text AS path, p2.text AS path2, o."offset", o."count",
       CASE WHEN o.rpc_status <> 0 THEN c.name ELSE coalesce(s.name, o.status::VARCHAR) END AS status,
       w.name AS pairing, o.latency / 1e6 AS latency_ms, u.uid,
       o.xid, o.call_source, o.call_frame, o.reply_source, o.reply_frame,
       o.object, o.object2, o.new_object, o.depends_on
  FROM operation o
  LEFT JOIN program g ON g.number = o.program AND g.version = o.version
  LEFT JOIN procedure r ON r.program = o.program AND r.version = o.version AND r.number = o.procedure
  LEFT JOIN path p ON p.part = o.part AND p.id = o.path
  LEFT JOIN path p2 ON p2.part = o.part AND p2.id = o.path2
  LEFT JOIN code c ON c.domain = 'rpc_status' AND c.value = o.rpc_status
  LEFT JOIN status_name s ON s.program = o.program AND s.version = o.version
                         AND s.procedure = o.procedure AND s.status = o.status
  LEFT JOIN code w ON w.domain = 'pairing' AND w.value = o.pairing
  LEFT JOIN credential u ON u.part = o.part AND u.id = o.credential;

-- Latencies of answered operations in milliseconds; percentiles by nearest rank.
CREATE OR REPLACE VIEW latency_by_procedure AS
SELECT coalesce(g.name, l.program::VARCHAR) AS program, l.version,
       coalesce(r.name, l.procedure::VARCHAR) AS procedure, l.operations, l.p50_ms, l.p90_ms, l.p99_ms, l.max_ms
  FROM (SELECT program, version, procedure, count(*) AS operations,
               quantile_disc(latency, 0.5) / 1e6 AS p50_ms, quantile_disc(latency, 0.9) / 1e6 AS p90_ms,
               quantile_disc(latency, 0.99) / 1e6 AS p99_ms, max(latency) / 1e6 AS max_ms
          FROM operation WHERE latency IS NOT NULL GROUP BY ALL) l
  LEFT JOIN program g ON g.number = l.program AND g.version = l.version
  LEFT JOIN procedure r ON r.program = l.program AND r.version = l.version AND r.number = l.procedure;

CREATE OR REPLACE VIEW latency_by_client AS
SELECT client, count(*) AS operations, quantile_disc(latency, 0.5) / 1e6 AS p50_ms,
       quantile_disc(latency, 0.9) / 1e6 AS p90_ms, quantile_disc(latency, 0.99) / 1e6 AS p99_ms,
       max(latency) / 1e6 AS max_ms
  FROM operation WHERE latency IS NOT NULL GROUP BY client;

CREATE OR REPLACE VIEW latency_by_path AS
SELECT p.text AS path, count(*) AS operations, quantile_disc(o.latency, 0.5) / 1e6 AS p50_ms,
       quantile_disc(o.latency, 0.9) / 1e6 AS p90_ms, quantile_disc(o.latency, 0.99) / 1e6 AS p99_ms,
       max(o.latency) / 1e6 AS max_ms
  FROM operation o JOIN path p ON p.part = o.part AND p.id = o.path WHERE o.latency IS NOT NULL
 GROUP BY p.text, CASE WHEN p.text LIKE '[#%' THEN p.part END; -- [#N] is the object N of a part
