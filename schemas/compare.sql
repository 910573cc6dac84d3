-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The result of nfsdigest compare (-o OUT.db): two servers' answers to the same requests.
--
-- PRAGMA application_id is 0x4e465343 ("NFSC"), PRAGMA user_version the version of this schema; a
-- program refuses a later one.  Conventions (times, frames, names, addresses, NULL) are those of
-- trace.sql; numbers above 2^63-1 are negative, printf('%u', x) shows them.
--
-- There are two sides, 1 the reference and 2 the system under test, in columns ref and sut.  Operations
-- and objects are named by their ids in the trace database of their side.  Reports are made from this
-- file alone.  Comparing again under other rules needs the two trace databases, which table side
-- names, but no capture.
--
-- This file has two sections, each begun by a line "--- NAME"; indexes are made when the rest is there.

--- tables

-- 'created_by'; 'rules_digest': XXH3-128 of all rule files, as hex; 'requests_digest': of the
-- rules that say which requests are equal; 'state': 'complete'; 'operations_ref', 'operations_sut',
-- 'pairs', 'discrepancies', 'groups', 'withheld', 'uncertain': counts; 'noise': 1 if there was a second run of the
-- reference
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Names of codes used in other tables: domains 'align', 'reason', 'overlap', 'kind', 'match',
-- 'withheld', 'unsynchronized', 'severity', and for people |text|, which says more than |name|.
CREATE TABLE code (
    domain TEXT NOT NULL,
    value INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (domain, value)
) STRICT, WITHOUT ROWID;

-- Rule files, in their order: later ones override.
CREATE TABLE rule_file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,             -- 'default', or the path as given
    digest TEXT NOT NULL,           -- XXH3-128 of |text|, hex
    text TEXT NOT NULL
) STRICT;

-- Each rule that a discrepancy names.
CREATE TABLE rule (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES rule_file,
    line INTEGER NOT NULL,
    text TEXT NOT NULL              -- '[classes] size = bitwise'
) STRICT;

CREATE TABLE side (
    id INTEGER PRIMARY KEY,         -- 1 ref, 2 sut, 3 the noise run of ref
    name TEXT NOT NULL,             -- 'ref', 'sut', 'noise'
    database TEXT NOT NULL,         -- as given
    path TEXT NOT NULL,             -- absolute
    server TEXT,                    -- --ref-server, --sut-server; NULL: all of the database
    digest TEXT NOT NULL,           -- XXH3-128 over the digests of its sources, hex
    operations INTEGER NOT NULL,    -- of that server
    first_time INTEGER,
    last_time INTEGER,
    clock_offset INTEGER,           -- ns: the server's clock minus the capture's; NULL: not known
    clock_error INTEGER,            -- ns: it may be off by this
    granularity INTEGER             -- ns: of the times that the server gives to files, the finest
) STRICT;

-- How fine times are, by file system and kind of reply, as far as changes showed it.
CREATE TABLE granularity (
    side INTEGER NOT NULL REFERENCES side,
    fsid INTEGER NOT NULL,
    is_before INTEGER NOT NULL,     -- 1: as wcc_attr tells them, from before an operation; 0: after it
    time TEXT NOT NULL,             -- 'atime', 'mtime', 'ctime'
    step INTEGER NOT NULL,          -- ns
    PRIMARY KEY (side, fsid, is_before, time)
) STRICT, WITHOUT ROWID;

-- The captures of a side's database.
CREATE TABLE source (
    side INTEGER NOT NULL REFERENCES side,
    id INTEGER NOT NULL,            -- there
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    frames INTEGER NOT NULL,
    PRIMARY KEY (side, id)
) STRICT, WITHOUT ROWID;

-- Which client of one side is which of the other.
CREATE TABLE client (
    id INTEGER PRIMARY KEY,
    ref TEXT,                       -- NULL: only the other side has it
    sut TEXT
) STRICT;

-- Objects that were matched.
CREATE TABLE object (
    id INTEGER PRIMARY KEY,
    ref INTEGER NOT NULL,           -- object.id of the side's database
    sut INTEGER NOT NULL,
    how INTEGER NOT NULL,           -- code 'match'
    type INTEGER,                   -- ftype3
    path TEXT                       -- first known, from the matched root on
) STRICT;

-- Further handles that a server gave to objects that were matched.
CREATE TABLE other_handle (
    side INTEGER NOT NULL,
    object INTEGER NOT NULL,        -- object.id of the side's database
    same_as INTEGER NOT NULL REFERENCES object,
    operation INTEGER NOT NULL,     -- of that side, which showed it
    PRIMARY KEY (side, object)
) STRICT, WITHOUT ROWID;

