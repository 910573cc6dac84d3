/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/same_source.h
 *
 * Checks whether an input is in the database already, so that nothing is counted twice.  If the
 * first 64 KiB are equal to those of a source, size and digest of the whole input decide.
 */
#ifndef NFSDIGEST_INGEST_SAME_SOURCE_H
#define NFSDIGEST_INGEST_SAME_SOURCE_H

#include "capture/input.h"
#include "store/store.h"

enum same_source {
    SAME_SOURCE_NOT = 0,
    SAME_SOURCE_STORED = 1, /* |err| says as which source */
    /* -ERR_INPUT: it begins like a source, but is not the same: a longer, shorter or changed copy
     */
};

/* Before the input is read: reads it a second time if need be.  Standard input is never the
 * same. */
int same_source_file(struct store *store, struct input *input, struct err *err);

/* After it was read. */
int same_source_read(struct store *store, const struct input *input, uint64_t size,
                     const uint8_t digest[STORE_DIGEST_LEN], struct err *err);

#endif
