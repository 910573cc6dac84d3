-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- trace.db: the trace database, which nfsdigest ingest makes from captures and .nfsr streams.
--
-- PRAGMA application_id is 0x4e465344 ("NFSD"). PRAGMA user_version is the version of this schema. A
-- program refuses a later version.
--
-- Conventions
--   times       integer nanoseconds since the epoch (UTC). NULL if a packet has no time, as in
--               pcapng's Simple Packet Blocks; then there is no latency either
--   frames      counted from 1 in their source, as in Wireshark. NULL: not captured
--   NULL        unknown, or none. 0 and '' never mean this
--   u64         offsets, cookies and fileids above 2^63-1 are stored as their negative two's
--               complement; printf('%u', x) shows them
--   names       text, with these escapes (nfsr.md section 3): \xNN is a byte that is not UTF-8, or a
--               byte of a control character, of a character that sets the direction of text, or of
--               a line separator. \\ is a backslash. \x2f is a slash within a name. So different
--               names have different texts, and each text can be turned back into its bytes.
--               Names of ingested files, and texts with such names in them, have the same
--               escapes
--   addresses   text, as RFC 5952 writes them
--   codes       numbers of procedures, statuses, ...: the dictionary tables have their names
--
-- This file has three sections. Each begins with a line "--- NAME". Tables and views are made with the
-- database. Indexes are made after the first source was stored, which is faster, and kept from then on.

--- tables

-- created_by is the program and its version. unfinished is there while "nfsdigest ingest --follow" writes,
-- and stays if that ends early: then the last source is 'open', and its rows are those of its beginning.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for each ingested file or stream. Each is stored in one transaction.
CREATE TABLE source (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,             -- as given to ingest
    kind TEXT NOT NULL CHECK (kind IN ('capture', 'nfsr')),
    state TEXT NOT NULL CHECK (state IN ('open', 'complete', 'cut')),
    note TEXT,                      -- where and why it was cut
    size INTEGER NOT NULL,          -- bytes, decompressed
    digest BLOB NOT NULL,           -- XXH3-128 of these bytes
    head_digest BLOB NOT NULL,      -- XXH3-128 of the first 65536 of them
    frame_base INTEGER NOT NULL,    -- number of frames in the captures before it
    frames INTEGER NOT NULL,
    operations INTEGER NOT NULL,    -- operations with the call in this source, or with the reply
                                    -- in it and a call that was never captured
    calls INTEGER NOT NULL,         -- calls in this source, each counted once
    replies INTEGER NOT NULL,       -- replies, each counted once
    retransmissions INTEGER NOT NULL, -- calls sent again, and additional replies
    copies INTEGER NOT NULL,        -- rows of copy
    problems INTEGER NOT NULL,
    first_time INTEGER,             -- earliest time of a frame. NULL: no frame has a time
    last_time INTEGER
) STRICT;

-- A TCP connection, or the datagrams between two UDP ports.
CREATE TABLE flow (
    id INTEGER PRIMARY KEY,
    transport INTEGER NOT NULL,     -- 6 TCP, 17 UDP
    client TEXT NOT NULL,
    client_port INTEGER NOT NULL,
    server TEXT NOT NULL,
    server_port INTEGER NOT NULL,
    source INTEGER NOT NULL REFERENCES source,
    frame INTEGER,                  -- the first one seen
    time INTEGER
) STRICT;

-- The callers, as calls state them.
CREATE TABLE credential (
    id INTEGER PRIMARY KEY,
    flavor INTEGER NOT NULL,        -- RFC 5531 s8.2: 0 none, 1 AUTH_SYS, 6 RPCSEC_GSS
    valid INTEGER NOT NULL,         -- 0: the body could not be read
    uid INTEGER,                    -- AUTH_SYS
    gid INTEGER,
    gids TEXT,                      -- additional groups, a JSON array
    machine TEXT,
    stamp INTEGER,
    gss_service INTEGER,            -- RPCSEC_GSS: 1 none, 2 integrity, 3 privacy
    body BLOB NOT NULL              -- as captured; RPCSEC_GSS: the context handle
) STRICT;

-- The file, directory, link or device that a file handle of one server stands for.
CREATE TABLE object (
    id INTEGER PRIMARY KEY,
    server TEXT NOT NULL,
    handle BLOB NOT NULL,
    type INTEGER,                   -- code 'object_type'
    fsid INTEGER,
    fileid INTEGER,
    source INTEGER NOT NULL REFERENCES source, -- source of the first sighting
    frame INTEGER,
    time INTEGER
) STRICT;

