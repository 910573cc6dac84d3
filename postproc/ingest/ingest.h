/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/ingest.h
 *
 * Reads files into a trace database: .nfsr streams as they are, and captures through an engine that
 * continues from one capture to the next, in this process or a later one.
 *
 *     ingest_new, ingest_file for each, ingest_finish, ingest_free
 */
#ifndef NFSDIGEST_INGEST_INGEST_H
#define NFSDIGEST_INGEST_INGEST_H

#include "capture/feed.h"
#include "store/store.h"

struct ingest;

enum ingest_result {
    INGEST_STORED = 0,
    INGEST_KNOWN = 1, /* it is in the database already; |err| says as which source */
    INGEST_CUT = 2,   /* the part that could be read was stored; |err| says where it is cut */
    INGEST_EMPTY = 3, /* of ingest_live: not even a header came, and nothing was stored */
    /* or a negative code: nothing of it was stored */
};

/* |store|, |options| and |progress| are the caller's and must outlive the ingest.  |progress| may
 * be NULL. */
struct ingest *ingest_new(struct store *store, const struct engine_options *options,
                          const struct progress *progress, struct err *err);
void ingest_free(struct ingest *ingest);

/* Adds |by| to all frame numbers of .nfsr streams.  A capture is then refused. */
void ingest_shift(struct ingest *ingest, int64_t by);

/* Stores one file, or standard input for "-".  |last|: no other file is expected.  The tail is then
 * stored in the same transaction.  ingest_finish is needed in any case.  |note| gets a text that
 * people should read although nothing failed, or "". */
int ingest_file(struct ingest *ingest, const char *path, bool last, struct err *note,
                struct err *err);

/* Does the same for an input that was opened with its digest.  It may be a pipe. */
int ingest_input(struct ingest *ingest, struct input *input, bool last, struct err *note,
                 struct err *err);

/* Does the same for a file or a pipe that is still being written, and waits for its end (live.h).
 * The store follows (store_follow): |live|->rest may call store_commit_part.  |size| gets the
 * number of bytes of the file that were looked at. */
int ingest_live(struct ingest *ingest, const char *path, struct live *live, uint64_t *size,
                struct err *note, struct err *err);

/* Call this after the last file.  Stores what the engine still waits for, as provisional rows. */
int ingest_finish(struct ingest *ingest, struct err *err);

#endif
