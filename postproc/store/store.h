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
 * Records come from an .nfsr stream, which has its own ids, or from an engine that was given the
 * database's knowledge before (carry.h), whose ids are those of the database.
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
    STORE_VERSION = 2,
    STORE_DIGEST_LEN = 16,
    STORE_HEAD_MAX = 64 << 10, /* bytes under source.head_digest */
};

enum store_mode { STORE_READ, STORE_WRITE };

enum store_kind {
    STORE_CAPTURE, /* records of an engine that goes on from what the database carries */
    STORE_NFSR,
    STORE_TAIL, /* what that engine would say if no further capture came: provisional rows */
};

struct store;

/* STORE_WRITE makes the database when there is none (at the first store_begin).  |path| "" is a
 * private database that vanishes.  -ERR_INPUT: no trace database, or of a later version. */
struct store *store_open(const char *path, enum store_mode mode, struct err *err);

/* Removes the file again when this store made it and nothing was stored. */
void store_close(struct store *store);

sqlite3 *store_db(struct store *store);
/* The name that it was opened with. */
const char *store_path(const struct store *store);
/* Whether it has no tables yet. */
bool store_is_empty(const struct store *store);

/* A further connection to the file of |db|, to read it in one thread: without the locks, which cost
 * a fifth of the time of one that reads all operations.  To be closed.  NULL: there is none, and
 * |db| must do: it has no file, or its transaction may have changed what is read. */
sqlite3 *store_reader(sqlite3 *db);

/* True when the first bytes of a file are those of an SQLite database. */
bool store_is_database(const uint8_t *head, size_t len);
/* -ERR_INPUT: |name| is a database, but comes through a pipe, where it cannot be read. */
int store_no_stream(const char *name, struct err *err);

/* After a failure: another process has made the database since it was not there. */
bool store_was_overtaken(const struct store *store);

/* A number that changes with everything that an ingest commits. */
int store_version(struct store *store, int64_t *version, struct err *err);
/* That of the moment when the transaction began or, behind it, ended. */
int64_t store_known_version(const struct store *store);

/* Fills |err| with what SQLite says about |what|: a full disk, a damaged database, ... */
int store_fail(sqlite3 *db, const char *what, struct err *err);

/* Begins a source named |name|.
 *
 * STORE_CAPTURE: provisional rows are taken out, for the engine will put them again.  Frames in
 * records count on from store_frame_base, and their other ids are those of the database (carry.h).
 * STORE_TAIL: no source of its own (|name| NULL); after the last capture.
 * STORE_NFSR, or with |settle|: nothing is carried over any more; provisional rows become
 * final, and counterparts of unpaired operations are looked for in the database. */
int store_begin(struct store *store, const char *name, enum store_kind kind, bool settle,
                struct err *err);

struct sink store_sink(struct store *store);

/* Frames of all captures before the one that was begun. */
uint64_t store_frame_base(const struct store *store);

/* From here to store_end operations come that the engine still waits for. */
void store_provisional(struct store *store);

struct store_end {
    uint64_t size; /* bytes of the input, decompressed */
    uint8_t digest[STORE_DIGEST_LEN], head_digest[STORE_DIGEST_LEN];
    const char *cut;         /* why and where the input ended too early, or NULL */
    const struct buf *carry; /* STORE_CAPTURE: the engine's waiting state */
    const char *options;     /* and options */
};

/* STORE_CAPTURE becomes STORE_TAIL without a commit in between: |end| has what store_end will be
 * given.  Records that follow are those of the tail. */
int store_tail(struct store *store, const struct store_end *end, struct err *err);

/* Commits the source; |end| is NULL if it was begun as STORE_TAIL. */
int store_end(struct store *store, const struct store_end *end, struct err *err);

/* Forgets the source that was begun. Nothing happens when there is none. */
void store_abandon(struct store *store);

/* Rows of the source that was begun or ended last. */
struct store_totals {
    uint64_t frames, operations, calls, replies, retransmissions, copies, problems;
    int64_t first_time, last_time; /* TIME_NONE: no frame has one */
};
const struct store_totals *store_totals(const struct store *store);

#endif