-- Paths as operations knew them: the text of |parent|, '/', |name|. Without a parent, a path begins
-- at a MOUNT path, or at |object| if the path of that object is unknown. Then the text is partial,
-- and begins with '[#OBJECT]'.
CREATE TABLE path (
    id INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES path,
    object INTEGER REFERENCES object,
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;

-- Directory entries that become known, are made or are removed, in the order of the trace. A name
-- stands for one object at a time. An event says when it no longer stands for that object.
CREATE TABLE name_event (
    id INTEGER PRIMARY KEY,
    event INTEGER NOT NULL,         -- code 'name_event'
    parent INTEGER REFERENCES object, -- directory; NULL: |name| is a MOUNT path
    name TEXT NOT NULL,
    object INTEGER REFERENCES object,
    operation INTEGER,              -- the operation that showed the event
    time INTEGER
) STRICT;

-- One row for each call with its reply, without retransmissions. Ids are in the order of calls within a source.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    pairing INTEGER NOT NULL,       -- code 'pairing'
    call_source INTEGER REFERENCES source,
    call_frame INTEGER,             -- the frame that completed the message
    call_first_frame INTEGER,       -- the frame in which it began. Below 1, it is in the source
                                    -- before: 0 is the last frame there
    call_time INTEGER,              -- time of call_frame
    call_length INTEGER,            -- length of the RPC message on the wire, without record marks
    call_flags INTEGER,             -- bits of code 'sighting'
    reply_source INTEGER REFERENCES source,
    reply_frame INTEGER,
    reply_first_frame INTEGER,
    reply_time INTEGER,
    reply_length INTEGER,
    reply_flags INTEGER,
    client TEXT NOT NULL,
    server TEXT NOT NULL,
    flow INTEGER NOT NULL REFERENCES flow,
    xid INTEGER NOT NULL,
    program INTEGER,                -- NULL (as version and procedure): the call was not captured
    version INTEGER,
    procedure INTEGER,
    rpc_status INTEGER,             -- code 'rpc_status'
    status INTEGER,                 -- status of the result: nfsstat3, ...
    credential INTEGER REFERENCES credential,
    object INTEGER REFERENCES object,     -- object of the operation: the file, or the directory of a name
    object2 INTEGER REFERENCES object,    -- RENAME's second directory, LINK's directory
    new_object INTEGER REFERENCES object, -- the object that was found or made
    path INTEGER REFERENCES path,         -- path of |object|, or of the name in that directory
    path2 INTEGER REFERENCES path,
    depends_on INTEGER,             -- latest earlier operation that intends to change what this one uses
    offset INTEGER,                 -- byte range. NULL: the procedure has none, or it was not captured
    count INTEGER,
    data_length INTEGER,            -- length of the file contents, as the message says
    data_digest BLOB,               -- XXH3-128 of the contents that were captured
    arguments_length INTEGER,       -- length of the body on the wire. NULL: truncated within the RPC header
    result_length INTEGER,
    arguments BLOB,                 -- XDR, without file contents. NULL: not kept
    result BLOB,
    counterpart INTEGER,            -- the operation of another trace that this one repeats, by its id
                                    -- there; only in .nfsr streams of programs that play traces
    counterpart_copy INTEGER,       -- which of several copies of that trace, from 0; NULL like counterpart
    counterpart_conditions INTEGER, -- bits of nfsr.md, COUNTERPART; NULL: nfstee did not write it
    block_digests BLOB,             -- of the contents: 8 bytes for each aligned block of 4096 bytes
                                    -- (nfsr.md section 5). NULL: ingested without --block-digests
    latency INTEGER GENERATED ALWAYS AS (reply_time - call_time) VIRTUAL
) STRICT;

-- Pieces of file contents, which operations do not have: only of .nfsr streams that nfstee wrote.
CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operation,
    is_reply INTEGER NOT NULL,      -- 1: of a READ; 0: of a WRITE
    position INTEGER NOT NULL,      -- of the piece, from the first byte of the message's contents
    data BLOB NOT NULL
) STRICT;

-- Calls that were sent again, and additional replies.
CREATE TABLE retransmission (
    id INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operation,
    kind INTEGER NOT NULL,          -- code 'repeat': 1 or 2
    differs INTEGER NOT NULL,       -- 1: a reply with other bytes than the first one
    flow INTEGER NOT NULL REFERENCES flow,
    source INTEGER NOT NULL REFERENCES source,
    frame INTEGER NOT NULL,
    first_frame INTEGER,
    time INTEGER,
    length INTEGER,
    flags INTEGER
) STRICT;