-- Every operation of both sides once: pairs, and what has no counterpart.
CREATE TABLE alignment (
    id INTEGER PRIMARY KEY,         -- in the order in which they are compared: that of the calls of the
                                    -- side whose capture began first, whichever is the reference
    kind INTEGER NOT NULL,          -- code 'align'
    reason INTEGER NOT NULL,        -- code 'reason': why there is no counterpart; 0 for pairs
    ref INTEGER,                    -- operation
    sut INTEGER,
    object INTEGER,                 -- row of object; NULL: none, or not matched
    client INTEGER,                 -- row of client
    listing INTEGER,                -- 'part' of a listing: the operation of the same side that began it
    ref_overlap INTEGER,            -- code 'overlap', bits: what other requests were under way; NULL: none
    sut_overlap INTEGER,
    -- what had been changed before on both sides, as a difference of sums; NULL: the same
    object_state INTEGER,           -- of the object, or of the directory of a name
    object2_state INTEGER,
    new_state INTEGER,
    -- what had been read before, likewise: access times change by it
    object_reads INTEGER,
    new_reads INTEGER,
    -- which request changed modes and owners last, or removed it; which one the name
    object_rights INTEGER,
    new_rights INTEGER,
    name_change INTEGER,
    name2_change INTEGER,
    other_last INTEGER              -- 1: another request changed the object last
) STRICT;

-- A difference between two replies (or two operations).
CREATE TABLE discrepancy (
    id INTEGER PRIMARY KEY,
    discrepancy_group INTEGER NOT NULL REFERENCES discrepancy_group,
    alignment INTEGER REFERENCES alignment, -- NULL: of a whole side
    ref INTEGER,                    -- operations: those of |alignment|, or of a later part of a listing
    sut INTEGER,
    object INTEGER,                 -- row of object that the field speaks of; NULL: none
    element TEXT,                   -- of a list: the entry's name, or its number from 0
    ref_text TEXT,                  -- values as text (at most 256 bytes); NULL: there is none
    sut_text TEXT,
    ref_number INTEGER,             -- and as number, where they are
    sut_number INTEGER
) STRICT;

-- Like discrepancies: same kind, procedure, field, kind of difference.
CREATE TABLE discrepancy_group (
    id INTEGER PRIMARY KEY,         -- the gravest first, of these the most frequent
    kind INTEGER NOT NULL,          -- code 'kind'
    class TEXT,                     -- of the field: 'time', ...
    program INTEGER,
    version INTEGER,
    procedure INTEGER,
    operation TEXT NOT NULL,        -- 'NFS READ', ...; '' when of no procedure
    field TEXT NOT NULL,            -- 'READ3res.resok.eof'; ref's where they differ; for kinds without a
                                    -- field the word that rule files have ('missing-reply', ...)
    difference TEXT NOT NULL,       -- 'ref 1, sut 0', 'only ref', 'sut later', 'NFS3_OK, NFS3ERR_EXIST'
    rule INTEGER REFERENCES rule,   -- that was not met
    cause TEXT,                     -- name in schemas/rules/causes.conf; NULL: none is known
    reason TEXT NOT NULL,           -- explanation in words
    count INTEGER NOT NULL,         -- discrepancies
    compared INTEGER NOT NULL,      -- comparisons of this field in this procedure
    -- the same difference, in either direction, between two runs of the reference: of the same kind,
    -- procedure and field, and in the same words, but for ref and sut (larger and smaller, later and
    -- earlier, more and fewer), and for the order of a pair of values or statuses.  NULL: without --noise,
    -- and for what is found only under the rules of a later comparison
    noise_count INTEGER,
    noise_compared INTEGER,         -- comparisons there
    is_noise INTEGER NOT NULL,      -- 1: both directions together are not more than twice as frequent here
    severity INTEGER NOT NULL DEFAULT 1 -- code 'severity': 1 outcome and contents, 2 missing replies,
                                    -- 3 attributes, 4 limits, 5 performance
) STRICT;

-- Examples of a group, and the operations that lead to each: what a minimal reproduction does.
CREATE TABLE step (
    discrepancy_group INTEGER NOT NULL REFERENCES discrepancy_group,
    example INTEGER NOT NULL,       -- from 1
    number INTEGER NOT NULL,        -- from 1; the last one of an example is the discrepancy's
    discrepancy INTEGER NOT NULL,
    ref INTEGER,
    sut INTEGER,
    PRIMARY KEY (discrepancy_group, example, number)
) STRICT, WITHOUT ROWID;

