-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The tables that nfsdigest tree --store adds to those of trace.sql.  Each run replaces them, in one
-- transaction.  The conventions are those of trace.sql.
--
-- Numbers of objects are those of table object.  A number below 0 is an object that the trace shows only
-- by a name, without a handle.  In meta, digest_version is the version of this schema.  digest_operations is
-- the number of operations from which the tables were made; if table operation has more now, the tables
-- are out of date.

--- tables

-- A name of an object in a directory, and from when to when it existed (FEUT's hierarchy map).
CREATE TABLE tree_entry (
    id INTEGER PRIMARY KEY,
    object INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    name TEXT NOT NULL,
    start INTEGER,                  -- NULL: it existed before the trace
    stop INTEGER,                   -- NULL: it exists at the end of the trace
    start_operation INTEGER NOT NULL, -- made it or first showed it; for '.nfsdigest-unseen-N': proves
                                      -- that something was there
    seen_operation INTEGER NOT NULL,  -- showed it last
    stop_operation INTEGER            -- removed it, or proved that it was gone
) STRICT;

-- An object of the initial tree with its attributes.  NULL: unknown.
CREATE TABLE tree_initial (
    object INTEGER PRIMARY KEY,
    root TEXT,                      -- the path under which it was mounted, if it was
    type INTEGER,                   -- code 'object_type'
    size INTEGER,
    at_least INTEGER NOT NULL,      -- 1: |size| is a minimum: the furthest READ ended there
    guessed INTEGER NOT NULL,       -- 1: some attributes were seen only after a change
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

-- An inferred operation: it must have happened, but was not captured.  A replay dump of the whole trace
-- has the same ones in the same order.
CREATE TABLE tree_inferred (
    id INTEGER PRIMARY KEY,
    precedes INTEGER NOT NULL,      -- the operation that proves it; it belongs before that one
    reason INTEGER NOT NULL,        -- code 'inference'
    witness INTEGER,                -- earlier operation that showed the opposite
    explained INTEGER,              -- operation without a reply that may be this one
    procedure INTEGER NOT NULL,     -- of NFS version 3
    object INTEGER,                 -- made, removed, moved, linked or changed
    parent INTEGER,                 -- NULL for LINK, and for SETATTR, which has no name
    name TEXT,
    parent2 INTEGER,                -- RENAME, LINK: the target directory
    name2 TEXT
) STRICT;

-- An operation that cannot be replayed.  A replay dump of the whole trace has the same ones.
CREATE TABLE tree_unplayable (
    operation INTEGER PRIMARY KEY,
    reason INTEGER NOT NULL         -- code 'unplayable'
) STRICT;

--- views

-- Inferred operations for people, with the frames that prove them.
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
