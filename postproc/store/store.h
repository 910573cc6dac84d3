/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/store.h
 *
 * The trace database (schemas/trace.sql): opening, and one transaction for each source.
 *
 *     store_open, then for each source
 *         store_begin, records into store_sink, store_end   (or store_abandon)
 *     store_close
 *
 * If a process is killed in between, the database stays as it was before that source.  Nothing in
 * it depends on when or where it was made.
 *
 * Records come from an .nfsr stream or from an engine.  A stream has its own ids.  An engine was
 * given the state of the database before (carry.h), so its ids are those of the database.
 *
 * Memory: SQLite's cache.  For an .nfsr stream into a database that is not empty, also 4 bytes for
 * each object, path and credential of the stream.
 */
#ifndef NFSDIGEST_STORE_STORE_H
#define NFSDIGEST_STORE_STORE_H

#include "record/record.h"

#include <sqlite3.h>
#include <stddef.h>

enum {
    STORE_APPLICATION_ID = 0x4e465344,
    STORE_VERSION = 7,
    STORE_DIGEST_LEN = 16,
    STORE_HEAD_MAX = 64 << 10, /* bytes under source.head_digest */
};

enum store_mode { STORE_READ, STORE_WRITE };

enum store_kind {
    STORE_CAPTURE, /* records of an engine that continues from the database's state */
    STORE_NFSR,
    STORE_TAIL, /* what that engine reports if no further capture comes: provisional rows */
};

struct store;

/* Opens a database.  STORE_WRITE makes it if it does not exist (at the first store_begin).  |path|
 * "" is a private, temporary database.  Returns NULL with ERR_INPUT if it is not a trace database,
 * or of a later version. */
struct store *store_open(const char *path, enum store_mode mode, struct err *err);

/* Closes the database.  Removes the file if this store made it and stored nothing. */
void store_close(struct store *store);

sqlite3 *store_db(struct store *store);
/* Returns the name with which it was opened. */
const char *store_path(const struct store *store);
/* Returns true if it has no tables yet. */
bool store_is_empty(const struct store *store);

/* Opens another connection to the file of |db|, for reading in one thread.  It has no locks, which
 * saves a fifth of the time for reading all operations.  The caller closes it.  Returns NULL if
 * that is not possible: |db| has no file, or its open transaction may have changed the data.  Use
 * |db| then. */
sqlite3 *store_reader(sqlite3 *db);

/* Returns true if the first bytes of a file are those of an SQLite database. */
bool store_is_database(const uint8_t *head, size_t len);
/* Returns -ERR_INPUT if |name| is a database that comes through a pipe, where it cannot be read. */
int store_no_stream(const char *name, struct err *err);

/* Call this after a failure.  Returns true if another process has made the database in the
 * meantime. */
bool store_was_overtaken(const struct store *store);

/* Reads a number that changes with everything that an ingest commits. */
int store_version(struct store *store, int64_t *version, struct err *err);
/* Returns that number as it was when the transaction began or, after the transaction, when it
 * ended. */
int64_t store_known_version(const struct store *store);

/* Fills |err| with what SQLite says about |what|: a full disk, a damaged database, ... */
int store_fail(sqlite3 *db, const char *what, struct err *err);

/* Begins a source named |name|.
 *
 * STORE_CAPTURE: removes provisional rows, because the engine will put them again.  Frames in
 * records count on from store_frame_base.  Their other ids are those of the database (carry.h).
 * STORE_TAIL: comes after the last capture and is not a source of its own (|name| is NULL).
 * STORE_NFSR, or with |settle|: no state is carried over any more.  Provisional rows become final.
 * Counterparts of unpaired operations are looked for in the database. */
int store_begin(struct store *store, const char *name, enum store_kind kind, bool settle,
                struct err *err);

struct sink store_sink(struct store *store);

/* Returns the number of frames of all captures before the current one. */
uint64_t store_frame_base(const struct store *store);

/* Call this before the operations that the engine still waits for.  It is in effect until
 * store_end. */
void store_provisional(struct store *store);

struct store_end {
    uint64_t size; /* bytes of the input, decompressed */
    uint8_t digest[STORE_DIGEST_LEN], head_digest[STORE_DIGEST_LEN];
    const char *cut;         /* why and where the input ended too early, or NULL */
    const struct buf *carry; /* STORE_CAPTURE: the engine's waiting state */
    const char *options;     /* and options */
};

/* Changes from STORE_CAPTURE to STORE_TAIL without a commit.  |end| is the one for store_end.
 * Records after this belong to the tail. */
int store_tail(struct store *store, const struct store_end *end, struct err *err);

/* Commits the source.  |end| is NULL if the source was begun as STORE_TAIL. */
int store_end(struct store *store, const struct store_end *end, struct err *err);

/* Drops the source that was begun.  Does nothing if there is none. */
void store_abandon(struct store *store);

/* A database that can be read while it is written.  store_follow comes after store_open
 * (STORE_WRITE).  Then a source can be committed in parts: call store_commit_part when the engine
 * is at rest.  The database is marked as unfinished from the first commit until store_finished,
 * also if the process is killed, and store_begin of other processes refuses it.  After a part was
 * committed, the source cannot be abandoned any more: what is there stays, and the mark, too. */
#define STORE_UNFINISHED "unfinished: still being written, or its writer ended early"
int store_follow(struct store *store, struct err *err);
int store_commit_part(struct store *store, struct err *err);
int store_finished(struct store *store, struct err *err);
/* Ends the log of a database that another process left, so that it is one file.  -ERR_INPUT:
 * another process has it open. */
int store_close_log(const char *path, struct err *err);
/* STORE_READ: returns true if the database was marked when it was opened.  What is read from it is
 * then of one moment. */
bool store_is_unfinished(const struct store *store);

/* Counts of rows of the source that was begun or ended last. */
struct store_totals {
    uint64_t frames, operations, calls, replies, retransmissions, copies, problems;
    int64_t first_time, last_time; /* TIME_NONE: no frame has one */
};
const struct store_totals *store_totals(const struct store *store);

#endif