-- Operations that discrepancies, steps and table uncertain name, and those without a counterpart, so that
-- reports need no trace database.
CREATE TABLE operation (
    side INTEGER NOT NULL,
    id INTEGER NOT NULL,
    program INTEGER,
    version INTEGER,
    procedure INTEGER,
    name TEXT NOT NULL,             -- 'NFS READ'
    client TEXT NOT NULL,
    server TEXT NOT NULL,
    xid INTEGER NOT NULL,
    path TEXT,
    path2 TEXT,
    offset INTEGER,
    count INTEGER,
    status TEXT,                    -- 'NFS3_OK', 'GARBAGE_ARGS'; NULL: no reply
    call_source INTEGER,
    call_frame INTEGER,
    call_time INTEGER,
    reply_source INTEGER,
    reply_frame INTEGER,
    reply_time INTEGER,
    arguments_length INTEGER,       -- bodies: of operations in table step only
    result_length INTEGER,
    arguments BLOB,                 -- XDR, file contents left out
    result BLOB,
    data_length INTEGER,
    data_digest BLOB,
    call_flags INTEGER,             -- as in the side's database: code 'sighting', bits
    reply_flags INTEGER,
    PRIMARY KEY (side, id)
) STRICT, WITHOUT ROWID;

-- Where in the captures discrepancies are: the reply's frame, or the call's where there is no reply.
CREATE TABLE frame (
    side INTEGER NOT NULL,
    source INTEGER NOT NULL,
    frame INTEGER NOT NULL,
    xid INTEGER NOT NULL,           -- several messages may end in one frame
    discrepancy INTEGER NOT NULL REFERENCES discrepancy,
    other_source INTEGER,           -- the counterpart's frame; NULL: there is none
    other_frame INTEGER,
    time INTEGER,                   -- of this frame: whoever has only the capture knows it by frame,
                                    -- XID and time
    PRIMARY KEY (side, source, frame, xid, discrepancy)
) STRICT, WITHOUT ROWID;

-- Comparisons by procedure and field.
CREATE TABLE compared (
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    field TEXT NOT NULL,
    equal INTEGER NOT NULL,         -- as the rule has it
    different INTEGER NOT NULL,
    withheld INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    PRIMARY KEY (program, version, procedure, field)
) STRICT, WITHOUT ROWID;

-- Comparisons that were not made, or whose outcome does not count.
CREATE TABLE withheld (
    reason INTEGER NOT NULL,        -- code 'withheld'
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    field TEXT NOT NULL,            -- '': of the whole operation
    count INTEGER NOT NULL,
    ref INTEGER,                    -- first operations
    sut INTEGER,
    PRIMARY KEY (reason, program, version, procedure, field)
) STRICT, WITHOUT ROWID;

-- Withheld statuses, contents and missing replies one by one: these differ, but something else may
-- explain it.  Replies that a capture is known to have lost are only counted (reason 'reply lost').  The first 1000 of each kind; meta 'uncertain' counts all.
CREATE TABLE uncertain (
    id INTEGER PRIMARY KEY,
    alignment INTEGER NOT NULL REFERENCES alignment,
    reason INTEGER NOT NULL,        -- code 'withheld'
    kind INTEGER NOT NULL,          -- code 'kind'
    operation TEXT NOT NULL,        -- as in the group, with field and difference
    field TEXT NOT NULL,
    difference TEXT NOT NULL,
    object INTEGER,                 -- row of object; NULL: none
    ref INTEGER,                    -- operations
    sut INTEGER,
    ref_text TEXT,                  -- values; NULL: there is none
    sut_text TEXT
) STRICT;

-- When objects were not known to be the same on both sides.
CREATE TABLE unsynchronized (
    id INTEGER PRIMARY KEY,
    object INTEGER NOT NULL REFERENCES object,
    what INTEGER NOT NULL,          -- code 'unsynchronized'
    reason INTEGER NOT NULL,        -- code 'withheld'
    name TEXT,                      -- of an entry
    offset INTEGER,                 -- of an extent
    length INTEGER,
    from_ref INTEGER,               -- operations that made it so, or where it showed first
    from_sut INTEGER,
    until_ref INTEGER,              -- that showed both sides alike; NULL: to the end
    until_sut INTEGER,
    withheld INTEGER NOT NULL       -- comparisons
) STRICT;

-- Latencies of pairs that both sides answered, ns; percentiles by nearest rank.
CREATE TABLE performance (
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    operation TEXT NOT NULL,
    pairs INTEGER NOT NULL,
    ref_p50 INTEGER NOT NULL,
    ref_p90 INTEGER NOT NULL,
    ref_p99 INTEGER NOT NULL,
    ref_max INTEGER NOT NULL,
    ref_mean INTEGER NOT NULL,
    sut_p50 INTEGER NOT NULL,
    sut_p90 INTEGER NOT NULL,
    sut_p99 INTEGER NOT NULL,
    sut_max INTEGER NOT NULL,
    sut_mean INTEGER NOT NULL,
    ratio REAL NOT NULL,            -- of the medians: sut / ref
    PRIMARY KEY (program, version, procedure)
) STRICT, WITHOUT ROWID;