-- UDP datagrams that were captured again, though they were sent once: by captures on several
-- interfaces, by mirror ports and in some networks. For TCP segments see the counter tcp.copies.
CREATE TABLE copy (
    id INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL REFERENCES operation,
    kind INTEGER NOT NULL,          -- code 'repeat': 3 or 4
    flow INTEGER NOT NULL REFERENCES flow,
    source INTEGER NOT NULL REFERENCES source,
    frame INTEGER NOT NULL,
    first_frame INTEGER,
    time INTEGER,
    length INTEGER,
    flags INTEGER
) STRICT;

-- Parts of the captures that could not be used.
CREATE TABLE problem (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL REFERENCES source,
    kind INTEGER NOT NULL,          -- code 'problem'
    frame INTEGER,                  -- where it was noticed
    time INTEGER,
    flow INTEGER REFERENCES flow,
    direction INTEGER,              -- 0 from client to server, 1 back
    xid INTEGER,
    length INTEGER,                 -- number of bytes concerned
    text TEXT
) STRICT;

-- What happened to TCP connections apart from the messages on them. If it happened again, a row may
-- stand for all of it: |count| segments from |time| to |last_time|. Only connections to ports that are
-- known to carry RPC are here. Programs that are one end of the traffic record no such events.
CREATE TABLE connection_event (
    id INTEGER PRIMARY KEY,
    flow INTEGER REFERENCES flow,   -- NULL: no message was seen on the connection
    source INTEGER NOT NULL REFERENCES source, -- of both frames
    client TEXT NOT NULL,
    client_port INTEGER NOT NULL,
    server TEXT NOT NULL,
    server_port INTEGER NOT NULL,
    direction INTEGER NOT NULL,     -- 0 the client's segments, 1 the server's
    event INTEGER NOT NULL,         -- code 'connection_event'
    frame INTEGER NOT NULL,         -- of the first segment
    time INTEGER,
    last_frame INTEGER NOT NULL,
    last_time INTEGER,
    count INTEGER NOT NULL,         -- segments
    value INTEGER                   -- SYN: number of attempts; resent, late: bytes; zero window: ns for
                                    -- which it was closed. NULL: of other events
) STRICT;

