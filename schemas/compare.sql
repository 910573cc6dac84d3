-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The result of nfsdigest compare (-o OUT.db): how two servers answered the same requests.
--
-- PRAGMA application_id is 0x4e465343 ("NFSC").  PRAGMA user_version is the version of this schema; a
-- program refuses a later one.  The conventions (times, frames, names, addresses, NULL) are those of
-- trace.sql.  Numbers above 2^63-1 are negative; printf('%u', x) shows them.
--
-- There are two sides: 1 is the reference and 2 the system under test, in columns ref and sut.
-- Operations and objects have their ids in the trace database of their side.  Reports need this file
-- only.  To compare again under other rules, the two trace databases in table side are needed, but no
-- capture.
--
-- This file has two sections.  Each begins with a line "--- NAME".  Indexes are made last.

--- tables

-- 'created_by'; 'rules_digest': XXH3-128 of all rule files, as hex; 'requests_digest': the same of the
-- rules that say which requests are equal; 'state': 'complete'; 'operations_ref', 'operations_sut',
-- 'pairs', 'discrepancies', 'groups', 'withheld', 'uncertain', 'accepted' (discrepancies that
-- rules for whole groups accepted): counts; 'noise': 1 if there was a
-- second run of the reference.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Names of codes used in other tables: domains 'align', 'reason', 'overlap', 'kind', 'match',
-- 'withheld', 'unsynchronized', 'severity'.  |text| is for people and says more than |name|.
CREATE TABLE code (
    domain TEXT NOT NULL,
    value INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (domain, value)
) STRICT, WITHOUT ROWID;

-- Rule files, in their order: later ones override earlier ones.
CREATE TABLE rule_file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,             -- 'default', or the path as given
    digest TEXT NOT NULL,           -- XXH3-128 of |text|, hex
    text TEXT NOT NULL
) STRICT;

-- Each rule that a discrepancy did not meet.
CREATE TABLE rule (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES rule_file,
    line INTEGER NOT NULL,
    text TEXT NOT NULL              -- '[classes] size = bitwise'
) STRICT;

CREATE TABLE side (
    id INTEGER PRIMARY KEY,         -- 1 ref, 2 sut, 3 second run of ref, for noise
    name TEXT NOT NULL,             -- 'ref', 'sut', 'noise'
    database TEXT NOT NULL,         -- as given
    path TEXT NOT NULL,             -- absolute
    server TEXT,                    -- --ref-server, --sut-server; NULL: all servers
    digest TEXT NOT NULL,           -- XXH3-128 of the digests of its sources, hex
    operations INTEGER NOT NULL,    -- of that server
    first_time INTEGER,
    last_time INTEGER,
    clock_offset INTEGER,           -- ns: the server's clock minus the capture's; NULL: unknown
    clock_error INTEGER,            -- ns: the offset may be wrong by so much
    granularity INTEGER             -- ns: the finest that times of the server's files have
) STRICT;

-- The granularity of the times of files, by file system and kind of reply.  Changes of files show it.
CREATE TABLE granularity (
    side INTEGER NOT NULL REFERENCES side,
    fsid INTEGER NOT NULL,
    is_before INTEGER NOT NULL,     -- 1: from before an operation (wcc_attr); 0: after it
    time TEXT NOT NULL,             -- 'atime', 'mtime', 'ctime'
    step INTEGER NOT NULL,          -- ns
    PRIMARY KEY (side, fsid, is_before, time)
) STRICT, WITHOUT ROWID;

-- The captures of a side's database.
CREATE TABLE source (
    side INTEGER NOT NULL REFERENCES side,
    id INTEGER NOT NULL,            -- source.id of that database
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    frames INTEGER NOT NULL,
    PRIMARY KEY (side, id)
) STRICT, WITHOUT ROWID;

-- Matched clients, and those that only one side has.
CREATE TABLE client (
    id INTEGER PRIMARY KEY,
    ref TEXT,                       -- NULL: only the other side has this client
    sut TEXT
) STRICT;

