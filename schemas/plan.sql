-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The tables that nfsdigest deps --store adds to those of trace.sql.  Each run replaces them, in one
-- transaction.  The conventions are those of trace.sql.
--
-- A plan is a trace that is ready for replay: its operations of NFS version 3, in an order in which they
-- can have happened, together with the inferred ones.  Places count from 0 in this order, as in a replay
-- dump of the whole trace.
--
-- In meta, plan_version is the version of this schema.  plan_operations is the number of rows of table
-- operation from which the plan was made; if there are more now, the plan is out of date.

--- tables

CREATE TABLE plan_operation (
    place INTEGER PRIMARY KEY,
    operation INTEGER,              -- NULL: inferred
    inferred INTEGER,               -- code 'inference': the kind of proof; NULL: captured
    unplayable INTEGER,             -- code 'unplayable': why it cannot be replayed; NULL: it can be
    procedure INTEGER,              -- of NFS version 3, or 100 + that of NFSACL version 3; NULL: no call captured
    time INTEGER NOT NULL,          -- of the call; inferred: of the operation that it precedes
    latency INTEGER,                -- NULL: no reply, inferred, or unknown
    path TEXT,                      -- inferred: its path, written as paths of operations are
    path2 TEXT                      -- inferred: the target of RENAME or LINK
) STRICT;

-- The operation at |place| depends directly on the operation at |on_place|, which is earlier.
CREATE TABLE plan_dependency (
    place INTEGER NOT NULL,
    granularity INTEGER NOT NULL,   -- code 'granularity'
    on_place INTEGER NOT NULL,
    PRIMARY KEY (place, granularity, on_place)
) STRICT, WITHOUT ROWID;

--- views

-- The plan for people.
CREATE VIEW plan AS
SELECT p.place, p.operation,
       strftime('%Y-%m-%d %H:%M:%S',                    -- rounded down, also before 1970
                (p.time - iif(p.time < 0, 999999999, 0)) / 1000000000, 'unixepoch')
           || printf('.%09d', (p.time % 1000000000 + 1000000000) % 1000000000) AS time,
       o.client, o.server,
       (SELECT r.name FROM procedure r WHERE r.program = iif(p.procedure < 100, 100003, 100227)
        AND r.version = 3 AND r.number = p.procedure % 100) AS procedure,
       ifnull(o.path, p.path) AS path, ifnull(o.path2, p.path2) AS path2, o.offset, o.count,
       o.status, o.call_source, o.call_frame, o.reply_source, o.reply_frame,
       (SELECT c.name FROM code c WHERE c.domain = 'inference' AND c.value = p.inferred) AS inferred,
       (SELECT c.name FROM code c WHERE c.domain = 'unplayable' AND c.value = p.unplayable)
           AS unplayable
  FROM plan_operation p LEFT JOIN op o ON o.id = p.operation;

-- Dependencies with the frames of both ends.
CREATE VIEW dependency AS
SELECT c.name AS granularity, d.place, p.operation, p.procedure, p.path, p.call_source,
       p.call_frame, p.reply_source, p.reply_frame,
       d.on_place, q.operation AS on_operation, q.procedure AS on_procedure, q.path AS on_path,
       q.call_source AS on_call_source, q.call_frame AS on_call_frame,
       q.reply_source AS on_reply_source, q.reply_frame AS on_reply_frame
  FROM plan_dependency d JOIN plan p ON p.place = d.place JOIN plan q ON q.place = d.on_place
  JOIN code c ON c.domain = 'granularity' AND c.value = d.granularity;

--- indexes

CREATE INDEX plan_by_operation ON plan_operation (operation);
CREATE INDEX plan_dependency_by_other ON plan_dependency (on_place);