-- The same pairs by latency, for plots: bucket b holds 1000 * 2^(b/4) <= ns < 1000 * 2^((b+1)/4); what is
-- shorter is in bucket 0.
CREATE TABLE latency (
    side INTEGER NOT NULL,
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (side, program, version, procedure, bucket)
) STRICT, WITHOUT ROWID;

-- Pairs with the largest differences in latency, in either direction.
CREATE TABLE slowest (
    rank INTEGER PRIMARY KEY,
    alignment INTEGER NOT NULL REFERENCES alignment,
    ref INTEGER NOT NULL,
    sut INTEGER NOT NULL,
    ref_latency INTEGER NOT NULL,
    sut_latency INTEGER NOT NULL
) STRICT;

-- Discrepancies as a person reads them, with the frames of replies, or of calls where there is no reply.
CREATE VIEW discrepancies AS
SELECT d.id, c.id AS discrepancy_group, k.name AS kind, c.operation, c.field, c.difference, d.element,
       d.ref_text, d.sut_text, ifnull(ifnull(r.path, s.path),
       (SELECT path FROM object o WHERE o.id = d.object)) AS path,
       d.ref, ifnull(r.reply_source, r.call_source) AS ref_source,
       ifnull(r.reply_frame, r.call_frame) AS ref_frame,
       d.sut, ifnull(s.reply_source, s.call_source) AS sut_source,
       ifnull(s.reply_frame, s.call_frame) AS sut_frame, c.reason
  FROM discrepancy d JOIN discrepancy_group c ON c.id = d.discrepancy_group
  JOIN code k ON k.domain = 'kind' AND k.value = c.kind
  LEFT JOIN operation r ON r.side = 1 AND r.id = d.ref
  LEFT JOIN operation s ON s.side = 2 AND s.id = d.sut;

-- Uncertain differences as a person reads them.
CREATE VIEW doubt AS
SELECT u.id, w.name AS reason, k.name AS kind, u.operation, u.field, u.difference,
       ifnull(ifnull(r.path, s.path), (SELECT path FROM object o WHERE o.id = u.object)) AS path,
       u.ref_text, u.sut_text, u.ref, ifnull(r.reply_source, r.call_source) AS ref_source,
       ifnull(r.reply_frame, r.call_frame) AS ref_frame,
       u.sut, ifnull(s.reply_source, s.call_source) AS sut_source,
       ifnull(s.reply_frame, s.call_frame) AS sut_frame, w.text
  FROM uncertain u JOIN code w ON w.domain = 'withheld' AND w.value = u.reason
  JOIN code k ON k.domain = 'kind' AND k.value = u.kind
  LEFT JOIN operation r ON r.side = 1 AND r.id = u.ref
  LEFT JOIN operation s ON s.side = 2 AND s.id = u.sut;

-- Operations without a counterpart, with the frame of the call, or of the reply where the call was not
-- captured.
CREATE VIEW one_sided AS
SELECT a.id, CASE WHEN a.ref IS NULL THEN 'sut' ELSE 'ref' END AS side,
       ifnull(a.ref, a.sut) AS operation, o.name AS procedure,
       ifnull(o.call_source, o.reply_source) AS source, ifnull(o.call_frame, o.reply_frame) AS frame,
       c.name AS reason, ifnull(o.path, (SELECT path FROM object x WHERE x.id = a.object)) AS path
  FROM alignment a JOIN code c ON c.domain = 'reason' AND c.value = a.reason
  LEFT JOIN operation o ON o.side = CASE WHEN a.ref IS NULL THEN 2 ELSE 1 END
   AND o.id = ifnull(a.ref, a.sut)
 WHERE a.kind = 2;

--- indexes

CREATE INDEX alignment_by_ref ON alignment (ref) WHERE ref IS NOT NULL;
CREATE INDEX alignment_by_sut ON alignment (sut) WHERE sut IS NOT NULL;
CREATE INDEX alignment_by_object ON alignment (object);
CREATE INDEX alignment_by_listing ON alignment (listing) WHERE listing IS NOT NULL;
CREATE INDEX object_by_ref ON object (ref);
CREATE INDEX object_by_sut ON object (sut);
CREATE INDEX discrepancy_by_group ON discrepancy (discrepancy_group);
CREATE INDEX discrepancy_by_ref ON discrepancy (ref);
CREATE INDEX discrepancy_by_sut ON discrepancy (sut);