-- Objects that were matched.
CREATE TABLE object (
    id INTEGER PRIMARY KEY,
    ref INTEGER NOT NULL,           -- object.id of the side's database
    sut INTEGER NOT NULL,
    how INTEGER NOT NULL,           -- code 'match'
    type INTEGER,                   -- ftype3
    path TEXT                       -- the first known path, from the matched root
) STRICT;

-- Further handles of matched objects.
CREATE TABLE other_handle (
    side INTEGER NOT NULL,
    object INTEGER NOT NULL,        -- object.id of the side's database
    same_as INTEGER NOT NULL REFERENCES object,
    operation INTEGER NOT NULL,     -- of that side: it showed the handle
    PRIMARY KEY (side, object)
) STRICT, WITHOUT ROWID;

-- Every operation of both sides once: pairs, and operations without a counterpart.
CREATE TABLE alignment (
    id INTEGER PRIMARY KEY,         -- in the order of comparison: the order of calls on the side whose
                                    -- capture began first
    kind INTEGER NOT NULL,          -- code 'align'
    reason INTEGER NOT NULL,        -- code 'reason': why there is no counterpart; 0 for pairs
    ref INTEGER,                    -- operation
    sut INTEGER,
    object INTEGER,                 -- row of object; NULL: none, or not matched
    client INTEGER,                 -- row of client
    listing INTEGER,                -- 'part': the operation of the same side that began the listing
    ref_overlap INTEGER,            -- code 'overlap', bits: other requests under way; NULL: none
    sut_overlap INTEGER,
    -- difference between the sides in earlier changes, as a difference of sums; NULL: none
    object_state INTEGER,           -- of the object, or of the directory of a name
    object2_state INTEGER,
    new_state INTEGER,
    -- the same for earlier reads, because they change access times
    object_reads INTEGER,
    new_reads INTEGER,
    -- the request that last changed modes or owners, or removed the object; the one that last changed
    -- the name
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
    alignment INTEGER REFERENCES alignment, -- NULL: about a whole side
    ref INTEGER,                    -- operations: of |alignment|, or of a later part of a listing
    sut INTEGER,
    object INTEGER,                 -- row of the object that the field belongs to; NULL: none
    element TEXT,                   -- of a list: the entry's name, or its number from 0
    ref_text TEXT,                  -- values as text (at most 256 bytes); NULL: there is none
    sut_text TEXT,
    ref_number INTEGER,             -- the same as numbers; NULL: no number
    sut_number INTEGER,
    phase INTEGER REFERENCES phase  -- of the ref operation or, without one, of the sut operation
) STRICT;

-- What groups have in common: a known cause has all its groups, over all procedures and fields.  A group
-- without a known cause stands alone.  View causes has their counts.
CREATE TABLE cause (
    id INTEGER PRIMARY KEY,         -- by the gravest severity of its groups, then the most frequent first
    name TEXT,                      -- in schemas/rules/causes.conf; NULL: unknown, it has one group
    title TEXT NOT NULL             -- in a few words
) STRICT;

-- Discrepancies of the same kind, procedure, field and kind of difference.
CREATE TABLE discrepancy_group (
    id INTEGER PRIMARY KEY,         -- by cause, severity, then the most frequent first
    kind INTEGER NOT NULL,          -- code 'kind'
    class TEXT,                     -- of the field: 'time', ...
    program INTEGER,
    version INTEGER,
    procedure INTEGER,
    operation TEXT NOT NULL,        -- 'NFS READ', ...; '': no procedure
    field TEXT NOT NULL,            -- 'READ3res.resok.eof'; if the sides differ, that of ref; for a kind
                                    -- without a field, its word in rule files ('missing-reply', ...)
    difference TEXT NOT NULL,       -- 'ref 1, sut 0', 'only ref', 'sut later', 'NFS3_OK, NFS3ERR_EXIST'
    rule INTEGER REFERENCES rule,   -- the rule that was not met
    cause TEXT,                     -- cause.name
    reason TEXT NOT NULL,           -- explanation in words
    count INTEGER NOT NULL,         -- discrepancies
    compared INTEGER NOT NULL,      -- comparisons of this field in this procedure
    -- how often two runs of the reference show the same difference, in either direction.  It is the
    -- same if kind, procedure, field and words are equal.  These words may be exchanged: ref and sut,
    -- larger and smaller, later and earlier, more and fewer, and the two values or statuses of a pair.
    -- NULL: no --noise, or only the rules of a later comparison find the difference
    noise_count INTEGER,
    noise_compared INTEGER,         -- comparisons between the two runs
    is_noise INTEGER NOT NULL,      -- 1: both directions together are at most twice as frequent here
    severity INTEGER NOT NULL DEFAULT 1, -- code 'severity': 1 outcome and contents, 2 missing replies,
                                    -- 3 attributes, 4 limits, 5 performance
    cause_id INTEGER REFERENCES cause,
    circumstance TEXT               -- of link counts 'directory', 'no directory'; of the mode of a new
                                    -- object 'asked', 'not asked' by the request; else NULL
) STRICT;

