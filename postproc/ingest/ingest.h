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
    INGEST_KNOWN = 1, /* it is in the database already; |err| says as what */
    INGEST_CUT = 2,   /* stored as far as it could be read; |err| says where it is cut */
    /* or negative, and nothing of it was stored */
};

/* All are the caller's and must outlive the ingest; |progress| may be NULL. */
struct ingest *ingest_new(struct store *store, const struct engine_options *options,
                          const struct progress *progress, struct err *err);
void ingest_free(struct ingest *ingest);

/* One file, or "-".  |last|: as far as is known no other follows (ingest_finish is needed all the
 * same; but so the tail comes with the file, in one transaction).  |note| gets a text that people
 * should read though nothing failed; or "". */
int ingest_file(struct ingest *ingest, const char *path, bool last, struct err *note,
                struct err *err);

/* The same of what was opened with its digest, and may be a pipe. */
int ingest_input(struct ingest *ingest, struct input *input, bool last, struct err *note,
                 struct err *err);

/* After the last file: puts what the engine still waits for, as provisional rows. */
int ingest_finish(struct ingest *ingest, struct err *err);

#endif