-- The engine's counters for each source.
CREATE TABLE counter (
    source INTEGER NOT NULL REFERENCES source,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;

-- The state of the engine, so that pairing can continue with the next capture. Some rows were made from
-- messages that still wait. These rows are provisional: the next capture replaces them.
CREATE TABLE carry (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    options TEXT NOT NULL,           -- options of the engine
    operation_base INTEGER NOT NULL, -- id in this database = this + the engine's id
    flow_base INTEGER NOT NULL,
    tail INTEGER NOT NULL,           -- 1: rows with ids above the following ones are provisional
    flow INTEGER NOT NULL,
    credential INTEGER NOT NULL,
    object INTEGER NOT NULL,
    path INTEGER NOT NULL,
    name_event INTEGER NOT NULL,
    retransmission INTEGER NOT NULL,
    copy INTEGER NOT NULL,
    problem INTEGER NOT NULL,
    state BLOB NOT NULL
) STRICT;

-- Provisional rows of operation.
CREATE TABLE waiting (
    operation INTEGER PRIMARY KEY
) STRICT;

-- Provisional parts of counters.
CREATE TABLE waiting_counter (
    source INTEGER NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;

-- Dictionaries, made from the tables in engine/wire.
CREATE TABLE program (
    number INTEGER NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (number, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE procedure (
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    source TEXT,                    -- where it is specified
    PRIMARY KEY (program, version, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE status_name (
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    status INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (program, version, procedure, status)
) STRICT, WITHOUT ROWID;

-- Every field of arguments (direction 'call') and results ('reply').
CREATE TABLE field (
    program INTEGER NOT NULL,
    version INTEGER NOT NULL,
    procedure INTEGER NOT NULL,
    direction TEXT NOT NULL,
    path TEXT NOT NULL,             -- 'READ3res.resok.eof'
    class TEXT NOT NULL,            -- 'handle', 'name', ...
    type TEXT NOT NULL,             -- XDR: 'u32', 'opaque', ...
    max INTEGER,                    -- its limit
    wireshark TEXT,                 -- display filter of Wireshark's own dissector
    PRIMARY KEY (program, version, procedure, direction, path)
) STRICT, WITHOUT ROWID;

-- Names of the codes used in other tables.
CREATE TABLE code (
    domain TEXT NOT NULL,           -- 'pairing', 'rpc_status', ...
    value INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (domain, value)
) STRICT, WITHOUT ROWID;

--- views

-- Operations in readable form.
CREATE VIEW op AS
SELECT o.id,
       strftime('%Y-%m-%d %H:%M:%S',                    -- rounded down, also before 1970
                (ifnull(o.call_time, o.reply_time)
                 - iif(ifnull(o.call_time, o.reply_time) < 0, 999999999, 0)) / 1000000000, 'unixepoch')
           || printf('.%09d', (ifnull(o.call_time, o.reply_time) % 1000000000 + 1000000000)
                              % 1000000000) AS time,
       o.client, o.server,
       ifnull((SELECT g.name FROM program g WHERE g.number = o.program AND g.version = o.version),
              o.program) AS program,
       o.version,
       ifnull((SELECT r.name FROM procedure r WHERE r.program = o.program
               AND r.version = o.version AND r.number = o.procedure), o.procedure) AS procedure,
       (SELECT p.text FROM path p WHERE p.id = o.path) AS path,
       (SELECT p.text FROM path p WHERE p.id = o.path2) AS path2,
       o.offset, o.count,
       CASE WHEN o.rpc_status <> 0
            THEN (SELECT c.name FROM code c WHERE c.domain = 'rpc_status' AND c.value = o.rpc_status)
            ELSE ifnull((SELECT s.name FROM status_name s WHERE s.program = o.program
                         AND s.version = o.version AND s.procedure = o.procedure
                         AND s.status = o.status), o.status)
       END AS status,
       (SELECT c.name FROM code c WHERE c.domain = 'pairing' AND c.value = o.pairing) AS pairing,
       (o.reply_time - o.call_time) / 1e6 AS latency_ms,
       (SELECT c.uid FROM credential c WHERE c.id = o.credential) AS uid,
       o.xid, o.call_source, o.call_frame, o.reply_source, o.reply_frame,
       o.object, o.object2, o.new_object, o.depends_on
  FROM operation o;

-- The names of objects, and from when to when they had them: one row for each time that a name began
-- to stand for an object.
CREATE VIEW object_name AS
SELECT b.object, b.parent, b.name,
       CASE WHEN b.parent IS NULL THEN b.name
            WHEN o.path2 IS NOT NULL THEN (SELECT p.text FROM path p WHERE p.id = o.path2)
            WHEN o.new_object = b.object THEN (SELECT p.text FROM path p WHERE p.id = o.path)
            ELSE (SELECT rtrim(p.text, '/') || '/' || b.name FROM path p WHERE p.id = o.path)
       END AS path,                                     -- as it was at the start
       s.name AS how,
       b.time AS start, b.operation AS start_operation, -- 'seen': it existed before
       e.time AS stop, e.operation AS stop_operation,   -- NULL: still valid at the end
       t.name AS stop_how                               -- 'gone': it ended some time before
  FROM (SELECT id, event, object, parent, name, time, operation,
               lag(event, 1, 3) OVER w AS before,
               min(id) FILTER (WHERE event IN (3, 5)) OVER
                   (w ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS after
          FROM name_event WHERE object IS NOT NULL
        WINDOW w AS (PARTITION BY object, parent, name ORDER BY id)) b
  JOIN code s ON s.domain = 'name_event' AND s.value = b.event
  LEFT JOIN operation o ON o.id = b.operation
  LEFT JOIN name_event e ON e.id = b.after
  LEFT JOIN code t ON t.domain = 'name_event' AND t.value = e.event
 WHERE b.event NOT IN (3, 5) AND b.before IN (3, 5);

-- Phases that clients marked in the traffic (nfsdigest phase): the operations of the client between two
-- marks, in the order of their times and ids. A mark is a LOOKUP of a name of this form, whatever the
-- answer is. The last dot begins a part that makes names differ. The same mark again counts once. Marks
-- themselves belong to no phase.
CREATE VIEW phase AS
SELECT client, name, start, start_operation, stop, stop_operation     -- stop NULL: until the end
  FROM (SELECT client, name, time AS start, id AS start_operation, lead(time) OVER w AS stop,
               lead(id) OVER w AS stop_operation
          FROM (SELECT o.id, o.client, o.call_time AS time, p.name AS mark,
                       lag(p.name) OVER (PARTITION BY o.client ORDER BY o.call_time, o.id) AS before,
                       CASE instr(substr(p.name, 18), '.')
                            WHEN 0 THEN substr(p.name, 18)
                            ELSE substr(p.name, 18,
                                        length(rtrim(p.name, replace(p.name, '.', ''))) - 18)
                       END AS name
                  FROM path p CROSS JOIN operation o ON o.path = p.id
                 WHERE p.name GLOB '.nfsdigest-phase-*' AND o.program = 100003 AND o.version = 3
                   AND o.procedure = 3 AND o.call_time IS NOT NULL)
         WHERE mark IS NOT before
        WINDOW w AS (PARTITION BY client ORDER BY time, id))
 WHERE name <> '';

-- Latencies of answered operations in milliseconds; percentiles by nearest rank.
CREATE VIEW latency_by_procedure AS
SELECT g.name AS program, l.version, ifnull(r.name, l.procedure) AS procedure, l.operations,
       l.p50_ms, l.p90_ms, l.p99_ms, l.max_ms
  FROM (SELECT program, version, procedure, max(n) AS operations,
               min(latency) FILTER (WHERE rank * 100 >= n * 50) / 1e6 AS p50_ms,
               min(latency) FILTER (WHERE rank * 100 >= n * 90) / 1e6 AS p90_ms,
               min(latency) FILTER (WHERE rank * 100 >= n * 99) / 1e6 AS p99_ms,
               max(latency) / 1e6 AS max_ms
          FROM (SELECT program, version, procedure, latency,
                       row_number() OVER (PARTITION BY program, version, procedure
                                          ORDER BY latency) AS rank,
                       count(*) OVER (PARTITION BY program, version, procedure) AS n
                  FROM operation WHERE latency IS NOT NULL)
         GROUP BY program, version, procedure) l
  LEFT JOIN program g ON g.number = l.program AND g.version = l.version
  LEFT JOIN procedure r ON r.program = l.program AND r.version = l.version
                       AND r.number = l.procedure;

CREATE VIEW latency_by_client AS
SELECT client, max(n) AS operations,
       min(latency) FILTER (WHERE rank * 100 >= n * 50) / 1e6 AS p50_ms,
       min(latency) FILTER (WHERE rank * 100 >= n * 90) / 1e6 AS p90_ms,
       min(latency) FILTER (WHERE rank * 100 >= n * 99) / 1e6 AS p99_ms,
       max(latency) / 1e6 AS max_ms
  FROM (SELECT client, latency,
               row_number() OVER (PARTITION BY client ORDER BY latency) AS rank,
               count(*) OVER (PARTITION BY client) AS n
          FROM operation WHERE latency IS NOT NULL)
 GROUP BY client;

CREATE VIEW latency_by_path AS
SELECT path, max(n) AS operations,
       min(latency) FILTER (WHERE rank * 100 >= n * 50) / 1e6 AS p50_ms,
       min(latency) FILTER (WHERE rank * 100 >= n * 90) / 1e6 AS p90_ms,
       min(latency) FILTER (WHERE rank * 100 >= n * 99) / 1e6 AS p99_ms,
       max(latency) / 1e6 AS max_ms
  FROM (SELECT p.text AS path, o.latency,
               row_number() OVER (PARTITION BY p.text ORDER BY o.latency) AS rank,
               count(*) OVER (PARTITION BY p.text) AS n
          FROM operation o JOIN path p ON p.id = o.path WHERE o.latency IS NOT NULL)
 GROUP BY path;

--- indexes

CREATE INDEX object_by_handle ON object (handle, server);
CREATE INDEX path_by_parent ON path (parent, name, object);
CREATE INDEX path_of_phase ON path (name) WHERE name GLOB '.nfsdigest-phase-*';
CREATE INDEX credential_by_body ON credential (body);
CREATE INDEX name_event_by_object ON name_event (object);
CREATE INDEX operation_by_time ON operation (ifnull(call_time, reply_time));
CREATE INDEX operation_by_path ON operation (path);
CREATE INDEX operation_by_object ON operation (object);
CREATE INDEX operation_by_counterpart ON operation (counterpart, counterpart_copy)
 WHERE counterpart IS NOT NULL;
CREATE INDEX contents_by_operation ON contents (operation);
CREATE INDEX operation_unpaired ON operation (pairing) WHERE pairing <> 0;
CREATE INDEX retransmission_by_operation ON retransmission (operation);
CREATE INDEX copy_by_operation ON copy (operation);
CREATE INDEX connection_event_by_flow ON connection_event (flow);
