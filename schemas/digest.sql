-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What nfsdigest tree --store puts beside the tables of trace.sql: made anew at each run, in one
-- transaction.  Conventions are those of trace.sql.
--
-- Numbers of objects are those of table object; below 0 they are of objects whose handle was never
-- captured, only a name of theirs.  In meta, digest_version is the version of this schema and
-- digest_operations the number of operations that the tables were made from: where table operation has
-- more by now, they are old.

--- tables

-- A name in a directory that stood for an object, and from when to when (FEUT's hierarchy map).
CREATE TABLE tree_entry (
    id INTEGER PRIMARY KEY,
    object INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    name TEXT NOT NULL,
    start INTEGER,                  -- NULL: it was there before the trace
    stop INTEGER,                   -- NULL: it is there at the trace's end
    start_operation INTEGER NOT NULL, -- that made or first showed it; of '.nfsdigest-unseen-N': that
                                      -- proves that something was there
    seen_operation INTEGER NOT NULL,  -- the last that showed it
    stop_operation INTEGER            -- that took it away, or proved that it was gone
) STRICT;

-- An object that was there before the trace, and what it was like.  NULL: not known.
CREATE TABLE tree_initial (
    object INTEGER PRIMARY KEY,
    root TEXT,                      -- MOUNT's path, where it has one
    type INTEGER,                   -- code 'object_type'
    size INTEGER,
    at_least INTEGER NOT NULL,      -- 1: |size| is where the furthest READ ended, not the file
    guessed INTEGER NOT NULL,       -- 1: some attributes were seen after the object was changed
    mode INTEGER,
    uid INTEGER,
    gid INTEGER,
    nlink INTEGER,
    atime INTEGER,
    mtime INTEGER,
    ctime INTEGER,
    device_major INTEGER,
    device_minor INTEGER,
    link TEXT                       -- of a symbolic link
) STRICT;

-- An operation that must have happened and was not captured, in the order of a replay dump of the whole
-- trace, which has the same ones.
CREATE TABLE tree_inferred (
    id INTEGER PRIMARY KEY,
    precedes INTEGER NOT NULL,      -- operation that proves it, and before which it belongs
    reason INTEGER NOT NULL,        -- code 'inference'
    witness INTEGER,                -- earlier operation that showed what was before
    explained INTEGER,              -- operation without a reply that it may be
    procedure INTEGER NOT NULL,     -- of NFS version 3
    object INTEGER,                 -- made, removed, moved, linked or changed
    parent INTEGER,                 -- NULL with LINK, and with SETATTR, which has no name
    name TEXT,
    parent2 INTEGER,                -- RENAME, LINK: where it went
    name2 TEXT
) STRICT;

-- An operation that cannot be replayed: those of a replay dump of the whole trace.
CREATE TABLE tree_unplayable (
    operation INTEGER PRIMARY KEY,
    reason INTEGER NOT NULL         -- code 'unplayable'
) STRICT;

--- views

-- Inferences as a person reads them, with the frames that prove them.
CREATE VIEW inferred AS
SELECT i.id, c.name AS reason,
       (SELECT r.name FROM procedure r WHERE r.program = 100003 AND r.version = 3
        AND r.number = i.procedure) AS procedure,
       i.object, i.parent, i.name, i.parent2, i.name2, i.precedes,
       o.call_source, o.call_frame, o.reply_source, o.reply_frame,
       i.witness, w.reply_source AS witness_source, w.reply_frame AS witness_frame, i.explained
  FROM tree_inferred i JOIN code c ON c.domain = 'inference' AND c.value = i.reason
  JOIN operation o ON o.id = i.precedes
  LEFT JOIN operation w ON w.id = i.witness;

CREATE VIEW unplayable AS
SELECT u.operation, c.name AS why, o.time, o.client, o.procedure, o.path, o.status,
       o.call_source, o.call_frame, o.reply_source, o.reply_frame
  FROM tree_unplayable u JOIN code c ON c.domain = 'unplayable' AND c.value = u.reason
  JOIN op o ON o.id = u.operation;

--- indexes

CREATE INDEX tree_entry_by_parent ON tree_entry (parent, name);
CREATE INDEX tree_entry_by_object ON tree_entry (object);
CREATE INDEX tree_inferred_by_operation ON tree_inferred (precedes);