-- Examples of a group, and the operations that lead to each: a minimal reproduction.
CREATE TABLE step (
    discrepancy_group INTEGER NOT NULL REFERENCES discrepancy_group,
    example INTEGER NOT NULL,       -- from 1
    number INTEGER NOT NULL,        -- from 1; the last step of an example shows the discrepancy
    discrepancy INTEGER NOT NULL,
    ref INTEGER,
    sut INTEGER,
    PRIMARY KEY (discrepancy_group, example, number)
) STRICT, WITHOUT ROWID;

-- Operations of discrepancies, of steps and of table uncertain, and operations without a counterpart.
-- Because of this table, reports need no trace database.
CREATE TABLE operation (
    side INTEGER NOT NULL,
    id INTEGER NOT NULL,
    program INTEGER,
    version INTEGER,
    procedure INTEGER,
    name TEXT NOT NULL,             -- 'NFS READ'
    client TEXT NOT NULL,
    client_port INTEGER NOT NULL,   -- with |client| and |xid| it identifies the operation in other captures
    server TEXT NOT NULL,
    server_port INTEGER NOT NULL,
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
    arguments_length INTEGER,       -- bodies: only of operations in table step
    result_length INTEGER,
    arguments BLOB,                 -- XDR, file contents left out
    result BLOB,
    data_length INTEGER,
    data_digest BLOB,
    call_flags INTEGER,             -- as in the side's database: code 'sighting', bits
    reply_flags INTEGER,
    PRIMARY KEY (side, id)
) STRICT, WITHOUT ROWID;

-- The frame of each discrepancy: that of the reply, or that of the call if there is no reply.
CREATE TABLE frame (
    side INTEGER NOT NULL,
    source INTEGER NOT NULL,
    frame INTEGER NOT NULL,
    xid INTEGER NOT NULL,           -- several messages may end in one frame
    discrepancy INTEGER NOT NULL REFERENCES discrepancy,
    other_source INTEGER,           -- the counterpart's frame; NULL: there is none
    other_frame INTEGER,
    time INTEGER,                   -- of this frame.  Frame, XID and time identify it for a reader who
                                    -- has only the capture
    PRIMARY KEY (side, source, frame, xid, discrepancy)
) STRICT, WITHOUT ROWID;

-- Comparisons by procedure and field.
CREATE TABLE compared (
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    field TEXT NOT NULL,
    equal INTEGER NOT NULL,         -- under the rule
    different INTEGER NOT NULL,
    withheld INTEGER NOT NULL,
    ignored INTEGER NOT NULL,
    PRIMARY KEY (program, version, procedure, field)
) STRICT, WITHOUT ROWID;

-- Comparisons that were not made, or that do not count.
CREATE TABLE withheld (
    reason INTEGER NOT NULL,        -- code 'withheld'
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    field TEXT NOT NULL,            -- '': the whole operation
    count INTEGER NOT NULL,
    ref INTEGER,                    -- first operations
    sut INTEGER,
    PRIMARY KEY (reason, program, version, procedure, field)
) STRICT, WITHOUT ROWID;

