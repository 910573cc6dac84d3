/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/same_source.h
 *
 * Checks whether an input is in the database already, so that nothing is counted twice.  If the
 * first 64 KiB are equal to those of a source, size and digest of the whole input decide.  A source
 * without packets is only the header that others have, too: a longer input is no copy of it.
 */
#ifndef NFSDIGEST_INGEST_SAME_SOURCE_H
#define NFSDIGEST_INGEST_SAME_SOURCE_H

#include "capture/input.h"
#include "store/store.h"

enum same_source {
    SAME_SOURCE_NOT = 0,
    SAME_SOURCE_STORED = 1, /* |err| says which source */
    /* or -ERR_INPUT: it begins like a source, but differs: a longer, shorter or changed copy */
};

/* Call this before the input is read.  Reads it a second time if necessary.  Standard input is
 * never a known source at this point. */
int same_source_file(struct store *store, struct input *input, struct err *err);

/* Call this after the input was read. */
int same_source_read(struct store *store, const struct input *input, uint64_t size,
                     const uint8_t digest[STORE_DIGEST_LEN], struct err *err);

/* For looking at all sources: a row has what same_source_begins wants, and the name as column 1.
 * The caller finalizes the statement. */
int same_source_all(struct store *store, sqlite3_stmt **rows, struct err *err);
/* Returns true if an input begins with the bytes of a source; also if these are not known, since
 * the source is open. */
bool same_source_begins(sqlite3_stmt *row, const struct input *input);

#endif