-- Withheld statuses, contents and missing replies that differ, one by one.  The servers need not be the
-- cause.  Replies that a capture is known to have lost are only counted (reason 'reply lost').
-- The table has the first 1000 of each kind; meta 'uncertain' counts all.
CREATE TABLE uncertain (
    id INTEGER PRIMARY KEY,
    alignment INTEGER NOT NULL REFERENCES alignment,
    reason INTEGER NOT NULL,        -- code 'withheld'
    kind INTEGER NOT NULL,          -- code 'kind'
    operation TEXT NOT NULL,        -- as in table discrepancy_group, with field and difference
    field TEXT NOT NULL,
    difference TEXT NOT NULL,
    object INTEGER,                 -- row of object; NULL: none
    ref INTEGER,                    -- operations
    sut INTEGER,
    ref_text TEXT,                  -- values; NULL: there is none
    sut_text TEXT
) STRICT;

-- When an object was unsynchronized: its state may differ between the sides.
CREATE TABLE unsynchronized (
    id INTEGER PRIMARY KEY,
    object INTEGER NOT NULL REFERENCES object,
    what INTEGER NOT NULL,          -- code 'unsynchronized'
    reason INTEGER NOT NULL,        -- code 'withheld'
    name TEXT,                      -- of an entry
    offset INTEGER,                 -- of an extent
    length INTEGER,
    from_ref INTEGER,               -- operations that caused it, or showed it first
    from_sut INTEGER,
    until_ref INTEGER,              -- operations that showed both sides alike; NULL: to the end
    until_sut INTEGER,
    withheld INTEGER NOT NULL       -- withheld comparisons
) STRICT;

-- Latencies of the pairs that both sides answered, in ns; percentiles by nearest rank.
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
    ratio REAL NOT NULL,            -- sut / ref, of the medians
    PRIMARY KEY (program, version, procedure)
) STRICT, WITHOUT ROWID;

-- The same pairs by latency, for plots: bucket b holds 1000 * 2^(b/4) <= ns < 1000 * 2^((b+1)/4).
-- Shorter latencies are in bucket 0.
CREATE TABLE latency (
    side INTEGER NOT NULL,
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (side, program, version, procedure, bucket)
) STRICT, WITHOUT ROWID;

-- Phases that clients marked (nfsdigest phase), on either side. All operations in them count, those
-- without a counterpart, too.
CREATE TABLE phase (
    id INTEGER PRIMARY KEY,         -- in the order of their first marks
    name TEXT NOT NULL UNIQUE,
    ref_times INTEGER NOT NULL,     -- how often it was marked
    ref_lasted INTEGER NOT NULL,    -- ns, of all these times together
    ref_operations INTEGER NOT NULL,
    ref_latency INTEGER NOT NULL,   -- ns, the sum of those that were answered
    sut_times INTEGER NOT NULL,
    sut_lasted INTEGER NOT NULL,
    sut_operations INTEGER NOT NULL,
    sut_latency INTEGER NOT NULL,
    discrepancies INTEGER NOT NULL
) STRICT;

-- Pairs with the largest differences in latency, in either direction.
CREATE TABLE slowest (
    rank INTEGER PRIMARY KEY,
    alignment INTEGER NOT NULL REFERENCES alignment,
    ref INTEGER NOT NULL,
    sut INTEGER NOT NULL,
    ref_latency INTEGER NOT NULL,
    sut_latency INTEGER NOT NULL
) STRICT;

-- Causes for people, in the order of reports.  The ids of their groups follow each other.
CREATE VIEW causes AS
SELECT c.id, c.name, c.title, s.name AS severity, g.count, g.groups, g.noise, g.procedures, g.first_group
  FROM cause c JOIN (SELECT cause_id, min(severity) AS severity, sum(count) AS count, count(*) AS groups,
                            sum(is_noise) AS noise, min(id) AS first_group,
                            replace(group_concat(DISTINCT nullif(operation, '')), ',', ', ') AS procedures
                       FROM (SELECT * FROM discrepancy_group ORDER BY id) GROUP BY cause_id) g
    ON g.cause_id = c.id
  JOIN code s ON s.domain = 'severity' AND s.value = g.severity
 ORDER BY c.id;

-- Discrepancies for people, with the frame of the reply, or of the call if there is no reply.
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

-- Uncertain differences for people.
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

-- Operations without a counterpart, with the frame of the call, or of the reply if the call was not
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
